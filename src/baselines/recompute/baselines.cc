#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <utility>

#include "base/try.h"
#include "base/wide.h"
#include "baselines/recompute/methods.h"
#include "berth/recompute_baselines.h"
#include "graph/edges.h"

namespace berth {
namespace {

namespace methods = internal::baselines;
using methods::Passes;
using methods::Work;

constexpr std::int64_t kMostEnergy = std::int64_t{1} << 40;

double SecondsSince(Budget::Clock::time_point start) {
  return std::chrono::duration<double>(Budget::Clock::now() - start).count();
}

Result<Passes> PassesOf(const Graph& graph, const Work& work,
                        const RecomputeBaselineOptions& options) {
  const std::size_t n = work.size();
  if (options.backward && *options.backward >= n) {
    return Fail(ErrorCode::kInvalidOptions, "the backward pass begins with operator number " +
                                                std::to_string(*options.backward) +
                                                " but the graph has " + std::to_string(n));
  }
  const auto begins = [&](OperatorIndex v) {
    if (options.backward) return v == *options.backward;
    const auto& outputs = graph.operators[v].outputs;
    return std::any_of(outputs.begin(), outputs.end(), [&](TensorIndex t) {
      return graph.tensors[t].kind == TensorKind::kGradient;
    });
  };
  const auto first = std::find_if(work.order.begin(), work.order.end(), begins);
  if (first == work.order.end()) {
    return Fail(ErrorCode::kUnsupported,
                "no tensor of the graph is a gradient, so it is not known where the backward pass "
                "begins");
  }
  return methods::FindPasses(work, static_cast<std::size_t>(first - work.order.begin()));
}

// What a heuristic finds.
Result<methods::Solved> Search(const Graph& graph, const Work& work, RecomputeBaseline baseline,
                               const RecomputeBaselineOptions& options, Budget& budget) {
  if (baseline == RecomputeBaseline::kCheckmate) {
    Budget part(budget, methods::kShareOfSolver);
    return methods::SolveStages(work, options, nullptr, part);
  }
  methods::Solved solved;
  if (baseline == RecomputeBaseline::kPeak) {
    solved.sequence = methods::RepeatAtPeak(work, options.capacity, budget);
  } else {
    const Passes passes = BERTH_TRY(PassesOf(graph, work, options));
    const auto method = baseline == RecomputeBaseline::kPartition ? methods::PartitionByBudget
                                                                  : methods::CheckpointSegments;
    solved.sequence = method(work, passes, options.capacity, budget);
  }
  if (solved.sequence) solved.answer.outcome = Outcome::kFeasible;
  if (budget.Exhausted()) solved.answer.stopped = StopReason::kBudget;
  return solved;
}

Result<void> CheckPoet(const Graph& graph, const PoetOptions& options) {
  BERTH_TRY(Validate(options.link));
  for (const std::int64_t price : {options.energy_out_per_byte, options.energy_in_per_byte}) {
    if (price >= 0 && price <= kMostEnergy) continue;
    return Fail(ErrorCode::kInvalidOptions, "the energy of copying a byte is " +
                                                std::to_string(price) + ", not from 0 to 2^40");
  }
  if (options.energy.empty()) return methods::CheckTimes(graph);
  if (options.energy.size() != graph.operators.size()) {
    return Fail(ErrorCode::kInvalidOptions,
                "there are energies of " + std::to_string(options.energy.size()) +
                    " operators, but the graph has " + std::to_string(graph.operators.size()));
  }
  for (OperatorIndex v = 0; v < options.energy.size(); ++v) {
    if (options.energy[v] >= 0 && options.energy[v] <= kMostEnergy) continue;
    return Fail(ErrorCode::kInvalidOptions, "the energy of operator \"" + graph.operators[v].name +
                                                "\" is " + std::to_string(options.energy[v]) +
                                                ", not from 0 to 2^40");
  }
  return {};
}

Result<methods::Paging> PagingOf(const Graph& graph, const Work& work, const PoetOptions& options) {
  methods::Paging paging = methods::TimesOf(work, options.link);
  paging.most_cost = options.most_cost;
  if (options.energy.empty()) return paging;
  for (std::size_t p = 0; p < work.size(); ++p) paging.run[p] = options.energy[work.order[p]];
  for (std::size_t s = 0; s < work.stores.size(); ++s) {
    const methods::Store& store = work.stores[s];
    const auto price = [&](std::int64_t per_byte) { return internal::Wide{per_byte} * store.size; };
    const internal::Wide out = price(options.energy_out_per_byte);
    const internal::Wide in = price(options.energy_in_per_byte);
    constexpr internal::Wide kMost = internal::Wide{1} << 53;
    if (out > kMost || in > kMost) {
      return Fail(ErrorCode::kUnsupported,
                  "the energy of a copy of tensor \"" + graph.tensors[store.tensor].name +
                      "\" exceeds 2^53, beyond which solvers cannot count whole numbers");
    }
    paging.out[s] = static_cast<std::int64_t>(out);
    paging.in[s] = static_cast<std::int64_t>(in);
  }
  return paging;
}

// What a plan is worth to POET.
std::int64_t ValueOf(const MemoryPlan& plan, const PoetOptions& options) {
  if (options.energy.empty()) return plan.overhead();
  std::int64_t value = plan.traffic.spilled * options.energy_out_per_byte +
                       plan.traffic.retrieved * options.energy_in_per_byte;
  std::vector<char> ran(options.energy.size(), 0);
  for (const OperatorIndex v : plan.order) {
    if (std::exchange(ran[v], 1) != 0) value += options.energy[v];
  }
  return value;
}

}  // namespace

namespace internal::baselines {

Result<Order> OrderOf(const Graph& graph, const RecomputeBaselineOptions& options) {
  BERTH_TRY(Validate(graph));
  if (options.capacity < 0) {
    return Fail(ErrorCode::kInvalidOptions,
                "the capacity is " + std::to_string(options.capacity) + " bytes, below 0");
  }
  if (!options.order) return ProgramOrder(graph);
  BERTH_TRY(ValidateOrder(graph, *options.order));
  return *options.order;
}

Result<void> CheckTimes(const Graph& graph) {
  if (graph.cost_unit == "ns") return {};
  return Fail(ErrorCode::kInvalidOptions,
              "operators cost " + CostsOf(graph).unit +
                  ", not nanoseconds, so that their time and that of copies cannot be added");
}

Paging TimesOf(const Work& work, const Link& link) {
  Paging paging;
  paging.link = link;
  paging.run = work.cost;
  for (const Store& store : work.stores) {
    paging.out.push_back(link.Out(store.size));
    paging.in.push_back(link.In(store.size));
  }
  return paging;
}

}  // namespace internal::baselines

std::span<const RecomputeBaselineInfo> RecomputeBaselines() {
  static constexpr std::array<RecomputeBaselineInfo, 4> kInfos = {
      {{RecomputeBaseline::kCheckmate, "checkmate",
        "An integer program over stages: which operators run again, which tensors stay.",
        "Jain et al., MLSys 2020, section 4", true, false},
       {RecomputeBaseline::kPeak, "peak",
        "At the first step that exceeds the memory, what is cheapest to make again for its bytes.",
        "XLA, HloRematerialization, in spirit", false, false},
       {RecomputeBaseline::kPartition, "partition",
        "What the forward pass saves for the backward pass, by a knapsack and a minimum cut.",
        "PyTorch, min_cut_rematerialization_partition with activation_memory_budget", false, true},
       {RecomputeBaseline::kCheckpoints, "checkpoints",
        "Segments of the forward pass run again as a whole.",
        "Chen et al., arXiv 1604.06174, algorithm 3", false, true}}};
  return kInfos;
}

const RecomputeBaselineInfo& Info(RecomputeBaseline baseline) {
  return RecomputeBaselines()[static_cast<std::size_t>(baseline)];
}

Result<RecomputeBaselineAnswer> RecomputeWithBaseline(const Graph& graph,
                                                      RecomputeBaseline baseline,
                                                      const RecomputeBaselineOptions& options,
                                                      Budget& budget) {
  const auto start = Budget::Clock::now();
  const Order order = BERTH_TRY(methods::OrderOf(graph, options));
  const Work work = methods::ReadWork(graph, order);
  methods::Solved solved = BERTH_TRY(Search(graph, work, baseline, options, budget));
  if (solved.sequence) {
    const methods::Trace trace = methods::Run(work, *solved.sequence, /*linked=*/false);
    solved.answer.plan = BERTH_TRY(methods::MakePlan(graph, work, *solved.sequence, trace, nullptr,
                                                     options.capacity, options.placer, budget));
  }
  solved.answer.seconds = SecondsSince(start);
  return std::move(solved.answer);
}

Result<PoetAnswer> RecomputeByPoet(const Graph& graph, const PoetOptions& options, Budget& budget) {
  const auto start = Budget::Clock::now();
  const Order order = BERTH_TRY(methods::OrderOf(graph, options.plan));
  BERTH_TRY(CheckPoet(graph, options));
  const Work work = methods::ReadWork(graph, order);
  const methods::Paging paging = BERTH_TRY(PagingOf(graph, work, options));
  PoetAnswer answer;
  methods::Found sequence;
  {
    Budget part(budget, methods::kShareOfSolver);
    methods::Solved solved = BERTH_TRY(methods::SolveStages(work, options.plan, &paging, part));
    answer.found = std::move(solved.answer);
    sequence = std::move(solved.sequence);
  }
  if (sequence) {
    const methods::Trace trace = methods::Run(work, *sequence, /*linked=*/true);
    answer.found.plan =
        BERTH_TRY(methods::MakePlan(graph, work, *sequence, trace, &options.link,
                                    options.plan.capacity, options.plan.placer, budget));
    answer.value = ValueOf(*answer.found.plan, options);
  }
  answer.found.seconds = SecondsSince(start);
  return answer;
}

}  // namespace berth
