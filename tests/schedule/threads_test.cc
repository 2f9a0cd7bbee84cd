// Several threads: the same answers, within the same limits.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"
#include "base/side_by_side.h"
#include "berth/budget.h"
#include "berth/schedule.h"
#include "tests/schedule/irregular.h"

namespace berth::internal {
namespace {

constexpr int kThreads[] = {1, 2, 3, 8};

// Which tasks count, and the nodes that they have spent: 10 each, and `limit` in all.
std::string Counted(int threads, std::size_t group, const std::vector<AfterTask>& after,
                    std::int64_t limit) {
  Budget budget;
  budget.SetNodeLimit(limit);
  SideBySide tasks(after.size(), group, budget);
  tasks.Run(threads, [&](std::size_t i, Budget& own) {
    while (own.nodes_spent() < 10 && own.SpendNode()) {
    }
    return after[i];
  });
  std::string text = std::to_string(budget.nodes_spent()) + " nodes:";
  for (std::size_t i = 0; i < after.size(); ++i) {
    if (tasks.counts(i)) text += " " + std::to_string(i);
  }
  return text;
}

TEST(SideBySide, CountsWhatOneThreadWouldRun) {
  constexpr auto kGo = AfterTask::kGoOn;
  constexpr auto kGroup = AfterTask::kEndGroup;
  constexpr auto kEnd = AfterTask::kEnd;
  for (int round = 0; round < 200; ++round) {
    for (const int threads : kThreads) {
      SCOPED_TRACE(threads);
      ASSERT_EQ(Counted(threads, 3, {kGo, kGo, kGo, kGo, kGo, kGo}, 100'000),
                "60 nodes: 0 1 2 3 4 5");
      ASSERT_EQ(Counted(threads, 3, {kGroup, kGo, kGo, kGo, kGroup, kGo}, 100'000),
                "30 nodes: 0 3 4");
      ASSERT_EQ(Counted(threads, 3, {kGo, kEnd, kGo, kGo, kGo, kGroup}, 100'000), "20 nodes: 0 1");
      ASSERT_EQ(Counted(threads, 2, {kGo, kGo, kEnd, kEnd, kGo}, 100'000), "30 nodes: 0 1 2");
      ASSERT_EQ(Counted(threads, 5, {kGo, kGo, kGo, kGo, kGo}, 23), "23 nodes: 0 1 2 3 4");
    }
  }
}

TEST(SideBySide, ThrowsWhatATaskThrows) {
  for (const int threads : kThreads) {
    Budget budget;
    SideBySide tasks(8, 8, budget);
    std::atomic<int> ended{0};
    EXPECT_THROW(tasks.Run(threads,
                           [&](std::size_t i, Budget& own) -> AfterTask {
                             if (i == 3) throw std::bad_alloc();
                             // Without an end of its own, on another thread.
                             while (threads > 1 && i > 3 && own.SpendNode()) {
                             }
                             ++ended;
                             return AfterTask::kGoOn;
                           }),
                 std::bad_alloc);
    if (threads == 1) {
      EXPECT_EQ(ended, 3);
    }
  }
}

// Also of a listener, which is called while its thread waits for the others.
TEST(SideBySide, ThrowsWhatAListenerThrows) {
  for (const int threads : kThreads) {
    if (threads == 1) continue;
    Budget budget;
    const std::thread::id caller = std::this_thread::get_id();
    std::atomic<bool> other_runs{false};
    std::atomic<bool> waits{false};
    const internal::PollListener listener(budget, [&] {
      if (waits) throw std::bad_alloc();
    });
    SideBySide tasks(2, 2, budget);
    EXPECT_THROW(tasks.Run(threads,
                           [&](std::size_t, Budget& own) {
                             if (std::this_thread::get_id() == caller) {
                               while (!other_runs) std::this_thread::yield();
                               waits = true;
                               return AfterTask::kGoOn;
                             }
                             other_runs = true;
                             while (own.SpendNode()) {
                             }
                             return AfterTask::kGoOn;
                           }),
                 std::bad_alloc);
  }
}

// Listeners belong to the calling thread, and are heard while it waits: here they cancel the others.
TEST(SideBySide, IsCancelledByAListener) {
  const auto caller = std::this_thread::get_id();
  Budget budget;
  std::atomic<bool> others_run{false};
  const PollListener listener(budget, [&] {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    if (others_run) budget.Cancel();
  });
  SideBySide tasks(4, 4, budget);
  tasks.Run(4, [&](std::size_t, Budget& own) {
    if (std::this_thread::get_id() == caller) return AfterTask::kGoOn;
    others_run = true;
    while (own.SpendNode()) {
    }
    return AfterTask::kGoOn;
  });
  // Where the system grants no thread, the caller has run all.
  EXPECT_EQ(budget.cancelled(), others_run.load());
}

void ExpectSame(const PlanAnswer& one, const PlanAnswer& many) {
  ASSERT_EQ(one.best->order, many.best->order);
  ASSERT_EQ(one.peak_bound, many.peak_bound);
  ASSERT_EQ(one.outcome, many.outcome);
  ASSERT_EQ(one.stopped, many.stopped);
  ASSERT_EQ(one.nodes, many.nodes);
  ASSERT_EQ(one.scheduling.stats, many.scheduling.stats);
}

PlanAnswer ScheduleOn(int threads, const Graph& graph, ScheduleOptions options,
                      std::int64_t nodes) {
  options.threads = threads;
  Budget budget;
  budget.SetNodeLimit(nodes);
  auto answer = Schedule(graph, options, budget);
  EXPECT_TRUE(answer.has_value());
  EXPECT_LE(answer->nodes, nodes);
  return *std::move(answer);
}

// Limits that end searches at all stages, and some graphs that are proved.
TEST(Threads, GiveTheSameOrder) {
  std::size_t proved = 0;
  std::size_t open = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const Graph graph = Irregular(random.Uniform(20, 120), random.Uniform(4, 28), seed);
    ScheduleOptions options;
    if (seed % 3 == 0) options.most_bytes = std::size_t{1} << 20;
    options.exact.backwards = seed % 5 != 0;
    const std::int64_t nodes = std::int64_t{1} << random.Uniform(7, 15);
    const PlanAnswer one = ScheduleOn(1, graph, options, nodes);
    (one.outcome == Outcome::kOptimal ? proved : open) += 1;
    for (const int threads : {2, 3, 8}) {
      SCOPED_TRACE(threads);
      ExpectSame(one, ScheduleOn(threads, graph, options, nodes));
    }
  }
  EXPECT_GT(proved, 12u);
  EXPECT_GT(open, 12u);
}

// Windows, and what comes after them.
TEST(Threads, GiveTheSameOrderOfLargeGraphs) {
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Graph graph = Irregular(7'000, 24, seed);
    const PlanAnswer one = ScheduleOn(1, graph, {}, 60'000);
    for (const int threads : {2, 8}) ExpectSame(one, ScheduleOn(threads, graph, {}, 60'000));
  }
}

TEST(Threads, EndSoonAfterCancel) {
  const Graph graph = Irregular(300, 40, 1);
  ScheduleOptions options;
  options.threads = 4;
  Budget budget;
  std::thread canceller;
  canceller = std::thread([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    budget.Cancel();
  });
  const auto answer = Schedule(graph, options, budget);
  canceller.join();
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->stopped, StopReason::kBudget);
  EXPECT_EQ(answer->best->order.size(), graph.operators.size());
  // Each of four threads, and the searches that they came from, look a few times.
  EXPECT_LT(budget.looks_after_end(), 200);
}

}  // namespace
}  // namespace berth::internal
