// tools/lab/bench/processor_time.h -- the processor time of this process, and limits in it.
#ifndef BERTH_TOOLS_LAB_BENCH_PROCESSOR_TIME_H_
#define BERTH_TOOLS_LAB_BENCH_PROCESSOR_TIME_H_

#include <condition_variable>
#include <mutex>
#include <thread>

#include "berth/budget.h"

namespace berth::lab {

// Of all threads of this process, so far.
[[nodiscard]] double ProcessorSeconds();

// Cancels `budget` after a number of seconds of processor time of this process: on a busy machine,
// a limit in wall-clock time would mean a different amount of work each time. It looks every 10 ms.
class ProcessorLimit {
 public:
  // `budget` must outlive this. What it takes to start is spent before this returns, so that it is not in the
  // time of what is measured next.
  ProcessorLimit(Budget& budget, double seconds);
  ~ProcessorLimit();
  ProcessorLimit(const ProcessorLimit&) = delete;
  ProcessorLimit& operator=(const ProcessorLimit&) = delete;

 private:
  void Watch(Budget& budget, double end);

  std::mutex mutex_;
  std::condition_variable changed_;
  bool started_ = false;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace berth::lab

#endif  // BERTH_TOOLS_LAB_BENCH_PROCESSOR_TIME_H_
