#include "place/exact.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace berth::internal {
namespace {

// Each pair that meets counts twice and takes 24 bytes (disjunctive: 40): some 2 GB.
constexpr std::int64_t kMostOverlaps = 100'000'000;
// Each piece takes 4 bytes in each section, twice with the beam: some 2 GB.
constexpr std::int64_t kMostMembers = 250'000'000;

constexpr std::int64_t kFirstTurnNodes = 1000;
constexpr std::int64_t kMostTurnNodes = std::int64_t{1} << 60;

// The guided search joins in after so many nodes of the niche search, and has one node for so many
// of its: a node of its takes some ten times as long. Not for more pairs than this: their state is
// large, and a node looks at many of them.
constexpr std::int64_t kNodesBeforeProver = 20'000;
constexpr std::int64_t kNodesForOneIfFull = 12;
constexpr std::int64_t kNodesForOne = 200;
constexpr std::int64_t kMostProverOverlaps = 1'000'000;

}  // namespace

ExactSearch::ExactSearch(const Instance& instance, Algorithm algorithm, const PlaceOptions& options,
                         const Budget& budget)
    : instance_(instance),
      guided_options_(options.guided),
      seed_(options.seed),
      grain_(Grain(instance)) {
  const auto n = static_cast<std::int64_t>(std::max<std::size_t>(instance.num_buffers(), 1));
  dive_nodes_ = 2 * n;
  const bool is_auto = algorithm == Algorithm::kAuto;
  if (is_auto || algorithm == Algorithm::kNiche) {
    std::int64_t members = 0;
    for (const Piece& piece : instance.pieces) members += piece.last.value() - piece.first.value();
    too_large_ = members > kMostMembers;
    if (too_large_) return;
    niche_ = std::make_unique<NicheSearch>(instance, options.niche, options.seed);
    searches_.push_back(Algorithm::kNiche);
    // A node looks at every lane, some of them several times, and at many sections.
    node_cost_ = 500 + 2 * static_cast<std::int64_t>(instance.pieces.size()) +
                 4 * static_cast<std::int64_t>(instance.num_sections());
    may_prove_ = is_auto && !instance.has_windows;
    if (algorithm == Algorithm::kNiche || may_prove_) return;
  }
  const std::int64_t pairs = CountOverlaps(instance);
  if (pairs > kMostOverlaps) {
    too_large_ = !is_auto;
    return;
  }
  auto overlaps = FindOverlaps(instance, budget);
  if (!overlaps) return;
  overlaps_ = std::move(*overlaps);
  if (algorithm == Algorithm::kGuided) {
    guided_ = std::make_unique<GuidedSearch>(instance, overlaps_, options.guided, options.seed);
    searches_.push_back(Algorithm::kGuided);
    node_cost_ = std::max(node_cost_, 10 * (pairs / n + 1));
    return;
  }
  if (algorithm != Algorithm::kDisjunctive) {
    canonical_ = std::make_unique<CanonicalSearch>(instance, overlaps_, options.canonical);
    searches_.push_back(Algorithm::kCanonical);
  }
  if (algorithm == Algorithm::kDisjunctive || (is_auto && !overlaps_.stackable)) {
    disjunctive_ = std::make_unique<DisjunctiveSearch>(instance, overlaps_);
    searches_.push_back(Algorithm::kDisjunctive);
  }
  // A node looks at every unplaced buffer and, for each of some five children, at the neighbours.
  node_cost_ = std::max(node_cost_, n + 5 * (pairs / n + 1));
}

SearchAnswer ExactSearch::Ask(Algorithm algorithm, Bytes capacity, const std::vector<Bytes>* known,
                              std::int64_t node_limit, Budget& budget) {
  last_ = algorithm;
  if (algorithm == Algorithm::kNiche) return niche_->Search(capacity, node_limit, budget);
  if (algorithm == Algorithm::kDisjunctive) {
    return disjunctive_->Search(capacity, node_limit, budget);
  }
  if (algorithm == Algorithm::kGuided) {
    SearchAnswer answer = guided_->Search(capacity, node_limit, budget);
    stats_.failures += answer.stats.failures;
    stats_.minor_backtracks += answer.stats.minor_backtracks;
    stats_.major_backtracks += answer.stats.major_backtracks;
    return answer;
  }
  return canonical_->Search(capacity, known, node_limit, budget);
}

