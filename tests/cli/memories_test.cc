// berth place, check and info with several memories.
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "berth/io.h"
#include "tests/cli/berth_process.h"
#include "tests/tflite/builder.h"

namespace berth::cli {
namespace {

using Json = nlohmann::json;

constexpr const char* kBoard = R"({"format": "berth-memories", "format_version": 1,
  "memories": [{"name": "fast", "capacity": 100, "base": "0x1000", "read": "1GB/s", "write": "1GB/s"},
               {"name": "slow", "read": "100MB/s", "write": "100MB/s"}]})";

// By hand: `small` and `large` are live together, and only one of them fits into the fast memory.
// Each byte costs 2 ns there and 20 ns elsewhere, so `large` belongs there: 2 * 90 + 20 * 40 = 980.
constexpr const char* kTable = "id,lower,upper,size\nsmall,0,2,40\nlarge,1,3,90\n";

class MemoriesTest : public CommandTest {
 protected:
  [[nodiscard]] std::string Table() const { return Write("table.csv", kTable); }
  [[nodiscard]] std::string Board() const { return Write("board.json", kBoard); }
};

std::string FirstLine(const ProcessResult& result) {
  return result.standard_output.substr(0, result.standard_output.find('\n'));
}

TEST_F(MemoriesTest, PlansInCsvAreCompared) {
  const std::vector<std::string> wide = {"--memory", "fast=100@1GB/s", "--memory", "slow@100MB/s"};
  const std::vector<std::string> narrow = {"--memory", "fast=64@1GB/s", "--memory", "slow@100MB/s"};
  const auto run = [&](std::vector<std::string> arguments, const std::vector<std::string>& more) {
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Berth(arguments);
  };
  ASSERT_EQ(run({"place", Table(), "-o", Path("old.csv")}, wide).exit_code, 0);
  ASSERT_EQ(run({"place", Table(), "-o", Path("new.csv")}, narrow).exit_code, 0);
  ASSERT_EQ(run({"place", Table(), "-o", Path("new.json")}, narrow).exit_code, 0);

  // A plan in JSON is compared as well, and gives the same.
  for (const char* const name : {"new.csv", "new.json"}) {
    SCOPED_TRACE(name);
    const ProcessResult result = run({"diff", Path("old.csv"), Path(name), "--json"}, wide);
    EXPECT_EQ(result.exit_code, 0) << result.standard_error;
    const Json json = Json::parse(result.standard_output);
    EXPECT_EQ(json["buffers"]["other_memory"], 2);
    EXPECT_EQ(json["cost"]["before"], 980);
    EXPECT_EQ(json["cost"]["after"], 2 * 40 + 20 * 90);
    EXPECT_EQ(json["memories"][0]["name"], "fast");
    EXPECT_EQ(json["memories"][0]["height"]["delta"], -50);
  }
  EXPECT_EQ(run({"diff", Path("old.csv"), Path("new.csv"), "--max-growth", "2%"}, wide).exit_code,
            1);
  EXPECT_EQ(run({"diff", Path("old.csv"), Path("old.csv")}, wide).exit_code, 0);

  ExpectRefused(Berth({"diff", Path("old.csv"), Path("new.csv")}), "several memories");
  ExpectRefused(run({"diff", Path("new.json"), Path("new.json")}, wide), "neither plan is a table");
  // `large` does not fit into a memory of 64 bytes.
  ExpectRefused(run({"diff", Path("new.csv"), Path("old.csv")}, narrow), "the plan does not hold");
}

