// The constraint engine against a naive one, its explanations against themselves, and the guided
// search against the truth.

#include "place/learning/guided.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "berth/place.h"
#include "berth/prove.h"
#include "place/learning/engine.h"
#include "testing/differential.h"
#include "testing/oracle.h"
#include "tests/place/generated.h"
#include "tests/place/judge.h"

namespace berth::internal::learning {
namespace {

using Buffer = Engine::Buffer;

std::size_t At(std::int32_t index) { return static_cast<std::size_t>(index); }

// A problem with the data that an engine needs.
struct Compiled {
  explicit Compiled(const Problem& problem)
      : instance(Compile(problem)), overlaps(FindOverlaps(instance)) {}
  Instance instance;
  Overlaps overlaps;
};

// ---- The engine.

// The definition: examine all pairs and sections until nothing changes. False: fails.
bool NaiveFixpoint(const Instance& instance, const Engine& pairs, Bytes capacity, bool section_load,
                   Engine::State& state) {
  const auto round_up = [&](std::size_t b, Bytes value) {
    const Bytes a = instance.pin.items()[b] != kNone ? 1 : instance.alignment.items()[b];
    while (value % a != 0) ++value;
    return value;
  };
  const auto round_down = [&](std::size_t b, Bytes value) {
    const Bytes a = instance.pin.items()[b] != kNone ? 1 : instance.alignment.items()[b];
    while (value % a != 0) --value;
    return value;
  };
  bool changed = true;
  while (changed) {
    changed = false;
    for (std::size_t p = 0; p < 2 * pairs.num_pairs(); ++p) {
      const auto pair = static_cast<Engine::OrderedPair>(p);
      const std::size_t lower = At(pairs.bottom(pair));
      const std::size_t upper = At(pairs.top(pair));
      const Bytes clearance = pairs.clearance(pair);
      std::uint8_t& order = state.order[p / 2];
      const auto mine = static_cast<std::uint8_t>(1 + p % 2);
      if (state.low[lower] + clearance > state.high[upper]) {
        if (order == mine) return false;
        changed |= order == 0;
        order = static_cast<std::uint8_t>(3 - mine);
      }
      if (order != mine) continue;
      const Bytes low = round_up(upper, state.low[lower] + clearance);
      if (low > state.low[upper]) {
        state.low[upper] = low;
        changed = true;
      }
      const Bytes high = round_down(lower, state.high[upper] - clearance);
      if (high < state.high[lower]) {
        state.high[lower] = high;
        changed = true;
      }
      if (state.low[upper] > state.high[upper] || state.low[lower] > state.high[lower]) {
        return false;
      }
    }
  }
  if (!section_load) return true;
  for (const SectionIndex s : instance.sections()) {
    struct Live {
      Bytes low;
      Bytes bytes;
    };
    std::vector<Live> live;
    for (const BufferIndex b : instance.buffers()) {
      for (const Piece& piece : instance.pieces_of(b)) {
        if (piece.first > s || piece.last <= s) continue;
        live.push_back({state.low[b.position()] + piece.lower, piece.upper - piece.lower});
      }
    }
    for (const Live& level : live) {
      Bytes top = level.low;
      for (const Live& each : live) top += each.low >= level.low ? each.bytes : 0;
      if (top > capacity) return false;
    }
  }
  return true;
}

// The state before any propagation.
Engine::State OpenState(const Instance& instance, const Engine& engine, Bytes capacity) {
  Engine::State state;
  for (const BufferIndex b : instance.buffers()) {
    const Bytes pin = instance.pin[b];
    Bytes high = capacity - instance.size[b];
    if (pin == kNone) {
      while (high % instance.alignment[b] != 0) --high;
    }
    state.low.push_back(std::max<Bytes>(pin, 0));
    state.high.push_back(pin != kNone ? pin : high);
  }
  state.order.assign(engine.num_pairs(), 0);
  return state;
}

// Random placements and undos, compared with the naive fixpoint.
Complaint ComparesWithNaive(const Problem& problem, bool section_load) {
  if (problem.buffers.empty() || CollidingPins(problem)) return std::nullopt;
  const Compiled compiled(problem);
  const Instance& instance = compiled.instance;
  Random random(problem.buffers.size() + static_cast<std::size_t>(problem.buffers[0].size));
  Engine engine(instance, compiled.overlaps, {section_load, false, 1});
  for (const Bytes capacity :
       {MaxLiveLoad(problem).lower_bound, MaxLiveLoad(problem).lower_bound + 3}) {
    std::vector<Engine::State> states(1, OpenState(instance, engine, capacity));
    bool fits = true;
    for (const BufferIndex b : instance.buffers()) {
      fits &= instance.size[b] + std::max<Bytes>(instance.pin[b], 0) <= capacity;
    }
    fits = fits && NaiveFixpoint(instance, engine, capacity, section_load, states[0]);
    if (engine.Start(capacity) != fits) return fits ? "fails at the start" : "misses a failure";
    if (!fits) continue;
    for (int step = 0; step < 40; ++step) {
      if (engine.Snapshot() != states.back()) {
        return "is not at the fixpoint in step " + std::to_string(step);
      }
      if (random.Chance(0.3) && engine.level() > 0) {
        const auto to = static_cast<std::int32_t>(random.Uniform(0, engine.level() - 1));
        engine.UndoTo(to);
        states.resize(At(to) + 1);
        continue;
      }
      const auto b = static_cast<Buffer>(
          random.Uniform(0, static_cast<std::int64_t>(instance.num_buffers()) - 1));
      if (engine.is_fixed(b)) continue;
      const Bytes alignment = instance.alignment.items()[At(b)];
      const Bytes offset =
          engine.lowest(b) +
          alignment * random.Uniform(0, (engine.highest(b) - engine.lowest(b)) / alignment);
      Engine::State naive = states.back();
      naive.low[At(b)] = naive.high[At(b)] = offset;
      const bool expected = NaiveFixpoint(instance, engine, capacity, section_load, naive);
      const bool placed = engine.Place(b, offset);
      if (placed != expected) return placed ? "misses a failure" : "fails where nothing is wrong";
      if (placed) {
        states.push_back(std::move(naive));
      } else {
        engine.UndoTo(engine.level() - 1);
      }
    }
  }
  return std::nullopt;
}

TEST(GuidedEngine, IsAtTheFixpointAfterEveryStepAndUndo) {
  for (const bool section_load : {true, false}) {
    ASSERT_TRUE(ForRandomProblems(1, 1000, AllKnobs(), [&](const Problem& problem) {
      return ComparesWithNaive(problem, section_load);
    }));
    ProblemKnobs knobs = AllKnobs();
    knobs.min_buffers = 8;
    knobs.max_buffers = 25;
    knobs.horizon = 20;
    ASSERT_TRUE(ForRandomProblems(20'000, 300, knobs, [&](const Problem& problem) {
      return ComparesWithNaive(problem, section_load);
    }));
  }
}

TEST(GuidedEngine, IsAtTheFixpointWithManyWindows) {
  ProblemKnobs knobs = AllKnobs();
  knobs.gap_chance = 0.9;
  knobs.window_chance = 1;
  knobs.max_gaps = 3;
  ASSERT_TRUE(ForRandomProblems(50'000, 1000, knobs, [&](const Problem& problem) {
    return ComparesWithNaive(problem, true);
  }));
}

