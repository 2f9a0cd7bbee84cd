// berth place --proof and berth-check-proof, as people run them.
#include <nlohmann/json.hpp>

#include "tests/cli/berth_process.h"

namespace berth::cli {
namespace {

using Json = nlohmann::json;

class ProofCommandTest : public CommandTest {
 protected:
  static ProcessResult Check(const std::vector<std::string>& arguments) {
    return RunOrFail(BERTH_CHECK_PROOF_EXECUTABLE, arguments);
  }
  // No plan reaches the load, which is the capacity.
  [[nodiscard]] std::string FullTable() const {
    const std::string path = Path("full.csv");
    EXPECT_EQ(Berth({"generate", "full", "--steps", "12", "--capacity", "1000", "--buffers", "21",
                     "--seed", "6", "-o", path})
                  .exit_code,
              0);
    return path;
  }
};

TEST_F(ProofCommandTest, InfeasibleBySearch) {
  const std::string table = FullTable();
  const std::string proof = Path("proof.txt");
  const ProcessResult placed = Berth({"place", table, "--capacity", "1000", "--proof", proof});
  EXPECT_EQ(placed.exit_code, 1);
  EXPECT_NE(placed.standard_output.find("berth-check-proof"), std::string::npos)
      << placed.standard_output;
  const ProcessResult checked = Check({proof, table});
  EXPECT_EQ(checked.exit_code, 0) << checked.standard_output;
  EXPECT_EQ(checked.standard_output.rfind(
                "The proof holds: no plan of the table takes at most 1000 bytes.\n", 0),
            0u)
      << checked.standard_output;
  // A larger claim is refused, with the line.
  std::string text = Read(proof);
  const std::string claim = "claim infeasible 1000";
  text.replace(text.find(claim), claim.size(), "claim infeasible 9999");
  const ProcessResult refused = Check({Write("false.txt", text), table});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_NE(refused.standard_output.find("false.txt:"), std::string::npos)
      << refused.standard_output;
}

TEST_F(ProofCommandTest, OptimalAndOfWhichTable) {
  const std::string table = SmallTable();
  const std::string proof = Path("proof.txt");
  const ProcessResult placed = Berth({"place", table, "--proof", proof, "--json"});
  EXPECT_EQ(placed.exit_code, 0);
  const Json json = Json::parse(placed.standard_output);
  EXPECT_EQ(json.at("proof").at("bytes"), Read(proof).size());
  EXPECT_EQ(json.at("proof").at("nodes"), 0);
  const ProcessResult checked = Check({proof, table});
  EXPECT_EQ(checked.exit_code, 0);
  EXPECT_EQ(checked.standard_output,
            "The proof holds: the plan in it takes 8 bytes, and no plan of the table takes less.\n"
            "  3 buffers, 1 line checked, 0 lemmas.\n");
  EXPECT_EQ(Check({proof}).exit_code, 0);
  EXPECT_EQ(Check({}).standard_error, "berth-check-proof: PROOF is missing; see --help\n");
  EXPECT_EQ(Check({proof, table, proof}).standard_error,
            "berth-check-proof: unexpected argument '" + proof + "'; see --help\n");
  const std::string other = Write("other.csv", "id,start,end,size\na,0,2,4\n");
  EXPECT_EQ(Check({proof, other}).exit_code, 1);
  // The same table with inclusive ends, quotes and CR LF.
  const std::string same = Write(
      "same.csv", "Size,END,\"start\",id\r\n4,2,0,\"a \"\"1\"\"\"\r\n4, 4 ,3,b\r\n4,3,2,c\r\n");
  EXPECT_EQ(Check({proof, same}).exit_code, 0) << Check({proof, same}).standard_output;
  EXPECT_EQ(Check({"--endpoints", "half-open", proof, same}).exit_code, 1);
}

// What Berth reads, the checker reads: a byte order mark before a quoted name, tabs between gaps.
TEST_F(ProofCommandTest, TablesThatBerthAccepts) {
  const std::string table = Write("table.csv",
                                  "\xEF\xBB\xBF\"id\",\"lower\",upper,size,gaps\n"
                                  "a,0,9,4,2-3\t5-6 \t 7-8\nb,2,3,4,\nc,1,2,4,\n");
  const std::string proof = Path("proof.txt");
  EXPECT_EQ(Berth({"place", table, "--proof", proof}).exit_code, 0);
  const ProcessResult checked = Check({proof, table});
  EXPECT_EQ(checked.exit_code, 0) << checked.standard_output << checked.standard_error;
}

TEST_F(ProofCommandTest, OnStandardOutput) {
  const std::string table = SmallTable();
  const ProcessResult placed = Berth({"place", table, "--proof", "-"});
  EXPECT_EQ(placed.exit_code, 0);
  EXPECT_EQ(placed.standard_output.rfind("berth-proof 1\n", 0), 0u) << placed.standard_output;
  EXPECT_EQ(Check({Write("copy.txt", placed.standard_output), table}).exit_code, 0);
}

// The disk is full, as far as the program can tell: the verdict is said all the same.
TEST_F(ProofCommandTest, AProofThatCannotBeWritten) {
  const std::string proof = Path("proof.txt");
  const ProcessResult placed =
      RunOrFail("/bin/sh", {"-c", "trap '' XFSZ; ulimit -f 1; exec \"$@\"", "sh", BERTH_EXECUTABLE,
                            "place", FullTable(), "--capacity", "1000", "--proof", proof});
  EXPECT_EQ(placed.exit_code, 2);
  EXPECT_NE(placed.standard_error.find(proof), std::string::npos) << placed.standard_error;
  EXPECT_NE(placed.standard_output.find("proved, but the file cannot be written"),
            std::string::npos)
      << placed.standard_output;
  EXPECT_FALSE(Exists(proof));
}

TEST_F(ProofCommandTest, FilesThatCannotBeRead) {
  const std::string proof = Path("proof.txt");
  ASSERT_EQ(Berth({"place", SmallTable(), "--proof", proof}).exit_code, 0);
  const std::string folder = Path(".");
  for (const ProcessResult& result : {Check({folder}), Check({proof, folder})}) {
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_NE(result.standard_error.find(folder + ": cannot be read: "), std::string::npos)
        << result.standard_error;
  }
  const ProcessResult json = Check({proof, Write("table.json", "{\"buffers\": []}")});
  EXPECT_EQ(json.exit_code, 2);
  EXPECT_NE(json.standard_error.find("table.json: not a table in CSV"), std::string::npos)
      << json.standard_error;
}

TEST_F(ProofCommandTest, WithoutAVerdictThereIsNone) {
  const std::string table = SmallTable();
  const ProcessResult placed =
      Berth({"place", table, "--capacity", "9", "--proof", Path("proof.txt")});
  EXPECT_EQ(placed.exit_code, 0);
  EXPECT_EQ(Exists(Path("proof.txt")),
            placed.standard_output.find("not written") == std::string::npos);
  const ProcessResult greedy = Berth({"place", FullTable(), "--algorithm", "first-fit-size",
                                      "--proof", Path("none.txt"), "--json"});
  EXPECT_TRUE(Json::parse(greedy.standard_output).at("proof").is_null());
  EXPECT_FALSE(Exists(Path("none.txt")));
  ExpectRefused(Berth({"place", table, "--memory", "a=9@1GB/s", "--proof", Path("none.txt")}),
                "--proof does not apply to several memories");
}

// ---- Orders.

TEST_F(ProofCommandTest, OrderOfAGraph) {
  const std::string graph = Path("graph.json");
  ASSERT_EQ(Berth({"generate", "irregular", "--operators", "60", "--width", "8", "--seed", "3",
                   "-o", graph})
                .exit_code,
            0);
  const std::string proof = Path("proof.txt");
  const ProcessResult ordered = Berth({"schedule", graph, "--proof", proof, "--json"});
  EXPECT_EQ(ordered.exit_code, 0);
  const Json json = Json::parse(ordered.standard_output);
  EXPECT_EQ(json.at("proof").at("bytes"), Read(proof).size());
  EXPECT_TRUE(json.at("proof").at("not_written").is_null());
  const auto peak = json.at("peak_bound").get<std::int64_t>();
  const ProcessResult checked = Check({proof, graph});
  EXPECT_EQ(checked.exit_code, 0) << checked.standard_output << checked.standard_error;
  EXPECT_EQ(checked.standard_output.rfind(
                "The proof holds: the order in it has a peak of " + std::to_string(peak) +
                    " bytes, and no order of the graph has a lower one.\n  60 operators, ",
                0),
            0u)
      << checked.standard_output;
  EXPECT_EQ(Check({proof}).exit_code, 0);
  // Other operators, or other bytes.
  EXPECT_EQ(Check({"--alignment", "4096", proof, graph}).exit_code, 1);
  const std::string other = Path("other.json");
  ASSERT_EQ(
      Berth({"generate", "irregular", "--operators", "60", "--seed", "4", "-o", other}).exit_code,
      0);
  const ProcessResult about_other = Check({proof, other});
  EXPECT_EQ(about_other.exit_code, 1);
  EXPECT_NE(about_other.standard_output.find("proof.txt:3: the proof is about another graph"),
            std::string::npos)
      << about_other.standard_output;
  // A larger claim is refused, with the line.
  std::string text = Read(proof);
  const std::string claim = "claim optimal " + std::to_string(peak);
  text.replace(text.find(claim), claim.size(), "claim optimal " + std::to_string(peak + 1));
  const ProcessResult refused = Check({Write("false.txt", text), graph});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_NE(refused.standard_output.find("false.txt:"), std::string::npos)
      << refused.standard_output;
}

// What is counted and how sizes are rounded has to be said twice.
TEST_F(ProofCommandTest, CountingAndAlignment) {
  const std::string graph = BERTH_SOURCE_DIR "/examples/training_alexnet_b32.json";
  const std::string proof = Path("proof.txt");
  ASSERT_EQ(Berth({"schedule", graph, "--count", "all", "--alignment", "256", "--proof", proof})
                .exit_code,
            0);
  EXPECT_EQ(Check({"--count", "all", "--alignment", "256", proof, graph}).exit_code, 0);
  EXPECT_EQ(Check({"--alignment", "256", proof, graph}).exit_code, 1);
  EXPECT_EQ(Check({"--count", "inputs", "--alignment", "256", proof, graph}).exit_code, 1);
  EXPECT_EQ(Check({"--count", "all", proof, graph}).exit_code, 1);
  EXPECT_EQ(Check({"--count", "some", proof, graph}).standard_error,
            "berth-check-proof: --count: inputs, parameters, all or none\n");
  EXPECT_EQ(Check({"--alignment", "0", proof, graph}).exit_code, 2);
  EXPECT_EQ(Check({proof, Path("missing.json")}).exit_code, 2);
  EXPECT_EQ(Check({proof, Write("bad.json", "{}")}).exit_code, 2);
}

// Models of other formats, and what --in-place makes of them, go through a graph in JSON.
TEST_F(ProofCommandTest, OfAModelByItsGraph) {
  const std::string model = BERTH_SOURCE_DIR "/examples/cells.onnx";
  const std::string graph = Path("graph.json");
  const ProcessResult first = Berth({"schedule", model, "--in-place", "-o", graph, "--json"});
  ASSERT_EQ(first.exit_code, 0) << first.standard_error;
  const std::string proof = Path("proof.txt");
  const ProcessResult second = Berth({"schedule", graph, "--proof", proof, "--json"});
  ASSERT_EQ(second.exit_code, 0) << second.standard_error;
  EXPECT_EQ(Json::parse(first.standard_output).at("peak_bound"),
            Json::parse(second.standard_output).at("peak_bound"));
  EXPECT_EQ(Check({proof, graph}).exit_code, 0) << Check({proof, graph}).standard_output;
}

TEST_F(ProofCommandTest, PlansOfAGraph) {
  const std::string graph = BERTH_SOURCE_DIR "/examples/training_alexnet_b32.json";
  const std::string proof = Path("proof.txt");
  const ProcessResult planned = Berth({"plan", graph, "--proof", proof});
  EXPECT_EQ(planned.exit_code, 0);
  EXPECT_NE(planned.standard_output.find("berth-check-proof checks it"), std::string::npos)
      << planned.standard_output;
  EXPECT_EQ(Check({proof, graph}).exit_code, 0);
  const std::string small = Path("small.txt");
  const ProcessResult infeasible =
      Berth({"plan", graph, "--capacity", "152698883", "--proof", small});
  EXPECT_EQ(infeasible.exit_code, 1);
  const ProcessResult checked = Check({small, graph});
  EXPECT_EQ(checked.exit_code, 0);
  EXPECT_EQ(
      checked.standard_output.rfind(
          "The proof holds: no order of the graph has a peak of at most 152698883 bytes.\n", 0),
      0u)
      << checked.standard_output;
  // Of a given order it is not known whether it is the best.
  const std::string none = Path("none.txt");
  const std::string irregular = Path("irregular.json");
  ASSERT_EQ(Berth({"generate", "irregular", "--operators", "60", "-o", irregular}).exit_code, 0);
  const ProcessResult fits =
      Berth({"plan", irregular, "--order", "program", "--proof", none, "--json"});
  EXPECT_EQ(fits.exit_code, 0);
  EXPECT_TRUE(Json::parse(fits.standard_output).at("proof").is_null());
  EXPECT_FALSE(Exists(none));
  ExpectRefused(Berth({"plan", graph, "--budget", "150MiB", "--proof", none}),
                "a plan with --budget has none");
  ExpectRefused(Berth({"plan", graph, "--memory", "a=9@1GB/s", "--proof", none}),
                "--proof does not apply to several memories");
}

// Plans with --budget have no proof, so a command that advises one must not ask for it.
TEST_F(ProofCommandTest, AdviceWithoutProof) {
  const std::string graph = Path("graph.json");
  ASSERT_EQ(Berth({"generate", "irregular", "--operators", "60", "-o", graph}).exit_code, 0);
  // 95 % of the least peak.
  const ProcessResult planned =
      Berth({"plan", graph, "--capacity", "44384", "--proof", Path("proof.txt"), "--json"});
  ASSERT_EQ(planned.exit_code, 1) << planned.standard_error;
  int budgets = 0;
  const Json json = Json::parse(planned.standard_output);
  for (const Json& remedy : json.at("remedies")) {
    if (!remedy.at("command").is_string()) continue;
    const std::string command = remedy.at("command").get<std::string>();
    const bool is_budget = command.find("--budget") != std::string::npos;
    EXPECT_NE(is_budget, command.find("--proof") != std::string::npos) << command;
    budgets += is_budget ? 1 : 0;
  }
  EXPECT_GT(budgets, 0);
}

// Not refused, but said: what the claim says nothing of.
TEST_F(ProofCommandTest, TensorsOfUnknownSize) {
  const std::string graph = Write("graph.json",
                                  R"({"nodes": [{"name": "a", "inputs": [], "outputs": [0]},
                    {"name": "b", "inputs": [0], "outputs": [1]}],
          "tensors": [{"name": "t", "kind": "activation", "unplanned": "dynamic"},
                      {"name": "u", "kind": "output", "bytes": 4}]})");
  const std::string proof = Path("proof.txt");
  ASSERT_EQ(Berth({"schedule", graph, "--allow-unknown", "--proof", proof}).exit_code, 0);
  const ProcessResult checked = Check({proof, graph});
  EXPECT_EQ(checked.exit_code, 0);
  EXPECT_NE(checked.standard_output.find("1 tensor of unknown size counted as 0 bytes."),
            std::string::npos)
      << checked.standard_output;
  // Options of the other kind of proof, and a graph in another format.
  EXPECT_EQ(Check({"--endpoints", "inclusive", proof, graph}).standard_error,
            "berth-check-proof: --endpoints: only of proofs of tables\n");
  const ProcessResult other = Check({proof, proof});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_NE(other.standard_error.find("not a graph in JSON"), std::string::npos);
  const std::string of_table = Path("table.txt");
  ASSERT_EQ(Berth({"place", SmallTable(), "--proof", of_table}).exit_code, 0);
  EXPECT_EQ(Check({"--alignment", "64", of_table, SmallTable()}).standard_error,
            "berth-check-proof: --alignment: only of proofs of orders\n");
}

