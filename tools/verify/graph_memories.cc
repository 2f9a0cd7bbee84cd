// The plan of a graph in several memories: a run of it, and a table of its residencies.
#include "tools/verify/graph_memories.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "berth/memories.h"
#include "tools/verify/memories.h"
#include "tools/verify/touches.h"
#include "tools/verify/verify.h"

namespace berth::verify {
namespace {

// What one operator reads and writes of its bases, as berth/graph_memories.h defines it: one access
// each.
std::vector<std::pair<TensorIndex, Placing>> UsesBy(const Graph& graph, const Operator& op) {
  std::vector<std::pair<TensorIndex, Placing>> uses;
  const auto add = [&](TensorIndex base, Bytes read, Bytes written) {
    Placing& use = uses.emplace_back(base, Placing{}).second;
    use.bytes_read = read;
    use.bytes_written = written;
    use.accesses = 1;
  };
  const bool views = std::all_of(op.outputs.begin(), op.outputs.end(), [&](TensorIndex t) {
    return graph.tensors[t].alias_of.has_value();
  });
  if (views && !op.outputs.empty() && op.mutates.empty()) return uses;
  for (const TensorIndex t : std::set<TensorIndex>(op.inputs.begin(), op.inputs.end())) {
    add(BaseIn(graph, t), graph.tensors[t].bytes, 0);
  }
  for (const TensorIndex t : op.outputs) {
    if (!graph.tensors[t].alias_of) add(t, 0, graph.tensors[t].bytes);
  }
  for (const TensorIndex base : op.mutates) {
    Bytes made = 0;
    for (const TensorIndex t : op.outputs) {
      if (graph.tensors[t].alias_of == base) made += graph.tensors[t].bytes;
    }
    const Bytes all = graph.tensors[base].bytes;
    add(base, 0, made > 0 && made < all ? made : all);
  }
  return uses;
}

void AddUse(const Placing& use, Placing& sum) {
  sum.bytes_read += use.bytes_read;
  sum.bytes_written += use.bytes_written;
  sum.accesses += use.accesses;
}

// The steps at which the operators of the plan use a tensor.
std::vector<Step> UseSteps(const Graph& graph, const MemoryPlan& plan, TensorIndex t) {
  std::vector<Step> steps;
  for (std::size_t s = 0; s < plan.order.size(); ++s) {
    if (plan.order[s] >= graph.operators.size()) continue;
    for (const auto& [base, use] : UsesBy(graph, graph.operators[plan.order[s]])) {
      if (base != t) continue;
      steps.push_back(static_cast<Step>(s));
      break;
    }
  }
  return steps;
}

// Which residencies begin with a copy. Of the one before them, in another memory: as that one ends, or with
// prefetch earlier. Or, of what stays, of the first one of their tensor, which is longer: with prefetch such a
// copy has time until it is used. The steps of the plan need not be good.
Copies Copied(const Graph& graph, const GraphMemories& memories, const MemoryPlan& plan) {
  Copies copied(plan.residencies.size());
  std::size_t home = 0;
  std::vector<Step> uses;  // Of the tensor of `home`, if some residency is a copy of that.
  for (std::size_t i = 1; i < copied.size(); ++i) {
    const Residency& from = plan.residencies[i - 1];
    const Residency& to = plan.residencies[i];
    if (from.tensor != to.tensor) {
      home = i;
      uses.clear();
      continue;
    }
    const Residency& whole = plan.residencies[home];
    if (whole.memory != to.memory && whole.start < to.start && to.end <= whole.end) {
      if (uses.empty()) uses = UseSteps(graph, plan, to.tensor);
      const auto use = std::lower_bound(uses.begin(), uses.end(), to.start);
      const bool used = use != uses.end() && *use < to.end;
      copied[i] = CopiedFrom{home, memories.prefetch && used ? *use : to.start, true};
      continue;
    }
    const bool early =
        memories.prefetch && from.start < to.start && to.start < from.end && from.end < to.end;
    if (from.memory != to.memory && (from.end == to.start || early)) {
      copied[i] = CopiedFrom{i - 1, from.end, false};
    }
  }
  return copied;
}

// What each residency of the plan, whose steps must be good, is accessed for. A tensor that is not
// copied costs once, however often it comes.
std::vector<Placing> UsesOfResidencies(const Graph& graph, const MemoryPlan& plan,
                                       const Copies& copied) {
  std::vector<Placing> uses(plan.residencies.size());
  std::vector<std::vector<std::size_t>> of(graph.tensors.size());
  std::set<TensorIndex> moved;
  for (std::size_t i = 0; i < uses.size(); ++i) {
    const TensorIndex t = plan.residencies[i].tensor;
    of[t].push_back(i);
    if (!copied[i]) continue;
    moved.insert(t);
    AddUse({{}, graph.tensors[t].bytes, 0, 1, {}, {}}, uses[copied[i]->source]);
    AddUse({{}, 0, graph.tensors[t].bytes, 1, {}, {}}, uses[i]);
  }
  for (std::size_t s = 0; s < plan.order.size(); ++s) {
    if (plan.order[s] >= graph.operators.size()) continue;
    for (const auto& [base, use] : UsesBy(graph, graph.operators[plan.order[s]])) {
      // What is not copied counts in its first one, a copy where it is there beside the original.
      const auto step = static_cast<Step>(s);
      std::optional<std::size_t> in;
      for (const std::size_t i : of[base]) {
        const Residency& r = plan.residencies[i];
        if (moved.contains(base) ? r.start <= step && step < r.end : !in) in = i;
      }
      if (in) AddUse(use, uses[*in]);
    }
  }
  return uses;
}

// About what these accesses cost.
double AboutCost(const Placing& use, const Memory& memory) {
  const auto product = [](std::int64_t count, const Rate& rate) {
    return static_cast<double>(count) * static_cast<double>(rate.cost) /
           static_cast<double>(rate.bytes);
  };
  return product(use.bytes_read, memory.read) + product(use.bytes_written, memory.write) +
         static_cast<double>(use.accesses) * static_cast<double>(memory.access);
}

// A name for each residency.
std::string NameOf(const Graph& graph, const MemoryPlan& plan, std::size_t i,
                   const std::set<std::string>& taken) {
  const Residency& r = plan.residencies[i];
  std::string name = graph.tensors[r.tensor].name;
  if (i == 0 || plan.residencies[i - 1].tensor != r.tensor) return name;
  name += " from step " + std::to_string(r.start);
  while (taken.contains(name)) name += "'";
  return name;
}

bool IsFigure(FaultKind kind) {
  return kind == FaultKind::kOverlap || kind == FaultKind::kWrongHeight ||
         kind == FaultKind::kWrongPeak;
}

// A copy that is kept beside the original: of a weight that nothing writes, where such copies may be, one at a
// time, and of use.
void CheckStaged(const Graph& graph, const GraphMemories& memories, const MemoryPlan& plan,
                 const Copies& copied, std::size_t i, std::vector<std::string>& faults) {
  const Residency& r = plan.residencies[i];
  const std::string name = "tensor \"" + graph.tensors[r.tensor].name + "\" ";
  const Residency& home = plan.residencies[copied[i]->source];
  const auto& in = memories.stage_in;
  if (!memories.may_move) faults.push_back(name + "is in two memories");
  if (std::find(in.begin(), in.end(), static_cast<std::size_t>(r.memory)) == in.end()) {
    faults.push_back(name + "has a copy where there may be none");
  }
  if (!IsWeight(graph.tensors[r.tensor])) faults.push_back(name + "is copied, but is no weight");
  const auto steps = std::max<Step>(1, static_cast<Step>(plan.order.size()));
  if (home.start != 0 || home.end != steps) faults.push_back(name + "is copied but does not stay");
  if (copied[i]->source + 1 < i && plan.residencies[i - 1].end > r.start) {
    faults.push_back(name + "has two copies at once");
  }
  for (const Operator& op : graph.operators) {
    const auto& writes = op.mutates;
    if (std::find(writes.begin(), writes.end(), r.tensor) == writes.end()) continue;
    faults.push_back(name + "is copied, but operator \"" + op.name + "\" writes it");
  }
}

// The residencies of `plan` as a table of buffers and its plan. Adds what no table shows to `faults`.
void TableOf(const Graph& graph, const GraphMemories& memories, const MemoryPlan& plan,
             const std::set<TensorIndex>& used, MemoryProblem& problem, MemoryPlan& table,
             std::vector<std::string>& faults) {
  const Copies copied = Copied(graph, memories, plan);
  const std::vector<Placing> uses = UsesOfResidencies(graph, plan, copied);
  problem.memories = memories.memories;
  const auto steps = static_cast<Step>(plan.order.size()) + 1;
  for (Memory& memory : problem.memories) {
    for (Reserved& reserved : memory.reserved) {
      reserved.start = 2 * std::clamp<Step>(reserved.start, -1, steps) + 1;
      reserved.end = 2 * std::clamp<Step>(reserved.end, 0, steps + 1);
    }
    std::erase_if(memory.reserved, [](const Reserved& r) { return r.start >= r.end; });
  }
  std::set<std::string> names;
  for (const Tensor& tensor : graph.tensors) names.insert(tensor.name);
  table.memories = plan.memories;
  table.cost = plan.cost;
  for (std::size_t i = 0; i < plan.residencies.size(); ++i) {
    const Residency& r = plan.residencies[i];
    const Tensor& tensor = graph.tensors[r.tensor];
    const bool staged = copied[i] && copied[i]->stays;
    const bool other = i > 0 && !staged && plan.residencies[i - 1].tensor == r.tensor &&
                       plan.residencies[i - 1].memory != r.memory;
    if (staged) CheckStaged(graph, memories, plan, copied, i, faults);
    if (other && !memories.may_move) {
      faults.push_back("tensor \"" + tensor.name + "\" is in two memories");
    } else if (other && !copied[i]) {
      faults.push_back("tensor \"" + tensor.name + "\" changes its memory without a copy");
    } else if (other && i > 1 && copied[i - 1] && plan.residencies[i - 2].end >= r.start) {
      faults.push_back("tensor \"" + tensor.name + "\" is copied on before it has arrived");
    } else if (other && IsWeight(tensor)) {
      faults.push_back("tensor \"" + tensor.name + "\" moves, but is a weight");
    }
    const auto* const allowed = memories.allowed.empty() ? nullptr : &memories.allowed[r.tensor];
    const auto m = static_cast<std::size_t>(r.memory);
    if (!staged && allowed != nullptr && !allowed->empty() &&
        std::find(allowed->begin(), allowed->end(), m) == allowed->end()) {
      faults.push_back("tensor \"" + tensor.name + "\" may not be in memory \"" +
                       memories.memories[m].name + "\"");
    }
    // Operators run in odd half steps, copies are made in even ones.
    const bool leaves = i + 1 < copied.size() && copied[i + 1] && !copied[i + 1]->stays;
    problem.table.buffers.push_back({NameOf(graph, plan, i, names),
                                     2 * r.start + (copied[i] ? 0 : 1),
                                     2 * r.end + (leaves ? 1 : 0), tensor.bytes, tensor.alignment});
    problem.placing.push_back(used.contains(r.tensor) ? uses[i] : Placing{});
    Residency& copy = table.residencies.emplace_back(r);
    copy.tensor = i;
    copy.start = problem.table.buffers.back().start;
    copy.end = problem.table.buffers.back().end;
  }
}

// Something that takes time and begins when others have ended.
struct Event {
  std::int64_t takes = 0;
  std::vector<std::size_t> after;  // Events.
  std::int64_t end = -1;           // Once it is known.
};

// What the operator of each step takes, where the tensors are.
std::vector<std::int64_t> TimesOfOperators(const Graph& graph, const GraphMemories& memories,
                                           const MemoryPlan& plan) {
  std::vector<std::int64_t> times(plan.order.size(), 0);
  std::vector<std::vector<const Residency*>> of(graph.tensors.size());
  for (const Residency& r : plan.residencies) of[r.tensor].push_back(&r);
  for (std::size_t s = 0; s < plan.order.size(); ++s) {
    if (plan.order[s] >= graph.operators.size()) continue;
    const Operator& op = graph.operators[plan.order[s]];
    std::map<TensorIndex, Placing> uses;
    for (const auto& [base, use] : UsesBy(graph, op)) AddUse(use, uses[base]);
    times[s] = op.cost.value_or(0);
    for (const auto& [base, use] : uses) {
      // The first one that has not ended: while a tensor is copied, operators use the source. But of what
      // stays, a copy that is there.
      const auto step = static_cast<Step>(s);
      const Residency* in = nullptr;
      for (const Residency* const r : of[base]) {
        const bool beside = in != nullptr && in->memory != r->memory && r->start <= step &&
                            in->start < r->start && r->end <= in->end;
        if (step < r->end && (in == nullptr || beside)) in = r;
        if (beside && step < r->end) break;
      }
      if (in == nullptr) continue;
      times[s] += CostOfAccesses(use, memories.memories[static_cast<std::size_t>(in->memory)]);
    }
  }
  return times;
}

// Runs operators and copies as events: each operator after the one before it and the copies that have to
// have ended, each copy after the one before it and the operator that it has to wait for. States a
// fault if the last operator does not end when the plan says. The plan has good steps.
void Simulate(const Graph& graph, const GraphMemories& memories, const MemoryPlan& plan,
              std::vector<std::string>& faults) {
  std::vector<Event> events;
  for (const std::int64_t time : TimesOfOperators(graph, memories, plan)) {
    events.push_back({time, {}});
    if (events.size() > 1) events.back().after.push_back(events.size() - 2);
  }
  const std::size_t steps = events.size();
  const Copies copied = Copied(graph, memories, plan);
  std::vector<std::tuple<Step, Step, std::size_t>> copies;
  for (std::size_t i = 0; i < copied.size(); ++i) {
    if (copied[i]) copies.emplace_back(plan.residencies[i].start, copied[i]->arrives, i);
  }
  std::sort(copies.begin(), copies.end());
  for (const auto& [begin, end, i] : copies) {
    const Residency& to = plan.residencies[i];
    const Residency& from = plan.residencies[copied[i]->source];
    const Bytes bytes = graph.tensors[to.tensor].bytes;
    const std::int64_t read = CostOfAccesses(
        {{}, bytes, 0, 1, {}, {}}, memories.memories[static_cast<std::size_t>(from.memory)]);
    const std::int64_t write = CostOfAccesses(
        {{}, 0, bytes, 1, {}, {}}, memories.memories[static_cast<std::size_t>(to.memory)]);
    Event event{memories.copy_latency + std::max(read, write), {}};
    if (events.size() > steps) event.after.push_back(events.size() - 1);
    event.after.push_back(static_cast<std::size_t>(begin) - 1);
    events[static_cast<std::size_t>(end)].after.push_back(events.size());
    events.push_back(event);
  }
  std::vector<std::size_t> waits(events.size());
  std::vector<std::vector<std::size_t>> followers(events.size());
  std::vector<std::size_t> ready;
  for (std::size_t e = 0; e < events.size(); ++e) {
    waits[e] = events[e].after.size();
    if (waits[e] == 0) ready.push_back(e);
    for (const std::size_t other : events[e].after) followers[other].push_back(e);
  }
  while (!ready.empty()) {
    Event& event = events[ready.back()];
    const std::size_t ended = ready.back();
    ready.pop_back();
    event.end = 0;
    for (const std::size_t other : event.after) event.end = std::max(event.end, events[other].end);
    event.end += event.takes;
    for (const std::size_t follower : followers[ended]) {
      if (--waits[follower] == 0) ready.push_back(follower);
    }
  }
  const std::int64_t time = steps == 0 ? 0 : events[steps - 1].end;
  if (time < 0) faults.emplace_back("an operator and a copy wait for each other");
  if (time < 0 || time == plan.cost.cost) return;
  faults.push_back("the plan states a run of " + std::to_string(plan.cost.cost) + " ns but takes " +
                   std::to_string(time));
}

// The residencies as buffers in half steps: their places, and what the plan states of memories and costs.
// `unplaced`: tensors that operators use and that are nowhere. The plan has good steps.
void CheckTable(const Graph& graph, const GraphMemories& memories, const MemoryPlan& plan,
                const std::set<TensorIndex>& used, std::size_t unplaced,
                std::vector<std::string>& faults) {
  MemoryProblem problem;
  MemoryPlan table;
  TableOf(graph, memories, plan, used, problem, table, faults);
  double cost = 0;
  for (std::size_t i = 0; i < problem.placing.size(); ++i) {
    const auto m = static_cast<std::size_t>(plan.residencies[i].memory);
    cost += AboutCost(problem.placing[i], memories.memories[m]);
  }
  if (cost > 0x1p60) {
    faults.emplace_back("the plan costs more than 2^60");
    return;
  }
  if (memories.prefetch) {
    Simulate(graph, memories, plan, faults);
    // The cost is a time, not the sum of accesses.
    for (Memory& memory : problem.memories) {
      memory.read = memory.write = {};
      memory.access = 0;
    }
    table.cost.cost = 0;
  }
  if (table.cost.unplaced == unplaced) table.cost.unplaced = 0;
  for (std::string& fault : VerifyMemories(problem, table)) faults.push_back(std::move(fault));
}

}  // namespace

std::optional<MemoryPlan> Stacked(const Graph& graph, const MemoryPlan& plan) {
  std::vector<Bytes> heights;
  for (const Residency& r : plan.residencies) {
    if (r.memory < 0 || r.tensor >= graph.tensors.size() || r.offset < 0 || r.offset > kMaxBytes) {
      return std::nullopt;
    }
    const auto m = static_cast<std::size_t>(r.memory);
    if (m >= plan.memories.size()) return std::nullopt;
    heights.resize(plan.memories.size(), 0);
    heights[m] = std::max(heights[m], r.offset + graph.tensors[r.tensor].bytes);
  }
  MemoryPlan stacked = plan;
  std::vector<Bytes> base(heights.size(), 0);
  Bytes height = 0;
  for (std::size_t m = 0; m < heights.size(); ++m) {
    base[m] = height;
    if (heights[m] > kMaxBytes - height) return std::nullopt;
    height += heights[m];
  }
  for (Residency& r : stacked.residencies) {
    r.offset += base[static_cast<std::size_t>(r.memory)];
    r.memory = 0;
  }
  stacked.memories.assign(1, {height, 0});
  return stacked;
}

std::vector<std::string> VerifyMemories(const Graph& graph, const Counting& counting,
                                        const GraphMemories& memories, const MemoryPlan& plan) {
  std::vector<std::string> faults;
  const std::size_t count = memories.memories.size();
  if (plan.memories.size() != count) {
    faults.push_back("the plan states " + std::to_string(plan.memories.size()) + " memories of " +
                     std::to_string(count));
    return faults;
  }
  for (const Residency& r : plan.residencies) {
    if (r.memory >= 0 && static_cast<std::size_t>(r.memory) < count) continue;
    faults.push_back("a residency is in the memory number " + std::to_string(r.memory) + " of " +
                     std::to_string(count));
    return faults;
  }
  const std::optional<MemoryPlan> stacked = Stacked(graph, plan);
  if (!stacked) return {"an offset or a tensor is none"};

  // Offsets are judged below, with the alignments of their memories.
  Graph loose = graph;
  for (Tensor& tensor : loose.tensors) tensor.alignment = 1;
  const PlanReport run =
      VerifyPlanWithCopies(loose, counting, *stacked, Copied(graph, memories, plan));
  std::vector<bool> placed(graph.tensors.size(), false);
  for (const Residency& r : plan.residencies) placed[r.tensor] = true;
  std::set<TensorIndex> used;
  for (const Touches& touches : AllTouches(graph)) {
    used.insert(touches.needs.begin(), touches.needs.end());
    used.insert(touches.makes.begin(), touches.makes.end());
  }
  std::size_t unplaced = 0;
  for (const TensorIndex t : used) {
    if (Counts(graph.tensors[t], counting) && !placed[t]) ++unplaced;
  }
  bool steps_are_good = true;
  for (const Fault& fault : run.faults) {
    steps_are_good = steps_are_good && fault.kind != FaultKind::kBadResidency;
    if (IsFigure(fault.kind)) continue;
    const bool known = fault.tensor != kNone && !placed[fault.tensor];
    const bool absent = fault.kind == FaultKind::kAbsent || fault.kind == FaultKind::kLostResult;
    if (absent && known && plan.cost.unplaced == unplaced) continue;
    faults.push_back(Describe(fault, loose, *stacked));
  }
  if (!steps_are_good) return faults;
  CheckTable(graph, memories, plan, used, unplaced, faults);
  return faults;
}

}  // namespace berth::verify
