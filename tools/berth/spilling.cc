#include "tools/berth/spilling.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "berth/report.h"
#include "berth/schedule.h"
#include "tools/berth/command.h"
#include "tools/verify/verify_spill.h"

namespace berth::internal {
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
                                std::vector<Order> orders, bool fixed_order, Budget& budget) {
  SpillOptions options;
  options.capacity = capacity;
  options.counting = counting;
  options.fixed_order = fixed_order;
  options.orders = std::move(orders);
  options.placer = [](const Problem& problem, Budget& own) { return Place(problem, {}, own); };
  auto answer = PlanWithSpills(graph, options, budget);
  if (answer && answer->best) {
    const SpillReport report = VerifySpillPlan(graph, counting, capacity, *answer->best);
    if (!report.ok()) {
      std::fprintf(stderr, "berth: internal error: the plan does not hold: %s\n",
                   Describe(report.faults.front(), graph, *answer->best).c_str());
      std::exit(kInternalError);
    }
  }
  return answer;
}

Json SpillPlanJson(const Graph& graph, Bytes capacity, const SpillAnswer& answer) {
  Json json;
  json["outcome"] = ToString(answer.outcome);
  json["stopped"] = ToString(answer.stopped);
  json["capacity"] = capacity;
  json["lower_bound"] = answer.lower_bound;
  json["without_addresses"] = answer.without_addresses;
  json["least_memory"] = {
      {"bytes", answer.least.bytes},
      {"operator",
       graph.operators.empty() ? Json(nullptr) : Json(graph.operators[answer.least.op].name)}};
  json["nodes"] = answer.nodes;
  json["seconds"] = answer.seconds;
  if (!answer.best) return json;
  const SpillPlan& plan = *answer.best;
  json["height"] = plan.height;
  json["traffic"] = {{"avoidable", plan.traffic.avoidable()},
                     {"spilled", plan.traffic.spilled},
                     {"retrieved", plan.traffic.retrieved},
                     {"compulsory_in", plan.traffic.compulsory_in},
                     {"compulsory_out", plan.traffic.compulsory_out}};
  Json order = Json::array();
  for (const OperatorIndex v : plan.order) order.push_back(graph.operators[v].name);
  json["order"] = std::move(order);
  Json residencies = Json::array();
  for (const Residency& r : plan.residencies) {
    residencies.push_back({{"tensor", graph.tensors[r.tensor].name},
                           {"start", r.start},
                           {"end", r.end},
                           {"offset", r.offset},
                           {"bytes", graph.tensors[r.tensor].bytes},
                           {"comes_in", r.comes_in},
                           {"written_out", r.written_out}});
  }
  json["residencies"] = std::move(residencies);
  return json;
}

Result<SpillRun> PlanWithinBudget(const Model& model, const Counting& counting,
                                  const SpillRequest& request) {
  Budget budget;
  if (request.time_limit) budget.SetTimeLimit(*request.time_limit);
  if (request.node_limit) budget.SetNodeLimit(*request.node_limit);
  Budget scheduling;
  if (request.time_limit) scheduling.SetTimeLimit(*request.time_limit / 4);
  const auto named = FindBudgets(model.graph, counting, scheduling);
  if (!named) return tl::unexpected(named.error());
  const auto capacity = ParseBudget(request.budget, *named);
  if (!capacity) return tl::unexpected(capacity.error());
  auto answer = SolveSpills(model.graph, counting, *capacity,
                            {ProgramOrder(model.graph), named->order}, request.fixed_order, budget);
  if (!answer) return tl::unexpected(answer.error());
  SpillRun run{std::move(*answer), *capacity};
  const SpillAnswer& found = run.answer;
  if (found.best && !request.output.empty()) {
    const std::string text =
        HasExtension(request.output, ".csv")
            ? [&] {
                Problem problem = ProblemOf(model.graph, *found.best);
                problem.capacity = *capacity;
                std::vector<Bytes> offsets;
                for (const Residency& r : found.best->residencies) offsets.push_back(r.offset);
                return WriteCsv(problem, &offsets);
              }()
            : SpillPlanJson(model.graph, *capacity, found).dump(1) + "\n";
    if (auto written = WriteFile(request.output, text); !written) {
      return tl::unexpected(written.error());
    }
  }
  if (found.best && !request.svg.empty()) {
    Problem problem = ProblemOf(model.graph, *found.best);
    problem.capacity = *capacity;
    Placement placement;
    for (const Residency& r : found.best->residencies) placement.offsets.push_back(r.offset);
    placement.height = found.best->height;
    SvgOptions svg;
    svg.title = model.name + " in " + FormatBytes(*capacity);
    if (auto written = WriteFile(
            request.svg, WriteSvg(problem, placement, MaxLiveLoad(problem).lower_bound, svg));
        !written) {
      return tl::unexpected(written.error());
    }
  }
  if (request.json) {
    Json json = SpillPlanJson(model.graph, *capacity, found);
    json.erase("residencies");
    json.erase("order");
    json["MR"] = named->least.bytes;
    json["MH"] = named->middle();
    json["MP"] = named->least_peak;
    PrintJson(json);
    return run;
  }
  if (IsStandardOutput(request.output) || IsStandardOutput(request.svg)) return run;
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
    headline =
        traffic.avoidable() == 0
            ? Paint(Tone::kGood, "Fits: nothing has to leave.")
            : Paint(proved ? Tone::kGood : Tone::kUnsure,
                    FormatBytes(traffic.avoidable()) + " of avoidable traffic" +
                        (proved ? ": proved the least of any plan." : "; less may be possible."));
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
  facts.Add("search", Plural(found.nodes, "node") + ", " + FormatSeconds(found.seconds));
  Print(headline + "\n" + facts.ToString());
  return run;
}

}  // namespace berth::internal
