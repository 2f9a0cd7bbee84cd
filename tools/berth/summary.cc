#include "tools/berth/summary.h"

#include <algorithm>
#include <utility>

#include "berth/bytes.h"
#include "berth/memory_io.h"
#include "berth/plan.h"
#include "berth/recompute.h"
#include "berth/report.h"
#include "src/base/try.h"
#include "src/io/plan_head.h"
#include "tools/berth/checked.h"
#include "tools/berth/headline.h"
#include "tools/berth/moves.h"
#include "tools/berth/off_chip.h"
#include "tools/berth/program.h"
#include "tools/berth/proof.h"
#include "tools/berth/tflite.h"

namespace berth::cli {
namespace {

constexpr std::size_t kRowsAtPeak = 10;
constexpr std::size_t kName = 40;

// "146 MiB (152,694,784 bytes), 55 % less than the 324 MiB of program order".
std::string PeakLine(const PlanAnswer& answer) {
  const Bytes now = answer.best->peak();
  const Bytes before = answer.program_order_peak;
  std::string text = FormatBytesExactly(now);
  if (now == before) return text + ", as in program order";
  const Bytes change = now < before ? before - now : now - before;
  return text + ", " + FormatPercent(static_cast<double>(change) / static_cast<double>(before)) +
         (now < before ? " less" : " more") + " than the " + FormatBytes(before) +
         " of program order";
}

std::string PeakBoundLine(const PlanAnswer& answer) {
  std::string text = FormatBytesExactly(answer.peak_bound);
  if (answer.peak_bound == answer.best->peak()) {
    return text + ": the order is proved to have the least peak";
  }
  return text + ": the order is at most " +
         FormatPercentUp(Gap(answer.best->peak(), answer.peak_bound)) + " above the best";
}

std::string ArenaLine(const PlanAnswer& answer) {
  const Bytes height = answer.best->height();
  const Bytes peak = answer.best->peak();
  std::string text = FormatBytesExactly(height);
  if (height == peak) return text + ": the peak, nothing is lost between tensors";
  text += ": " + FormatBytes(height - peak) + " (" + FormatPercent(Gap(height, peak)) +
          ") above the peak";
  if (answer.placement_bound == height) return text + ", proved the least for this order";
  return text + "; at most " + FormatPercentUp(Gap(height, answer.placement_bound)) +
         " more than this order needs";
}

// "auto, 12 nodes, 0.3 ms".
std::string SearchLine(const SearchReport& search) {
  return std::string(search.algorithm) + ", " + Plural(search.nodes, "node") + ", " +
         FormatSeconds(search.seconds);
}

void AddTableFacts(const Planned& planned, FactList& facts) {
  const PlanAnswer& answer = planned.answer;
  if (const SnapshotInput* const snapshot = planned.snapshot) {
    facts.Add("pool", snapshot->use.NameOfPool(snapshot->pool));
    facts.Add("recorded", RecordingText(*snapshot));
    const Bytes height = answer.best ? answer.best->height() : planned.load.load;
    facts.Add("reserved", ReservedText(snapshot->chosen(), height));
    if (planned.simulated) {
      facts.Add("simulated", FormatBytesExactly(*planned.simulated) +
                                 " by PyTorch's allocator, without memory cached before");
    }
  }
  if (const GivenPlan* const given = planned.given) {
    facts.Add(given->maker,
              GivenText(*given, answer.best ? answer.best->height() : planned.load.load));
  }
  if (answer.capacity) facts.Add("capacity", FormatBytesExactly(*answer.capacity));
  if (answer.best && answer.fits()) {
    facts.Add("height", FormatBytesExactly(answer.best->height()));
  } else if (answer.best) {
    facts.Add("enough",
              FormatBytesExactly(answer.best->height()) + ", the smallest capacity known to work");
    if (answer.capacity) {
      facts.Add("missing",
                MissingText(*answer.capacity, answer.height_bound, answer.best->height()));
    }
  }
  // Of the bound that reading the table gives, one can say where it comes from.
  if (!planned.collision) {
    facts.Add("lower bound", FormatBytesExactly(answer.height_bound) +
                                 (answer.height_bound == planned.load.lower_bound
                                      ? ReasonOf(planned.load, planned.problem())
                                      : ""));
  }
  const bool any = !planned.problem().buffers.empty();
  facts.Add("load", FormatBytesExactly(planned.load.load) +
                        (any ? " live at step " + FormatCount(planned.load.load_step) : ""));
  if (answer.best && any) {
    const double gap = Gap(answer.best->height(), answer.height_bound);
    facts.Add("gap",
              gap == 0 ? "none" : "at most " + FormatPercentUp(gap) + " above the lowest plan");
    facts.Add("found by", std::string(answer.placing.algorithm));
  }
  const auto count = static_cast<std::int64_t>(planned.problem().buffers.size());
  facts.Add("search", Plural(count, "buffer") + ", " + Plural(answer.nodes, "node") + ", " +
                          FormatSeconds(answer.seconds));
  const SearchStats& stats = answer.placing.stats;
  if (stats != SearchStats()) {
    facts.Add("went back", Plural(stats.minor_backtracks, "minor backtrack") + ", " +
                               Plural(stats.major_backtracks, "major backtrack") + ", " +
                               Plural(stats.failures, "failure"));
  }
}

void AddModelFacts(const Planned& planned, FactList& facts) {
  facts.Add("model", DescribeGraph(planned.model->graph));
  if (planned.model->overwrites > 0) {
    facts.Add("in place", Plural(planned.model->overwrites, "output") + " written over an input");
  }
}

// All that is known of the peak where sizes are not.
void AddKnownPeak(const PlanAnswer& answer, FactList& facts) {
  facts.Add("peak", FormatBytesExactly(answer.best->peak()) + ", of the tensors of known size");
  facts.Add("lower bound", FormatBytesExactly(answer.peak_bound));
}

void AddOrderFacts(const Planned& planned, FactList& facts) {
  const PlanAnswer& answer = planned.answer;
  const Bytes peak = answer.best->peak();
  if (planned.sizes_missing()) {
    AddKnownPeak(answer, facts);
    return;
  }
  facts.Add("peak", FormatBytesExactly(peak) + "; " +
                        (peak == answer.program_order_peak
                             ? "the same in program order"
                             : FormatBytes(answer.program_order_peak) + " in program order"));
  facts.Add("lower bound", FormatBytesExactly(answer.peak_bound));
  facts.Add("gap", answer.outcome == Outcome::kOptimal
                       ? "none"
                       : "at most " + FormatPercentUp(Gap(peak, answer.peak_bound)) +
                             " above the best order");
  facts.Add("found by", std::string(answer.scheduling.algorithm));
  facts.Add("search", Plural(answer.nodes, "node") + ", " + FormatSeconds(answer.seconds));
  const SearchStats& stats = answer.scheduling.stats;
  if (stats.operators > 0) {
    facts.Add("reduced to",
              Plural(stats.operators, "operator") + " in " + Plural(stats.segments, "segment"));
  }
}

void AddGraphFacts(const Planned& planned, FactList& facts) {
  const PlanAnswer& answer = planned.answer;
  if (answer.capacity) facts.Add("capacity", FormatBytesExactly(*answer.capacity));
  if (planned.sizes_missing()) {
    AddKnownPeak(answer, facts);
    return;
  }
  facts.Add("peak", PeakLine(answer));
  facts.Add("lower bound", PeakBoundLine(answer));
  if (planned.placed() && (answer.fits() || !answer.capacity)) {
    facts.Add("arena", ArenaLine(answer));
  } else if (planned.placed()) {
    const Bytes height = answer.best->height();
    facts.Add("enough", FormatBytesExactly(height) + ", the smallest capacity known to work");
    facts.Add("missing", MissingText(*answer.capacity, answer.height_bound, height));
  }
  const std::string uncounted = DescribeUncounted(planned.model->graph, planned.counting());
  if (!uncounted.empty()) facts.Add("besides", uncounted + ", which the arena does not hold");
  facts.Add("order by", SearchLine(answer.scheduling));
  const auto count = static_cast<std::int64_t>(answer.best->residencies.size());
  if (planned.placed() && count > 0) {
    facts.Add("placed by", std::string(answer.placing.algorithm) + ", " + Plural(count, "buffer") +
                               ", " + Plural(answer.placing.nodes, "node") + ", " +
                               FormatSeconds(answer.placing.seconds));
  }
}

// The budget, and those with names.
void AddBudgets(const Planned& planned, FactList& facts) {
  const PlanAnswer& answer = planned.answer;
  const Graph& graph = planned.model->graph;
  const bool with_parameters = answer.recomputes && !answer.spills && planned.counting().parameters;
  facts.Add("budget", FormatBytesExactly(*answer.capacity));
  facts.Add("MR", FormatBytesExactly(answer.least.bytes) +
                      (graph.operators.empty()
                           ? ""
                           : ", what operator " + NameOfOperator(graph, answer.least.op) +
                                 (with_parameters ? " and the parameters need" : " alone needs")));
  const bool proved = answer.scheduling.outcome == Outcome::kOptimal;
  facts.Add("MH", FormatBytesExactly((answer.least.bytes + answer.least_peak) / 2) +
                      ", halfway between MR and MP");
  facts.Add("MP", FormatBytesExactly(answer.least_peak) +
                      (proved ? ", the least peak of any order" : ", the least peak found"));
}

void AddRecomputeFacts(const Planned& planned, FactList& facts) {
  const PlanAnswer& answer = planned.answer;
  const Graph& graph = planned.model->graph;
  AddBudgets(planned, facts);
  const std::string unit = CostsOf(graph).unit;
  const auto with_share = [&](std::int64_t cost, bool down) {
    return OneLine(FormatCostExactly(cost, unit)) + ", " +
           FormatPercentFinely(ShareOfRun(graph, cost), down) + " of the cost of one run";
  };
  if (planned.placed()) {
    const MemoryPlan& plan = *answer.best;
    if (plan.recomputed.operators > 0) {
      facts.Add("again", RunAgainFact(graph, plan));
      facts.Add(
          "cost",
          with_share(plan.recomputed.cost, false) +
              (unit == "bytes" ? " (bytes read and written, as the graph has no costs)" : ""));
    }
    if (plan.traffic.avoidable() > 0 && answer.spills) {
      facts.Add("copies", FormatBytes(plan.traffic.spilled) + " out and " +
                              FormatBytes(plan.traffic.retrieved) + " back, " +
                              with_share(plan.traffic.cost, false));
    }
    if (answer.spills) AddOffChipFacts(*planned.model, plan, facts);
    facts.Add("arena", FormatBytesExactly(plan.height()));
  }
  if (answer.outcome == Outcome::kFeasible || answer.outcome == Outcome::kUnknown) {
    facts.Add("lower bound", with_share(answer.recompute_bound, true));
  }
  facts.Add("search", Plural(answer.spilling.nodes, "node") + ", " +
                          FormatSeconds(answer.spilling.seconds) +
                          (answer.stopped == StopReason::kEffort
                               ? "; ended with its default effort, --time-limit 5min would go on"
                               : ""));
}

void AddSpillFacts(const Planned& planned, FactList& facts) {
  const PlanAnswer& answer = planned.answer;
  const Graph& graph = planned.model->graph;
  AddBudgets(planned, facts);
  if (planned.placed()) {
    const Traffic& traffic = answer.best->traffic;
    if (traffic.avoidable() > 0) {
      facts.Add("spilled", FormatBytesExactly(traffic.spilled));
      facts.Add("retrieved", FormatBytesExactly(traffic.retrieved));
      facts.Add("moved", DescribeMoves(MovesOf(graph, *answer.best)) +
                             (planned.moves ? "" : "; --moves lists them"));
    }
    facts.Add("compulsory", FormatBytesExactly(traffic.compulsory_in) + " in, " +
                                FormatBytesExactly(traffic.compulsory_out) + " out");
    if (answer.outcome != Outcome::kOptimal) {
      facts.Add("lower bound", FormatBytesExactly(answer.traffic_bound));
    }
    if (traffic.avoidable() > answer.traffic_by_sum) {
      facts.Add("for addresses", FormatBytesExactly(traffic.avoidable() - answer.traffic_by_sum) +
                                     " more than if bytes only had to fit in sum");
    }
    AddOffChipFacts(*planned.model, *answer.best, facts);
  }
  facts.Add(
      "search",
      Plural(answer.spilling.nodes, "node") + ", " + FormatSeconds(answer.spilling.seconds) +
          (answer.stopped == StopReason::kSize ? "; ended because it may not store more states"
           : answer.stopped == StopReason::kEffort
               ? "; ended with its default effort, --time-limit 5min would go on"
           : answer.stopped == StopReason::kGap
               ? "; ended as --gap " + FormatPercentage(planned.provenance.options.gap) +
                     " asks for"
               : ""));
}

void AddFiles(const Planned& planned, FactList& facts) {
  const PlanOutputs& outputs = planned.outputs;
  if (!outputs.plan.empty()) {
    facts.Add("plan", planned.placed() && planned.answer.fits() ? OneLine(outputs.plan)
                      : planned.sizes_missing()
                          ? "not written, as sizes are not known; --allow-unknown writes it"
                      : planned.answer.spills || planned.answer.recomputes
                          ? "not written, as there is no plan"
                          : "not written, as none fits");
  }
  if (!outputs.svg.empty()) {
    facts.Add("picture",
              planned.placed() ? OneLine(outputs.svg) : "not drawn, as there is no plan");
  }
  if (!planned.reordered.empty()) facts.Add("order", OneLine(planned.reordered));
  if (!outputs.report.empty()) facts.Add("report", OneLine(outputs.report));
  if (!outputs.trace.empty()) facts.Add("trace", OneLine(outputs.trace));
  if (!outputs.proof.empty()) facts.Add("proof", ProofText(planned));
}

// Of a table: what to do next, where that is not obvious.
std::string TableAdvice(const Planned& planned) {
  if (planned.collision) {
    return OneLine(planned.collision->sentence) + " No capacity would do; move one of them.";
  }
  const PlanAnswer& answer = planned.answer;
  if (answer.outcome == Outcome::kInfeasible) {
    if (planned.explain.empty()) return "";
    return "Which buffers are in the way: " + planned.explain;
  }
  switch (answer.stopped) {
    case StopReason::kEffort:
      return "Stopped after its default effort; --time-limit 10s would go on.";
    case StopReason::kSize:
      return "Too large for exact search: greedy algorithms only.";
    case StopReason::kAlgorithm:
      // A plan that fits is all that was asked for.
      if (answer.fits() && answer.capacity) return "";
      return "This algorithm proves nothing; --algorithm auto goes on to exact search.";
    case StopReason::kAnswered:
    case StopReason::kBudget:
    case StopReason::kUnsized:
    case StopReason::kGap:
      break;
  }
  return "";
}

bool RunsBodies(const Operator& op) {
  return op.type == "If" || op.type == "Loop" || op.type == "Scan";
}

// What the peak says about where to look next.
std::string PeakAdvice(const Graph& graph, const Peak& peak) {
  const Bytes waiting = peak.bytes - peak.in_use;
  // Nearly all of the peak is what one operator needs anyway: no order can lower it.
  constexpr Bytes kNearly = 20;
  if (graph.operators.empty() || peak.bytes == 0) return "";
  const std::string name = NameOfOperator(graph, peak.largest_operator);
  const Bytes above = peak.bytes - peak.largest_step;
  if (above <= peak.bytes / kNearly) {
    return name + " by itself reads and makes " + FormatBytes(peak.largest_step) + ", " +
           (above == 0 ? "the whole peak" : "all of the peak except " + FormatBytes(above)) +
           (RunsBodies(graph.operators[peak.largest_operator])
                ? ": no order of the operators around it helps here; a smaller body would."
                : ": no order helps here.");
  }
  // Less than a hundredth of the peak is not worth a sentence.
  if (waiting <= peak.bytes / 100 || !peak.op) return "";
  const double share = static_cast<double>(waiting) / static_cast<double>(peak.bytes);
  return FormatBytes(waiting) + " of the peak (" + FormatPercent(share) + ") only wait while " +
         NameOfOperator(graph, *peak.op) +
         " runs: tensors that are next used much later could be spilled and retrieved (--budget), "
         "or "
         "dropped and made again (--budget with --recompute). No order can go below " +
         FormatBytes(peak.largest_step) + ", what " + name + " reads and makes by itself.";
}

std::vector<std::string> AdviceLines(const Planned& planned) {
  std::vector<std::string> lines;
  // Most of the peak is not known yet, or it is not that of an order.
  if (planned.sizes_missing() || planned.answer.recomputes) return lines;
  const PlanAnswer& answer = planned.answer;
  if (std::string line = PeakAdvice(planned.model->graph, *planned.peak); !line.empty()) {
    lines.push_back(std::move(line));
  }
  if (planned.in_place_peak && *planned.in_place_peak < answer.best->peak()) {
    lines.push_back("--in-place lowers the peak of this order to " +
                    FormatBytes(*planned.in_place_peak) + ".");
  }
  if (answer.peak_bound < answer.best->peak()) {
    switch (answer.scheduling.stopped) {
      case StopReason::kEffort:
        lines.emplace_back(
            "The search for the order ended with its default effort; --time-limit 10min would go "
            "on.");
        break;
      case StopReason::kBudget:
        lines.emplace_back(
            "The search for the order ended with its limit; a larger one may find a better order, "
            "or the proof.");
        break;
      case StopReason::kUnsized:
      case StopReason::kGap:
        break;
      case StopReason::kAnswered:
      case StopReason::kSize:
      case StopReason::kAlgorithm:
        lines.emplace_back("This order was not searched for; --order auto does.");
        break;
    }
  }
  if (planned.placed() && answer.best->height() > answer.placement_bound && !answer.fits()) {
    lines.emplace_back("The placement is not proved the lowest; --time-limit 1min may lower it.");
  }
  return lines;
}

// What was tried and helps, with the command to copy on a line of its own.
std::string RemedyText(const Planned& planned) {
  if (!planned.advice || planned.outputs.json) return "";
  const bool misfit = !planned.answer.fits() && planned.answer.capacity;
  std::string text;  // Of what suffices, or without a capacity of all.
  std::string lacking;
  for (const Remedy& remedy : planned.advice->remedies) {
    const bool missed = remedy.kind == RemedyKind::kNotExamined;
    if (remedy.command.empty() && !remedy.estimated && !missed) continue;
    std::string& group = misfit && !missed && !remedy.suffices() ? lacking : text;
    group += "  " +
             Wrap(OneLine(remedy.title) + ". " + OneLine(remedy.detail), TextWidth() - 2, 2) + "\n";
    if (!remedy.command.empty()) group += "    " + remedy.command + "\n";
  }
  if (!text.empty()) {
    text = "\n" + Paint(Tone::kStrong, misfit ? "What would make it fit" : "What would lower it") +
           ", each tried\n" + text;
  }
  if (!lacking.empty()) text += "\n" + Paint(Tone::kStrong, "Not enough alone") + "\n" + lacking;
  return text;
}

Json StripsJson(const std::vector<OperatorStrips>& chains) {
  Json json = Json::array();
  for (const OperatorStrips& chain : chains) {
    json.push_back({{"operators", chain.operators},
                    {"axis", chain.axis},
                    {"strips", chain.strips},
                    {"rows", chain.rows},
                    {"result_rows", chain.result},
                    {"halo", chain.halo},
                    {"recomputed", chain.recomputed},
                    {"made", chain.made}});
  }
  return json;
}

Json RemediesJson(const Advice& advice) {
  Json json = Json::array();
  for (const Remedy& remedy : advice.remedies) {
    json.push_back({{"title", remedy.title},
                    {"detail", remedy.detail},
                    {"needs", ToJson(remedy.needs)},
                    {"fits", remedy.fits},
                    {"enlarges", remedy.enlarges()},
                    {"traffic", ToJson(remedy.traffic)},
                    {"recompute_cost", ToJson(remedy.recompute_cost)},
                    {"command", remedy.command.empty() ? Json() : Json(remedy.command)},
                    {"estimated", remedy.estimated},
                    {"strips", StripsJson(remedy.strips)}});
  }
  return json;
}

// Every residency, in the order in which they begin.
std::string TensorTable(const Planned& planned) {
  const MemoryPlan& plan = *planned.answer.best;
  const Graph& graph = planned.model->graph;
  const bool spills = planned.answer.spills;
  using Align = TextTable::Align;
  std::vector<Align> columns = {Align::kRight, Align::kRight, Align::kRight,
                                Align::kRight, Align::kLeft,  Align::kLeft};
  std::vector<std::string> header = {"offset", "bytes",  "from",
                                     "to",     "tensor", spills ? "begins" : "made by"};
  if (spills) {
    columns.push_back(Align::kLeft);
    header.emplace_back("ends");
  }
  TextTable table(std::move(columns));
  table.Elide(4, kName);
  table.Elide(5, kName);
  table.AddRow(std::move(header));
  std::vector<const Residency*> rows;
  for (const Residency& r : plan.residencies) rows.push_back(&r);
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Residency* a, const Residency* b) { return a->start < b->start; });
  for (const Residency* r : rows) {
    const Tensor& tensor = graph.tensors[r->tensor];
    const bool made =
        tensor.kind == TensorKind::kActivation || tensor.kind == TensorKind::kGradient;
    const std::string maker =
        made ? OneLine(graph.operators[plan.order[static_cast<std::size_t>(r->start)]].name)
             : "before the run";
    std::vector<std::string> row = {planned.placed() ? std::to_string(r->offset) : "-",
                                    std::to_string(tensor.bytes),
                                    std::to_string(r->start),
                                    std::to_string(r->end - 1),
                                    OneLine(tensor.name),
                                    !spills       ? maker
                                    : r->comes_in ? "retrieved"
                                                  : "made"};
    if (spills) row.emplace_back(r->written_out ? "written out" : "");
    table.AddRow(std::move(row));
  }
  return "\n" + Paint(Tone::kStrong, spills ? "Residencies" : "Tensors") +
         ", from the first step to the last\n" + table.ToString();
}

