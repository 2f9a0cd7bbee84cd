#include "schedule/anneal.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace berth::internal::schedule {
namespace {

// The first temperature of heat 1, as a share of the peak; it falls by kCooling kLevels times, to a
// hundredth.
constexpr double kHot = 0.06;
constexpr double kCooling = 0.93057;
constexpr int kLevels = 64;
constexpr std::int64_t kWorkOfMove = 20;  // Besides the places that it passes.
constexpr std::int64_t kFarthest = 64;    // Places that an operator moves at most.
constexpr std::int64_t kAround = 48;      // Places from a step above the target.

// Of exponential distribution with mean 1, the logarithm replaced by straight lines between powers
// of two: nothing of the mathematical library, which is not the same on every machine.
double Exponential(Random& random) {
  const std::uint64_t bits = random.Next() | 1;
  const int zeros = std::countl_zero(bits);
  const double part = static_cast<double>((bits << zeros) << 1 >> 11) * 0x1.0p-53;
  constexpr double kLogOfTwo = 0.693147;
  return (zeros + 1 - part) * kLogOfTwo;
}

// By how much a cost is higher than before; of a rise beyond 2^62, which no temperature allows, 2^62.
double RiseOf(Wide before, Wide now) {
  constexpr std::int64_t kMostRise = std::int64_t{1} << 62;
  if (now <= before) return 0;
  return static_cast<double>(static_cast<std::int64_t>(std::min<Wide>(now - before, kMostRise)));
}

}  // namespace

Annealer::Annealer(const Instance& instance)
    : instance_(instance),
      position_(instance.num_ops),
      live_(instance.num_ops),
      first_(instance.buffers.size()),
      last_(instance.buffers.size()) {}

void Annealer::Set(const std::vector<Op>& order) {
  order_ = order;
  created_.assign(instance_.num_ops, 0);
  freed_.assign(instance_.num_ops, 0);
  for (std::size_t k = 0; k < order_.size(); ++k) {
    position_[order_[k]] = static_cast<std::uint32_t>(k);
  }
  const auto earlier = [&](Op a, Op b) { return position_[a] < position_[b]; };
  for (std::size_t b = 0; b < instance_.buffers.size(); ++b) {
    const FlowBuffer& buffer = instance_.buffers[b];
    if (!buffer.creators.empty()) {
      first_[b] = *std::min_element(buffer.creators.begin(), buffer.creators.end(), earlier);
      created_[first_[b]] += buffer.bytes;
    }
    if (!buffer.consumers.empty()) {
      last_[b] = *std::max_element(buffer.consumers.begin(), buffer.consumers.end(), earlier);
      freed_[last_[b]] += buffer.bytes;
    }
  }
  Bytes live = LiveAtStart(instance_);
  cost_ = 0;
  for (std::size_t k = 0; k < order_.size(); ++k) {
    live_[k] = live;
    cost_ += Excess(k);
    live += created_[order_[k]] - freed_[order_[k]];
  }
}

// The operators at `at` and after it change places.
void Annealer::SwapNext(std::size_t at) {
  const Op v = order_[at];
  const Op u = order_[at + 1];
  cost_ -= Excess(at) + Excess(at + 1);
  for (const Op b : instance_.created_shared[v]) {
    if (first_[b] != v) continue;
    const FlowBuffer& buffer = instance_.buffers[b];
    if (!std::binary_search(buffer.creators.begin(), buffer.creators.end(), u)) continue;
    first_[b] = u;
    created_[v] -= buffer.bytes;
    created_[u] += buffer.bytes;
  }
  for (const Op b : instance_.freed_shared[u]) {
    if (last_[b] != u) continue;
    const FlowBuffer& buffer = instance_.buffers[b];
    if (!std::binary_search(buffer.consumers.begin(), buffer.consumers.end(), v)) continue;
    last_[b] = v;
    freed_[u] -= buffer.bytes;
    freed_[v] += buffer.bytes;
  }
  std::swap(order_[at], order_[at + 1]);
  position_[u] = static_cast<std::uint32_t>(at);
  position_[v] = static_cast<std::uint32_t>(at + 1);
  live_[at + 1] = live_[at] + created_[u] - freed_[u];
  cost_ += Excess(at) + Excess(at + 1);
  work_ += 10;
}

void Annealer::Shift(std::size_t from, std::size_t to) {
  for (; from < to; ++from) SwapNext(from);
  for (; from > to; --from) SwapNext(from - 1);
}

// A position near a step above the target.
std::size_t Annealer::ChooseOp() {
  const auto n = static_cast<std::int64_t>(order_.size());
  std::int64_t at = random_.Uniform(0, n - 1);
  for (std::int64_t tried = 0; tried < 64 && Excess(static_cast<std::size_t>(at)) == 0; ++tried) {
    at = random_.Uniform(0, n - 1);
    work_ += 2;
  }
  at += random_.Uniform(-kAround, kAround);
  return static_cast<std::size_t>(std::clamp<std::int64_t>(at, 0, n - 1));
}

std::size_t Annealer::ChoosePlace(std::size_t from) {
  const Op v = order_[from];
  std::int64_t low = std::max<std::int64_t>(0, static_cast<std::int64_t>(from) - kFarthest);
  std::int64_t high = std::min<std::int64_t>(static_cast<std::int64_t>(order_.size()) - 1,
                                             static_cast<std::int64_t>(from) + kFarthest);
  for (const Op p : instance_.predecessors[v]) low = std::max<std::int64_t>(low, position_[p] + 1);
  for (const Op s : instance_.successors[v]) high = std::min<std::int64_t>(high, position_[s] - 1);
  return static_cast<std::size_t>(random_.Uniform(low, high));
}

Bytes Annealer::Peak() const {
  Bytes peak = LiveAtStart(instance_);
  for (std::size_t k = 0; k < order_.size(); ++k) {
    peak = std::max(peak, live_[k] + created_[order_[k]]);
  }
  return peak;
}

bool Annealer::Run(const std::vector<Op>& order, Bytes target, const Cooling& cooling,
                   Budget& budget) {
  best_ = order;
  best_peak_ = PeakOf(instance_, order);
  random_ = Random(cooling.seed);
  if (order.size() < 2) return false;
  const Bytes before = best_peak_;
  target_ = target;
  Set(best_);
  const std::int64_t end = work_ + cooling.work;
  std::int64_t next_level = work_;
  double temperature = static_cast<double>(best_peak_) * kHot * cooling.heat / kCooling;
  while (work_ < end && cost_ > 0) {
    if (work_ >= next_level) {
      if (budget.Exhausted()) break;
      next_level += cooling.work / kLevels + 1;
      temperature *= kCooling;
    }
    if (!budget.SpendWork(kWorkOfMove)) break;
    const std::size_t from = ChooseOp();
    const std::size_t to = ChoosePlace(from);
    work_ += kWorkOfMove;
    if (to == from) continue;
    const Wide cost = cost_;
    Shift(from, to);
    const double rise = RiseOf(cost, cost_);
    if (rise > 0 && rise > temperature * Exponential(random_)) {
      Shift(to, from);
      continue;
    }
    if (cost_ < cost && cost_ < best_peak_ - target_) {
      // Only then can the peak be lower than the best.
      const Bytes peak = Peak();
      work_ += static_cast<std::int64_t>(order_.size());
      if (peak < best_peak_) {
        best_peak_ = peak;
        best_ = order_;
      }
    }
  }
  return best_peak_ < before;
}

}  // namespace berth::internal::schedule
