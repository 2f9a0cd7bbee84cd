#include "tools/lab/train/steps.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "base/random.h"
#include "baselines/telamalloc/telamalloc.h"

namespace berth::internal {
namespace {

class StepCollector : public StepRule {
 public:
  StepCollector(Oracle& oracle, std::uint64_t seed, Budget& budget, StepStats& stats,
                std::vector<StepRow>& rows)
      : oracle_(oracle), random_(seed), budget_(budget), stats_(stats), rows_(rows) {}

  void Rank(const DecisionPoint& point, std::vector<std::size_t>& order) override {
    if (is_over_) return;
    std::vector<std::size_t> solvable;
    std::vector<PathStep> path(point.path.begin(), point.path.end());
    path.emplace_back();
    for (std::size_t k = 0; k < point.proposals.size(); ++k) {
      path.back() = {point.proposals[k].block, point.proposals[k].lowest};
      const Solvable verdict = oracle_.Ask(path);
      if (verdict == Solvable::kYes) solvable.push_back(k);
      if (verdict == Solvable::kUndecided) ++stats_.undecided;
    }
    if (point.proposals.size() > 1) AddRows(point, solvable);
    if (solvable.empty()) {
      ++stats_.dead_ends;
      is_over_ = true;
      budget_.Cancel();
      return;
    }
    const auto last = static_cast<std::int64_t>(solvable.size()) - 1;
    const std::int64_t drawn = random_.Chance(0.5) ? 0 : random_.Uniform(0, last);
    order.push_back(solvable[static_cast<std::size_t>(drawn)]);
  }

 private:
  void AddRows(const DecisionPoint& point, const std::vector<std::size_t>& solvable) {
    ++stats_.points;
    if (solvable.empty() || solvable.size() == point.proposals.size()) {
      ++stats_.unanimous;
      return;
    }
    ComputeStepFeatures(point, features_);
    const std::int64_t choice = rows_.empty() ? 0 : rows_.back().choice + 1;
    for (std::size_t k = 0; k < point.proposals.size(); ++k) {
      StepRow& row = rows_.emplace_back();
      row.choice = choice;
      row.solvable = std::find(solvable.begin(), solvable.end(), k) != solvable.end();
      std::copy_n(features_.begin() + static_cast<std::ptrdiff_t>(k * kNumStepFeatures),
                  kNumStepFeatures, row.features.begin());
    }
  }

  Oracle& oracle_;
  Random random_;
  Budget& budget_;
  StepStats& stats_;
  std::vector<StepRow>& rows_;
  std::vector<float> features_;
  bool is_over_ = false;  // The search notices only some nodes later that it is cancelled.
};

// One decision point: which proposal the forest would take, and which are solvable.
void AddChoice(const Forest& forest, const StepRow* rows, std::size_t count, StepQuality& sum) {
  std::vector<float> features;
  double solvable = 0;
  const StepRow* lowest = rows;
  for (const StepRow* row = rows; row != rows + count; ++row) {
    features.insert(features.end(), row->features.begin(), row->features.end());
    solvable += row->solvable ? 1 : 0;
    if (row->features[static_cast<std::size_t>(StepFeature::kLowestBlock)] > 0) lowest = row;
  }
  std::vector<float> scores(count);
  Score(forest, features, scores);
  const auto best = std::max_element(scores.begin(), scores.end()) - scores.begin();
  ++sum.choices;
  sum.model += rows[best].solvable ? 1 : 0;
  sum.published += rows->solvable ? 1 : 0;
  sum.lowest += lowest->solvable ? 1 : 0;
  sum.chance += solvable / static_cast<double>(count);
}

}  // namespace

void CollectSteps(const Problem& problem, std::int64_t index, const StepOptions& options,
                  StepStats& stats, std::vector<StepRow>& rows) {
  const Instance instance = Compile(problem);
  const Overlaps overlaps = FindOverlaps(instance);
  Oracle oracle(instance, *problem.capacity, options.oracle_nodes);
  if (oracle.Ask({}) != Solvable::kYes) {
    ++stats.unknown;
    return;
  }
  ++stats.inputs;
  TelaMallocSearch search(instance, overlaps, TelaMallocOptions{});
  Random seeds(options.seed);
  for (std::int64_t run = 0; run < options.runs; ++run) {
    Budget budget;
    const std::uint64_t seed = Random(seeds.Next() + static_cast<std::uint64_t>(index)).Next();
    StepCollector collector(oracle, seed, budget, stats, rows);
    (void)search.Search(*problem.capacity, std::numeric_limits<std::int64_t>::max(), budget,
                        nullptr, &collector);
  }
}

Examples MakeStepExamples(const std::vector<StepRow>& rows) {
  Examples examples;
  examples.features = kNumStepFeatures;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    examples.rows.insert(examples.rows.end(), rows[k].features.begin(), rows[k].features.end());
    examples.labels.push_back(rows[k].solvable ? 1.0F : 0.0F);
    if (k > 0 && rows[k].choice == rows[k - 1].choice) {
      ++examples.groups.back();
    } else {
      examples.groups.push_back(1);
    }
  }
  return examples;
}

StepQuality QualityOfSteps(const Forest& forest, const std::vector<StepRow>& rows) {
  StepQuality quality;
  for (std::size_t k = 0; k < rows.size();) {
    std::size_t end = k;
    while (end < rows.size() && rows[end].choice == rows[k].choice) ++end;
    AddChoice(forest, &rows[k], end - k, quality);
    k = end;
  }
  if (quality.choices == 0) return quality;
  for (double* sum : {&quality.model, &quality.published, &quality.lowest, &quality.chance}) {
    *sum /= static_cast<double>(quality.choices);
  }
  return quality;
}

}  // namespace berth::internal
