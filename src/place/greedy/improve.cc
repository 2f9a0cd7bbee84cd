#include "place/greedy/improve.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <limits>
#include <memory>
#include <optional>
#include <queue>
#include <utility>

#include "base/arithmetic.h"
#include "base/parallel.h"
#include "base/radix_sort.h"
#include "base/random.h"
#include "place/greedy/shelves.h"

namespace berth::internal::greedy {
namespace {

// A buffer's cost is its base, up to 2^28, times a weight, up to 2^11: a million neighbours add up
// to less than what a pin costs.
constexpr int kBaseBits = 28;
constexpr std::int64_t kMaxWeight = 1 << 11;
constexpr std::int64_t kImmovable = std::int64_t{1} << 61;

// Steps without progress after which an attempt ends; doubled whenever all targets have failed.
constexpr std::int64_t kPatience = 500;
constexpr std::int64_t kMaxPatience = std::int64_t{1} << 40;

// Steps without progress, and one more for each buffer that is out, after which others move.
constexpr std::int64_t kStepsBeforeMoves = 50;
constexpr int kDrawsOfMove = 20;

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
// On a large table the first steps are many, and a plan should come soon.
constexpr Pace kPace = {1.0 / 8, 1.0 / 2, 4, 8, 0, 1};
// Without the small buffers, steps are cheap and go far, after so much work for each buffer in which a
// plan should come soon, too.
constexpr Pace kFirstPaceBelowStrip = {1.0 / 8, 1.0 / 2, 4, 8, 1, 1};
constexpr Pace kPaceBelowStrip = {5.0 / 6, 5.0 / 6, 1, 64, 1, 8};
constexpr std::int64_t kWorkOfFirstPace = 16;
constexpr std::int64_t kMinAttempt = 1 << 22;

// The smallest difference of targets worth an attempt, as a share of the bound.
constexpr Bytes kFineness = 5000;

// Work between two looks at the clock: about a millisecond.
constexpr std::int64_t kWorkPerStop = 1 << 15;

// A large part is repaired in levels. On the first one there are no small buffers, which
// have this share of the costs together; each next level has buffers of a quarter of the size, as long
// as that leaves out at least one in kLeftOut.
constexpr std::int64_t kShareOfSmall = 32;
constexpr int kSizeBitsOfLevel = 2;
constexpr std::size_t kMaxLevels = 6;
// First, what these do not have is left in a strip above all others.
constexpr std::size_t kLevelsBelowStrip = 3;
// To pack one buffer of it takes as long as so many looks.
constexpr std::int64_t kWorkOfStrip = 16;
constexpr std::size_t kLeftOut = 4;
// With a strip, targets have failed often enough at this patience.
constexpr std::int64_t kMostPatienceBelowStrip = 16 * kPatience;

// How much of a problem a section is, 1 .. 2^15 + 1: (load / largest)^16.
std::vector<std::int64_t> HeatUpTo(const Instance& instance) {
  Bytes largest = 1;
  for (const Bytes load : instance.section_load) largest = std::max(largest, load);
  // So that the product below fits.
  const int shift =
      std::max(0, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(largest))) - 40);
  std::vector<std::int64_t> heat(instance.num_sections() + 1, 0);
  for (const SectionIndex s : instance.sections()) {
    std::int64_t x =
        ((instance.section_load[s] >> shift) << 15) / std::max<Bytes>(largest >> shift, 1);
    for (int k = 0; k < 4; ++k) x = x * x >> 15;
    heat[s.position() + 1] = heat[s.position()] + 1 + x;
  }
  return heat;
}

// What may be spent, and is: looks at a neighbour, or what takes as long.
class Effort {
 public:
  Effort(std::int64_t most, const std::function<bool()>& stop) : most_(most), stop_(stop) {}

  void Spend(std::int64_t work) { spent_ += work; }
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
  const std::int64_t most_;
  const std::function<bool()>& stop_;
  std::int64_t spent_ = 0;
  std::int64_t attempt_end_ = 0;
  std::int64_t next_stop_ = 0;
  bool time_is_up_ = false;
};

