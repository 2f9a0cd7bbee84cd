// The parts of the command that can be tested without a process.
#include <gtest/gtest.h>

#include "berth/file.h"
#include "tools/berth/command.h"
#include "tools/berth/flags.h"
#include "tools/berth/help.h"
#include "tools/berth/terminal.h"

namespace berth::cli {
namespace {

using Words = std::vector<std::string>;

TEST(DurationTest, ReadsUnits) {
  EXPECT_EQ(ParseDuration("10"), 10);
  EXPECT_EQ(ParseDuration("1.5"), 1.5);
  EXPECT_EQ(ParseDuration("10s"), 10);
  EXPECT_EQ(ParseDuration("500ms"), 0.5);
  EXPECT_EQ(ParseDuration("2m"), 120);
  EXPECT_EQ(ParseDuration("1.5h"), 5400);
  EXPECT_EQ(ParseDuration("0"), 0);
}

TEST(DurationTest, RejectsInvalidDurations) {
  for (const char* text : {"", "s", "-1", "1x", "1 0", "nan", "inf", "1e400", "ten", "1s2"}) {
    EXPECT_EQ(ParseDuration(text), std::nullopt) << text;
  }
}

TEST(NearestTest, CorrectsButDoesNotGuess) {
  const Words known = {"--capacity", "--minimize", "--svg"};
  EXPECT_EQ(Nearest("--capcity", known), "--capacity");
  EXPECT_EQ(Nearest("--minimise", known), "--minimize");
  EXPECT_EQ(Nearest("--svgg", known), "--svg");
  EXPECT_EQ(Nearest("canon", {"auto", "canonical"}), "canonical") << "the beginning of a word";
  EXPECT_EQ(Nearest("--x", known), "") << "dashes are no likeness";
  EXPECT_EQ(Nearest("--abc", known), "");
  EXPECT_EQ(Nearest("bex", {"box", "beg"}), "beg") << "the longer common beginning";
  EXPECT_EQ(Nearest("--nonsense-of-all-kinds", known), "");
}

TEST(TextTest, FormatsNumbersForPeople) {
  EXPECT_EQ(FormatCount(0), "0");
  EXPECT_EQ(FormatCount(999), "999");
  EXPECT_EQ(FormatCount(1048576), "1,048,576");
  EXPECT_EQ(FormatCount(-1000), "-1,000");
  EXPECT_EQ(FormatSeconds(0.00038), "0.38 ms");
  EXPECT_EQ(FormatSeconds(0.0123), "12.3 ms");
  EXPECT_EQ(FormatSeconds(1.25), "1.25 s");
  EXPECT_EQ(FormatSeconds(125), "2 min 5 s");
  EXPECT_EQ(FormatPercent(0), "0 %");
  EXPECT_EQ(FormatPercent(0.0312), "3.1 %");
  EXPECT_EQ(FormatPercent(0.000001), "< 0.1 %");
  EXPECT_EQ(FormatPercentUp(0), "0 %");
  EXPECT_EQ(FormatPercentUp(0.02), "2.0 %");
  EXPECT_EQ(FormatPercentUp(0.02001), "2.1 %");
  EXPECT_EQ(FormatPercentUp(0.000001), "0.1 %");
  EXPECT_EQ(FormatBytesExactly(23), "23 B");
  EXPECT_EQ(FormatBytesExactly(1024), "1 KiB (1,024 bytes)");
  EXPECT_EQ(FormatBytesApart({2048, 1024}), (Words{"2 KiB", "1 KiB"}));
  EXPECT_EQ(FormatBytesApart({1048577, 1048578}), (Words{"1,048,577 bytes", "1,048,578 bytes"}));
  EXPECT_EQ(Plural(1, "buffer"), "1 buffer");
  EXPECT_EQ(Plural(2000, "buffer"), "2,000 buffers");
}

TEST(TextTest, WordsForAShellAreQuotedWhereTheyMustBe) {
  EXPECT_EQ(ShellWord("dir/a-b.csv"), "dir/a-b.csv");
  EXPECT_EQ(ShellWord("my table.csv"), "'my table.csv'");
  EXPECT_EQ(ShellWord("it's;rm"), "'it'\\''s;rm'");
  EXPECT_EQ(ShellWord(""), "''");
}

TEST(TextTest, GapIsRelativeToTheBound) {
  EXPECT_EQ(Gap(110, 100), 0.1);
  EXPECT_EQ(Gap(100, 100), 0);
  EXPECT_EQ(Gap(0, 0), 0);
}

TEST(TextTest, NothingFromAFileControlsTheTerminal) {
  EXPECT_EQ(OneLine("a\nb\t\x1b[31m\x7f"), "a\\nb\\t\\x1b[31m\\x7f");
  EXPECT_EQ(OneLine("gr\xc3\xb6\xc3\x9f"), "gr\xc3\xb6\xc3\x9f");
}

TEST(TextTest, WrapsAtTheWidthAndIndents) {
  EXPECT_EQ(Wrap("aa bb cc dd", 7, 2), "aa bb\n  cc dd");
  EXPECT_EQ(Wrap("averylongword x", 6, 2), "averylongword\n  x");
}

TEST(TextTest, AlignsColumnsByWhatIsSeen) {
  TextTable table({TextTable::Align::kLeft, TextTable::Align::kRight});
  table.AddRow({"name", "n"});
  table.AddRow(
      {"gr\xc3\xb6\xc3\x9f"
       "er",
       "12"});
  table.AddRow({"x", "345"});
  EXPECT_EQ(table.ToString(),
            "  name      n\n  gr\xc3\xb6\xc3\x9f"
            "er   12\n  x       345\n");
}

TEST(OptionsTest, DocumentationIsUpToDate) {
  const auto text = ReadFile(BERTH_SOURCE_DIR "/docs/options.md");
  ASSERT_TRUE(text.has_value()) << text.error().message;
  EXPECT_EQ(*text, OptionsMarkdown()) << "write it anew: berth options > docs/options.md";
}

}  // namespace
}  // namespace berth::cli
