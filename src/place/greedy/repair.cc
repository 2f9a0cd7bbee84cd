#include "place/greedy/repair.h"

#include <bit>

#include "base/arithmetic.h"

namespace berth::internal::greedy {
namespace {

// A buffer's cost is its base, up to 2^28, times a weight, up to 2^11: a million neighbours add up
// to less than what a pin costs.
constexpr int kBaseBits = 28;
constexpr std::int64_t kMaxWeight = 1 << 11;

// Steps without progress, and one more for each buffer that is out, after which others move.
constexpr std::int64_t kStepsBeforeMoves = 50;
constexpr int kDrawsOfMove = 20;

}  // namespace

bool IsFixed(const Instance& instance, const TimeWindow& window, BufferIndex b) {
  return (instance.has_pins && instance.pin[b] != kNone) || instance.first[b] < window.begin ||
         window.end < instance.last[b];
}

Part::Part(const Instance& instance, const std::vector<std::int64_t>& heat,
           const TimeWindow& window, std::vector<BufferIndex> buffers, std::uint64_t seed,
           Effort& effort)
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
  for (std::size_t i = 0; i < n; ++i) {
    Item& item = items_[i];
    item.base = std::max<std::int64_t>(item.base >> base_shift, 1);
    item.cost = IsFixed(instance, window, buffers_[i]) ? kImmovable : item.base;
    has_fixed_ |= item.cost == kImmovable;
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

Bytes Part::HighestFixed() const {
  Bytes height = 0;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    if (fixed(i)) height = std::max(height, items_[i].offset + items_[i].size);
  }
  return height;
}

void Part::Store(std::vector<Bytes>& offsets) const {
  for (std::size_t i = 0; i < items_.size(); ++i) {
    if (!fixed(i)) offsets[buffer(i).position()] = items_[i].offset;
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
    if (fixed(i)) return false;  // Nothing that is fixed stands above the bound.
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
    if (meets && items_[i].offset != kOut && !fixed(i)) return i;
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

void Part::SortByLower(std::vector<Taken>& taken) {
  std::sort(taken.begin(), taken.end(),
            [](const Taken& x, const Taken& y) { return x.lower < y.lower; });
}

void Part::FindFree(Bytes alignment, Bytes highest) {
  SortByLower(taken_);
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
  if (!has_fixed_) {
    for (const Taken& taken : taken_) add(taken.lower, taken.upper, items_[taken.item].cost);
  } else {
    // Pins are united first: no offset pays for two of them.
    std::vector<Taken> pins;
    for (const Taken& taken : taken_) {
      if (fixed(taken.item)) {
        pins.push_back(taken);
      } else {
        add(taken.lower, taken.upper, items_[taken.item].cost);
      }
    }
    SortByLower(pins);
    for (std::size_t k = 0; k < pins.size();) {
      const Bytes lower = pins[k].lower;
      Bytes upper = pins[k].upper;
      for (++k; k < pins.size() && pins[k].lower < upper - 1; ++k) {
        upper = std::max(upper, pins[k].upper);
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

}  // namespace berth::internal::greedy