std::string OrderText(const Planned& planned) {
  std::string names;
  for (const OperatorIndex v : planned.answer.best->order) {
    if (!names.empty()) names += ", ";
    names += Abridged(planned.model->graph.operators[v].name, 60);
  }
  return "\n" + Paint(Tone::kStrong, "Order") + "\n  " + Wrap(names, TextWidth() - 2, 2) + "\n";
}

// What the page says of the verifier, which has accepted what is shown.
std::string Verdict(const PlanSubject& subject, const PlanAnswer& answer) {
  if (!answer.best) return "";
  if (!answer.best->addressed) {
    return answer.spills || answer.recomputes
               ? ""
               : "accepted: the order runs, and has the peak that is stated";
  }
  if (answer.spills || answer.recomputes) {
    return "accepted: run in a memory that records the owner of each byte; every operator found "
           "what it reads";
  }
  const auto count = static_cast<std::int64_t>(answer.best->residencies.size());
  return "accepted: " + Plural(count, "buffer") + ", no overlap, alignments " +
         (subject.table() != nullptr ? "and pins kept" : "kept") + ", height " +
         FormatBytesExactly(answer.best->height());
}

std::string Page(const Planned& planned) {
  PageOptions page = PageWithAdvice(planned.command, planned.subject, planned.answer,
                                    planned.advice.value_or(Advice()));
  if (planned.model != nullptr) page.notes = NotesOf(*planned.model, planned.counting());
  if (planned.snapshot != nullptr) AddToPage(*planned.snapshot, page);
  if (planned.sizes_missing()) {
    const std::string command = OpenDimensionsCommand(*planned.model, planned.command);
    if (!command.empty()) {
      const Remedy give{.kind = RemedyKind::kModel,
                        .title = "Give its open dimensions their sizes",
                        .detail = "The model can run with these sizes; replace them with your own.",
                        .command = command};
      page.remedies.insert(page.remedies.begin(), give);
    }
  }
  return WritePage(planned.subject, planned.answer, planned.provenance, page);
}

