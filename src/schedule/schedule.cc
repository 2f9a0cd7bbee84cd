// Schedule(): compiles the graph to an instance, runs an algorithm on it and checks the order.

#include "berth/schedule.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/try.h"
#include "graph/plan.h"
#include "graph/topology.h"
#include "schedule/baseline.h"
#include "schedule/beam.h"
#include "schedule/compile.h"
#include "schedule/entry.h"
#include "schedule/exact.h"
#include "schedule/instance.h"
#include "schedule/list.h"
#include "schedule/options.h"
#include "schedule/reduce.h"

namespace berth {
namespace internal::schedule {
namespace {

// Without any limit from the caller, kAuto stops after this much work: some ten seconds.
constexpr std::int64_t kDefaultWork = 2'000'000'000;
constexpr std::int64_t kNoWorkLimit = std::numeric_limits<std::int64_t>::max() / 4;

class Scheduler {
 public:
  Scheduler(const Graph& graph, const ScheduleOptions& options, Instance instance, Budget& budget)
      : graph_(graph),
        options_(options),
        budget_(budget),
        nodes_before_(budget.nodes_spent()),
        instance_(std::move(instance)),
        order_(graph.operators.size()) {
    std::iota(order_.begin(), order_.end(), Op{0});
    answer_.scheduling.algorithm = Info(ScheduleAlgorithm::kProgram).name;
  }

  // `begin`: of all that precedes the search. To check the answer takes half as long.
  PlanAnswer Run(Budget::Clock::time_point begin) {
    if (instance_.num_ops > 0) {
      answer_.peak_bound = EasyBound();
      peak_ = PeakOf(instance_, order_);
      answer_.program_order_peak = peak_;
      Report(peak_, answer_.peak_bound);
      if (budget_.cancelled()) {
        answer_.stopped = StopReason::kBudget;
      } else {
        set_up_ = std::chrono::duration<double>(Budget::Clock::now() - begin).count();
        const TimeKept kept(budget_, set_up_ / 2);
        RunAlgorithm();
      }
    }
    return Finish();
  }

 private:
  // Sets of operators for each operator must fit the memory several times.
  [[nodiscard]] bool IsLarge() const {
    return instance_.num_ops * instance_.words() * sizeof(Word) > options_.most_bytes / 8;
  }

  void RunAlgorithm() {
    answer_.stopped = StopReason::kAlgorithm;
    switch (options_.algorithm) {
      case ScheduleAlgorithm::kProgram:
        return;
      case ScheduleAlgorithm::kHoistedUpdates:
        Take(HoistedUpdates(graph_, instance_), ScheduleAlgorithm::kHoistedUpdates);
        return;
      case ScheduleAlgorithm::kGreedy:
        OfferGreedy(false);
        return;
      case ScheduleAlgorithm::kGreedyBackwards:
        OfferGreedy(true);
        return;
      case ScheduleAlgorithm::kBeam:
        if (IsLarge()) {
          RunLarge();
          return;
        }
        OfferBeam(instance_, options_.beam_width, false, ScheduleAlgorithm::kBeam);
        OfferBeam(Reversed(instance_), options_.beam_width, true, ScheduleAlgorithm::kBeam);
        return;
      case ScheduleAlgorithm::kAuto:
        if (IsLarge()) {
          RunLarge();
          if (budget_.Exhausted() || peak_ == answer_.peak_bound) return;
        }
        RunExact();
        return;
    }
    BERTH_CHECK(false);
  }

  // The best of the orders that take near-linear time.
  void RunLarge() {
    const auto& all = graph_.operators;
    if (std::any_of(all.begin(), all.end(), [](const Operator& op) { return op.update; })) {
      Offer(HoistedUpdates(graph_, instance_), ScheduleAlgorithm::kHoistedUpdates);
    }  // Else that is program order.
    bool in_time = true;
    for (const bool backwards : {false, true}) {
      if (peak_ == answer_.peak_bound) break;
      // To read the graph backwards takes about half as long as it took to read it.
      in_time = !budget_.Exhausted() && !(backwards && budget_.seconds_left() < set_up_ / 2);
      if (!in_time) break;
      OfferGreedy(backwards);
    }
    answer_.stopped = !in_time || budget_.Exhausted() ? StopReason::kBudget : StopReason::kSize;
  }

