// The proof that no order has a peak within a limit. First the bytes at the start and the end and one
// minimum cut, which is enough for most graphs. Then, in turns of doubled work, the states within the limit
// and the constraints that probing finds, which make states fewer and may contradict each other. What is
// found is written by certificate.h and state_log.h.

#include "berth/prove.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/try.h"
#include "graph/topology.h"
#include "schedule/certificate.h"
#include "schedule/compile.h"
#include "schedule/instance.h"
#include "schedule/probe.h"
#include "schedule/reduce.h"
#include "schedule/state_log.h"

namespace berth {
namespace internal::schedule {
namespace {

// Of the first turn. Work is in units of a few nanoseconds.
constexpr std::int64_t kFirstWork = 2'000'000;
constexpr std::size_t kFirstStates = 2'000;
// Cuts of single operators before anything else.
constexpr std::size_t kMostCuts = 10'000;
// Between as many pairs of pivots are states looked for.
constexpr std::size_t kMostBeginnings = 8;
// Sets of operators for each operator take this part of the memory at most, as there are several.
constexpr std::size_t kShareOfSets = 16;

void Append(std::string& text, std::int64_t number) {
  text += ' ';
  text += std::to_string(number);
}

// What is claimed, and of what.
std::string Head(const Instance& instance, Bytes limit, const Order* optimal) {
  std::string text = "berth-order-proof 1\nclaim ";
  text += optimal != nullptr ? "optimal" : "infeasible";
  Append(text, optimal != nullptr ? limit + 1 : limit);
  text += "\noperators";
  Append(text, static_cast<std::int64_t>(instance.num_ops));
  text += '\n';
  for (Op v = 0; v < instance.num_ops; ++v) {
    if (instance.predecessors[v].empty()) continue;
    text += "wait";
    Append(text, v);
    for (const Op p : instance.predecessors[v]) Append(text, p);
    text += '\n';
  }
  text += "always";
  Append(text, instance.base);
  text += "\ntensors";
  Append(text, static_cast<std::int64_t>(instance.buffers.size()));
  text += '\n';
  for (const FlowBuffer& buffer : instance.buffers) {
    text += "tensor";
    Append(text, buffer.bytes);
    if (!buffer.from_start) {
      text += " from";
      Append(text, buffer.creators.front());
    }
    text += buffer.to_end ? " end" : " to";
    for (const Op k : buffer.consumers) Append(text, k);
    text += '\n';
  }
  if (optimal != nullptr) {
    text += "order";
    for (const OperatorIndex v : *optimal) Append(text, static_cast<std::int64_t>(v));
    text += '\n';
  }
  return text;
}

class OrderProver {
 public:
  // `order`: any valid one, best of low peak. All must outlive this.
  OrderProver(const Instance& instance, const std::vector<Op>& order, Bytes limit,
              const OrderProofOptions& options, Budget& budget)
      : instance_(instance), order_(order), limit_(limit), options_(options), budget_(budget) {}

  // Appends the steps. False if there is no answer.
  [[nodiscard]] bool Run(std::string& text) {
    if (LiveAtStart(instance_) > limit_) {
      text += "start\n";
      return true;
    }
    if (LiveAtEnd(instance_) > limit_) {
      text += "finish\n";
      return true;
    }
    if (CutOne(text)) return true;
    const std::size_t sets = instance_.num_ops * instance_.words() * sizeof(Word);
    too_large_ = sets > options_.most_bytes / kShareOfSets;
    return !too_large_ && !budget_.Exhausted() && TakeTurns(text);
  }
  // Why Run() had no answer.
  [[nodiscard]] NoProof missing() const {
    if (budget_.cancelled()) return NoProof::kInterrupted;
    if (budget_.Exhausted()) return NoProof::kBudget;
    if (too_large_) return NoProof::kSize;
    return out_of_memory_ ? NoProof::kMemory : NoProof::kAlgorithm;
  }

 private:
  // Operators of high steps first: the cut of one is never larger than its step.
  bool CutOne(std::string& text) {
    std::vector<Bytes> steps;
    (void)PeakOf(instance_, order_, &steps);
    std::vector<Op> high;
    for (Op v = 0; v < instance_.num_ops; ++v) {
      if (steps[v] > limit_) high.push_back(v);
    }
    std::stable_sort(high.begin(), high.end(), [&](Op a, Op b) { return steps[a] > steps[b]; });
    if (high.size() > kMostCuts) high.resize(kMostCuts);
    Certificates certificates(instance_, {}, limit_, budget_);
    for (const Op v : high) {
      if (certificates.WriteCut(v, text)) return true;
      if (budget_.Exhausted()) return false;
    }
    return false;
  }

  bool TakeTurns(std::string& text) {
    const Reduction reduction = Reduce(instance_, order_, true, budget_);
    Prober prober(reduction.instance, Precedence(reduction.instance), limit_);
    AddOrder(reduction, prober);
    bool stable = !options_.constraints;
    std::int64_t work = kFirstWork;
    for (std::size_t states = kFirstStates;; states *= 2, work *= 2) {
      const bool refuted = options_.states && TryStates(states, text);
      if (refuted || passes_ || budget_.Exhausted()) return refuted;
      if (stable && (out_of_memory_ || !options_.states)) return false;
      if (stable) continue;
      const auto verdict = prober.Run(work, budget_);
      TakeConstraints(reduction, prober);
      if (verdict == Prober::Verdict::kContradiction) {
        return Certificates(instance_, constraints_, limit_, budget_)
            .WriteCut(reduction.ops[prober.refuted()], text);
      }
      if (budget_.Exhausted()) return false;
      stable = verdict == Prober::Verdict::kStable;
    }
  }

