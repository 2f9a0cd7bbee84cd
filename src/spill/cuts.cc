#include "spill/cuts.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
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

// Beyond this, operators times storages, only one operator counts.
constexpr std::size_t kMostPairs = 20'000'000;

class Bounder {
 public:
  Bounder(const Model& model, Bytes capacity, std::span<const OpIndex> order, Effort& effort,
          Budget& budget)
      : model_(model),
        capacity_(capacity),
        order_(order),
        effort_(effort),
        budget_(budget),
        spans_(model.storages.size()),
        counts_(model.storages.size(), 0),
        divisor_(DivisorOf(model)),
        precedence_(schedule::MakeInstance(model.num_operators, 0, Edges(), {})) {
    IndexedVector<OpIndex, std::size_t> position(model.num_operators, 0);
    for (std::size_t i = 0; i < order.size(); ++i) position[order[i]] = i;
    for (const StorageIndex s : model.storages.indices()) {
      const Stored& stored = model.storages[s];
      total_ += stored.size;
      Span& span = spans_[s];
      ForEachTouching(s, [&](OpIndex v) {
        span.first = std::min(span.first, position[v]);
        span.last = std::max(span.last, position[v]);
      });
    }
    std::vector<schedule::FlowBuffer> buffers;
    for (const StorageIndex s : model.storages.indices()) {
      if (model.users[s].empty()) continue;  // Never live besides its creator's step.
      buffers.push_back(FlowOf(s));
      stored_.push_back(s);
    }
    instance_ = schedule::MakeInstance(model.num_operators, 0, Edges(), std::move(buffers));
  }

  Bytes Run(Bytes upper) {
    Bytes bound = 0;
    if (total_ > kMostBytes) return bound;
    for (const bool again : {false, true}) {
      again_ = again;
      while (bound < upper && !Ended() && (counted_.empty() || !IsLarge())) {
        best_ = 0;
        for (const Bytes price : kPrices) TryPrice(price, upper - bound);
        if (best_ == 0) break;
        bound += best_;
        Count(best_operator_);
      }
    }
    return bound;
  }

 private:
  // The positions in the order of the first and the last operator that touches a storage.
  struct Span {
    std::size_t first = std::numeric_limits<std::size_t>::max();
    std::size_t last = 0;
  };
  // An operator, and what no cut there can exceed: its value in the known order.
  struct Peak {
    OpIndex op;
    Bytes value;
  };

  [[nodiscard]] bool Ended() const { return effort_.spent() || budget_.TimeIsUp(); }

  // An operator whose bound counts already, and the storages that can be live while it runs.
  struct Counted {
    OpIndex op;
    IndexedVector<StorageIndex, char> live;
  };

  [[nodiscard]] std::vector<std::pair<Op, Op>> Edges() const {
    std::vector<std::pair<Op, Op>> edges;
    for (std::size_t v = 0; v < model_.num_operators; ++v) {
      for (const OpIndex u : model_.predecessors[OpIndex(v)]) {
        edges.emplace_back(OpOf(u), static_cast<Op>(v));
      }
    }
    return edges;
  }

  [[nodiscard]] schedule::FlowBuffer FlowOf(StorageIndex s) const {
    schedule::FlowBuffer buffer;
    for (const OpIndex u : model_.users[s]) buffer.consumers.push_back(OpOf(u));
    std::sort(buffer.consumers.begin(), buffer.consumers.end());
    const OpIndex creator = model_.storages[s].creator;
    // A given storage is live from its first use.
    buffer.creators = creator.value() < 0 ? buffer.consumers : std::vector<Op>{OpOf(creator)};
    return buffer;
  }

  template <typename Visit>
  void ForEachTouching(StorageIndex s, Visit visit) const {
    const OpIndex creator = model_.storages[s].creator;
    if (creator.value() >= 0) visit(creator);
    for (const OpIndex u : model_.users[s]) visit(u);
  }

  // Every bound but the first looks at each storage for each operator.
  [[nodiscard]] bool IsLarge() const { return model_.num_operators * spans_.size() > kMostPairs; }

  // What storage `s` adds if it is live while `v` runs and not touched, in quarter bytes. Where it
  // counts already, it is retrieved once more if it is used in between.
  [[nodiscard]] Bytes WeightAt(OpIndex v, StorageIndex s, Bytes price) const {
    const Stored& stored = model_.storages[s];
    if (counts_[s]) {
      if (!again_) return 0;
      for (const Counted& counted : counted_) {
        if (counted.live[s] && !model_.IsUsedBetween(v, counted.op, s)) return 0;
      }
    }
    const bool once = counts_[s] || stored.moves_once();
    return stored.size * std::min(price, once ? kScale : kMostTraffic);
  }

