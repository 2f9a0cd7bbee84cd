#include "place/greedy/packer.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>
#include <utility>

#include "base/check.h"
#include "base/keyed.h"

namespace berth::internal::greedy {
namespace {

constexpr int kStepsPerStop = 256;
// Between two looks at the clock where a step takes some tens of nanoseconds.
constexpr std::size_t kPiecesPerStop = 65536;

// The buffers by key(b), smallest first, then by index.
template <typename KeyOf>
std::vector<BufferIndex> SortedBy(const Instance& instance, KeyOf key) {
  std::vector<Keyed> keyed;
  keyed.reserve(instance.num_buffers());
  for (const BufferIndex b : instance.buffers()) keyed.push_back({key(b), b.value()});
  Sort(keyed);
  std::vector<BufferIndex> order;
  order.reserve(keyed.size());
  for (const Keyed& entry : keyed) order.emplace_back(static_cast<std::int32_t>(entry.index));
  return order;
}

// The largest load in the sections of each buffer. Unfinished if stopped.
IndexedVector<BufferIndex, Bytes> Contention(const Instance& instance,
                                             const std::function<bool()>& stop) {
  Skyline loads(instance.num_sections());
  for (const SectionIndex s : instance.sections()) {
    loads.Raise(s, s.next(), instance.section_load[s]);
  }
  IndexedVector<BufferIndex, Bytes> contention(instance.num_buffers(), 0);
  std::size_t looks = 0;
  for (const BufferIndex b : instance.buffers()) {
    for (const Piece& piece : instance.pieces_of(b)) {
      if (++looks % kPiecesPerStop == 0 && stop && stop()) return contention;
      contention[b] = std::max(contention[b], loads.Highest(piece.first, piece.last));
    }
  }
  return contention;
}

// How many allocations and frees lie between a buffer's allocation and its own free when all
// buffers are allocated at their start and freed at their end, frees first: the clock of XLA's heap
// simulator, which compares lifetimes by it. Buffers allocated at the same step are by end, then
// index; buffers freed at the same step by start, then index.
IndexedVector<BufferIndex, std::int64_t> LifetimeInEvents(const Instance& instance) {
  const std::vector<BufferIndex> allocated = SortedBy(instance, [&](BufferIndex b) {
    return SortKey{instance.start[b], instance.end[b]};
  });
  const std::vector<BufferIndex> freed = SortedBy(instance, [&](BufferIndex b) {
    return SortKey{instance.end[b], instance.start[b]};
  });
  IndexedVector<BufferIndex, std::int64_t> lifetime(instance.num_buffers(), 0);
  std::int64_t clock = 0;
  auto next_free = freed.begin();
  for (const BufferIndex b : allocated) {
    for (; instance.end[*next_free] <= instance.start[b]; ++next_free) {
      lifetime[*next_free] += clock++;
    }
    lifetime[b] = -clock++;
  }
  for (; next_free != freed.end(); ++next_free) lifetime[*next_free] += clock++;
  return lifetime;
}

// An order that leads to the same plan as `order` where a buffer's place depends only on those
// before it that it meets, and that takes buffers near in time one after another, so that what is
// known of their sections stays in the caches.
//
// Time is cut into windows, each with a queue of the buffers that live in it. A buffer may go once
// it is the first in all its queues. The walk takes such buffers where it is; where another queue
// has to go first, it moves there, always to a buffer that is earlier in `order`.
std::vector<BufferIndex> NearInTime(const Instance& instance,
                                    const std::vector<BufferIndex>& order) {
  constexpr std::size_t kMinWindow = 64;
  constexpr std::size_t kMinWindows = 16;
  std::size_t spans = 0;
  for (const BufferIndex b : order) {
    spans += instance.last[b].position() - instance.first[b].position();
  }
  std::size_t window = kMinWindow;
  while (window * order.size() < 4 * spans) window *= 2;
  const std::size_t windows = instance.num_sections() / window + 1;
  if (windows < kMinWindows) return order;

  // Queue w is queued[next[w] .. end_of[w]), ranks in increasing order.
  const auto first_of = [&](BufferIndex b) { return instance.first[b].position() / window; };
  const auto last_of = [&](BufferIndex b) { return (instance.last[b].position() - 1) / window; };
  std::vector<std::size_t> next(windows + 1, 0);
  std::vector<BufferIndex> near;
  near.reserve(order.size());
  for (const BufferIndex b : order) {
    if (instance.pieces_of(b).empty()) {
      near.push_back(b);
      continue;
    }
    for (std::size_t w = first_of(b); w <= last_of(b); ++w) ++next[w + 1];
  }
  for (std::size_t w = 0; w < windows; ++w) next[w + 1] += next[w];
  std::vector<std::size_t> end_of(next.begin(), next.end() - 1);
  std::vector<std::uint32_t> queued(next.back());
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const BufferIndex b = order[rank];
    if (instance.pieces_of(b).empty()) continue;
    for (std::size_t w = first_of(b); w <= last_of(b); ++w) {
      queued[end_of[w]++] = static_cast<std::uint32_t>(rank);
    }
  }
  for (std::size_t w = 0, here = 0; w < windows; here = w) {
    if (next[w] == end_of[w]) ++w;
    while (here < windows && next[here] < end_of[here]) {
      const std::uint32_t rank = queued[next[here]];
      const BufferIndex b = order[rank];
      const std::size_t first = first_of(b);
      const std::size_t last = last_of(b);
      std::size_t v = first;
      while (v <= last && queued[next[v]] == rank) ++v;
      if (v <= last) {
        here = v;
        continue;
      }
      near.push_back(b);
      for (v = first; v <= last; ++v) ++next[v];
    }
  }
  return near;
}

// What an order needs of all buffers together, by buffer; empty where it needs nothing.
IndexedVector<BufferIndex, std::int64_t> Together(const Instance& instance, Order order,
                                                  const std::function<bool()>& stop) {
  switch (order) {
    case Order::kContention:
    case Order::kLoadLifetime:
      return Contention(instance, stop);
    case Order::kSpatial:
      return LifetimeInEvents(instance);
    default:
      return {};
  }
}

}  // namespace

