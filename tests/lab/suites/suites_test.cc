// berth-lab suite: every experiment of every paper runs, says what it did and keeps its files.
#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tests/lab/suites/suites_process.h"
#include "tools/lab/method.h"

namespace berth::lab {
namespace {

using Json = nlohmann::json;

TEST_F(SuitesTest, TelaMallocQuickly) {
  const ProcessResult result = Run({"telamalloc"});
  EXPECT_EQ(result.exit_code, 0) << result.standard_output << result.standard_error;
  EXPECT_EQ(result.standard_error, "");
  EXPECT_EQ(result.standard_output.find("Faults"), std::string::npos);
  EXPECT_EQ(Files(), (std::set<std::string>{"telamalloc-conditions.json",
                                            "telamalloc-figure12.svg",
                                            "telamalloc-figure13-ratios.csv",
                                            "telamalloc-figure13.csv",
                                            "telamalloc-figure13.svg",
                                            "telamalloc-figure14-failures.csv",
                                            "telamalloc-figure14-failures.svg",
                                            "telamalloc-figure14-on-chip-failures.csv",
                                            "telamalloc-figure14-on-chip-failures.svg",
                                            "telamalloc-figure14-on-chip-runs.csv",
                                            "telamalloc-figure14-on-chip-steps.csv",
                                            "telamalloc-figure14-on-chip-steps.svg",
                                            "telamalloc-figure14-runs.csv",
                                            "telamalloc-figure14-steps.csv",
                                            "telamalloc-figure14-steps.svg",
                                            "telamalloc-figure19.csv",
                                            "telamalloc-figure19.svg",
                                            "telamalloc-figure3-steps.csv",
                                            "telamalloc-figure3.csv",
                                            "telamalloc-figure3.svg",
                                            "telamalloc-sensitivity-runs.csv",
                                            "telamalloc-sensitivity.csv",
                                            "telamalloc-steps-failures.csv",
                                            "telamalloc-steps-runs.csv",
                                            "telamalloc-steps.csv",
                                            "telamalloc-table1.csv",
                                            "telamalloc-table2.csv"}));
  // One step per buffer, as nothing fails.
  const auto table1 = Csv("telamalloc-table1.csv");
  ASSERT_EQ(table1.size(), 4U);
  EXPECT_EQ(table1[1][0], "non-overlapping-1K");
  EXPECT_EQ(table1[1][1], "1000");
  EXPECT_EQ(table1[3][1], "100");
  // The least memory, proved, and what the heuristic and the best greedy algorithm need of it.
  ExpectRow("telamalloc-table2.csv", {{"benchmark", "network-80-2"}},
            {{"buffers", "80"},
             {"least_bytes", "1048561"},
             {"least_proved", "1"},
             {"heuristic_ratio", "1.02374"},
             {"greedy_ratio", "1"}});
  ExpectRow("telamalloc-figure13.csv", {{"input", "network-160-4"}, {"algorithm", "auto"}},
            {{"least_bytes", "1048560"}, {"capacity_bytes", "1153416"}, {"status", "solved"}});
  ExpectRow("telamalloc-figure13-ratios.csv", {{"algorithm", "TelaMalloc"}},
            {{"median_ratio_to_telamalloc", "1"}});
  // 2,000 steps each.
  ExpectRow("telamalloc-figure14-failures.csv", {{"inputs_of", "all"}},
            {{"inputs", "44"},
             {"candidates", "4"},
             {"size", "13"},
             {"area", "7"},
             {"lifetime", "8"},
             {"lowest", "4"},
             {"guided", "0"}});
  // Six tables of what stays in a fast memory.
  ExpectRow("telamalloc-figure14-on-chip-failures.csv", {{"inputs_of", "on-chip"}},
            {{"inputs", "24"},
             {"candidates", "1"},
             {"size", "0"},
             {"area", "0"},
             {"lifetime", "2"},
             {"lowest", "0"},
             {"guided", "0"}});
  ExpectRow("telamalloc-figure14-steps.csv", {{"strategy", "TelaMalloc"}},
            {{"solved", "40"}, {"failed_before_it", "1"}, {"steps", "9578"}});
  ExpectRow("telamalloc-figure14-steps.csv", {{"strategy", "Berth guided"}},
            {{"solved", "44"}, {"steps", "2774"}});
  ExpectRow("telamalloc-figure14-on-chip-steps.csv", {{"strategy", "TelaMalloc"}},
            {{"solved", "23"}, {"steps", "3895"}});
  ExpectRow("telamalloc-figure14-on-chip-steps.csv", {{"strategy", "Berth guided"}},
            {{"solved", "24"}, {"steps", "1828"}});
  // The same inputs with a model at every step.
  ExpectRow("telamalloc-steps-failures.csv", {{"inputs_of", "all"}},
            {{"inputs", "68"},
             {"published", "5"},
             {"lowest-first", "3"},
             {"random", "3"},
             {"model", "1"},
             {"size", "13"},
             {"lowest", "4"}});
  ExpectRow("telamalloc-steps.csv", {{"strategy", "TelaMalloc"}},
            {{"solved", "63"}, {"steps", "13473"}});
  ExpectRow("telamalloc-steps.csv", {{"strategy", "model"}},
            {{"solved", "67"}, {"steps", "10649"}});
  ExpectRow("telamalloc-figure19.csv", {{"input", "network-160-4"}},
            {{"height_bytes", "1142660"}, {"steps", "185"}, {"failures", "25"}});
  EXPECT_EQ(Csv("telamalloc-sensitivity.csv").size(), 5U);  // Four searches.
  ExpectRow("telamalloc-sensitivity.csv", {{"algorithm", "TelaMalloc"}},
            {{"solved_a_byte_apart", "3"}, {"with_other_steps", "0"}, {"largest_ratio", "1"}});
  // Nothing is lower than the least.
  for (const auto& row : Csv("telamalloc-table2.csv")) {
    if (row[0] == "benchmark") continue;
    EXPECT_GE(std::stod(row[4]), 1) << row[0];
    EXPECT_GE(std::stod(row[6]), 1) << row[0];
  }
  // The highest of all steps is the height, and the solver stays below the limit.
  ExpectRow("telamalloc-figure3.csv", {{"input", "planted-140-2"}},
            {{"buffers", "140"}, {"limit_bytes", "1048576"}});
  const auto steps = Csv("telamalloc-figure3-steps.csv");
  std::vector<long long> highest(4);
  for (std::size_t r = 1; r < steps.size(); ++r) {
    for (std::size_t c = 1; c < 4; ++c) {
      highest[c] = std::max(highest[c], std::stoll(steps[r][c]));
    }
  }
  EXPECT_GE(highest[1], highest[3]);
  EXPECT_GE(highest[2], highest[3]);
  EXPECT_LE(highest[3], 1048576);
  EXPECT_EQ(steps.back()[3], "0");  // Nothing is live after the last step.
  const Json conditions = Json::parse(Read(Path("out/telamalloc-conditions.json")));
  EXPECT_EQ(conditions.at("experiments").size(), 9U);
  const Json& table1_conditions = conditions.at("experiments").at("table1");
  EXPECT_TRUE(table1_conditions.at("machine").at("cpu").is_string());
  EXPECT_EQ(table1_conditions.at("steps"), nullptr);
  // How busy the machine was, before and after.
  const Json& load = table1_conditions.at("load_average");
  for (const char* const when : {"begin", "end"}) {
    ASSERT_TRUE(load.at(when).is_number()) << when;
    EXPECT_GE(load.at(when).get<double>(), 0) << when;
    EXPECT_LT(load.at(when).get<double>(), 10'000) << when;
  }
  // An experiment that is run again replaces its own conditions alone.
  ASSERT_EQ(Run({"telamalloc", "--only", "table1", "--steps", "7"}).exit_code, 0);
  const Json joined = Json::parse(Read(Path("out/telamalloc-conditions.json")));
  EXPECT_EQ(joined.at("experiments").size(), 9U);
  EXPECT_EQ(joined.at("experiments").at("table1").at("steps"), 7);
}

// More inputs than there are tables: further seeds, and an even share of all sizes.
TEST_F(SuitesTest, MoreInputsThanThereAreByDefault) {
  const auto run = [this](const std::string& inputs) {
    const ProcessResult result =
        Run({"telamalloc", "--only", "figure14", "--inputs", inputs, "--steps", "300"});
    EXPECT_EQ(result.exit_code, 0) << result.standard_output << result.standard_error;
  };
  run("104");
  ExpectRow("telamalloc-figure14-failures.csv", {{"inputs_of", "all"}},
            {{"inputs", "104"}, {"candidates", "10"}, {"lowest", "4"}, {"guided", "0"}});
  ExpectRow("telamalloc-figure14-failures.csv", {{"inputs_of", "on-chip"}}, {{"inputs", "40"}});
  std::set<std::string> tables;
  for (const auto& row : Csv("telamalloc-figure14-runs.csv")) tables.insert(row[1]);
  EXPECT_EQ(tables.size(), 104 / 4 + 1U);  // And the header.
  run("20");
  ExpectRow("telamalloc-figure14-failures.csv", {{"inputs_of", "all"}}, {{"inputs", "20"}});
  // Of what fast memories keep there are six tables for each seed: the third fills up ten of these.
  const ProcessResult on_chip =
      Run({"telamalloc", "--only", "figure14-on-chip", "--inputs", "60", "--steps", "300"});
  EXPECT_EQ(on_chip.exit_code, 0) << on_chip.standard_output << on_chip.standard_error;
  ExpectRow("telamalloc-figure14-on-chip-failures.csv", {{"inputs_of", "on-chip"}},
            {{"inputs", "60"}});
  ExpectRow("telamalloc-figure14-on-chip-failures.csv", {{"inputs_of", "all"}}, {{"inputs", "60"}});
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
  EXPECT_EQ(
      Files(),
      (std::set<std::string>{
          "minimalloc-conditions.json", "minimalloc-figure10-runs.csv",
          "minimalloc-figure10-solved.svg", "minimalloc-figure10-times.svg",
          "minimalloc-figure10.csv", "minimalloc-figure11-planted-120-1.svg",
          "minimalloc-figure11-planted-140-2.svg", "minimalloc-figure11.csv",
          "minimalloc-figure8.csv", "minimalloc-figure8.svg", "minimalloc-figure9-shares.csv",
          "minimalloc-strips", "minimalloc-figure9.csv", "minimalloc-figure9.svg",
          "minimalloc-strips-failures.csv", "minimalloc-strips-least.csv",
          "minimalloc-strips-nodes.csv", "minimalloc-strips-runs.csv", "minimalloc-table2.csv"}));
  // Algorithms that the build lacks have their rows too.
  const auto figure8 = Csv("minimalloc-figure8.csv");
  std::set<std::string> algorithms;
  for (const auto& row : figure8) algorithms.insert(row[5]);
  EXPECT_TRUE(algorithms.contains("ilp"));
  EXPECT_TRUE(algorithms.contains("csp"));
  ExpectRow("minimalloc-figure8.csv", {{"input", "network-80-2"}, {"algorithm", "niche"}},
            {{"least_bytes", "1048561"}, {"capacity_bytes", "1153418"}, {"status", "solved"}});
  EXPECT_EQ(Csv("minimalloc-figure9.csv").size(),
            1 + 6U * 3 * 7);  // Tables, capacities, algorithms.
  ExpectRow("minimalloc-figure9-shares.csv", {{"algorithm", "Berth niche"}},
            {{"within_limit", "1"}});
  for (const char* buffers : {"20", "40", "60"}) {
    ExpectRow("minimalloc-figure10.csv", {{"buffers", buffers}},
              {{"instances", "1"}, {"canonical_solved", "1"}, {"niche_solved", "1"}});
  }
  // Instead of the published tables, packings.
  ExpectRow("minimalloc-table2.csv", {{"input", "planted-120-1"}, {"algorithm", "niche"}},
            {{"buffers", "120"},
             {"least_bytes", "1006632"},
             {"capacity_bytes", "1048576"},
             {"status", "solved"}});
  ExpectRow("minimalloc-figure11.csv", {{"input", "planted-120-1"}}, {{"buffers", "120"}});
  // Strip packing: 2,000 nodes each.
  EXPECT_EQ(Read(Path("out/minimalloc-strips/N1-1.40.csv")).substr(0, 34),
            "id,lower,upper,size\n0,0,3,9\n1,0,34");
  ExpectRow("minimalloc-strips-least.csv", {{"family", "classes 7-10 by least load"}},
            {{"inputs", "4"}, {"least_proved", "3"}, {"least_above_load", "1"}});
  ExpectRow("minimalloc-strips-failures.csv", {{"inputs_of", "all"}},
            {{"inputs", "29"},
             {"canonical", "2"},
             {"telamalloc", "6"},
             {"guided", "0"},
             {"niche", "0"},
             {"auto", "0"}});
  ExpectRow("minimalloc-strips-nodes.csv", {{"strategy", "Berth guided"}},
            {{"solved", "29"}, {"steps", "1569"}});
}

// The paper's pictures are of G and K (Figure 11).
TEST_F(SuitesTest, MiniMallocShowsThePlansOfThePaper) {
  const std::string data = PublishedData("buffers");
  if (!std::filesystem::is_directory(data + "/challenging")) {
    GTEST_SKIP() << "BERTH_DATA names no folder with buffers/challenging";
  }
  const ProcessResult result =
      Lab({"suite", "minimalloc", "--only", "figure11", "--data", data, "-o", Path("out")});
  ASSERT_EQ(result.exit_code, 0) << result.standard_output << result.standard_error;
  EXPECT_EQ(Files(), (std::set<std::string>{
                         "minimalloc-conditions.json", "minimalloc-figure11-challenging-G.svg",
                         "minimalloc-figure11-challenging-K.svg", "minimalloc-figure11.csv"}));
  ExpectRow("minimalloc-figure11.csv", {{"input", "challenging-G"}},
            {{"buffers", "308"},
             {"load_bytes", "1048576"},
             {"height_bytes", "1048576"},
             {"nodes", "5409"}});
  ExpectRow("minimalloc-figure11.csv", {{"input", "challenging-K"}},
            {{"buffers", "454"},
             {"load_bytes", "1048576"},
             {"height_bytes", "1048576"},
             {"nodes", "10110"}});
}

// Of the published tables only the solver's plans stay below the limit (Figure 3 of the paper).
TEST_F(SuitesTest, TelaMallocsLiveMemory) {
  const std::string data = PublishedData("buffers");
  if (!std::filesystem::is_directory(data + "/challenging")) {
    GTEST_SKIP() << "BERTH_DATA names no folder with buffers/challenging";
  }
  const ProcessResult result =
      Lab({"suite", "telamalloc", "--only", "figure3", "--data", data, "-o", Path("out")});
  ASSERT_EQ(result.exit_code, 0) << result.standard_output << result.standard_error;
  const auto rows = Csv("telamalloc-figure3.csv");
  ASSERT_EQ(rows.size(), 12U);
  for (std::size_t r = 1; r < rows.size(); ++r) {
    SCOPED_TRACE(rows[r][0]);
    EXPECT_LE(std::stod(rows[r][8]), 1);
    EXPECT_GT(std::stod(rows[r][6]), 1);
    EXPECT_GT(std::stod(rows[r][4]), std::stod(rows[r][6]));
  }
  ExpectRow("telamalloc-figure3.csv", {{"input", "challenging-A"}},
            {{"bfc_bytes", "1837056"}, {"heuristic_bytes", "1218560"}, {"auto_bytes", "1048576"}});
}

// Algorithms that are left out have no runs.
TEST_F(SuitesTest, ComparesTheAlgorithmsThatAreNamed) {
  ASSERT_EQ(Run({"minimalloc", "--only", "figure8", "--algorithms", "niche,auto"}).exit_code, 0);
  for (const auto& row : Csv("minimalloc-figure8.csv")) {
    if (row[5] == "algorithm") continue;
    EXPECT_EQ(row[6], row[5] == "niche" || row[5] == "auto" ? "solved" : "left out") << row[5];
  }
  ExpectRefused(Lab({"suite", "minimalloc", "--algorithms", "nich"}), "did you mean 'niche'?");
}

// The published tables have a capacity of 1 MiB; MiniMalloc solves all, and neither the ILP nor
// TelaMalloc solves any (Table 2 of the paper).
TEST_F(SuitesTest, MiniMallocOnThePublishedTables) {
  const std::string data = PublishedData("buffers");
  if (!std::filesystem::is_directory(data + "/challenging")) {
    GTEST_SKIP() << "BERTH_DATA names no folder with buffers/challenging";
  }
  const ProcessResult result =
      Lab({"suite", "minimalloc", "--only", "table2", "--inputs", "3", "--rounds", "1",
           "--time-limit", "2s", "--data", data, "-o", Path("out")});
  ASSERT_EQ(result.exit_code, 0) << result.standard_output << result.standard_error;
  for (const auto& [input, buffers] :
       Fields{{"challenging-A", "154"}, {"challenging-B", "170"}, {"challenging-C", "203"}}) {
    for (const char* algorithm : {"niche", "auto"}) {  // In milliseconds; the others need seconds.
      ExpectRow("minimalloc-table2.csv", {{"input", input}, {"algorithm", algorithm}},
                {{"buffers", buffers}, {"capacity_bytes", "1048576"}, {"status", "solved"}});
    }
  }
  ExpectRow("minimalloc-table2.csv", {{"input", "challenging-A"}, {"algorithm", "telamalloc"}},
            {{"least_bytes", "1048576"}, {"least_proved", "1"}});
}

TEST_F(SuitesTest, MemoriesQuickly) {
  const ProcessResult result = Run({"memories", "--time-limit", "10s"});
  EXPECT_EQ(result.exit_code, 0) << result.standard_output << result.standard_error;
  EXPECT_EQ(result.standard_output.find("Faults"), std::string::npos);
  EXPECT_EQ(Files(), (std::set<std::string>{"memories-conditions.json", "memories-choice.csv",
                                            "memories-repack.csv"}));
  const auto number = [](const std::vector<std::vector<std::string>>& rows, std::size_t row,
                         const std::string& name) {
    const auto at = std::find(rows[0].begin(), rows[0].end(), name) - rows[0].begin();
    return std::stod(rows[row][static_cast<std::size_t>(at)]);
  };
  const auto choice = Csv("memories-choice.csv");
  const auto repack = Csv("memories-repack.csv");
  ASSERT_EQ(choice.size(), 1 + 3 * 3U);  // Three tables, three capacities.
  ASSERT_EQ(repack.size(), choice.size());
  for (std::size_t i = 1; i < choice.size(); ++i) {
    SCOPED_TRACE(choice[i][0]);
    const double bound = number(choice, i, "bound_percent");
    EXPECT_LE(number(choice, i, "benefit_percent"), bound);
    for (const char* column : {"objects_percent", "stacked_percent", "none_percent", "xla_percent",
                               "telamalloc_percent", "place_percent", "repack_percent"}) {
      EXPECT_LE(number(repack, i, column), bound) << column;
    }
    EXPECT_LE(number(repack, i, "none_percent"), number(repack, i, "repack_percent"));
    EXPECT_LE(number(repack, i, "place_percent"), number(repack, i, "repack_percent"));
  }
  ExpectRow("memories-choice.csv", {{"table", "planted-120-1"}, {"capacity_percent", "50"}},
            {{"buffers", "120"}, {"benefit_percent", "38.37"}, {"proved", "yes"}});
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
  for (const std::string figure : {"figure3", "figure4"}) {
    for (const std::string end : {"-cost.csv", "-cost-summary.csv"}) {
      files.insert("cosma-" + figure + end);
    }
  }
  files.insert({"cosma-scratchpads.csv", "cosma-elements.csv", "cosma-elements-summary.csv"});
  const bool programs = CheckAvailable(*MethodFromName("ilp")).has_value();
  if (programs) files.insert({"cosma-programs.csv", "cosma-programs-summary.csv"});
  EXPECT_EQ(Files(), files);
  ExpectRow("cosma-elements.csv",
            {{"network", "irregular-30-8-1"},
             {"budget", "MR"},
             {"elements", "2"},
             {"crossing", "off chip"}},
            {{"used_elements", "2"},
             {"crossing_bytes", "30720"},
             {"all_orders_bytes", "26048"},
             {"all_orders_proved", "1"},
             {"element_0_bytes", "26048"},
             {"element_1_bytes", "0"},
             {"shared_bytes", "0"}});
  if (programs) {
    // The second graph's program over all orders takes a second or more.
    ExpectRow("cosma-programs.csv", {{"network", "irregular-8-4-1"}, {"budget", "MR"}},
              {{"fs_program_bytes", "19328"},
               {"fs_program_closed", "1"},
               {"fs_least_peak_bytes", "0"},
               {"fs_least_peak_closed", "1"},
               {"joint_bytes", "0"},
               {"joint_closed", "1"},
               {"all_orders_bytes", "0"}});
    ExpectRow("cosma-programs-summary.csv", {{"program", "FS in program order"}},
              {{"cases", "6"}, {"closed", "6"}, {"same", "3"}, {"less", "3"}, {"more", "0"}});
  }
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
  // Traffic, proved least over the program order, over the order of least peak and over all orders.
  const Fields halfway = {{"capacity_bytes", "33568"},
                          {"program_belady_bytes", "147584"},
                          {"peak_greedy_bytes", "75968"},
                          {"program_bytes", "107776"},
                          {"program_lower_bound_bytes", "107776"},
                          {"least_peak_bytes", "18112"},
                          {"all_orders_bytes", "17664"},
                          {"all_orders_lower_bound_bytes", "17664"}};
  for (const char* figure : {"cosma-figure3.csv", "cosma-figure4.csv"}) {
    ExpectRow(figure, {{"network", "irregular-30-8-1"}, {"budget", "MH"}}, halfway);
  }
  // What that costs: 162.5 pJ for each byte, and times on the accelerator.
  ExpectRow("cosma-figure3-cost.csv", {{"network", "irregular-30-8-1"}, {"budget", "MH"}},
            {{"computing_seconds", "4.151e-06"},
             {"program_belady_picojoules", "23982400"},
             {"program_belady_seconds", "1.5973e-05"},
             {"program_belady_one_by_one_seconds", "1.7881e-05"},
             {"all_orders_picojoules", "2870400"}});
  ExpectRow("cosma-figure3-cost-summary.csv", {{"scheme", "program_belady"}},
            {{"cases", "12"}, {"slower_cases", "0"}, {"picojoules_MR", "102294400"}});
  // Two networks from their published cells.
  ExpectRow("cosma-figure4.csv", {{"network", "amoebanet_d"}, {"budget", "MR"}},
            {{"capacity_bytes", "3211264"}, {"peak_belady_bytes", "7526400"}});
  ExpectRow("cosma-figure4.csv", {{"network", "nasnet_a"}, {"budget", "MP"}},
            {{"capacity_bytes", "3193536"},
             {"peak_belady_bytes", "526848"},
             {"least_peak_bytes", "0"},
             {"all_orders_bytes", "0"}});
  ExpectRow("cosma-training.csv", {{"network", "cell-30-8-1"}, {"budget", "MR"}},
            {{"capacity_bytes", "55296"},
             {"program_belady_bytes", "48384"},
             {"program_bytes", "16384"},
             {"all_orders_bytes", "16384"}});
}

TEST_F(SuitesTest, RecomputeQuickly) {
  const ProcessResult result = Run({"recompute", "--time-limit", "2s"});
  EXPECT_EQ(result.exit_code, 0) << result.standard_output << result.standard_error;
  EXPECT_EQ(result.standard_output.find("Faults"), std::string::npos);
  std::set<std::string> files = {"recompute-conditions.json", "recompute-moccasin.csv",
                                 "recompute-training.csv", "recompute-joint.csv"};
  const bool solver = Info(Baseline::kIlp).available();
  if (solver) files.insert("recompute-programs.csv");
  EXPECT_EQ(Files(), files);
  EXPECT_EQ(Csv("recompute-moccasin.csv").size(), 1 + 2 * 3U);  // Two graphs, three budgets.
  EXPECT_EQ(Csv("recompute-training.csv").size(), 1 + 2 * 4U);
  // Two graphs fit in 90 % alone, with three links.
  EXPECT_EQ(Csv("recompute-joint.csv").size(), 1 + 2 * 3U);
  // All closed, so the same on every machine.
  ExpectRow("recompute-training.csv", {{"graph", "cell-20-4-1"}, {"capacity_percent", "90"}},
            {{"capacity_bytes", "51092"},
             {"cost_of_all", "185024"},
             {"any_cost", "8192"},
             {"any_cost_bound", "8192"},
             {"fixed_cost", "8192"},
             {"peak_cost", "8192"},
             {"partition_cost", "8192"},
             {"checkmate_cost", solver ? "8192" : ""}});
  ExpectRow(
      "recompute-joint.csv", {{"graph", "cell-20-4-1"}, {"link_part", "10"}},
      {{"recompute_ns", "512"}, {"copies_ns", "10240"}, {"both_ns", "512"}, {"bound_ns", "512"}});
  ExpectRow("recompute-moccasin.csv", {{"graph", "irregular-20-4-1"}, {"capacity_percent", "90"}},
            {{"capacity_bytes", "28397"}, {"any_cost", ""}, {"checkmate_cost", ""}});
  if (!solver) return;
  for (const char* program : {"Checkmate", "POET"}) {
    ExpectRow("recompute-programs.csv",
              {{"graph", "irregular-8-4-1"}, {"capacity_percent", "90"}, {"program", program}},
              {{"program_cost_ns", "672"}, {"closed", "1"}, {"cost_bound_ns", "672"}});
  }
}

// Proved, of Checkmate's FCN8 in the order of the file; the published figure is 0.0 %.
TEST_F(SuitesTest, RecomputeOnMoccasinsGraphs) {
  const std::string graph = PublishedData("remat") + "/fcn8_vgg_32.json";
  if (!std::filesystem::exists(graph)) GTEST_SKIP() << "BERTH_DATA names no folder with remat";
  const ProcessResult result = Lab(
      {"suite", "recompute", graph, "--only", "moccasin", "--time-limit", "2s", "-o", Path("out")});
  ASSERT_EQ(result.exit_code, 0) << result.standard_output << result.standard_error;
  ExpectRow("recompute-moccasin.csv", {{"capacity_percent", "90"}},
            {{"capacity_bytes", "12136315968"},
             {"cost_of_all", "10275337746048"},
             {"partition_cost", "13985906688"},
             {"checkpoints_cost", "461534920704"},
             {"published_checkmate_percent", "0"}});
}

TEST_F(SuitesTest, BoardsOnAModel) {
  const ProcessResult result = Run({"boards", BERTH_SOURCE_DIR "/examples/cells.onnx"});
  EXPECT_EQ(result.exit_code, 0) << result.standard_output << result.standard_error;
  EXPECT_EQ(Files(), (std::set<std::string>{"boards-conditions.json", "boards-esp32.csv",
                                            "boards-rt1170.csv"}));
  for (const char* name : {"boards-esp32.csv", "boards-rt1170.csv"}) {
    const auto rows = Csv(name);
    ASSERT_EQ(rows.size(), 2U);
    const auto number = [&](const std::string& key) {
      const auto column = std::find(rows[0].begin(), rows[0].end(), key) - rows[0].begin();
      return std::stoll(rows[1][static_cast<std::size_t>(column)]);
    };
    EXPECT_LE(number("cost_bound_ns"), number("cost_ns"));
    EXPECT_LE(number("cost_ns"), number("largest_first_ns"));
    EXPECT_LE(number("cost_ns"), number("usmp_size_ns"));
    EXPECT_LE(number("cost_ns"), number("usmp_conflicts_ns"));
    EXPECT_GT(number("cost_ns"), 0);
  }
}

// The least traffic of HMCOS's AmoebaNet in program order, proved.
TEST_F(SuitesTest, CosmaOnRealGraphs) {
  const std::string data = PublishedData("graphs");
  const std::string model = data + "/inference/hmcos_amoebanet_cifar.onnx";
  if (!std::filesystem::exists(model)) {
    GTEST_SKIP() << "BERTH_DATA names no folder with graphs/inference";
  }
  const ProcessResult result =
      Lab({"suite", "cosma", model, "--only", "figure4", "--time-limit", "5s", "-o", Path("out")});
  ASSERT_EQ(result.exit_code, 0) << result.standard_output << result.standard_error;
  ExpectRow("cosma-figure4.csv", {{"budget", "MR"}},
            {{"capacity_bytes", "231660"},
             {"program_belady_bytes", "3784408"},
             {"program_bytes", "2332672"},
             {"program_lower_bound_bytes", "2332672"}});
}

TEST_F(SuitesTest, ModelsStandForTheNetworks) {
  const std::string model = BERTH_SOURCE_DIR "/examples/cells.onnx";
  const ProcessResult result = Run({"cosma", model, "--only", "figure4"});
  ASSERT_EQ(result.exit_code, 0) << result.standard_error;
  const auto rows = Csv("cosma-figure4.csv");
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[1][0], "cells");
  ExpectRefused(Lab({"suite", "cosma", "--data", Path("nowhere")}),
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
  // Lists of names take no tables that follow them.
  std::filesystem::remove(Path("out/telamalloc-table2.csv"));
  const ProcessResult behind =
      Run({"telamalloc", "--algorithms", "niche", "--only", "table2", SmallTable()});
  ASSERT_EQ(behind.exit_code, 0) << behind.standard_error;
  const auto again = Csv("telamalloc-table2.csv");
  ASSERT_EQ(again.size(), 2U);
  // All but the times.
  for (std::size_t column = 0; column < 5; ++column) EXPECT_EQ(again[1][column], table[1][column]);
}

TEST_F(SuitesTest, ProofsAreCheckedAndMeasured) {
  const ProcessResult result = Run({"proofs", "--only", "full,least", "--time-limit", "60s"});
  EXPECT_EQ(result.exit_code, 0) << result.standard_output << result.standard_error;
  EXPECT_EQ(Files(), (std::set<std::string>{"proofs-conditions.json", "proofs-full.csv",
                                            "proofs-least.csv"}));
  const auto rows = Csv("proofs-full.csv");
  ASSERT_GE(rows.size(), 3U);
  const auto column = std::find(rows[0].begin(), rows[0].end(), "proof_bytes") - rows[0].begin();
  for (std::size_t k = 1; k < rows.size(); ++k) {
    EXPECT_GT(std::stoll(rows[k][static_cast<std::size_t>(column)]), 0);
  }
}

TEST_F(SuitesTest, ProofsOfOrdersAreCheckedAndMeasured) {
  const ProcessResult result = Run({"order-proofs", "--time-limit", "60s"});
  EXPECT_EQ(result.exit_code, 0) << result.standard_output << result.standard_error;
  EXPECT_EQ(result.standard_output.find("refused"), std::string::npos) << result.standard_output;
  EXPECT_EQ(Files(),
            (std::set<std::string>{"order-proofs-conditions.json", "order-proofs-graphs.csv",
                                   "order-proofs-irregular.csv"}));
  for (const char* file : {"order-proofs-graphs.csv", "order-proofs-irregular.csv"}) {
    const auto rows = Csv(file);
    ASSERT_EQ(rows.size(), 3U) << file;
    const auto column = std::find(rows[0].begin(), rows[0].end(), "proof_bytes") - rows[0].begin();
    for (std::size_t k = 1; k < rows.size(); ++k) {
      EXPECT_GT(std::stoll(rows[k][static_cast<std::size_t>(column)]), 0);
    }
  }
}

TEST_F(SuitesTest, RefusesWhatItDoesNotKnow) {
  ExpectRefused(
      Lab({"suite", "other"}),
      "there is no suite 'other'; there are telamalloc, minimalloc, olla, cosma, recompute, "
      "memories, boards, proofs, order-proofs");
  ExpectRefused(Lab({"suite", "minimalloc", "--only", "table1"}),
                "--only: the suite minimalloc has no 'table1'; it has figure8, figure9");
  ExpectRefused(Lab({"suite", "telamalloc", "--data", Path("nowhere")}),
                "holds neither models/ nor challenging/");
  ExpectRefused(Lab({"suite", "telamalloc", Path("absent.csv"), "--only", "table2"}), "absent.csv");
  ExpectRefused(Lab({"suite", "olla", "--data", Path("nowhere")}),
                "holds neither training/ nor inference/");
  const auto many = Lab({"suite", "telamalloc", "--only", "figure14", "--inputs", "1000000"});
  EXPECT_EQ(many.exit_code, 2);
  EXPECT_NE(many.standard_error.find("1000000 is more than the 100,000 that figure14 makes"),
            std::string::npos)
      << many.standard_error;
  ExpectRefused(Lab({"suite", "olla", SmallTable(), "--only", "figure7"}),
                "not a model, but a table of buffers");
  ExpectRefused(Lab({"bench", SmallTable(), "--quick"}), "unknown option '--quick'");
  ExpectRefused(Lab({"suite"}), "NAME is missing");
  ExpectRefused(Lab({"bench"}), "TABLES is missing");
  ExpectRefused(Lab({"suite", "telamalloc", "--json", Path("x.json")}), "--json");
}

}  // namespace
}  // namespace berth::lab
