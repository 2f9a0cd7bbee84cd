// recompute/sequence.h -- a sequence of executions, and what it needs.
//
// A sequence runs every operator at least once. It decides everything else: a storage is in memory from
// each time that it is made through its last use before it is made again.
//
//   sequence   A B C D B E     E uses b: the b that the second B has made.
//   b            +---+ +-+
#ifndef BERTH_RECOMPUTE_SEQUENCE_H_
#define BERTH_RECOMPUTE_SEQUENCE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "berth/answer.h"
#include "recompute/model.h"

namespace berth::internal::recompute {

using Sequence = std::vector<Op>;

// Sequences that cost more count as not valid: sums of costs must not overflow.
inline constexpr std::int64_t kMostCost = std::int64_t{1} << 61;

struct Measure {
  bool valid = false;     // Every execution finds the versions that it needs.
  std::int64_t cost = 0;  // Of all executions after the first of each operator.
  Bytes peak = 0;
  std::size_t peak_step = 0;
  Bytes excess = 0;  // Sum over the steps of the bytes above the capacity, at most 2^62.
  // Of all stays, with alignments, at most 2^61: those of a plan may not exceed 2^60.
  Bytes stays = 0;
  [[nodiscard]] bool fits() const { return valid && excess == 0 && stays <= kMaxBytes; }
};

// Measures sequences of one model. Cost of each: linear in what their executions touch.
class Measurer {
 public:
  Measurer(const Model& model, Bytes capacity);

  // First executions must be in a valid order; the rest is checked.
  [[nodiscard]] Measure Of(const Sequence& sequence);
  // By step, of the latest sequence measured, which was valid.
  [[nodiscard]] const std::vector<Bytes>& load() const { return load_; }

 private:
  void FindPeak(Measure& measure);

  const Model& model_;
  const Bytes capacity_;
  struct State {
    std::int32_t version = kMakes;  // In memory; kMakes: nothing.
    std::uint32_t begin = 0;        // Of the stay.
    std::uint32_t last = 0;         // Use.
  };
  std::vector<State> initial_;
  std::vector<State> state_;
  std::vector<std::uint32_t> ran_;  // By operator: the number of the sequence that ran it last.
  std::uint32_t number_ = 0;
  std::vector<Bytes> load_;
};

// The plan without addresses, figures of memories and traffic. `sequence` must be valid.
[[nodiscard]] MemoryPlan PlanOf(const Model& model, const Sequence& sequence);

}  // namespace berth::internal::recompute

#endif  // BERTH_RECOMPUTE_SEQUENCE_H_
