#include "berth/allocators.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <tuple>

#include "base/arithmetic.h"
#include "base/text.h"

namespace berth {

// `request` is always a rounded size.
struct AllocatorSimulation::Rules {
  const char* name;
  Bytes rounding;
  int (*pool)(Bytes request);
  Bytes (*segment)(Bytes request);  // The memory to ask for when no free block is large enough.
  bool (*splits)(Bytes request, Bytes block);
  bool takes_segments;  // From the device; else no more than it hands out.
};

namespace {

using internal::RoundUp;
using Block = AllocatorSimulation::Block;

constexpr Bytes kMiB = Bytes{1} << 20;
constexpr Bytes kSmallRequest = kMiB;
constexpr int kMostRuns = 20;  // Of a program whose footprint does not settle.

constexpr AllocatorSimulation::Rules kBfcRules = {
    "bfc",
    256,
    [](Bytes) { return 0; },
    [](Bytes) { return 4 * kMaxBytes; },
    [](Bytes request, Bytes block) {
      return block >= 2 * request || block - request >= 128 * kMiB;
    },
    false,
};

constexpr AllocatorSimulation::Rules kPytorchRules = {
    "pytorch-caching",
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
    true,
};

const AllocatorSimulation::Rules& RulesOf(RuntimeAllocator kind) {
  return kind == RuntimeAllocator::kBfc ? kBfcRules : kPytorchRules;
}

}  // namespace

AllocatorSimulation::AllocatorSimulation(RuntimeAllocator kind) : rules_(RulesOf(kind)) {}

AllocatorSimulation::Block* AllocatorSimulation::Allocate(Bytes bytes) {
  Block wanted;
  wanted.size = RoundUp(bytes, rules_.rounding);
  const int number = rules_.pool(wanted.size);
  Pool& pool = free_[static_cast<std::size_t>(number)];
  Block* block = nullptr;
  if (const auto found = pool.lower_bound(&wanted); found != pool.end()) {
    block = *found;
    pool.erase(found);
  } else {
    const Bytes segment = rules_.segment(wanted.size);
    block = NewBlock({segments_, segment, nullptr, nullptr, number, false});
    segments_ += segment;
    if (rules_.takes_segments) reserved_ = segments_;
  }
  block->free = false;
  if (rules_.splits(wanted.size, block->size)) {
    Block* const rest = NewBlock({block->address + wanted.size, block->size - wanted.size, block,
                                  block->above, number, true});
    if (block->above != nullptr) block->above->below = rest;
    block->above = rest;
    block->size = wanted.size;
    pool.insert(rest);
  }
  if (!rules_.takes_segments) reserved_ = std::max(reserved_, block->address + block->size);
  return block;
}

void AllocatorSimulation::Free(Block* block) {
  Pool& pool = free_[static_cast<std::size_t>(block->pool)];
  block->free = true;
  if (Block* const above = block->above; above != nullptr && above->free) {
    pool.erase(above);
    Absorb(block, above);
  }
  if (Block* const below = block->below; below != nullptr && below->free) {
    pool.erase(below);
    Absorb(below, block);
    block = below;
  }
  pool.insert(block);
}

AllocatorSimulation::Block* AllocatorSimulation::NewBlock(const Block& block) {
  if (unused_.empty()) return &blocks_.emplace_back(block);
  Block* const reused = unused_.back();
  unused_.pop_back();
  *reused = block;
  return reused;
}

void AllocatorSimulation::Absorb(Block* lower, Block* upper) {
  lower->size += upper->size;
  lower->above = upper->above;
  if (upper->above != nullptr) upper->above->below = lower;
  unused_.push_back(upper);
}

std::vector<AllocatorEvent> AllocatorEvents(const Problem& problem) {
  std::vector<std::tuple<Step, bool, std::size_t>> sorted;  // Frees sort before requests.
  sorted.reserve(2 * problem.buffers.size());
  for (std::size_t b = 0; b < problem.buffers.size(); ++b) {
    sorted.emplace_back(problem.buffers[b].start, true, b);
    sorted.emplace_back(problem.buffers[b].end, false, b);
  }
  std::sort(sorted.begin(), sorted.end());
  std::vector<AllocatorEvent> events;
  events.reserve(sorted.size());
  for (const auto& [step, starts, buffer] : sorted) events.push_back({buffer, starts});
  return events;
}

Result<AllocatorRun> RunAllocator(const Problem& problem, RuntimeAllocator kind) {
  const AllocatorSimulation::Rules& rules = RulesOf(kind);
  const auto refuse = [&](const Buffer& buffer, const std::string& why) {
    return Fail(ErrorCode::kUnsupported, "buffer " + internal::Quoted(buffer.id) + ": " + why +
                                             ", which " + rules.name +
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
  AllocatorSimulation allocator(kind);
  std::vector<Block*> blocks(problem.buffers.size());
  AllocatorRun run;
  run.offsets.resize(problem.buffers.size());
  for (const AllocatorEvent& event : AllocatorEvents(problem)) {
    const Buffer& buffer = problem.buffers[event.buffer];
    if (!event.starts) {
      allocator.Free(blocks[event.buffer]);
      continue;
    }
    blocks[event.buffer] = allocator.Allocate(buffer.size);
    run.offsets[event.buffer] = blocks[event.buffer]->address;
    if (allocator.reserved() > kMaxBytes) {
      return refuse(buffer, "it would need more than 2^60 bytes");
    }
  }
  run.reserved = allocator.reserved();
  return run;
}

AllocatorFootprint MeasureFootprint(const Problem& problem, RuntimeAllocator kind) {
  const std::vector<AllocatorEvent> events = AllocatorEvents(problem);
  AllocatorSimulation allocator(kind);
  std::vector<Block*> blocks(problem.buffers.size());
  AllocatorFootprint footprint;
  for (bool grew = true; grew && footprint.runs < kMostRuns;) {
    grew = false;
    ++footprint.runs;
    Bytes resident = 0;
    for (const AllocatorEvent& event : events) {
      const Bytes bytes = problem.buffers[event.buffer].size;
      if (!event.starts) {
        resident -= bytes;
        allocator.Free(blocks[event.buffer]);
        continue;
      }
      resident += bytes;
      footprint.most = std::max(footprint.most, resident);
      blocks[event.buffer] = allocator.Allocate(bytes);
      if (allocator.reserved() == footprint.reserved) continue;
      footprint.reserved = allocator.reserved();
      footprint.first = resident;
      grew = true;
    }
  }
  return footprint;
}

}  // namespace berth
