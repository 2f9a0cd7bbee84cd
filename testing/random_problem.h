// testing/random_problem.h -- small problems with all features, from a seed.
#ifndef BERTH_TESTING_RANDOM_PROBLEM_H_
#define BERTH_TESTING_RANDOM_PROBLEM_H_

#include <cstdint>

#include "berth/problem.h"

namespace berth::internal {

struct ProblemKnobs {
  int min_buffers = 1;
  int max_buffers = 6;
  Step horizon = 8;  // Number of steps spanned by lifetimes; the first may be negative.
  Bytes max_size = 8;
  Bytes size_unit = 1;          // Sizes and windows are multiples of it.
  double alignment_chance = 0;  // Of each buffer; the same for the other chances.
  Bytes max_alignment = 4;      // Not only powers of two.
  double gap_chance = 0;        // Of each gap; at most `max_gaps`.
  int max_gaps = 2;
  double window_chance = 0.6;  // Of each gap.
  double hint_chance = 0;
  double pin_chance = 0;
  // True: pins may overlap each other, so that no plan exists. False: such pins are left out.
  bool pins_may_collide = false;
  // A capacity between the peak load minus `capacity_below` and the peak load plus
  // `capacity_above`; none if `with_capacity` is false.
  bool with_capacity = false;
  Bytes capacity_below = 1;
  Bytes capacity_above = 4;
};

// Knobs that enable all features.
[[nodiscard]] ProblemKnobs AllKnobs();

// Valid, and the same on every platform. The features of a problem are drawn first, so that some
// problems have all and many have few.
[[nodiscard]] Problem RandomProblem(std::uint64_t seed, const ProblemKnobs& knobs = {});

// Repeats some of its buffers under other ids, with at most 6 buffers in all. TwinKnobs() makes
// small problems for it.
void AddTwins(Problem& problem);
[[nodiscard]] ProblemKnobs TwinKnobs();

}  // namespace berth::internal

#endif  // BERTH_TESTING_RANDOM_PROBLEM_H_
