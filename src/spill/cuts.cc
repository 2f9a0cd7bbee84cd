#include "spill/cuts.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "base/arithmetic.h"
#include "schedule/cut.h"
#include "schedule/instance.h"
#include "schedule/precedence.h"

namespace berth::internal::spill {
namespace {

using schedule::Op;

Op OpOf(OpIndex v) { return static_cast<Op>(v.position()); }

// Prices and weights are whole numbers of quarter bytes.
constexpr Bytes kScale = 4;
constexpr Bytes kMostTraffic = 2 * kScale;  // Of a byte.
// The best price is 1 or 2 unless what must leave costs partly one, partly the other.
constexpr Bytes kPrices[] = {8, 4, 6, 5, 7};
// More bytes in all storages have no bound: a cut's sums must fit.
constexpr Bytes kMostBytes = kMaxBytes / kMostTraffic;

class Bounder {
 public:
  Bounder(const Model& model, Bytes capacity, std::span<const OpIndex> order, Effort& effort,
          Budget& budget)
      : model_(model),
        capacity_(capacity),
        order_(order),
        effort_(effort),
        budget_(budget),
        position_(model.num_operators, 0),
        counts_(model.storages.size(), 1),
        precedence_(InstanceWith({})) {
    for (std::size_t i = 0; i < order.size(); ++i) position_[order[i]] = i;
    for (const Stored& stored : model.storages) {
      divisor_ = std::gcd(divisor_, stored.size);
      total_ += stored.size;
    }
  }

  Bytes Run(Bytes upper) {
    Bytes bound = 0;
    if (total_ > kMostBytes) return bound;
    while (bound < upper && !Ended()) {
      best_ = 0;
      for (const Bytes price : kPrices) TryPrice(price, upper - bound);
      if (best_ == 0) break;
      bound += best_;
      LeaveOut(best_operator_);
    }
    return bound;
  }

 private:
  // An operator, and what no cut there can exceed: its value in the known order.
  struct Peak {
    OpIndex op;
    Bytes value;
  };

  [[nodiscard]] bool Ended() const { return effort_.spent() || budget_.TimeIsUp(); }

  [[nodiscard]] schedule::Instance InstanceWith(std::vector<schedule::FlowBuffer> buffers) const {
    std::vector<std::pair<Op, Op>> edges;
    for (std::size_t v = 0; v < model_.num_operators; ++v) {
      for (const OpIndex u : model_.predecessors[OpIndex(v)]) {
        edges.emplace_back(OpOf(u), static_cast<Op>(v));
      }
    }
    return schedule::MakeInstance(model_.num_operators, 0, edges, std::move(buffers));
  }

  // What storage `s` adds while it is live and not touched, in quarter bytes.
  [[nodiscard]] Bytes WeightOf(StorageIndex s, Bytes price) const {
    const Stored& stored = model_.storages[s];
    if (counts_[s] == 0 || model_.users[s].empty()) return 0;
    const bool once = stored.result || stored.creator.value() < 0;
    return stored.size * std::min(price, once ? kScale : kMostTraffic);
  }

  // Not needed by `v` itself.
  [[nodiscard]] Bytes RoomBeside(OpIndex v) const {
    return std::min(capacity_ - model_.needs[v], total_);
  }

  // The operators that could raise the bound at this price, the most promising first.
  [[nodiscard]] std::vector<Peak> PeaksOf(Bytes price) const {
    std::vector<Bytes> change(order_.size() + 1, 0);
    std::vector<Bytes> touched(order_.size(), 0);
    for (const StorageIndex s : model_.storages.indices()) {
      const Bytes weight = WeightOf(s, price);
      if (weight == 0) continue;
      const OpIndex creator = model_.storages[s].creator;
      const auto users = model_.users[s];
      std::size_t first = position_[creator.value() >= 0 ? creator : users.front()];
      std::size_t last = first;
      for (const OpIndex u : users) {
        first = std::min(first, position_[u]);
        last = std::max(last, position_[u]);
      }
      change[first] += weight;
      change[last] -= weight;
      const auto touches = [&](OpIndex v) {
        if (position_[v] < last) touched[position_[v]] += weight;
      };
      if (creator.value() >= 0) touches(creator);
      for (const OpIndex u : users) touches(u);
    }
    std::vector<Peak> peaks;
    Bytes live = 0;
    for (std::size_t i = 0; i < order_.size(); ++i) {
      live += change[i];
      const Bytes value = live - touched[i] - price * RoomBeside(order_[i]);
      if (value > 0) peaks.push_back({order_[i], value});
    }
    std::stable_sort(peaks.begin(), peaks.end(),
                     [](const Peak& a, const Peak& b) { return a.value > b.value; });
    return peaks;
  }

