// berth/adapters/xla/repacker.h -- Berth as the repacker of XLA's memory space assignment.
//
// A template over XLA's AllocationBlock (xla/service/heap_simulator/allocation_block.h), so that it
// compiles within XLA and in tests without it. In XLA:
//
//   class BerthRepacker : public memory_space_assignment::MemorySpaceAssignmentRepacker {
//    public:
//     BerthRepacker(int64_t max_size, int64_t alignment)
//         : MemorySpaceAssignmentRepacker(max_size, alignment), packer_(max_size, alignment) {}
//     absl::StatusOr<bool> Repack(absl::Span<AllocationBlock*> blocks) override {
//       return packer_.Repack({blocks.data(), blocks.size()});
//     }
//    private:
//     berth::xla::Repacker<AllocationBlock> packer_;
//   };
//
// and memory_space_assignment::Options::repacker points to it, with max_repacks.
#ifndef BERTH_ADAPTERS_XLA_REPACKER_H_
#define BERTH_ADAPTERS_XLA_REPACKER_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "berth/answer.h"
#include "berth/budget.h"
#include "berth/colocate.h"
#include "berth/memories.h"
#include "berth/place.h"
#include "berth/problem.h"
#include "berth/repack.h"

namespace berth::xla {

struct RepackerOptions {
  // Of one call. Nodes, not seconds: a compiler gives the same program on every machine.
  std::int64_t node_limit = 100'000;
  PlaceOptions place = {};
};

// `Block` has the members of XLA's AllocationBlock: inclusive_start_time, end_time (inclusive),
// size, offset (-1 before the first packing), next_colocated (a ring; a block alone points to
// itself, or nowhere), and optional original_slice_data and repacked_slice_data, whose
// slices_sorted_by_offset have size, offset and inclusive_start_time.
//
// Blocks of one ring get one offset. A block in slices is moved as a whole: its slices, which begin
// at different times, keep their distances, and bytes below and above those that have begun are free
// for others.
template <typename Block>
class Repacker {
 public:
  // Both in bytes; `alignment` at least 1.
  Repacker(std::int64_t max_size, std::int64_t alignment, RepackerOptions options = {})
      : max_size_(max_size), alignment_(alignment), options_(std::move(options)) {}

  // True if all blocks fit within max_size: then each has its offset, even if none has moved. False
  // if they do not, or no plan was found: then nothing is written. Blocks with an offset stay where
  // they are as far as possible: berth/repack.h moves others as little as it can, and Place() packs
  // everything anew only where that does not help. Never fails: blocks that break a rule (a negative
  // size, an end before the start, bytes beyond 2^60) give false, and error() says why.
  // Deterministic. Cost: of Repack(), and of Place() where nothing less helps, within the node limit
  // together.
  [[nodiscard]] bool Repack(std::span<Block* const> blocks) {
    answer_.reset();
    error_.clear();
    Problem problem;
    std::vector<std::vector<Member>> groups;
    // A block of no bytes has no buffer of its own.
    std::vector<std::size_t> buffer_of(blocks.size(), kNone);
    Describe(blocks, problem, groups, buffer_of);
    if (!error_.empty()) return false;
    problem.capacity = std::max<std::int64_t>(max_size_, 0);
    const Result<Colocated> merged = Colocate(problem, groups);
    if (!merged) return Refuse(merged.error());
    Budget budget;
    budget.SetNodeLimit(options_.node_limit);
    if (!MoveFew(merged->problem, budget)) {
      Result<PlanAnswer> answer = Place(merged->problem, options_.place, budget);
      if (!answer) return Refuse(answer.error());
      answer_ = std::move(*answer);
      // Nodes of both.
      answer_->nodes = budget.nodes_spent();
    }
    if (!answer_->fits()) return false;
    const std::vector<Bytes> offsets = merged->OffsetsOf(PlacementOf(*answer_->best).offsets);
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      blocks[b]->offset = buffer_of[b] == kNone ? 0 : offsets[buffer_of[b]];
      if constexpr (requires { blocks[b]->repacked_slice_data.reset(); }) {
        blocks[b]->repacked_slice_data.reset();
      }
    }
    return true;
  }

