// What operators compute and move, and how long that takes on a device.

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/arithmetic.h"
#include "base/text.h"
#include "base/try.h"
#include "berth/device.h"
#include "berth/profile.h"
#include "graph/types.h"

namespace berth {
namespace {

// Plain names (graph/types.h) of operators with much arithmetic. Each list is sorted.
constexpr auto kProducts = std::to_array<std::string_view>({
    "addbmm",
    "addmm",
    "addmv",
    "baddbmm",
    "batchmatmul",
    "bmm",
    "dot",
    "fullyconnected",
    "fusedgemm",
    "fusedmatmul",
    "gemm",
    "linear",
    "matmul",
    "matmulinteger",
    "mm",
    "mv",
    "qgemm",
    "qlinearmatmul",
});
constexpr auto kConvolutions = std::to_array<std::string_view>({
    "conv",
    "conv1d",
    "conv2d",
    "conv3d",
    "convinteger",
    "convolution",
    "convolutionoverrideable",
    "cudnnconvolution",
    "depthwiseconv2d",
    "fusedconv",
    "mkldnnconvolution",
    "qlinearconv",
});
constexpr auto kTransposed = std::to_array<std::string_view>({"convtranspose", "transposeconv"});
constexpr auto kBackward =
    std::to_array<std::string_view>({"convolutionbackward", "convolutionbackwardoverrideable"});
constexpr auto kAttention = std::to_array<std::string_view>({
    "scaleddotproductattention",
    "scaleddotproductcudnnattention",
    "scaleddotproductefficientattention",
    "scaleddotproductflashattention",
    "scaleddotproductflashattentionforcpu",
});
// With much arithmetic that no rule here counts.
constexpr auto kUncounted = std::to_array<std::string_view>({
    "attention",
    "basiclstm",
    "bidirectionalsequencelstm",
    "bidirectionalsequencernn",
    "call",
    "convlstm",
    "customcall",
    "deformconv",
    "deformconv2d",
    "dft",
    "einsum",
    "gru",
    "grucell",
    "if",
    "loop",
    "lstm",
    "lstmcell",
    "mkldnnrnnlayer",
    "multiheadattention",
    "rfft2d",
    "rnn",
    "scaleddotproductefficientattentionbackward",
    "scaleddotproductflashattentionbackward",
    "scaleddotproductflashattentionforcpubackward",
    "scan",
    "stft",
    "svdf",
    "unidirectionalsequencelstm",
    "unidirectionalsequencernn",
    "while",
});
static_assert(std::is_sorted(kProducts.begin(), kProducts.end()));
static_assert(std::is_sorted(kConvolutions.begin(), kConvolutions.end()));
static_assert(std::is_sorted(kAttention.begin(), kAttention.end()));
static_assert(std::is_sorted(kUncounted.begin(), kUncounted.end()));

// The extents of a tensor; none where they are not all known.
using Extents = std::optional<std::vector<double>>;

Extents ExtentsOf(const Tensor& tensor) {
  std::vector<double> extents;
  if (tensor.shape.empty() || !tensor.unplanned.empty()) return std::nullopt;
  if (tensor.shape == "scalar") return extents;
  for (std::string_view rest = tensor.shape;;) {
    const std::string_view part = rest.substr(0, rest.find('x'));
    std::int64_t extent = 0;
    const char* const last = part.data() + part.size();
    const auto [end, error] = std::from_chars(part.data(), last, extent);
    if (part.empty() || end != last || error != std::errc() || extent < 0) return std::nullopt;
    extents.push_back(static_cast<double>(extent));
    if (part.size() == rest.size()) return extents;
    rest.remove_prefix(part.size() + 1);
  }
}

double Count(const std::vector<double>& extents) {
  double count = 1;
  for (const double extent : extents) count *= extent;
  return count;
}

class Arithmetic {
 public:
  Arithmetic(const Graph& graph, const Operator& op) : graph_(graph), op_(op) {}

  // None: much, but not known.
  [[nodiscard]] std::optional<double> Operations() const {
    const auto is = [&](const auto& list) { return internal::IsOfType(op_.type, list); };
    if (is(kProducts)) return Product();
    if (is(kConvolutions)) return Convolution(Output());
    if (is(kTransposed)) return Transposed();
    if (is(kBackward)) return Backward();
    if (is(kAttention)) return Attention();
    if (is(kUncounted)) return std::nullopt;
    return 0;
  }

