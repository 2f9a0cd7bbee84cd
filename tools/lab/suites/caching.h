// tools/lab/suites/caching.h -- PyTorch's run-time allocator, to measure what serving requests
// costs and how much memory it holds.
//
// Memory comes from the device in segments that are never given back: 2 MiB for requests up to
// 1 MiB, which have a pool of their own; 20 MiB below 10 MiB; otherwise the request rounded up to
// 2 MiB. Requests, rounded up to 512 bytes, get the smallest free block that is large enough, of
// several the lowest; what remains of it is a block of its own if it is at least 512 bytes in the
// small pool, more than 1 MiB in the other. A block that is freed merges with free neighbours.
// Memory of the device never runs short here, and there is one stream.
//
// Source: c10/cuda/CUDACachingAllocator.cpp of PyTorch 1.11, default settings. What the real one
// does besides is left out, to its favour: locks, statistics, streams, looking up the block of a
// pointer.
#ifndef BERTH_TOOLS_LAB_SUITES_CACHING_H_
#define BERTH_TOOLS_LAB_SUITES_CACHING_H_

#include <array>
#include <cstddef>
#include <deque>
#include <set>
#include <vector>

#include "berth/problem.h"

namespace berth::lab::caching {

struct Block {
  Bytes address = 0;  // Segments lie end to end, in the order in which they came.
  Bytes size = 0;
  Block* below = nullptr;  // Neighbours within the segment.
  Block* above = nullptr;
  bool free = true;
  bool small = false;  // Of the pool for small requests.
};

class Allocator {
 public:
  Allocator() = default;
  Allocator(const Allocator&) = delete;
  Allocator& operator=(const Allocator&) = delete;

  // At least `bytes`, which are positive. Cost: logarithmic in the number of free blocks.
  [[nodiscard]] Block* Allocate(Bytes bytes);
  // What Allocate() gave.
  void Free(Block* block);
  // The bytes of all segments.
  [[nodiscard]] Bytes reserved() const { return reserved_; }

 private:
  struct Smaller {
    bool operator()(const Block* a, const Block* b) const {
      return a->size != b->size ? a->size < b->size : a->address < b->address;
    }
  };
  using Pool = std::set<Block*, Smaller>;

  [[nodiscard]] Block* NewBlock(const Block& block);
  void Absorb(Block* lower, Block* upper);  // Makes one block of two neighbours.

  std::array<Pool, 2> free_;
  std::deque<Block> blocks_;
  std::vector<Block*> unused_;  // Blocks that were absorbed.
  Bytes reserved_ = 0;
};

// What a run asks of its allocator.
struct Event {
  std::size_t buffer = 0;
  bool starts = false;  // It is requested; else it is given back.
};
// Step by step; within a step what is over goes first, then requests in the order of the buffers.
[[nodiscard]] std::vector<Event> Events(const Problem& problem);

struct Footprint {
  Bytes reserved = 0;  // The most that the allocator holds.
  Bytes first = 0;     // Of these, in use when it first held so much, as they were asked for.
  Bytes most = 0;      // In use at any time.
  int runs = 0;        // How many it took until it held no more.
};
// Runs `problem` again and again with one allocator, as training does, until it holds no more.
[[nodiscard]] Footprint Measure(const Problem& problem);

}  // namespace berth::lab::caching

#endif  // BERTH_TOOLS_LAB_SUITES_CACHING_H_
