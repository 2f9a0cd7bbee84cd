// Solvers on the command line: --algorithm ilp and the like, and berth-lab encode.
#include <nlohmann/json.hpp>

#include "tests/lab/lab_process.h"
#include "tools/lab/method.h"

namespace berth::lab {
namespace {

using Json = nlohmann::json;

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class SolversTest : public cli::CommandTest {};

TEST_F(SolversTest, EachPlacesOrSaysWhatItNeeds) {
  const std::string table = SmallTable();
  const std::string plan = Path("plan.json");
  for (const char* name : {"ilp", "cp", "z3", "csp", "meta-csp"}) {
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
    const Json written = Json::parse(Read(plan));
    EXPECT_EQ(written.at("algorithm"), name);
    EXPECT_EQ(written.at("options").at("algorithm"), name);
    const ProcessResult proof = Lab({"place", table, "--algorithm", name, "--json"});
    EXPECT_EQ(Json::parse(proof.standard_output).at("outcome"), "optimal");
    EXPECT_EQ(Lab({"place", table, "--capacity", "7", "--algorithm", name}).exit_code, 1);
  }
}

TEST_F(SolversTest, AreListedAndCompleted) {
  const std::string help = Lab({"place", "--help"}).standard_output;
  for (const cli::SolverRow& row : cli::SolverRows()) {
    EXPECT_TRUE(Contains(help, "\n  " + row.name + " ")) << row.name;
  }
  ExpectRefused(Lab({"place", SmallTable(), "--algorithm", "meta-cps"}),
                "did you mean 'meta-csp'?");
}

TEST_F(SolversTest, JoinABenchmark) {
  if (cli::SolverRows().empty()) GTEST_SKIP() << "this build has none";
  const std::string json = Path("bench.json");
  const ProcessResult result = Lab({"bench", SmallTable(), "--capacity", "8", "--algorithm",
                                    "csp,meta-csp,niche", "--rounds", "1", "--json", json});
  EXPECT_EQ(result.exit_code, 0) << result.standard_error;
  EXPECT_TRUE(Contains(result.standard_output, "berth:meta-csp")) << result.standard_output;
  EXPECT_EQ(Lab({"bench", SmallTable(), "--algorithm", "csp", "--in-process"}).exit_code, 0);
}

TEST_F(SolversTest, RestartsCanBeSwitchedOff) {
  if (!CheckAvailable(*MethodFromName("cp"))) GTEST_SKIP() << "this build has no Gecode";
  const std::string table = SmallTable();
  EXPECT_EQ(Lab({"place", table, "--algorithm", "cp", "--cp-restarts", "off"}).exit_code, 0);
  ExpectRefused(Lab({"place", table, "--algorithm", "cp", "--cp-restarts", "maybe"}),
                "--cp-restarts: 'maybe' is not allowed; it must be on|off");
}

TEST_F(SolversTest, EncodeWritesTheProgram) {
  const std::string table = SmallTable();
  const std::string lp = Path("small.lp");
  if (cli::SolverRows().empty()) {
    ExpectRefused(Lab({"encode", table}), "no solvers");
    return;
  }
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
