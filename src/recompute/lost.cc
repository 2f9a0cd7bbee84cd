#include "recompute/lost.h"

#include <algorithm>
#include <vector>

namespace berth::internal::recompute {

LostMakers::LostMakers(const Model& model)
    : model_(model), users_(model.storages.size()), stands_for_(model.storages.size()) {
  for (Op v = 0; v < model.num_operators(); ++v) {
    for (const Touch& touch : model.TouchesOf(v)) {
      if (touch.finds != kMakes) users_[touch.storage].push_back(v);
    }
  }
  for (Storage s = 0; s < model.storages.size(); ++s) {
    if (users_[s].size() > kMostUsers) continue;
    std::vector<Storage> made;
    for (const Op v : users_[s]) {
      for (const Touch& touch : model.TouchesOf(v)) {
        if (touch.finds == kMakes) made.push_back(touch.storage);
      }
    }
    std::stable_sort(made.begin(), made.end(), [&](Storage a, Storage b) {
      return model.storages[a].size > model.storages[b].size;
    });
    Bytes left = model.storages[s].size;
    for (const Storage m : made) {
      const Bytes size = model.storages[m].size;
      if (size > left && m != made.front()) continue;
      stands_for_[s].push_back(m);
      left -= size;
      if (left < 0) break;
    }
  }
}

bool LostMakers::StandsFor(Storage input, const Made& made, Storage s) const {
  const std::vector<Storage>& all = stands_for_[input];
  if (std::find(all.begin(), all.end(), made.storage) == all.end()) return false;
  const Bytes size = model_.storages[input].size;
  return size >= model_.storages[made.storage].size ||
         (made.alone && size >= model_.storages[s].size);
}

bool LostMakers::Lists(const std::vector<LostMaker>& makers, Op v) {
  return std::any_of(makers.begin(), makers.end(),
                     [&](const LostMaker& maker) { return maker.op == v; });
}

bool LostMakers::InChain(Storage s, std::int32_t version, Op v) const {
  const auto& chain = model_.storages[s].chain;
  const auto end = chain.begin() + static_cast<std::ptrdiff_t>(version) + 1;
  return std::find(chain.begin(), end, v) != end;
}

}  // namespace berth::internal::recompute
