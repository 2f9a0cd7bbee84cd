// tools/lab/suites/minimalloc.h -- experiments of MiniMalloc's paper with files of their own.
#ifndef BERTH_TOOLS_LAB_SUITES_MINIMALLOC_H_
#define BERTH_TOOLS_LAB_SUITES_MINIMALLOC_H_

#include "berth/result.h"
#include "tools/lab/suites/lab.h"

namespace berth::lab {

// The experiment "strips": strip packing with fixed x.
[[nodiscard]] Result<void> StripPacking(Lab& lab);

}  // namespace berth::lab

#endif  // BERTH_TOOLS_LAB_SUITES_MINIMALLOC_H_
