// What TensorFlow Lite Micro does with a file, and files with an offline plan.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "berth/plan.h"
#include "berth/tflite.h"
#include "tests/tflite/builder.h"

namespace berth {
namespace {

using tflite_build::Build;
using tflite_build::TfliteFile;
using tflite_build::TfliteSubgraph;
using tflite_build::WithPlan;

TflmArena Arena(const std::string& bytes) {
  const auto arena = ReadTflmArena(bytes, "m");
  EXPECT_TRUE(arena.has_value()) << (arena ? "" : arena.error().message);
  return arena ? *arena : TflmArena();
}

std::string Verdict(const TfliteFile& file) {
  const auto arena = ReadTflmArena(Build(file), "m");
  if (!arena) return arena.error().message;
  const auto valid = ValidatePlacement(arena->problem, {arena->offsets, arena->height});
  return valid ? "valid" : valid.error().message;
}

MemoryPlan Planned(const Graph& graph, const PlanOptions& options = {}) {
  Budget budget;
  const auto answer = Plan(graph, options, budget);
  EXPECT_TRUE(answer.has_value() && answer->best.has_value());
  return *answer->best;
}

std::string Written(const std::string& bytes, const PlanOptions& options = {},
                    bool in_place = false) {
  auto model = ReadTflite(bytes, "m");
  EXPECT_TRUE(model.has_value());
  if (in_place) model->graph = ReuseInPlace(model->graph);
  const MemoryPlan plan = Planned(model->graph, options);
  const auto written = WriteTflite(bytes, "m", model->graph, plan);
  EXPECT_TRUE(written.has_value()) << (written ? "" : written.error().message);
  if (!written) return "";
  EXPECT_EQ(Arena(*written).height, plan.height());
  return *written;
}

TEST(TflmArena, LifetimesAreThoseOfTheInterpreter) {
  const TflmArena arena = Arena(Build(tflite_build::TwoBranches()));
  ASSERT_EQ(arena.problem.buffers.size(), 6U);
  const auto expect = [&](std::size_t i, const std::string& id, Step start, Step end, Bytes size) {
    EXPECT_EQ(arena.problem.buffers[i].id, id);
    EXPECT_EQ(arena.problem.buffers[i].start, start) << id;
    EXPECT_EQ(arena.problem.buffers[i].end, end) << id;
    EXPECT_EQ(arena.problem.buffers[i].size, size) << id;
  };
  expect(0, "in", 1, 4, 16);
  expect(1, "a1", 2, 5, 160);
  expect(2, "b1", 3, 6, 160);
  expect(3, "a2", 4, 7, 16);
  expect(4, "b2", 5, 7, 16);
  expect(5, "out", 6, 7, 16);
  EXPECT_FALSE(arena.offline);
  EXPECT_EQ(arena.unplaced, 6U);
  // The largest first, of equal ones the last: b1 at 0, a1 above it, then out, b2, a2, in.
  EXPECT_EQ(arena.offsets, (std::vector<Bytes>{320, 160, 0, 320, 160, 0}));
  EXPECT_EQ(arena.height, 336);
}

TEST(TflmArena, UnusedTensorsTakeRoomButNoTime) {
  TfliteFile file = tflite_build::TwoBranches();
  file.subgraphs[0].tensors.push_back({"unused", {1000}});
  EXPECT_EQ(Arena(Build(file)).height, 1008);
  EXPECT_EQ(Verdict(file), "valid");
  const TflmArena written = Arena(Written(Build(tflite_build::TwoBranches())));
  EXPECT_EQ(written.unplaced, 0U);
}

TEST(TflmArena, ChecksOfflinePlans) {
  const TfliteFile file = tflite_build::TwoBranches();
  // in, a1, b1, a2, b2, out, w.
  EXPECT_EQ(Verdict(WithPlan(file, {0, 16, 176, 0, 16, 32, -1})), "valid");
  EXPECT_EQ(Verdict(WithPlan(file, {0, 16, 160, 0, 16, 32, -1})),
            "buffer \"b1\": bytes [160, 320) meet bytes [16, 176) of buffer \"a1\" at step 3");
  EXPECT_EQ(Verdict(WithPlan(file, {0, 20, 192, 0, 16, 32, -1})),
            "buffer \"a1\": offset 20 is not a multiple of the alignment 16");
  EXPECT_EQ(Verdict(WithPlan(file, {0, 16, 176})),
            "m: OfflineMemoryAllocation is of 3 tensors, but the model has 7");
  EXPECT_EQ(Verdict(WithPlan(file, {0, -7, 176, 0, 16, 32, -1})),
            "m: OfflineMemoryAllocation has offset -7 for tensor 1 (\"a1\")");
  // Those without an offset are fitted in.
  const TflmArena arena = Arena(Build(WithPlan(file, {0, 16, 176, -1, -1, 32, -1})));
  EXPECT_EQ(arena.placed, 4U);
  EXPECT_EQ(arena.unplaced, 2U);
  EXPECT_EQ(arena.height, 352);
}

TEST(TflmArena, SharesOffsetsWhereNothingIsCopied) {
  TfliteFile file = tflite_build::TwoBranches();
  TfliteSubgraph& graph = file.subgraphs[0];
  graph.tensors[3] = {"a2", {4, 40}};
  graph.operators[2] = {tflite_build::kReshapeOp, {1, 6}, {3}};
  EXPECT_EQ(Verdict(WithPlan(file, {0, 16, 176, 16, 0, 336, -1})), "valid");
  // The input of a reshape may be needed later on; that of an update may not.
  graph.operators[4].inputs = {3, 4, 1};
  EXPECT_EQ(Verdict(WithPlan(file, {0, 16, 176, 16, 0, 336, -1})), "valid");
  graph.operators[2] = {tflite_build::kUpdateSlice, {1, 0, 6}, {3}};
  EXPECT_EQ(Verdict(WithPlan(file, {0, 16, 176, 16, 0, 336, -1})),
            "buffer \"a2\": bytes [16, 176) meet bytes [16, 176) of buffer \"a1\" at step 4");
  graph.operators[4].inputs = {3, 4};
  EXPECT_EQ(Verdict(WithPlan(file, {0, 16, 176, 16, 0, 336, -1})), "valid");
  // Nor may it be a result.
  graph.outputs = {5, 1};
  EXPECT_NE(Verdict(WithPlan(file, {0, 16, 176, 16, 0, 336, -1})), "valid");
}

// x -> IF -> y -> conv -> out; each branch computes s -> m -> o.
TfliteFile WithBranches() {
  TfliteSubgraph main;
  main.tensors = {{"condition", {1}}, {"x", {32}}, {"y", {32}}, {"out", {32}}};
  main.inputs = {0, 1};
  main.outputs = {3};
  main.operators = {{tflite_build::kIfOp, {0, 1}, {2}, {1, 2}}, {tflite_build::kConv, {2}, {3}}};
  TfliteSubgraph branch;
  branch.tensors = {{"s", {32}}, {"m", {32}}, {"o", {32}}};
  branch.inputs = {0};
  branch.outputs = {2};
  branch.operators = {{tflite_build::kConv, {0}, {1}}, {tflite_build::kConv, {1}, {2}}};
  return {{main, branch, branch}};
}

// IF copies nothing where its inputs lie where those of a branch do, nor where its outputs do.
TEST(TflmArena, BranchesTakeOverTensors) {
  TfliteFile file = WithBranches();
  const auto verdict = [&](std::vector<std::int32_t> first, std::vector<std::int32_t> second) {
    std::vector<std::int32_t> offsets = {0, 16, 48, 80};
    offsets.insert(offsets.end(), first.begin(), first.end());
    offsets.insert(offsets.end(), second.begin(), second.end());
    return Verdict(WithPlan(file, offsets));
  };
  const std::vector<std::int32_t> apart = {144, 176, 208};
  const std::vector<std::int32_t> shared = {16, 112, 48};
  EXPECT_EQ(verdict(apart, apart), "valid");
  EXPECT_EQ(verdict(shared, apart), "valid");
  EXPECT_EQ(verdict(shared, shared), "valid");
  EXPECT_NE(verdict({32, 112, 48}, apart), "valid") << "copied over itself";
  EXPECT_NE(verdict({16, 32, 48}, apart), "valid") << "m is made while s is read";
  EXPECT_NE(verdict({48, 112, 144}, apart), "valid") << "s is not o";
  EXPECT_NE(verdict({144, 16, 48}, apart), "valid") << "m is not s";
  // A branch may overwrite what it has taken over, if nobody needs it later.
  for (const std::size_t s : {1u, 2u}) {
    file.subgraphs[s].operators[0] = {tflite_build::kUpdateSlice, {0, 2}, {1}};
  }
  EXPECT_EQ(verdict({16, 16, 48}, shared), "valid");
  file.subgraphs[0].operators[1].inputs = {2, 1};
  EXPECT_NE(verdict({16, 16, 48}, shared), "valid");
  EXPECT_EQ(verdict(shared, shared), "valid");
}

// The same of WHILE, whose outputs have the state between the rounds.
TEST(TflmArena, LoopsTakeOverTensors) {
  TfliteFile file;
  TfliteSubgraph main;
  main.tensors = {{"x", {32}}, {"x2", {32}}, {"y", {32}}, {"y2", {32}}};
  main.inputs = {0, 1};
  main.outputs = {2, 3};
  main.operators = {{tflite_build::kWhileOp, {0, 1}, {2, 3}, {1, 2}}};
  TfliteSubgraph condition;
  condition.tensors = {{"c", {32}}, {"c2", {32}}, {"go", {1}}};
  condition.inputs = {0, 1};
  condition.outputs = {2};
  condition.operators = {{tflite_build::kConv, {0}, {2}}};
  TfliteSubgraph body;
  body.tensors = {{"b", {32}}, {"b2", {32}}, {"o", {32}}};
  body.inputs = {0, 1};
  body.outputs = {2, 1};
  body.operators = {{tflite_build::kConv, {0}, {2}}};
  file.subgraphs = {main, condition, body};
  const auto verdict = [&](std::vector<std::int32_t> offsets) {
    return Verdict(WithPlan(file, std::move(offsets)));
  };
  EXPECT_EQ(verdict({0, 32, 0, 32, 64, 96, 128, 64, 96, 160}), "valid");
  EXPECT_EQ(verdict({0, 32, 0, 32, 0, 32, 64, 0, 32, 64}), "valid");
  EXPECT_EQ(verdict({0, 32, 0, 32, 0, 32, 64, 64, 32, 0}), "valid");
  EXPECT_EQ(verdict({0, 32, 64, 96, 0, 32, 128, 64, 96, 128}), "valid");
  EXPECT_NE(verdict({0, 32, 0, 32, 0, 32, 64, 0, 32, 0}), "valid") << "o is made while b is read";
  EXPECT_NE(verdict({0, 32, 0, 32, 32, 0, 64, 64, 96, 128}), "valid") << "c is not x2";
  // The condition is computed once more after what it overwrites has been needed.
  file.subgraphs[1].operators = {{tflite_build::kUpdateSlice, {0, 2}, {1}},
                                 {tflite_build::kConv, {1}, {2}}};
  file.subgraphs[1].inputs = {0, 0};
  EXPECT_NE(verdict({0, 32, 0, 32, 0, 0, 64, 64, 96, 128}), "valid");
  // Results that change places: the first one is copied over the second.
  file.subgraphs[1] = condition;
  file.subgraphs[2].outputs = {1, 0};
  EXPECT_EQ(verdict({0, 32, 0, 32, 0, 32, 64, 64, 96, 128}), "valid");
  EXPECT_NE(verdict({0, 32, 0, 32, 0, 32, 64, 0, 32, 128}), "valid");
}

TEST(TflmArena, VariablesOfLaterSubgraphs) {
  TfliteFile file = tflite_build::TwoBranches();
  TfliteSubgraph other;
  other.tensors = {{"x", {16}}, {"state", {16}, tflite_build::kInt8Type, 0, true}};
  file.subgraphs.push_back(other);
  EXPECT_EQ(Verdict(WithPlan(file, {0, 16, 176, 0, 16, 32, -1, 0, -1})),
            "m: OfflineMemoryAllocation gives tensor 1 (\"a1\") an offset, which an interpreter "
            "takes for that of subgraph 1, tensor 1 (\"state\"), a variable");
  const auto model = ReadTflite(Build(file), "m");
  ASSERT_TRUE(model.has_value());
  EXPECT_FALSE(WriteTflite(Build(file), "m", model->graph, Planned(model->graph)).has_value());
}

TEST(TflmArena, EthosScratchContainsTensors) {
  TfliteFile file = tflite_build::TwoBranches();
  TfliteSubgraph& graph = file.subgraphs[0];
  graph.tensors = {{"commands", {4}, tflite_build::kInt8Type, 1},
                   {"weights", {4}, tflite_build::kInt8Type, 1},
                   {"scratch", {128}},
                   {"in", {96}},
                   {"out", {32}},
                   {"result", {32}}};
  graph.inputs = {3};
  graph.outputs = {5};
  graph.operators = {{tflite_build::kCustomOp, {0, 1, 2, 2, 3}, {4}, {}, "ethos-u"},
                     {tflite_build::kConv, {4}, {5}}};
  const TfliteFile planned = WithPlan(file, {-1, -1, 0, 0, 64, 128});
  EXPECT_EQ(Verdict(planned), "valid");
  EXPECT_NE(Verdict(WithPlan(file, {-1, -1, 0, 0, 64, 96})), "valid");
  const auto model = ReadTflite(Build(planned), "m");
  ASSERT_TRUE(model.has_value()) << model.error().message;
  const std::string written = Written(Build(planned));
  const TflmArena arena = Arena(written);
  EXPECT_EQ(*arena.tensor_offsets[4] - *arena.tensor_offsets[2], 64);
  EXPECT_EQ(arena.height, 160);
}

TEST(TfliteWrite, PlansAndReorders) {
  const std::string bytes = Build(tflite_build::TwoBranches());
  PlanOptions as_written;
  as_written.order = Order{0, 1, 2, 3, 4, 5};
  const std::string planned = Written(bytes, as_written);
  EXPECT_EQ(Arena(planned).height, 336);
  EXPECT_EQ(planned.substr(planned.size() - bytes.size()), bytes);
  const std::string better = Written(bytes);
  EXPECT_EQ(Arena(better).height, 192);
  EXPECT_EQ(better.size(), planned.size());
  // The branches one after the other.
  const auto model = ReadTflite(better, "m");
  ASSERT_TRUE(model.has_value());
  EXPECT_EQ(Live(model->graph, ProgramOrder(model->graph)).peak, 192);
  EXPECT_NE(model->notes[1].find("has an offline plan"), std::string::npos);
}

TEST(TfliteWrite, ReplacesAPlan) {
  const std::string planned = Written(Build(tflite_build::TwoBranches()));
  EXPECT_EQ(Written(planned), planned);
  // Of a former one of another size, nothing is left but its bytes.
  TfliteFile file = WithPlan(tflite_build::TwoBranches(), {0, 0});
  file.metadata.emplace_back("other", 0);
  const std::string written = Written(Build(file));
  EXPECT_EQ(Arena(written).height, 192);
}

TEST(TfliteWrite, OrderAlone) {
  const std::string bytes = Build(tflite_build::TwoBranches());
  const auto model = ReadTflite(bytes, "m");
  MemoryPlan plan;
  plan.addressed = false;
  plan.order = {0, 2, 4, 1, 3, 5};
  const auto written = WriteTflite(bytes, "m", model->graph, plan);
  ASSERT_TRUE(written.has_value()) << written.error().message;
  EXPECT_EQ(written->size(), bytes.size());
  EXPECT_FALSE(Arena(*written).offline);
  plan.order = {0, 3, 4, 1, 2, 5};
  EXPECT_EQ(WriteTflite(bytes, "m", model->graph, plan).error().code, ErrorCode::kInvalidPlan);
}

TEST(TfliteWrite, RefusesOtherSizes) {
  TfliteFile file = tflite_build::TwoBranches();
  file.subgraphs[0].tensors[1].shape = {150};
  const std::string bytes = Build(file);
  const auto model = ReadTflite(bytes, "m", {.alignment = 1});
  const auto refused = WriteTflite(bytes, "m", model->graph, Planned(model->graph));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().message, "m: the plan is for other sizes than those of the file");
  const auto wider = ReadTflite(bytes, "m", {.alignment = 64});
  EXPECT_TRUE(WriteTflite(bytes, "m", wider->graph, Planned(wider->graph)).has_value());
}

TEST(TfliteWrite, InPlace) {
  TfliteFile file = tflite_build::TwoBranches();
  file.subgraphs[0].tensors[3] = {"a2", {160}};
  file.subgraphs[0].operators[2] = {tflite_build::kUpdateSlice, {1, 0, 6}, {3}};
  const std::string written = Written(Build(file), {}, true);
  const TflmArena arena = Arena(written);
  EXPECT_EQ(arena.tensor_offsets[1], arena.tensor_offsets[3]);
}

// Operator 2, which reads a1, has 64 + 32 bytes of scratch memory.
TfliteFile WithScratch(std::vector<std::int32_t> numbers = {1, 0, 2, 60, 0, 2, 32}) {
  return tflite_build::WithMetadata(tflite_build::TwoBranches(), "BerthScratch", numbers);
}

TEST(TfliteScratch, IsPlanned) {
  const std::string bytes = Build(WithScratch());
  const TflmArena arena = Arena(bytes);
  ASSERT_EQ(arena.problem.buffers.size(), 8U);
  EXPECT_EQ(arena.problem.buffers[6].id, "scratch of CONV_2D_2");
  EXPECT_EQ(arena.problem.buffers[6].size, 64);
  EXPECT_EQ(arena.problem.buffers[6].start, 4);
  EXPECT_EQ(arena.problem.buffers[6].end, 5);
  EXPECT_EQ(arena.problem.buffers[7].id, "scratch of CONV_2D_2#2");
  // b1, a1, a2 and the scratch memory at this operator.
  EXPECT_EQ(arena.height, 160 + 160 + 16 + 64 + 32);
  // In the best order, a1, a2, b2 or in, and it.
  const std::string written = Written(bytes);
  EXPECT_EQ(Arena(written).height, 160 + 16 + 16 + 64 + 32);
  // The operator has moved, and its scratch memory with it.
  EXPECT_EQ(Written(written), written);
}

TEST(TfliteScratch, OfSubgraphs) {
  TfliteFile file = tflite_build::TwoBranches();
  TfliteSubgraph body;
  body.tensors = {{"x", {32}}, {"y", {32}}};
  body.inputs = {0};
  body.outputs = {1};
  body.operators = {{tflite_build::kConv, {0}, {1}}};
  file.subgraphs.push_back(body);
  file.subgraphs[0].operators[2] = {tflite_build::kIfOp, {1, 0}, {3}, {1, 1}};
  EXPECT_EQ(Arena(Written(Build(tflite_build::WithMetadata(file, "BerthScratch", {1, 1, 0, 100}))))
                .height,
            Arena(Written(Build(file))).height + 112);
}

TEST(TfliteScratch, NamesTheFault) {
  EXPECT_EQ(Verdict(WithScratch({2})),
            "m: BerthScratch is not a list of version 1: it has 4 bytes");
  EXPECT_EQ(Verdict(WithScratch({1, 0})),
            "m: BerthScratch is not a list of version 1: it has 8 bytes");
  EXPECT_EQ(Verdict(WithScratch({1, 0, 5, 16})),
            "m: BerthScratch has operator 5 of subgraph 0, which the model does not");
  EXPECT_EQ(Verdict(WithScratch({1, 0, 4, 0})),
            "m: BerthScratch has operator 4 of subgraph 0 with 0 bytes");
}

TEST(TfliteHeader, HasTheFigures) {
  const std::string header = WriteTflmHeader(Arena(Written(Build(tflite_build::TwoBranches()))),
                                             "my */ model", "my_model");
  EXPECT_NE(header.find("#define MY_MODEL_ARENA_BYTES 192\n"), std::string::npos) << header;
  EXPECT_NE(header.find("#define MY_MODEL_TENSORS 7\n"), std::string::npos);
  EXPECT_NE(header.find("my __ model"), std::string::npos);
}

}  // namespace
}  // namespace berth