  void RunExact() {
    const Reduction reduction = options_.exact.reduction
                                    ? Reduce(instance_, order_, !IsLarge(), budget_)
                                    : NoReduction(instance_);
    answer_.scheduling.stats.operators = static_cast<std::int64_t>(reduction.instance.num_ops);
    const bool limited = budget_.has_time_limit() || budget_.has_node_limit();
    ExactLimits limits;
    limits.floor = answer_.peak_bound;
    limits.most_work = limited ? kNoWorkLimit : kDefaultWork;
    limits.most_bytes = options_.most_bytes;
    limits.threads = options_.threads;
    const ExactResult result = SearchExactly(
        reduction.instance, options_.exact, limits,
        [&](Bytes peak, Bytes bound) {
          Report(std::min(peak_, peak), std::max(answer_.peak_bound, bound));
        },
        answer_.scheduling.stats, budget_);
    answer_.peak_bound = std::max(answer_.peak_bound, result.lower_bound);
    answer_.stopped = !result.out_of_work ? StopReason::kBudget
                      : IsLarge()         ? StopReason::kSize
                                          : StopReason::kEffort;
    Offer(Expand(instance_, reduction, result.order), ScheduleAlgorithm::kAuto);
  }

  // The most bytes that one operator needs by itself, or that are live at the start or the end.
  [[nodiscard]] Bytes EasyBound() const {
    Bytes bound = std::max(LiveAtStart(instance_), LiveAtEnd(instance_));
    std::vector<Bytes> held(instance_.num_ops, 0);
    for (const FlowBuffer& buffer : instance_.buffers) {
      for (const Op c : buffer.creators) held[c] += buffer.bytes;
      for (const Op k : buffer.consumers) {
        if (buffer.creators != std::vector<Op>{k}) held[k] += buffer.bytes;
      }
    }
    for (const Bytes bytes : held) bound = std::max(bound, instance_.base + bytes);
    return bound;
  }

  void Take(std::vector<Op> order, ScheduleAlgorithm finder) {
    order_ = std::move(order);
    peak_ = PeakOf(instance_, order_);
    answer_.scheduling.algorithm = Info(finder).name;
    Report(peak_, answer_.peak_bound);
  }
  void Offer(std::vector<Op> order, ScheduleAlgorithm finder) {
    if (PeakOf(instance_, order) < peak_) Take(std::move(order), finder);
  }
  // A named algorithm shows its own order; otherwise the best one counts.
  void TakeOrOffer(std::vector<Op> order, ScheduleAlgorithm finder) {
    const bool is_first = answer_.scheduling.algorithm == Info(ScheduleAlgorithm::kProgram).name;
    if (is_first && options_.algorithm == finder) {
      Take(std::move(order), finder);
    } else {
      Offer(std::move(order), finder);
    }
  }
  void OfferGreedy(bool backwards) {
    const auto finder =
        backwards ? ScheduleAlgorithm::kGreedyBackwards : ScheduleAlgorithm::kGreedy;
    if (!IsLarge()) {
      OfferBeam(backwards ? Reversed(instance_) : instance_, 1, backwards, finder);
      return;
    }
    auto order = backwards ? ListSchedule(Reversed(instance_), answer_.peak_bound, budget_)
                           : ListSchedule(instance_, answer_.peak_bound, budget_);
    if (!order) return;
    if (backwards) std::reverse(order->begin(), order->end());
    TakeOrOffer(std::move(*order), finder);
  }
  void OfferBeam(const Instance& instance, std::size_t width, bool backwards,
                 ScheduleAlgorithm finder) {
    auto order = Beam(instance,
                      {width, answer_.peak_bound, std::numeric_limits<Bytes>::max() / 2,
                       options_.exact.dominance},
                      budget_)
                     .order;
    if (!order) return;
    if (backwards) std::reverse(order->begin(), order->end());
    TakeOrOffer(std::move(*order), finder);
  }

  void Report(Bytes peak, Bytes bound) const {
    if (!options_.progress) return;
    options_.progress({peak, bound, budget_.nodes_spent() - nodes_before_});
  }