// Buffers whose lifetimes meet no others, or the large ones of them, and their offsets.
class Part {
 public:
  // `buffers` in order of their first section. `effort` must outlive the part.
  Part(const Instance& instance, const std::vector<std::int64_t>& heat,
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
  // Writes the offsets of all; none may be out.
  void Store(std::vector<Bytes>& offsets) const;
  // Puts the buffers of `large`, some of these, where they are there. What is in their way is then
  // out.
  void Take(const Part& large);
  // Whether all could be put below `target`. What is out in the end says kOut, and is so when it is
  // called again. Gives up after `patience` steps without progress, and `more` for each that is out.
  [[nodiscard]] bool Reach(Bytes target, std::int64_t patience, std::int64_t more);

 private:
  static constexpr Bytes kOut = -1;
  struct Item {
    std::int32_t first;
    std::int32_t last;
    Bytes size;
    Bytes offset;  // Or kOut.
    std::int64_t cost;
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
  [[nodiscard]] bool pinned(std::size_t item) const {
    return instance_.has_pins && instance_.pin[buffer(item)] != kNone;
  }
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
  // The ranges of offsets up to `highest` that meet nothing of taken_, in free_.
  void FindFree(Bytes alignment, Bytes highest);
  void SortChanges(Bytes highest);

  const Instance& instance_;
  const std::vector<BufferIndex> buffers_;
  std::vector<Item> items_;
  std::int32_t first_section_ = 0;
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

Part::Part(const Instance& instance, const std::vector<std::int64_t>& heat,
           std::vector<BufferIndex> buffers, std::uint64_t seed, Effort& effort)
    : instance_(instance), buffers_(std::move(buffers)), random_(seed), effort_(effort) {
  const std::size_t n = buffers_.size();
  items_.reserve(n);
  std::int32_t last_section = 0;
  Bytes largest = 1;
  first_section_ = instance.first[buffers_.front()].value();
  for (const BufferIndex b : buffers_) {
    items_.push_back({instance.first[b].value() - first_section_,
                      instance.last[b].value() - first_section_, instance.size[b], kOut, 1, 1});
    last_section = std::max(last_section, items_.back().last);
    largest = std::max(largest, instance.size[b]);
  }

  // Sizes of at most 20 bits and heats of at most 40 make a product that fits.
  const auto bits = [](std::int64_t x) {
    return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(x)));
  };
  const int size_shift = std::max(0, bits(largest) - 20);
  const int heat_shift = std::max(0, bits(heat.back()) - 40);
  std::int64_t most = 1;
  for (std::size_t i = 0; i < n; ++i) {
    const BufferIndex b = buffers_[i];
    const std::int64_t heats =
        heat[instance.last[b].position()] - heat[instance.first[b].position()];
    items_[i].base = ((instance.size[b] >> size_shift) + 1) * ((heats >> heat_shift) + 1);
    most = std::max(most, items_[i].base);
  }
  const int base_shift = std::max(0, bits(most) - kBaseBits);
  for (Item& item : items_) {
    item.base = std::max<std::int64_t>(item.base >> base_shift, 1);
    item.cost = item.base;
  }

  begin_at_.assign(static_cast<std::size_t>(last_section) + 1, 0);
  std::int64_t live_sections = 0;
  for (const Item& item : items_) {
    ++begin_at_[static_cast<std::size_t>(item.first) + 1];
    live_sections += item.last - item.first;
  }
  for (std::size_t s = 1; s < begin_at_.size(); ++s) begin_at_[s] += begin_at_[s - 1];
  while ((std::int64_t{4} << block_bits_) < live_sections / last_section) ++block_bits_;
  std::vector<std::int32_t> live;
  for (std::size_t i = 0; i < n; ++i) {
    if (i % (std::size_t{1} << block_bits_) == 0) {
      std::erase_if(live, [&](std::int32_t k) {
        return items_[static_cast<std::size_t>(k)].last <= items_[i].first;
      });
      live_begin_.push_back(live_.size());
      live_.insert(live_.end(), live.begin(), live.end());
    }
    live.push_back(static_cast<std::int32_t>(i));
  }
  live_begin_.push_back(live_.size());
}

void Part::Restore(const std::vector<Bytes>& offsets) {
  for (std::size_t i = 0; i < items_.size(); ++i) {
    items_[i].offset = offsets[buffer(i).position()];
  }
}

Bytes Part::Height() const {
  Bytes height = 0;
  for (const Item& item : items_) height = std::max(height, item.offset + item.size);
  return height;
}

void Part::Store(std::vector<Bytes>& offsets) const {
  for (std::size_t i = 0; i < items_.size(); ++i) {
    offsets[buffer(i).position()] = items_[i].offset;
  }
}

std::array<Part::OfSize, 64> Part::Sizes() const {
  std::array<OfSize, 64> sizes;
  for (const Item& item : items_) {
    const auto bits = std::bit_width(static_cast<std::uint64_t>(item.size));
    OfSize& of_size = sizes[static_cast<std::size_t>(bits)];
    ++of_size.buffers;
    of_size.cost += item.base;
  }
  return sizes;
}

void Part::Take(const Part& large) {
  effort_.Spend(static_cast<std::int64_t>(items_.size() / 16));
  std::vector<std::size_t> moved;
  std::vector<bool> is_large(items_.size(), false);
  for (std::size_t k = 0, i = 0; k < large.items_.size(); ++k, ++i) {
    while (buffers_[i] != large.buffers_[k]) ++i;
    is_large[i] = true;
    if (items_[i].offset == large.items_[k].offset) continue;
    items_[i].offset = large.items_[k].offset;
    moved.push_back(i);
  }
  for (const std::size_t i : moved) {
    const Bytes offset = items_[i].offset;
    FindTaken(i);
    for (const Taken& taken : taken_) {
      Item& other = items_[taken.item];
      if (is_large[taken.item] || other.offset == kOut) continue;
      if (taken.lower >= offset || offset >= taken.upper) continue;
      other.offset = kOut;
    }
  }
}

void Part::PushOut(std::size_t item) {
  items_[item].offset = kOut;
  out_.emplace(items_[item].cost, item);
}

bool Part::Reach(Bytes target, std::int64_t patience, std::int64_t more) {
  out_ = {};
  std::int64_t base_out = 0;
  effort_.Spend(1 + static_cast<std::int64_t>(items_.size() / 16));
  for (std::size_t i = 0; i < items_.size(); ++i) {
    Item& item = items_[i];
    if (item.offset != kOut && item.offset + item.size <= target) continue;
    if (pinned(i)) return false;  // Unreachable: the bound counts pins.
    base_out += item.base;
    PushOut(i);
  }
  patience += more * std::ssize(out_);
  std::int64_t least_out = base_out;
  std::int64_t idle = 0;
  while (!out_.empty()) {
    if (base_out < least_out) {
      least_out = base_out - base_out / 1024;
      idle = 0;
    }
    if (++idle > patience || effort_.AttemptIsOver() || effort_.TimeIsUp()) return false;
    const std::size_t u = out_.top().second;
    if (idle > kStepsBeforeMoves + std::ssize(out_)) MoveNeighbour(u, target);
    FindTaken(u);
    const auto offset = CheapestOffset(u, target - items_[u].size);
    if (!offset) return false;
    out_.pop();
    for (const Taken& taken : taken_) {
      Item& other = items_[taken.item];
      // One with windows may be met twice.
      if (taken.lower >= *offset || *offset >= taken.upper || other.offset == kOut) continue;
      other.cost = std::min(other.cost + other.base, other.base * kMaxWeight);
      base_out += other.base;
      PushOut(taken.item);
    }
    items_[u].offset = *offset;
    base_out -= items_[u].base;
  }
  return true;
}

Part::Neighbours Part::NeighboursOf(const Item& item) const {
  const auto begin = static_cast<std::size_t>(begin_at_[static_cast<std::size_t>(item.first)]);
  const auto end = static_cast<std::size_t>(begin_at_[static_cast<std::size_t>(item.last)]);
  const std::size_t block = begin >> block_bits_;
  return {live_begin_[block], live_begin_[block + 1], block << block_bits_, begin, end};
}

template <typename Visit>
void Part::ForNeighbours(std::size_t u, Visit visit) {
  const Item& item = items_[u];
  const Neighbours all = NeighboursOf(item);
  for (std::size_t k = all.live_begin; k < all.live_end; ++k) {
    const auto i = static_cast<std::size_t>(live_[k]);
    if (items_[i].last > item.first) visit(i);
  }
  for (std::size_t i = all.from; i < all.begin; ++i) {
    if (items_[i].last > item.first) visit(i);
  }
  for (std::size_t i = all.begin; i < all.end; ++i) visit(i);
  effort_.Spend(static_cast<std::int64_t>(8 + all.live_end - all.live_begin + all.end - all.from));
}

std::optional<std::size_t> Part::DrawNeighbour(std::size_t u) {
  const Neighbours all = NeighboursOf(items_[u]);
  const std::size_t live = all.live_end - all.live_begin;
  const auto count = static_cast<std::int64_t>(live + all.end - all.from);
  for (int draw = 0; draw < kDrawsOfMove; ++draw) {
    effort_.Spend(1);
    const auto k = static_cast<std::size_t>(random_.Uniform(0, count - 1));
    const std::size_t i =
        k < live ? static_cast<std::size_t>(live_[all.live_begin + k]) : all.from + (k - live);
    const bool meets = items_[i].last > items_[u].first;
    if (meets && items_[i].offset != kOut && !pinned(i)) return i;
  }
  return std::nullopt;
}

void Part::MoveNeighbour(std::size_t u, Bytes target) {
  const std::optional<std::size_t> neighbour = DrawNeighbour(u);
  if (!neighbour) return;
  Item& item = items_[*neighbour];
  const Bytes before = std::exchange(item.offset, kOut);
  FindTaken(*neighbour);
  FindFree(instance_.alignment[buffer(*neighbour)], target - item.size);
  item.offset = before;
  if (free_.empty()) return;
  const auto last = static_cast<std::int64_t>(free_.size()) - 1;
  const auto [lowest, highest] = free_[static_cast<std::size_t>(random_.Uniform(0, last))];
  item.offset = random_.Uniform(0, 1) == 0 ? lowest : highest;
}

void Part::FindFree(Bytes alignment, Bytes highest) {
  std::sort(taken_.begin(), taken_.end(),
            [](const Taken& x, const Taken& y) { return x.lower < y.lower; });
  free_.clear();
  const auto add = [&](Bytes from, Bytes to) {
    from = RoundUp(from, alignment);
    to -= to % alignment;
    if (from <= to) free_.emplace_back(from, to);
  };
  Bytes from = 0;
  for (const Taken& taken : taken_) {
    if (from > highest) return;
    if (taken.lower >= from) add(from, std::min(taken.lower, highest));
    from = std::max(from, taken.upper);
  }
  if (from <= highest) add(from, highest);
}

void Part::FindTaken(std::size_t u) {
  taken_.clear();
  const Bytes size = items_[u].size;
  ForNeighbours(u, [&](std::size_t i) {
    const Item& other = items_[i];
    if (other.offset == kOut) return;
    if (!instance_.has_gaps) {
      taken_.push_back({other.offset - size, other.offset + other.size, i});
      return;
    }
    for (const Interval& bad : ForbiddenDifferences(instance_, buffer(i), buffer(u))) {
      taken_.push_back({other.offset + bad.lower, other.offset + bad.upper, i});
    }
  });
}

std::optional<Bytes> Part::CheapestOffset(std::size_t u, Bytes highest) {
  changes_.clear();
  std::int64_t cost = 0;
  const auto add = [&](Bytes lower, Bytes upper, std::int64_t price) {
    if (upper <= 0 || lower >= highest || upper - lower < 2) return;
    if (lower < 0) {
      cost += price;
    } else {
      changes_.push_back({lower + 1, price});
    }
    if (upper <= highest) changes_.push_back({upper, -price});
  };
  if (!instance_.has_pins) {
    for (const Taken& taken : taken_) add(taken.lower, taken.upper, items_[taken.item].cost);
  } else {
    // Pins are united first: no offset pays for two of them.
    std::vector<std::pair<Bytes, Bytes>> pins;
    for (const Taken& taken : taken_) {
      if (pinned(taken.item)) {
        pins.emplace_back(taken.lower, taken.upper);
      } else {
        add(taken.lower, taken.upper, items_[taken.item].cost);
      }
    }
    std::sort(pins.begin(), pins.end());
    for (std::size_t k = 0; k < pins.size();) {
      auto [lower, upper] = pins[k];
      for (++k; k < pins.size() && pins[k].first < upper - 1; ++k) {
        upper = std::max(upper, pins[k].second);
      }
      add(lower, upper, kImmovable);
    }
  }
  SortChanges(highest);

  const Bytes alignment = instance_.alignment[buffer(u)];
  std::int64_t least = kImmovable;
  std::optional<Bytes> best;
  std::size_t next = 0;
  for (Bytes from = 0;;) {
    for (; next < changes_.size() && changes_[next].offset == from; ++next) {
      cost += changes_[next].change;
    }
    const Bytes to = next < changes_.size() ? changes_[next].offset - 1 : highest;
    if (cost < least) {
      const Bytes offset = alignment == 1 ? from : RoundUp(from, alignment);
      if (offset <= to) {
        least = cost;
        best = offset;
        if (cost == 0) break;
      }
    }
    if (next == changes_.size()) break;
    from = changes_[next].offset;
  }
  return best;
}

// By offset. Offsets are spread over the whole height, so a pass of buckets leaves little to do.
void Part::SortChanges(Bytes highest) {
  const std::size_t count = changes_.size();
  if (count < 32) {
    std::sort(changes_.begin(), changes_.end());
    return;
  }
  const std::size_t buckets = std::bit_ceil(count);
  int shift = 0;
  while ((static_cast<std::size_t>(highest) >> shift) >= buckets) ++shift;
  bucket_.assign(buckets + 1, 0);
  for (const Change& change : changes_) {
    ++bucket_[(static_cast<std::size_t>(change.offset) >> shift) + 1];
  }
  for (std::size_t b = 1; b <= buckets; ++b) bucket_[b] += bucket_[b - 1];
  sorted_.resize(count);
  for (const Change& change : changes_) {
    sorted_[bucket_[static_cast<std::size_t>(change.offset) >> shift]++] = change;
  }
  // Now bucket_[b] is where bucket b ends.
  std::size_t begin = 0;
  for (std::size_t b = 0; b < buckets; ++b) {
    const std::size_t end = bucket_[b];
    if (end - begin > 16) {
      std::sort(sorted_.begin() + static_cast<std::ptrdiff_t>(begin),
                sorted_.begin() + static_cast<std::ptrdiff_t>(end));
    } else {
      for (std::size_t k = begin + 1; k < end; ++k) {
        const Change change = sorted_[k];
        std::size_t at = k;
        for (; at > begin && change.offset < sorted_[at - 1].offset; --at) {
          sorted_[at] = sorted_[at - 1];
        }
        sorted_[at] = change;
      }
    }
    begin = end;
  }
  changes_.swap(sorted_);
}

// One part of the problem, in levels: large buffers alone, then with smaller ones, at last all.
class Levels {
 public:
  // As Part(). `several`: more than one.
  Levels(const Instance& instance, const std::vector<std::int64_t>& heat,
         std::vector<BufferIndex> buffers, std::uint64_t seed, bool several, Effort& effort);

