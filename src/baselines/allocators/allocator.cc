#include "baselines/allocators/allocator.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <tuple>

#include "base/arithmetic.h"
#include "base/check.h"
#include "base/text.h"

namespace berth::internal {
namespace {

constexpr Bytes kMiB = Bytes{1} << 20;

// The rules by which one kind of allocator works; `request` is always a rounded size.
struct Rules {
  Bytes rounding;
  int (*pool)(Bytes request);
  Bytes (*segment)(Bytes request);  // The memory to ask for when no free block is large enough.
  bool (*splits)(Bytes request, Bytes block);
};

constexpr Rules kBfcRules = {
    256,
    [](Bytes) { return 0; },
    [](Bytes) { return 4 * kMaxBytes; },
    [](Bytes request, Bytes block) {
      return block >= 2 * request || block - request >= 128 * kMiB;
    },
};

constexpr Bytes kSmallRequest = kMiB;

constexpr Rules kPytorchRules = {
    512,
    [](Bytes request) { return request <= kSmallRequest ? 0 : 1; },
    [](Bytes request) {
      if (request <= kSmallRequest) return 2 * kMiB;
      if (request < 10 * kMiB) return 20 * kMiB;
      return RoundUp(request, 2 * kMiB);
    },
    [](Bytes request, Bytes block) {
      return request <= kSmallRequest ? block - request >= 512 : block - request > kSmallRequest;
    },
};

class Allocator {
 public:
  using Handle = std::int32_t;
  struct Block {
    Bytes offset;
    Bytes size;
    Handle below;  // Neighbours within the segment, or kNoBlock.
    Handle above;
    bool free;
  };

  explicit Allocator(const Rules& rules) : rules_(rules) {}

  // Of `size` bytes as asked for.
  [[nodiscard]] Handle Allocate(Bytes size) {
    const Bytes request = RoundUp(size, rules_.rounding);
    auto& free = free_[rules_.pool(request)];
    auto found = free.lower_bound({request, 0, 0});
    if (found == free.end()) {
      blocks_.push_back({reserved_, rules_.segment(request), kNoBlock, kNoBlock, true});
      reserved_ += blocks_.back().size;
      found = free.insert(Key(static_cast<Handle>(blocks_.size() - 1))).first;
    }
    const Handle handle = std::get<Handle>(*found);
    free.erase(found);
    if (rules_.splits(request, At(handle).size)) free.insert(Key(Split(handle, request)));
    At(handle).free = false;
    return handle;
  }

  // `size` as it was asked for.
  void Free(Handle handle, Bytes size) {
    auto& free = free_[rules_.pool(RoundUp(size, rules_.rounding))];
    At(handle).free = true;
    for (const Handle neighbour : {At(handle).above, At(handle).below}) {
      if (neighbour == kNoBlock || !At(neighbour).free) continue;
      free.erase(Key(neighbour));
      handle = Merge(std::min(neighbour, handle,
                              [&](Handle x, Handle y) { return At(x).offset < At(y).offset; }));
    }
    free.insert(Key(handle));
  }

  [[nodiscard]] const Block& block(Handle handle) const {
    return blocks_[static_cast<std::size_t>(handle)];
  }
  // The sum of all segments.
  [[nodiscard]] Bytes reserved() const { return reserved_; }

 private:
  static constexpr Handle kNoBlock = -1;
  using FreeKey = std::tuple<Bytes, Bytes, Handle>;  // Size, offset.

  [[nodiscard]] Block& At(Handle handle) { return blocks_[static_cast<std::size_t>(handle)]; }
  [[nodiscard]] FreeKey Key(Handle handle) const {
    return {block(handle).size, block(handle).offset, handle};
  }

  // Cuts `lower` down to `size`; what remains is a new block, returned.
  [[nodiscard]] Handle Split(Handle lower, Bytes size) {
    const auto rest = static_cast<Handle>(blocks_.size());
    const Block whole = At(lower);
    blocks_.push_back({whole.offset + size, whole.size - size, lower, whole.above, true});
    if (whole.above != kNoBlock) At(whole.above).below = rest;
    At(lower).size = size;
    At(lower).above = rest;
    return rest;
  }

  // Adds to `lower` the block above it, which is gone then.
  Handle Merge(Handle lower) {
    const Block gone = At(At(lower).above);
    At(lower).size += gone.size;
    At(lower).above = gone.above;
    if (gone.above != kNoBlock) At(gone.above).below = lower;
    return lower;
  }

  const Rules& rules_;
  std::vector<Block> blocks_;
  std::set<FreeKey> free_[2];  // One for each pool.
  Bytes reserved_ = 0;
};

struct Event {
  Step step;
  bool starts;  // Frees sort before requests.
  std::size_t buffer;
};

std::vector<Event> SortedEvents(const Problem& problem) {
  std::vector<Event> events;
  events.reserve(2 * problem.buffers.size());
  for (std::size_t b = 0; b < problem.buffers.size(); ++b) {
    events.push_back({problem.buffers[b].start, true, b});
    events.push_back({problem.buffers[b].end, false, b});
  }
  std::sort(events.begin(), events.end(), [](const Event& x, const Event& y) {
    return std::tuple(x.step, x.starts, x.buffer) < std::tuple(y.step, y.starts, y.buffer);
  });
  return events;
}

}  // namespace

Result<AllocatorRun> RunAllocator(const Problem& problem, Algorithm algorithm) {
  BERTH_CHECK(algorithm == Algorithm::kBfc || algorithm == Algorithm::kPytorchCaching);
  const bool bfc = algorithm == Algorithm::kBfc;
  const Rules& rules = bfc ? kBfcRules : kPytorchRules;
  const auto refuse = [&](const Buffer& buffer, const std::string& why) {
    return Fail(ErrorCode::kUnsupported, "buffer " + Quoted(buffer.id) + ": " + why + ", which " +
                                             std::string(Info(algorithm).name) +
                                             ", a run-time allocator, cannot give");
  };
  for (const Buffer& buffer : problem.buffers) {
    if (buffer.offset) {
      return refuse(buffer, "it is pinned to offset " + std::to_string(*buffer.offset));
    }
    if (rules.rounding % buffer.alignment != 0) {
      return refuse(buffer, "it needs an alignment of " + std::to_string(buffer.alignment));
    }
  }
  Allocator allocator(rules);
  AllocatorRun run;
  run.offsets.resize(problem.buffers.size());
  std::vector<Allocator::Handle> handles(problem.buffers.size());
  for (const Event& event : SortedEvents(problem)) {
    const Buffer& buffer = problem.buffers[event.buffer];
    if (!event.starts) {
      allocator.Free(handles[event.buffer], buffer.size);
      continue;
    }
    handles[event.buffer] = allocator.Allocate(buffer.size);
    const Allocator::Block& block = allocator.block(handles[event.buffer]);
    run.offsets[event.buffer] = block.offset;
    run.reserved = bfc ? std::max(run.reserved, block.offset + block.size) : allocator.reserved();
    if (run.reserved > kMaxBytes) return refuse(buffer, "it would need more than 2^60 bytes");
  }
  return run;
}

}  // namespace berth::internal
