// The least traffic of one order, addresses included, against all choices of gaps.
#include "spill/conflicts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "berth/graph.h"
#include "berth/place.h"
#include "berth/spill.h"
#include "graph/plan.h"
#include "spill/layout.h"
#include "spill/model.h"
#include "testing/random_graph.h"
#include "tools/generate/cells.h"
#include "tools/verify/verify.h"

namespace berth::internal::spill {
namespace {

constexpr std::uint64_t kSeeds = 600;
constexpr std::size_t kMostGaps = 12;

Graph RandomCase(std::uint64_t seed) {
  GraphKnobs knobs = AllGraphKnobs();
  knobs.min_operators = 6;
  knobs.max_operators = 12;
  knobs.max_bytes = 9;
  knobs.max_outputs = 2;
  knobs.max_inputs = 2;
  knobs.far_chance = 0.9;
  knobs.view_chance = 0.1;
  knobs.alignment_chance = seed % 2 == 0 ? 0.5 : 0;
  knobs.unplanned_chance = 0;
  return RandomGraph(seed, knobs);
}

// In program order, nothing leaves before its last use.
Layout AllStays(const Graph& graph) {
  const Model model = CompileModel(graph, {}, /*with_ancestors=*/false);
  Schedule all;
  for (std::size_t v = 0; v < model.num_operators; ++v) all.actions.push_back({OpIndex(v), {}});
  const Order order = ProgramOrder(graph);
  return LayoutOf(graph, model, all, &order);
}

std::vector<char*> GapsOf(Layout& layout) {
  std::vector<char*> gaps;
  for (Stays& stays : layout.storages) {
    for (std::size_t i = 0; i + 1 < stays.kept.size(); ++i) gaps.push_back(&stays.kept[i]);
  }
  return gaps;
}

bool CanBePlaced(const Graph& graph, const Layout& layout, Bytes capacity) {
  const MemoryPlan plan = PlanOf(layout);
  Problem problem = ProblemOf(graph, plan);
  problem.capacity = capacity;
  Budget budget;
  const auto answer = Place(problem, {}, budget);
  EXPECT_TRUE(answer.has_value());
  EXPECT_NE(answer->outcome, Outcome::kUnknown);
  return answer->best && answer->best->height() <= capacity;
}

struct Least {
  std::optional<Bytes> by_sum;
  std::optional<Bytes> with_addresses;
};

Least LeastOfAllChoices(const Graph& graph, Layout layout, Bytes capacity) {
  const std::vector<char*> gaps = GapsOf(layout);
  Least least;
  for (std::uint32_t choice = 0; choice < (1U << gaps.size()); ++choice) {
    for (std::size_t g = 0; g < gaps.size(); ++g) *gaps[g] = (choice >> g & 1U) != 0 ? 1 : 0;
    const std::vector<Bytes> load = LoadOf(layout);
    const Bytes traffic = AvoidableTraffic(layout);
    if (!load.empty() && *std::max_element(load.begin(), load.end()) > capacity) continue;
    if (!least.by_sum || traffic < *least.by_sum) least.by_sum = traffic;
    if (least.with_addresses && traffic >= *least.with_addresses) continue;
    if (CanBePlaced(graph, layout, capacity)) least.with_addresses = traffic;
  }
  return least;
}

// Calls `check` with the seed, the graph, its layout, a capacity and the least traffic.
template <typename Check>
int ForEachCase(Check check) {
  int cases = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = RandomCase(seed);
    Layout layout = AllStays(graph);
    if (GapsOf(layout).size() > kMostGaps) continue;
    // Of one operator, or a little less than of everything together.
    Bytes capacity = FindLeastMemory(graph, {}).bytes;
    if (seed % 4 != 0) {
      const std::vector<Bytes> load = LoadOf(layout);
      const Bytes most = *std::max_element(load.begin(), load.end());
      capacity = std::max(capacity, most - static_cast<Bytes>(seed % 3));
    }
    const Least least = LeastOfAllChoices(graph, layout, capacity);
    EXPECT_TRUE(least.by_sum.has_value());
    check(graph, layout, capacity, least);
    ++cases;
  }
  return cases;
}

TEST(ConflictsTest, TheFirstChoiceThatCanBePlacedIsTheBest) {
  int conflicts = 0;
  int plans = 0;
  const int cases = ForEachCase(
      [&](const Graph& graph, const Layout& layout, Bytes capacity, const Least& least) {
        AddressOptions options;
        options.capacity = capacity;
        Budget budget;
        const auto answer = ChooseByConflicts(graph, layout, options, {}, DefaultPlacer(), budget);
        ASSERT_TRUE(answer.has_value());
        ASSERT_EQ(answer->best.has_value(), least.with_addresses.has_value());
        EXPECT_GE(answer->bound, *least.by_sum);
        if (!answer->best) return;
        ++plans;
        const MemoryPlan& plan = answer->best->plan;
        EXPECT_EQ(plan.traffic.avoidable(), *least.with_addresses);
        EXPECT_EQ(answer->bound, *least.with_addresses);
        EXPECT_FALSE(answer->out_of_budget || answer->out_of_nodes);
        EXPECT_TRUE(verify::VerifyPlan(graph, {}, capacity, plan).ok());
        conflicts += *least.with_addresses > *least.by_sum ? 1 : 0;
      });
  EXPECT_GT(cases, 200);
  EXPECT_GT(plans, 200);
  EXPECT_GT(conflicts, 5);
}

// PlanWithSpills() proves as much of the order that it is given.
TEST(ConflictsTest, PlansInOneOrderAreProvedWithAddresses) {
  int plans = 0;
  ForEachCase(
      [&](const Graph& graph, const Layout& /*layout*/, Bytes capacity, const Least& least) {
        if (!least.with_addresses) return;
        ++plans;
        SpillOptions options;
        options.capacity = capacity;
        options.fixed_order = true;
        Budget budget;
        const auto answer = PlanWithSpills(graph, options, budget);
        ASSERT_TRUE(answer.has_value() && answer->best.has_value());
        EXPECT_EQ(answer->best->traffic.avoidable(), *least.with_addresses);
        EXPECT_EQ(answer->traffic_bound, *least.with_addresses);
        EXPECT_EQ(answer->traffic_by_sum, *least.by_sum);
        EXPECT_EQ(answer->outcome, Outcome::kOptimal);
      });
  EXPECT_GT(plans, 200);
}

// Where the placer knows less than the proofs, and these are cut short, nothing wrong is proved.
TEST(ConflictsTest, GuessesProveNothing) {
  const Placer finds_little = [](const Problem& problem, Budget& budget) -> Result<PlanAnswer> {
    auto answer = Place(problem, {}, budget);
    if (answer && problem.buffers.size() % 2 == 0) answer->best.reset();
    return answer;
  };
  ConflictOptions limits;
  limits.nodes_of_proof = 1;
  limits.max_rounds = 20;
  int plans = 0;  // Found,
  int opens = 0;  // and cases in which nothing is proved of what was found.
  ForEachCase([&](const Graph& graph, const Layout& layout, Bytes capacity, const Least& least) {
    AddressOptions options;
    options.capacity = capacity;
    Budget budget;
    budget.SetNodeLimit(500);
    const auto answer = ChooseByConflicts(graph, layout, options, limits, finds_little, budget);
    ASSERT_TRUE(answer.has_value());
    EXPECT_LE(budget.nodes_spent(), 500);
    if (!least.with_addresses) return;
    EXPECT_LE(answer->bound, *least.with_addresses);
    if (answer->best) {
      ++plans;
      EXPECT_GE(answer->best->plan.traffic.avoidable(), *least.with_addresses);
    }
    const bool open = !answer->best || answer->best->plan.traffic.avoidable() > answer->bound;
    if (open) {
      ++opens;
      EXPECT_TRUE(answer->out_of_budget || answer->out_of_nodes);
    }
  });
  EXPECT_GT(plans, 200);
  EXPECT_GT(opens, 100);
}

// Two conflicts between cells that follow each other; a proof about all of the network would take several
// times as many nodes.
TEST(ConflictsTest, OfNasnet) {
  const Graph graph = MakeNasnetA({.cells = 12, .filters = 168, .resolution = 224}, 1);
  AddressOptions options;
  options.capacity = FindLeastMemory(graph, {}).bytes;
  Budget budget;
  const auto answer =
      ChooseByConflicts(graph, AllStays(graph), options, {}, DefaultPlacer(), budget);
  ASSERT_TRUE(answer.has_value() && answer->best.has_value());
  EXPECT_EQ(answer->best->plan.traffic.avoidable(), 12'462'216);
  EXPECT_EQ(answer->bound, 12'462'216);
  EXPECT_TRUE(verify::VerifyPlan(graph, {}, options.capacity, answer->best->plan).ok());
  EXPECT_LT(budget.nodes_spent(), 130'000);

  // Without addresses.
  SpillOptions by_sum;
  by_sum.capacity = options.capacity;
  by_sum.fixed_order = true;
  by_sum.placer = nullptr;
  const auto sum = PlanWithSpills(graph, by_sum, budget);
  ASSERT_TRUE(sum.has_value());
  EXPECT_EQ(sum->outcome, Outcome::kOptimal);
  EXPECT_EQ(sum->traffic_by_sum, 12'198'792);
}

TEST(ConflictsTest, PlansWithinTheLimitOnly) {
  int with_traffic = 0;
  ForEachCase([&](const Graph& graph, const Layout& layout, Bytes capacity, const Least& least) {
    if (!least.with_addresses || *least.with_addresses == 0) return;
    ++with_traffic;
    AddressOptions options;
    options.capacity = capacity;
    for (const Bytes less : {0, 1}) {
      options.limit = *least.with_addresses - less;
      Budget budget;
      const auto answer = ChooseByConflicts(graph, layout, options, {}, DefaultPlacer(), budget);
      ASSERT_TRUE(answer.has_value());
      EXPECT_EQ(answer->best.has_value(), less == 0);
      EXPECT_EQ(answer->bound, *least.with_addresses);
    }
  });
  EXPECT_GT(with_traffic, 100);
}

}  // namespace
}  // namespace berth::internal::spill
