#include "schedule/reduce.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "base/check.h"
#include "schedule/reach.h"

namespace berth::internal::schedule {
namespace {

using Part = Reduction::Part;

void Erase(std::vector<Op>& items, Op item) {
  items.erase(std::remove(items.begin(), items.end(), item), items.end());
}

class Reducer {
 public:
  Reducer(const Instance& original, std::span<const Op> program, bool rows)
      : n_(original.num_ops),
        buffers_(original.buffers),
        reach_(original, program, rows),
        most_pairs_(rows ? kMostPairs : kMostPairsWithoutRows),
        ends_(Part::kEager, &FlowBuffer::consumers, n_),
        starts_(Part::kLazy, &FlowBuffer::creators, n_),
        part_(n_, Part::kKept),
        eager_after_(n_) {
    for (const Op v : program) {
      const auto row = original.predecessors[v];
      ends_.inward[v].assign(row.begin(), row.end());
      KeepOutermost(ends_, ends_.inward[v]);
      for (const Op p : ends_.inward[v]) starts_.inward[p].push_back(v);
    }
    for (Op b = 0; b < buffers_.size(); ++b) {
      for (Side* side : {&ends_, &starts_}) {
        std::vector<Op>& ops = buffers_[b].*(side->of);
        KeepOutermost(*side, ops);
        for (const Op v : ops) side->buffers[v].push_back(b);
      }
    }
  }

  // Operators with a single neighbour to join first: see the header.
  void Run(std::span<const Op> program, Budget& budget) {
    for (const std::size_t neighbours : {std::size_t{1}, n_}) {
      if (!RemoveAll(program, neighbours, budget)) return;
    }
  }

  Reduction Finish(const Instance& original, std::span<const Op> program) {
    Reduction reduction;
    reduction.part = part_;
    reduction.eager_after = std::move(eager_after_);
    std::vector<Op> local(n_, 0);
    for (const Op v : program) {
      if (part_[v] != Part::kKept) continue;
      local[v] = static_cast<Op>(reduction.ops.size());
      reduction.ops.push_back(v);
    }
    std::vector<std::pair<Op, Op>> edges;
    for (const Op v : reduction.ops) {
      for (const Op p : ends_.inward[v]) edges.emplace_back(local[p], local[v]);
    }
    std::vector<FlowBuffer> buffers;
    for (FlowBuffer& buffer : buffers_) {
      for (Op& c : buffer.creators) c = local[c];
      for (Op& k : buffer.consumers) k = local[k];
      std::sort(buffer.creators.begin(), buffer.creators.end());
      std::sort(buffer.consumers.begin(), buffer.consumers.end());
      buffers.push_back(std::move(buffer));
    }
    const auto key = [](const FlowBuffer& b) {
      return std::tie(b.from_start, b.to_end, b.creators, b.consumers);
    };
    std::stable_sort(buffers.begin(), buffers.end(),
                     [&](const FlowBuffer& a, const FlowBuffer& b) { return key(a) < key(b); });
    std::vector<FlowBuffer> merged;
    for (FlowBuffer& buffer : buffers) {
      if (!merged.empty() && key(merged.back()) == key(buffer)) {
        merged.back().bytes += buffer.bytes;
      } else {
        merged.push_back(std::move(buffer));
      }
    }
    reduction.instance =
        MakeInstance(reduction.ops.size(), original.base, edges, std::move(merged));
    return reduction;
  }

 private:
  // Until nothing changes. Whether `budget` lasted.
  bool RemoveAll(std::span<const Op> program, std::size_t most_neighbours, Budget& budget) {
    for (bool changed = true; changed;) {
      changed = false;
      const auto try_all = [&](std::size_t k, Side& side, const Side& other) {
        work_ = 10;
        const bool few = side.inward[program[k]].size() <= most_neighbours;
        changed |= few && TryRemove(program[k], side, other);
        return budget.SpendWork(work_);
      };
      // In program order, an operator that creates nothing passes its consumption to earlier
      // operators, so one backward sweep is enough; for the other kind, one forward sweep.
      for (std::size_t k = n_; k-- > 0;) {
        if (!try_all(k, ends_, starts_)) return false;
      }
      for (std::size_t k = 0; k < n_; ++k) {
        if (!try_all(k, starts_, ends_)) return false;
      }
    }
    return true;
  }

