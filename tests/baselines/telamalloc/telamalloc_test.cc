// TelaMalloc's parts, phases and search: never wrong, the same steps every time, and every part of
// the policy does something.

#include "baselines/telamalloc/telamalloc.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "baselines/telamalloc/policy.h"
#include "berth/baselines.h"
#include "place/learning/engine.h"
#include "testing/differential.h"
#include "testing/oracle.h"
#include "tests/place/generated.h"
#include "tests/place/judge.h"

namespace berth::internal {
namespace {

using Buffer = learning::Engine::Buffer;

// A problem with what an engine needs.
struct Compiled {
  explicit Compiled(const Problem& problem)
      : instance(Compile(problem)), overlaps(FindOverlaps(instance)) {}
  Instance instance;
  Overlaps overlaps;
};

// ---- Parts and phases.

TEST(TelaMallocPolicy, GroupsBlocksByFallingContention) {
  // Load: 100 at [0,2), 55 at [2,4), 90 at [4,6), nothing at [6,8), 30 at [8,9).
  Problem problem;
  problem.buffers = {{"a", 0, 2, 60, 1, {}, {}, {}},
                     {"b", 0, 4, 40, 1, {}, {}, {}},
                     {"c", 2, 6, 15, 1, {}, {}, {}},
                     {"d", 4, 6, 75, 1, {}, {}, {}},
                     {"e", 8, 9, 30, 1, {}, {}, {}}};
  const Instance instance = Compile(problem);
  Policy policy(instance, {});
  policy.Start(100);
  EXPECT_EQ(policy.num_parts(), 2);
  EXPECT_EQ(policy.Phases(), (std::vector<std::vector<Buffer>>{{0, 1}, {2, 3}, {4}}));
  policy.BeginPart(0);
  Policy::Cursor cursor;
  // Nothing placed: the first phase by lifetime, size and area, then the next.
  const auto next = [&](std::int32_t last_phase) { return policy.Next(cursor, last_phase); };
  EXPECT_EQ(next(-1), 1);
  EXPECT_EQ(next(-1), 0);
  EXPECT_EQ(next(-1), 1);
  EXPECT_EQ(next(-1), 2);
  EXPECT_EQ(next(-1), 3);
  EXPECT_EQ(next(-1), 3);
  EXPECT_EQ(next(-1), Policy::kNoBlock);
  policy.Place(2);
  cursor = {};
  EXPECT_EQ(next(policy.phase_of(2)), 3);  // The present phase first.
  EXPECT_EQ(next(policy.phase_of(2)), 3);
  EXPECT_EQ(next(policy.phase_of(2)), 3);
  EXPECT_EQ(next(policy.phase_of(2)), 1);
  policy.Undo();
  EXPECT_EQ(policy.num_unplaced(), 4);
  cursor = {};
  EXPECT_EQ(next(-1), 1);

  TelaMallocOptions options;
  options.phases = false;
  options.split = false;
  Policy whole(instance, options);
  whole.Start(100);
  EXPECT_EQ(whole.num_parts(), 1);
  EXPECT_EQ(whole.Phases().size(), 1u);
}

// The noise decides between equals and nothing else, and it ends with the next start.
TEST(TelaMallocPolicy, LowestFirstWithNoiseStillGoesByThePosition) {
  Problem problem;
  for (int k = 0; k < 6; ++k) {
    problem.buffers.push_back({"low" + std::to_string(k), 0, 4, 8 + k % 2, 1, {}, {}, {}});
  }
  problem.buffers.push_back({"high", 0, 4, 30, 1, {}, {}, {}});
  const Instance instance = Compile(problem);
  const Overlaps overlaps = FindOverlaps(instance);
  learning::Engine engine(instance, overlaps, {});
  ASSERT_TRUE(engine.Start(100));
  ASSERT_TRUE(engine.Place(0, 0));  // All others lie at 8 at least.
  Policy policy(instance, {});
  policy.Start(100);
  policy.BeginPart(0);
  policy.Place(0);
  const auto order = [&] {
    std::vector<Buffer> blocks;
    Policy::LowRank after;
    for (Buffer b = 0; (b = policy.NextLowest(engine, after)) != Policy::kNoBlock;) {
      blocks.push_back(b);
    }
    return blocks;
  };
  const std::vector<Buffer> calm = order();
  EXPECT_EQ(calm, (std::vector<Buffer>{6, 1, 3, 5, 2, 4}));
  Random random(1);
  std::set<std::vector<Buffer>> orders;
  for (int k = 0; k < 30; ++k) {
    policy.DisturbLowest(random);
    std::vector<Buffer> blocks = order();
    orders.insert(blocks);
    std::sort(blocks.begin(), blocks.end());
    EXPECT_EQ(blocks, (std::vector<Buffer>{1, 2, 3, 4, 5, 6}));
  }
  EXPECT_GT(orders.size(), 10u);
  // A block that cannot lie as low comes last all the same.
  ASSERT_TRUE(engine.Place(6, 8));
  policy.Place(6);
  const Bytes above = engine.lowest(1);
  for (const Buffer b : order()) EXPECT_GE(engine.lowest(b), above);
  policy.Start(100);
  policy.BeginPart(0);
  policy.Place(0);
  engine.UndoTo(1);
  EXPECT_EQ(order(), calm);
}

// ---- The search.

Complaint ComparesWithOracle(const Problem& problem, const TelaMallocOptions& options) {
  const auto plan = OraclePlace(problem);
  if (!plan || problem.buffers.empty()) return std::nullopt;
  const Compiled compiled(problem);
  TelaMallocSearch search(compiled.instance, compiled.overlaps, options);
  return Judge(problem, plan->height, false,
               [&](Bytes capacity, std::int64_t limit, Budget& budget) {
                 return search.Search(capacity, limit, budget);
               });
}

TEST(TelaMalloc, IsNeverWrong) {
  EXPECT_TRUE(ForRandomProblems(500'000, 3000, AllKnobs(), [](const Problem& problem) {
    return ComparesWithOracle(problem, {});
  }));
}

TEST(TelaMalloc, EveryCombinationOfSwitchesIsNeverWrong) {
  for (unsigned bits = 0; bits < 64; ++bits) {
    for (int strategy = 0; strategy < 5; ++strategy) {
      for (int placement = 0; placement < 3; ++placement) {
        TelaMallocOptions options;
        options.split = (bits & 1) != 0;
        options.phases = (bits & 2) != 0;
        options.conflict_backtracking = (bits & 4) != 0;
        options.carry_candidates = (bits & 8) != 0;
        options.section_load = (bits & 16) != 0;
        options.most_candidates = (bits & 32) != 0 ? 12 : 2;
        options.stuck_after = (bits & 32) != 0 ? 100 : 2;
        options.strategy = static_cast<TelaMallocOptions::Strategy>(strategy);
        options.placement = static_cast<TelaMallocOptions::Placement>(placement);
        options.order = static_cast<TelaMallocOptions::Order>((bits + bits / 4) % 4);
        ASSERT_TRUE(
            ForRandomProblems(600'000 + 10 * bits, 4, AllKnobs(),
                              [&](const Problem& p) { return ComparesWithOracle(p, options); }))
            << bits << " " << strategy << " " << placement;
      }
    }
  }
}

Problem Generated(Family family, std::uint64_t seed, std::int64_t buffers, std::int64_t steps,
                  Bytes capacity) {
  GenerateParameters parameters;
  parameters.seed = seed;
  parameters.buffers = buffers;
  if (family != Family::kNetwork) parameters.steps = steps;
  parameters.capacity = capacity;
  return Generated(family, parameters);
}

// The same on every compiler and in every build type. A change here is a change of the search: it
// must be meant.
struct Pinned {
  Family family;
  std::uint64_t seed;
  Bytes percent;  // Of the peak load.
  std::int64_t nodes;
  SearchStats stats;
};

TEST(TelaMalloc, TakesTheSameSteps) {
  const Pinned pinned[] = {
      {Family::kRandom, 1, 100, 5000, {1086, 1086, 63}},
      {Family::kRandom, 2, 100, 120, {0, 0, 0}},
      {Family::kPlanted, 1, 108, 174, {35, 35, 3}},
      {Family::kPlanted, 1, 103, 417, {166, 166, 18}},
      {Family::kPlanted, 2, 104, 127, {7, 7, 0}},
      {Family::kFull, 1, 102, 448, {252, 252, 85}},
      {Family::kNetwork, 1, 100, 253, {29, 29, 2}},
  };
  for (const Pinned& pin : pinned) {
    Problem problem = Generated(pin.family, pin.seed, 120, 60, 100'000);
    problem.capacity = MaxLiveLoad(problem).load * pin.percent / 100;
    BaselineOptions options;
    ASSERT_TRUE(SetOption(options, "telamalloc.heuristic_first", "off").has_value());
    Budget budget;
    budget.SetNodeLimit(5000);
    const auto answer = PlaceWithBaseline(problem, options, budget);
    ASSERT_TRUE(answer.has_value());
    EXPECT_TRUE(answer->nodes == pin.nodes && answer->placing.stats == pin.stats)
        << "family " << static_cast<int>(pin.family) << ": " << answer->nodes << ", {"
        << answer->placing.stats.failures << ", " << answer->placing.stats.minor_backtracks << ", "
        << answer->placing.stats.major_backtracks << "}";
  }
}

// What a search was used for before makes no difference: neither the same capacity, nor another.
TEST(TelaMalloc, TakesTheSameStepsOnceMore) {
  std::int64_t failures = 0;
  for (const Family family : {Family::kRandom, Family::kPlanted, Family::kFull}) {
    const Problem problem = Generated(family, 1, 120, 60, 100'000);
    const Bytes load = MaxLiveLoad(problem).load;
    const Compiled compiled(problem);
    for (const auto way :
         {TelaMallocOptions::Placement::kLowest, TelaMallocOptions::Placement::kSkyline}) {
      TelaMallocOptions options;
      options.placement = way;
      TelaMallocSearch used(compiled.instance, compiled.overlaps, options);
      for (const Bytes percent : {100, 100, 104, 102}) {
        SCOPED_TRACE(std::to_string(static_cast<int>(family)) + ", " + std::to_string(percent));
        TelaMallocSearch fresh(compiled.instance, compiled.overlaps, options);
        Budget budget;
        const Bytes capacity = load * percent / 100;
        const SearchAnswer expected = fresh.Search(capacity, 2000, budget);
        const SearchAnswer answer = used.Search(capacity, 2000, budget);
        EXPECT_EQ(answer.verdict, expected.verdict);
        EXPECT_EQ(answer.nodes, expected.nodes);
        EXPECT_EQ(answer.stats, expected.stats);
        EXPECT_EQ(answer.offsets, expected.offsets);
        failures += expected.stats.failures;
      }
    }
  }
  EXPECT_GT(failures, 1000);  // Without any, all would be the same whatever is left behind.
}

// Every part does something: switched off, the search takes other steps.
TEST(TelaMalloc, EveryPartCounts) {
  using Settings = std::map<std::string, std::string, std::less<>>;
  const auto steps_with = [](const Settings& settings) {
    std::string steps;
    for (std::uint64_t seed = 1; seed <= 2; ++seed) {
      Problem problem = Generated(Family::kRandom, seed, 120, 60, 100'000);
      problem.capacity = MaxLiveLoad(problem).load;
      BaselineOptions options;
      options.settings = settings;
      Budget budget;
      budget.SetNodeLimit(1500);
      const auto answer = PlaceWithBaseline(problem, options, budget);
      EXPECT_TRUE(answer.has_value());
      steps += std::to_string(answer->nodes) + "/" +
               std::to_string(answer->placing.stats.failures) + " ";
    }
    return steps;
  };
  const Settings published_settings = {{"telamalloc.heuristic_first", "off"}};
  const std::string published = steps_with(published_settings);
  const auto differs = [&](const std::string& part, const std::string& value) {
    Settings settings = published_settings;
    settings["telamalloc." + part] = value;
    EXPECT_NE(steps_with(settings), published) << part << " " << value;
  };
  differs("heuristic_first", "on");
  differs("phases", "off");
  differs("conflict_backtracking", "off");
  differs("carry_candidates", "off");
  differs("section_load", "off");
  differs("most_candidates", "3");
  differs("stuck_after", "0");
  for (const char* strategy : {"size", "area", "lifetime", "lowest"}) differs("strategy", strategy);
  differs("placement", "skyline");
  differs("placement", "raised-skyline");
  for (const char* order : {"lowest-first", "random", "model"}) differs("order", order);
}

TEST(TelaMalloc, EndsAtItsLimitAndWhenCancelled) {
  Problem problem = Generated(Family::kFull, 1, 40, 12, 1000);
  Budget budget;
  budget.SetNodeLimit(100);
  const auto answer = PlaceWithBaseline(problem, {}, budget);
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->nodes, 100);
  EXPECT_EQ(answer->outcome, Outcome::kUnknown);
  EXPECT_EQ(answer->stopped, StopReason::kBudget);
  Budget cancelled;
  cancelled.Cancel();
  EXPECT_EQ(PlaceWithBaseline(problem, {}, cancelled)->nodes, 0);
}

}  // namespace
}  // namespace berth::internal
