// tools/lab/train/model_file.h -- a forest as C++: src/baselines/telamalloc/model.cc.
#ifndef BERTH_TOOLS_LAB_TRAIN_MODEL_FILE_H_
#define BERTH_TOOLS_LAB_TRAIN_MODEL_FILE_H_

#include <string>
#include <vector>

#include "baselines/telamalloc/forest.h"

namespace berth::internal {

// The source text. `provenance`: lines for the head of the file, without comment signs.
[[nodiscard]] std::string WriteModel(const Forest& forest,
                                     const std::vector<std::string>& provenance);

}  // namespace berth::internal

#endif  // BERTH_TOOLS_LAB_TRAIN_MODEL_FILE_H_
