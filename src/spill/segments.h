// spill/segments.h -- lower bounds of parts of a graph, which add up.
//
// Take some storages and consider them alone, except that an operator still needs all of its
// memory. Any schedule of the whole graph, restricted to these storages, is a schedule of this part
// and pays the same for them. So the least costs of parts without common storages add up to a bound
// on the whole.
//
// A storage that lives long and is used repeatedly is a part of its own, together with its cone,
// which is everything computed from it alone, and the operators in between that leave no room for
// it. (Without the cone, a search would compute it early and keep it instead, for free.)
//
// The other parts are the halves, quarters and so on of one order: each has the storages created in
// it and the operators that create or use those. Small parts are solved by search alone, larger
// ones with the sum of their halves as the estimate. For parts that exceed their limit, the bound
// is the sum of their halves. Within a search, the bound is needed for states in the middle of
// parts: a part then returns its own least cost from there with nothing in memory, which every
// state with these executed operators still has to pay. It is computed on demand and cached.
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
  std::size_t max_others = 64;        // Operators in between that only occupy memory.
  std::size_t max_cones = 6;          // Long-lived storages that get a cone.
  std::size_t states = 20'000;        // State limit of the search for one part.
  std::size_t states_within = 2'000;  // The same for a search from the middle of a part.
};

class SegmentBound : public Bound {
 public:
  // `model`, `effort` and `budget` must outlive this. Parts are taken along `order`.
  SegmentBound(const Model& model, Bytes capacity, const SpillRules& rules,
               std::span<const OpIndex> order, const SegmentOptions& options, Effort& effort,
               Budget& budget);
  ~SegmentBound() override;
  SegmentBound(const SegmentBound&) = delete;
  SegmentBound& operator=(const SegmentBound&) = delete;

  [[nodiscard]] Bytes Remaining(const StateView& state) const override;
  // Bound on the whole graph from its start, in bytes.
  [[nodiscard]] Bytes value() const { return value_; }

  class Part;

 private:
  const Effort& effort_;
  mutable std::size_t bytes_asked_ = 0;  // Memory of the parts' caches.
  std::vector<std::unique_ptr<Part>> parts_;
  Bytes value_ = 0;
};

// Where the parts begin and end matters: a part that ends in the middle of a cell of a network loses what
// that cell must spill. So all runs of steps along `order` are parts, of up to a third of it, the short
// ones first, and those that do not overlap and add up to the most count. `order` should be a good one.
// Parts of the same number of steps are searched side by side, on `threads` threads. `upper`: where the bound
// reaches this, it ends. `model` must have its ancestors. Cost: some 600 searches of at most 40,000 states;
// it ends with the effort or the budget, too.
[[nodiscard]] Bytes WindowBound(const Model& model, Bytes capacity, const SpillRules& rules,
                                std::span<const OpIndex> order, Bytes upper, int threads,
                                Effort& effort, Budget& budget);

}  // namespace berth::internal::spill

#endif  // BERTH_SPILL_SEGMENTS_H_