  // The order, of the operators that are left, as a witness.
  void AddOrder(const Reduction& reduction, Prober& prober) const {
    std::vector<Op> local(instance_.num_ops, 0);
    for (std::size_t k = 0; k < reduction.ops.size(); ++k) {
      local[reduction.ops[k]] = static_cast<Op>(k);
    }
    std::vector<Op> order;
    for (const Op v : order_) {
      if (reduction.part[v] == Reduction::Part::kKept) order.push_back(local[v]);
    }
    prober.AddOrder(order);
  }

  void TakeConstraints(const Reduction& reduction, const Prober& prober) {
    const auto& added = prober.precedence().added();
    for (std::size_t c = constraints_.size(); c < added.size(); ++c) {
      constraints_.emplace_back(reduction.ops[added[c].first], reduction.ops[added[c].second]);
    }
  }

  // Within the constraints that are known by now, in both directions.
  bool TryStates(std::size_t most_states, std::string& text) {
    std::vector<std::pair<Op, Op>> edges = constraints_;
    for (Op v = 0; v < instance_.num_ops; ++v) {
      for (const Op p : instance_.predecessors[v]) edges.emplace_back(p, v);
    }
    const Instance all = MakeInstance(instance_.num_ops, instance_.base, edges, instance_.buffers);
    passes_ = true;
    out_of_memory_ = false;
    for (const bool backwards : {false, true}) {
      const Instance reversed = backwards ? Reversed(all) : Instance();
      StateLog log(backwards ? reversed : all, limit_, backwards);
      auto beginnings = log.Beginnings(order_);
      if (beginnings.size() > kMostBeginnings) {
        beginnings.resize(kMostBeginnings);
        passes_ = false;
      }
      for (const auto& from : beginnings) {
        const auto verdict = log.Run(from, most_states, options_.most_bytes / 2, budget_);
        if (verdict == StateLog::Verdict::kRefuted) {
          Certificates certificates(instance_, constraints_, limit_, budget_);
          const bool written = certificates.WriteConstraints(text);
          BERTH_CHECK(written || budget_.Exhausted());
          if (written) log.Write(text);
          return written;
        }
        if (verdict == StateLog::Verdict::kNoAnswer) return false;
        if (verdict == StateLog::Verdict::kTooMany) passes_ = false;
        out_of_memory_ = out_of_memory_ || log.is_full();
      }
    }
    return false;
  }

  const Instance& instance_;
  const std::vector<Op>& order_;
  Bytes limit_;
  const OrderProofOptions& options_;
  Budget& budget_;
  std::vector<Certificates::Constraint> constraints_;  // Found so far.
  bool too_large_ = false;
  bool out_of_memory_ = false;
  bool passes_ = false;  // All states were seen, and they lead on: a bound that does not hold.
};

// The largest peak that no order has, by `answer`.
Bytes RefutedBy(const PlanAnswer& answer) {
  return answer.outcome == Outcome::kOptimal ? answer.peak_bound - 1 : *answer.capacity;
}

bool IsPlain(const MemoryPlan& plan) {
  return plan.memories.size() == 1 && plan.traffic.avoidable() == 0 &&
         plan.recomputed.operators == 0;
}

}  // namespace
}  // namespace internal::schedule

bool RestsOnOrders(const PlanAnswer& answer) {
  if (answer.spills || answer.recomputes || answer.fixed_order) return false;
  if (answer.outcome == Outcome::kInfeasible) {
    return answer.capacity && answer.peak_bound > *answer.capacity;
  }
  if (answer.outcome != Outcome::kOptimal || !answer.best) return false;
  const MemoryPlan& plan = *answer.best;
  return internal::schedule::IsPlain(plan) && plan.peak() == answer.peak_bound &&
         (!plan.addressed || plan.height() == plan.peak());
}

Result<OrderProof> ProveOrder(const Graph& graph, const PlanAnswer& answer,
                              const OrderProofOptions& options, Budget& budget) {
  using internal::schedule::Op;
  const auto begin = Budget::Clock::now();
  const std::int64_t nodes = budget.nodes_spent();
  BERTH_TRY(Validate(graph));
  OrderProof proof;
  if (budget.Exhausted()) {
    proof.missing = budget.cancelled() ? NoProof::kInterrupted : NoProof::kBudget;
    return proof;
  }
  const Order known = answer.best ? answer.best->order : ProgramOrder(graph);
  if (!RestsOnOrders(answer) || !ValidateOrder(graph, known)) {
    return Fail(ErrorCode::kInvalidOptions,
                "only an answer that rests on a bound of all orders has a proof");
  }
  const Bytes limit = internal::schedule::RefutedBy(answer);
  const internal::schedule::Instance instance =
      internal::schedule::InstanceOf(internal::Compile(graph, options.counting));
  const std::vector<Op> order(known.begin(), known.end());
  if (answer.outcome == Outcome::kOptimal && PeakOf(instance, order) != answer.peak_bound) {
    return Fail(ErrorCode::kInvalidOptions,
                "the order of the answer has not the peak that it states");
  }
  internal::schedule::OrderProver prover(instance, order, limit, options, budget);
  std::string text = internal::schedule::Head(
      instance, limit, answer.outcome == Outcome::kOptimal ? &known : nullptr);
  text += "proof\n";
  if (prover.Run(text)) {
    proof.text = std::move(text) + "end\n";
  } else {
    proof.missing = prover.missing();
  }
  proof.nodes = budget.nodes_spent() - nodes;
  proof.seconds = std::chrono::duration<double>(Budget::Clock::now() - begin).count();
  return proof;
}

}  // namespace berth
