// Large instances, on tiny ones: windows, what precedes what without rows of bits, and the search
// that uses them, against brute force over all downsets.

#include "schedule/window.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/random.h"
#include "berth/schedule.h"
#include "graph/topology.h"
#include "schedule/anneal.h"
#include "schedule/compile.h"
#include "schedule/exact.h"
#include "schedule/reach.h"
#include "schedule/reduce.h"
#include "testing/order_oracle.h"
#include "testing/random_graph.h"
#include "tests/schedule/brute.h"

namespace berth::internal::schedule {
namespace {

// Every other one reduced, so that buffers have several creators.
Instance SomeInstance(std::uint64_t seed) {
  Instance instance = RandomInstance(seed);
  if (seed % 2 == 0) return instance;
  Budget budget;
  Reduction reduction = Reduce(instance, Program(instance.num_ops), true, budget);
  return std::move(reduction.instance);
}

std::vector<Op> RandomOrder(const Instance& instance, Random& random) {
  std::vector<Op> order;
  std::vector<Word> done(instance.words() + 1, 0);
  while (order.size() < instance.num_ops) {
    std::vector<Op> ready;
    for (Op v = 0; v < instance.num_ops; ++v) {
      const auto before = instance.predecessors[v];
      if (!TestBit(done.data(), v) && std::all_of(before.begin(), before.end(),
                                                  [&](Op p) { return TestBit(done.data(), p); })) {
        ready.push_back(v);
      }
    }
    order.push_back(ready[static_cast<std::size_t>(
        random.Uniform(0, static_cast<std::int64_t>(ready.size()) - 1))]);
    SetBit(done.data(), order.back());
  }
  return order;
}

struct Place {
  explicit Place(const std::vector<Op>& of) : order(of), position(of.size()) {
    for (std::size_t k = 0; k < order.size(); ++k) position[order[k]] = static_cast<Op>(k);
  }
  std::vector<Op> order, position;
};

// Any order of the window, in its place, has the steps that the window says.
TEST(Window, HasTheStepsOfTheWholeOrder) {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    SCOPED_TRACE(seed);
    const Instance instance = SomeInstance(seed);
    Random random(seed);
    const Place place(RandomOrder(instance, random));
    std::vector<Bytes> steps;
    std::vector<Bytes> after;
    (void)PeakOf(instance, place.order, &steps, &after);
    for (std::size_t begin = 0; begin < instance.num_ops; ++begin) {
      for (std::size_t end = begin + 1; end <= instance.num_ops; ++end) {
        const Bytes live = begin == 0 ? LiveAtStart(instance) : after[place.order[begin - 1]];
        const Instance window = Window(instance, place.order, place.position, begin, end, live);
        ASSERT_EQ(LiveAtStart(window), live);
        ASSERT_EQ(LiveAtEnd(window), after[place.order[end - 1]]);
        const std::vector<Op> local = RandomOrder(window, random);
        std::vector<Op> changed = place.order;
        for (std::size_t k = 0; k < local.size(); ++k)
          changed[begin + k] = place.order[begin + local[k]];
        ASSERT_TRUE(IsOrder(instance, changed));
        std::vector<Bytes> whole_steps;
        std::vector<Bytes> window_steps;
        (void)PeakOf(instance, changed, &whole_steps);
        (void)PeakOf(window, local, &window_steps);
        for (std::size_t k = 0; k < local.size(); ++k) {
          ASSERT_EQ(window_steps[local[k]], whole_steps[changed[begin + k]]);
        }
      }
    }
  }
}

TEST(Part, HasNoHigherLeastPeak) {
  std::size_t equal = 0;
  std::size_t smaller = 0;
  for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
    SCOPED_TRACE(seed);
    const Instance instance = SomeInstance(seed);
    Random random(seed);
    const Place place(RandomOrder(instance, random));
    const Bytes least = Brute(instance).LeastPeak();
    for (std::size_t begin = 0; begin < instance.num_ops; ++begin) {
      for (std::size_t end = begin + 1; end <= instance.num_ops; ++end) {
        const Bytes part =
            Brute(Part(instance, place.order, place.position, begin, end)).LeastPeak();
        ASSERT_LE(part, least);
        ++(part == least ? equal : smaller);
      }
    }
  }
  EXPECT_GT(equal, 5000u);
  EXPECT_GT(smaller, 5000u);
}

