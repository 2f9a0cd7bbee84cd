// tools/verify/memory.h -- a memory in which every byte knows what was written to it last.
#ifndef BERTH_TOOLS_VERIFY_MEMORY_H_
#define BERTH_TOOLS_VERIFY_MEMORY_H_

#include <iterator>
#include <map>
#include <optional>

#include "berth/graph.h"
#include "tools/verify/collector.h"

namespace berth::verify {

// A value of a tensor, by the operator that gave it; kNone: from before the run. An operator makes or
// writes a base at most once in the program, so the two name a version of the base. When it runs
// again on the same values, it gives the same value.
struct Value {
  TensorIndex tensor;
  OperatorIndex writer;
  friend bool operator==(const Value&, const Value&) = default;
};

// Bytes with the same value are one piece, so that a write costs O(log n) for n pieces, and those
// that it replaces, each of which was written once.
class Memory {
 public:
  void Write(Wide lower, Wide upper, const Value& value) {
    CutAt(lower);
    CutAt(upper);
    pieces_.erase(pieces_.lower_bound(lower), pieces_.lower_bound(upper));
    pieces_.emplace(lower, Piece{upper, value});
  }
  [[nodiscard]] bool Holds(Wide lower, Wide upper, const Value& value) const {
    auto piece = pieces_.upper_bound(lower);
    if (piece == pieces_.begin()) return false;
    --piece;
    for (Wide at = lower; at < upper; ++piece) {
      const bool covers = piece != pieces_.end() && piece->first <= at && at < piece->second.upper;
      if (!covers || piece->second.value != value) return false;
      at = piece->second.upper;
    }
    return true;
  }

  // The value that all these bytes have; nothing if they have several, or a part has none.
  [[nodiscard]] std::optional<Value> ValueOf(Wide lower, Wide upper) const {
    auto piece = pieces_.upper_bound(lower);
    if (piece == pieces_.begin()) return std::nullopt;
    --piece;
    const Value value = piece->second.value;
    return Holds(lower, upper, value) ? std::optional<Value>(value) : std::nullopt;
  }

 private:
  struct Piece {
    Wide upper;
    Value value;
  };

  void CutAt(Wide at) {
    auto piece = pieces_.upper_bound(at);
    if (piece == pieces_.begin()) return;
    --piece;
    if (piece->first == at || piece->second.upper <= at) return;
    const Piece upper_part = piece->second;
    piece->second.upper = at;
    pieces_.emplace(at, upper_part);
  }

  std::map<Wide, Piece> pieces_;  // By their lower end; disjoint.
};

}  // namespace berth::verify

#endif  // BERTH_TOOLS_VERIFY_MEMORY_H_
