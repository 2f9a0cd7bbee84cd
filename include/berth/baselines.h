// berth/baselines.h -- placement by other people's methods: what papers compare against.
//
//   berth::BaselineOptions options;
//   options.baseline = berth::Baseline::kIlp;
//   const auto answer = berth::PlaceWithBaseline(problem, options, budget);
//
// Baselines and second opinions; for good plans there is berth/place.h. They are a library of their
// own, berth::baselines, which the core never links. Some need a solver that a build may lack.
// Thread-safety: all functions here may be called from several threads on different arguments, but
// the ILP is solved by one thread at a time.
#ifndef BERTH_BASELINES_H_
#define BERTH_BASELINES_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "berth/budget.h"
#include "berth/place.h"
#include "berth/problem.h"
#include "berth/result.h"

namespace [[gnu::visibility("default")]] berth {

enum class Baseline {
  kTelaMalloc,      // TelaMalloc's search policy over constraint propagation; proves little.
  kBfc,             // TensorFlow's run-time allocator, simulated.
  kPytorchCaching,  // PyTorch's run-time allocator, simulated.
  kIlp,             // TelaMalloc's integer program, by CBC or HiGHS.
  kCp,              // TelaMalloc's constraint program alone, by Gecode.
  kZ3,              // The same, by Z3.
  kCsp,             // Rectangle packing: an offset for each buffer in turn.
  kMetaCsp,         // Rectangle packing: above or below for each pair in turn.
};

struct BaselineInfo {
  Baseline baseline;
  std::string_view name;     // As on the command line: "meta-csp".
  std::string_view summary;  // One sentence.
  std::string_view source;   // Paper and section, or the code base it follows.
  std::string engine;        // What solves it, with its version; empty: this build has none.
  std::string_view package;  // What a build needs for it; empty: nothing.
  bool search;               // Looks for low plans; the simulated allocators do not.
  [[nodiscard]] bool available() const { return !engine.empty(); }
};
// All baselines, in the order of the enumeration, including those that this build lacks.
[[nodiscard]] std::span<const BaselineInfo> Baselines();
[[nodiscard]] const BaselineInfo& Info(Baseline baseline);
// Nothing where no baseline has that name.
[[nodiscard]] std::optional<Baseline> BaselineFromName(std::string_view name);

struct BaselineOptions {
  Baseline baseline = Baseline::kTelaMalloc;
  // Go on below the capacity until the height is proved least or the budget ends. Always on where
  // the problem has no capacity. The simulated allocators ignore it.
  bool minimize = false;
  std::uint64_t seed = 1;  // For methods that draw random numbers.
  // Called from the calling thread. May be empty.
  std::function<void(const Progress&)> progress;
  // By name, what differs from the defaults of BaselineSettings(); SetOption() checks and stores.
  std::map<std::string, std::string, std::less<>> settings;
};

// The switches of single baselines: "telamalloc.strategy", "ilp.solver". As Options() of
// berth/place.h.
[[nodiscard]] std::span<const OptionInfo> BaselineSettings();
// Sets one of them from text. Error: kInvalidOptions, naming the option, the value and what is
// allowed.
[[nodiscard]] Result<void> SetOption(BaselineOptions& options, std::string_view name,
                                     std::string_view value);
// The value that `options` holds, as text. Error: kInvalidOptions for an unknown name.
[[nodiscard]] Result<std::string> GetOption(const BaselineOptions& options, std::string_view name);

// Places the buffers of `problem` by the chosen method alone; every plan is validated exactly.
//
// With a capacity, ends as soon as a plan fits or none can. PlanAnswer::best is then what the
// method itself has found; a solver has none if the budget ends before. TelaMalloc tries the
// baseline heuristic first ("telamalloc.heuristic_first") and ends with a greedy plan where it has
// none. Minimising begins with the plan of the greedy algorithms (PlanAnswer::placing says
// whether it stayed the best). PlanAnswer::nodes are the method's own: steps (kTelaMalloc), of
// branch and bound (kIlp), of search (kCp), conflicts (kZ3), buffers placed (kCsp), pairs decided
// (kMetaCsp).
//
// A verdict of kInfeasible, and a lower bound, is proved: by exact arithmetic in all but the ILP.
// The ILP is solved in floating point; its word is taken only where the numbers, counted in what
// divides them all, are at most 2^20, so that tolerances cannot decide. Beyond that it can find
// plans and prove nothing.
//
// StopReason::kSize: too large for the method to begin with; kAlgorithm: it ended without being
// able to tell. All but the ILP keep to the rule that the answer depends on the arguments alone
// unless time or cancellation ends the search; the ILP's depends on the version of its solver too.
// Errors: kInvalidProblem; kInvalidOptions; kUnsupported for what this build lacks, naming what to
// install, and where an allocator cannot honour a pin or an alignment, naming the buffer.
[[nodiscard]] Result<PlanAnswer> PlaceWithBaseline(const Problem& problem,
                                                   const BaselineOptions& options, Budget& budget);

// The ILP as text in the CPLEX LP format, which CBC, CPLEX, Gurobi, HiGHS, SCIP and others read:
// does a plan fit the problem's capacity, or with `minimize`, or without a capacity, how low can it
// be? Its comment says what the variables mean. Needs no solver. Errors: kInvalidProblem;
// kUnsupported where numbers are too large for solvers to count exactly (2^53), where pins collide
// or a buffer does not fit the capacity by itself, as then there is nothing to ask.
[[nodiscard]] Result<std::string> WriteLp(const Problem& problem, bool minimize);

// OLLA's function 5: pins the buffers of the pyramid, each nested in the lifetime of the one below
// it, at increasing offsets; the others are left to a placer. `problem` must be valid.
[[nodiscard]] Problem PreplacePyramid(Problem problem);

}  // namespace berth

#endif  // BERTH_BASELINES_H_
