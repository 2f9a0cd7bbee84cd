// tools/verify/addresses.h -- offsets one by one, and what overlaps.
#ifndef BERTH_TOOLS_VERIFY_ADDRESSES_H_
#define BERTH_TOOLS_VERIFY_ADDRESSES_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "tools/verify/collector.h"
#include "tools/verify/verify.h"

namespace berth::verify {

// The bytes [lower, upper) of the memory throughout the steps [start, end); not empty.
struct Rectangle {
  std::size_t residency;
  Step start;
  Step end;
  Wide lower;
  Wide upper;
};

// Something that lies at an offset.
struct Placed {
  Fault fault;  // Says which residency, and of what.
  Bytes offset;
  Bytes size;
  Bytes alignment;
  std::optional<Bytes> pin = {};
};
void CheckAddress(const Placed& placed, std::optional<Bytes> capacity, Collector& collector);

// Rectangles of the same residency must not overlap. Cost: O((n + room in the list) log n).
void FindOverlaps(std::vector<Rectangle> rectangles, Collector& collector);

}  // namespace berth::verify

#endif  // BERTH_TOOLS_VERIFY_ADDRESSES_H_
