#include "recompute/gaps.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "base/arithmetic.h"
#include "base/wide.h"
#include "memories/gap_selection.h"

namespace berth::internal::recompute {
namespace {

constexpr std::size_t kMostNeeds = 4'000'000;
// Of the choice: states of sweeps.
constexpr std::int64_t kNodesOfQuick = 2'000;
constexpr std::int64_t kNodesOfUsual = 2'000'000;
constexpr std::int64_t kNodesOfProof = 8'000'000;
constexpr std::size_t kWidthOfQuick = 64;
// Of the time that is left: others follow.
constexpr double kShareOfUsual = 0.1;

// Whether one of these steps, which are sorted, lies in the gap.
[[nodiscard]] bool IsWithin(const std::vector<std::size_t>& steps, const Gap& gap) {
  const auto first = std::upper_bound(steps.begin(), steps.end(), gap.from);
  return first != steps.end() && *first < gap.to;
}

}  // namespace

Gaps::Gaps(const Model& model, const std::vector<Op>& order, Bytes capacity, std::size_t most_bytes)
    : steps_(order.size()), most_bytes_(most_bytes) {
  struct Use {
    std::uint32_t step = 0;
    std::int32_t leaves = 0;
    bool any = false;
  };
  std::vector<Use> latest(model.storages.size());
  // Changes of the bytes that must be in memory, from one step to the next.
  std::vector<Bytes> fixed(steps_ + 1, 0);
  const auto hold = [&](Storage s, std::size_t first, std::size_t last) {
    if (first >= last) return;
    fixed[first] += model.storages[s].size;
    fixed[last] -= model.storages[s].size;
  };
  const auto pass = [&](Storage s, std::uint32_t to) {
    const StorageInfo& info = model.storages[s];
    const Use& use = latest[s];
    if (info.size == 0 || use.step + 1 >= to) return;
    if (!model.MayDrop(s, use.leaves)) {
      hold(s, use.step + 1, to);
      return;
    }
    gaps_.push_back({s, use.step, to, use.leaves});
  };
  for (std::uint32_t step = 0; step < steps_; ++step) {
    for (const Touch& touch : model.TouchesOf(order[step])) {
      Use& use = latest[touch.storage];
      // Given storages are there from the start, if they cannot come in later.
      const bool waits = !model.MayCopy(touch.storage) && !use.any;
      if (waits && touch.finds != kMakes) hold(touch.storage, 0, step);
      if (use.any) pass(touch.storage, step);
      hold(touch.storage, step, step + 1);
      use = {step, touch.leaves, true};
    }
  }
  for (Storage s = 0; s < model.storages.size(); ++s) {
    const bool stays = model.storages[s].result && !model.MayCopy(s);
    if (stays && latest[s].any) pass(s, static_cast<std::uint32_t>(steps_));
  }
  std::stable_sort(gaps_.begin(), gaps_.end(),
                   [](const Gap& a, const Gap& b) { return a.storage < b.storage; });
  for (const Gap& gap : gaps_) {
    size_.push_back(model.storages[gap.storage].size);
    ends_.push_back(gap.to);
  }
  Bytes held = model.always_live;
  for (std::size_t step = 0; step < steps_; ++step) {
    held += fixed[step];
    room_.push_back(capacity - held);
  }
  full_ = FullSteps();
  FindNeeds(model, order);
}

std::vector<std::size_t> Gaps::FullSteps() const {
  std::vector<Bytes> load(steps_ + 1, 0);
  for (std::size_t g = 0; g < gaps_.size(); ++g) {
    load[gaps_[g].from + 1] += size_[g];
    load[gaps_[g].to] -= size_[g];
  }
  std::vector<std::size_t> full;
  Bytes live = 0;
  for (std::size_t step = 0; step < steps_; ++step) {
    live += load[step];
    if (live > room_[step]) full.push_back(step);
  }
  return full;
}

std::vector<std::size_t> Gaps::LikelyGaps() const {
  std::vector<std::size_t> likely;
  for (std::size_t g = 0; g < gaps_.size(); ++g) {
    if (IsWithin(full_, gaps_[g])) likely.push_back(g);
  }
  return likely;
}

// What may also be copied, or needs too many operators, shares no operator.
void Gaps::FindNeeds(const Model& model, const std::vector<Op>& order) {
  if (!model.linked) {
    const LostMakers makers(model);
    std::vector<std::uint32_t> step_of(order.size());
    for (std::uint32_t step = 0; step < order.size(); ++step) step_of[order[step]] = step;
    for (const std::size_t g : LikelyGaps()) {
      if (needs_.size() > kMostNeeds) break;
      AddNeeds(model, makers, g, step_of);
    }
    if (needs_.size() <= kMostNeeds) {
      repeats_ = FindRepeats(model, gaps_, needs_);
      return;
    }
    needs_ = {};
  }
  repeats_ = PricesByShares(model);
  if (model.linked) ShareCopiesOut(model);
}

// Where no operator of a storage may run again, each dropped gap pays a copy back of its own, and those of one
// version pay for its copy out together.
void Gaps::ShareCopiesOut(const Model& model) {
  const std::vector<std::size_t> likely = LikelyGaps();
  only_copied_.assign(gaps_.size(), 0);
  for (std::size_t first = 0, last = 0; first < likely.size(); first = last) {
    const Gap& gap = gaps_[likely[first]];
    while (last < likely.size() && gaps_[likely[last]].storage == gap.storage &&
           gaps_[likely[last]].version == gap.version) {
      ++last;
    }
    const StorageInfo& info = model.storages[gap.storage];
    if (std::any_of(info.chain.begin(), info.chain.end(),
                    [&](Op v) { return model.may_repeat[v] != 0; })) {
      continue;
    }
    const std::vector<std::size_t> together(likely.begin() + static_cast<std::ptrdiff_t>(first),
                                            likely.begin() + static_cast<std::ptrdiff_t>(last));
    for (const std::size_t g : together) {
      only_copied_[g] = 1;
      repeats_.price[g] = info.in_cost;
    }
    const std::int64_t out = info.OutCost(gap.version);
    if (together.size() == 1) {
      repeats_.price[together.front()] += out;
    } else if (out > 0) {
      repeats_.shared.push_back({together, out});
    }
  }
}

// The operators that make the version of a gap, and those that make what these no longer find.
void Gaps::AddNeeds(const Model& model, const LostMakers& makers, std::size_t g,
                    const std::vector<std::uint32_t>& step_of) {
  const Gap& gap = gaps_[g];
  const std::vector<Op>& chain = model.storages[gap.storage].chain;
  for (std::size_t k = 0; k <= static_cast<std::size_t>(gap.version); ++k) {
    needs_.push_back({g, chain[k], gap.from, true});
  }
  const Losses losses = makers.Of(
      gap.storage, gap.version, [&](Op u, Op v) { return step_of[u] < step_of[v]; },
      [&](Op v) { return step_of[v] <= gap.Latest(); });
  const auto last_of = [&](const std::vector<Op>& ops) {
    std::uint32_t last = gap.from;
    for (const Op v : ops) last = std::max(last, step_of[v]);
    return last;
  };
  for (const std::vector<Op>& after : losses.stays) Stay(g, last_of(after) + 1);
  for (const LostMaker& maker : losses.makers) {
    const std::uint32_t after = last_of(maker.after);
    std::optional<std::uint32_t> since;
    if (maker.by != kNoOp) since = step_of[maker.by];
    needs_.push_back({g, maker.op, after, false, since});
  }
}

void Gaps::Stay(std::size_t g, std::uint32_t from) {
  for (std::size_t step = from; step < ends_[g]; ++step) room_[step] -= size_[g];
  ends_[g] = std::min(ends_[g], from);
}

bool Gaps::IsOnlyCopied(std::size_t gap) const {
  return !only_copied_.empty() && only_copied_[gap] != 0;
}

bool Gaps::Covers(std::size_t gap, Op v) const {
  const auto first = std::lower_bound(needs_.begin(), needs_.end(), gap,
                                      [](const Need& need, std::size_t g) { return need.gap < g; });
  for (auto need = first; need != needs_.end() && need->gap == gap; ++need) {
    if (need->op == v) return true;
  }
  return false;
}

// An operator's cost is shared by the storages whose gaps may have to be dropped, by size: all that one
// execution can bring back. With a link each gap that is dropped pays at most the copy back of some
// version, its part of the copy out, which serves all gaps of that version and of later ones, and the
// operators that make the later version of it.
Repeats Gaps::PricesByShares(const Model& model) const {
  // By storage, the gaps that may have to be dropped by version.
  std::vector<std::vector<std::int64_t>> needed(model.storages.size());
  for (const std::size_t g : LikelyGaps()) {
    std::vector<std::int64_t>& counts = needed[gaps_[g].storage];
    const auto version = static_cast<std::size_t>(gaps_[g].version);
    if (counts.size() <= version) counts.resize(version + 1, 0);
    ++counts[version];
  }
  std::vector<Wide> shares(model.num_operators(), 0);
  for (Storage s = 0; s < model.storages.size(); ++s) {
    const StorageInfo& info = model.storages[s];
    if (info.given) continue;
    for (std::size_t k = 0; k < needed[s].size(); ++k) shares[info.chain[k]] += info.size;
  }
  Repeats repeats;
  // Of the storage of the gaps at hand: they come by storage.
  std::vector<std::int64_t> price;
  std::optional<Storage> current;
  for (const Gap& gap : gaps_) {
    if (gap.storage != current) {
      current = gap.storage;
      price = PricesOf(model, gap.storage, needed[gap.storage], shares);
    }
    const auto version = static_cast<std::size_t>(gap.version);
    repeats.after.push_back(gap.from);
    repeats.price.push_back(price.empty() ? 0 : price[std::min(version, price.size() - 1)]);
  }
  return repeats;
}

// By version: the least that a dropped gap of `s` costs. `counts`: gaps by version.
std::vector<std::int64_t> Gaps::PricesOf(const Model& model, Storage s,
                                         const std::vector<std::int64_t>& counts,
                                         const std::vector<Wide>& shares) {
  const StorageInfo& info = model.storages[s];
  std::vector<std::int64_t> prices;
  std::int64_t later = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  std::int64_t made = 0;    // By its chain.
  std::int64_t copied = 0;  // By a copy of this version, or of one before and its writers.
  for (std::size_t k = 0; k < counts.size(); ++k) {
    std::int64_t step = 0;
    if (!info.given) {
      const Op v = info.chain[k];
      step = static_cast<std::int64_t>(Wide{model.cost[v]} * info.size / shares[v]);
    }
    const auto version = static_cast<std::int32_t>(k);
    const std::int64_t out =
        info.given ? 0 : info.OutCost(version) / std::max<std::int64_t>(later, 1);
    const std::int64_t now = info.in_cost + out;
    copied = k == 0 ? now : std::min(now, copied + step);
    made += step;
    const bool again = version <= info.again;
    prices.push_back(!model.MayCopy(s) ? made : again ? std::min(made, copied) : copied);
    later -= counts[k];
  }
  return prices;
}

bool Gaps::fits_at_all() const {
  return std::all_of(room_.begin(), room_.end(), [](Bytes room) { return room >= 0; });
}

bool Gaps::IsAnyLate() const {
  for (std::size_t g = 0; g < gaps_.size(); ++g) {
    if (repeats_.after[g] > gaps_[g].from) return true;
  }
  return false;
}

// The first section at `step` or later.
std::size_t Gaps::SectionFrom(std::size_t step) const {
  return static_cast<std::size_t>(std::lower_bound(full_.begin(), full_.end(), step) -
                                  full_.begin());
}

std::vector<Bytes> Gaps::RoomOfSections(const std::vector<Bytes>& room) const {
  std::vector<Bytes> rooms;
  rooms.reserve(full_.size());
  for (const std::size_t step : full_) rooms.push_back(room[step]);
  return rooms;
}

std::vector<memories::PricedGap> Gaps::PricedGaps(const Repeats& repeats,
                                                  const std::vector<std::int64_t>& extra,
                                                  Count count) const {
  std::vector<memories::PricedGap> gaps;
  gaps.reserve(gaps_.size());
  for (std::size_t g = 0; g < gaps_.size(); ++g) {
    const std::int64_t more = extra.empty() ? 0 : extra[g];
    const std::uint32_t from = count == Count::kWhenPaid ? repeats.after[g] : gaps_[g].from;
    gaps.push_back({SectionFrom(from + 1), std::max(SectionFrom(from + 1), SectionFrom(ends_[g])),
                    size_[g], repeats.price[g] + more});
  }
  return gaps;
}

memories::GapSelection::Answer Gaps::ChooseFor(const memories::GapSelection& selection, Depth depth,
                                               Budget& budget) const {
  Budget part(budget, depth == Depth::kUsual ? kShareOfUsual : 1);
  const std::int64_t nodes = depth == Depth::kQuick   ? kNodesOfQuick
                             : depth == Depth::kUsual ? kNodesOfUsual
                                                      : kNodesOfProof;
  part.SetNodeLimit(std::min(nodes, part.node_limit()));
  memories::ChooseLimits limits;
  limits.most_bytes = most_bytes_;
  if (depth == Depth::kQuick) {
    limits.covers = false;
    limits.width = kWidthOfQuick;
  }
  return selection.Choose(limits, std::numeric_limits<std::int64_t>::max(), part);
}

Gaps::Answer Gaps::Choose(const std::vector<std::int64_t>& extra, Depth depth, Count count,
                          Budget& budget) const {
  if (depth == Depth::kProof) count = Count::kWhenPaid;
  const memories::GapSelection selection(PricedGaps(repeats_, extra, count), repeats_.shared,
                                         RoomOfSections(room_),
                                         /*tight=*/depth == Depth::kProof);
  Answer answer;
  answer.kept.assign(gaps_.size(), 1);
  if (selection.empty()) return answer;
  if (selection.IsTooLarge()) {
    answer.kept = ChooseGreedily(extra, &budget);
    return answer;
  }
  memories::GapSelection::Answer chosen = ChooseFor(selection, depth, budget);
  if (depth == Depth::kProof) answer.bound = chosen.bound;
  answer.kept = chosen.kept ? std::move(*chosen.kept) : ChooseGreedily(extra, &budget);
  // Nothing brings these back right before they are needed.
  for (std::size_t g = 0; g < gaps_.size(); ++g) {
    if (ends_[g] < gaps_[g].to) answer.kept[g] = 1;
  }
  return answer;
}

Gaps::Branch Gaps::BranchOf(const std::vector<Decision>& decisions) const {
  Branch branch{ends_, MissingAfter(gaps_.size())};
  for (const Decision& each : decisions) {
    if (each.missing) {
      branch.missing_after[each.gap] = each.step;
    } else {
      branch.ends[each.gap] = each.step + 1;
    }
  }
  return branch;
}

std::optional<Gaps::Answer> Gaps::ProveIn(const Branch& branch, const Model& model,
                                          Budget& budget) const {
  Repeats repeats = FindRepeats(model, gaps_, needs_, branch.missing_after);
  std::vector<Bytes> room = room_;
  std::vector<memories::PricedGap> gaps = PricedGaps(repeats, {}, Count::kWhenPaid);
  Answer answer;
  for (std::size_t g = 0; g < gaps_.size(); ++g) {
    for (std::size_t step = branch.ends[g]; step < ends_[g]; ++step) room[step] -= size_[g];
    gaps[g].last = std::max(gaps[g].first, SectionFrom(branch.ends[g]));
    if (!branch.missing_after[g]) continue;
    gaps[g].last = gaps[g].first;
    answer.bound += repeats.price[g];
  }
  if (std::any_of(full_.begin(), full_.end(), [&](std::size_t step) { return room[step] < 0; })) {
    return std::nullopt;
  }
  std::erase_if(repeats.shared, [&](const memories::SharedPrice& shared) {
    const bool paid = std::any_of(shared.gaps.begin(), shared.gaps.end(), [&](std::size_t g) {
      return branch.missing_after[g].has_value();
    });
    if (paid) answer.bound += shared.price;
    return paid;
  });
  const memories::GapSelection selection(std::move(gaps), repeats.shared, RoomOfSections(room),
                                         /*tight=*/true);
  answer.kept.assign(gaps_.size(), 1);
  if (!selection.empty() && !selection.IsTooLarge()) {
    memories::GapSelection::Answer chosen = ChooseFor(selection, Depth::kProof, budget);
    answer.bound += chosen.bound;
    if (chosen.kept) answer.kept = std::move(*chosen.kept);
  }
  for (std::size_t g = 0; g < gaps_.size(); ++g) {
    if (branch.missing_after[g]) answer.kept[g] = 0;
  }
  return answer;
}

// What gaps pay together they share by size here.
std::vector<char> Gaps::ChooseGreedily(const std::vector<std::int64_t>& extra,
                                       const Budget* budget) const {
  std::vector<std::int64_t> prices = repeats_.price;
  for (std::size_t g = 0; g < extra.size(); ++g) prices[g] += extra[g];
  for (const memories::SharedPrice& repeat : repeats_.shared) {
    Wide total = 0;
    for (const std::size_t g : repeat.gaps) total += size_[g];
    for (const std::size_t g : repeat.gaps) {
      prices[g] += static_cast<std::int64_t>(Wide{repeat.price} * size_[g] / total);
    }
  }
  std::vector<std::size_t> order(gaps_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto worth = [&](std::size_t g) {
    const auto steps = static_cast<double>(gaps_[g].to - gaps_[g].from - 1);
    return (static_cast<double>(prices[g]) + 1) / (static_cast<double>(size_[g]) * steps);
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return worth(a) > worth(b); });
  std::vector<Bytes> left = room_;
  std::vector<char> kept(gaps_.size(), 0);
  std::size_t looked = 0;
  for (const std::size_t g : order) {
    constexpr std::size_t kGapsPerLook = 64;
    if (++looked % kGapsPerLook == 0 && budget != nullptr && budget->TimeIsUp()) break;
    const auto first = left.begin() + static_cast<std::ptrdiff_t>(gaps_[g].from) + 1;
    const auto last = left.begin() + static_cast<std::ptrdiff_t>(ends_[g]);
    if (std::any_of(first, last, [&](Bytes bytes) { return bytes < size_[g]; })) continue;
    std::for_each(first, last, [&](Bytes& bytes) { bytes -= size_[g]; });
    kept[g] = 1;
  }
  return kept;
}

}  // namespace berth::internal::recompute
