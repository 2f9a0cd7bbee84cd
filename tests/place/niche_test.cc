// The niche search against the oracle, with every combination of its switches.
//
// A rule that prunes too much shows in tight problems: at the least height a plan must be found,
// just below it none may be. The oracle gives the least height of tiny problems, the other exact
// searches that of larger ones.

#include "place/niche/niche.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "base/random.h"
#include "place/canonical/canonical.h"
#include "place/disjunctive/disjunctive.h"
#include "testing/differential.h"
#include "testing/oracle.h"
#include "testing/shrink.h"
#include "tests/place/generated.h"

namespace berth::internal {
namespace {

constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();
using Verdict = SearchAnswer::Verdict;
using Complaint = std::optional<std::string>;

// The switches, so that a number can stand for a combination.
constexpr std::array kSwitches = {&niche::Options::lowest_first,
                                  &niche::Options::waste_budget,
                                  &niche::Options::conflict_weights,
                                  &niche::Options::backjumping,
                                  &niche::Options::transpositions,
                                  &niche::Options::restarts,
                                  &niche::Options::portfolio,
                                  &niche::Options::calm_runs,
                                  &niche::Options::beam,
                                  &niche::Options::identical_order,
                                  &niche::Options::widest_first,
                                  &niche::Options::best_fit,
                                  &niche::Options::vectors};
constexpr unsigned kAllOn = (1u << kSwitches.size()) - 1;

niche::Options Combination(unsigned bits) {
  niche::Options options;
  for (std::size_t s = 0; s < kSwitches.size(); ++s) options.*kSwitches[s] = (bits >> s & 1) != 0;
  return options;
}

struct Tally {
  int searches = 0;
  int gave_up = 0;
  int gave_up_without_budget = 0;
  int inconclusive = 0;
};

struct Way {
  niche::Options options;
  std::uint64_t seed = 1;
  std::int64_t node_limit = kNoLimit;
};

// What is wrong with the verdicts around the least height, one capacity after the other.
Complaint Judge(const Problem& problem, Bytes least, const std::vector<Bytes>& capacities,
                const Way& way, Tally& tally) {
  const Instance instance = Compile(problem);
  const auto search = niche::MakeSearch(instance, way.options, way.seed);
  for (const Bytes capacity : capacities) {
    const std::string where =
        " at " + std::to_string(capacity) + ", least " + std::to_string(least);
    Budget budget;
    // Most searches are interrupted once.
    SearchAnswer answer = search->Decide({capacity, 5}, budget);
    if (answer.nodes > 5) return "more nodes than allowed" + where;
    if (answer.verdict == Verdict::kGaveUp) {
      answer = search->Decide({capacity, way.node_limit}, budget);
    }
    ++tally.searches;
    switch (answer.verdict) {
      case Verdict::kFound: {
        Problem limited = problem;
        limited.capacity = capacity;
        const auto valid =
            ValidatePlacement(limited, {answer.offsets, Height(problem, answer.offsets)});
        if (!valid) return valid.error().message + where;
        if (capacity < least) return "found a plan" + where;
        break;
      }
      case Verdict::kImpossible:
        if (capacity >= least) return "calls it impossible" + where;
        break;
      case Verdict::kInconclusive:
        if (!instance.has_windows) return "inconclusive without windows" + where;
        ++tally.inconclusive;
        break;
      case Verdict::kGaveUp:
        if (way.node_limit == kNoLimit) return "gave up" + where;
        // Without the waste budget, failures are only detected at the capacity.
        ++(way.options.waste_budget ? tally.gave_up : tally.gave_up_without_budget);
        break;
    }
  }
  return std::nullopt;
}

Complaint CompareWithOracle(const Problem& problem, const Way& way, Tally& tally) {
  const auto plan = OraclePlace(problem);
  // Where pins overlap, Place() handles that before any search.
  if (!plan || problem.buffers.empty()) return std::nullopt;
  const Bytes least = plan->height;
  std::vector<Bytes> capacities = {least - 1, least, least + 1, least - 1};
  const Bytes load = MaxLiveLoad(problem).load;
  if (load < least) capacities.push_back(load);
  return Judge(problem, least, capacities, way, tally);
}

// The least height by the other exact searches; nothing if that takes too long.
std::optional<Bytes> LeastHeight(const Problem& problem, std::int64_t node_limit) {
  const Instance instance = Compile(problem);
  const Overlaps overlaps = FindOverlaps(instance);
  const auto by_offset = canonical::MakeSearch(instance, overlaps, {});
  const auto by_pairs = disjunctive::MakeSearch(instance, overlaps);
  for (Bytes capacity = MaxLiveLoad(problem).lower_bound;; ++capacity) {
    Budget budget;
    const SearchAnswer answer = overlaps.stackable
                                    ? by_offset->Decide({capacity, node_limit}, budget)
                                    : by_pairs->Decide({capacity, node_limit / 10}, budget);
    if (answer.verdict == Verdict::kFound) return capacity;
    if (answer.verdict != Verdict::kImpossible) return std::nullopt;
  }
}

Complaint CompareWithOtherSearches(const Problem& problem, const Way& way, Tally& tally) {
  if (problem.buffers.empty() || CollidingPins(problem)) return std::nullopt;
  const auto least = LeastHeight(problem, 20'000);
  if (!least) return std::nullopt;
  return way.seed % 4 < 2 ? Judge(problem, *least, {*least - 1, *least}, way, tally)
                          : Judge(problem, *least, {*least, *least - 1}, way, tally);
}

// Like ForRandomProblems(), for problems of another source.
bool Holds(const std::string& name, const Problem& problem, const Check& check) {
  const Complaint complaint = check(problem);
  if (!complaint) return true;
  const Problem small = Shrink(
      problem, [&](const Problem& candidate) { return check(candidate).has_value(); }, 3000);
  ADD_FAILURE() << name << ": " << *complaint
                << "\nThe smallest problem that still fails: " << check(small).value_or("?")
                << "\n\n"
                << ToCpp(small) << "\n"
                << ToTable(small);
  return false;
}

// Exactly full, of small sizes: some fit and some do not.
Problem SmallFull(std::uint64_t seed) {
  Random random(seed);
  GenerateParameters parameters;
  parameters.seed = seed;
  parameters.buffers = random.Uniform(4, 9);
  parameters.steps = random.Uniform(4, 12);
  parameters.capacity = random.Uniform(8, 24);
  return Generated(Family::kFull, parameters);
}

// A plan without holes, with sizes small enough for many wrong choices.
Problem SmallPlanted(std::uint64_t seed) {
  Random random(seed);
  GenerateParameters parameters;
  parameters.seed = seed;
  parameters.buffers = random.Uniform(8, 25);
  parameters.steps = random.Uniform(8, 40);
  parameters.capacity = random.Uniform(30, 200);
  return Generated(Family::kPlanted, parameters);
}

// ---- Tiny problems, judged by the oracle.

TEST(Niche, MatchesTheOracle) {
  ProblemKnobs knobs;
  knobs.horizon = 10;
  Tally tally;
  EXPECT_TRUE(ForRandomProblems(1, 3000, knobs, [&](const Problem& problem) {
    return CompareWithOracle(problem, {}, tally);
  }));
}

TEST(Niche, MatchesTheOracleWithIdenticalBuffers) {
  Tally tally;
  EXPECT_TRUE(ForRandomProblems(50'000, 1500, TwinKnobs(), [&](Problem problem) {
    AddTwins(problem);
    return CompareWithOracle(problem, {}, tally);
  }));
}

// One feature at a time, then all together.
struct Feature {
  const char* name;
  double ProblemKnobs::*chance;
};

TEST(Niche, MatchesTheOracleWithEachFeature) {
  const Feature features[] = {{"alignment", &ProblemKnobs::alignment_chance},
                              {"gaps", &ProblemKnobs::gap_chance},
                              {"hints", &ProblemKnobs::hint_chance},
                              {"pins", &ProblemKnobs::pin_chance}};
  std::uint64_t seed = 100'000;
  for (const Feature& feature : features) {
    ProblemKnobs knobs;
    knobs.*feature.chance = 0.6;
    knobs.window_chance = 0;
    Tally tally;
    EXPECT_TRUE(ForRandomProblems(seed, 1000, knobs, [&](const Problem& problem) {
      return CompareWithOracle(problem, {}, tally);
    })) << feature.name;
    seed += 10'000;
  }
}

TEST(Niche, MatchesTheOracleWithEverything) {
  Tally tally;
  EXPECT_TRUE(ForRandomProblems(200'000, 3000, AllKnobs(), [&](const Problem& problem) {
    return CompareWithOracle(problem, {}, tally);
  }));
  EXPECT_GT(tally.searches, 10'000);
  EXPECT_LT(tally.inconclusive, tally.searches / 6);
}

TEST(Niche, MatchesTheOracleWithManyWindows) {
  ProblemKnobs knobs;
  knobs.gap_chance = 0.9;
  knobs.window_chance = 1;
  knobs.max_gaps = 3;
  knobs.max_buffers = 5;
  Tally tally;
  EXPECT_TRUE(ForRandomProblems(300'000, 1500, knobs, [&](const Problem& problem) {
    return CompareWithOracle(problem, {}, tally);
  }));
}

TEST(Niche, EveryCombinationOfSwitchesGivesTheVerdictsOfTheOracle) {
  for (unsigned bits = 0; bits <= kAllOn; ++bits) {
    Way way;
    way.options = Combination(bits);
    way.seed = bits;
    Tally tally;
    for (const ProblemKnobs& knobs : {ProblemKnobs(), AllKnobs()}) {
      ASSERT_TRUE(ForRandomProblems(
          1'000'000 + 10 * bits, 10, knobs,
          [&](const Problem& problem) { return CompareWithOracle(problem, way, tally); }))
          << "combination " << bits;
    }
  }
}

// A buffer in the gap of one that rests on a floor does not limit how far that floor can be wasted.
TEST(Niche, ABufferInAGapIsNoSupport) {
  Problem problem;
  problem.buffers = {{"a", 0, 3, 3, 1, {}, {}, {Gap{1, 2, {}}}},
                     {"b", 0, 1, 1, 4, {}, {}, {}},
                     {"c", 0, 5, 2, 1, {}, {}, {Gap{1, 4, {}}}},
                     {"d", 2, 4, 1, 1, {}, {}, {Gap{2, 3, {}}}}};
  Tally tally;
  for (const bool backjumping : {true, false}) {
    Way way;
    way.options.backjumping = backjumping;
    EXPECT_EQ(CompareWithOracle(problem, way, tally), std::nullopt);
    EXPECT_EQ(Judge(problem, *OracleHeight(problem), {7}, way, tally), std::nullopt);
  }
}

// Each of these was called infeasible by a search with one particular error.
struct Mistake {
  const char* name;
  std::vector<Buffer> buffers;
};

std::vector<Mistake> Mistakes() {
  const std::optional<Bytes> none;
  return {
      {"a known conflict is used where floors are held up by something else",
       {{"a", 0, 3, 5, 2, none, none, {}},
        {"b", 2, 4, 6, 1, none, none, {}},
        {"c", 0, 4, 1, 2, none, none, {Gap{0, 1, {}}}},
        {"d", 0, 4, 5, 1, none, none, {Gap{1, 3, {}}}},
        {"e", 2, 4, 1, 5, none, none, {}}}},
      {"states of different floors are taken for the same",
       {{"a", 0, 1, 7, 3, none, none, {}},
        {"b", 0, 1, 8, 4, none, none, {}},
        {"c", 0, 1, 4, 3, none, none, {}},
        {"d", 0, 1, 2, 5, none, none, {}},
        {"e", 0, 1, 4, 1, none, none, {}}}},
      {"what a floor could be given up to is not explained by the tops beside it",
       {{"a", 0, 1, 3, 1, 0, none, {}},
        {"b", 0, 4, 4, 1, none, none, {Gap{1, 3, {}}}},
        {"c", 2, 4, 1, 3, none, none, {}},
        {"d", 2, 4, 1, 3, none, none, {}},
        {"e", 2, 3, 3, 1, none, none, {}}}},
      {"a buffer that ends up too high is blamed on a section where it is not live",
       {{"a", 2, 3, 1, 1, none, none, {}},
        {"b", 0, 1, 1, 6, none, none, {}},
        {"c", 2, 3, 1, 4, none, none, {}},
        {"d", 0, 3, 3, 1, none, none, {}},
        {"e", 0, 1, 3, 5, none, none, {}}}},
      {"a conflict of a later part is stored for this one",
       {{"a", 0, 1, 1, 1, 3, none, {}},
        {"b", 1, 2, 2, 3, none, none, {}},
        {"c", 1, 2, 1, 1, 4, none, {}},
        {"d", 1, 2, 1, 6, none, none, {}},
        {"e", 0, 2, 2, 1, none, none, {}}}},
  };
}

TEST(Niche, FindsPlansThatMistakesMiss) {
  for (const Mistake& mistake : Mistakes()) {
    Problem problem;
    problem.buffers = mistake.buffers;
    const auto least = OracleHeight(problem);
    ASSERT_TRUE(least.has_value());
    Tally tally;
    for (unsigned bits = 0; bits <= kAllOn; ++bits) {
      Way way;
      way.options = Combination(bits);
      way.seed = 1 + bits % 5;
      ASSERT_EQ(Judge(problem, *least, {*least, *least - 1}, way, tally), std::nullopt)
          << mistake.name << ", combination " << bits;
    }
  }
}

// ---- Larger problems, judged by another search.

// Runs with switches drawn at random for each problem; a few may run out of nodes.
void CompareWithRandomSwitches(const char* name, std::uint64_t first_seed, int count,
                               Problem (*make)(std::uint64_t)) {
  Tally tally;
  for (std::uint64_t seed = first_seed; seed < first_seed + static_cast<std::uint64_t>(count);
       ++seed) {
    const auto bits = static_cast<unsigned>(Random(seed).Uniform(0, kAllOn));
    Way way;
    // Every other search is the default one.
    way.options = Combination(seed % 2 == 0 ? kAllOn : bits);
    way.seed = seed;
    way.node_limit = 30'000;
    ASSERT_TRUE(Holds(
        name + (" " + std::to_string(seed)), make(seed),
        [&](const Problem& problem) { return CompareWithOtherSearches(problem, way, tally); }))
        << "combination " << (seed % 2 == 0 ? kAllOn : bits);
  }
  EXPECT_GT(tally.searches, count);
  EXPECT_LE(tally.gave_up, tally.searches / 200);
  EXPECT_LE(tally.gave_up_without_budget, tally.searches / 10);
}

TEST(Niche, AgreesWithTheCanonicalSearchOnRandomProblems) {
  CompareWithRandomSwitches("random", 1, 400, [](std::uint64_t seed) {
    ProblemKnobs knobs;
    knobs.min_buffers = 8;
    knobs.max_buffers = 16;
    knobs.horizon = 12;
    knobs.max_size = 12;
    return RandomProblem(seed, knobs);
  });
}

TEST(Niche, AgreesWithTheOtherSearchesOnProblemsWithEverything) {
  CompareWithRandomSwitches("everything", 10'001, 400, [](std::uint64_t seed) {
    ProblemKnobs knobs = AllKnobs();
    knobs.min_buffers = 8;
    knobs.max_buffers = 12;
    knobs.horizon = 12;
    return RandomProblem(seed, knobs);
  });
}

