#include "io/onnx/call.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace berth::internal::onnx {

Call::Call(OnnxSource& source, const NodeMessage& node, std::int64_t opset,
           std::vector<const Info*> inputs)
    : source_(source),
      node_(node),
      opset_(opset),
      inputs_(std::move(inputs)),
      outputs_(node.outputs.size()) {}

const Info& Call::In(std::size_t i) const {
  static const Info kNothing;
  return Has(i) ? *inputs_[i] : kNothing;
}

const std::vector<std::int64_t>* Call::IntsOf(std::size_t i) const {
  const Value* value = In(i).Complete();
  return value != nullptr && value->reals.empty() ? &value->ints : nullptr;
}

const std::vector<double>* Call::RealsOf(std::size_t i) const {
  const Value* value = In(i).Complete();
  return value != nullptr && value->ints.empty() ? &value->reals : nullptr;
}

std::optional<std::int64_t> Call::IntOf(std::size_t i) const {
  const Value* value = In(i).value.get();
  return value != nullptr && value->size() == 1 ? value->Int(0) : std::nullopt;
}

const Attribute* Call::Find(std::string_view name) const {
  for (const Attribute& attribute : node_.attributes) {
    if (attribute.name == name) return &attribute;
  }
  return nullptr;
}

std::int64_t Call::Int(std::string_view name, std::int64_t otherwise) const {
  const Attribute* attribute = Find(name);
  return attribute != nullptr && attribute->type == AttributeType::kInt ? attribute->number
                                                                        : otherwise;
}

double Call::Real(std::string_view name, double otherwise) const {
  const Attribute* attribute = Find(name);
  return attribute != nullptr && attribute->type == AttributeType::kFloat ? double{attribute->real}
                                                                          : otherwise;
}

std::string_view Call::Text(std::string_view name, std::string_view otherwise) const {
  const Attribute* attribute = Find(name);
  return attribute != nullptr && attribute->type == AttributeType::kString ? attribute->bytes
                                                                           : otherwise;
}

const std::vector<std::int64_t>* Call::Ints(std::string_view name) const {
  const Attribute* attribute = Find(name);
  return attribute != nullptr && attribute->type == AttributeType::kInts &&
                 attribute->count == attribute->numbers.size()
             ? &attribute->numbers
             : nullptr;
}

std::optional<TensorMessage> Call::TensorOf(std::string_view name) {
  const Attribute* attribute = Find(name);
  if (attribute == nullptr || attribute->type != AttributeType::kTensor) return std::nullopt;
  Result<TensorMessage> tensor = ParseTensor(source_, attribute->bytes);
  if (!tensor) {
    Fail("its attribute holds a damaged tensor");
    return std::nullopt;
  }
  return *std::move(tensor);
}

const std::vector<std::int64_t>* Call::IntsOf(std::size_t i, std::string_view name,
                                              bool& known) const {
  if (Has(i)) {
    const std::vector<std::int64_t>* ints = IntsOf(i);
    known = ints != nullptr;
    return ints;
  }
  known = true;
  return Ints(name);
}

void Call::Set(std::size_t i, std::int32_t element, Shape shape) {
  if (i >= outputs_.size()) return;
  if (shape.rank() > kMaxRank) return Fail("it makes a tensor of more than 64 dimensions");
  for (const std::int64_t dim : shape.dims) {
    if (dim > kMaxDim) return Fail("it makes a tensor with a dimension of " + std::to_string(dim));
    BERTH_CHECK(dim >= kUnknownDim);
  }
  outputs_[i].kind = TypeKind::kTensor;
  outputs_[i].element = element;
  outputs_[i].shape = std::move(shape);
}

void Call::SetKind(std::size_t i, TypeKind kind) {
  if (i < outputs_.size()) outputs_[i].kind = kind;
}

void Call::Fail(std::string_view sentence) {
  if (failure_.empty()) failure_ = sentence;
}

std::optional<std::size_t> Call::Axis(std::int64_t axis, std::size_t rank) {
  const auto end = static_cast<std::int64_t>(rank);
  if (axis < -end || axis >= end) {
    Fail("axis " + std::to_string(axis) + " of a tensor of " + std::to_string(rank) +
         " dimensions");
    return std::nullopt;
  }
  return static_cast<std::size_t>(axis < 0 ? axis + end : axis);
}

bool Call::Within(const std::vector<std::int64_t>& numbers, std::size_t size, std::int64_t least,
                  std::int64_t most, std::string_view what) {
  if (numbers.size() != size) {
    Fail(std::to_string(numbers.size()) + " " + std::string(what) + " instead of " +
         std::to_string(size));
    return false;
  }
  for (const std::int64_t number : numbers) {
    if (number < least || number > most) {
      Fail(std::string(what) + " of " + std::to_string(number));
      return false;
    }
  }
  return true;
}

std::int64_t Call::Times(std::int64_t a, std::int64_t b) {
  if (a == 0 || b == 0) return 0;
  if (a < 0 || b < 0) return kUnknownDim;
  const std::optional<std::int64_t> product = CheckedMul(a, b);
  if (product && *product <= kMaxDim) return *product;
  Fail("it makes a dimension of " + std::to_string(a) + " x " + std::to_string(b));
  return kUnknownDim;
}

std::int64_t Call::Same(std::int64_t a, std::int64_t b, std::string_view what) {
  if (a >= 0 && b >= 0 && a != b) {
    Fail(std::string(what) + " of " + std::to_string(a) + " and of " + std::to_string(b));
  }
  return a >= 0 ? a : b;
}

Shape Call::Broadcast(const Shape& a, const Shape& b) {
  if (!a.has_rank || !b.has_rank) return {};
  const std::size_t rank = std::max(a.rank(), b.rank());
  Shape out = Ranked(Dims(rank));
  for (std::size_t i = 0; i < rank; ++i) {  // From the last dimension.
    const std::int64_t x = i < a.rank() ? a.dims[a.rank() - 1 - i] : 1;
    const std::int64_t y = i < b.rank() ? b.dims[b.rank() - 1 - i] : 1;
    std::int64_t& dim = out.dims[rank - 1 - i];
    if (x == 1 || y == 1 || x == y) {
      dim = x == 1 ? y : x;
    } else if (x >= 0 && y >= 0) {
      Fail("operands of " + ToString(a) + " and " + ToString(b) + " elements");
      dim = kUnknownDim;
    } else {
      dim = std::max(x, y);  // The unknown one is 1 or the same.
    }
  }
  return out;
}

}  // namespace berth::internal::onnx
