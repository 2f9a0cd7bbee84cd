// tools/berth/peak.h -- what a peak consists of, for people and machines.
#ifndef BERTH_TOOLS_BERTH_PEAK_H_
#define BERTH_TOOLS_BERTH_PEAK_H_

#include <cstddef>
#include <string>

#include "berth/advise.h"
#include "berth/graph.h"
#include "tools/berth/output.h"

namespace berth::cli {

// A table of at most `most` rows under a heading.
[[nodiscard]] std::string PeakText(const Peak& peak, const Graph& graph, const Order& order,
                                   std::size_t most);
[[nodiscard]] Json PeakJson(const Peak& peak, const Graph& graph, const Order& order);

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_PEAK_H_
