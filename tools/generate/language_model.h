// tools/generate/language_model.h -- the training step of a language model; see graphs.h.
#ifndef BERTH_TOOLS_GENERATE_LANGUAGE_MODEL_H_
#define BERTH_TOOLS_GENERATE_LANGUAGE_MODEL_H_

#include "berth/graph.h"
#include "tools/generate/graphs.h"

namespace berth::internal {

// As many whole blocks as come closest to the number of operators, at least one. The seed draws the
// length of the sequence, the size of the vocabulary and the widths of the layers.
[[nodiscard]] Graph LanguageModel(const GraphParameters& parameters);

// Operators of each block with this many heads, updates included.
[[nodiscard]] std::int64_t OperatorsOfBlock(std::int64_t heads);

}  // namespace berth::internal

#endif  // BERTH_TOOLS_GENERATE_LANGUAGE_MODEL_H_
