// tools/berth/table.h -- tables of buffers on the command line: their files, and what people read
// of them.
#ifndef BERTH_TOOLS_BERTH_TABLE_H_
#define BERTH_TOOLS_BERTH_TABLE_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "berth/io.h"
#include "berth/place.h"
#include "berth/planned_problem.h"
#include "berth/problem.h"
#include "tools/berth/output.h"
#include "tools/berth/snapshot.h"

namespace CLI {
class App;
}

namespace berth::cli {

struct TableArguments {
  std::string path;
  std::optional<Bytes> capacity;
  CsvOptions csv;
  std::string endpoints = {};  // As given; empty if not.
  std::string problem = {};    // As ChooseProblem() takes it; empty if not given.
};
// TABLE, --capacity, --endpoints and --problem.
void AddTable(CLI::App& app, TableArguments& arguments,
              const std::string& description =
                  "CSV table of buffers, a PyTorch memory snapshot (pickle), or what XLA (text, "
                  ".hlo.pb, tables of memory space assignment), ExecuTorch (.pte), TensorFlow Lite "
                  "Micro, Vela or Glow wrote down of their plans; - is standard input.");

// What another planner did with a table, such as XLA. Its `problem` is that of the input, and empty
// here.
struct GivenPlan : PlannedProblem {
  std::string maker;
  std::string what;                  // "allocation 5 of 8".
  std::optional<Bytes> height = {};  // None if it is not known.
};

struct Input {
  std::string name;                                    // What errors and reports call it.
  std::string text;                                    // Of a CSV file.
  Problem problem;                                     // With the capacity from the command line.
  std::shared_ptr<const SnapshotInput> snapshot = {};  // If it is one.
  std::optional<GivenPlan> given = {};
  std::string part = {};  // Its name among the problems of the file, if it is one of several.
  std::string hash_of_file = {};  // If the file is neither CSV nor a snapshot.
  [[nodiscard]] std::string hash() const;
};
// All problems of a file, or the one that the arguments choose: one at least. A snapshot counts as
// the problem of one pool.
[[nodiscard]] Result<std::vector<Input>> LoadAll(const TableArguments& arguments);
// The same of a file that has been opened already.
[[nodiscard]] Result<std::vector<Input>> ParseTables(const TableArguments& arguments,
                                                     FileView file);
// The only problem. Error: kInvalidOptions also where there are several.
[[nodiscard]] Result<Input> Load(const TableArguments& arguments);
[[nodiscard]] Result<Input> ParseTable(const TableArguments& arguments, FileView file);
// Whether a file is read as a table in CSV, whose lifetimes can mean several things.
[[nodiscard]] bool IsCsv(std::string_view bytes);
// The names of problems of one file.
[[nodiscard]] std::vector<std::string> PartsOf(const std::vector<Input>& inputs);
// Files as they are, folders as the tables in them, in order of their names. Error: kIo for a
// folder without any; kInvalidOptions for standard input.
[[nodiscard]] Result<std::vector<std::string>> FindTables(const std::vector<std::string>& paths);
// What to call the file at `path`: itself without its folders, which differ between machines.
[[nodiscard]] std::string NameOf(const std::string& path);

// Two pinned buffers that share bytes: no plan can keep both, whatever the capacity.
struct PinCollision {
  std::string first;  // Ids.
  std::string second;
  std::string sentence;  // Which two, where and when, in one line.
};
[[nodiscard]] PinCollision DescribeCollision(const Conflict& conflict, const Problem& problem);
// Looks for one. Error: as Explain().
[[nodiscard]] Result<std::optional<PinCollision>> FindCollision(const Problem& problem);
// "128 KiB (131,140 bytes), 3.2 % more than is needed".
[[nodiscard]] std::string GivenText(const GivenPlan& given, Bytes needed);
[[nodiscard]] Json ToJson(const GivenPlan& given);
[[nodiscard]] Json ToJson(const std::optional<PinCollision>& collision);  // The two ids, or null.

// Why the bound is higher than the load, as the end of a sentence: ", where the pinned "p" ends";
// empty where it is not higher.
[[nodiscard]] std::string ReasonOf(const LoadBound& bound, const Problem& problem);

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_TABLE_H_
