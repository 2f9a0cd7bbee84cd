#include "recompute/lost.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace berth::internal::recompute {

LostMakers::LostMakers(const Model& model)
    : model_(model),
      users_(model.storages.size()),
      owner_(model.storages.size(), std::numeric_limits<Storage>::max()) {
  for (Op v = 0; v < model.num_operators(); ++v) {
    // The largest that it makes.
    const Touch* largest = nullptr;
    for (const Touch& touch : model.TouchesOf(v)) {
      if (touch.finds != kMakes) continue;
      const Bytes size = model.storages[touch.storage].size;
      if (largest == nullptr || size > model.storages[largest->storage].size) largest = &touch;
    }
    for (const Touch& touch : model.TouchesOf(v)) {
      if (touch.finds == kMakes) continue;
      users_[touch.storage].push_back(v);
      if (largest == nullptr) continue;
      Storage& owner = owner_[touch.storage];
      const bool first = owner == std::numeric_limits<Storage>::max();
      if (first || model.storages[largest->storage].size > model.storages[owner].size) {
        owner = largest->storage;
      }
    }
  }
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
