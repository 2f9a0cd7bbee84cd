// COSMA's integer program against the search, on graphs that the solver can finish.

#include "berth/cosma.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "berth/spill.h"
#include "graph/plan.h"
#include "testing/order_oracle.h"
#include "testing/random_graph.h"
#include "testing/spill_oracle.h"

namespace berth::internal {
namespace {

Graph SmallGraph(std::uint64_t seed, int least, int most) {
  GraphKnobs knobs;
  knobs.min_operators = least;
  knobs.max_operators = most;
  knobs.max_bytes = 6;
  knobs.max_outputs = 2;
  knobs.max_inputs = 2;
  knobs.far_chance = 0.6;
  knobs.view_chance = 0.1;
  return RandomGraph(seed, knobs);
}

// All combinations of the search's rules, indexed by number.
SpillRules RulesOf(unsigned bits) {
  SpillRules rules;
  rules.dominance = (bits & 1) == 0;
  rules.safe_runs = (bits & 2) == 0;
  rules.belady = (bits & 4) == 0;
  rules.prices = (bits & 8) == 0;
  rules.segments = (bits & 16) == 0;
  rules.cuts = (bits & 32) == 0;
  rules.peaks = (bits & 64) == 0;
  rules.whole = (bits & 128) == 0;
  return rules;
}

TEST(Cosma, LeastTrafficMatchesTheSearch) {
  int spilling = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    CosmaOptions options;
    options.addresses = random.Chance(0.3);  // Then CBC only solves graphs of a few operators.
    const Graph graph = options.addresses ? SmallGraph(seed, 4, 6) : SmallGraph(seed, 6, 8);
    options.capacity = FindLeastMemory(graph, {}).bytes + (random.Chance(0.8) ? 0 : 1);
    options.overlap_analysis = random.Chance(0.7);
    if (random.Chance(0.3)) options.order = RandomOrder(graph, seed);
    Budget budget;
    const auto cosma = SolveCosma(graph, options, budget);
    ASSERT_TRUE(cosma.has_value()) << cosma.error().message;
    SpillOptions mine;
    mine.capacity = options.capacity;
    if (options.order) {
      mine.orders.push_back(*options.order);
      mine.fixed_order = true;
    }
    if (options.addresses) {
      mine.placer = [](const Problem& problem, Budget& b) { return Place(problem, {}, b); };
    }
    Budget other;
    const auto answer = PlanWithSpills(graph, mine, other);
    ASSERT_TRUE(answer.has_value());
    if (cosma->outcome == Outcome::kInfeasible) {
      // Tensors may fit by total size but not without fragmentation.
      EXPECT_TRUE(options.addresses);
      continue;
    }
    ASSERT_EQ(cosma->outcome, Outcome::kOptimal);
    ASSERT_TRUE(answer->best.has_value());
    if (!options.addresses) {
      EXPECT_EQ(*cosma->value, answer->traffic_by_sum);
    } else {
      EXPECT_GE(*cosma->value, answer->traffic_bound);
      if (answer->outcome == Outcome::kOptimal) {
        EXPECT_EQ(*cosma->value, answer->best->traffic.avoidable());
      }
      const auto valid = ValidatePlan(graph, {}, options.capacity, *cosma->plan);
      EXPECT_TRUE(valid.has_value()) << valid.error().message;
    }
    EXPECT_EQ(cosma->plan->traffic.avoidable(), *cosma->value);
    spilling += *cosma->value > 0 ? 1 : 0;
  }
  EXPECT_GT(spilling, 5);
}

// Graphs of up to twenty operators, the full program, each within a limit: what it proves must hold
// for the search, and the reverse. With BERTH_LONG set, two hundred of them.
TEST(Cosma, AgreesOnLargerGraphsWithinALimit) {
  const bool all = std::getenv("BERTH_LONG") != nullptr;
  const std::uint64_t graphs = all ? 200 : 6;
  int closed = 0;
  int closed_spilling = 0;
  int open = 0;
  for (std::uint64_t seed = 1; seed <= graphs; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const int operators = static_cast<int>(random.Uniform(5, all ? 20 : 9));
    const Graph graph = SmallGraph(1000 + seed, operators, operators);
    CosmaOptions options;
    options.capacity = FindLeastMemory(graph, {}).bytes + random.Uniform(0, 2);
    options.addresses = random.Chance(0.6);
    options.overlap_analysis = random.Chance(0.8);
    if (random.Chance(0.2)) options.order = RandomOrder(graph, seed);
    SpillOptions mine;
    mine.capacity = options.capacity;
    mine.rules = RulesOf(static_cast<unsigned>(random.Uniform(0, 255)));
    if (options.order) {
      mine.orders.push_back(*options.order);
      mine.fixed_order = true;
    }
    if (options.addresses) {
      mine.placer = [](const Problem& problem, Budget& b) { return Place(problem, {}, b); };
    }
    Budget other;
    const auto answer = PlanWithSpills(graph, mine, other);
    ASSERT_TRUE(answer.has_value());
    ASSERT_TRUE(answer->best.has_value());
    EXPECT_EQ(answer->traffic_bound, answer->traffic_by_sum) << "not closed by the search";
    Budget budget;
    budget.SetTimeLimit(all ? 6 : 1);
    const auto cosma = SolveCosma(graph, options, budget);
    ASSERT_TRUE(cosma.has_value()) << cosma.error().message;
    EXPECT_NE(cosma->outcome, Outcome::kInfeasible);
    if (cosma->value) {
      EXPECT_GE(*cosma->value, answer->traffic_bound);
    }
    EXPECT_LE(cosma->lower_bound, answer->best->traffic.avoidable());
    if (cosma->outcome != Outcome::kOptimal) {
      ++open;
      continue;
    }
    ++closed;
    closed_spilling += *cosma->value > 0 ? 1 : 0;
    EXPECT_EQ(*cosma->value, answer->best->traffic.avoidable());
  }
  if (all) {
    RecordProperty("closed", closed);
    std::printf("COSMA's program: %d closed, %d of them with spills; %d open\n", closed,
                closed_spilling, open);
  }
}

TEST(Cosma, LeastPeakMatchesTheOracle) {
  for (std::uint64_t seed = 1; seed <= 15; ++seed) {
    SCOPED_TRACE(seed);
    Graph graph = SmallGraph(seed, 4, 8);
    for (Tensor& tensor : graph.tensors) tensor.output = false;  // COSMA's results may be spilled.
    CosmaOptions options;
    options.objective = CosmaOptions::Objective::kPeak;
    Budget budget;
    const auto cosma = SolveCosma(graph, options, budget);
    ASSERT_TRUE(cosma.has_value()) << cosma.error().message;
    ASSERT_EQ(cosma->outcome, Outcome::kOptimal);
    EXPECT_EQ(*cosma->value, OracleSchedule(graph).peak);
  }
}

// Two graphs; the second begins with the output of the first one's last operator.
Graph InTwoParts(std::uint64_t seed, int operators_each, OperatorIndex& break_node) {
  Graph graph = SmallGraph(seed, operators_each, operators_each);
  for (Tensor& tensor : graph.tensors) tensor.output = false;
  Operator middle;
  middle.name = "middle";
  std::vector<char> used(graph.tensors.size(), 0);
  for (const Operator& op : graph.operators) {
    for (const TensorIndex t : op.inputs) used[t] = 1;
  }
  for (const Operator& op : graph.operators) {
    for (const TensorIndex t : op.outputs) {
      if (used[t] == 0) middle.inputs.push_back(t);
    }
  }
  const auto through = static_cast<TensorIndex>(graph.tensors.size());
  graph.tensors.push_back({"through", 3});
  middle.outputs.push_back(through);
  break_node = graph.operators.size();
  graph.operators.push_back(std::move(middle));
  const Graph second = SmallGraph(seed + 500, operators_each, operators_each);
  const auto tensors = static_cast<TensorIndex>(graph.tensors.size());
  const auto operators = static_cast<OperatorIndex>(graph.operators.size());
  for (Tensor tensor : second.tensors) {
    tensor.name += "'";
    if (tensor.alias_of) *tensor.alias_of += tensors;
    graph.tensors.push_back(std::move(tensor));
  }
  for (Operator op : second.operators) {
    op.name += "'";
    for (TensorIndex& t : op.inputs) t += tensors;
    for (TensorIndex& t : op.outputs) t += tensors;
    for (OperatorIndex& u : op.after) u += operators;
    if (op.inputs.empty()) op.inputs.push_back(through);
    graph.operators.push_back(std::move(op));
  }
  return graph;
}

TEST(Cosma, PartsMakeAPlan) {
  int spilling = 0;
  int planned = 0;
  for (std::uint64_t seed = 1; seed <= 9; ++seed) {
    SCOPED_TRACE(seed);
    OperatorIndex break_node = 0;
    const bool addresses = seed % 4 == 0;
    const Graph graph = InTwoParts(seed, addresses ? 3 : 6, break_node);
    ASSERT_TRUE(Validate(graph).has_value()) << Validate(graph).error().message;
    CosmaOptions options;
    options.capacity = FindLeastMemory(graph, {}).bytes;
    options.addresses = addresses;
    Budget budget;
    budget.SetTimeLimit(20);
    const auto parts = SolveCosmaInParts(graph, options, {break_node}, budget);
    ASSERT_TRUE(parts.has_value()) << parts.error().message;
    SpillOptions mine;
    mine.capacity = options.capacity;
    Budget other;
    const auto least = PlanWithSpills(graph, mine, other);
    ASSERT_TRUE(least.has_value());
    if (!parts->plan) continue;
    ++planned;
    EXPECT_EQ(parts->outcome, Outcome::kFeasible);
    EXPECT_EQ(*parts->value, parts->plan->traffic.avoidable());
    EXPECT_GE(*parts->value, least->traffic_bound);
    spilling += *parts->value > 0 ? 1 : 0;
    MemoryPlan plan = *parts->plan;
    if (!options.addresses) {
      // Except for offsets, the plan is valid: placed by Berth, without a capacity.
      Budget placing;
      const auto placed = Place(ProblemOf(graph, plan), {}, placing);
      ASSERT_TRUE(placed.has_value());
      for (std::size_t i = 0; i < plan.residencies.size(); ++i) {
        plan.residencies[i].offset = placed->best->residencies[i].offset;
      }
      plan.addressed = true;
      internal::StateUse(graph, plan);
    }
    const auto valid = ValidatePlan(
        graph, {}, options.addresses ? std::optional<Bytes>(options.capacity) : std::nullopt, plan);
    EXPECT_TRUE(valid.has_value()) << valid.error().message;
  }
  EXPECT_GT(planned, 6);
  EXPECT_GT(spilling, 1);
}

// The sizes of the parts that break nodes leave, by the definition: operators that tensors connect, except
// the outputs of break nodes.
std::vector<std::size_t> SizesOfParts(const Graph& graph, const std::vector<OperatorIndex>& nodes) {
  std::vector<std::size_t> part(graph.operators.size());
  std::iota(part.begin(), part.end(), std::size_t{0});
  std::vector<std::size_t> maker(graph.tensors.size(), part.size());
  for (std::size_t v = 0; v < part.size(); ++v) {
    for (const TensorIndex t : graph.operators[v].outputs) {
      if (BaseOf(graph, t) == t) maker[t] = v;
    }
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t v = 0; v < part.size(); ++v) {
      for (const auto* list : {&graph.operators[v].inputs, &graph.operators[v].outputs}) {
        for (const TensorIndex t : *list) {
          const std::size_t u = maker[BaseOf(graph, t)];
          if (u == part.size() || std::find(nodes.begin(), nodes.end(), u) != nodes.end()) continue;
          changed = changed || part[u] != part[v];
          part[u] = part[v] = std::min(part[u], part[v]);
        }
      }
    }
  }
  std::vector<std::size_t> sizes(part.size(), 0);
  for (const std::size_t p : part) ++sizes[p];
  return sizes;
}

