// What Glow, Vela and TensorFlow Lite Micro write as text.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/line.h"
#include "berth/file.h"
#include "berth/place.h"
#include "berth/recorded.h"

namespace berth {
namespace {

RecordedFile Read(std::string_view text) {
  const auto file = ReadRecorded(text, "log");
  EXPECT_TRUE(file.has_value()) << file.error().message;
  return file.value_or(RecordedFile{});
}

void ExpectRefused(const std::string& text, const std::string& message) {
  const auto file = ReadRecorded(text, "log");
  ASSERT_FALSE(file.has_value()) << text;
  EXPECT_EQ(file.error().message, "log:" + message) << text;
}

constexpr std::string_view kGlow =
    "# comment\n"
    "MODEL one.onnx\n"
    "ALIGN 64\n"
    "ALLOC 7 100\n"
    "ALLOC 8 64\n"
    "FREE 7\n"
    "ALLOC 9 1\n"
    "FREE 8\n"
    "FREE 9\n"
    "MEM 256\n"
    "EFF 0.750000\n"
    "\n"
    "MODEL two words\r\n"
    "ALLOC 1 5\r\n";

TEST(GlowTest, HasAProblemForEachModel) {
  EXPECT_EQ(FormatOfRecorded(kGlow), RecordedFormat::kGlow);
  const RecordedFile file = Read(kGlow);
  EXPECT_EQ(file.maker, "Glow");
  ASSERT_EQ(file.problems.size(), 2u);
  const RecordedProblem& one = file.problems[0];
  EXPECT_EQ(one.name, "one.onnx");
  EXPECT_EQ(one.height, 256);
  EXPECT_TRUE(one.offsets.empty());
  // Sizes are those of Glow: rounded up to the alignment.
  EXPECT_EQ(one.problem.buffers,
            (std::vector<Buffer>{{"7", 1, 3, 128, 64}, {"8", 2, 5, 64, 64}, {"9", 4, 6, 64, 64}}));
  EXPECT_EQ(file.problems[1].name, "two words");
  EXPECT_EQ(file.problems[1].problem.buffers, (std::vector<Buffer>{{"1", 1, 2, 5}}));
}

TEST(GlowTest, FaultsAreNamed) {
  ExpectRefused("MODEL m\nFREE 3\n", "2:6: buffer \"3\" is freed, but not allocated");
  ExpectRefused("MODEL m\nALLOC 3 1\nALLOC 3 1\n",
                "3:7: buffer \"3\" is allocated again before it is freed");
  ExpectRefused("MODEL m\nALLOC 3 0\n", "2:9: expected a number from 1 to 2^60");
  ExpectRefused("MODEL m\nALLOC 3 4 5\n", "2:11: expected the end of the line, not \"5\"");
  ExpectRefused("MODEL m\nALLOCATE 3\n",
                "2:9: expected MODEL, ALIGN, ALLOC, FREE, MEM or EFF, not \"ALLOCATE\"");
  ExpectRefused("MODEL m\nALIGN 99999999999999999999\n", "2:7: expected a number from 1 to 2^60");
  const std::string half = std::to_string(kMaxBytes / 2 + 1);
  const auto file = ReadRecorded("MODEL m\nALLOC 1 " + half + "\nALLOC 2 " + half + "\n", "log");
  ASSERT_FALSE(file.has_value());
  EXPECT_EQ(file.error().code, ErrorCode::kInvalidProblem);
  EXPECT_TRUE(file.error().message.starts_with("log: \"m\": ")) << file.error().message;
}

// The real file, if the environment variable BERTH_DATA names a folder that contains it.
TEST(GlowTest, RealFile) {
  const char* const data = std::getenv("BERTH_DATA");
  const std::string path =
      std::string(data == nullptr ? "." : data) + "/traces/glow_memory_allocator_models.txt";
  if (data == nullptr || !std::filesystem::exists(path)) {
    GTEST_SKIP() << "BERTH_DATA names no folder with traces/glow_memory_allocator_models.txt";
  }
  const RecordedFile file = Read(*ReadFile(path));
  ASSERT_EQ(file.problems.size(), 79u);
  std::size_t buffers = 0;
  std::vector<std::string> above;
  for (const RecordedProblem& each : file.problems) {
    SCOPED_TRACE(each.name);
    buffers += each.problem.buffers.size();
    Budget budget;
    const auto answer = Place(each.problem, {}, budget);
    ASSERT_TRUE(answer.has_value()) << answer.error().message;
    EXPECT_EQ(answer->outcome, Outcome::kOptimal);
    EXPECT_EQ(answer->best->height(), MaxLiveLoad(each.problem).load);
    EXPECT_LE(answer->best->height(), each.height);
    if (answer->best->height() < each.height) above.push_back(each.name);
  }
  EXPECT_EQ(buffers, 3969u);
  EXPECT_EQ(above, (std::vector<std::string>{"resnet101_v2.onnx", "resnet152_v2.onnx",
                                             "resnet50_v2.onnx"}));
}

constexpr std::string_view kTflm =
    "[boot] memory plan follows\n"
    "I (123) tflm: 0 (id=0): size=64, offset=32, first_used=-1 last_used=1\n"
    "I (124) tflm: 1 (id=1): size=32, offset=0, first_used=1 last_used=2\n"
    "* (id=2): size=16, offset=96, first_used=1 last_used=1\n"
    "   0: aaaa................ (1k)\n"
    "0 (id=0): size=48, offset=0, first_used=3 last_used=3\n"
    "1 (id=1): size=0, offset=0, first_used=3 last_used=3\n";

TEST(TflmPlanTest, PassesOverTheRestOfALog) {
  EXPECT_EQ(FormatOfRecorded(kTflm), RecordedFormat::kTflmPlan);
  const RecordedFile file = Read(kTflm);
  EXPECT_EQ(file.maker, "TensorFlow Lite Micro");
  ASSERT_EQ(file.problems.size(), 2u);
  const RecordedProblem& plan = file.problems[0];
  EXPECT_EQ(plan.name, "plan 1");
  EXPECT_EQ(plan.problem.buffers,
            (std::vector<Buffer>{{"0", -1, 2, 64, 16}, {"1", 1, 3, 32, 16}, {"2", 1, 2, 16, 16}}));
  EXPECT_EQ(plan.offsets, (std::vector<Bytes>{32, 0, 96}));
  EXPECT_EQ(plan.height, 112);
  EXPECT_TRUE(plan.notes.empty());
  EXPECT_EQ(file.problems[1].name, "plan 2");
  EXPECT_EQ(file.problems[1].problem.buffers, (std::vector<Buffer>{{"0", 3, 4, 48, 16}}));
}

TEST(TflmPlanTest, APlanWithoutAllOffsetsIsNone) {
  const RecordedFile file = Read(
      "0 (id=0): size=64, offset=-1, first_used=0 last_used=1\n"
      "1 (id=1): size=8, offset=0, first_used=0 last_used=1\n");
  ASSERT_EQ(file.problems.size(), 1u);
  EXPECT_TRUE(file.problems[0].offsets.empty());
  EXPECT_FALSE(file.problems[0].height);
  EXPECT_EQ(file.problems[0].notes.size(), 1u);
}

TEST(TflmPlanTest, ConsolesMayHaveIdsOfTheirOwn) {
  const RecordedFile file = Read(
      "task (id=7): x (id=0): size=64, offset=0, first_used=0 last_used=1\n"
      "task (id=7): 1 (id=1): size=8, offset=64, first_used=0 last_used=1\n");
  ASSERT_EQ(file.problems.size(), 1u);
  EXPECT_EQ(file.problems[0].problem.buffers,
            (std::vector<Buffer>{{"0", 0, 2, 64, 16}, {"1", 0, 2, 8, 16}}));
}

TEST(TflmPlanTest, FaultsAreNamed) {
  ExpectRefused("0 (id=0): size=1, offset=0, first_used=3 last_used=2\n",
                "1:52: the lifetime ends before it begins");
  ExpectRefused("0 (id=x): size=1, offset=0, first_used=3 last_used=2\n",
                "1:7: expected a number from 0 to 2^60");
  ExpectRefused("0 (id=0): size=1, offset=-2, first_used=3 last_used=2\n",
                "1:26: expected a number from -1 to 2^60");
  ExpectRefused("0 (id=0): size=0, offset=0, first_used=0 last_used=0\n",
                " a memory plan that TensorFlow Lite Micro printed without any buffer");
}

constexpr std::string_view kVela =
    "Warning: No memory mode specified.\n"
    "\n"
    "################\n"
    "Allocation, memory Sram, usage mask: FeatureMap|Staging\n"
    "Start Time - End Time  : Start Addr -   End Addr: Tensor Size: Memory Usage: Format : Name\n"
    "         0 -          1:       0x60 -       0xa0:          64:          160: NHWC   : in\n"
    "         0 -          3:        0x0 -       0x60:          96:          160: NHWC   : a:b;c\n"
    "         0 -          3:        0x0 -       0x60:          96:          160: NHWC   : view\n"
    "         2 -          4:       0x60 -       0x70:          16:          112: NHWC   : out\n"
    "Allocation Peak Tensor Size: 160 bytes == 0.15 KiB\n"
    "################\n"
    "Tensor Allocation for read-only NPU tensors:\n"
    "Start Time - End Time  : Start Addr -   End Addr: Tensor Size: Memory Usage: Format : Name\n"
    "         0 -          1:        0x0 -       0x10:          16:           16: NHWC   : w\n"
    "         2 -          3:       0x10 -       0x20:          16:           16: NHWC   : v\n"
    "\n"
    "Network summary for model\n"
    "Total SRAM used 0.16 KiB\n";

TEST(VelaTest, HasAProblemForEachMemory) {
  EXPECT_EQ(FormatOfRecorded(kVela), RecordedFormat::kVela);
  const RecordedFile file = Read(kVela);
  EXPECT_EQ(file.maker, "Vela");
  ASSERT_EQ(file.problems.size(), 2u);
  const RecordedProblem& sram = file.problems[0];
  EXPECT_EQ(sram.name, "Sram");
  // Both names of one place are one buffer.
  EXPECT_EQ(
      sram.problem.buffers,
      (std::vector<Buffer>{{"in", 0, 2, 64, 16}, {"a:b;c", 0, 4, 96, 16}, {"out", 2, 5, 16, 16}}));
  EXPECT_EQ(sram.offsets, (std::vector<Bytes>{96, 0, 96}));
  EXPECT_EQ(sram.height, 160);
  const RecordedProblem& constants = file.problems[1];
  EXPECT_EQ(constants.name, "read-only NPU tensors");
  EXPECT_EQ(MaxLiveLoad(constants.problem).load, 32) << "constants are there throughout";
  EXPECT_EQ(constants.notes.size(), 1u);
}

TEST(VelaTest, OtherVersionsHaveOtherColumns) {
  const RecordedFile file = Read(
      "\nTensor Allocation for mem_area Sram, of mem_type_set (Scratch), using allocator "
      "HillClimb, "
      "in Npu subgraph:\n"
      "Start Time -   End Time: Start Addr -   End Addr: Tensor Size: Memory Usage: Purpose     : "
      "Format            : Name\n"
      "         0 -          1:        0x0 -       0x40:          64:           64: FeatureMap  : "
      "NHWC              : x: y\n");
  ASSERT_EQ(file.problems.size(), 1u);
  EXPECT_EQ(file.problems[0].name, "mem_area Sram, of mem_type_set (Scratch)");
  EXPECT_EQ(file.problems[0].problem.buffers, (std::vector<Buffer>{{"x: y", 0, 2, 64, 16}}));
}

TEST(GlowTest, NamesAreTextWhateverTheBytes) {
  const RecordedFile file = Read("MODEL m\xff\nALLOC \xfe 4\n");
  ASSERT_EQ(file.problems.size(), 1u);
  EXPECT_EQ(file.problems[0].name, "m\\xff");
  EXPECT_EQ(file.problems[0].problem.buffers.at(0).id, "\\xfe");
}

// A serial console may garble some of them.
TEST(VelaTest, NamesAreTextWhateverTheBytes) {
  std::string text(kVela);
  text.replace(text.find("memory Sram"), 11, "memory Sr\xff");
  text.replace(text.find("a:b;c"), 5, "a:\xfe;c");
  const RecordedFile file = Read(text);
  ASSERT_EQ(file.problems.size(), 2u);
  EXPECT_EQ(file.problems[0].name, "Sr\\xff");
  EXPECT_EQ(file.problems[0].problem.buffers[1].id, "a:\\xfe;c");
}

TEST(VelaTest, LoggersPutWordsBeforeLines) {
  const std::string text(kVela);
  std::string logged;
  for (std::size_t at = 0, line = 0; at < text.size(); ++line) {
    const std::size_t end = text.find('\n', at) + 1;
    logged += "[10:0" + std::to_string(7 + line) + " 0x1f info] " + text.substr(at, end - at);
    at = end;
  }
  EXPECT_EQ(FormatOfRecorded(logged), RecordedFormat::kVela);
  EXPECT_EQ(Read(logged), Read(kVela));
}

TEST(VelaTest, ATableWithoutATitleHasNoOthersName) {
  const std::string table =
      "Start Time - End Time : Start Addr - End Addr: Tensor Size: Memory Usage: Name\n"
      " 0 - 1 : 0x0 - 0x1e : 30 : 30 : E\n";
  const std::string peak = "Allocation Peak Tensor Size: 30 bytes == 0.03 KiB\n";
  const RecordedFile file = Read("Allocation, memory Sram\n" + table + table + peak + table +
                                 "Allocation, memory Dram\n" + table);
  ASSERT_EQ(file.problems.size(), 4u);
  EXPECT_EQ(file.problems[0].name, "Sram");
  EXPECT_EQ(file.problems[1].name, "memory");
  EXPECT_EQ(file.problems[2].name, "memory#2");
  EXPECT_EQ(file.problems[3].name, "Dram");
}

TEST(VelaTest, FaultsAreNamed) {
  const std::string header = "Start Time - End Time: Start Addr - End Addr: Size: Usage: Name\n";
  ExpectRefused(header + "3 - 2: 0x0 - 0x1: 1: 1: a\n", "2:1: the lifetime ends before it begins");
  ExpectRefused(header + "1 - 2: 0x2 - 0x1: 1: 1: a\n", "2:1: the addresses end before they begin");
  ExpectRefused(header + "1 - 2: 0x0 - 0xg: 1: 1: a\n",
                "2:14: expected a number from 0 to " + std::to_string(kMaxBytes - 1));
  ExpectRefused(header + "1 - 2: 0x0 - 0x1: 1\n", "2:18: expected \":\" and the tensor's name");
  ExpectRefused(header, " an allocation that Vela printed without any buffer");
}

TEST(RecordedTest, OtherFilesAreNone) {
  for (const std::string text :
       {"", "id,lower,upper,size\na,0,1,2\n", "{\"Start Time\": \"(id=0): size=1 first_used=\"}",
        "event,id,size\n", "BufferAssignment:\n"}) {
    EXPECT_EQ(FormatOfRecorded(text), std::nullopt) << text;
    EXPECT_FALSE(ReadRecorded(text, "log").has_value()) << text;
  }
}

// Some editors put it before any text that they save.
TEST(RecordedTest, AByteOrderMarkIsPassedOver) {
  const std::string mark = "\xef\xbb\xbf";
  EXPECT_EQ(FormatOfRecorded(mark + "# x\n\nMODEL m\n"), RecordedFormat::kGlow);
  for (const std::string_view text : {kGlow, kTflm, kVela}) {
    const auto marked = ReadRecorded(mark + std::string(text), "log");
    ASSERT_TRUE(marked) << marked.error().message;
    EXPECT_EQ(marked->problems, ReadRecorded(text, "log")->problems);
  }
  const std::string graph = "{\"Start Time\": \"(id=0): size=1 first_used=\"}";
  EXPECT_EQ(FormatOfRecorded(mark + graph), std::nullopt);
}

// Any text that begins as one of these: a problem that is valid, or an error in one line.
TEST(RecordedTest, CutTextsAreReadOrRefused) {
  for (const std::string_view text : {kGlow, kTflm, kVela}) {
    for (std::size_t size = 0; size <= text.size(); ++size) {
      const auto file = ReadRecorded(text.substr(0, size), "log");
      if (!file) {
        EXPECT_EQ(file.error().message.find('\n'), std::string::npos);
        continue;
      }
      for (const RecordedProblem& each : file->problems) EXPECT_TRUE(Validate(each.problem));
    }
  }
}

}  // namespace
}  // namespace berth
