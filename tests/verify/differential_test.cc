// The library's ValidatePlan() and the verifier share no code: they have to agree on every plan.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "berth/graph.h"
#include "berth/plan.h"
#include "berth/spill.h"
#include "testing/random_graph.h"
#include "tools/verify/verify.h"

namespace berth::verify {
namespace {

using namespace berth::internal;  // NOLINT(google-build-using-namespace)

struct Case {
  Graph graph;
  Counting counting;
  std::optional<Bytes> capacity;
  MemoryPlan plan;
};

// A plan by Plan(): half of them with spills, some of an order alone.
std::optional<Case> Planned(std::uint64_t seed) {
  Random random(seed);
  GraphKnobs knobs = AllGraphKnobs();
  knobs.min_operators = 4;
  knobs.far_chance = 0.8;
  Case made;
  made.graph = RandomGraph(seed, knobs);
  made.counting = {random.Chance(0.5), random.Chance(0.5)};
  PlanOptions options;
  options.schedule.counting = made.counting;
  options.spill = random.Chance(0.5);
  if (options.spill) {
    made.capacity = FindLeastMemory(made.graph, made.counting).bytes + random.Uniform(0, 3);
    options.capacity = *made.capacity;
  }
  Budget budget;
  const auto answer = Plan(made.graph, options, budget);
  EXPECT_TRUE(answer.has_value()) << answer.error().message;
  if (!answer || !answer->best) return std::nullopt;
  made.plan = *answer->best;
  if (random.Chance(0.1)) {
    made.plan.addressed = false;
    for (Residency& r : made.plan.residencies) r.offset = 0;
    made.plan.memories.front().height = 0;
  }
  return made;
}

class Spoiler {
 public:
  Spoiler(Random& random, const Graph& graph, MemoryPlan& plan)
      : random_(random), graph_(graph), plan_(plan) {}

  // One thing changed.
  void Change() {
    switch (random_.Uniform(0, 15)) {
      case 0:
        return Swap();
      case 1:
        plan_.memories.front().peak += random_.Uniform(-1, 1);
        return;
      case 2:
        plan_.memories.front().height += random_.Uniform(-1, 1);
        return;
      case 3:
        plan_.traffic.retrieved += random_.Uniform(-1, 1);
        return;
      case 4:
      case 5:
        return Insert();
      default:
        if (!plan_.residencies.empty()) ChangeResidency();
    }
  }

 private:
  std::size_t Below(std::size_t count) {
    return static_cast<std::size_t>(random_.Uniform(0, static_cast<std::int64_t>(count) - 1));
  }
  void Swap() {
    const std::size_t s = Below(plan_.order.size() - 1);
    std::swap(plan_.order[s], plan_.order[s + 1]);
  }
  // Another residency, mostly of a tensor that is given.
  void Insert() {
    Residency r;
    for (int tries = 0; tries < 5; ++tries) {
      r.tensor = Below(graph_.tensors.size());
      if (graph_.tensors[r.tensor].kind != TensorKind::kActivation) break;
    }
    r.start = random_.Chance(0.5) ? 0 : random_.Uniform(0, 3);
    r.end = r.start + random_.Uniform(1, 3);
    r.comes_in = random_.Chance(0.3);
    r.written_out = random_.Chance(0.1);
    if (plan_.addressed) r.offset = plan_.height() + 12;
    const auto later = [](const Residency& a, const Residency& b) {
      return a.tensor != b.tensor ? a.tensor < b.tensor : a.start < b.start;
    };
    plan_.residencies.insert(
        std::upper_bound(plan_.residencies.begin(), plan_.residencies.end(), r, later), r);
  }
  void ChangeResidency() {
    const std::size_t i = Below(plan_.residencies.size());
    Residency& r = plan_.residencies[i];
    switch (random_.Uniform(0, 9)) {
      case 0:
        r.offset += random_.Uniform(-2, 2);
        return;
      case 1:
        r.start += random_.Uniform(-1, 1);
        return;
      case 2:
        r.end += random_.Uniform(-1, 1);
        return;
      case 3:
        r.end = static_cast<Step>(plan_.order.size());
        return;
      case 4:
        r.written_out = !r.written_out;
        return;
      case 5:
        r.comes_in = !r.comes_in;
        return;
      case 6:
        plan_.residencies.erase(plan_.residencies.begin() + static_cast<std::ptrdiff_t>(i));
        return;
      case 7:  // There from the start.
        r.start = 0;
        r.comes_in = false;
        return;
      case 8: {  // Away for a step.
        Residency second = r;
        r.end = r.start + 1;
        second.start = r.end + random_.Uniform(0, 1);
        second.comes_in = true;
        if (random_.Chance(0.5)) r.written_out = true;
        plan_.residencies.insert(plan_.residencies.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                 second);
        return;
      }
      default:
        r.memory = 1;
    }
  }

