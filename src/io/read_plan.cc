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
#include "berth/io.h"
#include "io/json.h"
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
  if (auto header = rows.ReadHeader({Column::kId, Column::kOffset}, /*any_column=*/true); !header) {
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

bool IsSpillPlan(const nlohmann::json& json) {
  const nlohmann::json* const format = Member(json, "format");
  return format != nullptr && *format == kSpillPlanFormat;
}

Result<void> CheckVersion(const Source& source, const nlohmann::json& plan) {
  const nlohmann::json* const version = Member(plan, "format_version");
  if (version != nullptr && *version == kPlanFormatVersion) return {};
  return source.FailAsWhole("\"format_version\" is " + Shown(version) +
                            ", but this reader knows version 1 alone");
}

// The list at `key`: of a plan that was found.
Result<const nlohmann::json*> ListOf(const Source& source, const nlohmann::json& plan,
                                     const char* key) {
  const nlohmann::json* const list = Member(plan, key);
  if (list != nullptr && list->is_array()) return list;
  if (list != nullptr && list->is_null()) {
    return source.FailAsWhole("the search that wrote this found no plan", ErrorCode::kInvalidPlan);
  }
  return source.FailAsWhole("\"" + std::string(key) + "\" is " + Shown(list) +
                            " where it should be a list");
}

// The placements of a plan in JSON, which has been parsed.
Result<const nlohmann::json*> PlacementsOf(const Source& source, const nlohmann::json& plan) {
  using Value = const nlohmann::json;
  Value* const format = Member(plan, "format");
  if (IsSpillPlan(plan)) {
    return source.FailAsWhole("a plan with spills, which is one for a graph, not for a table");
  }
  if (format == nullptr || *format != kPlanFormat) {
    return source.FailAsWhole("not a plan: \"format\" is " + Shown(format) +
                              " where it should be \"berth-plan\" or \"berth-spill-plan\"");
  }
  if (auto known = CheckVersion(source, plan); !known) return tl::unexpected(known.error());
  return ListOf(source, plan, "placements");
}

// The stays in memory of a plan with spills, likewise.
Result<const nlohmann::json*> ResidenciesOf(const Source& source, const nlohmann::json& plan) {
  if (auto known = CheckVersion(source, plan); !known) return tl::unexpected(known.error());
  return ListOf(source, plan, "residencies");
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

// The same from 0 to 2^60: a number of bytes, or a step.
std::optional<std::int64_t> NumberAt(const nlohmann::json& object, const char* key,
                                     std::string& fault) {
  const auto number = IntegerAt(object, key, fault);
  if (!number || (*number >= 0 && *number <= kMaxBytes)) return number;
  fault = std::string("\"") + key + "\" is " + std::to_string(*number) +
          " where it should be from 0 to 2^60";
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

// A stay in memory as a file states it.
struct Stay {
  std::string tensor;
  Bytes bytes = 0;
  Residency residency;  // But for its tensor.
};

Result<std::vector<Stay>> ReadStays(const Source& source, const nlohmann::json& plan) {
  const auto list = ResidenciesOf(source, plan);
  if (!list) return tl::unexpected(list.error());
  std::vector<Stay> stays;
  stays.reserve((*list)->size());
  std::string fault;
  for (const nlohmann::json& one : **list) {
    Stay& stay = stays.emplace_back();
    const auto wrong = [&](const std::string& what) {
      return source.FailAsWhole("residency " + std::to_string(stays.size() - 1) + ": " + what);
    };
    const nlohmann::json* const tensor = Member(one, "tensor");
    if (tensor == nullptr || !tensor->is_string()) {
      return wrong("\"tensor\" is " + Shown(tensor) + " where it should be text");
    }
    stay.tensor = tensor->get<std::string>();
    Residency& residency = stay.residency;
    for (const auto& [key, value] :
         std::initializer_list<std::pair<const char*, std::int64_t*>>{{"start", &residency.start},
                                                                      {"end", &residency.end},
                                                                      {"offset", &residency.offset},
                                                                      {"bytes", &stay.bytes}}) {
      const auto number = NumberAt(one, key, fault);
      if (!number) return wrong(fault);
      *value = *number;
    }
    for (const auto& [key, value] : std::initializer_list<std::pair<const char*, bool*>>{
             {"comes_in", &residency.comes_in}, {"written_out", &residency.written_out}}) {
      const nlohmann::json* const flag = Member(one, key);
      if (flag == nullptr || !flag->is_boolean()) {
        return wrong("\"" + std::string(key) + "\" is " + Shown(flag) +
                     " where it should be true or false");
      }
      *value = flag->get<bool>();
    }
  }
  return stays;
}

// A plan with spills: a buffer for each residency, named as ProblemOf() names it.
Result<PlanFile> ReadSpillPlanJson(const Source& source, const nlohmann::json& json,
                                   std::string_view name) {
  const auto read = ReadStays(source, json);
  if (!read) return tl::unexpected(read.error());
  PlanFile plan = PlanFrom(json, name);
  std::string fault;
  plan.problem.capacity = NumberAt(json, "capacity", fault);
  if (!plan.problem.capacity) return source.FailAsWhole(fault);
  if (auto order = ReadOrder(source, json, plan); !order) return tl::unexpected(order.error());
  std::unordered_map<std::string, int> stays;
  for (const Stay& one : *read) ++stays[one.tensor];
  std::unordered_map<std::string, int> stay;
  for (const Stay& one : *read) {
    std::string id = one.tensor;
    if (stays[id] > 1) {
      const int which = ++stay[id];
      id += "#" + std::to_string(which);
      while (stays.count(id) != 0) id += "#";
    }
    plan.problem.buffers.push_back(
        {std::move(id), one.residency.start, one.residency.end, one.bytes});
    plan.placement.offsets.push_back(one.residency.offset);
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

// The same for its graph.
Result<SpillPlanFile> SpillPlanFrom(const Source& source, const nlohmann::json& json,
                                    const Graph& graph) {
  const auto stays = ReadStays(source, json);
  if (!stays) return tl::unexpected(stays.error());
  auto order = OrderFrom(source, json, graph);
  if (!order) return tl::unexpected(order.error());
  SpillPlanFile read;
  read.plan.order = *std::move(order);
  for (const OperatorIndex v : read.plan.order) {
    if (v < graph.operators.size()) continue;
    return source.FailAsWhole("\"order\" has operator " + std::to_string(v) +
                                  ", but the graph has " + std::to_string(graph.operators.size()),
                              ErrorCode::kInvalidPlan);
  }
  const nlohmann::json* const stated = Member(json, "traffic");
  if (stated == nullptr || !stated->is_object()) {
    return source.FailAsWhole("\"traffic\" is " + Shown(stated) + " where it should be an object");
  }
  Traffic& traffic = read.plan.traffic;
  std::string fault;
  for (const auto& [object, key, value] :
       std::initializer_list<std::tuple<const nlohmann::json*, const char*, Bytes*>>{
           {&json, "capacity", &read.capacity},
           {&json, "height", &read.plan.height},
           {stated, "spilled", &traffic.spilled},
           {stated, "retrieved", &traffic.retrieved},
           {stated, "compulsory_in", &traffic.compulsory_in},
           {stated, "compulsory_out", &traffic.compulsory_out}}) {
    const auto number = NumberAt(*object, key, fault);
    if (!number) return source.FailAsWhole((object == stated ? "\"traffic\": " : "") + fault);
    *value = *number;
  }
  std::unordered_map<std::string_view, TensorIndex> tensors;
  for (TensorIndex t = 0; t < graph.tensors.size(); ++t) tensors.emplace(graph.tensors[t].name, t);
  for (std::size_t i = 0; i < stays->size(); ++i) {
    const Stay& stay = (*stays)[i];
    const auto wrong = [&](const std::string& what) {
      return source.FailAsWhole("residency " + std::to_string(i) + ": " + what,
                                ErrorCode::kInvalidPlan);
    };
    const auto tensor = tensors.find(stay.tensor);
    if (tensor == tensors.end()) return wrong("the graph has no tensor " + Quoted(stay.tensor));
    const Bytes bytes = graph.tensors[tensor->second].bytes;
    if (stay.bytes != bytes) {
      return wrong("\"bytes\" is " + std::to_string(stay.bytes) + ", but tensor " +
                   Quoted(stay.tensor) + " of the graph has " + std::to_string(bytes));
    }
    read.plan.residencies.push_back(stay.residency);
    read.plan.residencies.back().tensor = tensor->second;
  }
  std::stable_sort(read.plan.residencies.begin(), read.plan.residencies.end(),
                   [](const Residency& x, const Residency& y) {
                     return std::pair(x.tensor, x.start) < std::pair(y.tensor, y.start);
                   });
  return read;
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
  return internal::IsSpillPlan(*json) ? internal::ReadSpillPlanJson(source, *json, name)
                                      : internal::ReadPlanJson(source, *json, name);
}

Result<std::optional<SpillPlanFile>> ReadSpillPlan(std::string_view text, std::string_view name,
                                                   const Graph& graph) {
  const internal::Source source(text, name);
  if (!internal::LooksLikeJson(source.text())) return std::nullopt;
  const auto json = internal::ParseJson(source);
  if (!json) return tl::unexpected(json.error());
  if (!internal::IsSpillPlan(*json)) return std::nullopt;
  return internal::SpillPlanFrom(source, *json, graph);
}

}  // namespace berth
