// Graphs of any size: greedy list scheduling, and what a search does once its budget has ended.
// Work is counted, not timed.

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/random.h"
#include "berth/schedule.h"
#include "schedule/list.h"
#include "tools/generate/graphs.h"

namespace berth::internal::schedule {
namespace {

// Each operator reads one to three of the last tensors; with `width` all, the graph is wide.
Graph Irregular(std::size_t operators, std::size_t width, std::uint64_t seed) {
  Random random(seed);
  Graph graph;
  for (std::size_t v = 0; v < operators; ++v) {
    Operator op{"o" + std::to_string(v), "Op", {}, {v}};
    const std::size_t first = v > width ? v - width : 0;
    for (std::int64_t k = random.Uniform(1, 3); k > 0 && v > 0; --k) {
      op.inputs.push_back(static_cast<TensorIndex>(
          random.Uniform(static_cast<std::int64_t>(first), static_cast<std::int64_t>(v) - 1)));
    }
    graph.operators.push_back(std::move(op));
    graph.tensors.push_back({"t" + std::to_string(v), random.Uniform(1, 1000)});
  }
  return graph;
}

// Sources, and one operator that reads them all.
Graph Star(std::size_t sources) {
  Graph graph;
  Operator last{"last", "Op", {}, {}};
  for (std::size_t v = 0; v < sources; ++v) {
    graph.operators.push_back({"o" + std::to_string(v), "Op", {}, {v}});
    graph.tensors.push_back({"t" + std::to_string(v), static_cast<Bytes>(v % 7 + 1)});
    last.inputs.push_back(v);
  }
  graph.operators.push_back(std::move(last));
  return graph;
}

Instance RandomInstance(std::uint64_t seed) {
  Random random(seed);
  const auto n = static_cast<std::size_t>(random.Uniform(2, 12));
  std::vector<std::pair<Op, Op>> edges;
  std::vector<FlowBuffer> buffers;
  for (Op v = 0; v < n; ++v) {
    FlowBuffer buffer{random.Uniform(1, 20), false, random.Chance(0.1), {v}, {}};
    for (Op w = v + 1; w < n; ++w) {
      if (random.Chance(0.1)) edges.emplace_back(v, w);
      if (!random.Chance(0.3)) continue;
      buffer.consumers.push_back(w);
      edges.emplace_back(v, w);
    }
    if (buffer.consumers.empty()) buffer.consumers = {v};
    buffers.push_back(std::move(buffer));
  }
  return MakeInstance(n, random.Uniform(0, 3), edges, std::move(buffers));
}

// Every choice is the best of those that were ready, by sets of bits.
void ExpectGreedy(const Instance& instance, const std::vector<Op>& order) {
  ASSERT_TRUE(IsOrder(instance, order));
  std::vector<Word> done(instance.words(), 0);
  Bytes live = LiveAtStart(instance);
  Bytes peak = live;
  for (const Op chosen : order) {
    const auto value = [&](Op v) {
      const Bytes created = CreatedBytes(instance, done.data(), v);
      return std::pair(std::max(peak, live + created),
                       live + created - FreedBytes(instance, done.data(), v));
    };
    for (Op v = 0; v < instance.num_ops; ++v) {
      const auto before = instance.predecessors[v];
      if (TestBit(done.data(), v) || !std::all_of(before.begin(), before.end(),
                                                  [&](Op p) { return TestBit(done.data(), p); })) {
        continue;
      }
      ASSERT_LE(value(chosen), value(v));
    }
    std::tie(peak, live) = value(chosen);
    SetBit(done.data(), chosen);
  }
  EXPECT_EQ(peak, PeakOf(instance, order));
}

TEST(ListSchedule, RunsTheBestReadyOperator) {
  Budget budget;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    const Instance instance = RandomInstance(seed);
    for (const Instance& each : {instance, Reversed(instance)}) {
      const auto order = ListSchedule(each, 0, budget);
      ASSERT_TRUE(order.has_value());
      ExpectGreedy(each, *order);
    }
  }
}

TEST(Limits, EveryAlgorithmIsWhatItSaysAtAnySize) {
  ScheduleOptions options;
  options.most_bytes = std::size_t{1} << 20;  // Sets of operators for each operator do not fit.
  const Graph graph = Irregular(4000, 10, 3);
  Budget budget;
  options.algorithm = ScheduleAlgorithm::kProgram;
  const auto program = Schedule(graph, options, budget);
  ASSERT_TRUE(program.has_value());
  EXPECT_EQ(program->best->order, ProgramOrder(graph));
  EXPECT_EQ(program->stopped, StopReason::kAlgorithm);
  options.algorithm = ScheduleAlgorithm::kHoistedUpdates;
  EXPECT_EQ(Schedule(graph, options, budget)->scheduling.algorithm, "hoisted-updates");
  options.algorithm = ScheduleAlgorithm::kGreedy;
  EXPECT_EQ(Schedule(graph, options, budget)->scheduling.algorithm, "greedy");
  options.algorithm = ScheduleAlgorithm::kAuto;
  const auto best = Schedule(graph, options, budget);
  EXPECT_LE(best->best->peak(), program->best->peak());
  EXPECT_EQ(best->stopped, StopReason::kSize);
}

// Some polls after the first, the search is cancelled. What it still does is little, though one
// node may cost as much as a set of operators for each operator that is ready.
TEST(Limits, LittleIsDoneAfterTheEnd) {
  constexpr std::int64_t kMost = 50'000'000;  // Some tens of milliseconds.
  for (const Graph& graph :
       {Irregular(100'000, 10, 5), Star(70'000), Irregular(20'000, 20'000, 1), Star(20'000)}) {
    for (const int polls : {1, 3}) {
      Budget budget;
      int heard = 0;
      std::int64_t work = std::numeric_limits<std::int64_t>::max() / 2;
      const PollListener listener(budget, [&] {
        if (++heard != polls) return;
        work = budget.work_spent();
        budget.Cancel();
      });
      const auto answer = Schedule(graph, {}, budget);
      ASSERT_TRUE(answer.has_value());
      EXPECT_EQ(answer->best->order.size(), graph.operators.size());
      EXPECT_LE(budget.work_spent() - work, kMost);
    }
  }
}

// Without a set of operators for each operator: too large for these, not for cuts and windows.
TEST(Limits, LargeGraphsAreProved) {
  for (const GraphFamilyInfo& info : GraphFamilies()) {
    SCOPED_TRACE(info.name);
    GraphParameters parameters;
    parameters.operators = 40'000;
    const auto graph = GenerateGraph(info.family, parameters);
    ASSERT_TRUE(graph.has_value());
    ScheduleOptions options;
    options.most_bytes = std::size_t{256} << 20;
    Budget budget;
    budget.SetNodeLimit(2'000'000);
    const auto answer = Schedule(*graph, options, budget);
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(answer->outcome, Outcome::kOptimal);
    EXPECT_EQ(answer->best->peak(), answer->peak_bound);
    // The order in which a cell is written is optimal.
    if (info.family != GraphFamily::kCell) {
      EXPECT_LT(answer->best->peak(), answer->program_order_peak);
    }
  }
}

}  // namespace
}  // namespace berth::internal::schedule
