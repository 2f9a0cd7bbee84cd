// memories/assign.h -- a Model as a Selection, and back.
//
// Every unit has a base: what becomes of it if it takes no bytes of a limited memory. That is the
// cheapest memory without a capacity, or being left out. What is better than the base is an option of
// the Selection, and its profit is the difference. A unit that must be placed and has no base is
// unplaced, which costs more than all costs together.
#ifndef BERTH_MEMORIES_ASSIGN_H_
#define BERTH_MEMORIES_ASSIGN_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/wide.h"
#include "memories/model.h"
#include "memories/selection.h"
#include "model/instance.h"

namespace berth::internal::memories {

using Assignment = std::vector<int>;  // By unit: the index of its mode, or kOut.

// Units and modes that cannot all be as they are together; a mode stands for itself and for those
// of its unit that allow less.
using Conflict = std::vector<std::pair<std::size_t, std::size_t>>;

class Assigner {
 public:
  Assigner(const MemoryProblem& problem, const Model& model);

  // What an assignment costs altogether, unplaced buffers first: the less the better.
  [[nodiscard]] Wide Score(const Assignment& assignment) const;
  // What a unit's mode costs less than its base. For orders only.
  [[nodiscard]] double Gain(std::size_t unit, int mode) const;
  [[nodiscard]] PlanCost CostOfScore(Wide score) const;

  // Of two ways to leave a unit: its base.
  [[nodiscard]] int BaseOf(std::size_t unit) const { return base_[unit]; }

  // These cannot be together: conflicts that placing has found, each with the units' modes.
  void Exclude(Conflict conflict);
  // The same without a proof, of assignments that have at least `score`, until Reopen().
  void Postpone(Conflict conflict, Wide score);
  [[nodiscard]] std::optional<Wide> left() const { return left_; }
  void Reopen() {
    if (!postponed_.empty()) ++changes_;
    left_.reset();
    postponed_.clear();
  }

  // Sets units aside, those first of which it matters the least where they are, as long as it matters by
  // at most `most` where all of them are: until TakeBack() each is in Build() where it costs the least, and
  // takes no bytes there, so that bounds hold. Says how many. Not counted in changes().
  std::size_t SetAside(Wide most);
  void TakeBack();
  [[nodiscard]] Wide spread_of_aside() const { return spread_of_aside_; }
  // Each of them where the bytes are enough and it costs the least.
  [[nodiscard]] Assignment WithAside(Assignment assignment) const;

  // With all that is excluded. `percent` of each capacity count: with less than all, what is chosen
  // is easier to place, and proves nothing.
  [[nodiscard]] const Selection& Build(bool dominance, int percent = 100);
  // Counts what changes the next Build(), apart from nogoods that the latest one has got since.
  [[nodiscard]] std::int64_t changes() const { return changes_; }
  [[nodiscard]] Assignment FromChoice(const Choice& choice) const;
  // What a unit's mode is in the latest Build(), if it is open there.
  [[nodiscard]] std::optional<Literal> LiteralOf(std::size_t unit, std::size_t mode) const;
  // The profit in `selection` that is worth a score, rounded down: a choice has a better score only
  // if its profit is more.
  [[nodiscard]] std::int64_t ProfitOf(Wide score) const;
  // No assignment has a lower score if no choice has more profit.
  [[nodiscard]] Wide ScoreOfBound(std::int64_t profit) const;
  [[nodiscard]] bool exact() const { return shift_ == 0; }

 private:
  struct Use {
    std::size_t unit;
    std::vector<std::size_t> modes;  // By option.
    bool all = true;       // That are better than the base; else the unit is several items.
    bool movable = false;  // IsMovable(), once Build() has asked.
  };
  // The items of a unit, in order: from the first on, those before the second.
  [[nodiscard]] std::pair<std::size_t, std::size_t> ItemsOf(std::size_t unit) const;
  [[nodiscard]] Wide BaseScore(std::size_t unit) const;
  [[nodiscard]] Wide ScoreOf(std::size_t unit, int mode) const;
  [[nodiscard]] int CheapestOf(std::size_t unit) const;
  void FindBases();
  [[nodiscard]] bool FitsAlone(std::size_t unit, const Mode& mode) const;
  [[nodiscard]] std::vector<bool> TightSections(
      const std::vector<std::vector<std::size_t>>& better) const;
  void AddItems();
  void AddItem(std::size_t u, const std::vector<std::size_t>& better, Wide base_score,
               const std::vector<std::size_t>& rank);
  void AddOneOf(std::size_t first);
  void AddNogoods();
  void AddNogood(const Conflict& conflict);
  [[nodiscard]] std::vector<std::vector<Literal>> LiteralsOf(std::size_t unit,
                                                             std::size_t mode) const;
  [[nodiscard]] bool HasItems(const Conflict& conflict) const;
  void AddPairs();
  [[nodiscard]] bool IsMovable(const Use& use) const;
  void AddDominances();
  void AddExchanges();

  const MemoryProblem& problem_;
  const Model& model_;
  Wide unplaced_ = 0;  // The score of one unplaced buffer.
  std::vector<int> base_;
  std::vector<std::vector<Stay>> stays_;      // By unit, in all sections.
  std::vector<std::vector<Bytes>> capacity_;  // By memory, in all sections.
  std::size_t sections_ = 0;
  std::vector<std::vector<bool>> banned_;  // By unit and mode: cannot be at all.
  std::vector<bool> kept_;                 // Units that conflicts name: always items.
  std::vector<bool> tied_;                 // Units of pairs in different memories.
  std::vector<Conflict> conflicts_;
  std::vector<Conflict> pairs_;  // Pins that collide, and different memories.
  std::vector<Conflict> postponed_;
  std::vector<bool> aside_;  // By unit.
  Wide spread_of_aside_ = 0;
  std::optional<Wide> left_;
  std::int64_t changes_ = 0;

  Selection selection_;
  std::vector<Use> uses_;     // By item.
  std::vector<int> item_of_;  // By unit: its first one, or -1.
  Assignment decided_;        // Of the units that are no items.
  Wide outside_ = 0;          // The score without any option taken.
  int shift_ = 0;
};

}  // namespace berth::internal::memories

#endif  // BERTH_MEMORIES_ASSIGN_H_
