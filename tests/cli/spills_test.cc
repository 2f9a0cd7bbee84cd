// berth plan --budget and berth check of such plans; berth sweep: points, restart, shards, merge.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "berth/graph.h"
#include "berth/io.h"
#include "tests/cli/berth_process.h"
#include "tests/graph/build.h"
#include "tools/berth/model.h"
#include "tools/berth/off_chip.h"
#include "tools/berth/terminal.h"

namespace berth::cli {
namespace {

using internal::Build;
using internal::OneSpill;
using Json = nlohmann::json;

class SpillsCommandTest : public CommandTest {
 protected:
  [[nodiscard]] std::string OneSpillFile() const {
    return Write("spill.json", WriteGraphJson(OneSpill().graph));
  }
  [[nodiscard]] std::vector<std::string> Lines(const std::string& name) const {
    std::vector<std::string> lines;
    std::istringstream in(Read(Path(name)));
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  }
};

// The data of a page.
Json DataOf(const std::string& html) {
  const std::string begin = R"(<script type="application/json" id="data">)";
  const std::size_t from = html.find(begin) + begin.size();
  return Json::parse(html.substr(from, html.find("</script>", from) - from));
}

void ExpectHas(const std::string& text, const std::string& words) {
  EXPECT_NE(text.find(words), std::string::npos) << "no \"" << words << "\" in\n" << text;
}

TEST_F(SpillsCommandTest, PlansWithinABudget) {
  const ProcessResult result = Berth({"plan", OneSpillFile(), "--budget", "MR", "--tensors", "-o",
                                      Path("plan.json"), "--svg", Path("plan.svg")});
  EXPECT_EQ(result.exit_code, 0) << result.standard_error;
  const std::string& text = result.standard_output;
  ExpectHas(text, "8 B of avoidable traffic: proved the least of any plan.\n");
  ExpectHas(text, "12 B, what operator join alone needs\n");
  ExpectHas(text, "14 B, the least peak of any order\n");
  ExpectHas(text, "retrieved");
  ExpectHas(text, "written out");
  const Json plan = Json::parse(Read(Path("plan.json")));
  EXPECT_EQ(plan.at("outcome"), "optimal");
  EXPECT_EQ(plan.at("capacity"), 12);
  EXPECT_EQ(plan.at("traffic").at("spilled"), 4);
  EXPECT_EQ(plan.at("traffic").at("retrieved"), 4);
  EXPECT_EQ(plan.at("traffic").at("compulsory_out"), 2);
  EXPECT_EQ(plan.at("residencies").size(), 5u);
  const std::string svg = Read(Path("plan.svg"));
  ExpectHas(svg, "<path class=\"in\"");
  ExpectHas(svg, "<path class=\"out\"");
  ExpectHas(svg, ">written out<");
  // What is proved for one order is not claimed for all.
  EXPECT_EQ(plan.at("fixed_order"), false);
  const ProcessResult fixed = Berth({"plan", OneSpillFile(), "--budget", "MR", "--order", "program",
                                     "-o", Path("fixed.json"), "--report", Path("fixed.html")});
  ExpectHas(fixed.standard_output,
            "8 B of avoidable traffic: proved the least in program order.\n");
  EXPECT_EQ(Json::parse(Read(Path("fixed.json"))).at("fixed_order"), true);
  EXPECT_EQ(DataOf(Read(Path("fixed.html"))).at("plans")[0].at("head").at("fixed_order"), true);
  // If everything stays, nothing is marked.
  const ProcessResult all = Berth({"plan", OneSpillFile(), "--budget", "MP"});
  EXPECT_EQ(all.exit_code, 0);
  ExpectHas(all.standard_output, "Fits: nothing has to be spilled.\n");
  const ProcessResult json = Berth({"plan", OneSpillFile(), "--budget", "MH", "--json"});
  EXPECT_EQ(Json::parse(json.standard_output).at("capacity"), 13);
}

// Bytes take a nanosecond each, starts 10: operators 14, 18, 20 and 22 ns, x out 10, back 14, w out 8. In
// 12 bytes x can only come back to the place of y, so after `make z`, and `join` waits for it.
TEST_F(SpillsCommandTest, SaysWhatCopiesTakeOnADevice) {
  const auto plan = [&](const std::string& energy) {
    const std::string device = Write("device.json", R"({"format": "berth-device",
        "format_version": 1, "operations_per_second": 1, "bandwidth": "1GB/s", "launch_ns": 10,
        "link": {"out": "1GB/s", "in": "500MB/s", "latency_ns": 6)" +
                                                        energy + "}}");
    return std::vector<std::string>{"plan", OneSpillFile(), "--budget", "MR", "--device", device};
  };
  const auto run_of = [&](std::vector<std::string> arguments) {
    arguments.emplace_back("--json");
    return Json::parse(Berth(arguments).standard_output).at("off_chip_run");
  };
  Json expected = {
      {"computing", 74},   {"copying", 32},           {"stalled", 14},           {"time", 96},
      {"one_by_one", 106}, {"avoidable_pj", nullptr}, {"compulsory_pj", nullptr}};
  EXPECT_EQ(run_of(plan("")), expected);
  expected["avoidable_pj"] = 800.0;
  expected["compulsory_pj"] = 200.0;
  const std::vector<std::string> with_energy = plan(R"(, "energy_pj_per_byte": 100)");
  EXPECT_EQ(run_of(with_energy), expected);
  const std::string text = Berth(with_energy).standard_output;
  ExpectHas(text, " with copies beside operators, ");
  ExpectHas(text, "800.0 pJ for what is spilled and retrieved, 200.0 pJ compulsory\n");
  EXPECT_TRUE(run_of({"plan", OneSpillFile(), "--budget", "MR"}).is_null());
  // With --recompute too, also where nothing is copied but the result: after 74 ns, for 8.
  const std::vector<std::string> again = {"plan",        OneSpillFile(), "--budget",         "MP",
                                          "--recompute", "--device",     Path("device.json")};
  EXPECT_EQ(run_of(again).at("time"), 82);
  ExpectHas(Berth(again).standard_output, "0 pJ for what is spilled and retrieved, 200.0 pJ");
  const ProcessResult unlinked =
      Berth({"plan", OneSpillFile(), "--budget", "MP", "--recompute", "--json"});
  EXPECT_FALSE(Json::parse(unlinked.standard_output).contains("off_chip_run"));
}

// The command gives all operators a time in ns, or none.
TEST(OffChipFactsTest, SayWhyTheTimeIsNotKnown) {
  Model model;
  model.graph = internal::OneSpill().graph;
  model.graph.cost_unit = "flop";
  for (Operator& op : model.graph.operators) op.cost = 1;
  MemoryPlan plan;
  plan.addressed = true;
  plan.memories.resize(1);
  FactList none;
  AddOffChipFacts(model, plan, none);
  EXPECT_EQ(none.ToString(), "");
  model.device.emplace();
  model.device->link = Link{1'000'000'000, 1'000'000'000, 0, {}};
  FactList facts;
  AddOffChipFacts(model, plan, facts);
  ExpectHas(facts.ToString(), "not known: a run with copies off chip needs the time of every ");
  EXPECT_TRUE(OffChipJson(model, plan).is_null());
}

TEST_F(SpillsCommandTest, PagesAndTracesShowSpills) {
  const ProcessResult result = Berth({"plan", OneSpillFile(), "--budget", "MR", "--report",
                                      Path("plan.html"), "--trace", Path("trace.json")});
  ASSERT_EQ(result.exit_code, 0) << result.standard_error;
  const Json page = DataOf(Read(Path("plan.html")));
  EXPECT_EQ(page.at("plans")[0].at("head").at("traffic").at("avoidable"), 8);
  EXPECT_EQ(page.at("plans")[0].at("head").at("traffic_bound"), 8);
  EXPECT_EQ(page.at("plans")[0].at("head").at("traffic").at("compulsory_out"), 2);
  ASSERT_EQ(page.at("spills").size(), 1u);
  const Json& move = page.at("spills")[0];
  EXPECT_EQ(move.at("written"), 4);
  EXPECT_EQ(move.at("read"), 4);
  const Json& ids = page.at("plans")[0].at("buffers").at("id");
  EXPECT_EQ(ids[move.at("from").get<std::size_t>()], "x#1");
  EXPECT_EQ(ids[move.at("to").get<std::size_t>()], "x#2");
  ExpectHas(Read(Path("trace.json")), "x#2");
  // The traffic of spills, if everything must stay and does not fit.
  ASSERT_EQ(
      Berth({"plan", OneSpillFile(), "--capacity", "12", "--report", Path("no.html")}).exit_code,
      1);
  ExpectHas(Read(Path("no.html")),
            "--budget 12 fits with 8 B of traffic, written and "
            "read: proved the least.");
}

TEST_F(SpillsCommandTest, PlansAreTheSameFileAndCompared) {
  for (const char* name : {"one.json", "two.json"}) {
    ASSERT_EQ(Berth({"plan", OneSpillFile(), "--budget", "MR", "-o", Path(name)}).exit_code, 0);
  }
  EXPECT_EQ(Read(Path("one.json")), Read(Path("two.json")));
  ASSERT_EQ(Berth({"plan", OneSpillFile(), "-o", Path("all.json")}).exit_code, 0);
  const ProcessResult same = Berth({"diff", Path("one.json"), Path("two.json")});
  EXPECT_EQ(same.exit_code, 0) << same.standard_error;
  // 12 bytes with a spill, 14 without.
  const ProcessResult grown =
      Berth({"diff", Path("one.json"), Path("all.json"), "--max-growth", "2%"});
  EXPECT_EQ(grown.exit_code, 1) << grown.standard_error;
  ExpectHas(grown.standard_output, "x#1");
  Json broken = Json::parse(Read(Path("one.json")));
  broken["residencies"][2]["end"] = broken["residencies"][2]["start"];
  ExpectRefused(Berth({"diff", Write("broken.json", broken.dump()), Path("all.json")}),
                "broken.json: buffer \"y\": ");
}

TEST_F(SpillsCommandTest, GrowthOfTrafficFailsTheGate) {
  ASSERT_EQ(Berth({"plan", OneSpillFile(), "--budget", "MR", "-o", Path("now.json")}).exit_code, 0);
  // As if an earlier plan of the same height had retrieved one byte less.
  Json earlier = Json::parse(Read(Path("now.json")));
  earlier["traffic"]["retrieved"] = 3;
  const std::string old = Write("old.json", earlier.dump());
  const auto diff = [&](const std::vector<std::string>& words) {
    std::vector<std::string> command = {"diff", old, Path("now.json")};
    command.insert(command.end(), words.begin(), words.end());
    return Berth(command);
  };
  const ProcessResult free = diff({});
  EXPECT_EQ(free.exit_code, 0);
  ExpectHas(free.standard_output, "The new plan is as tall as the old one, but has more traffic.");
  ExpectHas(free.standard_output, "7 B -> 8 B, 1 B (14.3 %) more");
  const ProcessResult both = diff({"--max-growth", "2%"});
  EXPECT_EQ(both.exit_code, 1);
  ExpectHas(both.standard_output, "Traffic grew by more than 2%.");
  EXPECT_EQ(diff({"--max-growth", "2%", "--max-traffic-growth", "1B"}).exit_code, 0);
  EXPECT_EQ(diff({"--max-traffic-growth", "0%"}).exit_code, 1);
  ExpectRefused(diff({"--max-traffic-growth", "x"}), "--max-traffic-growth: 'x'");
  const ProcessResult machine =
      diff({"--max-traffic-growth", "0B", "--json", "--report", Path("diff.html")});
  EXPECT_EQ(machine.exit_code, 1);
  const Json json = Json::parse(machine.standard_output);
  EXPECT_EQ(json.at("avoidable_traffic"), (Json{{"before", 7}, {"after", 8}, {"delta", 1}}));
  EXPECT_EQ(json.at("traffic_grew_too_much"), true);
  EXPECT_EQ(json.at("height_grew_too_much"), false);
  EXPECT_EQ(json.at("max_traffic_growth"), "0B");
  EXPECT_EQ(DataOf(Read(Path("diff.html"))).at("diff").at("traffic"),
            (Json{{"before", 7}, {"after", 8}}));
}

TEST_F(SpillsCommandTest, PlansWithUnknownSizesAreNotComparedAsWholes) {
  ASSERT_EQ(Berth({"plan", OneSpillFile(), "-o", Path("known.json")}).exit_code, 0);
  Json plan = Json::parse(Read(Path("known.json")));
  plan["unsized_tensors"] = 2;
  const std::string unknown = Write("unknown.json", plan.dump());
  for (const auto& [old, now] :
       {std::pair(unknown, Path("known.json")), std::pair(Path("known.json"), unknown)}) {
    const ProcessResult result = Berth({"diff", old, now, "--max-growth", "0%"});
    EXPECT_EQ(result.exit_code, 3);
    EXPECT_EQ(result.standard_output.find("The plans cannot be compared as wholes: in "), 0u);
    ExpectHas(result.standard_output, "tensors have no known size.");
    EXPECT_EQ(Berth({"diff", old, now, "--allow-unknown"}).exit_code, 0);
  }
  const Json json =
      Json::parse(Berth({"diff", Path("known.json"), unknown, "--json"}).standard_output);
  EXPECT_EQ(json.at("unsized_tensors"), (Json{{"before", 0}, {"after", 2}}));
  plan["unsized_tensors"] = -1;
  ExpectRefused(Berth({"diff", Write("bad.json", plan.dump()), unknown}), "\"unsized_tensors\"");
}

TEST_F(SpillsCommandTest, SaysWhichOperatorDoesNotFit) {
  const ProcessResult result = Berth({"plan", OneSpillFile(), "--budget", "11"});
  EXPECT_EQ(result.exit_code, 1);
  ExpectHas(result.standard_output,
            "Does not fit: operator join alone needs 12 B, 1 B more than there is.\n");
  ExpectRefused(Berth({"plan", OneSpillFile(), "--budget", "MQ"}), "neither MR, MH, MP");
  ExpectRefused(Berth({"plan", OneSpillFile(), "--budget", "MR", "--capacity", "9"}),
                "--budget and --capacity");
  EXPECT_EQ(Berth({"plan", OneSpillFile(), "--budget", ""}).exit_code, 2);
}

TEST_F(SpillsCommandTest, PagesSayWhyABudgetIsTooSmall) {
  const ProcessResult result = Berth({"plan", OneSpillFile(), "--budget", "11", "--report",
                                      Path("no.html"), "-o", Path("no.json")});
  EXPECT_EQ(result.exit_code, 1);
  ExpectHas(result.standard_output, "no.html\n");
  ExpectHas(result.standard_output, "plan    not written, as there is no plan\n");
  const Json page = DataOf(Read(Path("no.html")));
  const Json& plan = page.at("plans")[0];
  EXPECT_EQ(plan.at("head").at("outcome"), "infeasible");
  EXPECT_EQ(plan.at("head").at("capacity"), 11);
  EXPECT_EQ(plan.at("head").at("height_bound"), 12);
  EXPECT_EQ(plan.at("head").at("peak"), 14);
  EXPECT_TRUE(plan.at("buffers").at("offset").is_null());
  // Operator "join" alone, in any order.
  const Json& conflict = page.at("conflict");
  const auto& operators = plan.at("graph").at("operators").at("name");
  EXPECT_EQ(operators[conflict.at("step").get<std::size_t>()], "join");
  EXPECT_EQ(conflict.at("load"), 12);
  EXPECT_EQ(conflict.at("short_by"), 1);
  EXPECT_TRUE(conflict.at("minimal").get<bool>());
  Bytes sum = 0;
  for (const Json& b : conflict.at("buffers")) {
    sum += plan.at("buffers").at("size")[b.get<std::size_t>()].get<Bytes>();
  }
  EXPECT_EQ(sum, 12);
  EXPECT_EQ(conflict.at("works_with"), 12);
  EXPECT_EQ(page.at("remedies")[0].at("detail"),
            "--budget 12 fits with 8 B of traffic, written and read: proved the least.");
  EXPECT_EQ(page.at("verdict"), "");
  // In program order, the same for that order alone; each larger budget is listed once.
  ASSERT_EQ(Berth({"plan", OneSpillFile(), "--budget", "11", "--order", "program", "--report",
                   Path("fixed.html")})
                .exit_code,
            1);
  EXPECT_EQ(DataOf(Read(Path("fixed.html"))).at("remedies")[0].at("detail"),
            "--budget 12 --order program fits with 8 B of traffic, written and read: "
            "proved the least in program order.");
  const Build flat = Build().Made("a", 4).Op("make", {}, {"a"}).Op("use", {"a"}, {});
  const std::string one_budget = Write("flat.json", WriteGraphJson(flat.graph));  // MR = MH = MP.
  ASSERT_EQ(Berth({"plan", one_budget, "--budget", "1", "--time-limit", "0s", "--report",
                   Path("flat.html")})
                .exit_code,
            1);
  const Json remedies = DataOf(Read(Path("flat.html"))).at("remedies");
  ASSERT_EQ(remedies.size(), 1u);
  ExpectHas(remedies[0].at("detail"),
            "There was not enough time to examine these: a capacity of 4 B with spills.");
  // A plan with spills is not a plan for a table.
  ASSERT_EQ(Berth({"plan", OneSpillFile(), "--budget", "MR", "-o", Path("plan.json")}).exit_code,
            0);
  ExpectRefused(
      Berth({"check", Write("t.csv", "id,lower,upper,size\na,0,1,4\n"), Path("plan.json")}),
      "plan.json: a plan with spills, which is one for a graph");
}

TEST_F(SpillsCommandTest, AddressSearchUsesTheOptions) {
  // Three tensors at multiples of 8 do not fit into 12 bytes, though their sum does.
  Graph aligned = OneSpill().graph;
  for (Tensor& tensor : aligned.tensors) tensor.alignment = 8;
  const std::string path = Write("aligned.json", WriteGraphJson(aligned));
  EXPECT_EQ(Berth({"plan", path, "--budget", "MR", "--algorithm", "first-fit-size"}).exit_code, 3);
  ExpectRefused(Berth({"plan", OneSpillFile(), "--budget", "MR", "--algorithm", "bfc"}),
                "there is no algorithm 'bfc'");
  const ProcessResult named = Berth({"plan", OneSpillFile(), "--budget", "MR", "--algorithm",
                                     "first-fit-size", "--seed", "7", "-o", Path("plan.json")});
  EXPECT_EQ(named.exit_code, 0) << named.standard_error;
  const Json plan = Json::parse(Read(Path("plan.json")));
  EXPECT_EQ(plan.at("options").at("algorithm"), "first-fit-size");
  EXPECT_EQ(plan.at("options").at("seed"), "7");
  ExpectRefused(Berth({"plan", OneSpillFile(), "--budget", "MR", "--minimize"}), "--minimize: ");
}

TEST_F(SpillsCommandTest, ChecksPlansWithSpills) {
  const std::string graph = OneSpillFile();
  ASSERT_EQ(Berth({"plan", graph, "--budget", "MR", "-o", Path("plan.json")}).exit_code, 0);
  const ProcessResult good = Berth({"check", graph, Path("plan.json"), "--execute"});
  EXPECT_EQ(good.exit_code, 0) << good.standard_output;
  ExpectHas(good.standard_output,
            "The plan holds: 4 operators in an order that can run, 5 buffers in 12 B");
  ExpectHas(good.standard_output, "4 B spilled, 4 B retrieved.\n");
  const Json plan = Json::parse(Read(Path("plan.json")));
  const auto check = [&](const Json& changed, const std::string& words) {
    const ProcessResult result = Berth({"check", graph, Write("changed.json", changed.dump())});
    EXPECT_EQ(result.exit_code, 1);
    ExpectHas(result.standard_output, words);
  };
  const auto stay = [](Json& json, bool comes_in) -> Json& {
    for (Json& one : json["residencies"]) {
      if (one["id"] == "x" && one.value("comes_in", false) == comes_in) return one;
    }
    ADD_FAILURE() << "x has no such stay";
    return json;
  };
  Json changed = plan;  // A missing retrieval.
  Json& all = changed["residencies"];
  all.erase(std::find(all.begin(), all.end(), stay(changed, true)));
  check(changed, "operator \"join\" at step 3 needs tensor \"x\"");
  changed = plan;  // Never spilled.
  stay(changed, false)["written_out"] = false;
  check(changed, "no copy: ");
  changed = plan;  // Moved onto another residency.
  for (Json& one : changed["residencies"]) {
    if (one["id"] == "z") stay(changed, true)["offset"] = one["offset"];
  }
  check(changed, "overlap: ");
  changed = plan;  // A spill of a dead tensor.
  for (Json& one : changed["residencies"]) {
    if (one["id"] == "y") one["written_out"] = true;
  }
  check(changed, "dead spill: ");
  // Files that are not plans.
  const auto refuse = [&](const Json& json, const std::string& words) {
    ExpectRefused(Berth({"check", graph, Write("changed.json", json.dump())}), words);
  };
  changed = plan;
  changed["residencies"][0]["id"] = "nobody";
  refuse(changed, "residency number 1: the graph has no tensor \"nobody\"");
  changed = plan;
  changed["residencies"][1]["offset"] = -4;
  refuse(changed, "residency number 2: \"offset\"");
  changed = plan;
  changed.erase("capacity");
  refuse(changed, "\"capacity\"");
}

TEST_F(SpillsCommandTest, HostilePlansAreRejectedQuickly) {
  const std::string graph = OneSpillFile();
  ASSERT_EQ(Berth({"plan", graph, "--budget", "MR", "-o", Path("plan.json")}).exit_code, 0);
  const Json plan = Json::parse(Read(Path("plan.json")));
  // The same residency many times: reported once, not for each pair.
  Json many = plan;
  many["residencies"] = Json::array();
  for (int i = 0; i < 20'000; ++i) many["residencies"].push_back(plan["residencies"][0]);
  const ProcessResult result = Berth({"check", graph, Write("many.json", many.dump())});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_LT(result.standard_output.size(), 20'000u);
  const auto refuse = [&](const std::vector<std::string>& words, const char* key, const Json& value,
                          const std::string& message) {
    Json changed = plan;
    if (changed.contains(key)) {
      changed[key] = value;
    } else {
      changed["residencies"][0][key] = value;
    }
    std::vector<std::string> command = words;
    command.push_back(Write("changed.json", changed.dump()));
    if (words[0] == "diff") command.push_back(Path("plan.json"));
    ExpectRefused(Berth(command), message);
  };
  refuse({"check", graph}, "size", 1,
         "residency number 1: \"size\" is 1, but tensor \"x\" of the graph has 4");
  refuse({"check", graph}, "format_version", 3, "\"format_version\" is 3");
  refuse({"check", graph}, "residencies", nullptr, "found no plan");
  refuse({"check", graph}, "traffic", 1, "\"traffic\" is 1 where it should be an object");
  refuse({"check", graph}, "comes_in", 1, "\"comes_in\" is 1 where it should be true or false");
  for (const char* key : {"capacity", "height", "order", "residencies", "traffic"}) {
    Json without = plan;
    without.erase(key);
    ExpectRefused(Berth({"check", graph, Write("without.json", without.dump())}),
                  "without.json: \"" + std::string(key) + "\" is missing");
  }
  refuse({"diff"}, "format_version", 3, "\"format_version\" is 3");
  refuse({"diff"}, "height", 5, "\"height\" is 5, but the residencies reach 12");
  refuse({"diff"}, "offset", std::int64_t{1} << 60, "offset + size at most 2^60");
}

TEST_F(SpillsCommandTest, SweepsDoNotMixModels) {
  const std::string graph = OneSpillFile();
  const std::vector<std::string> first = {"sweep", graph, "--budget", "MR", "-o", Path("out.csv")};
  ASSERT_EQ(Berth(first).exit_code, 0);
  std::vector<std::string> other = first;
  other.push_back("--program-order");
  const std::string message = "has points of another spill.json, or of the same with other options";
  ExpectRefused(Berth(other), message);
  other = {"sweep", graph, "--budget", "MR", "--program-order", "-o", Path("other.csv")};
  ASSERT_EQ(Berth(other).exit_code, 0);
  ExpectRefused(Berth({"sweep", "--merge", Path("out.csv"), Path("other.csv")}), message);
  // Tables that no sweep has written.
  std::string text = Read(Path("out.csv"));
  const auto refuse = [&](const std::string& part, const std::string& by,
                          const std::string& words) {
    std::string changed = text;
    ASSERT_NE(changed.find(part), std::string::npos) << part;
    changed.replace(changed.find(part), part.size(), by);
    ExpectRefused(Berth({"sweep", "--merge", Write("bad.csv", changed)}), "bad.csv:2:" + words);
  };
  refuse("optimal,8,4,4,8", "perfect,8,4,4,8", "17: outcome \"perfect\" is not one of optimal");
  refuse("optimal,8,4,4,8", "optimal,9,4,4,8", "17: avoidable is not spilled + retrieved");
  refuse("optimal,8,4,4,8", "optimal,8,4,4,9", "17: avoidable is less than traffic_bound");
  refuse("optimal,8,4,4,8", "optimal,8,4,4,7", "17: the outcome is optimal, but avoidable is not");
  // Points of one list of capacities are not mixed with those of another either.
  ExpectRefused(
      Berth({"sweep", graph, "--budget", "13", "-o", Path("out.csv")}),
      "out.csv has point 0 of spill.json with 12 bytes, where it is now asked for with 13");
  ExpectRefused(
      Berth({"sweep", graph, "--budget", "13,MR", "--shard", "2/2", "-o", Path("out.csv")}),
      "out.csv has point 0 of spill.json with 12 bytes");
  EXPECT_EQ(Read(Path("out.csv")), text);
  ASSERT_EQ(Berth({"sweep", graph, "--budget", "MR,MP", "-o", Path("two.csv")}).exit_code, 0);
  ExpectRefused(Berth({"sweep", graph, "--budget", "MR", "-o", Path("two.csv")}),
                "two.csv has point 1 of spill.json with 14 bytes, one that is not asked for now");
  // All models are read before any is solved.
  const Build other_build = Build().Made("a", 4).Op("make", {}, {"a"}).Op("use", {"a"}, {});
  const std::string before = Read(Path("two.csv"));
  ExpectRefused(Berth({"sweep", Write("a.json", WriteGraphJson(other_build.graph)), graph,
                       "--budget", "MR,MH", "-o", Path("two.csv")}),
                "two.csv has point 1 of spill.json");
  EXPECT_EQ(Read(Path("two.csv")), before);
  // A model that is named twice counts once.
  ASSERT_EQ(Berth({"sweep", graph, graph, "--budget", "MR,MP", "-o", Path("twice.csv")}).exit_code,
            0);
  EXPECT_EQ(Lines("twice.csv").size(), 3u);
  ExpectRefused(Berth({"sweep", "--merge", Write("empty.csv", "")}), "has no points");
}

TEST_F(SpillsCommandTest, NamesWithoutAnEncodingAndCaveatsAreShown) {
  const Build build = Build().Made("x", 4).Made("y", 0).Op("a", {}, {"x"}).Op("b", {"x"}, {"y"});
  std::string text = WriteGraphJson(build.graph);
  const std::string path = Write("n\xff.json", text);
  const ProcessResult result =
      Berth({"plan", path, "--budget", "MR", "-o", Path("plan.json"), "--report", "-"});
  EXPECT_EQ(result.exit_code, 0) << result.standard_error;
  EXPECT_TRUE(Json::accept(Read(Path("plan.json"))));
}

TEST_F(SpillsCommandTest, SweepsResumeWhereTheyStopped) {
  const std::string graph = OneSpillFile();
  const ProcessResult first =
      Berth({"sweep", graph, "--points", "3", "-o", Path("all.csv"), "--svg", Path("all.svg")});
  ASSERT_EQ(first.exit_code, 0) << first.standard_error;
  const std::vector<std::string> rows = Lines("all.csv");
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[1].rfind("spill.json,0,14,optimal,0,0,0,0,0,", 0), 0u) << rows[1];
  EXPECT_EQ(rows[3].rfind("spill.json,2,12,optimal,8,4,4,8,8,", 0), 0u) << rows[3];
  ExpectHas(Read(Path("all.svg")), "<svg");
  // A time that no run takes, to show which points are solved again.
  const std::string input = rows[2].substr(rows[2].rfind(','));
  const std::string kept = "spill.json,1,13,optimal,8,4,4,8,8,1234.5" + input;
  Write("all.csv", rows[0] + "\n" + kept + "\n");
  ASSERT_EQ(Berth({"sweep", graph, "--points", "3", "-o", Path("all.csv")}).exit_code, 0);
  const std::vector<std::string> again = Lines("all.csv");
  EXPECT_EQ(again.size(), 4u);
  EXPECT_NE(std::find(again.begin(), again.end(), kept), again.end());
  Write("all.csv", "something else\n");
  ExpectRefused(Berth({"sweep", graph, "-o", Path("all.csv")}),
                "all.csv:1:1: the column \"something else\" is none of a sweep");
  Write("all.csv", rows[0] + "\n" + rows[1].substr(0, 20) + "\n");
  const auto fields = 1 + std::count(rows[1].begin(), rows[1].begin() + 20, ',');
  ExpectRefused(
      Berth({"sweep", graph, "-o", Path("all.csv")}),
      "all.csv:2:21: the row has " + std::to_string(fields) + " fields, the header has 11");
  // Rows that contradict themselves, and each other.
  for (const auto& [bad, words] : std::initializer_list<std::pair<std::string, std::string>>{
           {"20,optimal,,0,0,0,0,1", "the outcome is optimal without avoidable traffic"},
           {"20,optimal,9,5,4,0,0,1", "the outcome is optimal, but"},
           {"20,infeasible,9,5,4,0,0,1", "the outcome is infeasible with avoidable traffic"},
           {"20,unknown,9,5,4,0,0,1", "the outcome is unknown with"},
           {"20,feasible,9,5,4,0,10,1", "avoidable is less than traffic_bound or"}}) {
    Write("bad.csv", rows[0] + "\nm,0," + bad + input + "\n");
    ExpectRefused(Berth({"sweep", "--merge", Path("bad.csv")}), "bad.csv:2:8: " + words);
  }
  Write("bad.csv", rows[0] + "\nm,0,10,infeasible,,0,0,0,0,1" + input +
                       "\nm,1,5,feasible,9,5,4,0,9,1" + input + "\n");
  ExpectRefused(Berth({"sweep", "--merge", Path("bad.csv")}),
                "m has a plan in 5 bytes, but is said not to fit 10");
}

// Of several models too, whose names may follow the list.
TEST_F(SpillsCommandTest, ListsOfCapacitiesEndWhereModelsBegin) {
  const std::string other = Write("other.json", WriteGraphJson(OneSpill().graph));
  const ProcessResult result = Berth(
      {"sweep", "--budget", "MR,MP", "--budget", "20", OneSpillFile(), other, "-o", Path("s.csv")});
  ASSERT_EQ(result.exit_code, 0) << result.standard_error;
  EXPECT_EQ(Lines("s.csv").size(), 7u);
}

TEST_F(SpillsCommandTest, SweepsListPointsInTheRequestedOrder) {
  const ProcessResult result = Berth({"sweep", OneSpillFile(), "--budget", "MR,11,20,MP,MR", "-o",
                                      Path("s.csv"), "--report", Path("s.html")});
  ASSERT_EQ(result.exit_code, 0) << result.standard_error;
  const std::vector<std::string> rows = Lines("s.csv");
  ASSERT_EQ(rows.size(), 6u);
  const char* const expected[] = {
      "spill.json,0,12,optimal,8,4,4,8,8,", "spill.json,1,11,infeasible,,0,0,0,0,",
      "spill.json,2,20,optimal,0,0,0,0,0,", "spill.json,3,14,optimal,0,0,0,0,0,",
      "spill.json,4,12,optimal,8,4,4,8,8,"};
  for (std::size_t i = 0; i < 5; ++i)
    EXPECT_EQ(rows[i + 1].rfind(expected[i], 0), 0u) << rows[i + 1];
  const Json page = DataOf(Read(Path("s.html")));
  EXPECT_EQ(page.at("kind"), "sweep");
  ASSERT_EQ(page.at("curves").size(), 1u);
  const Json& curve = page.at("curves")[0];
  EXPECT_EQ(curve.at("model"), "spill.json");
  EXPECT_EQ(curve.at("least"), 12);
  EXPECT_EQ(curve.at("least_peak"), 14);
  EXPECT_EQ(curve.at("fixed_order"), false);
  EXPECT_EQ(curve.at("number"), Json({0, 1, 2, 3, 4}));
  EXPECT_EQ(curve.at("capacity"), Json({12, 11, 20, 14, 12}));
  EXPECT_EQ(curve.at("avoidable"), Json({8, nullptr, 0, 0, 8}));
  EXPECT_EQ(curve.at("traffic_bound")[0], 8);
  EXPECT_EQ(rows[1].substr(rows[1].rfind(',') + 1), curve.at("input"));
  ASSERT_EQ(Berth({"sweep", OneSpillFile(), "--budget", "MR", "--program-order", "--report",
                   Path("fixed.html")})
                .exit_code,
            0);
  EXPECT_EQ(DataOf(Read(Path("fixed.html"))).at("curves")[0].at("fixed_order"), true);
  ExpectHas(Berth({"sweep", OneSpillFile(), "--budget", "MR", "--program-order"}).standard_output,
            "optimal, in program order");
  // The file that points were read from is reported.
  ASSERT_EQ(Berth({"sweep", OneSpillFile(), "--budget", "MR,11,20,MP,MR", "-o", Path("s.csv"),
                   "--report", Path("again.html")})
                .exit_code,
            0);
  std::map<std::string, std::string> lines;
  const Json again = DataOf(Read(Path("again.html")));
  for (const Json& line : again.at("provenance")) {
    lines[line[0].get<std::string>()] = line[1].get<std::string>();
  }
  EXPECT_EQ(lines.at("solved by this run"), "0 points");
  EXPECT_EQ(lines.at("read from"), Path("s.csv"));
  EXPECT_EQ(lines.at("verifier"), "has not seen the plans of points read");
  EXPECT_EQ(lines.at("capacities"), "MR, 11, 20, MP, MR");
  ExpectRefused(Berth({"sweep", OneSpillFile(), "--report", Path("s.svg")}),
                "does not end in .html");
  ExpectRefused(Berth({"sweep", OneSpillFile(), "--report", "-", "-o", "-"}), "standard output");
  // A plan for less memory is also valid for more, with all of its figures.
  const std::string input = rows[1].substr(rows[1].rfind(','));
  Write("loose.csv", rows[0] + "\nspill.json,0,20,feasible,9,5,4,0,9,1" + input +
                         "\nspill.json,1,12,feasible,8,4,4,0,7,1" + input + "\n");
  ASSERT_EQ(Berth({"sweep", "--merge", Path("loose.csv"), "-o", Path("tight.csv")}).exit_code, 0);
  EXPECT_EQ(Lines("tight.csv")[1], "spill.json,0,20,feasible,8,4,4,0,7,1" + input);
}

TEST_F(SpillsCommandTest, MergedShardsEqualOneRun) {
  const std::string graph = OneSpillFile();
  ASSERT_EQ(Berth({"sweep", graph, "--points", "3", "-o", Path("all.csv")}).exit_code, 0);
  ASSERT_EQ(
      Berth({"sweep", graph, "--points", "3", "--shard", "1/2", "-o", Path("1.csv")}).exit_code, 0);
  ASSERT_EQ(
      Berth({"sweep", graph, "--points", "3", "--shard", "2/2", "-o", Path("2.csv")}).exit_code, 0);
  EXPECT_EQ(Lines("1.csv").size() + Lines("2.csv").size(), 2u + 3u);
  ASSERT_EQ(
      Berth({"sweep", "--merge", Path("1.csv"), Path("2.csv"), "-o", Path("merged.csv")}).exit_code,
      0);
  const auto without_times = [](std::vector<std::string> lines) {
    for (std::string& line : lines) {
      const std::size_t input = line.rfind(',');
      line.erase(line.rfind(',', input - 1), input);
    }
    return lines;
  };
  EXPECT_EQ(without_times(Lines("merged.csv")), without_times(Lines("all.csv")));
  ExpectRefused(Berth({"sweep", graph, "--shard", "3/2"}), "--shard: '3/2'");
  ExpectRefused(Berth({"sweep", graph, "--shard", "1"}), "--shard: '1'");
  ExpectRefused(Berth({"sweep"}), "needs a model");
  Write("other.csv", Lines("all.csv")[0] + "\nspill.json,0,99,optimal,0,0,0,0,0,1" +
                         Lines("all.csv")[1].substr(Lines("all.csv")[1].rfind(',')) + "\n");
  ExpectRefused(Berth({"sweep", "--merge", Path("1.csv"), Path("other.csv")}),
                "these are not of one sweep");
}

}  // namespace
}  // namespace berth::cli
