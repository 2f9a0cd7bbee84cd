#include "io/onnx/fold.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

namespace berth::internal::onnx {
namespace folds {
namespace {

using Positions = std::vector<std::size_t>;

// An integer as its type keeps it.
std::int64_t Wrap(std::int64_t number, std::int32_t type) {
  switch (type) {
    case kUint8:
      return static_cast<std::uint8_t>(number);
    case kInt8:
      return static_cast<std::int8_t>(number);
    case kUint16:
      return static_cast<std::uint16_t>(number);
    case kInt16:
      return static_cast<std::int16_t>(number);
    case kUint32:
      return static_cast<std::uint32_t>(number);
    case kInt32:
      return static_cast<std::int32_t>(number);
    case kBool:
      return number != 0 ? 1 : 0;
    default:
      return number;
  }
}

double Rounded(double number, std::int32_t type) {
  return type == kFloat ? double{static_cast<float>(number)} : number;
}

// The elements of `from` at `positions`.
Value Take(const Value& from, const Positions& positions) {
  Value value;
  if (!from.unknown.empty()) {
    for (const std::size_t i : positions) value.unknown.push_back(from.unknown[i]);
  }
  for (const std::size_t i : positions) {
    if (from.reals.empty()) {
      value.ints.push_back(from.ints[i]);
    } else {
      value.reals.push_back(from.reals[i]);
    }
  }
  return value;
}

// Appends an element of `from`.
void Append(Value& value, const Value& from, std::size_t i) {
  const bool unknown = !from.unknown.empty() && from.unknown[i];
  if (unknown && value.unknown.empty()) value.unknown.resize(value.size(), false);
  if (from.reals.empty()) {
    value.ints.push_back(from.ints[i]);
  } else {
    value.reals.push_back(from.reals[i]);
  }
  if (unknown || !value.unknown.empty()) value.unknown.push_back(unknown);
}

void Forget(Value& value, std::size_t i) {
  value.unknown.resize(value.size(), false);
  value.unknown[i] = true;
}

// None of them unknown, then there is no list.
void Tidy(Value& value) {
  if (std::find(value.unknown.begin(), value.unknown.end(), true) == value.unknown.end()) {
    value.unknown.clear();
  }
}

Dims StridesOf(const Dims& dims) {
  Dims strides(dims.size(), 1);
  for (std::size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return strides;
}

// For each element of a tensor of `dims`, in order: `first` and `strides` times its coordinates.
Positions Strided(const Dims& dims, const Dims& strides, std::int64_t first) {
  Positions positions;
  const auto count = static_cast<std::size_t>(CountOf(dims).value_or(0));
  positions.reserve(count);
  Dims at(dims.size(), 0);
  std::int64_t position = first;
  while (positions.size() < count) {
    positions.push_back(static_cast<std::size_t>(position));
    for (std::size_t d = dims.size(); d-- > 0;) {
      position += strides[d];
      if (++at[d] < dims[d]) break;
      position -= strides[d] * dims[d];
      at[d] = 0;
    }
  }
  return positions;
}

// Strides that repeat a tensor of `dims` to the shape `out`.
Dims RepeatingStrides(const Dims& dims, const Dims& out) {
  Dims strides(out.size(), 0);
  const Dims own = StridesOf(dims);
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const std::size_t d = out.size() - dims.size() + i;
    if (dims[i] != 1) strides[d] = own[i];
  }
  return strides;
}

// The value of an input, its shape being known; the count of elements agrees.
const Value* ValueOf(const Call& call, std::size_t i) {
  const Info& info = call.In(i);
  return info.value != nullptr && info.shape.Known() ? info.value.get() : nullptr;
}

// Only what agrees with the type and the shape of the output: a file may ask for the logical
// negation of a real number.
void Give(Call& call, std::size_t i, Value value) {
  const Info& out = call.Out(i);
  const std::optional<std::int64_t> count =
      out.shape.Known() ? CountOf(out.shape.dims) : std::nullopt;
  const bool right_type = IsInteger(out.element)    ? value.reals.empty()
                          : IsFloating(out.element) ? value.ints.empty()
                                                    : false;
  if (!right_type || !count || static_cast<std::uint64_t>(*count) != value.size()) return;
  Tidy(value);
  call.Out(i).value = std::make_shared<const Value>(std::move(value));
}

}  // namespace

void Same(Call& call) {
  const Value* value = ValueOf(call, 0);
  if (value != nullptr && CountOf(call.Out(0).shape.dims) == CountOf(call.ShapeOf(0).dims)) {
    call.Out(0).value = call.In(0).value;
  }
}

void ShapeOperator(Call& call) {
  const Shape& in = call.ShapeOf(0);
  if (!in.has_rank) return;
  const std::int64_t count = call.Out(0).shape.dims[0];
  const auto rank = static_cast<std::int64_t>(in.rank());
  std::int64_t start = std::max(call.Int("start", 0), -2 * rank);
  start = std::clamp<std::int64_t>(start < 0 ? start + rank : start, 0, rank);
  Value value;
  for (std::int64_t i = start; i < start + count; ++i) {
    const std::int64_t dim = in.dims[static_cast<std::size_t>(i)];
    value.ints.push_back(dim);
    if (dim < 0) Forget(value, value.size() - 1);
  }
  if (!value.unknown.empty()) value.unknown.resize(value.size(), false);
  Give(call, 0, std::move(value));
}

void Size(Call& call) {
  const Shape& in = call.ShapeOf(0);
  const std::optional<std::int64_t> count = in.has_rank ? CountOf(in.dims) : std::nullopt;
  if (count) Give(call, 0, Value{{*count}, {}, {}});
}

void Constant(Call& call) {
  const Attribute& attribute = call.node().attributes[0];
  if (attribute.name == "value") {
    const std::optional<TensorMessage> tensor = call.TensorOf("value");
    if (!tensor) return;
    Result<std::shared_ptr<const Value>> value = ReadElements(call.source(), *tensor, kMaxFolded);
    if (!value) return call.Fail("its value has not as many elements as its dimensions say");
    call.Out(0).value = *std::move(value);
  } else if (attribute.name == "value_int") {
    Give(call, 0, Value{{attribute.number}, {}, {}});
  } else if (attribute.name == "value_float") {
    Give(call, 0, Value{{}, {double{attribute.real}}, {}});
  } else if (attribute.name == "value_ints" && attribute.count == attribute.numbers.size()) {
    Give(call, 0, Value{attribute.numbers, {}, {}});
  } else if (attribute.name == "value_floats" && attribute.count == attribute.reals.size()) {
    Give(call, 0, Value{{}, {attribute.reals.begin(), attribute.reals.end()}, {}});
  }
}

void ConstantOfShape(Call& call) {
  const auto count = static_cast<std::size_t>(*CountOf(call.Out(0).shape.dims));
  Value filler{{}, {0.0}, {}};
  if (const std::optional<TensorMessage> tensor = call.TensorOf("value")) {
    Result<std::shared_ptr<const Value>> value = ReadElements(call.source(), *tensor, 1);
    if (!value) return call.Fail("its value has not as many elements as its dimensions say");
    if (*value == nullptr || (*value)->size() != 1) return;
    filler = **value;
  }
  Give(call, 0, Take(filler, Positions(count, 0)));
}

void Cast(Call& call) {
  const Value* in = ValueOf(call, 0);
  if (in == nullptr) return;
  const std::int32_t from = call.ElementOf(0);
  const std::int32_t to = call.Out(0).element;
  Value value;
  value.unknown = in->unknown;
  if (IsInteger(from) && IsInteger(to)) {
    for (const std::int64_t number : in->ints) value.ints.push_back(Wrap(number, to));
  } else if (IsInteger(from)) {
    if (!in->Complete()) return;
    for (const std::int64_t number : in->ints) {
      value.reals.push_back(to == kFloat ? double{static_cast<float>(number)}
                                         : static_cast<double>(number));
    }
  } else if (IsInteger(to)) {
    for (const double number : in->reals) {
      if (to == kBool) {
        value.ints.push_back(number != 0 ? 1 : 0);
        continue;
      }
      if (!(std::abs(number) < 9e15)) return;  // What does not fit is undefined.
      const auto whole = static_cast<std::int64_t>(number);
      if (Wrap(whole, to) != whole) return;
      value.ints.push_back(whole);
    }
  } else {
    for (const double number : in->reals) value.reals.push_back(Rounded(number, to));
  }
  Give(call, 0, std::move(value));
}

void Concat(Call& call) {
  const Dims& out = call.Out(0).shape.dims;
  const std::optional<std::size_t> axis =
      call.Axis(call.Int("axis", call.opset() < 4 ? 1 : 0), out.size());
  if (!axis || CountOf(out) == 0) return Give(call, 0, {});
  std::int64_t outer = 1;
  for (std::size_t i = 0; i < *axis; ++i) outer *= out[i];
  for (std::size_t i = 0; i < call.num_inputs(); ++i) {
    if (ValueOf(call, i) == nullptr || call.ElementOf(i) != call.ElementOf(0)) return;
  }
  Value value;
  for (std::int64_t row = 0; row < outer; ++row) {
    for (std::size_t i = 0; i < call.num_inputs(); ++i) {
      const Value& in = *ValueOf(call, i);
      const std::size_t width = in.size() / static_cast<std::size_t>(outer);
      for (std::size_t j = 0; j < width; ++j) {
        Append(value, in, static_cast<std::size_t>(row) * width + j);
      }
    }
  }
  Give(call, 0, std::move(value));
}

void Split(Call& call) {
  const Value* in = ValueOf(call, 0);
  if (in == nullptr) return;
  const Dims& dims = call.ShapeOf(0).dims;
  const std::optional<std::size_t> axis = call.Axis(call.Int("axis", 0), dims.size());
  if (!axis) return;
  const Dims strides = StridesOf(dims);
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < call.num_outputs(); ++i) {
    const Dims& out = call.Out(i).shape.dims;
    const bool inside = out.size() == dims.size() && begin + out[*axis] <= dims[*axis];
    if (!inside) return;
    Give(call, i, Take(*in, Strided(out, strides, begin * strides[*axis])));
    begin += out[*axis];
  }
}

void Gather(Call& call) {
  const Value* data = ValueOf(call, 0);
  const std::vector<std::int64_t>* indices = call.IntsOf(1);
  if (data == nullptr || indices == nullptr || !call.ShapeOf(1).Known()) return;
  const Dims& dims = call.ShapeOf(0).dims;
  const std::optional<std::size_t> axis = call.Axis(call.Int("axis", 0), dims.size());
  if (!axis) return;
  std::int64_t outer = 1;
  for (std::size_t i = 0; i < *axis; ++i) outer *= dims[i];
  const std::int64_t inner = StridesOf(dims)[*axis];
  const std::int64_t size = dims[*axis];
  Positions positions;
  for (std::int64_t row = 0; row < outer; ++row) {
    for (const std::int64_t index : *indices) {
      if (index < -size || index >= size) {
        return call.Fail("index " + std::to_string(index) + " into a dimension of " +
                         std::to_string(size));
      }
      const std::int64_t first = (row * size + (index < 0 ? index + size : index)) * inner;
      for (std::int64_t j = 0; j < inner; ++j) {
        positions.push_back(static_cast<std::size_t>(first + j));
      }
    }
  }
  Give(call, 0, Take(*data, positions));
}

void Slice(Call& call) {
  const Value* in = ValueOf(call, 0);
  if (in == nullptr) return;
  const bool attributes = call.opset() < 10;
  const std::vector<std::int64_t>* starts = attributes ? call.Ints("starts") : call.IntsOf(1);
  const std::vector<std::int64_t>* axes = attributes    ? call.Ints("axes")
                                          : call.Has(3) ? call.IntsOf(3)
                                                        : nullptr;
  const std::vector<std::int64_t>* steps = !attributes && call.Has(4) ? call.IntsOf(4) : nullptr;
  if (starts == nullptr) return;
  const Dims& dims = call.ShapeOf(0).dims;
  Dims strides = StridesOf(dims);
  std::int64_t first = 0;
  for (std::size_t i = 0; i < starts->size(); ++i) {
    const std::optional<std::size_t> axis =
        call.Axis(axes != nullptr ? (*axes)[i] : static_cast<std::int64_t>(i), dims.size());
    if (!axis) return;
    const std::int64_t dim = dims[*axis];
    const std::int64_t step = steps != nullptr ? std::clamp((*steps)[i], -kMaxDim, kMaxDim) : 1;
    std::int64_t start = std::max((*starts)[i], -2 * kMaxDim);
    if (start < 0) start += dim;
    if (dim == 0) continue;
    start = std::clamp<std::int64_t>(start, 0, step > 0 ? dim : dim - 1);
    first += start * strides[*axis];
    // Only multiplied with coordinates that exist.
    strides[*axis] *= call.Out(0).shape.dims[*axis] > 1 ? step : 0;
  }
  Give(call, 0, Take(*in, Strided(call.Out(0).shape.dims, strides, first)));
}

void Transpose(Call& call) {
  const Value* in = ValueOf(call, 0);
  if (in == nullptr) return;
  const Dims own = StridesOf(call.ShapeOf(0).dims);
  Dims strides(own.rbegin(), own.rend());
  if (const std::vector<std::int64_t>* permutation = call.Ints("perm")) {
    const auto rank = static_cast<std::int64_t>(own.size());
    for (std::size_t i = 0; i < own.size(); ++i) {
      strides[i] = own[static_cast<std::size_t>(((*permutation)[i] + rank) % rank)];
    }
  }
  Give(call, 0, Take(*in, Strided(call.Out(0).shape.dims, strides, 0)));
}

void Expand(Call& call) {
  const Value* in = ValueOf(call, 0);
  if (in == nullptr) return;
  const Dims& out = call.Out(0).shape.dims;
  Give(call, 0, Take(*in, Strided(out, RepeatingStrides(call.ShapeOf(0).dims, out), 0)));
}

void Tile(Call& call) {
  const Value* in = ValueOf(call, 0);
  if (in == nullptr) return;
  const Dims& dims = call.ShapeOf(0).dims;
  const Dims& out = call.Out(0).shape.dims;
  const Dims strides = StridesOf(dims);
  const Dims out_strides = StridesOf(out);
  const auto count = static_cast<std::size_t>(*CountOf(out));
  Positions positions(count, 0);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t d = 0; d < dims.size(); ++d) {
      const std::int64_t at = static_cast<std::int64_t>(i) / out_strides[d] % out[d];
      positions[i] += static_cast<std::size_t>(at % dims[d] * strides[d]);
    }
  }
  Give(call, 0, Take(*in, positions));
}

