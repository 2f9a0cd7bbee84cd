// place/canonical/canonical.h -- exact placement over canonical plans (MiniMalloc).
//
// Source: M. D. Moffitt, "MiniMalloc: A Lightweight Memory Allocator for Hardware-Accelerated
// Machine Learning", ASPLOS 2023, sections 5 to 7; section numbers in this folder are that paper's.
#ifndef BERTH_PLACE_CANONICAL_CANONICAL_H_
#define BERTH_PLACE_CANONICAL_CANONICAL_H_

#include <memory>
#include <string>
#include <string_view>

#include "base/option_table.h"
#include "model/instance.h"
#include "place/strategy.h"

namespace berth::internal::canonical {

// The rules, each with its switch: field, default, what it does (canonical.cc explains them).
// Whatever is switched off, the verdicts stay the same; only the number of nodes changes.
#define BERTH_CANONICAL_SWITCHES(SWITCH)                                                     \
  SWITCH(canonical_only, true, "Only plans in order of offset, then index.")                 \
  SWITCH(section_inference, true,                                                            \
         "In each section, floor plus unplaced bytes must fit the capacity.")                \
  SWITCH(monotonic_floor, true, "No floor of a section lies below the last offset.")         \
  SWITCH(unallocated_floor, true,                                                            \
         "No floor of a section lies below the lowest offset left to its unplaced buffers.") \
  SWITCH(dominance, true, "No hole is left that an unplaced buffer would fill.")             \
  SWITCH(hatless, true, "A buffer with nothing left above it has no alternatives.")          \
  SWITCH(identical_order, true, "Of identical buffers, the first lies lowest.")              \
  SWITCH(dynamic_ordering, true, "The buffer that can lie lowest is tried first.")           \
  SWITCH(static_preordering, true, "Ties are broken by the preorders.")                      \
  SWITCH(dynamic_decomposition, true, "Parts that separate in time are solved one by one.")

struct Options {
  BERTH_CANONICAL_SWITCHES(BERTH_SWITCH_FIELD)
  // Fixed orders, tried in rotation with doubling node limits: words, separated by commas, over the
  // keys W lifetime, A area, T largest section total, Z size, C sections, L start, U end, each
  // largest first.
  std::string preorders = "WAT,TAW,TWA";
};

// Whether `preorders` is a list as Options::preorders must be.
[[nodiscard]] bool ValidPreorders(std::string_view preorders);

// `overlaps` must outlive the search, `options.preorders` must be valid. Impossible is a proof, and
// never the verdict where overlaps.stackable does not hold (kInconclusive is). Cost: exponential in
// the number of buffers in the worst case; a node costs the number of unplaced buffers and, for
// each child, the neighbours of the buffer that it places. Memory: O(n), and 4 bytes for each piece
// in each section.
[[nodiscard]] std::unique_ptr<Search> MakeSearch(const Instance& instance, const Overlaps& overlaps,
                                                 const Options& options);

}  // namespace berth::internal::canonical

#endif  // BERTH_PLACE_CANONICAL_CANONICAL_H_
