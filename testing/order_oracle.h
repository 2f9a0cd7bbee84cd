// testing/order_oracle.h -- the least peak of tiny graphs, by exhaustive search.
#ifndef BERTH_TESTING_ORDER_ORACLE_H_
#define BERTH_TESTING_ORDER_ORACLE_H_

#include "berth/graph.h"

namespace berth::internal {

struct OracleOrder {
  Order order;
  Bytes peak = 0;
};

// An order of least peak. The live bytes depend on which operators have run, not on their order, so
// it enumerates all sets of operators that can have run. For up to about 16 operators. `graph` must
// be valid. Shares only structs with the code under test.
[[nodiscard]] OracleOrder OracleSchedule(const Graph& graph, const Counting& counting = {});

// The same by enumerating all orders; for up to about 7 operators.
[[nodiscard]] OracleOrder OracleScheduleByOrders(const Graph& graph, const Counting& counting = {});

}  // namespace berth::internal

#endif  // BERTH_TESTING_ORDER_ORACLE_H_
