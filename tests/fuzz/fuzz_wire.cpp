// What a watched host may send: any bytes, in any pieces. Looks are divided by the byte 0x1e; the first byte of each chooses how they arrive.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "judged.hpp"
#include "trainvigil/wire.hpp"
#include "wire_jobs.hpp"

namespace {

using namespace trainvigil;

void look(ProbeConversation& conversation, std::string_view bytes) {
  const auto how = static_cast<unsigned char>(bytes[0]);
  bytes.remove_prefix(1);
  conversation.ask({.verify_all = (how & 0x80U) != 0, .quick = (how & 0x40U) != 0, .budget = Seconds{1.0}});
  const std::size_t piece = std::size_t{1} + (how & 0x3fU) * (how & 0x3fU);
  while (true) {
    while (!conversation.take_output(4096).empty()) {
    }
    if (bytes.empty() || conversation.answered() || conversation.broken()) return;
    const auto now = std::min(piece, bytes.size());
    conversation.received(bytes.substr(0, now));
    bytes.remove_prefix(now);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<Job> all = fuzz::wire_jobs("/data/out", "/data/train.log");
  const auto conversation = ProbeConversation::make(all, fuzz::kNonce);
  std::vector<JobState> states(all.size());
  conversation->opened();
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  for (double now = 1764422465.0; !rest.empty(); now += 30.0) {
    const auto end = std::min(rest.find(fuzz::kNextLook), rest.size());
    if (end > 0) {
      look(*conversation, rest.substr(0, end));
      if (conversation->broken()) return 0;
      if (conversation->answered() || (conversation->hurry(), conversation->settle_for_less())) {
        const auto seen = conversation->take(watcher_time(now));
        PROMISE(seen.size() == all.size());
        for (std::size_t i = 0; i < seen.size(); ++i) {
          fuzz::survives_recording(seen[i]);
          fuzz::judge_and_print(all[i], states[i], seen[i]);
        }
      } else {
        conversation->opened();
      }
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return 0;
}
