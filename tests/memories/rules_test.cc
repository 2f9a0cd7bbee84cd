// What a problem and a plan must keep, and what errors say.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "berth/memories.h"
#include "berth/repack.h"
#include "tools/verify/memories.h"

namespace berth {
namespace {

MemoryProblem Small() {
  MemoryProblem problem;
  problem.table.buffers = {{"a", 0, 3, 4}, {"b", 1, 5, 4}, {"c", 2, 4, 2}};
  problem.memories = {{.name = "tcm", .capacity = 6, .read = {1, 2}},
                      {.name = "dram", .read = {5, 1}}};
  problem.placing = {{.bytes_read = 100}, {.bytes_read = 4}, {.bytes_read = 40}};
  return problem;
}

TEST(PlaceInMemories, GivesTheBusiestTheFastestMemory) {
  Budget budget;
  const auto answer = PlaceInMemories(Small(), {}, budget);
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  EXPECT_EQ(answer->outcome, Outcome::kOptimal);
  EXPECT_EQ(answer->best->cost.cost, 50 + 20 + 20);
  EXPECT_EQ(answer->best->residencies[0].memory, 0);
  EXPECT_EQ(answer->best->residencies[1].memory, 1);
  EXPECT_EQ(answer->best->residencies[2].memory, 0);
  ASSERT_EQ(answer->best->memories.size(), 2u);
  EXPECT_EQ(answer->best->memories[0].height, 6);
}

// Three buffers that are live together, each with 70 places of random costs: every combination is tried.
TEST(PlaceInMemories, ChoosesAmongManyPlaces) {
  constexpr Bytes kPlaces = 70;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    internal::Random random(seed);
    MemoryProblem problem;
    problem.memories = {{.name = "slots", .capacity = kPlaces + 3}};
    for (const char* const id : {"a", "b", "c"}) {
      problem.table.buffers.push_back({id, 0, 2, random.Uniform(1, 3)});
      Placing& placing = problem.placing.emplace_back();
      placing.cost_left_out = 100;
      // Many of the cheap ones are in each other's way.
      for (Bytes o = 0; o < kPlaces; ++o) {
        placing.candidates.push_back({0, (o < 4 ? 0 : 20) + random.Uniform(0, 9), o});
      }
    }
    std::int64_t least = 300;
    const auto& buffers = problem.table.buffers;
    const auto apart = [&](std::size_t i, Bytes x, std::size_t j, Bytes y) {
      return x + buffers[i].size <= y || y + buffers[j].size <= x;
    };
    const auto cost = [&](std::size_t b, Bytes o) {
      return o < 0 ? 100 : problem.placing[b].candidates[static_cast<std::size_t>(o)].cost;
    };
    for (Bytes x = -1; x < kPlaces; ++x) {
      for (Bytes y = -1; y < kPlaces; ++y) {
        if (x >= 0 && y >= 0 && !apart(0, x, 1, y)) continue;
        for (Bytes z = -1; z < kPlaces; ++z) {
          const bool fits = z < 0 || ((x < 0 || apart(0, x, 2, z)) && (y < 0 || apart(1, y, 2, z)));
          if (fits) least = std::min(least, cost(0, x) + cost(1, y) + cost(2, z));
        }
      }
    }
    Budget budget;
    const auto answer = PlaceInMemories(problem, {}, budget);
    ASSERT_TRUE(answer.has_value()) << answer.error().message;
    EXPECT_EQ(answer->outcome, Outcome::kOptimal);
    EXPECT_EQ(answer->best->cost.cost, least);
    EXPECT_EQ(verify::VerifyMemories(problem, *answer->best), std::vector<std::string>());
    const auto repacked = Repack(problem, {}, budget);
    ASSERT_TRUE(repacked.has_value()) << repacked.error().message;
    EXPECT_GE(repacked->best->cost.cost, least);
    EXPECT_LE(repacked->cost_bound.cost, least);
  }
}

// A hundred buffers share a hundred slots that are theirs by contract.
TEST(PlaceInMemories, PlacesBuffersWithAHundredPlacesEach) {
  MemoryProblem problem;
  problem.memories = {{.name = "slots", .capacity = 6400}, {.name = "dram"}};
  internal::Random random(5);
  for (int i = 0; i < 100; ++i) {
    const Step start = random.Uniform(0, 80);
    problem.table.buffers.push_back(
        {"b" + std::to_string(i), start, start + random.Uniform(5, 60), 64});
    Placing& placing = problem.placing.emplace_back();
    for (Bytes slot = 0; slot < 100; ++slot) {
      placing.candidates.push_back({0, random.Uniform(0, 50), slot * 64});
    }
    placing.candidates.push_back({1, 500, {}});
  }
  Budget budget;
  budget.SetNodeLimit(200'000);
  const auto answer = PlaceInMemories(problem, {}, budget);
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  EXPECT_EQ(answer->best->cost.unplaced, 0U);
  EXPECT_LT(answer->best->cost.cost, 100 * 50);
  EXPECT_EQ(verify::VerifyMemories(problem, *answer->best), std::vector<std::string>());
}

TEST(PlaceInMemories, SaysWhatCannotBePlaced) {
  MemoryProblem problem = Small();
  problem.memories.pop_back();
  Budget budget;
  const auto answer = PlaceInMemories(problem, {}, budget);
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->outcome, Outcome::kInfeasible);
  EXPECT_EQ(answer->best->cost.unplaced, 1u);
  EXPECT_EQ(answer->cost_bound.unplaced, 1u);
}

TEST(PlaceInMemories, KeepsABufferWhereItWasIfAMoveCostsMore) {
  for (const std::int64_t move : {0, 100}) {
    MemoryProblem problem = Small();
    problem.placing[0].previous = Previous{1, 8, 200 * move};
    Budget budget;
    const auto answer = PlaceInMemories(problem, {}, budget);
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(answer->outcome, Outcome::kOptimal);
    EXPECT_EQ(answer->best->residencies[0].memory, move > 0 ? 1 : 0);
    if (move > 0) {
      EXPECT_EQ(answer->best->residencies[0].offset, 8);
      EXPECT_EQ(answer->best->cost.moved, 0);
    } else {
      EXPECT_EQ(answer->best->cost.moved, 4);
    }
  }
}

TEST(PlaceInMemories, IsTheSameEveryTime) {
  MemoryProblem problem;
  problem.memories = {{.name = "fast", .capacity = 40}};
  for (int i = 0; i < 30; ++i) {
    problem.table.buffers.push_back({"b" + std::to_string(i), i, i + 3 + i % 5, 3 + i * 7 % 11});
    problem.placing.push_back({.cost_left_out = 1 + i * 13 % 17});
  }
  Budget first;
  first.SetNodeLimit(5000);
  Budget second;
  second.SetNodeLimit(5000);
  const auto a = PlaceInMemories(problem, {}, first);
  const auto b = PlaceInMemories(problem, {}, second);
  ASSERT_TRUE(a.has_value() && b.has_value());
  EXPECT_EQ(*a->best, *b->best);
  EXPECT_EQ(a->nodes, b->nodes);
}

TEST(PlaceInMemories, HasAPlanAfterCancellation) {
  Budget budget;
  budget.Cancel();
  const auto answer = PlaceInMemories(Small(), {}, budget);
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->outcome, Outcome::kUnknown);
  EXPECT_EQ(answer->best->cost.unplaced, 3u);
  EXPECT_EQ(answer->stopped, StopReason::kBudget);
}

