// The search for the least height: its proofs must not depend on how large the numbers are.

#include "place/minimize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "berth/place.h"
#include "model/heights.h"
#include "model/instance.h"
#include "testing/differential.h"
#include "testing/oracle.h"
#include "testing/random_problem.h"
#include "tests/place/generated.h"

namespace berth::internal {
namespace {

// Large prime numbers: whoever steps from one byte to the next will not come far.
constexpr Bytes kPrimes[] = {1'000'003, 2'147'483'647, 1'099'511'627'689};

// All bytes times `factor`, and a buffer of one byte by itself, so that nothing divides all sizes.
Problem Scaled(Problem problem, Bytes factor) {
  Step end = 0;
  for (Buffer& buffer : problem.buffers) {
    buffer.size *= factor;
    buffer.alignment *= factor;
    if (buffer.offset) *buffer.offset *= factor;
    if (buffer.hint) *buffer.hint *= factor;
    for (Gap& gap : buffer.gaps) {
      if (!gap.window) continue;
      gap.window->lower *= factor;
      gap.window->upper *= factor;
    }
    end = std::max(end, buffer.end);
  }
  if (problem.capacity) *problem.capacity *= factor;
  problem.buffers.push_back({"one", end + 100, end + 101, 1});
  return problem;
}

class ExactAlgorithm : public testing::TestWithParam<Algorithm> {};

TEST_P(ExactAlgorithm, ProvesTheSameOfLargeNumbers) {
  ProblemKnobs knobs = AllKnobs();
  knobs.max_buffers = 5;
  for (const bool with_capacity : {false, true}) {
    knobs.with_capacity = with_capacity;
    for (const Bytes prime : kPrimes) {
      const std::uint64_t seed = static_cast<std::uint64_t>(prime % 100'000) * 1000;
      ASSERT_TRUE(ForRandomProblems(seed, 150, knobs, [&](const Problem& problem) {
        PlaceOptions options;
        options.algorithm = GetParam();
        options.minimize = true;
        Budget small_budget;
        const auto small = Place(problem, options, small_budget);
        Budget budget;
        budget.SetNodeLimit(1'000'000);
        const auto large = Place(Scaled(problem, prime), options, budget);
        if (!small || !large) return std::optional<std::string>();
        const bool proved = small->outcome == Outcome::kOptimal;
        if (small->outcome != large->outcome) {
          return std::optional(std::string(ToString(small->outcome)) + " becomes " +
                               std::string(ToString(large->outcome)));
        }
        if (proved && large->best->height() != prime * small->best->height()) {
          return std::optional(std::to_string(large->best->height()) + " is not " +
                               std::to_string(prime) + " times " +
                               std::to_string(small->best->height()));
        }
        return std::optional<std::string>();
      }));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, ExactAlgorithm,
                         testing::Values(Algorithm::kAuto, Algorithm::kNiche, Algorithm::kCanonical,
                                         Algorithm::kDisjunctive, Algorithm::kGuided),
                         [](const auto& param) { return std::string(Info(param.param).name); });

// Pins make bounds that one engine refutes without a node, over and over, one byte at a time.
TEST(LargeNumbers, AutoDecidesTablesWithPinsAndLargeSizes) {
  ProblemKnobs knobs;
  knobs.min_buffers = 8;
  knobs.max_buffers = 13;
  knobs.horizon = 12;
  knobs.max_size = 10'000'000;
  knobs.pin_chance = 0.15;
  int open = 0;
  ASSERT_TRUE(ForRandomProblems(31'000, 400, knobs, [&](const Problem& problem) {
    Budget budget;
    budget.SetNodeLimit(100'000);
    const auto answer = Place(problem, {}, budget);
    if (!answer) return std::optional(answer.error().message);
    open += answer->outcome != Outcome::kOptimal && answer->outcome != Outcome::kInfeasible;
    return std::optional<std::string>();
  }));
  EXPECT_EQ(open, 0);
}

TEST(LargeNumbers, OneMoreByteDoesNotHideAProof) {
  Problem problem;
  const std::vector<std::vector<Bytes>> rows = {
      {4, 6, 12}, {5, 8, 7},  {2, 5, 33}, {5, 8, 8},  {5, 6, 4},  {1, 2, 36, 57}, {5, 7, 11},
      {6, 8, 34}, {0, 3, 24}, {4, 7, 16}, {1, 7, 23}, {1, 5, 14}, {0, 7, 6},      {3, 4, 38, 44}};
  for (const auto& row : rows) {
    Buffer buffer{"b" + std::to_string(problem.buffers.size()), row[0], row[1], row[2]};
    if (row.size() > 3) buffer.offset = row[3];
    problem.buffers.push_back(buffer);
  }
  Budget budget;
  budget.SetNodeLimit(100'000);
  const auto answer = Place(Scaled(problem, 1'000'003), {}, budget);
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  EXPECT_EQ(answer->outcome, Outcome::kOptimal);
  EXPECT_EQ(answer->best->height(), 129 * 1'000'003);
}

TEST(LargeNumbers, NodeLimitHoldsWhereQuestionsCostNothing) {
  Problem problem;
  problem.buffers = {{"g0", 0, 3, 144'115'188'075},
                     {"g1", 0, 2, 144'115'188'075},
                     {"g2", 2, 4, 107'996'197'658},
                     {"g3", 3, 4, 144'115'188'075},
                     {"g4", 3, 4, 144'115'188'071}};
  problem.buffers[1].gaps = {{0, 1, Window{110'957'404'191, 139'425'477'522}}};
  problem.buffers[2].gaps = {{3, 4, Window{38'652'319'810, 62'061'919'670}}};
  problem.buffers[4].offset = 21'906'282'288;
  PlaceOptions options;
  options.algorithm = Algorithm::kNiche;
  Budget budget;
  budget.SetNodeLimit(1000);
  const auto answer = Place(problem, options, budget);
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  EXPECT_TRUE(answer->fits());
}

class EveryPlacer : public testing::TestWithParam<Algorithm> {};

TEST_P(EveryPlacer, HintsRaiseNoPlan) {
  ProblemKnobs knobs;
  knobs.hint_chance = 0.5;
  knobs.pin_chance = 0.1;
  knobs.alignment_chance = 0.2;
  knobs.max_buffers = 8;
  ASSERT_TRUE(ForRandomProblems(42'000, 400, knobs, [&](const Problem& problem) {
    Problem without = problem;
    for (Buffer& buffer : without.buffers) buffer.hint.reset();
    PlaceOptions options;
    options.algorithm = GetParam();
    Budget with_budget;
    const auto with_hints = Place(problem, options, with_budget);
    Budget budget;
    const auto plain = Place(without, options, budget);
    if (!with_hints || !plain || !plain->best) return std::optional<std::string>();
    if (with_hints->best->height() <= plain->best->height()) return std::optional<std::string>();
    return std::optional("hints raise the plan from " + std::to_string(plain->best->height()) +
                         " to " + std::to_string(with_hints->best->height()));
  }));
}

TEST_P(EveryPlacer, HintsNearTheLimitOfBytes) {
  Problem problem;
  const Bytes quarter = kMaxBytes / 4;
  problem.buffers = {
      {"a", 0, 1, quarter}, {"b", 0, 1, quarter}, {"c", 0, 1, quarter}, {"d", 0, 1, quarter - 4}};
  problem.buffers.front().hint = 3 * quarter;
  for (const std::optional<Bytes> capacity : {std::optional<Bytes>(), std::optional<Bytes>(1000)}) {
    problem.capacity = capacity;
    PlaceOptions options;
    options.algorithm = GetParam();
    Budget budget;
    budget.SetNodeLimit(0);
    const auto answer = Place(problem, options, budget);
    ASSERT_TRUE(answer.has_value()) << answer.error().message;
  }
}

std::vector<Algorithm> AllAlgorithms() {
  std::vector<Algorithm> algorithms;
  for (const AlgorithmInfo& info : Algorithms()) algorithms.push_back(info.algorithm);
  return algorithms;
}

std::string NameOf(const testing::TestParamInfo<Algorithm>& info) {
  std::string name(Info(info.param).name);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, EveryPlacer, testing::ValuesIn(AllAlgorithms()), NameOf);

TEST(Heights, IncludeTheLeastHeight) {
  ProblemKnobs knobs = AllKnobs();
  knobs.max_buffers = 5;
  for (const Bytes factor : {Bytes{1}, Bytes{7}, Bytes{1'000'003}}) {
    ASSERT_TRUE(ForRandomProblems(55'000, 1000, knobs, [&](const Problem& problem) {
      const auto least = OracleHeight(problem);
      if (!least) return std::optional<std::string>();
      const Bytes height = std::max<Bytes>(*least * factor, 1);
      const Instance instance = Compile(Scaled(problem, factor));
      for (const Bytes highest : {2 * height, height, height / 2}) {
        const Heights heights(instance, highest);
        for (Bytes below = 0; below < 20; ++below) {
          if (heights.AtLeast(std::max<Bytes>(height - below, 0)) > height ||
              heights.AtMost(height + below) < height) {
            return std::optional(std::to_string(height) + " is left out");
          }
        }
      }
      return std::optional<std::string>();
    }));
  }
}

// Whether as many sums as are needed say the same of `highest` as all.
bool AnswerTheSame(const Instance& instance, Bytes highest) {
  const Heights all(instance, highest);
  const Heights enough = Heights::UntilPossible(instance, highest);
  return enough.AtMost(highest) == all.AtMost(highest) &&
         enough.AtLeast(highest) == all.AtLeast(highest);
}

TEST(Heights, UntilPossibleAnswerTheSame) {
  ProblemKnobs knobs = AllKnobs();
  knobs.window_chance = 0;  // With windows all heights count as possible.
  int possible = 0;
  int impossible = 0;
  for (const int most : {6, 60}) {
    knobs.max_buffers = most;
    for (const Bytes factor : {Bytes{1}, Bytes{64}, Bytes{1'000'003}}) {
      ASSERT_TRUE(ForRandomProblems(56'000, 500, knobs, [&](Problem problem) {
        Bytes sum = 0;
        for (Buffer& buffer : problem.buffers) {  // Also with a common divisor.
          buffer.size *= factor;
          if (buffer.offset) *buffer.offset *= factor;
          sum += buffer.size;
        }
        problem.capacity.reset();
        const Instance instance = Compile(problem);
        for (const Bytes about : {sum, sum / 2, sum / 3, sum / 7, Bytes{20}, Bytes{1}}) {
          for (const Bytes above : {0, 1, 2}) {
            const Bytes highest = about + above;
            if (!AnswerTheSame(instance, highest)) {
              return std::optional(std::to_string(highest) + " has another answer");
            }
            ++(Heights::UntilPossible(instance, highest).AtMost(highest) == highest ? possible
                                                                                    : impossible);
          }
        }
        return std::optional<std::string>();
      }));
    }
  }
  EXPECT_GT(possible, 1000);
  EXPECT_GT(impossible, 1000);
}

TEST(Heights, AreTheSumsOfSizes) {
  Problem problem;
  const std::vector<Bytes> sizes = {5'000'011, 5'000'011, 12'000'017, 31'000'003, 1};
  for (const Bytes size : sizes) {
    problem.buffers.push_back({std::to_string(problem.buffers.size()), 0, 1, size});
  }
  std::set<Bytes> sums;
  for (unsigned set = 0; set < (1U << sizes.size()); ++set) {
    Bytes sum = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if ((set >> i & 1U) != 0) sum += sizes[i];
    }
    sums.insert(sum);
  }
  const Heights heights(Compile(problem), *sums.rbegin());
  for (const Bytes sum : sums) {
    EXPECT_EQ(heights.AtLeast(sum), sum);
    EXPECT_EQ(heights.AtMost(sum), sum);
    const auto next = sums.lower_bound(sum + 2);
    if (next == sums.end()) continue;
    EXPECT_EQ(heights.AtMost(sum + 1), sums.count(sum + 1) != 0 ? sum + 1 : sum);
    EXPECT_EQ(heights.AtLeast(sum + 2), *next);
  }
}

// With thousands of sums the closest are taken together, and none is lost.
TEST(Heights, LoseNoSumWhereThereAreTooMany) {
  Problem problem;
  Bytes size = 1'000'000'007;
  for (int i = 0; i < 18; ++i) {
    problem.buffers.push_back({std::to_string(i), 0, 1, size});
    size += size / 3 + 1;
  }
  const Bytes total = std::accumulate(problem.buffers.begin(), problem.buffers.end(), Bytes{0},
                                      [](Bytes sum, const Buffer& b) { return sum + b.size; });
  const Instance instance = Compile(problem);
  const Heights heights(instance, total);
  for (Bytes part = 1; part < 60; ++part) EXPECT_TRUE(AnswerTheSame(instance, total / part));
  for (unsigned set = 0; set < (1U << 18); set += 97) {
    Bytes sum = 0;
    for (std::size_t i = 0; i < 18; ++i) {
      if ((set >> i & 1U) != 0) sum += problem.buffers[i].size;
    }
    ASSERT_EQ(heights.AtLeast(sum), sum);
    ASSERT_EQ(heights.AtMost(sum), sum);
  }
}

// Nothing is ever decided: of each round the bound gets four parts, the middle and the highest capacity one.
TEST(Minimize, AsksMostAboutTheBound) {
  Problem problem;
  problem.buffers = {{"a", 0, 1, 1}};
  Budget budget;
  Incumbent incumbent(problem, 1, nullptr, budget);
  incumbent.Offer({999}, "first");
  std::map<Bytes, std::int64_t> nodes;
  const Decider decider{Heights(1), 1,
                        [&](Bytes capacity, std::int64_t node_limit) {
                          nodes[capacity] += node_limit;
                          SearchAnswer answer;
                          answer.nodes = node_limit;
                          return answer;
                        },
                        [] { return std::string_view("fake"); }};
  // Ten rounds, each of twice the nodes of the one before: 6 * 2000 * (2^10 - 1).
  EXPECT_TRUE(Minimize(decider, incumbent, 6 * 2000 * 1023, budget));
  ASSERT_EQ(nodes.size(), 3U);
  EXPECT_EQ(nodes[1], 4 * nodes[500]);
  EXPECT_EQ(nodes[999], nodes[500]);
}

// One buffer, which may lie at any offset; what is found is at most a sixteenth below the plan, so
// the bound and the middle are beyond reach.
TEST(Minimize, TakesLargerStepsWhereSmallOnesSucceed) {
  constexpr Bytes kHigh = 100'000;
  Problem problem;
  problem.buffers = {{"a", 0, 1, 1}};
  Budget budget;
  Incumbent incumbent(problem, 1, nullptr, budget);
  incumbent.Offer({kHigh - 1}, "first");
  int found = 0;
  std::int64_t repaired = 0;
  const Decider decider{Heights(1), 1,
                        [&](Bytes capacity, std::int64_t node_limit) {
                          SearchAnswer answer;
                          answer.nodes = node_limit;
                          if (capacity < incumbent.height() - incumbent.height() / 16)
                            return answer;
                          answer.verdict = SearchAnswer::Verdict::kFound;
                          answer.offsets = {capacity - 1};
                          ++found;
                          return answer;
                        },
                        [] { return std::string_view("fake"); },
                        [&](std::int64_t nodes) { repaired += nodes; }};
  EXPECT_TRUE(Minimize(decider, incumbent, std::int64_t{1} << 40, budget));
  // A round finds few plans, and only some forty rounds are allowed.
  EXPECT_LT(incumbent.height(), kHigh / 2);
  EXPECT_LE(found, 500);
  EXPECT_GT(repaired, 0);
}

// A table that exact search alone leaves more than one per cent above the bound.
TEST(Minimize, RepairTakesTurnsWithExactSearch) {
  GenerateParameters random;
  random.buffers = 1500;
  random.live = 200;
  random.seed = 3;
  const Problem problem = Generated(Family::kRandom, random);
  Budget budget;
  budget.SetNodeLimit(20'000);
  PlaceOptions options;
  options.minimize = true;
  const auto answer = Place(problem, options, budget);
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  const Bytes height = answer->best->height();
  EXPECT_LE(height - answer->height_bound, answer->height_bound / 100)
      << height << " of at least " << answer->height_bound;
}

}  // namespace
}  // namespace berth::internal
