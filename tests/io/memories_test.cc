// Memories and buffers for them as files and on command lines.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "berth/io.h"
#include "berth/memory_io.h"
#include "testing/memories_oracle.h"

namespace berth {
namespace {

Memory Named(std::string name, std::optional<Bytes> capacity = {}) {
  Memory memory;
  memory.name = std::move(name);
  memory.capacity = capacity;
  return memory;
}

TEST(ParseMemoryTest, ReadsEveryForm) {
  EXPECT_EQ(ParseMemory("m").value(), Named("m"));
  EXPECT_EQ(ParseMemory("m=64kB").value(), Named("m", 64000));
  Memory sram = Named("sram", 512 * 1024);
  sram.read = sram.write = {1'000'000'000, 8'000'000'000};
  EXPECT_EQ(ParseMemory("sram=512KiB@8GB/s").value(), sram);
  Memory psram = Named("psram");
  psram.read = psram.write = {1'000'000'000, 40'000'000};
  EXPECT_EQ(ParseMemory("psram@40MB/s").value(), psram);
  Memory flash = Named("flash", 2 << 20);
  flash.read = {1'000'000'000, 200'000'000};
  EXPECT_EQ(ParseMemory("flash=2MiB@read:0.2GB/s").value(), flash);
  flash.write = {1'000'000'000, 1'000'000};
  EXPECT_EQ(ParseMemory("flash=2MiB@read:200MB/s,write:1MB/s").value(), flash);
  EXPECT_EQ(ParseMemory("flash=2MiB@write:1MB/s,read:200MB/s").value(), flash);
}

TEST(ParseMemoryTest, RefusesEverythingElse) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "\"\" has no name"},
      {"=4KiB", "\"=4KiB\" has no name"},
      {"m=", "the capacity \"\" of \"m=\" is not a size"},
      {"m=4 apples", "the capacity \"4 apples\""},
      {"m=-1", "the capacity \"-1\""},
      {"m=9999999TiB", "the capacity \"9999999TiB\""},
      {"m@", "the bandwidth \"\" of \"m@\" is not of the form"},
      {"m@8GB", "the bandwidth \"8GB\""},
      {"m@0/s", "the bandwidth \"0/s\""},
      {"m@8GB/s,", "the bandwidth \"8GB/s,\""},
      {"m@8GB/s,read:1GB/s", "is given twice for reading"},
      {"m@write:8GB/s,write:1GB/s", "is given twice for writing"},
      {"m@up:8GB/s", "the bandwidth \"up:8GB/s\""},
      {"\xff", "is not in UTF-8"},
  };
  for (const auto& [text, fault] : cases) {
    const auto memory = ParseMemory(text);
    ASSERT_FALSE(memory.has_value()) << text;
    EXPECT_EQ(memory.error().code, ErrorCode::kInvalidOptions);
    EXPECT_NE(memory.error().message.find(fault), std::string::npos) << memory.error().message;
  }
}

TEST(FormatCostTest, RoundsToThreeDigits) {
  EXPECT_EQ(FormatCost(0, "ns"), "0 ns");
  EXPECT_EQ(FormatCost(999, "ns"), "999 ns");
  EXPECT_EQ(FormatCost(1000, "ns"), "1.00 us");
  EXPECT_EQ(FormatCost(1'234'567, "ns"), "1.23 ms");
  EXPECT_EQ(FormatCost(12'345'678, "ns"), "12.3 ms");
  EXPECT_EQ(FormatCost(123'456'789, "ns"), "123 ms");
  EXPECT_EQ(FormatCost(kMaxCost, "ns"), "1,152,921,505 s");
  EXPECT_EQ(FormatCost(1'234'567, "us"), "1.23 s");
  EXPECT_EQ(FormatCost(1'234'567, "pJ"), "1,234,567 pJ");
  EXPECT_EQ(FormatCost(5000, ""), "5,000");
  EXPECT_EQ(FormatCostExactly(1'234'567, "ns"), "1.23 ms (1,234,567 ns)");
  EXPECT_EQ(FormatCostExactly(12, "ns"), "12 ns");
}

// As a table can say it: groups and pairs in the order of the buffers.
MemoryProblem Ordered(MemoryProblem problem) {
  for (auto& group : problem.together) {
    std::sort(group.begin(), group.end(),
              [](const Member& a, const Member& b) { return a.buffer < b.buffer; });
  }
  std::sort(problem.together.begin(), problem.together.end(),
            [](const auto& a, const auto& b) { return a.front().buffer < b.front().buffer; });
  for (Apart& apart : problem.apart) {
    if (apart.first > apart.second) std::swap(apart.first, apart.second);
  }
  std::sort(problem.apart.begin(), problem.apart.end(), [](const Apart& a, const Apart& b) {
    return std::tuple(a.first, a.second, a.different_memories) <
           std::tuple(b.first, b.second, b.different_memories);
  });
  problem.apart.erase(std::unique(problem.apart.begin(), problem.apart.end()), problem.apart.end());
  const bool any = std::any_of(problem.placing.begin(), problem.placing.end(),
                               [](const Placing& each) { return each != Placing(); });
  if (!any) problem.placing.clear();
  return problem;
}

// A random problem under names that are hard to read.
MemoryProblem RandomProblem(std::uint64_t seed) {
  MemoryProblem problem = internal::RandomMemoryProblem(seed);
  const char* const names[] = {"tcm", "a b=c@d'e", "\"x\",\n\t"};
  for (std::size_t m = 0; m < problem.memories.size(); ++m) problem.memories[m].name = names[m];
  if (seed % 2 == 0) problem.memories.front().base = Bytes{2520} << 16;
  return problem;
}

TEST(MemoryFilesTest, WhatIsWrittenReadsBackEqual) {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    SCOPED_TRACE(seed);
    const MemoryProblem problem = RandomProblem(seed);
    ASSERT_TRUE(Validate(problem).has_value());
    const std::string json = WriteMemoriesJson(problem, "pJ");
    const auto from_json = ReadMemoriesJson(json, "m.json");
    ASSERT_TRUE(from_json.has_value()) << from_json.error().message << "\n" << json;
    EXPECT_EQ(from_json->cost_unit, "pJ");
    EXPECT_TRUE(from_json->has_buffers);
    MemoryProblem normal = problem;
    if (Ordered(problem).placing.empty()) normal.placing.clear();
    EXPECT_EQ(from_json->problem, normal) << json;

    const std::string csv = WriteMemoriesCsv(problem);
    const auto from_csv = ReadMemoriesCsv(csv, "m.csv", problem.memories);
    ASSERT_TRUE(from_csv.has_value()) << from_csv.error().message << "\n" << csv;
    EXPECT_EQ(from_csv->problem, Ordered(problem)) << csv;
    EXPECT_EQ(from_csv->lines.size(), problem.table.buffers.size());
  }
}

TEST(MemoryFilesTest, PlansReadBackEqual) {
  int left_out = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    const MemoryProblem problem = RandomProblem(seed);
    Budget budget;
    const auto answer = PlaceInMemories(problem, {}, budget);
    ASSERT_TRUE(answer.has_value());
    if (!answer->best) continue;
    left_out += answer->best->residencies.size() < problem.table.buffers.size() ? 1 : 0;
    const std::string csv = WriteMemoriesCsv(problem, &*answer->best);
    const auto from_csv = ReadPlanFor(problem, csv, "plan.csv");
    ASSERT_TRUE(from_csv.has_value()) << from_csv.error().message << "\n" << csv;
    EXPECT_EQ(*from_csv, *answer->best);
    const std::string json = WritePlanJson(problem, *answer, {});
    const auto from_json = ReadPlanFor(problem, json, "plan.json");
    ASSERT_TRUE(from_json.has_value()) << from_json.error().message << "\n" << json;
    EXPECT_EQ(*from_json, *answer->best);
    EXPECT_EQ(PlanOf(problem, answer->best->residencies), *answer->best);
    // The memories of the plan are those of the problem.
    const auto memories = ReadMemoriesJson(json, "plan.json");
    ASSERT_TRUE(memories.has_value()) << memories.error().message;
    EXPECT_EQ(memories->problem.memories, problem.memories);
    EXPECT_FALSE(memories->has_buffers);
    // Read as a problem, the plan leaves no choice.
    const auto fixed = ReadMemoriesCsv(csv, "plan.csv", problem.memories);
    ASSERT_TRUE(fixed.has_value()) << fixed.error().message << "\n" << csv;
    EXPECT_TRUE(ValidatePlan(fixed->problem, *answer->best).has_value());
  }
  EXPECT_GT(left_out, 20);
}

