#include "spill/addresses.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace berth::internal::spill {
namespace {

struct Tried {
  std::vector<Bytes> offsets;
  Bytes height = 0;
};

// Enough for the placer's greedy algorithms, which take milliseconds.
constexpr std::int64_t kNodesThatMustBe = 1000;

// One placement with a node limit of its own; time and cancellation are those of `budget`, unless
// this is one that has to be made whatever is left of it.
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
  } else {
    mine.SetNodeLimit(left);
    mine.SetOnPoll([&] {
      if (budget.TimeIsUp()) mine.Cancel();
    });
  }
  Result<PlaceAnswer> answer = placer(problem, mine);
  if (!answer) return tl::unexpected<Error>(answer.error());
  if (!answer->best) return std::optional<Tried>();
  return std::optional<Tried>(Tried{answer->best->offsets, answer->best->height});
}

SpillPlan WithOffsets(const Layout& layout, const Tried& tried) {
  SpillPlan plan = PlanOf(layout);
  for (std::size_t i = 0; i < plan.residencies.size(); ++i) {
    plan.residencies[i].offset = tried.offsets[i];
  }
  plan.height = tried.height;
  return plan;
}

// A storage that could leave after one of its accesses.
struct Choice {
  std::size_t storage = 0;
  std::size_t access = 0;
  Bytes extra = 0;
  Bytes area = 0;  // Bytes x steps that become free.
};

std::vector<Choice> ChoicesOf(const Layout& layout, Bytes limit) {
  std::vector<Choice> choices;
  const Bytes now = AvoidableTraffic(layout);
  for (std::size_t s = 0; s < layout.storages.size(); ++s) {
    Layout one;
    one.order = layout.order;
    one.storages.push_back(layout.storages[s]);
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
      choices.push_back({s, i, extra, stays.size * (next - stays.accesses[i].step - 1)});
    }
  }
  // Cheapest first; of equal ones, what frees most.
  std::stable_sort(choices.begin(), choices.end(), [](const Choice& a, const Choice& b) {
    if (a.extra != b.extra) return a.extra < b.extra;
    return a.area > b.area;
  });
  return choices;
}

// When there is no time for better: each storage is in memory only while an operator uses it. What
// one operator uses fits side by side, but for alignments.
Result<std::optional<SpillPlan>> InMemoryOnlyInUse(const Graph& graph, Layout layout,
                                                   const AddressOptions& options,
                                                   const Placer& placer, Budget& budget) {
  for (Stays& stays : layout.storages) std::fill(stays.kept.begin(), stays.kept.end(), char{0});
  if (AvoidableTraffic(layout) > options.limit) return std::optional<SpillPlan>();
  const auto tried = TryPlacing(graph, layout, options.capacity, options.nodes_of_trial, placer,
                                budget, /*must=*/true);
  if (!tried) return tl::unexpected<Error>(tried.error());
  if (!*tried || (*tried)->height > options.capacity) return std::optional<SpillPlan>();
  return std::optional<SpillPlan>(WithOffsets(layout, **tried));
}

}  // namespace

Result<std::optional<SpillPlan>> FindAddresses(const Graph& graph, Layout layout,
                                               const AddressOptions& options, const Placer& placer,
                                               Budget& budget) {
  using Found = std::optional<SpillPlan>;
  // Results stay to the end where nothing else has to leave and there is room.
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
        return Found(WithOffsets(staying, **tried));
      }
    }
  }
  auto first = TryPlacing(graph, layout, options.capacity, options.nodes_of_first, placer, budget,
                          /*must=*/true);
  if (!first) return tl::unexpected<Error>(first.error());
  if (!*first) return Found();
  Tried best = std::move(**first);
  while (best.height > options.capacity) {
    const std::vector<Choice> choices = ChoicesOf(layout, options.limit);
    std::optional<std::pair<Choice, Tried>> closest;
    std::size_t trials = 0;
    for (const Choice& choice : choices) {
      if (trials++ == options.max_trials || budget.Exhausted()) break;
      char& kept = layout.storages[choice.storage].kept[choice.access];
      kept = 0;
      auto tried =
          TryPlacing(graph, layout, options.capacity, options.nodes_of_trial, placer, budget);
      kept = 1;
      if (!tried) return tl::unexpected<Error>(tried.error());
      if (!*tried) continue;
      if (!closest || (*tried)->height < closest->second.height) {
        closest = {choice, std::move(**tried)};
        if (closest->second.height <= options.capacity) break;
      }
    }
    if (!closest) return InMemoryOnlyInUse(graph, std::move(layout), options, placer, budget);
    layout.storages[closest->first.storage].kept[closest->first.access] = 0;
    best = std::move(closest->second);
  }
  return Found(WithOffsets(layout, best));
}

}  // namespace berth::internal::spill
