// berth/report.h -- a plan as a picture.
#ifndef BERTH_REPORT_H_
#define BERTH_REPORT_H_

#include <string>

#include "berth/place.h"
#include "berth/problem.h"

namespace [[gnu::visibility("default")]] berth {

struct SvgOptions {
  int width = 1200;  // Pixels; at least 200.
  int height = 700;  // Pixels; at least 150.
  std::string title = {};
};

// Draws time to the right and addresses upwards: each buffer's live bytes, the capacity, the lower
// bound, the height and the live load. One self-contained SVG file, ids escaped, the same bytes for
// the same arguments. `placement` must be valid for `problem`.
[[nodiscard]] std::string WriteSvg(const Problem& problem, const Placement& placement,
                                   Bytes lower_bound, const SvgOptions& options = {});

}  // namespace berth

#endif  // BERTH_REPORT_H_
