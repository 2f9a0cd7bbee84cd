// spill/search.h -- order and residency searched together, for the least traffic.
//
// A state is what a run has done so far: the operators executed, the storages in memory, and which
// of those have a valid copy off chip ("clean"). All other live storages are off chip. A storage
// pays when it leaves: its size for the retrieve that will follow, and its size once more where it
// has to be written first. So what is absent has cost all it will ever cost, and
//
//   * only an operator that does not fit makes anything leave, and then a minimal set: leaving
//     later costs the same and keeps more, so any plan can be changed into one of this kind;
//   * of two states with the same operators executed, one is no worse if its cost, plus what it
//     would pay to get rid of the storages that only it holds, and to write those that only the
//     other has written, is no more than the other's cost: it can do all that the other does.
//
// Choices that need not be branched on, each with a switch (Rules):
//
//   * safe_runs: an operator that fits as things are, inputs in memory, runs at once if each buffer
//     that it leaves behind can take the place of one that it frees, which has to be as large and
//     not cheaper to evict. Whatever the rest does with the freed buffer until then, it can do with
//     the new one at no higher cost. (That an operator frees as much as it makes is not enough:
//     the buffer freed may have a copy off chip, and the new one has none.)
//   * belady: of two storages of one size, both with copies, the one that is needed later in every
//     order leaves first (the exchange argument of Belady's rule; the conditions on copies are
//     spelled out in search.cc). Sizes that differ have no such rule.
//
// The order is fixed by giving a model whose operators are a chain: the same search is then an
// exact evaluator of that order.
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
#include "spill/model.h"

namespace berth::internal::spill {

inline constexpr Bytes kNoCost = std::numeric_limits<Bytes>::max();

// What searches may take beside their budget: work is shared by all that have the same one, memory
// is what each may have for its states.
struct Effort {
  std::int64_t work = std::numeric_limits<std::int64_t>::max();  // Left; some nanoseconds each.
  std::size_t most_bytes = std::numeric_limits<std::size_t>::max();
  [[nodiscard]] bool spent() const { return work <= 0; }
};

// What happens at one step: these storages leave, then the operator runs (what it uses and is
// absent comes back).
struct Action {
  OpIndex op;
  std::vector<StorageIndex> evicted;
};
struct Schedule {
  Bytes cost = kNoCost;
  std::vector<Action> actions;
};

struct Rules {
  bool dominance = true;
  bool safe_runs = true;
  bool belady = true;
};

struct StateView {
  const Word* executed;
  const Word* resident;
  const Word* clean;
  std::size_t num_executed;
};

// A lower bound on the cost still to come; may be negative, and is then good for nothing but the
// sum with prices.
class Bound {
 public:
  virtual ~Bound() = default;
  [[nodiscard]] virtual Bytes Remaining(const StateView& state) const = 0;
  // By how much the bound grows at least when one of these resident storages leaves, its cost
  // included: for several, the sum. False: nothing is known.
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
  int alpha_16ths = 4;        // Of the resident bytes, added to the cost to rank states.
  std::size_t max_sets = 64;  // Of evictions tried for one operator: a beam proves nothing.
};

struct BestFirstAnswer {
  bool complete = false;         // Nothing cheaper than the limit, or than `best`, exists.
  bool out_of_memory = false;    // Stopped by the effort's bytes.
  Bytes bound = 0;               // Proved: every schedule costs this or more, or `limit` or more.
  std::optional<Schedule> best;  // Cheaper than the limit.
};

class Search {
 public:
  // `capacity` is no less than any operator needs. `bound` may be null; all must outlive this.
  Search(const Model& model, Bytes capacity, const Rules& rules, const Bound* bound,
         Effort& effort);

  // The cheapest schedule of a beam over all orders, below `limit`; nothing where it has none.
  // `exact` is set if no state was ever left out: then nothing is cheaper than what it returns.
  // Spends a node of the budget for each state made. Where memory is full, what leads nowhere is
  // forgotten, and the beam gets narrower.
  [[nodiscard]] std::optional<Schedule> Beam(const BeamOptions& options, Bytes limit, bool& exact,
                                             Budget& budget);

