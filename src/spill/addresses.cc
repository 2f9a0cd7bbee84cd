#include "spill/addresses.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "base/arithmetic.h"
#include "base/radix_sort.h"
#include "base/try.h"
#include "base/wide.h"
#include "graph/plan.h"

namespace berth::internal::spill {
namespace {

struct Tried {
  std::vector<Bytes> offsets;
  Bytes height = 0;
};

// Nodes of a placement that must be made even if the budget is spent: enough for the placer's
// greedy algorithms, which take milliseconds.
constexpr std::int64_t kNodesThatMustBe = 1000;
// For more residencies than this, these nodes may take long; the time is enough for a first plan.
constexpr std::size_t kManyBuffers = 4096;
constexpr double kSecondsThatMustBe = 0.05;

// Of the time that is left: the first placement, choices by themselves, and to spill until it fits.
constexpr double kShareOfFirst = 0.3;
constexpr double kShareOfSingles = 0.4;
constexpr double kShareOfClearing = 0.5;

// One placement with its own node limit. Time and cancellation are those of `budget`, unless the
// placement must be made even if the budget is spent.
Result<std::optional<Tried>> TryPlacing(const Graph& graph, const Layout& layout, Bytes capacity,
                                        std::int64_t nodes, const Placer& placer, Budget& budget,
                                        bool must = false) {
  Problem problem = ProblemOf(graph, PlanOf(layout));
  problem.capacity = capacity;
  Budget mine;
  const std::int64_t left =
      std::min(nodes, std::max<std::int64_t>(budget.node_limit() - budget.nodes_spent(), 0));
  if (must && (budget.TimeIsUp() || left < kNodesThatMustBe)) {
    mine.SetNodeLimit(kNodesThatMustBe);
    if (problem.buffers.size() > kManyBuffers && budget.TimeIsUp()) {
      mine.SetTimeLimit(kSecondsThatMustBe);
    }
  } else {
    mine.SetNodeLimit(left);
    mine.Follow(budget);
  }
  Result<PlanAnswer> answer = placer(problem, mine);
  if (!answer) return tl::unexpected<Error>(answer.error());
  if (!answer->best) return std::optional<Tried>();
  return std::optional<Tried>(Tried{PlacementOf(*answer->best).offsets, answer->best->height()});
}

MemoryPlan WithOffsets(const Graph& graph, const Layout& layout, const Tried& tried) {
  MemoryPlan plan = PlanOf(layout);
  for (std::size_t i = 0; i < plan.residencies.size(); ++i) {
    plan.residencies[i].offset = tried.offsets[i];
  }
  plan.addressed = true;
  StateUse(graph, plan);
  return plan;
}

// A storage that could be spilled after one of its accesses.
struct Choice {
  std::size_t storage = 0;
  std::size_t access = 0;
  Bytes extra = 0;  // Additional traffic in bytes.
  Bytes times = 0;  // `extra` in multiples of the storage's bytes: 1 or 2.
  Step begin = 0;   // Steps in which its bytes become free.
  Step end = 0;
};

std::vector<Choice> ChoicesOf(const Layout& layout, Bytes limit) {
  std::vector<Choice> choices;
  const Bytes now = AvoidableTraffic(layout);
  Layout one;
  one.order = layout.order;
  one.storages.resize(1);
  for (std::size_t s = 0; s < layout.storages.size(); ++s) {
    one.storages[0] = layout.storages[s];
    const Bytes before = AvoidableTraffic(one);
    Stays& stays = one.storages[0];
    for (std::size_t i = 0; i < stays.accesses.size(); ++i) {
      if (stays.kept[i] == 0) continue;
      const bool last = i + 1 == stays.accesses.size();
      const Step next = last ? layout.steps() : stays.accesses[i + 1].step;
      stays.kept[i] = 0;
      const Bytes extra = AvoidableTraffic(one) - before;
      stays.kept[i] = 1;
      if (extra > limit - now) continue;
      choices.push_back({s, i, extra, extra / stays.size, stays.accesses[i].step + 1, next});
    }
  }
  // Cheapest first; of equal ones, the one that frees most.
  const auto area = [&](const Choice& choice) {
    return Wide{layout.storages[choice.storage].size} * (choice.end - choice.begin);
  };
  std::stable_sort(choices.begin(), choices.end(), [&](const Choice& a, const Choice& b) {
    return a.extra != b.extra ? a.extra < b.extra : area(a) > area(b);
  });
  return choices;
}

// A layout that is changed until it can be placed.
class Repair {
 public:
  Repair(const Graph& graph, Layout layout, Tried tried, const AddressOptions& options,
         const Placer& placer, Budget& budget)
      : graph_(graph),
        options_(options),
        placer_(placer),
        budget_(budget),
        layout_(std::move(layout)),
        tried_(std::move(tried)) {}

