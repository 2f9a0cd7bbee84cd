// io/onnx/fold.h -- arithmetic on small constants, as far as it decides sizes.
//
// Exporters write "reshape to the batch size by whatever is left" as half a dozen operators that
// take a shape apart and put it together again. Their results are a few integers that follow from
// shapes alone, so they are computed here, element by element and with elements that are not known:
// of a shape with one open dimension the others still count. What is computed is exact: integers
// wrap as their types do, reals are rounded to theirs after each operation, and functions that
// machines disagree on (exp, log, pow of reals) are left alone.
#ifndef BERTH_IO_ONNX_FOLD_H_
#define BERTH_IO_ONNX_FOLD_H_

#include <cstddef>
#include <cstdint>

#include "io/onnx/call.h"

namespace berth::internal {

// Tensors of more elements are weights to us: their values do not decide sizes.
inline constexpr std::size_t kMaxFolded = std::size_t{1} << 14;

// Gives each output of `call` the value that follows from those of the inputs, where there is a way
// to compute it. The outputs have their shapes; of a few operators the value gives the shape too.
// `budget` is how many elements may still be computed, and is charged.
void Fold(Call& call, std::int64_t& budget);

}  // namespace berth::internal

#endif  // BERTH_IO_ONNX_FOLD_H_
