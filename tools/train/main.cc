// berth-train: examples of good backtracks, a model from them, and what it is worth. See
// docs/algorithms/learned.md.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "berth/io.h"
#include "berth/place.h"
#include "tools/train/booster.h"
#include "tools/train/collect.h"
#include "tools/train/evaluate.h"
#include "tools/train/examples.h"
#include "tools/train/inputs.h"
#include "tools/train/model_file.h"
#include "tools/train/report.h"
#include "tools/train/table.h"

namespace berth::internal {
namespace {

using Files = std::filesystem::path;

double Seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string RowsFile(const std::string& folder, std::int64_t index) {
  std::string number = std::to_string(index);
  number.insert(0, number.size() < 6 ? 6 - number.size() : 0, '0');
  return (Files(folder) / ("input-" + number + ".csv")).string();
}

// "3/8": the third of eight shards.
Result<std::pair<std::int64_t, std::int64_t>> ParseShard(const std::string& text) {
  long long part = 0;
  long long parts = 0;
  char rest = 0;
  if (std::sscanf(text.c_str(), "%lld/%lld%c", &part, &parts, &rest) != 2 || part < 1 ||
      part > parts) {
    return Fail(ErrorCode::kInvalidOptions,
                "--shard is \"" + text + "\" but must be I/N with I from 1 to N");
  }
  return std::pair<std::int64_t, std::int64_t>(part, parts);
}

struct CollectCommand {
  std::string folder;
  std::int64_t first = 0;
  std::int64_t inputs = 640;
  std::string shard = "1/1";
  CollectOptions options;

  Result<void> Run() const {
    const auto parts = ParseShard(shard);
    if (!parts) return tl::unexpected<Error>(parts.error());
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) return Fail(ErrorCode::kIo, folder + ": " + error.message());
    CollectStats stats;
    std::int64_t rows = 0;
    const double begin = Seconds();
    for (std::int64_t index = first + parts->first - 1; index < inputs; index += parts->second) {
      const std::string path = RowsFile(folder, index);
      if (std::filesystem::exists(path)) continue;
      const Input input = MakeInput(InputSet::kTraining, index);
      PlaceOptions heuristic;
      heuristic.algorithm = Algorithm::kContention;
      Budget budget;
      const auto easy = Place(input.problem, heuristic, budget);
      if (!easy) return tl::unexpected<Error>(easy.error());
      std::string text = TableHeader();
      if (easy->best->height() > *input.problem.capacity) {
        const auto collected = CollectRows(input.problem, index, options, stats);
        rows += static_cast<std::int64_t>(collected.size());
        for (const TrainingRow& row : collected) AppendRow(row, text);
      }
      if (const auto written = WriteFile(path, text); !written) return written;
    }
    std::printf(
        "%" PRId64 " rows of %" PRId64 " backtracks in %.0f s; %" PRId64
        " candidates undecided; dropped: %" PRId64 " unknown, %" PRId64 " hopeless, %" PRId64
        " of searches without a plan; runs that found a plan: %" PRId64 "; oracle: %" PRId64
        " questions, %" PRId64 " answered from the cache, %" PRId64 " nodes\n",
        rows, stats.examples, Seconds() - begin, stats.undecided, stats.unknown, stats.hopeless,
        stats.unsolved, stats.solved, stats.oracle.asked, stats.oracle.known, stats.oracle.nodes);
    return {};
  }
};

struct MergeCommand {
  std::string folder;
  std::int64_t first = 0;
  std::int64_t inputs = 640;
  std::string output;

