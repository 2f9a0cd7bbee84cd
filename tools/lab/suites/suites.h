// tools/lab/suites/suites.h -- the experiments of papers, on Berth and on what they compare with.
//
// docs/howto/reproduce-the-papers.md says what each shows and how it differs from the paper's.
#ifndef BERTH_TOOLS_LAB_SUITES_SUITES_H_
#define BERTH_TOOLS_LAB_SUITES_SUITES_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/result.h"
#include "tools/berth/command.h"
#include "tools/lab/suites/lab.h"

namespace berth::lab {

// One table or figure.
struct Experiment {
  std::string_view key;    // For --only, and the beginning of the names of its files.
  std::string_view title;  // "Table 1: time of a step"
  Result<void> (*run)(Lab& lab);
};

struct Suite {
  std::string_view name;   // "telamalloc"
  std::string_view paper;  // Authors, title, where and when.
  std::span<const Experiment> experiments;
  // Where its inputs are: below the data folder, and the two folders in there, of which one is
  // enough.
  struct Folders {
    std::string_view below = "buffers";
    std::string_view first = "models";
    std::string_view second = "challenging";
  };
  Folders folders = {};
  [[nodiscard]] bool takes_tables() const { return folders.below == "buffers"; }
};

[[nodiscard]] const Suite& TelaMallocSuite();
[[nodiscard]] const Suite& MiniMallocSuite();
[[nodiscard]] const Suite& OllaSuite();
[[nodiscard]] const Suite& CosmaSuite();
[[nodiscard]] const Suite& RecomputeSuite();
[[nodiscard]] const Suite& MemoriesSuite();
[[nodiscard]] const Suite& BoardsSuite();
[[nodiscard]] const Suite& ProofsSuite();
[[nodiscard]] const Suite& OrderProofsSuite();
// All suites.
[[nodiscard]] std::span<const Suite* const> Suites();

// Runs the experiments of the suite called `name`, prints tables and writes files. kDoesNotFit: a
// wrong plan or a contradiction. Errors: kInvalidOptions for an unknown suite or experiment; those
// of reading tables and writing files.
[[nodiscard]] Result<cli::ExitCode> RunSuite(std::string_view name, SuiteOptions options);

}  // namespace berth::lab

#endif  // BERTH_TOOLS_LAB_SUITES_SUITES_H_
