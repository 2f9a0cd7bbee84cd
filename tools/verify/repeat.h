// tools/verify/repeat.h -- which operators may run again, and what that costs.
//
// The verifier's own reading of the rules of berth/graph.h, with its own list of names: it must
// neither link nor include the planner. A test holds that both say the same of every name listed here.
#ifndef BERTH_TOOLS_VERIFY_REPEAT_H_
#define BERTH_TOOLS_VERIFY_REPEAT_H_

#include <span>
#include <string_view>

#include "berth/answer.h"
#include "berth/graph.h"

namespace berth::verify {

[[nodiscard]] bool MayRunAgain(const Graph& graph, OperatorIndex v);

// What the operators of `order` that come again cost. A sum of more than 2^63 - 1 counts as that.
[[nodiscard]] Recomputed CountRecomputed(const Graph& graph, const Order& order);

// Names of operators that may not run again, in small letters, without namespaces and underscores.
[[nodiscard]] std::span<const std::string_view> NamesThatRunOnce();

}  // namespace berth::verify

#endif  // BERTH_TOOLS_VERIFY_REPEAT_H_
