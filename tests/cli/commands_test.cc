// berth check, explain, info, generate.
#include <nlohmann/json.hpp>

#include "berth/io.h"
#include "tests/cli/berth_process.h"
#include "tests/graph/build.h"

namespace berth::cli {
namespace {

using Json = nlohmann::json;

constexpr const char* kColliding = "id,lower,upper,size,offset\na,0,3,4,0\nb,1,5,4,2\nc,2,4,4,\n";

class CheckCommandTest : public CommandTest {};
class ExplainCommandTest : public CommandTest {};
class InfoCommandTest : public CommandTest {};
class GenerateCommandTest : public CommandTest {};

TEST_F(CheckCommandTest, NamesThePairTheStepsAndTheBytes) {
  const std::string plan = Write("plan.csv", "id,offset\na,0\nb,0\nc,3\n");
  const ProcessResult result = Berth({"check", SmallTable(), plan});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.standard_error, "");
  EXPECT_NE(
      result.standard_output.find("overlap: \"a\" and \"c\" share bytes [3, 4) at steps [2, 3)"),
      std::string::npos)
      << result.standard_output;
  EXPECT_NE(result.standard_output.find("does not hold: 2 faults"), std::string::npos)
      << result.standard_output;

  const Json json = Json::parse(Berth({"check", SmallTable(), plan, "--json"}).standard_output);
  EXPECT_EQ(json.at("valid"), false);
  EXPECT_EQ(json.at("height"), 7);
  ASSERT_EQ(json.at("faults").size(), 2u);
  const Json& fault = json.at("faults").at(0);
  EXPECT_EQ(fault.at("kind"), "overlap");
  EXPECT_EQ(fault.at("buffer"), "a");
  EXPECT_EQ(fault.at("other"), "c");
  EXPECT_EQ(fault.at("steps"), Json({2, 3}));
  EXPECT_EQ(fault.at("bytes"), Json({3, 4}));
}

TEST_F(CheckCommandTest, AcceptsValidPlansAndChecksTheCapacity) {
  const std::string plan = Write("plan.csv", "id,offset\na,0\nb,0\nc,4\n");
  EXPECT_EQ(Berth({"check", SmallTable(), plan}).exit_code, 0);
  EXPECT_EQ(Berth({"check", SmallTable(), plan, "--capacity", "8"}).exit_code, 0);
  const ProcessResult result = Berth({"check", SmallTable(), plan, "--capacity", "7", "--json"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(Json::parse(result.standard_output).at("faults").at(0).at("kind"), "beyond-capacity");
}

TEST_F(CheckCommandTest, ATableCanCarryItsOwnPlan) {
  const std::string good =
      Write("good.csv", "id,lower,upper,size,offset\na,0,3,4,0\nb,3,5,4,0\nc,2,4,4,4\n");
  EXPECT_EQ(Berth({"check", good}).exit_code, 0);
  const std::string bad =
      Write("bad.csv", "id,lower,upper,size,offset\na,0,3,4,0\nb,3,5,4,0\nc,2,4,4,2\n");
  EXPECT_EQ(Berth({"check", bad}).exit_code, 1);
  ExpectRefused(Berth({"check", SmallTable()}), "buffer \"a\" has no offset");
}

TEST_F(CheckCommandTest, OptionsOfTablesAreNotForModels) {
  const std::string model = Write("model.json", WriteGraphJson(internal::OneSpill().graph));
  const std::string plan = Path("p.json");
  ASSERT_EQ(Berth({"plan", model, "-o", plan}).exit_code, 0);
  ExpectRefused(Berth({"check", model, plan, "--endpoints", "inclusive"}),
                "--endpoints: only for tables in CSV; the format of " + model +
                    " says what its lifetimes mean");
  ExpectRefused(Berth({"check", model, plan, "--problem", "2"}),
                "--problem: " + model + " is a model, which is one problem");
}

TEST_F(CheckCommandTest, AnIncompletePlanIsRefused) {
  const std::string table = SmallTable();
  ExpectRefused(Berth({"check", table, Write("p.csv", "id,offset\na,0\nb,0\n")}), "\"c\"");
  ExpectRefused(Berth({"check", table, Write("q.csv", "id,offset\na,0\nb,0\nc,4\nd,0\n")}),
                "\"d\"");
  ExpectRefused(Berth({"check", "-", "-"}), "cannot both be standard input");
  ExpectRefused(Berth({"check", table, Write("r.json", "{")}), "r.json");
}

TEST_F(ExplainCommandTest, NamesBuffersStepAndMissingBytes) {
  const ProcessResult result = Berth({"explain", SmallTable(), "--capacity", "7"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.standard_error, "");
  EXPECT_NE(result.standard_output.find("2 of the 3 buffers already do not fit: they need 8 B at"),
            std::string::npos)
      << result.standard_output;
  EXPECT_NE(result.standard_output.find("50.0 %  [2, 4)"), std::string::npos)
      << result.standard_output;

  const Json json =
      Json::parse(Berth({"explain", SmallTable(), "--capacity", "7", "--json"}).standard_output);
  EXPECT_EQ(json.at("outcome"), "infeasible");
  EXPECT_EQ(json.at("capacity"), 7);
  EXPECT_EQ(json.at("load"), 8);
  EXPECT_EQ(json.at("short_by"), 1);
  EXPECT_EQ(json.at("works_with"), 8);
  EXPECT_EQ(json.at("minimal"), true);
  ASSERT_EQ(json.at("buffers").size(), 2u);
  EXPECT_TRUE(json.at("buffers").at(0).at("id").is_string());
  EXPECT_EQ(json.at("buffers").at(0).at("share"), 0.5);
}

TEST_F(ExplainCommandTest, PinsThatCollideNeedNoCapacity) {
  const std::string table = Write("t.csv", kColliding);
  const std::string sentence =
      "The pins of \"a\" and \"b\" overlap: both need bytes [2, 4) at steps [1, 3).";
  for (const std::string command : {"explain", "place"}) {
    for (const std::string capacity : {"--capacity=100", "--capacity=1MiB", ""}) {
      std::vector<std::string> arguments = {command, table};
      if (!capacity.empty()) arguments.push_back(capacity);
      const ProcessResult result = Berth(arguments);
      EXPECT_EQ(result.exit_code, 1) << result.standard_error;
      EXPECT_NE(result.standard_output.find(sentence + " No capacity would do"), std::string::npos)
          << result.standard_output;
      EXPECT_EQ(result.standard_output.find("berth explain"), std::string::npos);
    }
  }
  const Json json = Json::parse(Berth({"explain", table, "--json"}).standard_output);
  EXPECT_EQ(json.at("pins_collide"), true);
  EXPECT_TRUE(json.at("short_by").is_null());
  EXPECT_TRUE(json.at("capacity").is_null());
  const Json placed = Json::parse(Berth({"place", table, "--json"}).standard_output);
  EXPECT_EQ(placed.at("colliding_pins"), Json({"a", "b"}));
  EXPECT_TRUE(placed.at("height").is_null());

  const ProcessResult info = Berth({"info", table});
  EXPECT_EQ(info.exit_code, 0);
  EXPECT_NE(info.standard_output.find("There is no plan: " + sentence), std::string::npos)
      << info.standard_output;
  EXPECT_EQ(info.standard_output.find("greedy"), std::string::npos) << info.standard_output;
  EXPECT_TRUE(
      Json::parse(Berth({"info", table, "--json"}).standard_output).at("greedy_height").is_null());
}

TEST_F(ExplainCommandTest, OneBufferIsNamed) {
  const std::string table = Write("t.csv", "id,lower,upper,size,offset\np,0,3,10,1000\n");
  const ProcessResult result = Berth({"explain", table, "--capacity", "100"});
  EXPECT_NE(result.standard_output.find(
                "\"p\" is pinned at 1,000 and ends at 1,010, above the capacity of 100 B."),
            std::string::npos)
      << result.standard_output;
  const std::string summary = Berth({"place", table}).standard_output;
  EXPECT_NE(summary.find("lower bound  1010 B, where the pinned \"p\" ends"), std::string::npos)
      << summary;
}

TEST_F(ExplainCommandTest, DoesNotOfferWhatItIgnores) {
  const std::string help = Berth({"explain", "--help"}).standard_output;
  EXPECT_EQ(help.find("--algorithm"), std::string::npos);
  EXPECT_EQ(help.find("--minimize"), std::string::npos);
  EXPECT_NE(help.find("--threads"), std::string::npos);
}

TEST_F(ExplainCommandTest, AProblemThatFitsIsNotExplained) {
  const ProcessResult result = Berth({"explain", SmallTable(), "--capacity", "8"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_NE(result.standard_output.find("Fits"), std::string::npos);
}

TEST_F(InfoCommandTest, CountsBuffersAndSections) {
  const std::string table =
      Write("t.csv",
            "id,lower,upper,size,alignment,offset,hint,gaps\n"
            "a,0,4,8,1,,,\nb,2,6,4,4,,16,\nc,10,12,2,1,6,,\nd,0,4,1,1,,,1-2\n");
  const ProcessResult result = Berth({"info", table, "--json"});
  EXPECT_EQ(result.exit_code, 0) << result.standard_error;
  const Json json = Json::parse(result.standard_output);
  EXPECT_EQ(json.at("buffers"), 4);
  EXPECT_EQ(json.at("first_step"), 0);
  EXPECT_EQ(json.at("last_step"), 12);
  EXPECT_EQ(json.at("total_size"), 15);
  EXPECT_EQ(json.at("load"), 13);
  EXPECT_EQ(json.at("partitions"), 2);
  EXPECT_EQ(json.at("most_buffers_in_partition"), 3);
  EXPECT_EQ(json.at("aligned_buffers"), 1);
  EXPECT_EQ(json.at("pinned_buffers"), 1);
  EXPECT_EQ(json.at("hinted_buffers"), 1);
  EXPECT_EQ(json.at("buffers_with_gaps"), 1);
  EXPECT_EQ(json.at("overlap_density"), 0.5);  // a-b, a-d and b-d of six pairs.
  EXPECT_GE(json.at("greedy_height"), 13);
  const std::string text = Berth({"info", table}).standard_output;
  EXPECT_NE(text.find("  buffers      4, 1 B to 8 B each, 15 B in all\n"), std::string::npos)
      << text;
}

TEST_F(InfoCommandTest, AnEmptyTableIsATable) {
  const std::string table = Write("t.csv", "id,lower,upper,size\n");
  EXPECT_EQ(Berth({"info", table}).exit_code, 0);
  EXPECT_EQ(Berth({"place", table, "--capacity", "0", "-o", Path("p.csv")}).exit_code, 0);
  EXPECT_EQ(Berth({"check", table, Path("p.csv")}).exit_code, 0);
}

TEST_F(GenerateCommandTest, TheSeedDecides) {
  const auto table = [](const std::string& seed) {
    const ProcessResult result = Berth({"generate", "planted", "--buffers", "30", "--seed", seed});
    EXPECT_EQ(result.exit_code, 0);
    return result.standard_output;
  };
  EXPECT_EQ(table("7"), table("7"));
  EXPECT_NE(table("7"), table("8"));
}

TEST_F(GenerateCommandTest, ThePlantedPlanHolds) {
  EXPECT_EQ(Berth({"generate", "planted", "--buffers", "50", "--gaps", "20", "--capacity", "64KiB",
                   "-o", Path("t.csv"), "--plan", Path("p.csv")})
                .exit_code,
            0);
  EXPECT_EQ(Berth({"check", Path("t.csv"), Path("p.csv"), "--capacity", "64KiB"}).exit_code, 0);
  ExpectRefused(Berth({"generate", "random", "--plan", Path("p.csv")}), "without a known plan");
}

TEST_F(GenerateCommandTest, VariesATable) {
  EXPECT_EQ(Berth({"generate", "--variant-of", SmallTable(), "--drop", "0"}).standard_output,
            "id,lower,upper,size\na,2,5,4\nb,0,2,4\nc,1,3,4\n");
  EXPECT_EQ(Berth({"generate", "--variant-of", SmallTable(), "--seed", "2", "-o", Path("v.csv")})
                .exit_code,
            0);
  EXPECT_EQ(Json::parse(Berth({"info", Path("v.csv"), "--json"}).standard_output).at("buffers"), 2);
  ExpectRefused(Berth({"generate", "full", "--variant-of", SmallTable()}), "FAMILY");
  ExpectRefused(Berth({"generate", "--buffers", "7", "--variant-of", SmallTable()}), "--buffers");
  ExpectRefused(Berth({"generate", "full", "--drop", "5"}), "--variant-of");
}

TEST_F(GenerateCommandTest, ListsItsFamilies) {
  const ProcessResult result = Berth({"generate", "--list"});
  EXPECT_EQ(result.exit_code, 0);
  for (const std::string family : {"planted", "full", "network", "inference", "random"}) {
    EXPECT_NE(result.standard_output.find("  " + family + " "), std::string::npos) << family;
    EXPECT_EQ(Berth({"generate", family, "-o", Path("t.csv")}).exit_code, 0) << family;
    EXPECT_EQ(Berth({"info", Path("t.csv")}).exit_code, 0) << family;
  }
}

}  // namespace
}  // namespace berth::cli
