// What a plan's file says of it before its lists. It uses the public interface alone: where shared
// libraries hide it, the command compiles it once more.

#include "io/plan_head.h"

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "base/check.h"
#include "berth/schedule.h"

namespace berth::internal {
namespace {

using Json = nlohmann::ordered_json;

// Every option by name, but `threads`: the same plan gives the same bytes.
Json PlaceOptionsOf(const Provenance& provenance) {
  Json options = Json::object();
  for (const OptionInfo& option : Options()) {
    if (option.name == "threads") continue;
    const auto value = GetOption(provenance.options.place, option.name);
    BERTH_CHECK(value.has_value());
    const bool other = option.name == "algorithm" && !provenance.method.empty();
    options[std::string(option.name)] = other ? provenance.method : *value;
  }
  return options;
}

Json ScheduleOptionsOf(const Provenance& provenance) {
  Json options = Json::object();
  for (const OptionInfo& option : ScheduleOptionTable()) {
    const auto value = GetOption(provenance.options.schedule, option.name);
    BERTH_CHECK(value.has_value());
    options[std::string(option.name)] = *value;
  }
  return options;
}

Json OrNull(const std::optional<std::int64_t>& number) { return number ? Json(*number) : Json(); }

Json SearchOf(const SearchReport& search) {
  if (search.algorithm.empty() && search.nodes == 0) return nullptr;
  return {{"outcome", ToString(search.outcome)},
          {"stopped", ToString(search.stopped)},
          {"algorithm", search.algorithm},
          {"nodes", search.nodes}};
}

void AddGraph(const Graph& graph, const Provenance& provenance, Json& head) {
  const Counting& counting = provenance.options.schedule.counting;
  head["graph"] = graph.name;
  head["count"] = {{"inputs", counting.inputs},
                   {"parameters", counting.parameters},
                   {"unsized_as_zero", counting.unsized_as_zero}};
  head["in_place"] = provenance.in_place;
  head["fused"] = provenance.fused;
  const OnnxOptions& reading = provenance.reading;
  Json dimensions = Json::object();
  for (const OnnxDimension& each : reading.dimensions) dimensions[each.name] = each.size;
  head["reading"] = {{"dimensions", std::move(dimensions)},
                     {"other_dimensions", OrNull(reading.other_dimensions)},
                     {"element_bytes", OrNull(reading.element_bytes)},
                     {"alignment", reading.alignment}};
}

void AddSpills(const Graph& graph, const PlanAnswer& answer, Json& head) {
  head["fixed_order"] = answer.fixed_order;
  head["traffic_bound"] = answer.traffic_bound;
  head["traffic_by_sum"] = answer.traffic_by_sum;
  const bool any = !graph.operators.empty();
  head["least_memory"] = {{"bytes", answer.least.bytes},
                          {"operator", any ? Json(graph.operators[answer.least.op].name) : Json()}};
  const bool planned = answer.best && answer.best->addressed;
  head["traffic"] = planned ? TrafficJson(answer.best->traffic) : Json();
}

}  // namespace

Json TrafficJson(const Traffic& traffic) {
  return {{"avoidable", traffic.avoidable()},
          {"spilled", traffic.spilled},
          {"retrieved", traffic.retrieved},
          {"compulsory_in", traffic.compulsory_in},
          {"compulsory_out", traffic.compulsory_out}};
}

nlohmann::ordered_json PlanHead(const PlanSubject& subject, const PlanAnswer& answer,
                                const Provenance& provenance) {
  const Graph* const graph = subject.graph();
  const bool addressed = answer.best && answer.best->addressed;
  Json head = {{"format", kPlanFormat},
               {"format_version", kPlanFormatVersion},
               {"berth_version", provenance.version},
               {"input", {{"name", provenance.input}, {"hash", provenance.input_hash}}}};
  if (graph != nullptr) AddGraph(*graph, provenance, head);
  head["options"] = PlaceOptionsOf(provenance);
  if (graph != nullptr) head["schedule_options"] = ScheduleOptionsOf(provenance);
  head["node_limit"] = OrNull(provenance.node_limit);
  head["outcome"] = ToString(answer.outcome);
  head["stopped"] = ToString(answer.stopped);
  if (graph != nullptr) {
    head["planned_tensors"] = answer.tensors;
    head["unsized_tensors"] = answer.unsized;
  }
  head["capacity"] = OrNull(answer.capacity);
  head["height"] = addressed ? Json(answer.best->height()) : Json();
  head["height_bound"] = answer.height_bound;
  head["peak"] = answer.best ? Json(answer.best->peak()) : Json();
  if (graph != nullptr) {
    head["peak_bound"] = answer.peak_bound;
    head["program_order_peak"] = answer.program_order_peak;
    head["placement_bound"] = addressed ? Json(answer.placement_bound) : Json();
    head["spills"] = answer.spills;
    if (answer.spills) AddSpills(*graph, answer, head);
    head["scheduling"] = SearchOf(answer.scheduling);
    head["spilling"] = SearchOf(answer.spilling);
  }
  head["placing"] = SearchOf(answer.placing);
  if (SizesAreMissing(answer, provenance)) {
    SetApartSized(head, {"height", "peak", "program_order_peak", "traffic_by_sum", "traffic"});
  }
  return head;
}

bool SizesAreMissing(const PlanAnswer& answer, const Provenance& provenance) {
  return answer.unsized > 0 && !provenance.options.schedule.counting.unsized_as_zero;
}

void SetApartSized(nlohmann::ordered_json& json, std::initializer_list<const char*> keys) {
  Json& sized = json["of_sized_tensors"];
  for (const char* const key : keys) {
    const auto found = json.find(key);
    if (found == json.end()) continue;
    sized[key] = std::move(*found);
    *json.find(key) = nullptr;
  }
}

}  // namespace berth::internal
