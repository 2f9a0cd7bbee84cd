// Sizes as people write them.

#include "berth/bytes.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/arithmetic.h"
#include "base/text.h"

namespace berth {
namespace {

using internal::CheckedAdd;
using internal::CheckedMul;

struct Unit {
  std::string_view name;
  Bytes bytes;
};
// Largest first.
constexpr Unit kBinaryUnits[] = {
    {"EiB", Bytes{1} << 60}, {"PiB", Bytes{1} << 50}, {"TiB", Bytes{1} << 40},
    {"GiB", Bytes{1} << 30}, {"MiB", Bytes{1} << 20}, {"KiB", Bytes{1} << 10},
};
constexpr Unit kOtherUnits[] = {
    {"", 1},
    {"B", 1},
    {"kB", 1'000},
    {"MB", 1'000'000},
    {"GB", 1'000'000'000},
    {"TB", 1'000'000'000'000},
    {"PB", 1'000'000'000'000'000},
};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool SameWord(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; };
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (lower(a[i]) != lower(b[i])) return false;
  }
  return true;
}

std::optional<Bytes> BytesOfUnit(std::string_view name) {
  for (const Unit& unit : kOtherUnits) {
    if (SameWord(name, unit.name)) return unit.bytes;
  }
  for (const Unit& unit : kBinaryUnits) {
    // "K" by itself is a kibibyte, as to linkers, compilers and most tools that size memory.
    if (SameWord(name, unit.name) || SameWord(name, unit.name.substr(0, 1))) return unit.bytes;
  }
  return std::nullopt;
}

// Takes the digits at the beginning of `text`; no digits read as zero.
std::optional<Bytes> TakeNumber(std::string_view& text) {
  std::size_t length = 0;
  while (length < text.size() && IsDigit(text[length])) ++length;
  Bytes value = 0;
  const auto result = std::from_chars(text.data(), text.data() + length, value);
  text.remove_prefix(length);
  if (result.ec == std::errc::result_out_of_range) return std::nullopt;
  return value;
}

std::string WithoutTrailingZeros(std::string digits) {
  while (!digits.empty() && digits.back() == '0') digits.pop_back();
  return digits;
}

}  // namespace

std::optional<Bytes> ParseBytes(std::string_view text) {
  if (text.empty() || !IsDigit(text[0])) return std::nullopt;
  const auto whole = TakeNumber(text);
  if (!whole) return std::nullopt;

  Bytes numerator = 0;
  Bytes denominator = 1;
  if (!text.empty() && text[0] == '.') {
    text.remove_prefix(1);
    std::size_t length = 0;
    while (length < text.size() && IsDigit(text[length])) ++length;
    if (length == 0) return std::nullopt;
    // 18 digits fit in 64 bits. Longer fractions, of bytes in TiB and above, are not accepted.
    const std::string digits = WithoutTrailingZeros(std::string(text.substr(0, length)));
    if (digits.size() > 18) return std::nullopt;
    std::string_view rest = digits;
    numerator = *TakeNumber(rest);
    for (std::size_t i = 0; i < digits.size(); ++i) denominator *= 10;
    text.remove_prefix(length);
  }
  if (text.size() > 1 && text[0] == ' ') text.remove_prefix(1);

  const auto unit = BytesOfUnit(text);
  if (!unit) return std::nullopt;
  const Bytes common = std::gcd(numerator, denominator);
  numerator /= common;
  denominator /= common;
  if (*unit % denominator != 0) return std::nullopt;
  const auto of_whole = CheckedMul(*whole, *unit);
  const auto of_fraction = CheckedMul(numerator, *unit / denominator);
  if (!of_whole || !of_fraction) return std::nullopt;
  const auto bytes = CheckedAdd(*of_whole, *of_fraction);
  if (!bytes || *bytes > kMaxBytes) return std::nullopt;
  return bytes;
}

std::optional<Bytes> ParseBandwidth(std::string_view text) {
  if (!text.ends_with("/s")) return std::nullopt;
  text.remove_suffix(2);
  const auto bytes = ParseBytes(text);
  return bytes && *bytes > 0 ? bytes : std::nullopt;
}

std::optional<std::int64_t> ParsePercentage(std::string_view text) {
  constexpr std::size_t kDecimals = 4;                              // A millionth is 0.0001 %.
  constexpr std::int64_t kMost = std::int64_t{1'000'000} * 10'000;  // A million per cent.
  if (!text.ends_with('%')) return std::nullopt;
  text.remove_suffix(1);
  const std::size_t point = std::min(text.find('.'), text.size());
  std::string digits(text.substr(0, point));
  const std::string_view decimals = text.substr(std::min(point + 1, text.size()));
  if (point == 0 || decimals.size() > kDecimals || (point < text.size() && decimals.empty())) {
    return std::nullopt;
  }
  digits += decimals;
  digits.append(kDecimals - decimals.size(), '0');
  std::string_view rest = digits;
  const auto value = TakeNumber(rest);
  if (!value || !rest.empty() || *value > kMost) return std::nullopt;
  return value;
}

std::string FormatPercentage(std::int64_t millionths) {
  constexpr std::int64_t kOne = 10'000;  // A per cent.
  std::string decimals = std::to_string(kOne + millionths % kOne).substr(1);
  decimals = WithoutTrailingZeros(std::move(decimals));
  return std::to_string(millionths / kOne) + (decimals.empty() ? "" : "." + decimals) + "%";
}

std::string FormatBytes(Bytes bytes) {
  const std::string sign = bytes < 0 ? "-" : "";
  const auto unsigned_bytes = static_cast<std::uint64_t>(bytes);
  const std::uint64_t magnitude = bytes < 0 ? 0 - unsigned_bytes : unsigned_bytes;
  if (magnitude < 1024) return sign + std::to_string(magnitude) + " B";

  // The largest unit that the bytes reach. Of exbibytes two decimals are shown at most, which is
  // where the products below would not fit: there the lowest ten bits only tell whether they are 0.
  std::size_t u = 0;
  while (magnitude < static_cast<std::uint64_t>(kBinaryUnits[u].bytes)) ++u;
  for (;; --u) {
    const int dropped = u == 0 ? 10 : 0;
    const std::uint64_t unit = static_cast<std::uint64_t>(kBinaryUnits[u].bytes) >> dropped;
    const std::uint64_t whole = (magnitude >> dropped) / unit;
    const std::uint64_t rest = (magnitude >> dropped) % unit;
    const bool exact = (magnitude & ((std::uint64_t{1} << dropped) - 1)) == 0;
    const std::size_t decimals = whole >= 100 ? 0 : whole >= 10 ? 1 : 2;
    const std::uint64_t scale = decimals == 0 ? 1 : decimals == 1 ? 10 : 100;
    const std::uint64_t rounded = whole * scale + (rest * scale + unit / 2) / unit;
    if (rounded >= 1024 * scale && u > 0) continue;  // Rounds up to one of the next unit.

    std::string digits = std::to_string(rounded % scale);
    digits.insert(0, decimals - std::min(decimals, digits.size()), '0');
    if (exact && rest * scale % unit == 0) digits = WithoutTrailingZeros(std::move(digits));
    const std::string fraction = decimals == 0 || digits.empty() ? "" : "." + digits;
    return sign + std::to_string(rounded / scale) + fraction + " " +
           std::string(kBinaryUnits[u].name);
  }
}

std::string FormatBytesExactly(Bytes bytes) {
  if (-1024 < bytes && bytes < 1024) return FormatBytes(bytes);
  return FormatBytes(bytes) + " (" + internal::Grouped(bytes) + " bytes)";
}

}  // namespace berth
