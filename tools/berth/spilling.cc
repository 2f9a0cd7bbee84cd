#include "tools/berth/spilling.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <utility>

#include "berth/page.h"
#include "berth/report.h"
#include "berth/schedule.h"
#include "tools/berth/command.h"
#include "tools/berth/remedies.h"
#include "tools/verify/verify_spill.h"

namespace berth::cli {
namespace {

// `graph` with an operator for each counted tensor that is given, which brings it in. Operators
// move back by the number of these.
Graph WithLoads(const Graph& graph, const Counting& counting, std::size_t& loads) {
  Graph loaded = graph;
  std::vector<Operator> load;
  std::vector<bool> made(graph.tensors.size(), false);
  for (const Operator& op : graph.operators) {
    for (const TensorIndex t : op.outputs) made[t] = true;
  }
  for (TensorIndex t = 0; t < graph.tensors.size(); ++t) {
    Tensor& tensor = loaded.tensors[t];
    const bool weight =
        tensor.kind == TensorKind::kParameter || tensor.kind == TensorKind::kConstant;
    const bool counted =
        weight ? counting.parameters : tensor.kind == TensorKind::kInput && counting.inputs;
    if (made[t] || !counted || tensor.alias_of) continue;
    tensor.kind = TensorKind::kActivation;
    std::string name = "load " + tensor.name;
    for (bool taken = true; taken;) {
      taken = false;
      for (const Operator& op : graph.operators) taken = taken || op.name == name;
      if (taken) name += "'";
    }
    load.push_back({std::move(name), "Load", {}, {t}});
  }
  // A view of what is given is now a view of what is made.
  for (TensorIndex t = 0; t < graph.tensors.size(); ++t) {
    Tensor& tensor = loaded.tensors[t];
    if (!tensor.alias_of || made[t]) continue;
    if (loaded.tensors[*tensor.alias_of].kind != graph.tensors[*tensor.alias_of].kind) {
      tensor.kind = TensorKind::kActivation;
      for (Operator& op : load) {
        if (op.outputs.front() == *tensor.alias_of) op.outputs.push_back(t);
      }
    }
  }
  loads = load.size();
  for (Operator& op : loaded.operators) {
    for (OperatorIndex& u : op.after) u += loads;
  }
  loaded.operators.insert(loaded.operators.begin(), load.begin(), load.end());
  return loaded;
}

}  // namespace

Result<NamedBudgets> FindBudgets(const Graph& graph, const Counting& counting, Budget& budget) {
  NamedBudgets named;
  named.least = FindLeastMemory(graph, counting);
  std::size_t loads = 0;
  const Graph loaded = WithLoads(graph, counting, loads);
  auto schedule = Schedule(loaded, {}, budget);
  if (!schedule) return tl::unexpected(schedule.error());
  named.least_peak = std::max(schedule->peak, named.least.bytes);
  named.peak_proved = schedule->outcome == Outcome::kOptimal;
  for (const OperatorIndex v : schedule->order) {
    if (v >= loads) named.order.push_back(v - loads);
  }
  return named;
}

Result<Bytes> ParseBudget(const std::string& text, const NamedBudgets& named) {
  if (text == "MR" || text == "mr") return named.least.bytes;
  if (text == "MH" || text == "mh") return named.middle();
  if (text == "MP" || text == "mp") return named.least_peak;
  auto bytes = ParseBytes(text);
  if (!bytes) {
    return Fail(ErrorCode::kInvalidOptions,
                "--budget: '" + OneLine(text) +
                    "' is neither MR, MH, MP nor a number of bytes such as 512KiB");
  }
  return *bytes;
}

Result<SpillAnswer> SolveSpills(const Graph& graph, const Counting& counting, Bytes capacity,
                                std::vector<Order> orders, bool fixed_order, Budget& budget,
                                const PlaceOptions& place) {
  SpillOptions options;
  options.capacity = capacity;
  options.counting = counting;
  options.fixed_order = fixed_order;
  options.orders = std::move(orders);
  options.placer = [&place](const Problem& problem, Budget& own) {
    return Place(problem, place, own);
  };
  auto answer = PlanWithSpills(graph, options, budget);
  if (answer && answer->best) {
    const internal::SpillReport report =
        internal::VerifySpillPlan(graph, counting, capacity, *answer->best);
    if (!report.ok()) {
      std::fprintf(stderr, "berth: internal error: the plan does not hold: %s\n",
                   Describe(report.faults.front(), graph, *answer->best).c_str());
      std::exit(kInternalError);
    }
  }
  return answer;
}

namespace {

// Every stay in memory, in the order in which they begin.
std::string ResidencyTable(const Graph& graph, const SpillPlan& plan) {
  using Align = TextTable::Align;
  TextTable table({Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kLeft,
                   Align::kLeft, Align::kLeft});
  table.AddRow({"offset", "bytes", "from", "to", "tensor", "begins", "ends"});
  std::vector<const Residency*> rows;
  for (const Residency& r : plan.residencies) rows.push_back(&r);
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Residency* a, const Residency* b) { return a->start < b->start; });
  for (const Residency* r : rows) {
    const Tensor& tensor = graph.tensors[r->tensor];
    table.AddRow({std::to_string(r->offset), std::to_string(tensor.bytes), std::to_string(r->start),
                  std::to_string(r->end - 1), Abridged(tensor.name, 40),
                  r->comes_in ? "retrieved" : "made", r->written_out ? "written out" : ""});
  }
  return "\n" + Paint(Tone::kStrong, "Stays in memory") + ", from the first step to the last\n" +
         table.ToString();
}

