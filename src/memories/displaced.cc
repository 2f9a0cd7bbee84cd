// What is in the way of each buffer that would cost less elsewhere. The answer is about the plan as it
// is: a Layout with all units at their spots knows the places of the cheaper memory, and what is in the
// way at each. Of all places, that counts where the units in the way would lose the least.
#include "berth/displaced.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/try.h"
#include "memories/layout.h"
#include "memories/model.h"
#include "model/instance.h"

namespace berth {
namespace internal::memories {
namespace {

// Bytes in use from one step to the next.
struct Load {
  std::vector<Step> steps;
  std::vector<Bytes> used;
};

// More than all costs together, and less than what would be "never in the way".
constexpr double kNoOtherPlace = 1e30;

class Finder {
 public:
  Finder(const MemoryProblem& problem, const Model& model, const MemoryPlan& plan)
      : problem_(problem),
        model_(model),
        layout_(problem, model),
        weight_(model.units.size()),
        loads_(model.tables.size()) {
    for (const Residency& r : plan.residencies) {
      const Member& place = PlaceOf(r);
      const Spot spot{r.memory, r.offset - place.distance};
      if (layout_.At(place.buffer) != spot) layout_.Move(place.buffer, spot);
    }
    layout_.Commit();
    for (const Buffer& buffer : problem.table.buffers) end_ = std::max(end_, buffer.end);
    for (std::size_t u = 0; u < weight_.size(); ++u) {
      const auto loss = LossOf(u);
      weight_[u] = loss ? static_cast<double>(*loss) : kNoOtherPlace;
    }
    for (std::size_t m = 0; m < loads_.size(); ++m) loads_[m] = LoadOf(m);
  }

  [[nodiscard]] std::vector<Displaced> Find(std::size_t most) {
    std::vector<Displaced> found;
    for (auto& [u, each] : Wishes(most)) {
      Explain(u, each);
      found.push_back(std::move(each));
    }
    return found;
  }

 private:
  using Wish = std::pair<std::size_t, Displaced>;

  [[nodiscard]] const Member& PlaceOf(const Residency& r) const {
    return model_.tables[static_cast<std::size_t>(r.memory)].places[r.tensor];
  }
  [[nodiscard]] Wide ScoreOf(std::size_t u) const { return layout_.ScoreAt(u, layout_.At(u)); }

  // What a unit loses at least if it has to leave its memory; none if it must be placed there.
  [[nodiscard]] std::optional<std::int64_t> LossOf(std::size_t u) const {
    if (layout_.IsOut(u)) return 0;
    Wide least = layout_.ScoreOut(u);
    for (const Layout::Way& way : layout_.ways(u)) {
      if (way.memory != layout_.At(u).memory) least = std::min(least, Wide(way.least));
    }
    const PlanCost cost = layout_.CostOfScore(least);
    if (cost.unplaced > 0) return std::nullopt;
    return cost.cost - layout_.CostOfScore(ScoreOf(u)).cost;
  }

  // Of a memory, with its reserved ranges; as far as steps are those of the table.
  [[nodiscard]] Load LoadOf(std::size_t m) const {
    std::vector<std::pair<Step, Bytes>> changes;
    const std::vector<Buffer>& table = model_.tables[m].problem.buffers;
    for (std::size_t u = 0; u < table.size(); ++u) {
      const bool unit = u < model_.units.size();
      if (unit && layout_.At(u).memory != static_cast<int>(m)) continue;
      ForEachLivePiece(table[u], [&](const LivePiece& piece) {
        changes.emplace_back(piece.start, piece.upper - piece.lower);
        changes.emplace_back(piece.end, piece.lower - piece.upper);
      });
    }
    std::sort(changes.begin(), changes.end());
    Load load;
    Bytes used = 0;
    for (std::size_t i = 0; i < changes.size();) {
      const Step step = changes[i].first;
      for (; i < changes.size() && changes[i].first == step; ++i) used += changes[i].second;
      load.steps.push_back(step);
      load.used.push_back(used);
    }
    return load;
  }

  [[nodiscard]] const Layout::Way* WayTo(std::size_t u, std::size_t m) const {
    for (const Layout::Way& way : layout_.ways(u)) {
      if (way.memory == static_cast<int>(m)) return &way;
    }
    return nullptr;
  }
  // What the unit costs in a memory, also where that is too small for it.
  [[nodiscard]] std::optional<std::int64_t> LeastIn(std::size_t u, std::size_t m) const {
    if (const Layout::Way* const way = WayTo(u, m)) return way->least;
    std::int64_t sum = 0;
    for (const std::size_t b : model_.units[u].buffers) {
      const auto cost = CostIn(problem_, b, m, std::nullopt);
      if (!cost) return std::nullopt;
      sum += *cost;
    }
    return sum;
  }

