#include "model/twins.h"

#include <algorithm>
#include <tuple>

namespace berth::internal {
namespace {

auto ShapeOf(const Instance& instance, BufferIndex b) {
  return std::tuple(instance.first[b], instance.last[b], instance.size[b], instance.alignment[b],
                    instance.pin[b]);
}

}  // namespace

std::vector<BufferIndex> ByShape(const Instance& instance) {
  std::vector<BufferIndex> order;
  for (const BufferIndex b : instance.buffers()) {
    if (!instance.pieces_of(b).empty()) order.push_back(b);
  }
  std::sort(order.begin(), order.end(), [&](BufferIndex x, BufferIndex y) {
    const auto shape_of_x = ShapeOf(instance, x);
    const auto shape_of_y = ShapeOf(instance, y);
    if (shape_of_x != shape_of_y) return shape_of_x < shape_of_y;
    if (instance.has_gaps) {
      const auto of_x = instance.pieces_of(x);
      const auto of_y = instance.pieces_of(y);
      if (std::lexicographical_compare(of_x.begin(), of_x.end(), of_y.begin(), of_y.end())) {
        return true;
      }
      if (std::lexicographical_compare(of_y.begin(), of_y.end(), of_x.begin(), of_x.end())) {
        return false;
      }
    }
    return x < y;
  });
  return order;
}

bool AreTwins(const Instance& instance, BufferIndex x, BufferIndex y) {
  const auto of_x = instance.pieces_of(x);
  const auto of_y = instance.pieces_of(y);
  return instance.pin[x] == kNone && ShapeOf(instance, x) == ShapeOf(instance, y) &&
         std::equal(of_x.begin(), of_x.end(), of_y.begin(), of_y.end());
}

}  // namespace berth::internal
