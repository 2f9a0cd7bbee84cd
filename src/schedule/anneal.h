// schedule/anneal.h -- better orders of wide instances by simulated annealing.
//
// A move takes an operator to another place between its last predecessor and its first successor,
// past one neighbour after the other. Two neighbours that change places change only their own two
// steps, and only buffers that they share change what each of them creates and frees, so a move
// costs a few additions for each operator that it passes.
//
// The cost of an order is the sum of the bytes by which its steps exceed a target, which is below
// the best known peak: an order without cost is a better one. The peak itself would not do, as most
// moves do not change it. Moves start near a step that exceeds the target. Beams decide at the
// front of an order what matters only at its peak; where hundreds of operators are ready at once
// they keep none of the right states, and this finds lower peaks.
#ifndef BERTH_SCHEDULE_ANNEAL_H_
#define BERTH_SCHEDULE_ANNEAL_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/random.h"
#include "base/wide.h"
#include "berth/budget.h"
#include "schedule/instance.h"

namespace berth::internal::schedule {

class Annealer {
 public:
  // `instance` must outlive this.
  explicit Annealer(const Instance& instance);

  struct Cooling {
    std::int64_t work;  // Units of a few nanoseconds, about.
    std::uint64_t seed;
    double heat = 1;  // The first temperature, in multiples of 6 % of the peak.
  };
  // Cools once from `order`, a valid one of the instance. True if that found an order with a lower peak, at
  // best one of `target` bytes or less.
  bool Run(const std::vector<Op>& order, Bytes target, const Cooling& cooling, Budget& budget);

  // The best order of the last run.
  [[nodiscard]] const std::vector<Op>& order() const { return best_; }
  [[nodiscard]] Bytes peak() const { return best_peak_; }

 private:
  void Set(const std::vector<Op>& order);
  [[nodiscard]] Bytes Excess(std::size_t at) const {
    return std::max<Bytes>(0, live_[at] + created_[order_[at]] - target_);
  }
  void SwapNext(std::size_t at);
  void Shift(std::size_t from, std::size_t to);
  [[nodiscard]] std::size_t ChooseOp();
  [[nodiscard]] std::size_t ChoosePlace(std::size_t from);
  [[nodiscard]] Bytes Peak() const;

  const Instance& instance_;
  Random random_{1};
  std::vector<Op> best_;
  Bytes best_peak_ = 0;
  Bytes target_ = 0;
  Wide cost_ = 0;  // The excess of all steps: bytes times steps.
  std::vector<Op> order_;
  std::vector<std::uint32_t> position_;
  std::vector<Bytes> live_;     // By position: live before it.
  std::vector<Bytes> created_;  // By operator: what its step creates, and frees.
  std::vector<Bytes> freed_;
  std::vector<Op> first_;  // By buffer: its first creator and its last consumer.
  std::vector<Op> last_;
  std::int64_t work_ = 0;
};

}  // namespace berth::internal::schedule

#endif  // BERTH_SCHEDULE_ANNEAL_H_
