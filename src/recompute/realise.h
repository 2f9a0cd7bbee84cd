// recompute/realise.h -- a choice of gaps as a sequence of executions.
#ifndef BERTH_RECOMPUTE_REALISE_H_
#define BERTH_RECOMPUTE_REALISE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "berth/budget.h"
#include "recompute/gaps.h"
#include "recompute/model.h"
#include "recompute/sequence.h"

namespace berth::internal::recompute {

struct Realised {
  Sequence sequence;
  // What it cost to end a gap besides what a gap that is dropped must pay: the inputs that had left.
  struct Extra {
    std::size_t gap = 0;
    std::size_t input = 0;  // The gap of that input; the same as `gap` if it has none.
    std::int64_t cost = 0;  // More than 0.
  };
  std::vector<Extra> extra;
};

// Runs `order`; what a use needs and does not find is made again right before it. An input of what
// runs again stays longer if there is room beside what is `kept`, and is made again if there is not.
// Nothing if some version cannot be made, time is up, or the sequence became far too long. The sequence may exceed the capacity.
[[nodiscard]] std::optional<Realised> Realise(const Model& model, const std::vector<Op>& order,
                                              const Gaps& gaps, const std::vector<char>& kept,
                                              Budget& budget);

}  // namespace berth::internal::recompute

#endif  // BERTH_RECOMPUTE_REALISE_H_
