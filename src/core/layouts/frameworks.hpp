// Facts about frameworks, as rows. A row is a fact someone can look up; the code that reads the rows knows no framework.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "core/layouts/name.hpp"
#include "trainvigil/job.hpp"

namespace trainvigil::layouts {

enum class Type : std::uint8_t { any, file, directory };

/// What a bare (or wrongly believed) number counts. First row that matches a family wins; empty strings match anything.
struct UnitRow {
  std::string_view framework{};
  Type type = Type::any;
  Key key = Key::bare;        ///< how the name itself labels its number
  std::string_view inside{};  ///< a file or directory name inside (or, with a trailing '*', its beginning)
  std::string_view prefix{};  ///< text before the number; "^" alone: nothing stands before it
  bool prefix_whole = false;  ///< the prefix is all that stands before the number
  std::string_view suffix{};  ///< text between the number and the extension
  std::string_view ext{};
  std::string_view beside{};  ///< a name in the same directory ('*' as above)
  std::string_view parent{};  ///< name of the directory it lies in
  int width = 0;              ///< digits, exactly; 0: any
  bool padded = false;        ///< the number starts with 0
  std::int64_t below = 0;     ///< values are smaller than this; 0: any
  std::optional<Unit> unit;
  std::int64_t base = 0;  ///< added to the number to get the units finished
};
std::span<const UnitRow> unit_rows();

/// A file that is written last, so that its presence says that the save is whole.
struct Certificate {
  std::string_view name;
  bool every_directory = false;  ///< certifies only the directory it lies in
};
std::span<const Certificate> certificates();

/// Seeing `seen` inside a save, one of `needs` must be there as well before it is whole.
struct Signature {
  std::string_view framework{};
  std::string_view seen;     ///< name inside, '*' at one end
  std::string_view needs{};  ///< names inside, separated by '|'; "pointer": a pointer file beside the save or inside
  bool strict = false;       ///< nothing else has this file: without `needs` the save was cut short, however quiet it is
};
std::span<const Signature> signatures();

/// A small file beside the saves that names the newest whole one.
struct Pointer {
  std::string_view name;         ///< trailing '*': begins with
  bool after_every_save = true;  ///< a save above it is not finished
};
std::span<const Pointer> pointers();

/// Names inside that tell a directory of weights although none of them has an extension that does.
std::span<const std::string_view> known_names();
bool known_inside(std::string_view name);

/// Names whose appearance beside the numbered saves ends a run.
struct EndRow {
  std::string_view framework{};
  std::string_view name;      ///< '*' at one end
  std::string_view beside{};  ///< a name that must lie in a numbered save of the same directory; empty: none
  Type type = Type::file;
};
std::span<const EndRow> end_rows();

/// What the tables above say about one name inside a save, as bits: row numbers of each table (of units: among the rows that have an `inside`).
struct Interest {
  std::uint64_t certificates = 0;
  std::uint64_t signatures = 0;  ///< rows whose `seen` it is
  std::uint64_t fulfils = 0;     ///< rows one of whose `needs` it is
  std::uint64_t units = 0;       ///< rows whose `inside` it is
};
Interest interest_of(std::string_view name);
/// The bit of this row of unit_rows() in Interest::units; 0: it has no `inside`.
std::uint64_t inside_bit(std::size_t row);

/// A '*' at the beginning or end of `glob` stands for any text.
bool glob_match(std::string_view glob, std::string_view name);

}  // namespace trainvigil::layouts