// The placements blamed for a failure must fail by themselves.
Complaint BlamesEnough(const Problem& problem) {
  if (problem.buffers.empty() || CollidingPins(problem)) return std::nullopt;
  const Compiled compiled(problem);
  const Instance& instance = compiled.instance;
  Random random(problem.buffers.size() + static_cast<std::size_t>(problem.buffers[0].size));
  const Bytes capacity = MaxLiveLoad(problem).lower_bound + random.Uniform(0, 2);
  Engine engine(instance, compiled.overlaps, {});
  if (!engine.Start(capacity)) return std::nullopt;
  struct Step {
    Buffer buffer;
    Bytes offset;
  };
  std::vector<Step> steps;
  for (int step = 0; step < 60; ++step) {
    const auto b = static_cast<Buffer>(
        random.Uniform(0, static_cast<std::int64_t>(instance.num_buffers()) - 1));
    if (engine.is_fixed(b)) continue;
    // Sometimes at an infeasible position, as on a skyline.
    const Bytes offset = random.Chance(0.7) ? engine.lowest(b)
                         : random.Chance(0.7)
                             ? engine.highest(b)
                             : engine.highest(b) + instance.alignment.items()[At(b)];
    steps.push_back({b, offset});
    if (engine.Place(b, offset)) continue;
    const auto blamed = engine.Placements();
    if (!std::is_sorted(blamed.begin(), blamed.end())) return "blames in no order";
    if (blamed.empty() || blamed.back() != engine.level()) return "does not blame the last one";
    Engine again(instance, compiled.overlaps, {});
    bool fails = !again.Start(capacity);
    for (const std::int32_t level : blamed) {
      const Step& placed = steps[At(level) - 1];
      fails = fails || !again.Place(placed.buffer, placed.offset);
    }
    if (!fails) return "blames too few";
    engine.UndoTo(engine.level() - 1);
    steps.pop_back();
    if (random.Chance(0.3)) {
      const auto to = static_cast<std::int32_t>(random.Uniform(0, engine.level()));
      engine.UndoTo(to);
      steps.resize(At(to));
    }
  }
  return std::nullopt;
}

