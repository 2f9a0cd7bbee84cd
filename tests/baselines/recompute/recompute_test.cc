// Other people's ways to run operators again: the integer programs against exhaustive search, on graphs
// that the solver finishes at once, and the heuristics on graphs whose best plans are known.
#include "berth/recompute.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "baselines/milp/solve.h"
#include "berth/olla.h"
#include "berth/recompute_baselines.h"
#include "testing/order_oracle.h"
#include "testing/random_graph.h"
#include "testing/recompute_oracle.h"
#include "testing/seeds.h"
#include "tools/verify/verify.h"

namespace berth {
namespace {

using internal::GraphKnobs;
using internal::OracleRecomputation;
using internal::Random;
using internal::RandomGraph;
using internal::RandomOrder;
using internal::Seeds;

// Graphs with costs, operators that may not run again, and writes that are skipped.
Graph GraphOf(std::uint64_t seed, int most_operators) {
  GraphKnobs knobs = internal::SpillKnobs(3, most_operators);
  knobs.write_chance = 0.15;
  Graph graph = RandomGraph(seed, knobs);
  Random random(seed ^ 0x5eedu);
  for (Operator& op : graph.operators) {
    op.type.clear();
    op.cost = random.Uniform(0, 9);
    if (random.Chance(0.05)) op.repeat = Repeat::kNever;
    if (random.Chance(0.05)) op.random = true;
    if (!op.mutates.empty() && random.Chance(0.3)) op.skips = {op.mutates.front()};
  }
  graph.cost_unit = "ns";
  return graph;
}

// From what one operator needs to the peak of the order.
Bytes CapacityOf(const Graph& graph, const Order& order, std::uint64_t seed) {
  Random random(seed ^ 0xcab5u);
  const Bytes least = FindLeastMemory(graph, {}).bytes;
  return random.Uniform(least, std::max(least, Live(graph, order).peak));
}

void ExpectValid(const Graph& graph, Bytes capacity, const MemoryPlan& plan,
                 const Link* link = nullptr) {
  EXPECT_LE(plan.peak(), capacity);
  const auto valid = ValidatePlan(graph, {}, capacity, plan, link);
  EXPECT_TRUE(valid.has_value()) << valid.error().message;
  const auto report = verify::VerifyPlan(graph, {}, capacity, plan);
  EXPECT_TRUE(report.faults.empty()) << verify::Describe(report.faults.front(), graph, plan);
}

// With costs against which copies are cheap, for a third of all seeds.
Graph GraphForCopies(std::uint64_t seed, std::uint64_t seed_of_graph) {
  Graph graph = GraphOf(seed_of_graph, 6);
  if (seed % 3 == 1) {
    for (Operator& op : graph.operators) op.cost = *op.cost * 20;
  }
  return graph;
}

// None for a third of all seeds.
std::optional<Link> SomeLink(std::uint64_t seed, Random& random) {
  if (seed % 3 == 0) return std::nullopt;
  return Link{random.Uniform(1, 4) * 500'000'000, random.Uniform(1, 4) * 500'000'000,
              random.Uniform(0, 3)};
}

bool HasSolver() { return internal::milp::DefaultBackend().has_value(); }

// A chain of layers and its backward pass: the gradient of layer i reads what layers i and i - 1 made.
// Layer i has `bytes[i]` and `costs[i]`; a gradient has 1 byte and costs 1.
Graph Chain(const std::vector<Bytes>& bytes, const std::vector<std::int64_t>& costs) {
  Graph graph;
  const std::size_t n = bytes.size();
  for (std::size_t i = 0; i < n; ++i) {
    graph.tensors.push_back({.name = "a" + std::to_string(i), .bytes = bytes[i]});
    Operator op;
    op.name = "layer" + std::to_string(i);
    if (i > 0) op.inputs = {i - 1};
    op.outputs = {i};
    op.cost = costs[i];
    graph.operators.push_back(op);
  }
  for (std::size_t i = n; i-- > 0;) {
    Operator op;
    op.name = "gradient" + std::to_string(i);
    op.inputs = {i};
    if (i > 0) op.inputs.push_back(i - 1);
    if (i + 1 < n) op.inputs.push_back(graph.tensors.size() - 1);
    op.outputs = {graph.tensors.size()};
    op.cost = 1;
    graph.operators.push_back(op);
    graph.tensors.push_back(
        {.name = "g" + std::to_string(i), .bytes = 1, .kind = TensorKind::kGradient});
  }
  graph.tensors.back().output = true;
  return graph;
}

Graph EqualChain(std::size_t layers) {
  return Chain(std::vector<Bytes>(layers, 4), std::vector<std::int64_t>(layers, 10));
}

RecomputeBaselineAnswer Ask(const Graph& graph, RecomputeBaseline baseline, Bytes capacity,
                            const std::optional<Order>& order = {}) {
  RecomputeBaselineOptions options;
  options.capacity = capacity;
  options.order = order;
  Budget budget;
  auto answer = RecomputeWithBaseline(graph, baseline, options, budget);
  EXPECT_TRUE(answer.has_value()) << answer.error().message;
  if (answer->plan) ExpectValid(graph, capacity, *answer->plan);
  return *answer;
}

// The program has once in each stage what sequences have as often as they like: it is never cheaper, and
// seldom dearer.
TEST(Checkmate, NeverBelowExhaustiveSearch) {
  if (!HasSolver()) GTEST_SKIP() << "this build has no solver of integer programs";
  int solved = 0;
  int equal = 0;
  int impossible = 0;
  int recomputed = 0;
  for (std::uint64_t seed = 1; seed <= Seeds(150); ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = GraphOf(seed, 8);
    const Order order = RandomOrder(graph, seed);
    const Bytes capacity = CapacityOf(graph, order, seed);
    const auto best = OracleRecomputation(graph, capacity, {}, &order);
    const auto answer = Ask(graph, RecomputeBaseline::kCheckmate, capacity, order);
    ASSERT_TRUE(answer.outcome == Outcome::kOptimal || answer.outcome == Outcome::kInfeasible);
    if (!best) {
      EXPECT_EQ(answer.outcome, Outcome::kInfeasible);
      ++impossible;
      continue;
    }
    if (answer.outcome == Outcome::kInfeasible) continue;
    ASSERT_TRUE(answer.plan.has_value());
    EXPECT_GE(answer.plan->recomputed.cost, *best);
    EXPECT_LE(answer.plan->recomputed.cost, answer.bound);
    ++solved;
    equal += answer.plan->recomputed.cost == *best ? 1 : 0;
    recomputed += *best > 0 ? 1 : 0;

    RecomputeOptions options;
    options.capacity = capacity;
    options.orders = {order};
    options.fixed_order = true;
    Budget budget;
    const auto own = PlanWithRecomputation(graph, options, budget);
    ASSERT_TRUE(own.has_value());
    EXPECT_LE(own->recompute_bound, answer.plan->recomputed.cost);
    if (own->best) {
      EXPECT_LE(own->best->recomputed.cost, answer.plan->recomputed.cost);
    }
  }
  EXPECT_GE(equal * 100, solved * 95) << equal << " of " << solved;
  EXPECT_GT(recomputed, solved / 10);
  EXPECT_GT(impossible, 0);
}

// The gradient of a layer needs the two values before it, so one pass over the layers from what is kept is
// all that a stage can want: the program has the best sequences, at every capacity.
TEST(Checkmate, IsBestOnChains) {
  if (!HasSolver()) GTEST_SKIP() << "this build has no solver of integer programs";
  int recomputed = 0;
  for (const auto& [bytes, costs] :
       std::vector<std::pair<std::vector<Bytes>, std::vector<std::int64_t>>>{
           {{2, 2, 2, 2}, {10, 10, 10, 10}},
           {{3, 1, 4, 2}, {7, 2, 5, 3}},
           {{1, 5, 2, 2}, {1, 9, 4, 6}}}) {
    const Graph graph = Chain(bytes, costs);
    const Order order = ProgramOrder(graph);
    for (Bytes capacity = FindLeastMemory(graph, {}).bytes - 1; capacity <= Live(graph, order).peak;
         ++capacity) {
      SCOPED_TRACE(capacity);
      const auto best = OracleRecomputation(graph, capacity, {}, &order);
      const auto answer = Ask(graph, RecomputeBaseline::kCheckmate, capacity);
      ASSERT_EQ(answer.plan.has_value(), best.has_value());
      if (!best) continue;
      EXPECT_EQ(answer.outcome, Outcome::kOptimal);
      EXPECT_EQ(answer.plan->recomputed.cost, *best);
      EXPECT_EQ(answer.bound, *best);
      recomputed += *best > 0 ? 1 : 0;
    }
  }
  EXPECT_GT(recomputed, 5);
}

TEST(Checkmate, SaysWhatIsTooLarge) {
  if (!HasSolver()) GTEST_SKIP() << "this build has no solver of integer programs";
  const Graph graph = EqualChain(6);
  RecomputeBaselineOptions options;
  options.capacity = 12;
  options.most_variables = 10;
  Budget budget;
  const auto answer = RecomputeWithBaseline(graph, RecomputeBaseline::kCheckmate, options, budget);
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->stopped, StopReason::kSize);
  EXPECT_FALSE(answer->plan.has_value());
  const std::int64_t counted = answer->variables;
  EXPECT_GT(counted, 10);
  options.most_variables = counted;
  const auto built = RecomputeWithBaseline(graph, RecomputeBaseline::kCheckmate, options, budget);
  ASSERT_TRUE(built.has_value());
  EXPECT_TRUE(built->plan.has_value());
  EXPECT_EQ(built->variables, counted);
}

PoetAnswer AskPoet(const Graph& graph, const PoetOptions& options) {
  Budget budget;
  auto answer = RecomputeByPoet(graph, options, budget);
  EXPECT_TRUE(answer.has_value()) << answer.error().message;
  if (answer->found.plan) {
    ExpectValid(graph, options.plan.capacity, *answer->found.plan, &options.link);
  }
  return *answer;
}

TEST(Poet, NeverBelowExhaustiveSearch) {
  if (!HasSolver()) GTEST_SKIP() << "this build has no solver of integer programs";
  int solved = 0;
  int equal = 0;
  int copied = 0;
  int recomputed = 0;
  for (std::uint64_t seed = 1; seed <= Seeds(240); ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = GraphOf(seed + 500, 6);
    const Order order = RandomOrder(graph, seed);
    Random random(seed);
    PoetOptions options;
    options.plan.capacity = CapacityOf(graph, order, seed);
    options.plan.order = order;
    options.link.out_bytes_per_second = random.Uniform(1, 4) * 500'000'000;
    options.link.in_bytes_per_second = random.Uniform(1, 4) * 500'000'000;
    options.link.latency_nanoseconds = random.Uniform(0, 3);
    const auto best = OracleRecomputation(graph, options.plan.capacity, {}, &order, &options.link);
    const PoetAnswer answer = AskPoet(graph, options);
    if (!best) {
      EXPECT_EQ(answer.found.outcome, Outcome::kInfeasible);
    }
    if (answer.found.outcome == Outcome::kInfeasible) continue;
    ASSERT_TRUE(best.has_value());
    ASSERT_EQ(answer.found.outcome, Outcome::kOptimal);
    EXPECT_EQ(answer.value, answer.found.plan->overhead());
    EXPECT_GE(answer.value, *best);
    EXPECT_LE(answer.value, answer.found.bound);
    ++solved;
    equal += answer.value == *best ? 1 : 0;
    copied += answer.found.plan->traffic.retrieved > 0 ? 1 : 0;
    recomputed += answer.found.plan->recomputed.operators > 0 ? 1 : 0;
  }
  EXPECT_GE(equal * 100, solved * 90) << equal << " of " << solved;
  EXPECT_GT(copied, 0);
  EXPECT_GT(recomputed, 0);
}

// The cheaper of both is chosen, and time can forbid what energy would choose.
TEST(Poet, TradesEnergyForTime) {
  if (!HasSolver()) GTEST_SKIP() << "this build has no solver of integer programs";
  Graph graph = EqualChain(4);
  graph.cost_unit = "ns";
  PoetOptions options;
  options.plan.capacity = Live(graph, ProgramOrder(graph)).peak - 4;
  options.link = {1'000'000'000, 1'000'000'000, 0};
  options.energy.assign(graph.operators.size(), 1);
  options.energy_out_per_byte = 1;
  options.energy_in_per_byte = 1;
  const PoetAnswer cheap = AskPoet(graph, options);
  ASSERT_EQ(cheap.found.outcome, Outcome::kOptimal);
  EXPECT_EQ(cheap.value, 1);  // One layer again; copies of 4 bytes take 8.
  EXPECT_EQ(cheap.found.plan->recomputed.operators, 1U);
  EXPECT_EQ(cheap.found.plan->traffic.retrieved, 0);

  // No more time than every operator needs once: copies alone.
  options.most_cost = 44;
  const PoetAnswer fast = AskPoet(graph, options);
  ASSERT_EQ(fast.found.outcome, Outcome::kOptimal);
  EXPECT_EQ(fast.value, 8);
  EXPECT_EQ(fast.found.plan->recomputed.operators, 0U);
  EXPECT_EQ(fast.found.plan->traffic.retrieved, 4);
  EXPECT_EQ(fast.found.plan->traffic.spilled, 4);

  options.most_cost = 43;
  EXPECT_EQ(AskPoet(graph, options).found.outcome, Outcome::kInfeasible);
}

TEST(Poet, RefusesWhatMakesNoSense) {
  const Graph graph = EqualChain(2);
  PoetOptions options;
  options.plan.capacity = 100;
  options.link = {1, 1, 0};
  Budget budget;
  const auto message = [&] {
    const auto answer = RecomputeByPoet(graph, options, budget);
    return answer.has_value() ? std::string("accepted") : answer.error().message;
  };
  EXPECT_NE(message().find("not nanoseconds"), std::string::npos) << message();
  options.energy = {1};
  EXPECT_NE(message().find("energies of 1 operators, but the graph has 4"), std::string::npos);
  options.energy = {1, -3, 1, 1};
  EXPECT_NE(message().find("operator \"layer1\" is -3"), std::string::npos) << message();
  options.energy = {1, 3, 1, 1};
  options.energy_in_per_byte = -1;
  EXPECT_NE(message().find("copying a byte is -1"), std::string::npos) << message();
  options.link.in_bytes_per_second = 0;
  EXPECT_FALSE(RecomputeByPoet(graph, options, budget).has_value());
}

RecomputeBaselineAnswer AskOlla(const Graph& graph, const OllaRecomputeOptions& options) {
  Budget budget;
  auto answer = RecomputeByOlla(graph, options, budget);
  EXPECT_TRUE(answer.has_value()) << answer.error().message;
  const Link* const link = options.link ? &*options.link : nullptr;
  if (answer->plan) ExpectValid(graph, options.plan.capacity, *answer->plan, link);
  return *answer;
}

// Any order: with as many steps as the best plans have executions, the program finds the least cost.
TEST(OllaRecompute, IsExhaustiveSearch) {
  if (!HasSolver()) GTEST_SKIP() << "this build has no solver of integer programs";
  int copied = 0;
  int recomputed = 0;
  int written = 0;
  int impossible = 0;
  for (std::uint64_t seed = 1; seed <= Seeds(400); ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = GraphForCopies(seed, seed + 700);
    // Only where the least peak of any order does not fit.
    const Bytes least = FindLeastMemory(graph, {}).bytes;
    const Bytes peak = internal::OracleSchedule(graph).peak;
    if (least == peak) continue;
    Random random(seed);
    OllaRecomputeOptions options;
    options.plan.capacity = random.Uniform(least, peak - 1);
    options.more_steps = 5;
    options.link = SomeLink(seed, random);
    const auto best = OracleRecomputation(graph, options.plan.capacity, {}, nullptr,
                                          options.link ? &*options.link : nullptr);
    const RecomputeBaselineAnswer answer = AskOlla(graph, options);
    if (!best) {
      EXPECT_EQ(answer.outcome, Outcome::kInfeasible);
      ++impossible;
      continue;
    }
    ASSERT_EQ(answer.outcome, Outcome::kOptimal);
    EXPECT_EQ(answer.plan->overhead(), *best);
    EXPECT_EQ(answer.bound, *best);
    copied += answer.plan->traffic.retrieved > 0 ? 1 : 0;
    recomputed += answer.plan->recomputed.operators > 0 ? 1 : 0;
    written += std::any_of(graph.operators.begin(), graph.operators.end(),
                           [](const Operator& op) { return !op.mutates.empty(); })
                   ? 1
                   : 0;
  }
  // Sanitized builds run fewer seeds.
  EXPECT_GT(copied, 0);
  EXPECT_GT(recomputed, 0);
  EXPECT_GT(written, 0);
  EXPECT_GT(impossible, 0);
}

// One layer has to run again, late: not without a step for it, nor, by the rule of the authors' code, where
// all operators have run for the first time by then.
TEST(OllaRecompute, RunsAgainWhereThereAreSteps) {
  if (!HasSolver()) GTEST_SKIP() << "this build has no solver of integer programs";
  const Graph graph = EqualChain(4);
  OllaRecomputeOptions options;
  options.plan.capacity = Live(graph, ProgramOrder(graph)).peak - 4;
  EXPECT_EQ(AskOlla(graph, options).outcome, Outcome::kInfeasible);
  options.more_steps = 1;
  const RecomputeBaselineAnswer one = AskOlla(graph, options);
  ASSERT_EQ(one.outcome, Outcome::kOptimal);
  EXPECT_EQ(one.plan->recomputed.cost, 10);
  EXPECT_EQ(one.bound, 10);
  options.within_spans = true;
  EXPECT_EQ(AskOlla(graph, options).outcome, Outcome::kInfeasible);
  options.more_steps = graph.operators.size();
  const RecomputeBaselineAnswer within = AskOlla(graph, options);
  ASSERT_EQ(within.outcome, Outcome::kOptimal);
  EXPECT_EQ(within.plan->recomputed.cost, 10);
  options.plan.most_variables = within.variables;
  EXPECT_TRUE(AskOlla(graph, options).plan.has_value());
  --options.plan.most_variables;
  const RecomputeBaselineAnswer large = AskOlla(graph, options);
  EXPECT_EQ(large.stopped, StopReason::kSize);
  EXPECT_FALSE(large.plan.has_value());
  EXPECT_EQ(large.variables, within.variables);
}

// The least capacity within which exhaustive search has a plan of at most that cost, which is monotone in the
// capacity.
std::optional<Bytes> LeastCapacity(const Graph& graph, Bytes least, Bytes most,
                                   std::int64_t most_cost, const Link* link) {
  const auto fits = [&](Bytes capacity) {
    const auto cost = OracleRecomputation(graph, capacity, {}, nullptr, link);
    return cost && *cost <= most_cost;
  };
  if (!fits(most)) return std::nullopt;
  while (least < most) {
    const Bytes middle = (least + most) / 2;
    if (fits(middle)) {
      most = middle;
    } else {
      least = middle + 1;
    }
  }
  return most;
}

// The other question, by the same program: the least peak of all plans within a cost.
TEST(OllaRecompute, FindsTheLeastPeakWithinACost) {
  if (!HasSolver()) GTEST_SKIP() << "this build has no solver of integer programs";
  int lower = 0;         // Than at no cost;
  int whole = 0;         // the same;
  int least_of_all = 0;  // what one operator needs.
  int copied = 0;
  int recomputed = 0;
  for (std::uint64_t seed = 1; seed <= Seeds(240); ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = GraphForCopies(seed, seed + 3000);
    const Bytes least = FindLeastMemory(graph, {}).bytes;
    const Bytes peak = internal::OracleSchedule(graph).peak;
    if (least == peak) continue;
    Random random(seed);
    OllaRecomputeOptions options;
    options.plan.capacity = random.Chance(0.5) ? peak : Bytes{1} << 40;
    options.more_steps = 5;
    std::int64_t all = 0;
    for (const Operator& op : graph.operators) all += *op.cost;
    options.most_cost =
        random.Chance(0.1) ? std::numeric_limits<std::int64_t>::max() : random.Uniform(0, all);
    options.link = SomeLink(seed, random);
    const Link* const link = options.link ? &*options.link : nullptr;
    const auto best = LeastCapacity(graph, least, peak, *options.most_cost, link);
    ASSERT_TRUE(best.has_value());
    const RecomputeBaselineAnswer answer = AskOlla(graph, options);
    ASSERT_EQ(answer.outcome, Outcome::kOptimal);
    ASSERT_TRUE(answer.plan.has_value());
    EXPECT_EQ(answer.plan->peak(), *best);
    EXPECT_EQ(answer.bound, *best);
    EXPECT_LE(answer.plan->overhead(), *options.most_cost);
    if (answer.plan->addressed) {
      EXPECT_EQ(answer.plan->height(), *best);
    }
    lower += *best < peak ? 1 : 0;
    least_of_all += *best == least ? 1 : 0;
    whole += *best == peak ? 1 : 0;
    copied += answer.plan->traffic.retrieved > 0 ? 1 : 0;
    recomputed += answer.plan->recomputed.operators > 0 ? 1 : 0;
  }
  // Sanitized builds run fewer seeds.
  EXPECT_GT(lower, 0);
  EXPECT_GT(least_of_all, 0);
  EXPECT_GT(whole, 0);
  EXPECT_GT(copied, 0);
  EXPECT_GT(recomputed, 0);
}

// Of equal layers each that is dropped costs 10: the more cost is allowed, the lower the peak.
TEST(OllaRecompute, BuysMemoryWithCost) {
  if (!HasSolver()) GTEST_SKIP() << "this build has no solver of integer programs";
  const Graph graph = EqualChain(4);
  const Bytes peak = Live(graph, ProgramOrder(graph)).peak;
  OllaRecomputeOptions options;
  options.plan.capacity = 1000;
  options.more_steps = 2;
  for (const auto& [cost, bytes] :
       {std::pair<std::int64_t, Bytes>{9, peak}, {10, peak - 4}, {19, peak - 4}}) {
    options.most_cost = cost;
    const RecomputeBaselineAnswer answer = AskOlla(graph, options);
    ASSERT_EQ(answer.outcome, Outcome::kOptimal) << cost;
    EXPECT_EQ(answer.plan->peak(), bytes) << cost;
    EXPECT_EQ(answer.bound, bytes) << cost;
  }
  // The capacity holds beside it, and the program has one variable more than that for the least cost.
  options.plan.capacity = peak - 5;
  const RecomputeBaselineAnswer none = AskOlla(graph, options);
  EXPECT_EQ(none.outcome, Outcome::kInfeasible);
  EXPECT_FALSE(none.plan.has_value());
  options.most_cost.reset();
  EXPECT_EQ(none.variables, AskOlla(graph, options).variables + 1);
}

TEST(OllaRecompute, RefusesWhatMakesNoSense) {
  const Graph graph = EqualChain(2);
  OllaRecomputeOptions options;
  options.plan.capacity = 100;
  options.link = {1, 1, 0};
  Budget budget;
  const auto message = [&] {
    const auto answer = RecomputeByOlla(graph, options, budget);
    return answer.has_value() ? std::string("accepted") : answer.error().message;
  };
  EXPECT_NE(message().find("not nanoseconds"), std::string::npos) << message();
  options.link->in_bytes_per_second = 0;
  EXPECT_NE(message(), "accepted");
  options.link.reset();
  options.plan.backend = "gurobi";
  EXPECT_NE(message().find("gurobi"), std::string::npos) << message();
  options.most_cost = -1;
  EXPECT_EQ(message(), "the most that a plan may cost is -1, below 0");
  options.plan.capacity = -1;
  EXPECT_EQ(message(), "the capacity is -1 bytes, below 0");
}

// Nine equal layers, of which segments of three are best: the first values of the two that are dropped stay
// within their segments, so each is made again once.
TEST(Checkpoints, KeepWhatLeavesASegment) {
  const Graph graph = EqualChain(9);
  const Bytes peak = Live(graph, ProgramOrder(graph)).peak;
  EXPECT_EQ(peak, 9 * 4 + 1);
  const auto all = Ask(graph, RecomputeBaseline::kCheckpoints, peak);
  ASSERT_TRUE(all.plan.has_value());
  EXPECT_EQ(all.plan->recomputed.cost, 0);
  // Three segments: a2 and a5 stay, a0, a1, a3 and a4 are made again: 40. In the first backward step are a2,
  // a5, a6, a7, a8 and a gradient.
  const auto segments = Ask(graph, RecomputeBaseline::kCheckpoints, 5 * 4 + 1);
  ASSERT_TRUE(segments.plan.has_value());
  EXPECT_EQ(segments.plan->recomputed.cost, 40);
  EXPECT_EQ(segments.plan->recomputed.operators, 4U);
  EXPECT_FALSE(Ask(graph, RecomputeBaseline::kCheckpoints, 3 * 4 - 1).plan.has_value());
}

// Of values of equal bytes the knapsack saves the dear ones; the other is made again from one of them.
TEST(Partition, SavesWhatIsDear) {
  const Graph graph = Chain({1, 8, 8, 8, 8}, {1, 50, 2, 50, 60});
  const Bytes peak = Live(graph, ProgramOrder(graph)).peak;
  const auto answer = Ask(graph, RecomputeBaseline::kPartition, peak - 7);
  ASSERT_TRUE(answer.plan.has_value());
  EXPECT_EQ(answer.plan->recomputed.cost, 2);
  EXPECT_EQ(answer.plan->order.size(), graph.operators.size() + 1);
  EXPECT_EQ(std::count(answer.plan->order.begin(), answer.plan->order.end(), OperatorIndex{2}), 2);
}

TEST(Peak, MakesTheCheapestByteAgain) {
  const Graph graph = Chain({1, 8, 8, 8, 8}, {1, 50, 2, 50, 9});
  const Bytes peak = Live(graph, ProgramOrder(graph)).peak;
  const auto answer = Ask(graph, RecomputeBaseline::kPeak, peak - 7);
  ASSERT_TRUE(answer.plan.has_value());
  EXPECT_EQ(answer.plan->recomputed.cost, 2);
  EXPECT_EQ(answer.plan->recomputed.operators, 1U);
  // Nothing can be done about what one operator needs.
  const auto none = Ask(graph, RecomputeBaseline::kPeak, FindLeastMemory(graph, {}).bytes - 1);
  EXPECT_FALSE(none.plan.has_value());
  EXPECT_EQ(none.outcome, Outcome::kUnknown);
}

// On graphs with every feature: valid plans, none below the least cost.
TEST(RecomputeHeuristics, PlansHoldOnRandomGraphs) {
  std::vector<std::uint64_t> found(RecomputeBaselines().size(), 0);
  for (std::uint64_t seed = 1; seed <= Seeds(400); ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = GraphOf(seed + 9000, 8);
    const Order order = RandomOrder(graph, seed);
    const Bytes capacity = CapacityOf(graph, order, seed);
    const auto best = OracleRecomputation(graph, capacity, {}, &order);
    for (const RecomputeBaselineInfo& info : RecomputeBaselines()) {
      if (info.solver) continue;
      SCOPED_TRACE(info.name);
      RecomputeBaselineOptions options;
      options.capacity = capacity;
      options.order = order;
      options.backward = order[order.size() / 2];
      Budget budget;
      const auto answer = RecomputeWithBaseline(graph, info.baseline, options, budget);
      ASSERT_TRUE(answer.has_value()) << answer.error().message;
      if (!answer->plan) continue;
      ASSERT_TRUE(best.has_value());
      ExpectValid(graph, capacity, *answer->plan);
      EXPECT_EQ(FirstExecutions(graph, answer->plan->order), order);
      EXPECT_GE(answer->plan->recomputed.cost, *best);
      found[static_cast<std::size_t>(info.baseline)] +=
          answer->plan->recomputed.operators > 0 ? 1 : 0;
    }
  }
  for (const RecomputeBaselineInfo& info : RecomputeBaselines()) {
    if (info.solver) continue;
    EXPECT_GT(found[static_cast<std::size_t>(info.baseline)] * 80, Seeds(400)) << info.name;
  }
}

TEST(RecomputeHeuristics, RefuseWhatTheyCannotKnow) {
  Graph graph = EqualChain(3);
  RecomputeBaselineOptions options;
  options.capacity = 100;
  Budget budget;
  const auto message = [&](RecomputeBaseline baseline) {
    const auto answer = RecomputeWithBaseline(graph, baseline, options, budget);
    return answer.has_value() ? std::string("accepted") : answer.error().message;
  };
  options.backward = 6;
  EXPECT_EQ(message(RecomputeBaseline::kPartition),
            "the backward pass begins with operator number 6 but the graph has 6");
  options.backward.reset();
  for (Tensor& tensor : graph.tensors) tensor.kind = TensorKind::kActivation;
  EXPECT_NE(message(RecomputeBaseline::kCheckpoints).find("no tensor of the graph is a gradient"),
            std::string::npos);
  EXPECT_EQ(message(RecomputeBaseline::kPeak), "accepted");
  options.capacity = -1;
  EXPECT_EQ(message(RecomputeBaseline::kPeak), "the capacity is -1 bytes, below 0");
  options.capacity = 100;
  options.order = Order{0, 1};
  EXPECT_FALSE(RecomputeWithBaseline(graph, RecomputeBaseline::kPeak, options, budget).has_value());
  options.order.reset();
  options.backend = "gurobi";
  EXPECT_NE(message(RecomputeBaseline::kCheckmate).find("gurobi"), std::string::npos);
}

}  // namespace
}  // namespace berth
