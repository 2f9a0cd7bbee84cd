#include "memories/fit.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/arithmetic.h"
#include "model/instance.h"

namespace berth::internal::memories {
namespace {

struct Rect {
  LivePiece piece;  // Bytes from the start of the memory.
};

class Fitter {
 public:
  Fitter(const MemoryProblem& problem, const Model& model)
      : problem_(problem), model_(model), placed_(model.tables.size()), banks_(model.units.size()) {
    for (std::size_t m = 0; m < model.tables.size(); ++m) {
      const std::vector<Buffer>& table = model.tables[m].problem.buffers;
      for (std::size_t r = model.units.size(); r < table.size(); ++r) {
        Put(m, table[r], *table[r].offset);
      }
    }
    for (const Apart& apart : problem.apart) {
      if (!apart.different_memories) continue;
      const std::size_t a = model.tables.front().places[apart.first].buffer;
      const std::size_t b = model.tables.front().places[apart.second].buffer;
      banks_[a].push_back(b);
      banks_[b].push_back(a);
    }
  }

  // Whether the unit can be placed in this mode, and where.
  [[nodiscard]] std::optional<Bytes> Find(std::size_t u, const Mode& mode,
                                          const Placed& plan) const {
    for (const std::size_t other : banks_[u]) {
      if (plan.assignment[other] == kOut) continue;
      const auto k = static_cast<std::size_t>(plan.assignment[other]);
      if (model_.units[other].modes[k].memory == mode.memory) return std::nullopt;
    }
    const Buffer& buffer = model_.tables[mode.memory].problem.buffers[u];
    const Bytes capacity = problem_.memories[mode.memory].capacity.value_or(2 * kMaxBytes);
    // Offsets that some other buffer excludes: strictly between these two.
    std::vector<std::pair<Bytes, Bytes>> taken;
    ForEachLivePiece(buffer, [&](const LivePiece& piece) {
      for (const LivePiece& other : placed_[mode.memory]) {
        if (piece.end <= other.start || other.end <= piece.start) continue;
        taken.emplace_back(other.lower - piece.upper, other.upper - piece.lower);
      }
    });
    if (mode.pin) {
      const bool clear = std::none_of(taken.begin(), taken.end(), [&](const auto& each) {
        return each.first < *mode.pin && *mode.pin < each.second;
      });
      return clear ? mode.pin : std::nullopt;
    }
    std::sort(taken.begin(), taken.end());
    std::optional<Bytes> best;
    Bytes least = std::numeric_limits<Bytes>::max();
    Bytes from = 0;
    const auto offer = [&](Bytes until) {  // Offsets [from, until] are free.
      const Bytes offset = RoundUp(from, buffer.alignment);
      if (offset > until || until - from >= least) return;
      least = until - from;
      best = offset;
    };
    for (const auto& [lower, upper] : taken) {
      offer(std::min(lower, capacity - buffer.size));
      from = std::max(from, upper);
    }
    offer(capacity - buffer.size);
    return best;
  }

  void Put(std::size_t m, const Buffer& buffer, Bytes offset) {
    ForEachLivePiece(buffer, [&](LivePiece piece) {
      piece.lower += offset;
      piece.upper += offset;
      placed_[m].push_back(piece);
    });
  }

  // Of looking for a place in so many modes.
  [[nodiscard]] std::int64_t Work(std::size_t modes) const {
    std::size_t most = 1;
    for (const std::vector<LivePiece>& placed : placed_) most = std::max(most, placed.size());
    return static_cast<std::int64_t>(most * std::max<std::size_t>(modes, 1));
  }

 private:
  const MemoryProblem& problem_;
  const Model& model_;
  std::vector<std::vector<LivePiece>> placed_;   // By memory.
  std::vector<std::vector<std::size_t>> banks_;  // By unit: those that must be in other memories.
};

}  // namespace

Placed FitInOrder(const MemoryProblem& problem, const Model& model,
                  const std::vector<std::size_t>& order, const Assignment* only, Budget& budget) {
  Fitter fitter(problem, model);
  Placed plan{Assignment(model.units.size(), kOut), std::vector<Bytes>(model.units.size(), 0)};
  for (const std::size_t u : order) {
    const Unit& unit = model.units[u];
    std::vector<std::size_t> modes;
    for (std::size_t k = 0; k < unit.modes.size(); ++k) {
      if (only == nullptr ? unit.must || unit.modes[k].cost < unit.cost_left_out
                          : (*only)[u] == static_cast<int>(k)) {
        modes.push_back(k);
      }
    }
    std::stable_sort(modes.begin(), modes.end(), [&](std::size_t a, std::size_t b) {
      return unit.modes[a].cost < unit.modes[b].cost;
    });
    for (const std::size_t k : modes) {
      const std::optional<Bytes> offset = fitter.Find(u, unit.modes[k], plan);
      if (!offset) continue;
      const std::size_t m = unit.modes[k].memory;
      fitter.Put(m, model.tables[m].problem.buffers[u], *offset);
      plan.assignment[u] = static_cast<int>(k);
      plan.offsets[u] = *offset;
      break;
    }
    // A group of some thousand buffers is done in no time; of very many, the rest is left out.
    if (!budget.SpendWork(fitter.Work(modes.size()))) break;
  }
  return plan;
}

}  // namespace berth::internal::memories
