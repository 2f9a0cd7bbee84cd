// berth-lab train -- learned backtracking: examples, model, evaluation. See
// docs/algorithms/learned.md.
#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/try.h"
#include "berth/io.h"
#include "berth/place.h"
#include "tools/lab/command.h"
#include "tools/lab/train/commands.h"
#include "tools/lab/train/table.h"

namespace berth::lab {

void AddInputChoice(CLI::App& app, InputChoice& choice, std::int64_t own, bool has_first) {
  app.add_option(
         "--problems", choice.tables,
         "Tables, or folders of them, in place of the generated inputs: each as it is and what "
         "of it stays in fast memories of 25, 50 and 75 %, at 100, 102, 105 and 110 % of the "
         "load.")
      ->type_name("FILES")
      ->expected(1)
      ->take_all();
  if (has_first) AddNumber(app, "--first", choice.first, std::int64_t{0}, "The first input.");
  cli::AddInteger(
      app, "--inputs", choice.end, std::int64_t{0}, std::numeric_limits<std::int64_t>::max(),
      "One past the last input; a problem makes four inputs. Default: " + std::to_string(own) +
          ", or all of the tables.");
}

Result<InputRange> LoadInputs(const InputChoice& choice, internal::InputSet set, std::int64_t own) {
  if (choice.tables.empty()) {
    return InputRange{internal::InputSource(set), choice.first, choice.end.value_or(own)};
  }
  InputRange range{BERTH_TRY(internal::InputSource::OfTables(choice.tables)), choice.first, 0};
  const std::int64_t count = range.source.count().value_or(0);
  range.end = std::min(choice.end.value_or(count), count);
  return range;
}

Result<bool> NeedsSearch(const Problem& problem) {
  PlaceOptions heuristic;
  heuristic.algorithm = Algorithm::kContention;
  Budget budget;
  const PlanAnswer easy = BERTH_TRY(Place(problem, heuristic, budget));
  return easy.best->height() > *problem.capacity;
}

std::string RowsFile(const std::string& folder, std::int64_t index) {
  std::string number = std::to_string(index);
  number.insert(0, number.size() < 6 ? 6 - number.size() : 0, '0');
  return (std::filesystem::path(folder) / ("input-" + number + ".csv")).string();
}

Result<void> MakeFolder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return Fail(ErrorCode::kIo, path + ": " + error.message());
  return {};
}

namespace {

std::string InputsFile(const std::string& folder) {
  return (std::filesystem::path(folder) / "inputs.txt").string();
}

bool HasTables(const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code error;
  for (fs::directory_iterator file(folder, error), end; !error && file != end;
       file.increment(error)) {
    if (file->path().extension() == ".csv") return true;
  }
  return false;
}

// Whether the folder says what it is of. Error: it is of others.
Result<bool> Agrees(const std::string& folder, const internal::InputSource& inputs) {
  // Looked for in this order, as a process that collects beside this one writes inputs.txt first.
  const bool begun = HasTables(folder);
  const std::string path = InputsFile(folder);
  const bool says = std::filesystem::exists(path);
  if (!says && (!begun || !inputs.count())) return false;
  std::string of = says ? BERTH_TRY(ReadFile(path)) : "generated inputs";
  if (!of.empty() && of.back() == '\n') of.pop_back();
  if (const std::string wanted = inputs.Describe(); of != wanted) {
    return Fail(ErrorCode::kInvalidOptions, folder + ": its files are of other inputs (" + of +
                                                ", not " + wanted + "); take a folder of its own");
  }
  return true;
}

}  // namespace

Result<void> ClaimFolder(const std::string& folder, const internal::InputSource& inputs) {
  BERTH_TRY(MakeFolder(folder));
  if (BERTH_TRY(Agrees(folder, inputs))) return {};
  return WriteFile(InputsFile(folder), inputs.Describe() + "\n");
}

Result<void> CheckFolder(const std::string& folder, const internal::InputSource& inputs) {
  (void)BERTH_TRY(Agrees(folder, inputs));
  return {};
}

Result<internal::OwnedForest> LoadModel(const std::string& path) {
  if (path.empty()) return internal::OwnedForest();
  const std::string json = BERTH_TRY(ReadFile(path));
  internal::OwnedForest forest = BERTH_TRY(internal::ParseForest(json, path));
  if (forest.features != internal::kNumFeatures) {
    return Fail(ErrorCode::kParse, path + ": a model of " + std::to_string(forest.features) +
                                       " features, not " + std::to_string(internal::kNumFeatures));
  }
  return forest;
}

std::vector<cli::Command> AddTrainCommands(CLI::App& lab) {
  CLI::App* const train = lab.add_subcommand(
      "train", "Learned backtracking: collect examples, fit the model, evaluate it.");
  train->require_subcommand(1);
  train->footer("scripts/train takes all the steps; docs/algorithms/learned.md explains them.");
  return {AddCollectCommand(*train),  AddMergeCommand(*train),  AddFitCommand(*train),
          AddEvaluateCommand(*train), AddReportCommand(*train), AddStepsCommand(*train)};
}

}  // namespace berth::lab
