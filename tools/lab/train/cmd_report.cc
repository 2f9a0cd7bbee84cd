// berth-lab train report -- the tables and figures of an evaluation (TelaMalloc 7.3).
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/try.h"
#include "berth/io.h"
#include "tools/berth/output.h"
#include "tools/lab/train/commands.h"
#include "tools/lab/train/evaluate.h"
#include "tools/lab/train/inputs.h"
#include "tools/lab/train/report.h"
#include "tools/lab/train/table.h"

namespace berth::lab {
namespace {

using internal::Trial;
using internal::Trials;

struct ReportArguments {
  std::string folder;
  std::string table;
  std::string model;
  std::string output;
  InputChoice inputs;
  bool training = false;

  [[nodiscard]] std::string TrialsOf(const std::string& rule) const {
    return (std::filesystem::path(folder) / (rule + ".csv")).string();
  }
  [[nodiscard]] Result<void> Write(const std::string& name, const std::string& text) const {
    return WriteFile((std::filesystem::path(output) / name).string(), text);
  }
};

std::string Fixed(double value, int digits) {
  std::string text(64, '\0');
  const int length = std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  text.resize(static_cast<std::size_t>(std::max(length, 0)));
  return text;
}

std::string Percent(std::int64_t part, std::int64_t whole) {
  if (whole == 0) return "-";
  return Fixed(100 * static_cast<double>(part) / static_cast<double>(whole), 0) + " %";
}

Result<Trials> Load(const ReportArguments& arguments, const std::string& rule, std::int64_t end) {
  const std::string path = arguments.TrialsOf(rule);
  const std::string text = BERTH_TRY(ReadFile(path));
  const std::vector<Trial> all = BERTH_TRY(internal::ReadTrials(text, path));
  Trials trials;
  for (const Trial& trial : all) {
    if (trial.input < end) trials.emplace(trial.input, trial);
  }
  return trials;
}

// How many inputs have a plan within a second; an input that a rule did not search counts as the
// published rule left it.
std::int64_t CountQuick(const Trials& published, const Trials& trials) {
  std::int64_t quick = 0;
  for (const auto& [input, before] : published) {
    const auto at = trials.find(input);
    const Trial& trial = at == trials.end() ? before : at->second;
    quick += trial.end == Trial::End::kFound && trial.seconds <= 1 ? 1 : 0;
  }
  return quick;
}

// The rules of which there are trials, in the order of the table, and then other labels by name.
std::vector<std::string> RulesIn(const ReportArguments& arguments) {
  std::vector<std::string> rules;
  for (int r = 1; r <= static_cast<int>(internal::Rule::kNiche); ++r) {
    const std::string rule(ToString(static_cast<internal::Rule>(r)));
    if (std::filesystem::exists(arguments.TrialsOf(rule))) rules.push_back(rule);
  }
  std::set<std::string> others;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(arguments.folder, ignored)) {
    const std::string label = entry.path().stem().string();
    if (entry.path().extension() != ".csv" || label == ToString(internal::Rule::kHeuristic))
      continue;
    if (std::find(rules.begin(), rules.end(), label) == rules.end()) others.insert(label);
  }
  rules.insert(rules.end(), others.begin(), others.end());
  return rules;
}

// The table of one rule a row, as two: the whole, and what is improved at each size of memory.
class RuleTables {
 public:
  explicit RuleTables(const internal::InputSource& source) {
    for (std::int64_t k = 0; k < internal::kSizesOfOne; ++k) {
      by_size_ += " " + std::to_string(source.Make(k).percent) + " % |";
    }
    by_size_ += "\n|---|---:|---:|---:|---:|\n";
  }

  void Add(const std::string& rule, const Trials& published, const Trials& trials) {
    const std::string quick = std::to_string(CountQuick(published, trials));
    if (rule == "niche") {  // Its backtracks are no rule's.
      whole_ += "| niche | | | | | | | | | | " + quick + " |\n";
      return;
    }
    const internal::Comparison all = internal::Compare(published, trials);
    whole_ += "| " + rule + " | " + std::to_string(all.tail) + " | " +
              std::to_string(all.improved) + " | " + Percent(all.improved, all.tail) + " | " +
              std::to_string(all.failures) + " | " + std::to_string(all.rescued) + " | " +
              std::to_string(all.ten_times) + " | " + std::to_string(all.worse) + " | " +
              std::to_string(all.lost) + " | " + std::to_string(all.ten_times_worse) + " | " +
              quick + " |\n";
    by_size_ += "| " + rule + " |";
    for (std::int64_t k = 0; k < internal::kSizesOfOne; ++k) {
      Trials some;
      for (const auto& [input, trial] : trials) {
        if (input % internal::kSizesOfOne == k) some.emplace(input, trial);
      }
      const internal::Comparison part = internal::Compare(published, some);
      by_size_ += " " + std::to_string(part.improved) + " of " + std::to_string(part.tail) + " |";
    }
    by_size_ += "\n";
  }

  [[nodiscard]] std::string Text() const { return whole_ + by_size_; }

