// berth-lab replay -- what the requests of a recorded step cost, by its plan and by the C library.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "base/try.h"
#include "berth/io.h"
#include "tools/berth/flags.h"
#include "tools/berth/output.h"
#include "tools/lab/bench/benchmark.h"
#include "tools/lab/bench/machine.h"
#include "tools/lab/bench/replay.h"
#include "tools/lab/bench/report.h"
#include "tools/lab/command.h"
#include "tools/lab/suites/sheet.h"

namespace berth::lab {
namespace {

struct ReplayArguments {
  std::vector<std::string> plans;
  int rounds = 200;
  std::string output;
};

std::uint64_t DeparturesOf(const berth_arena_report& report) {
  return std::accumulate(std::begin(report.departures), std::end(report.departures),
                         std::uint64_t{0});
}

Cell Count(std::uint64_t count) { return CountCell(static_cast<std::int64_t>(count)); }

void AddPlan(Sheet& sheet, const std::string& path, int rounds, const Replayed& replayed) {
  const berth_arena_report& report = replayed.report;
  const auto one = [&](double step) {
    return SecondsCell(step / static_cast<double>(std::max<std::size_t>(replayed.requests, 1)));
  };
  const auto least = [](const std::vector<double>& seconds) {
    return *std::min_element(seconds.begin(), seconds.end());
  };
  sheet.AddRow({TextCell(std::filesystem::path(path).stem().string()), CountCell(rounds),
                Count(replayed.requests), Count(report.served), Count(report.not_planned),
                BytesCell(static_cast<Bytes>(report.bytes)), Count(DeparturesOf(report)),
                one(Median(replayed.arena_seconds)), one(least(replayed.arena_seconds)),
                one(Median(replayed.system_seconds)), one(least(replayed.system_seconds))});
}

Result<cli::ExitCode> Run(const ReplayArguments& arguments) {
  if (!arguments.output.empty()) BERTH_TRY(cli::CheckOutput(arguments.output));
  Sheet sheet({{"plan", "plan", false},
               {"steps", "steps"},
               {"requests of a step", "step_requests"},
               {"served", "served"},
               {"not planned", "not_planned"},
               {"arena", "arena_bytes"},
               {"departures", "departures"},
               {"by the plan", "plan_median_seconds"},
               {"least", "plan_least_seconds"},
               {"C library", "c_library_median_seconds"},
               {"least", "c_library_least_seconds"}});
  bool departed = false;
  for (const std::string& path : arguments.plans) {
    const Replayed replayed = BERTH_TRY(Replay(path, arguments.rounds));
    departed |= DeparturesOf(replayed.report) > 0;
    AddPlan(sheet, path, arguments.rounds, replayed);
  }
  cli::Print(AboutThisRun(UtcNow()) +
             "\nProcessor time of a request and its release, median and least of all steps.\n\n" +
             sheet.ToText());
  if (!arguments.output.empty()) BERTH_TRY(WriteFile(arguments.output, sheet.ToCsv()));
  return departed ? cli::kDoesNotFit : cli::kDone;
}

}  // namespace

cli::Command AddReplayCommand(CLI::App& lab) {
  CLI::App* app = lab.add_subcommand(
      "replay", "Measure what the requests of a recorded step cost, by its plan and without.");
  const auto arguments = std::make_shared<ReplayArguments>();
  app->add_option("PLANS", arguments->plans,
                  "Tables with offsets, as berth place writes them, of steps that "
                  "libberth_preload.so or berth/runtime.h has recorded.")
      ->required()
      ->take_all();
  cli::AddInteger(*app, "--rounds", arguments->rounds, 1, 1'000'000,
                  "How often each step is repeated. Default: 200.");
  app->add_option("-o,--output", arguments->output, "Write the table as CSV. Default: not at all.")
      ->type_name("FILE");
  app->footer(
      "The requests come in their recorded order, first to the arena, then to posix_memalign() "
      "and\n"
      "free(). No byte is touched, so what the system does for new pages is not in the time.\n"
      "Exit codes: 0 done, 1 a request departed from its plan, 2 bad input or usage.\n"
      "\nExample:\n"
      "  berth place step.csv -o plan.csv && berth-lab replay plan.csv");
  return {app, [arguments] { return Run(*arguments); }};
}

}  // namespace berth::lab
