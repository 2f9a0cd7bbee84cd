// Operators that move elements or make them: shapes taken apart, joined, cut and padded; constants.
//
// Many take sizes, axes or positions from an input instead of an attribute (operator sets 5, 10, 11,
// 13 and 18 moved most of them). Such an input decides the shape of the output by its values, so it
// has to be a small constant or the result of shape arithmetic that fold.cc has computed. Where it is
// not known, as much as follows without it is set: the rank, and the dimensions that are not touched.
// Single dimensions of it may be unknown (Value::unknown), which costs only those of the output.
//
// Numbers come from the file: indices are checked before use, negative axes and positions are
// counted from the end, positions beyond the ends are clamped where the definition says so, and
// everything that is multiplied stays below kMaxFactor or goes through Call::Times().

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "io/onnx/rules.h"

namespace berth::internal::onnx::rules {
namespace {

std::int32_t ElementAttribute(const Call& call, std::string_view name, std::int32_t otherwise) {
  const std::int64_t type = call.Int(name, otherwise);
  return type > 0 && type < 1000 ? static_cast<std::int32_t>(type) : otherwise;
}

// The dimensions that an input holds, unknown ones as kUnknownDim; nothing if not even their number
// is known. Fails for dimensions below `least`.
std::optional<Dims> DimsOf(Call& call, std::size_t i, std::int64_t least = 0) {
  const Info& info = call.In(i);
  if (info.value == nullptr) {
    // The values are unknown, but their number may be known.
    if (info.shape.has_rank && info.shape.rank() == 1 && info.shape.dims[0] >= 0 &&
        info.shape.dims[0] <= static_cast<std::int64_t>(kMaxRank)) {
      return Dims(static_cast<std::size_t>(info.shape.dims[0]), kUnknownDim);
    }
    return std::nullopt;
  }
  const Value& value = *info.value;
  if (!value.reals.empty() || value.ints.size() > kMaxRank) {
    call.Fail("its shape is not a list of up to 64 whole numbers");
    return std::nullopt;
  }
  Dims dims;
  for (std::size_t d = 0; d < value.ints.size(); ++d) {
    const std::optional<std::int64_t> dim = value.Int(d);
    if (dim && (*dim < least || *dim > kMaxDim)) {
      call.Fail("a dimension of " + std::to_string(*dim));
      return std::nullopt;
    }
    dims.push_back(dim.value_or(kUnknownDim));
  }
  return dims;
}

}  // namespace

void Constant(Call& call) {
  if (call.node().attributes.size() != 1) return call.Fail("it does not have exactly one value");
  const Attribute& attribute = call.node().attributes[0];
  const auto count = static_cast<std::int64_t>(attribute.count);
  if (attribute.name == "value") {
    if (const std::optional<TensorMessage> tensor = call.TensorOf("value")) {
      call.Set(0, tensor->element, Ranked(tensor->dims));
    }
  } else if (attribute.name == "sparse_value") {
    const Result<TensorMessage> tensor = ParseSparseTensor(call.source(), attribute.bytes);
    if (!tensor) return call.Fail("its value is damaged");
    call.Set(0, tensor->element, Ranked(tensor->dims));
  } else if (attribute.name == "value_int") {
    call.Set(0, kInt64, Ranked({}));
  } else if (attribute.name == "value_ints") {
    call.Set(0, kInt64, Ranked({count}));
  } else if (attribute.name == "value_float") {
    call.Set(0, kFloat, Ranked({}));
  } else if (attribute.name == "value_floats") {
    call.Set(0, kFloat, Ranked({count}));
  } else if (attribute.name == "value_string") {
    call.Set(0, kString, Ranked({}));
  } else if (attribute.name == "value_strings") {
    call.Set(0, kString, Ranked({static_cast<std::int64_t>(attribute.list.size())}));
  } else {
    call.Fail("it has no value");
  }
}

void ConstantOfShape(Call& call) {
  std::int32_t element = kFloat;
  if (const std::optional<TensorMessage> tensor = call.TensorOf("value")) element = tensor->element;
  const std::optional<Dims> dims = DimsOf(call, 0);
  call.Set(0, element, dims ? Ranked(*dims) : Shape{});
}

void EyeLike(Call& call) {
  call.Set(0, ElementAttribute(call, "dtype", call.ElementOf(0)), call.ShapeOf(0));
}

void Random(Call& call) {
  const std::vector<std::int64_t>* dims = call.Ints("shape");
  if (dims == nullptr) return call.Fail("it has no shape");
  if (!call.Within(*dims, dims->size(), 0, kMaxDim, "a dimension")) return;
  call.Set(0, ElementAttribute(call, "dtype", kFloat), Ranked(*dims));
}

void ShapeOperator(Call& call) {
  const Shape& in = call.ShapeOf(0);
  if (!in.has_rank) return call.Set(0, kInt64, Ranked({kUnknownDim}));
  const auto rank = static_cast<std::int64_t>(in.rank());
  const auto clamp = [&](std::int64_t i) {
    return std::clamp<std::int64_t>(i < 0 ? i + rank : i, 0, rank);
  };
  const std::int64_t start = clamp(std::max(call.Int("start", 0), -2 * rank));
  const std::int64_t end = clamp(std::max(call.Int("end", rank), -2 * rank));
  call.Set(0, kInt64, Ranked({std::max<std::int64_t>(0, end - start)}));
}

void Size(Call& call) { call.Set(0, kInt64, Ranked({})); }

namespace {

// The shape that a Reshape is asked for.
struct ReshapeTarget {
  Dims dims;                     // 0: kept (unless `allowzero`); -1: computed, or not known.
  const Value* value = nullptr;  // They come from; null: from an attribute.

