// berth/schedule.h -- orders the operators of a graph for the least memory.
//
//   berth::Budget budget;
//   budget.SetTimeLimit(1.0);
//   const auto answer = berth::Schedule(graph, {}, budget);
//
// The order of operators decides which tensors are live together, and so the peak: the most bytes
// live at one step. Schedule() gives the order of least peak that it can find within the budget and
// says what it proved about it. Real graphs of thousands of operators mostly come with a proof, in
// milliseconds. Thread-safety: all functions here may be called from several threads on different
// arguments.
#ifndef BERTH_SCHEDULE_H_
#define BERTH_SCHEDULE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "berth/answer.h"
#include "berth/budget.h"
#include "berth/graph.h"
#include "berth/place.h"
#include "berth/result.h"

namespace [[gnu::visibility("default")]] berth {

enum class ScheduleAlgorithm {
  kAuto,             // Exact search: cheap methods first, expensive ones last.
  kProgram,          // As the graph is written.
  kHoistedUpdates,   // Program order, each weight update right after its last predecessor.
  kGreedy,           // Of the operators ready, the one that leaves the fewest bytes live.
  kGreedyBackwards,  // The same, from the end.
  kBeam,             // Many orders side by side, forwards and backwards.
};

struct ScheduleAlgorithmInfo {
  ScheduleAlgorithm algorithm;
  std::string_view name;     // As on the command line: "hoisted-updates".
  std::string_view summary;  // One sentence.
  std::string_view source;   // Paper and section.
  bool exact;                // Can prove optimality.
};
// All algorithms, in the order of the enumeration.
[[nodiscard]] std::span<const ScheduleAlgorithmInfo> ScheduleAlgorithms();
[[nodiscard]] const ScheduleAlgorithmInfo& Info(ScheduleAlgorithm algorithm);
// Nothing where no algorithm has that name.
[[nodiscard]] std::optional<ScheduleAlgorithm> ScheduleAlgorithmFromName(std::string_view name);

// Switches for the parts of the exact search (the files of src/schedule explain them). They change
// work and time, never what is proved.
struct ExactOptions {
  bool reduction = true;   // Operators with an obvious place are not searched (reduce.h).
  bool segments = true;    // Parts that every order runs one after the other are solved alone.
  bool cut_bound = true;   // Minimum cuts bound the step of each operator (cut.h).
  bool beam = true;        // Good orders quickly (beam.h).
  bool annealing = true;   // Lower peaks of wide graphs by moving single operators (anneal.h).
  bool probing = true;     // Order constraints that a limit implies, by minimum cuts (probe.h).
  bool refuting = true;    // Bisection: limits are refuted, or kept to by an order (bisect.h).
  bool best_first = true;  // Search over sets of operators (best_first.h).
  bool bisection = true;   // Also asks for orders far below the best known: raises the bound.
  bool dominance = true;  // What frees at least what it creates, at no cost, runs at once (walk.h).
  bool valleys = true;    // The same for several operators together (valley.h).
  bool backwards = true;  // Beam and best-first also read orders from the end.
};

struct ScheduleOptions {
  ScheduleAlgorithm algorithm = ScheduleAlgorithm::kAuto;
  Counting counting = {};
  std::size_t beam_width = 128;                   // Of kBeam; from 1 to 1,000,000.
  std::size_t most_bytes = std::size_t{2} << 30;  // Memory for stored states, roughly.
  // Of kAuto; from 1 to 256. The answer does not depend on it, unless time or cancellation ends the search.
  int threads = 1;
  ExactOptions exact = {};
  // Called from the calling thread, with peaks, when the best order or the bound changes. May be
  // empty.
  std::function<void(const Progress&)> progress;
};

// One row for each option: what --help, docs/options.md and the bindings are made from.
[[nodiscard]] std::span<const OptionInfo> ScheduleOptionTable();
// Sets one option from text. Error: kInvalidOptions, naming the option, the value and what is
// allowed.
[[nodiscard]] Result<void> SetOption(ScheduleOptions& options, std::string_view name,
                                     std::string_view value);
// The value that `options` holds, as text. Error: kInvalidOptions for an unknown name.
[[nodiscard]] Result<std::string> GetOption(const ScheduleOptions& options, std::string_view name);

// Orders the operators of `graph`. The answer's `best` is a plan without addresses: the order, when
// each tensor is live, and the peak; there always is one. PlanAnswer::peak_bound is proved;
// PlanAnswer::scheduling says what found the order.
//
// kAuto ends when the least peak is proved or the budget ends; without any limit in `budget`, also
// when a fixed amount of work has been done, tens of seconds, so that a compiler always gets an
// answer. The other algorithms only prove the bound that needs no search: the largest step alone.
// The answer depends on the arguments alone unless the budget ends by time or cancellation.
// Errors: kInvalidGraph, as Validate(); kInvalidOptions.
[[nodiscard]] Result<PlanAnswer> Schedule(const Graph& graph, const ScheduleOptions& options,
                                          Budget& budget);

}  // namespace berth

#endif  // BERTH_SCHEDULE_H_
