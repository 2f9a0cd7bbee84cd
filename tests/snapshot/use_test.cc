// UseOf(): buffers, pools, peaks and what was reserved, for files of which all is known.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "berth/allocators.h"
#include "berth/budget.h"
#include "berth/file.h"
#include "berth/place.h"
#include "berth/snapshot.h"

namespace berth {
namespace {

MemorySnapshot Read(const std::string& path) {
  const auto file = FileView::Open(path);
  EXPECT_TRUE(file.has_value()) << path;
  auto snapshot = ReadSnapshot(file->bytes(), path);
  EXPECT_TRUE(snapshot.has_value()) << snapshot.error().message;
  return *std::move(snapshot);
}
MemorySnapshot Small(const std::string& name) {
  return Read(BERTH_SOURCE_DIR "/tests/snapshot/files/" + name + ".pickle");
}

Buffer Expected(const std::string& id, Step start, Step end, Bytes size) {
  return {id, start, end, size, 512};
}

TEST(SnapshotUseTest, BuffersAreWhatTheEventsSay) {
  const SnapshotUse use = UseOf(Small("small_4"));
  ASSERT_EQ(use.pools.size(), 2u);
  const SnapshotPool& pool = use.pools[0];
  EXPECT_EQ(use.NameOfPool(0), "device 0, stream 0");
  EXPECT_EQ(pool.problem.buffers,
            (std::vector<Buffer>{Expected("before the recording #1", 0, 1, 1024),
                                 Expected("before the recording #2", 0, 9, 1024),
                                 Expected("train.py:5 step #1", 2, 5, 4096),
                                 Expected("train.py:6 step #1", 3, 9, 2048),
                                 Expected("train.py:5 step #2", 6, 9, 512)}));
  EXPECT_TRUE(Validate(pool.problem).has_value());
  EXPECT_EQ(pool.before, 2u);
  EXPECT_EQ(pool.remaining, 3u);
  EXPECT_EQ(pool.peak.load, 7168);
  EXPECT_EQ(pool.peak.load_step, 3);
  EXPECT_EQ(pool.peak.load, MaxLiveLoad(pool.problem).load);
  EXPECT_EQ(pool.peak.lower_bound, MaxLiveLoad(pool.problem).lower_bound);
  EXPECT_EQ(pool.requested_peak, 7096);
  const SnapshotPool& other = use.pools[1];
  EXPECT_EQ(use.NameOfPool(1), "device 0, stream 7");
  EXPECT_EQ(other.problem.buffers, (std::vector<Buffer>{Expected("at::empty #1", 8, 9, 512)}));
  EXPECT_EQ(other.most_reserved, 512);
  EXPECT_TRUE(use.notes.empty());
}

TEST(SnapshotUseTest, SitesAtThePeakAddUp) {
  const SnapshotUse use = UseOf(Small("small_4"));
  const auto& sites = use.pools[0].at_peak;
  ASSERT_EQ(sites.size(), 3u);
  EXPECT_EQ(use.sites[sites[0].site], "train.py:5 step");
  EXPECT_EQ(sites[0].bytes, 4096);
  EXPECT_EQ(use.sites[sites[1].site], "train.py:6 step");
  EXPECT_EQ(use.sites[sites[2].site], "before the recording");
  EXPECT_EQ(sites[2].stack, kNoStack);
}

TEST(SnapshotUseTest, ReservedMemoryIsFollowedBackwards) {
  const SnapshotUse use = UseOf(Small("small_4"));
  const SnapshotPool& pool = use.pools[0];
  // At the end 16 KiB and 1 KiB; 2 MiB more until the seventh event.
  EXPECT_EQ(pool.reserved, (std::vector<std::pair<Step, Bytes>>{{0, 2'114'560}, {7, 17'408}}));
  EXPECT_EQ(pool.most_reserved, 2'114'560);
  EXPECT_EQ(pool.tight_step, 3);
  EXPECT_EQ(pool.tight_active, 7168);
  ASSERT_EQ(pool.ranges.size(), 3u);
  const ReservedRange& first = pool.ranges[0];
  EXPECT_EQ(first.size, 16'384);
  EXPECT_EQ(first.free, 10'240) << "4 KiB below the first buffer, 6 KiB above the second";
  EXPECT_EQ(first.largest_free, 6144);
  EXPECT_EQ(first.live, 2u);
  EXPECT_EQ(first.below, 3u);
  EXPECT_FALSE(first.above.has_value());
  EXPECT_EQ(pool.ranges[1].free, 0);
  EXPECT_EQ(pool.ranges[2].free, 2'097'152);
  EXPECT_EQ(pool.ranges[2].live, 0u);
  ASSERT_EQ(use.devices.size(), 1u);
  const SnapshotDevice& device = use.devices[0];
  EXPECT_EQ(device.events, 8u);
  EXPECT_EQ(device.allocations, 4u);
  EXPECT_EQ(device.peak, 7168);
  EXPECT_EQ(device.most_reserved, 2'115'072);
  EXPECT_TRUE(device.partial);
  EXPECT_FALSE(device.events_lost);
}

TEST(SnapshotUseTest, DevicesAndPrivatePoolsAreApart) {
  const SnapshotUse use = UseOf(Small("pools"));
  ASSERT_EQ(use.pools.size(), 3u);
  EXPECT_EQ(use.NameOfPool(0), "device 0, stream 0");
  EXPECT_EQ(use.pools[0].problem.buffers,
            (std::vector<Buffer>{Expected("train.py:8 step #1", 0, 3, 512),
                                 Expected("train.py:1 step #1", 1, 3, 512)}));
  EXPECT_EQ(use.NameOfPool(1), "device 0, stream 0, private pool (0, 3)");
  EXPECT_EQ(use.pools[1].problem.buffers,
            (std::vector<Buffer>{Expected("train.py:2 step #1", 2, 3, 1024)}));
  EXPECT_EQ(use.NameOfPool(2), "device 1, stream 0");
  ASSERT_EQ(use.devices.size(), 2u);
  EXPECT_TRUE(use.devices[0].events_lost) << "a block has a stack, but no event";
  EXPECT_FALSE(use.devices[1].partial);
  EXPECT_EQ(use.devices[1].out_of_memory, 1u);
}

TEST(SnapshotUseTest, AnEmptySnapshotHasNoPools) {
  const SnapshotUse use = UseOf(Small("empty"));
  EXPECT_TRUE(use.pools.empty());
  EXPECT_TRUE(use.devices.empty());
}

// Buffers that a run-time allocator had in memory at once cannot overlap: what the reader makes of
// the addresses is checked by placing every buffer where it was.
TEST(SnapshotUseTest, TheRecordedAddressesAreAPlan) {
  for (const std::string name : {"small_4", "pools"}) {
    for (const SnapshotPool& pool : UseOf(Small(name)).pools) {
      Placement placement;
      placement.offsets.reserve(pool.addresses.size());
      for (const std::uint64_t address : pool.addresses) {
        placement.offsets.push_back(static_cast<Bytes>(address - pool.addresses.front()) +
                                    (Bytes{1} << 30));
      }
      placement.height = Height(pool.problem, placement.offsets);
      const auto valid = ValidatePlacement(pool.problem, placement);
      EXPECT_TRUE(valid.has_value()) << valid.error().message;
    }
  }
}

// Recorded runs of training and inference, if the environment variable BERTH_DATA names a folder
// with traces/pytorch_*.pickle. Figures as counted by an independent program.
TEST(SnapshotUseTest, RecordedRuns) {
  struct Run {
    const char* file;
    std::size_t buffers;
    Bytes peak;
    Bytes reserved;
  };
  const char* const data = std::getenv("BERTH_DATA");
  std::size_t found = 0;
  for (const Run& run :
       {Run{"pytorch_medium_128_training", 7190, 7'013'335'552, 7'235'174'400},
        Run{"pytorch_medium_1024_inference", 1503, 2'877'435'904, 3'204'448'256}}) {
    const std::string path =
        std::string(data == nullptr ? "." : data) + "/traces/" + run.file + ".pickle";
    if (data == nullptr || !std::filesystem::exists(path)) continue;
    ++found;
    SCOPED_TRACE(path);
    const SnapshotUse use = UseOf(Read(path));
    ASSERT_EQ(use.pools.size(), 1u);
    const SnapshotPool& pool = use.pools[0];
    EXPECT_EQ(pool.problem.buffers.size(), run.buffers);
    EXPECT_EQ(pool.peak.load, run.peak);
    EXPECT_EQ(pool.most_reserved, run.reserved);
    EXPECT_TRUE(use.notes.empty());
    Placement recorded;
    recorded.offsets.reserve(pool.addresses.size());
    const std::uint64_t base = *std::min_element(pool.addresses.begin(), pool.addresses.end());
    for (const std::uint64_t address : pool.addresses) {
      recorded.offsets.push_back(static_cast<Bytes>(address - base));
    }
    recorded.height = Height(pool.problem, recorded.offsets);
    const auto valid = ValidatePlacement(pool.problem, recorded);
    EXPECT_TRUE(valid.has_value()) << valid.error().message;
    Budget budget;
    const auto answer = Place(pool.problem, {}, budget);
    ASSERT_TRUE(answer.has_value()) << answer.error().message;
    EXPECT_EQ(answer->outcome, Outcome::kOptimal);
    EXPECT_EQ(answer->best->height(), run.peak) << "nothing is lost to fragmentation";
    // The simulation of PyTorch's allocator, which begins without cached memory, is close.
    const auto simulated = RunAllocator(pool.problem, RuntimeAllocator::kPytorchCaching);
    ASSERT_TRUE(simulated.has_value()) << simulated.error().message;
    EXPECT_LE(simulated->reserved, run.reserved);
    EXPECT_GE(simulated->reserved, run.reserved - run.reserved / 100);
  }
  if (found == 0) GTEST_SKIP() << "BERTH_DATA names no folder with traces/pytorch_*.pickle";
}

}  // namespace
}  // namespace berth
