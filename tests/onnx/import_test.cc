// ONNX models as graphs.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "berth/onnx.h"
#include "tests/onnx/build.h"

namespace berth::internal {
namespace {

using namespace onnx_build;  // NOLINT(google-build-using-namespace): its words are the test's.
using berth::Graph;
using berth::Tensor;

class Imported {
 public:
  // With the sizes that the tensors have, unless an alignment is asked for.
  explicit Imported(const std::string& bytes, OnnxOptions options = {}, Bytes alignment = 1) {
    options.alignment = alignment;
    auto model = ReadOnnx(bytes, "m.onnx", options);
    if (model) {
      model_ = *std::move(model);
    } else {
      ADD_FAILURE() << model.error().message;
      model_.graph.tensors.resize(1);
    }
  }
  [[nodiscard]] const OnnxModel& model() const { return model_; }
  [[nodiscard]] const Graph& graph() const { return model_.graph; }
  [[nodiscard]] TensorIndex Index(const std::string& name) const {
    for (TensorIndex t = 0; t < graph().tensors.size(); ++t) {
      if (graph().tensors[t].name == name) return t;
    }
    ADD_FAILURE() << "no tensor " << name;
    return 0;
  }
  [[nodiscard]] const Tensor& operator[](const std::string& name) const {
    return graph().tensors[Index(name)];
  }
  [[nodiscard]] bool Notes(const std::string& part) const {
    return std::any_of(model().notes.begin(), model().notes.end(), [&](const std::string& note) {
      return note.find(part) != std::string::npos;
    });
  }
  [[nodiscard]] Bytes Peak() const { return Live(graph(), ProgramOrder(graph())).peak; }

