// Pickles, read as data: opcodes are walked, nothing is ever constructed.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "trainvigil/part_list.hpp"

namespace trainvigil::formats_of_files {

/// One opcode and its argument.
struct PickleStep {
  enum class Kind { operation, stop, cut, unknown };
  Kind kind = Kind::cut;
  unsigned char op = 0;
  std::string_view argument;  ///< without its length; of two lines the first
};

class PickleWalk {
 public:
  explicit PickleWalk(std::string_view bytes) : bytes_(bytes) {}
  PickleStep next();
  /// How many bytes have been walked. Behind a step that is cut: where its opcode stands.
  [[nodiscard]] std::size_t position() const { return at_; }
  /// Behind a step that is cut inside a counted argument: how many bytes of the pickle precede what follows it.
  [[nodiscard]] std::optional<std::uint64_t> continues_at() const { return continues_at_; }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
  std::optional<std::uint64_t> continues_at_;
};

/// What `.metadata` of torch.distributed.checkpoint says of each file beside it: the end of the last piece that lies in it.
std::optional<PartList> parts_of_metadata(std::string_view pickle);

}  // namespace trainvigil::formats_of_files
