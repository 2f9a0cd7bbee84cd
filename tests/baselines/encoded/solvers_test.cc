// Each solver against the truth, and against the exact search on what the oracle cannot do.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <thread>

#include "berth/baselines.h"
#include "testing/differential.h"
#include "testing/oracle.h"
#include "tests/baselines/encoded/ask.h"

namespace berth::internal {
namespace {

using Verdict = Decision::Verdict;

class SolverTest : public testing::TestWithParam<Baseline> {
 protected:
  void SetUp() override {
    if (!Info(GetParam()).available()) GTEST_SKIP() << "this build has none";
  }

  [[nodiscard]] BaselineOptions Options() const {
    BaselineOptions options;
    options.baseline = GetParam();
    return options;
  }

  // What is wrong with its answer for `capacity`, given the true answer. No bound is computed
  // before the solver runs.
  [[nodiscard]] std::optional<std::string> Decide(Problem problem, Bytes capacity,
                                                  bool fits) const {
    problem.capacity = capacity;
    const Encoding encoding = EncodeAll(problem);
    Budget budget;
    const Decision decision = Ask(GetParam(), problem, encoding, encoding.Within(capacity), budget);
    const std::string at = " at capacity " + std::to_string(capacity);
    if (decision.verdict != (fits ? Verdict::kFound : Verdict::kImpossible)) {
      return "says " + std::to_string(static_cast<int>(decision.verdict)) + at;
    }
    if (!fits) return std::nullopt;
    Placement plan;
    for (const Grains offset : decision.offsets) plan.offsets.push_back(offset * encoding.grain);
    plan.height = Height(problem, plan.offsets);
    const auto valid = ValidatePlacement(problem, plan);
    return valid ? std::nullopt : std::optional(valid.error().message + at);
  }

  // The same for the least height, through PlaceWithBaseline().
  [[nodiscard]] std::optional<std::string> Minimize(const Problem& problem, Bytes least) const {
    Problem unlimited = problem;
    unlimited.capacity.reset();
    Budget budget;
    const auto answer = PlaceWithBaseline(unlimited, Options(), budget);
    if (!answer) return answer.error().message;
    if (answer->outcome != Outcome::kOptimal) {
      return "says " + std::string(ToString(answer->outcome)) + " without a capacity";
    }
    if (answer->best->height() != least) {
      return "says that " + std::to_string(answer->best->height()) + " is least";
    }
    const auto valid = ValidatePlacement(unlimited, PlacementOf(*answer->best));
    return valid ? std::nullopt : std::optional(valid.error().message);
  }

  [[nodiscard]] Check CompareWithOracle() const {
    return [this](const Problem& problem) -> std::optional<std::string> {
      const auto least = OracleHeight(problem);
      if (!least) return Decide(problem, 100, false);
      for (const auto& wrong : {Decide(problem, *least - 1, false), Decide(problem, *least, true),
                                Minimize(problem, *least)}) {
        if (wrong) return wrong;
      }
      return std::nullopt;
    };
  }

