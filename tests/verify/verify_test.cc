#include "tools/verify/verify.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/random.h"
#include "berth/answer.h"
#include "testing/differential.h"
#include "testing/live.h"
#include "testing/oracle.h"
#include "testing/random_problem.h"

namespace berth::verify {
namespace {

using namespace berth::internal;  // NOLINT(google-build-using-namespace)

constexpr Bytes kLargest = std::numeric_limits<Bytes>::max();
constexpr Bytes kSmallest = std::numeric_limits<Bytes>::min();

Buffer MakeBuffer(const std::string& id, Step start, Step end, Bytes size) {
  Buffer buffer;
  buffer.id = id;
  buffer.start = start;
  buffer.end = end;
  buffer.size = size;
  return buffer;
}

Fault MakeFault(FaultKind kind, std::size_t buffer) {
  Fault fault;
  fault.kind = kind;
  fault.residency = buffer;
  return fault;
}

Fault MakeOverlap(std::size_t buffer, std::size_t other, Step start, Step end, Bytes lower,
                  Bytes upper) {
  Fault fault = MakeFault(FaultKind::kOverlap, buffer);
  fault.other = other;
  fault.start = start;
  fault.end = end;
  fault.lower = lower;
  fault.upper = upper;
  return fault;
}

Fault MakeBeyond(std::size_t buffer, Bytes capacity, Bytes top) {
  Fault fault = MakeFault(FaultKind::kBeyondCapacity, buffer);
  fault.lower = capacity;
  fault.upper = top;
  return fault;
}

std::string Lines(const Problem& problem, const std::vector<Bytes>& offsets) {
  return Describe(VerifyOffsets(problem, offsets), problem, AsPlan(problem, offsets));
}

TEST(VerifyTest, AcceptsAGoodPlan) {
  Problem problem;
  problem.capacity = 8;
  problem.buffers = {MakeBuffer("a", 0, 3, 4), MakeBuffer("b", 3, 5, 4), MakeBuffer("c", 2, 4, 4)};
  const std::vector<Bytes> offsets = {0, 0, 4};  // Both meet c at an edge, and each other in time.
  const PlanReport report = VerifyOffsets(problem, offsets);
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report.height, 8);
  EXPECT_EQ(Describe(report, problem, AsPlan(problem, offsets)), "no faults; height 8 bytes\n");
}

TEST(VerifyTest, AcceptsNoBuffers) {
  const PlanReport report = VerifyOffsets({}, {});
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report.height, 0);
}

TEST(VerifyTest, NamesAnOverlapWithItsBytesAndSteps) {
  Problem problem;
  problem.buffers = {MakeBuffer("a", 0, 7, 256), MakeBuffer("b", 3, 9, 200)};
  const std::vector<Bytes> offsets = {0, 128};
  EXPECT_EQ(VerifyOffsets(problem, offsets).faults, std::vector{MakeOverlap(0, 1, 3, 7, 128, 256)});
  EXPECT_EQ(Lines(problem, offsets),
            "overlap: \"a\" and \"b\" share bytes [128, 256) at steps [3, 7)\n");
}

TEST(VerifyTest, NamesContainmentAndIdenticalBuffers) {
  Problem problem;
  problem.buffers = {MakeBuffer("outer", 0, 10, 100), MakeBuffer("inner", 4, 5, 10),
                     MakeBuffer("twin", 4, 5, 10)};
  const PlanReport report = VerifyOffsets(problem, {0, 50, 50});
  EXPECT_EQ(report.faults,
            (std::vector{MakeOverlap(0, 1, 4, 5, 50, 60), MakeOverlap(0, 2, 4, 5, 50, 60),
                         MakeOverlap(1, 2, 4, 5, 50, 60)}));
}

