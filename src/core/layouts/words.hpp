// What the words of a file name mean. One dictionary for every framework: a new word is one line in words.cpp.
#pragma once

#include <cstdint>
#include <string_view>

namespace trainvigil::layouts {

enum class Role : std::uint8_t {
  none,
  key_epoch,  ///< the number beside it counts epochs
  key_step,   ///< … steps
  key_other,  ///< … something that is neither (thousand images, samples, boosting rounds)
  store,      ///< "checkpoint", "model" …: a number beside it counts something not said here
  shard,      ///< the number beside it is a rank or part
  metric,     ///< the number beside it is a score
  index,      ///< the number beside it is a run, fold or trial
  noise,      ///< the number beside it is a setting
  ordinal,    ///< "2nd": belongs to the number before it
  latest,
  best,
  final,
  rescue,
  aux,       ///< a companion that does not decide whether the save is whole
  resume,    ///< optimizer and other state without weights
  negative,  ///< results, samples, pictures: never a checkpoint, and a directory called so is no place for one
  shelf,     ///< logs, outputs: no checkpoint either, but a directory called so often holds them
};

/// The role of a lower-case word; Role::none for a word that is not in the dictionary.
Role role_of(std::string_view word);

enum class ExtKind : std::uint8_t {
  none,       ///< no extension that is known
  weights,    ///< a container of tensors
  ambiguous,  ///< may hold weights (.npz, .zip …)
  text,       ///< logs, pictures, tables, settings
};

struct Extension {
  std::string_view text;  ///< with its dot; empty when none is known
  ExtKind kind = ExtKind::none;
};

/// Optimizer states and the like, which stand beside the file that has the weights.
bool extension_of_state(std::string_view ext);

/// The known extension at the end of a lower-case name; repeated ones (".pth.tar", ".weights.h5") count as one.
Extension extension_of(std::string_view name);

}  // namespace trainvigil::layouts
