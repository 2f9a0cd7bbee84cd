// tools/lab/train/model_file.h -- a forest as C++: model.cc and step_model.cc of src/baselines/telamalloc.
#ifndef BERTH_TOOLS_LAB_TRAIN_MODEL_FILE_H_
#define BERTH_TOOLS_LAB_TRAIN_MODEL_FILE_H_

#include <string>
#include <vector>

#include "baselines/telamalloc/forest.h"

namespace berth::internal {

// Which of the models that the library ships: what says it in the head, and the function that gives it.
enum class ModelKind { kBacktracking, kSteps };

// The source text. `provenance`: lines for the head of the file, without comment signs.
[[nodiscard]] std::string WriteModel(const Forest& forest,
                                     const std::vector<std::string>& provenance,
                                     ModelKind kind = ModelKind::kBacktracking);

}  // namespace berth::internal

#endif  // BERTH_TOOLS_LAB_TRAIN_MODEL_FILE_H_
