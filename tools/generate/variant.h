// tools/generate/variant.h -- a table that is like another one and has not been seen before.
//
// A search that was tuned on a few published tables has to show itself on others of their kind.
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

// `problem` with time reversed and a share of its buffers, drawn from the seed, left out: rounded
// up to a whole number, but never the last one. All else stays, the capacity too, which is wide for
// what is left: the variant's own largest load is the hard one. Error: kInvalidOptions. Cost: O(n).
[[nodiscard]] Result<Problem> MakeVariant(const Problem& problem,
                                          const VariantParameters& parameters);

}  // namespace berth::internal

#endif  // BERTH_TOOLS_GENERATE_VARIANT_H_
