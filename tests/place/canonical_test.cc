// The canonical search against the oracle, with every combination of its switches.

#include "place/canonical/canonical.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <optional>
#include <ostream>
#include <string>

#include "testing/differential.h"
#include "testing/oracle.h"
#include "tools/generate/generate.h"

namespace berth::internal {
namespace {

constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();
using Verdict = SearchAnswer::Verdict;

// The switches, indexed so that a number stands for a combination.
constexpr std::array kSwitches = {
    &canonical::Options::canonical_only,     &canonical::Options::section_inference,
    &canonical::Options::monotonic_floor,    &canonical::Options::unallocated_floor,
    &canonical::Options::dominance,          &canonical::Options::hatless,
    &canonical::Options::identical_order,    &canonical::Options::dynamic_ordering,
    &canonical::Options::static_preordering, &canonical::Options::dynamic_decomposition};

canonical::Options Combination(unsigned bits) {
  canonical::Options options;
  for (std::size_t s = 0; s < kSwitches.size(); ++s) options.*kSwitches[s] = (bits >> s & 1) != 0;
  return options;
}

constexpr unsigned kAllOn = (1u << kSwitches.size()) - 1;

// What is wrong with the verdicts just below the least height and at it.
std::optional<std::string> CompareWithOracle(const Problem& problem,
                                             const canonical::Options& options) {
  const auto least = OracleHeight(problem);
  // Where pins overlap, Place() handles that before any search.
  if (!least || problem.buffers.empty()) return std::nullopt;
  const Instance instance = Compile(problem);
  const Overlaps overlaps = FindOverlaps(instance);
  const auto search = canonical::MakeSearch(instance, overlaps, options);
  Budget budget;
  const auto below = search->Decide({*least - 1, kNoLimit}, budget);
  if (below.verdict == Verdict::kFound) return "found a plan below the least height";
  if (below.verdict != Verdict::kImpossible && overlaps.stackable) return "no proof below";
  const auto at = search->Decide({*least, kNoLimit}, budget);
  if (at.verdict == Verdict::kImpossible) return "calls the least height impossible";
  if (at.verdict != Verdict::kFound && overlaps.stackable) return "misses the least height";
  if (at.verdict == Verdict::kFound) {
    Problem limited = problem;
    limited.capacity = *least;
    const auto valid = ValidatePlacement(limited, {at.offsets, Height(problem, at.offsets)});
    if (!valid) return valid.error().message;
  }
  return std::nullopt;
}

TEST(Canonical, MatchesTheOracle) {
  ProblemKnobs knobs;
  knobs.horizon = 10;
  EXPECT_TRUE(ForRandomProblems(1, 4000, knobs, [](const Problem& problem) {
    return CompareWithOracle(problem, canonical::Options());
  }));
}

TEST(Canonical, MatchesTheOracleWithAlignmentPinsAndGaps) {
  EXPECT_TRUE(ForRandomProblems(100'000, 4000, AllKnobs(), [](const Problem& problem) {
    return CompareWithOracle(problem, canonical::Options());
  }));
}

// All offsets are then multiples of a number, which the bounds of sections use; windows need not
// be.
TEST(Canonical, MatchesTheOracleWithACommonAlignment) {
  EXPECT_TRUE(ForRandomProblems(200'000, 6000, AllKnobs(), [](Problem problem) {
    for (Buffer& buffer : problem.buffers) {
      buffer.alignment *= 2;
      if (buffer.offset) *buffer.offset *= 2;
    }
    return CompareWithOracle(problem, canonical::Options());
  }));
}

TEST(Canonical, AWindowMayLieInWhatAlignmentWastes) {
  Problem problem;
  problem.buffers = {{"x", 0, 2, 5, 4, {}, {}, {}},
                     {"y", 0, 4, 4, 4, {}, {}, {{0, 2, Window{2, 4}}}}};
  EXPECT_EQ(CompareWithOracle(problem, {}), std::nullopt);
}

