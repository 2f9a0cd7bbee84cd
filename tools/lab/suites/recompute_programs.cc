// Checkmate's and POET's integer programs against the search, on graphs that they can close.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/try.h"
#include "berth/plan.h"
#include "tools/berth/checked.h"
#include "tools/generate/graphs.h"
#include "tools/lab/suites/inputs.h"
#include "tools/lab/suites/recompute.h"

namespace berth::lab {

void PriceByBytes(Graph& graph) {
  const OperatorCosts costs = CostsOf(graph);
  for (OperatorIndex v = 0; v < graph.operators.size(); ++v) {
    graph.operators[v].cost = (costs.of[v] + 15) / 16;
  }
  graph.cost_unit = "ns";
}

void Judge(Lab& lab, const std::string& where, const Duel& duel) {
  if (!duel.program) return;
  if (*duel.program < duel.own.recompute_bound || duel.own.outcome == Outcome::kInfeasible) {
    lab.Note(where + ": the program costs less than Berth's bound");
  } else if (HasPlan(duel.own) && *duel.program < duel.own.best->overhead()) {
    const bool wrong = duel.own.outcome == Outcome::kOptimal;
    if (wrong) lab.Note(where + ": the program costs less than Berth's optimum");
    if (!wrong) lab.Say(where + ": the program costs less than Berth's plan.");
  }
}

Duel DuelOf(const RecomputeBaselineAnswer& answer, double seconds) {
  Duel duel;
  if (answer.plan) duel.program = answer.plan->overhead();
  duel.closed = answer.outcome == Outcome::kOptimal || answer.outcome == Outcome::kInfeasible;
  duel.variables = answer.variables;
  duel.program_seconds = seconds;
  return duel;
}

Cell TimeCell(const Duel& duel) {
  Cell cell = SecondsCell(duel.program_seconds);
  if (!duel.closed) cell.text = "> " + cell.text;
  return cell;
}

bool SaysTheSame(const Duel& duel) {
  if (!duel.program) return duel.own.outcome == Outcome::kInfeasible;
  return HasPlan(duel.own) && duel.own.best->overhead() == *duel.program;
}

namespace {

constexpr Link kSmallLink = LinkOf(2);

// In `order` alone; `link`: with copies, against POET; else against Checkmate. None without a solver.
Result<std::optional<Duel>> Fight(const Graph& graph, Bytes capacity, const Order& order,
                                  const std::optional<Link>& link, double limit) {
  PoetOptions options;
  options.plan.capacity = capacity;
  options.plan.order = order;
  options.plan.placer = nullptr;  // The question is about bytes.
  Budget budget;
  budget.SetTimeLimit(limit);
  double start = ProcessorSeconds();
  std::optional<Duel> duel;
  if (link) {
    options.link = *link;
    const auto answer = RecomputeByPoet(graph, options, budget);
    if (!answer && answer.error().code == ErrorCode::kUnsupported) return std::nullopt;
    if (!answer) return tl::unexpected(answer.error());
    duel = DuelOf(answer->found, ProcessorSeconds() - start);
  } else {
    const auto answer =
        RecomputeWithBaseline(graph, RecomputeBaseline::kCheckmate, options.plan, budget);
    if (!answer && answer.error().code == ErrorCode::kUnsupported) return std::nullopt;
    if (!answer) return tl::unexpected(answer.error());
    duel = DuelOf(*answer, ProcessorSeconds() - start);
  }
  PlanOptions own;
  own.capacity = capacity;
  own.recompute = true;
  own.spill = link.has_value();
  own.link = link;
  own.order = order;
  Budget time;
  time.SetTimeLimit(limit);
  start = ProcessorSeconds();
  duel->own = BERTH_TRY(Plan(graph, own, time));
  duel->own.seconds = ProcessorSeconds() - start;
  if (!link) cli::VerifyOrDie(graph, {}, duel->own);
  return duel;
}

std::vector<GraphInput> SmallGraphs(const Lab& lab) {
  std::vector<GraphInput> graphs;
  for (const internal::GraphFamily family :
       {internal::GraphFamily::kIrregular, internal::GraphFamily::kCell}) {
    std::size_t count = 0;
    for (const std::int64_t operators : {8, 12, 16, 24, 32}) {
      if (count++ == lab.Inputs(5, 2)) break;
      internal::GraphParameters parameters;
      parameters.seed = 1;
      parameters.operators = operators;
      parameters.width = family == internal::GraphFamily::kIrregular ? 4 : 2;
      parameters.stored_percent = 50;
      graphs.push_back(GenerateGraphInput(family, parameters));
      PriceByBytes(graphs.back().graph);
    }
  }
  return graphs;
}

void AddRow(const GraphInput& input, int percent, std::string_view name, const Duel& duel,
            Sheet& sheet) {
  sheet.AddRow({TextCell(input.name),
                CountCell(static_cast<std::int64_t>(input.graph.operators.size())),
                {std::to_string(percent) + " %", std::to_string(percent)},
                TextCell(name),
                CountCell(duel.variables),
                duel.program ? CountCell(*duel.program) : NoCell(),
                TimeCell(duel),
                TextCell(duel.closed ? "1" : "0"),
                HasPlan(duel.own) ? CountCell(duel.own.best->overhead()) : NoCell(),
                CountCell(duel.own.recompute_bound),
                SecondsCell(duel.own.seconds)});
}

}  // namespace

Result<void> RecomputePrograms(Lab& lab) {
  lab.Heading(
      "The integer programs against the search",
      "Checkmate, and POET with a link of half the bandwidth of the memory, in program order, on "
      "small graphs. Costs in nanoseconds; addresses are not asked for.");
  const double limit = lab.TimeLimit(20);
  Sheet sheet({{"graph", "graph", false},
               {"operators", "operators"},
               {"budget", "capacity_percent"},
               {"program", "program", false},
               {"variables", "variables"},
               {"cost", "program_cost_ns"},
               {"time", "program_seconds"},
               {"", "closed", false},
               {"Berth", "cost_ns"},
               {"bound", "cost_bound_ns"},
               {"time", "seconds"}});
  std::int64_t closed = 0;
  std::int64_t same = 0;
  for (const GraphInput& input : SmallGraphs(lab)) {
    const Order order = ProgramOrder(input.graph);
    const Bytes peak = Live(input.graph, order).peak;
    for (const int percent : {90, 75, 60}) {
      for (const bool copies : {false, true}) {
        const std::string name = copies ? "POET" : "Checkmate";
        const std::string where = input.name + ", " + std::to_string(percent) + " %, " + name;
        lab.Progress("programs, " + where);
        const auto duel =
            BERTH_TRY(Fight(input.graph, PercentOf(peak, percent), order,
                            copies ? std::optional<Link>(kSmallLink) : std::nullopt, limit));
        if (!duel) continue;
        Judge(lab, where, *duel);
        closed += duel->closed ? 1 : 0;
        same += duel->closed && SaysTheSame(*duel) ? 1 : 0;
        AddRow(input, percent, name, *duel, sheet);
      }
    }
  }
  lab.Progress("");
  if (sheet.empty()) {
    lab.Say("Left out: this build has no solver of integer programs.");
    return {};
  }
  lab.Show(sheet);
  lab.Say("Closed: " + std::to_string(closed) + "; Berth says the same in " + std::to_string(same) +
          " of these.\n");
  lab.Keep("programs", sheet);
  return {};
}

}  // namespace berth::lab
