#include "schedule/refute.h"

#include <algorithm>
#include <numeric>

namespace berth::internal::schedule {
namespace {

// The bisection ends within this part of the peak.
constexpr Bytes kFinest = 2048;
// Work on each limit in the first round, in units of a few nanoseconds, and the factor from each
// round to the next.
constexpr std::int64_t kFirstEffort = 4'000'000;
constexpr std::int64_t kMoreEffort = 4;

}  // namespace

Refuter::Refuter(const Instance& instance) : instance_(instance), effort_(kFirstEffort) {
  Bytes divisor = 0;
  for (const FlowBuffer& buffer : instance.buffers) divisor = std::gcd(divisor, buffer.bytes);
  unit_ = std::max<Bytes>(1, divisor);
}

Bytes Refuter::Middle(Bytes bound, Bytes peak) const {
  const Bytes end = std::min(peak, ceiling_);
  // The least and the most to ask for, in units above the base.
  const Bytes least = (bound - instance_.base + unit_ - 1) / unit_;
  const Bytes most = (end - instance_.base - 1) / unit_;
  if (least > most || most - least < peak / kFinest / unit_) return bound - 1;
  return instance_.base + (least + (most - least) / 2) * unit_;
}

bool Refuter::AskNext(Bytes bound, Bytes peak, const std::vector<std::vector<Op>>& orders) {
  Bytes limit = Middle(bound, peak);
  if (limit < bound && ceiling_ < consistent_) {
    effort_ *= kMoreEffort;
    ceiling_ = consistent_;
    limit = Middle(bound, peak);
  }
  prober_.reset();
  if (limit < bound) return false;
  prober_.emplace(instance_, implied_ ? *implied_ : Precedence(instance_), limit);
  for (const auto& order : orders) prober_->AddOrder(order);
  return true;
}

Bytes Refuter::Advance(Bytes bound, Bytes peak, const std::vector<std::vector<Op>>& orders,
                       std::int64_t work, SearchStats& stats, Budget& budget) {
  while (work > 0 && !budget.Exhausted()) {
    if (!prober_ || prober_->limit() < bound || prober_->limit() >= peak) {
      if (!AskNext(bound, peak, orders)) break;
    }
    const std::int64_t cuts = prober_->cuts();
    const std::int64_t before = prober_->work();
    const Prober::Verdict verdict = prober_->Run(std::min(work, effort_ - before), budget);
    work -= prober_->work() - before;
    work_ += prober_->work() - before;
    stats.cuts += prober_->cuts() - cuts;
    if (verdict == Prober::Verdict::kContradiction) {
      bound = prober_->limit() + unit_;
    } else if (verdict == Prober::Verdict::kStable) {
      ceiling_ = consistent_ = prober_->limit();
      implied_ = prober_->precedence();
    } else if (prober_->work() >= effort_) {
      ceiling_ = prober_->limit();
    } else {
      break;
    }
    prober_.reset();
  }
  return std::min(bound, peak);
}

}  // namespace berth::internal::schedule
