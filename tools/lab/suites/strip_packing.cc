// Section 9 of MiniMalloc's paper leaves open how it does on related problems, for which 2DPackLib has
// benchmarks. Here: strip packing with fixed x, on instances drawn as those of its families.
#include <array>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/try.h"
#include "berth/file.h"
#include "berth/table_io.h"
#include "tools/berth/terminal.h"
#include "tools/generate/strip.h"
#include "tools/lab/suites/minimalloc.h"
#include "tools/lab/suites/strategies.h"

namespace berth::lab {
namespace {

constexpr std::array<Strategy, 5> kSearches = {
    {{"canonical", "MiniMalloc's search", "canonical", "", "", 2},
     {"telamalloc", "TelaMalloc", "telamalloc", "", "", 1},
     {"guided", "Berth guided", "guided", "", "", 3},
     {"niche", "Berth niche", "niche", "", "", 4},
     {"auto", "Berth auto", "auto", "", "", 0}}};
constexpr std::array<int, 1> kAtTheLeast = {100};

SuiteInput InputOf(const std::string& family, const std::string& name, Problem problem) {
  problem.capacity.reset();
  return {family, name, std::move(problem)};
}

void AddCut(bool quick, std::vector<SuiteInput>& inputs) {
  const std::uint64_t seeds = quick ? 1 : 5;
  for (const internal::CutSize& size : internal::CutSizes()) {
    if (quick && size.pieces > 50) continue;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      Problem problem = internal::CutRectangle(size.width, size.height, size.pieces, seed);
      const std::string name(size.name);
      inputs.push_back(InputOf(name.front() == 'C' ? "cut as C" : "cut as N",
                               name + "-" + std::to_string(seed), std::move(problem)));
      inputs.back().least = size.height;  // As it was cut.
    }
  }
}

void AddClasses(bool quick, std::vector<SuiteInput>& inputs) {
  using internal::StripRule;
  for (const StripRule rule : {StripRule::kNextFit, StripRule::kLeastLoad}) {
    const std::string family = rule == StripRule::kNextFit ? "next fit" : "least load";
    for (int number = 1; number <= internal::kStripClasses; ++number) {
      for (const std::int64_t count : {20, 40, 60, 80, 100}) {
        if (quick && count != 40) continue;
        Problem problem = internal::DrawClass(number, count, rule, 1);
        inputs.push_back(InputOf((number <= 6 ? "classes 1-6 by " : "classes 7-10 by ") + family,
                                 "class-" + std::to_string(number) + "-" + std::to_string(count) +
                                     (rule == StripRule::kNextFit ? "-next-fit" : "-least-load"),
                                 std::move(problem)));
      }
    }
  }
}

// What is known of the least heights, by family.
Sheet LeastSheet(const std::vector<SuiteInput>& inputs) {
  Sheet sheet({{"family", "family", false},
               {"inputs", "inputs"},
               {"least proved", "least_proved"},
               {"least above the load", "least_above_load"}});
  for (std::size_t k = 0; k < inputs.size();) {
    std::int64_t count = 0;
    std::int64_t proved = 0;
    std::int64_t above = 0;
    const std::string& family = inputs[k].family;
    for (; k < inputs.size() && inputs[k].family == family; ++k) {
      ++count;
      proved += inputs[k].proved() ? 1 : 0;
      above += inputs[k].least > MaxLiveLoad(inputs[k].problem).load ? 1 : 0;
    }
    sheet.AddRow({TextCell(family), CountCell(count), CountCell(proved), CountCell(above)});
  }
  return sheet;
}

// The instances as tables with their capacities in their names, for `berth-lab bench`, which runs other
// programs on them. Error: kIo.
Result<void> WriteTables(const std::string& output, const std::vector<SuiteInput>& inputs) {
  if (output.empty()) return {};
  const std::filesystem::path folder = std::filesystem::path(output) / "minimalloc-strips";
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return Fail(ErrorCode::kIo, folder.string() + ": " + error.message());
  for (const SuiteInput& input : inputs) {
    const std::string name = input.name + "." + std::to_string(input.least) + ".csv";
    BERTH_TRY(WriteFile((folder / name).string(), WriteCsv(input.problem)));
  }
  return {};
}

}  // namespace

Result<void> StripPacking(Lab& lab) {
  const std::int64_t cap = lab.Steps();
  const double limit =
      lab.options().time_limit.value_or(300);  // The nodes end a run, not the time.
  lab.Heading("Strip packing with fixed x: plans of the least height",
              "Instances drawn as those of 2DPackLib's families; at most " + cli::FormatCount(cap) +
                  " nodes each, which are not the same for different searches.");
  std::vector<SuiteInput> inputs;
  AddCut(lab.options().quick, inputs);
  AddClasses(lab.options().quick, inputs);
  lab.FindLeast(inputs);
  BERTH_TRY(WriteTables(lab.options().output, inputs));
  const Sheet least = LeastSheet(inputs);
  const StrategyRuns runs =
      RunStrategies(lab, "strip packing", kSearches, inputs, kAtTheLeast, cap, limit);
  const Sheet failures = FailureSheet(runs);
  lab.Show(least);
  lab.Show(failures);
  lab.Show(StepSheet(runs));
  lab.Keep("strips-least", least);
  lab.Keep("strips-failures", failures);
  lab.Keep("strips-nodes", StepSheet(runs));
  lab.Keep("strips-runs", RunSheet(runs));
  return {};
}

}  // namespace berth::lab
