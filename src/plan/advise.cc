// Advise(): what would make a plan fit, or lower it, found by asking the searches.

#include "berth/advise.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "berth/bytes.h"
#include "berth/schedule.h"
#include "berth/spill.h"

namespace berth {
namespace {

using internal::Quoted;

// The searches for one answer's remedies, which share the time of one budget.
class RemedySearch {
 public:
  // `budget` must outlive this. Of its limits, time and cancellation count.
  explicit RemedySearch(Budget& budget) : budget_(budget) {}

  // The answer of `search` within at most half of the remaining time, and `nodes`. None if no time
  // is left. If the time did not suffice, Rest() names `what`.
  template <typename Search>
  auto Look(std::string_view what, std::int64_t nodes, Search search)
      -> std::optional<decltype(search(std::declval<Budget&>()))> {
    if (budget_.TimeIsUp()) {
      Missed(what);
      return std::nullopt;
    }
    Budget part(budget_, 0.5);
    part.SetNodeLimit(nodes);
    auto found = search(part);
    if (part.TimeIsUp() && part.nodes_spent() < nodes) Missed(what);
    return found;
  }

  // The search for `what` had a result, although time may have ended it.
  void Found(std::string_view what);

  // Whether `what` is skipped because it may exceed the time limit.
  [[nodiscard]] bool TooLong(std::string_view what, bool is_large);

  // The searches that were not completed, if any: the last remedy of a list.
  [[nodiscard]] std::optional<Remedy> Rest() const;

 private:
  void Missed(std::string_view what);