TEST(Cosma, BreakNodesAreFound) {
  int cut = 0;
  int small = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = SmallGraph(seed, 4, 24);
    const std::size_t most = 2 + seed % 7;
    const auto nodes = FindBreakNodes(graph, most);
    ASSERT_TRUE(nodes.has_value()) << nodes.error().message;
    EXPECT_TRUE(std::is_sorted(nodes->begin(), nodes->end()));
    EXPECT_EQ(std::adjacent_find(nodes->begin(), nodes->end()), nodes->end());
    const std::vector<std::size_t> sizes = SizesOfParts(graph, *nodes);
    const std::vector<std::size_t> before = SizesOfParts(graph, {});
    const std::size_t largest = *std::max_element(sizes.begin(), sizes.end());
    EXPECT_EQ(nodes->empty(), sizes == before);
    cut += nodes->empty() ? 0 : 1;
    small += largest <= most ? 1 : 0;
    // Parts do not need each other: out of time at once, but not refused.
    CosmaOptions options;
    options.capacity = FindLeastMemory(graph, {}).bytes;
    Budget budget;
    budget.Cancel();
    const auto taken = SolveCosmaInParts(graph, options, *nodes, budget);
    EXPECT_TRUE(taken.has_value()) << taken.error().message;
  }
  EXPECT_GT(cut, 200);
  EXPECT_GT(small, 200);
}