void Range(Call& call) {
  const std::int64_t count = call.Out(0).shape.dims[0];
  const std::int32_t type = call.ElementOf(0);
  Value value;
  if (IsInteger(type)) {
    const std::int64_t start = *call.IntOf(0);
    const std::int64_t step = *call.IntOf(2);
    for (std::int64_t i = 0; i < count; ++i) {
      value.ints.push_back(Wrap(static_cast<std::int64_t>(static_cast<std::uint64_t>(start) +
                                                          static_cast<std::uint64_t>(i) *
                                                              static_cast<std::uint64_t>(step)),
                                type));
    }
  } else {
    for (std::int64_t i = 0; i < count; ++i) {
      value.reals.push_back(
          Rounded((*call.RealsOf(0))[0] + static_cast<double>(i) * (*call.RealsOf(2))[0], type));
    }
  }
  Give(call, 0, std::move(value));
}

void NonZero(Call& call) {
  const Value* in = call.In(0).Complete();
  if (in == nullptr || !call.ShapeOf(0).Known() || call.ShapeOf(0).dims.empty()) return;
  const Dims& dims = call.ShapeOf(0).dims;
  const Dims strides = StridesOf(dims);
  Positions found;
  for (std::size_t i = 0; i < in->size(); ++i) {
    if (in->reals.empty() ? in->ints[i] != 0 : in->reals[i] != 0) found.push_back(i);
  }
  Value value;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    for (const std::size_t i : found) {
      value.ints.push_back(static_cast<std::int64_t>(i) / strides[d] % dims[d]);
    }
  }
  call.Set(
      0, kInt64,
      Ranked({static_cast<std::int64_t>(dims.size()), static_cast<std::int64_t>(found.size())}));
  Give(call, 0, std::move(value));
}

