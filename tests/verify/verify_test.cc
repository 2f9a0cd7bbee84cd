#include "tools/verify/verify.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "base/random.h"
#include "testing/differential.h"
#include "testing/live.h"
#include "testing/oracle.h"
#include "testing/random_problem.h"

namespace berth::internal {
namespace {

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
  fault.buffer = buffer;
  return fault;
}

Fault MakeOverlap(std::size_t buffer, std::size_t other, Step start, Step end, Bytes lower,
                  Bytes upper) {
  return {FaultKind::kOverlap, buffer, other, start, end, lower, upper};
}

std::string Lines(const Problem& problem, const std::vector<Bytes>& offsets) {
  return Describe(Verify(problem, offsets), problem, offsets);
}

TEST(VerifyTest, AcceptsAGoodPlan) {
  Problem problem;
  problem.capacity = 8;
  problem.buffers = {MakeBuffer("a", 0, 3, 4), MakeBuffer("b", 3, 5, 4), MakeBuffer("c", 2, 4, 4)};
  const std::vector<Bytes> offsets = {0, 0, 4};  // Both touch c, and overlap each other in time.
  const Report report = Verify(problem, offsets);
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report.height, 8);
  EXPECT_EQ(Describe(report, problem, offsets), "no faults; height 8 bytes\n");
}

TEST(VerifyTest, AcceptsNoBuffers) {
  const Report report = Verify({}, {});
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report.height, 0);
}

TEST(VerifyTest, NamesAnOverlapWithItsBytesAndSteps) {
  Problem problem;
  problem.buffers = {MakeBuffer("a", 0, 7, 256), MakeBuffer("b", 3, 9, 200)};
  const std::vector<Bytes> offsets = {0, 128};
  EXPECT_EQ(Verify(problem, offsets).faults, std::vector{MakeOverlap(0, 1, 3, 7, 128, 256)});
  EXPECT_EQ(Lines(problem, offsets),
            "overlap: \"a\" and \"b\" share bytes [128, 256) at steps [3, 7)\n");
}

TEST(VerifyTest, NamesContainmentAndIdenticalBuffers) {
  Problem problem;
  problem.buffers = {MakeBuffer("outer", 0, 10, 100), MakeBuffer("inner", 4, 5, 10),
                     MakeBuffer("twin", 4, 5, 10)};
  const Report report = Verify(problem, {0, 50, 50});
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
  EXPECT_EQ(
      Verify(problem, offsets).faults,
      (std::vector{MakeFault(FaultKind::kNegative, 0), MakeFault(FaultKind::kMisaligned, 1),
                   MakeFault(FaultKind::kPinBroken, 2), MakeFault(FaultKind::kBeyondCapacity, 3)}));
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
  EXPECT_TRUE(Verify(problem, {0}).ok());
  EXPECT_FALSE(Verify(problem, {1}).ok());
}

TEST(VerifyTest, NamesTheWrongNumberOfOffsets) {
  Problem problem;
  problem.buffers = {MakeBuffer("a", 0, 1, 8), MakeBuffer("b", 0, 1, 8)};
  for (const std::vector<Bytes>& offsets :
       {std::vector<Bytes>{}, std::vector<Bytes>{0}, std::vector<Bytes>{0, 8, 16}}) {
    EXPECT_FALSE(Verify(problem, offsets).ok());
    EXPECT_EQ(Lines(problem, offsets),
              "wrong count: 2 buffers, but " + std::to_string(offsets.size()) + " offsets\n");
  }
}

TEST(VerifyTest, ReadsGapsAndWindowsExactly) {
  Problem problem;
  problem.buffers = {MakeBuffer("frame", 0, 9, 8), MakeBuffer("guest", 2, 6, 3)};
  problem.buffers[0].gaps = {Gap{2, 6, Window{0, 4}}};
  EXPECT_TRUE(Verify(problem, {0, 4}).ok());
  EXPECT_EQ(Verify(problem, {0, 3}).faults, std::vector{MakeOverlap(0, 1, 2, 6, 3, 4)});
  problem.buffers[1].end = 7;  // A step longer than the gap.
  EXPECT_EQ(Verify(problem, {0, 4}).faults, std::vector{MakeOverlap(0, 1, 6, 7, 4, 7)});
  problem.buffers[1].start = 1;
  EXPECT_EQ(Verify(problem, {0, 4}).faults,
            (std::vector{MakeOverlap(0, 1, 1, 2, 4, 7), MakeOverlap(0, 1, 6, 7, 4, 7)}));
  problem.buffers[0].gaps = {Gap{0, 9, std::nullopt}};
  EXPECT_TRUE(Verify(problem, {0, 4}).ok());
}