// Alignment makes holes, so floors rise with much to explain. Hints mislead the search.
TEST(Niche, AgreesWithTheOtherSearchesOnProblemsWithHoles) {
  CompareWithRandomSwitches("holes", 60'001, 5000, [](std::uint64_t seed) {
    ProblemKnobs knobs = AllKnobs();
    knobs.min_buffers = 4;
    knobs.max_buffers = 10;
    knobs.horizon = 3 + static_cast<Step>(seed % 6);
    knobs.alignment_chance = 0.6;
    knobs.max_alignment = 6;
    knobs.hint_chance = 0.6;
    knobs.pin_chance = 0.15;
    knobs.window_chance = 0;
    return RandomProblem(seed, knobs);
  });
}

TEST(Niche, AgreesWithTheCanonicalSearchOnFullProblems) {
  CompareWithRandomSwitches("full", 20'001, 4000, SmallFull);
}

TEST(Niche, AgreesWithTheCanonicalSearchOnNearlyFullProblems) {
  CompareWithRandomSwitches("nearly full", 30'001, 6000, [](std::uint64_t seed) {
    Problem problem = SmallFull(seed);
    Random random(seed);
    for (auto k = random.Uniform(1, 3); k > 0 && problem.buffers.size() > 1; --k) {
      const auto last = static_cast<std::int64_t>(problem.buffers.size()) - 1;
      problem.buffers.erase(problem.buffers.begin() + random.Uniform(0, last));
    }
    return problem;
  });
}

