// baselines/task.h -- what one baseline is given, and what it says besides what it has found.
#ifndef BERTH_BASELINES_TASK_H_
#define BERTH_BASELINES_TASK_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "baselines/telamalloc/options.h"
#include "berth/baselines.h"
#include "berth/budget.h"
#include "berth/problem.h"
#include "place/incumbent.h"

namespace berth::internal {

// BaselineOptions::settings, parsed.
struct Settings {
  TelaMallocOptions telamalloc;
  bool cp_restarts = true;  // kCp: after Luby's sequence, keeping nogoods.
  std::string ilp_solver = "any";
};

struct Task {
  const Problem& problem;  // Valid, without colliding pins.
  Baseline baseline;
  std::string_view name;  // Of the baseline.
  bool minimize;          // Always where there is no capacity.
  std::uint64_t seed;
  const Settings& settings;
  Incumbent& incumbent;  // At first without a plan; the bound is the largest load.
  Budget& budget;        // Not cancelled.

  // There is a plan as low as asked for, or there cannot be one.
  [[nodiscard]] bool answered() const {
    if (problem.capacity && incumbent.lower_bound() > *problem.capacity) return true;
    return minimize ? incumbent.is_optimal() : incumbent.height() <= *problem.capacity;
  }
};

struct Ending {
  // Why it stopped without an answer. Nothing: the budget ended, or it has done all it can.
  std::optional<StopReason> stopped = {};
  SearchStats stats = {};
};

}  // namespace berth::internal

#endif  // BERTH_BASELINES_TASK_H_
