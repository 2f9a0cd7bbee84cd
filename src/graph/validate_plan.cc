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
#include "berth/graph_memories.h"
#include "berth/spill.h"
#include "graph/edges.h"
#include "graph/plan.h"
#include "graph/versions.h"

namespace berth {

namespace {

using internal::kNoOperator;

tl::unexpected<Error> InvalidPlan(std::string message, Subject subject = {}) {
  return Fail(ErrorCode::kInvalidPlan, std::move(message), subject);
}

// An execution that makes, uses or writes a base: which version it finds (kMakes: it makes the base)
// and which it leaves.
struct Access {
  Step step;
  OperatorIndex op;
  std::int32_t finds;
  std::int32_t leaves;
  [[nodiscard]] bool makes() const { return finds == internal::kMakes; }
};

// No version: nothing is off chip.
constexpr std::int32_t kNoVersion = -1;

class Checker {
 public:
  // Without `memories` there is one, without rules of its own.
  Checker(const Graph& graph, const Counting& counting, const GraphMemories* memories,
          const MemoryPlan& plan, const Link* link = nullptr)
      : graph_(graph),
        counting_(counting),
        memories_(memories),
        plan_(plan),
        repeats_(plan.order.size() > graph.operators.size()),
        copies_(memories != nullptr && internal::HasCopies(plan)),
        link_(link) {}