TEST_F(ProofCommandTest, WordsOfAProofDoNotControlTheTerminal) {
  const ProcessResult orders =
      Check({Write("orders.txt", "berth-order-proof 1\nclaim infeasible 1\noperators \x1b[2J\n")});
  EXPECT_EQ(orders.exit_code, 1);
  EXPECT_NE(orders.standard_output.find("orders.txt:3: '?[2J' is not a whole number"),
            std::string::npos)
      << orders.standard_output;
}

TEST_F(ProofCommandTest, BadUsage) {
  EXPECT_EQ(Check({}).exit_code, 2);
  EXPECT_EQ(Check({Path("missing.txt")}).exit_code, 2);
  EXPECT_EQ(Check({"--other", "x"}).exit_code, 2);
  EXPECT_EQ(Check({"--help"}).exit_code, 0);
  const std::string proof = Path("proof.txt");
  ASSERT_EQ(Berth({"place", SmallTable(), "--proof", proof}).exit_code, 0);
  for (const std::string text :
       {"", "id,lower\n", "id,lower,upper,size\na,0,x,1\n", "id,lower,upper,size\na,0,1\n",
        "id,lower,upper,size\n\"a,0,1,1\n", "id,lower,upper,size,colour\n"}) {
    const ProcessResult result = Check({proof, Write("bad.csv", text)});
    EXPECT_EQ(result.exit_code, 2) << text;
    EXPECT_NE(result.standard_error.find("bad.csv:"), std::string::npos) << result.standard_error;
  }
}

}  // namespace
}  // namespace berth::cli