  [[nodiscard]] bool Known(std::size_t i) const {
    return value == nullptr || value->Int(i).has_value();
  }
};

// Nothing if the call has failed, or the target is unknown; then the output is set.
std::optional<ReshapeTarget> ReadReshapeTarget(Call& call) {
  if (call.opset() < 5) {
    const std::vector<std::int64_t>* attribute = call.Ints("shape");
    if (attribute == nullptr) {
      call.Fail("it has no shape");
      return std::nullopt;
    }
    if (!call.Within(*attribute, attribute->size(), -1, kMaxDim, "a dimension")) {
      return std::nullopt;
    }
    return ReshapeTarget{*attribute, nullptr};
  }
  if (call.In(1).value == nullptr) {
    const std::optional<Dims> open = DimsOf(call, 1);
    call.Set(0, call.ElementOf(0), open ? Ranked(*open) : Shape{});
    return std::nullopt;
  }
  std::optional<Dims> dims = DimsOf(call, 1, -1);
  if (!dims) return std::nullopt;
  return ReshapeTarget{*std::move(dims), call.In(1).value.get()};
}

// Dimension `rest` of `out`, from the number of elements. Dimensions that are kept cancel out, known
// or not; what the others leave is the open one.
void FillRest(Call& call, const ReshapeTarget& target, bool zero_copies, std::size_t rest,
              Dims& out) {
  const Shape& in = call.ShapeOf(0);
  std::int64_t made = 1;
  std::int64_t given = 1;
  std::vector<bool> kept(in.rank(), false);
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (i == rest) continue;
    if (target.Known(i) && target.dims[i] == 0 && zero_copies && out[i] < 0) {
      kept[i] = true;
    } else {
      made = call.Times(made, out[i]);
    }
  }
  for (std::size_t i = 0; i < in.rank(); ++i) {
    if (!kept[i]) given = given < 0 ? given : call.Times(given, in.dims[i]);
  }
  if (call.failed()) return;
  if (made > 0 && given >= 0) {
    if (given % made != 0) {
      return call.Fail(ToString(in) + " elements cannot be reshaped to multiples of " +
                       std::to_string(made));
    }
    out[rest] = given / made;
  } else if (made == 0 && given == 0) {
    call.Because("its shape has a 0 beside a -1");
  }
}

}  // namespace

void Reshape(Call& call) {
  const Shape& in = call.ShapeOf(0);
  const std::optional<ReshapeTarget> target = ReadReshapeTarget(call);
  if (!target) return;
  const bool zero_copies = call.Int("allowzero", 0) == 0;
  std::optional<std::size_t> rest;
  Dims out = target->dims;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (!target->Known(i)) continue;
    if (out[i] == -1) {
      if (rest) return call.Fail("its shape leaves two dimensions open");
      rest = i;
    } else if (out[i] == 0 && zero_copies) {
      if (in.has_rank && i >= in.rank()) {
        return call.Fail("its shape keeps dimension " + std::to_string(i) + " of a tensor of " +
                         ToString(in) + " elements");
      }
      out[i] = in.has_rank ? in.dims[i] : kUnknownDim;
    }
  }
  if (rest && in.has_rank) FillRest(call, *target, zero_copies, *rest, out);
  if (call.failed()) return;
  const Shape shape = Ranked(std::move(out));
  const std::optional<std::int64_t> before = in.has_rank ? CountOf(in.dims) : std::nullopt;
  const std::optional<std::int64_t> after = CountOf(shape.dims);
  if (before && after && *before != *after) {
    return call.Fail(ToString(in) + " elements are reshaped to " + ToString(shape));
  }
  call.Set(0, call.ElementOf(0), shape);
}

