// berth bench --suite: every experiment of every paper runs, reports its results and writes its
// files.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "berth/io.h"
#include "tests/cli/berth_process.h"
#include "tests/graph/build.h"
#include "tools/berth/runner.h"
#include "tools/berth/suites/caching.h"
#include "tools/berth/suites/inputs.h"
#include "tools/berth/suites/sheet.h"

namespace berth::internal {
namespace {

using Json = nlohmann::json;

class SuitesTest : public CommandTest {
 protected:
  [[nodiscard]] std::set<std::string> Files() const {
    std::set<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(Path("out"))) {
      files.insert(entry.path().filename().string());
    }
    return files;
  }
  // The rows of a CSV file without quotes, the header first.
  [[nodiscard]] std::vector<std::vector<std::string>> Csv(const std::string& name) const {
    std::vector<std::vector<std::string>> rows;
    std::istringstream lines(Read(Path("out/" + name)));
    for (std::string line; std::getline(lines, line);) {
      std::istringstream fields(line + ",");
      rows.emplace_back();
      for (std::string field; std::getline(fields, field, ',');) rows.back().push_back(field);
      EXPECT_EQ(rows.back().size(), rows.front().size()) << line;
    }
    return rows;
  }
  [[nodiscard]] ProcessResult Run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"bench", "--suite"});
    arguments.insert(arguments.end(), {"--quick", "-o", Path("out")});
    return Berth(arguments);
  }
};

TEST_F(SuitesTest, TelaMallocQuickly) {
  const ProcessResult result = Run({"telamalloc"});
  EXPECT_EQ(result.exit_code, 0) << result.standard_output << result.standard_error;
  EXPECT_EQ(result.standard_error, "");
  EXPECT_EQ(result.standard_output.find("Faults"), std::string::npos);
  EXPECT_EQ(Files(), (std::set<std::string>{
                         "telamalloc-conditions.json", "telamalloc-figure12.svg",
                         "telamalloc-figure13-ratios.csv", "telamalloc-figure13.csv",
                         "telamalloc-figure13.svg", "telamalloc-figure14-failures.csv",
                         "telamalloc-figure14-failures.svg", "telamalloc-figure14-runs.csv",
                         "telamalloc-figure14-steps.csv", "telamalloc-figure14-steps.svg",
                         "telamalloc-figure19.csv", "telamalloc-figure19.svg",
                         "telamalloc-table1.csv", "telamalloc-table2.csv"}));
  // One step per buffer, as nothing fails.
  const auto table1 = Csv("telamalloc-table1.csv");
  ASSERT_EQ(table1.size(), 4U);
  EXPECT_EQ(table1[1][0], "non-overlapping-1K");
  EXPECT_EQ(table1[1][1], "1000");
  EXPECT_EQ(table1[3][1], "100");
  // No height is below the least.
  for (const auto& row : Csv("telamalloc-table2.csv")) {
    if (row[0] == "benchmark") continue;
    EXPECT_GE(std::stod(row[4]), 1) << row[0];
    EXPECT_GE(std::stod(row[6]), 1) << row[0];
  }
  const Json conditions = Json::parse(Read(Path("out/telamalloc-conditions.json")));
  EXPECT_EQ(conditions.at("experiments").size(), 5U);
  const Json& table1_conditions = conditions.at("experiments").at("table1");
  EXPECT_TRUE(table1_conditions.at("machine").at("cpu").is_string());
  EXPECT_EQ(table1_conditions.at("steps"), nullptr);
  // Results of a separate run are merged with the existing ones.
  ASSERT_EQ(Run({"telamalloc", "--only", "table1", "--steps", "7"}).exit_code, 0);
  const Json joined = Json::parse(Read(Path("out/telamalloc-conditions.json")));
  EXPECT_EQ(joined.at("experiments").size(), 5U);
  EXPECT_EQ(joined.at("experiments").at("table1").at("steps"), 7);
}

