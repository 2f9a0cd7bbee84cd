// place/niche/beam.h -- many partial plans side by side, for tables with slack.
//
// Depth-first search notices trouble when a section cannot be completed. Where every section has
// some slack that is late: a plan wastes a little here and a little there, and what goes wrong at
// the top was lost far below. Here plans of about the same progress are compared while they grow:
//
//     floors and wasted bytes, summed:   0 % ------- 40 % 40.1 % 40.2 % ---------- 100 %
//     the best of each bucket:                        o     o      o
//                                                    /|\   each is expanded as the search would
//
// Progress is what is decided, taken or given up, so of two plans in a bucket the one that has
// given up less has placed more. Which of them is better is a guess:
//
//   stress     how little each section may still waste in the height that it has left. Sections
//              where passes have failed count more;
//   burden     the buffers still to be placed: narrow ones are easier to place late;
//   roughness  how many steps the skyline has;
//   detours    how far the plan departed from the candidates that look best, and gave up bytes;
//   noise      without it the plans of a bucket are so much alike that all of them end in the same
//              way.
//
// A pass that ends without a plan is followed by a wider one. It proves nothing: that is left to
// the depth-first search, with which it takes turns (niche.cc).
//
// Beam search for packing with a guide made of waste: L. Libralesso and F. Fontan, "An anytime tree
// search algorithm for the 2018 ROADEF/EURO challenge glass cutting problem", EJOR 2021.
#ifndef BERTH_PLACE_NICHE_BEAM_H_
#define BERTH_PLACE_NICHE_BEAM_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <unordered_set>
#include <vector>

#include "base/random.h"
#include "berth/budget.h"
#include "model/instance.h"
#include "place/niche/branching.h"
#include "place/niche/partial_plan.h"

namespace berth::internal::niche {

template <typename Level>
class Beam {
 public:
  using Plan = PartialPlan<Level>;

  enum class End { kFound, kOutOfNodes, kOutOfBudget, kNothingToTry };

  // Keeps at most `most_plans` at a time; 0: as many as 256 MiB hold, or the few that a pass needs.
  Beam(const Instance& instance, Bytes grain, const Options& options, std::uint64_t seed,
       std::size_t most_plans = 0);
  Beam(const Beam&) = delete;
  Beam& operator=(const Beam&) = delete;

  // From now on plans end at `capacity`, and passes begin anew, with other random numbers.
  void Start(Level capacity);

  // Goes on for `node_limit` nodes, with one pass after the other. kNothingToTry: no pass would
  // ever find anything, but that is no proof where there are windows.
  [[nodiscard]] End Run(std::int64_t node_limit, Budget& budget);
  [[nodiscard]] std::int64_t nodes() const { return nodes_; }  // Since Start().

  // The plan that was found.
  [[nodiscard]] const Plan& plan() const { return plan_; }

 private:
  struct Node {
    double rank = 0;  // Lower is better.
    std::uint64_t hash = 0;
    std::size_t snapshot = 0;
    double burden = 0;
    double detours = 0;
  };
  static bool IsBetter(const Node& a, const Node& b) {
    return a.rank != b.rank ? a.rank < b.rank : a.hash < b.hash;
  }
  struct Bucket {
    std::vector<Node> nodes;
    std::unordered_set<std::uint64_t> seen;
    double worst = std::numeric_limits<double>::infinity();  // Nothing above this is taken.
  };

  void StartPass();
  void Close(Bucket& bucket);
  [[nodiscard]] End Expand(const Node& node, std::int64_t last_node, Budget& budget);
  void Measure();
  [[nodiscard]] double Stress(SectionIndex s) const;
  [[nodiscard]] bool Offer(double burden, double detours);
  void Keep(Bucket& bucket, Node node);
  void Trim(Bucket& bucket);
  [[nodiscard]] std::uint64_t Hash() const;

  Plan plan_;
  Branching<Level> branching_;
  Random random_;
  bool uses_weights_;
  bool is_large_;  // A node takes so long that the clock is read at each.
  std::size_t most_plans_;
  IndexedVector<ItemIndex, double> burden_;
  double all_burden_ = 0;

  typename Plan::Snapshot root_;
  std::int64_t nodes_ = 0;
  bool may_go_on_ = false;

  // The pass.
  std::size_t width_ = 0;
  bool pool_was_full_ = false;
  std::int64_t pass_nodes_ = 0;
  std::vector<Bucket> buckets_;
  std::size_t bucket_ = 0;  // Being expanded:
  std::vector<Node> open_;  // its nodes, best first,
  std::size_t next_ = 0;    // up to here,
  std::size_t child_ = 0;   // and the first children of that one.
  std::vector<typename Plan::Snapshot> pool_;
  std::vector<std::size_t> free_;
  IndexedVector<SectionIndex, double> failures_;  // By section, old ones fading.
  IndexedVector<SectionIndex, Weight> weight_;

  // The plan being expanded.
  double stress_ = 0;
  double decided_ = 0;
  std::size_t done_ = 0;
  IndexedVector<SectionIndex, double> section_stress_;
  IndexedVector<SectionIndex, Level> floors_;
};

extern template class Beam<std::int32_t>;
extern template class Beam<std::int64_t>;

}  // namespace berth::internal::niche

#endif  // BERTH_PLACE_NICHE_BEAM_H_