// 1024 combinations; each uses other seeds, so no two get the same problems.
TEST(Canonical, EveryCombinationOfSwitchesGivesTheSameVerdicts) {
  for (unsigned bits = 0; bits <= kAllOn; ++bits) {
    for (const ProblemKnobs& knobs : {ProblemKnobs(), AllKnobs()}) {
      ASSERT_TRUE(ForRandomProblems(
          1'000'000 + 20 * bits, 20, knobs,
          [&](const Problem& problem) { return CompareWithOracle(problem, Combination(bits)); }))
          << "combination " << bits;
    }
  }
}

// Planted packings have no free space, so a rule that prunes too much is detected.
TEST(Canonical, EverySwitchFindsPlantedPlans) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    GenerateParameters generate;
    generate.buffers = 14;
    generate.seed = seed;
    const auto generated = Generate(Family::kPlanted, generate);
    ASSERT_TRUE(generated.has_value()) << generated.error().message;
    const Problem& problem = generated->problem;
    const Instance instance = Compile(problem);
    const Overlaps overlaps = FindOverlaps(instance);
    for (std::size_t s = 0; s <= kSwitches.size(); ++s) {
      const unsigned bits = s == kSwitches.size() ? kAllOn : kAllOn & ~(1u << s);
      const auto search = canonical::MakeSearch(instance, overlaps, Combination(bits));
      Budget budget;
      const auto answer = search->Decide({*problem.capacity, 2'000'000}, budget);
      ASSERT_EQ(answer.verdict, Verdict::kFound) << "seed " << seed << ", without switch " << s;
    }
  }
}

// Correct answers do not guard speed: a rule that no longer prunes shows in the node counts. Update
// the numbers when a change of the search is intended to change them.
struct NodeCount {
  const char* preorders;
  Family family;
  std::int64_t buffers;
  std::uint64_t seed;
  std::int64_t nodes;
};

std::ostream& operator<<(std::ostream& out, const NodeCount& count) {
  const auto& family = Families()[static_cast<std::size_t>(count.family)];
  return out << count.preorders << " on " << family.name << " " << count.buffers << ", seed "
             << count.seed;
}

class CanonicalNodes : public testing::TestWithParam<NodeCount> {};

TEST_P(CanonicalNodes, ArePinned) {
  GenerateParameters generate;
  generate.buffers = GetParam().buffers;
  generate.seed = GetParam().seed;
  const auto generated = Generate(GetParam().family, generate);
  ASSERT_TRUE(generated.has_value());
  const Instance instance = Compile(generated->problem);
  const Overlaps overlaps = FindOverlaps(instance);
  canonical::Options options;
  options.preorders = GetParam().preorders;
  const auto search = canonical::MakeSearch(instance, overlaps, options);
  Budget budget;
  const auto answer = search->Decide({*generated->problem.capacity, 3'000'000}, budget);
  EXPECT_EQ(answer.nodes, GetParam().nodes);
}

INSTANTIATE_TEST_SUITE_P(Generated, CanonicalNodes,
                         testing::Values(NodeCount{"WAT,TAW,TWA", Family::kPlanted, 100, 4, 1687},
                                         NodeCount{"WAT", Family::kPlanted, 100, 4, 391},
                                         NodeCount{"TAW", Family::kPlanted, 60, 3, 6310},
                                         NodeCount{"ZCLU", Family::kPlanted, 100, 3, 945},
                                         NodeCount{"TWA", Family::kNetwork, 60, 2, 468},
                                         NodeCount{"WAT", Family::kRandom, 60, 3, 703},
                                         NodeCount{"WAT", Family::kFull, 30, 2, 28414}));

