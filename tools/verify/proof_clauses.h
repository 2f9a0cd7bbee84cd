// tools/verify/proof_clauses.h -- proofs by bounds and orders.
//
// Each buffer has an offset between two bounds, and of every two that meet one lies above the other.
// A clause says that some of these cannot all be true. It is checked by assuming them and following
// what they imply, until something is impossible.
#ifndef BERTH_TOOLS_VERIFY_PROOF_CLAUSES_H_
#define BERTH_TOOLS_VERIFY_PROOF_CLAUSES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tools/verify/proof_state.h"

namespace berth::verify {

struct Atom {
  enum class Kind : std::uint8_t { kAtLeast, kAtMost, kAbove };
  Kind kind;
  std::size_t buffer;
  std::size_t other = 0;  // kAbove: the one below.
  Bytes value = 0;
};

class Clauses {
 public:
  // `state` has the problem and its sections, with every buffer open. Throws FalseStep where the
  // problem has windows or too many buffers.
  Clauses(const Problem& problem, const ProofState& state);

  [[nodiscard]] std::size_t size() const { return clauses_.size(); }
  // Whether two buffers meet in a section, so that one lies above the other.
  [[nodiscard]] bool Meet(std::size_t a, std::size_t b) const { return meets_[Pair(a, b)] != 0; }

  // Adds the clause if it follows from the clauses `used` (below size()), from those of one atom, and
  // from the problem. False if it does not.
  [[nodiscard]] bool Add(const std::vector<Atom>& atoms, const std::vector<std::size_t>& used);

 private:
  enum class Truth : std::uint8_t { kFalse, kOpen, kTrue };
  enum class Field : std::uint8_t { kLow, kHigh, kAbove };
  struct Change {
    Field field;
    std::size_t index;
    Bytes old;
  };

  [[nodiscard]] std::size_t Pair(std::size_t below, std::size_t above) const {
    return below * low_.size() + above;
  }
  [[nodiscard]] Truth TruthOf(const Atom& atom) const;
  void Assume(const Atom& atom);
  void Refuse(const Atom& atom);
  void Raise(std::size_t b, Bytes value);
  void Lower(std::size_t b, Bytes value);
  void PutAbove(std::size_t below, std::size_t above);
  void Touch(std::size_t b);
  void Follow(const std::vector<std::size_t>& used);
  void FollowOrders(std::size_t b);
  void CheckSection(std::size_t s);
  [[nodiscard]] bool ApplyClause(const std::vector<Atom>& atoms);
  void UndoTo(std::size_t changes);

  const ProofState& state_;
  std::vector<Bytes> size_, unit_;  // Offsets are multiples of a unit, but for pinned buffers.
  std::vector<Bytes> low_, high_;
  std::vector<std::uint8_t> meets_, above_;  // By Pair().
  std::vector<std::vector<std::size_t>> neighbours_;
  std::vector<std::size_t> queue_;
  std::vector<std::uint8_t> queued_;
  std::vector<Change> journal_;
  std::vector<std::vector<Atom>> clauses_;
  std::vector<std::pair<Bytes, Bytes>> members_;  // Of the section that is looked at.
  bool failed_ = false;
};

}  // namespace berth::verify

#endif  // BERTH_TOOLS_VERIFY_PROOF_CLAUSES_H_