TEST(VerifyTest, NamesTheFaultsOfSingleBuffers) {
  Problem problem;
  problem.capacity = 256;
  problem.buffers = {MakeBuffer("a", 0, 1, 8), MakeBuffer("b", 1, 2, 8), MakeBuffer("c", 2, 3, 8),
                     MakeBuffer("d", 3, 4, 8)};
  problem.buffers[1].alignment = 64;
  problem.buffers[2].offset = 32;
  const std::vector<Bytes> offsets = {-3, 130, 40, 250};
  EXPECT_EQ(VerifyOffsets(problem, offsets).faults,
            (std::vector{MakeFault(FaultKind::kNegative, 0), MakeFault(FaultKind::kMisaligned, 1),
                         MakeFault(FaultKind::kPinBroken, 2), MakeBeyond(3, 256, 258)}));
  EXPECT_EQ(Lines(problem, offsets),
            "negative: \"a\" lies at offset -3\n"
            "misaligned: \"b\" lies at offset 130, not a multiple of 64\n"
            "pin broken: \"c\" lies at offset 40, but is pinned to 32\n"
            "beyond capacity: \"d\" ends at byte 258, but the capacity is 256\n");
}

TEST(VerifyTest, AcceptsABufferThatEndsAtTheCapacity) {
  Problem problem;
  problem.capacity = 8;
  problem.buffers = {MakeBuffer("a", 0, 1, 8)};
  EXPECT_TRUE(VerifyOffsets(problem, {0}).ok());
  EXPECT_FALSE(VerifyOffsets(problem, {1}).ok());
}

TEST(VerifyTest, NamesTheWrongNumberOfOffsets) {
  Problem problem;
  problem.buffers = {MakeBuffer("a", 0, 1, 8), MakeBuffer("b", 0, 1, 8)};
  for (const std::vector<Bytes>& offsets :
       {std::vector<Bytes>{}, std::vector<Bytes>{0}, std::vector<Bytes>{0, 8, 16}}) {
    EXPECT_FALSE(VerifyOffsets(problem, offsets).ok());
    EXPECT_EQ(Lines(problem, offsets),
              "wrong count: 2 buffers, but " + std::to_string(offsets.size()) + " offsets\n");
  }
}

TEST(VerifyTest, ReadsGapsAndWindowsExactly) {
  Problem problem;
  problem.buffers = {MakeBuffer("frame", 0, 9, 8), MakeBuffer("guest", 2, 6, 3)};
  problem.buffers[0].gaps = {Gap{2, 6, Window{0, 4}}};
  EXPECT_TRUE(VerifyOffsets(problem, {0, 4}).ok());
  EXPECT_EQ(VerifyOffsets(problem, {0, 3}).faults, std::vector{MakeOverlap(0, 1, 2, 6, 3, 4)});
  problem.buffers[1].end = 7;  // A step longer than the gap.
  EXPECT_EQ(VerifyOffsets(problem, {0, 4}).faults, std::vector{MakeOverlap(0, 1, 6, 7, 4, 7)});
  problem.buffers[1].start = 1;
  EXPECT_EQ(VerifyOffsets(problem, {0, 4}).faults,
            (std::vector{MakeOverlap(0, 1, 1, 2, 4, 7), MakeOverlap(0, 1, 6, 7, 4, 7)}));
  problem.buffers[0].gaps = {Gap{0, 9, std::nullopt}};
  EXPECT_TRUE(VerifyOffsets(problem, {0, 4}).ok());
}

TEST(VerifyTest, CountsAllFaultsAndListsSome) {
  // Far more pairs than could be listed one by one: 5 billion.
  constexpr std::int64_t kCount = 100'000;
  Problem problem;
  for (std::int64_t i = 0; i < kCount; ++i) {
    problem.buffers.push_back(MakeBuffer("b" + std::to_string(i), i, 3 * kCount, 8));
  }
  const std::vector<Bytes> offsets(problem.buffers.size(), 0);
  const PlanReport report = VerifyOffsets(problem, offsets, 10);
  EXPECT_EQ(report.faults.size(), 10U);
  EXPECT_EQ(report.more, kCount * (kCount - 1) / 2 - 10);
  const std::string text = Describe(report, problem, AsPlan(problem, offsets));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 11);
  EXPECT_NE(text.find("and 4999949990 more faults\n"), std::string::npos) << text;
}