TEST_F(MemoriesTest, ThePlanIsExplained) {
  const ProcessResult result =
      Berth({"explain", Table(), "--memories", Board(), "--report", Path("why.html")});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.standard_error, "");
  EXPECT_EQ(FirstLine(result), "Fits: every buffer placed at a cost of 980 ns, proved the least.");
  EXPECT_NE(result.standard_output.find("10 B at step 1"), std::string::npos)
      << result.standard_output;
  EXPECT_NE(Read(Path("why.html")).find("\"displaced\":[{"), std::string::npos);
  const Json json =
      Json::parse(Berth({"explain", Table(), "--memories", Board(), "--json"}).standard_output);
  ASSERT_EQ(json.at("displaced").size(), 1u);
  const Json& small = json.at("displaced").at(0);
  EXPECT_EQ(small.at("buffers"), Json({"small"}));
  EXPECT_EQ(small.at("memory"), "slow");
  EXPECT_EQ(small.at("cheaper_memory"), "fast");
  EXPECT_EQ(small.at("cost"), 800);
  EXPECT_EQ(small.at("least_cost"), 80);
  EXPECT_EQ(small.at("reason"), "bytes");
  EXPECT_EQ(small.at("step"), 1);
  EXPECT_EQ(small.at("free"), 10);
  EXPECT_EQ(small.at("needed"), 40);
  EXPECT_EQ(small.at("in_the_way"), Json({"large"}));
  EXPECT_EQ(small.at("saved"), 1620);  // 20 * 90 - 2 * 90.
}

TEST_F(MemoriesTest, PagesAndTracesHaveEveryMemory) {
  const ProcessResult result = Berth({"place", Table(), "--memories", Board(), "--report",
                                      Path("plan.html"), "--trace", Path("plan.trace")});
  EXPECT_EQ(result.exit_code, 0);
  const std::string page = Read(Path("plan.html"));
  const std::string open = "id=\"data\">";
  const std::size_t begin = page.find(open) + open.size();
  const Json data = Json::parse(page.substr(begin, page.find("</script>", begin) - begin));
  const Json& plan = data.at("plans").at(0);
  EXPECT_EQ(plan.at("buffers").at("memory"), Json({1, 0}));
  EXPECT_EQ(plan.at("costs"), Json({{80, 180}, {800, 1800}}));
  ASSERT_EQ(plan.at("memories").size(), 2u);
  EXPECT_EQ(plan.at("memories").at(0).at("height"), 90);
  EXPECT_EQ(plan.at("memories").at(0).at("cost"), 180);
  EXPECT_TRUE(plan.at("memories").at(1).at("capacity").is_null());
  EXPECT_EQ(plan.at("memories").at(1).at("peak").at("load"), 40);
  EXPECT_EQ(plan.at("displaced").at(0).at("reason"), "bytes");
  const Json trace = Json::parse(Read(Path("plan.trace")));
  std::vector<std::string> processes;
  for (const Json& event : trace.at("traceEvents")) {
    if (event.at("name") == "process_name") processes.push_back(event.at("args").at("name"));
  }
  ASSERT_EQ(processes.size(), 3u);
  EXPECT_EQ(processes[1], "fast");
  EXPECT_EQ(processes[2], "slow");
}

TEST_F(MemoriesTest, TheLeastCostIsFoundAndProved) {
  const ProcessResult result = Berth({"place", Table(), "--memories", Board(), "-o",
                                      Path("plan.json"), "--svg", Path("plan.svg")});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.standard_error, "");
  EXPECT_EQ(FirstLine(result), "Fits: every buffer placed at a cost of 980 ns, proved the least.");
  EXPECT_NE(result.standard_output.find("written once and read once"), std::string::npos);
  const Json plan = Json::parse(Read(Path("plan.json")));
  EXPECT_EQ(plan.at("cost"), 980);
  EXPECT_EQ(plan.at("cost_bound"), 980);
  EXPECT_EQ(plan.at("unplaced"), 0);
  EXPECT_EQ(plan.at("placing").at("algorithm"), "memories");
  EXPECT_EQ(plan.at("assumed_uses"), true);
  EXPECT_EQ(plan.at("memories").at(0).at("height"), 90);
  EXPECT_EQ(plan.at("memories").at(0).at("base"), "0x1000");
  EXPECT_EQ(plan.at("memories").at(1).at("peak"), 40);
  EXPECT_EQ(plan.at("residencies").at(1).at("memory"), "fast");
  EXPECT_NE(Read(Path("plan.svg")).find("fast: 90 B of 100 B, 1 buffer<"), std::string::npos);
  // The same memories on the command line.
  const ProcessResult flags = Berth({"place", Table(), "--memory", "fast=100@1GB/s", "--memory",
                                     "slow@100MB/s", "-o", Path("plan.csv")});
  EXPECT_EQ(FirstLine(flags), FirstLine(result));
  EXPECT_EQ(Read(Path("plan.csv")),
            "id,lower,upper,size,offset,bytes_read,bytes_written,memory\n"
            "small,0,2,40,0,40,40,slow\nlarge,1,3,90,0,90,90,fast\n");
}

