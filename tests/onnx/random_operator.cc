#include "tests/onnx/random_operator.h"

#include <algorithm>
#include <utility>

#include "base/random.h"
#include "tests/onnx/build.h"

namespace berth::internal::onnx_build {
namespace {

class Maker {
 public:
  explicit Maker(std::uint64_t seed) : random_(seed) {}

  Random& random() { return random_; }
  std::int64_t Between(std::int64_t lower, std::int64_t upper) {
    return random_.Uniform(lower, upper);
  }
  bool Chance(double chance) { return random_.Chance(chance); }

  Ints Shape(std::int64_t least, std::int64_t most) {
    Ints shape;
    for (std::int64_t i = Between(least, most); i > 0; --i) shape.push_back(Between(1, 6));
    return shape;
  }
  Ints List(std::size_t count, std::int64_t lower, std::int64_t upper) {
    Ints list;
    for (std::size_t i = 0; i < count; ++i) list.push_back(Between(lower, upper));
    return list;
  }
  // A shape that broadcasts to `shape`; rarely one that does not.
  Ints Repeating(Ints shape) {
    if (Chance(0.3)) {
      shape.erase(shape.begin(),
                  shape.begin() + Between(0, static_cast<std::int64_t>(shape.size())));
    }
    for (std::int64_t& dim : shape) {
      if (Chance(0.3)) dim = 1;
      if (Chance(0.02)) dim = 7;
    }
    return shape;
  }

  // Adds an operand; some of its dimensions may be open.
  void In(const Ints& shape, int type = kFloat) {
    const std::string name = "x" + std::to_string(node.inputs.size());
    Dims dims;
    for (const std::int64_t dim : shape) {
      if (open_ && Chance(0.2)) {
        dims.push_back("n");
      } else {
        dims.push_back(dim);
      }
    }
    text += " " + name;
    for (const std::int64_t dim : shape) text += "_" + std::to_string(dim);
    graph.inputs.push_back(Value(name, type, dims));
    node.inputs.push_back(name);
  }
  void None() { node.inputs.push_back(""); }
  // Adds a constant.
  void Known(const Ints& values) {
    const std::string name = "x" + std::to_string(node.inputs.size());
    text += " " + name + "=[";
    for (const std::int64_t value : values) text += std::to_string(value) + ",";
    text += "]";
    graph.weights.push_back(Int64Tensor(name, values));
    node.inputs.push_back(name);
  }
  void KnownScalar(std::int64_t value) {
    const std::string name = "x" + std::to_string(node.inputs.size());
    graph.weights.push_back(TensorProto(name, kInt64, {}, Int64Data({value})));
    text += " " + name + "=" + std::to_string(value);
    node.inputs.push_back(name);
  }
  void KnownReals(const std::vector<float>& values) {
    const std::string name = "x" + std::to_string(node.inputs.size());
    graph.weights.push_back(FloatTensor(name, values));
    node.inputs.push_back(name);
  }
  void With(const Attr& attribute) { node.attributes.push_back(attribute); }
  void IntAttr(const std::string& name, std::int64_t value) {
    text += " " + name + "=" + std::to_string(value);
    With(Int(name, value));
  }
  void ListAttr(const std::string& name, const Ints& values) {
    text += " " + name + "=";
    for (const std::int64_t value : values) text += std::to_string(value) + ",";
    With(onnx_build::List(name, values));
  }
  std::int64_t Axis(std::size_t rank) {
    const auto r = static_cast<std::int64_t>(rank);
    if (Chance(0.02)) return r + 1;
    return Between(-r, r - 1);
  }
  // Some axes, each once, positive or negative.
  Ints Axes(std::size_t rank, bool negative = true) {
    Ints axes;
    for (std::size_t i = 0; i < rank; ++i) {
      if (Chance(0.5)) {
        axes.push_back(static_cast<std::int64_t>(i) -
                       (negative && Chance(0.5) ? static_cast<std::int64_t>(rank) : 0));
      }
    }
    return axes;
  }
  void Out(std::size_t count = 1) { outputs = count; }

