// tools/verify/graph_json.h -- graphs in JSON (docs/formats/graph.md), read without the planner's reader.
#ifndef BERTH_TOOLS_VERIFY_GRAPH_JSON_H_
#define BERTH_TOOLS_VERIFY_GRAPH_JSON_H_

#include <string_view>

#include "berth/graph.h"

namespace berth::verify {

// What the orders and the live bytes of a graph depend on: of tensors bytes, kind, output, alias_of and
// alignment, of operators inputs, outputs, mutates and after. Names and all other keys are ignored. A tensor
// without bytes that says why (`unplanned`) has 0.
// `alignment` (1 to 2^30): sizes are multiples of it, except those of parameters and constants; 1: they
// are as the file says.
// Errors: kParse, for a file that is no such graph or whose operators are not in an order in which they
// can run. Cost: linear.
[[nodiscard]] Result<Graph> ReadGraph(std::string_view text, Bytes alignment);

}  // namespace berth::verify

#endif  // BERTH_TOOLS_VERIFY_GRAPH_JSON_H_