// A chain of cells: what crosses from one to the next is one tensor, in the middle of a cell two do.
TEST(Cosma, BreakNodesAreWhereTheFewestTensorsCross) {
  Graph graph;
  std::vector<OperatorIndex> wanted;
  TensorIndex from = 0;
  graph.tensors.push_back({.name = "in", .bytes = 4, .kind = TensorKind::kInput});
  for (int cell = 0; cell < 4; ++cell) {
    const auto make = [&](const std::string& name, std::vector<TensorIndex> inputs) {
      graph.tensors.push_back({name + std::to_string(cell), 4});
      graph.operators.push_back(
          {name + std::to_string(cell), "", std::move(inputs), {graph.tensors.size() - 1}});
      return graph.tensors.size() - 1;
    };
    const TensorIndex left = make("left", {from});
    const TensorIndex right = make("right", {from});
    from = make("add", {left, right});
    if (cell < 3) wanted.push_back(graph.operators.size() - 1);
  }
  graph.tensors.back().output = true;
  const auto valid = Validate(graph);
  ASSERT_TRUE(valid.has_value()) << valid.error().message;
  const auto nodes = FindBreakNodes(graph, 3);
  ASSERT_TRUE(nodes.has_value());
  EXPECT_EQ(*nodes, wanted);
  EXPECT_TRUE(FindBreakNodes(graph, 12)->empty());
  EXPECT_EQ(FindBreakNodes(graph, 0).error().code, ErrorCode::kInvalidOptions);
}

