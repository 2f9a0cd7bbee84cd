#include "place/niche/kernels.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <limits>

#include "base/avx2.h"
#include "base/numbers.h"

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

  // A vector at the address of any Level. (g++ 12 copies by memcpy() through halves of 16 bytes on the stack, and a
  // whole vector read after two halves were written makes many machines wait.)
  using AnyV [[gnu::aligned(alignof(Level)), gnu::may_alias]] = V;
  static_assert(alignof(AnyV) == alignof(Level));

  BERTH_INLINE void Load(const Level* from, V& vector) {
    vector = *reinterpret_cast<const AnyV*>(from);
  }
  BERTH_INLINE void Store(const V& vector, Level* to) { *reinterpret_cast<AnyV*>(to) = vector; }

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

  BERTH_INLINE LowestResult<Level> FindLowest(const LowestArguments<Level>& arguments,
                                              Level level) {
    const V none{};
    const V section = none + arguments.section;
    const V enough = none + level;
    V lowest = none + std::numeric_limits<Level>::max();
    V where = none;  // The block and vector that lowest is from.
    // Of the lanes live in the section most start close to it.
    for (std::int32_t block = arguments.end; block > arguments.begin;) {
      block -= kBlock;
      for (std::int32_t k = block; k < block + kBlock; k += kLanes) {
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
      if (Any(lowest <= enough)) break;
    }
    return Lowest(lowest, where);
  }

  // The least element of `lowest`, and its number after that of its vector in `where`.
  BERTH_INLINE LowestResult<Level> Lowest(const V& lowest, const V& where) {
    using Half = typename VectorOf<Level, 16>::Type;
    constexpr std::size_t kHalves = kBytes / sizeof(Half);
    constexpr std::int32_t kInHalf = kLanes / static_cast<std::int32_t>(kHalves);
    std::array<Half, kHalves> levels;
    std::array<Half, kHalves> lanes;
    std::memcpy(levels.data(), &lowest, sizeof lowest);
    std::memcpy(lanes.data(), &where, sizeof where);
    for (std::size_t h = 1; h < kHalves; ++h) {
      const Half lower = levels[h] < levels[0];
      levels[0] = lower ? levels[h] : levels[0];
      lanes[0] = lower ? lanes[h] + static_cast<Level>(h) * kInHalf : lanes[0];
    }
    LowestResult<Level> result{levels[0][0], static_cast<std::int32_t>(lanes[0][0])};
    for (std::int32_t k = 1; k < kInHalf; ++k) {
      const bool lower = levels[0][k] < result.lowest;
      result.lowest = lower ? levels[0][k] : result.lowest;
      result.lane = lower ? static_cast<std::int32_t>(lanes[0][k]) + k : result.lane;
    }
    return result;
  }

  // The loops below are plain ones: the compiler makes vectors of them.
  BERTH_INLINE Level Least(const Level* levels, std::size_t count) {
    Level least = levels[0];
    for (std::size_t k = 1; k < count; ++k) least = levels[k] < least ? levels[k] : least;
    return least;
  }

  BERTH_INLINE void FindHigh(const Level* levels, std::size_t count, Level level, Word* bits) {
    constexpr std::size_t kHalf = 32;  // What vectors of 32 bits put together at once.
    for (std::size_t begin = 0; begin < count; begin += kWordBits, ++bits) {
      Word word = 0;
      for (std::size_t half = 0; half < 2; ++half) {
        const std::size_t from = std::min(count, begin + half * kHalf);
        const std::size_t n = std::min(count - from, kHalf);
        std::uint32_t part = 0;
        if (n == kHalf) {
          for (std::size_t k = 0; k < kHalf; ++k) part |= levels[from + k] >= level ? kBit[k] : 0;
        } else {
          for (std::size_t k = 0; k < n; ++k) part |= levels[from + k] >= level ? kBit[k] : 0;
        }
        word |= Word{part} << (half * kHalf);
      }
      *bits = word;
    }
  }

  BERTH_INLINE std::uint64_t Hash(const Level* levels, std::size_t count) {
    const std::size_t half = count / 2;
    std::uint64_t sum = 0;
    for (std::size_t k = 0; k < half; ++k) {
      const auto number = static_cast<std::uint32_t>(k);
      const std::uint32_t one = static_cast<std::uint32_t>(levels[k]) + number * 0x9e3779b9u;
      const std::uint32_t other =
          static_cast<std::uint32_t>(levels[half + k]) + number * 0x85ebca6bu;
      sum += std::uint64_t{one} * other;
    }
    return Mixed(sum, static_cast<std::uint64_t>(levels[count - 1]));
  }

#undef BERTH_INLINE

  static constexpr std::array<std::uint32_t, 32> kBit = [] {
    std::array<std::uint32_t, 32> bits{};
    for (std::size_t k = 0; k < bits.size(); ++k) bits[k] = std::uint32_t{1} << k;
    return bits;
  }();
};

// Every loop for the instruction set that ATTRIBUTE names.
// NOLINTBEGIN(bugprone-macro-parentheses): an attribute takes none.
#define BERTH_KERNELS(Set, kBytes, ATTRIBUTE)                                                \
  template <typename Level>                                                                  \
  struct Set {                                                                               \
    using L = Loops<Level, kBytes>;                                                          \
    ATTRIBUTE static RaiseResult<Level> Raise(const RaiseArguments<Level>& arguments) {      \
      return L::Raise(arguments);                                                            \
    }                                                                                        \
    ATTRIBUTE static LowestResult<Level> FindLowest(const LowestArguments<Level>& arguments, \
                                                    Level enough) {                          \
      return L::FindLowest(arguments, enough);                                               \
    }                                                                                        \
    ATTRIBUTE static Level Least(const Level* levels, std::size_t count) {                   \
      return L::Least(levels, count);                                                        \
    }                                                                                        \
    ATTRIBUTE static void FindHigh(const Level* levels, std::size_t count, Level level,      \
                                   Word* bits) {                                             \
      L::FindHigh(levels, count, level, bits);                                               \
    }                                                                                        \
    ATTRIBUTE static std::uint64_t Hash(const Level* levels, std::size_t count) {            \
      return L::Hash(levels, count);                                                         \
    }                                                                                        \
    static constexpr Kernels<Level> kAll = {Raise, FindLowest, Least, FindHigh, Hash};       \
  };

BERTH_KERNELS(Anywhere, 16, )
#ifdef BERTH_AVX2
BERTH_KERNELS(Avx2, 32, BERTH_AVX2)
#endif
#undef BERTH_KERNELS
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace

template <typename Level>
Kernels<Level> ChooseKernels([[maybe_unused]] bool vectors) {
#ifdef BERTH_AVX2
  if (vectors && HasAvx2()) return Avx2<Level>::kAll;
#endif
  return Anywhere<Level>::kAll;
}

template Kernels<std::int32_t> ChooseKernels(bool vectors);
template Kernels<std::int64_t> ChooseKernels(bool vectors);

}  // namespace berth::internal::niche