  // No order is returned unchecked.
  PlanAnswer Finish() {
    const Order order(order_.begin(), order_.end());
    BERTH_CHECK(ValidateOrder(graph_, order).has_value());
    answer_.best = UnplacedPlan(graph_, order, options_.counting);
    const Bytes peak = answer_.best->peak();
    BERTH_CHECK(instance_.num_ops == 0 || peak == PeakOf(instance_, order_));
    BERTH_CHECK(instance_.num_ops == 0 || answer_.peak_bound <= peak);
    if (instance_.num_ops == 0) answer_.peak_bound = peak;
    answer_.outcome = Outcome::kFeasible;
    if (peak == answer_.peak_bound) {
      answer_.outcome = Outcome::kOptimal;
      answer_.stopped = StopReason::kAnswered;
    }
    answer_.height_bound = answer_.peak_bound;
    if (instance_.num_ops == 0) answer_.program_order_peak = peak;
    return std::move(answer_);
  }

  const Graph& graph_;
  const ScheduleOptions& options_;
  Budget& budget_;
  std::int64_t nodes_before_;  // Spent by earlier searches with the same budget.
  Instance instance_;
  std::vector<Op> order_;
  Bytes peak_ = 0;     // Of `order_`.
  double set_up_ = 0;  // Seconds before the search.
  PlanAnswer answer_;
};

}  // namespace
}  // namespace internal::schedule

namespace internal::schedule {
namespace {

// Program order, without a search.
PlanAnswer InProgramOrder(const Graph& graph, const ScheduleOptions& options) {
  PlanAnswer answer;
  answer.best = UnplacedPlan(graph, ProgramOrder(graph), options.counting);
  answer.program_order_peak = answer.best->peak();
  for (const Residency& residency : answer.best->residencies) {
    answer.peak_bound = std::max(answer.peak_bound, graph.tensors[residency.tensor].bytes);
  }
  answer.height_bound = answer.peak_bound;
  const bool least = answer.peak_bound == answer.best->peak();
  answer.outcome = least ? Outcome::kOptimal : Outcome::kFeasible;
  answer.stopped = least ? StopReason::kAnswered : StopReason::kBudget;
  answer.scheduling.algorithm = Info(ScheduleAlgorithm::kProgram).name;
  return answer;
}

PlanAnswer Search(const Graph& graph, const ScheduleOptions& options,
                  Budget::Clock::time_point start, Budget& budget) {
  const auto too_late = [&] {
    return graph.operators.size() > kMostAfterCancel && budget.TimeIsUp();
  };
  if (too_late()) return InProgramOrder(graph, options);
  const Topology topology = Compile(graph, options.counting);
  if (too_late()) return InProgramOrder(graph, options);
  return Scheduler(graph, options, InstanceOf(topology), budget).Run(start);
}

// `start`: of all that precedes the search.
PlanAnswer Run(const Graph& graph, const ScheduleOptions& options, Budget::Clock::time_point start,
               Budget& budget) {
  const std::int64_t nodes = budget.nodes_spent();
  PlanAnswer answer = Search(graph, options, start, budget);
  answer.nodes = budget.nodes_spent() - nodes;
  answer.seconds = std::chrono::duration<double>(Budget::Clock::now() - start).count();
  answer.scheduling.outcome = answer.outcome;
  answer.scheduling.stopped = answer.stopped;
  answer.scheduling.nodes = answer.nodes;
  answer.scheduling.seconds = answer.seconds;
  AdmitUnsized(graph, options.counting, answer);
  return answer;
}

}  // namespace

Result<PlanAnswer> ScheduleValid(const Graph& graph, const ScheduleOptions& options,
                                 Budget& budget) {
  const auto start = Budget::Clock::now();
  BERTH_TRY(ValidateOptions(options));
  return Run(graph, options, start, budget);
}

}  // namespace internal::schedule

Result<PlanAnswer> Schedule(const Graph& graph, const ScheduleOptions& options, Budget& budget) {
  const auto start = Budget::Clock::now();
  BERTH_TRY(internal::schedule::ValidateOptions(options));
  BERTH_TRY(Validate(graph));
  return internal::schedule::Run(graph, options, start, budget);
}

}  // namespace berth
