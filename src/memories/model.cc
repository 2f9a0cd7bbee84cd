#include "memories/model.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/text.h"
#include "base/try.h"
#include "base/wide.h"
#include "model/instance.h"

namespace berth::internal::memories {
namespace {

const Placing& PlacingOf(const MemoryProblem& problem, std::size_t buffer) {
  static const Placing kAnywhere;
  return problem.placing.empty() ? kAnywhere : problem.placing[buffer];
}

bool MayBeIn(const MemoryProblem& problem, std::size_t buffer, std::size_t memory) {
  const Placing& placing = PlacingOf(problem, buffer);
  return placing.candidates.empty() ||
         std::any_of(placing.candidates.begin(), placing.candidates.end(),
                     [memory](const Candidate& each) { return each.memory == memory; });
}

// The table with the alignments of a memory, for the buffers whose whole group may be there.
Result<Problem> Aligned(const MemoryProblem& problem, std::size_t m) {
  Problem table = problem.table;
  const Memory& memory = problem.memories[m];
  if (memory.alignment == 1) return table;
  std::vector<bool> may(table.buffers.size());
  for (std::size_t b = 0; b < may.size(); ++b) may[b] = MayBeIn(problem, b, m);
  for (const std::vector<Member>& group : problem.together) {
    const bool all = std::all_of(group.begin(), group.end(), [&](const Member& member) {
      return member.buffer >= may.size() || may[member.buffer];
    });
    for (const Member& member : group) {
      if (member.buffer < may.size()) may[member.buffer] = all;
    }
  }
  for (std::size_t b = 0; b < may.size(); ++b) {
    Buffer& buffer = table.buffers[b];
    if (!may[b]) continue;
    const Wide common = Wide(buffer.alignment / std::gcd(buffer.alignment, memory.alignment)) *
                        Wide(memory.alignment);
    const std::string named = "buffer " + Quoted(buffer.id) + ": ";
    const Subject subject = Subject::OfBuffer(b);
    if (common > Wide(kMaxBytes)) {
      return Fail(ErrorCode::kInvalidProblem,
                  named + "its alignment " + std::to_string(buffer.alignment) +
                      " and that of memory " + Quoted(memory.name) + ", " +
                      std::to_string(memory.alignment) + ", have no common multiple up to 2^60",
                  subject);
    }
    buffer.alignment = static_cast<Bytes>(common);
    if (buffer.offset && *buffer.offset % buffer.alignment != 0) {
      return Fail(ErrorCode::kInvalidProblem,
                  named + "its offset " + std::to_string(*buffer.offset) +
                      " is not a multiple of the alignment " + std::to_string(memory.alignment) +
                      " of memory " + Quoted(memory.name),
                  subject);
    }
  }
  return table;
}

// Two buffers that never share a byte are live together at a step after all others, alone.
void KeepApart(const MemoryProblem& problem, Colocated& joint) {
  Step step = 0;
  for (const Buffer& buffer : problem.table.buffers) step = std::max(step, buffer.end);
  for (const Apart& apart : problem.apart) {
    if (apart.different_memories) continue;
    ++step;
    for (const std::size_t b : {apart.first, apart.second}) {
      const auto& [unit, distance] = joint.places[b];
      Buffer& merged = joint.problem.buffers[unit];
      const Bytes size = problem.table.buffers[b].size;
      if (merged.end > step) {
        // Both are of one unit, which has both at fixed places already.
        continue;
      }
      merged.gaps.push_back({merged.end, step, {}});
      merged.end = step + 1;
      if (distance != 0 || size != merged.size) {
        merged.gaps.push_back({step, step + 1, Window{distance, distance + size}});
      }
    }
    ++step;
  }
}

Result<Colocated> TableOf(const MemoryProblem& problem, std::size_t m) {
  const Problem aligned = BERTH_TRY(Aligned(problem, m));
  auto joint = Colocate(aligned, problem.together);
  if (!joint) {
    Error error = joint.error();
    if (problem.memories[m].alignment > 1) {
      error.message += ", in memory " + Quoted(problem.memories[m].name) + " with the alignment " +
                       std::to_string(problem.memories[m].alignment);
    }
    return tl::unexpected(std::move(error));
  }
  KeepApart(problem, *joint);
  if (joint->problem.buffers.empty()) return joint;
  Step start = kMaxStep;
  Step end = -kMaxStep;
  // Not in the steps that keep buffers apart: those may be reserved at steps when they are not live.
  for (const Buffer& buffer : problem.table.buffers) {
    start = std::min(start, buffer.start);
    end = std::max(end, buffer.end);
  }
  // Ids are unique: no other begins with this text.
  std::string name = "reserved";
  const auto taken = [&] {
    return std::any_of(joint->problem.buffers.begin(), joint->problem.buffers.end(),
                       [&](const Buffer& each) { return each.id.starts_with(name); });
  };
  while (taken()) name += "'";
  for (std::size_t r = 0; r < problem.memories[m].reserved.size(); ++r) {
    const Reserved& reserved = problem.memories[m].reserved[r];
    Buffer buffer;
    buffer.id = name + " " + std::to_string(r);
    buffer.start = std::max(start, reserved.start);
    buffer.end = std::min(end, reserved.end);
    if (buffer.start >= buffer.end) continue;
    buffer.size = reserved.upper - reserved.lower;
    buffer.offset = reserved.lower;
    joint->problem.buffers.push_back(std::move(buffer));
  }
  if (const auto valid = Validate(joint->problem); !valid) {
    Error error = valid.error();
    error.message += ", in memory " + Quoted(problem.memories[m].name);
    error.subject = {};
    return tl::unexpected(std::move(error));
  }
  return joint;
}

// Whether all pieces of `buffer` at `offset` are clear of the reserved ranges, which are the buffers of
// the table from `units` on.
bool IsClear(const Buffer& buffer, Bytes offset, const Problem& table, std::size_t units) {
  bool clear = true;
  ForEachLivePiece(buffer, [&](const LivePiece& piece) {
    for (std::size_t r = units; r < table.buffers.size(); ++r) {
      const Buffer& reserved = table.buffers[r];
      clear = clear && (piece.end <= reserved.start || reserved.end <= piece.start ||
                        offset + piece.upper <= *reserved.offset ||
                        *reserved.offset + reserved.size <= offset + piece.lower);
    }
  });
  return clear;
}

class ModeMaker {
 public:
  ModeMaker(const MemoryProblem& problem, const std::vector<Colocated>& tables, std::size_t units)
      : problem_(problem), tables_(tables), units_(units) {}

