// tools/generate/graphs.h -- graphs from a seed that are hard to order.
//
// Hand-designed networks are narrow and mostly easy. These graphs are not: sizes are random, and
// many operators are ready at once. The same family, parameters and seed give the same graph on
// every platform and compiler.
#ifndef BERTH_TOOLS_GENERATE_GRAPHS_H_
#define BERTH_TOOLS_GENERATE_GRAPHS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "berth/graph.h"
#include "berth/result.h"

namespace berth::internal {

enum class GraphFamily {
  // Each operator reads one to three of the `width` most recent tensors.
  kIrregular,
  // The training step of a wide cell: layers of `width` operators, each of which reads one to three
  // of the layers before; a backward pass with sums of gradients, weight gradients and updates.
  // `stored_percent` of the operators need their inputs again in the backward pass.
  kCell,
  // The training step of a language model of equal blocks: attention with `width` heads, each of
  // them computed by its own operators, and a feed-forward layer; gradients of all weights, and
  // their updates after all gradients, as frameworks write them.
  kLanguageModel,
};

struct GraphFamilyInfo {
  GraphFamily family;
  std::string_view name;     // As on the command line: "irregular".
  std::string_view summary;  // One sentence.
};
// All families, in the order of the enumeration.
[[nodiscard]] std::span<const GraphFamilyInfo> GraphFamilies();
// Nothing if no family has that name.
[[nodiscard]] std::optional<GraphFamily> GraphFamilyFromName(std::string_view name);

struct GraphParameters {
  std::uint64_t seed = 1;
  std::int64_t operators = 150;  // 4 .. 1,000,000; approximate but for kIrregular, whole blocks.
  std::int64_t width = 10;       // 1 .. 1000.
  int stored_percent = 10;       // 0 .. 100; for a cell.
};

// Makes a graph, valid, in program order. Errors: kInvalidOptions, naming the parameter, its value
// and what is allowed. Cost: linear.
[[nodiscard]] Result<Graph> GenerateGraph(GraphFamily family, const GraphParameters& parameters);

}  // namespace berth::internal

#endif  // BERTH_TOOLS_GENERATE_GRAPHS_H_
