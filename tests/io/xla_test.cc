// XLA's dumps as tables.

#include "berth/xla.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "berth/place.h"
#include "testing/oracle.h"

namespace berth::internal {
namespace {

constexpr std::string_view kAssignment =
    "BufferAssignment:\n"
    "allocation 0: size 65536, output shape is |(f32[4], /*index=1*/f32[2])|, maybe-live-out:\n"
    " value: <12 copy.5 @0> (size=65536,offset=0): f32[128,128]{1,0}\n"
    "allocation 1: size 4096, color 1, parameter 0, shape |f32[1024]| at ShapeIndex {1,0}:\n"
    " value: <3 x @1> (size=4096,offset=0): f32[1024]{0}\n"
    "allocation 2: size 4, constant:\n"
    " value: <8 constant.2 @0> (size=4,offset=0): s32[]\n"
    "allocation 5: size 448, preallocated-temp:\n"
    " value: <7 dot.1 @0> (size=128,offset=0): f32[32]{0}\n"
    " value: <9 fusion{0} @0> (size=64,offset=128): f32[16]{0}\n"
    " value: <10 fusion{} @0> (size=16,offset=192): (f32[16]{0})\n"
    " value: <11 tanh (phi) @0> (size=128,offset=0): f32[32]{0}\n"
    " value: <12 late> (size=128,offset=320): f32[32]{0}\n"
    " value: <13 empty @0> (size=0,offset=0): f32[0]{0}\n"
    " reused by buffers of a different color:\n"
    "  value: <9 fusion{0} @0> (color=0)\n"
    "\n"
    "Total bytes used: 70084 (68.4KiB)\n";

constexpr std::string_view kRanges =
    "HloLiveRange (max 9):\n"
    "  InstructionSequence:\n"
    "    0:x\n"
    "    1:dot.1\n"
    "  BufferLiveRange:\n"
    "    x{}:0-9\n"
    "    dot.1{}:1-3\n"
    "    fusion{0}:2-5\n"
    "    fusion{}:2-3\n"
    "    tanh{}:3-6\n"
    "    late{}:7-8\n"
    "    empty{}:2-3\n"
    "  Live ranges at 3 (peak):\n"
    "    dot.1{}: 128 bytes (cumulative: 128 bytes)\n";

XlaAssignment Read() {
  const auto read = ReadXlaAssignment(kAssignment, "a", kRanges, "r");
  EXPECT_TRUE(read) << read.error().message;
  return read.value_or(XlaAssignment{});
}

TEST(ReadXlaAssignment, HasAllocationsValuesAndRanges) {
  const XlaAssignment xla = Read();
  ASSERT_EQ(xla.allocations.size(), 4u);
  EXPECT_EQ(xla.total, 65536 + 4096 + 4 + 448);
  EXPECT_EQ(xla.steps, 10);
  EXPECT_EQ(xla.allocations[0].use, "output");
  EXPECT_EQ(xla.allocations[1].use, "parameter 0");
  EXPECT_EQ(xla.allocations[1].color, 1);
  EXPECT_EQ(xla.allocations[2].use, "constant");
  EXPECT_FALSE(xla.allocations[2].values[0].live);
  const XlaAllocation& temporary = xla.allocations[3];
  EXPECT_TRUE(temporary.temporary);
  EXPECT_EQ(temporary.index, 5);
  ASSERT_EQ(temporary.values.size(), 6u);
  EXPECT_EQ(temporary.values[1],
            (XlaValue{"fusion{0}", "f32[16]{0}", 64, 128, std::pair<Step, Step>{2, 6}}));
  EXPECT_EQ(temporary.values[2].name, "fusion");
  EXPECT_EQ(temporary.values[3].name, "tanh");
  EXPECT_TRUE(temporary.values[3].phi);
  EXPECT_FALSE(temporary.values[0].phi);
  EXPECT_EQ(temporary.values[4].name, "late");
}

// `tanh` begins in the bytes of `dot.1` at the last step of that: they are one buffer.
TEST(XlaTable, JoinsValuesThatShareBytes) {
  XlaAssignment xla = Read();
  xla.allocations[3].values[3].phi = false;
  const auto table = XlaTableOf(xla.allocations[3], xla.steps);
  ASSERT_TRUE(table) << table.error().message;
  ASSERT_EQ(table->problem.buffers.size(), 4u);
  const Buffer& joined = table->problem.buffers[0];
  EXPECT_EQ(joined.id, "dot.1");
  EXPECT_EQ(joined.start, 1);
  EXPECT_EQ(joined.end, 7);
  EXPECT_EQ(joined.alignment, 64);  // 320 is not a multiple of 128.
  EXPECT_EQ(table->offsets, (std::vector<Bytes>{0, 128, 192, 320}));
  EXPECT_TRUE(table->exact);
  EXPECT_EQ(table->unknown, 0u);
  EXPECT_EQ(Height(table->problem, table->offsets), 448);
  EXPECT_EQ(OracleHeight(table->problem), 208);
  EXPECT_EQ(XlaTableOf(xla.allocations[3], xla.steps, 1)->problem.buffers[0].alignment, 1);
  // Nothing is known of the constant: it lives throughout.
  const auto constant = XlaTableOf(xla.allocations[2], xla.steps);
  EXPECT_EQ(constant->unknown, 1u);
  EXPECT_EQ(constant->problem.buffers[0].end, 10);
  EXPECT_FALSE(constant->exact) << "it may live for a shorter time";
}

// Adds values with a live range.
auto AdderTo(XlaAllocation& allocation) {
  return [&](std::string name, Bytes offset, Bytes size, Step start, Step end) {
    allocation.values.push_back({std::move(name), "", size, offset, std::pair{start, end}});
  };
}

// A loop's value is where its first value was, and that of each round is, though none of them is live
// with another one. What only has some of these bytes is another value.
TEST(XlaTable, KeepsTheValuesOfLoopsInOnePlace) {
  XlaAllocation allocation;
  const auto add = AdderTo(allocation);
  add("first", 0, 8, 0, 2);
  add("round", 0, 8, 4, 6);
  add("loop", 0, 8, 8, 9);
  add("large", 8, 64, 2, 4);
  add("other", 0, 4, 6, 7);
  const auto apart = XlaTableOf(allocation, 9);
  ASSERT_TRUE(apart) << apart.error().message;
  EXPECT_TRUE(apart->exact);
  EXPECT_EQ(apart->problem.buffers.size(), 5u);
  allocation.values[2].phi = true;
  const auto table = XlaTableOf(allocation, 9);
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_FALSE(table->exact);
  ASSERT_EQ(table->problem.buffers.size(), 3u);
  Buffer loop{"first", 0, 9, 8, 8};
  loop.gaps = {{2, 4}, {6, 8}};
  EXPECT_EQ(table->problem.buffers[0], loop);
  EXPECT_EQ(table->offsets, (std::vector<Bytes>{0, 8, 0}));
  ASSERT_EQ(table->notes.size(), 1u);
  EXPECT_TRUE(
      table->notes[0].starts_with("One group of values has the bytes of a value that a loop or a "
                                  "branch gives, such as \"first\" "
                                  "and \"round\": "))
      << table->notes[0];
}

// `c` has bytes that `a` had: while it lives, `d` may live between it and `b`.
TEST(XlaTable, SaysWhereItAsksForMoreThanXlaDid) {
  XlaAllocation allocation;
  const auto add = AdderTo(allocation);
  add("a", 0, 30, 0, 2);
  add("b", 20, 10, 1, 6);
  add("c", 0, 10, 1, 6);
  const auto exact = XlaTableOf(allocation, 6);
  EXPECT_TRUE(exact->exact);
  ASSERT_EQ(exact->notes.size(), 1u);
  EXPECT_TRUE(exact->notes[0].starts_with("One group of buffers shares bytes")) << exact->notes[0];
  add("d", 10, 10, 3, 5);
  const auto more = XlaTableOf(allocation, 6);
  EXPECT_FALSE(more->exact);
  ASSERT_EQ(more->notes.size(), 2u);
  EXPECT_TRUE(more->notes[1].starts_with("The plan that was read is not one for these buffers"));
}

// Each of `side` values, side by side throughout, has a gap for each of `across` values, which come
// and go and have all their bytes.
XlaAllocation Grid(int side, int across) {
  XlaAllocation allocation;
  for (int i = 0; i < side; ++i) {
    allocation.values.push_back({"s", "", 1, i, std::pair<Step, Step>{0, 2 * across}});
  }
  for (int i = 0; i < across; ++i) {
    allocation.values.push_back({"a", "", side, 0, std::pair<Step, Step>{2 * i, 2 * i + 1}});
  }
  return allocation;
}

TEST(XlaTable, HasAtMost32GapsForEachValue) {
  const auto few = XlaTableOf(Grid(64, 64), 128);
  ASSERT_TRUE(few) << few.error().message;
  EXPECT_EQ(few->requests.buffers[63].gaps.size(), 64u);
  const auto many = XlaTableOf(Grid(20000, 20000), 40000);
  ASSERT_FALSE(many);
  EXPECT_EQ(many.error().code, ErrorCode::kInvalidProblem);
  EXPECT_EQ(many.error().message,
            "of 40000 buffers, those that have all bytes of others do so at more than 32 times for "
            "each buffer, the most that is read");
}

std::string Complaint(std::string assignment, std::string ranges = std::string(kRanges)) {
  const auto read = ReadXlaAssignment(assignment, "a", ranges, "r");
  return read ? "" : read.error().message;
}

TEST(ReadXlaAssignment, NamesTheLineAndTheFault) {
  const std::string head = "BufferAssignment:\n";
  EXPECT_EQ(Complaint("HloModule x"), "a:1:1: expected \"BufferAssignment:\", as XLA writes it");
  EXPECT_EQ(Complaint(head, "id,lower,upper"),
            "r:1:1: expected \"HloLiveRange\", as XLA writes it");
  EXPECT_EQ(Complaint(head + "allocation x: size 4:"), "a:2:12: expected a number from 0 to 2^60");
  EXPECT_EQ(Complaint(head + "allocation 0: size 99999999999999999999:"),
            "a:2:20: expected a number from 0 to 2^60");
  EXPECT_EQ(Complaint(head + "allocation 0: size 4, output shape is |f32[4]:"),
            "a:2:40: expected \"|\"");
  EXPECT_EQ(Complaint(head + "allocation 0: size 4, new-word"), "a:2:31: expected \":\"");
  EXPECT_EQ(Complaint(head + " value: <1 x @0> (size=4,offset=0): s32[]"),
            "a:2:9: a value before the first allocation");
  EXPECT_EQ(Complaint(head + "allocation 0: size 4, constant:\n value: <1 x @0> (size=4,offset=1)"),
            "a:3:34: the value ends at byte 5 of an allocation of 4");
  EXPECT_EQ(Complaint(head + "allocation 0: size 1152921504606846976:\n"
                             "allocation 1: size 1152921504606846976:\n"),
            "a:3:40: all allocations have over 2^60 bytes");
  const std::string ranges = "HloLiveRange (max 2):\n  BufferLiveRange:\n";
  EXPECT_EQ(Complaint(head, ranges + "    x{}:2-1\n"), "r:3:12: the range ends before it begins");
  EXPECT_EQ(Complaint(head, ranges + "    x 2-1\n"), "r:3:5: expected NAME{INDEX}:FIRST-LAST");
  EXPECT_EQ(Complaint(head, ranges + "    x{}:2\n"), "r:3:10: expected \"-\"");
  EXPECT_EQ(Complaint(head, ranges + "    x{}:0-1152921504606846976\n"),
            "r:3:11: expected a number from 0 to 1152921504606846975");
  EXPECT_EQ(Complaint(head, "HloLiveRange (max 1152921504606846976):\n"),
            "r:1:19: expected a number from 0 to 1152921504606846975");
}

TEST(XlaRangesBeside, IsTheOtherFileOfTheModule) {
  EXPECT_EQ(XlaRangesBeside("d/module_0001.jit_f.cpu-buffer-assignment.txt"),
            "d/module_0001.jit_f.cpu-live-range.txt");
  EXPECT_FALSE(XlaRangesBeside("d/module_0001.txt"));
}

}  // namespace
}  // namespace berth::internal
