// tools/verify/verify_order.h -- checks that a graph can run in an order, and counts its live
// bytes.
//
// The checker shares only the structs of berth/graph.h with the rest of Berth, and no code. It
// accepts orders of any origin, however wrong they are.
#ifndef BERTH_TOOLS_VERIFY_VERIFY_ORDER_H_
#define BERTH_TOOLS_VERIFY_VERIFY_ORDER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "berth/graph.h"

namespace berth::internal {

enum class OrderFaultKind {
  kUnknownOperator,  // The order has a number that is no operator's. Nothing else is then checked.
  kRepeated,         // An operator appears twice. Nothing else is then checked.
  kMissing,          // An operator is missing. Nothing else is then checked.
  kNotMade,          // An operator needs a tensor that is created only later.
  kTooEarly,         // An operator runs before one that it must follow.
  kOtherBytes,       // An operator reads other bytes than in program order: an in-place write
                     // is on the wrong side of it.
};

// One error in an order.
struct OrderFault {
  OrderFaultKind kind = OrderFaultKind::kMissing;
  // kUnknownOperator: the number. Otherwise the operator.
  OperatorIndex op = 0;
  // kNotMade: the creator. kTooEarly: the operator that must come first. kOtherBytes: the last
  // writer of the bytes that `op` would read, or graph.operators.size() if there is none.
  OperatorIndex other = 0;
  TensorIndex tensor = 0;  // kNotMade, kOtherBytes.
  std::size_t step = 0;    // Of `op`; kRepeated: of its second appearance.
  friend bool operator==(const OrderFault&, const OrderFault&) = default;
};

struct OrderReport {
  std::vector<OrderFault> faults;  // In order of the steps.
  std::int64_t more = 0;           // Number of further faults, not listed.
  // Valid if each operator appears once, even if the order has other faults:
  Bytes peak = 0;
  std::size_t peak_step = 0;  // The first step with the peak.
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
