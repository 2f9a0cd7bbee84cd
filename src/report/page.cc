// The data of a page, as src/report/app/src/data.ts reads them, put into the page that it builds.
//
// Of what there may be a hundred thousand (buffers, tensors, operators) the page holds columns, not
// objects: half the bytes, and what draws them wants arrays. Numbers beyond 2^53, which JavaScript
// would round, stay digits: the page reads them as text.

#include "berth/page.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "berth/diff.h"
#include "berth/displaced.h"
#include "berth/recompute.h"
#include "io/plan_head.h"
#include "report/analysis.h"
#include "report/resource.h"
#include "report/text.h"

namespace berth {
namespace internal::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostRelief = 12;
// Of buffers that would cost less elsewhere: those that are explained, and what is in the way of each.
constexpr std::size_t kMostDisplaced = 1000;
constexpr std::size_t kMostInTheWay = 50;

// Everything that is shown of one plan; null pointers are not there.
struct Shown {
  const Problem& problem;  // A buffer for each residency.
  const Placement* placement = nullptr;
  const Graph* graph = nullptr;
  const MemoryPlan* plan = nullptr;  // Of a graph, with its order.
  // Of several memories: what they are asked to hold, and the plan with its residencies, one for each
  // buffer.
  const MemoryProblem* memories = nullptr;
  const MemoryPlan* in_memories = nullptr;
  // Of a graph in several memories: these, for its copies.
  const GraphMemories* graph_memories = nullptr;
  const TimedRun* run = nullptr;  // With prefetch.
  // Each tensor may be in one memory alone, and leaves it for the store behind: what counts is traffic,
  // not costs.
  bool spills = false;