  Result<void> Run() const {
    std::string text = TableHeader();
    const std::size_t header = text.size();
    for (std::int64_t index = first; index < inputs; ++index) {
      const std::string path = RowsFile(folder, index);
      const auto part = ReadFile(path);
      if (!part) return tl::unexpected<Error>(part.error());
      if (const auto rows = ReadTable(*part, path); !rows) {
        return tl::unexpected<Error>(rows.error());
      }
      text.append(*part, header, std::string::npos);
    }
    return WriteFile(output, text);
  }
};

// FNV-1a: tells one table from another.
std::string Fingerprint(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char byte : text) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3u;
  }
  std::array<char, 17> digits{};
  (void)std::snprintf(digits.data(), digits.size(), "%016" PRIx64, hash);
  return digits.data();
}

struct FitCommand {
  std::string table;
  std::string held_out;
  ExampleOptions example_options;
  std::string output;
  std::string json;
  BoosterOptions options;

  std::vector<std::string> Provenance(std::string_view text, std::size_t rows, std::size_t choices,
                                      const Trained& trained) const {
    return {"Examples: " + std::to_string(rows) + " candidates of " + std::to_string(choices) +
                " major backtracks on training inputs (tools/train/inputs.h);",
            "the table has " + std::to_string(text.size()) + " bytes, FNV-1a " + Fingerprint(text) +
                ".",
            "Fitted by XGBoost " + trained.version + ": " + std::to_string(options.trees) +
                " trees of depth " + std::to_string(options.depth) +
                (options.pairwise ? ", pairwise ranking." : ", squared error."),
            "Made again by scripts/train."};
  }

  static void PrintQuality(const char* rule, const ChoiceQuality& quality) {
    std::printf("%s: of %" PRId64
                " choices held out %.1f %% between best and minimum target, %.1f %% in vain "
                "or undecided, mean "
                "score %.2f\n",
                rule, quality.choices, 100 * quality.good, 100 * quality.vain, quality.score);
  }

  Result<void> Run() const {
    const auto text = ReadFile(table);
    if (!text) return tl::unexpected<Error>(text.error());
    const auto rows = ReadTable(*text, table);
    if (!rows) return tl::unexpected<Error>(rows.error());
    if (rows->empty()) return Fail(ErrorCode::kParse, table + ": no rows to learn from");
    const Examples examples = MakeExamples(*rows, example_options);
    const auto& [features, numbers, labels, weights, groups] = examples;
    const auto trained = Train(examples, options);
    if (!trained) return tl::unexpected<Error>(trained.error());
    const auto theirs = Predict(trained->json, numbers, features);
    if (!theirs) return tl::unexpected<Error>(theirs.error());
    std::vector<float> ours(labels.size());
    Score(trained->forest.view(), numbers, ours);
    float apart = 0;
    double squares = 0;
    for (std::size_t r = 0; r < ours.size(); ++r) {
      apart = std::max(apart, std::abs(ours[r] - (*theirs)[r]));
      squares += (ours[r] - labels[r]) * (ours[r] - labels[r]);
    }
    std::printf("%zu rows, %zu choices; RMSE %.3f; at most %.2g from XGBoost %s\n", labels.size(),
                groups.size(), std::sqrt(squares / static_cast<double>(ours.size())),
                static_cast<double>(apart), trained->version.c_str());
    if (!held_out.empty()) {
      const auto fresh = ReadFile(held_out);
      if (!fresh) return tl::unexpected<Error>(fresh.error());
      const auto others = ReadTable(*fresh, held_out);
      if (!others) return tl::unexpected<Error>(others.error());
      PrintQuality("model", QualityOfModel(trained->forest.view(), *others));
      PrintQuality("chance", QualityOfChance(*others));
      PrintQuality("deepest blamed", QualityOfDeepest(*others));
    }
    if (!json.empty()) {
      if (const auto written = WriteFile(json, trained->json); !written) return written;
    }
    return WriteFile(output, WriteModel(trained->forest.view(),
                                        Provenance(*text, rows->size(), groups.size(), *trained)));
  }
};

