// Plans for several memories, judged by the definitions alone.
#include "tools/verify/memories.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <utility>

#include "tools/verify/wide.h"

namespace berth::verify {
namespace {

// Bytes of a unit (a buffer or a group) at the steps [start, end).
struct Rect {
  Step start;
  Step end;
  Wide lower;
  Wide upper;
  std::size_t owner;
};

// ceil(count * rate.cost / rate.bytes), of a valid problem, by doubling: no product is formed.
std::int64_t Product(std::int64_t count, const Rate& rate) {
  std::int64_t whole = 0;  // And a rest of `rest` / rate.bytes.
  std::int64_t rest = 0;
  for (int bit = 62; bit >= 0; --bit) {
    whole *= 2;
    rest *= 2;
    if (rest >= rate.bytes) {
      rest -= rate.bytes;
      ++whole;
    }
    if ((count >> bit & 1) == 0) continue;
    whole += rate.cost / rate.bytes;
    rest += rate.cost % rate.bytes;
    if (rest >= rate.bytes) {
      rest -= rate.bytes;
      ++whole;
    }
  }
  return whole + (rest > 0 ? 1 : 0);
}

class Verifier {
 public:
  Verifier(const MemoryProblem& problem, const MemoryPlan& plan)
      : problem_(problem), plan_(plan), place_(problem.table.buffers.size(), nullptr) {
    for (std::size_t b = 0; b < place_.size(); ++b) unit_.push_back(b);
    for (const std::vector<Member>& group : problem.together) {
      for (const Member& member : group) unit_[member.buffer] = group.front().buffer;
    }
  }

  std::vector<std::string> Run() {
    CheckPlaces();
    if (!faults_.empty()) return std::move(faults_);
    CheckGroups();
    CheckApart();
    const std::size_t count = problem_.memories.size();
    if (plan_.memories.size() != count) {
      Add("the plan states " + std::to_string(plan_.memories.size()) + " memories of " +
          std::to_string(count));
      return std::move(faults_);
    }
    for (std::size_t m = 0; m < count; ++m) CheckMemory(m);
    CheckCosts();
    return std::move(faults_);
  }

 private:
  void Add(std::string fault) { faults_.push_back(std::move(fault)); }
  [[nodiscard]] std::string Name(std::size_t b) const {
    return "\"" + problem_.table.buffers[b].id + "\"";
  }
  [[nodiscard]] Placing PlacingOf(std::size_t b) const {
    return problem_.placing.empty() ? Placing{} : problem_.placing[b];
  }

  [[nodiscard]] std::optional<std::int64_t> Cost(std::size_t b, const Residency& at) const {
    const Placing placing = PlacingOf(b);
    const auto m = static_cast<std::size_t>(at.memory);
    std::optional<std::int64_t> cost;
    for (const Candidate& candidate : placing.candidates) {
      const bool matches = candidate.memory == m &&
                           (!candidate.offset.has_value() || *candidate.offset == at.offset);
      if (matches && (!cost || candidate.cost < *cost)) cost = candidate.cost;
    }
    if (placing.candidates.empty()) {
      cost = CostOfAccesses(placing, problem_.memories[m]);
    }
    if (!cost || !placing.previous) return cost;
    const bool moved = placing.previous->memory != m || placing.previous->offset != at.offset;
    return *cost + (moved ? placing.previous->move_cost : 0);
  }

