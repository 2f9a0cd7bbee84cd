// berth plan --budget --recompute, what it prints, and berth check of such plans.
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "berth/graph.h"
#include "berth/io.h"
#include "tests/cli/berth_process.h"
#include "tests/graph/build.h"

namespace berth::cli {
namespace {

using internal::OneSpill;
using Json = nlohmann::json;

void ExpectHas(const std::string& text, const std::string& words) {
  EXPECT_NE(text.find(words), std::string::npos) << "no \"" << words << "\" in\n" << text;
}
std::string FirstLine(const ProcessResult& result) {
  return result.standard_output.substr(0, result.standard_output.find('\n'));
}

class RecomputeCommandTest : public CommandTest {
 protected:
  // x runs again: 12 bytes instead of 14.
  [[nodiscard]] static Graph Costed() {
    Graph graph = OneSpill().graph;
    graph.cost_unit = "flop";
    for (Operator& op : graph.operators) op.cost = 1000;
    graph.operators[0].cost = 45;
    return graph;
  }
  [[nodiscard]] std::string File(const Graph& graph) const {
    return Write("graph.json", WriteGraphJson(graph));
  }
};

// Of 6 bytes each at 1 B/s and 100 ns to start: by bytes alone another unit.
TEST_F(RecomputeCommandTest, DevicesSayWhatOperatorsCost) {
  const std::string file = File(OneSpill().graph);
  const std::string device = Write("device.json", R"({"format": "berth-device",
      "format_version": 1, "operations_per_second": 1, "bandwidth": "1GB/s", "launch_ns": 100})");
  const ProcessResult result = Berth(
      {"plan", file, "--budget", "MR", "--recompute", "--device", device, "-o", Path("plan.json")});
  EXPECT_EQ(result.exit_code, 0) << result.standard_error;
  ExpectHas(result.standard_output, "1 execution, of make x");
  const Json recomputed = Json::parse(Read(Path("plan.json"))).at("recomputed");
  EXPECT_EQ(recomputed.at("unit"), "ns");
  const std::int64_t cost = recomputed.at("cost");
  EXPECT_GT(cost, 100);
  EXPECT_EQ(Berth({"check", file, Path("plan.json"), "--device", device}).exit_code, 0);
  // The file names the device; of another one the costs are others.
  EXPECT_EQ(Berth({"check", file, Path("plan.json")}).exit_code, 0);
  const std::string slower = Write("slower.json", R"({"format": "berth-device",
      "format_version": 1, "operations_per_second": 1, "bandwidth": "1GB/s", "launch_ns": 200})");
  EXPECT_EQ(Berth({"check", file, Path("plan.json"), "--device", slower}).exit_code, 1);
  Json nameless = Json::parse(Read(Path("plan.json")));
  nameless.erase("device");
  EXPECT_EQ(Berth({"check", file, Write("nameless.json", nameless.dump())}).exit_code, 1);
  ExpectRefused(Berth({"plan", File(Costed()), "--device", device}), "has a cost of its own");
  ExpectRefused(Berth({"plan", file, "--device", Write("bad.json", "{}")}), "bad.json:1:1: ");
}

