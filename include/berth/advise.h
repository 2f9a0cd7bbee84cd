// berth/advise.h -- why a plan needs as much memory as it does, and what would lower it.
//
//   const auto answer = berth::Plan(graph, options, budget);
//   berth::Budget more(1.0);
//   const berth::Advice advice = berth::Advise(graph, options, *answer, {}, more);
//   for (const berth::Remedy& remedy : advice.remedies) Print(remedy.title, remedy.detail);
//
// Each remedy was found by trying it on the input at hand: a capacity that works, a better order,
// other readings of the model, outputs written over inputs, operators computed in strips, spills,
// operators that run again, and combinations of these. A
// change that was not found to help is not listed; one that there was no time to examine is named
// in the last remedy. Remedies that fit the given capacity come first: those without traffic or repeats
// before those with them, fewer changes before more. The searches have limits of nodes,
// lower ones for large inputs, so the advice depends on the arguments alone unless time or
// cancellation ends them. Thread-safety: all functions here may be called from several threads on
// different arguments.
#ifndef BERTH_ADVISE_H_
#define BERTH_ADVISE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "berth/answer.h"
#include "berth/budget.h"
#include "berth/graph.h"
#include "berth/place.h"
#include "berth/plan.h"
#include "berth/problem.h"

namespace [[gnu::visibility("default")]] berth {

enum class RemedyKind {
  kCapacity,       // A larger capacity.
  kMoveOff,        // Fewer bytes at the peak, whatever the placement.
  kAlignment,      // Smaller alignments.
  kPins,           // Pins at other offsets.
  kMoreSearch,     // The placement is not proved the lowest.
  kOrder,          // Another order of the operators.
  kOrderIsBest,    // No other order helps.
  kModel,          // The model changed in one way or in several: AdviceOptions::models, in place.
  kReduceWaiting,  // Spill or recompute tensors that are not used at the peak.
  kStrips,         // Operators computed in strips: an estimate (Remedy::strips). Not looked for in
                   // graphs of more than 100,000 operators.
  kSpill,          // Spills within the same capacity, or within one below the peak.
  kRecompute,      // Operators that run again, within the same capacity or one below the peak.
  kLargerBudget,   // A larger capacity for a plan with spills.
  kNotExamined,    // Changes that there was not enough time to examine.
};

// An option to set, by its name in the documentation of the commands.
struct OptionChange {
  // "capacity", "order", "in-place", or that of a ModelChange; "budget": a capacity, with spills.
  std::string option;
  std::string value;  // "153092096", "auto", "on".
  // As on the command line: "--capacity 153092096".
  [[nodiscard]] std::string flag() const;
  friend bool operator==(const OptionChange&, const OptionChange&) = default;
};

// Operators that compute the rows of their result in strips, one strip after the other, so that
// tensors between them are never whole in memory. A row is all elements with one index along `axis`.
struct OperatorStrips {
  std::vector<std::string> operators;  // In program order; the last makes the result.
  std::int64_t axis = 0;
  std::int64_t strips = 0;
  std::int64_t rows = 0;    // Of the result, in each strip but perhaps the last.
  std::int64_t result = 0;  // Rows of the result.
  std::int64_t halo = 0;    // The most rows of one tensor that two neighbouring strips both need.
  Bytes recomputed = 0;     // Of tensors between: computed by more than one strip.
  Bytes made = 0;           // By all of these operators, each element once.
  friend bool operator==(const OperatorStrips&, const OperatorStrips&) = default;
};

struct Remedy {
  RemedyKind kind = RemedyKind::kNotExamined;
  std::string title;   // "A capacity of 146 MiB".
  std::string detail;  // One or two sentences.
  // The memory that would then be needed: that of a known plan, or else a proved lower bound.
  std::optional<Bytes> needs = {};
  bool proved = false;                // No plan with this change needs less; with spills, has less
                                      // traffic, and with recomputation, costs less.
  std::optional<Bytes> traffic = {};  // Avoidable; of a plan with spills.
  // Of a plan with recomputation: the cost of what runs again, in OperatorCosts::unit.
  std::optional<std::int64_t> recompute_cost = {};
  bool fits = false;  // A plan with these changes was found that fits the given capacity.
  // `needs` and `fits` are of a plan for a graph in strips, which no option makes: an estimate of
  // what a runtime needs whose operators read and write some rows of larger tensors.
  bool estimated = false;
  std::vector<OperatorStrips> strips = {};
  std::vector<OptionChange> changes = {};  // All of them together; empty where no option does it.
  std::string command = {};  // To copy; for callers that know their own, as Advise() does not.

  // It gives more memory, within which a plan was found.
  [[nodiscard]] bool enlarges() const {
    return kind == RemedyKind::kCapacity || kind == RemedyKind::kLargerBudget;
  }
  // Of a plan that does not fit: with these changes, and no others, one does.
  [[nodiscard]] bool suffices() const { return fits || enlarges(); }
};

struct Advice {
  std::optional<Conflict> conflict =
      {};  // Why nothing fits. Buffers are those of the plan's table.
  std::vector<Remedy> remedies = {};
};

// Another reading of the model that the graph was made from, such as one with 8-bit elements. It
// has the same operators with the same names.
struct ModelChange {
  OptionChange change;  // {"element-bytes", "1"}.
  std::string title;    // "8-bit elements".
  Graph graph;
};

struct AdviceOptions {
  bool explain = true;  // Look for the conflict if nothing fits.
  // For a graph: whether Fuse() and ReuseInPlace() may be applied. Neither was applied yet, or only
  // Fuse().
  bool fuse = true;
  bool in_place = true;
  std::vector<ModelChange> models = {};
};

// Whether Advise() tries AdviceOptions::models for `answer`, the answer for a graph; to read a model
// once more only for that takes time.
[[nodiscard]] bool TriesModels(const PlanAnswer& answer);

// For a table. `problem` must be valid, `answer` that of Place() for it. Of the limits of `budget`,
// time and cancellation count.
[[nodiscard]] Advice Advise(const Problem& problem, const PlanAnswer& answer,
                            const AdviceOptions& options, Budget& budget);
// For a graph. `graph` must be valid, `answer` that of Plan() or Schedule() for it and `plan`.
[[nodiscard]] Advice Advise(const Graph& graph, const PlanOptions& plan, const PlanAnswer& answer,
                            const AdviceOptions& options, Budget& budget);

// A buffer that is live at the peak.
struct PeakRow {
  TensorIndex tensor = 0;              // A base.
  std::optional<OperatorIndex> maker;  // None: it exists before the first operator.
  Step start = 0;                      // Its lifetime.
  Step end = 0;
  bool in_use = false;  // The operator that runs at the peak reads, writes or makes it.
  // Otherwise: the step at which it is used next; none where it only has to last to the end.
  std::optional<Step> next_use;
  friend bool operator==(const PeakRow&, const PeakRow&) = default;
};

struct Peak {
  Bytes bytes = 0;
  Step step = 0;
  std::optional<OperatorIndex> op;  // The one that runs then; none in a graph without operators.
  std::vector<PeakRow> rows;        // Largest first.
  Bytes in_use = 0;                 // Of the rows that the operator uses itself.
  // The operator that uses the most bytes by itself: no order needs fewer.
  Bytes largest_step = 0;
  OperatorIndex largest_operator = 0;
};

// The first peak of `graph` run in `order`, as Live() counts it. Both must be valid. Cost: linear,
// apart from sorting.
[[nodiscard]] Peak ExaminePeak(const Graph& graph, const Order& order, const Counting& counting);

}  // namespace berth

#endif  // BERTH_ADVISE_H_