  Result<void> Check(std::optional<Bytes> capacity) {
    BERTH_TRY(repeats_ ? internal::ValidateSequence(graph_, plan_.order)
                       : ValidateOrder(graph_, plan_.order));
    BERTH_TRY(CheckRecomputed());
    FindAccesses();
    BERTH_TRY(CheckShape());
    for (TensorIndex t = 0; t < graph_.tensors.size(); ++t) {
      BERTH_TRY(CheckTensor(t));
    }
    if (link_ == nullptr) traffic_.cost = plan_.traffic.cost;
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
           std::to_string(traffic.compulsory_out) + " out" +
           (traffic.cost > 0 ? ", which takes " + std::to_string(traffic.cost) + " ns" : "");
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

  // What running operators again costs is what the plan states.
  [[nodiscard]] Result<void> CheckRecomputed() const {
    const auto actual = internal::RecomputedOf(graph_, plan_.order);
    if (!actual) {
      return InvalidPlan("the operators that run again cost more than 2^63 - 1 together");
    }
    if (*actual == plan_.recomputed) return {};
    const auto shown = [](const Recomputed& recomputed) {
      return std::to_string(recomputed.operators) +
             (recomputed.operators == 1 ? " operator" : " operators") + " at a cost of " +
             std::to_string(recomputed.cost);
    };
    return InvalidPlan("the plan states that it runs " + shown(plan_.recomputed) +
                       " again but runs " + shown(*actual));
  }

  void FindAccesses() {
    makers_ = internal::Makers(graph_);
    declared_ = internal::BasesOfOutputs(graph_);
    is_output_ = declared_;
    for (const berth::Operator& op : graph_.operators) {
      for (const TensorIndex base : op.mutates) {
        if (makers_[base] == kNoOperator) is_output_[base] = true;
      }
    }
    std::vector<std::pair<TensorIndex, Access>> accesses;  // In order of step.
    accesses.reserve(2 * graph_.tensors.size());
    access_begin_.assign(graph_.tensors.size() + 1, 0);
    const auto add = [&](TensorIndex base, const Access& access) {
      accesses.emplace_back(base, access);
      ++access_begin_[base + 1];
    };
    if (repeats_) {
      FindRepeated(add);
    } else {
      FindOnce(add);
    }
    for (std::size_t t = 0; t < graph_.tensors.size(); ++t)
      access_begin_[t + 1] += access_begin_[t];
    std::vector<std::size_t> next(access_begin_.begin(), access_begin_.end() - 1);
    accesses_.resize(accesses.size());
    for (const auto& [base, access] : accesses) accesses_[next[base]++] = access;
  }

  // Where each operator runs once, every valid order gives the same versions, so they are counted
  // on the way.
  template <typename Add>
  void FindOnce(const Add& add) {
    last_version_.assign(graph_.tensors.size(), 0);
    std::vector<TensorIndex> bases;
    for (std::size_t s = 0; s < plan_.order.size(); ++s) {
      const OperatorIndex v = plan_.order[s];
      const auto step = static_cast<Step>(s);
      const auto& mutates = graph_.operators[v].mutates;
      for (const TensorIndex t : graph_.operators[v].outputs) {
        if (!graph_.tensors[t].alias_of) add(t, {step, v, internal::kMakes, 0});
      }
      internal::BasesUsed(graph_, makers_, v, bases);
      for (const TensorIndex base : bases) {
        const std::int32_t finds = last_version_[base];
        if (std::find(mutates.begin(), mutates.end(), base) != mutates.end()) ++last_version_[base];
        add(base, {step, v, finds, last_version_[base]});
      }
    }
  }

  template <typename Add>
  void FindRepeated(const Add& add) {
    internal::Versions versions = internal::FindVersions(graph_);
    std::vector<bool> has_run(graph_.operators.size(), false);
    for (std::size_t s = 0; s < plan_.order.size(); ++s) {
      const OperatorIndex v = plan_.order[s];
      for (const internal::Touch& touch : versions.touches[v]) {
        if (touch.only_first && has_run[v]) continue;
        add(touch.base, {static_cast<Step>(s), v, touch.finds, touch.leaves});
      }
      has_run[v] = true;
    }
    last_version_ = std::move(versions.last);
  }

  [[nodiscard]] std::span<const Access> AccessesOf(TensorIndex t) const {
    return {accesses_.data() + access_begin_[t], access_begin_[t + 1] - access_begin_[t]};
  }

  // Checks the residencies by themselves.
  Result<void> CheckShape() {
    const Step steps = internal::StepsOf(plan_);
    begin_.assign(graph_.tensors.size() + 1, 0);
    Bytes total = 0;
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
      BERTH_TRY(CheckMemory(i));
      if (residency.start < 0 || residency.start >= residency.end || residency.end > steps) {
        return InvalidPlan("a residency of " + Tensor(residency.tensor) + " is the steps [" +
                               std::to_string(residency.start) + ", " +
                               std::to_string(residency.end) + "), not within the " +
                               std::to_string(steps) + " steps of the order",
                           Subject::OfTensor(residency.tensor));
      }
      const bool staged = MayMove() && internal::IsStaged(plan_, i);
      if (staged) BERTH_TRY(CheckStaged(i));
      if (i > 0 && !staged) {
        const Residency& before = plan_.residencies[i - 1];
        const bool early = MayPrefetch() && internal::IsCopied(plan_, i);
        if (before.tensor > residency.tensor ||
            (before.tensor == residency.tensor && before.end > residency.start && !early)) {
          return InvalidPlan("the residencies of " + Tensor(residency.tensor) +
                                 " are not in order or overlap at step " +
                                 std::to_string(residency.start),
                             Subject::OfTensor(residency.tensor));
        }
        if (before.tensor == residency.tensor && before.memory != residency.memory) {
          BERTH_TRY(CheckCopy(i));
        }
      }
      ++begin_[residency.tensor + 1];
      const berth::Tensor& tensor = graph_.tensors[residency.tensor];
      const auto sum = internal::CheckedAdd(total, tensor.bytes + (tensor.alignment - 1));
      // Without repeats and moves ValidateTraffic() has seen to this.
      if ((repeats_ || MayMove()) && (!sum || *sum > kMaxBytes)) {
        return InvalidTensor(residency.tensor,
                             ": the bytes (and alignments) of all residencies add up to more than "
                             "2^60 with its one from step " +
                                 std::to_string(residency.start));
      }
      total = sum.value_or(kMaxBytes);
    }
    for (std::size_t t = 0; t < graph_.tensors.size(); ++t) begin_[t + 1] += begin_[t];
    return {};
  }

  [[nodiscard]] bool MayMove() const { return memories_ != nullptr && memories_->may_move; }
  [[nodiscard]] bool MayPrefetch() const { return MayMove() && memories_->prefetch; }

  // Residency `i` begins with a copy of the one before it, in another memory.
  [[nodiscard]] Result<void> CheckCopy(std::size_t i) const {
    const Residency& residency = plan_.residencies[i];
    const TensorIndex t = residency.tensor;
    if (!MayMove()) return InvalidTensor(t, " is in two memories");
    if (!internal::IsCopied(plan_, i) || residency.comes_in ||
        plan_.residencies[i - 1].written_out) {
      return InvalidTensor(t, " is in another memory from step " + std::to_string(residency.start) +
                                  " but is not copied there when it leaves the first one");
    }
    BERTH_TRY(CheckWindow(i));
    const TensorKind kind = graph_.tensors[t].kind;
    if (kind != TensorKind::kParameter && kind != TensorKind::kConstant) return {};
    return InvalidTensor(t, " is moved at step " + std::to_string(residency.start) +
                                ", but the next run needs it where it was");
  }