  // Every unit with every memory where it would cost less, the first `most`.
  [[nodiscard]] std::vector<Wish> Wishes(std::size_t most) const {
    std::vector<std::pair<Wide, Wish>> all;
    for (std::size_t u = 0; u < model_.units.size(); ++u) {
      const Wide now = ScoreOf(u);
      const PlanCost cost = layout_.CostOfScore(now);
      for (std::size_t m = 0; m < problem_.memories.size(); ++m) {
        const auto least = LeastIn(u, m);
        if (layout_.At(u).memory == static_cast<int>(m) || !least || Wide(*least) >= now) continue;
        Displaced each;
        each.buffers = model_.units[u].buffers;
        if (!layout_.IsOut(u)) each.memory = static_cast<std::size_t>(layout_.At(u).memory);
        each.cheaper = m;
        each.must = cost.unplaced > 0;
        each.cost = each.must ? 0 : cost.cost;
        each.least = *least;
        all.emplace_back(now - Wide(*least), Wish{u, std::move(each)});
      }
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<Wish> wishes;
    for (std::size_t i = 0; i < std::min(most, all.size()); ++i) {
      wishes.push_back(std::move(all[i].second));
    }
    return wishes;
  }

  // The step at which the least is left for the unit, and how much.
  void FindStep(std::size_t u, Displaced& each) const {
    const std::optional<Bytes>& capacity = problem_.memories[each.cheaper].capacity;
    if (!capacity) return;
    const Load& load = loads_[each.cheaper];
    ForEachLivePiece(model_.tables[each.cheaper].problem.buffers[u], [&](const LivePiece& piece) {
      const Bytes bytes = piece.upper - piece.lower;
      const auto offer = [&](Step step, Bytes used) {
        if (each.step && *capacity - used - bytes >= each.free - each.needed) return;
        each.step = step;
        each.free = *capacity - used;
        each.needed = bytes;
      };
      const Step end = std::min(piece.end, end_);
      if (piece.start >= end) return;
      auto at = std::upper_bound(load.steps.begin(), load.steps.end(), piece.start);
      auto i = static_cast<std::size_t>(at - load.steps.begin());
      offer(piece.start, i == 0 ? 0 : load.used[i - 1]);
      for (; i < load.steps.size() && load.steps[i] < end; ++i) offer(load.steps[i], load.used[i]);
    });
  }

  void Explain(std::size_t u, Displaced& each) {
    const Layout::Way* const way = WayTo(u, each.cheaper);
    places_.clear();
    if (way != nullptr) layout_.FindPlaces(u, *way, ScoreOf(u), weight_, 1, places_);
    if (places_.empty()) {
      each.reason = DisplacedBy::kMemory;
      layout_.Forget(u);
      return;
    }
    FindStep(u, each);
    const Spot& spot = places_.front().spot;
    layout_.FindBlockers(u, spot, blockers_);
    layout_.Forget(u);
    each.offset = spot.offset;
    each.saved = 0;
    for (const std::size_t v : blockers_) {
      const std::vector<std::size_t>& buffers = model_.units[v].buffers;
      each.in_the_way.insert(each.in_the_way.end(), buffers.begin(), buffers.end());
      const auto loss = LossOf(v);
      each.saved = each.saved && loss ? std::optional(*each.saved + *loss) : std::nullopt;
    }
    std::sort(each.in_the_way.begin(), each.in_the_way.end());
    each.reason = blockers_.empty()                      ? DisplacedBy::kNothing
                  : each.step && each.free < each.needed ? DisplacedBy::kBytes
                                                         : DisplacedBy::kPlaces;
  }

  const MemoryProblem& problem_;
  const Model& model_;
  Layout layout_;
  std::vector<double> weight_;  // By unit: what it loses at least if it leaves its memory.
  std::vector<Load> loads_;     // By memory.
  Step end_ = -kMaxStep;        // Of the last buffer.
  std::vector<Candidacy> places_;
  std::vector<std::size_t> blockers_;
};

}  // namespace
}  // namespace internal::memories

std::string_view ToString(DisplacedBy reason) {
  switch (reason) {
    case DisplacedBy::kMemory:
      return "memory";
    case DisplacedBy::kBytes:
      return "bytes";
    case DisplacedBy::kPlaces:
      return "places";
    case DisplacedBy::kNothing:
      return "nothing";
  }
  BERTH_CHECK(false);
}

Result<std::vector<Displaced>> FindDisplaced(const MemoryProblem& problem, const MemoryPlan& plan,
                                             std::size_t most) {
  const internal::memories::Model model = BERTH_TRY(internal::memories::Compile(problem));
  return internal::memories::Finder(problem, model, plan).Find(most);
}

}  // namespace berth
