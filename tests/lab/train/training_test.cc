#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "berth/io.h"
#include "tests/lab/suites/documentation.h"
#include "tools/generate/generate.h"
#include "tools/lab/train/collect.h"
#include "tools/lab/train/evaluate.h"
#include "tools/lab/train/examples.h"
#include "tools/lab/train/inputs.h"
#include "tools/lab/train/report.h"
#include "tools/lab/train/table.h"

namespace berth::internal {
namespace {

TEST(TargetScore, AsPublished) {
  EXPECT_EQ(TargetScore(3, 3, 9), 10);
  EXPECT_FLOAT_EQ(TargetScore(9, 3, 9), 10 - 5 * 6.0F / 7);
  EXPECT_EQ(TargetScore(2, 3, 9), 0);
  EXPECT_EQ(TargetScore(10, 3, 9), 0);
  EXPECT_EQ(TargetScore(4, 4, 4), 10);
}

TEST(TrainingTable, ReadsBackTheSameBits) {
  TrainingRow row;
  row.input = 12;
  row.run = 1;
  row.backtrack = 7;
  row.solvable = Solvable::kNo;
  row.score = 10 - 5 * 1.0F / 3;
  for (std::size_t f = 0; f < kNumFeatures; ++f) row.features[f] = static_cast<float>(f) / 7;
  std::string text = TableHeader();
  AppendRow(row, text);
  const auto rows = ReadTable(text, "t.csv");
  ASSERT_TRUE(rows.has_value()) << rows.error().message;
  ASSERT_EQ(rows->size(), 1u);
  EXPECT_EQ(rows->front().input, 12);
  EXPECT_EQ(rows->front().run, 1);
  EXPECT_EQ(rows->front().backtrack, 7);
  EXPECT_EQ(rows->front().solvable, Solvable::kNo);
  EXPECT_EQ(rows->front().score, row.score);
  EXPECT_EQ(rows->front().features, row.features);
}

TEST(TrainingTable, NamesTheLineThatIsWrong) {
  std::string good = TableHeader();
  AppendRow({}, good);
  for (const std::string& bad :
       {std::string(), std::string("a,b\n"), good + "1,2\n", good + good,
        good.substr(0, good.size() - 1), good.substr(0, good.size() - 1) + ",1\n",
        good.substr(0, good.size() - 2) + "nan\n",
        good + "x" + good.substr(TableHeader().size())}) {
    const auto rows = ReadTable(bad, "t.csv");
    ASSERT_FALSE(rows.has_value()) << bad;
    EXPECT_EQ(rows.error().message.rfind("t.csv:", 0), 0u) << rows.error().message;
  }
}

TrainingRow Row(std::int64_t input, std::int64_t backtrack, Solvable solvable, float score,
                bool blamed) {
  TrainingRow row;
  row.input = input;
  row.backtrack = backtrack;
  row.solvable = solvable;
  row.score = score;
  row.features[0] = score;
  row.features[static_cast<std::size_t>(Feature::kBlamed)] = blamed ? 1 : 0;
  return row;
}

// Two choices, of three candidates and of two.
std::vector<TrainingRow> TwoChoices() {
  return {Row(1, 0, Solvable::kYes, 0, false), Row(1, 0, Solvable::kYes, 8, true),
          Row(1, 0, Solvable::kUndecided, 0, false), Row(2, 0, Solvable::kYes, 10, true),
          Row(2, 0, Solvable::kNo, 0, true)};
}

TEST(Examples, AreTheRequestedRows) {
  const auto rows = TwoChoices();
  const Examples all = MakeExamples(rows, {});
  EXPECT_EQ(all.features, kNumFeatures);
  EXPECT_EQ(all.rows.size(), 5 * kNumFeatures);
  EXPECT_EQ(all.labels, std::vector<float>({0, 8, 0, 10, 0}));
  EXPECT_EQ(all.groups, std::vector<unsigned>({3, 2}));
  EXPECT_TRUE(all.weights.empty());
  EXPECT_EQ(all.rows[kNumFeatures], 8);

  ExampleOptions options;
  options.drop_undecided = true;
  options.balanced = true;
  options.hidden[0] = true;
  const Examples some = MakeExamples(rows, options);
  EXPECT_EQ(some.labels, std::vector<float>({0, 8, 10, 0}));
  EXPECT_EQ(some.groups, std::vector<unsigned>({2, 2}));
  EXPECT_EQ(some.weights, std::vector<float>(4, 1));
  EXPECT_EQ(some.rows[kNumFeatures], 0);

  options.drop_undecided = false;
  const Examples weighed = MakeExamples(rows, options);
  ASSERT_EQ(weighed.weights.size(), 5u);
  EXPECT_NEAR(weighed.weights[0] * std::sqrt(3.0F), weighed.weights[4] * std::sqrt(2.0F), 1e-6);
  EXPECT_NEAR(std::accumulate(weighed.weights.begin(), weighed.weights.end(), 0.0F), 5, 1e-5);
}

TEST(ChoiceQuality, CountsWhatIsChosen) {
  const auto rows = TwoChoices();
  const ChoiceQuality chance = QualityOfChance(rows);
  EXPECT_EQ(chance.choices, 2);
  EXPECT_NEAR(chance.score, (8.0 / 3 + 10.0 / 2) / 2, 1e-9);
  EXPECT_NEAR(chance.good, (1.0 / 3 + 1.0 / 2) / 2, 1e-9);
  EXPECT_NEAR(chance.vain, (1.0 / 3 + 1.0 / 2) / 2, 1e-9);
  const ChoiceQuality deepest = QualityOfDeepest(rows);
  EXPECT_NEAR(deepest.score, 4, 1e-9);
  EXPECT_NEAR(deepest.good, 0.5, 1e-9);
  EXPECT_NEAR(deepest.vain, 0.5, 1e-9);
  // One that knows the answer: feature 0 is the label. In ties it takes the deepest.
  const std::vector<ForestNode> nodes = {{5, 0}};
  const std::vector<float> leaves = {0, 1};
  const ChoiceQuality model = QualityOfModel({kNumFeatures, 1, nodes, leaves, 0}, rows);
  EXPECT_NEAR(model.score, 9, 1e-9);
  EXPECT_NEAR(model.good, 1, 1e-9);
  EXPECT_NEAR(model.vain, 0, 1e-9);
  const ChoiceQuality none = QualityOfModel({kNumFeatures, 0, {}, {}, 3}, rows);
  EXPECT_NEAR(none.vain, 1, 1e-9);
  EXPECT_EQ(QualityOfChance({}).choices, 0);
}

TEST(Trials, ReadBack) {
  Trial trial;
  trial.input = 3;
  trial.end = Trial::End::kUsedUp;
  trial.steps = 99;
  trial.minor_backtracks = 5;
  trial.major_backtracks = 2;
  trial.seconds = 0.25;
  std::string text = TrialHeader();
  AppendTrial(trial, text);
  const auto trials = ReadTrials(text, "p.csv");
  ASSERT_TRUE(trials.has_value()) << trials.error().message;
  ASSERT_EQ(trials->size(), 1u);
  EXPECT_EQ(trials->front().input, 3);
  EXPECT_EQ(trials->front().end, Trial::End::kUsedUp);
  EXPECT_EQ(trials->front().backtracks(), 7);
  EXPECT_EQ(trials->front().seconds, 0.25);
  for (const std::string& bad :
       {std::string("x\n"), text.substr(0, text.size() - 1), text + "1,found,2\n",
        text + "1,lost,2,3,4,5\n", text + "1,found,2,3,4,5,6\n"}) {
    EXPECT_FALSE(ReadTrials(bad, "p.csv").has_value()) << bad;
  }
}

TEST(Inputs, TrainingAndEvaluationShareNone) {
  std::set<std::string> training;
  for (std::int64_t index = 0; index < 64; ++index) {
    const Input input = MakeInput(InputSet::kTraining, index);
    ASSERT_TRUE(Validate(input.problem).has_value());
    EXPECT_GE(*input.problem.capacity, MaxLiveLoad(input.problem).lower_bound);
    training.insert(WriteCsv(input.problem));
  }
  EXPECT_EQ(training.size(), 64u / kSizesOfOne);  // A table has no capacity.
  for (std::int64_t index = 0; index < 64; ++index) {
    const Input input = MakeInput(InputSet::kEvaluation, index);
    EXPECT_EQ(training.count(WriteCsv(input.problem)), 0u) << input.name;
    EXPECT_EQ(WriteCsv(MakeInput(InputSet::kEvaluation, index).problem), WriteCsv(input.problem));
  }
}

TEST(Inputs, OfTablesAreTheirPartsAtFourSizes) {
  const std::string folder = testing::TempDir() + "inputs_of_tables";
  std::filesystem::create_directories(folder);
  GenerateParameters parameters;
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    parameters.seed = seed;
    const Problem problem = Generate(Family::kNetwork, parameters)->problem;
    const std::string path = folder + "/t" + std::to_string(seed) + ".csv";
    ASSERT_TRUE(WriteFile(path, WriteCsv(problem)).has_value());
  }
  const auto source = InputSource::OfTables({folder});
  ASSERT_TRUE(source.has_value()) << source.error().message;
  EXPECT_EQ(source->count(), 2 * kPartsOfTable * kSizesOfOne);
  EXPECT_EQ(InputSource(InputSet::kEvaluation).count(), std::nullopt);
  EXPECT_EQ(InputSource(InputSet::kEvaluation).Make(7).name,
            MakeInput(InputSet::kEvaluation, 7).name);
  std::set<std::string> problems;
  for (std::int64_t index = 0; index < *source->count(); ++index) {
    const Input input = source->Make(index);
    ASSERT_TRUE(Validate(input.problem).has_value()) << input.name;
    const Bytes load = MaxLiveLoad(input.problem).load;
    EXPECT_EQ(*input.problem.capacity, (load * input.percent + 99) / 100) << input.name;
    problems.insert(WriteCsv(input.problem));
  }
  EXPECT_EQ(problems.size(), 2U * kPartsOfTable);  // A table has no capacity.
  EXPECT_EQ(source->Make(0).name, "t1 at 100 %");
  EXPECT_EQ(source->Make(16 + 4 + 1).name, "t2 in a memory of 25 % at 102 %");
  EXPECT_FALSE(InputSource::OfTables({folder + "/none"}).has_value());
}

TEST(Comparison, CountsTheLongTailAndWhatIsLostAnywhere) {
  const auto trial = [](Trial::End end, std::int64_t backtracks) {
    Trial made;
    made.end = end;
    made.minor_backtracks = backtracks;
    return made;
  };
  using End = Trial::End;
  const Trials published = {{0, trial(End::kFound, 5000)},   {1, trial(End::kUsedUp, 2000)},
                            {2, trial(End::kFound, 3000)},   {3, trial(End::kFound, 10)},
                            {4, trial(End::kFound, 10)},     {5, trial(End::kFound, 1001)},
                            {6, trial(End::kOutOfSteps, 9)}, {7, trial(End::kFound, 1000)}};
  const Trials other = {{0, trial(End::kFound, 500)},   {1, trial(End::kFound, 9000)},
                        {2, trial(End::kUsedUp, 1)},    {3, trial(End::kFound, 101)},
                        {4, trial(End::kFound, 100)},   {5, trial(End::kFound, 1002)},
                        {6, trial(End::kUsedUp, 9000)}, {8, trial(End::kFound, 1)}};
  const Comparison sum = Compare(published, other);
  EXPECT_EQ(sum.tail, 4);
  EXPECT_EQ(sum.improved, 2);   // 0 and 1.
  EXPECT_EQ(sum.ten_times, 1);  // 0.
  EXPECT_EQ(sum.failures, 1);
  EXPECT_EQ(sum.rescued, 1);
  EXPECT_EQ(sum.worse, 2);  // 2 and 5.
  EXPECT_EQ(sum.worse_inputs, std::vector<std::int64_t>({2, 5}));
  EXPECT_EQ(sum.lost, 1);             // 2.
  EXPECT_EQ(sum.ten_times_worse, 1);  // 3; 4 is ten times as many, not more.
}

Trials ReadResults(const std::string& name) {
  const std::string path = BERTH_SOURCE_DIR "/bench/results/learned/" + name + ".csv";
  const auto text = ReadFile(path);
  EXPECT_TRUE(text.has_value()) << path;
  Trials trials;
  const auto read = ReadTrials(*text, path);
  EXPECT_TRUE(read.has_value()) << read.error().message;
  for (const Trial& trial : *read) trials.emplace(trial.input, trial);
  return trials;
}

constexpr const char* kLearned = "algorithms/learned.md";

// Of the long tail, as the tables of the documentation have them: improved, a plan where there was none, ten times
// fewer backtracks, worse, solved.
std::vector<double> Counts(const std::string& folder, const std::string& rule) {
  const Trials published = ReadResults(folder + "published");
  const Trials trials = ReadResults(folder + rule);
  const Comparison sum = Compare(published, trials);
  double solved = 0;
  for (const auto& [index, trial] : published) {
    if (trial.backtracks() <= kLongTail) continue;
    solved += trials.at(index).end == Trial::End::kFound ? 1 : 0;
  }
  return {static_cast<double>(sum.improved), static_cast<double>(sum.rescued),
          static_cast<double>(sum.ten_times), static_cast<double>(sum.worse), solved};
}

TEST(Comparison, OfRulesOnTheEvaluationInputsIsWhatTheDocumentationSays) {
  const lab::Tables evaluation(kLearned, "## Evaluation");
  const Trials published = ReadResults("published");
  // Inputs on which no rule is ever asked were tried by the published one alone.
  const auto within_a_second = [&](const Trials& trials) {
    double count = 0;
    for (const auto& [index, trial] : published) {
      const auto found = trials.find(index);
      const Trial& of = found == trials.end() ? trial : found->second;
      count += of.end == Trial::End::kFound && of.seconds <= 1 ? 1 : 0;
    }
    return count;
  };
  for (const auto& [rule, name] :
       std::map<std::string, std::string>{{"learned", "learned"},
                                          {"random", "random choice, no model"},
                                          {"highest-score", "as in the paper, `highest-score`"}}) {
    std::vector<double> counts = Counts("", rule);
    counts.insert(counts.begin(), 190);
    counts.back() = within_a_second(ReadResults(rule));
    evaluation.Expect(name, counts);
  }
  evaluation.Expect("published", {190, NAN, 0, NAN, NAN, within_a_second(published)});
  evaluation.Expect("niche search",
                    {NAN, NAN, NAN, NAN, NAN, within_a_second(ReadResults("niche"))});
}

TEST(Comparison, OfRulesOnOtherInputsIsWhatTheDocumentationSays) {
  const lab::Tables development(kLearned, "## Does it help?");
  for (const auto& [rule, name] : std::map<std::string, std::string>{
           {"learned", "the model, drawn in proportion to the score (shipped)"},
           {"pairwise", "pairwise ranking, the best score"},
           {"random", "any candidate at random, no model"},
           {"restarts", "the published rule with restarts"},
           {"oracle", "the oracle in place of the model"}}) {
    development.Expect(name, Counts("development/", rule));
  }
  const std::vector<double> highest = Counts("development/", "highest-score");
  const auto lost =
      Compare(ReadResults("development/published"), ReadResults("development/highest-score")).lost;
  lab::Tables(kLearned, "## The highest score, as in the paper")
      .Expect("0.9, taken for `highest-score`",
              {highest[0], highest[1], static_cast<double>(lost)});
  // Both kinds of inputs; in brackets what a model was fitted to.
  const lab::Tables kinds(kLearned, "## Trained on one kind of inputs, tested on another");
  const auto row = [&](const std::string& begin, const std::string& rule, bool fitted) {
    std::string line = begin;
    for (const std::string folder : {"development/", "models/"}) {
      const std::vector<double> counts = Counts(folder, rule);
      for (const std::size_t k : {0U, 1U, 3U, 4U}) {
        const std::string count = std::to_string(std::lround(counts[k]));
        line += fitted && folder == "models/" ? " | (" + count + ")" : " | " + count;
      }
    }
    kinds.ExpectWords(line + " |");
  };
  row("| generated inputs (shipped) | `learned`", "learned", false);
  row("| models | `learned`", "learned-models", true);
  row("| no model | random choice", "random", false);
  row("| generated inputs (shipped) | `highest-score`", "highest-score", false);
  row("| models | `highest-score`", "highest-score-models", true);
}

// What a perfect choice between the published rule with restarts and without would be worth.
TEST(Comparison, OfRestartsWithHindsightIsWhatTheDocumentationSays) {
  const Trials published = ReadResults("development/published");
  const Trials restarts = ReadResults("development/restarts");
  int tail = 0;
  int once = 0;
  int better = 0;
  for (const auto& [index, trial] : published) {
    if (trial.backtracks() <= kLongTail) continue;
    ++tail;
    const bool found = trial.end == Trial::End::kFound;
    once += found ? 1 : 0;
    better += found || restarts.at(index).end == Trial::End::kFound ? 1 : 0;
  }
  const double again = Counts("development/", "restarts").back();
  const double random = Counts("development/", "random").back();
  EXPECT_LT(better, random);
  lab::Tables(kLearned, "## Does it help?")
      .ExpectWords("without restarts solves " + std::to_string(once) + " of the " +
                   std::to_string(tail) + ", with them " + std::to_string(std::lround(again)) +
                   ", and the better of the two for each input, chosen with hindsight, " +
                   std::to_string(better) + "; a random choice solves " +
                   std::to_string(std::lround(random)));
}

// What the paper's own rule loses; and its trials, as far as they are short, are those of this program.
TEST(Comparison, OfThePapersRuleIsWhatTheDocumentationSays) {
  const Trials highest = ReadResults("highest-score");
  const Comparison all = Compare(ReadResults("published"), highest);
  EXPECT_EQ(all.tail, 190);
  EXPECT_EQ(all.failures, 121);
  EXPECT_EQ(all.lost, 7);
  EXPECT_EQ(all.ten_times_worse, 6);
  EXPECT_EQ(Compare(ReadResults("published"), ReadResults("learned")).lost, 0);

  int repeated = 0;
  for (const auto& [index, trial] : highest) {
    if (trial.steps > 1500 || trial.major_backtracks < 5) continue;
    const Problem problem = MakeInput(InputSet::kEvaluation, index).problem;
    const Trial again = Try(problem, Rule::kHighestScore, ShippedForest(), {});
    EXPECT_EQ(again.end, trial.end) << index;
    EXPECT_EQ(again.steps, trial.steps) << index;
    EXPECT_EQ(again.minor_backtracks, trial.minor_backtracks) << index;
    EXPECT_EQ(again.major_backtracks, trial.major_backtracks) << index;
    ++repeated;
  }
  EXPECT_GT(repeated, 20);
}

TEST(Collect, RepeatsItselfAndLabelsAsDefined) {
  CollectOptions options;
  options.runs = 1;
  options.steps = 15'000;
  options.backtracks = 250;
  options.oracle_nodes = 3000;
  std::size_t rows_in_all = 0;
  for (const std::int64_t index : {17, 66, 145}) {
    SCOPED_TRACE(index);
    const Problem problem = MakeInput(InputSet::kTraining, index).problem;
    CollectStats stats;
    CollectStats again_stats;
    const auto rows = CollectRows(problem, index, options, stats);
    const auto again = CollectRows(problem, index, options, again_stats);
    std::string text;
    std::string again_text;
    for (const TrainingRow& row : rows) AppendRow(row, text);
    for (const TrainingRow& row : again) AppendRow(row, again_text);
    EXPECT_EQ(text, again_text);
    rows_in_all += rows.size();
    std::map<std::pair<std::int64_t, std::int64_t>, std::vector<TrainingRow>> choices;
    for (const TrainingRow& row : rows) choices[{row.run, row.backtrack}].push_back(row);
    EXPECT_EQ(static_cast<std::int64_t>(choices.size()), stats.examples);
    for (const auto& [key, choice] : choices) {
      for (std::size_t k = 1; k < choice.size(); ++k) {
        const auto level = static_cast<std::size_t>(Feature::kLevel);
        EXPECT_LT(choice[k - 1].features[level], choice[k].features[level]);
        // From top to bottom: solvable, then undecided, then unsolvable.
        const auto order = [](Solvable s) {
          return s == Solvable::kYes ? 0 : s == Solvable::kUndecided ? 1 : 2;
        };
        EXPECT_LE(order(choice[k - 1].solvable), order(choice[k].solvable));
      }
      for (const TrainingRow& row : choice) {
        EXPECT_TRUE(row.score == 0 || (row.score > 5 && row.score <= 10)) << row.score;
        EXPECT_TRUE(row.score == 0 || row.solvable == Solvable::kYes);
      }
    }
  }
  EXPECT_GT(rows_in_all, 100u);
}

}  // namespace
}  // namespace berth::internal
