// Graphs from a seed are valid, have the requested size, and are the same on every platform.

#include "tools/generate/graphs.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "tools/generate/language_model.h"

namespace berth::internal {
namespace {

std::uint64_t Digest(const Graph& graph) {
  std::uint64_t digest = 14695981039346656037u;
  const auto add = [&](std::uint64_t value) { digest = (digest ^ value) * 1099511628211u; };
  for (const Operator& op : graph.operators) {
    for (const auto* list : {&op.inputs, &op.outputs, &op.mutates}) {
      add(list->size());
      for (const TensorIndex t : *list) add(t);
    }
  }
  for (const Tensor& tensor : graph.tensors) add(static_cast<std::uint64_t>(tensor.bytes));
  return digest;
}

TEST(GenerateGraph, IsValidAndOfTheRequestedSize) {
  for (const GraphFamilyInfo& info : GraphFamilies()) {
    EXPECT_EQ(GraphFamilyFromName(info.name), info.family);
    for (const std::int64_t operators : {4, 50, 150, 1000}) {
      for (const std::int64_t width : {1, 7, 30}) {
        GraphParameters parameters;
        parameters.operators = operators;
        parameters.width = width;
        parameters.seed = static_cast<std::uint64_t>(operators + width);
        const auto graph = GenerateGraph(info.family, parameters);
        ASSERT_TRUE(graph.has_value()) << graph.error().message;
        const auto valid = Validate(*graph);
        EXPECT_TRUE(valid.has_value()) << valid.error().message;
        const auto made = static_cast<double>(graph->operators.size());
        // Of a language model, whole blocks.
        const double off = info.family == GraphFamily::kLanguageModel
                               ? static_cast<double>(8 + OperatorsOfBlock(width))
                               : 4 + 0.25 * static_cast<double>(operators);
        EXPECT_NEAR(made, static_cast<double>(operators), off) << info.name;
      }
    }
  }
}

TEST(GenerateGraph, IsTheSameEverywhere) {
  EXPECT_EQ(Digest(*GenerateGraph(GraphFamily::kIrregular, {})), 14270403786215031463u);
  EXPECT_EQ(Digest(*GenerateGraph(GraphFamily::kCell, {})), 14181195471652853494u);
  EXPECT_EQ(Digest(*GenerateGraph(GraphFamily::kLanguageModel, {})), 14681224954036536563u);
}

TEST(GenerateGraph, NamesParametersOutOfBounds) {
  const auto message = [](GraphParameters parameters) {
    const auto graph = GenerateGraph(GraphFamily::kCell, parameters);
    return graph ? std::string("accepted") : graph.error().message;
  };
  GraphParameters parameters;
  parameters.operators = 3;
  EXPECT_EQ(message(parameters), "operators is 3 but must be from 4 to 1000000");
  parameters = {};
  parameters.width = 0;
  EXPECT_EQ(message(parameters), "width is 0 but must be from 1 to 1000");
  parameters = {};
  parameters.stored_percent = 101;
  EXPECT_EQ(message(parameters), "stored is 101 but must be from 0 to 100");
}

}  // namespace
}  // namespace berth::internal
