// schedule/reach.h -- which operators precede which, exactly for small graphs, nearly for large.
//
// A row of bits for each operator answers everything but takes n^2 / 8 bytes. Without rows, two
// rules answer "yes" where they can, in linear memory, and "no" otherwise, which may be wrong:
//
//   * The operators h[0], h[1], ... of a longest path form a chain. If up[a] is the first of them
//     that a leads to, and down[b] the last of them that leads to b, then a precedes b if
//     up[a] <= down[b]. The layers of a network, its loss and the gradients back through its layers
//     are mostly one such chain, and most operators lead into it and out of it within a few steps.
//   * A search from b back to a, among the operators that lie between them in a given order, ends
//     after kMostVisits operators.
#ifndef BERTH_SCHEDULE_REACH_H_
#define BERTH_SCHEDULE_REACH_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "schedule/instance.h"

namespace berth::internal::schedule {

class Reach {
 public:
  // `instance` must outlive this. `order` is any valid order. With `rows`, answers are exact.
  Reach(const Instance& instance, std::span<const Op> order, bool rows);

  // True only if a precedes b.
  [[nodiscard]] bool Precedes(Op a, Op b);
  // Row v: the operators that precede v. Null without rows.
  [[nodiscard]] const BitMatrix* rows() const { return rows_ ? &*rows_ : nullptr; }

 private:
  static constexpr std::size_t kMostVisits = 64;

  void FindChain(std::span<const Op> order);
  [[nodiscard]] bool Search(Op a, Op b);

  const Instance& instance_;
  std::optional<BitMatrix> rows_;
  std::vector<std::uint32_t> position_;
  std::vector<std::uint32_t> up_, down_;  // As above, counted from 1; down_ is 0 for none.
  std::vector<std::uint32_t> seen_;       // By operator: the last search that visited it.
  std::uint32_t search_ = 0;
  std::vector<Op> queue_;
};

}  // namespace berth::internal::schedule

#endif  // BERTH_SCHEDULE_REACH_H_