void Flatten(Call& call) {
  const Shape& in = call.ShapeOf(0);
  if (!in.has_rank) return call.Set(0, call.ElementOf(0), Ranked({kUnknownDim, kUnknownDim}));
  const auto rank = static_cast<std::int64_t>(in.rank());
  std::int64_t axis = call.Int("axis", 1);
  if (axis < -rank || axis > rank) return call.Fail("axis " + std::to_string(axis));
  if (axis < 0) axis += rank;
  std::int64_t rows = 1;
  std::int64_t columns = 1;
  for (std::int64_t i = 0; i < rank; ++i) {
    std::int64_t& product = i < axis ? rows : columns;
    product = call.Times(product, in.dims[static_cast<std::size_t>(i)]);
  }
  call.Set(0, call.ElementOf(0), Ranked({rows, columns}));
}

void Squeeze(Call& call) {
  const Shape& in = call.ShapeOf(0);
  bool known = false;
  const std::vector<std::int64_t>* axes = call.IntsOf(1, "axes", known);
  if (!known || !in.has_rank) return call.Set(0, call.ElementOf(0), {});
  std::vector<bool> drop(in.rank(), false);
  if (axes == nullptr) {
    if (!in.Known()) return call.Set(0, call.ElementOf(0), {});
    for (std::size_t i = 0; i < in.rank(); ++i) drop[i] = in.dims[i] == 1;
  } else {
    for (const std::int64_t number : *axes) {
      const std::optional<std::size_t> axis = call.Axis(number, in.rank());
      if (!axis) return;
      if (in.dims[*axis] > 1 || in.dims[*axis] == 0) {
        return call.Fail("dimension " + std::to_string(*axis) + " of " + ToString(in) +
                         " is not 1");
      }
      drop[*axis] = true;
    }
  }
  Dims out;
  for (std::size_t i = 0; i < in.rank(); ++i) {
    if (!drop[i]) out.push_back(in.dims[i]);
  }
  call.Set(0, call.ElementOf(0), Ranked(std::move(out)));
}

void Unsqueeze(Call& call) {
  const Shape& in = call.ShapeOf(0);
  bool known = false;
  const std::vector<std::int64_t>* axes = call.IntsOf(1, "axes", known);
  if (!known || !in.has_rank) return call.Set(0, call.ElementOf(0), {});
  if (axes == nullptr) return call.Fail("it has no axes");
  if (axes->size() > kMaxRank) return call.Fail("it has more than 64 axes");
  const std::size_t rank = in.rank() + axes->size();
  std::vector<bool> added(rank, false);
  for (const std::int64_t number : *axes) {
    const std::optional<std::size_t> axis = call.Axis(number, rank);
    if (!axis) return;
    if (added[*axis]) return call.Fail("axis " + std::to_string(number) + " comes twice");
    added[*axis] = true;
  }
  Dims out;
  std::size_t next = 0;
  for (std::size_t i = 0; i < rank; ++i) out.push_back(added[i] ? 1 : in.dims[next++]);
  call.Set(0, call.ElementOf(0), Ranked(std::move(out)));
}

void Transpose(Call& call) {
  const Shape& in = call.ShapeOf(0);
  if (!in.has_rank) return call.Set(0, call.ElementOf(0), {});
  Dims out(in.dims.rbegin(), in.dims.rend());
  if (const std::vector<std::int64_t>* permutation = call.Ints("perm")) {
    const auto rank = static_cast<std::int64_t>(in.rank());
    if (!call.Within(*permutation, in.rank(), -rank, rank - 1, "an axis")) return;
    std::vector<bool> taken(in.rank(), false);
    for (std::size_t i = 0; i < in.rank(); ++i) {
      const auto from = static_cast<std::size_t>(((*permutation)[i] + rank) % rank);
      if (taken[from]) return call.Fail("its permutation takes an axis twice");
      taken[from] = true;
      out[i] = in.dims[from];
    }
  }
  call.Set(0, call.ElementOf(0), Ranked(std::move(out)));
}

