// testing/spill_oracle.h -- the least traffic of tiny graphs, by exhaustive search.
#ifndef BERTH_TESTING_SPILL_ORACLE_H_
#define BERTH_TESTING_SPILL_ORACLE_H_

#include <optional>

#include "berth/graph.h"

namespace berth::internal {

// The least avoidable traffic of any plan for `graph` in `capacity` bytes, ignoring addresses;
// nothing if an operator does not fit. Writing, dropping and retrieving a tensor are separate
// actions that may happen at any time: the oracle has no rule for when to take them, and shares
// only structs with the code under test. With `order`, the operators run in that order. For up to
// about 10 operators and 20 tensors; `graph` must be valid.
[[nodiscard]] std::optional<Bytes> OracleTraffic(const Graph& graph, Bytes capacity,
                                                 const Counting& counting = {},
                                                 const Order* order = nullptr);

// The largest number of bytes that one operator creates and uses.
[[nodiscard]] Bytes OracleLeastMemory(const Graph& graph, const Counting& counting = {});

}  // namespace berth::internal

#endif  // BERTH_TESTING_SPILL_ORACLE_H_
