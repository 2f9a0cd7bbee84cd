#include "recompute/bound.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "base/wide.h"
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

class Bounder {
 public:
  Bounder(const Model& model, Bytes capacity, const std::vector<Op>& order, Work& work,
          Budget& budget)
      : model_(model),
        capacity_(capacity),
        order_(order),
        work_(work),
        budget_(budget),
        precedence_(schedule::MakeInstance(model.num_operators(), 0, Edges(), {})) {
    std::vector<schedule::FlowBuffer> buffers;
    buffer_of_.assign(model.storages.size(), kNone);
    for (Storage s = 0; s < model.storages.size(); ++s) {
      const StorageInfo& info = model.storages[s];
      if (info.size == 0) continue;
      schedule::FlowBuffer buffer;
      // With a link given storages come in at their first use, and results leave after their last.
      buffer.to_end = info.result && !model.linked;
      if (info.given) {
        buffer.from_start = !model.linked;
      } else {
        buffer.creators = {info.chain.front()};
      }
      buffer_of_[s] = buffers.size();
      buffers.push_back(std::move(buffer));
      stored_.push_back(s);
    }
    for (Op v = 0; v < model.num_operators(); ++v) {
      for (const Touch& touch : model.TouchesOf(v)) {
        const std::size_t b = buffer_of_[touch.storage];
        if (b == kNone || touch.finds == kMakes) continue;
        buffers[b].consumers.push_back(v);
        if (model.linked && model.storages[touch.storage].given) buffers[b].creators.push_back(v);
      }
    }
    // A storage without users is live in its maker's step alone.
    for (schedule::FlowBuffer& buffer : buffers) {
      if (buffer.consumers.empty() && !buffer.to_end) buffer.consumers = buffer.creators;
    }
    instance_ = schedule::MakeInstance(model.num_operators(), 0, Edges(), std::move(buffers));
    counts_.assign(stored_.size(), 0);
    double costs = 1;
    for (const Storage s : stored_) {
      cost_.push_back(Cost(s));
      costs += static_cast<double>(cost_.back());
    }
    factor_ = std::floor(std::ldexp(1.0, kBitsOfSum - 2) / costs);
    factor_ = std::max(factor_, 1.0);
    FindLive();
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

  [[nodiscard]] bool Ended() const { return work_.spent() || budget_.TimeIsUp(); }

  [[nodiscard]] std::vector<std::pair<schedule::Op, schedule::Op>> Edges() const {
    std::vector<std::pair<schedule::Op, schedule::Op>> edges;
    for (Op v = 0; v < model_.num_operators(); ++v) {
      for (const Op u : model_.predecessors[v]) edges.emplace_back(u, v);
    }
    return edges;
  }

  // Whether `s` can be made again in some version, or copied back.
  [[nodiscard]] bool Again(Storage s) const {
    return model_.storages[s].again >= 0 || model_.linked;
  }
  // At least this is paid for having it again in any version: its share, by size, of what its maker
  // costs, or a copy back and one out, which is free of what is given and of results.
  [[nodiscard]] std::int64_t Cost(Storage s) const {
    if (!Again(s)) return 0;
    const StorageInfo& info = model_.storages[s];
    const std::int64_t copies = info.in_cost + (info.given || info.result ? 0 : info.out_cost);
    if (info.again < 0) return copies;
    return model_.linked ? std::min(copies, MakerShare(s)) : MakerShare(s);
  }
  [[nodiscard]] std::int64_t MakerShare(Storage s) const {
    const Op v = model_.storages[s].chain.front();
    Wide all = 0;
    for (const Touch& touch : model_.TouchesOf(v)) {
      if (touch.finds == kMakes) all += model_.storages[touch.storage].size;
    }
    return static_cast<std::int64_t>(Wide{model_.cost[v]} * model_.storages[s].size / all);
  }

  // When each storage is live in the known order, and the steps at which not all of them fit, those
  // with the largest excess first.
  void FindLive() {
    first_.assign(stored_.size(), kNone);
    last_.assign(stored_.size(), 0);
    for (std::size_t step = 0; step < order_.size(); ++step) {
      for (const Touch& touch : model_.TouchesOf(order_[step])) {
        const std::size_t b = buffer_of_[touch.storage];
        if (b == kNone) continue;
        const bool waits = model_.storages[stored_[b]].given && !model_.linked;
        if (first_[b] == kNone) first_[b] = waits ? 0 : step;
        last_[b] = step;
      }
    }
    for (std::size_t b = 0; b < stored_.size(); ++b) {
      if (instance_.buffers[b].to_end) last_[b] = order_.size() - 1;
    }
    steps_ = FullSteps([&](std::size_t b) { return model_.storages[stored_[b]].size; });
  }

  // The steps at which the bytes of live storages exceed the capacity, `size(b)` of each.
  template <typename Size>
  [[nodiscard]] std::vector<std::size_t> FullSteps(Size size) const {
    std::vector<Bytes> change(order_.size() + 1, 0);
    for (std::size_t b = 0; b < stored_.size(); ++b) {
      if (first_[b] == kNone) continue;
      change[first_[b]] += size(b);
      change[last_[b] + 1] -= size(b);
    }
    std::vector<std::pair<Bytes, std::size_t>> full;  // Excess, step.
    Bytes live = model_.always_live;
    for (std::size_t step = 0; step < order_.size(); ++step) {
      live += change[step];
      if (live > capacity_) full.emplace_back(live - capacity_, step);
    }
    std::stable_sort(full.begin(), full.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    if (full.size() > kMostSteps) full.resize(kMostSteps);
    std::vector<std::size_t> steps;
    steps.reserve(full.size());
    for (const auto& [excess, step] : full) steps.push_back(step);
    return steps;
  }

  // Marks the storages that `v` touches, by buffer.
  [[nodiscard]] std::vector<char> TouchedBy(Op v) const {
    std::vector<char> touched(stored_.size(), 0);
    for (const Touch& touch : model_.TouchesOf(v)) {
      const std::size_t b = buffer_of_[touch.storage];
      if (b != kNone) touched[b] = 1;
    }
    return touched;
  }

  // In the known order, the best price and the bound that it would give at `step`.
  struct Guess {
    std::size_t step = 0;
    double price = 0;
    double value = 0;
  };
  [[nodiscard]] Guess GuessAt(std::size_t step) const {
    const Op v = order_[step];
    double excess = -static_cast<double>(capacity_ - model_.NeedOf(v));
    std::vector<std::pair<double, std::size_t>> ratios;
    const std::vector<char> touched = TouchedBy(v);
    for (std::size_t b = 0; b < stored_.size(); ++b) {
      const bool live = first_[b] <= step && step <= last_[b] && first_[b] != kNone;
      if (!live || touched[b] != 0 || counts_[b] != 0) continue;
      const auto size = static_cast<double>(model_.storages[stored_[b]].size);
      excess += size;
      if (Again(stored_[b])) ratios.emplace_back(static_cast<double>(cost_[b]) / size, b);
    }
    Guess guess{step, 0, 0};
    if (excess <= 0) return guess;
    std::sort(ratios.begin(), ratios.end());
    for (const auto& [ratio, b] : ratios) {
      const auto size = static_cast<double>(model_.storages[stored_[b]].size);
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
      work_.left -= static_cast<std::int64_t>(stored_.size());
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
    for (const Storage s : stored_) sum += static_cast<double>(model_.storages[s].size);
    const double most = std::ldexp(1.0, kBitsOfSum) / (factor_ * sum);
    price = std::min(price, most);
    Bytes touched = 0;
    const std::vector<char> is_touched = TouchedBy(v);
    for (std::size_t b = 0; b < stored_.size(); ++b) {
      Bytes weight = 0;
      if (counts_[b] == 0) {
        const auto size = static_cast<double>(model_.storages[stored_[b]].size);
        // Rounded down, also of the product.
        double real = price * size * factor_ * (1 - 1e-12);
        if (Again(stored_[b])) {
          real = std::min(real, static_cast<double>(cost_[b]) * factor_ * (1 - 1e-12));
        }
        weight = static_cast<Bytes>(real);
      }
      instance_.buffers[b].bytes = weight;
      if (is_touched[b] != 0) touched += weight;
    }
    const std::int64_t before = cut.work();
    const Bytes solved = cut.Solve(v, std::numeric_limits<Bytes>::max() / 2);
    work_.left -= cut.work() - before + static_cast<std::int64_t>(stored_.size());
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
    for (std::size_t b = 0; b < stored_.size(); ++b) {
      instance_.buffers[b].bytes = Again(stored_[b]) ? 0 : model_.storages[stored_[b]].size;
    }
    std::vector<std::size_t> full =
        FullSteps([&](std::size_t b) { return instance_.buffers[b].bytes; });
    if (full.size() > kMostOperatorsTried) full.resize(kMostOperatorsTried);
    for (const std::size_t step : full) {
      if (Ended()) return false;
      const Op v = order_[step];
      const std::vector<char> is_touched = TouchedBy(v);
      Bytes touched = 0;
      for (std::size_t b = 0; b < stored_.size(); ++b) {
        if (is_touched[b] != 0) touched += instance_.buffers[b].bytes;
      }
      const std::int64_t before = cut.work();
      const Bytes least = cut.Solve(v, std::numeric_limits<Bytes>::max() / 2) - touched;
      work_.left -= cut.work() - before + static_cast<std::int64_t>(stored_.size());
      if (least > capacity_ - model_.NeedOf(v)) return true;
    }
    return false;
  }

  // The storages that can be live while `v` runs count from now on.
  void Count(Op v) {
    const std::vector<char> touched = TouchedBy(v);
    for (std::size_t b = 0; b < stored_.size(); ++b) {
      const schedule::FlowBuffer& buffer = instance_.buffers[b];
      const bool unborn =
          !buffer.from_start && std::all_of(buffer.creators.begin(), buffer.creators.end(),
                                            [&](Op u) { return precedence_.Precedes(v, u); });
      const bool dead =
          !buffer.to_end && std::all_of(buffer.consumers.begin(), buffer.consumers.end(),
                                        [&](Op u) { return precedence_.Precedes(u, v); });
      if (touched[b] == 0 && !unborn && !dead) counts_[b] = 1;
    }
  }

  const Model& model_;
  const Bytes capacity_;
  const std::vector<Op>& order_;
  Work& work_;
  Budget& budget_;
  std::vector<Storage> stored_;  // With bytes; parallel to the buffers of:
  schedule::Instance instance_;
  std::vector<std::size_t> buffer_of_;  // By storage.
  const schedule::Precedence precedence_;
  std::vector<std::int64_t> cost_;  // By buffer.
  std::vector<char> counts_;        // By buffer: for some operator.
  std::vector<std::size_t> first_;  // By buffer: live in the known order from here,
  std::vector<std::size_t> last_;   // through here.
  std::vector<std::size_t> steps_;  // Of the known order that are looked at.
  double factor_ = 1;               // An integer.
  std::int64_t best_ = 0;
  Op best_operator_ = 0;
};

}  // namespace

CutAnswer CutBound(const Model& model, Bytes capacity, const std::vector<Op>& order,
                   std::int64_t upper, Work& work, Budget& budget) {
  if (model.num_operators() > kMostOperators || order.empty()) return {};
  return Bounder(model, capacity, order, work, budget).Run(upper);
}

}  // namespace berth::internal::recompute