  [[nodiscard]] bool priced() const { return memories != nullptr && !spills; }
};

template <typename Range, typename Of>
Json Column(const Range& range, Of of) {
  Json column = Json::array();
  for (const auto& element : range) column.push_back(of(element));
  return column;
}

Json OrNull(const std::optional<Bytes>& bytes) { return bytes ? Json(*bytes) : Json(); }

Json BuffersOf(const Shown& shown) {
  const auto& buffers = shown.problem.buffers;
  Json json;
  json["id"] = Column(buffers, [](const Buffer& b) { return b.id; });
  json["start"] = Column(buffers, [](const Buffer& b) { return b.start; });
  json["end"] = Column(buffers, [](const Buffer& b) { return b.end; });
  json["size"] = Column(buffers, [](const Buffer& b) { return b.size; });
  json["offset"] = shown.placement ? Json(shown.placement->offsets) : Json();
  json["tensor"] = shown.graph ? Column(shown.plan->residencies,
                                        [](const Residency& residency) { return residency.tensor; })
                               : Json();
  // What few buffers have: pairs of a buffer and its value.
  Json alignment = Json::array();
  Json pinned = Json::array();
  Json hint = Json::array();
  Json gaps = Json::array();
  for (std::size_t b = 0; b < buffers.size(); ++b) {
    if (buffers[b].alignment != 1) alignment.push_back({b, buffers[b].alignment});
    if (buffers[b].offset) pinned.push_back({b, *buffers[b].offset});
    if (buffers[b].hint) hint.push_back({b, *buffers[b].hint});
    for (const Gap& gap : buffers[b].gaps) {
      const Window window = gap.window.value_or(Window{});
      gaps.push_back({b, gap.start, gap.end, window.lower, window.upper});
    }
  }
  json["memory"] = shown.memories ? Column(shown.in_memories->residencies,
                                           [](const Residency& r) { return r.memory; })
                                  : Json();
  json["alignment"] = std::move(alignment);
  json["pinned"] = std::move(pinned);
  json["hint"] = std::move(hint);
  json["gaps"] = std::move(gaps);
  return json;
}

Json GraphOf(const Shown& shown) {
  if (shown.graph == nullptr) return {};
  const Graph& graph = *shown.graph;
  const auto& tensors = graph.tensors;
  Json columns;
  columns["name"] = Column(tensors, [](const Tensor& t) { return t.name; });
  columns["bytes"] = Column(tensors, [](const Tensor& t) { return t.bytes; });
  columns["kind"] = Column(tensors, [](const Tensor& t) { return std::string(ToString(t.kind)); });
  columns["shape"] = Column(tensors, [](const Tensor& t) { return t.shape; });
  columns["dtype"] = Column(tensors, [](const Tensor& t) { return t.dtype; });
  columns["base"] =
      Column(tensors, [](const Tensor& t) { return t.alias_of ? Json(*t.alias_of) : Json(); });
  columns["output"] = Column(tensors, [](const Tensor& t) { return t.output ? 1 : 0; });
  columns["unplanned"] = Column(tensors, [](const Tensor& t) { return t.unplanned; });
  // In the order in which they run: the step is the position.
  const auto op = [&](auto of) {
    return Column(shown.plan->order, [&](OperatorIndex v) { return Json(of(graph.operators[v])); });
  };
  Json operators;
  operators["program"] = shown.plan->order;
  operators["name"] = op([](const Operator& o) { return o.name; });
  operators["type"] = op([](const Operator& o) { return o.type; });
  operators["inputs"] = op([](const Operator& o) { return o.inputs; });
  operators["outputs"] = op([](const Operator& o) { return o.outputs; });
  operators["mutates"] = op([](const Operator& o) { return o.mutates; });
  return {{"name", graph.name}, {"tensors", std::move(columns)}, {"operators", operators}};
}

Json PeakOf(const PeakFacts& peak) {
  Json live = Json::array();
  for (const Piece& piece : peak.live) {
    live.push_back({piece.buffer, piece.window.upper - piece.window.lower});
  }
  Json holes = Json::array();
  for (const Hole& hole : peak.holes) {
    holes.push_back({{"lower", hole.lower},
                     {"upper", hole.upper},
                     {"padding", hole.padding},
                     {"above", hole.above ? Json(*hole.above) : Json()}});
  }
  return {{"start", peak.start},
          {"end", peak.end},
          {"load", peak.load},
          {"live", std::move(live)},
          {"holes", std::move(holes)},
          {"padding", peak.padding},
          {"fragmentation", peak.fragmentation}};
}

Json CurveJson(const Curve& curve) { return {{"steps", curve.steps}, {"live", curve.live}}; }

// The buffers of one memory, with the height that the plan has there, and their rows on the page.
struct Lane {
  Problem problem;
  Placement placement;
  std::vector<std::size_t> rows;
  Curve curve;  // Of live bytes: those that buffers share as a group count once.
};

Lane LaneOf(const Shown& shown, std::size_t m) {
  Lane lane;
  std::vector<std::optional<std::size_t>> lane_of(shown.memories->table.buffers.size());
  lane.placement.height = shown.in_memories->memories[m].height;
  for (std::size_t row = 0; row < shown.problem.buffers.size(); ++row) {
    const Residency& r = shown.in_memories->residencies[row];
    if (r.memory != static_cast<int>(m)) continue;
    lane.problem.buffers.push_back(shown.problem.buffers[row]);
    lane.placement.offsets.push_back(r.offset);
    lane.rows.push_back(row);
    lane_of[r.tensor] = lane.rows.size() - 1;
  }
  std::vector<std::vector<Member>> groups;
  for (const std::vector<Member>& group : shown.memories->together) {
    if (!lane_of[group.front().buffer]) continue;
    std::vector<Member>& here = groups.emplace_back();
    for (const Member& member : group) here.push_back({*lane_of[member.buffer], member.distance});
  }
  const auto joint = Colocate(lane.problem, groups);
  BERTH_CHECK(joint.has_value());
  lane.curve = CurveOf(joint->problem);
  return lane;
}

Json ReservedOf(const Memory& memory) {
  return Column(memory.reserved, [](const Reserved& r) {
    return Json{r.lower, r.upper, r.start == -kMaxStep ? Json() : Json(r.start),
                r.end == kMaxStep ? Json() : Json(r.end)};
  });
}

Json LanesOf(const Shown& shown) {
  if (shown.memories == nullptr) return {};
  Json lanes = Json::array();
  for (std::size_t m = 0; m < shown.memories->memories.size(); ++m) {
    const Memory& memory = shown.memories->memories[m];
    const Lane lane = LaneOf(shown, m);
    PeakFacts peak = FactsOfPeak(lane.problem, &lane.placement, lane.curve);
    for (Piece& piece : peak.live) piece.buffer = lane.rows[piece.buffer];
    for (Hole& hole : peak.holes) {
      if (hole.above) hole.above = lane.rows[*hole.above];
    }
    std::int64_t cost = shown.run != nullptr ? shown.run->accessing[m] : 0;
    for (const std::size_t row : lane.rows) {
      if (shown.run != nullptr) break;
      cost += CostOf(*shown.memories, shown.in_memories->residencies[row]).value_or(0);
    }
    lanes.push_back({{"name", memory.name},
                     {"capacity", OrNull(memory.capacity)},
                     {"height", lane.placement.height},
                     {"cost", shown.spills ? Json() : Json(cost)},
                     {"reserved", ReservedOf(memory)},
                     {"curve", CurveJson(lane.curve)},
                     {"peak", PeakOf(peak)}});
  }
  return lanes;
}

// What each buffer costs in each memory; null where it may not be.
Json CostsOf(const Shown& shown) {
  if (!shown.priced()) return {};
  Json costs = Json::array();
  for (std::size_t m = 0; m < shown.memories->memories.size(); ++m) {
    costs.push_back(Column(shown.in_memories->residencies, [&](const Residency& r) {
      Residency there = r;
      if (r.memory != static_cast<int>(m)) {
        there.memory = static_cast<int>(m);
        there.offset = -1;  // No place in particular: where it was before and where it is pinned
                            // are others.
      }
      return OrNull(CostOf(*shown.memories, there));
    }));
  }
  return costs;
}

// Rows of the page for indices into the table; none for what is left out.
std::vector<std::optional<std::size_t>> RowsOf(const Shown& shown) {
  std::vector<std::optional<std::size_t>> rows(shown.memories->table.buffers.size());
  for (std::size_t row = 0; row < shown.in_memories->residencies.size(); ++row) {
    rows[shown.in_memories->residencies[row].tensor] = row;
  }
  return rows;
}

Json DisplacedOf(const Shown& shown) {
  if (!shown.priced()) return {};
  const auto found = FindDisplaced(*shown.memories, *shown.in_memories, kMostDisplaced);
  BERTH_CHECK(found.has_value());
  const auto rows = RowsOf(shown);
  Json list = Json::array();
  for (const Displaced& each : *found) {
    if (!each.memory) continue;  // Left out: it has no row.
    Json in_the_way = Json::array();
    for (const std::size_t b : each.in_the_way) {
      if (in_the_way.size() < kMostInTheWay && rows[b]) in_the_way.push_back(*rows[b]);
    }
    list.push_back({{"buffers", Column(each.buffers, [&](std::size_t b) { return *rows[b]; })},
                    {"cheaper", each.cheaper},
                    {"cost", each.cost},
                    {"least", each.least},
                    {"reason", std::string(ToString(each.reason))},
                    {"step", OrNull(each.step)},
                    {"free", each.free},
                    {"needed", each.needed},
                    {"offset", OrNull(each.offset)},
                    {"in_the_way", std::move(in_the_way)},
                    {"all_in_the_way", each.in_the_way.size()},
                    {"saved", OrNull(each.saved)}});
  }
  return list;
}

// Rows of id, size, start, end and what being left out costs; null: it must be placed.
Json LeftOutOf(const Shown& shown) {
  if (shown.memories == nullptr) return {};
  const auto rows = RowsOf(shown);
  Json list = Json::array();
  for (std::size_t b = 0; b < rows.size(); ++b) {
    if (rows[b]) continue;
    const Buffer& buffer = shown.memories->table.buffers[b];
    const bool placing = !shown.memories->placing.empty();
    list.push_back(Json{buffer.id, buffer.size, buffer.start, buffer.end,
                        OrNull(placing ? shown.memories->placing[b].cost_left_out : std::nullopt)});
  }
  return list;
}

// Copies from one memory to another: rows of their ends, the steps between which they are made, and with
// prefetch when.
Json CopiesJson(const Shown& shown) {
  if (shown.graph_memories == nullptr) return Json::array();
  std::vector<std::size_t> first(shown.graph->tensors.size(), 0);  // Row of each tensor.
  const auto& residencies = shown.plan->residencies;
  for (std::size_t row = residencies.size(); row-- > 0;) first[residencies[row].tensor] = row;
  const auto copies = CopiesOf(*shown.graph, *shown.graph_memories, *shown.plan);
  Json list = Json::array();
  for (std::size_t c = 0; c < copies.size(); ++c) {
    const MemoryCopy& copy = copies[c];
    std::size_t to = first[copy.tensor] + 1;
    while (residencies[to].start < copy.start) ++to;
    Json each = {{"from", to - 1},      {"to", to},
                 {"start", copy.start}, {"before", copy.before},
                 {"bytes", copy.bytes}, {"cost", copy.cost}};
    each["begins"] = shown.run != nullptr ? Json(shown.run->transfers[c].begin) : Json();
    each["ends"] = shown.run != nullptr ? Json(shown.run->transfers[c].end) : Json();
    list.push_back(std::move(each));
  }
  return list;
}

// When each operator runs, and where the time goes; null without prefetch.
Json RunJson(const Shown& shown) {
  if (shown.run == nullptr) return {};
  const TimedRun& run = *shown.run;
  return {{"time", run.time},
          {"computing", run.computing},
          {"accessing", run.accessing},
          {"stalled", run.stalled},
          {"begin", Column(run.operators, [](const auto& each) { return each.begin; })},
          {"end", Column(run.operators, [](const auto& each) { return each.end; })}};
}

Json ReliefOf(const Shown& shown, const Curve& curve) {
  return Column(FindRelief(shown.problem, curve, kMostRelief), [](const Relief& relief) {
    return Json{
        {"buffer", relief.buffer}, {"peak", relief.peak}, {"enough", OrNull(relief.enough)}};
  });
}

Json StacksOf(const std::optional<BufferStacks>& stacks) {
  if (!stacks) return {};
  return {{"frames", stacks->frames},
          {"stacks", stacks->stacks},
          {"of", Column(stacks->of, [](const std::optional<std::size_t>& stack) {
             return stack ? Json(*stack) : Json();
           })}};
}

Json HeldOf(const std::optional<HeldBytes>& held) {
  if (!held) return {};
  return {{"name", held->name},
          {"steps", Column(held->changes, [](const auto& change) { return change.first; })},
          {"bytes", Column(held->changes, [](const auto& change) { return change.second; })}};
}

Json PlanOf(const Shown& shown, Json head) {
  const Curve curve = CurveOf(shown.problem);
  Json json;
  json["head"] = std::move(head);
  json["buffers"] = BuffersOf(shown);
  json["graph"] = GraphOf(shown);
  json["stacks"] = nullptr;
  json["held"] = nullptr;
  json["curve"] = CurveJson(curve);
  // Addresses in different memories have nothing to do with each other.
  const Placement* const placement = shown.memories == nullptr ? shown.placement : nullptr;
  json["peak"] = PeakOf(FactsOfPeak(shown.problem, placement, curve));
  json["relief"] = shown.memories == nullptr ? ReliefOf(shown, curve) : Json::array();
  json["memories"] = LanesOf(shown);
  json["costs"] = CostsOf(shown);
  json["displaced"] = DisplacedOf(shown);
  json["left_out"] = LeftOutOf(shown);
  json["copies"] = CopiesJson(shown);
  json["run"] = RunJson(shown);
  return json;
}

Json ConflictOf(const std::optional<Conflict>& conflict) {
  if (!conflict || conflict->outcome != Outcome::kInfeasible) return {};
  return {{"buffers", conflict->buffers},
          {"minimal", conflict->minimal},
          {"step", conflict->step},
          {"load", conflict->load},
          {"capacity", OrNull(conflict->capacity)},
          {"pins_collide", conflict->pins_collide},
          {"short_by", conflict->short_by},
          {"works_with", OrNull(conflict->works_with)}};
}

// The page with `data` in it. In a script element only "<" could begin anything that is no data.
std::string PageWith(const Json& data, std::string_view title) {
  const std::string text = data.dump(-1, ' ', false, Json::error_handler_t::replace);
  const std::string_view page = PageResource();
  constexpr std::string_view kTitle = "@BERTH_TITLE@";
  constexpr std::string_view kData = "@BERTH_DATA@";
  const std::size_t title_at = page.find(kTitle);
  const std::size_t data_at = page.find(kData);
  BERTH_CHECK(title_at < data_at && data_at < page.size());
  std::string html(page.substr(0, title_at));
  html.reserve(page.size() + text.size() + title.size() + text.size() / 16);
  html += EscapeXml(Truncate(title, 200));
  html += page.substr(title_at + kTitle.size(), data_at - title_at - kTitle.size());
  for (const char c : text) {
    if (c == '<') {
      html += "\\u003c";
    } else {
      html += c;
    }
  }
  html += page.substr(data_at + kData.size());
  return html;
}

// What all pages begin with.
Json Heading(std::string_view kind, std::string_view command) {
  return {{"format", "berth-page"}, {"format_version", 2}, {"kind", kind}, {"command", command}};
}

// A tensor that is spilled and retrieved: from one of its residencies to the next. Rows of the two
// residencies, the bytes written and the bytes read.
Json SpillsOf(const Graph& graph, const MemoryPlan& plan) {
  Json spills = Json::array();
  for (std::size_t i = 1; i < plan.residencies.size(); ++i) {
    const Residency& before = plan.residencies[i - 1];
    // Where it is not retrieved, an operator makes it again.
    if (plan.residencies[i].tensor != before.tensor || !plan.residencies[i].comes_in) continue;
    const Bytes bytes = graph.tensors[before.tensor].bytes;
    spills.push_back(
        {{"from", i - 1}, {"to", i}, {"written", before.written_out ? bytes : 0}, {"read", bytes}});
  }
  return spills;
}

Json HeadOf(const PlanFile& plan) {
  const auto text = [](const std::string& value) { return value.empty() ? Json() : Json(value); };
  return {{"berth_version", text(plan.version)},
          {"input", {{"name", text(plan.input)}, {"hash", text(plan.input_hash)}}},
          {"file", plan.name},
          {"outcome", text(plan.outcome)},
          {"capacity", OrNull(plan.problem.capacity)},
          {"height", plan.placement.height},
          {"height_bound", OrNull(plan.height_bound)},
          {"order", plan.order.empty() ? Json() : Json(plan.order)}};
}

// Of a plan file for several memories: a lane for each. What buffers cost there, it does not say.
void AddMemories(const PlanFile& plan, Json& json) {
  if (plan.memories.empty()) return;
  json["buffers"]["memory"] = plan.memory_of;
  MemoryProblem problem;
  problem.table = plan.problem;
  problem.memories = plan.memories;
  MemoryPlan in_memories;
  in_memories.memories = plan.uses;
  for (std::size_t b = 0; b < plan.memory_of.size(); ++b) {
    const Buffer& buffer = plan.problem.buffers[b];
    Residency& r = in_memories.residencies.emplace_back();
    r.tensor = b;
    r.start = buffer.start;
    r.end = buffer.end;
    r.offset = plan.placement.offsets[b];
    r.memory = static_cast<int>(plan.memory_of[b]);
  }
  Shown shown{plan.problem, &plan.placement};
  shown.memories = &problem;
  shown.in_memories = &in_memories;
  json["memories"] = LanesOf(shown);
  for (Json& lane : json["memories"]) lane["cost"] = nullptr;
  json["head"]["cost"] = plan.cost.cost;
  json["head"]["cost_unit"] = plan.cost_unit;
  json["head"]["prefetch"] = plan.prefetch;
}

// The operators that run again: their names, the steps, and what these executions cost.
Json RepeatsJson(const Graph* graph, const MemoryPlan& plan) {
  if (graph == nullptr || plan.recomputed.operators == 0) return Json::array();
  return Column(OperatorsRunAgain(*graph, plan), [&](const RunsAgain& repeat) {
    return Json{{"operator", graph->operators[repeat.op].name},
                {"steps", repeat.steps},
                {"cost", repeat.cost}};
  });
}

Json BoundJson(const LoadBound& bound) {
  return {{"load", bound.load}, {"load_step", bound.load_step}};
}

}  // namespace
}  // namespace internal::report

