#include "tools/berth/moves.h"

#include <algorithm>
#include <set>
#include <utility>

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
    if (before.written_out) {
      moves.push_back({before.end, before.tensor, bytes, true, before.memory});
    }
    moves.push_back({after.start, after.tensor, bytes, false, after.memory});
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

std::string MovesTable(const Graph& graph, const MemoryPlan& plan,
                       const std::vector<Memory>& memories) {
  constexpr std::size_t kName = 40;
  using enum TextTable::Align;
  std::vector<TextTable::Align> columns = {kRight, kLeft, kLeft, kRight, kLeft};
  std::vector<std::string> titles = {"before step", "operator", "copied", "bytes", "tensor"};
  if (!memories.empty()) {
    columns.push_back(kLeft);
    titles.emplace_back("memory");
  }
  TextTable table(columns);
  table.Elide(1, kName);
  table.Elide(4, kName);
  table.AddRow(std::move(titles));
  for (const Move& move : MovesOf(graph, plan)) {
    const auto step = static_cast<std::size_t>(move.step);
    std::vector<std::string> row = {
        std::to_string(move.step),
        step < plan.order.size() ? OneLine(graph.operators[plan.order[step]].name) : "",
        move.out ? "out" : "in", FormatCount(move.bytes), OneLine(graph.tensors[move.tensor].name)};
    if (!memories.empty()) {
      row.push_back(OneLine(memories[static_cast<std::size_t>(move.memory)].name));
    }
    table.AddRow(std::move(row));
  }
  return "\n" + Paint(Tone::kStrong, "Copies") + ", in the order in which they happen\n" +
         table.ToString();
}

Json MovesJson(const Graph& graph, const MemoryPlan& plan, const std::vector<Memory>& memories) {
  Json moves = Json::array();
  for (const Move& move : MovesOf(graph, plan)) {
    Json each = {{"step", move.step},
                 {"tensor", graph.tensors[move.tensor].name},
                 {"bytes", move.bytes},
                 {"direction", move.out ? "out" : "in"}};
    if (!memories.empty()) each["memory"] = memories[static_cast<std::size_t>(move.memory)].name;
    moves.push_back(std::move(each));
  }
  return moves;
}

}  // namespace berth::cli
