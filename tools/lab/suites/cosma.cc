// COSMA's experiments (Li, Gupta and Malik, 2023): off-chip traffic under three budgets, against
// what compilers do today; on hand-designed networks, on networks found by architecture search, and on
// training steps, which the paper leaves out.
//
// Every plan goes through the independent checker, which runs it. Each result is held against what
// must be true: no single order beats the search over all orders, and nothing is spilled where the
// least peak of any order fits.

#include "berth/cosma.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/try.h"
#include "berth/graph_memories.h"
#include "berth/plan.h"
#include "tools/berth/checked.h"
#include "tools/berth/model.h"
#include "tools/berth/terminal.h"
#include "tools/generate/cells.h"
#include "tools/generate/graphs.h"
#include "tools/lab/suites/cosma.h"
#include "tools/lab/suites/inputs.h"
#include "tools/lab/suites/suites.h"

namespace berth::lab {
namespace {

namespace fs = std::filesystem;

// An accelerator without Berth: an order, and a rule that chooses the tensor to spill.
struct Scheme {
  std::string_view key;
  std::string_view title;
  bool least_peak;  // In the order of the least peak instead of program order.
  Replacement rule;
};
constexpr std::array<Scheme, 4> kSchemes = {
    {{"program_belady", "program order, Belady", false, Replacement::kBelady},
     {"program_greedy", "program order, greedy", false, Replacement::kGreedy},
     {"peak_belady", "least-peak order, Belady", true, Replacement::kBelady},
     {"peak_greedy", "least-peak order, greedy", true, Replacement::kGreedy}}};

using Solved = CosmaSolved;
using Kind = CosmaNetworks;

struct Case {
  std::string network;
  std::string budget;  // "MR", or "MR with weights".
  NamedBudget level = NamedBudget::kOneOperator;
  Bytes capacity = 0;
  bool peak_proved = false;
  std::array<Bytes, kSchemes.size()> schemes = {};
  std::array<std::optional<CosmaCost>, kSchemes.size()> costs = {};
  Solved program;
  Solved least_peak;
  Solved all_orders;
};

// Networks found by architecture search, by their names.
bool IsSearched(const std::string& name) {
  for (const std::string_view part : {"nasnet", "darts", "amoeba", "randwire"}) {
    if (name.find(part) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

Result<std::vector<GraphInput>> ReadCosmaNetworks(const Lab& lab, CosmaNetworks kind) {
  const SuiteOptions& options = lab.options();
  const bool training = kind == Kind::kTraining;
  std::vector<std::string> paths = options.tables;
  const bool given = !paths.empty();
  if (!given && !options.data.empty()) {
    const fs::path folder = fs::path(options.data) / (training ? "training" : "inference");
    std::error_code ignored;
    if (fs::is_directory(folder, ignored)) paths = {folder.string()};
  }
  std::vector<GraphInput> networks;
  // Built from their published cells, with images of 224 x 224 and 8-bit data as in the paper.
  if (!given && kind == Kind::kSearched) {
    internal::CellNetworkSize nasnet = internal::kNasnetALarge;
    nasnet.resolution = 224;
    for (Graph graph :
         {internal::MakeAmoebanetD(internal::kAmoebanetD, 1), internal::MakeNasnetA(nasnet, 1)}) {
      const std::string name = graph.name;
      networks.push_back({name, name, "inference", std::move(graph)});
    }
  }
  if (paths.empty()) {
    const std::size_t count = lab.Inputs(6, kind == Kind::kDesigned ? 2 : 1);
    for (std::uint64_t seed = 1; seed <= count; ++seed) {
      internal::GraphParameters parameters;
      parameters.seed = seed;
      parameters.operators = 20 + static_cast<std::int64_t>(10 * seed);
      parameters.width = 8;
      networks.push_back(GenerateGraphInput(
          training ? internal::GraphFamily::kCell : internal::GraphFamily::kIrregular, parameters));
    }
    return networks;
  }
  auto read = ReadGraphs(paths, /*element_bytes=*/1);  // As in the paper.
  if (!read) return read;
  const std::size_t most = networks.size() + lab.Inputs(read->size(), 2);
  for (GraphInput& input : *read) {
    const bool wanted = given || training || IsSearched(input.name) == (kind == Kind::kSearched);
    if (wanted && networks.size() < most) networks.push_back(std::move(input));
  }
  return networks;
}

Result<CosmaSolved> SolveForCosma(const GraphInput& network, const Counting& counting,
                                  const NamedBudgets& named, NamedBudget level,
                                  std::optional<Order> order, double limit) {
  PlanOptions options;
  options.capacity = level;
  options.spill = true;
  options.order = std::move(order);
  options.schedule.counting = counting;
  options.budgets = named;
  Budget budget;
  budget.SetTimeLimit(limit);
  const PlanAnswer answer = BERTH_TRY(Plan(network.graph, options, budget));
  cli::VerifyOrDie(network.graph, counting, answer);
  Solved solved;
  solved.lower_bound = answer.traffic_bound;
  solved.without_addresses = answer.traffic_by_sum;
  solved.proved = answer.outcome == Outcome::kOptimal;
  solved.seconds = answer.spilling.seconds;
  if (answer.best->addressed) solved.traffic = answer.best->traffic.avoidable();
  solved.cost = BERTH_TRY(CostOfPlan(network.graph, *answer.best));
  return solved;
}

Result<CosmaInScratchpads> SolveInScratchpads(const Graph& graph, const Counting& counting,
                                              const GraphMemories& memories,
                                              std::optional<Order> order,
                                              const std::vector<Order>& more, Budget& budget) {
  PlanOptions options;
  options.memories = memories;
  options.spill = true;
  options.order = std::move(order);
  options.more_orders = more;
  options.schedule.counting = counting;
  PlanAnswer answer = BERTH_TRY(Plan(graph, options, budget));
  CosmaInScratchpads found;
  found.solved.lower_bound = answer.traffic_bound;
  found.solved.without_addresses = answer.traffic_by_sum;
  found.solved.proved = answer.outcome == Outcome::kOptimal;
  found.solved.seconds = answer.seconds;
  if (!answer.best || !answer.best->addressed) return found;
  cli::VerifyOrDie(graph, counting, memories, *answer.best);
  found.solved.traffic = answer.best->traffic.avoidable();
  found.plan = std::move(answer.best);
  return found;
}

Cell TrafficCell(const CosmaSolved& solved) {
  if (!solved.traffic) return NoCell();
  Cell cell = {cli::FormatCount(*solved.traffic), std::to_string(*solved.traffic)};
  if (!solved.proved) cell.text += "*";
  return cell;
}

namespace {

// The traffic of a plan, or of bytes that fit in sum where no plan with addresses was found.
Bytes TrafficOf(const Solved& solved) { return solved.traffic.value_or(solved.without_addresses); }

void Judge(Lab& lab, const Case& result) {
  const std::string where = result.network + ", " + result.budget;
  if (!result.all_orders.traffic) {
    lab.Note(where + ": no plan with addresses was found");
    return;
  }
  const Bytes all = *result.all_orders.traffic;
  for (const Solved* one : {&result.program, &result.least_peak}) {
    if (!one->traffic || all <= *one->traffic) continue;
    if (result.all_orders.proved || *one->traffic < result.all_orders.lower_bound) {
      lab.Note(where + ": " + cli::FormatBytesExactly(all) + " of traffic, but one order needs " +
               cli::FormatBytesExactly(*one->traffic));
    } else {
      // All orders reached the limit, and the search for one spent all of its time on that one.
      lab.Say(where + ": when time was up, " + cli::FormatBytesExactly(all) +
              " of traffic; the search for one order alone had " +
              cli::FormatBytesExactly(*one->traffic) + ".");
    }
  }
  for (std::size_t s = 0; s < kSchemes.size(); ++s) {
    if (all > result.schemes[s]) {
      lab.Note(where + ": " + cli::FormatBytesExactly(all) + " of traffic, but " +
               std::string(kSchemes[s].title) + " needs " +
               cli::FormatBytesExactly(result.schemes[s]));
    }
  }
  if (result.level == NamedBudget::kLeastPeak && result.peak_proved &&
      result.all_orders.without_addresses > 0) {
    lab.Note(where + ": something is spilled, though the least peak fits");
  }
}

Result<void> Measure(Lab& lab, const std::string& what, const GraphInput& network,
                     const Counting& counting, double limit, std::vector<Case>& cases) {
  const bool weights = counting.parameters;
  Budget scheduling;
  scheduling.SetTimeLimit(std::max(limit, 1.0) * 6);
  lab.Progress(what + ", " + network.name + ", least peak");
  const auto named = BERTH_TRY(berth::FindBudgets(network.graph, counting, scheduling));
  const Order program = ProgramOrder(network.graph);
  for (const CosmaLevel& level : kCosmaLevels) {
    Case result;
    result.network = network.name;
    result.budget = std::string(level.name) + (weights ? " with weights" : "");
    result.level = level.budget;
    result.peak_proved = named.peak_proved;
    result.capacity = named.Of(level.budget);
    lab.Progress(what + ", " + network.name + ", " + result.budget);
    for (std::size_t s = 0; s < kSchemes.size(); ++s) {
      const auto plan =
          BERTH_TRY(ReplaceOneByOne(network.graph, kSchemes[s].least_peak ? named.order : program,
                                    counting, result.capacity, kSchemes[s].rule));
      cli::VerifyOrDie(network.graph, counting, result.capacity, plan);
      result.schemes[s] = plan.traffic.avoidable();
      result.costs[s] = BERTH_TRY(CostOfPlan(network.graph, plan));
    }
    const auto solve = [&](std::optional<Order> order) {
      return SolveForCosma(network, counting, named, level.budget, std::move(order), limit);
    };
    result.program = BERTH_TRY(solve(program));
    result.least_peak = BERTH_TRY(solve(named.order));
    result.all_orders = BERTH_TRY(solve(std::nullopt));
    Judge(lab, result);
    cases.push_back(std::move(result));
  }
  return {};
}

bool Spills(const Case& result) {
  return TrafficOf(result.all_orders) > 0 || TrafficOf(result.program) > 0 ||
         TrafficOf(result.least_peak) > 0 ||
         std::any_of(result.schemes.begin(), result.schemes.end(), [](Bytes b) { return b > 0; });
}

// The traffic of every scheme and search.
Sheet TrafficSheet(const std::vector<Case>& cases, bool all) {
  std::vector<Sheet::Column> columns = {
      {"network", "network", false}, {"budget", "budget", false}, {"bytes", "capacity_bytes"}};
  for (const Scheme& scheme : kSchemes) {
    columns.push_back({std::string(scheme.title), std::string(scheme.key) + "_bytes"});
  }
  for (const auto& [title, key] :
       std::array<std::pair<std::string, std::string>, 3>{{{"Berth, program order", "program"},
                                                           {"least-peak order", "least_peak"},
                                                           {"all orders", "all_orders"}}}) {
    columns.push_back({title, key + "_bytes"});
    if (all) {
      columns.push_back({"", key + "_lower_bound_bytes"});
      columns.push_back({"", key + "_without_addresses_bytes"});
      columns.push_back({"", key + "_seconds"});
    }
  }
  Sheet sheet(columns);
  for (const Case& result : cases) {
    if (!all && !Spills(result)) continue;
    std::vector<Cell> row = {TextCell(result.network),
                             TextCell(result.budget),
                             {cli::FormatCount(result.capacity), std::to_string(result.capacity)}};
    for (const Bytes traffic : result.schemes) {
      row.push_back({cli::FormatCount(traffic), std::to_string(traffic)});
    }
    for (const Solved* solved : {&result.program, &result.least_peak, &result.all_orders}) {
      row.push_back(TrafficCell(*solved));
      if (!all) continue;
      row.push_back(BytesCell(solved->lower_bound));
      row.push_back(BytesCell(solved->without_addresses));
      row.push_back(SecondsCell(solved->seconds));
    }
    sheet.AddRow(std::move(row));
  }
  return sheet;
}

// The time of each search; of several budgets in one row.
Sheet SecondsSheet(const std::vector<Case>& cases) {
  Sheet sheet({{"network", "network", false},
               {"budget", "budget", false},
               {"program order", "program_seconds"},
               {"least-peak order", "least_peak_seconds"},
               {"all orders", "all_orders_seconds"},
               {"", "all_orders_proved", false}});
  for (const Case& result : cases) {
    sheet.AddRow(
        {TextCell(result.network),
         TextCell(result.budget),
         SecondsCell(result.program.seconds),
         SecondsCell(result.least_peak.seconds),
         SecondsCell(result.all_orders.seconds),
         {result.all_orders.proved ? "proved" : "limit", result.all_orders.proved ? "1" : "0"}});
  }
  return sheet;
}

// The mean reduction of the traffic against each scheme, over the cases in which the scheme has
// any.
Sheet ReductionSheet(const std::vector<Case>& cases) {
  Sheet sheet({{"instead of", "scheme", false},
               {"cases", "cases"},
               {"all budgets", "mean_reduction"},
               {"MR", "mean_reduction_MR"},
               {"MH", "mean_reduction_MH"},
               {"MP", "mean_reduction_MP"}});
  const auto mean = [&](std::optional<std::size_t> scheme, std::optional<NamedBudget> level) {
    double sum = 0;
    std::int64_t count = 0;
    for (const Case& result : cases) {
      if (level && result.level != *level) continue;
      for (std::size_t s = 0; s < kSchemes.size(); ++s) {
        if ((scheme && s != *scheme) || result.schemes[s] == 0) continue;
        sum += 1 - static_cast<double>(TrafficOf(result.all_orders)) /
                       static_cast<double>(result.schemes[s]);
        ++count;
      }
    }
    return std::pair{sum, count};
  };
  const auto add = [&](std::string_view name, std::optional<std::size_t> scheme) {
    std::vector<Cell> row = {TextCell(name), CountCell(mean(scheme, {}).second)};
    const auto add_mean = [&](std::optional<NamedBudget> level) {
      const auto [sum, count] = mean(scheme, level);
      row.push_back(count == 0 ? NoCell() : PercentCell(sum / static_cast<double>(count)));
    };
    add_mean(std::nullopt);
    for (const CosmaLevel& level : kCosmaLevels) add_mean(level.budget);
    sheet.AddRow(std::move(row));
  };
  for (std::size_t s = 0; s < kSchemes.size(); ++s) add(kSchemes[s].title, s);
  add("all four", std::nullopt);
  return sheet;
}

Chart TrafficChart(const std::vector<Case>& cases) {
  Chart chart;
  chart.x.label = "avoidable off-chip traffic, bytes";
  chart.x.logarithmic = true;
  chart.note = "At the left end: none. Cases without any traffic are left out.";
  chart.open_means = "not proved the least";
  chart.width = 1100;
  for (const Scheme& scheme : kSchemes) {
    chart.series.push_back({std::string(scheme.title), ChartSeries::Style::kPoints, {}, {}});
  }
  chart.series.push_back({"Berth, all orders", ChartSeries::Style::kPoints, {}, {}});
  for (const Case& result : cases) {
    if (!Spills(result)) continue;
    const auto row = static_cast<double>(chart.y.categories.size());
    chart.y.categories.push_back(result.network + ", " + result.budget);
    for (std::size_t s = 0; s < kSchemes.size(); ++s) {
      chart.series[s].points.push_back({static_cast<double>(result.schemes[s]), row, false,
                                        cli::FormatBytesExactly(result.schemes[s])});
    }
    const Bytes own = TrafficOf(result.all_orders);
    chart.series.back().points.push_back(
        {static_cast<double>(own), row, !result.all_orders.proved, cli::FormatBytesExactly(own)});
  }
  chart.height = 220 + 22 * static_cast<int>(chart.y.categories.size());
  return chart;
}

// Says what energy and time all plans take, where operators have times.
void ShowCosts(Lab& lab, const std::string& key, const std::vector<Case>& cases) {
  std::vector<CosmaContender> contenders;
  for (const Scheme& scheme : kSchemes) contenders.push_back({scheme.key, scheme.title});
  contenders.insert(contenders.end(), {{"program", "Berth, program order"},
                                       {"least_peak", "Berth, least-peak order"},
                                       {"all_orders", "Berth, all orders"}});
  std::vector<CosmaCosts> costs;
  for (const Case& result : cases) {
    CosmaCosts each{
        result.network, result.budget, result.level, {result.costs.begin(), result.costs.end()}};
    for (const Solved* solved : {&result.program, &result.least_peak, &result.all_orders}) {
      each.of.push_back(solved->cost);
    }
    costs.push_back(std::move(each));
  }
  const Sheet summary = CosmaCostSummary(costs, contenders);
  lab.Say(
      "On an accelerator of 4 trillion operations a second, with 100 GB/s to its memory and 12.8 "
      "GB/s, "
      "100 ns for each copy and 162.5 pJ for each byte to DRAM; copies are made while operators "
      "run. What "
      "Berth over all orders saves on average in the cases in which the other one has avoidable "
      "traffic, "
      "and in how many it is slower; the energy of the avoidable traffic of all networks; the mean "
      "time of "
      "a run relative to its operators alone:\n");
  lab.Show(summary);
  lab.Keep(key + "-cost", CosmaCostSheet(costs, contenders));
  lab.Keep(key + "-cost-summary", summary);
}

// Gives the operators of all networks times; what cannot be priced but by its bytes is said.
Result<void> Price(const Lab& lab, std::vector<GraphInput>& networks) {
  for (GraphInput& network : networks) {
    const Unpriced unpriced = BERTH_TRY(PriceForCosma(network.graph));
    if (unpriced.arithmetic == 0) continue;
    lab.Say(network.name + ": " + std::to_string(unpriced.arithmetic) + " of " +
            std::to_string(network.graph.operators.size()) +
            " operators take the time of their bytes, as their arithmetic is not known.");
  }
  return {};
}

Result<void> RunExperiment(Lab& lab, const std::string& key, const std::string& title, Kind kind,
                           bool with_weights, double limit, std::string_view paper) {
  auto networks = BERTH_TRY(ReadCosmaNetworks(lab, kind));
  // Training steps have no shapes.
  const bool priced = kind != Kind::kTraining;
  if (priced) BERTH_TRY(Price(lab, networks));
  std::vector<Case> cases;
  for (const GraphInput& network : networks) {
    BERTH_TRY(Measure(lab, key, network, {}, limit, cases));
    if (!with_weights) continue;
    BERTH_TRY(Measure(lab, key, network, {true, true}, limit, cases));
  }
  lab.Progress("");
  lab.Say("Avoidable traffic in bytes, where there is any; a star: not proved the least.\n");
  lab.Show(TrafficSheet(cases, /*all=*/false));
  lab.Say("Time of each search:\n");
  lab.Show(SecondsSheet(cases));
  lab.Say("By how much less than each scheme moves, where it moves anything:\n");
  const Sheet reduction = ReductionSheet(cases);
  lab.Show(reduction);
  if (!paper.empty()) lab.Say(std::string(paper));
  lab.Keep(key, TrafficSheet(cases, /*all=*/true));
  lab.Keep(key + "-reduction", reduction);
  if (priced) ShowCosts(lab, key, cases);
  Chart chart = TrafficChart(cases);
  chart.title = title;
  chart.subtitle = "MR: what one operator needs; MP: the least peak; MH: halfway";
  if (!chart.y.categories.empty()) lab.Keep(key, chart);
  return {};
}

Result<void> Figure3(Lab& lab) {
  lab.Heading("Figure 3: networks that people designed",
              "8-bit data, three budgets, without and with weights (and inputs); least-peak and "
              "program order, TensorFlow Lite's linear allocator, and two rules that choose what "
              "to spill.");
  return RunExperiment(lab, "figure3", "Off-chip traffic of networks that people designed",
                       Kind::kDesigned, /*with_weights=*/true, lab.TimeLimit(10),
                       "The paper: 84 % less on average.\n");
}

Result<void> Figure4(Lab& lab) {
  lab.Heading("Table II and Figure 4: networks that a search has made",
              "8-bit data, activations alone, three budgets.");
  return RunExperiment(lab, "figure4", "Off-chip traffic of networks that a search has made",
                       Kind::kSearched, /*with_weights=*/false, lab.TimeLimit(10),
                       "The paper: 85 % less on average; 5 to 84 s for one order, 19 to 113 s over "
                       "all orders with break nodes chosen by hand.\n");
}

Result<void> Training(Lab& lab) {
  lab.Heading("Training steps",
              "Forwards, backwards and the update; 32-bit data. Not in the paper.");
  return RunExperiment(lab, "training", "Off-chip traffic of training steps", Kind::kTraining,
                       /*with_weights=*/false, lab.TimeLimit(10), "");
}

// One network whose activations (and inputs) and weights have a scratchpad each.
struct Pads {
  std::string network;
  std::string budget;
  NamedBudget level = NamedBudget::kOneOperator;
  std::array<Bytes, 2> capacity = {};  // For activations, for weights.
  Solved program;                      // Each scratchpad planned alone, in program order,
  Solved least_peak;                   // and in that of the least peak of activations.
  Solved all_orders;
};

constexpr Counting kEverything = {true, true};

// Memory 0 is for activations and inputs, memory 1 for weights.
GraphMemories PadsOf(const Graph& graph, const std::array<Bytes, 2>& capacity) {
  GraphMemories memories;
  memories.memories = {{.name = "activations", .capacity = capacity[0]},
                       {.name = "weights", .capacity = capacity[1]}};
  memories.allowed = AllowedByKind(graph, {0}, {1});
  return memories;
}

// The scratchpads one by one in one order, each as if there were no other.
Result<Solved> SolveApart(const GraphInput& network, const GraphMemories& memories,
                          const Order& order, double limit) {
  Solved sum;
  sum.traffic = 0;
  sum.proved = true;
  for (std::size_t m = 0; m < memories.memories.size(); ++m) {
    const GraphInput part{network.name, network.model, network.group,
                          PartOf(network.graph, memories, m)};
    PlanOptions options;
    options.capacity = *memories.memories[m].capacity;
    options.spill = true;
    options.order = order;
    options.schedule.counting = kEverything;
    Budget budget;
    budget.SetTimeLimit(limit / 2);
    const PlanAnswer answer = BERTH_TRY(Plan(part.graph, options, budget));
    cli::VerifyOrDie(part.graph, kEverything, answer);
    sum.lower_bound += answer.traffic_bound;
    sum.without_addresses += answer.traffic_by_sum;
    sum.proved = sum.proved && answer.outcome == Outcome::kOptimal;
    sum.seconds += answer.seconds;
    if (sum.traffic && answer.best && answer.best->addressed) {
      *sum.traffic += answer.best->traffic.avoidable();
    } else {
      sum.traffic.reset();
    }
  }
  return sum;
}

void Judge(Lab& lab, const Pads& result) {
  const std::string where = result.network + ", " + result.budget;
  if (!result.all_orders.traffic) {
    lab.Note(where + ": no plan with addresses was found");
    return;
  }
  for (const Solved* one : {&result.program, &result.least_peak}) {
    if (one->traffic && *result.all_orders.traffic > *one->traffic) {
      lab.Note(where + ": " + cli::FormatBytesExactly(*result.all_orders.traffic) +
               " of traffic, but separate plans in one order need " +
               cli::FormatBytesExactly(*one->traffic));
    }
  }
}

Result<void> Scratchpads(Lab& lab) {
  lab.Heading("Section V-A: a scratchpad for activations, another for weights",
              "8-bit data, inputs with the activations, three budgets for each scratchpad.");
  std::vector<GraphInput> networks = BERTH_TRY(ReadCosmaNetworks(lab, Kind::kDesigned));
  if (lab.options().tables.empty()) {
    for (GraphInput& network : BERTH_TRY(ReadCosmaNetworks(lab, Kind::kSearched))) {
      networks.push_back(std::move(network));
    }
  }
  for (GraphInput& network : networks) MarkWeights(network.graph);
  const double limit = lab.TimeLimit(10);
  Sheet sheet({{"network", "network", false},
               {"budget", "budget", false},
               {"activations", "activations_capacity_bytes"},
               {"weights", "weights_capacity_bytes"},
               {"apart, program order", "program_bytes"},
               {"apart, least-peak order", "least_peak_bytes"},
               {"Berth, all orders", "all_orders_bytes"},
               {"bound", "all_orders_lower_bound_bytes"},
               {"time", "all_orders_seconds"},
               {"", "all_orders_proved", false}});
  std::int64_t proved = 0;
  std::int64_t count = 0;
  for (const GraphInput& network : networks) {
    const GraphMemories any = PadsOf(network.graph, {kMaxBytes, kMaxBytes});
    std::array<NamedBudgets, 2> named;
    for (std::size_t m = 0; m < named.size(); ++m) {
      lab.Progress("scratchpads, " + network.name + ", least peak");
      Budget scheduling;
      scheduling.SetTimeLimit(std::max(limit, 1.0));
      named[m] =
          BERTH_TRY(berth::FindBudgets(PartOf(network.graph, any, m), kEverything, scheduling));
    }
    for (const CosmaLevel& level : kCosmaLevels) {
      Pads result;
      result.network = network.name;
      result.budget = std::string(level.name);
      result.level = level.budget;
      // A scratchpad has a byte at least.
      for (std::size_t m = 0; m < named.size(); ++m) {
        result.capacity[m] = std::max<Bytes>(1, named[m].Of(level.budget));
      }
      lab.Progress("scratchpads, " + network.name + ", " + result.budget);
      const GraphMemories memories = PadsOf(network.graph, result.capacity);
      result.program = BERTH_TRY(SolveApart(network, memories, ProgramOrder(network.graph), limit));
      result.least_peak = BERTH_TRY(SolveApart(network, memories, named[0].order, limit));
      Budget budget;
      budget.SetTimeLimit(limit);
      result.all_orders =
          BERTH_TRY(SolveInScratchpads(network.graph, kEverything, memories, std::nullopt,
                                       {named[0].order, named[1].order}, budget))
              .solved;
      Judge(lab, result);
      ++count;
      proved += result.all_orders.proved ? 1 : 0;
      sheet.AddRow(
          {TextCell(result.network),
           TextCell(result.budget),
           BytesCell(result.capacity[0]),
           BytesCell(result.capacity[1]),
           TrafficCell(result.program),
           TrafficCell(result.least_peak),
           TrafficCell(result.all_orders),
           BytesCell(result.all_orders.lower_bound),
           SecondsCell(result.all_orders.seconds),
           {result.all_orders.proved ? "proved" : "limit", result.all_orders.proved ? "1" : "0"}});
    }
  }
  lab.Progress("");
  lab.Say(
      "Avoidable traffic of both scratchpads in bytes; a star: not proved the least, of the "
      "first two in that order.\n");
  lab.Show(sheet);
  lab.Say("Proved the least over all orders: " + std::to_string(proved) + " of " +
          std::to_string(count) + ".\n");
  lab.Keep("scratchpads", sheet);
  return {};
}

constexpr std::array<Experiment, 6> kExperiments = {
    {{"figure3", "Figure 3: networks that people designed", Figure3},
     {"figure4", "Table II and Figure 4: networks that a search has made", Figure4},
     {"programs", "Table II: the paper's integer programs", CosmaPrograms},
     {"scratchpads", "Section V-A: scratchpads for activations and weights", Scratchpads},
     {"elements", "Section III-A: a scratchpad for each processing element", CosmaElements},
     {"training", "Training steps", Training}}};

}  // namespace

const Suite& CosmaSuite() {
  static constexpr Suite kSuite = {
      "cosma",
      "Y. Li, A. Gupta and S. Malik, \"Combined Scheduling, Memory Allocation and Tensor "
      "Replacement for Minimizing Off-Chip Data Accesses of DNN Accelerators\", 2023",
      kExperiments,
      {"graphs", "inference", "training"}};
  return kSuite;
}

}  // namespace berth::lab
