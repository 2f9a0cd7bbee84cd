// place/strategy.h -- what one way of placing buffers is given, and what it gives back.
//
// Every strategy is a function from an instance to offsets; only place.cc knows them all. A
// strategy never includes another.
#ifndef BERTH_PLACE_STRATEGY_H_
#define BERTH_PLACE_STRATEGY_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "base/numbers.h"
#include "berth/budget.h"
#include "berth/place.h"
#include "model/instance.h"

namespace berth::internal {

// How one exact search for a plan of at most some capacity ended.
struct SearchAnswer {
  enum class Verdict {
    kFound,
    kImpossible,    // Proved.
    kInconclusive,  // Searched all it can search and found nothing, which proves nothing.
    kGaveUp,        // Nodes or budget ended.
  };
  Verdict verdict = Verdict::kGaveUp;
  std::vector<Bytes> offsets;  // kFound: one for each buffer.
  std::int64_t nodes = 0;
  SearchStats stats;
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
