#include "tools/lab/suites/caching.h"

#include <algorithm>
#include <tuple>

namespace berth::lab::caching {
namespace {

constexpr Bytes kMiB = Bytes{1} << 20;
constexpr Bytes kRounding = 512;
constexpr Bytes kMostSmall = kMiB;
constexpr int kMostRuns = 20;

Bytes RoundedUp(Bytes bytes, Bytes multiple) {
  return (bytes + multiple - 1) / multiple * multiple;
}

Bytes SegmentFor(Bytes request) {
  if (request <= kMostSmall) return 2 * kMiB;
  return request < 10 * kMiB ? 20 * kMiB : RoundedUp(request, 2 * kMiB);
}

}  // namespace

Block* Allocator::Allocate(Bytes bytes) {
  const Bytes request = RoundedUp(bytes, kRounding);
  const bool small = request <= kMostSmall;
  Pool& pool = free_[small ? 0 : 1];
  Block wanted;
  wanted.size = request;
  Block* block = nullptr;
  if (const auto found = pool.lower_bound(&wanted); found != pool.end()) {
    block = *found;
    pool.erase(found);
  } else {
    const Bytes segment = SegmentFor(request);
    block = NewBlock({reserved_, segment, nullptr, nullptr, false, small});
    reserved_ += segment;
  }
  block->free = false;
  const Bytes rest = block->size - request;
  if (small ? rest >= kRounding : rest > kMostSmall) {
    Block* const above =
        NewBlock({block->address + request, rest, block, block->above, true, small});
    if (block->above != nullptr) block->above->below = above;
    block->above = above;
    block->size = request;
    pool.insert(above);
  }
  return block;
}

void Allocator::Free(Block* block) {
  Pool& pool = free_[block->small ? 0 : 1];
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

Block* Allocator::NewBlock(const Block& block) {
  if (unused_.empty()) return &blocks_.emplace_back(block);
  Block* const reused = unused_.back();
  unused_.pop_back();
  *reused = block;
  return reused;
}

void Allocator::Absorb(Block* lower, Block* upper) {
  lower->size += upper->size;
  lower->above = upper->above;
  if (upper->above != nullptr) upper->above->below = lower;
  unused_.push_back(upper);
}

std::vector<Event> Events(const Problem& problem) {
  std::vector<std::tuple<Step, bool, std::size_t>> sorted;
  sorted.reserve(2 * problem.buffers.size());
  for (std::size_t b = 0; b < problem.buffers.size(); ++b) {
    sorted.emplace_back(problem.buffers[b].start, true, b);
    sorted.emplace_back(problem.buffers[b].end, false, b);
  }
  std::sort(sorted.begin(), sorted.end());
  std::vector<Event> events;
  events.reserve(sorted.size());
  for (const auto& [step, starts, buffer] : sorted) events.push_back({buffer, starts});
  return events;
}

Footprint Measure(const Problem& problem) {
  const std::vector<Event> events = Events(problem);
  Allocator allocator;
  std::vector<Block*> blocks(problem.buffers.size());
  Footprint footprint;
  for (bool grew = true; grew && footprint.runs < kMostRuns;) {
    grew = false;
    ++footprint.runs;
    Bytes resident = 0;
    for (const Event& event : events) {
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

}  // namespace berth::lab::caching