  // One direction of time. Rules for the ends of buffers also hold for their starts with time
  // reversed, so each rule is written once.
  struct Side {
    Side(Part what, std::vector<Op> FlowBuffer::*where, std::size_t num_ops)
        : part(what), of(where), buffers(num_ops), inward(num_ops) {}
    Part part;                             // Of an operator that buffers only end (start) at.
    std::vector<Op> FlowBuffer::*of;       // A buffer's operators at this side.
    std::vector<std::vector<Op>> buffers;  // By operator: those that end (start) at it.
    std::vector<std::vector<Op>> inward;   // Kept direct predecessors (successors).
  };

  // Adds p before v, keeping only edges that no other edge implies.
  void Connect(Op p, Op v) {
    auto& row = ends_.inward[v];
    for (const Op q : row) {
      if (q == p || reach_.Precedes(p, q)) return;
    }
    for (std::size_t k = 0; k < row.size();) {
      if (reach_.Precedes(row[k], p)) {
        Erase(starts_.inward[row[k]], v);
        row.erase(row.begin() + static_cast<std::ptrdiff_t>(k));
      } else {
        ++k;
      }
    }
    row.push_back(p);
    starts_.inward[p].push_back(v);
  }

  // Keeps the decisive ones of the operators that a buffer lasts to (from): those that precede
  // (follow) no other of them.
  void KeepOutermost(const Side& side, std::vector<Op>& ops) {
    std::sort(ops.begin(), ops.end());
    ops.erase(std::unique(ops.begin(), ops.end()), ops.end());
    if (ops.size() > kManyOps) {
      KeepOutermostOfMany(side, ops);
      return;
    }
    work_ += static_cast<std::int64_t>(ops.size() * ops.size());
    std::vector<Op> kept;
    for (const Op v : ops) {
      const bool implied = std::any_of(ops.begin(), ops.end(), [&](Op w) {
        return &side == &ends_ ? reach_.Precedes(v, w) : reach_.Precedes(w, v);
      });
      if (!implied) kept.push_back(v);
    }
    ops = std::move(kept);
  }

  // The same by whole sets. Without them it keeps all: that is never wrong.
  void KeepOutermostOfMany(const Side& side, std::vector<Op>& ops) {
    if (reach_.rows() == nullptr) return;
    const BitMatrix& before = *reach_.rows();
    work_ += static_cast<std::int64_t>(ops.size() * 2 * before.words());
    if (&side == &ends_) {
      // All that precede one of them.
      std::vector<Word> implied(before.words(), 0);
      for (const Op w : ops) {
        for (std::size_t k = 0; k < implied.size(); ++k) implied[k] |= before[w][k];
      }
      std::erase_if(ops, [&](Op v) { return TestBit(implied.data(), v); });
      return;
    }
    std::vector<Word> all(before.words(), 0);
    for (const Op v : ops) SetBit(all.data(), v);
    std::erase_if(ops, [&](Op v) {
      bool implied = false;
      for (std::size_t k = 0; k < all.size(); ++k) implied |= (before[v][k] & all[k]) != 0;
      return implied;
    });
  }

  void Remove(Op v) {
    const std::vector<Op>& predecessors = ends_.inward[v];
    const std::vector<Op>& successors = starts_.inward[v];
    for (const Op p : predecessors) Erase(starts_.inward[p], v);
    for (const Op s : successors) Erase(ends_.inward[s], v);
    for (const Op s : successors) {
      for (const Op p : predecessors) Connect(p, s);
    }
  }

  // Removes v if buffers only end (start) at it: running it directly after its predecessors (before
  // its successors) never raises the peak, and its buffers then end (start) at those.
  bool TryRemove(Op v, Side& side, const Side& other) {
    if (part_[v] != Part::kKept || !other.buffers[v].empty()) return false;
    if (side.inward[v].empty() && !side.buffers[v].empty()) return false;
    const std::size_t pairs = side.inward[v].size() * other.inward[v].size();
    const std::size_t passed_on = side.inward[v].size() * side.buffers[v].size();
    if (std::max(pairs, passed_on) > most_pairs_) return false;
    work_ += static_cast<std::int64_t>(10 * pairs);
    part_[v] = side.part;
    if (side.part == Part::kEager) eager_after_[v] = side.inward[v];
    // All at once: one by one would take quadratic time.
    for (const Op b : std::exchange(side.buffers[v], {})) {
      std::vector<Op>& ops = buffers_[b].*(side.of);
      const std::vector<Op> old = ops;
      work_ += static_cast<std::int64_t>(old.size() * (side.inward[v].size() + 1));
      Erase(ops, v);
      ops.insert(ops.end(), side.inward[v].begin(), side.inward[v].end());
      KeepOutermost(side, ops);
      Relist(old, ops, b, side.buffers);
    }
    Remove(v);
    return true;
  }