Provenance ProvenanceOf(const Model& model, const Counting& counting, const SpillRequest& request) {
  Provenance provenance{BERTH_VERSION, model.name, model.hash(), request.place, request.node_limit};
  provenance.schedule.counting = counting;
  provenance.in_place = request.in_place;
  provenance.fixed_order = request.fixed_order;
  if (request.fixed_order) provenance.schedule.algorithm = ScheduleAlgorithm::kProgram;
  return provenance;
}

// The files of a plan that was found.
Result<void> WriteOutputs(const Model& model, const Counting& counting, Bytes capacity,
                          const SpillAnswer& answer, const SpillRequest& request) {
  const PlanOutputs& outputs = request.outputs;
  const SpillPlan& plan = *answer.best;
  Problem problem = ProblemOf(model.graph, plan);
  problem.capacity = capacity;
  Placement placement;
  for (const Residency& r : plan.residencies) placement.offsets.push_back(r.offset);
  placement.height = plan.height;
  const Provenance provenance = ProvenanceOf(model, counting, request);
  if (!outputs.plan.empty()) {
    const std::string text = HasExtension(outputs.plan, ".csv")
                                 ? WriteCsv(problem, &placement.offsets)
                                 : WritePlanJson(model.graph, answer, capacity, provenance);
    if (auto written = WriteFile(outputs.plan, text); !written) return written;
  }
  if (!outputs.svg.empty()) {
    SvgOptions svg;
    svg.title = model.name + " in " + FormatBytes(capacity);
    for (const Residency& r : plan.residencies) svg.marks.push_back({r.comes_in, r.written_out});
    const std::string text = WriteSvg(problem, placement, MaxLiveLoad(problem).lower_bound, svg);
    if (auto written = WriteFile(outputs.svg, text); !written) return written;
  }
  if (!outputs.report.empty()) {
    PageOptions page;
    page.command = "plan";
    page.verdict =
        "accepted: run in a memory that knows whose bytes it holds; every operator found "
        "what it reads";
    page.notes = NotesOf(model);
    const std::string text = WritePage(model.graph, answer, capacity, provenance, page);
    if (auto written = WriteFile(outputs.report, text); !written) return written;
  }
  if (!outputs.trace.empty()) {
    const std::string text = WriteTrace(problem, &placement, &model.graph, &plan.order, model.name);
    if (auto written = WriteFile(outputs.trace, text); !written) return written;
  }
  return {};
}