TEST(VerifyTest, MaxFaultsOfZeroStillFails) {
  Problem problem;
  problem.buffers = {MakeBuffer("a", 0, 1, 8), MakeBuffer("b", 0, 1, 8)};
  const PlanReport report = VerifyOffsets(problem, {0, 0}, 0);
  EXPECT_TRUE(report.faults.empty());
  EXPECT_EQ(report.more, 1);
  EXPECT_FALSE(report.ok());
}

TEST(VerifyTest, SurvivesHostileOffsets) {
  Problem problem;
  problem.capacity = kMaxBytes;
  problem.buffers = {MakeBuffer("a", 0, 2, kMaxBytes / 4), MakeBuffer("b", 1, 3, kMaxBytes / 4),
                     MakeBuffer("c", 1, 3, 1)};
  const PlanReport high = VerifyOffsets(problem, {kLargest, kLargest - 1, 0});
  EXPECT_EQ(high.height, kLargest);
  EXPECT_EQ(high.faults,
            (std::vector{MakeBeyond(0, kMaxBytes, kLargest), MakeBeyond(1, kMaxBytes, kLargest),
                         MakeOverlap(0, 1, 1, 2, kLargest, kLargest)}));
  const PlanReport low = VerifyOffsets(problem, {kSmallest, kSmallest + kMaxBytes / 4, 0});
  EXPECT_EQ(low.faults,
            (std::vector{MakeFault(FaultKind::kNegative, 0), MakeFault(FaultKind::kNegative, 1)}));
  EXPECT_TRUE(VerifyOffsets(problem, {kLargest, kSmallest, 0}).faults.size() == 2U);
}

TEST(VerifyTest, KeepsHostileIdsOnOneLine) {
  Problem problem;
  problem.buffers = {MakeBuffer("a\n\"b\"\x1b[2J", 0, 1, 8), MakeBuffer("\\", 0, 1, 8)};
  EXPECT_EQ(Lines(problem, {0, 4}),
            "overlap: \"a\\n\\\"b\\\"\\x1b[2J\" and \"\\\\\" share bytes [4, 8) at steps [0, 1)\n");
}

TEST(VerifyTest, HoldsAPlanToItsTable) {
  Problem problem;
  problem.capacity = 12;
  problem.buffers = {MakeBuffer("a", 0, 3, 4), MakeBuffer("b", 2, 5, 8)};
  problem.buffers[0].gaps = {Gap{2, 3, Window{0, 2}}};
  const MemoryPlan plan = PlanOf(problem, {8, 0});
  const PlanReport good = VerifyPlan(problem, plan);
  EXPECT_TRUE(good.ok()) << Describe(good, problem, plan);
  EXPECT_EQ(good.height, 12);
  EXPECT_EQ(good.peak, 10);
  EXPECT_EQ(good.peak_step, 2);
  const auto lines = [&](const auto& change) {
    MemoryPlan wrong = plan;
    change(wrong);
    return Describe(VerifyPlan(problem, wrong), problem, wrong);
  };
  EXPECT_EQ(lines([](MemoryPlan& p) { p.memories[0].height = 11; }),
            "wrong height: the plan states 11 bytes, but its residencies reach 12\n");
  EXPECT_EQ(lines([](MemoryPlan& p) { p.memories[0].peak = 12; }),
            "wrong peak: the plan states 12 bytes, but has 10\n");
  EXPECT_EQ(lines([](MemoryPlan& p) { p.traffic.spilled = 4; }),
            "wrong traffic: the plan states 4 bytes spilled, but has 0\n");
  EXPECT_EQ(lines([](MemoryPlan& p) { p.residencies[1].end = 4; }),
            "bad residency: number 1, of buffer \"b\", does not have the lifetime of its buffer\n");
  EXPECT_EQ(lines([](MemoryPlan& p) { p.residencies[1].tensor = 7; }),
            "bad residency: number 1, of buffer number 7, is not that of its buffer\n");
  EXPECT_EQ(lines([](MemoryPlan& p) { p.residencies[0].comes_in = true; }),
            "bad residency: number 0, of buffer \"a\", is copied, but a table has no spills\n");
  EXPECT_EQ(lines([](MemoryPlan& p) { p.residencies[0].memory = 1; }),
            "bad residency: number 0, of buffer \"a\", is in another memory, but there is one "
            "only\n");
  EXPECT_EQ(lines([](MemoryPlan& p) { p.order = {3}; }),
            "unknown: no operator has the number 3 at step 0\n");
  EXPECT_EQ(lines([](MemoryPlan& p) { p.memories.clear(); }),
            "wrong count: 0 memories, but this verifier knows plans of one\n");
  EXPECT_EQ(lines([](MemoryPlan& p) { p.residencies.pop_back(); }),
            "wrong count: 2 buffers, but 1 offsets\n");
  // Without addresses, offsets mean nothing.
  EXPECT_EQ(lines([](MemoryPlan& p) {
              p.addressed = false;
              p.residencies[0].offset = -1;
            }),
            "no faults; height 0 bytes\n");
}

