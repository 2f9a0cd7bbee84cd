// baselines/telamalloc/options.h -- each part of TelaMalloc's policy by itself (telamalloc.h
// explains them); the defaults are the policy as published. Sections are those of the paper.
#ifndef BERTH_BASELINES_TELAMALLOC_OPTIONS_H_
#define BERTH_BASELINES_TELAMALLOC_OPTIONS_H_

namespace berth::internal {

struct TelaMallocOptions {
  // What is tried at a decision point.
  enum class Strategy {
    kCandidates,  // The longest lived, the largest, and the largest in size x lifetime (5.1).
    kSize,        // One block after another by one order, back to the last valid point on failure:
    kArea,        // the strategies that Figure 14 compares with.
    kLifetime,
    kLowest,
  };
  // Where a block goes.
  enum class Placement {
    kLowest,         // The lowest position that the solver sees (5.2).
    kSkyline,        // On top of what is placed, as if falling (5.1, Figure 8a).
    kRaisedSkyline,  // The same, but not below the lowest position that the solver sees.
  };
  // Where major backtracks go.
  enum class Backtracking {
    kPublished,  // 5.4.
    kLearned,  // Once it is stuck, where a model says (6); the published way if that does not help.
    kHighestScore,  // As 6.5 has it: always where the model's score is highest; no restarts.
  };
  // Which of a decision point's candidates come first (steps.h); of kCandidates alone.
  enum class Order {
    kPublished,    // The longest lived, the largest, the largest in size x lifetime.
    kLowestFirst,  // The block that can lie lowest, then these.
    kRandom,       // These four as drawn.
    kModel,        // These four as a shallow decision tree scores them (8.3).
  };
  bool heuristic_first = true;        // The baseline heuristic first, search after it fails (7.2).
  bool split = true;                  // Parts that separate in time are solved one by one (5.3).
  bool phases = true;                 // Blocks of the present phase first (5.3, Figure 9).
  bool conflict_backtracking = true;  // Back to the second-to-last placement in conflict (5.4).
  bool carry_candidates = true;       // Candidates go back with the search (5.4).
  bool section_load = true;           // Bytes that cannot lie below a level must fit above it.
  int most_candidates = 12;           // At one decision point (5.4).
  int stuck_after = 100;              // Backtracks below a point until it is left; 0: never (5.4).
  Strategy strategy = Strategy::kCandidates;
  Placement placement = Placement::kLowest;
  Backtracking backtracking = Backtracking::kPublished;
  Order order = Order::kPublished;
};

}  // namespace berth::internal

#endif  // BERTH_BASELINES_TELAMALLOC_OPTIONS_H_