// Why the budget is too small for `op`: what it makes and uses by itself, in whichever order.
Conflict ConflictOf(const Graph& graph, const Liveness& liveness, const Order& order,
                    OperatorIndex op, Bytes capacity) {
  std::set<TensorIndex> bases;
  const Operator& one = graph.operators[op];
  for (const auto* list : {&one.inputs, &one.outputs, &one.mutates}) {
    for (const TensorIndex t : *list) bases.insert(graph.tensors[t].alias_of.value_or(t));
  }
  Conflict conflict;
  conflict.outcome = Outcome::kInfeasible;
  conflict.capacity = capacity;
  conflict.step = std::find(order.begin(), order.end(), op) - order.begin();
  Bytes least = kMaxBytes;
  for (std::size_t b = 0; b < liveness.tensors.size(); ++b) {
    if (bases.count(liveness.tensors[b]) == 0) continue;
    const Bytes size = liveness.problem.buffers[b].size;
    conflict.buffers.push_back(b);
    conflict.load += size;
    least = std::min(least, size);
  }
  conflict.short_by = conflict.load - capacity;
  conflict.minimal = conflict.load - least <= capacity;
  return conflict;
}

// The page where there is no plan: the order of the least peak, without addresses, and what stands
// in the way.
std::string PageWithoutPlan(const Model& model, const Counting& counting, Bytes capacity,
                            const NamedBudgets& named, const SpillAnswer& answer,
                            const SpillRequest& request, WatchedSearch& search) {
  const Graph& graph = model.graph;
  const Order program = ProgramOrder(graph);
  PlanAnswer plan;
  plan.outcome = answer.outcome;
  plan.lower_bound = answer.least.bytes;
  plan.program_order_peak = Live(graph, program, counting).peak;
  plan.schedule.order = request.fixed_order ? program : named.order;
  plan.schedule.algorithm = request.fixed_order ? "program" : "auto";
  plan.liveness = Live(graph, plan.schedule.order, counting);
  plan.liveness.problem.capacity = capacity;
  plan.schedule.peak = plan.liveness.peak;
  plan.schedule.lower_bound = answer.least.bytes;
  plan.schedule.outcome =
      named.peak_proved && !request.fixed_order ? Outcome::kOptimal : Outcome::kFeasible;
  plan.place.outcome = answer.outcome;
  plan.place.stopped = answer.stopped;
  plan.place.algorithm = "spills";
  plan.place.lower_bound = plan.liveness.peak;
  plan.place.nodes = answer.nodes;
  PageOptions page;
  page.command = "plan";
  std::vector<Bytes> larger;
  for (const Bytes bytes : {named.least.bytes, named.middle(), named.least_peak}) {
    if (bytes > capacity && (larger.empty() || bytes > larger.back())) larger.push_back(bytes);
  }
  std::optional<Remedy> enough;
  AddRemedies(search, page, [&](RemedySearch& remedies) {
    enough = FindLargerBudget(graph, counting, larger, {program, named.order}, request.fixed_order,
                              request.place, remedies);
    if (enough) page.remedies.push_back(*enough);
  });
  if (answer.outcome == Outcome::kInfeasible) {
    page.conflict =
        ConflictOf(graph, plan.liveness, plan.schedule.order, answer.least.op, capacity);
    if (enough) page.conflict->works_with = enough->needs;
  }
  page.notes = NotesOf(model);
  return WritePage(graph, plan, ProvenanceOf(model, counting, request), page);
}

}  // namespace

