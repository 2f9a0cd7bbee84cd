#include "tools/berth/problem_table.h"

#include <cstdint>
#include <iterator>

namespace berth::cli {
namespace {

using Align = TextTable::Align;

std::vector<Align> AlignsOf(const std::vector<ProblemTable::Column>& columns) {
  std::vector<Align> aligns = {Align::kRight, Align::kLeft, Align::kRight};
  for (const ProblemTable::Column& column : columns) aligns.push_back(column.second);
  return aligns;
}

}  // namespace

ProblemTable::ProblemTable(const std::vector<Input>& inputs, const std::vector<Column>& columns)
    : inputs_(inputs), table_(AlignsOf(columns)) {
  constexpr std::size_t kName = 50;
  table_.Elide(1, kName);
  std::vector<std::string> header = {"", "problem", "buffers"};
  for (const Column& column : columns) header.push_back(column.first);
  table_.AddRow(std::move(header));
}

void ProblemTable::AddRow(const std::string& number, const std::string& name, std::size_t buffers,
                          std::vector<std::string> cells) {
  std::vector<std::string> row = {number, name, FormatCount(static_cast<std::int64_t>(buffers))};
  std::move(cells.begin(), cells.end(), std::back_inserter(row));
  table_.AddRow(std::move(row));
}

void ProblemTable::Add(const Input& input, std::vector<std::string> cells) {
  const std::size_t buffers = input.problem.buffers.size();
  buffers_ += buffers;
  AddRow(std::to_string(&input - inputs_.data() + 1), OneLine(input.part), buffers,
         std::move(cells));
}

void ProblemTable::AddSum(std::vector<std::string> cells) {
  table_.AddRule();
  AddRow("", "all", buffers_, std::move(cells));
}

std::string ProblemTable::ToString() const {
  return table_.ToString() + "  Choose one with --problem NAME or N.\n";
}

Json ProblemJson(const Input& input, const Json& json) {
  Json problem = {{"problem", input.part}};
  problem.update(json);
  problem.erase("berth_version");
  return problem;
}

Json ProblemsJson(const std::vector<Input>& inputs, Json problems) {
  return {{"input", inputs.front().name},
          {"input_hash", inputs.front().hash()},
          {"problems", std::move(problems)},
          {"berth_version", BERTH_VERSION}};
}

}  // namespace berth::cli
