// place/niche/kernels.h -- the loops over all lanes, on the widest vectors the machine has.
//
// Each loop is written once, with the vector types that g++ and clang share, and compiled for
// several instruction sets; which of them runs is decided when a search is made. They compute the
// same integers, so plans do not depend on it.
#ifndef BERTH_PLACE_NICHE_KERNELS_H_
#define BERTH_PLACE_NICHE_KERNELS_H_

#include <cstddef>
#include <cstdint>

#include "base/bits.h"

namespace berth::internal::niche {

// Built for size (-Os): one version of the loop, in short blocks, and levels in 64 bits only.
#ifdef __OPTIMIZE_SIZE__
inline constexpr bool kForSize = true;
#else
inline constexpr bool kForSize = false;
#endif

inline constexpr std::int32_t kBlock = kForSize ? 4 : 16;  // Lanes; arrays have whole blocks.

template <typename Level>
struct RaiseArguments {
  Level* lowest;  // These four by lane.
  const Level* first;
  const Level* last;
  const Level* highest;
  std::int32_t begin;  // The lanes to look at, multiples of kBlock.
  std::int32_t end;
  Level from;  // The sections.
  Level to;
  Level level;
  // The blocks that change, as they were; there is room for all of them.
  std::int32_t* saved_block;
  Level* saved_lowest;
};

template <typename Level>
struct RaiseResult {
  std::int32_t saved;  // Blocks.
  Level first;         // The lanes that rose lie within sections [first, last).
  Level last;
  std::int32_t too_high;  // The first block in which a lane rose above its highest, or -1.
};

// Raises to `level` the lowest of every lane that is live within sections [from, to) and lower.
template <typename Level>
using RaiseKernel = RaiseResult<Level> (*)(const RaiseArguments<Level>& arguments);

template <typename Level>
struct LowestArguments {
  const Level* lowest;  // These three by lane.
  const Level* first;
  const Level* last;
  std::int32_t begin;  // The lanes to look at, multiples of kBlock.
  std::int32_t end;
  Level section;
};

template <typename Level>
struct LowestResult {
  Level lowest;  // The greatest Level if no lane is live in the section.
  std::int32_t lane;
};

// The lane with the least lowest of those that are live in `section`; or one that is not above `enough`,
// where none can be lower.
template <typename Level>
using LowestKernel = LowestResult<Level> (*)(const LowestArguments<Level>& arguments, Level enough);

// The least of `count` levels, at least 1.
template <typename Level>
using LeastKernel = Level (*)(const Level* levels, std::size_t count);

// Sets bit k of `bits`, whole words, if levels[k] is at least `level`.
template <typename Level>
using HighKernel = void (*)(const Level* levels, std::size_t count, Level level, Word* bits);

// A hash of `count` levels: of their lower 32 bits, and one product for two of them.
template <typename Level>
using HashKernel = std::uint64_t (*)(const Level* levels, std::size_t count);

template <typename Level>
struct Kernels {
  RaiseKernel<Level> raise;
  LowestKernel<Level> find_lowest;
  LeastKernel<Level> least;
  HighKernel<Level> find_high;
  HashKernel<Level> hash;
};

// With `vectors`, for the widest vectors that this machine has; otherwise for those that every
// machine has.
template <typename Level>
[[nodiscard]] Kernels<Level> ChooseKernels(bool vectors);

}  // namespace berth::internal::niche

#endif  // BERTH_PLACE_NICHE_KERNELS_H_