TEST(PlaceInMemories, TakesAnEmptyTable) {
  MemoryProblem problem;
  problem.memories = {{.name = "m", .capacity = 4}};
  Budget budget;
  const auto answer = PlaceInMemories(problem, {}, budget);
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  EXPECT_EQ(answer->outcome, Outcome::kOptimal);
}

struct Fault {
  const char* what;
  void (*make)(MemoryProblem& problem);
  const char* says;
};

TEST(ValidateMemories, NamesWhatIsWrong) {
  const Fault faults[] = {
      {"no memory", [](MemoryProblem& p) { p.memories.clear(); }, "there is no memory"},
      {"capacity of the table", [](MemoryProblem& p) { p.table.capacity = 5; },
       "the table has a capacity"},
      {"name", [](MemoryProblem& p) { p.memories[1].name = "tcm"; }, "two memories have the name"},
      {"no name", [](MemoryProblem& p) { p.memories[1].name.clear(); }, "no name"},
      {"capacity", [](MemoryProblem& p) { p.memories[0].capacity = -1; }, "capacity is -1"},
      {"alignment", [](MemoryProblem& p) { p.memories[0].alignment = 0; }, "alignment is 0"},
      {"base",
       [](MemoryProblem& p) {
         p.memories[0].alignment = 8;
         p.memories[0].base = 12;
       },
       "base is 12 but must be a multiple of the alignment, 8"},
      {"negative base", [](MemoryProblem& p) { p.memories[0].base = -4; }, "base is -4"},
      {"base of a buffer",
       [](MemoryProblem& p) {
         p.table.buffers[0].alignment = 8;
         p.memories[0].base = 12;
       },
       "its alignment is 8, of which the base of memory"},
      {"rate",
       [](MemoryProblem& p) {
         p.memories[0].read = {1, 0};
       },
       "for every 0 bytes"},
      {"reserved",
       [](MemoryProblem& p) {
         p.memories[0].reserved = {{2, 2}};
       },
       "reserved range [2, 2)"},
      {"reserved beyond",
       [](MemoryProblem& p) {
         p.memories[0].reserved = {{2, 9}};
       },
       "exceeds the capacity 6"},
      {"reserved twice",
       [](MemoryProblem& p) {
         p.memories[0].reserved = {{0, 2}, {1, 3}};
       },
       "overlaps the reserved range [0, 2)"},
      {"placing", [](MemoryProblem& p) { p.placing.pop_back(); }, "placing is given for 2 of 3"},
      {"candidate",
       [](MemoryProblem& p) {
         p.placing[1].candidates = {{7, 0, {}}};
       },
       "buffer \"b\": candidate memory 7 does not exist"},
      {"candidate twice",
       [](MemoryProblem& p) {
         p.placing[1].candidates = {{0, 0, {}}, {0, 1, {}}};
       },
       "is given twice"},
      {"cost",
       [](MemoryProblem& p) {
         p.placing[1].candidates = {{0, -4, {}}};
       },
       "the cost -4"},
      {"offset",
       [](MemoryProblem& p) {
         p.placing[1].candidates = {{0, 0, -4}};
       },
       "the offset -4"},
      {"left out", [](MemoryProblem& p) { p.placing[2].cost_left_out = -1; },
       "buffer \"c\": the cost of being left out is -1"},
      {"previous",
       [](MemoryProblem& p) {
         p.placing[2].previous = Previous{3, 0, 0};
       },
       "its previous place, memory 3"},
      {"sum",
       [](MemoryProblem& p) {
         p.placing[0].cost_left_out = kMaxCost;
         p.placing[1].cost_left_out = kMaxCost;
       },
       "the sum of costs"},
      {"reads", [](MemoryProblem& p) { p.placing[0].bytes_read = -1; }, "bytes read"},
      {"together",
       [](MemoryProblem& p) {
         p.together = {{{0, 0}, {0, 4}}};
       },
       "two places"},
      {"together unknown",
       [](MemoryProblem& p) {
         p.together = {{{9, 0}}};
       },
       "names buffer 9"},
      {"apart",
       [](MemoryProblem& p) {
         p.apart = {{1, 1}};
       },
       "cannot be apart"},
      {"apart and together",
       [](MemoryProblem& p) {
         p.together = {{{0, 0}, {1, 2}}};
         p.apart = {{0, 1}};
       },
       "apart from and together with"},
  };
  for (const Fault& fault : faults) {
    SCOPED_TRACE(fault.what);
    MemoryProblem problem = Small();
    fault.make(problem);
    const Result<void> valid = Validate(problem);
    ASSERT_FALSE(valid.has_value());
    EXPECT_EQ(valid.error().code, ErrorCode::kInvalidProblem);
    EXPECT_NE(valid.error().message.find(fault.says), std::string::npos) << valid.error().message;
    Budget budget;
    EXPECT_FALSE(PlaceInMemories(problem, {}, budget).has_value());
  }
}