using internal::report::Json;

std::string WritePage(const PlanSubject& subject, const PlanAnswer& answer,
                      const Provenance& provenance, const PageOptions& options) {
  using namespace internal::report;
  const Graph* const graph = subject.graph();
  const MemoryPlan none;
  const MemoryPlan& plan = answer.best ? *answer.best : none;
  const Problem problem = subject.Buffers(plan, answer.capacity);
  const PlanOptions& asked = provenance.options;
  const bool in_several = graph != nullptr && !asked.memories.memories.empty();
  const bool placed = answer.best && plan.addressed;
  const Placement placement = placed ? PlacementOf(plan) : Placement{};
  Shown shown{problem, placed ? &placement : nullptr, graph, &plan};
  TensorTable table;
  MemoryPlan of_table;
  std::optional<TimedRun> run;
  if (subject.memories() != nullptr && placed) {
    shown.memories = subject.memories();
    shown.in_memories = &plan;
  } else if (in_several && placed) {
    table = TableOf(*graph, asked.schedule.counting, asked.memories, plan);
    of_table = PlanOf(table, plan);
    shown.memories = &table.problem;
    shown.in_memories = &of_table;
    shown.graph_memories = &asked.memories;
    shown.spills = answer.spills;
    if (asked.memories.prefetch) run = RunOf(*graph, asked.memories, plan);
    shown.run = run ? &*run : nullptr;
  }
  Json data = Heading("plan", options.command);
  data["plans"] = Json::array({PlanOf(shown, internal::PlanHead(subject, answer, provenance))});
  data["plans"][0]["stacks"] = StacksOf(options.stacks);
  data["plans"][0]["held"] = HeldOf(options.held);
  data["verdict"] = options.verdict;
  data["conflict"] = ConflictOf(options.conflict);
  data["remedies"] = Column(options.remedies, [](const Remedy& remedy) {
    return Json{{"title", remedy.title},
                {"detail", remedy.detail},
                {"needs", OrNull(remedy.needs)},
                {"fits", remedy.fits},
                {"traffic", OrNull(remedy.traffic)},
                {"recompute_cost", OrNull(remedy.recompute_cost)},
                {"estimated", remedy.estimated},
                {"command", remedy.command.empty() ? Json() : Json(remedy.command)}};
  });
  data["notes"] = options.notes;
  data["spills"] = graph != nullptr ? SpillsOf(*graph, plan) : Json::array();
  data["repeats"] = RepeatsJson(graph, plan);
  data["diff"] = nullptr;
  return PageWith(data, provenance.input + ": memory plan");
}

