// The table of options is complete, and each option does what it says.

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/place.h"

namespace berth {
namespace {

// A value other than the default for each option; a new option without a row here fails the test.
std::string OtherValue(const OptionInfo& info) {
  if (info.allowed == "on|off") return info.default_value == "on" ? "off" : "on";
  if (info.name == "algorithm") return "canonical";
  if (info.name == "threads") return "3";
  if (info.name == "seed") return "18446744073709551615";
  if (info.name == "canonical.preorders") return "ZLU,C";
  ADD_FAILURE() << "no other value known for " << info.name;
  return "";
}

TEST(Options, DefaultsMatchTheTable) {
  for (const OptionInfo& info : Options()) {
    EXPECT_EQ(GetOption({}, info.name), std::string(info.default_value)) << info.name;
    EXPECT_FALSE(info.sentence.empty());
    EXPECT_EQ(info.sentence.back(), '.') << info.name;
  }
}

TEST(Options, EachCanBeSetAndChangesNothingElse) {
  for (const OptionInfo& info : Options()) {
    PlaceOptions options;
    ASSERT_TRUE(SetOption(options, info.name, OtherValue(info)).has_value()) << info.name;
    for (const OptionInfo& each : Options()) {
      EXPECT_EQ(GetOption(options, each.name),
                each.name == info.name ? OtherValue(info) : std::string(each.default_value));
    }
  }
}

// Options that mean the same are equal, in whatever order they were set.
TEST(Options, OfSearchesAreComparedByWhatTheyMean) {
  const auto with = [](std::vector<std::pair<std::string_view, std::string_view>> values) {
    PlaceOptions options;
    for (const auto& [name, value] : values) {
      EXPECT_TRUE(SetOption(options, name, value).has_value()) << name;
    }
    return options.expert;
  };
  EXPECT_EQ(with({}), with({{"niche.beam", "off"}, {"niche.beam", "on"}}));
  EXPECT_EQ(with({{"niche.beam", "off"}, {"canonical.hatless", "off"}}),
            with({{"canonical.hatless", "off"}, {"niche.beam", "off"}}));
  EXPECT_NE(with({}), with({{"niche.beam", "off"}}));
}

TEST(Options, SayWhatIsAllowed) {
  PlaceOptions options;
  const auto set = [&](std::string_view name, std::string_view value) {
    const auto result = SetOption(options, name, value);
    EXPECT_FALSE(result.has_value()) << name << "=" << value;
    return result ? "" : result.error().message;
  };
  EXPECT_EQ(set("threads", "0"), "option threads is \"0\" but must be 1..256");
  EXPECT_EQ(set("nonsense", "1"), "there is no option \"nonsense\"");
  EXPECT_EQ(set("canonical.hatless", "yes"),
            "option canonical.hatless is \"yes\" but must be on|off");
  for (const char* value : {"", "-1", "1e3", "18446744073709551616", "7 "}) set("seed", value);
  for (const char* value : {"", "257", "2.0", "-3"}) set("threads", value);
  for (const char* value : {"", ",", "WAT,", "X"}) set("canonical.preorders", value);
  set("algorithm", "best");
}

TEST(Options, PlaceRejectsInvalidOptions) {
  PlaceOptions options;
  options.threads = 0;
  Budget budget;
  const auto answer = Place({}, options, budget);
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, ErrorCode::kInvalidOptions);
  options = {};
  options.algorithm = static_cast<Algorithm>(99);
  EXPECT_FALSE(Place({}, options, budget).has_value());
}

TEST(Algorithms, HaveNamesSummariesAndSources) {
  std::set<std::string_view> names;
  for (const AlgorithmInfo& info : Algorithms()) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_EQ(AlgorithmFromName(info.name), info.algorithm);
    EXPECT_EQ(Info(info.algorithm).name, info.name);
    EXPECT_FALSE(info.summary.empty()) << info.name;
    EXPECT_FALSE(info.source.empty()) << info.name;
  }
  EXPECT_FALSE(AlgorithmFromName("").has_value());
}

}  // namespace
}  // namespace berth
