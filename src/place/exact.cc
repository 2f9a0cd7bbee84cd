#include "place/exact.h"

#include <algorithm>

namespace berth::internal {
namespace {

using Verdict = SearchAnswer::Verdict;

constexpr std::int64_t kFirstTurnNodes = 1000;
constexpr std::int64_t kMostTurnNodes = std::int64_t{1} << 60;

// The prover joins in after this many nodes of the first engine. It then gets one node per
// kNodesForOne of that engine's nodes (per kNodesForOneIfFull where there is hardly any slack),
// since its nodes take about ten times as long.
constexpr std::int64_t kNodesBeforeProver = 20'000;
// Pins take the symmetry away that the first engine lives on: then the prover often needs a
// thousandth of its nodes.
constexpr std::int64_t kNodesBeforeProverWithPins = 500;
constexpr std::int64_t kNodesForOneIfFull = 12;
constexpr std::int64_t kNodesForOne = 200;

}  // namespace

ExactSearch::ExactSearch(const Instance& instance, Algorithm algorithm,
                         const EngineOptions& options, std::uint64_t seed, const Budget& budget)
    : subject_(instance, options, seed, budget),
      nodes_before_prover_(instance.has_pins ? kNodesBeforeProverWithPins : kNodesBeforeProver),
      dive_nodes_(2 * static_cast<std::int64_t>(std::max<std::size_t>(instance.num_buffers(), 1))) {
  const bool is_auto = algorithm == Algorithm::kAuto;
  for (const EngineInfo& engine : Engines()) {
    if (is_auto ? !engine.helps(subject_) : engine.algorithm != algorithm) continue;
    if (!engine.fits(subject_)) {
      too_large_ = turns_.empty();
      return;
    }
    if (is_auto && engine.is_prover) {
      prover_.engine = &engine;
      continue;
    }
    auto search = engine.make(subject_);
    if (search == nullptr) return;
    turns_.push_back({&engine, std::move(search)});
    node_cost_ = std::max(node_cost_, engine.node_cost(subject_));
  }
}

SearchAnswer ExactSearch::Decide(const Question& question, Budget& budget) {
  if (turns_.empty()) return {};
  if (question.capacity != asked_) {
    asked_ = question.capacity;
    for (Turn& turn : turns_) turn.nodes = 0;
    prover_.nodes = 0;
  }
  if (prover_.engine != nullptr) return DecideWithProver(question, budget);
  if (turns_.size() == 1) return Ask(turns_.front(), question, question.node_limit, budget);
  return TakeTurns(question, budget);
}

SearchAnswer ExactSearch::Ask(Turn& turn, Question question, std::int64_t node_limit,
                              Budget& budget) {
  question.node_limit = node_limit;
  last_ = turn.engine->algorithm;
  SearchAnswer answer = turn.search->Decide(question, budget);
  turn.nodes += answer.nodes;
  stats_.failures += answer.stats.failures;
  stats_.minor_backtracks += answer.stats.minor_backtracks;
  stats_.major_backtracks += answer.stats.major_backtracks;
  return answer;
}

// One may find at once what another never does: they take turns, each with twice the nodes of the
// turn before, until one has an answer or all are through without one.
SearchAnswer ExactSearch::TakeTurns(const Question& question, Budget& budget) {
  SearchAnswer answer;
  std::int64_t nodes = 0;
  std::vector<Turn*> open;
  for (Turn& turn : turns_) open.push_back(&turn);
  for (std::int64_t round = kFirstTurnNodes; !open.empty();
       round = std::min(2 * round, kMostTurnNodes)) {
    for (Turn* const turn : std::vector(open)) {
      answer = Ask(*turn, question, std::min(round, question.node_limit - nodes), budget);
      nodes += answer.nodes;
      answer.nodes = nodes;
      if (answer.verdict == Verdict::kInconclusive) std::erase(open, turn);
      if (answer.verdict == Verdict::kFound || answer.verdict == Verdict::kImpossible) {
        return answer;
      }
      if (nodes >= question.node_limit || budget.Exhausted()) {
        answer.verdict = Verdict::kGaveUp;
        return answer;
      }
    }
  }
  return answer;
}

// Nodes of the prover that are due.
std::int64_t ExactSearch::DueToProver() const {
  const Turn& first = turns_.front();
  if (prover_.engine == nullptr || first.nodes < nodes_before_prover_) return 0;
  const bool equals = subject_.instance().has_pins || first.search->is_full();
  const std::int64_t for_one = equals ? kNodesForOneIfFull : kNodesForOne;
  return std::max<std::int64_t>(first.nodes / for_one - prover_.nodes, 0);
}

// Makes the prover when it is first due; where that takes too long, none joins in.
bool ExactSearch::HasProver() {
  if (prover_.engine == nullptr) return false;
  if (prover_.search == nullptr) prover_.search = prover_.engine->make(subject_);
  if (prover_.search == nullptr) prover_.engine = nullptr;
  return prover_.engine != nullptr;
}

SearchAnswer ExactSearch::DecideWithProver(const Question& question, Budget& budget) {
  SearchAnswer answer;
  std::int64_t nodes = 0;
  while (nodes < question.node_limit) {
    const std::int64_t left = question.node_limit - nodes;
    const std::int64_t due = DueToProver();
    if (due > 0 && HasProver()) {
      answer = Ask(prover_, question, std::min(due, left), budget);
      // It gave up at once, and would again and again.
      if (answer.nodes == 0 && answer.verdict == Verdict::kGaveUp) prover_.engine = nullptr;
    } else {
      // Each turn as long as all before: starting again and again would cost the first engine its
      // longest runs.
      Turn& first = turns_.front();
      const std::int64_t turn =
          prover_.engine != nullptr ? std::max(nodes_before_prover_, first.nodes) : left;
      answer = Ask(first, question, std::min(turn, left), budget);
    }
    nodes += answer.nodes;
    if (answer.verdict != Verdict::kGaveUp || budget.Exhausted()) break;
  }
  answer.nodes = nodes;
  return answer;
}

}  // namespace berth::internal
