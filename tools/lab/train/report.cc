#include "tools/lab/train/report.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <ctime>
#include <memory>
#include <numeric>
#include <utility>

#include "base/random.h"
#include "baselines/telamalloc/telamalloc.h"
#include "berth/report.h"
#include "tools/lab/train/examples.h"

namespace berth::internal {
namespace {

// Follows another rule and writes down where it was asked.
class Tracing : public BacktrackRule {
 public:
  explicit Tracing(BacktrackRule* rule) : rule_(rule) {}
  std::size_t Choose(const MajorBacktrack& stuck) override {
    points.push_back({stuck.backtracks, stuck.depth});
    return rule_ == nullptr ? stuck.published : rule_->Choose(stuck);
  }
  Random* Restarts() override { return rule_ == nullptr ? nullptr : rule_->Restarts(); }
  std::vector<TracePoint> points;

 private:
  BacktrackRule* rule_;
};

double RootMeanSquare(const Forest& forest, const std::vector<float>& numbers,
                      const std::vector<TrainingRow>& rows) {
  std::vector<float> scores(rows.size());
  Score(forest, numbers, scores);
  double squares = 0;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const double apart = scores[r] - rows[r].score;
    squares += apart * apart;
  }
  return std::sqrt(squares / static_cast<double>(std::max<std::size_t>(rows.size(), 1)));
}

// `weigh` gives each row of a choice, from `first` to `last`, the chance that it is chosen.
template <typename Weigh>
ChoiceQuality QualityOf(const std::vector<TrainingRow>& rows, Weigh weigh) {
  ChoiceQuality sum;
  std::vector<double> chances;
  for (std::size_t first = 0, last = 0; first < rows.size(); first = last) {
    while (last < rows.size() && SameChoice(rows[first], rows[last])) ++last;
    chances.assign(last - first, 0);
    weigh(first, chances);
    ++sum.choices;
    for (std::size_t r = first; r < last; ++r) {
      const double chance = chances[r - first];
      sum.score += chance * rows[r].score;
      sum.good += rows[r].score > 0 ? chance : 0;
      sum.vain += rows[r].solvable == Solvable::kYes ? 0 : chance;
    }
  }
  const auto all = static_cast<double>(std::max<std::int64_t>(sum.choices, 1));
  sum.score /= all;
  sum.good /= all;
  sum.vain /= all;
  return sum;
}

}  // namespace

ChoiceQuality QualityOfModel(const Forest& forest, const std::vector<TrainingRow>& rows) {
  const std::vector<float> numbers = MakeExamples(rows, {}).rows;
  std::vector<float> scores(rows.size());
  Score(forest, numbers, scores);
  return QualityOf(rows, [&](std::size_t first, std::vector<double>& chances) {
    std::size_t best = 0;
    for (std::size_t k = 1; k < chances.size(); ++k) {
      if (scores[first + k] >= scores[first + best]) best = k;
    }
    chances[best] = 1;
  });
}

ChoiceQuality QualityOfChance(const std::vector<TrainingRow>& rows) {
  return QualityOf(rows, [](std::size_t, std::vector<double>& chances) {
    for (double& chance : chances) chance = 1 / static_cast<double>(chances.size());
  });
}

ChoiceQuality QualityOfDeepest(const std::vector<TrainingRow>& rows) {
  return QualityOf(rows, [&](std::size_t first, std::vector<double>& chances) {
    std::size_t best = chances.size() - 1;
    for (std::size_t k = 0; k < chances.size(); ++k) {
      if (rows[first + k].features[static_cast<std::size_t>(Feature::kBlamed)] > 0) best = k;
    }
    chances[best] = 1;
  });
}

Comparison Compare(const Trials& published, const Trials& other) {
  Comparison sum;
  for (const auto& [input, before] : published) {
    const auto found = other.find(input);
    if (found == other.end()) continue;
    const Trial& after = found->second;
    const bool had = before.end == Trial::End::kFound;
    const bool has = after.end == Trial::End::kFound;
    sum.lost += had && !has ? 1 : 0;
    sum.ten_times_worse += had && has && after.backtracks() > 10 * before.backtracks() ? 1 : 0;
    if (before.backtracks() <= kLongTail) continue;
    ++sum.tail;
    sum.failures += had ? 0 : 1;
    sum.rescued += !had && has ? 1 : 0;
    sum.improved += has && (!had || after.backtracks() < before.backtracks()) ? 1 : 0;
    sum.ten_times += has && 10 * after.backtracks() <= before.backtracks() ? 1 : 0;
    if (had && (!has || after.backtracks() > before.backtracks())) {
      ++sum.worse;
      sum.worse_inputs.push_back(input);
    }
  }
  return sum;
}

