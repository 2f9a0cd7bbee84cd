// Reads plans for several memories (docs/formats/plan.md).

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/source.h"
#include "base/text.h"
#include "base/try.h"
#include "berth/memory_io.h"
#include "berth/plan_io.h"
#include "io/json_tree.h"
#include "io/plan_head.h"
#include "io/rows.h"

namespace berth {
namespace internal {
namespace {

using Kind = JsonNode::Kind;

class MemoryPlanReader {
 public:
  MemoryPlanReader(const Source& source, const MemoryProblem& problem)
      : source_(source), problem_(problem), places_(problem.table.buffers.size()) {
    for (std::size_t b = 0; b < places_.size(); ++b) {
      buffers_.emplace(problem.table.buffers[b].id, b);
    }
    for (std::size_t m = 0; m < problem.memories.size(); ++m) {
      memories_.emplace(problem.memories[m].name, m);
    }
  }

  Result<MemoryPlan> ReadTable() {
    Rows rows(source_);
    BERTH_TRY(rows.ReadHeader({Column::kId, Column::kMemory, Column::kOffset}, Columns::kAny));
    while (BERTH_TRY(rows.Next())) {
      const CsvField& id = rows.FieldOf(Column::kId);
      const std::size_t b = BERTH_TRY(BufferCalled(id.value, id.position));
      const CsvField& memory = rows.FieldOf(Column::kMemory);
      const CsvField& offset = rows.FieldOf(Column::kOffset);
      if (seen_[b]) return Again(id.value, id.position);
      seen_[b] = true;
      const bool has_offset = !offset.value.empty() && offset.value != "-1";
      if (memory.value.empty() && !has_offset) continue;  // Left out.
      if (memory.value.empty() || !has_offset) {
        return Invalid(memory.position, "buffer " + Quoted(id.value) +
                                            (memory.value.empty() ? " has an offset but no memory"
                                                                  : " has a memory but no offset"));
      }
      const std::size_t m = BERTH_TRY(MemoryCalled(memory.value, memory.position));
      std::int64_t number = 0;
      BERTH_TRY(rows.ReadInteger(Column::kOffset, number));
      BERTH_TRY(Place(b, m, number, offset.position));
    }
    return Finish();
  }

  Result<MemoryPlan> ReadJson() {
    const JsonNode root = BERTH_TRY(ParseJsonTree(source_));
    const JsonNode* const format = root.Find("format");
    if (format == nullptr || !format->is(Kind::kText) || format->text != kPlanFormat) {
      return source_.FailAt((format == nullptr ? root : *format).position,
                            "not a plan: \"format\" is " +
                                (format == nullptr ? "missing" : format->Shown()) +
                                " where it should be \"berth-plan\"");
    }
    const JsonNode* const version = root.Find("format_version");
    if (version == nullptr || !version->is(Kind::kInteger) ||
        version->integer != kPlanFormatVersion) {
      return source_.FailAt((version == nullptr ? root : *version).position,
                            "\"format_version\" is " +
                                (version == nullptr ? "missing" : version->Shown()) +
                                ", but plans for several memories have version 2");
    }
    const JsonNode* const list = root.Find("residencies");
    if (list != nullptr && list->is(Kind::kNull)) {
      return Invalid(list->position, "the search that wrote this found no plan");
    }
    if (list == nullptr || !list->is(Kind::kList)) {
      return source_.FailAt((list == nullptr ? root : *list).position,
                            "\"residencies\" is " + (list == nullptr ? "missing" : list->Shown()) +
                                " where it should be a list");
    }
    for (const JsonNode& node : list->items) BERTH_TRY(ReadResidency(node));
    MemoryPlan plan = Finish();
    BERTH_TRY(ReadFigures(root, plan));
    return plan;
  }

 private:
  [[nodiscard]] tl::unexpected<Error> Invalid(std::size_t position, const std::string& sentence,
                                              std::optional<std::size_t> buffer = {}) const {
    auto error = source_.FailAt(position, sentence, ErrorCode::kInvalidPlan);
    if (buffer) error.value().subject = Subject::OfBuffer(*buffer);
    return error;
  }
  [[nodiscard]] tl::unexpected<Error> Again(std::string_view id, std::size_t position) const {
    return Invalid(position, "buffer " + Quoted(id) + " comes twice");
  }

  Result<std::size_t> BufferCalled(std::string_view id, std::size_t position) const {
    const auto found = buffers_.find(id);
    if (found != buffers_.end()) return found->second;
    return Invalid(position, "the problem has no buffer " + Quoted(id));
  }
  Result<std::size_t> MemoryCalled(std::string_view name, std::size_t position) const {
    const auto found = memories_.find(name);
    if (found != memories_.end()) return found->second;
    return Invalid(position, "the problem has no memory " + Quoted(name));
  }

  Result<void> Place(std::size_t b, std::size_t m, std::int64_t offset, std::size_t position) {
    const Buffer& buffer = problem_.table.buffers[b];
    if (offset < 0 || offset > kMaxBytes) {
      return Invalid(position,
                     "buffer " + Quoted(buffer.id) + ": offset " + std::to_string(offset) +
                         " must be from 0 to 2^60",
                     b);
    }
    Residency residency{.tensor = b, .start = buffer.start, .end = buffer.end, .offset = offset};
    residency.memory = static_cast<int>(m);
    places_[b] = residency;
    return {};
  }