 private:
  [[nodiscard]] Extents Input(std::size_t i) const {
    return i < op_.inputs.size() ? ExtentsOf(graph_.tensors[op_.inputs[i]]) : std::nullopt;
  }
  // Of an operator that writes in place it is what it writes.
  [[nodiscard]] Extents Output() const {
    if (!op_.outputs.empty()) return ExtentsOf(graph_.tensors[op_.outputs.front()]);
    return op_.mutates.empty() ? std::nullopt : ExtentsOf(graph_.tensors[op_.mutates.front()]);
  }
  // The first input after the first with as many extents as the data, at least three: the weights.
  [[nodiscard]] Extents Weights(std::size_t rank) const {
    for (std::size_t i = 1; i < op_.inputs.size(); ++i) {
      Extents extents = Input(i);
      if (extents && extents->size() == rank && rank >= 3) return extents;
    }
    return std::nullopt;
  }

  // Each of M x N results is a sum over K. The left factor has M x K elements, no matter whether it
  // is transposed; where it never is, it may have fewer batches than the result.
  [[nodiscard]] std::optional<double> Product() const {
    const Extents out = Output();
    const Extents left = Input(internal::IsOfType(op_.type, kAdding) ? 1 : 0);
    if (!out || !left) return std::nullopt;
    if (internal::IsOfType(op_.type, kUntransposed)) {
      return left->empty() ? 0 : 2 * Count(*out) * left->back();
    }
    const bool of_vector = out->empty() || internal::IsOfType(op_.type, kOfVectors);
    return 2 * Count(*left) * (of_vector ? 1 : out->back());
  }

  // Each result is a sum over the weights of its channel. The channels are the first extent of the
  // weights; of depth-wise ones of TensorFlow Lite, whose first extent is 1, the last.
  [[nodiscard]] std::optional<double> Convolution(const Extents& out) const {
    const Extents weights = out ? Weights(out->size()) : std::nullopt;
    if (!weights) return std::nullopt;
    const bool depthwise = internal::IsOfType(op_.type, kDepthwise);
    const double channels = depthwise ? weights->back() : weights->front();
    return channels == 0 ? 0 : 2 * Count(*out) * Count(*weights) / channels;
  }
  // Each input is multiplied by the weights of its channel: the first extent of the weights, in
  // TensorFlow Lite the last, where the data come third.
  [[nodiscard]] std::optional<double> Transposed() const {
    const bool lite = internal::IsOfType(op_.type, kTransposedLite);
    const Extents in = Input(lite ? 2 : 0);
    const Extents weights = lite ? Input(1) : in ? Weights(in->size()) : std::nullopt;
    if (!in || !weights || weights->empty()) return std::nullopt;
    const double channels = lite ? weights->back() : weights->front();
    return channels == 0 ? 0 : 2 * Count(*in) * Count(*weights) / channels;
  }
  // The gradients of the data and of the weights, each as much as the convolution itself, whose
  // results have the shape of the first input.
  [[nodiscard]] std::optional<double> Backward() const {
    const Extents gradient = Input(0);
    const Extents weights = Input(2);
    if (!gradient || !weights || weights->empty()) return std::nullopt;
    double passes = 0;
    for (const TensorIndex t : op_.outputs) {
      const Extents out = ExtentsOf(graph_.tensors[t]);
      if (!out) return std::nullopt;
      passes += out->size() >= 3 ? 1 : 0;
    }
    const double channels = weights->front();
    return channels == 0 ? 0 : passes * 2 * Count(*gradient) * Count(*weights) / channels;
  }
  // Queries times keys, and the weights of that times values.
  [[nodiscard]] std::optional<double> Attention() const {
    const Extents queries = Input(0);
    const Extents keys = Input(1);
    if (!queries || !keys || keys->size() < 2) return std::nullopt;
    return 4 * Count(*queries) * (*keys)[keys->size() - 2];
  }

  static constexpr auto kAdding =
      std::to_array<std::string_view>({"addbmm", "addmm", "addmv", "baddbmm"});
  static constexpr auto kOfVectors = std::to_array<std::string_view>({"addmv", "dot", "mv"});
  static constexpr auto kUntransposed =
      std::to_array<std::string_view>({"linear", "matmul", "matmulinteger", "qlinearmatmul"});
  static constexpr auto kDepthwise = std::to_array<std::string_view>({"depthwiseconv2d"});
  static constexpr auto kTransposedLite = std::to_array<std::string_view>({"transposeconv"});