void ScatterNd(Call& call) {
  const Value* data = ValueOf(call, 0);
  const std::vector<std::int64_t>* indices = call.IntsOf(1);
  const Value* updates = ValueOf(call, 2);
  if (data == nullptr || indices == nullptr || updates == nullptr ||
      call.Text("reduction", "none") != "none" || call.ElementOf(0) != call.ElementOf(2) ||
      !call.ShapeOf(1).Known() || call.ShapeOf(1).dims.empty()) {
    return;
  }
  const Dims& dims = call.ShapeOf(0).dims;
  const std::int64_t depth = call.ShapeOf(1).dims.back();
  if (depth < 1 || depth > static_cast<std::int64_t>(dims.size())) return;
  const Dims strides = StridesOf(dims);
  const auto width = static_cast<std::size_t>(strides[static_cast<std::size_t>(depth) - 1]);
  const std::size_t count = indices->size() / static_cast<std::size_t>(depth);
  if (updates->size() != count * width) return;
  Value value = *data;
  value.unknown.resize(value.size(), false);
  for (std::size_t i = 0; i < count; ++i) {
    std::int64_t first = 0;
    for (std::size_t d = 0; d < static_cast<std::size_t>(depth); ++d) {
      const std::int64_t index = (*indices)[i * static_cast<std::size_t>(depth) + d];
      if (index < -dims[d] || index >= dims[d]) return;
      first += (index < 0 ? index + dims[d] : index) * strides[d];
    }
    for (std::size_t j = 0; j < width; ++j) {
      const std::size_t to = static_cast<std::size_t>(first) + j;
      const std::size_t from = i * width + j;
      if (value.reals.empty()) {
        value.ints[to] = updates->ints[from];
      } else {
        value.reals[to] = updates->reals[from];
      }
      value.unknown[to] = !updates->unknown.empty() && updates->unknown[from];
    }
  }
  Give(call, 0, std::move(value));
}

