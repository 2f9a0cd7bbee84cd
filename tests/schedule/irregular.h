// Irregular graphs of any width.
#ifndef BERTH_TESTS_SCHEDULE_IRREGULAR_H_
#define BERTH_TESTS_SCHEDULE_IRREGULAR_H_

#include <cstdint>

#include "berth/graph.h"
#include "tools/generate/graphs.h"

namespace berth::internal {

inline Graph Irregular(std::int64_t operators, std::int64_t width, std::uint64_t seed) {
  GraphParameters parameters;
  parameters.operators = operators;
  parameters.width = width;
  parameters.seed = seed;
  return *GenerateGraph(GraphFamily::kIrregular, parameters);
}

}  // namespace berth::internal

#endif  // BERTH_TESTS_SCHEDULE_IRREGULAR_H_