std::vector<double> Importance(const Forest& forest, const std::vector<TrainingRow>& rows) {
  const std::vector<float> numbers = MakeExamples(rows, {}).rows;
  const double base = RootMeanSquare(forest, numbers, rows);
  std::vector<double> importance;
  for (std::size_t f = 0; f < kNumFeatures; ++f) {
    std::vector<std::size_t> from(rows.size());
    std::iota(from.begin(), from.end(), std::size_t{0});
    Random random(f + 1);
    random.Shuffle(from);
    std::vector<float> shuffled = numbers;
    for (std::size_t r = 0; r < rows.size(); ++r) {
      shuffled[r * kNumFeatures + f] = numbers[from[r] * kNumFeatures + f];
    }
    importance.push_back(RootMeanSquare(forest, shuffled, rows) - base);
  }
  return importance;
}

std::vector<TracePoint> Trace(const Problem& problem, bool learned, const Forest& forest,
                              const EvaluateOptions& options) {
  const Instance instance = Compile(problem);
  const Overlaps overlaps = FindOverlaps(instance);
  TelaMallocSearch search(instance, overlaps, TelaMallocOptions{});
  LearnedBacktracking model(forest, options.parameters);
  Tracing tracing(learned ? &model : nullptr);
  Budget budget;
  (void)search.Search(*problem.capacity, options.steps, budget, &tracing);
  return std::move(tracing.points);
}

double MicrosecondsPerCandidate(const Forest& forest, std::size_t candidates) {
  constexpr int kBatches = 200;
  constexpr int kRepeats = 15;
  Random random(candidates);
  std::vector<float> rows(candidates * forest.features);
  for (float& number : rows) number = static_cast<float>(random.Uniform(0, 50));
  std::vector<float> scores(candidates);
  std::vector<double> times;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    // Of the processor: other programs' turns do not count.
    const std::clock_t begin = std::clock();
    for (int batch = 0; batch < kBatches; ++batch) {
      rows[0] = static_cast<float>(batch);
      Score(forest, rows, scores);
    }
    const double time = 1e6 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    times.push_back(time / kBatches / static_cast<double>(candidates));
  }
  std::nth_element(times.begin(), times.begin() + kRepeats / 2, times.end());
  return times[kRepeats / 2];
}

std::string DrawTrace(const std::string& name, const std::vector<TracePoint>& published,
                      const std::vector<TracePoint>& learned) {
  Chart chart;
  chart.title = "Where the search gets stuck";
  chart.subtitle = name;
  chart.x.label = "backtracks so far";
  chart.y.label = "decision level";
  for (const bool is_learned : {false, true}) {
    ChartSeries& series = chart.series.emplace_back();
    series.name = is_learned ? "learned" : "published rule";
    series.style = ChartSeries::Style::kLine;
    const auto& trace = is_learned ? learned : published;
    // At most some hundred points, each the deepest of its share.
    const std::size_t share = trace.size() / 300 + 1;
    for (std::size_t k = 0; k < trace.size(); k += share) {
      ChartPoint point{static_cast<double>(trace[k].backtracks), 0, false, {}};
      for (std::size_t j = k; j < std::min(k + share, trace.size()); ++j) {
        point.y = std::max(point.y, static_cast<double>(trace[j].level));
      }
      series.points.push_back(point);
    }
  }
  return WriteSvg(chart);
}

std::string DrawTimes(const std::vector<std::pair<std::size_t, double>>& times) {
  Chart chart;
  chart.title = "Time of the model";
  chart.x.label = "candidates in a batch";
  chart.y.label = "time for one candidate";
  chart.y.unit = ChartUnit::kSeconds;
  chart.y.first = 0;
  ChartSeries& series = chart.series.emplace_back();
  series.name = "100 trees";
  series.style = ChartSeries::Style::kLine;
  for (const auto& [candidates, microseconds] : times) {
    series.points.push_back({static_cast<double>(candidates), microseconds * 1e-6, false, {}});
  }
  return WriteSvg(chart);
}

std::string DrawImportance(const std::vector<double>& importance) {
  Chart chart;
  chart.title = "What the model goes by";
  chart.x.label = "error added by shuffling the feature";
  std::vector<std::size_t> order(importance.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return importance[a] > importance[b]; });
  ChartSeries& series = chart.series.emplace_back();
  series.name = "increase of the RMSE";
  series.style = ChartSeries::Style::kBars;
  for (std::size_t k = 0; k < order.size(); ++k) {
    chart.y.categories.emplace_back(ToString(static_cast<Feature>(order[k])));
    series.points.push_back({importance[order[k]], static_cast<double>(k), false, {}});
  }
  return WriteSvg(chart);
}

}  // namespace berth::internal
