// A lock for a few instructions, and what tells threads apart, without a library. C11.
#ifndef BERTH_RUNTIME_LOCK_H_
#define BERTH_RUNTIME_LOCK_H_

#include <stdatomic.h>

static inline void Lock(atomic_flag* flag) {
  while (atomic_flag_test_and_set_explicit(flag, memory_order_acquire)) {
  }
}
// By its address.
static _Thread_local char here;

static inline void Unlock(atomic_flag* flag) {
  atomic_flag_clear_explicit(flag, memory_order_release);
}

#endif  // BERTH_RUNTIME_LOCK_H_
