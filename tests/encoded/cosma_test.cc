// COSMA's integer program against the search, on graphs that the solver can close.

#include <gtest/gtest.h>

#include "base/random.h"
#include "berth/solvers.h"
#include "berth/spill.h"
#include "testing/order_oracle.h"
#include "testing/random_graph.h"
#include "testing/spill_oracle.h"

namespace berth::internal {
namespace {

Graph SmallGraph(std::uint64_t seed, int least, int most) {
  GraphKnobs knobs;
  knobs.min_operators = least;
  knobs.max_operators = most;
  knobs.max_bytes = 6;
  knobs.max_outputs = 2;
  knobs.max_inputs = 2;
  knobs.far_chance = 0.6;
  knobs.view_chance = 0.1;
  return RandomGraph(seed, knobs);
}

TEST(Cosma, LeastTrafficIsTheSearchs) {
  int spilling = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    CosmaOptions options;
    options.addresses = random.Chance(0.3);  // Then CBC closes graphs of a few operators only.
    const Graph graph = options.addresses ? SmallGraph(seed, 4, 6) : SmallGraph(seed, 6, 8);
    options.capacity = FindLeastMemory(graph, {}).bytes + (random.Chance(0.8) ? 0 : 1);
    options.overlap_analysis = random.Chance(0.7);
    if (random.Chance(0.3)) options.order = RandomOrder(graph, seed);
    Budget budget;
    const auto cosma = SolveCosma(graph, options, budget);
    ASSERT_TRUE(cosma.has_value()) << cosma.error().message;
    SpillOptions mine;
    mine.capacity = options.capacity;
    if (options.order) {
      mine.orders.push_back(*options.order);
      mine.fixed_order = true;
    }
    if (options.addresses) {
      mine.placer = [](const Problem& problem, Budget& b) { return Place(problem, {}, b); };
    }
    Budget other;
    const auto answer = PlanWithSpills(graph, mine, other);
    ASSERT_TRUE(answer.has_value());
    if (cosma->outcome == Outcome::kInfeasible) {
      // Bytes may fit in sum and not in one piece.
      EXPECT_TRUE(options.addresses);
      continue;
    }
    ASSERT_EQ(cosma->outcome, Outcome::kOptimal);
    ASSERT_TRUE(answer->best.has_value());
    if (!options.addresses) {
      EXPECT_EQ(*cosma->value, answer->without_addresses);
    } else {
      EXPECT_GE(*cosma->value, answer->lower_bound);
      if (answer->outcome == Outcome::kOptimal) {
        EXPECT_EQ(*cosma->value, answer->best->traffic.avoidable());
      }
      const auto valid = ValidateSpillPlan(graph, {}, options.capacity, *cosma->plan);
      EXPECT_TRUE(valid.has_value()) << valid.error().message;
    }
    EXPECT_EQ(cosma->plan->traffic.avoidable(), *cosma->value);
    spilling += *cosma->value > 0 ? 1 : 0;
  }
  EXPECT_GT(spilling, 5);
}

TEST(Cosma, LeastPeakIsTheOracles) {
  for (std::uint64_t seed = 1; seed <= 15; ++seed) {
    SCOPED_TRACE(seed);
    Graph graph = SmallGraph(seed, 4, 8);
    for (Tensor& tensor : graph.tensors) tensor.output = false;  // COSMA's results may leave.
    CosmaOptions options;
    options.objective = CosmaOptions::Objective::kPeak;
    Budget budget;
    const auto cosma = SolveCosma(graph, options, budget);
    ASSERT_TRUE(cosma.has_value()) << cosma.error().message;
    ASSERT_EQ(cosma->outcome, Outcome::kOptimal);
    EXPECT_EQ(*cosma->value, OracleSchedule(graph).peak);
  }
}

TEST(Cosma, RefusesWritesInPlace) {
  Graph graph;
  graph.tensors.push_back({"x", 4});
  graph.operators.push_back({"make", "", {}, {0}});
  graph.operators.push_back({"write", "", {0}, {}, {0}});
  Budget budget;
  const auto cosma = SolveCosma(graph, {}, budget);
  ASSERT_FALSE(cosma.has_value());
  EXPECT_EQ(cosma.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(cosma.error().message.find("\"write\""), std::string::npos);
}

}  // namespace
}  // namespace berth::internal
