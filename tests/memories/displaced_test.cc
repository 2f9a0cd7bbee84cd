// Why buffers are not where they would cost the least, compared with trying every offset.
#include "berth/displaced.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "testing/memories_oracle.h"
#include "testing/seeds.h"

namespace berth {
namespace {

MemoryProblem Crowded() {
  MemoryProblem problem;
  problem.table.buffers = {{"a", 0, 3, 4}, {"b", 1, 5, 4}, {"c", 2, 4, 2}, {"big", 0, 5, 9}};
  problem.memories = {{.name = "tcm", .capacity = 6, .read = {1, 2}},
                      {.name = "dram", .read = {5, 1}}};
  problem.placing = {
      {.bytes_read = 100}, {.bytes_read = 4}, {.bytes_read = 40}, {.bytes_read = 10}};
  return problem;
}

// `places`: of each buffer, a memory and an offset; a memory of -1 leaves it out.
MemoryPlan PlanAt(const MemoryProblem& problem, const std::vector<std::pair<int, Bytes>>& places) {
  std::vector<Residency> residencies;
  for (std::size_t b = 0; b < places.size(); ++b) {
    if (places[b].first < 0) continue;
    const Buffer& buffer = problem.table.buffers[b];
    Residency r{.tensor = b, .start = buffer.start, .end = buffer.end, .offset = places[b].second};
    r.memory = places[b].first;
    residencies.push_back(r);
  }
  return PlanOf(problem, std::move(residencies));
}

TEST(FindDisplaced, SaysWhatIsInTheWay) {
  const MemoryProblem problem = Crowded();
  const MemoryPlan plan = PlanAt(problem, {{0, 0}, {1, 0}, {0, 4}, {1, 4}});
  ASSERT_TRUE(ValidatePlan(problem, plan).has_value());
  const auto found = FindDisplaced(problem, plan, 10);
  ASSERT_TRUE(found.has_value()) << found.error().message;
  ASSERT_EQ(found->size(), 2u);
  const Displaced& big = found->front();  // Would save the most, and fits nowhere.
  EXPECT_EQ(big.buffers, std::vector<std::size_t>{3});
  EXPECT_EQ(big.reason, DisplacedBy::kMemory);
  EXPECT_EQ(big.offset, std::nullopt);
  const Displaced& b = found->back();
  EXPECT_EQ(b.buffers, std::vector<std::size_t>{1});
  EXPECT_EQ(b.memory, 1u);
  EXPECT_EQ(b.cheaper, 0u);
  EXPECT_EQ(b.cost, 20);
  EXPECT_EQ(b.least, 2);
  EXPECT_EQ(b.reason, DisplacedBy::kBytes);
  EXPECT_EQ(b.step, 2);
  EXPECT_EQ(b.free, 0);
  EXPECT_EQ(b.needed, 4);
  // At 2 both others are in the way; at 0 only a, but c is worth less than a.
  EXPECT_EQ(b.offset, 0);
  EXPECT_EQ(b.in_the_way, std::vector<std::size_t>{0});
  EXPECT_EQ(b.saved, 500 - 50);
}

TEST(FindDisplaced, TellsPlacesFromBytesAndSeesWhatIsFree) {
  MemoryProblem problem = Crowded();
  problem.memories[0].capacity = 8;
  problem.table.buffers = {{"a", 0, 3, 2}, {"b", 2, 5, 4}, {"c", 2, 4, 2}};
  problem.placing.pop_back();
  // a in the middle: four bytes are free, two below and two above it.
  const MemoryPlan split = PlanAt(problem, {{0, 2}, {1, 0}, {0, 6}});
  auto found = FindDisplaced(problem, split, 10);
  ASSERT_TRUE(found.has_value());
  ASSERT_EQ(found->size(), 1u);
  EXPECT_EQ(found->front().reason, DisplacedBy::kPlaces);
  EXPECT_EQ(found->front().free, 4);
  EXPECT_EQ(found->front().needed, 4);
  EXPECT_FALSE(found->front().in_the_way.empty());
  const MemoryPlan poor = PlanAt(problem, {{0, 0}, {1, 0}, {0, 2}});
  found = FindDisplaced(problem, poor, 10);
  ASSERT_TRUE(found.has_value());
  ASSERT_EQ(found->size(), 1u);
  EXPECT_EQ(found->front().reason, DisplacedBy::kNothing);
  EXPECT_EQ(found->front().offset, 4);
  EXPECT_EQ(found->front().saved, 0);
}

TEST(FindDisplaced, KnowsWhatMustStayAndWhatIsLeftOut) {
  MemoryProblem problem = Crowded();
  problem.memories.pop_back();
  problem.placing[2].cost_left_out = 30;
  const MemoryPlan plan = PlanAt(problem, {{0, 0}, {-1, 0}, {-1, 0}, {-1, 0}});
  const auto found = FindDisplaced(problem, plan, 10);
  ASSERT_TRUE(found.has_value());
  ASSERT_EQ(found->size(), 3u);
  EXPECT_TRUE(found->at(0).must);
  EXPECT_TRUE(found->at(1).must);
  const auto b = std::find_if(found->begin(), found->end(),
                              [](const Displaced& each) { return each.buffers[0] == 1; });
  EXPECT_EQ(b->memory, std::nullopt);
  EXPECT_EQ(b->saved, std::nullopt);  // a has no other place.
  const Displaced& c = found->back();
  EXPECT_EQ(c.cost, 30);
  EXPECT_EQ(c.least, 20);
  EXPECT_EQ(c.reason, DisplacedBy::kNothing);
  EXPECT_EQ(FindDisplaced(problem, plan, 1)->size(), 1u);
}

// With what is in the way out of the plan, and the buffers at the offset, the plan is valid; and
// without anything in the way it costs less.
TEST(FindDisplaced, NamesAllThatIsInTheWayOnRandomProblems) {
  int judged = 0;
  for (std::uint64_t seed = 1; seed <= internal::Seeds(400); ++seed) {
    SCOPED_TRACE(seed);
    MemoryProblem problem = internal::RandomMemoryProblem(seed);
    problem.together.clear();  // An offset is that of the buffer.
    Budget budget;
    budget.SetNodeLimit(20);
    const auto answer = PlaceInMemories(problem, {}, budget);
    if (!answer || !answer->best) continue;
    const auto found = FindDisplaced(problem, *answer->best, 100);
    ASSERT_TRUE(found.has_value()) << found.error().message;
    for (const Displaced& each : *found) {
      const std::size_t b = each.buffers.front();
      if (answer->outcome == Outcome::kOptimal) {
        EXPECT_NE(each.reason, DisplacedBy::kNothing);
      }
      if (!each.offset) continue;
      std::set<std::size_t> out(each.in_the_way.begin(), each.in_the_way.end());
      EXPECT_EQ(out.empty(), each.reason == DisplacedBy::kNothing);
      if (each.step && each.free < each.needed) {
        EXPECT_EQ(each.reason, DisplacedBy::kBytes);
      }
      MemoryProblem lenient = problem;  // What must be placed may be out.
      if (lenient.placing.empty()) lenient.placing.resize(problem.table.buffers.size());
      for (Placing& placing : lenient.placing) placing.cost_left_out = 0;
      std::vector<Residency> residencies;
      for (const Residency& r : answer->best->residencies) {
        if (r.tensor != b && !out.contains(r.tensor)) residencies.push_back(r);
      }
      const Buffer& buffer = problem.table.buffers[b];
      Residency r{.tensor = b, .start = buffer.start, .end = buffer.end, .offset = *each.offset};
      r.memory = static_cast<int>(each.cheaper);
      residencies.push_back(r);
      std::sort(residencies.begin(), residencies.end(),
                [](const Residency& x, const Residency& y) { return x.tensor < y.tensor; });
      const auto valid = ValidatePlan(lenient, PlanOf(lenient, residencies));
      EXPECT_TRUE(valid.has_value()) << valid.error().message << internal::ToCpp(problem);
      ++judged;
    }
  }
  EXPECT_GT(judged, static_cast<int>(internal::Seeds(400) / 8));
}

}  // namespace
}  // namespace berth
