// Reports a broken guarantee before a fuzzer stops.
#ifndef BERTH_TESTS_FUZZ_REQUIRE_H_
#define BERTH_TESTS_FUZZ_REQUIRE_H_

#include <cstdio>
#include <cstdlib>

namespace berth::internal {

// Aborts, which libFuzzer reports with the input, unless `condition` holds.
inline void Require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "broken: %s\n", what);
  std::abort();
}

}  // namespace berth::internal

#endif  // BERTH_TESTS_FUZZ_REQUIRE_H_
