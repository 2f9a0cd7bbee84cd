// berth/problem.h -- give every buffer of a fixed schedule its address.
//
// A buffer is a rectangle: its lifetime is fixed (x), its offset is ours to choose (y).
// No two rectangles may overlap; the tallest top is the height.
//
//   offset (bytes)
//    8 |     +-----+
//      |     |  c  |          a: steps [0,3), offset 0, 4 bytes
//    4 +-----+--+--+--+       b: steps [3,5), offset 0, 4 bytes
//      |   a    |  b  |       c: steps [2,4), offset 4, 4 bytes
//    0 +--------+-----+--> step
//      0  1  2  3  4  5
//
// Lifetimes are half-open: `a` ends where `b` begins, so the two may share bytes.
//
// A gap is a part of the lifetime in which the buffer needs none of its bytes or, with a window,
// only some of them. The live bytes then no longer form a rectangle:
//
//      size +--+        +--+
//           |  |        |  |      lifetime [0,9), one gap [2,6) with window [1,3):
//    window |  +--------+  |      outside the gap all bytes are live, inside it only bytes 1 and 2
//           |  +--------+  |      of the buffer. Another buffer may use the other bytes then.
//         0 +--+        +--+
//           0  2        6  9
#ifndef BERTH_PROBLEM_H_
#define BERTH_PROBLEM_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "berth/result.h"

namespace [[gnu::visibility("default")]] berth {

using Bytes = std::int64_t;  // Sizes, offsets, capacities, heights.
using Step = std::int64_t;   // A position in the schedule; no unit of time.

// No size, offset, capacity, alignment or sum of sizes may exceed this many bytes (2^60): every sum
// that a placer forms then fits in 64 bits. Steps stay within [-kMaxStep, kMaxStep].
inline constexpr Bytes kMaxBytes = Bytes{1} << 60;
inline constexpr Step kMaxStep = Step{1} << 60;

// The bytes [lower, upper) of a buffer, counted from the buffer's own offset.
struct Window {
  Bytes lower = 0;
  Bytes upper = 0;
  friend bool operator==(const Window&, const Window&) = default;
};

// The steps [start, end) of a lifetime in which only `window` is live; without one, no byte is.
struct Gap {
  Step start = 0;
  Step end = 0;
  std::optional<Window> window = {};
  friend bool operator==(const Gap&, const Gap&) = default;
};

// Every optional field has an initializer: {"a", 0, 3, 4096} compiles without a warning.
struct Buffer {
  std::string id;                    // Unique within a problem, any UTF-8 text, not empty.
  Step start = 0;                    // First step at which the buffer is live.
  Step end = 0;                      // First step at which it is no longer live; start < end.
  Bytes size = 0;                    // At least 1.
  Bytes alignment = 1;               // The offset is a multiple of it; at least 1, any integer.
  std::optional<Bytes> offset = {};  // Pinned: the only one allowed. Must respect the alignment.
  std::optional<Bytes> hint = {};    // Preferred offset: tried first, kept if it costs nothing.
  std::vector<Gap> gaps = {};        // In increasing order, disjoint, within the lifetime.
  friend bool operator==(const Buffer&, const Buffer&) = default;
};

struct Problem {
  std::vector<Buffer> buffers;
  std::optional<Bytes> capacity = {};  // None: use as few bytes as possible.
  friend bool operator==(const Problem&, const Problem&) = default;
};

// The offset of each buffer; `offsets` is parallel to Problem::buffers.
struct Placement {
  std::vector<Bytes> offsets;
  Bytes height = 0;  // The largest offset + size; 0 without buffers.
  friend bool operator==(const Placement&, const Placement&) = default;
};

// Checks every rule above, in the order of the buffers.
// Error: kInvalidProblem, naming the first buffer that breaks a rule, which is the error's subject,
// and the value. Cost: O(n log n).
[[nodiscard]] Result<void> Validate(const Problem& problem);

// Checks that `placement` is a plan for `problem`, which must be valid: one offset for each buffer,
// aligned, pins kept, no live bytes shared, the height as stated and, if there is a capacity, within
// it. Error: kInvalidPlan, naming the first fault; the subject is the buffer. Cost: O(n log n) plus
// the number of neighbours in time.
[[nodiscard]] Result<void> ValidatePlacement(const Problem& problem, const Placement& placement);

// The height of `offsets` (parallel to the buffers of `problem`): the largest offset + size.
[[nodiscard]] Bytes Height(const Problem& problem, const std::vector<Bytes>& offsets);

// A section: a maximal set of buffers that are live together, and the steps at which they are.
// Sections come in order of time. A buffer without gaps is in consecutive sections.
struct Section {
  Step start = 0;  // The buffers are all live throughout [start, end).
  Step end = 0;
  Bytes load = 0;                    // The sum of the bytes that are live.
  std::vector<std::size_t> buffers;  // Indices into Problem::buffers, increasing.
};

// Cost: O(n log n) and the size of the answer. `problem` must be valid.
[[nodiscard]] std::vector<Section> Sections(const Problem& problem);

// A lower bound on the height of every plan.
struct LoadBound {
  Bytes load = 0;         // The most bytes live at one step, without regard to alignment.
  Step load_step = 0;     // The first step with that load.
  Bytes lower_bound = 0;  // At least `load`: also counts unavoidable alignment waste, and pins.
  Step bound_step = 0;    // The first step that gives the bound.
};
// Cost: O(n log n) time, O(n) memory. `problem` must be valid.
[[nodiscard]] LoadBound MaxLiveLoad(const Problem& problem);

// Splits the buffers into groups whose lifetimes do not meet: each can be placed by itself. Groups
// come in order of time, indices in increasing order. Cost: O(n log n). `problem` must be valid.
[[nodiscard]] std::vector<std::vector<std::size_t>> Partitions(const Problem& problem);

}  // namespace berth

#endif  // BERTH_PROBLEM_H_
