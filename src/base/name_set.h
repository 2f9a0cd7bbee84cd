// base/name_set.h -- names, to find out which come twice.
//
// One open table with linear probing: a million names take a fifth of the time of
// std::unordered_set, which allocates a node for each.
#ifndef BERTH_BASE_NAME_SET_H_
#define BERTH_BASE_NAME_SET_H_

#include <bit>
#include <cstddef>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

namespace berth::internal {

// The texts must outlive the set. Cost: O(1) expected for each insertion.
class NameSet {
 public:
  explicit NameSet(std::size_t expected) : slots_(std::bit_ceil(2 * expected + 2)) {}

  // False if the name is in the set already.
  bool Insert(std::string_view name) {
    if (2 * (size_ + 1) > slots_.size()) Grow();
    Slot& slot = Find(HashOf(name), name);
    if (slot.hash != 0) return false;
    slot = {HashOf(name), name};
    ++size_;
    return true;
  }
  [[nodiscard]] bool Contains(std::string_view name) { return Find(HashOf(name), name).hash != 0; }

 private:
  struct Slot {
    std::size_t hash = 0;
    std::string_view name;
  };

  // 0 marks an empty slot.
  [[nodiscard]] static std::size_t HashOf(std::string_view name) {
    return std::hash<std::string_view>()(name) | 1;
  }
  // The slot that has the name, or else the empty one where it belongs.
  [[nodiscard]] Slot& Find(std::size_t hash, std::string_view name) {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t at = hash >> 1 & mask;; at = (at + 1) & mask) {
      Slot& slot = slots_[at];
      if (slot.hash == 0 || (slot.hash == hash && slot.name == name)) return slot;
    }
  }
  void Grow() {
    const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(2 * slots_.size()));
    for (const Slot& slot : old) {
      if (slot.hash != 0) Find(slot.hash, slot.name) = slot;
    }
  }

  std::vector<Slot> slots_;  // At most half full.
  std::size_t size_ = 0;
};

}  // namespace berth::internal

#endif  // BERTH_BASE_NAME_SET_H_