// Once the few buffers that connect them are placed, the parts fail separately.
TEST(Niche, AgreesWithTheCanonicalSearchOnSeparableProblems) {
  CompareWithRandomSwitches("parts", 40'001, 3000, [](std::uint64_t seed) {
    Random random(seed);
    ProblemKnobs knobs;
    knobs.min_buffers = 3;
    knobs.max_buffers = 6;
    knobs.horizon = 5;
    knobs.max_size = 6;
    Problem problem;
    const auto parts = random.Uniform(2, 3);
    for (Step part = 0; part < parts; ++part) {
      for (Buffer buffer : RandomProblem(random.Next(), knobs).buffers) {
        buffer.start += 20 * part;
        buffer.end += 20 * part;
        problem.buffers.push_back(std::move(buffer));
      }
    }
    for (auto k = random.Uniform(1, 3); k > 0; --k) {
      const Step from = random.Uniform(0, 4);
      problem.buffers.push_back(
          {"", from, from + 20 * (parts - 1), random.Uniform(1, 6), 1, {}, {}, {}});
    }
    for (std::size_t b = 0; b < problem.buffers.size(); ++b) {
      problem.buffers[b].id = std::to_string(b);
    }
    return problem;
  });
}

TEST(Niche, AnyCombinationOfSwitchesFindsPlantedPlans) {
  Tally tally;
  for (std::uint64_t seed = 1; seed <= 5000; ++seed) {
    const Problem problem = SmallPlanted(seed);
    Way way;
    way.options = Combination(
        seed % 2 == 0 ? kAllOn : static_cast<unsigned>(Random(seed).Uniform(0, kAllOn)));
    way.seed = seed;
    way.node_limit = 30'000;
    const auto complaint = Judge(problem, *problem.capacity, {*problem.capacity}, way, tally);
    ASSERT_EQ(complaint, std::nullopt) << "seed " << seed;
  }
  EXPECT_LE(tally.gave_up, tally.searches / 200);
  EXPECT_LE(tally.gave_up_without_budget, tally.searches / 10);
}

