// The proof that no order has a peak within a limit. First the bytes at the start and the end and one
// minimum cut, which is enough for most graphs. Then, in turns of doubled work, the states within the limit
// and the constraints that probing finds, which make states fewer and may contradict each other. What is
// found is written by certificate.h and state_log.h.

#include "berth/prove.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <numeric>
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
#include "schedule/precedence.h"
#include "schedule/probe.h"
#include "schedule/reduce.h"
#include "schedule/state_log.h"
#include "schedule/window.h"

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
// Where they would take more: the sizes of windows, and how many of each there are at most.
constexpr std::array<std::size_t, 3> kWindows = {128, 512, 2048};
constexpr std::size_t kMostWindows = 4;

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

// The search for a proof by some operators alone, as whole graphs or windows of them (schedule/window.h).
class Scope {
 public:
  enum class Verdict { kProved, kOpen, kHopeless };
  // `whole` has the operators `names` of `part`, in the same sequence; without `names` the two are the
  // same. `order` is a valid one of `part`. All but the last two must outlive this.
  Scope(const Instance& whole, Bytes limit, const OrderProofOptions& options, Budget& budget,
        Instance part, std::vector<Op> names, std::vector<Op> order)
      : whole_(whole),
        limit_(limit),
        options_(options),
        budget_(budget),
        part_(std::move(part)),
        names_(std::move(names)),
        order_(std::move(order)),
        reduction_(Reduce(part_, order_, true, budget)),
        prober_(reduction_.instance, Precedence(reduction_.instance), limit),
        stable_(!options.constraints) {
    AddOrder();
  }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  // Continues with so many states in each direction and so much work; appends a proof to `text`.
  Verdict Advance(std::size_t states, std::int64_t work, std::string& text) {
    if (options_.states && TryStates(states, text)) return Verdict::kProved;
    if (passes_ || budget_.Exhausted()) return Verdict::kHopeless;
    if (stable_) return is_full_ || !options_.states ? Verdict::kHopeless : Verdict::kOpen;
    const auto verdict = prober_.Run(work, 1, budget_);
    TakeConstraints();
    if (verdict == Prober::Verdict::kContradiction) {
      const bool written = Certificates(whole_, Constraints(), limit_, budget_)
                               .WriteCut(NameOf(reduction_.ops[prober_.refuted()]), text);
      return written ? Verdict::kProved : Verdict::kHopeless;
    }
    stable_ = verdict == Prober::Verdict::kStable;
    return Verdict::kOpen;
  }
  // States took too much memory.
  [[nodiscard]] bool is_full() const { return is_full_; }

 private:
  [[nodiscard]] Op NameOf(Op v) const { return names_.empty() ? v : names_[v]; }

  // The order, of the operators that are left, as a witness.
  void AddOrder() {
    std::vector<Op> local(part_.num_ops, 0);
    for (std::size_t k = 0; k < reduction_.ops.size(); ++k) {
      local[reduction_.ops[k]] = static_cast<Op>(k);
    }
    std::vector<Op> order;
    for (const Op v : order_) {
      if (reduction_.part[v] == Reduction::Part::kKept) order.push_back(local[v]);
    }
    prober_.AddOrder(order);
  }

  void TakeConstraints() {
    const auto& added = prober_.precedence().added();
    for (std::size_t c = constraints_.size(); c < added.size(); ++c) {
      constraints_.emplace_back(reduction_.ops[added[c].first], reduction_.ops[added[c].second]);
    }
  }
  [[nodiscard]] std::vector<Certificates::Constraint> Constraints() const {
    std::vector<Certificates::Constraint> named;
    for (const auto& [u, v] : constraints_) named.emplace_back(NameOf(u), NameOf(v));
    return named;
  }

  // Within the constraints that are known by now, in both directions.
  bool TryStates(std::size_t most_states, std::string& text) {
    std::vector<std::pair<Op, Op>> edges = constraints_;
    for (Op v = 0; v < part_.num_ops; ++v) {
      for (const Op p : part_.predecessors[v]) edges.emplace_back(p, v);
    }
    const Instance all = MakeInstance(part_.num_ops, part_.base, edges, part_.buffers);
    passes_ = true;
    is_full_ = false;
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
          Certificates certificates(whole_, Constraints(), limit_, budget_);
          const bool written = certificates.WriteConstraints(text);
          BERTH_CHECK(written || budget_.Exhausted());
          if (written) log.Write(names_, text);
          return written;
        }
        if (verdict == StateLog::Verdict::kNoAnswer) return false;
        if (verdict == StateLog::Verdict::kTooMany) passes_ = false;
        is_full_ = is_full_ || log.is_full();
      }
    }
    return false;
  }

  const Instance& whole_;
  Bytes limit_;
  const OrderProofOptions& options_;
  Budget& budget_;
  Instance part_;
  std::vector<Op> names_;
  std::vector<Op> order_;
  Reduction reduction_;
  Prober prober_;
  std::vector<std::pair<Op, Op>> constraints_;  // Found so far, of operators of part_.
  bool stable_;
  bool is_full_ = false;
  bool passes_ = false;  // All states were seen, and they lead on.
};

