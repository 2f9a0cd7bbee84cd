#include "tools/berth/remedies.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "tools/berth/model.h"
#include "tools/berth/spilling.h"
#include "tools/berth/summary.h"

namespace berth::internal {
namespace {

constexpr std::int64_t kPlaceNodes = 100'000;
constexpr std::int64_t kOrderNodes = 20'000;
constexpr std::int64_t kSpillNodes = 50'000;
constexpr std::size_t kName = 60;
// Nodes are for inputs of this size; the steps of larger ones take longer.
constexpr std::size_t kSize = 1000;

std::int64_t NodesFor(std::int64_t nodes, std::size_t size) {
  return nodes * static_cast<std::int64_t>(kSize) /
         static_cast<std::int64_t>(std::max(size, kSize));
}

// The lowest plan of a little search; none where the buffers' pins collide.
std::optional<Bytes> LowestHeight(std::string_view what, Problem problem, RemedySearch& search) {
  problem.capacity.reset();
  const auto answer = search.Look(what, NodesFor(kPlaceNodes, problem.buffers.size()),
                                  [&](Budget& budget) { return Place(problem, {}, budget); });
  if (!answer || !*answer || !(*answer)->best) return std::nullopt;
  return (*answer)->best->height();
}

// The same problem without what `forget` takes from each buffer.
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

}  // namespace

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
  return Remedy{"Not looked into to the end",
                (budget_.cancelled() ? "Interrupted before it was known what these would do: "
                                     : "There was not enough time to know what these would do: ") +
                    list + (budget_.cancelled() ? "." : ". A longer --time-limit has more."),
                std::nullopt};
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
    remedies.push_back({"A capacity of " + FormatBytes(*height),
                        FormatBytesExactly(*height - *capacity) +
                            " more than there is: the smallest capacity "
                            "known to work for these lifetimes" +
                            (*height == answer.placement_bound
                                 ? ", and proved to be the smallest."
                                 : "; proved that no plan needs less than " +
                                       FormatBytesExactly(answer.placement_bound) + "."),
                        height});
  }
  if (capacity && load > *capacity) {
    remedies.push_back(
        {"Move " + FormatBytes(load - *capacity) + " off, or more",
         "The buffers live at the peak are " + FormatBytesExactly(load) +
             ". Whatever the placement, " + FormatBytesExactly(load - *capacity) +
             " of them have to be elsewhere then: written out and read again, recomputed, or never "
             "made.",
         std::nullopt});
  }
  // What height would be without a rule that the input makes.
  const Bytes now = height.value_or(kMaxBytes);
  if (now > load) {
    if (const auto free = HeightWithout("smaller alignments", problem, ForgetAlignment, search);
        free && *free < now) {
      remedies.push_back({"Smaller alignments",
                          "Without any alignment the buffers can be placed " +
                              FormatBytesExactly(now - *free) + " lower.",
                          free});
    }
    if (const auto free = HeightWithout("pins elsewhere", problem, ForgetPin, search);
        free && *free < now) {
      remedies.push_back({"Pins elsewhere",
                          height ? "Without any pin the buffers can be placed " +
                                       FormatBytesExactly(now - *free) + " lower."
                                 : "The pins collide. Without any of them there is a plan.",
                          free});
    }
  }
  if (fits && !capacity && height && *height > answer.placement_bound) {
    remedies.push_back({"More search",
                        "The placement is not proved the lowest: a longer --time-limit may save " +
                            FormatBytesExactly(*height - answer.placement_bound) + " at most.",
                        std::nullopt});
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
      remedies.push_back(
          {"Another order of the operators",
           "The order that --order auto finds has a peak " +
               FormatBytesExactly(now - better->best->peak()) + " lower" +
               (better->best->peak() == better->peak_bound ? ", proved the least of all orders."
                                                           : "."),
           better->best->peak()});
    }
  } else if (now == plan.peak_bound && now < plan.program_order_peak) {
    remedies.push_back({"No other order helps",
                        "This one is proved to have the least peak: " +
                            FormatBytesExactly(plan.program_order_peak - now) +
                            " less than the order in which the model is written.",
                        std::nullopt});
  }
  if (in_place_peak && *in_place_peak < now) {
    remedies.push_back({"Outputs written over inputs",
                        "--in-place lowers the peak of this order by " +
                            FormatBytesExactly(now - *in_place_peak) + ".",
                        in_place_peak});
  }
  const std::string name = Abridged(graph.operators[peak.largest_operator].name, kName);
  const Bytes waiting = peak.bytes - peak.in_use;
  if (waiting > 0) {
    remedies.push_back({"Spill or recompute what only waits",
                        FormatBytesExactly(waiting) +
                            " of the peak wait while its operator runs: not read, not "
                            "made, only needed later. No plan can go below " +
                            FormatBytesExactly(peak.largest_step) + ", which " + name +
                            " reads and makes by "
                            "itself.",
                        std::nullopt});
  } else {
    remedies.push_back({"Split the largest operator",
                        name + " by itself reads and makes the whole peak, " +
                            FormatBytesExactly(peak.largest_step) +
                            ": no order, placement or spill goes below it. Splitting it, or fusing "
                            "it with a neighbour, would.",
                        std::nullopt});
  }
  return remedies;
}