std::vector<BufferIndex> Ordered(const Instance& instance, Order order,
                                 const std::function<bool()>& stop) {
  if (instance.num_buffers() == 0) return {};
  const IndexedVector<BufferIndex, std::int64_t> together = Together(instance, order, stop);
  if (stop && stop()) return {};
  const Step first = *std::min_element(instance.start.begin(), instance.start.end());
  const Step last = *std::max_element(instance.end.begin(), instance.end.end());
  return SortedBy(instance, [&](BufferIndex b) -> SortKey {
    const Bytes size = instance.size[b];
    const Step start = instance.start[b];
    const Step lifetime = instance.end[b] - start;
    // Products of bytes and steps are compared as doubles: they need not fit in 64 bits, and two
    // that round to the same value are as good as tied.
    const auto bytes = static_cast<double>(size);
    const auto life = static_cast<double>(lifetime);
    switch (order) {
      case Order::kSize: {
        const bool always = start == first && instance.end[b] == last;
        return always ? SortKey{0} : SortKey{1, -size, start};
      }
      case Order::kArea:
        return {-AsKey(bytes * life), -size, start};
      case Order::kLifetime:
        return {-lifetime, -size};
      case Order::kStart:
        return {start, -size};
      case Order::kContention:
        return {-together[b], -instance.alignment[b], -AsKey(bytes * life * life), -lifetime};
      case Order::kSpatial:
        return {-size, -together[b]};
      case Order::kLoadLifetime:
        return {-together[b], -lifetime};
      case Order::kLongArea:
        return {-AsKey(bytes * life * life)};
      case Order::kLargeArea:
        return {-AsKey(bytes * std::sqrt(life))};
    }
    BERTH_CHECK(false);
  });
}

Packer::Packer(const Instance& instance)
    : instance_(instance),
      occupancy_(instance.num_sections()),
      room_(occupancy_),
      skyline_(instance.num_sections()),
      offset_(instance.num_buffers(), 0) {
  for (const Bytes load : instance.section_load) largest_load_ = std::max(largest_load_, load);
  for (const Bytes hint : instance.hint) has_hints_ |= hint != kNone;
}

std::optional<Packing> Packer::Pack(const Rule& rule, bool use_hints, std::int64_t max_looks,
                                    const std::function<bool()>& stop) {
  rule_ = rule;
  use_hints_ = use_hints && has_hints_;
  height_ = 0;
  const std::vector<BufferIndex> order = Ordered(instance_, rule.order, stop);
  if (stop && stop()) return std::nullopt;  // To sort many buffers takes long.
  // A hint leaves room below the buffer, which the skyline does not see.
  if (use_hints_ && rule_.fit == Fit::kSkyline) rule_.fit = Fit::kFirst;
  // Rows only rise, so solid buffers never fit below what is placed: first fit is the skyline then.
  if (rule.selection == Selection::kLowestFirst && rule.fit == Fit::kFirst &&
      !instance_.has_windows && !instance_.has_pins && !use_hints_) {
    rule_.fit = Fit::kSkyline;
  }
  if (rule.selection == Selection::kLowestFirst && rule_.fit == Fit::kSkyline && !use_hints_ &&
      PlateauPacker::CanPack(instance_)) {
    if (!plateaus_) plateaus_ = PlateauPacker::Make(instance_, stop);
    if (!plateaus_) return std::nullopt;
    auto offsets = plateaus_->Pack(order, stop);
    if (!offsets) return std::nullopt;
    offset_.items() = std::move(*offsets);
    for (const BufferIndex b : order) {
      height_ = std::max(height_, offset_[b] + instance_.size[b]);
    }
    return Packing{offset_.items(), height_};
  }
  occupancy_.Clear();
  skyline_.Clear();
  if (!PlacePinned(stop)) return std::nullopt;
  if (rule.selection == Selection::kLowestFirst) {
    if (!PlaceLowestFirst(order, max_looks, stop)) return std::nullopt;
  } else {
    int placed = 0;
    // Hints look at the height of the plan so far, and so at everything before.
    for (const BufferIndex b : use_hints_ ? order : NearInTime(instance_, order)) {
      if (instance_.pin[b] != kNone) continue;
      if (++placed % kStepsPerStop == 0 && stop && stop()) return std::nullopt;
      Place(b, rule.fit == Fit::kBest ? SmallestRoom(b) : LowestFree(b, 0));
    }
  }
  return Packing{offset_.items(), height_};
}

