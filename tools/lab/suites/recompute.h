// tools/lab/suites/recompute.h -- what the experiments with operators that run again share.
#ifndef BERTH_TOOLS_LAB_SUITES_RECOMPUTE_H_
#define BERTH_TOOLS_LAB_SUITES_RECOMPUTE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "berth/answer.h"
#include "berth/graph.h"
#include "berth/recompute_baselines.h"
#include "berth/result.h"
#include "berth/spill.h"
#include "tools/lab/suites/lab.h"
#include "tools/lab/suites/sheet.h"

namespace berth::lab {

// Sixteen bytes of memory in a nanosecond, and a part of it over the link.
inline constexpr Bytes kMemoryBytesPerSecond = 16'000'000'000;
[[nodiscard]] constexpr Link LinkOf(int part) {
  return {kMemoryBytesPerSecond / part, kMemoryBytesPerSecond / part, 0};
}
// Operators cost the time of the bytes that they read and write, or, where they have costs, these as bytes.
void PriceByBytes(Graph& graph);

[[nodiscard]] inline bool HasPlan(const PlanAnswer& answer) { return answer.fits() && answer.best; }

// What a program says of one question, and what Berth does.
struct Duel {
  std::optional<std::int64_t> program;  // The cost of its plan,
  bool closed = false;                  // which it proves the least that it can express.
  std::int64_t variables = 0;
  double program_seconds = 0;
  PlanAnswer own;
};
// What the program says; `own` is left out.
[[nodiscard]] Duel DuelOf(const RecomputeBaselineAnswer& answer, double seconds);
// A program that costs less than a bound, or than an optimum, is a fault.
void Judge(Lab& lab, const std::string& where, const Duel& duel);
// The same cost, or that nothing fits.
[[nodiscard]] bool SaysTheSame(const Duel& duel);
// The program's; "> 10 s" where it is not closed.
[[nodiscard]] Cell TimeCell(const Duel& duel);

// The experiment "programs": the integer programs against the search.
[[nodiscard]] Result<void> RecomputePrograms(Lab& lab);

}  // namespace berth::lab

#endif  // BERTH_TOOLS_LAB_SUITES_RECOMPUTE_H_
