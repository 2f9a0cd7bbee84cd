// testing/random_graph.h -- small graphs with all features, from a seed.
#ifndef BERTH_TESTING_RANDOM_GRAPH_H_
#define BERTH_TESTING_RANDOM_GRAPH_H_

#include <cstdint>

#include "berth/graph.h"

namespace berth::internal {

struct GraphKnobs {
  int min_operators = 1;
  int max_operators = 9;
  Bytes max_bytes = 12;
  Bytes bytes_unit = 1;         // Sizes are multiples of it.
  int max_outputs = 1;          // Of an operator.
  int max_inputs = 3;           // Of an operator; a tensor may appear twice.
  double far_chance = 0.5;      // Of each input, to be any earlier tensor instead of a recent one.
  double view_chance = 0;       // Of each output; the same for the other chances.
  double write_chance = 0;      // Of each operator, to write one base in place.
  double after_chance = 0;      // Of each operator, to follow another without a reason.
  double parameter_chance = 0;  // Of each operator, to read a parameter of its own.
  double output_chance = 0.05;  // Of each tensor; half of those without readers in addition.
  double overwrite_chance = 0;  // Of each input with as many bytes as an output.
  double alignment_chance = 0;  // Of each tensor; up to 4, not only powers of two.
  double unplanned_chance = 0;  // Of each tensor.
  double zero_chance = 0.05;    // Of each tensor, to have no bytes.
};

// Knobs that enable all features.
[[nodiscard]] GraphKnobs AllGraphKnobs();
// Of graphs in which tensors wait long for their next use, so that spills pay; offsets are free.
[[nodiscard]] GraphKnobs SpillKnobs(int min_operators, int max_operators);

// Valid, and the same on every platform. The features of a graph are drawn first, so that some
// graphs have all and many have few.
[[nodiscard]] Graph RandomGraph(std::uint64_t seed, const GraphKnobs& knobs = {});

// A valid order of `graph`, drawn by `seed`: at each step any ready operator.
[[nodiscard]] Order RandomOrder(const Graph& graph, std::uint64_t seed);

}  // namespace berth::internal

#endif  // BERTH_TESTING_RANDOM_GRAPH_H_
