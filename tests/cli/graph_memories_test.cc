// berth plan, check and sweep of models in several memories.
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "berth/io.h"
#include "tests/cli/berth_process.h"
#include "tests/graph/build.h"

namespace berth::cli {
namespace {

using Json = nlohmann::json;

std::string FirstLine(const ProcessResult& result) {
  return result.standard_output.substr(0, result.standard_output.find('\n'));
}

// A(8) -> B(1) and C(8) -> D(1), then E(1) of both: the best order needs 10 bytes, another one 17.
class GraphMemoriesTest : public CommandTest {
 protected:
  [[nodiscard]] std::string Model() const {
    return Write("model.json", WriteGraphJson(internal::TwoBranches().graph));
  }
  // A chain of tensors of 8 bytes, of which the last operator reads the first again.
  [[nodiscard]] static internal::Build Chain() {
    internal::Build b;
    b.Made("x", 8).Made("y", 8).Made("a", 8).Made("b", 8).Made("c", 8).Made("d", 8).Made("z", 1);
    b.Op("X", {}, {"x"}).Op("Y", {"x"}, {"y"}).Op("A", {"y"}, {"a"}).Op("B", {"a"}, {"b"});
    b.Op("C", {"b"}, {"c"}).Op("D", {"c"}, {"d"}).Op("Z", {"d", "x"}, {"z"}).Output("z");
    return b;
  }
  [[nodiscard]] std::string Skip() const {
    return Write("skip.json", WriteGraphJson(Chain().graph));
  }
  // Its operators compute for 60 ns each.
  [[nodiscard]] std::string Timed() const {
    internal::Build b = Chain();
    for (Operator& op : b.graph.operators) op.cost = 60;
    b.graph.cost_unit = "ns";
    return Write("timed.json", WriteGraphJson(b.graph));
  }
  // A byte costs 1 ns in the fast memory, 10 ns in the slow one.
  [[nodiscard]] static std::vector<std::string> Board(const std::string& fast) {
    return {"--memory", "fast=" + fast + "@1GB/s", "--memory", "slow@100MB/s"};
  }
  [[nodiscard]] static ProcessResult With(std::vector<std::string> arguments,
                                          const std::vector<std::string>& more) {
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Berth(arguments);
  }
};

// Each tensor but E's is written and read once: 2 * (8 + 1 + 8 + 1) + 1 = 37.
TEST_F(GraphMemoriesTest, TheLeastCostOfAnyOrder) {
  const std::string model = Model();
  const ProcessResult result =
      With({"plan", model, "-o", Path("plan.json"), "--svg", Path("plan.svg")}, Board("10"));
  EXPECT_EQ(result.exit_code, 0) << result.standard_error;
  EXPECT_EQ(FirstLine(result),
            "Fits: every tensor placed at a cost of 37 ns, proved the least of any order.");
  const Json plan = Json::parse(Read(Path("plan.json")));
  EXPECT_EQ(plan.at("cost"), 37);
  EXPECT_EQ(plan.at("cost_bound"), 37);
  EXPECT_EQ(plan.at("unplaced"), 0);
  EXPECT_EQ(plan.at("fixed_order"), false);
  EXPECT_EQ(plan.at("memories").at(0).at("height"), 10);
  EXPECT_EQ(plan.at("residencies").at(0).at("memory"), "fast");
  EXPECT_NE(Read(Path("plan.svg")).find("fast"), std::string::npos);
  const ProcessResult check = Berth({"check", model, Path("plan.json"), "--execute"});
  EXPECT_EQ(check.exit_code, 0) << check.standard_error;
  EXPECT_EQ(FirstLine(check),
            "The plan holds: 5 residencies in 2 memories, run with an arena for each; cost 37 ns.");
}

TEST_F(GraphMemoriesTest, WhatIsProvedOfOneOrderIsSaidOfIt) {
  const std::string model = Model();
  const Graph graph = internal::TwoBranches().graph;
  std::string names;
  for (const OperatorIndex v : std::vector<OperatorIndex>{0, 2, 1, 3, 4}) {
    names +=
        (names.empty() ? "\"" : ",\"") + graph.operators[static_cast<std::size_t>(v)].name + "\"";
  }
  const ProcessResult result =
      With({"plan", model, "--order", Write("order.json", "[" + names + "]")}, Board("10"));
  EXPECT_EQ(result.exit_code, 0) << result.standard_error;
  // One of the two large tensors is slow: 9 more for each of its bytes, written and read.
  EXPECT_EQ(FirstLine(result),
            "Fits: every tensor placed at a cost of 181 ns, proved the least in the given order.");
  EXPECT_NE(result.standard_output.find("Not in their cheapest memory"), std::string::npos);
}

TEST_F(GraphMemoriesTest, WrongPlansAreFound) {
  const std::string model = Model();
  ASSERT_EQ(With({"plan", model, "-o", Path("plan.json")}, Board("10")).exit_code, 0);
  const std::string text = Read(Path("plan.json"));
  const auto check = [&](const std::string& from, const std::string& to) {
    std::string wrong = text;
    const std::size_t at = wrong.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    if (at != std::string::npos) wrong.replace(at, from.size(), to);
    return Berth({"check", model, Write("wrong.json", wrong)});
  };
  const ProcessResult cost = check("\"cost\": 37", "\"cost\": 36");
  EXPECT_EQ(cost.exit_code, 1);
  EXPECT_NE(cost.standard_output.find("The plan does not hold"), std::string::npos);
  EXPECT_EQ(check("\"capacity\":10", "\"capacity\":9").exit_code, 1);
  ExpectRefused(check("\"memory\":\"fast\"", "\"memory\":\"none\""), "which is none of those");
}

TEST_F(GraphMemoriesTest, ASweepOfOneMemory) {
  const ProcessResult result =
      With({"sweep", Model(), "--memory", "fast", "--budget", "9,10,1", "-o", Path("curve.csv")},
           Board("4"));
  EXPECT_EQ(result.exit_code, 0) << result.standard_error;
  const std::string csv = Read(Path("curve.csv"));
  EXPECT_EQ(csv.find("capacity,outcome,unplaced,cost_ns,cost_bound_ns,seconds\n1,"), 0U) << csv;
  EXPECT_NE(csv.find("\n10,optimal,0,37,37,"), std::string::npos) << csv;
}

TEST_F(GraphMemoriesTest, ScratchpadsSpill) {
  const std::string model = Model();
  const ProcessResult result =
      Berth({"plan", model, "--memory", "pad=9", "--spill", "-o", Path("plan.json")});
  EXPECT_EQ(result.exit_code, 0) << result.standard_error;
  EXPECT_NE(FirstLine(result).find("of avoidable traffic: proved the least of any order."),
            std::string::npos)
      << FirstLine(result);
  EXPECT_EQ(Berth({"check", model, Path("plan.json")}).exit_code, 0);
  const ProcessResult small = Berth({"plan", model, "--memory", "pad=4", "--spill"});
  EXPECT_EQ(small.exit_code, 1);
  EXPECT_NE(FirstLine(small).find("alone needs 9 B of memory pad"), std::string::npos)
      << FirstLine(small);
}

TEST_F(GraphMemoriesTest, BadFlagsAreRefused) {
  const std::string model = Model();
  ExpectRefused(Berth({"plan", model, "--spill"}), "memories are missing");
  ExpectRefused(Berth({"plan", model, "--spill", "--budget", "MR"}), "--budget alone");
  ExpectRefused(With({"plan", model, "--weights-in", "flash"}, Board("10")),
                "there is no memory 'flash'");
  ExpectRefused(With({"plan", model, "--capacity", "10"}, Board("10")), "--capacity");
  ExpectRefused(With({"plan", model, "--spill"}, Board("10")), "may be in 2 memories");
  ExpectRefused(With({"plan", model, "-o", Path("plan.csv")}, Board("10")), ".json");
  ExpectRefused(With({"sweep", model}, Board("10")), "which memory is to be swept");
  ExpectRefused(With({"sweep", model, "--memory", "fast", "--budget", "MR"}, Board("10")), "MR");
  ExpectRefused(Berth({"sweep", model, "--memory", "fast"}),
                "there is no memory 'fast', as none is described; give --memories");
}

TEST_F(GraphMemoriesTest, TensorsMove) {
  const std::string model = Skip();
  EXPECT_EQ(FirstLine(With({"plan", model}, Board("16"))),
            "Fits: every tensor placed at a cost of 321 ns, proved the least of any order.");
  const ProcessResult result = With(
      {"plan", model, "--may-move", "--moves", "-o", Path("plan.json"), "--svg", Path("plan.svg")},
      Board("16"));
  EXPECT_EQ(result.exit_code, 0) << result.standard_error;
  EXPECT_EQ(FirstLine(result),
            "Fits: every tensor placed at a cost of 265 ns, proved the least of any order.");
  EXPECT_NE(result.standard_output.find("1 between memories, 88 ns of the cost"), std::string::npos)
      << result.standard_output;
  EXPECT_NE(result.standard_output.find("Copies\n"), std::string::npos);
  const Json plan = Json::parse(Read(Path("plan.json")));
  EXPECT_EQ(plan.at("may_move"), true);
  EXPECT_EQ(plan.at("residencies").size(), 8U);
  EXPECT_NE(Read(Path("plan.svg")).find("x#2"), std::string::npos);
  const ProcessResult check = Berth({"check", model, Path("plan.json"), "--execute"});
  EXPECT_EQ(check.exit_code, 0) << check.standard_output;
  EXPECT_EQ(
      FirstLine(check),
      "The plan holds: 8 residencies in 2 memories, run with an arena for each; cost 265 ns.");
  // Without the key that allows it, the same plan is refused.
  std::string text = Read(Path("plan.json"));
  const std::string key = "\"may_move\": true";
  ASSERT_NE(text.find(key), std::string::npos);
  text.replace(text.find(key), key.size(), "\"may_move\": false");
  const ProcessResult refused = Berth({"check", model, Write("still.json", text)});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_NE(refused.standard_output.find("is in two memories"), std::string::npos);
  text.replace(text.find("\"may_move\": false"), 17, "\"may_move\": 1");
  EXPECT_EQ(Berth({"check", model, Write("bad.json", text)}).exit_code, 2);
  const ProcessResult both = With({"plan", model, "--may-move", "--spill"}, Board("16"));
  EXPECT_EQ(both.exit_code, 2);
  const ProcessResult json = With({"plan", model, "--may-move", "--json"}, Board("16"));
  const Json summary = Json::parse(json.standard_output);
  ASSERT_EQ(summary.at("copies").size(), 1U);
  EXPECT_EQ(summary.at("copies").at(0).at("from"), "fast");
  EXPECT_EQ(summary.at("copies").at(0).at("before_step"), 2);
  EXPECT_EQ(summary.at("memories").at(0).at("cost").get<int>() +
                summary.at("memories").at(1).at("cost").get<int>(),
            265);
}

// Layers with weights in a slow memory: a copy of each comes while the operator before runs.
TEST_F(GraphMemoriesTest, CopiesOfWeightsBesideTheOriginals) {
  internal::Build b;
  b.Source("x", 8);
  for (int i = 0; i < 4; ++i) {
    const std::string n = std::to_string(i);
    b.Source("w" + n, 16, TensorKind::kParameter).Made("y" + n, 8);
    b.Op("op" + n, {i == 0 ? "x" : "y" + std::to_string(i - 1), "w" + n}, {"y" + n});
  }
  b.Output("y3");
  for (Operator& op : b.graph.operators) op.cost = 400;
  b.graph.cost_unit = "ns";
  const std::string model = Write("layers.json", WriteGraphJson(b.graph));
  const std::vector<std::string> board = Board("64");
  ExpectRefused(With({"plan", model, "--weights-in", "slow", "--stage-weights-in", "fast"}, board),
                "--stage-weights-in: nothing is copied without --may-move or --prefetch");
  ExpectRefused(With({"plan", model, "--prefetch", "--stage-weights-in", "fast"}, board),
                "--stage-weights-in: weights are part of the plan only with --weights-in");
  ExpectRefused(
      With({"plan", model, "--prefetch", "--weights-in", "slow", "--stage-weights-in", "faster"},
           board),
      "there is no memory 'faster'");
  const ProcessResult result = With(
      {"plan", model, "--prefetch", "--weights-in", "slow", "--stage-weights-in", "fast", "--moves",
       "-o", Path("plan.json"), "--svg", Path("plan.svg"), "--report", Path("plan.html")},
      board);
  EXPECT_EQ(result.exit_code, 0) << result.standard_error;
  const Json plan = Json::parse(Read(Path("plan.json")));
  EXPECT_EQ(plan.at("stage_weights_in"), Json({"fast"}));
  // Reads and writes of 8 bytes in the fast memory, 16 of a weight in the fast or, of the first two, in the
  // slow one.
  EXPECT_EQ(plan.at("cost"), 4 * 400 + 7 * 8 + 2 * 16 + 2 * 160);
  EXPECT_NE(result.standard_output.find("w3"), std::string::npos);
  const ProcessResult check = Berth({"check", model, Path("plan.json"), "--execute"});
  EXPECT_EQ(check.exit_code, 0) << check.standard_output << check.standard_error;
  // Without the key that allows it, the same plan is refused.
  std::string text = Read(Path("plan.json"));
  const std::string key = "\"stage_weights_in\"";
  ASSERT_NE(text.find(key), std::string::npos);
  text.replace(text.find(key), key.size(), "\"stage_weights_out\"");
  EXPECT_EQ(Berth({"check", model, Write("nowhere.json", text)}).exit_code, 1);
}

// The same chain, with room for three tensors: x leaves while others run, and comes back in time.
TEST_F(GraphMemoriesTest, CopiesAreMadeWhileOperatorsRun) {
  const std::string untimed = Skip();
  ExpectRefused(With({"plan", untimed, "--prefetch"}, Board("20")),
                "a device or a profile gives it");
  const std::string model = Timed();
  const ProcessResult result = With({"plan", model, "--prefetch", "--moves", "--copy-latency",
                                     "2ns", "-o", Path("plan.json"), "--trace", Path("trace.json")},
                                    Board("20"));
  EXPECT_EQ(result.exit_code, 0) << result.standard_error;
  EXPECT_EQ(FirstLine(result),
            "Fits: every tensor placed, in a run of 603 ns, proved the least of any order.");
  EXPECT_NE(result.standard_output.find("stalled by copies"), std::string::npos);
  const Json plan = Json::parse(Read(Path("plan.json")));
  EXPECT_EQ(plan.at("prefetch"), true);
  EXPECT_EQ(plan.at("copy_latency"), 2);
  const ProcessResult check = Berth({"check", model, Path("plan.json"), "--execute"});
  EXPECT_EQ(check.exit_code, 0) << check.standard_output;
  EXPECT_NE(check.standard_output.find("a run of "), std::string::npos) << check.standard_output;
  ExpectRefused(Berth({"check", untimed, Path("plan.json")}), "a device or a profile gives it");
  // Without the key that allows it, the same plan is refused.
  std::string text = Read(Path("plan.json"));
  const std::string key = "\"prefetch\": true";
  ASSERT_NE(text.find(key), std::string::npos);
  text.replace(text.find(key), key.size(), "\"prefetch\": false");
  EXPECT_EQ(Berth({"check", model, Write("stopping.json", text)}).exit_code, 1);
  text = Read(Path("plan.json"));
  text.replace(text.find("\"copy_latency\": 2"), 17, "\"copy_latency\": []");
  EXPECT_EQ(Berth({"check", model, Write("bad.json", text)}).exit_code, 2);
  int slices = 0;
  const Json trace = Json::parse(Read(Path("trace.json")));
  for (const Json& event : trace.at("traceEvents")) {
    slices += event.value("cat", "") == "copy" ? 1 : 0;
  }
  const ProcessResult json =
      With({"plan", model, "--prefetch", "--copy-latency", "2ns", "--json"}, Board("20"));
  const Json summary = Json::parse(json.standard_output);
  EXPECT_GT(slices, 0);
  EXPECT_EQ(summary.at("copies").size(), static_cast<std::size_t>(slices));
  const Json& run = summary.at("run");
  EXPECT_EQ(run.at("time"), summary.at("cost"));
  EXPECT_EQ(run.at("computing"), 7 * 60);
  EXPECT_EQ(run.at("computing").get<int>() + run.at("stalled").get<int>() +
                run.at("accessing").at(0).get<int>() + run.at("accessing").at(1).get<int>(),
            run.at("time").get<int>());
  for (const Json& copy : summary.at("copies")) {
    EXPECT_EQ(copy.at("ends").get<int>() - copy.at("begins").get<int>(),
              copy.at("cost").get<int>());
    EXPECT_LT(copy.at("after_step").get<int>(), copy.at("before_step").get<int>());
  }
}

TEST_F(GraphMemoriesTest, CopiesAreDrawn) {
  const std::string model = Timed();
  for (const std::string& flag : {std::string("--may-move"), std::string("--prefetch")}) {
    const ProcessResult result = With({"plan", model, flag, "-o", Path("plan.json"), "--svg",
                                       Path("plan.svg"), "--report", Path("plan.html")},
                                      Board("16"));
    ASSERT_EQ(result.exit_code, 0) << result.standard_error;
    const std::string svg = Read(Path("plan.svg"));
    EXPECT_NE(svg.find("copy of x from fast to slow, 8 B"), std::string::npos) << flag;
    EXPECT_NE(svg.find("class=\"copy\""), std::string::npos) << flag;
    // One in the legend; with a window, one at each end.
    const std::size_t legend = svg.find("class=\"copying\"");
    ASSERT_NE(legend, std::string::npos);
    EXPECT_EQ(svg.find("class=\"copying\"", legend + 1) != std::string::npos, flag == "--prefetch");
    const std::string page = Read(Path("plan.html"));
    const std::size_t at = page.find("\"copies\":[{\"from\":0,\"to\":1,");
    EXPECT_NE(at, std::string::npos) << flag;
    EXPECT_EQ(page.find("\"run\":null") == std::string::npos, flag == "--prefetch");
  }
}

// A scratchpad for activations, in which x has no room while a is made, and one for weights that holds
// one of the two.
TEST_F(GraphMemoriesTest, SpillsFromScratchpadsAreShown) {
  internal::Build b;
  b.Source("w", 8, TensorKind::kParameter).Source("v", 8, TensorKind::kParameter);
  b.Made("x", 8).Made("y", 8).Made("a", 8).Made("z", 1);
  b.Op("X", {"w"}, {"x"}).Op("Y", {"x", "v"}, {"y"}).Op("A", {"y"}, {"a"});
  b.Op("Z", {"a", "x", "w"}, {"z"}).Output("z");
  const std::string model = Write("pads.json", WriteGraphJson(b.graph));
  const std::vector<std::string> pads = {"--memory",         "acts=17", "--memory",     "weights=8",
                                         "--activations-in", "acts",    "--weights-in", "weights",
                                         "--order",          "program", "--spill"};
  const ProcessResult result = With({"plan", model, "--moves", "--svg", Path("plan.svg"),
                                     "--report", Path("plan.html"), "-o", Path("plan.json")},
                                    pads);
  ASSERT_EQ(result.exit_code, 0) << result.standard_error;
  const std::string& text = result.standard_output;
  EXPECT_NE(text.find("24 B of avoidable traffic"), std::string::npos) << text;
  EXPECT_NE(text.find("retrieved\n"), std::string::npos) << text;
  EXPECT_NE(text.find("Copies, in the order"), std::string::npos) << text;
  const Json summary = Json::parse(With({"plan", model, "--json"}, pads).standard_output);
  const Json moves = Json::parse(
      R"([{"step":2,"tensor":"x","bytes":8,"direction":"out","memory":"acts"},
          {"step":3,"tensor":"w","bytes":8,"direction":"in","memory":"weights"},
          {"step":3,"tensor":"x","bytes":8,"direction":"in","memory":"acts"}])");
  EXPECT_EQ(summary.at("moves"), moves);
  const auto of = [&](std::size_t m, const char* what) {
    return summary.at("memories").at(m).at(what).get<int>();
  };
  EXPECT_EQ(of(0, "spilled"), 8);
  EXPECT_EQ(of(0, "retrieved"), 8);
  EXPECT_EQ(of(1, "spilled"), 0);
  EXPECT_EQ(of(1, "retrieved"), 8);
  // One path for all arrows in, and one for those out, in each lane that has any.
  const std::string svg = Read(Path("plan.svg"));
  const auto count = [](const std::string& in, const std::string& what) {
    std::size_t found = 0;
    for (std::size_t at = in.find(what); at != std::string::npos; at = in.find(what, at + 1)) {
      ++found;
    }
    return found;
  };
  EXPECT_EQ(count(svg, "<path class=\"in\""), 3U);   // The legend's.
  EXPECT_EQ(count(svg, "<path class=\"out\""), 2U);  // Of weights nothing is written.
  EXPECT_NE(svg.find("acts: 17 B of 17 B, 5 buffers"), std::string::npos);
  // By row: w, w again, v, x, x again, y, a, z.
  const std::string page = Read(Path("plan.html"));
  EXPECT_NE(page.find(R"("spills":[{"from":0,"to":1,"written":0,"read":8},)"
                      R"({"from":3,"to":4,"written":8,"read":8}])"),
            std::string::npos);
  EXPECT_NE(page.find("\"memory\":[1,1,1,0,0,0,0,0]"), std::string::npos);
  EXPECT_NE(page.find("\"costs\":null"), std::string::npos);
  // Nothing is written where there is no plan, and that is said.
  const ProcessResult none = Berth({"plan", model, "--memory", "pad=4", "--spill", "--report",
                                    Path("none.html"), "--svg", Path("none.svg")});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_EQ(count(none.standard_output, "not written, as there is no plan"), 2U);
}

TEST_F(GraphMemoriesTest, WhyTensorsAreNotElsewhere) {
  const std::string model = Skip();
  const ProcessResult result = With({"explain", model, "--order", "program"}, Board("16"));
  EXPECT_EQ(result.exit_code, 0) << result.standard_error;
  const std::string& text = result.standard_output;
  EXPECT_NE(text.find("Not where they would cost the least"), std::string::npos) << text;
  EXPECT_NE(text.find("in the way"), std::string::npos) << text;
  const ProcessResult json = With({"explain", model, "--order", "program", "--json"}, Board("16"));
  const Json summary = Json::parse(json.standard_output);
  ASSERT_FALSE(summary.at("displaced").empty());
  const Json& first = summary.at("displaced").at(0);
  EXPECT_EQ(first.at("memory"), "slow");
  EXPECT_EQ(first.at("cheaper_memory"), "fast");
  EXPECT_EQ(first.at("reason"), "bytes");
  EXPECT_FALSE(first.at("in_the_way").empty());
  // Of what is copied there is no line, as it would be another plan without its copies.
  const ProcessResult moves =
      With({"explain", model, "--may-move", "--moves", "--report", Path("why.html")}, Board("16"));
  EXPECT_EQ(moves.exit_code, 0) << moves.standard_error;
  EXPECT_NE(moves.standard_output.find("A tensor that is copied"), std::string::npos);
  EXPECT_NE(moves.standard_output.find("Copies\n"), std::string::npos);
  EXPECT_EQ(moves.standard_output.find("x#1"), std::string::npos) << moves.standard_output;
  EXPECT_NE(Read(Path("why.html")).find("\"command\":\"explain\""), std::string::npos);
  ExpectRefused(With({"explain", model, "--moves"}, Board("16")), "--moves");
  const std::string table = Write("table.csv", "id,lower,upper,size\na,0,2,4\n");
  ExpectRefused(With({"explain", table, "--may-move"}, Board("16")), "--may-move: only a model");
  ExpectRefused(Berth({"explain", table, "--capacity", "8", "--prefetch"}), "--prefetch");
}

TEST_F(GraphMemoriesTest, TwoPlansAreCompared) {
  const std::string model = Skip();
  const auto plan = [&](const std::string& name, const std::vector<std::string>& board,
                        const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"plan", model, "--order", "program", "-o", Path(name)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    EXPECT_EQ(With(arguments, board).exit_code, 0);
  };
  plan("small.json", Board("16"), {});
  plan("large.json", Board("24"), {});
  plan("moves.json", Board("16"), {"--may-move"});
  const ProcessResult same = Berth({"diff", Path("small.json"), Path("small.json")});
  EXPECT_EQ(same.exit_code, 0);
  EXPECT_EQ(FirstLine(same), "The plans are the same.");
  const ProcessResult better = Berth({"diff", Path("small.json"), Path("large.json")});
  EXPECT_EQ(better.exit_code, 0) << better.standard_error;
  EXPECT_EQ(FirstLine(better), "The new plan costs less.");
  EXPECT_NE(better.standard_output.find("now in fast instead of slow"), std::string::npos)
      << better.standard_output;
  EXPECT_NE(better.standard_output.find("slow -> fast"), std::string::npos);
  const ProcessResult worse =
      Berth({"diff", Path("large.json"), Path("small.json"), "--max-growth", "2%", "--json"});
  EXPECT_EQ(worse.exit_code, 1);
  const Json json = Json::parse(worse.standard_output);
  EXPECT_EQ(json.at("cost_grew_too_much"), true);
  EXPECT_EQ(json.at("height"), nullptr);
  EXPECT_EQ(json.at("cost").at("unit"), "ns");
  EXPECT_GT(json.at("cost").at("delta").get<int>(), 0);
  EXPECT_EQ(json.at("memories").at(0).at("name"), "fast");
  EXPECT_EQ(json.at("memories").at(0).at("in"), "both");
  EXPECT_LT(json.at("memories").at(0).at("height").at("delta").get<int>(), 0);
  ASSERT_EQ(json.at("transfers").size(), 1U);
  EXPECT_EQ(json.at("transfers").at(0).at("from"), "fast");
  EXPECT_EQ(json.at("transfers").at(0).at("bytes").get<int>(),
            8 * json.at("buffers").at("other_memory").get<int>());
  // By bytes, only heights grow: those of the slow memory by 8 at least.
  EXPECT_EQ(Berth({"diff", Path("large.json"), Path("small.json"), "--max-growth", "64"}).exit_code,
            0);
  const ProcessResult higher =
      Berth({"diff", Path("large.json"), Path("small.json"), "--max-growth", "4"});
  EXPECT_EQ(higher.exit_code, 1);
  EXPECT_NE(FirstLine(higher).find("Memory slow grew by more than 4."), std::string::npos)
      << FirstLine(higher);
  // A tensor that is copied has two stays.
  const ProcessResult copied =
      Berth({"diff", Path("small.json"), Path("moves.json"), "--report", Path("diff.html")});
  EXPECT_EQ(copied.exit_code, 0) << copied.standard_error;
  EXPECT_NE(copied.standard_output.find("x#2"), std::string::npos) << copied.standard_output;
  EXPECT_NE(Read(Path("diff.html")).find("\"memories\":[{\"name\":\"fast\""), std::string::npos);
  // The time of a run is no cost of accesses.
  const std::string timed = Timed();
  ASSERT_EQ(With({"plan", timed, "--prefetch", "-o", Path("run.json")}, Board("16")).exit_code, 0);
  EXPECT_EQ(FirstLine(Berth({"diff", Path("small.json"), Path("run.json")})),
            "The costs cannot be compared: one is the time of a run, the other that of accesses.");
  ASSERT_EQ(Berth({"plan", model, "-o", Path("one.json")}).exit_code, 0);
  ExpectRefused(Berth({"diff", Path("one.json"), Path("small.json")}),
                "small.json is a plan for several memories");
}

TEST_F(GraphMemoriesTest, ASweepWithCopiesNeverRises) {
  for (const std::string& flag : {std::string("--may-move"), std::string("--prefetch")}) {
    const ProcessResult result =
        With({"sweep", Timed(), "--memory", "fast", "--budget", "8,12,16,17,20,24,40", flag, "-o",
              Path("curve.csv"), "--report", Path("curve.html"), "--svg", Path("curve.svg")},
             Board("4"));
    ASSERT_EQ(result.exit_code, 0) << result.standard_error;
    EXPECT_NE(result.standard_output.find("copies"), std::string::npos);
    std::istringstream lines(Read(Path("curve.csv")));
    std::string line;
    std::getline(lines, line);
    EXPECT_EQ(line, "capacity,outcome,unplaced,cost_ns,cost_bound_ns,copies,seconds");
    int last = 1 << 30;
    int copies = 0;
    int points = 0;
    for (; std::getline(lines, line); ++points) {
      std::istringstream cells(line);
      std::string cell;
      std::vector<std::string> row;
      while (std::getline(cells, cell, ',')) row.push_back(cell);
      EXPECT_LE(std::stoi(row[3]), last) << line;
      EXPECT_LE(std::stoi(row[4]), std::stoi(row[3])) << line;
      last = std::stoi(row[3]);
      copies += std::stoi(row[5]);
    }
    EXPECT_EQ(points, 7);
    EXPECT_GT(copies, 0) << flag;
    EXPECT_NE(Read(Path("curve.html")).find("\"memory\":\"fast\""), std::string::npos);
  }
  ExpectRefused(With({"sweep", Skip(), "--memory", "fast", "--prefetch"}, Board("4")),
                "a device or a profile gives it");
  ExpectRefused(With({"sweep", Timed(), "--memory", "fast", "--copy-latency", "1us"}, Board("4")),
                "--copy-latency");
}

// The times of the operators come from the device in the plan's file.
TEST_F(GraphMemoriesTest, ThePlanNamesItsDevice) {
  const std::string model = Skip();
  const std::string device =
      Write("device.json",
            R"({"format": "berth-device", "format_version": 1, "name": "dsp", "launch_ns": 40,)"
            R"( "operations_per_second": 2.5e9, "bandwidth": "4GB/s",)"
            R"( "link": {"out": "1GB/s", "in": "2GB/s", "latency_ns": 9}})");
  ASSERT_EQ(
      With({"plan", model, "--device", device, "--prefetch", "-o", Path("plan.json")}, Board("20"))
          .exit_code,
      0);
  const Json plan = Json::parse(Read(Path("plan.json")));
  EXPECT_EQ(plan.at("device").at("name"), "dsp");
  EXPECT_EQ(plan.at("device").at("operations_per_second"), 2.5e9);
  EXPECT_EQ(plan.at("device").at("bandwidth"), "4000000000B/s");
  // It is a device file by itself.
  const std::string copy = Write("copy.json", plan.at("device").dump());
  ASSERT_EQ(
      With({"plan", model, "--device", copy, "--prefetch", "-o", Path("again.json")}, Board("20"))
          .exit_code,
      0);
  EXPECT_EQ(Read(Path("again.json")), Read(Path("plan.json")));
  EXPECT_EQ(Berth({"check", model, Path("plan.json")}).exit_code, 0);
  // Another device gives another run.
  std::string text = Read(device);
  text.replace(text.find("40"), 2, "41");
  const std::string other = Write("other.json", text);
  EXPECT_EQ(Berth({"check", model, Path("plan.json"), "--device", other}).exit_code, 1);
  // Plans that copy and recompute take the link from there.
  ASSERT_EQ(Berth({"plan", model, "--device", device, "--budget", "17", "--recompute", "-o",
                   Path("joint.json")})
                .exit_code,
            0);
  const ProcessResult joint = Berth({"check", model, Path("joint.json")});
  EXPECT_EQ(joint.exit_code, 0) << joint.standard_output << joint.standard_error;
}

// Measured times are not in the plan's file.
TEST_F(GraphMemoriesTest, ThePlanNamesItsProfile) {
  const std::string model = Skip();
  const std::string profile =
      Write("times.csv", "operator,ns\nX,60\nY,60\nA,60\nB,60\nC,60\nD,60\nZ,60\n");
  const ProcessResult result = With({"plan", model, "--profile", profile, "--prefetch",
                                     "--copy-latency", "2ns", "-o", Path("plan.json")},
                                    Board("20"));
  EXPECT_EQ(FirstLine(result),  // As Timed().
            "Fits: every tensor placed, in a run of 603 ns, proved the least of any order.");
  EXPECT_EQ(Json::parse(Read(Path("plan.json"))).at("profile"), "times.csv");
  EXPECT_EQ(Berth({"check", model, Path("plan.json"), "--profile", profile}).exit_code, 0);
  ExpectRefused(Berth({"check", model, Path("plan.json")}),
                "the times in the profile 'times.csv'; give that with --profile");
  ExpectRefused(Berth({"explain", Write("table.csv", "id,start,end,size,memories\na,0,1,4,m\n"),
                       "--memory", "m=8", "--profile", profile}),
                "--profile: only a model");
}

TEST_F(GraphMemoriesTest, PrefetchIsRefusedWhereTimesMeanNothing) {
  internal::Build b;
  b.Made("x", 8).Made("y", 8).Op("X", {}, {"x"}).Op("Y", {"x"}, {"y"}).Output("y");
  for (Operator& op : b.graph.operators) op.cost = 60;
  b.graph.cost_unit = "flop";
  const std::string model = Write("flop.json", WriteGraphJson(b.graph));
  ExpectRefused(With({"plan", model, "--prefetch"}, Board("20")), "flop");
  ExpectRefused(With({"plan", model, "--prefetch", "--spill"}, Board("20")), "--spill");
  ExpectRefused(With({"plan", model, "--copy-latency", "1us"}, Board("20")),
                "only with --prefetch");
  ExpectRefused(With({"plan", model, "--prefetch", "--copy-latency", "1h"}, Board("20")),
                "3600000000000 ns, not from 0 to 2^40");
  ExpectRefused(
      With({"plan", model, "--prefetch", "--copy-latency", "9000000000000000h"}, Board("20")),
      "not from 0 to 2^40");
  ExpectRefused(Berth({"plan", model, "--prefetch"}), "memories are missing");
}

}  // namespace
}  // namespace berth::cli
