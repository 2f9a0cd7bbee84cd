// place/niche/partial_plan.h -- the buffers placed so far, and what follows for the others.
//
// Plans grow from the bottom. Under the ground of a section every byte is decided: taken, or given
// up. Nothing unplaced goes there any more, and from that follow
//
//   lowest   of a lane (a piece of a buffer): the lowest level at which its bottom can be, given
//            the ground under all pieces of its buffer, its alignment and what pinned buffers block;
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
// of them aligned, below the capacity and clear of all pinned buffers. So a buffer that is live
// nowhere in R has nothing to do with it. Conflicts are made here, from Explain().
#ifndef BERTH_PLACE_NICHE_PARTIAL_PLAN_H_
#define BERTH_PLACE_NICHE_PARTIAL_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "base/bits.h"
#include "base/indexed_vector.h"
#include "base/lists.h"
#include "model/instance.h"
#include "place/niche/kernels.h"
#include "place/niche/options.h"

namespace berth::internal::niche {

struct LaneTag;
using LaneIndex = Index<LaneTag>;  // A piece of a buffer; numbered by first section.
struct ItemTag;
using ItemIndex = Index<ItemTag>;  // A buffer with pieces; numbered by first section.
using SectionSet = BitSet<SectionIndex>;

inline constexpr LaneIndex kNoLane{-1};
inline constexpr ItemIndex kNoItem{-1};

// Level: an integer for offsets in units of `grain` bytes; whatever is added to the capacity fits.
template <typename Level>
class PartialPlan {
 public:
  static constexpr Level kPlaced = std::numeric_limits<Level>::max() / 2;  // Above all levels.

  // Sizes, offsets and alignments are multiples of `grain`.
  PartialPlan(const Instance& instance, Bytes grain, const Options& options);
  PartialPlan(const PartialPlan&) = delete;
  PartialPlan& operator=(const PartialPlan&) = delete;
  ~PartialPlan() = default;

  // Nothing is placed any more, and plans end at `capacity`. False if it is plain that none can.
  [[nodiscard]] bool Reset(Level capacity);

  // Puts the buffer of `lane`, which is unplaced, at its lowest feasible offset. False if the rest
  // can then not be placed, for the reason in conflict(). Must be undone in either case.
  [[nodiscard]] bool Place(LaneIndex lane);
  // Gives up the bytes of `section` below `level`, which is above its floor. False, and to be
  // undone, as Place().
  [[nodiscard]] bool Waste(SectionIndex section, Level level);
  // Takes back the last of them.
  void Undo();
  [[nodiscard]] std::size_t num_moves() const { return moves_.size(); }

  // The sections whose floors, budgets or unplaced bytes the last move may have changed.
  [[nodiscard]] SectionIndex touched_first() const { return touched_first_; }
  [[nodiscard]] SectionIndex touched_last() const { return touched_last_; }

  // All that moves change. Moves made before a plan is restored cannot be undone any more.
  class Snapshot {
   public:
    [[nodiscard]] std::size_t bytes() const;

   private:
    friend class PartialPlan;
    IndexedVector<LaneIndex, Level> lowest_;
    IndexedVector<ItemIndex, Level> offset_;
    IndexedVector<SectionIndex, Level> ground_;
    IndexedVector<SectionIndex, Level> floor_;
    IndexedVector<SectionIndex, Level> unplaced_;
    IndexedVector<SectionIndex, LaneIndex> witness_;
    IndexedVector<SectionIndex, std::int32_t> joints_;
    std::vector<Word> placed_;
  };
  void Save(Snapshot& snapshot) const;
  void Restore(const Snapshot& snapshot);

  // From now on conflict() says nothing of moves, which takes less time.
  void StopExplaining() { explains_ = false; }
  // Why the last move failed. The search stores here what it concludes from it.
  [[nodiscard]] SectionSet& conflict() { return conflict_; }
  // Which section the last failed move failed in.
  [[nodiscard]] SectionIndex failed_in() const { return failed_in_; }
  // The lane that had no room below the capacity there; kNoLane if its bytes were too many.
  [[nodiscard]] LaneIndex failed_lane() const { return failed_lane_; }

  // Adds sections to `set` from whose ground it follows that ...
  // ... every unplaced lane of `section` lies at `level` or above (as is the case),
  void Explain(SectionIndex section, Level level, SectionSet& set);
  // ... `lane` does.
  void ExplainLane(LaneIndex lane, Level level, SectionSet& set);

  // The least level above its floor at which anything could lie in `section`, if nothing lies on
  // its floor; kPlaced if nothing can.
  [[nodiscard]] Level NextLevel(SectionIndex section) const;
  // Adds sections to `set` from which it follows that nothing in `section` lies between its floor
  // and `level`, which is at most NextLevel().
  void ExplainNextLevel(SectionIndex section, Level level, SectionSet& set);

