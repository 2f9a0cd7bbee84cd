// The data of a page, as src/report/app/src/data.ts reads them, put into the page that it builds.
//
// Of what there may be a hundred thousand (buffers, tensors, operators) the page holds columns, not
// objects: half the bytes, and what draws them wants arrays. They are written as text at once, as a page
// that follows a slider needs its data many times a second. Numbers beyond 2^53, which JavaScript would
// round, stay digits: the page reads them as text.

#include "berth/page.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <optional>
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
#include "report/json_text.h"
#include "report/resource.h"
#include "report/text.h"

namespace berth {
namespace internal::report {
namespace {

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
  bool from_file = false;  // A plan's file does not say what buffers would cost elsewhere.
  const PageOptions* options = nullptr;

  [[nodiscard]] bool priced() const { return memories != nullptr && !spills && !from_file; }
};

constexpr std::array<int, 0> kNone = {};  // An empty list.

JsonText BuffersOf(const Shown& shown) {
  const auto& buffers = shown.problem.buffers;
  std::vector<std::size_t> all(buffers.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  // What few buffers have: pairs of a buffer and its value.
  const auto few = [&](auto has, auto of) {
    std::vector<std::size_t> those;
    std::copy_if(all.begin(), all.end(), std::back_inserter(those),
                 [&](std::size_t b) { return has(buffers[b]); });
    return Column(those, [&](std::size_t b) { return Row(b, of(buffers[b])); });
  };
  std::vector<JsonText> gaps;
  for (const std::size_t b : all) {
    for (const Gap& gap : buffers[b].gaps) {
      const Window window = gap.window.value_or(Window{});
      gaps.push_back(Row(b, gap.start, gap.end, window.lower, window.upper));
    }
  }
  JsonObject json;
  json.Add("id", Column(
                     buffers, [](const Buffer& b) -> const auto& { return b.id; }));
  json.Add("start", Column(buffers, [](const Buffer& b) { return b.start; }));
  json.Add("end", Column(buffers, [](const Buffer& b) { return b.end; }));
  json.Add("size", Column(buffers, [](const Buffer& b) { return b.size; }));
  json.Add("offset", shown.placement ? JsonText(shown.placement->offsets) : JsonText());
  json.Add("tensor", shown.graph
                         ? Column(shown.plan->residencies,
                                  [](const Residency& residency) { return residency.tensor; })
                         : JsonText());
  json.Add("memory", shown.memories ? Column(shown.in_memories->residencies,
                                             [](const Residency& r) { return r.memory; })
                                    : JsonText());
  json.Add("alignment", few([](const Buffer& b) { return b.alignment != 1; },
                            [](const Buffer& b) { return b.alignment; }));
  json.Add("pinned", few([](const Buffer& b) { return b.offset.has_value(); },
                         [](const Buffer& b) { return b.offset; }));
  json.Add("hint", few([](const Buffer& b) { return b.hint.has_value(); },
                       [](const Buffer& b) { return b.hint; }));
  json.Add("gaps", gaps);
  return json;
}

JsonText GraphOf(const Shown& shown) {
  if (shown.graph == nullptr) return {};
  const Graph& graph = *shown.graph;
  const auto& tensors = graph.tensors;
  JsonObject columns;
  columns.Add("name", Column(
                          tensors, [](const Tensor& t) -> const auto& { return t.name; }));
  columns.Add("bytes", Column(tensors, [](const Tensor& t) { return t.bytes; }));
  columns.Add("kind", Column(tensors, [](const Tensor& t) { return ToString(t.kind); }));
  columns.Add("shape", Column(
                           tensors, [](const Tensor& t) -> const auto& { return t.shape; }));
  columns.Add("dtype", Column(
                           tensors, [](const Tensor& t) -> const auto& { return t.dtype; }));
  columns.Add("base", Column(tensors, [](const Tensor& t) { return t.alias_of; }));
  columns.Add("output", Column(tensors, [](const Tensor& t) { return t.output ? 1 : 0; }));
  columns.Add("unplanned",
              Column(
                  tensors, [](const Tensor& t) -> const auto& { return t.unplanned; }));
  // In the order in which they run: the step is the position.
  const auto op = [&](auto member) {
    return Column(
        shown.plan->order, [&](OperatorIndex v) -> const auto& {
          return graph.operators[v].*member;
        });
  };
  JsonObject operators;
  operators.Add("program", shown.plan->order);
  operators.Add("name", op(&Operator::name));
  operators.Add("type", op(&Operator::type));
  operators.Add("inputs", op(&Operator::inputs));
  operators.Add("outputs", op(&Operator::outputs));
  operators.Add("mutates", op(&Operator::mutates));
  return JsonObject{{"name", graph.name}, {"tensors", columns}, {"operators", operators}};
}

JsonText PeakOf(const PeakFacts& peak) {
  return JsonObject{{"start", peak.start},
                    {"end", peak.end},
                    {"load", peak.load},
                    {"live", Column(peak.live,
                                    [](const Piece& piece) {
                                      const auto [lower, upper] = piece.window;
                                      return Row(piece.buffer, upper - lower);
                                    })},
                    {"holes", Column(peak.holes,
                                     [](const Hole& hole) {
                                       return JsonObject{{"lower", hole.lower},
                                                         {"upper", hole.upper},
                                                         {"padding", hole.padding},
                                                         {"above", hole.above}};
                                     })},
                    {"padding", peak.padding},
                    {"fragmentation", peak.fragmentation}};
}

JsonText CurveJson(const Curve& curve) {
  return JsonObject{{"steps", curve.steps}, {"live", curve.live}};
}

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

JsonText ReservedOf(const Memory& memory) {
  return Column(memory.reserved, [](const Reserved& r) {
    return Row(r.lower, r.upper, r.start == -kMaxStep ? JsonText() : JsonText(r.start),
               r.end == kMaxStep ? JsonText() : JsonText(r.end));
  });
}

JsonText LanesOf(const Shown& shown) {
  if (shown.memories == nullptr) return {};
  std::vector<JsonText> lanes;
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
    const bool costs = !shown.spills && !shown.from_file;
    lanes.push_back(JsonObject{{"name", memory.name},
                               {"capacity", memory.capacity},
                               {"height", lane.placement.height},
                               {"cost", costs ? JsonText(cost) : JsonText()},
                               {"reserved", ReservedOf(memory)},
                               {"curve", CurveJson(lane.curve)},
                               {"peak", PeakOf(peak)}});
  }
  return lanes;
}

// What each buffer costs in each memory; null where it may not be.
JsonText CostsOf(const Shown& shown) {
  if (!shown.priced()) return {};
  std::vector<JsonText> costs;
  for (std::size_t m = 0; m < shown.memories->memories.size(); ++m) {
    costs.push_back(Column(shown.in_memories->residencies, [&](const Residency& r) {
      Residency there = r;
      if (r.memory != static_cast<int>(m)) {
        there.memory = static_cast<int>(m);
        there.offset = -1;  // No place in particular: where it was before and where it is pinned
                            // are others.
      }
      return CostOf(*shown.memories, there);
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

JsonText DisplacedOf(const Shown& shown) {
  if (!shown.priced()) return {};
  const auto found = FindDisplaced(*shown.memories, *shown.in_memories, kMostDisplaced);
  BERTH_CHECK(found.has_value());
  const auto rows = RowsOf(shown);
  std::vector<JsonText> list;
  for (const Displaced& each : *found) {
    if (!each.memory) continue;  // Left out: it has no row.
    std::vector<std::size_t> in_the_way;
    for (const std::size_t b : each.in_the_way) {
      if (in_the_way.size() < kMostInTheWay && rows[b]) in_the_way.push_back(*rows[b]);
    }
    list.push_back(
        JsonObject{{"buffers", Column(each.buffers, [&](std::size_t b) { return *rows[b]; })},
                   {"cheaper", each.cheaper},
                   {"cost", each.cost},
                   {"least", each.least},
                   {"reason", ToString(each.reason)},
                   {"step", each.step},
                   {"free", each.free},
                   {"needed", each.needed},
                   {"offset", each.offset},
                   {"in_the_way", in_the_way},
                   {"all_in_the_way", each.in_the_way.size()},
                   {"saved", each.saved}});
  }
  return list;
}

// Rows of id, size, start, end and what being left out costs; null: it must be placed.
JsonText LeftOutOf(const Shown& shown) {
  if (shown.memories == nullptr) return {};
  const auto rows = RowsOf(shown);
  std::vector<JsonText> list;
  for (std::size_t b = 0; b < rows.size(); ++b) {
    if (rows[b]) continue;
    const Buffer& buffer = shown.memories->table.buffers[b];
    const auto& placing = shown.memories->placing;
    list.push_back(Row(buffer.id, buffer.size, buffer.start, buffer.end,
                       placing.empty() ? std::nullopt : placing[b].cost_left_out));
  }
  return list;
}

// Copies from one memory to another: rows of their ends, the steps between which they are made, and with
// prefetch when.
JsonText CopiesJson(const Shown& shown) {
  if (shown.graph_memories == nullptr) return kNone;
  std::vector<std::size_t> first(shown.graph->tensors.size(), 0);  // Row of each tensor.
  const auto& residencies = shown.plan->residencies;
  for (std::size_t row = residencies.size(); row-- > 0;) first[residencies[row].tensor] = row;
  const auto copies = CopiesOf(*shown.graph, *shown.graph_memories, *shown.plan);
  std::vector<JsonText> list;
  for (std::size_t c = 0; c < copies.size(); ++c) {
    const MemoryCopy& copy = copies[c];
    std::size_t to = first[copy.tensor] + 1;
    while (residencies[to].start < copy.start) ++to;
    const auto when = [&](auto end) {
      return shown.run != nullptr ? JsonText(shown.run->transfers[c].*end) : JsonText();
    };
    list.push_back(JsonObject{{"from", to - 1},
                              {"to", to},
                              {"start", copy.start},
                              {"before", copy.before},
                              {"bytes", copy.bytes},
                              {"cost", copy.cost},
                              {"begins", when(&TimedRun::Interval::begin)},
                              {"ends", when(&TimedRun::Interval::end)}});
  }
  return list;
}

// When each operator runs, and where the time goes; null without prefetch.
JsonText RunJson(const Shown& shown) {
  if (shown.run == nullptr) return {};
  const TimedRun& run = *shown.run;
  return JsonObject{{"time", run.time},
                    {"computing", run.computing},
                    {"accessing", run.accessing},
                    {"stalled", run.stalled},
                    {"begin", Column(run.operators, [](const auto& each) { return each.begin; })},
                    {"end", Column(run.operators, [](const auto& each) { return each.end; })}};
}

JsonText ReliefOf(const Shown& shown, const Curve& curve) {
  return Column(FindRelief(shown.problem, curve, kMostRelief), [](const Relief& relief) {
    return JsonObject{{"buffer", relief.buffer}, {"peak", relief.peak}, {"enough", relief.enough}};
  });
}

JsonText StacksOf(const PageOptions* options) {
  if (options == nullptr || !options->stacks) return {};
  const BufferStacks& stacks = *options->stacks;
  return JsonObject{{"frames", stacks.frames}, {"stacks", stacks.stacks}, {"of", stacks.of}};
}

JsonText HeldOf(const PageOptions* options) {
  if (options == nullptr || !options->held) return {};
  const auto& [name, changes] = *options->held;
  return JsonObject{{"name", name},
                    {"steps", Column(changes, [](const auto& change) { return change.first; })},
                    {"bytes", Column(changes, [](const auto& change) { return change.second; })}};
}

JsonText PlanOf(const Shown& shown, const JsonText& head) {
  const Curve curve = CurveOf(shown.problem);
  // Addresses in different memories have nothing to do with each other.
  const bool one = shown.memories == nullptr;
  const PeakFacts peak = FactsOfPeak(shown.problem, one ? shown.placement : nullptr, curve);
  JsonObject json;
  json.Add("head", head);
  json.Add("buffers", BuffersOf(shown));
  json.Add("graph", GraphOf(shown));
  json.Add("stacks", StacksOf(shown.options));
  json.Add("held", HeldOf(shown.options));
  json.Add("curve", CurveJson(curve));
  json.Add("peak", PeakOf(peak));
  json.Add("relief", one ? ReliefOf(shown, curve) : kNone);
  json.Add("memories", LanesOf(shown));
  json.Add("costs", CostsOf(shown));
  json.Add("displaced", DisplacedOf(shown));
  json.Add("left_out", LeftOutOf(shown));
  json.Add("copies", CopiesJson(shown));
  json.Add("run", RunJson(shown));
  return json;
}

JsonText ConflictOf(const std::optional<Conflict>& conflict) {
  if (!conflict || conflict->outcome != Outcome::kInfeasible) return {};
  return JsonObject{{"buffers", conflict->buffers},   {"minimal", conflict->minimal},
                    {"step", conflict->step},         {"load", conflict->load},
                    {"capacity", conflict->capacity}, {"pins_collide", conflict->pins_collide},
                    {"short_by", conflict->short_by}, {"works_with", conflict->works_with}};
}

// The page with `data` in it. In a script element only "<" could begin anything that is no data.
std::string PageWith(const JsonObject& data, std::string_view title) {
  const std::string text = JsonText(data).text();
  const std::string_view page = PageResource();
  constexpr std::string_view kTitle = "@BERTH_TITLE@";
  constexpr std::string_view kData = "@BERTH_DATA@";
  const std::size_t title_at = page.find(kTitle);
  const std::size_t data_at = page.find(kData);
  BERTH_CHECK(title_at < data_at && data_at < page.size());
  std::string html(page.substr(0, title_at));
  html.reserve(page.size() + text.size() + title.size());
  html += EscapeXml(Truncate(title, 200));
  html += page.substr(title_at + kTitle.size(), data_at - title_at - kTitle.size());
  html += text;
  html += page.substr(data_at + kData.size());
  return html;
}

// What all pages begin with.
JsonObject Heading(std::string_view kind, std::string_view command) {
  return {{"format", "berth-page"}, {"format_version", 2}, {"kind", kind}, {"command", command}};
}

// A tensor that is spilled and retrieved: from one of its residencies to the next. Rows of the two
// residencies, the bytes written and the bytes read.
JsonText SpillsOf(const Graph* graph, const MemoryPlan& plan) {
  std::vector<JsonText> spills;
  for (std::size_t i = 1; graph != nullptr && i < plan.residencies.size(); ++i) {
    const Residency& before = plan.residencies[i - 1];
    // Where it is not retrieved, an operator makes it again.
    if (plan.residencies[i].tensor != before.tensor || !plan.residencies[i].comes_in) continue;
    const Bytes bytes = graph->tensors[before.tensor].bytes;
    spills.push_back(JsonObject{
        {"from", i - 1}, {"to", i}, {"written", before.written_out ? bytes : 0}, {"read", bytes}});
  }
  return spills;
}

JsonText NullIfEmpty(const std::string& text) { return text.empty() ? JsonText() : JsonText(text); }

JsonText HeadOf(const PlanFile& plan) {
  JsonObject head{{"berth_version", NullIfEmpty(plan.version)},
                  {"input", JsonObject{{"name", NullIfEmpty(plan.input)},
                                       {"hash", NullIfEmpty(plan.input_hash)}}},
                  {"file", plan.name},
                  {"outcome", NullIfEmpty(plan.outcome)},
                  {"capacity", plan.problem.capacity},
                  {"height", plan.placement.height},
                  {"height_bound", plan.height_bound},
                  {"order", plan.order.empty() ? JsonText() : JsonText(plan.order)}};
  if (!plan.memories.empty()) {
    head.Add("cost", plan.cost.cost);
    head.Add("cost_unit", plan.cost_unit);
    head.Add("prefetch", plan.prefetch);
  }
  return head;
}

// A plan file, for several memories with a lane for each. It does not say what buffers cost there.
JsonText PlanOf(const PlanFile& plan) {
  Shown shown{plan.problem, &plan.placement};
  MemoryProblem problem;
  MemoryPlan in_memories;
  if (!plan.memories.empty()) {
    problem.table = plan.problem;
    problem.memories = plan.memories;
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
    shown.memories = &problem;
    shown.in_memories = &in_memories;
    shown.from_file = true;
  }
  return PlanOf(shown, HeadOf(plan));
}

// The operators that run again: their names, the steps, and what these executions cost.
JsonText RepeatsJson(const Graph* graph, const MemoryPlan& plan) {
  if (graph == nullptr || plan.recomputed.operators == 0) return kNone;
  return Column(OperatorsRunAgain(*graph, plan), [&](const RunsAgain& repeat) {
    return JsonObject{{"operator", graph->operators[repeat.op].name},
                      {"steps", repeat.steps},
                      {"cost", repeat.cost}};
  });
}

JsonText RemedyJson(const Remedy& remedy) {
  return JsonObject{{"title", remedy.title},
                    {"detail", remedy.detail},
                    {"needs", remedy.needs},
                    {"fits", remedy.fits},
                    {"traffic", remedy.traffic},
                    {"recompute_cost", remedy.recompute_cost},
                    {"estimated", remedy.estimated},
                    {"enlarges", remedy.enlarges()},
                    {"command", NullIfEmpty(remedy.command)}};
}

JsonText BoundJson(const LoadBound& bound) {
  return JsonObject{{"load", bound.load}, {"load_step", bound.load_step}};
}

// The columns of a curve with recomputation; null for others.
JsonText CostsOf(const SweepCurve& curve) {
  if (!curve.run) return {};
  const auto column = [&](auto of) {
    return Column(curve.points,
                  [&](const SweepPoint& point) { return of(point.cost.value_or(SweepCost())); });
  };
  return JsonObject{{"run", curve.run->cost},
                    {"unit", curve.run->unit},
                    {"operators", column([](const SweepCost& cost) { return cost.operators; })},
                    {"recomputed", column([](const SweepCost& cost) { return cost.recomputed; })},
                    {"copies", column([](const SweepCost& cost) { return cost.copies; })},
                    {"bound", column([](const SweepCost& cost) { return cost.bound; })}};
}

JsonText ProvenanceJson(const std::vector<std::pair<std::string, std::string>>& provenance) {
  return Column(provenance, [](const auto& line) { return Row(line.first, line.second); });
}

}  // namespace
}  // namespace internal::report

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
  shown.options = &options;
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
  JsonObject data = Heading("plan", options.command);
  data.Add("plans", Row(PlanOf(shown, internal::PlanHead(subject, answer, provenance))));
  data.Add("verdict", options.verdict);
  data.Add("conflict", ConflictOf(options.conflict));
  data.Add("remedies", Column(options.remedies, RemedyJson));
  data.Add("notes", options.notes);
  data.Add("spills", SpillsOf(graph, plan));
  data.Add("repeats", RepeatsJson(graph, plan));
  data.Add("diff", nullptr);
  return PageWith(data, provenance.input + ": memory plan");
}

std::string WritePage(const PlanFile& before, const PlanFile& after, const PlanDiff& diff) {
  using namespace internal::report;
  const auto change_row = [](const BufferChange& change) {
    return Row(change.before, change.after, change.resized ? 1 : 0, change.moved ? 1 : 0,
               change.retimed ? 1 : 0);
  };
  const auto both = [](const auto& of_before, const auto& of_after) {
    return JsonObject{{"before", of_before}, {"after", of_after}};
  };
  JsonObject data = Heading("diff", "diff");
  data.Add("plans", Row(PlanOf(before), PlanOf(after)));
  data.Add("verdict", "");
  data.Add("conflict", nullptr);
  data.Add("remedies", kNone);
  data.Add("notes", kNone);
  data.Add("spills", kNone);
  data.Add("diff",
           JsonObject{{"changed", Column(diff.changed, change_row)},
                      {"added", diff.added},
                      {"removed", diff.removed},
                      {"unchanged", diff.unchanged},
                      {"before", BoundJson(diff.before)},
                      {"after", BoundJson(diff.after)},
                      {"traffic", both(before.traffic.avoidable(), after.traffic.avoidable())},
                      {"unsized", both(before.unsized, after.unsized)},
                      {"same_order", diff.same_order}});
  return PageWith(data, before.name + " and " + after.name + ": plans compared");
}

std::string WritePage(const std::vector<MemoryPoint>& points, const MemorySweepPage& page,
                      const std::vector<std::pair<std::string, std::string>>& provenance) {
  using namespace internal::report;
  const auto column = [&](auto of) { return Column(points, of); };
  const JsonText no_bytes = column([](const MemoryPoint&) { return 0; });
  std::vector<std::size_t> number(points.size());
  std::iota(number.begin(), number.end(), std::size_t{0});
  // The columns of any sweep: what is least here is the cost.
  const JsonObject curve = {
      {"model", page.model},
      {"input", page.input},
      {"least", nullptr},
      {"least_peak", nullptr},
      {"least_operator", ""},
      {"fixed_order", page.fixed_order},
      {"number", number},
      {"capacity", column([](const MemoryPoint& p) { return p.capacity; })},
      {"outcome", column([](const MemoryPoint& p) { return ToString(p.outcome); })},
      {"avoidable", column([](const MemoryPoint& p) {
         return p.cost.unplaced == 0 ? JsonText(p.cost.cost) : JsonText();
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
      {"seconds", column([](const MemoryPoint& p) { return p.seconds; })}};
  const auto names = Column(page.memories, [](const Memory& memory) { return memory.name; });
  JsonObject data = Heading("sweep", "sweep");
  data.Add("provenance", ProvenanceJson(provenance));
  data.Add("curves", Row(curve));
  data.Add("quantity", JsonObject{{"kind", "memories"},
                                  {"unit", page.cost_unit},
                                  {"memory", page.memory},
                                  {"memories", names},
                                  {"may_move", page.may_move},
                                  {"prefetch", page.prefetch}});
  return PageWith(data, page.model + ": cost against the capacity of " + page.memory);
}

std::string WritePage(const std::vector<SweepCurve>& curves,
                      const std::vector<std::pair<std::string, std::string>>& provenance) {
  using namespace internal::report;
  const auto curve_json = [](const SweepCurve& curve) {
    const auto column = [&](auto of) { return Column(curve.points, of); };
    return JsonObject{
        {"model", curve.model},
        {"input", curve.input},
        {"least", curve.least},
        {"least_peak", curve.least_peak},
        {"least_operator", curve.least_operator},
        {"fixed_order", curve.fixed_order},
        {"costs", CostsOf(curve)},
        {"number", column([](const SweepPoint& p) { return p.number; })},
        {"capacity", column([](const SweepPoint& p) { return p.capacity; })},
        {"outcome", column([](const SweepPoint& p) { return ToString(p.outcome); })},
        {"avoidable", column([](const SweepPoint& p) { return p.avoidable; })},
        {"spilled", column([](const SweepPoint& p) { return p.spilled; })},
        {"retrieved", column([](const SweepPoint& p) { return p.retrieved; })},
        {"traffic_bound", column([](const SweepPoint& p) { return p.traffic_bound; })},
        {"traffic_by_sum", column([](const SweepPoint& p) { return p.traffic_by_sum; })},
        {"seconds", column([](const SweepPoint& p) { return p.seconds; })}};
  };
  const bool costs = !curves.empty() && curves.front().run.has_value();
  for (const SweepCurve& curve : curves) BERTH_CHECK(curve.run.has_value() == costs);
  JsonObject data = Heading("sweep", "sweep");
  data.Add("provenance", ProvenanceJson(provenance));
  data.Add("curves", Column(curves, curve_json));
  // Or traffic.
  data.Add("quantity", costs ? JsonText(JsonObject{{"kind", "recomputation"}}) : JsonText());
  const std::string title =
      curves.size() == 1 ? curves.front().model : std::to_string(curves.size()) + " models";
  const std::string what = costs ? "cost of recomputation" : "traffic";
  return PageWith(data, title + ": " + what + " against memory");
}

}  // namespace berth
