// XLA's repacker, on blocks with the members of XLA's own.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "berth/adapters/xla/repacker.h"

namespace berth::xla {
namespace {

struct Slice {
  std::int64_t size = 0;
  std::int64_t offset = 0;
  std::int64_t inclusive_start_time = 0;
};
struct Slices {
  std::vector<Slice> slices_sorted_by_offset;
};
struct Block {
  std::int64_t inclusive_start_time = 0;
  std::int64_t end_time = 0;
  std::int64_t size = 0;
  std::int64_t offset = -1;
  std::int64_t initial_offset = -1;
  std::int64_t id = 0;
  Block* next_colocated = nullptr;
  std::optional<Slices> original_slice_data = {};
  std::optional<Slices> repacked_slice_data = {};
};

class Blocks {
 public:
  Block& Add(std::int64_t start, std::int64_t end, std::int64_t size, std::int64_t offset = -1) {
    Block& block = blocks_.emplace_back(Block{start, end, size, offset, offset});
    block.id = static_cast<std::int64_t>(blocks_.size());
    block.next_colocated = &block;
    list_.push_back(&block);
    return block;
  }
  // Joins two rings.
  static void Together(Block& a, Block& b) { std::swap(a.next_colocated, b.next_colocated); }
  [[nodiscard]] std::vector<Block*>& list() { return list_; }