SvgOptions PictureOptions(const Planned& planned) {
  SvgOptions svg;
  svg.title = planned.provenance.input;
  if (!planned.answer.spills && !planned.answer.recomputes) return svg;
  svg.title += " in " + FormatBytes(*planned.answer.capacity);
  svg.marks = MarksOf(*planned.answer.best);
  return svg;
}

Result<std::string> PlanText(const Planned& planned) {
  // A table goes in and comes out, unless JSON is asked for; a graph's plan has an order as well.
  const std::string& path = planned.outputs.plan;
  if (HasExtension(path, ".tflite")) return PlannedTflite(*planned.model, *planned.answer.best);
  const bool csv =
      planned.model == nullptr ? !HasExtension(path, ".json") : HasExtension(path, ".csv");
  if (!csv) return WritePlanJson(planned.subject, planned.answer, planned.provenance);
  const Placement placement = PlacementOf(*planned.answer.best);
  return WriteCsv(planned.problem(), &placement.offsets);
}

// Someone waits for the command to end, and to look at so large a model again takes seconds.
bool IsTooLateForAdvice(const Planned& planned) {
  return planned.interrupted && planned.model != nullptr &&
         planned.model->graph.operators.size() > internal::kMostAfterCancel;
}

}  // namespace

Advice AdviceInTime(const AdviceOptions& options, WatchedSearch& search, const Adviser& advise) {
  Advice advice = search.RunAfterwards([&](Budget& budget) { return advise(options, budget); });
  for (Remedy& remedy : advice.remedies) {
    if (!remedy.changes.empty()) remedy.command = CommandWith(remedy.changes);
  }
  return advice;
}