  Random& random_;
  const Graph& graph_;
  MemoryPlan& plan_;
};

bool Agree(const Case& of, bool& valid) {
  const PlanReport report = VerifyPlan(of.graph, of.counting, of.capacity, of.plan);
  const auto validated = ValidatePlan(of.graph, of.counting, of.capacity, of.plan);
  valid = validated.has_value();
  EXPECT_EQ(valid, report.ok()) << (valid ? Describe(report, of.graph, of.plan)
                                          : validated.error().message);
  return valid == report.ok();
}

TEST(DifferentialTest, TheLibraryAndTheVerifierAgreeOnEveryPlan) {
  int changed_and_valid = 0;
  int invalid = 0;
  int preloaded = 0;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto good = Planned(seed);
    if (!good) continue;
    bool valid = false;
    ASSERT_TRUE(Agree(*good, valid));
    EXPECT_TRUE(valid);
    for (const Residency& r : good->plan.residencies) {
      const TensorKind kind = good->graph.tensors[r.tensor].kind;
      const bool given = kind == TensorKind::kInput || kind == TensorKind::kParameter;
      if (given && !r.comes_in) ++preloaded;
    }
    Random random(seed);
    for (int i = 0; i < 20; ++i) {
      Case spoilt = *good;
      for (std::int64_t left = random.Uniform(1, 3); left > 0; --left) {
        Spoiler(random, spoilt.graph, spoilt.plan).Change();
      }
      // Half of the time it states what it does: then only what it does can be wrong.
      if (random.Chance(0.5)) {
        const PlanReport report =
            VerifyPlan(spoilt.graph, spoilt.counting, spoilt.capacity, spoilt.plan);
        spoilt.plan.traffic = report.traffic;
        spoilt.plan.memories.front() = {report.height, report.peak};
      }
      ASSERT_TRUE(Agree(spoilt, valid)) << "change " << i;
      if (!valid) ++invalid;
      if (valid && !(spoilt.plan == good->plan)) ++changed_and_valid;
    }
  }
  EXPECT_GT(changed_and_valid, 1000);
  EXPECT_GT(invalid, 10000);
  EXPECT_GT(preloaded, 500);
}

// A plan without addresses in which operators run again at random; mostly they cannot.
MemoryPlan WithRepeats(Random& random, const Case& of) {
  const Graph& graph = of.graph;
  MemoryPlan plan;
  plan.addressed = false;
  plan.order = of.plan.order;
  for (std::int64_t left = random.Uniform(1, 4); left > 0; --left) {
    const auto at = random.Uniform(1, static_cast<std::int64_t>(plan.order.size()));
    const auto from = random.Uniform(std::max<std::int64_t>(0, at - 4), at - 1);
    plan.order.insert(plan.order.begin() + at, plan.order[static_cast<std::size_t>(from)]);
  }
  const auto steps = static_cast<Step>(plan.order.size());
  for (TensorIndex t = 0; t < graph.tensors.size(); ++t) {
    const Tensor& tensor = graph.tensors[t];
    if (!TakesPart(tensor, of.counting) || tensor.bytes == 0) continue;
    bool result = false;
    for (TensorIndex view = 0; view < graph.tensors.size(); ++view) {
      result |= graph.tensors[view].output && BaseOf(graph, view) == t;
    }
    const bool given =
        tensor.kind != TensorKind::kActivation && tensor.kind != TensorKind::kGradient;
    std::vector<Residency> stays;
    if (given) stays.push_back({t, 0, 1});
    for (Step s = 0; s < steps; ++s) {
      const Operator& op = graph.operators[plan.order[static_cast<std::size_t>(s)]];
      const auto uses = [&](const std::vector<TensorIndex>& list) {
        return std::any_of(list.begin(), list.end(),
                           [&](TensorIndex other) { return BaseOf(graph, other) == t; });
      };
      if (std::find(op.outputs.begin(), op.outputs.end(), t) != op.outputs.end()) {
        // Sometimes it is still there.
        if (stays.empty() || stays.back().end < s || random.Chance(0.7)) {
          if (!stays.empty()) stays.back().end = std::min(stays.back().end, s);
          stays.push_back({t, s, s + 1});
        }
      }
      if (stays.empty()) continue;
      if (uses(op.inputs) || uses(op.outputs) || uses(op.mutates)) stays.back().end = s + 1;
    }
    if (!stays.empty() && (result || (given && tensor.kind != TensorKind::kInput))) {
      stays.back().end = steps;
    }
    plan.residencies.insert(plan.residencies.end(), stays.begin(), stays.end());
  }
  plan.memories = {{0, 0}};
  return plan;
}

TEST(DifferentialTest, TheyAgreeOnPlansThatRunOperatorsAgain) {
  int valid_plans = 0;
  int versioned = 0;
  int invalid = 0;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    GraphKnobs knobs = AllGraphKnobs();
    knobs.min_operators = 3;
    Case made;
    made.graph = RandomGraph(seed, knobs);
    made.counting = {random.Chance(0.5), random.Chance(0.5)};
    made.plan.order = ProgramOrder(made.graph);
    bool writes = false;
    for (Operator& op : made.graph.operators) {
      writes |= !op.mutates.empty();
      if (random.Chance(0.7)) op.repeat = Repeat::kPure;
      if (random.Chance(0.5)) op.cost = random.Uniform(0, 9);
      if (random.Chance(0.3)) op.skips = op.mutates;
      if (random.Chance(0.05)) op.random = true;
    }
    ASSERT_TRUE(Validate(made.graph).has_value());
    for (int i = 0; i < 20; ++i) {
      Case tried = made;
      tried.plan = WithRepeats(random, made);
      if (random.Chance(0.5)) Spoiler(random, tried.graph, tried.plan).Change();
      // Mostly it states what it does.
      if (random.Chance(0.9)) {
        const PlanReport report = VerifyPlan(tried.graph, tried.counting, {}, tried.plan);
        tried.plan.traffic = report.traffic;
        tried.plan.recomputed = report.recomputed;
        tried.plan.memories.front() = {0, report.peak};
      }
      bool valid = false;
      ASSERT_TRUE(Agree(tried, valid)) << "plan " << i;
      (valid ? valid_plans : invalid) += 1;
      versioned += valid && writes ? 1 : 0;
    }
  }
  EXPECT_GT(valid_plans, 4000);
  EXPECT_GT(versioned, 1000);
  EXPECT_GT(invalid, 4000);
}

