// XLA's dumps as protocol buffers.

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "berth/place.h"
#include "berth/xla.h"
#include "testing/oracle.h"
#include "tests/xla/small_proto.h"

namespace berth::internal {
namespace {

using namespace xla_build;  // NOLINT(google-build-using-namespace): the whole test is of these.

std::string Complaint(const std::string& bytes) {
  const auto read = ReadXlaProto(bytes, "a");
  return read ? "" : read.error().message;
}

TEST(ReadXlaProto, HasAllocationsValuesAndEvents) {
  const std::string bytes = SmallProto();
  EXPECT_TRUE(LooksLikeXlaProto(bytes));
  const auto xla = ReadXlaProto(bytes, "a");
  ASSERT_TRUE(xla) << xla.error().message;
  ASSERT_EQ(xla->allocations.size(), 3u);
  EXPECT_EQ(xla->total, 65536 + 4096 + 448);
  EXPECT_EQ(xla->steps, 10);
  EXPECT_EQ(xla->allocations[0].use, "output");
  EXPECT_EQ(xla->allocations[1].use, "parameter 0");
  EXPECT_FALSE(xla->allocations[1].values[0].live);
  const XlaAllocation& temporary = xla->allocations[2];
  EXPECT_TRUE(temporary.temporary);
  ASSERT_EQ(temporary.values.size(), 5u);
  EXPECT_EQ(temporary.values[1], (XlaValue{"fusion{0}", "", 64, 128, std::pair<Step, Step>{1, 6}}));
  EXPECT_EQ(temporary.values[2].name, "fusion");
  const auto table = XlaTableOf(temporary, xla->steps);
  ASSERT_TRUE(table) << table.error().message;
  // The same four as from the text.
  ASSERT_EQ(table->problem.buffers.size(), 4u);
  EXPECT_EQ(table->problem.buffers[0].id, "dot.1");
  EXPECT_EQ(table->offsets, (std::vector<Bytes>{0, 128, 192, 320}));
  EXPECT_TRUE(table->exact);
  EXPECT_EQ(table->unknown, 0u);
  EXPECT_EQ(OracleHeight(table->problem), 208);
}

// XLA frees an operand before the result takes its bytes over; another value that begins between the
// two must not get them.
TEST(ReadXlaProto, KeepsBytesThatAreTakenOver) {
  const std::string bytes =
      SmallModule() +
      Assignment(Logical(7, 2) + Logical(11, 4) + Logical(12, 5) +
                 Allocation(0, 16, Assigned(7, 0, 8) + Assigned(11, 0, 8) + Assigned(12, 8, 8)) +
                 Trace(Event(kAlloc, 7) + Event(kFree, 7) + Event(kAlloc, 12) +
                       Event(kShareWith, 11, 7) + Event(kFree, 12)));
  const auto xla = ReadXlaProto(bytes, "a");
  ASSERT_TRUE(xla) << xla.error().message;
  const auto& values = xla->allocations[0].values;
  EXPECT_EQ(values[0].live, (std::pair<Step, Step>{0, 4}));
  EXPECT_EQ(values[1].live, (std::pair<Step, Step>{3, 5}));  // Never freed.
  EXPECT_EQ(OracleHeight(XlaTableOf(xla->allocations[0], xla->steps)->problem), 16);
}

// XLA before 2023 names the instruction; traces are found by their values; other values have no
// lifetime, and neither have those of a second trace in the same allocation.
TEST(ReadXlaProto, TakesNamesAndTheTraceWithMostValues) {
  const std::string named =
      Field(1, Number(1, 1) + Field(3, Field(2, "old") + Field(3, "\x01\x02")));
  const std::string bytes =
      SmallModule() + Assignment(named + Logical(7, 2) + Logical(11, 4) + Logical(12, 5) +
                                 Allocation(0, 32,
                                            Assigned(1, 0, 8) + Assigned(7, 8, 8) +
                                                Assigned(11, 16, 8) + Assigned(12, 24, 8)) +
                                 Trace(Event(kAlloc, 7)) +
                                 Trace(Event(kAlloc, 11) + Event(kAlloc, 12) + Event(kFree, 11)));
  const auto xla = ReadXlaProto(bytes, "a");
  ASSERT_TRUE(xla) << xla.error().message;
  const auto& values = xla->allocations[0].values;
  EXPECT_EQ(values[0].name, "old{1,2}");
  EXPECT_FALSE(values[0].live);
  EXPECT_FALSE(values[1].live);
  EXPECT_EQ(values[2].live, (std::pair<Step, Step>{0, 2}));
  EXPECT_EQ(XlaTableOf(xla->allocations[0], xla->steps)->unknown, 2u);
}

TEST(ReadXlaProto, NamesTheByteAndTheFault) {
  const std::string module = SmallModule();
  const auto complaint = [&](const std::string& parts) {
    return Complaint(module + Assignment(parts));
  };
  EXPECT_EQ(Complaint(module),
            "a: a module without a buffer assignment; take the file that XLA wrote after its "
            "optimizations (NAME_after_optimizations.hlo.pb)");
  EXPECT_EQ(complaint(Logical(7, 99)), "a: byte " + std::to_string(module.size() + 8) +
                                           ": a value of an instruction that is not in the module");
  EXPECT_EQ(complaint(Logical(7, 2) + Logical(7, 3)),
            "a: byte " + std::to_string(module.size() + 2 + Logical(7, 2).size()) +
                ": two values have the number 7");
  EXPECT_EQ(complaint(Allocation(0, 8, Assigned(7, 0, 8))),
            "a: byte " + std::to_string(module.size() + 8) + ": there is no value 7");
  const std::string value = Logical(7, 2);
  EXPECT_EQ(complaint(value + Allocation(0, 8, Assigned(7, 4, 8))),
            "a: byte " + std::to_string(module.size() + 8 + value.size()) +
                ": the value ends at byte 12 of an allocation of 8");
  EXPECT_EQ(complaint(Allocation(0, -1, "")), "a: byte " + std::to_string(module.size() + 6) +
                                                  ": expected a number from 0 to 2^60, found -1");
  EXPECT_EQ(complaint(Field(3, Field(2, "x"))),
            "a: byte " + std::to_string(module.size() + 4) + ": field 2 is of the wrong type");
  EXPECT_EQ(complaint(Allocation(0, kMaxBytes, "") + Allocation(1, 1, "")),
            "a: byte " + std::to_string(module.size() + 2 + Allocation(0, kMaxBytes, "").size()) +
                ": all allocations have over 2^60 bytes");
  EXPECT_EQ(complaint(Trace(Event(kFree, 7))),
            "a: byte " + std::to_string(module.size() + 4) +
                ": the event frees value 7, which is not allocated");
  EXPECT_EQ(complaint(Trace(Event(3, 7))),
            "a: byte " + std::to_string(module.size() + 4) + ": an event of unknown kind 3");
  EXPECT_EQ(Complaint(SmallProto() + Assignment("")),
            "a: byte " + std::to_string(SmallProto().size()) + ": a second buffer assignment");
}

// Many values in a few bytes, all with one long name.
TEST(ReadXlaProto, LimitsMemory) {
  const std::string module = Module(Instruction(std::string(10'000, 'n'), 2));
  const auto read = [&](int count) {
    std::string values;
    for (int i = 0; i < count; ++i) values += Assigned(7, 0, 1);
    return ReadXlaProto(module + Assignment(Logical(7, 2) + Allocation(0, 1, values)), "a");
  };
  const auto few = read(3);
  ASSERT_TRUE(few) << few.error().message;
  EXPECT_EQ(few->allocations[0].values[2].name, std::string(200, 'n'));
  const auto many = read(200'000);
  ASSERT_FALSE(many);
  EXPECT_NE(many.error().message.find("the values need too much memory for a file of this size"),
            std::string::npos);
  // A path in a tuple is cut, too.
  const auto deep = ReadXlaProto(
      SmallModule() +
          Assignment(Logical(7, 2, std::string(9'999, '\1')) + Allocation(0, 1, Assigned(7, 0, 1))),
      "a");
  ASSERT_TRUE(deep) << deep.error().message;
  EXPECT_LT(deep->allocations[0].values[0].name.size(), 220u);
}

// In a table, a value has a gap while another one has all its bytes: here each of 64 does in each of 64
// that are live throughout, in many places of the allocation.
TEST(ReadXlaProto, LimitsMemoryOfGaps) {
  constexpr std::int64_t kSide = 64;
  const auto read = [&](std::int64_t places) {
    std::string logical;
    std::string assigned;
    std::string begin;
    std::string turns;
    std::string end;
    std::int64_t id = 1;
    const auto value = [&](std::int64_t offset, std::int64_t size) {
      logical += Logical(id, 2);
      assigned += Assigned(id, offset, size);
      return id++;
    };
    for (std::int64_t p = 0; p < places; ++p) {
      for (std::int64_t i = 0; i < kSide; ++i) {
        const std::int64_t inner = value(p * kSide + i, 1);
        begin += Event(kAlloc, inner);
        end += Event(kFree, inner);
        const std::int64_t outer = value(p * kSide, kSide);
        turns += Event(kAlloc, outer) + Event(kFree, outer);
      }
    }
    return ReadXlaProto(
        SmallModule() + Assignment(logical + Allocation(0, places * kSide, assigned) +
                                   Trace(begin + turns + end)),
        "a");
  };
  const auto few = read(2);
  ASSERT_TRUE(few) << few.error().message;
  const auto table = XlaTableOf(few->allocations[0], few->steps);
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(table->requests.buffers[0].gaps.size(), static_cast<std::size_t>(kSide));
  const auto many = read(700);
  ASSERT_FALSE(many);
  EXPECT_EQ(many.error().message, "a: the values need too much memory for a file of this size");
}

// Numbers that differ by a multiple of the size of a hash table would all be in one place of it.
TEST(ReadXlaProto, TakesAnyNumbers) {
  constexpr std::int64_t kTableSize = 172933;  // That of libstdc++ for as many.
  constexpr std::int64_t kCount = 160000;
  std::string logical;
  std::string assigned;
  for (std::int64_t i = 0; i < kCount; ++i) {
    logical += Logical(i * kTableSize, 2);
    assigned += Assigned(i * kTableSize, i, 1);
  }
  const auto xla =
      ReadXlaProto(SmallModule() + Assignment(logical + Allocation(0, kCount, assigned)), "a");
  ASSERT_TRUE(xla) << xla.error().message;
  EXPECT_EQ(xla->allocations[0].values.size(), static_cast<std::size_t>(kCount));
}

// Each prefix is an error with the byte, or lacks the assignment: nothing is read past the end.
TEST(ReadXlaProto, TakesNoPrefix) {
  const std::string whole = SmallProto();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    SCOPED_TRACE(size);
    EXPECT_TRUE(Complaint(whole.substr(0, size)).starts_with("a: "));
  }
}

TEST(LooksLikeXlaProto, NeedsAModule) {
  EXPECT_FALSE(LooksLikeXlaProto(""));
  EXPECT_FALSE(LooksLikeXlaProto("\n\nid,lower,upper,size\n"));
  EXPECT_FALSE(LooksLikeXlaProto("BufferAssignment:\n"));
  EXPECT_FALSE(LooksLikeXlaProto(Number(1, 8) + Field(2, "onnx")));
  EXPECT_TRUE(LooksLikeXlaProto(SmallModule()));
  EXPECT_TRUE(LooksLikeXlaProto(
      Field(1, Field(1, "m") + Field(2, "e") + Field(3, Instruction("no name before", 1)))));
  // A graph of TensorFlow: nodes with a name, an operation and inputs.
  EXPECT_FALSE(LooksLikeXlaProto(Field(1, Field(1, "x") + Field(2, "Placeholder"))));
  EXPECT_FALSE(LooksLikeXlaProto(Field(1, Field(1, "y") + Field(2, "Relu") + Field(3, "x"))));
}

}  // namespace
}  // namespace berth::internal
