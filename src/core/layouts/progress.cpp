#include "core/layouts/rules.hpp"

namespace trainvigil::layouts {

std::optional<FileProgress> read_progress(const Listing&) { return std::nullopt; }

}  // namespace trainvigil::layouts
