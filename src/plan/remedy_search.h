// src/plan/remedy_search.h -- the searches for one answer's remedies, which share one budget.
#ifndef BERTH_PLAN_REMEDY_SEARCH_H_
#define BERTH_PLAN_REMEDY_SEARCH_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/advise.h"
#include "berth/budget.h"

namespace berth::internal::plan {

// Whether `saved` of `memory` bytes are worth a sentence: spills and changes that save less are not
// advised.
[[nodiscard]] inline bool IsWorthwhile(Bytes saved, Bytes memory) { return saved > memory / 100; }

// The searches for one answer's remedies, which share the time of one budget.
class RemedySearch {
 public:
  // `budget` must outlive this. Of its limits, time and cancellation count.
  explicit RemedySearch(Budget& budget) : budget_(budget) {}

  // The answer of `search` within at most half of the remaining time, and `nodes`. None if no time
  // is left. If the time did not suffice, Rest() names `what`.
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

  // The search for `what` had a result, although time may have ended it.
  void Found(std::string_view what);

  // Whether `what` is skipped because it may exceed the time limit.
  [[nodiscard]] bool TooLong(std::string_view what, bool is_large);

  // The searches that were not completed, if any: the last remedy of a list.
  [[nodiscard]] std::optional<Remedy> Rest() const;

 private:
  void Missed(std::string_view what);

  Budget& budget_;
  std::vector<std::string> missed_;
};

inline constexpr std::int64_t kPlaceNodes = 100'000;
inline constexpr std::int64_t kOrderNodes = 20'000;
inline constexpr std::int64_t kSpillNodes = 50'000;
inline constexpr std::int64_t kRecomputeNodes = 200'000;
// The node limits are for inputs of at most this size; a node of larger ones takes longer.
inline constexpr std::size_t kSize = 1000;

inline std::int64_t NodesFor(std::int64_t nodes, std::size_t size) {
  return nodes * static_cast<std::int64_t>(kSize) /
         static_cast<std::int64_t>(std::max(size, kSize));
}

}  // namespace berth::internal::plan

#endif  // BERTH_PLAN_REMEDY_SEARCH_H_
