// Lifted cover inequalities, as by Gu, Nemhauser and Savelsbergh (INFORMS Journal on Computing 10(4),
// 1998): a cover of the items in the solution, of which those that are whole are set aside and lifted
// down at the end, and the others lifted up in order of their value. Lifting is exact: `lightest_[v]`
// is the fewest bytes that give a left side of v, by dynamic programming over v, which stays small
// because coefficients count items, not bytes.
#include <algorithm>
#include <limits>

#include "memories/prices.h"

namespace berth::internal::memories {
namespace {

constexpr double kWhole = 1 - 1e-6;
constexpr double kViolation = 1e-3;

class Lifting {
 public:
  // With nothing but zero items, a left side of 0 takes no bytes.
  explicit Lifting(Bytes capacity) : capacity_(capacity), lightest_{0} {}

  void Add(Bytes bytes, std::int64_t coefficient) {
    if (coefficient == 0) return;
    const auto by = static_cast<std::size_t>(coefficient);
    lightest_.resize(lightest_.size() + by, kNever);
    for (std::size_t v = lightest_.size(); v-- > by;) {
      lightest_[v] = std::min(lightest_[v], lightest_[v - by] + bytes);
    }
    // Monotone: at least v.
    for (std::size_t v = lightest_.size() - 1; v-- > 0;) {
      lightest_[v] = std::min(lightest_[v], lightest_[v + 1]);
    }
  }
  // The greatest left side within `capacity`.
  [[nodiscard]] std::int64_t Most(Bytes capacity) const {
    if (capacity < 0) return -1;
    const auto above = std::upper_bound(lightest_.begin(), lightest_.end(), capacity);
    return above - lightest_.begin() - 1;
  }
  [[nodiscard]] Bytes capacity() const { return capacity_; }
  void Grow(Bytes by) { capacity_ += by; }

 private:
  static constexpr Bytes kNever = kMaxBytes * 2;
  Bytes capacity_;
  std::vector<Bytes> lightest_;
};

using Live = std::vector<std::pair<std::size_t, Bytes>>;

// A cover: the most complete items first, large before small. Empty if all are whole, or fit.
std::vector<std::size_t> FindCover(const Live& live, const std::vector<double>& in,
                                   Bytes capacity) {
  std::vector<std::size_t> order;
  Bytes sum = 0;
  bool fractional = false;
  for (std::size_t k = 0; k < live.size(); ++k) {
    if (in[k] < 1e-6) continue;
    order.push_back(k);
    sum += live[k].second;
    fractional = fractional || in[k] < kWhole;
  }
  if (!fractional || sum <= capacity) return {};
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const bool whole_a = in[a] >= kWhole;
    const bool whole_b = in[b] >= kWhole;
    if (whole_a != whole_b) return whole_a;
    if (!whole_a) {
      // The least loss of violation for each byte covered.
      const double key_a = (1 - in[a]) * static_cast<double>(live[b].second);
      const double key_b = (1 - in[b]) * static_cast<double>(live[a].second);
      if (key_a != key_b) return key_a < key_b;
    }
    if (live[a].second != live[b].second) return live[a].second > live[b].second;
    return a < b;
  });
  std::vector<std::size_t> cover;
  Bytes bytes = 0;
  for (const std::size_t k : order) {
    cover.push_back(k);
    bytes += live[k].second;
    if (bytes > capacity) break;
  }
  return cover;
}

// Minimal: without the least complete items that it does not need. By item, 1: in the cover.
std::vector<char> MinimalCover(const Live& live, const std::vector<double>& in, Bytes capacity,
                               const std::vector<std::size_t>& cover) {
  Bytes bytes = 0;
  for (const std::size_t k : cover) bytes += live[k].second;
  std::vector<std::size_t> by_value = cover;
  std::sort(by_value.begin(), by_value.end(),
            [&](std::size_t a, std::size_t b) { return in[a] != in[b] ? in[a] < in[b] : a < b; });
  std::vector<char> role(live.size(), 0);
  for (const std::size_t k : cover) role[k] = 1;
  for (const std::size_t k : by_value) {
    if (bytes - live[k].second <= capacity) continue;
    bytes -= live[k].second;
    role[k] = 0;
  }
  return role;
}

