#include "tools/berth/remedies.h"

#include <algorithm>
#include <utility>

#include "tools/berth/model.h"
#include "tools/berth/spilling.h"

namespace berth::internal {
namespace {

constexpr std::int64_t kPlaceNodes = 100'000;
constexpr std::int64_t kOrderNodes = 20'000;
constexpr std::int64_t kSpillNodes = 50'000;
constexpr std::size_t kName = 60;

// The lowest plan of a little search; none where the buffers' pins collide.
std::optional<Bytes> LowestHeight(Problem problem) {
  problem.capacity.reset();
  Budget budget;
  budget.SetNodeLimit(kPlaceNodes);
  const auto answer = Place(problem, {}, budget);
  if (!answer || !answer->best) return std::nullopt;
  return answer->best->height;
}

// The same problem without what `forget` takes from each buffer.
template <typename Forget>
std::optional<Bytes> HeightWithout(Problem problem, Forget forget) {
  bool any = false;
  for (Buffer& buffer : problem.buffers) any = forget(buffer) || any;
  if (!any) return std::nullopt;
  return LowestHeight(std::move(problem));
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

}  // namespace

std::vector<Remedy> PlacementRemedies(const Problem& problem, const PlaceAnswer& answer) {
  std::vector<Remedy> remedies;
  const bool fits = answer.outcome == Outcome::kOptimal || answer.outcome == Outcome::kFeasible;
  const Bytes load = MaxLiveLoad(problem).load;
  const auto& capacity = problem.capacity;
  std::optional<Bytes> height;
  if (answer.best) height = answer.best->height;
  if (!fits && height && capacity) {
    if (*height > answer.lower_bound) {
      const auto lower = LowestHeight(problem);
      if (lower && *lower < *height) height = lower;
    }
    remedies.push_back(
        {"A capacity of " + FormatBytes(*height),
         FormatBytesExactly(*height - *capacity) +
             " more than there is: the smallest capacity "
             "known to work for these lifetimes" +
             (*height == answer.lower_bound ? ", and proved to be the smallest."
                                            : "; proved that no plan needs less than " +
                                                  FormatBytesExactly(answer.lower_bound) + "."),
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
    if (const auto free = HeightWithout(problem, ForgetAlignment); free && *free < now) {
      remedies.push_back({"Smaller alignments",
                          "Without any alignment the buffers can be placed " +
                              FormatBytesExactly(now - *free) + " lower.",
                          free});
    }
    if (const auto free = HeightWithout(problem, ForgetPin); free && *free < now) {
      remedies.push_back({"Pins elsewhere",
                          height ? "Without any pin the buffers can be placed " +
                                       FormatBytesExactly(now - *free) + " lower."
                                 : "The pins collide. Without any of them there is a plan.",
                          free});
    }
  }
  if (fits && !capacity && height && *height > answer.lower_bound) {
    remedies.push_back({"More search",
                        "The placement is not proved the lowest: a longer --time-limit may save " +
                            FormatBytesExactly(*height - answer.lower_bound) + " at most.",
                        std::nullopt});
  }
  return remedies;
}

std::vector<Remedy> OrderRemedies(const Graph& graph, const PlanAnswer& plan,
                                  const ScheduleOptions& options, const Peak& peak,
                                  std::optional<Bytes> in_place_peak) {
  std::vector<Remedy> remedies;
  if (graph.operators.empty() || peak.bytes == 0) return remedies;
  const ScheduleAnswer& schedule = plan.schedule;
  if (schedule.peak > schedule.lower_bound && schedule.stopped != StopReason::kBudget) {
    ScheduleOptions search = options;
    search.algorithm = ScheduleAlgorithm::kAuto;
    search.progress = nullptr;
    Budget budget;
    budget.SetNodeLimit(kOrderNodes);
    const auto better = Schedule(graph, search, budget);
    if (better && better->peak < schedule.peak) {
      remedies.push_back(
          {"Another order of the operators",
           "The order that --order auto finds has a peak " +
               FormatBytesExactly(schedule.peak - better->peak) + " lower" +
               (better->peak == better->lower_bound ? ", proved the least of all orders." : "."),
           better->peak});
    }
  } else if (schedule.peak == schedule.lower_bound && schedule.peak < plan.program_order_peak) {
    remedies.push_back({"No other order helps",
                        "This one is proved to have the least peak: " +
                            FormatBytesExactly(plan.program_order_peak - schedule.peak) +
                            " less than the order in which the model is written.",
                        std::nullopt});
  }
  if (in_place_peak && *in_place_peak < schedule.peak) {
    remedies.push_back({"Outputs written over inputs",
                        "--in-place lowers the peak of this order by " +
                            FormatBytesExactly(schedule.peak - *in_place_peak) + ".",
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
                                  const PlanAnswer& plan) {
  Budget budget;
  budget.SetNodeLimit(kSpillNodes);
  const auto answer = SolveSpills(graph, counting, capacity, {plan.schedule.order},
                                  /*fixed_order=*/false, budget);
  if (!answer) return std::nullopt;
  if (answer->outcome == Outcome::kInfeasible) {
    return Remedy{"Spills are not enough",
                  "Operator " + Abridged(graph.operators[answer->least.op].name, kName) +
                      " alone reads and makes more than the capacity.",
                  answer->least.bytes};
  }
  if (!answer->best) return std::nullopt;
  const Traffic& traffic = answer->best->traffic;
  return Remedy{
      "Let tensors leave and come back",
      "berth plan --budget " + std::to_string(capacity) + " fits with " +
          FormatBytesExactly(traffic.avoidable()) + " of traffic, written and read" +
          (answer->outcome == Outcome::kOptimal
               ? ": proved the least."
               : "; no plan has less than " + FormatBytesExactly(answer->lower_bound) + "."),
      capacity};
}

std::optional<Conflict> FindConflict(const Problem& problem, Outcome outcome) {
  if (outcome != Outcome::kInfeasible) return std::nullopt;
  Budget budget;
  budget.SetNodeLimit(kPlaceNodes);
  auto conflict = Explain(problem, {}, budget);
  if (!conflict || conflict->outcome != Outcome::kInfeasible) return std::nullopt;
  return *std::move(conflict);
}

std::string Verdict(const Problem& problem, const std::optional<Placement>& best) {
  if (!best) return "";
  return "accepted: " + Plural(static_cast<std::int64_t>(problem.buffers.size()), "buffer") +
         ", no overlap, alignments and pins kept, height " + FormatBytesExactly(best->height);
}

}  // namespace berth::internal
