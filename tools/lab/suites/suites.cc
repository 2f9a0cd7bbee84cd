#include "tools/lab/suites/suites.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/try.h"
#include "berth/io.h"
#include "tools/berth/output.h"
#include "tools/berth/terminal.h"
#include "tools/lab/bench/machine.h"
#include "tools/lab/bench/report.h"

namespace berth::lab {
namespace {

const Suite* FindSuite(std::string_view name) {
  for (const Suite* suite : Suites()) {
    if (suite->name == name) return suite;
  }
  return nullptr;
}

Result<std::vector<const Experiment*>> Choose(const Suite& suite,
                                              const std::vector<std::string>& only) {
  std::vector<const Experiment*> chosen;
  std::string known;
  for (const Experiment& experiment : suite.experiments) {
    known += (known.empty() ? "" : ", ") + std::string(experiment.key);
    if (only.empty() || std::find(only.begin(), only.end(), experiment.key) != only.end()) {
      chosen.push_back(&experiment);
    }
  }
  for (const std::string& key : only) {
    const bool found = std::any_of(chosen.begin(), chosen.end(), [&](const Experiment* experiment) {
      return experiment->key == key;
    });
    if (!found) {
      return Fail(ErrorCode::kInvalidOptions, "--only: the suite " + std::string(suite.name) +
                                                  " has no '" + key + "'; it has " + known);
    }
  }
  return chosen;
}

// "heuristic" is what the suites call `contention` (Lab::Contend).
Result<void> CheckAlgorithms(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (name == "heuristic" || MethodFromName(name)) continue;
    return Fail(ErrorCode::kInvalidOptions, UnknownMethod(name));
  }
  return {};
}

// When a run began, and how busy the machine was then.
struct Beginning {
  std::string date = UtcNow();
  std::optional<double> load = LoadAverage();
};

Json LoadJson(const std::optional<double>& load) { return load ? Json(*load) : Json(nullptr); }

// Where, when and how each experiment was run. `before` is the file's old text: what it says of
// experiments that are not run this time stays.
std::string ConditionsJson(const Suite& suite, const SuiteOptions& options,
                           const Beginning& beginning,
                           const std::vector<const Experiment*>& experiments,
                           const std::string& before) {
  Json json = Json::parse(before, nullptr, false);
  if (!json.is_object() || !json.contains("experiments") || !json["experiments"].is_object()) {
    json = {{"suite", suite.name}, {"experiments", Json::object()}};
  }
  Json conditions;
  conditions["date"] = beginning.date;
  conditions["berth"] = BERTH_VERSION;
  conditions["machine"] = MachineJson();
  // The own threads count, too: a timed run on a quiet machine has a load of about 1 at its end.
  conditions["load_average"] = {{"begin", LoadJson(beginning.load)},
                                {"end", LoadJson(LoadAverage())}};
  conditions["quick"] = options.quick;
  conditions["data"] = !options.data.empty();
  conditions["tables"] = options.tables.size();
  conditions["time_limit_seconds"] = options.time_limit ? Json(*options.time_limit) : Json(nullptr);
  conditions["inputs"] = options.inputs ? Json(*options.inputs) : Json(nullptr);
  conditions["steps"] = options.steps ? Json(*options.steps) : Json(nullptr);
  if (!options.algorithms.empty()) conditions["algorithms"] = options.algorithms;
  conditions["rounds"] = options.rounds;
  conditions["jobs"] = options.jobs;
  conditions["solvers"] = Json::object();
  for (const BaselineInfo& info : Baselines()) {
    if (info.package.empty()) continue;
    conditions["solvers"][std::string(info.name)] =
        info.available() ? Json(info.engine) : Json("not in this build");
  }
  for (const Experiment* experiment : experiments) {
    json["experiments"][std::string(experiment->key)] = conditions;
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

// The folder that was named, or where $BERTH_DATA says; the quick run is the same everywhere.
Result<void> FindData(const Suite& suite, SuiteOptions& options) {
  namespace fs = std::filesystem;
  const Suite::Folders& folders = suite.folders;
  if (!options.data.empty()) {
    std::error_code ignored;
    const fs::path data = options.data;
    if (fs::is_directory(data / folders.first, ignored) ||
        fs::is_directory(data / folders.second, ignored)) {
      return {};
    }
    return Fail(ErrorCode::kIo, "--data: " + options.data + " holds neither " +
                                    std::string(folders.first) + "/ nor " +
                                    std::string(folders.second) + "/");
  }
  const char* const data = std::getenv("BERTH_DATA");
  if (!options.quick && data != nullptr && *data != '\0') {
    options.data = (fs::path(data) / folders.below).string();
  }
  return {};
}

// Reads what the command line names: a table that is no table is said before the work, not after it.
Result<void> CheckInputs(const Suite& suite, const std::vector<std::string>& paths) {
  if (paths.empty()) return {};
  if (suite.takes_tables()) {
    (void)BERTH_TRY(ReadInputs("models", paths));
  } else {
    (void)BERTH_TRY(ReadGraphs(paths));
  }
  return {};
}

// Which solvers this build lacks, so that their contenders have no runs; each sentence once.
void SayWhatIsMissing(const Lab& lab) {
  std::string last;
  for (const std::string_view solver : {"ilp", "cp", "csp", "meta-csp"}) {
    const auto available = CheckAvailable(*MethodFromName(solver));
    if (available || available.error().message == last) continue;
    last = available.error().message;
    lab.Say("Left out: " + last + ".");
  }
}

Result<void> KeepConditions(const Suite& suite, const Lab& lab, const Beginning& beginning,
                            const std::vector<const Experiment*>& experiments) {
  namespace fs = std::filesystem;
  const SuiteOptions& options = lab.options();
  if (options.output.empty()) return {};
  const std::string path =
      (fs::path(options.output) / (std::string(suite.name) + "-conditions.json")).string();
  std::error_code ignored;
  const auto before = fs::exists(path, ignored) ? ReadFile(path) : Result<std::string>();
  BERTH_TRY(
      WriteFile(path, ConditionsJson(suite, options, beginning, experiments, before.value_or(""))));
  lab.Say("\n" + cli::Plural(static_cast<std::int64_t>(lab.files().size()) + 1, "file") + " in " +
          cli::OneLine(options.output));
  return {};
}

}  // namespace

std::span<const Suite* const> Suites() {
  static const std::array<const Suite*, 9> kSuites = {
      &TelaMallocSuite(), &MiniMallocSuite(), &OllaSuite(),   &CosmaSuite(),      &RecomputeSuite(),
      &MemoriesSuite(),   &BoardsSuite(),     &ProofsSuite(), &OrderProofsSuite()};
  return kSuites;
}

Result<cli::ExitCode> RunSuite(std::string_view name, SuiteOptions options) {
  const Suite* const suite = FindSuite(name);
  if (suite == nullptr) {
    std::string known;
    for (const Suite* each : Suites()) {
      known += (known.empty() ? "" : ", ") + std::string(each->name);
    }
    return Fail(ErrorCode::kInvalidOptions,
                "there is no suite '" + std::string(name) + "'; there are " + known);
  }
  BERTH_TRY(FindData(*suite, options));
  const auto experiments = BERTH_TRY(Choose(*suite, options.only));
  BERTH_TRY(CheckAlgorithms(options.algorithms));
  BERTH_TRY(CheckInputs(*suite, options.tables));
  if (!options.output.empty()) {
    std::error_code error;
    std::filesystem::create_directories(options.output, error);
    if (error) return Fail(ErrorCode::kIo, options.output + ": " + error.message());
  }
  const Beginning beginning;
  Lab lab{std::string(suite->name), options};
  lab.Say(AboutThisRun(beginning.date));
  lab.Say("After " + std::string(suite->paper) + ".");
  SayWhatIsMissing(lab);
  for (const Experiment* experiment : experiments) {
    BERTH_TRY(experiment->run(lab));
    if (lab.error()) return tl::unexpected(*lab.error());
  }
  BERTH_TRY(KeepConditions(*suite, lab, beginning, experiments));
  if (lab.faults().empty()) return cli::kDone;
  std::string text = "\n" + cli::Paint(cli::Tone::kBad, "Faults:") + "\n";
  for (const std::string& fault : lab.faults()) text += "  " + cli::OneLine(fault) + "\n";
  cli::Print(text);
  return cli::kDoesNotFit;
}

}  // namespace berth::lab