std::string Board(const std::string& memory) {
  return "{\n\"format\": \"berth-memories\",\n\"format_version\": 1,\n\"memories\": [\n" + memory +
         "\n]}";
}
std::string WithBuffers(const std::string& rest) {
  return "{\"format\": \"berth-memories\", \"format_version\": 1,\n\"memories\": [{\"name\": "
         "\"m\"}],\n" +
         rest + "}";
}

TEST(MemoryFilesTest, FaultsInJsonAreNamedWithTheirPlace) {
  const std::string a = R"({"id": "a", "start": 0, "end": 1, "size": 4)";
  const std::pair<std::string, std::string> cases[] = {
      {"", "b.json:1:1: the JSON ends in the middle"},
      {"[]", "b.json:1:1: a list where an object should be"},
      {"{\n  \"format\": \"berth-graph\"}",
       "b.json:2:13: not a file of memories: \"format\" is \"berth-graph\" where it should be "
       "\"berth-memories\""},
      {"{\"format\": \"berth-memories\", \"format_version\": 2}",
       "b.json:1:48: \"format_version\" is 2, but this reader knows version 1"},
      {"{\"format\": \"berth-memories\", \"format_version\": 1}",
       "b.json:1:1: \"memories\" is missing"},
      {Board(""), "b.json:4:13: \"memories\" is empty"},
      {Board("{}"), "b.json:5:1: memory number 1: \"name\" is missing"},
      {Board("{\"name\": 7}"),
       "b.json:5:10: memory number 1: \"name\" is 7 where it should be text"},
      {Board("{\"name\": \"\"}"), "b.json:5:1: a memory has no name"},
      {Board("{\"name\": \"m\",\n  \"capcity\": 7}"),
       "b.json:6:3: memory \"m\": the key \"capcity\" is unknown; known are name, capacity, base, "
       "alignment, reserved, read, write, access"},
      {Board("{\"name\": \"m\",\n  \"name\": \"n\"}"),
       "b.json:6:3: the key \"name\" comes twice in an object"},
      {Board("{\"name\": \"m\", \"capacity\": \"lots\"}"),
       "b.json:5:27: memory \"m\": \"capacity\" is \"lots\" where it should be a size such as "
       "65536 or \"64KiB\""},
      {Board("{\"name\": \"m\", \"capacity\": -1\n}"),
       "b.json:5:27: memory \"m\": \"capacity\" is -1 where it should be a whole number from 0 to "
       "2^60"},
      {Board("{\"name\": \"m\", \"capacity\": 1.5}"),
       "b.json:5:27: memory \"m\": \"capacity\" is 1.5 where it should be a whole number from 0 to "
       "2^60"},
      {Board("{\"name\": \"m\", \"capacity\": 99999999999999999999}"),
       "b.json:5:27: memory \"m\": \"capacity\" is 99999999999999999999 where it should be a whole "
       "number from 0 to 2^60"},
      {Board("{\"name\": \"m\", \"base\": \"0x\"}"),
       "b.json:5:23: memory \"m\": \"base\" is \"0x\" where it should be an address such as "
       "\"0x20000000\", up to 2^60"},
      {Board("{\"name\": \"m\", \"base\": 4, \"alignment\": 8}"),
       "b.json:5:1: memory \"m\": base is 4 but must be a multiple of the alignment, 8, and the "
       "memory must end at 2^60 at most"},
      {Board("{\"name\": \"m\", \"read\": \"8GB\"}"),
       "b.json:5:23: memory \"m\": \"read\" is \"8GB\" where it should be a bandwidth such as "
       "\"8GB/s\""},
      {Board("{\"name\": \"m\", \"read\": {\"cost\": 1, \"bytes\": 0}}"),
       "b.json:5:1: memory \"m\": a cost of 1 for every 0 bytes is none: the cost must be from 0 "
       "to 2^60, the bytes from 1 to 2^60"},
      {Board("{\"name\": \"m\"},\n{\"name\": \"m\"}"),
       "b.json:6:1: two memories have the name \"m\""},
      {Board("{\"name\": \"m\", \"capacity\": 8, \"reserved\": [{\"lower\": 4, \"upper\": 9}]}"),
       "b.json:5:1: memory \"m\": reserved range [4, 9) exceeds the capacity 8"},
      {"{\"format\": \"berth-memories\", \"format_version\": 1, \"cost_unit\": \"pJ\",\n"
       "\"memories\": [{\"name\": \"m\", \"read\": \"8GB/s\"}]}",
       "b.json:2:36: memory \"m\": \"read\" is a bandwidth, but the unit of costs, \"pJ\", is none "
       "of time (ps, ns, us, ms, s)"},
      {WithBuffers("\"apart\": []"), "b.json:3:10: \"apart\" without \"buffers\""},
      {WithBuffers("\"buffers\": [" + a + "}, " + a + "}]"),
       "b.json:3:59: two buffers have the id \"a\""},
      {WithBuffers("\"buffers\": [" + a + ", \"memories\": [\"x\"]}]"),
       "b.json:3:71: buffer \"a\": one of its memories: there is no memory \"x\""},
      {WithBuffers("\"buffers\": [" + a + ", \"memories\": []}]"),
       "b.json:3:70: buffer \"a\": \"memories\" is empty; leave it out to allow all"},
      {WithBuffers("\"buffers\": [" + a + ", \"previous\": {\"memory\": \"m\"}}]"),
       "b.json:3:70: buffer \"a\": \"previous\": \"offset\" is missing"},
      {WithBuffers("\"buffers\": [\n" + a + ", \"alignment\": 0}]"),
       "b.json:4:1: buffer \"a\": alignment is 0 but must be from 1 to 2^60"},
      {WithBuffers("\"buffers\": [" + a + "}], \"together\": [[\"a\", \"b\"]]"),
       "b.json:3:79: a group of \"together\": there is no buffer \"b\""},
      {WithBuffers("\"buffers\": [" + a + "}], \"apart\": [{\"first\": \"a\", \"second\": \"a\"}]"),
       "b.json:1:1: buffers 0 and 0 of 1 cannot be apart"},
  };
  for (const auto& [text, message] : cases) {
    const auto file = ReadMemoriesJson(text, "b.json");
    ASSERT_FALSE(file.has_value()) << text;
    EXPECT_EQ(file.error().message, message) << text;
  }
}

