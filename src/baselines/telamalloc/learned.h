// baselines/telamalloc/learned.h -- the rule that a model was trained to be.
//
// TelaMalloc 6.5: a forest gives each candidate of a major backtrack a score, which is weighted by
// depth, as going too far back costs more than going too little; the best is taken if it is good
// enough, and otherwise all unplaced blocks are tried at the current decision point. HighestScore()
// is that rule, with a weight and a threshold of ours, as the paper states neither; by default a candidate
// is drawn, and the search starts again at times.
#ifndef BERTH_BASELINES_TELAMALLOC_LEARNED_H_
#define BERTH_BASELINES_TELAMALLOC_LEARNED_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/random.h"
#include "baselines/telamalloc/backtracking.h"
#include "baselines/telamalloc/forest.h"

namespace berth::internal {

struct LearnedParameters {
  // Backtracks by the published rule before the model is asked: most inputs need no more (6.1).
  std::int64_t patience = 50;
  // A score counts for 1 at the point where the search is stuck and for this much less at the root.
  float depth_weight = 0.2F;
  float threshold = 0.5F;  // Below it: stay.
  // A candidate is drawn with chances as its weighted score to this power; 0: the best is taken.
  int draw = 1;
  bool restarts = true;  // The search starts again (BacktrackRule::Restarts()).
  std::uint64_t seed = 1;
};

// The highest score, as in the paper (6.5, 7.3): the model is asked at each major backtrack, the best
// candidate is taken, nothing is drawn and nothing restarts. The paper does not say how much depth weighs,
// nor which score is enough: 0.9 and 0.5 are ours. Without restarts the weight decides: a search that goes far up uses up the few candidates there. With 0.2 in place
// of 0.9, 28 instead of 70 of 151 long-tail inputs improve (docs/algorithms/learned.md).
[[nodiscard]] LearnedParameters HighestScore();

class LearnedBacktracking : public BacktrackRule {
 public:
  // `forest` must outlive the rule and have kNumFeatures features.
  LearnedBacktracking(const Forest& forest, const LearnedParameters& parameters);

  [[nodiscard]] std::size_t Choose(const MajorBacktrack& stuck) override;
  [[nodiscard]] Random* Restarts() override { return parameters_.restarts ? &random_ : nullptr; }

 private:
  const Forest& forest_;
  const LearnedParameters parameters_;
  Random random_;
  std::vector<float> rows_;
  std::vector<float> scores_;
};

}  // namespace berth::internal

#endif  // BERTH_BASELINES_TELAMALLOC_LEARNED_H_
