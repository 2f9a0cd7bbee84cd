// berth/place.h -- lifetimes known, offsets wanted.
//
//   berth::Budget budget;
//   budget.SetTimeLimit(1.0);
//   const auto answer = berth::Place(problem, {}, budget);
//
// Place() gives the best plan it can find within the budget and says what it proved about it.
// Thread-safety: all functions here may be called from several threads on different arguments.
#ifndef BERTH_PLACE_H_
#define BERTH_PLACE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/budget.h"
#include "berth/problem.h"
#include "berth/result.h"

namespace [[gnu::visibility("default")]] berth {

// What a search found out.
enum class Outcome {
  kOptimal,     // A plan that fits; no plan is lower.
  kFeasible,    // A plan that fits; a lower one may exist.
  kInfeasible,  // Proved: no plan fits the capacity.
  kUnknown,     // The budget ended before a plan that fits, or a proof that none does.
};
[[nodiscard]] std::string_view ToString(Outcome outcome);

// Why a search stopped.
enum class StopReason {
  kAnswered,   // Nothing is left to find out.
  kBudget,     // Its budget ended: time, nodes or cancellation.
  kEffort,     // Without any limit: the default effort (of kAuto, of a search for what leaves) is
               // spent.
  kSize,       // Too large: kAuto searches tables with this many overlaps by greedy algorithms
               // only; a search for what leaves may not store more states.
  kAlgorithm,  // The algorithm has done all it does; a greedy one proves nothing.
};
[[nodiscard]] std::string_view ToString(StopReason reason);  // "answered", "budget", ...

enum class Algorithm {
  kAuto,         // Greedy algorithms and exact search, the cheap before the dear.
  kCanonical,    // Exact: MiniMalloc's canonical search.
  kNiche,        // Exact: fills the hollows of the skyline where conflicts are.
  kDisjunctive,  // Exact: branching on which of two buffers lies above; any shape of gaps.
  kGuided,       // Exact: constraint propagation, learning clauses from conflicts.
  kGreedy,       // The lowest plan of several greedy algorithms.
  // One greedy algorithm each.
  kContention,
  kFirstFitSize,
  kFirstFitArea,
  kFirstFitLifetime,
  kFirstFitStart,
  kFirstFitLowest,
  kBestFitSize,
  kBestFitArea,
  kBestFitLifetime,
  kBestFitStart,
  kBestFitLowest,
  kXlaBestFit,
};

// What a person needs to know to choose an algorithm.
struct AlgorithmInfo {
  Algorithm algorithm;
  std::string_view name;     // As on the command line: "first-fit-size".
  std::string_view summary;  // One sentence.
  std::string_view source;   // Paper and section, or the code base it follows.
  bool exact;                // Can prove optimality and infeasibility.
};
// All algorithms, in the order of the enumeration.
[[nodiscard]] std::span<const AlgorithmInfo> Algorithms();
[[nodiscard]] const AlgorithmInfo& Info(Algorithm algorithm);
// Nothing where no algorithm has that name.
[[nodiscard]] std::optional<Algorithm> AlgorithmFromName(std::string_view name);

// How far a running search is. Comes when the best plan or the bound changes, and some ten times a
// second during exact search.
struct Progress {
  std::optional<Bytes> height;  // Of the lowest plan so far.
  Bytes lower_bound = 0;
  std::int64_t nodes = 0;
};

// Each rule of the canonical search by itself (src/place/canonical/canonical.h explains them).
// Whatever is switched off, the verdicts stay the same; only the number of nodes changes.
struct CanonicalOptions {
  bool canonical_only = true;         // Only plans in order of offset, then index (5, 6.1).
  bool section_inference = true;      // Floor + unplaced bytes of a section <= capacity (6.2).
  bool monotonic_floor = true;        // No section's floor lies below the last offset (6.2).
  bool unallocated_floor = true;      // Nor below the lowest offset left to its buffers (6.2).
  bool dominance = true;              // No hole that an unplaced buffer would fill (6.3).
  bool hatless = true;                // A buffer with nothing left above it has no alternatives.
  bool identical_order = true;        // Of identical buffers, the first lies lowest.
  bool dynamic_ordering = true;       // Lowest possible offset first (7).
  bool static_preordering = true;     // Ties broken by a fixed order of the buffers.
  bool dynamic_decomposition = true;  // Parts that separate in time are solved by themselves (7).
  // Fixed orders tried in rotation with doubling node limits. A word is a list of keys, each
  // largest first: W lifetime, A area, T largest section total, Z size, C sections, L start, U end.
  std::string preorders = "WAT,TAW,TWA";
};

// Each part of the niche search by itself (src/place/niche/niche.h explains them). Whatever is
// switched off, the verdicts stay the same; only the number of nodes and the time change.
struct NicheOptions {
  bool lowest_first = true;      // Half of the runs fill the lowest niche first; off: none.
  bool waste_budget = true;      // Floor + unplaced bytes of a section <= capacity.
  bool conflict_weights = true;  // Sections where more has failed come first.
  bool backjumping = true;       // Levels that a failure does not depend on are left at once.
  bool transpositions = true;    // States that have failed are remembered.
  bool restarts = true;          // After 1000 nodes, times Luby's sequence.
  bool calm_runs = true;         // Every third run does not look at the conflict weights.
  bool beam = true;              // Plans side by side take turns with the runs, given slack.
  bool identical_order = true;   // Of identical buffers, the first lies lowest.
  bool widest_first = true;      // Long-lived candidates first; off: large ones.
  bool best_fit = true;          // Candidates that leave no room beside them come earlier.
  bool vectors = true;           // The widest vector instructions of the machine.
};

// Each part of the guided search by itself (src/place/learning/guided.h explains them). Whatever is
// switched off, the verdicts stay the same.
struct GuidedOptions {
  bool heuristic_first = true;  // TelaMalloc's baseline heuristic first, search after it fails.
  bool section_load = true;     // Bytes that cannot lie below a level must fit above it.
  bool weights = true;          // Buffers of recent failures come first.
  bool restarts = true;         // After 150 failures, times Luby's sequence.
  bool lowest_first = true;     // Half of the runs go on where a buffer can lie lowest.
  bool identical_order = true;  // Of identical buffers, the first lies lowest.
};

struct PlaceOptions {
  Algorithm algorithm = Algorithm::kAuto;
  // Go on below the capacity until the height is proved least or the budget ends. Always so where
  // the problem has no capacity.
  bool minimize = false;
  int threads = 1;         // At least 1. The answer does not depend on it.
  std::uint64_t seed = 1;  // For searches that draw random numbers.
  CanonicalOptions canonical;
  NicheOptions niche;
  GuidedOptions guided;
  // Called from the calling thread. May be empty.
  std::function<void(const Progress&)> progress;
};

// One row for each option: what --help, docs/options.md and the bindings are made from.
struct OptionInfo {
  std::string_view name;           // "canonical.dominance".
  std::string_view default_value;  // As text.
  std::string_view allowed;        // "on|off", "1..256", a list of words.
  std::string_view sentence;
};
[[nodiscard]] std::span<const OptionInfo> Options();
// Sets one option from text. Error: kInvalidOptions, naming the option, the value and what is
// allowed.
[[nodiscard]] Result<void> SetOption(PlaceOptions& options, std::string_view name,
                                     std::string_view value);
// The value that `options` holds, as text. Error: kInvalidOptions for an unknown name.
[[nodiscard]] Result<std::string> GetOption(const PlaceOptions& options, std::string_view name);

// What a search went through besides its nodes. Only guided and TelaMalloc count; for others all
// are 0. Their nodes are steps: attempts to place one block.
struct SearchStats {
  std::int64_t failures = 0;          // Steps after which no plan could exist any more.
  std::int64_t minor_backtracks = 0;  // Undoing one placement at once.
  std::int64_t major_backtracks = 0;  // Leaving a decision point without candidates.
  friend bool operator==(const SearchStats&, const SearchStats&) = default;
};

struct PlaceAnswer {
  Outcome outcome = Outcome::kUnknown;
  StopReason stopped = StopReason::kAnswered;
  // The lowest plan found, validated. With outcome kInfeasible or kUnknown it is higher than the
  // capacity: the smallest capacity known to work. None only if the search was cancelled before its
  // start, or if pins collide: then there is no plan at any capacity.
  std::optional<Placement> best;
  Bytes lower_bound = 0;       // Proved: no plan is lower.
  std::string_view algorithm;  // The name of the algorithm that found `best`.
  std::int64_t nodes = 0;      // Of search; 0 where no search was needed.
  double seconds = 0;          // Wall clock.
  SearchStats stats;
};

// Places the buffers of `problem`.
//
// With a capacity, ends as soon as a plan fits or none can; with options.minimize, or without a
// capacity, goes on to the least height. Without any limit in `budget`, kAuto stops minimising when
// a fixed amount of work finds nothing better, so that a compiler always gets an answer, and with
// or without one it leaves tables with more than some 5 million overlapping pairs to the greedy
// algorithms; every other search runs to the end of its proof or budget. PlaceAnswer::stopped says
// which it was. Whatever the budget, one greedy algorithm runs to its end, so that there is a plan.
//
// The answer depends on the arguments alone unless the budget ends by time or cancellation.
// Errors: kInvalidProblem, kInvalidOptions; kUnsupported where the chosen algorithm cannot honour a
// pin, an alignment or a gap, naming the buffer.
[[nodiscard]] Result<PlaceAnswer> Place(const Problem& problem, const PlaceOptions& options,
                                        Budget& budget);

// Why a problem does not fit its capacity.
struct Conflict {
  // kInfeasible: `buffers` cannot be placed together. kFeasible or kOptimal: the problem fits, and
  // there is no conflict. kUnknown: the budget ended before either was known.
  Outcome outcome = Outcome::kUnknown;
  std::vector<std::size_t> buffers;  // Increasing indices into Problem::buffers.
  bool minimal = false;              // Proved: without any one of them the others fit.
  Step step = 0;                     // Where the most bytes of the conflict are live.
  Bytes load = 0;                    // How many bytes of the conflict are live there.
  std::optional<Bytes> capacity;     // The problem's.
  // `buffers` are two whose pins overlap: they fit no capacity, and short_by is 0.
  bool pins_collide = false;
  // Proved to be missing for these buffers: load - capacity when they are simply too many bytes;
  // otherwise the bytes by which the least height proved exceeds the capacity, at least 1.
  Bytes short_by = 0;
  // The height of the lowest plan known for the whole problem: the smallest capacity known to work.
  std::optional<Bytes> works_with;
  std::int64_t nodes = 0;
  double seconds = 0;  // Wall clock.
};

// Explains why `problem` does not fit: a set of buffers none of which can be left out. Pins that
// collide come first, as no capacity helps against them (without a capacity nothing else can be
// wrong); then buffers that exceed the capacity at one step, being the easiest to act on; then what
// exact search proves. Of the options only `canonical`, `threads` and `seed` count. Cost: O(n log
// n) for the first two; otherwise an exact search for each buffer. Errors: kInvalidProblem,
// kInvalidOptions.
[[nodiscard]] Result<Conflict> Explain(const Problem& problem, const PlaceOptions& options,
                                       Budget& budget);

}  // namespace berth

#endif  // BERTH_PLACE_H_
