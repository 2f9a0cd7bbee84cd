#include "place/exact.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace berth::internal {
namespace {

// Each pair that meets counts twice and takes 24 bytes (disjunctive: 40): some 2 GB.
constexpr std::int64_t kMostOverlaps = 100'000'000;
// Each piece takes 4 bytes in each section: some 1 GB.
constexpr std::int64_t kMostMembers = 250'000'000;

constexpr std::int64_t kFirstTurnNodes = 1000;
constexpr std::int64_t kMostTurnNodes = std::int64_t{1} << 60;

}  // namespace

ExactSearch::ExactSearch(const Instance& instance, Algorithm algorithm, const PlaceOptions& options,
                         const Budget& budget)
    : grain_(Grain(instance)) {
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
    if (algorithm == Algorithm::kNiche || !instance.has_windows) return;
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
  if (algorithm == Algorithm::kTelaMalloc) {
    telamalloc_ = std::make_unique<TelaMallocSearch>(instance, overlaps_, options.guided);
    searches_.push_back(Algorithm::kTelaMalloc);
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
  if (algorithm == Algorithm::kTelaMalloc || algorithm == Algorithm::kGuided) {
    SearchAnswer answer = algorithm == Algorithm::kGuided
                              ? guided_->Search(capacity, node_limit, budget)
                              : telamalloc_->Search(capacity, node_limit, budget);
    stats_.failures += answer.stats.failures;
    stats_.minor_backtracks += answer.stats.minor_backtracks;
    stats_.major_backtracks += answer.stats.major_backtracks;
    return answer;
  }
  return canonical_->Search(capacity, known, node_limit, budget);
}

SearchAnswer ExactSearch::Decide(Bytes capacity, const std::vector<Bytes>* known,
                                 std::int64_t node_limit, Budget& budget) {
  if (searches_.empty()) return {};
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