std::string WritePage(const PlanFile& before, const PlanFile& after, const PlanDiff& diff) {
  using internal::report::Column;
  Json data = internal::report::Heading("diff", "diff");
  data["plans"] = Json::array();
  for (const PlanFile* plan : {&before, &after}) {
    data["plans"].push_back(internal::report::PlanOf(
        {plan->problem, &plan->placement, nullptr, nullptr}, internal::report::HeadOf(*plan)));
    internal::report::AddMemories(*plan, data["plans"].back());
  }
  data["verdict"] = "";
  data["conflict"] = nullptr;
  data["remedies"] = Json::array();
  data["notes"] = Json::array();
  data["spills"] = Json::array();
  data["diff"] = {
      {"changed", Column(diff.changed,
                         [](const BufferChange& change) {
                           return Json{change.before, change.after, change.resized ? 1 : 0,
                                       change.moved ? 1 : 0, change.retimed ? 1 : 0};
                         })},
      {"added", diff.added},
      {"removed", diff.removed},
      {"unchanged", diff.unchanged},
      {"before", internal::report::BoundJson(diff.before)},
      {"after", internal::report::BoundJson(diff.after)},
      {"traffic", {{"before", before.traffic.avoidable()}, {"after", after.traffic.avoidable()}}},
      {"unsized", {{"before", before.unsized}, {"after", after.unsized}}},
      {"same_order", diff.same_order}};
  return internal::report::PageWith(data, before.name + " and " + after.name + ": plans compared");
}

