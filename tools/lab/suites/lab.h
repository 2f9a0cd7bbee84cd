// tools/lab/suites/lab.h -- what the experiments of all papers share: the contenders, how a
// run is measured and judged, and the files of results.
#ifndef BERTH_TOOLS_LAB_SUITES_LAB_H_
#define BERTH_TOOLS_LAB_SUITES_LAB_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/problem.h"
#include "berth/report.h"
#include "berth/result.h"
#include "tools/lab/bench/benchmark.h"
#include "tools/lab/bench/processor_time.h"
#include "tools/lab/suites/inputs.h"
#include "tools/lab/suites/sheet.h"

namespace berth::lab {

// Of the challenging tables, as their names say; those that are generated in their place fit, too.
inline constexpr Bytes kChallengingCapacity = Bytes{1} << 20;

// How a suite is to be run.
struct SuiteOptions {
  std::vector<std::string> tables;  // What to take as the models; files or folders.
  std::string data;    // The folder that holds what Suite::folders says; empty: there is none.
  std::string output;  // The folder for CSV and SVG files; empty: none are written.
  std::vector<std::string> only;        // Keys of experiments; empty: all of the suite.
  std::vector<std::string> algorithms;  // Keys of contenders, where times are compared; empty: all.
  bool quick = false;                   // A few small inputs and short limits: does it work at all?
  std::optional<double> time_limit;  // Of each run, in seconds, in place of each experiment's own.
  std::optional<std::int64_t> inputs;  // At most, in place of each experiment's own number.
  std::optional<std::int64_t> steps;   // Of each run of which steps are counted, at most.
  int rounds = 3;                      // Of each run that is timed.
  int jobs = 1;                        // Runs at a time where steps are counted, not seconds.
};

// An algorithm that is compared.
struct Contender {
  std::string name;  // In tables and legends: "TelaMalloc".
  std::string key;   // In CSV files: "telamalloc".
  Runner runner = {};
  std::string missing = {};  // Why it does not run: "not in this build"; empty: it does.
  int look = 0;              // In charts: the same in all of them.
};

// The runs of all contenders on one input.
struct Bout {
  std::string input;
  Bytes capacity = 0;
  std::vector<Trial> trials;  // One for each contender; without runs for one that is missing.
};

class Lab {
 public:
  Lab(std::string suite, const SuiteOptions& options);

  [[nodiscard]] const SuiteOptions& options() const { return options_; }
  // The experiment's own choice, the quick one, or what the command line says.
  [[nodiscard]] double TimeLimit(double own) const;
  [[nodiscard]] std::size_t Inputs(std::size_t own, std::size_t quick) const;
  [[nodiscard]] std::int64_t Steps() const;
  [[nodiscard]] int Rounds() const { return options_.quick ? 1 : options_.rounds; }

  // Inputs, with their least heights.

  // The given models, those of the data folder, or else generated networks.
  // `find_least`: with their least heights, which takes a while.
  [[nodiscard]] Result<std::vector<SuiteInput>> Models(std::size_t most, bool find_least = true);
  // MiniMalloc's challenging tables; where there are none, generated stand-ins.
  [[nodiscard]] Result<std::vector<SuiteInput>> Challenging(std::size_t most);
  // The given graphs, those of the data folder, or else generated ones.
  [[nodiscard]] Result<std::vector<GraphInput>> Graphs(std::size_t most);
  // Finds the least height of each, or bounds on it.
  void FindLeast(std::vector<SuiteInput>& inputs) const;
  // Whether Challenging() are the published ones.
  [[nodiscard]] bool has_challenging() const;

  // Contenders by their keys: an algorithm or a solver, or "heuristic", the baseline of TelaMalloc.
  // `telamalloc` and `guided` run without the heuristic before them, so that it is the search that
  // is measured.
  [[nodiscard]] static Contender Contend(std::string_view key);
  // Those of a comparison; those that the command line does not name are missing.
  [[nodiscard]] std::vector<Contender> Contenders(
      std::initializer_list<std::string_view> keys) const;

