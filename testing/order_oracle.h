// testing/order_oracle.h -- the least peak of tiny graphs, by trying everything.
#ifndef BERTH_TESTING_ORDER_ORACLE_H_
#define BERTH_TESTING_ORDER_ORACLE_H_

#include "berth/graph.h"

namespace berth::internal {

struct OracleOrder {
  Order order;
  Bytes peak = 0;
};

// An order of the least peak. What is live after some operators have run depends on which they are
// and not on their order, so it goes through all sets that can have run. Meant for up to some 16
// operators. `graph` must be valid; nothing is shared with the code that is tested but its structs.
[[nodiscard]] OracleOrder OracleSchedule(const Graph& graph, const Counting& counting = {});

// The same by going through all orders; for up to some 7 operators.
[[nodiscard]] OracleOrder OracleScheduleByOrders(const Graph& graph, const Counting& counting = {});

}  // namespace berth::internal

#endif  // BERTH_TESTING_ORDER_ORACLE_H_
