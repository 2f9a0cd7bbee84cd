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

// Of each of a list that may be missing.
template <typename Item>
Item At(const Item* list, std::size_t index, Item otherwise) {
  return list == nullptr ? otherwise : list[index];
}

// The index of a memory, which the caller gives as a number; `of` is what it is of.
std::size_t MemoryAt(std::int64_t number, std::size_t memories, const char* of) {
  const auto m = static_cast<std::uint64_t>(number);
  if (m < memories) return static_cast<std::size_t>(m);
  throw ArgumentError("the memory " + std::to_string(number) + " of a " + of +
                      " is out of range: there are " + std::to_string(memories));
}

std::vector<Memory> MemoriesOf(const berth_memories& given) {
  RequireList(given.capacities, given.memories, "the list of capacities");
  RequireList(given.reserved, given.reserved_count, "the list of reserved ranges");
  std::vector<Memory> memories(given.memories);
  for (std::size_t m = 0; m < memories.size(); ++m) {
    Memory& memory = memories[m];
    memory.name = given.names == nullptr ? std::to_string(m) : TextOf(given.names[m]);
    if (given.capacities[m] != -1) memory.capacity = given.capacities[m];
    memory.alignment = At<std::int64_t>(given.alignments, m, 1);
    memory.base = At<std::int64_t>(given.bases, m, 0);
    memory.read = {At<std::int64_t>(given.read_costs, m, 0),
                   At<std::int64_t>(given.read_bytes, m, 1)};
    memory.write = {At<std::int64_t>(given.write_costs, m, 0),
                    At<std::int64_t>(given.write_bytes, m, 1)};
    memory.access = At<std::int64_t>(given.access_costs, m, 0);
  }
  for (std::size_t r = 0; r < given.reserved_count; ++r) {
    const std::int64_t* const range = given.reserved + 5 * r;
    const std::size_t m = MemoryAt(range[0], memories.size(), "reserved range");
    memories[m].reserved.push_back({range[1], range[2], range[3], range[4]});
  }
  return memories;
}

// What a buffer's uses cost in a memory. Where that is more than any cost may be, or where uses or rates
// are such as Validate() refuses, a cost that it refuses, too.
std::int64_t ByUses(const Placing& placing, const Memory& memory) {
  const auto within = [](std::int64_t value, std::int64_t least) {
    return least <= value && value <= kMaxCost;
  };
  for (const std::int64_t use : {placing.bytes_read, placing.bytes_written, placing.accesses}) {
    if (!within(use, 0)) return kMaxCost + 1;
  }
  for (const Rate& rate : {memory.read, memory.write, Rate{memory.access, 1}}) {
    if (!within(rate.cost, 0) || !within(rate.bytes, 1)) return kMaxCost + 1;
  }
  return CostOfUses(placing, memory).value_or(kMaxCost + 1);
}

// Where a buffer may be by its row of costs; none if it may be anywhere at what its uses cost.
void AddCosts(const std::int64_t* row, const std::vector<Memory>& memories, bool alone,
              Placing& placing) {
  const auto by_uses = [](std::int64_t cost) { return cost == BERTH_BY_USES; };
  if (alone && std::all_of(row, row + memories.size(), by_uses)) return;
  for (std::size_t m = 0; m < memories.size(); ++m) {
    if (row[m] == -1) continue;
    placing.candidates.push_back({m, by_uses(row[m]) ? ByUses(placing, memories[m]) : row[m], {}});
  }
}

// The single places of each buffer.
std::vector<std::vector<Candidate>> PlacesOf(const berth_memories& given, std::size_t count) {
  RequireList(given.places, given.place_count, "the list of places");
  std::vector<std::vector<Candidate>> places(count);
  for (std::size_t i = 0; i < given.place_count; ++i) {
    const std::int64_t* const place = given.places + 4 * i;
    RequireIndex(static_cast<std::size_t>(place[0]), count, "buffer");
    const std::size_t m = MemoryAt(place[1], given.memories, "place");
    places[static_cast<std::size_t>(place[0])].push_back({m, place[3], place[2]});
  }
  return places;
}

std::optional<Previous> PreviousOf(const berth_memories& given, std::size_t b) {
  if (At<std::int64_t>(given.previous_memories, b, -1) == -1) return std::nullopt;
  Require(given.previous_offsets != nullptr, "previous_offsets is NULL");
  const auto m = static_cast<std::uint64_t>(given.previous_memories[b]);
  // A memory that does not exist is for Validate() to refuse.
  return Previous{static_cast<std::size_t>(std::min<std::uint64_t>(m, given.memories)),
                  given.previous_offsets[b], At<std::int64_t>(given.move_costs, b, 0)};
}

Result<std::vector<Placing>> PlacingOf(const berth_memories& given, const Problem& table,
                                       const std::vector<Memory>& memories) {
  const std::size_t count = table.buffers.size();
  std::vector<std::vector<Candidate>> places = PlacesOf(given, count);
  std::vector<Placing> placings(count);
  for (std::size_t b = 0; b < count; ++b) {
    Placing& placing = placings[b];
    placing.bytes_read = At<std::int64_t>(given.bytes_read, b, 0);
    placing.bytes_written = At<std::int64_t>(given.bytes_written, b, 0);
    placing.accesses = At<std::int64_t>(given.accesses, b, 0);
    const bool alone = places[b].empty();
    if (given.costs != nullptr) {
      const std::int64_t* const row = given.costs + b * memories.size();
      AddCosts(row, memories, alone, placing);
      const auto nowhere = [](std::int64_t cost) { return cost == -1; };
      if (alone && !memories.empty() && std::all_of(row, row + memories.size(), nowhere)) {
        return Fail(ErrorCode::kInvalidProblem,
                    "buffer " + Quoted(table.buffers[b].id) + " may be in no memory",
                    Subject::OfBuffer(b));
      }
    }
    placing.candidates.insert(placing.candidates.end(), places[b].begin(), places[b].end());
    const std::int64_t left_out = At<std::int64_t>(given.costs_left_out, b, -1);
    if (left_out != -1) placing.cost_left_out = left_out;
    placing.previous = PreviousOf(given, b);
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

}  // namespace

Result<MemoryProblem> MemoryProblemOf(const berth_problem* table, const berth_memories* memories) {
  const berth_memories given = FieldsOf(memories);
  MemoryProblem problem;
  problem.table = InputOf(table)->problem;
  problem.memories = MemoriesOf(given);
  problem.placing = BERTH_TRY(PlacingOf(given, problem.table, problem.memories));
  problem.together = GroupsOf(given, problem.table.buffers.size());
  RequireList(given.apart, given.apart_count, "the list of pairs apart");
  for (std::size_t i = 0; i < given.apart_count; ++i) {
    problem.apart.push_back({given.apart[2 * i], given.apart[2 * i + 1],
                             At<std::int8_t>(given.apart_memories, i, 0) != 0});
  }
  return problem;
}

namespace {

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
  const std::size_t count = InputOf(problem)->problem.buffers.size();
  out.RequireFor(count);
  const berth_options& request = OptionsOf(options);
  BERTH_TRY(RefuseBudget(request.settings, call.c_str()));
  if (request.settings.capacity) {
    return Fail(ErrorCode::kInvalidOptions, "capacity: " + call + " takes one for each memory");
  }
  const MemoryProblem whole = BERTH_TRY(MemoryProblemOf(problem, memories));
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
