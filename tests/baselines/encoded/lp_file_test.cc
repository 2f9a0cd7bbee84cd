// The LP file: what it looks like, and that a solver which reads it finds the same optimum.
#include "baselines/milp/lp_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <sstream>
#include <string>

#include "berth/baselines.h"
#include "testing/oracle.h"
#include "testing/random_problem.h"
#include "tests/baselines/encoded/read_lp.h"

namespace berth::internal {
namespace {

std::string Golden() {
  std::ostringstream text;
  text << std::ifstream(BERTH_SOURCE_DIR "/tests/golden/three.lp").rdbuf();
  return text.str();
}

TEST(LpFile, MatchesTheGoldenFile) {
  Problem problem;
  problem.buffers = {{"a", 0, 3, 4096, 1024}, {"b", 3, 5, 4096}, {"c d", 2, 4, 6144, 1, 4096}};
  problem.capacity = 16384;
  const auto text = WriteLp(problem, true);
  ASSERT_TRUE(text.has_value());
  EXPECT_EQ(*text, Golden());
}

TEST(LpFile, NamesAreSafeAndDifferent) {
  const std::vector<std::string> names = {"x",
                                          "x",
                                          "e12",
                                          "E",
                                          "3d",
                                          "",
                                          "st",
                                          "Bound",
                                          "a b",
                                          "a-b",
                                          "\xc3\xa9",
                                          std::string(300, 'y'),
                                          std::string(301, 'y'),
                                          "x_1"};
  const std::vector<std::string> safe = milp::SafeNames(names);
  ASSERT_EQ(safe.size(), names.size());
  for (std::size_t i = 0; i < safe.size(); ++i) {
    SCOPED_TRACE(safe[i]);
    EXPECT_LE(safe[i].size(), 100u);
    EXPECT_TRUE(std::isalpha(static_cast<unsigned char>(safe[i].front())));
    EXPECT_NE(std::tolower(safe[i].front()), 'e');
    for (const char c : safe[i]) {
      EXPECT_TRUE(std::isalnum(static_cast<unsigned char>(c)) || c == '_');
    }
    EXPECT_EQ(std::count(safe.begin(), safe.end(), safe[i]), 1);
  }
  EXPECT_EQ(safe[0], "x");
  EXPECT_NE(safe[6], "st");
}

TEST(LpFile, WritesEveryKindOfBoundAndSide) {
  milp::Model model;
  const auto x = model.AddVariable("x", -milp::kInfinity, milp::kInfinity);
  const auto y = model.AddVariable("y", -5, milp::kInfinity);
  const auto z = model.AddVariable("z", -milp::kInfinity, 7);
  const auto fixed = model.AddVariable("fixed", 3, 3);
  const auto real = model.AddVariable("real", 0, 1);
  model.variables[real].integer = false;
  model.AddConstraint("both", -2, {{x, 1}, {y, -1}}, 9'007'199'254'740'992);
  model.AddConstraint("same", 4, {{z, 3}, {fixed, 2}}, 4);
  model.objective = {{x, 1}, {real, -2}};
  const std::string text = milp::WriteLp(model, "one\ntwo");
  for (const char* line : {"\\ one\n\\ two\n", " objective: x - 2 real\n", " both: x - y >= -2\n",
                           " both_upper: x - y <= 9007199254740992\n", " same: 3 z + 2 fixed = 4\n",
                           " x free\n", " -5 <= y\n", " -inf <= z <= 7\n", " fixed = 3\n",
                           " 0 <= real <= 1\n", "Generals\n x y z fixed\n", "End\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << "in\n" << text;
  }
}

TEST(LpFile, ReadsBackWithTheSameOptimum) {
  if (!CanReadLp()) GTEST_SKIP() << "this build has no CBC";
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    Problem problem = RandomProblem(seed, AllKnobs());
    const auto least = OracleHeight(problem);
    if (!least) continue;
    problem.capacity.reset();
    const auto text = WriteLp(problem, true);
    ASSERT_TRUE(text.has_value()) << text.error().message;
    const double optimum = OptimumOfLp(*text);
    // Counted in grains; a plan on the grid is no higher than the least.
    EXPECT_EQ(static_cast<Bytes>(optimum), *least / GrainOfLp(*text)) << *text;
  }
}

TEST(LpFile, RejectsUnsupportedProblems) {
  Problem problem;
  problem.buffers = {{"a", 0, 3, 8}};
  problem.capacity = 4;
  EXPECT_EQ(WriteLp(problem, false).error().message,
            "buffer \"a\" alone does not fit the capacity");
  problem.buffers = {{"a", 0, 3, 8, 1, 0}, {"b", 0, 3, 8, 1, 4}};
  problem.capacity.reset();
  EXPECT_EQ(WriteLp(problem, true).error().message,
            "two pins overlap, so there is no plan to ask for");
  problem.buffers = {{"a", 0, 3, (Bytes{1} << 55) + 1}, {"b", 0, 3, (Bytes{1} << 55)}};
  EXPECT_EQ(WriteLp(problem, true).error().code, ErrorCode::kUnsupported);
  problem.buffers = {{"a", 0, 0, 1}};
  EXPECT_EQ(WriteLp(problem, true).error().code, ErrorCode::kInvalidProblem);
}

}  // namespace
}  // namespace berth::internal
