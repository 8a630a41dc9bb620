// The answer of `trainvigil checkpoints --json` (contract section 2).
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

}  // namespace

std::string format_checkpoints_json(const CheckpointView& view) {
  Json rows = Json::array();
  for (const auto& c : view.checkpoints) rows.push_back(row(c));
  return Json{{"schema", "trainvigil.checkpoints/1"},
              {"unit", unit(view.unit)},
              {"checkpoints", std::move(rows)},
              {"cut", view.cut ? Json(escape_bytes(*view.cut)) : Json(nullptr)}}
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace trainvigil
