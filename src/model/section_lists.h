// model/section_lists.h -- what is live in each section.
#ifndef BERTH_MODEL_SECTION_LISTS_H_
#define BERTH_MODEL_SECTION_LISTS_H_

#include "base/lists.h"
#include "model/instance.h"

namespace berth::internal {

// For each section, make(b, piece) of every piece that is live there, by buffer. Cost: linear in the
// size of the lists.
template <typename T, typename Make>
[[nodiscard]] Lists<SectionIndex, T> SectionLists(const Instance& instance, Make make) {
  return Lists<SectionIndex, T>::Build(instance.num_sections(), [&](auto add) {
    for (const BufferIndex b : instance.buffers()) {
      for (const Piece& piece : instance.pieces_of(b)) {
        const T item = make(b, piece);
        for (const SectionIndex s : IndexRange(piece.first, piece.last)) add(s, item);
      }
    }
  });
}

}  // namespace berth::internal

#endif  // BERTH_MODEL_SECTION_LISTS_H_
