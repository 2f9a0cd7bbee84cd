#include "plan/staging.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "base/arithmetic.h"
#include "base/wide.h"
#include "graph/plan.h"
#include "graph/run.h"
#include "graph/uses.h"

namespace berth::internal::plan {
namespace {

constexpr std::size_t kMostTries = 6000;
// Steps of all plans whose costs are found.
constexpr std::size_t kMostWork = 20'000'000;

class Stager {
 public:
  Stager(const Graph& graph, const Counting& counting, const GraphMemories& memories,
         MemoryPlan& plan, Budget& budget)
      : graph_(graph),
        counting_(counting),
        memories_(memories),
        plan_(plan),
        budget_(budget),
        uses_(graph.tensors.size()),
        written_(graph.tensors.size(), false) {
    for (std::size_t s = 0; s < plan.order.size(); ++s) {
      ForEachUse(graph, plan.order[s], [&](TensorIndex base, Bytes read, Bytes written) {
        std::vector<Use>& uses = uses_[base];
        const auto step = static_cast<Step>(s);
        if (uses.empty() || uses.back().step != step) uses.push_back({step, {}});
        AddUse(read, written, uses.back().use);
      });
      for (const TensorIndex base : graph.operators[plan.order[s]].mutates) written_[base] = true;
    }
  }

  void Run() {
    std::vector<std::pair<Step, TensorIndex>> wanted;
    for (const Residency& r : plan_.residencies) {
      const TensorKind kind = graph_.tensors[r.tensor].kind;
      const bool weight = kind == TensorKind::kParameter || kind == TensorKind::kConstant;
      if (!weight || written_[r.tensor] || r.start > 0) continue;
      for (const Use& use : uses_[r.tensor]) {
        if (use.step > 0) wanted.emplace_back(use.step, r.tensor);
      }
    }
    std::sort(wanted.begin(), wanted.end());
    for (const auto& [step, tensor] : wanted) {
      if (Stopped()) break;
      Stage(tensor, step);
    }
    StateUse(graph_, plan_);
    plan_.memories.resize(memories_.memories.size());
  }

 private:
  struct Use {
    Step step;
    TensorUse use;
  };

  [[nodiscard]] bool Stopped() {
    return tries_ >= kMostTries || tries_ * plan_.order.size() > kMostWork || budget_.TimeIsUp();
  }

  // The first residency of a tensor, which has some.
  [[nodiscard]] std::size_t HomeOf(TensorIndex t) const {
    const auto& all = plan_.residencies;
    const auto at =
        std::lower_bound(all.begin(), all.end(), t,
                         [](const Residency& r, TensorIndex tensor) { return r.tensor < tensor; });
    return static_cast<std::size_t>(at - all.begin());
  }

  // A copy for the use of `t` at `step`, the best of those that help, unless there is one.
  void Stage(TensorIndex t, Step step) {
    const std::size_t home = HomeOf(t);
    const auto& all = plan_.residencies;
    Step first = 1;
    Step latest = all[home].end;
    std::size_t at = home + 1;
    for (; at < all.size() && all[at].tensor == t && all[at].start <= step; ++at) {
      if (all[at].end > step) return;
      first = all[at].end;
    }
    if (at < all.size() && all[at].tensor == t) latest = all[at].start;
    const std::vector<Use>& uses = uses_[t];
    const auto use = std::lower_bound(uses.begin(), uses.end(), step,
                                      [](const Use& each, Step s) { return each.step < s; });
    if (use != uses.begin()) first = std::max(first, (use - 1)->step + 1);
    std::vector<Step> ends = {step + 1};
    if (uses.back().step > step && uses.back().step < latest) ends.push_back(uses.back().step + 1);
    std::optional<std::pair<PlanCost, Residency>> best;
    for (const std::size_t m : memories_.stage_in) {
      const auto from = static_cast<std::size_t>(all[home].memory);
      if (m == from || AccessTime(memories_.memories[m], use->use) >=
                           AccessTime(memories_.memories[from], use->use)) {
        continue;
      }
      for (const Step end : ends) {
        for (Step back = memories_.prefetch ? 1 : 0;; back = std::max<Step>(1, 2 * back)) {
          const Step start = std::max(first, step - back);
          Try(t, at, m, start, end, best);
          if (start == first || !memories_.prefetch || Stopped()) break;
        }
      }
    }
    if (!best) return;
    plan_.cost = best->first;
    plan_.residencies.insert(plan_.residencies.begin() + static_cast<std::ptrdiff_t>(at),
                             best->second);
  }

