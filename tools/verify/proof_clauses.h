// tools/verify/proof_clauses.h -- proofs by bounds and orders.
//
// Each buffer has an offset between two bounds. Two that meet exclude one interval of the difference of
// their offsets, or several with windows; beyond each of them one buffer lies above the other.
// A clause says that some of these cannot all be true. It is checked by assuming them and following
// what they imply, until something is impossible.
#ifndef BERTH_TOOLS_VERIFY_PROOF_CLAUSES_H_
#define BERTH_TOOLS_VERIFY_PROOF_CLAUSES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "tools/verify/proof_state.h"

namespace berth::verify {

struct Atom {
  enum class Kind : std::uint8_t { kAtLeast, kAtMost, kAbove };
  Kind kind;
  std::size_t buffer;
  std::size_t order = 0;  // kAbove: see FindOrder().
  Bytes value = 0;
};

class Clauses {
 public:
  // `state` has the problem and its sections, with every buffer open. Throws FalseStep where too many
  // buffers meet.
  Clauses(const Problem& problem, const ProofState& state);

  [[nodiscard]] std::size_t size() const { return clauses_.size(); }
  // The order in which `above` lies above `below`, beyond their interval number `interval`; nothing if
  // they have none with this number.
  [[nodiscard]] std::optional<std::size_t> FindOrder(std::size_t above, std::size_t below,
                                                     std::size_t interval) const;

  // Adds the clause if it follows from the clauses `used` (below size()), from those of one atom, and
  // from the problem. False if it does not. Throws FalseStep where that takes too long to find out.
  [[nodiscard]] bool Add(const std::vector<Atom>& atoms, const std::vector<std::size_t>& used);

 private:
  enum class Truth : std::uint8_t { kFalse, kOpen, kTrue };
  enum class Field : std::uint8_t { kLow, kHigh, kOrder };
  // Number 2k and 2k + 1 are the two sides of one interval.
  struct Order {
    std::size_t below;
    std::size_t above;
    Bytes clearance;  // offset(above) >= offset(below) + clearance.
    std::size_t interval;
  };
  struct Interval {
    Bytes lower;  // Differences between the two are excluded.
    Bytes upper;
  };
  struct Change {
    Field field;
    std::size_t index;
    Bytes old;
  };

  // Where an order stands in its orders_of_.
  [[nodiscard]] std::pair<std::size_t, std::size_t> PlaceOf(std::size_t order) const {
    return {orders_[order].above, orders_[order].interval};
  }
  void FindOrders();
  void AddOrders(std::size_t a, std::size_t b);
  void OrderTwins();
  [[nodiscard]] Truth TruthOf(const Atom& atom) const;
  void Assume(const Atom& atom);
  void Refuse(const Atom& atom);
  void Raise(std::size_t b, Bytes value);
  void Lower(std::size_t b, Bytes value);
  void Decide(std::size_t order);
  void Touch(std::size_t b);
  void Follow(const std::vector<std::size_t>& used);
  void FollowOrders(std::size_t b);
  void CheckSection(std::size_t s);
  [[nodiscard]] bool ApplyClause(const std::vector<Atom>& atoms);
  void Spend(std::size_t work);
  void Undo();
  void ForgetChanges();

  const ProofState& state_;
  std::vector<Bytes> size_, unit_;  // Offsets are multiples of a unit, but for pinned buffers.
  std::vector<Bytes> low_, high_;
  std::vector<Order> orders_;
  std::vector<std::uint8_t> holds_;                  // By order.
  std::vector<std::vector<std::size_t>> orders_of_;  // Of each buffer: those that it is below in.
  std::vector<std::size_t> queue_;
  std::vector<std::uint8_t> queued_;
  // What the clause has changed, and what was there before it: each bound once.
  std::vector<Change> journal_;
  std::uint64_t epoch_ = 1;
  std::vector<std::uint64_t> low_noted_, high_noted_;  // By buffer: when it was noted last.
  std::size_t work_ = 0;                               // Of the clause that is being checked.
  std::vector<std::vector<Atom>> clauses_;
  std::vector<std::pair<Bytes, Bytes>> members_;  // Of the section that is looked at.
  bool failed_ = false;
};

}  // namespace berth::verify

#endif  // BERTH_TOOLS_VERIFY_PROOF_CLAUSES_H_
