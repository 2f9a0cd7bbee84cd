// COSMA's integer programs against our search: for one order (FS in the paper), over all orders (joint), and
// in parts (DnC).
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/try.h"
#include "berth/cosma.h"
#include "tools/berth/checked.h"
#include "tools/berth/terminal.h"
#include "tools/lab/suites/cosma.h"

namespace berth::lab {
namespace {

// Programs of larger graphs are not built: they grow with the square of the operators, of all orders at
// least.
constexpr std::size_t kMostOperatorsInOrder = 400;
constexpr std::size_t kMostOperatorsOverAll = 120;
constexpr std::size_t kMostOperatorsOfPart = 24;

// The paper's programs: indices into kPrograms.
enum Program : std::size_t { kInProgramOrder, kInLeastPeakOrder, kInParts, kJoint };
struct Scheme {
  std::string_view key;
  std::string_view title;
};
constexpr std::array<Scheme, 4> kPrograms = {{{"fs_program", "FS in program order"},
                                              {"fs_least_peak", "FS in least-peak order"},
                                              {"dnc", "DnC"},
                                              {"joint", "joint"}}};

// What came of a program. It crosses a pipe.
struct Tried {
  Outcome outcome = Outcome::kUnknown;
  bool crashed = false;  // The solver did: a fault of its own.
  bool has_plan = false;
  bool unsupported = false;  // The graph writes in place.
  Bytes value = 0;
  Bytes lower_bound = 0;
  std::size_t variables = 0;
  double seconds = 0;
  [[nodiscard]] bool closed() const { return outcome == Outcome::kOptimal; }
};
static_assert(std::is_trivially_copyable_v<Tried>);

struct Row {
  std::string network;
  std::int64_t operators = 0;
  std::string budget;
  std::array<std::optional<Tried>, kPrograms.size()> tried;  // None: too large, or not in parts.
  CosmaSolved ours;
};

// A program to be solved.
struct Task {
  const Graph* graph = nullptr;
  CosmaOptions options;
  std::vector<OperatorIndex> break_nodes;  // Not empty: in parts.
};

// Solves it in this process, and checks its plan.
Result<Tried> SolveHere(const Task& task, double limit) {
  Budget budget;
  budget.SetTimeLimit(limit);
  const auto answer = task.break_nodes.empty()
                          ? SolveCosma(*task.graph, task.options, budget)
                          : SolveCosmaInParts(*task.graph, task.options, task.break_nodes, budget);
  Tried tried;
  if (!answer && answer.error().code == ErrorCode::kUnsupported) {
    tried.unsupported = true;
    return tried;
  }
  const CosmaAnswer& solved = BERTH_TRY(answer);
  if (solved.plan) {
    cli::VerifyOrDie(*task.graph, {}, task.options.capacity, *solved.plan);
    tried.value = *solved.value;
  }
  tried.outcome = solved.outcome;
  tried.has_plan = solved.plan.has_value();
  tried.lower_bound = solved.lower_bound;
  tried.variables = solved.variables;
  tried.seconds = solved.seconds;
  return tried;
}

// The same in a process of its own: CBC 2.10.8 crashes on some of these programs.
Result<Tried> SolveApart(const Task& task, double limit) {
  std::array<int, 2> ends = {};
  if (pipe(ends.data()) != 0) return Fail(ErrorCode::kIo, "no pipe to a solver");
  std::fflush(nullptr);  // Nothing is written twice.
  const pid_t child = fork();
  if (child < 0) return Fail(ErrorCode::kIo, "no process for a solver");
  if (child == 0) {
    const auto tried = SolveHere(task, limit);
    if (!tried) {
      std::fprintf(stderr, "%s\n", tried.error().message.c_str());
      _exit(1);
    }
    const bool told = write(ends[1], &*tried, sizeof(Tried)) == sizeof(Tried);
    _exit(told ? 0 : 1);
  }
  close(ends[1]);
  Tried tried;
  const bool told = read(ends[0], &tried, sizeof tried) == sizeof tried;
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (told) return tried;
  if (!WIFSIGNALED(status)) {
    return Fail(ErrorCode::kInvalidPlan, "a program of COSMA's has no plan that holds");
  }
  Tried crashed;
  crashed.crashed = true;
  return crashed;
}

Result<std::optional<Tried>> Try(const GraphInput& network, std::size_t scheme, Bytes capacity,
                                 const Order& least_peak, double limit) {
  const std::size_t operators = network.graph.operators.size();
  Task task;
  task.graph = &network.graph;
  task.options.capacity = capacity;
  if (scheme == kInParts) {
    auto nodes = FindBreakNodes(network.graph, kMostOperatorsOfPart);
    if (!nodes && nodes.error().code == ErrorCode::kUnsupported) return std::nullopt;
    task.break_nodes = BERTH_TRY(std::move(nodes));
    if (task.break_nodes.empty()) return std::nullopt;
  } else {
    const std::size_t most = scheme == kJoint ? kMostOperatorsOverAll : kMostOperatorsInOrder;
    if (operators > most) return std::nullopt;
    if (scheme == kInProgramOrder) task.options.order = ProgramOrder(network.graph);
    if (scheme == kInLeastPeakOrder) task.options.order = least_peak;
  }
  const Tried tried = BERTH_TRY(SolveApart(task, limit));
  if (tried.unsupported) return std::nullopt;
  return tried;
}

// What must be true of programs and our search, whatever the limits.
void Judge(Lab& lab, const Row& row) {
  const auto bytes = [](Bytes value) { return cli::FormatBytesExactly(value); };
  for (std::size_t p = 0; p < kPrograms.size(); ++p) {
    if (!row.tried[p]) continue;
    const Tried& answer = *row.tried[p];
    const std::string where =
        row.network + ", " + row.budget + ", " + std::string(kPrograms[p].title) + ": ";
    if (answer.has_plan && answer.value < row.ours.lower_bound) {
      lab.Note(where + bytes(answer.value) + " of traffic, but " + bytes(row.ours.lower_bound) +
               " was proved to be needed");
    }
    if (p == kJoint && row.ours.traffic && answer.lower_bound > *row.ours.traffic) {
      lab.Note(where + "the program says that " + bytes(answer.lower_bound) +
               " are needed, but a plan moves " + bytes(*row.ours.traffic));
    }
  }
}

Cell TrafficOf(const std::optional<Tried>& tried) {
  if (!tried) return {"-", ""};
  if (tried->crashed) return {"crash", ""};
  if (!tried->has_plan) return {"no plan", ""};
  Cell cell = {cli::FormatCount(tried->value), std::to_string(tried->value)};
  if (!tried->closed()) cell.text += "*";
  return cell;
}

Sheet TableOf(const std::vector<Row>& rows) {
  std::vector<Sheet::Column> columns = {
      {"network", "network", false}, {"operators", "operators"}, {"budget", "budget", false}};
  for (const Scheme& scheme : kPrograms) {
    const std::string key(scheme.key);
    columns.push_back({std::string(scheme.title), key + "_bytes"});
    columns.push_back({"", key + "_closed", false});
    columns.push_back({"", key + "_variables"});
    columns.push_back({"time", key + "_seconds"});
  }
  columns.push_back({"Berth, all orders", "all_orders_bytes"});
  columns.push_back({"bound", "all_orders_lower_bound_bytes"});
  columns.push_back({"time", "all_orders_seconds"});
  Sheet sheet(columns);
  for (const Row& row : rows) {
    std::vector<Cell> cells = {TextCell(row.network), CountCell(row.operators),
                               TextCell(row.budget)};
    for (const std::optional<Tried>& tried : row.tried) {
      cells.push_back(TrafficOf(tried));
      if (!tried) {
        cells.insert(cells.end(), {Cell{"", ""}, Cell{"", ""}, NoCell()});
        continue;
      }
      cells.push_back({"", tried->crashed ? "crash" : tried->closed() ? "1" : "0"});
      cells.push_back({"", std::to_string(tried->variables)});
      cells.push_back(tried->crashed ? NoCell() : SecondsCell(tried->seconds));
    }
    const auto bytes = [](Bytes value) {
      return Cell{cli::FormatCount(value), std::to_string(value)};
    };
    cells.push_back(row.ours.traffic ? bytes(*row.ours.traffic) : NoCell());
    cells.push_back(bytes(row.ours.lower_bound));
    cells.push_back(SecondsCell(row.ours.seconds));
    sheet.AddRow(std::move(cells));
  }
  return sheet;
}

// How many programs of each kind were tried, had a plan and were closed, and how they compare with our plans.
Sheet SummaryOf(const std::vector<Row>& rows) {
  Sheet sheet({{"program", "program", false},
               {"cases", "cases"},
               {"tried", "tried"},
               {"with a plan", "with_plan"},
               {"closed", "closed"},
               {"Berth moves the same", "same"},
               {"less", "less"},
               {"more", "more"},
               {"median time, program", "median_seconds"},
               {"Berth", "median_own_seconds"}});
  for (std::size_t p = 0; p < kPrograms.size(); ++p) {
    std::array<std::int64_t, 6> counts = {};
    std::vector<double> seconds;
    std::vector<double> own;
    for (const Row& row : rows) {
      if (!row.tried[p]) continue;
      const Tried& answer = *row.tried[p];
      ++counts[0];
      if (answer.crashed) continue;
      seconds.push_back(answer.seconds);
      own.push_back(row.ours.seconds);
      counts[2] += answer.closed() ? 1 : 0;
      if (!answer.has_plan || !row.ours.traffic) continue;
      ++counts[1];
      counts[3] += *row.ours.traffic == answer.value ? 1 : 0;
      counts[4] += *row.ours.traffic < answer.value ? 1 : 0;
      counts[5] += *row.ours.traffic > answer.value ? 1 : 0;
    }
    std::vector<Cell> cells = {TextCell(kPrograms[p].title),
                               CountCell(static_cast<std::int64_t>(rows.size()))};
    for (const std::int64_t count : counts) cells.push_back(CountCell(count));
    cells.push_back(seconds.empty() ? NoCell() : SecondsCell(Median(seconds)));
    cells.push_back(own.empty() ? NoCell() : SecondsCell(Median(own)));
    sheet.AddRow(std::move(cells));
  }
  return sheet;
}

// The networks of the other experiments and small generated graphs, the smallest first; the smallest alone if
// it has to be quick.
Result<std::vector<GraphInput>> Inputs(const Lab& lab) {
  const bool quick = lab.options().quick;
  const bool given = !lab.options().tables.empty();
  std::vector<GraphInput> inputs;
  if (given || !quick) inputs = BERTH_TRY(ReadCosmaNetworks(lab, CosmaNetworks::kSearched));
  if (given) return inputs;
  if (!quick) {
    for (GraphInput& input : BERTH_TRY(ReadCosmaNetworks(lab, CosmaNetworks::kDesigned))) {
      inputs.push_back(std::move(input));
    }
  }
  for (const std::int64_t operators : {8, 12, 16, 20}) {
    if (quick && operators > 8) continue;
    for (std::uint64_t seed = 1; seed <= (quick ? 2U : 3U); ++seed) {
      internal::GraphParameters parameters;
      parameters.seed = seed;
      parameters.operators = operators;
      parameters.width = 4;
      inputs.push_back(GenerateGraphInput(internal::GraphFamily::kIrregular, parameters));
    }
  }
  std::stable_sort(inputs.begin(), inputs.end(), [](const GraphInput& a, const GraphInput& b) {
    return a.graph.operators.size() < b.graph.operators.size();
  });
  return inputs;
}

}  // namespace

Result<void> CosmaPrograms(Lab& lab) {
  const double limit = lab.TimeLimit(20);
  lab.Heading(
      "Table II: the paper's integer programs",
      "COSMA's program, with addresses, by an open solver: for one order (FS), in parts of "
      "at most " +
          std::to_string(kMostOperatorsOfPart) +
          " operators whose break nodes are chosen automatically (DnC), and over all orders "
          "(joint); beside our search. Activations alone, three budgets; limit " +
          cli::FormatSeconds(limit) + " for each program. One order has to have at most " +
          std::to_string(kMostOperatorsInOrder) + " operators, all orders " +
          std::to_string(kMostOperatorsOverAll) + ".");
  if (!lab.HasIlp()) return {};
  std::vector<Row> rows;
  for (const GraphInput& network : BERTH_TRY(Inputs(lab))) {
    lab.Progress("programs, " + network.name + ", least peak");
    Budget scheduling;
    scheduling.SetTimeLimit(std::max(limit, 1.0));
    const auto named = BERTH_TRY(berth::FindBudgets(network.graph, {}, scheduling));
    for (const CosmaLevel& level : kCosmaLevels) {
      Row row;
      row.network = network.name;
      row.operators = static_cast<std::int64_t>(network.graph.operators.size());
      row.budget = std::string(level.name);
      for (std::size_t p = 0; p < kPrograms.size(); ++p) {
        lab.Progress("programs, " + network.name + ", " + row.budget + ", " +
                     std::string(kPrograms[p].title));
        row.tried[p] = BERTH_TRY(Try(network, p, named.Of(level.budget), named.order, limit));
      }
      row.ours = BERTH_TRY(SolveForCosma(network, {}, named, level.budget, std::nullopt, limit));
      Judge(lab, row);
      rows.push_back(std::move(row));
      lab.Keep("programs", TableOf(rows));  // Row by row: it takes long, and may be interrupted.
    }
  }
  lab.Progress("");
  lab.Say("Avoidable traffic in bytes; a star: the program was not closed; a dash: not tried.\n");
  lab.Show(TableOf(rows));
  const Sheet summary = SummaryOf(rows);
  lab.Show(summary);
  lab.Keep("programs-summary", summary);
  lab.Say("The paper, by Gurobi: 5 to 84 s for one order, 19 to 113 s in parts.\n");
  return {};
}

}  // namespace berth::lab
