// Checks that a plan with spills computes what its graph computes, and that its figures are right.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/arithmetic.h"
#include "base/text.h"
#include "berth/spill.h"
#include "graph/edges.h"

namespace berth {

namespace {

using internal::kNoOperator;

tl::unexpected<Error> InvalidPlan(std::string message) {
  return Fail(ErrorCode::kInvalidPlan, std::move(message));
}

// The accesses of a base in an order.
struct Access {
  Step step;
  OperatorIndex op;
  bool writes;
};

class Checker {
 public:
  Checker(const Graph& graph, const Counting& counting, const SpillPlan& plan)
      : graph_(graph), counting_(counting), plan_(plan) {}

  Result<void> Check(std::optional<Bytes> capacity) {
    if (auto valid = ValidateOrder(graph_, plan_.order); !valid) return valid;
    FindAccesses();
    if (auto valid = CheckShape(); !valid) return valid;
    for (TensorIndex t = 0; t < graph_.tensors.size(); ++t) {
      if (auto valid = CheckTensor(t); !valid) return valid;
    }
    if (!(traffic_ == plan_.traffic)) {
      return InvalidPlan("the plan states traffic of " + Shown(plan_.traffic) + " but has " +
                         Shown(traffic_));
    }
    return CheckAddresses(capacity);
  }

 private:
  static std::string Shown(const Traffic& traffic) {
    return std::to_string(traffic.spilled) + " bytes spilled, " +
           std::to_string(traffic.retrieved) + " retrieved, " +
           std::to_string(traffic.compulsory_in) + " in and " +
           std::to_string(traffic.compulsory_out) + " out";
  }
  [[nodiscard]] std::string Tensor(TensorIndex t) const {
    return "tensor " + internal::Quoted(graph_.tensors[t].name);
  }
  [[nodiscard]] std::string Operator(Step step) const {
    return "operator " +
           internal::Quoted(graph_.operators[plan_.order[static_cast<std::size_t>(step)]].name) +
           " at step " + std::to_string(step);
  }

  void FindAccesses() {
    const std::vector<OperatorIndex> makers = internal::Makers(graph_);
    accesses_.resize(graph_.tensors.size());
    is_output_ = internal::BasesOfOutputs(graph_);
    std::vector<TensorIndex> bases;
    for (std::size_t s = 0; s < plan_.order.size(); ++s) {
      const OperatorIndex v = plan_.order[s];
      const auto step = static_cast<Step>(s);
      for (const TensorIndex t : graph_.operators[v].outputs) {
        if (!graph_.tensors[t].alias_of) accesses_[t].push_back({step, v, true});
      }
      internal::BasesUsed(graph_, makers, v, bases);
      for (const TensorIndex base : bases) {
        const auto& mutates = graph_.operators[v].mutates;
        const bool writes = std::find(mutates.begin(), mutates.end(), base) != mutates.end();
        accesses_[base].push_back({step, v, writes});
        if (writes && makers[base] == kNoOperator) is_output_[base] = true;
      }
    }
    makers_ = makers;
  }

  // Checks the residencies by themselves.
  Result<void> CheckShape() {
    const auto steps = static_cast<Step>(plan_.order.size());
    begin_.assign(graph_.tensors.size() + 1, 0);
    for (std::size_t i = 0; i < plan_.residencies.size(); ++i) {
      const Residency& residency = plan_.residencies[i];
      if (residency.tensor >= graph_.tensors.size()) {
        return InvalidPlan("a residency names the tensor number " +
                           std::to_string(residency.tensor) + " but the graph has " +
                           std::to_string(graph_.tensors.size()) + " tensors");
      }
      if (!internal::IsCounted(graph_.tensors[residency.tensor], counting_)) {
        return InvalidPlan(Tensor(residency.tensor) + " has a residency but is not counted");
      }
      if (residency.start < 0 || residency.start >= residency.end || residency.end > steps) {
        return InvalidPlan("a residency of " + Tensor(residency.tensor) + " is the steps [" +
                           std::to_string(residency.start) + ", " + std::to_string(residency.end) +
                           "), not within the " + std::to_string(steps) + " steps of the order");
      }
      if (i > 0) {
        const Residency& before = plan_.residencies[i - 1];
        if (before.tensor > residency.tensor ||
            (before.tensor == residency.tensor && before.end > residency.start)) {
          return InvalidPlan("the residencies of " + Tensor(residency.tensor) +
                             " are not in order or overlap at step " +
                             std::to_string(residency.start));
        }
      }
      ++begin_[residency.tensor + 1];
    }
    for (std::size_t t = 0; t < graph_.tensors.size(); ++t) begin_[t + 1] += begin_[t];
    return {};
  }