// All strategies on all inputs; the sums are those of the runs.
TEST_F(SuitesTest, CountsFailuresOfStrategies) {
  const ProcessResult result =
      Run({"telamalloc", "--only", "figure14", "--steps", "500", "--jobs", "2"});
  ASSERT_EQ(result.exit_code, 0) << result.standard_output << result.standard_error;
  const auto runs = Csv("telamalloc-figure14-runs.csv");
  const auto failures = Csv("telamalloc-figure14-failures.csv");
  const std::vector<std::string> all = failures.back();
  ASSERT_EQ(all[0], "all");
  ASSERT_EQ(runs.size() - 1, 6 * std::stoul(all[1]));
  const std::vector<std::string> strategies = {"candidates", "size",   "area",
                                               "lifetime",   "lowest", "guided"};
  for (std::size_t s = 0; s < strategies.size(); ++s) {
    const auto failed = std::count_if(runs.begin() + 1, runs.end(), [&](const auto& row) {
      return row[5] == strategies[s] && row[6] != "solved";
    });
    EXPECT_EQ(std::to_string(failed), all[2 + s]) << strategies[s];
    EXPECT_EQ(failures[0][2 + s], strategies[s]);
  }
  // The same counts with one run at a time.
  const std::string with_two = Read(Path("out/telamalloc-figure14-failures.csv"));
  ASSERT_EQ(Run({"telamalloc", "--only", "figure14", "--steps", "500", "--jobs", "1"}).exit_code,
            0);
  EXPECT_EQ(Read(Path("out/telamalloc-figure14-failures.csv")), with_two);
}

TEST_F(SuitesTest, MiniMallocQuickly) {
  const ProcessResult result = Run({"minimalloc"});
  EXPECT_EQ(result.exit_code, 0) << result.standard_output << result.standard_error;
  EXPECT_EQ(Files(),
            (std::set<std::string>{"minimalloc-conditions.json", "minimalloc-figure10-runs.csv",
                                   "minimalloc-figure10-solved.svg",
                                   "minimalloc-figure10-times.svg", "minimalloc-figure10.csv",
                                   "minimalloc-figure8.csv", "minimalloc-figure8.svg",
                                   "minimalloc-figure9-shares.csv", "minimalloc-figure9.csv",
                                   "minimalloc-figure9.svg", "minimalloc-table2.csv"}));
  // Methods missing from the build still have their rows.
  const auto figure8 = Csv("minimalloc-figure8.csv");
  std::set<std::string> algorithms;
  for (const auto& row : figure8) algorithms.insert(row[5]);
  EXPECT_TRUE(algorithms.contains("ilp"));
  EXPECT_TRUE(algorithms.contains("csp"));
  for (const auto& row : figure8) {
    if (row[0] != "inference-40-1" || row[5] != "niche") continue;
    EXPECT_EQ(row[6], "solved");
  }
}

TEST_F(SuitesTest, CosmaQuickly) {
  const ProcessResult result = Run({"cosma", "--time-limit", "5s"});
  EXPECT_EQ(result.exit_code, 0) << result.standard_output << result.standard_error;
  EXPECT_EQ(result.standard_output.find("Faults"), std::string::npos);
  std::set<std::string> files = {"cosma-conditions.json"};
  for (const std::string experiment : {"figure3", "figure4", "training"}) {
    for (const std::string end : {".csv", "-reduction.csv", ".svg"}) {
      files.insert("cosma-" + experiment + end);
    }
  }
  EXPECT_EQ(Files(), files);
  const auto rows = Csv("cosma-figure3.csv");
  const auto column = [&](const std::string& name) {
    return static_cast<std::size_t>(std::find(rows[0].begin(), rows[0].end(), name) -
                                    rows[0].begin());
  };
  ASSERT_EQ(rows.size(), 1 + 2 * 6U);  // Two graphs, six budgets.
  std::int64_t spilling = 0;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    SCOPED_TRACE(rows[i][0] + ", " + rows[i][1]);
    const auto bytes = [&](const std::string& name) { return std::stoll(rows[i][column(name)]); };
    const auto all = bytes("all_orders_bytes");
    EXPECT_LE(all, bytes("program_bytes"));
    EXPECT_LE(all, bytes("least_peak_bytes"));
    EXPECT_LE(all, bytes("peak_belady_bytes"));
    EXPECT_LE(bytes("all_orders_lower_bound_bytes"), all);
    if (rows[i][1].rfind("MP", 0) == 0) {
      EXPECT_EQ(bytes("all_orders_without_addresses_bytes"), 0);
    }
    spilling += all > 0 ? 1 : 0;
  }
  EXPECT_GT(spilling, 0);
}