// An option that is never read would leave every node count unchanged.
TEST(Canonical, EverySwitchChangesTheSearch) {
  for (std::size_t s = 0; s < kSwitches.size(); ++s) {
    // The other rules leave hatless next to nothing to do; by itself it is seen to act.
    const bool alone = kSwitches[s] == &canonical::Options::hatless;
    canonical::Options on;
    if (alone) {
      on = Combination(0);
      on.hatless = on.canonical_only = on.dynamic_ordering = true;
    }
    canonical::Options off = on;
    off.*kSwitches[s] = false;
    bool changes = false;
    for (std::uint64_t seed = 1; seed <= 40 && !changes; ++seed) {
      GenerateParameters generate;
      generate.buffers = alone ? 12 : 60;
      generate.slack_percent = static_cast<int>(seed % 4);
      generate.seed = seed;
      // Only small sizes make buffers that are identical.
      const bool twins = kSwitches[s] == &canonical::Options::identical_order;
      if (twins) {
        generate.buffers = 40;
        generate.steps = 12;
        generate.capacity = 20;
        generate.slack_percent = 0;
      }
      const auto generated = Generate(twins ? Family::kFull : Family::kPlanted, generate);
      ASSERT_TRUE(generated.has_value());
      const Instance instance = Compile(generated->problem);
      const Overlaps overlaps = FindOverlaps(instance);
      Budget budget;
      const auto with = canonical::MakeSearch(instance, overlaps, on);
      const auto without = canonical::MakeSearch(instance, overlaps, off);
      const Bytes capacity = *generated->problem.capacity;
      changes = with->Decide({capacity, 5'000}, budget).nodes !=
                without->Decide({capacity, 5'000}, budget).nodes;
    }
    EXPECT_TRUE(changes) << "switch " << s;
  }
}

TEST(Canonical, KeepsTheKnownPlanWhereItIsLowEnough) {
  Problem problem;
  problem.buffers = {
      {"a", 0, 2, 4, 1, {}, {}, {}}, {"b", 0, 2, 3, 1, {}, {}, {}}, {"c", 5, 6, 2, 1, {}, {}, {}}};
  const std::vector<Bytes> known = {8, 0, 5};
  const Instance instance = Compile(problem);
  const Overlaps overlaps = FindOverlaps(instance);
  const auto search = canonical::MakeSearch(instance, overlaps, {});
  Budget budget;
  const auto answer = search->Decide({7, kNoLimit, &known}, budget);
  ASSERT_EQ(answer.verdict, Verdict::kFound);
  EXPECT_EQ(answer.offsets[2], 5);
  EXPECT_EQ(std::max(answer.offsets[0] + 4, answer.offsets[1] + 3), 7);
}

TEST(Canonical, InterlockingWindowsProveNothing) {
  // y fits only between the two windows of x: above one and below the other.
  Problem problem;
  Buffer x{"x", 0, 4, 6, 1, {}, {}, {{0, 2, Window{0, 2}}, {2, 4, Window{4, 6}}}};
  Buffer y{"y", 0, 4, 2, 1, {}, {}, {}};
  problem.buffers = {x, y};
  const Instance instance = Compile(problem);
  const Overlaps overlaps = FindOverlaps(instance);
  EXPECT_FALSE(overlaps.stackable);
  const auto search = canonical::MakeSearch(instance, overlaps, {});
  Budget budget;
  EXPECT_EQ(search->Decide({6, kNoLimit}, budget).verdict, Verdict::kInconclusive);
}

TEST(Canonical, PreordersAreWordsOverTheKeys) {
  EXPECT_TRUE(canonical::ValidPreorders("WAT,TAW,TWA"));
  EXPECT_TRUE(canonical::ValidPreorders("Z"));
  for (const char* bad : {"", ",", "W,", ",W", "W,,A", "w", "WX", "W A", "WATZCLUW"}) {
    EXPECT_FALSE(canonical::ValidPreorders(bad)) << bad;
  }
}

TEST(Canonical, DeepPathsNeitherOverflowTheStackNorFillTheMemory) {
  Problem problem;
  for (int b = 0; b < 5'000; ++b) {
    problem.buffers.push_back({std::to_string(b), b, b + 2, 1 + b % 3, 1, {}, {}, {}});
  }
  const Instance instance = Compile(problem);
  const Overlaps overlaps = FindOverlaps(instance);
  canonical::Options options;
  options.dynamic_decomposition = false;
  const auto search = canonical::MakeSearch(instance, overlaps, options);
  Budget budget;
  const auto answer = search->Decide({MaxLiveLoad(problem).load + 6, 6'000}, budget);
  EXPECT_NE(answer.verdict, Verdict::kImpossible);
}

}  // namespace
}  // namespace berth::internal
