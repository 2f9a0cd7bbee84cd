// tools/lab/bench/subprocess.h -- other programs, run to their end or to a limit.
//
// Commands are lists of words, started without a shell: nothing in a file name is ever run.
#ifndef BERTH_TOOLS_LAB_BENCH_SUBPROCESS_H_
#define BERTH_TOOLS_LAB_BENCH_SUBPROCESS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/result.h"

namespace berth::lab {

// Splits a command line into words as a POSIX shell does: blanks separate words; single quotes,
// double quotes and backslashes keep them together. Nothing is expanded. Error: kInvalidOptions for
// a quotation that is never closed or a command without words.
[[nodiscard]] Result<std::vector<std::string>> SplitCommand(std::string_view command);

struct ProcessResult {
  // Exactly one of these four happened.
  std::optional<std::string> not_started;  // Why not.
  bool timed_out = false;                  // It was killed at the limit.
  std::optional<int> signal;               // It died of this signal.
  std::optional<int> exit_code;

  double seconds = 0;  // Wall clock, from before the start to the end of the process.
  std::string standard_output;
  std::string standard_error;
};

// Runs words[0] (looked up in PATH) with standard input closed, and waits for it. At the time limit
// the process and all that it started are killed; also when this process is interrupted.
// One at a time.
[[nodiscard]] ProcessResult RunProcess(const std::vector<std::string>& words,
                                       std::optional<double> time_limit_seconds);

}  // namespace berth::lab

#endif  // BERTH_TOOLS_LAB_BENCH_SUBPROCESS_H_