struct PlanFault {
  const char* what;
  void (*make)(MemoryPlan& plan);
};

TEST(ValidateMemories, AlignmentsCountOnlyWhereTheBufferMayBe) {
  MemoryProblem problem = Small();
  problem.table.buffers[0].alignment = 8;
  problem.memories[0].base = 12;
  problem.placing[0].candidates = {{1, 5, {}}};
  const auto valid = Validate(problem);
  EXPECT_TRUE(valid.has_value()) << valid.error().message;
}

TEST(ValidateMemoryPlan, FindsEveryFault) {
  MemoryProblem problem = Small();
  problem.memories[1].reserved = {{100, 104}};
  problem.apart = {{0, 2}};
  Budget budget;
  const auto answer = PlaceInMemories(problem, {}, budget);
  ASSERT_TRUE(answer.has_value());
  const PlanFault faults[] = {
      {"overlap", [](MemoryPlan& p) { p.residencies[2].offset = p.residencies[0].offset; }},
      {"capacity", [](MemoryPlan& p) { p.residencies[2].offset = 6; }},
      {"negative", [](MemoryPlan& p) { p.residencies[2].offset = -1; }},
      {"reserved", [](MemoryPlan& p) { p.residencies[1].offset = 101; }},
      {"memory", [](MemoryPlan& p) { p.residencies[1].memory = 2; }},
      {"lifetime", [](MemoryPlan& p) { p.residencies[1].end = 4; }},
      {"cost", [](MemoryPlan& p) { p.cost.cost += 1; }},
      {"moved", [](MemoryPlan& p) { p.cost.moved += 1; }},
      {"missing", [](MemoryPlan& p) { p.residencies.pop_back(); }},
      {"height", [](MemoryPlan& p) { p.memories[0].height += 1; }},
      {"order", [](MemoryPlan& p) { std::swap(p.residencies[0], p.residencies[1]); }},
  };
  ASSERT_TRUE(ValidatePlan(problem, *answer->best).has_value());
  for (const PlanFault& fault : faults) {
    SCOPED_TRACE(fault.what);
    MemoryPlan plan = *answer->best;
    fault.make(plan);
    const Result<void> valid = ValidatePlan(problem, plan);
    ASSERT_FALSE(valid.has_value());
    EXPECT_EQ(valid.error().code, ErrorCode::kInvalidPlan);
    EXPECT_FALSE(verify::VerifyMemories(problem, plan).empty());
  }
}

}  // namespace
}  // namespace berth
