// What whole items can free or fill, by trying all of them.
#include "memories/subset_sums.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "base/random.h"
#include "testing/seeds.h"

namespace berth::internal::memories {
namespace {

constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

TEST(SubsetSums, AreTheBestOfAll) {
  for (std::uint64_t seed = 1; seed <= Seeds(2000); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    std::vector<Bytes> sizes;
    const Bytes unit = random.Uniform(1, 5);
    for (auto n = random.Uniform(1, 10); n > 0; --n) {
      sizes.push_back(unit * random.Uniform(0, random.Chance(0.5) ? 6 : 100));
    }
    const Bytes total = std::accumulate(sizes.begin(), sizes.end(), Bytes{0});
    const Bytes bytes = random.Uniform(0, total);
    Bytes least = total;
    Bytes most = 0;
    for (unsigned chosen = 0; chosen < 1u << sizes.size(); ++chosen) {
      Bytes sum = 0;
      for (std::size_t i = 0; i < sizes.size(); ++i) sum += (chosen >> i & 1) != 0 ? sizes[i] : 0;
      if (sum >= bytes) least = std::min(least, sum);
      if (sum <= bytes) most = std::max(most, sum);
    }
    std::int64_t work = kUnlimited;
    EXPECT_EQ(LeastSubsetSum(sizes, bytes, work), least);
    EXPECT_EQ(MostSubsetSum(sizes, bytes, work), most);
    std::int64_t none = 0;
    EXPECT_LE(LeastSubsetSum(sizes, bytes, none), least);
    EXPECT_GE(LeastSubsetSum(sizes, bytes, none), bytes);
    EXPECT_GE(MostSubsetSum(sizes, bytes, none), most);
  }
}

TEST(SubsetSums, OfTooManyAreRoundedToTheDivisor) {
  Random random(1);
  std::vector<Bytes> sizes;
  for (int i = 0; i < 60; ++i) sizes.push_back(4 * random.Uniform(1, Bytes{1} << 50));
  const Bytes total = std::accumulate(sizes.begin(), sizes.end(), Bytes{0});
  std::int64_t work = kUnlimited;
  EXPECT_EQ(LeastSubsetSum(sizes, total / 2 + 1, work), (total / 2 + 1 + 3) / 4 * 4);
  EXPECT_LT(kUnlimited - work, 60 * (1 << 15));
}

TEST(SubsetSums, LowerCapacities) {
  Selection selection;
  selection.sections = 2;
  selection.capacity = {{9, 100}, {9, 9}};
  selection.items = {
      {{{0, 2, 3}}, {{0, 1}}}, {{{0, 1, 3}, {1, 2, 8}}, {{0, 1}, {1, 1}}}, {{{0, 2, 8}}, {{0, 1}}}};
  TightenCapacities(selection);
  EXPECT_EQ(selection.capacity, (std::vector<std::vector<Bytes>>{{8, 100}, {9, 9}}));
}

}  // namespace
}  // namespace berth::internal::memories
