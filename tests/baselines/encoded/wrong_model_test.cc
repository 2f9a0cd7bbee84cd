// A wrong model fails: leaving out any part of the ILP or the encoding changes an answer.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "baselines/milp/solve.h"
#include "tests/baselines/encoded/ask.h"

namespace berth::internal {
namespace {

using Verdict = Decision::Verdict;

// Problems without a plan in `capacity` bytes, as tight as possible: without any one of their
// constraints a plan would exist.
struct Tight {
  std::string name;
  Problem problem;
  Bytes capacity;
};
std::vector<Tight> TightProblems() {
  std::vector<Tight> all(4);
  all[0] = {"three at once", {{{"a", 0, 3, 3}, {"b", 0, 3, 2}, {"c", 0, 3, 2}}}, 6};
  all[1] = {"aligned", {{{"a", 0, 3, 3, 4}, {"b", 0, 3, 3, 4}}}, 6};
  all[2] = {"pinned", {{{"a", 0, 3, 2, 1, 2}, {"b", 0, 3, 3}}}, 6};
  // b just fits into the gap of a.
  all[3] = {
      "windows",
      {{{"a", 0, 4, 6, 1, {}, {}, {{0, 2, Window{0, 2}}, {2, 4, Window{4, 6}}}}, {"b", 0, 4, 3}}},
      7};
  return all;
}

// The program's answer by itself, without Berth's own arithmetic: a plan that fits, nothing fits,
// or offsets that are not a plan.
enum class Says { kPlan, kNothing, kNonsense };
Says Solve(const Tight& tight, const Encoding& encoding, const IlpModel& ilp) {
  Budget budget;
  const auto answer = milp::Solve(ilp.model, *milp::DefaultBackend(), {}, budget);
  if (!answer) return Says::kNonsense;
  if (answer->status == milp::Status::kInfeasible) return Says::kNothing;
  if (answer->values.empty()) return Says::kNonsense;
  Problem problem = tight.problem;
  problem.capacity = tight.capacity;
  Placement plan;
  for (std::size_t x = 0; x < encoding.items.size(); ++x) {
    plan.offsets.push_back(answer->values[ilp.positions[x].position()] *
                           encoding.items[x].alignment * encoding.grain);
  }
  plan.height = Height(problem, plan.offsets);
  return ValidatePlacement(problem, plan) ? Says::kPlan : Says::kNonsense;
}

class WrongModel : public testing::Test {
 protected:
  void SetUp() override {
    if (!milp::DefaultBackend()) GTEST_SKIP() << "this build has none";
  }
};

TEST_F(WrongModel, FailsWithoutAnyOneConstraint) {
  for (const Tight& tight : TightProblems()) {
    const Encoding encoding = EncodeAll(tight.problem);
    const Grains capacity = encoding.Within(tight.capacity);
    const IlpModel ilp = BuildIlp(tight.problem, encoding, capacity, std::nullopt);
    EXPECT_EQ(Solve(tight, encoding, ilp), Says::kNothing) << tight.name;
    ASSERT_FALSE(ilp.model.constraints.empty());
    for (const milp::ConstraintIndex c : ilp.model.constraints.indices()) {
      IlpModel wrong = ilp;
      wrong.model.constraints[c].lower = -milp::kInfinity;
      wrong.model.constraints[c].upper = milp::kInfinity;
      // Either of two constraints could replace the pin; all others are needed.
      const bool expendable = (tight.name == "pinned" || tight.name == "windows") &&
                              Solve(tight, encoding, wrong) == Says::kNothing;
      if (expendable) continue;
      EXPECT_EQ(Solve(tight, encoding, wrong), Says::kNonsense)
          << tight.name << ", without " << ilp.model.constraints[c].name;
    }
  }
}

TEST_F(WrongModel, FailsWithAnyWrongNumber) {
  const Tight tight = TightProblems()[0];
  const Encoding encoding = EncodeAll(tight.problem);
  const IlpModel ilp = BuildIlp(tight.problem, encoding, tight.capacity, std::nullopt);
  // Constraint (1), with an M that has no effect.
  IlpModel loose = BuildIlp(tight.problem, encoding, 7, std::nullopt);
  for (const milp::VariableIndex position : loose.positions) {
    loose.model.variables[position].upper -= 1;
  }
  EXPECT_EQ(Solve(tight, encoding, loose), Says::kNothing);
  for (const milp::VariableIndex position : loose.positions) {
    IlpModel wrong = loose;
    wrong.model.variables[position].upper += 1;
    EXPECT_EQ(Solve(tight, encoding, wrong), Says::kNonsense);
  }
  for (const milp::ConstraintIndex c : ilp.model.constraints.indices()) {
    if (!ilp.model.constraints[c].name.starts_with("apart")) continue;
    IlpModel wrong = ilp;
    wrong.model.constraints[c].lower -= 1;  // A size too small by one.
    EXPECT_EQ(Solve(tight, encoding, wrong), Says::kNonsense) << ilp.model.constraints[c].name;
  }
  // An M that is too small forbids plans: at 7 there are some.
  const IlpModel right = BuildIlp(tight.problem, encoding, 7, std::nullopt);
  Tight fits = tight;
  fits.capacity = 7;
  EXPECT_EQ(Solve(fits, encoding, right), Says::kPlan);
  IlpModel wrong = right;
  for (milp::Constraint& constraint : wrong.model.constraints) {
    if (!constraint.name.starts_with("apart")) continue;
    for (milp::Term& term : constraint.terms) {
      if (term.coefficient == 7) term.coefficient = 3;
    }
  }
  EXPECT_EQ(Solve(fits, encoding, wrong), Says::kNothing);
}

TEST_F(WrongModel, FailsWithoutAlignment) {
  const Tight tight = TightProblems()[1];
  const Encoding encoding = EncodeAll(tight.problem);
  IlpModel wrong = BuildIlp(tight.problem, encoding, tight.capacity, std::nullopt);
  for (const milp::VariableIndex position : wrong.positions) {
    wrong.model.variables[position].upper = 3;
  }
  for (milp::Constraint& constraint : wrong.model.constraints) {
    for (milp::Term& term : constraint.terms) {
      if (term.coefficient == 4) term.coefficient = 1;
      if (term.coefficient == -4) term.coefficient = -1;
    }
  }
  EXPECT_EQ(Solve(tight, encoding, wrong), Says::kNonsense);
}

// To minimise, each buffer's top counts.
TEST_F(WrongModel, FailsWithoutTheHeightConstraint) {
  const Tight tight = TightProblems()[0];
  const Encoding encoding = EncodeAll(tight.problem);
  const IlpModel ilp = BuildIlp(tight.problem, encoding, 9, 1);
  const auto height_of = [&](const IlpModel& model) {
    Budget budget;
    return milp::Solve(model.model, *milp::DefaultBackend(), {}, budget).value().objective;
  };
  EXPECT_EQ(height_of(ilp), 7);
  int tops = 0;
  for (const milp::ConstraintIndex c : ilp.model.constraints.indices()) {
    if (!ilp.model.constraints[c].name.starts_with("below_")) continue;
    IlpModel wrong = ilp;
    wrong.model.constraints[c].lower = -milp::kInfinity;
    EXPECT_LT(height_of(wrong), 7) << ilp.model.constraints[c].name;
    ++tops;
  }
  EXPECT_EQ(tops, 3);
}

// The same for the encoding that all solvers share.
TEST(WrongEncoding, FailsInEachSolver) {
  for (const Baseline solver : kAllSolvers) {
    if (!Info(solver).available()) continue;
    for (const Tight& tight : TightProblems()) {
      SCOPED_TRACE(TestName(solver) + ", " + tight.name);
      const Encoding encoding = EncodeAll(tight.problem);
      const Grains capacity = encoding.Within(tight.capacity);
      Budget budget;
      const auto verdict = [&](const Encoding& asked) {
        return Ask(solver, tight.problem, asked, capacity, budget).verdict;
      };
      EXPECT_EQ(verdict(encoding), Verdict::kImpossible);
      for (std::size_t p = 0; p < encoding.pairs.size(); ++p) {
        Encoding wrong = encoding;
        wrong.pairs.erase(wrong.pairs.begin() + static_cast<std::ptrdiff_t>(p));
        // The free space of sections notices, too, where the sections are not tampered with.
        if (solver != Baseline::kCsp) {
          EXPECT_EQ(verdict(wrong), Verdict::kFound) << "pair " << p;
        }
        // A difference of one byte does not show where an alignment or a window hides it.
        if (tight.name == "aligned" || tight.name == "windows") continue;
        wrong = encoding;
        wrong.pairs[p].forbidden.front().lower += 1;
        wrong.pairs[p].forbidden.back().upper -= 1;
        if (solver != Baseline::kCsp) {
          EXPECT_EQ(verdict(wrong), Verdict::kFound) << "pair " << p;
        }
      }
    }
  }
}

}  // namespace
}  // namespace berth::internal
