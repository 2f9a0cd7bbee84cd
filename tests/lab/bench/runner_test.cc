#include "tools/lab/bench/runner.h"

#include <gtest/gtest.h>

#include "tools/lab/bench/benchmark.h"

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

}  // namespace
}  // namespace berth::lab