  // Cheapest first, until nothing cheaper than the best can exist or the budget or the effort ends,
  // or more than `max_states` would be stored. With `executed`, from the state in which these
  // operators have run and nothing is in memory; then only the bound is answered.
  [[nodiscard]] BestFirstAnswer BestFirst(Bytes limit, std::size_t max_states, Budget& budget,
                                          const Word* executed = nullptr);

  // Gives the memory of the last search back.
  void Release() {
    words_ = {};
    nodes_ = {};
    slots_ = {};
  }

  // What estimates the remaining cost from now on; null: nothing does.
  void SetBound(const Bound* bound) { bound_ = bound; }
  // A known order, by which a beam guesses what is needed last.
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
  // One state taken out of the table, with what follows from it.
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
  // Of the states stored, those that are no longer alive too.
  [[nodiscard]] std::size_t bytes() const {
    return nodes_.size() * (sizeof(Node) + stride_ * sizeof(Word)) +
           slots_.size() * sizeof(std::int32_t);
  }
  // Counts a node, and so much work. False: that was the last, also for want of room.
  [[nodiscard]] bool Spend(Budget& budget, std::size_t work) {
    effort_.work -= static_cast<std::int64_t>(work);
    return !effort_.spent() && bytes() <= room_ && budget.SpendNode();
  }
  bool KeepBest(std::vector<std::int32_t>& layer, const BeamOptions& options) const;
  void Compact(std::vector<std::vector<std::int32_t>>& layers, std::int32_t& best);
  [[nodiscard]] Open Start() const;
  void Load(std::size_t node, Open& open) const;
  void FindReady(Open& open) const;
  [[nodiscard]] bool IsDead(StorageIndex s, const Word* executed) const;
  [[nodiscard]] bool IsReady(OpIndex v, const Word* executed) const;
  // Runs `v`, whose needs fit once what `evict_` names has left.
  void Run(OpIndex v, Open& open) const;
  [[nodiscard]] bool IsSafe(OpIndex v, const Open& open) const;
  void RunSafe(Open& open) const;
  // Calls visit(child, op) for each successor below `limit`; false if the budget ended in between
  // or `max_sets` cut something off.
  template <typename Visit>
  bool Expand(const Open& open, const Bytes& limit, std::size_t max_sets, Budget& budget, bool& cut,
              Visit visit);
  template <typename Visit>
  bool ExpandOperator(const Open& open, OpIndex v, const Bytes& limit, std::size_t max_sets,
                      Budget& budget, bool& cut, Visit visit);
  // By price where there are prices and `by_price`: then sets may be found that are not minimal.
  void FindCandidates(const Open& open, OpIndex v, bool by_price);
  void SumUp();
  [[nodiscard]] bool LeavesFirst(StorageIndex x, StorageIndex y, const Open& open) const;
  [[nodiscard]] bool Dominates(Bytes cost_a, const Word* a, Bytes cost_b, const Word* b) const;
  // The node's number; -1 where a known state is no worse.
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
  Rules rules_;
  const Bound* bound_;
  Effort& effort_;
  std::size_t room_ = 0;           // In bytes; a beam makes room by itself.
  std::vector<std::size_t> hint_;  // Position of each operator; empty: none.
  std::size_t op_words_;
  std::size_t storage_words_;
  std::size_t stride_;

  std::vector<Word> words_;
  std::vector<Node> nodes_;
  std::vector<std::int32_t> slots_;  // Of a hash of the executed operators; -1: none.

  // Scratch of Expand().
  std::vector<StorageIndex> candidates_;
  std::vector<Bytes> prices_;
  std::vector<Bytes> left_;                      // Bytes of the candidates from here on.
  std::vector<std::vector<std::size_t>> first_;  // Of each candidate, those that leave before it.
  std::vector<char> chosen_;
  std::vector<std::size_t> picks_;
  mutable std::vector<Bytes> stays_;  // Of IsSafe().
  mutable std::vector<Bytes> goes_;
};

}  // namespace berth::internal::spill

#endif  // BERTH_SPILL_SEARCH_H_
