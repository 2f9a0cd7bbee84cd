// What a plan's file says of it before its lists. It uses the public interface alone: where shared
// libraries hide it, the command compiles it once more.

#include "io/plan_head.h"

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "berth/bytes.h"
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
    if (option.name == "threads") continue;
    const auto value = GetOption(provenance.options.schedule, option.name);
    BERTH_CHECK(value.has_value());
    options[std::string(option.name)] = *value;
  }
  return options;
}

// As a file of its own would have it (docs/formats/device.md).
Json DeviceJson(const Device& device) {
  const auto rate = [](Bytes bytes) { return std::to_string(bytes) + "B/s"; };
  Json json = {{"format", "berth-device"}, {"format_version", 1}};
  if (!device.name.empty()) json["name"] = device.name;
  json["operations_per_second"] = device.operations_per_second;
  json["bandwidth"] = rate(device.bytes_per_second);
  json["launch_ns"] = device.launch_nanoseconds;
  if (const auto& link = device.link) {
    json["link"] = {{"out", rate(link->out_bytes_per_second)},
                    {"in", rate(link->in_bytes_per_second)},
                    {"latency_ns", link->latency_nanoseconds}};
    if (link->picojoules_per_byte) json["link"]["energy_pj_per_byte"] = *link->picojoules_per_byte;
  }
  return json;
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
  if (provenance.device) head["device"] = DeviceJson(*provenance.device);
  if (!provenance.profile.empty()) head["profile"] = provenance.profile;
}

Json LeastMemoryOf(const Graph& graph, const PlanAnswer& answer) {
  const bool any = !graph.operators.empty();
  return {{"bytes", answer.least.bytes},
          {"operator", any ? Json(graph.operators[answer.least.op].name) : Json()}};
}

void AddRecomputed(const Graph& graph, const PlanAnswer& answer, Json& head) {
  const bool planned = answer.best && answer.best->addressed;
  head["fixed_order"] = answer.fixed_order;
  head["least_memory"] = LeastMemoryOf(graph, answer);
  head["recomputed"] = {{"operators", planned ? Json(answer.best->recomputed.operators) : Json()},
                        {"cost", planned ? Json(answer.best->recomputed.cost) : Json()},
                        {"cost_bound", answer.recompute_bound},
                        {"unit", CostsOf(graph).unit}};
}

void AddSpills(const Graph& graph, const PlanAnswer& answer, Json& head) {
  head["fixed_order"] = answer.fixed_order;
  head["traffic_bound"] = answer.traffic_bound;
  head["traffic_by_sum"] = answer.traffic_by_sum;
  head["least_memory"] = LeastMemoryOf(graph, answer);
  const bool planned = answer.best && answer.best->addressed;
  head["traffic"] = planned ? TrafficJson(answer.best->traffic) : Json();
}

Json LinkJson(const Link& link) {
  return {{"out_bytes_per_second", link.out_bytes_per_second},
          {"in_bytes_per_second", link.in_bytes_per_second},
          {"latency_ns", link.latency_nanoseconds}};
}

// Each memory, with what the plan takes of it, and the costs.
void AddMemories(const std::vector<Memory>& memories, const PlanAnswer& answer, Json& head) {
  const MemoryPlan* const plan =
      answer.best && answer.best->memories.size() == memories.size() ? &*answer.best : nullptr;
  head["memories"] = Json::array();
  for (std::size_t m = 0; m < memories.size(); ++m) {
    Json memory = MemoryJson(memories[m]);
    memory["height"] = plan != nullptr ? Json(plan->memories[m].height) : Json();
    memory["peak"] = plan != nullptr ? Json(plan->memories[m].peak) : Json();
    head["memories"].push_back(std::move(memory));
  }
  head["unplaced"] = plan != nullptr ? Json(plan->cost.unplaced) : Json();
  head["unplaced_bound"] = answer.cost_bound.unplaced;
  head["cost"] = plan != nullptr ? Json(plan->cost.cost) : Json();
  // Of plans that leave out as few as `unplaced_bound`.
  head["cost_bound"] = answer.cost_bound.cost;
  head["moved"] = plan != nullptr ? Json(plan->cost.moved) : Json();
}

void AddLeftOut(const MemoryProblem& problem, const PlanAnswer& answer, Json& head) {
  head["left_out"] = Json();
  if (!answer.best) return;
  std::vector<bool> placed(problem.table.buffers.size());
  for (const Residency& residency : answer.best->residencies) placed[residency.tensor] = true;
  head["left_out"] = Json::array();
  for (std::size_t b = 0; b < placed.size(); ++b) {
    if (!placed[b]) head["left_out"].push_back(problem.table.buffers[b].id);
  }
}