  // A copy in memory `m` at the steps [start, end), as residency `at`, if its bytes are free somewhere.
  void Try(TensorIndex t, std::size_t at, std::size_t m, Step start, Step end,
           std::optional<std::pair<PlanCost, Residency>>& best) {
    if (start >= end) return;
    ++tries_;
    const auto offset = FreeOffset(t, m, start, end);
    if (!offset) return;
    Residency copy;
    copy.tensor = t;
    copy.start = start;
    copy.end = end;
    copy.offset = *offset;
    copy.memory = static_cast<int>(m);
    const auto here = plan_.residencies.begin() + static_cast<std::ptrdiff_t>(at);
    plan_.residencies.insert(here, copy);
    const PlanCost cost = CostOf(graph_, counting_, memories_, plan_);
    plan_.residencies.erase(plan_.residencies.begin() + static_cast<std::ptrdiff_t>(at));
    if (cost < plan_.cost && (!best || cost < best->first)) best = {cost, copy};
  }

  // The tightest hole for the tensor in memory `m` that is free at all of these steps.
  [[nodiscard]] std::optional<Bytes> FreeOffset(TensorIndex t, std::size_t m, Step start,
                                                Step end) const {
    const Memory& memory = memories_.memories[m];
    const Tensor& tensor = graph_.tensors[t];
    std::vector<std::pair<Bytes, Bytes>> taken;
    for (std::size_t i = 0; i < plan_.residencies.size(); ++i) {
      const Residency& r = plan_.residencies[i];
      if (static_cast<std::size_t>(r.memory) != m || r.end < start || r.start > end) continue;
      const HalfSteps time = HalfStepsOf(plan_, i);
      if (time.end <= 2 * start || time.start >= 2 * end) continue;
      taken.emplace_back(r.offset, r.offset + graph_.tensors[r.tensor].bytes);
    }
    for (const Reserved& reserved : memory.reserved) {
      if (reserved.start < end && reserved.end > start) {
        taken.emplace_back(reserved.lower, reserved.upper);
      }
    }
    std::sort(taken.begin(), taken.end());
    const Wide common = Wide(tensor.alignment / std::gcd(tensor.alignment, memory.alignment)) *
                        Wide(memory.alignment);
    if (common > Wide(kMaxBytes)) return {};
    const auto alignment = static_cast<Bytes>(common);
    std::optional<Bytes> best;
    Bytes least = std::numeric_limits<Bytes>::max();
    Bytes from = 0;
    const auto offer = [&](Bytes until) {
      const Bytes offset = RoundUp(from, alignment);
      if (until - offset < tensor.bytes || until - from >= least) return;
      least = until - from;
      best = offset;
    };
    for (const auto& [lower, upper] : taken) {
      offer(lower);
      from = std::max(from, upper);
    }
    if (from <= kMaxBytes) offer(memory.capacity.value_or(kMaxBytes));
    return best;
  }

  const Graph& graph_;
  const Counting& counting_;
  const GraphMemories& memories_;
  MemoryPlan& plan_;
  Budget& budget_;
  std::vector<std::vector<Use>> uses_;  // By base.
  std::vector<bool> written_;           // Bases.
  std::size_t tries_ = 0;
};

}  // namespace

void StageWeights(const Graph& graph, const Counting& counting, const GraphMemories& memories,
                  MemoryPlan& plan, Budget& budget) {
  if (memories.stage_in.empty()) return;
  Stager(graph, counting, memories, plan, budget).Run();
}

}  // namespace berth::internal::plan
