// tools/berth/watched_search.h -- searches that show their progress and that Ctrl-C ends.
#ifndef BERTH_TOOLS_BERTH_WATCHED_SEARCH_H_
#define BERTH_TOOLS_BERTH_WATCHED_SEARCH_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "berth/budget.h"
#include "berth/place.h"
#include "berth/plan.h"
#include "berth/schedule.h"
#include "tools/berth/terminal.h"

namespace berth::cli {

struct SearchArguments {
  PlaceOptions options;
  std::optional<double> time_limit;
  std::optional<std::int64_t> node_limit;
  std::optional<Bytes> memory_limit;
};

// Memory beyond `limit` is refused from now on, which ends the program with a sentence.
void LimitMemory(const std::optional<Bytes>& limit);
// `most_bytes`, or the share of the memory that one search may fill with its states.
[[nodiscard]] std::size_t StatesWithin(const std::optional<Bytes>& limit, std::size_t most_bytes);

// One search that a person watches: shows its progress, and ends with the best answer so far at the
// first Ctrl-C (or SIGTERM). The second one kills the process.
class WatchedSearch {
 public:
  // The fraction `kept` (0 to 1) of a time limit is for what comes after the search.
  explicit WatchedSearch(const SearchArguments& arguments, double kept = 0);
  ~WatchedSearch();
  WatchedSearch(const WatchedSearch&) = delete;
  WatchedSearch& operator=(const WatchedSearch&) = delete;

  [[nodiscard]] Result<PlanAnswer> Place(const Problem& problem);
  [[nodiscard]] Result<Conflict> Explain(const Problem& problem);
  [[nodiscard]] Result<PlanAnswer> Schedule(const Graph& graph, ScheduleOptions options);
  // Places as the arguments say.
  [[nodiscard]] Result<PlanAnswer> Plan(const Graph& graph, PlanOptions options);
  // Any other search: within the limits, and ended by Ctrl-C.
  template <typename Search>
  auto Run(Search search) {
    return search(budget_);
  }
  // Work after the search: within all that is left of the time limit, whatever nodes were spent,
  // and ended by Ctrl-C as the search is.
  template <typename Search>
  auto RunAfterwards(Search search) {
    const double left =
        std::chrono::duration<double>(deadline_ - std::chrono::steady_clock::now()).count();
    Budget after;
    if (budget_.has_time_limit()) after.SetTimeLimit(left);
    if (interrupted()) after.Cancel();
    const internal::PollListener listener(after, [&] {
      if (interrupted()) after.Cancel();
    });
    return search(after);
  }
  [[nodiscard]] bool interrupted() const { return budget_.cancelled(); }

 private:
  Budget budget_;
  std::chrono::steady_clock::time_point deadline_;  // If time is limited: of all the work.
  ProgressLine progress_;
  PlaceOptions options_;
  std::optional<Bytes> memory_limit_;
};

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_WATCHED_SEARCH_H_