  void CheckPlaces() {
    std::size_t next = 0;
    for (const Residency& at : plan_.residencies) {
      if (at.tensor >= place_.size() || at.tensor < next) {
        return Add("residencies are not those of the buffers, in order");
      }
      next = at.tensor + 1;
      const Buffer& buffer = problem_.table.buffers[at.tensor];
      if (at.start != buffer.start || at.end != buffer.end) {
        Add(Name(at.tensor) + " does not have its lifetime");
      }
      if (at.memory < 0 || static_cast<std::size_t>(at.memory) >= problem_.memories.size()) {
        Add(Name(at.tensor) + " is in a memory that does not exist");
        continue;
      }
      const Memory& memory = problem_.memories[static_cast<std::size_t>(at.memory)];
      if (!Cost(at.tensor, at)) Add(Name(at.tensor) + " may not be where it is");
      const auto aligned = [&](Bytes to) {
        return at.offset % to == 0 && (memory.base % to + at.offset % to) % to == 0;
      };
      if (at.offset < 0 || !aligned(buffer.alignment) || !aligned(memory.alignment)) {
        Add(Name(at.tensor) + " is misaligned, or at a negative offset");
      }
      if (buffer.offset && at.offset != *buffer.offset) Add(Name(at.tensor) + " is not at its pin");
      if (memory.capacity && Wide(*memory.capacity) < Wide(at.offset) + buffer.size) {
        Add(Name(at.tensor) + " exceeds the capacity of " + memory.name);
      }
      place_[at.tensor] = &at;
    }
  }

  void CheckGroups() {
    for (const std::vector<Member>& group : problem_.together) {
      for (const Member& member : group) {
        const Residency* const first = place_[group.front().buffer];
        const Residency* const at = place_[member.buffer];
        const bool same =
            first == nullptr || at == nullptr
                ? first == at
                : first->memory == at->memory &&
                      first->offset - group.front().distance == at->offset - member.distance;
        if (!same) Add(Name(member.buffer) + " is not with its group");
      }
    }
  }

  void CheckApart() {
    for (const Apart& apart : problem_.apart) {
      const Residency* const a = place_[apart.first];
      const Residency* const b = place_[apart.second];
      if (a == nullptr || b == nullptr || a->memory != b->memory) continue;
      const bool below =
          !(Wide(b->offset) < Wide(a->offset) + problem_.table.buffers[apart.first].size);
      const bool above =
          !(Wide(a->offset) < Wide(b->offset) + problem_.table.buffers[apart.second].size);
      if (apart.different_memories || (!below && !above)) {
        Add(Name(apart.first) + " is not apart from " + Name(apart.second));
      }
    }
  }

  // The live bytes of the buffers of a memory; members of a group that are live at once, with the
  // bytes between them, are one rectangle.
  [[nodiscard]] std::vector<Rect> Rectangles(std::size_t m) const {
    std::vector<Rect> pieces;
    for (std::size_t b = 0; b < place_.size(); ++b) {
      if (place_[b] == nullptr || static_cast<std::size_t>(place_[b]->memory) != m) continue;
      const Buffer& buffer = problem_.table.buffers[b];
      const auto add = [&](Step start, Step end, Bytes lower, Bytes upper) {
        if (start >= end || lower >= upper) return;
        const Wide offset = place_[b]->offset;
        pieces.push_back({start, end, offset + lower, offset + upper, unit_[b]});
      };
      Step since = buffer.start;
      for (const Gap& gap : buffer.gaps) {
        add(since, gap.start, 0, buffer.size);
        if (gap.window) add(gap.start, gap.end, gap.window->lower, gap.window->upper);
        since = gap.end;
      }
      add(since, buffer.end, 0, buffer.size);
    }
    std::stable_sort(pieces.begin(), pieces.end(),
                     [](const Rect& a, const Rect& b) { return a.owner < b.owner; });
    std::vector<Rect> merged;
    for (std::size_t from = 0; from < pieces.size();) {
      std::size_t to = from;
      std::set<Step> steps;
      for (; to < pieces.size() && pieces[to].owner == pieces[from].owner; ++to) {
        steps.insert(pieces[to].start);
        steps.insert(pieces[to].end);
      }
      for (auto step = steps.begin(); std::next(step) != steps.end(); ++step) {
        std::optional<Rect> hull;
        for (std::size_t k = from; k < to; ++k) {
          if (pieces[k].start > *step || pieces[k].end <= *step) continue;
          if (!hull)
            hull = Rect{*step, *std::next(step), pieces[k].lower, pieces[k].upper, pieces[k].owner};
          hull->lower = std::min(hull->lower, pieces[k].lower);
          hull->upper = std::max(hull->upper, pieces[k].upper);
        }
        if (hull) merged.push_back(*hull);
      }
      from = to;
    }
    return merged;
  }