namespace {

void ConcatInputs(Call& call, std::size_t first, std::size_t stride, std::int64_t axis_number) {
  if (call.num_inputs() <= first) return call.Fail("it has no input");
  const std::int32_t element = call.ElementOf(first);
  std::optional<Shape> out;
  std::size_t axis = 0;
  bool open = false;
  for (std::size_t i = first; i < call.num_inputs(); i += stride) {
    const Shape& in = call.ShapeOf(i);
    if (!in.has_rank) {
      open = true;
      continue;
    }
    if (!out) {
      const std::optional<std::size_t> found = call.Axis(axis_number, in.rank());
      if (!found) return;
      axis = *found;
      out = in;
      continue;
    }
    if (in.rank() != out->rank()) {
      return call.Fail("tensors of " + ToString(*out) + " and " + ToString(in) + " elements");
    }
    for (std::size_t d = 0; d < in.rank(); ++d) {
      std::int64_t& dim = out->dims[d];
      if (d != axis) {
        dim = call.Same(dim, in.dims[d], "dimensions");
      } else {
        dim = dim < 0 || in.dims[d] < 0 ? kUnknownDim : dim + in.dims[d];
        if (dim > kMaxDim) return call.Fail("a dimension of " + std::to_string(dim));
      }
    }
    if (call.failed()) return;
  }
  if (!out) return call.Set(0, element, {});
  if (open) out->dims[axis] = kUnknownDim;
  call.Set(0, element, *out);
}

}  // namespace

void Concat(Call& call) { ConcatInputs(call, 0, 1, call.Int("axis", call.opset() < 4 ? 1 : 0)); }

std::optional<Sliding> SlideConcat(Call& call, std::size_t axis) {
  const std::size_t rank = call.Out(0).shape.rank();
  const auto joined = call.Axis(call.Int("axis", call.opset() < 4 ? 1 : 0), rank);
  return joined && *joined != axis ? SlideAll(call, axis) : std::nullopt;
}

// Inputs: y_scale, y_zero_point, then each tensor with its scale and zero point.
void QLinearConcat(Call& call) { ConcatInputs(call, 2, 3, call.Int("axis", 0)); }

void Split(Call& call) {
  const Shape& in = call.ShapeOf(0);
  const std::size_t parts = call.num_outputs();
  bool known = false;
  const std::vector<std::int64_t>* sizes = call.IntsOf(1, "split", known);
  Shape out = in;
  if (!in.has_rank) {
    for (std::size_t i = 0; i < parts; ++i) call.Set(i, call.ElementOf(0), {});
    return;
  }
  const std::optional<std::size_t> axis = call.Axis(call.Int("axis", 0), in.rank());
  if (!axis) return;
  const std::int64_t whole = in.dims[*axis];
  if (known && sizes != nullptr) {
    if (!call.Within(*sizes, parts, 0, kMaxDim, "parts")) return;
    std::int64_t sum = 0;
    for (const std::int64_t size : *sizes) sum = std::min(sum + size, kMaxDim + 1);
    if (whole >= 0 && sum != whole) {
      return call.Fail("parts of " + std::to_string(sum) + " in all, of a dimension of " +
                       std::to_string(whole));
    }
  }
  // The last part is smaller if they cannot be equal; before operator set 18 they had to be.
  const auto count = static_cast<std::int64_t>(std::max<std::size_t>(parts, 1));
  const std::int64_t part = whole < 0 ? whole : (whole + count - 1) / count;
  for (std::size_t i = 0; i < parts; ++i) {
    std::int64_t& dim = out.dims[*axis];
    if (!known || (sizes == nullptr && whole < 0)) {
      dim = kUnknownDim;
    } else if (sizes != nullptr) {
      dim = (*sizes)[i];
    } else {
      if (call.opset() < 18 && whole % count != 0) {
        return call.Fail("a dimension of " + std::to_string(whole) + " in " +
                         std::to_string(count) + " equal parts");
      }
      dim = std::clamp<std::int64_t>(whole - part * static_cast<std::int64_t>(i), 0, part);
    }
    call.Set(i, call.ElementOf(0), out);
  }
}

