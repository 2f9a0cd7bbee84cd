// The three ways to end a search.

#include "berth/budget.h"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <thread>

#include "berth/place.h"
#include "tools/generate/generate.h"

namespace berth::internal {
namespace {

// Exactly full: no search finishes on it in reasonable time.
Problem Hard() {
  GenerateParameters parameters;
  parameters.buffers = 400;
  parameters.seed = 3;
  auto generated = Generate(Family::kPlanted, parameters);
  EXPECT_TRUE(generated.has_value());
  Problem problem = generated->problem;
  problem.capacity.reset();
  return problem;
}

// Loops between nodes hear the end without spending nodes.
TEST(Budget, WorkEndsByTimeOrCancellationAlone) {
  Budget budget;
  budget.SetNodeLimit(1);
  EXPECT_TRUE(budget.SpendNode());
  EXPECT_FALSE(budget.SpendNode());
  EXPECT_TRUE(budget.SpendWork(1'000'000'000));  // Nodes do not end it.
  int polls = 0;
  {
    const internal::PollListener listener(budget, [&] { ++polls; });
    for (int k = 0; k < 1'000'000; ++k) EXPECT_TRUE(budget.SpendWork(100));
  }
  EXPECT_GE(polls, 10);
  EXPECT_LE(polls, 1000);
  Budget follower;
  follower.Follow(budget);
  budget.Cancel();
  EXPECT_FALSE(budget.SpendWork(1'000'000'000));
  EXPECT_FALSE(budget.SpendWork(1));
  EXPECT_EQ(budget.nodes_spent(), 1);
  EXPECT_TRUE(follower.Exhausted());
}

TEST(Budget, NeverEndsByDefault) {
  Budget budget;
  for (int i = 0; i < 10'000; ++i) ASSERT_TRUE(budget.SpendNode());
  EXPECT_FALSE(budget.Exhausted());
  EXPECT_EQ(budget.nodes_spent(), 10'000);
}

TEST(Budget, SpendsExactlyItsNodes) {
  Budget budget;
  budget.SetNodeLimit(3);
  EXPECT_TRUE(budget.SpendNode());
  EXPECT_TRUE(budget.SpendNode());
  EXPECT_TRUE(budget.SpendNode());
  EXPECT_FALSE(budget.SpendNode());
  EXPECT_TRUE(budget.Exhausted());
  EXPECT_EQ(budget.nodes_spent(), 3);
}

TEST(Budget, NegativeLimitsAreZero) {
  Budget nodes;
  nodes.SetNodeLimit(-5);
  EXPECT_FALSE(nodes.SpendNode());
  Budget time;
  time.SetTimeLimit(-1);
  EXPECT_FALSE(time.SpendNode());
}

// Even a search nested in two others still calls the caller's poll function.
TEST(Budget, PartsOfPartsPollTheWhole) {
  Budget whole;
  int polls = 0;
  const internal::PollListener listener(whole, [&] {
    if (++polls == 2) whole.Cancel();
  });
  Budget part(whole, 0.5);
  Budget part_of_part(part, 0.5);
  int nodes = 0;
  while (nodes < 100'000 && part_of_part.SpendNode()) ++nodes;
  EXPECT_LT(nodes, 1000);
  EXPECT_EQ(polls, 2);
  EXPECT_TRUE(part_of_part.Exhausted());
}

// A placer that reports its progress must not keep its caller from looking, nor from being told to
// stop: neither of two listeners replaces the other.
TEST(Budget, ListenersAreAllCalledWhilePlaceReportsProgress) {
  Budget budget;
  int before = 0;
  int polls = 0;
  const internal::PollListener first(budget, [&] { ++before; });
  const internal::PollListener second(budget, [&] {
    if (++polls == 3) budget.Cancel();
  });
  PlaceOptions options;
  options.algorithm = Algorithm::kCanonical;  // Has no limit of its own.
  int reports = 0;
  options.progress = [&](const Progress&) { ++reports; };
  const auto answer = Place(Hard(), options, budget);
  ASSERT_TRUE(answer.has_value());
  EXPECT_TRUE(budget.cancelled());
  EXPECT_EQ(polls, before);
  EXPECT_GE(polls, 3);
  EXPECT_GT(reports, 0);
  // Afterwards both still listen, and the placer no longer does.
  EXPECT_TRUE(budget.Exhausted());
  const int reported = reports;
  Budget part(budget, 1);
  EXPECT_TRUE(part.Exhausted());
  EXPECT_GT(polls, 3);
  EXPECT_EQ(reports, reported);
}

TEST(Budget, ListenersEndInReverseOrder) {
  Budget budget;
  int outer = 0;
  int inner = 0;
  const internal::PollListener listener(budget, [&] { ++outer; });
  {
    const internal::PollListener within(budget, [&] { ++inner; });
    EXPECT_FALSE(budget.Exhausted());
  }
  EXPECT_FALSE(budget.Exhausted());
  EXPECT_EQ(outer, 2);
  EXPECT_EQ(inner, 1);
}

TEST(Budget, TakesItsSecondsAtOnce) {
  EXPECT_TRUE(Budget(0.0).Exhausted());
  EXPECT_TRUE(Budget(60.0).has_time_limit());
}

TEST(Budget, AnEndlessTimeLimitIsNone) {
  Budget budget;
  budget.SetTimeLimit(1e300);
  EXPECT_FALSE(budget.has_time_limit());
  EXPECT_TRUE(budget.SpendNode());
}

TEST(Budget, CancelledBeforeTheStartVisitsNothing) {
  Budget budget;
  budget.Cancel();
  const auto answer = Place(Hard(), {}, budget);
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->outcome, Outcome::kUnknown);
  EXPECT_FALSE(answer->best.has_value());
  EXPECT_EQ(answer->nodes, 0);
  EXPECT_GT(answer->height_bound, 0);
}

TEST(Budget, CancelledFromAnotherThreadKeepsTheBestPlan) {
  const Problem problem = Hard();
  PlaceOptions options;
  options.algorithm = Algorithm::kCanonical;  // Has no limit of its own.
  Budget budget;
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    budget.Cancel();
  });
  const auto answer = Place(problem, options, budget);
  other.join();
  ASSERT_TRUE(answer.has_value());
  EXPECT_TRUE(answer->best.has_value());
}

TEST(Budget, TheTimeLimitEndsALongSearch) {
  Budget budget;
  budget.SetTimeLimit(0.05);
  PlaceOptions options;
  options.algorithm = Algorithm::kCanonical;
  const auto answer = Place(Hard(), options, budget);
  ASSERT_TRUE(answer.has_value());
  EXPECT_TRUE(budget.Exhausted());
  EXPECT_TRUE(answer->best.has_value());
}

TEST(Budget, TheSameNodesGiveTheSameAnswer) {
  const Problem problem = Hard();
  std::optional<PlanAnswer> first;
  for (int run = 0; run < 2; ++run) {
    Budget budget;
    budget.SetNodeLimit(5000);
    const auto answer = Place(problem, {}, budget);
    ASSERT_TRUE(answer.has_value());
    if (!first) first = *answer;
    EXPECT_EQ(answer->best, first->best);
    EXPECT_EQ(answer->height_bound, first->height_bound);
    EXPECT_EQ(answer->nodes, first->nodes);
  }
}

}  // namespace
}  // namespace berth::internal
