// berth/snapshot.h -- PyTorch's CUDA memory snapshots: what its allocator did, and what the same
// requests need at least.
//
// torch.cuda.memory._dump_snapshot() writes a pickle of what the allocator holds (segments, and the
// blocks in them) and of the last events that led there. Berth reads it without executing anything:
// the reader knows the values that a snapshot consists of, and refuses all others.
//
//   const auto file = berth::FileView::Open("snapshot.pickle");
//   if (!file) return Complain(file.error().message);
//   const auto snapshot = berth::ReadSnapshot(file->bytes(), "snapshot.pickle");
//   if (!snapshot) return Complain(snapshot.error().message);
//   const berth::SnapshotUse use = berth::UseOf(*snapshot);
//   const auto answer = berth::Place(use.pools.front().problem, {}, budget);
//
// The allocator never serves a request of one pool (a device, a stream and the id of a private pool)
// with memory of another one, so each pool is a problem of its own. Steps count events: at step 0
// nothing has been recorded yet, and at step k the first k events of the device have happened.
//
//   step      0     1           2           3               4
//   event        alloc a     alloc b    free_completed a   alloc c
//   a               |-----------------------|              [1, 3)
//   b                           |----------------------...  [2, 5): to the end
//   d         |----------------------------------------...  [0, 5): an active block without events
#ifndef BERTH_SNAPSHOT_H_
#define BERTH_SNAPSHOT_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/problem.h"
#include "berth/result.h"

namespace [[gnu::visibility("default")]] berth {

// One line of a stack.
struct SnapshotFrame {
  std::string function;
  std::string file;
  std::int64_t line = 0;  // 0 where it is not known.
};

enum class SnapshotAction : std::uint8_t {
  kAlloc,
  kFreeRequested,  // A stream may still use the block.
  kFreeCompleted,
  kSegmentAlloc,  // Memory is taken from the device,
  kSegmentFree,   // and given back;
  kSegmentMap,    // the same of expandable segments.
  kSegmentUnmap,
  kOutOfMemory,
  kOther,  // Snapshots, annotations, and what later versions add.
};

inline constexpr std::uint32_t kNoStack = 0;  // The first stack has no frames.

struct SnapshotEvent {
  std::uint64_t address = 0;
  Bytes size = 0;  // As requested; of segments, as taken.
  std::int64_t stream = 0;
  std::uint32_t stack = kNoStack;
  std::uint32_t pool = 0;  // Index into MemorySnapshot::pool_ids.
  SnapshotAction action = SnapshotAction::kOther;
};

struct SnapshotBlock {
  std::uint64_t address = 0;
  Bytes size = 0;
  Bytes requested = 0;  // At most the size.
  std::uint32_t stack = kNoStack;
  bool active = false;  // In use, or freed but possibly still used by a stream.
};

// Memory that the allocator held when the snapshot was taken.
struct SnapshotSegment {
  std::uint64_t address = 0;
  Bytes size = 0;
  std::int64_t device = 0;
  std::int64_t stream = 0;
  std::uint32_t pool = 0;  // Index into MemorySnapshot::pool_ids.
  bool expandable = false;
  std::vector<SnapshotBlock> blocks;
};

using SnapshotPoolId = std::pair<std::int64_t, std::int64_t>;

struct MemorySnapshot {
  std::vector<SnapshotFrame> frames;        // Each different one once.
  std::vector<std::uint32_t> stack_frames;  // Of all stacks, innermost first: indices.
  std::vector<std::size_t> stack_ends;      // In `stack_frames`; the first stack is empty.
  std::vector<SnapshotPoolId> pool_ids;     // The first is (0, 0), the default pool.
  std::vector<SnapshotSegment> segments;
  std::deque<SnapshotEvent> events;     // Of all devices, the oldest first,
  std::vector<std::size_t> trace_ends;  // device by device.
  bool has_segments = false;            // The file has the key.
  bool pools_of_events = false;         // Events name their pools, as since PyTorch 2.10.

