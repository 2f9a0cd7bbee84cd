// tools/berth/displaced.h -- why buffers and tensors are not where they would cost the least, for people
// and for machines.
#ifndef BERTH_TOOLS_BERTH_DISPLACED_H_
#define BERTH_TOOLS_BERTH_DISPLACED_H_

#include <cstddef>
#include <string>
#include <vector>

#include "berth/displaced.h"
#include "berth/memories.h"
#include "tools/berth/output.h"

namespace berth::cli {

// How many entries of FindDisplaced() are asked for.
inline constexpr std::size_t kMostDisplaced = 1000;

// A table; those that would save the most first. `noun` is what buffers are called.
[[nodiscard]] std::string DisplacedText(const MemoryProblem& problem,
                                        const std::vector<Displaced>& displaced,
                                        const std::string& cost_unit, const std::string& noun);
[[nodiscard]] Json DisplacedJson(const MemoryProblem& problem,
                                 const std::vector<Displaced>& displaced);

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_DISPLACED_H_
