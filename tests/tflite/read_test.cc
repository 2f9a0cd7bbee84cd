// Models as graphs.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "berth/model.h"
#include "berth/tflite.h"
#include "tests/tflite/builder.h"

namespace berth {
namespace {

using tflite_build::Build;
using tflite_build::TfliteFile;
using tflite_build::TfliteSubgraph;

Graph Read(const TfliteFile& file, const OnnxOptions& options = {}) {
  const auto model = ReadTflite(Build(file), "m", options);
  EXPECT_TRUE(model.has_value()) << (model ? "" : model.error().message);
  return model ? model->graph : Graph();
}

const Tensor& Named(const Graph& graph, const std::string& name) {
  const auto found = std::find_if(graph.tensors.begin(), graph.tensors.end(),
                                  [&](const Tensor& tensor) { return tensor.name == name; });
  EXPECT_NE(found, graph.tensors.end()) << name;
  return *found;
}

Bytes PeakOf(const Graph& graph) { return Live(graph, ProgramOrder(graph)).peak; }

TEST(TfliteRead, InputsLieInTheArena) {
  const Graph graph = Read(tflite_build::TwoBranches());
  ASSERT_EQ(graph.operators.size(), 6U);
  EXPECT_EQ(graph.operators[0].name, "INPUT");
  EXPECT_EQ(graph.operators[1].name, "CONV_2D_0");
  EXPECT_EQ(Named(graph, "in").kind, TensorKind::kActivation);
  EXPECT_EQ(Named(graph, "w").kind, TensorKind::kParameter);
  EXPECT_TRUE(Named(graph, "out").output);
  EXPECT_EQ(Named(graph, "a1").shape, "160");
  EXPECT_EQ(Named(graph, "a1").dtype, "int8");
  // in, a1 and b1 at the second operator; a1, b1 and a2 at the third.
  EXPECT_EQ(PeakOf(graph), 16 + 160 + 160);
}

TEST(TfliteRead, ByContent) {
  const std::string bytes = Build(tflite_build::TwoBranches());
  EXPECT_EQ(FormatOfModel(bytes), ModelFormat::kTflite);
  const auto model = ReadModel(bytes, "m.bin");
  ASSERT_TRUE(model.has_value()) << model.error().message;
  EXPECT_EQ(model->graph, Read(tflite_build::TwoBranches()));
  EXPECT_FALSE(model->notes.empty());
}

TEST(TfliteRead, SizesAreThoseOfTheArena) {
  TfliteFile file = tflite_build::TwoBranches();
  file.subgraphs[0].tensors[1] = {"a1", {3, 7}, tflite_build::kInt4Type};
  file.subgraphs[0].tensors[2] = {"b1", {3, 7}, tflite_build::kFloat};
  file.subgraphs[0].tensors[3] = {"a2", {}};  // A scalar.
  const Graph graph = Read(file);
  EXPECT_EQ(Named(graph, "a1").bytes, 32);  // A byte for each of 21 elements.
  EXPECT_EQ(Named(graph, "b1").bytes, 96);
  EXPECT_EQ(Named(graph, "a2").bytes, 16);
  EXPECT_EQ(Named(Read(file, {.alignment = 1}), "b1").bytes, 84);
  EXPECT_EQ(Named(Read(file, {.element_bytes = 1}), "b1").bytes, 32);
}

TEST(TfliteRead, IsAlsoReadWithEightBitElements) {
  TfliteFile file = tflite_build::TwoBranches();
  for (auto& tensor : file.subgraphs[0].tensors) tensor.type = tflite_build::kFloat;
  const std::string bytes = Build(file);
  const auto model = ReadModel(bytes, "m");
  ASSERT_TRUE(model.has_value()) << model.error().message;
  const auto others = OtherReadings(bytes, "m", {});
  ASSERT_EQ(others.size(), 1U);
  EXPECT_EQ(others[0].change, (OptionChange{"element-bytes", "1"}));
  EXPECT_EQ(Named(others[0].graph, "a1").bytes, 160);
  const Bytes enough = PeakOf(others[0].graph);
  ASSERT_LT(enough, PeakOf(model->graph));
  // Of a model that is too large, that is the remedy.
  PlanOptions options;
  options.capacity = enough;
  Budget budget;
  const auto answer = Plan(model->graph, options, budget);
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  EXPECT_FALSE(answer->fits());
  AdviceOptions asked;
  asked.models = others;
  const Advice advice = Advise(model->graph, options, *answer, asked, budget);
  ASSERT_FALSE(advice.remedies.empty());
  EXPECT_EQ(advice.remedies[0].title, "8-bit elements");
  EXPECT_TRUE(advice.remedies[0].fits);
  // A model that has them already gains nothing by it.
  const std::string small = Build(tflite_build::TwoBranches());
  const Graph graph = Read(tflite_build::TwoBranches());
  asked.models = OtherReadings(small, "m", {});
  options.capacity = 1;
  const auto none = Plan(graph, options, budget);
  ASSERT_TRUE(none.has_value());
  for (const Remedy& remedy : Advise(graph, options, *none, asked, budget).remedies) {
    EXPECT_EQ(remedy.title.find("8-bit"), std::string::npos) << remedy.title;
  }
}

TEST(TfliteRead, ReshapeMakesAView) {
  TfliteFile file = tflite_build::TwoBranches();
  file.subgraphs[0].tensors[3] = {"a2", {4, 40}};
  file.subgraphs[0].operators[2] = {tflite_build::kReshapeOp, {1, 6}, {3}};
  file.subgraphs[0].operators[4] = {tflite_build::kConv, {3, 4}, {5}};
  const Graph graph = Read(file);
  ASSERT_TRUE(Named(graph, "a2").alias_of.has_value());
  EXPECT_EQ(graph.tensors[*Named(graph, "a2").alias_of].name, "a1");
  // Not of a constant, whose bytes are elsewhere.
  file.subgraphs[0].operators[2].inputs[0] = 6;
  file.subgraphs[0].tensors[3].shape = {7};
  EXPECT_FALSE(Named(Read(file), "a2").alias_of.has_value());
}

TEST(TfliteRead, UpdatesMayOverwrite) {
  TfliteFile file = tflite_build::TwoBranches();
  file.subgraphs[0].tensors[3] = {"a2", {160}};
  file.subgraphs[0].operators[2] = {tflite_build::kUpdateSlice, {1, 0, 6}, {3}};
  const Graph graph = Read(file);
  ASSERT_EQ(graph.operators[3].may_overwrite.size(), 1U);
  EXPECT_EQ(graph.tensors[graph.operators[3].may_overwrite[0].input].name, "a1");
  EXPECT_EQ(ReuseInPlace(graph).tensors[graph.operators[3].outputs[0]].alias_of,
            graph.operators[3].inputs[0]);
}

TEST(TfliteRead, VariablesAreNotPlanned) {
  TfliteFile file = tflite_build::TwoBranches();
  file.subgraphs[0].tensors.push_back({"state", {100}, tflite_build::kInt8Type, 0, true});
  file.subgraphs[0].operators[0].inputs.push_back(7);
  file.subgraphs[0].operators[3].inputs.push_back(7);
  const auto model = ReadTflite(Build(file), "m");
  ASSERT_TRUE(model.has_value()) << model.error().message;
  EXPECT_EQ(Named(model->graph, "state").kind, TensorKind::kParameter);
  // Either may write it, so they keep their order.
  EXPECT_EQ(model->graph.operators[4].after, (std::vector<OperatorIndex>{1}));
  EXPECT_EQ(model->notes[1],
            "Not in the file, and so not planned: the scratch memory of kernels, and the "
            "persistent part of the arena, with 1 variable of 112 bytes.");
}

TEST(TfliteRead, OperatorsWithEffectsKeepTheirOrder) {
  TfliteFile file = tflite_build::TwoBranches();
  file.subgraphs[0].operators[0] = {tflite_build::kCustomOp, {0}, {1}, {}, "CIRCULAR_BUFFER"};
  const Graph graph = Read(file);
  EXPECT_EQ(graph.operators[1].type, "CIRCULAR_BUFFER");
  for (OperatorIndex v = 2; v < 6; ++v) {
    EXPECT_EQ(graph.operators[v].after, (std::vector<OperatorIndex>{1})) << v;
  }
}

// The tensors of a loop's condition and body are placed together.
TfliteFile Loop() {
  TfliteSubgraph main, condition, body;
  main.tensors = {{"in", {32}}, {"x", {32}}, {"out", {32}}};
  main.inputs = {0};
  main.outputs = {2};
  main.operators = {{tflite_build::kConv, {0}, {1}}, {tflite_build::kWhileOp, {1}, {2}, {1, 2}}};
  condition.tensors = {{"c_in", {32}}, {"c_out", {1}}};
  condition.inputs = {0};
  condition.outputs = {1};
  condition.operators = {{tflite_build::kAdd, {0, 0}, {1}}};
  body.tensors = {{"b_in", {32}}, {"b_mid", {64}}, {"b_out", {32}}};
  body.inputs = {0};
  body.outputs = {2};
  body.operators = {{tflite_build::kConv, {0}, {1}}, {tflite_build::kConv, {1}, {2}}};
  return {{main, condition, body}};
}

TEST(TfliteRead, LoopsHaveTheirSubgraphs) {
  const Graph graph = Read(Loop());
  ASSERT_EQ(graph.operators.size(), 3U);
  const Tensor& block = Named(graph, "WHILE_1 (subgraphs)");
  EXPECT_EQ(block.bytes, 96);  // b_mid with one of the others.
  EXPECT_EQ(PeakOf(graph), 96 + 32 + 32);
  ASSERT_EQ(graph.operators[2].may_overwrite.size(), 1U);
}

TEST(TfliteRead, SharedSubgraphsHaveOneAddress) {
  TfliteFile file = Loop();
  file.subgraphs[0].tensors.push_back({"again", {32}});
  file.subgraphs[0].operators.push_back({tflite_build::kWhileOp, {2}, {3}, {1, 2}});
  file.subgraphs[0].outputs = {3};
  const Graph graph = Read(file);
  ASSERT_EQ(graph.operators.size(), 4U);
  const TensorIndex block = graph.operators[2].outputs.back();
  EXPECT_EQ(graph.operators[3].inputs.back(), block);
}

TEST(TfliteRead, OpenDimensions) {
  TfliteFile file = tflite_build::TwoBranches();
  file.subgraphs[0].tensors[0] = {"in", {1, 16}, tflite_build::kInt8Type, 0, false, {-1, 16}};
  file.subgraphs[0].tensors[1] = {"a1", {1, 160}, tflite_build::kInt8Type, 0, false, {-1, 160}};
  EXPECT_EQ(Named(Read(file), "a1").bytes, 160);
  const Graph given = Read(file, {.dimensions = {{"in[0]", 4}}});
  EXPECT_EQ(Named(given, "in").bytes, 64);
  EXPECT_EQ(Named(given, "a1").unplanned, "dimension 0 is open");
  const Graph all = Read(file, {.dimensions = {{"in[0]", 4}}, .other_dimensions = 2});
  EXPECT_EQ(Named(all, "in").bytes, 64);
  EXPECT_EQ(Named(all, "a1").bytes, 320);
  const auto unknown = ReadTflite(Build(file), "m", {.dimensions = {{"batch", 4}}});
  ASSERT_FALSE(unknown.has_value());
  EXPECT_EQ(unknown.error().code, ErrorCode::kInvalidOptions);
  EXPECT_EQ(unknown.error().message,
            "m: the model has no open dimension \"batch\"; open are in[0], a1[0]");
}

TEST(TfliteRead, TypesWithoutASize) {
  TfliteFile file = tflite_build::TwoBranches();
  file.subgraphs[0].tensors[1].type = tflite_build::kStringType;
  file.subgraphs[0].tensors[2].type = 99;
  const Graph graph = Read(file);
  EXPECT_EQ(Named(graph, "a1").unplanned, "a string has no fixed size");
  EXPECT_EQ(Named(graph, "b1").unplanned, "element type 99 is not known");
}

}  // namespace
}  // namespace berth