namespace {

// Element by element, over operands that are repeated to one shape. `ints` gives nothing where the
// result is not defined.
template <typename Ints, typename Reals>
void Elementwise(Call& call, const Ints& ints, const Reals& reals) {
  const Value* a = ValueOf(call, 0);
  const Value* b = ValueOf(call, 1);
  if (a == nullptr || b == nullptr || call.ElementOf(0) != call.ElementOf(1)) return;
  const Info& out = call.Out(0);
  if (call.opset() < 7 && call.ShapeOf(0) != call.ShapeOf(1) && b->size() != 1) return;
  const Positions of_a =
      Strided(out.shape.dims, RepeatingStrides(call.ShapeOf(0).dims, out.shape.dims), 0);
  const Positions of_b =
      b->size() == 1
          ? Positions(of_a.size(), 0)
          : Strided(out.shape.dims, RepeatingStrides(call.ShapeOf(1).dims, out.shape.dims), 0);
  Value value;
  const bool to_reals = !IsInteger(out.element);
  for (std::size_t i = 0; i < of_a.size(); ++i) {
    if (!IsInteger(call.ElementOf(0))) {
      const double result = reals(a->reals[of_a[i]], b->reals[of_b[i]]);
      if (to_reals) {
        value.reals.push_back(Rounded(result, out.element));
      } else {
        value.ints.push_back(result != 0 ? 1 : 0);
      }
      continue;
    }
    const std::optional<std::int64_t> x = a->Int(of_a[i]);
    const std::optional<std::int64_t> y = b->Int(of_b[i]);
    const std::optional<std::int64_t> result = x && y ? ints(*x, *y) : std::nullopt;
    value.ints.push_back(Wrap(result.value_or(0), out.element));
    if (!result) Forget(value, i);
  }
  if (!value.unknown.empty()) value.unknown.resize(value.size(), false);
  Give(call, 0, std::move(value));
}

std::int64_t Unsigned(std::uint64_t number) { return static_cast<std::int64_t>(number); }
std::uint64_t Bits(std::int64_t number) { return static_cast<std::uint64_t>(number); }

using MaybeInt = std::optional<std::int64_t>;

}  // namespace