TEST(MemoryFilesTest, DeepNestingIsRefused) {
  const std::string deep(1'000'000, '[');
  const auto file = ReadMemoriesJson(Board(deep), "b.json");
  ASSERT_FALSE(file.has_value());
  EXPECT_EQ(file.error().message,
            "b.json:5:63: lists and objects are nested deeper than 64 levels");
}

TEST(MemoryFilesTest, FaultsInTablesAreNamedWithTheirPlace) {
  const std::vector<Memory> memories = {Named("tcm", 64), Named("dram")};
  const std::pair<const char*, const char*> cases[] = {
      {"memories\na,0,1,4,x",
       "t.csv:2:9: buffer \"a\": there is no memory \"x\"; there are "
       "\"tcm\", \"dram\""},
      {"memories\na,0,1,4,tcm dram=",
       "t.csv:2:13: buffer \"a\": \"dram=\" is not of the form NAME, "
       "NAME=COST or NAME@OFFSET=COST with numbers from 0 to 2^60"},
      {"memories\na,0,1,4,tcm=-1",
       "t.csv:2:9: buffer \"a\": \"tcm=-1\" is not of the form NAME, "
       "NAME=COST or NAME@OFFSET=COST with numbers from 0 to 2^60"},
      {"memories\na,0,1,4,'tcm", "t.csv:2:9: the quote in \"'tcm\" is never closed"},
      {"memories\na,0,1,4,tcm tcm",
       "t.csv:2:1: buffer \"a\": candidate memory \"tcm\" is given "
       "twice"},
      {"bytes_read\na,0,1,4,-3", "t.csv:2:9: buffer \"a\": bytes_read -3 must be from 0 to 2^60"},
      {"accesses\na,0,1,4,many", "t.csv:2:9: accesses \"many\" is not a whole number"},
      {"benefit\na,0,1,4,2000000000000000000",
       "t.csv:2:9: buffer \"a\": benefit 2000000000000000000 must be from 0 to 2^60"},
      {"previous_memory\na,0,1,4,tcm",
       "t.csv:2:1: buffer \"a\": a previous place needs both previous_memory and previous_offset"},
      {"distance\na,0,1,4,3",
       "t.csv:2:9: buffer \"a\": it has a distance, but no group in the column together"},
      {"apart\na,0,1,4,x x", "t.csv:2:11: buffer \"a\": the word \"x\" comes twice"},
      {"memory,memories\na,0,1,4,dram,tcm",
       "t.csv:2:9: buffer \"a\": it may not be in memory \"dram\", by its column memories"},
      {"cost_left_out,benefit\na,0,1,4,,",
       "t.csv:1:35: the column \"benefit\" means the same as \"cost_left_out\""},
      {"bank\na,0,1,4,",
       "t.csv:1:21: the column \"bank\" is unknown; known are id, lower, upper, "
       "size, alignment, hint, gaps, offset, memory, memories, bytes_read, "
       "bytes_written, accesses, cost_left_out, previous_memory, "
       "previous_offset, move_cost, together, distance, apart and "
       "apart_memories"},
  };
  for (const auto& [text, message] : cases) {
    const auto file =
        ReadMemoriesCsv("id,lower,upper,size," + std::string(text), "t.csv", memories);
    ASSERT_FALSE(file.has_value()) << text;
    EXPECT_EQ(file.error().message, message) << text;
  }
  // Without memories, their columns are an error of their own.
  const auto table = ReadCsv("id,lower,upper,size,apart\na,0,1,4,x\n", "t.csv");
  ASSERT_FALSE(table.has_value());
  EXPECT_EQ(table.error().message,
            "t.csv:1:21: the column \"apart\" is of tables for several memories, and none are "
            "given");
}

