// place/greedy/packer.h -- one buffer after another: who goes next, and where.
//
// Nearly every greedy placer in use is a choice from three short lists:
//
//   order      which buffer matters most: the largest, the longest lived, ...
//   selection  take buffers in that order; or, at each step, among the buffers whose lowest
//              possible offset is lowest of all ("the current row"), the first in that order
//   fit        the lowest free offset; the smallest gap that is large enough, or else the top; or
//              on top of the skyline, never below what is placed
//
// So there is one packer, and an algorithm is a Rule. Common to all rules:
//
//   * Pinned buffers are placed before all others, which go around them. With the skyline fit they
//     do not raise the skyline, or nothing could go below them.
//   * Alignment: gaps begin at the first multiple of the alignment, and that is where their size is
//     measured from.
//   * Gaps and windows: a buffer occupies its live pieces, and only these.
//   * Hints: the offset that the rule chose is given up for the hinted one if that is aligned and
//     free, and if the plan so far is no higher with it than it would be anyway: no higher than
//     with the rule's own choice, or than the largest load, which every plan reaches.
//   * Ties end with the buffer that comes first in the problem: the plan depends on it alone.
//
// Lowest-first selection rests on one fact: placing a buffer never lowers the lowest offset free
// for another. Stored values are therefore lower bounds, and a heap on them is right as long as the
// top is looked at afresh before it is used, and put back if it has risen.
//
// Cost: in order, O(n log n) plus the ranges passed in Occupancy: 15 to 50 ms for first fit of
// 28,000 buffers, 200 ms for best fit, which looks at every gap. Lowest-first looks at a buffer
// once for each time that its row turns out to be taken, quadratic at worst; plain problems go by
// plateaus instead (plateaus.h), in 30 ms.
#ifndef BERTH_PLACE_GREEDY_PACKER_H_
#define BERTH_PLACE_GREEDY_PACKER_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "model/instance.h"
#include "place/greedy/occupancy.h"
#include "place/greedy/plateaus.h"
#include "place/greedy/skyline.h"

namespace berth::internal::greedy {

enum class Order {
  kSize,          // Live from first to last step first (by index); then size, earlier start.
  kArea,          // Size times lifetime, size, earlier start.
  kLifetime,      // Lifetime, size.
  kStart,         // Earlier start, size.
  kContention,    // Largest load met, alignment, size times lifetime squared, lifetime.
  kSpatial,       // Size, lifetime counted in allocations and frees.
  kLoadLifetime,  // Largest load met, lifetime.
  kLongArea,      // Size times lifetime squared.
  kLargeArea,     // Size times the square root of lifetime.
};
enum class Selection { kInOrder, kLowestFirst };
enum class Fit { kFirst, kBest, kSkyline };

struct Rule {
  Order order;
  Selection selection;
  Fit fit;
};

// The buffers in the order in which they matter, largest first unless said otherwise above.
// `stop` is asked now and then, never if it is empty; once it says yes, the answer is of no use.
// Cost: O(n log n).
[[nodiscard]] std::vector<BufferIndex> Ordered(const Instance& instance, Order order,
                                               const std::function<bool()>& stop = nullptr);

struct Packing {
  std::vector<Bytes> offsets;
  Bytes height = 0;
};

class Packer {
 public:
  // `instance` must outlive the packer.
  explicit Packer(const Instance& instance);

  [[nodiscard]] bool has_hints() const { return has_hints_; }

  // Nothing where more than `max_looks` looks for room would be needed, each piece a look.
  // `stop` is asked now and then, and ends the attempt; never if it is empty.
  [[nodiscard]] std::optional<Packing> Pack(
      const Rule& rule, bool use_hints,
      std::int64_t max_looks = std::numeric_limits<std::int64_t>::max(),
      const std::function<bool()>& stop = nullptr);

 private:
  [[nodiscard]] bool PlacePinned(const std::function<bool()>& stop);
  // Places `b`, which the rule wants at `chosen`, there or at its hint.
  void Place(BufferIndex b, Bytes chosen);
  [[nodiscard]] bool PlaceLowestFirst(const std::vector<BufferIndex>& order, std::int64_t max_looks,
                                      const std::function<bool()>& stop);
  // The lowest offset at or above `from` where the rule would let the buffer stand.
  [[nodiscard]] Bytes LowestFree(BufferIndex b, Bytes from);
  // The start of the smallest gap that is large enough; of the lowest of them.
  [[nodiscard]] Bytes SmallestRoom(BufferIndex b);
  [[nodiscard]] bool HintCostsNothing(BufferIndex b, Bytes chosen);

  const Instance& instance_;
  Bytes largest_load_ = 0;
  bool has_hints_ = false;
  std::optional<PlateauPacker> plateaus_;  // Made when first needed.
  Occupancy occupancy_;
  FreeOffsets room_;
  Skyline skyline_;
  Rule rule_{};
  bool use_hints_ = true;
  IndexedVector<BufferIndex, Bytes> offset_;
  Bytes height_ = 0;
};

}  // namespace berth::internal::greedy

#endif  // BERTH_PLACE_GREEDY_PACKER_H_