void Add(Call& call) {
  Elementwise(
      call, [](auto x, auto y) -> MaybeInt { return Unsigned(Bits(x) + Bits(y)); },
      [](double x, double y) { return x + y; });
}
void Sub(Call& call) {
  Elementwise(
      call, [](auto x, auto y) -> MaybeInt { return Unsigned(Bits(x) - Bits(y)); },
      [](double x, double y) { return x - y; });
}
void Mul(Call& call) {
  Elementwise(
      call, [](auto x, auto y) -> MaybeInt { return Unsigned(Bits(x) * Bits(y)); },
      [](double x, double y) { return x * y; });
}
void Div(Call& call) {
  Elementwise(
      call,
      [](auto x, auto y) -> MaybeInt {
        if (y == 0) return std::nullopt;
        return y == -1 ? Unsigned(0 - Bits(x)) : x / y;
      },
      [](double x, double y) { return x / y; });
}
void Mod(Call& call) {
  if (!IsInteger(call.ElementOf(0))) return;
  const bool truncate = call.Int("fmod", 0) != 0;
  Elementwise(
      call,
      [truncate](auto x, auto y) -> MaybeInt {
        if (y == 0) return std::nullopt;
        if (y == -1) return 0;
        const std::int64_t rest = x % y;
        return rest != 0 && !truncate && (rest < 0) != (y < 0) ? rest + y : rest;
      },
      [](double, double) { return 0.0; });
}
void Max(Call& call) {
  if (call.num_inputs() != 2) return;
  Elementwise(
      call, [](auto x, auto y) -> MaybeInt { return std::max(x, y); },
      [](double x, double y) { return std::isnan(x) || x > y ? x : y; });
}
void Min(Call& call) {
  if (call.num_inputs() != 2) return;
  Elementwise(
      call, [](auto x, auto y) -> MaybeInt { return std::min(x, y); },
      [](double x, double y) { return std::isnan(x) || x < y ? x : y; });
}
void Equal(Call& call) {
  Elementwise(
      call, [](auto x, auto y) -> MaybeInt { return x == y ? 1 : 0; },
      [](double x, double y) { return x == y ? 1.0 : 0.0; });
}
void Less(Call& call) {
  Elementwise(
      call, [](auto x, auto y) -> MaybeInt { return x < y ? 1 : 0; },
      [](double x, double y) { return x < y ? 1.0 : 0.0; });
}
void LessOrEqual(Call& call) {
  Elementwise(
      call, [](auto x, auto y) -> MaybeInt { return x <= y ? 1 : 0; },
      [](double x, double y) { return x <= y ? 1.0 : 0.0; });
}
void Greater(Call& call) {
  Elementwise(
      call, [](auto x, auto y) -> MaybeInt { return x > y ? 1 : 0; },
      [](double x, double y) { return x > y ? 1.0 : 0.0; });
}
void GreaterOrEqual(Call& call) {
  Elementwise(
      call, [](auto x, auto y) -> MaybeInt { return x >= y ? 1 : 0; },
      [](double x, double y) { return x >= y ? 1.0 : 0.0; });
}
// Known wherever one operand decides.
void And(Call& call) {
  Elementwise(
      call, [](auto x, auto y) -> MaybeInt { return x & y; }, [](double, double) { return 0.0; });
}
void Or(Call& call) {
  Elementwise(
      call, [](auto x, auto y) -> MaybeInt { return x | y; }, [](double, double) { return 0.0; });
}
void Xor(Call& call) {
  Elementwise(
      call, [](auto x, auto y) -> MaybeInt { return x ^ y; }, [](double, double) { return 0.0; });
}

