// tools/generate/strip.h -- instances of strip packing with fixed x, as buffers.
//
// Strip packing puts rectangles into a strip of fixed width so that it is as low as possible. Where
// the x of each rectangle is known, what is left is Berth's problem: x is the start of a lifetime, the
// width its length, the height a size. Exact methods for strip packing ask that question again and
// again ("y-check": J.-F. Cote, M. Dell'Amico and M. Iori, "Combinatorial Benders' cuts for the strip
// packing problem", Operations Research 62(3), 2014).
//
// The families are those of 2DPackLib (M. Iori, V. de Lima, S. Martello and M. Monaci, Optimization
// Letters 16, 2022) whose making is published; drawn anew, as these files are not part of Berth:
//
//   * Cut rectangles: a rectangle cut into as many pieces as the instances C1 to C7 of E. Hopper and
//     B. Turton (2001) or N1 to N12 of E. Burke, G. Kendall and G. Whitwell (2004) have, of the same
//     width and height. Here all cuts are straight and go through the whole piece, as in N. The x are
//     those of the cut, so the optimum is the height, and there is no free byte at any step.
//   * Classes 1 to 6 of J. Berkey and P. Wang (1987) and 7 to 10 of S. Martello and D. Vigo (1998):
//     widths and heights drawn from ranges, for a strip as wide as their bins. The x follow a rule.
#ifndef BERTH_TOOLS_GENERATE_STRIP_H_
#define BERTH_TOOLS_GENERATE_STRIP_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "berth/problem.h"

namespace berth::internal {

struct CutSize {
  std::string_view name;  // "C1" or "N1".
  Step width;
  Bytes height;
  std::int64_t pieces;
};
// C1 to C7, then N1 to N12.
[[nodiscard]] std::span<const CutSize> CutSizes();

// The rectangle in `pieces` pieces, 1 to width x height: a random piece that can be cut is cut at a
// random place, until there are enough. The problem has the height as its capacity and its pieces in
// random order. The same on every platform. Cost: O(pieces^2).
[[nodiscard]] Problem CutRectangle(Step width, Bytes height, std::int64_t pieces,
                                   std::uint64_t seed);

inline constexpr int kStripClasses = 10;

// How the x of a class are chosen.
enum class StripRule {
  kNextFit,    // From left to right in the order drawn; at the left end again where it is full.
  kLeastLoad,  // The highest first, each where the load stays least, of equals furthest to the left.
};

// `count` items of a class, 1 to kStripClasses, without a capacity. Item k is the same for every
// count and rule. Cost: O(count x width).
[[nodiscard]] Problem DrawClass(int number, std::int64_t count, StripRule rule, std::uint64_t seed);

}  // namespace berth::internal

#endif  // BERTH_TOOLS_GENERATE_STRIP_H_
