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

std::optional<std::vector<Bytes>> PlaceSolid(const Instance& instance,
                                             const std::function<bool()>& stop) {
  std::vector<BufferIndex> order = Ordered(instance, Order::kContention);
  std::erase_if(order, [&](BufferIndex b) { return !IsFree(instance, b); });
  std::vector<Bytes> offsets = Pinned(instance);
  if (order.empty()) return offsets;
  const Instance solid = SolidOf(instance, order);
  std::vector<BufferIndex> in_order;
  for (const BufferIndex rank : solid.buffers()) in_order.push_back(rank);
  const auto packed = PlateauPacker(solid).Pack(in_order, stop);
  if (!packed) return std::nullopt;
  const Bytes base = EndOfPins(instance);
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const BufferIndex b = order[rank];
    offsets[b.position()] = RoundUp(base + (*packed)[rank], instance.alignment[b]);
  }
  return offsets;
}

std::vector<Bytes> PlaceOnShelves(const Instance& instance) {
  std::vector<Bytes> offsets = Pinned(instance);
  const Bytes base = EndOfPins(instance);
  std::array<std::vector<BufferIndex>, 64> classes;
  for (const BufferIndex b : ByFirstSection(instance)) {
    if (!IsFree(instance, b)) continue;
    const auto size = static_cast<std::uint64_t>(PaddedSize(instance, b));
    classes[static_cast<std::size_t>(std::bit_width(size))].push_back(b);
  }
  Bytes top = base;
  for (const std::vector<BufferIndex>& members : classes) {
    Bytes shelf = 0;
    for (const BufferIndex b : members) shelf = std::max(shelf, PaddedSize(instance, b));
    // The shelves by the section from which they are free.
    using Free = std::pair<SectionIndex, Bytes>;
    std::priority_queue<Free, std::vector<Free>, std::greater<>> shelves;
    for (const BufferIndex b : members) {
      const auto pieces = instance.pieces_of(b);
      Bytes at = top;
      if (!shelves.empty() && shelves.top().first <= pieces.front().first) {
        at = shelves.top().second;
        shelves.pop();
      } else {
        top += shelf;
      }
      shelves.emplace(pieces.back().last, at);
      offsets[b.position()] = RoundUp(at, instance.alignment[b]);
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
