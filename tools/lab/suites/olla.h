// tools/lab/suites/olla.h -- what the experiments of OLLA's paper share.
#ifndef BERTH_TOOLS_LAB_SUITES_OLLA_H_
#define BERTH_TOOLS_LAB_SUITES_OLLA_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/allocators.h"
#include "berth/olla.h"
#include "berth/problem.h"
#include "berth/recompute_baselines.h"
#include "berth/result.h"
#include "berth/schedule.h"
#include "tools/lab/suites/inputs.h"
#include "tools/lab/suites/lab.h"

namespace berth::lab {

// No limit on the number of inputs.
inline constexpr std::size_t kAllInputs = 1'000'000;

// A graph with its order and what is live under it.
struct Ordered {
  const GraphInput* input = nullptr;
  Bytes program_peak = 0;
  PlanAnswer answer;
  double seconds = 0;  // Processor time, the median of all rounds.
};

// Finds the order of each, `rounds` times; each is verified. `counting` says what is in memory.
[[nodiscard]] Result<std::vector<Ordered>> OrderAll(const Lab& lab, const std::string& what,
                                                    const std::vector<GraphInput>& inputs,
                                                    int rounds, const Counting& counting = {});

// What PyTorch's allocator, simulated, holds in program order, and what our plan needs.
struct Whole {
  Ordered ordered;
  AllocatorFootprint dynamic;
  Bytes arena = 0;
};
// Of each; `inputs` must outlive it.
[[nodiscard]] Result<std::vector<Whole>> MeasureWhole(const Lab& lab, const std::string& what,
                                                      const std::vector<GraphInput>& inputs);
// The mean fragmentation in the paper's Figure 8 of "batch 1" and "batch 32"; of others none.
[[nodiscard]] std::optional<double> PaperFragmentation(std::string_view group);
// The experiment "workspaces": Figure 8 with workspaces of convolutions.
[[nodiscard]] Result<void> Workspaces(Lab& lab);

// One run of OLLA's program.
struct OllaRun {
  OllaAnswer answer;
  double seconds = 0;  // Processor time.
  [[nodiscard]] bool closed() const { return answer.found && answer.claims_optimal; }
};
[[nodiscard]] Result<OllaRun> RunOlla(const Graph& graph, const OllaOptions& options, double limit);

// Real graphs, and small ones of two families, of at most `most_operators` before they are generated; those on
// the command line replace all.
[[nodiscard]] Result<std::vector<GraphInput>> ProgramInputs(Lab& lab, std::int64_t most_operators);

// The experiment "ilp": OLLA's integer program against our search.
[[nodiscard]] Result<void> IntegerProgram(Lab& lab);
// The experiment "joint": its program for order and addresses together against those one after the other.
[[nodiscard]] Result<void> JointProgram(Lab& lab);

// A question to its program with operators that run again and copies.
struct RecomputeQuestion {
  const GraphInput* input = nullptr;
  Bytes capacity = 0;
  bool copies = false;     // Over a link of half the bandwidth of the memory.
  bool published = false;  // As in the authors' code; else with SpareSteps().
  // OllaRecomputeOptions::most_cost: the least peak instead of the least cost.
  std::optional<std::int64_t> most_cost = {};
  [[nodiscard]] bool real() const { return input->group != "generated"; }
};
struct RecomputeRun {
  RecomputeBaselineAnswer answer;
  double seconds = 0;  // Processor time.
};
// Within a limit of processor time; the plan is verified. Programs of more than 100,000 variables are not tried.
[[nodiscard]] Result<RecomputeRun> RunOllaRecompute(const RecomputeQuestion& question,
                                                    double limit);
// Berth's plan of least cost, verified; with PlanAnswer::seconds of processor time.
[[nodiscard]] Result<PlanAnswer> PlanOwnRecompute(const RecomputeQuestion& question, double limit);
// How many steps the program has beyond one for each operator: half as many as operators.
[[nodiscard]] std::size_t SpareSteps(const Graph& graph);
// Small graphs and, the smallest first, training steps, of which no operator by itself needs more than 75 % of the
// least peak; or those on the command line. All cost nanoseconds.
[[nodiscard]] Result<std::vector<GraphInput>> RecomputeInputs(Lab& lab);
// "too large", "closed", "nothing fits", "limit" or "no plan".
[[nodiscard]] std::string ProgramStatus(std::int64_t variables, bool closed, bool has_plan);
// One question about a graph; what the percentage is of is for the asker to say.
struct RecomputeAsked {
  const GraphInput* input = nullptr;
  Bytes least_peak = 0;  // At no cost, without copies.
  int percent = 0;
  bool copies = false;
};
// Asks of each graph with each percentage, without and with copies. `measure` says whether the program is closed:
// after two real graphs without a closed one no larger graph is tried.
// The order of least peak gets a limit of processor time, in seconds.
[[nodiscard]] Result<void> AskOfEach(
    const std::vector<GraphInput>& inputs, const std::vector<int>& percents, double limit,
    const std::function<Result<bool>(const RecomputeAsked&)>& measure);

// The experiment "recomputation": that program against our search.
[[nodiscard]] Result<void> OllaRecomputation(Lab& lab);
// The experiment "recomputation-peak": the same for the least peak at a bounded cost.
[[nodiscard]] Result<void> OllaRecomputationPeak(Lab& lab);

}  // namespace berth::lab

#endif  // BERTH_TOOLS_LAB_SUITES_OLLA_H_
