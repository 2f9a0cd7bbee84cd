// tools/berth/memory_sweep.h -- what one memory of several is worth, capacity by capacity.
#ifndef BERTH_TOOLS_BERTH_MEMORY_SWEEP_H_
#define BERTH_TOOLS_BERTH_MEMORY_SWEEP_H_

#include <optional>
#include <string>
#include <vector>

#include "tools/berth/command.h"
#include "tools/berth/graph_memories.h"
#include "tools/berth/model.h"

namespace berth::cli {

// What berth sweep was asked for: the capacity of one memory.
struct MemorySweepArguments {
  const ModelArguments& reading;
  const std::string& path;
  const GraphMemoryArguments& arguments;  // One --memory is a name alone: that memory.
  int points = 20;
  std::vector<Bytes> capacities = {};
  bool fixed_order = false;
  std::optional<double> time_limit = {};
  const std::string& output;
  const std::string& svg;
  const std::string& report;
};
[[nodiscard]] Result<ExitCode> SweepOneMemory(const MemorySweepArguments& arguments);

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_MEMORY_SWEEP_H_
