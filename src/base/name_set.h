// base/name_set.h -- names, to find out which come twice.
//
// One open table with linear probing: a million names take a fifth of the time of
// std::unordered_set, which allocates a node for each. Its slots are small, as most of the time is
// spent on fetching them from memory.
#ifndef BERTH_BASE_NAME_SET_H_
#define BERTH_BASE_NAME_SET_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

namespace berth::internal {

// The texts must outlive the set. Cost: O(1) expected for each insertion.
class NameSet {
 public:
  explicit NameSet(std::size_t expected) : slots_(std::bit_ceil(2 * expected + 2)) {
    names_.reserve(expected);
  }

  // Fetches from memory what a later Insert() or Contains() looks at: of many names, some ahead.
  void Prefetch(std::string_view name) const {
    __builtin_prefetch(&slots_[HashOf(name) & (slots_.size() - 1)]);
  }
  // False if the name is in the set already.
  bool Insert(std::string_view name) {
    if (2 * (names_.size() + 1) > slots_.size()) GrowTo(2 * slots_.size());
    const std::size_t hash = HashOf(name);
    Slot& slot = Find(hash, name);
    if (slot.number != 0) return false;
    names_.push_back(name);
    slot = {TagOf(hash), static_cast<std::uint32_t>(names_.size())};
    return true;
  }
  [[nodiscard]] bool Contains(std::string_view name) { return NumberOf(name) != 0; }
  // How many different names had been inserted with it, itself included; 0 if it is not in the set.
  [[nodiscard]] std::size_t NumberOf(std::string_view name) {
    return Find(HashOf(name), name).number;
  }
  // Makes room for `expected` names in all.
  void Reserve(std::size_t expected) {
    names_.reserve(expected);
    if (slots_.size() < 2 * expected + 2) GrowTo(std::bit_ceil(2 * expected + 2));
  }

 private:
  struct Slot {
    std::uint32_t tag = 0;     // Of the name's hash.
    std::uint32_t number = 0;  // Of the name, counted from 1; 0 marks an empty slot.
  };

  [[nodiscard]] static std::size_t HashOf(std::string_view name) {
    return std::hash<std::string_view>()(name);
  }
  [[nodiscard]] static std::uint32_t TagOf(std::size_t hash) {
    return static_cast<std::uint32_t>(hash >> (sizeof(hash) > 4 ? 32 : 0));
  }
  // The slot that has the name, or else the empty one where it belongs.
  [[nodiscard]] Slot& Find(std::size_t hash, std::string_view name) {
    const std::size_t mask = slots_.size() - 1;
    const std::uint32_t tag = TagOf(hash);
    for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
      Slot& slot = slots_[at];
      if (slot.number == 0 || (slot.tag == tag && names_[slot.number - 1] == name)) return slot;
    }
  }
  void GrowTo(std::size_t slots) {
    const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(slots));
    for (const Slot& slot : old) {
      if (slot.number == 0) continue;
      const std::string_view name = names_[slot.number - 1];
      Find(HashOf(name), name) = slot;
    }
  }

  std::vector<Slot> slots_;  // At most half full.
  std::vector<std::string_view> names_;
};

}  // namespace berth::internal

#endif  // BERTH_BASE_NAME_SET_H_
