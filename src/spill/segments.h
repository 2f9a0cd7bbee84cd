// spill/segments.h -- lower bounds of parts of a graph, which add up.
//
// Take some storages and leave the memory to them alone, except that an operator still needs all
// that it makes and uses. Any schedule of the whole graph, looked at in these storages, is one of
// this part, and pays for them what it pays for them in the whole. So the least costs of parts with
// no storage in common add up to a bound on the whole.
//
// What lives long and is used again and again is a part of its own: the storage with its cone, all
// that is computed from it alone (computing that early and keeping it instead is what a search
// would otherwise get for nothing), and the operators in between that leave no room for it.
//
// The other parts are the halves, quarters and so on of one order: each has the storages made in it
// and the operators that make or use those. Small parts are solved by search alone, larger ones
// with the sum of their halves as the estimate, up to those that exceed their limit, whose bound is
// the sum of their halves. Within a search the bound is asked of states in the midst of parts: a
// part then answers with its own least cost from there, with nothing in memory, which is what every
// state with these operators executed has still to pay at least. It is computed when first asked
// and remembered.
#ifndef BERTH_SPILL_SEGMENTS_H_
#define BERTH_SPILL_SEGMENTS_H_

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "berth/budget.h"
#include "spill/model.h"
#include "spill/search.h"

namespace berth::internal::spill {

struct SegmentOptions {
  std::size_t leaf_operators = 24;    // Parts of at most this many are not halved.
  std::size_t max_others = 64;        // Operators in between that only take room.
  std::size_t max_cones = 6;          // Storages that live long, taken with what follows.
  std::size_t states = 20'000;        // Of the search for one part.
  std::size_t states_within = 2'000;  // Of the search from a state in its midst.
};

class SegmentBound : public Bound {
 public:
  // `model`, `effort`, `budget` outlive this. Parts are taken along `order`.
  SegmentBound(const Model& model, Bytes capacity, const Rules& rules,
               std::span<const OpIndex> order, const SegmentOptions& options, Effort& effort,
               Budget& budget);
  ~SegmentBound() override;
  SegmentBound(const SegmentBound&) = delete;
  SegmentBound& operator=(const SegmentBound&) = delete;

  [[nodiscard]] Bytes Remaining(const StateView& state) const override;
  // Of the whole, from the start.
  [[nodiscard]] Bytes value() const { return value_; }

  class Part;

 private:
  const Effort& effort_;
  mutable std::size_t bytes_asked_ = 0;  // What the parts keep of what they were asked.
  std::vector<std::unique_ptr<Part>> parts_;
  Bytes value_ = 0;
};

}  // namespace berth::internal::spill

#endif  // BERTH_SPILL_SEGMENTS_H_
