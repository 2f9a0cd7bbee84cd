// The parts of the exact search separately, against brute force over all downsets.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "schedule/best_first.h"
#include "schedule/bisect.h"
#include "schedule/cut.h"
#include "schedule/instance.h"
#include "schedule/precedence.h"
#include "schedule/probe.h"
#include "schedule/question.h"
#include "schedule/reduce.h"
#include "schedule/walk.h"
#include "testing/seeds.h"
#include "tests/schedule/brute.h"

namespace berth::internal::schedule {
namespace {

TEST(Instance, LiveBytesAreSubmodular) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    const Instance instance = RandomInstance(seed);
    Budget budget;
    const Reduction reduction = Reduce(instance, Program(instance.num_ops), true, budget);
    const Brute brute(reduction.instance);
    for (std::uint32_t s = 0; s < brute.live.size(); ++s) {
      for (std::uint32_t t = 0; t < s; ++t) {
        ASSERT_GE(brute.live[s] + brute.live[t], brute.live[s & t] + brute.live[s | t]);
      }
    }
  }
}

TEST(Reduce, KeepsTheLeastPeakAndExpandsWithoutRaisingIt) {
  std::size_t removed = 0;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    SCOPED_TRACE(seed);
    const Instance instance = RandomInstance(seed);
    Budget budget;
    const Reduction reduction = Reduce(instance, Program(instance.num_ops), true, budget);
    removed += instance.num_ops - reduction.instance.num_ops;
    const Brute brute(instance);
    const Bytes floor = std::max(brute.live.front(), brute.live.back());
    const Bytes reduced = Brute(reduction.instance).LeastPeak();
    ASSERT_EQ(brute.LeastPeak(), std::max(floor, reduced));
    const std::vector<Op> order = Program(reduction.instance.num_ops);
    ASSERT_TRUE(IsOrder(reduction.instance, order));
    const std::vector<Op> full = Expand(instance, reduction, order);
    ASSERT_TRUE(IsOrder(instance, full));
    ASSERT_LE(PeakOf(instance, full), std::max(floor, PeakOf(reduction.instance, order)));
  }
  EXPECT_GT(removed, 4000u);
}

TEST(Instance, BackwardsIsAnEquivalentInstance) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    const Instance instance = RandomInstance(seed);
    Budget budget;
    const Reduction reduction = Reduce(instance, Program(instance.num_ops), true, budget);
    const Instance backwards = Reversed(reduction.instance);
    std::vector<Op> order = Program(backwards.num_ops);
    const Bytes end = LiveAtStart(backwards);
    const Bytes forwards = std::max(end, PeakOf(reduction.instance, order));
    std::reverse(order.begin(), order.end());
    ASSERT_TRUE(IsOrder(backwards, order));
    ASSERT_EQ(forwards, std::max(LiveAtStart(reduction.instance), PeakOf(backwards, order)));
  }
}

// Each cut is the least step of its operator, also with another operator before or after it.
void CheckCuts(const Instance& instance, const Brute& brute, Cut& cut) {
  std::vector<Word> set(instance.words());
  const auto step_at_witness = [&](Op v, bool largest) {
    cut.Witness(set.data(), largest);
    return brute.step[v][static_cast<std::uint32_t>(set[0])];
  };
  for (Op v = 0; v < instance.num_ops; ++v) {
    const Bytes least = brute.LeastStep(v, -1, -1);
    ASSERT_EQ(cut.Solve(v, kNone), least);
    for (const bool largest : {false, true}) ASSERT_EQ(step_at_witness(v, largest), least);
    for (const Op u : cut.undecided()) {
      for (const bool inside : {true, false}) {
        const Bytes with = brute.LeastStep(v, inside ? static_cast<int>(u) : -1,
                                           inside ? -1 : static_cast<int>(u));
        ASSERT_EQ(cut.SolveWith(u, inside, kNone / 2), with);
        ASSERT_EQ(step_at_witness(v, !inside), with);
      }
    }
  }
}

