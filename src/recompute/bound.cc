#include "recompute/bound.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "base/wide.h"
#include "recompute/gaps.h"
#include "recompute/lost.h"
#include "recompute/sequence.h"
#include "schedule/cut.h"
#include "schedule/instance.h"
#include "schedule/precedence.h"

namespace berth::internal::recompute {
namespace {

// Weights are integers: costs times a power of two, rounded down, with a sum that fits a cut.
constexpr int kBitsOfSum = 58;
// More operators than this would need too much memory for their order.
constexpr std::size_t kMostOperators = 20'000;
constexpr std::size_t kMostOperatorsTried = 48;
// Steps of the known order where the most has to be made again: the others are not looked at.
constexpr std::size_t kMostSteps = 1024;
constexpr int kPriceSteps = 12;
// Later versions of a storage cost no more than this one.
constexpr std::size_t kMostLevels = 8;

// Of what must run again with a storage: what it has a part of.
enum class Pays : char { kNothing, kWrittenOver, kAll };

class Bounder {
 public:
  // `pays`: by storage.
  Bounder(const Model& model, Bytes capacity, const std::vector<Op>& order,
          const std::vector<Pays>& pays, Work& work, Budget& budget)
      : model_(model),
        capacity_(capacity),
        order_(order),
        work_(work),
        budget_(budget),
        precedence_(schedule::MakeInstance(model.num_operators(), 0, Edges(), {})),
        all_lost_(model) {
    FindLost(pays);
    part_of_.assign(model.storages.size(), 0);
    std::vector<schedule::FlowBuffer> buffers;
    for (Storage s = 0; s < model.storages.size(); ++s) {
      if (model.storages[s].size > 0) AddParts(s, buffers);
    }
    AddConsumers(buffers);
    instance_ = schedule::MakeInstance(model.num_operators(), 0, Edges(), std::move(buffers));
    counts_.assign(model.storages.size(), 0);
    double costs = 1;
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      if (parts_[p].cost != kMustStay) costs += static_cast<double>(parts_[p].cost);
      for (const Extra& extra : extras_[p]) {
        if (extra.cost != kMustStay) costs += static_cast<double>(extra.cost);
      }
    }
    factor_ = std::floor(std::ldexp(1.0, kBitsOfSum - 2) / costs);
    factor_ = std::max(factor_, 1.0);
    FindLive();
  }

  [[nodiscard]] bool loses_any() const {
    return std::any_of(lost_.begin(), lost_.end(),
                       [](const auto& lost) { return !lost.empty(); }) ||
           std::any_of(stays_.begin(), stays_.end(),
                       [](const auto& stays) { return !stays.empty(); });
  }
  CutAnswer Run(std::int64_t upper) {
    CutAnswer answer;
    answer.infeasible = IsInfeasible();
    if (answer.infeasible) return answer;
    while (answer.bound < upper && !Ended()) {
      best_ = 0;
      TryOperators();
      if (best_ == 0) break;
      answer.bound = std::min(answer.bound + best_, kMostCost);
      Count(best_operator_);
    }
    return answer;
  }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  static constexpr std::int64_t kMustStay = std::numeric_limits<std::int64_t>::max();

  [[nodiscard]] bool Ended() const { return work_.spent() || budget_.TimeIsUp(); }

  [[nodiscard]] std::vector<std::pair<schedule::Op, schedule::Op>> Edges() const {
    std::vector<std::pair<schedule::Op, schedule::Op>> edges;
    for (Op v = 0; v < model_.num_operators(); ++v) {
      for (const Op u : model_.predecessors[v]) edges.emplace_back(u, v);
    }
    return edges;
  }

  // A storage once its version `level` is there. While it is live in this version or a later one,
  // having it again costs at least `cost`, which includes that of the part before: its rent at a
  // price for each byte is paid by all of its parts together.
  struct Part {
    Storage storage = 0;
    std::int32_t level = 0;
    std::int64_t cost = 0;
  };
  // Once all of `after` have run, having the version of a part again costs so much more, or is impossible.
  struct Extra {
    std::vector<Op> after;
    std::int64_t cost = 0;
  };

