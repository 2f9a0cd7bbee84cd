// berth generate -- tables and graphs from a seed.
#include <cstdint>
#include <limits>

#include "src/base/try.h"
#include "tools/berth/command.h"
#include "tools/berth/flags.h"
#include "tools/berth/output.h"
#include "tools/berth/table.h"
#include "tools/generate/generate.h"
#include "tools/generate/graphs.h"
#include "tools/generate/variant.h"

namespace berth::cli {
namespace {

struct GenerateArguments {
  std::string family;
  internal::GenerateParameters parameters;
  internal::GraphParameters graph;
  TableArguments original;  // Without a path: a family is wanted.
  int drop_percent = internal::VariantParameters{}.drop_percent;
  std::optional<Bytes> capacity;
  std::optional<Bytes> alignment;
  std::string output = "-";
  std::string plan;
  bool list = false;
};

std::string FamiliesHelp() {
  constexpr std::size_t kIndent = 14;
  std::string help;
  for (const internal::FamilyInfo& info : internal::Families())
    help += HelpRow(info.name, info.summary, kIndent);
  help += "Families of graphs:\n";
  for (const internal::GraphFamilyInfo& info : internal::GraphFamilies())
    help += HelpRow(info.name, info.summary, kIndent);
  return help;
}

Result<ExitCode> RunGraph(internal::GraphFamily family, GenerateArguments arguments) {
  if (!arguments.plan.empty()) {
    return Fail(ErrorCode::kInvalidOptions,
                "--plan: the family " + arguments.family + " comes without a known plan");
  }
  arguments.graph.seed = arguments.parameters.seed;
  const auto graph = internal::GenerateGraph(family, arguments.graph);
  if (!graph) return Fail(graph.error().code, "--" + graph.error().message);
  BERTH_TRY(WriteFile(arguments.output, WriteGraphJson(*graph)));
  return kDone;
}

Result<ExitCode> RunVariant(const GenerateArguments& arguments) {
  const auto original = BERTH_TRY(Load(arguments.original));
  const auto variant =
      internal::MakeVariant(original.problem, {arguments.parameters.seed, arguments.drop_percent});
  if (!variant) return Fail(variant.error().code, "--" + variant.error().message);
  BERTH_TRY(WriteFile(arguments.output, WriteCsv(*variant)));
  return kDone;
}

Result<ExitCode> Run(GenerateArguments arguments) {
  if (arguments.list) {
    Print(FamiliesHelp());
    return kDone;
  }
  BERTH_TRY(CheckOutputs({{"--output", arguments.output}, {"--plan", arguments.plan}}));
  if (!arguments.original.path.empty()) return RunVariant(arguments);
  if (arguments.family.empty()) {
    return Fail(ErrorCode::kInvalidOptions, "FAMILY is missing; berth generate --list names them");
  }
  if (const auto graphs = internal::GraphFamilyFromName(arguments.family)) {
    return RunGraph(*graphs, std::move(arguments));
  }
  const auto family = internal::FamilyFromName(arguments.family);
  if (!family) {
    return Fail(ErrorCode::kInvalidOptions,
                "there is no family '" + arguments.family + "'; berth generate --list names them");
  }
  if (arguments.capacity) arguments.parameters.capacity = *arguments.capacity;
  if (arguments.alignment) arguments.parameters.alignment = *arguments.alignment;
  const auto generated = internal::Generate(*family, arguments.parameters);
  // The parameters go by the names of their flags.
  if (!generated) return Fail(generated.error().code, "--" + generated.error().message);
  if (!arguments.plan.empty()) {
    if (!generated->plan) {
      return Fail(ErrorCode::kInvalidOptions,
                  "--plan: the family " + arguments.family + " comes without a known plan");
    }
    BERTH_TRY(WriteFile(arguments.plan, WriteCsv(generated->problem, &generated->plan->offsets)));
  }
  BERTH_TRY(WriteFile(arguments.output, WriteCsv(generated->problem)));
  return kDone;
}

// The flags that describe what a family makes.
void AddParameters(CLI::App& app, GenerateArguments& arguments) {
  internal::GenerateParameters& parameters = arguments.parameters;
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  AddInteger(app, "--seed", parameters.seed, std::uint64_t{0},
             std::numeric_limits<std::uint64_t>::max(), "Seed of all random choices. Default: 1.");
  AddInteger(app, "--buffers", parameters.buffers, std::int64_t{0}, kMost,
             "Number of buffers. Default: 100.");
  AddInteger(app, "--steps", parameters.steps, Step{0}, kMost, "Number of steps. Default: 1000.");
  AddInteger(app, "--live", parameters.live, std::int64_t{0}, kMost,
             "Average number of live buffers, instead of --steps (random only).");
  AddBytes(app, "--capacity", arguments.capacity,
           "The load peaks at this minus the slack. Default: 1MiB.");
  AddInteger(app, "--slack", parameters.slack_percent, 0, 100,
             "Share of the capacity that stays free at the peak. Default: 0.")
      ->type_name("PERCENT");
  AddBytes(app, "--alignment", arguments.alignment, "Alignment of every buffer. Default: 1.");
  AddInteger(app, "--pins", parameters.pins_percent, 0, 100, "Share of pinned buffers. Default: 0.")
      ->type_name("PERCENT");
  AddInteger(app, "--gaps", parameters.gaps_percent, 0, 100,
             "Share of buffers with a gap. Default: 0.")
      ->type_name("PERCENT");
  AddInteger(app, "--operators", arguments.graph.operators, std::int64_t{0}, kMost,
             "Number of operators (graphs only). Default: 150.");
  AddInteger(app, "--width", arguments.graph.width, std::int64_t{0}, kMost,
             "Number of operators side by side (graphs only). Default: 10.");
  AddInteger(app, "--stored", arguments.graph.stored_percent, 0, 100,
             "Share of operators whose inputs the backward pass reads (cell only). Default: 10.")
      ->type_name("PERCENT");
}

}  // namespace

Command AddGenerateCommand(CLI::App& berth) {
  CLI::App* app = berth.add_subcommand("generate", "Make a table or a graph from a seed.");
  const auto arguments = std::make_shared<GenerateArguments>();
  app->add_option("FAMILY", arguments->family, "One of the families listed below.");
  app->add_flag("--list", arguments->list, "List the families.");
  AddParameters(*app, *arguments);
  CLI::Option* const variant =
      app->add_option("--variant-of", arguments->original.path,
                      "Instead of a family: this table with time reversed and a few buffers "
                      "dropped; the seed says which.")
          ->type_name("TABLE");
  AddInteger(*app, "--drop", arguments->drop_percent, 0, 99,
             "Share of the buffers that are dropped from a variant. Default: 3.")
      ->type_name("PERCENT")
      ->needs(variant);
  for (const std::string other :
       {"FAMILY", "--buffers", "--steps", "--live", "--capacity", "--slack", "--alignment",
        "--pins", "--gaps", "--operators", "--width", "--stored"}) {
    variant->excludes(app->get_option(other));
  }
  AddFile(*app, "-o,--output", arguments->output,
          "Write the table to this file. Default: -, standard output.");
  AddFile(*app, "--plan", arguments->plan,
          "Also write the plan that the table was cut from (planted only).")
      ->excludes(variant);
  app->footer("Families:\n" + FamiliesHelp() +
              "\nExit codes: 0 done, 2 bad usage.\n"
              "\nExamples:\n"
              "  berth generate planted --buffers 500 --seed 7 -o planted.csv\n"
              "  berth generate --variant-of A.1048576.csv --seed 7 -o variant.csv\n"
              "  berth generate network --buffers 1000 | berth place - --capacity 1MiB\n"
              "  berth generate cell --operators 150 | berth schedule -");
  return {app, [arguments] { return Run(*arguments); }};
}

}  // namespace berth::cli