TEST(MemoryFilesTest, TooManyPairsAreRefused) {
  std::string text = "id,lower,upper,size,apart\n";
  for (int b = 0; b < 2000; ++b) text += std::to_string(b) + ",0,1,4,x\n";
  const auto file = ReadMemoriesCsv(text, "t.csv", {Named("m")});
  ASSERT_FALSE(file.has_value());
  EXPECT_NE(file.error().message.find("more than 1,048,576 pairs of buffers are apart"),
            std::string::npos)
      << file.error().message;
}

TEST(MemoryFilesTest, ListsThatTakeLongToCheckAreRefused) {
  std::string places;
  std::string reserved;
  for (int i = 0; i < 5000; ++i) {
    places += " m@" + std::to_string(i);
    reserved += std::string(i == 0 ? "" : ", ") + "{\"lower\": " + std::to_string(i) +
                ", \"upper\": " + std::to_string(i + 1) + "}";
  }
  const auto csv =
      ReadMemoriesCsv("id,lower,upper,size,memories\na,0,1,4," + places + "\n", "t", {Named("m")});
  ASSERT_FALSE(csv.has_value());
  EXPECT_NE(csv.error().message.find("it may be in more than 1,024 places"), std::string::npos)
      << csv.error().message;
  const auto json =
      ReadMemoriesJson(Board("{\"name\": \"m\", \"reserved\": [" + reserved + "]}"), "b");
  ASSERT_FALSE(json.has_value());
  EXPECT_NE(json.error().message.find("\"reserved\" has more than 4,096 items"), std::string::npos)
      << json.error().message;
}

