// tools/lab/suites/telamalloc.h -- experiments of TelaMalloc's paper with files of their own.
#ifndef BERTH_TOOLS_LAB_SUITES_TELAMALLOC_H_
#define BERTH_TOOLS_LAB_SUITES_TELAMALLOC_H_

#include "berth/result.h"
#include "tools/lab/suites/lab.h"

namespace berth::lab {

// The experiment "figure3": how high the memory in use reaches, over time.
[[nodiscard]] Result<void> LiveMemory(Lab& lab);
// The experiment "steps": a model that is asked at every step.
[[nodiscard]] Result<void> StepModels(Lab& lab);
// The experiment "sensitivity": what a byte more or less of memory changes.
[[nodiscard]] Result<void> Sensitivity(Lab& lab);

}  // namespace berth::lab

#endif  // BERTH_TOOLS_LAB_SUITES_TELAMALLOC_H_
