#include "plan/copy_windows.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "graph/plan.h"
#include "graph/uses.h"

namespace berth::internal::plan {
namespace {

constexpr int kRounds = 3;
constexpr std::size_t kMostRuns = 4000;
// Steps of all runs together.
constexpr std::size_t kMostWork = 20'000'000;

// When operators use and write a base.
struct Accesses {
  std::vector<Step> uses;
  std::vector<Step> writes;
};

class Widener {
 public:
  Widener(const Graph& graph, const Counting& counting, const GraphMemories& memories,
          MemoryPlan& plan, Budget& budget)
      : graph_(graph),
        counting_(counting),
        memories_(memories),
        plan_(plan),
        budget_(budget),
        accesses_(graph.tensors.size()),
        in_(memories.memories.size()) {
    for (std::size_t s = 0; s < plan.order.size(); ++s) {
      const auto step = static_cast<Step>(s);
      ForEachUse(graph, plan.order[s], [&](TensorIndex base, Bytes, Bytes written) {
        accesses_[base].uses.push_back(step);
        if (written > 0) accesses_[base].writes.push_back(step);
      });
    }
    for (std::size_t i = 0; i < plan.residencies.size(); ++i) {
      in_[static_cast<std::size_t>(plan.residencies[i].memory)].push_back(i);
    }
  }

  void Run() {
    std::vector<std::size_t> copies;
    for (std::size_t i = 1; i < plan_.residencies.size(); ++i) {
      if (IsCopied(plan_, i) || IsStaged(plan_, i)) copies.push_back(i);
    }
    std::stable_sort(copies.begin(), copies.end(), [&](std::size_t a, std::size_t b) {
      return plan_.residencies[a].start < plan_.residencies[b].start;
    });
    for (int round = 0; round < kRounds; ++round) {
      const std::int64_t before = plan_.cost.cost;
      for (const std::size_t i : copies) {
        if (Stopped()) break;
        if (IsStaged(plan_, i)) {
          StageEarlier(i);
          continue;
        }
        EndLater(i);
        BeginEarlier(i);
      }
      if (plan_.cost.cost == before || Stopped()) break;
    }
    StateUse(graph_, plan_);
    plan_.memories.resize(memories_.memories.size());
  }

 private:
  [[nodiscard]] bool Stopped() {
    return runs_ >= kMostRuns || runs_ * plan_.order.size() > kMostWork || budget_.TimeIsUp();
  }

  // The source of copy `i` lasts until before the next use, or for as long as its bytes are free.
  void EndLater(std::size_t i) {
    Residency& from = plan_.residencies[i - 1];
    const Residency& to = plan_.residencies[i];
    const Accesses& accesses = accesses_[to.tensor];
    const auto use = std::lower_bound(accesses.uses.begin(), accesses.uses.end(), from.end);
    Step last = to.end - 1;
    if (IsCopied(plan_, i + 1)) last = std::min(last, plan_.residencies[i + 1].start - 1);
    if (use != accesses.uses.end()) last = std::min(last, *use);
    const Step old = from.end;
    Keep(from.end, FirstTaken(i - 1, old, last), old);
  }

  // The target of copy `i` begins after the last write, or since when its bytes are free.
  void BeginEarlier(std::size_t i) {
    Residency& to = plan_.residencies[i];
    const Residency& from = plan_.residencies[i - 1];
    const Accesses& accesses = accesses_[to.tensor];
    Step first = from.start + 1;
    if (IsCopied(plan_, i - 1)) first = std::max(first, plan_.residencies[i - 2].end + 1);
    const auto write = std::lower_bound(accesses.writes.begin(), accesses.writes.end(), from.end);
    if (write != accesses.writes.begin()) first = std::max(first, *(write - 1) + 1);
    const Step old = to.start;
    first = LastTaken(i, first, old);
    // Earlier is not always better: the engine takes copies in this order.
    for (Step back = old - first; back > 0 && !Stopped(); back /= 2) {
      if (Keep(to.start, old - back, old)) return;
    }
  }

