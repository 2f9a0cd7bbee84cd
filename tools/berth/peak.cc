#include "tools/berth/peak.h"

#include <algorithm>

#include "tools/berth/model.h"

namespace berth::cli {
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

std::string OperatorName(const Graph& graph, OperatorIndex v) {
  return Abridged(graph.operators[v].name, 36);
}

}  // namespace

Peak ExaminePeak(const Graph& graph, const Order& order, const Liveness& liveness,
                 const Counting& counting) {
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
  // Whatever runs, these are there.
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

std::string PeakText(const Peak& peak, const Graph& graph, const Order& order, std::size_t most) {
  if (peak.rows.empty()) return "";
  std::string text = "\n" + Paint(Tone::kStrong, "Live at the peak") + ", step " +
                     FormatCount(peak.step) + " of " +
                     FormatCount(static_cast<std::int64_t>(order.size()));
  if (peak.op) {
    const std::string& type = graph.operators[*peak.op].type;
    text +=
        ", while " + OperatorName(graph, *peak.op) +
        (type.empty() || type == graph.operators[*peak.op].name ? ""
                                                                : " (" + Abridged(type, 24) + ")") +
        " runs";
  }
  text += "\n";
  using Align = TextTable::Align;
  TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kLeft, Align::kLeft});
  table.AddRow({"tensor", "bytes", "share", "made by, at step", "used next by, at step"});
  Bytes rest = 0;
  for (std::size_t i = 0; i < peak.rows.size(); ++i) {
    const PeakRow& row = peak.rows[i];
    const Bytes bytes = graph.tensors[row.tensor].bytes;
    if (i >= most) {
      rest += bytes;
      continue;
    }
    const double share = static_cast<double>(bytes) / static_cast<double>(peak.bytes);
    const auto stepped = [&](Step step) {
      return OperatorName(graph, order[static_cast<std::size_t>(step)]) + ", " + FormatCount(step);
    };
    const std::string made = row.maker ? stepped(row.start) : "before the run";
    const std::string next = row.in_use     ? "now"
                             : row.next_use ? stepped(*row.next_use)
                                            : "nobody: kept to the end";
    table.AddRow({Abridged(graph.tensors[row.tensor].name, 36), FormatBytes(bytes),
                  FormatPercent(share), made, next});
  }
  text += table.ToString();
  if (peak.rows.size() > most) {
    text += "  and " +
            Plural(static_cast<std::int64_t>(peak.rows.size() - most), "smaller tensor") + " of " +
            FormatBytes(rest) + " in all\n";
  }
  return text;
}

Json PeakJson(const Peak& peak, const Graph& graph, const Order& order) {
  Json json;
  json["bytes"] = peak.bytes;
  json["step"] = peak.step;
  json["operator"] = peak.op ? Json(graph.operators[*peak.op].name) : Json(nullptr);
  json["in_use"] = peak.in_use;
  json["waiting"] = peak.bytes - peak.in_use;
  json["largest_operator_bytes"] = peak.largest_step;
  json["live"] = Json::array();
  for (const PeakRow& row : peak.rows) {
    Json live;
    live["tensor"] = graph.tensors[row.tensor].name;
    live["bytes"] = graph.tensors[row.tensor].bytes;
    live["made_by"] = row.maker ? Json(graph.operators[*row.maker].name) : Json(nullptr);
    live["start"] = row.start;
    live["end"] = row.end;
    live["in_use"] = row.in_use;
    live["next_use"] = row.next_use ? Json(*row.next_use) : Json(nullptr);
    live["next_user"] =
        row.next_use ? Json(graph.operators[order[static_cast<std::size_t>(*row.next_use)]].name)
                     : Json(nullptr);
    json["live"].push_back(std::move(live));
  }
  return json;
}

}  // namespace berth::cli
