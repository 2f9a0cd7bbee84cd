#include "io/onnx/rules.h"

#include <algorithm>
#include <array>

namespace berth::internal {
namespace {

using rules::ArgReduce;
using rules::Binary;
using rules::Comparison;
using rules::Loss;
using rules::OptionalValue;
using rules::Predicate;
using rules::QLinearUnary;
using rules::Recurrent;
using rules::Reduce;
using rules::SequenceValue;
using rules::Unary;
using rules::Variadic;
using rules::Window;

constexpr bool kElementwise = true;
constexpr bool kRandom = true;

// ONNX itself. Sorted, for binary search.
constexpr OperatorRule kOnnx[] = {
    {"Abs", Unary, kElementwise},
    {"Acos", Unary, kElementwise},
    {"Acosh", Unary, kElementwise},
    {"Add", Binary, kElementwise},
    {"And", Comparison, kElementwise},
    {"ArgMax", ArgReduce},
    {"ArgMin", ArgReduce},
    {"Asin", Unary, kElementwise},
    {"Asinh", Unary, kElementwise},
    {"Atan", Unary, kElementwise},
    {"Atanh", Unary, kElementwise},
    {"Attention", rules::Attention},
    {"AveragePool", rules::Pool},
    {"BatchNormalization", rules::BatchNormalization, kElementwise},
    {"Bernoulli", rules::RandomLike, false, kRandom},
    {"BitShift", Binary, kElementwise},
    {"BitwiseAnd", Binary, kElementwise},
    {"BitwiseNot", Unary, kElementwise},
    {"BitwiseOr", Binary, kElementwise},
    {"BitwiseXor", Binary, kElementwise},
    {"BlackmanWindow", Window},
    {"Cast", rules::Cast, kElementwise},
    {"CastLike", rules::CastLike, kElementwise},
    {"Ceil", Unary, kElementwise},
    {"Celu", Unary, kElementwise},
    {"CenterCropPad", rules::CenterCropPad},
    {"Clip", Unary, kElementwise},
    {"Compress", rules::Compress},
    {"Concat", rules::Concat},
    {"Constant", rules::Constant},
    {"ConstantOfShape", rules::ConstantOfShape},
    {"Conv", rules::Conv},
    {"ConvInteger", rules::ConvInteger},
    {"ConvTranspose", rules::ConvTranspose},
    {"Cos", Unary, kElementwise},
    {"Cosh", Unary, kElementwise},
    {"CumSum", Unary},
    {"DFT", rules::Dft},

    {"DeformConv", rules::Conv},
    {"DepthToSpace", rules::DepthToSpace},
    {"DequantizeLinear", rules::DequantizeLinear, kElementwise},
    {"Det", rules::Det},
    {"Div", Binary, kElementwise},
    {"Dropout", rules::Dropout},
    {"DynamicQuantizeLinear", rules::DynamicQuantizeLinear},
    {"Einsum", rules::Einsum},
    {"Elu", Unary, kElementwise},
    {"Equal", Comparison, kElementwise},
    {"Erf", Unary, kElementwise},
    {"Exp", Unary, kElementwise},
    {"Expand", rules::Expand},
    {"EyeLike", rules::EyeLike},
    {"Flatten", rules::Flatten},
    {"Floor", Unary, kElementwise},
    {"GRU", Recurrent},
    {"Gather", rules::Gather},
    {"GatherElements", rules::GatherElements},
    {"GatherND", rules::GatherNd},
    {"Gelu", Unary, kElementwise},
    {"Gemm", rules::Gemm},
    {"GlobalAveragePool", rules::GlobalPool},
    {"GlobalLpPool", rules::GlobalPool},
    {"GlobalMaxPool", rules::GlobalPool},
    {"Greater", Comparison, kElementwise},
    {"GreaterOrEqual", Comparison, kElementwise},
    {"GridSample", rules::GridSample},
    {"GroupNormalization", Unary},
    {"HammingWindow", Window},
    {"HannWindow", Window},
    {"HardSigmoid", Unary, kElementwise},
    {"HardSwish", Unary, kElementwise},
    {"Hardmax", Unary},
    {"Identity", Unary, kElementwise},
    {"InstanceNormalization", Unary},
    {"IsInf", Predicate, kElementwise},
    {"IsNaN", Predicate, kElementwise},
    {"LRN", Unary},
    {"LSTM", Recurrent},
    {"LayerNormalization", rules::LayerNormalization},
    {"LeakyRelu", Unary, kElementwise},
    {"Less", Comparison, kElementwise},
    {"LessOrEqual", Comparison, kElementwise},
    {"Log", Unary, kElementwise},
    {"LogSoftmax", Unary},
    {"LpNormalization", Unary},
    {"LpPool", rules::Pool},
    {"MatMul", rules::MatMul},
    {"MatMulInteger", rules::MatMulInteger},
    {"Max", Variadic, kElementwise},
    {"MaxPool", rules::Pool},
    {"MaxRoiPool", rules::MaxRoiPool},
    {"MaxUnpool", rules::MaxUnpool},
    {"Mean", Variadic, kElementwise},
    {"MeanVarianceNormalization", Unary},
    {"MelWeightMatrix", rules::MelWeightMatrix},
    {"Min", Variadic, kElementwise},
    {"Mish", Unary, kElementwise},
    {"Mod", Binary, kElementwise},
    {"Mul", Binary, kElementwise},
    {"Multinomial", rules::Multinomial, false, kRandom},
    {"Neg", Unary, kElementwise},
    {"NegativeLogLikelihoodLoss", Loss},
    {"NonMaxSuppression", rules::NonMaxSuppression},
    {"NonZero", rules::NonZero},
    {"Not", Predicate, kElementwise},
    {"OneHot", rules::OneHot},
    {"Optional", OptionalValue},
    {"OptionalGetElement", rules::OptionalGetElement},
    {"OptionalHasElement", rules::OptionalHasElement},
    {"Or", Comparison, kElementwise},
    {"PRelu", Unary, kElementwise},
    {"Pad", rules::Pad},
    {"Pow", Binary, kElementwise},
    {"QLinearConv", rules::QLinearConv},
    {"QLinearMatMul", rules::QLinearMatMul},
    {"QuantizeLinear", rules::QuantizeLinear},
    {"RMSNormalization", Unary},
    {"RNN", Recurrent},
    {"RandomNormal", rules::Random, false, kRandom},
    {"RandomNormalLike", rules::RandomLike, false, kRandom},
    {"RandomUniform", rules::Random, false, kRandom},
    {"RandomUniformLike", rules::RandomLike, false, kRandom},
    {"Range", rules::Range},
    {"Reciprocal", Unary, kElementwise},
    {"ReduceL1", Reduce},
    {"ReduceL2", Reduce},
    {"ReduceLogSum", Reduce},
    {"ReduceLogSumExp", Reduce},
    {"ReduceMax", Reduce},
    {"ReduceMean", Reduce},
    {"ReduceMin", Reduce},
    {"ReduceProd", Reduce},
    {"ReduceSum", Reduce},
    {"ReduceSumSquare", Reduce},
    {"Relu", Unary, kElementwise},
    {"Reshape", rules::Reshape},
    {"Resize", rules::Resize},
    {"ReverseSequence", Unary},
    {"RoiAlign", rules::RoiAlign},
    {"RotaryEmbedding", Unary},
    {"Round", Unary, kElementwise},
    {"STFT", rules::Stft},
    {"Scatter", Unary},
    {"ScatterElements", Unary},
    {"ScatterND", Unary},
    {"Selu", Unary, kElementwise},
    {"SequenceAt", rules::SequenceAt},
    {"SequenceConstruct", SequenceValue},
    {"SequenceEmpty", SequenceValue},
    {"SequenceErase", SequenceValue},
    {"SequenceInsert", SequenceValue},
    {"SequenceLength", rules::SequenceLength},
    {"SequenceMap", SequenceValue},
    {"Shape", rules::ShapeOperator},
    {"Shrink", Unary, kElementwise},
    {"Sigmoid", Unary, kElementwise},
    {"Sign", Unary, kElementwise},
    {"Sin", Unary, kElementwise},
    {"Sinh", Unary, kElementwise},
    {"Size", rules::Size},
    {"Slice", rules::Slice},
    {"Softmax", Unary},
    {"SoftmaxCrossEntropyLoss", Loss},
    {"Softplus", Unary, kElementwise},
    {"Softsign", Unary, kElementwise},
    {"SpaceToDepth", rules::SpaceToDepth},
    {"Split", rules::Split},
    {"SplitToSequence", SequenceValue},
    {"Sqrt", Unary, kElementwise},
    {"Squeeze", rules::Squeeze},
    {"Sub", Binary, kElementwise},
    {"Sum", Variadic, kElementwise},
    {"Swish", Unary, kElementwise},
    {"Tan", Unary, kElementwise},
    {"Tanh", Unary, kElementwise},
    {"TensorScatter", Unary},
    {"ThresholdedRelu", Unary, kElementwise},
    {"Tile", rules::Tile},
    {"TopK", rules::TopK},
    {"Transpose", rules::Transpose},
    {"Trilu", Unary},
    {"Unique", rules::Unique},
    {"Unsqueeze", rules::Unsqueeze},
    {"Upsample", rules::Upsample},
    {"Where", rules::Where, kElementwise},
    {"Xor", Comparison, kElementwise},
};

// What onnxruntime's optimizers and quantizers leave in files. Sorted.
constexpr OperatorRule kOnnxRuntime[] = {
    {"BiasGelu", Unary, kElementwise},
    {"DequantizeLinear", rules::DequantizeLinear, kElementwise},
    {"DynamicQuantizeMatMul", rules::MatMulInteger},
    {"FastGelu", Unary, kElementwise},
    {"FusedConv", rules::Conv},
    {"FusedGemm", rules::Gemm},
    {"FusedMatMul", rules::MatMul},
    {"Gelu", Unary, kElementwise},
    {"MatMulIntegerToFloat", rules::MatMulInteger},
    {"MatMulNBits", rules::MatMulNBits},
    {"QLinearAdd", rules::QLinearBinary},
    {"QLinearConcat", rules::QLinearConcat},
    {"QLinearGlobalAveragePool", rules::QLinearGlobalPool},
    {"QLinearLeakyRelu", QLinearUnary},
    {"QLinearMul", rules::QLinearBinary},
    {"QLinearSigmoid", QLinearUnary},
    {"QLinearSoftmax", QLinearUnary},
    {"QuantizeLinear", rules::QuantizeLinear},
    {"QuickGelu", Unary, kElementwise},
    {"SimplifiedLayerNormalization", rules::LayerNormalization},
    {"SkipLayerNormalization", rules::SkipLayerNormalization},
    {"SkipSimplifiedLayerNormalization", rules::SkipLayerNormalization},
};

template <std::size_t n>
constexpr bool IsSorted(const OperatorRule (&table)[n]) {
  for (std::size_t i = 1; i < n; ++i) {
    if (!(table[i - 1].name < table[i].name)) return false;
  }
  return true;
}
static_assert(IsSorted(kOnnx) && IsSorted(kOnnxRuntime));

template <std::size_t n>
const OperatorRule* Find(const OperatorRule (&table)[n], std::string_view name) {
  const OperatorRule* found = std::lower_bound(
      std::begin(table), std::end(table), name,
      [](const OperatorRule& rule, std::string_view n_) { return rule.name < n_; });
  return found != std::end(table) && found->name == name ? found : nullptr;
}

}  // namespace

const OperatorRule* FindRule(std::string_view domain, std::string_view type) {
  const OperatorRule* rule = domain.empty() ? Find(kOnnx, type) : nullptr;
  // onnxruntime's optimizers leave some of its operators in ONNX's own domain.
  if (rule == nullptr && (domain.empty() || domain == "com.microsoft")) {
    rule = Find(kOnnxRuntime, type);
  }
  return rule;
}

}  // namespace berth::internal