TEST(Cut, IsTheLeastStep) {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    SCOPED_TRACE(seed);
    const Instance original = RandomInstance(seed);
    Budget budget;
    const Reduction reduction = Reduce(original, Program(original.num_ops), true, budget);
    const Instance& instance = seed % 2 == 0 ? original : reduction.instance;
    const Brute brute(instance);
    const Precedence precedence(instance);
    Cut with_rows(instance, precedence);
    Cut searching(instance);
    for (Cut* const cut : {&with_rows, &searching}) {
      ASSERT_NO_FATAL_FAILURE(CheckCuts(instance, brute, *cut));
    }
  }
}

// At the least peak, the constraints found still allow an order of that peak; below it, every
// claimed impossibility is correct.
// Limits of time rely on it: with many buffers that several operators free, each look takes long.
TEST(Walker, CountsMoreForOperatorsWithManySharedBuffers) {
  for (const std::size_t shared : {1u, 80u, 800u}) {
    SCOPED_TRACE(shared);
    const std::vector<FlowBuffer> buffers(shared, {1, false, false, {0}, {1, 2}});
    const Instance instance = MakeInstance(3, 0, {{0, 1}, {0, 2}}, buffers);
    const Walker walker(instance, 0, true);
    std::vector<Word> state(walker.state_words());
    Standing at = walker.Start(state.data());
    EXPECT_EQ(walker.RunDominant(state.data(), at), 0);
    walker.Run(state.data(), at, 0);
    // Each of the other two creates nothing, and runs.
    EXPECT_EQ(walker.RunDominant(state.data(), at),
              static_cast<std::int64_t>(2 * (1 + shared / 8)));
    EXPECT_TRUE(walker.AtEnd(state.data()));
    EXPECT_EQ(at.live, 0);
  }
}

TEST(Prober, LeavesAnOrderWithinTheLimit) {
  std::size_t constraints = 0;
  std::size_t contradictions = 0;
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    SCOPED_TRACE(seed);
    const Instance instance = RandomInstance(seed);
    const Bytes least = Brute(instance).LeastPeak();
    Budget budget;
    Prober prober(instance, Precedence(instance), least + 5);
    prober.AddOrder(Program(instance.num_ops));
    ASSERT_EQ(prober.Run(kNone / 4, 1, budget), Prober::Verdict::kStable);
    prober.LowerLimit(least);
    ASSERT_EQ(prober.Run(kNone / 4, 1, budget), Prober::Verdict::kStable);
    constraints += prober.precedence().added().size();
    ASSERT_EQ(Brute(WithPrecedence(instance, prober.precedence())).LeastPeak(), least);
    // The consequences of the limit alone do not depend on the sequence.
    Prober direct(instance, Precedence(instance), least);
    ASSERT_EQ(direct.Run(kNone / 4, 1, budget), Prober::Verdict::kStable);
    for (Op v = 0; v < instance.num_ops; ++v) {
      for (Op u = 0; u < instance.num_ops; ++u) {
        ASSERT_EQ(direct.precedence().Precedes(u, v), prober.precedence().Precedes(u, v));
      }
    }
    prober.LowerLimit(least - 1);
    contradictions += prober.Run(kNone / 4, 1, budget) == Prober::Verdict::kContradiction ? 1 : 0;
  }
  EXPECT_GT(constraints, 400u);
  EXPECT_GT(contradictions, 450u);
}

// Operators that read one to three of the latest buffers.
Instance IrregularInstance(std::uint64_t seed, std::int64_t least_ops = 30) {
  Random random(seed);
  const auto n = static_cast<Op>(random.Uniform(least_ops, least_ops + 20));
  const std::int64_t reach = random.Uniform(8, 28);
  std::vector<std::pair<Op, Op>> edges;
  std::vector<FlowBuffer> buffers;
  for (Op v = 0; v < n; ++v) {
    buffers.push_back({random.Uniform(1, 64), false, false, {v}, {}});
    for (std::int64_t k = v > 0 ? random.Uniform(1, 3) : 0; k > 0; --k) {
      const auto u = static_cast<Op>(random.Uniform(std::max<std::int64_t>(0, v - reach), v - 1));
      std::vector<Op>& consumers = buffers[u].consumers;
      if (!consumers.empty() && consumers.back() == v) continue;
      consumers.push_back(v);
      edges.emplace_back(u, v);
    }
  }
  for (Op v = 0; v < n; ++v) {
    if (buffers[v].consumers.empty()) buffers[v].consumers = {v};
  }
  return MakeInstance(n, 0, edges, std::move(buffers));
}

