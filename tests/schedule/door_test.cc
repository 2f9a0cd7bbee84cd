// Edge cases of Schedule(): empty graphs, invalid ones, budgets, progress, baselines.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "berth/schedule.h"
#include "testing/random_graph.h"
#include "tools/verify/verify.h"

namespace berth::internal::schedule {
namespace {

// A small training step: an update frees a gradient that program order keeps to the end.
Graph Training() {
  Graph graph;
  graph.tensors = {{"w1", 8, 1, TensorKind::kParameter},
                   {"w2", 8, 1, TensorKind::kParameter},
                   {"x", 4, 1, TensorKind::kInput},
                   {"a", 4},
                   {"b", 4},
                   {"gw2", 8, 1, TensorKind::kGradient},
                   {"ga", 4, 1, TensorKind::kGradient},
                   {"gw1", 8, 1, TensorKind::kGradient}};
  graph.operators = {{"f1", "", {0, 2}, {3}},     {"f2", "", {1, 3}, {4}},
                     {"bw2", "", {3, 4}, {5}},    {"ba", "", {1, 4}, {6}, {}, {}},
                     {"bw1", "", {2, 6}, {7}},    {"u2", "", {5}, {}, {1}, {3}},
                     {"u1", "", {7}, {}, {0}, {}}};
  graph.operators[5].update = graph.operators[6].update = true;
  return graph;
}

PlanAnswer Answer(const Graph& graph, const ScheduleOptions& options = {}) {
  Budget budget;
  auto answer = Schedule(graph, options, budget);
  EXPECT_TRUE(answer.has_value()) << answer.error().message;
  return *std::move(answer);
}

PlanAnswer By(ScheduleAlgorithm algorithm, const Graph& graph) {
  ScheduleOptions options;
  options.algorithm = algorithm;
  return Answer(graph, options);
}

TEST(Schedule, AnEmptyGraphHasAnEmptyOrder) {
  const PlanAnswer answer = Answer({});
  EXPECT_EQ(answer.outcome, Outcome::kOptimal);
  EXPECT_EQ(answer.best->peak(), 0);
  EXPECT_TRUE(answer.best->order.empty());
}

TEST(Schedule, HoistsUpdates) {
  const Graph graph = Training();
  ASSERT_TRUE(Validate(graph).has_value());
  const PlanAnswer program = By(ScheduleAlgorithm::kProgram, graph);
  EXPECT_EQ(program.best->order, ProgramOrder(graph));
  EXPECT_EQ(program.best->peak(), 20);
  const PlanAnswer hoisted = By(ScheduleAlgorithm::kHoistedUpdates, graph);
  // u2 may only run after "ba", which reads w2.
  EXPECT_EQ(hoisted.best->order, (Order{0, 1, 2, 3, 5, 4, 6}));
  EXPECT_EQ(hoisted.scheduling.algorithm, "hoisted-updates");
  EXPECT_EQ(hoisted.best->peak(), 16);
  const PlanAnswer best = Answer(graph);
  EXPECT_EQ(best.outcome, Outcome::kOptimal);
  EXPECT_EQ(best.best->peak(), 16);
}

// Layers without activations: each runs after two of the `width` before it. Loads come first in program order. Of
// `loads`, each makes a weight, which `readers` layers read; layer k reads four of them.
Graph Layers(std::size_t layers, std::size_t readers, std::size_t width, std::uint64_t seed) {
  Random random(seed);
  Graph graph;
  const std::size_t loads = 4 * layers / readers;
  for (std::size_t k = 0; k < loads; ++k) {
    graph.tensors.push_back({"w" + std::to_string(k), random.Uniform(1, 1000)});
    graph.operators.push_back({"load" + std::to_string(k), "", {}, {k}});
  }
  for (std::size_t k = 0; k < layers; ++k) {
    Operator layer;
    layer.name = "layer" + std::to_string(k);
    for (std::size_t w = 0; w < 4; ++w) layer.inputs.push_back((4 * k + w) % loads);
    const auto before = static_cast<std::int64_t>(std::min(k, width));
    std::set<OperatorIndex> after;
    for (int edge = 0; before > 0 && edge < 2; ++edge) {
      after.insert(loads + k - static_cast<std::size_t>(random.Uniform(1, before)));
    }
    layer.after.assign(after.begin(), after.end());
    graph.operators.push_back(std::move(layer));
  }
  return graph;
}

// A load belongs to the layer that reads it, and then the layers are all there is to search. When the layers were
// removed first, each weight waited for all loads before it, and nodes that each took much work found no order.
TEST(Schedule, HundredsOfWeightsThatAreLoadedNeedFewNodes) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = Layers(100, 1, 8, seed);
    Bytes most = 0;
    for (const Operator& op : graph.operators) {
      Bytes read = 0;
      for (const TensorIndex t : op.inputs) read += graph.tensors[t].bytes;
      most = std::max(most, read);
    }
    Budget budget;
    budget.SetNodeLimit(10);
    const auto answer = Schedule(graph, {}, budget);
    ASSERT_TRUE(answer.has_value()) << answer.error().message;
    EXPECT_EQ(answer->outcome, Outcome::kOptimal);
    EXPECT_EQ(answer->best->peak(), most);
    EXPECT_LE(answer->scheduling.stats.operators, 100);
    EXPECT_EQ(verify::VerifyOrder(graph, answer->best->order).peak, most);
    EXPECT_LT(most, answer->program_order_peak);
  }
}

