// berth generate -- tables from a seed.
#include <cstdint>
#include <limits>

#include "tools/berth/command.h"
#include "tools/berth/common.h"
#include "tools/generate/generate.h"

namespace berth::internal {
namespace {

struct GenerateArguments {
  std::string family;
  GenerateParameters parameters;
  std::optional<Bytes> capacity;
  std::optional<Bytes> alignment;
  std::string output = "-";
  std::string plan;
  bool list = false;
};

std::string FamiliesHelp() {
  std::string help;
  for (const FamilyInfo& info : Families()) {
    constexpr std::size_t kIndent = 14;
    std::string name(info.name);
    name.resize(std::max(kIndent - 2, name.size() + 1), ' ');
    help += "  " + name + Wrap(info.summary, TextWidth(), kIndent) + "\n";
  }
  return help;
}

Result<ExitCode> Run(GenerateArguments arguments) {
  if (arguments.list) {
    Print(FamiliesHelp());
    return kDone;
  }
  for (const Result<void>& checked :
       {CheckOneWriter({{"--output -", IsStandardOutput(arguments.output)},
                        {"--plan -", IsStandardOutput(arguments.plan)}}),
        CheckOutput(arguments.output), CheckOutput(arguments.plan)}) {
    if (!checked) return tl::unexpected(checked.error());
  }
  if (arguments.family.empty()) {
    return Fail(ErrorCode::kInvalidOptions, "FAMILY is missing; berth generate --list names them");
  }
  const auto family = FamilyFromName(arguments.family);
  if (!family) {
    return Fail(ErrorCode::kInvalidOptions,
                "there is no family '" + arguments.family + "'; berth generate --list names them");
  }
  if (arguments.capacity) arguments.parameters.capacity = *arguments.capacity;
  if (arguments.alignment) arguments.parameters.alignment = *arguments.alignment;
  const auto generated = Generate(*family, arguments.parameters);
  // The parameters go by the names of their flags.
  if (!generated) return Fail(generated.error().code, "--" + generated.error().message);
  if (!arguments.plan.empty()) {
    if (!generated->plan) {
      return Fail(ErrorCode::kInvalidOptions,
                  "--plan: the family " + arguments.family + " comes without a known plan");
    }
    const auto written =
        WriteFile(arguments.plan, WriteCsv(generated->problem, &generated->plan->offsets));
    if (!written) return tl::unexpected(written.error());
  }
  const auto written = WriteFile(arguments.output, WriteCsv(generated->problem));
  if (!written) return tl::unexpected(written.error());
  return kDone;
}

}  // namespace

Command AddGenerateCommand(CLI::App& berth) {
  CLI::App* app = berth.add_subcommand("generate", "Make a table from a seed.");
  const auto arguments = std::make_shared<GenerateArguments>();
  GenerateParameters& parameters = arguments->parameters;
  app->add_option("FAMILY", arguments->family, "One of the families listed below.");
  app->add_flag("--list", arguments->list, "List the families.");
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  AddInteger(*app, "--seed", parameters.seed, std::uint64_t{0},
             std::numeric_limits<std::uint64_t>::max(), "Another seed, another table. Default: 1.");
  AddInteger(*app, "--buffers", parameters.buffers, std::int64_t{0}, kMost,
             "How many buffers. Default: 100.");
  AddInteger(*app, "--steps", parameters.steps, Step{0}, kMost, "How many steps. Default: 1000.");
  AddInteger(*app, "--longest", parameters.longest, Step{0}, kMost,
             "The longest lifetime (random only). Default: as many as there are steps.");
  AddBytes(*app, "--capacity", arguments->capacity,
           "Where the load peaks, less the slack. Default: 1MiB.");
  AddInteger(*app, "--slack", parameters.slack_percent, 0, 100,
             "Share of the capacity that stays free at the peak. Default: 0.")
      ->type_name("PERCENT");
  AddBytes(*app, "--alignment", arguments->alignment, "Of every buffer. Default: 1.");
  AddInteger(*app, "--pins", parameters.pins_percent, 0, 100,
             "Share of pinned buffers. Default: 0.")
      ->type_name("PERCENT");
  AddInteger(*app, "--gaps", parameters.gaps_percent, 0, 100,
             "Share of buffers with a gap. Default: 0.")
      ->type_name("PERCENT");
  app->add_option("-o,--output", arguments->output,
                  "Write the table here. Default: -, standard output.")
      ->type_name("FILE");
  app->add_option("--plan", arguments->plan,
                  "Also write the plan that the table was cut from (planted only).")
      ->type_name("FILE");
  app->footer("Families:\n" + FamiliesHelp() +
              "\nExit codes: 0 done, 2 bad usage.\n"
              "\nExamples:\n"
              "  berth generate planted --buffers 500 --seed 7 -o planted.csv\n"
              "  berth generate network --buffers 1000 | berth place - --capacity 1MiB");
  return {app, [arguments] { return Run(*arguments); }};
}

}  // namespace berth::internal
