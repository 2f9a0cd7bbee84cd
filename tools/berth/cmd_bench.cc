// berth bench -- Berth against anybody, measured and verified.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <thread>

#include "tools/berth/bench_report.h"
#include "tools/berth/benchmark.h"
#include "tools/berth/command.h"
#include "tools/berth/common.h"
#include "tools/berth/machine.h"
#include "tools/berth/suites/suites.h"

namespace berth::internal {
namespace {

namespace fs = std::filesystem;

struct BenchArguments {
  std::vector<std::string> paths;
  std::string capacity;  // A size, "load", "least"; empty: by the name of the table.
  std::vector<std::string> algorithms = {"auto"};
  std::vector<std::string> peers;
  std::vector<std::string> peer_seconds;     // NAME=TEXT.
  std::vector<std::string> peer_infeasible;  // NAME=TEXT.
  BenchConditions conditions;
  std::string json;
  std::optional<int> rounds;
  std::string suite;
  SuiteOptions suite_options;
};

// A folder of its own, gone at the end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (fs::temp_directory_path() / "berth-bench-XXXXXX").string();
    if (mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }  // Empty: could not be made.

 private:
  std::string path_;
};

// The capacity in a name such as A.1048576.csv.
std::optional<Bytes> CapacityInName(const fs::path& path) {
  const std::string digits = path.stem().extension().string();
  if (digits.size() < 2 || digits.find_first_not_of("0123456789", 1) != std::string::npos) {
    return std::nullopt;
  }
  return ParseBytes(digits.substr(1));
}

Result<std::vector<BenchmarkTable>> LoadTables(const BenchArguments& arguments) {
  const auto files = FindTables(arguments.paths);
  if (!files) return tl::unexpected(files.error());
  const std::string& capacity = arguments.capacity;
  const bool load = capacity == "load";
  const bool least = capacity == "least";
  const std::optional<Bytes> size = ParseBytes(capacity);
  if (!capacity.empty() && !load && !least && !size) {
    return Fail(ErrorCode::kInvalidOptions,
                "--capacity: '" + capacity + "' is no size such as 512KiB, nor load, nor least");
  }
  std::vector<BenchmarkTable> tables;
  for (const std::string& file : *files) {
    auto input = Load({file, capacity.empty() ? CapacityInName(file) : size, {}, {}});
    if (!input) return tl::unexpected(input.error());
    if (load) input->problem.capacity = MaxLiveLoad(input->problem).load;
    tables.push_back({file, std::move(input->problem)});
  }
  return tables;
}

// Hands texts, as NAME=TEXT, to the peers of those names.
Result<void> TellPeers(const std::vector<std::string>& specifications, const std::string& flag,
                       std::string Runner::*text, std::vector<Runner>& runners) {
  for (const std::string& specification : specifications) {
    const std::size_t equals = specification.find('=');
    const auto runner = std::find_if(runners.begin(), runners.end(), [&](const Runner& candidate) {
      return !candidate.is_berth() && candidate.name == specification.substr(0, equals);
    });
    if (equals == std::string::npos || equals + 1 == specification.size() ||
        runner == runners.end()) {
      return Fail(ErrorCode::kInvalidOptions,
                  flag + ": '" + specification + "' is not NAME=TEXT with the name of a peer");
    }
    (*runner).*text = specification.substr(equals + 1);
  }
  return {};
}

Result<std::vector<Runner>> MakeRunners(const BenchArguments& arguments) {
  const std::optional<double> time_limit = arguments.conditions.time_limit;
  std::error_code error;
  fs::path self;
  if (!arguments.conditions.in_process) self = fs::read_symlink("/proc/self/exe", error);
  if (error) return Fail(ErrorCode::kIo, "berth cannot find its own program: " + error.message());
  std::vector<Runner> runners;
  for (const std::string& name : arguments.algorithms) {
    const auto method = MethodFromName(name);
    if (!method) {
      return Fail(ErrorCode::kInvalidOptions,
                  "--algorithm: " + UnknownAlgorithm(name, "see berth place --help"));
    }
    if (auto available = CheckAvailable(*method); !available) {
      return tl::unexpected(available.error());
    }
    runners.push_back(BerthRunner(self.string(), *method, time_limit));
  }
  for (const std::string& peer : arguments.peers) {
    auto runner = PeerRunner(peer);
    if (!runner) return tl::unexpected(runner.error());
    runners.push_back(std::move(*runner));
  }
  std::set<std::string> names;
  for (const Runner& runner : runners) {
    if (!names.insert(runner.name).second) {
      return Fail(ErrorCode::kInvalidOptions, "two runners are called '" + runner.name + "'");
    }
    if (runner.Mentions("{time_limit}") && !time_limit) {
      return Fail(
          ErrorCode::kInvalidOptions,
          "--peer: " + runner.name + " asks for {time_limit}, and no --time-limit is given");
    }
  }
  for (const Result<void>& told :
       {TellPeers(arguments.peer_seconds, "--peer-seconds", &Runner::seconds_text, runners),
        TellPeers(arguments.peer_infeasible, "--peer-infeasible", &Runner::infeasible_text,
                  runners)}) {
    if (!told) return tl::unexpected(told.error());
  }
  for (const Runner& runner : runners) {
    if (!runner.seconds_text.empty() &&
        runner.seconds_text.find("{seconds}") == std::string::npos) {
      return Fail(ErrorCode::kInvalidOptions,
                  "--peer-seconds: '" + runner.seconds_text + "' does not say where {seconds} are");
    }
  }
  return runners;
}

// True for what nobody should overlook.
bool IsFaulty(const TableResult& table, const std::vector<Runner>& runners) {
  return !FindContradiction(table, runners).empty() ||
         std::any_of(table.trials.begin(), table.trials.end(),
                     [](const Trial& trial) { return trial.verdict() >= Verdict::kFailed; });
}

Result<ExitCode> RunOneSuite(const BenchArguments& arguments) {
  SuiteOptions options = arguments.suite_options;
  options.tables = arguments.paths;
  options.time_limit = arguments.conditions.time_limit;
  if (arguments.rounds) options.rounds = *arguments.rounds;
  return RunSuite(arguments.suite, options);
}

Result<ExitCode> Run(const BenchArguments& arguments) {
  if (!arguments.suite.empty()) return RunOneSuite(arguments);
  if (arguments.paths.empty()) {
    return Fail(ErrorCode::kInvalidOptions,
                "TABLES is required, unless --suite names the experiments of a paper");
  }
  if (auto checked = CheckOutput(arguments.json); !checked) return tl::unexpected(checked.error());
  auto runners = MakeRunners(arguments);
  if (!runners) return tl::unexpected(runners.error());
  auto tables = LoadTables(arguments);
  if (!tables) return tl::unexpected(tables.error());
  const TemporaryFolder folder;
  if (folder.path().empty()) return Fail(ErrorCode::kIo, "no temporary folder can be made");

  BenchConditions conditions = arguments.conditions;
  conditions.rounds = arguments.rounds.value_or(conditions.rounds);
  conditions.date = UtcNow();
  BenchResult result{std::move(*runners), {}};
  BenchmarkOptions options{conditions.rounds, conditions.seeds, conditions.time_limit, {}};
  const auto of = [](std::uint64_t number, std::uint64_t all) {
    return std::to_string(number) + " of " + std::to_string(all);
  };
  for (std::size_t t = 0; t < tables->size(); ++t) {
    options.progress = [&](int round, const Runner& runner, std::uint64_t seed) {
      ShowProgress(
          "table " + of(t + 1, tables->size()) + ", round " +
          of(static_cast<std::uint64_t>(round) + 1, static_cast<std::uint64_t>(conditions.rounds)) +
          (conditions.seeds > 1 ? ", seed " + of(seed, conditions.seeds) : "") + ", " +
          runner.name);
    };
    std::vector<Trial> trials = RunBenchmark((*tables)[t], result.runners, options, folder.path());
    result.tables.push_back({std::move((*tables)[t]), std::move(trials)});
  }
  ShowProgress("");

  const std::string text = BenchText(result, conditions);
  std::fwrite(text.data(), 1, text.size(), IsStandardOutput(arguments.json) ? stderr : stdout);
  if (!arguments.json.empty()) {
    const std::string json =
        BenchJson(result, conditions).dump(2, ' ', false, Json::error_handler_t::replace);
    if (auto written = WriteFile(arguments.json, json + "\n"); !written) {
      return tl::unexpected(written.error());
    }
  }
  const bool faulty =
      std::any_of(result.tables.begin(), result.tables.end(),
                  [&](const TableResult& table) { return IsFaulty(table, result.runners); });
  return faulty ? kDoesNotFit : kDone;
}

}  // namespace

