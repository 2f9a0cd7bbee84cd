#include "schedule/question.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace berth::internal::schedule {
namespace {

constexpr std::size_t kMostWidth = 4096;  // Width of a beam, in states.
constexpr std::size_t kWiden = 8;         // Factor from one beam to the next.
// Work limit of each beam, in multiples of the work of a turn. Less finds worse orders of wide
// irregular graphs; with no limit a beam takes seconds if hundreds of operators are ready.
constexpr std::int64_t kBeamShare = 32;

// Turns of less work, in units of a few nanoseconds, are over before threads have begun.
constexpr std::int64_t kLeastTurnForThreads = 400'000;

// A question for any order gives states this part of the work while constraints are still found, as states
// begin anew with each of them.
constexpr std::int64_t kEarlyShare = 4;

}  // namespace

Question::Question(const Instance& instance, const ExactOptions& options, Bytes floor, Bytes limit)
    : instance_(instance), options_(options), floor_(floor), limit_(limit), lower_bound_(floor) {
  if (options_.probing) prober_.emplace(instance_, Precedence(instance_), limit_);
  stable_ = !options_.probing;
}

Question::Question(const Instance& instance, const ExactOptions& options, Bytes limit,
                   Precedence implied)
    : instance_(instance),
      options_(options),
      floor_(limit),
      limit_(limit),
      lower_bound_(0),
      any_order_(true) {
  if (options_.probing) prober_.emplace(instance_, std::move(implied), limit_);
  stable_ = !options_.probing;
}

