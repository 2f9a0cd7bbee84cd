// Greedy repetition at the first step that exceeds the capacity, as XLA's HloRematerialization walks its
// sequence: what is there but not used is made again right before its next use.

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/wide.h"
#include "baselines/recompute/methods.h"

namespace berth::internal::baselines {
namespace {

// A store that could leave at the step, and the executions that bring it back.
struct Candidate {
  std::int64_t cost = 0;
  Bytes freed = 0;  // At that step: at first its bytes, without what has to stay for it instead.
  std::size_t before = 0;  // Where in the sequence the chain goes.
  std::vector<std::size_t> chain;
};

bool IsCheaper(const Candidate& a, const Candidate& b) {
  return Wide{a.cost} * b.freed < Wide{b.cost} * a.freed;
}

Wide ExcessOf(const Trace& trace, Bytes capacity) {
  Wide excess = 0;
  for (const Bytes load : trace.load) excess += std::max<Bytes>(load - capacity, 0);
  return excess;
}

// The executions that leave `version` of a store, if all of them may run again.
std::vector<std::size_t> ChainOf(const Work& work, std::size_t s, std::int32_t version) {
  std::vector<std::size_t> chain;
  for (std::int32_t k = 0; k <= version; ++k) {
    const std::size_t p = work.stores[s].writers[static_cast<std::size_t>(k)];
    const auto& uses = work.uses[p];
    const bool again =
        work.may_repeat[p] != 0 && std::none_of(uses.begin(), uses.end(), [&](const Use& use) {
          return use.store == s && use.only_first;
        });
    if (!again) return {};
    chain.push_back(p);
  }
  return chain;
}

std::vector<Candidate> CandidatesAt(const Work& work, const Sequence& sequence, const Trace& trace,
                                    std::size_t step) {
  std::vector<Candidate> candidates;
  for (const Stay& stay : trace.stays) {
    if (stay.begin >= step || stay.last <= step) continue;
    const auto touches = [&](std::size_t i) {
      const auto& uses = work.uses[sequence[i]];
      return std::find_if(uses.begin(), uses.end(),
                          [&](const Use& use) { return use.store == stay.store; });
    };
    if (touches(step) != work.uses[sequence[step]].end()) continue;
    Candidate candidate;
    std::size_t next = step + 1;
    while (next < sequence.size() && touches(next) == work.uses[sequence[next]].end()) ++next;
    const std::int32_t version =
        next == sequence.size() ? work.stores[stay.store].last : touches(next)->finds;
    if (version == kMakes) continue;
    candidate.chain = ChainOf(work, stay.store, version);
    if (candidate.chain.empty()) continue;
    for (const std::size_t p : candidate.chain) candidate.cost += work.cost[p];
    candidate.freed = work.stores[stay.store].size;
    candidate.before = next;
    candidates.push_back(std::move(candidate));
  }
  std::stable_sort(candidates.begin(), candidates.end(), IsCheaper);
  return candidates;
}

// The sequence with the best candidate; none if none makes the excess smaller.
Found Step(const Work& work, const Sequence& sequence, const Trace& trace, Bytes capacity) {
  std::size_t step = 0;
  while (trace.load[step] <= capacity) ++step;
  const Wide excess = ExcessOf(trace, capacity);
  Found best;
  Candidate chosen;
  for (Candidate& candidate : CandidatesAt(work, sequence, trace, step)) {
    if (best && !IsCheaper(candidate, chosen)) break;  // What has to stay makes it only dearer.
    Sequence changed = sequence;
    changed.insert(changed.begin() + static_cast<std::ptrdiff_t>(candidate.before),
                   candidate.chain.begin(), candidate.chain.end());
    const Trace after = Run(work, changed, /*linked=*/false);
    if (!after.valid() || ExcessOf(after, capacity) >= excess) continue;
    candidate.freed = trace.load[step] - after.load[step];
    if (candidate.freed <= 0 || (best && !IsCheaper(candidate, chosen))) continue;
    best = std::move(changed);
    chosen = std::move(candidate);
  }
  return best;
}

}  // namespace

Found RepeatAtPeak(const Work& work, Bytes capacity, Budget& budget) {
  Sequence sequence(work.size());
  std::iota(sequence.begin(), sequence.end(), std::size_t{0});
  for (;;) {
    const Trace trace = Run(work, sequence, /*linked=*/false);
    BERTH_CHECK(trace.valid());
    if (trace.peak <= capacity) return sequence;
    if (!budget.SpendNode()) return std::nullopt;
    Found next = Step(work, sequence, trace, capacity);
    if (!next) return std::nullopt;
    sequence = std::move(*next);
  }
}

}  // namespace berth::internal::baselines
