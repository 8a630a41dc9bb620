// Lines of the kernel's log -> events.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "trainvigil/observation.hpp"

namespace trainvigil::wire {

/// `lines` is the answer of request M. `boot` is when the host's uptime was 0, by the host's clock: dmesg counts from there.
std::vector<KernelEvent> parse_kernel(const std::vector<std::string>& lines, std::optional<double> boot);

}  // namespace trainvigil::wire
