// Checks that a plan computes what its graph computes, and that its stated figures are correct.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/arithmetic.h"
#include "base/name_set.h"
#include "base/rectangles.h"
#include "base/text.h"
#include "base/try.h"
#include "berth/spill.h"
#include "graph/edges.h"
#include "graph/plan.h"

namespace berth {

namespace {

using internal::kNoOperator;

tl::unexpected<Error> InvalidPlan(std::string message, Subject subject = {}) {
  return Fail(ErrorCode::kInvalidPlan, std::move(message), subject);
}

// The accesses of a base in an order.
struct Access {
  Step step;
  OperatorIndex op;
  bool writes;
};

class Checker {
 public:
  Checker(const Graph& graph, const Counting& counting, const MemoryPlan& plan)
      : graph_(graph), counting_(counting), plan_(plan) {}

  Result<void> Check(std::optional<Bytes> capacity) {
    BERTH_TRY(ValidateOrder(graph_, plan_.order));
    FindAccesses();
    BERTH_TRY(CheckShape());
    for (TensorIndex t = 0; t < graph_.tensors.size(); ++t) {
      BERTH_TRY(CheckTensor(t));
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

  // `fault` follows the name.
  [[nodiscard]] tl::unexpected<Error> InvalidTensor(TensorIndex t, const std::string& fault) const {
    return InvalidPlan(Tensor(t) + fault, Subject::OfTensor(t));
  }

  void FindAccesses() {
    const std::vector<OperatorIndex> makers = internal::Makers(graph_);
    declared_ = internal::BasesOfOutputs(graph_);
    is_output_ = declared_;
    std::vector<std::pair<TensorIndex, Access>> accesses;  // In order of step.
    accesses.reserve(2 * graph_.tensors.size());
    access_begin_.assign(graph_.tensors.size() + 1, 0);
    const auto add = [&](TensorIndex base, Step step, OperatorIndex v, bool writes) {
      accesses.push_back({base, {step, v, writes}});
      ++access_begin_[base + 1];
    };
    std::vector<TensorIndex> bases;
    for (std::size_t s = 0; s < plan_.order.size(); ++s) {
      const OperatorIndex v = plan_.order[s];
      const auto step = static_cast<Step>(s);
      for (const TensorIndex t : graph_.operators[v].outputs) {
        if (!graph_.tensors[t].alias_of) add(t, step, v, true);
      }
      internal::BasesUsed(graph_, makers, v, bases);
      for (const TensorIndex base : bases) {
        const auto& mutates = graph_.operators[v].mutates;
        const bool writes = std::find(mutates.begin(), mutates.end(), base) != mutates.end();
        add(base, step, v, writes);
        if (writes && makers[base] == kNoOperator) is_output_[base] = true;
      }
    }
    makers_ = makers;
    for (std::size_t t = 0; t < graph_.tensors.size(); ++t)
      access_begin_[t + 1] += access_begin_[t];
    std::vector<std::size_t> next(access_begin_.begin(), access_begin_.end() - 1);
    accesses_.resize(accesses.size());
    for (const auto& [base, access] : accesses) accesses_[next[base]++] = access;
  }

  [[nodiscard]] std::span<const Access> AccessesOf(TensorIndex t) const {
    return {accesses_.data() + access_begin_[t], access_begin_[t + 1] - access_begin_[t]};
  }

  // Checks the residencies by themselves.
  Result<void> CheckShape() {
    const Step steps = internal::StepsOf(plan_);
    begin_.assign(graph_.tensors.size() + 1, 0);
    for (std::size_t i = 0; i < plan_.residencies.size(); ++i) {
      const Residency& residency = plan_.residencies[i];
      if (residency.tensor >= graph_.tensors.size()) {
        return InvalidPlan("a residency names the tensor number " +
                           std::to_string(residency.tensor) + " but the graph has " +
                           std::to_string(graph_.tensors.size()) + " tensors");
      }
      if (!internal::IsCounted(graph_.tensors[residency.tensor], counting_)) {
        return InvalidTensor(residency.tensor, " has a residency but is not counted");
      }
      if (residency.memory != 0) {
        return InvalidPlan("a residency of " + Tensor(residency.tensor) + " is in memory number " +
                               std::to_string(residency.memory) + " where there is one",
                           Subject::OfTensor(residency.tensor));
      }
      if (residency.start < 0 || residency.start >= residency.end || residency.end > steps) {
        return InvalidPlan("a residency of " + Tensor(residency.tensor) + " is the steps [" +
                               std::to_string(residency.start) + ", " +
                               std::to_string(residency.end) + "), not within the " +
                               std::to_string(steps) + " steps of the order",
                           Subject::OfTensor(residency.tensor));
      }
      if (i > 0) {
        const Residency& before = plan_.residencies[i - 1];
        if (before.tensor > residency.tensor ||
            (before.tensor == residency.tensor && before.end > residency.start)) {
          return InvalidPlan("the residencies of " + Tensor(residency.tensor) +
                                 " are not in order or overlap at step " +
                                 std::to_string(residency.start),
                             Subject::OfTensor(residency.tensor));
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
    const std::span<const Access> accesses = AccessesOf(t);
    const bool given = makers_[t] == kNoOperator;
    if (accesses.empty()) {
      const bool once = begin_[t] + 1 == begin_[t + 1];
      const bool kept = once && IsPreloaded(t) && !plan_.residencies[begin_[t]].written_out;
      if (begin_[t] == begin_[t + 1] || kept) return {};
      return InvalidTensor(t, " is resident or copied but not used");
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
      BERTH_TRY(CheckStart(t, r, next, copied));
      if (residency.comes_in && (r > begin_[t] || !given)) traffic_.retrieved += tensor.bytes;
      for (; next < accesses.size() && accesses[next].step < residency.end; ++next) {
        if (accesses[next].writes) copied = false;
      }
      if (!residency.written_out) continue;
      BERTH_TRY(CheckSpill(t, residency, next == accesses.size(), copied));
      copied = true;
      // The last value of a result is written in any case.
      if (!is_output_[t] || residency.end <= last_write) traffic_.spilled += tensor.bytes;
    }
    if (next < accesses.size()) return Missing(t, accesses[next]);
    // An input that is written in place outlives the run only if it was retrieved as a copy.
    if (is_output_[t] && !copied && (!IsPreloaded(t) || declared_[t]) &&
        plan_.residencies[begin_[t + 1] - 1].end != internal::StepsOf(plan_)) {
      return InvalidTensor(t, ", a result, is neither written off chip nor kept to the end");
    }
    return {};
  }

  // Residency `r` of `t` begins correctly: `next` is its first access from then on, and `copied`
  // says whether the copy off chip has the latest value.
  [[nodiscard]] Result<void> CheckStart(TensorIndex t, std::size_t r, std::size_t next,
                                        bool copied) const {
    const std::span<const Access> accesses = AccessesOf(t);
    const Residency& residency = plan_.residencies[r];
    if (next < accesses.size() && accesses[next].step < residency.start) {
      return Missing(t, accesses[next]);
    }
    const bool preloaded = r == begin_[t] && IsPreloaded(t);
    if (next == accesses.size()) {
      return InvalidTensor(t, " is retrieved at step " + std::to_string(residency.start) +
                                  " although no operator uses it from then on");
    }
    if (residency.comes_in) {
      if (!copied) {
        return InvalidTensor(t, " is retrieved at step " + std::to_string(residency.start) +
                                    " but its latest value was never spilled");
      }
    } else if (!preloaded &&
               (makers_[t] == kNoOperator || next != 0 || residency.start != accesses[0].step)) {
      return InvalidTensor(t, " is in memory from step " + std::to_string(residency.start) +
                                  " but is neither created there nor retrieved");
    }
    if (accesses[next].step >= residency.end && !preloaded) {
      return InvalidTensor(t, " is resident in the steps [" + std::to_string(residency.start) +
                                  ", " + std::to_string(residency.end) +
                                  ") but no operator uses it there");
    }
    return {};
  }

  // `t` may be spilled at the end of `residency`; `done`: no operator uses it from then on.
  [[nodiscard]] Result<void> CheckSpill(TensorIndex t, const Residency& residency, bool done,
                                        bool copied) const {
    if (copied) {
      return InvalidTensor(t, " is spilled at step " + std::to_string(residency.end) +
                                  " although its copy off chip is valid");
    }
    if (done && !is_output_[t]) {
      return InvalidTensor(t, " is spilled at step " + std::to_string(residency.end) +
                                  " but is dead: no operator uses it from then on");
    }
    return {};
  }

  // An input that is in memory from the start.
  [[nodiscard]] bool IsPreloaded(TensorIndex t) const {
    if (makers_[t] != kNoOperator || begin_[t] == begin_[t + 1]) return false;
    const Residency& first = plan_.residencies[begin_[t]];
    return first.start == 0 && !first.comes_in;
  }

  [[nodiscard]] tl::unexpected<Error> Missing(TensorIndex t, const Access& access) const {
    return InvalidTensor(t, " is not in memory when " + Operator(access.step) +
                                (makers_[t] == access.op ? " makes it" : " needs it"));
  }

  Result<void> CheckUse() const {
    if (plan_.memories.size() != 1) {
      return InvalidPlan("the plan has " + std::to_string(plan_.memories.size()) +
                         " memories where there is one");
    }
    const Bytes peak = internal::UseOf(graph_, plan_).front().peak;
    if (peak == plan_.peak()) return {};
    return InvalidPlan("the plan states a peak of " + std::to_string(plan_.peak()) +
                       " bytes but has " + std::to_string(peak));
  }

  // Whether ValidatePlacement() would accept the addresses. Without a table of buffers, which would
  // take longer to make than to check.
  [[nodiscard]] bool FitsWithoutClash(std::optional<Bytes> capacity) const {
    std::vector<internal::Rectangle> rectangles;
    rectangles.reserve(plan_.residencies.size());
    Bytes height = 0;
    for (const Residency& residency : plan_.residencies) {
      const berth::Tensor& tensor = graph_.tensors[residency.tensor];
      const Bytes lower = residency.offset;
      if (lower < 0 || lower > kMaxBytes || lower % tensor.alignment != 0) return false;
      const Bytes upper = lower + tensor.bytes;
      if (capacity && upper > *capacity) return false;
      height = std::max(height, upper);
      rectangles.push_back({residency.start, residency.end, lower, upper, residency.tensor});
    }
    return height == plan_.height() && !internal::FirstClash(rectangles);
  }

  Result<void> CheckAddresses(std::optional<Bytes> capacity) const {
    if (auto valid = CheckUse(); !valid || !plan_.addressed) return valid;
    if (FitsWithoutClash(capacity)) return {};
    Problem problem = ProblemOf(graph_, plan_);  // Names the residencies.
    problem.capacity = capacity;
    auto placed = ValidatePlacement(problem, PlacementOf(plan_));
    if (!placed && placed.error().subject.kind == Subject::Kind::kBuffer) {
      // The caller knows no buffers: each is a residency.
      Subject& subject = placed.error().subject;
      subject = Subject::OfTensor(plan_.residencies[subject.index].tensor);
    }
    return placed;
  }

  const Graph& graph_;
  const Counting& counting_;
  const MemoryPlan& plan_;
  std::vector<OperatorIndex> makers_;
  std::vector<bool> declared_;             // Results of the graph.
  std::vector<bool> is_output_;            // Results, and inputs that are written in place.
  std::vector<Access> accesses_;           // By base, then in order of step.
  std::vector<std::size_t> access_begin_;  // Of each base's accesses.
  std::vector<std::size_t> begin_;         // Of each tensor's residencies.
  Traffic traffic_;
};

}  // namespace

namespace internal {

Problem UnnamedProblemOf(const Graph& graph, const MemoryPlan& plan) {
  Problem problem;
  problem.buffers.reserve(plan.residencies.size());
  for (const Residency& residency : plan.residencies) {
    const Tensor& tensor = graph.tensors[residency.tensor];
    problem.buffers.push_back({"", residency.start, residency.end, tensor.bytes, tensor.alignment});
  }
  return problem;
}

}  // namespace internal

Problem ProblemOf(const Graph& graph, const MemoryPlan& plan) {
  Problem problem;
  problem.buffers.reserve(plan.residencies.size());
  const auto& all = plan.residencies;
  const bool copies =
      std::adjacent_find(all.begin(), all.end(), [](const Residency& x, const Residency& y) {
        return x.tensor == y.tensor;
      }) != all.end();
  internal::NameSet names(copies ? graph.tensors.size() : 0);
  for (std::size_t t = 0; copies && t < graph.tensors.size(); ++t) {
    names.Insert(graph.tensors[t].name);
  }
  std::size_t first = 0;  // The first residency of the same tensor.
  for (std::size_t i = 0; i < plan.residencies.size(); ++i) {
    const Residency& residency = plan.residencies[i];
    const Tensor& tensor = graph.tensors[residency.tensor];
    if (plan.residencies[first].tensor != residency.tensor) first = i;
    const bool several = first < i || (i + 1 < plan.residencies.size() &&
                                       plan.residencies[i + 1].tensor == residency.tensor);
    std::string id = tensor.name;
    if (several) {
      id += "#" + std::to_string(i - first + 1);
      while (names.Contains(id)) id += "#";
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
              "than 2^60 bytes",
          Subject::OfTensor(t));
    }
    total = *sum;
  }
  return {};
}

Result<void> ValidatePlan(const Graph& graph, const Counting& counting,
                          std::optional<Bytes> capacity, const MemoryPlan& plan) {
  // Without copies there is only compulsory traffic, at most once for each tensor.
  const auto& all = plan.residencies;
  const bool copies = std::any_of(all.begin(), all.end(),
                                  [](const Residency& r) { return r.comes_in || r.written_out; });
  if (copies) BERTH_TRY(ValidateTraffic(graph, counting));
  return Checker(graph, counting, plan).Check(capacity);
}

}  // namespace berth
