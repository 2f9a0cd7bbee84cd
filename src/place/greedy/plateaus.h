// place/greedy/plateaus.h -- lowest-first selection for plain problems, in O(n log^2 n).
//
// Packer's lowest-first selection looks at a buffer again and again while the rows below fill up:
// 8 million looks for 28,000 buffers with 3,000 live at once. Where every buffer is a plain
// rectangle there is a direct way. The skyline is a row of plateaus; nothing can lie lower than the
// lowest of them:
//
//        +--+                    The lowest plateau is [2, 5). Of the unplaced buffers whose
//        |  |     +--+           sections all lie within it, the first in the order is placed on
//     +--+  |     |  |           it and cuts it; if there is none, its bytes up to the lower
//     |     +-----+  |           neighbour can never be used: it rises to that level, and the two
//     0     2     5  6  section  become one.
//
// This is lowest-first selection on a skyline, step by step: a buffer's lowest offset is the
// highest level within its sections, which is the level of the lowest plateau only if all its
// sections lie there; and buffers on different plateaus of the same level do not see each other. It
// is lowest-first selection of first fit, too: rows only rise, so an unplaced buffer never fits
// below a placed one that it meets.
//
// The lowest plateau need not be the next one. A plateau lower than both neighbours stays what it
// is until its own turn comes, whatever happens elsewhere, as neither neighbour can change before
// it has risen to them. So the walk goes on where it is, downhill to the next local minimum, with
// all that it needs still in the caches: at a million buffers this is twice as fast.
//
// Each placement makes at most two plateaus, each rise unites two, and no plateau is left downhill
// twice: O(n) steps. Each step asks for the first unplaced buffer in the order within [left, right).
// Buffers are points, by their first and last section, in a k-d tree (Bentley, 1975). A node knows
// the smallest place in the order below it, so most are left out unseen: those in whose box nothing
// lies within the plateau, and those where nothing is better than what was found. Cost of a step: some
// 0.2 microseconds at a million buffers, O(sqrt n) at worst. Memory: 30 bytes a buffer.
#ifndef BERTH_PLACE_GREEDY_PLATEAUS_H_
#define BERTH_PLACE_GREEDY_PLATEAUS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "model/instance.h"

namespace berth::internal::greedy {

// Unplaced buffers, each with a span of sections and a rank, smaller being better. They have slots, and
// those near in time have slots near each other.
class SpanIndex {
 public:
  struct Span {
    std::int32_t first;
    std::int32_t last;  // Exclusive; first < last.
  };
  // `stop` is asked now and then, never if it is empty. Once it says yes, there is no index: Make()
  // gives none, and after Reset() gave false it must be called again.
  [[nodiscard]] static std::optional<SpanIndex> Make(const std::vector<Span>& spans,
                                                     std::int32_t num_sections,
                                                     const std::function<bool()>& stop);

  // All spans are unplaced again; ranks[k] is the rank of spans[k]. Ranks are 0, 1, 2, ...
  [[nodiscard]] bool Reset(const std::vector<std::int32_t>& ranks,
                           const std::function<bool()>& stop);
  // The lowest rank of an unplaced span within [first, last), or kNoRank.
  [[nodiscard]] std::int32_t Best(std::int32_t first, std::int32_t last) const;
  // Of spans[k].
  [[nodiscard]] std::size_t SlotOf(std::size_t k) const { return slot_of_[k]; }
  [[nodiscard]] std::size_t SlotOfRank(std::int32_t rank) const {
    return slot_of_rank_[static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] Span SpanOf(std::size_t slot) const {
    return {slots_[slot].first, slots_[slot].last};
  }
  // What has the slot is placed.
  void Remove(std::size_t slot);

  static constexpr std::int32_t kNoRank = INT32_MAX;

 private:
  struct Slot {
    std::int32_t first;
    std::int32_t last;
    std::int32_t rank;
  };
  // What lies below it: the box of its spans, and their lowest rank.
  struct Node {
    std::int32_t least_first;
    std::int32_t most_first;
    std::int32_t least_last;
    std::int32_t most_last;
    std::int32_t rank;
  };
  SpanIndex(const std::vector<Span>& spans, std::int32_t num_sections);
  // Cuts the slots from `begin` on of a node with so many leaves in two, and so on below it. False if
  // stopped.
  [[nodiscard]] bool Cut(std::size_t node, std::size_t begin, std::size_t leaves,
                         const std::function<bool()>& stop);
  void Look(std::size_t node, std::int32_t first, std::int32_t last, std::int32_t& best) const;
  [[nodiscard]] std::span<const Slot> SlotsOf(std::size_t leaf) const;
  [[nodiscard]] std::int32_t LowestRank(std::size_t leaf) const;

  std::size_t leaves_;       // A power of two. All that are not empty, but the last, are full.
  std::vector<Node> nodes_;  // The children of node k are 2k and 2k + 1; 1 is the root.
  std::vector<Slot> slots_;  // By leaf.
  std::vector<std::uint32_t> slot_of_;  // Of spans[k].
  std::vector<std::uint32_t> slot_of_rank_;
};

// Packs the plain problems: one piece for each buffer, the whole of it; the same alignment for all.
class PlateauPacker {
 public:
  // Whether `instance` is plain and without pins. Hints must not be used.
  [[nodiscard]] static bool CanPack(const Instance& instance);
  // `instance`, which is plain, must outlive the packer. None if `stop`, which is asked now and then
  // unless it is empty, says yes.
  [[nodiscard]] static std::optional<PlateauPacker> Make(const Instance& instance,
                                                         const std::function<bool()>& stop);
  // Offsets by lowest-first selection, the first in `order` first. `stop` is asked now and then,
  // and ends the attempt without any; never if it is empty.
  [[nodiscard]] std::optional<std::vector<Bytes>> Pack(const std::vector<BufferIndex>& order,
                                                       const std::function<bool()>& stop);

 private:
  PlateauPacker(const Instance& instance, SpanIndex unplaced);
  // Of the buffers, from those of their slots.
  [[nodiscard]] std::vector<Bytes> OffsetsOf(const std::vector<Bytes>& of_slot) const;

  std::size_t num_sections_;
  SpanIndex unplaced_;
  std::vector<Bytes> room_;  // Of what has a slot: its size up to a multiple of the alignment.
};

}  // namespace berth::internal::greedy

#endif  // BERTH_PLACE_GREEDY_PLATEAUS_H_