std::optional<Remedy> SpillRemedy(const Graph& graph, const Counting& counting, Bytes capacity,
                                  const PlanAnswer& plan, RemedySearch& search) {
  constexpr std::string_view kWhat = "tensors that leave and come back (--budget)";
  // The first plan, before any search, looks at all that is in memory at every step.
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
    return Remedy{"Spills are not enough",
                  "Operator " + Abridged(graph.operators[answer->least.op].name, kName) +
                      " alone reads and makes more than the capacity.",
                  answer->least.bytes};
  }
  if (!answer->best) return std::nullopt;
  search.Found(kWhat);
  return Remedy{
      "Let tensors leave and come back",
      "berth plan --budget " + std::to_string(capacity) + " fits with " + TrafficOf(*answer),
      capacity};
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
    const PlanAnswer& answer = **found;
    return Remedy{"A budget of " + FormatBytes(capacity),
                  "berth plan --budget " + std::to_string(capacity) +
                      (fixed_order ? " --order program" : "") + " fits" +
                      (answer.best->traffic.avoidable() == 0 ? ": nothing has to leave."
                                                             : " with " + TrafficOf(answer)),
                  capacity};
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

namespace {

// Why the budget is too small for one operator: its inputs and outputs, in whichever order.
Conflict ConflictOf(const Planned& planned, std::optional<Bytes> enough) {
  const Graph& graph = planned.model->graph;
  const PlanAnswer& answer = planned.answer;
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
    const Bytes size = planned.problem.buffers[b].size;
    conflict.buffers.push_back(b);
    conflict.load += size;
    smallest = std::min(smallest, size);
  }
  conflict.short_by = conflict.load - *answer.capacity;
  conflict.minimal = conflict.load - smallest <= *answer.capacity;
  conflict.works_with = enough;
  return conflict;
}

// Of a budget within which no plan was found.
void FindBudgetRemedies(const Planned& planned, RemedySearch& search, PageOptions& page) {
  const Graph& graph = planned.model->graph;
  const PlanAnswer& answer = planned.answer;
  std::vector<Bytes> larger;
  for (const Bytes bytes :
       {answer.least.bytes, (answer.least.bytes + answer.least_peak) / 2, answer.least_peak}) {
    if (bytes > *answer.capacity && (larger.empty() || bytes > larger.back())) {
      larger.push_back(bytes);
    }
  }
  const PlanOptions& options = planned.provenance.options;
  std::vector<Order> orders = {ProgramOrder(graph), answer.best->order};
  if (answer.fixed_order) orders = {answer.best->order};
  auto enough = FindLargerBudget(graph, planned.counting(), larger, orders, answer.fixed_order,
                                 options.place, search);
  if (answer.outcome == Outcome::kInfeasible) {
    page.conflict = ConflictOf(planned, enough ? enough->needs : std::nullopt);
  }
  if (enough) page.remedies.push_back(*std::move(enough));
}

}  // namespace

void FindRemedies(const Planned& planned, RemedySearch& search, PageOptions& page) {
  const PlanAnswer& answer = planned.answer;
  if (answer.spills) {
    if (!planned.placed()) FindBudgetRemedies(planned, search, page);
    return;
  }
  if (!planned.only_ordered()) {
    page.conflict = FindConflict(planned.problem, answer.placing.outcome, search);
    if (planned.model == nullptr || planned.placed()) {
      page.remedies = PlacementRemedies(planned.problem, answer, search);
    }
  }
  if (planned.model == nullptr) return;
  const Graph& graph = planned.model->graph;
  const ScheduleOptions& options = planned.provenance.options.schedule;
  if (answer.capacity && !answer.fits()) {
    auto spills = SpillRemedy(graph, planned.counting(), *answer.capacity, answer, search);
    if (spills) page.remedies.push_back(*std::move(spills));
  }
  auto order = OrderRemedies(graph, answer, options, *planned.peak, planned.in_place_peak, search);
  std::move(order.begin(), order.end(), std::back_inserter(page.remedies));
}

std::string Verdict(const PlanSubject& subject, const PlanAnswer& answer) {
  if (!answer.best) return "";
  if (!answer.best->addressed) {
    return answer.spills ? "" : "accepted: the order runs, and has the peak that is stated";
  }
  if (answer.spills) {
    return "accepted: run in a memory that knows whose bytes it holds; every operator found what "
           "it "
           "reads";
  }
  const auto count = static_cast<std::int64_t>(answer.best->residencies.size());
  return "accepted: " + Plural(count, "buffer") + ", no overlap, alignments " +
         (subject.table() != nullptr ? "and pins kept" : "kept") + ", height " +
         FormatBytesExactly(answer.best->height());
}

}  // namespace berth::internal