  // A copy beside an original begins after the use before it, or since when its bytes are free.
  void StageEarlier(std::size_t i) {
    Residency& to = plan_.residencies[i];
    const Accesses& accesses = accesses_[to.tensor];
    Step first = 1;
    if (IsStaged(plan_, i - 1)) first = std::max(first, plan_.residencies[i - 1].end);
    const auto use = std::lower_bound(accesses.uses.begin(), accesses.uses.end(), to.start);
    if (use != accesses.uses.begin()) first = std::max(first, *(use - 1) + 1);
    const Step old = to.start;
    first = LastTaken(i, std::min(first, old), old);
    for (Step back = old - first; back > 0 && !Stopped(); back /= 2) {
      if (Keep(to.start, old - back, old)) return;
    }
  }

  // Sets `step` to `wanted` if the run is then shorter, else to `old`.
  bool Keep(Step& step, Step wanted, Step old) {
    if (wanted == old) return false;
    step = wanted;
    ++runs_;
    const PlanCost cost = CostOf(graph_, counting_, memories_, plan_);
    // A later end costs nothing by itself, and may help when the copy begins earlier.
    if (cost < plan_.cost || (wanted > old && cost == plan_.cost)) {
      plan_.cost = cost;
      return true;
    }
    step = old;
    return false;
  }

  // The last step, no later than `last`, until which the bytes of residency `i` are free from `step` on.
  [[nodiscard]] Step FirstTaken(std::size_t i, Step step, Step last) const {
    const HalfSteps mine = {2 * step + 1, 2 * last + 1};
    for (const std::size_t j : Neighbours(i)) {
      const HalfSteps other = HalfStepsOf(plan_, j);
      if (other.end <= mine.start || other.start >= 2 * last + 1) continue;
      last = std::min(last, (other.start - 1) / 2);
    }
    for (const Reserved& reserved : ReservedNear(i)) {
      if (reserved.end > step && reserved.start < last) last = std::max(step, reserved.start);
    }
    return std::max(step, last);
  }

  // The first step, no earlier than `first`, from which they are free until `step`.
  [[nodiscard]] Step LastTaken(std::size_t i, Step first, Step step) const {
    for (const std::size_t j : Neighbours(i)) {
      const HalfSteps other = HalfStepsOf(plan_, j);
      if (other.start >= 2 * step || other.end <= 2 * first) continue;
      first = std::max(first, (other.end + 1) / 2);
    }
    for (const Reserved& reserved : ReservedNear(i)) {
      if (reserved.start < step && reserved.end > first) first = reserved.end;
    }
    return std::min(step, first);
  }

  // Residencies that have some of the bytes of residency `i` at some time.
  [[nodiscard]] std::vector<std::size_t> Neighbours(std::size_t i) const {
    const Residency& mine = plan_.residencies[i];
    const Bytes upper = mine.offset + graph_.tensors[mine.tensor].bytes;
    std::vector<std::size_t> found;
    for (const std::size_t j : in_[static_cast<std::size_t>(mine.memory)]) {
      const Residency& other = plan_.residencies[j];
      const Bytes top = other.offset + graph_.tensors[other.tensor].bytes;
      if (j != i && other.offset < upper && mine.offset < top) found.push_back(j);
    }
    return found;
  }
  [[nodiscard]] std::vector<Reserved> ReservedNear(std::size_t i) const {
    const Residency& mine = plan_.residencies[i];
    const Bytes upper = mine.offset + graph_.tensors[mine.tensor].bytes;
    std::vector<Reserved> found;
    for (const Reserved& reserved :
         memories_.memories[static_cast<std::size_t>(mine.memory)].reserved) {
      if (reserved.lower < upper && mine.offset < reserved.upper) found.push_back(reserved);
    }
    return found;
  }

  const Graph& graph_;
  const Counting& counting_;
  const GraphMemories& memories_;
  MemoryPlan& plan_;
  Budget& budget_;
  std::vector<Accesses> accesses_;            // By base.
  std::vector<std::vector<std::size_t>> in_;  // Residencies, by memory.
  std::size_t runs_ = 0;
};

}  // namespace

void WidenCopies(const Graph& graph, const Counting& counting, const GraphMemories& memories,
                 MemoryPlan& plan, Budget& budget) {
  Widener(graph, counting, memories, plan, budget).Run();
}

}  // namespace berth::internal::plan
