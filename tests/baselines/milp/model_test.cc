// The model's own arithmetic, and what each backend makes of models by themselves.
#include "baselines/milp/model.h"

#include <gtest/gtest.h>

#include <string>

#include "base/random.h"
#include "baselines/milp/solve.h"

namespace berth::internal::milp {
namespace {

// An integer program with bounds on its variables.
Model RandomModel(std::uint64_t seed) {
  Random random(seed);
  Model model;
  const auto variables = static_cast<int>(random.Uniform(1, 4));
  for (int v = 0; v < variables; ++v) {
    const Number lower = random.Uniform(-3, 2);
    model.AddVariable("x" + std::to_string(v), lower, lower + random.Uniform(0, 4));
  }
  const auto terms = [&](double chance) {
    std::vector<Term> all;
    for (const VariableIndex v : model.variables.indices()) {
      const Number coefficient = random.Uniform(-5, 5);
      if (coefficient != 0 && random.Chance(chance)) all.push_back({v, coefficient});
    }
    return all;
  };
  const auto constraints = random.Uniform(0, 4);
  for (int c = 0; c < constraints; ++c) {
    const Number lower = random.Chance(0.3) ? -kInfinity : random.Uniform(-9, 3);
    const Number upper =
        random.Chance(0.3) ? kInfinity : std::max<Number>(lower, -9) + random.Uniform(0, 9);
    model.AddConstraint("c" + std::to_string(c), lower, terms(0.8), upper);
  }
  if (random.Chance(0.8)) model.objective = terms(0.9);
  return model;
}

// The best of all values; nothing if there is no solution.
std::optional<Number> BestByTrying(const Model& model) {
  std::vector<Number> values;
  for (const Variable& variable : model.variables) values.push_back(variable.lower);
  std::optional<Number> best;
  while (true) {
    if (!FindViolation(model, values)) {
      const Number objective = ObjectiveAt(model, values);
      best = std::min(best.value_or(objective), objective);
    }
    std::size_t v = 0;
    for (; v < values.size(); ++v) {
      const Variable& variable = model.variables[VariableIndex(v)];
      if (++values[v] <= variable.upper) break;
      values[v] = variable.lower;
    }
    if (v == values.size()) return best;
  }
}

class BackendTest : public testing::TestWithParam<Backend> {
 protected:
  void SetUp() override {
    if (!Backends()[static_cast<std::size_t>(GetParam())].available()) {
      GTEST_SKIP() << "this build has none";
    }
  }
};

TEST_P(BackendTest, FindsTheBestOfAll) {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE(seed);
    const Model model = RandomModel(seed);
    const auto best = BestByTrying(model);
    Budget budget;
    const auto answer = Solve(model, GetParam(), {}, budget);
    ASSERT_TRUE(answer.has_value()) << answer.error().message;
    if (!best) {
      EXPECT_EQ(answer->status, Status::kInfeasible);
      continue;
    }
    ASSERT_EQ(answer->status, Status::kOptimal);
    EXPECT_EQ(FindViolation(model, answer->values), std::nullopt);
    EXPECT_EQ(answer->objective, *best);
    EXPECT_EQ(answer->bound, *best);
  }
}

// A knapsack of pairs, hard enough to need some nodes.
Model Knapsack(int items) {
  Model model;
  std::vector<Term> weight;
  for (int i = 0; i < items; ++i) {
    const VariableIndex v = model.AddBinary("take" + std::to_string(i));
    weight.push_back({v, 1000 + i * 7919 % 997});
    model.objective.push_back({v, -(1000 + i * 6007 % 991)});
  }
  model.AddConstraint("weight", -kInfinity, std::move(weight), items * 1500 / 3);
  return model;
}

TEST_P(BackendTest, BeginsWithTheStart) {
  Model model = Knapsack(40);
  model.start.assign(40, 0);
  model.start[3] = 1;
  Budget budget;
  const auto answer = Solve(model, GetParam(), {}, budget);
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->status, Status::kOptimal);
  model.start.assign(40, 1);  // Not a solution: ignored.
  const auto other = Solve(model, GetParam(), {}, budget);
  EXPECT_EQ(other->objective, answer->objective);
}

TEST_P(BackendTest, RespectsItsLimits) {
  const Model model = Knapsack(60);
  Budget none;
  none.SetNodeLimit(0);
  EXPECT_EQ(Solve(model, GetParam(), {}, none)->status, Status::kUnknown);
  Budget cancelled;
  cancelled.Cancel();
  EXPECT_EQ(Solve(model, GetParam(), {}, cancelled)->status, Status::kUnknown);
  Budget few;
  few.SetNodeLimit(2);
  const auto answer = Solve(model, GetParam(), {}, few);
  EXPECT_LE(answer->nodes, 2);
  EXPECT_LE(few.nodes_spent(), 2);
}

TEST_P(BackendTest, ProvesNothingAboutLargeNumbers) {
  Model model;
  const VariableIndex x = model.AddVariable("x", 0, 3'000'000);
  const VariableIndex y = model.AddVariable("y", 0, 3'000'000);
  model.AddConstraint("odd", 5'999'999, {{x, 2}, {y, 3}}, 5'999'999);
  Budget budget;
  auto answer = Solve(model, GetParam(), {}, budget);
  EXPECT_EQ(answer->status, Status::kOptimal);  // A solution is a solution.
  model.objective = {{x, 1}};
  answer = Solve(model, GetParam(), {}, budget);
  EXPECT_EQ(answer->status, Status::kFeasible);
  EXPECT_TRUE(answer->distrusted);
  EXPECT_FALSE(answer->bound.has_value());
  model.AddConstraint("never", 3'000'001, {{x, 1}}, kInfinity);
  answer = Solve(model, GetParam(), {}, budget);
  EXPECT_EQ(answer->status, Status::kUnknown);
  EXPECT_TRUE(answer->distrusted);
}

