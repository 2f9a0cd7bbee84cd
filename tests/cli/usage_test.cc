// Help, version, and error messages for mistyped commands.
#include <filesystem>

#include "berth/place.h"
#include "tests/cli/berth_process.h"

namespace berth::cli {
namespace {

class UsageTest : public CommandTest {};

bool Contains(const std::string& text, std::string_view words) {
  return text.find(words) != std::string::npos;
}

TEST_F(UsageTest, VersionIsThatOfTheProject) {
  EXPECT_EQ(Berth({"-V"}).standard_output, "berth " BERTH_VERSION "\n");
  const ProcessResult result = Berth({"--version"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.standard_output, "berth " BERTH_VERSION "\n");
}

TEST_F(UsageTest, HelpListsEachCommandAndEachCommandHasExamples) {
  const ProcessResult all = Berth({"--help"});
  EXPECT_EQ(all.exit_code, 0);
  EXPECT_TRUE(Contains(all.standard_output, "Usage: berth COMMAND ...\n"));
  for (const std::string command : {"place", "check", "explain", "diff", "info", "generate"}) {
    EXPECT_TRUE(Contains(all.standard_output, "\n  " + command + " ")) << command;
    const ProcessResult help = Berth({command, "--help"});
    EXPECT_EQ(help.exit_code, 0);
    EXPECT_EQ(help.standard_error, "");
    EXPECT_TRUE(Contains(help.standard_output, "\nUsage: berth " + command + " ")) << command;
    EXPECT_TRUE(Contains(help.standard_output, "\nExample")) << command;
    EXPECT_TRUE(Contains(help.standard_output, "\nExit codes: 0 ")) << command;
    EXPECT_TRUE(Contains(help.standard_output, "  -h, --help ")) << command;
    EXPECT_FALSE(Contains(help.standard_output, "\x1b")) << "colour in a pipe";
  }
}

TEST_F(UsageTest, HelpOfPlaceNamesEveryAlgorithmAndOption) {
  const std::string help = Berth({"place", "--help"}).standard_output;
  EXPECT_TRUE(Contains(help, "Usage: berth place TABLE [OPTIONS]\n"));
  EXPECT_TRUE(Contains(help, "  -o, --output FILE "));
  EXPECT_TRUE(Contains(help, "      --capacity SIZE "));
  for (const AlgorithmInfo& info : Algorithms()) {
    EXPECT_TRUE(Contains(help, "\n  " + std::string(info.name) + " ")) << info.name;
  }
  EXPECT_TRUE(Contains(help, "--canonical-dominance [on|off]"));
}

TEST_F(UsageTest, HelpIsAlsoACommand) {
  EXPECT_EQ(Berth({"help"}).standard_output, Berth({"--help"}).standard_output);
  EXPECT_EQ(Berth({"help", "place"}).standard_output, Berth({"place", "--help"}).standard_output);
}

TEST_F(UsageTest, SwitchesMeanOnByThemselves) {
  const auto minimize = [this](const std::vector<std::string>& words) {
    std::vector<std::string> arguments = {"place"};
    arguments.insert(arguments.end(), words.begin(), words.end());
    for (const std::string& word : {SmallTable(), std::string("-o"), Path("plan.json")}) {
      arguments.push_back(word);
    }
    EXPECT_EQ(Berth(arguments).exit_code, 0);
    return Contains(Read(Path("plan.json")), "\"minimize\":\"on\"");
  };
  EXPECT_TRUE(minimize({"--minimize"}));
  EXPECT_TRUE(minimize({"--minimize", "on"}));
  EXPECT_FALSE(minimize({"--minimize=off"}));
  EXPECT_FALSE(minimize({"--minimize", "off"}));
}

TEST_F(UsageTest, EveryOptionIsAFlag) {
  for (const OptionInfo& info : Options()) {
    std::string flag = "--" + std::string(info.name);
    for (char& c : flag) {
      if (c == '.' || c == '_') c = '-';
    }
    std::vector<std::string> arguments = {"place", SmallTable(), flag};
    if (info.allowed != "on|off") arguments.emplace_back(info.default_value);
    EXPECT_EQ(Berth(arguments).exit_code, 0) << flag;
  }
}

TEST_F(UsageTest, MistakesAreOneLineWithACorrection) {
  const std::string table = SmallTable();
  ExpectRefused(Berth({}), "a command is missing");
  ExpectRefused(Berth({"plcae"}), "unknown command 'plcae'; did you mean 'place'?");
  ExpectRefused(Berth({"xyzzy"}), "unknown command 'xyzzy'; see berth --help");
  ExpectRefused(Berth({"place"}), "TABLE is missing; see berth place --help");
  ExpectRefused(Berth({"--verison"}), "did you mean '--version'?");
  ExpectRefused(Berth({"place", table, "--capcity", "1"}), "did you mean '--capacity'?");
  ExpectRefused(Berth({"place", table, "--capcity=1"}), "did you mean '--capacity'?");
  ExpectRefused(Berth({"place", table, "--xyzzy"}), "unknown option '--xyzzy'");
  ExpectRefused(Berth({"place", table, "second.csv"}), "unexpected argument 'second.csv'");
  ExpectRefused(Berth({"place", table, "--capacity"}), "--capacity needs a value, SIZE");
  ExpectRefused(Berth({"place", table, "--algorithm", "canonicl"}), "did you mean 'canonical'?");
  ExpectRefused(Berth({"place", table, "--canonical-dominance=maybe"}),
                "--canonical-dominance: 'maybe' is not allowed; it must be on|off");
  ExpectRefused(Berth({"place", table, "--threads", "0"}), "'0' is not allowed");
  ExpectRefused(Berth({"place", table, "--endpoints", "open"}), "'open' is not one of");
  ExpectRefused(Berth({"place", table, "--time-limit", "soon"}), "'soon' is not a duration");
  ExpectRefused(Berth({"place", table, "--node-limit", "-5"}), "'-5' is not a whole number");
  ExpectRefused(Berth({"explain", table}), "--capacity is missing");
  ExpectRefused(Berth({"place", table, "--minimize=false"}),
                "--minimize: 'false' is not allowed; it must be on|off");
  ExpectRefused(Berth({"place", table, "--algorithm", "canon"}), "did you mean 'canonical'?");
  ExpectRefused(Berth({"generate", "planted", "--seed", "-3"}),
                "--seed: '-3' is not a whole number from 0 to 18446744073709551615");
  ExpectRefused(Berth({"generate", "planted", "--buffers", "abc"}), "--buffers: 'abc' is not");
  ExpectRefused(Berth({"generate", "planted", "--capacity", "7", "--alignment", "2"}),
                "--capacity is 7 but must be a multiple");
  ExpectRefused(Berth({"help", "plcae"}), "did you mean 'place'?");
  ExpectRefused(Berth({"generate"}), "FAMILY is missing");
  ExpectRefused(Berth({"generate", "xyzzy"}), "there is no family 'xyzzy'");
  ExpectRefused(Berth({"generate", "planted", "--slack", "200"}), "200");
}

TEST_F(UsageTest, CapacityMustBeASize) {
  for (const std::string text : {"", "big", "-1", "1.5", "1ZiB", "2EiB", "1.MiB", "1.5.5MiB",
                                 "0.5B", "0x10", "1 2", "nan"}) {
    ExpectRefused(Berth({"place", SmallTable(), "--capacity=" + text}), "--capacity");
  }
}

TEST_F(UsageTest, EveryBadFileIsRefusedInOneSentenceThatNamesIt) {
  int files = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(BERTH_SOURCE_DIR "/tests/bad_input")) {
    if (entry.path().filename() == "expected.txt") continue;
    ++files;
    for (const std::string command : {"place", "info", "check"}) {
      SCOPED_TRACE(command + " " + entry.path().string());
      ExpectRefused(Berth({command, entry.path().string()}), entry.path().filename().string());
    }
  }
  EXPECT_GE(files, 20);
}

TEST_F(UsageTest, FilesThatCannotBeReadAreNamed) {
  ExpectRefused(Berth({"place", Path("nowhere.csv")}), "nowhere.csv");
  ExpectRefused(Berth({"place", testing::TempDir()}), testing::TempDir());
  ExpectRefused(Berth({"check", SmallTable(), Path("nowhere.csv")}), "nowhere.csv");
}

TEST_F(UsageTest, AFullDiskIsAnError) {
  const ProcessResult result =
      Shell("\"$BERTH\" --help > /dev/full; \"$BERTH\" info " + SmallTable() + " > /dev/full");
  EXPECT_EQ(result.exit_code, 2);
  for (const std::string words : {"--help", "place --help", "--version"}) {
    EXPECT_EQ(Shell("\"$BERTH\" " + words + " > /dev/full").exit_code, 2) << words;
  }
  EXPECT_TRUE(Contains(result.standard_error, "berth: error: standard output cannot be written"));
}

}  // namespace
}  // namespace berth::cli
