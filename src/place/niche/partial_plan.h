// place/niche/partial_plan.h -- the buffers placed so far, and what follows for the others.
//
// Plans grow from the bottom. Under the ground of a section every byte is decided: taken, or given
// up. Nothing unplaced goes there any more, and from that follow
//
//   lowest   of a lane (a piece of a buffer): where its bottom can be at the lowest, given the
//            ground under all pieces of its buffer, its alignment and what pinned buffers block;
//   floor    of a section: the least lowest of its unplaced lanes. It may lie above the ground;
//            the bytes between the two are lost.
//
// A section whose floor and unplaced bytes exceed the capacity cannot be completed. Lowest depends
// on the ground alone and floors on lowest alone, so one pass over what a change touches is a fixed
// point.
//
//      capacity ------------------------------------
//                   unplaced: 5 bytes
//      floor            - - -   + waste budget: capacity - floor - unplaced
//                +---+ |     |
//      ground    |   |_|     |   nothing that is left fits on this ground
//
// Why a section cannot be completed is a conflict: a set R of sections such that the unplaced
// buffers live in R cannot be stacked on the ground of R, even if no other section mattered, each
// of them aligned, below the capacity and clear of all pinned buffers. So whoever is live nowhere
// in R has nothing to do with it. Conflicts are made here, from Explain().
#ifndef BERTH_PLACE_NICHE_PARTIAL_PLAN_H_
#define BERTH_PLACE_NICHE_PARTIAL_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "berth/place.h"
#include "model/instance.h"
#include "place/niche/kernels.h"
#include "place/niche/section_set.h"

namespace berth::internal {

// Level: an integer for offsets in units of `grain` bytes; whatever is added to the capacity fits.
template <typename Level>
class PartialPlan {
 public:
  using Lane = std::int32_t;
  using Item = std::int32_t;  // A buffer with pieces, numbered by first section.
  using Section = std::int32_t;

  static constexpr Level kPlaced = std::numeric_limits<Level>::max() / 2;  // Above all levels.
  static constexpr Lane kNoLane = -1;

  // Sizes, offsets and alignments are multiples of `grain`.
  PartialPlan(const Instance& instance, Bytes grain, const NicheOptions& options);

  // Nothing is placed any more, and plans end at `capacity`. False if it is plain that none can.
  [[nodiscard]] bool Reset(Level capacity);

  // Puts the buffer of `lane`, which is unplaced, where it can lie at the lowest. False if the rest
  // can then not be placed, for the reason in conflict(). Must be undone in either case.
  [[nodiscard]] bool Place(Lane lane);
  // Gives up the bytes of `section` below `level`, which is above its floor. Likewise.
  [[nodiscard]] bool Waste(Section section, Level level);
  // Takes back the last of them.
  void Undo();
  [[nodiscard]] std::size_t num_moves() const { return moves_.size(); }

  // The sections whose floors, budgets or unplaced bytes the last move may have changed.
  [[nodiscard]] Section touched_first() const { return touched_first_; }
  [[nodiscard]] Section touched_last() const { return touched_last_; }

  // All that moves change. Moves made before a plan is restored cannot be undone any more.
  class Snapshot {
   public:
    [[nodiscard]] std::size_t bytes() const;

   private:
    friend class PartialPlan;
    std::vector<Level> lowest_;
    std::vector<Level> offset_;
    std::vector<Level> ground_;
    std::vector<Level> floor_;
    std::vector<Level> unplaced_;
    std::vector<Lane> witness_;
    std::vector<std::int32_t> joints_;
    std::vector<BitWord> placed_;
  };
  void Save(Snapshot& snapshot) const;
  void Restore(const Snapshot& snapshot);

  // Why the last move failed. The search stores here what it concludes from it.
  [[nodiscard]] SectionSet& conflict() { return conflict_; }
  // Which section the last failed move failed in.
  [[nodiscard]] Section failed_in() const { return failed_in_; }

