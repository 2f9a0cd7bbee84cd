// Operators that compute: sums of products, windows, reductions, recurrences.
//
// Most follow one of three patterns, which the file is ordered by:
//
//   * A window (convolution, pool) moves over each spatial dimension. Along a dimension of n, with
//     pads p and q, dilation d and stride s, a kernel of k covers e = d(k - 1) + 1 elements and
//     takes floor((n + p + q - e) / s) + 1 positions. `auto_pad` SAME replaces the pads such that
//     there are ceil(n / s). With `ceil_mode` the quotient is rounded up; whether a window that
//     would then begin in the padding behind counts is where runtimes differ, so such a size stays
//     unknown. ConvTranspose and MaxUnpool solve the same equation for n.
//   * A product of matrices: the inner dimensions must agree, those before the last two are
//     repeated to one shape, as element-wise operands are.
//   * A reduction drops its axes or makes them 1. Operator sets before 13 or 18 (it differs by
//     operator) give the axes as an attribute, later ones as an input, which must be known then.
//
// A dimension that an operator adds up or divides stays unknown as long as one of its parts is. What
// contradicts a definition is an error (call.h). The tables of rules.cc name the versions; opset()
// is asked where an older one differs.

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>

#include "io/onnx/rules.h"

namespace berth::internal::onnx::rules {
namespace {

Shape OpenLike(const Shape& in) {
  return in.has_rank ? Ranked(Dims(in.rank(), kUnknownDim)) : Shape{};
}

// How a window moves over each spatial dimension.
struct Windows {
  Dims kernel;  // kUnknownDim where not known.
  std::vector<std::int64_t> strides;
  std::vector<std::int64_t> dilations;
  std::vector<std::int64_t> pads;  // Before each dimension, then behind each.
  std::string_view auto_pad;
};

// Reads the attributes for the dimensions of `kernel`. Defaults: strides and dilations 1, pads 0.
std::optional<Windows> ReadWindows(Call& call, Dims kernel) {
  const std::size_t rank = kernel.size();
  Windows windows;
  windows.kernel = std::move(kernel);
  windows.strides.resize(rank, 1);
  windows.dilations.resize(rank, 1);
  windows.pads.resize(2 * rank, 0);
  windows.auto_pad = call.Text("auto_pad", "NOTSET");
  if (windows.auto_pad.empty()) windows.auto_pad = "NOTSET";
  if (windows.auto_pad != "NOTSET" && windows.auto_pad != "VALID" &&
      windows.auto_pad != "SAME_UPPER" && windows.auto_pad != "SAME_LOWER") {
    call.Fail("an auto_pad that is not known");
    return std::nullopt;
  }
  const auto read = [&](std::string_view name, std::vector<std::int64_t>& numbers,
                        std::int64_t least, std::string_view what) {
    const std::vector<std::int64_t>* given = call.Ints(name);
    if (given == nullptr) return true;
    if (!call.Within(*given, numbers.size(), least, kMaxFactor, what)) return false;
    numbers = *given;
    return true;
  };
  if (!read("strides", windows.strides, 1, "strides") ||
      !read("dilations", windows.dilations, 1, "dilations")) {
    return std::nullopt;
  }
  if (windows.auto_pad == "NOTSET" && !read("pads", windows.pads, 0, "pads")) return std::nullopt;
  for (const std::int64_t size : windows.kernel) {
    if (size != kUnknownDim && (size < 1 || size > kMaxFactor)) {
      call.Fail("a kernel of " + std::to_string(size));
      return std::nullopt;
    }
  }
  return windows;
}

// The attribute kernel_shape or, without it, the trailing dimensions of the weights.
std::optional<Dims> Kernel(Call& call, std::size_t rank, const Shape& weights) {
  if (const std::vector<std::int64_t>* kernel = call.Ints("kernel_shape")) {
    if (!call.Within(*kernel, rank, 1, kMaxFactor, "a kernel")) return std::nullopt;
    return *kernel;
  }
  if (!weights.has_rank || weights.rank() != rank + 2) return Dims(rank, kUnknownDim);
  return Dims(weights.dims.begin() + 2, weights.dims.end());
}

// How many positions a window takes along one dimension.
std::int64_t Positions(Call& call, const Windows& windows, std::size_t i, std::int64_t in,
                       bool round_up) {
  if (in < 0) return kUnknownDim;
  const std::int64_t stride = windows.strides[i];
  if (windows.auto_pad.substr(0, 4) == "SAME") return (in - 1 + stride) / stride;
  if (windows.kernel[i] < 0) return kUnknownDim;
  const std::int64_t extent = windows.dilations[i] * (windows.kernel[i] - 1) + 1;
  const std::int64_t begin = windows.pads[i];
  const std::int64_t padded = in + begin + windows.pads[i + windows.kernel.size()];
  if (padded < extent) {
    call.Fail("a window of " + std::to_string(extent) + " over a dimension of " +
              std::to_string(padded) + ", pads included");
    return kUnknownDim;
  }
  const std::int64_t whole = (padded - extent) / stride + 1;
  if (!round_up || (padded - extent) % stride == 0) return whole;
  // Some runtimes count a last window that begins in the padding behind, others do not.
  if (whole * stride >= in + begin) {
    call.Because("runtimes disagree on a window that begins in the padding");
    return kUnknownDim;
  }
  return whole + 1;
}

// The parameters that all convolutions have.
struct Convolution {
  std::size_t rank = 0;  // Dimensions beside batch and channels.
  Windows windows;
  std::int64_t group = 1;
};

// For an input of known rank. Nothing, and the call has failed, if the parameters do not fit it.
std::optional<Convolution> ReadConvolution(Call& call, const Shape& in, const Shape& weights) {
  if (in.rank() < 2 || (weights.has_rank && weights.rank() != in.rank())) {
    call.Fail("weights of " + ToString(weights) + " for " + ToString(in) + " elements");
    return std::nullopt;
  }
  const std::size_t rank = in.rank() - 2;
  const std::optional<Dims> kernel = Kernel(call, rank, weights);
  if (!kernel) return std::nullopt;
  std::optional<Windows> windows = ReadWindows(call, *kernel);
  if (!windows) return std::nullopt;
  const std::int64_t group = call.Int("group", 1);
  if (group < 1 || group > kMaxFactor) {
    call.Fail("groups of " + std::to_string(group));
    return std::nullopt;
  }
  return Convolution{rank, *std::move(windows), group};
}

void ConvOf(Call& call, const Shape& in, const Shape& weights, std::int32_t element) {
  if (!in.has_rank) return call.Set(0, element, {});
  const std::optional<Convolution> conv = ReadConvolution(call, in, weights);
  if (!conv) return;
  Dims out = {in.dims[0], kUnknownDim};
  if (weights.has_rank) {
    out[1] = weights.dims[0];
    const std::int64_t channels = call.Times(weights.dims[1], conv->group);
    static_cast<void>(call.Same(in.dims[1], channels, "channels"));
  }
  for (std::size_t i = 0; i < conv->rank && !call.failed(); ++i) {
    out.push_back(Positions(call, conv->windows, i, in.dims[i + 2], false));
  }
  call.Set(0, element, Ranked(std::move(out)));
}

// How windows move over the rows of input 0 along dimension `i` behind batch and channels.
std::optional<Sliding> SlideWindows(Call& call, const Windows& windows, std::size_t i) {
  if (windows.kernel[i] < 0) return std::nullopt;
  const std::int64_t stride = windows.strides[i];
  const std::int64_t extent = windows.dilations[i] * (windows.kernel[i] - 1) + 1;
  std::int64_t before = windows.pads[i];
  if (windows.auto_pad.substr(0, 4) == "SAME") {
    const std::int64_t positions = call.Out(0).shape.dims[i + 2];
    const std::int64_t covered = (positions - 1) * stride + extent;
    const std::int64_t pads = std::max<std::int64_t>(covered - call.ShapeOf(0).dims[i + 2], 0);
    before = windows.auto_pad == "SAME_UPPER" ? pads / 2 : pads - pads / 2;
  }
  return Sliding{{0}, stride, extent, before};
}

std::optional<Sliding> SlideConvOf(Call& call, const Shape& weights, std::size_t axis) {
  const Shape& in = call.ShapeOf(0);
  if (axis < 2 || in.rank() != call.Out(0).shape.rank()) return std::nullopt;
  const std::optional<Convolution> conv = ReadConvolution(call, in, weights);
  if (!conv || conv->windows.kernel.size() != in.rank() - 2) return std::nullopt;
  return SlideWindows(call, conv->windows, axis - 2);
}

}  // namespace

std::optional<Sliding> SlideConv(Call& call, std::size_t axis) {
  return SlideConvOf(call, call.ShapeOf(1), axis);
}

std::optional<Sliding> SlideQLinearConv(Call& call, std::size_t axis) {
  return SlideConvOf(call, call.ShapeOf(3), axis);
}

std::optional<Sliding> SlidePool(Call& call, std::size_t axis) {
  const std::vector<std::int64_t>* kernel = call.Ints("kernel_shape");
  if (axis < 2 || kernel == nullptr) return std::nullopt;
  const std::optional<Windows> windows = ReadWindows(call, *kernel);
  if (!windows) return std::nullopt;
  return SlideWindows(call, *windows, axis - 2);
}

void Conv(Call& call) { ConvOf(call, call.ShapeOf(0), call.ShapeOf(1), call.ElementOf(0)); }

void ConvInteger(Call& call) { ConvOf(call, call.ShapeOf(0), call.ShapeOf(1), kInt32); }

void QLinearConv(Call& call) {
  // x, its scale and zero point, w, its scale and zero point, y's scale and zero point.
  ConvOf(call, call.ShapeOf(0), call.ShapeOf(3), call.ElementOf(7));
}

void ConvTranspose(Call& call) {
  const Shape& in = call.ShapeOf(0);
  const Shape& weights = call.ShapeOf(1);
  if (!in.has_rank) return call.Set(0, call.ElementOf(0), {});
  const std::optional<Convolution> conv = ReadConvolution(call, in, weights);
  if (!conv) return;
  const auto& [rank, windows, group] = *conv;
  std::vector<std::int64_t> more(rank, 0);
  if (const std::vector<std::int64_t>* given = call.Ints("output_padding")) {
    if (!call.Within(*given, rank, 0, kMaxFactor, "output padding")) return;
    more = *given;
  }
  const std::vector<std::int64_t>* sizes = call.Ints("output_shape");
  if (sizes != nullptr) {
    // Older files list batch and channels too.
    if (sizes->size() != rank + 2 && !call.Within(*sizes, rank, 0, kMaxDim, "output sizes")) return;
    if (!call.Within(*sizes, sizes->size(), 0, kMaxDim, "output sizes")) return;
  }
  Dims out = {in.dims[0], weights.has_rank ? call.Times(weights.dims[1], group) : kUnknownDim};
  for (std::size_t i = 0; i < rank && !call.failed(); ++i) {
    const std::int64_t size = in.dims[i + 2];
    const std::int64_t stride = windows.strides[i];
    if (sizes != nullptr) {
      out.push_back((*sizes)[sizes->size() - rank + i]);
    } else if (size >= 0 && windows.auto_pad.substr(0, 4) == "SAME") {
      out.push_back(call.Times(size, stride));
    } else if (size <= 0 || windows.kernel[i] < 0) {
      out.push_back(kUnknownDim);
    } else {
      const std::int64_t extent = windows.dilations[i] * (windows.kernel[i] - 1) + 1;
      const std::int64_t spread = call.Times(size - 1, stride);
      if (call.failed()) return;
      const std::int64_t dim = spread + extent + more[i] - windows.pads[i] - windows.pads[i + rank];
      if (dim < 0) return call.Fail("pads that leave a dimension of " + std::to_string(dim));
      out.push_back(dim);
    }
  }
  call.Set(0, call.ElementOf(0), Ranked(std::move(out)));
}

void Pool(Call& call) {
  const Shape& in = call.ShapeOf(0);
  if (!in.has_rank) return call.Set(0, call.ElementOf(0), {});
  if (in.rank() < 2) return call.Fail("a pool over " + ToString(in) + " elements");
  const std::size_t rank = in.rank() - 2;
  const std::vector<std::int64_t>* kernel = call.Ints("kernel_shape");
  if (kernel == nullptr) return call.Fail("it has no kernel");
  if (!call.Within(*kernel, rank, 1, kMaxFactor, "a kernel")) return;
  const std::optional<Windows> windows = ReadWindows(call, *kernel);
  if (!windows) return;
  const bool round_up = call.Int("ceil_mode", 0) != 0;
  Shape out = in;
  for (std::size_t i = 0; i < rank && !call.failed(); ++i) {
    out.dims[i + 2] = Positions(call, *windows, i, in.dims[i + 2], round_up);
  }
  call.Set(0, call.ElementOf(0), out);
  call.Set(1, kInt64, out);  // Where each maximum was.
}

void GlobalPool(Call& call) {
  Shape out = call.ShapeOf(0);
  if (out.has_rank && out.rank() < 2)
    return call.Fail("a pool over " + ToString(out) + " elements");
  for (std::size_t i = 2; i < out.rank(); ++i) out.dims[i] = 1;
  call.Set(0, call.ElementOf(0), std::move(out));
}

void QLinearGlobalPool(Call& call) {
  if (call.Int("channels_last", 0) == 0) return GlobalPool(call);
  Shape out = call.ShapeOf(0);
  for (std::size_t i = 1; i + 1 < out.rank(); ++i) out.dims[i] = 1;
  call.Set(0, call.ElementOf(0), std::move(out));
}

void MaxRoiPool(Call& call) {
  const Shape& in = call.ShapeOf(0);
  const Shape& regions = call.ShapeOf(1);
  const std::vector<std::int64_t>* size = call.Ints("pooled_shape");
  if (size == nullptr) return call.Fail("it has no pooled_shape");
  if (!call.Within(*size, 2, 1, kMaxDim, "a pooled size")) return;
  call.Set(0, call.ElementOf(0),
           Ranked({regions.rank() == 2 ? regions.dims[0] : kUnknownDim,
                   in.rank() == 4 ? in.dims[1] : kUnknownDim, (*size)[0], (*size)[1]}));
}

void RoiAlign(Call& call) {
  const Shape& in = call.ShapeOf(0);
  const Shape& regions = call.ShapeOf(1);
  const Shape& images = call.ShapeOf(2);  // Of each region.
  const std::int64_t height = call.Int("output_height", 1);
  const std::int64_t width = call.Int("output_width", 1);
  if (height < 1 || width < 1) return call.Fail("an output of no elements");
  call.Set(0, call.ElementOf(0),
           Ranked({call.Same(regions.rank() == 2 ? regions.dims[0] : kUnknownDim,
                             images.rank() == 1 ? images.dims[0] : kUnknownDim, "regions"),
                   in.rank() == 4 ? in.dims[1] : kUnknownDim, height, width}));
}

void GridSample(Call& call) {
  const Shape& in = call.ShapeOf(0);
  const Shape& grid = call.ShapeOf(1);
  if (!in.has_rank || !grid.has_rank) return call.Set(0, call.ElementOf(0), {});
  if (in.rank() < 3 || grid.rank() != in.rank()) {
    return call.Fail("a grid of " + ToString(grid) + " over " + ToString(in) + " elements");
  }
  Dims out = {in.dims[0], in.dims[1]};
  out.insert(out.end(), grid.dims.begin() + 1, grid.dims.end() - 1);
  call.Set(0, call.ElementOf(0), Ranked(std::move(out)));
}

namespace {

Shape MatMulShape(Call& call, Shape a, Shape b) {
  if (!a.has_rank || !b.has_rank) return {};
  if (a.dims.empty() || b.dims.empty()) {
    call.Fail("a product of a scalar");
    return {};
  }
  const bool row = a.rank() == 1;
  const bool column = b.rank() == 1;
  if (row) a.dims.insert(a.dims.begin(), 1);
  if (column) b.dims.push_back(1);
  static_cast<void>(call.Same(a.dims.back(), b.dims[b.rank() - 2], "inner dimensions"));
  const std::int64_t rows = a.dims[a.rank() - 2];
  const std::int64_t columns = b.dims.back();
  a.dims.resize(a.rank() - 2);
  b.dims.resize(b.rank() - 2);
  Shape out = call.Broadcast(a, b);
  if (!row) out.dims.push_back(rows);
  if (!column) out.dims.push_back(columns);
  return out;
}

}  // namespace

std::optional<Sliding> SlideMatMul(Call& call, std::size_t axis) {
  const std::size_t rank = call.Out(0).shape.rank();
  const bool turned = call.Int("transA", 0) != 0 || call.Int("transBatchA", 0) != 0;
  return !turned && rank >= 2 && axis + 2 == rank ? SlideFirst(call, axis) : std::nullopt;
}

void MatMul(Call& call) {
  Shape a = call.ShapeOf(0);
  Shape b = call.ShapeOf(1);
  if (call.node().type != "MatMul") {  // onnxruntime's fused ones.
    if (call.Int("transBatchA", 0) != 0 || call.Int("transBatchB", 0) != 0) {
      return call.Set(0, call.ElementOf(0), {});
    }
    if (call.Int("transA", 0) != 0 && a.rank() >= 2) std::swap(a.dims.back(), a.dims[a.rank() - 2]);
    if (call.Int("transB", 0) != 0 && b.rank() >= 2) std::swap(b.dims.back(), b.dims[b.rank() - 2]);
  }
  call.Set(0, call.ElementOf(0), MatMulShape(call, std::move(a), std::move(b)));
}

void MatMulInteger(Call& call) {
  const bool floating =
      call.node().type == "MatMulIntegerToFloat" || call.node().type == "DynamicQuantizeMatMul";
  call.Set(0, floating ? kFloat : kInt32, MatMulShape(call, call.ShapeOf(0), call.ShapeOf(1)));
}

void QLinearMatMul(Call& call) {
  call.Set(0, call.ElementOf(7), MatMulShape(call, call.ShapeOf(0), call.ShapeOf(3)));
}

void MatMulNBits(Call& call) {
  Shape out = call.ShapeOf(0);
  const std::int64_t columns = call.Int("N", 0);
  if (columns < 1) return call.Fail("it has no N");
  if (out.has_rank && out.dims.empty()) return call.Fail("a product of a scalar");
  if (out.has_rank) {
    static_cast<void>(call.Same(out.dims.back(), call.Int("K", kUnknownDim), "inner dimensions"));
    out.dims.back() = columns;
  }
  call.Set(0, call.ElementOf(0), std::move(out));
}

void Gemm(Call& call) {
  const Shape& a = call.ShapeOf(0);
  const Shape& b = call.ShapeOf(1);
  const bool a_turned = call.Int("transA", 0) != 0;
  const bool b_turned = call.Int("transB", 0) != 0;
  if ((a.has_rank && a.rank() != 2) || (b.has_rank && b.rank() != 2)) {
    return call.Fail("factors of " + ToString(a) + " and " + ToString(b) + " elements");
  }
  if (a.has_rank && b.has_rank) {
    static_cast<void>(
        call.Same(a.dims[a_turned ? 0 : 1], b.dims[b_turned ? 1 : 0], "inner dimensions"));
  }
  call.Set(0, call.ElementOf(0),
           Ranked({a.has_rank ? a.dims[a_turned ? 1 : 0] : kUnknownDim,
                   b.has_rank ? b.dims[b_turned ? 0 : 1] : kUnknownDim}));
}

void Det(Call& call) {
  Shape out = call.ShapeOf(0);
  if (!out.has_rank) return call.Set(0, call.ElementOf(0), {});
  if (out.rank() < 2) return call.Fail("a determinant of " + ToString(out) + " elements");
  out.dims.resize(out.rank() - 2);
  call.Set(0, call.ElementOf(0), std::move(out));
}

namespace {

// Stands for "...", any number of dimensions, which are repeated to one shape.
constexpr char kRest = '.';

// The sizes that the operands of an Einsum give to the letters of its equation.
class EinsumSizes {
 public:
  explicit EinsumSizes(Call& call) : call_(call) { sizes_.fill(kUnknownDim); }