// A model as XGBoost saves it; an empty forest for an empty path.
Result<OwnedForest> LoadModel(const std::string& path) {
  if (path.empty()) return OwnedForest();
  const auto json = ReadFile(path);
  if (!json) return tl::unexpected<Error>(json.error());
  auto forest = ParseForest(*json, path);
  if (forest && forest->features != kNumFeatures) {
    return Fail(ErrorCode::kParse, path + ": a model of " + std::to_string(forest->features) +
                                       " features, not " + std::to_string(kNumFeatures));
  }
  return forest;
}

struct EvaluateCommand {
  std::string folder;
  std::int64_t inputs = 1200;
  std::int64_t first = 0;
  std::string rule = "published";
  std::string label;  // Of the file of trials.
  std::string model;
  std::int64_t more_than = -1;
  bool training = false;
  EvaluateOptions options;

  Result<void> Run() const {
    Rule chosen = Rule::kHeuristic;
    while (ToString(chosen) != rule) chosen = static_cast<Rule>(static_cast<int>(chosen) + 1);
    const auto own = LoadModel(model);
    if (!own) return tl::unexpected<Error>(own.error());
    const Forest forest = model.empty() ? ShippedForest() : own->view();
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) return Fail(ErrorCode::kIo, folder + ": " + error.message());
    const std::string path = (Files(folder) / ((label.empty() ? rule : label) + ".csv")).string();
    std::string text = TrialHeader();
    std::set<std::int64_t> done;
    std::vector<Trial> base;
    if (std::filesystem::exists(path)) {
      const auto old = ReadFile(path);
      if (!old) return tl::unexpected<Error>(old.error());
      const auto trials = ReadTrials(*old, path);
      if (!trials) return tl::unexpected<Error>(trials.error());
      text = *old;
      for (const Trial& trial : *trials) done.insert(trial.input);
    }
    if (more_than >= 0) {
      const std::string published = (Files(folder) / "published.csv").string();
      const auto old = ReadFile(published);
      if (!old) return tl::unexpected<Error>(old.error());
      auto trials = ReadTrials(*old, published);
      if (!trials) return tl::unexpected<Error>(trials.error());
      base = std::move(*trials);
    }
    double saved = Seconds();
    for (std::int64_t index = first; index < inputs; ++index) {
      if (done.count(index) != 0) continue;
      if (more_than >= 0) {
        const auto at = std::find_if(base.begin(), base.end(),
                                     [&](const Trial& trial) { return trial.input == index; });
        if (at == base.end() || at->backtracks() <= more_than) continue;
      }
      const Input input = MakeInput(training ? InputSet::kTraining : InputSet::kEvaluation, index);
      if (chosen != Rule::kHeuristic) {
        // Only what the heuristic does not solve is searched.
        const Trial easy = Try(input.problem, Rule::kHeuristic, forest, options);
        if (easy.end == Trial::End::kFound) continue;
      }
      Trial trial = Try(input.problem, chosen, forest, options);
      trial.input = index;
      AppendTrial(trial, text);
      if (Seconds() - saved > 5) {
        saved = Seconds();
        if (const auto written = WriteFile(path, text); !written) return written;
      }
    }
    return WriteFile(path, text);
  }
};

std::string Fixed(double value, int digits) {
  std::string text(64, '\0');
  const int length = std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  text.resize(static_cast<std::size_t>(std::max(length, 0)));
  return text;
}

struct ReportCommand {
  std::string folder;
  std::string table;
  std::string model;
  std::string output;
  std::int64_t inputs = 1200;
  EvaluateOptions options;

  Result<Trials> Load(const std::string& rule) const {
    const std::string path = (Files(folder) / (rule + ".csv")).string();
    const auto text = ReadFile(path);
    if (!text) return tl::unexpected<Error>(text.error());
    const auto list = ReadTrials(*text, path);
    if (!list) return tl::unexpected<Error>(list.error());
    Trials trials;
    for (const Trial& trial : *list) {
      if (trial.input < inputs) trials.emplace(trial.input, trial);
    }
    return trials;
  }

