#include "schedule/precedence.h"

#include <algorithm>

#include "base/check.h"

namespace berth::internal::schedule {

Precedence::Precedence(const Instance& instance)
    : predecessors_(instance.num_ops), upper_(instance.words()), lower_(instance.words()) {
  const std::vector<Op> order =
      TopologicalOrder(instance.num_ops, instance.predecessors, instance.successors);
  BERTH_CHECK(order.size() == instance.num_ops);
  ancestors_ = Ancestors(instance, order);
  descendants_ = Descendants(instance, order);
  for (Op v = 0; v < instance.num_ops; ++v) {
    const auto row = instance.predecessors[v];
    predecessors_[v].assign(row.begin(), row.end());
  }
}

bool Precedence::Add(Op before, Op after) {
  if (before == after || Precedes(after, before)) return false;
  if (Precedes(before, after)) return true;
  predecessors_[after].push_back(before);
  added_.emplace_back(before, after);
  std::copy(Before(before), Before(before) + words(), upper_.begin());
  SetBit(upper_.data(), before);
  std::copy(After(after), After(after) + words(), lower_.begin());
  SetBit(lower_.data(), after);
  ForEachBit(upper_.data(), words(), [&](std::size_t v) {
    Word* const row = descendants_[v];
    for (std::size_t k = 0; k < words(); ++k) row[k] |= lower_[k];
  });
  ForEachBit(lower_.data(), words(), [&](std::size_t v) {
    Word* const row = ancestors_[v];
    for (std::size_t k = 0; k < words(); ++k) row[k] |= upper_[k];
  });
  return true;
}

Instance WithPrecedence(const Instance& instance, const Precedence& precedence) {
  std::vector<std::pair<Op, Op>> edges;
  std::vector<Word> implied(precedence.words());  // By a predecessor of the current operator.
  for (Op v = 0; v < instance.num_ops; ++v) {
    const auto& row = precedence.predecessors(v);
    std::fill(implied.begin(), implied.end(), Word{0});
    for (const Op q : row) {
      const Word* const before = precedence.Before(q);
      for (std::size_t k = 0; k < implied.size(); ++k) implied[k] |= before[k];
    }
    for (const Op p : row) {
      if (!TestBit(implied.data(), p)) edges.emplace_back(p, v);
    }
  }
  return MakeInstance(instance.num_ops, instance.base, edges, instance.buffers);
}

}  // namespace berth::internal::schedule