  Budget& budget_;
  std::vector<std::string> missed_;
};

constexpr std::int64_t kPlaceNodes = 100'000;
constexpr std::int64_t kOrderNodes = 20'000;
constexpr std::int64_t kSpillNodes = 50'000;
// The node limits are for inputs of at most this size; a node of larger ones takes longer.
constexpr std::size_t kSize = 1000;

std::int64_t NodesFor(std::int64_t nodes, std::size_t size) {
  return nodes * static_cast<std::int64_t>(kSize) /
         static_cast<std::int64_t>(std::max(size, kSize));
}

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

// "8 B of traffic, written and read: proved the least."
std::string TrafficOf(const PlanAnswer& answer) {
  const std::string where = answer.fixed_order ? " in program order" : "";
  return FormatBytesExactly(answer.best->traffic.avoidable()) + " of traffic, written and read" +
         (answer.outcome == Outcome::kOptimal ? ": proved the least" + where + "."
                                              : "; no plan" + where + " has less than " +
                                                    FormatBytesExactly(answer.traffic_bound) + ".");
}

void RemedySearch::Missed(std::string_view what) { missed_.emplace_back(what); }

void RemedySearch::Found(std::string_view what) {
  std::erase_if(missed_, [&](const std::string& missed) { return missed == what; });
}

bool RemedySearch::TooLong(std::string_view what, bool is_large) {
  if (!is_large || !budget_.has_time_limit()) return false;
  Missed(what);
  return true;
}

std::optional<Remedy> RemedySearch::Rest() const {
  if (missed_.empty()) return std::nullopt;
  std::string list;
  for (const std::string& what : missed_) list += (list.empty() ? "" : ", ") + what;
  return Remedy{RemedyKind::kNotExamined, "Not fully examined",
                (budget_.cancelled() ? "Interrupted before these were examined: "
                                     : "There was not enough time to examine these: ") +
                    list + (budget_.cancelled() ? "." : ". Set a longer --time-limit.")};
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
  if (!fits && height && capacity) {
    if (*height > answer.placement_bound) {
      const auto lower = LowestHeight("a smaller capacity that works", problem, search);
      if (lower && *lower < *height) height = lower;
    }
    const bool least = *height == answer.placement_bound;
    remedies.push_back({RemedyKind::kCapacity, "A capacity of " + FormatBytes(*height),
                        FormatBytesExactly(*height - *capacity) +
                            " more than given: the smallest capacity "
                            "known to work for these lifetimes" +
                            (least ? ", and proved to be the smallest."
                                   : "; proved that no plan needs less than " +
                                         FormatBytesExactly(answer.placement_bound) + "."),
                        height, least, std::nullopt,
                        OptionChange{"capacity", std::to_string(*height)}});
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

std::vector<Remedy> OrderRemedies(const Graph& graph, const PlanAnswer& plan,
                                  const ScheduleOptions& options, const Peak& peak,
                                  std::optional<Bytes> in_place_peak, RemedySearch& search) {
  std::vector<Remedy> remedies;
  if (graph.operators.empty() || peak.bytes == 0) return remedies;
  const Bytes now = plan.best->peak();
  if (now > plan.peak_bound && plan.scheduling.stopped != StopReason::kBudget) {
    ScheduleOptions own = options;
    own.algorithm = ScheduleAlgorithm::kAuto;
    own.progress = nullptr;
    const auto found =
        search.Look("another order of the operators", NodesFor(kOrderNodes, graph.operators.size()),
                    [&](Budget& budget) { return Schedule(graph, own, budget); });
    const PlanAnswer* const better = found && *found ? &**found : nullptr;
    if (better != nullptr && better->best->peak() < now) {
      const bool least = better->best->peak() == better->peak_bound;
      remedies.push_back({RemedyKind::kOrder, "Another order of the operators",
                          "The order that --order auto finds has a peak " +
                              FormatBytesExactly(now - better->best->peak()) + " lower" +
                              (least ? ", proved the least of all orders." : "."),
                          better->best->peak(), least, std::nullopt,
                          OptionChange{"order", "auto"}});
    }
  } else if (now == plan.peak_bound && now < plan.program_order_peak) {
    remedies.push_back({RemedyKind::kOrderIsBest, "No other order helps",
                        "This one is proved to have the least peak: " +
                            FormatBytesExactly(plan.program_order_peak - now) +
                            " less than the order in which the model is written."});
  }
  if (in_place_peak && *in_place_peak < now) {
    remedies.push_back({RemedyKind::kInPlace, "Outputs written over inputs",
                        "--in-place lowers the peak of this order by " +
                            FormatBytesExactly(now - *in_place_peak) + ".",
                        in_place_peak, false, std::nullopt, OptionChange{"in-place", "on"}});
  }
  const std::string name = Quoted(graph.operators[peak.largest_operator].name);
  const Bytes waiting = peak.bytes - peak.in_use;
  if (waiting > 0) {
    remedies.push_back({RemedyKind::kReduceWaiting, "Spill or recompute waiting tensors",
                        FormatBytesExactly(waiting) +
                            " of the peak wait: the operator that runs then neither "
                            "reads nor makes them. No plan can go below " +
                            FormatBytesExactly(peak.largest_step) + ", which " + name +
                            " reads and makes by itself."});
  } else {
    remedies.push_back({RemedyKind::kSplitOperator, "Split the largest operator",
                        name + " by itself reads and makes the whole peak, " +
                            FormatBytesExactly(peak.largest_step) +
                            ": no order, placement or spill goes below it. Splitting it, or fusing "
                            "it with a neighbour, would."});
  }
  return remedies;
}

// A plan with spills within a capacity that is `answer`'s; `order` completes the command.
Remedy WithSpills(RemedyKind kind, std::string title, const PlanAnswer& answer,
                  std::string_view order) {
  const OptionChange change{"budget", std::to_string(*answer.capacity)};
  const Bytes traffic = answer.best->traffic.avoidable();
  return {kind,
          std::move(title),
          "berth plan " + change.flag() + std::string(order) + " fits" +
              (traffic == 0 && kind == RemedyKind::kLargerBudget ? ": nothing has to be spilled."
                                                                 : " with " + TrafficOf(answer)),
          answer.capacity,
          answer.outcome == Outcome::kOptimal,
          traffic,
          change};
}

// The search for a plan with spills, from `orders` or for the first of these alone.
Result<PlanAnswer> SolveSpills(const Graph& graph, const Counting& counting, Bytes capacity,
                               std::vector<Order> orders, bool fixed_order, Budget& budget,
                               const PlaceOptions& place = {}) {
  SpillOptions options;
  options.capacity = capacity;
  options.counting = counting;
  options.fixed_order = fixed_order;
  options.orders = std::move(orders);
  options.placer = [&place](const Problem& problem, Budget& own) {
    return Place(problem, place, own);
  };
  return PlanWithSpills(graph, options, budget);
}

std::optional<Remedy> SpillRemedy(const Graph& graph, const Counting& counting, Bytes capacity,
                                  const PlanAnswer& plan, RemedySearch& search) {
  constexpr std::string_view kWhat = "tensors that are spilled and retrieved (--budget)";
  // The first plan, made before any search, examines all resident tensors at every step.
  constexpr std::size_t kLarge = 100'000'000;
  if (search.TooLong(kWhat, graph.operators.size() * graph.tensors.size() > kLarge)) {
    return std::nullopt;
  }
  const auto found =
      search.Look(kWhat, NodesFor(kSpillNodes, graph.operators.size() + graph.tensors.size()),
                  [&](Budget& budget) {
                    return SolveSpills(graph, counting, capacity, {plan.best->order},
                                       /*fixed_order=*/false, budget);
                  });
  if (!found || !*found) return std::nullopt;
  const PlanAnswer* const answer = &**found;
  if (answer->outcome == Outcome::kInfeasible) {
    return Remedy{RemedyKind::kSpillTooSmall, "Spills are not enough",
                  "Operator " + Quoted(graph.operators[answer->least.op].name) +
                      " alone reads and makes more than the capacity.",
                  answer->least.bytes, true};
  }
  if (!answer->best) return std::nullopt;
  search.Found(kWhat);
  return WithSpills(RemedyKind::kSpill, "Spill and retrieve tensors", *answer, "");
}

std::optional<Remedy> FindLargerBudget(const Graph& graph, const Counting& counting,
                                       const std::vector<Bytes>& larger,
                                       const std::vector<Order>& orders, bool fixed_order,
                                       const PlaceOptions& place, RemedySearch& search) {
  for (const Bytes capacity : larger) {
    const std::string what = "a budget of " + FormatBytes(capacity);
    const auto found = search.Look(
        what, NodesFor(kSpillNodes, graph.operators.size() + graph.tensors.size()),
        [&](Budget& budget) {
          return SolveSpills(graph, counting, capacity, orders, fixed_order, budget, place);
        });
    if (!found || !*found || !(*found)->best) continue;
    search.Found(what);
    return WithSpills(RemedyKind::kLargerBudget, "A budget of " + FormatBytes(capacity), **found,
                      fixed_order ? " --order program" : "");
  }
  return std::nullopt;
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

// For a budget within which no plan was found.
void FindBudgetRemedies(const Graph& graph, const PlanOptions& plan, const PlanAnswer& answer,
                        const AdviceOptions& options, RemedySearch& search, Advice& advice) {
  std::vector<Bytes> larger;
  for (const Bytes bytes :
       {answer.least.bytes, (answer.least.bytes + answer.least_peak) / 2, answer.least_peak}) {
    if (bytes > *answer.capacity && (larger.empty() || bytes > larger.back())) {
      larger.push_back(bytes);
    }
  }
  std::vector<Order> orders = {ProgramOrder(graph), answer.best->order};
  if (answer.fixed_order) orders = {answer.best->order};
  auto enough = FindLargerBudget(graph, plan.schedule.counting, larger, orders, answer.fixed_order,
                                 plan.place, search);
  if (options.explain && answer.outcome == Outcome::kInfeasible) {
    advice.conflict = ConflictOf(graph, answer, enough ? enough->needs : std::nullopt);
  }
  if (enough) advice.remedies.push_back(*std::move(enough));
}

// For a plan or an order without spills.
void AdviseWithoutSpills(const Graph& graph, const PlanOptions& plan, const PlanAnswer& answer,
                         const AdviceOptions& options, RemedySearch& search, Advice& advice) {
  const Counting& counting = plan.schedule.counting;
  const Order& order = answer.best->order;
  if (answer.best->addressed || answer.capacity) {  // More than an order was asked for.
    Problem problem = ProblemOf(graph, *answer.best);
    problem.capacity = answer.capacity;
    if (options.explain) advice.conflict = FindConflict(problem, answer.placing.outcome, search);
    if (answer.best->addressed) advice.remedies = PlacementRemedies(problem, answer, search);
  }
  if (answer.capacity && !answer.fits()) {
    auto spills = SpillRemedy(graph, counting, *answer.capacity, answer, search);
    if (spills) advice.remedies.push_back(*std::move(spills));
  }
  std::optional<Bytes> in_place_peak;
  if (options.in_place) in_place_peak = Live(ReuseInPlace(graph), order, counting).peak;
  auto found = OrderRemedies(graph, answer, plan.schedule, ExaminePeak(graph, order, counting),
                             in_place_peak, search);
  std::move(found.begin(), found.end(), std::back_inserter(advice.remedies));
}

}  // namespace

std::string OptionChange::flag() const {
  return "--" + option + (value == "on" ? "" : " " + value);
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
  if (answer.spills) {
    if (!placed && answer.best) FindBudgetRemedies(graph, plan, answer, options, search, advice);
  } else if (answer.best) {
    AdviseWithoutSpills(graph, plan, answer, options, search, advice);
  }
  if (auto rest = search.Rest()) advice.remedies.push_back(*std::move(rest));
  return advice;
}

}  // namespace berth