PageOptions PageWithAdvice(const std::string& command, const PlanSubject& subject,
                           const PlanAnswer& answer, const Advice& advice) {
  return {command, Verdict(subject, answer), advice.conflict, advice.remedies, {}};
}

void FindAdvice(Planned& planned, WatchedSearch& search) {
  const PlanAnswer& answer = planned.answer;
  const bool page = !planned.outputs.report.empty();
  const bool is_model = planned.model != nullptr;
  if (!page && (!is_model || !answer.capacity || answer.fits())) return;
  if (IsTooLateForAdvice(planned)) return;
  // Fusing comes before writing in place.
  const bool in_place = is_model && !planned.provenance.in_place;
  AdviceOptions options{page, in_place && !planned.provenance.fused, in_place, {}};
  if (planned.other_readings && TriesModels(answer)) options.models = planned.other_readings();
  planned.advice = AdviceInTime(options, search, [&](const AdviceOptions& own, Budget& budget) {
    return is_model ? Advise(planned.model->graph, planned.provenance.options, answer, own, budget)
                    : Advise(planned.problem(), answer, own, budget);
  });
}

Result<void> Examine(Planned& planned) {
  const PlanAnswer& answer = planned.answer;
  VerifyOrDie(planned.subject, planned.counting(), answer);
  const PlanSubject& subject = planned.subject;
  if (subject.table() == nullptr || subject.memories() != nullptr ||
      subject.table()->capacity != answer.capacity) {
    const MemoryPlan none;
    planned.residencies = subject.Buffers(answer.best ? *answer.best : none, answer.capacity);
  }
  planned.load = MaxLiveLoad(planned.problem());
  if (planned.model != nullptr && answer.best) {
    const Graph& graph = planned.model->graph;
    const Order order = FirstExecutions(graph, answer.best->order);
    planned.peak = ExaminePeak(graph, order, planned.counting());
    if (!planned.provenance.in_place && !IsTooLateForAdvice(planned)) {
      planned.in_place_peak = Live(ReuseInPlace(graph), order, planned.counting()).peak;
    }
  }
  if (planned.model == nullptr && answer.outcome == Outcome::kInfeasible && !answer.best) {
    planned.collision = BERTH_TRY(FindCollision(planned.problem()));
  }
  return {};
}

