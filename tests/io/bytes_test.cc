#include <gtest/gtest.h>

#include <optional>

#include "base/random.h"
#include "berth/io.h"

namespace berth {
namespace {

TEST(ParseBytesTest, KnowsUnits) {
  EXPECT_EQ(ParseBytes("0"), 0);
  EXPECT_EQ(ParseBytes("1048576"), 1048576);
  EXPECT_EQ(ParseBytes("1048576B"), 1048576);
  EXPECT_EQ(ParseBytes("512KiB"), 512 * 1024);
  EXPECT_EQ(ParseBytes("1MiB"), 1 << 20);
  EXPECT_EQ(ParseBytes("1.5GiB"), Bytes{3} << 29);
  EXPECT_EQ(ParseBytes("2TiB"), Bytes{2} << 40);
  EXPECT_EQ(ParseBytes("3PiB"), Bytes{3} << 50);
  EXPECT_EQ(ParseBytes("1EiB"), kMaxBytes);
  EXPECT_EQ(ParseBytes("64kB"), 64'000);
  EXPECT_EQ(ParseBytes("64KB"), 64'000);
  EXPECT_EQ(ParseBytes("1.25MB"), 1'250'000);
  EXPECT_EQ(ParseBytes("7GB"), 7'000'000'000);
  EXPECT_EQ(ParseBytes("7TB"), 7'000'000'000'000);
  EXPECT_EQ(ParseBytes("7PB"), 7'000'000'000'000'000);
  EXPECT_EQ(ParseBytes("12 kib"), 12 * 1024);
  EXPECT_EQ(ParseBytes("4K"), 4096);
  EXPECT_EQ(ParseBytes("4k"), 4096);
  EXPECT_EQ(ParseBytes("1.5M"), 3 << 19);
  EXPECT_EQ(ParseBytes("1g"), 1 << 30);
}

TEST(ParseBytesTest, TakesWholeBytesOnly) {
  EXPECT_EQ(ParseBytes("0.0009765625KiB"), 1);
  EXPECT_EQ(ParseBytes("1.500B"), std::nullopt);
  EXPECT_EQ(ParseBytes("1.000B"), 1);
  EXPECT_EQ(ParseBytes("1.0001KiB"), std::nullopt);
  EXPECT_EQ(ParseBytes("0.1MiB"), std::nullopt);
  EXPECT_EQ(ParseBytes("0.1MB"), 100'000);
  EXPECT_EQ(ParseBytes("1.00000000000000000000000000000000KiB"), 1024);
  EXPECT_EQ(ParseBytes("1.00000000000000000000000000000001KiB"), std::nullopt);
}

TEST(ParseBytesTest, RefusesEverythingElse) {
  for (const char* text :
       {"",      " ",  "KiB", "-1",     "+1",     "1e3",   "0x10", "1.",  ".5KiB",  "1..5KiB",
        "1kb/s", " 1", "1 ",  "1  KiB", "1,5KiB", "1KiBB", "nan",  "1\n", "1KiB 2", "１"}) {
    EXPECT_EQ(ParseBytes(text), std::nullopt) << '"' << text << '"';
  }
  EXPECT_EQ(ParseBytes(std::string_view("1\0", 2)), std::nullopt);
}

TEST(ParseBytesTest, StaysWithinTheLimit) {
  EXPECT_EQ(ParseBytes("1152921504606846976"), kMaxBytes);
  EXPECT_EQ(ParseBytes("1152921504606846977"), std::nullopt);
  EXPECT_EQ(ParseBytes("1.1EiB"), std::nullopt);
  EXPECT_EQ(ParseBytes("1025PiB"), std::nullopt);
  EXPECT_EQ(ParseBytes("9223372036854775808"), std::nullopt);
  EXPECT_EQ(ParseBytes("18446744073709551617"), std::nullopt);
  EXPECT_EQ(ParseBytes("9007199254740993KiB"), std::nullopt);
}

TEST(FormatBytesTest, ExactWhereThreeDigitsAreEnough) {
  EXPECT_EQ(FormatBytes(0), "0 B");
  EXPECT_EQ(FormatBytes(1023), "1023 B");
  EXPECT_EQ(FormatBytes(1024), "1 KiB");
  EXPECT_EQ(FormatBytes(1536), "1.5 KiB");
  EXPECT_EQ(FormatBytes(3 << 19), "1.5 MiB");
  EXPECT_EQ(FormatBytes(5 << 18), "1.25 MiB");
  EXPECT_EQ(FormatBytes(100 << 20), "100 MiB");
  EXPECT_EQ(FormatBytes(1023 << 10), "1023 KiB");
  EXPECT_EQ(FormatBytes(kMaxBytes), "1 EiB");
  EXPECT_EQ(FormatBytes(kMaxBytes + 1), "1.00 EiB");
  EXPECT_EQ(FormatBytes(kMaxBytes / 1024), "1 PiB");
  EXPECT_EQ(FormatBytes(-1536), "-1.5 KiB");
}

TEST(FormatBytesTest, RoundsToThreeDigits) {
  EXPECT_EQ(FormatBytes(1025), "1.00 KiB");
  EXPECT_EQ(FormatBytes(123'456), "121 KiB");
  EXPECT_EQ(FormatBytes(12'345), "12.1 KiB");
  EXPECT_EQ(FormatBytes(123'456'789), "118 MiB");
  EXPECT_EQ(FormatBytes((1 << 20) - 1), "1.00 MiB");
  EXPECT_EQ(FormatBytes((1 << 30) - 1), "1.00 GiB");
  EXPECT_EQ(FormatBytes((10 << 20) + 1), "10.0 MiB");
  EXPECT_EQ(FormatBytes((Bytes{1} << 60) - 1), "1.00 EiB");
  EXPECT_EQ(FormatBytes(INT64_MAX), "8.00 EiB");
  EXPECT_EQ(FormatBytes(INT64_MIN), "-8 EiB");
}

TEST(FormatBytesTest, ReadsBackWithinHalfOfTheLastDigit) {
  internal::Random random(1);
  for (int i = 0; i < 10000; ++i) {
    const Bytes bytes = random.Uniform(0, kMaxBytes >> random.Uniform(11, 60));
    const std::string text = FormatBytes(bytes);
    const auto [whole, unit] = std::pair(std::stod(text), text.substr(text.find(' ') + 1));
    const double scale = static_cast<double>(*ParseBytes("1" + unit));
    EXPECT_NEAR(whole * scale, static_cast<double>(bytes), static_cast<double>(bytes) * 0.00501)
        << bytes << " " << text;
  }
}

TEST(PercentageTest, InMillionths) {
  EXPECT_EQ(ParsePercentage("2%"), 20'000);
  EXPECT_EQ(ParsePercentage("0.05%"), 500);
  EXPECT_EQ(ParsePercentage("0.0001%"), 1);
  EXPECT_EQ(ParsePercentage("1000000%"), 10'000'000'000);
  EXPECT_EQ(ParsePercentage("0%"), 0);
  for (const char* bad : {"", "%", "2", "2 %", ".5%", "1.%", "-1%", "+1%", "0.00001%", "1000001%",
                          "99999999999999999999%", "1e3%", "2%%", "two%"}) {
    EXPECT_EQ(ParsePercentage(bad), std::nullopt) << bad;
  }
  for (const std::int64_t millionths : {0, 1, 10, 500, 1000, 10'000, 12'345, 1'000'000}) {
    EXPECT_EQ(ParsePercentage(FormatPercentage(millionths)), millionths);
  }
  EXPECT_EQ(FormatPercentage(1000), "0.1%");
  EXPECT_EQ(FormatPercentage(20'000), "2%");
}

TEST(HashTest, IsFnv1a64) {
  // The test vectors of the function's authors (http://www.isthe.com/chongo/tech/comp/fnv/).
  EXPECT_EQ(HashOf(""), "fnv1a64:cbf29ce484222325");
  EXPECT_EQ(HashOf("a"), "fnv1a64:af63dc4c8601ec8c");
  EXPECT_EQ(HashOf("foobar"), "fnv1a64:85944171f73967e8");
}

}  // namespace
}  // namespace berth