// Several looks side by side, on any number of threads: the same constraints in the same sequence, with the
// same work, also where it ends in between.
TEST(Prober, FindsTheSameOnAnyNumberOfThreads) {
  std::size_t contradictions = 0;
  std::size_t stable = 0;
  for (std::uint64_t seed = 1; seed <= Seeds(80); ++seed) {
    SCOPED_TRACE(seed);
    const Instance instance = IrregularInstance(seed, 150);
    const std::vector<Op> order = Program(instance.num_ops);
    Random random(seed);
    const Bytes limit = PeakOf(instance, order) * random.Uniform(60, 90) / 100;
    const std::int64_t work = std::int64_t{1} << random.Uniform(17, 20);
    const auto probe = [&](int threads) {
      Prober prober(instance, Precedence(instance), limit);
      prober.AddOrder(order);
      Budget budget;
      std::string text;
      Prober::Verdict verdict = Prober::Verdict::kOpen;
      for (int turn = 0; turn < 16 && verdict == Prober::Verdict::kOpen; ++turn) {
        verdict = prober.Run(work, threads, budget);
        text += std::to_string(prober.cuts()) + " cuts, " + std::to_string(prober.work()) + ", " +
                std::to_string(prober.refuted()) + '\n';
      }
      for (const auto& [before, after] : prober.precedence().added()) {
        text += std::to_string(before) + " before " + std::to_string(after) + '\n';
      }
      return std::pair(verdict, text + std::to_string(budget.nodes_spent()));
    };
    const auto one = probe(1);
    contradictions += one.first == Prober::Verdict::kContradiction ? 1 : 0;
    stable += one.first == Prober::Verdict::kStable ? 1 : 0;
    for (const int threads : {2, 3, 8}) ASSERT_EQ(probe(threads), one);
  }
  EXPECT_GE(contradictions, Seeds(80) / 8);
  EXPECT_GE(stable, Seeds(80) / 8);
}

