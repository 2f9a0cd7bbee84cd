// How much is missing: one figure, whichever command is asked.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "berth/bytes.h"
#include "tests/cli/berth_process.h"

namespace berth::cli {
namespace {

using Json = nlohmann::json;

class MissingTest : public CommandTest {
 protected:
  [[nodiscard]] Json JsonOf(std::vector<std::string> arguments, int exit_code) const {
    arguments.emplace_back("--json");
    const ProcessResult result = Berth(arguments);
    EXPECT_EQ(result.exit_code, exit_code) << result.standard_error;
    return Json::parse(result.standard_output);
  }
};

TEST_F(MissingTest, IsTheSameForPlaceExplainAndThePage) {
  int by_search = 0;  // The least height is above the load.
  for (int seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    const std::string table = Path("t.csv");
    ASSERT_EQ(Berth({"generate", "random", "--buffers", seed % 2 == 0 ? "12" : "40", "--steps",
                     seed % 2 == 0 ? "9" : "30", "--pins", seed % 4 == 0 ? "10" : "0", "--seed",
                     std::to_string(seed), "-o", table})
                  .exit_code,
              0);
    const Json least = JsonOf({"place", table}, 0);
    ASSERT_EQ(least.at("outcome"), "optimal");
    const auto height = least.at("height").get<std::int64_t>();
    by_search += height > least.at("load").get<std::int64_t>() ? 1 : 0;
    for (const std::int64_t less : {std::int64_t{1}, height / 5}) {
      SCOPED_TRACE(less);
      const std::string capacity = std::to_string(height - less);
      const Json missing = {{"at_least", less}, {"at_most", less}};
      const std::string page = Path("page.html");
      EXPECT_EQ(JsonOf({"place", table, "--capacity", capacity, "--report", page}, 1).at("missing"),
                missing);
      EXPECT_EQ(JsonOf({"explain", table, "--capacity", capacity}, 1).at("missing"), missing);
      EXPECT_NE(Read(page).find("\"height\":" + std::to_string(height)), std::string::npos);
      // People read the same.
      const std::string words = FormatBytesExactly(less);
      for (const char* command : {"place", "explain"}) {
        const std::string text = Berth({command, table, "--capacity", capacity}).standard_output;
        EXPECT_NE(text.find(words), std::string::npos) << text;
      }
      EXPECT_EQ(Berth({"explain", table, "--capacity", capacity})
                    .standard_output.find("Does not fit: " + words + " missing."),
                0U);
    }
  }
  EXPECT_GT(by_search, 0);
}

TEST_F(MissingTest, OfAModelIsWhatThePlanLacks) {
  const std::string model = BERTH_SOURCE_DIR "/examples/cells.onnx";
  const Json least = JsonOf({"plan", model}, 0);
  const auto height = least.at("height").get<std::int64_t>();
  const Json plan = JsonOf({"plan", model, "--capacity", std::to_string(height - 16)}, 1);
  EXPECT_EQ(plan.at("missing"), (Json{{"at_least", 16}, {"at_most", 16}}));
  EXPECT_EQ(JsonOf({"plan", model, "--capacity", std::to_string(height)}, 0).at("missing"),
            nullptr);
}

}  // namespace
}  // namespace berth::cli
