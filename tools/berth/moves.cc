#include "tools/berth/moves.h"

#include <algorithm>
#include <set>

#include "tools/berth/terminal.h"

namespace berth::cli {

std::vector<Move> MovesOf(const Graph& graph, const MemoryPlan& plan) {
  std::vector<Move> moves;
  for (std::size_t i = 1; i < plan.residencies.size(); ++i) {
    const Residency& before = plan.residencies[i - 1];
    const Residency& after = plan.residencies[i];
    // Where it is not retrieved, an operator makes it again.
    if (before.tensor != after.tensor || !after.comes_in) continue;
    const Bytes bytes = graph.tensors[before.tensor].bytes;
    if (before.written_out) moves.push_back({before.end, before.tensor, bytes, true});
    moves.push_back({after.start, after.tensor, bytes, false});
  }
  // What is spilled makes room for what is retrieved.
  std::stable_sort(moves.begin(), moves.end(), [](const Move& a, const Move& b) {
    return a.step != b.step ? a.step < b.step : a.out && !b.out;
  });
  return moves;
}

std::string DescribeMoves(const std::vector<Move>& moves) {
  std::set<std::size_t> tensors;
  for (const Move& move : moves) tensors.insert(move.tensor);
  return Plural(static_cast<std::int64_t>(tensors.size()), "tensor") + ", in " +
         (moves.size() == 1 ? "1 copy"
                            : FormatCount(static_cast<std::int64_t>(moves.size())) + " copies");
}

std::string MovesTable(const Graph& graph, const MemoryPlan& plan) {
  constexpr std::size_t kName = 40;
  using enum TextTable::Align;
  TextTable table({kRight, kLeft, kLeft, kRight, kLeft});
  table.Elide(1, kName);
  table.Elide(4, kName);
  table.AddRow({"before step", "operator", "copied", "bytes", "tensor"});
  for (const Move& move : MovesOf(graph, plan)) {
    const auto step = static_cast<std::size_t>(move.step);
    table.AddRow({std::to_string(move.step),
                  step < plan.order.size() ? OneLine(graph.operators[plan.order[step]].name) : "",
                  move.out ? "out" : "in", FormatCount(move.bytes),
                  OneLine(graph.tensors[move.tensor].name)});
  }
  return "\n" + Paint(Tone::kStrong, "Copies") + ", in the order in which they happen\n" +
         table.ToString();
}

Json MovesJson(const Graph& graph, const MemoryPlan& plan) {
  Json moves = Json::array();
  for (const Move& move : MovesOf(graph, plan)) {
    moves.push_back({{"step", move.step},
                     {"tensor", graph.tensors[move.tensor].name},
                     {"bytes", move.bytes},
                     {"direction", move.out ? "out" : "in"}});
  }
  return moves;
}

}  // namespace berth::cli
