// spill/search.h -- searches order and residencies together, for the least traffic.
//
// A state describes what has run so far: the executed operators, the storages in memory, and which
// of these have a valid copy off chip ("clean"). All other live storages are off chip. A storage
// pays when it is spilled: its size for the retrieval that will follow, and its size once more if
// it has to be written first. So an absent storage has already paid all it will ever pay, and
//
//   * spills happen only for an operator that does not fit, and then as a minimal set: spilling
//     later costs the same and keeps more in memory, so any plan can be changed into one of this
//     kind;
//   * of two states with the same executed operators, one dominates the other if its cost, plus the
//     cost of spilling the storages that only it holds and of writing those that only the other has
//     written, is at most the other's cost: it can do all that the other can.
//
// Choices that need no branching, each with a switch (SpillRules):
//
//   * safe_runs: an operator that fits without spills, with its inputs in memory, runs at once if
//     each buffer that it leaves live can replace one that it frees, which must be at least as
//     large and not cheaper to evict. Whatever the remaining schedule does with the freed buffer,
//     it can do with the new one at no higher cost. (It is not enough that an operator frees as
//     much as it creates: the freed buffer may have a copy off chip, and the new one has none.)
//   * belady: of two storages of equal size, both with copies, the one that is needed later in
//     every order is spilled first (the exchange argument of Belady's rule; search.cc states the
//     conditions on copies). Storages of different sizes have no such rule.
//
// To fix the order, give a model whose operators are a chain: the same search then evaluates that
// order exactly.
#ifndef BERTH_SPILL_SEARCH_H_
#define BERTH_SPILL_SEARCH_H_

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "berth/budget.h"
#include "berth/problem.h"
#include "berth/spill.h"
#include "spill/model.h"

namespace berth::internal::spill {

inline constexpr Bytes kNoCost = std::numeric_limits<Bytes>::max();

// Limits on a search besides its budget. Searches with the same Effort share its work; the memory
// limit is for the states of each search.
struct Effort {
  // What is left, in units of a few nanoseconds.
  std::int64_t work = std::numeric_limits<std::int64_t>::max();
  std::size_t most_bytes = std::numeric_limits<std::size_t>::max();
  [[nodiscard]] bool spent() const { return work <= 0; }
};

// One step: these storages are spilled, then the operator runs (and its absent inputs are
// retrieved).
struct Action {
  OpIndex op;
  std::vector<StorageIndex> evicted;
};
struct Schedule {
  Bytes cost = kNoCost;
  std::vector<Action> actions;
};

struct StateView {
  const Word* executed;
  const Word* resident;
  const Word* clean;
  std::size_t num_executed;
};

// A lower bound on the remaining cost. It may be negative; then it only counts in the sum with
// prices.
class Bound {
 public:
  virtual ~Bound() = default;
  [[nodiscard]] virtual Bytes Remaining(const StateView& state) const = 0;
  // The least growth of the bound, cost included, when one of these resident storages is spilled;
  // for several, their sum. False: unknown.
  [[nodiscard]] virtual bool Prices(const StateView& state,
                                    const std::vector<StorageIndex>& storages,
                                    std::vector<Bytes>& prices) const {
    static_cast<void>(state);
    static_cast<void>(storages);
    static_cast<void>(prices);
    return false;
  }
};

struct BeamOptions {
  std::size_t width = 64;
  int alpha_16ths = 4;        // Sixteenths of the resident bytes, added to the cost to rank states.
  std::size_t max_sets = 64;  // Sets of evictions tried per operator; a beam proves nothing.
};

struct BestFirstAnswer {
  bool complete = false;         // Nothing cheaper than the limit, or than `best`, exists.
  bool out_of_memory = false;    // Ended by Effort::most_bytes.
  Bytes bound = 0;               // Proved: every schedule costs at least this, or at least `limit`.
  std::optional<Schedule> best;  // Cheaper than the limit.
};

class Search {
 public:
  // `capacity` is at least what any operator needs. `bound` may be null; all must outlive this.
  Search(const Model& model, Bytes capacity, const SpillRules& rules, const Bound* bound,
         Effort& effort);
  // The same search with an effort of its own, for another thread: without states, or a bound.
  Search(const Search& other, Effort& effort)
      : Search(other.model_, other.capacity_, other.rules_, nullptr, effort) {
    hint_ = other.hint_;
  }

  // The cheapest schedule of a beam over all orders, below `limit`; nothing if there is none.
  // `exact` is set if no state was ever discarded: then nothing is cheaper than the result. Spends
  // a node of the budget per state created. When memory is full, dead ends are dropped, and the
  // beam becomes narrower.
  [[nodiscard]] std::optional<Schedule> Beam(const BeamOptions& options, Bytes limit, bool& exact,
                                             Budget& budget);

  // Cheapest first, until nothing cheaper than the best can exist, the budget or the effort ends,
  // or more than `max_states` would be stored. With `executed`, starts from the state in which
  // these operators have run and nothing is in memory; then only the bound is returned.
  [[nodiscard]] BestFirstAnswer BestFirst(Bytes limit, std::size_t max_states, Budget& budget,
                                          const Word* executed = nullptr);

  // Frees the memory of the last search.
  void Release() {
    words_ = {};
    nodes_ = {};
    slots_ = {};
  }

  // Estimates the remaining cost by `bound` from now on; null: no estimate.
  void SetBound(const Bound* bound) { bound_ = bound; }
  [[nodiscard]] bool has_bound() const { return bound_ != nullptr; }
  // A known order, by which a beam guesses which storages are needed last.
  void SetHint(std::span<const OpIndex> order) {
    hint_.assign(order.size(), 0);
    for (std::size_t i = 0; i < order.size(); ++i) hint_[order[i].position()] = i;
  }

