#include "tools/berth/peak.h"

#include "tools/berth/model.h"
#include "tools/berth/terminal.h"

namespace berth::cli {
namespace {

std::string OperatorName(const Graph& graph, OperatorIndex v) {
  return Abridged(graph.operators[v].name, 36);
}

}  // namespace

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
  table.Elide(0, 36);
  table.Elide(3, 42);
  table.Elide(4, 42);
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
      return OneLine(graph.operators[order[static_cast<std::size_t>(step)]].name) + ", " +
             FormatCount(step);
    };
    const std::string made = row.maker ? stepped(row.start) : "before the run";
    const std::string next = row.in_use     ? "now"
                             : row.next_use ? stepped(*row.next_use)
                                            : "none (kept to the end)";
    table.AddRow({OneLine(graph.tensors[row.tensor].name), FormatBytes(bytes), FormatPercent(share),
                  made, next});
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
  json["in_use_bytes"] = peak.in_use;
  json["waiting_bytes"] = peak.bytes - peak.in_use;
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
    live["next_use_step"] = row.next_use ? Json(*row.next_use) : Json(nullptr);
    live["next_user"] =
        row.next_use ? Json(graph.operators[order[static_cast<std::size_t>(*row.next_use)]].name)
                     : Json(nullptr);
    json["live"].push_back(std::move(live));
  }
  return json;
}

}  // namespace berth::cli
