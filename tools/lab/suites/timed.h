// tools/lab/suites/timed.h -- seconds of the processor.
#ifndef BERTH_TOOLS_LAB_SUITES_TIMED_H_
#define BERTH_TOOLS_LAB_SUITES_TIMED_H_

#include <ctime>
#include <vector>

namespace berth::lab {

// Adds the seconds that `work` takes, all threads together. Other work on the machine does not count.
template <typename Work>
auto Timed(std::vector<double>& seconds, Work work) {
  const std::clock_t begin = std::clock();
  auto result = work();
  seconds.push_back(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
  return result;
}

}  // namespace berth::lab

#endif  // BERTH_TOOLS_LAB_SUITES_TIMED_H_
