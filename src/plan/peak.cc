// What the peak of an order consists of.

#include <algorithm>
#include <vector>

#include "berth/advise.h"

namespace berth {
namespace {

// The bases that an operator reads, writes, makes or makes views of, each once.
std::vector<TensorIndex> BasesOf(const Graph& graph, OperatorIndex v) {
  const Operator& op = graph.operators[v];
  std::vector<TensorIndex> bases = op.mutates;
  for (const TensorIndex t : op.inputs) bases.push_back(BaseOf(graph, t));
  for (const TensorIndex t : op.outputs) bases.push_back(BaseOf(graph, t));
  std::sort(bases.begin(), bases.end());
  bases.erase(std::unique(bases.begin(), bases.end()), bases.end());
  return bases;
}

}  // namespace

Peak ExaminePeak(const Graph& graph, const Order& order, const Counting& counting) {
  const Liveness liveness = Live(graph, order, counting);
  Peak peak;
  peak.bytes = liveness.peak;
  peak.step = liveness.peak_step;
  const std::size_t none = liveness.tensors.size();
  std::vector<std::size_t> buffer_of(graph.tensors.size(), none);
  for (std::size_t b = 0; b < none; ++b) buffer_of[liveness.tensors[b]] = b;

  const auto at = static_cast<std::size_t>(peak.step);
  std::vector<PeakRow> rows(graph.tensors.size());
  for (std::size_t s = 0; s < order.size(); ++s) {
    Bytes own = 0;
    for (const TensorIndex base : BasesOf(graph, order[s])) {
      if (buffer_of[base] == none) continue;
      own += graph.tensors[base].bytes;
      PeakRow& row = rows[base];
      if (s == at) row.in_use = true;
      if (s > at && !row.next_use) row.next_use = static_cast<Step>(s);
    }
    if (own > peak.largest_step) {
      peak.largest_step = own;
      peak.largest_operator = order[s];
    }
    for (const TensorIndex t : graph.operators[order[s]].outputs) rows[t].maker = order[s];
  }
  // Parameters and constants are live at every step.
  if (counting.parameters) {
    Bytes throughout = 0;
    for (const TensorIndex t : liveness.tensors) {
      const bool made = rows[t].maker.has_value();
      if (!made && graph.tensors[t].kind != TensorKind::kInput)
        throughout += graph.tensors[t].bytes;
    }
    peak.largest_step = std::max(peak.largest_step, throughout);
  }
  if (!order.empty()) peak.op = order[at];
  for (std::size_t b = 0; b < none; ++b) {
    const Buffer& buffer = liveness.problem.buffers[b];
    if (peak.step < buffer.start || peak.step >= buffer.end) continue;
    PeakRow row = rows[liveness.tensors[b]];
    row.tensor = liveness.tensors[b];
    row.start = buffer.start;
    row.end = buffer.end;
    if (row.in_use) peak.in_use += buffer.size;
    peak.rows.push_back(row);
  }
  std::stable_sort(peak.rows.begin(), peak.rows.end(), [&](const PeakRow& x, const PeakRow& y) {
    return graph.tensors[x.tensor].bytes > graph.tensors[y.tensor].bytes;
  });
  return peak;
}

}  // namespace berth
