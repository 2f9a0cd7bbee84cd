// berth/place.h -- lifetimes known, offsets wanted.
//
// Fit buffers into a memory:
//
//   berth::Problem problem;
//   problem.buffers = {{"a", 0, 3, 4096}, {"b", 3, 5, 4096}, {"c", 2, 4, 2048}};
//   problem.capacity = 8192;                  // Bytes.
//   berth::Budget budget(1.0);                // Seconds.
//   const auto answer = berth::Place(problem, {}, budget);
//   if (answer && answer->fits()) Use(answer->best->residencies[0].offset);  // Of "a".
//
// Find the least height, with a proved bound:
//
//   problem.capacity.reset();
//   const auto least = berth::Place(problem, {}, budget);
//   if (least) Report(least->best->height(), least->height_bound, least->outcome);
//
// Explain why the buffers do not fit:
//
//   const auto conflict = berth::Explain(problem, {}, budget);
//   if (conflict && conflict->outcome == berth::Outcome::kInfeasible) Show(conflict->buffers);
//
// Change how a search works (docs/options.md lists the names):
//
//   berth::PlaceOptions options;
//   options.algorithm = berth::Algorithm::kNiche;
//   const auto known = berth::SetOption(options, "niche.beam", "off");
//
// Place() gives the best plan that it can find within the budget and says what it has proved.
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
#include <utility>
#include <vector>

#include "berth/answer.h"
#include "berth/budget.h"
#include "berth/problem.h"
#include "berth/result.h"

namespace [[gnu::visibility("default")]] berth {

namespace internal {
class ExpertAccess;
}

enum class Algorithm {
  kAuto,         // Greedy algorithms and exact search: cheap methods first, expensive ones last.
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

// The switches and numbers of single searches. They are known by name: see SetOption().
class ExpertOptions {
 public:
  friend bool operator==(const ExpertOptions&, const ExpertOptions&) = default;

 private:
  friend class internal::ExpertAccess;
  std::vector<std::pair<std::string, std::string>> values_;  // By name, none at its default.
};

struct PlaceOptions {
  Algorithm algorithm = Algorithm::kAuto;
  // Go on below the capacity until the height is proved least or the budget ends. Always on where
  // the problem has no capacity.
  bool minimize = false;
  // Where no plan fits: go on for the lowest plan as with `minimize`, so that it is known how much
  // capacity is missing. Otherwise the search ends with the proof.
  bool minimize_if_infeasible = false;
  int threads = 1;         // At least 1. The answer does not depend on it.
  std::uint64_t seed = 1;  // For searches that draw random numbers.
  ExpertOptions expert;    // See SetOption().
  // Called from the calling thread, with heights: when the best plan or the bound changes, and about
  // ten times a second during exact search. May be empty.
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

// Places the buffers of `problem`.
//
// With a capacity, ends as soon as a plan fits or none can; with options.minimize, or without a
// capacity, goes on to the least height. Without any limit in `budget`, kAuto stops minimising when
// a fixed amount of work finds nothing better, so that a compiler always gets an answer. With or
// without a limit it leaves tables with more than about 5 million overlapping pairs to the greedy
// algorithms; every other search runs to the end of its proof or budget. PlanAnswer::stopped says
// which it was. Whatever the budget, one greedy algorithm runs to its end, so that there is a plan.
//
// The answer's `best` is the lowest plan found: of several memories, orders or traffic it has none.
// PlanAnswer::height_bound is proved whatever ended the search; PlanAnswer::placing says which
// algorithm found the plan. The answer depends on the arguments alone unless the budget ends by
// time or cancellation.
// Errors: kInvalidProblem, kInvalidOptions; kUnsupported where the chosen algorithm cannot honour a
// pin, an alignment or a gap, naming the buffer.
[[nodiscard]] Result<PlanAnswer> Place(const Problem& problem, const PlaceOptions& options,
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
  // Of the whole problem, looked for as by PlaceOptions::minimize_if_infeasible: the height of the
  // lowest plan known, which is the smallest capacity known to work, and a proved bound.
  std::optional<Bytes> works_with;
  Bytes height_bound = 0;
  // What found these two, with that plan; none where pins collide or there is no capacity.
  std::optional<PlanAnswer> whole;
  std::int64_t nodes = 0;
  double seconds = 0;  // Wall clock.
};

// Explains why `problem` does not fit: a set of buffers none of which can be left out. Pins that
// collide come first, as no capacity helps against them (without a capacity nothing else can be
// wrong); then buffers that exceed the capacity at one step, being the easiest to act on; then what
// exact search proves. `algorithm` and `minimize` of the options do not count: the search is always
// kAuto, and ends where a plan fits. Half of a limit is for what would be enough.
// Cost: that of Place(), and for the last kind an exact search for each buffer.
// Errors: kInvalidProblem, kInvalidOptions.
[[nodiscard]] Result<Conflict> Explain(const Problem& problem, const PlaceOptions& options,
                                       Budget& budget);

}  // namespace berth

#endif  // BERTH_PLACE_H_
