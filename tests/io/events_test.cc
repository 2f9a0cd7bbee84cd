// ReadEvents(): traces of allocations.
#include <gtest/gtest.h>

#include <string>

#include "berth/event_io.h"

namespace berth {
namespace {

Problem Read(const std::string& text) {
  const auto table = ReadEvents(text, "t.csv");
  EXPECT_TRUE(table.has_value()) << table.error().message;
  return table ? table->problem : Problem{};
}

void ExpectRefused(const std::string& text, const std::string& message) {
  const auto table = ReadEvents(text, "t.csv");
  ASSERT_FALSE(table.has_value()) << text;
  EXPECT_EQ(table.error().message, "t.csv" + message) << text;
}

TEST(EventsTest, StepsCountRows) {
  const std::string text = "event,id,size\nalloc,a,4096\nalloc,b,512\nfree,a,\nalloc,c,2048\n";
  EXPECT_TRUE(LooksLikeEvents(text));
  EXPECT_FALSE(LooksLikeEvents("id,lower,upper,size\n"));
  EXPECT_EQ(Read(text).buffers,
            (std::vector<Buffer>{{"a", 1, 3, 4096}, {"b", 2, 5, 512}, {"c", 4, 5, 2048}}));
  EXPECT_EQ(ReadEvents(text, "t")->lines, (std::vector<std::size_t>{2, 3, 5}));
}

TEST(EventsTest, AddressesAreUsedAgain) {
  EXPECT_EQ(Read("time, Event, Address, Size, alignment\n"
                 "5,alloc,0x10,8,64\n6,free,0x10,8,\n7,Alloc,0x10,9,\n")
                .buffers,
            (std::vector<Buffer>{{"0x10", 1, 2, 8, 64}, {"0x10 #2", 3, 4, 9}}));
  EXPECT_TRUE(Read("event,id,size\n").buffers.empty());
  // Where the file has the name of a second buffer itself, the second has the next one.
  EXPECT_EQ(Read("event,id,size\nalloc,x,1\nfree,x,\nalloc,x #2,2\nalloc,x,3\n").buffers,
            (std::vector<Buffer>{{"x", 1, 2, 1}, {"x #2", 3, 5, 2}, {"x #3", 4, 5, 3}}));
}

TEST(EventsTest, FaultsAreNamed) {
  ExpectRefused("", ": the file is empty");
  ExpectRefused("event,id\n", ":1:1: the column size is missing");
  ExpectRefused("event,size\n", ":1:1: the column id (or address) is missing");
  ExpectRefused("event,id,address,size\n", ":1:10: the column \"address\" comes twice");
  ExpectRefused("event,id,size\nalloc,a\n", ":2:8: the row has 2 fields, the header 3");
  ExpectRefused("event,id,size\nfree,a,\n", ":2:6: buffer \"a\" is freed, but not allocated");
  ExpectRefused("event,id,size\nalloc,a,1\nalloc,a,1\n",
                ":3:7: buffer \"a\" is allocated again before it is freed");
  ExpectRefused("event,id,size\nalloc,a,0\n",
                ":2:9: size \"0\" is not a whole number from 1 to 2^60");
  ExpectRefused("event,id,size\nrealloc,a,1\n", ":2:1: the event \"realloc\" is not alloc or free");
  ExpectRefused("event,id,size\nalloc,,1\n", ":2:7: the id is empty");
}

}  // namespace
}  // namespace berth