  // What must run again with each storage, in every order, because of what has been written over.
  void FindLost(const std::vector<Pays>& pays) {
    all_sizes_.assign(model_.num_operators(), 0);
    lost_.resize(model_.storages.size());
    stays_.resize(model_.storages.size());
    for (Storage s = 0; s < model_.storages.size(); ++s) {
      const StorageInfo& info = model_.storages[s];
      for (const Op v : info.chain) all_sizes_[v] += Writes(v, s) ? info.size : 0;
      if (info.given || info.size == 0) continue;
      for (std::size_t level = 0; level < std::min(info.chain.size(), kMostLevels); ++level) {
        AddLost(s, static_cast<std::int32_t>(level), pays[s]);
      }
    }
  }
  void AddLost(Storage s, std::int32_t level, Pays pays) {
    std::vector<Lost>& lost = lost_[s];
    Losses losses = all_lost_.Of(
        s, level, [&](Op u, Op v) { return precedence_.Precedes(u, v); },
        [&](Op u) { return !IsOver(s, u); });
    for (std::vector<Op>& after : losses.stays) stays_[s].push_back({std::move(after), level});
    for (const LostMaker& maker : losses.makers) {
      const bool known = std::any_of(lost.begin(), lost.end(),
                                     [&](const Lost& other) { return other.maker.op == maker.op; });
      if (known || pays == Pays::kNothing) continue;
      if (pays == Pays::kWrittenOver && !maker.written_over) continue;
      lost.push_back({maker, level});
      all_sizes_[maker.op] += model_.storages[s].size;
    }
  }
  // Whether `s` is live no more, in every order, once `v` has run.
  [[nodiscard]] bool IsOver(Storage s, Op v) const {
    const std::vector<Op>& users = all_lost_.UsersOf(s);
    return !model_.storages[s].result && std::all_of(users.begin(), users.end(), [&](Op u) {
      return u == v || precedence_.Precedes(u, v);
    });
  }
  // Whether `v` makes or writes `s` each time it runs.
  [[nodiscard]] bool Writes(Op v, Storage s) const {
    const auto touches = model_.TouchesOf(v);
    return std::any_of(touches.begin(), touches.end(), [&](const Touch& touch) {
      return touch.storage == s && touch.finds != touch.leaves && !touch.only_first;
    });
  }

  void AddParts(Storage s, std::vector<schedule::FlowBuffer>& buffers) {
    const StorageInfo& info = model_.storages[s];
    part_of_[s] = parts_.size();
    std::int64_t made = 0;
    const auto levels = info.given ? std::size_t{1} : std::min(info.chain.size(), kMostLevels);
    for (std::size_t level = 0; level < levels; ++level) {
      Part part{s, static_cast<std::int32_t>(level), kMustStay};
      if (!info.given) made += Share(s, info.chain[level]);
      if (part.level <= info.again) part.cost = made;
      if (model_.linked) {
        // A copy back and one out, which is free of what is given and of results.
        part.cost =
            std::min(part.cost, info.in_cost + (info.given || info.result ? 0 : info.out_cost));
      }
      schedule::FlowBuffer buffer;
      // With a link given storages come in at their first use, and results leave after their last.
      buffer.to_end = info.result && !model_.linked;
      if (info.given) {
        buffer.from_start = !model_.linked;
      } else {
        buffer.creators = {info.chain[level]};
      }
      parts_.push_back(part);
      extras_.emplace_back();
      for (const Lost& lost : lost_[s]) {
        if (lost.level > part.level) continue;
        extras_.back().push_back(
            {AfterMaking(lost.maker.after, info, level), Share(s, lost.maker.op)});
      }
      for (const Stays& stays : stays_[s]) {
        if (stays.level > part.level) continue;
        extras_.back().push_back({AfterMaking(stays.after, info, level), kMustStay});
      }
      buffers.push_back(std::move(buffer));
      if (part.cost == kMustStay) break;
    }
  }

