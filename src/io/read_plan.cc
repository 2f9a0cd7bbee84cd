// Reads plans (docs/formats/plan.md).

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/source.h"
#include "base/try.h"
#include "berth/device.h"
#include "berth/io.h"
#include "berth/memory_io.h"
#include "graph/plan.h"
#include "io/json.h"
#include "io/json_tree.h"
#include "io/plan_head.h"
#include "io/plan_json.h"
#include "io/rows.h"

namespace berth {
namespace internal {
namespace {

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
  if (auto header = rows.ReadHeader({Column::kId, Column::kOffset}, Columns::kAny); !header) {
    return tl::unexpected(header.error());
  }
  OffsetCollector collector(source, problem);
  for (;;) {
    const auto more = rows.Next();
    if (!more) return tl::unexpected(more.error());
    if (!*more) return collector.Finish();
    const CsvField& field = rows.FieldOf(Column::kOffset);
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

// Where a plan in JSON lists its residencies, and under which keys, by format and version.
struct PlanList {
  const nlohmann::json* list = nullptr;
  const char* id = "id";
  const char* size = "size";
  bool lifetimes = true;  // Start, end and size mean what they say for a graph.
  bool spills = false;
  bool old = false;

  // "residency number 3".
  [[nodiscard]] std::string Number(std::size_t i) const {
    return (lifetimes ? "residency number " : "placement number ") + std::to_string(i + 1);
  }
};

Result<PlanList> ListOf(const Source& source, const nlohmann::json& plan) {
  const nlohmann::json* const format = Member(plan, "format");
  const bool old_spills = format != nullptr && *format == kOldSpillPlanFormat;
  if (!old_spills && (format == nullptr || *format != kPlanFormat)) {
    return source.FailAsWhole("not a plan: \"format\" is " + Shown(format) +
                              " where it should be \"berth-plan\"");
  }
  const nlohmann::json* const version = Member(plan, "format_version");
  PlanList found;
  found.old = version != nullptr && *version == kOldPlanFormatVersion;
  if (!found.old && (version == nullptr || *version != kPlanFormatVersion || old_spills)) {
    return source.FailAsWhole("\"format_version\" is " + Shown(version) +
                              ", but this reader knows versions 1 and 2");
  }
  if (old_spills) {
    found.id = "tensor";
    found.size = "bytes";
  }
  found.lifetimes = !found.old || old_spills;
  const nlohmann::json* const spills = Member(plan, "spills");
  found.spills = old_spills || (spills != nullptr && *spills == true);
  const char* const key = found.lifetimes ? "residencies" : "placements";
  found.list = Member(plan, key);
  if (found.list != nullptr && found.list->is_array()) return found;
  if (found.list != nullptr && found.list->is_null()) {
    return source.FailAsWhole("the search that wrote this found no plan", ErrorCode::kInvalidPlan);
  }
  return source.FailAsWhole("\"" + std::string(key) + "\" is " + Shown(found.list) +
                            " where it should be a list");
}

// The id of residency number `i`.
Result<std::string> IdOf(const Source& source, const PlanList& list, std::size_t i) {
  const nlohmann::json& residency = (*list.list)[i];
  const nlohmann::json* const id = Member(residency, list.id);
  if (id != nullptr && id->is_string()) return id->get<std::string>();
  if (residency.is_object()) {
    return source.FailAsWhole(list.Number(i) + ": \"" + list.id + "\" is " + Shown(id) +
                              " where it should be text");
  }
  return source.FailAsWhole(list.Number(i) + " is " + Shown(&residency) +
                            " where it should be an object with an \"" + list.id +
                            "\" that is text");
}

Result<std::vector<Bytes>> ReadOffsetsJson(const Source& source, const Problem& problem) {
  const auto parsed = BERTH_TRY(ParseJson(source));
  const PlanList list = BERTH_TRY(ListOf(source, parsed));
  if (list.spills) {
    return source.FailAsWhole("a plan with spills, which is one for a graph, not for a table");
  }
  OffsetCollector collector(source, problem);
  for (std::size_t i = 0; i < list.list->size(); ++i) {
    const std::string id = BERTH_TRY(IdOf(source, list, i));
    const nlohmann::json* const offset = Member((*list.list)[i], "offset");
    if (offset == nullptr || !IsInt64(*offset)) {
      return source.FailAsWhole(list.Number(i) + ": the offset of buffer " + Quoted(id) + " is " +
                                Shown(offset) + " where it should be a 64-bit integer");
    }
    const auto fault = collector.Add(id, offset->get<std::int64_t>());
    if (fault) return source.FailAsWhole(list.Number(i) + ": " + *fault, ErrorCode::kInvalidPlan);
  }
  return collector.Finish();
}

// The integer at `key` of a residency or a plan; nothing, with `fault` set, where it is none.
std::optional<std::int64_t> IntegerAt(const nlohmann::json& object, const char* key,
                                      std::string& fault) {
  const nlohmann::json* const value = Member(object, key);
  if (value != nullptr && IsInt64(*value)) return value->get<std::int64_t>();
  fault =
      std::string("\"") + key + "\" is " + Shown(value) + " where it should be a 64-bit integer";
  return std::nullopt;
}

// The same from 0 to 2^60: a number of bytes, or a step.
std::optional<std::int64_t> NumberAt(const nlohmann::json& object, const char* key,
                                     std::string& fault) {
  const auto number = IntegerAt(object, key, fault);
  if (!number || (*number >= 0 && *number <= kMaxBytes)) return number;
  fault = std::string("\"") + key + "\" is " + std::to_string(*number) +
          " where it should be from 0 to 2^60";
  return std::nullopt;
}

// A residency as a file states it.
struct Record {
  std::string id;
  Bytes size = 0;
  Residency residency;      // But for its tensor, and its memory where that has a name.
  std::string memory = {};  // Its name.
};

// All residencies of `list`; with the old format's placements any integers, as tables may begin at
// negative steps.
Result<std::vector<Record>> ReadRecords(const Source& source, const PlanList& list, bool of_graph) {
  std::vector<Record> records;
  records.reserve(list.list->size());
  std::string fault;
  for (std::size_t i = 0; i < list.list->size(); ++i) {
    const nlohmann::json& one = (*list.list)[i];
    Record& record = records.emplace_back();
    record.id = BERTH_TRY(IdOf(source, list, i));
    Residency& residency = record.residency;
    for (const auto& [key, value] :
         std::initializer_list<std::pair<const char*, std::int64_t*>>{{"start", &residency.start},
                                                                      {"end", &residency.end},
                                                                      {"offset", &residency.offset},
                                                                      {list.size, &record.size}}) {
      const auto number = of_graph ? NumberAt(one, key, fault) : IntegerAt(one, key, fault);
      if (!number) return source.FailAsWhole(list.Number(i) + ": " + fault);
      *value = *number;
    }
    for (const auto& [key, value] : std::initializer_list<std::pair<const char*, bool*>>{
             {"comes_in", &residency.comes_in}, {"written_out", &residency.written_out}}) {
      const nlohmann::json* const flag = Member(one, key);
      if (flag == nullptr) continue;
      if (!flag->is_boolean()) {
        return source.FailAsWhole(list.Number(i) + ": \"" + key + "\" is " + Shown(flag) +
                                  " where it should be true or false");
      }
      *value = flag->get<bool>();
    }
    const nlohmann::json* const memory = Member(one, "memory");
    if (memory != nullptr && memory->is_string()) {
      record.memory = memory->get<std::string>();
    } else if (memory != nullptr && *memory != 0) {
      return source.FailAsWhole(list.Number(i) + ": \"memory\" is " + Shown(memory) +
                                " where it should be the name of a memory");
    }
  }
  return records;
}

// The "traffic" of a plan with spills.
Result<Traffic> TrafficFrom(const Source& source, const nlohmann::json& plan) {
  const nlohmann::json* const stated = Member(plan, "traffic");
  if (stated == nullptr || !stated->is_object()) {
    return source.FailAsWhole("\"traffic\" is " + Shown(stated) + " where it should be an object");
  }
  Traffic traffic;
  std::string fault;
  for (const auto& [key, value] : std::initializer_list<std::pair<const char*, Bytes*>>{
           {"spilled", &traffic.spilled},
           {"retrieved", &traffic.retrieved},
           {"compulsory_in", &traffic.compulsory_in},
           {"compulsory_out", &traffic.compulsory_out}}) {
    const auto number = NumberAt(*stated, key, fault);
    if (!number) return source.FailAsWhole("\"traffic\": " + fault);
    *value = *number;
  }
  if (Member(*stated, "cost") != nullptr) {
    const auto cost = NumberAt(*stated, "cost", fault);
    if (!cost) return source.FailAsWhole("\"traffic\": " + fault);
    traffic.cost = *cost;
  }
  return traffic;
}

// What a plan states that running operators again costs; nothing for a plan that does not speak of it.
Result<std::optional<Recomputed>> RecomputedFrom(const Source& source, const nlohmann::json& plan) {
  const nlohmann::json* const stated = Member(plan, "recomputed");
  if (stated == nullptr) return std::nullopt;
  if (!stated->is_object()) {
    return source.FailAsWhole("\"recomputed\" is " + Shown(stated) +
                              " where it should be an object");
  }
  std::string fault;
  const auto operators = NumberAt(*stated, "operators", fault);
  const auto cost = operators ? IntegerAt(*stated, "cost", fault) : std::nullopt;
  if (!cost) return source.FailAsWhole("\"recomputed\": " + fault);
  if (*cost < 0) {
    return source.FailAsWhole("\"recomputed\": \"cost\" is " + std::to_string(*cost) +
                              " where it should be at least 0");
  }
  return Recomputed{static_cast<std::size_t>(*operators), *cost};
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

// Several memories as a plan states them, what it takes of each, and the cost.
struct StatedMemories {
  MemoryFile file;
  std::vector<MemoryUse> uses;
  PlanCost cost;
};
Result<StatedMemories> MemoriesFrom(const Source& source, const nlohmann::json& json) {
  StatedMemories stated{BERTH_TRY(ReadMemoriesJson(source.text(), source.name())), {}, {}};
  std::string fault;
  const nlohmann::json& list = *Member(json, "memories");
  for (std::size_t m = 0; m < stated.file.problem.memories.size(); ++m) {
    MemoryUse& use = stated.uses.emplace_back();
    for (const auto& [key, value] :
         {std::pair<const char*, Bytes*>{"height", &use.height}, {"peak", &use.peak}}) {
      const auto number = NumberAt(list[m], key, fault);
      if (!number) return source.FailAsWhole("memory number " + std::to_string(m) + ": " + fault);
      *value = *number;
    }
  }
  const auto cost = NumberAt(json, "cost", fault);
  const auto unplaced = cost ? NumberAt(json, "unplaced", fault) : std::nullopt;
  if (!unplaced) return source.FailAsWhole(fault);
  stated.cost.cost = *cost;
  stated.cost.unplaced = static_cast<std::size_t>(*unplaced);
  return stated;
}

// The index of the memory with this name.
std::optional<std::size_t> MemoryCalled(const std::vector<Memory>& memories,
                                        std::string_view name) {
  for (std::size_t m = 0; m < memories.size(); ++m) {
    if (memories[m].name == name) return m;
  }
  return std::nullopt;
}

tl::unexpected<Error> NoSuchMemory(const Source& source, const PlanList& list, std::size_t i,
                                   const std::string& name) {
  return source.FailAsWhole(list.Number(i) + ": \"memory\" is " + Quoted(name) +
                                ", which is none of those in \"memories\"",
                            ErrorCode::kInvalidPlan);
}

// What states the height, the peak and the traffic: `plan`, or where tensors have no known size, the
// object in it that has these figures of the others.
const nlohmann::json& FiguresOf(const nlohmann::json& plan) {
  const nlohmann::json* const sized = Member(plan, "of_sized_tensors");
  return sized != nullptr && sized->is_object() ? *sized : plan;
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

// The ids of records that are buffers: "x#1", "x#2" where a tensor has several residencies.
void AddBuffers(const std::vector<Record>& records, PlanFile& plan) {
  std::unordered_map<std::string_view, int> count;
  for (const Record& record : records) ++count[record.id];
  std::unordered_map<std::string_view, int> number;
  for (const Record& record : records) {
    std::string id = record.id;
    if (count[record.id] > 1) {
      id += "#" + std::to_string(++number[record.id]);
      while (count.count(id) != 0) id += "#";
    }
    plan.problem.buffers.push_back(
        {std::move(id), record.residency.start, record.residency.end, record.size});
    plan.placement.offsets.push_back(record.residency.offset);
  }
}

// The memories of a plan that names several, and that of each buffer.
Result<void> AddMemories(const Source& source, const nlohmann::json& json, const PlanList& list,
                         const std::vector<Record>& records, PlanFile& plan) {
  StatedMemories stated = BERTH_TRY(MemoriesFrom(source, json));
  plan.memories = std::move(stated.file.problem.memories);
  plan.uses = std::move(stated.uses);
  plan.cost = stated.cost;
  plan.cost_unit = stated.file.cost_unit;
  const nlohmann::json* const prefetch = Member(json, "prefetch");
  plan.prefetch = prefetch != nullptr && *prefetch == true;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const auto memory = MemoryCalled(plan.memories, records[i].memory);
    if (!memory) return NoSuchMemory(source, list, i, records[i].memory);
    plan.memory_of.push_back(*memory);
  }
  const nlohmann::json* const left_out = Member(json, "left_out");
  if (left_out == nullptr || !left_out->is_array()) return {};
  for (const nlohmann::json& id : *left_out) {
    if (!id.is_string()) {
      return source.FailAsWhole("\"left_out\" has " + Shown(&id) +
                                " where it should have the name of a buffer");
    }
    plan.left_out.push_back(id.get<std::string>());
  }
  return {};
}

Result<PlanFile> ReadPlanJson(const Source& source, const nlohmann::json& json,
                              std::string_view name) {
  const PlanList list = BERTH_TRY(ListOf(source, json));
  PlanFile plan = PlanFrom(json, name);
  // The first version called every bound lower_bound; of a plan with spills it was of the traffic.
  const char* const bound = list.old && !list.spills ? "lower_bound" : "height_bound";
  std::string fault;
  for (const auto& [key, target] :
       {std::pair<const char*, std::optional<Bytes>*>{"capacity", &plan.problem.capacity},
        {bound, &plan.height_bound}}) {
    const nlohmann::json* const value = Member(json, key);
    if (value == nullptr || value->is_null()) continue;
    *target = IntegerAt(json, key, fault);
    if (!*target) return source.FailAsWhole(fault);
  }
  const auto records = BERTH_TRY(ReadRecords(source, list, /*of_graph=*/list.spills));
  if (list.lifetimes) {
    AddBuffers(records, plan);
  } else {
    for (const Record& record : records) {
      plan.problem.buffers.push_back(
          {record.id, record.residency.start, record.residency.end, record.size});
      plan.placement.offsets.push_back(record.residency.offset);
    }
  }
  if (list.spills) plan.traffic = BERTH_TRY(TrafficFrom(source, FiguresOf(json)));
  if (const auto recomputed = BERTH_TRY(RecomputedFrom(source, json)); recomputed) {
    plan.recomputed = *recomputed;
    plan.cost_unit = TextAt(json, "recomputed", "unit");
  }
  for (const auto& [key, target] :
       {std::pair<const char*, std::size_t*>{"planned_tensors", &plan.tensors},
        {"unsized_tensors", &plan.unsized}}) {
    if (Member(json, key) == nullptr) continue;
    const auto count = NumberAt(json, key, fault);
    if (!count) return source.FailAsWhole(fault);
    *target = static_cast<std::size_t>(*count);
  }
  BERTH_TRY(ReadOrder(source, json, plan));
  if (Member(json, "memories") != nullptr) {
    BERTH_TRY(AddMemories(source, json, list, records, plan));
  }
  BERTH_TRY(CheckPlanFile(source, plan));
  plan.placement.height = Height(plan.problem, plan.placement.offsets);
  const nlohmann::json* const stated = Member(FiguresOf(json), "height");
  if (stated != nullptr && *stated != plan.placement.height) {
    return source.FailAsWhole("\"height\" is " + Shown(stated) + ", but the " +
                                  (list.lifetimes ? "residencies" : "placements") + " reach " +
                                  std::to_string(plan.placement.height),
                              ErrorCode::kInvalidPlan);
  }
  return plan;
}

// Looks up what a file names in a graph.
class GraphPlanReader {
 public:
  GraphPlanReader(const Source& source, const Graph& graph, const Counting& counting)
      : source_(source), graph_(graph), counting_(counting) {}

  Result<GraphPlanFile> Read(const nlohmann::json& json) {
    const PlanList list = BERTH_TRY(ListOf(source_, json));
    read_.spills = list.spills;
    if (Member(json, "order") == nullptr && Member(json, "graph") == nullptr) {
      return source_.FailAsWhole("the plan of a table of buffers, where one of a graph is needed");
    }
    read_.plan.order = BERTH_TRY(OrderFrom(source_, json, graph_));
    for (const OperatorIndex v : read_.plan.order) {
      if (v < graph_.operators.size() || !list.lifetimes) continue;
      return source_.FailAsWhole("\"order\" has operator " + std::to_string(v) +
                                     ", but the graph has " +
                                     std::to_string(graph_.operators.size()),
                                 ErrorCode::kInvalidPlan);
    }
    if (!list.lifetimes) return ReadOffsetsAlone();
    BERTH_TRY(ReadFigures(json));
    return ReadResidencies(list);
  }

  // A table says nothing of the order.
  Result<GraphPlanFile> ReadTable() {
    read_.plan.order = ProgramOrder(graph_);
    return ReadOffsetsAlone();
  }

  // Offsets by tensor, under an order that is known.
  Result<GraphPlanFile> ReadOffsetsAlone() {
    MemoryPlan& plan = read_.plan;
    if (plan.order.size() != graph_.operators.size() || !ValidateOrder(graph_, plan.order)) {
      // What is wrong with the order is for the verifier to say; nothing is live under it.
      plan.memories.assign(1, {});
      return std::move(read_);
    }
    Order order = plan.order;
    plan = UnplacedPlan(graph_, order, counting_);
    const Problem problem = ProblemOf(graph_, plan);
    const auto offsets = BERTH_TRY(ReadOffsets(source_.text(), source_.name(), problem));
    for (std::size_t i = 0; i < offsets.size(); ++i) plan.residencies[i].offset = offsets[i];
    plan.addressed = true;
    plan.memories.front().height = Height(problem, offsets);
    return std::move(read_);
  }

 private:
  // What the plan states of itself besides its lists.
  Result<void> ReadFigures(const nlohmann::json& json) {
    std::string fault;
    const nlohmann::json& figures = FiguresOf(json);
    if (Member(json, "memories") != nullptr) return ReadMemories(json);
    MemoryUse& use = read_.plan.memories.emplace_back();
    for (const auto& [key, value] :
         {std::pair<const char*, Bytes*>{"height", &use.height}, {"peak", &use.peak}}) {
      const bool needed = read_.spills && value == &use.height;
      if (!needed && Member(figures, key) == nullptr) continue;
      const auto number = NumberAt(figures, key, fault);
      if (!number) return source_.FailAsWhole(fault);
      *value = *number;
    }
    states_peak_ = Member(figures, "peak") != nullptr;
    const nlohmann::json* const capacity = Member(json, "capacity");
    if (read_.spills || (capacity != nullptr && !capacity->is_null())) {
      read_.capacity = NumberAt(json, "capacity", fault);
      if (!read_.capacity) return source_.FailAsWhole(fault);
    }
    if (const auto recomputed = BERTH_TRY(RecomputedFrom(source_, json)); recomputed) {
      read_.recomputes = true;
      read_.plan.recomputed = *recomputed;
    }
    if (!read_.spills) return {};
    read_.plan.traffic = BERTH_TRY(TrafficFrom(source_, figures));
    return {};
  }

  // Several memories, what the plan takes of each, and the cost.
  Result<void> ReadMemories(const nlohmann::json& json) {
    StatedMemories stated = BERTH_TRY(MemoriesFrom(source_, json));
    read_.plan.memories = std::move(stated.uses);
    read_.plan.cost = stated.cost;
    states_peak_ = true;
    read_.cost_unit = stated.file.cost_unit;
    read_.memories.memories = std::move(stated.file.problem.memories);
    std::string fault;
    for (const auto& [key, value] : {std::pair{"may_move", &read_.memories.may_move},
                                     std::pair{"prefetch", &read_.memories.prefetch}}) {
      const nlohmann::json* const given = Member(json, key);
      if (given == nullptr) continue;
      if (!given->is_boolean()) {
        return source_.FailAsWhole("\"" + std::string(key) + "\" is " + Shown(given) +
                                   " where it should be true or false");
      }
      *value = given->get<bool>();
    }
    if (read_.memories.prefetch) {
      const auto latency = NumberAt(json, "copy_latency", fault);
      if (!latency) return source_.FailAsWhole(fault);
      read_.memories.copy_latency = *latency;
    }
    const auto activations = BERTH_TRY(MemoriesCalled(json, "activations_in"));
    const auto weights = BERTH_TRY(MemoriesCalled(json, "weights_in"));
    if (!activations.empty() || !weights.empty()) {
      read_.memories.allowed = AllowedByKind(graph_, activations, weights);
    }
    read_.memories.stage_in = BERTH_TRY(MemoriesCalled(json, "stage_weights_in"));
    if (read_.spills) read_.plan.traffic = BERTH_TRY(TrafficFrom(source_, FiguresOf(json)));
    return {};
  }

  Result<std::vector<std::size_t>> MemoriesCalled(const nlohmann::json& json, const char* key) {
    std::vector<std::size_t> called;
    const nlohmann::json* const names = Member(json, key);
    if (names == nullptr || names->is_null()) return called;
    const auto wrong = [&](const nlohmann::json& what) {
      return source_.FailAsWhole("\"" + std::string(key) + "\" is or has " + Shown(&what) +
                                 " where it should have names of memories, each once");
    };
    if (!names->is_array()) return wrong(*names);
    for (const nlohmann::json& name : *names) {
      const auto m = name.is_string()
                         ? MemoryCalled(read_.memories.memories, name.get<std::string>())
                         : std::nullopt;
      if (!m || std::find(called.begin(), called.end(), *m) != called.end()) return wrong(name);
      called.push_back(*m);
    }
    return called;
  }

  Result<GraphPlanFile> ReadResidencies(const PlanList& list) {
    const auto records = BERTH_TRY(ReadRecords(source_, list, /*of_graph=*/true));
    std::unordered_map<std::string_view, TensorIndex> tensors;
    for (TensorIndex t = 0; t < graph_.tensors.size(); ++t) {
      tensors.emplace(graph_.tensors[t].name, t);
    }
    auto& residencies = read_.plan.residencies;
    for (std::size_t i = 0; i < records.size(); ++i) {
      const Record& record = records[i];
      const auto wrong = [&](const std::string& what) {
        return source_.FailAsWhole(list.Number(i) + ": " + what, ErrorCode::kInvalidPlan);
      };
      const auto tensor = tensors.find(record.id);
      if (tensor == tensors.end()) return wrong("the graph has no tensor " + Quoted(record.id));
      const Bytes bytes = graph_.tensors[tensor->second].bytes;
      if (record.size != bytes) {
        return wrong(std::string("\"") + list.size + "\" is " + std::to_string(record.size) +
                     ", but tensor " + Quoted(record.id) + " of the graph has " +
                     std::to_string(bytes));
      }
      residencies.push_back(record.residency);
      residencies.back().tensor = tensor->second;
      const bool several = !read_.memories.memories.empty();
      if (!several && record.memory.empty()) continue;
      const auto memory = MemoryCalled(read_.memories.memories, record.memory);
      if (!memory) return NoSuchMemory(source_, list, i, record.memory);
      residencies.back().memory = static_cast<int>(*memory);
    }
    std::stable_sort(residencies.begin(), residencies.end(),
                     [](const Residency& x, const Residency& y) {
                       return std::pair(x.tensor, x.start) < std::pair(y.tensor, y.start);
                     });
    if (!states_peak_) StatePeak();
    if (!read_.spills) read_.plan.traffic = CompulsoryTraffic(graph_, counting_);
    return std::move(read_);
  }

  // A plan that does not say what its peak is states none that could be wrong.
  void StatePeak() {
    const Step steps = StepsOf(read_.plan);
    for (const Residency& r : read_.plan.residencies) {
      if (r.start >= r.end || r.end > steps) return;
    }
    MemoryPlan same = read_.plan;
    StateUse(graph_, same);
    read_.plan.memories.front().peak = same.peak();
  }

  const Source& source_;
  const Graph& graph_;
  const Counting& counting_;
  GraphPlanFile read_;
  bool states_peak_ = false;
};

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

}  // namespace
}  // namespace internal

Result<std::vector<Bytes>> ReadOffsets(std::string_view text, std::string_view name,
                                       const Problem& problem) {
  const internal::Source source(text, name);
  return internal::LooksLikeJson(source.text()) ? internal::ReadOffsetsJson(source, problem)
                                                : internal::ReadOffsetsCsv(source, problem);
}

Result<PlanFile> ReadPlan(std::string_view text, std::string_view name) {
  const internal::Source source(text, name);
  if (!internal::LooksLikeJson(source.text())) return internal::ReadPlanCsv(source, name);
  return internal::ReadPlanJson(source, BERTH_TRY(internal::ParseJson(source)), name);
}

PlanSettings ReadPlanSettings(std::string_view text) {
  const internal::Source source(text, "");
  const auto json = internal::ParseJson(source);
  PlanSettings settings;
  if (!json) return settings;
  const auto flag = [](const nlohmann::json* object, const char* key) {
    const nlohmann::json* const value = object ? internal::Member(*object, key) : nullptr;
    return value != nullptr && *value == true;
  };
  const nlohmann::json* const count = internal::Member(*json, "count");
  settings.counting = {flag(count, "inputs"), flag(count, "parameters"),
                       flag(count, "unsized_as_zero")};
  settings.in_place = flag(&*json, "in_place");
  settings.fused = flag(&*json, "fused");
  // What is not valid is as if it were not there: what costs are missing is found where they are used.
  if (const nlohmann::json* const device = internal::Member(*json, "device")) {
    if (auto read = ReadDevice(device->dump(), "device")) settings.device = std::move(*read);
  }
  if (const nlohmann::json* const profile = internal::Member(*json, "profile")) {
    if (profile->is_string()) settings.profile = profile->get<std::string>();
  }
  if (const nlohmann::json* const stated = internal::Member(*json, "link")) {
    std::string fault;
    const auto out = internal::NumberAt(*stated, "out_bytes_per_second", fault);
    const auto in = internal::NumberAt(*stated, "in_bytes_per_second", fault);
    const auto latency = internal::NumberAt(*stated, "latency_ns", fault);
    if (out && in && latency && Validate(Link{*out, *in, *latency})) {
      settings.link = Link{*out, *in, *latency};
    }
  }
  const nlohmann::json* const reading = internal::Member(*json, "reading");
  if (reading == nullptr) return settings;
  // What is not a number in range is as by default; the reader of the model checks the rest.
  const auto number = [](const nlohmann::json* value) {
    return value != nullptr && value->is_number_integer()
               ? std::optional(value->get<std::int64_t>())
               : std::nullopt;
  };
  if (const auto* const dimensions = internal::Member(*reading, "dimensions");
      dimensions != nullptr && dimensions->is_object()) {
    for (const auto& [dimension, size] : dimensions->items()) {
      if (const auto value = number(&size))
        settings.reading.dimensions.push_back({dimension, *value});
    }
  }
  settings.reading.other_dimensions = number(internal::Member(*reading, "other_dimensions"));
  if (const auto bytes = number(internal::Member(*reading, "element_bytes"))) {
    settings.reading.element_bytes = static_cast<int>(std::clamp<std::int64_t>(*bytes, 0, 17));
  }
  settings.reading.alignment = number(internal::Member(*reading, "alignment")).value_or(1);
  return settings;
}

Result<GraphPlanFile> ReadPlanFor(const Graph& graph, const Counting& counting,
                                  std::string_view text, std::string_view name) {
  const internal::Source source(text, name);
  internal::GraphPlanReader reader(source, graph, counting);
  if (internal::LooksLikeJson(source.text())) {
    return reader.Read(BERTH_TRY(internal::ParseJson(source)));
  }
  return reader.ReadTable();
}

}  // namespace berth
