// base/parallel.h -- the same work on several threads.
#ifndef BERTH_BASE_PARALLEL_H_
#define BERTH_BASE_PARALLEL_H_

#include <algorithm>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "base/check.h"

namespace berth::internal {

// Calls `work` on the calling thread and on others, on `threads` in all but at most `tasks`, and
// returns when all have finished. `work` takes tasks until none are left, so the result is the same
// if the system grants fewer threads. What `work` throws on any of them (out of memory) is thrown
// here, once all have ended.
template <typename Work>
void RunOnThreads(int threads, std::size_t tasks, const Work& work) {
  std::vector<std::thread> helpers;
#ifdef __cpp_exceptions
  std::exception_ptr thrown;
  std::mutex mutex;  // Of `thrown`.
  const bool throws = failed_checks_throw;
  const auto attempt = [&] {
    const ThrowOnFailedCheck as_the_caller(throws);
    try {
      work();
    } catch (...) {
      const std::lock_guard<std::mutex> lock(mutex);
      thrown = std::current_exception();
    }
  };
#else
  const auto& attempt = work;
#endif
  const std::size_t wanted = std::min(static_cast<std::size_t>(std::max(threads, 1)), tasks);
  if (wanted > 1) helpers.reserve(wanted - 1);
  while (helpers.size() + 1 < wanted) {
#ifdef __cpp_exceptions
    try {
      helpers.emplace_back(attempt);
    } catch (...) {  // No more threads, or no memory for one.
      break;
    }
#else  // The system's refusal ends the process, as it does for any thread made there.
    helpers.emplace_back(attempt);
#endif
  }
  attempt();
  for (std::thread& helper : helpers) helper.join();
#ifdef __cpp_exceptions
  if (thrown) std::rethrow_exception(thrown);
#endif
}

}  // namespace berth::internal

#endif  // BERTH_BASE_PARALLEL_H_
