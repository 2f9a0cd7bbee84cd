// OLLA's integer program with operators that run again and swaps, for the least peak at a bounded cost, against
// Berth. The authors' code bounds the bytes that are swapped; here it is the cost of both. Berth plans within a
// capacity for the least cost, so that the least peak is found by bisection over capacities.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/try.h"
#include "berth/plan.h"
#include "berth/spill.h"
#include "tools/berth/terminal.h"
#include "tools/lab/bench/benchmark.h"
#include "tools/lab/suites/olla.h"
#include "tools/lab/suites/recompute.h"

namespace berth::lab {
namespace {

// What the plans may cost, in % of what running each operator once costs.
constexpr std::array<int, 3> kBounds = {10, 25, 50};

// What the program says.
struct Asked {
  std::optional<Bytes> peak;  // Of its plan.
  bool closed = false;
  Bytes bound = 0;  // Closed: the least peak that it can express.
  std::int64_t variables = 0;
  double seconds = 0;
};

// What Berth says.
struct Own {
  Bytes peak = 0;   // The height of its plan,
  Bytes bound = 0;  // and what is proved: no plan within the cost has less.
  std::int64_t cost = 0;
  std::size_t repeats = 0;
  std::int64_t plans = 0;  // Capacities that were tried.
  double seconds = 0;
  [[nodiscard]] bool proved() const { return peak == bound; }
};

// One graph and one bound.
struct Case {
  RecomputeQuestion question;
  int percent = 0;
  Bytes least_peak = 0;  // At no cost, without copies.
  Asked published;
  Asked spare;
  Own own;
};

Result<Asked> Ask(RecomputeQuestion question, bool published, double limit) {
  question.published = published;
  const RecomputeRun run = BERTH_TRY(RunOllaRecompute(question, limit));
  Asked asked;
  if (run.answer.plan) asked.peak = run.answer.plan->peak();
  asked.closed =
      run.answer.outcome == Outcome::kOptimal || run.answer.outcome == Outcome::kInfeasible;
  asked.bound = run.answer.bound;
  asked.variables = run.answer.variables;
  asked.seconds = run.seconds;
  return asked;
}

// Of all tensors: possible peaks are multiples of it.
Bytes UnitOf(const Graph& graph) {
  Bytes unit = 0;
  for (const Tensor& tensor : graph.tensors) unit = std::gcd(unit, tensor.bytes);
  return std::max<Bytes>(unit, 1);
}

// The least cost falls with the capacity. One that has no plan of at most that cost is a bound where that is
// proved; else the search goes on above it all the same.
Result<Own> FindLeastPeak(const RecomputeQuestion& question, double limit) {
  const Graph& graph = question.input->graph;
  const double start = ProcessorSeconds();
  const Bytes unit = UnitOf(graph);
  Own own;
  {
    Budget budget;
    const ProcessorLimit processor_limit(budget, limit / 2);
    const PlanAnswer whole = BERTH_TRY(Plan(graph, {}, budget));
    own.peak = whole.best->height();
  }
  Bytes low = FindLeastMemory(graph, {}).bytes;  // Nothing below it is left to try.
  own.bound = low;
  while (low < own.peak) {
    const auto left = static_cast<std::uint64_t>((own.peak - low) / unit);
    RecomputeQuestion next = question;
    next.capacity = low + static_cast<Bytes>(left / 2) * unit;
    const double rest = std::max(limit - (ProcessorSeconds() - start), 0.01);
    const PlanAnswer answer =
        BERTH_TRY(PlanOwnRecompute(next, rest / static_cast<double>(std::bit_width(left))));
    ++own.plans;
    if (HasPlan(answer) && answer.best->overhead() <= *question.most_cost) {
      own.peak = answer.best->height();
      own.cost = answer.best->overhead();
      own.repeats = answer.best->recomputed.operators;
      continue;
    }
    const bool proved =
        answer.outcome == Outcome::kInfeasible || answer.recompute_bound > *question.most_cost;
    low = std::min(next.capacity + unit, own.peak);
    if (proved) own.bound = low;
  }
  own.seconds = std::max(ProcessorSeconds() - start, 1e-6);
  return own;
}

// Plans within a smaller cost, or without copies, are plans of this case as well.
void TakeOver(const std::vector<Case>& earlier, Case& result) {
  for (const Case& other : earlier) {
    const bool holds = other.question.input == result.question.input &&
                       other.percent <= result.percent &&
                       (result.question.copies || !other.question.copies);
    if (!holds || other.own.peak >= result.own.peak) continue;
    result.own.peak = other.own.peak;
    result.own.cost = other.own.cost;
    result.own.repeats = other.own.repeats;
  }
}

// A program below Berth's bound is a fault, and so is a closed one above a plan that it could express.
void Judge(Lab& lab, const std::string& where, const Case& result) {
  for (const Asked* const asked : {&result.published, &result.spare}) {
    if (asked->peak && *asked->peak < result.own.bound) {
      lab.Note(where + ": the program has a peak of " + std::to_string(*asked->peak) +
               ", below Berth's bound of " + std::to_string(result.own.bound));
    }
  }
  const bool expressible = result.own.repeats <= SpareSteps(result.question.input->graph);
  if (!result.spare.closed || !expressible) return;
  if (!result.spare.peak) {
    lab.Note(where + ": the program says that nothing fits, but Berth has a plan");
  } else if (result.own.peak < std::min(*result.spare.peak, result.spare.bound)) {
    lab.Note(where + ": the program calls a peak of " + std::to_string(result.spare.bound) +
             " the least, but Berth's plan needs " + std::to_string(result.own.peak));
  }
}

Result<Case> Measure(Lab& lab, const GraphInput& input, Bytes least_peak, int percent, bool copies,
                     const std::vector<Case>& earlier, double limit) {
  std::int64_t all = 0;
  for (const std::int64_t cost : CostsOf(input.graph).of) all += cost;
  Case result;
  // The program needs no more than its own least peak without repeats, which it has to find.
  result.question = {&input, least_peak, copies, false, all * percent / 100};
  result.percent = percent;
  result.least_peak = least_peak;
  const std::string where =
      input.name + ", " + std::to_string(percent) + " %" + (copies ? ", with copies" : "");
  lab.Progress("least peak, " + where);
  result.published = BERTH_TRY(Ask(result.question, /*published=*/true, limit));
  result.spare = BERTH_TRY(Ask(result.question, /*published=*/false, limit));
  result.own = BERTH_TRY(FindLeastPeak(result.question, limit));
  TakeOver(earlier, result);
  Judge(lab, where, result);
  return result;
}

Sheet EmptySheet() {
  return Sheet({{"graph", "graph", false},
                {"operators", "operators"},
                {"cost at most", "most_percent"},
                {"", "most_cost_ns"},
                {"copies", "copies", false},
                {"least peak", "least_peak_bytes"},
                {"as published: variables", "published_variables"},
                {"", "published_status", false},
                {"peak", "published_peak_bytes"},
                {"time", "published_seconds"},
                {"steps to spare: variables", "variables"},
                {"", "status", false},
                {"peak", "program_peak_bytes"},
                {"time", "program_seconds"},
                {"Berth", "peak_bytes"},
                {"bound", "peak_bound_bytes"},
                {"cost", "cost_ns"},
                {"repeats", "repeats"},
                {"plans", "plans"},
                {"time", "seconds"}});
}

void AppendProgram(const Asked& asked, std::vector<Cell>& cells) {
  Cell time = SecondsCell(asked.seconds);
  if (!asked.closed) time.text = "> " + time.text;
  cells.insert(cells.end(),
               {CountCell(asked.variables),
                TextCell(ProgramStatus(asked.variables, asked.closed, asked.peak.has_value())),
                asked.peak ? BytesCell(*asked.peak) : NoCell(), std::move(time)});
}

std::vector<Cell> RowOf(const Case& result) {
  const RecomputeQuestion& question = result.question;
  std::vector<Cell> row = {
      TextCell(question.input->name),
      CountCell(static_cast<std::int64_t>(question.input->graph.operators.size())),
      {std::to_string(result.percent) + " %", std::to_string(result.percent)},
      CountCell(*question.most_cost),
      TextCell(question.copies ? "1" : "0"),
      BytesCell(result.least_peak)};
  AppendProgram(result.published, row);
  AppendProgram(result.spare, row);
  const Own& own = result.own;
  row.insert(row.end(), {BytesCell(own.peak), BytesCell(own.bound), CountCell(own.cost),
                         CountCell(static_cast<std::int64_t>(own.repeats)), CountCell(own.plans),
                         SecondsCell(own.seconds)});
  return row;
}

// How the two do with one bound.
struct Tally {
  std::int64_t cases = 0;
  std::int64_t published_closed = 0;
  std::int64_t published_higher = 0;  // Than Berth's plan, or without a plan.
  std::int64_t closed = 0;
  std::int64_t same = 0;    // Of the closed ones.
  std::int64_t higher = 0;  // Than Berth's plan, or without a plan;
  std::int64_t lower = 0;   // lower.
  std::int64_t proved = 0;
  std::vector<double> saved;
  std::vector<double> ratios;