namespace {

template <typename Ints, typename Reals>
void OneOperand(Call& call, const Ints& ints, const Reals& reals) {
  const Value* in = ValueOf(call, 0);
  if (in == nullptr) return;
  const std::int32_t type = call.Out(0).element;
  Value value;
  value.unknown = in->unknown;
  for (const std::int64_t x : in->ints) value.ints.push_back(Wrap(ints(x), type));
  for (const double x : in->reals) value.reals.push_back(Rounded(reals(x), type));
  Give(call, 0, std::move(value));
}

}  // namespace

void Neg(Call& call) {
  OneOperand(
      call, [](std::int64_t x) { return Unsigned(0 - Bits(x)); }, [](double x) { return -x; });
}
void Abs(Call& call) {
  OneOperand(
      call, [](std::int64_t x) { return x < 0 ? Unsigned(0 - Bits(x)) : x; },
      [](double x) { return std::abs(x); });
}
void Not(Call& call) {
  OneOperand(
      call, [](std::int64_t x) { return std::int64_t{x == 0}; }, [](double x) { return x; });
}
void Floor(Call& call) {
  OneOperand(
      call, [](std::int64_t x) { return x; }, [](double x) { return std::floor(x); });
}
void Ceil(Call& call) {
  OneOperand(
      call, [](std::int64_t x) { return x; }, [](double x) { return std::ceil(x); });
}
// Halves to the even neighbour.
void Round(Call& call) {
  OneOperand(
      call, [](std::int64_t x) { return x; },
      [](double x) {
        const double down = std::floor(x);
        if (x - down != 0.5) return std::floor(x + 0.5);
        return std::fmod(down, 2) == 0 ? down : down + 1;
      });
}
void Sqrt(Call& call) {
  if (!IsFloating(call.ElementOf(0))) return;
  OneOperand(
      call, [](std::int64_t x) { return x; }, [](double x) { return std::sqrt(x); });
}