  // All modes of a unit that are good for something.
  void Make(std::size_t u, Unit& unit) const {
    for (std::size_t m = 0; m < problem_.memories.size(); ++m) {
      const Buffer& merged = tables_[m].problem.buffers[u];
      const auto sum = [&](std::optional<Bytes> at) { return Sum(unit, m, at); };
      if (merged.offset) {
        Add(unit, m, merged, *merged.offset, sum(*merged.offset));
        continue;
      }
      const std::optional<std::int64_t> free = sum({});
      if (free && Fits(merged, 0, m)) unit.modes.push_back({m, {}, *free});
      for (const Bytes pin : Pins(unit, m)) {
        const std::optional<std::int64_t> cost = sum(pin);
        if (!free || (cost && *cost < *free)) Add(unit, m, merged, pin, cost);
      }
    }
  }

 private:
  [[nodiscard]] bool Fits(const Buffer& merged, Bytes offset, std::size_t m) const {
    const auto& capacity = problem_.memories[m].capacity;
    return !capacity || merged.size <= *capacity - offset;
  }

  void Add(Unit& unit, std::size_t m, const Buffer& merged, Bytes pin,
           std::optional<std::int64_t> cost) const {
    if (!cost || pin < 0 || pin > kMaxBytes || pin % merged.alignment != 0) return;
    if (!Fits(merged, pin, m) || !IsClear(merged, pin, tables_[m].problem, units_)) return;
    unit.modes.push_back({m, pin, *cost});
  }

  // The costs of all buffers of the unit, which lies at `at` or, without one, anywhere.
  [[nodiscard]] std::optional<std::int64_t> Sum(const Unit& unit, std::size_t m,
                                                std::optional<Bytes> at) const {
    std::int64_t sum = 0;
    for (const std::size_t b : unit.buffers) {
      std::optional<Bytes> offset;
      if (at) offset = *at + tables_[m].places[b].distance;
      const std::optional<std::int64_t> cost = CostIn(problem_, b, m, offset);
      if (!cost) return std::nullopt;
      sum += *cost;
    }
    return sum;
  }

  // The offsets of the unit at which some buffer costs less, or may be at all.
  [[nodiscard]] std::set<Bytes> Pins(const Unit& unit, std::size_t m) const {
    std::set<Bytes> pins;
    for (const std::size_t b : unit.buffers) {
      const Placing& placing = PlacingOf(problem_, b);
      const Bytes distance = tables_[m].places[b].distance;
      for (const Candidate& candidate : placing.candidates) {
        if (candidate.memory == m && candidate.offset) pins.insert(*candidate.offset - distance);
      }
      if (placing.previous && placing.previous->memory == m && placing.previous->move_cost > 0) {
        pins.insert(placing.previous->offset - distance);
      }
    }
    return pins;
  }

