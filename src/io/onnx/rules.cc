// What is known of each operator: one row.
//
// To add an operator, add a row, and a rule if none of those in rules_*.cc fits. Nothing else in this
// folder names operators, except those with bodies (bodies.cc) and DequantizeLinear of weights
// (lower.cc). A column that a row leaves out has the careful answer: values are not computed, the
// output is a tensor of its own that must not lie over an operand and needs all of its inputs, and
// the result is the same in every run.

#include "io/onnx/rules.h"

#include <algorithm>
#include <array>
#include <string>

#include "io/onnx/fold.h"

namespace berth::internal::onnx {
namespace {

bool Always(const Call& /*call*/) { return true; }

// ONNX itself. Sorted, for binary search.
constexpr OperatorRule kOnnx[] = {
    {"Abs", 13, rules::Unary, {.fold = folds::Abs, .overwrite = Always}},
    {"Acos", 22, rules::Unary, {.overwrite = Always}},
    {"Acosh", 22, rules::Unary, {.overwrite = Always}},
    {"Add", 14, rules::Binary, {.fold = folds::Add, .overwrite = Always}},
    {"And", 7, rules::Comparison, {.fold = folds::And, .overwrite = Always}},
    {"ArgMax", 13, rules::ArgReduce},
    {"ArgMin", 13, rules::ArgReduce},
    {"Asin", 22, rules::Unary, {.overwrite = Always}},
    {"Asinh", 22, rules::Unary, {.overwrite = Always}},
    {"Atan", 22, rules::Unary, {.overwrite = Always}},
    {"Atanh", 22, rules::Unary, {.overwrite = Always}},
    {"Attention", 25, rules::Attention},
    {"AveragePool", 22, rules::Pool, {.slide = rules::SlidePool}},
    {"BatchNormalization",
     15,
     rules::BatchNormalization,
     {.overwrite = rules::MakesNoStatistics, .slide = rules::SlideFirst}},
    {"Bernoulli", 22, rules::RandomLike, {.random = true}},
    {"BitShift", 11, rules::Binary, {.overwrite = Always}},
    {"BitwiseAnd", 18, rules::Binary, {.overwrite = Always}},
    {"BitwiseNot", 18, rules::Unary, {.overwrite = Always}},
    {"BitwiseOr", 18, rules::Binary, {.overwrite = Always}},
    {"BitwiseXor", 18, rules::Binary, {.overwrite = Always}},
    {"BlackmanWindow", 17, rules::Window},
    {"Cast", 25, rules::Cast, {.fold = folds::Cast, .overwrite = Always}},
    {"CastLike", 25, rules::CastLike, {.overwrite = Always}},
    {"Ceil", 13, rules::Unary, {.fold = folds::Ceil, .overwrite = Always}},
    {"Celu", 12, rules::Unary, {.overwrite = Always}},
    {"CenterCropPad", 18, rules::CenterCropPad},
    {"Clip", 13, rules::Unary, {.overwrite = Always}},
    {"Compress", 11, rules::Compress},
    {"Concat", 13, rules::Concat, {.fold = folds::Concat, .slide = rules::SlideConcat}},
    {"Constant", 25, rules::Constant, {.fold = folds::Constant}},
    {"ConstantOfShape", 25, rules::ConstantOfShape, {.fold = folds::ConstantOfShape}},
    {"Conv", 22, rules::Conv, {.slide = rules::SlideConv}},
    {"ConvInteger", 10, rules::ConvInteger, {.slide = rules::SlideConv}},
    {"ConvTranspose", 22, rules::ConvTranspose},
    {"Cos", 22, rules::Unary, {.overwrite = Always}},
    {"Cosh", 22, rules::Unary, {.overwrite = Always}},
    {"CumSum", 14, rules::Unary},
    {"DFT", 20, rules::Dft},
    {"DeformConv", 22, rules::Conv},
    {"DepthToSpace", 13, rules::DepthToSpace},
    {"DequantizeLinear",
     25,
     rules::DequantizeLinear,
     {.overwrite = Always, .slide = rules::SlideFirst}},
    {"Det", 22, rules::Det},
    {"Div", 14, rules::Binary, {.fold = folds::Div, .overwrite = Always}},
    {"Dropout", 22, rules::Dropout, {.view = rules::DropoutPassesThrough}},
    {"DynamicQuantizeLinear", 11, rules::DynamicQuantizeLinear},
    {"Einsum", 12, rules::Einsum},
    {"Elu", 22, rules::Unary, {.overwrite = Always}},
    {"Equal", 19, rules::Comparison, {.fold = folds::Equal, .overwrite = Always}},
    {"Erf", 13, rules::Unary, {.overwrite = Always}},
    {"Exp", 13, rules::Unary, {.overwrite = Always}},
    {"Expand", 13, rules::Expand, {.fold = folds::Expand}},
    {"EyeLike", 22, rules::EyeLike},
    {"Flatten", 25, rules::Flatten, {.fold = folds::Same, .view = Always}},
    {"Floor", 13, rules::Unary, {.fold = folds::Floor, .overwrite = Always}},
    {"GRU", 22, rules::Recurrent},
    {"Gather", 13, rules::Gather, {.fold = folds::Gather}},
    {"GatherElements", 13, rules::GatherElements},
    {"GatherND", 13, rules::GatherNd},
    {"Gelu", 20, rules::Unary, {.overwrite = Always}},
    {"Gemm", 13, rules::Gemm, {.slide = rules::SlideMatMul}},
    {"GlobalAveragePool", 22, rules::GlobalPool},
    {"GlobalLpPool", 22, rules::GlobalPool},
    {"GlobalMaxPool", 22, rules::GlobalPool},
    {"Greater", 13, rules::Comparison, {.fold = folds::Greater, .overwrite = Always}},
    {"GreaterOrEqual", 16, rules::Comparison, {.fold = folds::GreaterOrEqual, .overwrite = Always}},
    {"GridSample", 22, rules::GridSample},
    {"GroupNormalization", 21, rules::Unary},
    {"HammingWindow", 17, rules::Window},
    {"HannWindow", 17, rules::Window},
    {"HardSigmoid", 22, rules::Unary, {.overwrite = Always}},
    {"HardSwish", 22, rules::Unary, {.overwrite = Always}},
    {"Hardmax", 13, rules::Unary, {.slide = rules::SlideBesideAxis}},
    {"Identity", 25, rules::Unary, {.fold = folds::Same, .view = Always, .overwrite = Always}},
    {"InstanceNormalization", 22, rules::Unary},
    {"IsInf", 20, rules::Predicate, {.overwrite = Always}},
    {"IsNaN", 20, rules::Predicate, {.overwrite = Always}},
    {"LRN", 13, rules::Unary, {.slide = rules::SlideSpatial}},
    {"LSTM", 22, rules::Recurrent},
    {"LayerNormalization", 17, rules::LayerNormalization, {.slide = rules::SlideBeforeAxis}},
    {"LeakyRelu", 16, rules::Unary, {.overwrite = Always}},
    {"Less", 13, rules::Comparison, {.fold = folds::Less, .overwrite = Always}},
    {"LessOrEqual", 16, rules::Comparison, {.fold = folds::LessOrEqual, .overwrite = Always}},
    {"Log", 13, rules::Unary, {.overwrite = Always}},
    {"LogSoftmax", 13, rules::Unary, {.slide = rules::SlideBesideAxis}},
    {"LpNormalization", 22, rules::Unary},
    {"LpPool", 22, rules::Pool, {.slide = rules::SlidePool}},
    {"MatMul", 13, rules::MatMul, {.slide = rules::SlideMatMul}},
    {"MatMulInteger", 10, rules::MatMulInteger, {.slide = rules::SlideMatMul}},
    {"Max", 13, rules::Variadic, {.fold = folds::Max, .overwrite = Always}},
    {"MaxPool", 22, rules::Pool, {.slide = rules::SlidePool}},
    {"MaxRoiPool", 22, rules::MaxRoiPool},
    {"MaxUnpool", 22, rules::MaxUnpool},
    {"Mean", 13, rules::Variadic, {.overwrite = Always}},
    {"MeanVarianceNormalization", 13, rules::Unary},
    {"MelWeightMatrix", 17, rules::MelWeightMatrix},
    {"Min", 13, rules::Variadic, {.fold = folds::Min, .overwrite = Always}},
    {"Mish", 22, rules::Unary, {.overwrite = Always}},
    {"Mod", 13, rules::Binary, {.fold = folds::Mod, .overwrite = Always}},
    {"Mul", 14, rules::Binary, {.fold = folds::Mul, .overwrite = Always}},
    {"Multinomial", 22, rules::Multinomial, {.random = true}},
    {"Neg", 13, rules::Unary, {.fold = folds::Neg, .overwrite = Always}},
    {"NegativeLogLikelihoodLoss", 22, rules::Loss},
    {"NonMaxSuppression", 11, rules::NonMaxSuppression},
    {"NonZero", 13, rules::NonZero, {.fold = folds::NonZero, .fold_gives_shape = true}},
    {"Not", 1, rules::Predicate, {.fold = folds::Not, .overwrite = Always}},
    {"OneHot", 11, rules::OneHot},
    {"Optional", 15, rules::OptionalValue},
    {"OptionalGetElement", 18, rules::OptionalGetElement},
    {"OptionalHasElement", 18, rules::OptionalHasElement},
    {"Or", 7, rules::Comparison, {.fold = folds::Or, .overwrite = Always}},
    {"PRelu", 16, rules::Unary, {.overwrite = Always}},
    {"Pad", 25, rules::Pad},
    {"Pow", 15, rules::Binary, {.overwrite = Always}},
    {"QLinearConv", 10, rules::QLinearConv, {.slide = rules::SlideQLinearConv}},
    {"QLinearMatMul", 21, rules::QLinearMatMul},
    {"QuantizeLinear", 25, rules::QuantizeLinear, {.slide = rules::SlideFirst}},
    {"RMSNormalization", 23, rules::Unary, {.slide = rules::SlideBeforeAxis}},
    {"RNN", 22, rules::Recurrent},
    {"RandomNormal", 22, rules::Random, {.random = true}},
    {"RandomNormalLike", 22, rules::RandomLike, {.random = true}},
    {"RandomUniform", 22, rules::Random, {.random = true}},
    {"RandomUniformLike", 22, rules::RandomLike, {.random = true}},
    {"Range", 11, rules::Range, {.fold = folds::Range}},
    {"Reciprocal", 13, rules::Unary, {.overwrite = Always}},
    {"ReduceL1", 18, rules::Reduce},
    {"ReduceL2", 18, rules::Reduce},
    {"ReduceLogSum", 18, rules::Reduce},
    {"ReduceLogSumExp", 18, rules::Reduce},
    {"ReduceMax", 20, rules::Reduce, {.fold = folds::ReduceMax}},
    {"ReduceMean", 18, rules::Reduce},
    {"ReduceMin", 20, rules::Reduce, {.fold = folds::ReduceMin}},
    {"ReduceProd", 18, rules::Reduce, {.fold = folds::ReduceProd}},
    {"ReduceSum", 13, rules::Reduce, {.fold = folds::ReduceSum}},
    {"ReduceSumSquare", 18, rules::Reduce},
    {"Relu", 14, rules::Unary, {.overwrite = Always}},
    {"Reshape", 25, rules::Reshape, {.fold = folds::Same, .view = Always}},
    {"Resize", 19, rules::Resize},
    {"ReverseSequence", 10, rules::Unary},
    {"RoiAlign", 22, rules::RoiAlign},
    {"RotaryEmbedding", 23, rules::Unary},
    {"Round", 22, rules::Unary, {.fold = folds::Round, .overwrite = Always}},
    {"STFT", 17, rules::Stft},
    {"Scatter", 9, rules::Unary},
    {"ScatterElements", 18, rules::Unary},
    {"ScatterND", 18, rules::Unary, {.fold = folds::ScatterNd}},
    {"Selu", 22, rules::Unary, {.overwrite = Always}},
    {"SequenceAt", 11, rules::SequenceAt},
    {"SequenceConstruct", 11, rules::SequenceValue},
    {"SequenceEmpty", 11, rules::SequenceValue},
    {"SequenceErase", 11, rules::SequenceValue},
    {"SequenceInsert", 11, rules::SequenceValue},
    {"SequenceLength", 11, rules::SequenceLength},
    {"SequenceMap", 17, rules::SequenceValue},
    {"Shape", 25, rules::ShapeOperator, {.fold = folds::ShapeOperator}},
    {"Shrink", 9, rules::Unary, {.overwrite = Always}},
    {"Sigmoid", 13, rules::Unary, {.overwrite = Always}},
    {"Sign", 13, rules::Unary, {.overwrite = Always}},
    {"Sin", 22, rules::Unary, {.overwrite = Always}},
    {"Sinh", 22, rules::Unary, {.overwrite = Always}},
    {"Size", 25, rules::Size, {.fold = folds::Size}},
    {"Slice", 13, rules::Slice, {.fold = folds::Slice}},
    {"Softmax", 13, rules::Unary, {.slide = rules::SlideBesideAxis}},
    {"SoftmaxCrossEntropyLoss", 13, rules::Loss},
    {"Softplus", 22, rules::Unary, {.overwrite = Always}},
    {"Softsign", 22, rules::Unary, {.overwrite = Always}},
    {"SpaceToDepth", 13, rules::SpaceToDepth},
    {"Split", 18, rules::Split, {.fold = folds::Split}},
    {"SplitToSequence", 24, rules::SequenceValue},
    {"Sqrt", 13, rules::Unary, {.fold = folds::Sqrt, .overwrite = Always}},
    {"Squeeze", 25, rules::Squeeze, {.fold = folds::Same, .view = Always}},
    {"Sub", 14, rules::Binary, {.fold = folds::Sub, .overwrite = Always}},
    {"Sum", 13, rules::Variadic, {.overwrite = Always}},
    {"Swish", 24, rules::Unary, {.overwrite = Always}},
    {"Tan", 22, rules::Unary, {.overwrite = Always}},
    {"Tanh", 13, rules::Unary, {.overwrite = Always}},
    {"TensorScatter", 24, rules::Unary},
    {"ThresholdedRelu", 22, rules::Unary, {.overwrite = Always}},
    {"Tile", 13, rules::Tile, {.fold = folds::Tile}},
    {"TopK", 24, rules::TopK},
    {"Transpose", 25, rules::Transpose, {.fold = folds::Transpose}},
    {"Trilu", 14, rules::Unary},
    {"Unique", 11, rules::Unique},
    {"Unsqueeze", 25, rules::Unsqueeze, {.fold = folds::Same, .view = Always}},
    {"Upsample", 9, rules::Upsample},
    {"Where", 16, rules::Where, {.fold = folds::Where, .overwrite = Always}},
    {"Xor", 7, rules::Comparison, {.fold = folds::Xor, .overwrite = Always}},
};

// Operators that onnxruntime's optimizers and quantizers leave in files. Sorted.
constexpr OperatorRule kOnnxRuntime[] = {
    {"BiasGelu", 1, rules::Unary, {.overwrite = Always}},
    {"DequantizeLinear",
     1,
     rules::DequantizeLinear,
     {.overwrite = Always, .slide = rules::SlideFirst}},
    {"DynamicQuantizeMatMul", 1, rules::MatMulInteger},
    {"FastGelu", 1, rules::Unary, {.overwrite = Always}},
    {"FusedConv", 1, rules::Conv, {.slide = rules::SlideConv}},
    {"FusedGemm", 1, rules::Gemm},
    {"FusedMatMul", 1, rules::MatMul},
    {"Gelu", 1, rules::Unary, {.overwrite = Always}},
    {"MatMulIntegerToFloat", 1, rules::MatMulInteger},
    {"MatMulNBits", 1, rules::MatMulNBits, {.slide = rules::SlideMatMul}},
    {"QLinearAdd", 1, rules::QLinearBinary, {.slide = rules::SlideAll}},
    {"QLinearConcat", 1, rules::QLinearConcat},
    {"QLinearGlobalAveragePool", 1, rules::QLinearGlobalPool},
    {"QLinearLeakyRelu", 1, rules::QLinearUnary, {.slide = rules::SlideAll}},
    {"QLinearMul", 1, rules::QLinearBinary, {.slide = rules::SlideAll}},
    {"QLinearSigmoid", 1, rules::QLinearUnary, {.slide = rules::SlideAll}},
    {"QLinearSoftmax", 1, rules::QLinearUnary},
    {"QuantizeLinear", 1, rules::QuantizeLinear, {.slide = rules::SlideFirst}},
    {"QuickGelu", 1, rules::Unary, {.overwrite = Always}},
    {"SimplifiedLayerNormalization",
     1,
     rules::LayerNormalization,
     {.slide = rules::SlideBeforeAxis}},
    {"SkipLayerNormalization", 1, rules::SkipLayerNormalization},
    {"SkipSimplifiedLayerNormalization", 1, rules::SkipLayerNormalization},
};

constexpr bool IsSorted(std::span<const OperatorRule> table) {
  for (std::size_t i = 1; i < table.size(); ++i) {
    if (!(table[i - 1].name < table[i].name)) return false;
  }
  return true;
}
static_assert(IsSorted(kOnnx) && IsSorted(kOnnxRuntime));

const OperatorRule* Find(std::span<const OperatorRule> table, std::string_view type) {
  const auto found = std::lower_bound(
      table.begin(), table.end(), type,
      [](const OperatorRule& rule, std::string_view name) { return rule.name < name; });
  return found != table.end() && found->name == type ? &*found : nullptr;
}

}  // namespace

std::span<const OperatorRule> OnnxRules() { return kOnnx; }
std::span<const OperatorRule> OnnxRuntimeRules() { return kOnnxRuntime; }

const OperatorRule* FindRule(std::string_view domain, std::string_view type) {
  const OperatorRule* rule = domain.empty() ? Find(kOnnx, type) : nullptr;
  // onnxruntime's optimizers leave some of its operators in ONNX's own domain.
  if (rule == nullptr && (domain.empty() || domain == "com.microsoft")) {
    rule = Find(kOnnxRuntime, type);
  }
  return rule;
}

std::string SpecificationOf(const OperatorRule& rule) {
  const std::string name(rule.name);
  if (Find(kOnnx, rule.name) != &rule) {
    return "https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md"
           "#com.microsoft." +
           name;
  }
  std::string section = name + "-" + std::to_string(rule.version);
  for (char& c : section) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return "https://onnx.ai/onnx/operators/onnx__" + name + ".html#" + section;
}

}  // namespace berth::internal::onnx
