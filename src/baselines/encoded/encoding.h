// baselines/encoded/encoding.h -- a problem as other solvers take it: pairs that must not overlap.
//
// Lifetimes are fixed, so all that matters of time is which buffers meet. For two that do, the
// difference of their offsets must stay out of some open intervals; between and beside these lie
// the regions, the disjuncts of everything that follows:
//
//     o_j - o_i:   <---- j below i ----)  forbidden  (---- j above i ---->
//                     region 0        lower        upper      region 1
//
// Without windows there is one interval, (-size_j, size_i), and two regions: B(i, j) of TelaMalloc.
// Windows can leave places in between, where each buffer lies in the other's holes; a region is
// always one difference constraint or two.
//
// Everything is counted in grains, the greatest number of bytes that divides all numbers of bytes
// given. If a plan exists within some capacity, one exists on that grid: round every offset down.
//
// This is written from the public structs alone and shares nothing with the placer's model, whose
// searches it helps to judge.
#ifndef BERTH_BASELINES_ENCODED_ENCODING_H_
#define BERTH_BASELINES_ENCODED_ENCODING_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "berth/budget.h"
#include "berth/problem.h"

namespace berth::internal {

using Grains = std::int64_t;

struct Encoding {
  struct Item {
    Grains size;
    Grains alignment;           // 1 where it divides the grain.
    std::optional<Grains> pin;  // The only offset.
    double area;                // Size times lifetime, for orders only.
    // The item before this one that differs from it in nothing but its id; -1: none. One may ask
    // that it lie below.
    std::int32_t twin;
  };
  struct Interval {
    Grains lower;  // Exclusive: a difference of `lower` is allowed.
    Grains upper;  // Exclusive.
  };
  struct Pair {
    std::int32_t i;
    std::int32_t j;                   // i < j.
    std::vector<Interval> forbidden;  // Of o_j - o_i: disjoint, increasing, not empty.
    [[nodiscard]] std::size_t num_regions() const { return forbidden.size() + 1; }
  };

  Bytes grain = 1;
  std::vector<Item> items;  // Parallel to Problem::buffers.
  std::vector<Pair> pairs;  // Increasing by i, then j.

  // The highest whole number of grains within `capacity`.
  [[nodiscard]] Grains Within(Bytes capacity) const { return capacity / grain; }
  // The highest offset of item `x` below `capacity`, a multiple of its alignment; negative where
  // there is none.
  [[nodiscard]] Grains HighestOffset(std::size_t x, Grains capacity) const;
};

// Whether `offsets` keep all pairs apart below `capacity`, pins and alignments included.
[[nodiscard]] bool IsPlan(const Encoding& encoding, Grains capacity,
                          const std::vector<Grains>& offsets);

// Nothing where the pairs are more than `most`, or time is up before they are found. Cost: O(n log
// n) and the pairs, times the gaps of the two.
[[nodiscard]] std::optional<Encoding> Encode(const Problem& problem, std::int64_t most,
                                             const Budget& budget);

// The pairs in order of their rectangles: those among the k largest before those with the next.
[[nodiscard]] std::vector<std::size_t> PairsByArea(const Encoding& encoding);

// o_to >= o_from + least.
struct Difference {
  std::int32_t from;
  std::int32_t to;
  Grains least;
};
// The constraints of region `region` of `pair`: one or two.
void AppendRegion(const Encoding::Pair& pair, std::size_t region, std::vector<Difference>& out);

// The least offsets, pins and alignments included, that satisfy `constraints` below `capacity`; if
// there are none, nothing, and `conflict` (where not nullptr) gets increasing indices into
// `constraints`: these alone have no solution either. Exact. Cost: O(constraints x items), without
// alignments.
[[nodiscard]] std::optional<std::vector<Grains>> LeastOffsets(
    const Encoding& encoding, Grains capacity, const std::vector<Difference>& constraints,
    std::vector<std::size_t>* conflict);

// How one question to a solver ended.
struct Decision {
  enum class Verdict {
    kFound,
    kImpossible,    // Proved.
    kInconclusive,  // It has done all it can, and knows nothing.
    kGaveUp,        // Nodes or budget ended.
  };
  Verdict verdict = Verdict::kGaveUp;
  std::vector<Grains> offsets;  // kFound.
};

}  // namespace berth::internal

#endif  // BERTH_BASELINES_ENCODED_ENCODING_H_
