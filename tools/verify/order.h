// tools/verify/order.h -- may a graph run in this order?
#ifndef BERTH_TOOLS_VERIFY_ORDER_H_
#define BERTH_TOOLS_VERIFY_ORDER_H_

#include <vector>

#include "berth/graph.h"
#include "tools/verify/collector.h"
#include "tools/verify/touches.h"

namespace berth::verify {

// Adds the faults of `order`. False if the operators do not each come once.
bool CheckOrder(const Graph& graph, const std::vector<Touches>& touches, const Order& order,
                Collector& collector);

}  // namespace berth::verify

#endif  // BERTH_TOOLS_VERIFY_ORDER_H_