  [[nodiscard]] std::size_t num_terms() const { return num_terms_; }

  // The letters of the next operand. Fails if they do not fit its shape.
  void AddTerm(const std::string& term) {
    const Shape& shape = call_.ShapeOf(num_terms_++);
    const auto rests = static_cast<std::size_t>(std::count(term.begin(), term.end(), kRest));
    const std::size_t letters = term.size() - rests;
    for (const char c : term) ++uses_[static_cast<unsigned char>(c)];
    if (!shape.has_rank) {
      if (rests > 0) rest_ = {};
      return;
    }
    if (rests > 1 || shape.rank() < letters || (rests == 0 && shape.rank() != letters)) {
      return call_.Fail("its equation does not fit " + ToString(shape) + " elements");
    }
    std::size_t axis = 0;
    for (const char c : term) {
      if (c == kRest) {
        const auto first = shape.dims.begin() + static_cast<std::ptrdiff_t>(axis);
        axis += shape.rank() - letters;
        const auto last = shape.dims.begin() + static_cast<std::ptrdiff_t>(axis);
        rest_ = call_.Broadcast(rest_, Ranked(Dims(first, last)));
        continue;
      }
      const std::int64_t dim = shape.dims[axis++];
      std::int64_t& size = sizes_[static_cast<unsigned char>(c)];
      size = dim == 1 || size == 1 ? std::max(dim, size) : call_.Same(size, dim, "dimensions");
    }
  }

