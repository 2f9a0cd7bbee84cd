// recompute/lost.h -- what must run again with a storage because versions have been written over.
//
//   x = normalize(a);  y = copy(x);  relu(x)
//
// Once relu() has run, copy() can only run again after normalize() has run again, too.
#ifndef BERTH_RECOMPUTE_LOST_H_
#define BERTH_RECOMPUTE_LOST_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "recompute/model.h"

namespace berth::internal::recompute {

inline constexpr Op kNoOp = std::numeric_limits<Op>::max();

// `op` must run again once `writer` has first run.
struct LostMaker {
  Op op = 0;
  Op writer = 0;
};

// Operators that run again at least once if `version` of `s` is made again after certain operators have
// first run, besides the chain of `s`: each once. `is_over(writer, by)` tells whether `writer` has run
// first by the time at which a storage is made again that needs what it wrote over: `s` itself where
// `by` is kNoOp, and otherwise one that `by` wrote over, whose first run is before that time. With a link there are
// none, as everything can be copied. At most 64, and the nearest first.
template <typename IsOver>
[[nodiscard]] std::vector<LostMaker> LostMakers(const Model& model, Storage s, std::int32_t version,
                                                IsOver is_over) {
  constexpr std::size_t kMost = 64;
  struct Made {
    Storage storage = 0;
    std::int32_t version = 0;
    Op by = kNoOp;    // Wrote over it,
    Op root = kNoOp;  // after which the storage that needs it was made again.
  };
  std::vector<LostMaker> makers;
  if (model.linked || version > model.storages[s].again) return makers;
  const auto listed = [&](Op v) {
    return std::any_of(makers.begin(), makers.end(),
                       [&](const LostMaker& maker) { return maker.op == v; });
  };
  const auto in_chain = [&](Op v) {
    const auto& chain = model.storages[s].chain;
    return std::find(chain.begin(), chain.begin() + version + 1, v) != chain.begin() + version + 1;
  };
  std::vector<Made> made = {{s, version, kNoOp, kNoOp}};
  for (std::size_t i = 0; i < made.size() && makers.size() < kMost; ++i) {
    const Made now = made[i];
    const auto& chain = model.storages[now.storage].chain;
    for (std::int32_t k = 0; k <= now.version; ++k) {
      for (const Touch& touch : model.TouchesOf(chain[static_cast<std::size_t>(k)])) {
        const StorageInfo& info = model.storages[touch.storage];
        if (touch.storage == now.storage || touch.only_first || info.given) continue;
        if (touch.finds < 0 || touch.finds >= info.last || touch.finds > info.again) continue;
        const Op writer = info.chain[static_cast<std::size_t>(touch.finds) + 1];
        if (touch.storage == s || !is_over(writer, now.by)) continue;
        const Op root = now.by == kNoOp ? writer : now.root;
        bool any = false;
        for (std::int32_t j = 0; j <= touch.finds; ++j) {
          const Op maker = info.chain[static_cast<std::size_t>(j)];
          if (listed(maker) || in_chain(maker)) continue;
          makers.push_back({maker, root});
          any = true;
        }
        if (any) made.push_back({touch.storage, touch.finds, writer, root});
      }
    }
  }
  return makers;
}

}  // namespace berth::internal::recompute

#endif  // BERTH_RECOMPUTE_LOST_H_
