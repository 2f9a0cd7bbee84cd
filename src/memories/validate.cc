// The rules of memories, placing, together and apart, and of plans for them.
#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "base/arithmetic.h"
#include "base/rectangles.h"
#include "base/text.h"
#include "base/try.h"
#include "base/wide.h"
#include "memories/model.h"
#include "memories/selection.h"
#include "model/instance.h"

namespace berth {
namespace internal::memories {
namespace {

// What units may do in each is kept in the bits of a word.
constexpr std::size_t kMostMemories = kMostOptions;
// The choice lists every two of them as excluding each other, sixty at a time.
constexpr std::size_t kMostCandidates = 10'000;

std::string Range(std::int64_t lower, std::int64_t upper) {
  return "[" + std::to_string(lower) + ", " + std::to_string(upper) + ")";
}

std::string Named(const Memory& memory) { return "memory " + Quoted(memory.name) + ": "; }

tl::unexpected<Error> Invalid(std::string message, Subject subject = {}) {
  return Fail(ErrorCode::kInvalidProblem, std::move(message), subject);
}

tl::unexpected<Error> InvalidBuffer(const MemoryProblem& problem, std::size_t b,
                                    const std::string& what) {
  return Invalid("buffer " + Quoted(problem.table.buffers[b].id) + ": " + what,
                 Subject::OfBuffer(b));
}

bool InRange(std::int64_t value, std::int64_t least, std::int64_t most = kMaxBytes) {
  return value >= least && value <= most;
}

Result<void> CheckReserved(const Memory& memory) {
  for (std::size_t r = 0; r < memory.reserved.size(); ++r) {
    const Reserved& reserved = memory.reserved[r];
    const std::string named =
        Named(memory) + "reserved range " + Range(reserved.lower, reserved.upper);
    if (!InRange(reserved.lower, 0) || !InRange(reserved.upper, 0) ||
        reserved.lower >= reserved.upper) {
      return Invalid(named + " is empty, or not within 0 to 2^60");
    }
    if (reserved.start >= reserved.end || !InRange(reserved.start, -kMaxStep) ||
        !InRange(reserved.end, -kMaxStep)) {
      return Invalid(named + " has the steps " + Range(reserved.start, reserved.end) +
                     ", which are none, or not within 2^60");
    }
    if (memory.capacity && reserved.upper > *memory.capacity) {
      return Invalid(named + " exceeds the capacity " + std::to_string(*memory.capacity));
    }
    for (std::size_t other = 0; other < r; ++other) {
      const Reserved& before = memory.reserved[other];
      if (reserved.lower < before.upper && before.lower < reserved.upper &&
          reserved.start < before.end && before.start < reserved.end) {
        return Invalid(named + " overlaps the reserved range " + Range(before.lower, before.upper));
      }
    }
  }
  return {};
}

Result<void> CheckMemory(const Memory& memory) {
  if (memory.name.empty()) return Invalid("a memory has no name");
  if (memory.capacity && !InRange(*memory.capacity, 0)) {
    return Invalid(Named(memory) + "capacity is " + std::to_string(*memory.capacity) +
                   " but must be from 0 to 2^60");
  }
  if (!InRange(memory.alignment, 1)) {
    return Invalid(Named(memory) + "alignment is " + std::to_string(memory.alignment) +
                   " but must be from 1 to 2^60");
  }
  if (!InRange(memory.base, 0) || memory.base % memory.alignment != 0 ||
      memory.base + memory.capacity.value_or(0) > kMaxBytes) {
    return Invalid(Named(memory) + "base is " + std::to_string(memory.base) +
                   " but must be a multiple of the alignment, " + std::to_string(memory.alignment) +
                   ", and the memory must end at 2^60 at most");
  }
  for (const Rate& rate : {memory.read, memory.write}) {
    if (InRange(rate.cost, 0, kMaxCost) && InRange(rate.bytes, 1)) continue;
    return Invalid(Named(memory) + "a cost of " + std::to_string(rate.cost) + " for every " +
                   std::to_string(rate.bytes) +
                   " bytes is none: the cost must be from 0 to 2^60, the bytes from 1 to 2^60");
  }
  if (!InRange(memory.access, 0, kMaxCost)) {
    return Invalid(Named(memory) + "the cost of an access is " + std::to_string(memory.access) +
                   " but must be from 0 to 2^60");
  }
  return CheckReserved(memory);
}

Result<void> CheckCandidates(const MemoryProblem& problem, std::size_t b) {
  const Placing& placing = problem.placing[b];
  const Buffer& buffer = problem.table.buffers[b];
  if (placing.candidates.size() > kMostCandidates) {
    return InvalidBuffer(problem, b,
                         "there are " + std::to_string(placing.candidates.size()) +
                             " candidates, but there may be at most " +
                             std::to_string(kMostCandidates));
  }
  std::set<std::pair<std::size_t, std::optional<Bytes>>> known;
  for (const Candidate& candidate : placing.candidates) {
    if (candidate.memory >= problem.memories.size()) {
      return InvalidBuffer(problem, b,
                           "candidate memory " + std::to_string(candidate.memory) +
                               " does not exist: there are " +
                               std::to_string(problem.memories.size()));
    }
    const Memory& memory = problem.memories[candidate.memory];
    const std::string named = "candidate memory " + Quoted(memory.name);
    if (!InRange(candidate.cost, 0, kMaxCost)) {
      return InvalidBuffer(problem, b,
                           named + " has the cost " + std::to_string(candidate.cost) +
                               " but costs must be from 0 to 2^60");
    }
    if (!known.emplace(candidate.memory, candidate.offset).second) {
      return InvalidBuffer(problem, b, named + " is given twice");
    }
    if (!candidate.offset) continue;
    if (!InRange(*candidate.offset, 0) || *candidate.offset % buffer.alignment != 0 ||
        *candidate.offset % memory.alignment != 0) {
      return InvalidBuffer(problem, b,
                           named + " has the offset " + std::to_string(*candidate.offset) +
                               ", which is not within 0 to 2^60, or not a multiple of the "
                               "alignments of buffer and memory");
    }
    if (buffer.offset && *buffer.offset != *candidate.offset) {
      return InvalidBuffer(problem, b,
                           named + " has the offset " + std::to_string(*candidate.offset) +
                               " but the buffer is pinned to " + std::to_string(*buffer.offset));
    }
  }
  return {};
}

Result<void> CheckPlacing(const MemoryProblem& problem, std::size_t b) {
  const Placing& placing = problem.placing[b];
  if (!InRange(placing.bytes_read, 0) || !InRange(placing.bytes_written, 0) ||
      !InRange(placing.accesses, 0)) {
    return InvalidBuffer(problem, b,
                         "bytes read, bytes written and accesses must be from 0 to 2^60");
  }
  BERTH_TRY(CheckCandidates(problem, b));
  if (placing.candidates.empty()) {
    for (const Memory& memory : problem.memories) {
      if (!DerivedCost(placing, memory)) {
        return InvalidBuffer(problem, b,
                             "its cost in memory " + Quoted(memory.name) + " is more than 2^60");
      }
    }
  }
  if (placing.cost_left_out && !InRange(*placing.cost_left_out, 0, kMaxCost)) {
    return InvalidBuffer(problem, b,
                         "the cost of being left out is " + std::to_string(*placing.cost_left_out) +
                             " but must be from 0 to 2^60");
  }
  if (placing.previous) {
    const Previous& previous = *placing.previous;
    if (previous.memory >= problem.memories.size() || !InRange(previous.offset, 0) ||
        !InRange(previous.move_cost, 0, kMaxCost)) {
      return InvalidBuffer(problem, b,
                           "its previous place, memory " + std::to_string(previous.memory) +
                               ", offset " + std::to_string(previous.offset) + ", move cost " +
                               std::to_string(previous.move_cost) + ", is none");
    }
  }
  return {};
}

// The largest costs of all buffers must not add up to more than kMaxCost.
Result<void> CheckSum(const MemoryProblem& problem) {
  std::int64_t sum = 0;
  for (std::size_t b = 0; b < problem.placing.size(); ++b) {
    const Placing& placing = problem.placing[b];
    std::int64_t most = placing.cost_left_out.value_or(0);
    for (const Candidate& each : placing.candidates) most = std::max(most, each.cost);
    if (placing.candidates.empty()) {
      for (const Memory& memory : problem.memories) {
        most = std::max(most, DerivedCost(placing, memory).value_or(kMaxCost));
      }
    }
    if (placing.previous) most += placing.previous->move_cost;
    if (most > kMaxCost - sum) {
      return InvalidBuffer(problem, b, "the sum of costs up to this buffer is more than 2^60");
    }
    sum += most;
  }
  return {};
}

// An aligned offset must be an aligned address.
Result<void> CheckBases(const MemoryProblem& problem) {
  for (std::size_t b = 0; b < problem.table.buffers.size(); ++b) {
    const Bytes alignment = problem.table.buffers[b].alignment;
    if (alignment == 1) continue;
    const auto check = [&](const Memory& memory) -> Result<void> {
      if (memory.base % alignment == 0) return {};
      return InvalidBuffer(problem, b,
                           "its alignment is " + std::to_string(alignment) +
                               ", of which the base of memory " + Quoted(memory.name) + ", " +
                               std::to_string(memory.base) + ", is no multiple");
    };
    const bool anywhere = problem.placing.empty() || problem.placing[b].candidates.empty();
    if (anywhere) {
      for (const Memory& memory : problem.memories) BERTH_TRY(check(memory));
      continue;
    }
    for (const Candidate& candidate : problem.placing[b].candidates) {
      BERTH_TRY(check(problem.memories[candidate.memory]));
    }
  }
  return {};
}

Result<void> CheckApart(const MemoryProblem& problem) {
  const std::size_t count = problem.table.buffers.size();
  std::vector<std::size_t> group(count, static_cast<std::size_t>(-1));
  std::vector<Bytes> distance(count, 0);
  for (std::size_t g = 0; g < problem.together.size(); ++g) {
    for (const Member& member : problem.together[g]) {
      if (member.buffer >= count) continue;  // Colocate() says so.
      group[member.buffer] = g;
      distance[member.buffer] = member.distance;
    }
  }
  Step last = 0;
  for (const Buffer& buffer : problem.table.buffers) last = std::max(last, buffer.end);
  if (last > kMaxStep - 2 * static_cast<Step>(problem.apart.size()) - 2) {
    if (!problem.apart.empty()) {
      return Invalid("lifetimes up to step " + std::to_string(last) +
                     " leave no room for buffers that are apart: they must end before 2^60");
    }
  }
  for (const Apart& apart : problem.apart) {
    if (apart.first >= count || apart.second >= count || apart.first == apart.second) {
      return Invalid("buffers " + std::to_string(apart.first) + " and " +
                     std::to_string(apart.second) + " of " + std::to_string(count) +
                     " cannot be apart");
    }
    if (group[apart.first] == static_cast<std::size_t>(-1) ||
        group[apart.first] != group[apart.second]) {
      continue;
    }
    const Bytes lower = distance[apart.first];
    const Bytes other = distance[apart.second];
    if (apart.different_memories || (lower < other + problem.table.buffers[apart.second].size &&
                                     other < lower + problem.table.buffers[apart.first].size)) {
      return InvalidBuffer(problem, apart.first,
                           "it must be apart from and together with buffer " +
                               Quoted(problem.table.buffers[apart.second].id));
    }
  }
  return {};
}

}  // namespace

std::optional<std::int64_t> DerivedCost(const Placing& placing, const Memory& memory) {
  const auto of = [](std::int64_t count, const Rate& rate) {
    return (Wide(count) * Wide(rate.cost) + Wide(rate.bytes - 1)) / Wide(rate.bytes);
  };
  const Wide cost = of(placing.bytes_read, memory.read) + of(placing.bytes_written, memory.write) +
                    of(placing.accesses, {memory.access, 1});
  if (cost > Wide(kMaxCost)) return std::nullopt;
  return static_cast<std::int64_t>(cost);
}

Result<void> CheckParts(const MemoryProblem& problem) {
  BERTH_TRY(Validate(problem.table));
  if (problem.table.capacity) {
    return Invalid("the table has a capacity, but capacities belong to the memories");
  }
  if (problem.memories.empty()) return Invalid("there is no memory");
  if (problem.memories.size() > kMostMemories) {
    return Fail(ErrorCode::kUnsupported, std::to_string(problem.memories.size()) +
                                             " memories are more than the limit of " +
                                             std::to_string(kMostMemories));
  }
  std::set<std::string> names;
  for (const Memory& memory : problem.memories) {
    BERTH_TRY(CheckMemory(memory));
    if (!names.insert(memory.name).second) {
      return Invalid("two memories have the name " + Quoted(memory.name));
    }
  }
  if (!problem.placing.empty() && problem.placing.size() != problem.table.buffers.size()) {
    return Invalid("placing is given for " + std::to_string(problem.placing.size()) + " of " +
                   std::to_string(problem.table.buffers.size()) + " buffers");
  }
  for (std::size_t b = 0; b < problem.placing.size(); ++b) BERTH_TRY(CheckPlacing(problem, b));
  BERTH_TRY(CheckSum(problem));
  BERTH_TRY(CheckBases(problem));
  return CheckApart(problem);
}

namespace {

tl::unexpected<Error> Wrong(std::string message, Subject subject = {}) {
  return Fail(ErrorCode::kInvalidPlan, std::move(message), subject);
}

// Where each buffer is; nothing for one that is left out.
using Places = std::vector<std::optional<std::pair<std::size_t, Bytes>>>;

Result<Places> PlacesOf(const MemoryProblem& problem, const MemoryPlan& plan) {
  Places places(problem.table.buffers.size());
  std::size_t next = 0;
  for (const Residency& residency : plan.residencies) {
    if (residency.tensor < next || residency.tensor >= places.size()) {
      return Wrong("residencies are not in the order of the buffers");
    }
    next = residency.tensor + 1;
    const Buffer& buffer = problem.table.buffers[residency.tensor];
    const Subject subject = Subject::OfBuffer(residency.tensor);
    const std::string named = "buffer " + Quoted(buffer.id);
    if (residency.start != buffer.start || residency.end != buffer.end) {
      return Wrong(named + " does not have its lifetime", subject);
    }
    if (residency.memory < 0 ||
        static_cast<std::size_t>(residency.memory) >= problem.memories.size()) {
      return Wrong(named + " is in a memory that does not exist", subject);
    }
    const auto m = static_cast<std::size_t>(residency.memory);
    const Memory& memory = problem.memories[m];
    if (!CostIn(problem, residency.tensor, m, residency.offset)) {
      return Wrong(named + " may not be in memory " + Quoted(memory.name) + " at offset " +
                       std::to_string(residency.offset),
                   subject);
    }
    if (residency.offset < 0 || residency.offset % buffer.alignment != 0 ||
        residency.offset % memory.alignment != 0 ||
        (buffer.offset && *buffer.offset != residency.offset)) {
      return Wrong(named + " has the offset " + std::to_string(residency.offset) +
                       ", against its alignment, its pin or that of its memory",
                   subject);
    }
    if (residency.offset > 2 * kMaxBytes ||
        (memory.capacity && residency.offset + buffer.size > *memory.capacity)) {
      return Wrong(named + " exceeds the capacity of memory " + Quoted(memory.name), subject);
    }
    places[residency.tensor] = {m, residency.offset};
  }
  return places;
}

Result<void> CheckOverlaps(const MemoryProblem& problem, const Places& places) {
  for (std::size_t m = 0; m < problem.memories.size(); ++m) {
    std::vector<Rectangle> pieces;
    for (std::size_t b = 0; b < places.size(); ++b) {
      if (!places[b] || places[b]->first != m) continue;
      const Bytes offset = places[b]->second;
      ForEachLivePiece(problem.table.buffers[b], [&](const LivePiece& piece) {
        pieces.push_back({piece.start, piece.end, offset + piece.lower, offset + piece.upper, b});
      });
    }
    // A group may share bytes with itself.
    std::vector<std::size_t> group(places.size(), static_cast<std::size_t>(-1));
    for (std::size_t g = 0; g < problem.together.size(); ++g) {
      for (const Member& member : problem.together[g]) group[member.buffer] = g;
    }
    const Memory& memory = problem.memories[m];
    for (std::size_t r = 0; r < memory.reserved.size(); ++r) {
      const Reserved& reserved = memory.reserved[r];
      pieces.push_back(
          {reserved.start, reserved.end, reserved.lower, reserved.upper, places.size() + r});
    }
    std::sort(pieces.begin(), pieces.end(), [](const Rectangle& a, const Rectangle& b) {
      return a.start != b.start ? a.start < b.start : a.owner < b.owner;
    });
    std::vector<Rectangle> live;
    for (const Rectangle& piece : pieces) {
      std::erase_if(live, [&](const Rectangle& each) { return each.end <= piece.start; });
      for (const Rectangle& each : live) {
        if (each.owner == piece.owner || piece.lower >= each.upper || each.lower >= piece.upper) {
          continue;
        }
        const std::size_t a = std::min(each.owner, piece.owner);
        const std::size_t b = std::max(each.owner, piece.owner);
        if (b < places.size() && group[a] == group[b] && group[a] != static_cast<std::size_t>(-1)) {
          continue;
        }
        return Wrong("buffer " + Quoted(problem.table.buffers[a].id) + " and " +
                         (b < places.size() ? "buffer " + Quoted(problem.table.buffers[b].id)
                                            : "a reserved range") +
                         " share bytes of memory " + Quoted(memory.name),
                     Subject::OfBuffer(a));
      }
      live.push_back(piece);
    }
  }
  return {};
}

Result<void> CheckRelations(const MemoryProblem& problem, const Places& places) {
  for (const std::vector<Member>& group : problem.together) {
    for (const Member& member : group) {
      const auto& first = places[group.front().buffer];
      const auto& place = places[member.buffer];
      if (first.has_value() == place.has_value() &&
          (!place || (first->first == place->first &&
                      first->second - group.front().distance == place->second - member.distance))) {
        continue;
      }
      return Wrong("buffer " + Quoted(problem.table.buffers[member.buffer].id) +
                       " is not where its group is",
                   Subject::OfBuffer(member.buffer));
    }
  }
  for (const Apart& apart : problem.apart) {
    const auto& first = places[apart.first];
    const auto& second = places[apart.second];
    if (!first || !second || first->first != second->first) continue;
    const Bytes first_top = first->second + problem.table.buffers[apart.first].size;
    const Bytes second_top = second->second + problem.table.buffers[apart.second].size;
    if (!apart.different_memories && (first->second >= second_top || second->second >= first_top)) {
      continue;
    }
    return Wrong("buffer " + Quoted(problem.table.buffers[apart.first].id) +
                     " is not apart from buffer " + Quoted(problem.table.buffers[apart.second].id),
                 Subject::OfBuffer(apart.first));
  }
  return {};
}

}  // namespace
}  // namespace internal::memories

Result<void> Validate(const MemoryProblem& problem) {
  static_cast<void>(BERTH_TRY(internal::memories::Compile(problem)));
  return {};
}

Result<void> ValidatePlan(const MemoryProblem& problem, const MemoryPlan& plan) {
  using internal::memories::Wrong;
  if (!plan.order.empty() || !plan.addressed) return Wrong("the plan is not one of a table");
  const auto places = BERTH_TRY(internal::memories::PlacesOf(problem, plan));
  BERTH_TRY(internal::memories::CheckOverlaps(problem, places));
  BERTH_TRY(internal::memories::CheckRelations(problem, places));
  MemoryPlan stated = plan;
  internal::memories::Complete(problem, stated);
  if (stated.memories != plan.memories) return Wrong("heights or peaks are not as stated");
  if (stated.cost != plan.cost) return Wrong("costs are not as stated");
  return {};
}

std::optional<std::int64_t> CostOfUses(const Placing& placing, const Memory& memory) {
  return internal::memories::DerivedCost(placing, memory);
}

std::optional<std::int64_t> CostOf(const MemoryProblem& problem, const Residency& residency) {
  return internal::memories::CostIn(problem, residency.tensor,
                                    static_cast<std::size_t>(residency.memory), residency.offset);
}

MemoryPlan PlanOf(const MemoryProblem& problem, std::vector<Residency> residencies) {
  MemoryPlan plan;
  plan.residencies = std::move(residencies);
  internal::memories::Complete(problem, plan);
  return plan;
}

}  // namespace berth
