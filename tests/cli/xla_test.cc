// XLA's dumps on the command line.
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/cli/berth_process.h"

namespace berth::cli {
namespace {

using Json = nlohmann::json;

class XlaTest : public CommandTest {
 protected:
  static std::string Dump() { return BERTH_SOURCE_DIR "/tests/xla/small-buffer-assignment.txt"; }
  static void ExpectText(const ProcessResult& result, int exit_code, const std::string& words) {
    EXPECT_EQ(result.exit_code, exit_code) << result.standard_error;
    EXPECT_NE((result.standard_output + result.standard_error).find(words), std::string::npos)
        << result.standard_output << result.standard_error;
  }
};

TEST_F(XlaTest, PlaceComparesWithXla) {
  const ProcessResult result = Berth({"place", Dump()});
  EXPECT_EQ(result.standard_output.substr(0, result.standard_output.find('\n')),
            "The same buffers fit into 208 B, and no plan is lower; XLA took 448 B.");
  ExpectText(result, 0, "448 B, 240 B (115.4 %) more than is needed (allocation 2, one of 3 with");
  const Json json = Json::parse(Berth({"place", Dump(), "--json"}).standard_output);
  EXPECT_EQ(json.at("height"), 208);
  EXPECT_EQ(json.at("given_plan").at("maker"), "XLA");
  EXPECT_EQ(json.at("given_plan").at("height"), 448);
  const std::string csv = Path("plan.csv");
  ExpectText(Berth({"place", Dump(), "-o", csv}), 0, csv);
  ExpectText(Berth({"check", Dump(), csv}), 0, "The plan holds");
}

TEST_F(XlaTest, OtherCommandsTakeIt) {
  ExpectText(Berth({"info", Dump()}), 0, "XLA");
  ExpectText(Berth({"check", Dump()}), 0, "The plan holds");  // XLA's own.
  ExpectText(Berth({"explain", Dump(), "--capacity", "200"}), 1, "  dot.1 ");
  ExpectText(Berth({"plan", Dump()}), 2, "a buffer assignment of XLA; berth info, place, explain");
}

TEST_F(XlaTest, SaysWhatIsMissing) {
  const std::string renamed = Path("dump.txt");
  std::filesystem::copy_file(Dump(), renamed);
  ExpectText(Berth({"place", renamed}), 2, "keep the name that XLA gave it");
  const std::string alone = Path("m-buffer-assignment.txt");
  std::filesystem::copy_file(Dump(), alone);
  ExpectText(Berth({"place", alone}), 2, "m-live-range.txt: ");
  ExpectText(Berth({"place", Dump(), "--problem", "allocation 1"}), 2,
             "has 1 problem, and none is 'allocation 1'");
  ExpectText(Berth({"place", Dump(), "--problem", "allocation 2"}), 0, "208 B");
}

}  // namespace
}  // namespace berth::cli
