// tools/lab/train/report.h -- the tables and figures of an evaluation (TelaMalloc 7.3).
#ifndef BERTH_TOOLS_LAB_TRAIN_REPORT_H_
#define BERTH_TOOLS_LAB_TRAIN_REPORT_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tools/lab/train/evaluate.h"
#include "tools/lab/train/table.h"

namespace berth::internal {

// One comparison, most of it over the long tail: inputs that cost the published rule more than
// `kLongTail` backtracks.
inline constexpr std::int64_t kLongTail = 1000;

struct Comparison {
  std::int64_t tail = 0;
  std::int64_t improved = 0;   // A plan with fewer backtracks, or where there was none before.
  std::int64_t failures = 0;   // Without a plan by the published rule.
  std::int64_t rescued = 0;    // Of these.
  std::int64_t ten_times = 0;  // A plan with at most a tenth of the backtracks.
  std::int64_t worse = 0;      // A plan by the published rule, and more backtracks or none now.
  std::vector<std::int64_t> worse_inputs;
  // Of all inputs, not of the long tail alone, as the paper counts these:
  std::int64_t lost = 0;             // A plan by the published rule, none now.
  std::int64_t ten_times_worse = 0;  // A plan by both, with more than ten times the backtracks now.
};
using Trials = std::map<std::int64_t, Trial>;  // By input.
[[nodiscard]] Comparison Compare(const Trials& published, const Trials& other);

// How good the choices of a rule would have been: means over all choices of a table.
struct ChoiceQuality {
  std::int64_t choices = 0;
  double score = 0;  // Of what is chosen (6.4), 0 to 10.
  double good = 0;   // Share of choices between the best and the minimum target.
  double vain = 0;   // Share that the oracle proved useless, or could not decide.
};
// Of the model, which takes the highest score, of equals the deepest.
[[nodiscard]] ChoiceQuality QualityOfModel(const Forest& forest,
                                           const std::vector<TrainingRow>& rows);
// Of drawing any candidate.
[[nodiscard]] ChoiceQuality QualityOfChance(const std::vector<TrainingRow>& rows);
// Of going to the deepest blamed candidate, which is what the published rule mostly does.
[[nodiscard]] ChoiceQuality QualityOfDeepest(const std::vector<TrainingRow>& rows);

// How much larger the root of the mean square error gets when the column of one feature is
// shuffled.
[[nodiscard]] std::vector<double> Importance(const Forest& forest,
                                             const std::vector<TrainingRow>& rows);

// Where a search got stuck, in order: how many backtracks it had had, and at which level.
struct TracePoint {
  std::int64_t backtracks;
  std::int32_t level;
};
[[nodiscard]] std::vector<TracePoint> Trace(const Problem& problem, bool learned,
                                            const Forest& forest, const EvaluateOptions& options);

// Microseconds for one candidate in batches of `candidates`: the median of many.
[[nodiscard]] double MicrosecondsPerCandidate(const Forest& forest, std::size_t candidates);

// Charts as SVG.
[[nodiscard]] std::string DrawTrace(const std::string& name,
                                    const std::vector<TracePoint>& published,
                                    const std::vector<TracePoint>& learned);
[[nodiscard]] std::string DrawTimes(const std::vector<std::pair<std::size_t, double>>& times);
[[nodiscard]] std::string DrawImportance(const std::vector<double>& importance);

}  // namespace berth::internal

#endif  // BERTH_TOOLS_LAB_TRAIN_REPORT_H_
