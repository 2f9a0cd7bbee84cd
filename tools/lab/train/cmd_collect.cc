// berth-lab train collect, merge -- examples of good backtracks, by one process or by many.
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <utility>

#include "base/try.h"
#include "berth/io.h"
#include "berth/place.h"
#include "tools/lab/train/collect.h"
#include "tools/lab/train/commands.h"
#include "tools/lab/train/inputs.h"
#include "tools/lab/train/table.h"

namespace berth::lab {
namespace {

struct CollectArguments {
  std::string folder;
  InputChoice inputs;
  cli::Shard shard;
  internal::CollectOptions options;
};

struct MergeArguments {
  std::string folder;
  InputChoice inputs;
  std::string output;
};

Result<cli::ExitCode> Collect(const CollectArguments& arguments) {
  const InputRange inputs =
      BERTH_TRY(LoadInputs(arguments.inputs, internal::InputSet::kTraining, kTrainingInputs));
  BERTH_TRY(ClaimFolder(arguments.folder, inputs.source));
  internal::CollectStats stats;
  std::int64_t rows = 0;
  const auto begin = std::chrono::steady_clock::now();
  for (std::int64_t index = inputs.first + arguments.shard.index - 1; index < inputs.end;
       index += arguments.shard.count) {
    const std::string path = RowsFile(arguments.folder, index);
    if (std::filesystem::exists(path)) continue;
    const internal::Input input = inputs.source.Make(index);
    std::string text = internal::TableHeader();
    if (BERTH_TRY(NeedsSearch(input.problem))) {
      const auto collected = internal::CollectRows(input.problem, index, arguments.options, stats);
      rows += static_cast<std::int64_t>(collected.size());
      for (const internal::TrainingRow& row : collected) internal::AppendRow(row, text);
    }
    BERTH_TRY(WriteFile(path, text));
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  std::printf("%" PRId64 " rows of %" PRId64 " backtracks in %.0f s; %" PRId64
              " candidates undecided; dropped: %" PRId64 " unknown, %" PRId64 " hopeless, %" PRId64
              " of searches without a plan; runs that found a plan: %" PRId64 "; oracle: %" PRId64
              " questions, %" PRId64 " answered from the cache, %" PRId64 " nodes\n",
              rows, stats.examples, seconds.count(), stats.undecided, stats.unknown, stats.hopeless,
              stats.unsolved, stats.solved, stats.oracle.asked, stats.oracle.known,
              stats.oracle.nodes);
  return cli::kDone;
}

Result<cli::ExitCode> Merge(const MergeArguments& arguments) {
  const InputRange inputs =
      BERTH_TRY(LoadInputs(arguments.inputs, internal::InputSet::kTraining, kTrainingInputs));
  BERTH_TRY(CheckFolder(arguments.folder, inputs.source));
  std::string text = internal::TableHeader();
  const std::size_t header = text.size();
  for (std::int64_t index = inputs.first; index < inputs.end; ++index) {
    const std::string path = RowsFile(arguments.folder, index);
    const std::string part = BERTH_TRY(ReadFile(path));
    (void)BERTH_TRY(internal::ReadTable(part, path));  // Nothing broken goes into the whole.
    text.append(part, header, std::string::npos);
  }
  BERTH_TRY(WriteFile(arguments.output, text));
  return cli::kDone;
}

}  // namespace

cli::Command AddCollectCommand(CLI::App& train) {
  CLI::App* app = train.add_subcommand(
      "collect", "Search the training inputs, asking the oracle at each major backtrack.");
  const auto arguments = std::make_shared<CollectArguments>();
  app->add_option("FOLDER", arguments->folder,
                  "Receives one file of rows for each input; existing files are kept.")
      ->required();
  constexpr std::int64_t kNone = 0;
  AddInputChoice(*app, arguments->inputs, kTrainingInputs, true);
  cli::AddShard(*app, arguments->shard, "Only every N-th input, from the I-th on.");
  internal::CollectOptions& options = arguments->options;
  AddNumber(*app, "--seed", options.seed, std::uint64_t{0}, "Seed of all random choices.");
  AddNumber(*app, "--runs", options.runs, kNone, "Searches of each input.");
  AddNumber(*app, "--steps", options.steps, kNone, "Steps of one search.");
  AddNumber(*app, "--backtracks", options.backtracks, kNone, "Examples from one search.");
  AddNumber(*app, "--oracle-nodes", options.oracle_nodes, kNone,
            "Nodes that the oracle spends on one question.");
  return {app, [arguments] { return Collect(*arguments); }};
}

cli::Command AddMergeCommand(CLI::App& train) {
  CLI::App* app = train.add_subcommand("merge", "Join the rows of all inputs to one table.");
  const auto arguments = std::make_shared<MergeArguments>();
  app->add_option("FOLDER", arguments->folder, "The folder that collect wrote.")->required();
  AddInputChoice(*app, arguments->inputs, kTrainingInputs, true);
  app->add_option("-o,--output", arguments->output, "Write the table, as CSV.")
      ->type_name("FILE")
      ->required();
  return {app, [arguments] { return Merge(*arguments); }};
}

}  // namespace berth::lab
