#include "place/guided/learned.h"

#include "base/check.h"

namespace berth::internal {

LearnedBacktracking::LearnedBacktracking(const Forest& forest, const LearnedParameters& parameters)
    : forest_(forest), parameters_(parameters) {
  BERTH_CHECK(forest.features == kNumFeatures);
}

std::size_t LearnedBacktracking::Choose(const MajorBacktrack& stuck) {
  if (stuck.backtracks < parameters_.patience) return stuck.published;
  ComputeFeatures(stuck, rows_);
  scores_.resize(stuck.points.size());
  Score(forest_, rows_, scores_);
  std::size_t best = kStay;
  float best_score = parameters_.threshold;
  for (std::size_t k = 0; k < scores_.size(); ++k) {
    const float up =
        static_cast<float>(stuck.depth - stuck.points[k].level) / static_cast<float>(stuck.depth);
    const float score = scores_[k] * (1.0F - parameters_.depth_weight * up);
    if (score < best_score) continue;
    best_score = score;  // Of equals the deepest.
    best = k;
  }
  return best;
}

}  // namespace berth::internal
