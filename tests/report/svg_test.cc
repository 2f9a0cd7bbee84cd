#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "berth/report.h"
#include "tests/report/svg_checks.h"
#include "tools/generate/generate.h"

namespace berth::internal {
namespace {

Buffer MakeBuffer(const std::string& id, Step start, Step end, Bytes size) {
  Buffer buffer;
  buffer.id = id;
  buffer.start = start;
  buffer.end = end;
  buffer.size = size;
  return buffer;
}

struct Plan {
  Problem problem;
  Placement placement;
  Bytes lower_bound = 0;
};

// A buffer around another, ids with every kind of hostile text, spare capacity.
Plan SmallPlan() {
  Plan plan;
  plan.problem.capacity = 32 << 10;
  plan.problem.buffers = {
      MakeBuffer("input", 0, 4, 6 << 10),
      MakeBuffer("conv1 \"weights\" & <b>", 0, 10, 4 << 10),
      MakeBuffer("attention.cache", 2, 12, 12 << 10),
      MakeBuffer("scratch", 5, 9, 8 << 10),
      MakeBuffer("gradient</script>", 4, 7, 5 << 10),
      MakeBuffer("\xff bad\x01", 8, 12, 3 << 10),
  };
  plan.problem.buffers[2].gaps = {Gap{5, 9, Window{0, 4 << 10}}};
  plan.problem.buffers[3].alignment = 1024;
  plan.placement = {{16 << 10, 0, 4 << 10, 8 << 10, 16 << 10, 16 << 10}, 22 << 10};
  plan.lower_bound = 22 << 10;
  return plan;
}

std::string Draw(const Plan& plan, const SvgOptions& options = {}) {
  return WriteSvg(plan.problem, plan.placement, plan.lower_bound, options);
}

Plan GeneratedPlan(std::int64_t buffers, int gaps_percent) {
  GenerateParameters parameters;
  parameters.buffers = buffers;
  parameters.gaps_percent = gaps_percent;
  parameters.slack_percent = 10;
  const auto generated = Generate(Family::kPlanted, parameters);
  return {generated->problem, *generated->plan, generated->plan->height};
}

std::size_t Count(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST(SvgTest, DrawsASmallPlanAsBefore) { ExpectGolden("svg_small.svg", Draw(SmallPlan())); }

TEST(SvgTest, DrawsAFullPlanAsBefore) {
  SvgOptions options;
  options.title = "60 buffers";
  options.width = 800;
  options.height = 500;
  ExpectGolden("svg_planted.svg", Draw(GeneratedPlan(60, 20), options));
}

TEST(SvgTest, IsWellFormedWithAnyId) {
  const Plan plan = SmallPlan();
  const std::string svg = Draw(plan);
  ExpectWellFormed(svg);
  EXPECT_EQ(svg.find("</script>"), std::string::npos);
  EXPECT_NE(svg.find("gradient&lt;/script&gt;"), std::string::npos);
  EXPECT_NE(svg.find("\ufffd bad\u2401"), std::string::npos);
  SvgOptions options;
  options.title = "<title> & \"more\"\n";
  ExpectWellFormed(Draw(plan, options));
}

TEST(SvgTest, IsWellFormedAtEverySize) {
  ExpectWellFormed(Draw(Plan{}));
  Plan one;
  one.problem.buffers = {MakeBuffer("a", -kMaxStep, kMaxStep, kMaxBytes)};
  one.placement = {{0}, kMaxBytes};
  one.lower_bound = kMaxBytes;
  one.problem.capacity = kMaxBytes;
  ExpectWellFormed(Draw(one));
  for (const int size : {-1, 0, 200, 300, 600, 5000}) {
    SvgOptions options;
    options.width = size;
    options.height = size;
    ExpectWellFormed(Draw(SmallPlan(), options));
  }
}

TEST(SvgTest, DescribesEachBuffer) {
  const std::string svg = Draw(SmallPlan());
  EXPECT_NE(svg.find("<title>scratch\n8 KiB (8,192 bytes)\nsteps [5, 9)\nbytes [8,192, 16,384)\n"
                     "aligned to 1,024</title>"),
            std::string::npos);
  EXPECT_NE(svg.find(">attention.cache</text>"), std::string::npos);
}

// The buffer with a window is one outline with a notch, not three boxes: eight corners.
TEST(SvgTest, DrawsAWindowAsOneOutline) {
  const std::string svg = Draw(SmallPlan());
  const std::size_t title = svg.find("<title>attention.cache");
  const std::string path = svg.substr(svg.rfind("d=\"M", title), title);
  const std::string commands = path.substr(0, path.find('z') + 1);
  EXPECT_EQ(std::count(commands.begin(), commands.end(), 'h'), 3) << commands;
  EXPECT_EQ(std::count(commands.begin(), commands.end(), 'v'), 4) << commands;
  Plan plan = SmallPlan();
  plan.problem.buffers[2].gaps[0].window.reset();
  const std::string two_boxes = Draw(plan);
  EXPECT_EQ(Count(two_boxes, "<title>attention.cache"), 2U);
}

TEST(SvgTest, MarksThePeak) {
  EXPECT_NE(Draw(SmallPlan()).find("peak load 22 KiB at steps [2, 4)"), std::string::npos);
}

std::vector<double> LabelHeights(const std::string& svg) {
  std::vector<double> heights;
  for (std::size_t at = svg.find("class=\"name "); at != std::string::npos;
       at = svg.find("class=\"name ", at + 1)) {
    heights.push_back(std::stod(svg.substr(svg.rfind("y=\"", at) + 3)));
  }
  return heights;
}

TEST(SvgTest, LabelsOfLinesNeverOverlap) {
  Plan plan = SmallPlan();
  // From all three labels on one line to all three at the bottom of a high picture.
  for (const Bytes capacity : {Bytes{22} << 10, Bytes{23} << 10, Bytes{30} << 10, Bytes{1} << 40}) {
    for (const Bytes bound : {Bytes{0}, Bytes{1}, Bytes{21} << 10, Bytes{22} << 10}) {
      plan.problem.capacity = capacity;
      plan.lower_bound = bound;
      const std::vector<double> labels = LabelHeights(Draw(plan));
      ASSERT_EQ(labels.size(), 3U);
      EXPECT_GE(labels[1] - labels[0], 26);
      EXPECT_GE(labels[2] - labels[1], 26);
      EXPECT_LT(labels[2], 560);
      EXPECT_GT(labels[0], 40);
    }
  }
}

TEST(SvgTest, ShowsTheDistanceToTheBound) {
  Plan plan = SmallPlan();
  EXPECT_NE(Draw(plan).find("6 buffers in 22 KiB, which is optimal<"), std::string::npos);
  plan.lower_bound = (22 << 10) - 1;  // Never rounded down to zero.
  EXPECT_NE(Draw(plan).find("at most 0.1 % above the least possible<"), std::string::npos);
  plan.problem.capacity = 20 << 10;
  EXPECT_NE(Draw(plan).find("6 buffers in 22 KiB, 2 KiB above the capacity; at most 0.1 % above"),
            std::string::npos);
  plan.lower_bound = 22 << 10;
  EXPECT_NE(Draw(plan).find("2 KiB above the capacity; no plan is lower<"), std::string::npos);
  plan.lower_bound = 0;  // No bound is known.
  EXPECT_NE(Draw(plan).find("6 buffers in 22 KiB, 2 KiB above the capacity<"), std::string::npos);
}

TEST(SvgTest, NamesACapacityThatIsTooHighToDraw) {
  Plan plan = SmallPlan();
  plan.problem.capacity = Bytes{1} << 30;
  const std::string svg = Draw(plan);
  EXPECT_NE(svg.find(">capacity ↑</text>"), std::string::npos);
  EXPECT_NE(svg.find(">1 GiB</text>"), std::string::npos);
  EXPECT_EQ(svg.find("class=\"level capacity\""), std::string::npos);
}

// Tens of thousands of buffers are all drawn, in a file that viewers still open quickly.
TEST(SvgTest, StaysSmallWithManyBuffers) {
  const Plan plan = GeneratedPlan(30'000, 5);
  const std::string svg = Draw(plan);
  EXPECT_LT(svg.size(), 4U << 20);
  EXPECT_LE(Count(svg, "<title>"), 8000U);
  EXPECT_GT(Count(svg, "<title>"), 1000U);
  EXPECT_GT(Count(svg, "M"), 20'000U);
  EXPECT_EQ(svg, Draw(plan));
}

// A lane for each memory, with reserved ranges, a memory without buffers and one buffer left out.
TEST(SvgTest, LanesOfMemoriesMatchTheGoldenFile) {
  MemoryProblem problem;
  problem.table.buffers = {MakeBuffer("input", 0, 4, 6 << 10),
                           MakeBuffer("weights <b>", 0, 10, 4 << 10),
                           MakeBuffer("cache", 2, 12, 12 << 10), MakeBuffer("left", 3, 5, 1 << 10)};
  problem.memories.resize(3);
  problem.memories[0].name = "tcm & co";
  problem.memories[0].capacity = 16 << 10;
  problem.memories[0].base = 0x2000'0000;
  problem.memories[0].reserved = {{0, 2 << 10}, {2 << 10, 4 << 10, 3, 6}};
  problem.memories[1].name = "dram";
  problem.memories[2].name = "unused";
  problem.memories[2].capacity = 1 << 20;
  const MemoryPlan plan =
      PlanOf(problem, {{.tensor = 0, .start = 0, .end = 4, .offset = 4 << 10},
                       {.tensor = 1, .start = 0, .end = 10, .offset = 10 << 10},
                       {.tensor = 2, .start = 2, .end = 12, .offset = 0, .memory = 1}});
  SvgOptions options;
  options.title = "board";
  const std::string svg = WriteSvg(problem, plan, options);
  ExpectWellFormed(svg);
  ExpectGolden("svg_memories.svg", svg);
  EXPECT_NE(svg.find("address 0x20001000"), std::string::npos);
  EXPECT_NE(svg.find("3 of 4 buffers in 3 memories"), std::string::npos);
  // Small pictures, and those of many memories, which are higher than asked for.
  options.width = 200;
  options.height = 150;
  ExpectWellFormed(WriteSvg(problem, plan, options));
  MemoryProblem empty;
  empty.memories.resize(1);
  empty.memories[0].name = "m";
  ExpectWellFormed(WriteSvg(empty, PlanOf(empty, {})));
}

}  // namespace
}  // namespace berth::internal
