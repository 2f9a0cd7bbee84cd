// Repack() against trying everything, and by its own rules: never worse than the plan it was given,
// never more bytes moved than allowed, the same answer every time.
#include "berth/repack.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "berth/memories.h"
#include "testing/memories_oracle.h"
#include "testing/seeds.h"
#include "tools/verify/memories.h"

namespace berth::internal {
namespace {

// Enough for every plan worth making in a memory without a capacity.
constexpr Bytes kHighest = 28;

// What the previous places are as a plan, if they are one. Buffers without one are left out.
std::optional<PlanCost> PreviousPlan(const MemoryProblem& problem) {
  MemoryPlan plan;
  plan.memories.resize(problem.memories.size());
  std::vector<std::vector<Buffer>> tables(problem.memories.size());
  for (std::size_t b = 0; b < problem.placing.size(); ++b) {
    const std::optional<Previous>& previous = problem.placing[b].previous;
    if (!previous) {
      const auto& left_out = problem.placing[b].cost_left_out;
      plan.cost.cost += left_out.value_or(0);
      plan.cost.unplaced += left_out ? 0 : 1;
      continue;
    }
    const Buffer& buffer = problem.table.buffers[b];
    Residency residency;
    residency.tensor = b;
    residency.start = buffer.start;
    residency.end = buffer.end;
    residency.memory = static_cast<int>(previous->memory);
    residency.offset = previous->offset;
    plan.residencies.push_back(residency);
  }
  // Costs, heights and peaks as stated are what this cannot know: the verifier says the first fault of
  // its list, and faults of these kinds come last.
  const auto faults = verify::VerifyMemories(problem, plan);
  for (const std::string& fault : faults) {
    const bool stated = fault.find("height") != std::string::npos ||
                        fault.find("peak") != std::string::npos ||
                        fault.find("cost") != std::string::npos;
    if (!stated) return std::nullopt;
  }
  if (problem.placing.empty()) return std::nullopt;
  for (const Residency& residency : plan.residencies) {
    const Placing& placing = problem.placing[residency.tensor];
    std::int64_t least = kMaxCost;
    if (placing.candidates.empty()) return std::nullopt;  // The tests below give candidates.
    for (const Candidate& candidate : placing.candidates) {
      if (static_cast<int>(candidate.memory) != residency.memory) continue;
      if (candidate.offset && *candidate.offset != residency.offset) continue;
      least = std::min(least, candidate.cost);
    }
    plan.cost.cost += least;
  }
  return plan.cost;
}

// One step of a compiler's loop: some buffers are placed, and the others are new.
void GiveHistory(std::uint64_t seed, MemoryProblem& problem) {
  Random random(seed);
  if (problem.placing.empty()) problem.placing.resize(problem.table.buffers.size());
  MemoryProblem before = problem;
  // What is new may be left out at no cost, and has no place whatever the plan says.
  std::vector<bool> fresh;
  for (Placing& placing : before.placing) {
    placing.previous.reset();
    fresh.push_back(random.Chance(0.3));
    if (fresh.back()) placing.cost_left_out = 0;
  }
  Budget budget;
  const auto plan = PlaceInMemories(before, {}, budget);
  ASSERT_TRUE(plan.has_value());
  for (Placing& placing : problem.placing) placing.previous.reset();
  for (const Residency& residency : plan->best->residencies) {
    if (fresh[residency.tensor]) continue;
    problem.placing[residency.tensor].previous =
        Previous{static_cast<std::size_t>(residency.memory), residency.offset,
                 random.Chance(0.3) ? random.Uniform(0, 4) : 0};
  }
}

struct Counts {
  int cases = 0;
  int optimal = 0;      // Claimed.
  int best = 0;         // As good as the oracle's, claimed or not.
  int fewest = 0;       // Moves proved the fewest, and not none.
  int with_plan = 0;    // The previous places were a plan.
  int limit_binds = 0;  // With the limit on moves the best plan costs more.
};

void Check(std::uint64_t seed, bool history, Counts& counts) {
  MemoryProblem problem = RandomMemoryProblem(seed);
  if (history) GiveHistory(seed, problem);
  SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + ToCpp(problem));
  ASSERT_TRUE(Validate(problem).has_value()) << Validate(problem).error().message;
  RepackOptions options;
  if (seed % 3 == 0) options.most_moved = static_cast<Bytes>(seed / 3 % 8);
  if (seed % 5 == 0) options.exchange = false;
  if (seed % 7 == 0) options.place_nodes = 0;
  Budget budget;
  const auto answer = Repack(problem, options, budget);
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  ASSERT_TRUE(answer->best.has_value());
  const PlanCost cost = answer->best->cost;
  const PlanCost bound = answer->cost_bound;