  [[nodiscard]] Level capacity() const { return capacity_; }
  [[nodiscard]] IndexRange<SectionIndex> sections() const { return ground_.indices(); }
  [[nodiscard]] std::size_t num_sections() const { return ground_.size(); }
  [[nodiscard]] SectionIndex end_section() const { return SectionIndex(num_sections()); }
  [[nodiscard]] Level ground(SectionIndex s) const { return ground_[s]; }
  [[nodiscard]] Level floor(SectionIndex s) const { return floor_[s]; }
  [[nodiscard]] const IndexedVector<SectionIndex, Level>& floors() const { return floor_; }
  [[nodiscard]] Level unplaced(SectionIndex s) const { return unplaced_[s]; }  // Its live bytes.
  // How much more may be wasted; negative if the section cannot be completed.
  [[nodiscard]] Level budget(SectionIndex s) const { return capacity_ - floor_[s] - unplaced_[s]; }
  // Whether an unplaced buffer is live before and after the start of section s + 1.
  [[nodiscard]] bool joined(SectionIndex s) const { return joints_[s] > 0; }

  [[nodiscard]] IndexRange<ItemIndex> items() const { return buffer_.indices(); }
  [[nodiscard]] std::size_t num_items() const { return buffer_.size(); }
  [[nodiscard]] BufferIndex buffer(ItemIndex item) const { return buffer_[item]; }
  [[nodiscard]] Level size(ItemIndex item) const { return size_[item]; }
  [[nodiscard]] SectionIndex first_of(ItemIndex item) const { return item_first_[item]; }
  [[nodiscard]] SectionIndex last_of(ItemIndex item) const { return item_last_[item]; }
  // Where it was placed last.
  [[nodiscard]] Level offset(ItemIndex item) const { return offset_[item]; }
  [[nodiscard]] bool is_placed(ItemIndex item) const {
    return !is_unplaced(lanes_of(item).front());
  }
  // An identical buffer, just before this one, or kNoItem.
  [[nodiscard]] ItemIndex twin(ItemIndex item) const { return twin_[item]; }
  [[nodiscard]] std::span<const LaneIndex> lanes_of(ItemIndex item) const {
    return item_lanes_[item];
  }

  [[nodiscard]] IndexRange<LaneIndex> lanes() const { return {LaneIndex(), LaneIndex(num_lanes_)}; }
  [[nodiscard]] ItemIndex item(LaneIndex lane) const { return item_[lane]; }
  [[nodiscard]] SectionIndex first(LaneIndex lane) const { return SectionOf(first_[lane]); }
  [[nodiscard]] SectionIndex last(LaneIndex lane) const { return SectionOf(last_[lane]); }
  [[nodiscard]] Level height(LaneIndex lane) const { return height_[lane]; }
  [[nodiscard]] Level lowest(LaneIndex lane) const { return lowest_[lane]; }
  // Where that puts its buffer.
  [[nodiscard]] Level lowest_offset(LaneIndex lane) const { return lowest(lane) - lower_[lane]; }
  [[nodiscard]] bool is_unplaced(LaneIndex lane) const { return lowest_[lane] < kPlaced; }
  // The lanes that start in [first, last) have the numbers [starting(first), starting(last)).
  [[nodiscard]] LaneIndex starting(SectionIndex s) const { return starting_[s]; }
  // Lanes live in a section, by number.
  [[nodiscard]] std::span<const LaneIndex> members(SectionIndex s) const { return members_[s]; }
  // The least floor within [first, last), and a hash of these floors, for states that are compared.
  [[nodiscard]] Level LeastFloor(SectionIndex first, SectionIndex last) const {
    return kernels_.least(&floor_[first], Distance(first, last));
  }
  [[nodiscard]] std::uint64_t HashOfFloors(SectionIndex first, SectionIndex last) const {
    return kernels_.hash(&floor_[first], Distance(first, last));
  }
  // Bits by lane.
  [[nodiscard]] std::span<const Word> placed_lanes() const { return placed_; }

  // Every buffer has one piece, the whole of it.
  [[nodiscard]] bool is_whole() const { return whole_; }
  [[nodiscard]] bool has_windows() const { return windows_; }

 private:
  struct Move {
    LaneIndex lane;  // kNoLane: bytes of `section` were given up.
    SectionIndex section;
    std::size_t blocks;  // Sizes of the journals before.
    std::size_t floors;
  };
  struct FloorChange {
    SectionIndex section;
    LaneIndex witness;
    Level floor;
  };
  struct Blocked {
    Level after;  // Offsets greater than this and
    Level until;  // less than this collide with a pinned buffer.
  };