TEST_P(BackendTest, SolvesModelsWithoutVariables) {
  Model model;
  Budget budget;
  EXPECT_EQ(Solve(model, GetParam(), {}, budget)->status, Status::kOptimal);
  model.AddConstraint("never", 1, {}, 2);
  EXPECT_EQ(Solve(model, GetParam(), {}, budget)->status, Status::kInfeasible);
}

INSTANTIATE_TEST_SUITE_P(All, BackendTest, testing::Values(Backend::kCbc, Backend::kHighs),
                         [](const testing::TestParamInfo<Backend>& backend) {
                           return backend.param == Backend::kCbc ? "cbc" : "highs";
                         });

TEST(Backends, SayWhatIsMissing) {
  for (const BackendInfo& info : Backends()) {
    EXPECT_EQ(&info - Backends().data(), static_cast<std::ptrdiff_t>(info.backend));
    if (info.available()) continue;
    Budget budget;
    const auto answer = Solve(Knapsack(3), info.backend, {}, budget);
    ASSERT_FALSE(answer.has_value());
    EXPECT_EQ(answer.error().code, ErrorCode::kUnsupported);
    EXPECT_NE(answer.error().message.find(info.name), std::string::npos);
  }
}

TEST(Model, FindsViolationsThatDoublesWouldNot) {
  Model model;
  const VariableIndex x = model.AddVariable("x", 0, Number{1} << 60);
  const VariableIndex y = model.AddVariable("y", 0, Number{1} << 60);
  model.AddConstraint("apart", 1, {{x, 1}, {y, -1}}, kInfinity);
  model.AddConstraint("together", -kInfinity, {{x, 1 << 20}, {y, 1 << 20}}, kInfinity);
  const Number huge = Number{1} << 59;
  EXPECT_EQ(FindViolation(model, {huge + 1, huge}), std::nullopt);
  EXPECT_EQ(FindViolation(model, {huge, huge}), "constraint \"apart\" does not hold");
  EXPECT_NE(FindViolation(model, {huge + 1, -1}), std::nullopt);
  EXPECT_NE(FindViolation(model, {huge + 1}), std::nullopt);
}

TEST(Model, RejectsInvalidModels) {
  const auto message = [](const Model& model) {
    const auto valid = Validate(model);
    return valid ? std::string() : valid.error().message;
  };
  Model model;
  const VariableIndex x = model.AddVariable("x", 0, 9);
  EXPECT_EQ(message(model), "");
  Model wrong = model;
  wrong.variables[x].upper = -1;
  EXPECT_EQ(message(wrong), "variable \"x\" has no value between its bounds");
  wrong = model;
  wrong.AddConstraint("c", 0, {{x, 1}, {x, 2}}, 1);
  EXPECT_EQ(message(wrong), "constraint \"c\" has two coefficients for \"x\"");
  wrong = model;
  wrong.AddConstraint("c", 0, {{x, 0}}, 1);
  EXPECT_EQ(message(wrong), "constraint \"c\" has coefficient 0 for \"x\"");
  wrong = model;
  wrong.AddConstraint("c", 2, {{x, 1}}, 1);
  EXPECT_EQ(message(wrong), "constraint \"c\" has its lower side above its upper one");
  wrong = model;
  wrong.AddConstraint("c", 0, {{VariableIndex(7), 1}}, 1);
  EXPECT_EQ(message(wrong), "constraint \"c\" names a variable that does not exist");
  wrong = model;
  wrong.start = {1, 2};
  EXPECT_EQ(message(wrong), "the start has not one value for each variable");
  wrong = model;
  wrong.AddConstraint("c", 0, {{x, (Number{1} << 53) / 8}}, kInfinity);
  EXPECT_EQ(message(wrong),
            "constraint \"c\": its greatest sum exceeds 2^53, beyond which solvers cannot count "
            "whole numbers");
}

TEST(Model, DividesConstraintsAndRoundsInwards) {
  Model model;
  const VariableIndex x = model.AddVariable("x", -9, 9);
  const VariableIndex y = model.AddVariable("y", -9, 9);
  model.AddConstraint("c", -7, {{x, 6}, {y, -4}}, 9);
  model.AddConstraint("open", -kInfinity, {{x, 3}}, -4);
  DivideConstraints(model);
  const Constraint& c = model.constraints[ConstraintIndex(0)];
  EXPECT_EQ(c.terms[0].coefficient, 3);
  EXPECT_EQ(c.terms[1].coefficient, -2);
  EXPECT_EQ(c.lower, -3);
  EXPECT_EQ(c.upper, 4);
  EXPECT_EQ(model.constraints[ConstraintIndex(1)].lower, -kInfinity);
  EXPECT_EQ(model.constraints[ConstraintIndex(1)].upper, -2);
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Model before = RandomModel(seed);
    for (Constraint& constraint : before.constraints) {
      for (Term& term : constraint.terms) term.coefficient *= 3;
    }
    Model after = before;
    DivideConstraints(after);
    EXPECT_EQ(BestByTrying(before), BestByTrying(after)) << seed;
  }
}

}  // namespace
}  // namespace berth::internal::milp