  // As ImprovePlan(), for the offsets of this part.
  void Improve(Bytes stop_at, std::vector<Bytes>& offsets);

 private:
  // The buffers that the levels in use leave out, packed by themselves, to lie above all others.
  struct Strip {
    std::vector<BufferIndex> buffers = {};
    SolidPacking packing = {};
  };
  [[nodiscard]] std::optional<Strip> PackStrip(std::size_t levels);
  [[nodiscard]] Part& last() { return *parts_[levels_ - 1]; }
  // All levels have these offsets, and the first is the next to be put below a target.
  void Restore(const std::vector<Bytes>& offsets);
  // As Part::Reach(), from the level on where the last attempt ended: the target must not be lower
  // than its own, unless that was reached or there is another plan.
  [[nodiscard]] bool Reach(Bytes target, std::int64_t patience, std::int64_t more);
  // Lowers the buffers of the levels in use towards `stop_at`; with a strip, until they are there or
  // that becomes hard.
  void Lower(Bytes stop_at, const Strip* strip, std::vector<Bytes>& offsets);
  void PutAbove(const Strip& strip, Bytes base, std::vector<Bytes>& offsets) const;

  const Instance& instance_;
  std::vector<std::unique_ptr<Part>> parts_;  // One for each level.
  std::size_t levels_ = 0;                    // So many are in use.
  std::size_t level_ = 0;
  Effort& effort_;
};

// The sizes, in bits, of the buffers that only the levels after the first, the second, ... have.
std::vector<std::size_t> SizesOfLevels(const Part& all) {
  const auto sizes = all.Sizes();
  const std::size_t n = all.buffers().size();
  std::int64_t total = 0;
  for (const Part::OfSize& of_size : sizes) total += of_size.cost;
  std::size_t bits = 0;
  std::size_t left_out = sizes[0].buffers;
  for (std::int64_t cost = sizes[0].cost; bits + 1 < sizes.size(); ++bits) {
    cost += sizes[bits + 1].cost;
    if (cost > total / kShareOfSmall) break;
    left_out += sizes[bits + 1].buffers;
  }
  std::vector<std::size_t> levels;
  while (left_out >= n / kLeftOut && left_out < n && levels.size() + 1 < kMaxLevels) {
    levels.push_back(bits);
    for (int k = 0; k < kSizeBitsOfLevel && bits > 0; ++k) left_out -= sizes[bits--].buffers;
  }
  return levels;
}

Levels::Levels(const Instance& instance, const std::vector<std::int64_t>& heat,
               std::vector<BufferIndex> buffers, std::uint64_t seed, bool several, Effort& effort)
    : instance_(instance), effort_(effort) {
  auto all = std::make_unique<Part>(instance, heat, std::move(buffers), seed, effort);
  const auto sizes = several ? SizesOfLevels(*all) : std::vector<std::size_t>();
  for (const std::size_t bits : sizes) {
    std::vector<BufferIndex> large;
    for (const BufferIndex b : all->buffers()) {
      const bool pinned = instance.has_pins && instance.pin[b] != kNone;
      if (pinned || instance.size[b] >> bits != 0) large.push_back(b);
    }
    const std::uint64_t level_seed = seed ^ (std::uint64_t{parts_.size() + 1} << 32);
    parts_.push_back(std::make_unique<Part>(instance, heat, std::move(large), level_seed, effort));
  }
  parts_.push_back(std::move(all));
  levels_ = parts_.size();
}

std::optional<Levels::Strip> Levels::PackStrip(std::size_t levels) {
  const std::vector<BufferIndex>& large = parts_[levels - 1]->buffers();
  std::vector<KeyAndItem> small;
  std::size_t k = 0;
  for (const BufferIndex b : parts_.back()->buffers()) {
    if (k < large.size() && large[k] == b) {
      ++k;
      continue;
    }
    // The longest first.
    small.push_back({instance_.first[b].value() - instance_.last[b].value(), b.value()});
  }
  SortByKey(small);
  effort_.Spend(kWorkOfStrip * std::ssize(small));
  Strip strip{ItemsOf<BufferIndex>(small)};
  auto packing = PackSolid(instance_, strip.buffers, [this] { return effort_.TimeIsUp(); });
  if (!packing) return std::nullopt;
  strip.packing = std::move(*packing);
  return strip;
}

void Levels::Restore(const std::vector<Bytes>& offsets) {
  for (std::size_t k = 0; k < levels_; ++k) parts_[k]->Restore(offsets);
  level_ = 0;
}

bool Levels::Reach(Bytes target, std::int64_t patience, std::int64_t more) {
  while (parts_[level_]->Reach(target, patience, more)) {
    if (level_ + 1 == levels_) return true;
    parts_[level_ + 1]->Take(*parts_[level_]);
    ++level_;
  }
  return false;
}

void Levels::Improve(Bytes stop_at, std::vector<Bytes>& offsets) {
  if (parts_.size() > kLevelsBelowStrip) {
    levels_ = kLevelsBelowStrip;
    const std::optional<Strip> strip = PackStrip(levels_);
    if (strip) Lower(stop_at, &*strip, offsets);
    levels_ = parts_.size();
  }
  Lower(stop_at, nullptr, offsets);
}

void Levels::PutAbove(const Strip& strip, Bytes base, std::vector<Bytes>& offsets) const {
  for (std::size_t k = 0; k < strip.buffers.size(); ++k) {
    const BufferIndex b = strip.buffers[k];
    offsets[b.position()] = RoundUp(base + strip.packing.offsets[k], instance_.alignment[b]);
  }
}

void Levels::Lower(Bytes stop_at, const Strip* strip, std::vector<Bytes>& offsets) {
  const Bytes above = strip != nullptr ? strip->packing.height : 0;
  parts_.back()->Restore(offsets);
  Bytes best = parts_.back()->Height();
  std::vector<Bytes> lowered = offsets;
  Restore(lowered);
  Bytes height = last().Height();
  const Bytes fine = std::max<Bytes>(1, stop_at / kFineness);
  stop_at = std::max<Bytes>(stop_at - above, 1);
  std::int64_t patience = kPatience;
  Bytes failed = stop_at - 1;  // No target up to here is worth a try now.
  double part = 0;
  const std::int64_t end_of_first_pace = kWorkOfFirstPace * std::ssize(parts_.back()->buffers());
  bool was_slow = false;
  while (height > stop_at && !effort_.TimeIsUp()) {
    const Pace& pace = strip == nullptr                      ? kPace
                       : effort_.spent() < end_of_first_pace ? kFirstPaceBelowStrip
                                                             : kPaceBelowStrip;
    part = std::clamp(2 * part, pace.first_part, pace.most_part);
    const bool nearly = failed < stop_at && height - stop_at <= fine;
    const auto step = static_cast<Bytes>(part * static_cast<double>(height - failed));
    const Bytes target = nearly ? stop_at : std::max(stop_at, height - std::max<Bytes>(step, 1));
    effort_.BeginAttempt(pace, std::ssize(last().buffers()));
    const bool reached = Reach(target, patience, pace.steps_of_out);
    const bool slow = !reached && effort_.AttemptIsOver();
    if (reached) {
      height = last().Height();
      if (was_slow) failed = stop_at - 1;
      was_slow = false;
      last().Store(lowered);
      if (levels_ > 1) Restore(lowered);
      if (height + above < best) {
        best = height + above;
        last().Store(offsets);
        if (strip != nullptr) PutAbove(*strip, height, offsets);
      }
    } else {
      failed = target;
      was_slow |= slow;
    }
    if (failed >= stop_at && height - failed <= fine) {
      if (strip != nullptr && patience >= kMostPatienceBelowStrip) return;
      failed = stop_at - 1;
      patience = std::min(2 * patience, kMaxPatience);
      if (!reached) Restore(lowered);
    }
  }
}

// The buffers of each part that stands higher than `enough`, in order of their first section.
std::vector<std::vector<BufferIndex>> HighParts(const Instance& instance, Bytes enough,
                                                const std::vector<Bytes>& offsets) {
  const std::vector<BufferIndex> order = ByFirstSection(instance);
  std::vector<std::vector<BufferIndex>> parts;
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    SectionIndex last;
    Bytes height = 0;
    for (; end < order.size() && (end == begin || instance.first[order[end]] < last); ++end) {
      const BufferIndex b = order[end];
      last = std::max(last, instance.last[b]);
      height = std::max(height, offsets[b.position()] + instance.size[b]);
    }
    if (height > enough) {
      parts.emplace_back(order.begin() + static_cast<std::ptrdiff_t>(begin),
                         order.begin() + static_cast<std::ptrdiff_t>(end));
    }
    begin = end;
  }
  return parts;
}

}  // namespace