Result<void> WriteOutputs(const Planned& planned) {
  const PlanOutputs& outputs = planned.outputs;
  const PlanAnswer& answer = planned.answer;
  if (!outputs.report.empty()) BERTH_TRY(WriteFile(outputs.report, Page(planned)));
  if (!outputs.trace.empty()) {
    BERTH_TRY(
        WriteFile(outputs.trace, WriteTrace(planned.subject, answer, planned.provenance.input)));
  }
  if (!planned.placed()) return {};
  if (answer.fits() && !outputs.plan.empty()) {
    const std::string text = BERTH_TRY(PlanText(planned));
    BERTH_TRY(WriteFile(outputs.plan, text));
  }
  if (answer.fits() && !outputs.tflm_header.empty()) {
    const std::string text =
        BERTH_TRY(TflmHeader(*planned.model, *answer.best, outputs.tflm_header));
    BERTH_TRY(WriteFile(outputs.tflm_header, text));
  }
  if (!outputs.svg.empty()) {
    const bool budget = answer.spills || answer.recomputes;
    const Bytes bound = budget ? answer.placement_bound : answer.height_bound;
    BERTH_TRY(WriteFile(outputs.svg, WriteSvg(planned.problem(), PlacementOf(*answer.best), bound,
                                              PictureOptions(planned))));
  }
  return {};
}

