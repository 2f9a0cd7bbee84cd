// berth/onnx.h -- ONNX models as graphs, and back with their operators in another order.
//
// Reading a model takes its structure out of the file and leaves the weights where they are: from
// the bytes of a mapped file (berth/file.h), a model of many gigabytes costs no more memory than the
// same model without weights. External data is never opened. Neither ONNX's library nor protobuf is
// needed.
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

// The size of a dimension that a model leaves open. `name` is the model's own name for it ("batch")
// or, if it has none, the input and the position, from 0: "images[0]".
struct OnnxDimension {
  std::string name;
  std::int64_t size = 0;  // From 0 to 2^56.
  friend bool operator==(const OnnxDimension&, const OnnxDimension&) = default;
};

struct OnnxOptions {
  std::vector<OnnxDimension> dimensions = {};
  // Plan every element as this many bytes, whatever its type: 1 for a model that will run in 8 bits.
  // From 1 to 16.
  std::optional<int> element_bytes = {};
  // The size of every open dimension that is not among `dimensions`. From 0 to 2^56.
  std::optional<std::int64_t> other_dimensions = {};
  // As Aligned() takes it, besides the size of an element, of which every offset is a multiple.
  // Runtimes ask for 16 (TensorFlow Lite Micro) to 64 (onnxruntime). From 1 to 2^30.
  Bytes alignment = 16;
  friend bool operator==(const OnnxOptions&, const OnnxOptions&) = default;
};

struct OnnxModel {
  // operators[i] is node i of the model's graph, so an order of one is an order of the other:
  //   * values that follow from weights and known shapes alone are of TensorKind::kConstant, and
  //     not planned;
  //   * Reshape, Flatten, Squeeze, Unsqueeze, Identity and Dropout (outside training) make views;
  //   * If, Loop, Scan and calls of functions have a workspace, modelled as an output with no
  //     readers, with room for their bodies in program order;
  //   * Operator::may_overwrite lists the operands that element-wise results may overwrite.
  Graph graph;
  // The dimensions of inputs that are still open.
  std::vector<std::string> open_dimensions;
  // Facts that a reader of the plan has to know; one sentence each.
  std::vector<std::string> notes;
};

// Reads a model. `name` is what errors call the file. Shapes are computed from those of the inputs,
// by the definitions of the operators; for unknown operators, and operator sets newer than this
// library, they are those that the file declares. Tensors of unknown size have Tensor::unplanned.
// The graph is valid. Errors: kParse for a file that is not a model, is damaged, or contradicts
// itself, naming the byte, operator or tensor; kInvalidOptions for a dimension that the model does
// not have; kInvalidGraph. The subject is the operator, if the error is about one of the model's
// own graph. Memory: that of the structure, at most some gigabytes, whatever the file claims.
[[nodiscard]] Result<OnnxModel> ReadOnnx(std::string_view bytes, std::string_view name,
                                         const OnnxOptions& options = {});

// The model with the nodes of its graph in `order`, as pieces of `bytes`, one after the other.
// Every byte outside the entries of the nodes stays as it is, and each entry is moved as a whole,
// so parts that this library does not know are kept. Checks that `order` has each node once; to
// check that it can run, use ValidateOrder(). Errors: kParse, kInvalidPlan. Cost: linear in the
// structure.
[[nodiscard]] Result<std::vector<std::string_view>> ReorderOnnx(std::string_view bytes,
                                                                std::string_view name,
                                                                const Order& order);

}  // namespace berth

#endif  // BERTH_ONNX_H_
