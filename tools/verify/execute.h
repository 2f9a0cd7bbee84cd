// tools/verify/execute.h -- runs a graph in an arena by its plan, and checks every byte.
//
// Each operator checks that every byte it reads from the arena is unchanged since it was written.
// Then it fills its outputs and its in-place writes with a pattern of its own, and checks that this
// has not damaged what it has just read. Views are the bytes of their base. At the end the results
// must still be present, and so must the weights in the arena. Any error in an order, a lifetime or
// an offset that would make an operator compute with wrong bytes is found here, and the report says
// which operator overwrote whose bytes.
//
// Lifetimes are not used: bytes matter as long as an operator reads them. Shares only the structs
// of berth/graph.h with the rest of Berth.
#ifndef BERTH_TOOLS_VERIFY_EXECUTE_H_
#define BERTH_TOOLS_VERIFY_EXECUTE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "berth/graph.h"

namespace berth::verify {

// Offset of a base in the arena, for the whole run.
struct PlacedTensor {
  TensorIndex tensor = 0;
  Bytes offset = 0;
};

// A range of wrong bytes.
struct Clobber {
  OperatorIndex reader = 0;  // Finds them; the number of operators: the end of the run.
  TensorIndex tensor = 0;    // The base that the bytes belong to.
  Bytes lower = 0;           // The bytes [lower, upper) of that tensor, up to the first
  Bytes upper = 0;           // correct one.
  // The operator that should have written them last, and the one that has; the number of operators
  // stands for the initial contents.
  OperatorIndex expected_writer = 0;
  OperatorIndex writer = 0;
  // The tensor written there instead; the number of tensors: none.
  TensorIndex by = 0;
  friend bool operator==(const Clobber&, const Clobber&) = default;
};

struct ExecutionReport {
  std::vector<Clobber> clobbers;  // In the order found.
  std::int64_t more = 0;          // Number of further ones, not listed.
  std::int64_t operators_run = 0;
  Bytes arena = 0;          // Bytes that the plan needs.
  Bytes arena_used = 0;     // Bytes of the run's arena, scaled down if that would be too many.
  Bytes bytes_read = 0;     // From the arena, by all operators.
  Bytes bytes_written = 0;  // To the arena, by all operators.
  [[nodiscard]] bool ok() const { return clobbers.empty() && more == 0; }
};

struct ExecutionOptions {
  // A larger arena is scaled down: between any two positions where a tensor begins or ends, the run
  // keeps a proportional part of the bytes, but at least one. Tensors overlap then if and only if
  // they overlap in the plan.
  Bytes max_arena = Bytes{64} << 20;
  std::size_t max_clobbers = 100;
};

// Runs `graph`, which must be valid, in `order`, which must contain each operator once, with the
// bases of `placed` in the arena: each at most once, offsets from 0 to 2^60, no views. Other
// tensors are kept outside, where only in-place writes in the wrong order can damage them. Cost:
// the bytes of all inputs and outputs of all operators, scaled down as above, and the memory of the
// arena.
[[nodiscard]] ExecutionReport Execute(const Graph& graph, const Order& order,
                                      const std::vector<PlacedTensor>& placed,
                                      const ExecutionOptions& options = {});

// One line:  clobbered: operator "c" finds bytes [0, 64) of tensor "a" overwritten by operator "b"
// with tensor "t"
[[nodiscard]] std::string Describe(const Clobber& clobber, const Graph& graph);

}  // namespace berth::verify

#endif  // BERTH_TOOLS_VERIFY_EXECUTE_H_
