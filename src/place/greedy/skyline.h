// place/greedy/skyline.h -- the highest byte taken so far, for each section.
//
// A segment tree over the sections: `whole` of a node is a level that all its sections have
// reached, `highest` the highest level of any of them. Levels only rise, so nothing is ever pushed
// down. Cost: O(log n) for each operation.
#ifndef BERTH_PLACE_GREEDY_SKYLINE_H_
#define BERTH_PLACE_GREEDY_SKYLINE_H_

#include <algorithm>
#include <bit>
#include <cstddef>
#include <vector>

#include "model/instance.h"

namespace berth::internal::greedy {

class Skyline {
 public:
  explicit Skyline(std::size_t num_sections)
      : leaves_(std::bit_ceil(std::max<std::size_t>(num_sections, 1))), nodes_(2 * leaves_) {}

  // The highest level within [first, last), at least 0.
  [[nodiscard]] Bytes Highest(SectionIndex first, SectionIndex last) const {
    Bytes level = 0;
    ForNodes(first, last, [&](std::size_t node) { level = std::max(level, nodes_[node].highest); });
    ForNodesAbove(first, last,
                  [&](std::size_t node) { level = std::max(level, nodes_[node].whole); });
    return level;
  }
  // Sections [first, last) reach at least `level`.
  void Raise(SectionIndex first, SectionIndex last, Bytes level) {
    const auto raise = [&](Bytes& old) { old = std::max(old, level); };
    ForNodes(first, last, [&](std::size_t node) {
      raise(nodes_[node].whole);
      raise(nodes_[node].highest);
    });
    ForNodesAbove(first, last, [&](std::size_t node) { raise(nodes_[node].highest); });
  }
  void Clear() { nodes_.assign(nodes_.size(), {}); }

 private:
  struct Node {
    Bytes whole = 0;
    Bytes highest = 0;
  };

  // The fewest nodes that make up [first, last).
  template <typename Visit>
  void ForNodes(SectionIndex first, SectionIndex last, Visit visit) const {
    std::size_t left = first.position() + leaves_;
    std::size_t right = last.position() + leaves_;
    for (; left < right; left /= 2, right /= 2) {
      if (left % 2 == 1) visit(left++);
      if (right % 2 == 1) visit(--right);
    }
  }
  // The nodes above both ends of [first, last): all nodes above the former ones, and some within
  // them, which do no harm.
  template <typename Visit>
  void ForNodesAbove(SectionIndex first, SectionIndex last, Visit visit) const {
    if (first == last) return;
    std::size_t left = (first.position() + leaves_) / 2;
    std::size_t right = (last.position() - 1 + leaves_) / 2;
    for (; left != right; left /= 2, right /= 2) {
      visit(left);
      visit(right);
    }
    for (; left > 0; left /= 2) visit(left);
  }

  std::size_t leaves_;  // A power of two; node 1 is the root, the children of k are 2k and 2k + 1.
  std::vector<Node> nodes_;
};

}  // namespace berth::internal::greedy

#endif  // BERTH_PLACE_GREEDY_SKYLINE_H_
