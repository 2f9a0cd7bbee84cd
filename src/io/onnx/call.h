// io/onnx/call.h -- one operator as its rules see it: what is known of its inputs, and what they
// make known of its outputs.
//
// A rule sets the shapes that follow from the operator's definition, and leaves out what does not:
// an unknown dimension is never guessed. Where inputs contradict the definition it fails, and the
// model is refused: no run of it could succeed. Files come from strangers, so rules check whatever
// they index with or multiply.
#ifndef BERTH_IO_ONNX_CALL_H_
#define BERTH_IO_ONNX_CALL_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/onnx/model.h"
#include "io/onnx/types.h"

namespace berth::internal::onnx {

// Attributes and computed sizes that are multiplied with each other stay below this.
inline constexpr std::int64_t kMaxFactor = std::int64_t{1} << 31;

class Call {
 public:
  // `inputs` has a null for each optional input that is left out. All must outlive the call.
  Call(OnnxSource& source, const NodeMessage& node, std::int64_t opset,
       std::vector<const Info*> inputs);

  [[nodiscard]] const NodeMessage& node() const { return node_; }
  [[nodiscard]] std::int64_t opset() const { return opset_; }
  [[nodiscard]] OnnxSource& source() const { return source_; }

  [[nodiscard]] std::size_t num_inputs() const { return inputs_.size(); }
  [[nodiscard]] bool Has(std::size_t i) const {
    return i < inputs_.size() && inputs_[i] != nullptr;
  }
  // Of an input that is left out: unknown, like that of one that is not known.
  [[nodiscard]] const Info& In(std::size_t i) const;
  [[nodiscard]] const Shape& ShapeOf(std::size_t i) const { return In(i).shape; }
  [[nodiscard]] std::int32_t ElementOf(std::size_t i) const { return In(i).element; }
  // The integers that an input holds, all of them known; or null.
  [[nodiscard]] const std::vector<std::int64_t>* IntsOf(std::size_t i) const;
  [[nodiscard]] const std::vector<double>* RealsOf(std::size_t i) const;
  // Of an input of one element.
  [[nodiscard]] std::optional<std::int64_t> IntOf(std::size_t i) const;

  [[nodiscard]] const Attribute* Find(std::string_view name) const;
  [[nodiscard]] std::int64_t Int(std::string_view name, std::int64_t otherwise) const;
  [[nodiscard]] double Real(std::string_view name, double otherwise) const;
  [[nodiscard]] std::string_view Text(std::string_view name, std::string_view otherwise) const;
  [[nodiscard]] const std::vector<std::int64_t>* Ints(std::string_view name) const;
  // The tensor that an attribute holds; nothing also where it is damaged, which then has failed.
  [[nodiscard]] std::optional<TensorMessage> TensorOf(std::string_view name);

  // Integers that newer operator sets give as input `i` and older ones as attribute `name`. In
  // `known`, whether they are either known or surely left out.
  [[nodiscard]] const std::vector<std::int64_t>* IntsOf(std::size_t i, std::string_view name,
                                                        bool& known) const;

  [[nodiscard]] std::size_t num_outputs() const { return outputs_.size(); }
  [[nodiscard]] Info& Out(std::size_t i) { return outputs_[i]; }
  [[nodiscard]] const Info& Out(std::size_t i) const { return outputs_[i]; }
  // Of an output that the node does not have, nothing happens.
  void Set(std::size_t i, std::int32_t element, Shape shape);
  void SetKind(std::size_t i, TypeKind kind);

  // The inputs contradict the operator's definition.
  void Fail(std::string_view sentence);
  [[nodiscard]] bool failed() const { return !failure_.empty(); }
  [[nodiscard]] const std::string& failure() const { return failure_; }
  // Why the outputs are unknown though the inputs are not.
  void Because(std::string_view reason) { reason_ = reason; }
  [[nodiscard]] const std::string& reason() const { return reason_; }

  // `axis` from the front, where `rank` dimensions are there; fails where there is no such axis.
  [[nodiscard]] std::optional<std::size_t> Axis(std::int64_t axis, std::size_t rank);
  // Whether each number lies within bounds and there are `size` of them; fails otherwise.
  [[nodiscard]] bool Within(const std::vector<std::int64_t>& numbers, std::size_t size,
                            std::int64_t least, std::int64_t most, std::string_view what);
  // a * b as a dimension, unknown where one is; fails where it is too large.
  [[nodiscard]] std::int64_t Times(std::int64_t a, std::int64_t b);
  // The shape that operands of these shapes are repeated to.
  [[nodiscard]] Shape Broadcast(const Shape& a, const Shape& b);
  // A dimension that two values share. Fails where they differ.
  [[nodiscard]] std::int64_t Same(std::int64_t a, std::int64_t b, std::string_view what);

 private:
  OnnxSource& source_;
  const NodeMessage& node_;
  std::int64_t opset_;
  std::vector<const Info*> inputs_;
  std::vector<Info> outputs_;
  std::string failure_;
  std::string reason_;
};

}  // namespace berth::internal::onnx

#endif  // BERTH_IO_ONNX_CALL_H_
