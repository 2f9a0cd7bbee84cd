// tools/verify/order.h -- may a graph run in this order?
#ifndef BERTH_TOOLS_VERIFY_ORDER_H_
#define BERTH_TOOLS_VERIFY_ORDER_H_

#include <vector>

#include "berth/graph.h"
#include "tools/verify/collector.h"
#include "tools/verify/touches.h"

namespace berth::verify {

// Which value operators find in program order: the operator that wrote it last, kNone before any.
class Intended {
 public:
  Intended(const Graph& graph, const std::vector<Touches>& touches);

  // Of the base number `i` in Touches::needs of `v`.
  [[nodiscard]] OperatorIndex Writer(OperatorIndex v, std::size_t i) const {
    return writers_[begin_[v] + i];
  }
  // Of a base at the end.
  [[nodiscard]] OperatorIndex Last(TensorIndex base) const { return last_[base]; }

 private:
  std::vector<std::size_t> begin_;
  std::vector<OperatorIndex> last_;
  std::vector<OperatorIndex> writers_;
};

// Adds the faults of `order`. False if the operators do not each come once, or with `repeats` at
// least once. Of operators that come again it is checked whether they may; what these find, the run
// will show.
bool CheckOrder(const Graph& graph, const std::vector<Touches>& touches, const Intended& intended,
                const Order& order, bool repeats, Collector& collector);

}  // namespace berth::verify

#endif  // BERTH_TOOLS_VERIFY_ORDER_H_
