// memories/prices.h -- what a byte of a memory is worth in each section.
//
// The linear relaxation of a Selection gives every section of every memory a price. With prices
// fixed, each item is decided alone, and the sum is a bound on every choice, whatever the prices:
// they are rounded to integers, and the bound is exact. Cover inequalities (sets of items that exceed
// a section together) have prices, too, which closes most of the distance to whole items.
#ifndef BERTH_MEMORIES_PRICES_H_
#define BERTH_MEMORIES_PRICES_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/wide.h"
#include "berth/budget.h"
#include "memories/selection.h"
#include "memories/simplex.h"

namespace berth::internal::memories {

// Sum of coefficients times (item is in `memory`) <= limit: holds for every choice.
struct Cut {
  std::size_t memory = 0;
  std::size_t section = 0;                                  // All of its items are live there.
  std::vector<std::pair<std::size_t, std::int64_t>> terms;  // Item, coefficient; by item.
  std::int64_t limit = 0;
};

// What each item may do: bit 0 to be left out, bit 1 + o to take option o.
using Allowed = std::vector<std::uint64_t>;
[[nodiscard]] Allowed AllowAll(const Selection& selection);

// Every figure is in 1 / scale of a unit of profit.
struct Prices {
  std::int64_t scale = 1;
  struct Section {
    std::size_t memory;
    std::size_t section;
    std::int64_t price;  // Of a byte; at least 1.
  };
  std::vector<Section> sections;
  struct Priced {
    Cut cut;
    std::int64_t price;  // Of one unit of its limit; at least 1.
  };
  std::vector<Priced> cuts;
  struct Pair {  // What it costs to take `better` without `worse`, of Selection::dominates.
    std::size_t better;
    std::size_t worse;
    std::int64_t price;
  };
  std::vector<Pair> pairs;
  struct Excluded {  // Of each member of a nogood that is not taken, but the first.
    std::size_t nogood;
    std::int64_t price;
  };
  std::vector<Excluded> nogoods;
  std::vector<std::vector<std::int64_t>> reduced;  // Profit less prices, by item and option.
  std::int64_t bound = 0;                          // On the profit of every choice.
  bool whole = true;                               // No row was left out.
  // The most that an item can give. The bound is reached where every item gives its most, and no
  // section, cut or pair costs anything: what a choice loses is what it is worth less than the bound.
  [[nodiscard]] std::int64_t Best(std::size_t item, std::uint64_t allowed) const;
};

// The linear relaxation, with the cuts found so far.
class Relaxation {
 public:
  explicit Relaxation(const Selection& selection);

  // Goes on with nogoods that the selection has got since.
  void Extend() { has_nogood_.resize(selection_.nogoods.size()); }
  // Changes what an item may do.
  void Allow(std::size_t item, std::uint64_t allowed);

  // Adds no more rows once their table takes more memory.
  void LimitMemory(std::size_t most_bytes) { simplex_.LimitMemory(most_bytes); }
  // Adds rows that the solution violates until none is, and `rounds` rounds of cuts. What it takes for
  // infeasible is not proved: the prices then say so, or a sweep.
  void Solve(int rounds, Budget& budget);
  [[nodiscard]] double Value(std::size_t item, std::size_t option) const {
    return simplex_.Value(variable_[item] + option);
  }
  [[nodiscard]] double value() const { return simplex_.value(); }
  // About the value that it would have if the option had to be taken, or must not be: after a few
  // pivots, so no less than it would be in the end. -1: nothing is possible.
  [[nodiscard]] double Probe(std::size_t item, std::size_t option, bool take, Budget& budget);
  // Exact, of the latest solution, for choices that keep to what is allowed now. If there was no
  // solution, prices that prove that no such choice is worth more than `least`, as far as rounding lets
  // them.
  [[nodiscard]] Prices Exact(std::int64_t least) const;
  [[nodiscard]] std::int64_t pivots() const { return simplex_.pivots(); }
  [[nodiscard]] std::size_t num_rows() const { return simplex_.num_rows(); }

 private:
  struct Source {
    enum class Kind { kSection, kCut, kOneOption, kPair, kNogood } kind;
    std::size_t memory;
    std::size_t index;  // Of the section, the cut, the item, the pair or the nogood.
    int idle = 0;       // Solutions in a row that it did not hold back.
  };
  class Pricing;
  struct Found {  // A cut that the solution violates.
    Cut cut;
    std::vector<Simplex::Term> terms;
    double depth;  // Distance of the solution from it.
  };
  [[nodiscard]] double InMemory(std::size_t item, std::size_t memory) const;
  int AddSections(Budget& budget);
  int AddOneOptions(Budget& budget);
  int AddPairs(Budget& budget);
  int AddNogoods(Budget& budget);
  int AddCuts(bool everywhere);
  void Find(Cut cut, std::vector<Found>& found) const;
  void DropIdleRows();
  [[nodiscard]] Prices OnGrid(int bits, double ray) const;

  const Selection& selection_;
  std::vector<std::size_t> variable_;                             // Of each item's first option.
  std::vector<std::vector<std::pair<std::size_t, Bytes>>> live_;  // By section: item, bytes.
  std::vector<std::vector<bool>> has_row_;                        // By memory, then section.
  std::vector<bool> has_one_option_;
  std::vector<bool> has_pair_;
  std::vector<bool> has_nogood_;
  std::vector<Cut> cuts_;
  std::vector<Source> sources_;  // By row.
  Simplex simplex_;
  bool infeasible_ = false;  // So says its latest solution.
  Simplex probe_;            // Of Probe(): keeps its memory.
  Allowed allowed_;
};

// The lifted cover inequality that `in` (how much of each item is in the memory, parallel to `live`)
// violates the most, if one is found. `live`: items and their bytes.
[[nodiscard]] bool SeparateCover(const std::vector<std::pair<std::size_t, Bytes>>& live,
                                 const std::vector<double>& in, Bytes capacity, Cut& cut);
// The same for the section's row divided by a size and rounded down.
[[nodiscard]] bool SeparateRounding(const std::vector<std::pair<std::size_t, Bytes>>& live,
                                    const std::vector<double>& in, Bytes capacity, Cut& cut);

}  // namespace berth::internal::memories

#endif  // BERTH_MEMORIES_PRICES_H_