TEST(Reach, SaysYesOnlyWhereItIsTrue) {
  std::size_t found = 0;
  std::size_t missed = 0;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    SCOPED_TRACE(seed);
    const Instance instance = SomeInstance(seed);
    Random random(seed);
    const std::vector<Op> order = RandomOrder(instance, random);
    Reach exact(instance, order, true);
    Reach nearly(instance, order, false);
    const BitMatrix ancestors = Ancestors(instance, order);
    for (Op a = 0; a < instance.num_ops; ++a) {
      for (Op b = 0; b < instance.num_ops; ++b) {
        ASSERT_EQ(exact.Precedes(a, b), ancestors.Test(b, a));
        const bool said = nearly.Precedes(a, b);
        ASSERT_TRUE(!said || ancestors.Test(b, a));
        found += said ? 1 : 0;
        missed += !said && ancestors.Test(b, a) ? 1 : 0;
      }
    }
  }
  EXPECT_GT(found, 3000u);
  EXPECT_EQ(missed, 0u);  // Tiny instances end before the search gives up.
}

// A chain with a ladder of operators beside it, too long for a search of few operators.
TEST(Reach, FollowsALongChain) {
  constexpr Op kLength = 5000;
  std::vector<std::pair<Op, Op>> edges;
  for (Op v = 0; v + 2 < 2 * kLength; v += 2) {
    edges.emplace_back(v, v + 2);      // The chain.
    edges.emplace_back(v + 1, v + 2);  // Into it from the side, and out of it.
    edges.emplace_back(v, v + 3);
  }
  const Instance instance = MakeInstance(2 * kLength, 0, edges, {});
  Reach reach(instance, Program(2 * kLength), false);
  EXPECT_TRUE(reach.Precedes(0, 2 * kLength - 2));
  EXPECT_TRUE(reach.Precedes(1, 2 * kLength - 1));
  EXPECT_TRUE(reach.Precedes(17, 9999));
  EXPECT_FALSE(reach.Precedes(17, 18 - 2));
  EXPECT_FALSE(reach.Precedes(9999, 17));
  EXPECT_FALSE(reach.Precedes(8001, 8001));
}

TEST(Reduce, KeepsTheLeastPeakWithoutRows) {
  std::size_t removed = 0;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    SCOPED_TRACE(seed);
    const Instance instance = RandomInstance(seed);
    Budget budget;
    const Reduction reduction = Reduce(instance, Program(instance.num_ops), false, budget);
    removed += instance.num_ops - reduction.instance.num_ops;
    const Brute brute(instance);
    const Bytes floor = std::max(brute.live.front(), brute.live.back());
    ASSERT_EQ(brute.LeastPeak(), std::max(floor, Brute(reduction.instance).LeastPeak()));
  }
  EXPECT_GT(removed, 2000u);
}

TEST(WindowSearch, KeepsAnOrderAndATrueBound) {
  std::size_t lowered = 0;
  std::size_t proved = 0;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    SCOPED_TRACE(seed);
    const Instance instance = SomeInstance(seed);
    if (instance.num_ops == 0) continue;
    Random random(seed);
    const std::vector<Op> order = RandomOrder(instance, random);
    const Bytes least = Brute(instance).LeastPeak();
    const ExactOptions options;
    WindowSearch search(instance, options, order, 1 + seed % 3);
    SearchStats stats;
    Budget budget;
    int turns = 0;
    while (search.Advance(0, 1, std::size_t{1} << 30, 1, stats, budget)) ASSERT_LT(++turns, 1000);
    ASSERT_TRUE(IsOrder(instance, search.order()));
    ASSERT_EQ(search.peak(), PeakOf(instance, search.order()));
    // The last window is the whole instance.
    ASSERT_EQ(search.peak(), least);
    ASSERT_LE(search.bound(), least);
    lowered += search.peak() < PeakOf(instance, order) ? 1 : 0;
    proved += search.bound() == least ? 1 : 0;
  }
  EXPECT_GT(lowered, 450u);
  EXPECT_GT(proved, 1000u);
}