TEST_F(MemoriesTest, PlansAreChecked) {
  const std::string table = Table();
  const std::string board = Board();
  for (const std::string plan : {"plan.json", "plan.csv"}) {
    ASSERT_EQ(Berth({"place", table, "--memories", board, "-o", Path(plan)}).exit_code, 0);
    const ProcessResult result = Berth({"check", table, Path(plan), "--memories", board});
    EXPECT_EQ(result.exit_code, 0) << result.standard_error;
    EXPECT_EQ(FirstLine(result),
              "The plan holds: 2 buffers in 2 memories, every rule kept; cost 980 ns.");
  }
  // A plan in JSON has its memories inside, a table with a plan needs no other file.
  const ProcessResult alone = Berth({"check", table, Path("plan.json")});
  EXPECT_EQ(alone.exit_code, 0) << alone.standard_error;
  EXPECT_NE(alone.standard_output.find("Memories are as the plan states them."), std::string::npos);
  EXPECT_EQ(Berth({"check", Path("plan.csv"), "--memories", board}).exit_code, 0);

  // Another tool's plans: bytes shared, too large, and one that leaves a buffer out.
  const std::string head = "id,memory,offset\n";
  const std::pair<std::string, std::string> faults[] = {
      {"small,slow,0\nlarge,slow,20\n", "shares bytes of slow with"},
      {"small,slow,0\nlarge,fast,20\n", "exceeds the capacity of fast"},
      {"small,slow,0\nlarge,,\n", "1 buffer that must be placed is not: the first is \"large\""},
  };
  for (const auto& [rows, fault] : faults) {
    const ProcessResult result =
        Berth({"check", table, Write("other.csv", head + rows), "--memories", board});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_EQ(FirstLine(result), "The plan does not hold: 1 fault.");
    EXPECT_NE(result.standard_output.find(fault), std::string::npos) << result.standard_output;
  }
  // A file that states another cost.
  std::string text = Read(Path("plan.json"));
  text.replace(text.find("\"cost\": 980"), 11, "\"cost\": 981");
  const ProcessResult wrong = Berth({"check", table, Write("wrong.json", text), "--json"});
  EXPECT_EQ(wrong.exit_code, 1);
  const Json json = Json::parse(wrong.standard_output);
  EXPECT_EQ(json.at("valid"), false);
  EXPECT_EQ(json.at("faults").at(0).at("message"), "the plan states the cost 981 but has 980");
}

TEST_F(MemoriesTest, VerdictsAreTrue) {
  const std::string table = Table();
  const ProcessResult none =
      Berth({"place", table, "--memory", "a=50", "--memory", "b=60", "-o", Path("plan.json")});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_EQ(FirstLine(none),
            "Does not fit: 1 buffer that must be placed has no place, proved the fewest.");
  EXPECT_NE(none.standard_output.find("large"), std::string::npos);
  EXPECT_FALSE(Exists(Path("plan.json")));
  // Nothing costs anything, and the verdict claims no least cost.
  const ProcessResult free = Berth({"place", table, "--memory", "a=130"});
  EXPECT_EQ(free.exit_code, 0);
  EXPECT_EQ(FirstLine(free), "Fits: every buffer placed.");
  EXPECT_NE(free.standard_output.find("Nothing costs anything"), std::string::npos);
  EXPECT_EQ(free.standard_output.find("cost  "), std::string::npos);

  const std::string optional = Write(
      "optional.csv", "id,lower,upper,size,benefit\nmust,0,2,40,\nmay,1,3,90,7000\nbe,1,3,5,10\n");
  const ProcessResult left = Berth({"place", optional, "--memory", "a=50", "--json"});
  EXPECT_EQ(left.exit_code, 0);
  const Json json = Json::parse(left.standard_output);
  EXPECT_EQ(json.at("outcome"), "optimal");
  EXPECT_EQ(json.at("cost"), 7000);
  EXPECT_EQ(json.at("left_out"), Json({"may"}));
  EXPECT_EQ(json.at("cost_gap"), 0.0);
  EXPECT_EQ(json.at("memories").at(0).at("buffers"), 2);
  EXPECT_EQ(FirstLine(Berth({"place", optional, "--memory", "a=50"})),
            "Fits: every buffer that must be placed has a place, 1 other is left out, at a cost of "
            "7.00 us, "
            "proved the least.");
}

