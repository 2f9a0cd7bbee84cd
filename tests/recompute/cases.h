// Tiny graphs with every feature that recomputation has to mind, from a seed; and plans for them.
#ifndef BERTH_TESTS_RECOMPUTE_CASES_H_
#define BERTH_TESTS_RECOMPUTE_CASES_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/random.h"
#include "berth/recompute.h"
#include "berth/spill.h"
#include "recompute/gaps.h"
#include "recompute/model.h"
#include "recompute/sequence.h"
#include "testing/random_graph.h"

namespace berth {

namespace room = internal::recompute;

inline constexpr std::int64_t kPlenty = 1'000'000'000;  // Of work.

inline std::vector<room::Op> OpsOf(const Order& order) { return {order.begin(), order.end()}; }

// What the choice of gaps proves of every sequence in its order.
inline std::int64_t BoundOf(const room::Gaps& gaps) {
  Budget budget;
  return gaps.Choose({}, room::Gaps::Depth::kProof, room::Gaps::Count::kWhenPaid, budget).bound;
}

// The first executions of `sequence`.
inline room::Sequence FirstsOf(const room::Sequence& sequence, const room::Model& model) {
  room::Sequence firsts;
  std::vector<char> ran(model.num_operators(), 0);
  for (const room::Op v : sequence) {
    if (!model.IsReturn(v) && std::exchange(ran[v], 1) == 0) firsts.push_back(v);
  }
  return firsts;
}

// Graphs with costs, operators that may not run again, and writes that are skipped.
inline Graph GraphOf(std::uint64_t seed, int most_operators, double write_chance = 0.15) {
  internal::GraphKnobs knobs = internal::SpillKnobs(2, most_operators);
  knobs.write_chance = write_chance;
  Graph graph = internal::RandomGraph(seed, knobs);
  internal::Random random(seed ^ 0x5eedu);
  const bool costs = random.Chance(0.8);
  const bool never = random.Chance(0.5);
  for (Operator& op : graph.operators) {
    op.type.clear();
    if (costs && random.Chance(0.9)) op.cost = random.Uniform(0, 9);
    if (never && random.Chance(0.2)) op.repeat = Repeat::kNever;
    if (random.Chance(0.1)) op.repeat = Repeat::kPure;
    if (random.Chance(0.05)) op.random = true;
    if (!op.mutates.empty() && random.Chance(0.3)) op.skips = {op.mutates.front()};
  }
  return graph;
}

// The same with costs in nanoseconds, of four magnitudes.
inline Graph TimedGraphOf(std::uint64_t seed, int most_operators) {
  Graph graph = GraphOf(seed, most_operators);
  graph.cost_unit = "ns";
  graph.operators.front().cost = graph.operators.front().cost.value_or(1);
  for (Operator& op : graph.operators) {
    if (op.cost) op.cost = (std::int64_t{1} << (2 * (seed % 4))) * *op.cost;
  }
  return graph;
}

inline Counting CountingOf(std::uint64_t seed) {
  return {.inputs = seed % 3 == 1, .parameters = seed % 5 == 2, .unsized_as_zero = true};
}

inline Link LinkOf(std::uint64_t seed) {
  internal::Random random(seed ^ 0x11abu);
  const auto rate = [&] { return random.Uniform(1, 4) * 500'000'000; };  // Bytes per second.
  return {.out_bytes_per_second = rate(),
          .in_bytes_per_second = rate(),
          .latency_nanoseconds = random.Uniform(0, 3)};
}

// A question, and the options that ask it.
struct RecomputeCase {
  Graph graph;
  Counting counting;
  Bytes capacity = 0;
  std::optional<Link> link;
  bool fixed = false;
  Order order;

  // The order, if first executions have to run in it.
  [[nodiscard]] const Order* fixed_order() const { return fixed ? &order : nullptr; }
  [[nodiscard]] RecomputeOptions Options() const {
    RecomputeOptions options;
    options.capacity = capacity;
    options.counting = counting;
    options.link = link;
    options.orders = {order};
    options.fixed_order = fixed;
    options.placer = nullptr;
    return options;
  }
};

// From what one operator needs, less one byte, to the peak of program order.
inline Bytes SomeCapacity(const Graph& graph, const Counting& counting, std::uint64_t seed) {
  internal::Random random(seed ^ 0xcab5u);
  const internal::recompute::Model model = internal::recompute::Compile(graph, counting);
  Bytes least = 0;
  for (std::size_t v = 0; v < graph.operators.size(); ++v) {
    least = std::max(least, model.NeedOf(static_cast<internal::recompute::Op>(v)));
  }
  const Bytes peak = Live(graph, ProgramOrder(graph), counting).peak;
  return random.Uniform(std::max<Bytes>(least - 1, 0), std::max(least, peak));
}

// Every second case has a fixed order. Orders are random.
inline RecomputeCase CaseOf(std::uint64_t seed, int most_operators) {
  RecomputeCase result{GraphOf(seed, most_operators), CountingOf(seed), 0, {}, seed % 2 == 0, {}};
  result.capacity = SomeCapacity(result.graph, result.counting, seed);
  result.order = internal::RandomOrder(result.graph, seed);
  return result;
}

// The same with a link. The capacity is one or two bytes more than one operator needs at the most, where
// most graphs do not fit.
inline RecomputeCase LinkedCaseOf(std::uint64_t seed, int most_operators) {
  RecomputeCase result{
      TimedGraphOf(seed, most_operators), CountingOf(seed), 0, LinkOf(seed), seed % 2 == 0, {}};
  result.capacity =
      FindLeastMemory(result.graph, result.counting).bytes + static_cast<Bytes>(seed % 3);
  result.order = internal::RandomOrder(result.graph, seed);
  return result;
}

}  // namespace berth

#endif  // BERTH_TESTS_RECOMPUTE_CASES_H_
