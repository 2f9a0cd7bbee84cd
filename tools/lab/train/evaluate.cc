#include "tools/lab/train/evaluate.h"

#include <array>
#include <charconv>
#include <cstddef>
#include <ctime>
#include <utility>

#include "base/check.h"
#include "baselines/telamalloc/telamalloc.h"
#include "place/niche/niche.h"
#include "tools/lab/train/oracle.h"
#include "tools/lab/train/read_number.h"

namespace berth::internal {
namespace {

constexpr std::array<std::string_view, 4> kEnds = {"found", "used-up", "out-of-steps",
                                                   "impossible"};
constexpr std::array<std::string_view, 8> kRules = {
    "heuristic", "published", "learned", "highest-score", "random", "restarts", "oracle", "niche"};

class OracleRule : public BacktrackRule {
 public:
  OracleRule(const Instance& instance, Bytes capacity, std::int64_t nodes)
      : oracle_(instance, capacity, nodes) {}

  std::size_t Choose(const MajorBacktrack& stuck) override {
    const Oracle::Target target = oracle_.DeepestSolvable(stuck);
    if (target.verdict != Solvable::kYes) return stuck.published;
    return target.point == stuck.points.size() ? kStay : target.point;
  }
  Random* Restarts() override { return &random_; }

 private:
  Oracle oracle_;
  Random random_{1};
};

SearchAnswer SearchBy(const Instance& instance, Bytes capacity, Rule rule, const Forest& forest,
                      const EvaluateOptions& options, Budget& budget) {
  const std::int64_t steps = options.steps;
  if (rule == Rule::kNiche) {
    return niche::MakeSearch(instance, {}, options.parameters.seed)
        ->Decide({capacity, steps}, budget);
  }
  const Overlaps overlaps = FindOverlaps(instance);
  TelaMallocOptions policy;
  policy.most_candidates = options.most_candidates;
  TelaMallocSearch search(instance, overlaps, policy);
  RestartingRule restarting;
  // A forest without trees gives all candidates the same score.
  const Forest none{kNumFeatures, 0, {}, {}, 5};
  switch (rule) {
    case Rule::kLearned:
      return search.SearchLearned(capacity, steps, budget, forest, options.parameters);
    case Rule::kHighestScore: {
      LearnedBacktracking highest(forest, options.highest);
      return search.Search(capacity, steps, budget, &highest);
    }
    case Rule::kRandom:
      return search.SearchLearned(capacity, steps, budget, none, options.parameters);
    case Rule::kOracle: {
      OracleRule perfect(instance, capacity, options.oracle_nodes);
      return search.Search(capacity, steps, budget, &perfect);
    }
    case Rule::kRestarts:
      return search.Search(capacity, steps, budget, &restarting);
    default:
      return search.Search(capacity, steps, budget);
  }
}

}  // namespace

std::string_view ToString(Trial::End end) { return kEnds[static_cast<std::size_t>(end)]; }
std::string_view ToString(Rule rule) { return kRules[static_cast<std::size_t>(rule)]; }

Trial Try(const Problem& problem, Rule rule, const Forest& forest, const EvaluateOptions& options) {
  const std::clock_t begin = std::clock();
  Trial trial;
  Budget budget;
  if (rule == Rule::kHeuristic) {
    PlaceOptions heuristic;
    heuristic.algorithm = Algorithm::kContention;
    const auto answer = Place(problem, heuristic, budget);
    BERTH_CHECK(answer.has_value());
    const bool fits = answer->best->height() <= *problem.capacity;
    trial.end = fits ? Trial::End::kFound : Trial::End::kUsedUp;
  } else {
    const Instance instance = Compile(problem);
    const SearchAnswer answer =
        SearchBy(instance, *problem.capacity, rule, forest, options, budget);
    using Verdict = SearchAnswer::Verdict;
    trial.end = answer.verdict == Verdict::kFound          ? Trial::End::kFound
                : answer.verdict == Verdict::kInconclusive ? Trial::End::kUsedUp
                : answer.verdict == Verdict::kImpossible   ? Trial::End::kImpossible
                                                           : Trial::End::kOutOfSteps;
    trial.steps = answer.nodes;
    trial.minor_backtracks = answer.stats.minor_backtracks;
    trial.major_backtracks = answer.stats.major_backtracks;
    if (answer.verdict == Verdict::kFound) {
      BERTH_CHECK(ValidateOffsets(problem, {answer.offsets, Height(problem, answer.offsets)}));
    }
  }
  trial.seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  return trial;
}

std::string TrialHeader() { return "input,end,steps,minor_backtracks,major_backtracks,seconds\n"; }

void AppendTrial(const Trial& trial, std::string& text) {
  std::array<char, 32> seconds{};
  const auto [end, error] = std::to_chars(seconds.data(), seconds.data() + seconds.size(),
                                          trial.seconds, std::chars_format::fixed, 6);
  BERTH_CHECK(error == std::errc());
  text += std::to_string(trial.input) + "," + std::string(ToString(trial.end)) + "," +
          std::to_string(trial.steps) + "," + std::to_string(trial.minor_backtracks) + "," +
          std::to_string(trial.major_backtracks) + "," + std::string(seconds.data(), end) + "\n";
}

Result<std::vector<Trial>> ReadTrials(std::string_view text, std::string_view name) {
  std::vector<Trial> trials;
  std::size_t number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) {
      return Fail(ErrorCode::kParse, std::string(name) + ":" + std::to_string(number) +
                                         ": the line has no end; was writing it cut short?");
    }
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (number == 1 && std::string(line) + "\n" == TrialHeader()) continue;
    std::array<std::string_view, 6> fields;
    std::size_t count = 0;
    for (bool more = true; more; ++count) {
      const std::size_t comma = line.find(',');
      if (count < fields.size()) fields[count] = line.substr(0, comma);
      more = comma != std::string_view::npos;
      if (more) line.remove_prefix(comma + 1);
    }
    Trial trial;
    std::size_t kind = 0;
    while (kind < kEnds.size() && kEnds[kind] != fields[1]) ++kind;
    if (number == 1 || count != fields.size() || kind == kEnds.size() ||
        !ReadNumber(fields[0], trial.input) || !ReadNumber(fields[2], trial.steps) ||
        !ReadNumber(fields[3], trial.minor_backtracks) ||
        !ReadNumber(fields[4], trial.major_backtracks) || !ReadNumber(fields[5], trial.seconds)) {
      return Fail(ErrorCode::kParse,
                  std::string(name) + ":" + std::to_string(number) + ": not a table of trials");
    }
    trial.end = static_cast<Trial::End>(kind);
    trials.push_back(trial);
  }
  return trials;
}

}  // namespace berth::internal
