// tools/generate/cells.h -- two networks that a search has found, built from their published cells.
//
// NASNet-A (Zoph et al., "Learning Transferable Architectures for Scalable Image Recognition", CVPR 2018)
// and AmoebaNet-D (Real et al., "Regularized Evolution for Image Classifier Architecture Search", AAAI
// 2019) repeat two cells of five blocks each. A block adds up what two operations make of two of the
// cell's states: its input, the input of the cell before, and earlier blocks. Cells of the one kind halve
// the resolution, those of the other keep it.
//
// The graphs are for inference, with batch normalisation folded into the convolutions, as exporters
// leave it: a ReLU, a convolution, a pooling, a sum and a concatenation are an operator each, and so are the
// two convolutions of a separable one. What is dropped in training, and the auxiliary head, are left out.
//
// What surrounds the cells is that of TensorFlow's model garden for NASNet-A, and for AmoebaNet-D that of
// torchgpipe (Kim et al., 2020), which differs from the authors' a little: its stem is wider.
#ifndef BERTH_TOOLS_GENERATE_CELLS_H_
#define BERTH_TOOLS_GENERATE_CELLS_H_

#include <cstdint>

#include "berth/graph.h"

namespace berth::internal {

struct CellNetworkSize {
  std::int64_t cells;       // That keep the resolution; a multiple of 3, at least 3.
  std::int64_t filters;     // A multiple of 8 for NASNet-A, of 16 for AmoebaNet-D; at most 4096.
  std::int64_t resolution;  // Of the square image with three channels, 128 to 1024 a side.
};

// Configurations for ImageNet: NASNet-A (6 @ 4032), with six cells of each resolution and 4032 channels at
// its end, and AmoebaNet-D (18, 256) in the notation of GPipe (Huang et al., NeurIPS 2019).
inline constexpr CellNetworkSize kNasnetALarge = {18, 168, 331};
inline constexpr CellNetworkSize kAmoebanetD = {18, 256, 224};

// Valid graphs of 1,000 classes; an element of a tensor takes `element_bytes`, at least 1. Weights and biases
// are parameters. `size` must be as above. Cost: linear.
[[nodiscard]] Graph MakeNasnetA(const CellNetworkSize& size, Bytes element_bytes);
[[nodiscard]] Graph MakeAmoebanetD(const CellNetworkSize& size, Bytes element_bytes);

}  // namespace berth::internal

#endif  // BERTH_TOOLS_GENERATE_CELLS_H_
