// The table of options is complete, and each option does what it says.

#include <gtest/gtest.h>

#include <string>

#include "berth/schedule.h"

namespace berth {
namespace {

// A value other than the default for each option; a new option without a row here fails the test.
std::string OtherValue(const OptionInfo& info) {
  if (info.allowed == "on|off") return info.default_value == "on" ? "off" : "on";
  if (info.name == "algorithm") return "greedy";
  if (info.name == "beam_width") return "3";
  if (info.name == "most_bytes") return "1048576";
  if (info.name == "threads") return "3";
  ADD_FAILURE() << "no other value known for " << info.name;
  return "";
}

TEST(ScheduleOptionTable, DefaultsMatchTheTable) {
  for (const OptionInfo& info : ScheduleOptionTable()) {
    EXPECT_EQ(GetOption(ScheduleOptions{}, info.name), std::string(info.default_value))
        << info.name;
    ASSERT_FALSE(info.sentence.empty());
    EXPECT_EQ(info.sentence.back(), '.') << info.name;
  }
}

TEST(ScheduleOptionTable, EachCanBeSetAndChangesNothingElse) {
  for (const OptionInfo& info : ScheduleOptionTable()) {
    ScheduleOptions options;
    ASSERT_TRUE(SetOption(options, info.name, OtherValue(info)).has_value()) << info.name;
    for (const OptionInfo& each : ScheduleOptionTable()) {
      EXPECT_EQ(GetOption(options, each.name),
                each.name == info.name ? OtherValue(info) : std::string(each.default_value));
    }
  }
}

TEST(ScheduleOptionTable, ErrorsNameTheAllowedValues) {
  ScheduleOptions options;
  const auto set = [&](std::string_view name, std::string_view value) {
    const auto result = SetOption(options, name, value);
    return result ? std::string("accepted") : result.error().message;
  };
  EXPECT_EQ(set("exact.beam", "yes"), "option exact.beam is \"yes\" but must be on|off");
  EXPECT_EQ(set("beam_width", "0"), "option beam_width is \"0\" but must be 1..1000000");
  EXPECT_EQ(set("algorithm", "best"),
            "option algorithm is \"best\" but must be a name from the list of algorithms");
  EXPECT_EQ(set("exact.magic", "on"), "there is no option \"exact.magic\"");
}

TEST(ScheduleOptionTable, ScheduleRejectsInvalidOptions) {
  Budget budget;
  ScheduleOptions options;
  options.beam_width = 0;
  auto answer = Schedule({}, options, budget);
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, ErrorCode::kInvalidOptions);
  options = {};
  options.algorithm = static_cast<ScheduleAlgorithm>(77);
  answer = Schedule({}, options, budget);
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().message, "option algorithm is number 77, which does not exist");
}

TEST(ScheduleAlgorithms, AreFoundByName) {
  for (const ScheduleAlgorithmInfo& info : ScheduleAlgorithms()) {
    EXPECT_EQ(ScheduleAlgorithmFromName(info.name), info.algorithm);
    EXPECT_EQ(&Info(info.algorithm), &info);
    EXPECT_EQ(info.summary.back(), '.');
  }
  EXPECT_EQ(ScheduleAlgorithmFromName("best"), std::nullopt);
}

}  // namespace
}  // namespace berth
