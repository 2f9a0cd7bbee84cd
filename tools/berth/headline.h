// tools/berth/headline.h -- the first line of a summary: what was found, and what is proved of it.
#ifndef BERTH_TOOLS_BERTH_HEADLINE_H_
#define BERTH_TOOLS_BERTH_HEADLINE_H_

#include <cstdint>
#include <string>

#include "tools/berth/summary.h"

namespace berth::cli {

[[nodiscard]] std::string Headline(const Planned& planned);
[[nodiscard]] std::string NameOfOperator(const Graph& graph, OperatorIndex op);
// What running operators again costs, in one run's costs: all operators once.
[[nodiscard]] double ShareOfRun(const Graph& graph, std::int64_t cost);
// "12 executions; the dearest are those of conv_1, conv_2 and conv_3".
[[nodiscard]] std::string RunAgainFact(const Graph& graph, const MemoryPlan& plan);

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_HEADLINE_H_
