#include "tools/lab/suites/caching.h"

#include <gtest/gtest.h>

#include "berth/place.h"
#include "tools/lab/suites/inputs.h"

namespace berth::lab {
namespace {

// The run-time allocator that is measured does what algorithm pytorch-caching says it would.
TEST(Caching, GivesTheAddressesOfTheSimulation) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    internal::GenerateParameters parameters;
    parameters.seed = seed;
    parameters.buffers = 200;
    Problem problem = GenerateInput(internal::Family::kRandom, parameters).problem;
    for (Buffer& buffer : problem.buffers) {
      // Across both pools, and all sizes of segments.
      buffer.size = 1 + buffer.size * (seed % 3 == 0 ? 500 : seed % 3 == 1 ? 20'000 : 3);
      buffer.alignment = 1;
    }
    PlaceOptions options;
    options.algorithm = Algorithm::kPytorchCaching;
    Budget budget;
    const auto expected = Place(problem, options, budget);
    ASSERT_TRUE(expected && expected->best) << expected.error().message;
    caching::Allocator allocator;
    std::vector<caching::Block*> blocks(problem.buffers.size());
    std::vector<Bytes> offsets(problem.buffers.size());
    for (const caching::Event& event : caching::Events(problem)) {
      if (!event.starts) {
        allocator.Free(blocks[event.buffer]);
        continue;
      }
      blocks[event.buffer] = allocator.Allocate(problem.buffers[event.buffer].size);
      offsets[event.buffer] = blocks[event.buffer]->address;
    }
    EXPECT_EQ(offsets, expected->best->offsets);
    EXPECT_GE(allocator.reserved(), expected->best->height);
  }
}

TEST(Caching, CountsWhatIsHeldInVain) {
  constexpr Bytes kMiB = Bytes{1} << 20;
  Problem problem;
  // A block of 20 MiB for the first; the second does not fit into what is left of it.
  problem.buffers = {{"a", 0, 2, 9 * kMiB}, {"b", 1, 2, 14 * kMiB + 1}};
  const caching::Footprint footprint = caching::Measure(problem);
  EXPECT_EQ(footprint.reserved, 36 * kMiB);
  EXPECT_EQ(footprint.first, 23 * kMiB + 1);
  EXPECT_EQ(footprint.most, 23 * kMiB + 1);
  EXPECT_EQ(footprint.runs, 2);
  // The last segment comes late, when little is in use.
  problem.buffers = {{"a", 0, 2, 18 * kMiB}, {"b", 3, 4, 1 * kMiB}};
  const caching::Footprint late = caching::Measure(problem);
  EXPECT_EQ(late.reserved, 20 * kMiB);
  EXPECT_EQ(late.first, 1 * kMiB);
  EXPECT_EQ(late.most, 18 * kMiB);
}

}  // namespace
}  // namespace berth::lab
