// Mixed-integer rounding of a section's row (Marchand and Wolsey, Operations Research 49(3), 2001), in
// whole numbers. The row, divided by a size d and rounded down, holds for whole items; what rounding
// takes off sizes between multiples of d is given back in part. Items that the solution has taken,
// more or less, count by what they leave out instead. Multiplied by d - r, where r is what is left of
// the capacity, no fraction remains:
//
//   c(a) = floor(a / d) * (d - r) + max(0, a mod d - r)
//   sum of c(a) * x <= floor(capacity / d) * (d - r)
//
// Covers say how many items fit; this says it of many items of few sizes, which training has.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/wide.h"
#include "memories/prices.h"

namespace berth::internal::memories {
namespace {

constexpr double kWhole = 1e-6;
constexpr double kDeep = 1e-4;  // The least violation, relative to the length of the coefficients.
constexpr int kMostBits = 16;   // Between the largest size and the smallest coefficient.
constexpr std::size_t kMostSizes = 8;

using Live = std::vector<std::pair<std::size_t, Bytes>>;

struct Rounded {
  Bytes by;
  Bytes left;  // Of the capacity, modulo `by`.

  [[nodiscard]] Bytes Coefficient(Bytes bytes) const {
    const Bytes down = Floor(bytes);
    return down * (by - left) + std::max<Bytes>(0, bytes - down * by - left);
  }
  [[nodiscard]] Bytes Floor(Bytes bytes) const {
    return bytes >= 0 ? bytes / by : -((-bytes + by - 1) / by);
  }
};

// The sizes of undecided items, those of the least decided first.
std::vector<Bytes> Divisors(const Live& live, const std::vector<double>& in) {
  std::vector<std::pair<double, Bytes>> open;
  for (std::size_t k = 0; k < live.size(); ++k) {
    const double distance = std::min(in[k], 1 - in[k]);
    // Items without bytes here may be undecided because of a nogood.
    if (distance > kWhole && live[k].second > 0) open.emplace_back(-distance, live[k].second);
  }
  std::sort(open.begin(), open.end());
  std::vector<Bytes> sizes;
  for (const auto& [distance, bytes] : open) {
    if (sizes.size() == kMostSizes) break;
    if (std::find(sizes.begin(), sizes.end(), bytes) == sizes.end()) sizes.push_back(bytes);
  }
  return sizes;
}

// How far the solution is beyond the row rounded by `by`; at most 0 if it keeps to it.
double Depth(const Live& live, const std::vector<double>& in, Bytes room, const Rounded& rounded) {
  double left_side = 0;
  double length = 0;
  for (std::size_t k = 0; k < live.size(); ++k) {
    const bool turned = in[k] > 0.5;
    const auto c =
        static_cast<double>(rounded.Coefficient(turned ? -live[k].second : live[k].second));
    left_side += c * (turned ? 1 - in[k] : in[k]);
    length += c * c;
  }
  const double limit =
      static_cast<double>(rounded.Floor(room)) * static_cast<double>(rounded.by - rounded.left);
  return (left_side - limit) / std::sqrt(std::max(length, 1.0));
}

}  // namespace

bool SeparateRounding(const Live& live, const std::vector<double>& in, Bytes capacity, Cut& cut) {
  Wide room = Wide(capacity);
  for (std::size_t k = 0; k < live.size(); ++k) {
    if (in[k] > 0.5) room -= Wide(live[k].second);
  }
  if (!(Wide(-kMaxBytes) < room)) return false;
  const auto left = static_cast<Bytes>(room);
  Rounded best{0, 0};
  double deepest = kDeep;
  for (const Bytes by : Divisors(live, in)) {
    Rounded rounded{by, 0};
    rounded.left = left - rounded.Floor(left) * by;
    if (rounded.left == 0) continue;
    // Coefficients are below bytes + by, and the limit below their sum.
    const double depth = Depth(live, in, left, rounded);
    if (depth <= deepest) continue;
    deepest = depth;
    best = rounded;
  }
  if (best.by == 0) return false;
  Wide limit = Wide(best.Floor(left)) * Wide(best.by - best.left);
  cut.terms.clear();
  Bytes largest = 0;
  for (const auto& [item, bytes] : live) largest = std::max(largest, bytes);
  std::int64_t divisor = 0;
  for (std::size_t k = 0; k < live.size(); ++k) {
    const bool turned = in[k] > 0.5;
    const Bytes c = best.Coefficient(turned ? -live[k].second : live[k].second);
    if (turned) limit -= Wide(c);
    // Far smaller ones would only spoil the numbers of the simplex method; 0 is weaker, and holds.
    if (c == 0 || (!turned && c < largest >> kMostBits)) continue;
    if (turned && -c < largest >> kMostBits) continue;
    cut.terms.emplace_back(live[k].first, turned ? -c : c);
    divisor = std::gcd(divisor, c);
  }
  if (divisor == 0 || limit < Wide(0) || !(limit < Wide(kMaxBytes))) return false;
  cut.limit = static_cast<std::int64_t>(limit) / divisor;
  for (auto& [item, coefficient] : cut.terms) coefficient /= divisor;
  std::sort(cut.terms.begin(), cut.terms.end());
  return true;
}

}  // namespace berth::internal::memories