  // Residency `i` is a copy beside the first one of its tensor.
  [[nodiscard]] Result<void> CheckStaged(std::size_t i) const {
    const Residency& copy = plan_.residencies[i];
    const TensorIndex t = copy.tensor;
    const std::size_t first = internal::FirstOf(plan_, i);
    const Residency& home = plan_.residencies[first];
    const std::string named = ", of which a copy is kept from step " + std::to_string(copy.start);
    const TensorKind kind = graph_.tensors[t].kind;
    if (kind != TensorKind::kParameter && kind != TensorKind::kConstant) {
      return InvalidTensor(t, named + ", is neither a parameter nor a constant");
    }
    if (home.start != 0 || home.end != internal::StepsOf(plan_) || home.written_out ||
        copy.comes_in || copy.written_out) {
      return InvalidTensor(t, named + ", does not stay where it was");
    }
    if (i - 1 > first && plan_.residencies[i - 1].end > copy.start) {
      return InvalidTensor(t, named + ", has an earlier copy there then");
    }
    bool used = false;
    for (const Access& access : AccessesOf(t)) {
      if (access.makes() || access.finds != access.leaves) {
        return InvalidTensor(t, named + ", is written by " + Operator(access.step));
      }
      used = used || (copy.start <= access.step && access.step < copy.end);
    }
    if (used) return {};
    return InvalidTensor(t, named + ", is used by no operator there");
  }

  // While residency `i` is copied from the one before it, nothing writes the tensor, and that one is
  // not itself still a target.
  [[nodiscard]] Result<void> CheckWindow(std::size_t i) const {
    const Residency& from = plan_.residencies[i - 1];
    const Residency& to = plan_.residencies[i];
    if (internal::IsCopied(plan_, i - 1) && plan_.residencies[i - 2].end >= to.start) {
      return InvalidTensor(to.tensor, " is copied on at step " + std::to_string(to.start) +
                                          " where an earlier copy of it may not have ended");
    }
    for (const Access& access : AccessesOf(to.tensor)) {
      if (access.step < to.start || access.step >= from.end) continue;
      if (!access.makes() && access.finds == access.leaves) continue;
      return InvalidTensor(to.tensor, " is written by " + Operator(access.step) +
                                          " while it is copied to another memory");
    }
    return {};
  }

  // Saturates above every cost that can be stated.
  void AddCost(std::int64_t cost) {
    traffic_.cost = internal::CheckedAdd(traffic_.cost, cost).value_or(kMaxBytes);
  }

  // The memory exists, and the tensor, or a copy of it, may be in it.
  [[nodiscard]] Result<void> CheckMemory(std::size_t i) const {
    const Residency& residency = plan_.residencies[i];
    const TensorIndex t = residency.tensor;
    const std::size_t count = memories_ == nullptr ? 1 : memories_->memories.size();
    if (residency.memory < 0 || static_cast<std::size_t>(residency.memory) >= count) {
      return InvalidPlan("a residency of " + Tensor(t) + " is in memory number " +
                             std::to_string(residency.memory) + " where there " +
                             (count == 1 ? "is one" : "are " + std::to_string(count)),
                         Subject::OfTensor(t));
    }
    if (memories_ == nullptr) return {};
    const auto m = static_cast<std::size_t>(residency.memory);
    if (MayMove() && internal::IsStaged(plan_, i)) {
      const auto& staging = memories_->stage_in;
      if (std::find(staging.begin(), staging.end(), m) != staging.end()) return {};
      return InvalidTensor(t, " has a copy in memory " +
                                  internal::Quoted(memories_->memories[m].name) +
                                  ", which is not for copies of weights");
    }
    if (memories_->allowed.empty()) return {};
    const auto& allowed = memories_->allowed[t];
    if (allowed.empty() || std::find(allowed.begin(), allowed.end(), m) != allowed.end()) return {};
    return InvalidTensor(t,
                         " may not be in memory " + internal::Quoted(memories_->memories[m].name));
  }

