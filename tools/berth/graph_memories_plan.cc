#include "tools/berth/graph_memories_plan.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "berth/displaced.h"
#include "berth/memory_io.h"
#include "berth/page.h"
#include "berth/report.h"
#include "berth/spill.h"
#include "src/base/try.h"
#include "src/io/plan_head.h"
#include "tools/berth/checked.h"
#include "tools/berth/displaced.h"
#include "tools/berth/memory_summary.h"
#include "tools/berth/moves.h"
#include "tools/berth/terminal.h"

namespace berth::cli {
namespace {

constexpr std::size_t kMostRows = 10;
constexpr std::size_t kName = 40;

std::int64_t Count(std::size_t number) { return static_cast<std::int64_t>(number); }

tl::unexpected<Error> Refuse(const std::string& flag, const std::string& why) {
  return Fail(ErrorCode::kInvalidOptions, flag + " does not apply to several memories: " + why);
}

// A tensor that costs less elsewhere.
struct Elsewhere {
  TensorIndex tensor = 0;
  std::size_t memory = 0;
  std::size_t cheapest = 0;
  std::int64_t cost = 0;
  std::int64_t least = 0;
};

struct Share {
  std::size_t tensors = 0;
  std::int64_t cost = 0;
  Bytes spilled = 0;  // Out of this memory, and back.
  Bytes retrieved = 0;
};

// Where the costs of a plan come from.
struct Account {
  std::vector<Share> memories;
  std::vector<Elsewhere> displaced;  // Those that cost the most more, first.
  std::vector<TensorIndex> left_out;
  std::size_t placed = 0;  // Tensors.
  std::vector<MemoryCopy> copies;
  std::optional<TimedRun> run;  // With prefetch.
};

// Where the tensor of a residency would cost the least. `r` is one of the plan of the table.
Elsewhere CheapestOf(const TensorTable& table, const Residency& r) {
  const std::vector<Memory>& memories = table.problem.memories;
  const Placing& placing = table.problem.placing[r.tensor];
  const auto cost = [&](std::size_t m) {
    return CostOfUses(placing, memories[m]).value_or(kMaxCost);
  };
  const auto m = static_cast<std::size_t>(r.memory);
  Elsewhere each{table.tensors[r.tensor], m, m, cost(m), cost(m)};
  for (std::size_t other = 0; other < memories.size(); ++other) {
    const auto& candidates = placing.candidates;
    const bool may = candidates.empty() ||
                     std::any_of(candidates.begin(), candidates.end(),
                                 [&](const Candidate& one) { return one.memory == other; });
    if (!may || cost(other) >= each.least) continue;
    each.cheapest = other;
    each.least = cost(other);
  }
  return each;
}

Account AccountOf(const Graph& graph, const Counting& counting, const GraphMemories& memories,
                  const MemoryPlan& plan) {
  Account account;
  account.memories.resize(memories.memories.size());
  account.copies = CopiesOf(graph, memories, plan);
  if (memories.prefetch) account.run = RunOf(graph, memories, plan);
  // Each residency of what is copied counts by itself.
  const TensorTable table = TableOf(graph, counting, memories, plan);
  for (const Move& move : MovesOf(graph, plan)) {
    Share& share = account.memories[static_cast<std::size_t>(move.memory)];
    (move.out ? share.spilled : share.retrieved) += move.bytes;
  }
  std::vector<bool> placed(graph.tensors.size(), false);
  std::vector<bool> copied(graph.tensors.size(), false);
  for (const MemoryCopy& copy : account.copies) copied[copy.tensor] = true;
  for (const Residency& r : PlanOf(table, plan).residencies) {
    const TensorIndex t = table.tensors[r.tensor];
    Share& share = account.memories[static_cast<std::size_t>(r.memory)];
    if (!placed[t] || copied[t]) ++share.tensors;
    if (!placed[t]) ++account.placed;
    placed[t] = true;
    const Elsewhere each = CheapestOf(table, r);
    share.cost += each.cost;
    if (each.least < each.cost) account.displaced.push_back(each);
  }
  for (std::size_t m = 0; account.run && m < account.memories.size(); ++m) {
    account.memories[m].cost = account.run->accessing[m];
  }
  for (const TensorIndex t : table.tensors) {
    if (!placed[t]) account.left_out.push_back(t);
  }
  std::stable_sort(
      account.displaced.begin(), account.displaced.end(),
      [](const Elsewhere& a, const Elsewhere& b) { return a.cost - a.least > b.cost - b.least; });
  return account;
}

// Why tensors are not where they would cost the least.
struct Explanation {
  TensorTable table;  // A buffer for each residency.
  std::vector<Displaced> displaced;
};

// A plan with all that is said of it.
struct Planned {
  const GraphMemoryPlan& request;
  const PlanAnswer& answer;
  Provenance provenance;
  Account account;
  bool interrupted = false;
  std::optional<Explanation> explanation = {};  // Where the plan is to be explained.

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

// What a memory has of what counts: traffic, or the cost.
std::vector<std::string> ShareCells(const Planned& planned, const Share& share) {
  if (planned.answer.spills) return {FormatBytes(share.spilled), FormatBytes(share.retrieved)};
  const std::int64_t all = planned.cost().cost;
  if (all == 0) return {};
  return {planned.Cost(share.cost),
          FormatPercent(static_cast<double>(share.cost) / static_cast<double>(all))};
}

std::string MemoryTable(const Planned& planned) {
  using enum TextTable::Align;
  const MemoryPlan& plan = *planned.answer.best;
  std::vector<std::string> titles = {"memory", "height", "capacity", "filled", "peak", "tensors"};
  if (planned.answer.spills) {
    titles.insert(titles.end(), {"spilled", "retrieved"});
  } else if (plan.cost.cost > 0) {
    titles.insert(titles.end(), {"cost", "share"});
  }
  std::vector<TextTable::Align> columns(titles.size(), kRight);
  columns.front() = kLeft;
  TextTable table(columns);
  table.Elide(0, kName);
  table.AddRow(std::move(titles));
  for (std::size_t m = 0; m < planned.memories().memories.size(); ++m) {
    const Memory& memory = planned.memories().memories[m];
    const MemoryUse& use = plan.memories[m];
    const Share& share = planned.account.memories[m];
    const bool filled = memory.capacity && *memory.capacity > 0;
    std::vector<std::string> row = {OneLine(memory.name),
                                    FormatBytes(use.height),
                                    memory.capacity ? FormatBytes(*memory.capacity) : "any",
                                    filled ? FormatPercent(static_cast<double>(use.height) /
                                                           static_cast<double>(*memory.capacity))
                                           : "",
                                    FormatBytes(use.peak),
                                    FormatCount(Count(share.tensors))};
    for (std::string& cell : ShareCells(planned, share)) row.push_back(std::move(cell));
    table.AddRow(std::move(row));
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
    const Elsewhere& each = displaced[i];
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

// What explain says of tensors that are copied.
std::string CopiedNote() {
  return "  " +
         Wrap(
             "A tensor that is copied has a line for none of its stays: without its copies it "
             "would "
             "be another plan. --moves lists the copies.",
             TextWidth() - 2, 2) +
         "\n";
}

void AddFiles(const Planned& planned, FactList& facts) {
  const PlanAnswer& answer = planned.answer;
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
    if (path->empty()) continue;
    facts.Add(name, planned.placed() ? OneLine(*path) : "not written, as there is no plan");
  }
}

// What there is of traffic or costs, and what is proved of it.
void AddQuantities(const Planned& planned, FactList& facts) {
  const PlanAnswer& answer = planned.answer;
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
}

std::string SummaryText(const Planned& planned) {
  const PlanAnswer& answer = planned.answer;
  const Model& model = planned.request.model;
  FactList facts;
  facts.Add("model", DescribeGraph(model.graph));
  AddQuantities(planned, facts);
  if (planned.account.run) AddRun(planned, facts);
  if (!planned.account.copies.empty() && !planned.account.run) {
    std::int64_t cost = 0;
    for (const MemoryCopy& copy : planned.account.copies) cost += copy.cost;
    facts.Add("copies", FormatCount(Count(planned.account.copies.size())) + " between memories, " +
                            planned.ExactCost(cost) + " of the cost");
  }
  const std::string uncounted = DescribeUncounted(model.graph, planned.counting());
  if (!uncounted.empty()) facts.Add("besides", uncounted + ", which the plan does not hold");
  facts.Add("search", Plural(answer.nodes, "node") + ", " + FormatSeconds(answer.seconds));
  AddFiles(planned, facts);
  std::string text =
      Headline(planned) + "\n" + facts.ToString() + CaveatText(model, planned.counting());
  if (!planned.placed()) return text;
  text += MemoryTable(planned);
  if (planned.explanation) {
    const TensorTable& table = planned.explanation->table;
    text += DisplacedText(table.problem, planned.explanation->displaced,
                          planned.provenance.cost_unit, "tensor");
    if (!planned.account.copies.empty()) text += CopiedNote();
  } else {
    text += DisplacedTable(planned);
  }
  text += LeftOutTable(planned);
  if (planned.request.tensors) text += TensorRows(planned);
  if (planned.request.moves && !planned.account.copies.empty()) text += CopiesTable(planned);
  if (planned.request.moves && planned.answer.spills) {
    text += MovesTable(planned.graph(), *planned.answer.best, planned.memories().memories);
  }
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

// Where the costs come from, and what is copied.
void AddAccount(const Planned& planned, Json& json) {
  const Graph& graph = planned.graph();
  const Account& account = planned.account;
  const std::vector<Memory>& memories = planned.memories().memories;
  const bool spills = planned.answer.spills;
  for (std::size_t m = 0; m < memories.size(); ++m) {
    const Share& share = account.memories[m];
    json["memories"][m]["tensors"] = share.tensors;
    json["memories"][m]["cost"] = share.cost;
    if (!spills) continue;
    json["memories"][m]["spilled"] = share.spilled;
    json["memories"][m]["retrieved"] = share.retrieved;
  }
  const PlanCost& bound = planned.answer.cost_bound;
  const bool comparable = planned.cost().unplaced == bound.unplaced;
  json["cost_gap"] = comparable ? Json(Gap(planned.cost().cost, bound.cost)) : Json();
  json["displaced"] = Json::array();
  for (const Elsewhere& each : account.displaced) {
    json["displaced"].push_back({{"tensor", graph.tensors[each.tensor].name},
                                 {"bytes", graph.tensors[each.tensor].bytes},
                                 {"memory", memories[each.memory].name},
                                 {"cost", each.cost},
                                 {"cheapest_memory", memories[each.cheapest].name},
                                 {"least_cost", each.least}});
  }
  if (spills) json["moves"] = MovesJson(graph, *planned.answer.best, memories);
  if (!planned.memories().may_move) return;
  json["copies"] = Json::array();
  for (const MemoryCopy& copy : account.copies) {
    json["copies"].push_back({{"tensor", graph.tensors[copy.tensor].name},
                              {"bytes", copy.bytes},
                              {"from", memories[copy.from].name},
                              {"to", memories[copy.to].name},
                              {"before_step", copy.before},
                              {"cost", copy.cost}});
  }
}

Json SummaryJson(const Planned& planned) {
  const PlanAnswer& answer = planned.answer;
  const Graph& graph = planned.graph();
  Json json = internal::PlanHead(graph, answer, planned.provenance);
  if (planned.placed()) AddAccount(planned, json);
  if (planned.account.run) AddRun(*planned.account.run, json);
  if (planned.explanation) {
    json["displaced"] =
        DisplacedJson(planned.explanation->table.problem, planned.explanation->displaced);
  }
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
  if (!request.arguments.board.given()) {
    return Fail(ErrorCode::kInvalidOptions,
                request.arguments.spill
                    ? "--spill: memories are missing; give --memory or --memories. In one memory "
                      "--budget alone lets tensors leave it"
                    : "memories are missing; give --memory or --memories");
  }
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
  if (!outputs.proof.empty())
    return Refuse("--proof", "a bound of all orders says nothing of costs");
  if (request.options.place.minimize) {
    return Refuse("--minimize", "the cost is minimised, not the height");
  }
  if (request.arguments.spill && request.arguments.prefetch) {
    return Fail(
        ErrorCode::kInvalidOptions,
        "--prefetch and --spill: give one of them; with --spill each tensor is in one memory "
        "only");
  }
  if (request.arguments.spill && request.arguments.may_move) {
    return Fail(
        ErrorCode::kInvalidOptions,
        "--may-move and --spill: give one of them; with --spill each tensor is in one memory "
        "only");
  }
  return {};
}

Result<void> WriteFiles(const Planned& planned) {
  const PlanOutputs& outputs = planned.request.outputs;
  if (!planned.placed()) return {};
  if (planned.answer.fits() && !outputs.plan.empty()) {
    BERTH_TRY(WriteFile(outputs.plan,
                        WritePlanJson(planned.graph(), planned.answer, planned.provenance)));
  }
  if (!outputs.svg.empty()) {
    SvgOptions picture;
    picture.title = planned.provenance.input;
    if (planned.answer.spills) picture.marks = MarksOf(*planned.answer.best);
    BERTH_TRY(WriteFile(outputs.svg, WriteSvg(planned.graph(), planned.counting(),
                                              planned.memories(), *planned.answer.best, picture)));
  }
  if (!outputs.report.empty()) {
    PageOptions page{planned.request.explain ? "explain" : "plan",
                     MemoryVerdict(planned.account.placed, "tensor")};
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

Result<ExitCode> PlanInMemories(GraphMemoryPlan request) {
  BERTH_TRY(CheckFlags(request));
  PlanOptions& options = request.options;
  options.spill = request.arguments.spill;
  options.place.minimize_if_infeasible = false;
  Board board =
      BERTH_TRY(LoadBoardFor(request.model.graph, request.arguments, options.schedule.counting));
  BERTH_TRY(SetMoves(request.arguments, board));
  options.memories = std::move(board.memories);
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
  planned.provenance.device = request.model.device;
  planned.provenance.profile = request.model.profile;
  planned.provenance.cost_unit = board.cost_unit;
  planned.interrupted = search.interrupted();
  if (planned.placed()) {
    planned.account =
        AccountOf(request.model.graph, options.schedule.counting, options.memories, *answer.best);
  }
  if (request.explain && planned.placed()) {
    TensorTable table =
        TableOf(request.model.graph, options.schedule.counting, options.memories, *answer.best);
    auto displaced =
        BERTH_TRY(FindDisplaced(table.problem, PlanOf(table, *answer.best), kMostDisplaced));
    planned.explanation = Explanation{std::move(table), std::move(displaced)};
  }
  BERTH_TRY(WriteFiles(planned));
  return Conclude(planned);
}

}  // namespace berth::cli
