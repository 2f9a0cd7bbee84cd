#include "tools/lab/train/collect.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/random.h"
#include "baselines/telamalloc/telamalloc.h"

namespace berth::internal {
namespace {

// What is known of one major backtrack until the search has ended.
struct Example {
  std::vector<float> rows;
  std::vector<std::int32_t> levels;  // Of the candidates.
  std::int32_t minimum;
  std::size_t unsolvable;  // Candidates from here on are proved to be.
  std::int32_t depth;
  std::vector<PathStep> path;  // Of the part.
  std::optional<std::int32_t> best;
};

class Collector : public BacktrackRule {
 public:
  Collector(Oracle& oracle, const CollectOptions& options, std::uint64_t seed, Budget& budget,
            CollectStats& stats)
      : oracle_(oracle), options_(options), random_(seed), budget_(budget), stats_(stats) {}

  std::size_t Choose(const MajorBacktrack& stuck) override {
    if (static_cast<std::int64_t>(examples_.size()) >= options_.backtracks) {
      budget_.Cancel();
      return stuck.published;
    }
    const bool follow_oracle = random_.Chance(0.5);
    const Oracle::Target target = oracle_.DeepestSolvable(stuck);
    if (target.verdict == Solvable::kNo) ++stats_.hopeless;
    if (target.verdict == Solvable::kUndecided) ++stats_.unknown;
    if (target.verdict != Solvable::kYes) return stuck.published;
    const bool stays = target.point == stuck.points.size();
    Example& example = examples_.emplace_back();
    ComputeFeatures(stuck, example.rows);
    for (const BacktrackPoint& point : stuck.points) example.levels.push_back(point.level);
    example.depth = stuck.depth;
    example.minimum = stays ? stuck.depth : stuck.points[target.point].level;
    example.unsolvable = target.unsolvable;
    const auto part = stuck.path.last(static_cast<std::size_t>(stuck.depth));
    example.path.assign(part.begin(), part.end());
    if (!follow_oracle) return stuck.published;
    return stays ? kStay : target.point;
  }

  Random* Restarts() override { return &random_; }

  void Placed(std::span<const PathStep> path, std::int32_t depth) override {
    const auto part = path.last(static_cast<std::size_t>(depth));
    for (; num_closed_ < examples_.size(); ++num_closed_) {
      Example& example = examples_[num_closed_];
      const auto [here, there] =
          std::mismatch(example.path.begin(), example.path.end(), part.begin(), part.end());
      const auto common = static_cast<std::int32_t>(here - example.path.begin());
      if (common == example.depth) {
        example.best = example.depth;
        continue;
      }
      const auto after = std::upper_bound(example.levels.begin(), example.levels.end(), common);
      // Where no candidate lies as far up as the plan asks for, the first one is the best there is.
      const bool exists = after != example.levels.begin();
      example.best = exists ? *(after - 1) : std::min(example.levels.front(), example.minimum);
    }
  }

  [[nodiscard]] const std::vector<Example>& examples() const { return examples_; }

 private:
  Oracle& oracle_;
  const CollectOptions& options_;
  Random random_;
  Budget& budget_;
  CollectStats& stats_;
  std::vector<Example> examples_;
  std::size_t num_closed_ = 0;  // Those whose part is placed.
};

}  // namespace

float TargetScore(std::int32_t x, std::int32_t best, std::int32_t minimum) {
  BERTH_CHECK(best <= minimum);
  if (x < best || x > minimum) return 0;
  return 10.0F - 5.0F * static_cast<float>(x - best) / static_cast<float>(minimum - best + 1);
}

std::vector<TrainingRow> CollectRows(const Problem& problem, std::int64_t index,
                                     const CollectOptions& options, CollectStats& stats) {
  std::vector<TrainingRow> rows;
  const Instance instance = Compile(problem);
  const Overlaps overlaps = FindOverlaps(instance);
  Oracle oracle(instance, *problem.capacity, options.oracle_nodes);
  TelaMallocSearch search(instance, overlaps, TelaMallocOptions{});
  Random seeds(options.seed);
  for (std::int64_t run = 0; run < options.runs; ++run) {
    Budget budget;
    const std::uint64_t seed = Random(seeds.Next() + static_cast<std::uint64_t>(index)).Next();
    Collector collector(oracle, options, seed, budget, stats);
    const SearchAnswer answer = search.Search(*problem.capacity, options.steps, budget, &collector);
    std::int64_t backtrack = 0;
    if (answer.verdict != SearchAnswer::Verdict::kFound) {
      stats.unsolved += static_cast<std::int64_t>(collector.examples().size());
      continue;
    }
    ++stats.solved;
    for (const Example& example : collector.examples()) {
      BERTH_CHECK(example.best.has_value());
      // The plan proves what it has in common with the path, where the oracle had not found any.
      const std::int32_t minimum = std::max(example.minimum, *example.best);
      BERTH_CHECK(example.unsolvable >= example.levels.size() ||
                  minimum < example.levels[example.unsolvable]);
      for (std::size_t k = 0; k < example.levels.size(); ++k) {
        TrainingRow& row = rows.emplace_back();
        row.input = index;
        row.run = run;
        row.backtrack = backtrack;
        row.solvable = example.levels[k] <= minimum ? Solvable::kYes
                       : k < example.unsolvable     ? Solvable::kUndecided
                                                    : Solvable::kNo;
        if (row.solvable == Solvable::kUndecided) ++stats.undecided;
        row.score = TargetScore(example.levels[k], *example.best, minimum);
        std::copy_n(example.rows.begin() + static_cast<std::ptrdiff_t>(k * kNumFeatures),
                    kNumFeatures, row.features.begin());
      }
      ++backtrack;
      ++stats.examples;
    }
    // Nothing to learn from an input that needs no major backtrack.
    if (collector.examples().empty()) break;
  }
  const Oracle::Stats& asked = oracle.stats();
  stats.oracle.asked += asked.asked;
  stats.oracle.known += asked.known;
  stats.oracle.undecided += asked.undecided;
  stats.oracle.nodes += asked.nodes;
  return rows;
}

}  // namespace berth::internal
