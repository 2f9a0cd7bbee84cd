#include "place/greedy/plateaus.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "base/arithmetic.h"

namespace berth::internal::greedy {

namespace {

// Buffers placed between two looks at the clock: some milliseconds.
constexpr std::size_t kPlacedPerStop = 1024;

// So many buffers are looked at one by one.
constexpr std::size_t kLeaf = 16;
// To cut a node with more buffers takes so long that the clock is looked at.
constexpr std::size_t kManyInNode = 65536;

// The position in `order` of each buffer.
std::vector<std::int32_t> RanksOf(const std::vector<BufferIndex>& order) {
  std::vector<std::int32_t> ranks(order.size());
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    ranks[order[rank].position()] = static_cast<std::int32_t>(rank);
  }
  return ranks;
}

}  // namespace

SpanIndex::SpanIndex(const std::vector<Span>& spans, std::int32_t num_sections)
    : leaves_(std::bit_ceil(spans.size() / kLeaf + 1)),
      nodes_(2 * leaves_),
      slots_(spans.size()),
      slot_of_(spans.size()),
      slot_of_rank_(spans.size()) {
  // By first section.
  std::vector<std::uint32_t> next(static_cast<std::size_t>(num_sections) + 1, 0);
  for (const Span& span : spans) ++next[static_cast<std::size_t>(span.first) + 1];
  for (std::size_t s = 1; s < next.size(); ++s) next[s] += next[s - 1];
  for (std::size_t k = 0; k < spans.size(); ++k) {
    const std::size_t slot = next[static_cast<std::size_t>(spans[k].first)]++;
    // Its rank is the span that it has, as long as slots move.
    slots_[slot] = {spans[k].first, spans[k].last, static_cast<std::int32_t>(k)};
  }
}

std::optional<SpanIndex> SpanIndex::Make(const std::vector<Span>& spans, std::int32_t num_sections,
                                         const std::function<bool()>& stop) {
  SpanIndex index(spans, num_sections);
  if (!index.Cut(1, 0, index.leaves_, stop)) return std::nullopt;
  for (std::size_t slot = 0; slot < spans.size(); ++slot) {
    index.slot_of_[static_cast<std::size_t>(index.slots_[slot].rank)] =
        static_cast<std::uint32_t>(slot);
  }
  return index;
}

bool SpanIndex::Cut(std::size_t node, std::size_t begin, std::size_t leaves,
                    const std::function<bool()>& stop) {
  if (leaves * kLeaf > kManyInNode && stop && stop()) return false;
  const std::size_t end = std::min(begin + leaves * kLeaf, slots_.size());
  Node& box = nodes_[node];
  box = {INT32_MAX, INT32_MIN, INT32_MAX, INT32_MIN, kNoRank};
  bool in_order = true;  // Of their first sections.
  for (std::size_t k = begin; k < end; ++k) {
    const Slot& slot = slots_[k];
    in_order = in_order && slot.first >= box.most_first;
    box.least_first = std::min(box.least_first, slot.first);
    box.most_first = std::max(box.most_first, slot.first);
    box.least_last = std::min(box.least_last, slot.last);
    box.most_last = std::max(box.most_last, slot.last);
  }
  if (leaves == 1) return true;
  const std::size_t middle = std::min(begin + leaves / 2 * kLeaf, end);
  const auto at = [this](std::size_t k) { return slots_.begin() + static_cast<std::ptrdiff_t>(k); };
  if (middle < end) {
    // Across the longer side of the box.
    const bool by_first = std::int64_t{box.most_first} - box.least_first >=
                          std::int64_t{box.most_last} - box.least_last;
    if (!by_first) {
      std::nth_element(at(begin), at(middle), at(end),
                       [](const Slot& x, const Slot& y) { return x.last < y.last; });
    } else if (!in_order) {
      std::nth_element(at(begin), at(middle), at(end),
                       [](const Slot& x, const Slot& y) { return x.first < y.first; });
    }
  }
  return Cut(2 * node, begin, leaves / 2, stop) && Cut(2 * node + 1, middle, leaves / 2, stop);
}

bool SpanIndex::Reset(const std::vector<std::int32_t>& ranks, const std::function<bool()>& stop) {
  for (std::size_t k = 0; k < ranks.size(); ++k) {
    slots_[slot_of_[k]].rank = ranks[k];
    slot_of_rank_[static_cast<std::size_t>(ranks[k])] = slot_of_[k];
  }
  if (stop && stop()) return false;
  for (std::size_t leaf = 0; leaf < leaves_; ++leaf) nodes_[leaves_ + leaf].rank = LowestRank(leaf);
  for (std::size_t node = leaves_ - 1; node > 0; --node) {
    nodes_[node].rank = std::min(nodes_[2 * node].rank, nodes_[2 * node + 1].rank);
  }
  return true;
}

std::span<const SpanIndex::Slot> SpanIndex::SlotsOf(std::size_t leaf) const {
  const std::size_t begin = std::min(leaf * kLeaf, slots_.size());
  return std::span(slots_).subspan(begin, std::min(kLeaf, slots_.size() - begin));
}

std::int32_t SpanIndex::LowestRank(std::size_t leaf) const {
  std::int32_t lowest = kNoRank;
  for (const Slot& slot : SlotsOf(leaf)) lowest = std::min(lowest, slot.rank);
  return lowest;
}

