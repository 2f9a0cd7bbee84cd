// Each solver against the truth, and against the exact search on what the oracle cannot do.
#include "berth/solvers.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <thread>

#include "testing/differential.h"
#include "testing/oracle.h"

namespace berth::internal {
namespace {

class SolverTest : public testing::TestWithParam<Solver> {
 protected:
  void SetUp() override {
    if (!Info(GetParam()).available()) GTEST_SKIP() << "this build has none";
  }

  // What is wrong with its answers to `problem` at `capacity`, of which the truth is known.
  [[nodiscard]] std::optional<std::string> Decide(Problem problem, Bytes capacity, bool fits) const {
    problem.capacity = capacity;
    SolverOptions options;
    options.solver = GetParam();
    Budget budget;
    const auto answer = PlaceWithSolver(problem, options, budget);
    if (!answer) return answer.error().message;
    const std::string at = " at capacity " + std::to_string(capacity);
    if (fits) {
      if (answer->outcome != Outcome::kFeasible && answer->outcome != Outcome::kOptimal) {
        return "says " + std::string(ToString(answer->outcome)) + at;
      }
      const auto valid = ValidatePlacement(problem, *answer->best);
      return valid ? std::nullopt : std::optional(valid.error().message);
    }
    if (answer->outcome == Outcome::kInfeasible) return std::nullopt;
    return "says " + std::string(ToString(answer->outcome)) + at + " where nothing fits";
  }

  // Likewise for the least height.
  [[nodiscard]] std::optional<std::string> Minimize(const Problem& problem, Bytes least) const {
    Problem unlimited = problem;
    unlimited.capacity.reset();
    SolverOptions options;
    options.solver = GetParam();
    Budget budget;
    const auto answer = PlaceWithSolver(unlimited, options, budget);
    if (!answer) return answer.error().message;
    if (answer->outcome != Outcome::kOptimal) {
      return "says " + std::string(ToString(answer->outcome)) + " without a capacity";
    }
    if (answer->best->height != least) {
      return "says that " + std::to_string(answer->best->height) + " is least";
    }
    const auto valid = ValidatePlacement(unlimited, *answer->best);
    return valid ? std::nullopt : std::optional(valid.error().message);
  }

  [[nodiscard]] std::optional<std::string> CompareWithOracle(const Problem& problem) const {
    const auto least = OracleHeight(problem);
    if (!least) return Decide(problem, 1000, false);
    for (const auto& wrong : {Decide(problem, *least - 1, false), Decide(problem, *least, true),
                              Minimize(problem, *least)}) {
      if (wrong) return wrong;
    }
    return std::nullopt;
  }

  // Starting CBC costs some milliseconds each time.
  [[nodiscard]] int Count(int count) const { return GetParam() == Solver::kIlp ? count / 5 : count; }
};

TEST_P(SolverTest, AgreesWithTheOracle) {
  EXPECT_TRUE(ForRandomProblems(1, Count(500), {},
                                [&](const Problem& problem) { return CompareWithOracle(problem); }));
}

TEST_P(SolverTest, AgreesWithTheOracleWithEverything) {
  ProblemKnobs knobs = AllKnobs();
  knobs.pins_may_collide = true;
  EXPECT_TRUE(ForRandomProblems(70'000, Count(1000), knobs,
                                [&](const Problem& problem) { return CompareWithOracle(problem); }));
}

TEST_P(SolverTest, AgreesWithTheOracleWithManyWindows) {
  ProblemKnobs knobs = AllKnobs();
  knobs.gap_chance = 0.9;
  knobs.window_chance = 1;
  knobs.max_gaps = 3;
  knobs.max_buffers = 5;
  EXPECT_TRUE(ForRandomProblems(90'000, Count(500), knobs,
                                [&](const Problem& problem) { return CompareWithOracle(problem); }));
}

std::string Name(const testing::TestParamInfo<Solver>& info) {
  std::string name(Info(info.param).name);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, SolverTest,
                         testing::Values(Solver::kIlp, Solver::kCp, Solver::kZ3, Solver::kCsp,
                                         Solver::kMetaCsp),
                         Name);

}  // namespace
}  // namespace berth::internal
