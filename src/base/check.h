// base/check.h -- broken invariants end the process, naming themselves.
//
// BERTH_CHECK guards what must hold whatever the caller passes; BERTH_DCHECK is for checks too
// costly for release builds. Neither is for input: bad input is a Result (berth/result.h).
//
// Callers in other languages must not lose their process: while a ThrowOnFailedCheck lives, a
// broken invariant on its thread is an exception, which the C interface turns into a status.
#ifndef BERTH_BASE_CHECK_H_
#define BERTH_BASE_CHECK_H_

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace berth::internal {

struct BrokenInvariant : std::logic_error {
  using std::logic_error::logic_error;
};

inline thread_local bool failed_checks_throw = false;

class ThrowOnFailedCheck {
 public:
  // `enabled`: what failed_checks_throw is on the thread that asked for this one.
  explicit ThrowOnFailedCheck(bool enabled = true) : before_(failed_checks_throw) {
    failed_checks_throw = enabled;
  }
  ~ThrowOnFailedCheck() { failed_checks_throw = before_; }
  ThrowOnFailedCheck(const ThrowOnFailedCheck&) = delete;
  ThrowOnFailedCheck& operator=(const ThrowOnFailedCheck&) = delete;

 private:
  const bool before_;
};

[[noreturn]] inline void CheckFailed(const char* condition, const char* file, int line) {
#ifdef __cpp_exceptions
  if (failed_checks_throw) {
    throw BrokenInvariant(std::string(file) + ":" + std::to_string(line) +
                          ": broken invariant: " + condition);
  }
#endif
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