TEST(GuidedEngine, BlamedPlacementsSufficeToFail) {
  ASSERT_TRUE(ForRandomProblems(100'000, 2000, AllKnobs(), BlamesEnough));
  ProblemKnobs knobs = AllKnobs();
  knobs.min_buffers = 8;
  knobs.max_buffers = 25;
  knobs.horizon = 20;
  ASSERT_TRUE(ForRandomProblems(120'000, 1000, knobs, BlamesEnough));
}

// If placements follow a known plan, no consequence excludes the plan, and neither does a learned
// clause.
Complaint KeepsThePlan(const Problem& problem, bool learn) {
  if (problem.buffers.empty() || CollidingPins(problem)) return std::nullopt;
  PlaceOptions options;
  options.algorithm = Algorithm::kFirstFitSize;
  Budget budget;
  Problem open = problem;
  open.capacity.reset();
  const auto answer = Place(open, options, budget);
  if (!answer || !answer->best) return std::nullopt;  // Not for this greedy algorithm.
  const std::vector<Bytes>& plan = PlacementOf(*answer->best).offsets;
  const Compiled compiled(problem);
  const Instance& instance = compiled.instance;
  Random random(static_cast<std::uint64_t>(answer->best->height()));
  Engine engine(instance, compiled.overlaps, {});
  engine.Watch(plan);
  if (!engine.Start(answer->best->height())) return "fails before any placement";
  for (int step = 0; step < 80; ++step) {
    const auto b = static_cast<Buffer>(
        random.Uniform(0, static_cast<std::int64_t>(instance.num_buffers()) - 1));
    if (engine.is_fixed(b)) continue;
    const bool as_planned = random.Chance(learn ? 0.4 : 0.8);
    if (!learn && !as_planned) {
      if (engine.level() > 0) {
        engine.UndoTo(static_cast<std::int32_t>(random.Uniform(0, engine.level())));
      }
      continue;
    }
    // Learning requires placements at the lowest position.
    if (learn && as_planned && engine.lowest(b) != plan[At(b)]) continue;
    bool consistent = engine.Place(b, as_planned ? plan[At(b)] : engine.lowest(b));
    while (!consistent) {
      if (!learn || engine.level() == 0) return "excludes the plan";
      consistent = engine.Learn();
    }
    if (engine.plan_excluded()) return "excludes the plan";
    if (learn && random.Chance(0.05)) {
      engine.UndoTo(0);
      if (random.Chance(0.5)) engine.Forget();
    }
  }
  return engine.plan_excluded() ? Complaint("excludes the plan") : std::nullopt;
}

TEST(GuidedEngine, NeverExcludesAKnownPlan) {
  ASSERT_TRUE(ForRandomProblems(200'000, 10'000, AllKnobs(), [](const Problem& problem) {
    return KeepsThePlan(problem, false);
  }));
}

TEST(GuidedEngine, NeverLearnsToExcludeAKnownPlan) {
  ProblemKnobs knobs = AllKnobs();
  knobs.min_buffers = 6;
  knobs.max_buffers = 16;
  knobs.horizon = 12;
  ASSERT_TRUE(ForRandomProblems(
      300'000, 3000, knobs, [](const Problem& problem) { return KeepsThePlan(problem, true); }));
}

// x can no longer lie below y once y is placed too low, so it lies above.
TEST(GuidedEngine, DecidesTheOnlyRemainingOrder) {
  Problem problem;
  problem.buffers = {{"x", 0, 4, 4, 1, {}, {}, {}}, {"y", 2, 6, 3, 1, {}, {}, {}}};
  const Compiled compiled(problem);
  Engine engine(compiled.instance, compiled.overlaps, {});
  ASSERT_TRUE(engine.Start(10));
  ASSERT_TRUE(engine.Place(1, 3));
  EXPECT_EQ(engine.lowest(0), 6);
  engine.UndoTo(0);
  ASSERT_TRUE(engine.Place(1, 4));  // x may lie below or above.
  EXPECT_EQ(engine.lowest(0), 0);
  engine.UndoTo(0);
  ASSERT_TRUE(engine.Place(1, 7));
  EXPECT_EQ(engine.highest(0), 3);
}

TEST(GuidedEngine, FallsOnTheSkyline) {
  Problem problem;
  problem.buffers = {{"low", 0, 2, 4, 1, {}, {}, {}},
                     {"high", 1, 3, 2, 1, {}, {}, {}},
                     {"falls", 2, 4, 2, 4, {}, {}, {}}};
  const Compiled compiled(problem);
  Engine engine(compiled.instance, compiled.overlaps, {});
  ASSERT_TRUE(engine.Start(20));
  EXPECT_EQ(engine.Skyline(2).offset, 0);
  EXPECT_EQ(engine.Skyline(2).on, -1);
  ASSERT_TRUE(engine.Place(0, 0));
  ASSERT_TRUE(engine.Place(1, 4));
  EXPECT_EQ(engine.lowest(2), 0);
  EXPECT_EQ(engine.Skyline(2).offset, 8);  // On 6, rounded up to its alignment.
  EXPECT_EQ(engine.Skyline(2).on, 1);
}

// ---- The search.

Problem Only(const Problem& problem, const std::vector<std::size_t>& buffers) {
  Problem part;
  for (const std::size_t b : buffers) part.buffers.push_back(problem.buffers[b]);
  return part;
}

// The core of a proof cannot be placed by itself.
Complaint JudgeCore(const Problem& problem, Bytes capacity, const SearchAnswer& answer) {
  if (answer.verdict != SearchAnswer::Verdict::kImpossible) return std::nullopt;
  const std::vector<std::size_t>& core = answer.core;
  if (core.empty() || core.back() >= problem.buffers.size()) return "no core";
  if (std::adjacent_find(core.begin(), core.end(), std::greater_equal<>()) != core.end()) {
    return "a core out of order";
  }
  if (OracleFits(Only(problem, core), capacity)) {
    return "a core that fits at " + std::to_string(capacity);
  }
  return std::nullopt;
}

Complaint ComparesWithOracle(const Problem& problem, const Options& options) {
  const auto plan = OraclePlace(problem);
  if (!plan || problem.buffers.empty()) return std::nullopt;
  const Compiled compiled(problem);
  const auto search = MakeSearch(compiled.instance, compiled.overlaps, options, 1);
  Complaint of_core;
  Complaint complaint =
      Judge(problem, plan->height, true, [&](Bytes capacity, std::int64_t limit, Budget& budget) {
        Question question{capacity, limit};
        question.wants_core = true;
        const SearchAnswer answer = search->Decide(question, budget);
        if (auto fault = JudgeCore(problem, capacity, answer)) {
          of_core = fault;
        }
        return answer;
      });
  return complaint ? complaint : of_core;
}

TEST(Guided, MatchesTheOracle) {
  ProblemKnobs knobs;
  knobs.horizon = 10;
  EXPECT_TRUE(ForRandomProblems(
      1, 2000, knobs, [](const Problem& problem) { return ComparesWithOracle(problem, {}); }));
}

TEST(Guided, MatchesTheOracleWithEverything) {
  EXPECT_TRUE(ForRandomProblems(10'000, 3000, AllKnobs(), [](const Problem& problem) {
    return ComparesWithOracle(problem, {});
  }));
  ProblemKnobs knobs;
  knobs.gap_chance = 0.9;
  knobs.window_chance = 1;
  knobs.max_gaps = 3;
  knobs.max_buffers = 5;
  EXPECT_TRUE(ForRandomProblems(
      20'000, 1500, knobs, [](const Problem& problem) { return ComparesWithOracle(problem, {}); }));
}

TEST(Guided, MatchesTheOracleWithIdenticalBuffers) {
  EXPECT_TRUE(ForRandomProblems(30'000, 1000, TwinKnobs(), [](Problem problem) {
    AddTwins(problem);
    return ComparesWithOracle(problem, {});
  }));
}

TEST(Guided, EveryCombinationOfSwitchesGivesTheVerdictsOfTheOracle) {
  for (unsigned bits = 0; bits < 32; ++bits) {
    Options options;
    options.section_load = (bits & 1) != 0;
    options.weights = (bits & 2) != 0;
    options.restarts = (bits & 4) != 0;
    options.lowest_first = (bits & 8) != 0;
    options.identical_order = (bits & 16) != 0;
    ASSERT_TRUE(ForRandomProblems(40'000 + 100 * bits, 60, AllKnobs(), [&](const Problem& problem) {
      return ComparesWithOracle(problem, options);
    })) << bits;
  }
}

Problem Generated(Family family, std::uint64_t seed, std::int64_t buffers, std::int64_t steps,
                  Bytes capacity) {
  GenerateParameters parameters;
  parameters.seed = seed;
  parameters.buffers = buffers;
  if (family != Family::kNetwork) parameters.steps = steps;
  parameters.capacity = capacity;
  return Generated(family, parameters);
}

// Exactly full tables: the other exact searches must agree.
TEST(Guided, AgreesWithTheNicheSearch) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    Problem problem = Generated(Family::kFull, seed, 8 + static_cast<int>(seed % 5), 10, 30);
    std::map<Algorithm, Outcome> outcomes;
    for (const Algorithm algorithm : {Algorithm::kGuided, Algorithm::kNiche}) {
      PlaceOptions options;
      options.algorithm = algorithm;
      Budget budget;
      budget.SetNodeLimit(200'000);
      outcomes[algorithm] = Place(problem, options, budget)->outcome;
    }
    if (outcomes[Algorithm::kGuided] == Outcome::kUnknown) continue;
    if (outcomes[Algorithm::kNiche] == Outcome::kUnknown) continue;
    EXPECT_EQ(outcomes[Algorithm::kGuided] == Outcome::kInfeasible,
              outcomes[Algorithm::kNiche] == Outcome::kInfeasible);
  }
}

// Of longer proofs, with restarts and things forgotten: the niche search agrees, and part of the
// buffers is enough for most.
TEST(Guided, TheCoreOfAProofCannotBePlacedEither) {
  int proofs = 0;
  int smaller = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    const Bytes capacity = 20 + static_cast<Bytes>(seed % 3) * 10;
    Problem problem = Generated(Family::kFull, seed, 10 + static_cast<int>(seed % 9), 14, capacity);
    problem.capacity = capacity;
    PlaceOptions options;
    options.algorithm = Algorithm::kGuided;
    Budget budget;
    budget.SetNodeLimit(20'000);
    std::optional<std::vector<std::size_t>> core;
    const auto answer = PlaceWithCore(problem, options, budget, core);
    Budget again;
    again.SetNodeLimit(20'000);
    EXPECT_EQ(answer->outcome, Place(problem, options, again)->outcome);
    if (answer->outcome != Outcome::kInfeasible) {
      EXPECT_FALSE(core);
      continue;
    }
    ASSERT_TRUE(core);
    ++proofs;
    smaller += core->size() < problem.buffers.size() ? 1 : 0;
    Problem part = Only(problem, *core);
    part.capacity = capacity;
    options.algorithm = Algorithm::kNiche;
    Budget other;
    other.SetNodeLimit(2'000'000);
    EXPECT_FALSE(Place(part, options, other)->fits());
  }
  EXPECT_GE(proofs, 10);
  EXPECT_GE(smaller, proofs / 4);
}

// The same on every compiler and in every build type. A difference means that the search has
// changed, which must be intended.
struct Pinned {
  Family family;
  std::uint64_t seed;
  Bytes percent;  // Of the peak load.
  Algorithm algorithm;
  std::int64_t nodes;
  SearchStats stats;
};

TEST(Guided, TakesTheSameSteps) {
  const Pinned pinned[] = {
      {Family::kRandom, 1, 100, Algorithm::kGuided, 119, {0, 0, 0}},
      {Family::kPlanted, 1, 103, Algorithm::kGuided, 154, {10, 3, 7}},
      {Family::kPlanted, 2, 100, Algorithm::kGuided, 178, {20, 2, 18}},
      {Family::kFull, 1, 100, Algorithm::kGuided, 600, {345, 252, 93}},
      {Family::kNetwork, 1, 100, Algorithm::kGuided, 125, {1, 0, 1}},
  };
  for (const Pinned& pin : pinned) {
    Problem problem = Generated(pin.family, pin.seed, 120, 60, 100'000);
    problem.capacity = MaxLiveLoad(problem).load * pin.percent / 100;
    PlaceOptions options;
    options.algorithm = pin.algorithm;
    ASSERT_TRUE(SetOption(options, "guided.heuristic_first", "off").has_value());
    Budget budget;
    budget.SetNodeLimit(5000);
    const auto answer = Place(problem, options, budget);
    ASSERT_TRUE(answer.has_value());
    EXPECT_TRUE(answer->nodes == pin.nodes && answer->placing.stats == pin.stats)
        << Info(pin.algorithm).name << ", family " << static_cast<int>(pin.family) << ": "
        << answer->nodes << ", {" << answer->placing.stats.failures << ", "
        << answer->placing.stats.minor_backtracks << ", " << answer->placing.stats.major_backtracks
        << "}";
  }
}

TEST(Guided, EndsAtItsLimitAndWhenCancelled) {
  Problem problem = Generated(Family::kFull, 1, 40, 12, 1000);
  PlaceOptions options;
  options.algorithm = Algorithm::kGuided;
  Budget budget;
  budget.SetNodeLimit(100);
  const auto answer = Place(problem, options, budget);
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->nodes, 100);
  EXPECT_EQ(answer->outcome, Outcome::kUnknown);
  EXPECT_EQ(answer->stopped, StopReason::kBudget);
  Budget cancelled;
  cancelled.Cancel();
  EXPECT_EQ(Place(problem, options, cancelled)->nodes, 0);
}

}  // namespace
}  // namespace berth::internal::learning