  Result<std::optional<MemoryPlan>> Run() {
    {
      Budget part(budget_, kShareOfSingles);
      const bool enough = BERTH_TRY(ClearOne(part));
      if (enough) return Plan();
    }
    {
      Budget part(budget_, kShareOfClearing);
      BERTH_TRY(ClearUntilItFits(part));
    }
    BERTH_TRY(KeepAgain());
    return Plan();
  }

 private:
  struct Gap {
    std::size_t storage = 0;
    std::size_t access = 0;
  };

  [[nodiscard]] bool fits() const { return tried_.height <= options_.capacity; }
  [[nodiscard]] std::optional<MemoryPlan> Plan() const {
    if (!fits() || AvoidableTraffic(layout_) > options_.limit) return std::nullopt;
    return WithOffsets(graph_, layout_, tried_);
  }
  [[nodiscard]] char& Kept(const Gap& gap) {
    return layout_.storages[gap.storage].kept[gap.access];
  }
  // Whether everything fits; if so, keeps that placement.
  Result<bool> Place(std::int64_t nodes, Budget& budget, bool must = false) {
    auto tried =
        BERTH_TRY(TryPlacing(graph_, layout_, options_.capacity, nodes, placer_, budget, must));
    if (!tried || tried->height > options_.capacity) return false;
    tried_ = std::move(*tried);
    return true;
  }

  // A single choice that is enough by itself, cheapest first.
  Result<bool> ClearOne(Budget& budget) {
    const std::vector<Choice> choices = ChoicesOf(layout_, options_.limit);
    for (std::size_t i = 0; i < std::min(choices.size(), options_.max_trials); ++i) {
      if (budget.Exhausted()) break;
      const Gap gap = {choices[i].storage, choices[i].access};
      Kept(gap) = 0;
      if (BERTH_TRY(Place(options_.nodes_of_trial, budget))) return true;
      Kept(gap) = 1;
    }
    return false;
  }

  // Where a storage exceeds the memory, clears the neighbouring gap that frees most for its
  // traffic, places again, and so on. When the budget ends, or no neighbour can be spilled, each
  // storage is in memory only while an operator uses it: the needs of one operator fit side by
  // side, except for alignments.
  Result<void> ClearUntilItFits(Budget& budget) {
    while (!fits() && !budget.Exhausted()) {
      const auto gap = NextGap();
      if (!gap) break;
      Kept(*gap) = 0;
      cleared_.push_back(*gap);
      auto tried = BERTH_TRY(TryPlacing(graph_, layout_, options_.capacity,
                                        options_.nodes_of_repair, placer_, budget));
      if (!tried) break;
      tried_ = std::move(*tried);
    }
    if (fits()) return {};
    for (std::size_t s = 0; s < layout_.storages.size(); ++s) {
      Stays& stays = layout_.storages[s];
      for (std::size_t i = 0; i < stays.kept.size(); ++i) {
        if (stays.kept[i] != 0) cleared_.push_back({s, i});
        stays.kept[i] = 0;
      }
    }
    static_cast<void>(BERTH_TRY(Place(options_.nodes_of_trial, budget, /*must=*/true)));
    return {};
  }

  std::optional<Gap> NextGap() const {
    const MemoryPlan plan = PlanOf(layout_);
    // The storage that exceeds the memory most, then the others.
    std::vector<std::size_t> out;
    const auto top = [&](std::size_t i) {
      return tried_.offsets[i] + graph_.tensors[plan.residencies[i].tensor].bytes;
    };
    for (std::size_t i = 0; i < plan.residencies.size(); ++i) {
      if (top(i) > options_.capacity) out.push_back(i);
    }
    std::stable_sort(out.begin(), out.end(),
                     [&](std::size_t i, std::size_t j) { return top(i) > top(j); });
    const std::vector<Choice> choices = ChoicesOf(layout_, options_.limit);
    for (const std::size_t i : out) {
      const Residency& residency = plan.residencies[i];
      // The least traffic per freed byte and step: the storage's bytes cancel out.
      const Choice* best = nullptr;
      Step best_steps = 0;
      for (const Choice& choice : choices) {
        const Step steps =
            std::min(choice.end, residency.end) - std::max(choice.begin, residency.start);
        if (steps <= 0) continue;
        if (best == nullptr || choice.times * best_steps < best->times * steps) {
          best = &choice;
          best_steps = steps;
        }
      }
      if (best != nullptr) return Gap{best->storage, best->access};
    }
    return std::nullopt;
  }

