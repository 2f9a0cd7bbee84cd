#include "testing/memories_oracle.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "testing/live.h"
#include "testing/random_problem.h"

namespace berth::internal {
namespace {

struct Place {
  std::size_t memory;
  Bytes offset;
};

class Search {
 public:
  // Without `moves`, moves do not count.
  Search(const MemoryProblem& problem, Bytes highest, bool moves, std::optional<Bytes> most_moved)
      : problem_(problem),
        highest_(highest),
        moves_(moves),
        most_moved_(most_moved),
        steps_(Breakpoints(problem.table)),
        places_(problem.table.buffers.size()),
        group_(problem.table.buffers.size(), -1) {
    for (std::size_t g = 0; g < problem.together.size(); ++g) {
      for (const Member& member : problem.together[g]) {
        group_[member.buffer] = static_cast<int>(g);
      }
    }
    for (const Memory& memory : problem.memories) {
      for (const Reserved& reserved : memory.reserved) {
        steps_.push_back(reserved.start);
        steps_.push_back(reserved.end);
      }
    }
    std::sort(steps_.begin(), steps_.end());
    steps_.erase(std::unique(steps_.begin(), steps_.end()), steps_.end());
  }

  PlanCost Run() {
    Go(0, {});
    return best_;
  }

 private:
  [[nodiscard]] Placing PlacingOf(std::size_t b) const {
    return problem_.placing.empty() ? Placing{} : problem_.placing[b];
  }

  void Go(std::size_t b, PlanCost cost) {
    if (!(cost < best_)) return;
    if (b == places_.size()) {
      best_ = cost;
      return;
    }
    const Placing placing = PlacingOf(b);
    const Buffer& buffer = problem_.table.buffers[b];
    for (std::size_t m = 0; m < problem_.memories.size(); ++m) {
      const Memory& memory = problem_.memories[m];
      const Bytes top = memory.capacity.value_or(highest_);
      for (Bytes offset = 0; offset + buffer.size <= top; ++offset) {
        if (offset % buffer.alignment != 0 || offset % memory.alignment != 0) continue;
        if (buffer.offset && *buffer.offset != offset) continue;
        const std::optional<std::int64_t> price = Price(placing, m, offset);
        if (!price) continue;
        places_[b] = Place{m, offset};
        const bool stays = !moves_ || !placing.previous ||
                           (placing.previous->memory == m && placing.previous->offset == offset);
        const Bytes moved = cost.moved + (stays ? 0 : buffer.size);
        if (most_moved_ && moved > *most_moved_) continue;
        if (Allowed(b)) Go(b + 1, {cost.unplaced, cost.cost + *price, moved});
      }
    }
    places_[b].reset();
    if (!Allowed(b)) return;
    if (placing.cost_left_out) {
      Go(b + 1, {cost.unplaced, cost.cost + *placing.cost_left_out, cost.moved});
    } else {
      Go(b + 1, {cost.unplaced + 1, cost.cost, cost.moved});
    }
  }

  [[nodiscard]] std::optional<std::int64_t> Price(const Placing& placing, std::size_t m,
                                                  Bytes offset) const {
    std::optional<std::int64_t> price;
    for (const Candidate& candidate : placing.candidates) {
      if (candidate.memory != m || (candidate.offset && *candidate.offset != offset)) continue;
      price = std::min(price.value_or(candidate.cost), candidate.cost);
    }
    if (placing.candidates.empty()) {
      const Memory& memory = problem_.memories[m];
      const auto up = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
      price = up(placing.bytes_read * memory.read.cost, memory.read.bytes) +
              up(placing.bytes_written * memory.write.cost, memory.write.bytes) +
              placing.accesses * memory.access;
    }
    if (!price) return price;
    if (placing.previous && (placing.previous->memory != m || placing.previous->offset != offset)) {
      *price += placing.previous->move_cost;
    }
    return price;
  }

  // The bytes that buffer b keeps live at a step.
  [[nodiscard]] std::optional<std::pair<Bytes, Bytes>> LiveBytes(std::size_t b, Step step) const {
    const Buffer& buffer = problem_.table.buffers[b];
    if (step < buffer.start || step >= buffer.end) return std::nullopt;
    std::pair<Bytes, Bytes> bytes{0, buffer.size};
    for (const Gap& gap : buffer.gaps) {
      if (step < gap.start || step >= gap.end) continue;
      if (!gap.window) return std::nullopt;
      bytes = {gap.window->lower, gap.window->upper};
    }
    const Bytes offset = places_[b]->offset;
    return std::pair{bytes.first + offset, bytes.second + offset};
  }

  // The same of the whole group of b, as far as it is placed: up to `last`.
  [[nodiscard]] std::optional<std::pair<Bytes, Bytes>> HullOf(std::size_t b, Step step,
                                                              std::size_t last) const {
    auto hull = LiveBytes(b, step);
    for (std::size_t other = 0; other <= last && group_[b] >= 0; ++other) {
      if (other == b || group_[other] != group_[b] || !places_[other]) continue;
      const auto bytes = LiveBytes(other, step);
      if (!bytes) continue;
      hull = hull ? std::pair{std::min(hull->first, bytes->first),
                              std::max(hull->second, bytes->second)}
                  : *bytes;
    }
    return hull;
  }

