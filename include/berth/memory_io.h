// berth/memory_io.h -- memories, and buffers for them, in files and on command lines.
//
//   A board, and a table of buffers for its memories (docs/formats/memories.md, docs/formats/csv.md):
//
//     const auto board = berth::ReadMemoriesJson(*text, "board.json");
//     if (!board) return Complain(board.error().message);  // "board.json:7:12: ..."
//     auto file = berth::ReadMemoriesCsv(*table, "table.csv", board->problem.memories);
//     if (!file) return Complain(file.error().message);
//     if (!file->has_costs) berth::AssumeUses(file->problem);
//     berth::Budget budget(1.0);
//     const auto answer = berth::PlaceInMemories(file->problem, {}, budget);
//
//   A memory as people write it:
//
//     berth::ParseMemory("tcm=512KiB@8GB/s");
//
//   A plan as a table, and back:
//
//     const std::string csv = berth::WriteMemoriesCsv(file->problem, &*answer->best);
//     const auto plan = berth::ReadPlanFor(file->problem, csv, "plan.csv");  // berth/plan_io.h
#ifndef BERTH_MEMORY_IO_H_
#define BERTH_MEMORY_IO_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/memories.h"
#include "berth/result.h"
#include "berth/table_io.h"

namespace [[gnu::visibility("default")]] berth {

// How many of a unit of cost are a second: "ps", "ns", "us", "ms", "s". Nothing for any other unit.
[[nodiscard]] std::optional<std::int64_t> UnitsPerSecond(std::string_view cost_unit);

// NAME[=CAPACITY][@BANDWIDTH], where a bandwidth is RATE or read:RATE,write:RATE, one of both or both:
// "sram=512KiB@8GB/s", "psram@40MB/s", "flash=2MiB@read:200MB/s,write:1MB/s". Sizes are as
// ParseBytes() reads them (berth/bytes.h); costs are nanoseconds. Without a bandwidth nothing costs
// anything. Error: kInvalidOptions, a sentence that quotes what is wrong; the result is valid.
[[nodiscard]] Result<Memory> ParseMemory(std::string_view text);

// What a file says of memories and buffers.
struct MemoryFile {
  MemoryProblem problem;
  bool has_buffers = true;  // False: the file describes memories alone.
  bool has_costs = true;    // Some buffer has candidates with costs, uses, or need not be placed.
  std::string cost_unit = "ns";         // What costs are in.
  std::vector<std::size_t> lines = {};  // Parallel to the buffers: their lines, the first being 1.
};

// Reads memories, and what is to be placed in them, from JSON; also the memories of a plan in JSON.
// `name` is what errors call the file. If there are buffers, the problem is valid; otherwise the
// memories are.
// Errors: kParse, kInvalidProblem "NAME:LINE:COLUMN: ...".
[[nodiscard]] Result<MemoryFile> ReadMemoriesJson(std::string_view text, std::string_view name);
// Writes what ReadMemoriesJson() reads; that gives an equal problem.
[[nodiscard]] std::string WriteMemoriesJson(const MemoryProblem& problem,
                                            std::string_view cost_unit = "ns");

// Reads a table of buffers for `memories`, which must be valid: the columns of ReadCsv(), and those
// that say where buffers may be and at what cost. The problem is valid. Errors: as ReadCsv().
[[nodiscard]] Result<MemoryFile> ReadMemoriesCsv(std::string_view text, std::string_view name,
                                                 const std::vector<Memory>& memories,
                                                 const CsvOptions& options = {});
// Writes `problem` without its memories; ReadMemoriesCsv() with these gives an equal problem, but that
// groups, their members and pairs apart come in the order of the buffers. With `plan`, the columns
// `memory` and `offset` hold it; they are empty for buffers that are left out.
[[nodiscard]] std::string WriteMemoriesCsv(const MemoryProblem& problem,
                                           const MemoryPlan* plan = nullptr);

// Every buffer is written once and read once as a whole: for tables that say nothing of costs.
void AssumeUses(MemoryProblem& problem);

// A cost for people, three significant digits of a time: "1.23 ms" for 1234567 "ns"; any other unit
// with all digits: "1,234 pJ".
[[nodiscard]] std::string FormatCost(std::int64_t cost, std::string_view cost_unit);
// With all digits: "1.23 ms (1,234,567 ns)".
[[nodiscard]] std::string FormatCostExactly(std::int64_t cost, std::string_view cost_unit);

}  // namespace berth

#endif  // BERTH_MEMORY_IO_H_
