#pragma once

#include "core/layouts/formats/read_window.hpp"

namespace trainvigil::formats_of_files {

/// The members of an archive whose directory, with so many entries, begins at `end`.
IntegrityStep check_zip_members(const Window& w, std::string_view directory, std::uint64_t entries, std::int64_t end);

}  // namespace trainvigil::formats_of_files
