// tools/lab/train/commands.h -- berth-lab train: one command for each step of scripts/train.
#ifndef BERTH_TOOLS_LAB_TRAIN_COMMANDS_H_
#define BERTH_TOOLS_LAB_TRAIN_COMMANDS_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "berth/result.h"
#include "tools/berth/command.h"
#include "tools/berth/flags.h"
#include "tools/berth/shard.h"
#include "tools/lab/train/booster.h"
#include "tools/lab/train/inputs.h"

namespace berth::lab {

[[nodiscard]] cli::Command AddCollectCommand(CLI::App& train);
[[nodiscard]] cli::Command AddMergeCommand(CLI::App& train);
[[nodiscard]] cli::Command AddFitCommand(CLI::App& train);
[[nodiscard]] cli::Command AddEvaluateCommand(CLI::App& train);
[[nodiscard]] cli::Command AddReportCommand(CLI::App& train);
[[nodiscard]] cli::Command AddStepsCommand(CLI::App& train);

// What the commands share.

inline constexpr std::int64_t kTrainingInputs = 640;     // Of `collect` and `merge`, by default.
inline constexpr std::int64_t kEvaluationInputs = 1200;  // Of `evaluate` and `report`, by default.

// A whole number of at least `least`; --help says its default.
template <typename Integer>
CLI::Option* AddNumber(CLI::App& app, const std::string& name, Integer& value, Integer least,
                       const std::string& description) {
  return cli::AddInteger(app, name, value, least, std::numeric_limits<Integer>::max(),
                         description + " Default: " + std::to_string(value) + ".");
}

// Which inputs a command takes.
struct InputChoice {
  std::vector<std::string> tables;  // Files or folders; empty: the generated set.
  std::int64_t first = 0;
  std::optional<std::int64_t>
      end;  // One past the last; none: all tables, or the command's own number.
};
// --problems, --inputs and, where the command has one, --first. `own`: of the generated set.
void AddInputChoice(CLI::App& app, InputChoice& choice, std::int64_t own, bool has_first);

struct InputRange {
  internal::InputSource source;
  std::int64_t first;
  std::int64_t end;
};
// Errors: kIo, kParse, kInvalidProblem.
[[nodiscard]] Result<InputRange> LoadInputs(const InputChoice& choice, internal::InputSet set,
                                            std::int64_t own);

// Whether the heuristic that runs before the search leaves anything to it.
[[nodiscard]] Result<bool> NeedsSearch(const Problem& problem);
// The file of the rows of one input, in the folder of `collect`.
[[nodiscard]] std::string RowsFile(const std::string& folder, std::int64_t index);
// Makes the folder where it is not there. Error: kIo.
[[nodiscard]] Result<void> MakeFolder(const std::string& path);
// Rows and trials have the numbers of inputs, which mean others for other tables; so a folder says in its
// file inputs.txt which they are of. ClaimFolder() writes that before the first of them, CheckFolder() reads
// it; folders without it are of the generated inputs. Errors: kInvalidOptions for a folder of other inputs;
// kIo.
[[nodiscard]] Result<void> ClaimFolder(const std::string& folder,
                                       const internal::InputSource& inputs);
[[nodiscard]] Result<void> CheckFolder(const std::string& folder,
                                       const internal::InputSource& inputs);
// A model as XGBoost saves it; an empty forest for an empty path.
[[nodiscard]] Result<internal::OwnedForest> LoadModel(const std::string& path);

}  // namespace berth::lab

#endif  // BERTH_TOOLS_LAB_TRAIN_COMMANDS_H_