  // Of this many quarter bytes, as traffic: a sum of sizes.
  [[nodiscard]] Bytes TrafficOf(Bytes value) const {
    return value <= 0 ? 0 : RoundUp((value + kScale - 1) / kScale, divisor_);
  }

  void TryPrice(Bytes price, Bytes upper) {
    const std::vector<Peak> peaks = PeaksOf(price);
    if (peaks.empty() || TrafficOf(peaks.front().value) <= best_) return;
    const schedule::Instance instance = InstanceWith(BuffersAt(price));
    schedule::Cut cut(instance, precedence_);
    cut.SetBudget(budget_);
    for (const Peak& peak : peaks) {
      if (TrafficOf(peak.value) <= best_ || best_ >= upper || Ended()) break;
      const std::int64_t work = cut.work();
      Bytes value = cut.Solve(OpOf(peak.op), 2 * kMaxBytes);
      effort_.work -= cut.work() - work;
      for (const auto touched : {model_.made[peak.op], model_.used[peak.op]}) {
        for (const StorageIndex s : touched) value -= WeightOf(s, price);
      }
      value -= price * RoomBeside(peak.op);
      if (TrafficOf(value) <= best_) continue;
      best_ = TrafficOf(value);
      best_operator_ = peak.op;
    }
  }

  [[nodiscard]] std::vector<schedule::FlowBuffer> BuffersAt(Bytes price) const {
    std::vector<schedule::FlowBuffer> buffers;
    for (const StorageIndex s : model_.storages.indices()) {
      const Bytes weight = WeightOf(s, price);
      if (weight == 0) continue;
      schedule::FlowBuffer buffer{weight, false, false, {}, {}};
      for (const OpIndex u : model_.users[s]) buffer.consumers.push_back(OpOf(u));
      std::sort(buffer.consumers.begin(), buffer.consumers.end());
      const OpIndex creator = model_.storages[s].creator;
      // A given storage is live from its first use.
      buffer.creators = creator.value() < 0 ? buffer.consumers : std::vector<Op>{OpOf(creator)};
      buffers.push_back(std::move(buffer));
    }
    return buffers;
  }

  // From here on only storages count that cannot be live, or are in use, while `v` runs.
  void LeaveOut(OpIndex v) {
    for (const StorageIndex s : model_.storages.indices()) {
      const OpIndex creator = model_.storages[s].creator;
      const auto users = model_.users[s];
      const bool touched = creator == v || std::find(users.begin(), users.end(), v) != users.end();
      const auto before = [&](OpIndex u) { return model_.Precedes(u, v); };
      const auto after = [&](OpIndex u) { return model_.Precedes(v, u); };
      const bool dead = std::all_of(users.begin(), users.end(), before);
      const bool unborn =
          creator.value() >= 0 ? after(creator) : std::all_of(users.begin(), users.end(), after);
      if (!touched && !dead && !unborn) counts_[s] = 0;
    }
  }

  const Model& model_;
  const Bytes capacity_;
  const std::span<const OpIndex> order_;
  Effort& effort_;
  Budget& budget_;
  IndexedVector<OpIndex, std::size_t> position_;
  IndexedVector<StorageIndex, char> counts_;
  const schedule::Precedence precedence_;
  Bytes divisor_ = 0;
  Bytes total_ = 0;
  Bytes best_ = 0;  // Of the operators and prices tried since the last was left out.
  OpIndex best_operator_{0};
};

}  // namespace

Bytes CutBound(const Model& model, Bytes capacity, std::span<const OpIndex> order, Bytes upper,
               Effort& effort, Budget& budget) {
  return Bounder(model, capacity, order, effort, budget).Run(upper);
}

}  // namespace berth::internal::spill