TEST_F(SuitesTest, ModelsStandForTheNetworks) {
  const std::string model = std::string(BERTH_SOURCE_DIR) + "/examples/cells.onnx";
  const ProcessResult result = Run({"cosma", model, "--only", "figure4"});
  ASSERT_EQ(result.exit_code, 0) << result.standard_error;
  const auto rows = Csv("cosma-figure4.csv");
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[1][0], "cells");
  ExpectRefused(Berth({"bench", "--suite", "cosma", "--data", Path("nowhere")}),
                "holds neither inference/ nor training/");
}

TEST_F(SuitesTest, TablesStandForTheModels) {
  const ProcessResult result = Run({"telamalloc", SmallTable(), "--only", "table2"});
  ASSERT_EQ(result.exit_code, 0) << result.standard_error;
  const auto table = Csv("telamalloc-table2.csv");
  ASSERT_EQ(table.size(), 2U);
  EXPECT_EQ(table[1][0], "small");
  EXPECT_EQ(table[1][2], "8");  // Bytes.
  EXPECT_EQ(table[1][3], "1");  // Proved.
}

// Program order needs 17 bytes, the best order 10; PyTorch's allocator needs more than either.
TEST_F(SuitesTest, OllaOnAGraphOfFiveOperators) {
  Build build = TwoBranches();
  std::swap(build.graph.operators[1], build.graph.operators[2]);
  const std::string graph = Write("two_b32.json", WriteGraphJson(build.graph));
  const ProcessResult result = Run({"olla", graph});
  ASSERT_EQ(result.exit_code, 0) << result.standard_output << result.standard_error;
  const auto row = [&](const std::string& name) { return Csv("olla-" + name + ".csv").at(1); };
  using Row = std::vector<std::string>;
  EXPECT_EQ(row("figure7"), (Row{"two_b32", "inference", "5", "17", "17", "10", "1", "0.411765"}));
  // A segment of 2 MiB, in which three blocks are in use when it is allocated.
  EXPECT_EQ(row("figure8"), (Row{"two_b32", "inference", "2097152", "17", "0.999992", "8",
                                 "0.999996", "2", "10", "10", "0"}));
  EXPECT_EQ(row("figure13"), (Row{"two_b32", "inference", "2097152", "17", "10", "0.999995"}));
  EXPECT_EQ(row("figure9").at(7), "1");
  EXPECT_EQ(row("figure10").at(1), "0.411765");
  EXPECT_EQ(row("figure12").at(1), "0");
  EXPECT_EQ(row("figure14").at(1), "5");
  EXPECT_GT(std::stod(row("figure14").at(2)), std::stod(row("figure14").at(4)));
  const auto placed = Csv("olla-figure11.csv");
  for (const auto& run : placed) {
    if (run[5] == "auto" || run[5] == "heuristic") {
      EXPECT_EQ(run[6], "solved") << run[5];
    }
  }
  if (!CheckAvailable(*MethodFromName("ilp"))) return;
  const Row ilp = row("ilp");
  EXPECT_EQ(ilp.at(5), "closed");
  EXPECT_EQ(ilp.at(6), "10");
  EXPECT_EQ(ilp.at(10), "same");
}

TEST_F(SuitesTest, OllaQuickly) {
  const ProcessResult result = Run({"olla"});
  EXPECT_EQ(result.exit_code, 0) << result.standard_output << result.standard_error;
  EXPECT_EQ(result.standard_error, "");
  std::set<std::string> files = {"olla-conditions.json"};
  for (const char* figure : {"7", "8", "9", "10", "11", "12", "13", "14"}) {
    for (const char* extension : {".csv", ".svg"}) {
      files.insert(std::string("olla-figure") + figure + extension);
    }
  }
  for (const char* mean :
       {"7-means", "8-means", "8-means-first", "13-means", "9-medians", "11-medians"}) {
    files.insert(std::string("olla-figure") + mean + ".csv");
  }
  if (HasOlla()) files.insert({"olla-ilp.csv", "olla-ilp-summary.csv", "olla-ilp.svg"});
  EXPECT_EQ(Files(), files);
  if (!HasOlla()) return;
  // All solved cases agree.
  for (const auto& row : Csv("olla-ilp.csv")) {
    if (row[5] != "closed") continue;
    EXPECT_TRUE(row[10] == "same" || row[10] == "higher by its control edges; same without")
        << row[0];
  }
}

