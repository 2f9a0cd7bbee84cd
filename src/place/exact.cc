#include "place/exact.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

namespace berth::internal {
namespace {

// Each pair that meets counts twice and takes 24 bytes (disjunctive: 40): some 2 GB.
constexpr std::int64_t kMostOverlaps = 100'000'000;

constexpr std::int64_t kFirstTurnNodes = 1000;
constexpr std::int64_t kMostTurnNodes = std::int64_t{1} << 60;

// Offsets of a plan that cannot be lowered are 0, a pin, or another offset plus a clearance,
// rounded up to an alignment: if all of these are multiples of g, so is every offset, and every
// top.
Bytes Grain(const Instance& instance) {
  Bytes grain = 0;
  for (const BufferIndex b : instance.buffers()) {
    grain = std::gcd(grain, instance.size[b]);
    if (instance.alignment[b] != 1) grain = std::gcd(grain, instance.alignment[b]);
    if (instance.pin[b] != kNone) grain = std::gcd(grain, instance.pin[b]);
  }
  for (const Piece& piece : instance.pieces) {
    grain = std::gcd(std::gcd(grain, piece.lower), piece.upper);
  }
  return std::max<Bytes>(grain, 1);
}

}  // namespace

ExactSearch::ExactSearch(const Instance& instance, Algorithm algorithm,
                         const PlaceOptions& options, const Budget& budget)
    : grain_(Grain(instance)) {
  if (algorithm == Algorithm::kNiche) {
    niche_ = std::make_unique<NicheSearch>(instance, options.niche, options.seed);
    return;
  }
  const std::int64_t pairs = CountOverlaps(instance);
  if (pairs > kMostOverlaps) {
    too_large_ = true;
    return;
  }
  auto overlaps = FindOverlaps(instance, budget);
  if (!overlaps) return;
  overlaps_ = std::move(*overlaps);
  if (algorithm != Algorithm::kDisjunctive) {
    canonical_ = std::make_unique<CanonicalSearch>(instance, overlaps_, options.canonical);
  }
  if (algorithm == Algorithm::kDisjunctive ||
      (algorithm == Algorithm::kAuto && !overlaps_.stackable)) {
    disjunctive_ = std::make_unique<DisjunctiveSearch>(instance, overlaps_);
  }
  const auto n = static_cast<std::int64_t>(std::max<std::size_t>(instance.num_buffers(), 1));
  // A node looks at every unplaced buffer and, for each of some five children, at the neighbours.
  node_cost_ = n + 5 * (pairs / n + 1);
}

SearchAnswer ExactSearch::Decide(Bytes capacity, const std::vector<Bytes>* known,
                                 std::int64_t node_limit, Budget& budget) {
  if (niche_ != nullptr) {
    last_ = Algorithm::kNiche;
    return niche_->Search(capacity, known, node_limit, budget);
  }
  if (disjunctive_ == nullptr) {
    last_ = Algorithm::kCanonical;
    return canonical_ == nullptr ? SearchAnswer()
                                 : canonical_->Search(capacity, known, node_limit, budget);
  }
  if (canonical_ == nullptr) {
    last_ = Algorithm::kDisjunctive;
    return disjunctive_->Search(capacity, node_limit, budget);
  }
  // One may find at once what the other never does: they take turns, each with twice the nodes of
  // the turn before.
  SearchAnswer answer;
  std::int64_t nodes = 0;
  bool canonical_can = true;
  for (std::int64_t turn = kFirstTurnNodes;; turn = std::min(2 * turn, kMostTurnNodes)) {
    for (const Algorithm algorithm : {Algorithm::kCanonical, Algorithm::kDisjunctive}) {
      const std::int64_t limit = std::min(turn, node_limit - nodes);
      if (algorithm == Algorithm::kCanonical && !canonical_can) continue;
      answer = algorithm == Algorithm::kCanonical
                   ? canonical_->Search(capacity, known, limit, budget)
                   : disjunctive_->Search(capacity, limit, budget);
      last_ = algorithm;
      nodes += answer.nodes;
      canonical_can &= answer.verdict != SearchAnswer::Verdict::kInconclusive;
      answer.nodes = nodes;
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
}

}  // namespace berth::internal
