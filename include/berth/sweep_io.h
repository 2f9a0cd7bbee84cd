// berth/sweep_io.h -- sweeps as CSV (docs/howto/sweep.md), a row for each point.
//
// Columns: model, point, capacity, outcome, avoidable, spilled, retrieved, traffic_bound,
// traffic_by_sum, seconds, input. The words of `input` are a hash of the model and the options that
// the answers depend on; the word "program-order" says that the order was fixed. If a curve has
// recomputation: recomputed_operators, recomputed, copy_cost, recompute_bound (SweepCost), run_cost and
// cost_unit (RunCost); empty in rows of curves without.
#ifndef BERTH_SWEEP_IO_H_
#define BERTH_SWEEP_IO_H_

#include <string>
#include <string_view>
#include <vector>

#include "berth/graph.h"
#include "berth/plan_io.h"
#include "berth/result.h"
#include "berth/sweep.h"

namespace [[gnu::visibility("default")]] berth {

// Reads a sweep; `name` is what errors call the file. Rows with the same model and input become one
// curve, its points by number. The columns may stand in any order; "lower_bound" and
// "without_addresses", the former names of traffic_bound and traffic_by_sum, are read as well.
// Errors: kParse, naming the line, also for rows that Validate() refuses.
[[nodiscard]] Result<std::vector<SweepCurve>> ReadSweepCsv(std::string_view text,
                                                           std::string_view name);

// SweepCurve::input for a model: its hash, and what of `provenance` the answers depend on; with
// recomputation also a hash of what the operators of `graph` cost.
[[nodiscard]] std::string SweepInput(const Provenance& provenance, bool fixed_order,
                                     const Graph& graph);

[[nodiscard]] std::string WriteSweepCsv(const std::vector<SweepCurve>& curves);

// A row for each point of SweepMemory(). Columns: capacity, outcome, unplaced, cost_UNIT,
// cost_bound_UNIT with the unit of costs, with `may_move` copies, seconds.
[[nodiscard]] std::string WriteMemorySweepCsv(const std::vector<MemoryPoint>& points,
                                              const std::string& cost_unit, bool may_move);

}  // namespace berth

#endif  // BERTH_SWEEP_IO_H_
