// The verdict for a person at a terminal: the sentence, how far and until when, what it rests on.
#include <algorithm>
#include <cmath>

#include "formats/local_time.hpp"
#include "formats/phrases.hpp"
#include "trainvigil/format.hpp"

namespace trainvigil {
namespace {

using formats::columns;
using formats::interval_phrase;
using formats::local_clock;
using formats::wrap;
using formats::zone_name;

constexpr int kNarrowest = 40;
constexpr int kIndent = 2;

const char* color_of(Level level) {
  switch (level) {
    case Level::ok:
      return "\x1b[32m";
    case Level::warning:
      return "\x1b[33m";
    case Level::critical:
      return "\x1b[1;31m";
    case Level::unknown:
      break;
  }
  return "\x1b[35m";
}

class Page {
 public:
  explicit Page(const TextStyle& style) : style_(style), width_(std::max(style.width, kNarrowest)) {}

  [[nodiscard]] int width() const { return width_; }

  /// `lead` is already laid out; what follows is wrapped beneath its end.
  void line(const std::string& lead, const std::string& text, const char* color = nullptr) {
    const int indent = columns(lead);
    std::string laid = wrap(text, width_ - indent, 0);
    for (std::size_t at = laid.find('\n'); at != std::string::npos; at = laid.find('\n', at + 1))
      laid.insert(at + 1, static_cast<std::size_t>(indent), ' ');
    const bool paint = color != nullptr && style_.color;
    out_ += lead;
    if (paint) out_ += color;
    out_ += laid;
    if (paint) out_ += "\x1b[0m";
    out_ += '\n';
  }

  std::string take() { return std::move(out_); }

