#include "tools/generate/cells.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"

namespace berth::internal {
namespace {

constexpr std::int64_t kClasses = 1000;

// Kinds of operations in cells; NxN is the size of a kernel.
enum class Kind {
  kNone,  // The state itself.
  kSeparable3x3,
  kSeparable5x5,
  kSeparable7x7,
  kAveragePool3x3,
  kMaxPool3x3,
  kMaxPool2x2,
  kConv1x1,
  kBottleneck3x3,
  kBottleneck1x7And7x1,
};

// What a kind of operation is applied to: states 0 and 1 are the cell's input and that of the cell before,
// state 2 + k the sum of block k.
struct Operation {
  Kind kind;
  std::size_t state;
};
// Operations 2k and 2k + 1 are those of block k.
struct Cell {
  std::array<Operation, 10> operations;
  std::array<bool, 7> concatenated;  // By state.
};

// Zoph et al., Figure 4; in the order of TensorFlow's model garden.
constexpr Cell kNasnetNormal = {{{{Kind::kSeparable5x5, 0},
                                  {Kind::kSeparable3x3, 1},
                                  {Kind::kSeparable5x5, 1},
                                  {Kind::kSeparable3x3, 1},
                                  {Kind::kAveragePool3x3, 0},
                                  {Kind::kNone, 1},
                                  {Kind::kAveragePool3x3, 1},
                                  {Kind::kAveragePool3x3, 1},
                                  {Kind::kSeparable3x3, 0},
                                  {Kind::kNone, 0}}},
                                {false, true, true, true, true, true, true}};
constexpr Cell kNasnetReduction = {{{{Kind::kSeparable5x5, 0},
                                     {Kind::kSeparable7x7, 1},
                                     {Kind::kMaxPool3x3, 0},
                                     {Kind::kSeparable7x7, 1},
                                     {Kind::kAveragePool3x3, 0},
                                     {Kind::kSeparable5x5, 1},
                                     {Kind::kNone, 3},
                                     {Kind::kAveragePool3x3, 2},
                                     {Kind::kSeparable3x3, 2},
                                     {Kind::kMaxPool3x3, 0}}},
                                   {false, false, false, true, true, true, true}};
// Real et al., as in the networks that GPipe measured, which concatenate the cell's input.
constexpr Cell kAmoebanetNormal = {{{{Kind::kConv1x1, 1},
                                     {Kind::kMaxPool3x3, 1},
                                     {Kind::kNone, 1},
                                     {Kind::kBottleneck1x7And7x1, 0},
                                     {Kind::kConv1x1, 0},
                                     {Kind::kBottleneck1x7And7x1, 0},
                                     {Kind::kMaxPool3x3, 2},
                                     {Kind::kNone, 2},
                                     {Kind::kAveragePool3x3, 1},
                                     {Kind::kConv1x1, 5}}},
                                   {true, false, false, true, true, false, true}};
constexpr Cell kAmoebanetReduction = {{{{Kind::kMaxPool2x2, 0},
                                        {Kind::kMaxPool3x3, 0},
                                        {Kind::kNone, 2},
                                        {Kind::kBottleneck3x3, 1},
                                        {Kind::kBottleneck1x7And7x1, 2},
                                        {Kind::kMaxPool3x3, 2},
                                        {Kind::kNone, 3},
                                        {Kind::kMaxPool2x2, 1},
                                        {Kind::kAveragePool3x3, 2},
                                        {Kind::kConv1x1, 3}}},
                                      {false, false, false, false, true, true, true}};

// A tensor of side x side x channels.
struct Feature {
  TensorIndex tensor = 0;
  std::int64_t side = 0;
  std::int64_t channels = 0;
};

struct Kernel {
  std::int64_t height = 1;
  std::int64_t width = 1;
};

class Builder {
 public:
  Builder(std::string name, Bytes element_bytes) : element_bytes_(element_bytes) {
    graph_.name = std::move(name);
  }

  void SetScope(std::string scope) { scope_ = std::move(scope); }

