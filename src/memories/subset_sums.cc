#include "memories/subset_sums.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <numeric>

#include "base/arithmetic.h"
#include "base/check.h"

namespace berth::internal::memories {
namespace {

constexpr std::size_t kMostSums = 1 << 14;
// Of all capacities together, some milliseconds: the choice asks for this at every restart. Where more
// sizes are live, some always fill nearly everything.
constexpr std::int64_t kWorkOfTightening = 3'000'000;
constexpr std::size_t kMostTightened = 2'000'000;

Bytes SumOf(const std::vector<Bytes>& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), Bytes{0});
}

Bytes DivisorOf(const std::vector<Bytes>& sizes) {
  Bytes divisor = 0;
  for (const Bytes size : sizes) divisor = std::gcd(divisor, size);
  return std::max<Bytes>(divisor, 1);
}

// The sums on both sides of a line.
struct Sides {
  Bytes within = 0;  // The largest of at most `line`.
  Bytes above = 0;   // The least of more; without one, the sum of all.
  bool exact = true;
};

// `sizes`: from the largest. Only one side is asked for: ends early once no sum could be nearer.
Sides SidesOf(const std::vector<Bytes>& sizes, Bytes line, Bytes divisor, bool asks_above,
              std::int64_t& work) {
  Sides sides;
  sides.above = SumOf(sizes);
  const Bytes last = RoundDown(line, divisor);
  std::vector<Bytes> sums = {0};
  std::vector<Bytes> shifted;
  std::vector<Bytes> merged;
  for (const Bytes size : sizes) {
    work -= static_cast<std::int64_t>(sums.size());
    if (work < 0 || sums.size() > kMostSums) {
      sides.exact = false;
      return sides;
    }
    shifted.clear();
    for (const Bytes sum : sums) {
      if (sum + size > line) {
        sides.above = std::min(sides.above, sum + size);
        break;  // The sums are sorted: the others are larger.
      }
      shifted.push_back(sum + size);
    }
    merged.clear();
    std::set_union(sums.begin(), sums.end(), shifted.begin(), shifted.end(),
                   std::back_inserter(merged));
    std::swap(sums, merged);
    sides.within = sums.back();
    if (asks_above ? sides.above == last + divisor : sides.within == last) return sides;
  }
  return sides;
}

}  // namespace

Bytes LeastSubsetSum(std::vector<Bytes> sizes, Bytes bytes, std::int64_t& work) {
  const Bytes total = SumOf(sizes);
  BERTH_CHECK(bytes <= total);
  if (bytes <= 0) return 0;
  const Bytes divisor = DivisorOf(sizes);
  std::sort(sizes.begin(), sizes.end(), std::greater<>());
  // What is left out of a least sum is a largest one of the rest: the side with fewer sums is looked at.
  const bool leaves = bytes <= total - bytes;
  const Sides sides = SidesOf(sizes, leaves ? bytes - 1 : total - bytes, divisor, leaves, work);
  if (!sides.exact) return RoundUp(bytes, divisor);
  return leaves ? sides.above : total - sides.within;
}

Bytes MostSubsetSum(const std::vector<Bytes>& sizes, Bytes bytes, std::int64_t& work) {
  const Bytes total = SumOf(sizes);
  if (bytes >= total) return total;
  return total - LeastSubsetSum(sizes, total - bytes, work);
}

void TightenCapacities(Selection& selection) {
  std::size_t listed = 0;
  for (const Item& item : selection.items) {
    for (const Stay& stay : item.stays) listed += stay.last - stay.first;
  }
  if (listed > kMostTightened) return;
  std::int64_t work = kWorkOfTightening;
  for (std::size_t m = 0; m < selection.memories(); ++m) {
    // By section, the sizes that may be there.
    std::vector<std::vector<Bytes>> live(selection.sections);
    for (const Item& item : selection.items) {
      const bool may = std::any_of(item.options.begin(), item.options.end(),
                                   [&](const Option& option) { return option.memory == m; });
      if (!may) continue;
      for (const Stay& stay : item.stays) {
        if (stay.bytes == 0) continue;
        for (std::size_t s = stay.first; s < stay.last; ++s) live[s].push_back(stay.bytes);
      }
    }
    for (std::size_t s = 0; s < selection.sections; ++s) {
      Bytes& capacity = selection.capacity[m][s];
      if (SumOf(live[s]) > capacity) capacity = MostSubsetSum(live[s], capacity, work);
    }
  }
}

}  // namespace berth::internal::memories
