// memories/selection.h -- which items go into which limited memories, bytes counted by sum alone.
//
// The choice of memories without addresses. An item is a buffer, or several that stand together. It
// is left out, or takes one of its options, each of which puts it into one memory and is worth a
// profit. No section of time may hold more bytes than a memory has:
//
//   bytes
//    8 | - - - - - - - - - -   capacity of memory 0
//      |     +-----+
//      |     |  c  |           Of a, b and c at most two fit here, so one of them is left out.
//    4 +-----+--+--+--+
//      |   a    |  b  |
//    0 +--------+-----+--> section
//      0     1  2  3  4
//
// With one memory and one option each this is the temporal knapsack problem, or unsplittable flow on
// a path.
#ifndef BERTH_MEMORIES_SELECTION_H_
#define BERTH_MEMORIES_SELECTION_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "berth/problem.h"

namespace berth::internal::memories {

// Bytes live in the sections [first, last) of one item.
struct Stay {
  std::size_t first = 0;
  std::size_t last = 0;
  Bytes bytes = 0;
};

struct Option {
  std::size_t memory = 0;
  std::int64_t profit = 0;  // At least 1.
};

// Options of one item at most: each has a bit in a word. What has more ways is several items, of which at most
// one is taken.
inline constexpr std::size_t kMostOptions = 60;

struct Item {
  std::vector<Stay> stays;  // In order of time, disjoint, at least one. They may have no bytes.
  std::vector<Option> options;
  [[nodiscard]] std::size_t first() const { return stays.front().first; }
  [[nodiscard]] std::size_t last() const { return stays.back().last; }
};

// One option of one item.
struct Literal {
  std::size_t item = 0;
  std::size_t option = 0;
  friend auto operator<=>(const Literal&, const Literal&) = default;
};

// Not all of these options may be taken together. At least two, each of another item.
struct Nogood {
  std::vector<std::vector<Literal>> members;  // Any one literal of each member counts.
};

// Two items of which one could take the other's place: what the second may not be, by what the first is.
// A value is 0 for an item that is left out, and else its option + 1; a bit for each.
struct Exchange {
  std::size_t first = 0;
  std::size_t second = 0;
  std::vector<std::uint64_t> excluded;  // By value of the first.
};

inline constexpr int kOut = -1;
using Choice = std::vector<int>;  // The option of each item, or kOut.

struct Selection {
  std::vector<Item> items;
  std::size_t sections = 0;
  std::vector<std::vector<Bytes>> capacity;  // By memory, then section. At least 0.
  std::vector<Nogood> nogoods;
  // The second of each pair may be taken only together with the first: the first is no worse wherever
  // the second is, or the second is worth nothing without it. Where the later of the two begins, the
  // other is live. Both have one option.
  std::vector<std::pair<std::size_t, std::size_t>> dominates;
  // The same of items of which at least one has several options. Both are in sections where the other
  // one is, whichever comes first.
  std::vector<Exchange> exchanges;
  [[nodiscard]] std::size_t memories() const { return capacity.size(); }
};

[[nodiscard]] std::int64_t ProfitOf(const Selection& selection, const Choice& choice);
// Capacities, nogoods, and what is taken only together with something else.
[[nodiscard]] bool Allows(const Selection& selection, const Choice& choice);

}  // namespace berth::internal::memories

#endif  // BERTH_MEMORIES_SELECTION_H_