  // A plan, by both judges, and within the limit.
  const Result<void> valid = ValidatePlan(problem, *answer->best);
  EXPECT_TRUE(valid.has_value()) << valid.error().message;
  EXPECT_EQ(verify::VerifyMemories(problem, *answer->best), std::vector<std::string>());
  if (options.most_moved) {
    EXPECT_LE(cost.moved, *options.most_moved);
  }

  // Never better than the best plan; as good where it says so.
  const PlanCost best = OracleRepack(problem, kHighest, std::nullopt);
  const PlanCost allowed =
      options.most_moved ? OracleRepack(problem, kHighest, options.most_moved) : best;
  const auto costs = [](const PlanCost& each) { return std::pair(each.unplaced, each.cost); };
  EXPECT_GE(cost, allowed);
  EXPECT_LE(costs(bound), costs(best));
  EXPECT_LE(costs(bound), costs(cost));
  if (answer->outcome == Outcome::kOptimal) {
    EXPECT_EQ(costs(cost), costs(best));
    EXPECT_EQ(cost.unplaced, 0u);
  }
  if (answer->outcome == Outcome::kInfeasible) {
    EXPECT_GT(best.unplaced, 0u);
  }
  EXPECT_EQ(answer->fits(), cost.unplaced == 0);
  // No plan of that cost moves less than the bound.
  if (costs(cost) == costs(best)) {
    EXPECT_LE(bound.moved, best.moved);
  }

  // Never worse than the plan before.
  const std::optional<PlanCost> before = PreviousPlan(problem);
  if (before) {
    EXPECT_LE(costs(cost), costs(*before));
  }

  Budget again;
  const auto second = Repack(problem, options, again);
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(*second->best, *answer->best);
  EXPECT_EQ(second->cost_bound, answer->cost_bound);
  EXPECT_EQ(second->nodes, answer->nodes);

  ++counts.cases;
  counts.optimal += answer->outcome == Outcome::kOptimal ? 1 : 0;
  counts.best += costs(cost) == costs(allowed) ? 1 : 0;
  counts.fewest += bound.moved > 0 && bound.moved == cost.moved ? 1 : 0;
  counts.with_plan += before ? 1 : 0;
  counts.limit_binds += costs(best) < costs(allowed) ? 1 : 0;
}

TEST(RepackOracle, AnyPreviousPlaces) {
  Counts counts;
  for (std::uint64_t seed = 1; seed <= Seeds(1500); ++seed) {
    Check(seed, false, counts);
    if (HasFatalFailure() || HasNonfatalFailure()) return;
  }
  RecordProperty("optimal", counts.optimal);
  RecordProperty("best", counts.best);
  EXPECT_GT(counts.optimal, counts.cases * 2 / 5);
  EXPECT_GT(counts.best, counts.cases * 4 / 5);
}

TEST(RepackOracle, AfterAPlanOfSome) {
  Counts counts;
  for (std::uint64_t seed = 1501; seed <= 1500 + Seeds(1500); ++seed) {
    Check(seed, true, counts);
    if (HasFatalFailure() || HasNonfatalFailure()) return;
  }
  RecordProperty("optimal", counts.optimal);
  RecordProperty("best", counts.best);
  RecordProperty("fewest", counts.fewest);
  RecordProperty("with_plan", counts.with_plan);
  RecordProperty("limit_binds", counts.limit_binds);
  EXPECT_GT(counts.optimal, counts.cases * 2 / 5);
  EXPECT_GT(counts.best, counts.cases * 5 / 6);
  EXPECT_GT(counts.with_plan, counts.cases / 5);
  // Rare ones.
  EXPECT_GE(counts.fewest, counts.cases / 300);
  EXPECT_GE(counts.limit_binds, counts.cases / 500);
}

// One memory, at no cost there; all must be placed.
MemoryProblem OneMemory(std::vector<Buffer> buffers, Bytes capacity) {
  MemoryProblem problem;
  problem.table.buffers = std::move(buffers);
  problem.memories = {{.name = "fast", .capacity = capacity}};
  problem.placing.resize(problem.table.buffers.size());
  for (Placing& placing : problem.placing) placing.candidates = {{0, 0, {}}};
  return problem;
}

TEST(Repack, MovesTheSmallerOfTwo) {
  MemoryProblem problem = OneMemory({{"a", 0, 4, 5}, {"b", 0, 4, 2}, {"c", 2, 6, 3}}, 10);
  problem.placing[0].previous = Previous{0, 0};  // Free: [5, 7) and [9, 10).
  problem.placing[1].previous = Previous{0, 7};
  Budget budget;
  const auto answer = Repack(problem, {}, budget);
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->outcome, Outcome::kOptimal);
  EXPECT_EQ(answer->best->cost, (PlanCost{0, 0, 2}));
  EXPECT_EQ(answer->cost_bound, (PlanCost{0, 0, 2}));
  EXPECT_EQ(answer->best->residencies[0].offset, 0);
}