// Times that were measured, and those of a device for what was not. The plan's file names the profile,
// but does not have its times.
TEST_F(RecomputeCommandTest, ProfilesSayWhatOperatorsTake) {
  const std::string file = File(OneSpill().graph);
  const std::string profile =
      Write("times.csv", "operator,ns\nmake x,45\nmake x,46\nmake y,1000\nmake z,1000\n");
  const std::string device = Write("device.json", R"({"format": "berth-device",
      "format_version": 1, "operations_per_second": 1, "bandwidth": "1GB/s", "launch_ns": 100})");
  const std::vector<std::string> plan = {"plan", file, "--budget", "MR", "--recompute"};
  const auto with = [](std::vector<std::string> words, const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
    return Berth(words);
  };
  ExpectRefused(with(plan, {"--profile", profile}),
                "times.csv has no time for 1 of 4 operators; the first is \"join\"");
  const ProcessResult result =
      with(plan, {"--profile", profile, "--device", device, "-o", Path("plan.json")});
  EXPECT_EQ(result.exit_code, 0) << result.standard_error;
  ExpectHas(result.standard_output, "1 execution, of make x");
  const Json json = Json::parse(Read(Path("plan.json")));
  EXPECT_EQ(json.at("recomputed").at("unit"), "ns");
  EXPECT_EQ(json.at("recomputed").at("cost"), 45);
  EXPECT_EQ(json.at("profile"), "times.csv");
  EXPECT_TRUE(json.contains("device"));

  const std::vector<std::string> check = {"check", file, Path("plan.json")};
  EXPECT_EQ(with(check, {"--profile", profile}).exit_code, 0);
  EXPECT_EQ(with(check, {"--profile", profile, "--device", device}).exit_code, 0);
  const std::string missing =
      "plan.json: its costs are the times in the profile 'times.csv'; give "
      "that with --profile";
  ExpectRefused(Berth(check), missing);
  ExpectRefused(with(check, {"--device", device}), missing);
  const std::string other = Write("other.csv", "operator,ns\nmake x,44\n");
  const ProcessResult wrong = with(check, {"--profile", other});
  EXPECT_EQ(wrong.exit_code, 1) << wrong.standard_error;
  ExpectHas(wrong.standard_output, "45");
  // A plan that has no costs can do without.
  ASSERT_EQ(Berth({"plan", file, "--profile", profile, "--device", device, "-o", Path("p.json")})
                .exit_code,
            0);
  EXPECT_EQ(Berth({"check", file, Path("p.json")}).exit_code, 0);

  ExpectRefused(with(plan, {"--profile", Write("bad.csv", "operator,ns\nmake x,-1\n")}),
                "bad.csv:2:8: ns is \"-1\"");
  ExpectRefused(with(plan, {"--profile", Path("none.csv")}), "none.csv");
  ExpectRefused(Berth({"plan", File(Costed()), "--profile", profile}), "has a cost of its own");
}

// x is copied in 4 ns each way, or made again in 104 ns; or the other way round.
TEST_F(RecomputeCommandTest, CopiesWhereThatTakesLessTime) {
  const std::string file = File(OneSpill().graph);
  const auto device = [&](const std::string& launch, const std::string& latency) {
    return Write("device.json", R"({"format": "berth-device", "format_version": 1,
        "operations_per_second": 1, "bandwidth": "1GB/s", "launch_ns": )" +
                                    launch +
                                    R"(, "link": {"out": "1GB/s", "in": "1GB/s", "latency_ns": )" +
                                    latency + "}}");
  };
  const auto plan = [&](const std::string& path, std::vector<std::string> more) {
    std::vector<std::string> words = {"plan",        file,       "--budget", "MR",
                                      "--recompute", "--device", path};
    words.insert(words.end(), more.begin(), more.end());
    return Berth(words);
  };
  const std::string slow = device("100", "0");
  const ProcessResult copied = plan(slow, {"--moves", "-o", Path("plan.json")});
  EXPECT_EQ(copied.exit_code, 0) << copied.standard_error;
  ExpectHas(FirstLine(copied), "Fits 12 B: no operator runs again and 8 B are copied, together ");
  ExpectHas(FirstLine(copied), " of the time of one run: proved the least of any plan.");
  ExpectHas(copied.standard_output, "4 B out and 4 B back, 8 ns");
  Json json = Json::parse(Read(Path("plan.json")));
  EXPECT_EQ(json.at("traffic").at("cost"), 8);
  EXPECT_EQ(json.at("recomputed").at("cost"), 0);
  EXPECT_EQ(json.at("recomputed").at("cost_bound"), 8);
  EXPECT_EQ(Berth({"check", file, Path("plan.json"), "--device", slow}).exit_code, 0);
  json["traffic"]["cost"] = 7;
  const ProcessResult wrong =
      Berth({"check", file, Write("wrong.json", json.dump()), "--device", slow});
  EXPECT_EQ(wrong.exit_code, 1) << wrong.standard_output;
  const ProcessResult alone = plan(slow, {"--no-spill"});
  ExpectHas(FirstLine(alone), "1 operator runs again");
  ExpectHas(FirstLine(alone), "proved the least of any plan without spills.");
  ExpectRefused(plan(slow, {"--no-spill", "--moves"}), "no tensor is moved");
  ExpectRefused(Berth({"plan", file, "--budget", "MR", "--no-spill"}), "only with --recompute");

  const ProcessResult again = plan(device("0", "1000"), {});
  ExpectHas(FirstLine(again), "1 operator runs again and nothing is copied, together ");
  const ProcessResult all =
      Berth({"plan", file, "--budget", "MP", "--recompute", "--device", slow});
  EXPECT_EQ(FirstLine(all), "Fits 14 B: no operator has to run again, and nothing is copied.");
}