  // Strides, dilations and pads of a window over `rank` dimensions.
  void Window(std::size_t rank, const Ints& kernel, bool dilations = true) {
    if (Chance(0.5)) ListAttr("strides", List(rank, 1, 3));
    if (dilations && Chance(0.4)) ListAttr("dilations", List(rank, 1, 2));
    if (Chance(0.5)) {
      ListAttr("pads", List(2 * rank, 0, 2));
    } else if (Chance(0.4)) {
      const char* const kinds[] = {"SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET"};
      const auto kind = static_cast<std::size_t>(Between(0, 3));
      text += std::string(" ") + kinds[kind];
      With(Text("auto_pad", kinds[kind]));
    }
    if (Chance(0.7)) ListAttr("kernel_shape", kernel);
  }

  bool open_ = false;
  Graph graph;
  Node node;
  std::size_t outputs = 1;
  std::int64_t opset = 13;
  std::string text;
  bool may_be_open = false;

 private:
  Random random_;
};

using Make = void (*)(Maker&);
struct Kind {
  const char* type;
  Make make;
};

void Unary(Maker& m) { m.In(m.Shape(0, 4)); }
void Binary(Maker& m) {
  const Ints shape = m.Shape(0, 4);
  m.In(m.Repeating(shape));
  m.In(m.Repeating(shape));
}
void Logic(Maker& m) {
  const Ints shape = m.Shape(0, 4);
  m.In(m.Repeating(shape), kBool);
  m.In(m.Repeating(shape), kBool);
}
void Variadic(Maker& m) {
  const Ints shape = m.Shape(0, 3);
  for (std::int64_t i = m.Between(1, 4); i > 0; --i) m.In(m.Repeating(shape));
}
void WhereOf(Maker& m) {
  const Ints shape = m.Shape(0, 3);
  m.In(m.Repeating(shape), kBool);
  m.In(m.Repeating(shape));
  m.In(m.Repeating(shape));
}
void CastOf(Maker& m) {
  m.In(m.Shape(0, 3));
  m.IntAttr("to", m.Chance(0.5) ? kInt64 : kInt32);
}
void DropoutOf(Maker& m) {
  m.In(m.Shape(0, 3));
  m.Out(2);
}
void BatchNorm(Maker& m) {
  const Ints shape = m.Shape(2, 4);
  m.opset = m.Chance(0.5) ? 9 : 15;
  m.In(shape);
  for (int i = 0; i < 4; ++i) m.In({shape[1]});
}
void LayerNorm(Maker& m) {
  m.opset = 17;
  const Ints shape = m.Shape(1, 4);
  const std::int64_t axis = m.Between(0, static_cast<std::int64_t>(shape.size()) - 1);
  m.In(shape);
  m.In(Ints(shape.begin() + axis, shape.end()));
  m.IntAttr("axis", axis);
  m.Out(static_cast<std::size_t>(m.Between(1, 3)));
}
void ReshapeOf(Maker& m) {
  const Ints shape = m.Shape(0, 4);
  Ints to = shape;
  if (!to.empty() && m.Chance(0.6))
    to[static_cast<std::size_t>(m.Between(0, static_cast<std::int64_t>(to.size()) - 1))] = -1;
  if (!to.empty() && m.Chance(0.4))
    to[static_cast<std::size_t>(m.Between(0, static_cast<std::int64_t>(to.size()) - 1))] = 0;
  if (m.Chance(0.3)) to.push_back(1);
  if (m.Chance(0.02)) to.push_back(3);
  m.In(shape);
  m.Known(to);
}
void FlattenOf(Maker& m) {
  const Ints shape = m.Shape(0, 4);
  m.In(shape);
  const auto rank = static_cast<std::int64_t>(shape.size());
  m.IntAttr("axis", m.Between(-rank, rank));
}
void SqueezeOf(Maker& m) {
  Ints shape = m.Shape(0, 4);
  Ints axes = m.Axes(shape.size());
  for (const std::int64_t axis : axes) {
    const auto rank = static_cast<std::int64_t>(shape.size());
    if (m.Chance(0.97)) shape[static_cast<std::size_t>(axis < 0 ? axis + rank : axis)] = 1;
  }
  m.In(shape);
  if (m.Chance(0.2)) return;
  m.opset = m.Chance(0.5) ? 11 : 13;
  if (m.opset == 11) {
    m.ListAttr("axes", axes);
  } else {
    m.Known(axes);
  }
}
void UnsqueezeOf(Maker& m) {
  const Ints shape = m.Shape(0, 3);
  Ints axes = m.Axes(shape.size() + 2);
  if (axes.size() > 2) axes.resize(2);
  while (axes.size() < 2) axes.push_back(static_cast<std::int64_t>(axes.size()));
  m.In(shape);
  m.opset = m.Chance(0.5) ? 11 : 13;
  if (m.opset == 11) {
    m.ListAttr("axes", axes);
  } else {
    m.Known(axes);
  }
}
void TransposeOf(Maker& m) {
  const Ints shape = m.Shape(0, 4);
  m.In(shape);
  if (m.Chance(0.2)) return;
  Ints permutation;
  for (std::size_t i = 0; i < shape.size(); ++i)
    permutation.push_back(static_cast<std::int64_t>(i));
  m.random().Shuffle(permutation);
  m.ListAttr("perm", permutation);
}
void ConcatOf(Maker& m) {
  const Ints shape = m.Shape(1, 4);
  const std::int64_t axis = m.Axis(shape.size());
  const auto rank = static_cast<std::int64_t>(shape.size());
  for (std::int64_t i = m.Between(1, 4); i > 0; --i) {
    Ints own = shape;
    if (axis < rank) own[static_cast<std::size_t>(axis < 0 ? axis + rank : axis)] = m.Between(1, 5);
    m.In(own);
  }
  m.IntAttr("axis", axis);
}
void SplitOf(Maker& m) {
  Ints shape = m.Shape(1, 3);
  const auto axis =
      static_cast<std::size_t>(m.Between(0, static_cast<std::int64_t>(shape.size()) - 1));
  const std::int64_t parts = m.Between(1, 4);
  Ints sizes = m.List(static_cast<std::size_t>(parts), 0, 3);
  m.IntAttr("axis", static_cast<std::int64_t>(axis));
  m.Out(static_cast<std::size_t>(parts));
  const bool equal = m.Chance(0.4);
  shape[axis] = 0;
  for (const std::int64_t size : sizes) shape[axis] += size;
  if (equal) shape[axis] = parts * m.Between(1, 3);
  if (m.Chance(0.02)) ++shape[axis];
  m.In(shape);
  if (equal) return;
  m.opset = m.Chance(0.5) ? 11 : 13;
  if (m.opset == 11) {
    m.ListAttr("split", sizes);
  } else {
    m.Known(sizes);
  }
}
void SliceOf(Maker& m) {
  const Ints shape = m.Shape(1, 4);
  Ints axes = m.Axes(shape.size());
  const bool no_axes = m.Chance(0.2);
  const std::size_t count = no_axes ? shape.size() : axes.size();
  Ints starts = m.List(count, -8, 8);
  Ints ends = m.List(count, -8, 8);
  Ints steps = m.List(count, -3, 3);
  for (std::int64_t& step : steps) step = step == 0 ? 1 : step;
  if (m.Chance(0.3)) {
    for (std::int64_t& end : ends) end = INT64_MAX;
  }
  if (m.Chance(0.2)) {
    for (std::int64_t& end : ends) end = -INT64_MAX;
  }
  m.In(shape);
  if (m.Chance(0.3)) {
    m.opset = 9;
    m.ListAttr("starts", starts);
    m.ListAttr("ends", ends);
    if (!no_axes) m.ListAttr("axes", axes);
    return;
  }
  m.Known(starts);
  m.Known(ends);
  if (no_axes) return;
  m.Known(axes);
  if (m.Chance(0.7)) m.Known(steps);
}
void GatherOf(Maker& m) {
  const Ints shape = m.Shape(1, 4);
  m.In(shape);
  m.In(m.Shape(0, 3), kInt64);
  m.IntAttr("axis", m.Axis(shape.size()));
}
void GatherElementsOf(Maker& m) {
  const Ints shape = m.Shape(1, 3);
  m.In(shape);
  m.In(shape, kInt64);
}
void GatherNdOf(Maker& m) {
  const Ints shape = m.Shape(2, 4);
  Ints indices = m.Shape(1, 2);
  m.In(shape);
  indices.push_back(m.Between(1, static_cast<std::int64_t>(shape.size())));
  m.In(indices, kInt64);
}
void ExpandOf(Maker& m) {
  const Ints shape = m.Shape(0, 4);
  m.In(m.Repeating(shape));
  m.Known(m.Repeating(shape));
}
void TileOf(Maker& m) {
  const Ints shape = m.Shape(1, 3);
  m.In(shape);
  m.Known(m.List(shape.size(), 1, 3));
}
void PadOf(Maker& m) {
  const Ints shape = m.Shape(1, 4);
  m.In(shape);
  const Ints pads = m.List(2 * shape.size(), m.Chance(0.2) ? -1 : 0, 3);
  m.opset = m.Chance(0.4) ? 9 : 13;
  if (m.opset == 9) {
    m.ListAttr("pads", pads);
  } else {
    m.Known(pads);
  }
}
void ConstantOfShapeOf(Maker& m) { m.Known(m.Shape(0, 4)); }
void RangeOf(Maker& m) {
  m.KnownScalar(m.Between(-5, 5));
  m.KnownScalar(m.Between(-5, 20));
  m.KnownScalar(m.Chance(0.3) ? -2 : m.Between(1, 4));
}
void OneHotOf(Maker& m) {
  const Ints shape = m.Shape(1, 3);
  m.In(shape, kInt64);
  m.Known({m.Between(1, 9)});
  m.In({2});
  m.IntAttr("axis", m.Between(-1, static_cast<std::int64_t>(shape.size())));
}
void TopKOf(Maker& m) {
  const Ints shape = m.Shape(1, 3);
  m.In(shape);
  m.Known({m.Between(0, 3)});
  m.IntAttr("axis", m.Axis(shape.size()));
  m.Out(2);
}
void ArgOf(Maker& m) {
  const Ints shape = m.Shape(1, 4);
  m.In(shape);
  m.IntAttr("axis", m.Axis(shape.size()));
  if (m.Chance(0.5)) m.IntAttr("keepdims", m.Between(0, 1));
}
void ReduceOf(Maker& m) {
  const Ints shape = m.Shape(1, 4);
  m.In(shape);
  if (m.Chance(0.5)) m.IntAttr("keepdims", m.Between(0, 1));
  if (m.Chance(0.8)) m.ListAttr("axes", m.Axes(shape.size()));
}
void ReduceSumOf(Maker& m) {
  const Ints shape = m.Shape(1, 4);
  m.In(shape);
  if (m.Chance(0.5)) m.IntAttr("keepdims", m.Between(0, 1));
  if (m.Chance(0.3)) m.IntAttr("noop_with_empty_axes", m.Between(0, 1));
  if (m.Chance(0.8)) m.Known(m.Axes(shape.size()));
}
void ConvOf(Maker& m) {
  const auto rank = static_cast<std::size_t>(m.Between(1, 3));
  const std::int64_t group = m.Between(1, 3);
  Ints x = {m.Between(1, 3), 2 * group};
  Ints w = {3 * group, m.Chance(0.97) ? 2 : 3};
  Ints kernel;
  for (std::size_t i = 0; i < rank; ++i) {
    x.push_back(m.Between(4, 12));
    kernel.push_back(m.Between(1, 3));
    w.push_back(kernel.back());
  }
  m.In(x);
  m.In(w);
  m.IntAttr("group", group);
  m.Window(rank, kernel);
}
void ConvTransposeOf(Maker& m) {
  const auto rank = static_cast<std::size_t>(m.Between(1, 3));
  const std::int64_t group = m.Between(1, 2);
  Ints x = {m.Between(1, 3), 2 * group};
  Ints w = {2 * group, 3};
  Ints kernel;
  for (std::size_t i = 0; i < rank; ++i) {
    x.push_back(m.Between(3, 8));
    kernel.push_back(m.Between(2, 4));
    w.push_back(kernel.back());
  }
  m.In(x);
  m.In(w);
  m.IntAttr("group", group);
  if (m.Chance(0.5)) m.ListAttr("strides", m.List(rank, 1, 3));
  if (m.Chance(0.3)) m.ListAttr("dilations", m.List(rank, 1, 2));
  if (m.Chance(0.3)) m.ListAttr("output_padding", m.List(rank, 0, 1));
  if (m.Chance(0.5)) {
    m.ListAttr("pads", m.List(2 * rank, 0, 1));
  }
  if (m.Chance(0.7)) m.ListAttr("kernel_shape", kernel);
}
void PoolOf(Maker& m) {
  const auto rank = static_cast<std::size_t>(m.Between(1, 3));
  Ints x = {m.Between(1, 3), m.Between(1, 4)};
  Ints kernel;
  for (std::size_t i = 0; i < rank; ++i) {
    x.push_back(m.Between(4, 12));
    kernel.push_back(m.Between(1, 4));
  }
  m.In(x);
  m.ListAttr("kernel_shape", kernel);
  if (m.Chance(0.5)) m.ListAttr("strides", m.List(rank, 1, 3));
  if (m.Chance(0.5)) m.ListAttr("pads", m.List(2 * rank, 0, 1));
  if (m.Chance(0.4)) {
    m.IntAttr("ceil_mode", 1);
    m.may_be_open = true;
  }
}
void GlobalOf(Maker& m) { m.In(m.Shape(2, 5)); }
void MatMulOf(Maker& m) {
  const std::int64_t inner = m.Between(1, 5);
  Ints a = m.Shape(0, 3);
  Ints b = m.Repeating(a);
  a.push_back(inner);
  if (m.Chance(0.2)) {
    b = {inner};
  } else {
    if (a.size() > 1) b.resize(std::min(b.size(), a.size() - 2));
    b = m.Repeating(a.size() > 1 ? Ints(a.begin(), a.end() - 2) : Ints());
    b.push_back(m.Chance(0.97) ? inner : inner + 1);
    b.push_back(m.Between(1, 5));
  }
  m.In(a);
  m.In(b);
}
void GemmOf(Maker& m) {
  const std::int64_t inner = m.Between(1, 5);
  const std::int64_t ta = m.Between(0, 1);
  const std::int64_t tb = m.Between(0, 1);
  const std::int64_t rows = m.Between(1, 5);
  const std::int64_t columns = m.Between(1, 5);
  m.In(ta != 0 ? Ints{inner, rows} : Ints{rows, inner});
  m.In(tb != 0 ? Ints{columns, inner} : Ints{inner, columns});
  m.IntAttr("transA", ta);
  m.IntAttr("transB", tb);
  if (m.Chance(0.5)) m.In({columns});
}
void EinsumOf(Maker& m) {
  const char* const equations[] = {"ij,jk->ik", "bij,bjk->bik", "ij->ji", "ij,ij",
                                   "bhqd,bhkd->bhqk"};
  const Ints letters = {2, 3, 4, 5};
  const auto which = static_cast<std::size_t>(m.Between(0, 4));
  m.With(Text("equation", equations[which]));
  switch (which) {
    case 0:
      m.In({2, 3});
      m.In({3, 4});
      break;
    case 1:
      m.In({5, 2, 3});
      m.In({5, 3, 4});
      break;
    case 2:
      m.In({2, 3});
      break;
    case 3:
      m.In({2, 3});
      m.In({2, 3});
      break;
    default:
      m.In({2, 3, 4, 5});
      m.In({2, 3, 6, 5});
  }
}
void DepthOf(Maker& m) {
  const std::int64_t block = m.Between(1, 3);
  m.In({m.Between(1, 2), block * block * 2, m.Between(1, 4), m.Between(1, 4)});
  m.IntAttr("blocksize", block);
}
void SpaceOf(Maker& m) {
  const std::int64_t block = m.Between(1, 3);
  m.In({m.Between(1, 2), 2, block * m.Between(1, 4), block * m.Between(1, 4)});
  m.IntAttr("blocksize", block);
}
void ResizeOf(Maker& m) {
  const Ints shape = m.Shape(1, 4);
  m.In(shape);
  m.None();
  if (m.Chance(0.5)) {
    std::vector<float> scales;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      scales.push_back(static_cast<float>(m.Between(1, 12)) / 4.0F);
    }
    m.KnownReals(scales);
  } else {
    m.None();
    m.Known(m.List(shape.size(), 1, 9));
  }
}
void UpsampleOf(Maker& m) {
  const Ints shape = m.Shape(1, 4);
  m.In(shape);
  m.opset = 9;
  m.KnownReals(std::vector<float>(shape.size(), 1.5F));
}
void LstmOf(Maker& m) {
  const std::int64_t hidden = m.Between(1, 4);
  const bool both = m.Chance(0.3);
  const std::int64_t directions = both ? 2 : 1;
  const std::int64_t gates = m.node.type == "LSTM" ? 4 : m.node.type == "GRU" ? 3 : 1;
  const std::int64_t inner = m.Between(1, 4);
  m.In({m.Between(1, 5), m.Between(1, 3), inner});
  m.In({directions, gates * hidden, inner});
  m.In({directions, gates * hidden, hidden});
  m.IntAttr("hidden_size", hidden);
  if (both) m.With(Text("direction", "bidirectional"));
  m.Out(m.node.type == "LSTM" ? 3 : 2);
}
void QuantizeOf(Maker& m) {
  m.In(m.Shape(0, 3));
  m.In({});
}
void ShapeOf(Maker& m) { m.In(m.Shape(0, 4)); }
void ShapeOf15(Maker& m) {
  m.opset = 15;
  m.In(m.Shape(0, 4));
  if (m.Chance(0.5)) m.IntAttr("start", m.Between(-5, 5));
  if (m.Chance(0.5)) m.IntAttr("end", m.Between(-5, 5));
}
void ScatterOf(Maker& m) {
  const Ints shape = m.Shape(1, 3);
  m.In(shape);
  m.In(shape, kInt64);
  m.In(shape);
}
void GridOf(Maker& m) {
  m.opset = 16;
  m.In({2, 3, m.Between(1, 5), m.Between(1, 5)});
  m.In({2, m.Between(1, 5), m.Between(1, 5), 2});
}
void RoiOf(Maker& m) {
  const std::int64_t regions = m.Between(1, 5);
  m.In({2, 3, 8, 8});
  m.In({regions, 4});
  m.In({regions}, kInt64);
  m.IntAttr("output_height", m.Between(1, 4));
  m.IntAttr("output_width", m.Between(1, 4));
}
void DetOf(Maker& m) {
  Ints shape = m.Shape(0, 2);
  const std::int64_t n = m.Between(1, 4);
  shape.push_back(n);
  shape.push_back(n);
  m.In(shape);
}
void QLinearConvOf(Maker& m) {
  constexpr int kUint8 = 2;
  m.In({1, 2, m.Between(4, 9), m.Between(4, 9)}, kUint8);
  m.In({});
  m.In({}, kUint8);
  m.In({3, 2, 3, 3}, kUint8);
  m.In({});
  m.In({}, kUint8);
  m.In({});
  m.In({}, kUint8);
  m.Window(2, {3, 3});
}
void MatMulIntegerOf(Maker& m) {
  constexpr int kUint8 = 2;
  m.In({m.Between(1, 4), 3}, kUint8);
  m.In({3, m.Between(1, 4)}, kUint8);
}
void LossOf(Maker& m) {
  m.In({3, 4});
  m.In({3}, kInt64);
  const char* const reductions[] = {"none", "sum", "mean"};
  m.With(Text("reduction", reductions[m.Between(0, 2)]));
}
void NonZeroOf(Maker& m) { m.In(m.Shape(1, 3)); }
void EyeOf(Maker& m) { m.In({m.Between(1, 4), m.Between(1, 4)}); }
void RandomOf(Maker& m) { m.ListAttr("shape", m.Shape(0, 3)); }
void CumSumOf(Maker& m) {
  m.In(m.Shape(1, 3));
  m.KnownScalar(0);
}

const Kind kKinds[] = {
    {"Relu", Unary},
    {"Softmax", Unary},
    {"Elu", Unary},
    {"Identity", Unary},
    {"Add", Binary},
    {"Pow", Binary},
    {"Less", Binary},
    {"Equal", Binary},
    {"PRelu", Unary},
    {"And", Logic},
    {"Max", Variadic},
    {"Sum", Variadic},
    {"Where", WhereOf},
    {"Cast", CastOf},
    {"Dropout", DropoutOf},
    {"BatchNormalization", BatchNorm},
    {"LayerNormalization", LayerNorm},
    {"Reshape", ReshapeOf},
    {"Flatten", FlattenOf},
    {"Squeeze", SqueezeOf},
    {"Unsqueeze", UnsqueezeOf},
    {"Transpose", TransposeOf},
    {"Concat", ConcatOf},
    {"Split", SplitOf},
    {"Slice", SliceOf},
    {"Gather", GatherOf},
    {"GatherElements", GatherElementsOf},
    {"GatherND", GatherNdOf},
    {"Expand", ExpandOf},
    {"Tile", TileOf},
    {"Pad", PadOf},
    {"ConstantOfShape", ConstantOfShapeOf},
    {"Range", RangeOf},
    {"OneHot", OneHotOf},
    {"TopK", TopKOf},
    {"ArgMax", ArgOf},
    {"ReduceMean", ReduceOf},
    {"ReduceSum", ReduceSumOf},
    {"Conv", ConvOf},
    {"ConvTranspose", ConvTransposeOf},
    {"MaxPool", PoolOf},
    {"AveragePool", PoolOf},
    {"GlobalAveragePool", GlobalOf},
    {"MatMul", MatMulOf},
    {"Gemm", GemmOf},
    {"Einsum", EinsumOf},
    {"DepthToSpace", DepthOf},
    {"SpaceToDepth", SpaceOf},
    {"Resize", ResizeOf},
    {"Upsample", UpsampleOf},
    {"LSTM", LstmOf},
    {"GRU", LstmOf},
    {"RNN", LstmOf},
    {"QuantizeLinear", QuantizeOf},
    {"Shape", ShapeOf},
    {"Shape", ShapeOf15},
    {"Size", ShapeOf},
    {"ScatterElements", ScatterOf},
    {"GridSample", GridOf},
    {"RoiAlign", RoiOf},
    {"Det", DetOf},
    {"QLinearConv", QLinearConvOf},
    {"MatMulInteger", MatMulIntegerOf},
    {"NegativeLogLikelihoodLoss", LossOf},
    {"NonZero", NonZeroOf},
    {"EyeLike", EyeOf},
    {"RandomUniform", RandomOf},
    {"CumSum", CumSumOf},
};

}  // namespace

RandomOperator MakeRandomOperator(std::uint64_t seed) {
  Maker m(seed);
  m.open_ = m.Chance(0.2);
  const auto which =
      static_cast<std::size_t>(m.Between(0, static_cast<std::int64_t>(std::size(kKinds)) - 1));
  m.node.type = kKinds[which].type;
  kKinds[which].make(m);
  if (m.node.type == "PRelu") m.In({1});
  for (std::size_t i = 0; i < m.outputs; ++i) {
    const std::string name = "y" + std::to_string(i);
    m.node.outputs.push_back(name);
    m.graph.outputs.push_back(Field(1, name));
  }
  m.graph.nodes.push_back(m.node);
  return {m.node.type, Model(m.graph, m.opset), m.node.type + m.text, m.may_be_open};
}

std::vector<std::string> RandomOperatorTypes() {
  std::vector<std::string> types;
  for (const Kind& kind : kKinds) types.emplace_back(kind.type);
  return types;
}

}  // namespace berth::internal::onnx_build
