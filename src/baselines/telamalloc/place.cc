#include "baselines/telamalloc/place.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "baselines/telamalloc/telamalloc.h"
#include "model/instance.h"
#include "place/greedy/greedy.h"
#include "place/minimize.h"

namespace berth::internal {
namespace {

// Each pair that meets counts twice and takes 24 bytes: some 2 GB.
constexpr std::int64_t kMostOverlaps = 100'000'000;
constexpr std::int64_t kNoNodeLimit = std::numeric_limits<std::int64_t>::max();

class Placer {
 public:
  explicit Placer(const Task& task) : task_(task), instance_(Compile(task.problem)) {}

  Ending Run() {
    if (task_.settings.telamalloc.heuristic_first) {
      task_.incumbent.Offer(greedy::PlaceGreedy(instance_, Algorithm::kContention),
                            Info(Algorithm::kContention).name);
    }
    const bool too_large = !PrepareSearch();
    if (task_.problem.capacity) DecideCapacity();
    if (!task_.incumbent.has_plan()) OfferGreedyPlan();
    if (task_.minimize && !too_large && !task_.answered() && !task_.budget.Exhausted()) {
      (void)Minimize(Questions(), task_.incumbent, kNoNodeLimit, task_.budget);
    }
    return {too_large ? std::optional(StopReason::kSize) : std::nullopt, stats_};
  }

 private:
  // False where the pairs that meet are too many. Without a search, as time was up before they were
  // all found, Ask() gives up.
  [[nodiscard]] bool PrepareSearch() {
    if (CountOverlaps(instance_) > kMostOverlaps) return false;
    overlaps_ = FindOverlaps(instance_, task_.budget);
    if (overlaps_) search_.emplace(instance_, *overlaps_, task_.settings.telamalloc, task_.seed);
    return true;
  }

  [[nodiscard]] SearchAnswer Ask(Bytes capacity, std::int64_t node_limit) {
    if (!search_) return {};
    SearchAnswer answer = search_->Search(capacity, node_limit, task_.budget);
    stats_.failures += answer.stats.failures;
    stats_.minor_backtracks += answer.stats.minor_backtracks;
    stats_.major_backtracks += answer.stats.major_backtracks;
    return answer;
  }

  [[nodiscard]] Decider Questions() {
    const auto n = static_cast<std::int64_t>(std::max<std::size_t>(instance_.num_buffers(), 1));
    return {Heights(instance_, task_.incumbent.height()), 2 * n,
            [this](Bytes capacity, std::int64_t limit) { return Ask(capacity, limit); },
            [this] { return task_.name; }};
  }

  void DecideCapacity() {
    const Bytes capacity = *task_.problem.capacity;
    if (task_.answered() || task_.incumbent.height() <= capacity) return;
    SearchAnswer answer = Ask(capacity, kNoNodeLimit);
    if (answer.verdict == SearchAnswer::Verdict::kFound) {
      task_.incumbent.Offer(std::move(answer.offsets), task_.name);
    } else if (answer.verdict == SearchAnswer::Verdict::kImpossible) {
      task_.incumbent.RaiseBound(capacity + 1);
    }
  }

  void OfferGreedyPlan() {
    const Bytes enough = task_.minimize ? 0 : *task_.problem.capacity;
    std::optional<greedy::GreedyAnswer> answer = greedy::PlaceGreedyPortfolio(
        task_.problem, instance_, std::max(task_.incumbent.lower_bound(), enough), 1, task_.budget);
    if (!answer) return;
    task_.incumbent.Offer(std::move(answer->offsets), Info(answer->algorithm).name);
  }

  const Task& task_;
  const Instance instance_;
  std::optional<Overlaps> overlaps_;
  std::optional<TelaMallocSearch> search_;
  SearchStats stats_;
};

}  // namespace

Ending RunTelaMalloc(const Task& task) { return Placer(task).Run(); }

}  // namespace berth::internal
