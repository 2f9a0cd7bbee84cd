#include "model/twins.h"

#include <algorithm>
#include <cstdint>
#include <span>

#include "base/numbers.h"
#include "base/radix_sort.h"

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

}  // namespace

std::vector<BufferIndex> ByShape(const Instance& instance) {
  std::vector<KeyAndItem> order;
  order.reserve(instance.num_buffers());
  for (const BufferIndex b : instance.buffers()) {
    if (!instance.pieces_of(b).empty()) order.push_back({0, b.value()});
  }
  // Equal keys keep their order: what counts most is sorted by last.
  const auto sort_by = [&](auto key_of) {
    for (KeyAndItem& each : order) each.key = key_of(BufferIndex(each.position()));
    SortByKey(order);
  };
  if (instance.has_gaps) sort_by([&](BufferIndex b) { return HashOf(instance.pieces_of(b)); });
  for (const auto* const values : {&instance.pin, &instance.alignment, &instance.size}) {
    sort_by([&](BufferIndex b) { return (*values)[b]; });
  }
  for (const auto* const sections : {&instance.last, &instance.first}) {
    sort_by([&](BufferIndex b) { return (*sections)[b].value(); });
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
