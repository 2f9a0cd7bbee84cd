#include "schedule/question.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "schedule/beam.h"

namespace berth::internal::schedule {
namespace {

constexpr std::size_t kMostWidth = 4096;  // Width of a beam, in states.
constexpr std::size_t kWiden = 8;         // Factor from one beam to the next.
// Work limit of each beam, in multiples of the work of a turn. Less finds worse orders of wide
// irregular graphs; with no limit a beam takes seconds if hundreds of operators are ready.
constexpr std::int64_t kBeamShare = 32;

}  // namespace

Question::Question(const Instance& instance, const ExactOptions& options, Bytes floor, Bytes limit)
    : instance_(instance), options_(options), floor_(floor), limit_(limit), lower_bound_(floor) {
  if (options_.probing) prober_.emplace(instance_, Precedence(instance_), limit_);
  stable_ = !options_.probing;
}

void Question::LowerLimit(Bytes limit) {
  if (limit >= limit_) return;
  limit_ = limit;
  if (prober_) {
    prober_->LowerLimit(limit);
    stable_ = false;
  }
  for (auto& search : search_) {
    if (search) search->LowerLimit(limit);
  }
}

Question::Answer Question::Probe(std::int64_t work, SearchStats& stats, Budget& budget) {
  const std::int64_t cuts = prober_->cuts();
  const std::size_t constraints = prober_->precedence().added().size();
  const Prober::Verdict verdict = prober_->Run(work, budget);
  stats.cuts += prober_->cuts() - cuts;
  stats.constraints +=
      static_cast<std::int64_t>(prober_->precedence().added().size() - constraints);
  if (verdict == Prober::Verdict::kContradiction) {
    lower_bound_ = limit_ + 1;
    return Answer::kImpossible;
  }
  stable_ = verdict == Prober::Verdict::kStable;
  return Answer::kOpen;
}

void Question::Rebuild(Budget& budget) {
  const std::size_t constraints = prober_ ? prober_->precedence().added().size() : 0;
  if (built_with_ == constraints) return;
  built_with_ = constraints;
  search_[0].reset();
  search_[1].reset();
  constrained_ = constraints == 0 ? instance_ : WithPrecedence(instance_, prober_->precedence());
  if (options_.reduction && constraints > 0) {
    reduction_ = Reduce(
        constrained_,
        TopologicalOrder(constrained_.num_ops, constrained_.predecessors, constrained_.successors),
        true, budget);
  } else {
    reduction_ = NoReduction(constrained_);
  }
  backwards_ = Reversed(reduction_.instance);
}

Question::Answer Question::Found(const std::vector<Op>& order, bool backwards) {
  std::vector<Op> forwards = order;
  if (backwards) std::reverse(forwards.begin(), forwards.end());
  order_ = Expand(constrained_, reduction_, forwards);
  BERTH_CHECK(PeakOf(instance_, order_) <= limit_);
  return Answer::kFound;
}

Question::Answer Question::RunBeams(std::int64_t work, SearchStats& stats, Budget& budget) {
  bool out_of_work = false;
  for (const bool live_first : {false, true}) {
    for (const bool backwards : {false, true}) {
      if (backwards && !options_.backwards) continue;
      const std::int64_t nodes = budget.nodes_spent();
      const BeamAnswer answer =
          Beam(backwards ? backwards_ : reduction_.instance,
               {width_, floor_, limit_, options_.dominance, live_first, work}, budget);
      stats.states += budget.nodes_spent() - nodes;
      if (answer.order) return Found(*answer.order, backwards);
      out_of_work = out_of_work || answer.out_of_work;
      if (budget.Exhausted()) return Answer::kOpen;
    }
  }
  if (!out_of_work) width_ = std::min(width_ * kWiden, kMostWidth);
  return Answer::kOpen;
}

Question::Answer Question::RunBestFirst(std::int64_t work, std::size_t bytes, SearchStats& stats,
                                        Budget& budget) {
  exhausted_ = true;
  for (const bool backwards : {false, true}) {
    if (backwards && !options_.backwards) continue;
    auto& search = search_[backwards ? 1 : 0];
    if (!search) {
      search.emplace(backwards ? backwards_ : reduction_.instance, floor_, limit_,
                     options_.dominance, options_.valleys);
    }
    const std::size_t states = search->num_states();
    const BestFirst::Verdict verdict = search->Run(work, bytes, budget);
    stats.states += static_cast<std::int64_t>(search->num_states() - states);
    lower_bound_ = std::max(lower_bound_, std::min(limit_ + 1, search->lower_bound()));
    if (verdict == BestFirst::Verdict::kFound) return Found(search->order(), backwards);
    if (verdict == BestFirst::Verdict::kImpossible) {
      lower_bound_ = limit_ + 1;
      return Answer::kImpossible;
    }
    exhausted_ = exhausted_ && search->bytes() > bytes;
  }
  return Answer::kOpen;
}

Question::Answer Question::Advance(std::int64_t work, std::size_t bytes, SearchStats& stats,
                                   Budget& budget) {
  if (!stable_) {
    const Answer answer = Probe(work, stats, budget);
    if (answer != Answer::kOpen || budget.Exhausted()) return answer;
  }
  Rebuild(budget);
  // Most known orders are optimal already, and little best-first search proves it, so beams come
  // later.
  const bool first = std::exchange(first_turn_, false) && options_.best_first;
  if (first) {
    const Answer answer = RunBestFirst(work, bytes, stats, budget);
    if (answer != Answer::kOpen || budget.Exhausted()) return answer;
  }
  if (options_.beam && static_cast<std::int64_t>(width_ * instance_.num_ops) * 200 < work) {
    const Answer answer = RunBeams(kBeamShare * work, stats, budget);
    if (answer != Answer::kOpen || budget.Exhausted()) return answer;
  }
  if (first) return Answer::kOpen;
  if (options_.best_first) return RunBestFirst(work, bytes, stats, budget);
  exhausted_ = stable_ && (!options_.beam || width_ == kMostWidth);
  return Answer::kOpen;
}

}  // namespace berth::internal::schedule
