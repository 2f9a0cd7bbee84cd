// What is done after the end of a budget on large inputs. Looks at the clock that find time up are
// counted, and units of work, not seconds: a loop that goes on in spite of the end is found on any
// machine.

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <thread>

#include "base/random.h"
#include "berth/place.h"
#include "berth/plan.h"
#include "berth/spill.h"
#include "testing/seeds.h"
#include "tools/generate/graphs.h"
#include "tools/verify/verify.h"

namespace berth::internal {
namespace {

// Every stage asks once or a few times whether to begin.
constexpr std::int64_t kMostLooks = 60;
// Some tens of milliseconds.
constexpr std::int64_t kMostWork = 50'000'000;

enum class Kind { kPlain, kHints, kOneHint, kOnePin, kPins, kGaps, kWindows, kAlignments, kLong };
constexpr Kind kKinds[] = {Kind::kPlain,   Kind::kHints,      Kind::kOneHint,
                           Kind::kOnePin,  Kind::kPins,       Kind::kGaps,
                           Kind::kWindows, Kind::kAlignments, Kind::kLong};

// About forty buffers are live at each step.
Problem Table(std::int64_t buffers, Kind kind) {
  Random random(1);
  Problem problem;
  problem.buffers.reserve(static_cast<std::size_t>(buffers));
  for (std::int64_t i = 0; i < buffers; ++i) {
    const Step start = random.Uniform(0, buffers);
    Buffer buffer{"b" + std::to_string(i), start, start + random.Uniform(1, 80),
                  random.Uniform(1, std::int64_t{1} << random.Uniform(1, 18))};
    const bool some = random.Chance(0.3);
    const bool gap = some && (kind == Kind::kGaps || kind == Kind::kWindows);
    if (kind == Kind::kHints && some) buffer.hint = random.Uniform(0, 1 << 22);
    if (kind == Kind::kOneHint && i == buffers / 2) buffer.hint = 4096;
    if (kind == Kind::kOnePin && i == buffers / 2) buffer.offset = 4096;
    if (kind == Kind::kPins && some) buffer.offset = i << 20;
    if (kind == Kind::kAlignments) buffer.alignment = std::int64_t{1} << random.Uniform(0, 11);
    if (kind == Kind::kLong && i < 50) buffer.end = 2 * buffers;
    if (gap && buffer.end - buffer.start > 3) {
      Gap inside{buffer.start + 1, buffer.end - 1, {}};
      if (kind == Kind::kWindows && buffer.size > 1) inside.window = {0, buffer.size / 2};
      buffer.gaps.push_back(inside);
    }
    problem.buffers.push_back(std::move(buffer));
  }
  return problem;
}

Graph Generated(GraphFamily family, std::int64_t operators) {
  GraphParameters parameters;
  parameters.operators = operators;
  parameters.seed = 5;
  auto graph = GenerateGraph(family, parameters);
  EXPECT_TRUE(graph.has_value());
  return std::move(*graph);
}

// Runs `search` with no time at all, then with a time limit that ends it somewhere, then cancelled
// somewhere by another thread.
template <typename Search>
void ExpectToEndSoon(std::chrono::milliseconds somewhere, Search search) {
  const auto expect_little = [](const Budget& budget) {
    EXPECT_LE(budget.looks_after_end(), kMostLooks);
  };
  {
    SCOPED_TRACE("no time");
    Budget budget(0.0);
    search(budget);
    EXPECT_LE(budget.work_spent(), kMostWork);
    expect_little(budget);
  }
  {
    SCOPED_TRACE("limited");
    Budget budget(std::chrono::duration<double>(somewhere).count());
    search(budget);
    expect_little(budget);
  }
  {
    SCOPED_TRACE("cancelled");
    Budget budget;
    std::thread other([&] {
      std::this_thread::sleep_for(somewhere);
      budget.Cancel();
    });
    search(budget);
    other.join();
    expect_little(budget);
  }
}

void ExpectPlacingToEndSoon(const Problem& problem, std::chrono::milliseconds somewhere) {
  ExpectToEndSoon(somewhere, [&](Budget& budget) {
    const auto answer = Place(problem, {}, budget);
    ASSERT_TRUE(answer.has_value()) << answer.error().message;
    EXPECT_TRUE(answer->best.has_value() || budget.cancelled());
  });
}

TEST(LargeTables, EndSoon) {
  for (const Kind kind : kKinds) {
    SCOPED_TRACE(static_cast<int>(kind));
    Problem problem = Table(100'000, kind);
    ExpectPlacingToEndSoon(problem, std::chrono::milliseconds(300));
    if (kind != Kind::kGaps) continue;
    const auto load = MaxLiveLoad(problem).lower_bound;
    problem.capacity = load + load / 1000;
    ExpectPlacingToEndSoon(problem, std::chrono::milliseconds(200));
  }
}

TEST(LargeTables, AMillionBuffersEndSoon) {
  ExpectPlacingToEndSoon(Table(1'000'000, Kind::kWindows), std::chrono::milliseconds(1500));
}

TEST(LargeGraphs, EndSoon) {
  for (const GraphFamily family : {GraphFamily::kIrregular, GraphFamily::kCell}) {
    const Graph graph = Generated(family, 100'000);
    const Bytes needs = FindLeastMemory(graph, {}).bytes;
    for (const bool spill : {false, true}) {
      SCOPED_TRACE(spill);
      PlanOptions options;
      options.spill = spill;
      if (spill) options.capacity = 2 * needs;
      ExpectToEndSoon(std::chrono::milliseconds(700), [&](Budget& budget) {
        const auto answer = Plan(graph, options, budget);
        ASSERT_TRUE(answer.has_value()) << answer.error().message;
        // However little time there is, tensors get addresses: spilled after every use at worst.
        ASSERT_TRUE(answer->best.has_value());
        EXPECT_TRUE(answer->best->addressed);
        EXPECT_TRUE(!spill || answer->best->height() <= 2 * needs);
      });
    }
  }
}

TEST(LargeGraphs, AMillionOperatorsEndSoon) {
  // Sanitized, a part of them.
  const auto operators = static_cast<std::int64_t>(internal::Seeds(1'000'000));
  const Graph graph = Generated(GraphFamily::kIrregular, operators);
  ExpectToEndSoon(std::chrono::milliseconds(2000), [&](Budget& budget) {
    const auto answer = Schedule(graph, {}, budget);
    ASSERT_TRUE(answer.has_value()) << answer.error().message;
    EXPECT_EQ(answer->best->order.size(), graph.operators.size());
  });
  const Bytes needs = FindLeastMemory(graph, {}).bytes;
  for (const bool spill : {false, true}) {
    SCOPED_TRACE(spill);
    PlanOptions options;
    options.spill = spill;
    if (spill) options.capacity = 2 * needs;
    ExpectToEndSoon(std::chrono::milliseconds(2000), [&](Budget& budget) {
      const auto answer = Plan(graph, options, budget);
      ASSERT_TRUE(answer.has_value()) << answer.error().message;
      ASSERT_TRUE(answer->best.has_value());
      EXPECT_EQ(answer->best->order.size(), graph.operators.size());
      // Once cancelled, so large a graph gets no addresses any more, but always an order.
      if (budget.cancelled() && !answer->best->addressed) {
        EXPECT_EQ(answer->outcome, Outcome::kUnknown);
        EXPECT_EQ(answer->stopped, StopReason::kBudget);
      } else {
        EXPECT_TRUE(answer->best->addressed);
        EXPECT_TRUE(!spill || answer->best->height() <= 2 * needs);
      }
    });
  }
}

// Before the search, too: what is compiled after the end is a fraction of what a search compiles.
TEST(LargeGraphs, CancelledBeforeTheirStartGetAnOrder) {
  const Graph graph = Generated(GraphFamily::kIrregular, 300'000);
  for (const bool spill : {false, true}) {
    SCOPED_TRACE(spill);
    PlanOptions options;
    options.spill = spill;
    if (spill) options.capacity = 2 * FindLeastMemory(graph, {}).bytes;
    Budget budget;
    budget.Cancel();
    const auto answer = Plan(graph, options, budget);
    ASSERT_TRUE(answer.has_value()) << answer.error().message;
    EXPECT_EQ(answer->outcome, Outcome::kUnknown);
    EXPECT_EQ(answer->stopped, StopReason::kBudget);
    ASSERT_TRUE(answer->best.has_value());
    EXPECT_EQ(answer->best->order, ProgramOrder(graph));
    EXPECT_FALSE(answer->best->addressed);
    EXPECT_LE(answer->peak_bound, answer->best->peak());
    EXPECT_EQ(answer->program_order_peak, answer->best->peak());
    EXPECT_EQ(budget.work_spent(), 0);
    EXPECT_LE(budget.looks_after_end(), 10);
  }
}

// Sets of operators for each operator do not fit: only what takes near-linear memory runs.
TEST(LargeGraphs, BudgetsByNameHeedTheMemory) {
  const Graph graph = Generated(GraphFamily::kIrregular, 4000);
  Budget budget;
  const auto named = FindBudgets(graph, {}, budget, std::size_t{1} << 20);
  ASSERT_TRUE(named.has_value()) << named.error().message;
  EXPECT_EQ(named->search.stopped, StopReason::kSize);
  EXPECT_EQ(named->order.size(), graph.operators.size());
}

// A schedule for less memory than there is has gaps between its tensors, so that it can be placed.
TEST(LargeGraphs, GetAddressesWithFewSpills) {
  const Graph graph = Generated(GraphFamily::kIrregular, 100'000);
  PlanOptions options;
  options.spill = true;
  options.schedule.algorithm = ScheduleAlgorithm::kProgram;
  options.capacity = Live(graph, ProgramOrder(graph), {}).peak * 3 / 4;
  Budget budget;
  const auto answer = Plan(graph, options, budget);
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  ASSERT_TRUE(answer->best.has_value());
  EXPECT_TRUE(answer->fits());
  EXPECT_TRUE(verify::VerifyPlan(graph, {}, answer->capacity, *answer->best).ok());
  Bytes all = 0;  // Every tensor spilled once and retrieved once.
  for (const Tensor& tensor : graph.tensors) all += 2 * tensor.bytes;
  EXPECT_LT(answer->best->traffic.avoidable(), all / 10);
}

}  // namespace
}  // namespace berth::internal
