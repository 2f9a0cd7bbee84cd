// tools/verify/pieces.h -- what a buffer keeps live, and when.
#ifndef BERTH_TOOLS_VERIFY_PIECES_H_
#define BERTH_TOOLS_VERIFY_PIECES_H_

#include "berth/problem.h"

namespace berth::verify {

// Calls append(start, end, lower, upper) for each piece of what a buffer keeps live: the same bytes
// of it, counted from its own first, throughout the steps [start, end).
template <typename Append>
void ForEachPiece(const Buffer& buffer, Append append) {
  const auto add = [&](Step start, Step end, Bytes lower, Bytes upper) {
    if (start < end && lower < upper) append(start, end, lower, upper);
  };
  Step whole_since = buffer.start;
  for (const Gap& gap : buffer.gaps) {
    add(whole_since, gap.start, 0, buffer.size);
    if (gap.window) add(gap.start, gap.end, gap.window->lower, gap.window->upper);
    whole_since = gap.end;
  }
  add(whole_since, buffer.end, 0, buffer.size);
}

}  // namespace berth::verify

#endif  // BERTH_TOOLS_VERIFY_PIECES_H_
