#include "baselines/telamalloc/backtracking.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "baselines/telamalloc/learned.h"
#include "baselines/telamalloc/telamalloc.h"
#include "berth/baselines.h"
#include "berth/place.h"
#include "tools/lab/train/evaluate.h"
#include "tools/lab/train/inputs.h"

namespace berth::internal {
namespace {

using Levels = std::vector<std::int32_t>;

Levels WithTops(std::int32_t depth, Levels levels) {
  AddTopsOfRanges(depth, levels);
  return levels;
}

TEST(Candidates, AreTheTopsOfRangesWithoutOne) {
  EXPECT_EQ(WithTops(1, {}), Levels({0}));
  EXPECT_EQ(WithTops(5, {}), Levels({0}));
  EXPECT_EQ(WithTops(6, {}), Levels({0, 5}));
  EXPECT_EQ(WithTops(40, {}), Levels({0, 5, 9, 17, 33}));
  // The range 9-16 has its first and its last level; 0-4 and 5-8 have others than their tops.
  EXPECT_EQ(WithTops(40, {4, 6, 9, 16}), Levels({4, 6, 9, 16, 17, 33}));
  EXPECT_EQ(WithTops(17, {16}), Levels({0, 5, 16}));
  EXPECT_EQ(WithTops(70, {32, 64}), Levels({0, 5, 9, 32, 64, 65}));
}

// Follows a rule and records what it is given.
class Watching : public BacktrackRule {
 public:
  std::size_t Choose(const MajorBacktrack& stuck) override {
    ++asked;
    EXPECT_FALSE(stuck.points.empty());
    EXPECT_LT(stuck.published, stuck.points.size());
    EXPECT_GE(stuck.path.size(), static_cast<std::size_t>(stuck.depth));
    const auto part = stuck.path.last(static_cast<std::size_t>(stuck.depth));
    Levels blamed;
    for (std::size_t k = 0; k < stuck.points.size(); ++k) {
      const BacktrackPoint& point = stuck.points[k];
      EXPECT_TRUE(k == 0 || stuck.points[k - 1].level < point.level);
      EXPECT_LT(point.level, stuck.depth);
      EXPECT_EQ(part[static_cast<std::size_t>(point.level)].block, point.block);
      EXPECT_GE(point.backtracks_within, point.times_target);
      if (point.is_blamed) {
        EXPECT_GE(point.times_in_reason, 1);
        blamed.push_back(point.level);
      }
    }
    // Every range of levels has a candidate.
    Levels all;
    for (const BacktrackPoint& point : stuck.points) all.push_back(point.level);
    const std::size_t count = all.size();
    AddTopsOfRanges(stuck.depth, all);
    EXPECT_EQ(all.size(), count);
    ComputeFeatures(stuck, rows);
    EXPECT_EQ(rows.size(), stuck.points.size() * kNumFeatures);
    for (const float number : rows) EXPECT_TRUE(number >= 0 && number < 1e9F) << number;
    return stuck.published;
  }
  int asked = 0;
  std::vector<float> rows;
};

TEST(BacktrackRule, PublishedTargetIsThePublishedSearch) {
  int asked = 0;
  for (const std::int64_t index : {0, 1, 9, 10, 17, 33}) {
    SCOPED_TRACE(index);
    const Input input = MakeInput(InputSet::kTraining, index);
    const Instance instance = Compile(input.problem);
    const Overlaps overlaps = FindOverlaps(instance);
    TelaMallocSearch search(instance, overlaps, TelaMallocOptions{});
    TelaMallocSearch watched(instance, overlaps, TelaMallocOptions{});
    Budget budget;
    const SearchAnswer without = search.Search(*input.problem.capacity, 3000, budget);
    Watching rule;
    const SearchAnswer with = watched.Search(*input.problem.capacity, 3000, budget, &rule);
    EXPECT_EQ(without.verdict, with.verdict);
    EXPECT_EQ(without.nodes, with.nodes);
    EXPECT_EQ(without.stats, with.stats);
    EXPECT_EQ(without.offsets, with.offsets);
    EXPECT_EQ(with.stats.major_backtracks, rule.asked);
    asked += rule.asked;
  }
  EXPECT_GT(asked, 100);
}

// Whatever a rule answers, every plan found is valid.
class Erratic : public BacktrackRule {
 public:
  explicit Erratic(std::uint64_t seed) : random_(seed) {}
  std::size_t Choose(const MajorBacktrack& stuck) override {
    if (random_.Chance(0.2)) return kStay;
    return static_cast<std::size_t>(
        random_.Uniform(0, static_cast<std::int64_t>(stuck.points.size()) - 1));
  }
  Random* Restarts() override { return &random_; }

