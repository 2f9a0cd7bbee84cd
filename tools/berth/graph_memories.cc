#include "tools/berth/graph_memories.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <utility>

#include "src/base/try.h"
#include "tools/berth/flags.h"
#include "tools/berth/terminal.h"

namespace berth::cli {

Result<std::vector<std::size_t>> FindMemories(const std::vector<Memory>& memories,
                                              const std::vector<std::string>& names,
                                              const std::string& flag) {
  std::vector<std::size_t> found;
  for (const std::string& name : names) {
    const auto at = std::find_if(memories.begin(), memories.end(),
                                 [&](const Memory& memory) { return memory.name == name; });
    if (at == memories.end() && memories.empty()) {
      return Fail(ErrorCode::kInvalidOptions, flag + ": there is no memory " + Quoted(name) +
                                                  ", as none is described; give --memories");
    }
    if (at == memories.end()) {
      std::string known;
      for (const Memory& memory : memories) {
        known += (known.empty() ? "" : ", ") + OneLine(memory.name);
      }
      return Fail(ErrorCode::kInvalidOptions, flag + ": there is no memory " + Quoted(name) +
                                                  "; there " +
                                                  (memories.size() == 1 ? "is " : "are ") + known);
    }
    const auto m = static_cast<std::size_t>(at - memories.begin());
    if (std::find(found.begin(), found.end(), m) == found.end()) found.push_back(m);
  }
  return found;
}

void AddGraphMemories(CLI::App& app, GraphMemoryArguments& arguments, bool spill) {
  AddMemories(app, arguments.board);
  app.add_option("--activations-in", arguments.activations,
                 "The memories that activations and inputs may be in. Default: any.")
      ->type_name("NAMES")
      ->delimiter(',')
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
  app.add_option("--weights-in", arguments.weights,
                 "The memories that weights may be in, which are then part of the plan.")
      ->type_name("NAMES")
      ->delimiter(',')
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
  if (spill) {
    app.add_flag(
        "--spill", arguments.spill,
        "With --memory: each memory is a scratchpad for the tensors that may be in it alone; "
        "what does not fit is spilled and retrieved, with the least traffic.");
  }
  app.add_flag(
      "--may-move", arguments.may_move,
      "With --memory: a tensor may be copied to another memory between two operators, where "
      "that costs less than staying.");
  app.add_flag("--prefetch", arguments.prefetch,
               "As --may-move, but a DMA engine makes the copies while operators run, and the time "
               "of the run "
               "is what counts. Needs the times of operators, such as from --device.");
  app.add_option(
         "--stage-weights-in", arguments.copies,
         "With --may-move or --prefetch: the memories in which copies of weights may be kept for a "
         "while. The originals stay where --weights-in has them.")
      ->type_name("NAMES")
      ->delimiter(',')
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
  AddDuration(
      app, "--copy-latency", arguments.copy_latency,
      "With --prefetch: what each copy takes besides its bytes, such as 500ns. Default: 0.");
}

Result<Board> LoadBoardFor(const Graph& graph, const GraphMemoryArguments& arguments,
                           Counting& counting) {
  MemoryFile file = BERTH_TRY(LoadBoard(arguments.board));
  Board board;
  board.cost_unit = file.cost_unit;
  board.memories.memories = std::move(file.problem.memories);
  const auto& memories = board.memories.memories;
  const auto activations =
      BERTH_TRY(FindMemories(memories, arguments.activations, "--activations-in"));
  const auto weights = BERTH_TRY(FindMemories(memories, arguments.weights, "--weights-in"));
  if (!weights.empty()) counting.parameters = true;
  if (!activations.empty() || !weights.empty()) {
    board.memories.allowed = AllowedByKind(graph, activations, weights);
  }
  return board;
}

Result<void> SetMoves(const GraphMemoryArguments& arguments, Board& board) {
  if (arguments.copy_latency && !arguments.prefetch) {
    return Fail(ErrorCode::kInvalidOptions,
                "--copy-latency: copies take time of their own only with --prefetch");
  }
  if (arguments.prefetch && board.cost_unit != "ns") {
    return Fail(ErrorCode::kInvalidOptions, "--prefetch: the memories have costs in " +
                                                Quoted(board.cost_unit) +
                                                ", but a run is timed in ns");
  }
  if (!arguments.copies.empty() && !arguments.may_move && !arguments.prefetch) {
    return Fail(ErrorCode::kInvalidOptions,
                "--stage-weights-in: nothing is copied without --may-move or --prefetch");
  }
  if (!arguments.copies.empty() && arguments.weights.empty()) {
    return Fail(ErrorCode::kInvalidOptions,
                "--stage-weights-in: weights are part of the plan only with --weights-in");
  }
  board.memories.stage_in =
      BERTH_TRY(FindMemories(board.memories.memories, arguments.copies, "--stage-weights-in"));
  board.memories.may_move = arguments.may_move || arguments.prefetch;
  board.memories.prefetch = arguments.prefetch;
  // Whether it is too long is for the library to say.
  constexpr double kBeyondAll = 1e18;
  const double nanoseconds = arguments.copy_latency.value_or(0) * 1e9;
  board.memories.copy_latency = std::llround(std::min(nanoseconds, kBeyondAll));
  return {};
}

}  // namespace berth::cli
