// Advise(): what would make a plan fit, or lower it, found by asking the searches.

#include "berth/advise.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "berth/bytes.h"
#include "berth/schedule.h"
#include "berth/spill.h"
#include "plan/model_remedies.h"
#include "plan/remedy_search.h"

namespace berth {
namespace {

using internal::Quoted;
using internal::plan::IsWorthwhile;
using internal::plan::kOrderNodes;
using internal::plan::kPlaceNodes;
using internal::plan::ModelRemedies;
using internal::plan::NodesFor;
using internal::plan::RemedySearch;

// The height of the lowest plan that a short search finds; none if the buffers' pins collide.
std::optional<Bytes> LowestHeight(std::string_view what, Problem problem, RemedySearch& search) {
  problem.capacity.reset();
  const auto answer = search.Look(what, NodesFor(kPlaceNodes, problem.buffers.size()),
                                  [&](Budget& budget) { return Place(problem, {}, budget); });
  if (!answer || !*answer || !(*answer)->best) return std::nullopt;
  return (*answer)->best->height();
}

// The same after `forget` has removed a constraint from each buffer that has it.
template <typename Forget>
std::optional<Bytes> HeightWithout(std::string_view what, Problem problem, Forget forget,
                                   RemedySearch& search) {
  bool any = false;
  for (Buffer& buffer : problem.buffers) any = forget(buffer) || any;
  if (!any) return std::nullopt;
  return LowestHeight(what, std::move(problem), search);
}

bool ForgetAlignment(Buffer& buffer) {
  if (buffer.offset) return false;  // A pin stays where it is.
  return std::exchange(buffer.alignment, 1) != 1;
}

bool ForgetPin(Buffer& buffer) {
  const bool pinned = buffer.offset.has_value();
  buffer.offset.reset();
  return pinned;
}

std::vector<Remedy> PlacementRemedies(const Problem& problem, const PlanAnswer& answer,
                                      RemedySearch& search) {
  std::vector<Remedy> remedies;
  const Outcome outcome = answer.placing.outcome;
  const bool fits = outcome == Outcome::kOptimal || outcome == Outcome::kFeasible;
  const Bytes load = MaxLiveLoad(problem).load;
  const auto& capacity = problem.capacity;
  std::optional<Bytes> height;
  if (answer.best) height = answer.best->height();
  // Within a capacity the search ends with the first plan that fits, which may not be the lowest.
  if (height && capacity && *height > answer.placement_bound) {
    const auto lower = LowestHeight("a smaller capacity that works", problem, search);
    if (lower && *lower < *height) height = lower;
  }
  if (!fits && height && capacity) {
    const bool least = *height == answer.placement_bound;
    remedies.push_back({RemedyKind::kCapacity, "A capacity of " + FormatBytes(*height),
                        FormatBytesExactly(*height - *capacity) +
                            " more than given: the smallest capacity "
                            "known to work for these lifetimes" +
                            (least ? ", and proved to be the smallest."
                                   : "; proved that no plan needs less than " +
                                         FormatBytesExactly(answer.placement_bound) + "."),
                        height, least});
    remedies.back().changes = {{"capacity", std::to_string(*height)}};
  }
  if (capacity && load > *capacity) {
    remedies.push_back(
        {RemedyKind::kMoveOff, "Move at least " + FormatBytes(load - *capacity) + " off",
         "The buffers live at the peak are " + FormatBytesExactly(load) +
             ". For any plan to fit, " + FormatBytesExactly(load - *capacity) +
             " of them have to be elsewhere then: spilled and retrieved, recomputed, or never "
             "made."});
  }
  // The height without one of the constraints of the input.
  const Bytes now = height.value_or(kMaxBytes);
  if (now > load) {
    if (const auto free = HeightWithout("smaller alignments", problem, ForgetAlignment, search);
        free && *free < now) {
      remedies.push_back({RemedyKind::kAlignment, "Smaller alignments",
                          "Without any alignment the buffers can be placed " +
                              FormatBytesExactly(now - *free) + " lower.",
                          free});
    }
    if (const auto free = HeightWithout("pins elsewhere", problem, ForgetPin, search);
        free && *free < now) {
      remedies.push_back({RemedyKind::kPins, "Pins elsewhere",
                          height ? "Without any pin the buffers can be placed " +
                                       FormatBytesExactly(now - *free) + " lower."
                                 : "The pins collide. Without any of them there is a plan.",
                          free});
    }
  }
  if (fits && !capacity && height && *height > answer.placement_bound) {
    remedies.push_back(
        {RemedyKind::kMoreSearch, "More search",
         "The placement is not proved the lowest: a longer --time-limit may save up to " +
             FormatBytesExactly(*height - answer.placement_bound) + "."});
  }
  return remedies;
}

constexpr char kAnotherOrder[] = "another order of the operators";

// The height of a plan in `order`, which ends with the first that fits; none if none was found.
std::optional<Bytes> HeightIn(const Order& order, const Graph& graph, PlanOptions options,
                              RemedySearch& search) {
  options.order = order;
  options.place.progress = nullptr;
  options.schedule.progress = nullptr;
  const auto found =
      search.Look(kAnotherOrder, NodesFor(kPlaceNodes, graph.tensors.size()),
                  [&](Budget& budget) { return berth::Plan(graph, options, budget); });
  if (!found || !*found || !(*found)->best || !(*found)->best->addressed) return std::nullopt;
  return (*found)->best->height();
}

// The order of the least peak, if that is below the one of `plan`; with a capacity, whether it fits.
std::optional<Remedy> AnotherOrder(const Graph& graph, const PlanAnswer& plan,
                                   const PlanOptions& options, RemedySearch& search) {
  ScheduleOptions own = options.schedule;
  own.algorithm = ScheduleAlgorithm::kAuto;
  own.progress = nullptr;
  const auto found = search.Look(kAnotherOrder, NodesFor(kOrderNodes, graph.operators.size()),
                                 [&](Budget& budget) { return Schedule(graph, own, budget); });
  if (!found || !*found) return std::nullopt;
  const PlanAnswer& better = **found;
  const Bytes now = plan.best->peak();
  const Bytes peak = better.best->peak();
  if (peak >= now) return std::nullopt;
  const bool least = peak == better.peak_bound;
  Remedy remedy{RemedyKind::kOrder, "Another order of the operators",
                "The order that --order auto finds has a peak " + FormatBytesExactly(now - peak) +
                    " lower" + (least ? ", proved the least of all orders." : "."),
                peak, least};
  remedy.changes = {{"order", "auto"}};
  if (plan.capacity && peak <= *plan.capacity && !plan.fits()) {
    const auto height = HeightIn(better.best->order, graph, options, search);
    remedy.fits = height && *height <= *plan.capacity;
    if (remedy.fits) remedy.detail += " A plan in that order fits.";
  }
  return remedy;
}

std::vector<Remedy> OrderRemedies(const Graph& graph, const PlanAnswer& plan,
                                  const PlanOptions& options, const Peak& peak,
                                  RemedySearch& search) {
  std::vector<Remedy> remedies;
  if (graph.operators.empty() || peak.bytes == 0) return remedies;
  const Bytes now = plan.best->peak();
  if (now > plan.peak_bound && plan.scheduling.stopped != StopReason::kBudget) {
    if (auto remedy = AnotherOrder(graph, plan, options, search)) {
      remedies.push_back(*std::move(remedy));
    }
  } else if (now == plan.peak_bound && now < plan.program_order_peak) {
    remedies.push_back({RemedyKind::kOrderIsBest, "No other order helps",
                        "This one is proved to have the least peak: " +
                            FormatBytesExactly(plan.program_order_peak - now) +
                            " less than the order in which the model is written."});
  }
  const std::string name = Quoted(graph.operators[peak.largest_operator].name);
  const Bytes waiting = peak.bytes - peak.in_use;
  if (IsWorthwhile(waiting, peak.bytes)) {
    remedies.push_back({RemedyKind::kReduceWaiting, "Spill or recompute waiting tensors",
                        FormatBytesExactly(waiting) +
                            " of the peak wait: the operator that runs then neither "
                            "reads nor makes them. No plan can go below " +
                            FormatBytesExactly(peak.largest_step) + ", which " + name +
                            " reads and makes by itself."});
  }
  return remedies;
}

std::optional<Conflict> FindConflict(const Problem& problem, Outcome outcome,
                                     RemedySearch& search) {
  if (outcome != Outcome::kInfeasible) return std::nullopt;
  auto conflict = search.Look("a smallest set of buffers that does not fit",
                              NodesFor(kPlaceNodes, problem.buffers.size()),
                              [&](Budget& budget) { return Explain(problem, {}, budget); });
  if (!conflict || !*conflict || (*conflict)->outcome != Outcome::kInfeasible) return std::nullopt;
  return **std::move(conflict);
}

// Why the budget is too small for one operator in any order: its inputs and outputs.
Conflict ConflictOf(const Graph& graph, const PlanAnswer& answer, std::optional<Bytes> enough) {
  const MemoryPlan& plan = *answer.best;
  const Operator& op = graph.operators[answer.least.op];
  std::set<TensorIndex> bases;
  for (const auto* list : {&op.inputs, &op.outputs, &op.mutates}) {
    for (const TensorIndex t : *list) bases.insert(BaseOf(graph, t));
  }
  Conflict conflict;
  conflict.outcome = Outcome::kInfeasible;
  conflict.capacity = answer.capacity;
  conflict.step =
      std::find(plan.order.begin(), plan.order.end(), answer.least.op) - plan.order.begin();
  Bytes smallest = kMaxBytes;
  for (std::size_t b = 0; b < plan.residencies.size(); ++b) {
    if (bases.count(plan.residencies[b].tensor) == 0) continue;
    const Bytes size = graph.tensors[plan.residencies[b].tensor].bytes;
    conflict.buffers.push_back(b);
    conflict.load += size;
    smallest = std::min(smallest, size);
  }
  conflict.short_by = conflict.load - *answer.capacity;
  conflict.minimal = conflict.load - smallest <= *answer.capacity;
  conflict.works_with = enough;
  return conflict;
}

// Whether tensors without a known size keep anything from being said to fit.
bool SizesAreMissing(const PlanAnswer& answer, const Counting& counting) {
  return answer.unsized > 0 && !counting.unsized_as_zero;
}

// For a budget within which no plan was found, with spills or with recomputation.
void AdviseWithSpills(const Graph& graph, const PlanOptions& plan, const PlanAnswer& answer,
                      const AdviceOptions& options, RemedySearch& search, Advice& advice) {
  ModelRemedies remedies(graph, plan, answer, options, search);
  remedies.TrySpills();
  const auto enough = remedies.TryLargerBudgets();
  // What an operator needs by itself is not all that can be in the way of recomputation.
  const bool one_operator = answer.spills || (answer.least.bytes > *answer.capacity &&
                                              !plan.schedule.counting.parameters);
  if (options.explain && answer.outcome == Outcome::kInfeasible && one_operator &&
      !graph.operators.empty()) {
    advice.conflict = ConflictOf(graph, answer, enough);
  }
  advice.remedies = remedies.Take();
}

// For a plan or an order without spills.
void AdviseWithoutSpills(const Graph& graph, const PlanOptions& plan, const PlanAnswer& answer,
                         const AdviceOptions& options, RemedySearch& search, Advice& advice) {
  const Counting& counting = plan.schedule.counting;
  const Order& order = answer.best->order;
  const auto add = [&](std::vector<Remedy> remedies) {
    std::move(remedies.begin(), remedies.end(), std::back_inserter(advice.remedies));
  };
  ModelRemedies remedies(graph, plan, answer, options, search);
  if (TriesModels(answer)) {
    remedies.TryChanges();
    remedies.TrySpills();
    remedies.TryRecomputation();
    remedies.TryLargerBudgets();
    if (answer.best->addressed) remedies.TryLowerBudget();
    remedies.TryStrips();  // Last, as there is no command that follows them.
  }
  if (answer.best->addressed || answer.capacity) {  // More than an order was asked for.
    Problem problem = ProblemOf(graph, *answer.best);
    problem.capacity = answer.capacity;
    if (options.explain) advice.conflict = FindConflict(problem, answer.placing.outcome, search);
    if (answer.best->addressed) add(PlacementRemedies(problem, answer, search));
  }
  add(OrderRemedies(graph, answer, plan, ExaminePeak(graph, order, counting), search));
  add(remedies.Take());
}

// A budget of the bytes that would do without spills, or of hardly less, is no remedy beside them.
void DropLargerBudgets(std::vector<Remedy>& remedies) {
  std::optional<Bytes> enough;
  for (const Remedy& remedy : remedies) {
    if (remedy.kind == RemedyKind::kCapacity) enough = remedy.needs;
  }
  if (!enough) return;
  std::erase_if(remedies, [&](const Remedy& remedy) {
    return remedy.kind == RemedyKind::kLargerBudget &&
           !IsWorthwhile(*enough - remedy.needs.value_or(*enough), *enough);
  });
}

// What fits comes first, then what fits with more memory, the least of it first; without traffic
// before with it, estimates last, fewer changes before more.
void Sort(std::vector<Remedy>& remedies) {
  const auto rank = [](const Remedy& remedy) {
    if (remedy.fits) {
      const bool costs = remedy.traffic.value_or(0) > 0 || remedy.recompute_cost.value_or(0) > 0;
      const int last = remedy.estimated ? 2 : costs ? 1 : 0;
      return std::tuple(0, last, remedy.changes.size());
    }
    const Bytes needs = remedy.enlarges() ? remedy.needs.value_or(0) : 0;
    return std::tuple(remedy.enlarges() ? 1 : 2, 0, static_cast<std::size_t>(needs));
  };
  std::stable_sort(remedies.begin(), remedies.end(),
                   [&](const Remedy& x, const Remedy& y) { return rank(x) < rank(y); });
}

}  // namespace

std::string OptionChange::flag() const {
  return "--" + option + (value == "on" ? "" : " " + value);
}

bool TriesModels(const PlanAnswer& answer) {
  // Within a budget there is advice only where there is no plan.
  if (answer.spills || answer.recomputes) return !answer.best || !answer.best->addressed;
  return !answer.fits() || !answer.capacity;
}

Advice Advise(const Problem& problem, const PlanAnswer& answer, const AdviceOptions& options,
              Budget& budget) {
  RemedySearch search(budget);
  Advice advice;
  if (options.explain) advice.conflict = FindConflict(problem, answer.placing.outcome, search);
  advice.remedies = PlacementRemedies(problem, answer, search);
  if (auto rest = search.Rest()) advice.remedies.push_back(*std::move(rest));
  return advice;
}

Advice Advise(const Graph& graph, const PlanOptions& plan, const PlanAnswer& answer,
              const AdviceOptions& options, Budget& budget) {
  RemedySearch search(budget);
  Advice advice;
  const bool placed = answer.best && answer.best->addressed;
  if (!answer.best || SizesAreMissing(answer, plan.schedule.counting)) return advice;
  if (!answer.spills && !answer.recomputes) {
    AdviseWithoutSpills(graph, plan, answer, options, search, advice);
  } else if (!placed) {
    AdviseWithSpills(graph, plan, answer, options, search, advice);
  }
  DropLargerBudgets(advice.remedies);
  Sort(advice.remedies);
  if (auto rest = search.Rest()) advice.remedies.push_back(*std::move(rest));
  return advice;
}

}  // namespace berth
