// Sets of units that may move are tried in order of their bytes: if one is not enough, units that keep
// their places are in the way, and one of these is in every larger set that is (implicit hitting sets).
#include "memories/fewest_moves.h"

#include <algorithm>
#include <limits>
#include <set>

namespace berth::internal::memories {
namespace {

// Questions for the proof that no fewer bytes can move, and their nodes.
constexpr int kQuestions = 40;
constexpr std::int64_t kNodes = 500;

}  // namespace

// If everything is to have its least cost, wherever a new unit lies, the bytes there have to move.
void FewestMoves::BoundBySums() {
  bound_ = 0;
  std::vector<double> weight(layout_.units());
  for (std::size_t v = 0; v < weight.size(); ++v) {
    // What may as well be left out need not move.
    const bool stays = layout_.LeastScore(v) < layout_.ScoreOut(v);
    weight[v] =
        stays ? static_cast<double>(layout_.BytesBefore(v) - layout_.MovedAt(v, layout_.At(v))) : 0;
  }
  std::vector<Candidacy> places;
  for (std::size_t u = 0; u < layout_.units(); ++u) {
    if (!layout_.IsOut(u) || layout_.LeastScore(u) >= layout_.ScoreOut(u)) continue;
    if (layout_.BytesBefore(u) > 0) continue;
    if (!goes_on_()) return;
    double least = std::numeric_limits<double>::infinity();
    for (const Layout::Way& way : layout_.ways(u)) {
      if (Wide(way.least) > layout_.LeastScore(u)) break;
      layout_.FindPlaces(u, way, layout_.LeastScore(u), weight, 1, places);
      if (!places.empty()) least = std::min(least, places.front().weight);
    }
    // Larger sums are not whole as real numbers.
    if (least < 9e15) bound_ = std::max(bound_, static_cast<Bytes>(least));
  }
}

// Whether `free` can be placed in their memory while `pinned` keep their previous places.
Fit FewestMoves::Ask(const std::vector<Spot>& kept, int memory,
                     const std::vector<std::size_t>& free, const std::vector<std::size_t>& pinned,
                     std::vector<Bytes>* offsets) {
  const auto m = static_cast<std::size_t>(memory);
  const std::vector<Buffer>& all = model_.tables[m].problem.buffers;
  Problem table;
  table.capacity = problem_.memories[m].capacity;
  for (const std::size_t u : free) table.buffers.push_back(all[u]);
  for (const std::size_t u : pinned) {
    table.buffers.push_back(all[u]);
    table.buffers.back().offset = kept[u].offset;
  }
  table.buffers.insert(table.buffers.end(),
                       all.begin() + static_cast<std::ptrdiff_t>(layout_.units()), all.end());
  return asker_.Ask(table, {Algorithm::kAuto, kNodes}, offsets).fit;
}

// The pinned units that are enough to leave no place for those that are free: runs of halving length
// are left out as long as that is proved.
std::vector<std::size_t> FewestMoves::Reduce(const std::vector<Spot>& kept, int memory,
                                             const std::vector<std::size_t>& free,
                                             std::vector<std::size_t> pinned, int& questions) {
  for (std::size_t run = std::max<std::size_t>(pinned.size() / 2, 1);; run /= 2) {
    for (std::size_t at = 0; at < pinned.size();) {
      const std::size_t end = std::min(at + run, pinned.size());
      std::vector<std::size_t> rest(pinned.begin(),
                                    pinned.begin() + static_cast<std::ptrdiff_t>(at));
      rest.insert(rest.end(), pinned.begin() + static_cast<std::ptrdiff_t>(end), pinned.end());
      if (--questions < 0) return pinned;
      if (Ask(kept, memory, free, rest, nullptr) == Fit::kNo) {
        pinned = std::move(rest);
      } else {
        at = end;
      }
    }
    if (run == 1) return pinned;
  }
}

// The units that had no place and now have one, and the memory that they are all in. False if there
// are none, or if bytes are not all that counts: some unit could be in several memories at its least
// cost, or not anywhere in its memory.
bool FewestMoves::FindFresh(const std::vector<Spot>& kept, std::vector<std::size_t>& fresh,
                            int& memory) const {
  const bool banks = std::any_of(problem_.apart.begin(), problem_.apart.end(),
                                 [](const Apart& apart) { return apart.different_memories; });
  if (banks) return false;
  for (std::size_t u = 0; u < layout_.units(); ++u) {
    // In one memory each, and anywhere there.
    const std::vector<Layout::Way>& ways = layout_.ways(u);
    if (kept[u].memory != kOut && layout_.ScoreAt(u, kept[u]) != layout_.LeastScore(u))
      return false;
    if (kept[u].memory == kOut) {
      if (layout_.IsOut(u)) continue;
      if (layout_.LeastScore(u) == layout_.ScoreOut(u)) return false;
      if (!ways.front().free || *ways.front().free != ways.front().least) return false;
      if (memory != kOut && memory != ways.front().memory) return false;
      memory = ways.front().memory;
      fresh.push_back(u);
    }
    if (ways.size() > 1 && ways[1].least == ways[0].least) return false;
    if (layout_.LeastScore(u) >= layout_.ScoreOut(u) && kept[u].memory != kOut) return false;
  }
  return !fresh.empty();
}

// The previous plan, `spots`, with only `free` at `offsets`: no plan moves fewer bytes. Not if it costs
// more.
void FewestMoves::MoveOnly(std::vector<Spot> spots, int memory,
                           const std::vector<std::size_t>& free,
                           const std::vector<Bytes>& offsets) {
  for (std::size_t k = 0; k < free.size(); ++k) spots[free[k]] = {memory, offsets[k]};
  const std::vector<Spot> present = layout_.spots();
  const Wide before = layout_.score();
  layout_.Restore(spots);
  layout_.MoveBack(goes_on_);
  if (layout_.score() > before) {
    layout_.Restore(present);
    return;
  }
  layout_.Commit();
  bound_ = layout_.moved();
}

// Everything has its least cost; do fewer bytes have to move? Sets of units that may move are tried in
// order of their bytes. If one is not enough, then units that keep their places are in the way, and
// one of these is in every larger set that is (implicit hitting sets: Moreno-Centeno and Karp,
// Operations Research 61, 2013). So the first set that is enough has the fewest bytes.
void FewestMoves::Search(const std::vector<Spot>& kept) {
  if (layout_.moved() <= bound_) return;
  std::vector<std::size_t> fresh;
  int memory = kOut;
  if (!FindFresh(kept, fresh, memory)) return;
  using Set = std::pair<Bytes, std::vector<std::size_t>>;
  std::set<Set> open = {{0, {}}};
  std::set<std::vector<std::size_t>> known;
  for (int questions = kQuestions; !open.empty();) {
    const Set set = *open.begin();
    bound_ = std::max(bound_, std::min(set.first, layout_.moved()));
    if (set.first >= layout_.moved() || --questions < 0 || !goes_on_() || budget_.Exhausted()) {
      return;
    }
    open.erase(open.begin());
    std::vector<std::size_t> free = fresh;
    free.insert(free.end(), set.second.begin(), set.second.end());
    std::vector<std::size_t> pinned;
    for (std::size_t v = 0; v < layout_.units(); ++v) {
      if (kept[v].memory != memory || std::binary_search(set.second.begin(), set.second.end(), v)) {
        continue;
      }
      const bool meets = std::any_of(free.begin(), free.end(),
                                     [&](std::size_t u) { return layout_.MayMeet(u, v); });
      if (meets) pinned.push_back(v);
    }
    std::vector<Bytes> offsets;
    const Fit fit = Ask(kept, memory, free, pinned, &offsets);
    if (fit == Fit::kYes) MoveOnly(kept, memory, free, offsets);
    if (fit != Fit::kNo) return;
    for (const std::size_t v : Reduce(kept, memory, free, std::move(pinned), questions)) {
      const Layout::Way& way = layout_.ways(v).front();
      if (!way.free || *way.free != way.least) {
        const bool elsewhere = std::any_of(way.pins.begin(), way.pins.end(), [&](const auto& pin) {
          return pin.first != kept[v].offset && pin.second == way.least;
        });
        if (elsewhere) return;
        continue;  // A move would cost something.
      }
      Set larger = set;
      larger.first += layout_.BytesBefore(v);
      larger.second.insert(std::lower_bound(larger.second.begin(), larger.second.end(), v), v);
      if (known.insert(larger.second).second) open.insert(std::move(larger));
    }
  }
}

}  // namespace berth::internal::memories
