// tools/berth/problem_table.h -- what commands say of several problems of one file.
#ifndef BERTH_TOOLS_BERTH_PROBLEM_TABLE_H_
#define BERTH_TOOLS_BERTH_PROBLEM_TABLE_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "tools/berth/output.h"
#include "tools/berth/table.h"
#include "tools/berth/terminal.h"

namespace berth::cli {

// A row for each problem: its number, its name, its buffers, and what the command says of it.
class ProblemTable {
 public:
  using Column = std::pair<std::string, TextTable::Align>;
  // `inputs` must outlive the table.
  ProblemTable(const std::vector<Input>& inputs, const std::vector<Column>& columns);
  // One of the inputs.
  void Add(const Input& input, std::vector<std::string> cells);
  // Of all that were added, below a rule.
  void AddSum(std::vector<std::string> cells);
  // With a line that says how to choose one.
  [[nodiscard]] std::string ToString() const;

 private:
  void AddRow(const std::string& number, const std::string& name, std::size_t buffers,
              std::vector<std::string> cells);

  const std::vector<Input>& inputs_;
  TextTable table_;
  std::size_t buffers_ = 0;
};

// What the command says of one problem, under its name; the version is that of the file's object.
[[nodiscard]] Json ProblemJson(const Input& input, const Json& json);
// The object of the file.
[[nodiscard]] Json ProblemsJson(const std::vector<Input>& inputs, Json problems);

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_PROBLEM_TABLE_H_