  Result<void> CheckTensor(TensorIndex t) {
    const berth::Tensor& tensor = graph_.tensors[t];
    if (!internal::IsCounted(tensor, counting_)) return {};
    const std::vector<Access>& accesses = accesses_[t];
    const bool given = makers_[t] == kNoOperator;
    if (accesses.empty()) {
      if (begin_[t] != begin_[t + 1]) return InvalidPlan(Tensor(t) + " is resident but not used");
      return {};
    }
    if (given) traffic_.compulsory_in += tensor.bytes;
    if (is_output_[t]) traffic_.compulsory_out += tensor.bytes;
    Step last_write = -1;
    for (const Access& access : accesses) {
      if (access.writes) last_write = access.step;
    }
    bool copied = given;  // The copy off chip has the latest value.
    std::size_t next = 0;
    for (std::size_t r = begin_[t]; r < begin_[t + 1]; ++r) {
      const Residency& residency = plan_.residencies[r];
      if (next < accesses.size() && accesses[next].step < residency.start) {
        return Missing(t, accesses[next]);
      }
      if (next == accesses.size()) {
        return InvalidPlan(Tensor(t) + " is retrieved at step " + std::to_string(residency.start) +
                           " although no operator uses it from then on");
      }
      if (residency.comes_in) {
        if (!copied) {
          return InvalidPlan(Tensor(t) + " is retrieved at step " +
                             std::to_string(residency.start) +
                             " but its latest value was never spilled");
        }
        if (r > begin_[t] || !given) traffic_.retrieved += tensor.bytes;
      } else if (given || residency.start != accesses[0].step || next != 0) {
        return InvalidPlan(Tensor(t) + " is in memory from step " +
                           std::to_string(residency.start) +
                           " but is neither created there nor retrieved");
      }
      if (accesses[next].step >= residency.end) {
        return InvalidPlan(Tensor(t) + " is resident in the steps [" +
                           std::to_string(residency.start) + ", " + std::to_string(residency.end) +
                           ") but no operator uses it there");
      }
      for (; next < accesses.size() && accesses[next].step < residency.end; ++next) {
        if (accesses[next].writes) copied = false;
      }
      const bool done = next == accesses.size();
      if (!residency.written_out) continue;
      if (copied) {
        return InvalidPlan(Tensor(t) + " is spilled at step " + std::to_string(residency.end) +
                           " although its copy off chip is valid");
      }
      if (done && !is_output_[t]) {
        return InvalidPlan(Tensor(t) + " is spilled at step " + std::to_string(residency.end) +
                           " but is dead: no operator uses it from then on");
      }
      copied = true;
      // The last value of a result is written in any case.
      if (!is_output_[t] || residency.end <= last_write) traffic_.spilled += tensor.bytes;
    }
    if (next < accesses.size()) return Missing(t, accesses[next]);
    if (is_output_[t] && !copied &&
        plan_.residencies[begin_[t + 1] - 1].end != static_cast<Step>(plan_.order.size())) {
      return InvalidPlan(Tensor(t) + ", a result, is neither written off chip nor kept to the end");
    }
    return {};
  }

