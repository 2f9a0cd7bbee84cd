#include "io/onnx/types.h"

#include <algorithm>
#include <array>

namespace berth::internal::onnx {

std::optional<ElementTypeInfo> FindElementType(std::int32_t type) {
  static constexpr std::array<ElementTypeInfo, 27> kTypes = {{
      {"undefined", 0},      {"float32", 32},     {"uint8", 8},          {"int8", 8},
      {"uint16", 16},        {"int16", 16},       {"int32", 32},         {"int64", 64},
      {"string", 0},         {"bool", 8},         {"float16", 16},       {"float64", 64},
      {"uint32", 32},        {"uint64", 64},      {"complex64", 64},     {"complex128", 128},
      {"bfloat16", 16},      {"float8e4m3fn", 8}, {"float8e4m3fnuz", 8}, {"float8e5m2", 8},
      {"float8e5m2fnuz", 8}, {"uint4", 4},        {"int4", 4},           {"float4e2m1", 4},
      {"float8e8m0", 8},     {"uint2", 2},        {"int2", 2},
  }};
  if (type <= kUndefined || static_cast<std::size_t>(type) >= kTypes.size()) return std::nullopt;
  return kTypes[static_cast<std::size_t>(type)];
}

bool IsInteger(std::int32_t type) {
  switch (type) {
    case kUint8:
    case kInt8:
    case kUint16:
    case kInt16:
    case kInt32:
    case kInt64:
    case kUint32:
    case kBool:
      return true;
    default:
      return false;
  }
}

bool IsFloating(std::int32_t type) { return type == kFloat || type == kDouble; }

bool Shape::Known() const {
  return has_rank && std::find(dims.begin(), dims.end(), kUnknownDim) == dims.end();
}

std::optional<std::int64_t> CountOf(const Dims& dims) {
  std::int64_t count = 1;
  bool unknown = false;
  for (const std::int64_t dim : dims) {
    if (dim == 0) return 0;
    unknown = unknown || dim < 0;
  }
  if (unknown) return std::nullopt;
  for (const std::int64_t dim : dims) {
    const std::optional<std::int64_t> product = CheckedMul(count, dim);
    if (!product || *product > kMaxBytes) return std::nullopt;
    count = *product;
  }
  return count;
}

std::string ToString(const Shape& shape) {
  if (!shape.has_rank) return "?";
  if (shape.dims.empty()) return "scalar";
  std::string text;
  for (const std::int64_t dim : shape.dims) {
    if (!text.empty()) text += 'x';
    text += dim < 0 ? "?" : std::to_string(dim);
  }
  return text;
}

std::string_view ToString(TypeKind kind) {
  switch (kind) {
    case TypeKind::kUnknown:
      break;
    case TypeKind::kTensor:
      return "tensor";
    case TypeKind::kSequence:
      return "sequence";
    case TypeKind::kMap:
      return "map";
    case TypeKind::kOptional:
      return "optional";
    case TypeKind::kSparse:
      return "sparse tensor";
  }
  return "value of unknown type";
}

std::optional<Bytes> BytesOf(const Info& info, std::optional<int> element_bytes) {
  if (!info.IsTensor() || !info.shape.has_rank) return std::nullopt;
  const std::optional<ElementTypeInfo> type = FindElementType(info.element);
  const std::optional<std::int64_t> count = CountOf(info.shape.dims);
  if (!type || type->bits == 0 || !count) return std::nullopt;
  const std::optional<std::int64_t> bits =
      CheckedMul(*count, element_bytes ? 8 * *element_bytes : type->bits);
  if (!bits) return std::nullopt;
  const Bytes bytes = *bits / 8 + (*bits % 8 != 0 ? 1 : 0);
  return bytes <= kMaxBytes ? std::optional(bytes) : std::nullopt;
}

}  // namespace berth::internal::onnx
