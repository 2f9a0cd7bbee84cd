#include "tools/lab/bench/runner.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tools/generate/generate.h"
#include "tools/lab/bench/benchmark.h"
#include "tools/lab/suites/inputs.h"

namespace berth::lab {
namespace {

TEST(MedianTest, IsTheMiddle) {
  EXPECT_EQ(Median({3}), 3);
  EXPECT_EQ(Median({9, 1, 3}), 3);
  EXPECT_EQ(Median({4, 1, 2, 9}), 3);
}

TEST(PeerRunnerTest, NeedsANameAndPlacesForItsFiles) {
  const auto peer = PeerRunner("other=tool --in={input} 'x y' {output}");
  ASSERT_TRUE(peer.has_value());
  EXPECT_EQ(peer->name, "other");
  EXPECT_EQ(peer->words, (std::vector<std::string>{"tool", "--in={input}", "x y", "{output}"}));
  EXPECT_FALSE(PeerRunner("tool {input} {output}").has_value());
  EXPECT_FALSE(PeerRunner("=tool {input} {output}").has_value());
  EXPECT_FALSE(PeerRunner("other=tool {input}").has_value());
  EXPECT_FALSE(PeerRunner("other=tool {output}").has_value());
}

// The greedy plan that Place() ends with where a search has none is not the search's.
TEST(Runner, CountsOnlyPlansOfTheFindersAskedFor) {
  Problem problem;
  problem.buffers = {{"a", 0, 3, 4}, {"b", 3, 5, 4}, {"c", 2, 4, 4}};
  problem.capacity = 8;
  Runner runner = BerthRunner("", *MethodFromName("telamalloc"), {});
  runner.baseline_options.settings["telamalloc.heuristic_first"] = "off";
  const RunResult found = RunOnce(runner, {problem, "", "", 1, {}, /*keep_offsets=*/true});
  EXPECT_EQ(found.verdict, Verdict::kSolved);
  EXPECT_EQ(found.offsets.size(), 3U);
  EXPECT_EQ(found.nodes, 3);
  ASSERT_TRUE(found.processor.has_value());
  runner.node_limit = 1;
  EXPECT_EQ(RunOnce(runner, {problem, "", "", 1, {}}).verdict, Verdict::kSolved);
  runner.finders = {"telamalloc"};
  const RunResult own = RunOnce(runner, {problem, "", "", 1, {}});
  EXPECT_EQ(own.verdict, Verdict::kGaveUp);
  EXPECT_TRUE(own.out_of_budget);
  EXPECT_FALSE(own.height.has_value());
  runner.node_limit.reset();
  EXPECT_EQ(RunOnce(runner, {problem, "", "", 1, {}}).verdict, Verdict::kSolved);
}

// A limit of processor time ends a run and counts as one, and not before that time is spent.
TEST(Runner, LimitsProcessorTime) {
  internal::GenerateParameters parameters;  // A packing of the kind that the CSP seldom solves.
  parameters.seed = 60001;
  parameters.buffers = 60;
  parameters.steps = 40;
  SuiteInput input = GenerateInput(internal::Family::kPlanted, parameters);
  input.problem.capacity = parameters.capacity;
  const Runner runner = BerthRunner("", *MethodFromName("csp"), {});
  RunRequest request{input.problem, "", "", 1, 0.2};
  request.processor_limit = true;
  const RunResult run = RunOnce(runner, request);
  ASSERT_FALSE(run.decided()) << run.message;
  EXPECT_TRUE(run.out_of_budget);
  ASSERT_TRUE(run.processor.has_value());
  EXPECT_GE(*run.processor, 0.19);
}

// A runner without an answer runs once; one with an answer until its runs have taken long enough.
TEST(Benchmark, RunsNoMoreRoundsThanAreOfUse) {
  Problem problem;
  problem.buffers = {{"a", 0, 3, 4}, {"b", 3, 5, 4}, {"c", 2, 4, 4}};
  problem.capacity = 8;
  const BenchmarkTable table{"three", problem};
  Runner limited = BerthRunner("", *MethodFromName("telamalloc"), {});
  limited.baseline_options.settings["telamalloc.heuristic_first"] = "off";
  limited.finders = {"telamalloc"};
  const Runner whole = limited;
  limited.node_limit = 1;
  BenchmarkOptions options;
  options.rounds = 4;
  const auto runs = [&] {
    std::vector<std::size_t> counts;
    for (const Trial& trial : RunBenchmark(table, {limited, whole}, options, "")) {
      counts.push_back(trial.runs.size());
    }
    return counts;
  };
  EXPECT_EQ(runs(), (std::vector<std::size_t>{1, 4}));
  options.most_seconds = 1e9;
  EXPECT_EQ(runs(), (std::vector<std::size_t>{1, 4}));
  options.most_seconds = 0;
  EXPECT_EQ(runs(), (std::vector<std::size_t>{1, 1}));
}

}  // namespace
}  // namespace berth::lab