// For any order within a limit: dominance up to the limit changes no answer.
TEST(Question, DecidesEachLimit) {
  std::size_t found = 0;
  std::size_t impossible = 0;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    SCOPED_TRACE(seed);
    const Instance instance = RandomInstance(seed);
    const Bytes least = Brute(instance).LeastPeak();
    ExactOptions options;
    options.probing = seed % 3 != 0;
    options.reduction = seed % 5 != 0;
    options.backwards = seed % 2 != 0;
    for (Bytes limit = least - 2; limit <= least + 8; ++limit) {
      Question question(instance, options, limit, Precedence(instance));
      Budget budget;
      SearchStats stats;
      // In one go, or resumed after each state.
      const std::vector<Asked> asked{
          {&question, seed % 4 == 0 ? 50 : kNone / 4, std::size_t{1} << 30}};
      Question::Answer answer = Question::Answer::kOpen;
      for (int turn = 0; turn < 100'000 && answer == Question::Answer::kOpen; ++turn) {
        answer = AdvanceTogether(asked, 1, stats, budget).front();
      }
      ASSERT_EQ(answer, limit < least ? Question::Answer::kImpossible : Question::Answer::kFound);
      ++(limit < least ? impossible : found);
      if (limit < least) continue;
      ASSERT_TRUE(IsOrder(instance, question.order()));
      ASSERT_LE(PeakOf(instance, question.order()), limit);
    }
  }
  EXPECT_EQ(found, 9'000u);
  EXPECT_EQ(impossible, 2'000u);
}

// With states it ends at the least peak; with constraints alone, where probing finds no contradiction. In one
// go or in small parts.
TEST(Bisector, FindsTheLeastPeakOrTheLeastLimitThatIsConsistent) {
  std::size_t equal = 0;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    SCOPED_TRACE(seed);
    const Instance original = RandomInstance(seed);
    Budget budget;
    const Reduction reduction = Reduce(original, Program(original.num_ops), true, budget);
    const Instance& instance = seed % 2 == 0 ? original : reduction.instance;
    if (instance.num_ops == 0) continue;
    const std::vector<std::vector<Op>> orders = {Program(instance.num_ops)};
    const Bytes peak = PeakOf(instance, orders.front());
    const Bytes start = LiveAtStart(instance);
    const Bytes least = std::max(start, Brute(instance).LeastPeak());
    SearchStats stats;
    constexpr std::size_t kBytes = std::size_t{1} << 30;
    for (const bool states : {true, false}) {
      ExactOptions options;
      options.best_first = states;
      Bisector bisector(instance, options);
      const Bytes bound =
          bisector.Advance({start, peak, orders}, {kNone / 4, kBytes, 1}, stats, budget);
      ASSERT_LE(bound, least);
      Bisector in_parts(instance, options);
      Bytes raised = start;
      Bytes lowered = peak;
      for (int turn = 0; turn < 200; ++turn) {
        raised = in_parts.Advance({raised, lowered, orders}, {2000, kBytes, 1}, stats, budget);
        if (!in_parts.order().empty()) lowered = PeakOf(instance, in_parts.order());
      }
      ASSERT_EQ(raised, bound);
      if (states) {
        ASSERT_EQ(bound, least);
        ASSERT_EQ(lowered, least);
        ASSERT_EQ(peak == least, bisector.order().empty());
        if (peak > least) {
          ASSERT_EQ(PeakOf(instance, bisector.order()), least);
        }
        continue;
      }
      equal += bound == least ? 1 : 0;
      for (Bytes limit = start; limit < peak; ++limit) {
        Prober prober(instance, Precedence(instance), limit);
        const bool refuted = prober.Run(kNone / 4, 1, budget) == Prober::Verdict::kContradiction;
        ASSERT_EQ(refuted, limit < bound);
      }
    }
  }
  EXPECT_GT(equal, 1900u);
}

// All sizes are multiples of eight, and the bound lies between two peaks, the higher of which is the least.
TEST(Bisector, EndsWhereBoundAndPeakAreLessThanAUnitApart) {
  constexpr Bytes kUnit = 8;
  int multiples = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    const Instance small = RandomInstance(seed);
    std::vector<std::pair<Op, Op>> edges;
    std::vector<FlowBuffer> buffers = small.buffers;
    for (FlowBuffer& buffer : buffers) buffer.bytes *= kUnit;
    for (Op v = 0; v < small.num_ops; ++v) {
      for (const Op p : small.predecessors[v]) edges.emplace_back(p, v);
    }
    const Instance instance = MakeInstance(small.num_ops, small.base, edges, std::move(buffers));
    const Bytes unit = PeakGrid(instance).unit();
    multiples += unit % kUnit == 0 ? 1 : 0;
    const std::vector<std::vector<Op>> orders = {Program(instance.num_ops)};
    const Bytes peak = PeakOf(instance, orders.front());
    const Bytes least = Brute(instance).LeastPeak();
    for (Bytes bound = least - unit + 1; bound <= least; ++bound) {
      Bisector bisector(instance, {});
      Budget budget;
      SearchStats stats;
      ASSERT_EQ(bisector.Advance({bound, peak, orders}, {kNone / 4, std::size_t{1} << 30, 1}, stats,
                                 budget),
                least);
      ASSERT_EQ(bisector.order().empty(), peak == least);
    }
  }
  EXPECT_GT(multiples, 290);
}

