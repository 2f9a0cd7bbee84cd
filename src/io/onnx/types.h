// io/onnx/types.h -- what is known of an ONNX value before any run: its type, its shape, and where
// it is a small constant what it holds.
#ifndef BERTH_IO_ONNX_TYPES_H_
#define BERTH_IO_ONNX_TYPES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/arithmetic.h"
#include "berth/problem.h"

namespace berth::internal::onnx {

// TensorProto.DataType.
enum ElementType : std::int32_t {
  kUndefined = 0,
  kFloat = 1,
  kUint8 = 2,
  kInt8 = 3,
  kUint16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kDouble = 11,
  kUint32 = 12,
  kUint64 = 13,
  kComplex64 = 14,
  kComplex128 = 15,
  kBfloat16 = 16,
};

struct ElementTypeInfo {
  std::string_view name;
  int bits;  // 0: no fixed size.
};
// Nothing for a number that stands for no type.
[[nodiscard]] std::optional<ElementTypeInfo> FindElementType(std::int32_t type);
[[nodiscard]] bool IsInteger(std::int32_t type);   // Those that fit in 64 bits with sign, and bool.
[[nodiscard]] bool IsFloating(std::int32_t type);  // Those that values are computed for.

inline constexpr std::int64_t kUnknownDim = -1;
// Beyond this a tensor is no tensor; sums of some dimensions and attributes then fit in 64 bits.
inline constexpr std::int64_t kMaxDim = std::int64_t{1} << 56;
inline constexpr std::size_t kMaxRank = 64;

using Dims = std::vector<std::int64_t>;

struct Shape {
  bool has_rank = false;
  Dims dims = {};  // kUnknownDim where not known.

  [[nodiscard]] bool Known() const;  // Rank and all dimensions.
  [[nodiscard]] std::size_t rank() const { return dims.size(); }
  friend bool operator==(const Shape&, const Shape&) = default;
};
[[nodiscard]] inline Shape Ranked(Dims dims) { return {true, std::move(dims)}; }
// The number of elements; nothing where it is unknown or exceeds 2^60.
[[nodiscard]] std::optional<std::int64_t> CountOf(const Dims& dims);
[[nodiscard]] std::string ToString(const Shape& shape);  // "1x3x?x224", "scalar", "?".

// What a tensor holds. Of integers any element may be unknown: the shape of a tensor with one open
// dimension is still known in the others.
struct Value {
  std::vector<std::int64_t> ints = {};  // Integers and bool.
  std::vector<double> reals = {};       // float, double, float16: each rounded to its type.
  std::vector<bool> unknown = {};       // Parallel to `ints`; empty where all are known.

  [[nodiscard]] std::size_t size() const { return ints.size() + reals.size(); }
  [[nodiscard]] bool Complete() const { return unknown.empty(); }
  [[nodiscard]] std::optional<std::int64_t> Int(std::size_t i) const {
    if (i >= ints.size() || (!unknown.empty() && unknown[i])) return std::nullopt;
    return ints[i];
  }
};

enum class TypeKind : std::uint8_t { kUnknown, kTensor, kSequence, kMap, kOptional, kSparse };
[[nodiscard]] std::string_view ToString(TypeKind kind);

struct Info {
  TypeKind kind = TypeKind::kUnknown;
  std::int32_t element = kUndefined;
  Shape shape = {};
  std::shared_ptr<const Value> value = {};  // Elements as many as `shape` says.
  bool constant = false;  // The same in every run: a weight, or computed from weights alone.

  [[nodiscard]] bool IsTensor() const { return kind == TypeKind::kTensor; }
  // The value, all elements of which are known.
  [[nodiscard]] const Value* Complete() const {
    return value != nullptr && value->Complete() ? value.get() : nullptr;
  }
};

// Bytes of a tensor, those of less than a byte packed; nothing where unknown or past 2^60.
// `element_bytes` replaces the size of every type.
[[nodiscard]] std::optional<Bytes> BytesOf(const Info& info, std::optional<int> element_bytes);

}  // namespace berth::internal::onnx

#endif  // BERTH_IO_ONNX_TYPES_H_
