// The beam search: its results are plans, interrupting and resuming it makes no difference, and it
// finds plans where it should.

#include "place/niche/beam.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "testing/differential.h"
#include "testing/oracle.h"
#include "tests/place/generated.h"

namespace berth::internal {
namespace {

using TestedBeam = niche::Beam<std::int64_t>;
using End = TestedBeam::End;

std::vector<Bytes> OffsetsOf(const TestedBeam& beam, const Problem& problem) {
  std::vector<Bytes> offsets(problem.buffers.size(), 0);
  for (const niche::ItemIndex i : beam.plan().items()) {
    offsets[beam.plan().buffer(i).position()] = beam.plan().offset(i);
  }
  return offsets;
}

struct Tally {
  int fits = 0;
  int found = 0;
};

// Below the least height no plan exists; at it, one is mostly found.
std::optional<std::string> Judge(const Problem& problem, Tally& tally) {
  const auto least = OraclePlace(problem);
  if (!least || problem.buffers.empty()) return std::nullopt;
  const Instance instance = Compile(problem);
  // The caller handles buffers that are live nowhere.
  for (const BufferIndex b : instance.buffers()) {
    if (instance.pieces_of(b).empty()) return std::nullopt;
  }
  TestedBeam beam(instance, 1, {}, 1);
  for (const Bytes capacity : {least->height - 1, least->height, least->height + 1}) {
    beam.Start(capacity);
    Budget budget;
    const End end = beam.Run(2000, budget);
    if (beam.nodes() > 2000) return "more nodes than allowed";
    tally.fits += capacity >= least->height ? 1 : 0;
    if (end != End::kFound) continue;
    if (capacity < least->height) return "found a plan below the least height";
    ++tally.found;
    const std::vector<Bytes> offsets = OffsetsOf(beam, problem);
    Problem limited = problem;
    limited.capacity = capacity;
    const auto valid = ValidatePlacement(limited, {offsets, Height(problem, offsets)});
    if (!valid) return valid.error().message;
  }
  return std::nullopt;
}

TEST(Beam, FindsPlansWhereThereAreAny) {
  Tally tally;
  EXPECT_TRUE(ForRandomProblems(1, 2000, {}, [&](const Problem& p) { return Judge(p, tally); }));
  EXPECT_EQ(tally.found, tally.fits);
}

TEST(Beam, FindsPlansWithGapsAlignmentAndPins) {
  ProblemKnobs knobs = AllKnobs();
  knobs.window_chance = 0;
  Tally tally;
  EXPECT_TRUE(
      ForRandomProblems(10'000, 2000, knobs, [&](const Problem& p) { return Judge(p, tally); }));
  EXPECT_GT(tally.found, tally.fits - tally.fits / 200);
}

// With windows, the search may be unable to complete a plan reliably; its results are still plans.
TEST(Beam, FindsOnlyValidPlansWithWindows) {
  Tally tally;
  EXPECT_TRUE(ForRandomProblems(20'000, 1000, AllKnobs(),
                                [&](const Problem& p) { return Judge(p, tally); }));
}

struct Ended {
  End end;
  std::int64_t nodes;
  std::vector<Bytes> offsets;
};

Ended RunInSlices(TestedBeam& beam, const Problem& problem, Bytes capacity, std::int64_t slice) {
  beam.Start(capacity);
  Budget budget;
  budget.SetNodeLimit(100'000);
  End end = End::kOutOfNodes;
  while (end == End::kOutOfNodes) end = beam.Run(slice, budget);
  return {end, beam.nodes(), OffsetsOf(beam, problem)};
}

// The nodes guard the estimate: one that no longer distinguishes good plans from bad takes more
// passes. They are the same with every compiler and build type. Update them when a change is
// intended.
TEST(Beam, FindsTheSamePlanAtOnceInSlicesAndAgain) {
  const Problem problem = PlantedWithLosses(2, 100, 60);
  const Bytes load = MaxLiveLoad(problem).load;
  const Instance instance = Compile(problem);
  TestedBeam beam(instance, 1, {}, 1);
  const Ended whole = RunInSlices(beam, problem, load, 1'000'000);
  ASSERT_EQ(whole.end, End::kFound);
  EXPECT_EQ(whole.nodes, 47910);
  for (const std::int64_t slice : {std::int64_t{3}, std::int64_t{1000}}) {
    TestedBeam other(instance, 1, {}, 1);
    const Ended sliced = RunInSlices(other, problem, load, slice);
    EXPECT_EQ(sliced.nodes, whole.nodes);
    EXPECT_EQ(sliced.offsets, whole.offsets);
  }
}

TEST(Beam, AnotherCapacityStartsAnew) {
  const Problem problem = PlantedWithLosses(2, 100, 60);
  const Bytes load = MaxLiveLoad(problem).load;
  const Instance instance = Compile(problem);
  TestedBeam beam(instance, 1, {}, 1);
  for (const Bytes capacity : {load + load / 20, load, load - 1}) {
    const Ended run = RunInSlices(beam, problem, capacity, 1'000'000);
    if (capacity < load) {
      EXPECT_EQ(run.end, End::kNothingToTry);
    } else {
      ASSERT_EQ(run.end, End::kFound);
      EXPECT_LE(Height(problem, run.offsets), capacity);
    }
  }
}

TEST(Beam, StopsWhenTheBudgetEnds) {
  const Problem problem = PlantedWithLosses(3, 200, 60);
  const Instance instance = Compile(problem);
  TestedBeam beam(instance, 1, {}, 1);
  beam.Start(MaxLiveLoad(problem).load);
  Budget budget;
  budget.SetNodeLimit(500);
  EXPECT_EQ(beam.Run(1'000'000, budget), End::kOutOfBudget);
  EXPECT_EQ(beam.nodes(), 500);
  Budget cancelled;
  cancelled.Cancel();
  EXPECT_EQ(beam.Run(1'000'000, cancelled), End::kOutOfBudget);
  EXPECT_EQ(beam.nodes(), 500);
}

// With memory for few plans, passes drop the others and continue.
TEST(Beam, WorksWithLittleMemory) {
  const Problem problem = PlantedWithLosses(2, 200, 60);
  const Instance instance = Compile(problem);
  TestedBeam beam(instance, 1, {}, 1, 300);
  const Ended run = RunInSlices(beam, problem, MaxLiveLoad(problem).load * 11 / 10, 1'000'000);
  EXPECT_EQ(run.end, End::kFound);
}

}  // namespace
}  // namespace berth::internal
