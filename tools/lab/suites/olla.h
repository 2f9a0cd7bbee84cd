// tools/lab/suites/olla.h -- what the experiments of OLLA's paper share.
#ifndef BERTH_TOOLS_LAB_SUITES_OLLA_H_
#define BERTH_TOOLS_LAB_SUITES_OLLA_H_

#include <cstddef>
#include <string>
#include <vector>

#include "berth/problem.h"
#include "berth/result.h"
#include "berth/schedule.h"
#include "tools/lab/suites/inputs.h"
#include "tools/lab/suites/lab.h"

namespace berth::lab {

// No limit on the number of inputs.
inline constexpr std::size_t kAllInputs = 1'000'000;

// A graph with its order and what is live under it.
struct Ordered {
  const GraphInput* input = nullptr;
  Bytes program_peak = 0;
  PlanAnswer answer;
  double seconds = 0;  // Processor time, the median of all rounds.
};

// Finds the order of each, `rounds` times; each is verified. `counting` says what is in memory.
[[nodiscard]] Result<std::vector<Ordered>> OrderAll(const Lab& lab, const std::string& what,
                                                    const std::vector<GraphInput>& inputs,
                                                    int rounds, const Counting& counting = {});

// The experiment "ilp": OLLA's integer program against our search.
[[nodiscard]] Result<void> IntegerProgram(Lab& lab);

}  // namespace berth::lab

#endif  // BERTH_TOOLS_LAB_SUITES_OLLA_H_
