// berth/onnx.h -- ONNX models as graphs, and back with their operators in another order.
//
// Reading a model takes its structure out of the file and leaves the weights where they are: give
// the bytes of a mapped file (berth/file.h) and a model of many gigabytes costs no more than the same
// without weights. External data is never looked for. No library of ONNX or protobuf is needed.
#ifndef BERTH_ONNX_H_
#define BERTH_ONNX_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/graph.h"
#include "berth/result.h"

namespace [[gnu::visibility("default")]] berth {

// A size that a model leaves open. `name` is what the model calls it ("batch"), or the input and
// the position, from 0, where it has no name: "images[0]".
struct OnnxDimension {
  std::string name;
  std::int64_t size = 0;  // From 0 to 2^56.
  friend bool operator==(const OnnxDimension&, const OnnxDimension&) = default;
};

struct OnnxOptions {
  std::vector<OnnxDimension> dimensions;
  // Every element, of whatever type, is planned as this many bytes: 1 for a model that is to run in
  // 8 bits. From 1 to 16.
  std::optional<int> element_bytes;
};

struct OnnxModel {
  // operators[i] is node i of the model's graph, so an order of one is an order of the other:
  //   * what follows from weights and known shapes alone is TensorKind::kConstant, and not planned;
  //   * Reshape, Flatten, Squeeze, Unsqueeze, Identity and Dropout (outside training) make views;
  //   * If, Loop, Scan and calls of functions have a workspace, an output that nobody reads, with
  //     room for their bodies in program order;
  //   * Operator::may_overwrite says which element-wise results may lie over an operand.
  Graph graph;
  // Sizes of inputs that are still open.
  std::vector<std::string> open_dimensions;
  // What a reader of the plan has to know; one sentence each.
  std::vector<std::string> notes;
};

// Reads a model. `name` is what errors call the file. Shapes are computed from those of the inputs,
// by the definitions of the operators; where there is none, or the operator set is newer than this
// library, by what the file says. What stays unknown has Tensor::unplanned.
// The graph is valid. Errors: kParse for what is no model, is damaged, or contradicts itself,
// naming the byte, operator or tensor; kInvalidOptions for a dimension that the model does not
// have; kInvalidGraph. Memory: that of the structure, at most some gigabytes, whatever the file
// claims.
[[nodiscard]] Result<OnnxModel> ReadOnnx(std::string_view bytes, std::string_view name,
                                         const OnnxOptions& options = {});

// The model with the nodes of its graph in `order`, as pieces of `bytes`, one after the other:
// every byte outside the entries of the nodes stays as it is, and each entry is moved as a whole,
// so that nothing is lost that this library does not know. Checks that `order` has each node once;
// that it may run is for ValidateOrder(). Errors: kParse, kInvalidPlan. Cost: linear in the
// structure.
[[nodiscard]] Result<std::vector<std::string_view>> ReorderOnnx(std::string_view bytes,
                                                                std::string_view name,
                                                                const Order& order);

}  // namespace berth

#endif  // BERTH_ONNX_H_
