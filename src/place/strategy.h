// place/strategy.h -- what an exact search is given, and what it gives back.
//
// An engine lives in a folder of its own, includes no other engine, and is one row of the table in
// engines.cc.
#ifndef BERTH_PLACE_STRATEGY_H_
#define BERTH_PLACE_STRATEGY_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "base/numbers.h"
#include "berth/budget.h"
#include "berth/place.h"
#include "model/instance.h"

namespace berth::internal {

// Is there a plan of at most `capacity` bytes?
struct Question {
  Bytes capacity;
  std::int64_t node_limit = std::numeric_limits<std::int64_t>::max();  // For this question alone.
  const std::vector<Bytes>* known = nullptr;  // The offsets of a plan, higher perhaps.
  bool wants_core = false;
};

// How an exact search for a plan ended.
struct SearchAnswer {
  enum class Verdict {
    kFound,
    kImpossible,    // Proved.
    kInconclusive,  // Searched all it can search and found nothing, which proves nothing.
    kGaveUp,        // Nodes or budget ended.
  };
  Verdict verdict = Verdict::kGaveUp;
  std::vector<Bytes> offsets;  // kFound: one for each buffer.
  // kImpossible, where it was wanted and the search can tell: buffers, by index, that cannot be placed
  // by themselves. Empty: not known.
  std::vector<std::size_t> core;
  std::int64_t nodes = 0;
  SearchStats stats;
};

// An exact search in one instance, which must outlive it. It is asked about any number of
// capacities in turn; asked about the same one again, it may go on with what it has learned.
// Deterministic unless the budget ends by time or cancellation.
class Search {
 public:
  Search() = default;
  Search(const Search&) = delete;
  Search& operator=(const Search&) = delete;
  virtual ~Search() = default;

  [[nodiscard]] virtual SearchAnswer Decide(const Question& question, Budget& budget) = 0;

  // Whether the capacity of the last question leaves hardly any slack, as far as the search knows.
  [[nodiscard]] virtual bool is_full() const { return false; }
};

// How early a buffer should come that is live in `width` sections, all at least 1: a logarithm to
// base 2 in units of 1/65536, of width x size^0.15 x load^2, with the largest load that it meets.
[[nodiscard]] inline std::int64_t Precedence(std::int64_t width, std::int64_t size, Bytes load) {
  constexpr std::int64_t kWidthPower = 65'536;
  constexpr std::int64_t kSizePower = 9'830;
  constexpr std::int64_t kLoadPower = 131'072;
  const auto log = [](std::int64_t value) { return Log2(static_cast<std::uint64_t>(value)); };
  return (kWidthPower * log(width) + kSizePower * log(size) + kLoadPower * log(load)) / 65'536;
}

}  // namespace berth::internal

#endif  // BERTH_PLACE_STRATEGY_H_