  // The result of an equation without "->": the rest, then each letter that comes once.
  [[nodiscard]] std::string ImpliedResult() const {
    std::string letters;
    if (uses_[static_cast<unsigned char>(kRest)] > 0) letters += kRest;
    for (int c = 0; c < 256; ++c) {
      if (c != kRest && uses_[static_cast<std::size_t>(c)] == 1) letters += static_cast<char>(c);
    }
    return letters;
  }

  void SetResult(const std::string& letters) {
    if (letters.size() > kMaxRank) return call_.Fail("a bad equation");
    Dims out;
    for (const char c : letters) {
      const auto letter = static_cast<unsigned char>(c);
      if (uses_[letter] == 0) return call_.Fail("a bad equation");
      if (c != kRest) {
        out.push_back(sizes_[letter]);
      } else if (rest_.has_rank) {
        out.insert(out.end(), rest_.dims.begin(), rest_.dims.end());
      } else {
        return call_.Set(0, call_.ElementOf(0), {});
      }
    }
    call_.Set(0, call_.ElementOf(0), Ranked(std::move(out)));
  }

 private:
  Call& call_;
  std::size_t num_terms_ = 0;
  std::array<std::int64_t, 256> sizes_;
  std::array<int, 256> uses_{};
  Shape rest_ = Ranked({});
};

}  // namespace

void Einsum(Call& call) {
  std::string equation;
  for (const char c : call.Text("equation", "")) {
    if (c != ' ') equation += c;
  }
  for (std::size_t at; (at = equation.find("...")) != std::string::npos;) {
    equation.replace(at, 3, 1, kRest);
  }
  const std::size_t arrow = equation.find("->");
  EinsumSizes sizes(call);
  std::string term;
  for (const char c : equation.substr(0, arrow)) {
    if (c == ',') {
      sizes.AddTerm(term);
      term.clear();
    } else if (c == kRest || std::isalpha(static_cast<unsigned char>(c)) != 0) {
      term += c;
    } else {
      return call.Fail("a bad equation");
    }
  }
  sizes.AddTerm(term);
  if (call.failed()) return;
  if (sizes.num_terms() != call.num_inputs()) {
    return call.Fail("the number of operands in its equation is not that of its inputs");
  }
  sizes.SetResult(arrow == std::string::npos ? sizes.ImpliedResult() : equation.substr(arrow + 2));
}

namespace {

void ReduceAxes(Call& call, std::int32_t element, bool known,
                const std::vector<std::int64_t>* axes) {
  const Shape& in = call.ShapeOf(0);
  const bool keep = call.Int("keepdims", 1) != 0;
  if (!in.has_rank) return call.Set(0, element, {});
  if (!known) return call.Set(0, element, keep ? OpenLike(in) : Shape{});
  std::vector<bool> reduced(in.rank(), false);
  if (axes != nullptr && !axes->empty()) {
    for (const std::int64_t number : *axes) {
      const std::optional<std::size_t> axis = call.Axis(number, in.rank());
      if (!axis) return;
      reduced[*axis] = true;
    }
  } else if (call.Int("noop_with_empty_axes", 0) == 0) {
    reduced.assign(in.rank(), true);
  }
  Dims out;
  for (std::size_t i = 0; i < in.rank(); ++i) {
    if (!reduced[i]) {
      out.push_back(in.dims[i]);
    } else if (keep) {
      out.push_back(1);
    }
  }
  call.Set(0, element, Ranked(std::move(out)));
}

}  // namespace

void Reduce(Call& call) {
  bool known = false;
  const std::vector<std::int64_t>* axes = call.IntsOf(1, "axes", known);
  ReduceAxes(call, call.ElementOf(0), known, axes);
}

void ArgReduce(Call& call) {
  const std::vector<std::int64_t> axes = {call.Int("axis", 0)};
  ReduceAxes(call, kInt64, true, &axes);
}

void TopK(Call& call) {
  Shape out = call.ShapeOf(0);
  if (out.has_rank) {
    const std::optional<std::size_t> axis = call.Axis(call.Int("axis", -1), out.rank());
    if (!axis) return;
    std::optional<std::int64_t> count = call.IntOf(1);
    if (call.opset() < 10) count = call.Int("k", -1);
    if (count && (*count < 0 || (out.dims[*axis] >= 0 && *count > out.dims[*axis]))) {
      return call.Fail("the first " + std::to_string(*count) + " of " + ToString(out));
    }
    out.dims[*axis] = count.value_or(kUnknownDim);
  }
  call.Set(0, call.ElementOf(0), out);
  call.Set(1, kInt64, out);
}

void Recurrent(Call& call) {
  const Shape& in = call.ShapeOf(0);
  const Shape& recurrence = call.ShapeOf(2);
  const std::int64_t directions = call.Text("direction", "forward") == "bidirectional" ? 2 : 1;
  std::int64_t hidden = call.Int("hidden_size", kUnknownDim);
  if (hidden < 1) hidden = recurrence.rank() == 3 ? recurrence.dims[2] : kUnknownDim;
  const bool batch_first = call.Int("layout", 0) == 1;
  if (in.has_rank && in.rank() != 3)
    return call.Fail("a sequence of " + ToString(in) + " elements");
  const std::int64_t steps = in.has_rank ? in.dims[batch_first ? 1 : 0] : kUnknownDim;
  std::int64_t batch = in.has_rank ? in.dims[batch_first ? 0 : 1] : kUnknownDim;
  for (const std::size_t i : {std::size_t{5}, std::size_t{6}}) {  // The states at the beginning.
    const Shape& state = call.ShapeOf(i);
    if (state.rank() == 3) {
      batch =
          call.Same(batch, state.dims[batch_first ? 0 : 1], "batches of a sequence and a state");
    }
  }
  const std::int32_t element = call.ElementOf(0);
  if (call.opset() < 7 && call.Int("output_sequence", 0) == 0 && call.opset() < 2) {
    call.Because("operator set 1 leaves the sequence out");
  }
  call.Set(0, element,
           batch_first ? Ranked({batch, steps, directions, hidden})
                       : Ranked({steps, directions, batch, hidden}));
  for (std::size_t i = 1; i < 3; ++i) {
    call.Set(
        i, element,
        batch_first ? Ranked({batch, directions, hidden}) : Ranked({directions, batch, hidden}));
  }
}

void Multinomial(Call& call) {
  const Shape& in = call.ShapeOf(0);
  const std::int64_t type = call.Int("dtype", kInt32);
  const std::int64_t samples = call.Int("sample_size", 1);
  if (samples < 1) return call.Fail("samples of " + std::to_string(samples));
  call.Set(0, type == kInt64 ? kInt64 : kInt32,
           Ranked({in.rank() == 2 ? in.dims[0] : kUnknownDim, samples}));
}

void Window(Call& call) {
  const std::optional<std::int64_t> size = call.IntOf(0);
  const std::int64_t type = call.Int("output_datatype", kFloat);
  if (size && *size < 0) return call.Fail("a window of " + std::to_string(*size));
  call.Set(0, type > 0 && type < 1000 ? static_cast<std::int32_t>(type) : std::int32_t{kFloat},
           Ranked({size.value_or(kUnknownDim)}));
}

// Complex numbers are a last dimension of 2.
void Dft(Call& call) {
  Shape out = call.ShapeOf(0);
  if (!out.has_rank) return call.Set(0, call.ElementOf(0), {});
  if (out.rank() < 2) return call.Fail("a transform of " + ToString(out) + " elements");
  const bool newer = call.opset() >= 20;
  std::optional<std::int64_t> number = call.Int("axis", 1);
  if (newer) number = call.Has(2) ? call.IntOf(2) : std::optional<std::int64_t>(-2);
  const bool one_sided = call.Int("onesided", 0) != 0;
  const bool inverse = call.Int("inverse", 0) != 0;
  if (!number || (one_sided && inverse)) return call.Set(0, call.ElementOf(0), OpenLike(out));
  const std::optional<std::size_t> axis = call.Axis(*number, out.rank());
  if (!axis) return;
  std::int64_t& dim = out.dims[*axis];
  if (call.Has(1)) dim = call.IntOf(1).value_or(kUnknownDim);
  if (dim < kUnknownDim || dim > kMaxDim) return call.Fail("a length of " + std::to_string(dim));
  if (one_sided && dim >= 0) dim = dim / 2 + 1;
  out.dims.back() = 2;
  call.Set(0, call.ElementOf(0), std::move(out));
}

void Stft(Call& call) {
  const Shape& in = call.ShapeOf(0);
  const Shape& window = call.ShapeOf(2);
  const std::int64_t step = call.IntOf(1).value_or(kUnknownDim);
  std::int64_t length = call.Has(3) ? call.IntOf(3).value_or(kUnknownDim) : kUnknownDim;
  if (length < 0 && window.rank() == 1) length = window.dims[0];
  Dims out = {kUnknownDim, kUnknownDim, kUnknownDim, 2};
  if (in.rank() >= 2) out[0] = in.dims[0];
  if (length > kMaxDim || step == 0) return call.Fail("frames of no length");
  if (in.rank() >= 2 && in.dims[1] >= 0 && length >= 0 && step > 0) {
    if (length > in.dims[1]) return call.Fail("frames longer than the signal");
    out[1] = (in.dims[1] - length) / step + 1;
  }
  if (length >= 0) out[2] = call.Int("onesided", 1) != 0 ? length / 2 + 1 : length;
  call.Set(0, call.ElementOf(0), Ranked(std::move(out)));
}

void MelWeightMatrix(Call& call) {
  const std::int64_t bins = call.IntOf(0).value_or(kUnknownDim);
  const std::int64_t length = call.IntOf(1).value_or(kUnknownDim);
  if (bins > kMaxDim || length > kMaxDim || bins < kUnknownDim || length < kUnknownDim) {
    return call.Fail("a matrix of " + std::to_string(length) + " and " + std::to_string(bins));
  }
  const std::int64_t type = call.Int("output_datatype", kFloat);
  call.Set(0, type > 0 && type < 1000 ? static_cast<std::int32_t>(type) : std::int32_t{kFloat},
           Ranked({length < 0 ? kUnknownDim : length / 2 + 1, bins}));
}

void MaxUnpool(Call& call) {
  Shape out = call.ShapeOf(0);
  if (!out.has_rank) return call.Set(0, call.ElementOf(0), {});
  if (out.rank() < 2) return call.Fail("a pool over " + ToString(out) + " elements");
  const std::size_t rank = out.rank() - 2;
  const std::vector<std::int64_t>* kernel = call.Ints("kernel_shape");
  if (kernel == nullptr) return call.Fail("it has no kernel");
  if (!call.Within(*kernel, rank, 1, kMaxFactor, "a kernel")) return;
  const std::optional<Windows> windows = ReadWindows(call, *kernel);
  if (!windows) return;
  const std::vector<std::int64_t>* sizes = call.IntsOf(2);
  if (call.Has(2) && sizes == nullptr) return call.Set(0, call.ElementOf(0), OpenLike(out));
  if (sizes != nullptr) {
    if (!call.Within(*sizes, out.rank(), 0, kMaxDim, "output sizes")) return;
    return call.Set(0, call.ElementOf(0), Ranked(*sizes));
  }
  for (std::size_t i = 0; i < rank; ++i) {
    std::int64_t& dim = out.dims[i + 2];
    if (dim < 1) continue;
    const std::int64_t spread = call.Times(dim - 1, windows->strides[i]);
    if (call.failed()) return;
    dim = spread + windows->kernel[i] - windows->pads[i] - windows->pads[i + rank];
    if (dim < 0) return call.Fail("pads that leave a dimension of " + std::to_string(dim));
  }
  call.Set(0, call.ElementOf(0), std::move(out));
}

void Loss(Call& call) {
  const bool whole = call.Text("reduction", "mean") != "none";
  Shape labels = call.ShapeOf(1);
  const Shape& scores = call.ShapeOf(0);
  if (scores.rank() >= 2 && labels.rank() + 1 == scores.rank()) {
    // The scores have one dimension more: the classes, after the batch.
    for (std::size_t i = 0; i < labels.rank(); ++i) {
      labels.dims[i] = call.Same(labels.dims[i], scores.dims[i == 0 ? 0 : i + 1], "labels");
    }
  }
  call.Set(0, call.ElementOf(0), whole ? Ranked({}) : std::move(labels));
  call.Set(1, call.ElementOf(0), call.ShapeOf(0));
}

void Attention(Call& call) {
  const Shape& query = call.ShapeOf(0);
  const Shape& key = call.ShapeOf(1);
  const Shape& value = call.ShapeOf(2);
  const std::int32_t element = call.ElementOf(0);
  if (!query.has_rank || !key.has_rank || !value.has_rank) return call.Set(0, element, {});
  const std::int64_t heads = call.Int("q_num_heads", kUnknownDim);
  const std::int64_t key_heads = call.Int("kv_num_heads", kUnknownDim);
  if (query.rank() == 4 && value.rank() == 4) {
    return call.Set(0, element,
                    Ranked({query.dims[0], query.dims[1], query.dims[2], value.dims[3]}));
  }
  if (query.rank() != 3 || value.rank() != 3 || heads < 1 || key_heads < 1) {
    return call.Fail("a query of " + ToString(query) + " and values of " + ToString(value));
  }
  const std::int64_t each = value.dims[2] < 0 ? kUnknownDim : value.dims[2] / key_heads;
  call.Set(0, element, Ranked({query.dims[0], query.dims[1], call.Times(heads, each)}));
}

}  // namespace berth::internal::onnx::rules
