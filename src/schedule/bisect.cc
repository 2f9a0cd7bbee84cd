#include "schedule/bisect.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"

namespace berth::internal::schedule {
namespace {

// A round ends where the limits that are left lie within this part of the gap.
constexpr Bytes kFinest = 16;
// The factors from the work on a limit in one round, and in one turn, to that in the next.
constexpr std::int64_t kMoreEffort = 4;
constexpr std::int64_t kMoreSlice = 2;
// Of the work of a call, for each direction where only states are left. That is little: an order within the
// least consistent limit is found soon or never, and to refute limits one by one takes longer than to refute all
// below the peak (schedule/exact.h) at once.
constexpr std::int64_t kShareOfStates = 32;

}  // namespace

Bisector::Bisector(const Instance& instance, const ExactOptions& options, const Pace& pace)
    : instance_(instance), options_(options), pace_(pace), grid_(instance), effort_(pace.effort) {}

Bytes Bisector::Middle(Bytes bound, Bytes peak) const {
  // The least and the most to ask for.
  const Bytes unit = grid_.unit();
  const Bytes least = grid_.LargestLike(bound);
  const Bytes most = grid_.LargestLike(std::min(peak, ceiling_) - unit);
  // To know the least consistent limit exactly is worth while: it is the best one for states.
  const bool is_rough = ceiling_ < peak && ceiling_ < consistent_;
  if (least > most || (is_rough && (most - least) / unit < (peak - bound) / kFinest / unit)) {
    return bound - 1;
  }
  return least + (most - least) / unit / 2 * unit;
}

Bytes Bisector::NextLimit(Bytes bound, Bytes peak) {
  Bytes limit = Middle(bound, peak);
  if (limit < bound && ceiling_ < std::min(consistent_, peak)) {  // Of this round none is left.
    if (all_exhausted_ && consistent_ >= peak) {
      exhausted_ = true;
      return bound - 1;
    }
    effort_ *= kMoreEffort;
    ceiling_ = consistent_;
    all_exhausted_ = true;
    limit = Middle(bound, peak);
  }
  // All below the least consistent limit are refuted, so states are what is left.
  if (limit < bound && consistent_ < peak && options_.best_first) return consistent_;
  return limit;
}

bool Bisector::AskNext(Bytes bound, Bytes peak, const std::vector<std::vector<Op>>& orders) {
  question_.reset();
  const Bytes limit = NextLimit(bound, peak);
  if (limit < bound) return false;
  BERTH_CHECK(limit <= consistent_);  // What a limit implies holds for lower ones alone.
  const auto& implied = consistent_ < kNotKnown ? of_consistent_ : of_found_;
  question_.emplace(instance_, options_, limit, implied ? *implied : Precedence(instance_));
  slice_ = options_.best_first ? pace_.slice : effort_;
  for (const auto& order : orders) question_->AddOrder(order);
  return true;
}

bool Bisector::GiveUp() {
  const Bytes limit = question_->limit();
  const bool full = question_->exhausted();
  if (limit == consistent_) {
    exhausted_ = full;
    return false;
  }
  if (question_->work() < effort_ && !full) return false;
  if (question_->is_consistent()) {
    consistent_ = limit;
    of_consistent_ = *question_->implied();
  }
  ceiling_ = limit;
  all_exhausted_ = all_exhausted_ && full;
  return true;
}

void Bisector::Forget(Bytes bound, Bytes peak) {
  if (consistent_ >= peak && of_consistent_) of_found_ = std::move(of_consistent_);
  // Below the bound, states or another search have refuted it.
  if (consistent_ >= peak || consistent_ < bound) {
    consistent_ = kNotKnown;
    of_consistent_.reset();
  }
}

Bytes Bisector::Advance(const Known& known, const Effort& effort, SearchStats& stats,
                        Budget& budget) {
  order_.clear();
  exhausted_ = false;
  Bytes bound = known.bound;
  Bytes peak = known.peak;
  for (const std::int64_t end = work_ + effort.work;
       work_ < end && bound < peak && !exhausted_ && !budget.Exhausted();) {
    Forget(bound, peak);
    if (ceiling_ < bound) ceiling_ = consistent_;
    if (!question_ || question_->limit() < bound || question_->limit() >= peak) {
      if (!AskNext(bound, peak, known.orders)) break;
    }
    const bool states_alone = question_->limit() == consistent_;
    if (states_alone) slice_ = std::max(pace_.slice, effort.work / kShareOfStates);
    const std::int64_t before = question_->work();
    const std::int64_t slice = options_.best_first ? slice_ : std::min(slice_, end - work_);
    const std::array asked{Asked{&*question_, slice, effort.bytes}};
    const Question::Answer answer = AdvanceTogether(asked, effort.threads, stats, budget).front();
    work_ += std::max<std::int64_t>(1, question_->work() - before);
    slice_ *= kMoreSlice;
    if (answer == Question::Answer::kImpossible) {
      bound = question_->limit() + 1;
    } else if (answer == Question::Answer::kFound) {
      order_ = question_->order();
      peak = PeakOf(instance_, order_);
      if (question_->implied() != nullptr) of_found_ = *question_->implied();
      consistent_ = kNotKnown;
      of_consistent_.reset();
    }
    if (answer != Question::Answer::kOpen || GiveUp()) question_.reset();
    // A peak one byte lower may as well be what states refute.
    if (states_alone && answer == Question::Answer::kOpen) break;
  }
  return std::min(bound, peak);
}

}  // namespace berth::internal::schedule