  const Graph& graph_;
  const Operator& op_;
};

Result<void> CheckDevice(const Device& device) {
  const auto bad = [](const std::string& what) {
    return Fail(ErrorCode::kInvalidOptions, "device: " + what);
  };
  if (!(device.operations_per_second > 0) || !std::isfinite(device.operations_per_second)) {
    return bad("operations_per_second must be positive");
  }
  if (device.bytes_per_second < 1 || device.bytes_per_second > kMaxBytes) {
    return bad("bytes_per_second must be from 1 to 2^60, not " +
               std::to_string(device.bytes_per_second));
  }
  constexpr std::int64_t kMostLaunch = std::int64_t{1} << 40;
  if (device.launch_nanoseconds < 0 || device.launch_nanoseconds > kMostLaunch) {
    return bad("launch_nanoseconds must be from 0 to 2^40, not " +
               std::to_string(device.launch_nanoseconds));
  }
  return {};
}

bool MakesViewsAlone(const Graph& graph, const Operator& op) {
  return op.mutates.empty() &&
         std::all_of(op.outputs.begin(), op.outputs.end(),
                     [&](TensorIndex t) { return graph.tensors[t].alias_of.has_value(); });
}

}  // namespace

Work WorkOf(const Graph& graph, OperatorIndex v) {
  const Operator& op = graph.operators[v];
  Work work;
  work.operations = Arithmetic(graph, op).Operations();
  const auto add = [&](TensorIndex t) {
    const auto sum = internal::CheckedAdd(work.bytes, graph.tensors[t].bytes);
    work.bytes = std::min(sum.value_or(kMaxBytes), kMaxBytes);
  };
  for (const TensorIndex t : op.inputs) add(t);
  // A view is made without touching its bytes.
  for (const TensorIndex t : op.outputs) {
    if (!graph.tensors[t].alias_of) add(t);
  }
  for (const TensorIndex t : op.mutates) add(t);
  return work;
}

namespace {

constexpr std::int64_t kMostTime = std::int64_t{1} << 60;

// Sorted, each once, without scalars: as Profile has them.
std::vector<std::string> InputShapes(const Graph& graph, const Operator& op) {
  std::set<std::string> shapes;
  for (const TensorIndex t : op.inputs) {
    const std::string& shape = graph.tensors[t].shape;
    if (!shape.empty() && shape != "scalar") shapes.insert(shape);
  }
  return {shapes.begin(), shapes.end()};
}

const MeasuredTime* Find(const std::vector<MeasuredTime>& times, const std::string& op,
                         const std::vector<std::string>& shapes) {
  const auto before = [&](const MeasuredTime& time, std::nullptr_t) {
    return std::tie(time.op, time.shapes) < std::tie(op, shapes);
  };
  const auto found = std::lower_bound(times.begin(), times.end(), nullptr, before);
  if (found == times.end() || found->op != op || found->shapes != shapes) return nullptr;
  return &*found;
}

std::optional<std::int64_t> TimeIn(const Profile& profile, const Graph& graph, const Operator& op) {
  if (const MeasuredTime* const found = Find(profile.operators, op.name, {})) {
    return found->nanoseconds;
  }
  if (profile.types.empty()) return std::nullopt;
  const std::vector<std::string> shapes = InputShapes(graph, op);
  // Each part may be the type: "aten::add.Tensor".
  for (std::size_t begin = 0; begin <= op.type.size();) {
    const std::size_t end = std::min(op.type.find_first_of(".:", begin), op.type.size());
    if (const auto* const found = Find(profile.types, op.type.substr(begin, end - begin), shapes)) {
      return found->nanoseconds;
    }
    begin = end + 1;
  }
  return std::nullopt;
}

// Costs of operators as they become known; the graph gets them all, or none.
class Pricing {
 public:
  Pricing(std::string what, Graph& graph) : what_(std::move(what)), graph_(graph) {}

  Result<void> Add(OperatorIndex v, std::int64_t nanoseconds) {
    if (nanoseconds > kMostTime - sum_) return TooMuch(v);
    sum_ += nanoseconds;
    costs_.push_back(nanoseconds);
    return {};
  }

