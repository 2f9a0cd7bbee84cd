// The text of a proof: the problem, what is claimed of it, and the steps. A bound is one step; beyond
// that the niche search runs once more and logs what it concludes (niche/proof_log.h). It runs without
// what takes turns with it and proves nothing itself.

#include "berth/prove.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "base/arithmetic.h"
#include "model/instance.h"
#include "place/engines.h"
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
  std::vector<Bytes> alignments;
  for (const Buffer& buffer : problem.buffers) alignments.push_back(buffer.alignment);
  std::sort(alignments.begin(), alignments.end());
  alignments.erase(std::unique(alignments.begin(), alignments.end()), alignments.end());
  for (const Bytes alignment : alignments) {
    if (AlignedLoad(problem, bound.bound_step, alignment) <= capacity) continue;
    return "steps " + std::to_string(bound.bound_step) + "\nproof\nso aligned 0 " +
           std::to_string(alignment) + "\n";
  }
  return "";
}

// The steps of a search, or nothing where it has no answer.
std::optional<std::string> SearchSteps(const Problem& problem, Bytes capacity,
                                       const ProofOptions& options, Budget& budget,
                                       std::int64_t& nodes) {
  const Instance instance = Compile(problem);
  Subject subject(instance, {}, options.seed, budget);
  if (!FindEngine(Algorithm::kNiche)->fits(subject)) return std::nullopt;
  niche::Options rules;
  rules.beam = false;
  niche::ProofLog log(options.most_bytes);
  const auto search = niche::MakeSearch(instance, rules, options.seed, &log);
  const SearchAnswer answer = search->Decide({capacity}, budget);
  nodes = answer.nodes;
  if (answer.verdict != SearchAnswer::Verdict::kImpossible) return std::nullopt;
  std::string text = "steps";
  for (const SectionIndex s : instance.sections()) Append(text, instance.section_start[s]);
  text += '\n';
  log.Write(text);
  return text;
}

std::optional<std::string> StepsOf(const Problem& problem, Bytes capacity,
                                   const ProofOptions& options, Budget& budget,
                                   std::int64_t& nodes) {
  if (const auto pins = CollidingPins(problem)) {
    return "steps\nproof\nso pins " + std::to_string(pins->first) + " " +
           std::to_string(pins->second) + "\n";
  }
  std::string bound = BoundStep(problem, capacity);
  if (!bound.empty()) return bound;
  return SearchSteps(problem, capacity, options, budget, nodes);
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
  auto steps = internal::StepsOf(problem, *capacity, options, budget, proof.nodes);
  if (steps) {
    proof.text = internal::Head(problem, answer, *capacity) + *steps + "end\n";
  }
  proof.seconds = std::chrono::duration<double>(Budget::Clock::now() - begin).count();
  return proof;
}

}  // namespace berth
