// model/heights.h -- the heights that plans can have.
//
// In a plan that cannot be lowered each buffer rests on the bottom of the arena, on a pinned buffer,
// or on a chain of buffers that does. Its height is therefore a sum of sizes, plus the end of a pin
// and what alignment leaves empty. Between two such sums all capacities are the same question.
#ifndef BERTH_MODEL_HEIGHTS_H_
#define BERTH_MODEL_HEIGHTS_H_

#include <vector>

#include "model/instance.h"

namespace berth::internal {

class Heights {
 public:
  // All multiples of `grain`.
  explicit Heights(Bytes grain) : grain_(grain) {}
  // Knows about heights up to `highest`; above, every multiple of the grain counts as possible, and
  // so it does where there are windows or thousands of buffers.
  // Cost: O(n), times some thousand where sums are kept.
  Heights(const Instance& instance, Bytes highest);
  // Enough for AtMost(highest) and AtLeast(highest), and for nothing else: no more sums once `highest`
  // is one, which takes a dozen buffers where sizes are varied.
  // Cost: at most that of all sums, and some looks for each buffer.
  [[nodiscard]] static Heights UntilPossible(const Instance& instance, Bytes highest);

  // The least possible height of at least `height`, or a bound below it.
  [[nodiscard]] Bytes AtLeast(Bytes height) const;
  // The largest possible height of at most `height`, or a bound above it that is at most `height`
  // and no lower than 0.
  [[nodiscard]] Bytes AtMost(Bytes height) const;

 private:
  struct Range {
    Bytes first;
    Bytes last;  // Included.
  };

  Heights(const Instance& instance, Bytes highest, bool until_possible);

  [[nodiscard]] bool Contains(Bytes height) const;
  // Adds what `ranges_` become with `least` to `most` more bytes.
  void Add(Bytes least, Bytes most);
  void MergeTheClosest();

  Bytes grain_;
  Bytes highest_ = -1;
  std::vector<Range>
      ranges_;  // Increasing, apart by more than a grain. All possible heights are in.
};

}  // namespace berth::internal

#endif  // BERTH_MODEL_HEIGHTS_H_