namespace {

// How many of `dim` elements a slice takes. Positions below 0 count from the end; beyond the ends
// they are clamped, a negative step reaching down to -1. `step` is not 0.
std::int64_t SliceLength(std::int64_t dim, std::int64_t start, std::int64_t end,
                         std::int64_t step) {
  if (dim == 0) return 0;
  const auto from_front = [&](std::int64_t position) {
    return position < 0 ? std::max(position, -2 * kMaxDim) + dim : position;
  };
  if (step > 0) {
    start = std::clamp<std::int64_t>(from_front(start), 0, dim);
    end = std::clamp<std::int64_t>(from_front(end), 0, dim);
    return end <= start ? 0 : (end - start - 1) / step + 1;
  }
  start = std::clamp<std::int64_t>(from_front(start), 0, dim - 1);
  end = std::clamp<std::int64_t>(from_front(end), -1, dim - 1);
  // -step overflows for the least number, which steps out at once like any other large one.
  const std::int64_t stride = step < -kMaxDim ? kMaxDim : -step;
  return start <= end ? 0 : (start - end - 1) / stride + 1;
}

}  // namespace

void Slice(Call& call) {
  const Shape& in = call.ShapeOf(0);
  const bool attributes = call.opset() < 10;
  if (!in.has_rank) return call.Set(0, call.ElementOf(0), {});
  const std::vector<std::int64_t>* starts = attributes ? call.Ints("starts") : call.IntsOf(1);
  const std::vector<std::int64_t>* ends = attributes ? call.Ints("ends") : call.IntsOf(2);
  bool axes_known = false;
  const std::vector<std::int64_t>* axes =
      attributes ? call.Ints("axes") : call.IntsOf(3, "", axes_known);
  bool steps_known = false;
  const std::vector<std::int64_t>* steps = attributes ? nullptr : call.IntsOf(4, "", steps_known);
  if (attributes) axes_known = steps_known = true;
  Shape out = in;
  if (!axes_known) {
    std::fill(out.dims.begin(), out.dims.end(), kUnknownDim);
    return call.Set(0, call.ElementOf(0), std::move(out));
  }
  // The number of dimensions that are cut: all of them unless there are axes.
  std::size_t count = in.rank();
  if (axes != nullptr) {
    count = axes->size();
  } else if (starts != nullptr) {
    count = starts->size();
  }
  if (count > in.rank()) return call.Fail("it cuts more dimensions than there are");
  if ((starts != nullptr && starts->size() != count) ||
      (ends != nullptr && ends->size() != count) || (steps != nullptr && steps->size() != count)) {
    return call.Fail("its starts, ends, axes and steps differ in number");
  }
  std::vector<bool> cut(in.rank(), false);
  for (std::size_t i = 0; i < count; ++i) {
    const std::optional<std::size_t> axis =
        call.Axis(axes != nullptr ? (*axes)[i] : static_cast<std::int64_t>(i), in.rank());
    if (!axis) return;
    if (cut[*axis]) return call.Fail("axis " + std::to_string(*axis) + " comes twice");
    cut[*axis] = true;
    std::int64_t& dim = out.dims[*axis];
    if (starts == nullptr || ends == nullptr || !steps_known || dim < 0) {
      dim = kUnknownDim;
      continue;
    }
    const std::int64_t step = steps != nullptr ? (*steps)[i] : 1;
    if (step == 0) return call.Fail("a step of 0");
    dim = SliceLength(dim, (*starts)[i], (*ends)[i], step);
  }
  call.Set(0, call.ElementOf(0), std::move(out));
}

void Gather(Call& call) {
  const Shape& data = call.ShapeOf(0);
  const Shape& indices = call.ShapeOf(1);
  if (!data.has_rank || !indices.has_rank) return call.Set(0, call.ElementOf(0), {});
  const std::optional<std::size_t> axis = call.Axis(call.Int("axis", 0), data.rank());
  if (!axis) return;
  const auto at = data.dims.begin() + static_cast<std::ptrdiff_t>(*axis);
  Dims out(data.dims.begin(), at);
  out.insert(out.end(), indices.dims.begin(), indices.dims.end());
  out.insert(out.end(), at + 1, data.dims.end());
  call.Set(0, call.ElementOf(0), Ranked(std::move(out)));
}