namespace {

// Of a table: its load, and what the search did.
void AddTable(const Planned& planned, Json& json) {
  const PlanAnswer& answer = planned.answer;
  json["load"] = planned.load.load;
  json["load_step"] = planned.load.load_step;
  json["algorithm"] = answer.placing.algorithm;
  json["failures"] = answer.placing.stats.failures;
  json["minor_backtracks"] = answer.placing.stats.minor_backtracks;
  json["major_backtracks"] = answer.placing.stats.major_backtracks;
  json["colliding_pins"] = ToJson(planned.collision);
  json["seed"] = planned.provenance.options.place.seed;
  if (planned.snapshot != nullptr) json["snapshot"] = ToJson(*planned.snapshot, planned.problem());
  if (planned.simulated) json["simulated_reserve"] = *planned.simulated;
  if (planned.given != nullptr) json["given_plan"] = ToJson(*planned.given);
}

// Of a graph: the searches, and what the plan consists of.
void AddGraph(const Planned& planned, Json& json) {
  const PlanAnswer& answer = planned.answer;
  const Graph& graph = planned.model->graph;
  const SearchStats& stats = answer.scheduling.stats;
  json["scheduling"]["seconds"] = answer.scheduling.seconds;
  json["scheduling"]["stats"] = {{"operators", stats.operators},
                                 {"segments", stats.segments},
                                 {"cuts", stats.cuts},
                                 {"constraints", stats.constraints},
                                 {"states", stats.states}};
  if (!json["placing"].is_null()) json["placing"]["seconds"] = answer.placing.seconds;
  if (answer.spills || answer.recomputes) {
    json["named_budgets"] = {{"MR", answer.least.bytes},
                             {"MH", (answer.least.bytes + answer.least_peak) / 2},
                             {"MP", answer.least_peak}};
    if (answer.spills && planned.placed()) {
      json["moves"] = MovesJson(graph, *answer.best);
      json["off_chip_run"] = OffChipJson(*planned.model, *answer.best);
    }
  }
  json["operators"] = graph.operators.size();
  json["tensors"] = graph.tensors.size();
  json["written_in_place"] = planned.model->overwrites;
  json["unplanned"] = UnplannedJson(graph);
  json["notes"] = planned.model->notes;
  if (answer.best) {
    json["at_peak"] = PeakJson(*planned.peak, graph, FirstExecutions(graph, answer.best->order));
    json["advice"] = AdviceLines(planned);
    json["remedies"] = RemediesJson(planned.advice.value_or(Advice()));
    json["order"] = Json::array();
    for (const OperatorIndex v : answer.best->order) {
      json["order"].push_back(graph.operators[v].name);
    }
    if (answer.recomputes && planned.placed()) {
      json["run_again"] = Json::array();
      for (const RunsAgain& repeat : OperatorsRunAgain(graph, *answer.best)) {
        json["run_again"].push_back({{"operator", graph.operators[repeat.op].name},
                                     {"steps", repeat.steps},
                                     {"cost", repeat.cost}});
      }
    }
  }
}

}  // namespace

