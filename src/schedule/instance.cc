#include "schedule/instance.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>
#include <vector>

#include "base/check.h"

namespace berth::internal::schedule {
namespace {

void Normalize(std::vector<Op>& items) {
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
}

}  // namespace

void OpLists::Normalize() {
  std::uint32_t end = 0;
  for (std::size_t row = 0; row < size(); ++row) {
    Op* const first = items_.data() + begin_[row];
    Op* const last = items_.data() + begin_[row + 1];
    std::sort(first, last);
    begin_[row] = end;
    end = static_cast<std::uint32_t>(std::unique_copy(first, last, items_.data() + end) -
                                     items_.data());
  }
  if (!begin_.empty()) begin_.back() = end;
  items_.resize(end);
}

Instance MakeInstance(std::size_t num_ops, Bytes base, const std::vector<std::pair<Op, Op>>& edges,
                      std::vector<FlowBuffer> buffers) {
  Instance instance;
  instance.num_ops = num_ops;
  instance.base = base;
  instance.predecessors = OpLists(num_ops, [&](auto add) {
    for (const auto& [before, after] : edges) add(after, before);
  });
  instance.successors = OpLists(num_ops, [&](auto add) {
    for (const auto& [before, after] : edges) add(before, after);
  });
  instance.predecessors.Normalize();
  instance.successors.Normalize();

  instance.created_alone.assign(num_ops, 0);
  instance.freed_alone.assign(num_ops, 0);
  for (FlowBuffer& buffer : buffers) {
    if (buffer.from_start) buffer.creators.clear();
    if (buffer.to_end) buffer.consumers.clear();
    Normalize(buffer.creators);
    Normalize(buffer.consumers);
    BERTH_DCHECK(buffer.from_start || !buffer.creators.empty());
    BERTH_DCHECK(buffer.to_end || !buffer.consumers.empty());
    if (buffer.creators.size() == 1) instance.created_alone[buffer.creators[0]] += buffer.bytes;
    if (buffer.consumers.size() == 1) instance.freed_alone[buffer.consumers[0]] += buffer.bytes;
  }
  instance.buffers = std::move(buffers);
  // By operator: the buffers of which it is one of at least `least` creators, or consumers.
  const auto by_operator = [&](std::vector<Op> FlowBuffer::*ops, std::size_t least) {
    return OpLists(num_ops, [&](auto add) {
      for (std::size_t b = 0; b < instance.buffers.size(); ++b) {
        const std::vector<Op>& of = instance.buffers[b].*ops;
        if (of.size() < least) continue;
        for (const Op v : of) add(v, static_cast<Op>(b));
      }
    });
  };
  instance.creates = by_operator(&FlowBuffer::creators, 1);
  instance.consumes = by_operator(&FlowBuffer::consumers, 1);
  instance.created_shared = by_operator(&FlowBuffer::creators, 2);
  instance.freed_shared = by_operator(&FlowBuffer::consumers, 2);
  return instance;
}

Instance Reversed(const Instance& instance) {
  Instance reversed = instance;
  std::swap(reversed.predecessors, reversed.successors);
  std::swap(reversed.creates, reversed.consumes);
  std::swap(reversed.created_alone, reversed.freed_alone);
  std::swap(reversed.created_shared, reversed.freed_shared);
  for (FlowBuffer& buffer : reversed.buffers) {
    std::swap(buffer.creators, buffer.consumers);
    std::swap(buffer.from_start, buffer.to_end);
  }
  return reversed;
}

Instance Restricted(const Instance& instance, const std::vector<Op>& ops, const Word* before) {
  constexpr Op kOutside = ~Op{0};
  std::vector<Op> local(instance.num_ops, kOutside);
  for (std::size_t k = 0; k < ops.size(); ++k) local[ops[k]] = static_cast<Op>(k);
  std::vector<std::pair<Op, Op>> edges;
  for (const Op v : ops) {
    for (const Op p : instance.predecessors[v]) {
      if (local[p] != kOutside) edges.emplace_back(local[p], local[v]);
    }
  }
  Bytes base = instance.base;
  std::vector<FlowBuffer> buffers;
  for (const FlowBuffer& buffer : instance.buffers) {
    FlowBuffer part{buffer.bytes, buffer.from_start, false, {}, {}};
    for (const Op c : buffer.creators) {
      if (TestBit(before, c)) {
        part.from_start = true;
      } else if (local[c] != kOutside) {
        part.creators.push_back(local[c]);
      }
    }
    bool freed_later = buffer.to_end;
    for (const Op k : buffer.consumers) {
      if (local[k] != kOutside) {
        part.consumers.push_back(local[k]);
      } else if (!TestBit(before, k)) {
        freed_later = true;
      }
    }
    part.to_end = freed_later;
    if (!part.from_start && part.creators.empty()) continue;  // Not yet created.
    if (!part.to_end && part.consumers.empty()) continue;     // Already freed.
    if (part.from_start && part.to_end) {
      base += part.bytes;
    } else {
      buffers.push_back(std::move(part));
    }
  }
  return MakeInstance(ops.size(), base, edges, std::move(buffers));
}

Bytes LiveAtStart(const Instance& instance) {
  Bytes live = instance.base;
  for (const FlowBuffer& buffer : instance.buffers) {
    if (buffer.from_start) live += buffer.bytes;
  }
  return live;
}

Bytes LiveAtEnd(const Instance& instance) {
  Bytes live = instance.base;
  for (const FlowBuffer& buffer : instance.buffers) {
    if (buffer.to_end) live += buffer.bytes;
  }
  return live;
}

Bytes PeakOf(const Instance& instance, std::span<const Op> order, std::vector<Bytes>* steps,
             std::vector<Bytes>* after) {
  std::vector<bool> exists(instance.buffers.size(), false);
  std::vector<std::uint32_t> users_left(instance.buffers.size());
  for (std::size_t b = 0; b < users_left.size(); ++b) {
    users_left[b] = static_cast<std::uint32_t>(instance.buffers[b].consumers.size());
  }
  Bytes live = LiveAtStart(instance);
  Bytes peak = live;
  if (steps != nullptr) steps->assign(instance.num_ops, 0);
  if (after != nullptr) after->assign(instance.num_ops, 0);
  for (const Op v : order) {
    live += instance.created_alone[v];
    for (const Op b : instance.created_shared[v]) {
      if (!exists[b]) live += instance.buffers[b].bytes;
      exists[b] = true;
    }
    peak = std::max(peak, live);
    if (steps != nullptr) (*steps)[v] = live;
    live -= instance.freed_alone[v];
    for (const Op b : instance.freed_shared[v]) {
      if (--users_left[b] == 0) live -= instance.buffers[b].bytes;
    }
    if (after != nullptr) (*after)[v] = live;
  }
  return peak;
}

bool IsOrder(const Instance& instance, std::span<const Op> order) {
  if (order.size() != instance.num_ops) return false;
  std::vector<Word> done(instance.words(), 0);
  for (const Op v : order) {
    if (v >= instance.num_ops || TestBit(done.data(), v)) return false;
    for (const Op p : instance.predecessors[v]) {
      if (!TestBit(done.data(), p)) return false;
    }
    SetBit(done.data(), v);
  }
  return true;
}

PeakGrid::PeakGrid(const Instance& instance) : base_(instance.base) {
  Bytes divisor = 0;
  for (const FlowBuffer& buffer : instance.buffers) divisor = std::gcd(divisor, buffer.bytes);
  unit_ = std::max<Bytes>(1, divisor);
}

std::vector<Op> TopologicalOrder(std::size_t num_ops, const OpLists& predecessors,
                                 const OpLists& successors) {
  std::vector<std::size_t> missing(num_ops);
  std::priority_queue<Op, std::vector<Op>, std::greater<>> ready;
  for (Op v = 0; v < num_ops; ++v) {
    missing[v] = predecessors[v].size();
    if (missing[v] == 0) ready.push(v);
  }
  std::vector<Op> order;
  order.reserve(num_ops);
  while (!ready.empty()) {
    const Op v = ready.top();
    ready.pop();
    order.push_back(v);
    for (const Op s : successors[v]) {
      if (--missing[s] == 0) ready.push(s);
    }
  }
  if (order.size() != num_ops) order.clear();
  return order;
}

BitMatrix Ancestors(const Instance& instance, std::span<const Op> order) {
  BitMatrix ancestors(instance.num_ops, instance.num_ops);
  for (const Op v : order) {
    for (const Op p : instance.predecessors[v]) {
      ancestors.Merge(v, p);
      ancestors.Set(v, p);
    }
  }
  return ancestors;
}

BitMatrix Descendants(const Instance& instance, std::span<const Op> order) {
  BitMatrix descendants(instance.num_ops, instance.num_ops);
  for (std::size_t k = order.size(); k-- > 0;) {
    const Op v = order[k];
    for (const Op s : instance.successors[v]) {
      descendants.Merge(v, s);
      descendants.Set(v, s);
    }
  }
  return descendants;
}

}  // namespace berth::internal::schedule
