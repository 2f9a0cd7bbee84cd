// The least peak of random graphs, against enumerating all sets of operators that can have run.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "berth/schedule.h"
#include "testing/order_oracle.h"
#include "testing/random_graph.h"
#include "tools/verify/verify.h"

namespace berth::internal::schedule {
namespace {

std::vector<std::string> Switches() {
  std::vector<std::string> names;
  for (const OptionInfo& info : ScheduleOptionTable()) {
    if (info.name.substr(0, 6) == "exact.") names.emplace_back(info.name);
  }
  return names;
}

std::string Name(const ScheduleOptions& options) {
  std::string off;
  for (const std::string& name : Switches()) {
    if (*GetOption(options, name) == "off") off += " " + name;
  }
  return "off:" + off;
}

void ExpectLeast(const Graph& graph, const ScheduleOptions& options, Bytes least) {
  Budget budget;
  const auto answer = Schedule(graph, options, budget);
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  const verify::PlanReport report =
      verify::VerifyOrder(graph, answer->best->order, options.counting);
  ASSERT_TRUE(report.ok()) << verify::Describe(report.faults.front(), graph,
                                               verify::AsPlan(answer->best->order));
  EXPECT_EQ(answer->best->peak(), report.peak);
  // Some method of proof must be left.
  if (options.exact.best_first) {
    EXPECT_EQ(answer->outcome, Outcome::kOptimal);
    EXPECT_EQ(answer->stopped, StopReason::kAnswered);
    EXPECT_EQ(answer->best->peak(), least);
    EXPECT_EQ(answer->peak_bound, least);
  } else {
    EXPECT_LE(answer->peak_bound, least);
    EXPECT_GE(answer->best->peak(), least);
    if (answer->outcome == Outcome::kOptimal) {
      EXPECT_EQ(answer->best->peak(), least);
    }
  }
}

Graph SomeGraph(std::uint64_t seed) {
  GraphKnobs knobs = AllGraphKnobs();
  if (seed % 3 == 1) {
    knobs = {};
    knobs.min_operators = 7;
    knobs.max_bytes = 30;
    knobs.output_chance = 0;
  }
  knobs.max_operators = 9;
  return RandomGraph(seed, knobs);
}

TEST(Schedule, IsTheLeastWithAnySwitches) {
  const std::vector<std::string> switches = Switches();
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Graph graph = SomeGraph(seed);
    ScheduleOptions options;
    options.counting = {seed % 4 == 0, seed % 8 == 0, /*unsized_as_zero=*/true};
    const Bytes least = OracleSchedule(graph, options.counting).peak;
    ExpectLeast(graph, options, least);
    // One switch off, in turn; and random combinations.
    ASSERT_TRUE(SetOption(options, switches[seed % switches.size()], "off").has_value());
    ExpectLeast(graph, options, least);
    Random random(seed);
    for (int k = 0; k < 2; ++k) {
      for (const std::string& name : switches) {
        const bool on = name == "exact.best_first" ? random.Chance(0.9) : random.Chance(0.5);
        ASSERT_TRUE(SetOption(options, name, on ? "on" : "off").has_value());
      }
      SCOPED_TRACE(Name(options));
      ExpectLeast(graph, options, least);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(Schedule, IsTheLeastWithAllCombinationsOfSwitches) {
  const std::vector<std::string> switches = Switches();
  for (std::uint64_t seed = 5001; seed <= 5015; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Graph graph = SomeGraph(seed);
    const Bytes least = OracleSchedule(graph).peak;
    for (std::uint32_t mask = 0; mask < std::uint32_t{1} << switches.size(); ++mask) {
      ScheduleOptions options;
      options.counting.unsized_as_zero = true;
      for (std::size_t k = 0; k < switches.size(); ++k) {
        const bool on = (mask >> k & 1) == 0;
        ASSERT_TRUE(SetOption(options, switches[k], on ? "on" : "off").has_value());
      }
      SCOPED_TRACE(Name(options));
      ExpectLeast(graph, options, least);
      if (HasFatalFailure()) return;
    }
  }
}

// Larger and denser graphs that need search: up to 15 operators.
TEST(Schedule, IsTheLeastOfLargerGraphs) {
  const std::vector<std::string> switches = Switches();
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    GraphKnobs knobs;
    knobs.min_operators = 13;
    knobs.max_operators = 15;
    knobs.max_outputs = 2;
    knobs.max_bytes = 50;
    knobs.output_chance = 0;
    knobs.max_inputs = 2;
    knobs.far_chance = 0.9;
    const Graph graph = RandomGraph(seed, knobs);
    const Bytes least = OracleSchedule(graph).peak;
    ScheduleOptions options;
    ExpectLeast(graph, options, least);
    Random random(seed);
    for (const std::string& name : switches) {
      const bool on = name == "exact.best_first" || random.Chance(0.5);
      ASSERT_TRUE(SetOption(options, name, on ? "on" : "off").has_value());
    }
    SCOPED_TRACE(Name(options));
    ExpectLeast(graph, options, least);
  }
}

TEST(Schedule, EveryAlgorithmGivesAValidOrderAndATrueBound) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Graph graph = SomeGraph(seed);
    const Bytes least = OracleSchedule(graph).peak;
    for (const ScheduleAlgorithmInfo& info : ScheduleAlgorithms()) {
      ScheduleOptions options;
      options.algorithm = info.algorithm;
      Budget budget;
      const auto answer = Schedule(graph, options, budget);
      ASSERT_TRUE(answer.has_value()) << answer.error().message;
      const verify::PlanReport report = verify::VerifyOrder(graph, answer->best->order);
      ASSERT_TRUE(report.ok()) << info.name << ": "
                               << verify::Describe(report.faults.front(), graph,
                                                   verify::AsPlan(answer->best->order));
      EXPECT_EQ(answer->best->peak(), report.peak) << info.name;
      EXPECT_GE(answer->best->peak(), least) << info.name;
      EXPECT_LE(answer->peak_bound, least) << info.name;
    }
  }
}

}  // namespace
}  // namespace berth::internal::schedule