void GatherElements(Call& call) { call.Set(0, call.ElementOf(0), call.ShapeOf(1)); }

void GatherNd(Call& call) {
  const Shape& data = call.ShapeOf(0);
  const Shape& indices = call.ShapeOf(1);
  const std::int64_t batch = call.Int("batch_dims", 0);
  if (!data.has_rank || !indices.has_rank || indices.dims.empty() || indices.dims.back() < 0) {
    return call.Set(0, call.ElementOf(0), {});
  }
  const auto rank = static_cast<std::int64_t>(data.rank());
  if (batch < 0 || batch >= rank || indices.dims.back() > rank - batch) {
    return call.Fail("indices of " + ToString(indices) + " into " + ToString(data) + " elements");
  }
  Dims out(indices.dims.begin(), indices.dims.end() - 1);
  const auto kept = static_cast<std::ptrdiff_t>(batch + indices.dims.back());
  out.insert(out.end(), data.dims.begin() + kept, data.dims.end());
  call.Set(0, call.ElementOf(0), Ranked(std::move(out)));
}

void Expand(Call& call) {
  const std::optional<Dims> dims = DimsOf(call, 1);
  if (call.failed()) return;
  call.Set(0, call.ElementOf(0), dims ? call.Broadcast(call.ShapeOf(0), Ranked(*dims)) : Shape{});
}

void Tile(Call& call) {
  const Shape& in = call.ShapeOf(0);
  if (!in.has_rank || call.opset() < 6) return call.Set(0, call.ElementOf(0), {});
  const std::optional<Dims> repeats = DimsOf(call, 1);
  if (call.failed()) return;
  Shape out = Ranked(Dims(in.rank(), kUnknownDim));
  if (repeats) {
    if (repeats->size() != in.rank())
      return call.Fail("the number of repeats is not that of the dimensions");
    for (std::size_t i = 0; i < in.rank(); ++i) out.dims[i] = call.Times(in.dims[i], (*repeats)[i]);
  }
  call.Set(0, call.ElementOf(0), std::move(out));
}

void Pad(Call& call) {
  const Shape& in = call.ShapeOf(0);
  bool known = false;
  const std::vector<std::int64_t>* pads =
      call.IntsOf(1, call.opset() < 2 ? "paddings" : "pads", known);
  if (!in.has_rank) return call.Set(0, call.ElementOf(0), {});
  bool axes_known = false;
  const std::vector<std::int64_t>* axes = call.IntsOf(3, "", axes_known);
  Shape out = in;
  if (!known || !axes_known) {
    std::fill(out.dims.begin(), out.dims.end(), kUnknownDim);
    return call.Set(0, call.ElementOf(0), std::move(out));
  }
  if (pads == nullptr) return call.Fail("it has no pads");
  const std::size_t count = axes != nullptr ? axes->size() : in.rank();
  if (count > in.rank()) return call.Fail("it pads more dimensions than there are");
  if (!call.Within(*pads, 2 * count, -kMaxDim, kMaxDim, "pads")) return;
  for (std::size_t i = 0; i < count; ++i) {
    const std::optional<std::size_t> axis =
        call.Axis(axes != nullptr ? (*axes)[i] : static_cast<std::int64_t>(i), in.rank());
    if (!axis) return;
    std::int64_t& dim = out.dims[*axis];
    if (dim < 0) continue;
    dim += (*pads)[i] + (*pads)[i + count];
    if (dim < 0) return call.Fail("pads that leave a dimension of " + std::to_string(dim));
    if (dim > kMaxDim) return call.Fail("a dimension of " + std::to_string(dim));
  }
  call.Set(0, call.ElementOf(0), std::move(out));
}

void CenterCropPad(Call& call) {
  Shape out = call.ShapeOf(0);
  if (!out.has_rank) return call.Set(0, call.ElementOf(0), {});
  const std::optional<Dims> sizes = DimsOf(call, 1);
  if (call.failed()) return;
  const std::vector<std::int64_t>* axes = call.Ints("axes");
  const std::size_t count = axes != nullptr ? axes->size() : out.rank();
  if (count > out.rank() || (sizes && sizes->size() != count)) {
    return call.Fail("its axes and its shape differ in number");
  }
  for (std::size_t i = 0; i < count; ++i) {
    const std::optional<std::size_t> axis =
        call.Axis(axes != nullptr ? (*axes)[i] : static_cast<std::int64_t>(i), out.rank());
    if (!axis) return;
    out.dims[*axis] = sizes ? (*sizes)[i] : kUnknownDim;
  }
  call.Set(0, call.ElementOf(0), std::move(out));
}

