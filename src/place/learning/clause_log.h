// place/learning/clause_log.h -- what the guided search learned, for a checker that does not trust it.
//
// Each clause is a combination of bounds and orders that cannot all be true. It follows by propagation
// from the problem, from what is known before any placement, and from the earlier clauses that it
// names. docs/algorithms/proofs.md has the rules.
#ifndef BERTH_PLACE_LEARNING_CLAUSE_LOG_H_
#define BERTH_PLACE_LEARNING_CLAUSE_LOG_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "berth/problem.h"

namespace berth::internal::learning {

// Offset at least or at most `value`; or `buffer` lies above `other`, beyond the interval number `value`
// of those that their windows exclude.
struct LoggedAtom {
  char kind;  // '>', '<', '^'
  std::int32_t buffer;
  std::int32_t other;
  Bytes value;
};

class ClauseLog {
 public:
  // Refuses to grow beyond `most_bytes`.
  explicit ClauseLog(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  // Gives the clause its number, from 1. `used`: the clauses it follows from, in any order, some of
  // them perhaps twice. A clause of one atom is known in all later ones without being named. One of no
  // atoms is the end.
  std::int32_t Add(std::vector<LoggedAtom> atoms, std::span<const std::int32_t> used);
  [[nodiscard]] bool is_full() const { return bytes_ > most_bytes_; }
  [[nodiscard]] bool is_complete() const {
    return !clauses_.empty() && clauses_.back().atoms.empty();
  }

  // Appends what the end follows from, one line for each clause.
  void Write(std::string& text) const;

 private:
  struct Clause {
    std::vector<LoggedAtom> atoms;
    std::vector<std::int32_t> used;
  };
  [[nodiscard]] std::vector<std::int32_t> NumberNeeded() const;

  std::size_t most_bytes_;
  std::size_t bytes_ = 0;
  std::vector<Clause> clauses_;
};

}  // namespace berth::internal::learning

#endif  // BERTH_PLACE_LEARNING_CLAUSE_LOG_H_
