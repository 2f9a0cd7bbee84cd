// tests/plan/moving_case.h -- random small graphs with memories between which tensors may move, for the
// tests of copies that stop the operators and of those that do not.
#ifndef BERTH_TESTS_PLAN_MOVING_CASE_H_
#define BERTH_TESTS_PLAN_MOVING_CASE_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "berth/plan.h"
#include "testing/graph_memories_oracle.h"
#include "testing/random_graph.h"
#include "tests/graph/build.h"
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

// A chain of operators y0, y1, ... that take `time` each and read weights w0, w1, ... of so many bytes.
inline Build LayersWithWeights(int layers, Bytes weight, std::int64_t time) {
  Build b;
  b.Source("x", 8);
  for (int i = 0; i < layers; ++i) {
    const std::string n = std::to_string(i);
    b.Source("w" + n, weight, TensorKind::kParameter).Made("y" + n, 8);
    b.Op("op" + n, {i == 0 ? "x" : "y" + std::to_string(i - 1), "w" + n}, {"y" + n});
  }
  b.Output("y" + std::to_string(layers - 1));
  for (Operator& op : b.graph.operators) op.cost = time;
  b.graph.cost_unit = "ns";
  return b;
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

// A chain of operators that also read what earlier ones made: what is read early and late is copied. With
// `prefetch` some also write in place what the first one made.
inline MovingCase RandomSkips(std::uint64_t seed, bool prefetch) {
  Random random(seed);
  Build b;
  const int count = prefetch ? 4 + static_cast<int>(seed % 2) : 5;
  for (int i = 0; i < count; ++i) b.Made("t" + std::to_string(i), random.Uniform(1, 3));
  for (int i = 0; i < count; ++i) {
    std::vector<std::string> inputs;
    std::vector<std::string> mutates;
    if (i > 0) inputs.push_back("t" + std::to_string(i - 1));
    if (i > (prefetch ? 1 : 2) && random.Chance(0.8)) {
      inputs.push_back("t" + std::to_string(random.Uniform(0, i - 2)));
    }
    if (prefetch && i == 2 && random.Chance(0.2)) mutates.emplace_back("t0");
    b.Op("op" + std::to_string(i), inputs, {"t" + std::to_string(i)}, mutates);
  }
  MovingCase made;
  made.graph = b.Output("t" + std::to_string(count - 1)).graph;
  GraphMemories& memories = made.options.memories;
  memories.may_move = true;
  memories.prefetch = prefetch;
  if (prefetch) {
    GiveTimes(seed, random.Uniform(0, 20), made.graph);
    memories.copy_latency = random.Uniform(0, 2);
  }
  const Bytes room = prefetch ? random.Uniform(4, 6) : random.Uniform(3, 5);
  memories.memories = {{.name = "fast", .capacity = room, .read = {0, 1}, .write = {1, 2}},
                       {.name = "slow",
                        .read = {random.Uniform(3, 9), random.Uniform(1, 2)},
                        .write = {random.Uniform(1, 9), 1},
                        .access = random.Uniform(0, 1)}};
  return made;
}

// A chain of operators that read weights, some several times, on a board with a small fast memory and a slow one
// where the weights are; the weights may sometimes be in the fast one, too.
inline MovingCase RandomStaging(std::uint64_t seed, bool prefetch) {
  Random random(seed * 31 + 7);
  Build b;
  const int weights = static_cast<int>(random.Uniform(1, 2));
  const int count = weights == 2 ? 3 : 4;
  for (int i = 0; i < weights; ++i) {
    b.Source("w" + std::to_string(i), random.Uniform(1, 3),
             random.Chance(0.7) ? TensorKind::kParameter : TensorKind::kConstant);
  }
  for (int i = 0; i < count; ++i) b.Made("t" + std::to_string(i), random.Uniform(1, 2));
  for (int i = 0; i < count; ++i) {
    std::vector<std::string> inputs;
    if (i > 0) inputs.push_back("t" + std::to_string(i - 1));
    for (int w = 0; w < weights; ++w) {
      if (random.Chance(0.7)) inputs.push_back("w" + std::to_string(w));
    }
    std::vector<std::string> mutates;
    if (random.Chance(0.05)) mutates.emplace_back("w0");
    b.Op("op" + std::to_string(i), inputs, {"t" + std::to_string(i)}, mutates);
  }
  MovingCase made;
  made.graph = b.Output("t" + std::to_string(count - 1)).graph;
  if (prefetch) GiveTimes(seed, random.Uniform(0, 20), made.graph);
  made.options.schedule.counting = {true, true};
  GraphMemories& memories = made.options.memories;
  memories.may_move = true;
  memories.prefetch = prefetch;
  if (prefetch) memories.copy_latency = random.Uniform(0, 2);
  memories.memories = {{.name = "fast",
                        .capacity = random.Uniform(3, 6),
                        .read = {0, 1},
                        .write = {random.Uniform(0, 1), 2}},
                       {.name = "slow",
                        .read = {random.Uniform(3, 9), random.Uniform(1, 2)},
                        .write = {random.Uniform(1, 9), 1},
                        .access = random.Uniform(0, 1)}};
  memories.stage_in = {0};
  if (random.Chance(0.2)) memories.stage_in.push_back(1);
  if (random.Chance(0.7)) memories.allowed = AllowedByKind(made.graph, {}, {1});
  return made;
}

// Cases of one order against trying everything: bounds and plans are right, and how good they are.
struct MovingTally {
  int all = 0;     // That can be placed, and were.
  int better = 0;  // Than without what is tested.
  int proved = 0;

  // `least`: what the oracle found; `before`: what a plan costs without what is tested.
  void Add(const MovingCase& made, const PlanAnswer& answer, std::optional<std::int64_t> least,
           const std::function<PlanCost()>& before) {
    const auto& [graph, options] = made;
    ASSERT_TRUE(answer.best.has_value());
    ExpectVerified(graph, options.schedule.counting, options.memories, *answer.best);
    const PlanCost& cost = answer.best->cost;
    if (!least) {
      EXPECT_GT(cost.unplaced, 0U);
      return;
    }
    EXPECT_EQ(answer.cost_bound.unplaced, 0U);
    EXPECT_LE(answer.cost_bound.cost, *least);
    const PlanCost other = before();
    EXPECT_LE(cost, other);
    if (cost.unplaced > 0) return;
    EXPECT_GE(cost.cost, *least);
    ++all;
    better += cost < other ? 1 : 0;
    proved += answer.outcome == Outcome::kOptimal ? 1 : 0;
  }
  // In percent of all.
  void ExpectAtLeast(int cases, int percent_better, int percent_proved) const {
    EXPECT_GT(all, cases);
    EXPECT_GE(better * 100, all * percent_better) << better << " of " << all;
    EXPECT_GE(proved * 100, all * percent_proved) << proved << " of " << all;
  }
};

// The cost of the plan of the case with other memories, whose copies stop the operators; as one of its own
// memories.
inline PlanCost CostWith(const MovingCase& made, const GraphMemories& memories) {
  PlanOptions options = made.options;
  options.memories = memories;
  Budget budget;
  const auto answer = Plan(made.graph, options, budget);
  EXPECT_TRUE(answer.has_value()) << answer.error().message;
  return CostOf(made.graph, options.schedule.counting, made.options.memories, *answer->best);
}

}  // namespace berth::internal

#endif  // BERTH_TESTS_PLAN_MOVING_CASE_H_
