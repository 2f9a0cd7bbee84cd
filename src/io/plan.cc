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

Result<std::vector<Bytes>> ReadOffsetsJson(const Source& source, const Problem& problem) {
  const auto parsed = ParseJson(source);
  if (!parsed) return tl::unexpected(parsed.error());
  const nlohmann::json& plan = *parsed;
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

}  // namespace
}  // namespace internal

std::string WritePlanJson(const Problem& problem, const PlaceAnswer& answer,
                          const Provenance& provenance) {
  using internal::Json;
  return internal::Fields({
             {"format", internal::kFormat},
             {"format_version", internal::kFormatVersion},
             {"berth_version", provenance.version},
             {"input", {{"name", provenance.input}, {"hash", provenance.input_hash}}},
             {"options", internal::OptionsOf(provenance)},
             {"node_limit", internal::OrNull(provenance.node_limit)},
             {"outcome", ToString(answer.outcome)},
             {"stopped", ToString(answer.stopped)},
             {"algorithm", answer.algorithm},
             {"capacity", internal::OrNull(problem.capacity)},
             {"height", answer.best ? Json(answer.best->height) : Json()},
             {"lower_bound", answer.lower_bound},
             {"nodes", answer.nodes},
         }) +
         internal::Placements(problem, answer);
}

std::string WritePlanJson(const Graph& graph, const PlanAnswer& plan,
                          const Provenance& provenance) {
  using internal::Json;
  Json order = Json::array();
  for (const OperatorIndex v : plan.schedule.order) order.push_back(graph.operators[v].name);
  Json schedule_options = Json::object();
  for (const OptionInfo& option : ScheduleOptionTable()) {
    const auto value = GetOption(provenance.schedule, option.name);
    BERTH_CHECK(value.has_value());
    schedule_options[std::string(option.name)] = *value;
  }
  const Counting& counting = provenance.schedule.counting;
  const Problem& problem = plan.liveness.problem;
  return internal::Fields({
             {"format", internal::kFormat},
             {"format_version", internal::kFormatVersion},
             {"berth_version", provenance.version},
             {"input", {{"name", provenance.input}, {"hash", provenance.input_hash}}},
             {"graph", graph.name},
             {"count", {{"inputs", counting.inputs}, {"parameters", counting.parameters}}},
             {"in_place", provenance.in_place},
             {"options", internal::OptionsOf(provenance)},
             {"schedule_options", std::move(schedule_options)},
             {"node_limit", internal::OrNull(provenance.node_limit)},
             {"outcome", ToString(plan.outcome)},
             {"stopped", ToString(plan.place.stopped)},
             {"algorithm", plan.place.algorithm},
             {"capacity", internal::OrNull(problem.capacity)},
             {"height", internal::OrNull(plan.arena())},
             {"lower_bound", plan.lower_bound},
             {"nodes", plan.place.nodes},
             {"program_order_peak", plan.program_order_peak},
             {"peak", plan.schedule.peak},
             {"schedule_outcome", ToString(plan.schedule.outcome)},
             {"schedule_stopped", ToString(plan.schedule.stopped)},
             {"schedule_algorithm", plan.schedule.algorithm},
             {"schedule_nodes", plan.schedule.nodes},
             {"order_lower_bound", plan.place.lower_bound},
             {"order", std::move(order)},
         }) +
         internal::Placements(problem, plan.place);
}

Result<std::vector<Bytes>> ReadOffsets(std::string_view text, std::string_view name,
                                       const Problem& problem) {
  const internal::Source source(text, name);
  const std::string_view start = source.text();
  const std::size_t first = start.find_first_not_of(" \t\r\n");
  const bool is_json = first != std::string_view::npos && start[first] == '{';
  return is_json ? internal::ReadOffsetsJson(source, problem)
                 : internal::ReadOffsetsCsv(source, problem);
}

}  // namespace berth
