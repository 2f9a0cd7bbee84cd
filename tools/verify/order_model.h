// tools/verify/order_model.h -- what a proof about the orders of a graph is about: which operators wait
// for which, and the bytes that are live between them.
#ifndef BERTH_TOOLS_VERIFY_ORDER_MODEL_H_
#define BERTH_TOOLS_VERIFY_ORDER_MODEL_H_

#include <cstddef>
#include <limits>
#include <vector>

#include "berth/graph.h"
#include "tools/verify/proof_text.h"

namespace berth::verify {

inline constexpr std::size_t kNobody = std::numeric_limits<std::size_t>::max();

// A counted base that is not live throughout. Live from the step of its maker on: in that step, and as long as
// not all of its users have run.
struct OrderTensor {
  Bytes bytes = 0;
  std::size_t maker = kNobody;     // kNobody: it is live from the start.
  bool to_end = false;             // Live to the end; its users do not matter then.
  std::vector<std::size_t> users;  // Increasing; the maker alone where nothing else uses it.
  friend bool operator==(const OrderTensor&, const OrderTensor&) = default;
};

struct OrderModel {
  std::size_t operators = 0;
  Bytes always = 0;                             // Live at every step.
  std::vector<std::vector<std::size_t>> waits;  // By operator: earlier ones, increasing.
  std::vector<OrderTensor> tensors;             // In the order of the graph.
  friend bool operator==(const OrderModel&, const OrderModel&) = default;
};

// Of a graph whose operators stand in an order in which they can run. Cost: linear, with sorting.
[[nodiscard]] OrderModel OrderModelOf(const Graph& graph, const Counting& counting);

// What stands before the steps of a proof.
struct OrderHead {
  bool is_optimal = false;
  Bytes claimed = 0;  // A peak that no order has, or (is_optimal) the least one.
  OrderModel model;
  std::size_t model_line = 0;  // Where it begins.
  std::size_t order_line = 0;
  std::vector<std::size_t> order;  // If is_optimal: one with this peak.
};
[[nodiscard]] OrderHead ReadOrderHead(ProofLines& lines);

// The peak of `order`; FalseStep if it is no order of the operators.
[[nodiscard]] Bytes PeakOf(const OrderModel& model, const std::vector<std::size_t>& order);

}  // namespace berth::verify

#endif  // BERTH_TOOLS_VERIFY_ORDER_MODEL_H_