  // Without those that have run in any case once the version is there.
  [[nodiscard]] std::vector<Op> AfterMaking(std::vector<Op> after, const StorageInfo& info,
                                            std::size_t level) const {
    const Op maker = info.chain[level];
    std::erase_if(after, [&](Op u) { return u == maker || precedence_.Precedes(u, maker); });
    return after;
  }

  // Those that find the version of a part or a later one. While one of them is still to run, all
  // earlier versions have been written over, as writes wait for those who read before.
  void AddConsumers(std::vector<schedule::FlowBuffer>& buffers) const {
    for (Op v = 0; v < model_.num_operators(); ++v) {
      for (const Touch& touch : model_.TouchesOf(v)) {
        if (touch.finds == kMakes) continue;
        ForEachPart(touch.storage, touch.finds, [&](std::size_t p) {
          buffers[p].consumers.push_back(v);
          if (model_.linked && model_.storages[touch.storage].given) {
            buffers[p].creators.push_back(v);
          }
        });
      }
    }
    // A storage without users is live in its maker's step alone.
    for (schedule::FlowBuffer& buffer : buffers) {
      if (buffer.consumers.empty() && !buffer.to_end) buffer.consumers = buffer.creators;
    }
  }

  // Calls `visit` with the parts of `s` through version `last`.
  template <typename Visit>
  void ForEachPart(Storage s, std::int32_t last, Visit visit) const {
    for (std::size_t p = part_of_[s];
         p < parts_.size() && parts_[p].storage == s && parts_[p].level <= last; ++p) {
      visit(p);
    }
  }

  // The part, by size, that `s` has of what `v` costs, among the storages that it makes or writes or
  // must run again with.
  [[nodiscard]] std::int64_t Share(Storage s, Op v) const {
    if (all_sizes_[v] == 0) return 0;
    return static_cast<std::int64_t>(Wide{model_.cost[v]} * model_.storages[s].size /
                                     all_sizes_[v]);
  }

  // By part: what it costs to have it again after `v`.
  [[nodiscard]] const std::vector<std::int64_t>& CostsAt(Op v) {
    if (costs_at_ == v) return costs_;
    costs_at_ = v;
    costs_.resize(parts_.size());
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      costs_[p] = parts_[p].cost;
      if (costs_[p] == kMustStay) continue;
      for (const Extra& extra : extras_[p]) {
        const bool over = std::all_of(extra.after.begin(), extra.after.end(),
                                      [&](Op u) { return precedence_.Precedes(u, v); });
        work_.left -= static_cast<std::int64_t>(extra.after.size());
        if (!over) continue;
        if (extra.cost == kMustStay) {
          costs_[p] = kMustStay;
          break;
        }
        costs_[p] += extra.cost;
      }
    }
    return costs_;
  }

