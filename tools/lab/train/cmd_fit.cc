// berth-lab train fit -- a forest from a table of examples, written as C++.
#include <algorithm>
#include <array>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

#include "base/try.h"
#include "berth/io.h"
#include "tools/lab/train/commands.h"
#include "tools/lab/train/examples.h"
#include "tools/lab/train/model_file.h"
#include "tools/lab/train/report.h"
#include "tools/lab/train/table.h"

namespace berth::lab {
namespace {

struct FitArguments {
  std::string table;
  std::string held_out;
  std::vector<std::string> without;  // Names of features.
  internal::ExampleOptions examples;
  internal::BoosterOptions booster;
  std::string output;
  std::string json;
};

std::vector<std::string> FeatureNames() {
  std::vector<std::string> names;
  for (std::size_t f = 0; f < internal::kNumFeatures; ++f) {
    names.emplace_back(ToString(static_cast<internal::Feature>(f)));
  }
  return names;
}

// The head of the file of the model: what it was made of, and how.
std::vector<std::string> Provenance(std::string_view text, std::size_t rows, std::size_t choices,
                                    const internal::Trained& trained,
                                    const internal::BoosterOptions& options) {
  return {"Examples: " + std::to_string(rows) + " candidates of " + std::to_string(choices) +
              " major backtracks on training inputs",
          "(tools/lab/train/inputs.h); the table has " + std::to_string(text.size()) + " bytes, " +
              HashOf(text) + ".",
          "Fitted by XGBoost " + trained.version + ": " + std::to_string(options.trees) +
              " trees of depth " + std::to_string(options.depth) +
              (options.pairwise ? ", pairwise ranking." : ", squared error."),
          "Made again by scripts/train."};
}

// How well the forest fits its own examples, and that it computes what XGBoost does.
Result<void> PrintFit(const internal::Trained& trained, const internal::Examples& examples) {
  const std::vector<float> theirs =
      BERTH_TRY(internal::Predict(trained.json, examples.rows, examples.features));
  std::vector<float> ours(examples.labels.size());
  internal::Score(trained.forest.view(), examples.rows, ours);
  float apart = 0;
  double squares = 0;
  for (std::size_t r = 0; r < ours.size(); ++r) {
    apart = std::max(apart, std::abs(ours[r] - theirs[r]));
    squares += (ours[r] - examples.labels[r]) * (ours[r] - examples.labels[r]);
  }
  std::printf("%zu rows, %zu choices; RMSE %.3f; at most %.2g from XGBoost %s\n", ours.size(),
              examples.groups.size(), std::sqrt(squares / static_cast<double>(ours.size())),
              static_cast<double>(apart), trained.version.c_str());
  return {};
}

void PrintQuality(const char* rule, const internal::ChoiceQuality& quality) {
  std::printf("%s: of %" PRId64
              " choices held out %.1f %% between best and minimum target, %.1f %% useless or "
              "undecided, mean score %.2f\n",
              rule, quality.choices, 100 * quality.good, 100 * quality.vain, quality.score);
}

Result<void> PrintHeldOut(const internal::Trained& trained, const std::string& path) {
  const std::string text = BERTH_TRY(ReadFile(path));
  const auto rows = BERTH_TRY(internal::ReadTable(text, path));
  PrintQuality("model", internal::QualityOfModel(trained.forest.view(), rows));
  PrintQuality("chance", internal::QualityOfChance(rows));
  PrintQuality("deepest blamed", internal::QualityOfDeepest(rows));
  return {};
}

Result<cli::ExitCode> Fit(const FitArguments& arguments) {
  internal::ExampleOptions options = arguments.examples;
  const std::vector<std::string> features = FeatureNames();
  for (const std::string& name : arguments.without) {
    const auto at = std::find(features.begin(), features.end(), name);
    if (at == features.end()) {
      return Fail(ErrorCode::kInvalidOptions, "--without: there is no feature '" + name + "'");
    }
    options.hidden[static_cast<std::size_t>(at - features.begin())] = true;
  }
  const std::string text = BERTH_TRY(ReadFile(arguments.table));
  const auto rows = BERTH_TRY(internal::ReadTable(text, arguments.table));
  if (rows.empty()) return Fail(ErrorCode::kParse, arguments.table + ": no rows to learn from");
  const internal::Examples examples = internal::MakeExamples(rows, options);
  const internal::Trained trained = BERTH_TRY(internal::Train(examples, arguments.booster));
  BERTH_TRY(PrintFit(trained, examples));
  if (!arguments.held_out.empty()) BERTH_TRY(PrintHeldOut(trained, arguments.held_out));
  if (!arguments.json.empty()) BERTH_TRY(WriteFile(arguments.json, trained.json));
  const std::vector<std::string> provenance =
      Provenance(text, rows.size(), examples.groups.size(), trained, arguments.booster);
  BERTH_TRY(WriteFile(arguments.output, internal::WriteModel(trained.forest.view(), provenance)));
  return cli::kDone;
}

void AddBooster(CLI::App& app, internal::BoosterOptions& options) {
  cli::AddInteger(app, "--trees", options.trees, 1, 10'000,
                  "Trees of the forest. Default: " + std::to_string(options.trees) + ".");
  cli::AddInteger(app, "--depth", options.depth, 1, internal::kMostDepth,
                  "Depth of a tree. Default: " + std::to_string(options.depth) + ".");
  app.add_option("--learning-rate", options.learning_rate,
                 "Share of each tree's correction that is applied. Default: 0.1.")
      ->check(CLI::Validator(CLI::PositiveNumber).description(""))
      ->type_name("X");
  app.add_option("--least-weight", options.least_weight,
                 "Least number of rows in a leaf. Default: 20.")
      ->check(CLI::Validator(CLI::NonNegativeNumber).description(""))
      ->type_name("X");
  app.add_flag("--pairwise", options.pairwise,
               "Rank the candidates of one choice instead of fitting their scores.");
}

}  // namespace

cli::Command AddFitCommand(CLI::App& train) {
  CLI::App* app = train.add_subcommand(
      "fit", internal::HasXgboost()
                 ? "Fit the forest and write it as C++."
                 : "Fit the forest and write it as C++ (this build lacks XGBoost).");
  const auto arguments = std::make_shared<FitArguments>();
  app->add_option("TABLE", arguments->table, "The table that merge wrote.")->required();
  app->add_option("-o,--output", arguments->output, "Write the model, as C++.")
      ->type_name("FILE")
      ->required();
  app->add_option("--json", arguments->json, "Also write it in XGBoost's format.")
      ->type_name("FILE");
  AddBooster(*app, arguments->booster);
  app->add_flag("--drop-undecided", arguments->examples.drop_undecided,
                "Leave out candidates that the oracle could not decide.");
  app->add_flag("--balanced", arguments->examples.balanced,
                "Weight each input by the square root of its number of rows.");
  app->add_option("--without", arguments->without, "Features that the model does not see.")
      ->type_name("NAMES")
      ->delimiter(',')
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
  app->add_option("--held-out", arguments->held_out,
                  "Another table, on which the model's choices are evaluated.")
      ->type_name("TABLE");
  return {app, [arguments] { return Fit(*arguments); }};
}

}  // namespace berth::lab
