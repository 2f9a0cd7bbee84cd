// tests/onnx/build.h -- writes ONNX files byte for byte.
#ifndef BERTH_TESTS_ONNX_BUILD_H_
#define BERTH_TESTS_ONNX_BUILD_H_

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace berth::internal::onnx_build {

// ---- The wire format.

inline std::string Varint(std::uint64_t number) {
  std::string out;
  for (; number >= 0x80; number >>= 7) out += static_cast<char>((number & 0x7f) | 0x80);
  return out + static_cast<char>(number);
}
inline std::string Number(std::uint32_t field, std::int64_t number) {
  return Varint(std::uint64_t{field} << 3) + Varint(static_cast<std::uint64_t>(number));
}
inline std::string Field(std::uint32_t field, std::string_view bytes) {
  return Varint((std::uint64_t{field} << 3) | 2) + Varint(bytes.size()) + std::string(bytes);
}
inline std::string Fixed32(std::uint32_t bits) {
  std::string out;
  for (int i = 0; i < 4; ++i) out += static_cast<char>(bits >> (8 * i));
  return out;
}
inline std::string Real(std::uint32_t field, float real) {
  return Varint((std::uint64_t{field} << 3) | 5) + Fixed32(std::bit_cast<std::uint32_t>(real));
}

// ---- Attributes.

using Ints = std::vector<std::int64_t>;

struct Attr {
  std::string message;
};
inline Attr Int(std::string_view name, std::int64_t value) {
  return {Field(1, name) + Number(3, value) + Number(20, 2)};
}
inline Attr Float(std::string_view name, float value) {
  return {Field(1, name) + Real(2, value) + Number(20, 1)};
}
inline Attr Text(std::string_view name, std::string_view value) {
  return {Field(1, name) + Field(4, value) + Number(20, 3)};
}
inline Attr List(std::string_view name, const Ints& values) {
  std::string message = Field(1, name);
  for (const std::int64_t value : values) message += Number(8, value);
  return {message + Number(20, 7)};
}
inline Attr Reals(std::string_view name, const std::vector<float>& values) {
  std::string message = Field(1, name);
  for (const float value : values) message += Real(7, value);
  return {message + Number(20, 6)};
}
inline Attr Body(std::string_view name, std::string_view graph) {
  return {Field(1, name) + Field(6, graph) + Number(20, 5)};
}
inline Attr Tensor(std::string_view name, std::string_view tensor) {
  return {Field(1, name) + Field(5, tensor) + Number(20, 4)};
}
// In a function: the value that the call gives for `reference`.
inline Attr Reference(std::string_view name, std::string_view reference, std::int64_t type) {
  return {Field(1, name) + Field(21, reference) + Number(20, type)};
}

// ---- Tensors and values.

inline constexpr int kFloat = 1;
inline constexpr int kInt32 = 6;
inline constexpr int kInt64 = 7;
inline constexpr int kBool = 9;

inline std::string TensorProto(std::string_view name, int type, const Ints& dims,
                               std::string_view data = {}) {
  std::string message;
  for (const std::int64_t dim : dims) message += Number(1, dim);
  return message + Number(2, type) + Field(8, name) + std::string(data);
}
inline std::string Int64Data(const Ints& values) {
  std::string packed;
  for (const std::int64_t value : values) packed += Varint(static_cast<std::uint64_t>(value));
  return Field(7, packed);
}
inline std::string Int64Tensor(std::string_view name, const Ints& values) {
  return TensorProto(name, kInt64, {static_cast<std::int64_t>(values.size())}, Int64Data(values));
}
inline std::string FloatTensor(std::string_view name, const std::vector<float>& values) {
  std::string raw;
  for (const float value : values) raw += Fixed32(std::bit_cast<std::uint32_t>(value));
  return TensorProto(name, kFloat, {static_cast<std::int64_t>(values.size())}, Field(9, raw));
}

// A dimension is a number, a name, or -1 for an open one without a name.
struct Dim {
  Dim(std::int64_t dim) : size(dim) {}             // NOLINT(google-explicit-constructor)
  Dim(const char* text) : size(-1), name(text) {}  // NOLINT(google-explicit-constructor)
  std::int64_t size;
  std::string name;
};
using Dims = std::vector<Dim>;

inline std::string TensorType(int type, const Dims& dims) {
  std::string shape;
  for (const Dim& dim : dims) {
    std::string message;
    if (!dim.name.empty()) {
      message = Field(2, dim.name);
    } else if (dim.size >= 0) {
      message = Number(1, dim.size);
    }
    shape += Field(1, message);
  }
  return Field(1, Number(1, type) + Field(2, shape));
}
inline std::string Value(std::string_view name, int type, const Dims& dims) {
  return Field(1, name) + Field(2, TensorType(type, dims));
}
// Of unknown rank.
inline std::string Unshaped(std::string_view name, int type) {
  return Field(1, name) + Field(2, Field(1, Number(1, type)));
}

// ---- Nodes, graphs, models.

struct Node {
  std::string type;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<Attr> attributes = {};
  std::string name = {};
  std::string domain = {};
};
inline std::string NodeProto(const Node& node) {
  std::string message;
  for (const std::string& input : node.inputs) message += Field(1, input);
  for (const std::string& output : node.outputs) message += Field(2, output);
  if (!node.name.empty()) message += Field(3, node.name);
  message += Field(4, node.type);
  for (const Attr& attribute : node.attributes) message += Field(5, attribute.message);
  if (!node.domain.empty()) message += Field(7, node.domain);
  return message;
}

struct Graph {
  std::vector<Node> nodes;
  std::vector<std::string> inputs = {};   // Value().
  std::vector<std::string> outputs = {};  // Value().
  std::vector<std::string> values = {};   // Value().
  std::vector<std::string> weights = {};  // TensorProto().
};
inline std::string GraphProto(const Graph& graph) {
  std::string message;
  for (const Node& node : graph.nodes) message += Field(1, NodeProto(node));
  message += Field(2, "g");
  for (const std::string& weight : graph.weights) message += Field(5, weight);
  for (const std::string& input : graph.inputs) message += Field(11, input);
  for (const std::string& output : graph.outputs) message += Field(12, output);
  for (const std::string& value : graph.values) message += Field(13, value);
  return message;
}

inline std::string Opset(std::string_view domain, std::int64_t version) {
  return (domain.empty() ? "" : Field(1, domain)) + Number(2, version);
}
inline std::string Model(const Graph& graph, std::int64_t opset = 13, std::string_view more = {}) {
  return Number(1, 7) + Field(7, GraphProto(graph)) + Field(8, Opset("", opset)) +
         std::string(more);
}

}  // namespace berth::internal::onnx_build

#endif  // BERTH_TESTS_ONNX_BUILD_H_
