// tests/spill/bound_case.h -- small random graphs, for bounds of all orders against the oracle.
#ifndef BERTH_TESTS_SPILL_BOUND_CASE_H_
#define BERTH_TESTS_SPILL_BOUND_CASE_H_

#include <gtest/gtest.h>

#include <cstdint>

#include "base/random.h"
#include "berth/graph.h"
#include "testing/random_graph.h"
#include "testing/spill_oracle.h"

namespace berth::internal {

struct BoundCase {
  Graph graph;
  Counting counting;
  Bytes capacity = 0;
  Order order;      // Any.
  Bytes least = 0;  // Traffic of any order, as the oracle has it.
};

// Up to 8 operators, with views, writes in place, results and given tensors.
[[nodiscard]] inline BoundCase BoundCaseOf(std::uint64_t seed) {
  Random random(seed);
  GraphKnobs knobs = AllGraphKnobs();
  knobs.max_operators = 8;
  knobs.max_bytes = random.Chance(0.5) ? 8 : 60;
  knobs.min_operators = 4;
  knobs.max_outputs = 2;
  knobs.max_inputs = 2;
  knobs.far_chance = 0.8;
  BoundCase the;
  the.graph = RandomGraph(seed, knobs);
  the.counting = {random.Chance(0.4), random.Chance(0.4)};
  the.capacity =
      OracleLeastMemory(the.graph, the.counting) + (random.Chance(0.7) ? 0 : random.Uniform(0, 8));
  the.order = RandomOrder(the.graph, seed);
  the.least = *OracleTraffic(the.graph, the.capacity, the.counting, nullptr);
  return the;
}

// How a bound stands to the least traffic. `bound_of` gives the bound of a case.
struct BoundTally {
  int spilling = 0;
  int positive = 0;
  int tight = 0;

  template <typename BoundOf>
  void Compare(std::uint64_t first, std::uint64_t count, BoundOf bound_of) {
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
      SCOPED_TRACE(seed);
      const BoundCase the = BoundCaseOf(seed);
      const Bytes bound = bound_of(the);
      ASSERT_LE(bound, the.least);
      spilling += the.least > 0 ? 1 : 0;
      positive += bound > 0 ? 1 : 0;
      tight += the.least > 0 && bound == the.least ? 1 : 0;
    }
  }
};

}  // namespace berth::internal

#endif  // BERTH_TESTS_SPILL_BOUND_CASE_H_
