// tools/verify/disjoint.h -- whether any rectangles overlap at all.
#ifndef BERTH_TOOLS_VERIFY_DISJOINT_H_
#define BERTH_TOOLS_VERIFY_DISJOINT_H_

#include <vector>

#include "tools/verify/addresses.h"

namespace berth::verify {

// True: no two of them overlap. False: some do, or a side needs more than 64 bits. Cost: that of sorting
// them by their starts; then, with k ranges of bytes in use at one time, of moving O(sqrt k) of them for
// each rectangle.
[[nodiscard]] bool AreDisjoint(const std::vector<Rectangle>& rectangles);

}  // namespace berth::verify

#endif  // BERTH_TOOLS_VERIFY_DISJOINT_H_
