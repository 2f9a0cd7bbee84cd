// place/exact.h -- is there a plan of at most `capacity` bytes? The engines behind one question.
#ifndef BERTH_PLACE_EXACT_H_
#define BERTH_PLACE_EXACT_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "berth/budget.h"
#include "berth/place.h"
#include "model/instance.h"
#include "place/engines.h"
#include "place/strategy.h"

namespace berth::internal {

// kAuto is the niche search, which is complete unless windows let buffers interlock. Without
// windows the guided search joins it after a while, which takes longer for a node but proves more
// with it; it has half of the time where the capacity leaves hardly any slack, and about a
// twentieth elsewhere. With windows all engines that help there take turns: the canonical search,
// complete as long as of two buffers one always lies wholly above, and otherwise the disjunctive
// one too.
class ExactSearch final : public Search {
 public:
  // `algorithm`: kAuto, or one engine for that one alone. `instance` must outlive this. Time and
  // memory: for the niche search, sections times the pieces live in each; for the others all pairs
  // of buffers that meet. If time is up before they are all found, or they are too many to hold
  // (too_large()), Decide() always gives up.
  ExactSearch(const Instance& instance, Algorithm algorithm, const EngineOptions& options,
              std::uint64_t seed, const Budget& budget);

  [[nodiscard]] bool too_large() const { return too_large_; }

  [[nodiscard]] SearchAnswer Decide(const Question& question, Budget& budget) override;

  // The algorithm that gave the last answer.
  [[nodiscard]] Algorithm last() const { return last_; }

  // Of all questions so far.
  [[nodiscard]] const SearchStats& stats() const { return stats_; }

  // With fewer nodes than this hardly any plan is found.
  [[nodiscard]] std::int64_t dive_nodes() const { return dive_nodes_; }

  // Roughly how many elementary steps one node costs.
  [[nodiscard]] std::int64_t node_cost() const { return node_cost_; }

 private:
  struct Turn {
    const EngineInfo* engine = nullptr;
    std::unique_ptr<Search> search;
    std::int64_t nodes = 0;  // For the capacity of the last question.
  };
  [[nodiscard]] SearchAnswer Ask(Turn& turn, Question question, std::int64_t node_limit,
                                 Budget& budget);
  [[nodiscard]] SearchAnswer TakeTurns(const Question& question, Budget& budget);
  [[nodiscard]] SearchAnswer DecideWithProver(const Question& question, Budget& budget);
  [[nodiscard]] std::int64_t DueToProver() const;
  [[nodiscard]] bool HasProver();

  Subject subject_;
  std::vector<Turn> turns_;
  Turn prover_;  // Without an engine: none joins in.
  std::int64_t nodes_before_prover_;
  Bytes asked_ = -1;
  Algorithm last_ = Algorithm::kNiche;
  SearchStats stats_;
  bool too_large_ = false;
  std::int64_t dive_nodes_;
  std::int64_t node_cost_ = 1;
};

}  // namespace berth::internal

#endif  // BERTH_PLACE_EXACT_H_
