#include "tools/berth/program.h"

#include <algorithm>
#include <cstdio>
#include <new>
#include <string>
#include <utility>

#include "tools/berth/flags.h"
#include "tools/berth/help.h"
#include "tools/berth/output.h"
#include "tools/berth/terminal.h"

namespace berth::cli {
namespace {

// The command line that is running: there is one for each process.
struct CommandLine {
  std::string program;
  std::vector<std::string> words;
};
CommandLine& Running() {
  static CommandLine running;
  return running;
}

// Whether `word` is the option `name`, with or without its value.
bool IsOption(const std::string& word, const std::string& name) {
  const std::string flag = "--" + name;
  return word == flag || word.starts_with(flag + "=");
}

int PrintError(const CLI::App& program, const std::string& message) {
  std::fprintf(stderr, "%s: error: %s\n", program.get_name().c_str(), OneLine(message).c_str());
  return kBadInput;
}

// A full disk or a reader that went away must not look like success.
int Finish(const CLI::App& program, ExitCode exit_code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return exit_code;
  return PrintError(program, "standard output cannot be written");
}

int RunCommand(const CLI::App& program, const std::vector<Command>& commands) {
  for (const Command& command : commands) {
    if (!command.app->parsed()) continue;
    const auto exit_code = command.run();
    if (!exit_code) return PrintError(program, exit_code.error().message);
    return Finish(program, *exit_code);
  }
  return PrintError(program, "a command is missing; see " + program.get_name() + " --help");
}

}  // namespace

ExitCode ExitCodeOf(Outcome outcome) {
  switch (outcome) {
    case Outcome::kOptimal:
    case Outcome::kFeasible:
      return kDone;
    case Outcome::kInfeasible:
      return kDoesNotFit;
    case Outcome::kUnknown:
      break;
  }
  return kGaveUp;
}

void SetUpProgram(CLI::App& program) {
  program.formatter(MakeHelpFormatter());
  program.option_defaults()->take_last();
  program.set_help_flag("-h,--help", "Print this and exit.");
  program.set_version_flag("-V,--version", program.get_name() + " " BERTH_VERSION,
                           "Print the version and exit.");
  program.require_subcommand(1);
}

int RunProgram(CLI::App& program, const std::vector<Command>& commands, int argc, char** argv) {
  try {
    // CLI11 takes the words of a command line from the last to the first.
    auto words = CompleteArguments(
        program, std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc));
    Running() = {program.get_name(), words};
    std::reverse(words.begin(), words.end());
    program.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    Print(program.help());
    return Finish(program, kDone);
  } catch (const CLI::CallForVersion& version) {
    Print(std::string(version.what()) + "\n");
    return Finish(program, kDone);
  } catch (const CLI::ParseError& error) {
    return PrintError(program, UsageMessage(program, error));
  }
  try {
    return RunCommand(program, commands);
  } catch (const std::bad_alloc&) {
    return PrintError(program,
                      "out of memory: the machine, ulimit or --memory-limit allows no more");
  }
}

std::string CommandWith(const std::string& program, const std::vector<std::string>& words,
                        const std::vector<OptionChange>& changes) {
  std::vector<std::string> replaced;  // Options with a value.
  for (const OptionChange& change : changes) {
    if (change.value != "on") replaced.push_back(change.option);
    // A budget is a capacity, is not minimised, and its plans have no proof.
    if (change.option == "budget") {
      replaced.insert(replaced.end(), {"capacity", "minimize", "proof"});
    }
    if (change.option == "capacity") replaced.emplace_back("budget");
  }
  std::string text = program;
  // A budget that is advised is one for spills.
  const bool spills = std::any_of(changes.begin(), changes.end(), [](const OptionChange& change) {
    return change.option == "budget";
  });
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (spills && words[i] == "--recompute") continue;
    const auto name =
        std::find_if(replaced.begin(), replaced.end(),
                     [&](const std::string& option) { return IsOption(words[i], option); });
    if (name == replaced.end()) {
      text += " " + ShellWord(words[i]);
      continue;
    }
    const bool has_value = words[i].find('=') != std::string::npos;
    const bool may_have = i + 1 < words.size() &&
                          (*name != "minimize" || words[i + 1] == "on" || words[i + 1] == "off");
    if (!has_value && may_have) ++i;
  }
  for (const OptionChange& change : changes) {
    text += " --" + change.option + (change.value == "on" ? "" : " " + ShellWord(change.value));
  }
  return text;
}

std::string CommandWith(const std::vector<OptionChange>& changes) {
  return CommandWith(Running().program, Running().words, changes);
}

}  // namespace berth::cli
