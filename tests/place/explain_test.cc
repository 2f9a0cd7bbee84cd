// Conflicts are real and minimal, and their figures add up.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "berth/io.h"
#include "berth/place.h"
#include "testing/differential.h"
#include "testing/oracle.h"

namespace berth::internal {
namespace {

std::optional<std::string> JudgeConflict(const Problem& problem) {
  Budget budget;
  const auto conflict = Explain(problem, {}, budget);
  if (!conflict) return conflict.error().message;
  const bool fits = OracleFits(problem, *problem.capacity).has_value();
  if (fits != (conflict->outcome == Outcome::kOptimal || conflict->outcome == Outcome::kFeasible)) {
    return "wrong about whether it fits";
  }
  if (fits) return conflict->buffers.empty() ? std::nullopt : std::optional<std::string>("blames");
  if (conflict->outcome != Outcome::kInfeasible) return "gave up without a limit";
  if (conflict->pins_collide) {
    if (conflict->buffers.size() != 2) return "not a pair";
    bool each_fits = true;
    for (const std::size_t b : conflict->buffers) {
      const Buffer& buffer = problem.buffers[b];
      each_fits &= buffer.offset.value_or(0) + buffer.size <= *problem.capacity;
    }
    return conflict->minimal == each_fits ? std::nullopt
                                          : std::optional<std::string>("wrong about minimal");
  }
  if (!conflict->minimal) return "not minimal without a limit";
  if (conflict->short_by < 1) return "short by nothing";
  if (conflict->works_with && !OracleFits(problem, *conflict->works_with)) {
    return "does not work with what it says";
  }
  Problem part;
  part.capacity = problem.capacity;
  for (const std::size_t b : conflict->buffers) part.buffers.push_back(problem.buffers[b]);
  if (OracleFits(part, *problem.capacity)) return "the buffers it names fit";
  if (OracleFits(part, *problem.capacity + conflict->short_by - 1)) {
    return "fits with fewer bytes more than it says are missing";
  }
  for (std::size_t left_out = 0; left_out < part.buffers.size(); ++left_out) {
    Problem rest = part;
    rest.buffers.erase(rest.buffers.begin() + static_cast<std::ptrdiff_t>(left_out));
    if (!OracleFits(rest, *problem.capacity)) return "a buffer of the conflict is not needed";
  }
  return std::nullopt;
}

TEST(Explain, ConflictsAreConflictsAndMinimal) {
  ProblemKnobs knobs;
  knobs.with_capacity = true;
  knobs.capacity_below = 3;
  knobs.capacity_above = 1;
  EXPECT_TRUE(ForRandomProblems(1, 2000, knobs, JudgeConflict));
}

TEST(Explain, AlsoWithAlignmentPinsAndGaps) {
  ProblemKnobs knobs = AllKnobs();
  knobs.with_capacity = true;
  knobs.capacity_below = 2;
  knobs.capacity_above = 3;
  knobs.pins_may_collide = true;
  EXPECT_TRUE(ForRandomProblems(40'000, 3000, knobs, JudgeConflict));
}

// Two pins overlap, and one of them ends above the capacity: without the other it still does not fit.
TEST(Explain, PinsAboveTheCapacityAreNoMinimalPair) {
  Problem problem;
  problem.buffers = {{"low", 0, 1, 6, 1, 1, {}, {}}, {"high", 0, 1, 4, 1, 6, {}, {}}};
  for (const Bytes capacity : {9, 10}) {
    problem.capacity = capacity;
    Budget budget;
    const auto conflict = Explain(problem, {}, budget);
    ASSERT_TRUE(conflict.has_value());
    EXPECT_TRUE(conflict->pins_collide);
    EXPECT_EQ(conflict->buffers, (std::vector<std::size_t>{0, 1}));
    EXPECT_EQ(conflict->minimal, capacity == 10);
  }
}

// The tables faults/explain-*.csv, if the environment variable BERTH_DATA names a folder that
// contains them: some conflicts in them were once called minimal wrongly.
TEST(Explain, FaultyTables) {
  const char* const data = std::getenv("BERTH_DATA");
  const auto folder = std::filesystem::path(data == nullptr ? "" : data) / "faults";
  int tables = 0;
  if (std::filesystem::exists(folder)) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (!entry.path().filename().string().starts_with("explain-")) continue;
      SCOPED_TRACE(entry.path());
      const auto text = ReadFile(entry.path().string());
      ASSERT_TRUE(text.has_value());
      auto table = ReadCsv(*text, entry.path().filename().string());
      ASSERT_TRUE(table.has_value()) << table.error().message;
      ++tables;
      for (Bytes capacity = 1; capacity <= 12; ++capacity) {
        table->problem.capacity = capacity;
        EXPECT_EQ(JudgeConflict(table->problem), std::nullopt) << capacity;
      }
    }
  }
  if (tables == 0) GTEST_SKIP() << "BERTH_DATA names no folder with faults/explain-*.csv";
}

TEST(Explain, SaysWhichStepAndHowManyBytes) {
  Problem problem;
  problem.capacity = 10;
  problem.buffers = {{"small", 0, 9, 1, 1, {}, {}, {}},
                     {"big", 2, 6, 7, 1, {}, {}, {}},
                     {"other", 4, 8, 6, 1, {}, {}, {}}};
  Budget budget;
  const auto conflict = Explain(problem, {}, budget);
  ASSERT_TRUE(conflict.has_value());
  EXPECT_EQ(conflict->outcome, Outcome::kInfeasible);
  EXPECT_EQ(conflict->buffers, (std::vector<std::size_t>{1, 2}));
  EXPECT_TRUE(conflict->minimal);
  EXPECT_EQ(conflict->step, 4);
  EXPECT_EQ(conflict->load, 13);
  EXPECT_EQ(conflict->short_by, 3);
  EXPECT_EQ(conflict->works_with, 14);
  ASSERT_TRUE(conflict->whole.has_value() && conflict->whole->best.has_value());
  EXPECT_EQ(conflict->whole->best->height(), 14);
  EXPECT_EQ(conflict->whole->height_bound, conflict->height_bound);
}

TEST(Explain, GivesAWorkingCapacityForAnyBudget) {
  Problem problem;
  problem.capacity = 300;
  for (int b = 0; b < 60; ++b) {
    problem.buffers.push_back({std::to_string(b), b % 5, b % 5 + 6, 3 + b % 9, 8, {}, {}, {}});
  }
  Budget budget;
  budget.SetNodeLimit(0);
  const auto conflict = Explain(problem, {}, budget);
  ASSERT_TRUE(conflict.has_value());
  EXPECT_EQ(conflict->outcome, Outcome::kInfeasible);
  EXPECT_TRUE(conflict->works_with.has_value());
}

TEST(Explain, PinsThatCollideFitNoCapacity) {
  Problem problem;
  problem.buffers = {{"a", 0, 3, 10, 1, 0, {}, {}},
                     {"free", 0, 3, 10, 1, {}, {}, {}},
                     {"b", 1, 4, 10, 1, 5, {}, {}}};
  for (const bool with_capacity : {false, true}) {
    if (with_capacity) problem.capacity = 4;
    Budget budget;
    const auto conflict = Explain(problem, {}, budget);
    ASSERT_TRUE(conflict.has_value());
    EXPECT_EQ(conflict->outcome, Outcome::kInfeasible);
    EXPECT_TRUE(conflict->pins_collide);
    EXPECT_EQ(conflict->minimal, !with_capacity);  // Each of the two exceeds 4 bytes by itself.
    EXPECT_EQ(conflict->buffers, (std::vector<std::size_t>{0, 2}));
    EXPECT_EQ(conflict->step, 1);
    EXPECT_EQ(conflict->short_by, 0);
    EXPECT_FALSE(conflict->works_with.has_value());
    EXPECT_FALSE(conflict->whole.has_value());
  }
}

TEST(Explain, WithoutACapacityEverythingElseFits) {
  Problem problem;
  problem.buffers = {{"a", 0, 3, 10, 1, 0, {}, {}}, {"b", 1, 4, 10, 1, 10, {}, {}}};
  Budget budget;
  const auto conflict = Explain(problem, {}, budget);
  ASSERT_TRUE(conflict.has_value());
  EXPECT_EQ(conflict->outcome, Outcome::kFeasible);
  EXPECT_TRUE(conflict->buffers.empty());
}

}  // namespace
}  // namespace berth::internal
