// berth-lab suite olla: every experiment runs, says what it did and keeps its files.
#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "berth/io.h"
#include "tests/graph/build.h"
#include "tests/lab/suites/suites_process.h"
#include "tools/lab/method.h"

namespace berth::lab {
namespace {

// Program order needs 17 bytes, the best order 10; PyTorch's allocator needs more than either.
TEST_F(SuitesTest, OllaOnAGraphOfFiveOperators) {
  internal::Build build = internal::TwoBranches();
  std::swap(build.graph.operators[1], build.graph.operators[2]);
  const std::string graph = Write("two_b32.json", WriteGraphJson(build.graph));
  // The joint program needs a third of --quick's limit on a machine that has nothing else to do.
  const ProcessResult result = Run({"olla", graph, "--time-limit", "60"});
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
  // Without convolutions there are no workspaces.
  EXPECT_EQ(Csv("olla-workspaces.csv").at(3),
            (Row{"two_b32", "batch", "0", "0", "0", "0", "2097152", "17", "0.999992", "0.999996",
                 "10", "10"}));
  if (!CheckAvailable(*MethodFromName("ilp"))) return;
  const Row joint = row("joint");
  for (const std::size_t status : {4U, 7U}) {
    EXPECT_EQ(joint.at(status), "closed");
    EXPECT_EQ(joint.at(status + 1), "10");
  }
  EXPECT_EQ(joint.at(10), "10");
  EXPECT_EQ(joint.at(11), "10");
  const Row ilp = row("ilp");
  EXPECT_EQ(ilp.at(5), "closed");
  EXPECT_EQ(ilp.at(6), "10");
  EXPECT_EQ(ilp.at(10), "same");
}

// Two images of 2 x 4 x 4, three kernels of 2 x 3 x 3, results of 3 x 2 x 2: the matrix of im2col has 18 rows
// and 4 columns for each image, 288 bytes. Without it the gradients need the most, 96 + 216 + 12 bytes.
TEST_F(SuitesTest, OllaCountsWorkspaces) {
  Graph graph;
  graph.tensors = {{"x", 256, 1, TensorKind::kInput},     {"w", 216, 1, TensorKind::kParameter},
                   {"b", 12, 1, TensorKind::kParameter},  {"y", 96},
                   {"gw", 216, 1, TensorKind::kGradient}, {"gb", 12, 1, TensorKind::kGradient}};
  graph.operators = {{"conv", "convolution", {0, 1, 2}, {3}},
                     {"back", "convolution_backward", {3, 0, 1}, {4, 5}},
                     {"step", "sgd", {4}, {}, {1}}};
  graph.operators[2].update = true;
  const std::string path = Write("conv_b2.json", WriteGraphJson(graph));
  const ProcessResult result = Run({"olla", path, "--only", "workspaces"});
  ASSERT_EQ(result.exit_code, 0) << result.standard_output << result.standard_error;
  const std::pair<const char*, Fields> models[] = {
      {"none", {{"workspaces", "0"}, {"largest_workspace_bytes", "0"}, {"peak_bytes", "324"}}},
      {"image", {{"workspaces", "2"}, {"largest_workspace_bytes", "288"}, {"peak_bytes", "612"}}},
      {"batch", {{"workspaces", "2"}, {"largest_workspace_bytes", "576"}, {"peak_bytes", "900"}}}};
  for (const auto& [model, fields] : models) {
    ExpectRow("olla-workspaces.csv", {{"model", model}}, fields);
  }
  ExpectRow("olla-workspaces-means.csv", {{"model", "im2col of one image"}},
            {{"group", "batch 2"}, {"mean_planned_fragmentation", "0"}, {"paper_mean", ""}});
}

TEST_F(SuitesTest, OllaQuickly) {
  const ProcessResult result = Run({"olla"});
  EXPECT_EQ(result.exit_code, 0) << result.standard_output << result.standard_error;
  EXPECT_EQ(result.standard_error, "");
  std::set<std::string> files = {"olla-conditions.json"};
  for (const char* figure : {"7", "7-all", "8", "9", "10", "11", "12", "13", "14"}) {
    for (const char* extension : {".csv", ".svg"}) {
      files.insert(std::string("olla-figure") + figure + extension);
    }
  }
  for (const char* mean : {"7-means", "7-all-means", "8-means", "8-means-first", "13-means",
                           "9-medians", "11-medians"}) {
    files.insert(std::string("olla-figure") + mean + ".csv");
  }
  files.insert({"olla-workspaces.csv", "olla-workspaces-means.csv"});
  if (Info(Baseline::kIlp).available()) {
    files.insert({"olla-ilp.csv", "olla-ilp-summary.csv", "olla-ilp.svg", "olla-joint.csv",
                  "olla-joint-summary.csv", "olla-recomputation.csv",
                  "olla-recomputation-summary.csv", "olla-recomputation-peak.csv",
                  "olla-recomputation-peak-summary.csv"});
  }
  EXPECT_EQ(Files(), files);
  ExpectRow("olla-figure7.csv", {{"graph", "cell-90-10-3"}},
            {{"program_order_bytes", "103488"}, {"peak_bytes", "103488"}, {"proved", "1"}});
  ExpectRow("olla-figure8.csv", {{"graph", "cell-30-10-1"}},
            {{"reserved_bytes", "2097152"},
             {"most_resident_bytes", "63488"},
             {"first_resident_bytes", "8192"},
             {"arena_bytes", "63488"}});
  ExpectRow("olla-figure9.csv", {{"graph", "cell-90-10-3"}},
            {{"searched_operators", "48"}, {"cuts", "1"}, {"states", "15"}});
  ExpectRow("olla-figure10.csv", {{"graph", "irregular-60-16-1"}},
            {{"reduction", "0.443123"}, {"proved", "1"}});
  ExpectRow("olla-figure11.csv", {{"input", "cell-90-10-3"}, {"algorithm", "auto"}},
            {{"least_bytes", "103488"}, {"status", "solved"}});
  // Of the graph that took longest to place, whichever that was: one in each order.
  const auto figure12 = Csv("olla-figure12.csv");
  ASSERT_EQ(figure12.size(), 3U);
  for (std::size_t row = 1; row < figure12.size(); ++row) {
    const std::string& graph = figure12[row][0];
    const std::string order = row == 1 ? " (our order)" : " (program order)";
    EXPECT_EQ(graph.substr(std::min(graph.size(), graph.find(" ("))), order);
    ExpectRow("olla-figure12.csv", {{"graph", graph}}, {{"fragmentation", "0"}, {"proved", "1"}});
  }
  ExpectRow("olla-figure13.csv", {{"graph", "cell-90-10-3"}},
            {{"arena_bytes", "103488"}, {"reduction", "0.950653"}});
  ExpectRow("olla-figure14.csv", {{"graph", "cell-90-10-3"}}, {{"tensors", "75"}});
  if (!Info(Baseline::kIlp).available()) return;
  // Small programs are closed, and agree with the search.
  ExpectRow("olla-ilp.csv", {{"graph", "cell-8-2-1"}},
            {{"operators", "6"},
             {"variables", "24"},
             {"constraints", "40"},
             {"status", "closed"},
             {"olla_peak_bytes", "23104"},
             {"peak_bytes", "23104"},
             {"agreement", "same"}});
  ExpectRow("olla-ilp-summary.csv", {{"graphs", "generated"}}, {{"count", "3"}, {"tried", "3"}});
  // Together order and addresses need no less than one after the other.
  ExpectRow("olla-joint.csv", {{"graph", "irregular-8-4-1"}},
            {{"variables", "93"},
             {"constraints", "174"},
             {"joint_status", "closed"},
             {"joint_bytes", "14336"},
             {"split_status", "closed"},
             {"split_bytes", "14336"},
             {"height_bytes", "14336"},
             {"height_bound_bytes", "14336"}});
  ExpectRow("olla-joint-summary.csv", {{"graphs", "generated"}},
            {{"joint_closed", "2"}, {"joint_lower", "0"}, {"ours_same", "2"}});
  // A step more makes room for one operator that runs again; without it, something is copied.
  ExpectRow("olla-recomputation.csv",
            {{"graph", "cell-8-2-12"}, {"capacity_percent", "75"}, {"copies", "0"}},
            {{"published_status", "nothing fits"},
             {"status", "closed"},
             {"program_cost_ns", "96"},
             {"cost_ns", "96"},
             {"repeats", "1"},
             {"cost_bound_ns", "96"}});
  ExpectRow("olla-recomputation.csv",
            {{"graph", "cell-8-2-12"}, {"capacity_percent", "75"}, {"copies", "1"}},
            {{"published_status", "closed"},
             {"published_cost_ns", "384"},
             {"status", "closed"},
             {"program_cost_ns", "96"},
             {"cost_ns", "96"}});
  // A quarter of what the graph costs pays for the same operator, a tenth does not.
  ExpectRow("olla-recomputation-peak.csv",
            {{"graph", "cell-8-2-12"}, {"most_percent", "25"}, {"copies", "0"}},
            {{"most_cost_ns", "152"},
             {"least_peak_bytes", "4096"},
             {"published_status", "closed"},
             {"published_peak_bytes", "4096"},
             {"status", "closed"},
             {"program_peak_bytes", "2880"},
             {"peak_bytes", "2880"},
             {"peak_bound_bytes", "2880"},
             {"cost_ns", "96"},
             {"repeats", "1"}});
  ExpectRow("olla-recomputation-peak.csv",
            {{"graph", "cell-8-2-12"}, {"most_percent", "10"}, {"copies", "1"}},
            {{"most_cost_ns", "60"},
             {"status", "closed"},
             {"program_peak_bytes", "4096"},
             {"peak_bytes", "4096"},
             {"peak_bound_bytes", "4096"},
             {"cost_ns", "0"}});
  ExpectRow("olla-recomputation-peak-summary.csv",
            {{"graphs", "generated"}, {"most_percent", "25"}, {"copies", "0"}},
            {{"cases", "4"}, {"lower", "0"}, {"proved", "4"}});
  // Every closed program agrees.
  for (const auto& row : Csv("olla-ilp.csv")) {
    if (row[5] != "closed") continue;
    EXPECT_TRUE(row[10] == "same" || row[10] == "higher by its control edges; same without")
        << row[0];
  }
}

TEST_F(SuitesTest, OllaOnRealGraphs) {
  const std::string data = PublishedData("graphs");
  if (!std::filesystem::is_directory(data)) {
    GTEST_SKIP() << "BERTH_DATA names no folder with graphs";
  }
  const ProcessResult result =
      Lab({"suite", "olla", "--only", "figure7", "-o", Path("out"), "--data", data});
  ASSERT_EQ(result.exit_code, 0) << result.standard_output << result.standard_error;
  const auto rows = Csv("olla-figure7.csv");
  std::size_t graphs = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(data)) {
    graphs += entry.path().extension() == ".json" ? 1U : 0U;
  }
  EXPECT_EQ(rows.size(), graphs + 1);  // And the header.
  ExpectRow("olla-figure7.csv", {{"graph", "alexnet_b32"}},
            {{"group", "batch 32"},
             {"program_order_bytes", "339525028"},
             {"hoisted_updates_bytes", "250167300"},
             {"peak_bytes", "152698884"}});
  // The paper's means are 22.5 and 10.1 %.
  ExpectRow("olla-figure7-all.csv", {{"graph", "alexnet_b32"}},
            {{"program_order_bytes", "603195972"}, {"peak_bytes", "397102244"}, {"proved", "1"}});
  ExpectRow("olla-figure7-all-means.csv", {{"group", "batch 1"}},
            {{"graphs", "9"}, {"mean_reduction", "0.2306"}, {"paper_mean", "0.225"}});
  ExpectRow("olla-figure7-all-means.csv", {{"group", "batch 32"}},
            {{"graphs", "9"}, {"mean_reduction", "0.065967"}, {"paper_mean", "0.101"}});
}

}  // namespace
}  // namespace berth::lab