TEST_F(RecomputeCommandTest, SaysWhatItCosts) {
  const std::string file = File(Costed());
  const ProcessResult result =
      Berth({"plan", file, "--budget", "MR", "--recompute", "--tensors", "-o", Path("plan.json"),
             "--svg", Path("plan.svg"), "--report", Path("plan.html"), "--trace", Path("t.json")});
  EXPECT_EQ(result.exit_code, 0) << result.standard_error;
  EXPECT_EQ(
      FirstLine(result),
      "Fits 12 B: 1 operator runs again at 1.48 % of the cost of one run: proved the least of "
      "any plan without spills.");
  const std::string& text = result.standard_output;
  ExpectHas(text, "45 flop, 1.48 % of the cost of one run");
  ExpectHas(text, "1 execution, of make x (step 3)");
  ExpectHas(text, "14 B, the least peak of any order");
  const Json plan = Json::parse(Read(Path("plan.json")));
  EXPECT_EQ(plan.at("order"), Json({"make x", "make y", "make z", "make x", "join"}));
  EXPECT_EQ(plan.at("recomputed"),
            Json({{"operators", 1}, {"cost", 45}, {"cost_bound", 45}, {"unit", "flop"}}));
  EXPECT_EQ(plan.at("least_memory").at("operator"), "join");
  ExpectHas(Read(Path("plan.svg")), "x#2");
  const std::string html = Read(Path("plan.html"));
  ExpectHas(html, "\"spills\":[]");
  ExpectHas(html, "\"recomputed\":{\"operators\":1,\"cost\":45");
  ExpectHas(Read(Path("t.json")), "x#2");
  // The same bytes again.
  ASSERT_EQ(
      Berth({"plan", file, "--budget", "MR", "--recompute", "-o", Path("two.json")}).exit_code, 0);
  EXPECT_EQ(Read(Path("two.json")), Read(Path("plan.json")));
  const ProcessResult fixed =
      Berth({"plan", file, "--budget", "12", "--recompute", "--order", "program"});
  ExpectHas(FirstLine(fixed), ": proved the least of any plan without spills in program order.");
}

