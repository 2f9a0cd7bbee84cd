// berth/plan_io.h -- plans as files (docs/formats/plan.md).
//
// Write what a search found, whatever found it:
//
//   const berth::Provenance from{"1.0", "model.onnx", berth::HashOf(bytes), options};
//   berth::WriteFile("plan.json", berth::WritePlanJson(graph, *answer, from));
//
// Read a plan, whoever made it:
//
//   const auto file = berth::ReadPlan(text, "plan.json");                 // As the file states it.
//   const auto plan = berth::ReadPlanFor(graph, {}, text, "plan.json");   // For its graph.
//   const auto offsets = berth::ReadOffsets(text, "plan.csv", problem);  // For its table.
#ifndef BERTH_PLAN_IO_H_
#define BERTH_PLAN_IO_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/answer.h"
#include "berth/device.h"
#include "berth/graph.h"
#include "berth/graph_memories.h"
#include "berth/memories.h"
#include "berth/onnx.h"
#include "berth/plan.h"
#include "berth/problem.h"
#include "berth/result.h"

namespace [[gnu::visibility("default")]] berth {

// What a plan is of: the buffers of a table, alone or for several memories, or the tensors and operators
// of a graph. It refers to its argument, which must outlive it.
class PlanSubject {
 public:
  PlanSubject(const Problem& table) : table_(&table) {}  // NOLINT(google-explicit-constructor)
  PlanSubject(const Graph& graph) : graph_(&graph) {}    // NOLINT(google-explicit-constructor)
  PlanSubject(const MemoryProblem& problem)              // NOLINT(google-explicit-constructor)
      : table_(&problem.table), memories_(&problem) {}
  [[nodiscard]] const Problem* table() const { return table_; }
  [[nodiscard]] const MemoryProblem* memories() const { return memories_; }
  [[nodiscard]] const Graph* graph() const { return graph_; }
  // One buffer for each residency of `plan`, in the same order, with `capacity`. Of a table, its
  // own buffers.
  [[nodiscard]] Problem Buffers(const MemoryPlan& plan, std::optional<Bytes> capacity) const;

