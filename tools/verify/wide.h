// tools/verify/wide.h -- sums of 64-bit numbers, exact.
//
// An offset may be any 64-bit number, so the top of a buffer may need more bits; and not every
// compiler has integers of 128. The planner's own (src/base/wide.h) would be shared code.
#ifndef BERTH_TOOLS_VERIFY_WIDE_H_
#define BERTH_TOOLS_VERIFY_WIDE_H_

#include <compare>
#include <cstdint>

namespace berth::verify {

// In two's complement.
class Wide {
 public:
  // Implicitly, as between built-in numbers.
  constexpr Wide(std::int64_t value = 0)
      : high_(value < 0 ? -1 : 0), low_(static_cast<std::uint64_t>(value)) {}

  // Of a number that fits.
  explicit constexpr operator std::int64_t() const { return static_cast<std::int64_t>(low_); }

  constexpr Wide& operator+=(const Wide& other) {
    low_ += other.low_;
    high_ += other.high_ + (low_ < other.low_ ? 1 : 0);
    return *this;
  }
  friend constexpr Wide operator+(Wide a, const Wide& b) { return a += b; }
  friend constexpr auto operator<=>(const Wide&, const Wide&) = default;

 private:
  std::int64_t high_;
  std::uint64_t low_;
};

}  // namespace berth::verify

#endif  // BERTH_TOOLS_VERIFY_WIDE_H_