  // Adds sections to `set` from whose ground it follows that ...
  // ... every unplaced lane of `section` lies at `level` or above (as is the case),
  void Explain(Section section, Level level, SectionSet& set);
  // ... `lane` does.
  void ExplainLane(Lane lane, Level level, SectionSet& set);

  // The least level above its floor at which anything could lie in `section`, if nothing lies on
  // its floor; kPlaced if nothing can.
  [[nodiscard]] Level NextLevel(Section section) const;
  // Adds sections to `set` from which it follows that nothing in `section` lies between its floor
  // and `level`, which is at most NextLevel().
  void ExplainNextLevel(Section section, Level level, SectionSet& set);

  [[nodiscard]] Level capacity() const { return capacity_; }
  [[nodiscard]] Section num_sections() const { return num_sections_; }
  [[nodiscard]] Level ground(Section s) const { return ground_[At(s)]; }
  [[nodiscard]] Level floor(Section s) const { return floor_[At(s)]; }
  [[nodiscard]] std::span<const Level> floors() const { return floor_; }
  [[nodiscard]] Level unplaced(Section s) const { return unplaced_[At(s)]; }  // Its live bytes.
  // How much more may be wasted; negative if the section cannot be completed.
  [[nodiscard]] Level budget(Section s) const {
    return capacity_ - floor_[At(s)] - unplaced_[At(s)];
  }
  // Whether an unplaced buffer is live before and after the start of section s + 1.
  [[nodiscard]] bool joined(Section s) const { return joints_[At(s)] > 0; }

  [[nodiscard]] Item num_items() const { return static_cast<Item>(buffer_.size()); }
  [[nodiscard]] BufferIndex buffer(Item item) const { return buffer_[At(item)]; }
  [[nodiscard]] Level size(Item item) const { return size_[At(item)]; }
  [[nodiscard]] Section first_of(Item item) const { return item_first_[At(item)]; }
  [[nodiscard]] Section last_of(Item item) const { return item_last_[At(item)]; }
  // Where it was placed last.
  [[nodiscard]] Level offset(Item item) const { return offset_[At(item)]; }
  [[nodiscard]] bool is_placed(Item item) const { return !is_unplaced(lanes_of(item).front()); }
  // An identical buffer, just before this one, or -1.
  [[nodiscard]] Item twin(Item item) const { return twin_[At(item)]; }
  [[nodiscard]] std::span<const Lane> lanes_of(Item item) const {
    return std::span(item_lanes_)
        .subspan(item_begin_[At(item)], item_begin_[At(item) + 1] - item_begin_[At(item)]);
  }

  [[nodiscard]] Item item(Lane lane) const { return item_[At(lane)]; }
  [[nodiscard]] Section first(Lane lane) const { return static_cast<Section>(first_[At(lane)]); }
  [[nodiscard]] Section last(Lane lane) const { return static_cast<Section>(last_[At(lane)]); }
  [[nodiscard]] Level height(Lane lane) const { return height_[At(lane)]; }
  [[nodiscard]] Level lowest(Lane lane) const { return lowest_[At(lane)]; }
  // Where that puts its buffer.
  [[nodiscard]] Level lowest_offset(Lane lane) const { return lowest(lane) - lower_[At(lane)]; }
  [[nodiscard]] bool is_unplaced(Lane lane) const { return lowest_[At(lane)] < kPlaced; }
  // The lanes that start in [first, last) have the numbers [starting(first), starting(last)).
  [[nodiscard]] Lane starting(Section s) const { return starting_[At(s)]; }
  // Lanes live in a section, by number.
  [[nodiscard]] std::span<const Lane> members(Section s) const {
    return std::span(members_).subspan(member_begin_[At(s)],
                                       member_begin_[At(s) + 1] - member_begin_[At(s)]);
  }
  // Bits by lane.
  [[nodiscard]] std::span<const BitWord> placed_lanes() const { return placed_; }