// The memories that all tensors of a kind may be in, by name; null where they may be in any. Rules for
// single tensors are not written.
Json AllowedJson(const Graph& graph, const GraphMemories& memories, bool weights) {
  for (TensorIndex t = 0; t < memories.allowed.size(); ++t) {
    const Tensor& tensor = graph.tensors[t];
    const bool weight =
        tensor.kind == TensorKind::kParameter || tensor.kind == TensorKind::kConstant;
    if (weight != weights || tensor.alias_of) continue;
    if (memories.allowed[t].empty()) return nullptr;
    Json names = Json::array();
    for (const std::size_t m : memories.allowed[t]) names.push_back(memories.memories[m].name);
    return names;
  }
  return nullptr;
}

void AddGraphMemories(const Graph& graph, const PlanAnswer& answer, const Provenance& provenance,
                      Json& head) {
  const GraphMemories& memories = provenance.options.memories;
  head["cost_unit"] = provenance.cost_unit;
  head["activations_in"] = AllowedJson(graph, memories, false);
  head["weights_in"] = AllowedJson(graph, memories, true);
  AddMemories(memories.memories, answer, head);
  head["left_out"] = Json();
  if (answer.best) {
    std::vector<bool> placed(graph.tensors.size());
    for (const Residency& residency : answer.best->residencies) placed[residency.tensor] = true;
    head["left_out"] = Json::array();
    const Counting& counting = provenance.options.schedule.counting;
    for (const TensorIndex t : TableOf(graph, answer.best->order, counting, memories).tensors) {
      if (!placed[t]) head["left_out"].push_back(graph.tensors[t].name);
    }
  }
  head["fixed_order"] = answer.fixed_order;
  head["may_move"] = memories.may_move;
  if (!memories.stage_in.empty()) {
    head["stage_weights_in"] = Json::array();
    for (const std::size_t m : memories.stage_in) {
      head["stage_weights_in"].push_back(memories.memories[m].name);
    }
  }
  if (memories.prefetch) {
    head["prefetch"] = true;
    head["copy_latency"] = memories.copy_latency;
  }
  head["spills"] = answer.spills;
  if (!answer.spills) return;
  const bool planned = answer.best && answer.best->addressed;
  head["traffic_bound"] = answer.traffic_bound;
  head["traffic_by_sum"] = answer.traffic_by_sum;
  head["traffic"] = planned ? TrafficJson(answer.best->traffic) : Json();
}

}  // namespace

Json MemoryJson(const Memory& memory) {
  Json json = {{"name", memory.name}};
  if (memory.capacity) json["capacity"] = *memory.capacity;
  if (memory.base != 0) {
    std::string digits;
    for (auto rest = static_cast<std::uint64_t>(memory.base); rest > 0; rest /= 16) {
      digits.insert(digits.begin(), "0123456789abcdef"[rest % 16]);
    }
    json["base"] = "0x" + digits;
  }
  if (memory.alignment != 1) json["alignment"] = memory.alignment;
  const auto add_rate = [&json](const char* key, const Rate& rate) {
    if (rate != Rate()) json[key] = {{"cost", rate.cost}, {"bytes", rate.bytes}};
  };
  add_rate("read", memory.read);
  add_rate("write", memory.write);
  if (memory.access != 0) json["access"] = memory.access;
  for (const Reserved& reserved : memory.reserved) {
    Json range = {{"lower", reserved.lower}, {"upper", reserved.upper}};
    if (reserved.start != -kMaxStep) range["start"] = reserved.start;
    if (reserved.end != kMaxStep) range["end"] = reserved.end;
    json["reserved"].push_back(std::move(range));
  }
  return json;
}

Json TrafficJson(const Traffic& traffic) {
  Json json = {{"avoidable", traffic.avoidable()},
               {"spilled", traffic.spilled},
               {"retrieved", traffic.retrieved},
               {"compulsory_in", traffic.compulsory_in},
               {"compulsory_out", traffic.compulsory_out}};
  if (traffic.cost > 0) json["cost"] = traffic.cost;
  return json;
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
  if (subject.memories() != nullptr) {
    head["cost_unit"] = provenance.cost_unit;
    head["assumed_uses"] = provenance.assumed_uses;
    AddMemories(subject.memories()->memories, answer, head);
    AddLeftOut(*subject.memories(), answer, head);
    head["placing"] = SearchOf(answer.placing);
    return head;
  }
  if (graph != nullptr && !provenance.options.memories.memories.empty()) {
    AddGraphMemories(*graph, answer, provenance, head);
    head["scheduling"] = SearchOf(answer.scheduling);
    head["spilling"] = SearchOf(answer.spilling);
    head["placing"] = SearchOf(answer.placing);
    if (SizesAreMissing(answer, provenance)) {
      SetApartSized(head, {"cost", "traffic_by_sum", "traffic"});
    }
    return head;
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
    const bool repeats = answer.best && answer.best->recomputed.operators > 0;
    if (answer.recomputes || repeats) AddRecomputed(*graph, answer, head);
    if (const auto& link = provenance.options.link) head["link"] = LinkJson(*link);
    if (provenance.options.gap > 0) head["gap"] = FormatPercentage(provenance.options.gap);
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