  // Undoes clearings that turn out unnecessary, the most costly first: twice as many together after each
  // success, half as many after a failure.
  Result<void> KeepAgain() {
    std::stable_sort(cleared_.begin(), cleared_.end(), [&](const Gap& a, const Gap& b) {
      return layout_.storages[a.storage].size > layout_.storages[b.storage].size;
    });
    std::size_t together = 1;
    for (std::size_t k = 0; k < cleared_.size() && fits() && !budget_.Exhausted();) {
      const auto from = cleared_.begin() + static_cast<std::ptrdiff_t>(k);
      const std::vector<Gap> gaps(
          from, from + static_cast<std::ptrdiff_t>(std::min(together, cleared_.size() - k)));
      if (BERTH_TRY(Keep(gaps))) {
        k += gaps.size();
        together *= 2;
      } else if (gaps.size() == 1) {
        ++k;
      } else {
        together = gaps.size() / 2;
      }
    }
    return {};
  }

  // Whether there is less traffic, and everything fits, without the clearings of `gaps`; if so, these are
  // undone.
  Result<bool> Keep(const std::vector<Gap>& gaps) {
    const Bytes before = AvoidableTraffic(layout_);
    for (const Gap& gap : gaps) Kept(gap) = 1;
    const std::vector<Bytes> load = LoadOf(layout_);
    const bool may = AvoidableTraffic(layout_) < before &&
                     *std::max_element(load.begin(), load.end()) <= options_.capacity;
    if (may && BERTH_TRY(Place(options_.nodes_of_repair, budget_))) return true;
    for (const Gap& gap : gaps) Kept(gap) = 0;
    return false;
  }

  const Graph& graph_;
  const AddressOptions& options_;
  const Placer& placer_;
  Budget& budget_;
  Layout layout_;
  Tried tried_;  // The placement of `layout_`.
  std::vector<Gap> cleared_;
};

}  // namespace

Result<std::optional<MemoryPlan>> FindAddresses(const Graph& graph, Layout layout,
                                                const AddressOptions& options, const Placer& placer,
                                                Budget& budget) {
  using Found = std::optional<MemoryPlan>;
  // Results stay to the end if nothing has to be spilled and there is room.
  if (AvoidableTraffic(layout) == 0) {
    Layout staying = layout;
    for (Stays& stays : staying.storages) {
      if (stays.result && !stays.kept.empty()) stays.kept.back() = 1;
    }
    const std::vector<Bytes> load = LoadOf(staying);
    if (load.empty() || *std::max_element(load.begin(), load.end()) <= options.capacity) {
      auto tried =
          TryPlacing(graph, staying, options.capacity, options.nodes_of_first, placer, budget);
      if (!tried) return tl::unexpected<Error>(tried.error());
      if (*tried && (*tried)->height <= options.capacity) {
        return Found(WithOffsets(graph, staying, **tried));
      }
    }
  }
  std::optional<Tried> first;
  {
    Budget part(budget, kShareOfFirst);
    first = BERTH_TRY(TryPlacing(graph, layout, options.capacity, options.nodes_of_first, placer,
                                 part, /*must=*/true));
  }
  if (!first) return Found();
  if (first->height <= options.capacity) return Found(WithOffsets(graph, layout, *first));
  return Repair(graph, std::move(layout), std::move(*first), options, placer, budget).Run();
}

Result<std::optional<MemoryPlan>> PlaceLayout(const Graph& graph, const Layout& layout,
                                              const AddressOptions& options, const Placer& placer,
                                              Budget& budget) {
  const auto tried =
      TryPlacing(graph, layout, options.capacity, options.nodes_of_first, placer, budget);
  if (!tried) return tl::unexpected<Error>(tried.error());
  if (!*tried) return std::optional<MemoryPlan>();
  return std::optional<MemoryPlan>(WithOffsets(graph, layout, **tried));
}

std::optional<MemoryPlan> SpillAll(const Graph& graph, Layout layout, Bytes capacity) {
  for (Stays& stays : layout.storages) std::fill(stays.kept.begin(), stays.kept.end(), 0);
  MemoryPlan plan = PlanOf(layout);
  // All live at one step only: one above the other, the largest alignment first.
  std::vector<Residency*> stacked;
  stacked.reserve(plan.residencies.size());
  for (Residency& residency : plan.residencies) stacked.push_back(&residency);
  const auto alignment = [&](const Residency* r) { return graph.tensors[r->tensor].alignment; };
  SortByInteger(stacked, [&](const Residency* residency) { return -alignment(residency); });
  std::vector<Bytes> top(layout.order.size(), 0);  // By step.
  for (Residency* const residency : stacked) {
    Bytes& here = top[static_cast<std::size_t>(residency->start)];
    residency->offset = RoundUp(here, alignment(residency));
    here = residency->offset + graph.tensors[residency->tensor].bytes;
    if (here > capacity) return std::nullopt;
  }
  plan.addressed = true;
  StateUse(graph, plan);
  return plan;
}

}  // namespace berth::internal::spill
