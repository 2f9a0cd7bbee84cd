#include "model/heights.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "base/arithmetic.h"
#include "base/radix_sort.h"
#include "base/truncate.h"

namespace berth::internal {
namespace {

constexpr std::size_t kMostBuffers = 4000;
constexpr std::size_t kMostRanges = 2048;
constexpr std::ptrdiff_t kBuffersThatLookAhead = 24;

// What all sizes and pins are multiples of.
Bytes CommonFactor(const Instance& instance) {
  Bytes factor = 0;
  for (const BufferIndex b : instance.buffers()) {
    factor = std::gcd(factor, instance.size[b]);
    if (instance.pin[b] != kNone) factor = std::gcd(factor, instance.pin[b]);
  }
  return factor;
}

}  // namespace

Heights::Heights(const Instance& instance, Bytes highest) : Heights(instance, highest, false) {}

Heights Heights::UntilPossible(const Instance& instance, Bytes highest) {
  return {instance, highest, true};
}

Heights::Heights(const Instance& instance, Bytes highest, bool until_possible)
    : grain_(Grain(instance)), highest_(highest) {
  if (instance.has_windows || instance.num_buffers() > kMostBuffers) {
    highest_ = -1;
    return;
  }
  const Bytes factor = CommonFactor(instance);
  std::vector<Bytes> starts = {0};
  std::vector<BufferIndex> free;
  for (const BufferIndex b : instance.buffers()) {
    if (instance.pin[b] == kNone) {
      free.push_back(b);
    } else if (instance.pin[b] + instance.size[b] <= highest_) {
      starts.push_back(instance.pin[b] + instance.size[b]);
    }
  }
  std::sort(starts.begin(), starts.end());
  for (const Bytes start : starts) {
    if (!ranges_.empty() && start <= ranges_.back().last + grain_) {
      ranges_.back().last = start;
    } else {
      ranges_.push_back({start, start});
    }
  }
  // The large ones first: they make few sums below `highest`, between which the small ones fall.
  SortByInteger(free, [&](BufferIndex b) { return -instance.size[b]; });
  const Bytes wanted = RoundDown(highest_, grain_);
  for (auto next = free.begin(); next != free.end(); ++next) {
    const BufferIndex b = *next;
    // Now, or with one of those that follow. Sums are only ever added, so `wanted` would stay one.
    const auto reaches = [&](BufferIndex c) { return Contains(wanted - instance.size[c]); };
    const bool looks_ahead = next - free.begin() < kBuffersThatLookAhead;
    if (until_possible &&
        (Contains(wanted) || (looks_ahead && std::any_of(next, free.end(), reaches)))) {
      ranges_ = {{wanted, wanted}};
      return;
    }
    const Bytes alignment = instance.alignment[b];
    const Bytes most_empty = factor % alignment == 0 ? 0 : alignment - 1;
    Add(instance.size[b], instance.size[b] + most_empty);
    if (ranges_.size() == 1 && ranges_.front().last >= highest_) return;
  }
}

bool Heights::Contains(Bytes height) const {
  const auto range = std::partition_point(ranges_.begin(), ranges_.end(),
                                          [&](const Range& r) { return r.last < height; });
  return range != ranges_.end() && range->first <= height;
}

void Heights::Add(Bytes least, Bytes most) {
  std::vector<Range> sums;
  sums.reserve(2 * ranges_.size());
  const auto append = [&](Range range) {
    if (!sums.empty() && range.first <= sums.back().last + grain_) {
      sums.back().last = std::max(sums.back().last, range.last);
    } else {
      sums.push_back(range);
    }
  };
  std::size_t kept = 0;
  for (const Range& range : ranges_) {
    const Bytes first = range.first + least;
    if (first > highest_) break;
    while (kept < ranges_.size() && ranges_[kept].first <= first) append(ranges_[kept++]);
    append({first, std::min(range.last + most, highest_)});
  }
  while (kept < ranges_.size()) append(ranges_[kept++]);
  ranges_ = std::move(sums);
  if (ranges_.size() > kMostRanges) MergeTheClosest();
}

// Halves the number of ranges by filling the smallest holes between them.
void Heights::MergeTheClosest() {
  std::vector<Bytes> holes;
  for (std::size_t i = 1; i < ranges_.size(); ++i) {
    holes.push_back(ranges_[i].first - ranges_[i - 1].last);
  }
  const auto middle = holes.begin() + static_cast<std::ptrdiff_t>(holes.size() / 2);
  std::nth_element(holes.begin(), middle, holes.end());
  const Bytes filled = *middle;
  std::size_t kept = 0;
  for (std::size_t i = 1; i < ranges_.size(); ++i) {
    if (ranges_[i].first - ranges_[kept].last <= filled) {
      ranges_[kept].last = ranges_[i].last;
    } else {
      ranges_[++kept] = ranges_[i];
    }
  }
  Truncate(ranges_, kept + 1);
}

Bytes Heights::AtLeast(Bytes height) const {
  height = RoundUp(height, grain_);
  const auto range = std::partition_point(ranges_.begin(), ranges_.end(),
                                          [&](const Range& r) { return r.last < height; });
  if (range == ranges_.end()) return std::max(height, RoundDown(highest_ + 1, grain_));
  return std::max(height, RoundUp(range->first, grain_));
}

Bytes Heights::AtMost(Bytes height) const {
  height = RoundDown(height, grain_);
  if (height > highest_) return height;
  const auto range = std::partition_point(ranges_.begin(), ranges_.end(),
                                          [&](const Range& r) { return r.first <= height; });
  return range == ranges_.begin() ? 0 : RoundDown(std::min(height, (range - 1)->last), grain_);
}

}  // namespace berth::internal
