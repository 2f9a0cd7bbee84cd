// io/onnx/rules.h -- what is known of the operators of ONNX.
#ifndef BERTH_IO_ONNX_RULES_H_
#define BERTH_IO_ONNX_RULES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/onnx/call.h"

namespace berth::internal::onnx {

// A ReceptiveField (berth/graph.h) along one axis of output 0, its inputs as numbers of arguments.
struct Sliding {
  std::vector<std::size_t> inputs;
  std::int64_t stride = 1;
  std::int64_t extent = 1;
  std::int64_t before = 0;
};

// All that is known of an operator. See SpecificationOf() for its definition.
struct OperatorRule {
  std::string_view name;
  // The newest version of the operator that the row follows, as of operator set kNewestOpset. Where
  // an older version differs, the rules look at Call::opset().
  int version;
  void (*infer)(Call&);  // Sets the types and shapes of the outputs.
  struct More {
    void (*fold)(Call&) = nullptr;  // Computes values that may decide sizes (fold.h).
    bool fold_gives_shape =
        false;  // `fold` can do without the shapes of the outputs, and sets them.
    // Whether output 0 is input 0, which is present, under another name: nothing is copied.
    bool (*view)(const Call&) = nullptr;
    // Whether each element is read before the one in its place is written, and no other is needed:
    // the output may lie where an input of the same shape lay.
    bool (*overwrite)(const Call&) = nullptr;
    // How output 0, whose shape is known, depends on inputs along one of its axes; nothing if it
    // depends on all of their rows. Element by element where this is null and `overwrite` is not.
    std::optional<Sliding> (*slide)(Call&, std::size_t axis) = nullptr;
    bool random = false;  // The result differs from run to run.
  };
  More more = {};
};

// The newest operator set of ONNX itself that these rules know.
inline constexpr std::int64_t kNewestOpset = 25;

// Each sorted by name: the operators of ONNX itself, and those of onnxruntime.
[[nodiscard]] std::span<const OperatorRule> OnnxRules();
[[nodiscard]] std::span<const OperatorRule> OnnxRuntimeRules();

// The rule for an operator of ONNX itself (domain "") or of onnxruntime ("com.microsoft"), or null.
[[nodiscard]] const OperatorRule* FindRule(std::string_view domain, std::string_view type);

// Where the operator is specified, in the version that `rule`, an element of a table above, follows.
[[nodiscard]] std::string SpecificationOf(const OperatorRule& rule);

// The rules, by subject. Each sets the types and shapes that follow from the inputs.
namespace rules {

// Element by element (rules_elementwise.cc).
std::optional<Sliding> SlideAll(Call& call, std::size_t axis);      // All operands of its size.
std::optional<Sliding> SlideFirst(Call& call, std::size_t axis);    // Input 0, element by element.
std::optional<Sliding> SlideSpatial(Call& call, std::size_t axis);  // The same, behind channels.
// Of an operator that adds up along its attribute `axis`, or along all axes from it on.
std::optional<Sliding> SlideBesideAxis(Call& call, std::size_t axis);
std::optional<Sliding> SlideBeforeAxis(Call& call, std::size_t axis);
void Unary(Call& call);       // As input 0.
void Predicate(Call& call);   // As input 0, bool.
void Binary(Call& call);      // Inputs 0 and 1 repeated to one shape.
void Comparison(Call& call);  // The same, bool.
void Variadic(Call& call);    // All inputs repeated to one shape.
void Where(Call& call);
void Cast(Call& call);
void CastLike(Call& call);
void Dropout(Call& call);
bool DropoutPassesThrough(const Call& call);  // Outside training.
void BatchNormalization(Call& call);
bool MakesNoStatistics(const Call& call);  // As a BatchNormalization outside training.
void LayerNormalization(Call& call);
void SkipLayerNormalization(Call& call);
void QuantizeLinear(Call& call);
void DequantizeLinear(Call& call);
void DynamicQuantizeLinear(Call& call);
void RandomLike(Call& call);
void QLinearBinary(Call& call);
void QLinearUnary(Call& call);

// Elements that move, and constants (rules_layout.cc).
void CenterCropPad(Call& call);
void Concat(Call& call);
std::optional<Sliding> SlideConcat(Call& call, std::size_t axis);
void Constant(Call& call);
void ConstantOfShape(Call& call);
void DepthToSpace(Call& call);
void Expand(Call& call);
void EyeLike(Call& call);
void Flatten(Call& call);
void Gather(Call& call);
void GatherElements(Call& call);
void GatherNd(Call& call);
void OneHot(Call& call);
void Pad(Call& call);
void QLinearConcat(Call& call);
void Random(Call& call);
void Range(Call& call);
void Reshape(Call& call);
void Resize(Call& call);
void ShapeOperator(Call& call);
void Size(Call& call);
void Slice(Call& call);
void SpaceToDepth(Call& call);
void Split(Call& call);
void Squeeze(Call& call);
void Tile(Call& call);
void Transpose(Call& call);
void Unsqueeze(Call& call);
void Upsample(Call& call);

// Sums of products, windows, recurrences (rules_compute.cc).
void ArgReduce(Call& call);
void Attention(Call& call);
void Conv(Call& call);
std::optional<Sliding> SlideConv(Call& call, std::size_t axis);
std::optional<Sliding> SlideQLinearConv(Call& call, std::size_t axis);
void ConvInteger(Call& call);
void ConvTranspose(Call& call);
void Det(Call& call);
void Dft(Call& call);
void Einsum(Call& call);
void Gemm(Call& call);
void GlobalPool(Call& call);
void GridSample(Call& call);
void Loss(Call& call);
void MatMul(Call& call);
std::optional<Sliding> SlideMatMul(Call& call, std::size_t axis);  // The rows of the left matrix.
void MatMulInteger(Call& call);
void MatMulNBits(Call& call);
void MaxRoiPool(Call& call);
void MaxUnpool(Call& call);
void MelWeightMatrix(Call& call);
void Multinomial(Call& call);
void Pool(Call& call);
std::optional<Sliding> SlidePool(Call& call, std::size_t axis);
void QLinearConv(Call& call);
void QLinearGlobalPool(Call& call);
void QLinearMatMul(Call& call);
void Recurrent(Call& call);
void Reduce(Call& call);
void RoiAlign(Call& call);
void Stft(Call& call);
void TopK(Call& call);
void Window(Call& call);

// Sizes that only a run can tell (rules_dynamic.cc).
void Compress(Call& call);
void NonMaxSuppression(Call& call);
void NonZero(Call& call);
void OptionalHasElement(Call& call);
void OptionalValue(Call& call);
void OptionalGetElement(Call& call);
void SequenceAt(Call& call);
void SequenceLength(Call& call);
void SequenceValue(Call& call);
void Unique(Call& call);

}  // namespace rules
}  // namespace berth::internal::onnx

#endif  // BERTH_IO_ONNX_RULES_H_
