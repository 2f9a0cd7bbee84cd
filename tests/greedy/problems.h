// tests/greedy/problems.h -- problems for the tests of the greedy algorithms.
#ifndef BERTH_TESTS_GREEDY_PROBLEMS_H_
#define BERTH_TESTS_GREEDY_PROBLEMS_H_

#include <algorithm>
#include <initializer_list>
#include <string>
#include <vector>

#include "base/random.h"
#include "berth/place.h"
#include "berth/problem.h"

namespace berth::internal {

inline constexpr Bytes kKiB = Bytes{1} << 10;
inline constexpr Bytes kMiB = Bytes{1} << 20;

struct Row {
  Step start;
  Step end;
  Bytes size;
};

// Buffers "a", "b", "c", ...
inline Problem MakeProblem(std::initializer_list<Row> rows) {
  Problem problem;
  for (const Row& row : rows) {
    Buffer buffer;
    buffer.id = std::string(1, static_cast<char>('a' + problem.buffers.size()));
    buffer.start = row.start;
    buffer.end = row.end;
    buffer.size = row.size;
    problem.buffers.push_back(buffer);
  }
  return problem;
}

// Plain buffers, most of them short-lived, with sizes over three orders of magnitude.
inline Problem GeneratedProblem(std::uint64_t seed, int count) {
  Random random(seed);
  Problem problem;
  for (int k = 0; k < count; ++k) {
    Buffer buffer;
    buffer.id = std::to_string(k);
    buffer.start = random.Uniform(0, count - 1);
    buffer.end = buffer.start + 1 + random.Uniform(0, random.Chance(0.2) ? count / 2 : 8);
    buffer.size = Bytes{1} << random.Uniform(0, 9);
    buffer.size += random.Uniform(0, buffer.size);
    problem.buffers.push_back(buffer);
  }
  return problem;
}

// All algorithms that place by a rule; they support every feature of a problem.
inline std::vector<Algorithm> Planners() {
  return {Algorithm::kContention,       Algorithm::kFirstFitSize,  Algorithm::kFirstFitArea,
          Algorithm::kFirstFitLifetime, Algorithm::kFirstFitStart, Algorithm::kFirstFitLowest,
          Algorithm::kBestFitSize,      Algorithm::kBestFitArea,   Algorithm::kBestFitLifetime,
          Algorithm::kBestFitStart,     Algorithm::kBestFitLowest, Algorithm::kXlaBestFit};
}

}  // namespace berth::internal

#endif  // BERTH_TESTS_GREEDY_PROBLEMS_H_
