#include "model/twins.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/numbers.h"
#include "base/radix_sort.h"
#include "base/truncate.h"

namespace berth::internal {
namespace {

// Equal lists of pieces have equal hashes.
std::int64_t HashOf(std::span<const Piece> pieces) {
  std::uint64_t hash = pieces.size();
  for (const Piece& piece : pieces) {
    for (const std::int64_t part : {std::int64_t{piece.first.value()},
                                    std::int64_t{piece.last.value()}, piece.lower, piece.upper}) {
      hash = Mixed(hash, static_cast<std::uint64_t>(part));
    }
  }
  return static_cast<std::int64_t>(hash);
}

// What a placer sees of a buffer; what counts least comes first.
enum class Trait { kPieces, kPin, kAlignment, kSize, kLast, kFirst };

std::int64_t ValueOf(Trait trait, const Instance& instance, BufferIndex b) {
  switch (trait) {
    case Trait::kPieces:
      return instance.has_gaps ? HashOf(instance.pieces_of(b)) : 0;
    case Trait::kPin:
      return instance.pin[b];
    case Trait::kAlignment:
      return instance.alignment[b];
    case Trait::kSize:
      return instance.size[b];
    case Trait::kLast:
      return instance.last[b].value();
    case Trait::kFirst:
      break;
  }
  return instance.first[b].value();
}

}  // namespace

std::vector<BufferIndex> ByShape(const Instance& instance) {
  std::vector<KeyAndItem> order(instance.num_buffers());
  std::size_t num_live = 0;
  for (const BufferIndex b : instance.buffers()) {
    if (!instance.pieces_of(b).empty()) order[num_live++].item = b.value();
  }
  Truncate(order, num_live);
  // Equal keys keep their order: what counts most is sorted by last.
  for (const Trait trait : {Trait::kPieces, Trait::kPin, Trait::kAlignment, Trait::kSize,
                            Trait::kLast, Trait::kFirst}) {
    for (KeyAndItem& each : order) {
      each.key = ValueOf(trait, instance, BufferIndex(each.position()));
    }
    SortByKey(order);
  }
  return ItemsOf<BufferIndex>(order);
}

bool AreTwins(const Instance& instance, BufferIndex x, BufferIndex y) {
  const auto of_x = instance.pieces_of(x);
  const auto of_y = instance.pieces_of(y);
  return instance.pin[x] == kNone && instance.pin[y] == kNone &&
         instance.size[x] == instance.size[y] && instance.alignment[x] == instance.alignment[y] &&
         std::equal(of_x.begin(), of_x.end(), of_y.begin(), of_y.end());
}

}  // namespace berth::internal
