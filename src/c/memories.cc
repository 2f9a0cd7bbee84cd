// Several memories in the C interface.

#include "berth/memories.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/try.h"
#include "berth/answer.h"
#include "berth/budget.h"
#include "berth/repack.h"
#include "c/call.h"
#include "c/handles.h"
#include "c/options.h"

namespace berth::internal::c {
namespace {

// The caller's struct, with the fields that its version lacks as 0.
berth_memories FieldsOf(const berth_memories* given) {
  Require(given != nullptr, "memories is NULL");
  RequireStruct(given);
  berth_memories memories{};
  const auto* const bytes = reinterpret_cast<const char*>(given);
  const std::size_t known = std::min(given->struct_size, sizeof memories);
  std::char_traits<char>::copy(reinterpret_cast<char*>(&memories), bytes, known);
  // What a later version's fields ask for would not be done.
  Require(std::all_of(bytes + known, bytes + given->struct_size, [](char c) { return c == 0; }),
          "memories has fields of a later version of the library that are set");
  return memories;
}

std::vector<Memory> MemoriesOf(const berth_memories& given) {
  RequireList(given.capacities, given.memories, "the list of capacities");
  RequireList(given.reserved, given.reserved_count, "the list of reserved ranges");
  std::vector<Memory> memories(given.memories);
  for (std::size_t m = 0; m < memories.size(); ++m) {
    memories[m].name = std::to_string(m);
    if (given.capacities[m] != -1) memories[m].capacity = given.capacities[m];
    if (given.alignments != nullptr) memories[m].alignment = given.alignments[m];
  }
  for (std::size_t r = 0; r < given.reserved_count; ++r) {
    const std::int64_t* const range = given.reserved + 5 * r;
    const auto m = static_cast<std::uint64_t>(range[0]);
    if (m >= memories.size()) {
      throw ArgumentError("the memory " + std::to_string(range[0]) +
                          " of a reserved range is out of range: there are " +
                          std::to_string(memories.size()));
    }
    memories[static_cast<std::size_t>(m)].reserved.push_back(
        {range[1], range[2], range[3], range[4]});
  }
  return memories;
}

Result<std::vector<Placing>> PlacingOf(const berth_memories& given, const Problem& table) {
  const std::size_t count = table.buffers.size();
  std::vector<Placing> placings(count);
  for (std::size_t b = 0; b < count; ++b) {
    Placing& placing = placings[b];
    for (std::size_t m = 0; given.costs != nullptr && m < given.memories; ++m) {
      const std::int64_t cost = given.costs[b * given.memories + m];
      if (cost != -1) placing.candidates.push_back({m, cost, {}});
    }
    if (given.costs != nullptr && placing.candidates.empty()) {
      return Fail(ErrorCode::kInvalidProblem,
                  "buffer " + Quoted(table.buffers[b].id) + " may be in no memory",
                  Subject::OfBuffer(b));
    }
    if (given.costs_left_out != nullptr && given.costs_left_out[b] != -1) {
      placing.cost_left_out = given.costs_left_out[b];
    }
    if (given.previous_memories != nullptr && given.previous_memories[b] != -1) {
      Require(given.previous_offsets != nullptr, "previous_offsets is NULL");
      const auto m = static_cast<std::uint64_t>(given.previous_memories[b]);
      placing.previous = Previous{
          static_cast<std::size_t>(std::min<std::uint64_t>(m, given.memories)),
          given.previous_offsets[b], given.move_costs == nullptr ? 0 : given.move_costs[b]};
    }
  }
  return placings;
}

// The members of each group that has any, in order of the groups' numbers.
std::vector<std::vector<Member>> GroupsOf(const berth_memories& given, std::size_t count) {
  std::map<std::size_t, std::vector<Member>> members;
  for (std::size_t b = 0; given.groups != nullptr && b < count; ++b) {
    if (given.groups[b] == BERTH_NONE) continue;
    members[given.groups[b]].push_back({b, given.distances == nullptr ? 0 : given.distances[b]});
  }
  std::vector<std::vector<Member>> groups;
  groups.reserve(members.size());
  for (auto& [number, group] : members) groups.push_back(std::move(group));
  return groups;
}

Result<MemoryProblem> ProblemOf(const berth_memories& given, const Problem& table) {
  MemoryProblem problem;
  problem.table = table;
  problem.memories = MemoriesOf(given);
  problem.placing = BERTH_TRY(PlacingOf(given, table));
  problem.together = GroupsOf(given, table.buffers.size());
  RequireList(given.apart, given.apart_count, "the list of pairs apart");
  for (std::size_t i = 0; i < given.apart_count; ++i) {
    problem.apart.push_back({given.apart[2 * i], given.apart[2 * i + 1],
                             given.apart_memories != nullptr && given.apart_memories[i] != 0});
  }
  return problem;
}

// Where the caller wants the plan, before the work for it begins.
struct Out {
  std::int64_t* chosen;
  std::int64_t* offsets;
  berth_memories_summary* summary;

