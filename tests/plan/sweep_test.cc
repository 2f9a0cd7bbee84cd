#include "berth/sweep.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "berth/sweep_io.h"
#include "testing/random_graph.h"
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
