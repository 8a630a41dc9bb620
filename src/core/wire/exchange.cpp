#include "core/wire/exchange.hpp"

#include <algorithm>

#include "core/wire/text.hpp"
#include "trainvigil/wire.hpp"

namespace trainvigil::wire {
namespace {

constexpr std::string_view kVersion = "2";
constexpr std::size_t kMostNoise = 256 * 1024;  ///< before READY, and after it of lines that nobody asked for

}  // namespace

void Exchange::opened() {
  lines_.clear();
  script_sent_ = noise_ = 0;
  ready_ = false;
  tail_.clear();
  broken_.reset();
  output_.clear();
  requests_.clear();
  ended_slots_.clear();
  slot_suffix_.clear();
}

std::string Exchange::take_output(std::size_t limit) {
  const auto script = probe_script();
  if (script_sent_ < script.size()) {
    std::string piece(script.substr(script_sent_, limit));
    script_sent_ += piece.size();
    return piece;
  }
  std::string piece = output_.substr(0, limit);
  output_.erase(0, piece.size());
  return piece;
}

void Exchange::received(std::string_view out) {
  lines_.feed(out, [this](std::string_view line) { take_line(line); });
  if (ready_) return;
  tail_.append(out.substr(out.size() > 4096 ? out.size() - 4096 : 0));
  if (tail_.size() > 200) tail_.erase(0, tail_.size() - 200);
  noise_ += out.size();
  if (noise_ > kMostNoise) break_off("the login shell prints without end and the probe does not start; the last of it: " + tail_);
}

void Exchange::take_line(std::string_view line) {
  if (consume(line, "TV1 READY ")) {
    start(line);
    return;
  }
  if (!ready_) return;
  const auto record = parse_record(line);
  const auto request = record ? requests_.find(record->seq) : requests_.end();
  if (request == requests_.end()) {
    noise_ += line.size();
    if (noise_ > kMostNoise * 16) break_off("lines that nobody asked for come without end");
    return;
  }
  request->second.answer.add(*record);
  if (!request->second.answer.ended) return;
  auto finished = std::move(request->second);
  requests_.erase(request);
  // "busy" and "early" come from the resident shell: nothing was started, the slot is what it was.
  const bool started = finished.answer.status != "busy" && finished.answer.status != "early";
  if (started || (finished.was_free && finished.answer.status == "early")) ended_slots_.insert(finished.slot);
  finished.done(finished.answer);
}

void Exchange::start(std::string_view text) {
  const auto parts = words(text);
  if (parts.empty() || parts[0] != kVersion) {
    break_off("the probe on the host is of version " + std::string(parts.empty() ? "?" : parts[0]) + ", this program speaks version " +
              std::string(kVersion));
    if (broken_) broken_->remedy = "Put the output of `trainvigil probe-script` where the forced command of the key runs it";
    if (broken_) broken_->retry = false;
    return;
  }
  // A second announcement means that the first was noise. What was asked is lost, or is waiting to be read: new slots, so that it takes none of ours.
  if (ready_) slot_suffix_ += 'x';
  requests_.clear();
  ended_slots_.clear();
  output_.clear();
  ready_ = true;
  noise_ = 0;
  announced_(parts);
}

void Exchange::break_off(std::string what) {
  if (broken_) return;
  for (char& c : what) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  broken_ = Failure{Reach::shell_failed, std::move(what),
                    "let nothing in the start-up files of the login shell read stdin or print without end, or give the key a forced command: "
                    "command=\"exec /bin/sh /path/to/probe.sh\",restrict",
                    true};
}

void Exchange::request(char kind, const std::string& slot, const std::string& arguments, Done done) {
  if (settling_) return;
  const auto seq = ++seq_;
  const bool was_free = ended_slots_.erase(slot) > 0;
  output_ += std::string("TV1 ") + kind + " " + seq_word(seq) + " " + slot + (slot == "g" ? "" : slot_suffix_) + (was_free ? " w" : " -");
  output_ += (arguments.empty() ? "" : " ") + arguments + "\n";
  requests_.emplace(seq, Request{slot, was_free, {}, std::move(done)});
}

void Exchange::begin_look() {
  requests_.clear();
  noise_ = 0;
}

void Exchange::hurry() {
  std::string pids;
  for (auto& [seq, request] : requests_) {
    if (request.answer.tools.empty()) continue;
    request.answer.hurried = true;
    // The last ones only: earlier tools of the same answer have ended long ago.
    const auto& tools = request.answer.tools;
    for (std::size_t i = tools.size() > 4 ? tools.size() - 4 : 0; i < tools.size(); ++i) pids += " " + std::to_string(tools[i]);
  }
  if (ready_ && !pids.empty()) output_ += "TV1 K " + seq_word(++seq_) + pids + "\n";
}

void Exchange::settle() {
  // Answers that come later belong to nobody; their slots stay taken on the host until they do.
  auto late = std::move(requests_);
  requests_.clear();
  settling_ = true;
  for (auto& [seq, request] : late) request.done(request.answer);
  settling_ = false;
  output_.clear();
}

bool Exchange::busy(std::string_view slot) const {
  return std::any_of(requests_.begin(), requests_.end(), [slot](const auto& item) { return item.second.slot == slot; });
}

}  // namespace trainvigil::wire
