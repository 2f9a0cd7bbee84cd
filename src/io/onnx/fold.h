// io/onnx/fold.h -- arithmetic on small constants, as far as it decides sizes.
//
// Exporters write "reshape to the batch size by the rest" as half a dozen operators that take a
// shape apart and put it together again. Their results are a few integers that follow from shapes
// alone, so they are computed here, element by element. Single elements may be unknown: of a shape
// with one open dimension, the others still count. The results are exact: integers wrap as their
// types do, reals are rounded to theirs after each operation, and functions that machines disagree
// on (exp, log, pow of reals) are not computed.
#ifndef BERTH_IO_ONNX_FOLD_H_
#define BERTH_IO_ONNX_FOLD_H_

#include <cstddef>
#include <cstdint>

#include "io/onnx/call.h"
#include "io/onnx/rules.h"

namespace berth::internal::onnx {

// Tensors of more elements are taken for weights, whose values do not decide sizes.
inline constexpr std::size_t kMaxFolded = std::size_t{1} << 14;

// Gives each output of `call` the value that follows from those of the inputs, if `rule` has a way
// to compute it. The outputs have their shapes, unless rule.more.fold_gives_shape. `budget` is the
// number of elements that may still be computed, and is charged.
void Fold(const OperatorRule& rule, Call& call, std::int64_t& budget);

// The ways to compute values, for the rows of rules.cc. They give nothing where inputs are unknown.
namespace folds {

void Same(Call& call);  // The elements of input 0.
void Abs(Call& call);
void Add(Call& call);
void And(Call& call);
void Cast(Call& call);
void Ceil(Call& call);
void Concat(Call& call);
void Constant(Call& call);
void ConstantOfShape(Call& call);
void Div(Call& call);
void Equal(Call& call);
void Expand(Call& call);
void Floor(Call& call);
void Gather(Call& call);
void Greater(Call& call);
void GreaterOrEqual(Call& call);
void Less(Call& call);
void LessOrEqual(Call& call);
void Max(Call& call);
void Min(Call& call);
void Mod(Call& call);
void Mul(Call& call);
void Neg(Call& call);
void NonZero(Call& call);
void Not(Call& call);
void Or(Call& call);
void Range(Call& call);
void ReduceMax(Call& call);
void ReduceMin(Call& call);
void ReduceProd(Call& call);
void ReduceSum(Call& call);
void Round(Call& call);
void ScatterNd(Call& call);
void ShapeOperator(Call& call);
void Size(Call& call);
void Slice(Call& call);
void Split(Call& call);
void Sqrt(Call& call);
void Sub(Call& call);
void Tile(Call& call);
void Transpose(Call& call);
void Where(Call& call);
void Xor(Call& call);

}  // namespace folds
}  // namespace berth::internal::onnx

#endif  // BERTH_IO_ONNX_FOLD_H_
