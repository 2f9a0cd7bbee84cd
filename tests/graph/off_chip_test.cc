// When one channel makes the copies of a plan: by hand, and against the rules asked of every pair.
#include "berth/off_chip.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "berth/plan.h"
#include "berth/spill.h"
#include "testing/random_graph.h"
#include "tests/graph/build.h"

namespace berth::internal {
namespace {

// A gigabyte per second is a byte per nanosecond.
constexpr Link kLink = {1'000'000'000, 500'000'000, 6, {}};

// x is spilled for z, which takes its bytes, and comes back to those of y.
class OneSpillRun : public testing::Test {
 protected:
  void SetUp() override {
    graph = OneSpill().graph;
    graph.cost_unit = "ns";
    for (const std::int64_t cost : {10, 20, 30, 5}) graph.operators[op++].cost = cost;
    plan.order = {0, 1, 2, 3};
    plan.residencies = {
        {0, 0, 2, 0, false, true}, {0, 3, 4, 8, true}, {1, 1, 3, 8}, {2, 2, 4, 0}, {3, 3, 4, 6}};
    plan.residencies[4].written_out = true;
    plan.memories = {{12, 12}};
    plan.traffic = {4, 4, 0, 2, 0};
    ASSERT_TRUE(ValidatePlan(graph, {}, 12, plan).has_value());
  }
  [[nodiscard]] OffChipRun Run(const Link& link) const {
    const auto run = RunOffChip(graph, link, plan);
    EXPECT_TRUE(run.has_value()) << run.error().message;
    return run.value_or(OffChipRun());
  }
  std::size_t op = 0;
  Graph graph;
  MemoryPlan plan;
};

TEST_F(OneSpillRun, ByHand) {
  const OffChipRun run = Run(kLink);
  // Out: 6 + 4 ns beside `make y`; in: 6 + 8 ns, for which the join waits; the result: 6 + 2 ns.
  const std::vector<TimedRun::Interval> operators = {{0, 10}, {10, 30}, {30, 60}, {74, 79}};
  EXPECT_EQ(run.operators, operators);
  const std::vector<OffChipCopy> copies = {{0, true, true, 1, 2, {10, 20}},
                                           {1, false, true, 3, 3, {60, 74}},
                                           {4, true, false, 4, 4, {79, 87}}};
  EXPECT_EQ(run.copies, copies);
  EXPECT_EQ(run.computing, 65);
  EXPECT_EQ(run.copying, 32);
  EXPECT_EQ(run.stalled, 14);
  EXPECT_EQ(run.time, 87);
  EXPECT_EQ(run.one_by_one(), 97);
}

TEST_F(OneSpillRun, AnOperatorWaitsForTheBytesOfItsOutput) {
  Link link = kLink;
  link.latency_nanoseconds = 46;
  const OffChipRun run = Run(link);
  // z is made where x was, which is copied out until 60.
  EXPECT_EQ(run.operators[2], (TimedRun::Interval{60, 90}));
  EXPECT_EQ(run.copies[1].transfer, (TimedRun::Interval{90, 144}));
  EXPECT_EQ(run.stalled, 30 + 54);
}

TEST_F(OneSpillRun, OtherBytesAreWaitedForByNone) {
  plan.residencies[1].offset = 12;  // x comes back to bytes that nothing else uses,
  plan.residencies[3].offset = 16;  // and z is made where nothing was.
  plan.memories = {{22, 12}};
  ASSERT_TRUE(ValidatePlan(graph, {}, 22, plan).has_value());
  const OffChipRun run = Run(kLink);
  EXPECT_EQ(run.copies[0].transfer, (TimedRun::Interval{10, 20}));
  EXPECT_EQ(run.copies[1].transfer, (TimedRun::Interval{20, 34}));
  EXPECT_EQ(run.stalled, 0);
  EXPECT_EQ(run.time, 65 + 8);
}

// x is dropped instead, and made again where y was: nothing is copied but the result.
TEST_F(OneSpillRun, OperatorsThatRunAgainTakeTheirTimeAgain) {
  plan.order = {0, 1, 2, 0, 3};
  plan.residencies = {{0, 0, 2, 0}, {0, 3, 5, 8}, {1, 1, 3, 8}, {2, 2, 5, 0}, {3, 4, 5, 6}};
  plan.residencies[4].written_out = true;
  plan.traffic = {0, 0, 0, 2, 0};
  plan.recomputed = {1, 10};
  const auto valid = ValidatePlan(graph, {}, 12, plan);
  ASSERT_TRUE(valid.has_value()) << valid.error().message;
  const OffChipRun run = Run(kLink);
  const std::vector<TimedRun::Interval> operators = {
      {0, 10}, {10, 30}, {30, 60}, {60, 70}, {70, 75}};
  EXPECT_EQ(run.operators, operators);
  EXPECT_EQ(run.copies, (std::vector<OffChipCopy>{{4, true, false, 5, 5, {75, 83}}}));
  EXPECT_EQ(run.computing, 75);
  EXPECT_EQ(run.stalled, 0);
  EXPECT_EQ(run.time, 83);
}

TEST_F(OneSpillRun, Refuses) {
  const auto refused = [&] { return RunOffChip(graph, kLink, plan).error().message; };
  graph.operators[1].cost.reset();
  EXPECT_EQ(refused(),
            "a run with copies off chip needs the time of every operator, but that of operator "
            "\"make y\" is not known; a device or a profile gives it");
  graph.operators[1].cost = 1;
  graph.cost_unit = "flop";
  EXPECT_EQ(
      refused(),
      "a run with copies off chip needs the time of every operator in ns, but the graph gives "
      "costs in \"flop\"");
  graph.cost_unit = "ns";
  plan.addressed = false;
  EXPECT_EQ(refused(), "the plan has no addresses, so it does not say which copies wait for which");
  plan.addressed = true;
  plan.memories.emplace_back();
  EXPECT_EQ(refused(), "the plan has 2 memories; copies off chip are timed for one");
  Link link = kLink;
  for (const double wrong : {-1.0, 2e12, std::numeric_limits<double>::quiet_NaN()}) {
    link.picojoules_per_byte = wrong;
    EXPECT_FALSE(RunOffChip(graph, link, plan).has_value());
  }
}

// Asks the rules of berth/off_chip.h of every pair of residencies.
class Rules {
 public:
  Rules(const Graph& graph, const Link& link, const MemoryPlan& plan, const OffChipRun& run)
      : graph_(graph), link_(link), plan_(plan), run_(run) {}

  void Check() const {
    std::int64_t channel = 0;
    for (std::size_t c = 0; c < run_.copies.size(); ++c) {
      const OffChipCopy& copy = run_.copies[c];
      const Bytes bytes = Size(copy.residency);
      EXPECT_EQ(copy.transfer.end - copy.transfer.begin,
                copy.out ? link_.Out(bytes) : link_.In(bytes));
      // It begins at once when the channel is free and nothing is waited for any more,
      const std::int64_t ready = ReadyAt(copy);
      EXPECT_GE(copy.transfer.begin, std::max(channel, ready)) << c;
      if (copy.transfer.begin > channel) {
        std::int64_t first = ready;
        for (std::size_t d = c; d < run_.copies.size(); ++d) {
          first = std::min(first, ReadyAt(run_.copies[d]));
        }
        EXPECT_EQ(copy.transfer.begin, first) << c;
      }
      // unless an operator waits sooner for another copy.
      for (std::size_t d = c + 1; d < run_.copies.size(); ++d) {
        const OffChipCopy& later = run_.copies[d];
        EXPECT_TRUE(later.before >= copy.before || ReadyAt(later) > copy.transfer.begin);
      }
      channel = copy.transfer.end;
    }
    std::int64_t free = 0;
    for (std::size_t s = 0; s < plan_.order.size(); ++s) {
      EXPECT_EQ(run_.operators[s].begin, std::max(free, OperatorReadyAt(static_cast<Step>(s))));
      free = run_.operators[s].begin + *graph_.operators[plan_.order[s]].cost;
      EXPECT_EQ(run_.operators[s].end, free);
    }
    EXPECT_EQ(run_.time, std::max(free, channel));
  }

 private:
  [[nodiscard]] Bytes Size(std::size_t i) const {
    return graph_.tensors[plan_.residencies[i].tensor].bytes;
  }
  [[nodiscard]] bool Meet(std::size_t a, std::size_t b) const {
    const Bytes lower = plan_.residencies[a].offset;
    const Bytes other = plan_.residencies[b].offset;
    return lower < other + Size(b) && other < lower + Size(a);
  }
  [[nodiscard]] const OffChipCopy* CopyOf(std::size_t residency, bool out) const {
    for (const OffChipCopy& copy : run_.copies) {
      if (copy.residency == residency && copy.out == out) return &copy;
    }
    return nullptr;
  }
  // Whether the operator of the step runs again there, and leaves out the tensor then.
  [[nodiscard]] bool Skips(Step s, TensorIndex base) const {
    const auto at = plan_.order.begin() + static_cast<std::ptrdiff_t>(s);
    const std::vector<TensorIndex>& skips = graph_.operators[*at].skips;
    return std::find(skips.begin(), skips.end(), base) != skips.end() &&
           std::find(plan_.order.begin(), at, *at) != at;
  }
  [[nodiscard]] bool Touches(Step s, TensorIndex base) const {
    if (Skips(s, base)) return false;
    const Operator& op = graph_.operators[plan_.order[static_cast<std::size_t>(s)]];
    const auto of = [&](const std::vector<TensorIndex>& list) {
      return std::any_of(list.begin(), list.end(),
                         [&](TensorIndex t) { return BaseOf(graph_, t) == base; });
    };
    return of(op.inputs) || of(op.outputs) || of(op.mutates);
  }
  [[nodiscard]] bool Writes(Step s, TensorIndex base) const {
    if (Skips(s, base)) return false;
    const Operator& op = graph_.operators[plan_.order[static_cast<std::size_t>(s)]];
    const auto is = [&](const std::vector<TensorIndex>& list) {
      return std::find(list.begin(), list.end(), base) != list.end();
    };
    return is(op.outputs) || is(op.mutates);
  }

  [[nodiscard]] std::int64_t EndOf(Step s) const {
    return run_.operators[static_cast<std::size_t>(s)].end;
  }
  // When everything that the copy waits for is over.
  [[nodiscard]] std::int64_t ReadyAt(const OffChipCopy& copy) const {
    const Residency& residency = plan_.residencies[copy.residency];
    std::int64_t ready = 0;
    if (copy.out) {
      const OffChipCopy* const in = CopyOf(copy.residency, false);
      if (in != nullptr) ready = in->transfer.end;
      if (residency.start > 0) ready = std::max(ready, EndOf(residency.start - 1));
      for (Step s = residency.start; s < residency.end; ++s) {
        if (Writes(s, residency.tensor)) ready = std::max(ready, EndOf(s));
      }
      return ready;
    }
    for (std::size_t i = 0; i < plan_.residencies.size(); ++i) {
      const Residency& other = plan_.residencies[i];
      if (other.end > residency.start) continue;
      const bool same = other.tensor == residency.tensor;
      if (!same && !Meet(i, copy.residency)) continue;
      if (Meet(i, copy.residency)) {
        ready = std::max(ready, EndOf(other.end - 1));
      }
      if (const OffChipCopy* const out = CopyOf(i, true)) {
        ready = std::max(ready, out->transfer.end);
      }
    }
    return ready;
  }
  [[nodiscard]] std::int64_t OperatorReadyAt(Step s) const {
    std::int64_t ready = 0;
    for (std::size_t i = 0; i < plan_.residencies.size(); ++i) {
      const Residency& residency = plan_.residencies[i];
      const OffChipCopy* const in = CopyOf(i, false);
      if (residency.start <= s && s < residency.end && in != nullptr &&
          Touches(s, residency.tensor)) {
        ready = std::max(ready, in->transfer.end);
      }
      if (residency.start != s || in != nullptr) continue;
      for (std::size_t j = 0; j < plan_.residencies.size(); ++j) {
        const OffChipCopy* const out = CopyOf(j, true);
        if (plan_.residencies[j].end > s || !Meet(i, j) || out == nullptr) continue;
        ready = std::max(ready, out->transfer.end);
      }
    }
    return ready;
  }

  const Graph& graph_;
  const Link& link_;
  const MemoryPlan& plan_;
  const OffChipRun& run_;
};

// What all copies of one kind move.
Bytes Moved(const Graph& graph, const MemoryPlan& plan, const OffChipRun& run, bool out,
            bool avoidable) {
  Bytes moved = 0;
  for (const OffChipCopy& copy : run.copies) {
    if (copy.out != out || copy.avoidable != avoidable) continue;
    moved += graph.tensors[plan.residencies[copy.residency].tensor].bytes;
  }
  return moved;
}

struct RandomCase {
  Graph graph;
  Link link;
  PlanOptions options;
};

RandomCase CaseOf(std::uint64_t seed, const GraphKnobs& knobs) {
  RandomCase the;
  the.graph = RandomGraph(seed, knobs);
  Random random(seed);
  the.graph.cost_unit = "ns";
  for (Operator& op : the.graph.operators) op.cost = random.Uniform(0, 39);
  the.link = {random.Uniform(1'000'000, 2'000'000'000),
              random.Uniform(1'000'000, 2'000'000'000),
              random.Uniform(0, 9),
              {}};
  the.options.capacity = NamedBudget::kOneOperator;
  the.options.spill = true;
  the.options.schedule.counting = {seed % 2 == 0, seed % 3 == 0};
  return the;
}

// The best plan, if it has addresses.
std::optional<MemoryPlan> PlanOf(const RandomCase& the) {
  Budget budget;
  budget.SetNodeLimit(2000);
  const auto answer = Plan(the.graph, the.options, budget);
  EXPECT_TRUE(answer.has_value()) << answer.error().message;
  if (!answer || !answer->best || !answer->best->addressed) return std::nullopt;
  return answer->best;
}

// Runs the plan and checks it.
OffChipRun CheckedRun(const RandomCase& the, const MemoryPlan& plan) {
  const auto run = RunOffChip(the.graph, the.link, plan);
  EXPECT_TRUE(run.has_value()) << run.error().message;
  if (!run) return {};
  EXPECT_EQ(Moved(the.graph, plan, *run, true, true), plan.traffic.spilled);
  EXPECT_EQ(Moved(the.graph, plan, *run, false, true), plan.traffic.retrieved);
  EXPECT_EQ(Moved(the.graph, plan, *run, false, false), plan.traffic.compulsory_in);
  EXPECT_EQ(Moved(the.graph, plan, *run, true, false), plan.traffic.compulsory_out);
  EXPECT_LE(run->time, run->one_by_one());
  EXPECT_GE(run->time, std::max(run->computing + run->stalled, run->copying));
  Rules(the.graph, the.link, plan, *run).Check();
  return *run;
}

TEST(OffChip, FollowsTheRules) {
  std::int64_t avoidable = 0;
  std::int64_t overlapped = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    const RandomCase the = CaseOf(seed, SpillKnobs(4, 14));
    const auto plan = PlanOf(the);
    if (!plan) continue;
    const OffChipRun run = CheckedRun(the, *plan);
    avoidable += plan->traffic.avoidable() > 0 ? 1 : 0;
    overlapped += run.time < run.one_by_one() ? 1 : 0;
  }
  EXPECT_GT(avoidable, 30);
  EXPECT_GT(overlapped, 100);
}

// The same where operators run again, with copies or without.
TEST(OffChip, FollowsTheRulesWhereOperatorsRunAgain) {
  GraphKnobs knobs = SpillKnobs(4, 14);
  knobs.write_chance = 0.4;
  std::int64_t repeats = 0;
  std::int64_t both = 0;     // Plans with repeats and copies,
  std::int64_t skipped = 0;  // and with a repeat that leaves out a write.
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    RandomCase the = CaseOf(seed, knobs);
    Random random(seed ^ 0x5eedu);
    for (Operator& op : the.graph.operators) {
      op.type.clear();
      op.cost = random.Uniform(0, 9);
      if (!op.mutates.empty() && random.Chance(0.5)) op.skips = {op.mutates.front()};
    }
    the.options.recompute = true;
    the.options.spill = seed % 4 != 0;
    if (the.options.spill) the.options.link = the.link;
    const auto plan = PlanOf(the);
    if (!plan) continue;
    const OffChipRun run = CheckedRun(the, *plan);
    const std::size_t again = plan->order.size() - the.graph.operators.size();
    EXPECT_EQ(run.operators.size(), the.graph.operators.size() + again);
    if (again == 0) continue;
    ++repeats;
    both += plan->traffic.avoidable() > 0 ? 1 : 0;
    std::vector<bool> has_run(the.graph.operators.size(), false);
    bool skips = false;
    for (const OperatorIndex v : plan->order) {
      skips = skips || (has_run[v] && !the.graph.operators[v].skips.empty());
      has_run[v] = true;
    }
    skipped += skips ? 1 : 0;
  }
  EXPECT_GT(repeats, 50);
  EXPECT_GT(both, 10);
  EXPECT_GE(skipped, 4);
}

}  // namespace
}  // namespace berth::internal