 private:
  TextStyle style_;
  int width_;
  std::string out_;
};

std::string bar(double fraction, int width) {
  const int filled = static_cast<int>(std::floor(std::clamp(fraction, 0.0, 1.0) * width + 1e-9));
  return "[" + std::string(static_cast<std::size_t>(filled), '#') + std::string(static_cast<std::size_t>(width - filled), '.') + "]";
}

void progress_lines(Page& page, const Verdict& v) {
  const std::string counted = formats::progress_phrase(v.progress);
  if (v.progress.fraction) {
    std::string text = formats::percent_phrase(*v.progress.fraction);
    if (!counted.empty()) text += ", " + counted;
    if (v.progress.estimated) text += " (the running one estimated)";
    const int cells = std::clamp(page.width() - kIndent - 4 - columns(text), 10, 40);
    page.line("  " + bar(*v.progress.fraction, cells) + " ", text);
  } else if (!counted.empty()) {
    page.line("  progress  ", counted);
  }
}

std::string in_phrase(const std::optional<WatcherTime>& t, WatcherTime now) {
  if (!t) return {};
  return *t > now ? ", in " + human_duration(*t - now) : ", overdue by " + human_duration(now - *t);
}

void eta_lines(Page& page, const Verdict& v) {
  if (!v.eta) return;
  const std::string zone = " " + zone_name(v.time);
  if (const std::string end = interval_phrase(v.eta->end, v.time); !end.empty())
    page.line("  end       ", end + zone + in_phrase(v.eta->end.p50, v.time));
  if (const std::string next = interval_phrase(v.eta->next_checkpoint, v.time); !next.empty())
    page.line("  next save ", next + zone + in_phrase(v.eta->next_checkpoint.p50, v.time));
  if (!v.eta->basis.empty()) page.line("  basis     ", harmless(v.eta->basis));
}

std::string checkpoint_phrase(const Checkpoint& c, const std::optional<HostTime>& now) {
  std::string out = harmless(c.path) + " " + to_string(c.state);
  if (c.bytes) out += ", " + human_bytes(*c.bytes);
  if (c.modified && now) out += ", " + human_duration(std::max(*now - *c.modified, Seconds{0})) + " old";
  if (!c.why.empty() && c.state != CheckpointState::complete) out += " (" + harmless(c.why) + ")";
  return out;
}

void checkpoint_lines(Page& page, const Verdict& v, bool verbose) {
  const bool apart = v.checkpoint && (!v.last_good || v.last_good->path != v.checkpoint->path);
  if (apart) page.line("  newest    ", checkpoint_phrase(*v.checkpoint, v.host_time));
  if (v.last_good && (apart || verbose || v.level == Level::critical)) page.line("  last good ", checkpoint_phrase(*v.last_good, v.host_time));
}

void evidence_lines(Page& page, const Verdict& v) {
  int signal = 0;
  int says = 0;
  for (const Evidence& e : v.evidence) {
    signal = std::max(signal, columns(harmless(e.signal)));
    says = std::max(says, columns(harmless(e.says)));
  }
  const auto pad = [](const std::string& text, int to) {
    return text + std::string(static_cast<std::size_t>(std::max(to - columns(text), 0) + 1), ' ');
  };
  for (const Evidence& e : v.evidence)
    page.line("  " + pad(harmless(e.signal), std::min(signal, 16)) + pad(harmless(e.says), std::min(says, 16)), harmless(e.detail));
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + harmless(word);
  return out;
}

}  // namespace

std::string format_text(const Verdict& v, const TextStyle& style) {
  Page page(style);
  page.line("", formats::subject_phrase(v) + ": " + harmless(v.summary), color_of(v.level));
  progress_lines(page, v);
  eta_lines(page, v);
  std::string phase = to_string(v.phase);
  if (v.since) phase += " since " + local_clock(*v.since, v.time) + " " + zone_name(v.time) + " (" + human_duration(v.time - *v.since) + ")";
  phase += std::string(", ") + to_string(v.level) + ", confidence " + to_string(v.confidence);
  if (v.cause) phase += ", cause " + harmless(*v.cause);
  page.line("  phase     ", phase);
  if (v.last)
    page.line("  last      ", std::string(to_string(v.last->phase)) + " at " + local_clock(v.last->time, v.time) + " " + zone_name(v.last->time));
  checkpoint_lines(page, v, style.verbose);
  evidence_lines(page, v);
  // Of a host that could not be looked at the one finding is the cause, which is told above.
  const bool told = v.cause && v.findings == std::vector<std::string>{*v.cause};
  if (!v.findings.empty() && !(v.phase == Phase::unreachable && told)) page.line("  findings  ", joined(v.findings));
  if (v.remedy) page.line("  remedy    ", harmless(*v.remedy));
  return page.take();
}

std::string format_line(const Verdict& v) {
  std::string out = formats::local_stamp(v.time) + " " + zone_name(v.time) + "  " + formats::subject_phrase(v) + "  " + to_string(v.level);
  // Most sentences begin with the phase.
  if (v.summary.rfind(to_string(v.phase), 0) != 0) out += std::string("  ") + to_string(v.phase);
  if (v.progress.fraction) out += "  " + formats::percent_phrase(*v.progress.fraction);
  if (v.eta)
    if (const std::string end = interval_phrase(v.eta->end, v.time); !end.empty()) out += "  end " + end;
  out += "  " + harmless(v.summary);
  if (!v.findings.empty()) out += "  [" + joined(v.findings) + "]";
  return out;
}

std::string format_live(const Verdict& v, const TextStyle& style) {
  std::string text = formats::subject_phrase(v) + "  " + to_string(v.phase);
  if (v.level != Level::ok) text += std::string(" (") + to_string(v.level) + ")";
  if (v.progress.fraction)
    text += "  " + bar(*v.progress.fraction, std::clamp(style.width / 5, 5, 24)) + " " + formats::percent_phrase(*v.progress.fraction);
  if (v.eta)
    if (const std::string end = interval_phrase(v.eta->end, v.time); !end.empty()) text += "  end " + end;
  for (const std::string& finding : v.findings) text += "  " + harmless(finding);
  text = formats::cut(text, style.width - 1);
  return style.color ? color_of(v.level) + text + "\x1b[0m" : text;
}

}  // namespace trainvigil
