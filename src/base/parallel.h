// base/parallel.h -- the same work on several threads.
#ifndef BERTH_BASE_PARALLEL_H_
#define BERTH_BASE_PARALLEL_H_

#include <algorithm>
#include <cstddef>
#include <system_error>
#include <thread>
#include <vector>

namespace berth::internal {

// Calls `work` on the calling thread and on others, on `threads` in all but at most `tasks`, and
// returns when all have finished. `work` takes tasks until none are left, so the result is the same
// if the system grants fewer threads.
template <typename Work>
void RunOnThreads(int threads, std::size_t tasks, const Work& work) {
  std::vector<std::thread> helpers;
  const std::size_t wanted = std::min(static_cast<std::size_t>(std::max(threads, 1)), tasks);
  while (helpers.size() + 1 < wanted) {
#ifdef __cpp_exceptions
    try {
      helpers.emplace_back(work);
    } catch (const std::system_error&) {
      break;
    }
#else  // The system's refusal ends the process, as it does for any thread made there.
    helpers.emplace_back(work);
#endif
  }
  work();
  for (std::thread& helper : helpers) helper.join();
}

}  // namespace berth::internal

#endif  // BERTH_BASE_PARALLEL_H_
