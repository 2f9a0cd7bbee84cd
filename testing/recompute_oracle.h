// testing/recompute_oracle.h -- the least cost of running operators again, of tiny graphs, by
// exhaustive search.
#ifndef BERTH_TESTING_RECOMPUTE_ORACLE_H_
#define BERTH_TESTING_RECOMPUTE_ORACLE_H_

#include <cstdint>
#include <optional>

#include "berth/graph.h"

namespace berth::internal {

// The least cost of all executions after the first of each operator, of any sequence that computes
// `graph` within `capacity` bytes, ignoring addresses; nothing if there is none. A tensor
// may be dropped after every use. Knows which operators may
// run again from Operator::repeat, random, update, mutates and skips alone: types must be empty. With
// `order`, first executions run in it. With `link` tensors may be copied, too, for the least sum of both
// costs: where it may be dropped it may be written out before, and what an operator lacks and is off
// chip comes back. For up to about 8 operators; `graph` must be valid.
[[nodiscard]] std::optional<std::int64_t> OracleRecomputation(const Graph& graph, Bytes capacity,
                                                              const Counting& counting = {},
                                                              const Order* order = nullptr,
                                                              const Link* link = nullptr);

}  // namespace berth::internal

#endif  // BERTH_TESTING_RECOMPUTE_ORACLE_H_