  void CheckMemory(std::size_t m) {
    const Memory& memory = problem_.memories[m];
    std::vector<Rect> pieces = Rectangles(m);
    // The peak: at each step what ends comes first. Bytes of a valid problem add up to 2^60 at most.
    std::vector<std::pair<Step, Bytes>> changes;
    for (const Rect& each : pieces) {
      const Bytes bytes = static_cast<Bytes>(each.upper) - static_cast<Bytes>(each.lower);
      changes.emplace_back(each.start, bytes);
      changes.emplace_back(each.end, -bytes);
    }
    std::sort(changes.begin(), changes.end());
    Bytes live = 0;
    Bytes peak = 0;
    for (const auto& [step, by] : changes) peak = std::max(peak, live += by);
    Bytes height = 0;
    for (const Residency& at : plan_.residencies) {
      if (static_cast<std::size_t>(at.memory) != m) continue;
      height = std::max(height, at.offset + problem_.table.buffers[at.tensor].size);
    }
    if (plan_.memories[m].peak != peak) Add("the peak of " + memory.name + " is wrong");
    if (plan_.memories[m].height != height) Add("the height of " + memory.name + " is wrong");
    for (const Reserved& reserved : memory.reserved) {
      pieces.push_back(
          {reserved.start, reserved.end, reserved.lower, reserved.upper, place_.size()});
    }
    std::stable_sort(pieces.begin(), pieces.end(),
                     [](const Rect& a, const Rect& b) { return a.start < b.start; });
    std::vector<Rect> now;
    for (const Rect& each : pieces) {
      std::erase_if(now, [&](const Rect& other) { return other.end <= each.start; });
      for (const Rect& other : now) {
        if (other.owner == each.owner || !(other.lower < each.upper && each.lower < other.upper)) {
          continue;
        }
        const std::size_t a = std::min(other.owner, each.owner);
        const std::size_t b = std::max(other.owner, each.owner);
        Add(Name(a) + " shares bytes of " + memory.name + " with " +
            (b == place_.size() ? "a reserved range" : Name(b)));
      }
      now.push_back(each);
    }
  }

  void CheckCosts() {
    PlanCost cost;
    for (std::size_t b = 0; b < place_.size(); ++b) {
      const Placing placing = PlacingOf(b);
      if (place_[b] == nullptr) {
        cost.cost += placing.cost_left_out.value_or(0);
        if (!placing.cost_left_out) ++cost.unplaced;
        continue;
      }
      cost.cost += *Cost(b, *place_[b]);
      const bool stays =
          !placing.previous || (static_cast<int>(placing.previous->memory) == place_[b]->memory &&
                                placing.previous->offset == place_[b]->offset);
      if (!stays) cost.moved += problem_.table.buffers[b].size;
    }
    if (plan_.cost.unplaced != cost.unplaced) Add("the number of unplaced buffers is wrong");
    if (plan_.cost.cost != cost.cost) {
      Add("the plan states the cost " + std::to_string(plan_.cost.cost) + " but has " +
          std::to_string(cost.cost));
    }
    if (plan_.cost.moved != cost.moved) Add("the bytes moved are wrong");
  }

  const MemoryProblem& problem_;
  const MemoryPlan& plan_;
  std::vector<const Residency*> place_;
  std::vector<std::size_t> unit_;
  std::vector<std::string> faults_;
};

}  // namespace

std::vector<std::string> VerifyMemories(const MemoryProblem& problem, const MemoryPlan& plan) {
  return Verifier(problem, plan).Run();
}

std::int64_t CostOfAccesses(const Placing& accesses, const Memory& memory) {
  return Product(accesses.bytes_read, memory.read) + Product(accesses.bytes_written, memory.write) +
         Product(accesses.accesses, {memory.access, 1});
}

}  // namespace berth::verify
