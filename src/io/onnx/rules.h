// io/onnx/rules.h -- what the operators of ONNX make of shapes.
#ifndef BERTH_IO_ONNX_RULES_H_
#define BERTH_IO_ONNX_RULES_H_

#include <cstdint>
#include <string_view>

#include "io/onnx/call.h"

namespace berth::internal {

struct OperatorRule {
  std::string_view name;
  void (*infer)(Call&);
  // Reads each element before it writes the one in its place, and needs no other: its output may
  // lie where an input of the same shape lay.
  bool elementwise = false;
  bool random = false;  // Gives something else in each run.
};

// The newest operator set of ONNX itself that these rules know.
inline constexpr std::int64_t kNewestOpset = 25;

// The rule for an operator of ONNX itself (domain "") or of onnxruntime ("com.microsoft"); null for
// one that there is no rule for.
[[nodiscard]] const OperatorRule* FindRule(std::string_view domain, std::string_view type);

// The rules, by what they are about. Each sets what follows from the inputs.
namespace rules {

// Element by element (rules_elementwise.cc).
void Unary(Call& call);       // As input 0.
void Predicate(Call& call);   // As input 0, bool.
void Binary(Call& call);      // Inputs 0 and 1 repeated to one shape.
void Comparison(Call& call);  // The same, bool.
void Variadic(Call& call);    // All inputs repeated to one shape.
void Where(Call& call);
void Cast(Call& call);
void CastLike(Call& call);
void Dropout(Call& call);
void BatchNormalization(Call& call);
void LayerNormalization(Call& call);
void SkipLayerNormalization(Call& call);
void QuantizeLinear(Call& call);
void DequantizeLinear(Call& call);
void DynamicQuantizeLinear(Call& call);
void RandomLike(Call& call);
void QLinearBinary(Call& call);
void QLinearUnary(Call& call);

// Elements that move (rules_layout.cc).
void CenterCropPad(Call& call);
void Concat(Call& call);
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
void MatMulInteger(Call& call);
void MatMulNBits(Call& call);
void MaxRoiPool(Call& call);
void MaxUnpool(Call& call);
void MelWeightMatrix(Call& call);
void Multinomial(Call& call);
void Pool(Call& call);
void QLinearConv(Call& call);
void QLinearGlobalPool(Call& call);
void QLinearMatMul(Call& call);
void Recurrent(Call& call);
void Reduce(Call& call);
void RoiAlign(Call& call);
void Stft(Call& call);
void TopK(Call& call);
void Window(Call& call);

// What only a run can tell (rules_dynamic.cc).
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
}  // namespace berth::internal

#endif  // BERTH_IO_ONNX_RULES_H_