TEST_F(MemoriesTest, FilesWithBuffersNeedNoOther) {
  const std::string file = Write("file.json", R"({"format": "berth-memories", "format_version": 1,
    "cost_unit": "pJ", "memories": [{"name": "m", "capacity": 8, "read": {"cost": 3}}],
    "buffers": [{"id": "a", "start": 0, "end": 2, "size": 4, "bytes_read": 1000}]})");
  const ProcessResult result = Berth({"place", file, "-o", Path("plan.json")});
  EXPECT_EQ(FirstLine(result),
            "Fits: every buffer placed at a cost of 3,000 pJ, proved the least.");
  EXPECT_EQ(Berth({"check", file, Path("plan.json")}).exit_code, 0);
  const ProcessResult info = Berth({"info", file});
  EXPECT_EQ(info.exit_code, 0);
  EXPECT_NE(info.standard_output.find("3 pJ for a byte"), std::string::npos)
      << info.standard_output;
  ExpectRefused(Berth({"check", file}), "PLAN is missing");
  ExpectRefused(Berth({"place", file, "--memory", "n=4"}), "has memories of its own");
  EXPECT_EQ(Berth({"explain", file}).exit_code, 0);
  ExpectRefused(Berth({"schedule", file}),
                "a file of memories; berth place, explain, check and info take it");
}

TEST_F(MemoriesTest, BoardsAreDescribed) {
  const ProcessResult info = Berth({"info", Board()});
  EXPECT_EQ(info.exit_code, 0);
  EXPECT_NE(info.standard_output.find("100 MB/s"), std::string::npos) << info.standard_output;
  EXPECT_NE(info.standard_output.find("0x1000"), std::string::npos);
  const Json json =
      Json::parse(Berth({"info", Table(), "--memories", Board(), "--json"}).standard_output);
  EXPECT_EQ(json.at("buffers"), 2);
  EXPECT_EQ(json.at("load"), 130);
  EXPECT_EQ(json.at("memories").at(1).at("name"), "slow");
  ExpectRefused(Berth({"place", Board()}), "describes memories alone");
}

TEST_F(MemoriesTest, WhatDoesNotApplyIsRefused) {
  const std::string table = Table();
  const auto refused = [&](std::vector<std::string> more, const std::string& words) {
    more.insert(more.begin(), {"place", table, "--memory", "a=100"});
    ExpectRefused(Berth(more), words);
  };
  refused({"--capacity", "1KiB"}, "--capacity: each memory has a capacity of its own");
  refused({"--minimize"}, "--minimize does not apply to several memories");
  refused({"--algorithm", "first-fit-size"}, "--algorithm does not apply to several memories");
  refused({"--memory", "a=5"}, "--memory: the memory 'a' comes twice");
  refused({"--memory", "b=5@8"}, "--memory: the bandwidth \"8\" of \"b=5@8\" is not of the form");
  refused({"--memories", table}, "table.csv:1:1: not JSON from here on");
  refused({"--memories", Write("one.json", R"({"format": "berth-memories", "format_version": 1,
          "memories": [{"name": "a"}]})")},
          "the memory 'a' is in");
  ExpectRefused(Berth({"place", Write("t.csv", "id,lower,upper,size,memories\na,0,1,4,x\n")}),
                "the column \"memories\" is of tables for several memories, and none are given");
  ExpectRefused(Berth({"place", Write("u.csv", "id,lower,upper,size,memories\na,0,1,4,x\n"),
                       "--memory", "m=8"}),
                "u.csv:2:9: buffer \"a\": there is no memory \"x\"; there are \"m\"");
}

