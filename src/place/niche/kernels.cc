#include "place/niche/kernels.h"

#include <cstddef>
#include <cstring>
#include <limits>

namespace berth::internal::niche {
namespace {

// Vectors wider than the machine's are passed in memory, never between functions that are not
// inlined: their ABI does not matter.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

// A block of lanes.
template <typename Level>
struct BlockOf;
template <>
struct BlockOf<std::int32_t> {
  using Type = std::int32_t __attribute__((vector_size(kBlock * sizeof(std::int32_t))));
};
template <>
struct BlockOf<std::int64_t> {
  using Type = std::int64_t __attribute__((vector_size(kBlock * sizeof(std::int64_t))));
};
template <typename Level>
using Block = typename BlockOf<Level>::Type;

#define BERTH_INLINE [[gnu::always_inline]] inline

template <typename Level>
BERTH_INLINE void Load(const Level* from, Block<Level>& block) {
  std::memcpy(&block, from, sizeof block);
}

template <typename Level>
BERTH_INLINE void Store(const Block<Level>& block, Level* to) {
  std::memcpy(to, &block, sizeof block);
}

template <typename V>
BERTH_INLINE bool Any(const V& mask) {
  using Part = std::int64_t __attribute__((vector_size(16)));
  constexpr std::size_t kParts = sizeof(V) / sizeof(Part);
  Part parts[kParts];
  std::memcpy(parts, &mask, sizeof mask);
  Part all = parts[0];
  for (std::size_t k = 1; k < kParts; ++k) all |= parts[k];
  return (all[0] | all[1]) != 0;
}

template <typename Level>
BERTH_INLINE RaiseResult<Level> Raise(const RaiseArguments<Level>& arguments) {
  using V = Block<Level>;
  RaiseResult<Level> result{0, std::numeric_limits<Level>::max(), 0, -1};
  V least_first = V{} + std::numeric_limits<Level>::max();
  V greatest_last = V{};
  for (std::int32_t k = arguments.begin; k < arguments.end; k += kBlock) {
    V lowest;
    V first;
    V last;
    Load(arguments.lowest + k, lowest);
    Load(arguments.first + k, first);
    Load(arguments.last + k, last);
    const V rises = (first < arguments.to) & (last > arguments.from) & (lowest < arguments.level);
    if (!Any(rises)) continue;
    arguments.saved_block[result.saved] = k;
    Store(lowest, arguments.saved_lowest + std::ptrdiff_t{result.saved} * kBlock);
    ++result.saved;
    lowest = rises ? V{} + arguments.level : lowest;
    Store(lowest, arguments.lowest + k);
    least_first = (rises & (first < least_first)) ? first : least_first;
    greatest_last = (rises & (last > greatest_last)) ? last : greatest_last;
    V highest;
    Load(arguments.highest + k, highest);
    if (result.too_high < 0 && Any(rises & (lowest > highest))) result.too_high = k;
  }
  if (result.saved == 0) return result;
  for (std::int32_t k = 0; k < kBlock; ++k) {
    if (least_first[k] < result.first) result.first = least_first[k];
    if (greatest_last[k] > result.last) result.last = greatest_last[k];
  }
  return result;
}

template <typename Level>
RaiseResult<Level> RaiseAnywhere(const RaiseArguments<Level>& arguments) {
  return Raise(arguments);
}

#if defined(__x86_64__) && !defined(__OPTIMIZE_SIZE__)
template <typename Level>
[[gnu::target("avx2")]] RaiseResult<Level> RaiseAvx2(const RaiseArguments<Level>& arguments) {
  return Raise(arguments);
}

template <typename Level>
[[gnu::target("avx512f,avx512bw,avx512dq,avx512vl")]] RaiseResult<Level> RaiseAvx512(
    const RaiseArguments<Level>& arguments) {
  return Raise(arguments);
}
#endif

}  // namespace

template <typename Level>
RaiseKernel<Level> ChooseRaiseKernel([[maybe_unused]] bool vectors) {
#if defined(__x86_64__) && !defined(__OPTIMIZE_SIZE__)
  if (vectors && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    return RaiseAvx512<Level>;
  }
  if (vectors && __builtin_cpu_supports("avx2")) return RaiseAvx2<Level>;
#endif
  return RaiseAnywhere<Level>;
}

template RaiseKernel<std::int32_t> ChooseRaiseKernel(bool vectors);
template RaiseKernel<std::int64_t> ChooseRaiseKernel(bool vectors);

}  // namespace berth::internal::niche