void Where(Call& call) {
  const Value* condition = ValueOf(call, 0);
  const Value* yes = ValueOf(call, 1);
  const Value* no = ValueOf(call, 2);
  if (condition == nullptr || yes == nullptr || no == nullptr ||
      call.ElementOf(1) != call.ElementOf(2) || call.ElementOf(0) != kBool) {
    return;
  }
  const Dims& out = call.Out(0).shape.dims;
  const auto positions = [&](std::size_t i) {
    return Strided(out, RepeatingStrides(call.ShapeOf(i).dims, out), 0);
  };
  const Positions of_condition = positions(0);
  const Positions of_yes = positions(1);
  const Positions of_no = positions(2);
  Value value;
  for (std::size_t i = 0; i < of_condition.size(); ++i) {
    const MaybeInt choice = condition->Int(of_condition[i]);
    if (choice.value_or(1) != 0) {
      Append(value, *yes, of_yes[i]);
    } else {
      Append(value, *no, of_no[i]);
    }
    if (!choice) {
      if (!value.reals.empty()) return;
      Forget(value, i);
    }
  }
  if (!value.unknown.empty()) value.unknown.resize(value.size(), false);
  Give(call, 0, std::move(value));
}

namespace {

// Sums and products over all elements or one axis of a list: what shape arithmetic needs.
template <typename Ints>
void ReduceInts(Call& call, std::int64_t start, const Ints& combine) {
  const Value* in = ValueOf(call, 0);
  if (in == nullptr || !IsInteger(call.ElementOf(0)) || call.Out(0).shape.dims.size() > 64 ||
      CountOf(call.Out(0).shape.dims) != 1) {
    return;
  }
  if (in->size() == 0) return;
  MaybeInt result = start;
  for (std::size_t i = 0; i < in->size(); ++i) {
    const MaybeInt x = in->Int(i);
    result = result && x ? MaybeInt(i == 0 ? *x : combine(*result, *x)) : std::nullopt;
  }
  Value value{{Wrap(result.value_or(0), call.Out(0).element)}, {}, {}};
  if (!result) value.unknown = {true};
  Give(call, 0, std::move(value));
}

}  // namespace

void ReduceProd(Call& call) {
  ReduceInts(call, 1, [](auto x, auto y) { return Unsigned(Bits(x) * Bits(y)); });
}
void ReduceSum(Call& call) {
  ReduceInts(call, 0, [](auto x, auto y) { return Unsigned(Bits(x) + Bits(y)); });
}
void ReduceMax(Call& call) {
  ReduceInts(call, 0, [](auto x, auto y) { return std::max(x, y); });
}
void ReduceMin(Call& call) {
  ReduceInts(call, 0, [](auto x, auto y) { return std::min(x, y); });
}

}  // namespace folds

void Fold(const OperatorRule& rule, Call& call, std::int64_t& budget) {
  if (rule.more.fold == nullptr || call.num_outputs() == 0) return;
  // Products of dimensions stay small, those of empty tensors too.
  const auto small = [](const Shape& shape) {
    std::int64_t product = 1;
    for (const std::int64_t dim : shape.dims) {
      if (dim > std::int64_t{1} << 20) return false;
      product *= std::max<std::int64_t>(dim, 1);
      if (product > std::int64_t{1} << 20) return false;
    }
    return true;
  };
  std::int64_t cost = 1;
  for (std::size_t i = 0; i < call.num_outputs(); ++i) {
    const Info& out = call.Out(i);
    if (rule.more.fold_gives_shape) continue;
    if (!small(out.shape)) return;
    const std::optional<std::int64_t> count =
        out.shape.Known() ? CountOf(out.shape.dims) : std::nullopt;
    if (!count || *count > static_cast<std::int64_t>(kMaxFolded) ||
        (!IsInteger(out.element) && !IsFloating(out.element))) {
      return;
    }
    cost += *count;
  }
  for (std::size_t i = 0; i < call.num_inputs(); ++i) {
    if (call.In(i).value == nullptr) continue;
    if (!small(call.ShapeOf(i))) return;
    cost += static_cast<std::int64_t>(call.In(i).value->size());
  }
  if (cost > budget) return;
  budget -= cost;
  rule.more.fold(call);
}

}  // namespace berth::internal::onnx