  // Whether buffer b may be as it is, beside those before it.
  [[nodiscard]] bool Allowed(std::size_t b) const {
    if (!KeepsGroup(b)) return false;
    if (!places_[b]) return true;
    const std::size_t m = places_[b]->memory;
    for (const Apart& apart : problem_.apart) {
      if (std::max(apart.first, apart.second) != b) continue;
      const auto& other = places_[std::min(apart.first, apart.second)];
      if (!other || other->memory != m) continue;
      const Buffer& theirs = problem_.table.buffers[std::min(apart.first, apart.second)];
      const Buffer& own = problem_.table.buffers[b];
      if (apart.different_memories || (places_[b]->offset < other->offset + theirs.size &&
                                       other->offset < places_[b]->offset + own.size)) {
        return false;
      }
    }
    for (const Step step : steps_) {
      const auto own = HullOf(b, step, b);
      if (!own) continue;
      const auto meets = [&](const std::pair<Bytes, Bytes>& other) {
        return own->first < other.second && other.first < own->second;
      };
      for (const Reserved& reserved : problem_.memories[m].reserved) {
        if (step >= reserved.start && step < reserved.end &&
            meets({reserved.lower, reserved.upper})) {
          return false;
        }
      }
      for (std::size_t other = 0; other < b; ++other) {
        if (!places_[other] || places_[other]->memory != m) continue;
        if (group_[b] >= 0 && group_[b] == group_[other]) continue;
        const auto bytes = HullOf(other, step, b);
        if (bytes && meets(*bytes)) return false;
      }
    }
    return true;
  }

  [[nodiscard]] bool KeepsGroup(std::size_t b) const {
    if (group_[b] < 0) return true;
    const std::vector<Member>& group = problem_.together[static_cast<std::size_t>(group_[b])];
    const auto own = std::find_if(group.begin(), group.end(),
                                  [b](const Member& member) { return member.buffer == b; });
    return std::all_of(group.begin(), group.end(), [&](const Member& member) {
      if (member.buffer >= b) return true;
      const auto& place = places_[member.buffer];
      if (place.has_value() != places_[b].has_value()) return false;
      return !place || (place->memory == places_[b]->memory &&
                        place->offset - member.distance == places_[b]->offset - own->distance);
    });
  }