// ---- The same plan everywhere.

SearchAnswer SearchOnce(const Problem& problem, Bytes capacity, const niche::Options& options,
                        std::int64_t node_limit = 20'000) {
  const Instance instance = Compile(problem);
  const auto search = niche::MakeSearch(instance, options, 7);
  Budget budget;
  return search->Decide({capacity, node_limit}, budget);
}

// With and without vectors, in 32 and in 64 bits.
Complaint CompareKernels(const Problem& problem, Bytes capacity) {
  // A single unit, after everything else, prevents sizes from being divided.
  Problem narrow = problem;
  Step end = 0;
  for (const Buffer& buffer : problem.buffers) end = std::max(end, buffer.end);
  narrow.buffers.push_back({"unit", end, end + 1, 1, 1, {}, {}, {}});
  constexpr Bytes kFactor = Bytes{1} << 31;
  Problem wide = narrow;
  for (std::size_t b = 0; b < problem.buffers.size(); ++b) {
    Buffer& buffer = wide.buffers[b];
    buffer.size *= kFactor;
    if (buffer.alignment != 1) buffer.alignment *= kFactor;
    if (buffer.offset) *buffer.offset *= kFactor;
    if (buffer.hint) *buffer.hint *= kFactor;
    for (Gap& gap : buffer.gaps) {
      if (gap.window) gap.window = Window{gap.window->lower * kFactor, gap.window->upper * kFactor};
    }
  }
  // The numbers themselves decide whether the table is full, so this test is left out across
  // widths.
  for (const bool transpositions : {true, false}) {
    niche::Options options;
    options.transpositions = transpositions;
    const SearchAnswer expected = SearchOnce(narrow, capacity, options, 3000);
    for (const bool vectors : {true, false}) {
      options.vectors = vectors;
      for (const Problem* other : {&narrow, &wide}) {
        if (transpositions && other == &wide) continue;
        const Bytes factor = other == &wide ? kFactor : 1;
        SearchAnswer answer = SearchOnce(*other, capacity * factor, options, 3000);
        for (Bytes& offset : answer.offsets) offset /= factor;
        const std::string which = std::string(other == &wide ? " (64 bits" : " (32 bits") +
                                  (vectors ? ")" : ", no vectors)");
        if (answer.verdict != expected.verdict) return "another verdict" + which;
        if (answer.nodes != expected.nodes) return "other nodes" + which;
        if (answer.offsets != expected.offsets) return "another plan" + which;
      }
    }
  }
  return std::nullopt;
}

