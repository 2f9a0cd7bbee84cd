// testing/spill_oracle.h -- the least traffic of tiny graphs, by trying everything.
#ifndef BERTH_TESTING_SPILL_ORACLE_H_
#define BERTH_TESTING_SPILL_ORACLE_H_

#include <optional>

#include "berth/graph.h"

namespace berth::internal {

// The least avoidable traffic of any plan for `graph` in `capacity` bytes, addresses left aside;
// nothing where an operator does not fit. Writing a tensor out, dropping it and bringing it in are
// actions of their own, taken at any time: the oracle knows no rule of when to take them, and
// shares nothing with the code that is tested but its structs. With `order`, the operators run in
// that order. Meant for up to some 10 operators and 20 tensors; `graph` must be valid.
[[nodiscard]] std::optional<Bytes> OracleTraffic(const Graph& graph, Bytes capacity,
                                                 const Counting& counting = {},
                                                 const Order* order = nullptr);

// The most that one operator makes and uses.
[[nodiscard]] Bytes OracleLeastMemory(const Graph& graph, const Counting& counting = {});

}  // namespace berth::internal

#endif  // BERTH_TESTING_SPILL_ORACLE_H_
