// The text of a proof: the problem, what is claimed of it, and the steps. A bound is one step; beyond
// that two searches run once more, in turn, and log what they conclude: the niche search
// (niche/proof_log.h), and the guided one (learning/clause_log.h).

#include "berth/prove.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/arithmetic.h"
#include "model/instance.h"
#include "place/engines.h"
#include "place/learning/guided.h"
#include "place/niche/niche.h"

namespace berth {
namespace internal {
namespace {

void Append(std::string& text, std::int64_t number) {
  text += ' ';
  text += std::to_string(number);
}

void AppendBuffer(const Buffer& buffer, std::string& text) {
  text += "buffer";
  Append(text, buffer.start);
  Append(text, buffer.end);
  Append(text, buffer.size);
  if (buffer.alignment != 1) {
    text += " align";
    Append(text, buffer.alignment);
  }
  if (buffer.offset) {
    text += " at";
    Append(text, *buffer.offset);
  }
  for (const Gap& gap : buffer.gaps) {
    text += gap.window ? " window" : " gap";
    Append(text, gap.start);
    Append(text, gap.end);
    if (!gap.window) continue;
    Append(text, gap.window->lower);
    Append(text, gap.window->upper);
  }
  text += '\n';
}

// What is claimed, and of what.
std::string Head(const Problem& problem, const PlanAnswer& answer, Bytes capacity) {
  const bool is_optimal = answer.outcome == Outcome::kOptimal;
  std::string text = "berth-proof 1\n";
  text += is_optimal ? "claim optimal" : "claim infeasible";
  Append(text, is_optimal ? capacity + 1 : capacity);
  text += "\nbuffers";
  Append(text, static_cast<std::int64_t>(problem.buffers.size()));
  text += '\n';
  for (const Buffer& buffer : problem.buffers) AppendBuffer(buffer, text);
  if (!is_optimal) return text;
  text += "plan";
  for (const Residency& residency : answer.best->residencies) Append(text, residency.offset);
  text += '\n';
  return text;
}

// The bytes that buffers need at `step` if their offsets are multiples of `alignment` (see
// MaxLiveLoad()).
Bytes AlignedLoad(const Problem& problem, Step step, Bytes alignment) {
  Bytes sum = 0;
  Bytes most_waste = 0;
  for (const Buffer& buffer : problem.buffers) {
    if (buffer.alignment % alignment != 0) continue;
    ForEachLivePiece(buffer, [&](const LivePiece& piece) {
      if (piece.start > step || piece.end <= step || piece.lower != 0) return;
      const Bytes rounded = RoundUp(piece.upper, alignment);
      sum += rounded;
      most_waste = std::max(most_waste, rounded - piece.upper);
    });
  }
  return sum - most_waste;
}

// The step of the proof where a bound exceeds `capacity`, with the declaration that it needs; empty
// where none does.
std::string BoundStep(const Problem& problem, Bytes capacity) {
  if (problem.buffers.empty()) return "steps\nproof\nso empty\n";
  for (std::size_t b = 0; b < problem.buffers.size(); ++b) {
    const Buffer& buffer = problem.buffers[b];
    if (buffer.offset.value_or(0) + buffer.size > capacity) {
      return "steps\nproof\nso high " + std::to_string(b) + "\n";
    }
  }
  const LoadBound bound = MaxLiveLoad(problem);
  if (bound.load > capacity) {
    return "steps " + std::to_string(bound.load_step) + "\nproof\nso load 0\n";
  }
  if (bound.lower_bound <= capacity) return "";
  // The bound is that of one of the largest alignments, as many as MaxLiveLoad() looks at.
  constexpr std::size_t kMostAlignments = 16;
  std::set<Bytes, std::greater<>> alignments;
  for (const Buffer& buffer : problem.buffers) {
    alignments.insert(buffer.alignment);
    if (alignments.size() > kMostAlignments) alignments.erase(std::prev(alignments.end()));
  }
  for (const Bytes alignment : alignments) {
    if (AlignedLoad(problem, bound.bound_step, alignment) <= capacity) continue;
    return "steps " + std::to_string(bound.bound_step) + "\nproof\nso aligned 0 " +
           std::to_string(alignment) + "\n";
  }
  return "";
}

// The niche search takes turns with the guided one, which learns clauses: it is slower for a node, but
// some proofs take it a thousandth of the nodes. Each turn is as long as all turns before (exact.cc).
class LoggingSearch {
 public:
  LoggingSearch(const Instance& instance, const ProofOptions& options, Budget& budget)
      : budget_(budget),
        seed_(options.seed),
        subject_(instance, {}, options.seed, budget),
        log_(options.most_bytes / 2),
        clauses_(options.most_bytes / 2) {
    if (options.algorithm != Algorithm::kGuided && FindEngine(Algorithm::kNiche)->fits(subject_)) {
      niche::Options rules;
      rules.beam = false;  // It finds plans only.
      niche_ = niche::MakeSearch(instance, rules, options.seed, &log_);
    }
    const bool may_guide = options.algorithm != Algorithm::kNiche;
    too_many_overlaps_ = may_guide && subject_.num_overlaps() > kMostOverlaps;
    wants_guided_ = may_guide && !too_many_overlaps_;
  }

