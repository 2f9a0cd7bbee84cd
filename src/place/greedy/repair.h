// place/greedy/repair.h -- buffers put below a target one by one, each where it evicts the least.
//
// The search that improve.h describes, for one part and one target.
#ifndef BERTH_PLACE_GREEDY_REPAIR_H_
#define BERTH_PLACE_GREEDY_REPAIR_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include "base/random.h"
#include "model/instance.h"

namespace berth::internal::greedy {

// How targets follow each other. The first one is lower by this part of the way to the bound, the next
// by twice that, up to a largest part. An attempt spends at most a share of all before it, or this in all
// and for each buffer. Then the target rises by the rest of the way, as after a failure, to have a plan;
// nothing of what was repaired is lost. For each buffer that has to be put back at first, some steps
// more may go by without progress.
struct Pace {
  double first_part;
  double most_part;
  std::int64_t share_of_before;  // One in so many.
  std::int64_t work_of_buffer;
  std::int64_t steps_of_out;
  std::int64_t share_of_left;  // At most one in so many of what may still be spent.
};

// What may be spent, and is: looks at a neighbour, or what takes as long.
class Effort {
 public:
  Effort(std::int64_t most, const std::function<bool()>& stop) : most_(most), stop_(stop) {}

  void Spend(std::int64_t work) { spent_ += work; }
  // So much more than was spent.
  void Allow(std::int64_t more) { most_ = spent_ + more; }
  [[nodiscard]] std::int64_t spent() const { return spent_; }
  // An attempt to reach a target, with so many buffers.
  void BeginAttempt(const Pace& pace, std::int64_t buffers) {
    const std::int64_t work =
        std::max({spent_ / pace.share_of_before, kMinAttempt, pace.work_of_buffer * buffers});
    attempt_end_ =
        spent_ + std::min(work, std::max<std::int64_t>(most_ - spent_, 0) / pace.share_of_left);
  }
  [[nodiscard]] bool AttemptIsOver() const { return spent_ >= attempt_end_; }
  [[nodiscard]] bool TimeIsUp() {
    if (spent_ >= most_) return true;
    if (spent_ >= next_stop_) {
      next_stop_ = spent_ + kWorkPerStop;
      time_is_up_ = time_is_up_ || (stop_ && stop_());
    }
    return time_is_up_;
  }

 private:
  static constexpr std::int64_t kMinAttempt = 1 << 22;
  // Work between two looks at the clock: about a millisecond.
  static constexpr std::int64_t kWorkPerStop = 1 << 15;

  std::int64_t most_;
  const std::function<bool()>& stop_;
  std::int64_t spent_ = 0;
  std::int64_t attempt_end_ = 0;
  std::int64_t next_stop_ = 0;
  bool time_is_up_ = false;
};

// The sections [begin, end). What lives in others, too, stays where it is.
struct TimeWindow {
  SectionIndex begin;
  SectionIndex end;
};

// Pins, and what lives beyond the window.
[[nodiscard]] bool IsFixed(const Instance& instance, const TimeWindow& window, BufferIndex b);

// Buffers whose lifetimes meet no others that move, or the large ones of them, and their offsets.
class Part {
 public:
  // `buffers` in order of their first section. `effort` must outlive the part.
  Part(const Instance& instance, const std::vector<std::int64_t>& heat, const TimeWindow& window,
       std::vector<BufferIndex> buffers, std::uint64_t seed, Effort& effort);

  [[nodiscard]] const std::vector<BufferIndex>& buffers() const { return buffers_; }
  // Of each size of 0 .. 63 bits: the buffers, and what they cost together.
  struct OfSize {
    std::size_t buffers = 0;
    std::int64_t cost = 0;
  };
  [[nodiscard]] std::array<OfSize, 64> Sizes() const;

  void Restore(const std::vector<Bytes>& offsets);
  [[nodiscard]] Bytes Height() const;
  // Of those that may not move.
  [[nodiscard]] Bytes HighestFixed() const;
  // Writes the offsets of all that may move; none may be out.
  void Store(std::vector<Bytes>& offsets) const;
  // Puts the buffers of `large`, some of these, where they are there. What is in their way is then
  // out.
  void Take(const Part& large);
  // Whether all could be put below `target`. What is out in the end says kOut, and is so when it is
  // called again. Gives up after `patience` steps without progress, and `more` for each that is out.
  [[nodiscard]] bool Reach(Bytes target, std::int64_t patience, std::int64_t more);

 private:
  static constexpr Bytes kOut = -1;
  static constexpr std::int64_t kImmovable = std::int64_t{1} << 61;
  struct Item {
    std::int32_t first;
    std::int32_t last;
    Bytes size;
    Bytes offset;       // Or kOut.
    std::int64_t cost;  // kImmovable where it may not move.
    std::int64_t base;
  };
  // Offsets strictly between `lower` and `upper` are taken by `item`.
  struct Taken {
    Bytes lower;
    Bytes upper;
    std::size_t item;
  };
  // From `offset` on, the cost differs by `change`.
  struct Change {
    Bytes offset;
    std::int64_t change;
    friend bool operator<(const Change& x, const Change& y) { return x.offset < y.offset; }
  };

  [[nodiscard]] BufferIndex buffer(std::size_t item) const { return buffers_[item]; }
  [[nodiscard]] bool fixed(std::size_t item) const { return items_[item].cost == kImmovable; }
  void PushOut(std::size_t item);
  // Who may live together with an item: of live_[live_begin .. live_end) and of the items from ..
  // begin those that last long enough, of the items begin .. end all. The item itself is one.
  struct Neighbours {
    std::size_t live_begin;
    std::size_t live_end;
    std::size_t from;
    std::size_t begin;
    std::size_t end;
  };
  [[nodiscard]] Neighbours NeighboursOf(const Item& item) const;
  template <typename Visit>
  void ForNeighbours(std::size_t item, Visit visit);
  // Moves one that lives together with `item` to another free offset below `target`.
  void MoveNeighbour(std::size_t item, Bytes target);
  [[nodiscard]] std::optional<std::size_t> DrawNeighbour(std::size_t item);
  void FindTaken(std::size_t item);
  // The cheapest offset up to `highest`; nothing where pins leave none.
  [[nodiscard]] std::optional<Bytes> CheapestOffset(std::size_t item, Bytes highest);
  static void SortByLower(std::vector<Taken>& taken);
  // The ranges of offsets up to `highest` that meet nothing of taken_, in free_.
  void FindFree(Bytes alignment, Bytes highest);
  void SortChanges(Bytes highest);

  const Instance& instance_;
  const std::vector<BufferIndex> buffers_;
  std::vector<Item> items_;
  std::int32_t first_section_ = 0;
  bool has_fixed_ = false;
  std::vector<std::int32_t> begin_at_;  // The first item that starts at a section.
  // Who starts before item c << block_bits_ and is live where that starts: live_[live_begin_[c]
  // ..].
  int block_bits_ = 6;
  std::vector<std::size_t> live_begin_;
  std::vector<std::int32_t> live_;

  using Entry = std::pair<std::int64_t, std::size_t>;
  std::priority_queue<Entry> out_;  // By cost.
  std::vector<Taken> taken_;
  std::vector<std::pair<Bytes, Bytes>> free_;  // First and last aligned offset.
  std::vector<Change> changes_;
  std::vector<Change> sorted_;
  std::vector<std::uint32_t> bucket_;

  Random random_;
  Effort& effort_;
};

}  // namespace berth::internal::greedy

#endif  // BERTH_PLACE_GREEDY_REPAIR_H_
