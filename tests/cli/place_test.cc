// berth place: plans, summaries, exit codes, interruption.
#include <nlohmann/json.hpp>

#include "tests/cli/berth_process.h"

namespace berth::cli {
namespace {

using Json = nlohmann::json;

class PlaceTest : public CommandTest {
 protected:
  // Fits, by construction, but without a free byte: greedy algorithms do not find a plan.
  [[nodiscard]] std::string TightTable(const std::string& buffers) const {
    const std::string path = Path("tight.csv");
    EXPECT_EQ(Berth({"generate", "planted", "--buffers", buffers, "--seed", "3", "--capacity",
                     "1MiB", "-o", path})
                  .exit_code,
              0);
    return path;
  }
};

TEST_F(PlaceTest, WritesAValidPlan) {
  const std::string table = SmallTable();
  for (const std::string plan : {"plan.csv", "plan.json"}) {
    const ProcessResult result = Berth({"place", table, "--capacity", "8", "-o", Path(plan)});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.standard_error, "");
    EXPECT_NE(result.standard_output.find("Fits"), std::string::npos) << result.standard_output;
    EXPECT_EQ(Berth({"check", table, Path(plan), "--capacity", "8"}).exit_code, 0);
  }
  EXPECT_EQ(Read(Path("plan.csv")).rfind("id,lower,upper,size,offset\na,0,3,4,", 0), 0u)
      << Read(Path("plan.csv"));
  const Json json = Json::parse(Read(Path("plan.json")));
  EXPECT_TRUE(json.is_object());
}

TEST_F(PlaceTest, SummaryForMachinesHasTheRightTypes) {
  const ProcessResult result = Berth({"place", SmallTable(), "--json"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.standard_error, "");
  const Json json = Json::parse(result.standard_output);
  EXPECT_EQ(json.at("outcome"), "optimal");
  EXPECT_EQ(json.at("height"), 8);
  EXPECT_EQ(json.at("height_bound"), 8);
  EXPECT_EQ(json.at("height_gap"), 0.0);
  EXPECT_TRUE(json.at("height_gap").is_number_float());
  EXPECT_TRUE(json.at("capacity").is_null());
  EXPECT_TRUE(json.at("algorithm").is_string());
  EXPECT_TRUE(json.at("nodes").is_number_integer());
  for (const char* key : {"failures", "minor_backtracks", "major_backtracks"}) {
    EXPECT_EQ(json.at(key), 0) << key;
  }
  EXPECT_TRUE(json.at("seconds").is_number());
  EXPECT_EQ(json.at("buffers"), 3);
  EXPECT_EQ(json.at("load"), 8);
  EXPECT_EQ(json.at("seed"), 1);
  EXPECT_EQ(json.at("input").at("name"), "small.csv");
  EXPECT_EQ(json.at("berth_version"), BERTH_VERSION);
  EXPECT_EQ(json.at("interrupted"), false);
  EXPECT_EQ(json.at("stopped"), "answered");
  EXPECT_TRUE(json.at("colliding_pins").is_null());
}

TEST_F(PlaceTest, AnInfeasibleProblemWritesNoPlanAndNamesACapacity) {
  const ProcessResult result = Berth({"place", SmallTable(), "--capacity", "7", "-o",
                                      Path("plan.csv"), "--svg", Path("plan.svg")});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_FALSE(Exists(Path("plan.csv")));
  EXPECT_NE(Read(Path("plan.svg")).find("<svg"), std::string::npos);
  EXPECT_NE(result.standard_output.find("Does not fit"), std::string::npos);
  EXPECT_NE(result.standard_output.find("enough       8 B"), std::string::npos)
      << result.standard_output;
  EXPECT_NE(result.standard_output.find("plan         not written, as none fits"),
            std::string::npos)
      << result.standard_output;
  const std::string spaced = Write("a b.csv", Read(SmallTable()));
  EXPECT_NE(Berth({"place", spaced, "--capacity", "7", "--endpoints", "half-open"})
                .standard_output.find("berth explain '" + spaced +
                                      "' --capacity 7 --endpoints half-open"),
            std::string::npos);
  EXPECT_EQ(Shell("\"$BERTH\" place - --capacity 7 < " + SmallTable())
                .standard_output.find("berth explain"),
            std::string::npos);
  const Json json =
      Json::parse(Berth({"place", SmallTable(), "--capacity", "7", "--json"}).standard_output);
  EXPECT_EQ(json.at("outcome"), "infeasible");
  EXPECT_EQ(json.at("height"), 8);
  EXPECT_EQ(json.at("capacity"), 7);
}

TEST_F(PlaceTest, ATimeOutIsNotInfeasible) {
  const ProcessResult result = Berth({"place", TightTable("200"), "--capacity", "1MiB",
                                      "--algorithm", "canonical", "--node-limit", "3", "--json"});
  EXPECT_EQ(result.exit_code, 3) << result.standard_output;
  EXPECT_EQ(Json::parse(result.standard_output).at("outcome"), "unknown");
}

TEST_F(PlaceTest, TwoRunsGiveTheSameBytes) {
  const std::string table = TightTable("60");
  const auto place = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments = {"place", table, "--node-limit", "20000"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    EXPECT_EQ(Berth(arguments).exit_code, 0);
  };
  for (const std::string run : {"1", "2"}) {
    place({"-o", Path(run + ".json"), "--svg", Path(run + ".svg"), "--threads", run});
    place({"-o", Path(run + ".csv"), "--threads", run});
  }
  for (const std::string kind : {".json", ".svg", ".csv"}) {
    EXPECT_NE(Read(Path("1" + kind)), "") << kind;
    EXPECT_EQ(Read(Path("1" + kind)), Read(Path("2" + kind))) << kind;
  }
}

TEST_F(PlaceTest, ReadsStandardInputAndWritesStandardOutput) {
  const ProcessResult result = Shell("\"$BERTH\" place - -o - < " + SmallTable());
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.standard_output.rfind("id,lower,upper,size,offset\n", 0), 0u)
      << result.standard_output;
  const ProcessResult piped = Shell(
      "\"$BERTH\" generate random --buffers 20 | \"$BERTH\" place - -o - | \"$BERTH\" check -");
  EXPECT_EQ(piped.exit_code, 0) << piped.standard_error;
  ExpectRefused(Shell("printf 'id,lower\\n' | \"$BERTH\" place -"), "<stdin>");
}

TEST_F(PlaceTest, OutputsThatCannotBeWrittenAreNamed) {
  const std::string table = SmallTable();
  ExpectRefused(Berth({"place", table, "-o", Path("no/such/plan.csv")}), "no/such/plan.csv");
  ExpectRefused(Berth({"place", table, "--svg", Path("no/such/plan.svg")}), "no/such/plan.svg");
  ExpectRefused(Berth({"place", table, "-o", Path("plan.txt")}), "neither .csv nor .json");
  const std::string both = " would both write to standard output";
  ExpectRefused(Berth({"place", table, "-o", "-", "--json"}), "--output - and --json" + both);
  ExpectRefused(Berth({"place", table, "--svg", "-", "--json"}), "--svg - and --json" + both);
  ExpectRefused(Berth({"place", table, "-o", "-", "--svg", "-"}), "--output - and --svg -" + both);
  ExpectRefused(Berth({"generate", "planted", "--plan", "-"}), "--output - and --plan -" + both);
  EXPECT_EQ(Berth({"place", table, "-o", Path("PLAN.CSV")}).exit_code, 0);
  // Reported before the work: the table would be rejected too.
  ExpectRefused(Berth({"place", Path("none.csv"), "-o", Path("no/plan.csv")}), "no/plan.csv");
}

TEST_F(PlaceTest, EndpointsFollowTheFlag) {
  // With inclusive ends, b and c meet a's last step: all three are live at once.
  const std::string table = Write("t.csv", "id,lower,upper,size\na,0,2,4\nb,2,3,4\nc,2,3,4\n");
  const auto height = [&](const std::string& endpoints) {
    return Json::parse(Berth({"place", table, "--endpoints", endpoints, "--json"}).standard_output)
        .at("height");
  };
  EXPECT_EQ(height("half-open"), 8);
  EXPECT_EQ(height("by-name"), 8);
  EXPECT_EQ(height("inclusive"), 12);
}

TEST_F(PlaceTest, InterruptionGivesTheBestPlanSoFar) {
  const std::string table = TightTable("400");
  // On a busy machine the signal may arrive before the search starts; then wait longer.
  for (const std::string delay : {"1", "2", "4", "8", "16", "32"}) {
    const ProcessResult result =
        Shell("exec timeout --preserve-status -s INT " + delay + " \"$BERTH\" place " + table +
              " --algorithm canonical --canonical-section-inference off --json --svg " +
              Path("plan.svg") + " -o " + Path("plan.csv"));
    if (result.standard_output.empty()) continue;
    EXPECT_EQ(result.exit_code, 0) << result.standard_error;
    const Json json = Json::parse(result.standard_output);
    EXPECT_EQ(json.at("interrupted"), true);
    EXPECT_EQ(json.at("outcome"), "feasible");
    EXPECT_TRUE(json.at("height").is_number_integer());
    EXPECT_EQ(Berth({"check", table, Path("plan.csv")}).exit_code, 0);
    return;
  }
  FAIL() << "no signal ever met a search";
}

// Runs berth on a terminal created by script(1).
class TerminalTest : public PlaceTest {
 protected:
  void SetUp() override {
    if (Shell("command -v script").exit_code != 0) GTEST_SKIP() << "there is no script(1)";
  }
  static std::string OnTerminal(const std::string& environment, const std::string& arguments) {
    return Shell("export TERM=xterm; unset NO_COLOR; " + environment +
                 " exec script -qec \"'$BERTH' " + arguments + "\" /dev/null")
        .standard_output;
  }
};

TEST_F(TerminalTest, ColourIsForTerminalsThatWantIt) {
  const std::string table = SmallTable();
  EXPECT_NE(OnTerminal("", "place " + table).find("\x1b["), std::string::npos);
  const std::string plain = OnTerminal("NO_COLOR=1", "place " + table);
  EXPECT_EQ(plain.find('\x1b'), std::string::npos) << plain;
  EXPECT_NE(plain.find("height"), std::string::npos);
  EXPECT_EQ(Berth({"place", table}).standard_output.find('\x1b'), std::string::npos);
}

TEST_F(TerminalTest, ProgressShowsOnATerminalOnly) {
  const std::string arguments = "place " + TightTable("400") +
                                " --algorithm canonical --canonical-section-inference off"
                                " --time-limit 1.5s";
  const std::string shown = OnTerminal("", arguments);
  EXPECT_NE(shown.find("\r  best "), std::string::npos) << shown;
  EXPECT_NE(shown.find("bound 1 MiB"), std::string::npos) << shown;
  const ProcessResult piped = Shell("\"$BERTH\" " + arguments);
  EXPECT_EQ(piped.standard_error, "");
  EXPECT_EQ(piped.standard_output.find('\r'), std::string::npos);
}

// A terminal that calls itself dumb gets neither colours nor movements of the cursor; it ends lines
// as terminals do.
TEST_F(TerminalTest, ADumbTerminalGetsPlainText) {
  for (const std::string& arguments :
       {"place " + SmallTable(), std::string("--help"),
        "place " + TightTable("400") + " --algorithm canonical --canonical-section-inference off" +
            " --time-limit 1.5s"}) {
    SCOPED_TRACE(arguments);
    const std::string shown = OnTerminal("TERM=dumb", arguments);
    EXPECT_NE(shown.find("\r\n"), std::string::npos);
    EXPECT_EQ(shown.find('\x1b'), std::string::npos) << shown;
    for (std::size_t at = shown.find('\r'); at != std::string::npos;
         at = shown.find('\r', at + 1)) {
      // Pseudo-terminals may double it, but nothing is drawn over a line.
      EXPECT_TRUE(at + 1 < shown.size() && (shown[at + 1] == '\n' || shown[at + 1] == '\r'))
          << shown;
    }
  }
}

}  // namespace
}  // namespace berth::cli