  Feature Input(std::int64_t side) {
    return {AddTensor("image", 3 * side * side, TensorKind::kInput), side, 3};
  }
  Feature Relu(const Feature& x) {
    const Feature made = Make("Relu", {x}, x.side, x.channels);
    graph_.operators.back().may_overwrite = {{x.tensor, made.tensor}};
    return made;
  }
  Feature Conv(const Feature& x, std::int64_t channels, Kernel kernel = {},
               std::int64_t stride = 1) {
    return WithWeights(Make("Conv", {x}, Strided(x.side, stride), channels),
                       x.channels * kernel.height * kernel.width * channels);
  }
  // Without padding.
  Feature ConvInside(const Feature& x, std::int64_t channels, std::int64_t kernel,
                     std::int64_t stride) {
    return WithWeights(Make("Conv", {x}, (x.side - kernel) / stride + 1, channels),
                       x.channels * kernel * kernel * channels);
  }
  // The second convolution has the bias.
  Feature SeparableConv(const Feature& x, std::int64_t channels, std::int64_t kernel,
                        std::int64_t stride) {
    const Feature inner = Make("DepthwiseConv", {x}, Strided(x.side, stride), x.channels);
    AddParameter("weight", x.channels * kernel * kernel);
    return Conv(inner, channels);
  }
  Feature Pool(std::string_view type, const Feature& x, std::int64_t stride) {
    return Make(type, {x}, Strided(x.side, stride), x.channels);
  }
  Feature Add(const Feature& x, const Feature& y) {
    BERTH_CHECK(x.side == y.side && x.channels == y.channels);
    const Feature made = Make("Add", {x, y}, x.side, x.channels);
    graph_.operators.back().may_overwrite = {{x.tensor, made.tensor}};
    if (y.tensor != x.tensor) {
      graph_.operators.back().may_overwrite.push_back({y.tensor, made.tensor});
    }
    return made;
  }
  Feature Concat(const std::vector<Feature>& parts) {
    std::int64_t channels = 0;
    for (const Feature& part : parts) channels += part.channels;
    return Make("Concat", parts, parts.front().side, channels);
  }
  // Half of the channels from one pixel of four, the other half from the one that lies diagonally; at half
  // the resolution. NASNet-A pools before each convolution, and pads before it shifts.
  Feature FactorizedReduction(const Feature& x, std::int64_t channels, bool pools) {
    const auto half = [&](const Feature& from) {
      if (!pools) return Conv(from, channels / 2, {}, 2);
      return Conv(Pool("AveragePool", from, 2), channels / 2);
    };
    const Feature here = half(x);
    const std::int64_t between = pools ? x.side + 1 : x.side - 1;
    const Feature first = Make(pools ? "Pad" : "Slice", {x}, between, x.channels);
    const Feature shifted = Make(pools ? "Slice" : "Pad", {first}, x.side, x.channels);
    return Concat({here, half(shifted)});
  }
  Graph Finish(const Feature& last) {
    SetScope("classify");
    const Feature pooled = Make("GlobalAveragePool", {last}, 1, last.channels);
    const Feature classes =
        WithWeights(Make("Gemm", {pooled}, 1, kClasses), last.channels * kClasses);
    graph_.tensors[classes.tensor].output = true;
    return std::move(graph_);
  }

 private:
  static std::int64_t Strided(std::int64_t side, std::int64_t stride) {
    return (side + stride - 1) / stride;
  }
  TensorIndex AddTensor(std::string name, std::int64_t elements, TensorKind kind) {
    Tensor tensor;
    tensor.name = std::move(name);
    tensor.bytes = elements * element_bytes_;
    tensor.kind = kind;
    graph_.tensors.push_back(std::move(tensor));
    return graph_.tensors.size() - 1;
  }
  Feature Make(std::string_view type, const std::vector<Feature>& inputs, std::int64_t side,
               std::int64_t channels) {
    Operator op;
    op.name = scope_ + "." + std::string(type) + "_" + std::to_string(graph_.operators.size());
    op.type = type;
    for (const Feature& input : inputs) op.inputs.push_back(input.tensor);
    const TensorIndex output = AddTensor(op.name, side * side * channels, TensorKind::kActivation);
    op.outputs = {output};
    graph_.operators.push_back(std::move(op));
    return {output, side, channels};
  }
  // For the operator made last.
  void AddParameter(std::string_view what, std::int64_t elements) {
    Operator& op = graph_.operators.back();
    op.inputs.push_back(
        AddTensor(op.name + "." + std::string(what), elements, TensorKind::kParameter));
  }
  Feature WithWeights(const Feature& made, std::int64_t elements) {
    AddParameter("weight", elements);
    AddParameter("bias", made.channels);
    return made;
  }

