// place/exact.h -- is there a plan of at most so many bytes? The searches behind one question.
#ifndef BERTH_PLACE_EXACT_H_
#define BERTH_PLACE_EXACT_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "berth/budget.h"
#include "berth/place.h"
#include "model/instance.h"
#include "place/canonical/canonical.h"
#include "place/disjunctive/disjunctive.h"
#include "place/learning/guided.h"
#include "place/niche/niche.h"
#include "place/strategy.h"

namespace berth::internal {

// kAuto is the niche search, which is complete unless windows let buffers interlock. Once it has
// searched for a while the guided search takes turns with it, which takes longer for a node but
// proves more with it; it has half of the time where the capacity leaves hardly any slack, and some
// twentieth elsewhere. With windows all but the guided one take turns: the canonical one, complete
// as long as of two buffers one always lies wholly above, and otherwise the disjunctive one too.
class ExactSearch {
 public:
  // `algorithm`: kAuto, or one of the searches for that one alone. `instance` must outlive
  // this. Time and memory: for the niche search, sections times the pieces live in each; for the
  // others all pairs of buffers that meet. If time is up before they are all found, or they are too
  // many to hold (too_large()), Decide() always gives up.
  ExactSearch(const Instance& instance, Algorithm algorithm, const PlaceOptions& options,
              const Budget& budget);

  [[nodiscard]] bool too_large() const { return too_large_; }

  // Looks for a plan no higher than `capacity`, for at most `node_limit` nodes of this call;
  // `known` is a plan to begin with, or nullptr. kImpossible is a proof.
  [[nodiscard]] SearchAnswer Decide(Bytes capacity, const std::vector<Bytes>* known,
                                    std::int64_t node_limit, Budget& budget);

  // Which of them gave the last answer.
  [[nodiscard]] Algorithm last() const { return last_; }

  // Of all questions so far.
  [[nodiscard]] const SearchStats& stats() const { return stats_; }

  // The height of every plan that cannot be lowered is a multiple of this many bytes.
  [[nodiscard]] Bytes grain() const { return grain_; }

  // With fewer nodes than this hardly any plan is found.
  [[nodiscard]] std::int64_t dive_nodes() const { return dive_nodes_; }

  // Roughly how many elementary steps one node costs.
  [[nodiscard]] std::int64_t node_cost() const { return node_cost_; }

 private:
  [[nodiscard]] SearchAnswer Ask(Algorithm algorithm, Bytes capacity,
                                 const std::vector<Bytes>* known, std::int64_t node_limit,
                                 Budget& budget);

  [[nodiscard]] SearchAnswer DecideWithProver(Bytes capacity, std::int64_t node_limit,
                                              Budget& budget);
  [[nodiscard]] bool MakeProver(const Budget& budget);

  const Instance& instance_;
  const GuidedOptions guided_options_;
  const std::uint64_t seed_;
  std::unique_ptr<NicheSearch> niche_;
  Overlaps overlaps_;
  std::unique_ptr<CanonicalSearch> canonical_;
  std::unique_ptr<DisjunctiveSearch> disjunctive_;
  std::unique_ptr<GuidedSearch> guided_;
  std::vector<Algorithm> searches_;  // Those that there are, in the order of their turns.
  Algorithm last_ = Algorithm::kNiche;
  SearchStats stats_;
  // kAuto without windows: the guided search joins in, at the capacity of the last question.
  bool may_prove_ = false;
  Bytes asked_ = -1;
  std::int64_t niche_nodes_ = 0;
  std::int64_t guided_nodes_ = 0;
  Bytes grain_ = 1;
  bool too_large_ = false;
  std::int64_t dive_nodes_ = 1;
  std::int64_t node_cost_ = 1;
};

}  // namespace berth::internal

#endif  // BERTH_PLACE_EXACT_H_
