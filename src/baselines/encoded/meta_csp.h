// baselines/encoded/meta_csp.h -- rectangle packing as a meta-CSP: which of two buffers lies above.
//
// Source: Moffitt and Pollack, "Optimal Rectangle Packing: A Meta-CSP Approach", ICAPS 2006, as
// Moffitt ("MiniMalloc", ASPLOS 2023, sections 2.2 and 8) restricts it to fixed lifetimes. A
// variable for each pair that meets, whose values are its regions (encoding.h): above and below. A
// choice adds difference constraints to a network, kept consistent by one matrix of the strongest
// bounds between all pairs of offsets, updated for each new constraint.
//
// The techniques named there, and what becomes of them here:
//
//   * Incremental forward checking: a region is possible if its differences meet those that the
//     matrix allows, which takes one look. Pairs whose entries have changed are looked at again;
//     one region left is chosen at once, none left is a failure.
//   * Removal of subsumed variables: a pair whose differences all lie within one region is settled
//     and never branched on, since the network already implies it.
//   * Semantic branching: when a value has failed, its negation holds while the others are tried.
//     Above and below exclude each other, so choosing another region implies the negation by itself
//     (with the four relations of rectangles it would not), and nothing is left to add.
//
// The pairs among the largest rectangles are decided before those with the next, and of a pair the
// region with more room first. Tried instead: the pair with the least room first (Cheng and Smith's
// precedence posting), the greatest sizes first, and mixtures; of 20 tables with 20 and 30 buffers,
// 95 % full, the first decides 18 in 2 s each, all others 20, and with 60 buffers area decides 4 of
// 10 where the others decide 2 or 3.
//
// With alignments, bounds between two buffers are rounded up to the gcd of theirs; a network that
// passes may still have no aligned solution, so a leaf is solved exactly.
#ifndef BERTH_BASELINES_ENCODED_META_CSP_H_
#define BERTH_BASELINES_ENCODED_META_CSP_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "baselines/encoded/encoding.h"
#include "berth/budget.h"

namespace berth::internal {

class MetaCspSearch {
 public:
  // With more items, two matrices of all of them would take too much memory.
  static constexpr std::size_t kMostItems = 8000;

  // `encoding` must outlive this. Memory: 12 bytes for each two items.
  explicit MetaCspSearch(const Encoding& encoding);

  // Looks for a plan of at most `capacity` grains. A node is a region chosen by branching.
  // Complete: kImpossible is a proof. Deterministic unless the budget ends by time. Cost: at most
  // items^2 for each constraint added.
  [[nodiscard]] Decision Decide(Grains capacity, std::int64_t node_limit, Budget& budget);

 private:
  // Node 0 is the ground, node x + 1 item x. o_v >= o_u + bound(u, v).
  using Node = std::size_t;
  enum class Step { kConsistent, kContradiction, kGaveUp };
  struct Change {
    std::size_t cell;
    Grains old;
  };
  struct Level {
    std::size_t pair;
    std::size_t regions_begin;  // Of those still to be tried, in regions_.
    std::size_t changes;
    std::size_t settled;
    std::size_t posted;
    std::size_t first_open;
  };

  [[nodiscard]] Grains& bound(Node u, Node v) { return bounds_[u * nodes_ + v]; }
  [[nodiscard]] bool Start(Grains capacity);
  [[nodiscard]] Step Add(const Difference& difference);
  [[nodiscard]] Step Choose(std::size_t pair, std::size_t region);
  // Until no pair is left to look at.
  [[nodiscard]] Step Propagate(Budget& budget);
  // The differences that a region allows and those that the network does, met; empty if first >
  // last.
  struct Room {
    Grains first;
    Grains last;
    [[nodiscard]] Grains size() const { return last - first; }
  };
  [[nodiscard]] Room RoomIn(const Encoding::Pair& pair, std::size_t region);
  // The pair to branch on; none: pairs.size().
  [[nodiscard]] std::size_t Select();
  void PushLevel(std::size_t pair);
  void Undo(const Level& level);
  [[nodiscard]] bool Leaf(Grains capacity, std::vector<Grains>& offsets);

  const Encoding& encoding_;
  const std::size_t nodes_;
  bool aligned_ = false;               // Some alignment is not 1.
  std::vector<std::int32_t> pair_of_;  // By two items; -1: none.
  std::vector<Grains> bounds_;
  std::vector<bool> settled_;          // By pair.
  std::vector<std::size_t> settling_;  // In the order in which they were.
  std::vector<Change> changes_;
  std::vector<Difference> posted_;
  std::vector<Level> levels_;
  std::vector<std::size_t> regions_;
  std::vector<std::size_t> order_;  // Of all pairs, for branching.
  std::size_t first_open_ = 0;      // Before it in the order all are settled.
  std::vector<std::size_t> queue_;  // Pairs to look at.
  std::vector<bool> queued_;
  std::vector<std::pair<Node, Grains>> before_;  // Scratch of Add().
  std::vector<std::pair<Node, Grains>> after_;
};

}  // namespace berth::internal

#endif  // BERTH_BASELINES_ENCODED_META_CSP_H_
