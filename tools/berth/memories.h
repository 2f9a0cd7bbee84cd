// tools/berth/memories.h -- several memories on the command line: what is to be placed in them.
#ifndef BERTH_TOOLS_BERTH_MEMORIES_H_
#define BERTH_TOOLS_BERTH_MEMORIES_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/memory_io.h"
#include "tools/berth/table.h"

namespace CLI {
class App;
}

namespace berth::cli {

struct MemoryArguments {
  std::vector<Memory> memories;    // --memory, in order.
  std::vector<std::string> texts;  // The same as given.
  std::string board;               // --memories, a path; empty if not given.
  [[nodiscard]] bool given() const { return !memories.empty() || !board.empty(); }
};
// --memory and --memories.
void AddMemories(CLI::App& app, MemoryArguments& arguments);

// The memories that the arguments give, without buffers. Errors: those of reading a board;
// kInvalidOptions for a memory that comes twice.
[[nodiscard]] Result<MemoryFile> LoadBoard(const MemoryArguments& arguments);

// Whether a file is placed in several memories: it says so itself, or the arguments do.
[[nodiscard]] bool IsForMemories(const MemoryArguments& arguments, std::string_view bytes);

// Memories, and what is to be placed in them.
struct MemoryInput {
  std::string name;  // What errors and reports call it.
  std::string hash;
  MemoryProblem problem;  // Without buffers, of memories alone.
  std::string cost_unit = "ns";
  bool has_buffers = true;
  bool assumed_uses = false;            // Costs are as AssumeUses() makes them.
  bool is_csv = false;                  // A table in CSV.
  std::vector<std::string> notes = {};  // Sentences on where costs come from.
};
// What `table` names, which is `file`. `plan` (of name `plan_name`) has the memories if the arguments
// have none; empty for no plan. Errors: those of readers; kInvalidOptions where memories are missing,
// come twice, or flags do not apply.
[[nodiscard]] Result<MemoryInput> LoadMemories(const TableArguments& table,
                                               const MemoryArguments& arguments, FileView file,
                                               std::string_view plan = {},
                                               const std::string& plan_name = "");

// "8 GB/s", or "3 pJ for 4 bytes"; empty if it costs nothing.
[[nodiscard]] std::string RateText(const Rate& rate, const std::string& cost_unit);
[[nodiscard]] std::string InfoText(const MemoryInput& input);
[[nodiscard]] Json InfoJson(const MemoryInput& input);

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_MEMORIES_H_
