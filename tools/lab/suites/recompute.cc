// Operators that run again: MOCCASIN's benchmark and training steps, by Berth and by what others do.
//
// Every plan goes through the independent checker, which runs it. A method that costs less than a bound of
// Berth's is a fault.

#include "tools/lab/suites/recompute.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/try.h"
#include "base/wide.h"
#include "berth/plan.h"
#include "berth/recompute_baselines.h"
#include "tools/berth/checked.h"
#include "tools/berth/terminal.h"
#include "tools/generate/graphs.h"
#include "tools/lab/suites/inputs.h"
#include "tools/lab/suites/suites.h"

namespace berth::lab {
namespace {

namespace fs = std::filesystem;

// Larger programs are not handed to the solver: its first linear program alone takes longer than the limit.
constexpr std::int64_t kMostVariables = 100'000;

// What papers state of one method: the cost of repeats in per cent of that of all operators, and seconds
// on their machines; below 0: not stated.
struct Stated {
  double percent = -1;
  double seconds = -1;
};
// MOCCASIN: Bartan et al., ICML 2023, which also has the figures of Checkmate's program; FastSA: Imanishi et
// al., NeurIPS 2023.
struct Published {
  std::string_view graph;
  int percent;  // Of the peak.
  Stated checkmate;
  Stated moccasin;
  Stated fastsa;
};
constexpr std::array<Published, 16> kPublished = {{
    {"fcn8_vgg_32", 90, {0.0, 6.3}, {0.0, 3.1}, {0.1, 9}},
    {"fcn8_vgg_32", 80, {0.1, 5.6}, {0.1, 3.1}, {0.1, 10}},
    {"fcn8_vgg_32", 70, {}, {}, {3.0}},
    {"resnet50_256", 90, {0.1, 434}, {0.2, 65}, {0.2, 11}},
    {"resnet50_256", 80, {0.3, 485}, {0.3, 69}, {0.4, 11}},
    {"resnet50_256", 70, {}, {}, {0.8}},
    {"rl1", 90, {0.8}, {0.8}, {0.0}},
    {"rl1", 80, {2.3, 20}, {2.3, 9}, {0.3}},
    {"rl2", 90, {0.9, 685}, {0.9, 55}, {0}},
    {"rl2", 80, {}, {4.9, 640}, {0}},
    {"rl2", 70, {}, {}, {2.6}},
    {"rl3", 90, {}, {0.7, 1803}, {0.03}},
    {"rl3", 80, {}, {3.4, 1805}, {2.3, 21}},
    {"rl4", 90, {}, {0.7, 3613}, {0.4}},
    {"rl4", 80, {}, {3.4, 3612}, {2.5, 36}},
    {"rl4", 70, {}, {}, {7.4, 36}},
}};

// Checkmate's graphs do not say where the backward pass begins: the loss is in the middle, and a gradient
// for each operator follows.
constexpr std::array<std::string_view, 2> kLossInTheMiddle = {"fcn8_vgg_32", "resnet50_256"};

struct Row {
  const GraphInput* network = nullptr;
  int percent = 0;
  Bytes capacity = 0;
  std::int64_t all = 0;  // The cost of running every operator once.
  PlanAnswer any;        // By Berth: over all orders,
  PlanAnswer fixed;      // and in the order of the others. Seconds are of the processor.
  std::vector<std::optional<RecomputeBaselineAnswer>> others;  // None: it does not apply.
};

std::int64_t CostOfAll(const Graph& graph) {
  std::int64_t all = 0;
  for (const std::int64_t cost : CostsOf(graph).of) all += cost;
  return all;
}

// By Berth. Seconds are of the processor.
Result<PlanAnswer> PlanAndVerify(const Graph& graph, const PlanOptions& options, double limit) {
  Budget budget;
  budget.SetTimeLimit(limit);
  const double start = ProcessorSeconds();
  PlanAnswer answer = BERTH_TRY(Plan(graph, options, budget));
  answer.seconds = ProcessorSeconds() - start;
  cli::VerifyOrDie(graph, {}, answer);
  return answer;
}

// Over all orders or with first executions in `order`.
Result<PlanAnswer> Ask(const Graph& graph, Bytes capacity, const std::optional<Order>& order,
                       double limit) {
  PlanOptions options;
  options.capacity = capacity;
  options.recompute = true;
  options.order = order;
  return PlanAndVerify(graph, options, limit);
}

Result<std::optional<RecomputeBaselineAnswer>> AskOther(const GraphInput& network,
                                                        const RecomputeBaselineInfo& info,
                                                        Bytes capacity, const Order& order,
                                                        double limit) {
  RecomputeBaselineOptions options;
  options.capacity = capacity;
  options.order = order;
  options.most_variables = kMostVariables;
  const auto found = std::find(kLossInTheMiddle.begin(), kLossInTheMiddle.end(), network.name);
  if (found != kLossInTheMiddle.end()) options.backward = network.graph.operators.size() / 2 + 1;
  Budget budget;
  budget.SetTimeLimit(limit);
  const double start = ProcessorSeconds();
  auto answer = RecomputeWithBaseline(network.graph, info.baseline, options, budget);
  if (!answer) {  // No solver, or no backward pass.
    if (answer.error().code == ErrorCode::kUnsupported) return std::nullopt;
    return tl::unexpected(answer.error());
  }
  answer->seconds = ProcessorSeconds() - start;
  if (answer->plan) {
    const auto within = answer->plan->addressed ? std::optional<Bytes>(capacity) : std::nullopt;
    cli::VerifyOrDie(network.graph, {}, within, *answer->plan);
  }
  return std::optional<RecomputeBaselineAnswer>(std::move(*answer));
}

std::int64_t CostOf(const PlanAnswer& answer) { return answer.best->recomputed.cost; }

// A bound that a plan contradicts, and plans of others that are cheaper in the same order.
void Judge(Lab& lab, const Row& row) {
  const std::string where = row.network->name + ", " + std::to_string(row.percent) + " %";
  const auto cheaper = [&](std::string_view who, std::int64_t cost, const PlanAnswer& than,
                           const std::string& what) {
    if (cost < than.recompute_bound || than.outcome == Outcome::kInfeasible) {
      lab.Note(where + ": " + std::string(who) + " costs less than the bound " + what);
    } else if (HasPlan(than) && cost < CostOf(than)) {
      lab.Say(where + ": " + std::string(who) + " costs less than Berth's plan " + what + ".");
    }
  };
  if (HasPlan(row.fixed))
    cheaper("Berth's plan in one order", CostOf(row.fixed), row.any, "over all orders");
  for (const RecomputeBaselineInfo& info : RecomputeBaselines()) {
    const auto& other = row.others[static_cast<std::size_t>(info.baseline)];
    if (!other) continue;
    if (other->plan) {
      cheaper(info.name, other->plan->recomputed.cost, row.fixed, "in that order");
      cheaper(info.name, other->plan->recomputed.cost, row.any, "over all orders");
    }
    // The program's own proofs hold for what it can express, which Berth's plan need not be.
    if (other->plan && other->bound > other->plan->recomputed.cost) {
      lab.Note(where + ": " + std::string(info.name) + " costs less than its own bound");
    }
  }
}

Cell ShareCell(std::int64_t cost, std::int64_t all) {
  const double share = all == 0 ? 0.0 : static_cast<double>(cost) / static_cast<double>(all);
  Cell cell = PercentCell(share);
  cell.raw = std::to_string(cost);
  return cell;
}

void AppendOwn(const PlanAnswer& answer, std::int64_t all, std::vector<Cell>& cells) {
  cells.push_back(HasPlan(answer)                          ? ShareCell(CostOf(answer), all)
                  : answer.outcome == Outcome::kInfeasible ? Cell{"impossible", ""}
                                                           : Cell{"no plan", ""});
  cells.push_back(answer.outcome == Outcome::kInfeasible ? NoCell()
                                                         : ShareCell(answer.recompute_bound, all));
  cells.push_back(SecondsCell(answer.seconds));
}

// A star: the bytes fit, but addresses within the capacity were not found.
void AppendOther(const std::optional<RecomputeBaselineAnswer>& answer, std::int64_t all,
                 std::vector<Cell>& cells) {
  if (!answer) {
    cells.insert(cells.end(), {NoCell(), NoCell()});
    return;
  }
  if (answer->stopped == StopReason::kSize) {
    cells.insert(cells.end(), {{"too large", ""}, NoCell()});
    return;
  }
  Cell cost = {answer->outcome == Outcome::kInfeasible ? "impossible" : "no plan", ""};
  if (answer->plan) {
    cost = ShareCell(answer->plan->recomputed.cost, all);
    if (!answer->plan->addressed) cost.text += "*";
  }
  Cell time = SecondsCell(answer->seconds);
  const bool solver = answer->variables > 0;
  const bool done = answer->outcome == Outcome::kOptimal ||
                    answer->outcome == Outcome::kInfeasible || answer->claims_optimal;
  if (solver && !done) time.text = "> " + time.text;
  cells.insert(cells.end(), {std::move(cost), std::move(time)});
}

Cell StatedCell(const Stated& stated) {
  if (stated.percent < 0) return NoCell();
  char text[64];
  std::snprintf(text, sizeof text, "%g %%", stated.percent);
  std::string shown = text;
  if (stated.seconds >= 0) {
    std::snprintf(text, sizeof text, ", %g s", stated.seconds);
    shown += text;
  }
  std::snprintf(text, sizeof text, "%g", stated.percent);
  return {shown, text};
}

std::vector<Sheet::Column> Columns(bool published) {
  std::vector<Sheet::Column> columns = {
      {"graph", "graph", false},     {"operators", "operators"}, {"budget", "capacity_percent"},
      {"bytes", "capacity_bytes"},   {"", "cost_of_all"},        {"Berth, any order", "any_cost"},
      {"bound", "any_cost_bound"},   {"time", "any_seconds"},    {"Berth, one order", "fixed_cost"},
      {"bound", "fixed_cost_bound"}, {"time", "fixed_seconds"}};
  for (const RecomputeBaselineInfo& info : RecomputeBaselines()) {
    const std::string name(info.name);
    columns.push_back({name, name + "_cost"});
    columns.push_back({"time", name + "_seconds"});
  }
  if (published) {
    for (const std::string name : {"checkmate", "moccasin", "fastsa"}) {
      columns.push_back({"published: " + name, "published_" + name + "_percent"});
    }
  }
  return columns;
}

Sheet SheetOf(const std::vector<Row>& rows, bool published) {
  Sheet sheet(Columns(published));
  for (const Row& row : rows) {
    std::vector<Cell> cells = {
        TextCell(row.network->name),
        CountCell(static_cast<std::int64_t>(row.network->graph.operators.size())),
        {std::to_string(row.percent) + " %", std::to_string(row.percent)},
        BytesCell(row.capacity),
        {"", std::to_string(row.all)}};
    AppendOwn(row.any, row.all, cells);
    AppendOwn(row.fixed, row.all, cells);
    for (const auto& other : row.others) AppendOther(other, row.all, cells);
    if (published) {
      const auto found =
          std::find_if(kPublished.begin(), kPublished.end(), [&](const Published& each) {
            return each.graph == row.network->name && each.percent == row.percent;
          });
      const Published none = {};
      const Published& stated = found == kPublished.end() ? none : *found;
      for (const Stated& each : {stated.checkmate, stated.moccasin, stated.fastsa}) {
        cells.push_back(StatedCell(each));
      }
    }
    sheet.AddRow(std::move(cells));
  }
  return sheet;
}

// The graphs named on the command line, those in `folder` of the data, or generated ones.
Result<std::vector<GraphInput>> Networks(const Lab& lab, const fs::path& folder,
                                         internal::GraphFamily family) {
  const SuiteOptions& options = lab.options();
  std::vector<std::string> paths = options.tables;
  std::error_code ignored;
  if (paths.empty() && !options.data.empty() &&
      fs::is_directory(fs::path(options.data) / folder, ignored)) {
    paths = {(fs::path(options.data) / folder).string()};
  }
  std::vector<GraphInput> networks;
  if (!paths.empty()) {
    networks = BERTH_TRY(ReadGraphs(paths));
  } else {
    for (std::uint64_t seed = 1; seed <= lab.Inputs(6, 2); ++seed) {
      internal::GraphParameters parameters;
      parameters.seed = seed;
      parameters.operators = 10 + static_cast<std::int64_t>(10 * seed);
      parameters.width = 4;
      parameters.stored_percent = 50;
      networks.push_back(GenerateGraphInput(family, parameters));
    }
  }
  const std::size_t most = lab.Inputs(networks.size(), 2);
  return SpreadOut(std::move(networks), most);
}

struct Limits {
  double own = 0;     // Of each run, in seconds.
  double others = 0;  // Of each run of a method that uses up what it gets.
};

Result<Order> LeastPeak(const Lab& lab, const std::string& key, const GraphInput& network,
                        double limit) {
  lab.Progress(key + ", " + network.name + ", least peak");
  Budget budget;
  budget.SetTimeLimit(limit);
  NamedBudgets named = BERTH_TRY(FindBudgets(network.graph, {}, budget));
  return std::move(named.order);
}

// Every graph within `percents` of a peak, in and from one order: program order or that of the least peak.
Result<void> Measure(Lab& lab, const std::string& key, const std::vector<GraphInput>& networks,
                     const std::vector<int>& percents, bool program_order, const Limits& limits,
                     bool published) {
  std::vector<Row> rows;
  for (const GraphInput& network : networks) {
    const Order order = program_order ? ProgramOrder(network.graph)
                                      : BERTH_TRY(LeastPeak(lab, key, network, limits.own));
    const Bytes peak = Live(network.graph, order).peak;
    for (const int percent : percents) {
      lab.Progress(key + ", " + network.name + ", " + std::to_string(percent) + " %");
      Row row;
      row.network = &network;
      row.percent = percent;
      row.capacity = PercentOf(peak, percent);
      row.all = CostOfAll(network.graph);
      row.any = BERTH_TRY(Ask(network.graph, row.capacity, {}, limits.own));
      row.fixed = BERTH_TRY(Ask(network.graph, row.capacity, order, limits.own));
      for (const RecomputeBaselineInfo& info : RecomputeBaselines()) {
        row.others.push_back(
            BERTH_TRY(AskOther(network, info, row.capacity, order, limits.others)));
      }
      Judge(lab, row);
      rows.push_back(std::move(row));
    }
  }
  lab.Progress("");
  lab.Say(
      "The cost of running operators again, in % of running each once; bounds are proved. A star: "
      "the bytes fit, but addresses within the budget were not found.\n");
  const Sheet sheet = SheetOf(rows, published);
  lab.Show(sheet);
  lab.Keep(key, sheet);
  return {};
}

Result<void> Moccasin(Lab& lab) {
  lab.Heading(
      "MOCCASIN's benchmark",
      "Budgets in % of the peak of the order in which the graph is written, which is the order "
      "of all but the first column and FastSA. Published figures with the seconds of their "
      "machines; \"-\": none, or no solution within the paper's limit.");
  const auto networks = BERTH_TRY(Networks(lab, "remat", internal::GraphFamily::kIrregular));
  return Measure(lab, "moccasin", networks, {90, 80, 70}, /*program_order=*/true,
                 {lab.TimeLimit(10), lab.TimeLimit(60)}, /*published=*/true);
}

Result<void> Training(Lab& lab) {
  lab.Heading(
      "Training steps",
      "Budgets in % of the least peak. One order: that of the least peak, for all methods.");
  const auto networks =
      BERTH_TRY(Networks(lab, fs::path("graphs") / "training", internal::GraphFamily::kCell));
  return Measure(lab, "training", networks, {90, 75, 50, 40}, /*program_order=*/false,
                 {lab.TimeLimit(4), lab.TimeLimit(4)}, /*published=*/false);
}

Result<PlanAnswer> AskWithCopies(const Graph& graph, Bytes capacity,
                                 const std::optional<Link>& link, double limit) {
  PlanOptions options;
  options.capacity = capacity;
  options.spill = true;
  options.recompute = link.has_value();
  options.link = link;
  return PlanAndVerify(graph, options, limit);
}

// What each kind of plan adds to a run of one step within one budget, in nanoseconds; none: no plan.
struct Added {
  std::optional<std::int64_t> again;
  std::optional<std::int64_t> copies;
  std::optional<std::int64_t> both;
  std::int64_t bound = 0;  // Of all three.