TEST(VerifyTest, CountsAllFaultsAndListsSome) {
  // Far more pairs than could be listed one by one: 5 billion.
  constexpr std::int64_t kCount = 100'000;
  Problem problem;
  for (std::int64_t i = 0; i < kCount; ++i) {
    problem.buffers.push_back(MakeBuffer("b" + std::to_string(i), i, 3 * kCount, 8));
  }
  const std::vector<Bytes> offsets(problem.buffers.size(), 0);
  const Report report = Verify(problem, offsets, 10);
  EXPECT_EQ(report.faults.size(), 10U);
  EXPECT_EQ(report.more, kCount * (kCount - 1) / 2 - 10);
  const std::string text = Describe(report, problem, offsets);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 11);
  EXPECT_NE(text.find("and 4999949990 more faults\n"), std::string::npos) << text;
}

TEST(VerifyTest, MaxFaultsOfZeroStillFails) {
  Problem problem;
  problem.buffers = {MakeBuffer("a", 0, 1, 8), MakeBuffer("b", 0, 1, 8)};
  const Report report = Verify(problem, {0, 0}, 0);
  EXPECT_TRUE(report.faults.empty());
  EXPECT_EQ(report.more, 1);
  EXPECT_FALSE(report.ok());
}

TEST(VerifyTest, SurvivesHostileOffsets) {
  Problem problem;
  problem.capacity = kMaxBytes;
  problem.buffers = {MakeBuffer("a", 0, 2, kMaxBytes / 4), MakeBuffer("b", 1, 3, kMaxBytes / 4),
                     MakeBuffer("c", 1, 3, 1)};
  const Report high = Verify(problem, {kLargest, kLargest - 1, 0});
  EXPECT_EQ(high.height, kLargest);
  EXPECT_EQ(high.faults, (std::vector{MakeFault(FaultKind::kBeyondCapacity, 0),
                                      MakeFault(FaultKind::kBeyondCapacity, 1),
                                      MakeOverlap(0, 1, 1, 2, kLargest, kLargest)}));
  const Report low = Verify(problem, {kSmallest, kSmallest + kMaxBytes / 4, 0});
  EXPECT_EQ(low.faults,
            (std::vector{MakeFault(FaultKind::kNegative, 0), MakeFault(FaultKind::kNegative, 1)}));
  EXPECT_TRUE(Verify(problem, {kLargest, kSmallest, 0}).faults.size() == 2U);
}

TEST(VerifyTest, KeepsHostileIdsOnOneLine) {
  Problem problem;
  problem.buffers = {MakeBuffer("a\n\"b\"\x1b[2J", 0, 1, 8), MakeBuffer("\\", 0, 1, 8)};
  EXPECT_EQ(Lines(problem, {0, 4}),
            "overlap: \"a\\n\\\"b\\\"\\x1b[2J\" and \"\\\\\" share bytes [4, 8) at steps [0, 1)\n");
}

// All overlaps by the definition: step by step, pair by pair, merged over steps with the same live
// bytes of both buffers.
std::vector<Fault> OverlapsByDefinition(const Problem& problem, const std::vector<Bytes>& offsets) {
  // Live bytes, cut as the verifier cuts them: a new piece wherever a lifetime or gap begins.
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
    return std::tie(a.buffer, a.other, a.start) < std::tie(b.buffer, b.other, b.start);
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
    for (const Fault& fault : Verify(problem, offsets, 10'000).faults) {
      if (fault.kind == FaultKind::kOverlap) found.push_back(fault);
    }
    seen += static_cast<std::int64_t>(found.size());
    if (Sorted(found) == Sorted(OverlapsByDefinition(problem, offsets))) return std::nullopt;
    return "the overlaps differ: " + Lines(problem, offsets);
  });
  EXPECT_GT(seen, 5'000);
}

TEST(VerifyTest, AgreesWithTheModelOnGoodAndBrokenPlans) {
  ProblemKnobs knobs = AllKnobs();
  knobs.max_buffers = 5;
  std::uint64_t plan_seed = 0;
  int good = 0;
  int broken = 0;
  const auto agree = [&](const Problem& problem, const std::vector<Bytes>& offsets) {
    const Report report = Verify(problem, offsets);
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

// The verifier must be independent: it may include the standard library, itself, and the public
// headers of the data that it checks.
TEST(VerifyTest, IncludesNoCodeThatItChecks) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(BERTH_SOURCE_DIR "/tools/verify")) {
    const std::string extension = entry.path().extension().string();
    if (extension != ".h" && extension != ".cc") continue;
    ++files;
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) {
      if (!line.starts_with("#include \"")) continue;
      EXPECT_TRUE(line == "#include \"berth/problem.h\"" || line == "#include \"berth/graph.h\"" ||
                  line == "#include \"berth/spill.h\"" ||
                  line.starts_with("#include \"tools/verify/"))
          << entry.path() << ": " << line;
    }
  }
  EXPECT_GE(files, 2);
}

}  // namespace
}  // namespace berth::internal
