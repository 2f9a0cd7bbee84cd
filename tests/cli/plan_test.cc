// berth plan, schedule, compare, and check of their plans.
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <string_view>

#include "base/sanitizer.h"
#include "berth/baselines.h"
#include "berth/graph.h"
#include "berth/io.h"
#include "tests/cli/berth_process.h"
#include "tests/graph/build.h"

namespace berth::cli {
namespace {

using internal::Build;
using internal::TwoBranches;
using Json = nlohmann::json;

class PlanCommandTest : public CommandTest {
 protected:
  // The graph of berth/graph.h's picture, in a program order that needs 17 bytes; 10 are enough.
  [[nodiscard]] std::string TwoBranchesFile() const {
    Build b = TwoBranches();
    std::swap(b.graph.operators[1], b.graph.operators[2]);
    return Write("graph.json", WriteGraphJson(b.graph));
  }
};

void ExpectHas(const std::string& text, const std::string& words) {
  EXPECT_NE(text.find(words), std::string::npos) << "no \"" << words << "\" in\n" << text;
}

TEST_F(PlanCommandTest, ListsTheTensorsAtThePeak) {
  const ProcessResult result = Berth({"plan", TwoBranchesFile()});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.standard_error, "");
  const std::string& text = result.standard_output;
  ExpectHas(text, "Planned in 10 B: proved that no order and no placement needs less.\n");
  ExpectHas(text, "10 B, 41.2 % less than the 17 B of program order\n");
  ExpectHas(text, "10 B: the peak, nothing is lost between tensors\n");
  ExpectHas(text, "5 operators, 5 tensors\n");
  ExpectHas(text, "Live at the peak, step 3 of 5, while D (Op) runs\n");
  ExpectHas(text, "1 B of the peak (10.0 %) only wait while D runs");
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

// A limit on memory ends a search with its best plan, or the command with a sentence.
TEST_F(PlanCommandTest, MemoryLimit) {
  if (BERTH_ADDRESS_SANITIZER) GTEST_SKIP() << "AddressSanitizer ends the process itself";
  const std::string graph = Path("cell.json");
  ASSERT_EQ(Berth({"generate", "cell", "--operators", "5000", "-o", graph}).exit_code, 0);
  for (const std::string command : {"schedule", "plan"}) {
    SCOPED_TRACE(command);
    const ProcessResult large =
        Berth({command, graph, "--memory-limit", "200MiB", "--node-limit", "2000", "--json"});
    EXPECT_EQ(large.exit_code, 0) << large.standard_error;
    ASSERT_FALSE(large.standard_output.empty());
    EXPECT_GT(Json::parse(large.standard_output).at("peak"), 0);
  }
  // The longer a search runs, the more memory it would take.
  for (const auto& [memory, time] : {std::pair{"90MiB", "3s"}, {"130MiB", "8s"}}) {
    SCOPED_TRACE(memory);
    const ProcessResult spills = Berth({"plan", graph, "--memory-limit", memory, "--time-limit",
                                        time, "--budget", "MR", "--json"});
    // On a busy machine the time may end before there is a plan: not for lack of memory.
    EXPECT_TRUE(spills.exit_code == 0 || spills.exit_code == 3) << spills.standard_error;
  }
  const std::string table = Path("random.csv");
  ASSERT_EQ(Berth({"generate", "random", "--buffers", "50000", "-o", table}).exit_code, 0);
  ExpectRefused(Berth({"place", table, "--memory-limit", "1MiB"}), "out of memory");
  const ProcessResult sweep = Berth(
      {"sweep", graph, "--memory-limit", "300MiB", "--time-limit", "1s", "--budget", "MR,MP"});
  EXPECT_TRUE(sweep.exit_code == 0 || sweep.exit_code == 3) << sweep.standard_error;
  // Too little for any search: points of a sweep then have plans without one, or none.
  ExpectRefused(Berth({"plan", graph, "--memory-limit", "1KiB", "--budget", "MR"}),
                "out of memory");
  const ProcessResult bare = Berth({"sweep", graph, "--memory-limit", "1KiB"});
  EXPECT_TRUE(bare.exit_code == 0 || bare.exit_code == 2) << bare.standard_error;
}

TEST_F(PlanCommandTest, Json) {
  const ProcessResult result = Berth({"plan", TwoBranchesFile(), "--json"});
  EXPECT_EQ(result.exit_code, 0);
  const Json json = Json::parse(result.standard_output);
  EXPECT_EQ(json.at("outcome"), "optimal");
  EXPECT_EQ(json.at("height"), 10);
  EXPECT_EQ(json.at("peak"), 10);
  EXPECT_EQ(json.at("height_bound"), 10);
  EXPECT_EQ(json.at("peak_bound"), 10);
  EXPECT_EQ(json.at("placement_bound"), 10);
  EXPECT_EQ(json.at("height_gap"), 0);
  EXPECT_EQ(json.at("program_order_peak"), 17);
  EXPECT_EQ(json.at("operators"), 5);
  EXPECT_EQ(json.at("at_peak").at("operator"), "D");
  EXPECT_EQ(json.at("at_peak").at("waiting_bytes"), 1);
  EXPECT_EQ(json.at("at_peak").at("live").size(), 3u);
}

TEST_F(PlanCommandTest, CapacityDecidesTheExitCode) {
  const std::string graph = TwoBranchesFile();
  EXPECT_EQ(Berth({"plan", graph, "--capacity", "10"}).exit_code, 0);
  const ProcessResult small = Berth({"plan", graph, "--capacity", "9", "-o", Path("p.json")});
  EXPECT_EQ(small.exit_code, 1);
  ExpectHas(small.standard_output, "Does not fit: proved that no order does.");
  ExpectHas(small.standard_output, "10 B, the smallest capacity known to work");
  EXPECT_FALSE(Exists(Path("p.json")));
  EXPECT_EQ(Berth({"plan", graph, "--capacity", "12", "--order", "program"}).exit_code, 3);
}

TEST_F(PlanCommandTest, PlansAreWrittenCheckedAndRun) {
  const std::string graph = TwoBranchesFile();
  const std::string plan = Path("plan.json");
  ASSERT_EQ(Berth({"plan", graph, "-o", plan, "--svg", Path("p.svg")}).exit_code, 0);
  ExpectHas(Read(Path("p.svg")), "<svg");
  const ProcessResult held = Berth({"check", graph, plan, "--execute"});
  EXPECT_EQ(held.exit_code, 0) << held.standard_output;
  ExpectHas(held.standard_output,
            "The plan holds: 5 operators in an order that can run, 5 buffers "
            "in 10 B, no two overlap; peak 10 B.\n");
  ExpectHas(held.standard_output, "5 operators read");
  EXPECT_EQ(Berth({"check", graph, plan, "--capacity", "9"}).exit_code, 1);
  // The same bytes again, and as a table.
  EXPECT_EQ(Berth({"plan", graph, "-o", "-"}).standard_output, Read(plan));
  ASSERT_EQ(Berth({"plan", graph, "-o", Path("plan.csv")}).exit_code, 0);
  EXPECT_EQ(Berth({"check", Path("plan.csv")}).exit_code, 0);

  Json json = Json::parse(Read(plan));
  for (Json& placement : json.at("residencies")) {
    if (placement.at("id") == "b") placement["offset"] = 3;
  }
  const ProcessResult broken =
      Berth({"check", graph, Write("broken.json", json.dump()), "--execute"});
  EXPECT_EQ(broken.exit_code, 1);
  ExpectHas(broken.standard_output, "overlap: ");
  ExpectHas(broken.standard_output, "clobbered: operator ");
  const Json found = Json::parse(
      Berth({"check", graph, Path("broken.json"), "--execute", "--json"}).standard_output);
  EXPECT_EQ(found.at("valid"), false);
  EXPECT_FALSE(found.at("execution").at("clobbers").empty());

  json["order"] = {"B", "A", "C", "D", "E"};
  const ProcessResult early = Berth({"check", graph, Write("early.json", json.dump())});
  EXPECT_EQ(early.exit_code, 1);
  ExpectHas(early.standard_output,
            "not made: operator \"B\" at step 0 needs tensor \"a\", made only later by operator "
            "\"A\"");
  json["order"] = {"A", "A", "C", "D", "E"};
  EXPECT_EQ(Berth({"check", graph, Write("twice.json", json.dump())}).exit_code, 1);
}

TEST_F(PlanCommandTest, InPlaceAndCountGoIntoThePlan) {
  Build b = Build().Source("x", 2).Made("a", 4).Made("b", 4);
  b.Op("A", {"x"}, {"a"}).Op("B", {"a"}, {"b"}).MayOverwrite("a", "b").Output("b");
  const std::string graph = Write("g.json", WriteGraphJson(b.graph));
  const ProcessResult plain = Berth({"plan", graph});
  ExpectHas(plain.standard_output, "Planned in 8 B");
  ExpectHas(plain.standard_output, "--in-place lowers the peak of this order to 4 B.");
  ExpectHas(plain.standard_output, "2 B of inputs, which the arena does not hold");
  const std::string plan = Path("plan.json");
  const ProcessResult reused =
      Berth({"plan", graph, "--in-place", "--count", "inputs", "-o", plan});
  ExpectHas(reused.standard_output, "Planned in 6 B");
  ExpectHas(reused.standard_output, "1 output written over an input");
  EXPECT_EQ(Berth({"check", graph, plan, "--execute"}).exit_code, 0);
  EXPECT_EQ(Json::parse(Berth({"plan", graph, "--count", "all", "--json"}).standard_output)
                .at("count")
                .at("parameters"),
            true);
}

TEST_F(PlanCommandTest, OrdersByNameAndByFile) {
  const std::string graph = TwoBranchesFile();
  const auto peak = [&](const std::string& order) {
    const ProcessResult result = Berth({"plan", graph, "--order", order, "--json"});
    EXPECT_EQ(result.exit_code, 0) << result.standard_error;
    return Json::parse(result.standard_output).at("peak").get<int>();
  };
  EXPECT_EQ(peak("program"), 17);
  EXPECT_EQ(peak("auto"), 10);
  EXPECT_EQ(peak(Write("order.json", R"(["C", "D", "A", "B", "E"])")), 10);
  ExpectRefused(Berth({"plan", graph, "--order", "programm"}), "did you mean 'program'?");
  ExpectRefused(Berth({"plan", graph, "--order", Write("bad.json", R"(["C", "D"])")}),
                "is missing in the order");
}

TEST_F(PlanCommandTest, Schedule) {
  const std::string graph = TwoBranchesFile();
  const Json json = Json::parse(Berth({"schedule", graph, "--json"}).standard_output);
  EXPECT_EQ(json.at("outcome"), "optimal");
  EXPECT_EQ(json.at("peak"), 10);
  EXPECT_EQ(json.at("peak_bound"), 10);
  EXPECT_TRUE(json.at("seconds").is_number());
  const std::set<std::string> operators = json.at("order");
  EXPECT_EQ(operators.size(), 5u);
  const ProcessResult text = Berth({"schedule", graph, "-o", Path("reordered.json")});
  EXPECT_EQ(text.exit_code, 0);
  ExpectHas(text.standard_output, "No order has a lower peak.");
  const Json again =
      Json::parse(Berth({"schedule", Path("reordered.json"), "--algorithm", "program", "--json"})
                      .standard_output);
  EXPECT_EQ(again.at("peak"), 10);
  ExpectRefused(Berth({"schedule", graph, "-o", Path("model.onnx")}), "is a graph in JSON");
  ExpectRefused(Berth({"schedule", graph, "--algorithm", "programm"}), "did you mean 'program'?");
}

TEST_F(PlanCommandTest, Compare) {
  const std::string graph = TwoBranchesFile();
  const ProcessResult text = Berth({"compare", graph});
  EXPECT_EQ(text.exit_code, 0);
  ExpectHas(text.standard_output, "no order has a peak below 10 B");
  ExpectHas(text.standard_output, "+70.0 %");
  const Json json = Json::parse(Berth({"compare", graph, "--json"}).standard_output);
  EXPECT_EQ(json.at("peak_bound"), 10);
  EXPECT_EQ(json.at("orders").back().at("order"), "auto");
  EXPECT_EQ(json.at("orders").back().at("height"), 10);
}

TEST_F(PlanCommandTest, CompareWithOlla) {
  const std::string graph = TwoBranchesFile();
  const auto of_olla = [](const ProcessResult& result) -> Json {
    EXPECT_EQ(result.exit_code, 0) << result.standard_error;
    const Json json = Json::parse(result.standard_output);
    for (const Json& row : json.at("orders")) {
      if (row.at("order") == "olla") return row;
    }
    return nullptr;
  };
  if (!Info(Baseline::kIlp).available()) {
    EXPECT_EQ(of_olla(Berth({"compare", graph, "--json"})), nullptr);
    ExpectRefused(Berth({"compare", graph, "--olla-limit", "1s"}), "--olla-limit");
    return;
  }
  const Json row = of_olla(Berth({"compare", graph, "--json"}));
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row.at("peak"), 10);
  EXPECT_EQ(row.at("peak_gap"), 0);
  EXPECT_EQ(of_olla(Berth({"compare", graph, "--json", "--olla-limit", "0"})), nullptr);
  // Too large for its solver: reported, not tried.
  const std::string cell = Path("cell.json");
  ASSERT_EQ(Berth({"generate", "cell", "--operators", "300", "-o", cell}).exit_code, 0);
  ExpectHas(Berth({"compare", cell}).standard_output, "\nolla: too large: ");
}

TEST_F(PlanCommandTest, RejectsInvalidModels) {
  ExpectRefused(Berth({"plan", SmallTable()}), "not a model, but a table of buffers; berth place");
  ExpectRefused(Berth({"plan", Path("missing.json")}), "missing.json");
  ExpectRefused(Berth({"plan", Write("g.json", "{\"nodes\": []}")}),
                "\"tensors\" is missing where it should be a list");
  ExpectRefused(Berth({"plan", TwoBranchesFile(), "--dim", "n=1"}),
                "are for ONNX and TensorFlow Lite models");
  ExpectRefused(Berth({"plan", TwoBranchesFile(), "--dim", "n"}), "is not of the form NAME=SIZE");
  ExpectRefused(Berth({"plan", TwoBranchesFile(), "--count", "weights"}), "is not one of none");
  ExpectRefused(Berth({"check", TwoBranchesFile()}), "PLAN is missing");
  ExpectRefused(Berth({"check", SmallTable(), "--execute"}), "--execute runs a graph");
}

TEST_F(PlanCommandTest, ListsUnplannedTensors) {
  Build b = Build().Made("a", 4).Made("b", 0).Op("A", {}, {"a"}).Op("B", {"a"}, {"b"});
  b.graph.tensors[1].unplanned = "its size depends on the data";
  const std::string graph = Write("g.json", WriteGraphJson(b.graph));
  ExpectHas(Berth({"plan", graph}).standard_output,
            "Not planned, as their sizes are not known:\n  b: its size depends on the data\n");
  EXPECT_EQ(Json::parse(Berth({"plan", graph, "--json"}).standard_output).at("unplanned").size(),
            1u);
}

TEST_F(PlanCommandTest, TheExamplesArePlannedWithAProof) {
  for (const std::string name : {"cells.onnx", "training_alexnet_b32.json"}) {
    const std::string model = BERTH_SOURCE_DIR "/examples/" + name;
    const std::string plan = Path("plan.json");
    const ProcessResult result = Berth({"plan", model, "-o", plan});
    EXPECT_EQ(result.exit_code, 0) << result.standard_error;
    ExpectHas(result.standard_output, "proved that no order and no placement needs less.");
    const ProcessResult check = Berth({"check", model, plan, "--execute"});
    EXPECT_EQ(check.exit_code, 0) << check.standard_output;
  }
}

// The commands of an answer: lines that begin with "berth", indented.
std::vector<std::string> CommandsOf(const std::string& text) {
  std::vector<std::string> commands;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("    berth ")) commands.push_back(line.substr(4));
  }
  return commands;
}

