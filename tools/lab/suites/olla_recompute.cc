// OLLA's integer program where operators run again and tensors are swapped, against Berth's search. The authors'
// code has both and their paper measures neither. Their program repeats an operator only where it could run for
// the first time, and has as many steps as operators; beside it is one with steps to spare.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/try.h"
#include "berth/olla.h"
#include "berth/plan.h"
#include "berth/schedule.h"
#include "tools/berth/checked.h"
#include "tools/berth/terminal.h"
#include "tools/generate/graphs.h"
#include "tools/lab/bench/benchmark.h"
#include "tools/lab/suites/olla.h"
#include "tools/lab/suites/recompute.h"

namespace berth::lab {
namespace {

// Of real graphs without a closed program; then no larger one is tried.
constexpr int kMostOpenGraphs = 2;

// Larger programs are not tried.
constexpr std::int64_t kMostVariables = 100'000;
// Of which the first graphs with room are taken.
constexpr std::uint64_t kMostSeeds = 1'000;
// Half the bandwidth of the memory.
constexpr Link kLink = LinkOf(2);

// One graph within one capacity.
struct Case {
  RecomputeQuestion question;
  int percent = 0;  // Of the least peak.
  Duel published;   // As in the code;
  Duel spare;       // with steps to spare. Both with Berth's plan.
};

Result<Duel> Solve(RecomputeQuestion question, bool published, double limit) {
  question.published = published;
  const RecomputeRun run = BERTH_TRY(RunOllaRecompute(question, limit));
  return DuelOf(run.answer, run.seconds);
}

// A closed program with steps to spare expresses Berth's plan if this has no more repeats than those.
void JudgeProof(Lab& lab, const std::string& where, const Case& result) {
  const Duel& duel = result.spare;
  if (!duel.closed || !HasPlan(duel.own)) return;
  const MemoryPlan& plan = *duel.own.best;
  if (plan.recomputed.operators > SpareSteps(result.question.input->graph)) return;
  if (!duel.program) {
    lab.Note(where + ": the program says that nothing fits, but Berth has a plan");
  } else if (plan.overhead() < *duel.program) {
    lab.Note(where + ": the program calls a cost of " + std::to_string(*duel.program) +
             " the least, but Berth's plan costs " + std::to_string(plan.overhead()));
  }
}

Result<Case> Measure(Lab& lab, const GraphInput& input, Bytes peak, int percent, bool copies,
                     double limit) {
  Case result;
  result.question = {&input, PercentOf(peak, percent), copies};
  result.percent = percent;
  const std::string where =
      input.name + ", " + std::to_string(percent) + " %" + (copies ? ", with copies" : "");
  lab.Progress("recomputation, " + where);
  result.published = BERTH_TRY(Solve(result.question, /*published=*/true, limit));
  result.spare = BERTH_TRY(Solve(result.question, /*published=*/false, limit));
  result.published.own = result.spare.own = BERTH_TRY(PlanOwnRecompute(result.question, limit));
  Judge(lab, where + ", as published", result.published);
  Judge(lab, where, result.spare);
  JudgeProof(lab, where, result);
  return result;
}

// Whether no operator by itself needs more than 75 % of the least peak, so that less memory can be enough.
Result<bool> HasRoom(const GraphInput& input) {
  Budget budget;
  const Bytes peak = BERTH_TRY(Schedule(input.graph, {}, budget)).best->peak();
  return FindLeastMemory(input.graph, {}).bytes <= PercentOf(peak, 75);
}

// Of two families and several sizes, the graphs of the first seeds that have room.
Result<std::vector<GraphInput>> SmallGraphs(const Lab& lab) {
  std::vector<GraphInput> graphs;
  const bool quick = lab.options().quick;
  for (const internal::GraphFamily family :
       {internal::GraphFamily::kIrregular, internal::GraphFamily::kCell}) {
    const bool cell = family == internal::GraphFamily::kCell;
    for (std::int64_t operators = 6; operators <= (quick ? 8 : 12); operators += 2) {
      std::size_t wanted = quick ? 1 : 2;
      for (std::uint64_t seed = 1; seed <= kMostSeeds && wanted > 0; ++seed) {
        internal::GraphParameters parameters;
        parameters.seed = seed;
        parameters.operators = cell ? 2 * operators - 4 : operators;
        parameters.width = cell ? 2 : 4;
        parameters.stored_percent = 50;
        GraphInput input = GenerateGraphInput(family, parameters);
        if (!BERTH_TRY(HasRoom(input))) continue;
        graphs.push_back(std::move(input));
        --wanted;
      }
    }
  }
  return graphs;
}

void AppendProgram(const Duel& duel, std::vector<Cell>& cells) {
  cells.insert(cells.end(),
               {CountCell(duel.variables),
                TextCell(ProgramStatus(duel.variables, duel.closed, duel.program.has_value())),
                duel.program ? CountCell(*duel.program) : NoCell(), TimeCell(duel)});
}

Sheet EmptySheet() {
  return Sheet({{"graph", "graph", false},
                {"operators", "operators"},
                {"budget", "capacity_percent"},
                {"bytes", "capacity_bytes"},
                {"copies", "copies", false},
                {"as published: variables", "published_variables"},
                {"", "published_status", false},
                {"cost", "published_cost_ns"},
                {"time", "published_seconds"},
                {"steps to spare: variables", "variables"},
                {"", "status", false},
                {"cost", "program_cost_ns"},
                {"time", "program_seconds"},
                {"Berth", "cost_ns"},
                {"repeats", "repeats"},
                {"bound", "cost_bound_ns"},
                {"time", "seconds"}});
}

std::vector<Cell> RowOf(const Case& result) {
  const PlanAnswer& own = result.spare.own;
  std::vector<Cell> row = {
      TextCell(result.question.input->name),
      CountCell(static_cast<std::int64_t>(result.question.input->graph.operators.size())),
      {std::to_string(result.percent) + " %", std::to_string(result.percent)},
      BytesCell(result.question.capacity),
      TextCell(result.question.copies ? "1" : "0")};
  AppendProgram(result.published, row);
  AppendProgram(result.spare, row);
  if (HasPlan(own)) {
    row.insert(row.end(), {CountCell(own.best->overhead()),
                           CountCell(static_cast<std::int64_t>(own.best->recomputed.operators))});
  } else {
    const bool impossible = own.outcome == Outcome::kInfeasible;
    row.insert(row.end(), {{impossible ? "nothing fits" : "no plan", ""}, NoCell()});
  }
  row.insert(row.end(), {CountCell(own.recompute_bound), SecondsCell(own.seconds)});
  return row;
}

// How one of the programs does in the cases of one kind.
std::vector<Cell> SummaryOf(const std::vector<Case>& cases, bool real, bool copies,
                            bool published) {
  std::int64_t count = 0;
  std::int64_t closed = 0;
  std::int64_t nothing_fits = 0;  // Closed without a plan.
  std::int64_t planned = 0;
  std::int64_t same = 0;  // Of the closed ones.
  std::int64_t cheaper = 0;
  std::int64_t own_planned = 0;
  std::vector<double> ratios;
  for (const Case& each : cases) {
    if (each.question.real() != real || each.question.copies != copies) continue;
    const Duel& duel = published ? each.published : each.spare;
    ++count;
    closed += duel.closed ? 1 : 0;
    nothing_fits += duel.closed && !duel.program ? 1 : 0;
    planned += duel.program ? 1 : 0;
    own_planned += HasPlan(duel.own) ? 1 : 0;
    same += duel.closed && SaysTheSame(duel) ? 1 : 0;
    cheaper += HasPlan(duel.own) && (!duel.program || duel.own.best->overhead() < *duel.program);
    if (duel.closed) ratios.push_back(duel.program_seconds / duel.own.seconds);
  }
  return {TextCell(real ? "real" : "generated"),
          TextCell(published ? "as published" : "steps to spare"),
          TextCell(copies ? "1" : "0"),
          CountCell(count),
          CountCell(closed),
          CountCell(nothing_fits),
          CountCell(planned),
          CountCell(own_planned),
          CountCell(same),
          CountCell(cheaper),
          ratios.empty() ? NoCell() : RatioCell(Median(ratios))};
}

Sheet Summary(const std::vector<Case>& cases) {
  Sheet summary({{"graphs", "graphs", false},
                 {"program", "program", false},
                 {"copies", "copies", false},
                 {"cases", "cases"},
                 {"closed", "closed"},
                 {"of these nothing fits", "nothing_fits"},
                 {"with a plan", "with_plan"},
                 {"Berth with a plan", "berth_with_plan"},
                 {"closed: Berth the same", "closed_same"},
                 {"Berth cheaper, or alone with a plan", "berth_cheaper"},
                 {"closed: its time : Berth's", "median_ratio"}});
  for (const bool real : {false, true}) {
    if (std::none_of(cases.begin(), cases.end(),
                     [&](const Case& each) { return each.question.real() == real; })) {
      continue;
    }
    for (const bool published : {true, false}) {
      for (const bool copies : {false, true}) {
        summary.AddRow(SummaryOf(cases, real, copies, published));
      }
    }
  }
  return summary;
}

}  // namespace

std::size_t SpareSteps(const Graph& graph) { return (graph.operators.size() + 1) / 2; }

Result<RecomputeRun> RunOllaRecompute(const RecomputeQuestion& question, double limit) {
  const Graph& graph = question.input->graph;
  OllaRecomputeOptions options;
  options.plan.capacity = question.capacity;
  options.plan.most_variables = kMostVariables;
  options.most_cost = question.most_cost;
  options.within_spans = question.published;
  options.more_steps = question.published ? 0 : SpareSteps(graph);
  if (question.copies) options.link = kLink;
  Budget budget;
  const ProcessorLimit processor_limit(budget, limit);
  const double start = ProcessorSeconds();
  RecomputeRun run{BERTH_TRY(RecomputeByOlla(graph, options, budget)), 0};
  run.seconds = ProcessorSeconds() - start;
  if (run.answer.plan) {
    const auto within =
        run.answer.plan->addressed ? std::optional<Bytes>(question.capacity) : std::nullopt;
    cli::VerifyOrDie(graph, {}, within, *run.answer.plan);
  }
  return run;
}

Result<PlanAnswer> PlanOwnRecompute(const RecomputeQuestion& question, double limit) {
  PlanOptions options;
  options.capacity = question.capacity;
  options.recompute = true;
  options.spill = question.copies;
  if (question.copies) options.link = kLink;
  Budget budget;
  const ProcessorLimit processor_limit(budget, limit);
  const double start = ProcessorSeconds();
  PlanAnswer answer = BERTH_TRY(Plan(question.input->graph, options, budget));
  answer.seconds = std::max(ProcessorSeconds() - start, 1e-6);
  cli::VerifyOrDie(question.input->graph, {}, answer);
  return answer;
}

Result<std::vector<GraphInput>> RecomputeInputs(Lab& lab) {
  std::vector<GraphInput> real;
  if (!lab.options().quick || !lab.options().tables.empty()) {
    real = BERTH_TRY(lab.Graphs(kAllInputs));
  }
  if (lab.options().tables.empty()) {
    std::erase_if(real, [](const GraphInput& input) {
      return input.group == "inference" || input.group == "generated";
    });
  }
  std::stable_sort(real.begin(), real.end(), [](const GraphInput& a, const GraphInput& b) {
    return a.graph.operators.size() < b.graph.operators.size();
  });
  const bool given = !lab.options().tables.empty();
  std::vector<GraphInput> inputs;
  if (!given) inputs = BERTH_TRY(SmallGraphs(lab));
  for (GraphInput& input : real) {
    if (given || BERTH_TRY(HasRoom(input))) inputs.push_back(std::move(input));
  }
  for (GraphInput& input : inputs) PriceByBytes(input.graph);
  return inputs;
}

std::string ProgramStatus(std::int64_t variables, bool closed, bool has_plan) {
  if (variables > kMostVariables) return "too large";
  if (closed) return has_plan ? "closed" : "nothing fits";
  return has_plan ? "limit" : "no plan";
}

Result<void> AskOfEach(const std::vector<GraphInput>& inputs, const std::vector<int>& percents,
                       double limit,
                       const std::function<Result<bool>(const RecomputeAsked&)>& measure) {
  int open = 0;  // Real graphs without a closed program.
  for (const GraphInput& input : inputs) {
    const bool real = input.group != "generated";
    if (real && open >= kMostOpenGraphs) break;
    bool closed = false;
    Budget budget;
    const ProcessorLimit processor_limit(budget, limit);
    const Bytes peak = BERTH_TRY(Schedule(input.graph, {}, budget)).best->peak();
    for (const int percent : percents) {
      for (const bool copies : {false, true}) {
        const bool now = BERTH_TRY(measure({&input, peak, percent, copies}));
        closed = closed || now;
      }
    }
    if (real && !closed) ++open;
  }
  return {};
}

Result<void> OllaRecomputation(Lab& lab) {
  const double limit = lab.TimeLimit(10);
  lab.Heading(
      "The integer program with operators that run again, and with copies",
      "As the authors' code has it, and with half as many steps more than operators; budgets in % "
      "of "
      "the least peak, costs in nanoseconds, a link of half the bandwidth of the memory. Processor "
      "time, limit " +
          cli::FormatSeconds(limit) +
          " for each program and for Berth, which looks for the same plans. \"Closed\": proved the "
          "least that the program can express.");
  if (!lab.HasIlp()) return {};
  const auto inputs = BERTH_TRY(RecomputeInputs(lab));
  std::vector<Case> cases;
  Sheet sheet = EmptySheet();
  const auto measure = [&](const RecomputeAsked& asked) -> Result<bool> {
    cases.push_back(BERTH_TRY(
        Measure(lab, *asked.input, asked.least_peak, asked.percent, asked.copies, limit)));
    sheet.AddRow(RowOf(cases.back()));
    lab.Keep("recomputation", sheet);  // Row by row: it takes long, and may be interrupted.
    return cases.back().spare.closed;
  };
  BERTH_TRY(AskOfEach(inputs, {90, 75, 50}, limit, measure));
  lab.Progress("");
  const Sheet summary = Summary(cases);
  lab.Show(sheet);
  lab.Show(summary);
  lab.Keep("recomputation-summary", summary);
  return {};
}

}  // namespace berth::lab
