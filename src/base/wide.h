// base/wide.h -- whole numbers of 128 bits: bytes times steps need not fit in 64.
//
// Wide is the compiler's own type where it has one, as on every 64-bit target. Elsewhere it is
// TwoWords, which uses two 64-bit integers and is about ten times slower.
#ifndef BERTH_BASE_WIDE_H_
#define BERTH_BASE_WIDE_H_

#include <compare>
#include <concepts>
#include <cstdint>

namespace berth::internal {

// A number in two's complement. Sums, differences and products wrap around; a quotient is rounded
// towards zero.
class TwoWords {
 public:
  constexpr TwoWords() = default;
  template <std::integral T>
  constexpr TwoWords(T value)  // NOLINT(google-explicit-constructor): as between built-in numbers.
      : high_(value < T{0} ? -1 : 0), low_(static_cast<std::uint64_t>(value)) {}

  // The low bits alone, as a conversion between built-in numbers.
  template <std::integral T>
  [[nodiscard]] explicit constexpr operator T() const {
    return static_cast<T>(low_);
  }

  friend constexpr TwoWords operator+(TwoWords a, TwoWords b) {
    const std::uint64_t low = a.low_ + b.low_;
    return {Word(a) + Word(b) + (low < a.low_ ? 1 : 0), low};
  }
  constexpr TwoWords operator-() const { return TwoWords(~Word(*this), ~low_) + 1; }
  friend constexpr TwoWords operator-(TwoWords a, TwoWords b) { return a + -b; }
  friend constexpr TwoWords operator*(TwoWords a, TwoWords b) {
    TwoWords product = Product(a.low_, b.low_);
    return {Word(product) + Word(a) * b.low_ + a.low_ * Word(b), product.low_};
  }
  // Not by zero.
  friend constexpr TwoWords operator/(TwoWords a, TwoWords b) {
    const TwoWords quotient = Quotient(a.high_ < 0 ? -a : a, b.high_ < 0 ? -b : b);
    return (a.high_ < 0) == (b.high_ < 0) ? quotient : -quotient;
  }
  // By 0 to 127 bits.
  constexpr TwoWords operator<<(int bits) const {
    if (bits == 0) return *this;
    if (bits >= 64) return {low_ << (bits - 64), 0};
    return {Word(*this) << bits | low_ >> (64 - bits), low_ << bits};
  }
  // By 0 to 127 bits, rounding down.
  constexpr TwoWords operator>>(int bits) const {
    if (bits == 0) return *this;
    if (bits >= 64) return high_ >> (bits - 64);
    return {static_cast<std::uint64_t>(high_ >> bits), Word(*this) << (64 - bits) | low_ >> bits};
  }
  constexpr TwoWords& operator+=(TwoWords other) { return *this = *this + other; }
  constexpr TwoWords& operator-=(TwoWords other) { return *this = *this - other; }

  friend constexpr auto operator<=>(const TwoWords&, const TwoWords&) = default;

 private:
  constexpr TwoWords(std::uint64_t high, std::uint64_t low)
      : high_(static_cast<std::int64_t>(high)), low_(low) {}

  static constexpr std::uint64_t Word(const TwoWords& number) {
    return static_cast<std::uint64_t>(number.high_);
  }

  // By half-words: schoolbook multiplication.
  static constexpr TwoWords Product(std::uint64_t a, std::uint64_t b) {
    constexpr std::uint64_t kHalf = 0xffffffffu;
    const std::uint64_t first = (a & kHalf) * (b & kHalf);
    const std::uint64_t second = (a >> 32) * (b & kHalf) + (first >> 32);
    const std::uint64_t third = (a & kHalf) * (b >> 32) + (second & kHalf);
    return {(a >> 32) * (b >> 32) + (second >> 32) + (third >> 32), third << 32 | (first & kHalf)};
  }

  // Bit by bit, of magnitudes; 2^127, which is its own negative, counts as unsigned.
  static constexpr TwoWords Quotient(TwoWords a, TwoWords b) {
    TwoWords quotient = 0;
    TwoWords rest = 0;
    for (int bit = 127; bit >= 0; --bit) {
      const std::uint64_t word = bit >= 64 ? Word(a) : a.low_;
      rest = (rest << 1) + (word >> (bit % 64) & 1);
      quotient = quotient << 1;
      if (Word(rest) > Word(b) || (Word(rest) == Word(b) && rest.low_ >= b.low_)) {
        rest -= b;
        quotient += 1;
      }
    }
    return quotient;
  }

  std::int64_t high_ = 0;
  std::uint64_t low_ = 0;
};

#ifdef __SIZEOF_INT128__
__extension__ using Wide = __int128;
#else
using Wide = TwoWords;
#endif

}  // namespace berth::internal

#endif  // BERTH_BASE_WIDE_H_
