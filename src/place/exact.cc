#include "place/exact.h"

#include <algorithm>
#include <numeric>

namespace berth::internal {
namespace {

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
                         const CanonicalOptions& options)
    : instance_(instance), grain_(Grain(instance)) {
  if (algorithm != Algorithm::kDisjunctive) {
    overlaps_ = FindOverlaps(instance);
    canonical_ = std::make_unique<CanonicalSearch>(instance, overlaps_, options);
  }
  if (algorithm == Algorithm::kDisjunctive ||
      (algorithm == Algorithm::kAuto && !overlaps_.stackable)) {
    disjunctive_ = std::make_unique<DisjunctiveSearch>(instance);
  }
  const auto n = static_cast<std::int64_t>(std::max<std::size_t>(instance.num_buffers(), 1));
  // A node looks at every unplaced buffer and, for each of some five children, at the neighbours.
  node_cost_ = n + 5 * (CountOverlaps(instance) / n + 1);
}

SearchAnswer ExactSearch::Decide(Bytes capacity, const std::vector<Bytes>* known,
                                 std::int64_t node_limit, Budget& budget) {
  SearchAnswer answer;
  if (canonical_ != nullptr) {
    const std::int64_t limit = disjunctive_ != nullptr ? (node_limit + 3) / 4 : node_limit;
    answer = canonical_->Search(capacity, known, limit, budget);
    last_ = Algorithm::kCanonical;
    const bool settled = answer.verdict == SearchAnswer::Verdict::kFound ||
                         answer.verdict == SearchAnswer::Verdict::kImpossible;
    if (settled || disjunctive_ == nullptr) return answer;
  }
  const std::int64_t nodes = answer.nodes;
  answer = disjunctive_->Search(capacity, node_limit - nodes, budget);
  answer.nodes += nodes;
  last_ = Algorithm::kDisjunctive;
  return answer;
}

}  // namespace berth::internal