TEST(Niche, TheSamePlanWithAndWithoutVectorsInThirtyTwoAndSixtyFourBits) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    GenerateParameters parameters;
    parameters.seed = seed;
    parameters.buffers = 5 + 2 * static_cast<std::int64_t>(seed);
    parameters.steps = 40;
    parameters.capacity = 1000;
    parameters.slack_percent = seed % 3 == 0 ? 1 : 0;
    for (const Family family : {Family::kPlanted, Family::kFull}) {
      const Problem problem = Generated(family, parameters);
      ASSERT_EQ(CompareKernels(problem, *problem.capacity), std::nullopt) << "seed " << seed;
    }
    const Problem everything = RandomProblem(seed, AllKnobs());
    ASSERT_EQ(CompareKernels(everything, MaxLiveLoad(everything).lower_bound), std::nullopt)
        << "seed " << seed;
  }
}

// Correct answers do not guard speed: a rule that no longer prunes shows in the node counts. They
// are the same with every compiler and build type. Update the numbers when a change of the search
// is intended to change them.
struct NodeCount {
  Family family;
  std::int64_t buffers;
  Bytes capacity;
  std::uint64_t seed;
  Verdict verdict;
  std::int64_t nodes;
};

std::ostream& operator<<(std::ostream& out, const NodeCount& count) {
  const auto& family = Families()[static_cast<std::size_t>(count.family)];
  return out << family.name << " " << count.buffers << ", seed " << count.seed;
}

