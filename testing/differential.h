// testing/differential.h -- checks one property on thousands of random problems.
#ifndef BERTH_TESTING_DIFFERENTIAL_H_
#define BERTH_TESTING_DIFFERENTIAL_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "berth/problem.h"
#include "testing/random_problem.h"

namespace berth::internal {

// What is wrong with the code under test on this problem; nothing if it is correct.
using Check = std::function<std::optional<std::string>(const Problem&)>;

// Runs `check` on RandomProblem(seed) for the seeds first_seed .. first_seed + count - 1. The first
// failing problem is shrunk while it still fails, and reported as a GoogleTest failure: the seed,
// both messages, and the small problem to paste into a regression test. Returns true if all checks
// pass.
bool ForRandomProblems(std::uint64_t first_seed, int count, const ProblemKnobs& knobs,
                       const Check& check);

}  // namespace berth::internal

#endif  // BERTH_TESTING_DIFFERENTIAL_H_
