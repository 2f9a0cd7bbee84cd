// berth/page.h -- a plan as one page that explains it: a file for any browser, offline.
//
// The page is one HTML file with everything in it: the program that draws it, which report/ holds,
// and the plan as JSON. It asks no network for anything, and runs nothing that a name contains.
#ifndef BERTH_PAGE_H_
#define BERTH_PAGE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "berth/advise.h"
#include "berth/graph.h"
#include "berth/graph_memories.h"
#include "berth/memories.h"
#include "berth/place.h"
#include "berth/plan.h"
#include "berth/plan_io.h"
#include "berth/problem.h"
#include "berth/sweep.h"

namespace [[gnu::visibility("default")]] berth {

// Who asked for each buffer: stacks of calls, for the details of a buffer.
struct BufferStacks {
  std::vector<std::string> frames;               // Each different line once.
  std::vector<std::vector<std::size_t>> stacks;  // Of these, innermost first.
  std::vector<std::optional<std::size_t>> of;    // Parallel to the buffers: a stack, if known.
};

// What another allocator held for the same buffers, drawn above the live bytes.
struct HeldBytes {
  std::string name;                             // "reserved by PyTorch".
  std::vector<std::pair<Step, Bytes>> changes;  // From this step on, so much.
};

struct PageOptions {
  std::string command;       // That made the plan: "place".
  std::string verdict = {};  // Of the verifier; empty: nothing was there to verify.
  std::optional<Conflict> conflict = {};
  std::vector<Remedy> remedies = {};
  std::vector<std::string> notes = {};
  std::optional<BufferStacks> stacks = {};  // Of a table.
  std::optional<HeldBytes> held = {};
};

// The page of a plan, of a search that found none, or of an order without addresses. Residencies of
// one tensor are joined by the moves between them. The same bytes for the same arguments.
// Cost: O(n log n).
[[nodiscard]] std::string WritePage(const PlanSubject& subject, const PlanAnswer& answer,
                                    const Provenance& provenance, const PageOptions& options);

// The page of a sweep: a curve for each model; all with recomputation (SweepCurve::run), or none, as
// traffic and costs have no axis in common. `provenance` are pairs of a title and what it says,
// such as the version and the limits. Cost: that of writing its points.
[[nodiscard]] std::string WritePage(
    const std::vector<SweepCurve>& curves,
    const std::vector<std::pair<std::string, std::string>>& provenance);

// The page of a sweep of one memory of several: what its capacity saves. Cost: that of writing its points.
struct MemorySweepPage {
  std::string model;
  std::string input;             // Its hash.
  std::string memory;            // Its name.
  std::vector<Memory> memories;  // All of them, with that one among them.
  std::string cost_unit = "ns";
  bool may_move = false;  // As in GraphMemories.
  bool prefetch = false;
  bool fixed_order = false;  // Costs and bounds are of program order alone.
};
[[nodiscard]] std::string WritePage(
    const std::vector<MemoryPoint>& points, const MemorySweepPage& page,
    const std::vector<std::pair<std::string, std::string>>& provenance);

// The plan as events for Chrome's and Perfetto's viewers: one step of the schedule is a microsecond;
// a counter for the live bytes, a slice for each operator, and for each residency one with its size
// and offset. `name` is the model's. Of a plan for several memories, `memories` are these: each has
// its counter and its residencies as a process of its own. With `run`, that of the plan
// (berth/graph_memories.h), times are those of the run, and there is a slice for each copy.
[[nodiscard]] std::string WriteTrace(const PlanSubject& subject, const PlanAnswer& answer,
                                     const std::string& name,
                                     const std::vector<Memory>& memories = {},
                                     const TimedRun* run = nullptr);

}  // namespace berth

#endif  // BERTH_PAGE_H_
