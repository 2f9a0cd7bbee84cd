// tools/berth/suites/olla.h -- what the experiments of OLLA's paper share.
#ifndef BERTH_TOOLS_BERTH_SUITES_OLLA_H_
#define BERTH_TOOLS_BERTH_SUITES_OLLA_H_

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "berth/budget.h"
#include "berth/problem.h"
#include "berth/result.h"
#include "berth/schedule.h"
#include "tools/berth/suites/inputs.h"
#include "tools/berth/suites/lab.h"

namespace berth::internal {

// Of inputs: as many as there are.
inline constexpr std::size_t kAllInputs = 1'000'000;

// Of this process, so far.
[[nodiscard]] double ProcessorSeconds();

// Cancels `budget` after so many seconds of processor time of this process: on a machine that does
// other things at once, a limit in wall-clock time would be another one each time.
class ProcessorLimit {
 public:
  // `budget` must outlive this.
  ProcessorLimit(Budget& budget, double seconds);
  ~ProcessorLimit();
  ProcessorLimit(const ProcessorLimit&) = delete;
  ProcessorLimit& operator=(const ProcessorLimit&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable ended_;
  bool over_ = false;
  std::thread thread_;
};

// A graph with its order and what is live under it.
struct Ordered {
  const GraphInput* input = nullptr;
  Bytes program_peak = 0;
  PlanAnswer answer;
  double seconds = 0;  // Processor time, the median of all rounds.
};

// Finds the order of each, `rounds` times; each is verified.
[[nodiscard]] Result<std::vector<Ordered>> OrderAll(const Lab& lab, const std::string& what,
                                                    const std::vector<GraphInput>& inputs,
                                                    int rounds);

// The experiment "ilp": OLLA's integer program against our search.
[[nodiscard]] Result<void> IntegerProgram(Lab& lab);

}  // namespace berth::internal

#endif  // BERTH_TOOLS_BERTH_SUITES_OLLA_H_
