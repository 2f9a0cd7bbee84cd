// berth/allocators.h -- what a framework's run-time allocator would do with the buffers.
//
// TensorFlow and PyTorch do not plan: they serve each request when it comes, from memory that
// earlier requests have given back. These simulations replay a problem against such an allocator,
// to tell what planning is worth. In the library berth::baselines.
//
// Both allocators keep free blocks sorted by size, then address, and serve a request, rounded up,
// with the first that is large enough; they split the block or hand it out whole, and merge freed
// blocks with free neighbours. They differ in this (limits, streams and retries are left out:
// memory never runs short here):
//
//                    BFC                                 PyTorch
//   rounding         256 bytes                           512 bytes
//   memory comes     as one region without end           in segments, laid end to end here:
//                                                        requests up to 1 MiB, from a pool of
//                                                        their own, in segments of 2 MiB; below
//                                                        10 MiB in 20 MiB; others rounded up to
//                                                        2 MiB. Never given back
//   splits a block   if it is at least twice the         small pool: if at least 512 bytes
//                    request or 128 MiB larger           remain; else if more than 1 MiB does
//
// Sources: tensorflow/core/common_runtime/bfc_allocator.{h,cc} (2.x, without allow_growth);
// c10/cuda/CUDACachingAllocator.cpp of PyTorch 1.11, default settings: the version that OLLA
// (arXiv 2210.12924, section 5.4 and Figure 8) compares with. What else the real ones do is left
// out, in their favour: locks, statistics, streams, finding the block of a pointer.
#ifndef BERTH_ALLOCATORS_H_
#define BERTH_ALLOCATORS_H_

#include <array>
#include <cstddef>
#include <deque>
#include <set>
#include <vector>

#include "berth/problem.h"
#include "berth/result.h"

namespace [[gnu::visibility("default")]] berth {

enum class RuntimeAllocator { kBfc, kPytorchCaching };

// One allocator at work. Not thread-safe.
class AllocatorSimulation {
 public:
  struct Block {
    Bytes address = 0;
    Bytes size = 0;
    Block* below = nullptr;  // Neighbours within the segment.
    Block* above = nullptr;
    int pool = 0;
    bool free = true;
  };

  explicit AllocatorSimulation(RuntimeAllocator kind);
  AllocatorSimulation(const AllocatorSimulation&) = delete;
  AllocatorSimulation& operator=(const AllocatorSimulation&) = delete;

  // At least `bytes`, which are positive. Cost: logarithmic in the number of free blocks.
  [[nodiscard]] Block* Allocate(Bytes bytes);
  // Takes back what Allocate() gave.
  void Free(Block* block);
  // What the allocator has taken from the device: PyTorch's segments; for BFC up to the end of the
  // highest block ever handed out.
  [[nodiscard]] Bytes reserved() const { return reserved_; }

  struct Rules;  // What tells the two kinds apart.

 private:
  struct Smaller {
    bool operator()(const Block* a, const Block* b) const {
      return a->size != b->size ? a->size < b->size : a->address < b->address;
    }
  };
  using Pool = std::set<Block*, Smaller>;

  [[nodiscard]] Block* NewBlock(const Block& block);
  void Absorb(Block* lower, Block* upper);  // Makes one block of two neighbours.

  const Rules& rules_;
  std::array<Pool, 2> free_;
  std::deque<Block> blocks_;
  std::vector<Block*> unused_;  // Blocks that were absorbed.
  Bytes segments_ = 0;          // The end of the last segment.
  Bytes reserved_ = 0;
};

// What a program asks of its allocator.
struct AllocatorEvent {
  std::size_t buffer = 0;
  bool starts = false;  // The buffer is requested; else it is given back.
};
// Step by step; within a step frees come first, then requests in the order of the buffers. A buffer
// counts as live throughout its lifetime, gaps included. Cost: O(n log n).
[[nodiscard]] std::vector<AllocatorEvent> AllocatorEvents(const Problem& problem);

struct AllocatorRun {
  std::vector<Bytes> offsets;  // A valid plan like any other.
  Bytes reserved = 0;          // Never less than the height: a block may exceed its buffer.
};
// Replays `problem`, which must be valid, once; hints are ignored. Error: kUnsupported, naming the
// buffer, for a pin, for an alignment that rounded addresses do not give, and where memory beyond
// kMaxBytes would be needed. Cost: O(n log n).
[[nodiscard]] Result<AllocatorRun> RunAllocator(const Problem& problem, RuntimeAllocator kind);

struct AllocatorFootprint {
  Bytes reserved = 0;  // The most that the allocator holds.
  Bytes first = 0;     // Bytes in use, as requested, when it first held that much.
  Bytes most = 0;      // Bytes in use at any time.
  int runs = 0;        // Runs until it held no more.
};
// Replays `problem` again and again with one allocator, as training does, until it holds no more.
[[nodiscard]] AllocatorFootprint MeasureFootprint(const Problem& problem, RuntimeAllocator kind);

}  // namespace berth

#endif  // BERTH_ALLOCATORS_H_