TEST(Cosma, PartsHaveToComeOneAfterTheOther) {
  Graph graph;
  graph.tensors = {{"w", 1}, {"x", 1}, {"y", 1}, {"z", 1}};
  graph.operators = {
      {"W", "", {}, {0}}, {"X", "", {0}, {1}}, {"Y", "", {1}, {2}}, {"Z", "", {0, 2}, {3}}};
  CosmaOptions options;
  options.capacity = 4;
  Budget budget;
  for (const std::vector<OperatorIndex>& cut :
       {std::vector<OperatorIndex>{}, {0}, {0, 1, 2}, {2}}) {
    const auto answer = SolveCosmaInParts(graph, options, cut, budget);
    ASSERT_TRUE(answer.has_value()) << answer.error().message;
    ASSERT_TRUE(answer->plan.has_value());
    EXPECT_EQ(*answer->value, 0);
    EXPECT_TRUE(ValidatePlan(graph, {}, 4, *answer->plan).has_value());
  }
  // W, X and Z are one part because of w; Y would have to run in the middle of it.
  const auto tangled = SolveCosmaInParts(graph, options, {1, 2}, budget);
  ASSERT_FALSE(tangled.has_value());
  EXPECT_EQ(tangled.error().code, ErrorCode::kInvalidOptions);
  EXPECT_NE(tangled.error().message.find("need each other"), std::string::npos);
  const auto none = SolveCosmaInParts(graph, options, {7}, budget);
  ASSERT_FALSE(none.has_value());
  EXPECT_NE(none.error().message.find("break node 7"), std::string::npos);
}

TEST(Cosma, RefusesWritesInPlace) {
  Graph graph;
  graph.tensors.push_back({"x", 4});
  graph.operators.push_back({"make", "", {}, {0}});
  graph.operators.push_back({"write", "", {0}, {}, {0}});
  Budget budget;
  const auto cosma = SolveCosma(graph, {}, budget);
  ASSERT_FALSE(cosma.has_value());
  EXPECT_EQ(cosma.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(cosma.error().message.find("\"write\""), std::string::npos);
}

}  // namespace
}  // namespace berth::internal