  Result<void> CheckTensor(TensorIndex t) {
    const berth::Tensor& tensor = graph_.tensors[t];
    const std::span<const Access> accesses = AccessesOf(t);
    if (!internal::IsCounted(tensor, counting_)) {
      return repeats_ ? CheckOutside(t, accesses) : Result<void>();
    }
    const bool given = makers_[t] == kNoOperator;
    if (memories_ != nullptr && !accesses.empty() && begin_[t] == begin_[t + 1]) {
      // Not placed: CheckCost() counts it.
      if (given) traffic_.compulsory_in += tensor.bytes;
      if (is_output_[t]) traffic_.compulsory_out += tensor.bytes;
      return {};
    }
    if (accesses.empty()) {
      const bool once = begin_[t] + 1 == begin_[t + 1];
      const bool kept = once && IsPreloaded(t) && !plan_.residencies[begin_[t]].written_out;
      if (begin_[t] == begin_[t + 1] || kept) return {};
      return InvalidTensor(t, " is resident or copied but not used");
    }
    if (given) traffic_.compulsory_in += tensor.bytes;
    if (is_output_[t]) traffic_.compulsory_out += tensor.bytes;
    std::int32_t copy = given ? 0 : kNoVersion;  // The version off chip.
    std::int32_t version = 0;                    // That in memory.
    bool stored = false;                         // The last version of a result was written.
    std::size_t next = 0;
    for (std::size_t r = begin_[t]; r < begin_[t + 1]; ++r) {
      if (memories_ != nullptr && internal::IsStaged(plan_, r)) continue;
      const Residency& residency = plan_.residencies[r];
      const bool copied = internal::IsCopied(plan_, r);
      if (!copied) BERTH_TRY(CheckStart(t, r, next, copy));
      if (residency.comes_in && (r > begin_[t] || !given)) {
        traffic_.retrieved += tensor.bytes;
        if (link_ != nullptr) AddCost(link_->In(tensor.bytes));
      }
      if (!copied) version = residency.comes_in ? copy : 0;
      for (; next < accesses.size() && accesses[next].step < residency.end; ++next) {
        BERTH_TRY(CheckVersion(t, accesses[next], version));
        version = accesses[next].leaves;
      }
      if (!residency.written_out) continue;
      const bool final = is_output_[t] && version == last_version_[t];
      const bool needed = next < accesses.size() && (!repeats_ || IsRetrieved(t, r + 1));
      BERTH_TRY(CheckSpill(t, residency, final || needed, copy == version));
      copy = version;
      // The last value of a result is written in any case.
      if (!final || stored) {
        traffic_.spilled += tensor.bytes;
        if (link_ != nullptr) AddCost(link_->Out(tensor.bytes));
      }
      stored |= final;
    }
    if (next < accesses.size()) return Missing(t, accesses[next]);
    return CheckEnd(t, version, copy);
  }

  // A result is where it has to be at the end: off chip, or in memory to the last step. `version` is that
  // in memory last, `copy` that off chip.
  [[nodiscard]] Result<void> CheckEnd(TensorIndex t, std::int32_t version,
                                      std::int32_t copy) const {
    // An input that is written in place outlives the run only if it was retrieved as a copy.
    std::size_t last = begin_[t + 1] - 1;
    if (memories_ != nullptr && internal::IsStaged(plan_, last)) last = begin_[t];
    const bool kept =
        plan_.residencies[last].end == internal::StepsOf(plan_) && version == last_version_[t];
    if (is_output_[t] && copy != last_version_[t] && (!IsPreloaded(t) || declared_[t]) && !kept) {
      if (version == last_version_[t]) {
        return InvalidTensor(t, ", a result, is neither written off chip nor kept to the end");
      }
      return InvalidTensor(t, ", a result, is in version " + std::to_string(version) +
                                  " at the end, not in its last, " +
                                  std::to_string(last_version_[t]) +
                                  ", which is not off chip either");
    }
    return {};
  }

  // A base that the plan does not hold: nothing drops it, and nothing brings an old version back.
  [[nodiscard]] Result<void> CheckOutside(TensorIndex t, std::span<const Access> accesses) const {
    std::int32_t version = 0;
    for (const Access& access : accesses) {
      BERTH_TRY(CheckVersion(t, access, version));
      version = access.leaves;
    }
    if (!is_output_[t] || accesses.empty() || version == last_version_[t]) return {};
    return InvalidTensor(t, ", a result, is in version " + std::to_string(version) +
                                " at the end, not in its last, " +
                                std::to_string(last_version_[t]));
  }

