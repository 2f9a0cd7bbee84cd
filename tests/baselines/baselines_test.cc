// The table of baselines and that of their settings are complete and say what is done.
#include "berth/baselines.h"

#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>

#include "testing/differential.h"
#include "testing/oracle.h"
#include "tests/place/judge.h"

namespace berth {
namespace {

using internal::ProblemKnobs;

TEST(Baselines, AreAllThereInOrder) {
  ASSERT_EQ(Baselines().size(), static_cast<std::size_t>(Baseline::kMetaCsp) + 1);
  std::set<std::string_view> names;
  for (std::size_t k = 0; k < Baselines().size(); ++k) {
    const BaselineInfo& info = Baselines()[k];
    EXPECT_EQ(info.baseline, static_cast<Baseline>(k));
    EXPECT_EQ(&Info(info.baseline), &info);
    EXPECT_EQ(BaselineFromName(info.name), info.baseline);
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_EQ(AlgorithmFromName(info.name), std::nullopt) << info.name;
    EXPECT_EQ(info.summary.back(), '.');
    EXPECT_FALSE(info.source.empty());
    EXPECT_TRUE(info.available() || !info.package.empty());
  }
  EXPECT_EQ(BaselineFromName("niche"), std::nullopt);
}

TEST(Baselines, WithoutSolversPlaceAsWell) {
  Problem problem;
  problem.buffers = {{"a", 0, 3, 4}, {"b", 3, 5, 4}, {"c", 2, 4, 4}};
  for (const Baseline baseline : {Baseline::kTelaMalloc, Baseline::kCsp, Baseline::kMetaCsp}) {
    EXPECT_TRUE(Info(baseline).available());
    BaselineOptions options;
    options.baseline = baseline;
    Budget budget;
    const auto answer = PlaceWithBaseline(problem, options, budget);
    ASSERT_TRUE(answer && answer->best);
    EXPECT_EQ(answer->best->height(), 8);
  }
}

// The solvers have tests of their own.
TEST(Baselines, KeepTheirPromises) {
  ProblemKnobs knobs = internal::AllKnobs();
  knobs.max_buffers = 6;
  knobs.pins_may_collide = true;
  for (const Baseline baseline :
       {Baseline::kTelaMalloc, Baseline::kBfc, Baseline::kPytorchCaching}) {
    SCOPED_TRACE(Info(baseline).name);
    for (const bool minimize : {false, true}) {
      for (const bool with_capacity : {false, true}) {
        knobs.with_capacity = with_capacity;
        const std::uint64_t seed = 7'000'000 + (minimize ? 1000 : 0) + (with_capacity ? 500 : 0);
        ASSERT_TRUE(internal::ForRandomProblems(seed, 500, knobs, [&](const Problem& problem) {
          BaselineOptions options;
          options.baseline = baseline;
          options.minimize = minimize;
          Budget budget;
          const auto answer = PlaceWithBaseline(problem, options, budget);
          if (!answer) {
            return answer.error().code == ErrorCode::kUnsupported
                       ? std::nullopt
                       : std::optional(answer.error().message);
          }
          return internal::JudgeAnswer(problem, *answer, internal::OracleHeight(problem),
                                       minimize || !problem.capacity, false);
        }));
      }
    }
  }
}

TEST(Baselines, SayWhenPinsCollide) {
  Problem problem;
  problem.buffers = {{"a", 0, 3, 4}, {"b", 2, 5, 4}};
  for (Buffer& buffer : problem.buffers) buffer.offset = 0;
  for (const BaselineInfo& info : Baselines()) {
    if (!info.available()) continue;
    BaselineOptions options;
    options.baseline = info.baseline;
    Budget budget;
    const auto answer = PlaceWithBaseline(problem, options, budget);
    ASSERT_TRUE(answer.has_value()) << info.name;
    EXPECT_EQ(answer->outcome, Outcome::kInfeasible) << info.name;
    EXPECT_FALSE(answer->best.has_value()) << info.name;
  }
}

TEST(Baselines, RefuseWhatDoesNotExist) {
  BaselineOptions options;
  options.baseline = static_cast<Baseline>(99);
  Budget budget;
  const auto answer = PlaceWithBaseline({}, options, budget);
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, ErrorCode::kInvalidOptions);
  options = {};
  options.settings["telamalloc.strategies"] = "size";
  EXPECT_EQ(PlaceWithBaseline({}, options, budget).error().message,
            "there is no option \"telamalloc.strategies\"");
}

// A value other than the default for each setting; a new one without a row here fails the test.
std::string OtherValue(const OptionInfo& info) {
  if (info.allowed == "on|off") return info.default_value == "on" ? "off" : "on";
  if (info.name == "telamalloc.most_candidates") return "3";
  if (info.name == "telamalloc.stuck_after") return "0";
  if (info.name == "telamalloc.strategy") return "lowest";
  if (info.name == "telamalloc.placement") return "raised-skyline";
  if (info.name == "telamalloc.backtracking") return "learned";
  if (info.name == "telamalloc.order") return "model";
  if (info.name == "ilp.solver") return "cbc";
  ADD_FAILURE() << "no other value known for " << info.name;
  return "";
}

TEST(BaselineSettings, DefaultsAreWhatTheTableSays) {
  for (const OptionInfo& info : BaselineSettings()) {
    EXPECT_EQ(GetOption(BaselineOptions(), info.name), std::string(info.default_value))
        << info.name;
    EXPECT_FALSE(info.sentence.empty());
    EXPECT_EQ(info.sentence.back(), '.') << info.name;
  }
}

TEST(BaselineSettings, EachCanBeSetAndChangesNothingElse) {
  for (const OptionInfo& info : BaselineSettings()) {
    BaselineOptions options;
    ASSERT_TRUE(SetOption(options, info.name, OtherValue(info)).has_value()) << info.name;
    for (const OptionInfo& each : BaselineSettings()) {
      EXPECT_EQ(GetOption(options, each.name),
                each.name == info.name ? OtherValue(info) : std::string(each.default_value));
    }
  }
}

TEST(BaselineSettings, SayWhatIsAllowed) {
  BaselineOptions options;
  const auto set = [&](std::string_view name, std::string_view value) {
    const auto result = SetOption(options, name, value);
    EXPECT_FALSE(result.has_value()) << name << "=" << value;
    return result ? "" : result.error().message;
  };
  EXPECT_EQ(set("telamalloc.phases", "yes"),
            "option telamalloc.phases is \"yes\" but must be on|off");
  for (const char* value : {"", "0", "-1", "1000001"}) set("telamalloc.most_candidates", value);
  for (const char* value : {"", "lowest ", "0"}) set("telamalloc.strategy", value);
  for (const char* value : {"", "cplex"}) set("ilp.solver", value);
  EXPECT_TRUE(options.settings.empty());
}

}  // namespace
}  // namespace berth
