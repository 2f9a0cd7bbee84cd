// berth-lab bench -- Berth against any other program, measured and verified.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "base/try.h"
#include "tools/berth/flags.h"
#include "tools/berth/output.h"
#include "tools/berth/table.h"
#include "tools/berth/terminal.h"
#include "tools/lab/bench/benchmark.h"
#include "tools/lab/bench/machine.h"
#include "tools/lab/bench/report.h"
#include "tools/lab/command.h"
#include "tools/lab/method.h"

namespace berth::lab {
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
};

// A folder of its own, gone at the end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (fs::temp_directory_path() / "berth-lab-XXXXXX").string();
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
  const std::vector<std::string> files = BERTH_TRY(cli::FindTables(arguments.paths));
  const std::string& capacity = arguments.capacity;
  const bool load = capacity == "load";
  const bool least = capacity == "least";
  const std::optional<Bytes> size = cli::ReadBytes("--capacity", capacity);
  if (!capacity.empty() && !load && !least && !size) {
    return Fail(
        ErrorCode::kInvalidOptions,
        "--capacity: '" + capacity + "' is neither a size such as 512KiB, nor load, nor least");
  }
  std::vector<BenchmarkTable> tables;
  for (const std::string& file : files) {
    cli::Input input =
        BERTH_TRY(cli::Load({file, capacity.empty() ? CapacityInName(file) : size, {}, {}}));
    if (load) input.problem.capacity = MaxLiveLoad(input.problem).load;
    tables.push_back({file, std::move(input.problem)});
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

// Berth's algorithms, each in a process of its own unless told otherwise, and then the peers.
Result<std::vector<Runner>> MakeRunners(const BenchArguments& arguments) {
  std::error_code error;
  fs::path self;
  if (!arguments.conditions.in_process) self = fs::read_symlink("/proc/self/exe", error);
  if (error) return Fail(ErrorCode::kIo, "this program cannot be found: " + error.message());
  std::vector<Runner> runners;
  for (const std::string& name : arguments.algorithms) {
    const auto method = MethodFromName(name);
    if (!method) {
      return Fail(ErrorCode::kInvalidOptions, "--algorithm: " + UnknownMethod(name));
    }
    BERTH_TRY(CheckAvailable(*method));
    runners.push_back(BerthRunner(self.string(), *method, arguments.conditions.time_limit));
  }
  for (const std::string& peer : arguments.peers) runners.push_back(BERTH_TRY(PeerRunner(peer)));
  BERTH_TRY(TellPeers(arguments.peer_seconds, "--peer-seconds", &Runner::seconds_text, runners));
  BERTH_TRY(
      TellPeers(arguments.peer_infeasible, "--peer-infeasible", &Runner::infeasible_text, runners));
  return runners;
}

// What the command line asks of runners that they cannot do.
Result<void> CheckRunners(const std::vector<Runner>& runners, bool has_time_limit) {
  std::set<std::string> names;
  for (const Runner& runner : runners) {
    if (!names.insert(runner.name).second) {
      return Fail(ErrorCode::kInvalidOptions, "two runners are called '" + runner.name + "'");
    }
    if (runner.Mentions("{time_limit}") && !has_time_limit) {
      return Fail(
          ErrorCode::kInvalidOptions,
          "--peer: " + runner.name + " asks for {time_limit}, and no --time-limit is given");
    }
    if (!runner.seconds_text.empty() &&
        runner.seconds_text.find("{seconds}") == std::string::npos) {
      return Fail(ErrorCode::kInvalidOptions,
                  "--peer-seconds: '" + runner.seconds_text + "' does not contain {seconds}");
    }
  }
  return {};
}

// True if the result is a bug: a wrong plan or a contradiction.
bool IsFaulty(const TableResult& table, const std::vector<Runner>& runners) {
  return !FindContradiction(table, runners).empty() ||
         std::any_of(table.trials.begin(), table.trials.end(),
                     [](const Trial& trial) { return trial.verdict() >= Verdict::kFailed; });
}

// Measures all runners on all tables, with progress on a terminal.
BenchResult Measure(std::vector<Runner> runners, std::vector<BenchmarkTable> tables,
                    const BenchConditions& conditions, const std::string& folder) {
  BenchResult result{std::move(runners), {}};
  BenchmarkOptions options;
  options.rounds = conditions.rounds;
  options.seeds = conditions.seeds;
  options.time_limit = conditions.time_limit;
  const auto of = [](std::uint64_t number, std::uint64_t all) {
    return std::to_string(number) + " of " + std::to_string(all);
  };
  for (std::size_t t = 0; t < tables.size(); ++t) {
    options.progress = [&](int round, const Runner& runner, std::uint64_t seed) {
      const auto rounds = static_cast<std::uint64_t>(conditions.rounds);
      cli::ShowProgress("table " + of(t + 1, tables.size()) + ", round " +
                        of(static_cast<std::uint64_t>(round) + 1, rounds) +
                        (conditions.seeds > 1 ? ", seed " + of(seed, conditions.seeds) : "") +
                        ", " + runner.name);
    };
    std::vector<Trial> trials = RunBenchmark(tables[t], result.runners, options, folder);
    result.tables.push_back({std::move(tables[t]), std::move(trials)});
  }
  cli::ShowProgress("");
  return result;
}

Result<cli::ExitCode> Run(const BenchArguments& arguments) {
  BERTH_TRY(cli::CheckOutput(arguments.json));
  std::vector<Runner> runners = BERTH_TRY(MakeRunners(arguments));
  BERTH_TRY(CheckRunners(runners, arguments.conditions.time_limit.has_value()));
  std::vector<BenchmarkTable> tables = BERTH_TRY(LoadTables(arguments));
  const TemporaryFolder folder;
  if (folder.path().empty()) {
    return Fail(ErrorCode::kIo, "no temporary folder can be made");
  }
  BenchConditions conditions = arguments.conditions;
  conditions.date = UtcNow();
  const BenchResult result =
      Measure(std::move(runners), std::move(tables), conditions, folder.path());

  const std::string text = BenchText(result, conditions);
  std::fwrite(text.data(), 1, text.size(), cli::IsStandardOutput(arguments.json) ? stderr : stdout);
  if (!arguments.json.empty()) {
    const std::string json =
        BenchJson(result, conditions).dump(2, ' ', false, Json::error_handler_t::replace);
    BERTH_TRY(WriteFile(arguments.json, json + "\n"));
  }
  const bool faulty =
      std::any_of(result.tables.begin(), result.tables.end(),
                  [&](const TableResult& table) { return IsFaulty(table, result.runners); });
  return faulty ? cli::kDoesNotFit : cli::kDone;
}

void AddPeers(CLI::App& app, BenchArguments& arguments) {
  app.add_option("--peer", arguments.peers,
                 "Another program, as NAME=COMMAND with {input}, {output} and optionally "
                 "{capacity} and {time_limit} (seconds). No shell is involved. May be given "
                 "several times.")
      ->type_name("NAME=COMMAND")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
  app.add_option("--peer-seconds", arguments.peer_seconds,
                 "How a peer prints the seconds of its search, such as 'NAME=Elapsed time "
                 "{seconds}s'.")
      ->type_name("NAME=TEXT")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
  app.add_option("--peer-infeasible", arguments.peer_infeasible,
                 "What a peer prints when it has proved that no plan fits.")
      ->type_name("NAME=TEXT")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
}

void AddConditions(CLI::App& app, BenchConditions& conditions) {
  cli::AddInteger(app, "--rounds", conditions.rounds, 1, 1'000'000,
                  "Runs of each program on each table. Default: 5.");
  cli::AddInteger(app, "--seeds", conditions.seeds, std::uint64_t{1}, std::uint64_t{1'000'000},
                  "Berth runs with seeds 1 to N in each round. Default: 1.");
  app.add_flag("--in-process", conditions.in_process,
               "Call Berth within this process: no start of a program, no files.");
  const auto set_clock = [&conditions](const std::string& text) {
    if (text != "wall" && text != "search") {
      throw CLI::ValidationError("--time",
                                 "'" + cli::OneLine(text) + "' is neither wall nor search");
    }
    conditions.clock = text == "wall" ? Clock::kWall : Clock::kSearch;
  };
  app.add_option_function<std::string>(
         "--time", set_clock,
         "What to compare: the wall clock of whole programs, or the time that each says it spent "
         "on the search alone. The JSON file has both. Default: wall.")
      ->type_name("wall|search");
  app.add_flag("--summary", conditions.summary,
               "A few lines for each runner instead of a row for each table.");
  cli::AddDuration(app, "--time-limit", conditions.time_limit,
                   "For each run; peers are killed then. Default: none.");
}

}  // namespace