  // Appends the steps. False if neither search has an answer.
  [[nodiscard]] bool Run(Bytes capacity, std::string& text) {
    const std::int64_t first = subject_.instance().has_pins ? kFirstTurnWithPins : kFirstTurn;
    while ((niche_ != nullptr || guided_ != nullptr || wants_guided_) && !budget_.Exhausted()) {
      if (Refutes(niche_, std::max(first, niche_nodes_), capacity, niche_nodes_, log_.is_full())) {
        log_.Write(text);
        return true;
      }
      // Without the niche search, this one sets its own pace.
      if (niche_ == nullptr) niche_nodes_ = std::clamp(2 * niche_nodes_, first, kMostNodes);
      if (std::exchange(wants_guided_, false) && subject_.overlaps() != nullptr) {
        guided_ =
            learning::MakeSearch(subject_.instance(), *subject_.overlaps(), {}, seed_, &clauses_);
      }
      const std::int64_t due = niche_nodes_ / kNodesForOne - guided_nodes_;
      if (Refutes(guided_, due, capacity, guided_nodes_, clauses_.is_full())) {
        clauses_.Write(text);
        return true;
      }
    }
    return false;
  }
  [[nodiscard]] std::int64_t nodes() const { return nodes_; }
  // Why Run() had no answer.
  [[nodiscard]] NoProof missing() const {
    if (budget_.cancelled()) return NoProof::kInterrupted;
    if (budget_.Exhausted()) return NoProof::kBudget;
    if (log_.is_full() || clauses_.is_full()) return NoProof::kMemory;
    return too_many_overlaps_ ? NoProof::kSize : NoProof::kAlgorithm;
  }

 private:
  // Beyond that a node of the guided search looks at too many pairs.
  static constexpr std::int64_t kMostOverlaps = 1'000'000;
  static constexpr std::int64_t kFirstTurn = 20'000;
  static constexpr std::int64_t kMostNodes = std::int64_t{1} << 60;
  static constexpr std::int64_t kFirstTurnWithPins = 500;  // As in exact.cc.
  // Nodes of the niche search for one of the guided one.
  static constexpr std::int64_t kNodesForOne = 12;

  // Searches that can go no further are given up.
  [[nodiscard]] bool Refutes(std::unique_ptr<Search>& search, std::int64_t turn, Bytes capacity,
                             std::int64_t& nodes, bool is_full) {
    if (is_full) search.reset();
    if (search == nullptr || turn <= 0) return false;
    const SearchAnswer answer = search->Decide({capacity, turn}, budget_);
    nodes += answer.nodes;
    nodes_ += answer.nodes;
    if (answer.verdict == SearchAnswer::Verdict::kImpossible) return true;
    if (answer.verdict != SearchAnswer::Verdict::kGaveUp) search.reset();
    return false;
  }

  Budget& budget_;
  std::uint64_t seed_;
  Subject subject_;
  niche::ProofLog log_;
  learning::ClauseLog clauses_;
  std::unique_ptr<Search> niche_;
  std::unique_ptr<Search> guided_;
  bool wants_guided_ = false;  // It has not been made yet.
  bool too_many_overlaps_ = false;
  std::int64_t niche_nodes_ = 0;
  std::int64_t guided_nodes_ = 0;
  std::int64_t nodes_ = 0;
};

// The steps of a search, or nothing where it has no answer: `proof` holds why, and the nodes.
std::optional<std::string> SearchSteps(const Problem& problem, Bytes capacity,
                                       const ProofOptions& options, Budget& budget,
                                       PlacementProof& proof) {
  const Instance instance = Compile(problem);
  std::string text = "steps";
  for (const SectionIndex s : instance.sections()) Append(text, instance.section_start[s]);
  text += '\n';
  LoggingSearch search(instance, options, budget);
  const bool refuted = search.Run(capacity, text);
  proof.nodes = search.nodes();
  if (refuted) return text;
  proof.missing = search.missing();
  return std::nullopt;
}

std::optional<std::string> StepsOf(const Problem& problem, Bytes capacity,
                                   const ProofOptions& options, Budget& budget,
                                   PlacementProof& proof) {
  if (const auto pins = CollidingPins(problem)) {
    return "steps\nproof\nso pins " + std::to_string(pins->first) + " " +
           std::to_string(pins->second) + "\n";
  }
  std::string bound = BoundStep(problem, capacity);
  if (!bound.empty()) return bound;
  return SearchSteps(problem, capacity, options, budget, proof);
}

// The largest capacity that no plan has, by `answer`; nothing if it does not say so.
std::optional<Bytes> RefutedBy(const Problem& problem, const PlanAnswer& answer) {
  if (answer.outcome == Outcome::kInfeasible) return problem.capacity.value_or(kMaxBytes);
  if (answer.outcome != Outcome::kOptimal || !answer.best ||
      answer.best->residencies.size() != problem.buffers.size()) {
    return std::nullopt;
  }
  return answer.best->height() - 1;
}

}  // namespace
}  // namespace internal

std::string_view ToString(NoProof reason) {
  switch (reason) {
    case NoProof::kBudget:
      return "budget";
    case NoProof::kInterrupted:
      return "interrupted";
    case NoProof::kMemory:
      return "memory";
    case NoProof::kSize:
      return "size";
    case NoProof::kAlgorithm:
      break;
  }
  return "algorithm";
}

Result<PlacementProof> ProvePlacement(const Problem& problem, const PlanAnswer& answer,
                                      const ProofOptions& options, Budget& budget) {
  const auto begin = Budget::Clock::now();
  if (auto valid = Validate(problem); !valid) return tl::unexpected(valid.error());
  const std::optional<Bytes> capacity = internal::RefutedBy(problem, answer);
  if (!capacity) {
    return Fail(ErrorCode::kInvalidOptions,
                "only an answer that is infeasible, or optimal with its plan, has a proof");
  }
  PlacementProof proof;
  auto steps = internal::StepsOf(problem, *capacity, options, budget, proof);
  if (steps) {
    proof.text = internal::Head(problem, answer, *capacity) + *steps + "end\n";
  }
  proof.seconds = std::chrono::duration<double>(Budget::Clock::now() - begin).count();
  return proof;
}

}  // namespace berth
