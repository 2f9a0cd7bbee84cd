#include "place/niche/kernels.h"

#include <array>
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

// As many lanes as one register holds. Wider vectors would be taken apart into single numbers by g++ 12,
// and so would comparisons of 64 bytes.
template <typename Level, std::size_t kBytes>
struct VectorOf;
template <>
struct VectorOf<std::int32_t, 16> {
  using Type = std::int32_t __attribute__((vector_size(16)));
};
template <>
struct VectorOf<std::int32_t, 32> {
  using Type = std::int32_t __attribute__((vector_size(32)));
};
template <>
struct VectorOf<std::int64_t, 16> {
  using Type = std::int64_t __attribute__((vector_size(16)));
};
template <>
struct VectorOf<std::int64_t, 32> {
  using Type = std::int64_t __attribute__((vector_size(32)));
};

// The loops, on vectors of kBytes.
template <typename Level, std::size_t kBytes>
struct Loops {
  using V = typename VectorOf<Level, kBytes>::Type;
  static constexpr std::int32_t kLanes = static_cast<std::int32_t>(kBytes / sizeof(Level));
  static constexpr std::size_t kVectors = kBlock / kLanes;  // In a block.
  static_assert(kBlock % kLanes == 0);

#define BERTH_INLINE [[gnu::always_inline]] static inline

  BERTH_INLINE void Load(const Level* from, V& vector) {
    std::memcpy(&vector, from, sizeof vector);
  }
  BERTH_INLINE void Store(const V& vector, Level* to) { std::memcpy(to, &vector, sizeof vector); }

  BERTH_INLINE bool Any(const V& mask) {
    using Part = std::int64_t __attribute__((vector_size(16)));
    std::array<Part, kBytes / sizeof(Part)> parts;
    std::memcpy(parts.data(), &mask, sizeof mask);
    Part all = parts[0];
    for (std::size_t k = 1; k < parts.size(); ++k) all |= parts[k];
    return (all[0] | all[1]) != 0;
  }

  BERTH_INLINE RaiseResult<Level> Raise(const RaiseArguments<Level>& arguments) {
    RaiseResult<Level> result{0, std::numeric_limits<Level>::max(), 0, -1};
    const V none{};
    const V from = none + arguments.from;
    const V to = none + arguments.to;
    const V level = none + arguments.level;
    V least_first = none + std::numeric_limits<Level>::max();
    V greatest_last = none;
    for (std::int32_t block = arguments.begin; block < arguments.end; block += kBlock) {
      std::array<V, kVectors> lowest;
      std::array<V, kVectors> first;
      std::array<V, kVectors> last;
      std::array<V, kVectors> rises;
      V any = none;
      for (std::size_t v = 0; v < kVectors; ++v) {
        const std::ptrdiff_t k = block + static_cast<std::ptrdiff_t>(v) * kLanes;
        Load(arguments.lowest + k, lowest[v]);
        Load(arguments.first + k, first[v]);
        Load(arguments.last + k, last[v]);
        rises[v] = (first[v] < to) & (last[v] > from) & (lowest[v] < level);
        any |= rises[v];
      }
      if (!Any(any)) continue;
      Level* const saved = arguments.saved_lowest + std::ptrdiff_t{result.saved} * kBlock;
      arguments.saved_block[result.saved++] = block;
      V above = none;
      for (std::size_t v = 0; v < kVectors; ++v) {
        const std::ptrdiff_t in_block = static_cast<std::ptrdiff_t>(v) * kLanes;
        Store(lowest[v], saved + in_block);
        Store(rises[v] ? level : lowest[v], arguments.lowest + block + in_block);
        const V earlier = rises[v] & (first[v] < least_first);
        least_first = earlier ? first[v] : least_first;
        const V later = rises[v] & (last[v] > greatest_last);
        greatest_last = later ? last[v] : greatest_last;
        V highest;
        Load(arguments.highest + block + in_block, highest);
        above |= rises[v] & (level > highest);
      }
      if (result.too_high < 0 && Any(above)) result.too_high = block;
    }
    if (result.saved == 0) return result;
    for (std::int32_t k = 0; k < kLanes; ++k) {
      if (least_first[k] < result.first) result.first = least_first[k];
      if (greatest_last[k] > result.last) result.last = greatest_last[k];
    }
    return result;
  }

  BERTH_INLINE LowestResult<Level> FindLowest(const LowestArguments<Level>& arguments) {
    const V none{};
    const V section = none + arguments.section;
    V lowest = none + std::numeric_limits<Level>::max();
    V where = none;  // The block and vector that lowest is from.
    for (std::int32_t k = arguments.begin; k < arguments.end; k += kLanes) {
      V here;
      V first;
      V last;
      Load(arguments.lowest + k, here);
      Load(arguments.first + k, first);
      Load(arguments.last + k, last);
      const V lower = (here < lowest) & (first <= section) & (last > section);
      lowest = lower ? here : lowest;
      where = lower ? none + Level{k} : where;
    }
    LowestResult<Level> result{lowest[0], static_cast<std::int32_t>(where[0])};
    for (std::int32_t k = 1; k < kLanes; ++k) {
      if (lowest[k] < result.lowest) {
        result = {lowest[k], static_cast<std::int32_t>(where[k]) + k};
      }
    }
    return result;
  }

#undef BERTH_INLINE
};

template <typename Level>
RaiseResult<Level> RaiseAnywhere(const RaiseArguments<Level>& arguments) {
  return Loops<Level, 16>::Raise(arguments);
}
template <typename Level>
LowestResult<Level> FindLowestAnywhere(const LowestArguments<Level>& arguments) {
  return Loops<Level, 16>::FindLowest(arguments);
}

#if defined(__x86_64__) && !defined(__OPTIMIZE_SIZE__)
template <typename Level>
[[gnu::target("avx2")]] RaiseResult<Level> RaiseAvx2(const RaiseArguments<Level>& arguments) {
  return Loops<Level, 32>::Raise(arguments);
}
template <typename Level>
[[gnu::target("avx2")]] LowestResult<Level> FindLowestAvx2(
    const LowestArguments<Level>& arguments) {
  return Loops<Level, 32>::FindLowest(arguments);
}
#endif

}  // namespace

template <typename Level>
Kernels<Level> ChooseKernels([[maybe_unused]] bool vectors) {
#if defined(__x86_64__) && !defined(__OPTIMIZE_SIZE__)
  if (vectors && __builtin_cpu_supports("avx2")) return {RaiseAvx2<Level>, FindLowestAvx2<Level>};
#endif
  return {RaiseAnywhere<Level>, FindLowestAnywhere<Level>};
}

template Kernels<std::int32_t> ChooseKernels(bool vectors);
template Kernels<std::int64_t> ChooseKernels(bool vectors);

}  // namespace berth::internal::niche
