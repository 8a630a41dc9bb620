// "Did you mean": the nearest of the words that would have been right.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainvigil {

/// Edits (insert, delete, replace, swap of neighbours) between two words. O(a·b).
int edit_distance(std::string_view a, std::string_view b);
/// The candidate nearest to `word`, if it is near enough to be a slip of the finger (a third of the word, at least one edit); the first of equals.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates);
/// `did you mean "epochs"?` or empty.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace trainvigil