TEST(MemoryFilesTest, CostsFollowFromUses) {
  Memory slow = Named("slow");
  slow.read = {10, 3};
  slow.write = {1, 1};
  slow.access = 7;
  const auto file = ReadMemoriesCsv(
      "id,lower,upper,size,memories,bytes_read,bytes_written,accesses\n"
      "a,0,1,4,slow slow@8,4,5,2\n",
      "t.csv", {slow});
  ASSERT_TRUE(file.has_value()) << file.error().message;
  // ceil(40 / 3) + 5 + 14.
  EXPECT_EQ(file->problem.placing.at(0).candidates,
            (std::vector<Candidate>{{0, 33, {}}, {0, 33, 8}}));
  EXPECT_TRUE(file->has_costs);

  auto plain = ReadMemoriesCsv("id,lower,upper,size\na,0,1,4\n", "t.csv", {slow});
  ASSERT_TRUE(plain.has_value());
  EXPECT_FALSE(plain->has_costs);
  EXPECT_TRUE(plain->problem.placing.empty());
  AssumeUses(plain->problem);
  EXPECT_EQ(CostOfUses(plain->problem.placing.at(0), slow), 14 + 4);
}

TEST(MemoryFilesTest, FaultsOfPlansAreNamed) {
  MemoryProblem problem;
  problem.table.buffers = {{"a", 0, 2, 4}, {"b", 1, 3, 4}};
  problem.memories = {Named("tcm", 4), Named("dram")};
  const std::string head = "id,memory,offset\n";
  const std::pair<std::string, std::string> cases[] = {
      {"id,offset\na,0\n",
       "p:1:1: the column memory is missing; the header holds \"id\", \"offset\""},
      {head + "x,tcm,0\n", "p:2:1: the problem has no buffer \"x\""},
      {head + "a,flash,0\n", "p:2:3: the problem has no memory \"flash\""},
      {head + "a,tcm,\n", "p:2:3: buffer \"a\" has a memory but no offset"},
      {head + "a,,0\n", "p:2:3: buffer \"a\" has an offset but no memory"},
      {head + "a,tcm,0\na,dram,0\n", "p:3:1: buffer \"a\" comes twice"},
      {head + "a,,\na,dram,0\n", "p:3:1: buffer \"a\" comes twice"},
      {head + "a,tcm,-4\n", "p:2:7: buffer \"a\": offset -4 must be from 0 to 2^60"},
      {"{}", "p:1:1: not a plan: \"format\" is missing where it should be \"berth-plan\""},
      {"{\"format\": \"berth-plan\", \"format_version\": 2, \"residencies\": null}",
       "p:1:62: the search that wrote this found no plan"},
      {"{\"format\": \"berth-plan\", \"format_version\": 2, \"residencies\": [\n{\"id\": \"a\", "
       "\"start\": 0, \"end\": 2, \"size\": 5, \"offset\": 0, \"memory\": \"tcm\"}]}",
       "p:2:1: buffer \"a\": the plan is of one with the size 5, not 4"},
      {"{\"format\": \"berth-plan\", \"format_version\": 2, \"residencies\": [\n{\"id\": \"a\", "
       "\"memory\": 0}]}",
       "p:2:23: \"memory\" is 0 where it should be text"},
  };
  for (const auto& [text, message] : cases) {
    const auto plan = ReadPlanFor(problem, text, "p");
    ASSERT_FALSE(plan.has_value()) << text;
    EXPECT_EQ(plan.error().message, message) << text;
  }
  const auto partial = ReadPlanFor(problem, head + "b,tcm,0\na,,\n", "p");
  ASSERT_TRUE(partial.has_value()) << partial.error().message;
  EXPECT_EQ(partial->cost.unplaced, 1u);
  EXPECT_EQ(partial->memories.at(0).height, 4);
  // A file keeps its own figures, right or wrong.
  const auto stated = ReadPlanFor(
      problem,
      "{\"format\": \"berth-plan\", \"format_version\": 2, \"cost\": 99, \"memories\": [{\"name\": "
      "\"tcm\", \"height\": 77}], \"residencies\": []}",
      "p");
  ASSERT_TRUE(stated.has_value()) << stated.error().message;
  EXPECT_EQ(stated->cost.cost, 99);
  EXPECT_EQ(stated->memories.at(0).height, 77);
}