 private:
  OnnxModel model_;
};

std::string Refusal(const std::string& bytes, const OnnxOptions& options = {}) {
  const auto model = ReadOnnx(bytes, "m.onnx", options);
  return model ? "read" : model.error().message;
}

// One operator whose results have no shapes.
std::string One(Node node, std::vector<std::string> inputs, std::vector<std::string> weights = {},
                std::int64_t opset = 13) {
  onnx_build::Graph graph;
  for (const std::string& output : node.outputs) {
    if (!output.empty()) graph.outputs.push_back(Field(1, output));
  }
  graph.nodes = {std::move(node)};
  graph.inputs = std::move(inputs);
  graph.weights = std::move(weights);
  return Model(graph, opset);
}

TEST(OnnxImport, OperatorsTensorsAndSizes) {
  const Imported m(Model(
      {{{"Conv", {"x", "w"}, {"a"}, {List("pads", {1, 1, 1, 1})}, "conv"}, {"Relu", {"a"}, {"y"}}},
       {Value("x", kFloat, {1, 3, 8, 8})},
       {Value("y", kFloat, {1, 4, 8, 8})},
       {},
       {TensorProto("w", kFloat, {4, 3, 3, 3})}}));
  ASSERT_EQ(m.graph().operators.size(), 2);
  EXPECT_EQ(m.graph().operators[0].name, "conv");
  EXPECT_EQ(m.graph().operators[1].name, "Relu_1");
  EXPECT_EQ(m.graph().operators[0].inputs, (std::vector<TensorIndex>{m.Index("x"), m.Index("w")}));
  EXPECT_EQ(m["x"].kind, TensorKind::kInput);
  EXPECT_EQ(m["w"].kind, TensorKind::kParameter);
  EXPECT_EQ(m["w"].bytes, 432);
  EXPECT_EQ(m["a"].kind, TensorKind::kActivation);
  EXPECT_EQ(m["a"].bytes, 1024);
  EXPECT_EQ(m["a"].shape, "1x4x8x8");
  EXPECT_EQ(m["a"].dtype, "float32");
  EXPECT_FALSE(m["a"].output);
  EXPECT_TRUE(m["y"].output);
  EXPECT_EQ(m.Peak(), 2048);
}

TEST(OnnxImport, EveryElementTypeHasItsSize) {
  // Of 5 elements, those of less than a byte packed.
  const std::vector<std::pair<int, Bytes>> sizes = {
      {1, 20},  {2, 5},   {3, 5},   {4, 10},  {5, 10},  {6, 20},  {7, 40}, {9, 5},  {10, 10},
      {11, 40}, {12, 20}, {13, 40}, {14, 40}, {15, 80}, {16, 10}, {17, 5}, {18, 5}, {19, 5},
      {20, 5},  {21, 3},  {22, 3},  {23, 3},  {24, 5},  {25, 2},  {26, 2}};
  for (const auto& [type, bytes] : sizes) {
    const std::string model = One({"Relu", {"x"}, {"y"}}, {Value("x", type, {5})});
    EXPECT_EQ(Imported(model)["y"].bytes, bytes) << type;
    EXPECT_EQ(Imported(model, {{}, 1})["y"].bytes, 5) << type;
  }
  const Imported text(One({"Identity", {"x"}, {"y"}}, {Value("x", 8, {5})}));
  EXPECT_EQ(text["y"].unplanned, "text has no fixed size");
  const Imported unknown(One({"Relu", {"x"}, {"y"}}, {Value("x", 99, {5})}));
  EXPECT_EQ(unknown["y"].unplanned, "element type 99 is not known");
}

TEST(OnnxImport, ViewsShareTheirBase) {
  const Imported m(Model({{{"Relu", {"x"}, {"a"}},
                           {"Reshape", {"a", "s"}, {"b"}},
                           {"Unsqueeze", {"b", "i"}, {"c"}},
                           {"Squeeze", {"c", "i"}, {"d"}},
                           {"Flatten", {"d"}, {"e"}},
                           {"Identity", {"e"}, {"f"}},
                           {"Dropout", {"f"}, {"g"}},
                           {"Flatten", {"x"}, {"of_input"}},
                           {"Relu", {"g"}, {"y"}}},
                          {Value("x", kFloat, {2, 6})},
                          {Value("y", kFloat, {3, 4}), Value("of_input", kFloat, {2, 6})},
                          {},
                          {Int64Tensor("s", {3, 4}), Int64Tensor("i", {0})}}));
  for (const char* view : {"b", "c", "d", "e", "f", "g"}) {
    EXPECT_EQ(m[view].alias_of, m.Index("a")) << view;
  }
  EXPECT_EQ(m["of_input"].alias_of, m.Index("x"));
  EXPECT_FALSE(m["y"].alias_of);
  EXPECT_EQ(m.Peak(), 96);
}

// In training, Dropout creates a tensor of its own.
TEST(OnnxImport, DropoutIsAViewOutsideTrainingOnly) {
  const auto alias = [](std::int64_t opset, std::vector<Attr> attributes,
                        std::vector<std::string> inputs, bool mode) {
    const Imported m(Model(
        {{{"Relu", {"x"}, {"a"}}, {"Dropout", std::move(inputs), {"y"}, std::move(attributes)}},
         {Value("x", kFloat, {2}), Value("t", kBool, {})},
         {Value("y", kFloat, {2})},
         {},
         {TensorProto("m", kBool, {}, Number(5, mode ? 1 : 0))}},
        opset));
    return m["y"].alias_of.has_value();
  };
  EXPECT_TRUE(alias(13, {}, {"a"}, false));
  EXPECT_TRUE(alias(13, {}, {"a", "", "m"}, false));
  EXPECT_FALSE(alias(13, {}, {"a", "", "m"}, true));
  EXPECT_FALSE(alias(13, {}, {"a", "", "t"}, false));
  EXPECT_TRUE(alias(7, {}, {"a"}, false));
  EXPECT_FALSE(alias(6, {}, {"a"}, false));
  EXPECT_TRUE(alias(6, {Int("is_test", 1)}, {"a"}, false));
}

TEST(OnnxImport, ShapeArithmeticIsComputed) {
  // Reshape to (first dimension, rest), as written by exporters.
  onnx_build::Graph graph{{{"Shape", {"x"}, {"s"}},
                           {"Gather", {"s", "zero"}, {"b"}},
                           {"Unsqueeze", {"b", "axes"}, {"b1"}},
                           {"Concat", {"b1", "rest"}, {"to"}, {Int("axis", 0)}},
                           {"Relu", {"x"}, {"a"}},
                           {"Reshape", {"a", "to"}, {"y"}}},
                          {Value("x", kFloat, {"batch", 3, 4})},
                          {Value("y", kFloat, {"batch", "rest"})},
                          {},
                          {TensorProto("zero", kInt64, {}, Int64Data({0})),
                           Int64Tensor("axes", {0}), Int64Tensor("rest", {-1})}};
  const Imported m(Model(graph), {{{"batch", 2}}, {}});
  EXPECT_EQ(m["y"].shape, "2x12");
  EXPECT_EQ(m["y"].alias_of, m.Index("a"));
  for (const char* constant : {"s", "b", "b1", "to"}) {
    EXPECT_EQ(m[constant].kind, TensorKind::kConstant) << constant;
  }
  EXPECT_EQ(m["to"].bytes, 16);
  EXPECT_EQ(m.Peak(), 96);
  // Operators that compute constants have no load but keep their position: they do not read the
  // data, and precede their readers.
  EXPECT_TRUE(m.graph().operators[0].inputs.empty());
  EXPECT_EQ(m.graph().operators[1].after, (std::vector<OperatorIndex>{0}));
  EXPECT_EQ(m.graph().operators[5].after, (std::vector<OperatorIndex>{3}));

  // One open dimension: the shape still has three numbers, two of them known.
  const Imported open(Model(graph));
  EXPECT_EQ(open["y"].shape, "?x?");
  EXPECT_EQ(open["s"].shape, "3");
  EXPECT_EQ(open["s"].kind, TensorKind::kActivation);
}

TEST(OnnxImport, OpenDimensionsAreNotGuessed) {
  const std::string bytes =
      Model({{{"Relu", {"x"}, {"a"}}, {"Transpose", {"a"}, {"y"}}, {"Neg", {"k"}, {"z"}}},
             {Value("x", kFloat, {"batch", 3, -1}), Value("k", kFloat, {2})},
             {Value("y", kFloat, {-1, 3, "batch"}), Value("z", kFloat, {2})}});
  const Imported open(bytes);
  EXPECT_EQ(open.model().open_dimensions, (std::vector<std::string>{"batch", "x[2]"}));
  EXPECT_EQ(open["a"].unplanned, "dimension \"batch\" of input \"x\" is open");
  EXPECT_EQ(open["y"].unplanned, "dimension \"batch\" of input \"x\" is open");
  EXPECT_EQ(open["a"].bytes, 0);
  EXPECT_EQ(open["z"].bytes, 8);
  EXPECT_TRUE(open.model().notes.empty());  // The tensors say it themselves.

  const Imported half(bytes, {{{"batch", 5}}, {}});
  EXPECT_EQ(half["a"].unplanned, "dimension \"x[2]\" of input \"x\" is open");
  const Imported bound(bytes, {{{"batch", 5}, {"x[2]", 7}}, {}});
  EXPECT_TRUE(bound.model().open_dimensions.empty());
  EXPECT_EQ(bound["a"].bytes, 420);
  EXPECT_EQ(bound["y"].shape, "7x3x5");

  EXPECT_EQ(Refusal(bytes, {{{"btach", 5}}, {}}),
            "m.onnx: the model has no open dimension \"btach\"; it has \"batch\", \"x[2]\"");
  EXPECT_EQ(Refusal(bytes, {{{"batch", 5}, {"batch", 5}}, {}}),
            "dimension \"batch\" is given twice");
  EXPECT_EQ(Refusal(bytes, {{{"batch", -5}}, {}}), "dimension \"batch\" of -5");
  EXPECT_EQ(Refusal(bytes, {{}, 17}), "elements of 17 bytes; they must have from 1 to 16");
}

TEST(OnnxImport, WhatDependsOnDataIsNotPlanned) {
  const Imported m(Model({{{"NonZero", {"x"}, {"n"}},
                           {"Transpose", {"n"}, {"t"}},
                           {"NoSuch", {"x"}, {"u"}},
                           {"Relu", {"u"}, {"v"}},
                           {"Reshape", {"x", "dims"}, {"r"}}},
                          {Value("x", kFloat, {4}), Value("dims", kInt64, {2})},
                          {Value("t", kInt64, {"k", 1})}}));
  EXPECT_EQ(m["t"].unplanned, m["n"].unplanned);
  EXPECT_EQ(m["n"].unplanned,
            "operator that makes \"n\" (NonZero): how many elements it makes depends on the data");
  EXPECT_EQ(m["v"].unplanned,
            "operator that makes \"u\" (NoSuch): an operator of operator set 13 that is not known, "
            "and the file does not give the shape");
  EXPECT_EQ(m["r"].unplanned,
            "operator that makes \"r\" (Reshape): its result depends on what its inputs hold");
  // The data of constants is known.
  const Imported known(One({"NonZero", {"w"}, {"n"}}, {}, {Int64Tensor("w", {1, 0, 2})}));
  EXPECT_EQ(known["n"].shape, "1x2");
  EXPECT_EQ(known["n"].kind, TensorKind::kConstant);
}

TEST(OnnxImport, TheFileHelpsWhereNoRuleDoes) {
  // Another domain, and an operator set newer than any known one: shapes come from the file.
  const onnx_build::Graph graph{
      {{"Foo", {"x"}, {"a"}, {}, "", "my.domain"}, {"Relu", {"a"}, {"y"}}},
      {Value("x", kFloat, {2})},
      {Value("y", kFloat, {3})},
      {Value("a", kFloat, {3})}};
  const Imported foo(Model(graph, 13, Field(8, Opset("my.domain", 1))));
  EXPECT_EQ(foo["a"].bytes, 12);
  EXPECT_EQ(foo["y"].bytes, 12);

  const onnx_build::Graph future{{{"Relu", {"x"}, {"a"}}, {"Relu", {"a"}, {"y"}}},
                                 {Value("x", kFloat, {2})},
                                 {Unshaped("y", kFloat)},
                                 {Value("a", kFloat, {2})}};
  const Imported newer(Model(future, 999));
  EXPECT_EQ(newer["a"].bytes, 8);
  EXPECT_EQ(
      newer["y"].unplanned,
      "operator that makes \"y\" (Relu): it is of operator set 999, newer than what is known, "
      "and the file does not give the shape");
}

TEST(OnnxImport, OperatorsAreRightWhereTheFileIsWrong) {
  const Imported m(Model(
      {{{"Relu", {"x"}, {"y"}}}, {Value("x", kFloat, {2, 3})}, {Value("y", kFloat, {2, 4})}}));
  EXPECT_EQ(m["y"].shape, "2x3");
  EXPECT_TRUE(m.Notes("makes 2x3 of float32, where the file says 2x4 of float32"));
}

TEST(OnnxImport, WeightsAreConstantAndWhatFollowsFromThem) {
  const Imported m(Model({{{"Transpose", {"w"}, {"t"}},
                           {"MatMul", {"x", "t"}, {"y"}},
                           {"RandomNormal", {}, {"r"}, {List("shape", {2, 2})}},
                           {"Add", {"y", "r"}, {"z"}}},
                          {Value("x", kFloat, {2, 1000})},
                          {Value("z", kFloat, {2, 2})},
                          {},
                          {TensorProto("w", kFloat, {2, 1000})}}));
  EXPECT_EQ(m["t"].kind, TensorKind::kConstant);
  EXPECT_EQ(m["t"].bytes, 8000);
  EXPECT_EQ(m["r"].kind, TensorKind::kActivation);
  EXPECT_EQ(m.graph().operators[1].after, (std::vector<OperatorIndex>{0}));
  EXPECT_EQ(m.Peak(), 48);
}

// External data, and claimed but missing gigabytes, are never accessed.
TEST(OnnxImport, WeightsElsewhereAreNotLoaded) {
  const std::string external =
      Number(1, 1 << 20) + Number(1, 1 << 15) + Number(2, kFloat) + Field(8, "w") +
      Field(13, Field(1, "location") + Field(2, "/no/such/file")) + Number(14, 1);
  const Imported m(
      One({"MatMul", {"x", "w"}, {"y"}}, {Value("x", kFloat, {1, 1 << 20})}, {external}));
  EXPECT_EQ(m["w"].bytes, Bytes{1} << 37);
  EXPECT_EQ(m["y"].bytes, Bytes{1} << 17);
}

TEST(OnnxImport, ElementwiseResultsMayLieOverOperands) {
  const Imported m(Model({{{"Relu", {"x"}, {"a"}},
                           {"Add", {"a", "w"}, {"b"}},
                           {"Softmax", {"b"}, {"c"}},
                           {"Cast", {"c"}, {"d"}, {Int("to", kInt64)}},
                           {"Mul", {"a", "c"}, {"y"}}},
                          {Value("x", kFloat, {4, 4})},
                          {Value("y", kFloat, {4, 4})},
                          {},
                          {TensorProto("w", kFloat, {4})}}));
  const auto may = [&](std::size_t op) { return m.graph().operators[op].may_overwrite; };
  EXPECT_TRUE(may(0).empty());  // An input of the model.
  EXPECT_EQ(may(1), (std::vector<Overwrite>{{m.Index("a"), m.Index("b")}}));
  EXPECT_TRUE(may(2).empty());  // Reads everything before it writes.
  EXPECT_TRUE(may(3).empty());  // Has another size.
  EXPECT_EQ(may(4).size(), 2);
  const Graph reused = ReuseInPlace(m.graph());
  EXPECT_FALSE(reused.tensors[m.Index("b")].alias_of);  // "a" is still read.
  EXPECT_TRUE(reused.tensors[m.Index("y")].alias_of);
}

using Fields = std::vector<ReceptiveField>;

TEST(OnnxImport, OperatorsThatSlideOverRowsSaySo) {
  const Imported m(Model(
      {{{"Conv",
         {"x", "w"},
         {"a"},
         {List("strides", {2, 1}), List("pads", {1, 0, 1, 0}), List("dilations", {2, 1})}},
        {"MaxPool", {"a"}, {"b"}, {List("kernel_shape", {3, 2}), Text("auto_pad", "SAME_LOWER")}},
        {"Add", {"b", "scale"}, {"c"}},
        {"Concat", {"c", "b"}, {"d"}, {Int("axis", 1)}},
        {"Softmax", {"d"}, {"e"}, {Int("axis", 2)}},
        {"GlobalAveragePool", {"e"}, {"f"}},
        {"Reshape", {"e", "shape"}, {"g"}},
        {"MatMul", {"g", "m"}, {"y"}}},
       {Value("x", kFloat, {1, 2, 12, 9})},
       {Value("y", kFloat, {10, 2}), Value("f", kFloat, {1, 8, 1, 1})},
       {},
       {TensorProto("w", kFloat, {4, 2, 3, 3}), TensorProto("scale", kFloat, {1, 4, 1, 1}),
        TensorProto("m", kFloat, {28, 2}), Int64Tensor("shape", {10, 28})}}));
  const auto fields = [&](std::size_t op) { return m.graph().operators[op].receptive_fields; };
  const auto index = [&](const char* name) { return m.Index(name); };
  // Height: 12 rows with 1 of padding on both sides, a kernel that spans 5. Width: 9, a kernel of 3.
  EXPECT_EQ(fields(0),
            (Fields{{2, 12, 5, 2, 5, 1, {index("x")}}, {3, 9, 7, 1, 3, 0, {index("x")}}}));
  EXPECT_EQ(fields(1),
            (Fields{{2, 5, 5, 1, 3, 1, {index("a")}}, {3, 7, 7, 1, 2, 1, {index("a")}}}));
  // Not in the operand that is repeated.
  EXPECT_EQ(fields(2),
            (Fields{{2, 5, 5, 1, 1, 0, {index("b")}}, {3, 7, 7, 1, 1, 0, {index("b")}}}));
  EXPECT_EQ(fields(3), (Fields{{2, 5, 5, 1, 1, 0, {index("c"), index("b")}},
                               {3, 7, 7, 1, 1, 0, {index("c"), index("b")}}}));
  EXPECT_EQ(fields(4), (Fields{{3, 7, 7, 1, 1, 0, {index("d")}}}));  // Reduced along axis 2.
  EXPECT_TRUE(fields(5).empty());
  EXPECT_TRUE(fields(6).empty());  // A view.
  EXPECT_EQ(fields(7), (Fields{{0, 10, 10, 1, 1, 0, {index("g")}}}));
}

TEST(OnnxImport, OperatorsWithoutOutputsSlideOverNothing) {
  const Imported m(Model({{{"Relu", {"x"}, {}}, {"Relu", {"x"}, {"y"}}},
                          {Value("x", kFloat, {1, 2, 4, 4})},
                          {Value("y", kFloat, {1, 2, 4, 4})}}));
  EXPECT_TRUE(m.graph().operators[0].receptive_fields.empty());
  EXPECT_EQ(m.graph().operators[1].receptive_fields.size(), 2u);
}

constexpr int kInt8 = 3;

TEST(OnnxImport, WeightsThatAreDequantizedKeepTheirSize) {
  const Imported m(Model({{{"DequantizeLinear", {"q", "s"}, {"w"}}, {"Conv", {"x", "w"}, {"y"}}},
                          {Value("x", kFloat, {1, 2, 4, 4})},
                          {Value("y", kFloat, {1, 4, 4, 4})},
                          {},
                          {TensorProto("q", kInt8, {4, 2, 1, 1}), TensorProto("s", kFloat, {})}}));
  EXPECT_EQ(m["w"].bytes, 32);
  EXPECT_EQ(m["w"].quantized, 8);
  EXPECT_EQ(m["y"].quantized, 0);
}

TEST(OnnxImport, BatchNormalizationThatLearnsReadsEverythingFirst) {
  const auto may_overwrite = [](std::vector<Attr> attributes, std::int64_t opset) {
    const Imported m(
        Model({{{"Relu", {"x"}, {"a"}},
                {"BatchNormalization", {"a", "w", "w", "w", "w"}, {"y"}, std::move(attributes)}},
               {Value("x", kFloat, {2, 4})},
               {Value("y", kFloat, {2, 4})},
               {},
               {TensorProto("w", kFloat, {4})}},
              opset));
    return !m.graph().operators[1].may_overwrite.empty();
  };
  EXPECT_TRUE(may_overwrite({}, 13));
  EXPECT_FALSE(may_overwrite({Int("training_mode", 1)}, 15));
  EXPECT_FALSE(may_overwrite({}, 6));
}

// ---- Bodies.

std::string Branch(const std::string& result, std::vector<Node> nodes) {
  return GraphProto({std::move(nodes), {}, {Field(1, result)}});
}

std::string IfModel(const std::string& then_branch, const std::string& else_branch,
                    std::vector<std::string> weights = {}) {
  onnx_build::Graph graph{{{"Relu", {"x"}, {"a"}},
                           {"If",
                            {"c"},
                            {"y"},
                            {Body("then_branch", then_branch), Body("else_branch", else_branch)},
                            "if"},
                           {"Relu", {"y"}, {"z"}}},
                          {Value("x", kFloat, {2, 4})},
                          {Field(1, "z")},
                          {},
                          std::move(weights)};
  if (graph.weights.empty()) graph.inputs.push_back(Value("c", kBool, {}));
  return Model(graph);
}

TEST(OnnxImport, AnIfHasRoomForTheLargerBranch) {
  // t1 and t2 of 32 bytes are live together; the result takes the operator's own output.
  const std::string large =
      Branch("o", {{"Neg", {"a"}, {"t1"}}, {"Abs", {"t1"}, {"t2"}}, {"Add", {"t1", "t2"}, {"o"}}});
  const std::string small = Branch("p", {{"Relu", {"a"}, {"p"}}});
  const Imported m(IfModel(large, small));
  EXPECT_EQ(m["y"].shape, "2x4");
  EXPECT_EQ(m["if (workspace)"].bytes, 64);
  EXPECT_EQ(m["if (workspace)"].kind, TensorKind::kActivation);
  // Outer values that the branches use are read by the operator.
  const Operator& op = m.graph().operators[1];
  EXPECT_NE(std::find(op.inputs.begin(), op.inputs.end(), m.Index("a")), op.inputs.end());
  EXPECT_EQ(m.Peak(), 32 + 32 + 64);
}

TEST(OnnxImport, AKnownConditionLeavesOneBranch) {
  const std::string two = Branch("o", {{"Neg", {"a"}, {"o"}}});
  const std::string other = Branch("p", {{"Reshape", {"a", "w"}, {"p"}}});
  const auto model = [&](bool condition) {
    return IfModel(
        two, other,
        {TensorProto("c", kBool, {}, Number(5, condition ? 1 : 0)), Int64Tensor("w", {8})});
  };
  EXPECT_EQ(Imported(model(true))["y"].shape, "2x4");
  EXPECT_EQ(Imported(model(false))["y"].shape, "8");
}

TEST(OnnxImport, BranchesOfDifferentShapesAreNotGuessed) {
  const std::string two = Branch("o", {{"Neg", {"a"}, {"o"}}});
  const std::string other = Branch("p", {{"Concat", {"a", "a"}, {"p"}, {Int("axis", 0)}}});
  const Imported m(IfModel(two, other));
  EXPECT_EQ(m["y"].shape, "?x4");
  EXPECT_EQ(m["z"].unplanned,
            "operator \"if\" (If): its branches give different shapes, or unknown ones");
  EXPECT_EQ(m["if (workspace)"].bytes, 64);
}

TEST(OnnxImport, ABranchThatCannotRunDoesNotCount) {
  const std::string two = Branch("o", {{"Neg", {"a"}, {"o"}}});
  const std::string broken = Branch("p", {{"MatMul", {"a", "a"}, {"p"}}});
  const Imported m(IfModel(two, broken));
  EXPECT_EQ(m["y"].shape, "2x4");
  EXPECT_TRUE(m.Notes("A branch of operator \"if\" (If) cannot run with these sizes"));
  EXPECT_NE(Refusal(IfModel(broken, broken)).find("inner dimensions of 4 and of 2"),
            std::string::npos);
}

TEST(OnnxImport, WhatABodyMakesOfUnknownSizeIsSaid) {
  const std::string open = Branch("o", {{"NonZero", {"a"}, {"n"}},
                                        {"ReduceSum", {"n"}, {"s"}, {Int("keepdims", 0)}},
                                        {"Cast", {"s"}, {"f"}, {Int("to", kFloat)}},
                                        {"Add", {"a", "f"}, {"o"}}});
  const Imported m(IfModel(open, open));
  EXPECT_EQ(m["y"].shape, "2x4");
  EXPECT_EQ(m["if (workspace)"].bytes, 0);
  EXPECT_NE(m["if (workspace)"].unplanned.find("NonZero"), std::string::npos);
}

std::string LoopModel(const std::string& body, const Ints& count, std::vector<Attr> more = {},
                      const std::string& condition = "") {
  std::vector<Attr> attributes = {Body("body", body)};
  attributes.insert(attributes.end(), more.begin(), more.end());
  return Model({{{"Loop", {"m", condition, "x"}, {"f", "y"}, attributes, "loop"}},
                {Value("x", kFloat, {2, 4}), Value("c", kBool, {})},
                {Field(1, "f"), Field(1, "y")},
                {},
                {Int64Tensor("m", count)}});
}

std::string LoopBody(std::vector<Node> nodes) {
  return GraphProto({std::move(nodes),
                     {Value("i", kInt64, {}), Value("ci", kBool, {}), Unshaped("s", kFloat)},
                     {Field(1, "co"), Field(1, "so"), Field(1, "out")}});
}

TEST(OnnxImport, ALoopKeepsItsStateTwice) {
  const std::string body =
      LoopBody({{"Identity", {"ci"}, {"co"}}, {"Neg", {"s"}, {"so"}}, {"Abs", {"so"}, {"out"}}});
  const Imported m(LoopModel(body, {5}));
  EXPECT_EQ(m["f"].shape, "2x4");
  EXPECT_EQ(m["y"].shape, "5x2x4");
  // Count 8, condition 1 and state 32, plus the body's tensors: the new state and an output.
  EXPECT_EQ(m["loop (workspace)"].bytes, 8 + 1 + 32 + 32 + 32);
  // A condition from outside may end the loop earlier.
  const Imported open(LoopModel(body, {5}, {}, "c"));
  EXPECT_EQ(open["f"].shape, "2x4");
  EXPECT_EQ(open["y"].unplanned, "operator \"loop\" (Loop): how often it runs depends on the data");
}

TEST(OnnxImport, AStateThatGrowsIsNotBelieved) {
  const Imported m(LoopModel(LoopBody({{"Identity", {"ci"}, {"co"}},
                                       {"Concat", {"s", "x"}, {"so"}, {Int("axis", 0)}},
                                       {"Abs", {"x"}, {"out"}}}),
                             {5}));
  EXPECT_EQ(m["f"].shape, "?x4");
  EXPECT_FALSE(m["f"].unplanned.empty());
  EXPECT_EQ(m["y"].shape, "5x2x4");
  EXPECT_NE(m["loop (workspace)"].unplanned.find("changes from one iteration to the next"),
            std::string::npos);
}

TEST(OnnxImport, ScansGoAlongAnAxis) {
  const std::string body = GraphProto({{{"Add", {"s", "e"}, {"so"}}, {"Neg", {"so"}, {"out"}}},
                                       {Unshaped("s", kFloat), Unshaped("e", kFloat)},
                                       {Field(1, "so"), Field(1, "out")}});
  const Imported m(Model({{{"Scan",
                            {"x", "z"},
                            {"f", "y"},
                            {Body("body", body), Int("num_scan_inputs", 1),
                             List("scan_input_axes", {1}), List("scan_output_axes", {-1})},
                            "scan"}},
                          {Value("x", kFloat, {4}), Value("z", kFloat, {4, 7})},
                          {Field(1, "f"), Field(1, "y")}}));
  EXPECT_EQ(m["f"].shape, "4");
  EXPECT_EQ(m["y"].shape, "4x7");
  EXPECT_EQ(m["scan (workspace)"].bytes, 16 + 16 + 16 + 16);
}

TEST(OnnxImport, FunctionsAreWalkedWhereTheyAreCalled) {
  // y = leaky(x) + x, with the slope given by the call.
  const std::string function =
      Field(1, "Fn") + Field(4, "in") + Field(5, "out") + Field(6, "axis") +
      Field(7, NodeProto({"Softmax", {"in"}, {"t"}, {Reference("axis", "axis", 2)}})) +
      Field(7, NodeProto({"Concat", {"t", "in"}, {"out"}, {Reference("axis", "axis", 2)}})) +
      Field(9, Opset("", 13)) + Field(10, "d");
  const Imported m(Model({{{"Fn", {"x"}, {"a"}, {Int("axis", 0)}, "first", "d"},
                           {"Fn", {"a"}, {"y"}, {Int("axis", 1)}, "second", "d"}},
                          {Value("x", kFloat, {2, 4})},
                          {Field(1, "y")}},
                         13, Field(8, Opset("d", 1)) + Field(25, function)));
  EXPECT_EQ(m["a"].shape, "4x4");
  EXPECT_EQ(m["y"].shape, "4x8");
  EXPECT_EQ(m["first (workspace)"].bytes, 32);
  EXPECT_EQ(m["second (workspace)"].bytes, 64);
}

TEST(OnnxImport, SequencesAndOptionalsAreNotPlanned) {
  const Imported m(Model({{{"SequenceConstruct", {"x", "x"}, {"s"}},
                           {"SequenceAt", {"s", "i"}, {"e"}},
                           {"SequenceLength", {"s"}, {"n"}}},
                          {Value("x", kFloat, {2}), Value("i", kInt64, {})},
                          {Field(1, "e"), Field(1, "n")}}));
  EXPECT_EQ(m["s"].unplanned, "a sequence has no fixed size");
  EXPECT_NE(m["e"].unplanned.find("a sequence does not tell"), std::string::npos);
  EXPECT_EQ(m["n"].bytes, 8);
}

TEST(OnnxImport, NamesAreMadeUniqueAndPrintable) {
  const Imported m(
      Model({{{"Relu", {"x"}, {"a\n\xff"}, {}, "n"}, {"Relu", {"a\n\xff"}, {"y"}, {}, "n"}},
             {Value("x", kFloat, {2})},
             {Field(1, "y")}}));
  EXPECT_EQ(m.graph().operators[1].name, "n#2");
  EXPECT_EQ(m.graph().tensors[1].name, "a\\n\\xff");
}

// ---- Where the library has no rule or a different one.

TEST(OnnxRules, ByHand) {
  const auto shape = [](Node node, std::vector<std::string> inputs,
                        std::vector<std::string> weights = {}, std::int64_t opset = 13) {
    const std::string output = node.outputs.back();
    return Imported(One(std::move(node), std::move(inputs), std::move(weights), opset))[output]
        .shape;
  };
  EXPECT_EQ(shape({"ConvTranspose", {"x", "w"}, {"y"}, {List("output_shape", {9, 3})}},
                  {Value("x", kFloat, {2, 2, 7, 6}), Value("w", kFloat, {2, 3, 4, 2})}),
            "2x3x9x3");
  EXPECT_EQ(shape({"OneHot", {"x", "d", "v"}, {"y"}},
                  {Value("x", kInt64, {3}), Value("v", kFloat, {2})}, {Int64Tensor("d", {5})}),
            "3x5");
  EXPECT_EQ(shape({"Split", {"x"}, {"a", "b", "c"}, {Int("num_outputs", 3)}},
                  {Value("x", kFloat, {7})}, {}, 18),
            "1");
  EXPECT_EQ(shape({"ReduceMean", {"x", "a"}, {"y"}}, {Value("x", kFloat, {2, 3})},
                  {Int64Tensor("a", {1})}, 18),
            "2x1");
  EXPECT_EQ(shape({"Pad", {"x", "p", "", "a"}, {"y"}}, {Value("x", kFloat, {2, 3})},
                  {Int64Tensor("p", {1, 2}), Int64Tensor("a", {-1})}, 18),
            "2x6");
  EXPECT_EQ(shape({"Resize", {"x", "", "", "s"}, {"y"}, {List("axes", {2, 3})}},
                  {Value("x", kFloat, {1, 3, 4, 4})}, {Int64Tensor("s", {8, 9})}, 18),
            "1x3x8x9");
  EXPECT_EQ(shape({"FusedMatMul", {"x", "w"}, {"y"}, {Int("transB", 1)}, "", "com.microsoft"},
                  {Value("x", kFloat, {2, 3}), Value("w", kFloat, {4, 3})}),
            "2x4");
  EXPECT_EQ(
      shape(
          {"QLinearAdd", {"x", "s", "z", "w", "s", "z", "s", "z"}, {"y"}, {}, "", "com.microsoft"},
          {Value("x", 2, {2, 1}), Value("w", 2, {1, 5}), Value("s", kFloat, {}),
           Value("z", 2, {})}),
      "2x5");
  EXPECT_EQ(
      shape({"Attention", {"q", "k", "v"}, {"y"}, {Int("q_num_heads", 4), Int("kv_num_heads", 2)}},
            {Value("q", kFloat, {2, 7, 32}), Value("k", kFloat, {2, 9, 16}),
             Value("v", kFloat, {2, 9, 16})},
            {}, 23),
      "2x7x32");
  // The last window begins in the padding: runtimes disagree.
  EXPECT_EQ(shape({"MaxPool",
                   {"x"},
                   {"y"},
                   {List("kernel_shape", {1}), List("strides", {3}), List("pads", {0, 2}),
                    Int("ceil_mode", 1)}},
                  {Value("x", kFloat, {1, 1, 6})}),
            "1x1x?");
  EXPECT_EQ(shape({"MaxPool",
                   {"x"},
                   {"y"},
                   {List("kernel_shape", {3}), List("strides", {2}), Int("ceil_mode", 1)}},
                  {Value("x", kFloat, {1, 1, 6})}),
            "1x1x3");
}

TEST(OnnxImport, EveryTensorIsAlignedAndPadded) {
  const std::string model = Model(
      {{{"Relu", {"x"}, {"a"}}, {"Cast", {"a"}, {"b"}, {Int("to", kInt64)}}, {"Neg", {"b"}, {"y"}}},
       {Value("x", kFloat, {5})},
       {Value("y", kInt64, {5})}});
  for (const auto& [alignment, element_bytes, of_a, a, of_b, b] :
       std::vector<std::array<Bytes, 6>>{{16, 0, 16, 32, 16, 48},
                                         {1, 0, 4, 20, 8, 40},
                                         {64, 0, 64, 64, 64, 64},
                                         {12, 0, 12, 24, 24, 48},
                                         {16, 1, 16, 16, 16, 16},
                                         {4, 1, 4, 8, 4, 8}}) {
    SCOPED_TRACE(alignment);
    OnnxOptions options;
    if (element_bytes > 0) options.element_bytes = static_cast<int>(element_bytes);
    const Imported m(model, options, alignment);
    EXPECT_EQ(m["a"].alignment, of_a);
    EXPECT_EQ(m["a"].bytes, a);
    EXPECT_EQ(m["b"].alignment, of_b);
    EXPECT_EQ(m["b"].bytes, b);
    // Padding may make tensors alike; only those that were may take each other's place.
    EXPECT_EQ(m.graph().operators[1].may_overwrite.size(), element_bytes > 0 ? 1U : 0U);
    EXPECT_EQ(m.graph().operators[2].may_overwrite.size(), 1U);
  }
  OnnxOptions options;
  options.alignment = 0;
  EXPECT_NE(Refusal(model, options).find("an alignment of 0 bytes"), std::string::npos);
}

TEST(OnnxImport, OpenDimensionsTakeTheDefaultWhereItIsAskedFor) {
  const std::string model = Model({{{"Relu", {"x"}, {"y"}}},
                                   {Value("x", kFloat, {"n.a", 3, "p2o.DynamicDimension.0"})},
                                   {Field(1, "y")}});
  OnnxOptions options;
  options.dimensions = {{"p2o.DynamicDimension.0", 7}};
  options.other_dimensions = 2;
  const Imported m(model, options);
  EXPECT_EQ(m["y"].bytes, 4 * 2 * 3 * 7);
  EXPECT_TRUE(m.model().open_dimensions.empty());
  EXPECT_TRUE(m.Notes("Open dimensions taken as 2: n.a."));
  options.other_dimensions = -1;
  EXPECT_NE(Refusal(model, options).find("open dimensions of -1"), std::string::npos);
}

}  // namespace
}  // namespace berth::internal