  // Starting CBC or Z3 costs milliseconds each time.
  [[nodiscard]] int Count(int count) const {
    if (GetParam() == Baseline::kIlp) return count / 10;
    return GetParam() == Baseline::kZ3 ? count / 30 : count;
  }
};

TEST_P(SolverTest, AgreesWithTheOracle) {
  EXPECT_TRUE(ForRandomProblems(1, Count(800), {}, CompareWithOracle()));
}

TEST_P(SolverTest, AgreesWithTheOracleWithEverything) {
  ProblemKnobs knobs = AllKnobs();
  knobs.pins_may_collide = true;
  EXPECT_TRUE(ForRandomProblems(70'000, Count(1200), knobs, CompareWithOracle()));
}

TEST_P(SolverTest, AgreesWithTheOracleWithManyWindows) {
  ProblemKnobs knobs = AllKnobs();
  knobs.gap_chance = 0.9;
  knobs.window_chance = 1;
  knobs.max_gaps = 3;
  knobs.max_buffers = 5;
  EXPECT_TRUE(ForRandomProblems(90'000, Count(400), knobs, CompareWithOracle()));
}

TEST_P(SolverTest, AgreesWithTheOracleWithAlignmentsOfAllKinds) {
  ProblemKnobs knobs;
  knobs.alignment_chance = 0.8;
  knobs.max_alignment = 7;
  knobs.pin_chance = 0.2;
  knobs.max_buffers = 5;
  EXPECT_TRUE(ForRandomProblems(110'000, Count(400), knobs, CompareWithOracle()));
}

// Tight tables whose least height the exact search proves, with numbers up to a million.
TEST_P(SolverTest, AgreesWithTheExactSearch) {
  ProblemKnobs knobs;
  knobs.min_buffers = 7;
  knobs.max_buffers = 9;
  knobs.horizon = 10;
  knobs.max_size = GetParam() == Baseline::kCsp ? 20 : 200'000;
  EXPECT_TRUE(ForRandomProblems(130'000, Count(60), knobs, [&](const Problem& problem) {
    PlaceOptions exact;
    exact.algorithm = Algorithm::kNiche;
    Budget budget;
    const auto answer = Place(problem, exact, budget);
    if (!answer || answer->outcome != Outcome::kOptimal) return std::optional<std::string>();
    const Bytes least = answer->best->height();
    auto wrong = Decide(problem, least, true);
    return wrong ? wrong : Decide(problem, least - 1, false);
  }));
}

TEST_P(SolverTest, AnswersCorrectlyAtEachCapacity) {
  Problem problem;
  problem.buffers = {{"a", 0, 3, 40}, {"b", 3, 5, 40}, {"c", 2, 4, 40}};
  problem.capacity = 100;
  Budget budget;
  auto answer = PlaceWithBaseline(problem, Options(), budget);
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->stopped, StopReason::kAnswered);
  EXPECT_LE(answer->best->height(), 100);
  EXPECT_EQ(answer->placing.algorithm, Info(GetParam()).name);
  EXPECT_EQ(answer->height_bound, 80);
  problem.capacity = 79;
  answer = PlaceWithBaseline(problem, Options(), budget);
  EXPECT_EQ(answer->outcome, Outcome::kInfeasible);
  // Three stairs: the load is 4, but no plan is lower than 5.
  problem.buffers = {{"a", 0, 2, 2}, {"b", 1, 3, 1}, {"c", 1, 4, 1}, {"d", 2, 5, 2},
                     {"e", 3, 6, 1}, {"f", 4, 7, 1}, {"g", 4, 6, 1}, {"h", 0, 1, 2}};
  const auto least = OracleHeight(problem);
  BaselineOptions options = Options();
  options.minimize = true;
  problem.capacity = 100;
  answer = PlaceWithBaseline(problem, options, budget);
  EXPECT_EQ(answer->outcome, Outcome::kOptimal);
  EXPECT_EQ(answer->best->height(), least);
  EXPECT_EQ(answer->height_bound, least);
}

TEST_P(SolverTest, PinsThatCollideFitNowhere) {
  Problem problem;
  problem.buffers = {{"a", 0, 3, 4, 1, 2}, {"b", 2, 4, 4, 1, 5}, {"c", 0, 4, 1}};
  for (const auto& capacity : {std::optional<Bytes>(), std::optional<Bytes>(100)}) {
    problem.capacity = capacity;
    Budget budget;
    const auto answer = PlaceWithBaseline(problem, Options(), budget);
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(answer->outcome, Outcome::kInfeasible);
    EXPECT_FALSE(answer->best.has_value());
  }
}

TEST_P(SolverTest, PlacesNothing) {
  Budget budget;
  const auto answer = PlaceWithBaseline({}, Options(), budget);
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->outcome, Outcome::kOptimal);
  EXPECT_EQ(answer->best->height(), 0);
}

// 40 buffers, nearly full: no solver finishes at once.
Problem Hard() {
  Problem problem;
  for (int b = 0; b < 60; ++b) {
    const int start = b * 7 % 23;
    problem.buffers.push_back(
        {std::to_string(b), start, start + 3 + b * 5 % 11, 1000 + b * 7919 % 9973});
  }
  problem.capacity = MaxLiveLoad(problem).load;
  return problem;
}

TEST_P(SolverTest, EndsAtItsNodeLimit) {
  Problem problem = Hard();
  problem.buffers.resize(16);  // For the ILP, even its first node is expensive.
  problem.capacity = MaxLiveLoad(problem).load;
  Budget budget;
  budget.SetNodeLimit(3);
  const auto answer = PlaceWithBaseline(problem, Options(), budget);
  ASSERT_TRUE(answer.has_value());
  EXPECT_LE(answer->nodes, 3);
  if (GetParam() == Baseline::kIlp || GetParam() == Baseline::kZ3) return;  // May need no more.
  EXPECT_EQ(answer->outcome, Outcome::kUnknown);
  EXPECT_EQ(answer->stopped, StopReason::kBudget);
}

TEST_P(SolverTest, IsCancelledBeforeItsStart) {
  Budget budget;
  budget.Cancel();
  const auto answer = PlaceWithBaseline(Hard(), Options(), budget);
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->outcome, Outcome::kUnknown);
  EXPECT_EQ(answer->stopped, StopReason::kBudget);
  EXPECT_FALSE(answer->best.has_value());
}

TEST_P(SolverTest, IsCancelledFromAnotherThread) {
  Budget budget;
  std::thread canceller([&budget] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    budget.Cancel();
  });
  const auto answer = PlaceWithBaseline(Hard(), Options(), budget);
  canceller.join();
  ASSERT_TRUE(answer.has_value());
  if (answer->outcome == Outcome::kUnknown) {
    EXPECT_EQ(answer->stopped, StopReason::kBudget);
  }
}

TEST_P(SolverTest, RepeatsItself) {
  Problem problem = Hard();
  problem.buffers.resize(14);
  problem.capacity = MaxLiveLoad(problem).load * 5 / 4;
  std::optional<PlanAnswer> first;
  for (int run = 0; run < 2; ++run) {
    Budget budget;
    budget.SetNodeLimit(2000);
    const auto answer = PlaceWithBaseline(problem, Options(), budget);
    ASSERT_TRUE(answer.has_value());
    if (first) {
      EXPECT_EQ(first->best, answer->best);
      EXPECT_EQ(first->nodes, answer->nodes);
    }
    first = *answer;
  }
}

TEST_P(SolverTest, ReportsProgress) {
  Problem problem = Hard();
  problem.buffers.resize(10);
  problem.capacity.reset();
  BaselineOptions options = Options();
  Progress last;
  options.progress = [&last](const Progress& progress) { last = progress; };
  Budget budget;
  budget.SetNodeLimit(2000);
  const auto answer = PlaceWithBaseline(problem, options, budget);
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(last.best, answer->best->height());
  EXPECT_EQ(last.bound, answer->height_bound);
}

TEST_P(SolverTest, RejectsInvalidProblems) {
  Problem problem;
  problem.buffers = {{"a", 3, 3, 4}};
  Budget budget;
  const auto answer = PlaceWithBaseline(problem, Options(), budget);
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, ErrorCode::kInvalidProblem);
}

std::string Name(const testing::TestParamInfo<Baseline>& info) { return TestName(info.param); }
INSTANTIATE_TEST_SUITE_P(All, SolverTest, testing::ValuesIn(kAllSolvers), Name);

// Sizes of 2^58 bytes that differ by single bytes fit neither a double nor a solver's tolerances.
TEST(Solvers, TakeHugeNumbersExactlyOrNotAtAll) {
  const Bytes huge = Bytes{1} << 57;
  Problem problem;
  problem.buffers = {{"a", 0, 2, huge + 1}, {"b", 0, 2, huge + 2}, {"c", 1, 3, huge}};
  problem.capacity = 3 * huge + 2;  // One byte short.
  for (const Baseline solver : kAllSolvers) {
    if (!Info(solver).available()) continue;
    SCOPED_TRACE(TestName(solver));
    BaselineOptions options;
    options.baseline = solver;
    Budget budget;
    const auto short_by_one = PlaceWithBaseline(problem, options, budget);
    if (short_by_one) {
      EXPECT_EQ(short_by_one->outcome, Outcome::kInfeasible);
    }
    Problem fits = problem;
    fits.capacity = 3 * huge + 3;
    budget.SetNodeLimit(1000);
    const auto answer = PlaceWithBaseline(fits, options, budget);
    if (solver == Baseline::kIlp) {
      ASSERT_FALSE(answer.has_value());
      EXPECT_EQ(answer.error().code, ErrorCode::kUnsupported);
      EXPECT_NE(answer.error().message.find("2^53"), std::string::npos) << answer.error().message;
    } else if (solver == Baseline::kCp) {
      EXPECT_EQ(answer->stopped, StopReason::kSize);
      EXPECT_EQ(answer->outcome, Outcome::kUnknown);
    } else if (solver != Baseline::kCsp) {
      EXPECT_EQ(answer->outcome, Outcome::kOptimal);
    }
    // Common divisors do not count.
    for (Buffer& buffer : fits.buffers) buffer.size = huge;
    fits.capacity = 3 * huge;
    const auto divided = PlaceWithBaseline(fits, options, budget);
    ASSERT_TRUE(divided.has_value()) << divided.error().message;
    EXPECT_EQ(divided->outcome, Outcome::kOptimal);
  }
}

// Where the ILP's numbers are large against tolerances, its plans count and its proofs do not.
TEST(Solvers, DoNotTakeTheWordOfFloatingPoint) {
  if (!Info(Baseline::kIlp).available()) GTEST_SKIP();
  Problem problem;
  problem.buffers = {{"a", 0, 2, 2'000'003}, {"b", 1, 3, 3'000'000}, {"c", 2, 4, 2'000'003}};
  const Bytes least = 5'000'003;  // Of a and b.
  problem.capacity = least;
  BaselineOptions options;
  options.baseline = Baseline::kIlp;
  Budget budget;
  const auto answer = PlaceWithBaseline(problem, options, budget);
  ASSERT_TRUE(answer.has_value());
  EXPECT_TRUE(answer->best && answer->best->height() <= least);
  const Encoding encoding = EncodeAll(problem);
  ASSERT_EQ(encoding.grain, 1);
  EXPECT_EQ(Ask(Baseline::kIlp, problem, encoding, least - 1, budget).verdict,
            Verdict::kInconclusive);
}

TEST(Solvers, SolveTheIlpByEachBackend) {
  Problem problem;
  problem.buffers = {{"a", 0, 3, 4}, {"b", 3, 5, 4}, {"c", 2, 4, 4}};
  for (const milp::BackendInfo& info : milp::Backends()) {
    BaselineOptions options;
    options.baseline = Baseline::kIlp;
    const std::string name = info.backend == milp::Backend::kCbc ? "cbc" : "highs";
    ASSERT_TRUE(SetOption(options, "ilp.solver", name).has_value());
    Budget budget;
    const auto answer = PlaceWithBaseline(problem, options, budget);
    ASSERT_EQ(answer.has_value(), info.available()) << name;
    if (answer) {
      EXPECT_EQ(answer->best->height(), 8);
    } else {
      EXPECT_EQ(answer.error().code, ErrorCode::kUnsupported);
    }
  }
  BaselineOptions options;
  options.baseline = Baseline::kIlp;
  options.settings["ilp.solver"] = "cplex";
  Budget budget;
  EXPECT_EQ(PlaceWithBaseline(problem, options, budget).error().message,
            "option ilp.solver is \"cplex\" but must be any, cbc or highs");
}

TEST(Solvers, NameWhatABuildLacks) {
  for (const Baseline solver : kAllSolvers) {
    if (Info(solver).available()) continue;
    BaselineOptions options;
    options.baseline = solver;
    Budget budget;
    const auto answer = PlaceWithBaseline({}, options, budget);
    ASSERT_FALSE(answer.has_value());
    EXPECT_EQ(answer.error().code, ErrorCode::kUnsupported);
    EXPECT_NE(answer.error().message.find(Info(solver).package), std::string::npos);
  }
}

TEST(Solvers, TheConstraintProgramNeedsNoRestarts) {
  if (!Info(Baseline::kCp).available()) GTEST_SKIP();
  BaselineOptions options;
  options.baseline = Baseline::kCp;
  ASSERT_TRUE(SetOption(options, "cp.restarts", "off").has_value());
  EXPECT_TRUE(ForRandomProblems(150'000, 300, AllKnobs(), [&](Problem problem) {
    const auto least = OracleHeight(problem);
    problem.capacity.reset();
    Budget budget;
    const auto answer = PlaceWithBaseline(problem, options, budget);
    if (!least || (answer && answer->best && answer->best->height() == *least &&
                   answer->outcome == Outcome::kOptimal)) {
      return std::optional<std::string>();
    }
    return std::optional<std::string>("another height");
  }));
}

}  // namespace
}  // namespace berth::internal
