// tools/verify/order_flow.h -- bounds on the bytes at which an operator can run, by flows.
//
// Operator v runs after some set T that holds all for which v waits and none that wait for v. The bytes
// of its step are at least those of the tensors whose maker is v or surely in T and that have a user
// that is v or surely not in T. What else is live depends on T. A tensor from c to k adds
//
//   bytes x ([c in T] - [k in T])            as it is live if c has run and k has not,
//
// or any part of it, and an operator x that waits for p takes away nothing if we add
//
//   bytes x ([x in T] - [p in T])            as p is in T whenever x is.
//
// So any choice of such parts, of each tensor at most its bytes, gives a bound: the sum over all
// operators of what goes out less what comes in, for those in T as it is, for those not in T 0, for the
// others 0 or, where more comes in than goes out, that difference. A maximum flow makes the best
// choice; to check it, its parts are added up.
#ifndef BERTH_TOOLS_VERIFY_ORDER_FLOW_H_
#define BERTH_TOOLS_VERIFY_ORDER_FLOW_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tools/verify/order_model.h"

namespace berth::verify {

// The operators with what they wait for: by the model, and by what is proved of all orders in question.
class OrderNet {
 public:
  // `model` must outlive this.
  explicit OrderNet(const OrderModel& model);

  void Add(std::size_t before, std::size_t after);
  [[nodiscard]] bool Waits(std::size_t v, std::size_t p);  // Directly.
  // Marks the operators that v waits for (or, not `earlier`, that wait for v), directly or not.
  void Reach(std::size_t v, bool earlier, std::vector<bool>& marks);

  [[nodiscard]] const OrderModel& model() const { return model_; }
  [[nodiscard]] const std::vector<std::size_t>& before(std::size_t v) const { return before_[v]; }
  [[nodiscard]] const std::vector<std::size_t>& after(std::size_t v) const { return after_[v]; }
  // Looks at an operator, an edge or a tensor so far. FalseStep beyond what a proof may take.
  void Work(std::size_t looks);

 private:
  const OrderModel& model_;
  std::vector<std::vector<std::size_t>> before_;  // Those of the model first, increasing.
  std::vector<std::vector<std::size_t>> after_;
  std::vector<std::size_t> queue_;
  std::uint64_t work_ = 0;
};

// The bound on the step of `v` that the rest of the line proves, for orders in which `with` (kNobody:
// none) has run before it, and `without` has not. FalseStep for a part that does not exist.
// Cost: linear in the net and the line.
[[nodiscard]] Bytes BoundByFlow(OrderNet& net, std::size_t v, std::size_t with, std::size_t without,
                                ProofLines& lines);

}  // namespace berth::verify

#endif  // BERTH_TOOLS_VERIFY_ORDER_FLOW_H_
