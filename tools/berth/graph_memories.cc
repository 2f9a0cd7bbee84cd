#include "tools/berth/graph_memories.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "berth/memory_io.h"
#include "berth/page.h"
#include "berth/report.h"
#include "berth/spill.h"
#include "berth/sweep.h"
#include "src/base/try.h"
#include "src/io/plan_head.h"
#include "tools/berth/checked.h"
#include "tools/berth/flags.h"
#include "tools/berth/memory_summary.h"
#include "tools/berth/terminal.h"
#include "tools/verify/execute.h"
#include "tools/verify/graph_memories.h"

namespace berth::cli {
namespace {

constexpr std::size_t kMostRows = 10;
constexpr std::size_t kName = 40;

std::int64_t Count(std::size_t number) { return static_cast<std::int64_t>(number); }

std::string Memories(std::size_t count) {
  return FormatCount(Count(count)) + (count == 1 ? " memory" : " memories");
}

tl::unexpected<Error> Refuse(const std::string& flag, const std::string& why) {
  return Fail(ErrorCode::kInvalidOptions, flag + " does not apply to several memories: " + why);
}

Result<std::vector<std::size_t>> Find(const std::vector<Memory>& memories,
                                      const std::vector<std::string>& names,
                                      const std::string& flag) {
  std::vector<std::size_t> found;
  for (const std::string& name : names) {
    const auto at = std::find_if(memories.begin(), memories.end(),
                                 [&](const Memory& memory) { return memory.name == name; });
    if (at == memories.end()) {
      std::string known;
      for (const Memory& memory : memories) {
        known += (known.empty() ? "" : ", ") + OneLine(memory.name);
      }
      return Fail(ErrorCode::kInvalidOptions, flag + ": there is no memory " + Quoted(name) +
                                                  "; there " +
                                                  (memories.size() == 1 ? "is " : "are ") + known);
    }
    const auto m = static_cast<std::size_t>(at - memories.begin());
    if (std::find(found.begin(), found.end(), m) == found.end()) found.push_back(m);
  }
  return found;
}

// A tensor that costs less elsewhere.
struct Displaced {
  TensorIndex tensor = 0;
  std::size_t memory = 0;
  std::size_t cheapest = 0;
  std::int64_t cost = 0;
  std::int64_t least = 0;
};

struct Share {
  std::size_t tensors = 0;
  std::int64_t cost = 0;
};

// Where the costs of a plan come from.
struct Account {
  std::vector<Share> memories;
  std::vector<Displaced> displaced;  // Those that cost the most more, first.
  std::vector<TensorIndex> left_out;
  std::vector<MemoryCopy> copies;
  std::optional<TimedRun> run;  // With prefetch.
};

// Where there are copies, or a run is timed: what each memory costs.
void FindCostsOfMemories(const Graph& graph, const Counting& counting,
                         const GraphMemories& memories, const MemoryPlan& plan, Account& account) {
  for (std::size_t m = 0; m < account.memories.size(); ++m) {
    if (account.run) {
      account.memories[m].cost = account.run->accessing[m];
      continue;
    }
    // With all others free.
    GraphMemories alone = memories;
    for (std::size_t other = 0; other < alone.memories.size(); ++other) {
      if (other == m) continue;
      alone.memories[other].read = alone.memories[other].write = {};
      alone.memories[other].access = 0;
    }
    account.memories[m].cost = CostOf(graph, counting, alone, plan).cost;
  }
}

Account AccountOf(const Graph& graph, const Counting& counting, const GraphMemories& memories,
                  const MemoryPlan& plan) {
  Account account;
  account.memories.resize(memories.memories.size());
  const TensorTable table = TableOf(graph, plan.order, counting, memories);
  std::vector<std::optional<std::size_t>> memory_of(graph.tensors.size());
  for (const Residency& r : plan.residencies) {
    memory_of[r.tensor] = static_cast<std::size_t>(r.memory);
  }
  account.copies = CopiesOf(graph, memories, plan);
  if (memories.prefetch) account.run = RunOf(graph, memories, plan);
  std::vector<bool> moves(graph.tensors.size(), false);
  for (const MemoryCopy& copy : account.copies) moves[copy.tensor] = true;
  // Each residency of what moves counts by itself.
  for (const Residency& r : plan.residencies) {
    if (!moves[r.tensor]) continue;
    ++account.memories[static_cast<std::size_t>(r.memory)].tensors;
  }
  const bool sums = account.copies.empty() && !account.run;
  if (!sums) FindCostsOfMemories(graph, counting, memories, plan, account);
  for (std::size_t i = 0; i < table.tensors.size(); ++i) {
    const TensorIndex t = table.tensors[i];
    if (!memory_of[t]) {
      account.left_out.push_back(t);
      continue;
    }
    if (moves[t]) continue;
    const Placing& placing = table.problem.placing[i];
    const auto cost = [&](std::size_t m) {
      return CostOfUses(placing, memories.memories[m]).value_or(kMaxCost);
    };
    const std::size_t m = *memory_of[t];
    Displaced each{t, m, m, cost(m), cost(m)};
    account.memories[m].tensors += 1;
    if (sums) account.memories[m].cost += each.cost;
    for (std::size_t other = 0; other < memories.memories.size(); ++other) {
      const auto& candidates = placing.candidates;
      const bool may = candidates.empty() ||
                       std::any_of(candidates.begin(), candidates.end(),
                                   [&](const Candidate& one) { return one.memory == other; });
      if (!may || cost(other) >= each.least) continue;
      each.cheapest = other;
      each.least = cost(other);
    }
    if (each.least < each.cost) account.displaced.push_back(each);
  }
  std::stable_sort(
      account.displaced.begin(), account.displaced.end(),
      [](const Displaced& a, const Displaced& b) { return a.cost - a.least > b.cost - b.least; });
  return account;
}

// A plan with all that is said of it.
struct Planned {
  const GraphMemoryPlan& request;
  const PlanAnswer& answer;
  Provenance provenance;
  Account account;
  bool interrupted = false;