 private:
  Random random_;
};

TEST(BacktrackRule, AnyRuleFindsOnlyPlans) {
  int found = 0;
  for (std::int64_t index = 0; index < 40; ++index) {
    SCOPED_TRACE(index);
    const Input input = MakeInput(InputSet::kTraining, index);
    const Instance instance = Compile(input.problem);
    const Overlaps overlaps = FindOverlaps(instance);
    TelaMallocSearch search(instance, overlaps, TelaMallocOptions{});
    Budget budget;
    Erratic rule(static_cast<std::uint64_t>(index));
    SearchAnswer answer = search.Search(*input.problem.capacity, 2000, budget, &rule);
    EXPECT_NE(answer.verdict, SearchAnswer::Verdict::kImpossible);
    EXPECT_NE(answer.verdict, SearchAnswer::Verdict::kInconclusive);  // It restarts.
    EXPECT_LE(answer.nodes, 2000);
    if (answer.verdict != SearchAnswer::Verdict::kFound) continue;
    ++found;
    Placement plan{std::move(answer.offsets), 0};
    plan.height = Height(input.problem, plan.offsets);
    EXPECT_TRUE(ValidatePlacement(input.problem, plan).has_value());
  }
  EXPECT_GT(found, 15);
}

// Where the published search ends without a plan, a search with restarts continues and finds some.
TEST(BacktrackRule, RestartsFindPlansWhereTheSearchWouldEnd) {
  int ended = 0;
  int found = 0;
  for (const std::int64_t index : {800, 832, 928, 1000, 1088, 2288, 2289}) {
    SCOPED_TRACE(index);
    const Input input = MakeInput(InputSet::kTraining, index);
    const Instance instance = Compile(input.problem);
    const Overlaps overlaps = FindOverlaps(instance);
    Budget budget;
    TelaMallocSearch search(instance, overlaps, TelaMallocOptions{});
    const SearchAnswer published = search.Search(*input.problem.capacity, 8000, budget);
    if (published.verdict != SearchAnswer::Verdict::kInconclusive) continue;
    ++ended;
    RestartingRule rule;
    const SearchAnswer answer = search.Search(*input.problem.capacity, 8000, budget, &rule);
    EXPECT_GT(answer.nodes, published.nodes);
    if (answer.verdict == SearchAnswer::Verdict::kFound) ++found;
    // Another random state: the runs differ from before.
    const SearchAnswer other = search.Search(*input.problem.capacity, 8000, budget, &rule);
    EXPECT_NE(other.stats, answer.stats);
    RestartingRule fresh;
    const SearchAnswer again = search.Search(*input.problem.capacity, 8000, budget, &fresh);
    EXPECT_EQ(again.stats, answer.stats);
    EXPECT_EQ(again.offsets, answer.offsets);
  }
  EXPECT_EQ(ended, 7);
  EXPECT_GT(found, 2);
}

PlanAnswer Learned(const Problem& problem, std::int64_t nodes, bool learned) {
  BaselineOptions options;
  EXPECT_TRUE(SetOption(options, "telamalloc.heuristic_first", "off").has_value());
  EXPECT_TRUE(
      SetOption(options, "telamalloc.backtracking", learned ? "learned" : "published").has_value());
  Budget budget;
  budget.SetNodeLimit(nodes);
  auto answer = PlaceWithBaseline(problem, options, budget);
  EXPECT_TRUE(answer.has_value());
  return *answer;
}

TEST(LearnedBacktracking, RepeatsItselfAndLeavesEasyInputsAlone) {
  int apart = 0;
  for (const std::int64_t index : {0, 1, 2, 4, 8, 9, 10, 17, 33}) {
    SCOPED_TRACE(index);
    const Problem problem = MakeInput(InputSet::kTraining, index).problem;
    const PlanAnswer once = Learned(problem, 4000, true);
    const PlanAnswer again = Learned(problem, 4000, true);
    const PlanAnswer published = Learned(problem, 4000, false);
    EXPECT_EQ(once.placing.stats, again.placing.stats);
    EXPECT_EQ(once.nodes, again.nodes);
    ASSERT_TRUE(once.best && again.best);
    EXPECT_EQ(once.best->residencies, again.best->residencies);
    const auto backtracks =
        published.placing.stats.minor_backtracks + published.placing.stats.major_backtracks;
    if (backtracks < LearnedParameters().patience) {
      EXPECT_EQ(once.placing.stats, published.placing.stats);
      EXPECT_EQ(once.best->residencies, published.best->residencies);
    } else {
      apart += once.placing.stats == published.placing.stats ? 0 : 1;
    }
  }
  EXPECT_GT(apart, 0);
}

// A model that chooses better than the published rule, and one that gives only low scores.
TEST(LearnedBacktracking, WeighsByDepthAndStaysBelowTheThreshold) {
  std::vector<BacktrackPoint> points(3);
  points[0].level = 0;
  points[1].level = 50;
  points[2].level = 90;
  const MajorBacktrack stuck{points, 2, {}, 100, 1000, 64, 10};
  LearnedParameters parameters;
  parameters.draw = 0;
  parameters.threshold = 3;
  parameters.depth_weight = 0.5F;
  const Forest same{kNumFeatures, 0, {}, {}, 5};
  LearnedBacktracking even(same, parameters);
  EXPECT_EQ(even.Choose(stuck), 2u);  // 2.5, 3.75, 4.75.
  // One tree: 9 up to level 20, else 1: 4.5, 0.75, 0.95.
  const std::vector<ForestNode> nodes = {{20.0F, static_cast<std::uint32_t>(Feature::kLevel)}};
  const std::vector<float> leaves = {9.0F, 1.0F};
  const Forest upper{kNumFeatures, 1, nodes, leaves, 0};
  LearnedBacktracking up(upper, parameters);
  EXPECT_EQ(up.Choose(stuck), 0u);
  parameters.draw = 1;  // Only one passes, so only one can be drawn.
  LearnedBacktracking drawn(upper, parameters);
  for (int k = 0; k < 20; ++k) EXPECT_EQ(drawn.Choose(stuck), 0u);
  parameters.threshold = 5;
  LearnedBacktracking strict(upper, parameters);
  EXPECT_EQ(strict.Choose(stuck), BacktrackRule::kStay);
  MajorBacktrack early = stuck;
  early.backtracks = 10;  // Too few backtracks.
  EXPECT_EQ(strict.Choose(early), stuck.published);
}

TEST(LearnedBacktracking, DrawsInProportion) {
  std::vector<BacktrackPoint> points(2);
  points[1].level = 10;
  const MajorBacktrack stuck{points, 1, {}, 20, 1000, 64, 10};
  const std::vector<ForestNode> nodes = {{5.0F, static_cast<std::uint32_t>(Feature::kLevel)}};
  const std::vector<float> leaves = {1.0F, 3.0F};
  const Forest forest{kNumFeatures, 1, nodes, leaves, 0};
  LearnedParameters parameters;
  parameters.depth_weight = 0;
  LearnedBacktracking rule(forest, parameters);
  int deep = 0;
  for (int k = 0; k < 4000; ++k) deep += rule.Choose(stuck) == 1 ? 1 : 0;
  EXPECT_NEAR(deep, 3000, 120);
}

// Asks the paper's rule, and works out from the scores where it has to go.
class Checking : public BacktrackRule {
 public:
  Checking(const Forest& forest, const LearnedParameters& parameters)
      : forest_(forest), parameters_(parameters), rule_(forest, parameters) {}