// Runs a command that was printed as it stands.
ProcessResult Copied(const std::string& command) {
  return Shell("\"$BERTH\"" + command.substr(std::string("berth").size()));
}

// From a capacity that is too small to a plan that fits with one command of the answer.
TEST_F(PlanCommandTest, CommandsThatWouldMakeItFitDo) {
  for (const std::string capacity : {"512KiB", "360KiB", "300KiB", "200KiB", "16KiB", "1KiB"}) {
    for (const std::string asked : {"--capacity", "--budget"}) {
      SCOPED_TRACE(asked + " " + capacity);
      const ProcessResult result = Berth({"plan", BERTH_SOURCE_DIR "/examples/cells.onnx", asked,
                                          capacity, "-o", Path("it's a plan.json")});
      EXPECT_EQ(result.exit_code, 1);
      EXPECT_FALSE(Exists(Path("it's a plan.json")));
      ExpectHas(result.standard_output, "What would make it fit, each tried\n");
      // All of the first list, not only what comes first.
      const std::string& text = result.standard_output;
      const auto commands = CommandsOf(text.substr(0, text.find("Not enough alone\n")));
      ASSERT_FALSE(commands.empty()) << text;
      for (const std::string& command : commands) {
        std::remove(Path("it's a plan.json").c_str());
        EXPECT_EQ(Copied(command).exit_code, 0) << command;
      }
      // The plan is written where it was asked for.
      EXPECT_TRUE(Exists(Path("it's a plan.json")));
      EXPECT_EQ(Berth({"check", BERTH_SOURCE_DIR "/examples/cells.onnx", Path("it's a plan.json")})
                    .exit_code,
                0);
      std::remove(Path("it's a plan.json").c_str());
    }
  }
}