bool Packer::PlacePinned(const std::function<bool()>& stop) {
  int placed = 0;
  for (const BufferIndex b : instance_.buffers()) {
    if (instance_.pin[b] == kNone) continue;
    if (++placed % kStepsPerStop == 0 && stop && stop()) return false;
    offset_[b] = instance_.pin[b];
    occupancy_.Add(instance_.pieces_of(b), offset_[b]);
    height_ = std::max(height_, offset_[b] + instance_.size[b]);
  }
  return true;
}

bool Packer::PlaceLowestFirst(const std::vector<BufferIndex>& order, std::int64_t max_looks,
                              const std::function<bool()>& stop) {
  // Lower bound on the lowest free offset, then place in `order`.
  using Entry = std::pair<Bytes, std::int32_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> rows;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    if (instance_.pin[order[rank]] == kNone) rows.emplace(0, static_cast<std::int32_t>(rank));
  }
  std::int64_t looks = 0;
  for (std::int64_t steps = 0; !rows.empty(); ++steps) {
    if (looks >= max_looks) return false;
    if (steps % kStepsPerStop == 0 && stop && stop()) return false;
    const auto [bound, rank] = rows.top();
    rows.pop();
    const BufferIndex b = order[static_cast<std::size_t>(rank)];
    looks += std::max<std::int64_t>(std::ssize(instance_.pieces_of(b)), 1);
    const Bytes lowest = LowestFree(b, bound);
    if (lowest > bound) {
      rows.emplace(lowest, rank);
    } else {
      Place(b, rule_.fit == Fit::kBest ? SmallestRoom(b) : lowest);
    }
  }
  return true;
}

Bytes Packer::LowestFree(BufferIndex b, Bytes from) {
  const auto pieces = instance_.pieces_of(b);
  if (rule_.fit == Fit::kSkyline) {
    for (const Piece& piece : pieces) {
      from = std::max(from, skyline_.Highest(piece.first, piece.last) - piece.lower);
    }
  }
  room_.LookFor(pieces, instance_.alignment[b]);
  return room_.AtLeast(from);
}

Bytes Packer::SmallestRoom(BufferIndex b) {
  room_.LookFor(instance_.pieces_of(b), instance_.alignment[b]);
  Bytes best = 0;
  Bytes best_slack = kUnbounded;
  for (Bytes from = 0;;) {
    const Bytes offset = room_.AtLeast(from);
    const Bytes end = room_.EndOfRoom();
    if (end == kUnbounded) return best_slack == kUnbounded ? offset : best;
    if (end - offset < best_slack) {
      best = offset;
      best_slack = end - offset;
    }
    from = end + 1;
  }
}

void Packer::Place(BufferIndex b, Bytes chosen) {
  const Bytes offset = HintCostsNothing(b, chosen) ? instance_.hint[b] : chosen;
  const auto pieces = instance_.pieces_of(b);
  if (rule_.fit == Fit::kSkyline) {
    for (const Piece& piece : pieces) {
      skyline_.Raise(piece.first, piece.last, offset + piece.upper);
    }
  } else {
    occupancy_.Add(pieces, offset);
  }
  offset_[b] = offset;
  height_ = std::max(height_, offset + instance_.size[b]);
}

bool Packer::HintCostsNothing(BufferIndex b, Bytes chosen) {
  const Bytes hint = instance_.hint[b];
  if (!use_hints_ || hint == kNone || hint % instance_.alignment[b] != 0) return false;
  const Bytes size = instance_.size[b];
  return hint + size <= std::max({height_, largest_load_, chosen + size}) &&
         LowestFree(b, hint) == hint;
}

}  // namespace berth::internal::greedy
