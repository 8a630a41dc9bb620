// The service manager's notification socket (sd_notify(3)), without its library.
#pragma once

#include <optional>
#include <string>

#include "trainvigil/time.hpp"

namespace trainvigil::app {

/// Sends e.g. "READY=1" to $NOTIFY_SOCKET; does nothing when there is none.
void notify_service_manager(const std::string& message);
/// How often the service manager wants a sign of life: half of $WATCHDOG_USEC.
std::optional<Seconds> watchdog_interval();

}  // namespace trainvigil::app