Result<SpillRun> PlanWithinBudget(const Model& model, const Counting& counting,
                                  const SpillRequest& request, WatchedSearch& search) {
  const auto named = search.Within([&](Budget& budget) {
    Budget quarter(budget, 0.25);  // At most; what is left over is for the spills.
    if (budget.has_node_limit()) quarter.SetNodeLimit(quarter.node_limit() / 4);
    return FindBudgets(model.graph, counting, quarter);
  });
  if (!named) return tl::unexpected(named.error());
  const auto capacity = ParseBudget(request.budget, *named);
  if (!capacity) return tl::unexpected(capacity.error());
  auto answer = search.Within([&](Budget& budget) {
    return SolveSpills(model.graph, counting, *capacity, {ProgramOrder(model.graph), named->order},
                       request.fixed_order, budget, request.place);
  });
  if (!answer) return tl::unexpected(answer.error());
  SpillRun run{std::move(*answer), *capacity};
  const SpillAnswer& found = run.answer;
  if (found.best) {
    const auto written = WriteOutputs(model, counting, *capacity, found, request);
    if (!written) return tl::unexpected(written.error());
  } else if (!request.outputs.report.empty()) {
    const auto written =
        WriteFile(request.outputs.report,
                  PageWithoutPlan(model, counting, *capacity, *named, found, request, search));
    if (!written) return tl::unexpected(written.error());
  }
  if (request.outputs.json) {
    // What the plan's file says, but for what it rests on.
    Json json = Json::parse(
        WritePlanHead(model.graph, found, *capacity, ProvenanceOf(model, counting, request)));
    for (const char* key : {"format", "format_version", "berth_version", "input", "in_place",
                            "options", "node_limit"}) {
      json.erase(key);
    }
    json["seconds"] = found.seconds;
    json["MR"] = named->least.bytes;
    json["MH"] = named->middle();
    json["MP"] = named->least_peak;
    json["interrupted"] = search.interrupted();
    json["unplanned"] = UnplannedJson(model.graph);
    json["notes"] = model.notes;
    json["version"] = BERTH_VERSION;
    PrintJson(json);
    return run;
  }
  if (request.outputs.to_stdout()) return run;
  FactList facts;
  facts.Add("model", DescribeGraph(model.graph));
  facts.Add("budget", FormatBytesExactly(*capacity));
  facts.Add("MR", FormatBytesExactly(named->least.bytes) +
                      (model.graph.operators.empty()
                           ? std::string()
                           : ", what operator " +
                                 Abridged(model.graph.operators[named->least.op].name, 40) +
                                 " alone needs"));
  facts.Add("MP",
            FormatBytesExactly(named->least_peak) +
                (named->peak_proved ? ", the least peak of any order" : ", the least peak found"));
  std::string headline;
  if (found.outcome == Outcome::kInfeasible) {
    headline =
        Paint(Tone::kBad,
              "Does not fit: operator " + Abridged(model.graph.operators[found.least.op].name, 40) +
                  " alone needs " + FormatBytesExactly(found.least.bytes) + ", " +
                  FormatBytesExactly(found.least.bytes - *capacity) + " more than there is.");
  } else if (!found.best) {
    headline = Paint(Tone::kUnsure, "Gave up: no plan with addresses was found.");
  } else {
    const Traffic& traffic = found.best->traffic;
    const bool proved = found.outcome == Outcome::kOptimal;
    headline = traffic.avoidable() == 0
                   ? Paint(Tone::kGood, "Fits: nothing has to leave.")
                   : Paint(proved ? Tone::kGood : Tone::kUnsure,
                           FormatBytes(traffic.avoidable()) + " of avoidable traffic" +
                               (!proved               ? "; less may be possible."
                                : request.fixed_order ? ": proved the least in program order."
                                                      : ": proved the least of any plan."));
    facts.Add("spilled", FormatBytesExactly(traffic.spilled));
    facts.Add("retrieved", FormatBytesExactly(traffic.retrieved));
    facts.Add("compulsory", FormatBytesExactly(traffic.compulsory_in) + " in, " +
                                FormatBytesExactly(traffic.compulsory_out) + " out");
    if (!proved) facts.Add("lower bound", FormatBytesExactly(found.lower_bound));
    if (traffic.avoidable() > found.without_addresses) {
      facts.Add("for addresses", FormatBytesExactly(traffic.avoidable() - found.without_addresses) +
                                     " more than if bytes had to fit in sum only");
    }
  }
  facts.Add("search",
            Plural(found.nodes, "node") + ", " + FormatSeconds(found.seconds) +
                (found.stopped == StopReason::kSize ? "; ended as it may not store more states"
                 : found.stopped == StopReason::kEffort
                     ? "; ended with its default effort, --time-limit 5min would go on"
                     : ""));
  const std::initializer_list<std::pair<const char*, const std::string*>> files = {
      {"plan", &request.outputs.plan},
      {"picture", &request.outputs.svg},
      {"report", &request.outputs.report},
      {"trace", &request.outputs.trace}};
  for (const auto& [what, path] : files) {
    if (path->empty()) continue;
    const bool written = found.best || path == &request.outputs.report;
    facts.Add(what, written ? OneLine(*path) : "not written, as there is no plan");
  }
  if (search.interrupted()) headline = "Interrupted. " + headline;
  std::string text = headline + "\n" + facts.ToString() + CaveatText(model);
  if (request.tensors && found.best) text += ResidencyTable(model.graph, *found.best);
  Print(text);
  return run;
}

}  // namespace berth::cli