cli::Command AddBenchCommand(CLI::App& lab) {
  CLI::App* app =
      lab.add_subcommand("bench", "Measure Berth on tables, alone or against other programs.");
  const auto arguments = std::make_shared<BenchArguments>();
  app->add_option("TABLES", arguments->paths, "Tables, or folders of them.")
      ->required()
      ->take_all();
  app->add_option("--capacity", arguments->capacity,
                  "Of every table: a size; load, the most bytes that are live at once; or least, "
                  "for which each runner looks for the least height, and a peer that asks for "
                  "{capacity} is told Berth's. Default: the one in the table's name "
                  "(A.1048576.csv), else least.")
      ->type_name("SIZE|load|least");
  app->add_option("--algorithm", arguments->algorithms,
                  "Algorithms, as of berth-lab place, separated by commas; each is a runner. "
                  "Default: auto.")
      ->type_name("NAMES")
      ->delimiter(',')
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
  AddPeers(*app, *arguments);
  AddConditions(*app, arguments->conditions);
  app->add_option("--json", arguments->json,
                  "Write everything that was measured; with -, to standard output, and the table "
                  "to standard error.")
      ->type_name("FILE");
  app->footer(
      "Exit codes: 0 done, 1 a program failed, gave a wrong plan or contradicts another, 2 bad\n"
      "input or usage.\n"
      "\nExamples:\n"
      "  berth-lab bench tables/ --algorithm canonical,auto --time-limit 10s --json result.json\n"
      "  berth-lab bench variants/ --capacity load --in-process --seeds 100 --rounds 1 --summary\n"
      "  berth-lab bench A.1048576.csv --peer \\\n"
      "    'minimalloc=minimalloc --capacity={capacity} --input={input} --output={output}'");
  return {app, [arguments] { return Run(*arguments); }};
}

}  // namespace berth::lab