class OrderProver {
 public:
  // `order`: any valid one, best of low peak. All must outlive this.
  OrderProver(const Instance& instance, const std::vector<Op>& order, Bytes limit,
              const OrderProofOptions& options, Budget& budget)
      : instance_(instance), order_(order), limit_(limit), options_(options), budget_(budget) {
    (void)PeakOf(instance_, order_, &steps_);
  }

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
    if (budget_.Exhausted() || !(options_.constraints || options_.states)) return false;
    const std::size_t sets = instance_.num_ops * instance_.words() * sizeof(Word);
    is_large_ = sets > options_.most_bytes / kShareOfSets;
    if (is_large_) {
      AddWindows();
    } else {
      scopes_.push_back(std::make_unique<Scope>(instance_, limit_, options_, budget_, instance_,
                                                std::vector<Op>(), order_));
    }
    return TakeTurns(text);
  }
  // Why Run() had no answer.
  [[nodiscard]] NoProof missing() const {
    if (budget_.cancelled()) return NoProof::kInterrupted;
    if (budget_.Exhausted()) return NoProof::kBudget;
    if (is_large_) return NoProof::kSize;
    return is_full_ ? NoProof::kMemory : NoProof::kAlgorithm;
  }

 private:
  // Operators of high steps first: the cut of one is never larger than its step.
  bool CutOne(std::string& text) {
    std::vector<Op> high;
    for (Op v = 0; v < instance_.num_ops; ++v) {
      if (steps_[v] > limit_) high.push_back(v);
    }
    std::stable_sort(high.begin(), high.end(), [&](Op a, Op b) { return steps_[a] > steps_[b]; });
    if (high.size() > kMostCuts) high.resize(kMostCuts);
    Certificates certificates(instance_, {}, limit_, budget_);
    for (const Op v : high) {
      if (certificates.WriteCut(v, text)) return true;
      if (budget_.Exhausted()) return false;
    }
    return false;
  }

  // Of operators around the first steps beyond the limit, far from each other.
  void AddWindows() {
    const std::size_t n = order_.size();
    std::vector<Op> position(n);
    for (std::size_t k = 0; k < n; ++k) position[order_[k]] = static_cast<Op>(k);
    for (const std::size_t size : kWindows) {
      std::size_t count = 0;
      std::size_t next = 0;
      for (std::size_t k = 0; k < n && count < kMostWindows; ++k) {
        if (steps_[order_[k]] <= limit_ || k < next) continue;
        if (budget_.Exhausted()) return;
        const std::size_t begin = std::min(k - std::min(k, size / 2), n - std::min(n, size));
        const std::size_t end = std::min(n, begin + size);
        std::vector<Op> names(order_.begin() + static_cast<std::ptrdiff_t>(begin),
                              order_.begin() + static_cast<std::ptrdiff_t>(end));
        std::vector<Op> sequence(names.size());
        std::iota(sequence.begin(), sequence.end(), Op{0});
        scopes_.push_back(std::make_unique<Scope>(instance_, limit_, options_, budget_,
                                                  Part(instance_, order_, position, begin, end),
                                                  std::move(names), std::move(sequence)));
        next = end;
        ++count;
      }
    }
  }

  // Each with as much work as all turns of it before.
  bool TakeTurns(std::string& text) {
    std::int64_t work = kFirstWork;
    for (std::size_t states = kFirstStates; !scopes_.empty(); states *= 2, work *= 2) {
      for (auto& scope : scopes_) {
        const auto verdict = scope->Advance(states, work, text);
        if (verdict == Scope::Verdict::kProved) return true;
        if (budget_.Exhausted()) return false;
        if (verdict != Scope::Verdict::kHopeless) continue;
        is_full_ = is_full_ || scope->is_full();
        scope.reset();
      }
      std::erase(scopes_, nullptr);
    }
    return false;
  }

  const Instance& instance_;
  const std::vector<Op>& order_;
  Bytes limit_;
  const OrderProofOptions& options_;
  Budget& budget_;
  std::vector<Bytes> steps_;  // By operator, in order_.
  std::vector<std::unique_ptr<Scope>> scopes_;
  bool is_large_ = false;
  bool is_full_ = false;
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
                "the order of the answer does not have the peak that it states");
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
