// tools/lab/train/evaluate.h -- what learned backtracking gains (TelaMalloc 7.3).
#ifndef BERTH_TOOLS_LAB_TRAIN_EVALUATE_H_
#define BERTH_TOOLS_LAB_TRAIN_EVALUATE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "baselines/telamalloc/backtracking.h"
#include "baselines/telamalloc/forest.h"
#include "baselines/telamalloc/learned.h"
#include "baselines/telamalloc/options.h"
#include "berth/result.h"
#include "tools/lab/train/inputs.h"

namespace berth::internal {

// How one search of one input ended.
struct Trial {
  enum class End { kFound, kUsedUp, kOutOfSteps, kImpossible };
  std::int64_t input = 0;
  End end = End::kOutOfSteps;
  std::int64_t steps = 0;
  std::int64_t minor_backtracks = 0;
  std::int64_t major_backtracks = 0;
  double seconds = 0;  // Of the processor: other programs' turns do not count.
  [[nodiscard]] std::int64_t backtracks() const { return minor_backtracks + major_backtracks; }
};
[[nodiscard]] std::string_view ToString(Trial::End end);

// The published rule, starting again.
class RestartingRule : public BacktrackRule {
 public:
  [[nodiscard]] std::size_t Choose(const MajorBacktrack& stuck) override { return stuck.published; }
  [[nodiscard]] Random* Restarts() override { return &random_; }

 private:
  Random random_{1};
};

// The rules that are compared.
enum class Rule {
  kHeuristic,  // The heuristic before the search; no backtracks. kFound or kUsedUp.
  kPublished,  // 5.4: what TelaMalloc does without a model.
  kLearned,
  kHighestScore,  // As in the paper: the model alone, without draws, restarts or turns.
  kRandom,    // As kLearned, with the same score for every candidate: what is left without a model.
  kRestarts,  // The published rule, starting again as the learned one does.
  kOracle,    // The deepest point that the oracle finds solvable: what a perfect model would do.
  kNiche,     // No rule: the niche search, which `auto` would take.
};
[[nodiscard]] std::string_view ToString(Rule rule);

struct EvaluateOptions {
  std::int64_t steps = 500'000;                               // 7.2.
  std::int64_t oracle_nodes = 3'000;                          // For one question.
  int most_candidates = TelaMallocOptions{}.most_candidates;  // At one decision point.
  LearnedParameters parameters;                               // Of kLearned and kRandom.
  LearnedParameters highest = HighestScore();                 // Of kHighestScore.
};

// One search, without the heuristic first.
[[nodiscard]] Trial Try(const Problem& problem, Rule rule, const Forest& forest,
                        const EvaluateOptions& options);

// Trials as a table: CSV with a header.
[[nodiscard]] std::string TrialHeader();
void AppendTrial(const Trial& trial, std::string& text);
[[nodiscard]] Result<std::vector<Trial>> ReadTrials(std::string_view text, std::string_view name);

}  // namespace berth::internal

#endif  // BERTH_TOOLS_LAB_TRAIN_EVALUATE_H_
