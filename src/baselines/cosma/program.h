// baselines/cosma/program.h -- COSMA's program for a part of a graph.
#ifndef BERTH_BASELINES_COSMA_PROGRAM_H_
#define BERTH_BASELINES_COSMA_PROGRAM_H_

#include <utility>
#include <vector>

#include "berth/cosma.h"

namespace berth::internal::spill {

// What a part has to fit in with.
struct CosmaBorder {
  // Where these tensors lie at the first step.
  std::vector<std::pair<TensorIndex, Bytes>> pins;
  Bytes unit = 0;  // Divides all sizes and offsets; 0: what divides the sizes here.
};

// As SolveCosma().
[[nodiscard]] Result<CosmaAnswer> SolveCosmaWithBorder(const Graph& graph,
                                                       const CosmaOptions& options,
                                                       const CosmaBorder& border, Budget& budget);

}  // namespace berth::internal::spill

#endif  // BERTH_BASELINES_COSMA_PROGRAM_H_