  // When each storage is live in the known order, and the steps at which not all of them fit, those
  // with the largest excess first.
  void FindLive() {
    first_.assign(parts_.size(), kNone);
    last_.assign(parts_.size(), 0);
    for (std::size_t step = 0; step < order_.size(); ++step) {
      for (const Touch& touch : model_.TouchesOf(order_[step])) {
        if (model_.storages[touch.storage].size == 0) continue;
        const bool waits = model_.storages[touch.storage].given && !model_.linked;
        ForEachPart(touch.storage, std::max(touch.finds, touch.leaves), [&](std::size_t p) {
          if (first_[p] == kNone) first_[p] = waits ? 0 : step;
          if (parts_[p].level <= touch.finds || first_[p] == step) last_[p] = step;
        });
      }
    }
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      if (instance_.buffers[p].to_end) last_[p] = order_.size() - 1;
    }
    steps_ = FullSteps([&](std::size_t p) {
      return parts_[p].level == 0 ? model_.storages[parts_[p].storage].size : 0;
    });
  }

  // The steps at which the bytes of live storages exceed the capacity: of each part `size(p)`, or all that an
  // operator needs of what it touches.
  template <typename Size>
  [[nodiscard]] std::vector<std::size_t> FullSteps(Size size) const {
    std::vector<Bytes> change(order_.size() + 1, 0);
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      if (first_[p] == kNone) continue;
      change[first_[p]] += size(p);
      change[last_[p] + 1] -= size(p);
    }
    std::vector<std::pair<Bytes, std::size_t>> full;  // Excess, step.
    Bytes live = model_.always_live;
    for (std::size_t step = 0; step < order_.size(); ++step) {
      live += change[step];
      Bytes needed = live - model_.always_live + model_.NeedOf(order_[step]);
      for (const Touch& touch : model_.TouchesOf(order_[step])) {
        if (model_.storages[touch.storage].size == 0) continue;
        ForEachPart(touch.storage, std::max(touch.finds, touch.leaves), [&](std::size_t p) {
          if (first_[p] <= step && step <= last_[p]) needed -= size(p);
        });
      }
      if (needed > capacity_) full.emplace_back(needed - capacity_, step);
    }
    std::stable_sort(full.begin(), full.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    if (full.size() > kMostSteps) full.resize(kMostSteps);
    std::vector<std::size_t> steps;
    steps.reserve(full.size());
    for (const auto& [excess, step] : full) steps.push_back(step);
    return steps;
  }

  // Marks the parts that are in memory because `v` touches their storages.
  [[nodiscard]] std::vector<char> TouchedBy(Op v) const {
    std::vector<char> touched(parts_.size(), 0);
    for (const Touch& touch : model_.TouchesOf(v)) {
      if (model_.storages[touch.storage].size == 0) continue;
      ForEachPart(touch.storage, touch.leaves, [&](std::size_t p) { touched[p] = 1; });
    }
    return touched;
  }

  // In the known order, the best price and the bound that it would give at `step`.
  struct Guess {
    std::size_t step = 0;
    double price = 0;
    double value = 0;
  };
  [[nodiscard]] Guess GuessAt(std::size_t step) {
    const Op v = order_[step];
    double excess = -static_cast<double>(capacity_ - model_.NeedOf(v));
    std::vector<std::pair<double, std::size_t>> ratios;
    const std::vector<char> touched = TouchedBy(v);
    const std::vector<std::int64_t>& costs = CostsAt(v);
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      const Part& part = parts_[p];
      const auto live = [&](std::size_t q) {
        return q < parts_.size() && parts_[q].storage == part.storage && first_[q] <= step &&
               step <= last_[q];
      };
      if (!live(p) || live(p + 1) || touched[p] != 0 || counts_[part.storage] != 0) continue;
      const auto size = static_cast<double>(model_.storages[part.storage].size);
      excess += size;
      if (costs[p] != kMustStay) ratios.emplace_back(static_cast<double>(costs[p]) / size, p);
    }
    Guess guess{step, 0, 0};
    if (excess <= 0) return guess;
    std::sort(ratios.begin(), ratios.end());
    for (const auto& [ratio, p] : ratios) {
      const auto size = static_cast<double>(model_.storages[parts_[p].storage].size);
      guess.price = ratio;
      guess.value += ratio * std::min(size, excess);
      excess -= size;
      if (excess <= 0) break;
    }
    return guess;
  }

  void TryOperators() {
    std::vector<Guess> guesses;
    for (const std::size_t step : steps_) {
      if (Ended()) return;
      const Guess guess = GuessAt(step);
      if (guess.value > 0) guesses.push_back(guess);
      work_.left -= static_cast<std::int64_t>(parts_.size());
    }
    std::stable_sort(guesses.begin(), guesses.end(),
                     [](const Guess& a, const Guess& b) { return a.value > b.value; });
    schedule::Cut cut(instance_, precedence_);
    cut.SetBudget(budget_);
    std::size_t tried = 0;
    for (const Guess& guess : guesses) {
      if (Ended() || guess.value <= static_cast<double>(best_) || ++tried > kMostOperatorsTried) {
        break;
      }
      const Op v = order_[guess.step];
      // The value is concave in the price: look around the guess in steps that become smaller.
      double at = guess.price;
      std::int64_t value = ValueAt(cut, v, at);
      double step = 2;
      for (int k = 0; k < kPriceSteps && !Ended(); ++k) {
        const std::int64_t up = ValueAt(cut, v, at * step);
        if (up > value) {
          value = up;
          at *= step;
          continue;
        }
        const std::int64_t down = ValueAt(cut, v, at / step);
        if (down > value) {
          value = down;
          at /= step;
          continue;
        }
        step = std::sqrt(step);
      }
      if (value > best_) {
        best_ = value;
        best_operator_ = v;
      }
    }
  }

  // The bound that operator `v` gives at `price`, the cost of a byte.
  std::int64_t ValueAt(schedule::Cut& cut, Op v, double price) {
    if (!(price > 0)) return 0;
    // What has no cost must not add up to too much.
    double sum = 0;
    for (const StorageInfo& info : model_.storages) sum += static_cast<double>(info.size);
    const double most = std::ldexp(1.0, kBitsOfSum) / (factor_ * sum);
    price = std::min(price, most);
    Bytes touched = 0;
    const std::vector<char> is_touched = TouchedBy(v);
    const std::vector<std::int64_t>& costs = CostsAt(v);
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      const Part& part = parts_[p];
      const double rent = price * static_cast<double>(model_.storages[part.storage].size);
      // Rounded down, also of the product.
      const auto scaled = [&](std::int64_t cost) {
        const double paid = cost == kMustStay ? rent : std::min(rent, static_cast<double>(cost));
        return static_cast<Bytes>(paid * factor_ * (1 - 1e-12));
      };
      const bool counts = counts_[part.storage] != 0;
      const std::int64_t before = part.level == 0 ? 0 : costs[p - 1];
      const Bytes weight = counts ? 0 : scaled(costs[p]) - scaled(before);
      instance_.buffers[p].bytes = weight;
      if (is_touched[p] != 0) touched += weight;
    }
    const std::int64_t before = cut.work();
    const Bytes solved = cut.Solve(v, std::numeric_limits<Bytes>::max() / 2);
    work_.left -= cut.work() - before + static_cast<std::int64_t>(parts_.size());
    const double room = price * static_cast<double>(capacity_ - model_.NeedOf(v)) * factor_;
    const Bytes rent = static_cast<Bytes>(std::ceil(room * (1 + 1e-12))) + 1;
    const Bytes value = solved - touched - rent;
    if (value <= 0) return 0;
    // Costs are integers. The factor is one as well.
    const auto factor = static_cast<Bytes>(factor_);
    return (value + factor - 1) / factor;
  }

  // Whether what cannot be made again exceeds the memory while some operator runs, in every order.
  [[nodiscard]] bool IsInfeasible() {
    schedule::Cut cut(instance_, precedence_);
    cut.SetBudget(budget_);
    // The bytes of a storage count from the first version that cannot be made again.
    const auto first_that_stays = [&](std::size_t p, auto stays) {
      const bool later = p > 0 && parts_[p - 1].storage == parts_[p].storage && stays(p - 1);
      return stays(p) && !later ? model_.storages[parts_[p].storage].size : 0;
    };
    std::vector<std::size_t> full = FullSteps([&](std::size_t p) {
      return first_that_stays(p, [&](std::size_t q) { return MayHaveToStay(q); });
    });
    if (full.size() > kMostOperatorsTried) full.resize(kMostOperatorsTried);
    for (const std::size_t step : full) {
      if (Ended()) return false;
      const Op v = order_[step];
      const std::vector<std::int64_t>& costs = CostsAt(v);
      const std::vector<char> is_touched = TouchedBy(v);
      Bytes touched = 0;
      for (std::size_t p = 0; p < parts_.size(); ++p) {
        instance_.buffers[p].bytes =
            first_that_stays(p, [&](std::size_t q) { return costs[q] == kMustStay; });
        if (is_touched[p] != 0) touched += instance_.buffers[p].bytes;
      }
      const std::int64_t before = cut.work();
      const Bytes least = cut.Solve(v, std::numeric_limits<Bytes>::max() / 2) - touched;
      work_.left -= cut.work() - before + static_cast<std::int64_t>(parts_.size());
      if (least > capacity_ - model_.NeedOf(v)) return true;
    }
    return false;
  }
  [[nodiscard]] bool MayHaveToStay(std::size_t p) const {
    return parts_[p].cost == kMustStay ||
           std::any_of(extras_[p].begin(), extras_[p].end(),
                       [](const Extra& extra) { return extra.cost == kMustStay; });
  }

  // The storages that can be live while `v` runs count from now on.
  void Count(Op v) {
    const std::vector<char> touched = TouchedBy(v);
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      const schedule::FlowBuffer& buffer = instance_.buffers[p];
      const bool unborn =
          !buffer.from_start && std::all_of(buffer.creators.begin(), buffer.creators.end(),
                                            [&](Op u) { return precedence_.Precedes(v, u); });
      const bool dead =
          !buffer.to_end && std::all_of(buffer.consumers.begin(), buffer.consumers.end(),
                                        [&](Op u) { return precedence_.Precedes(u, v); });
      if (touched[p] == 0 && !unborn && !dead) counts_[parts_[p].storage] = 1;
    }
  }

  const Model& model_;
  const Bytes capacity_;
  const std::vector<Op>& order_;
  Work& work_;
  Budget& budget_;
  // What must run again with a storage from this version on.
  struct Lost {
    LostMaker maker;
    std::int32_t level = 0;
  };
  std::vector<std::vector<Lost>> lost_;  // By storage.
  struct Stays {
    std::vector<Op> after;
    std::int32_t level = 0;
  };
  std::vector<std::vector<Stays>> stays_;  // By storage.
  std::vector<Wide> all_sizes_;            // By operator: of what shares its cost.
  std::vector<Part> parts_;  // By storage, then level; parallel to the next, and to the buffers of:
  std::vector<std::vector<Extra>> extras_;
  schedule::Instance instance_;
  std::vector<std::size_t> part_of_;  // By storage: its first part, if it has bytes.
  const schedule::Precedence precedence_;
  const LostMakers all_lost_;
  std::vector<std::int64_t> costs_;  // By part: what CostsAt() found for
  Op costs_at_ = kNoOp;              // this operator.
  std::vector<char> counts_;         // By storage: for some operator.
  std::vector<std::size_t> first_;   // By part: live in the known order from here,
  std::vector<std::size_t> last_;    // through here.
  std::vector<std::size_t> steps_;   // Of the known order that are looked at.
  double factor_ = 1;                // An integer.
  std::int64_t best_ = 0;
  Op best_operator_ = 0;
};

}  // namespace