// Names that would control a terminal do not reach it.
TEST_F(MemoriesTest, HostileNamesAreHarmless) {
  const std::string file = Write("file.json", R"({"format": "berth-memories", "format_version": 1,
    "cost_unit": "\u001b[31m", "memories": [{"name": "\u001b[2J\n", "capacity": 8,
    "read": {"cost": 3}}], "buffers": [
    {"id": "\u001b]0;x\u0007", "start": 0, "end": 2, "size": 4, "bytes_read": 1000},
    {"id": "\u001b[1m", "start": 0, "end": 2, "size": 9, "cost_left_out": 5}]})");
  for (const char* const command : {"place", "info"}) {
    const ProcessResult result = Berth({command, file});
    EXPECT_EQ(result.exit_code, 0) << result.standard_error;
    EXPECT_EQ(result.standard_output.find('\x1b'), std::string::npos);
    EXPECT_EQ(result.standard_output.find('\a'), std::string::npos);
  }
}

// Every command of the guide runs, in order, in the folder of the project's examples.
TEST_F(MemoriesTest, TheGuideRuns) {
  const std::string guide = Read(BERTH_SOURCE_DIR "/docs/howto/several-memories.md");
  (void)Write("model.tflite", tflite_build::Build(tflite_build::TwoBranches()));
  // Searches end after 5 s: sanitized they would take minutes.
  std::string script =
      "set -e; berth() { case \"$1 $2\" in plan*|explain*.onnx) set -- \"$@\" --time-limit 5s;; "
      "esac; \"$BERTH\" "
      "\"$@\"; }; ln -s '" BERTH_SOURCE_DIR "/examples' '" +
      Path("examples") + "'; cd '" + Path("") + "'\n";
  int blocks = 0;
  for (std::size_t at = guide.find("```sh\n"); at != std::string::npos;
       at = guide.find("```sh\n", at)) {
    at += 6;
    const std::size_t end = guide.find("```", at);
    script += guide.substr(at, end - at);
    at = end + 3;
    ++blocks;
  }
  EXPECT_EQ(blocks, 12);
  const ProcessResult result = Shell(script);
  EXPECT_EQ(result.exit_code, 0) << result.standard_error << result.standard_output;
  // The verdict that it quotes is the one of its first command.
  EXPECT_NE(guide.find("\n" + FirstLine(result) + "\n"), std::string::npos) << FirstLine(result);
}

TEST_F(MemoriesTest, RealTablesArePlacedOnTheBoardsOfTheExamples) {
  const char* const data = std::getenv("BERTH_DATA");
  if (data == nullptr) GTEST_SKIP() << "BERTH_DATA names no folder with tables of models";
  int tables = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(data) + "/buffers/models")) {
    const std::string path = entry.path().string();
    if (path.find("/inference_") == std::string::npos || entry.path().extension() != ".csv")
      continue;
    SCOPED_TRACE(path);
    const std::string board = BERTH_SOURCE_DIR "/examples/boards/imxrt1170.json";
    const ProcessResult result = Berth({"place", path, "--memories", board, "--node-limit",
                                        "300000", "--json", "-o", Path("plan.csv")});
    const Json json = Json::parse(result.standard_output);
    EXPECT_LE(json.at("cost_bound"), json.at("cost"));
    if (result.exit_code != 0) continue;
    EXPECT_EQ(Berth({"check", path, Path("plan.csv"), "--memories", board}).exit_code, 0);
    ++tables;
  }
  EXPECT_GT(tables, 5);
}

}  // namespace
}  // namespace berth::cli
