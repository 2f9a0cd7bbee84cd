// tools/berth/graph_memories.h -- models in several memories on the command line: which memories, and
// how tensors may use them.
#ifndef BERTH_TOOLS_BERTH_GRAPH_MEMORIES_H_
#define BERTH_TOOLS_BERTH_GRAPH_MEMORIES_H_

#include <optional>
#include <string>
#include <vector>

#include "berth/graph_memories.h"
#include "berth/memories.h"
#include "tools/berth/memories.h"

namespace CLI {
class App;
}

namespace berth::cli {

struct GraphMemoryArguments {
  MemoryArguments board = {};
  std::vector<std::string> activations = {};  // Names of memories; none: any.
  std::vector<std::string> weights = {};
  std::vector<std::string> copies = {};  // Of weights; none: nowhere.
  bool spill = false;
  bool may_move = false;
  bool prefetch = false;
  std::optional<double> copy_latency = {};  // Seconds.
  [[nodiscard]] bool given() const {
    return board.given() || !activations.empty() || !weights.empty() || !copies.empty() || spill ||
           may_move || prefetch || copy_latency;
  }
};
// --memory, --memories, --activations-in, --weights-in, --may-move, --prefetch, --stage-weights-in and
// --copy-latency; with
// `spill`, also that.
void AddGraphMemories(CLI::App& app, GraphMemoryArguments& arguments, bool spill);

// Indices of the memories that `names` lists, each once. Error: kInvalidOptions, naming `flag`.
[[nodiscard]] Result<std::vector<std::size_t>> FindMemories(const std::vector<Memory>& memories,
                                                            const std::vector<std::string>& names,
                                                            const std::string& flag);

// The memories that were given, and which tensors may be in which.
struct Board {
  GraphMemories memories;
  std::string cost_unit = "ns";
};
// Where weights have memories of their own, `counting` then counts them. Errors: kInvalidOptions for a
// memory that is not there; those of reading a board.
[[nodiscard]] Result<Board> LoadBoardFor(const Graph& graph, const GraphMemoryArguments& arguments,
                                         Counting& counting);
// Sets whether tensors may move, and how. Errors: kInvalidOptions for a latency without --prefetch, for a
// memory that is not there, for copies of weights where nothing moves or no weights are planned, and
// for --prefetch where costs are not times.
[[nodiscard]] Result<void> SetMoves(const GraphMemoryArguments& arguments, Board& board);

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_GRAPH_MEMORIES_H_
