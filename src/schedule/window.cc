#include "schedule/window.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <utility>

#include "base/check.h"
#include "base/side_by_side.h"
#include "schedule/bisect.h"
#include "schedule/exact.h"
#include "schedule/reduce.h"

namespace berth::internal::schedule {
namespace {

constexpr std::size_t kMostSize = 1024;  // Of windows, in operators.
// For a bound on a window of the smallest size, in units of a few nanoseconds. On irregular graphs of
// width 32, larger windows and more work raised no bound further.
constexpr std::int64_t kWorkOfRefuting = 16'000'000;
// For each operator of a window, in units of a few nanoseconds (schedule/exact.h), in the first of
// kRounds rounds; in each further one, 2^kMoreWork times as much.
constexpr std::int64_t kWorkOfOperator = 4'000;
constexpr int kRounds = 4;
constexpr int kMoreWork = 3;

// Calls visit(buffer) once for each buffer that the operators of a window create or consume, in
// increasing order.
template <typename Visit>
void ForEachBuffer(const Instance& instance, std::span<const Op> ops, Visit visit) {
  std::vector<Op> buffers;
  for (const Op v : ops) {
    for (const OpLists* lists : {&instance.creates, &instance.consumes}) {
      buffers.insert(buffers.end(), (*lists)[v].begin(), (*lists)[v].end());
    }
  }
  std::sort(buffers.begin(), buffers.end());
  buffers.erase(std::unique(buffers.begin(), buffers.end()), buffers.end());
  for (const Op b : buffers) visit(instance.buffers[b]);
}

std::vector<std::pair<Op, Op>> EdgesWithin(const Instance& instance, std::span<const Op> ops,
                                           const std::vector<Op>& position, std::size_t begin) {
  std::vector<std::pair<Op, Op>> edges;
  for (const Op v : ops) {
    for (const Op p : instance.predecessors[v]) {
      if (position[p] < begin) continue;
      edges.emplace_back(static_cast<Op>(position[p] - begin),
                         static_cast<Op>(position[v] - begin));
    }
  }
  return edges;
}

// Of a buffer whose creators and consumers inside of a window are in `part`: whatever is outside,
// when is it live for sure? False if nothing is sure.
bool KeepWhatIsSure(const Instance& instance, std::span<const Op> ops, const FlowBuffer& buffer,
                    FlowBuffer& part) {
  const bool all_creators = part.creators.size() == buffer.creators.size();
  const bool all_consumers = part.consumers.size() == buffer.consumers.size();
  if (all_creators && (all_consumers || part.to_end)) return true;
  const auto creates = [&](Op v) {
    return std::binary_search(buffer.creators.begin(), buffer.creators.end(), v);
  };
  // The consumers that are creators or run after one: the buffer exists when they run.
  std::vector<Op> later;
  for (const Op k : part.consumers) {
    const auto before = instance.predecessors[ops[k]];
    if (creates(ops[k]) || std::any_of(before.begin(), before.end(), creates)) later.push_back(k);
  }
  if (!all_creators) {
    part.creators.insert(part.creators.end(), later.begin(), later.end());
  } else if (later.empty() && part.creators.size() == 1) {
    part.consumers.push_back(part.creators.front());
    return true;
  }
  return !part.creators.empty() && (part.to_end || !later.empty());
}

struct Solved {
  std::vector<Op> order;
  Bytes lower_bound = 0;  // At most what was proved, or the given floor.
};

// `instance` is numbered in a valid order.
Reduction ReduceInOrder(const Instance& instance, const ExactOptions& options, Budget& budget) {
  if (!options.reduction) return NoReduction(instance);
  std::vector<Op> program(instance.num_ops);
  std::iota(program.begin(), program.end(), Op{0});
  return Reduce(instance, program, true, budget);
}

void AddCounts(const SearchStats& of_window, SearchStats& stats) {
  stats.cuts += of_window.cuts;
  stats.constraints += of_window.constraints;
  stats.states += of_window.states;
}

// The best order of `instance`, which is numbered in a valid order, found with little work.
Solved Solve(const Instance& instance, const ExactOptions& options, Bytes floor,
             const Effort& effort, SearchStats& stats, Budget& budget) {
  const Reduction reduction = ReduceInOrder(instance, options, budget);
  SearchStats of_window;
  ExactLimits limits;
  limits.floor = floor;
  limits.most_work = effort.work;
  limits.most_bytes = effort.bytes;
  const ExactResult result =
      SearchExactly(reduction.instance, options, limits, {}, of_window, budget);
  AddCounts(of_window, stats);
  return {Expand(instance, reduction, result.order), result.lower_bound};
}

}  // namespace

Instance Window(const Instance& instance, const std::vector<Op>& order,
                const std::vector<Op>& position, std::size_t begin, std::size_t end, Bytes live) {
  const std::span<const Op> ops(order.data() + begin, end - begin);
  std::vector<FlowBuffer> buffers;
  ForEachBuffer(instance, ops, [&](const FlowBuffer& buffer) {
    FlowBuffer part{buffer.bytes, buffer.from_start, buffer.to_end, {}, {}};
    for (const Op c : buffer.creators) {
      part.from_start = part.from_start || position[c] < begin;
      if (position[c] >= begin && position[c] < end) {
        part.creators.push_back(static_cast<Op>(position[c] - begin));
      }
    }
    for (const Op k : buffer.consumers) {
      part.to_end = part.to_end || position[k] >= end;
      if (position[k] >= begin && position[k] < end) {
        part.consumers.push_back(static_cast<Op>(position[k] - begin));
      }
    }
    if (!part.from_start && part.creators.empty()) return;  // Not yet created.
    if (!part.to_end && part.consumers.empty()) return;     // Freed before.
    if (part.from_start && part.to_end) return;             // Counted in `live`.
    if (part.from_start) live -= part.bytes;
    buffers.push_back(std::move(part));
  });
  return MakeInstance(ops.size(), live, EdgesWithin(instance, ops, position, begin),
                      std::move(buffers));
}

Instance Part(const Instance& instance, const std::vector<Op>& order,
              const std::vector<Op>& position, std::size_t begin, std::size_t end) {
  const std::span<const Op> ops(order.data() + begin, end - begin);
  const auto inside = [&](const std::vector<Op>& of) {
    std::vector<Op> local;
    for (const Op v : of) {
      if (position[v] < begin || position[v] >= end) continue;
      local.push_back(static_cast<Op>(position[v] - begin));
    }
    return local;
  };
  Bytes base = instance.base;
  std::vector<FlowBuffer> buffers;
  ForEachBuffer(instance, ops, [&](const FlowBuffer& buffer) {
    FlowBuffer part{buffer.bytes, buffer.from_start, buffer.to_end, inside(buffer.creators),
                    inside(buffer.consumers)};
    if (part.from_start && part.to_end) {
      base += part.bytes;
      return;
    }
    if (!part.from_start && !KeepWhatIsSure(instance, ops, buffer, part)) return;
    if (!part.to_end && part.consumers.empty()) return;
    buffers.push_back(std::move(part));
  });
  return MakeInstance(ops.size(), base, EdgesWithin(instance, ops, position, begin),
                      std::move(buffers));
}

WindowSearch::WindowSearch(const Instance& instance, const ExactOptions& options,
                           std::vector<Op> order, std::size_t first_size)
    : instance_(instance),
      options_(options),
      order_(std::move(order)),
      position_(order_.size()),
      first_size_(first_size),
      size_(first_size) {
  for (std::size_t k = 0; k < order_.size(); ++k) position_[order_[k]] = static_cast<Op>(k);
  peak_ = PeakOf(instance_, order_, &steps_, &after_);
}

WindowSearch::Looked WindowSearch::LookForOrder(std::size_t begin, std::size_t end, Bytes lowest,
                                                const Effort& effort, Budget& budget) const {
  const Instance window = Window(instance_, order_, position_, begin, end, LiveBefore(begin));
  // The least peak of a window is hard to prove, and most windows are not where the peak of the
  // whole is in the end.
  const Bytes target = lowest + (peak_ - lowest) / 2;
  Looked looked;
  Solved solved = Solve(window, options_, target, effort, looked.stats, budget);
  if (PeakOf(window, solved.order, &looked.steps, &looked.after) < peak_) {
    looked.order = std::move(solved.order);
  }
  return looked;
}

WindowSearch::Looked WindowSearch::LookForBound(std::size_t begin, std::size_t end, Bytes lowest,
                                                const Effort& effort, Budget& budget) const {
  const Instance part = Part(instance_, order_, position_, begin, end);
  Looked looked;
  looked.bound = Solve(part, options_, lowest, effort, looked.stats, budget).lower_bound;
  return looked;
}

void WindowSearch::Take(std::size_t begin, const Looked& better) {
  const auto first = order_.begin() + static_cast<std::ptrdiff_t>(begin);
  const std::vector<Op> old(first, first + static_cast<std::ptrdiff_t>(better.order.size()));
  for (std::size_t k = 0; k < old.size(); ++k) {
    const Op local = better.order[k];
    const Op v = old[local];
    order_[begin + k] = v;
    position_[v] = static_cast<Op>(begin + k);
    steps_[v] = better.steps[local];
    after_[v] = better.after[local];
  }
}

std::size_t WindowSearch::Highest() const {
  const auto lower = [&](Op a, Op b) { return steps_[a] < steps_[b]; };
  return static_cast<std::size_t>(std::max_element(order_.begin(), order_.end(), lower) -
                                  order_.begin());
}

bool WindowSearch::RaiseBoundAround(Op v, Bytes floor, SearchStats& stats, Budget& budget) {
  if (!options_.probing || !options_.refuting) return false;
  const std::size_t at = position_[v];
  const auto is_near = [&](Op u) {
    const std::size_t other = position_[u];
    return std::max(at, other) - std::min(at, other) < first_size_ / 2;
  };
  if (std::any_of(centres_.begin(), centres_.end(), is_near)) return false;
  centres_.push_back(v);
  const std::size_t begin = at - std::min(at, first_size_ / 2);
  const std::size_t end = std::min(order_.size(), begin + first_size_);
  const Instance part = Part(instance_, order_, position_, begin, end);
  const Instance reduced = ReduceInOrder(part, options_, budget).instance;
  std::vector<Op> program(reduced.num_ops);
  std::iota(program.begin(), program.end(), Op{0});
  const Bytes bound = std::max(floor, bound_);
  const Bytes peak = PeakOf(reduced, program);
  if (peak > bound) {
    ExactOptions options = options_;  // Only the bound counts.
    options.best_first = false;
    bound_ = Bisector(reduced, options)
                 .Advance({bound, peak, {program}}, {kWorkOfRefuting, 0, 1}, stats, budget);
  }
  return true;
}

bool WindowSearch::Advance(Bytes floor, std::int64_t work, std::size_t bytes, int threads,
                           SearchStats& stats, Budget& budget) {
  const std::size_t n = order_.size();
  for (std::int64_t spent = 0; spent < work && !budget.Exhausted();) {
    if (!budget.SpendWork(static_cast<std::int64_t>(n / 2))) break;
    const std::size_t at = Highest();
    peak_ = std::max(LiveAtStart(instance_), steps_[order_[at]]);
    const Bytes lowest = std::max(floor, bound_);
    if (peak_ <= lowest || round_ == kRounds) return false;
    const std::size_t begin = at - std::min(at, size_ / 2);
    const std::size_t end = std::min(n, begin + size_);
    const Effort effort{kWorkOfOperator * static_cast<std::int64_t>(size_) << (kMoreWork * round_),
                        bytes / 2};
    spent += 2 * effort.work;
    std::array<Looked, 2> looked;
    SideBySide both(looked.size(), looked.size(), budget);
    both.Run(effort.work < kLeastWorkForThreads ? 1 : threads, [&](std::size_t i, Budget& own) {
      looked[i] = i == 0 ? LookForOrder(begin, end, lowest, effort, own)
                         : LookForBound(begin, end, lowest, effort, own);
      return looked[i].order.empty() ? AfterTask::kGoOn : AfterTask::kEnd;
    });
    for (std::size_t i = 0; i < looked.size() && both.counts(i); ++i) {
      AddCounts(looked[i].stats, stats);
      bound_ = std::max(bound_, looked[i].bound);
    }
    if (!looked[0].order.empty()) {
      Take(begin, looked[0]);
      size_ = first_size_;
      round_ = 0;
      continue;
    }
    size_ *= 2;
    if (size_ <= kMostSize && end - begin < n) continue;
    size_ = first_size_;
    ++round_;
  }
  return true;
}

}  // namespace berth::internal::schedule
