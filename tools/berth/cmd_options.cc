// berth options -- docs/options.md, from the one table of options.
#include "berth/baselines.h"
#include "tools/berth/command.h"
#include "tools/berth/completion.h"
#include "tools/berth/flags.h"
#include "tools/berth/output.h"

namespace berth::cli {
namespace {

// A vertical bar would end the cell.
std::string Cell(std::string_view text) {
  std::string cell;
  for (const char c : text) {
    if (c == '|') cell += '\\';
    cell += c;
  }
  return cell;
}

std::string OptionRows(std::span<const OptionInfo> options) {
  std::string text =
      "\n| option | default | allowed | what it does |\n"
      "|---|---|---|---|\n";
  for (const OptionInfo& info : options) {
    text += "| `" + Cell(info.name) + "` | `" + Cell(info.default_value) + "` | " +
            Cell(info.allowed) + " | " + Cell(info.sentence) + " |\n";
  }
  return text;
}

template <typename Algorithms>
std::string AlgorithmRows(const Algorithms& algorithms) {
  std::string text =
      "\n| name | exact | what it does | source |\n"
      "|---|---|---|---|\n";
  for (const auto& info : algorithms) {
    text += "| `" + Cell(info.name) + "` | " + (info.exact ? "yes" : "no") + " | " +
            Cell(info.summary) + " | " + Cell(info.source) + " |\n";
  }
  return text;
}

std::string BaselineRows() {
  std::string text =
      "\n| name | what it does | source | needs |\n"
      "|---|---|---|---|\n";
  for (const BaselineInfo& info : Baselines()) {
    text += "| `" + Cell(info.name) + "` | " + Cell(info.summary) + " | " + Cell(info.source) +
            " | " + (info.package.empty() ? "nothing" : Cell(info.package)) + " |\n";
  }
  return text;
}

}  // namespace

std::string OptionsMarkdown() {
  return "# Options\n"
         "\n"
         "Every option of a search, under the name that `berth::SetOption` and plans use. On the "
         "command line\n"
         "`canonical.dominance` is `--canonical-dominance`. Made by `berth options`; do not edit.\n"
         "\n"
         "## Placement\n" +
         OptionRows(Options()) + "\n### Algorithms\n" + AlgorithmRows(Algorithms()) +
         "\n### Baselines\n"
         "\n"
         "Other people's methods, in the library `berth::baselines`. Their settings are those of\n"
         "`berth::BaselineOptions`.\n" +
         BaselineRows() + OptionRows(BaselineSettings()) +
         "\n"
         "## Orders\n"
         "\n"
         "Of `berth::ScheduleOptions` and `berth schedule`; there, `counting` is `--count`.\n" +
         OptionRows(ScheduleOptionTable()) + "\n### Algorithms\n" +
         AlgorithmRows(ScheduleAlgorithms());
}

Command AddOptionsCommand(CLI::App& berth) {
  CLI::App* app = berth.add_subcommand(
      "options", "Print the table of options as Markdown, for a shell, or as a manual page.");
  app->group("");  // Made for files that are installed, not listed by --help.
  struct Arguments {
    std::string shell;
    bool man = false;
  };
  const auto arguments = std::make_shared<Arguments>();
  CLI::Option* const shell =
      app->add_option("--completion", arguments->shell, "Print a script that completes commands.")
          ->type_name("bash|zsh|fish");
  app->add_flag("--man", arguments->man, "Print the manual page, in troff.")->excludes(shell);
  return {app, [arguments, &berth]() -> Result<ExitCode> {
            const std::string& name = arguments->shell;
            if (arguments->man) {
              Print(ManPage(berth));
            } else if (name.empty()) {
              Print(OptionsMarkdown());
            } else if (name == "bash") {
              Print(BashCompletion(berth));
            } else if (name == "zsh") {
              Print(ZshCompletion(berth));
            } else if (name == "fish") {
              Print(FishCompletion(berth));
            } else {
              return Fail(ErrorCode::kInvalidOptions,
                          "--completion: " + Quoted(name) + " is not one of bash, zsh, fish");
            }
            return kDone;
          }};
}

}  // namespace berth::cli