  const MemoryProblem& problem_;
  const std::vector<Colocated>& tables_;
  const std::size_t units_;
};

}  // namespace

std::optional<std::int64_t> CostIn(const MemoryProblem& problem, std::size_t buffer,
                                   std::size_t memory, std::optional<Bytes> offset) {
  const Placing& placing = PlacingOf(problem, buffer);
  std::optional<std::int64_t> cost;
  if (placing.candidates.empty()) {
    cost = DerivedCost(placing, problem.memories[memory]);
  }
  for (const Candidate& candidate : placing.candidates) {
    if (candidate.memory != memory) continue;
    if (candidate.offset && candidate.offset != offset) continue;
    if (!cost || candidate.cost < *cost) cost = candidate.cost;
  }
  if (!cost || !placing.previous) return cost;
  const Previous& previous = *placing.previous;
  const bool stays = previous.memory == memory && offset == previous.offset;
  return stays ? *cost : *cost + previous.move_cost;
}

Result<Model> Compile(const MemoryProblem& problem) {
  BERTH_TRY(CheckParts(problem));
  Model model;
  for (std::size_t m = 0; m < problem.memories.size(); ++m) {
    model.tables.push_back(BERTH_TRY(TableOf(problem, m)));
  }
  const std::vector<Member>& places = model.tables.front().places;
  for (std::size_t b = 0; b < places.size(); ++b) {
    const std::size_t u = places[b].buffer;
    if (u >= model.units.size()) model.units.resize(u + 1);
    Unit& unit = model.units[u];
    unit.buffers.push_back(b);
    const Placing& placing = PlacingOf(problem, b);
    if (placing.cost_left_out) {
      unit.cost_left_out += *placing.cost_left_out;
    } else {
      unit.must = true;
    }
  }
  const ModeMaker maker(problem, model.tables, model.units.size());
  for (std::size_t u = 0; u < model.units.size(); ++u) {
    Unit& unit = model.units[u];
    maker.Make(u, unit);
  }
  return model;
}

PlanCost CostOf(const MemoryProblem& problem, const MemoryPlan& plan) {
  PlanCost cost;
  std::vector<bool> placed(problem.table.buffers.size());
  for (const Residency& residency : plan.residencies) {
    const std::size_t b = residency.tensor;
    placed[b] = true;
    const auto memory = static_cast<std::size_t>(residency.memory);
    cost.cost += CostIn(problem, b, memory, residency.offset).value_or(0);
    const std::optional<Previous>& previous = PlacingOf(problem, b).previous;
    if (previous && (previous->memory != memory || previous->offset != residency.offset)) {
      cost.moved += problem.table.buffers[b].size;
    }
  }
  for (std::size_t b = 0; b < placed.size(); ++b) {
    if (placed[b]) continue;
    const std::optional<std::int64_t>& left_out = PlacingOf(problem, b).cost_left_out;
    cost.cost += left_out.value_or(0);
    cost.unplaced += left_out ? 0 : 1;
  }
  return cost;
}

void Complete(const MemoryProblem& problem, MemoryPlan& plan) {
  plan.cost = CostOf(problem, plan);
  plan.memories.assign(problem.memories.size(), {});
  std::vector<int> memory_of(problem.table.buffers.size(), -1);
  for (const Residency& residency : plan.residencies) {
    memory_of[residency.tensor] = residency.memory;
    MemoryUse& use = plan.memories[static_cast<std::size_t>(residency.memory)];
    use.height =
        std::max(use.height, residency.offset + problem.table.buffers[residency.tensor].size);
  }
  // A group counts once.
  const Result<Colocated> joint = Colocate(problem.table, problem.together);
  BERTH_CHECK(joint.has_value());
  std::vector<int> memory_of_unit(joint->problem.buffers.size(), -1);
  for (std::size_t b = 0; b < memory_of.size(); ++b) {
    memory_of_unit[joint->places[b].buffer] = memory_of[b];
  }
  for (std::size_t m = 0; m < plan.memories.size(); ++m) {
    Problem table;
    for (std::size_t u = 0; u < memory_of_unit.size(); ++u) {
      if (memory_of_unit[u] == static_cast<int>(m)) {
        table.buffers.push_back(joint->problem.buffers[u]);
      }
    }
    plan.memories[m].peak = MaxLiveLoad(table).load;
  }
}

}  // namespace berth::internal::memories
