// Files of every format, cut and bent: what check_integrity asks to read must lie in the file, and it must come to an end.
#include <fuzzer/FuzzedDataProvider.h>

#include <array>

#include "promise.hpp"
#include "trainvigil/checksum.hpp"
#include "trainvigil/integrity.hpp"
#include "trainvigil/part_list.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace trainvigil;
  static constexpr std::array kNames = {"model.safetensors",
                                        "optimizer.pt",
                                        "pytorch_model.bin",
                                        "model.ckpt",
                                        "weights.h5",
                                        "model.keras",
                                        "state.npz",
                                        "array.npy",
                                        "ckpt-1.index",
                                        ".metadata",
                                        "model.pkl",
                                        "x.gguf",
                                        "x.pdparams",
                                        "config.json",
                                        "model.safetensors.index.json",
                                        "x.ubj",
                                        "x.zip",
                                        "x.nemo",
                                        "x.pth",
                                        "x.pth.tar",
                                        "__0_0.distcp",
                                        "x"};
  FuzzedDataProvider input(data, size);
  const std::string path = input.PickValueInArray(kNames);
  const bool whole = input.ConsumeBool();
  const auto claimed = input.ConsumeIntegralInRange<std::int64_t>(-4, 64);  // the size in the listing may be older than the file
  const std::string file = input.ConsumeRemainingBytesAsString();
  const auto bytes =
      claimed > 0 ? static_cast<std::int64_t>(file.size()) + claimed * claimed * claimed * claimed : static_cast<std::int64_t>(file.size()) + claimed;
  integrity_readable(path, bytes);
  std::vector<ByteChunk> chunks;
  std::vector<StretchSum> sums;
  for (int round = 0;; ++round) {
    const IntegrityStep step = check_integrity(path, bytes, chunks, whole, sums);
    if (step.more.empty() && step.stretches.empty()) break;
    PROMISE(round < kMostIntegrityRounds);
    for (const ByteRange& range : step.more) {
      PROMISE(range.offset >= 0 && range.length > 0 && range.length <= kLargestRead);
      const auto from = std::min(static_cast<std::size_t>(range.offset), file.size());
      chunks.push_back({range.offset, file.substr(from, static_cast<std::size_t>(range.length))});
    }
    std::int64_t summed = 0;
    for (const Stretch& s : step.stretches) {
      PROMISE(whole && s.offset >= 0 && s.length > 0 && s.offset <= bytes && s.length <= bytes - s.offset);
      PROMISE(s.inflated || s.length <= kLongestStretch);
      summed += s.length;
      const auto from = std::min(static_cast<std::size_t>(s.offset), file.size());
      const auto stretch = std::string_view(file).substr(from, static_cast<std::size_t>(s.length));
      sums.push_back({s.offset, s.length, s.inflated ? s.inflated->crc32 : crc32(stretch)});
    }
    PROMISE(summed <= bytes);  // no byte is read twice, however members overlap
  }
  if (const auto parts = read_part_list(path, file)) PROMISE(parse_part_list_digest(part_list_digest(*parts)).has_value());
  return 0;
}
