#include "spill/addresses.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "base/arithmetic.h"
#include "base/radix_sort.h"
#include "base/try.h"
#include "base/wide.h"
#include "graph/plan.h"
#include "spill/conflicts.h"

namespace berth::internal::spill {
namespace {

struct Tried {
  std::vector<Bytes> offsets;
  Bytes height = 0;
};

// Nodes of a placement that must be made even if time is up: milliseconds.
constexpr std::int64_t kNodesThatMustBe = 1000;
// For more residencies than this, these nodes may take long; the time is enough for a first plan.
constexpr std::size_t kManyBuffers = 4096;
constexpr double kSecondsThatMustBe = 0.05;

// Of the time and nodes that are left: the placement in which results stay to the end, the first one
// otherwise, to spill until it fits, to undo that, and the search for conflicts.
constexpr double kShareOfStaying = 0.2;
constexpr double kShareOfFirst = 0.3;
constexpr double kShareOfClearing = 0.3;
constexpr double kShareOfKeeping = 0.3;
constexpr double kShareOfConflicts = 0.8;

// Where a round of improvements finds nothing, the next one has placements of so many times the nodes.
constexpr std::int64_t kMoreNodes = 4;
constexpr std::int64_t kMostNodes = std::int64_t{1} << 40;

// A part of the time and the nodes that are left.
class Part : public Budget {
 public:
  Part(Budget& whole, double share) : Budget(whole, share) {
    if (!has_node_limit()) return;
    SetNodeLimit(static_cast<std::int64_t>(static_cast<double>(node_limit()) * share));
  }
};

// Placements of layouts of one graph, and whether more time or nodes might have changed them.
class Places {
 public:
  Places(const Graph& graph, const AddressOptions& options, const Placer& placer)
      : graph_(graph), options_(options), placer_(placer) {}

  // One placement with a node limit of its own, within `budget`; if it must be made, also where time is up.
  Result<std::optional<Tried>> Try(const Layout& layout, std::int64_t nodes, Budget& budget,
                                   bool must = false) {
    Problem problem = ProblemOf(graph_, PlanOf(layout));
    problem.capacity = options_.capacity;
    if (must && budget.TimeIsUp()) return TryWithoutTime(problem, budget);
    Budget mine(budget, 1);
    mine.SetNodeLimit(std::min(nodes, mine.node_limit()));
    auto tried = BERTH_TRY(Ask(problem, mine));
    if (!(tried && Fits(*tried)) && mine.Exhausted()) {
      const bool by_itself = mine.nodes_spent() >= nodes && !mine.TimeIsUp();
      (by_itself ? out_of_nodes_ : out_of_budget_) = true;
    }
    return tried;
  }

  [[nodiscard]] bool Fits(const Tried& tried) const { return tried.height <= options_.capacity; }

  // Whether a placement that found nothing was ended by its own node limit, or by the budget.
  [[nodiscard]] bool out_of_nodes() const { return out_of_nodes_; }
  [[nodiscard]] bool out_of_budget() const { return out_of_budget_; }
  void Forget() { out_of_nodes_ = out_of_budget_ = false; }
  void ForgetNodes() { out_of_nodes_ = false; }

 private:
  // These nodes cannot be counted in a budget that has ended, so there are none if nodes are limited.
  Result<std::optional<Tried>> TryWithoutTime(const Problem& problem, const Budget& budget) {
    out_of_budget_ = true;
    Budget mine;
    mine.SetNodeLimit(budget.has_node_limit() ? 0 : kNodesThatMustBe);
    if (problem.buffers.size() > kManyBuffers) mine.SetTimeLimit(kSecondsThatMustBe);
    return Ask(problem, mine);
  }

  Result<std::optional<Tried>> Ask(const Problem& problem, Budget& budget) {
    const PlanAnswer answer = BERTH_TRY(placer_(problem, budget));
    if (!answer.best) return std::optional<Tried>();
    return std::optional<Tried>(Tried{PlacementOf(*answer.best).offsets, answer.best->height()});
  }

