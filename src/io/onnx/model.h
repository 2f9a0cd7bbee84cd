// io/onnx/model.h -- the messages of an ONNX model, as views into the file.
//
// Only structure is taken out of the file: names, attributes, dimensions. The contents of tensors
// stay where they are, so a mapped file of many gigabytes costs as much memory as the same model
// without weights. A small message can still stand for a large structure (two bytes make an
// operator), so each allocation is charged to an allowance first, and a file that exceeds it is
// refused.
//
// Source: onnx.proto of ONNX 1.20 (field numbers), with which older models agree.
#ifndef BERTH_IO_ONNX_MODEL_H_
#define BERTH_IO_ONNX_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/wire.h"
#include "berth/result.h"
#include "io/onnx/types.h"

namespace berth::internal::onnx {

// The file: its name for messages, and how much memory it may still take.
class OnnxSource {
 public:
  OnnxSource(std::string_view bytes, std::string_view name);

  [[nodiscard]] std::string_view bytes() const { return bytes_; }
  [[nodiscard]] const std::string& name() const { return name_; }  // Printable.

  // "NAME: sentence".
  [[nodiscard]] tl::unexpected<Error> Fail(std::string_view sentence,
                                           ErrorCode code = ErrorCode::kParse,
                                           Subject subject = {}) const;
  // "NAME: byte N: sentence", where `at` begins.
  [[nodiscard]] tl::unexpected<Error> FailAt(std::string_view at, std::string_view sentence) const;

  // Whether another `bytes` of memory may be used; they are then charged.
  [[nodiscard]] bool Charge(std::size_t bytes);

 private:
  std::string_view bytes_;
  std::string name_;
  std::size_t allowance_;
};

// A tensor in the file. Only ReadElements() reads its elements.
struct TensorMessage {
  std::string_view name;
  std::int32_t element = kUndefined;
  Dims dims;
  bool external = false;
  std::string_view message;  // All of it.
};

enum class AttributeType : std::int32_t {
  kUndefined = 0,
  kFloat = 1,
  kInt = 2,
  kString = 3,
  kTensor = 4,
  kGraph = 5,
  kFloats = 6,
  kInts = 7,
  kStrings = 8,
  kTensors = 9,
  kGraphs = 10,
  kSparseTensor = 11,
  kSparseTensors = 12,
  kType = 13,
  kTypes = 14,
};

struct Attribute {
  std::string_view name;
  std::string_view reference;  // In a function: the attribute of the call that stands here.
  AttributeType type = AttributeType::kUndefined;
  float real = 0;
  std::int64_t number = 0;
  std::string_view bytes;  // String, tensor, graph, sparse tensor or type: its message.
  std::vector<std::int64_t> numbers;
  std::vector<float> reals;
  std::vector<std::string_view> list;  // Strings, tensors, graphs.
  std::size_t count = 0;               // Of kInts and kFloats, also when too many to keep.
};
// Longer lists of numbers are taken for weights: they are counted, not kept.
inline constexpr std::size_t kMaxKeptNumbers = std::size_t{1} << 16;

struct NodeMessage {
  std::string_view name;
  std::string_view type;
  std::string_view domain;    // "" for "ai.onnx" too.
  std::string_view overload;  // Tells functions of the same name apart.
  std::vector<std::string_view> inputs;
  std::vector<std::string_view> outputs;
  std::vector<Attribute> attributes;
  std::string_view whole;  // Its entry in the graph, with tag and length.
};

// A value as the file declares it. The names of dimensions are in `names`.
struct ValueMessage {
  std::string_view name;
  TypeKind kind = TypeKind::kUnknown;
  std::int32_t element = kUndefined;
  Shape shape;
  std::vector<std::string_view> names;  // Parallel to the dimensions; empty if none has a name.
};

struct GraphMessage {
  std::string_view name;
  std::vector<NodeMessage> nodes;
  std::vector<ValueMessage> inputs;
  std::vector<ValueMessage> outputs;
  std::vector<ValueMessage> values;
  std::vector<TensorMessage> weights;  // Sparse ones as the dense tensors that they stand for.
};

struct OpsetMessage {
  std::string_view domain;
  std::int64_t version = 0;
};

struct FunctionMessage {
  std::string_view name;
  std::string_view domain;
  std::string_view overload;
  std::vector<std::string_view> inputs;
  std::vector<std::string_view> outputs;
  std::vector<std::string_view> attributes;  // Without a default.
  std::vector<Attribute> defaults;
  std::vector<OpsetMessage> opsets;
  GraphMessage body;  // Nodes and value_info only.
};

struct ModelMessage {
  std::int64_t ir_version = 0;
  std::vector<OpsetMessage> opsets;
  std::vector<FunctionMessage> functions;
  std::string_view graph;  // Its message.
  std::size_t training_graphs = 0;
};

[[nodiscard]] Result<ModelMessage> ParseModel(OnnxSource& source);
[[nodiscard]] Result<GraphMessage> ParseGraph(OnnxSource& source, std::string_view message);
[[nodiscard]] Result<TensorMessage> ParseTensor(OnnxSource& source, std::string_view message);
// The dense tensor that a sparse one stands for.
[[nodiscard]] Result<TensorMessage> ParseSparseTensor(OnnxSource& source, std::string_view message);

// The elements of a tensor in the file itself whose type IsInteger() or IsFloating(); null for
// other tensors and for those of more than `most` elements. Error: kParse, if their number is not
// that of the dimensions.
[[nodiscard]] Result<std::shared_ptr<const Value>> ReadElements(OnnxSource& source,
                                                                const TensorMessage& tensor,
                                                                std::size_t most);

// The entries of the graph's nodes in `graph`, in the order of the file.
[[nodiscard]] Result<std::vector<std::string_view>> NodeEntries(OnnxSource& source,
                                                                std::string_view graph);

}  // namespace berth::internal::onnx

#endif  // BERTH_IO_ONNX_MODEL_H_
