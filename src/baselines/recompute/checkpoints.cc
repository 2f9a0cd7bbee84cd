// Checkpoints of segments (Chen et al., arXiv 1604.06174, algorithm 3). The forward pass is cut into
// segments of about equal bytes. What another segment uses is kept. The rest of a segment is dropped, and
// made again as a whole when the backward pass first needs some of it. The last segment is kept: the
// backward pass begins with it.
//
// The paper's square root is the number of segments that is best for a chain of equal layers; for any
// other graph it tries sizes of segments, as is done here.

#include <algorithm>
#include <utility>
#include <vector>

#include "base/wide.h"
#include "baselines/recompute/methods.h"

namespace berth::internal::baselines {
namespace {

// The segment of each operator of the forward pass, if there are `count` of about equal bytes made.
std::vector<std::size_t> SegmentsOf(const Work& work, std::size_t backward, std::size_t count) {
  std::vector<Bytes> made(backward, 0);
  Wide total = 0;
  for (std::size_t p = 0; p < backward; ++p) {
    for (const Use& use : work.uses[p]) {
      if (use.finds == kMakes) made[p] += work.stores[use.store].size;
    }
    total += made[p];
  }
  std::vector<std::size_t> segments(backward, 0);
  Wide before = 0;
  for (std::size_t p = 0; p < backward; ++p) {
    const Wide segment = total == 0 ? Wide{0} : before * static_cast<std::int64_t>(count) / total;
    segments[p] = std::min(static_cast<std::size_t>(segment), count - 1);
    before += made[p];
  }
  return segments;
}

}  // namespace

Found CheckpointSegments(const Work& work, const Passes& passes, Bytes capacity, Budget& budget) {
  Found best;
  std::int64_t best_cost = 0;
  for (std::size_t count = 1; count <= passes.backward && budget.SpendNode(); ++count) {
    const std::vector<std::size_t> segments = SegmentsOf(work, passes.backward, count);
    std::vector<char> dropped(work.stores.size(), 0);
    std::vector<std::size_t> segment_of(work.stores.size(), kNone);
    for (std::size_t s = 0; s < work.stores.size(); ++s) {
      const Store& store = work.stores[s];
      if (passes.may_drop[s] == 0) continue;
      segment_of[s] = segments[store.writers.front()];
      const bool within = std::all_of(store.users.begin(), store.users.end(), [&](std::size_t p) {
        return p >= passes.backward || segments[p] == segment_of[s];
      });
      dropped[s] = within && segment_of[s] != segments.back() ? 1 : 0;
    }
    Found sequence = MakeAgain(work, passes, std::move(dropped), segment_of);
    if (!sequence) continue;
    const Trace trace = Run(work, *sequence, /*linked=*/false);
    if (trace.peak > capacity || (best && trace.cost >= best_cost)) continue;
    best = std::move(sequence);
    best_cost = trace.cost;
  }
  return best;
}

}  // namespace berth::internal::baselines
