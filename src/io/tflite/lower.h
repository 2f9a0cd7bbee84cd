// io/tflite/lower.h -- a TensorFlow Lite model as a graph, and where its tensors are in a plan of it.
//
// The graph has the operators of the first subgraph. Before them comes one that makes the inputs,
// which lie in the same arena as everything else. The tensors of subgraphs that an operator runs
// are placed together: they are one more output of that operator. Operators that run the same
// subgraph share this output, as its tensors have one address only.
#ifndef BERTH_IO_TFLITE_LOWER_H_
#define BERTH_IO_TFLITE_LOWER_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/graph.h"
#include "berth/onnx.h"
#include "berth/result.h"
#include "io/tflite/model.h"
#include "io/tflite/tflm.h"

namespace berth::internal::tflite {

// A tensor of the file in the graph.
struct Spot {
  TensorIndex tensor = 0;
  Bytes offset = 0;  // From the beginning of the tensor.
};

struct Lowered {
  Graph graph;
  std::vector<std::optional<Spot>> spots;  // By number; none for tensors that are not in the graph.
  OperatorIndex first_operator = 0;        // 1 if an operator makes the inputs.
  std::vector<Container> containers;
};

// Errors: kParse for a tensor that is made twice, or read before it is made; kInvalidGraph.
[[nodiscard]] Result<Lowered> Lower(const ModelEntry& model, const Timeline& timeline,
                                    const Sizes& sizes, const std::vector<Scratch>& scratch,
                                    const OnnxOptions& options, std::string_view name);

}  // namespace berth::internal::tflite

#endif  // BERTH_IO_TFLITE_LOWER_H_
