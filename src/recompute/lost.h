// recompute/lost.h -- what must run again with a storage because what made it is no longer there.
//
//   x = normalize(a);  y = copy(x);  relu(x)      t = multiply(b);  s = gelu(t)
//
// Once relu() has run, copy() can only run again after normalize() has run again, too: x was written
// over. And t has no user after gelu(): who drops s and not t keeps as many bytes as with s, so that
// dropping s frees memory only if multiply() and gelu() both run again. If t is split into q, k and v, it
// stands for all three: each of them that is dropped needs multiply(). If multiply() were dropout(), which may
// not run again, dropping s would free nothing at all.
#ifndef BERTH_RECOMPUTE_LOST_H_
#define BERTH_RECOMPUTE_LOST_H_

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "recompute/model.h"

namespace berth::internal::recompute {

inline constexpr Op kNoOp = std::numeric_limits<Op>::max();

// `op` must run again if what needs it is missing once all of `after` have first run: after that moment, or
// (`by` is an operator, which wrote over what `op` makes) at any time after `by`, maybe long before.
struct LostMaker {
  Op op = 0;
  std::vector<Op> after;
  Op by = kNoOp;
  bool written_over = false;  // Whatever was kept: it cannot do without.
};

// For a storage.
struct Losses {
  std::vector<LostMaker> makers;
  // Once all operators of one of these have first run, the storage has to stay until it is needed, or as many
  // bytes of what it is made from: what these were made from is gone for good.
  std::vector<std::vector<Op>> stays;
};

class LostMakers {
 public:
  explicit LostMakers(const Model& model);
  // Those that find `s`.
  [[nodiscard]] const std::vector<Op>& UsersOf(Storage s) const { return users_[s]; }

  // Operators that run again if `version` of `s` is to be in memory later, and neither `s` nor as many
  // bytes of what it is made from are in memory at some moment after certain operators have first run;
  // besides the chain of `s`. Each is listed once. `precedes(u, v)` tells whether `u` always first runs
  // before `v`, and `may(u)` whether `u` can have run by then: makers that wait for others are left out, but
  // Losses::stays does not ask it. Several storages may list one operator, and one storage may list it for
  // several moments: one execution may serve them all. With a link there are none, as everything can be
  // copied. At most 32, the nearest first, of storages with at most 32 users.
  template <typename Precedes, typename May>
  [[nodiscard]] Losses Of(Storage s, std::int32_t version, Precedes precedes, May may) const;

 private:
  static constexpr std::size_t kMost = 32;
  static constexpr std::size_t kMostUsers = 32;
  // A storage that is made again for `s`: after the moment, or (`by` is an operator) after `by`, which
  // wrote over it, at any time.
  struct Made {
    Storage storage = 0;
    std::int32_t version = 0;
    Op by = kNoOp;
    std::vector<Op> after;
    bool written_over = true;
    bool alone = true;  // It stands for one storage alone, and so does what lies between.
  };
  [[nodiscard]] static bool Lists(const std::vector<LostMaker>& makers, Op v);
  // Whether the bytes of `input`, without a use, count as those of `made`, for the sake of `s`.
  [[nodiscard]] bool StandsFor(Storage input, const Made& made, Storage s) const;
  [[nodiscard]] bool InChain(Storage s, std::int32_t version, Op v) const;

  const Model& model_;
  std::vector<std::vector<Op>> users_;  // By storage: those that find it.
  // By storage: those that its bytes count for once it has no use any more. Users of it make them. They are
  // the largest ones that have no more bytes together, or the largest alone although it has more.
  std::vector<std::vector<Storage>> stands_for_;
};

template <typename Precedes, typename May>
Losses LostMakers::Of(Storage s, std::int32_t version, Precedes precedes, May may) const {
  Losses losses;
  std::vector<LostMaker>& makers = losses.makers;
  if (model_.linked || version > model_.storages[s].again) return losses;
  std::vector<Made> made = {{s, version, kNoOp, {}, true}};
  for (std::size_t i = 0; i < made.size() && makers.size() < kMost; ++i) {
    const Made now = made[i];
    const auto& chain = model_.storages[now.storage].chain;
    for (std::int32_t k = 0; k <= now.version; ++k) {
      for (const Touch& touch : model_.TouchesOf(chain[static_cast<std::size_t>(k)])) {
        const StorageInfo& info = model_.storages[touch.storage];
        if (touch.storage == now.storage || touch.storage == s || touch.only_first) continue;
        if (info.given || touch.finds < 0) continue;
        Made next = {touch.storage, touch.finds, kNoOp, {}, now.written_over};
        if (touch.finds < info.last) {  // Written over.
          next.by = info.chain[static_cast<std::size_t>(touch.finds) + 1];
          if (now.by != kNoOp && !precedes(next.by, now.by)) continue;
          if (now.by == kNoOp) next.after.push_back(next.by);
        } else {  // Without a use.
          if (now.by != kNoOp || info.result || !StandsFor(touch.storage, now, s)) continue;
          if (users_[touch.storage].size() > kMostUsers) continue;
          next.written_over = false;
          next.alone = now.alone && stands_for_[touch.storage].size() == 1;
          next.after = users_[touch.storage];
        }
        const bool can_have_run = std::all_of(next.after.begin(), next.after.end(), may);
        next.after.insert(next.after.end(), now.after.begin(), now.after.end());
        if (touch.finds > info.again) {
          if (now.by == kNoOp) losses.stays.push_back(std::move(next.after));
          continue;
        }
        if (!can_have_run) continue;
        bool any = false;
        for (std::int32_t j = 0; j <= touch.finds; ++j) {
          const Op maker = info.chain[static_cast<std::size_t>(j)];
          if (Lists(makers, maker) || InChain(s, version, maker)) continue;
          makers.push_back({maker, next.after, next.by, next.written_over});
          any = true;
        }
        if (any) made.push_back(std::move(next));
      }
    }
  }
  return losses;
}

}  // namespace berth::internal::recompute

#endif  // BERTH_RECOMPUTE_LOST_H_