CutAnswer CutBound(const Model& model, Bytes capacity, const std::vector<Op>& order,
                   std::int64_t upper, Work& work, Budget& budget) {
  if (model.num_operators() > kMostOperators || order.empty()) return {};
  CutAnswer answer;
  const std::int64_t part_of_work = work.left / 2;
  Work half{part_of_work};
  {
    Budget part(budget, 0.5);
    std::vector<Pays> pays(model.storages.size(), Pays::kWrittenOver);
    const Gaps gaps(model, order, capacity);
    const std::vector<char> kept = gaps.ChooseGreedily({}, &part);
    for (std::size_t g = 0; g < kept.size(); ++g) {
      if (kept[g] == 0) pays[gaps.all()[g].storage] = Pays::kAll;
    }
    Bounder bounder(model, capacity, order, pays, half, part);
    if (bounder.loses_any()) answer = bounder.Run(upper);
  }
  work.left -= part_of_work - half.left;
  if (answer.infeasible || answer.bound >= upper) return answer;
  const std::vector<Pays> none(model.storages.size(), Pays::kNothing);
  const CutAnswer plain = Bounder(model, capacity, order, none, work, budget).Run(upper);
  return {std::max(answer.bound, plain.bound), plain.infeasible};
}

}  // namespace berth::internal::recompute