  const Bytes element_bytes_;
  Graph graph_;
  std::string scope_;
};

// `channels`: of what the operation makes.
Feature Apply(Builder& net, Kind kind, const Feature& x, std::int64_t channels,
              std::int64_t stride) {
  const auto separable = [&](std::int64_t kernel) {
    const Feature first = net.SeparableConv(net.Relu(x), channels, kernel, stride);
    return net.SeparableConv(net.Relu(first), channels, kernel, 1);
  };
  const auto pooled = [&](std::string_view type) {
    const Feature made = net.Pool(type, x, stride);
    return x.channels == channels ? made : net.Conv(made, channels);
  };
  const std::int64_t inner = channels / 4;
  switch (kind) {
    case Kind::kNone:
      return x;
    case Kind::kSeparable3x3:
      return separable(3);
    case Kind::kSeparable5x5:
      return separable(5);
    case Kind::kSeparable7x7:
      return separable(7);
    case Kind::kAveragePool3x3:
      return pooled("AveragePool");
    case Kind::kMaxPool3x3:
    case Kind::kMaxPool2x2:
      return pooled("MaxPool");
    case Kind::kConv1x1:
      return net.Conv(net.Relu(x), channels, {}, stride);
    case Kind::kBottleneck3x3: {
      const Feature narrow = net.Conv(net.Relu(x), inner);
      return net.Conv(net.Relu(net.Conv(net.Relu(narrow), inner, {3, 3}, stride)), channels);
    }
    case Kind::kBottleneck1x7And7x1: {
      BERTH_CHECK(stride == 1);
      const Feature row = net.Conv(net.Relu(net.Conv(net.Relu(x), inner)), inner, {1, 7});
      return net.Conv(net.Relu(net.Conv(net.Relu(row), inner, {7, 1})), channels);
    }
  }
  return x;
}

// What the blocks of `cell` make of its two inputs.
Feature ApplyCell(Builder& net, const Cell& cell, const std::string& name, const Feature& input,
                  const Feature& before, std::int64_t channels, std::int64_t stride) {
  std::vector<Feature> states = {input, before};
  for (std::size_t block = 0; block < cell.operations.size() / 2; ++block) {
    std::array<Feature, 2> made;
    for (std::size_t side = 0; side < made.size(); ++side) {
      net.SetScope(name + ".block" + std::to_string(block) + (side == 0 ? ".left" : ".right"));
      const Operation& operation = cell.operations[2 * block + side];
      made[side] = Apply(net, operation.kind, states[operation.state], channels,
                         operation.state < 2 ? stride : 1);
    }
    net.SetScope(name + ".block" + std::to_string(block));
    states.push_back(net.Add(made[0], made[1]));
  }
  net.SetScope(name);
  std::vector<Feature> parts;
  for (std::size_t state = 0; state < states.size(); ++state) {
    if (cell.concatenated[state]) parts.push_back(states[state]);
  }
  return net.Concat(parts);
}

// What an input of a cell needs to have `channels`, at half the resolution if `halves`.
Feature Match(Builder& net, const Feature& x, std::int64_t channels, bool halves, bool pools) {
  if (halves) return net.FactorizedReduction(net.Relu(x), channels, pools);
  return x.channels == channels ? x : net.Conv(net.Relu(x), channels);
}

// Each third of the cells but the first comes after one that halves the resolution.
bool ComesAfterReduction(const CellNetworkSize& size, std::int64_t cell) {
  return cell > 0 && cell % (size.cells / 3) == 0;
}

void CheckSize(const CellNetworkSize& size, std::int64_t filters, Bytes element_bytes) {
  BERTH_CHECK(size.cells >= 3 && size.cells % 3 == 0);
  BERTH_CHECK(size.filters >= filters && size.filters % filters == 0 && size.filters <= 4096);
  BERTH_CHECK(size.resolution >= 128 && size.resolution <= 1024 && element_bytes >= 1);
}

Feature NasnetCell(Builder& net, const std::string& name, const Feature& x,
                   const std::optional<Feature>& before, std::int64_t channels, bool reduces) {
  net.SetScope(name + ".before");
  const Feature other =
      before ? Match(net, *before, channels, before->side != x.side, /*pools=*/true) : x;
  net.SetScope(name + ".input");
  const Feature input = net.Conv(net.Relu(x), channels);
  return ApplyCell(net, reduces ? kNasnetReduction : kNasnetNormal, name, input, other, channels,
                   reduces ? 2 : 1);
}

}  // namespace

Graph MakeNasnetA(const CellNetworkSize& size, Bytes element_bytes) {
  CheckSize(size, 8, element_bytes);
  Builder net("nasnet_a", element_bytes);
  net.SetScope("stem");
  constexpr std::int64_t kStemChannels = 96;
  std::vector<Feature> outputs = {net.ConvInside(net.Input(size.resolution), kStemChannels, 3, 2)};
  // The input of the cell before the last.
  const auto before = [&]() -> std::optional<Feature> {
    if (outputs.size() < 2) return std::nullopt;
    return outputs[outputs.size() - 2];
  };
  std::int64_t channels = size.filters / 4;
  for (int stem = 0; stem < 2; ++stem, channels *= 2) {
    outputs.push_back(NasnetCell(net, "stem" + std::to_string(stem), outputs.back(), before(),
                                 channels, /*reduces=*/true));
  }
  for (std::int64_t cell = 0; cell < size.cells; ++cell) {
    std::optional<Feature> other = before();
    if (ComesAfterReduction(size, cell)) {
      // The cell after a reduction skips it: its second input is that of the reduction.
      channels *= 2;
      outputs.push_back(NasnetCell(net, "reduction" + std::to_string(cell), outputs.back(), other,
                                   channels, /*reduces=*/true));
    }
    outputs.push_back(NasnetCell(net, "cell" + std::to_string(cell), outputs.back(), other,
                                 channels, /*reduces=*/false));
  }
  net.SetScope("end");
  return net.Finish(net.Relu(outputs.back()));
}

Graph MakeAmoebanetD(const CellNetworkSize& size, Bytes element_bytes) {
  CheckSize(size, 16, element_bytes);
  Builder net("amoebanet_d", element_bytes);
  net.SetScope("stem");
  std::int64_t channels = size.filters / 4;
  Feature x = net.Conv(net.Relu(net.Input(size.resolution)), channels, {3, 3}, 2);
  Feature before = x;
  bool reduced = false;
  const auto add_cell = [&](const std::string& name, bool reduces) {
    if (reduces) channels *= 2;
    net.SetScope(name + ".input");
    const Feature input = net.Conv(net.Relu(x), channels);
    net.SetScope(name + ".before");
    const Feature other = Match(net, before, channels, reduced, /*pools=*/false);
    before = x;
    x = ApplyCell(net, reduces ? kAmoebanetReduction : kAmoebanetNormal, name, input, other,
                  channels, reduces ? 2 : 1);
    reduced = reduces;
  };
  add_cell("stem0", /*reduces=*/true);
  add_cell("stem1", /*reduces=*/true);
  for (std::int64_t cell = 0; cell < size.cells; ++cell) {
    if (ComesAfterReduction(size, cell)) {
      add_cell("reduction" + std::to_string(cell), /*reduces=*/true);
    }
    add_cell("cell" + std::to_string(cell), /*reduces=*/false);
  }
  return net.Finish(x);
}

}  // namespace berth::internal