// Limits refuted for a window hold for the whole; a window of all operators mostly proves the least.
TEST(WindowSearch, RefutesLimitsAroundAnyOperator) {
  std::size_t tried = 0;
  std::size_t raised = 0;
  std::size_t equal = 0;
  ExactOptions options;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    SCOPED_TRACE(seed);
    options.reduction = seed % 2 == 0;
    const Instance instance = SomeInstance(seed);
    if (instance.num_ops < 2) continue;
    ++tried;
    const Bytes least = Brute(instance).LeastPeak();
    const Bytes floor = std::max(LiveAtStart(instance), LiveAtEnd(instance));
    Budget budget;
    SearchStats stats;
    for (const std::size_t size : {4U, 20U}) {
      WindowSearch search(instance, options, Program(instance.num_ops), size);
      std::size_t windows = 0;
      for (Op v = 0; v < instance.num_ops; ++v) {
        windows += search.RaiseBoundAround(v, floor, stats, budget) ? 1 : 0;
        ASSERT_LE(search.bound(), least);
      }
      // At least two positions apart; or the first covers everything.
      ASSERT_EQ(windows, size == 4 ? (instance.num_ops + 1) / 2 : 1);
      (size == 4 ? raised : equal) += std::max(floor, search.bound()) == least ? 1 : 0;
    }
  }
  EXPECT_GT(tried, 1200u);
  EXPECT_GT(3 * raised, 2 * tried);
  EXPECT_GT(20 * equal, 19 * tried);
}

// The search of large instances, made to think that these are large.
TEST(SearchExactly, IsTheLeastOfLargeInstances) {
  std::size_t proved = 0;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    SCOPED_TRACE(seed);
    const Instance instance = SomeInstance(seed);
    const Bytes least = Brute(instance).LeastPeak();
    ExactLimits limits;
    limits.many_ops = 1 + seed % 4;
    limits.first_window = 2;
    // Too little memory for questions, in every third case.
    if (seed % 3 == 0) limits.most_bytes = 1;
    ExactOptions options;
    options.cut_bound = seed % 5 != 0;
    options.segments = seed % 7 != 0;
    SearchStats stats;
    Budget budget;
    const ExactResult result = SearchExactly(instance, options, limits, {}, stats, budget);
    ASSERT_TRUE(IsOrder(instance, result.order));
    ASSERT_LE(result.lower_bound, least);
    ASSERT_GE(result.peak, least);
    ASSERT_EQ(result.peak, std::max(LiveAtStart(instance), PeakOf(instance, result.order)));
    if (seed % 3 != 0) {
      ASSERT_EQ(result.peak, least);
      ASSERT_EQ(result.lower_bound, least);
    }
    proved += result.lower_bound == result.peak ? 1 : 0;
  }
  EXPECT_GT(proved, 1800u);
}

// Three questions have a set of operators for each operator three times, and bisection four times more. Where that
// takes more than half of the memory, none is asked.
TEST(SearchExactly, AsksOnlyWhereSetsForAllQuestionsFitTheMemory) {
  int asked = 0;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    SCOPED_TRACE(seed);
    const Instance instance = SomeInstance(seed);
    const std::size_t sets = instance.num_ops * instance.words() * sizeof(Word);
    const auto cuts_within = [&](std::size_t bytes) {
      ExactLimits limits;
      limits.many_ops = 1;
      limits.first_window = 2;
      limits.most_bytes = bytes;
      SearchStats stats;
      Budget budget;
      ExactOptions options;
      options.segments = false;
      (void)SearchExactly(instance, options, limits, {}, stats, budget);
      return stats.cuts;
    };
    const std::int64_t of_windows = cuts_within(1);
    ASSERT_EQ(cuts_within(2 * 13 * sets - 1), of_windows);
    asked += cuts_within(2 * 13 * sets) > of_windows ? 1 : 0;
  }
  EXPECT_GT(asked, 0);
}

