// berth-lab train evaluate -- searches the evaluation inputs under one rule, one line a trial.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "base/try.h"
#include "berth/io.h"
#include "tools/berth/terminal.h"
#include "tools/lab/train/commands.h"
#include "tools/lab/train/evaluate.h"
#include "tools/lab/train/inputs.h"

namespace berth::lab {
namespace {

struct EvaluateArguments {
  std::string folder;
  InputChoice inputs;
  internal::Rule rule = internal::Rule::kPublished;
  std::string label;  // Of the file of trials; empty: the rule's name.
  std::string model;
  std::int64_t more_than = -1;
  bool training = false;
  internal::EvaluateOptions options;

  [[nodiscard]] std::string File(const std::string& name) const {
    return (std::filesystem::path(folder) / (name + ".csv")).string();
  }
};

Result<std::vector<internal::Trial>> LoadTrials(const std::string& path) {
  const std::string text = BERTH_TRY(ReadFile(path));
  return internal::ReadTrials(text, path);
}

// The inputs that the published rule needed more than `more_than` backtracks for.
Result<std::set<std::int64_t>> HardInputs(const EvaluateArguments& arguments) {
  std::set<std::int64_t> hard;
  const auto trials = BERTH_TRY(LoadTrials(arguments.File("published")));
  for (const internal::Trial& trial : trials) {
    if (trial.backtracks() > arguments.more_than) hard.insert(trial.input);
  }
  return hard;
}

Result<cli::ExitCode> Evaluate(const EvaluateArguments& arguments) {
  using internal::Rule;
  using internal::Trial;
  constexpr std::chrono::seconds kBetweenWrites{5};
  const internal::OwnedForest own = BERTH_TRY(LoadModel(arguments.model));
  const internal::Forest forest = arguments.model.empty() ? internal::ShippedForest() : own.view();
  const InputRange inputs = BERTH_TRY(LoadInputs(
      arguments.inputs,
      arguments.training ? internal::InputSet::kTraining : internal::InputSet::kEvaluation,
      kEvaluationInputs));
  BERTH_TRY(ClaimFolder(arguments.folder, inputs.source));
  const std::string path = arguments.File(
      arguments.label.empty() ? std::string(ToString(arguments.rule)) : arguments.label);
  std::string text = internal::TrialHeader();
  std::set<std::int64_t> done;
  if (std::filesystem::exists(path)) {
    text = BERTH_TRY(ReadFile(path));
    const std::vector<Trial> trials = BERTH_TRY(LoadTrials(path));
    for (const Trial& trial : trials) done.insert(trial.input);
  }
  std::set<std::int64_t> hard;
  if (arguments.more_than >= 0) hard = BERTH_TRY(HardInputs(arguments));
  auto written = std::chrono::steady_clock::now();
  for (std::int64_t index = inputs.first; index < inputs.end; ++index) {
    if (done.contains(index) || (arguments.more_than >= 0 && !hard.contains(index))) continue;
    const internal::Input input = inputs.source.Make(index);
    if (arguments.rule != Rule::kHeuristic) {
      // Only inputs that the heuristic does not solve are searched.
      const Trial easy = internal::Try(input.problem, Rule::kHeuristic, forest, arguments.options);
      if (easy.end == Trial::End::kFound) continue;
    }
    Trial trial = internal::Try(input.problem, arguments.rule, forest, arguments.options);
    trial.input = index;
    internal::AppendTrial(trial, text);
    if (std::chrono::steady_clock::now() - written > kBetweenWrites) {
      written = std::chrono::steady_clock::now();
      BERTH_TRY(WriteFile(path, text));
    }
  }
  BERTH_TRY(WriteFile(path, text));
  return cli::kDone;
}

void AddRule(CLI::App& app, internal::Rule& rule) {
  const auto set = [&rule](const std::string& text) {
    std::string known;
    for (int r = 0; r <= static_cast<int>(internal::Rule::kNiche); ++r) {
      const auto candidate = static_cast<internal::Rule>(r);
      if (ToString(candidate) == text) {
        rule = candidate;
        return;
      }
      known += (known.empty() ? "" : ", ") + std::string(ToString(candidate));
    }
    throw CLI::ValidationError("--rule", "'" + cli::OneLine(text) + "' is not one of " + known);
  };
  app.add_option_function<std::string>(
         "--rule", set,
         "How major backtracks are chosen: heuristic (no search), published, learned, "
         "highest-score (as in the paper), random, restarts, oracle, or niche "
         "(the niche search instead). Default: published.")
      ->type_name("NAME");
}

// Sets one number of both the learned rule and the paper's, where it is given.
void AddScore(CLI::App& app, const std::string& name, internal::EvaluateOptions& options,
              float internal::LearnedParameters::*field, const std::string& description) {
  const auto set = [&options, field](float value) {
    options.parameters.*field = options.highest.*field = value;
  };
  app.add_option_function<float>(name, set, description)->type_name("X");
}

void AddLearned(CLI::App& app, internal::EvaluateOptions& options) {
  using internal::LearnedParameters;
  LearnedParameters& parameters = options.parameters;
  AddNumber(app, "--patience", parameters.patience, std::int64_t{0},
            "Backtracks by the published rule before the model is asked; highest-score: none.");
  AddNumber(app, "--seed", parameters.seed, std::uint64_t{0},
            "Seed of all random choices; highest-score has none.");
  AddScore(app, "--threshold", options, &LearnedParameters::threshold,
           "Scores below this one do not move the search. Default: 0.5.");
  AddNumber(
      app, "--draw", parameters.draw, 0,
      "Candidates are drawn with their score to this power; 0 and highest-score take the best.");
  AddScore(
      app, "--depth-weight", options, &LearnedParameters::depth_weight,
      "Share of its score that a candidate at the root loses. Default: 0.2; highest-score: 0.9.");
}

}  // namespace

cli::Command AddEvaluateCommand(CLI::App& train) {
  CLI::App* app = train.add_subcommand("evaluate", "Search the evaluation inputs under one rule.");
  const auto arguments = std::make_shared<EvaluateArguments>();
  app->add_option("FOLDER", arguments->folder,
                  "Receives one file of trials for each rule; existing trials are kept.")
      ->required();
  AddInputChoice(*app, arguments->inputs, kEvaluationInputs, true);
  AddRule(*app, arguments->rule);
  app->add_option("--label", arguments->label,
                  "The name of the file of trials. Default: that of the rule.")
      ->type_name("NAME");
  app->add_option("--model", arguments->model,
                  "A model as fit --json writes it. Default: the one built in.")
      ->type_name("FILE");
  AddNumber(*app, "--steps", arguments->options.steps, std::int64_t{0}, "Steps of one search.");
  AddNumber(*app, "--most-candidates", arguments->options.most_candidates, 1,
            "Candidates tried at one decision point.");
  AddLearned(*app, arguments->options);
  cli::AddInteger(*app, "--more-than", arguments->more_than, std::int64_t{0},
                  std::numeric_limits<std::int64_t>::max(),
                  "Only inputs for which the published rule needed more than N backtracks.");
  app->add_flag("--training-set", arguments->training,
                "Search the training inputs instead of the evaluation inputs.");
  return {app, [arguments] { return Evaluate(*arguments); }};
}

}  // namespace berth::lab
