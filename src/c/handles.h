// c/handles.h -- what the handles of berth/berth.h hold. Several handles share one input, which is
// copied before it is changed, so that handles can be freed in any order.
#ifndef BERTH_C_HANDLES_H_
#define BERTH_C_HANDLES_H_

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "berth/answer.h"
#include "berth/berth.h"
#include "berth/graph_memories.h"
#include "berth/model.h"
#include "berth/plan_io.h"
#include "berth/problem.h"

namespace berth::internal::c {

// A table, and where it comes from.
struct TableInput {
  Problem problem;  // Without a capacity.
  std::string name = "table";
  std::string hash = {};  // Of the bytes that were read; empty for a table that was built.
};

// A graph, and where it comes from.
struct GraphInput {
  Model model;
  std::string name = {};
  ModelOptions options = {};  // How it was read.
  std::string path = {};      // Of the file that it was read from; empty for any other graph.
  std::string hash = {};      // Of the bytes that were read; empty for a graph that was built.
};

// The hash of the bytes that were read, or else of the input as a file. Cost: linear.
[[nodiscard]] std::string HashOfInput(const TableInput& input);
[[nodiscard]] std::string HashOfInput(const GraphInput& input);

// `input`, which no other handle shares.
template <typename Input>
[[nodiscard]] Input& Own(std::shared_ptr<Input>& input) {
  if (input.use_count() != 1) input = std::make_shared<Input>(*input);
  // What another thread read through a handle that it has freed since was read before this.
  std::atomic_thread_fence(std::memory_order_acquire);
  return *input;
}

// The last part of a path.
[[nodiscard]] std::string FileName(const std::string& path);

// Of a table or a graph that a call has to have.
[[nodiscard]] const std::shared_ptr<TableInput>& InputOf(const berth_problem* problem);
[[nodiscard]] const std::shared_ptr<GraphInput>& InputOf(const berth_graph* graph);
[[nodiscard]] const berth_plan& PlanOf(const berth_plan* plan);
// The same of a plan in several memories.
[[nodiscard]] const berth_plan& PlanInMemories(const berth_plan* plan);

// The table with its memories. Error: kInvalidProblem for a buffer that may be nowhere; Validate() checks
// the rest.
[[nodiscard]] Result<MemoryProblem> MemoryProblemOf(const berth_problem* table,
                                                    const berth_memories* memories);

// The buffers of arrays as `options` reads lifetimes, with ids from `first_id`. Error:
// kInvalidProblem, naming the buffer, for an end that cannot be counted further.
[[nodiscard]] Result<std::vector<Buffer>> BuffersOf(
    std::size_t count, const std::int64_t* start, const std::int64_t* end, const std::int64_t* size,
    const std::int64_t* alignment, const berth_options* options, std::size_t first_id);

[[nodiscard]] berth_summary SummaryOf(const PlanAnswer& answer);
[[nodiscard]] berth_outcome OutcomeOf(Outcome outcome);

}  // namespace berth::internal::c

struct berth_problem {
  std::shared_ptr<berth::internal::c::TableInput> input;
};

struct berth_graph {
  std::shared_ptr<berth::internal::c::GraphInput> input;
};

struct berth_plan {
  std::shared_ptr<berth::internal::c::TableInput> table;  // Of a table,
  std::shared_ptr<berth::internal::c::GraphInput> graph;  // or of a graph.
  berth::PlanAnswer answer;
  berth::PlanOptions options;  // That were asked for.
  std::optional<std::int64_t> node_limit;
  const char* command = "plan";
  std::string cost_unit = "ns";              // Of several memories.
  std::vector<berth_residency> residencies;  // Those of the answer.
  std::vector<berth::MemoryCopy> copies;     // Of several memories, and with prefetch
  std::optional<berth::TimedRun> run;        // what happens when.
  std::int64_t run_cost = 0;                 // Where operators may run again: of running each once,
  std::string run_unit;                      // and its unit.

  // What it is of; a table with the capacity that was asked for is in `problem`.
  berth::Problem problem;
  // Of a graph in several memories.
  [[nodiscard]] bool several() const {
    return graph != nullptr && !options.memories.memories.empty();
  }
  [[nodiscard]] berth::PlanSubject subject() const {
    if (table != nullptr) return problem;
    return graph->model.graph;
  }
  [[nodiscard]] berth::Provenance provenance() const;
};

#endif  // BERTH_C_HANDLES_H_