void SpanIndex::Remove(std::size_t slot) {
  slots_[slot].rank = kNoRank;
  const std::size_t leaf = slot / kLeaf;
  std::size_t node = leaves_ + leaf;
  std::int32_t lowest = LowestRank(leaf);
  while (nodes_[node].rank != lowest) {
    nodes_[node].rank = lowest;
    if (node == 1) return;
    lowest = std::min(lowest, nodes_[node ^ 1].rank);
    node /= 2;
  }
}

std::int32_t SpanIndex::Best(std::int32_t first, std::int32_t last) const {
  std::int32_t best = kNoRank;
  Look(1, first, last, best);
  return best;
}

void SpanIndex::Look(std::size_t node, std::int32_t first, std::int32_t last,
                     std::int32_t& best) const {
  for (;;) {
    const Node& box = nodes_[node];
    if (box.rank >= best || box.most_first < first || box.least_last > last) return;
    if (box.least_first >= first && box.most_last <= last) {
      best = box.rank;
      return;
    }
    if (node >= leaves_) break;
    // The better one first.
    node *= 2;
    if (nodes_[node + 1].rank < nodes_[node].rank) ++node;
    Look(node, first, last, best);
    node ^= 1;
  }
  for (const Slot& slot : SlotsOf(node - leaves_)) {
    if (slot.first >= first && slot.last <= last) best = std::min(best, slot.rank);
  }
}

bool PlateauPacker::CanPack(const Instance& instance) {
  if (instance.has_pins || instance.has_gaps) return false;
  const auto& alignments = instance.alignment.items();
  return std::all_of(alignments.begin(), alignments.end(),
                     [&](Bytes alignment) { return alignment == alignments.front(); });
}

PlateauPacker::PlateauPacker(const Instance& instance, SpanIndex unplaced)
    : num_sections_(instance.num_sections()),
      unplaced_(std::move(unplaced)),
      room_(instance.num_buffers()) {
  for (const BufferIndex b : instance.buffers()) {
    room_[unplaced_.SlotOf(b.position())] = RoundUp(instance.size[b], instance.alignment[b]);
  }
}

std::optional<PlateauPacker> PlateauPacker::Make(const Instance& instance,
                                                 const std::function<bool()>& stop) {
  std::vector<SpanIndex::Span> spans;
  spans.reserve(instance.num_buffers());
  for (const BufferIndex b : instance.buffers()) {
    spans.push_back({instance.first[b].value(), instance.last[b].value()});
  }
  auto unplaced = SpanIndex::Make(spans, static_cast<std::int32_t>(instance.num_sections()), stop);
  if (!unplaced) return std::nullopt;
  return PlateauPacker(instance, std::move(*unplaced));
}

std::vector<Bytes> PlateauPacker::OffsetsOf(const std::vector<Bytes>& of_slot) const {
  std::vector<Bytes> offsets(of_slot.size(), 0);
  for (std::size_t b = 0; b < offsets.size(); ++b) offsets[b] = of_slot[unplaced_.SlotOf(b)];
  return offsets;
}

std::optional<std::vector<Bytes>> PlateauPacker::Pack(const std::vector<BufferIndex>& order,
                                                      const std::function<bool()>& stop) {
  if (!unplaced_.Reset(RanksOf(order), stop)) return std::nullopt;

  // A plateau is known by its first section; kGone where none begins. Its level is a multiple of
  // the alignment. Beyond both ends of time stands a wall, higher than everything.
  constexpr Bytes kGone = -1;
  constexpr Bytes kWall = std::numeric_limits<Bytes>::max();
  const std::size_t sections = num_sections_;
  std::vector<Bytes> level(sections, kGone);
  std::vector<std::size_t> end(sections);
  std::vector<std::size_t> begin_of_end(sections + 1);  // By the section past a plateau's last.
  const auto set = [&](std::size_t from, std::size_t to, Bytes at) {
    if (from == to) return;
    level[from] = at;
    end[from] = to;
    begin_of_end[to] = from;
  };
  set(0, sections, 0);

  std::vector<Bytes> offset_of_slot(order.size(), 0);
  std::size_t from = 0;
  for (std::size_t placed = 0; placed < order.size();) {
    const Bytes at = level[from];
    std::size_t to = end[from];
    const Bytes left = from > 0 ? level[begin_of_end[from]] : kWall;
    const Bytes right = to < sections ? level[to] : kWall;
    if (left < at || right < at) {
      from = left < at ? begin_of_end[from] : to;
      continue;
    }
    if (left == at || right == at) {
      const std::size_t begin = left == at ? begin_of_end[from] : from;
      if (begin != from) level[from] = kGone;
      if (right == at) {
        level[to] = kGone;
        to = end[to];
      }
      from = begin;
      set(from, to, at);
      continue;
    }
    const std::int32_t rank =
        unplaced_.Best(static_cast<std::int32_t>(from), static_cast<std::int32_t>(to));
    if (rank == SpanIndex::kNoRank) {
      set(from, to, std::min(left, right));  // Something is unplaced, so there is a neighbour.
      continue;
    }
    const std::size_t slot = unplaced_.SlotOfRank(rank);
    unplaced_.Remove(slot);
    offset_of_slot[slot] = at;
    if (++placed % kPlacedPerStop == 0 && stop && stop()) return std::nullopt;
    const auto [first, last] = unplaced_.SpanOf(slot);
    set(from, static_cast<std::size_t>(first), at);
    set(static_cast<std::size_t>(last), to, at);
    set(static_cast<std::size_t>(first), static_cast<std::size_t>(last), at + room_[slot]);
  }
  return OffsetsOf(offset_of_slot);
}

}  // namespace berth::internal::greedy
