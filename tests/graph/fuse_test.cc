#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "berth/graph.h"
#include "testing/order_oracle.h"
#include "testing/random_graph.h"
#include "tests/graph/build.h"
#include "tools/verify/verify.h"

namespace berth::internal {
namespace {

Build& Typed(Build& build, const std::string& type) {
  build.graph.operators.back().type = type;
  return build;
}

// input -> Conv -> x -> Relu -> y -> Conv -> z
Build ConvRelu() {
  Build b = Build().Source("input", 8).Made("x", 8).Made("y", 8).Made("z", 2);
  Typed(b.Op("conv", {"input"}, {"x"}), "Conv");
  Typed(b.Op("relu", {"x"}, {"y"}).MayOverwrite("x", "y"), "Relu");
  Typed(b.Op("last", {"y"}, {"z"}), "Conv");
  b.Output("z");
  return b;
}

TEST(FuseTest, AnElementwiseOperatorIsComputedWithTheOneBefore) {
  const Build b = ConvRelu();
  const Graph fused = Fuse(b.graph);
  const auto valid = Validate(fused);
  ASSERT_TRUE(valid) << valid.error().message;
  EXPECT_EQ(Live(b.graph, {0, 1, 2}).peak, 16);
  EXPECT_EQ(Live(fused, {0, 1, 2}).peak, 10);
  EXPECT_EQ(fused.tensors[b.T("x")].alias_of, b.T("y"));
  EXPECT_TRUE(fused.operators[1].outputs.empty());
  // The orders are those of the model.
  EXPECT_FALSE(ValidateOrder(fused, {0, 2, 1}));
  EXPECT_EQ(Fuse(fused), fused);
}

TEST(FuseTest, AChainIsComputedAtOnce) {
  Build b = Build().Source("input", 8).Made("x", 8).Made("n", 8).Made("y", 8).Made("z", 8);
  b.Source("scale", 4, TensorKind::kParameter);
  Typed(b.Op("conv", {"input"}, {"x"}), "Conv");
  Typed(b.Op("norm", {"x", "scale"}, {"n"}).MayOverwrite("x", "n"), "BatchNormalization");
  Typed(b.Op("relu", {"n"}, {"y"}).MayOverwrite("n", "y"), "Relu");
  Typed(b.Op("tanh", {"y"}, {"z"}).MayOverwrite("y", "z"), "Tanh");
  b.Output("z");
  const Graph fused = Fuse(b.graph);
  ASSERT_TRUE(Validate(fused));
  EXPECT_EQ(Live(fused, {0, 1, 2, 3}).peak, 8);
}

TEST(FuseTest, WhatIsReadElsewhereStays) {
  const auto unchanged = [](const Build& b) {
    EXPECT_TRUE(Validate(b.graph));
    return Fuse(b.graph) == b.graph;
  };
  Build result = ConvRelu();
  result.Output("x");
  EXPECT_TRUE(unchanged(result));
  Build twice = ConvRelu();
  twice.Made("w", 1).Op("more", {"x"}, {"w"});
  EXPECT_TRUE(unchanged(twice));
  Build waits = ConvRelu();
  waits.graph.operators[1].after = {0};
  EXPECT_TRUE(unchanged(waits));
  Build sort = ConvRelu();
  sort.graph.operators[0].type = "TopK";
  EXPECT_TRUE(unchanged(sort));
  // The other operand may be made later.
  Build add = Build().Made("x", 8).Made("r", 8).Made("y", 8);
  Typed(add.Op("conv", {}, {"x"}), "Conv").Op("other", {}, {"r"});
  Typed(add.Op("add", {"x", "r"}, {"y"}).MayOverwrite("x", "y"), "Add");
  EXPECT_TRUE(unchanged(add));
}

// input -> Conv -> r -> Conv -> x -> Add with r -> y -> Relu -> z -> Conv -> end
Build Residual() {
  Build b = Build().Source("input", 8).Made("r", 8).Made("c", 6).Made("x", 8).Made("y", 8);
  b.Made("z", 8).Made("end", 1);
  Typed(b.Op("first", {"input"}, {"r"}), "Conv");
  Typed(b.Op("second", {"r"}, {"c"}), "Conv");
  Typed(b.Op("third", {"c"}, {"x"}), "Conv");
  Typed(b.Op("add", {"r", "x"}, {"y"}).MayOverwrite("r", "y").MayOverwrite("x", "y"), "Add");
  Typed(b.Op("relu", {"y"}, {"z"}).MayOverwrite("y", "z"), "Relu");
  Typed(b.Op("last", {"z"}, {"end"}), "Conv");
  b.Output("end");
  return b;
}

TEST(FuseTest, AResidualIsReadByTheConvolutionBefore) {
  const Build b = Residual();
  const Graph fused = Fuse(b.graph);
  const auto valid = Validate(fused);
  ASSERT_TRUE(valid) << valid.error().message;
  const Order order = ProgramOrder(b.graph);
  const Operator& third = fused.operators[b.V("third")];
  EXPECT_EQ(third.inputs, (std::vector<TensorIndex>{b.T("c"), b.T("r")}));
  EXPECT_EQ(third.outputs.front(), b.T("z"));
  // The residual, and what the second convolution made, with the result: r + c + z.
  EXPECT_EQ(Live(b.graph, order).peak, 24);
  EXPECT_EQ(Live(fused, order).peak, 22);
  // Written over the residual: r + c.
  EXPECT_EQ(Live(ReuseInPlace(fused), order).peak, 14);
}

TEST(FuseTest, TheResultIsNotWrittenOverWhatAConvolutionNeedsWhole) {
  Build b = Build().Source("input", 8).Made("r", 8).Made("x", 8).Made("y", 8).Made("end", 1);
  Typed(b.Op("first", {"input"}, {"r"}), "Conv");
  Typed(b.Op("second", {"r"}, {"x"}), "Conv");
  Typed(b.Op("add", {"x", "r"}, {"y"}).MayOverwrite("x", "y").MayOverwrite("r", "y"), "Add");
  Typed(b.Op("last", {"y"}, {"end"}), "Conv").Output("end");
  const Graph fused = Fuse(b.graph);
  ASSERT_TRUE(Validate(fused));
  EXPECT_EQ(fused.operators[1].inputs, (std::vector<TensorIndex>{b.T("r")}));
  EXPECT_EQ(fused.operators[1].outputs.front(), b.T("y"));
  EXPECT_TRUE(fused.operators[1].may_overwrite.empty());
  EXPECT_EQ(Live(ReuseInPlace(fused), {0, 1, 2, 3}).peak, 16);
}

// Where the other operand may be made later, the orders would not be those of the model.
TEST(FuseTest, AnOperandOfAnotherBranchIsNotReadEarlier) {
  Build b = Residual();
  b.graph.operators[b.V("second")].inputs = {b.T("input")};
  EXPECT_EQ(Fuse(b.graph).operators[b.V("third")].inputs, (std::vector<TensorIndex>{b.T("c")}));
}

TEST(FuseTest, WeightsOfQuantizedOperatorsAreCountedQuantized) {
  Build b = Build().Source("input", 2).Made("q", 2).Made("f", 8).Made("g", 8).Made("p", 2);
  b.Source("weight", 400, TensorKind::kConstant);
  b.graph.tensors.back().quantized = 100;
  b.Op("first", {"input"}, {"q"});
  Typed(b.Op("dequantize", {"q"}, {"f"}), "DequantizeLinear");
  Typed(b.Op("middle", {"f", "weight"}, {"g"}), "Conv");
  Typed(b.Op("quantize", {"g"}, {"p"}), "QuantizeLinear");
  b.Output("p");
  const Counting counting{.parameters = true};
  EXPECT_EQ(Live(b.graph, {0, 1, 2, 3}, counting).peak, 416);
  EXPECT_EQ(Live(Fuse(b.graph), {0, 1, 2, 3}, counting).peak, 104);
  // Another operator computes with the elements of the model.
  b.Made("h", 8).Made("i", 8);
  Typed(b.Op("float", {}, {"h"}), "RandomNormal");
  Typed(b.Op("product", {"h", "weight"}, {"i"}), "MatMul");
  EXPECT_EQ(Fuse(b.graph).tensors[b.T("weight")].bytes, 400);
}

// q -> DequantizeLinear -> f -> Conv -> g -> Relu -> h -> QuantizeLinear -> p
TEST(FuseTest, QuantizedModelsReadAndMakeQuantizedElements) {
  for (const std::string type : {"Conv", "MaxPool"}) {
    Build b = Build().Source("input", 2).Made("q", 2).Made("f", 8).Made("g", 8).Made("p", 2);
    b.Op("first", {"input"}, {"q"});
    Typed(b.Op("dequantize", {"q"}, {"f"}), "DequantizeLinear");
    Typed(b.Op("middle", {"f"}, {"g"}), type);
    Typed(b.Op("quantize", {"g"}, {"p"}), "QuantizeLinear");
    b.Output("p");
    const Graph fused = Fuse(b.graph);
    const auto valid = Validate(fused);
    ASSERT_TRUE(valid) << valid.error().message;
    EXPECT_EQ(Live(b.graph, {0, 1, 2, 3}).peak, 16);
    EXPECT_EQ(Live(fused, {0, 1, 2, 3}).peak, 4);
  }
  // Without QuantizeLinear at the end, the elements are those of the model.
  Build open = Build().Made("q", 2).Made("f", 8).Made("g", 8).Op("first", {}, {"q"});
  Typed(open.Op("dequantize", {"q"}, {"f"}), "DequantizeLinear");
  Typed(open.Op("middle", {"f"}, {"g"}), "Softmax");
  EXPECT_EQ(Fuse(open.graph), open.graph);
}

TEST(FuseTest, KeepsTheOrdersAndRaisesNoPeak) {
  int fusions = 0;
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Graph graph = RandomGraph(seed, AllGraphKnobs());
    for (Operator& op : graph.operators) op.type = "Conv";
    const Graph fused = Fuse(graph);
    const auto valid = Validate(fused);
    ASSERT_TRUE(valid) << valid.error().message;
    for (std::uint64_t i = 0; i < 3; ++i) {
      const Order order = RandomOrder(graph, 3 * seed + i);
      EXPECT_TRUE(ValidateOrder(fused, order));
      EXPECT_TRUE(verify::VerifyOrder(fused, order).ok());
      EXPECT_LE(Live(fused, order).peak, Live(graph, order).peak);
      EXPECT_LE(Live(ReuseInPlace(fused), order).peak, Live(fused, order).peak);
      EXPECT_TRUE(ValidateOrder(graph, RandomOrder(fused, 3 * seed + i)));
    }
    fusions += fused != graph ? 1 : 0;
  }
  EXPECT_GT(fusions, 25);
}

}  // namespace
}  // namespace berth::internal
