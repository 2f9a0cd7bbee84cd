#include "tools/berth/shard.h"

#include <gtest/gtest.h>

namespace berth::cli {
namespace {

TEST(ShardTest, OwnsEveryNthPiece) {
  const std::optional<Shard> second = ParseShard("2/3");
  ASSERT_TRUE(second.has_value());
  for (std::int64_t unit = 0; unit < 9; ++unit) EXPECT_EQ(second->Owns(unit), unit % 3 == 1);
  EXPECT_TRUE(Shard().Owns(7)) << "one shard is all of it";
  EXPECT_TRUE(ParseShard("100000/100000").has_value());
}

TEST(ShardTest, RefusesEverythingElse) {
  for (const char* text : {"", "1", "/", "1/", "/2", "0/2", "3/2", "-1/2", "1/2x", " 1/2", "1/2/3",
                           "1/100001", "1/99999999999999999999"}) {
    EXPECT_FALSE(ParseShard(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace berth::cli