// Those of role 0, the most complete first.
std::vector<std::size_t> OthersByValue(const Live& live, const std::vector<double>& in,
                                       const std::vector<char>& role) {
  std::vector<std::size_t> rest;
  for (std::size_t k = 0; k < live.size(); ++k) {
    if (role[k] == 0) rest.push_back(k);
  }
  std::sort(rest.begin(), rest.end(), [&](std::size_t a, std::size_t b) {
    if (in[a] != in[b]) return in[a] > in[b];
    if (live[a].second != live[b].second) return live[a].second > live[b].second;
    return a < b;
  });
  return rest;
}

// False if the solution does not violate it by enough.
bool MakeCut(const Live& live, const std::vector<double>& in,
             const std::vector<std::int64_t>& coefficient, std::int64_t limit, Cut& cut) {
  double left_side = 0;
  std::int64_t largest = 0;
  for (std::size_t k = 0; k < live.size(); ++k) {
    left_side += static_cast<double>(coefficient[k]) * in[k];
    largest = std::max(largest, coefficient[k]);
  }
  if (limit <= 0) return false;
  if (left_side - static_cast<double>(limit) < kViolation * static_cast<double>(limit))
    return false;
  cut.limit = limit;
  cut.terms.clear();
  for (std::size_t k = 0; k < live.size(); ++k) {
    if (coefficient[k] > 0) cut.terms.emplace_back(live[k].first, coefficient[k]);
  }
  std::sort(cut.terms.begin(), cut.terms.end());
  return true;
}

}  // namespace

bool SeparateCover(const std::vector<std::pair<std::size_t, Bytes>>& live,
                   const std::vector<double>& in, Bytes capacity, Cut& cut) {
  const std::vector<std::size_t> cover = FindCover(live, in, capacity);
  if (cover.empty()) return false;
  // 1: in the cover, 2: whole and set aside.
  std::vector<char> role = MinimalCover(live, in, capacity, cover);
  std::vector<std::size_t> aside;
  std::vector<std::size_t> kernel;
  Bytes left = capacity;
  for (const std::size_t k : cover) {
    if (role[k] == 0) continue;
    if (in[k] >= kWhole) {
      role[k] = 2;
      aside.push_back(k);
      left -= live[k].second;
    } else {
      kernel.push_back(k);
    }
  }
  if (kernel.empty()) return false;
  // One item alone says that it does not fit beside those set aside: as good a cover as any.
  std::vector<std::int64_t> coefficient(live.size(), 0);
  Lifting lifting(left);
  std::int64_t limit = static_cast<std::int64_t>(kernel.size()) - 1;
  for (const std::size_t k : kernel) {
    coefficient[k] = 1;
    lifting.Add(live[k].second, 1);
  }
  const auto lift_up = [&](std::size_t k) {
    const std::int64_t most = lifting.Most(lifting.capacity() - live[k].second);
    // Does not fit at all while others are set aside: any coefficient would do.
    coefficient[k] = std::max<std::int64_t>(0, limit - std::max<std::int64_t>(most, -1));
    if (most < 0) coefficient[k] = limit + (limit == 0 ? 1 : 0);
    lifting.Add(live[k].second, coefficient[k]);
  };
  // In between, then those set aside, then those that are out.
  const std::vector<std::size_t> rest = OthersByValue(live, in, role);
  std::size_t r = 0;
  for (; r < rest.size() && in[rest[r]] > 1e-6 && in[rest[r]] < kWhole; ++r) lift_up(rest[r]);
  for (const std::size_t k : aside) {
    // With this item free, how much more could the left side be?
    lifting.Grow(live[k].second);
    const std::int64_t most = lifting.Most(lifting.capacity());
    const std::int64_t gain = std::max<std::int64_t>(0, most - limit);
    coefficient[k] = gain;
    limit += gain;
    lifting.Add(live[k].second, gain);
  }
  for (; r < rest.size(); ++r) lift_up(rest[r]);
  return MakeCut(live, in, coefficient, limit, cut);
}

}  // namespace berth::internal::memories
