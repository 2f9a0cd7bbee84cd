#include "report/text.h"

#include <gtest/gtest.h>

#include <limits>

namespace berth::internal::report {
namespace {

TEST(TextTest, EscapesMarkup) {
  EXPECT_EQ(EscapeXml("</script> & \"a\" 'b'"), "&lt;/script&gt; &amp; &quot;a&quot; &#39;b&#39;");
}

TEST(TextTest, MakesVisibleWhatXmlForbids) {
  EXPECT_EQ(EscapeXml(std::string_view("a\0b\n\x1b\x7f", 6)), "a\u2400b\u240a\u241b\u2421");
  EXPECT_EQ(EscapeXml("\xef\xbf\xbe"), "\ufffd");  // U+FFFE.
  EXPECT_EQ(EscapeXml("a\u202eb"), "a\ufffdb");    // Right-to-left override.
}

TEST(TextTest, ReplacesBrokenUtf8AndKeepsTheRest) {
  EXPECT_EQ(EscapeXml("\xff"), "\ufffd");
  EXPECT_EQ(EscapeXml("a\xc3"), "a\ufffd");                    // Cut short.
  EXPECT_EQ(EscapeXml("\xc0\xaf"), "\ufffd\ufffd");            // Overlong.
  EXPECT_EQ(EscapeXml("\xe0\x80\xaf"), "\ufffd\ufffd\ufffd");  // Overlong.
  EXPECT_EQ(EscapeXml("\xed\xa0\x80"), "\ufffd\ufffd\ufffd");  // A surrogate.
  EXPECT_EQ(EscapeXml("\xf5\x80\x80\x80"), "\ufffd\ufffd\ufffd\ufffd");
  EXPECT_EQ(EscapeXml("Größe 大小 🙂"), "Größe 大小 🙂");
}

TEST(TextTest, TruncatesInTheMiddleAtCodePoints) {
  EXPECT_EQ(Truncate("layer12", 7), "layer12");
  EXPECT_EQ(Truncate("layer12.weights", 7), "lay…hts");
  EXPECT_EQ(Truncate("layer12.weights", 6), "lay…ts");
  EXPECT_EQ(Truncate("ab", 1), "…");
  EXPECT_EQ(Truncate("abc", 2), "a…");
  EXPECT_EQ(Truncate("ö大🙂ö大🙂", 5), "ö大…大🙂");
  EXPECT_EQ(Truncate("", 3), "");
}

TEST(TextTest, WritesNumbers) {
  EXPECT_EQ(Tenths(0), "0");
  EXPECT_EQ(Tenths(120), "12");
  EXPECT_EQ(Tenths(123), "12.3");
  EXPECT_EQ(Tenths(-5), "-0.5");
  EXPECT_EQ(Tenths(-123), "-12.3");
  EXPECT_EQ(Grouped(0), "0");
  EXPECT_EQ(Grouped(999), "999");
  EXPECT_EQ(Grouped(1000), "1,000");
  EXPECT_EQ(Grouped(-999), "-999");
  EXPECT_EQ(Grouped(-1234567), "-1,234,567");
  EXPECT_EQ(Grouped(std::numeric_limits<std::int64_t>::min()), "-9,223,372,036,854,775,808");
}

TEST(TextTest, GuessesWidths) {
  EXPECT_EQ(WidthOf(""), 0);
  EXPECT_LT(WidthOf("ill"), WidthOf("abc"));
  EXPECT_LT(WidthOf("abc"), WidthOf("大小大"));
}

}  // namespace
}  // namespace berth::internal::report