  [[nodiscard]] const Graph& graph() const { return request.model.graph; }
  [[nodiscard]] const GraphMemories& memories() const { return provenance.options.memories; }
  [[nodiscard]] const Counting& counting() const { return provenance.options.schedule.counting; }
  [[nodiscard]] bool placed() const { return answer.best && answer.best->addressed; }
  [[nodiscard]] const PlanCost& cost() const { return answer.best->cost; }
  [[nodiscard]] std::string Cost(std::int64_t cost) const {
    return OneLine(FormatCost(cost, provenance.cost_unit));
  }
  [[nodiscard]] std::string ExactCost(std::int64_t cost) const {
    return OneLine(FormatCostExactly(cost, provenance.cost_unit));
  }
  // Which orders what is proved is about.
  [[nodiscard]] std::string Orders() const {
    if (!answer.fixed_order) return "of any order";
    return request.options.order ? "in the given order" : "in program order";
  }
  // What the cost is.
  [[nodiscard]] std::string AtCost(std::int64_t cost) const {
    return memories().prefetch ? ", in a run of " + Cost(cost) : " at a cost of " + Cost(cost);
  }
  [[nodiscard]] bool sizes_missing() const {
    return answer.unsized > 0 && !counting().unsized_as_zero;
  }
};

std::string Interruption(const Planned& planned) {
  return planned.interrupted ? "Interrupted. " : "";
}

// The scratchpad that is too small for one operator, and what that needs.
std::string TooSmall(const Planned& planned) {
  const Graph& graph = planned.graph();
  for (std::size_t m = 0; m < planned.memories().memories.size(); ++m) {
    const Memory& memory = planned.memories().memories[m];
    if (!memory.capacity) continue;
    const LeastMemory least =
        FindLeastMemory(PartOf(graph, planned.memories(), m), planned.counting());
    if (least.bytes <= *memory.capacity) continue;
    return "Does not fit: operator " + Abridged(graph.operators[least.op].name, kName) +
           " alone needs " + FormatBytes(least.bytes) + " of memory " + OneLine(memory.name) +
           ", " + FormatBytesExactly(least.bytes - *memory.capacity) + " more than there is.";
  }
  return "Does not fit: proved that no plan does.";
}

std::string SpillHeadline(const Planned& planned) {
  const PlanAnswer& answer = planned.answer;
  if (answer.outcome == Outcome::kInfeasible) return Paint(Tone::kBad, TooSmall(planned));
  if (!planned.placed()) {
    return Paint(Tone::kUnsure,
                 Interruption(planned) + "Gave up: no plan with addresses was found.");
  }
  const Bytes traffic = answer.best->traffic.avoidable();
  if (traffic == 0) {
    return Paint(Tone::kGood, Interruption(planned) + "Fits: nothing has to be spilled.");
  }
  const bool proved = answer.outcome == Outcome::kOptimal;
  return Paint(
      proved ? Tone::kGood : Tone::kUnsure,
      Interruption(planned) + FormatBytes(traffic) + " of avoidable traffic" +
          (proved ? ": proved the least " + planned.Orders() + "." : "; less may be possible."));
}

std::string CostHeadline(const Planned& planned) {
  const PlanAnswer& answer = planned.answer;
  const auto tensors = [](std::size_t count) { return Plural(Count(count), "tensor"); };
  const std::size_t unplaced = planned.cost().unplaced;
  const std::size_t bound = answer.cost_bound.unplaced;
  if (answer.outcome == Outcome::kInfeasible) {
    const std::string where = answer.fixed_order ? " " + planned.Orders() : "";
    return Paint(
        Tone::kBad,
        Interruption(planned) + "Does not fit" + where + ": " + tensors(unplaced) +
            (unplaced == 1 ? " has" : " have") + " no place" +
            (unplaced == bound ? ", proved the fewest."
                               : "; proved for at least " + FormatCount(Count(bound)) + "."));
  }
  if (unplaced > 0) {
    return Paint(Tone::kUnsure, Interruption(planned) +
                                    (planned.interrupted ? "No" : "Gave up: no") +
                                    " plan that fits was found, nor a proof that none does; the "
                                    "best leaves out " +
                                    tensors(unplaced) + ".");
  }
  const std::int64_t cost = planned.cost().cost;
  const std::int64_t least = answer.cost_bound.cost;
  if (planned.sizes_missing()) {
    return Paint(Tone::kUnsure,
                 Interruption(planned) +
                     (planned.memories().prefetch ? "A run of at least " : "A cost of at least ") +
                     planned.Cost(least) + ": " + UnsizedClause(answer.unsized, answer.tensors) +
                     ".") +
           OpenDimensionsLine(planned.request.model, "plan");
  }
  const std::string fits = Interruption(planned) + "Fits: every tensor placed";
  if (cost == 0) return Paint(Tone::kGood, fits + ".");
  const std::string at = fits + planned.AtCost(cost);
  if (answer.outcome == Outcome::kOptimal) {
    return Paint(Tone::kGood, at + ", proved the least " + planned.Orders() + ".");
  }
  return Paint(Tone::kGood, at + (least > 0 ? ", at most " + FormatPercentUp(Gap(cost, least)) +
                                                  " above the least " + planned.Orders() + "."
                                  : planned.memories().prefetch ? "; a shorter one may exist."
                                                                : "; a cheaper plan may exist."));
}

std::string Headline(const Planned& planned) {
  const PlanAnswer& answer = planned.answer;
  std::string text = answer.spills ? SpillHeadline(planned) : CostHeadline(planned);
  if (answer.unsized == 0 || (planned.sizes_missing() && !answer.spills)) return text;
  return text + " " + UnsizedClause(answer.unsized, answer.tensors) +
         (planned.counting().unsized_as_zero ? " and count as 0 bytes." : ".");
}

std::string MemoryTable(const Planned& planned) {
  using enum TextTable::Align;
  const MemoryPlan& plan = *planned.answer.best;
  const std::int64_t all = plan.cost.cost;
  TextTable table({kLeft, kRight, kRight, kRight, kRight, kRight, kRight, kRight});
  table.Elide(0, kName);
  std::vector<std::string> titles = {"memory", "height", "capacity", "filled", "peak", "tensors"};
  titles.insert(titles.end(), {all > 0 ? "cost" : "", all > 0 ? "share" : ""});
  table.AddRow(titles);
  for (std::size_t m = 0; m < planned.memories().memories.size(); ++m) {
    const Memory& memory = planned.memories().memories[m];
    const MemoryUse& use = plan.memories[m];
    const Share& share = planned.account.memories[m];
    const bool filled = memory.capacity && *memory.capacity > 0;
    table.AddRow(
        {OneLine(memory.name), FormatBytes(use.height),
         memory.capacity ? FormatBytes(*memory.capacity) : "any",
         filled ? FormatPercent(static_cast<double>(use.height) /
                                static_cast<double>(*memory.capacity))
                : "",
         FormatBytes(use.peak), FormatCount(Count(share.tensors)),
         all > 0 ? planned.Cost(share.cost) : "",
         all > 0 ? FormatPercent(static_cast<double>(share.cost) / static_cast<double>(all)) : ""});
  }
  return "\n" + table.ToString();
}

// What the most would be saved by, if there were room.
std::string DisplacedTable(const Planned& planned) {
  const auto& displaced = planned.account.displaced;
  if (displaced.empty() || planned.answer.spills) return "";
  using enum TextTable::Align;
  TextTable table({kLeft, kRight, kLeft, kRight, kLeft, kRight});
  table.Elide(0, kName);
  table.AddRow({"tensor", "size", "is in", "cost", "cheapest in", "would save"});
  const std::size_t shown = std::min(kMostRows, displaced.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const Displaced& each = displaced[i];
    const Tensor& tensor = planned.graph().tensors[each.tensor];
    table.AddRow({OneLine(tensor.name), FormatBytes(tensor.bytes),
                  OneLine(planned.memories().memories[each.memory].name), planned.Cost(each.cost),
                  OneLine(planned.memories().memories[each.cheapest].name),
                  planned.Cost(each.cost - each.least)});
  }
  std::string text =
      "\n" + Paint(Tone::kStrong, "Not in their cheapest memory") + "\n" + table.ToString();
  if (shown < displaced.size()) {
    text += "  and " + FormatCount(Count(displaced.size() - shown)) + " more\n";
  }
  return text;
}

std::string LeftOutTable(const Planned& planned) {
  if (planned.account.left_out.empty()) return "";
  std::string text = "\n" + Paint(Tone::kStrong, "Without a place") + "\n";
  const std::size_t shown = std::min(kMostRows, planned.account.left_out.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const Tensor& tensor = planned.graph().tensors[planned.account.left_out[i]];
    text += "  " + Abridged(tensor.name, kName) + ", " + FormatBytesExactly(tensor.bytes) + "\n";
  }
  if (shown < planned.account.left_out.size()) {
    text += "  and " + FormatCount(Count(planned.account.left_out.size() - shown)) + " more\n";
  }
  return text;
}

// Where the time of a run goes.
void AddRun(const Planned& planned, FactList& facts) {
  const TimedRun& run = *planned.account.run;
  std::int64_t accessing = 0;
  for (const std::int64_t time : run.accessing) accessing += time;
  std::int64_t copying = 0;
  for (const TimedRun::Interval& transfer : run.transfers) copying += transfer.end - transfer.begin;
  facts.Add("of these", planned.ExactCost(run.computing) + " computing, " +
                            planned.ExactCost(accessing) + " accesses, " +
                            planned.ExactCost(run.stalled) + " stalled by copies");
  if (run.copies.empty()) return;
  facts.Add("copies", FormatCount(Count(run.copies.size())) + " between memories, taking " +
                          planned.ExactCost(copying) + " while operators run");
}

std::string TimedCopiesTable(const Planned& planned) {
  using enum TextTable::Align;
  const TimedRun& run = *planned.account.run;
  TextTable table({kRight, kRight, kRight, kRight, kRight, kLeft, kLeft, kLeft});
  table.Elide(7, kName);
  table.AddRow({"begins", "ends", "after step", "before step", "bytes", "from", "to", "tensor"});
  for (std::size_t c = 0; c < run.copies.size(); ++c) {
    const MemoryCopy& copy = run.copies[c];
    const auto& memories = planned.memories().memories;
    table.AddRow({planned.ExactCost(run.transfers[c].begin),
                  planned.ExactCost(run.transfers[c].end), std::to_string(copy.start - 1),
                  std::to_string(copy.before), std::to_string(copy.bytes),
                  OneLine(memories[copy.from].name), OneLine(memories[copy.to].name),
                  OneLine(planned.graph().tensors[copy.tensor].name)});
  }
  return "\n" + Paint(Tone::kStrong, "Copies") + "\n" + table.ToString();
}

std::string CopiesTable(const Planned& planned) {
  if (planned.account.run) return TimedCopiesTable(planned);
  using enum TextTable::Align;
  TextTable table({kRight, kRight, kLeft, kLeft, kRight, kLeft});
  table.Elide(5, kName);
  table.AddRow({"before step", "bytes", "from", "to", "cost", "tensor"});
  for (const MemoryCopy& copy : planned.account.copies) {
    const auto& memories = planned.memories().memories;
    table.AddRow({std::to_string(copy.before), std::to_string(copy.bytes),
                  OneLine(memories[copy.from].name), OneLine(memories[copy.to].name),
                  planned.Cost(copy.cost), OneLine(planned.graph().tensors[copy.tensor].name)});
  }
  return "\n" + Paint(Tone::kStrong, "Copies") + "\n" + table.ToString();
}

std::string TensorRows(const Planned& planned) {
  using enum TextTable::Align;
  TextTable table({kLeft, kRight, kRight, kRight, kRight, kLeft});
  table.AddRow({"memory", "offset", "bytes", "from step", "to step", "tensor"});
  for (const Residency& r : planned.answer.best->residencies) {
    const Tensor& tensor = planned.graph().tensors[r.tensor];
    const auto m = static_cast<std::size_t>(r.memory);
    table.AddRow({OneLine(planned.memories().memories[m].name), std::to_string(r.offset),
                  std::to_string(tensor.bytes), std::to_string(r.start), std::to_string(r.end - 1),
                  OneLine(tensor.name)});
  }
  return "\n" + Paint(Tone::kStrong, "Tensors") + ", from the first step to the last\n" +
         table.ToString();
}

std::string SummaryText(const Planned& planned) {
  const PlanAnswer& answer = planned.answer;
  const Model& model = planned.request.model;
  FactList facts;
  facts.Add("model", DescribeGraph(model.graph));
  if (answer.spills && planned.placed()) {
    const Traffic& traffic = answer.best->traffic;
    if (traffic.avoidable() > 0) {
      facts.Add("spilled", FormatBytesExactly(traffic.spilled));
      facts.Add("retrieved", FormatBytesExactly(traffic.retrieved));
    }
    facts.Add("compulsory", FormatBytesExactly(traffic.compulsory_in) + " in, " +
                                FormatBytesExactly(traffic.compulsory_out) + " out");
    if (answer.outcome != Outcome::kOptimal) {
      facts.Add("lower bound", FormatBytesExactly(answer.traffic_bound));
    }
  } else if (!answer.spills && answer.best) {
    facts.Add(planned.memories().prefetch ? "time" : "cost",
              planned.ExactCost(planned.cost().cost));
    if (answer.outcome != Outcome::kOptimal &&
        planned.cost().unplaced == answer.cost_bound.unplaced) {
      facts.Add("lower bound", planned.ExactCost(answer.cost_bound.cost) + ", " + planned.Orders());
    }
  }
  if (planned.account.run) AddRun(planned, facts);
  if (!planned.account.copies.empty() && !planned.account.run) {
    std::int64_t cost = 0;
    for (const MemoryCopy& copy : planned.account.copies) cost += copy.cost;
    facts.Add("copies", FormatCount(Count(planned.account.copies.size())) +
                            " between memories, part of the cost with " + planned.ExactCost(cost));
  }
  const std::string uncounted = DescribeUncounted(model.graph, planned.counting());
  if (!uncounted.empty()) facts.Add("besides", uncounted + ", which the plan does not hold");
  facts.Add("search", Plural(answer.nodes, "node") + ", " + FormatSeconds(answer.seconds));
  const PlanOutputs& outputs = planned.request.outputs;
  if (!outputs.plan.empty()) {
    facts.Add("plan", answer.fits() && planned.placed()        ? OneLine(outputs.plan)
                      : answer.outcome == Outcome::kInfeasible ? "not written, as none fits"
                      : answer.unsized > 0
                          ? "not written, as sizes are not known; --allow-unknown writes it"
                          : "not written, as none was found that fits");
  }
  for (const auto& [name, path] :
       {std::pair{"picture", &outputs.svg}, std::pair{"report", &outputs.report},
        std::pair{"trace", &outputs.trace}}) {
    if (!path->empty() && planned.placed()) facts.Add(name, OneLine(*path));
  }
  std::string text =
      Headline(planned) + "\n" + facts.ToString() + CaveatText(model, planned.counting());
  if (!planned.placed()) return text;
  text += MemoryTable(planned) + DisplacedTable(planned) + LeftOutTable(planned);
  if (planned.request.tensors) text += TensorRows(planned);
  if (planned.request.moves && !planned.account.copies.empty()) text += CopiesTable(planned);
  return text;
}

void AddRun(const TimedRun& run, Json& json) {
  for (std::size_t c = 0; c < run.copies.size(); ++c) {
    json["copies"][c]["after_step"] = run.copies[c].start - 1;
    json["copies"][c]["begins"] = run.transfers[c].begin;
    json["copies"][c]["ends"] = run.transfers[c].end;
  }
  json["run"] = {{"time", run.time},
                 {"computing", run.computing},
                 {"accessing", run.accessing},
                 {"stalled", run.stalled}};
}

Json SummaryJson(const Planned& planned) {
  const PlanAnswer& answer = planned.answer;
  const Graph& graph = planned.graph();
  Json json = internal::PlanHead(graph, answer, planned.provenance);
  if (planned.placed()) {
    for (std::size_t m = 0; m < planned.account.memories.size(); ++m) {
      json["memories"][m]["tensors"] = planned.account.memories[m].tensors;
      json["memories"][m]["cost"] = planned.account.memories[m].cost;
    }
    const bool comparable = planned.cost().unplaced == answer.cost_bound.unplaced;
    json["cost_gap"] = comparable ? Json(Gap(planned.cost().cost, answer.cost_bound.cost)) : Json();
    json["displaced"] = Json::array();
    for (const Displaced& each : planned.account.displaced) {
      json["displaced"].push_back(
          {{"tensor", graph.tensors[each.tensor].name},
           {"bytes", graph.tensors[each.tensor].bytes},
           {"memory", planned.memories().memories[each.memory].name},
           {"cost", each.cost},
           {"cheapest_memory", planned.memories().memories[each.cheapest].name},
           {"least_cost", each.least}});
    }
  }
  if (planned.memories().may_move && planned.placed()) {
    json["copies"] = Json::array();
    for (const MemoryCopy& copy : planned.account.copies) {
      json["copies"].push_back({{"tensor", graph.tensors[copy.tensor].name},
                                {"bytes", copy.bytes},
                                {"from", planned.memories().memories[copy.from].name},
                                {"to", planned.memories().memories[copy.to].name},
                                {"before_step", copy.before},
                                {"cost", copy.cost}});
    }
  }
  if (planned.account.run) AddRun(*planned.account.run, json);
  json["seconds"] = answer.seconds;
  json["nodes"] = answer.nodes;
  json["interrupted"] = planned.interrupted;
  json["operators"] = graph.operators.size();
  json["tensors"] = graph.tensors.size();
  json["written_in_place"] = planned.request.model.overwrites;
  json["unplanned"] = UnplannedJson(graph);
  json["notes"] = planned.request.model.notes;
  json["order"] = Json();
  if (answer.best) {
    json["order"] = Json::array();
    for (const OperatorIndex v : answer.best->order)
      json["order"].push_back(graph.operators[v].name);
  }
  return json;
}

Result<void> CheckFlags(const GraphMemoryPlan& request) {
  const PlanOutputs& outputs = request.outputs;
  if (!outputs.tflm_header.empty()) {
    return Refuse("--emit", "TensorFlow Lite Micro has one arena");
  }
  if (!outputs.plan.empty() && !HasExtension(outputs.plan, ".json") &&
      !IsStandardOutput(outputs.plan)) {
    return Refuse("--output", "a plan with an order and memories is a .json file, not '" +
                                  OneLine(outputs.plan) + "'");
  }
  if (request.options.capacity) {
    return Refuse(request.options.spill ? "--budget" : "--capacity",
                  "each memory has a capacity of its own; give it with --memory NAME=CAPACITY");
  }
  if (request.options.place.minimize) {
    return Refuse("--minimize", "the cost is minimised, not the height");
  }
  if (!request.arguments.board.given()) {
    return Fail(ErrorCode::kInvalidOptions, "memories are missing; give --memory or --memories");
  }
  if (request.arguments.spill && request.arguments.prefetch) {
    return Fail(
        ErrorCode::kInvalidOptions,
        "--prefetch and --spill: give one of them; with --spill each tensor is in one memory "
        "only");
  }
  if (request.arguments.copy_latency && !request.arguments.prefetch) {
    return Fail(ErrorCode::kInvalidOptions,
                "--copy-latency: only with --prefetch do copies take time of their own");
  }
  if (request.arguments.spill && request.arguments.may_move) {
    return Fail(
        ErrorCode::kInvalidOptions,
        "--may-move and --spill: give one of them; with --spill each tensor is in one memory "
        "only");
  }
  const bool moves =
      request.arguments.spill || request.arguments.may_move || request.arguments.prefetch;
  if (moves && !outputs.report.empty()) {
    return Fail(ErrorCode::kInvalidOptions,
                "--report: plans in which tensors leave one of several memories have no page");
  }
  if (request.arguments.spill && !outputs.svg.empty()) {
    return Fail(ErrorCode::kInvalidOptions,
                "--svg: plans with spills in several memories are not drawn");
  }
  return {};
}

// The plan as that of a table with a buffer for each residency, for the picture.
Result<void> WritePicture(const Planned& planned) {
  const MemoryPlan& plan = *planned.answer.best;
  const TensorTable table =
      TableOf(planned.graph(), plan.order, planned.counting(), planned.memories());
  std::vector<std::size_t> buffer_of(planned.graph().tensors.size());
  for (std::size_t b = 0; b < table.tensors.size(); ++b) buffer_of[table.tensors[b]] = b;
  MemoryProblem problem = table.problem;
  std::vector<Residency> residencies = plan.residencies;
  if (planned.account.copies.empty()) {
    for (Residency& r : residencies) r.tensor = buffer_of[r.tensor];
  } else {
    problem.table = ProblemOf(planned.graph(), plan);
    problem.placing.assign(residencies.size(), Placing{});
    for (std::size_t i = 0; i < residencies.size(); ++i) residencies[i].tensor = i;
  }
  SvgOptions options;
  options.title = planned.provenance.input;
  return WriteFile(planned.request.outputs.svg,
                   WriteSvg(problem, PlanOf(problem, std::move(residencies)), options));
}

Result<void> WriteFiles(const Planned& planned) {
  const PlanOutputs& outputs = planned.request.outputs;
  if (!planned.placed()) return {};
  if (planned.answer.fits() && !outputs.plan.empty()) {
    BERTH_TRY(WriteFile(outputs.plan,
                        WritePlanJson(planned.graph(), planned.answer, planned.provenance)));
  }
  if (!outputs.svg.empty()) BERTH_TRY(WritePicture(planned));
  if (!outputs.report.empty()) {
    PageOptions page{"plan", MemoryVerdict(planned.answer.best->residencies.size(), "tensor")};
    page.notes = planned.request.model.notes;
    BERTH_TRY(WriteFile(outputs.report,
                        WritePage(planned.graph(), planned.answer, planned.provenance, page)));
  }
  if (!outputs.trace.empty()) {
    BERTH_TRY(WriteFile(outputs.trace,
                        WriteTrace(planned.graph(), planned.answer, planned.provenance.input,
                                   planned.memories().memories,
                                   planned.account.run ? &*planned.account.run : nullptr)));
  }
  return {};
}

ExitCode Conclude(const Planned& planned) {
  const ExitCode code = ExitCodeOf(planned.answer.outcome);
  if (planned.request.outputs.json) {
    PrintJson(SummaryJson(planned));
  } else if (!planned.request.outputs.to_stdout()) {
    Print(SummaryText(planned));
  } else if (code != kDone) {
    PrintToStandardError(SummaryText(planned));
  }
  return code;
}

}  // namespace

void AddGraphMemories(CLI::App& app, GraphMemoryArguments& arguments, bool spill) {
  AddMemories(app, arguments.board);
  app.add_option("--activations-in", arguments.activations,
                 "The memories that activations and inputs may be in. Default: any.")
      ->type_name("NAMES")
      ->delimiter(',')
      ->expected(1)
      ->take_all();
  app.add_option("--weights-in", arguments.weights,
                 "The memories that weights may be in, which are then part of the plan.")
      ->type_name("NAMES")
      ->delimiter(',')
      ->expected(1)
      ->take_all();
  if (!spill) return;
  app.add_flag(
      "--spill", arguments.spill,
      "With --memory: each memory is a scratchpad for the tensors that may be in it alone; "
      "what does not fit is spilled and retrieved, with the least traffic.");
  app.add_flag(
      "--may-move", arguments.may_move,
      "With --memory: a tensor may be copied to another memory between two operators, where "
      "that costs less than staying.");
  app.add_flag("--prefetch", arguments.prefetch,
               "As --may-move, but a DMA engine makes the copies while operators run, and the time "
               "of the run "
               "is what counts. Needs the times of operators, such as from --device.");
  AddDuration(
      app, "--copy-latency", arguments.copy_latency,
      "With --prefetch: what each copy takes besides its bytes, such as 500ns. Default: 0.");
}

Result<Board> LoadBoardFor(const Graph& graph, const GraphMemoryArguments& arguments,
                           Counting& counting) {
  MemoryFile file = BERTH_TRY(LoadBoard(arguments.board));
  Board board;
  board.cost_unit = file.cost_unit;
  board.memories.memories = std::move(file.problem.memories);
  const auto& memories = board.memories.memories;
  const auto activations = BERTH_TRY(Find(memories, arguments.activations, "--activations-in"));
  const auto weights = BERTH_TRY(Find(memories, arguments.weights, "--weights-in"));
  if (!weights.empty()) counting.parameters = true;
  if (!activations.empty() || !weights.empty()) {
    board.memories.allowed = AllowedByKind(graph, activations, weights);
  }
  return board;
}

namespace {

// Whether every operator has a time. `who` asks for it.
Result<void> CheckTimes(const Graph& graph, const std::string& who) {
  for (const Operator& op : graph.operators) {
    if (op.cost) continue;
    return Fail(ErrorCode::kInvalidOptions, who + ": how long operator " + Quoted(op.name) +
                                                " computes is not known; --device FILE says it");
  }
  return {};
}

// In nanoseconds.
Result<std::int64_t> LatencyOf(const GraphMemoryArguments& arguments) {
  constexpr double kMost = 1000;  // Seconds.
  const double seconds = arguments.copy_latency.value_or(0);
  if (seconds <= kMost) return std::llround(seconds * 1e9);
  return Fail(ErrorCode::kInvalidOptions, "--copy-latency: " + FormatSeconds(seconds) +
                                              " is more than 1000 s, and surely a mistake");
}

// The memories of a plan; where some are given as well, these, which must have the same names.
Result<GraphMemories> MemoriesToCheck(const Graph& graph, const GraphMemories& memories,
                                      const GraphMemoryArguments& arguments, Counting& counting) {
  if (!arguments.given()) return memories;
  Board board = BERTH_TRY(LoadBoardFor(graph, arguments, counting));
  // The plan names the memories; those that were given are held against it in the same order.
  if (board.memories.memories.size() != memories.memories.size()) {
    return Fail(ErrorCode::kInvalidOptions,
                "the plan has " + Memories(memories.memories.size()) + ", but " +
                    std::to_string(board.memories.memories.size()) + " are given");
  }
  for (std::size_t m = 0; m < memories.memories.size(); ++m) {
    if (board.memories.memories[m].name == memories.memories[m].name) continue;
    return Fail(ErrorCode::kInvalidOptions,
                "memory number " + std::to_string(m) + " of the plan is " +
                    Quoted(memories.memories[m].name) + ", but the one given is " +
                    Quoted(board.memories.memories[m].name));
  }
  if (board.memories.allowed.empty()) board.memories.allowed = memories.allowed;
  board.memories.may_move = memories.may_move;
  board.memories.prefetch = memories.prefetch;
  board.memories.copy_latency = memories.copy_latency;
  return std::move(board.memories);
}

}  // namespace

Result<ExitCode> PlanInMemories(GraphMemoryPlan request) {
  BERTH_TRY(CheckFlags(request));
  PlanOptions& options = request.options;
  options.spill = request.arguments.spill;
  options.place.minimize_if_infeasible = false;
  Board board =
      BERTH_TRY(LoadBoardFor(request.model.graph, request.arguments, options.schedule.counting));
  options.memories = std::move(board.memories);
  options.memories.may_move = request.arguments.may_move || request.arguments.prefetch;
  options.memories.prefetch = request.arguments.prefetch;
  options.memories.copy_latency = BERTH_TRY(LatencyOf(request.arguments));
  if (options.memories.prefetch) BERTH_TRY(CheckTimes(request.model.graph, "--prefetch"));
  if (options.memories.prefetch && board.cost_unit != "ns") {
    return Fail(ErrorCode::kInvalidOptions, "--prefetch: the memories have costs in " +
                                                Quoted(board.cost_unit) +
                                                ", but a run is timed in ns");
  }
  WatchedSearch search(request.search);
  const PlanAnswer answer = BERTH_TRY(search.Plan(request.model.graph, options));
  if (answer.best && answer.best->addressed) {
    VerifyOrDie(request.model.graph, options.schedule.counting, options.memories, *answer.best);
  }
  Planned planned{
      request,
      answer,
      {BERTH_VERSION, request.model.name, request.model.hash(), options, request.search.node_limit},
      {}};
  planned.provenance.in_place = request.reading.in_place;
  planned.provenance.fused = request.reading.fuse;
  planned.provenance.reading = request.model.reading;
  planned.provenance.cost_unit = board.cost_unit;
  planned.interrupted = search.interrupted();
  if (planned.placed()) {
    planned.account =
        AccountOf(request.model.graph, options.schedule.counting, options.memories, *answer.best);
  }
  BERTH_TRY(WriteFiles(planned));
  return Conclude(planned);
}

Result<ExitCode> CheckInMemories(const Model& model, const PlanSettings& settings,
                                 GraphPlanFile plan, const GraphMemoryArguments& arguments,
                                 bool execute, bool json) {
  Counting counting = settings.counting;
  const GraphMemories memories =
      BERTH_TRY(MemoriesToCheck(model.graph, plan.memories, arguments, counting));
  if (memories.prefetch) BERTH_TRY(CheckTimes(model.graph, "a plan with prefetch"));
  BERTH_TRY(Validate(model.graph, counting, memories));
  std::vector<std::string> faults =
      verify::VerifyMemories(model.graph, counting, memories, plan.plan);
  const std::size_t unplaced = plan.plan.cost.unplaced;
  if (unplaced > 0) {
    faults.push_back(Plural(Count(unplaced), "tensor") + (unplaced == 1 ? " has" : " have") +
                     " no place");
  }
  if (execute && !plan.spills && !memories.may_move && faults.empty()) {
    const auto stacked = verify::Stacked(model.graph, plan.plan);
    std::vector<verify::PlacedTensor> placed;
    for (const Residency& r : stacked->residencies) placed.push_back({r.tensor, r.offset});
    const verify::ExecutionReport run = verify::Execute(model.graph, plan.plan.order, placed);
    for (const verify::Clobber& clobber : run.clobbers) {
      faults.push_back(verify::Describe(clobber, model.graph));
    }
  }
  const std::string cost = OneLine(FormatCostExactly(plan.plan.cost.cost, plan.cost_unit));
  if (json) {
    Json result;
    result["valid"] = faults.empty();
    result["memories"] = Json::array();
    for (std::size_t m = 0; m < memories.memories.size(); ++m) {
      Json memory = internal::MemoryJson(memories.memories[m]);
      memory["height"] = plan.plan.memories[m].height;
      memory["peak"] = plan.plan.memories[m].peak;
      result["memories"].push_back(std::move(memory));
    }
    result["cost"] = plan.plan.cost.cost;
    result["cost_unit"] = plan.cost_unit;
    result["unplaced"] = unplaced;
    result["residencies"] = plan.plan.residencies.size();
    if (plan.spills) result["traffic"] = internal::TrafficJson(plan.plan.traffic);
    result["faults"] = Json::array();
    for (const std::string& fault : faults) result["faults"].push_back({{"message", fault}});
    result["berth_version"] = BERTH_VERSION;
    PrintJson(result);
  } else if (faults.empty()) {
    Print(Paint(Tone::kGood, "The plan holds:") + " " +
          FormatCount(Count(plan.plan.residencies.size())) +
          (plan.plan.residencies.size() == 1 ? " residency" : " residencies") + " in " +
          Memories(memories.memories.size()) + ", run with an arena for each; " +
          (plan.spills ? FormatBytesExactly(plan.plan.traffic.avoidable()) + " of avoidable traffic"
           : memories.prefetch ? "a run of " + cost
                               : "cost " + cost) +
          ".\n");
  } else {
    std::string text = Paint(Tone::kBad, "The plan does not hold:") + " " +
                       Plural(Count(faults.size()), "fault") + ".\n";
    for (std::size_t i = 0; i < std::min(2 * kMostRows, faults.size()); ++i) {
      text += "  " + OneLine(faults[i]) + "\n";
    }
    if (faults.size() > 2 * kMostRows) {
      text += "  and " + FormatCount(Count(faults.size() - 2 * kMostRows)) + " more\n";
    }
    Print(text);
  }
  return faults.empty() ? kDone : kDoesNotFit;
}

namespace {

// The board, without the --memory that is a name alone, and the index of that memory.
Result<std::pair<Board, std::size_t>> SweptBoard(const Graph& graph,
                                                 const GraphMemoryArguments& arguments,
                                                 Counting& counting) {
  GraphMemoryArguments rest = arguments;
  std::optional<Memory> swept;
  for (std::size_t i = rest.board.texts.size(); i-- > 0;) {
    if (rest.board.texts[i].find_first_of("=@") != std::string::npos) continue;
    if (swept) {
      return Fail(ErrorCode::kInvalidOptions, "--memory: " + Quoted(swept->name) + " and " +
                                                  Quoted(rest.board.texts[i]) +
                                                  " are both names alone; one memory is swept");
    }
    swept = rest.board.memories[i];
    const auto at = static_cast<std::ptrdiff_t>(i);
    rest.board.texts.erase(rest.board.texts.begin() + at);
    rest.board.memories.erase(rest.board.memories.begin() + at);
  }
  if (!swept) {
    return Fail(ErrorCode::kInvalidOptions,
                "--memory: which memory is to be swept? Give its name alone, such as --memory " +
                    (rest.board.memories.empty() ? "sram" : rest.board.memories.front().name));
  }
  Board board = BERTH_TRY(LoadBoardFor(graph, rest, counting));
  const auto& memories = board.memories.memories;
  for (std::size_t m = 0; m < memories.size(); ++m) {
    if (memories[m].name == swept->name) return std::pair{std::move(board), m};
  }
  static_cast<void>(BERTH_TRY(Find(memories, {swept->name}, "--memory")));
  return std::pair{std::move(board), memories.size()};
}

// A name in a header of CSV: the unit of costs is anybody's text.
std::string CsvName(const std::string& name) {
  if (name.find_first_of(",\"\r\n") == std::string::npos) return name;
  std::string quoted = "\"";
  for (const char c : name) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

std::string CsvOf(const std::vector<MemoryPoint>& points, const std::string& cost_unit) {
  std::string text = "capacity,outcome,unplaced," + CsvName("cost_" + cost_unit) + "," +
                     CsvName("cost_bound_" + cost_unit) + ",seconds\n";
  for (const MemoryPoint& point : points) {
    text += std::to_string(point.capacity) + "," + std::string(ToString(point.outcome)) + "," +
            std::to_string(point.cost.unplaced) + "," + std::to_string(point.cost.cost) + "," +
            std::to_string(point.cost_bound.cost) + "," + std::to_string(point.seconds) + "\n";
  }
  return text;
}

std::string PictureOf(const std::vector<MemoryPoint>& points, const std::string& name,
                      const std::string& cost_unit) {
  Chart chart;
  chart.title = "Cost against the capacity of " + name;
  chart.x.label = "capacity of " + name;
  chart.x.unit = ChartUnit::kBytes;
  chart.y.label = "cost, " + cost_unit;
  chart.y.first = 0;
  chart.open_means = "not proved the least";
  ChartSeries line;
  line.name = name;
  line.style = ChartSeries::Style::kSteps;
  for (const MemoryPoint& point : points) {
    if (point.cost.unplaced > 0) continue;
    line.points.push_back({static_cast<double>(point.capacity),
                           static_cast<double>(point.cost.cost), point.outcome != Outcome::kOptimal,
                           FormatBytesExactly(point.capacity) + ": " +
                               FormatCostExactly(point.cost.cost, cost_unit)});
  }
  if (!line.points.empty()) chart.series.push_back(std::move(line));
  return WriteSvg(chart);
}

// What the bytes from one capacity to the next save, for a KiB of them.
std::string PerKiB(const MemoryPoint& from, const MemoryPoint& to, const std::string& cost_unit) {
  if (from.cost.unplaced > 0 || to.cost.unplaced > 0) return "";
  const double saved = static_cast<double>(from.cost.cost - to.cost.cost);
  const double kib = static_cast<double>(to.capacity - from.capacity) / 1024;
  return FormatCost(static_cast<std::int64_t>(saved / kib), cost_unit);
}

std::string PointsTable(const std::vector<MemoryPoint>& points, const std::string& name,
                        const std::string& cost_unit) {
  using enum TextTable::Align;
  TextTable table({kRight, kRight, kRight, kLeft, kRight, kRight});
  table.AddRow({OneLine(name), "cost", "lower bound", "", "each KiB more saves", "time"});
  for (std::size_t i = 0; i < points.size(); ++i) {
    const MemoryPoint& point = points[i];
    const bool fits = point.cost.unplaced == 0;
    const bool bounded = point.cost_bound.unplaced == 0;
    table.AddRow({FormatCount(point.capacity), fits ? FormatCost(point.cost.cost, cost_unit) : "-",
                  bounded ? FormatCost(point.cost_bound.cost, cost_unit) : "-",
                  std::string(ToString(point.outcome)),
                  i + 1 < points.size() ? PerKiB(point, points[i + 1], cost_unit) : "",
                  FormatSeconds(point.seconds)});
  }
  return table.ToString();
}

}  // namespace

Result<ExitCode> SweepOneMemory(const MemorySweepArguments& arguments) {
  ModelArguments reading = arguments.reading;
  reading.path = arguments.path;
  const Model model = BERTH_TRY(LoadModel(reading));
  MemorySweepOptions options;
  options.plan.schedule.counting = reading.counting;
  auto [board, swept] =
      BERTH_TRY(SweptBoard(model.graph, arguments.arguments, options.plan.schedule.counting));
  options.memory = swept;
  options.points = arguments.points;
  options.capacities = arguments.capacities;
  options.plan.memories = std::move(board.memories);
  if (arguments.fixed_order) options.plan.schedule.algorithm = ScheduleAlgorithm::kProgram;
  options.seconds_each = arguments.time_limit.value_or(1.0);
  const Counting& counting = options.plan.schedule.counting;
  options.on_point = [&](const MemoryPoint& point, const PlanAnswer& answer) {
    GraphMemories memories = options.plan.memories;
    memories.memories[options.memory].capacity = point.capacity;
    VerifyOrDie(model.graph, counting, memories, *answer.best);
    return true;
  };
  WatchedSearch search({});
  const auto points = BERTH_TRY(
      search.Run([&](Budget& budget) { return SweepMemory(model.graph, options, budget); }));
  const std::string& name = options.plan.memories.memories[swept].name;
  if (!arguments.output.empty()) {
    BERTH_TRY(WriteFile(arguments.output, CsvOf(points, board.cost_unit)));
  }
  if (!arguments.svg.empty()) {
    BERTH_TRY(WriteFile(arguments.svg, PictureOf(points, OneLine(name), board.cost_unit)));
  }
  const TensorCount count = CountTensors(model.graph, counting);
  std::string warning = search.interrupted() ? "Interrupted." : "";
  if (count.unsized > 0 && !counting.unsized_as_zero) {
    warning += (warning.empty() ? "" : " ") +
               std::string("All figures are for tensors of known size only: ") +
               UnsizedClause(count.unsized, count.tensors) + "." +
               OpenDimensionsLine(model, "sweep");
  }
  if (!IsStandardOutput(arguments.output) && !IsStandardOutput(arguments.svg)) {
    if (!warning.empty()) Print(Paint(Tone::kUnsure, warning) + "\n");
    Print(PointsTable(points, name, board.cost_unit));
  } else if (!warning.empty()) {
    PrintToStandardError(warning + "\n");
  }
  return warning.empty() ? kDone : kGaveUp;
}

}  // namespace berth::cli