class NicheNodes : public testing::TestWithParam<NodeCount> {};

TEST_P(NicheNodes, ArePinned) {
  GenerateParameters parameters;
  parameters.buffers = GetParam().buffers;
  parameters.capacity = GetParam().capacity;
  parameters.steps = 60;
  parameters.seed = GetParam().seed;
  const Problem problem = Generated(GetParam().family, parameters);
  const SearchAnswer answer = SearchOnce(problem, *problem.capacity, {}, 200'000);
  EXPECT_EQ(answer.verdict, GetParam().verdict);
  EXPECT_EQ(answer.nodes, GetParam().nodes);
}

INSTANTIATE_TEST_SUITE_P(
    Generated, NicheNodes,
    testing::Values(NodeCount{Family::kPlanted, 100, 1 << 20, 1, Verdict::kFound, 1582},
                    NodeCount{Family::kPlanted, 100, 1 << 20, 6, Verdict::kFound, 1438},
                    NodeCount{Family::kPlanted, 200, 1 << 20, 2, Verdict::kFound, 613},
                    NodeCount{Family::kFull, 60, 40, 1, Verdict::kImpossible, 2107},
                    NodeCount{Family::kFull, 60, 40, 8, Verdict::kImpossible, 1769},
                    NodeCount{Family::kFull, 40, 1000, 5, Verdict::kImpossible, 987}));

// An option that is never read would leave every node count unchanged.
TEST(Niche, EverySwitchChangesTheSearch) {
  for (std::size_t s = 0; s < kSwitches.size(); ++s) {
    if (kSwitches[s] == &niche::Options::vectors) continue;
    bool changes = false;
    for (std::uint64_t seed = 1; seed <= 200 && !changes; ++seed) {
      const Problem problem = SmallFull(seed);
      changes = SearchOnce(problem, *problem.capacity, Combination(kAllOn)).nodes !=
                SearchOnce(problem, *problem.capacity, Combination(kAllOn & ~(1u << s))).nodes;
    }
    for (std::uint64_t seed = 1; seed <= 30 && !changes; ++seed) {
      GenerateParameters parameters;
      parameters.seed = seed;
      parameters.buffers = 200;
      parameters.steps = 60;
      const Problem problem = Generated(Family::kPlanted, parameters);
      changes = SearchOnce(problem, *problem.capacity, Combination(kAllOn)).nodes !=
                SearchOnce(problem, *problem.capacity, Combination(kAllOn & ~(1u << s))).nodes;
    }
    // The beam search has its first turn after 15,000 nodes.
    for (std::uint64_t seed = 1; seed <= 6 && !changes; ++seed) {
      const Problem problem = PlantedWithLosses(seed, 200, 100);
      const Bytes load = MaxLiveLoad(problem).load;
      changes = SearchOnce(problem, load, Combination(kAllOn), 100'000).nodes !=
                SearchOnce(problem, load, Combination(kAllOn & ~(1u << s)), 100'000).nodes;
    }
    EXPECT_TRUE(changes) << "switch " << s;
  }
}

// ---- Known plans and hints.

Problem PlantedWithPlan(std::uint64_t seed, std::vector<Bytes>& plan) {
  GenerateParameters parameters;
  parameters.seed = seed;
  parameters.buffers = 200;
  const auto generated = Generate(Family::kPlanted, parameters);
  plan = generated->plan->offsets;
  return generated->problem;
}

// A planted plan wastes nothing: on every floor rests a buffer with that hint.
TEST(Niche, FollowsHints) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    std::vector<Bytes> plan;
    Problem problem = PlantedWithPlan(seed, plan);
    for (std::size_t b = 0; b < plan.size(); ++b) problem.buffers[b].hint = plan[b];
    const Instance instance = Compile(problem);
    const auto search = niche::MakeSearch(instance, {}, 1);
    Budget budget;
    const auto answer = search->Decide({*problem.capacity, kNoLimit}, budget);
    ASSERT_EQ(answer.verdict, Verdict::kFound);
    EXPECT_EQ(answer.offsets, plan);
    EXPECT_EQ(answer.nodes, 200);
  }
}

// ---- Budgets, and one call after another.

Problem Hard() {
  GenerateParameters parameters;
  parameters.buffers = 200;
  parameters.steps = 20;
  parameters.seed = 5;
  return Generated(Family::kPlanted, parameters);
}

TEST(Niche, EndsAtItsNodeLimit) {
  const Problem problem = Hard();
  const Instance instance = Compile(problem);
  for (const std::int64_t limit : {0, 1, 2, 999, 1000, 1001, 7777}) {
    for (const bool by_budget : {false, true}) {
      const auto search = niche::MakeSearch(instance, {}, 1);
      Budget budget;
      if (by_budget) budget.SetNodeLimit(limit);
      const auto answer = search->Decide({*problem.capacity, by_budget ? kNoLimit : limit}, budget);
      EXPECT_EQ(answer.verdict, Verdict::kGaveUp);
      EXPECT_EQ(answer.nodes, limit);
      EXPECT_EQ(budget.nodes_spent(), limit);
    }
  }
}

TEST(Niche, CancelledBeforeTheStartVisitsNothing) {
  const Problem problem = Hard();
  const Instance instance = Compile(problem);
  const auto search = niche::MakeSearch(instance, {}, 1);
  Budget budget;
  budget.Cancel();
  const auto answer = search->Decide({*problem.capacity, kNoLimit}, budget);
  EXPECT_EQ(answer.verdict, Verdict::kGaveUp);
  EXPECT_EQ(answer.nodes, 0);
}

TEST(Niche, TheTimeLimitEndsALongSearch) {
  const Problem problem = Hard();
  const Instance instance = Compile(problem);
  for (const bool restarts : {false, true}) {
    niche::Options options;
    options.restarts = restarts;
    const auto search = niche::MakeSearch(instance, options, 1);
    Budget budget;
    budget.SetTimeLimit(0.02);
    EXPECT_EQ(search->Decide({*problem.capacity, kNoLimit}, budget).verdict, Verdict::kGaveUp);
    EXPECT_TRUE(budget.Exhausted());
  }
}

// Reasons learned by earlier calls let short calls add up to a proof.
TEST(Niche, AnotherCallWithTheSameCapacityGoesOn) {
  GenerateParameters parameters;
  parameters.buffers = 60;
  parameters.capacity = 40;
  parameters.steps = 60;
  const Problem problem = Generated(Family::kFull, parameters);
  const Instance instance = Compile(problem);
  const auto at_once = niche::MakeSearch(instance, {}, 1);
  Budget budget;
  const auto proof = at_once->Decide({*problem.capacity, kNoLimit}, budget);
  ASSERT_EQ(proof.verdict, Verdict::kImpossible);
  const auto search = niche::MakeSearch(instance, {}, 1);
  const std::int64_t limit = proof.nodes / 4;
  std::int64_t nodes = 0;
  SearchAnswer answer;
  int calls = 0;
  while (answer.verdict == Verdict::kGaveUp && calls < 100) {
    answer = search->Decide({*problem.capacity, limit}, budget);
    nodes += answer.nodes;
    ++calls;
  }
  EXPECT_EQ(answer.verdict, Verdict::kImpossible);
  EXPECT_GT(calls, 1);
  EXPECT_LT(nodes, 5 * proof.nodes);
  // What is proved stays proved.
  EXPECT_EQ(search->Decide({*problem.capacity, proof.nodes}, budget).verdict, Verdict::kImpossible);
}

// What holds for one capacity need not hold for another.
TEST(Niche, AnotherCapacityStartsAfresh) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const Problem problem = SmallFull(seed);
    Tally tally;
    Way way;
    way.seed = seed;
    way.node_limit = 20'000;
    const auto least = LeastHeight(problem, 20'000);
    if (!least) continue;
    ASSERT_EQ(
        Judge(problem, *least,
              {*least - 1, *least, *least - 1, *least + 1, *least, *least - 2, *least}, way, tally),
        std::nullopt)
        << "seed " << seed;
  }
}

