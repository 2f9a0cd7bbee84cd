// tools/generate/families.h -- the functions of each family, and what families share.
#ifndef BERTH_TOOLS_GENERATE_FAMILIES_H_
#define BERTH_TOOLS_GENERATE_FAMILIES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "berth/problem.h"
#include "tools/generate/generate.h"

namespace berth::internal {

// Checked parameters. Families count bytes in units of the alignment, so that stacked buffers stay
// aligned.
struct Setting {
  std::int64_t buffers;
  Step steps;
  Step longest;  // random: the longest lifetime, 2^k - 1 so that all magnitudes are equally likely.
  Bytes peak_units;  // At least 1: the largest number of units live at one step.
  Bytes alignment;
  int gaps_percent;
};

// Each makes buffers without alignment and pins, in bytes; generate.cc adds those.
[[nodiscard]] Result<GeneratedProblem> GeneratePlanted(const Setting& setting, Random& random);
[[nodiscard]] Result<GeneratedProblem> GenerateFull(const Setting& setting, Random& random);
[[nodiscard]] Result<GeneratedProblem> GenerateNetwork(const Setting& setting, bool training,
                                                       Random& random);
[[nodiscard]] Result<GeneratedProblem> GenerateRandom(const Setting& setting, Random& random);

// In [1, 2^bits): the number of bits is uniform, so every order of magnitude is equally likely. The
// mean is ((2^bits - 1) * 3 - bits) / (2 * bits).
[[nodiscard]] std::int64_t DrawMagnitude(int bits, Random& random);

// The steps of a gap well inside a lifetime of at least three steps.
[[nodiscard]] Gap DrawGapSteps(Step start, Step end, Random& random);

// A lifetime whose size is known only in proportion to others.
struct WeightedLifetime {
  std::string id;
  Step start = 0;
  Step end = 0;
  std::int64_t weight = 1;  // 1 .. 2^30.
};

// Gives every shape a size in proportion to its weight, as large as the peak allows. Rounding down
// loses less than one unit for each buffer live at the peak. A share of the buffers gets gaps. With
// an alignment of several bytes, half of the sizes are not multiples of it. Error: kInvalidOptions
// if the peak is too low to give each of them a unit.
[[nodiscard]] Result<GeneratedProblem> SizeShapes(const std::vector<WeightedLifetime>& shapes,
                                                  const Setting& setting, Random& random);

}  // namespace berth::internal

#endif  // BERTH_TOOLS_GENERATE_FAMILIES_H_
