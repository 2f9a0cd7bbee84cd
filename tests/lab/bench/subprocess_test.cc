#include "tools/lab/bench/subprocess.h"

#include <gtest/gtest.h>

namespace berth::lab {
namespace {

using Words = std::vector<std::string>;

TEST(SplitCommandTest, QuotesAsAShellDoes) {
  EXPECT_EQ(*SplitCommand("a b"), (Words{"a", "b"}));
  EXPECT_EQ(*SplitCommand("  a \t b\n"), (Words{"a", "b"}));
  EXPECT_EQ(*SplitCommand("a 'b c' \"d e\""), (Words{"a", "b c", "d e"}));
  EXPECT_EQ(*SplitCommand("a b\\ c --x='1 2'"), (Words{"a", "b c", "--x=1 2"}));
  EXPECT_EQ(*SplitCommand("a '' \"\""), (Words{"a", "", ""}));
  EXPECT_EQ(*SplitCommand(R"(a "b\"c" 'd\e')"), (Words{"a", "b\"c", "d\\e"}));
  EXPECT_EQ(*SplitCommand("a $HOME `b` $(c) ; d | e > f * ~"),
            (Words{"a", "$HOME", "`b`", "$(c)", ";", "d", "|", "e", ">", "f", "*", "~"}));
}

TEST(SplitCommandTest, RefusesWhatIsNoCommand) {
  EXPECT_FALSE(SplitCommand("").has_value());
  EXPECT_FALSE(SplitCommand("  ").has_value());
  EXPECT_FALSE(SplitCommand("''").has_value());
  const auto open = SplitCommand("a 'b");
  ASSERT_FALSE(open.has_value());
  EXPECT_NE(open.error().message.find("never closes"), std::string::npos);
}

TEST(RunProcessTest, GivesOutputAndExitCode) {
  const ProcessResult result = RunProcess({"sh", "-c", "echo out; echo err >&2; exit 7"}, 60);
  EXPECT_EQ(result.exit_code, 7);
  EXPECT_EQ(result.standard_output, "out\n");
  EXPECT_EQ(result.standard_error, "err\n");
  EXPECT_FALSE(result.timed_out);
  EXPECT_GT(result.seconds, 0);
}

TEST(RunProcessTest, TellsDeathsApart) {
  EXPECT_EQ(RunProcess({"sh", "-c", "kill -9 $$"}, 60).signal, 9);
  EXPECT_TRUE(RunProcess({"/no/such/program"}, 60).not_started.has_value());
  // The shell waits for its child, which the limit must end as well: it holds a file open that the
  // parent reads to its end.
  const ProcessResult slow = RunProcess({"sh", "-c", "echo begun; sleep 600; echo ended"}, 0.5);
  EXPECT_TRUE(slow.timed_out);
  EXPECT_EQ(slow.exit_code, std::nullopt);
  EXPECT_EQ(slow.standard_output, "begun\n");
}

TEST(RunProcessTest, IsNotHeldUpByMuchOutput) {
  const ProcessResult result = RunProcess({"sh", "-c", "yes | head -c 3000000"}, 60);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.standard_output.size(), 3000000u);
}

}  // namespace
}  // namespace berth::lab