  Result<void> Write(const std::string& name, const std::string& text) const {
    return WriteFile((Files(output) / name).string(), text);
  }

  Result<void> Run() const {
    const auto own = LoadModel(model);
    if (!own) return tl::unexpected<Error>(own.error());
    const Forest forest = model.empty() ? ShippedForest() : own->view();
    std::error_code error;
    std::filesystem::create_directories(output, error);
    if (error) return Fail(ErrorCode::kIo, output + ": " + error.message());
    const auto published = Load("published");
    if (!published) return tl::unexpected<Error>(published.error());
    std::string text =
        "# Learned backtracking: evaluation\n\n" + std::to_string(inputs) +
        " inputs; the heuristic leaves " + std::to_string(published->size()) +
        " to the search.\n\n"
        "| long tail | inputs | improved | | without a plan before | plan now | 10 x "
        "fewer | worse | solved within 1 s, of all searched |\n"
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|\n";
    std::string by_size = "\n| improved of the long tail at |";
    for (std::int64_t k = 0; k < kSizesOfOne; ++k) {
      by_size += " " + std::to_string(MakeInput(InputSet::kEvaluation, k).percent) + " % |";
    }
    by_size += "\n|---|---:|---:|---:|---:|\n";
    std::string worse;
    Trials learned;
    for (const char* rule : {"published", "learned", "random", "restarts", "oracle", "niche"}) {
      if (!std::filesystem::exists(Files(folder) / (std::string(rule) + ".csv"))) continue;
      const auto trials = Load(rule);
      if (!trials) return tl::unexpected<Error>(trials.error());
      const Comparison all = Compare(*published, *trials);
      std::int64_t quick = 0;
      for (const auto& [input, before] : *published) {
        // What was not searched again is what it was.
        const auto at = trials->find(input);
        const Trial& trial = at == trials->end() ? before : at->second;
        quick += trial.end == Trial::End::kFound && trial.seconds <= 1 ? 1 : 0;
      }
      const auto percent = [](std::int64_t part, std::int64_t of) {
        return of == 0 ? std::string("-")
                       : Fixed(100 * static_cast<double>(part) / static_cast<double>(of), 0) + " %";
      };
      if (std::string(rule) == "niche") {  // Its backtracks are no rule's.
        text += "| niche | | | | | | | | " + std::to_string(quick) + " |\n";
        continue;
      }
      text += "| " + std::string(rule) + " | " + std::to_string(all.tail) + " | " +
              std::to_string(all.improved) + " | " + percent(all.improved, all.tail) + " | " +
              std::to_string(all.failures) + " | " + std::to_string(all.rescued) + " | " +
              std::to_string(all.ten_times) + " | " + std::to_string(all.worse) + " | " +
              std::to_string(quick) + " |\n";
      by_size += "| " + std::string(rule) + " |";
      for (std::int64_t k = 0; k < kSizesOfOne; ++k) {
        Trials some;
        for (const auto& [input, trial] : *trials) {
          if (input % kSizesOfOne == k) some.emplace(input, trial);
        }
        const Comparison part = Compare(*published, some);
        by_size += " " + std::to_string(part.improved) + " of " + std::to_string(part.tail) + " |";
      }
      by_size += "\n";
      if (std::string(rule) != "learned") continue;
      learned = *trials;
      for (const std::int64_t input : all.worse_inputs) {
        worse += "- " + MakeInput(InputSet::kEvaluation, input).name + ": " +
                 std::to_string(published->at(input).backtracks()) + " backtracks, now " +
                 std::to_string(trials->at(input).backtracks()) +
                 (trials->at(input).end == Trial::End::kFound ? "" : " and no plan") + "\n";
      }
    }
    text += by_size + "\nWorse by the learned rule:\n\n" + (worse.empty() ? "none\n" : worse);

    std::vector<std::pair<std::size_t, double>> times;
    text += "\n| candidates in a batch | microseconds for one |\n|---:|---:|\n";
    for (const std::size_t candidates : {1U, 2U, 4U, 8U, 12U, 16U, 20U, 24U, 30U, 40U, 64U}) {
      times.emplace_back(candidates, MicrosecondsPerCandidate(forest, candidates));
      text += "| " + std::to_string(candidates) + " | " + Fixed(times.back().second, 2) + " |\n";
    }
    if (const auto done = Write("figure16.svg", DrawTimes(times)); !done) return done;

    std::vector<double> importance(kNumFeatures, 0);
    if (!table.empty()) {
      const auto data = ReadFile(table);
      if (!data) return tl::unexpected<Error>(data.error());
      const auto rows = ReadTable(*data, table);
      if (!rows) return tl::unexpected<Error>(rows.error());
      importance = Importance(forest, *rows);
      text += "\n| feature | increase of the RMSE by shuffling it |\n|---|---:|\n";
      for (std::size_t f = 0; f < kNumFeatures; ++f) {
        text += "| " + std::string(ToString(static_cast<Feature>(f))) + " | " +
                Fixed(importance[f], 3) + " |\n";
      }
    }
    if (const auto done = Write("figure17.svg", DrawImportance(importance)); !done) return done;

    // The input that gains most.
    std::int64_t shown = published->empty() ? 0 : published->begin()->first;
    double most = 0;
    for (const auto& [input, trial] : learned) {
      const auto before = published->find(input);
      if (trial.end != Trial::End::kFound || before == published->end()) continue;
      const double gain = static_cast<double>(before->second.backtracks()) /
                          static_cast<double>(trial.backtracks() + 1);
      if (gain <= most) continue;
      most = gain;
      shown = input;
    }
    const Input input = MakeInput(InputSet::kEvaluation, shown);
    const auto trace = [&](bool by_model) {
      return Trace(input.problem, by_model, forest, options);
    };
    text += "\nFigure 15 shows " + input.name + ".\n";
    if (const auto done = Write("figure15.svg", DrawTrace(input.name, trace(false), trace(true)));
        !done) {
      return done;
    }
    std::printf("%s", text.c_str());
    return Write("learned.md", text);
  }
};