  std::size_t Choose(const MajorBacktrack& stuck) override {
    std::vector<float> rows;
    ComputeFeatures(stuck, rows);
    std::vector<float> scores(stuck.points.size());
    Score(forest_, rows, scores);
    std::vector<std::pair<float, std::size_t>> passing;  // Of equals the deepest is the greatest.
    for (std::size_t k = 0; k < scores.size(); ++k) {
      const float up =
          static_cast<float>(stuck.depth - stuck.points[k].level) / static_cast<float>(stuck.depth);
      const float score = scores[k] * (1 - parameters_.depth_weight * up);
      if (score >= parameters_.threshold && score > 0) passing.emplace_back(score, k);
    }
    const std::size_t expected =
        passing.empty() ? kStay : std::max_element(passing.begin(), passing.end())->second;
    const std::size_t chosen = rule_.Choose(stuck);
    EXPECT_EQ(chosen, expected);
    ++(chosen == kStay ? stays : chosen == stuck.published ? published : moves);
    return chosen;
  }
  Random* Restarts() override { return rule_.Restarts(); }

  int stays = 0;
  int published = 0;  // Where the published rule goes, too.
  int moves = 0;

 private:
  const Forest& forest_;
  const LearnedParameters parameters_;
  LearnedBacktracking rule_;
};

TEST(HighestScore, GoesWhereTheScoreIsHighestOrStays) {
  LearnedParameters parameters = HighestScore();
  parameters.threshold = 2;  // So that it stays now and then.
  int stays = 0;
  int published = 0;
  int moves = 0;
  for (const std::int64_t index : {0, 1, 9, 10, 17, 33, 40, 48}) {
    SCOPED_TRACE(index);
    const Input input = MakeInput(InputSet::kTraining, index);
    const Instance instance = Compile(input.problem);
    const Overlaps overlaps = FindOverlaps(instance);
    TelaMallocSearch search(instance, overlaps, TelaMallocOptions{});
    Checking rule(ShippedForest(), parameters);
    Budget budget;
    (void)search.Search(*input.problem.capacity, 2000, budget, &rule);
    stays += rule.stays;
    published += rule.published;
    moves += rule.moves;
  }
  EXPECT_GT(stays, 10);
  EXPECT_GT(published, 10);
  EXPECT_GT(moves, 10);
}

// No chance, no restart, no patience and no turns: the option is the rule alone.
TEST(HighestScore, IsTheModelAlone) {
  std::vector<BacktrackPoint> points(2);
  points[1].level = 10;
  const MajorBacktrack first{points, 0, {}, 20, 0, 64, 10};  // The first of all backtracks.
  const Forest same{kNumFeatures, 0, {}, {}, 5};
  LearnedBacktracking rule(same, HighestScore());
  for (int k = 0; k < 20; ++k) EXPECT_EQ(rule.Choose(first), 1u);
  EXPECT_EQ(rule.Restarts(), nullptr);

  TelaMallocOptions options;
  options.backtracking = TelaMallocOptions::Backtracking::kHighestScore;
  int found = 0;
  int used_up = 0;
  int out_of_steps = 0;
  for (std::int64_t index = 0; index < 96; index += 4) {
    SCOPED_TRACE(index);
    const Input input = MakeInput(InputSet::kTraining, index);
    const Instance instance = Compile(input.problem);
    const Overlaps overlaps = FindOverlaps(instance);
    TelaMallocSearch by_option(instance, overlaps, options, 7);  // The seed changes nothing.
    TelaMallocSearch by_rule(instance, overlaps, TelaMallocOptions{});
    LearnedBacktracking highest(ShippedForest(), HighestScore());
    Budget budget;
    const SearchAnswer one = by_option.Search(*input.problem.capacity, 4000, budget);
    const SearchAnswer other = by_rule.Search(*input.problem.capacity, 4000, budget, &highest);
    EXPECT_EQ(one.verdict, other.verdict);
    EXPECT_EQ(one.nodes, other.nodes);
    EXPECT_EQ(one.stats, other.stats);
    EXPECT_EQ(one.offsets, other.offsets);
    EvaluateOptions evaluate;
    evaluate.steps = 4000;
    const Trial trial = Try(input.problem, Rule::kHighestScore, ShippedForest(), evaluate);
    EXPECT_EQ(trial.steps, one.nodes);
    EXPECT_EQ(trial.backtracks(), one.stats.minor_backtracks + one.stats.major_backtracks);
    found += trial.end == Trial::End::kFound ? 1 : 0;
    used_up += trial.end == Trial::End::kUsedUp ? 1 : 0;
    out_of_steps += trial.end == Trial::End::kOutOfSteps ? 1 : 0;
  }
  EXPECT_EQ(found, 17);
  EXPECT_EQ(used_up, 0);
  EXPECT_EQ(out_of_steps, 7);
}

// With a smaller weight of depth the search goes further up, uses up the candidates there, and ends.
TEST(HighestScore, MayUseUpItsCandidates) {
  EvaluateOptions evaluate;
  evaluate.steps = 4000;
  evaluate.highest.depth_weight = 0.2F;
  int found = 0;
  int used_up = 0;
  int out_of_steps = 0;
  for (std::int64_t index = 0; index < 96; index += 4) {
    const Input input = MakeInput(InputSet::kTraining, index);
    const Trial trial = Try(input.problem, Rule::kHighestScore, ShippedForest(), evaluate);
    found += trial.end == Trial::End::kFound ? 1 : 0;
    used_up += trial.end == Trial::End::kUsedUp ? 1 : 0;
    out_of_steps += trial.end == Trial::End::kOutOfSteps ? 1 : 0;
    EXPECT_TRUE(trial.end != Trial::End::kUsedUp || trial.steps < evaluate.steps) << index;
  }
  EXPECT_EQ(found, 15);
  EXPECT_EQ(used_up, 9);
  EXPECT_EQ(out_of_steps, 0);
}

}  // namespace
}  // namespace berth::internal