  Result<std::int64_t> IntegerAt(const JsonNode& object, std::string_view key) const {
    const JsonNode* const node = object.Find(key);
    if (node != nullptr && node->is(Kind::kInteger)) return node->integer;
    return source_.FailAt((node == nullptr ? object : *node).position,
                          "\"" + std::string(key) + "\" is " +
                              (node == nullptr ? "missing" : node->Shown()) +
                              " where it should be a whole number of 64 bits");
  }
  Result<std::string_view> TextAt(const JsonNode& object, std::string_view key) const {
    const JsonNode* const node = object.Find(key);
    if (node != nullptr && node->is(Kind::kText)) return std::string_view(node->text);
    return source_.FailAt((node == nullptr ? object : *node).position,
                          "\"" + std::string(key) + "\" is " +
                              (node == nullptr ? "missing" : node->Shown()) +
                              " where it should be text");
  }

  Result<void> ReadResidency(const JsonNode& node) {
    const std::string_view id = BERTH_TRY(TextAt(node, "id"));
    const std::size_t b = BERTH_TRY(BufferCalled(id, node.position));
    const std::string_view name = BERTH_TRY(TextAt(node, "memory"));
    const std::size_t m = BERTH_TRY(MemoryCalled(name, node.position));
    const std::int64_t offset = BERTH_TRY(IntegerAt(node, "offset"));
    if (seen_[b]) return Again(id, node.position);
    seen_[b] = true;
    const Buffer& buffer = problem_.table.buffers[b];
    const std::pair<std::string_view, std::int64_t> stated[] = {
        {"start", buffer.start}, {"end", buffer.end}, {"size", buffer.size}};
    for (const auto& [key, is] : stated) {
      const std::int64_t says = BERTH_TRY(IntegerAt(node, key));
      if (says == is) continue;
      return Invalid(node.position,
                     "buffer " + Quoted(id) + ": the plan is of one with the " + std::string(key) +
                         " " + std::to_string(says) + ", not " + std::to_string(is),
                     b);
    }
    return Place(b, m, offset, node.position);
  }

  // What the file states of the plan, right or wrong; what it does not state stays as it is.
  Result<void> ReadFigures(const JsonNode& root, MemoryPlan& plan) const {
    for (const auto& [key, value] :
         {std::pair{"cost", &plan.cost.cost}, std::pair{"moved", &plan.cost.moved}}) {
      if (root.Find(key) != nullptr) *value = BERTH_TRY(IntegerAt(root, key));
    }
    if (const JsonNode* const unplaced = root.Find("unplaced")) {
      const std::int64_t count = BERTH_TRY(IntegerAt(root, "unplaced"));
      if (count < 0 || count > kMaxBytes) {
        return source_.FailAt(unplaced->position, "\"unplaced\" must be from 0 to 2^60");
      }
      plan.cost.unplaced = static_cast<std::size_t>(count);
    }
    const JsonNode* const list = root.Find("memories");
    if (list == nullptr || !list->is(Kind::kList)) return {};
    for (const JsonNode& node : list->items) {
      const std::string_view name = BERTH_TRY(TextAt(node, "name"));
      const std::size_t m = BERTH_TRY(MemoryCalled(name, node.position));
      MemoryUse& use = plan.memories[m];
      if (node.Find("height") != nullptr) use.height = BERTH_TRY(IntegerAt(node, "height"));
      if (node.Find("peak") != nullptr) use.peak = BERTH_TRY(IntegerAt(node, "peak"));
    }
    return {};
  }

  [[nodiscard]] MemoryPlan Finish() const {
    std::vector<Residency> residencies;
    for (const std::optional<Residency>& place : places_) {
      if (place) residencies.push_back(*place);
    }
    return PlanOf(problem_, std::move(residencies));
  }

  const Source& source_;
  const MemoryProblem& problem_;
  std::unordered_map<std::string_view, std::size_t> buffers_;
  std::unordered_map<std::string_view, std::size_t> memories_;
  std::vector<std::optional<Residency>> places_;
  std::vector<bool> seen_ = std::vector<bool>(places_.size());
};

}  // namespace
}  // namespace internal

Result<MemoryPlan> ReadPlanFor(const MemoryProblem& problem, std::string_view text,
                               std::string_view name) {
  const internal::Source source(text, name);
  BERTH_TRY(source.CheckEncoding());
  internal::MemoryPlanReader reader(source, problem);
  return internal::LooksLikeJson(source.text()) ? reader.ReadJson() : reader.ReadTable();
}

Result<PlanFile> ReadPlan(std::string_view text, std::string_view name,
                          const std::vector<Memory>& memories, std::string_view cost_unit) {
  const internal::Source source(text, name);
  BERTH_TRY(source.CheckEncoding());
  if (internal::LooksLikeJson(source.text())) return ReadPlan(text, name);
  MemoryFile table = BERTH_TRY(ReadMemoriesCsv(text, name, memories));
  if (!table.has_costs) AssumeUses(table.problem);
  PlanAnswer answer;
  answer.best = BERTH_TRY(ReadPlanFor(table.problem, text, name));
  if (const auto valid = ValidatePlan(table.problem, *answer.best); !valid) {
    return source.FailAsWhole("the plan does not hold: " + valid.error().message,
                              ErrorCode::kInvalidPlan);
  }
  answer.outcome = Outcome::kFeasible;
  Provenance provenance;
  provenance.cost_unit = cost_unit;
  return ReadPlan(WritePlanJson(table.problem, answer, provenance), name);
}

}  // namespace berth