  // Not needed by `v` itself.
  [[nodiscard]] Bytes RoomBeside(OpIndex v) const {
    return std::min(capacity_ - model_.needs[v], total_);
  }

  // By position in the order, the sum of the weights of the storages that are live there.
  [[nodiscard]] std::vector<Bytes> LiveAt(Bytes price) const {
    std::vector<Bytes> live(order_.size() + 1, 0);
    if (again_) {
      for (std::size_t i = 0; i < order_.size(); ++i) {
        for (const StorageIndex s : stored_) {
          if (spans_[s].first <= i && i < spans_[s].last) live[i] += WeightAt(order_[i], s, price);
        }
      }
      return live;
    }
    for (const StorageIndex s : stored_) {
      const Bytes weight = WeightAt(order_.front(), s, price);
      live[spans_[s].first] += weight;
      live[spans_[s].last] -= weight;
    }
    std::partial_sum(live.begin(), live.end(), live.begin());
    return live;
  }

  // The operators that could raise the bound at this price, the most promising first.
  [[nodiscard]] std::vector<Peak> PeaksOf(Bytes price) {
    const std::vector<Bytes> live = LiveAt(price);
    std::vector<Peak> peaks;
    for (std::size_t i = 0; i < order_.size(); ++i) {
      Bytes value = live[i] - price * RoomBeside(order_[i]);
      if (value <= 0) continue;
      for (const auto touched : {model_.made[order_[i]], model_.used[order_[i]]}) {
        for (const StorageIndex s : touched) {
          if (i < spans_[s].last) value -= WeightAt(order_[i], s, price);
        }
      }
      if (value > 0) peaks.push_back({order_[i], value});
    }
    effort_.work -= static_cast<std::int64_t>(
        again_ ? counted_.size() * order_.size() * stored_.size() : stored_.size());
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
    schedule::Cut cut(instance_, precedence_);
    cut.SetBudget(budget_);
    for (const Peak& peak : peaks) {
      if (TrafficOf(peak.value) <= best_ || best_ >= upper || Ended()) break;
      for (std::size_t k = 0; k < stored_.size(); ++k) {
        instance_.buffers[k].bytes = WeightAt(peak.op, stored_[k], price);
      }
      const std::int64_t work = cut.work();
      Bytes value = cut.Solve(OpOf(peak.op), 2 * kMaxBytes);
      effort_.work -= cut.work() - work + static_cast<std::int64_t>(stored_.size());
      for (const auto touched : {model_.made[peak.op], model_.used[peak.op]}) {
        for (const StorageIndex s : touched) {
          if (!model_.users[s].empty()) value -= WeightAt(peak.op, s, price);
        }
      }
      value -= price * RoomBeside(peak.op);
      if (TrafficOf(value) <= best_) continue;
      best_ = TrafficOf(value);
      best_operator_ = peak.op;
    }
  }

  void Count(OpIndex v) {
    Counted counted{v, IndexedVector<StorageIndex, char>(spans_.size(), 0)};
    for (const StorageIndex s : stored_) {
      const OpIndex creator = model_.storages[s].creator;
      const auto users = model_.users[s];
      const auto before = [&](OpIndex u) { return model_.Precedes(u, v); };
      const auto after = [&](OpIndex u) { return model_.Precedes(v, u); };
      const bool dead = std::all_of(users.begin(), users.end(), before);
      const bool unborn =
          creator.value() >= 0 ? after(creator) : std::all_of(users.begin(), users.end(), after);
      if (model_.Touches(v, s) || dead || unborn) continue;
      counted.live[s] = 1;
      counts_[s] = 1;
    }
    counted_.push_back(std::move(counted));
  }

  const Model& model_;
  const Bytes capacity_;
  const std::span<const OpIndex> order_;
  Effort& effort_;
  Budget& budget_;
  IndexedVector<StorageIndex, Span> spans_;
  IndexedVector<StorageIndex, char> counts_;  // For some operator.
  const Bytes divisor_;
  std::vector<StorageIndex> stored_;  // Those with users; parallel to the buffers of:
  schedule::Instance instance_;
  const schedule::Precedence precedence_;
  std::vector<Counted> counted_;
  bool again_ = false;  // Storages that count already may count for another retrieval.
  Bytes total_ = 0;
  Bytes best_ = 0;  // Of the operators and prices tried since the last was counted.
  OpIndex best_operator_{0};
};

}  // namespace

Bytes CutBound(const Model& model, Bytes capacity, std::span<const OpIndex> order, Bytes upper,
               Effort& effort, Budget& budget) {
  return Bounder(model, capacity, order, effort, budget).Run(upper);
}

}  // namespace berth::internal::spill