// Tensors can be there although nothing runs.
TEST(DifferentialTest, AGraphWithoutOperators) {
  Graph graph;
  graph.tensors.push_back({"w", 4, 1, TensorKind::kParameter});
  graph.tensors.push_back({"x", 2, 1, TensorKind::kInput, true});
  const Counting counting{true, true};
  Budget budget;
  PlanOptions options;
  options.schedule.counting = counting;
  const auto answer = Plan(graph, options, budget);
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  ASSERT_TRUE(answer->best.has_value());
  EXPECT_EQ(answer->best->peak(), 6);
  const PlanReport report = VerifyPlan(graph, counting, 6, *answer->best);
  EXPECT_TRUE(report.ok()) << Describe(report, graph, *answer->best);
}

// Bytes that are used often enough for more traffic than Bytes can count: only spills would move
// them.
TEST(DifferentialTest, LargeTensorsThatAreNotSpilled) {
  Graph graph;
  graph.tensors.push_back({"a", kMaxBytes / 2});
  graph.operators.push_back({"make", "Op", {}, {0}});
  for (int i = 0; i < 4; ++i)
    graph.operators.push_back({"read" + std::to_string(i), "Op", {0}, {}});
  Budget budget;
  const auto answer = Plan(graph, {}, budget);
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  const PlanReport report = VerifyPlan(graph, {}, std::nullopt, *answer->best);
  EXPECT_TRUE(report.ok()) << Describe(report, graph, *answer->best);
}

}  // namespace
}  // namespace berth::verify