void Range(Call& call) {
  const auto unknown = [&] { call.Set(0, call.ElementOf(0), Ranked({kUnknownDim})); };
  if (IsInteger(call.ElementOf(0))) {
    const std::optional<std::int64_t> start = call.IntOf(0);
    const std::optional<std::int64_t> limit = call.IntOf(1);
    const std::optional<std::int64_t> step = call.IntOf(2);
    if (!start || !limit || !step) return unknown();
    if (*step == 0) return call.Fail("a step of 0");
    const std::int64_t bound = 2 * kMaxDim;
    if (*start < -bound || *start > bound || *limit < -bound || *limit > bound) return unknown();
    const std::int64_t stride = std::clamp(*step, -bound, bound);
    const std::int64_t distance = stride > 0 ? *limit - *start : *start - *limit;
    const std::int64_t length = stride > 0 ? stride : -stride;
    const std::int64_t count = distance <= 0 ? 0 : (distance - 1) / length + 1;
    return call.Set(0, call.ElementOf(0), Ranked({count}));
  }
  const std::vector<double>* start = call.RealsOf(0);
  const std::vector<double>* limit = call.RealsOf(1);
  const std::vector<double>* step = call.RealsOf(2);
  if (start == nullptr || limit == nullptr || step == nullptr || start->size() != 1 ||
      limit->size() != 1 || step->size() != 1) {
    return unknown();
  }
  const double count = std::ceil(((*limit)[0] - (*start)[0]) / (*step)[0]);
  if (!(count < static_cast<double>(kMaxDim))) return unknown();
  call.Set(0, call.ElementOf(0), Ranked({count > 0 ? static_cast<std::int64_t>(count) : 0}));
}

void OneHot(Call& call) {
  const Shape& in = call.ShapeOf(0);
  if (!in.has_rank) return call.Set(0, call.ElementOf(2), {});
  const std::optional<std::size_t> axis = call.Axis(call.Int("axis", -1), in.rank() + 1);
  if (!axis) return;
  std::int64_t depth = call.IntOf(1).value_or(kUnknownDim);
  if (const std::vector<double>* real = call.RealsOf(1); real != nullptr && real->size() == 1) {
    if ((*real)[0] >= 0 && (*real)[0] < static_cast<double>(kMaxDim)) {
      depth = static_cast<std::int64_t>((*real)[0]);
    }
  }
  if (call.IntOf(1) && depth < 0) return call.Fail("a depth of " + std::to_string(depth));
  Shape out = in;
  out.dims.insert(out.dims.begin() + static_cast<std::ptrdiff_t>(*axis), depth);
  call.Set(0, call.ElementOf(2), std::move(out));
}

void DepthToSpace(Call& call) {
  const Shape& in = call.ShapeOf(0);
  const std::int64_t block = call.Int("blocksize", 0);
  if (!in.has_rank) return call.Set(0, call.ElementOf(0), {});
  if (in.rank() != 4 || block < 1 || block > kMaxFactor / 2) {
    return call.Fail("blocks of " + std::to_string(block) + " of " + ToString(in) + " elements");
  }
  const std::int64_t square = call.Times(block, block);
  if (call.failed()) return;
  if (in.dims[1] >= 0 && in.dims[1] % square != 0) {
    return call.Fail(std::to_string(in.dims[1]) + " channels are not a multiple of " +
                     std::to_string(square));
  }
  call.Set(0, call.ElementOf(0),
           Ranked({in.dims[0], in.dims[1] < 0 ? kUnknownDim : in.dims[1] / square,
                   call.Times(in.dims[2], block), call.Times(in.dims[3], block)}));
}

void SpaceToDepth(Call& call) {
  const Shape& in = call.ShapeOf(0);
  const std::int64_t block = call.Int("blocksize", 0);
  if (!in.has_rank) return call.Set(0, call.ElementOf(0), {});
  if (in.rank() != 4 || block < 1 || block > kMaxFactor / 2) {
    return call.Fail("blocks of " + std::to_string(block) + " of " + ToString(in) + " elements");
  }
  Dims out = {in.dims[0], call.Times(in.dims[1], call.Times(block, block)), 0, 0};
  for (std::size_t i = 2; i < 4; ++i) {
    if (in.dims[i] >= 0 && in.dims[i] % block != 0) {
      return call.Fail("a dimension of " + std::to_string(in.dims[i]) + " is not a multiple of " +
                       std::to_string(block));
    }
    out[i] = in.dims[i] < 0 ? kUnknownDim : in.dims[i] / block;
  }
  call.Set(0, call.ElementOf(0), Ranked(std::move(out)));
}

