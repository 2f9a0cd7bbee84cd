// base/within_memory.h -- searches that end when memory runs out, and keep what they have found.
#ifndef BERTH_BASE_WITHIN_MEMORY_H_
#define BERTH_BASE_WITHIN_MEMORY_H_

#include <new>

namespace berth::internal {

// Runs `search`. False: no more memory could be had, by a limit of the process or of the machine. What the
// search had taken is free again, so there is room to go on with what it has handed over by then.
template <typename Search>
[[nodiscard]] bool WithinMemory(Search search) {
  try {
    search();
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

}  // namespace berth::internal

#endif  // BERTH_BASE_WITHIN_MEMORY_H_