std::string WritePage(const std::vector<MemoryPoint>& points, const MemorySweepPage& page,
                      const std::vector<std::pair<std::string, std::string>>& provenance) {
  using internal::report::Column;
  using internal::report::OrNull;
  Json data = internal::report::Heading("sweep", "sweep");
  data["provenance"] = Column(provenance, [](const auto& line) {
    return Json::array({line.first, line.second});
  });
  const auto column = [&](auto of) { return Column(points, of); };
  const auto no_bytes = column([](const MemoryPoint&) { return 0; });
  Json number = Json::array();
  for (std::size_t i = 0; i < points.size(); ++i) number.push_back(i);
  // The columns of any sweep: what is least here is the cost.
  data["curves"] = Json::array();
  data["curves"].push_back(
      {{"model", page.model},
       {"input", page.input},
       {"least", nullptr},
       {"least_peak", nullptr},
       {"least_operator", ""},
       {"fixed_order", page.fixed_order},
       {"number", std::move(number)},
       {"capacity", column([](const MemoryPoint& p) { return p.capacity; })},
       {"outcome", column([](const MemoryPoint& p) { return std::string(ToString(p.outcome)); })},
       {"avoidable", column([](const MemoryPoint& p) {
          return p.cost.unplaced == 0 ? Json(p.cost.cost) : Json();
        })},
       {"spilled", no_bytes},
       {"retrieved", no_bytes},
       {"traffic_bound", column([](const MemoryPoint& p) {
          return p.cost_bound.unplaced == 0 ? p.cost_bound.cost : 0;
        })},
       {"traffic_by_sum", no_bytes},
       {"heights", column([](const MemoryPoint& p) {
          return Column(p.uses, [](const MemoryUse& use) { return use.height; });
        })},
       {"copies", column([](const MemoryPoint& p) { return p.copies; })},
       {"seconds", column([](const MemoryPoint& p) { return p.seconds; })}});
  data["quantity"] = {
      {"kind", "memories"},
      {"unit", page.cost_unit},
      {"memory", page.memory},
      {"memories", Column(page.memories, [](const Memory& memory) { return memory.name; })},
      {"may_move", page.may_move},
      {"prefetch", page.prefetch}};
  return internal::report::PageWith(data,
                                    page.model + ": cost against the capacity of " + page.memory);
}