  // Says what is being done, on a terminal.
  void Progress(const std::string& what) const;

  // Measures all contenders in turn, in rounds, each run with a limit of processor time. A contender that gives
  // no answer runs only once, and one whose runs have taken the limit together is not run again.
  [[nodiscard]] Bout Compare(const std::string& what, const SuiteInput& input, Bytes capacity,
                             const std::vector<Contender>& contenders, double time_limit,
                             int rounds);
  // One run on its own; without a capacity, as low as it comes. Safe from several threads.
  [[nodiscard]] RunResult RunAlone(const Contender& contender, const SuiteInput& input,
                                   std::optional<Bytes> capacity, std::optional<double> time_limit,
                                   bool keep_offsets = false);

  // Results. Text goes to standard output; files are called SUITE-NAME.csv and SUITE-NAME.svg.
  void Heading(const std::string& title, const std::string& text) const;
  void Say(const std::string& text) const;
  // Whether this build solves integer programs. If not, says that an experiment is left out for that reason.
  [[nodiscard]] bool HasIlp() const;
  void Show(const Sheet& sheet) const;
  void Keep(const std::string& name, const Sheet& sheet);
  void Keep(const std::string& name, const Chart& chart);
  void Keep(const std::string& name, const std::string& svg);

  // Adds to faults(). Safe from several threads.
  void Note(const std::string& fault);
  // Wrong plans, programs that failed and verdicts that contradict each other, which no experiment
  // may hide; and files that could not be written.
  [[nodiscard]] const std::vector<std::string>& faults() const { return faults_; }
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }
  [[nodiscard]] const std::vector<std::string>& files() const { return files_; }

 private:
  // Notes wrong plans and failures of a run.
  void Judge(const SuiteInput& input, const std::string& who, const RunResult& run);
  void Write(const std::string& name, const std::string& text);

  std::string suite_;
  SuiteOptions options_;
  std::mutex mutex_;  // Of faults_.
  std::vector<std::string> faults_;
  std::vector<std::string> files_;
  std::optional<Error> error_;
};

// `percent` of a capacity, rounded up.
[[nodiscard]] Bytes PercentOf(Bytes bytes, int percent);

// The median seconds of processor time of the runs; none where a run decided nothing.
[[nodiscard]] std::optional<double> SecondsOf(const Trial& trial);
// "1.2 ms"; "> 10 s" where time was up after that; "no plan" for a search that ended without one;
// "not in this build". For programs a number or nothing.
[[nodiscard]] Cell TimeCell(const Contender& contender, const Trial& trial);
// "solved", "infeasible", "limit", "no plan" or "not in this build".
[[nodiscard]] std::string StatusOf(const Contender& contender, const Trial& trial);

// One row for each input and contender: everything that Compare() measured.
[[nodiscard]] Sheet BoutSheet(const std::vector<Contender>& contenders,
                              const std::vector<Bout>& bouts,
                              const std::vector<SuiteInput>& inputs);
// One row for each input, one column for each contender: median times.
[[nodiscard]] Sheet TimeSheet(const std::vector<Contender>& contenders,
                              const std::vector<Bout>& bouts,
                              const std::vector<SuiteInput>& inputs);
// Inputs from top to bottom, time to the right: the median of all runs, and an error bar from the least to
// the most; hollow where there was no answer.
[[nodiscard]] Chart TimeChart(const std::vector<Contender>& contenders,
                              const std::vector<Bout>& bouts, double time_limit);
// The share of inputs solved within each time.
[[nodiscard]] Chart SolvedChart(const std::vector<Contender>& contenders,
                                const std::vector<Bout>& bouts, double time_limit);

}  // namespace berth::lab

#endif  // BERTH_TOOLS_LAB_SUITES_LAB_H_
