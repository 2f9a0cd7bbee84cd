// berth-lab train steps -- the decision tree that is asked at every step (TelaMalloc 8.3).
#include <cinttypes>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/try.h"
#include "berth/io.h"
#include "berth/place.h"
#include "tools/lab/train/commands.h"
#include "tools/lab/train/model_file.h"
#include "tools/lab/train/steps.h"

namespace berth::lab {
namespace {

struct StepArguments {
  InputChoice inputs;
  std::int64_t held_out = 200;  // Evaluation inputs.
  internal::StepOptions options;
  internal::BoosterOptions booster;
  std::string output;
  std::string json;
};

// The examples of inputs that the heuristic leaves to the search.
Result<std::vector<internal::StepRow>> CollectAll(const InputRange& inputs, const char* what,
                                                  const internal::StepOptions& options) {
  std::vector<internal::StepRow> rows;
  internal::StepStats stats;
  for (std::int64_t index = inputs.first; index < inputs.end; ++index) {
    const internal::Input input = inputs.source.Make(index);
    if (!BERTH_TRY(NeedsSearch(input.problem))) continue;
    internal::CollectSteps(input.problem, index, options, stats, rows);
  }
  std::printf("%s: %zu proposals of %" PRId64 " decision points of %" PRId64
              " inputs; left out: %" PRId64 " points with one answer for all, %" PRId64
              " inputs without a known plan; runs without a way on: %" PRId64
              "; undecided proposals: %" PRId64 "\n",
              what, rows.size(), stats.points - stats.unanimous, stats.inputs, stats.unanimous,
              stats.unknown, stats.dead_ends, stats.undecided);
  return rows;
}

void Print(const char* what, const internal::StepQuality& quality) {
  std::printf("%s: the first of %" PRId64
              " choices can be completed: model %.1f %%, published %.1f %%, lowest first %.1f %%, "
              "at random %.1f %%\n",
              what, quality.choices, 100 * quality.model, 100 * quality.published,
              100 * quality.lowest, 100 * quality.chance);
}

Result<cli::ExitCode> Steps(const StepArguments& arguments) {
  const InputRange training =
      BERTH_TRY(LoadInputs(arguments.inputs, internal::InputSet::kTraining, kTrainingInputs));
  const auto rows = BERTH_TRY(CollectAll(training, "training", arguments.options));
  if (rows.empty()) return Fail(ErrorCode::kInvalidOptions, "no decision point to learn from");
  const internal::Examples examples = internal::MakeStepExamples(rows);
  const internal::Trained trained = BERTH_TRY(internal::Train(examples, arguments.booster));
  Print("training", internal::QualityOfSteps(trained.forest.view(), rows));
  const InputRange others{internal::InputSource(internal::InputSet::kEvaluation), 0,
                          arguments.held_out};
  const auto held_out = BERTH_TRY(CollectAll(others, "held out", arguments.options));
  Print("held out", internal::QualityOfSteps(trained.forest.view(), held_out));
  if (!arguments.json.empty()) BERTH_TRY(WriteFile(arguments.json, trained.json));
  const std::vector<std::string> provenance = {
      "Examples: " + std::to_string(rows.size()) + " proposals of " +
          std::to_string(examples.groups.size()) + " decision points on training inputs",
      "(tools/lab/train/inputs.h).",
      "Fitted by XGBoost " + trained.version + ": " + std::to_string(arguments.booster.trees) +
          (arguments.booster.trees == 1 ? " tree" : " trees") + " of depth " +
          std::to_string(arguments.booster.depth) + ", squared error.",
      "Made again by berth-lab train steps."};
  BERTH_TRY(WriteFile(arguments.output, internal::WriteModel(trained.forest.view(), provenance,
                                                             internal::ModelKind::kSteps)));
  return cli::kDone;
}

}  // namespace

cli::Command AddStepsCommand(CLI::App& train) {
  CLI::App* app = train.add_subcommand(
      "steps", internal::HasXgboost()
                   ? "Train the decision tree that is asked at every step, and write it as C++."
                   : "Train the decision tree that is asked at every step (this build lacks "
                     "XGBoost).");
  const auto arguments = std::make_shared<StepArguments>();
  internal::BoosterOptions& booster = arguments->booster;
  booster.trees = 1;
  booster.depth = 4;
  booster.learning_rate = 1;
  app->add_option("-o,--output", arguments->output, "Write the model, as C++.")
      ->type_name("FILE")
      ->required();
  app->add_option("--json", arguments->json, "Also write it in XGBoost's format.")
      ->type_name("FILE");
  AddInputChoice(*app, arguments->inputs, kTrainingInputs, true);
  constexpr std::int64_t kNone = 0;
  AddNumber(*app, "--held-out", arguments->held_out, kNone,
            "Evaluation inputs on which the choices are judged.");
  internal::StepOptions& options = arguments->options;
  AddNumber(*app, "--seed", options.seed, std::uint64_t{0}, "Seed of all random choices.");
  AddNumber(*app, "--runs", options.runs, kNone, "Searches of each input.");
  AddNumber(*app, "--oracle-nodes", options.oracle_nodes, kNone,
            "Nodes that the oracle spends on one question.");
  cli::AddInteger(*app, "--trees", booster.trees, 1, 10'000, "Trees. Default: 1.");
  cli::AddInteger(*app, "--depth", booster.depth, 1, internal::kMostDepth,
                  "Depth of a tree. Default: 4.");
  app->add_option("--learning-rate", booster.learning_rate,
                  "Share of each tree's correction that is applied. Default: 1.")
      ->check(CLI::Validator(CLI::PositiveNumber).description(""))
      ->type_name("X");
  return {app, [arguments] { return Steps(*arguments); }};
}

}  // namespace berth::lab