// All overlaps by the definition: step by step, pair by pair, joined over steps where both buffers
// keep the same bytes live.
std::vector<Fault> OverlapsByDefinition(const Problem& problem, const std::vector<Bytes>& offsets) {
  // What is live where, as the verifier cuts it: a new piece wherever a lifetime or gap begins.
  const auto begins_piece = [](const Buffer& buffer, Step step) {
    if (step == buffer.start) return true;
    return std::any_of(buffer.gaps.begin(), buffer.gaps.end(),
                       [&](const Gap& gap) { return gap.start == step || gap.end == step; });
  };
  std::vector<Fault> faults;
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    for (std::size_t j = i + 1; j < offsets.size(); ++j) {
      const Buffer& a = problem.buffers[i];
      const Buffer& b = problem.buffers[j];
      bool open = false;
      for (Step step = std::max(a.start, b.start); step < std::min(a.end, b.end); ++step) {
        const auto live_a = LiveAt(a, step);
        const auto live_b = LiveAt(b, step);
        if (begins_piece(a, step) || begins_piece(b, step)) open = false;
        if (!live_a || !live_b) continue;
        const Bytes lower = std::max(offsets[i] + live_a->lower, offsets[j] + live_b->lower);
        const Bytes upper = std::min(offsets[i] + live_a->upper, offsets[j] + live_b->upper);
        if (lower >= upper) continue;
        if (open) {
          faults.back().end = step + 1;
        } else {
          faults.push_back(MakeOverlap(i, j, step, step + 1, lower, upper));
        }
        open = true;
      }
    }
  }
  return faults;
}

std::vector<Fault> Sorted(std::vector<Fault> faults) {
  std::sort(faults.begin(), faults.end(), [](const Fault& a, const Fault& b) {
    return std::tie(a.residency, a.other, a.start) < std::tie(b.residency, b.other, b.start);
  });
  return faults;
}

TEST(VerifyTest, FindsExactlyTheOverlapsOfTheDefinition) {
  ProblemKnobs knobs = AllKnobs();
  knobs.max_buffers = 12;
  knobs.max_gaps = 3;
  std::uint64_t plan_seed = 0;
  std::int64_t seen = 0;
  ForRandomProblems(1, 3000, knobs, [&](const Problem& problem) -> std::optional<std::string> {
    Random random(++plan_seed);
    std::vector<Bytes> offsets;
    for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
      offsets.push_back(random.Uniform(-2, 24));
    }
    std::vector<Fault> found;
    for (const Fault& fault : VerifyOffsets(problem, offsets, 10'000).faults) {
      if (fault.kind == FaultKind::kOverlap) found.push_back(fault);
    }
    seen += static_cast<std::int64_t>(found.size());
    if (Sorted(found) == Sorted(OverlapsByDefinition(problem, offsets))) return std::nullopt;
    return "the overlaps differ: " + Lines(problem, offsets);
  });
  EXPECT_GT(seen, 5'000);
}

// Hundreds of buffers, each above all that it meets, some of them with a space below.
std::pair<Problem, std::vector<Bytes>> StackedPlan(std::uint64_t seed) {
  Random random(seed);
  Problem problem;
  std::vector<Bytes> offsets;
  const Step steps = random.Uniform(5, 60);
  const auto count = static_cast<std::size_t>(random.Uniform(300, 900));
  for (std::size_t b = 0; b < count; ++b) {
    const Step start = random.Uniform(0, steps);
    problem.buffers.push_back(MakeBuffer("b" + std::to_string(b), start,
                                         start + random.Uniform(1, steps), random.Uniform(1, 100)));
    const Buffer& buffer = problem.buffers.back();
    Bytes offset = 0;
    for (std::size_t other = 0; other < b; ++other) {
      const Buffer& below = problem.buffers[other];
      if (below.start >= buffer.end || below.end <= buffer.start) continue;
      offset = std::max(offset, offsets[other] + below.size);
    }
    offsets.push_back(offset + (random.Uniform(0, 3) == 0 ? random.Uniform(0, 50) : 0));
  }
  return {std::move(problem), std::move(offsets)};
}

TEST(VerifyTest, FindsWhatOneOfHundredsMeets) {
  int broken = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(seed);
    auto [problem, offsets] = StackedPlan(seed);
    ASSERT_TRUE(VerifyOffsets(problem, offsets).ok());
    Random random(seed + 1000);
    const auto last = static_cast<std::int64_t>(offsets.size()) - 1;
    Bytes& moved = offsets[static_cast<std::size_t>(random.Uniform(0, last))];
    moved = std::max<Bytes>(0, moved + random.Uniform(-3, 3));
    const PlanReport report = VerifyOffsets(problem, offsets);
    ASSERT_EQ(Sorted(report.faults), Sorted(OverlapsByDefinition(problem, offsets)));
    broken += report.ok() ? 0 : 1;
  }
  EXPECT_GT(broken, 10);
  EXPECT_LT(broken, 30);
}