 private:
  const Problem* table_ = nullptr;
  const Graph* graph_ = nullptr;
  const MemoryProblem* memories_ = nullptr;  // Then `table_` is its table.
};

// Where a plan comes from, for readers of the file.
struct Provenance {
  std::string version;     // Of Berth.
  std::string input;       // The name of the input.
  std::string input_hash;  // "fnv1a64:..." of the input's bytes.
  // What was asked for. `threads`, which changes nothing, is not kept, and the capacity and the
  // orders stand in the answer.
  PlanOptions options = {};
  std::optional<std::int64_t> node_limit = {};
  std::string method = {};  // Where another method than options.place.algorithm was asked.
  bool in_place = false;    // The graph went through ReuseInPlace().
  bool fused = false;       // Before that, it went through Fuse().
  // How the model was read; of a graph in JSON, the alignment alone means something.
  OnnxOptions reading = {.alignment = 1};
  // Of a plan for several memories.
  std::string cost_unit = "ns";
  bool assumed_uses = false;  // AssumeUses() (berth/memory_io.h) gave the costs.
  // Of a graph whose operators cost what they take on a device (berth/device.h): that.
  std::optional<Device> device = {};
  // Of one whose operators cost what was measured (berth/profile.h): the name of the profile. The
  // device, if any, gave the rest.
  std::string profile = {};
};

// Writes a plan as JSON, or what is known where there is none that fits. Keys in a fixed order, no
// time of day and no running time: the same plan gives the same bytes. A plan without addresses is
// written with its order and without residencies.
[[nodiscard]] std::string WritePlanJson(const PlanSubject& subject, const PlanAnswer& answer,
                                        const Provenance& provenance);

// A plan as its file states it, without the input that it was made for: a buffer for each residency,
// "x#1", "x#2" where a tensor has several. A plan in JSON knows no alignments, pins and gaps:
// buffers may seem to overlap.
struct PlanFile {
  std::string name;                        // What errors and reports call it.
  Problem problem;                         // The buffers, and the capacity.
  Placement placement;                     // Parallel to them.
  std::optional<Bytes> height_bound = {};  // As stated; none where the file does not say.
  std::string outcome = {};
  std::string input = {};  // What it was made for, and its hash; empty for a table.
  std::string input_hash = {};
  std::string version = {};             // Of Berth, that wrote it.
  std::vector<std::string> order = {};  // The operators; none for the plan of a table.
  Traffic traffic = {};  // Of a plan with spills, as stated; of any other, `avoidable` is 0.
  // Of a plan with recomputation, as stated, and the unit of its cost.
  Recomputed recomputed = {};
  std::string cost_unit = {};
  // Of a plan for several memories: these, what it takes of each, the memory of each buffer, the cost
  // as stated, in `cost_unit`, and the buffers that it leaves out.
  std::vector<Memory> memories = {};
  std::vector<MemoryUse> uses = {};
  std::vector<std::size_t> memory_of =
      {};  // Parallel to the buffers; empty for a plan in one memory.
  PlanCost cost = {};
  bool prefetch = false;  // `cost` is the time of the run (GraphMemories::prefetch).
  std::vector<std::string> left_out = {};
  // Of a graph's plan: the tensors that it should hold, and those whose sizes are not known, which
  // count as 0 bytes.
  std::size_t tensors = 0;
  std::size_t unsized = 0;
};
// Reads a plan in JSON, of this version of the format or of the first, or a table in which every
// buffer has an offset. Errors: kParse; kInvalidPlan, naming the buffer, also for a "height" that
// the residencies do not have, and for the file of a search that found no plan.
[[nodiscard]] Result<PlanFile> ReadPlan(std::string_view text, std::string_view name);

// The same of a table with the columns memory and offset, for `memories`, which must be valid; JSON has
// memories of its own. Where the table says nothing of uses, each buffer is written and read once.
// Errors: also those of ReadMemoriesCsv() (berth/memory_io.h); kInvalidPlan for a plan that does not hold.
[[nodiscard]] Result<PlanFile> ReadPlan(std::string_view text, std::string_view name,
                                        const std::vector<Memory>& memories,
                                        std::string_view cost_unit = "ns");

// How the graph was read for a plan, as its JSON says; what it does not say is as by default.
// Whether it is a plan at all is for ReadPlanFor() to find out.
struct PlanSettings {
  Counting counting = {};
  bool in_place = false;  // The graph went through ReuseInPlace().
  bool fused = false;     // Before that, it went through Fuse().
  OnnxOptions reading = {.alignment = 1};
  std::optional<Device> device = {};  // Its operators cost what they take on it.
  std::string profile = {};       // The name of that which gave its costs; `device` gave the rest.
  std::optional<Link> link = {};  // What is copied takes as long as over this.
};
[[nodiscard]] PlanSettings ReadPlanSettings(std::string_view text);

// A plan for a graph, as its file states it. Whether it holds is for the verifier or ValidatePlan()
// to say: the order may be invalid, residencies missing, offsets overlap.
struct GraphPlanFile {
  MemoryPlan plan;
  std::optional<Bytes> capacity;
  bool spills = false;      // Tensors may come in and leave: the file is of a plan with spills.
  bool recomputes = false;  // The file is of a plan with recomputation.
  // As the file states them; none for a plan in one memory.
  GraphMemories memories = {};
  std::string cost_unit = "ns";
};
// Reads one: JSON of either version, or a table with offsets. Operators (names, or positions in
// program order) and tensors are looked up in `graph`; residencies are put in the order that
// MemoryPlan has. Where the file gives offsets alone, as the first version does, lifetimes are those
// of Live() under the stated order; a table has program order. Errors: kParse; kInvalidPlan for an
// operator or tensor that the graph does not have or says to be of another size, for a tensor
// without an offset, and for the file of a search that found no plan.
[[nodiscard]] Result<GraphPlanFile> ReadPlanFor(const Graph& graph, const Counting& counting,
                                                std::string_view text, std::string_view name);

// The plan for several memories that a file states: JSON, or a table with the columns id, memory and
// offset, which are empty for buffers that are left out. Memories and buffers are looked up by name.
// Whether it holds is for the verifier or ValidatePlan() to say; what the file does not state, such as
// the costs of a table, is as PlanOf() computes it. Errors: kParse; kInvalidPlan for a memory or buffer
// that `problem` does not have, a buffer that comes twice or is of another size or lifetime, and for the
// file of a search that found no plan. `problem` must be valid.
[[nodiscard]] Result<MemoryPlan> ReadPlanFor(const MemoryProblem& problem, std::string_view text,
                                             std::string_view name);

// The offsets that a plan gives the buffers of a table, by id: a table with an `offset` column, or a
// JSON plan (the text then starts with '{'). Errors: kParse; kInvalidPlan for a buffer without an
// offset, an unknown id or one that comes twice, naming it.
[[nodiscard]] Result<std::vector<Bytes>> ReadOffsets(std::string_view text, std::string_view name,
                                                     const Problem& problem);

}  // namespace berth

#endif  // BERTH_PLAN_IO_H_
