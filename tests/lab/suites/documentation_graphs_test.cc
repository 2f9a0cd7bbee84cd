// What the documentation says of experiments with graphs and with several memories is what the kept results say.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "tests/lab/suites/documentation.h"

namespace berth::lab {
namespace {

TEST(Documentation, ScratchpadsOfActivationsAndWeights) {
  const auto rows = Results("cosma/cosma-scratchpads.csv");
  ASSERT_EQ(rows.size(), 60U);
  for (const Row& row : rows) {
    SCOPED_TRACE(row.at("network") + ", " + row.at("budget"));
    EXPECT_EQ(row.at("all_orders_proved"), "1");
    EXPECT_EQ(row.at("all_orders_bytes"), row.at("all_orders_lower_bound_bytes"));
    EXPECT_LE(Number(row, "all_orders_bytes"), Number(row, "program_bytes"));
    EXPECT_LE(Number(row, "all_orders_bytes"), Number(row, "least_peak_bytes"));
  }
  EXPECT_NE(Tables(kPapers, "## COSMA").section().find("All 60 cases are proved"),
            std::string::npos);
}

// The elements: sums of the cases with operators on more than one.
TEST(Documentation, ScratchpadsOfElements) {
  const Tables tables(kPapers, "## COSMA");
  const auto rows = Results("cosma/cosma-elements-summary.csv");
  ASSERT_EQ(rows.size(), 12U);
  for (const Row& row : rows) {
    std::vector<double> wanted = {Number(row, "proved")};
    for (const std::string column :
         {"crossing", "program", "least_peak", "all_orders", "all_orders_lower_bound", "shared"}) {
      wanted.push_back(Number(row, column + "_bytes") / 1e6);
    }
    tables.Expect(row.at("elements") + ", " + row.at("crossing") + ", " + row.at("budget"), wanted);
  }
  std::map<std::string, int> proved;
  std::map<std::string, int> cases;
  for (const Row& row : Results("cosma/cosma-elements.csv")) {
    EXPECT_GE(Number(row, "all_orders_bytes"), Number(row, "all_orders_lower_bound_bytes"));
    if (row.at("used_elements") == "1") continue;
    ++cases[row.at("crossing")];
    proved[row.at("crossing")] += row.at("all_orders_proved") == "1" ? 1 : 0;
  }
  const std::string& text = tables.section();
  for (const std::string crossing : {"off chip", "direct"}) {
    const std::string count =
        std::to_string(proved[crossing]) + " of the " + std::to_string(cases[crossing]);
    EXPECT_NE(text.find(count), std::string::npos) << crossing << ": " << count;
  }
}

TEST(Documentation, NetworksOfOlla) {
  const Tables tables(kPapers, "### GoogLeNet, EfficientNet, MNASNet and XLM-R large");
  const std::map<std::string, std::string> names = {{"googlenet", "GoogLeNet"},
                                                    {"efficientnet_b0", "EfficientNet-B0"},
                                                    {"mnasnet1_0", "MNASNet"},
                                                    {"xlmr_large", "XLM-R large"}};
  const auto order = Results("olla/networks/olla-figure7.csv");
  const auto all = Results("olla/networks/olla-figure7-all.csv");
  const auto fragmentation = Results("olla/networks/olla-figure8.csv");
  const auto times = Results("olla/networks/olla-figure9.csv");
  ASSERT_EQ(order.size(), 8U);
  for (std::size_t k = 0; k < order.size(); ++k) {
    const std::string& graph = order[k].at("graph");
    for (const auto* const rows : {&all, &fragmentation, &times}) {
      ASSERT_EQ(rows->at(k).at("graph"), graph);
    }
    const std::size_t batch = graph.rfind("_b");
    const std::string name = names.at(graph.substr(0, batch)) + ", " + graph.substr(batch + 2);
    EXPECT_EQ(order[k].at("proved"), "1") << name;
    EXPECT_EQ(fragmentation[k].at("planned_fragmentation"), "0") << name;
    const double program = Number(order[k], "program_order_bytes");
    const double unit = program >= 1 << 30 ? 1 << 30 : 1 << 20;
    tables.Expect(
        name, {Number(order[k], "operators"), program / unit, Number(order[k], "peak_bytes") / unit,
               100 * Number(order[k], "reduction"), 100 * Number(all[k], "reduction"),
               100 * Number(fragmentation[k], "fragmentation"),
               1000 * Number(times[k], "median_seconds")});
  }
}

// OLLA's program with operators that run again, and with copies.
TEST(Documentation, RecomputationByOlla) {
  const Tables tables(kPapers, "### Recomputation and swaps in the program");
  const auto rows = Results("olla/olla-recomputation-summary.csv");
  ASSERT_EQ(rows.size(), 8U);
  for (const Row& row : rows) {
    const std::string copies = row.at("copies") == "1" ? ", with copies" : "";
    tables.Expect(
        row.at("graphs") + ", " + row.at("program") + copies,
        {Number(row, "cases"), Number(row, "closed"), Number(row, "nothing_fits"),
         Number(row, "with_plan"), Number(row, "berth_with_plan"), Number(row, "closed_same"),
         Number(row, "berth_cheaper"), Number(row, "median_ratio")});
  }
  // With steps to spare, no closed program says anything else than Berth.
  for (const Row& row : Results("olla/olla-recomputation.csv")) {
    if (row.at("status") != "closed") continue;
    EXPECT_GE(Number(row, "program_cost_ns"), Number(row, "cost_bound_ns")) << row.at("graph");
    EXPECT_EQ(row.at("program_cost_ns"), row.at("cost_ns")) << row.at("graph");
  }
}

// The same program for the least peak at a bounded cost.
TEST(Documentation, LeastPeakByOlla) {
  const Tables tables(kPapers, "### The least peak at a bounded cost");
  const auto rows = Results("olla/olla-recomputation-peak-summary.csv");
  ASSERT_EQ(rows.size(), 12U);
  for (const Row& row : rows) {
    const std::string copies = row.at("copies") == "1" ? ", with copies" : "";
    tables.Expect(
        row.at("graphs") + ", " + row.at("most_percent") + " %" + copies,
        {Number(row, "cases"), Number(row, "published_closed"), Number(row, "published_higher"),
         Number(row, "closed"), Number(row, "closed_same"), Number(row, "higher"),
         Number(row, "lower"), Number(row, "proved"), 100 * Number(row, "mean_saved"),
         Number(row, "median_ratio")});
  }
  for (const Row& row : Results("olla/olla-recomputation-peak.csv")) {
    SCOPED_TRACE(row.at("graph") + ", " + row.at("most_percent") + ", " + row.at("copies"));
    const double bound = Number(row, "peak_bound_bytes");
    EXPECT_GE(Number(row, "peak_bytes"), bound);
    EXPECT_LE(Number(row, "cost_ns"), Number(row, "most_cost_ns"));
    for (const std::string program : {"published", "program"}) {
      if (!row.at(program + "_peak_bytes").empty()) {
        EXPECT_GE(Number(row, program + "_peak_bytes"), bound);
      }
    }
    if (row.at("status") == "closed") {
      EXPECT_EQ(row.at("program_peak_bytes"), row.at("peak_bytes"));
    }
  }
}

TEST(Documentation, OrderAndFragmentationByOlla) {
  const Tables tables(kPapers, "### Figures 7, 8 and 13: order, fragmentation, both");
  const auto row = [](const std::string& name, const std::string& column, bool paper) {
    const auto rows = Results("olla/olla-" + name + "-means.csv");
    EXPECT_EQ(rows.size(), 3U);
    std::vector<double> numbers;
    for (const Row& of : rows) {
      numbers.push_back(100 * Number(of, column));
      if (paper && numbers.size() < 4) numbers.push_back(100 * Number(of, "paper_mean"));
    }
    return numbers;
  };
  tables.Expect("Figure 7: reduction of the peak by the order",
                row("figure7", "mean_reduction", true));
  const auto most = row("figure7", "most_reduction", false);
  tables.Expect("the largest reduction of any graph", {most[0], 38, most[1], NAN, most[2]});
  tables.Expect("Figure 8: fragmentation of PyTorch's allocator",
                row("figure8", "mean_fragmentation", true));
  const std::vector<Row> first = Results("olla/olla-figure8-means-first.csv");
  tables.Expect("the same, when its memory reaches its peak",
                {100 * Number(first[0], "mean_fragmentation"), NAN,
                 100 * Number(first[1], "mean_fragmentation"), NAN,
                 100 * Number(first[2], "mean_fragmentation")});
  tables.Expect("Figure 13: reduction by both", row("figure13", "mean_reduction", true));
  const auto plans = Results("olla/olla-figure8.csv");
  for (const Row& plan : plans) {
    EXPECT_EQ(plan.at("arena_bytes"), plan.at("peak_bytes")) << plan.at("graph");
    EXPECT_EQ(plan.at("planned_fragmentation"), "0") << plan.at("graph");
  }
  tables.ExpectWords("the plans of all " + std::to_string(plans.size()) + " graphs");
  // With weights and inputs, in the introduction of the section.
  const Tables introduction(kPapers, "## OLLA");
  introduction.ExpectWords("Here there are " + std::to_string(plans.size()) + " graphs");
  const auto all = row("figure7-all", "mean_reduction", false);
  const auto all_most = row("figure7-all", "most_reduction", false);
  char words[128];
  std::snprintf(words, sizeof words, "saves %.1f %% of the nine steps at batch 1", all[0]);
  introduction.ExpectWords(words);
  std::snprintf(words, sizeof words, "%.0f %% at most (38 %%), and %.1f %% at batch 32 (10.1 %%)",
                all_most[0], all[1]);
  introduction.ExpectWords(words);
  std::snprintf(words, sizeof words, "%.0f %% at most. The paper", all_most[1]);
  introduction.ExpectWords(words);
}

TEST(Documentation, WorkspacesOfConvolutions) {
  const Tables tables(kPapers, "### Figures 7, 8 and 13: order, fragmentation, both");
  std::map<std::string, Row> means;
  for (const Row& row : Results("olla/olla-workspaces-means.csv"))
    means[row.at("model") + ", " + row.at("group")] = row;
  ASSERT_EQ(means.size(), 9U);
  for (const auto& [name, row] : means)
    EXPECT_EQ(row.at("mean_planned_fragmentation"), "0") << name;
  const auto of = [&](const std::string& model, const std::string& column) {
    const Row& one = means[model + ", batch 1"];
    const Row& many = means[model + ", batch 32"];
    const bool paper = column == "mean_fragmentation";
    return std::vector<double>{100 * Number(one, column), paper ? 7.9 : NAN,
                               100 * Number(many, column), paper ? 26.1 : NAN};
  };
  for (const std::string model :
       {"without workspaces", "im2col of one image", "im2col of the batch"}) {
    tables.Expect(model, of(model, "mean_fragmentation"));
  }
  tables.Expect("when its memory reaches its peak, without",
                of("without workspaces", "mean_first_fragmentation"));
  tables.Expect("the same, im2col of the batch",
                of("im2col of the batch", "mean_first_fragmentation"));
  int unknown = 0;  // Of inference.
  int convolutions = 0;
  int graphs = 0;
  for (const Row& row : Results("olla/olla-workspaces.csv")) {
    const std::string& graph = row.at("graph");
    const bool training = graph.ends_with("_b1") || graph.ends_with("_b32");
    if (row.at("model") != "image" || training) continue;
    unknown += std::stoi(row.at("unknown"));
    convolutions += std::stoi(row.at("convolutions"));
    ++graphs;
  }
  EXPECT_EQ(graphs, 18);
  EXPECT_EQ(unknown, 1047);
  EXPECT_EQ(convolutions, 2714);
  tables.ExpectWords("1,047 of 2,714");
}

TEST(Documentation, TimesOfOlla) {
  const Tables order(kPapers, "### Figures 9 and 10: ordering time");
  const Row all = Results("olla/olla-figure9-medians.csv").front();
  EXPECT_EQ(all.at("graphs"), "36");
  for (const Row& row : Results("olla/olla-figure9.csv")) EXPECT_EQ(row.at("proved"), "1");
  order.Expect("Berth", {1e3 * Number(all, "median_seconds"), 1e3 * Number(all, "most_seconds")});
  const Tables addresses(kPapers, "### Figures 11 and 12: address time");
  const auto rows = Results("olla/olla-figure11-medians.csv");
  ASSERT_EQ(rows.size(), 4U);
  const std::vector<std::string> names = {"baseline heuristic", "OLLA's program (15), CBC",
                                          "the same after preplacing the pyramid (Function 5)",
                                          "Berth `auto`"};
  for (std::size_t k = 0; k < rows.size(); ++k) {
    EXPECT_EQ(rows[k].at("graphs"), "36");
    const double most = Number(rows[k], "most_seconds");
    addresses.Expect(names[k], {Number(rows[k], "placed"), 1e3 * Number(rows[k], "median_seconds"),
                                most >= 1 ? most : 1e3 * most});
  }
}

TEST(Documentation, MemorySavedOverTime) {
  const Tables tables(kPapers, "### Figures 9 and 10: ordering time");
  std::map<std::string, Row> rows;
  for (const Row& row : Results("olla/olla-figure10.csv")) {
    rows[row.at("graph")] = row;
    if (row.at("graph").rfind("irregular-", 0) == 0) continue;
    EXPECT_EQ(row.at("proved"), "1") << row.at("graph");
    EXPECT_LE(Number(row, "seconds"), 0.03) << row.at("graph");
  }
  ASSERT_EQ(rows.size(), 7U);
  const Row& narrow = rows["irregular-400-16-1"];
  const Row& middle = rows["irregular-400-32-1"];
  const Row& wide = rows["irregular-400-64-1"];
  EXPECT_EQ(narrow.at("proved") + middle.at("proved") + wide.at("proved"), "110");
  char words[160];
  std::snprintf(
      words, sizeof words,
      "width 16 is proved in %.2f s and width 32 in %.1f s; width 64 has a gap of %.1f %% when "
      "the default effort is spent, after %.1f s",
      Number(narrow, "seconds"), Number(middle, "seconds"), 100 * Number(wide, "gap"),
      Number(wide, "seconds"));
  tables.ExpectWords(words);
}

TEST(Documentation, FragmentationOverTime) {
  const Tables tables(kPapers, "### Figures 11 and 12: address time");
  for (const Row& row : Results("olla/olla-figure12.csv")) {
    EXPECT_LE(Number(row, "seconds"), 0.1) << row.at("graph");
    if (row.at("graph") == "hmcos_nasnet_cifar (program order)") {
      char words[64];
      std::snprintf(words, sizeof words, "NASNet of HMCOS by %.1f %%",
                    100 * Number(row, "fragmentation"));
      tables.ExpectWords(words);
    } else {
      EXPECT_EQ(row.at("fragmentation"), "0") << row.at("graph");
      EXPECT_EQ(row.at("proved"), "1") << row.at("graph");
    }
  }
}

TEST(Documentation, CostOfAllocation) {
  const Tables tables(kPapers, "### Figure 14: the cost of allocation at run time");
  const auto rows = Results("olla/olla-figure14.csv");
  ASSERT_EQ(rows.size(), 9U);
  std::vector<double> dynamic;  // Microseconds a tensor.
  std::vector<double> ratios;
  double planning = 0;
  double saved = 0;
  for (const Row& row : rows) {
    dynamic.push_back(1e6 * Number(row, "dynamic_tensor_seconds"));
    ratios.push_back(Number(row, "dynamic_tensor_seconds") / Number(row, "planned_tensor_seconds"));
    planning = std::max(planning, 1e3 * Number(row, "planning_seconds"));
    saved += Number(row, "saved_seconds");
    EXPECT_NEAR(1e6 * Number(row, "planned_tensor_seconds"), 0.0003, 0.00005);
  }
  const auto [cheapest, dearest] = std::minmax_element(dynamic.begin(), dynamic.end());
  const auto [least, most] = std::minmax_element(ratios.begin(), ratios.end());
  char words[128];
  std::snprintf(words, sizeof words, "takes %.3f to %.3f µs per tensor", *cheapest, *dearest);
  tables.ExpectWords(words);
  std::snprintf(words, sizeof words, "which is %.0f to %.0f times less", *least, *most);
  tables.ExpectWords(words);
  EXPECT_EQ(rows[0].at("graph"), "alexnet_b32");
  EXPECT_EQ(rows[5].at("graph"), "transformer_b32");
  std::snprintf(
      words, sizeof words,
      "saves %.1f s (AlexNet, 61 tensors) to %.0f s (transformer, 1,108 tensors), %.0f s on "
      "average; planning takes at most %.0f ms",
      Number(rows[0], "saved_seconds"), Number(rows[5], "saved_seconds"), saved / 9, planning);
  tables.ExpectWords(words);
}

TEST(Documentation, OrderAndAddressesInOneProgram) {
  const Tables tables(
      kPapers, "### Section 4.4: order and addresses in one program, or one after the other");
  const auto rows = Results("olla/olla-joint-summary.csv");
  ASSERT_EQ(rows.size(), 2U);
  double joint = 0;
  double split = 0;
  for (const Row& row : rows) {
    joint += Number(row, "joint_closed");
    split += Number(row, "split_closed");
    tables.Expect(row.at("graphs") == "real" ? "real graphs, smallest program first"
                                             : "generated, 6 to 20 operators",
                  {Number(row, "tried"), Number(row, "joint_closed"), Number(row, "split_closed"),
                   Number(row, "joint_lower"), Number(row, "ours_same"),
                   Number(row, "joint_to_split"), Number(row, "joint_to_ours")});
  }
  tables.ExpectWords(rows[1].at("tried") + " of " + rows[1].at("count"));
  for (const Row& row : Results("olla/olla-joint.csv")) {
    joint -= row.at("joint_status") == "closed" ? 1 : 0;
    split -= row.at("split_status") == "closed" ? 1 : 0;
    if (row.at("joint_status") == "closed") {
      EXPECT_EQ(row.at("joint_bytes"), row.at("height_bytes"));
    }
  }
  EXPECT_EQ(joint, 0);
  EXPECT_EQ(split, 0);
}

TEST(Documentation, TrafficOfCosma) {
  const Tables tables(kPapers, "## COSMA");
  const std::map<std::string, std::string> names = {
      {"figure3", "Figure 3: 12 hand-designed networks, without and with weights"},
      {"figure4", "Figure 4: 8 networks found by a search"},
      {"training", "18 training steps (not in the paper), limit 10 s"}};
  for (const auto& [key, name] : names) {
    const Row all = Results("cosma/cosma-" + key + "-reduction.csv").back();
    tables.Expect(name,
                  {Number(all, "cases"), 100 * Number(all, "mean_reduction"),
                   100 * Number(all, "mean_reduction_MR"), 100 * Number(all, "mean_reduction_MH"),
                   100 * Number(all, "mean_reduction_MP")});
  }
  const auto open = [](const std::string& key) {
    std::vector<Row> rows;
    for (const Row& row : Results("cosma/cosma-" + key + ".csv")) {
      EXPECT_GE(Number(row, "all_orders_bytes"), Number(row, "all_orders_lower_bound_bytes"));
      if (row.at("all_orders_bytes") != row.at("all_orders_lower_bound_bytes")) rows.push_back(row);
    }
    return rows;
  };
  EXPECT_TRUE(open("figure4").empty());
  const auto left = open("figure3");
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left[0].at("network"), "transformer");
  EXPECT_EQ(left[0].at("budget"), "MR with weights");
  EXPECT_EQ(left[0].at("all_orders_bytes"), "4915200");
  EXPECT_EQ(left[0].at("all_orders_lower_bound_bytes"), "4259840");
  tables.ExpectWords("4,915,200 bytes against a bound of 4,259,840");
  EXPECT_LT(Number(left[0], "all_orders_seconds"), 10);
}

// Seconds of the longest of three budgets.
TEST(Documentation, TimesOfCosma) {
  const Tables tables(kPapers, "## COSMA", "Table II.");
  const std::map<std::string, std::vector<double>> paper = {
      {"pnasnet5_large", {12.3, 24.2, 65.9}},
      {"amoebanet_d", {8.3, 84.4, 112.8}},
      {"nasnet_a", {20.0, 22.4, 39.2}},
      {"darts_v2_imagenet", {5.0, 5.2, 19.1}}};
  const std::map<std::string, std::string> names = {{"pnasnet5_large", "PNASNet-5"},
                                                    {"amoebanet_d", "AmoebaNet-D"},
                                                    {"nasnet_a", "NASNet-A"},
                                                    {"darts_v2_imagenet", "DARTS"}};
  std::map<std::string, std::vector<double>> most;
  int above_addresses = 0;
  for (const Row& row : Results("cosma/cosma-figure4.csv")) {
    above_addresses += row.at("program_bytes") != row.at("program_without_addresses_bytes") ? 1 : 0;
    auto& of = most[row.at("network")];
    of.resize(3, 0);
    std::size_t k = 0;
    for (const std::string order : {"program", "least_peak", "all_orders"}) {
      EXPECT_EQ(row.at(order + "_bytes"), row.at(order + "_lower_bound_bytes"));
      of[k] = std::max(of[k], Number(row, order + "_seconds"));
      EXPECT_LE(of[k++], 0.6);
    }
  }
  EXPECT_EQ(above_addresses, 1);  // NASNet-A in program order at MR.
  for (const auto& [network, seconds] : paper) {
    std::vector<double> wanted = seconds;
    wanted.insert(wanted.end(), most[network].begin(), most[network].end());
    tables.Expect(names.at(network), wanted);
  }
}

// The share of the time that Berth saves against each scheme where that has traffic, the least and the most of them
// in percent; with copies one by one, or while operators run.
std::string TimeSavedOfCosma(const std::string& figure, const std::string& copies) {
  const auto rows = Results("cosma/cosma-figure" + figure + "-cost.csv");
  double least = INFINITY;
  double most = 0;
  for (const std::string scheme :
       {"program_belady", "program_greedy", "peak_belady", "peak_greedy"}) {
    double sum = 0;
    int cases = 0;
    for (const Row& row : rows) {
      if (Number(row, scheme + "_picojoules") == 0) continue;
      sum += 1 - Number(row, "all_orders" + copies) / Number(row, scheme + copies);
      ++cases;
    }
    least = std::min(least, 100 * sum / cases);
    most = std::max(most, 100 * sum / cases);
  }
  return std::to_string(std::lround(least)) + " to " + std::to_string(std::lround(most)) + " %";
}

TEST(Documentation, EnergyAndTimeOfCosma) {
  const std::map<std::string, std::string> schemes = {{"program_belady", "program order, Belady"},
                                                      {"program_greedy", "program order, greedy"},
                                                      {"peak_belady", "least-peak order, Belady"},
                                                      {"peak_greedy", "least-peak order, greedy"},
                                                      {"all_orders", "Berth, all orders"}};
  std::string slower;
  for (const std::string figure : {"3", "4"}) {
    const Tables tables(kPapers, "## COSMA", "| Figure " + figure + " |");
    double count = 0;
    for (const Row& row : Results("cosma/cosma-figure" + figure + "-cost-summary.csv")) {
      const auto found = schemes.find(row.at("scheme"));
      if (found == schemes.end()) continue;  // Berth in one order is not in the table.
      std::vector<double> wanted;
      for (const std::string budget : {"MR", "MH", "MP"})
        wanted.push_back(Number(row, "picojoules_" + budget) / 1e9);
      for (const std::string budget : {"MR", "MH", "MP"})
        wanted.push_back(Number(row, "mean_slowdown_" + budget));
      tables.Expect(found->second, wanted);
      count += row.at("slower_cases").empty() ? 0 : Number(row, "slower_cases");
    }
    slower += (slower.empty() ? "In " : " of 228 and ") + std::to_string(std::lround(count));
  }
  const Tables all(kPapers, "## COSMA");
  all.ExpectWords(slower + " of 84 comparisons");
  all.ExpectWords("Of the time " + TimeSavedOfCosma("3", "_seconds") + " and " +
                  TimeSavedOfCosma("4", "_seconds") + " are saved");
  all.ExpectWords(TimeSavedOfCosma("3", "_one_by_one_seconds") + " and " +
                  TimeSavedOfCosma("4", "_one_by_one_seconds") + " if copies are made one by one");
}

TEST(Documentation, ProgramsOfCosma) {
  const Tables tables(kPapers, "## COSMA", "solves the paper's integer programs by CBC");
  const std::map<std::string, std::string> names = {{"fs_program", "FS in program order"},
                                                    {"fs_least_peak", "FS in least-peak order"},
                                                    {"dnc", "DnC"},
                                                    {"joint", "joint"}};
  const auto rows = Results("cosma/cosma-programs.csv");
  ASSERT_EQ(rows.size(), 90U);
  std::map<std::string, std::map<std::string, int>> left_out;    // Of each program, the networks,
  std::map<std::string, std::map<std::string, int>> plans;       // and plans of those that are not.
  std::map<std::string, std::map<std::string, double>> largest;  // The variables of their programs.
  for (const auto& [key, name] : names) {
    std::vector<double> sums(6, 0);
    for (const Row& row : rows) {
      const std::string& network = row.at("network");
      if (row.at(key + "_seconds").empty()) {
        left_out[key][network] = std::stoi(row.at("operators"));
        continue;
      }
      const bool plan = !row.at(key + "_bytes").empty();
      plans[key][network] += plan ? 1 : 0;
      double& variables = largest[key][network];
      variables = std::max(variables, Number(row, key + "_variables"));
      const double more = plan ? Number(row, key + "_bytes") - Number(row, "all_orders_bytes") : 0;
      ++sums[0];
      sums[1] += plan ? 1 : 0;
      sums[2] += row.at(key + "_closed") == "1" ? 1 : 0;
      sums[3] += plan && more == 0 ? 1 : 0;
      sums[4] += more > 0 ? 1 : 0;
      sums[5] += more < 0 ? 1 : 0;
    }
    tables.Expect(name, sums);
  }
  // What the caps leave out, and what is without a plan although it is tried.
  EXPECT_EQ(left_out["fs_program"].size(), 8U);
  EXPECT_EQ(left_out["joint"].size(), 16U);
  for (const auto& [network, operators] : left_out["fs_program"]) EXPECT_GE(operators, 525);
  for (const std::string key : {"fs_program", "fs_least_peak"}) {
    for (const auto& [network, count] : plans[key]) {
      const bool none =
          network == "lraspp_mobilenet_v3_large" || network == "s3d" || network == "densenet121";
      EXPECT_EQ(count, none ? 0 : 3) << network;
      EXPECT_EQ(largest[key][network] > 2455, none) << network;
    }
  }
  EXPECT_EQ(largest["fs_program"]["lraspp_mobilenet_v3_large"], 4341);
  EXPECT_EQ(largest["fs_program"]["s3d"], 5534);
  EXPECT_EQ(largest["fs_program"]["densenet121"], 71885);
  tables.ExpectWords("4,341, 5,534 and 71,885 variables");
  EXPECT_EQ(largest["fs_program"]["deeplabv3_resnet50"], 2455);
}

TEST(Documentation, ProgramsOfOlla) {
  const Tables tables(kPapers, "### The integer program against our search");
  const auto expect = [&](const std::string& name, const std::string& file, bool generated) {
    std::vector<double> sums(3, 0);  // Tried, solved, with Berth's peak.
    std::vector<double> ratios;
    double graphs = 0;
    for (const Row& row : Results("olla/" + file)) {
      const std::string& graph = row.at("graph");
      // The small ones came with five real ones, which the other file has, too.
      if (generated && graph.rfind("cell-", 0) != 0 && graph.rfind("irregular-", 0) != 0) continue;
      ++graphs;
      sums[0] += row.at("status") != "not tried" ? 1 : 0;
      sums[1] += row.at("status") == "closed" ? 1 : 0;
      sums[2] += row.at("agreement") == "same" ? 1 : 0;
      if (!row.at("ratio").empty()) ratios.push_back(Number(row, "ratio"));
    }
    sums.push_back(Median(ratios));
    tables.Expect(name, sums);
    const auto [least, most] = std::minmax_element(ratios.begin(), ratios.end());
    char range[64];
    const long thousands = std::lround(*most) / 1000;
    std::snprintf(range, sizeof range, "%.0f × to %ld,%03ld × |", *least, thousands,
                  std::lround(*most) - 1000 * thousands);
    tables.ExpectWords(range);
    return graphs;
  };
  expect("small, 6 to 40 operators", "olla-ilp.csv", true);
  const double graphs =
      expect("real inference graphs, smallest program first", "olla-ilp-inference.csv", false);
  EXPECT_EQ(graphs, 16);
}

TEST(Documentation, ProgramsOfRecomputation) {
  const Tables tables(kPapers, "## Recomputation", "The integer programs against the search");
  std::map<std::string, std::vector<double>> sums;
  std::map<std::string, std::vector<double>> ratios;
  for (const Row& row : Results("recompute/recompute-programs.csv")) {
    std::vector<double>& of = sums[row.at("program")];
    of.resize(5, 0);
    const bool closed = row.at("closed") == "1";
    const double more = row.at("program_cost_ns").empty()
                            ? NAN
                            : Number(row, "program_cost_ns") - Number(row, "cost_ns");
    ++of[0];
    of[1] += closed ? 1 : 0;
    of[2] += std::isnan(more) ? 0 : 1;
    of[3] += more == 0 ? 1 : 0;
    of[4] += more > 0 ? 1 : 0;
    if (!closed) continue;
    ratios[row.at("program")].push_back(Number(row, "program_seconds") / Number(row, "seconds"));
  }
  ASSERT_EQ(sums.size(), 2U);
  for (auto& [program, of] : sums) {
    of.push_back(Median(ratios[program]));
    tables.Expect(program, of);
  }
}

// By network and allocator.
std::map<std::string, std::map<std::string, Row>> TrainingRuns() {
  std::map<std::string, std::map<std::string, Row>> runs;
  for (const Row& row : Results("runtime/plan-at-run-time.csv"))
    runs[row.at("network")][row.at("allocator")] = row;
  return runs;
}

TEST(Documentation, PlanAtRunTime) {
  const Tables tables(kPapers, "### Sections 3.5 and 5.7: the plan at run time");
  constexpr double kMebi = 1 << 20;
  std::map<std::string, Row> requests;
  for (const Row& row : Results("runtime/requests.csv")) requests[row.at("plan")] = row;
  auto runs = TrainingRuns();
  ASSERT_EQ(runs.size(), 2U);
  std::map<std::string, std::vector<double>> cells;  // Of each row, by network.
  std::string minutes;                               // Saved over a million steps.
  std::string falls;
  for (const std::string network : {"convolutions", "transformer"}) {
    SCOPED_TRACE(network);
    ASSERT_EQ(runs[network].size(), 2U);
    const Row& without = runs[network].at("C library");
    const Row& plan = runs[network].at("plan");
    EXPECT_EQ(plan.at("losses_sha256"), without.at("losses_sha256"));
    EXPECT_EQ(plan.at("last_loss"), without.at("last_loss"));
    EXPECT_EQ(plan.at("steps"), "100");
    EXPECT_EQ(plan.at("steps_by_plan"), "98");
    EXPECT_EQ(plan.at("arena_bytes"), plan.at("arena_bound_bytes"));
    const auto resident = [](const Row& row) {
      return 1024 * (Number(row, "peak_resident_kib") - Number(row, "resident_before_kib"));
    };
    const Row& replayed = requests[network + "-plan"];
    EXPECT_EQ(replayed.at("departures"), "0");
    EXPECT_EQ(replayed.at("arena_bytes"), plan.at("arena_bytes"));
    const double saved =
        Number(replayed, "step_requests") *
        (Number(replayed, "c_library_median_seconds") - Number(replayed, "plan_median_seconds"));
    minutes += (minutes.empty() ? "" : " and ") + std::to_string(std::lround(1e6 * saved / 60));
    falls += (falls.empty() ? "" : " and ") +
             std::to_string(std::lround(100 * (1 - resident(plan) / resident(without))));
    const auto add = [&](const std::string& row, double number) { cells[row].push_back(number); };
    add("requests of a step in the plan", Number(plan, "served") / 98);
    add("requests of a step left to glibc: the batch and its labels, the loss",
        Number(plan, "not_planned") / 98);
    add("arena, proved the least", Number(plan, "arena_bytes") / kMebi);
    add("requests that departed from the plan in 98 steps", Number(plan, "departures"));
    add("largest resident memory from step 5 on, less that before the first step, glibc",
        resident(without) / kMebi);
    add("the same by the plan", resident(plan) / kMebi);
    add("median processor time of a step, glibc", Number(without, "median_step_processor_seconds"));
    add("request and release, processor time, glibc",
        1e9 * Number(replayed, "c_library_median_seconds"));
    cells["by the plan"].push_back(Number(plan, "median_step_processor_seconds"));
    cells["ns"].push_back(1e9 * Number(replayed, "plan_median_seconds"));
  }
  const std::vector<double> nanoseconds = cells["ns"];  // The second row of this name.
  cells.erase("ns");
  for (const auto& [row, numbers] : cells) tables.Expect(row, numbers);
  Tables(kPapers, "### Sections 3.5 and 5.7: the plan at run time",
         "| request and release, processor time, glibc")
      .Expect("by the plan", nanoseconds);
  tables.ExpectWords("add up to " + minutes + " minutes saved");
  Tables("howto/plan-at-run-time.md", "## PyTorch on a CPU").ExpectWords("fell by " + falls + " %");
}

// A share of the cost of running every operator once, as the table of MOCCASIN's graphs prints it.
std::string PercentOfAll(const Row& row, const std::string& column) {
  const double percent = 100 * Number(row, column) / Number(row, "cost_of_all");
  if (std::isnan(percent)) return "-";
  if (percent == 0) return "0";
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", percent < 1 ? 3 : percent < 10 ? 2 : 1, percent);
  return text;
}

// With a star where the bound is lower; then the bound.
std::string CostAndBound(const Row& row, const std::string& order) {
  const bool proved = row.at(order + "_cost") == row.at(order + "_cost_bound");
  return PercentOfAll(row, order + "_cost") + (proved ? "" : "*") + " | " +
         PercentOfAll(row, order + "_cost_bound") + " | ";
}

TEST(Documentation, GraphsOfMoccasin) {
  const std::map<std::string, std::string> names = {{"fcn8_vgg_32", "FCN8"},
                                                    {"resnet50_256", "ResNet50"}};
  const std::string text = ReadText(std::string("docs/") + kPapers);  // With its stars.
  const auto rows = Results("recompute/recompute-moccasin.csv");
  ASSERT_EQ(rows.size(), 18U);
  std::string last;
  for (const Row& row : rows) {
    const std::string& graph = row.at("graph");
    const bool random = names.find(graph) == names.end();  // Without a backward pass.
    std::string name = random ? "RL" + graph.substr(2) : names.at(graph);
    SCOPED_TRACE(name + " at " + row.at("capacity_percent"));
    std::string count = row.at("operators");
    if (count.size() > 3) count.insert(count.size() - 3, ",");
    name += " (" + count + ") | ";
    std::string line = "\n| " + (graph == last ? "| " : name) + row.at("capacity_percent") +
                       " % | " + CostAndBound(row, "any") + CostAndBound(row, "fixed") +
                       PercentOfAll(row, "peak_cost");
    for (const std::string method : {"partition_cost", "checkpoints_cost"})
      line += random ? " |" : " | " + PercentOfAll(row, method);
    line += " | ";
    last = graph;
    const std::size_t found = text.find(line);
    ASSERT_NE(found, std::string::npos) << line;
    // Published figures have as many digits as their papers give.
    const std::size_t begin = found + line.size();
    const auto cells = Split(text.substr(begin, text.find('\n', begin) - begin), '|');
    const std::vector<std::string> published = {"checkmate", "moccasin", "fastsa"};
    ASSERT_GE(cells.size(), published.size());
    for (std::size_t k = 0; k < published.size(); ++k) {
      const double percent = Number(row, "published_" + published[k] + "_percent");
      if (std::isnan(percent)) {
        EXPECT_NE(cells[k].find('-'), std::string::npos) << published[k];
        continue;
      }
      EXPECT_EQ(std::stod(cells[k]), percent) << published[k];
      // Not cheaper than Berth, but for how it is rounded.
      EXPECT_LE(100 * Number(row, "any_cost") / Number(row, "cost_of_all"), percent + 0.05);
    }
    for (const std::string other : {"fixed", "checkmate", "peak", "partition", "checkpoints"}) {
      const double cost = Number(row, other + "_cost");
      EXPECT_FALSE(cost < Number(row, "any_cost")) << other;
    }
  }
}

// "37 plans that cost 1.00 to 2.32 times as much (in the median 1.07": a method's plans against Berth's in one order.
std::string PlansOf(const std::vector<Row>& rows, const std::string& method) {
  std::vector<double> ratios;
  for (const Row& row : rows) {
    const double cost = Number(row, method + "_cost");
    if (!std::isnan(cost)) ratios.push_back(cost / Number(row, "fixed_cost"));
  }
  EXPECT_FALSE(ratios.empty()) << method;
  if (ratios.empty()) return "";
  const auto [least, most] = std::minmax_element(ratios.begin(), ratios.end());
  EXPECT_GE(*least, 1) << method;
  char text[96];
  const char* const format =
      method == "peak" ? "%zu plans that cost %.2f to %.2f times as much (in the median %.2f"
                       : "%zu (%.2f to %.1f, %.2f)";
  std::snprintf(text, sizeof text, format, ratios.size(), *least, *most, Median(ratios));
  return text;
}

TEST(Documentation, RecomputationOfTrainingSteps) {
  const Tables tables(kPapers, "## Recomputation");
  const auto rows = Results("recompute/recompute-training.csv");
  ASSERT_EQ(rows.size(), 72U);
  std::map<std::string, double> most;  // Above the bound, by budget.
  int fit = 0;
  int proved = 0;
  int close = 0;
  double refuted = 0;  // Seconds.
  for (const Row& row : rows) {
    EXPECT_EQ(row.at("checkmate_cost"), "") << row.at("graph");
    const double cost = Number(row, "fixed_cost");
    if (std::isnan(cost)) {
      for (const std::string other : {"any", "peak", "partition", "checkpoints"})
        EXPECT_EQ(row.at(other + "_cost"), "") << row.at("graph");
      refuted = std::max({refuted, Number(row, "fixed_seconds"), Number(row, "any_seconds")});
      continue;
    }
    const double bound = Number(row, "fixed_cost_bound");
    ++fit;
    proved += cost == bound ? 1 : 0;
    close += cost <= 1.01 * bound ? 1 : 0;
    if (cost == bound) continue;
    double& above = most[row.at("capacity_percent")];
    above = std::max(above, 100 * (cost / bound - 1));
  }
  EXPECT_LE(refuted, 0.07);
  const std::string rest = std::to_string(fit);
  tables.ExpectWords("nothing fits in " + std::to_string(72 - fit) + ", as is proved in 70 ms");
  tables.ExpectWords("all of the other " + rest +
                     ", Berth in the order of the least peak has a plan: in " +
                     std::to_string(proved) + " proved the cheapest of that order, in " +
                     std::to_string(close) + " within 1 % of its bound");
  char words[96];
  std::snprintf(words, sizeof words, "all at 90 %% (at most %.1f %%) and 75 %% (%.1f %%)",
                most["90"], most["75"]);
  tables.ExpectWords(words);
  tables.ExpectWords(PlansOf(rows, "peak"));
  tables.ExpectWords("the partition " + PlansOf(rows, "partition"));
  tables.ExpectWords("Chen's checkpoints " + PlansOf(rows, "checkpoints"));
}

TEST(Documentation, RecomputationCopiesOrBoth) {
  const Tables tables(kPapers, "## Recomputation", "Recomputation, copies, or both");
  int cases = 0;
  int less = 0;
  std::map<std::string, std::vector<double>> ratios;  // By graph and budget, from the slowest link.
  for (const Row& row : Results("recompute/recompute-joint.csv")) {
    const double both = Number(row, "both_ns");
    if (std::isnan(both)) continue;
    const double alone = std::fmin(Number(row, "recompute_ns"), Number(row, "copies_ns"));
    ++cases;
    less += !(both >= alone) ? 1 : 0;
    EXPECT_FALSE(both > alone) << row.at("graph");
    EXPECT_GE(both, Number(row, "bound_ns"));
    auto& of = ratios[row.at("graph") + " at " + row.at("capacity_percent")];
    of.insert(of.begin(), both / alone);
  }
  tables.ExpectWords("In all " + std::to_string(cases) + " cases with a plan");
  tables.ExpectWords("and in " + std::to_string(less) + " less");
  const auto& xlmr = ratios["xlmr_base_b32 at 50"];
  ASSERT_EQ(xlmr.size(), 3U);
  char words[128];
  std::snprintf(words, sizeof words, "%.2f, %.2f and %.2f times as much for xlmr_base_b32 at 50 %%",
                xlmr[0], xlmr[1], xlmr[2]);
  tables.ExpectWords(words);
  std::snprintf(words, sizeof words,
                "%.2f for vgg11_b32 at 90 %% and %.2f for transformer_b32 at 50 %%",
                ratios["vgg11_b32 at 90"].back(), ratios["transformer_b32 at 50"].back());
  tables.ExpectWords(words);
}

TEST(Documentation, Boards) {
  const Tables tables(kPapers, "## Boards");
  const std::map<std::string, std::string> boards = {{"rt1170", "like the i.MX RT1170"},
                                                     {"esp32", "like the ESP32"}};
  for (const auto& [key, name] : boards) {
    const auto rows = Results("memories/boards-" + key + ".csv");
    double fit = 0;
    std::vector<double> wanted(4, 0);
    for (const Row& row : rows) {
      if (row.at("cost_ns").empty()) continue;
      ++fit;
      wanted[0] += row.at("outcome") == "optimal" ? 1 : 0;
      wanted[1] += 100 * Number(row, "above_bound");
      wanted[2] += 100 * Number(row, "below_usmp");
      wanted[3] += 100 * (1 - Number(row, "cost_ns") / Number(row, "largest_first_ns"));
    }
    for (std::size_t k = 1; k < wanted.size(); ++k) wanted[k] /= fit;
    wanted.insert(wanted.begin(), fit);
    tables.Expect(name, wanted);
    tables.ExpectWords("| " + name + " | " + std::to_string(std::lround(fit)) + " of " +
                       std::to_string(rows.size()) + " |");
  }
}

}  // namespace
}  // namespace berth::lab
