// The command line of berth-lab: help, mistakes, and that none of it is in berth.
#include <filesystem>
#include <string>
#include <vector>

#include "tests/lab/lab_process.h"

namespace berth::lab {
namespace {

class LabUsageTest : public cli::CommandTest {};

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(LabUsageTest, HelpListsEachCommandAndItsExamples) {
  EXPECT_EQ(Lab({"--version"}).standard_output, "berth-lab " BERTH_VERSION "\n");
  const ProcessResult all = Lab({"--help"});
  EXPECT_EQ(all.exit_code, 0);
  EXPECT_TRUE(Contains(all.standard_output, "Usage: berth-lab COMMAND ...\n"));
  std::vector<std::string> commands = {"bench", "suite", "place", "encode"};
#ifdef BERTH_WITH_RUNTIME
  commands.emplace_back("replay");
#endif
  for (const std::string& command : commands) {
    EXPECT_TRUE(Contains(all.standard_output, "\n  " + command + " ")) << command;
    const ProcessResult help = Lab({command, "--help"});
    EXPECT_EQ(help.exit_code, 0);
    EXPECT_TRUE(Contains(help.standard_output, "\nUsage: berth-lab " + command + " ")) << command;
    EXPECT_TRUE(Contains(help.standard_output, "\nExample")) << command;
    EXPECT_TRUE(Contains(help.standard_output, "xit codes: 0 ")) << command;
  }
  EXPECT_EQ(Lab({"help", "bench"}).standard_output, Lab({"bench", "--help"}).standard_output);
}

TEST_F(LabUsageTest, TrainHasCommandsOfItsOwn) {
  const std::string help = Lab({"train", "--help"}).standard_output;
  EXPECT_TRUE(Contains(help, "Usage: berth-lab train COMMAND ...\n")) << help;
  for (const std::string command : {"collect", "merge", "fit", "evaluate", "report", "steps"}) {
    EXPECT_TRUE(Contains(help, "\n  " + command + " ")) << command;
    const std::string own = Lab({"train", command, "--help"}).standard_output;
    EXPECT_TRUE(Contains(own, "\nUsage: berth-lab train " + command + " ")) << own;
  }
  ExpectRefused(Lab({"train"}), "a command is missing; see berth-lab train --help");
  ExpectRefused(Lab({"train", "colect"}), "unknown command 'colect'; did you mean 'collect'?");
  ExpectRefused(Lab({"train", "merge", Path("")}), "--output is missing");
  ExpectRefused(Lab({"train", "collect", Path("rows"), "--shard", "3/2"}), "--shard: '3/2'");
  ExpectRefused(Lab({"train", "evaluate", Path("trials"), "--rule", "best"}), "--rule: 'best'");
  ExpectRefused(Lab({"train", "merge", Path("absent"), "-o", Path("all.csv")}), "input-000000.csv");
}

TEST_F(LabUsageTest, MistakesAreOneLineWithACorrection) {
  const std::string table = SmallTable();
  ExpectRefused(Lab({}), "a command is missing; see berth-lab --help");
  ExpectRefused(Lab({"bnech"}), "unknown command 'bnech'; did you mean 'bench'?");
  ExpectRefused(Lab({"bench", table, "--peers", "x"}), "did you mean '--peer'?");
  ExpectRefused(Lab({"bench", "-"}), "TABLES: -");
  ExpectRefused(Lab({"bench", table, "--peer", "x"}), "is not NAME=COMMAND");
  ExpectRefused(Lab({"bench", table, "--algorithm", "xyzzy"}), "no algorithm 'xyzzy'");
  ExpectRefused(Lab({"bench", table, "--rounds", "0"}), "--rounds");
  ExpectRefused(Lab({"bench", table, "--json", Path("no/r.json")}), "no/r.json");
  ExpectRefused(Lab({"place", table, "-o", "-", "--json"}),
                "--output - and --json would both write to standard output");
  std::filesystem::create_directory(Path("empty"));
  ExpectRefused(Lab({"bench", Path("empty")}), "the folder holds no .csv table");
}

TEST_F(LabUsageTest, TheProductHasNoneOfIt) {
  for (const std::string command : {"bench", "suite", "encode", "replay", "train"}) {
    cli::ExpectRefused(cli::Berth({command}), "unknown command '" + command + "'");
  }
}

}  // namespace
}  // namespace berth::lab