TEST_F(RecomputeCommandTest, SummaryForMachines) {
  const ProcessResult result =
      Berth({"plan", File(Costed()), "--budget", "MH", "--recompute", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.standard_error;
  const Json json = Json::parse(result.standard_output);
  EXPECT_EQ(json.at("capacity"), 13);
  EXPECT_EQ(json.at("recomputed").at("cost"), 45);
  EXPECT_EQ(json.at("run_again"),
            Json::parse(R"([{"operator": "make x", "steps": [3], "cost": 45}])"));
  EXPECT_EQ(json.at("named_budgets").at("MP"), 14);
  EXPECT_EQ(json.at("at_peak").at("bytes"), 14);  // Of the order without repeats.
  EXPECT_EQ(json.at("order").size(), 5U);
  EXPECT_EQ(json.count("moves"), 0U);
}

TEST_F(RecomputeCommandTest, FirstLinesAreTrue) {
  const auto first_line = [&](const Graph& graph, const std::string& budget, int code) {
    const ProcessResult result = Berth({"plan", File(graph), "--budget", budget, "--recompute"});
    EXPECT_EQ(result.exit_code, code) << result.standard_output << result.standard_error;
    return FirstLine(result);
  };
  EXPECT_EQ(first_line(Costed(), "MP", 0), "Fits 14 B: no operator has to run again.");
  EXPECT_EQ(first_line(Costed(), "11", 1),
            "Does not fit: operator join alone needs 12 B, 1 B more than there is.");
  Graph free = Costed();
  for (Operator& op : free.operators) op.cost = 0;
  EXPECT_EQ(first_line(free, "12", 0), "Fits 12 B: 1 operator runs again at no cost.");
  Graph random = Costed();
  random.operators[0].random = true;
  EXPECT_EQ(first_line(random, "12", 1),
            "Does not fit: proved that 12 B are too little for every plan without spills.");
  // Without costs it is bytes, and says so.
  const ProcessResult bytes =
      Berth({"plan", File(OneSpill().graph), "--budget", "12", "--recompute"});
  ExpectHas(bytes.standard_output, "4 bytes, ");
  ExpectHas(bytes.standard_output, "(bytes read and written, as the graph has no costs)");
}

TEST_F(RecomputeCommandTest, WhatWouldMakeItFit) {
  Graph random = Costed();
  random.operators[0].random = true;
  const std::string file = File(random);
  const ProcessResult result = Berth({"plan", file, "--budget", "12", "--recompute"});
  ExpectHas(result.standard_output, "Spill and retrieve tensors.");
  // The command to copy has no --recompute.
  ExpectHas(result.standard_output, "plan " + file + " --budget 12\n");
  const ProcessResult output =
      Berth({"plan", file, "--budget", "12", "--recompute", "-o", Path("none.json")});
  EXPECT_EQ(output.exit_code, 1);
  EXPECT_FALSE(Exists(Path("none.json")));
}

TEST_F(RecomputeCommandTest, ChecksPlans) {
  const std::string file = File(Costed());
  ASSERT_EQ(
      Berth({"plan", file, "--budget", "MR", "--recompute", "-o", Path("plan.json")}).exit_code, 0);
  const ProcessResult good = Berth({"check", file, Path("plan.json"), "--execute"});
  EXPECT_EQ(good.exit_code, 0) << good.standard_output;
  ExpectHas(
      good.standard_output,
      "The plan holds: 4 operators in an order that can run, 1 execution more at a cost of 45 "
      "flop, all of which find the values of the first, 5 buffers in 12 B");
  const ProcessResult json = Berth({"check", file, Path("plan.json"), "--json"});
  EXPECT_EQ(Json::parse(json.standard_output).at("recomputed").at("cost"), 45);
  EXPECT_EQ(Json::parse(json.standard_output).at("operators"), 4);

  const Json plan = Json::parse(Read(Path("plan.json")));
  const auto fault = [&](const std::function<void(Json&)>& change) {
    Json changed = plan;
    change(changed);
    const ProcessResult result = Berth({"check", file, Write("changed.json", changed.dump())});
    EXPECT_EQ(result.exit_code, 1) << result.standard_error;
    return result.standard_output;
  };
  ExpectHas(fault([](Json& p) { p["recomputed"]["cost"] = 44; }),
            "wrong cost: the plan states that operators that run again cost 44, but they cost 45");
  ExpectHas(fault([](Json& p) { p["order"][3] = "make z"; }), "wrong cost");
  ExpectHas(fault([](Json& p) { p["order"][3] = "make y"; }),
            "from nowhere: tensor \"x\" is in memory from step 3");
  // The capacity that the plan states counts.
  ExpectHas(fault([](Json& p) { p["capacity"] = 11; }), "beyond capacity");
  Graph never = Costed();
  never.operators[0].repeat = Repeat::kNever;
  const ProcessResult forbidden =
      Berth({"check", Write("never.json", WriteGraphJson(never)), Path("plan.json")});
  ExpectHas(forbidden.standard_output,
            "may not repeat: operator \"make x\" runs again at step 3 but may run only once");

  ASSERT_EQ(Berth({"plan", file, "-o", Path("all.json")}).exit_code, 0);
  const ProcessResult diff = Berth({"diff", Path("all.json"), Path("plan.json")});
  ExpectHas(diff.standard_output, "0 -> 1 execution");
  ExpectHas(diff.standard_output, "0 -> 45 flop");
  const ProcessResult diff_json = Berth({"diff", Path("all.json"), Path("plan.json"), "--json"});
  EXPECT_EQ(Json::parse(diff_json.standard_output).at("recomputed").at("cost").at("delta"), 45);
}

// 45 flop are the least, and proved.
TEST_F(RecomputeCommandTest, Gap) {
  const ProcessResult plan =
      Berth({"plan", File(Costed()), "--budget", "12", "--recompute", "--gap", "5%", "--json"});
  EXPECT_EQ(plan.exit_code, 0) << plan.standard_error;
  ExpectHas(plan.standard_output, "\"gap\": \"5%\"");
  ExpectHas(plan.standard_output, "\"stopped\": \"answered\"");
}

TEST_F(RecomputeCommandTest, FlagsThatDoNotGoTogether) {
  const std::string file = File(Costed());
  ExpectRefused(Berth({"plan", file, "--recompute"}),
                "--recompute: operators run again only within a --budget");
  ExpectRefused(Berth({"plan", file, "--budget", "12", "--recompute", "--moves"}),
                "--moves: with --recompute no tensor is moved");
  ExpectRefused(Berth({"plan", file, "--budget", "12", "--recompute", "--minimize"}),
                "--minimize: with --budget the least cost is looked for");
  // Its order has operators twice.
  ASSERT_EQ(
      Berth({"plan", file, "--budget", "12", "--recompute", "-o", Path("plan.json")}).exit_code, 0);
  ExpectRefused(Berth({"plan", file, "--order", Path("plan.json")}),
                "operator \"make x\" comes twice in the order");
}

TEST_F(RecomputeCommandTest, SweepsTheCost) {
  const std::string file = File(Costed());
  const ProcessResult result = Berth(
      {"sweep", file, "--recompute", "--points", "3", "-o", Path("s.csv"), "--svg", Path("s.svg")});
  EXPECT_EQ(result.exit_code, 0) << result.standard_error;
  ExpectHas(result.standard_output, "1.48 %");
  const std::string csv = Read(Path("s.csv"));
  ExpectHas(csv, ",recomputed_operators,recomputed,copy_cost,recompute_bound,run_cost,cost_unit\n");
  ExpectHas(csv, ",1,45,0,45,3045,flop\n");
  const std::string svg = Read(Path("s.svg"));
  ExpectHas(svg, "Cost of recomputation against memory");
  EXPECT_EQ(svg.find("traffic"), std::string::npos);
  // The points are there already, and shards make the same file.
  ASSERT_EQ(Berth({"sweep", file, "--recompute", "--points", "3", "-o", Path("s.csv")}).exit_code,
            0);
  EXPECT_EQ(Read(Path("s.csv")), csv);
  for (const std::string shard : {"1", "2"}) {
    ASSERT_EQ(Berth({"sweep", file, "--recompute", "--points", "3", "--shard", shard + "/2", "-o",
                     Path(shard + ".csv")})
                  .exit_code,
              0);
  }
  const ProcessResult merged = Berth({"sweep", "--merge", Path("1.csv"), Path("2.csv"), "-o",
                                      Path("m.csv"), "--svg", Path("m.svg")});
  EXPECT_EQ(merged.exit_code, 0) << merged.standard_error;
  EXPECT_EQ(Read(Path("m.svg")), svg);
  // Traffic of the same model is another sweep.
  ExpectRefused(Berth({"sweep", file, "--points", "3", "-o", Path("s.csv")}), "with other options");
  // The page has the points of the table, and whom to blame where nothing fits.
  ASSERT_EQ(Berth({"sweep", file, "--recompute", "--budget", "MP,MR,1", "--report", Path("s.html")})
                .exit_code,
            0);
  const std::string page = Read(Path("s.html"));
  ExpectHas(page, R"("quantity":{"kind":"recomputation"})");
  ExpectHas(page, R"("run":3045,"unit":"flop","operators":[0,1,0],"recomputed":[0,45,0])");
  ExpectHas(page, R"("least_operator":"join")");
  ASSERT_EQ(Berth({"sweep", "--merge", Path("s.csv"), "--report", Path("m.html")}).exit_code, 0);
  ExpectHas(Read(Path("m.html")), R"("operators":[0,1,1])");
}

TEST_F(RecomputeCommandTest, SweepsOfTwoKindsHaveNoAxisInCommon) {
  Graph other = Costed();
  other.name = "other";
  const std::string file = File(Costed());
  const std::string more = Write("other.json", WriteGraphJson(other));
  ASSERT_EQ(Berth({"sweep", file, "--recompute", "--budget", "MR", "-o", Path("a.csv")}).exit_code,
            0);
  ASSERT_EQ(Berth({"sweep", more, "--budget", "MR", "-o", Path("b.csv")}).exit_code, 0);
  const ProcessResult both =
      Berth({"sweep", "--merge", Path("a.csv"), Path("b.csv"), "-o", Path("all.csv")});
  EXPECT_EQ(both.exit_code, 0) << both.standard_error;
  ExpectHas(both.standard_output, "lower bound");
  ExpectHas(both.standard_output, "runs again");
  ExpectRefused(Berth({"sweep", "--merge", Path("all.csv"), "--svg", Path("all.svg")}),
                "they have no axis in common");
  ExpectRefused(Berth({"sweep", "--merge", Path("all.csv"), "--report", Path("all.html")}),
                "--report: other.json is planned with spills");
  EXPECT_FALSE(Exists(Path("all.html")));
}

TEST_F(RecomputeCommandTest, SweepsWithFlagsThatDoNotGoTogether) {
  const std::string file = File(Costed());
  ExpectRefused(Berth({"sweep", file, "--no-spill"}), "--no-spill: only with --recompute");
}

// With a link x is copied, unless that is forbidden: then it runs again.
TEST_F(RecomputeCommandTest, SweepsCopyOverALink) {
  const std::string file = File(OneSpill().graph);
  const std::string device = Write("device.json", R"({"format": "berth-device", "format_version": 1,
      "operations_per_second": 1, "bandwidth": "1GB/s", "launch_ns": 100,
      "link": {"out": "1GB/s", "in": "1GB/s", "latency_ns": 0}})");
  std::vector<std::string> words = {"sweep",    file, "--recompute", "--device",   device,
                                    "--budget", "MR", "-o",          Path("a.csv")};
  ASSERT_EQ(Berth(words).exit_code, 0);
  ExpectHas(Read(Path("a.csv")), ",8,4,4,0,0,");
  ExpectHas(Read(Path("a.csv")), ",0,0,8,8,");
  words.back() = Path("b.csv");
  words.emplace_back("--no-spill");
  ASSERT_EQ(Berth(words).exit_code, 0);
  ExpectHas(Read(Path("b.csv")), ",0,0,0,0,0,");
  ExpectHas(Read(Path("b.csv")), ",1,104,0,104,");
}

// The advice of a plan that does not fit, followed.
TEST_F(RecomputeCommandTest, AdviceCostsWhatItsCommandCosts) {
  const std::string file = File(Costed());
  const ProcessResult result = Berth({"plan", file, "--capacity", "12", "--json"});
  ASSERT_EQ(result.exit_code, 1) << result.standard_error;
  const Json json = Json::parse(result.standard_output);
  const Json* again = nullptr;
  for (const Json& remedy : json.at("remedies")) {
    if (remedy.at("recompute_cost").is_number()) again = &remedy;
  }
  ASSERT_NE(again, nullptr) << result.standard_output;
  EXPECT_EQ(again->at("title"), "Run operators again");
  EXPECT_EQ(again->at("recompute_cost"), 45);
  EXPECT_TRUE(again->at("traffic").is_null());
  const std::string command = again->at("command");
  ASSERT_EQ(command.substr(0, 6), "berth ");
  const ProcessResult followed = Shell("\"$BERTH\" " + command.substr(6) + " --json");
  ASSERT_EQ(followed.exit_code, 0) << command << followed.standard_error;
  EXPECT_EQ(Json::parse(followed.standard_output).at("recomputed").at("cost"), 45);
}

// The parts of docs/howto/recompute.md between fences of one kind.
std::vector<std::string> Fenced(const std::string& text, const std::string& kind) {
  std::vector<std::string> parts;
  const std::string open = "```" + kind + "\n";
  for (std::size_t at = text.find(open); at != std::string::npos; at = text.find(open, at)) {
    at += open.size();
    const std::size_t end = text.find("```", at);
    parts.push_back(text.substr(at, end - at));
    at = end + 3;
  }
  return parts;
}
// With single spaces, as lines are wrapped in documents.
std::string Words(const std::string& text) {
  std::istringstream in(text);
  std::string words;
  for (std::string word; in >> word;) words += (words.empty() ? "" : " ") + word;
  return words;
}

TEST_F(RecomputeCommandTest, TheDocumentIsRight) {
  const std::string document = Read(BERTH_SOURCE_DIR "/docs/howto/recompute.md");
  Write("step.json", Fenced(document, "json").at(0));
  const std::vector<std::string> commands = Fenced(document, "sh");
  const std::vector<std::string> outputs = Fenced(document, "text");
  ASSERT_EQ(commands.size(), 3U);
  ASSERT_EQ(outputs.size(), 3U);
  for (std::size_t i = 0; i < commands.size(); ++i) {
    ASSERT_EQ(commands[i].substr(0, 6), "berth ");
    const ProcessResult result =
        Shell("cd " + Path("") + " && \"$BERTH\" " + commands[i].substr(6));
    ExpectHas(Words(result.standard_output), Words(outputs[i]));
    EXPECT_EQ(result.exit_code, i < 2 ? 0 : 1) << result.standard_error;
  }
}

}  // namespace
}  // namespace berth::cli
