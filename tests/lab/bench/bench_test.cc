// berth-lab bench, with peers that behave and peers that do not.
#include <nlohmann/json.hpp>

#include "tests/lab/lab_process.h"

namespace berth::lab {
namespace {

using Json = nlohmann::json;

class BenchCommandTest : public cli::CommandTest {
 protected:
  // A peer that is a shell script; $1 is its input, $2 its output, $3 its capacity.
  [[nodiscard]] std::string Peer(const std::string& name, const std::string& script) const {
    const std::string path = Write(name + " script.sh", script);
    return name + "=sh '" + path + "' {input} {output} {capacity}";
  }
  [[nodiscard]] Json Result() const { return Json::parse(Read(Path("result.json"))); }
};

const Json& TrialOf(const Json& result, const std::string& runner) {
  for (const Json& trial : result.at("tables").at(0).at("trials")) {
    if (trial.at("runner") == runner) return trial;
  }
  throw std::out_of_range(runner);
}

TEST_F(BenchCommandTest, MeasuresAndVerifiesEveryRunner) {
  const ProcessResult result =
      Lab({"bench", SmallTable(), "--capacity", "8", "--algorithm", "canonical,auto", "--peer",
           Peer("good", "printf 'id,offset\\na,0\\nb,0\\nc,4\\n' > \"$2\""), "--rounds", "3",
           "--json", Path("result.json")});
  EXPECT_EQ(result.exit_code, 0) << result.standard_output << result.standard_error;
  EXPECT_EQ(result.standard_error, "");
  EXPECT_NE(result.standard_output.find("small.csv"), std::string::npos);
  EXPECT_NE(result.standard_output.find("geometric mean"), std::string::npos);
  const Json json = Result();
  EXPECT_EQ(json.at("rounds"), 3);
  EXPECT_TRUE(json.at("date").is_string());
  EXPECT_TRUE(json.at("machine").at("cpu").is_string());
  EXPECT_TRUE(json.at("machine").at("hardware_threads").is_number_integer());
  for (const std::string runner : {"berth:canonical", "berth:auto", "good"}) {
    const Json& trial = TrialOf(json, runner);
    EXPECT_EQ(trial.at("status"), "solved") << runner;
    EXPECT_EQ(trial.at("verified"), true);
    EXPECT_EQ(trial.at("height"), 8);
    EXPECT_EQ(trial.at("seconds").size(), 3u);
    EXPECT_TRUE(trial.at("median_seconds").is_number());
  }
  EXPECT_EQ(TrialOf(json, "berth:auto").at("search_seconds").size(), 3u);
  EXPECT_EQ(json.at("summary").at(2).at("decided_by_both"), 1);
}

TEST_F(BenchCommandTest, FaultyPeersAreListedNotHidden) {
  const ProcessResult result =
      Lab({"bench",        SmallTable(),
           "--capacity",   "8",
           "--rounds",     "1",
           "--time-limit", "5s",
           "--peer",       Peer("wrong", "printf 'id,offset\\na,0\\nb,0\\nc,2\\n' > \"$2\""),
           "--peer",       Peer("high", "printf 'id,offset\\na,0\\nb,0\\nc,5\\n' > \"$2\""),
           "--peer",       Peer("partial", "printf 'id,offset\\na,0\\nb,0\\n' > \"$2\""),
           "--peer",       Peer("silent", "echo no luck >&2; exit 4"),
           "--peer",       Peer("dies", "kill -9 $$"),
           "--peer",       "absent=/no/such/program {input} {output}",
           "--json",       Path("result.json")});
  EXPECT_EQ(result.exit_code, 1);
  const Json json = Result();
  EXPECT_EQ(TrialOf(json, "berth:auto").at("status"), "solved");
  EXPECT_EQ(TrialOf(json, "wrong").at("status"), "WRONG");
  EXPECT_EQ(TrialOf(json, "wrong").at("verified"), false);
  EXPECT_EQ(TrialOf(json, "high").at("status"), "WRONG");
  EXPECT_EQ(TrialOf(json, "partial").at("status"), "WRONG");
  EXPECT_EQ(TrialOf(json, "silent").at("status"), "failed");
  EXPECT_EQ(TrialOf(json, "dies").at("status"), "failed");
  EXPECT_EQ(TrialOf(json, "absent").at("status"), "failed");
  for (const std::string line :
       {"wrong WRONG: overlap: \"a\" and \"c\" share bytes [2, 4) at steps [2, 3)",
        "silent failed: no plan (exit code 4, no luck)",
        "absent failed: '/no/such/program' cannot be started"}) {
    EXPECT_NE(result.standard_output.find(line), std::string::npos) << line << "\n"
                                                                    << result.standard_output;
  }
  EXPECT_NE(result.standard_output.find("NO\n"), std::string::npos) << result.standard_output;
}

TEST_F(BenchCommandTest, SlowPeersAreKilledAtTheLimit) {
  const ProcessResult result =
      Lab({"bench", SmallTable(), "--capacity", "8", "--rounds", "2", "--time-limit", "500ms",
           "--peer", Peer("slow", "sleep 600"), "--json", Path("result.json")});
  EXPECT_EQ(result.exit_code, 0);
  const Json json = Result();
  EXPECT_EQ(TrialOf(json, "slow").at("status"), "timed out");
  EXPECT_EQ(TrialOf(json, "slow").at("seconds").size(), 1u) << "it is not tried again";
}

TEST_F(BenchCommandTest, WithoutACapacityPeersGetBerthsHeight) {
  const ProcessResult result =
      Lab({"bench", SmallTable(), "--rounds", "1", "--peer",
           Peer("told", "test \"$3\" = 8 && printf 'id,offset\\na,0\\nb,0\\nc,4\\n' > \"$2\""),
           "--peer",
           "free=sh -c 'printf \"id,offset\\na,0\\nb,0\\nc,8\\n\" > \"$1\"' x {output} {input}",
           "--json", Path("result.json")});
  EXPECT_EQ(result.exit_code, 0) << result.standard_output;
  const Json json = Result();
  EXPECT_TRUE(json.at("tables").at(0).at("capacity").is_null());
  EXPECT_EQ(TrialOf(json, "told").at("status"), "solved");
  EXPECT_EQ(TrialOf(json, "free").at("height"), 12);
  EXPECT_EQ(TrialOf(json, "berth:auto").at("gap"), 0.0);
  EXPECT_NE(result.standard_output.find("(+50.0 %)"), std::string::npos) << result.standard_output;
}

TEST_F(BenchCommandTest, TheNameOfATableCanHoldItsCapacity) {
  const std::string small = SmallTable();
  const std::string table = Write("named.7.csv", Read(small));
  const ProcessResult result =
      Lab({"bench", table, "--rounds", "1", "--json", Path("result.json")});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(Result().at("tables").at(0).at("capacity"), 7);
  EXPECT_EQ(TrialOf(Result(), "berth:auto").at("status"), "infeasible");
}

TEST_F(BenchCommandTest, AGreedyPlanThatIsTooHighIsNoTimeOut) {
  // PyTorch's blocks are multiples of 512 bytes.
  const std::string table = Write("t.csv", "id,lower,upper,size\na,0,3,4\nb,3,5,4\nc,2,4,4\n");
  const ProcessResult result = Lab({"bench", table, "--capacity", "8", "--algorithm",
                                    "pytorch-caching", "--rounds", "1", "--json", "-"});
  EXPECT_EQ(result.exit_code, 0) << result.standard_output << result.standard_error;
  EXPECT_EQ(TrialOf(Json::parse(result.standard_output), "berth:pytorch-caching").at("status"),
            "gave up");
  EXPECT_NE(result.standard_error.find("its plan needs "), std::string::npos)
      << result.standard_error;
}

TEST_F(BenchCommandTest, AFolderStandsForItsTables) {
  const std::string small = SmallTable();
  (void)Write("another.csv", Read(small));
  (void)Write("notes.txt", "not a table");
  const ProcessResult result =
      Lab({"bench", Path(""), "--rounds", "1", "--json", Path("result.json")});
  EXPECT_EQ(result.exit_code, 0);
  const Json json = Result();
  ASSERT_EQ(json.at("tables").size(), 2u);
  EXPECT_EQ(json.at("tables").at(0).at("table"), "another.csv");
  EXPECT_EQ(json.at("tables").at(1).at("table"), "small.csv");
}

TEST_F(BenchCommandTest, InProcessRunsGiveTheSameAnswers) {
  for (const std::string capacity : {"8", "7", "least"}) {
    std::vector<std::string> arguments = {"bench",       SmallTable(),       "--capacity", capacity,
                                          "--algorithm", "canonical,auto",   "--rounds",   "2",
                                          "--json",      Path("result.json")};
    EXPECT_EQ(Lab(arguments).exit_code, 0);
    const Json outside = Result();
    arguments.emplace_back("--in-process");
    EXPECT_EQ(Lab(arguments).exit_code, 0);
    const Json inside = Result();
    EXPECT_EQ(inside.at("in_process"), true);
    for (const std::string runner : {"berth:canonical", "berth:auto"}) {
      for (const std::string key : {"status", "height", "gap", "runs"}) {
        EXPECT_EQ(TrialOf(inside, runner).at(key), TrialOf(outside, runner).at(key)) << key;
      }
      EXPECT_EQ(TrialOf(inside, runner).at("search_seconds").size(), 2u);
    }
  }
  const std::string table = Write("t.csv", "id,lower,upper,size\na,0,3,4\nb,3,5,4\nc,2,4,4\n");
  const ProcessResult result = Lab({"bench", table, "--capacity", "8", "--algorithm",
                                    "pytorch-caching", "--rounds", "1", "--in-process"});
  EXPECT_NE(result.standard_output.find("its plan needs "), std::string::npos)
      << result.standard_output;
}

TEST_F(BenchCommandTest, EverySeedHasItsRuns) {
  const ProcessResult result =
      Lab({"bench", SmallTable(), "--capacity", "8", "--seeds", "4", "--rounds", "2",
           "--in-process", "--peer", Peer("good", "printf 'id,offset\na,0\nb,0\nc,4\n' > \"$2\""),
           "--json", Path("result.json")});
  EXPECT_EQ(result.exit_code, 0) << result.standard_output;
  const Json json = Result();
  const Json& trial = TrialOf(json, "berth:auto");
  EXPECT_EQ(trial.at("solved"), 8);
  EXPECT_EQ(trial.at("search_seconds").size(), 8u);
  EXPECT_EQ(TrialOf(json, "good").at("seconds").size(), 2u) << "no seeds for peers";
  for (const Json& summary : json.at("summary")) {
    const Json& sum = summary.at("wall").at("sum");
    EXPECT_GT(sum.at("median"), 0);
    EXPECT_GE(sum.at("worst"), sum.at("mean"));
  }
  EXPECT_NE(result.standard_output.find("8 of 8"), std::string::npos) << result.standard_output;
}

TEST_F(BenchCommandTest, TheCapacityCanBeTheLoad) {
  // 8 bytes are live at once, but the alignment of c requires 9.
  const std::string table =
      Write("t.100.csv", "id,lower,upper,size,alignment\na,0,3,4,1\nb,3,5,4,1\nc,2,4,4,3\n");
  EXPECT_EQ(
      Lab({"bench", table, "--capacity", "load", "--rounds", "1", "--json", Path("result.json")})
          .exit_code,
      0);
  EXPECT_EQ(Result().at("tables").at(0).at("capacity"), 8);
  EXPECT_EQ(
      Lab({"bench", table, "--capacity", "least", "--rounds", "1", "--json", Path("result.json")})
          .exit_code,
      0);
  EXPECT_EQ(Result().at("tables").at(0).at("capacity"), Json(nullptr));
  ExpectRefused(Lab({"bench", table, "--capacity", "most"}), "'most' is neither a size");
}

TEST_F(BenchCommandTest, ReadsTimesAndProofsOfPeers) {
  const ProcessResult result =
      Lab({"bench", SmallTable(), "--capacity", "7", "--rounds", "2", "--time", "search", "--peer",
           Peer("proves", "echo 'NO WAY, took 0.250s' >&2; exit 1"), "--peer-seconds",
           "proves=took {seconds}s", "--peer-infeasible", "proves=NO WAY", "--json",
           Path("result.json")});
  EXPECT_EQ(result.exit_code, 0) << result.standard_output;
  const Json json = Result();
  const Json& trial = TrialOf(json, "proves");
  EXPECT_EQ(trial.at("status"), "infeasible");
  EXPECT_EQ(trial.at("search_seconds"), Json({0.25, 0.25}));
  EXPECT_EQ(trial.at("median_seconds"), 0.25);
  EXPECT_EQ(json.at("summary").at(1).at("decided_by_both"), 1);
  EXPECT_NE(result.standard_output.find("infeasible, 0.25 s"), std::string::npos)
      << result.standard_output;
  ExpectRefused(Lab({"bench", SmallTable(), "--peer-seconds", "other={seconds}"}),
                "with the name of a peer");
  ExpectRefused(Lab({"bench", SmallTable(), "--peer", Peer("x", ""), "--peer-seconds", "x=s"}),
                "does not contain {seconds}");
  ExpectRefused(Lab({"bench", SmallTable(), "--time", "lunar"}), "neither wall nor search");
}

TEST_F(BenchCommandTest, ContradictionsExitWithCodeOne) {
  const ProcessResult result =
      Lab({"bench", SmallTable(), "--capacity", "8", "--rounds", "1", "--peer",
           Peer("denies", "echo impossible; exit 1"), "--peer-infeasible", "denies=impossible",
           "--json", Path("result.json")});
  EXPECT_EQ(result.exit_code, 1);
  const std::string contradiction =
      "denies says that no plan is lower than 9 B, but berth:auto with seed 1 has one of 8 B";
  EXPECT_NE(result.standard_output.find("Contradictions:\n  small.csv: " + contradiction),
            std::string::npos)
      << result.standard_output;
  EXPECT_EQ(Result().at("tables").at(0).at("contradiction"), contradiction);
}

TEST_F(BenchCommandTest, ASummaryCountsInsteadOfListing) {
  const std::string small = Read(SmallTable());
  const std::string fits = Write("a.8.csv", small);
  const std::string does_not = Write("b.7.csv", small);
  const ProcessResult result =
      Lab({"bench", fits, does_not, "--rounds", "3", "--in-process", "--summary"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_NE(result.standard_output.find("berth:auto   6 of 6       3           3  search"),
            std::string::npos)
      << result.standard_output;
  EXPECT_EQ(result.standard_output.find("a.8.csv"), std::string::npos) << result.standard_output;
}

}  // namespace
}  // namespace berth::lab
