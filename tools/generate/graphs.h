// tools/generate/graphs.h -- graphs from a seed, whose orders are worth searching.
//
// Networks that people draw are narrow, and mostly easy. These are not: sizes differ at random, and
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
  // Each operator reads one to three of the `width` tensors made last.
  kIrregular,
  // The training step of a wide cell: layers of `width` operators, each of which reads one to three
  // of the layers before; backwards in reverse, with sums of gradients, weight gradients and their
  // updates. `stored_percent` of the operators need their inputs again in the backward pass.
  kCell,
};

struct GraphFamilyInfo {
  GraphFamily family;
  std::string_view name;     // As on the command line: "irregular".
  std::string_view summary;  // One sentence.
};
// All families, in the order of the enumeration.
[[nodiscard]] std::span<const GraphFamilyInfo> GraphFamilies();
// Nothing where no family has that name.
[[nodiscard]] std::optional<GraphFamily> GraphFamilyFromName(std::string_view name);

struct GraphParameters {
  std::uint64_t seed = 1;
  std::int64_t operators = 150;  // 4 .. 100,000. A cell has about so many.
  std::int64_t width = 10;       // 1 .. 1000.
  int stored_percent = 10;       // 0 .. 100. Of cells.
};

// Makes a graph, valid, in program order. Errors: kInvalidOptions, naming the parameter, its value
// and what is allowed. Cost: linear.
[[nodiscard]] Result<Graph> GenerateGraph(GraphFamily family, const GraphParameters& parameters);

}  // namespace berth::internal

#endif  // BERTH_TOOLS_GENERATE_GRAPHS_H_