TEST_F(SuitesTest, OllaOnRealGraphs) {
  const char* const data = std::getenv("BERTH_DATA");
  if (data == nullptr) GTEST_SKIP() << "BERTH_DATA names no folder";
  const ProcessResult result = Berth({"bench", "--suite", "olla", "--only", "figure7", "-o",
                                      Path("out"), "--data", std::string(data) + "/graphs"});
  ASSERT_EQ(result.exit_code, 0) << result.standard_output << result.standard_error;
  const auto rows = Csv("olla-figure7.csv");
  EXPECT_EQ(rows.size(), 35U);
  for (const auto& row : rows) {
    if (row[0] != "alexnet_b32") continue;
    EXPECT_EQ(row[1], "batch 32");
    EXPECT_EQ(row[3], "339525028");
    EXPECT_EQ(row[4], "250167300");
    EXPECT_EQ(row[5], "152698884");
  }
}

TEST_F(SuitesTest, RejectsUnknownSuites) {
  ExpectRefused(
      Berth({"bench", "--suite", "other"}),
      "--suite: there is no suite 'other'; there are telamalloc, minimalloc, olla, cosma");
  ExpectRefused(Berth({"bench", "--suite", "minimalloc", "--only", "table1"}),
                "--only: the suite minimalloc has no 'table1'; it has figure8, figure9");
  ExpectRefused(Berth({"bench", "--suite", "telamalloc", "--data", Path("nowhere")}),
                "holds neither models/ nor challenging/");
  ExpectRefused(Berth({"bench", "--suite", "telamalloc", Path("absent.csv"), "--only", "table2"}),
                "absent.csv");
  ExpectRefused(Berth({"bench", "--suite", "olla", "--data", Path("nowhere")}),
                "holds neither training/ nor inference/");
  ExpectRefused(Berth({"bench", "--suite", "olla", SmallTable(), "--only", "figure7"}),
                "neither an ONNX model nor a graph in JSON");
  ExpectRefused(Berth({"bench", SmallTable(), "--quick"}), "--suite");
  ExpectRefused(Berth({"bench"}), "TABLES is required");
  ExpectRefused(Berth({"bench", "--suite", "telamalloc", "--json", Path("x.json")}), "--json");
}

// The greedy plan with which Place() ends when a search has none does not count as the search's.
TEST(Runner, CountsOnlyPlansOfTheRequestedAlgorithms) {
  Problem problem;
  problem.buffers = {{"a", 0, 3, 4}, {"b", 3, 5, 4}, {"c", 2, 4, 4}};
  problem.capacity = 8;
  Runner runner = BerthRunner("", *MethodFromName("telamalloc"), {});
  runner.baseline_options.settings["telamalloc.heuristic_first"] = "off";
  const RunResult found = RunOnce(runner, {problem, "", "", 1, {}, /*keep_offsets=*/true});
  EXPECT_EQ(found.verdict, Verdict::kSolved);
  EXPECT_EQ(found.offsets.size(), 3U);
  EXPECT_EQ(found.nodes, 3);
  ASSERT_TRUE(found.processor.has_value());
  runner.node_limit = 1;
  EXPECT_EQ(RunOnce(runner, {problem, "", "", 1, {}}).verdict, Verdict::kSolved);
  runner.finders = {"telamalloc"};
  const RunResult own = RunOnce(runner, {problem, "", "", 1, {}});
  EXPECT_EQ(own.verdict, Verdict::kGaveUp);
  EXPECT_TRUE(own.out_of_budget);
  EXPECT_FALSE(own.height.has_value());
  runner.node_limit.reset();
  EXPECT_EQ(RunOnce(runner, {problem, "", "", 1, {}}).verdict, Verdict::kSolved);
}