Json SummaryJson(const Planned& planned) {
  const PlanAnswer& answer = planned.answer;
  Json json = internal::PlanHead(planned.subject, answer, planned.provenance);
  if (planned.placed()) json["height_gap"] = Gap(answer.best->height(), answer.height_bound);
  if (planned.only_ordered()) json["peak_gap"] = Gap(answer.best->peak(), answer.peak_bound);
  if (answer.capacity && !answer.spills && !planned.collision) {
    json["missing"] = answer.fits() ? Json(nullptr)
                                    : MissingJson(*answer.capacity, answer.height_bound,
                                                  planned.placed() && !planned.sizes_missing()
                                                      ? std::optional(answer.best->height())
                                                      : std::nullopt);
  }
  json["seconds"] = answer.seconds;
  json["nodes"] = answer.nodes;
  json["interrupted"] = planned.interrupted;
  json["buffers"] = planned.problem().buffers.size();
  if (!planned.outputs.proof.empty()) json["proof"] = ProofJson(planned);
  if (planned.model == nullptr) {
    AddTable(planned, json);
    return json;
  }
  AddGraph(planned, json);
  if (planned.sizes_missing()) {
    internal::SetApartSized(json, {"height_gap", "peak_gap", "named_budgets", "at_peak"});
  }
  return json;
}