TEST_F(PlanCommandTest, RemediesHaveTheFiguresThatAreStated) {
  const ProcessResult result =
      Berth({"plan", BERTH_SOURCE_DIR "/examples/cells.onnx", "--capacity", "300KiB", "--json"});
  const Json remedies = Json::parse(result.standard_output).at("remedies");
  int followed = 0;
  for (const Json& remedy : remedies) {
    if (remedy.at("command").is_null()) continue;
    const std::string command = remedy.at("command").get<std::string>();
    SCOPED_TRACE(command);
    const ProcessResult again = Copied(command);
    const Json plan = Json::parse(again.standard_output);
    if (remedy.at("fits").get<bool>()) {
      EXPECT_EQ(again.exit_code, 0);
    }
    if (remedy.at("traffic").is_null()) {
      EXPECT_LE(plan.at("height"), remedy.at("needs"));
    } else {
      EXPECT_LE(plan.at("traffic").at("avoidable"), remedy.at("traffic"));
    }
    ++followed;
  }
  EXPECT_GE(followed, 3);
}

// Two convolutions of kernel 3 and a pool of 2 over 8 rows of 8 bytes.
constexpr std::string_view kTwoConvolutions = R"({
  "format": "berth-graph", "format_version": 1, "nodes": [
    {"name": "conv", "op": "Conv", "inputs": [0], "outputs": [1], "receptive_fields": [
      {"axis": 2, "inputs": [0], "input_rows": 8, "output_rows": 8, "extent": 3, "before": 1}]},
    {"name": "conv2", "op": "Conv", "inputs": [1], "outputs": [2], "receptive_fields": [
      {"axis": 2, "inputs": [1], "input_rows": 8, "output_rows": 8, "extent": 3, "before": 1}]},
    {"name": "pool", "op": "MaxPool", "inputs": [2], "outputs": [3], "receptive_fields": [
      {"axis": 2, "inputs": [2], "input_rows": 8, "output_rows": 4, "stride": 2, "extent": 2}]}],
  "tensors": [{"name": "in", "bytes": 64, "kind": "input"},
              {"name": "x", "bytes": 64, "kind": "activation"},
              {"name": "y", "bytes": 64, "kind": "activation"},
              {"name": "z", "bytes": 32, "kind": "output"}]})";