  // The time of `v` on `device`.
  Result<void> AddOn(const Device& device, OperatorIndex v) {
    const Operator& op = graph_.operators[v];
    const Work work = WorkOf(graph_, v);
    if (!work.operations) {
      ++unpriced_.arithmetic;
      types_.insert(op.type);
    }
    const auto unsized = [&](TensorIndex t) { return !graph_.tensors[t].unplanned.empty(); };
    unpriced_.sizes += std::any_of(op.inputs.begin(), op.inputs.end(), unsized) ||
                               std::any_of(op.outputs.begin(), op.outputs.end(), unsized)
                           ? 1
                           : 0;
    const double seconds =
        std::max(work.operations.value_or(0) / device.operations_per_second,
                 static_cast<double>(work.bytes) / static_cast<double>(device.bytes_per_second));
    const double nanoseconds = std::ceil(seconds * 1e9);
    if (!(nanoseconds < static_cast<double>(kMostTime))) return TooMuch(v);
    return Add(v, static_cast<std::int64_t>(nanoseconds) + device.launch_nanoseconds);
  }

  Result<void> CheckNoCost(const Operator& op) const {
    if (!op.cost) return {};
    return Fail(ErrorCode::kInvalidProblem,
                what_ + ": operator " + internal::Quoted(op.name) + " has a cost of its own");
  }

  Unpriced End() {
    for (OperatorIndex v = 0; v < costs_.size(); ++v) graph_.operators[v].cost = costs_[v];
    graph_.cost_unit = "ns";
    unpriced_.types.assign(types_.begin(), types_.end());
    return std::move(unpriced_);
  }

 private:
  [[nodiscard]] tl::unexpected<Error> TooMuch(OperatorIndex v) const {
    return Fail(ErrorCode::kInvalidProblem, what_ + ": operators up to " +
                                                internal::Quoted(graph_.operators[v].name) +
                                                " take longer than 2^60 ns together");
  }

  std::string what_;
  Graph& graph_;
  std::vector<std::int64_t> costs_;
  std::int64_t sum_ = 0;
  Unpriced unpriced_;
  std::set<std::string> types_;
};

tl::unexpected<Error> NoTime(const Profile& profile, const Graph& graph,
                             const std::vector<OperatorIndex>& missing, std::size_t of) {
  const Operator& op = graph.operators[missing.front()];
  std::string what = internal::Quoted(op.name);
  if (!op.type.empty()) what += ", of type " + internal::Quoted(op.type);
  for (const std::string& shape : InputShapes(graph, op)) what += " " + shape;
  return Fail(ErrorCode::kInvalidProblem, profile.name + " has no time for " +
                                              std::to_string(missing.size()) + " of " +
                                              std::to_string(of) + " operators; the first is " +
                                              what + ". A device prices what a profile lacks");
}

}  // namespace

Result<Unpriced> SetCosts(const Device& device, Graph& graph) {
  BERTH_TRY(CheckDevice(device));
  Pricing pricing("device", graph);
  for (OperatorIndex v = 0; v < graph.operators.size(); ++v) {
    const Operator& op = graph.operators[v];
    BERTH_TRY(pricing.CheckNoCost(op));
    BERTH_TRY(MakesViewsAlone(graph, op) ? pricing.Add(v, 0) : pricing.AddOn(device, v));
  }
  return pricing.End();
}

Result<Unpriced> SetCosts(const Profile& profile, const Device* others, Graph& graph) {
  if (others != nullptr) BERTH_TRY(CheckDevice(*others));
  Pricing pricing(profile.name, graph);
  std::vector<OperatorIndex> missing;
  std::size_t timed = 0;
  for (OperatorIndex v = 0; v < graph.operators.size(); ++v) {
    const Operator& op = graph.operators[v];
    BERTH_TRY(pricing.CheckNoCost(op));
    if (MakesViewsAlone(graph, op)) {
      BERTH_TRY(pricing.Add(v, 0));
      continue;
    }
    ++timed;
    if (const auto time = TimeIn(profile, graph, op)) {
      BERTH_TRY(pricing.Add(v, *time));
    } else if (others != nullptr) {
      BERTH_TRY(pricing.AddOn(*others, v));
    } else {
      missing.push_back(v);
    }
  }
  if (!missing.empty()) return NoTime(profile, graph, missing, timed);
  return pricing.End();
}

}  // namespace berth
