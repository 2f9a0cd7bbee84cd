// base/avx2.h -- kernels that are compiled twice: for any processor, and for those with AVX2.
//
// BERTH_AVX2, where it is defined, is the attribute of the second kind. Builds for size and for other
// processors have the first alone.
#ifndef BERTH_BASE_AVX2_H_
#define BERTH_BASE_AVX2_H_

#if defined(__x86_64__) && !defined(__OPTIMIZE_SIZE__)
#define BERTH_AVX2 [[gnu::target("avx2")]]

namespace berth::internal {

// Whether this processor runs the second kind.
[[nodiscard]] inline bool HasAvx2() { return __builtin_cpu_supports("avx2") != 0; }

}  // namespace berth::internal
#endif

#endif  // BERTH_BASE_AVX2_H_
