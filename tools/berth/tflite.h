// tools/berth/tflite.h -- TensorFlow Lite models that go out again: in another order, with the plan
// inside, or as a C header.
#ifndef BERTH_TOOLS_BERTH_TFLITE_H_
#define BERTH_TOOLS_BERTH_TFLITE_H_

#include <string>

#include "berth/answer.h"
#include "berth/graph.h"
#include "berth/result.h"
#include "berth/tflite.h"
#include "tools/berth/model.h"

namespace berth::cli {

// Whether plans of `model`, read as `arguments` say, can be written for TensorFlow Lite Micro.
// `flag` is what asks for it. Error: kInvalidOptions.
[[nodiscard]] Result<void> CheckCanBeTflite(const Model& model, const ModelArguments& arguments,
                                            const std::string& flag);

// The model with `plan` inside, which the independent verifier has accepted as it would be read from
// the file; the process ends if it does not. Errors: those of WriteTflite().
[[nodiscard]] Result<std::string> PlannedTflite(const Model& model, const MemoryPlan& plan);

// A C header of the same plan. `path` is where it is written: its name begins the identifiers.
[[nodiscard]] Result<std::string> TflmHeader(const Model& model, const MemoryPlan& plan,
                                             const std::string& path);

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_TFLITE_H_
