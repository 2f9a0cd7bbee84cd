#include "place/niche/kernels.h"

#include <cstring>
#include <limits>

namespace berth::internal {
namespace {

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

template <typename Level>
struct Vectors;
template <>
struct Vectors<std::int32_t> {
  using Type = std::int32_t __attribute__((vector_size(64)));
};
template <>
struct Vectors<std::int64_t> {
  using Type = std::int64_t __attribute__((vector_size(128)));
};
template <typename Level>
using Lanes = typename Vectors<Level>::Type;

#define BERTH_INLINE [[gnu::always_inline]] inline

template <typename Level>
BERTH_INLINE void Load(const Level* from, Lanes<Level>& lanes) {
  std::memcpy(&lanes, from, sizeof lanes);
}

template <typename Level>
BERTH_INLINE void Store(const Lanes<Level>& lanes, Level* to) {
  std::memcpy(to, &lanes, sizeof lanes);
}

template <typename V>
BERTH_INLINE bool Any(const V& mask) {
  using Quarter = std::int64_t __attribute__((vector_size(16)));
  constexpr std::size_t kQuarters = sizeof(V) / sizeof(Quarter);
  Quarter quarters[kQuarters];
  std::memcpy(quarters, &mask, sizeof mask);
  Quarter all = quarters[0];
  for (std::size_t k = 1; k < kQuarters; ++k) all |= quarters[k];
  return (all[0] | all[1]) != 0;
}

template <typename Level>
BERTH_INLINE RaiseResult<Level> Raise(const RaiseArgs<Level>& args) {
  using V = Lanes<Level>;
  RaiseResult<Level> result{0, std::numeric_limits<Level>::max(), 0, -1};
  V least_first = V{} + std::numeric_limits<Level>::max();
  V greatest_last = V{};
  for (std::int32_t k = args.begin; k < args.end; k += kBlock) {
    V value;
    V first;
    V last;
    Load(args.value + k, value);
    Load(args.first + k, first);
    Load(args.last + k, last);
    const V hit = (first < args.to) & (last > args.from) & (value < args.level);
    if (!Any(hit)) continue;
    V highest;
    Load(args.highest + k, highest);
    args.saved_block[result.blocks] = k;
    Store(value, args.saved_value + std::ptrdiff_t{result.blocks} * kBlock);
    ++result.blocks;
    value = hit ? V{} + args.level : value;
    Store(value, args.value + k);
    least_first = (hit & (first < least_first)) ? first : least_first;
    greatest_last = (hit & (last > greatest_last)) ? last : greatest_last;
    if (Any(hit & (value > highest)) && result.too_high < 0) result.too_high = k;
  }
  for (std::int32_t k = 0; k < kBlock; ++k) {
    if (least_first[k] < result.first) result.first = least_first[k];
    if (greatest_last[k] > result.last) result.last = greatest_last[k];
  }
  return result;
}

template <typename Level>
BERTH_INLINE LeastResult<Level> Least(const Level* value, const Level* first, const Level* last,
                                      std::int32_t begin, std::int32_t end, Level section) {
  using V = Lanes<Level>;
  V least = V{} + std::numeric_limits<Level>::max();
  V where = V{};
  for (std::int32_t k = begin; k < end; k += kBlock) {
    V values;
    V firsts;
    V lasts;
    Load(value + k, values);
    Load(first + k, firsts);
    Load(last + k, lasts);
    const V hit = (firsts <= section) & (lasts > section) & (values < least);
    least = hit ? values : least;
    where = hit ? V{} + static_cast<Level>(k) : where;
  }
  LeastResult<Level> result{std::numeric_limits<Level>::max(), 0};
  for (std::int32_t k = 0; k < kBlock; ++k) {
    const std::int32_t lane = static_cast<std::int32_t>(where[k]) + k;
    if (least[k] < result.value || (least[k] == result.value && lane < result.lane)) {
      result = {least[k], lane};
    }
  }
  return result;
}

// The same loops for one instruction set.
#define BERTH_KERNELS(NAME, TARGET)                                                              \
  template <typename Level>                                                                      \
  TARGET RaiseResult<Level> Raise##NAME(const RaiseArgs<Level>& args) {                          \
    return Raise(args);                                                                          \
  }                                                                                              \
  template <typename Level>                                                                      \
  TARGET LeastResult<Level> Least##NAME(const Level* value, const Level* first,                  \
                                        const Level* last, std::int32_t begin, std::int32_t end, \
                                        Level section) {                                         \
    return Least(value, first, last, begin, end, section);                                       \
  }                                                                                              \
  template <typename Level>                                                                      \
  constexpr Kernels<Level> k##NAME = {Raise##NAME<Level>, Least##NAME<Level>};

BERTH_KERNELS(Portable, )
#if defined(__x86_64__)
BERTH_KERNELS(Avx2, [[gnu::target("avx2")]])
BERTH_KERNELS(Avx512, [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl")]])
#endif

}  // namespace

template <typename Level>
const Kernels<Level>& ChooseKernels([[maybe_unused]] bool vectors) {
#if defined(__x86_64__)
  if (vectors && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    return kAvx512<Level>;
  }
  if (vectors && __builtin_cpu_supports("avx2")) return kAvx2<Level>;
#endif
  return kPortable<Level>;
}

template const Kernels<std::int32_t>& ChooseKernels(bool vectors);
template const Kernels<std::int64_t>& ChooseKernels(bool vectors);

}  // namespace berth::internal
