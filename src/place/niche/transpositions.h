// place/niche/transpositions.h -- states that are known to fail, and why.
//
// What is left to do in a part of the problem depends on the floors there and on which lanes are
// placed, not on how they came to be so: the lowest of an unplaced lane follows from the floors it
// spans as it does from the ground. The table keeps the last failed state of each hash value,
// whole: a state counts as known only if all of it is equal, so that no proof rests on a hash. It
// starts small, for the many problems that are solved at once, and grows with what is stored.
#ifndef BERTH_PLACE_NICHE_TRANSPOSITIONS_H_
#define BERTH_PLACE_NICHE_TRANSPOSITIONS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/bits.h"
#include "base/numbers.h"
#include "place/niche/partial_plan.h"
#include "place/niche/proof_log.h"

namespace berth::internal::niche {

template <typename Level>
class Transpositions {
 public:
  // The state of sections [first, last), in which lanes [lane_first, lane_last) start.
  struct State {
    SectionIndex first;
    SectionIndex last;
    LaneIndex lane_first;
    LaneIndex lane_last;
    std::span<const Level> floors;  // Of all sections.
    std::span<const Word> placed;   // Bits of all lanes.
  };

  // Never more than `most_entries`, at least 1.
  explicit Transpositions(std::size_t most_entries)
      : most_entries_(most_entries),
        hashes_(std::min(most_entries, kFirstEntries)),
        entries_(hashes_.size()) {}

  void Clear() {
    std::fill(hashes_.begin(), hashes_.end(), 0);
    for (Entry& entry : entries_) {
      entry.first = kUnused;
      entry.known.lemma.reset();
    }
  }

  // Must be asked before the state changes, and given to Store() after it is restored. `floors`: a hash
  // of those of the state.
  [[nodiscard]] static std::uint64_t Hash(const State& state, std::uint64_t floors) {
    std::uint64_t hash = Mixed(floors, state.first.position());
    hash = Mixed(hash, state.last.position());
    ForWords(state, [&](Word word) { hash = Mixed(hash, word); });
    return hash;
  }

  struct Known {
    SectionSet conflict;
    LemmaPointer lemma;  // Null where nothing is logged.
  };

  // What is known of an equal state, or nullptr.
  [[nodiscard]] const Known* Find(const State& state, std::uint64_t hash) const {
    const std::size_t slot = hash % hashes_.size();
    if (hashes_[slot] != hash) return nullptr;
    const Entry& entry = entries_[slot];
    if (entry.first != state.first || entry.last != state.last) return nullptr;
    const auto floors = FloorsOf(state);
    if (!std::equal(entry.floors.begin(), entry.floors.end(), floors.begin(), floors.end())) {
      return nullptr;
    }
    bool equal = true;
    std::size_t k = 0;
    ForWords(state, [&](Word word) { equal &= entry.placed[k++] == word; });
    return equal ? &entry.known : nullptr;
  }

  void Store(const State& state, std::uint64_t hash, const SectionSet& conflict,
             LemmaPointer lemma) {
    if (++stored_ > entries_.size() && entries_.size() < most_entries_) Grow();
    const std::size_t slot = hash % hashes_.size();
    hashes_[slot] = hash;
    Entry& entry = entries_[slot];
    entry.first = state.first;
    entry.last = state.last;
    const auto floors = FloorsOf(state);
    entry.floors.assign(floors.begin(), floors.end());
    entry.placed.clear();
    ForWords(state, [&](Word word) { entry.placed.push_back(word); });
    entry.known.conflict = conflict;
    entry.known.lemma = std::move(lemma);
  }

 private:
  static constexpr SectionIndex kUnused{-1};
  struct Entry {
    SectionIndex first = kUnused;
    SectionIndex last;
    std::vector<Level> floors;
    std::vector<Word> placed;
    Known known;
  };

  static constexpr std::size_t kFirstEntries = 256;

  void Grow() {
    const std::vector<std::uint64_t> old_hashes = std::move(hashes_);
    std::vector<Entry> old = std::move(entries_);
    hashes_ = std::vector<std::uint64_t>(std::min(4 * old.size(), most_entries_));
    entries_ = std::vector<Entry>(hashes_.size());
    for (std::size_t k = 0; k < old.size(); ++k) {
      if (old[k].first == kUnused) continue;
      const std::size_t slot = old_hashes[k] % hashes_.size();
      hashes_[slot] = old_hashes[k];
      entries_[slot] = std::move(old[k]);
    }
  }

  static std::span<const Level> FloorsOf(const State& state) {
    return state.floors.subspan(state.first.position(),
                                state.last.position() - state.first.position());
  }
  template <typename Visit>
  static void ForWords(const State& state, Visit visit) {
    const std::size_t first = state.lane_first.position();
    const std::size_t last = state.lane_last.position();
    for (std::size_t w = first / kWordBits; w < WordsFor(last); ++w) {
      visit(state.placed[w] & BitsWithin(w, first, last));
    }
  }

  std::size_t most_entries_;
  std::size_t stored_ = 0;
  std::vector<std::uint64_t> hashes_;  // By themselves: most lookups need nothing else.
  std::vector<Entry> entries_;
};

}  // namespace berth::internal::niche

#endif  // BERTH_PLACE_NICHE_TRANSPOSITIONS_H_
