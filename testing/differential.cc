#include "testing/differential.h"

#include <gtest/gtest.h>

#include "testing/shrink.h"

namespace berth::internal {

bool ForRandomProblems(std::uint64_t first_seed, int count, const ProblemKnobs& knobs,
                       const Check& check) {
  for (int i = 0; i < count; ++i) {
    const std::uint64_t seed = first_seed + static_cast<std::uint64_t>(i);
    const Problem problem = RandomProblem(seed, knobs);
    const std::optional<std::string> complaint = check(problem);
    if (!complaint) continue;
    const Problem small =
        Shrink(problem, [&](const Problem& candidate) { return check(candidate).has_value(); });
    ADD_FAILURE() << "seed " << seed << ": " << *complaint
                  << "\nThe smallest problem that still fails: " << check(small).value_or("?")
                  << "\n\n"
                  << ToCpp(small) << "\n"
                  << ToTable(small);
    return false;
  }
  return true;
}

}  // namespace berth::internal
