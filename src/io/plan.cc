// Plans (docs/formats/plan.md).

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/check.h"
#include "berth/io.h"
#include "io/json.h"
#include "io/rows.h"
#include "io/source.h"

namespace berth {
namespace internal {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kFormat = "berth-plan";
constexpr std::string_view kSpillFormat = "berth-spill-plan";
constexpr int kFormatVersion = 1;

Json PlacementOf(const Buffer& buffer, Bytes offset) {
  return {{"id", buffer.id},
          {"start", buffer.start},
          {"end", buffer.end},
          {"size", buffer.size},
          {"offset", offset}};
}

Json OptionsOf(const Provenance& provenance) {
  Json options = Json::object();
  for (const OptionInfo& option : Options()) {
    if (option.name == "threads") continue;  // The same plan gives the same bytes.
    const auto value = GetOption(provenance.options, option.name);
    BERTH_CHECK(value.has_value());
    const bool other = option.name == "algorithm" && !provenance.solver.empty();
    options[std::string(option.name)] = other ? provenance.solver : *value;
  }
  return options;
}

Json OrNull(const std::optional<std::int64_t>& number) { return number ? Json(*number) : Json(); }

Json HeadOf(const Problem& problem, const PlaceAnswer& answer, const Provenance& provenance) {
  return {
      {"format", kFormat},
      {"format_version", kFormatVersion},
      {"berth_version", provenance.version},
      {"input", {{"name", provenance.input}, {"hash", provenance.input_hash}}},
      {"options", OptionsOf(provenance)},
      {"node_limit", OrNull(provenance.node_limit)},
      {"outcome", ToString(answer.outcome)},
      {"stopped", ToString(answer.stopped)},
      {"algorithm", answer.algorithm},
      {"capacity", OrNull(problem.capacity)},
      {"height", answer.best ? Json(answer.best->height) : Json()},
      {"lower_bound", answer.lower_bound},
      {"nodes", answer.nodes},
  };
}

Json HeadOf(const Graph& graph, const PlanAnswer& plan, const Provenance& provenance) {
  Json schedule_options = Json::object();
  for (const OptionInfo& option : ScheduleOptionTable()) {
    const auto value = GetOption(provenance.schedule, option.name);
    BERTH_CHECK(value.has_value());
    schedule_options[std::string(option.name)] = *value;
  }
  const Counting& counting = provenance.schedule.counting;
  return {
      {"format", kFormat},
      {"format_version", kFormatVersion},
      {"berth_version", provenance.version},
      {"input", {{"name", provenance.input}, {"hash", provenance.input_hash}}},
      {"graph", graph.name},
      {"count", {{"inputs", counting.inputs}, {"parameters", counting.parameters}}},
      {"in_place", provenance.in_place},
      {"options", OptionsOf(provenance)},
      {"schedule_options", std::move(schedule_options)},
      {"node_limit", OrNull(provenance.node_limit)},
      {"outcome", ToString(plan.outcome)},
      {"stopped", ToString(plan.place.stopped)},
      {"algorithm", plan.place.algorithm},
      {"capacity", OrNull(plan.liveness.problem.capacity)},
      {"height", OrNull(plan.arena())},
      {"lower_bound", plan.lower_bound},
      {"nodes", plan.place.nodes},
      {"program_order_peak", plan.program_order_peak},
      {"peak", plan.schedule.peak},
      {"schedule_outcome", ToString(plan.schedule.outcome)},
      {"schedule_stopped", ToString(plan.schedule.stopped)},
      {"schedule_algorithm", plan.schedule.algorithm},
      {"schedule_nodes", plan.schedule.nodes},
      {"order_lower_bound", plan.place.lower_bound},
  };
}

// The beginning of a plan: a field a line.
std::string Fields(const Json& fields) {
  std::string out = "{\n";
  for (const auto& [key, value] : fields.items()) {
    out += "  " + Line(key) + ": " + Line(value) + ",\n";
  }
  return out;
}

// The end of a plan. A placement a line: plans are compared with line-based tools.
std::string Placements(const Problem& problem, const PlaceAnswer& answer) {
  std::string out = "  \"placements\": ";
  if (!answer.best) {
    out += "null";
  } else if (problem.buffers.empty()) {
    out += "[]";
  } else {
    BERTH_CHECK(answer.best->offsets.size() == problem.buffers.size());
    for (std::size_t b = 0; b < problem.buffers.size(); ++b) {
      out += b == 0 ? "[\n    " : ",\n    ";
      out += Line(PlacementOf(problem.buffers[b], answer.best->offsets[b]));
    }
    out += "\n  ]";
  }
  return out + "\n}\n";
}

// Collects the offset of each buffer of a problem.
class OffsetCollector {
 public:
  OffsetCollector(const Source& source, const Problem& problem)
      : source_(source), problem_(problem), offsets_(problem.buffers.size()) {
    buffers_.reserve(problem.buffers.size());
    for (std::size_t b = 0; b < problem.buffers.size(); ++b) {
      buffers_.emplace(problem.buffers[b].id, b);
    }
  }

