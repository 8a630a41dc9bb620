// The answer of `trainvigil checkpoints --json` (contract section 2).
#include <cmath>
#include <nlohmann/json.hpp>

#include "trainvigil/format.hpp"

namespace trainvigil {
namespace {

using Json = nlohmann::ordered_json;

template <typename T>
Json value(const std::optional<T>& v) {
  return v ? Json(*v) : Json(nullptr);
}

Json unit(const std::optional<Unit>& u) { return u ? Json(to_string(*u)) : Json(nullptr); }

Json row(const Checkpoint& c) {
  return {{"path", escape_bytes(c.path)},
          {"value", value(c.value)},
          {"done", value(c.done)},
          {"unit", unit(c.unit)},
          {"bytes", value(c.bytes)},
          {"state", to_string(c.state)},
          {"modified", c.modified ? Json(rfc3339(*c.modified)) : Json(nullptr)},
          {"run", to_string(c.run)},
          {"why", escape_bytes(c.why)}};
}

Json row(const SaveInProgress& s) {
  const auto share = written_share(s);
  return {{"path", escape_bytes(s.path)},
          {"bytes", value(s.bytes)},
          {"expected_bytes", value(s.expected_bytes)},
          {"fraction", share ? Json(std::floor(*share * 1000) / 1000) : Json(nullptr)},
          {"modified", s.modified ? Json(rfc3339(*s.modified)) : Json(nullptr)},
          {"leftover", s.leftover},
          {"why", escape_bytes(s.why)}};
}

}  // namespace

std::string format_checkpoints_json(const CheckpointView& view, const std::optional<std::string>& error) {
  Json rows = Json::array();
  for (const auto& c : view.checkpoints) rows.push_back(row(c));
  Json writing = Json::array();
  for (const auto& s : view.in_progress) writing.push_back(row(s));
  const Checkpoint* good = last_good(view);
  return Json{{"schema", "trainvigil.checkpoints/1"},
              {"unit", unit(view.unit)},
              {"checkpoints", std::move(rows)},
              {"in_progress", std::move(writing)},
              {"last_good", good ? Json(escape_bytes(good->path)) : Json(nullptr)},
              {"error", error ? Json(escape_bytes(*error)) : Json(nullptr)},
              {"cut", view.cut ? Json(escape_bytes(*view.cut)) : Json(nullptr)}}
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace trainvigil
