#include "memories/timeline.h"

#include "model/instance.h"

namespace berth::internal::memories {

Timeline TimelineOf(const MemoryProblem& problem, const Model& model, Bytes unlimited) {
  Problem all;  // The units, then all reserved ranges.
  const std::size_t units = model.units.size();
  const std::vector<Buffer>& buffers = model.tables.front().problem.buffers;
  all.buffers.assign(buffers.begin(), buffers.begin() + static_cast<std::ptrdiff_t>(units));
  std::vector<std::size_t> memory_of;  // Of each reserved range.
  for (std::size_t m = 0; m < model.tables.size(); ++m) {
    const std::vector<Buffer>& table = model.tables[m].problem.buffers;
    for (std::size_t r = units; r < table.size(); ++r) {
      all.buffers.push_back(table[r]);
      memory_of.push_back(m);
    }
  }
  const Instance instance = internal::Compile(all);
  Timeline timeline;
  timeline.sections = instance.num_sections();
  for (const Memory& memory : problem.memories) {
    timeline.room.emplace_back(timeline.sections, memory.capacity.value_or(unlimited));
  }
  timeline.stays.resize(units);
  for (const BufferIndex b : instance.buffers()) {
    for (const Piece& piece : instance.pieces_of(b)) {
      const Stay stay{piece.first.position(), piece.last.position(), piece.upper - piece.lower};
      if (b.position() < units) {
        std::vector<Stay>& stays = timeline.stays[b.position()];
        if (!stays.empty() && stays.back().last == stay.first && stays.back().bytes == stay.bytes) {
          stays.back().last = stay.last;
        } else {
          stays.push_back(stay);
        }
        continue;
      }
      std::vector<Bytes>& room = timeline.room[memory_of[b.position() - units]];
      for (std::size_t s = stay.first; s < stay.last; ++s) room[s] -= stay.bytes;
    }
  }
  return timeline;
}

}  // namespace berth::internal::memories
