#include "core/judge/memory.hpp"

#include <algorithm>

namespace trainvigil {

double Ring::median() const {
  if (count == 0) return 0;
  if (cached_next_ == next && cached_count_ == count) return cached_;
  std::array<float, 31> copy = values;
  const auto middle = copy.begin() + static_cast<std::ptrdiff_t>(count / 2);
  std::nth_element(copy.begin(), middle, copy.begin() + static_cast<std::ptrdiff_t>(count));
  cached_ = *middle;
  cached_next_ = next;
  cached_count_ = count;
  return cached_;
}

JobState::JobState() : impl_(std::make_unique<Impl>()) {}
JobState::~JobState() = default;
JobState::JobState(JobState&&) noexcept = default;
JobState& JobState::operator=(JobState&&) noexcept = default;

}  // namespace trainvigil