  // What `access` finds is what it found the first time.
  [[nodiscard]] Result<void> CheckVersion(TensorIndex t, const Access& access,
                                          std::int32_t version) const {
    if (access.makes() || access.finds == version) return {};
    return InvalidTensor(t, " is in version " + std::to_string(version) + " when " +
                                Operator(access.step) + " needs version " +
                                std::to_string(access.finds));
  }

  // Whether the copy of `t` off chip is used by residency `r` or a later one, before it is replaced.
  [[nodiscard]] bool IsRetrieved(TensorIndex t, std::size_t r) const {
    for (; r < begin_[t + 1]; ++r) {
      if (plan_.residencies[r].comes_in) return true;
      if (plan_.residencies[r].written_out) return false;
    }
    return false;
  }

  // Residency `r` of `t` begins correctly: `next` is its first access from then on, and `copy` is
  // the version off chip.
  [[nodiscard]] Result<void> CheckStart(TensorIndex t, std::size_t r, std::size_t next,
                                        std::int32_t copy) const {
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
      if (copy == kNoVersion || (!accesses[next].makes() && copy < accesses[next].finds)) {
        return InvalidTensor(t, " is retrieved at step " + std::to_string(residency.start) +
                                    " but its latest value was never spilled");
      }
    } else if (!preloaded && (!accesses[next].makes() || residency.start != accesses[next].step)) {
      return InvalidTensor(t, " is in memory from step " + std::to_string(residency.start) +
                                  " but is neither created there nor retrieved");
    }
    const bool moves = internal::IsCopied(plan_, r + 1);
    if (accesses[next].step >= residency.end && !preloaded && !moves) {
      return InvalidTensor(t, " is resident in the steps [" + std::to_string(residency.start) +
                                  ", " + std::to_string(residency.end) +
                                  ") but no operator uses it there");
    }
    return {};
  }

  // `t` may be spilled at the end of `residency`; `needed`: by an operator, or as a result.
  [[nodiscard]] Result<void> CheckSpill(TensorIndex t, const Residency& residency, bool needed,
                                        bool copied) const {
    if (copied) {
      return InvalidTensor(t, " is spilled at step " + std::to_string(residency.end) +
                                  " although its copy off chip is valid");
    }
    if (!needed) {
      return InvalidTensor(
          t, " is spilled at step " + std::to_string(residency.end) + " but is dead: " +
                 (repeats_ ? "it is not retrieved" : "no operator uses it") + " from then on");
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
                                (access.makes() ? " makes it" : " needs it"));
  }

  Result<void> CheckUse() const {
    if (memories_ != nullptr) return CheckUseOfMemories();
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
    const Bytes most = capacity.value_or(2 * kMaxBytes);
    for (const Residency& residency : plan_.residencies) {
      const berth::Tensor& tensor = graph_.tensors[residency.tensor];
      const Bytes lower = residency.offset;
      if (lower < 0 || lower > kMaxBytes || lower % tensor.alignment != 0) return false;
      const Bytes upper = lower + tensor.bytes;
      if (upper > most) return false;
      height = std::max(height, upper);
      rectangles.push_back({residency.start, residency.end, lower, upper, residency.tensor});
    }
    return height == plan_.height() && !internal::FirstClash(rectangles);
  }

  [[nodiscard]] Result<void> CheckUseOfMemories() const {
    std::vector<MemoryUse> uses = internal::UseOf(graph_, plan_);
    uses.resize(memories_->memories.size());
    if (uses != plan_.memories) {
      return InvalidPlan("the heights or peaks of the memories are not as stated");
    }
    return {};
  }

  [[nodiscard]] Result<void> CheckCost() const {
    const PlanCost cost = CostOf(graph_, counting_, *memories_, plan_);
    if (cost == plan_.cost) return {};
    return InvalidPlan("the plan states " + Shown(plan_.cost) + " but has " + Shown(cost));
  }

  static std::string Shown(const PlanCost& cost) {
    return std::to_string(cost.unplaced) + " tensors unplaced, a cost of " +
           std::to_string(cost.cost) + " and " + std::to_string(cost.moved) + " bytes moved";
  }

