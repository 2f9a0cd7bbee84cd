#include "testing/live.h"

#include <algorithm>

namespace berth::internal {

std::optional<Window> LiveAt(const Buffer& buffer, Step step) {
  if (step < buffer.start || step >= buffer.end) return std::nullopt;
  for (const Gap& gap : buffer.gaps) {
    if (gap.start <= step && step < gap.end) return gap.window;
  }
  return Window{0, buffer.size};
}

std::vector<Step> Breakpoints(const Problem& problem) {
  std::vector<Step> breakpoints;
  for (const Buffer& buffer : problem.buffers) {
    breakpoints.insert(breakpoints.end(), {buffer.start, buffer.end});
    for (const Gap& gap : buffer.gaps) {
      breakpoints.insert(breakpoints.end(), {gap.start, gap.end});
    }
  }
  std::sort(breakpoints.begin(), breakpoints.end());
  breakpoints.erase(std::unique(breakpoints.begin(), breakpoints.end()), breakpoints.end());
  return breakpoints;
}

bool Share(const Buffer& a, Bytes offset_a, const Buffer& b, Bytes offset_b,
           const std::vector<Step>& breakpoints) {
  return std::any_of(breakpoints.begin(), breakpoints.end(), [&](Step step) {
    const std::optional<Window> live_a = LiveAt(a, step);
    const std::optional<Window> live_b = LiveAt(b, step);
    return live_a && live_b && offset_a + live_a->lower < offset_b + live_b->upper &&
           offset_b + live_b->lower < offset_a + live_a->upper;
  });
}

Bytes PeakLoad(const Problem& problem) {
  Bytes peak = 0;
  for (const Step step : Breakpoints(problem)) {
    Bytes load = 0;
    for (const Buffer& buffer : problem.buffers) {
      if (const auto live = LiveAt(buffer, step)) load += live->upper - live->lower;
    }
    peak = std::max(peak, load);
  }
  return peak;
}

}  // namespace berth::internal
