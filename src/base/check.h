// base/check.h -- broken invariants end the process, naming themselves.
//
// BERTH_CHECK guards what must hold whatever the caller passes; BERTH_DCHECK is for checks too
// costly for release builds. Neither is for input: bad input is a Result (berth/result.h).
#ifndef BERTH_BASE_CHECK_H_
#define BERTH_BASE_CHECK_H_

#include <cstdio>
#include <cstdlib>

namespace berth::internal {

[[noreturn]] inline void CheckFailed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: broken invariant: %s\n", file, line, condition);
  std::abort();
}

}  // namespace berth::internal

#define BERTH_CHECK(condition)                                        \
  do {                                                                \
    if (!(condition)) [[unlikely]] {                                  \
      ::berth::internal::CheckFailed(#condition, __FILE__, __LINE__); \
    }                                                                 \
  } while (false)

#ifdef NDEBUG
#define BERTH_DCHECK(condition) \
  do {                          \
    if (false) {                \
      (void)(condition);        \
    }                           \
  } while (false)
#else
#define BERTH_DCHECK(condition) BERTH_CHECK(condition)
#endif

#endif  // BERTH_BASE_CHECK_H_