  // What is known of the latest call: the outcome, with a proved bound of the bytes needed.
  [[nodiscard]] const std::optional<PlanAnswer>& answer() const { return answer_; }
  // Why the latest call could not ask. Empty if it did.
  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  // Whether all fit with most of them where they are; then that is the answer.
  bool MoveFew(const Problem& table, Budget& budget) {
    MemoryProblem problem;
    problem.table = table;
    problem.table.capacity.reset();
    problem.memories.resize(1);
    problem.memories.front().name = "fast";
    problem.memories.front().capacity = table.capacity;
    problem.placing.resize(table.buffers.size());
    bool any = false;
    for (std::size_t b = 0; b < table.buffers.size(); ++b) {
      problem.placing[b].candidates = {{0, 0, {}}};
      std::optional<Bytes>& hint = problem.table.buffers[b].hint;
      if (!hint) continue;
      problem.placing[b].previous = Previous{0, *hint, 0};
      hint.reset();
      any = true;
    }
    // Without a plan to begin with there is nothing to keep.
    if (!any) return false;
    RepackOptions repack;
    repack.place = options_.place;
    repack.exchange = false;
    Result<PlanAnswer> answer = berth::Repack(problem, repack, budget);
    if (!answer || !answer->fits()) return false;
    answer_ = std::move(*answer);
    // What is asked here is the height.
    answer_->capacity = table.capacity;
    answer_->height_bound = MaxLiveLoad(table).lower_bound;
    answer_->placement_bound = answer_->height_bound;
    answer_->outcome =
        answer_->best->height() <= answer_->height_bound ? Outcome::kOptimal : Outcome::kFeasible;
    return true;
  }

  bool Refuse(const Error& error) {
    error_ = error.message;
    return false;
  }

  // One buffer for each block, or for each of its slices; blocks of a ring are together.
  void Describe(std::span<Block* const> blocks, Problem& problem,
                std::vector<std::vector<Member>>& groups, std::vector<std::size_t>& buffer_of) {
    std::unordered_map<const Block*, std::size_t> index;
    for (std::size_t b = 0; b < blocks.size(); ++b) index.emplace(blocks[b], b);
    std::vector<bool> done(blocks.size());
    for (std::size_t first = 0; first < blocks.size(); ++first) {
      if (done[first]) continue;
      std::vector<Member>& group = groups.emplace_back();
      std::vector<std::size_t> ring;
      for (std::size_t b = first; !done[b];) {
        done[b] = true;
        ring.push_back(b);
        Add(*blocks[b], std::to_string(b), problem, group, buffer_of[b]);
        // A ring that leaves the span ends there.
        const auto next = index.find(blocks[b]->next_colocated);
        if (next == index.end()) break;
        b = next->second;
      }
      if (group.empty()) {
        groups.pop_back();
        continue;
      }
      for (const std::size_t b : ring) {
        if (buffer_of[b] == kNone) buffer_of[b] = group.front().buffer;  // Of no bytes.
      }
    }
  }

  void Add(const Block& block, const std::string& name, Problem& problem,
           std::vector<Member>& group, std::size_t& buffer) {
    if (block.size == 0) return;
    buffer = problem.buffers.size();
    bool in_slices = false;
    if constexpr (requires { block.original_slice_data->slices_sorted_by_offset; }) {
      if (block.original_slice_data) {
        in_slices = true;
        AddSlices(block, name, problem, group);
      }
    }
    if (in_slices) return;
    group.push_back({problem.buffers.size(), 0});
    problem.buffers.push_back(
        Row(block, "block " + name, block.inclusive_start_time, block.size, alignment_));
  }

  // The first buffer stands at the block's offset, so that its offset is the block's.
  void AddSlices(const Block& block, const std::string& name, Problem& problem,
                 std::vector<Member>& group) {
    const auto& slices = block.original_slice_data->slices_sorted_by_offset;
    const std::int64_t last = block.end_time;
    group.push_back({problem.buffers.size(), 0});
    // A block whose slices have all begun is whole; before, there is its first byte at least.
    problem.buffers.push_back(Row(block, "block " + name, last, block.size, alignment_));
    std::size_t number = 0;
    for (const auto& slice : slices) {
      group.push_back({problem.buffers.size(), slice.offset - slices.front().offset});
      problem.buffers.push_back(Row(block, "block " + name + " slice " + std::to_string(number++),
                                    slice.inclusive_start_time, slice.size, 1));
      problem.buffers.back().hint.reset();
    }
  }

  Buffer Row(const Block& block, std::string id, std::int64_t start, std::int64_t size,
             std::int64_t alignment) {
    Buffer buffer;
    buffer.id = std::move(id);
    buffer.start = start;
    buffer.end = std::min(block.end_time, kMaxStep - 1) + 1;
    buffer.size = size;
    buffer.alignment = alignment;
    if (block.offset >= 0 && block.offset <= kMaxBytes) buffer.hint = block.offset;
    return buffer;
  }

  const std::int64_t max_size_;
  const std::int64_t alignment_;
  const RepackerOptions options_;
  std::optional<PlanAnswer> answer_;
  std::string error_;
};

}  // namespace berth::xla

#endif  // BERTH_ADAPTERS_XLA_REPACKER_H_
