// tools/berth/memory_summary.h -- what is said and written of plans for several memories.
#ifndef BERTH_TOOLS_BERTH_MEMORY_SUMMARY_H_
#define BERTH_TOOLS_BERTH_MEMORY_SUMMARY_H_

#include <string>
#include <string_view>
#include <vector>

#include "tools/berth/command.h"
#include "tools/berth/memories.h"
#include "tools/berth/output.h"
#include "tools/berth/watched_search.h"

namespace berth::cli {

// What berth place was asked for.
struct MemoryPlaceArguments {
  const TableArguments& table;
  const MemoryArguments& memories;
  const SearchArguments& search;
  const PlanOutputs& outputs;
  bool explain = false;  // The summary says why buffers are not where they would cost the least.
};
// Places the buffers of `file` in several memories, writes what was asked for, and sums it up.
[[nodiscard]] Result<ExitCode> PlaceMemories(const MemoryPlaceArguments& arguments, FileView file);

// What pages say of the verifier, which has accepted a plan with so many buffers or tensors.
[[nodiscard]] std::string MemoryVerdict(std::size_t count, const std::string& noun);

// Whether the text of a plan in JSON names memories.
[[nodiscard]] bool IsPlanInMemories(std::string_view plan);
// What berth check was asked for.
struct MemoryCheckArguments {
  const TableArguments& table;
  const MemoryArguments& memories;
  const std::string& plan;  // Its text; empty: the table itself has the plan.
  std::string plan_name;    // What errors call it.
  bool json = false;
};
[[nodiscard]] Result<ExitCode> CheckMemories(const MemoryCheckArguments& arguments, FileView file);

// What `berth check` prints of a plan that does not hold: the first twenty faults, and how many more.
[[nodiscard]] std::string FaultsText(const std::vector<std::string>& faults);

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_MEMORY_SUMMARY_H_