  void RequireFor(std::size_t count) const {
    RequireList(chosen, count, "chosen");
    RequireList(offsets, count, "offsets");
    if (summary != nullptr) RequireStruct(summary);
  }

  void Write(const PlanAnswer& answer, std::size_t count) const {
    const berth_summary known = SummaryOf(answer);
    const PlanCost cost = answer.best ? answer.best->cost : PlanCost();
    if (summary != nullptr) {
      Fill(summary, {0, known.outcome, known.stopped, cost.unplaced, answer.cost_bound.unplaced,
                     cost.cost, answer.cost_bound.cost, cost.moved, answer.nodes, answer.seconds});
    }
    std::fill(chosen, chosen + count, -1);
    std::fill(offsets, offsets + count, -1);
    if (!answer.best) return;
    for (const Residency& residency : answer.best->residencies) {
      chosen[residency.tensor] = residency.memory;
      offsets[residency.tensor] = residency.offset;
    }
  }
};

// What `search` finds with the settings, for the problem and within the budget; `call` is what errors
// call it.
template <typename Search>
Result<void> PlaceBy(const Search& search, const std::string& call, const berth_problem* problem,
                     const berth_memories* memories, const berth_options* options, const Out& out) {
  const Problem& table = InputOf(problem)->problem;
  const std::size_t count = table.buffers.size();
  out.RequireFor(count);
  const berth_options& request = OptionsOf(options);
  BERTH_TRY(RefuseBudget(request.settings, call.c_str()));
  if (request.settings.capacity) {
    return Fail(ErrorCode::kInvalidOptions, "capacity: " + call + " takes one for each memory");
  }
  const MemoryProblem whole = BERTH_TRY(ProblemOf(FieldsOf(memories), table));
  Watch watch(request, /*limited=*/true);
  const PlanAnswer answer =
      BERTH_TRY(watch.Run([&](Budget& budget) { return search(request.settings, whole, budget); }));
  out.Write(answer, count);
  return {};
}

}  // namespace
}  // namespace berth::internal::c

namespace c = berth::internal::c;
using berth::Result;

extern "C" {

berth_status berth_place_in_memories(const berth_problem* problem, const berth_memories* memories,
                                     const berth_options* options, int64_t* chosen,
                                     int64_t* offsets, berth_memories_summary* summary,
                                     berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    const auto search = [](const c::Settings& settings, const berth::MemoryProblem& whole,
                           berth::Budget& budget) -> Result<berth::PlanAnswer> {
      BERTH_TRY(c::RefuseRepack(settings));
      berth::MemoriesOptions wanted;
      wanted.place = settings.plan.place;
      return berth::PlaceInMemories(whole, wanted, budget);
    };
    return c::PlaceBy(search, "berth_place_in_memories()", problem, memories, options,
                      {chosen, offsets, summary});
  });
}

berth_status berth_repack(const berth_problem* problem, const berth_memories* memories,
                          const berth_options* options, int64_t* chosen, int64_t* offsets,
                          berth_memories_summary* summary, berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    const auto search = [](const c::Settings& settings, const berth::MemoryProblem& whole,
                           berth::Budget& budget) {
      berth::RepackOptions wanted = settings.repack;
      wanted.place = settings.plan.place;
      return berth::Repack(whole, wanted, budget);
    };
    return c::PlaceBy(search, "berth_repack()", problem, memories, options,
                      {chosen, offsets, summary});
  });
}

}  // extern "C"
