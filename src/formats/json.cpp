// The verdict as one JSON object: the same keys at every call, null for what is not known.
#include <cmath>
#include <nlohmann/json.hpp>

#include "trainvigil/format.hpp"

namespace trainvigil {
namespace {

using Json = nlohmann::ordered_json;

Json text(const std::string& s) { return escape_bytes(s); }
/// What the program itself put into words: names of bytes that are no text stand escaped in it already.
Json prose(const std::string& s) { return harmless(s) == s ? s : escape_bytes(s); }
Json text(const std::optional<std::string>& s) { return s ? Json(escape_bytes(*s)) : Json(nullptr); }
Json moment(const std::optional<WatcherTime>& t) { return t ? Json(rfc3339(*t)) : Json(nullptr); }

template <typename T>
Json value(const std::optional<T>& v) {
  return v ? Json(*v) : Json(nullptr);
}

Json number(const std::optional<double>& v) {
  if (!v || !std::isfinite(*v)) return nullptr;
  if (std::abs(*v) < 1e15 && *v == std::floor(*v)) return static_cast<std::int64_t>(*v);
  return *v;
}

Json rounded(const std::optional<double>& v, double places) {
  if (!v || !std::isfinite(*v)) return nullptr;
  return number(std::round(*v * places) / places);
}

Json interval(const Interval& i) {
  if (!i.p10 && !i.p50 && !i.p90) return nullptr;
  return {{"p10", moment(i.p10)}, {"p50", moment(i.p50)}, {"p90", moment(i.p90)}};
}

Json remaining(const std::optional<WatcherTime>& t, WatcherTime now) {
  return t ? Json(std::llround(std::max(0.0, (*t - now).count()))) : Json(nullptr);
}

Json eta(const std::optional<Eta>& e, WatcherTime now) {
  if (!e) return nullptr;
  return {{"p10", moment(e->end.p10)},
          {"p50", moment(e->end.p50)},
          {"p90", moment(e->end.p90)},
          {"remaining_s", {{"p10", remaining(e->end.p10, now)}, {"p50", remaining(e->end.p50, now)}, {"p90", remaining(e->end.p90, now)}}},
          {"next_checkpoint", interval(e->next_checkpoint)},
          {"basis", text(e->basis)}};
}

Json checkpoint(const std::optional<Checkpoint>& c) {
  if (!c) return nullptr;
  return {{"path", text(c->path)},        {"value", value(c->value)},
          {"done", value(c->done)},       {"bytes", value(c->bytes)},
          {"state", to_string(c->state)}, {"modified", c->modified ? Json(rfc3339(*c->modified)) : Json(nullptr)},
          {"run", to_string(c->run)},     {"unit", c->unit ? Json(to_string(*c->unit)) : Json(nullptr)},
          {"why", text(c->why)}};
}

Json gpus(const std::optional<std::vector<GpuSummary>>& list) {
  if (!list) return nullptr;
  Json out = Json::array();
  for (const GpuSummary& g : *list) {
    out.push_back({{"index", g.index},
                   {"util_pct", rounded(g.util_pct, 10)},
                   {"mem_used_mib", value(g.mem_used_mib)},
                   {"mem_total_mib", value(g.mem_total_mib)},
                   {"power_w", rounded(g.power_w, 10)},
                   {"activity", rounded(g.activity, 100)}});
  }
  return out;
}

Json processes(const std::optional<ProcessSummary>& p) {
  if (!p) return nullptr;
  return {{"count", value(p->count)}, {"main_pid", value(p->main_pid)}, {"state", p->state ? text(std::string(1, *p->state)) : Json(nullptr)}};
}

}  // namespace

std::string format_json(const Verdict& v) {
  Json evidence = Json::array();
  for (const Evidence& e : v.evidence) {
    evidence.push_back({{"signal", text(e.signal)}, {"source", text(e.source)}, {"says", text(e.says)}, {"detail", prose(e.detail)}});
  }
  Json findings = Json::array();
  for (const std::string& f : v.findings) findings.push_back(text(f));
  const Json j{{"schema", "trainvigil.verdict/1"},
               {"time", rfc3339(v.time)},
               {"host_time", v.host_time ? Json(rfc3339(*v.host_time)) : Json(nullptr)},
               {"job", prose(v.job)},
               {"host", text(v.host)},
               {"run", text(v.run)},
               {"phase", to_string(v.phase)},
               {"level", to_string(v.level)},
               {"cause", text(v.cause)},
               {"confidence", to_string(v.confidence)},
               {"since", moment(v.since)},
               {"summary", prose(v.summary)},
               {"evidence", std::move(evidence)},
               {"findings", std::move(findings)},
               {"progress",
                {{"unit", v.progress.unit ? Json(to_string(*v.progress.unit)) : Json(nullptr)},
                 {"done", number(v.progress.done)},
                 {"total", number(v.progress.total)},
                 {"fraction", rounded(v.progress.fraction, 10000)},
                 {"estimated", v.progress.estimated}}},
               {"eta", eta(v.eta, v.time)},
               {"checkpoint", checkpoint(v.checkpoint)},
               {"last_good", checkpoint(v.last_good)},
               {"gpus", gpus(v.gpus)},
               {"processes", processes(v.processes)},
               {"last", v.last ? Json{{"phase", to_string(v.last->phase)}, {"time", rfc3339(v.last->time)}} : Json(nullptr)},
               {"remedy", text(v.remedy)}};
  return j.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace trainvigil