// False if it cannot be used here.
bool ExactSearch::MakeProver(const Budget& budget) {
  if (guided_ != nullptr) return true;
  if (CountOverlaps(instance_) > kMostProverOverlaps) return false;
  auto overlaps = FindOverlaps(instance_, budget);
  if (!overlaps) return false;
  overlaps_ = std::move(*overlaps);
  guided_ = std::make_unique<GuidedSearch>(instance_, overlaps_, guided_options_, seed_);
  return true;
}

SearchAnswer ExactSearch::DecideWithProver(Bytes capacity, std::int64_t node_limit,
                                           Budget& budget) {
  if (capacity != asked_) {
    asked_ = capacity;
    niche_nodes_ = 0;
    guided_nodes_ = 0;
  }
  SearchAnswer answer;
  std::int64_t nodes = 0;
  while (nodes < node_limit) {
    std::int64_t due = 0;  // Nodes of the guided search.
    if (may_prove_ && niche_nodes_ >= kNodesBeforeProver) {
      const std::int64_t for_one = niche_->is_full() ? kNodesForOneIfFull : kNodesForOne;
      due = niche_nodes_ / for_one - guided_nodes_;
      if (due > 0) may_prove_ = MakeProver(budget);
    }
    if (due > 0 && may_prove_) {
      answer =
          Ask(Algorithm::kGuided, capacity, nullptr, std::min(due, node_limit - nodes), budget);
      guided_nodes_ += answer.nodes;
      // It gave up at once, and would again and again.
      if (answer.nodes == 0 && answer.verdict == SearchAnswer::Verdict::kGaveUp) may_prove_ = false;
    } else {
      // Each turn as long as all before: starting again and again would cost it its longest runs.
      const std::int64_t turn =
          may_prove_ ? std::max(kNodesBeforeProver, niche_nodes_) : node_limit;
      answer =
          Ask(Algorithm::kNiche, capacity, nullptr, std::min(turn, node_limit - nodes), budget);
      niche_nodes_ += answer.nodes;
    }
    nodes += answer.nodes;
    if (answer.verdict != SearchAnswer::Verdict::kGaveUp || budget.Exhausted()) break;
  }
  answer.nodes = nodes;
  return answer;
}

SearchAnswer ExactSearch::Decide(Bytes capacity, const std::vector<Bytes>* known,
                                 std::int64_t node_limit, Budget& budget) {
  if (searches_.empty()) return {};
  if (may_prove_) return DecideWithProver(capacity, node_limit, budget);
  if (searches_.size() == 1) return Ask(searches_.front(), capacity, known, node_limit, budget);
  // One may find at once what another never does: they take turns, each with twice the nodes of the
  // turn before, until one has an answer or all are through without one.
  SearchAnswer answer;
  std::int64_t nodes = 0;
  std::vector<Algorithm> open = searches_;
  for (std::int64_t turn = kFirstTurnNodes; !open.empty();
       turn = std::min(2 * turn, kMostTurnNodes)) {
    for (const Algorithm algorithm : std::vector(open)) {
      answer = Ask(algorithm, capacity, known, std::min(turn, node_limit - nodes), budget);
      nodes += answer.nodes;
      answer.nodes = nodes;
      if (answer.verdict == SearchAnswer::Verdict::kInconclusive) std::erase(open, algorithm);
      if (answer.verdict == SearchAnswer::Verdict::kFound ||
          answer.verdict == SearchAnswer::Verdict::kImpossible) {
        return answer;
      }
      if (nodes >= node_limit || budget.Exhausted()) {
        answer.verdict = SearchAnswer::Verdict::kGaveUp;
        return answer;
      }
    }
  }
  return answer;
}

}  // namespace berth::internal