  static void Relist(const std::vector<Op>& old, const std::vector<Op>& now, Op buffer,
                     std::vector<std::vector<Op>>& lists) {
    for (const Op v : old) {
      if (std::find(now.begin(), now.end(), v) == now.end()) Erase(lists[v], buffer);
    }
    for (const Op v : now) {
      if (std::find(old.begin(), old.end(), v) == old.end()) lists[v].push_back(buffer);
    }
  }

  // More operators than this are compared as sets.
  static constexpr std::size_t kManyOps = 64;
  // An operator with more pairs of a predecessor and a successor, or of a predecessor and a buffer
  // that would end there instead, is not worth removing.
  static constexpr std::size_t kMostPairs = 1'000'000;
  static constexpr std::size_t kMostPairsWithoutRows = 256;

  std::size_t n_;
  std::int64_t work_ = 0;  // Of the current operator, in the units of Spending::SpendWork().
  std::vector<FlowBuffer> buffers_;
  Reach reach_;
  std::size_t most_pairs_;
  Side ends_, starts_;
  std::vector<Part> part_;
  std::vector<std::vector<Op>> eager_after_;
};

}  // namespace

Reduction Reduce(const Instance& original, std::span<const Op> program, bool rows, Budget& budget) {
  Reducer reducer(original, program, rows);
  reducer.Run(program, budget);
  return reducer.Finish(original, program);
}

Reduction NoReduction(const Instance& original) {
  Reduction reduction;
  reduction.instance = original;
  for (Op v = 0; v < original.num_ops; ++v) reduction.ops.push_back(v);
  reduction.part.assign(original.num_ops, Part::kKept);
  reduction.eager_after.resize(original.num_ops);
  return reduction;
}

std::vector<Op> Expand(const Instance& original, const Reduction& reduction,
                       std::span<const Op> order) {
  std::vector<Op> full;
  full.reserve(original.num_ops);
  std::vector<std::size_t> missing(original.num_ops);
  std::vector<bool> done(original.num_ops, false);
  std::vector<Op> eager;  // To run at once.
  for (Op v = 0; v < original.num_ops; ++v) {
    missing[v] = reduction.eager_after[v].size();
    if (missing[v] == 0 && reduction.part[v] == Reduction::Part::kEager) eager.push_back(v);
  }
  const OpLists next(original.num_ops, [&](auto add) {
    for (Op v = 0; v < original.num_ops; ++v) {
      for (const Op p : reduction.eager_after[v]) add(p, v);
    }
  });
  // Runs everything that `target` waits for, then the target; and what is eager as soon as it is, with the lazy
  // operators that it waits for.
  std::vector<std::pair<Op, std::size_t>> stack;
  const auto demand = [&](Op target) {
    stack.emplace_back(target, 0);
    while (!stack.empty()) {
      for (; !eager.empty(); eager.pop_back()) stack.emplace_back(eager.back(), 0);
      auto& [v, at] = stack.back();
      if (done[v]) {
        stack.pop_back();
      } else if (at < original.predecessors[v].size()) {
        const Op p = original.predecessors[v][at++];
        if (!done[p]) stack.emplace_back(p, 0);
      } else {
        done[v] = true;
        full.push_back(v);
        for (const Op s : next[v]) {
          if (--missing[s] == 0) eager.push_back(s);
        }
        stack.pop_back();
      }
    }
  };
  for (const Op v : order) demand(reduction.ops[v]);
  for (Op v = 0; v < original.num_ops; ++v) demand(v);
  BERTH_CHECK(full.size() == original.num_ops);
  return full;
}

}  // namespace berth::internal::schedule
