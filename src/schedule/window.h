// schedule/window.h -- orders and bounds of large instances, one window of operators at a time.
//
// A window is a run of consecutive operators of a known order, around its highest step.
//
//   * Restricted to the window, with the operators before it done and those after it not, the
//     instance is small enough to be searched exactly. A better order of the window replaces the
//     one that it has in the whole order; no step outside of it changes.
//   * If there is none, the operators of the window by themselves give a bound. In every order of
//     the whole they run in some sequence, which is an order of the part below, and each buffer of
//     the part is live only where it is live in the whole:
//
//       creators outside of the window  are left out; a buffer is then also live from the first of
//                                       its consumers in the window on that follow a creator
//       consumers outside of it         are left out; without others, the buffer is live in the
//                                       step of its creator
//
//     So no order of the whole has a lower peak than the best order of the part. All precedence
//     among the operators of a window is kept: what lies between two of them in the graph lies
//     between them in every order, so it is in the window.
//
// If neither settles the highest step, the window doubles; if all sizes have been tried, it starts
// again from the smallest, with more work. In a graph whose tensors live briefly,
// such as the forward pass of any network, a window of some hundred operators mostly has the peak
// of the whole, however large the graph. Tensors that live long, as those which a training step
// stores for its gradients, need a cut through the whole graph (schedule/cut.h).
#ifndef BERTH_SCHEDULE_WINDOW_H_
#define BERTH_SCHEDULE_WINDOW_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "berth/budget.h"
#include "berth/schedule.h"
#include "schedule/instance.h"

namespace berth::internal::schedule {

// The operators order[begin, end), numbered as they follow each other. `live` are the bytes live
// before the first of them. Cost: linear in the lists of these operators. `position` is the inverse
// of `order`.
[[nodiscard]] Instance Window(const Instance& instance, const std::vector<Op>& order,
                              const std::vector<Op>& position, std::size_t begin, std::size_t end,
                              Bytes live);
// The same operators by themselves: the least peak of the result is at most that of `instance`.
[[nodiscard]] Instance Part(const Instance& instance, const std::vector<Op>& order,
                            const std::vector<Op>& position, std::size_t begin, std::size_t end);

// Of one search of a window.
struct Effort {
  std::int64_t work = 0;  // Units of a few nanoseconds, at most, roughly.
  std::size_t bytes = 0;  // Of memory.
};

class WindowSearch {
 public:
  // `instance` and `options` must outlive this. `order` is any valid order; `first_size` is the
  // number of operators in the smallest windows.
  WindowSearch(const Instance& instance, const ExactOptions& options, std::vector<Op> order,
               std::size_t first_size);

  // Continues for about `work` units of a few nanoseconds, with at most about `bytes` bytes of memory. No order
  // has a peak below `floor`. Returns false if nothing is left to try. With several threads, the bound of a
  // window is looked for while its order is, in case that there is no better one.
  bool Advance(Bytes floor, std::int64_t work, std::size_t bytes, int threads, SearchStats& stats,
               Budget& budget);

  // Refutes limits (schedule/bisect.h) for the operators of a window around v by themselves. No order
  // has a peak below `floor`. Returns false, at once, if v is close to an operator of an earlier
  // call.
  bool RaiseBoundAround(Op v, Bytes floor, SearchStats& stats, Budget& budget);

  [[nodiscard]] const std::vector<Op>& order() const { return order_; }
  [[nodiscard]] Bytes peak() const { return peak_; }
  // Proved: no order of the instance has a lower peak.
  [[nodiscard]] Bytes bound() const { return bound_; }

 private:
  [[nodiscard]] Bytes LiveBefore(std::size_t at) const {
    return at == 0 ? LiveAtStart(instance_) : after_[order_[at - 1]];
  }
  // Position of the operator of the highest step.
  [[nodiscard]] std::size_t Highest() const;
  // A better order of a window, or the bound of its part.
  struct Looked {
    std::vector<Op> order;  // Of the positions in the window; empty if none is better.
    std::vector<Bytes> steps;
    std::vector<Bytes> after;
    Bytes bound = 0;
    SearchStats stats;
  };
  // No order has a peak below `lowest`.
  [[nodiscard]] Looked LookForOrder(std::size_t begin, std::size_t end, Bytes lowest,
                                    const Effort& effort, Budget& budget) const;
  [[nodiscard]] Looked LookForBound(std::size_t begin, std::size_t end, Bytes lowest,
                                    const Effort& effort, Budget& budget) const;
  void Take(std::size_t begin, const Looked& better);

  const Instance& instance_;
  const ExactOptions& options_;
  std::vector<Op> order_;
  std::vector<Op> position_;
  std::vector<Bytes> steps_;  // By operator: bytes of its step, and live after it.
  std::vector<Bytes> after_;
  Bytes peak_ = 0;
  Bytes bound_ = 0;
  std::size_t first_size_;
  std::size_t size_;
  std::vector<Op> centres_;  // Of the windows of RaiseBoundAround().
  int round_ = 0;
};

}  // namespace berth::internal::schedule

#endif  // BERTH_SCHEDULE_WINDOW_H_