namespace internal::report {
namespace {

// The columns of a curve with recomputation; null for others.
Json CostsOf(const SweepCurve& curve) {
  if (!curve.run) return {};
  const auto column = [&](auto of) {
    return Column(curve.points,
                  [&](const SweepPoint& point) { return of(point.cost.value_or(SweepCost())); });
  };
  return {{"run", curve.run->cost},
          {"unit", curve.run->unit},
          {"operators", column([](const SweepCost& cost) { return cost.operators; })},
          {"recomputed", column([](const SweepCost& cost) { return cost.recomputed; })},
          {"copies", column([](const SweepCost& cost) { return cost.copies; })},
          {"bound", column([](const SweepCost& cost) { return cost.bound; })}};
}

}  // namespace
}  // namespace internal::report

std::string WritePage(const std::vector<SweepCurve>& curves,
                      const std::vector<std::pair<std::string, std::string>>& provenance) {
  using internal::report::Column;
  using internal::report::OrNull;
  Json data = internal::report::Heading("sweep", "sweep");
  data["provenance"] = Column(provenance, [](const auto& line) {
    return Json::array({line.first, line.second});
  });
  data["curves"] = Column(curves, [](const SweepCurve& curve) {
    const auto column = [&](auto of) { return Column(curve.points, of); };
    return Json{
        {"model", curve.model},
        {"input", curve.input},
        {"least", OrNull(curve.least)},
        {"least_peak", OrNull(curve.least_peak)},
        {"least_operator", curve.least_operator},
        {"fixed_order", curve.fixed_order},
        {"costs", internal::report::CostsOf(curve)},
        {"number", column([](const SweepPoint& p) { return p.number; })},
        {"capacity", column([](const SweepPoint& p) { return p.capacity; })},
        {"outcome", column([](const SweepPoint& p) { return std::string(ToString(p.outcome)); })},
        {"avoidable", column([](const SweepPoint& p) { return OrNull(p.avoidable); })},
        {"spilled", column([](const SweepPoint& p) { return p.spilled; })},
        {"retrieved", column([](const SweepPoint& p) { return p.retrieved; })},
        {"traffic_bound", column([](const SweepPoint& p) { return p.traffic_bound; })},
        {"traffic_by_sum", column([](const SweepPoint& p) { return p.traffic_by_sum; })},
        {"seconds", column([](const SweepPoint& p) { return p.seconds; })}};
  });
  const bool costs = !curves.empty() && curves.front().run.has_value();
  for (const SweepCurve& curve : curves) BERTH_CHECK(curve.run.has_value() == costs);
  data["quantity"] = costs ? Json{{"kind", "recomputation"}} : Json();  // Or traffic.
  const std::string title =
      curves.size() == 1 ? curves.front().model : std::to_string(curves.size()) + " models";
  const std::string what = costs ? "cost of recomputation" : "traffic";
  return internal::report::PageWith(data, title + ": " + what + " against memory");
}

}  // namespace berth
