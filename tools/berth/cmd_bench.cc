// berth bench -- Berth against anybody, measured and verified.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "tools/berth/benchmark.h"
#include "tools/berth/command.h"
#include "tools/berth/common.h"
#include "tools/berth/machine.h"

namespace berth::internal {
namespace {

namespace fs = std::filesystem;

struct BenchArguments {
  std::vector<std::string> paths;
  std::optional<Bytes> capacity;
  std::vector<std::string> algorithms = {"auto"};
  std::vector<std::string> peers;
  int rounds = 5;
  std::optional<double> time_limit;
  std::string json;
};

struct TableResult {
  BenchmarkTable table;
  std::vector<Trial> trials;  // One for each runner.
};

struct BenchResult {
  std::vector<Runner> runners;  // At least one; the first is Berth.
  std::vector<TableResult> tables;
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

// Files as they are, folders as the tables in them, in order of their names.
Result<std::vector<std::string>> FindTables(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    if (path == "-") {
      return Fail(ErrorCode::kInvalidOptions,
                  "TABLES: - is no table here, as each program reads the file by itself");
    }
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    std::vector<std::string> found;
    for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
      if (HasExtension(it->path().string(), ".csv")) found.push_back(it->path().string());
    }
    if (error) return Fail(ErrorCode::kIo, path + ": " + error.message());
    if (found.empty()) return Fail(ErrorCode::kIo, path + ": the folder holds no .csv table");
    std::sort(found.begin(), found.end());
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

Result<std::vector<BenchmarkTable>> LoadTables(const BenchArguments& arguments) {
  const auto files = FindTables(arguments.paths);
  if (!files) return tl::unexpected(files.error());
  std::vector<BenchmarkTable> tables;
  for (const std::string& file : *files) {
    TableArguments table{
        file, arguments.capacity ? arguments.capacity : CapacityInName(file), {}, {}};
    auto input = Load(table);
    if (!input) return tl::unexpected(input.error());
    tables.push_back({file, std::move(input->problem)});
  }
  return tables;
}

Result<std::vector<Runner>> MakeRunners(const BenchArguments& arguments) {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (error) return Fail(ErrorCode::kIo, "berth cannot find its own program: " + error.message());
  std::vector<Runner> runners;
  for (const std::string& algorithm : arguments.algorithms) {
    if (!AlgorithmFromName(algorithm)) {
      return Fail(ErrorCode::kInvalidOptions,
                  "--algorithm: " + UnknownAlgorithm(algorithm, "see berth place --help"));
    }
    runners.push_back(BerthRunner(self.string(), algorithm, arguments.time_limit));
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
    if (runner.Mentions("{time_limit}") && !arguments.time_limit) {
      return Fail(
          ErrorCode::kInvalidOptions,
          "--peer: " + runner.name + " asks for {time_limit}, and no --time-limit is given");
    }
  }
  return runners;
}

// The median times of two runners on the tables that both solved.
struct SharedMedians {
  std::vector<double> runner;
  std::vector<double> reference;
};
SharedMedians FindSharedMedians(const BenchResult& result, std::size_t runner,
                                std::size_t reference) {
  SharedMedians shared;
  for (const TableResult& table : result.tables) {
    const Trial& trial = table.trials[runner];
    const Trial& other = table.trials[reference];
    if (!trial.solved() || !other.solved()) continue;
    shared.runner.push_back(Median(trial.seconds));
    shared.reference.push_back(Median(other.seconds));
  }
  return shared;
}

double Sum(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum;
}

double SumRatio(const SharedMedians& shared) { return Sum(shared.runner) / Sum(shared.reference); }

double GeometricMeanRatio(const SharedMedians& shared) {
  double sum = 0;
  for (std::size_t i = 0; i < shared.runner.size(); ++i) {
    sum += std::log(shared.runner[i] / shared.reference[i]);
  }
  return std::exp(sum / static_cast<double>(shared.runner.size()));
}

std::int64_t CountSolved(const BenchResult& result, std::size_t runner) {
  return std::count_if(
      result.tables.begin(), result.tables.end(),
      [runner](const TableResult& table) { return table.trials[runner].solved(); });
}

std::string FormatRatio(double ratio) {
  char text[32];
  std::snprintf(text, sizeof text,
                ratio < 9.95   ? "%.2f x"
                : ratio < 99.5 ? "%.1f x"
                               : "%.0f x",
                ratio);
  return text;
}

// "12.3 ms", with how much higher than the lowest plan it ended; or why there is no time.
std::string TrialCell(const Trial& trial, std::optional<Bytes> lowest) {
  if (!trial.solved()) return std::string(ToString(trial.status));
  std::string cell = FormatSeconds(Median(trial.seconds));
  if (lowest && trial.height > lowest) {
    const std::string percent = FormatPercent(Gap(*trial.height, *lowest));
    cell += (percent.front() == '<' ? " (" : " (+") + percent + ")";
  }
  return cell;
}

std::string Verified(const std::vector<Trial>& trials) {
  const bool wrong = std::any_of(trials.begin(), trials.end(), [](const Trial& trial) {
    return trial.status == TrialStatus::kWrong;
  });
  if (wrong) return Paint(Tone::kBad, "NO");
  const bool any =
      std::any_of(trials.begin(), trials.end(), [](const Trial& trial) { return trial.solved(); });
  return any ? "yes" : "-";
}

// One table of buffers: what each runner did, and how its time compares with the first one's.
std::vector<std::string> ResultRow(const TableResult& result) {
  const auto& [table, trials] = result;
  const bool minimized = !table.problem.capacity;
  std::optional<Bytes> lowest;
  for (const Trial& trial : trials) {
    if (trial.solved() && (!lowest || *trial.height < *lowest)) lowest = trial.height;
  }
  const Trial& first = trials.front();
  std::vector<std::string> row = {
      OneLine(NameOf(table.path)), minimized ? "least" : FormatBytes(*table.problem.capacity),
      lowest ? FormatBytes(*lowest) : "-",
      first.solved() && minimized ? FormatPercentUp(*first.gap) : "-",
      first.search_seconds.empty() ? "-" : FormatSeconds(Median(first.search_seconds))};
  for (const Trial& trial : trials) {
    row.push_back(TrialCell(trial, minimized ? lowest : std::nullopt));
    if (&trial == &first) continue;
    row.push_back(trial.solved() && first.solved()
                      ? FormatRatio(Median(trial.seconds) / Median(first.seconds))
                      : "-");
  }
  row.push_back(Verified(trials));
  return row;
}

std::string ResultTable(const BenchResult& result) {
  using enum TextTable::Align;
  std::vector<TextTable::Align> columns = {kLeft, kRight, kRight, kRight, kRight};
  std::vector<std::string> header = {"table", "capacity", "height", "gap", "search"};
  std::vector<std::string> solved = {"solved", "", "", "", ""};
  std::vector<std::string> sum = {result.runners.size() > 1 ? "sum where both solved" : "sum", "",
                                  "", "", ""};
  std::vector<std::string> mean = {"geometric mean", "", "", "", ""};
  for (std::size_t r = 0; r < result.runners.size(); ++r) {
    const SharedMedians shared = FindSharedMedians(result, r, 0);
    const bool any = !shared.runner.empty();
    columns.push_back(kRight);
    header.push_back(OneLine(result.runners[r].name));
    solved.push_back(std::to_string(CountSolved(result, r)) + " of " +
                     std::to_string(result.tables.size()));
    sum.push_back(any ? FormatSeconds(Sum(shared.runner)) : "-");
    mean.emplace_back();
    if (r == 0) continue;
    columns.push_back(kRight);
    header.emplace_back("ratio");
    solved.emplace_back();
    sum.push_back(any ? FormatRatio(SumRatio(shared)) : "-");
    mean.push_back(any ? FormatRatio(GeometricMeanRatio(shared)) : "-");
  }
  columns.push_back(kLeft);
  header.emplace_back("verified");

  TextTable text(columns);
  text.AddRow(std::move(header));
  for (const TableResult& table : result.tables) text.AddRow(ResultRow(table));
  text.AddRule();
  text.AddRow(std::move(solved));
  text.AddRow(std::move(sum));
  if (result.runners.size() > 1) text.AddRow(std::move(mean));
  return text.ToString();
}

// Everything that is not a verified plan, with its reason.
std::string Remarks(const BenchResult& result) {
  std::string text;
  for (const auto& [table, trials] : result.tables) {
    for (std::size_t r = 0; r < trials.size(); ++r) {
      if (trials[r].solved()) continue;
      const std::string line = NameOf(table.path) + ": " + result.runners[r].name + " " +
                               std::string(ToString(trials[r].status)) + ": " + trials[r].message;
      text += "  " + OneLine(line) + "\n";
    }
  }
  return text.empty() ? text : "\nWithout a verified plan:\n" + text;
}

Json TrialJson(const Runner& runner, const Trial& trial) {
  Json json;
  json["runner"] = runner.name;
  json["status"] = ToString(trial.status);
  if (!trial.message.empty()) json["message"] = trial.message;
  json["verified"] = trial.solved();
  json["height"] = ToJson(trial.height);
  if (runner.is_berth) json["gap"] = trial.gap ? Json(*trial.gap) : Json(nullptr);
  json["median_seconds"] = trial.solved() ? Json(Median(trial.seconds)) : Json(nullptr);
  json["seconds"] = trial.seconds;
  if (runner.is_berth) json["search_seconds"] = trial.search_seconds;
  return json;
}

// Ratios are to the first runner, over the tables that both solved.
Json SummaryJson(const BenchResult& result) {
  Json json = Json::array();
  for (std::size_t r = 0; r < result.runners.size(); ++r) {
    const SharedMedians shared = FindSharedMedians(result, r, 0);
    Json entry;
    entry["runner"] = result.runners[r].name;
    entry["solved"] = CountSolved(result, r);
    entry["solved_by_both"] = shared.runner.size();
    entry["sum_seconds"] = Sum(shared.runner);
    entry["sum_ratio"] = shared.runner.empty() ? Json(nullptr) : Json(SumRatio(shared));
    entry["geometric_mean_ratio"] =
        shared.runner.empty() ? Json(nullptr) : Json(GeometricMeanRatio(shared));
    json.push_back(std::move(entry));
  }
  return json;
}

Json ResultJson(const BenchResult& result, const BenchArguments& arguments,
                const std::string& date) {
  const Machine machine = ThisMachine();
  Json json;
  json["date"] = date;
  json["berth"] = BERTH_VERSION;
  json["machine"] = {{"cpu", machine.cpu},
                     {"hardware_threads", machine.hardware_threads},
                     {"operating_system", machine.operating_system},
                     {"compiler", machine.compiler},
                     {"build", machine.build}};
  json["rounds"] = arguments.rounds;
  json["time_limit_seconds"] = arguments.time_limit ? Json(*arguments.time_limit) : Json(nullptr);
  json["runners"] = Json::array();
  for (const Runner& runner : result.runners) {
    std::vector<std::string> words = runner.words;
    if (runner.is_berth) words.front() = "berth";
    json["runners"].push_back({{"name", runner.name}, {"command", words}});
  }
  json["tables"] = Json::array();
  for (const auto& [table, trials] : result.tables) {
    Json entry;
    entry["table"] = NameOf(table.path);
    entry["buffers"] = table.problem.buffers.size();
    entry["capacity"] = ToJson(table.problem.capacity);
    entry["trials"] = Json::array();
    for (std::size_t r = 0; r < trials.size(); ++r) {
      entry["trials"].push_back(TrialJson(result.runners[r], trials[r]));
    }
    json["tables"].push_back(std::move(entry));
  }
  json["summary"] = SummaryJson(result);
  return json;
}

std::string Header(const BenchArguments& arguments, const std::string& date) {
  const Machine machine = ThisMachine();
  return Paint(Tone::kStrong, "berth " BERTH_VERSION) + " (" + machine.compiler + ", " +
         machine.build + ") on " + machine.cpu + ", " + Plural(machine.hardware_threads, "thread") +
         ", " + machine.operating_system + ", " + date + "\nMedians of " +
         Plural(arguments.rounds, "round") +
         " of wall-clock time, programs in turn, their start included" +
         (arguments.time_limit ? "; limit " + FormatSeconds(*arguments.time_limit) : "") +
         ".\nsearch: what the first runner spent on the search alone. ratio: to the first "
         "runner.\n\n";
}

// "table 3 of 11, round 2 of 5, other", rewritten; nothing in a pipe.
void ShowProgress(const std::string& line) {
  if (!IsTerminal(stderr)) return;
  std::fprintf(stderr, "\r%s\x1b[K", line.empty() ? "" : ("  " + line).c_str());
  std::fflush(stderr);
}

Result<ExitCode> Run(const BenchArguments& arguments) {
  if (auto checked = CheckOutput(arguments.json); !checked) return tl::unexpected(checked.error());
  auto runners = MakeRunners(arguments);
  if (!runners) return tl::unexpected(runners.error());
  auto tables = LoadTables(arguments);
  if (!tables) return tl::unexpected(tables.error());
  const TemporaryFolder folder;
  if (folder.path().empty()) return Fail(ErrorCode::kIo, "no temporary folder can be made");

  const std::string date = UtcNow();
  BenchResult result{std::move(*runners), {}};
  BenchmarkOptions options{arguments.rounds, arguments.time_limit, {}};
  for (std::size_t t = 0; t < tables->size(); ++t) {
    options.progress = [&](int round, const Runner& runner) {
      ShowProgress("table " + std::to_string(t + 1) + " of " + std::to_string(tables->size()) +
                   ", round " + std::to_string(round + 1) + " of " +
                   std::to_string(arguments.rounds) + ", " + runner.name);
    };
    std::vector<Trial> trials = RunBenchmark((*tables)[t], result.runners, options, folder.path());
    result.tables.push_back({std::move((*tables)[t]), std::move(trials)});
  }
  ShowProgress("");

  const std::string text = Header(arguments, date) + ResultTable(result) + Remarks(result);
  std::fwrite(text.data(), 1, text.size(), IsStandardOutput(arguments.json) ? stderr : stdout);
  if (!arguments.json.empty()) {
    const std::string json =
        ResultJson(result, arguments, date).dump(2, ' ', false, Json::error_handler_t::replace);
    if (auto written = WriteFile(arguments.json, json + "\n"); !written) {
      return tl::unexpected(written.error());
    }
  }
  for (const TableResult& table : result.tables) {
    for (const Trial& trial : table.trials) {
      if (trial.faulty()) return kDoesNotFit;
    }
  }
  return kDone;
}

}  // namespace

Command AddBenchCommand(CLI::App& berth) {
  CLI::App* app = berth.add_subcommand("bench", "Measure Berth, alone or against other programs.");
  const auto arguments = std::make_shared<BenchArguments>();
  app->add_option("TABLES", arguments->paths, "Tables, or folders of them.")
      ->required()
      ->take_all();
  AddBytes(
      *app, "--capacity", arguments->capacity,
      "Of every table. Default: the one in its name (A.1048576.csv); else each runner goes for "
      "the least height, and a peer that asks for {capacity} is told Berth's.");
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
  AddInteger(*app, "--rounds", arguments->rounds, 1, 1'000'000,
             "Runs of each program on each table. Default: 5.");
  AddDuration(*app, "--time-limit", arguments->time_limit,
              "For each run; peers are killed then. Default: none.");
  app->add_option(
         "--json", arguments->json,
         "Write everything that was measured; with -, to standard output, and the table to "
         "standard error.")
      ->type_name("FILE");
  app->footer(
      "Exit codes: 0 done, 1 a program failed or gave a wrong plan, 2 bad input or usage.\n"
      "\nExamples:\n"
      "  berth bench tables/ --algorithm canonical,auto --time-limit 10s --json result.json\n"
      "  berth bench A.1048576.csv --peer \\\n"
      "    'minimalloc=minimalloc --capacity={capacity} --input={input} --output={output}'");
  return {app, [arguments] { return Run(*arguments); }};
}

}  // namespace berth::internal