TEST(Schedule, HundredsOfWeightsThatTwoLayersReadNeedFewNodes) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = Layers(100, 2, 8, seed);
    Budget budget;
    budget.SetNodeLimit(1000);
    const auto answer = Schedule(graph, {}, budget);
    ASSERT_TRUE(answer.has_value()) << answer.error().message;
    EXPECT_EQ(answer->outcome, Outcome::kOptimal) << answer->nodes;
    EXPECT_EQ(verify::VerifyOrder(graph, answer->best->order).peak, answer->peak_bound);
  }
}

TEST(Schedule, RejectsAnInvalidGraph) {
  Graph graph = Training();
  graph.operators[1].inputs = {1, 99};
  Budget budget;
  const auto answer = Schedule(graph, {}, budget);
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, ErrorCode::kInvalidGraph);
  EXPECT_NE(answer.error().message.find("f2"), std::string::npos) << answer.error().message;
}

Graph Large() {
  GraphKnobs knobs;
  knobs.min_operators = knobs.max_operators = 60;
  knobs.max_inputs = 2;
  knobs.max_bytes = 1000;
  knobs.far_chance = 0.7;
  knobs.output_chance = 0;
  return RandomGraph(7, knobs);
}

TEST(Schedule, GivesAValidOrderWhateverTheBudget) {
  const Graph graph = Large();
  const PlanAnswer best = Answer(graph);
  ASSERT_EQ(best.outcome, Outcome::kOptimal);
  Bytes bound = 0;
  for (std::int64_t nodes = 0; nodes <= best.nodes; nodes += 1 + nodes / 2) {
    Budget budget;
    budget.SetNodeLimit(nodes);
    const auto answer = Schedule(graph, {}, budget);
    ASSERT_TRUE(answer.has_value());
    EXPECT_LE(answer->nodes, nodes);
    EXPECT_TRUE(verify::VerifyOrder(graph, answer->best->order).ok());
    EXPECT_GE(answer->best->peak(), best.best->peak());
    EXPECT_LE(answer->peak_bound, best.best->peak());
    EXPECT_GE(answer->peak_bound, bound);  // More nodes never weaken the bound.
    bound = answer->peak_bound;
    if (answer->outcome != Outcome::kOptimal) {
      EXPECT_EQ(answer->stopped, StopReason::kBudget);
    }
  }
  Budget cancelled;
  cancelled.Cancel();
  const auto answer = Schedule(graph, {}, cancelled);
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->nodes, 0);
  EXPECT_EQ(answer->best->order, ProgramOrder(graph));
}

TEST(Schedule, IsTheSameEveryTime) {
  const Graph graph = Large();
  const PlanAnswer first = Answer(graph);
  const PlanAnswer second = Answer(graph);
  EXPECT_EQ(first.best->order, second.best->order);
  EXPECT_EQ(first.nodes, second.nodes);
  EXPECT_EQ(first.scheduling.stats, second.scheduling.stats);
}

TEST(Schedule, ReportsProgressThatOnlyGetsBetter) {
  const Graph graph = Large();
  std::vector<Progress> heard;
  ScheduleOptions options;
  options.progress = [&](const Progress& progress) { heard.push_back(progress); };
  const PlanAnswer answer = Answer(graph, options);
  ASSERT_GE(heard.size(), 2u);
  for (std::size_t k = 1; k < heard.size(); ++k) {
    EXPECT_LE(*heard[k].best, *heard[k - 1].best);
    EXPECT_GE(heard[k].bound, heard[k - 1].bound);
    EXPECT_GE(heard[k].nodes, heard[k - 1].nodes);
  }
  EXPECT_EQ(heard.back().best, answer.best->peak());
}

TEST(Schedule, ALittleMemoryIsEnoughForAnAnswer) {
  ScheduleOptions options;
  options.most_bytes = std::size_t{1} << 20;
  const Graph graph = Large();
  const PlanAnswer answer = Answer(graph, options);
  EXPECT_TRUE(verify::VerifyOrder(graph, answer.best->order).ok());
  EXPECT_LE(answer.peak_bound, answer.best->peak());
}

}  // namespace
}  // namespace berth::internal::schedule
