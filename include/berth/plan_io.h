// berth/plan_io.h -- plans as files (docs/formats/plan.md).
#ifndef BERTH_PLAN_IO_H_
#define BERTH_PLAN_IO_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/graph.h"
#include "berth/place.h"
#include "berth/plan.h"
#include "berth/problem.h"
#include "berth/result.h"
#include "berth/schedule.h"
#include "berth/spill.h"

namespace [[gnu::visibility("default")]] berth {

// Where a plan comes from, for whoever finds the file later.
struct Provenance {
  std::string version;     // Of Berth.
  std::string input;       // The name of the input.
  std::string input_hash;  // "fnv1a64:..." of the input's bytes.
  PlaceOptions options;    // Each option as it was; `threads`, which changes nothing, is not kept.
  std::optional<std::int64_t> node_limit = {};
  std::string solver = {};  // Of berth/solvers.h, where one was asked instead of an algorithm.
  // Of the plan of a graph:
  ScheduleOptions schedule = {};
  bool in_place = false;     // The graph went through ReuseInPlace().
  bool fixed_order = false;  // SpillOptions::fixed_order, of a plan with spills.
};

// Writes a plan as JSON (docs/formats/plan.md). Keys in a fixed order, no time of day, and no
// running time: the same plan gives the same bytes.
[[nodiscard]] std::string WritePlanJson(const Problem& problem, const PlaceAnswer& answer,
                                        const Provenance& provenance);

// Writes the plan of a graph likewise: with its order, and its tensors as buffers.
[[nodiscard]] std::string WritePlanJson(const Graph& graph, const PlanAnswer& plan,
                                        const Provenance& provenance);

// Writes a plan with spills for a memory of `capacity` bytes likewise: with its order, and every
// stay in memory.
[[nodiscard]] std::string WritePlanJson(const Graph& graph, const SpillAnswer& answer,
                                        Bytes capacity, const Provenance& provenance);

// All of a plan but its order and its placements, on one line.
[[nodiscard]] std::string WritePlanHead(const Problem& problem, const PlaceAnswer& answer,
                                        const Provenance& provenance);
[[nodiscard]] std::string WritePlanHead(const Graph& graph, const PlanAnswer& plan,
                                        const Provenance& provenance);
[[nodiscard]] std::string WritePlanHead(const Graph& graph, const SpillAnswer& answer,
                                        Bytes capacity, const Provenance& provenance);

// A plan as its file tells it, without the input that it was made for. A plan in JSON knows no
// alignments, pins and gaps: buffers may seem to overlap.
struct PlanFile {
  std::string name;     // What errors and reports call it.
  Problem problem;      // The buffers, and the capacity.
  Placement placement;  // Parallel to them.
  std::optional<Bytes> lower_bound = {};
  std::string outcome = {};
  std::string input = {};  // What it was made for, and its hash; empty for a table.
  std::string input_hash = {};
  std::string version = {};             // Of Berth, that wrote it.
  std::vector<std::string> order = {};  // The operators; none for the plan of a table.
};
// Reads a plan in JSON, one with spills as well (then each stay in memory is a buffer), or a table
// in which every buffer has an offset. Errors: kParse; kInvalidPlan, naming the buffer, also for a
// "height" that the placements do not have.
[[nodiscard]] Result<PlanFile> ReadPlan(std::string_view text, std::string_view name);

// A plan with spills for a graph, as its file states it: ValidateSpillPlan() says whether it holds.
struct SpillPlanFile {
  SpillPlan plan;
  Bytes capacity = 0;
};
// Reads one; nothing where the text is a plan of another kind. Operators and tensors are looked up
// in `graph`, and stays are put in the order that SpillPlan has. Errors: kParse; kInvalidPlan for
// an operator or tensor that the graph does not have or says to be of another size, and for the
// file of a search that found no plan.
[[nodiscard]] Result<std::optional<SpillPlanFile>> ReadSpillPlan(std::string_view text,
                                                                 std::string_view name,
                                                                 const Graph& graph);

// Offsets as read from a plan, by the ids of `problem`. Reads a table with an `offset` column, or a
// JSON plan (the text then starts with '{'). Errors: kParse; kInvalidPlan for a buffer without an
// offset, an unknown id or one that comes twice, naming it.
[[nodiscard]] Result<std::vector<Bytes>> ReadOffsets(std::string_view text, std::string_view name,
                                                     const Problem& problem);

}  // namespace berth

#endif  // BERTH_PLAN_IO_H_