  const MemoryProblem& problem_;
  const Bytes highest_;
  const bool moves_;
  const std::optional<Bytes> most_moved_;
  std::vector<Step> steps_;
  std::vector<std::optional<Place>> places_;
  std::vector<int> group_;
  PlanCost best_{std::numeric_limits<std::size_t>::max(), 0, 0};
};

void AddCandidates(const MemoryProblem& problem, std::size_t b, Random& random, Placing& placing) {
  const Buffer& buffer = problem.table.buffers[b];
  for (std::size_t m = 0; m < problem.memories.size(); ++m) {
    if (random.Chance(0.7)) placing.candidates.push_back({m, random.Uniform(0, 9), {}});
    const Bytes capacity = problem.memories[m].capacity.value_or(12);
    if (random.Chance(0.2) && capacity >= buffer.size && !buffer.offset) {
      const Bytes step = buffer.alignment * problem.memories[m].alignment;
      const Bytes offset = random.Uniform(0, (capacity - buffer.size) / step) * step;
      placing.candidates.push_back({m, random.Uniform(0, 9), offset});
    }
  }
}

}  // namespace

PlanCost OracleMemories(const MemoryProblem& problem, Bytes highest) {
  return Search(problem, highest, false, std::nullopt).Run();
}

PlanCost OracleRepack(const MemoryProblem& problem, Bytes highest,
                      std::optional<Bytes> most_moved) {
  return Search(problem, highest, true, most_moved).Run();
}

MemoryProblem RandomMemoryProblem(std::uint64_t seed) {
  Random random(seed);
  MemoryProblem problem;
  ProblemKnobs knobs;
  knobs.min_buffers = 1;
  knobs.max_buffers = 5;
  knobs.horizon = 6;
  knobs.max_size = 5;
  knobs.alignment_chance = 0.2;
  knobs.max_alignment = 3;
  knobs.gap_chance = 0.3;
  knobs.max_gaps = 1;
  knobs.pin_chance = 0.1;
  problem.table = RandomProblem(seed, knobs);
  std::vector<Buffer>& buffers = problem.table.buffers;
  const std::int64_t count = random.Uniform(1, 3);
  for (std::int64_t m = 0; m < count; ++m) {
    Memory memory;
    memory.name = "m" + std::to_string(m);
    if (random.Chance(m == 0 ? 0.95 : 0.7)) memory.capacity = random.Uniform(2, 10);
    if (random.Chance(0.15)) memory.alignment = 2;
    memory.read = {random.Uniform(0, 3), random.Uniform(1, 3)};
    memory.write = {random.Uniform(0, 3), random.Uniform(1, 3)};
    memory.access = random.Uniform(0, 2);
    if (random.Chance(0.2) && memory.capacity.value_or(8) > 2) {
      const Bytes lower = random.Uniform(0, memory.capacity.value_or(8) - 1);
      Reserved reserved{lower, lower + 1};
      if (random.Chance(0.5)) {
        reserved.start = random.Uniform(0, 3);
        reserved.end = reserved.start + random.Uniform(1, 3);
      }
      memory.reserved.push_back(reserved);
    }
    problem.memories.push_back(std::move(memory));
  }
  if (random.Chance(0.95)) {
    for (std::size_t b = 0; b < buffers.size(); ++b) {
      Placing& placing = problem.placing.emplace_back();
      placing.bytes_read = random.Uniform(0, 9);
      placing.bytes_written = random.Uniform(0, 9);
      placing.accesses = random.Uniform(0, 3);
      if (random.Chance(0.6)) AddCandidates(problem, b, random, placing);
      if (random.Chance(0.6)) placing.cost_left_out = random.Uniform(0, 20);
      if (random.Chance(0.3)) {
        placing.previous = Previous{static_cast<std::size_t>(random.Uniform(0, count - 1)),
                                    random.Uniform(0, 5), random.Uniform(0, 6)};
      }
    }
  }
  if (buffers.size() >= 2 && random.Chance(0.25)) {
    problem.together.push_back({{0, 0}, {1, random.Chance(0.5) ? 0 : random.Uniform(-3, 3)}});
  }
  if (buffers.size() >= 3 && random.Chance(0.3)) {
    problem.apart.push_back({1, 2, random.Chance(0.4)});
    if (random.Chance(0.3)) problem.apart.push_back({0, 2, random.Chance(0.4)});
  }
  if (!Validate(problem)) {
    // Features drawn apart can contradict each other.
    problem.together.clear();
    for (Memory& memory : problem.memories) memory.alignment = 1;
    for (Buffer& buffer : buffers) buffer.offset.reset();
    for (Placing& placing : problem.placing) {
      for (Candidate& candidate : placing.candidates) {
        if (candidate.offset) candidate.offset = std::nullopt;
      }
      std::stable_sort(placing.candidates.begin(), placing.candidates.end(),
                       [](const Candidate& a, const Candidate& b) { return a.memory < b.memory; });
      placing.candidates.erase(
          std::unique(placing.candidates.begin(), placing.candidates.end(),
                      [](const Candidate& a, const Candidate& b) { return a.memory == b.memory; }),
          placing.candidates.end());
    }
  }
  return problem;
}

std::string ToCpp(const MemoryProblem& problem) {
  const auto optional = [](const std::optional<std::int64_t>& value) {
    return value ? std::to_string(*value) : std::string("std::nullopt");
  };
  std::string text = "MemoryProblem problem;\n// table:\n";
  for (const Buffer& b : problem.table.buffers) {
    text += "//   " + b.id + " [" + std::to_string(b.start) + ", " + std::to_string(b.end) + ") " +
            std::to_string(b.size) + " alignment " + std::to_string(b.alignment) + " offset " +
            optional(b.offset);
    for (const Gap& gap : b.gaps) {
      text += " gap [" + std::to_string(gap.start) + ", " + std::to_string(gap.end) + ")";
      if (gap.window) {
        text += " window [" + std::to_string(gap.window->lower) + ", " +
                std::to_string(gap.window->upper) + ")";
      }
    }
    text += "\n";
  }
  for (const Memory& m : problem.memories) {
    text += "// memory " + m.name + " capacity " + optional(m.capacity) + " alignment " +
            std::to_string(m.alignment) + " read " + std::to_string(m.read.cost) + "/" +
            std::to_string(m.read.bytes) + " write " + std::to_string(m.write.cost) + "/" +
            std::to_string(m.write.bytes) + " access " + std::to_string(m.access);
    for (const Reserved& r : m.reserved) {
      text += " reserved [" + std::to_string(r.lower) + ", " + std::to_string(r.upper) + ") at [" +
              std::to_string(r.start) + ", " + std::to_string(r.end) + ")";
    }
    text += "\n";
  }
  for (const Placing& p : problem.placing) {
    text += "// placing r" + std::to_string(p.bytes_read) + " w" + std::to_string(p.bytes_written) +
            " a" + std::to_string(p.accesses) + " out " + optional(p.cost_left_out);
    for (const Candidate& c : p.candidates) {
      text += " {m" + std::to_string(c.memory) + " cost " + std::to_string(c.cost) + " at " +
              optional(c.offset) + "}";
    }
    if (p.previous) {
      text += " previous m" + std::to_string(p.previous->memory) + " at " +
              std::to_string(p.previous->offset) + " cost " + std::to_string(p.previous->move_cost);
    }
    text += "\n";
  }
  for (const auto& group : problem.together) {
    text += "// together";
    for (const Member& member : group) {
      text += " " + std::to_string(member.buffer) + "@" + std::to_string(member.distance);
    }
    text += "\n";
  }
  for (const Apart& a : problem.apart) {
    text += "// apart " + std::to_string(a.first) + " " + std::to_string(a.second) +
            (a.different_memories ? " memories\n" : "\n");
  }
  return text;
}

}  // namespace berth::internal
