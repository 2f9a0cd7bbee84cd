// Networks from their published cells are valid and have the published numbers of parameters.

#include "tools/generate/cells.h"

#include <gtest/gtest.h>

#include <string>

namespace berth::internal {
namespace {

// Weights and two numbers for each channel of a batch normalisation, of which only the bias is left
// once it is folded into the convolution. `classes` have a bias of their own.
std::int64_t TrainedParameters(const Graph& graph) {
  std::int64_t count = 0;
  for (const Operator& op : graph.operators) {
    for (const TensorIndex t : op.inputs) {
      const Tensor& tensor = graph.tensors[t];
      if (tensor.kind != TensorKind::kParameter) continue;
      const bool is_bias = tensor.name.ends_with(".bias");
      count += is_bias && op.type != "Gemm" ? 2 * tensor.bytes : tensor.bytes;
    }
  }
  return count;
}

// Of the first tensor whose name has this part; -1 if none has.
Bytes BytesOf(const Graph& graph, const std::string& part) {
  for (const Tensor& tensor : graph.tensors) {
    if (tensor.name.find(part) != std::string::npos) return tensor.bytes;
  }
  return -1;
}

// Zoph et al., Table 2: NASNet-A (6 @ 4032) has 88.9 million parameters; Keras says that 88,753,150 of them
// are trained.
TEST(CellNetworks, NasnetHasThePublishedParameters) {
  const Graph graph = MakeNasnetA(kNasnetALarge, 1);
  ASSERT_TRUE(Validate(graph).has_value());
  EXPECT_EQ(TrainedParameters(graph), 88'753'150);
  EXPECT_EQ(BytesOf(graph, "end.Relu"), 11 * 11 * 4032);
}

// GPipe (Huang et al., NeurIPS 2019), Table 1, has 82, 318 and 542 million for what the authors' stem gives.
TEST(CellNetworks, AmoebanetHasNearlyThePublishedParameters) {
  const auto parameters = [](std::int64_t cells, std::int64_t filters) {
    const Graph graph = MakeAmoebanetD({cells, filters, 224}, 1);
    EXPECT_TRUE(Validate(graph).has_value());
    return TrainedParameters(graph);
  };
  EXPECT_EQ(parameters(18, 208), 81'505'540);
  EXPECT_EQ(parameters(18, 416), 319'024'120);
  EXPECT_EQ(parameters(18, 544), 542'734'840);
  const Graph graph = MakeAmoebanetD(kAmoebanetD, 1);
  EXPECT_EQ(BytesOf(graph, "classify.GlobalAveragePool"), 4 * 1024);
}

TEST(CellNetworks, ElementsMayHaveAnySize) {
  const Graph one = MakeAmoebanetD({3, 16, 128}, 1);
  const Graph four = MakeAmoebanetD({3, 16, 128}, 4);
  ASSERT_EQ(one.tensors.size(), four.tensors.size());
  for (std::size_t t = 0; t < one.tensors.size(); ++t) {
    EXPECT_EQ(4 * one.tensors[t].bytes, four.tensors[t].bytes);
  }
  EXPECT_TRUE(Validate(MakeNasnetA({3, 8, 128}, 1)).has_value());
}

}  // namespace
}  // namespace berth::internal
