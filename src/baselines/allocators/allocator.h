// baselines/allocators/allocator.h -- what a framework's run-time allocator would do with the buffers.
//
// TensorFlow and PyTorch do not plan: they serve each request when it comes, from memory that
// earlier requests have given back. These simulations replay a problem against such an allocator,
// to tell what planning is worth. Time goes by step; within a step frees come first, then requests
// in the order of the buffers. The offsets that come out are a valid plan like any other.
//
// Both allocators keep free blocks sorted by size, then address, and serve a request, rounded up,
// with the first that is large enough; they split the block or hand it out whole, and merge freed
// blocks with free neighbours. They differ in this (limits, streams and retries left out: memory is
// never short here):
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
// (arXiv 2210.12924, section 5.4 and Figure 8) compares with.
//
// Cost: O(n log n).
#ifndef BERTH_BASELINES_ALLOCATORS_ALLOCATOR_H_
#define BERTH_BASELINES_ALLOCATORS_ALLOCATOR_H_

#include <vector>

#include "berth/place.h"
#include "berth/problem.h"
#include "berth/result.h"

namespace berth::internal {

struct AllocatorRun {
  std::vector<Bytes> offsets;
  // What the allocator takes from the device, in bytes: PyTorch's segments; for BFC up to the end
  // of the highest block handed out. Never less than the height of the offsets: a block may be
  // larger than the buffer in it.
  Bytes reserved = 0;
};

// Replays `problem`, which must be valid, against kBfc or kPytorchCaching. A buffer counts as live
// throughout its lifetime, gaps included; hints are ignored. Error: kUnsupported, naming the
// buffer, for a pin, for an alignment that rounded addresses do not give, and where memory beyond
// kMaxBytes would be needed.
[[nodiscard]] Result<AllocatorRun> RunAllocator(const Problem& problem, Algorithm algorithm);

}  // namespace berth::internal

#endif  // BERTH_BASELINES_ALLOCATORS_ALLOCATOR_H_
