#include "schedule/reach.h"

#include <algorithm>

namespace berth::internal::schedule {

Reach::Reach(const Instance& instance, std::span<const Op> order, bool rows) : instance_(instance) {
  if (rows) {
    rows_ = Ancestors(instance, order);
    return;
  }
  position_.resize(instance.num_ops);
  for (std::size_t k = 0; k < order.size(); ++k) position_[order[k]] = static_cast<Op>(k);
  seen_.assign(instance.num_ops, 0);
  FindChain(order);
}

void Reach::FindChain(std::span<const Op> order) {
  if (order.empty()) return;
  std::vector<std::uint32_t> length(instance_.num_ops, 1);  // Of the longest path to each.
  Op last = order.front();
  for (const Op v : order) {
    for (const Op p : instance_.predecessors[v]) length[v] = std::max(length[v], length[p] + 1);
    if (length[v] > length[last]) last = v;
  }
  const std::uint32_t count = length[last];
  up_.assign(instance_.num_ops, count + 1);
  down_.assign(instance_.num_ops, 0);
  for (std::uint32_t k = count; k > 0; --k) {
    up_[last] = down_[last] = k;
    for (const Op p : instance_.predecessors[last]) {
      if (length[p] + 1 != k) continue;  // Not on a longest path.
      last = p;
      break;
    }
  }
  for (const Op v : order) {
    for (const Op p : instance_.predecessors[v]) down_[v] = std::max(down_[v], down_[p]);
  }
  for (std::size_t k = order.size(); k-- > 0;) {
    const Op v = order[k];
    for (const Op s : instance_.successors[v]) up_[v] = std::min(up_[v], up_[s]);
  }
}

bool Reach::Search(Op a, Op b) {
  ++search_;
  queue_.assign(1, b);
  for (std::size_t k = 0; k < queue_.size() && k < kMostVisits; ++k) {
    for (const Op p : instance_.predecessors[queue_[k]]) {
      if (p == a) return true;
      if (position_[p] < position_[a] || seen_[p] == search_) continue;
      seen_[p] = search_;
      queue_.push_back(p);
    }
  }
  return false;
}

bool Reach::Precedes(Op a, Op b) {
  if (rows_) return rows_->Test(b, a);
  if (position_[a] >= position_[b]) return false;
  return up_[a] <= down_[b] || Search(a, b);
}

}  // namespace berth::internal::schedule
