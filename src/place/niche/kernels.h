// place/niche/kernels.h -- the few loops over all lanes, on the widest vectors the machine has.
//
// Lanes are stored in arrays padded to whole blocks. The loops are written with the compilers'
// vector extensions, so they are one source for every machine, and compiled for several
// instruction sets; which one runs is decided once, when the first search starts. All of them
// compute the same integers.
#ifndef BERTH_PLACE_NICHE_KERNELS_H_
#define BERTH_PLACE_NICHE_KERNELS_H_

#include <cstddef>
#include <cstdint>

namespace berth::internal {

inline constexpr std::int32_t kBlock = 16;  // Lanes.

// Lanes [begin, end) of each array, both multiples of kBlock.
template <typename Level>
struct RaiseArgs {
  Level* value;
  const Level* first;
  const Level* last;
  const Level* highest;  // A lane cannot lie above this.
  std::int32_t begin;
  std::int32_t end;
  Level from;
  Level to;
  Level level;
  // Old contents of each block that changes: its number and its values. Room for all of them.
  std::int32_t* saved_block;
  Level* saved_value;
};
template <typename Level>
struct RaiseResult {
  std::int32_t blocks;  // Saved.
  Level first;          // All lanes that rose lie within [first, last).
  Level last;
  std::int32_t too_high;  // A block with a lane that rose above its highest, or -1.
};

template <typename Level>
struct LeastResult {
  Level value;
  std::int32_t lane;
};

template <typename Level>
struct Kernels {
  // Raises to `level` every lane below it that meets sections [from, to).
  RaiseResult<Level> (*raise)(const RaiseArgs<Level>& args);
  // The least value, and the first lane that has it, of the lanes in [begin, end) that are live in
  // `section`.
  LeastResult<Level> (*least)(const Level* value, const Level* first, const Level* last,
                              std::int32_t begin, std::int32_t end, Level section);
};

// The kernels for this machine, or those that run on every machine.
template <typename Level>
[[nodiscard]] const Kernels<Level>& ChooseKernels(bool vectors);

}  // namespace berth::internal

#endif  // BERTH_PLACE_NICHE_KERNELS_H_