void Question::LowerLimit(Bytes limit) {
  BERTH_DCHECK(!any_order_);  // What ran at once within the old limit may exceed the new one.
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

Question::Found Question::Probe(std::int64_t work, int threads, Budget& budget) {
  Found found;
  const std::int64_t cuts = prober_->cuts();
  const std::size_t constraints = prober_->precedence().added().size();
  const std::int64_t before = prober_->work();
  const Prober::Verdict verdict = prober_->Run(work, threads, budget);
  found.cuts = prober_->cuts() - cuts;
  found.work = prober_->work() - before;
  found.constraints = static_cast<std::int64_t>(prober_->precedence().added().size() - constraints);
  stable_ = verdict == Prober::Verdict::kStable;
  if (verdict == Prober::Verdict::kContradiction) found.answer = Answer::kImpossible;
  return found;
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

void Question::Take(const std::vector<Op>& order, bool backwards) {
  std::vector<Op> forwards = order;
  if (backwards) std::reverse(forwards.begin(), forwards.end());
  order_ = Expand(constrained_, reduction_, forwards);
  BERTH_CHECK(PeakOf(instance_, order_) <= limit_);
}

Question::Found Question::RunBeam(std::size_t k, std::int64_t work, Budget& budget) const {
  const bool live_first = k >= (options_.backwards ? 2 : 1);
  BeamAnswer answer = Beam(IsBackwards(k) ? backwards_ : reduction_.instance,
                           {width_, floor_, limit_, options_.dominance, live_first, work}, budget);
  Found found;
  found.states = budget.nodes_spent();
  // One that ended early has not shown that a wider one is needed.
  found.out_of_work = answer.out_of_work || (!answer.order && budget.Exhausted());
  if (answer.order) {
    found.answer = Answer::kFound;
    found.order = *std::move(answer.order);
  }
  return found;
}

Question::Found Question::RunBestFirst(bool backwards, std::int64_t work, std::size_t bytes,
                                       Budget& budget) {
  auto& search = search_[backwards ? 1 : 0];
  if (!search) {
    search.emplace(backwards ? backwards_ : reduction_.instance, floor_, limit_, options_.dominance,
                   options_.valleys);
  }
  Found found;
  const std::size_t states = search->num_states();
  const std::int64_t before = search->work();
  const std::int64_t share = any_order_ && !stable_ ? kEarlyShare : 1;
  const BestFirst::Verdict verdict = search->Run(work / share, bytes, budget);
  found.states = static_cast<std::int64_t>(search->num_states() - states);
  found.work = search->work() - before;
  if (verdict == BestFirst::Verdict::kFound) {
    found.answer = Answer::kFound;
    found.order = search->order();
  }
  if (verdict == BestFirst::Verdict::kImpossible) found.answer = Answer::kImpossible;
  return found;
}

std::size_t Question::NumTasks(Stage stage, std::int64_t work) const {
  if (stage == Stage::kProbing) return 1;
  const std::size_t directions = options_.backwards ? 2 : 1;
  if (stage == Stage::kBestFirst) return options_.best_first ? directions : 0;
  // Most known orders are optimal already, and little best-first search proves it, so beams come
  // later.
  if (!options_.beam || any_order_ || (first_turn_ && options_.best_first)) return 0;
  return static_cast<std::int64_t>(width_ * instance_.num_ops) * 200 < work ? 2 * directions : 0;
}

AfterTask Question::RunTask(Stage stage, std::size_t k, const Effort& effort, Budget& budget) {
  found_[k] = {};
  if (stage == Stage::kProbing) {
    if (!stable_) found_[k] = Probe(effort.work, effort.threads, budget);
    const bool constraints_alone = any_order_ && !options_.best_first;
    if (found_[k].answer == Answer::kOpen && !constraints_alone && !budget.TimeIsUp()) {
      Rebuild(budget);
    }
  } else if (stage == Stage::kBeams) {
    found_[k] = RunBeam(k, kBeamShare * effort.work, budget);
  } else {
    found_[k] = RunBestFirst(IsBackwards(k), effort.work, effort.bytes, budget);
  }
  if (found_[k].answer == Answer::kImpossible) return AfterTask::kEnd;
  return found_[k].answer == Answer::kFound ? AfterTask::kEndGroup : AfterTask::kGoOn;
}

Question::Answer Question::EndStage(Stage stage, std::size_t counted, std::size_t bytes,
                                    SearchStats& stats) {
  bool out_of_work = false;
  Answer answer = Answer::kOpen;
  for (std::size_t k = 0; k < counted; ++k) {
    const Found& found = found_[k];
    stats.cuts += found.cuts;
    stats.constraints += found.constraints;
    stats.states += found.states;
    work_ += found.work;
    out_of_work = out_of_work || found.out_of_work;
    if (found.answer == Answer::kFound) Take(found.order, IsBackwards(k));
    if (found.answer == Answer::kImpossible) lower_bound_ = limit_ + 1;
    if (found.answer != Answer::kOpen) answer = found.answer;
  }
  if (stage == Stage::kBeams && counted > 0 && answer == Answer::kOpen && !out_of_work) {
    width_ = std::min(width_ * kWiden, kMostWidth);
  }
  if (stage != Stage::kBestFirst) return answer;
  first_turn_ = false;
  if (!options_.best_first) {
    exhausted_ = stable_ && (!options_.beam || any_order_ || width_ == kMostWidth);
    return answer;
  }
  exhausted_ = true;
  for (std::size_t k = 0; k < search_.size(); ++k) {
    auto& search = search_[k];
    if (!search) continue;
    if (k >= counted) {
      search.reset();  // Its sibling has answered, and it may have gone on until it heard of that.
      continue;
    }
    if (!any_order_) {
      lower_bound_ = std::max(lower_bound_, std::min(limit_ + 1, search->lower_bound()));
    }
    exhausted_ = exhausted_ && search->bytes() > bytes;
  }
  return answer;
}

namespace {

// One stage of those that have no answer yet.
void RunStage(Question::Stage stage, std::span<const Asked> asked,
              std::vector<Question::Answer>& answers, int threads, SearchStats& stats,
              Budget& budget) {
  std::vector<std::size_t> open;
  std::size_t group = 0;
  std::int64_t work = 0;
  std::int64_t nodes = 0;
  for (std::size_t q = 0; q < asked.size(); ++q) {
    if (answers[q] == Question::Answer::kImpossible) break;
    if (answers[q] == Question::Answer::kFound) continue;
    const std::size_t tasks = asked[q].question->NumTasks(stage, asked[q].work);
    if (tasks == 0) {
      answers[q] = asked[q].question->EndStage(stage, 0, asked[q].bytes, stats);
      continue;
    }
    group = tasks;
    work = std::max(work, asked[q].work);
    nodes = std::max(nodes, asked[q].question->NodesOfTask(stage));
    open.push_back(q);
  }
  if (open.empty()) return;
  const std::size_t count = open.size() * group;
  SideBySide tasks(count, group, budget);
  const int of_task = std::max(1, threads / static_cast<int>(count));
  const auto run = [&](std::size_t i, Budget& own) {
    const Asked& each = asked[open[i / group]];
    return each.question->RunTask(stage, i % group, {each.work, each.bytes, of_task}, own);
  };
  tasks.Run(work < kLeastTurnForThreads ? 1 : threads, run, nodes);
  for (std::size_t k = 0; k < open.size(); ++k) {
    std::size_t counted = 0;
    while (counted < group && tasks.counts(k * group + counted)) ++counted;
    if (counted == 0) break;  // A higher limit is too low.
    const Asked& each = asked[open[k]];
    answers[open[k]] = each.question->EndStage(stage, counted, each.bytes, stats);
  }
}

}  // namespace

std::vector<Question::Answer> AdvanceTogether(std::span<const Asked> asked, int threads,
                                              SearchStats& stats, Budget& budget) {
  std::vector<Question::Answer> answers(asked.size(), Question::Answer::kOpen);
  for (const Question::Stage stage : Question::kStages) {
    RunStage(stage, asked, answers, threads, stats, budget);
    if (budget.Exhausted()) break;
  }
  return answers;
}

}  // namespace berth::internal::schedule