  static std::size_t Distance(SectionIndex first, SectionIndex last) {
    return last.position() - first.position();
  }
  static SectionIndex SectionOf(Level number) {
    return SectionIndex(static_cast<std::int32_t>(number));
  }
  struct NewLane {
    SectionIndex first;
    SectionIndex last;
    ItemIndex item;
    Level lower;
    Level height;
  };
  [[nodiscard]] std::vector<NewLane> MakeItems(const Instance& instance, Bytes grain);
  void MakeLanes(const std::vector<NewLane>& lanes);
  void MakeSections(std::size_t num_sections);
  void FindBlocked();
  [[nodiscard]] Level Lift(ItemIndex item, Level offset) const;
  [[nodiscard]] bool Raise(SectionIndex from, SectionIndex to, Level level);
  [[nodiscard]] bool RaisePlain(SectionIndex from, SectionIndex to, Level level);
  [[nodiscard]] bool RaiseAny(SectionIndex from, SectionIndex to, Level level);
  [[nodiscard]] bool TooHigh(LaneIndex lane, SectionIndex from);
  [[nodiscard]] bool UpdateFloors();
  void FindWitness(SectionIndex s, LaneIndex hint);
  void ReserveBlocks(std::size_t blocks);
  void SaveBlock(LaneIndex lane);
  void Touch(SectionIndex first, SectionIndex last);
  void FindHigh(Level level);

  // By item.
  IndexedVector<ItemIndex, BufferIndex> buffer_;
  IndexedVector<ItemIndex, SectionIndex> item_first_;
  IndexedVector<ItemIndex, SectionIndex> item_last_;
  IndexedVector<ItemIndex, Level> size_;
  IndexedVector<ItemIndex, Level> alignment_;
  IndexedVector<ItemIndex, Level> pin_;  // -1: none.
  IndexedVector<ItemIndex, ItemIndex> twin_;
  Lists<ItemIndex, LaneIndex> item_lanes_;
  Lists<ItemIndex, Blocked> blocked_;
  IndexedVector<ItemIndex, Level> offset_;

  // By lane, padded to whole blocks. Sorted by first section.
  std::size_t num_lanes_ = 0;
  IndexedVector<LaneIndex, Level> lowest_;
  IndexedVector<LaneIndex, Level> highest_;
  IndexedVector<LaneIndex, Level> first_;
  IndexedVector<LaneIndex, Level> last_;
  IndexedVector<LaneIndex, Level> height_;
  IndexedVector<LaneIndex, Level> lower_;  // From the buffer's offset.
  IndexedVector<LaneIndex, ItemIndex> item_;
  std::vector<Word> placed_;

  // By section.
  IndexedVector<SectionIndex, Level> ground_;
  IndexedVector<SectionIndex, Level> floor_;
  IndexedVector<SectionIndex, Level> unplaced_;
  IndexedVector<SectionIndex, LaneIndex> witness_;  // A lane that lies on the floor.
  IndexedVector<SectionIndex, std::int32_t> joints_;
  IndexedVector<SectionIndex, LaneIndex> starting_;
  Lists<SectionIndex, LaneIndex> members_;
  IndexedVector<SectionIndex, LaneIndex> earliest_;  // The first lane that ends after its start.
  IndexedVector<SectionIndex, LowestArguments<Level>> live_in_;  // To find a witness.

  bool whole_ = true;
  bool windows_ = false;
  bool plain_ = true;  // Whole, without alignment and pins: lowest is the greatest ground.
  bool checks_budgets_;
  bool explains_ = true;
  Kernels<Level> kernels_;
  Level capacity_ = 0;

  // Journals.
  std::vector<Move> moves_;
  std::vector<std::int32_t> saved_block_;
  std::vector<Level> saved_lowest_;
  std::size_t num_saved_ = 0;
  std::vector<std::uint64_t> block_version_;  // When a block was saved last.
  std::vector<FloorChange> saved_floors_;
  std::vector<Level> saved_ground_;

  SectionIndex touched_first_;  // Floors to update.
  SectionIndex touched_last_;
  SectionIndex failed_in_;
  LaneIndex failed_lane_ = kNoLane;
  SectionSet conflict_;
  // The sections with at least some ground, as last asked for.
  SectionSet high_;
  Level high_level_ = -1;
  std::uint64_t high_version_ = 0;
  std::uint64_t version_ = 1;  // Of the ground.
};

extern template class PartialPlan<std::int32_t>;
extern template class PartialPlan<std::int64_t>;

}  // namespace berth::internal::niche

#endif  // BERTH_PLACE_NICHE_PARTIAL_PLAN_H_
