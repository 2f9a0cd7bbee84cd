// testing/differential.h -- one statement about every problem, tried on thousands.
#ifndef BERTH_TESTING_DIFFERENTIAL_H_
#define BERTH_TESTING_DIFFERENTIAL_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "berth/problem.h"
#include "testing/random_problem.h"

namespace berth::internal {

// What is wrong with how the code under test treats a problem; nothing where all is well.
using Check = std::function<std::optional<std::string>(const Problem&)>;

// Runs `check` on RandomProblem(seed) for the seeds first_seed .. first_seed + count - 1. The first
// one that it complains about is shrunk while it complains, and reported as a GoogleTest failure:
// the seed, both complaints, and the small problem to paste into a regression test. Returns whether
// all is well.
bool ForRandomProblems(std::uint64_t first_seed, int count, const ProblemKnobs& knobs,
                       const Check& check);

}  // namespace berth::internal

#endif  // BERTH_TESTING_DIFFERENTIAL_H_
