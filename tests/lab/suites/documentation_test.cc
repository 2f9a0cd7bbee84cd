// What the documentation says of experiments is what the kept results say.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace berth::lab {
namespace {

using Row = std::map<std::string, std::string>;  // By column.

std::string ReadText(const std::string& path) {
  std::ifstream file(BERTH_SOURCE_DIR "/" + path);
  EXPECT_TRUE(file.good()) << path;
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> Split(const std::string& line, char at) {
  std::vector<std::string> parts;
  std::istringstream stream(line + at);
  for (std::string part; std::getline(stream, part, at);) parts.push_back(part);
  return parts;
}

std::vector<Row> Results(const std::string& name) {
  std::istringstream lines(ReadText("bench/results/" + name));
  std::string line;
  std::getline(lines, line);
  const std::vector<std::string> columns = Split(line, ',');
  std::vector<Row> rows;
  while (std::getline(lines, line)) {
    const std::vector<std::string> fields = Split(line, ',');
    EXPECT_EQ(fields.size(), columns.size()) << line;
    Row& row = rows.emplace_back();
    for (std::size_t c = 0; c < columns.size() && c < fields.size(); ++c)
      row[columns[c]] = fields[c];
  }
  EXPECT_FALSE(rows.empty()) << name;
  return rows;
}

double Number(const Row& row, const std::string& column) {
  const auto found = row.find(column);
  EXPECT_NE(found, row.end()) << column;
  return found == row.end() || found->second.empty() ? NAN : std::stod(found->second);
}

// The rows of the tables of one section, by their first cells, each with its other cells, without bold letters.
class Tables {
 public:
  Tables(const std::string& document, const std::string& heading) {
    std::string text = ReadText("docs/" + document);
    std::erase(text, '*');
    const std::size_t begin = text.find("\n" + heading + "\n");
    EXPECT_NE(begin, std::string::npos) << heading;
    if (begin == std::string::npos) return;
    section_ = text.substr(begin, text.find("\n#", begin + 1) - begin);
    std::istringstream lines(section_);
    for (std::string line; std::getline(lines, line);) {
      if (line.empty() || line[0] != '|') continue;
      std::vector<std::string> cells = Split(line.substr(1), '|');
      for (std::string& cell : cells) {
        const std::size_t first = cell.find_first_not_of(' ');
        cell = first == std::string::npos
                   ? ""
                   : cell.substr(first, cell.find_last_not_of(' ') - first + 1);
      }
      const std::string name = cells.front();
      cells.erase(cells.begin());
      if (!cells.empty() && cells.back().empty()) cells.pop_back();
      rows_[name] = cells;
    }
  }

  [[nodiscard]] const std::string& section() const { return section_; }

  // Each cell is the number, rounded as it is printed, perhaps with a unit; NAN: empty.
  void Expect(const std::string& name, const std::vector<double>& numbers) const {
    SCOPED_TRACE(name);
    const auto found = rows_.find(name);
    ASSERT_NE(found, rows_.end());
    ASSERT_GE(found->second.size(), numbers.size());
    for (std::size_t c = 0; c < numbers.size(); ++c) {
      std::string cell = found->second[c];
      std::erase(cell, ',');
      if (std::isnan(numbers[c])) {
        EXPECT_EQ(cell, "") << c;
        continue;
      }
      cell = cell.substr(0, cell.find(' '));
      ASSERT_FALSE(cell.empty()) << c;
      const std::size_t point = cell.find('.');
      const std::size_t decimals = point == std::string::npos ? 0 : cell.size() - point - 1;
      const double half = 0.5 * std::pow(10, -static_cast<double>(decimals));
      EXPECT_NEAR(std::stod(cell), numbers[c], half * 1.001) << c;
    }
  }

 private:
  std::string section_;
  std::map<std::string, std::vector<std::string>> rows_;
};

constexpr const char* kPapers = "howto/reproduce-the-papers.md";

// Of an odd number the middle one.
double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
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
  const std::map<std::string, std::string> names = {{"telamalloc", "TelaMalloc"},
                                                    {"canonical", "MiniMalloc's search"},
                                                    {"guided", "Berth `guided`"},
                                                    {"niche", "Berth `niche`"}};
  ASSERT_EQ(counts.size(), names.size());
  for (const auto& [algorithm, of] : counts) {
    EXPECT_EQ(of.inputs, 34);
    tables.Expect(names.at(algorithm), {of.other, of.spread, of.tighter, of.changed, of.most});
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
  const std::map<std::string, std::string> names = {{"csp", "CSP"},
                                                    {"meta-csp", "meta-CSP"},
                                                    {"ilp", "ILP"},
                                                    {"telamalloc", "TelaMalloc"},
                                                    {"canonical", "MiniMalloc's search"},
                                                    {"niche", "Berth `niche`"},
                                                    {"auto", "Berth `auto`"}};
  ASSERT_EQ(by.size(), names.size());
  for (const auto& [algorithm, of] : by) {
    const bool itself = algorithm == "telamalloc";
    const auto [least, most] = std::minmax_element(of.ratios.begin(), of.ratios.end());
    tables.Expect(names.at(algorithm),
                  {static_cast<double>(of.seconds.size()),
                   *std::max_element(of.seconds.begin(), of.seconds.end()), Median(of.ratios),
                   itself ? NAN : *least, itself ? NAN : *most, of.runs});
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
  const std::map<std::string, std::string> names = {{"csp", "CSP"}, {"meta-csp", "meta-CSP"}};
  ASSERT_EQ(solved.size(), names.size());
  for (const auto& [algorithm, counts] : solved) {
    EXPECT_EQ(inputs[algorithm], 33);
    tables.Expect(names.at(algorithm) + ", 33 inputs", counts);
  }
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
    const bool own = algorithm.rfind("Berth ", 0) == 0;
    tables.Expect(own ? "Berth `" + algorithm.substr(6) + "`" : algorithm, wanted);
  }
}

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

}  // namespace
}  // namespace berth::lab
