// Writes plans (docs/formats/plan.md): one format, whatever made the plan.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "berth/plan_io.h"
#include "berth/schedule.h"
#include "io/json.h"
#include "io/plan_head.h"
#include "io/plan_json.h"

namespace berth {
namespace internal {
namespace {

using Json = nlohmann::ordered_json;

Json OrderOf(const Graph& graph, const Order& order) {
  Json names = Json::array();
  for (const OperatorIndex v : order) names.push_back(graph.operators[v].name);
  return names;
}

// `memories`: where there are several, or empty.
Json ResidencyOf(const PlanSubject& subject, const Residency& residency,
                 const std::vector<Memory>& memories) {
  const Graph* const graph = subject.graph();
  const std::size_t t = residency.tensor;
  Json json = {{"id", graph ? graph->tensors[t].name : subject.table()->buffers[t].id},
               {"start", residency.start},
               {"end", residency.end},
               {"size", graph ? graph->tensors[t].bytes : subject.table()->buffers[t].size},
               {"offset", residency.offset}};
  if (!memories.empty()) {
    json["memory"] = memories[static_cast<std::size_t>(residency.memory)].name;
  }
  if (residency.comes_in) json["comes_in"] = true;
  if (residency.written_out) json["written_out"] = true;
  return json;
}

// The beginning of a plan: a field a line.
std::string Fields(const Json& fields) {
  std::string out = "{\n";
  for (const auto& [key, value] : fields.items()) {
    out += "  " + Line(key) + ": " + Line(value) + ",\n";
  }
  return out;
}

// The end of a plan: an item a line, as plans are compared with line-based tools.
std::string Residencies(const PlanSubject& subject, const PlanAnswer& answer,
                        const Provenance& provenance) {
  std::string out = "  \"residencies\": ";
  if (!answer.best || !answer.best->addressed) return out + "null\n}\n";
  const MemoryPlan& plan = *answer.best;
  const std::vector<Memory>& memories = subject.memories() != nullptr
                                            ? subject.memories()->memories
                                            : provenance.options.memories.memories;
  out += "[";
  const char* separator = "\n    ";
  for (const Residency& residency : plan.residencies) {
    out += separator + Line(ResidencyOf(subject, residency, memories));
    separator = ",\n    ";
  }
  return out + (plan.residencies.empty() ? "]\n}\n" : "\n  ]\n}\n");
}

}  // namespace
}  // namespace internal

Problem PlanSubject::Buffers(const MemoryPlan& plan, std::optional<Bytes> capacity) const {
  Problem problem;
  if (memories_ != nullptr) {
    for (const Residency& residency : plan.residencies) {
      problem.buffers.push_back(table_->buffers[residency.tensor]);
    }
  } else {
    problem = table_ != nullptr ? *table_ : ProblemOf(*graph_, plan);
  }
  problem.capacity = capacity;
  return problem;
}

std::string WritePlanJson(const PlanSubject& subject, const PlanAnswer& answer,
                          const Provenance& provenance) {
  internal::Json fields = internal::PlanHead(subject, answer, provenance);
  if (subject.graph() != nullptr && answer.best) {
    fields["order"] = internal::OrderOf(*subject.graph(), answer.best->order);
  }
  return internal::Fields(fields) + internal::Residencies(subject, answer, provenance);
}

}  // namespace berth