TEST(Repack, StaysWhereEverythingFits) {
  MemoryProblem problem = OneMemory({{"a", 0, 4, 3}, {"b", 0, 4, 2}, {"c", 2, 6, 3}}, 10);
  problem.placing[0].previous = Previous{0, 7};
  problem.placing[1].previous = Previous{0, 1};
  Budget budget;
  const auto answer = Repack(problem, {}, budget);
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->best->cost, (PlanCost{0, 0, 0}));
  EXPECT_EQ(answer->best->residencies[2].offset, 3);
}

TEST(Repack, LeavesOutWhatIsWorthLess) {
  MemoryProblem problem = OneMemory({{"old", 0, 4, 6}, {"new", 0, 4, 6}}, 10);
  problem.placing[0].previous = Previous{0, 0};
  problem.placing[0].cost_left_out = 5;
  problem.placing[1].cost_left_out = 7;
  Budget budget;
  auto answer = Repack(problem, {}, budget);
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->outcome, Outcome::kFeasible);
  EXPECT_EQ(answer->cost_bound.cost, 2);  // By sums: 2 of 6 bytes of the one that is worth less.
  EXPECT_EQ(answer->best->cost, (PlanCost{0, 5, 0}));
  RepackOptions keep;
  keep.exchange = false;
  Budget other;
  answer = Repack(problem, keep, other);
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->outcome, Outcome::kFeasible);
  EXPECT_EQ(answer->best->cost, (PlanCost{0, 7, 0}));
}

// What lies in a dear memory moves to the cheap one, whatever else is placed there.
TEST(Repack, LeavesNothingWhereItIsDear) {
  MemoryProblem problem;
  problem.table.buffers = {{"v", 0, 4, 50}, {"u", 0, 4, 50}};
  problem.memories = {{.name = "tcm", .capacity = 100}, {.name = "dram"}};
  problem.placing.resize(2);
  for (Placing& placing : problem.placing) placing.candidates = {{0, 1}, {1, 10}};
  problem.placing[0].previous = Previous{1, 0, 0};
  Budget budget;
  const auto answer = Repack(problem, {}, budget);
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->best->cost.cost, 2);
}

TEST(Repack, KeepsPlacesThatCostMoreThanOthers) {
  MemoryProblem problem;
  problem.table.buffers = {{"b0", 2, 6, 1}, {"b1", 3, 4, 3}, {"b2", 1, 3, 1}, {"b3", 1, 3, 4}};
  problem.memories = {{.name = "a", .capacity = 6}, {.name = "b"}};
  problem.placing.resize(4);
  problem.placing[0].candidates = {{0, 2, 2}, {0, 3, 1}, {1, 0}};
  problem.placing[0].cost_left_out = 6;
  problem.placing[0].previous = Previous{0, 2, 0};
  problem.placing[1].candidates = {{0, 1}, {1, 3}};
  problem.placing[1].previous = Previous{1, 3, 0};
  problem.placing[2].candidates = {{0, 1}, {1, 2}};
  problem.placing[2].cost_left_out = 2;
  problem.placing[2].previous = Previous{0, 4, 0};
  problem.placing[3].candidates = {{0, 0}};
  problem.placing[3].cost_left_out = 2;
  Budget budget;
  const auto answer = Repack(problem, {}, budget);
  ASSERT_TRUE(answer.has_value());
  EXPECT_TRUE(ValidatePlan(problem, *answer->best).has_value());
  EXPECT_LE(answer->best->cost.cost, 2);
}

