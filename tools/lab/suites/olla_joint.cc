// OLLA's joint program (9), for order and addresses together, against the two that the paper solves instead:
// the order (14), then addresses in it (15). Section 4.4 splits the problem because no memory was ever lost to
// that; here the joint program says how true it is, as far as it can be solved.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/try.h"
#include "berth/baselines.h"
#include "berth/graph.h"
#include "berth/olla.h"
#include "berth/plan.h"
#include "tools/berth/checked.h"
#include "tools/berth/terminal.h"
#include "tools/lab/bench/benchmark.h"
#include "tools/lab/suites/olla.h"

namespace berth::lab {
namespace {

// Larger joint programs are not tried: at this size few have a plan within the limit.
constexpr std::int64_t kMostVariables = 20'000;
// Of the generated graphs.
constexpr std::int64_t kMostOperators = 20;

// What one way found.
struct Found {
  std::optional<Bytes> height;  // None: no plan.
  bool closed = false;          // The solver says that none is lower: of (15), in that order.
  double seconds = 0;           // Processor time.
};

struct Comparison {
  const GraphInput* input = nullptr;
  std::int64_t variables = 0;  // Of the joint program.
  std::int64_t constraints = 0;
  bool tried = false;
  Found joint;
  Found split;
  Found ours;
  Bytes bound = 0;  // Proved by our search.
  [[nodiscard]] bool real() const { return input->group != "generated"; }
};

// No control edges: they leave orders out, and with them the least memory.
OllaOptions Options(bool joint) {
  OllaOptions options;
  options.joint = joint;
  options.early_updates = false;
  return options;
}

Result<Found> SolveJoint(const Graph& graph, double limit, Comparison& comparison) {
  const OllaRun run = BERTH_TRY(RunOlla(graph, Options(true), limit));
  comparison.constraints = run.answer.constraints;
  Found found;
  found.seconds = run.seconds;
  const MemoryPlan& plan = *run.answer.plan.best;
  if (!run.answer.found || !plan.addressed) return found;
  cli::VerifyOrDie(graph, {}, std::nullopt, plan);
  found.height = plan.height();
  found.closed = run.closed();
  return found;
}

Result<Found> SolveSplit(const Graph& graph, double limit) {
  const OllaRun run = BERTH_TRY(RunOlla(graph, Options(false), limit));
  Found found;
  found.seconds = run.seconds;
  if (!run.answer.found) return found;
  const Liveness live = Live(graph, run.answer.plan.best->order);
  BaselineOptions options;
  options.baseline = Baseline::kIlp;
  options.minimize = true;
  Budget budget;
  const ProcessorLimit processor_limit(budget, limit);
  const double start = ProcessorSeconds();
  const PlanAnswer placed = BERTH_TRY(PlaceWithBaseline(live.problem, options, budget));
  found.seconds += ProcessorSeconds() - start;
  if (!placed.best) return found;
  cli::VerifyOrDie(live.problem, {}, std::nullopt, *placed.best);
  found.height = placed.best->height();
  found.closed = run.closed() && placed.outcome == Outcome::kOptimal;
  return found;
}

Result<Found> SolveOurs(const Graph& graph, double limit, Bytes& bound) {
  Budget budget;
  const ProcessorLimit processor_limit(budget, limit);
  const double start = ProcessorSeconds();
  const PlanAnswer answer = BERTH_TRY(Plan(graph, {}, budget));
  Found found;
  found.seconds = std::max(ProcessorSeconds() - start, 1e-6);
  cli::VerifyOrDie(graph, {}, answer);
  found.height = answer.best->height();
  found.closed = answer.outcome == Outcome::kOptimal;
  bound = answer.height_bound;
  return found;
}

// What contradicts what.
void Judge(Lab& lab, const Comparison& comparison) {
  const std::string& name = comparison.input->name;
  const auto bytes = [](Bytes value) { return cli::FormatBytesExactly(value); };
  for (const Found* found : {&comparison.joint, &comparison.split}) {
    if (!found->height || *found->height >= comparison.bound) continue;
    lab.Note(name + ": OLLA's plan has a height of " + bytes(*found->height) +
             ", below what was proved to be needed, " + bytes(comparison.bound));
  }
  if (!comparison.joint.closed) return;
  for (const Found* found : {&comparison.ours, &comparison.split}) {
    if (!found->height || *found->height >= *comparison.joint.height) continue;
    lab.Note(name + ": OLLA's joint program calls a height of " + bytes(*comparison.joint.height) +
             " the least; there is a plan with " + bytes(*found->height));
  }
}

std::string StatusOf(const Found& found) {
  return found.closed ? "closed" : found.height ? "limit" : "no plan";
}

Sheet EmptySheet() {
  return Sheet({{"graph", "graph", false},
                {"operators", "operators"},
                {"variables", "variables"},
                {"constraints", "constraints"},
                {"joint", "joint_status", false},
                {"height", "joint_bytes"},
                {"time", "joint_seconds"},
                {"split", "split_status", false},
                {"height", "split_bytes"},
                {"time", "split_seconds"},
                {"our height", "height_bytes"},
                {"bound", "height_bound_bytes"},
                {"time", "seconds"}});
}

std::vector<Cell> RowOf(const Comparison& comparison) {
  std::vector<Cell> row = {
      TextCell(comparison.input->name),
      CountCell(static_cast<std::int64_t>(comparison.input->graph.operators.size())),
      CountCell(comparison.variables)};
  if (comparison.tried) {
    row.push_back(CountCell(comparison.constraints));
    for (const Found* found : {&comparison.joint, &comparison.split}) {
      row.insert(row.end(),
                 {TextCell(StatusOf(*found)), found->height ? BytesCell(*found->height) : NoCell(),
                  SecondsCell(found->seconds)});
    }
  } else {
    row.push_back(NoCell());
    for (int program = 0; program < 2; ++program) {
      row.insert(row.end(), {TextCell("not tried"), NoCell(), NoCell()});
    }
  }
  row.insert(row.end(), {BytesCell(*comparison.ours.height), BytesCell(comparison.bound),
                         SecondsCell(comparison.ours.seconds)});
  return row;
}

Cell MedianCell(const std::vector<double>& ratios) {
  return ratios.empty() ? NoCell() : RatioCell(Median(ratios));
}

Sheet Summary(const std::vector<Comparison>& comparisons) {
  Sheet summary({{"graphs", "graphs", false},
                 {"", "count"},
                 {"tried", "tried"},
                 {"joint closed", "joint_closed"},
                 {"split closed", "split_closed"},
                 {"both: joint is lower", "joint_lower"},
                 {"joint closed: ours the same", "ours_same"},
                 {"ours lower than joint's plan", "ours_lower"},
                 {"joint's time : split's", "joint_to_split"},
                 {"joint's time : ours", "joint_to_ours"}});
  for (const bool real : {false, true}) {
    std::int64_t count = 0;
    std::int64_t tried = 0;
    std::int64_t joint_closed = 0;
    std::int64_t split_closed = 0;
    std::int64_t joint_lower = 0;
    std::int64_t same = 0;
    std::int64_t lower = 0;
    std::vector<double> to_split;  // Of programs that are closed.
    std::vector<double> to_ours;
    for (const Comparison& each : comparisons) {
      if (each.real() != real) continue;
      ++count;
      tried += each.tried ? 1 : 0;
      split_closed += each.split.closed ? 1 : 0;
      lower += each.joint.height && *each.ours.height < *each.joint.height ? 1 : 0;
      if (!each.joint.closed) continue;
      ++joint_closed;
      same += *each.ours.height == *each.joint.height ? 1 : 0;
      to_ours.push_back(each.joint.seconds / each.ours.seconds);
      if (!each.split.closed) continue;
      joint_lower += *each.joint.height < *each.split.height ? 1 : 0;
      to_split.push_back(each.joint.seconds / each.split.seconds);
    }
    if (count == 0) continue;
    summary.AddRow({TextCell(real ? "real" : "generated"), CountCell(count), CountCell(tried),
                    CountCell(joint_closed), CountCell(split_closed), CountCell(joint_lower),
                    CountCell(same), CountCell(lower), MedianCell(to_split), MedianCell(to_ours)});
  }
  return summary;
}

// Of all inputs, the least program first; nothing but the sizes is known yet.
Result<std::vector<Comparison>> BySize(const std::vector<GraphInput>& inputs) {
  std::vector<Comparison> comparisons;
  for (const GraphInput& input : inputs) {
    Comparison comparison;
    comparison.input = &input;
    comparison.variables = BERTH_TRY(CountOllaVariables(input.graph, Options(true)));
    comparisons.push_back(std::move(comparison));
  }
  std::stable_sort(
      comparisons.begin(), comparisons.end(),
      [](const Comparison& a, const Comparison& b) { return a.variables < b.variables; });
  return comparisons;
}

}  // namespace

Result<void> JointProgram(Lab& lab) {
  const double limit = lab.TimeLimit(20);
  lab.Heading(
      "Section 4.4: order and addresses in one program (9), or one after the other (14, 15)",
      "Without control edges, the smallest program first; processor time, limit " +
          cli::FormatSeconds(limit) +
          " for each program. \"Closed\": the solver says that no plan is lower, of the split "
          "programs none with that order. Joint programs of more than " +
          cli::FormatCount(kMostVariables) + " variables are not tried.");
  if (!lab.HasIlp()) return {};
  const auto inputs = BERTH_TRY(ProgramInputs(lab, kMostOperators));
  std::vector<Comparison> comparisons = BERTH_TRY(BySize(inputs));
  Sheet sheet = EmptySheet();
  for (Comparison& comparison : comparisons) {
    const Graph& graph = comparison.input->graph;
    lab.Progress("joint, " + comparison.input->name);
    comparison.ours = BERTH_TRY(SolveOurs(graph, limit, comparison.bound));
    if (comparison.variables <= kMostVariables) {
      comparison.tried = true;
      comparison.joint = BERTH_TRY(SolveJoint(graph, limit, comparison));
      comparison.split = BERTH_TRY(SolveSplit(graph, limit));
      Judge(lab, comparison);
    }
    sheet.AddRow(RowOf(comparison));
    lab.Keep("joint", sheet);  // Row by row: it takes long, and may be interrupted.
  }
  lab.Progress("");
  const Sheet summary = Summary(comparisons);
  lab.Show(sheet);
  lab.Show(summary);
  lab.Say("The paper splits the problem without losing memory on any of its networks.\n");
  lab.Keep("joint-summary", summary);
  return {};
}

}  // namespace berth::lab
