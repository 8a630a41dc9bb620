// The line of a monitoring plugin (Monitoring Plugins Development Guidelines: one line of text, a bar, performance data
// `'label'=value[UOM];;;min;max`).
#include <algorithm>
#include <array>
#include <cstdio>

#include "formats/phrases.hpp"
#include "trainvigil/format.hpp"

namespace trainvigil {
namespace {

/// The one line is all that a monitoring server shows of a host that could not be looked at.
std::string unreachable_details(const Verdict& v) {
  std::string out;
  if (!v.evidence.empty() && !v.evidence.front().detail.empty()) out += "; " + v.evidence.front().detail;
  if (v.remedy) out += ". " + *v.remedy;
  return out;
}

/// The sentence tells the phase; what is warned of stands in the findings.
std::string warnings(const Verdict& v) {
  std::string out;
  for (const auto& finding : v.findings) out += (out.empty() ? " [" : ", ") + finding;
  return out.empty() ? out : out + "]";
}

const char* state_word(Level level) {
  switch (level) {
    case Level::ok:
      return "OK";
    case Level::warning:
      return "WARNING";
    case Level::critical:
      return "CRITICAL";
    case Level::unknown:
      break;
  }
  return "UNKNOWN";
}

/// The bar ends the text for the monitoring server, so none may come from the outside.
std::string without_bar(std::string_view text) {
  std::string out = harmless(text);
  std::replace(out.begin(), out.end(), '|', '/');
  return out;
}

std::string label(std::string_view job, const char* what) {
  std::string name = without_bar(job);
  std::replace(name.begin(), name.end(), '=', '_');
  std::replace(name.begin(), name.end(), '\'', '_');
  return " '" + name + " " + what + "'=";
}

std::string value(const char* shape, double number) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), shape, number);
  return text.data();
}

/// What is not known is left out: the guideline has no number for it that graphs would not draw.
std::string performance(const Verdict& v) {
  std::string out;
  if (v.progress.fraction) out += label(v.job, "progress") + value("%.1f%%;;;0;100", *v.progress.fraction * 100);
  if (v.progress.done)
    out += label(v.job, "done") + value("%.10g;;;0", *v.progress.done) + (v.progress.total ? value(";%.10g", *v.progress.total) : "");
  if (v.eta && v.eta->end.p50) out += label(v.job, "remaining") + value("%.0fs;;;0", std::max((*v.eta->end.p50 - v.time).count(), 0.0));
  if (v.last_good && v.last_good->modified && v.host_time)
    out += label(v.job, "checkpoint age") + value("%.0fs;;;0", std::max((*v.host_time - *v.last_good->modified).count(), 0.0));
  return out;
}

}  // namespace

std::string format_nagios(const std::vector<Verdict>& verdicts) {
  if (verdicts.empty()) return "TRAINVIGIL UNKNOWN - no job to look at";
  std::vector<const Verdict*> order;
  for (const Verdict& v : verdicts) order.push_back(&v);
  std::stable_sort(order.begin(), order.end(), [](const Verdict* a, const Verdict* b) { return a->level > b->level; });
  std::string out = std::string("TRAINVIGIL ") + state_word(order.front()->level) + " - ";
  std::string data;
  for (const Verdict* v : order) {
    if (v != order.front()) out += "; ";
    if (order.size() > 1) out += std::string(state_word(v->level)) + " ";
    out += without_bar(formats::subject_phrase(*v)) + ": " + without_bar(v->summary);
    if (v->level == Level::warning) out += warnings(*v);
    if (v->phase == Phase::unreachable) out += without_bar(unreachable_details(*v));
    data += performance(*v);
  }
  return data.empty() ? out : out + " |" + data;
}

}  // namespace trainvigil
