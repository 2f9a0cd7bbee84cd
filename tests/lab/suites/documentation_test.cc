// What the documentation says of experiments with tables is what the kept results say.
#include "tests/lab/suites/documentation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace berth::lab {
namespace {

// The algorithms of the tables of times, as files and as tables of ratios name them.
std::string NameInTables(const std::string& algorithm) {
  static const std::map<std::string, std::string> kNames = {{"heuristic", "baseline heuristic"},
                                                            {"csp", "CSP"},
                                                            {"meta-csp", "meta-CSP"},
                                                            {"ilp", "ILP"},
                                                            {"telamalloc", "TelaMalloc"},
                                                            {"canonical", "MiniMalloc's search"}};
  const auto found = kNames.find(algorithm);
  if (found != kNames.end()) return found->second;
  const std::string own = algorithm.substr(algorithm.rfind("Berth ", 0) == 0 ? 6 : 0);
  if (own == "guided" || own == "niche" || own == "auto") return "Berth `" + own + "`";
  return own == "auto (default)" ? "Berth `auto`" : algorithm;
}

TEST(Documentation, FailuresOfStrategies) {
  const Tables tables(kPapers, "### Figure 14: strategies for choosing a block");
  const auto rows = Results("telamalloc/telamalloc-figure14-failures.csv");
  ASSERT_EQ(rows.size(), 14U);
  EXPECT_EQ(rows.back().at("inputs"), "1192");  // As many inputs as the paper has.
  EXPECT_EQ(rows.back().at("candidates"), "59");
  const std::vector<std::string> strategies = {"candidates", "size",   "area",
                                               "lifetime",   "lowest", "guided"};
  for (const Row& row : rows) {
    std::string name = row.at("inputs_of");
    if (name == "network" || name == "inference") {  // One row, without a failure.
      for (const std::string& strategy : strategies) EXPECT_EQ(row.at(strategy), "0") << name;
      continue;
    }
    // The smaller table of on-chip inputs has rows of the same names, and is the last one.
    const std::string line = "| " + name.substr(0, name.find(" of the least")) + " | ";
    std::string text = tables.section();
    std::erase(text, ',');
    std::string wanted = line + row.at("inputs");
    for (const std::string& strategy : strategies) wanted += " | " + row.at(strategy);
    EXPECT_NE(text.find("\n" + wanted + " |\n"), std::string::npos) << wanted;
  }
}

TEST(Documentation, AModelAtEveryStep) {
  const Tables tables("algorithms/learned.md", "## A model at every step");
  const std::vector<std::string> orders = {"published", "lowest-first", "random",   "model",
                                           "size",      "area",         "lifetime", "lowest"};
  std::map<std::string, std::vector<double>> sums;
  for (const Row& row : Results("telamalloc/telamalloc-steps-failures.csv")) {
    const std::string& of = row.at("inputs_of");
    const std::string name = of == "variants" || of == "challenging" ? "challenging and variants"
                             : of == "planted" || of == "full"       ? "planted, full"
                             : of == "network" || of == "inference" || of == "random"
                                 ? "network, inference, random"
                                 : of;
    std::vector<double>& sum = sums[name];
    sum.resize(orders.size() + 1, 0);
    sum[0] += Number(row, "inputs");
    for (std::size_t k = 0; k < orders.size(); ++k) sum[k + 1] += Number(row, orders[k]);
  }
  for (const std::string name : {"challenging and variants", "models", "planted, full",
                                 "network, inference, random", "on-chip", "all"}) {
    tables.Expect(name, sums[name]);
  }
  const auto steps = Results("telamalloc/telamalloc-steps.csv");
  ASSERT_EQ(steps.size(), orders.size());
  std::vector<double> all = {NAN};
  std::vector<double> backtracks = {NAN};
  std::vector<double> means = {NAN};
  // Of the rows TelaMalloc, lowest first, at random, model, and the single strategies.
  for (const Row& row : steps) {
    all.push_back(Number(row, "steps") / 1000);
    backtracks.push_back(Number(row, "backtracks") / 1000);
    means.push_back(Number(row, "geometric_mean_of_steps_to_policy"));
  }
  tables.Expect("steps in all, thousands", all);
  tables.Expect("backtracks, thousands", backtracks);
  tables.Expect("steps where both have a plan, geometric mean", means);
  // The sentence in the guide.
  const std::string guide = Tables(kPapers, "### Section 8.3: a model at every step").section();
  for (const std::size_t k : {0U, 1U, 2U, 3U}) {
    const std::string count = std::to_string(static_cast<int>(sums["all"][k + 1]));
    EXPECT_NE(guide.find(" " + count), std::string::npos) << orders[k] << " " << count;
  }
}

TEST(Documentation, SensitivityToTheCapacity) {
  const Tables tables(kPapers, "### Section 7.2: sensitivity to the capacity");
  struct Counts {
    double inputs = 0;
    double other = 0;  // Steps with a byte less or more.
    double spread = 1;
    double tighter = 0;  // Solved at 107 %,
    double changed = 0;  // of these with other steps than at 110 %,
    double most = 0;     // and the largest ratio of the two.
  };
  std::map<std::string, Counts> counts;
  std::map<std::string, std::map<std::string, Row>> rows;
  for (const Row& row : Results("telamalloc/telamalloc-sensitivity-runs.csv")) {
    Counts& of = counts[row.at("algorithm")];
    rows[row.at("algorithm")][row.at("input")] = row;
    const double at = Number(row, "steps_at_110_percent");
    const double less = Number(row, "steps_at_110_percent_less_1");
    const double more = Number(row, "steps_at_110_percent_plus_1");
    const double tight = Number(row, "steps_at_107_percent");
    const auto [few, many] = std::minmax({at, less, more});
    ++of.inputs;
    of.other += few < many ? 1 : 0;
    of.spread = std::max(of.spread, many / few);
    if (std::isnan(tight)) continue;
    ++of.tighter;
    of.changed += tight != at ? 1 : 0;
    of.most = std::max(of.most, tight / at);
  }
  ASSERT_EQ(counts.size(), 4U);
  for (const auto& [algorithm, of] : counts) {
    EXPECT_EQ(of.inputs, 34);
    tables.Expect(NameInTables(algorithm), {of.other, of.spread, of.tighter, of.changed, of.most});
  }
  // The sentences below the table.
  const Row& vgg = rows["telamalloc"]["training_vgg11_b32"];
  EXPECT_EQ(vgg.at("steps_at_107_percent"), "2758");
  EXPECT_EQ(vgg.at("steps_at_110_percent"), "82");
  EXPECT_NE(tables.section().find("2,758 steps instead of 82"), std::string::npos);
}

TEST(Documentation, MiniMallocOnTheOriginalSuite) {
  const Tables tables(kPapers, "### Figure 8: the original suite");
  const auto rows = Results("minimalloc/minimalloc-figure8.csv");
  ASSERT_EQ(rows.size(), 77U);
  std::map<std::string, double> policy;  // TelaMalloc's, by input.
  for (const Row& row : rows) {
    if (row.at("algorithm") != "telamalloc") continue;
    policy[row.at("input")] = Number(row, "median_seconds");
  }
  struct Of {
    std::vector<double> seconds;  // Of what it solved,
    std::vector<double> ratios;   // and relative to TelaMalloc.
    double runs = 0;
  };
  std::map<std::string, Of> by;
  int once = 0;   // At the limit of a minute.
  int fewer = 0;  // Solved, with fewer than 25 runs.
  for (const Row& row : rows) {
    Of& of = by[row.at("algorithm")];
    of.runs += Number(row, "runs");
    if (row.at("status") != "solved") {
      EXPECT_EQ(row.at("runs"), "1");
      EXPECT_GE(Number(row, "median_seconds"), 60);
      ++once;
      continue;
    }
    const double seconds = Number(row, "median_seconds");
    of.seconds.push_back(seconds);
    of.ratios.push_back(seconds / policy.at(row.at("input")));
    if (row.at("runs") != "25") {
      EXPECT_GE(Number(row, "runs") * Number(row, "most_seconds"), 60);
      ++fewer;
    }
  }
  EXPECT_EQ(once, 7);
  EXPECT_EQ(fewer, 4);
  ASSERT_EQ(by.size(), 7U);
  for (const auto& [algorithm, of] : by) {
    const bool itself = algorithm == "telamalloc";
    const auto [least, most] = std::minmax_element(of.ratios.begin(), of.ratios.end());
    tables.Expect(NameInTables(algorithm),
                  {static_cast<double>(of.seconds.size()),
                   *std::max_element(of.seconds.begin(), of.seconds.end()), Median(of.ratios),
                   itself ? NAN : *least, itself ? NAN : *most, of.runs});
  }
}

TEST(Documentation, FastSolversWithAMinute) {
  const Tables tables(kPapers, "### Figure 9: the extended suite", "With a limit of a minute.");
  const auto rows = Results("minimalloc/minute/minimalloc-figure9.csv");
  ASSERT_EQ(rows.size(), 4 * 192U);
  const auto input = [](const Row& row) { return row.at("input") + row.at("capacity_bytes"); };
  std::map<std::string, double> policy;  // TelaMalloc's, by input.
  for (const Row& row : rows) {
    if (row.at("algorithm") == "telamalloc") policy[input(row)] = Number(row, "median_seconds");
  }
  struct Of {
    std::vector<double> seconds;
    std::vector<double> ratios;
    std::vector<double> spreads;
    double within = 0;  // A millisecond.
  };
  std::map<std::string, Of> by;
  std::vector<std::string> without;
  for (const Row& row : rows) {
    Of& of = by[row.at("algorithm")];
    if (row.at("status") != "solved") {
      without.push_back(row.at("algorithm") + " " + row.at("input"));
      EXPECT_GE(Number(row, "median_seconds"), 60);
      continue;
    }
    EXPECT_EQ(row.at("runs"), "25");
    const double seconds = Number(row, "median_seconds");
    of.seconds.push_back(seconds);
    of.ratios.push_back(seconds / policy.at(input(row)));
    of.spreads.push_back(Number(row, "most_seconds") / seconds);
    of.within += seconds < 1e-3 ? 1 : 0;
  }
  EXPECT_EQ(without, std::vector<std::string>{"canonical inference_hmcos_darts_cifar"});
  const std::map<std::string, double> paper = {{"telamalloc", 32}, {"canonical", 85}};
  ASSERT_EQ(by.size(), 4U);
  for (const auto& [algorithm, of] : by) {
    const bool itself = algorithm == "telamalloc";
    const auto published = paper.find(algorithm);
    const auto [least, most] = std::minmax_element(of.ratios.begin(), of.ratios.end());
    tables.Expect(
        NameInTables(algorithm),
        {static_cast<double>(of.seconds.size()),
         1e3 * *std::max_element(of.seconds.begin(), of.seconds.end()), 100 * of.within / 192,
         published == paper.end() ? NAN : published->second, Median(of.ratios),
         itself ? NAN : *least, itself ? NAN : *most, Median(of.spreads)});
  }
}

TEST(Documentation, SlowSolversWithAMinute) {
  const Tables tables(kPapers, "### Figure 9: the extended suite");
  std::map<std::string, std::vector<double>> solved;  // By algorithm, within each time.
  std::map<std::string, int> inputs;
  int once = 0;
  int fewer = 0;
  for (const Row& row : Results("minimalloc/minute-models/minimalloc-figure9.csv")) {
    ++inputs[row.at("algorithm")];
    std::vector<double>& counts = solved[row.at("algorithm")];
    counts.resize(6, 0);
    const double seconds = Number(row, "median_seconds");
    if (row.at("status") != "solved") {
      EXPECT_EQ(row.at("runs"), "1");
      EXPECT_GE(seconds, 60);
      ++once;
      continue;
    }
    fewer += row.at("runs") != "25" ? 1 : 0;
    double limit = 1e-3;
    for (double& count : counts) {
      count += seconds <= std::min(limit, 60.0) ? 1 : 0;
      limit *= 10;
    }
  }
  EXPECT_EQ(once, 6);
  EXPECT_EQ(fewer, 5);
  ASSERT_EQ(solved.size(), 2U);
  for (const auto& [algorithm, counts] : solved) {
    EXPECT_EQ(inputs[algorithm], 33);
    tables.Expect(NameInTables(algorithm) + ", 33 inputs", counts);
  }
  // If all inputs that a second leaves gained as these do.
  const auto shares = Results("minimalloc/minimalloc-figure9-shares.csv");
  const auto within_a_minute = [&](const Row& row, const std::vector<double>& counts) {
    const double second = Number(row, "within_1_seconds");
    const double gained = (counts[5] - counts[3]) / (33 - counts[3]);
    return std::to_string(std::lround(100 * (second + (1 - second) * gained)));
  };
  tables.ExpectWords("come to about " + within_a_minute(shares[0], solved["csp"]) + " and " +
                     within_a_minute(shares[1], solved["meta-csp"]) + " % within a minute");
}

TEST(Documentation, InstructionsOnArm) {
  const Tables tables(kPapers, "### Figure 12 on ARM: instructions");
  const auto rows = Results("telamalloc/telamalloc-figure12-instructions.csv");
  std::map<std::string, double> policy;  // By input.
  for (const Row& row : rows) {
    if (row.at("algorithm") == "TelaMalloc" && row.at("status") == "solved") {
      policy[row.at("input")] = Number(row, "aarch64_instructions");
    }
  }
  std::map<std::string, std::vector<std::vector<double>>> figures;  // By algorithm.
  for (const Row& row : rows) {
    auto& of = figures[row.at("algorithm")];
    of.resize(3);
    if (row.at("status") != "solved") continue;
    const double arm = Number(row, "aarch64_instructions");
    of[0].push_back(arm / 1e6);
    of[1].push_back(arm / policy.at(row.at("input")));
    of[2].push_back(arm / Number(row, "x86_64_instructions"));
  }
  ASSERT_EQ(figures.size(), 6U);
  for (const auto& [algorithm, of] : figures) {
    std::vector<double> wanted = {static_cast<double>(of[0].size())};
    for (std::size_t k = 0; k < of.size(); ++k) {
      if (k == 1 && algorithm == "TelaMalloc") {
        wanted.insert(wanted.end(), {1, NAN, NAN});
        continue;
      }
      const auto [least, most] = std::minmax_element(of[k].begin(), of[k].end());
      wanted.insert(wanted.end(), {Median(of[k]), *least, *most});
    }
    tables.Expect(NameInTables(algorithm), wanted);
  }
}

TEST(Documentation, MemoryInUseOverTime) {
  const Tables tables(kPapers, "### Figure 3: memory in use over time");
  const auto rows = Results("telamalloc/telamalloc-figure3.csv");
  ASSERT_EQ(rows.size(), 11U);
  const std::map<std::string, std::string> names = {{"bfc", "TensorFlow's allocator"},
                                                    {"heuristic", "baseline heuristic"},
                                                    {"auto", "Berth `auto`"}};
  for (const auto& [algorithm, name] : names) {
    std::vector<double> ratios;
    double within = 0;
    for (const Row& row : rows) {
      const double bytes = Number(row, algorithm + "_bytes");
      ratios.push_back(bytes / Number(row, "limit_bytes"));
      within += bytes <= Number(row, "limit_bytes") ? 1 : 0;
    }
    const auto [least, most] = std::minmax_element(ratios.begin(), ratios.end());
    tables.Expect(name, {*least, *most, within});
  }
}

TEST(Documentation, TimePerStep) {
  const Tables tables(kPapers, "### Table 1: time per step");
  for (const Row& row : Results("telamalloc/telamalloc-table1.csv")) {
    tables.Expect(
        row.at("benchmark"),
        {1e3 * Number(row, "total_seconds"), 1e6 * Number(row, "step_seconds"),
         1e3 * Number(row, "paper_total_seconds"), 1e6 * Number(row, "paper_step_seconds")});
  }
}

TEST(Documentation, MemoryOfTheHeuristic) {
  const Tables tables(kPapers, "### Table 2: the memory that the baseline heuristic needs");
  struct Range {
    int inputs = 0;
    double least = INFINITY;  // Milliseconds.
    double most = 0;
  };
  Range least_memory;
  Range challenging;
  std::map<std::string, std::string> others;  // The ratio of models that need more.
  double least_ratio = INFINITY;
  double most_ratio = 0;
  for (const Row& row : Results("telamalloc/telamalloc-table2.csv")) {
    const std::string& name = row.at("benchmark");
    const double ratio = Number(row, "heuristic_ratio");
    const bool is_challenging = name.rfind("challenging", 0) == 0;
    if (!is_challenging && ratio >= 1.001) {
      others[name] = row.at("heuristic_ratio");
      continue;
    }
    Range& of = is_challenging ? challenging : least_memory;
    ++of.inputs;
    of.least = std::min(of.least, 1e3 * Number(row, "heuristic_seconds"));
    of.most = std::max(of.most, 1e3 * Number(row, "heuristic_seconds"));
    if (!is_challenging) continue;
    least_ratio = std::min(least_ratio, ratio);
    most_ratio = std::max(most_ratio, ratio);
  }
  EXPECT_EQ(challenging.inputs, 11);
  const std::map<std::string, std::string> wanted = {{"training_vgg11_b1", "1.00411"},
                                                     {"training_alexnet_b32", "1.02087"},
                                                     {"inference_hmcos_darts_cifar", "1.26074"}};
  EXPECT_EQ(others, wanted);
  tables.ExpectWords("| 1.004, 1.02, 1.26 × |");
  char line[128];
  std::snprintf(line, sizeof line, "| %d of %zu models | 1.00 × | %.2f to %.1f ms |",
                least_memory.inputs, static_cast<std::size_t>(least_memory.inputs) + others.size(),
                least_memory.least, least_memory.most);
  tables.ExpectWords(line);
  std::snprintf(line, sizeof line, "| the challenging tables | %.2f to %.2f × | %.2f to %.1f ms |",
                least_ratio, most_ratio, challenging.least, challenging.most);
  tables.ExpectWords(line);
}

TEST(Documentation, TimeUntilAPlan) {
  const Tables tables(kPapers, "### Figures 12 and 13: time until a plan");
  const auto rows = Results("telamalloc/telamalloc-figure13-ratios.csv");
  ASSERT_EQ(rows.size(), 8U);
  for (const Row& row : rows) {
    const bool itself = row.at("algorithm") == "TelaMalloc";
    tables.Expect(NameInTables(row.at("algorithm")),
                  {Number(row, "solved"), Number(row, "median_ratio_to_telamalloc"),
                   itself ? NAN : Number(row, "least"), itself ? NAN : Number(row, "most")});
  }
}

TEST(Documentation, SpreadOf25Runs) {
  const Tables tables(kPapers, "### Figures 12 and 13: time until a plan", "Spread over 25 runs");
  const auto rows = Results("telamalloc/runs25/telamalloc-figure13.csv");
  std::map<std::string, double> policy;  // By input.
  for (const Row& row : rows) {
    if (row.at("algorithm") == "telamalloc")
      policy[row.at("input")] = Number(row, "median_seconds");
  }
  ASSERT_EQ(policy.size(), 11U);
  std::map<std::string, std::vector<std::vector<double>>> figures;  // By algorithm.
  for (const Row& row : rows) {
    if (row.at("status") != "solved") continue;
    EXPECT_EQ(row.at("runs"), "25");
    auto& of = figures[row.at("algorithm")];
    of.resize(3);
    const double seconds = Number(row, "median_seconds");
    of[0].push_back(1e3 * seconds);
    of[1].push_back(seconds / policy.at(row.at("input")));
    of[2].push_back(Number(row, "most_seconds") / seconds);
  }
  ASSERT_EQ(figures.size(), 6U);  // All but the two solvers.
  for (const auto& [algorithm, of] : figures) {
    const bool itself = algorithm == "telamalloc";
    const auto [least, most] = std::minmax_element(of[1].begin(), of[1].end());
    tables.Expect(NameInTables(algorithm),
                  {static_cast<double>(of[0].size()), *std::max_element(of[0].begin(), of[0].end()),
                   Median(of[1]), itself ? NAN : *least, itself ? NAN : *most, Median(of[2]),
                   *std::max_element(of[2].begin(), of[2].end())});
  }
}

// A column of a table of strategies, one number of each.
std::vector<double> OfEach(const std::vector<Row>& strategies, const std::string& column,
                           double unit) {
  std::vector<double> numbers = {NAN};  // Not of the inputs.
  for (const Row& row : strategies) numbers.push_back(Number(row, column) / unit);
  return numbers;
}

TEST(Documentation, StepsOfStrategies) {
  const std::string heading = "### Figure 14: strategies for choosing a block";
  const std::string ratio = "steps where both have a plan, geometric mean";
  const Tables tables(kPapers, heading);
  const auto rows = Results("telamalloc/telamalloc-figure14-steps.csv");
  ASSERT_EQ(rows.size(), 6U);
  std::vector<double> failed = OfEach(rows, "failed", 1);
  failed[0] = 1192;
  tables.Expect("all", failed);
  tables.Expect("at the step limit", OfEach(rows, "failed_at_step_limit", 1));
  tables.Expect("steps in all, thousands", OfEach(rows, "steps", 1000));
  tables.Expect(ratio, OfEach(rows, "geometric_mean_of_steps_to_policy", 1));
  tables.ExpectWords("places all 1,192 inputs in 349,746 steps");
  EXPECT_EQ(rows.back().at("steps"), "349746");

  const Tables on_chip(kPapers, heading, "What a fast memory keeps of the models.");
  const auto failures = Results("telamalloc/telamalloc-figure14-on-chip-failures.csv");
  ASSERT_EQ(failures.size(), 6U);
  for (const Row& row : failures) {
    std::string name = row.at("inputs_of");
    name = name.substr(0, name.find(" of the least"));
    on_chip.Expect(
        name == "all" ? "on-chip" : name,
        {Number(row, "inputs"), Number(row, "candidates"), Number(row, "size"), Number(row, "area"),
         Number(row, "lifetime"), Number(row, "lowest"), Number(row, "guided")});
  }
  const auto steps = Results("telamalloc/telamalloc-figure14-on-chip-steps.csv");
  on_chip.Expect(ratio, OfEach(steps, "geometric_mean_of_steps_to_policy", 1));
  EXPECT_EQ(steps.front().at("failed_before_it"), "0");
  on_chip.ExpectWords("places all 408 in 132,247 steps");
  EXPECT_EQ(steps.back().at("steps"), "132247");
}

TEST(Documentation, SharesOfTheExtendedSuite) {
  const Tables tables(kPapers, "### Figure 9: the extended suite");
  const std::vector<std::string> within = {"0.001", "0.01", "0.1", "1"};
  const auto rows = Results("minimalloc/minimalloc-figure9-shares.csv");
  ASSERT_EQ(rows.size(), 7U);
  for (const Row& row : rows) {
    std::vector<double> shares;
    shares.reserve(within.size());
    for (const std::string& seconds : within)
      shares.push_back(100 * Number(row, "within_" + seconds + "_seconds"));
    tables.Expect(NameInTables(row.at("algorithm")), shares);
  }
  const auto left = [](const Row& row) {
    return std::to_string(std::lround(192 * (1 - Number(row, "within_1_seconds"))));
  };
  tables.ExpectWords("CSP, meta-CSP and ILP leave " + left(rows[0]) + ", " + left(rows[1]) +
                     " and " + left(rows[2]) + " inputs");
  double hours = 0;  // Of a minute for each.
  for (std::size_t k = 0; k < 3; ++k) hours += std::stod(left(rows[k])) / 60;
  char words[96];
  std::snprintf(words, sizeof words, "at most %.1f hours of processor time", hours);
  tables.ExpectWords(words);
  std::snprintf(words, sizeof words, "the fastest on %.0f %% of the inputs",
                100 * Number(rows.back(), "fastest"));
  tables.ExpectWords(words);
  const auto minute = Results("minimalloc/minute/minimalloc-figure9-shares.csv");
  ASSERT_EQ(minute.size(), 4U);
  EXPECT_EQ(left(minute[0]), "0");
  EXPECT_EQ(left(minute[1]), "1");
  EXPECT_EQ(minute[1].at("within_limit"), minute[1].at("within_0.1_seconds"));
  EXPECT_EQ(minute[2].at("within_0.1_seconds"), "1");
  EXPECT_EQ(minute[3].at("within_0.01_seconds"), "1");
}

// Both machines have the rows that the documentation compares.
TEST(Documentation, SecondMachine) {
  const Tables tables(kPapers, "### A second machine");
  const auto both = [&](const std::string& name, const std::string& first,
                        const std::string& second, const std::string& key, const std::string& value,
                        const std::string& column, double unit) {
    std::vector<double> wanted;
    for (const std::string& file : {first, "second-machine/" + second}) {
      for (const Row& row : Results(file)) {
        if (row.at(key) == value) wanted.push_back(unit * Number(row, column));
      }
    }
    ASSERT_EQ(wanted.size(), 2U) << name;
    tables.Expect(name, wanted);
  };
  const auto steps = [&](const std::string& name, const std::string& benchmark) {
    both(name, "telamalloc/telamalloc-table1.csv", "telamalloc-table1.csv", "benchmark", benchmark,
         "step_seconds", 1e6);
  };
  steps("TelaMalloc, Table 1: a step of non-overlapping-10K", "non-overlapping-10K");
  steps("a step of full-overlap-1K", "full-overlap-1K");
  const auto ratio = [&](const std::string& name, const std::string& algorithm) {
    both(name, "telamalloc/telamalloc-figure13-ratios.csv", "telamalloc-figure13-ratios.csv",
         "algorithm", algorithm, "median_ratio_to_telamalloc", 1);
  };
  ratio("Figure 13: time of `guided` to TelaMalloc's, median", "Berth guided");
  ratio("of `niche`", "Berth niche");
  ratio("of `auto`", "Berth auto (default)");
  const auto share = [&](const std::string& name, const std::string& algorithm) {
    both(name, "minimalloc/minimalloc-figure9-shares.csv", "minimalloc-figure9-shares.csv",
         "algorithm", algorithm, "within_0.001_seconds", 100);
  };
  share("MiniMalloc, Figure 9: within 1 ms, TelaMalloc", "TelaMalloc");
  share("MiniMalloc's search", "MiniMalloc's search");
  share("Berth `auto`", "Berth auto (default)");
  const auto solved = [&](const std::string& name, const std::string& algorithm) {
    std::vector<double> wanted;
    for (const char* const folder : {"minimalloc", "second-machine"}) {
      const auto rows = Results(std::string(folder) + "/minimalloc-figure10.csv");
      EXPECT_EQ(rows.size(), 21U);
      double sum = 0;
      for (const Row& row : rows) sum += Number(row, algorithm + "_solved");
      wanted.push_back(sum);
    }
    tables.Expect(name, wanted);
  };
  solved("Figure 10: solved of 525, CSP", "csp");
  solved("meta-CSP", "meta-csp");
  solved("TelaMalloc, of 525", "telamalloc");
  solved("MiniMalloc's search, of 525", "canonical");
  solved("Berth `niche`, of 525", "niche");
  solved("Berth `auto`, of 525", "auto");
  for (const auto& [name, column] :
       {std::pair{"OLLA, Figure 9: median of the times", "median_seconds"},
        std::pair{"most", "most_seconds"}}) {
    both(name, "olla/olla-figure9-medians.csv", "olla-figure9-medians.csv", "group", "all", column,
         1e3);
  }
  const auto joint = [&](const std::string& name, const std::string& graphs) {
    both(name, "olla/olla-joint-summary.csv", "olla-joint-summary.csv", "graphs", graphs,
         "joint_closed", 1);
  };
  joint("order and addresses in one program: closed of 16 generated graphs", "generated");
  joint("closed of 5 real graphs", "real");
  std::vector<double> closed;
  for (const char* const folder : {"olla", "second-machine"}) {
    for (const Row& row : Results(std::string(folder) + "/olla-recomputation-summary.csv")) {
      if (row.at("graphs") != "generated" || row.at("program") != "steps to spare") continue;
      if (row.at("copies") == "1") closed.push_back(Number(row, "closed"));
    }
  }
  ASSERT_EQ(closed.size(), 2U);
  tables.Expect("recomputation, steps to spare, with copies: closed of 48", closed);
}

TEST(Documentation, SyntheticSuite) {
  const Tables tables(kPapers, "### Figure 10: the synthetic suite");
  const auto rows = Results("minimalloc/minimalloc-figure10.csv");
  const auto minute = Results("minimalloc/minute/minimalloc-figure10.csv");
  ASSERT_EQ(rows.size(), 21U);
  ASSERT_EQ(minute.size(), 21U);
  struct Sum {
    int solved = 0;
    int of = 0;
  };
  const auto sum = [](const std::vector<Row>& sizes, const std::string& algorithm) {
    Sum made;
    for (const Row& row : sizes) {
      if (row.at(algorithm + "_solved") == "not run") continue;
      made.solved += static_cast<int>(Number(row, algorithm + "_solved"));
      made.of += static_cast<int>(Number(row, "instances"));
    }
    return made;
  };
  int without = 0;  // Without a plan in a second, of the slow solvers.
  int not_run = 0;
  for (const std::string algorithm :
       {"csp", "meta-csp", "ilp", "telamalloc", "canonical", "niche", "auto"}) {
    const Sum second = sum(rows, algorithm);
    std::vector<double> wanted = {static_cast<double>(second.solved)};
    if (second.of == 525) {
      const double median = Number(rows.back(), algorithm + "_median_seconds");
      wanted.push_back(Number(rows.back(), algorithm + "_solved"));
      wanted.push_back(std::isnan(median) ? INFINITY : 1e3 * median);
    }
    tables.Expect(NameInTables(algorithm), wanted);
    if (algorithm == "canonical" || algorithm == "niche" || algorithm == "auto") continue;
    without += second.of - second.solved;
    not_run += 525 - second.of;
  }
  const Sum ilp = sum(rows, "ilp");
  tables.ExpectWords("| " + std::to_string(ilp.solved) + " of " + std::to_string(ilp.of) + " |");
  tables.ExpectWords("misses " + std::to_string(525 - sum(rows, "canonical").solved) +
                     " within a second and " +
                     std::to_string(525 - sum(minute, "canonical").solved) + " within a minute");
  EXPECT_EQ(sum(minute, "niche").solved, 525);
  EXPECT_EQ(sum(minute, "auto").solved, 525);
  // What a minute would cost.
  char hours[64];
  std::snprintf(hours, sizeof hours, "%.1f hours, and %.1f more", without / 60.0, not_run / 60.0);
  tables.ExpectWords(std::to_string(without) + " runs");
  tables.ExpectWords(hours);
}

TEST(Documentation, ChallengingSuite) {
  const Tables tables(kPapers, "### Table 2: the challenging suite");
  std::map<std::string, std::vector<double>> times;
  const auto rows = Results("minimalloc/minimalloc-table2.csv");
  ASSERT_EQ(rows.size(), 55U);
  for (const Row& row : rows) {
    const bool solved = row.at("status") == "solved";
    times[row.at("input").substr(row.at("input").find('-') + 1)].push_back(
        solved ? 1e3 * Number(row, "median_seconds") : INFINITY);
  }
  for (const auto& [name, of] : times) tables.Expect(name, of);
  // The sentences below the table: the policy ends before the limit, and how much faster the search is.
  const std::map<std::string, double> paper = {{"A", 4910}, {"B", 3661}, {"C", 637},  {"D", 2674},
                                               {"E", 3717}, {"F", 5358}, {"G", 1181}, {"H", 1808},
                                               {"I", 3908}, {"J", 883},  {"K", 628}};
  double policy = 0;
  double least = INFINITY;
  double most = 0;
  for (const Row& row : rows) {
    const double seconds = Number(row, "median_seconds");
    if (row.at("algorithm") == "telamalloc") {
      EXPECT_EQ(row.at("status"), "no plan") << row.at("input");
      policy = std::max(policy, seconds);
    }
    if (row.at("algorithm") != "canonical") continue;
    const double ratio =
        paper.at(row.at("input").substr(row.at("input").find('-') + 1)) / 1e3 / seconds;
    least = std::min(least, ratio);
    most = std::max(most, ratio);
  }
  char words[96];
  std::snprintf(words, sizeof words, "here after at most %.1f s", policy);
  tables.ExpectWords(words);
  std::snprintf(words, sizeof words, "is %.0f to %.0f times faster than the paper's", least, most);
  tables.ExpectWords(words);
}

TEST(Documentation, StripPacking) {
  const Tables tables(kPapers, "### Section 9: strip packing with fixed x");
  for (const Row& row : Results("minimalloc/minimalloc-strips-failures.csv")) {
    tables.Expect(row.at("inputs_of"),
                  {Number(row, "inputs"), Number(row, "canonical"), Number(row, "telamalloc"),
                   Number(row, "guided"), Number(row, "niche"), Number(row, "auto")});
  }
  const auto nodes = Results("minimalloc/minimalloc-strips-nodes.csv");
  tables.Expect("nodes in all, thousands", OfEach(nodes, "steps", 1000));
  tables.Expect("nodes where MiniMalloc's search has a plan too, geometric mean",
                OfEach(nodes, "geometric_mean_of_steps_to_policy", 1));
  EXPECT_EQ(nodes[1].at("failed_at_step_limit"), "0");  // The policy runs out of candidates.
  double inputs = 0;
  double proved = 0;
  double above = 0;
  for (const Row& row : Results("minimalloc/minimalloc-strips-least.csv")) {
    inputs += Number(row, "inputs");
    proved += Number(row, "least_proved");
    above += Number(row, "least_above_load");
  }
  tables.ExpectWords(std::to_string(std::lround(proved)) + " of " +
                     std::to_string(std::lround(inputs)) + " are proved");
  EXPECT_EQ(above, inputs - proved);  // All that is not proved is above the load.
}

// Means over tables and seeds, in percent.
TEST(Documentation, WhatStaysInAFastMemory) {
  const Tables tables(kPapers, "## What stays in a fast memory");
  const std::vector<std::string> columns = {"objects",    "stacked", "none",  "xla",
                                            "telamalloc", "place",   "repack"};
  std::map<std::string, std::vector<double>> sums;  // By kind and capacity; then the cases.
  int cases = 0;
  int less = 0;
  for (const Row& row : Results("memories/memories-repack.csv")) {
    const bool challenging = row.at("table").rfind("challenging", 0) == 0;
    const std::string capacity = " | " + row.at("capacity_percent") + " % | ";
    std::vector<double>& of =
        sums[(challenging ? "11 challenging tables" : "11 models") + capacity];
    of.resize(columns.size() + 1, 0);
    for (std::size_t k = 0; k < columns.size(); ++k) of[k] += Number(row, columns[k] + "_percent");
    ++of.back();
    ++cases;
    less += Number(row, "repack_percent") < Number(row, "place_percent") ? 1 : 0;
  }
  ASSERT_EQ(sums.size(), 6U);
  for (const auto& [name, of] : sums) {
    EXPECT_EQ(of.back(), 33) << name;
    // Only the first of three lines has the name.
    std::string line =
        name.find("25 %") != std::string::npos ? "| " + name : "|" + name.substr(name.find(" | "));
    for (std::size_t k = 0; k < columns.size(); ++k) {
      char cell[32];
      std::snprintf(cell, sizeof cell, "%.2f | ", of[k] / of.back());
      line += cell;
    }
    line.pop_back();
    tables.ExpectWords(line);
  }
  tables.ExpectWords("in " + std::to_string(cases - less) + " of the " + std::to_string(cases) +
                     " cases");
}

// What is proved of the best choice, and by how many points the others may miss it.
TEST(Documentation, BestChoiceForAFastMemory) {
  const Tables tables(kPapers, "## What stays in a fast memory");
  std::map<bool, int> cases;  // Of challenging tables, and of models.
  std::map<bool, int> proved;
  std::map<std::string, std::string> left;  // At 50 %, by seed.
  std::vector<double> models;               // Points at 25 %.
  std::map<std::string, double> most;       // Of challenging tables, by table and capacity.
  for (const Row& row : Results("memories/memories-choice.csv")) {
    const std::string& table = row.at("table");
    const std::string& capacity = row.at("capacity_percent");
    const bool challenging = table.rfind("challenging-", 0) == 0;
    ++cases[challenging];
    if (row.at("proved") == "yes") {
      EXPECT_EQ(row.at("benefit_percent"), row.at("bound_percent")) << table;
      ++proved[challenging];
      continue;
    }
    const double gap = Number(row, "gap_points");
    if (!challenging) {
      if (gap <= 0.01) continue;
      models.push_back(gap);
      EXPECT_EQ(capacity, "25") << table;
      continue;
    }
    if (capacity == "50") left[row.at("seed")] += table.back();
    const bool apart = table == "challenging-J" && capacity != "25";
    double& of = most[apart ? "J at " + capacity : "others"];
    of = std::max(of, gap);
  }
  const auto of = [&](bool challenging) {
    return std::to_string(proved[challenging]) + " of the " + std::to_string(cases[challenging]);
  };
  tables.ExpectWords("best choice of " + of(true) + " challenging cases");
  tables.ExpectWords("and of " + of(false) + " of all 34 models within 5 s each");
  std::sort(models.begin(), models.end());
  ASSERT_EQ(models.size(), 2U);
  char words[128];
  std::snprintf(words, sizeof words, "but for two cases at 25 %% (%.2f and %.2f)", models[0],
                models[1]);
  tables.ExpectWords(words);
  std::snprintf(words, sizeof words,
                "at most %.2f points but for J at 50 and 75 %% (up to %.2f and %.2f)",
                most["others"], most["J at 50"], most["J at 75"]);
  tables.ExpectWords(words);
  // D and J with every seed, A with the third.
  const std::map<std::string, std::string> wanted = {{"1", "DJ"}, {"2", "DJ"}, {"3", "ADJ"}};
  EXPECT_EQ(left, wanted);
  tables.ExpectWords("With seed 2 it is the same 9, with seed 3 all of these but A.");
}

}  // namespace
}  // namespace berth::lab