TEST(Annealer, LowersThePeakAndKeepsAnOrder) {
  std::size_t lowered = 0;
  std::size_t least_found = 0;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    SCOPED_TRACE(seed);
    const Instance instance = SomeInstance(seed);
    Random random(seed);
    const std::vector<Op> order = RandomOrder(instance, random);
    const Bytes least = Brute(instance).LeastPeak();
    Annealer annealer(instance);
    std::vector<Op> best = order;
    Bytes peak = PeakOf(instance, order);
    Budget budget;
    for (std::uint64_t run = 0; run < 4 && peak > least; ++run) {
      const Bytes before = peak;
      const bool lower = annealer.Run(best, before - 1, {20'000, 4 * seed + run}, budget);
      best = annealer.order();
      peak = annealer.peak();
      ASSERT_TRUE(IsOrder(instance, best));
      ASSERT_EQ(peak, PeakOf(instance, best));
      ASSERT_LE(peak, before);
      ASSERT_EQ(lower, peak < before);
    }
    ASSERT_GE(peak, least);
    lowered += peak < PeakOf(instance, order) ? 1 : 0;
    least_found += peak == least ? 1 : 0;
  }
  EXPECT_GT(lowered, 200u);
  EXPECT_GT(least_found, 950u);
}

// A hundred operators, each with a result of up to 20 << `scale` bytes, then those that free them.
Instance PairsInstance(std::uint64_t seed, int scale) {
  constexpr Op kPairs = 100;
  Random random(seed);
  std::vector<std::pair<Op, Op>> edges;
  std::vector<FlowBuffer> buffers;
  for (Op v = 0; v < kPairs; ++v) {
    const Op user = kPairs + v;
    edges.emplace_back(v, user);
    buffers.push_back({random.Uniform(1, 20) << scale, false, false, {v}, {user}});
  }
  return MakeInstance(std::size_t{2} * kPairs, 0, edges, std::move(buffers));
}

// Sizes times 2^k: the same moves, also where the excess of all steps together exceeds 64 bits.
TEST(Annealer, CountsSizesOfAnyScale) {
  constexpr int kScale = 49;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(seed);
    const Instance small = PairsInstance(seed, 0);
    const Instance large = PairsInstance(seed, kScale);
    const std::vector<Op> order = Program(small.num_ops);
    const Bytes before = PeakOf(small, order);
    ASSERT_LE(before << kScale, kMaxBytes);
    Budget budget;
    Annealer annealer_of_small(small);
    Annealer annealer_of_large(large);
    constexpr std::int64_t kWork = 2'000'000;
    const Bytes target = before / 2;
    EXPECT_TRUE(annealer_of_small.Run(order, target, {kWork, 1}, budget));
    EXPECT_TRUE(annealer_of_large.Run(order, target << kScale, {kWork, 1}, budget));
    EXPECT_EQ(annealer_of_large.order(), annealer_of_small.order());
    EXPECT_EQ(annealer_of_large.peak(), annealer_of_small.peak() << kScale);
  }
}

// Graphs with writes in place, views, given tensors and results, against the oracle of graphs.
TEST(SearchExactly, IsTheLeastOfLargeGraphs) {
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    SCOPED_TRACE(seed);
    GraphKnobs knobs = AllGraphKnobs();
    knobs.max_operators = 9;
    const Graph graph = RandomGraph(seed, knobs);
    const Counting counting = {seed % 4 == 0, seed % 8 == 0, /*unsized_as_zero=*/true};
    const Instance instance = InstanceOf(Compile(graph, counting));
    if (instance.num_ops == 0) continue;
    const Bytes least = OracleSchedule(graph, counting).peak;
    Budget budget;
    const Reduction reduction = Reduce(instance, Program(instance.num_ops), false, budget);
    ExactLimits limits;
    limits.many_ops = 1 + seed % 3;
    limits.first_window = 2;
    limits.floor = std::max(LiveAtStart(instance), LiveAtEnd(instance));
    SearchStats stats;
    const ExactResult result = SearchExactly(reduction.instance, {}, limits, {}, stats, budget);
    const std::vector<Op> order = Expand(instance, reduction, result.order);
    ASSERT_TRUE(IsOrder(instance, order));
    ASSERT_EQ(PeakOf(instance, order), least);
    ASSERT_EQ(result.lower_bound, least);
  }
}

}  // namespace
}  // namespace berth::internal::schedule
