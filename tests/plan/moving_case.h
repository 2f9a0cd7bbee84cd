// tests/plan/moving_case.h -- random small graphs with memories between which tensors may move, for the
// tests of copies that stop the operators and of those that do not.
#ifndef BERTH_TESTS_PLAN_MOVING_CASE_H_
#define BERTH_TESTS_PLAN_MOVING_CASE_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "berth/plan.h"
#include "testing/graph_memories_oracle.h"
#include "testing/random_graph.h"
#include "tools/verify/graph_memories.h"

namespace berth::internal {

inline void ExpectVerified(const Graph& graph, const Counting& counting,
                           const GraphMemories& memories, const MemoryPlan& plan) {
  const Result<void> valid = ValidatePlan(graph, counting, memories, plan);
  EXPECT_TRUE(valid.has_value()) << valid.error().message;
  EXPECT_EQ(verify::VerifyMemories(graph, counting, memories, plan), std::vector<std::string>());
}

inline void GiveTimes(std::uint64_t seed, std::int64_t most, Graph& graph) {
  Random random(seed);
  for (Operator& op : graph.operators) op.cost = random.Uniform(0, most);
  graph.cost_unit = "ns";
}

struct MovingCase {
  Graph graph;
  PlanOptions options;
};

// With views, inputs, writes in place and reserved ranges, and memories between which copies are
// sometimes worth their cost; with `prefetch` also with times of operators. Nothing if it is too large
// for the oracle.
inline std::optional<MovingCase> RandomMovingCase(std::uint64_t seed, bool prefetch) {
  GraphKnobs knobs = AllGraphKnobs();
  knobs.max_operators = 4;
  knobs.max_bytes = 3;
  knobs.max_outputs = 1;
  knobs.unplanned_chance = 0;
  MovingCase made;
  made.graph = RandomGraph(seed, knobs);
  Counting& counting = made.options.schedule.counting;
  counting.inputs = seed / 2 % 2 == 0;
  counting.parameters = seed / 4 % 4 == 0;
  std::size_t count = 0;
  for (const Tensor& tensor : made.graph.tensors) {
    count += TakesPart(tensor, counting) && tensor.bytes > 0 ? 1 : 0;
  }
  GraphMemories& memories = made.options.memories;
  memories = RandomGraphMemories(made.graph, seed);
  const bool few = prefetch && memories.memories.size() != 2;
  if (count < 2 || count > (few ? 3U : 4U)) return std::nullopt;
  if (prefetch) GiveTimes(seed, 20, made.graph);
  memories.may_move = true;
  memories.prefetch = prefetch;
  for (std::size_t m = 0; m < memories.memories.size(); ++m) {
    Memory& memory = memories.memories[m];
    if (m == 0) memory.read.cost = memory.write.cost = memory.access = 0;
    if (m >= 1) memory.read.cost += 9;
    if (seed % 3 > 0) memory.read.bytes = memory.write.bytes = 1;
  }
  if (!Validate(made.graph, counting, memories)) return std::nullopt;
  return made;
}

}  // namespace berth::internal

#endif  // BERTH_TESTS_PLAN_MOVING_CASE_H_