  [[nodiscard]] std::int64_t best_of_one() const {
    return std::min(again.value_or(kMaxBytes), copies.value_or(kMaxBytes));
  }
};

Cell AddedCell(const std::optional<std::int64_t>& added, std::int64_t all) {
  return added ? ShareCell(*added, all) : Cell{"no plan", ""};
}

// In how many cases both together are no dearer than the better of the two alone, and cheaper.
struct Tally {
  int cases = 0;
  int no_dearer = 0;
  int cheaper = 0;

  void Add(Lab& lab, const std::string& where, const Added& added) {
    const std::int64_t best = added.best_of_one();
    if (best < added.bound) {
      lab.Note(where + ": a plan of one kind costs less than the bound of both");
    }
    ++cases;
    no_dearer += added.both && *added.both <= best ? 1 : 0;
    cheaper += added.both && *added.both < best ? 1 : 0;
    if (!added.both || *added.both > best) lab.Say(where + ": one kind alone costs less.");
  }
};

Result<void> MeasureJoint(Lab& lab, const GraphInput& priced, int percent, Bytes capacity,
                          double limit, Tally& tally, Sheet& sheet) {
  const Graph& graph = priced.graph;
  const std::string name = priced.name + ", " + std::to_string(percent) + " %";
  lab.Progress("joint, " + name);
  const PlanAnswer again = BERTH_TRY(Ask(graph, capacity, {}, limit));
  const PlanAnswer spilled = BERTH_TRY(AskWithCopies(graph, capacity, {}, limit));
  const std::int64_t all = CostOfAll(graph);
  for (const int part : {2, 10, 50}) {
    const Link link = LinkOf(part);
    const PlanAnswer both = BERTH_TRY(AskWithCopies(graph, capacity, link, limit));
    if (both.outcome == Outcome::kInfeasible && !HasPlan(again) && !HasPlan(spilled)) continue;
    Added added;
    if (HasPlan(again)) added.again = CostOf(again);
    if (HasPlan(spilled)) {
      const Traffic& traffic = spilled.best->traffic;
      added.copies = link.Out(traffic.spilled) + link.In(traffic.retrieved);
    }
    if (HasPlan(both)) added.both = both.best->overhead();
    const bool possible = both.outcome != Outcome::kInfeasible;
    added.bound = possible ? both.recompute_bound : kMaxBytes;
    tally.Add(lab, name + ", 1/" + std::to_string(part), added);
    sheet.AddRow({TextCell(priced.name),
                  {std::to_string(percent) + " %", std::to_string(percent)},
                  BytesCell(capacity),
                  {"", std::to_string(all)},
                  {"1/" + std::to_string(part), std::to_string(part)},
                  AddedCell(added.again, all),
                  AddedCell(added.copies, all),
                  AddedCell(added.both, all),
                  ShareCell(added.bound, all)});
  }
  return {};
}

// Seconds; any more count as no limit.
constexpr double kNoTimeLimit = 1e9;

// Operators that run again, tensors that leave, or both.
Result<void> Joint(Lab& lab) {
  lab.Heading("Recomputation, copies, or both",
              "Training steps, any order, each run with its default effort, or with --time-limit. "
              "Budgets in % of the least peak; links in parts of the memory's bandwidth.");
  auto networks =
      BERTH_TRY(Networks(lab, fs::path("graphs") / "training", internal::GraphFamily::kCell));
  const double limit = lab.TimeLimit(kNoTimeLimit);
  Sheet sheet({{"graph", "graph", false},
               {"budget", "capacity_percent"},
               {"bytes", "capacity_bytes"},
               {"", "cost_of_all_ns"},
               {"link", "link_part", false},
               {"recomputation", "recompute_ns"},
               {"copies", "copies_ns"},
               {"both", "both_ns"},
               {"bound", "bound_ns"}});
  Tally tally;
  for (GraphInput& network : networks) {
    PriceByBytes(network.graph);
    const Order order = BERTH_TRY(LeastPeak(lab, "joint", network, limit));
    const Bytes peak = Live(network.graph, order).peak;
    for (const int percent : {90, 75, 50}) {
      BERTH_TRY(MeasureJoint(lab, network, percent, PercentOf(peak, percent), limit, tally, sheet));
    }
  }
  lab.Progress("");
  lab.Say("What is added to a run, in % of it; the bound is proved, for all three.\n");
  lab.Show(sheet);
  lab.Say("Both together cost no more than the better of the two alone in " +
          std::to_string(tally.no_dearer) + " of " + std::to_string(tally.cases) +
          " cases, and less in " + std::to_string(tally.cheaper) + ".\n");
  lab.Keep("joint", sheet);
  return {};
}

constexpr std::array<Experiment, 4> kExperiments = {
    {{"moccasin", "MOCCASIN's benchmark", Moccasin},
     {"training", "Training steps", Training},
     {"joint", "Recomputation, copies, or both", Joint},
     {"programs", "The integer programs against the search", RecomputePrograms}}};

}  // namespace

const Suite& RecomputeSuite() {
  static constexpr Suite kSuite = {
      "recompute",
      "M. Bartan, H. Li, H. Teague, C. Lott and B. Dilkina, \"Moccasin: Efficient Tensor "
      "Rematerialization for Neural Networks\", ICML 2023",
      kExperiments,
      {"", "remat", "graphs"}};
  return kSuite;
}

}  // namespace berth::lab
