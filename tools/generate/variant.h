// tools/generate/variant.h -- an unseen table that is similar to a given one.
//
// A search tuned on a few published tables must be tested on other tables of the same kind.
#ifndef BERTH_TOOLS_GENERATE_VARIANT_H_
#define BERTH_TOOLS_GENERATE_VARIANT_H_

#include <cstdint>

#include "berth/problem.h"
#include "berth/result.h"

namespace berth::internal {

struct VariantParameters {
  std::uint64_t seed = 1;
  int drop_percent = 3;  // 0 .. 99.
};

// `problem` with time reversed and without a share of its buffers, drawn by the seed: rounded up to
// a whole number, but never all of them. All else is kept, including the capacity, which is loose
// for the remaining buffers; a capacity equal to the variant's own largest load is the hard one.
// Error: kInvalidOptions. Cost: O(n).
[[nodiscard]] Result<Problem> MakeVariant(const Problem& problem,
                                          const VariantParameters& parameters);

}  // namespace berth::internal

#endif  // BERTH_TOOLS_GENERATE_VARIANT_H_