  [[nodiscard]] tl::unexpected<Error> Missing(TensorIndex t, const Access& access) const {
    return InvalidPlan(Tensor(t) + " is not in memory when " + Operator(access.step) +
                       (makers_[t] == access.op ? " creates it" : " needs it"));
  }

  Result<void> CheckAddresses(std::optional<Bytes> capacity) const {
    Problem problem = ProblemOf(graph_, plan_);
    problem.capacity = capacity;
    Placement placement;
    for (const Residency& residency : plan_.residencies) {
      placement.offsets.push_back(residency.offset);
    }
    placement.height = plan_.height;
    return ValidatePlacement(problem, placement);
  }

  const Graph& graph_;
  const Counting& counting_;
  const SpillPlan& plan_;
  std::vector<OperatorIndex> makers_;
  std::vector<bool> is_output_;
  std::vector<std::vector<Access>> accesses_;  // Of each base, in order of step.
  std::vector<std::size_t> begin_;             // Of each tensor's residencies.
  Traffic traffic_;
};

}  // namespace

Problem ProblemOf(const Graph& graph, const SpillPlan& plan) {
  Problem problem;
  problem.buffers.reserve(plan.residencies.size());
  std::set<std::string_view> names;
  for (const Tensor& tensor : graph.tensors) names.insert(tensor.name);
  for (std::size_t i = 0; i < plan.residencies.size(); ++i) {
    const Residency& residency = plan.residencies[i];
    const Tensor& tensor = graph.tensors[residency.tensor];
    std::size_t first = i;
    while (first > 0 && plan.residencies[first - 1].tensor == residency.tensor) --first;
    const bool several = first < i || (i + 1 < plan.residencies.size() &&
                                       plan.residencies[i + 1].tensor == residency.tensor);
    std::string id = tensor.name;
    if (several) {
      id += "#" + std::to_string(i - first + 1);
      while (names.count(id) != 0) id += "#";
    }
    problem.buffers.push_back(
        {std::move(id), residency.start, residency.end, tensor.bytes, tensor.alignment});
  }
  return problem;
}

Result<void> ValidateTraffic(const Graph& graph, const Counting& counting) {
  const std::vector<OperatorIndex> makers = internal::Makers(graph);
  std::vector<std::int64_t> accesses(graph.tensors.size(), 0);
  std::vector<TensorIndex> bases;
  for (OperatorIndex v = 0; v < graph.operators.size(); ++v) {
    for (const TensorIndex t : graph.operators[v].outputs) ++accesses[t];
    internal::BasesUsed(graph, makers, v, bases);
    for (const TensorIndex base : bases) ++accesses[base];
    // A new value must also be written before the tensor can be spilled.
    for (const TensorIndex base : graph.operators[v].mutates) ++accesses[base];
  }
  Bytes total = 0;
  for (TensorIndex t = 0; t < graph.tensors.size(); ++t) {
    const Tensor& tensor = graph.tensors[t];
    if (!internal::IsCounted(tensor, counting)) continue;
    const auto all = internal::CheckedMul(tensor.bytes + (tensor.alignment - 1), accesses[t]);
    const auto sum = all ? internal::CheckedAdd(total, *all) : std::nullopt;
    if (!sum || *sum > kMaxBytes) {
      return Fail(
          ErrorCode::kInvalidGraph,
          "tensor " + internal::Quoted(tensor.name) + ": its " + std::to_string(tensor.bytes) +
              " bytes, counted once for each of the " + std::to_string(accesses[t]) +
              " times that operators create, use or write it, raise the possible traffic to more "
              "than 2^60 bytes");
    }
    total = *sum;
  }
  return {};
}

Result<void> ValidateSpillPlan(const Graph& graph, const Counting& counting,
                               std::optional<Bytes> capacity, const SpillPlan& plan) {
  if (auto valid = ValidateTraffic(graph, counting); !valid) return valid;
  return Checker(graph, counting, plan).Check(capacity);
}

}  // namespace berth
