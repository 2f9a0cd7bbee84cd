// tools/verify/execute.h -- a plan put to the test: the graph runs in an arena, byte by byte.
//
// Each operator finds what it reads, in the arena, and checks that every byte is as it was written;
// then it fills what it makes, and what it writes in place, with a pattern of its own, and checks
// that this has hurt nothing that it has just read. Views are the bytes of their base. At the end
// the results must still be there, and the weights where they lie in the arena. Any fault of an
// order, a lifetime or an offset that would make an operator compute with wrong bytes shows up
// here, and the report says which tensor was overwritten by which operator.
//
// The run knows nothing of lifetimes: bytes matter as long as an operator reads them. It shares
// nothing with the rest of Berth but the structs of berth/graph.h.
#ifndef BERTH_TOOLS_VERIFY_EXECUTE_H_
#define BERTH_TOOLS_VERIFY_EXECUTE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "berth/graph.h"

namespace berth::verify {

// Where a base lies in the arena, for the whole run.
struct PlacedTensor {
  TensorIndex tensor = 0;
  Bytes offset = 0;
};

// Bytes that are not what they should be.
struct Clobber {
  OperatorIndex reader = 0;  // Finds them; the number of operators: the end of the run.
  TensorIndex tensor = 0;    // A base, whose bytes they should be.
  Bytes lower = 0;           // The bytes [lower, upper) of that tensor, those up to the first that
  Bytes upper = 0;           // is right again.
  // The operator that should have written them last, and the one that has; the number of operators
  // for bytes from before the run.
  OperatorIndex expected_writer = 0;
  OperatorIndex writer = 0;
  // What was written there instead; nothing has been: the number of tensors.
  TensorIndex by = 0;
  friend bool operator==(const Clobber&, const Clobber&) = default;
};

struct ExecutionReport {
  std::vector<Clobber> clobbers;  // As they are found.
  std::int64_t more = 0;          // How many there are besides those listed.
  std::int64_t operators_run = 0;
  Bytes arena = 0;          // Bytes that the plan needs.
  Bytes arena_used = 0;     // Bytes that the run had: fewer where that would be too many.
  Bytes bytes_read = 0;     // Of the arena, all operators together.
  Bytes bytes_written = 0;  // To the arena.
  [[nodiscard]] bool ok() const { return clobbers.empty() && more == 0; }
};

struct ExecutionOptions {
  // An arena larger than this is shrunk: between any two places where a tensor begins or ends, the
  // run keeps as large a part of the bytes as it can, but at least one. Tensors overlap then if and
  // only if they do in the plan.
  Bytes max_arena = Bytes{64} << 20;
  std::size_t max_clobbers = 100;
};

// Runs `graph`, which must be valid, in `order`, which must have each operator once, with the bases
// of `placed` in the arena; each at most once, offsets from 0 to 2^60, none of them a view. Other
// tensors are kept outside, where nothing can happen to them but writes in place in the wrong
// order. Cost: the bytes of all inputs and outputs of all operators, shrunk as above, and the
// memory of the arena.
[[nodiscard]] ExecutionReport Execute(const Graph& graph, const Order& order,
                                      const std::vector<PlacedTensor>& placed,
                                      const ExecutionOptions& options = {});

// One line:  clobbered: operator "c" finds bytes [0, 64) of tensor "a" overwritten by operator "b"
// with tensor "t"
[[nodiscard]] std::string Describe(const Clobber& clobber, const Graph& graph);

}  // namespace berth::verify

#endif  // BERTH_TOOLS_VERIFY_EXECUTE_H_
