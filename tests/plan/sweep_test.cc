#include "berth/sweep.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "berth/sweep_io.h"
#include "testing/random_graph.h"
#include "testing/recompute_oracle.h"
#include "testing/spill_oracle.h"
#include "tests/graph/build.h"

namespace berth::internal {
namespace {

SweepCurve Swept(const Graph& graph, const SweepOptions& options = {}) {
  Budget budget;
  auto curve = Sweep(graph, options, budget);
  EXPECT_TRUE(curve.has_value()) << curve.error().message;
  return curve.value_or(SweepCurve());
}

std::vector<Bytes> CapacitiesOf(const SweepCurve& curve) {
  std::vector<Bytes> capacities;
  for (const SweepPoint& point : curve.points) capacities.push_back(point.capacity);
  return capacities;
}

// The CSV without the times, to compare sweeps by.
std::string Text(SweepCurve curve) {
  for (SweepPoint& point : curve.points) point.seconds = 0;
  return WriteSweepCsv({curve});
}

TEST(SweepTest, GoesFromTheLeastPeakToOneOperator) {
  SweepOptions options;
  options.points = 3;
  const SweepCurve curve = Swept(OneSpill().graph, options);
  EXPECT_EQ(curve.least, 12);
  EXPECT_EQ(curve.least_peak, 14);
  EXPECT_EQ(CapacitiesOf(curve), (std::vector<Bytes>{14, 13, 12}));
  EXPECT_EQ(curve.points[0].avoidable, 0);
  EXPECT_EQ(curve.points[1].avoidable, 8);
  EXPECT_EQ(curve.points[2].avoidable, 8);
  for (const SweepPoint& point : curve.points) EXPECT_EQ(point.outcome, Outcome::kOptimal);
}

TEST(SweepTest, ListsCapacitiesAsAskedForAndSolvesTheLargestFirst) {
  SweepOptions options;
  options.capacities = {NamedBudget::kOneOperator, Bytes{11}, Bytes{20}, NamedBudget::kLeastPeak};
  std::vector<Bytes> solved;
  options.on_point = [&](const SweepPoint& point, const PlanAnswer& answer) {
    EXPECT_EQ(answer.fits(), point.avoidable.has_value());
    solved.push_back(point.capacity);
    return true;
  };
  const SweepCurve curve = Swept(OneSpill().graph, options);
  EXPECT_EQ(CapacitiesOf(curve), (std::vector<Bytes>{12, 11, 20, 14}));
  EXPECT_EQ(solved, (std::vector<Bytes>{20, 14, 12, 11}));
  EXPECT_EQ(curve.points[1].outcome, Outcome::kInfeasible);
  EXPECT_TRUE(Validate(curve).has_value());
}

TEST(SweepTest, CapacitiesThatCoincideArePlannedOnce) {
  SweepOptions options;
  options.points = 50;
  const SweepCurve curve = Swept(OneSpill().graph, options);
  std::vector<Bytes> capacities;
  for (const SweepPoint& point : curve.points) capacities.push_back(point.capacity);
  EXPECT_EQ(capacities, (std::vector<Bytes>{14, 13, 12}));
}

TEST(SweepTest, ShardsMergeToTheWhole) {
  SweepOptions options;
  options.capacities = {14, 13, 12, 11, 20};
  options.nodes_each = 1000;
  const Graph graph = OneSpill().graph;
  const SweepCurve whole = Swept(graph, options);
  std::vector<SweepCurve> merged;
  for (const std::vector<std::size_t>& numbers : {std::vector<std::size_t>{1, 3}, {4, 0, 2}}) {
    options.numbers = numbers;
    ASSERT_TRUE(Merge(merged, {Swept(graph, options)}, "shard").has_value());
  }
  ASSERT_EQ(merged.size(), 1u);
  Tighten(merged[0]);
  EXPECT_EQ(Text(merged[0]), Text(whole));
  SweepCurve other = whole;
  other.points[0].capacity += 1;
  EXPECT_NE(Merge(merged, {other}, "other").error().message.find("these are not of one sweep"),
            std::string::npos);
  other = whole;
  other.input = "another";
  EXPECT_FALSE(Merge(merged, {other}, "other").has_value());
  EXPECT_EQ(Text(merged[0]), Text(whole));
}

TEST(SweepTest, EndsEarlyWhenToldTo) {
  SweepOptions options;
  options.points = 4;
  options.on_point = [](const SweepPoint&, const PlanAnswer&) { return false; };
  EXPECT_EQ(Swept(OneSpill().graph, options).points.size(), 1u);
  options.on_point = nullptr;
  Budget cancelled;
  cancelled.Cancel();
  const auto none = Sweep(OneSpill().graph, options, cancelled);
  ASSERT_TRUE(none.has_value());
  EXPECT_TRUE(none->points.empty());
}

TEST(SweepTest, RefusesWhatIsNoSweep) {
  Budget budget;
  const Graph graph = OneSpill().graph;
  SweepOptions options;
  options.points = 0;
  EXPECT_EQ(Sweep(graph, options, budget).error().code, ErrorCode::kInvalidOptions);
  options.points = 3;
  for (const std::vector<std::size_t>& numbers : {std::vector<std::size_t>{3}, {1, 1}}) {
    options.numbers = numbers;
    EXPECT_EQ(Sweep(graph, options, budget).error().code, ErrorCode::kInvalidOptions);
  }
}

TEST(SweepTest, CarriesPlansUpAndBoundsDown) {
  SweepCurve curve;
  curve.points = {{0, 20, Outcome::kFeasible, 9, 5, 4, 2, 9, 1},
                  {1, 12, Outcome::kFeasible, 8, 4, 4, 0, 7, 1},
                  {2, 10, Outcome::kUnknown, {}, 0, 0, 1, 0, 1},
                  {3, 5, Outcome::kInfeasible, {}, 0, 0, 0, 0, 1}};
  Tighten(curve);
  EXPECT_EQ(curve.points[0].avoidable, 8);
  EXPECT_EQ(curve.points[0].traffic_by_sum, 7);
  EXPECT_EQ(curve.points[1].traffic_bound, 2);
  EXPECT_EQ(curve.points[2].traffic_bound, 2);
  EXPECT_EQ(curve.points[3].traffic_bound, 0);
  curve.points[3].capacity = 13;
  EXPECT_FALSE(Validate(curve).has_value());
}

// What is proved agrees with exhaustive search, curves fall, and the order in which capacities are
// listed changes nothing.
TEST(SweepTest, RandomCurvesAgreeWithTheOracle) {
  int spilled = 0;
  for (std::uint64_t seed = 0; seed < 80; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Graph graph = RandomGraph(seed, AllGraphKnobs());
    SweepOptions options;
    options.points = 4;
    options.nodes_each = 2000;
    const SweepCurve curve = Swept(graph, options);
    EXPECT_TRUE(Validate(curve).has_value());
    for (std::size_t i = 0; i < curve.points.size(); ++i) {
      const SweepPoint& point = curve.points[i];
      const auto least = OracleTraffic(graph, point.capacity);
      ASSERT_TRUE(least.has_value());  // No capacity is below that of one operator.
      EXPECT_NE(point.outcome, Outcome::kInfeasible);
      EXPECT_GE(point.avoidable.value_or(kMaxBytes), *least);
      if (i > 0) {
        EXPECT_GE(point.traffic_bound, curve.points[i - 1].traffic_bound);
      }
      spilled += point.avoidable.value_or(0) > 0 ? 1 : 0;
    }
    EXPECT_EQ(Text(Swept(graph, options)), Text(curve));
  }
  EXPECT_GT(spilled, 5);
}

// x runs again at 45 where 14 bytes are too many.
Graph Costed() {
  Graph graph = OneSpill().graph;
  graph.cost_unit = "flop";
  for (Operator& op : graph.operators) op.cost = 1000;
  graph.operators[0].cost = 45;
  return graph;
}

SweepOptions Recomputing(int points) {
  SweepOptions options;
  options.points = points;
  options.nodes_each = 2000;
  options.plan.recompute = true;
  return options;
}

TEST(SweepCostTest, WhatRunsAgainAndWhatItCosts) {
  const SweepCurve curve = Swept(Costed(), Recomputing(3));
  ASSERT_TRUE(curve.run.has_value());
  EXPECT_EQ(*curve.run, (RunCost{3045, "flop"}));
  EXPECT_EQ(CapacitiesOf(curve), (std::vector<Bytes>{14, 13, 12}));
  EXPECT_EQ(curve.points[0].cost, (SweepCost{0, 0, 0, 0}));
  EXPECT_EQ(curve.points[1].cost, (SweepCost{1, 45, 0, 45}));
  EXPECT_EQ(curve.points[2].cost, (SweepCost{1, 45, 0, 45}));
  for (const SweepPoint& point : curve.points) {
    EXPECT_EQ(point.outcome, Outcome::kOptimal);
    EXPECT_EQ(point.avoidable, 0);
  }
  EXPECT_TRUE(Validate(curve).has_value());
}

// With a link, x is copied in 4 ns each way.
TEST(SweepCostTest, CopiesOverALinkCount) {
  Graph graph = Costed();
  graph.cost_unit = "ns";
  SweepOptions options = Recomputing(2);
  options.plan.link = Link{1'000'000'000, 1'000'000'000, 0};
  const SweepCurve curve = Swept(graph, options);
  ASSERT_EQ(curve.points.size(), 2u);
  EXPECT_EQ(curve.points[1].cost, (SweepCost{0, 0, 8, 8}));
  EXPECT_EQ(curve.points[1].avoidable, 8);
  EXPECT_EQ(curve.points[1].outcome, Outcome::kOptimal);
}

TEST(SweepCostTest, RunCostsEndAt2To60) {
  Graph graph = Costed();
  for (Operator& op : graph.operators) op.cost = kMaxBytes;
  EXPECT_EQ(RunCostOf(graph), (RunCost{kMaxBytes, "flop"}));
  graph.operators.resize(1);
  graph.operators[0].cost = 7;
  EXPECT_EQ(RunCostOf(graph), (RunCost{7, "flop"}));
}

// What is proved agrees with exhaustive search, less memory never costs less, tables read back the same.
TEST(SweepCostTest, RandomCurvesAgreeWithTheOracle) {
  int costly = 0;
  int compared = 0;
  GraphKnobs knobs = AllGraphKnobs();
  knobs.max_operators = 6;
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Graph graph = RandomGraph(seed, knobs);
    SweepCurve curve = Swept(graph, Recomputing(4));
    const auto valid = Validate(curve);
    ASSERT_TRUE(valid.has_value()) << valid.error().message;
    for (std::size_t i = 0; i < curve.points.size(); ++i) {
      const SweepPoint& point = curve.points[i];
      ASSERT_TRUE(point.cost.has_value());
      const auto least = OracleRecomputation(graph, point.capacity);
      if (point.outcome == Outcome::kInfeasible) {
        EXPECT_FALSE(least.has_value());
      }
      compared += point.has_plan() ? 1 : 0;
      costly += point.has_plan() && point.figure() > 0 ? 1 : 0;
      if (point.has_plan()) {
        ASSERT_TRUE(least.has_value());
        EXPECT_GE(point.figure(), *least);
        EXPECT_LE(point.bound(), *least);
      }
      if (i == 0 || !point.has_plan()) continue;
      ASSERT_TRUE(curve.points[i - 1].has_plan());  // It has more memory.
      EXPECT_GE(point.figure(), curve.points[i - 1].figure());
      EXPECT_GE(point.bound(), curve.points[i - 1].bound());
    }
    curve.model = "m";
    const std::string text = WriteSweepCsv({curve});
    const auto read = ReadSweepCsv(text, "s.csv");
    ASSERT_TRUE(read.has_value()) << read.error().message;
    EXPECT_EQ(WriteSweepCsv(*read), text);
  }
  EXPECT_GT(compared, 100);
  EXPECT_GT(costly, 5);
}

TEST(SweepCostTest, CarriesPlansUpAndBoundsDown) {
  SweepCurve curve;
  curve.run = RunCost{100, "ns"};
  curve.points = {{0, 20, Outcome::kFeasible, 0, 0, 0, 0, 0, 1, SweepCost{2, 9, 0, 6}},
                  {1, 15, Outcome::kUnknown, {}, 0, 0, 0, 0, 1, SweepCost{0, 0, 0, 1}},
                  {2, 12, Outcome::kFeasible, 8, 4, 4, 0, 0, 1, SweepCost{1, 2, 4, 3}},
                  {3, 10, Outcome::kUnknown, {}, 0, 0, 0, 0, 1, SweepCost{0, 0, 0, 0}},
                  {4, 5, Outcome::kInfeasible, {}, 0, 0, 0, 0, 1, SweepCost{0, 0, 0, 0}}};
  Tighten(curve);
  for (int i = 0; i < 3; ++i) {
    const SweepPoint& point = curve.points[static_cast<std::size_t>(i)];
    EXPECT_EQ(point.cost, (SweepCost{1, 2, 4, 6})) << i;
    EXPECT_EQ(point.avoidable, 8) << i;
    EXPECT_EQ(point.outcome, Outcome::kOptimal) << i;
  }
  EXPECT_EQ(curve.points[3].cost, (SweepCost{0, 0, 0, 6}));
  EXPECT_EQ(curve.points[4].cost, (SweepCost{0, 0, 0, 0}));
  const auto valid = Validate(curve);
  EXPECT_TRUE(valid.has_value()) << valid.error().message;
}

TEST(SweepCostTest, FiguresThatContradictEachOtherAreRefused) {
  const SweepPoint good = {0, 9, Outcome::kOptimal, 8, 4, 4, 0, 0, 1, SweepCost{1, 2, 4, 6}};
  EXPECT_TRUE(Validate(good).has_value());
  SweepPoint bad = good;
  bad.cost->bound = 5;
  EXPECT_EQ(Validate(bad).error().message,
            "the outcome is optimal, but the cost is not recompute_bound");
  bad.cost->bound = 7;
  EXPECT_EQ(Validate(bad).error().message, "the cost is less than recompute_bound");
  bad = good;
  bad.avoidable.reset();
  bad.outcome = Outcome::kUnknown;
  EXPECT_EQ(Validate(bad).error().message, "there is a cost, but no plan");
  bad.cost = SweepCost{0, 0, 0, 6};
  EXPECT_TRUE(Validate(bad).has_value());
  SweepCurve curve;
  curve.points = {good};
  EXPECT_FALSE(Validate(curve).has_value());  // A cost, but of no run.
}

TEST(SweepCostTest, CurvesOfDifferentKindsDoNotMerge) {
  const SweepCurve costs = Swept(Costed(), Recomputing(3));
  SweepOptions options;
  options.points = 5;
  options.capacities = {14, 13, 12, 20};
  options.numbers = std::vector<std::size_t>{3};
  const SweepCurve traffic = Swept(Costed(), options);
  std::vector<SweepCurve> merged = {costs};
  const auto mixed = Merge(merged, {traffic}, "other");
  ASSERT_FALSE(mixed.has_value());
  EXPECT_EQ(mixed.error().code, ErrorCode::kInvalidOptions);
  EXPECT_NE(mixed.error().message.find("points with recomputation and points without"),
            std::string::npos);
  SweepCurve dearer = costs;
  dearer.run->cost = 4000;
  EXPECT_NE(Merge(merged, {dearer}, "other")
                .error()
                .message.find("4000 flop, which is known as 3045 flop"),
            std::string::npos);
  EXPECT_EQ(Text(merged[0]), Text(costs));
  // Two models side by side may be of two kinds.
  SweepCurve named = traffic;
  named.model = "another";
  ASSERT_TRUE(Merge(merged, {named}, "other").has_value());
  ASSERT_EQ(merged.size(), 2u);
  const std::string both = WriteSweepCsv(merged);
  const auto read = ReadSweepCsv(both, "s.csv");
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(WriteSweepCsv(*read), both);
}

TEST(SweepCsvTest, CostsAreReadWithTheirPlaces) {
  const std::string head =
      "model,point,capacity,outcome,avoidable,spilled,retrieved,traffic_bound,traffic_by_sum,"
      "seconds,"
      "input";
  const std::string costs =
      ",recomputed_operators,recomputed,copy_cost,recompute_bound,run_cost,cost_unit";
  // Without the columns, and with empty ones: traffic.
  const auto old = ReadSweepCsv(head + "\nm,0,20,optimal,0,0,0,0,0,1,i\n", "s.csv");
  ASSERT_TRUE(old.has_value()) << old.error().message;
  EXPECT_FALSE(old->front().run.has_value());
  EXPECT_FALSE(old->front().points[0].cost.has_value());
  const auto read = [&](const std::string& row) {
    return ReadSweepCsv(head + costs + "\n" + row + "\n", "s.csv");
  };
  const auto empty = read("m,0,20,optimal,0,0,0,0,0,1,i,,,,,,");
  ASSERT_TRUE(empty.has_value()) << empty.error().message;
  EXPECT_FALSE(empty->front().points[0].cost.has_value());
  const auto good = read("m,0,20,feasible,8,4,4,0,0,1,i,1,2,4,3,100,ns");
  ASSERT_TRUE(good.has_value()) << good.error().message;
  EXPECT_EQ(good->front().points[0].cost, (SweepCost{1, 2, 4, 3}));
  EXPECT_EQ(good->front().run, (RunCost{100, "ns"}));
  const auto fault = [&](const std::string& row, const std::string& words) {
    const auto result = read(row);
    ASSERT_FALSE(result.has_value()) << row;
    EXPECT_NE(result.error().message.find(words), std::string::npos) << result.error().message;
  };
  fault("m,0,20,feasible,8,4,4,0,0,1,i,1,-2,4,3,100,ns",
        "s.csv:2:33: recomputed \"-2\" is not a whole");
  fault("m,0,20,feasible,8,4,4,0,0,1,i,1,2,4,3,,ns", "cost");
  fault("m,0,20,feasible,8,4,4,0,0,1,i,1,2,4,9,100,ns", "s.csv:2:8: the cost is less than");
  fault("m,0,20,feasible,8,4,4,0,0,1,i,1,2,4,3,100,ns\nm,1,20,feasible,8,4,4,0,0,1,i,1,2,4,3,99,ns",
        "s.csv:3:");
  // All six or none.
  EXPECT_NE(ReadSweepCsv(head + ",run_cost\n", "s.csv")
                .error()
                .message.find("recomputed_operators is missing"),
            std::string::npos);
}

TEST(SweepCsvTest, ReadsWhatItWroteAndFormerNames) {
  SweepCurve curve;
  curve.model = "a, \"b\"";
  curve.input = "fnv1a64:0 program-order";
  curve.points = {{0, 20, Outcome::kOptimal, 0, 0, 0, 0, 0, 0.5},
                  {1, 12, Outcome::kFeasible, 8, 4, 4, 3, 7, 1},
                  {2, 3, Outcome::kInfeasible, {}, 0, 0, 0, 0, 0}};
  std::string text = WriteSweepCsv({curve});
  auto read = ReadSweepCsv(text, "s.csv");
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(WriteSweepCsv(*read), text);
  EXPECT_TRUE(read->front().fixed_order);
  text.replace(text.find("traffic_bound"), 13, "lower_bound");
  text.replace(text.find("traffic_by_sum"), 14, "without_addresses");
  read = ReadSweepCsv(text, "s.csv");
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(read->front().points[1].traffic_by_sum, 7);
  text.replace(text.find("feasible"), 8, "perfect!");
  EXPECT_EQ(ReadSweepCsv(text, "s.csv").error().message.rfind("s.csv:3:", 0), 0u);
  EXPECT_FALSE(ReadSweepCsv("id,size\n", "s.csv").has_value());
}

}  // namespace
}  // namespace berth::internal