TEST(Repack, RespectsTheLimitOnMoves) {
  MemoryProblem problem = OneMemory({{"a", 0, 4, 5}, {"b", 0, 4, 2}, {"c", 2, 6, 3}}, 10);
  problem.placing[0].previous = Previous{0, 0};
  problem.placing[1].previous = Previous{0, 7};
  RepackOptions options;
  options.most_moved = 1;
  Budget budget;
  const auto answer = Repack(problem, options, budget);
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->outcome, Outcome::kUnknown);
  EXPECT_EQ(answer->best->cost, (PlanCost{1, 0, 0}));
}

TEST(Repack, AnswersWithinItsBudget) {
  MemoryProblem problem = OneMemory({}, 100);
  Random random(1);
  for (int i = 0; i < 60; ++i) {
    const Step start = random.Uniform(0, 50);
    problem.table.buffers.push_back(
        {"b" + std::to_string(i), start, start + random.Uniform(5, 30), random.Uniform(5, 30)});
    problem.placing.push_back({.candidates = {{0, 0, {}}}, .cost_left_out = random.Uniform(1, 99)});
  }
  std::optional<PlanCost> last;
  for (const std::int64_t nodes : {0, 100, 10'000, 1'000'000}) {
    Budget budget;
    budget.SetNodeLimit(nodes);
    const auto answer = Repack(problem, {}, budget);
    ASSERT_TRUE(answer.has_value());
    EXPECT_LE(answer->nodes, nodes);
    EXPECT_EQ(answer->stopped == StopReason::kAnswered, answer->outcome == Outcome::kOptimal);
    last = answer->best->cost;
  }
  Budget cancelled;
  cancelled.Cancel();
  const auto nothing = Repack(problem, {}, cancelled);
  ASSERT_TRUE(nothing.has_value());
  EXPECT_TRUE(nothing->best.has_value());
  EXPECT_LE(last->cost, nothing->best->cost.cost);
}

// Some cannot place every table: gaps with windows, pins.
TEST(Repack, AsksAnyAlgorithm) {
  for (const AlgorithmInfo& info : Algorithms()) {
    RepackOptions options;
    options.place.algorithm = info.algorithm;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
      const MemoryProblem problem = RandomMemoryProblem(seed);
      Budget budget;
      const auto answer = Repack(problem, options, budget);
      ASSERT_TRUE(answer.has_value()) << info.name << ", seed " << seed;
      EXPECT_EQ(verify::VerifyMemories(problem, *answer->best), std::vector<std::string>())
          << info.name << ", seed " << seed;
    }
  }
}

TEST(Repack, SaysWhatIsWrong) {
  const auto complaint = [](const MemoryProblem& problem, const RepackOptions& options) {
    Budget budget;
    const auto answer = Repack(problem, options, budget);
    return answer ? std::string("none") : answer.error().message;
  };
  MemoryProblem problem = OneMemory({{"a", 0, 4, 5}}, 10);
  RepackOptions options;
  options.most_moved = -1;
  EXPECT_EQ(complaint(problem, options), "most_moved is -1 but must be at least 0");
  options = {};
  options.place_nodes = -5;
  EXPECT_EQ(complaint(problem, options), "place_nodes is -5 but must be at least 0");
  options = {};
  options.place.threads = 0;
  EXPECT_NE(complaint(problem, options), "none");
  problem.placing[0].previous = Previous{3, 0};
  EXPECT_NE(complaint(problem, {}).find("buffer \"a\""), std::string::npos)
      << complaint(problem, {});
  problem.placing[0].previous.reset();
  problem.table.buffers[0].size = -1;
  EXPECT_NE(complaint(problem, {}).find("buffer \"a\""), std::string::npos);
}

}  // namespace
}  // namespace berth::internal
