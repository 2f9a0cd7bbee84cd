// Writes plans (docs/formats/plan.md).

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "berth/plan_io.h"
#include "io/json.h"
#include "io/plan_json.h"

namespace berth {
namespace internal {
namespace {

using Json = nlohmann::ordered_json;

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
      {"format", kPlanFormat},
      {"format_version", kPlanFormatVersion},
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
      {"format", kPlanFormat},
      {"format_version", kPlanFormatVersion},
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

Json HeadOf(const Graph& graph, const SpillAnswer& answer, Bytes capacity,
            const Provenance& provenance) {
  const Counting& counting = provenance.schedule.counting;
  Json least = {{"bytes", answer.least.bytes}, {"operator", nullptr}};
  if (!graph.operators.empty()) least["operator"] = graph.operators[answer.least.op].name;
  Json head = {
      {"format", kSpillPlanFormat},
      {"format_version", kPlanFormatVersion},
      {"berth_version", provenance.version},
      {"input", {{"name", provenance.input}, {"hash", provenance.input_hash}}},
      {"count", {{"inputs", counting.inputs}, {"parameters", counting.parameters}}},
      {"in_place", provenance.in_place},
      {"fixed_order", provenance.fixed_order},
      {"options", OptionsOf(provenance)},
      {"node_limit", OrNull(provenance.node_limit)},
      {"outcome", ToString(answer.outcome)},
      {"stopped", ToString(answer.stopped)},
      {"capacity", capacity},
      {"height", nullptr},
      {"lower_bound", answer.lower_bound},
      {"without_addresses", answer.without_addresses},
      {"least_memory", std::move(least)},
      {"nodes", answer.nodes},
      {"traffic", nullptr},
  };
  if (answer.best) {
    const Traffic& traffic = answer.best->traffic;
    head["height"] = answer.best->height;
    head["traffic"] = {{"avoidable", traffic.avoidable()},
                       {"spilled", traffic.spilled},
                       {"retrieved", traffic.retrieved},
                       {"compulsory_in", traffic.compulsory_in},
                       {"compulsory_out", traffic.compulsory_out}};
  }
  return head;
}

Json ResidencyOf(const Graph& graph, const Residency& residency) {
  const Tensor& tensor = graph.tensors[residency.tensor];
  return {{"tensor", tensor.name},
          {"start", residency.start},
          {"end", residency.end},
          {"offset", residency.offset},
          {"bytes", tensor.bytes},
          {"comes_in", residency.comes_in},
          {"written_out", residency.written_out}};
}

Json OrderOf(const Graph& graph, const Order& order) {
  Json names = Json::array();
  for (const OperatorIndex v : order) names.push_back(graph.operators[v].name);
  return names;
}

// The beginning of a plan: a field a line.
std::string Fields(const Json& fields) {
  std::string out = "{\n";
  for (const auto& [key, value] : fields.items()) {
    out += "  " + Line(key) + ": " + Line(value) + ",\n";
  }
  return out;
}

// The end of a plan: a list with an item a line, as plans are compared with line-based tools.
template <typename ToJson>
std::string LastField(const char* key, std::size_t count, ToJson to_json) {
  std::string out = "  " + Line(key) + ": [";
  for (std::size_t i = 0; i < count; ++i) {
    out += (i == 0 ? "\n    " : ",\n    ") + Line(to_json(i));
  }
  return out + (count == 0 ? "]\n}\n" : "\n  ]\n}\n");
}

std::string Placements(const Problem& problem, const PlaceAnswer& answer) {
  if (!answer.best) return "  \"placements\": null\n}\n";
  BERTH_CHECK(answer.best->offsets.size() == problem.buffers.size());
  return LastField("placements", problem.buffers.size(), [&](std::size_t b) {
    return PlacementOf(problem.buffers[b], answer.best->offsets[b]);
  });
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
  internal::Json fields = internal::HeadOf(graph, plan, provenance);
  fields["order"] = internal::OrderOf(graph, plan.schedule.order);
  return internal::Fields(fields) + internal::Placements(plan.liveness.problem, plan.place);
}

std::string WritePlanJson(const Graph& graph, const SpillAnswer& answer, Bytes capacity,
                          const Provenance& provenance) {
  internal::Json fields = internal::HeadOf(graph, answer, capacity, provenance);
  if (!answer.best) return internal::Fields(fields) + "  \"residencies\": null\n}\n";
  const std::vector<Residency>& residencies = answer.best->residencies;
  fields["order"] = internal::OrderOf(graph, answer.best->order);
  return internal::Fields(fields) +
         internal::LastField("residencies", residencies.size(), [&](std::size_t i) {
           return internal::ResidencyOf(graph, residencies[i]);
         });
}

std::string WritePlanHead(const Problem& problem, const PlaceAnswer& answer,
                          const Provenance& provenance) {
  return internal::Line(internal::HeadOf(problem, answer, provenance));
}

std::string WritePlanHead(const Graph& graph, const PlanAnswer& plan,
                          const Provenance& provenance) {
  return internal::Line(internal::HeadOf(graph, plan, provenance));
}

std::string WritePlanHead(const Graph& graph, const SpillAnswer& answer, Bytes capacity,
                          const Provenance& provenance) {
  return internal::Line(internal::HeadOf(graph, answer, capacity, provenance));
}

}  // namespace berth
