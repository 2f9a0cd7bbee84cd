// Problems that other systems wrote down, on the command line: one, and several with one report.
#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/berth_process.h"

namespace berth::cli {
namespace {

using Json = nlohmann::json;

class RecordedCommandTest : public CommandTest {
 protected:
  // Of the first model Glow took 64 bytes more than needed; the second needs what Glow took.
  [[nodiscard]] std::string Glow() const {
    return Write("glow.txt",
                 "MODEL one\nALIGN 64\nALLOC 1 64\nALLOC 2 64\nFREE 1\nFREE 2\nMEM 192\n"
                 "MODEL two words\nALIGN 64\nALLOC 1 100\nFREE 1\nMEM 128\n");
  }
  // Two plans; in the first, the least is 96 bytes.
  [[nodiscard]] std::string Tflm() const {
    return Write("boot.log",
                 "starting\n"
                 "0 (id=0): size=64, offset=0, first_used=0 last_used=1\n"
                 "1 (id=1): size=32, offset=80, first_used=1 last_used=2\n"
                 "0 (id=0): size=48, offset=0, first_used=0 last_used=1\n");
  }
  static void ExpectText(const ProcessResult& result, int exit_code, const std::string& words) {
    EXPECT_EQ(result.exit_code, exit_code) << result.standard_error;
    EXPECT_NE((result.standard_output + result.standard_error).find(words), std::string::npos)
        << result.standard_output << result.standard_error;
  }
};

TEST_F(RecordedCommandTest, PlaceHasOneReportForAll) {
  const ProcessResult result = Berth({"place", Glow()});
  EXPECT_EQ(result.standard_output,
            "2 problems: 2 placed, 2 proved optimal; Glow took more for 1.\n"
            "     problem    buffers  height          Glow    more\n"
            "  1  one              2   128 B  least  192 B  50.0 %\n"
            "  2  two words        1   128 B  least  128 B\n"
            "  ---------------------------------------------------\n"
            "     all              3   256 B         320 B  25.0 %\n"
            "  Choose one with --problem NAME or N.\n");
  EXPECT_EQ(result.exit_code, 0);
  const Json json = Json::parse(Berth({"place", Glow(), "--json"}).standard_output);
  EXPECT_EQ(json.at("input"), "glow.txt");
  ASSERT_EQ(json.at("problems").size(), 2u);
  EXPECT_EQ(json.at("problems").at(0).at("problem"), "one");
  EXPECT_EQ(json.at("problems").at(0).at("height"), 128);
  EXPECT_EQ(json.at("problems").at(0).at("given_plan").at("height"), 192);
}

// Of requests that share all bytes nobody can tell whether that is intended; of those that share some
// everybody can.
TEST_F(RecordedCommandTest, CheckFindsWhatOverlaps) {
  const std::string first = "0 (id=0): size=100, offset=0, first_used=0 last_used=3\n";
  const std::string same =
      Write("same.log", first + "1 (id=1): size=100, offset=0, first_used=1 last_used=2\n");
  const std::string partly =
      Write("partly.log", first + "1 (id=1): size=100, offset=96, first_used=1 last_used=2\n");
  ExpectText(Berth({"check", same}), 0, "no two overlap but those that share bytes as noted");
  ExpectText(Berth({"check", same}), 0, "such as \"0\" and \"1\": taken as intended");
  ExpectText(Berth({"place", same}), 0, "such as \"0\" and \"1\": taken as intended");
  ExpectText(Berth({"check", partly}), 1, "\"0\" and \"1\" share bytes [96, 100)");
  ExpectText(Berth({"place", partly}), 0, "fit into 212 B; a lower plan may exist");
}

// A valid plan of Vela in which another buffer lies between two that it has within a third one.
TEST_F(RecordedCommandTest, NothingIsProvedOfPlansThatAreNotExact) {
  const std::string log = Write(
      "vela.log",
      "Sram:\n"
      "Start Time - End Time: Start Addr - End Addr: Tensor Size: Memory Usage: Purpose: Name\n"
      "  0 - 1: 0x0 - 0x1e: 30: 30: FeatureMap: e\n"
      "  1 - 3: 0x0 - 0xa: 10: 30: FeatureMap: a\n"
      "  1 - 3: 0x14 - 0x1e: 10: 30: FeatureMap: d\n"
      "  2 - 3: 0xa - 0x14: 10: 30: FeatureMap: c\n");
  ExpectText(Berth({"check", log}), 0, "The plan holds: 4 buffers in 30 B");
  ExpectText(Berth({"place", log}), 0, "fit into 40 B; a lower plan may exist; Vela took 30 B.");
}

TEST_F(RecordedCommandTest, HeightsThatAreNotKnownAreNotZero) {
  const std::string log = Write("minus.log",
                                "0 (id=0): size=64, offset=-1, first_used=0 last_used=1\n"
                                "1 (id=1): size=8, offset=0, first_used=0 last_used=1\n");
  const ProcessResult one = Berth({"place", log});
  ExpectText(one, 0, "TensorFlow Lite Micro  not known (plan 1)");
  EXPECT_EQ(one.standard_output.find("took"), std::string::npos);
  EXPECT_EQ(Json::parse(Berth({"place", log, "--json"}).standard_output)["given_plan"]["height"],
            nullptr);
  const std::string glow = Write("glow2.txt", "MODEL a\nALLOC 1 8\nFREE 1\nMODEL b\nALLOC 1 8\n");
  const ProcessResult two = Berth({"place", glow});
  ExpectText(two, 0, "2 problems: 2 placed, 2 proved optimal.");
  EXPECT_EQ(two.standard_output.find("%"), std::string::npos);
  std::string huge;
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g", "h", "i"}) {
    huge +=
        std::string("MODEL ") + name + "\nALLOC 1 1152921504606846976\nMEM 1152921504606846976\n";
  }
  ExpectText(Berth({"place", Write("huge.txt", huge)}), 0, "     all            9\n");
}

TEST_F(RecordedCommandTest, TheWorstProblemIsTheExitCode) {
  const std::string both =
      Write("both.txt", "MODEL a\nALLOC 1 9\nFREE 1\nMEM 9\nMODEL b\nALLOC 1 5\nFREE 1\nMEM 5\n");
  ExpectText(Berth({"place", both, "--capacity", "8"}), 1,
             "2 problems: 1 fit; Glow never took more");
  ExpectText(Berth({"place", both, "--capacity", "8"}), 1, "does not fit");
  ExpectText(Berth({"place", both, "--capacity", "9"}), 0, "2 problems: 2 fit;");
}

TEST_F(RecordedCommandTest, OneIsChosenByNameOrNumber) {
  for (const std::string choice : {"two words", "2"}) {
    const std::string csv = Path("plan.csv");
    ExpectText(Berth({"place", Glow(), "--problem", choice, "-o", csv}), 0,
               "Glow         128 B, as much as is needed (two words)");
    ExpectText(Berth({"check", Glow(), csv, "--problem", choice}), 0, "The plan holds");
  }
  ExpectText(Berth({"explain", Glow(), "--problem", "one", "--capacity", "100"}), 1,
             "Does not fit: 28 B missing.");
  ExpectText(Berth({"place", Glow(), "--problem", "one", "--capacity", "100"}), 1,
             " --capacity 100 --problem one");
  ExpectRefused(Berth({"place", Glow(), "--problem", "3"}),
                "glow.txt has 2 problems, and none is '3'; berth info lists them");
  ExpectRefused(
      Berth({"explain", Glow(), "--capacity", "100"}),
      "--problem is missing: " + Glow() + " has 2 problems; choose one, such as --problem one");
  ExpectRefused(Berth({"place", Glow(), "--endpoints", "inclusive"}),
                "--endpoints: only for tables in CSV; the format of " + Glow());
  for (const std::string flag : {"--output", "--svg", "--report", "--trace"}) {
    const std::string file = Path(flag == "--svg"      ? "a.svg"
                                  : flag == "--output" ? "a.csv"
                                                       : "a.html");
    ExpectRefused(Berth({"place", Glow(), flag, file}), flag + ": " + Glow() + " has 2 problems");
    EXPECT_FALSE(Exists(file));
  }
}

TEST_F(RecordedCommandTest, InfoListsThem) {
  ExpectText(Berth({"info", Glow()}), 0, "glow.txt, 2 problems of Glow");
  ExpectText(Berth({"info", Glow()}), 0, "  2  two words        1        128 B  128 B   128 B");
  const Json json = Json::parse(Berth({"info", Glow(), "--json"}).standard_output);
  EXPECT_EQ(json.at("problems").at(1).at("problem"), "two words");
  EXPECT_EQ(json.at("problems").at(1).at("load"), 128);
  EXPECT_EQ(json.at("input"), "glow.txt");
  EXPECT_TRUE(json.contains("input_hash"));
  EXPECT_TRUE(json.contains("berth_version"));
  EXPECT_FALSE(json.at("problems").at(0).contains("berth_version"));
  ExpectText(Berth({"info", Tflm(), "--problem", "plan 1"}), 0, "TensorFlow Lite Micro");
}

TEST_F(RecordedCommandTest, CheckChecksTheGivenPlans) {
  ExpectText(Berth({"check", Tflm()}), 0, "2 plans: all hold.");
  ExpectText(Berth({"check", Tflm()}), 0, "48 B  holds\n");
  ExpectText(Berth({"check", Tflm(), "--capacity", "100"}), 1, "2 plans: 1 does not hold.");
  ExpectText(Berth({"check", Tflm(), "--capacity", "100"}), 1, "plan 1: The plan does not hold");
  const Json json = Json::parse(Berth({"check", Tflm(), "--json"}).standard_output);
  EXPECT_EQ(json.at("problems").at(0).at("height"), 112);
  ExpectRefused(Berth({"check", Glow()}), "Glow's file has no offsets");
  ExpectRefused(Berth({"check", Tflm(), "plan.csv"}), "PLAN: ");
  ExpectText(Shell("$BERTH place - --problem 1 < " + Tflm()), 0,
             "TensorFlow Lite Micro took 112 B");
}

TEST_F(RecordedCommandTest, OtherCommandsSayWhatItIs) {
  ExpectRefused(
      Berth({"plan", Glow()}),
      "not a model, but a trace of Glow's allocator; berth info, place, explain and check");
  ExpectRefused(Berth({"plan", Tflm()}), "a memory plan that TensorFlow Lite Micro printed");
}

}  // namespace
}  // namespace berth::cli