  // The sentence that says what is wrong, if anything is.
  std::optional<std::string> Add(std::string_view id, std::int64_t offset) {
    const auto found = buffers_.find(id);
    if (found == buffers_.end()) return "the problem has no buffer " + Quoted(id);
    std::optional<Bytes>& known = offsets_[found->second];
    if (known) return "buffer " + Quoted(id) + " has an offset already, " + std::to_string(*known);
    if (offset < 0 || offset > kMaxBytes) {
      return "buffer " + Quoted(id) + ": offset " + std::to_string(offset) +
             " must be from 0 to 2^60";
    }
    known = offset;
    return std::nullopt;
  }

  Result<std::vector<Bytes>> Finish() const {
    std::vector<Bytes> offsets;
    offsets.reserve(offsets_.size());
    for (std::size_t b = 0; b < offsets_.size(); ++b) {
      if (!offsets_[b]) {
        return source_.FailAsWhole("buffer " + Quoted(problem_.buffers[b].id) + " has no offset",
                                   ErrorCode::kInvalidPlan);
      }
      offsets.push_back(*offsets_[b]);
    }
    return offsets;
  }

 private:
  const Source& source_;
  const Problem& problem_;
  std::unordered_map<std::string_view, std::size_t> buffers_;
  std::vector<std::optional<Bytes>> offsets_;
};

Result<std::vector<Bytes>> ReadOffsetsCsv(const Source& source, const Problem& problem) {
  Rows rows(source);
  if (auto header = rows.ReadHeader({Column::kId, Column::kOffset}, /*any_column=*/true); !header) {
    return tl::unexpected(header.error());
  }
  OffsetCollector collector(source, problem);
  for (;;) {
    const auto more = rows.Next();
    if (!more) return tl::unexpected(more.error());
    if (!*more) return collector.Finish();
    const Field& field = rows.FieldOf(Column::kOffset);
    const std::string_view id = rows.FieldOf(Column::kId).value;
    if (field.value.empty() || field.value == "-1") {
      return source.FailAt(field.position, "buffer " + Quoted(id) + " has no offset",
                           ErrorCode::kInvalidPlan);
    }
    std::int64_t offset = 0;
    if (auto read = rows.ReadInteger(Column::kOffset, offset); !read) {
      return tl::unexpected(read.error());
    }
    if (const auto fault = collector.Add(id, offset)) {
      return source.FailAt(rows.FieldOf(Column::kId).position, *fault, ErrorCode::kInvalidPlan);
    }
  }
}

// The placements of a plan in JSON, which has been parsed.
Result<const nlohmann::json*> PlacementsOf(const Source& source, const nlohmann::json& plan) {
  using Value = const nlohmann::json;
  Value* const format = Member(plan, "format");
  if (format == nullptr || *format != kFormat) {
    return source.FailAsWhole("not a plan: \"format\" is " + Shown(format) +
                              " where it should be \"berth-plan\"");
  }
  Value* const version = Member(plan, "format_version");
  if (version == nullptr || *version != kFormatVersion) {
    return source.FailAsWhole("\"format_version\" is " + Shown(version) +
                              ", but this reader knows version 1 alone");
  }
  Value* const placements = Member(plan, "placements");
  if (placements != nullptr && placements->is_null()) {
    return source.FailAsWhole("the search that wrote this found no plan", ErrorCode::kInvalidPlan);
  }
  if (placements == nullptr || !placements->is_array()) {
    return source.FailAsWhole("\"placements\" is " + Shown(placements) +
                              " where it should be a list");
  }
  return placements;
}

Result<std::vector<Bytes>> ReadOffsetsJson(const Source& source, const Problem& problem) {
  const auto parsed = ParseJson(source);
  if (!parsed) return tl::unexpected(parsed.error());
  using Value = const nlohmann::json;
  const auto found = PlacementsOf(source, *parsed);
  if (!found) return tl::unexpected(found.error());
  Value* const placements = *found;

  OffsetCollector collector(source, problem);
  for (std::size_t i = 0; i < placements->size(); ++i) {
    Value& placement = (*placements)[i];
    const std::string number = "placement number " + std::to_string(i + 1);
    Value* const id = Member(placement, "id");
    if (id == nullptr || !id->is_string()) {
      return source.FailAsWhole(number + " is " + Shown(&placement) +
                                " where it should be an object with an \"id\" that is text");
    }
    Value* const offset = Member(placement, "offset");
    if (offset == nullptr || !IsInt64(*offset)) {
      return source.FailAsWhole(number + ": the offset of buffer " +
                                Quoted(id->get_ref<const std::string&>()) + " is " + Shown(offset) +
                                " where it should be a 64-bit integer");
    }
    const auto fault =
        collector.Add(id->get_ref<const std::string&>(), offset->get<std::int64_t>());
    if (fault) return source.FailAsWhole(number + ": " + *fault, ErrorCode::kInvalidPlan);
  }
  return collector.Finish();
}

// The integer at `key` of a placement or a plan; nothing, with `fault` set, where it is none.
std::optional<std::int64_t> IntegerAt(const nlohmann::json& object, const char* key,
                                      std::string& fault) {
  const nlohmann::json* const value = Member(object, key);
  if (value != nullptr && IsInt64(*value)) return value->get<std::int64_t>();
  fault =
      std::string("\"") + key + "\" is " + Shown(value) + " where it should be a 64-bit integer";
  return std::nullopt;
}

// Text at `key`, or of the object at `key` what is called `inner`; empty where there is none.
std::string TextAt(const nlohmann::json& object, const char* key, const char* inner = nullptr) {
  const nlohmann::json* value = Member(object, key);
  if (value != nullptr && inner != nullptr) value = Member(*value, inner);
  return value != nullptr && value->is_string() ? value->get<std::string>() : "";
}

// Whether what a file says of itself can be: sums that fit, ids that are unique, tops that do.
Result<void> CheckPlanFile(const Source& source, const PlanFile& plan) {
  const auto valid = Validate(plan.problem);
  if (!valid) return source.FailAsWhole(valid.error().message, ErrorCode::kInvalidPlan);
  const std::vector<Bytes>& offsets = plan.placement.offsets;
  for (std::size_t b = 0; b < offsets.size(); ++b) {
    if (offsets[b] < 0 || offsets[b] > kMaxBytes - plan.problem.buffers[b].size) {
      return source.FailAsWhole("buffer " + Quoted(plan.problem.buffers[b].id) + ": offset " +
                                    std::to_string(offsets[b]) +
                                    " must be at least 0, and offset + size at most 2^60",
                                ErrorCode::kInvalidPlan);
    }
  }
  return {};
}

// What plans of both formats say of themselves.
PlanFile PlanFrom(const nlohmann::json& json, std::string_view name) {
  PlanFile plan;
  plan.name = name;
  plan.version = TextAt(json, "berth_version");
  plan.input = TextAt(json, "input", "name");
  plan.input_hash = TextAt(json, "input", "hash");
  plan.outcome = TextAt(json, "outcome");
  return plan;
}

Result<void> ReadOrder(const Source& source, const nlohmann::json& json, PlanFile& plan) {
  const nlohmann::json* const order = Member(json, "order");
  if (order == nullptr) return {};
  if (!order->is_array()) {
    return source.FailAsWhole("\"order\" is " + Shown(order) + " where it should be a list");
  }
  for (const nlohmann::json& op : *order) {
    if (!op.is_string()) {
      return source.FailAsWhole("\"order\" has " + Shown(&op) +
                                " where it should have the name of an operator");
    }
    plan.order.push_back(op.get<std::string>());
  }
  return {};
}

Result<PlanFile> ReadPlanJson(const Source& source, const nlohmann::json& json,
                              std::string_view name) {
  const auto placements = PlacementsOf(source, json);
  if (!placements) return tl::unexpected(placements.error());
  PlanFile plan = PlanFrom(json, name);
  std::string fault;
  for (const auto& [key, target] :
       {std::pair<const char*, std::optional<Bytes>*>{"capacity", &plan.problem.capacity},
        {"lower_bound", &plan.lower_bound}}) {
    const nlohmann::json* const value = Member(json, key);
    if (value == nullptr || value->is_null()) continue;
    *target = IntegerAt(json, key, fault);
    if (!*target) return source.FailAsWhole(fault);
  }
  for (const nlohmann::json& placement : **placements) {
    const std::string number =
        "placement number " + std::to_string(plan.problem.buffers.size() + 1) + ": ";
    const nlohmann::json* const id = Member(placement, "id");
    if (id == nullptr || !id->is_string()) {
      return source.FailAsWhole(number + "\"id\" is " + Shown(id) + " where it should be text");
    }
    std::int64_t values[4] = {};
    const char* const keys[4] = {"start", "end", "size", "offset"};
    for (std::size_t k = 0; k < 4; ++k) {
      const auto value = IntegerAt(placement, keys[k], fault);
      if (!value) return source.FailAsWhole(number + fault);
      values[k] = *value;
    }
    plan.problem.buffers.push_back({id->get<std::string>(), values[0], values[1], values[2]});
    plan.placement.offsets.push_back(values[3]);
  }
  if (auto read = ReadOrder(source, json, plan); !read) return tl::unexpected(read.error());
  if (auto checked = CheckPlanFile(source, plan); !checked) return tl::unexpected(checked.error());
  plan.placement.height = Height(plan.problem, plan.placement.offsets);
  const nlohmann::json* const stated = Member(json, "height");
  if (stated != nullptr && *stated != plan.placement.height) {
    return source.FailAsWhole("\"height\" is " + Shown(stated) + ", but the placements reach " +
                                  std::to_string(plan.placement.height),
                              ErrorCode::kInvalidPlan);
  }
  return plan;
}

// A plan with spills: a buffer for each residency, named as ProblemOf() names it.
Result<PlanFile> ReadSpillPlanJson(const Source& source, const nlohmann::json& json,
                                   std::string_view name) {
  const nlohmann::json* const version = Member(json, "format_version");
  if (version == nullptr || *version != kFormatVersion) {
    return source.FailAsWhole("\"format_version\" is " + Shown(version) +
                              ", but this reader knows version 1 alone");
  }
  const nlohmann::json* const residencies = Member(json, "residencies");
  if (residencies == nullptr || !residencies->is_array()) {
    return source.FailAsWhole("\"residencies\" is " + Shown(residencies) +
                              " where it should be a list");
  }
  PlanFile plan = PlanFrom(json, name);
  std::string fault;
  if (Member(json, "capacity") != nullptr) {
    plan.problem.capacity = IntegerAt(json, "capacity", fault);
    if (!plan.problem.capacity) return source.FailAsWhole(fault);
  }
  if (auto read = ReadOrder(source, json, plan); !read) return tl::unexpected(read.error());
  std::unordered_map<std::string, int> stays;
  for (const nlohmann::json& one : *residencies) ++stays[TextAt(one, "tensor")];
  std::unordered_map<std::string, int> stay;
  for (std::size_t i = 0; i < residencies->size(); ++i) {
    const nlohmann::json& one = (*residencies)[i];
    const std::string number = "residency " + std::to_string(i) + ": ";
    std::string id = TextAt(one, "tensor");
    if (id.empty()) return source.FailAsWhole(number + "no \"tensor\"");
    std::int64_t values[4] = {};
    const char* const keys[4] = {"start", "end", "bytes", "offset"};
    for (std::size_t k = 0; k < 4; ++k) {
      const auto value = IntegerAt(one, keys[k], fault);
      if (!value) return source.FailAsWhole(number + fault);
      values[k] = *value;
    }
    if (stays[id] > 1) {
      const int which = ++stay[id];
      id += "#" + std::to_string(which);
      while (stays.count(id) != 0) id += "#";
    }
    plan.problem.buffers.push_back({std::move(id), values[0], values[1], values[2]});
    plan.placement.offsets.push_back(values[3]);
  }
  if (auto checked = CheckPlanFile(source, plan); !checked) return tl::unexpected(checked.error());
  plan.placement.height = Height(plan.problem, plan.placement.offsets);
  const nlohmann::json* const stated = Member(json, "height");
  if (stated == nullptr || *stated != plan.placement.height) {
    return source.FailAsWhole("\"height\" is " + Shown(stated) + ", but the residencies reach " +
                                  std::to_string(plan.placement.height),
                              ErrorCode::kInvalidPlan);
  }
  return plan;
}

Result<PlanFile> ReadPlanCsv(const Source& source, std::string_view name) {
  auto table = ReadCsv(source.text(), name);
  if (!table) return tl::unexpected(table.error());
  PlanFile plan;
  plan.name = name;
  plan.problem = std::move(table->problem);
  for (std::size_t b = 0; b < plan.problem.buffers.size(); ++b) {
    std::optional<Bytes>& offset = plan.problem.buffers[b].offset;
    if (!offset) {
      return source.FailAsWhole("buffer " + Quoted(plan.problem.buffers[b].id) +
                                    " has no offset: a plan as a table has one for each",
                                ErrorCode::kInvalidPlan);
    }
    plan.placement.offsets.push_back(*offset);
    offset.reset();  // It is where the buffer lies, not where it has to.
  }
  plan.placement.height = Height(plan.problem, plan.placement.offsets);
  return plan;
}

// Whether `text` is JSON, not a table.
bool LooksLikeJson(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{';
}

}  // namespace
}  // namespace internal

std::string WritePlanJson(const Problem& problem, const PlaceAnswer& answer,
                          const Provenance& provenance) {
  return internal::Fields(internal::HeadOf(problem, answer, provenance)) +
         internal::Placements(problem, answer);
}

std::string WritePlanJson(const Graph& graph, const PlanAnswer& plan,
                          const Provenance& provenance) {
  using internal::Json;
  Json fields = internal::HeadOf(graph, plan, provenance);
  Json order = Json::array();
  for (const OperatorIndex v : plan.schedule.order) order.push_back(graph.operators[v].name);
  fields["order"] = std::move(order);
  return internal::Fields(fields) + internal::Placements(plan.liveness.problem, plan.place);
}

std::string WritePlanHead(const Problem& problem, const PlaceAnswer& answer,
                          const Provenance& provenance) {
  return internal::Line(internal::HeadOf(problem, answer, provenance));
}

std::string WritePlanHead(const Graph& graph, const PlanAnswer& plan,
                          const Provenance& provenance) {
  return internal::Line(internal::HeadOf(graph, plan, provenance));
}

Result<std::vector<Bytes>> ReadOffsets(std::string_view text, std::string_view name,
                                       const Problem& problem) {
  const internal::Source source(text, name);
  return internal::LooksLikeJson(source.text()) ? internal::ReadOffsetsJson(source, problem)
                                                : internal::ReadOffsetsCsv(source, problem);
}

Result<PlanFile> ReadPlan(std::string_view text, std::string_view name) {
  const internal::Source source(text, name);
  if (!internal::LooksLikeJson(source.text())) return internal::ReadPlanCsv(source, name);
  const auto json = internal::ParseJson(source);
  if (!json) return tl::unexpected(json.error());
  const nlohmann::json* const format = internal::Member(*json, "format");
  return format != nullptr && *format == internal::kSpillFormat
             ? internal::ReadSpillPlanJson(source, *json, name)
             : internal::ReadPlanJson(source, *json, name);
}

}  // namespace berth