  void Add(const Case& result) {
    const Own& own = result.own;
    const auto exceeds = [&](const Asked& asked) { return !asked.peak || *asked.peak > own.peak; };
    ++cases;
    published_closed += result.published.closed ? 1 : 0;
    published_higher += exceeds(result.published) ? 1 : 0;
    closed += result.spare.closed ? 1 : 0;
    same += result.spare.closed && result.spare.peak == own.peak ? 1 : 0;
    higher += exceeds(result.spare) ? 1 : 0;
    lower += result.spare.peak && *result.spare.peak < own.peak ? 1 : 0;
    proved += own.proved() ? 1 : 0;
    saved.push_back(1 - static_cast<double>(own.peak) / static_cast<double>(result.least_peak));
    if (result.spare.closed) ratios.push_back(result.spare.seconds / own.seconds);
  }
};

Sheet Summary(const std::vector<Case>& cases) {
  Sheet summary({{"graphs", "graphs", false},
                 {"cost at most", "most_percent"},
                 {"copies", "copies", false},
                 {"cases", "cases"},
                 {"as published: closed", "published_closed"},
                 {"higher than Berth, or no plan", "published_higher"},
                 {"steps to spare: closed", "closed"},
                 {"closed: Berth the same", "closed_same"},
                 {"higher than Berth, or no plan", "higher"},
                 {"lower", "lower"},
                 {"Berth proved", "proved"},
                 {"Berth below the least peak, mean", "mean_saved"},
                 {"closed: its time : Berth's", "median_ratio"}});
  for (const bool real : {false, true}) {
    for (const int percent : kBounds) {
      for (const bool copies : {false, true}) {
        Tally tally;
        for (const Case& each : cases) {
          const bool counts = each.question.real() == real && each.percent == percent &&
                              each.question.copies == copies;
          if (counts) tally.Add(each);
        }
        if (tally.cases == 0) continue;
        const double sum = std::accumulate(tally.saved.begin(), tally.saved.end(), 0.0);
        summary.AddRow({TextCell(real ? "real" : "generated"),
                        {std::to_string(percent) + " %", std::to_string(percent)},
                        TextCell(copies ? "1" : "0"),
                        CountCell(tally.cases),
                        CountCell(tally.published_closed),
                        CountCell(tally.published_higher),
                        CountCell(tally.closed),
                        CountCell(tally.same),
                        CountCell(tally.higher),
                        CountCell(tally.lower),
                        CountCell(tally.proved),
                        PercentCell(sum / static_cast<double>(tally.cases)),
                        tally.ratios.empty() ? NoCell() : RatioCell(Median(tally.ratios))});
      }
    }
  }
  return summary;
}

}  // namespace

Result<void> OllaRecomputationPeak(Lab& lab) {
  const double limit = lab.TimeLimit(5);
  lab.Heading(
      "The least peak at a bounded cost",
      "The integer program with operators that run again, and with copies over a link of half the "
      "bandwidth of the memory, as the authors' code has it and with half as many steps more than "
      "operators. The bound is in % of what running each operator once costs. Processor time, "
      "limit " +
          cli::FormatSeconds(limit) +
          " for each program and for Berth, which bisects over capacities. \"Closed\": proved the "
          "least that the program can express.");
  if (!lab.HasIlp()) return {};
  const auto inputs = BERTH_TRY(RecomputeInputs(lab));
  std::vector<Case> cases;
  Sheet sheet = EmptySheet();
  const auto measure = [&](const RecomputeAsked& asked) -> Result<bool> {
    cases.push_back(BERTH_TRY(
        Measure(lab, *asked.input, asked.least_peak, asked.percent, asked.copies, cases, limit)));
    sheet.AddRow(RowOf(cases.back()));
    lab.Keep("recomputation-peak", sheet);  // Row by row, as it takes long.
    return cases.back().spare.closed;
  };
  BERTH_TRY(AskOfEach(inputs, {kBounds.begin(), kBounds.end()}, limit, measure));
  lab.Progress("");
  const Sheet summary = Summary(cases);
  lab.Show(sheet);
  lab.Show(summary);
  lab.Keep("recomputation-peak-summary", summary);
  return {};
}

}  // namespace berth::lab