 private:
  std::string whole_ =
      "| long tail | inputs | improved | | without a plan before | plan now | 10 x fewer | worse | "
      "of all searched: plan lost | 10 x more | solved within 1 s |\n"
      "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n";
  std::string by_size_ = "\n| improved of the long tail at |";
};

// The inputs for which the learned rule needs more backtracks, one a line.
std::string WorseInputs(const internal::InputSource& source, const Trials& published,
                        const Trials& learned) {
  std::string worse;
  for (const std::int64_t input : internal::Compare(published, learned).worse_inputs) {
    worse += "- " + source.Make(input).name + ": " +
             std::to_string(published.at(input).backtracks()) + " backtracks, now " +
             std::to_string(learned.at(input).backtracks()) +
             (learned.at(input).end == Trial::End::kFound ? "" : " and no plan") + "\n";
  }
  return worse;
}

// Figure 16: the model's time.
Result<std::string> ReportTimes(const ReportArguments& arguments, const internal::Forest& forest) {
  std::vector<std::pair<std::size_t, double>> times;
  std::string text = "\n| candidates in a batch | microseconds for one |\n|---:|---:|\n";
  for (const std::size_t candidates : {1U, 2U, 4U, 8U, 12U, 16U, 20U, 24U, 30U, 40U, 64U}) {
    times.emplace_back(candidates, internal::MicrosecondsPerCandidate(forest, candidates));
    text += "| " + std::to_string(candidates) + " | " + Fixed(times.back().second, 2) + " |\n";
  }
  BERTH_TRY(arguments.Write("figure16.svg", internal::DrawTimes(times)));
  return text;
}

// Figure 17: the worth of features; zeros where there is no table to measure it on.
Result<std::string> ReportFeatures(const ReportArguments& arguments,
                                   const internal::Forest& forest) {
  std::string text;
  std::vector<double> importance(internal::kNumFeatures, 0);
  if (!arguments.table.empty()) {
    const std::string data = BERTH_TRY(ReadFile(arguments.table));
    importance =
        internal::Importance(forest, BERTH_TRY(internal::ReadTable(data, arguments.table)));
    text += "\n| feature | increase of the RMSE by shuffling it |\n|---|---:|\n";
    for (std::size_t f = 0; f < internal::kNumFeatures; ++f) {
      text += "| " + std::string(ToString(static_cast<internal::Feature>(f))) + " | " +
              Fixed(importance[f], 3) + " |\n";
    }
  }
  BERTH_TRY(arguments.Write("figure17.svg", internal::DrawImportance(importance)));
  return text;
}

// Figure 15: the searches of the input that gains most.
Result<std::string> ReportTraces(const ReportArguments& arguments,
                                 const internal::InputSource& source, const Trials& published,
                                 const Trials& learned, const internal::Forest& forest) {
  std::int64_t shown = published.empty() ? 0 : published.begin()->first;
  double most = 0;
  for (const auto& [input, trial] : learned) {
    const auto before = published.find(input);
    if (trial.end != Trial::End::kFound || before == published.end()) continue;
    const double gain = static_cast<double>(before->second.backtracks()) /
                        static_cast<double>(trial.backtracks() + 1);
    if (gain <= most) continue;
    most = gain;
    shown = input;
  }
  const internal::Input input = source.Make(shown);
  const auto trace = [&](bool by_model) {
    return internal::Trace(input.problem, by_model, forest, {});
  };
  BERTH_TRY(
      arguments.Write("figure15.svg", internal::DrawTrace(input.name, trace(false), trace(true))));
  return "\nFigure 15 shows " + input.name + ".\n";
}

Result<cli::ExitCode> Report(const ReportArguments& arguments) {
  const internal::OwnedForest own = BERTH_TRY(LoadModel(arguments.model));
  const internal::Forest forest = arguments.model.empty() ? internal::ShippedForest() : own.view();
  const InputRange inputs = BERTH_TRY(LoadInputs(
      arguments.inputs,
      arguments.training ? internal::InputSet::kTraining : internal::InputSet::kEvaluation,
      kEvaluationInputs));
  BERTH_TRY(CheckFolder(arguments.folder, inputs.source));
  BERTH_TRY(MakeFolder(arguments.output));
  const Trials published = BERTH_TRY(Load(arguments, "published", inputs.end));
  RuleTables tables(inputs.source);
  Trials learned;
  for (const std::string& rule : RulesIn(arguments)) {
    const Trials trials = BERTH_TRY(Load(arguments, rule, inputs.end));
    tables.Add(rule, published, trials);
    if (rule == "learned") learned = trials;
  }
  const std::string worse = WorseInputs(inputs.source, published, learned);
  std::string text = "# Learned backtracking: evaluation\n\n" + std::to_string(inputs.end) +
                     " inputs; the heuristic leaves " + std::to_string(published.size()) +
                     " to the search.\n\n" + tables.Text() + "\nWorse by the learned rule:\n\n" +
                     (worse.empty() ? "none\n" : worse);
  text += BERTH_TRY(ReportTimes(arguments, forest));
  text += BERTH_TRY(ReportFeatures(arguments, forest));
  text += BERTH_TRY(ReportTraces(arguments, inputs.source, published, learned, forest));
  cli::Print(text);
  BERTH_TRY(arguments.Write("learned.md", text));
  return cli::kDone;
}

}  // namespace

cli::Command AddReportCommand(CLI::App& train) {
  CLI::App* app = train.add_subcommand("report", "Tables and figures of an evaluation.");
  const auto arguments = std::make_shared<ReportArguments>();
  app->add_option("FOLDER", arguments->folder, "The folder that evaluate wrote.")->required();
  app->add_option("-o,--output", arguments->output, "The folder for the report.")
      ->type_name("FOLDER")
      ->required();
  AddInputChoice(*app, arguments->inputs, kEvaluationInputs, false);
  app->add_flag("--training-set", arguments->training,
                "The trials are of the training inputs, not of the evaluation inputs.");
  app->add_option("--table", arguments->table,
                  "The table that merge wrote, to measure how much each feature is worth.")
      ->type_name("TABLE");
  app->add_option("--model", arguments->model,
                  "A model as fit --json writes it. Default: the one built in.")
      ->type_name("FILE");
  return {app, [arguments] { return Report(*arguments); }};
}

}  // namespace berth::lab
