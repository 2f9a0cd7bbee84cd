// Baselines on the command line: berth-lab place --algorithm ilp and the like, berth-lab encode.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/lab/lab_process.h"
#include "tools/lab/method.h"

namespace berth::lab {
namespace {

using Json = nlohmann::json;

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class BaselinesTest : public cli::CommandTest {};

TEST_F(BaselinesTest, EachPlacesOrSaysWhatItNeeds) {
  const std::string table = SmallTable();
  const std::string plan = Path("plan.csv");
  for (const std::string name : {"telamalloc", "ilp", "cp", "z3", "csp", "meta-csp"}) {
    SCOPED_TRACE(name);
    const std::vector<std::string> words = {"place", table, "--capacity",  "9",
                                            "-o",    plan,  "--algorithm", name};
    if (const auto missing = CheckAvailable(*MethodFromName(name)); !missing) {
      ExpectRefused(Lab(words), missing.error().message);
      ExpectRefused(Lab({"bench", table, "--algorithm", name}), missing.error().message);
      continue;
    }
    EXPECT_EQ(Lab(words).exit_code, 0);
    EXPECT_EQ(cli::Berth({"check", table, plan, "--capacity", "9"}).exit_code, 0);
    const ProcessResult placed =
        Lab({"place", table, "--capacity", "9", "--algorithm", name, "--seed", "3", "--json"});
    const Json summary = Json::parse(placed.standard_output);
    // TelaMalloc tries its heuristic first.
    EXPECT_EQ(summary.at("algorithm"), name == "telamalloc" ? "contention" : name);
    EXPECT_EQ(summary.at("seed"), 3);
    EXPECT_LE(summary.at("height"), 9);
    if (name == "telamalloc") continue;  // Proves little.
    const ProcessResult proof = Lab({"place", table, "--algorithm", name, "--json"});
    EXPECT_EQ(Json::parse(proof.standard_output).at("outcome"), "optimal");
    EXPECT_EQ(Lab({"place", table, "--capacity", "7", "--algorithm", name}).exit_code, 1);
  }
}

TEST_F(BaselinesTest, AreListedAndCompleted) {
  const std::string help = Lab({"place", "--help"}).standard_output;
  for (const BaselineInfo& info : Baselines()) {
    EXPECT_TRUE(Contains(help, "\n  " + std::string(info.name) + " ")) << info.name;
  }
  ExpectRefused(Lab({"place", SmallTable(), "--algorithm", "meta-cps"}),
                "did you mean 'meta-csp'?");
}

TEST_F(BaselinesTest, EverySettingIsAFlag) {
  for (const OptionInfo& info : BaselineSettings()) {
    std::string flag = "--" + std::string(info.name);
    std::replace_if(
        flag.begin(), flag.end(), [](char c) { return c == '.' || c == '_'; }, '-');
    std::vector<std::string> arguments = {"place", SmallTable(), flag};
    if (info.allowed != "on|off") arguments.emplace_back(info.default_value);
    EXPECT_EQ(Lab(arguments).exit_code, 0) << flag;
  }
}

// Simulated allocators round up: PyTorch's to 512 bytes.
TEST_F(BaselinesTest, AllocatorsArePlansLikeAnyOther) {
  const std::string table = SmallTable();
  const ProcessResult result =
      Lab({"place", table, "--algorithm", "pytorch-caching", "-o", Path("plan.csv"), "--json"});
  EXPECT_EQ(result.exit_code, 0) << result.standard_error;
  EXPECT_EQ(Json::parse(result.standard_output).at("algorithm"), "pytorch-caching");
  EXPECT_EQ(cli::Berth({"check", table, Path("plan.csv")}).exit_code, 0);
  EXPECT_EQ(Lab({"place", table, "--capacity", "8", "--algorithm", "bfc"}).exit_code, 3);
  EXPECT_EQ(cli::Berth({"place", table, "--algorithm", "bfc"}).exit_code, 2)
      << "not in the product";
}

TEST_F(BaselinesTest, JoinABenchmark) {
  const std::string json = Path("bench.json");
  const ProcessResult result = Lab({"bench", SmallTable(), "--capacity", "8", "--algorithm",
                                    "csp,meta-csp,niche", "--rounds", "1", "--json", json});
  EXPECT_EQ(result.exit_code, 0) << result.standard_error;
  EXPECT_TRUE(Contains(result.standard_output, "berth:meta-csp")) << result.standard_output;
  EXPECT_EQ(Lab({"bench", SmallTable(), "--algorithm", "csp", "--in-process"}).exit_code, 0);
}

TEST_F(BaselinesTest, RestartsCanBeSwitchedOff) {
  if (!CheckAvailable(*MethodFromName("cp"))) GTEST_SKIP() << "this build has no Gecode";
  const std::string table = SmallTable();
  EXPECT_EQ(Lab({"place", table, "--algorithm", "cp", "--cp-restarts", "off"}).exit_code, 0);
  ExpectRefused(Lab({"place", table, "--algorithm", "cp", "--cp-restarts=maybe"}),
                "--cp-restarts: 'maybe' is not allowed; it must be on|off");
}

TEST_F(BaselinesTest, EncodeWritesTheProgram) {
  const std::string table = SmallTable();
  const std::string lp = Path("small.lp");
  EXPECT_EQ(Lab({"encode", table, "--capacity", "12", "-o", lp}).exit_code, 0);
  const std::string text = Read(lp);
  EXPECT_TRUE(Contains(text, "Subject To\n"));
  EXPECT_TRUE(Contains(text, "within 3 units"));
  EXPECT_TRUE(text.ends_with("End\n"));
  EXPECT_EQ(Lab({"encode", table, "--capacity", "12"}).standard_output, text);
  EXPECT_TRUE(Contains(Lab({"encode", table}).standard_output, " objective: height\n"));
  ExpectRefused(Lab({"encode", table, "-o", Path("small.txt")}), "does not end in .lp");
  ExpectRefused(Lab({"encode", table, "--capacity", "3"}), "alone does not fit the capacity");
  ExpectRefused(Lab({"encode", Path("none.csv")}), "cannot be read");
}

}  // namespace
}  // namespace berth::lab