TEST(Niche, CapacitiesAreRoundedDownToTheCommonDivisor) {
  Problem problem;
  problem.buffers = {{"a", 0, 2, 40, 1, {}, {}, {}}, {"b", 0, 2, 60, 20, {}, {}, {}}};
  EXPECT_EQ(SearchOnce(problem, 99, {}).verdict, Verdict::kImpossible);
  EXPECT_EQ(SearchOnce(problem, 119, {}).verdict, Verdict::kFound);
}

// ---- Size and depth.

// Without restarts, so that they go as deep as there are buffers.
niche::Options WithoutRestarts() {
  niche::Options options;
  options.restarts = false;
  return options;
}

TEST(Niche, ManyBuffersOneAfterAnother) {
  Problem problem;
  for (int b = 0; b < 50'000; ++b) {
    problem.buffers.push_back({std::to_string(b), b, b + 1, 1 + b % 7, 1, {}, {}, {}});
  }
  const auto answer = SearchOnce(problem, 7, WithoutRestarts(), 60'000);
  EXPECT_EQ(answer.verdict, Verdict::kFound);
  EXPECT_EQ(answer.nodes, 50'000);
  EXPECT_EQ(SearchOnce(problem, 6, {}, 60'000).verdict, Verdict::kImpossible);
}

TEST(Niche, ManyBuffersOnTopOfEachOther) {
  Problem problem;
  for (int b = 0; b < 4'000; ++b) {
    problem.buffers.push_back({std::to_string(b), b % 2, 2 + b % 2, 1 + b % 97, 1, {}, {}, {}});
  }
  const auto answer = SearchOnce(problem, MaxLiveLoad(problem).load, WithoutRestarts(), 5'000);
  EXPECT_EQ(answer.verdict, Verdict::kFound);
}

TEST(Niche, LongChainsNeitherOverflowTheStackNorFillTheMemory) {
  Problem problem;
  for (int b = 0; b < 5'000; ++b) {
    problem.buffers.push_back({std::to_string(b), b, b + 2, 1 + b % 3, 1, {}, {}, {}});
  }
  const auto answer = SearchOnce(problem, MaxLiveLoad(problem).load, WithoutRestarts(), 6'000);
  EXPECT_NE(answer.verdict, Verdict::kImpossible);
}

}  // namespace
}  // namespace berth::internal
