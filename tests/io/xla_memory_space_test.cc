// The tables of XLA's memory space assignment.

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/place.h"
#include "berth/xla.h"
#include "testing/oracle.h"

namespace berth::internal {
namespace {

constexpr std::string_view kInfo =
    "buffer_id,buffer_name,alt_mem_benefit,size,definition_time,use_times,use_names,is_scoped\n"
    "12,\"<12 fusion{0} (phi) @0>\",1.5e+03,64,2,\"4;9;5\",\"dot.1, operand 0;dot.2, operand "
    "1\",0\n"
    "13,\"<13 tanh{} @0>\",0,32,3,\"\",\"\",0\n"
    "14,\"<14 empty @0>\",0,0,3,\"4\",\"x\",0\n"
    "-7,\"scoped allocation for conv\",0,16,6,\"\",\"\",1\n";
constexpr std::string_view kAlloc =
    "buffer_id,size,offset,start_time,end_time\n"
    "12,64,0,2,5\n"
    "13,32,64,-1,3\n"
    "12,64,32,8,9\n"
    "-7,16,96,6,6\n"
    "99,8,112,0,9\n";

TEST(ReadXlaAllocInfo, HasOnePlanOfNamedValues) {
  EXPECT_TRUE(LooksLikeXlaAllocInfo(kAlloc));
  const auto xla = ReadXlaAllocInfo(kAlloc, "a", kInfo, "b");
  ASSERT_TRUE(xla) << xla.error().message;
  ASSERT_EQ(xla->allocations.size(), 1u);
  const XlaAllocation& memory = xla->allocations[0];
  EXPECT_TRUE(memory.temporary);
  EXPECT_EQ(memory.size, 120);
  EXPECT_EQ(xla->steps, 10);
  ASSERT_EQ(memory.values.size(), 5u);
  EXPECT_EQ(memory.values[0], (XlaValue{"fusion{0}", "", 64, 0, std::pair<Step, Step>{2, 6}}));
  EXPECT_EQ(memory.values[1].name, "tanh");
  EXPECT_EQ(memory.values[1].live, (std::pair<Step, Step>{0, 4}));
  EXPECT_EQ(memory.values[3].name, "scoped allocation for conv");
  EXPECT_EQ(memory.values[4].name, "buffer 99");
  const auto table = XlaTableOf(memory, xla->steps);
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(table->problem.buffers[2].id, "fusion{0}#2");
  EXPECT_EQ(table->offsets, (std::vector<Bytes>{0, 64, 32, 96, 112}));
  EXPECT_TRUE(table->exact);
  EXPECT_EQ(OracleHeight(table->problem), 104);
  EXPECT_EQ(ReadXlaAllocInfo(kAlloc, "a")->allocations[0].values[0].name, "buffer 12");
}

// All rows of a value have its name, so that a long one would take much memory.
TEST(ReadXlaAllocInfo, CutsNames) {
  const std::string head = "buffer_id,buffer_name,alt_mem_benefit,size,definition_time,use_times\n";
  const std::string name(1'000, 'n');
  for (const std::string& shown : {name, "\"<12 " + name + " @0>\""}) {
    const auto xla = ReadXlaAllocInfo(kAlloc, "a", head + "12," + shown + ",0,64,2,\n", "b");
    ASSERT_TRUE(xla) << xla.error().message;
    EXPECT_EQ(xla->allocations[0].values[0].name, name.substr(0, 200));
  }
}

TEST(ReadXlaBufferInfo, LivesFromDefinitionThroughTheLastUse) {
  EXPECT_TRUE(LooksLikeXlaBufferInfo(kInfo));
  const auto problem = ReadXlaBufferInfo(kInfo, "b");
  ASSERT_TRUE(problem) << problem.error().message;
  ASSERT_EQ(problem->buffers.size(), 3u);
  EXPECT_EQ(problem->buffers[0].id, "fusion{0}");
  EXPECT_EQ(problem->buffers[0].start, 2);
  EXPECT_EQ(problem->buffers[0].end, 10);
  EXPECT_EQ(problem->buffers[1].end, 4);
  EXPECT_EQ(problem->buffers[2].id, "scoped allocation for conv");
  // Without the last column, as XLA wrote it at first.
  EXPECT_TRUE(
      ReadXlaBufferInfo("buffer_id,buffer_name,alt_mem_benefit,size,definition_time,use_times,"
                        "use_names\n1,\"<1 x @0>\",0,4,0,\"1\",\"y\"\n",
                        "b"));
}

std::string AllocComplaint(const std::string& rows) {
  const auto read = ReadXlaAllocInfo("buffer_id,size,offset,start_time,end_time\n" + rows, "a");
  return read ? "" : read.error().message;
}
std::string InfoComplaint(const std::string& rows) {
  const auto read = ReadXlaBufferInfo(
      "buffer_id,buffer_name,alt_mem_benefit,size,definition_time,use_times\n" + rows, "b");
  return read ? "" : read.error().message;
}

TEST(XlaMemorySpace, NamesTheLineAndTheFault) {
  EXPECT_EQ(ReadXlaAllocInfo("id,size\n", "a").error().message,
            "a:1:1: expected \"buffer_id,size,offset,start_time,end_time\"");
  EXPECT_EQ(ReadXlaAllocInfo(kAlloc, "a", "id,size\n", "b").error().message,
            "b:1:1: expected \"buffer_id,buffer_name,alt_mem_benefit,size,definition_time,\"");
  EXPECT_EQ(AllocComplaint("1,2,3\n"), "a:2:6: the row has 3 fields where at least 5 should be");
  EXPECT_EQ(AllocComplaint("1,-2,3,4,5\n"), "a:2:3: \"-2\" is not a number from 0 to 2^60");
  EXPECT_EQ(AllocComplaint("x,2,3,4,5\n"), "a:2:1: \"x\" is not a number from -2^60 to 2^60");
  EXPECT_EQ(AllocComplaint("1,2,3,5,4\n"), "a:2:1: the allocation ends before it begins");
  EXPECT_EQ(AllocComplaint("1,2,3,4,1152921504606846976\n"),
            "a:2:9: \"1152921504606846976\" is not a number from 0 to 2^60 - 1");
  EXPECT_EQ(AllocComplaint("1,2,1152921504606846975,4,5\n"),
            "a:2:1: the allocation ends after byte 2^60");
  EXPECT_EQ(InfoComplaint("1,x,0,4,0,\"1;two\"\n"),
            "b:2:12: \"two\" is not a number from 0 to 2^60");
}

TEST(XlaBufferInfoBeside, IsTheOtherTable) {
  EXPECT_EQ(XlaBufferInfoBeside("d/m.allocinfo.csv"), "d/m.bufferinfo.csv");
  EXPECT_FALSE(XlaBufferInfoBeside("allocinfo/m.csv"));
}

}  // namespace
}  // namespace berth::internal
