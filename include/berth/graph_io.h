// berth/graph_io.h -- graphs and orders as JSON (docs/formats/graph.md).
#ifndef BERTH_GRAPH_IO_H_
#define BERTH_GRAPH_IO_H_

#include <string>
#include <string_view>

#include "berth/graph.h"
#include "berth/result.h"

namespace [[gnu::visibility("default")]] berth {

// Reads a graph, or one that PyTorch's Inductor wrote (docs/formats/inductor.md). `name` is what errors call the file. The result is valid.
// Errors: kParse "NAME:LINE:COLUMN: ..." for text that is not JSON, otherwise
// "NAME: node number 3, \"conv\": ..."; kInvalidGraph "NAME: operator \"conv\": ...".
[[nodiscard]] Result<Graph> ReadGraphJson(std::string_view text, std::string_view name);

// Writes `graph` as ReadGraphJson() reads it, one operator or tensor on each line. In names, bytes
// that are not UTF-8 become U+FFFD.
[[nodiscard]] std::string WriteGraphJson(const Graph& graph);

// The order in a JSON file: its "order", a list of operators by name or by position in program
// order, or such a list alone. The result is a valid order of `graph`, unless `validate` is false:
// then any list of its operators is accepted. Errors: kParse; kInvalidPlan, naming the operators.
[[nodiscard]] Result<Order> ReadOrder(std::string_view text, std::string_view name,
                                      const Graph& graph, bool validate = true);

}  // namespace berth

#endif  // BERTH_GRAPH_IO_H_