TEST(VerifyTest, AgreesWithTheModelOnGoodAndBrokenPlans) {
  ProblemKnobs knobs = AllKnobs();
  knobs.max_buffers = 5;
  std::uint64_t plan_seed = 0;
  int good = 0;
  int broken = 0;
  const auto agree = [&](const Problem& problem, const std::vector<Bytes>& offsets) {
    const PlanReport report = VerifyOffsets(problem, offsets);
    const bool valid = ValidatePlacement(problem, {offsets, report.height}).has_value();
    ++(valid ? good : broken);
    return valid == report.ok();
  };
  ForRandomProblems(1, 4000, knobs, [&](const Problem& problem) -> std::optional<std::string> {
    Random random(++plan_seed);
    const auto least = OraclePlace(problem);
    if (least) {
      if (!agree(problem, least->offsets)) return "they differ on a plan of least height";
      std::vector<Bytes> shaken = least->offsets;
      const auto one =
          static_cast<std::size_t>(random.Uniform(0, static_cast<std::int64_t>(shaken.size()) - 1));
      shaken[one] += random.Uniform(-2, 2);
      if (!agree(problem, shaken)) return "they differ on a plan with one buffer moved";
    }
    std::vector<Bytes> offsets;
    for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
      offsets.push_back(random.Uniform(-1, 16));
    }
    if (!agree(problem, offsets)) return "they differ on a random plan";
    offsets.pop_back();
    if (!agree(problem, offsets)) return "they differ on a plan that is short of an offset";
    return std::nullopt;
  });
  EXPECT_GT(good, 1000);
  EXPECT_GT(broken, 1000);
}

// Independence is the point of the verifier: it may include the standard library, itself, and the
// public headers that hold what is checked, and integers of 128 bits.
TEST(VerifyTest, IncludesNothingOfWhatItChecks) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(BERTH_SOURCE_DIR "/tools/verify")) {
    const std::string extension = entry.path().extension().string();
    if (extension != ".h" && extension != ".cc") continue;
    ++files;
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) {
      if (!line.starts_with("#include \"")) continue;
      EXPECT_TRUE(
          line == "#include \"berth/problem.h\"" || line == "#include \"berth/graph.h\"" ||
          line == "#include \"berth/answer.h\"" || line == "#include \"berth/memories.h\"" ||
          line == "#include \"berth/graph_memories.h\"" || line == "#include \"src/base/wide.h\"" ||
          line.starts_with("#include \"tools/verify/"))
          << entry.path() << ": " << line;
    }
  }
  EXPECT_GE(files, 2);
}

}  // namespace
}  // namespace berth::verify
