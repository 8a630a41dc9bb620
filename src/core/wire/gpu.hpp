// nvidia-smi's words -> Gpu. Cells are told by position, faults and gaps by the tokens seen in public (docs/wire-format.md).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainvigil/observation.hpp"

namespace trainvigil::wire {

/// The fields asked for, in order. One that a driver refuses voids the whole query, so the list is shortened and the question repeated.
std::vector<std::string> default_gpu_fields();

struct GpuAnswer {
  std::vector<Gpu> gpus;                     ///< ascending index
  std::optional<std::string> error;          ///< what was printed besides rows, in one line
  std::optional<int> exit;                   ///< when not 0
  std::optional<std::string> refused_field;  ///< 'Field "x" is not a valid field to query'
  std::optional<double> first_row;           ///< uptime when the first line came: the cost of one call
};

/// `lines` is the answer of request G ("row:…", "app:…", "first:…").
GpuAnswer parse_gpu_answer(const std::vector<std::string>& lines, const std::vector<std::string>& fields);

}  // namespace trainvigil::wire