  // Every buffer has one piece, the whole of it.
  [[nodiscard]] bool is_whole() const { return whole_; }
  [[nodiscard]] bool has_windows() const { return windows_; }

 private:
  struct Move {
    Lane lane;  // kNoLane: bytes of `section` were given up.
    Section section;
    std::size_t blocks;  // Sizes of the journals before.
    std::size_t floors;
  };
  struct FloorChange {
    Section section;
    Lane witness;
    Level floor;
  };
  struct Blocked {
    Level after;  // Offsets greater than this and
    Level until;  // less than this collide with a pinned buffer.
  };

  static std::size_t At(std::int32_t index) { return static_cast<std::size_t>(index); }
  void FindBlocked();
  [[nodiscard]] Level Lift(Item item, Level offset) const;
  [[nodiscard]] bool Raise(Section from, Section to, Level level);
  [[nodiscard]] bool RaisePlain(Section from, Section to, Level level);
  [[nodiscard]] bool RaiseAny(Section from, Section to, Level level);
  [[nodiscard]] bool TooHigh(Lane lane, Section from);
  [[nodiscard]] bool UpdateFloors();
  void ReserveBlocks(std::size_t blocks);
  void SaveBlock(Lane lane);
  void Touch(Section first, Section last);
  void FindHigh(Level level);

  // By item.
  std::vector<BufferIndex> buffer_;
  std::vector<Section> item_first_;
  std::vector<Section> item_last_;
  std::vector<Level> size_;
  std::vector<Level> alignment_;
  std::vector<Level> pin_;  // -1: none.
  std::vector<Item> twin_;
  std::vector<Lane> item_lanes_;
  std::vector<std::size_t> item_begin_;
  std::vector<Blocked> blocked_;
  std::vector<std::size_t> blocked_begin_;
  std::vector<Level> offset_;

  // By lane, padded to whole blocks. Sorted by first section.
  Lane num_lanes_ = 0;
  std::vector<Level> lowest_;
  std::vector<Level> highest_;
  std::vector<Level> first_;
  std::vector<Level> last_;
  std::vector<Level> height_;
  std::vector<Level> lower_;  // From the buffer's offset.
  std::vector<Item> item_;
  std::vector<BitWord> placed_;

  // By section.
  Section num_sections_ = 0;
  std::vector<Level> ground_;
  std::vector<Level> floor_;
  std::vector<Level> unplaced_;
  std::vector<Lane> witness_;  // A lane that lies on the floor.
  std::vector<std::int32_t> joints_;
  std::vector<Lane> starting_;
  std::vector<Lane> members_;
  std::vector<std::size_t> member_begin_;
  std::vector<Lane> earliest_;  // The first lane that ends after the section's start.

  bool whole_ = true;
  bool windows_ = false;
  bool plain_ = true;  // Whole, without alignment and pins: lowest is the greatest ground.
  bool checks_budgets_;
  RaiseKernel<Level> raise_;
  Level capacity_ = 0;

  // Journals.
  std::vector<Move> moves_;
  std::vector<std::int32_t> saved_block_;
  std::vector<Level> saved_lowest_;
  std::size_t num_saved_ = 0;
  std::vector<std::uint64_t> block_version_;  // When a block was saved last.
  std::vector<FloorChange> saved_floors_;
  std::vector<Level> saved_ground_;

  Section touched_first_ = 0;  // Floors to update.
  Section touched_last_ = 0;
  Section failed_in_ = 0;
  SectionSet conflict_;
  // The sections with at least some ground, as last asked for.
  SectionSet high_;
  Level high_level_ = -1;
  std::uint64_t high_version_ = 0;
  std::uint64_t version_ = 1;  // Of the ground.
};

extern template class PartialPlan<std::int32_t>;
extern template class PartialPlan<std::int64_t>;

}  // namespace berth::internal

#endif  // BERTH_PLACE_NICHE_PARTIAL_PLAN_H_