std::string SummaryText(const Planned& planned) {
  FactList facts;
  if (planned.model == nullptr) {
    AddTableFacts(planned, facts);
    AddFiles(planned, facts);
    const std::string advice = TableAdvice(planned);
    std::string notes;
    if (planned.given != nullptr) {
      for (const std::string& note : planned.given->notes) {
        notes += "  " + Wrap(note, TextWidth() - 2, 2) + "\n";
      }
    }
    return Headline(planned) + "\n" + facts.ToString() + notes +
           (advice.empty() ? "" : "  " + advice + "\n") +
           (planned.snapshot != nullptr
                ? PeakText(*planned.snapshot, kRowsAtPeak, planned.command == "explain") +
                      PoolsText(*planned.snapshot)
                : "");
  }
  AddModelFacts(planned, facts);
  const bool ordered = planned.only_ordered();
  if (planned.answer.spills && !planned.answer.recomputes) {
    AddSpillFacts(planned, facts);
  } else if (planned.answer.recomputes) {
    AddRecomputeFacts(planned, facts);
  } else if (ordered) {
    AddOrderFacts(planned, facts);
  } else {
    AddGraphFacts(planned, facts);
  }
  AddFiles(planned, facts);
  std::string text =
      Headline(planned) + "\n" + facts.ToString() + CaveatText(*planned.model, planned.counting());
  if (ordered) return planned.reordered.empty() ? text + OrderText(planned) : text;
  if (!planned.answer.spills && !planned.answer.recomputes && !planned.sizes_missing()) {
    text += PeakText(*planned.peak, planned.model->graph, planned.answer.best->order, kRowsAtPeak);
    const auto advice = AdviceLines(planned);
    if (!advice.empty()) text += "\n" + Paint(Tone::kStrong, "Where to look next") + "\n";
    for (const std::string& line : advice) text += "  " + Wrap(line, TextWidth() - 2, 2) + "\n";
  }
  if (!planned.answer.fits()) text += RemedyText(planned);
  if (planned.tensors && planned.answer.best) text += TensorTable(planned);
  if (planned.moves && planned.placed()) {
    text += MovesTable(planned.model->graph, *planned.answer.best);
  }
  return text;
}

std::string MissingText(Bytes capacity, Bytes height_bound, std::optional<Bytes> height) {
  const Bytes least = std::max<Bytes>(height_bound - capacity, 0);
  if (height && *height <= height_bound) return FormatBytesExactly(*height - capacity);
  const std::string at_most = height ? FormatBytesExactly(*height - capacity) : "";
  if (least == 0) return height ? "at most " + at_most : "an unknown number of bytes";
  if (!height) return "at least " + FormatBytesExactly(least);
  return "between " + FormatBytesExactly(least) + " and " + at_most;
}

Json MissingJson(Bytes capacity, Bytes height_bound, std::optional<Bytes> height) {
  return {{"at_least", std::max<Bytes>(height_bound - capacity, 0)},
          {"at_most", height ? Json(*height - capacity) : Json(nullptr)}};
}

ExitCode Conclude(const Planned& planned) {
  // Any order is an answer to what schedule is asked, unless sizes are unknown.
  const ExitCode code = planned.only_ordered() && !planned.sizes_missing() &&
                                planned.answer.outcome != Outcome::kUnknown
                            ? ExitCode::kDone
                            : ExitCodeOf(planned.answer.outcome);
  if (planned.outputs.json) {
    PrintJson(SummaryJson(planned));
  } else if (!planned.outputs.to_stdout() && !IsStandardOutput(planned.reordered)) {
    Print(SummaryText(planned));
  } else if (code != kDone) {
    // Nothing, or not what was asked for, went to standard output: say why.
    PrintToStandardError(SummaryText(planned));
  }
  return code;
}

}  // namespace berth::cli