// One row of the result in each strip: two rows of y, 16 bytes, beside all of x, 64, and z, 32.
TEST_F(PlanCommandTest, OperatorsInStripsAreAnEstimate) {
  const std::string graph = Write("strips.json", std::string(kTwoConvolutions));
  const ProcessResult result = Berth({"plan", graph, "--capacity", "112"});
  EXPECT_EQ(result.exit_code, 1);
  ExpectHas(result.standard_output,
            "What would make it fit, each tried\n"
            "  Split \"conv2\" to \"pool\" into 4 strips. Estimate: the plan then needs 112 B, and "
            "fits. A strip is\n"
            "  1 of the 4 rows of the result along axis 2, its halo 2 rows; nothing is computed "
            "twice. Berth\n"
            "  does not rewrite the model: the runtime's operators must be able to read and write "
            "some rows of\n"
            "  a tensor.\n"
            "  A capacity of 128 B. ");
}

// With the first convolution, too: four rows of x, 32 bytes, of which neighbours share two.
TEST_F(PlanCommandTest, OperatorsInStripsAreListedInJson) {
  const std::string graph = Write("strips.json", std::string(kTwoConvolutions));
  const ProcessResult result = Berth({"plan", graph, "--capacity", "60", "--json"});
  const Json remedies = Json::parse(result.standard_output).at("remedies");
  const auto estimate = std::find_if(remedies.begin(), remedies.end(), [](const Json& remedy) {
    return remedy.at("estimated").get<bool>();
  });
  ASSERT_NE(estimate, remedies.end());
  EXPECT_EQ(estimate->at("title"), "Split \"conv\" to \"pool\" into 4 strips");
  EXPECT_EQ(estimate->at("needs"), 80);
  EXPECT_FALSE(estimate->at("fits").get<bool>());
  EXPECT_TRUE(estimate->at("command").is_null());
  EXPECT_EQ(estimate->at("strips"), Json::parse(R"([{
    "operators": ["conv", "conv2", "pool"], "axis": 2, "strips": 4, "rows": 1, "result_rows": 4,
    "halo": 4, "recomputed": 48, "made": 160}])"));
  ExpectHas(estimate->at("detail").get<std::string>(),
            "20 B are missing. A strip is 1 of the 4 rows of the result along axis 2, its halo 4 "
            "rows; 48 B (30.0 % of what these operators make) is computed more than once.");
}