  const Graph& graph_;
  const AddressOptions& options_;
  const Placer& placer_;
  bool out_of_nodes_ = false;
  bool out_of_budget_ = false;
};

MemoryPlan WithOffsets(const Graph& graph, const Layout& layout, const Tried& tried) {
  MemoryPlan plan = PlanOf(layout);
  for (std::size_t i = 0; i < plan.residencies.size(); ++i) {
    plan.residencies[i].offset = tried.offsets[i];
  }
  plan.addressed = true;
  StateUse(graph, plan);
  return plan;
}

// Everything leaves as early as possible.
void ClearAll(Layout& layout) {
  for (Stays& stays : layout.storages) std::fill(stays.kept.begin(), stays.kept.end(), 0);
}

// Offsets after ClearAll(): all residencies are live at one step only, so they are stacked there, the
// largest alignment first. Nothing if one of them ends above the capacity, which takes alignments.
std::optional<Tried> Stack(const Graph& graph, const Layout& layout, Bytes capacity) {
  const MemoryPlan plan = PlanOf(layout);
  std::vector<std::size_t> stacked(plan.residencies.size());
  std::iota(stacked.begin(), stacked.end(), std::size_t{0});
  const auto alignment = [&](std::size_t i) {
    return graph.tensors[plan.residencies[i].tensor].alignment;
  };
  SortByInteger(stacked, [&](std::size_t i) { return -alignment(i); });
  std::vector<Bytes> top(layout.order.size(), 0);  // By step.
  Tried tried;
  tried.offsets.resize(stacked.size());
  for (const std::size_t i : stacked) {
    Bytes& here = top[static_cast<std::size_t>(plan.residencies[i].start)];
    tried.offsets[i] = RoundUp(here, alignment(i));
    here = tried.offsets[i] + graph.tensors[plan.residencies[i].tensor].bytes;
    if (here > capacity) return std::nullopt;
    tried.height = std::max(tried.height, here);
  }
  return tried;
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
  // `tried`: its placement, nothing if none is known.
  Repair(const Graph& graph, Layout layout, std::optional<Tried> tried,
         const AddressOptions& options, Places& places, Budget& budget)
      : graph_(graph),
        options_(options),
        places_(places),
        budget_(budget),
        layout_(std::move(layout)),
        tried_(std::move(tried)) {}

  // Clears gaps until everything fits, and undoes what was unnecessary.
  Result<void> Run() {
    {
      Part part(budget_, kShareOfClearing);
      BERTH_TRY(ClearUntilItFits(part));
    }
    if (!fits()) BERTH_TRY(Rescue());
    Part part(budget_, kShareOfKeeping);
    return KeepAgain(std::move(cleared_), options_.nodes_of_repair, part);
  }

  // Clears a single gap that is enough by itself, the cheapest first, if there is one.
  Result<void> ClearOne() {
    const std::vector<Choice> choices = ChoicesOf(layout_, options_.limit);
    for (std::size_t i = 0; i < std::min(choices.size(), options_.max_trials); ++i) {
      if (Exhausted(budget_)) break;
      const Gap gap = {choices[i].storage, choices[i].access};
      Kept(gap) = 0;
      if (BERTH_TRY(Place(options_.nodes_of_trial, budget_))) break;
      Kept(gap) = 1;
    }
    return {};
  }

  // Looks for less traffic, if everything fits, until a round finds nothing with placements that were
  // not cut short. A round looks which cleared gaps can be kept again, each by itself, or in exchange
  // for others.
  Result<void> Improve() {
    for (std::int64_t nodes = options_.nodes_of_repair; !Ended(budget_);) {
      const Bytes before = traffic();
      places_.ForgetNodes();
      BERTH_TRY(KeepAgain(Cleared(), nodes, budget_));
      BERTH_TRY(ExchangeAll(nodes));
      if (traffic() < before) continue;
      if (!places_.out_of_nodes() || nodes >= kMostNodes) break;
      nodes *= kMoreNodes;
    }
    return {};
  }

  // The layout and its plan; nothing if it does not fit, or has too much traffic.
  [[nodiscard]] std::optional<Addressed> Take() && {
    if (!fits() || traffic() > options_.limit) return std::nullopt;
    MemoryPlan plan = WithOffsets(graph_, layout_, *tried_);
    return Addressed{std::move(layout_), std::move(plan)};
  }

  // Something was left out because time or nodes ended.
  [[nodiscard]] bool cut_short() const { return cut_short_; }

 private:
  struct Gap {
    std::size_t storage = 0;
    std::size_t access = 0;
    friend bool operator==(const Gap&, const Gap&) = default;
  };

  [[nodiscard]] bool fits() const { return tried_ && places_.Fits(*tried_); }
  [[nodiscard]] Bytes traffic() const { return AvoidableTraffic(layout_); }
  [[nodiscard]] char& Kept(const Gap& gap) {
    return layout_.storages[gap.storage].kept[gap.access];
  }
  [[nodiscard]] bool Exhausted(Budget& budget) {
    const bool exhausted = budget.Exhausted();
    cut_short_ = cut_short_ || exhausted;
    return exhausted;
  }
  [[nodiscard]] bool Ended(Budget& budget) {
    return traffic() <= options_.enough || Exhausted(budget);
  }

  // Whether everything fits; if so, keeps that placement.
  Result<bool> Place(std::int64_t nodes, Budget& budget, bool must = false) {
    auto tried = BERTH_TRY(places_.Try(layout_, nodes, budget, must));
    if (!tried || !places_.Fits(*tried)) return false;
    tried_ = std::move(tried);
    return true;
  }

  // Where a storage exceeds the memory, clears the neighbouring gap that frees most for its
  // traffic, places again, and so on, until the budget ends or no neighbour can be spilled.
  Result<void> ClearUntilItFits(Budget& budget) {
    while (tried_ && !fits() && !Exhausted(budget)) {
      const auto gap = NextGap(options_.limit);
      if (!gap) break;
      Kept(*gap) = 0;
      cleared_.push_back(*gap);
      tried_ = BERTH_TRY(places_.Try(layout_, options_.nodes_of_repair, budget));
    }
    return {};
  }

  // Each storage is in memory only while an operator uses it: the needs of one operator fit side by
  // side, and where alignments prevent that for stacks, the placer may find another arrangement.
  Result<void> Rescue() {
    for (std::size_t s = 0; s < layout_.storages.size(); ++s) {
      const Stays& stays = layout_.storages[s];
      for (std::size_t i = 0; i < stays.kept.size(); ++i) {
        if (stays.kept[i] != 0) cleared_.push_back({s, i});
      }
    }
    ClearAll(layout_);
    tried_ = Stack(graph_, layout_, options_.capacity);
    if (!tried_) {
      static_cast<void>(BERTH_TRY(Place(options_.nodes_of_trial, budget_, /*must=*/true)));
    }
    return {};
  }

  // What to clear next, for at most `limit` bytes of traffic, where the latest placement exceeds the
  // memory. `but`: what stays.
  std::optional<Gap> NextGap(Bytes limit, std::optional<Gap> but = std::nullopt) const {
    const MemoryPlan plan = PlanOf(layout_);
    // The storage that exceeds the memory most, then the others.
    std::vector<std::size_t> out;
    const auto top = [&](std::size_t i) {
      return tried_->offsets[i] + graph_.tensors[plan.residencies[i].tensor].bytes;
    };
    for (std::size_t i = 0; i < plan.residencies.size(); ++i) {
      if (top(i) > options_.capacity) out.push_back(i);
    }
    std::stable_sort(out.begin(), out.end(),
                     [&](std::size_t i, std::size_t j) { return top(i) > top(j); });
    const std::vector<Choice> choices = ChoicesOf(layout_, limit);
    for (const std::size_t i : out) {
      const Residency& residency = plan.residencies[i];
      // The least traffic per freed byte and step: the storage's bytes cancel out.
      const Choice* best = nullptr;
      Step best_steps = 0;
      for (const Choice& choice : choices) {
        if (but == Gap{choice.storage, choice.access}) continue;
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

  // The gaps that cost traffic.
  [[nodiscard]] std::vector<Gap> Cleared() const {
    std::vector<Gap> gaps;
    for (std::size_t s = 0; s < layout_.storages.size(); ++s) {
      const Stays& stays = layout_.storages[s];
      for (std::size_t i = 0; i + 1 < stays.kept.size(); ++i) {
        if (stays.kept[i] == 0) gaps.push_back({s, i});
      }
    }
    SortByCost(gaps);
    return gaps;
  }
  // The most costly first.
  void SortByCost(std::vector<Gap>& gaps) const {
    std::stable_sort(gaps.begin(), gaps.end(), [&](const Gap& a, const Gap& b) {
      return layout_.storages[a.storage].size > layout_.storages[b.storage].size;
    });
  }

  // Undoes clearings that turn out unnecessary, the most costly first: twice as many together after each
  // success. Of those that fail together the first half is tried, and so on, until one is left, which
  // stays cleared: what has failed is not tried again.
  Result<void> KeepAgain(std::vector<Gap> gaps, std::int64_t nodes, Budget& budget) {
    SortByCost(gaps);
    std::size_t together = 1;
    std::size_t failed = 0;  // Those up to here are known to fail together, if it is beyond k.
    for (std::size_t k = 0; k < gaps.size() && fits() && !Ended(budget);) {
      if (failed == k + 1) {
        ++k;
        together = 1;
        continue;
      }
      const std::size_t end =
          failed > k ? k + (failed - k) / 2 : std::min(k + together, gaps.size());
      const auto at = [&](std::size_t i) { return gaps.begin() + static_cast<std::ptrdiff_t>(i); };
      if (BERTH_TRY(Keep({at(k), at(end)}, nodes, budget))) {
        k = end;
        together *= 2;
      } else {
        failed = end;
      }
    }
    return {};
  }

  // Whether there is less traffic, and everything fits, without the clearings of `gaps`; if so, these are
  // undone.
  Result<bool> Keep(const std::vector<Gap>& gaps, std::int64_t nodes, Budget& budget) {
    const Bytes before = traffic();
    for (const Gap& gap : gaps) Kept(gap) = 1;
    const std::vector<Bytes> load = LoadOf(layout_);
    const bool may =
        traffic() < before && *std::max_element(load.begin(), load.end()) <= options_.capacity;
    if (may && BERTH_TRY(Place(nodes, budget))) return true;
    for (const Gap& gap : gaps) Kept(gap) = 0;
    return false;
  }

  Result<void> ExchangeAll(std::int64_t nodes) {
    for (const Gap& gap : Cleared()) {
      if (Ended(budget_)) break;
      if (Kept(gap) == 0) BERTH_TRY(Exchange(gap, nodes));
    }
    return {};
  }

  // Keeps a cleared gap again, and clears others, which cost less together, until everything fits.
  // Without success all is as before.
  Result<void> Exchange(const Gap& gap, std::int64_t nodes) {
    const Bytes before = traffic();
    const Tried tried = *tried_;
    std::vector<Gap> others;
    Kept(gap) = 1;
    while (traffic() < before && !Exhausted(budget_)) {
      auto next = BERTH_TRY(places_.Try(layout_, nodes, budget_));
      if (!next) break;
      tried_ = std::move(next);
      if (fits()) return KeepAgain(std::move(others), nodes, budget_);
      const auto other = NextGap(before - 1, gap);
      if (!other) break;
      Kept(*other) = 0;
      others.push_back(*other);
    }
    for (const Gap& other : others) Kept(other) = 1;
    Kept(gap) = 0;
    tried_ = tried;
    return {};
  }

  const Graph& graph_;
  const AddressOptions& options_;
  Places& places_;
  Budget& budget_;
  Layout layout_;
  std::optional<Tried> tried_;  // The latest placement of `layout_`.
  std::vector<Gap> cleared_;
  bool cut_short_ = false;
};

struct Staying {
  Layout layout;
  bool differs = false;  // Some result is in memory for longer.
};

// Results stay to the end, where nothing has to be spilled and there is room.
std::optional<Staying> StayingOf(const Layout& layout, Bytes capacity) {
  if (AvoidableTraffic(layout) > 0) return std::nullopt;
  Staying staying = {layout};
  for (Stays& stays : staying.layout.storages) {
    if (!stays.result || stays.kept.empty()) continue;
    stays.kept.back() = 1;
    staying.differs = staying.differs || stays.accesses.back().step + 1 < layout.steps();
  }
  const std::vector<Bytes> load = LoadOf(staying.layout);
  const bool room = load.empty() || *std::max_element(load.begin(), load.end()) <= capacity;
  if (!room) return std::nullopt;
  return staying;
}

// A first plan with additional spills, then cheaper ones. `first`: a placement that does not fit, if there is
// one.
Result<void> SpillMore(const Graph& graph, const Layout& layout, std::optional<Tried> first,
                       AddressOptions options, const Placer& placer, Budget& budget,
                       AddressAnswer& answer) {
  Places places(graph, options, placer);
  const auto offer = [&](std::optional<Addressed> plan) {
    if (!plan) return;
    options.limit = plan->plan.traffic.avoidable() - 1;
    answer.best = std::move(plan);
  };
  Repair repair(graph, layout, std::move(first), options, places, budget);
  BERTH_TRY(repair.Run());
  answer.out_of_budget = places.out_of_budget() || repair.cut_short();
  answer.out_of_nodes = places.out_of_nodes();
  offer(std::move(repair).Take());
  if (options.limit < options.enough) return {};
  {
    Part part(budget, kShareOfConflicts);
    AddressAnswer chosen = BERTH_TRY(ChooseByConflicts(graph, layout, options, {}, placer, part));
    offer(std::move(chosen.best));
    answer.bound = chosen.bound;
    answer.out_of_budget = chosen.out_of_budget;
    answer.out_of_nodes = chosen.out_of_nodes;
    if (!chosen.out_of_budget && !chosen.out_of_nodes) return {};
  }
  Repair single(graph, layout, std::nullopt, options, places, budget);
  BERTH_TRY(single.ClearOne());
  offer(std::move(single).Take());
  return {};
}

}  // namespace

Result<AddressAnswer> FindAddresses(const Graph& graph, Layout layout,
                                    const AddressOptions& options, const Placer& placer,
                                    Budget& budget) {
  AddressAnswer answer;
  if (AvoidableTraffic(layout) > options.limit) return answer;
  Places places(graph, options, placer);
  const auto found = [&](Layout& as, const Tried& tried) {
    MemoryPlan plan = WithOffsets(graph, as, tried);
    answer.best = {std::move(as), std::move(plan)};
    return std::move(answer);
  };
  std::optional<Staying> staying = StayingOf(layout, options.capacity);
  if (staying && staying->differs) {
    Part part(budget, kShareOfStaying);
    const auto tried = BERTH_TRY(places.Try(staying->layout, options.nodes_of_first, part));
    if (tried && places.Fits(*tried)) return found(staying->layout, *tried);
    places.Forget();  // It moves no less than others.
  }
  std::optional<Tried> first;
  {
    Part part(budget, kShareOfFirst);
    first = BERTH_TRY(places.Try(layout, options.nodes_of_first, part, /*must=*/true));
  }
  if (first && places.Fits(*first)) {
    return found(staying && !staying->differs ? staying->layout : layout, *first);
  }
  BERTH_TRY(SpillMore(graph, layout, std::move(first), options, placer, budget, answer));
  return answer;
}

Result<AddressAnswer> ImproveAddresses(const Graph& graph, Addressed known,
                                       const AddressOptions& options, const Placer& placer,
                                       Budget& budget) {
  AddressAnswer answer;
  Places places(graph, options, placer);
  Tried tried;
  for (const Residency& residency : known.plan.residencies)
    tried.offsets.push_back(residency.offset);
  tried.height = known.plan.height();
  Repair repair(graph, std::move(known.layout), std::move(tried), options, places, budget);
  BERTH_TRY(repair.Improve());
  answer.out_of_budget = places.out_of_budget() || repair.cut_short();
  answer.out_of_nodes = places.out_of_nodes();
  answer.best = std::move(repair).Take();
  return answer;
}

Result<std::optional<MemoryPlan>> PlaceLayout(const Graph& graph, const Layout& layout,
                                              const AddressOptions& options, const Placer& placer,
                                              Budget& budget) {
  const auto tried =
      BERTH_TRY(Places(graph, options, placer).Try(layout, options.nodes_of_first, budget));
  if (!tried) return std::optional<MemoryPlan>();
  return std::optional<MemoryPlan>(WithOffsets(graph, layout, *tried));
}

std::optional<MemoryPlan> SpillAll(const Graph& graph, Layout layout, Bytes capacity) {
  ClearAll(layout);
  const std::optional<Tried> stacked = Stack(graph, layout, capacity);
  if (!stacked) return std::nullopt;
  return WithOffsets(graph, layout, *stacked);
}

}  // namespace berth::internal::spill