TEST(MemoryFilesTest, BoardsOfTheExamplesAreRead) {
  int boards = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(BERTH_SOURCE_DIR "/examples/boards")) {
    const std::string path = entry.path().string();
    const auto board = ReadMemoriesJson(ReadFile(path).value(), path);
    ASSERT_TRUE(board.has_value()) << board.error().message;
    EXPECT_FALSE(board->has_buffers);
    EXPECT_GE(board->problem.memories.size(), 2u);
    for (const Memory& memory : board->problem.memories) EXPECT_GT(memory.read.cost, 0);
    ++boards;
  }
  EXPECT_GE(boards, 2);
}

TEST(MemoryFilesTest, PublishedTablesAreReadAsBefore) {
  const char* const data = std::getenv("BERTH_DATA");
  if (data == nullptr) GTEST_SKIP() << "BERTH_DATA names no folder with published tables";
  int tables = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(data) + "/buffers/models")) {
    if (entry.path().extension() != ".csv") continue;
    SCOPED_TRACE(entry.path());
    const std::string text = ReadFile(entry.path().string()).value();
    const auto table = ReadCsv(text, "t");
    const auto file = ReadMemoriesCsv(text, "t", {Named("m")});
    ASSERT_EQ(table.has_value(), file.has_value());
    if (!table) continue;
    EXPECT_EQ(file->problem.table, table->problem);
    EXPECT_FALSE(file->has_costs);
    ++tables;
  }
  EXPECT_GT(tables, 0);
}

}  // namespace
}  // namespace berth