  [[nodiscard]] std::size_t stack_count() const { return stack_ends.size(); }
  [[nodiscard]] std::span<const std::uint32_t> StackFrames(std::uint32_t stack) const {
    const std::size_t begin = stack == 0 ? 0 : stack_ends[stack - 1];
    return std::span(stack_frames).subspan(begin, stack_ends[stack] - begin);
  }
};

// True if `bytes` begin as a snapshot does: a pickle of a dict with one of its keys.
[[nodiscard]] bool LooksLikeSnapshot(std::string_view bytes);

// Reads a snapshot. `name` is what errors call the file. Nothing in it is executed, whatever it
// asks for: a pickle with the opcodes GLOBAL or REDUCE is refused. Cost: time and memory linear in
// the bytes of the file; some 150 bytes for each event. Nesting costs no stack.
// Error: kParse "NAME: byte N: ..." (the first being 0), with the value.
[[nodiscard]] Result<MemorySnapshot> ReadSnapshot(std::string_view bytes, std::string_view name);

// Of one pool: memory that the allocator took from the device, at one address.
struct ReservedRange {
  std::uint64_t address = 0;
  Bytes size = 0;
  Bytes free = 0;                  // Not used by any block at that step.
  Bytes largest_free = 0;          // In one piece.
  std::uint64_t free_address = 0;  // Of that piece.
  std::size_t live = 0;            // Buffers in it.
  // The buffers right below and above the largest free piece.
  std::optional<std::size_t> below = {};
  std::optional<std::size_t> above = {};
};

// Where bytes come from: the buffers of one line of the user's program.
struct SiteUse {
  std::uint32_t site = 0;  // Index into SnapshotUse::sites.
  Bytes bytes = 0;
  std::size_t buffers = 0;
  std::uint32_t stack = kNoStack;  // Of its largest buffer.
};

struct SnapshotPool {
  std::int64_t device = 0;
  std::int64_t stream = 0;
  SnapshotPoolId id = {0, 0};
  // A buffer for each allocation, in the order of their starts, called after the line of the user's
  // program that asked for it: "model.py:54 forward #3" is the third of that line. Sizes are rounded
  // up to the alignment, 512 bytes, as the allocator does.
  Problem problem;
  // Parallel to the buffers.
  std::vector<std::uint64_t> addresses;
  std::vector<std::uint32_t> stacks;             // kNoStack: not recorded.
  std::vector<std::uint32_t> sites;              // Indices into SnapshotUse::sites.
  std::vector<std::pair<Step, Bytes>> reserved;  // From this step on, so much; one entry at least.
  LoadBound peak;                                // Of the buffers, which are what is active.
  std::vector<SiteUse> at_peak;                  // What is active then, most bytes first.
  Bytes requested_peak = 0;  // The most bytes in use at one step before they are rounded.
  Bytes most_reserved = 0;
  // The step of the most active bytes among those with the most reserved bytes, and what the
  // allocator held then, by address.
  Step tight_step = 0;
  Bytes tight_active = 0;
  std::vector<ReservedRange> ranges;
  std::size_t before = 0;     // Buffers from before the recording, live at step 0.
  std::size_t remaining = 0;  // Live at the end.
};

struct SnapshotDevice {
  std::int64_t device = 0;
  std::size_t events = 0;
  std::size_t allocations = 0;
  std::size_t out_of_memory = 0;
  Bytes peak = 0;           // The most active bytes of all its pools together,
  Step peak_step = 0;       // first at this step.
  Bytes most_reserved = 0;  // At one step.
  // Buffers were live before the first event: recording began late, or its ring buffer was full.
  bool partial = false;
  // Blocks have stacks that were recorded, but no events: these were dropped from a full ring buffer,
  // or when the recording began anew.
  bool events_lost = false;
};

struct SnapshotUse {
  std::vector<SnapshotPool> pools;  // With buffers or reserved memory; the most reserved first.
  std::vector<SnapshotDevice> devices;
  std::vector<std::string> sites;  // "model.py:54 forward".
  std::vector<std::string> notes;  // What does not add up in the file; one sentence each.

  // What is said of the pool with this index: "device 0, stream 0", with the id of a private pool.
  [[nodiscard]] std::string NameOfPool(std::size_t pool) const;
};

// The problems in a snapshot. Cost: O(n log n).
[[nodiscard]] SnapshotUse UseOf(const MemorySnapshot& snapshot);

// The frame of a stack that says most to its user: the innermost line of the user's own program,
// else of any Python program, else of any C++ outside the allocator. None for a stack without frames.
[[nodiscard]] std::optional<std::size_t> UsefulFrame(const MemorySnapshot& snapshot,
                                                     std::uint32_t stack);
// A line of Python, not of the C++ below it.
[[nodiscard]] bool IsPython(const SnapshotFrame& frame);
// "forward (model.py:54)"; "at::native::add(at::Tensor const&)" where there is no file.
[[nodiscard]] std::string ToString(const SnapshotFrame& frame);
// The same for the name of a buffer: "model.py:54 forward", "BmmBackward0", "at::native::add".
[[nodiscard]] std::string ShortName(const SnapshotFrame& frame);

}  // namespace berth

#endif  // BERTH_SNAPSHOT_H_
