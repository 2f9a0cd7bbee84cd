// baselines/encoded/csp.h -- rectangle packing as a constraint satisfaction problem over offsets.
//
// Source: the absolute formulation of Huang and Korf and others, as Moffitt ("MiniMalloc", ASPLOS
// 2023, sections 2.2 and 8) restricts it to fixed lifetimes: the domain of a buffer is every offset
// below the capacity. Depth first, the largest rectangle first, each at every offset of its domain
// in turn, from below. It was made for grids of a few dozen units a side; on larger ones it finds a
// plan in its first descent or hardly ever, which is what it is here to show.
//
// What prunes it: a placed buffer's bytes leave the domains of those it meets (forward checking);
// in each section, the free runs that are long enough for any of its unplaced buffers hold them all
// (Korf's wasted space); of twins, the first lies lowest; and a plan turned upside down is a plan,
// so the first buffer keeps to the lower half. The last three are left out where they do not hold:
// with windows, and the last with alignments or pins.
#ifndef BERTH_BASELINES_ENCODED_CSP_H_
#define BERTH_BASELINES_ENCODED_CSP_H_

#include <cstdint>
#include <vector>

#include "baselines/encoded/encoding.h"
#include "berth/budget.h"
#include "berth/problem.h"

namespace berth::internal {

class CspSearch {
 public:
  // `encoding` is that of `problem`, and must outlive this.
  CspSearch(const Problem& problem, const Encoding& encoding);

  // Looks for a plan of at most `capacity` grains. A node is a buffer placed at one offset.
  // Complete: kImpossible is a proof. Deterministic unless the budget ends by time.
  [[nodiscard]] Decision Decide(Grains capacity, std::int64_t node_limit, Budget& budget);

 private:
  struct Range {
    Grains first;
    Grains last;  // Inclusive.
  };
  using Domain = std::vector<Range>;  // Increasing, disjoint.
  struct Neighbour {
    std::size_t item;
    std::size_t pair;
    bool above;  // The pair's differences are those of the neighbour to this, not the other way.
  };
  struct Saved {
    std::size_t item;
    Domain domain;
  };
  struct Level {
    std::size_t mark;  // Of saved_.
    Grains next;       // The least offset not tried yet.
  };

  [[nodiscard]] bool Start(Grains capacity);
  // The least offset of its domain that is at least `from`; -1: none.
  [[nodiscard]] Grains NextOffset(std::size_t item, Grains from) const;
  // False if something can no longer be placed.
  [[nodiscard]] bool Place(std::size_t item, Grains offset);
  // Takes [first, last] out of a domain; false if nothing is left.
  [[nodiscard]] bool Remove(std::size_t item, Grains first, Grains last);
  [[nodiscard]] bool SectionsHold(std::size_t item);
  void Undo(std::size_t mark);

  const Encoding& encoding_;
  std::vector<std::size_t> order_;
  std::vector<std::vector<Neighbour>> neighbours_;
  std::vector<std::size_t> next_twin_;  // Of each item; its own number where it has none.
  std::vector<std::vector<std::size_t>> sections_;     // The items of each.
  std::vector<std::vector<std::size_t>> sections_of_;  // Of each item.
  bool can_turn_ = true;                               // Upside down.

  Grains capacity_ = 0;
  std::vector<Domain> domains_;
  std::vector<Grains> offsets_;  // -1: not placed.
  std::vector<Saved> saved_;
  std::vector<Range> taken_;  // Scratch.
};

}  // namespace berth::internal

#endif  // BERTH_BASELINES_ENCODED_CSP_H_