int Main(int argc, char** argv) {
  CLI::App app("Learned backtracking: collects examples, fits the model, evaluates it.",
               "berth-train");
  app.require_subcommand(1);
  std::function<Result<void>()> run;

  CollectCommand collect;
  CLI::App* const collecting =
      app.add_subcommand("collect", "Search the training inputs beside the oracle.");
  collecting
      ->add_option("folder", collect.folder,
                   "One file of rows for each input; what is there is kept.")
      ->required();
  collecting->add_option("--first", collect.first, "The first input.")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  collecting->add_option("--inputs", collect.inputs, "One past the last input; four to a problem.")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  collecting->add_option("--shard", collect.shard, "I/N: every N-th input from the I-th on.")
      ->capture_default_str();
  collecting->add_option("--seed", collect.options.seed)->capture_default_str();
  collecting->add_option("--runs", collect.options.runs, "Searches of each input.")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  collecting->add_option("--steps", collect.options.steps, "Steps of one search.")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  collecting->add_option("--backtracks", collect.options.backtracks, "Examples from one search.")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  collecting->add_option("--oracle-nodes", collect.options.oracle_nodes, "Nodes for one question.")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  collecting->callback([&] { run = [&] { return collect.Run(); }; });

  MergeCommand merge;
  CLI::App* const merging = app.add_subcommand("merge", "Make one table of all shards.");
  merging->add_option("folder", merge.folder)->required();
  merging->add_option("--first", merge.first)->check(CLI::NonNegativeNumber)->capture_default_str();
  merging->add_option("--inputs", merge.inputs)
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  merging->add_option("-o,--output", merge.output)->required();
  merging->callback([&] { run = [&] { return merge.Run(); }; });

  FitCommand fit;
  std::vector<std::string> features;
  for (std::size_t f = 0; f < kNumFeatures; ++f) {
    features.emplace_back(ToString(static_cast<Feature>(f)));
  }
  std::vector<std::string> without;
  CLI::App* const fitting = app.add_subcommand("fit", "Fit the forest and write it as C++.");
  fitting->add_option("table", fit.table)->required();
  fitting->add_option("-o,--output", fit.output)->required();
  fitting->add_option("--json", fit.json, "Also as XGBoost saves it.");
  fitting->add_option("--trees", fit.options.trees)
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  fitting->add_option("--depth", fit.options.depth)
      ->check(CLI::Range(1, kMostDepth))
      ->capture_default_str();
  fitting->add_option("--learning-rate", fit.options.learning_rate)
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  fitting->add_option("--least-weight", fit.options.least_weight)
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  fitting->add_flag("--pairwise", fit.options.pairwise);
  fitting->add_flag("--drop-undecided", fit.example_options.drop_undecided,
                    "Leave out what the oracle could not tell about.");
  fitting->add_flag("--balanced", fit.example_options.balanced,
                    "Inputs weigh as the square root of their rows.");
  fitting->add_option("--without", without, "Features that the model does not see.")
      ->check(CLI::IsMember(features));
  fitting->add_option("--held-out", fit.held_out, "Another table: how good its choices would be.");
  fitting->callback([&] {
    for (std::size_t f = 0; f < kNumFeatures; ++f) {
      fit.example_options.hidden[f] =
          std::find(without.begin(), without.end(), features[f]) != without.end();
    }
    run = [&] { return fit.Run(); };
  });

  EvaluateCommand evaluate;
  CLI::App* const evaluating = app.add_subcommand("evaluate", "Search the evaluation inputs.");
  evaluating->add_option("folder", evaluate.folder)->required();
  evaluating->add_option("--inputs", evaluate.inputs)
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  evaluating->add_option("--first", evaluate.first)
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  evaluating->add_option("--rule", evaluate.rule)
      ->check(CLI::IsMember(
          {"heuristic", "published", "learned", "random", "restarts", "oracle", "niche"}))
      ->capture_default_str();
  evaluating->add_option("--label", evaluate.label);
  evaluating->add_option("--model", evaluate.model);
  evaluating->add_option("--steps", evaluate.options.steps)
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  evaluating->add_option("--patience", evaluate.options.parameters.patience)
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  evaluating->add_option("--seed", evaluate.options.parameters.seed)->capture_default_str();
  evaluating->add_option("--threshold", evaluate.options.parameters.threshold)
      ->capture_default_str();
  evaluating->add_option("--draw", evaluate.options.parameters.draw)
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  evaluating->add_option("--depth-weight", evaluate.options.parameters.depth_weight)
      ->capture_default_str();
  evaluating->add_option("--more-than", evaluate.more_than,
                         "Only what took the published rule more backtracks.");
  evaluating->add_flag("--training-set", evaluate.training);
  evaluating->callback([&] { run = [&] { return evaluate.Run(); }; });

  ReportCommand report;
  CLI::App* const reporting = app.add_subcommand("report", "Tables and figures of an evaluation.");
  reporting->add_option("folder", report.folder, "Of the trials.")->required();
  reporting->add_option("-o,--output", report.output, "Folder of the report.")->required();
  reporting->add_option("--inputs", report.inputs)
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  reporting->add_option("--table", report.table, "Training data, for what the features are worth.");
  reporting->add_option("--model", report.model, "Another model than the one built in.");
  reporting->callback([&] { run = [&] { return report.Run(); }; });

  CLI11_PARSE(app, argc, argv);
  if (const auto done = run(); !done) {
    std::fprintf(stderr, "berth-train: error: %s\n", done.error().message.c_str());
    return 2;
  }
  return 0;
}

}  // namespace
}  // namespace berth::internal

int main(int argc, char** argv) { return berth::internal::Main(argc, argv); }
