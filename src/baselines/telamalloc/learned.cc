#include "baselines/telamalloc/learned.h"

#include "base/check.h"

namespace berth::internal {

LearnedParameters HighestScore() {
  LearnedParameters parameters;
  parameters.patience = 0;
  parameters.depth_weight = 0.9F;
  parameters.draw = 0;
  parameters.restarts = false;
  return parameters;
}

LearnedBacktracking::LearnedBacktracking(const Forest& forest, const LearnedParameters& parameters)
    : forest_(forest), parameters_(parameters), random_(parameters.seed) {
  BERTH_CHECK(forest.features == kNumFeatures);
}

std::size_t LearnedBacktracking::Choose(const MajorBacktrack& stuck) {
  if (stuck.backtracks < parameters_.patience) return stuck.published;
  ComputeFeatures(stuck, rows_);
  scores_.resize(stuck.points.size());
  Score(forest_, rows_, scores_);
  std::size_t best = kStay;
  float best_score = parameters_.threshold;
  float total = 0;
  for (std::size_t k = 0; k < scores_.size(); ++k) {
    const float up =
        static_cast<float>(stuck.depth - stuck.points[k].level) / static_cast<float>(stuck.depth);
    const float score = scores_[k] * (1.0F - parameters_.depth_weight * up);
    const bool passes = score >= parameters_.threshold && score > 0;
    scores_[k] = passes ? 1 : 0;
    for (int power = 0; passes && power < parameters_.draw; ++power) scores_[k] *= score;
    total += scores_[k];
    if (!passes || score < best_score) continue;
    best_score = score;  // Of equals the deepest.
    best = k;
  }
  if (best == kStay || parameters_.draw == 0) return best;
  float draw = total * static_cast<float>(random_.Real());
  for (std::size_t k = 0; k < scores_.size(); ++k) {
    draw -= scores_[k];
    if (scores_[k] > 0 && draw < 0) return k;
  }
  return best;
}

}  // namespace berth::internal
