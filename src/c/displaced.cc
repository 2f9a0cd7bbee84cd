// Why buffers are not in the memory in which they would cost the least, in the C interface.

#include "berth/displaced.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/try.h"
#include "berth/graph_memories.h"
#include "berth/memories.h"
#include "c/call.h"
#include "c/handles.h"

struct berth_displacements {
  struct Entry {
    berth::Displaced displaced;  // Buffers of the table or, of a plan of a graph, tensors.
    berth::Step start;
    berth::Step end;
  };
  std::vector<Entry> entries;
};

namespace berth::internal::c {
namespace {

berth_obstacle ObstacleOf(DisplacedBy reason) {
  switch (reason) {
    case DisplacedBy::kMemory:
      return BERTH_OBSTACLE_MEMORY;
    case DisplacedBy::kBytes:
      return BERTH_OBSTACLE_BYTES;
    case DisplacedBy::kPlaces:
      return BERTH_OBSTACLE_PLACES;
    case DisplacedBy::kNothing:
      return BERTH_OBSTACLE_NOTHING;
  }
  return BERTH_OBSTACLE_NOTHING;
}

// The plan with the buffers where the caller says that they are.
Result<MemoryPlan> PlanAt(const MemoryProblem& problem, const std::int64_t* chosen,
                          const std::int64_t* offsets) {
  const std::vector<Buffer>& buffers = problem.table.buffers;
  RequireList(chosen, buffers.size(), "chosen");
  RequireList(offsets, buffers.size(), "offsets");
  const auto memories = static_cast<std::int64_t>(problem.memories.size());
  std::vector<Residency> residencies;
  for (std::size_t b = 0; b < buffers.size(); ++b) {
    if (chosen[b] == -1) continue;
    if (chosen[b] < 0 || chosen[b] >= memories) {
      return Fail(ErrorCode::kInvalidPlan,
                  "buffer " + Quoted(buffers[b].id) + " is in memory " + std::to_string(chosen[b]) +
                      ", which does not exist: there are " + std::to_string(memories),
                  Subject::OfBuffer(b));
    }
    if (offsets[b] < 0 || offsets[b] > 2 * kMaxBytes) {
      return Fail(ErrorCode::kInvalidPlan,
                  "buffer " + Quoted(buffers[b].id) + " has the offset " +
                      std::to_string(offsets[b]) + ", which is not within 0 to 2^61",
                  Subject::OfBuffer(b));
    }
    Residency& residency = residencies.emplace_back();
    residency.tensor = b;
    residency.start = buffers[b].start;
    residency.end = buffers[b].end;
    residency.offset = offsets[b];
    residency.memory = static_cast<int>(chosen[b]);
  }
  MemoryPlan plan = berth::PlanOf(problem, std::move(residencies));
  BERTH_TRY(ValidatePlan(problem, plan));
  return plan;
}

Result<berth_displacements*> Find(const MemoryProblem& problem, const MemoryPlan& plan,
                                  std::size_t most, const std::vector<TensorIndex>* tensors) {
  berth_displacements all;
  for (Displaced& each : BERTH_TRY(FindDisplaced(problem, plan, most))) {
    const Buffer& first = problem.table.buffers[each.buffers.front()];
    if (tensors != nullptr) {
      for (auto* const list : {&each.buffers, &each.in_the_way}) {
        for (std::size_t& b : *list) b = (*tensors)[b];
        // A tensor that is copied may be in the way twice.
        std::sort(list->begin(), list->end());
        list->erase(std::unique(list->begin(), list->end()), list->end());
      }
    }
    all.entries.push_back({std::move(each), first.start, first.end});
  }
  return new berth_displacements(std::move(all));
}

}  // namespace
}  // namespace berth::internal::c

namespace c = berth::internal::c;
using berth::Result;

extern "C" {

const char* berth_obstacle_name(berth_obstacle obstacle) {
  const int number = c::NumberOf(obstacle);
  if (number < BERTH_OBSTACLE_MEMORY || number > BERTH_OBSTACLE_NOTHING) return "none";
  return berth::ToString(static_cast<berth::DisplacedBy>(number)).data();
}

berth_status berth_find_displaced(const berth_problem* problem, const berth_memories* memories,
                                  const int64_t* chosen, const int64_t* offsets, size_t most,
                                  berth_displacements** found, berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    c::Require(found != nullptr, "the place for what is found is NULL");
    const berth::MemoryProblem whole = BERTH_TRY(c::MemoryProblemOf(problem, memories));
    BERTH_TRY(berth::Validate(whole));
    const berth::MemoryPlan plan = BERTH_TRY(c::PlanAt(whole, chosen, offsets));
    *found = BERTH_TRY(c::Find(whole, plan, most, nullptr));
    return {};
  });
}

berth_status berth_plan_displaced(const berth_plan* plan, size_t most, berth_displacements** found,
                                  berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    c::Require(found != nullptr, "the place for what is found is NULL");
    const berth_plan& from = c::PlanInMemories(plan);
    c::Require(from.answer.best.has_value(), "there is no plan");
    c::Require(!from.answer.spills, "the plan spills: it has no costs");
    const berth::TensorTable table =
        berth::TableOf(from.graph->model.graph, from.options.schedule.counting,
                       from.options.memories, *from.answer.best);
    const berth::MemoryPlan of_table = berth::PlanOf(table, *from.answer.best);
    *found = BERTH_TRY(c::Find(table.problem, of_table, most, &table.tensors));
    return {};
  });
}

void berth_displacements_free(berth_displacements* found) { delete found; }
size_t berth_displacements_count(const berth_displacements* found) {
  return found == nullptr ? 0 : found->entries.size();
}

berth_status berth_displacements_at(const berth_displacements* found, size_t index,
                                    berth_displaced* out, berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    c::Require(found != nullptr, "found is NULL");
    c::RequireIndex(index, found->entries.size(), "entry");
    const auto& [each, start, end] = found->entries[index];
    berth_displaced entry = {};
    entry.buffers = each.buffers.data();
    entry.buffer_count = each.buffers.size();
    entry.start = start;
    entry.end = end;
    entry.memory = each.memory.value_or(BERTH_NONE);
    entry.cheaper = each.cheaper;
    entry.cost = each.cost;
    entry.least = each.least;
    entry.must = each.must ? 1 : 0;
    entry.obstacle = c::ObstacleOf(each.reason);
    entry.has_step = each.step ? 1 : 0;
    entry.step = each.step.value_or(0);
    entry.free = each.free;
    entry.needed = each.needed;
    entry.offset = each.offset.value_or(-1);
    entry.in_the_way = each.in_the_way.data();
    entry.in_the_way_count = each.in_the_way.size();
    entry.saved = each.saved.value_or(-1);
    c::Fill(out, entry);
    return {};
  });
}

}  // extern "C"