TEST(Sheet, IsTextForPeopleAndNumbersForPrograms) {
  Sheet sheet({{"name", "name", false}, {"time", "seconds"}, {"size", "bytes"}});
  sheet.AddRow({TextCell("a, \"b\""), SecondsCell(0.00125), BytesCell(1536)});
  sheet.AddRow({TextCell("c"), NoCell(), CountCell(1234)});
  EXPECT_EQ(sheet.ToCsv(), "name,seconds,bytes\n\"a, \"\"b\"\"\",0.00125,1536\nc,,1234\n");
  EXPECT_NE(sheet.ToText().find("1.2 ms  1.5 KiB"), std::string::npos) << sheet.ToText();
  EXPECT_NE(sheet.ToText().find("1,234"), std::string::npos);
}

// The measured run-time allocator behaves like algorithm pytorch-caching.
TEST(Caching, GivesTheAddressesOfTheSimulation) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    GenerateParameters parameters;
    parameters.seed = seed;
    parameters.buffers = 200;
    Problem problem = GenerateInput(Family::kRandom, parameters).problem;
    for (Buffer& buffer : problem.buffers) {
      // Across both pools, and all sizes of segments.
      buffer.size = 1 + buffer.size * (seed % 3 == 0 ? 500 : seed % 3 == 1 ? 20'000 : 3);
      buffer.alignment = 1;
    }
    BaselineOptions options;
    options.baseline = Baseline::kPytorchCaching;
    Budget budget;
    const auto expected = PlaceWithBaseline(problem, options, budget);
    ASSERT_TRUE(expected && expected->best) << expected.error().message;
    caching::Allocator allocator;
    std::vector<caching::Block*> blocks(problem.buffers.size());
    std::vector<Bytes> offsets(problem.buffers.size());
    for (const caching::Event& event : caching::Events(problem)) {
      if (!event.starts) {
        allocator.Free(blocks[event.buffer]);
        continue;
      }
      blocks[event.buffer] = allocator.Allocate(problem.buffers[event.buffer].size);
      offsets[event.buffer] = blocks[event.buffer]->address;
    }
    EXPECT_EQ(offsets, expected->best->offsets);
    EXPECT_GE(allocator.reserved(), expected->best->height);
  }
}

TEST(Caching, CountsUnusedReservedBytes) {
  constexpr Bytes kMiB = Bytes{1} << 20;
  Problem problem;
  // A block of 20 MiB for the first; the second does not fit into the remainder.
  problem.buffers = {{"a", 0, 2, 9 * kMiB}, {"b", 1, 2, 14 * kMiB + 1}};
  const caching::Footprint footprint = caching::Measure(problem);
  EXPECT_EQ(footprint.reserved, 36 * kMiB);
  EXPECT_EQ(footprint.first, 23 * kMiB + 1);
  EXPECT_EQ(footprint.most, 23 * kMiB + 1);
  EXPECT_EQ(footprint.runs, 2);
  // The last segment is allocated late, when little is in use.
  problem.buffers = {{"a", 0, 2, 18 * kMiB}, {"b", 3, 4, 1 * kMiB}};
  const caching::Footprint late = caching::Measure(problem);
  EXPECT_EQ(late.reserved, 20 * kMiB);
  EXPECT_EQ(late.first, 1 * kMiB);
  EXPECT_EQ(late.most, 18 * kMiB);
}

TEST(Inputs, AreSpreadFromTheSmallestToTheLargest) {
  std::vector<SuiteInput> inputs(10);
  for (std::size_t i = 0; i < inputs.size(); ++i) inputs[i].problem.buffers.resize(10 - i);
  const auto sizes = [](const std::vector<SuiteInput>& chosen) {
    std::vector<std::size_t> counts;
    for (const SuiteInput& input : chosen) counts.push_back(input.problem.buffers.size());
    return counts;
  };
  EXPECT_EQ(sizes(SpreadOut(inputs, 4)), (std::vector<std::size_t>{1, 4, 7, 10}));
  EXPECT_EQ(sizes(SpreadOut(inputs, 1)), (std::vector<std::size_t>{5}));
  EXPECT_EQ(sizes(SpreadOut(inputs, 99)).size(), 10U);
  EXPECT_TRUE(SpreadOut(std::vector<SuiteInput>(), 3).empty());
}

}  // namespace
}  // namespace berth::internal
