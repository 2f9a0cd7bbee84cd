// tools/berth/remedies.h -- what would make a plan fit, or lower it: found by asking the searches.
//
// A page that says why a plan is as large as it is should say what to do about it. Each remedy here
// was computed for the problem at hand; what was not found to help is not named, what there was no
// time to look into is. The searches have limits of nodes, lower ones for large inputs, so that the
// page depends on the input alone unless time ends them.
#ifndef BERTH_TOOLS_BERTH_REMEDIES_H_
#define BERTH_TOOLS_BERTH_REMEDIES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/budget.h"
#include "berth/graph.h"
#include "berth/page.h"
#include "berth/place.h"
#include "berth/plan.h"
#include "tools/berth/common.h"
#include "tools/berth/peak.h"

namespace berth::internal {

struct Planned;

// Of a time limit, for the remedies of a page.
inline constexpr double kShareOfRemedies = 0.25;

// The searches for one page's remedies, which share the time of one budget.
class RemedySearch {
 public:
  // `budget` must outlive this. Of its limits, time and cancellation count.
  explicit RemedySearch(Budget& budget) : budget_(budget) {}

  // What `search` answers within at most half of the time that is left, and `nodes`. Nothing where
  // no time is left; `what` was looked for is then remembered, as where time ends the search.
  template <typename Search>
  auto Look(std::string_view what, std::int64_t nodes, Search search)
      -> std::optional<decltype(search(std::declval<Budget&>()))> {
    if (budget_.TimeIsUp()) {
      Missed(what);
      return std::nullopt;
    }
    Budget part(budget_, 0.5);
    part.SetNodeLimit(nodes);
    auto found = search(part);
    if (part.TimeIsUp() && part.nodes_spent() < nodes) Missed(what);
    return found;
  }

  // Something came of looking for `what`, though time may have ended it.
  void Found(std::string_view what);

  // What is not looked for, as it would take longer than whoever sets a time limit wants to wait.
  [[nodiscard]] bool TooLong(std::string_view what, bool is_large);

  // What was not looked into to the end, if anything: the last remedy of a page.
  [[nodiscard]] std::optional<Remedy> Rest() const;

 private:
  void Missed(std::string_view what);

  Budget& budget_;
  std::vector<std::string> missed_;
};

// Of a placement: the capacity that works, what alignments and pins cost, what has to leave.
[[nodiscard]] std::vector<Remedy> PlacementRemedies(const Problem& problem,
                                                    const PlanAnswer& answer, RemedySearch& search);

// Of an order: a better one where it was not searched for, outputs written over inputs, and what
// one operator needs by itself.
[[nodiscard]] std::vector<Remedy> OrderRemedies(const Graph& graph, const PlanAnswer& plan,
                                                const ScheduleOptions& options, const Peak& peak,
                                                std::optional<Bytes> in_place_peak,
                                                RemedySearch& search);

// Of a graph that does not fit `capacity` in the order of `plan`: what would have to leave and come
// back. None where a little search finds no plan.
[[nodiscard]] std::optional<Remedy> SpillRemedy(const Graph& graph, const Counting& counting,
                                                Bytes capacity, const PlanAnswer& plan,
                                                RemedySearch& search);

// Of a budget for which no plan with spills was found: the first of `larger` ones for which a
// little search finds one, and what it needs. `orders` and `fixed_order` are those of the search
// that found none.
[[nodiscard]] std::optional<Remedy> FindLargerBudget(const Graph& graph, const Counting& counting,
                                                     const std::vector<Bytes>& larger,
                                                     const std::vector<Order>& orders,
                                                     bool fixed_order, const PlaceOptions& place,
                                                     RemedySearch& search);

// Why `problem` does not fit its capacity, where a little search finds that out.
[[nodiscard]] std::optional<Conflict> FindConflict(const Problem& problem, Outcome outcome,
                                                   RemedySearch& search);

// Fills in why the plan does not fit and what would help.
void FindRemedies(const Planned& planned, RemedySearch& search, PageOptions& page);

// Has `look`, which is given the RemedySearch, fill in what a page says would help, in what is left
// of the time of `search`; what there was no time for comes last.
template <typename Look>
void AddRemedies(WatchedSearch& search, PageOptions& page, Look look) {
  search.After([&](Budget& budget) {
    RemedySearch remedies(budget);
    look(remedies);
    if (auto rest = remedies.Rest()) page.remedies.push_back(*std::move(rest));
  });
}

// What the page says of the verifier, which has accepted what is shown.
[[nodiscard]] std::string Verdict(const PlanSubject& subject, const PlanAnswer& answer);

}  // namespace berth::internal

#endif  // BERTH_TOOLS_BERTH_REMEDIES_H_
