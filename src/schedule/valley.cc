#include "schedule/valley.h"

#include <algorithm>

#include "base/random.h"

namespace berth::internal::schedule {

ValleyFinder::ValleyFinder(const Walker& walker)
    : walker_(walker), instance_(walker.instance()), done_(walker.words()) {
  for (std::size_t v = 0; v < instance_.num_ops; ++v) keys_.push_back(Random(v).Next());
}

bool ValleyFinder::IsReady(Op op) const {
  if (TestBit(done_.data(), op)) return false;
  for (const Op p : instance_.predecessors[op]) {
    if (!TestBit(done_.data(), p)) return false;
  }
  return true;
}

// The ready operators that share a buffer with an operator of `set`, or wait for one. done_
// contains the set.
void ValleyFinder::CollectNext(const Word* state, const Set& set) {
  next_.clear();
  if (set.size == 0) {
    ForEachBit(state + walker_.words(), walker_.words(),
               [&](std::size_t bit) { next_.push_back(static_cast<Op>(bit)); });
    return;
  }
  for (std::size_t k = 0; k < set.size; ++k) {
    const Op op = set.ops[k];
    for (const Op s : instance_.successors[op]) {
      if (IsReady(s)) next_.push_back(s);
    }
    for (const auto* lists : {&instance_.consumes, &instance_.creates}) {
      for (const Op b : (*lists)[op]) {
        const FlowBuffer& buffer = instance_.buffers[b];
        for (const Op v : buffer.consumers) {
          if (IsReady(v)) next_.push_back(v);
        }
        if (buffer.creators.size() > 1) {
          for (const Op v : buffer.creators) {
            if (IsReady(v)) next_.push_back(v);
          }
        }
        work_ += static_cast<std::int64_t>(buffer.consumers.size());
      }
    }
  }
  std::sort(next_.begin(), next_.end());
  next_.erase(std::unique(next_.begin(), next_.end()), next_.end());
}

// True if no downset between the state and the state with `set` has fewer live bytes than the
// latter. Visits all of them; false if there are too many.
bool ValleyFinder::IsLowest(const Word* state, const Standing& at, const Set& set) {
  std::copy(state, state + walker_.words(), done_.begin());
  // Depth first: add operators in increasing position within the set.
  std::size_t seen = 0;
  struct Frame {
    std::size_t next;
    Bytes live;
    Op op;
  };
  std::array<Frame, kMostOps + 1> stack;
  // Subsets are enumerated as sequences of increasing positions. The set's own sequence is a valid
  // order, so each downset is visited exactly once.
  std::size_t depth = 0;
  stack[0] = {0, at.live, 0};
  for (;;) {
    Frame& frame = stack[depth];
    if (frame.next == set.size) {
      if (depth == 0) return true;
      ClearBit(done_.data(), frame.op);
      --depth;
      continue;
    }
    const Op op = set.ops[frame.next++];
    if (!IsReady(op)) continue;
    const Bytes live = frame.live + CreatedBytes(instance_, done_.data(), op) -
                       FreedBytes(instance_, done_.data(), op);
    work_ += 10;
    if (live < set.live || ++seen > kMostBetween) return false;
    SetBit(done_.data(), op);
    stack[depth + 1] = {frame.next, live, op};
    ++depth;
  }
}

const std::vector<Op>& ValleyFinder::Find(const Word* state, const Standing& at) {
  found_.clear();
  sets_.clear();
  sets_.push_back({});
  sets_[0].live = at.live;
  for (std::size_t taken = 0; taken < kMostSets; ++taken) {
    std::size_t best = sets_.size();
    for (std::size_t k = 0; k < sets_.size(); ++k) {
      if (sets_[k].taken || sets_[k].size == kMostOps) continue;
      if (best == sets_.size() || sets_[k].live < sets_[best].live ||
          (sets_[k].live == sets_[best].live && sets_[k].size < sets_[best].size)) {
        best = k;
      }
    }
    if (best == sets_.size()) break;
    sets_[best].taken = true;
    const Set set = sets_[best];
    work_ += static_cast<std::int64_t>(sets_.size());
    std::copy(state, state + walker_.words(), done_.begin());
    for (std::size_t k = 0; k < set.size; ++k) SetBit(done_.data(), set.ops[k]);
    CollectNext(state, set);
    for (const Op op : next_) {
      const Bytes step = set.live + CreatedBytes(instance_, done_.data(), op);
      work_ += 10;
      if (step > at.peak) continue;
      const std::uint64_t hash = set.hash ^ keys_[op];
      bool known = false;
      for (const Set& other : sets_) known = known || other.hash == hash;
      if (known || sets_.size() >= kMostAdded) continue;
      Set next = set;
      next.ops[next.size++] = op;
      next.live = step - FreedBytes(instance_, done_.data(), op);
      next.hash = hash;
      next.taken = false;
      if (next.live <= at.live) {
        if (IsLowest(state, at, next)) {
          found_.assign(next.ops.begin(),
                        next.ops.begin() + static_cast<std::ptrdiff_t>(next.size));
          return found_;
        }
        std::copy(state, state + walker_.words(), done_.begin());
        for (std::size_t k = 0; k < set.size; ++k) SetBit(done_.data(), set.ops[k]);
      }
      sets_.push_back(next);
    }
  }
  return found_;
}

}  // namespace berth::internal::schedule
