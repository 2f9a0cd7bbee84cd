// tools/berth/problem_choice.h -- one of several problems in a file: a pool of a snapshot, a model of
// a trace, a memory of a compiler's report.
#ifndef BERTH_TOOLS_BERTH_PROBLEM_CHOICE_H_
#define BERTH_TOOLS_BERTH_PROBLEM_CHOICE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "berth/result.h"

namespace CLI {
class App;
}

namespace berth::cli {

// --problem, a name or a number; empty: not given.
void AddProblem(CLI::App& app, std::string& choice);
// The same where files are snapshots.
void AddPool(CLI::App& app, std::string& choice);
// The index of the problem that `choice` means: its name in `names`, else its number, the first being
// 1. `path` is that of the file. Error: kInvalidOptions.
[[nodiscard]] Result<std::size_t> ChooseProblem(const std::string& choice,
                                                const std::vector<std::string>& names,
                                                const std::string& path);
// The error for `what`, such as "--svg", that is for one problem where `path` has several.
[[nodiscard]] tl::unexpected<Error> ProblemMissing(const std::string& what,
                                                   const std::vector<std::string>& names,
                                                   const std::string& path);

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_PROBLEM_CHOICE_H_