Command AddBenchCommand(CLI::App& berth) {
  CLI::App* app = berth.add_subcommand("bench", "Measure Berth, alone or against other programs.");
  const auto arguments = std::make_shared<BenchArguments>();
  app->add_option("TABLES", arguments->paths, "Tables, or folders of them.")->take_all();
  BenchConditions& conditions = arguments->conditions;
  app->add_option("--capacity", arguments->capacity,
                  "Of every table: a size; load, the most bytes that are live at once; or least, "
                  "for which each runner goes for the least height, and a peer that asks for "
                  "{capacity} is told Berth's. Default: the one in the table's name "
                  "(A.1048576.csv), else least.")
      ->type_name("SIZE|load|least");
  app->add_option("--algorithm", arguments->algorithms,
                  "Berth's, separated by commas; each is a runner. Default: auto.")
      ->type_name("NAMES")
      ->delimiter(',')
      ->expected(1)
      ->take_all();
  app->add_option("--peer", arguments->peers,
                  "Another program, as NAME=COMMAND with {input}, {output} and, if it wants them, "
                  "{capacity} and {time_limit} (seconds) in it. No shell is involved. May be given "
                  "several times.")
      ->type_name("NAME=COMMAND")
      ->expected(1)
      ->take_all();
  app->add_option("--peer-seconds", arguments->peer_seconds,
                  "How a peer prints the seconds of its search, such as 'NAME=Elapsed time "
                  "{seconds}s'.")
      ->type_name("NAME=TEXT")
      ->expected(1)
      ->take_all();
  app->add_option("--peer-infeasible", arguments->peer_infeasible,
                  "What a peer prints when it has proved that no plan fits.")
      ->type_name("NAME=TEXT")
      ->expected(1)
      ->take_all();
  AddInteger(*app, "--rounds", arguments->rounds, 1, 1'000'000,
             "Runs of each program on each table. Default: 5, of a suite 3.");
  AddInteger(*app, "--seeds", conditions.seeds, std::uint64_t{1}, std::uint64_t{1'000'000},
             "Berth runs with seeds 1 to this in each round. Default: 1.");
  app->add_flag("--in-process", conditions.in_process,
                "Call Berth within this process: no start of a program, no files.");
  const auto set_clock = [&conditions](const std::string& text) {
    if (text != "wall" && text != "search") {
      throw CLI::ValidationError("--time", "'" + OneLine(text) + "' is neither wall nor search");
    }
    conditions.clock = text == "wall" ? Clock::kWall : Clock::kSearch;
  };
  app->add_option_function<std::string>(
         "--time", set_clock,
         "What to compare: the wall clock of whole programs, or what each says that it spent on "
         "the search alone. The JSON file has both. Default: wall.")
      ->type_name("wall|search");
  app->add_flag("--summary", conditions.summary,
                "A few lines for each runner instead of a row for each table.");
  AddDuration(*app, "--time-limit", conditions.time_limit,
              "For each run; peers are killed then. Default: none.");
  app->add_option(
         "--json", arguments->json,
         "Write everything that was measured; with -, to standard output, and the table to "
         "standard error.")
      ->type_name("FILE");
  CLI::Option* const suite =
      app->add_option("--suite", arguments->suite,
                      "Instead of comparing on TABLES: the tables and figures of a paper, measured "
                      "anew. TABLES then stand for its models; without any, those of --data, or "
                      "generated ones.")
          ->type_name("telamalloc|minimalloc|olla|cosma");
  SuiteOptions& suite_options = arguments->suite_options;
  suite_options.jobs = static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1u, 64u));
  const auto of_suite = [&](CLI::Option* option) { option->needs(suite); };
  of_suite(app->add_option("--only", suite_options.only,
                           "Of the suite, only these, separated by commas, such as "
                           "table1,figure14.")
               ->type_name("NAMES")
               ->delimiter(',')
               ->expected(1)
               ->take_all());
  of_suite(app->add_option("-o,--output", suite_options.output,
                           "The folder for the suite's CSV files and SVG pictures. Default: none.")
               ->type_name("FOLDER"));
  of_suite(app->add_option(
                  "--data", suite_options.data,
                  "The folder that holds models/ and challenging/, of olla and cosma inference/ "
                  "and training/. Default: $BERTH_DATA/buffers, $BERTH_DATA/graphs.")
               ->type_name("FOLDER"));
  of_suite(app->add_flag("--quick", suite_options.quick,
                         "A few small inputs and short limits: seconds instead of minutes."));
  of_suite(AddInteger(*app, "--inputs", suite_options.inputs, std::int64_t{1},
                      std::int64_t{1'000'000},
                      "At most so many inputs of each experiment; of those that draw instances, so "
                      "many of each size."));
  of_suite(AddInteger(*app, "--steps", suite_options.steps, std::int64_t{1},
                      std::int64_t{1'000'000'000},
                      "Where steps are counted, when a run has failed. Default: 500000."));
  of_suite(AddInteger(*app, "--jobs", suite_options.jobs, 1, 64,
                      "Runs at a time where steps are counted; runs that are timed are alone. "
                      "Default: all threads of the machine."));
  for (const std::string other :
       {"--capacity", "--algorithm", "--peer", "--peer-seconds", "--peer-infeasible", "--seeds",
        "--in-process", "--time", "--summary", "--json"}) {
    suite->excludes(app->get_option(other));
  }
  app->footer(
      "Exit codes: 0 done, 1 a program failed, gave a wrong plan or contradicts another, 2 bad "
      "input or usage.\n"
      "\nExamples:\n"
      "  berth bench tables/ --algorithm canonical,auto --time-limit 10s --json result.json\n"
      "  berth bench variants/ --capacity load --in-process --seeds 100 --rounds 1 --summary\n"
      "  berth bench --suite telamalloc --only table1,figure14 -o results/\n"
      "  berth bench A.1048576.csv --peer \\\n"
      "    'minimalloc=minimalloc --capacity={capacity} --input={input} --output={output}'");
  return {app, [arguments] { return Run(*arguments); }};
}

}  // namespace berth::internal