Bytes ImprovePlan(const Instance& instance, Bytes stop_at, std::int64_t max_work,
                  std::uint64_t seed, int threads, const std::function<bool()>& stop,
                  std::vector<Bytes>& offsets, std::size_t buffers_of_levels) {
  for (const BufferIndex b : instance.buffers()) {
    // A buffer that is never live is in no other's way.
    if (!instance.pieces_of(b).empty() || instance.pin[b] != kNone) continue;
    if (offsets[b.position()] + instance.size[b] > stop_at) offsets[b.position()] = 0;
  }
  auto parts = HighParts(instance, stop_at, offsets);
  if (!parts.empty()) {
    const std::vector<std::int64_t> heat = HeatUpTo(instance);
    const std::int64_t share = max_work / static_cast<std::int64_t>(parts.size());
    std::atomic<std::size_t> next{0};
    // Parts share no buffers, so no two threads write the same offset.
    const auto work = [&] {
      for (std::size_t k = next++; k < parts.size(); k = next++) {
        Effort effort(share, stop);
        const bool several = parts[k].size() >= buffers_of_levels;
        Levels(instance, heat, std::move(parts[k]), seed + k, several, effort)
            .Improve(stop_at, offsets);
      }
    };
    RunOnThreads(threads, parts.size(), work);
  }
  Bytes height = 0;
  for (const BufferIndex b : instance.buffers()) {
    height = std::max(height, offsets[b.position()] + instance.size[b]);
  }
  return height;
}

}  // namespace berth::internal::greedy
