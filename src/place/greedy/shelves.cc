#include "place/greedy/shelves.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>

#include "base/arithmetic.h"
#include "base/radix_sort.h"
#include "place/greedy/packer.h"
#include "place/greedy/plateaus.h"

namespace berth::internal::greedy {
namespace {

// The bytes from any offset to the end of `b`, once that is aligned.
Bytes PaddedSize(const Instance& instance, BufferIndex b) {
  return instance.size[b] + instance.alignment[b] - 1;
}

// Everything from here on is free of pinned buffers.
Bytes EndOfPins(const Instance& instance) {
  Bytes end = 0;
  for (const BufferIndex b : instance.buffers()) {
    if (instance.pin[b] != kNone) end = std::max(end, instance.pin[b] + instance.size[b]);
  }
  return end;
}

bool IsFree(const Instance& instance, BufferIndex b) {
  return instance.pin[b] == kNone && !instance.pieces_of(b).empty();
}

// All pins in place, and every other buffer at 0.
std::vector<Bytes> Pinned(const Instance& instance) {
  std::vector<Bytes> offsets;
  offsets.reserve(instance.num_buffers());
  for (const BufferIndex b : instance.buffers()) {
    offsets.push_back(instance.pin[b] == kNone ? 0 : instance.pin[b]);
  }
  return offsets;
}

// The members that a PlateauPacker reads, of `of` alone.
Instance SolidOf(const Instance& instance, const std::vector<BufferIndex>& of) {
  Instance solid;
  for (const BufferIndex b : of) {
    const auto pieces = instance.pieces_of(b);
    solid.size.push_back(PaddedSize(instance, b));
    solid.alignment.push_back(1);
    solid.first.push_back(pieces.front().first);
    solid.last.push_back(pieces.back().last);
  }
  solid.section_start = instance.section_start;
  return solid;
}

}  // namespace

std::optional<SolidPacking> PackSolid(const Instance& instance,
                                      const std::vector<BufferIndex>& order,
                                      const std::function<bool()>& stop) {
  SolidPacking packing;
  if (order.empty()) return packing;
  const Instance solid = SolidOf(instance, order);
  std::vector<BufferIndex> in_order;
  in_order.reserve(order.size());
  for (const BufferIndex rank : solid.buffers()) in_order.push_back(rank);
  auto packer = PlateauPacker::Make(solid, stop);
  if (!packer) return std::nullopt;
  auto packed = packer->Pack(in_order, stop);
  if (!packed) return std::nullopt;
  packing.offsets = std::move(*packed);
  for (const BufferIndex rank : solid.buffers()) {
    packing.height = std::max(packing.height, packing.offsets[rank.position()] + solid.size[rank]);
  }
  return packing;
}

std::optional<std::vector<Bytes>> PlaceSolid(const Instance& instance,
                                             const std::function<bool()>& stop) {
  std::vector<BufferIndex> order = Ordered(instance, Order::kContention, stop);
  if (stop && stop()) return std::nullopt;
  std::erase_if(order, [&](BufferIndex b) { return !IsFree(instance, b); });
  std::vector<Bytes> offsets = Pinned(instance);
  const auto packing = PackSolid(instance, order, stop);
  if (!packing) return std::nullopt;
  const Bytes base = EndOfPins(instance);
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const BufferIndex b = order[rank];
    offsets[b.position()] = RoundUp(base + packing->offsets[rank], instance.alignment[b]);
  }
  return offsets;
}

std::vector<Bytes> PlaceOnShelves(const Instance& instance) {
  std::vector<Bytes> offsets = Pinned(instance);
  const Bytes base = EndOfPins(instance);
  // All that is needed of a buffer: in a large table, its parts are far apart in memory.
  struct Item {
    SectionIndex first;
    SectionIndex last;
    Bytes size;
    BufferIndex buffer;
  };
  std::vector<Item> items;
  items.reserve(instance.num_buffers());
  for (const BufferIndex b : instance.buffers()) {
    if (!IsFree(instance, b)) continue;
    items.push_back({instance.first[b], instance.last[b], PaddedSize(instance, b), b});
  }
  SortByInteger(items, [](const Item& item) { return std::int64_t{item.first.value()}; });
  std::array<std::vector<Item>, 64> classes;
  for (const Item& item : items) {
    classes[static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(item.size)))]
        .push_back(item);
  }
  Bytes top = base;
  for (const std::vector<Item>& members : classes) {
    Bytes shelf = 0;
    for (const Item& item : members) shelf = std::max(shelf, item.size);
    // The shelves by the section from which they are free.
    using Free = std::pair<SectionIndex, Bytes>;
    std::priority_queue<Free, std::vector<Free>, std::greater<>> shelves;
    for (const Item& item : members) {
      Bytes at = top;
      if (!shelves.empty() && shelves.top().first <= item.first) {
        at = shelves.top().second;
        shelves.pop();
      } else {
        top += shelf;
      }
      shelves.emplace(item.last, at);
      offsets[item.buffer.position()] = at;
    }
  }
  if (instance.has_alignment) {
    for (const BufferIndex b : instance.buffers()) {
      if (!IsFree(instance, b)) continue;
      offsets[b.position()] = RoundUp(offsets[b.position()], instance.alignment[b]);
    }
  }
  if (top <= kMaxBytes) return offsets;
  // Too much is lost on shelves: one buffer above the other, which the sum of all bytes allows.
  top = base;
  for (const BufferIndex b : instance.buffers()) {
    if (!IsFree(instance, b)) continue;
    offsets[b.position()] = RoundUp(top, instance.alignment[b]);
    top = offsets[b.position()] + instance.size[b];
  }
  return offsets;
}

}  // namespace berth::internal::greedy
