// Operators that treat each element by itself, and others whose output has the shape of an input.
//
// With one operand, the output has its shape. With several, they are repeated to one shape
// (Call::Broadcast): aligned at the last dimension, each dimension must agree or be 1. What the
// operator makes of the values does not matter here; its element type does, which decides the bytes:
// comparisons give bool, casts and quantizers the type that they name, all others that of an operand.
//
// That a rule stands here does not say that an output may lie over an operand: Softmax has the shape
// of its input and reads all of it first. The column `overwrite` in rules.cc says so.

#include "io/onnx/rules.h"

namespace berth::internal::onnx::rules {

std::optional<Sliding> SlideAll(Call& call, std::size_t axis) {
  const Shape& out = call.Out(0).shape;
  Sliding sliding;
  for (std::size_t i = 0; i < call.num_inputs(); ++i) {
    // Operands of one element there are repeated; those of lower rank count as whole ones.
    const Shape& in = call.ShapeOf(i);
    if (call.Has(i) && in.rank() == out.rank() && in.dims[axis] == out.dims[axis]) {
      sliding.inputs.push_back(i);
    }
  }
  if (sliding.inputs.empty()) return std::nullopt;
  return sliding;
}

std::optional<Sliding> SlideFirst(Call& call, std::size_t axis) {
  const Shape& in = call.ShapeOf(0);
  const Shape& out = call.Out(0).shape;
  if (in.rank() != out.rank() || in.dims[axis] != out.dims[axis]) return std::nullopt;
  return Sliding{{0}};
}

std::optional<Sliding> SlideSpatial(Call& call, std::size_t axis) {
  return axis >= 2 ? SlideFirst(call, axis) : std::nullopt;
}

std::optional<Sliding> SlideBeforeAxis(Call& call, std::size_t axis) {
  const std::optional<std::size_t> first = call.Axis(call.Int("axis", -1), call.ShapeOf(0).rank());
  return first && axis < *first ? SlideFirst(call, axis) : std::nullopt;
}

std::optional<Sliding> SlideBesideAxis(Call& call, std::size_t axis) {
  // Before operator set 13 all dimensions from `axis` on were one.
  const bool one = call.opset() >= 13;
  const std::optional<std::size_t> along =
      call.Axis(call.Int("axis", one ? -1 : 1), call.ShapeOf(0).rank());
  const bool beside = along && (axis < *along || (one && axis > *along));
  return beside ? SlideFirst(call, axis) : std::nullopt;
}

void Unary(Call& call) {
  for (std::size_t i = 0; i < call.num_outputs() && i < 1; ++i) {
    call.Out(i).kind = call.In(0).kind;
    call.Out(i).element = call.ElementOf(0);
    call.Out(i).shape = call.ShapeOf(0);
  }
}

void Predicate(Call& call) { call.Set(0, kBool, call.ShapeOf(0)); }

namespace {

// Before operator set 7 the second operand was repeated only if the attribute `broadcast` said so,
// along `axis`; the result always has the shape of the first.
Shape BinaryShape(Call& call) {
  if (call.opset() < 7 && call.node().domain.empty()) return call.ShapeOf(0);
  return call.Broadcast(call.ShapeOf(0), call.ShapeOf(1));
}

// Whether the attribute `name` is present and not 0.
bool IsSet(const Call& call, std::string_view name) {
  const Attribute* flag = call.Find(name);
  return flag != nullptr && flag->number != 0;
}

}  // namespace

void Binary(Call& call) { call.Set(0, call.ElementOf(0), BinaryShape(call)); }

void Comparison(Call& call) { call.Set(0, kBool, BinaryShape(call)); }

void Variadic(Call& call) {
  if (call.num_inputs() == 0) return call.Fail("it has no input");
  Shape shape = call.ShapeOf(0);
  for (std::size_t i = 1; i < call.num_inputs(); ++i) {
    shape = call.Broadcast(shape, call.ShapeOf(i));
  }
  call.Set(0, call.ElementOf(0), std::move(shape));
}

void Where(Call& call) {
  const Shape values = call.Broadcast(call.ShapeOf(1), call.ShapeOf(2));
  call.Set(0, call.ElementOf(1), call.Broadcast(call.ShapeOf(0), values));
}

void Cast(Call& call) {
  const std::int64_t to = call.Int("to", 0);
  if (to > 0 && to < 1000) {
    call.Set(0, static_cast<std::int32_t>(to), call.ShapeOf(0));
    return;
  }
  if (call.opset() >= 6) return call.Fail("it does not say what type to cast to");
  call.Because("operator set 1 names the type as text");
}

void CastLike(Call& call) { call.Set(0, call.ElementOf(1), call.ShapeOf(0)); }

void Dropout(Call& call) {
  call.Set(0, call.ElementOf(0), call.ShapeOf(0));
  call.Set(1, call.opset() >= 10 ? std::int32_t{kBool} : call.ElementOf(0), call.ShapeOf(0));
}

bool DropoutPassesThrough(const Call& call) {
  if (call.opset() < 7) return IsSet(call, "is_test");
  if (call.opset() < 12 || !call.Has(2)) return true;
  const Value* training = call.In(2).Complete();
  return training != nullptr && training->ints.size() == 1 && training->ints[0] == 0;
}

void BatchNormalization(Call& call) {
  call.Set(0, call.ElementOf(0), call.ShapeOf(0));
  // Statistics: one number for each channel.
  for (std::size_t i = 1; i < call.num_outputs(); ++i) {
    call.Set(i, call.ElementOf(1), call.ShapeOf(1));
  }
}

// Where it computes statistics, it reads everything before it writes anything.
bool MakesNoStatistics(const Call& call) {
  return call.num_outputs() == 1 && !IsSet(call, "training_mode") &&
         (call.opset() >= 7 || IsSet(call, "is_test"));
}

void LayerNormalization(Call& call) {
  const Shape& in = call.ShapeOf(0);
  call.Set(0, call.ElementOf(0), in);
  if (call.num_outputs() < 2 || !in.has_rank) return;
  const std::optional<std::size_t> axis = call.Axis(call.Int("axis", -1), in.rank());
  if (!axis) return;
  Shape statistics = in;
  for (std::size_t i = *axis; i < in.rank(); ++i) statistics.dims[i] = 1;
  for (std::size_t i = 1; i < call.num_outputs(); ++i) call.Set(i, kFloat, statistics);
}

void SkipLayerNormalization(Call& call) {
  const Shape& in = call.ShapeOf(0);
  call.Set(0, call.ElementOf(0), in);
  call.Set(3, call.ElementOf(0), in);  // The sum of input and skip.
  if (!in.has_rank || in.dims.empty()) return;
  Shape statistics = in;
  statistics.dims.back() = 1;
  call.Set(1, kFloat, statistics);
  call.Set(2, kFloat, statistics);
}

void QuantizeLinear(Call& call) {
  const std::int64_t type = call.Int("output_dtype", 0);
  call.Set(0,
           call.Has(2)               ? call.ElementOf(2)
           : type > 0 && type < 1000 ? static_cast<std::int32_t>(type)
                                     : std::int32_t{kUint8},
           call.ShapeOf(0));
}

void DequantizeLinear(Call& call) {
  const std::int64_t type = call.Int("output_dtype", 0);
  call.Set(0, type > 0 && type < 1000 ? static_cast<std::int32_t>(type) : call.ElementOf(1),
           call.ShapeOf(0));
}

void DynamicQuantizeLinear(Call& call) {
  call.Set(0, kUint8, call.ShapeOf(0));
  call.Set(1, kFloat, Ranked({}));
  call.Set(2, kUint8, Ranked({}));
}

void RandomLike(Call& call) {
  const std::int64_t type = call.Int("dtype", 0);
  call.Set(0, type > 0 && type < 1000 ? static_cast<std::int32_t>(type) : call.ElementOf(0),
           call.ShapeOf(0));
}

void QLinearBinary(Call& call) {
  call.Set(0, call.ElementOf(0), call.Broadcast(call.ShapeOf(0), call.ShapeOf(3)));
}

void QLinearUnary(Call& call) { call.Set(0, call.ElementOf(0), call.ShapeOf(0)); }

}  // namespace berth::internal::onnx::rules
