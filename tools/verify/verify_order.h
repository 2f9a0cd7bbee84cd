// tools/verify/verify_order.h -- may a graph run in this order, and how many bytes are live then?
//
// The checker shares the structs of berth/graph.h with the rest of Berth and nothing else: no line
// of code, no library. It takes orders from anywhere, however wrong they are.
#ifndef BERTH_TOOLS_VERIFY_VERIFY_ORDER_H_
#define BERTH_TOOLS_VERIFY_VERIFY_ORDER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "berth/graph.h"

namespace berth::internal {

enum class OrderFaultKind {
  kUnknownOperator,  // The order has a number that no operator has. Nothing else is then checked.
  kRepeated,         // An operator comes twice. Nothing else is then checked.
  kMissing,          // An operator does not come at all. Nothing else is then checked.
  kNotMade,          // An operator needs a tensor that is made only later.
  kTooEarly,         // An operator runs before one that it is told to come after.
  kOtherBytes,       // An operator finds other bytes than in program order: a write in place comes
                     // on the other side of it.
};

// One thing wrong with an order.
struct OrderFault {
  OrderFaultKind kind = OrderFaultKind::kMissing;
  // kUnknownOperator: the number. Else the operator.
  OperatorIndex op = 0;
  // kNotMade: who makes it. kTooEarly: who should come first. kOtherBytes: who has written the
  // bytes that `op` would find, or graph.operators.size() where nobody has.
  OperatorIndex other = 0;
  TensorIndex tensor = 0;  // kNotMade, kOtherBytes.
  std::size_t step = 0;    // Of `op`; kRepeated: where it comes again.
  friend bool operator==(const OrderFault&, const OrderFault&) = default;
};

struct OrderReport {
  std::vector<OrderFault> faults;  // In order of the steps.
  std::int64_t more = 0;           // How many faults there are besides those listed.
  // Of an order in which each operator comes once, be it wrong otherwise:
  Bytes peak = 0;
  std::size_t peak_step = 0;  // The first that has it.
  std::vector<Bytes> live;    // Bytes live during each step.
  [[nodiscard]] bool ok() const { return faults.empty() && more == 0; }
};

// Finds every fault of `order`, counts them all and lists the first `max_faults`. `graph` must be
// valid. Cost: O(n log n) of the graph's size.
[[nodiscard]] OrderReport VerifyOrder(const Graph& graph, const Order& order,
                                      const Counting& counting = {}, std::size_t max_faults = 100);

// One line:  not made: operator "b" at step 3 needs tensor "t", made by operator "a"
[[nodiscard]] std::string Describe(const OrderFault& fault, const Graph& graph);

}  // namespace berth::internal

#endif  // BERTH_TOOLS_VERIFY_VERIFY_ORDER_H_