  // The residencies of memory m, by themselves.
  [[nodiscard]] Result<void> CheckMemory(std::size_t m, const Problem& all) const {
    const Memory& memory = memories_->memories[m];
    Problem problem;
    problem.capacity = memory.capacity;
    Placement placement;
    std::vector<TensorIndex> tensors;
    for (std::size_t i = 0; i < plan_.residencies.size(); ++i) {
      const Residency& residency = plan_.residencies[i];
      if (static_cast<std::size_t>(residency.memory) != m) continue;
      if (residency.offset % memory.alignment != 0) {
        return InvalidTensor(residency.tensor, " has the offset " +
                                                   std::to_string(residency.offset) +
                                                   ", which is not a multiple of the alignment " +
                                                   std::to_string(memory.alignment) +
                                                   " of memory " + internal::Quoted(memory.name));
      }
      const Bytes size = all.buffers[i].size;
      for (const Reserved& reserved : memory.reserved) {
        // Ranges are reserved while operators run: copies between them do not count.
        if (residency.start >= reserved.end || reserved.start >= residency.end ||
            residency.offset >= reserved.upper || reserved.lower - size >= residency.offset) {
          continue;
        }
        return InvalidTensor(residency.tensor,
                             " is in the bytes [" + std::to_string(reserved.lower) + ", " +
                                 std::to_string(reserved.upper) + ") of memory " +
                                 internal::Quoted(memory.name) + ", which are reserved");
      }
      problem.buffers.push_back(all.buffers[i]);
      if (copies_) {
        const internal::HalfSteps time = internal::HalfStepsOf(plan_, i);
        problem.buffers.back().start = time.start;
        problem.buffers.back().end = time.end;
      }
      placement.offsets.push_back(residency.offset);
      tensors.push_back(residency.tensor);
    }
    placement.height = plan_.memories[m].height;
    auto placed = ValidatePlacement(problem, placement);
    if (placed) return {};
    Error error = placed.error();
    error.message = "memory " + internal::Quoted(memory.name) +
                    (copies_ ? ", in half steps: " : ": ") + error.message;
    if (error.subject.kind == Subject::Kind::kBuffer) {
      error.subject = Subject::OfTensor(tensors[error.subject.index]);
    }
    return tl::unexpected(std::move(error));
  }

  Result<void> CheckAddresses(std::optional<Bytes> capacity) {
    if (auto valid = CheckUse(); !valid) return valid;
    if (memories_ != nullptr) BERTH_TRY(CheckCost());
    if (!plan_.addressed) return {};
    if (memories_ != nullptr) {
      const Problem all = ProblemOf(graph_, plan_);
      for (std::size_t m = 0; m < memories_->memories.size(); ++m) BERTH_TRY(CheckMemory(m, all));
      return {};
    }
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
  const GraphMemories* const memories_;
  const MemoryPlan& plan_;
  const bool repeats_;      // Operators run again.
  const bool copies_;       // Between memories.
  const Link* const link_;  // Off chip: what copies take.
  std::vector<OperatorIndex> makers_;
  std::vector<bool> declared_;              // Results of the graph.
  std::vector<bool> is_output_;             // Results, and inputs that are written in place.
  std::vector<Access> accesses_;            // By base, then in order of step.
  std::vector<std::size_t> access_begin_;   // Of each base's accesses.
  std::vector<std::int32_t> last_version_;  // Of each base.
  std::vector<std::size_t> begin_;          // Of each tensor's residencies.
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

namespace {

// Without copies there is only compulsory traffic, at most once for each tensor.
Result<void> CheckCopies(const Graph& graph, const Counting& counting, const MemoryPlan& plan) {
  const auto& all = plan.residencies;
  const bool copies = std::any_of(all.begin(), all.end(),
                                  [](const Residency& r) { return r.comes_in || r.written_out; });
  if (copies) BERTH_TRY(ValidateTraffic(graph, counting));
  return {};
}

}  // namespace

Result<void> ValidatePlan(const Graph& graph, const Counting& counting,
                          std::optional<Bytes> capacity, const MemoryPlan& plan, const Link* link) {
  BERTH_TRY(CheckCopies(graph, counting, plan));
  return Checker(graph, counting, nullptr, plan, link).Check(capacity);
}

Result<void> ValidatePlan(const Graph& graph, const Counting& counting,
                          const GraphMemories& memories, const MemoryPlan& plan) {
  BERTH_TRY(CheckCopies(graph, counting, plan));
  return Checker(graph, counting, &memories, plan).Check(std::nullopt);
}

}  // namespace berth