TEST(PeakGrid, HasTheLargestOfEqualLimits) {
  const Instance instance =
      MakeInstance(2, 3, {}, {{8, false, false, {0}, {0}}, {12, false, false, {1}, {1}}});
  const PeakGrid grid(instance);
  EXPECT_EQ(grid.unit(), 4);
  const std::vector<std::pair<Bytes, Bytes>> largest = {{-9, 2}, {0, 2},  {2, 2},   {3, 6},
                                                        {6, 6},  {7, 10}, {10, 10}, {11, 14}};
  for (const auto& [limit, expected] : largest) EXPECT_EQ(grid.LargestLike(limit), expected);
}

// Limits stay open for several rounds, while other searches raise the bound and lower the peak.
TEST(Bisector, HoldsWhereOthersMoveTheBoundAndThePeak) {
  constexpr std::size_t kBytes = std::size_t{1} << 28;
  std::size_t closed = 0;
  for (std::uint64_t seed = 201; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    const Instance instance = IrregularInstance(seed);
    const std::vector<std::vector<Op>> orders = {Program(instance.num_ops)};
    Budget budget;
    BestFirst whole(instance, 0, kNone / 4, true);
    ASSERT_EQ(whole.Run(kNone / 4, kBytes, budget), BestFirst::Verdict::kFound);
    const Bytes least = PeakOf(instance, whole.order());
    Random random(seed);
    ExactOptions options;
    options.best_first = random.Chance(0.6);
    const std::int64_t effort = std::int64_t{1} << random.Uniform(10, 16);
    Bisector bisector(instance, options,
                      {effort, std::max<std::int64_t>(1, effort >> random.Uniform(2, 6))});
    Bytes bound = LiveAtStart(instance);
    Bytes peak = PeakOf(instance, orders.front());
    SearchStats stats;
    for (int turn = 0; turn < 400 && bound < peak; ++turn) {
      const Bytes before = bound;
      bound =
          bisector.Advance({bound, peak, orders},
                           {std::int64_t{1} << random.Uniform(10, 17), kBytes, 1}, stats, budget);
      ASSERT_LE(bound, least);
      const bool found = !bisector.order().empty();
      if (found) {
        ASSERT_TRUE(IsOrder(instance, bisector.order()));
        ASSERT_LT(PeakOf(instance, bisector.order()), peak);
        peak = PeakOf(instance, bisector.order());
        ASSERT_GE(peak, least);
      }
      if (found || bound > before) continue;
      if (random.Chance(0.7) && bound < least) bound = random.Uniform(bound, least);
      if (random.Chance(0.1) && peak > least) peak = random.Uniform(least, peak);
    }
    closed += bound == least && peak == least ? 1 : 0;
  }
  EXPECT_EQ(closed, 100u);
}

TEST(BestFirst, FindsTheLeastPeakOrProvesTheLimitImpossible) {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    SCOPED_TRACE(seed);
    const Instance instance = RandomInstance(seed);
    const Brute brute(instance);
    const Bytes least = brute.LeastPeak();
    for (const bool dominance : {false, true}) {
      for (const Bytes floor : {Bytes{0}, least}) {
        Budget budget;
        BestFirst search(instance, floor, least + 3, dominance);
        ASSERT_EQ(search.Run(kNone / 4, std::size_t{1} << 30, budget), BestFirst::Verdict::kFound);
        ASSERT_TRUE(IsOrder(instance, search.order()));
        ASSERT_EQ(PeakOf(instance, search.order()), least);
        ASSERT_EQ(search.lower_bound(), least);
        BestFirst below(instance, 0, least - 1, dominance);
        ASSERT_EQ(below.Run(kNone / 4, std::size_t{1} << 30, budget),
                  BestFirst::Verdict::kImpossible);
        ASSERT_EQ(below.lower_bound(), least);
        // The same in several calls.
        BestFirst slow(instance, floor, least + 3, dominance);
        while (slow.Run(1, std::size_t{1} << 30, budget) == BestFirst::Verdict::kOpen) {
          ASSERT_LE(slow.lower_bound(), least);
        }
        ASSERT_EQ(slow.order(), search.order());
      }
    }
  }
}

}  // namespace
}  // namespace berth::internal::schedule