namespace {

// As runtimes do, multiplies in single precision and rounds down.
std::int64_t Scaled(Call& call, std::int64_t dim, double scale) {
  if (dim < 0) return kUnknownDim;
  const float size = std::floor(static_cast<float>(dim) * static_cast<float>(scale));
  if (!(size >= 0) || !(size < static_cast<float>(kMaxDim))) {
    call.Fail("a dimension of " + std::to_string(dim) + " scaled by " + std::to_string(scale));
    return kUnknownDim;
  }
  return static_cast<std::int64_t>(size);
}

void Scale(Call& call, const std::vector<double>& scales, const std::vector<std::int64_t>* axes) {
  Shape out = call.ShapeOf(0);
  const std::size_t count = axes != nullptr ? axes->size() : out.rank();
  if (scales.size() != count)
    return call.Fail("the number of scales is not that of the dimensions");
  for (std::size_t i = 0; i < count; ++i) {
    const std::optional<std::size_t> axis =
        call.Axis(axes != nullptr ? (*axes)[i] : static_cast<std::int64_t>(i), out.rank());
    if (!axis) return;
    out.dims[*axis] = Scaled(call, out.dims[*axis], scales[i]);
  }
  call.Set(0, call.ElementOf(0), std::move(out));
}

}  // namespace

void Upsample(Call& call) {
  const Shape& in = call.ShapeOf(0);
  if (!in.has_rank) return call.Set(0, call.ElementOf(0), {});
  const Shape open = Ranked(Dims(in.rank(), kUnknownDim));
  if (call.opset() >= 9) {
    const std::vector<double>* scales = call.RealsOf(1);
    return scales != nullptr ? Scale(call, *scales, nullptr) : call.Set(0, call.ElementOf(0), open);
  }
  if (const Attribute* scales = call.Find("scales"); call.opset() >= 7 && scales != nullptr) {
    return Scale(call, std::vector<double>(scales->reals.begin(), scales->reals.end()), nullptr);
  }
  call.Set(0, call.ElementOf(0), open);
}

void Resize(Call& call) {
  const Shape& in = call.ShapeOf(0);
  if (!in.has_rank) return call.Set(0, call.ElementOf(0), {});
  const Shape open = Ranked(Dims(in.rank(), kUnknownDim));
  const std::size_t scales_at = call.opset() < 11 ? 1 : 2;
  const std::vector<std::int64_t>* axes = call.Ints("axes");
  // An empty list means the same as none.
  const auto given = [&](std::size_t i) {
    const Shape& shape = call.ShapeOf(i);
    return call.Has(i) && !(shape.has_rank && shape.rank() == 1 && shape.dims[0] == 0);
  };
  if (call.opset() >= 11 && given(3)) {
    const std::vector<std::int64_t>* sizes = call.IntsOf(3);
    if (call.Text("keep_aspect_ratio_policy", "stretch") != "stretch") sizes = nullptr;
    if (sizes == nullptr) return call.Set(0, call.ElementOf(0), open);
    const std::size_t count = axes != nullptr ? axes->size() : in.rank();
    if (!call.Within(*sizes, count, 0, kMaxDim, "sizes")) return;
    Shape out = in;
    for (std::size_t i = 0; i < count; ++i) {
      const std::optional<std::size_t> axis =
          call.Axis(axes != nullptr ? (*axes)[i] : static_cast<std::int64_t>(i), in.rank());
      if (!axis) return;
      out.dims[*axis] = (*sizes)[i];
    }
    return call.Set(0, call.ElementOf(0), std::move(out));
  }
  const std::vector<double>* scales = call.RealsOf(scales_at);
  if (scales == nullptr || !given(scales_at) ||
      call.Text("coordinate_transformation_mode", "") == "tf_crop_and_resize") {
    return call.Set(0, call.ElementOf(0), open);
  }
  Scale(call, *scales, axes);
}

}  // namespace berth::internal::onnx::rules
