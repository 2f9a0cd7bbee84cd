// tools/berth/peak.h -- what a peak is made of, and where to look next.
#ifndef BERTH_TOOLS_BERTH_PEAK_H_
#define BERTH_TOOLS_BERTH_PEAK_H_

#include <optional>
#include <string>
#include <vector>

#include "berth/graph.h"
#include "tools/berth/common.h"

namespace berth::cli {

// A buffer that is live at the peak.
struct PeakRow {
  TensorIndex tensor = 0;
  std::optional<OperatorIndex> maker;  // None: it is there before the first operator.
  Step start = 0;                      // Its lifetime.
  Step end = 0;
  bool in_use = false;  // The operator that runs at the peak reads, writes or makes it.
  // Otherwise: the step at which it is used next; none where it only has to last to the end.
  std::optional<Step> next_use;
};

struct Peak {
  Bytes bytes = 0;
  Step step = 0;
  std::optional<OperatorIndex> op;  // What runs then; none in a graph without operators.
  std::vector<PeakRow> rows;        // Largest first.
  Bytes in_use = 0;                 // Of the rows that the operator uses itself.
  // The operator with the most bytes of its own: no order can need fewer.
  Bytes largest_step = 0;
  OperatorIndex largest_operator = 0;
};

// The first peak of `order`. `liveness` is that of `order` under `counting`.
[[nodiscard]] Peak ExaminePeak(const Graph& graph, const Order& order, const Liveness& liveness,
                               const Counting& counting);

// A table of at most `most` rows under a heading.
[[nodiscard]] std::string PeakText(const Peak& peak, const Graph& graph, const Order& order,
                                   std::size_t most);
[[nodiscard]] Json PeakJson(const Peak& peak, const Graph& graph, const Order& order);

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_PEAK_H_
