#include "tools/lab/bench/processor_time.h"

#include <chrono>
#include <ctime>

namespace berth::lab {

double ProcessorSeconds() {
  timespec now{};  // std::clock() has microseconds, the time of some steps is less.
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

ProcessorLimit::ProcessorLimit(Budget& budget, double seconds)
    : thread_([this, &budget, end = ProcessorSeconds() + seconds] { Watch(budget, end); }) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return started_; });
}

ProcessorLimit::~ProcessorLimit() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void ProcessorLimit::Watch(Budget& budget, double end) {
  std::unique_lock lock(mutex_);
  started_ = true;
  changed_.notify_all();
  while (!changed_.wait_for(lock, std::chrono::milliseconds(10), [this] { return over_; })) {
    if (ProcessorSeconds() < end) continue;
    budget.Cancel();
    return;
  }
}

}  // namespace berth::lab