// Of a real model: kernel, stride and padding come from the file.
TEST_F(PlanCommandTest, OperatorsOfModelsAreEstimatedInStrips) {
  const ProcessResult result =
      Berth({"plan", BERTH_SOURCE_DIR "/examples/cells.onnx", "--capacity", "1200KiB", "--json"});
  const Json plan = Json::parse(result.standard_output);
  const Json& remedies = plan.at("remedies");
  const auto estimate = std::find_if(remedies.begin(), remedies.end(), [](const Json& remedy) {
    return remedy.at("estimated").get<bool>();
  });
  ASSERT_NE(estimate, remedies.end());
  EXPECT_TRUE(estimate->at("fits").get<bool>());
  EXPECT_LE(estimate->at("needs"), 1200 * 1024);
  // What a command does comes first.
  EXPECT_FALSE(remedies.at(0).at("command").is_null());
  ASSERT_FALSE(estimate->at("strips").empty());
  for (const Json& chain : estimate->at("strips")) {
    EXPECT_GE(chain.at("operators").size(), 2u);
    EXPECT_GE(chain.at("strips"), 2);
    EXPECT_LE(chain.at("strips"), chain.at("result_rows"));
    EXPECT_LE(chain.at("recomputed"), chain.at("made"));
  }
}

TEST_F(PlanCommandTest, OperatorsInStripsAreInTheReport) {
  const std::string graph = Write("strips.json", std::string(kTwoConvolutions));
  ASSERT_EQ(Berth({"plan", graph, "--report", Path("p.html")}).exit_code, 0);
  const std::string page = Read(Path("p.html"));
  ExpectHas(page, "\"estimated\":true");
  ExpectHas(page, "Split \\\"conv\\\" to \\\"pool\\\" into 4 strips");
}

// What nobody could use is not said.
TEST_F(PlanCommandTest, NoUselessAdvice) {
  // No budget below what one operator needs.
  const ProcessResult small = Berth(
      {"plan", Write("one.json", WriteGraphJson(internal::OneSpill().graph)), "--capacity", "11"});
  EXPECT_EQ(small.standard_output.find("--budget 11"), std::string::npos) << small.standard_output;
  ExpectHas(small.standard_output, "--budget 12\n");
  // An operator that runs others cannot be split.
  Build b = Build().Made("a", 8).Made("b", 8).Op("make", {}, {"a"}).Op("If_0", {"a"}, {"b"});
  b.graph.operators[1].type = "If";
  b.Output("b");
  const std::string graph = Write("if.json", WriteGraphJson(b.graph));
  EXPECT_EQ(Berth({"plan", graph}).standard_output.find("splitting"), std::string::npos);
}

}  // namespace
}  // namespace berth::cli