 private:
  std::deque<Block> blocks_;
  std::vector<Block*> list_;
};

std::vector<std::int64_t> Offsets(const std::vector<Block*>& blocks) {
  std::vector<std::int64_t> offsets;
  offsets.reserve(blocks.size());
  for (const Block* block : blocks) offsets.push_back(block->offset);
  return offsets;
}

TEST(XlaRepacker, FitsWhatFirstFitDoesNot) {
  Blocks blocks;
  // In the order of their starts, the third would lie above a hole of 4 bytes.
  blocks.Add(0, 1, 4, 0);
  blocks.Add(0, 3, 4, 4);
  blocks.Add(2, 4, 8, -1);
  Repacker<Block> repacker(12, 1);
  ASSERT_TRUE(repacker.Repack(blocks.list())) << repacker.error();
  const auto offsets = Offsets(blocks.list());
  EXPECT_TRUE(offsets[1] == 0 || offsets[1] == 8) << offsets[1];
  EXPECT_TRUE(repacker.answer()->fits());
}

TEST(XlaRepacker, WritesNothingIfItDoesNotFit) {
  Blocks blocks;
  blocks.Add(0, 3, 8, 0);
  blocks.Add(3, 5, 8, 8);  // Ends are inclusive: both live at step 3.
  Repacker<Block> repacker(15, 1);
  EXPECT_FALSE(repacker.Repack(blocks.list()));
  EXPECT_EQ(Offsets(blocks.list()), (std::vector<std::int64_t>{0, 8}));
  EXPECT_EQ(repacker.answer()->outcome, Outcome::kInfeasible);
  EXPECT_EQ(repacker.answer()->height_bound, 16);
}

TEST(XlaRepacker, KeepsOffsetsThatFit) {
  Blocks blocks;
  blocks.Add(0, 3, 8, 24);
  blocks.Add(0, 3, 8, 8);
  EXPECT_TRUE(Repacker<Block>(32, 8).Repack(blocks.list()));
  EXPECT_EQ(Offsets(blocks.list()), (std::vector<std::int64_t>{24, 8}));
}

TEST(XlaRepacker, MovesAsLittleAsItCan) {
  Blocks blocks;
  blocks.Add(0, 3, 50, 0);
  blocks.Add(0, 3, 20, 70);  // Holes of 20 and 10 bytes; the new block needs 30.
  const Block& fresh = blocks.Add(2, 5, 30);
  Repacker<Block> repacker(100, 1);
  ASSERT_TRUE(repacker.Repack(blocks.list())) << repacker.error();
  EXPECT_EQ(blocks.list()[0]->offset, 0);
  EXPECT_TRUE(blocks.list()[1]->offset == 50 || blocks.list()[1]->offset == 80);
  EXPECT_GE(fresh.offset, 50);
  EXPECT_EQ(repacker.answer()->best->cost.moved, 20);
  EXPECT_EQ(repacker.answer()->outcome, Outcome::kOptimal);
  EXPECT_EQ(repacker.answer()->height_bound, 100);
}

TEST(XlaRepacker, RingsHaveOneOffset) {
  Blocks blocks;
  Block& wide = blocks.Add(0, 2, 10);
  Block& narrow = blocks.Add(3, 6, 4);
  Block& later = blocks.Add(9, 9, 10);
  Blocks::Together(wide, narrow);
  Blocks::Together(wide, later);
  const Block& above = blocks.Add(3, 6, 6);  // Above the narrow member.
  const Block& between = blocks.Add(7, 8, 10);
  ASSERT_TRUE(Repacker<Block>(10, 1).Repack(blocks.list()));
  EXPECT_EQ(narrow.offset, wide.offset);
  EXPECT_EQ(later.offset, wide.offset);
  EXPECT_EQ(above.offset, 4);
  EXPECT_EQ(between.offset, 0);
}

TEST(XlaRepacker, SlicesLeaveTheirBytesToOthersUntilTheyBegin) {
  Blocks blocks;
  Block& sliced = blocks.Add(0, 9, 10, 0);
  sliced.original_slice_data = Slices{{{4, 0, 0}, {6, 4, 5}}};
  sliced.repacked_slice_data = Slices{{{1, 2, 3}}};
  const Block& before = blocks.Add(0, 4, 6);
  ASSERT_TRUE(Repacker<Block>(10, 1).Repack(blocks.list()));
  EXPECT_EQ(sliced.offset, 0);
  EXPECT_EQ(before.offset, 4);
  EXPECT_FALSE(sliced.repacked_slice_data);
  blocks.Add(5, 5, 1);
  EXPECT_FALSE(Repacker<Block>(10, 1).Repack(blocks.list()));
}

TEST(XlaRepacker, RefusesBlocksThatBreakARule) {
  const auto complaint = [](std::int64_t start, std::int64_t end, std::int64_t size) {
    Blocks blocks;
    blocks.Add(0, 1, 8);
    blocks.Add(start, end, size);
    Repacker<Block> repacker(100, 1);
    EXPECT_FALSE(repacker.Repack(blocks.list()));
    EXPECT_EQ(blocks.list()[1]->offset, -1);
    return repacker.error();
  };
  EXPECT_EQ(complaint(3, 1, 8), "buffer \"block 1\": start 3 must be less than end 2");
  EXPECT_EQ(complaint(0, 1, -8), "buffer \"block 1\": size is -8 but must be from 1 to 2^60");
  EXPECT_NE(complaint(INT64_MIN, INT64_MAX, INT64_MAX), "");
  Blocks blocks;
  Block& empty = blocks.Add(0, 1, 0);
  EXPECT_TRUE(Repacker<Block>(0, 1).Repack(blocks.list()));
  EXPECT_EQ(empty.offset, 0);
}

// The bytes of a block that are in use at a step, from the arena's beginning.
std::vector<std::pair<std::int64_t, std::int64_t>> InUse(const Block& block, std::int64_t step) {
  if (step > block.end_time || block.size == 0) return {};
  if (!block.original_slice_data) {
    if (step < block.inclusive_start_time) return {};
    return {{block.offset, block.offset + block.size}};
  }
  std::vector<std::pair<std::int64_t, std::int64_t>> bytes;
  const auto& slices = block.original_slice_data->slices_sorted_by_offset;
  for (const Slice& slice : slices) {
    const std::int64_t at = block.offset + slice.offset - slices.front().offset;
    if (step >= slice.inclusive_start_time) bytes.emplace_back(at, at + slice.size);
  }
  return bytes;
}

bool InOneRing(const Block& a, const Block& b) {
  const Block* each = &a;
  do {
    if (each == &b) return true;
    each = each->next_colocated;
  } while (each != &a);
  return false;
}

std::string Fault(const std::vector<Block*>& blocks, std::int64_t most, std::int64_t alignment) {
  for (const Block* a : blocks) {
    if (a->offset < 0 || a->offset % alignment != 0 || a->offset + a->size > most) {
      return "block " + std::to_string(a->id) + " at " + std::to_string(a->offset);
    }
    for (const Block* b : blocks) {
      if (InOneRing(*a, *b)) {
        if (a->offset != b->offset) return "a ring is torn";
        continue;
      }
      for (std::int64_t step = 0; step < 24; ++step) {
        for (const auto& [lower, upper] : InUse(*a, step)) {
          for (const auto& [other_lower, other_upper] : InUse(*b, step)) {
            if (lower < other_upper && other_lower < upper) return "two blocks share bytes";
          }
        }
      }
    }
  }
  return "";
}

std::string Shown(const std::vector<Block*>& blocks) {
  std::string text;
  for (const Block* block : blocks) {
    text += "\nblock " + std::to_string(block->id) + " [" +
            std::to_string(block->inclusive_start_time) + ", " + std::to_string(block->end_time) +
            "] " + std::to_string(block->size) + " bytes at " + std::to_string(block->offset) +
            ", ring to " + std::to_string(block->next_colocated->id);
    if (!block->original_slice_data) continue;
    for (const Slice& slice : block->original_slice_data->slices_sorted_by_offset) {
      text += ", slice of " + std::to_string(slice.size) + " from step " +
              std::to_string(slice.inclusive_start_time);
    }
  }
  return text;
}

void RandomBlocks(std::uint64_t seed, Blocks& blocks) {
  berth::internal::Random random(seed);
  const std::int64_t count = random.Uniform(1, 12);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t start = random.Uniform(0, 12);
    const std::int64_t size = random.Uniform(0, 5) == 0 ? 0 : random.Uniform(1, 40);
    Block& block = blocks.Add(start, start + random.Uniform(0, 8), size);
    if (random.Uniform(0, 2) == 0) block.offset = 8 * random.Uniform(0, 6);
    if (i > 0 && random.Uniform(0, 3) == 0) {
      Block& other = *blocks.list()[static_cast<std::size_t>(random.Uniform(0, i - 1))];
      if (!InOneRing(block, other)) Blocks::Together(block, other);
    } else if (size >= 2 && random.Uniform(0, 3) == 0) {
      const std::int64_t first = random.Uniform(1, size - 1);
      Slices slices{{{first, 100, start}, {size - first, 100 + first, start}}};
      const auto late = static_cast<std::size_t>(random.Uniform(0, 1));
      slices.slices_sorted_by_offset[late].inclusive_start_time =
          random.Uniform(start, block.end_time);
      block.original_slice_data = slices;
    }
  }
}

TEST(XlaRepacker, RandomBlocksNeverShareBytes) {
  int fits = 0;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    Blocks blocks;
    RandomBlocks(seed, blocks);
    const auto before = Offsets(blocks.list());
    const std::int64_t most = 40 + static_cast<std::int64_t>(seed % 80);
    const std::int64_t alignment = seed % 3 == 0 ? 8 : 1;
    Repacker<Block> repacker(most, alignment);
    if (repacker.Repack(blocks.list())) {
      ++fits;
      ASSERT_EQ(Fault(blocks.list(), most, alignment), "")
          << "seed " << seed << Shown(blocks.list());
    } else {
      ASSERT_EQ(repacker.error(), "") << "seed " << seed;
      ASSERT_EQ(Offsets(blocks.list()), before) << "seed " << seed;
      ASSERT_EQ(repacker.answer()->outcome, Outcome::kInfeasible) << "seed " << seed;
    }
  }
  EXPECT_GT(fits, 500);
  EXPECT_LT(fits, 1900);
}

}  // namespace
}  // namespace berth::xla