 private:
  struct Node {
    Bytes cost = 0;
    Bytes resident_bytes = 0;
    std::int32_t parent = -1;
    std::int32_t op = -1;
    std::int32_t next = -1;  // With the same hash.
    std::int32_t executed = 0;
    bool dead = false;
  };
  // A state taken from the table, with values derived from it.
  struct Open {
    std::vector<Word> words;  // Executed, resident, clean.
    Bytes cost = 0;
    Bytes resident_bytes = 0;
    std::size_t executed = 0;
    std::vector<OpIndex> ready;
  };

  [[nodiscard]] const Word* WordsOf(std::size_t node) const {
    return words_.data() + node * stride_;
  }
  void Clear();
  // Of all stored states, including dominated ones.
  [[nodiscard]] std::size_t bytes() const {
    return nodes_.size() * (sizeof(Node) + stride_ * sizeof(Word)) +
           slots_.size() * sizeof(std::int32_t);
  }
  // Counts a node and `work`. False if the budget, the work or the memory is used up.
  [[nodiscard]] bool Spend(Budget& budget, std::size_t work) {
    effort_.work -= static_cast<std::int64_t>(work);
    return !effort_.spent() && bytes() <= room_ && budget.SpendNode() &&
           budget.SpendWork(static_cast<std::int64_t>(work));
  }
  bool KeepBest(std::vector<std::int32_t>& layer, const BeamOptions& options) const;
  void Compact(std::vector<std::vector<std::int32_t>>& layers, std::int32_t& best);
  // With the operators `executed` done, or none, and nothing in memory.
  [[nodiscard]] Open Start(const Word* executed = nullptr) const;
  void Load(std::size_t node, Open& open) const;
  void FindReady(Open& open) const;
  [[nodiscard]] bool IsDead(StorageIndex s, const Word* executed) const;
  [[nodiscard]] bool IsReady(OpIndex v, const Word* executed) const;
  // Runs `v`; its needs must fit once the chosen evictions are done.
  void Run(OpIndex v, Open& open) const;
  [[nodiscard]] bool IsSafe(OpIndex v, const Open& open) const;
  void RunSafe(Open& open) const;
  // Calls visit(child, op) for each successor below `limit`; false if the budget ended or
  // `max_sets` left sets out.
  template <typename Visit>
  bool Expand(const Open& open, const Bytes& limit, std::size_t max_sets, Budget& budget, bool& cut,
              Visit visit);
  template <typename Visit>
  bool ExpandOperator(const Open& open, OpIndex v, const Bytes& limit, std::size_t max_sets,
                      Budget& budget, bool& cut, Visit visit);
  // The bytes that must be spilled before `v` can run.
  [[nodiscard]] Bytes Excess(const Open& open, OpIndex v) const;
  // After spilling the picks, for traffic of `extra`, and running `v`.
  [[nodiscard]] Open ChildOf(const Open& open, OpIndex v, Bytes extra) const;
  // By price if there are prices and `by_price` is set; sets found are then not always minimal.
  void FindCandidates(const Open& open, OpIndex v, bool by_price);
  void SortByPrice(const Open& open, bool hinted);
  // Candidates `begin` to `end` are of one size: which is spilled before which, ties by index; then
  // an order that respects it.
  void SortGroup(const Open& open, std::size_t begin, std::size_t end);
  void SumUp();
  [[nodiscard]] bool LeavesFirst(StorageIndex x, StorageIndex y, const Open& open) const;
  [[nodiscard]] bool Dominates(Bytes cost_a, const Word* a, Bytes cost_b, const Word* b) const;
  // The node's index; -1 if a known state dominates it.
  std::int32_t Insert(const Open& open, std::int32_t parent, OpIndex op);
  void Rehash(std::size_t slots);
  void Grow();
  [[nodiscard]] Schedule Trace(std::int32_t node) const;
  [[nodiscard]] Bytes Estimate(const Word* words, std::size_t num_executed) const {
    if (bound_ == nullptr) return 0;
    return bound_->Remaining(
        {words, words + op_words_, words + op_words_ + storage_words_, num_executed});
  }
  [[nodiscard]] Bytes Remaining(const Word* words, std::size_t num_executed) const {
    return std::max<Bytes>(Estimate(words, num_executed), 0);
  }

  const Model& model_;
  Bytes capacity_;
  SpillRules rules_;
  const Bound* bound_;
  Effort& effort_;
  std::size_t room_ = 0;           // In bytes; a beam frees memory by itself.
  std::vector<std::size_t> hint_;  // Position of each operator in the hint; empty: none.
  std::size_t op_words_;
  std::size_t storage_words_;
  std::size_t stride_;

  std::vector<Word> words_;
  std::vector<Node> nodes_;
  std::vector<std::int32_t> slots_;  // By a hash of the executed operators; -1: none.

  // Scratch of Expand().
  std::vector<StorageIndex> candidates_;
  std::vector<Bytes> prices_;
  std::vector<Bytes> left_;                      // Bytes of the candidates from this one on.
  std::vector<std::vector<std::size_t>> first_;  // Of each candidate, those spilled before it.
  std::vector<char> chosen_;
  std::vector<std::size_t> picks_;
  mutable std::vector<Bytes> stays_;  // Of IsSafe().
  mutable std::vector<Bytes> goes_;
};

}  // namespace berth::internal::spill

#endif  // BERTH_SPILL_SEARCH_H_
