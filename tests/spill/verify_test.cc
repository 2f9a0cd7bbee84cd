// The independent checker of plans with spills: valid plans pass, each planted fault is named.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/random.h"
#include "berth/place.h"
#include "berth/spill.h"
#include "testing/random_graph.h"
#include "testing/spill_oracle.h"
#include "tests/graph/build.h"
#include "tools/verify/verify_spill.h"

namespace berth::internal {
namespace {

// x is spilled while the large operator runs; z is created in between.
class PlantedFaults : public testing::Test {
 protected:
  void SetUp() override {
    graph = OneSpill().graph;
    SpillOptions options;
    options.capacity = 12;
    options.placer = [](const Problem& problem, Budget& budget) {
      return Place(problem, {}, budget);
    };
    Budget budget;
    auto answer = PlanWithSpills(graph, options, budget);
    ASSERT_TRUE(answer.has_value() && answer->best.has_value());
    plan = *answer->best;
    ASSERT_TRUE(VerifySpillPlan(graph, {}, 12, plan).ok());
    // x twice, then y, z, w.
    ASSERT_EQ(plan.residencies.size(), 5u);
    ASSERT_TRUE(plan.residencies[0].written_out);
    ASSERT_TRUE(plan.residencies[1].comes_in);
  }

  // Both checkers reject it, and the independent one names the fault.
  void ExpectFault(const SpillPlan& wrong, SpillFaultKind kind, const std::string& named,
                   Bytes capacity = 12) {
    const SpillReport report = VerifySpillPlan(graph, {}, capacity, wrong);
    const bool found =
        std::any_of(report.faults.begin(), report.faults.end(), [&](const SpillFault& fault) {
          return fault.kind == kind &&
                 Describe(fault, graph, wrong).find(named) != std::string::npos;
        });
    std::string all;
    for (const SpillFault& fault : report.faults) all += Describe(fault, graph, wrong) + "\n";
    EXPECT_TRUE(found) << "not found: " << named << "\n" << all;
    EXPECT_FALSE(ValidateSpillPlan(graph, {}, capacity, wrong).has_value());
  }

  Graph graph;
  SpillPlan plan;
};

TEST_F(PlantedFaults, MissingRetrieve) {
  SpillPlan wrong = plan;
  wrong.residencies.erase(wrong.residencies.begin() + 1);
  wrong.traffic.retrieved = 0;
  ExpectFault(wrong, SpillFaultKind::kAbsent,
              "operator \"join\" at step 3 needs tensor \"x\", which is not in memory");
  EXPECT_NE(ValidateSpillPlan(graph, {}, 12, wrong).error().message.find("\"join\""),
            std::string::npos);
}

TEST_F(PlantedFaults, MissingWrite) {
  SpillPlan wrong = plan;
  wrong.residencies[0].written_out = false;
  wrong.traffic.spilled = 0;
  ExpectFault(wrong, SpillFaultKind::kNoCopy, "tensor \"x\" is retrieved at step 3");
}

TEST_F(PlantedFaults, OverlapAfterAMove) {
  SpillPlan wrong = plan;
  // The second residency of x, moved onto z.
  wrong.residencies[1].offset = wrong.residencies[3].offset;
  wrong.height = 0;
  for (const Residency& r : wrong.residencies) {
    wrong.height = std::max(wrong.height, r.offset + graph.tensors[r.tensor].bytes);
  }
  ExpectFault(wrong, SpillFaultKind::kOverlap, "\"x\" and \"z\" share bytes at step 3");
  ExpectFault(wrong, SpillFaultKind::kClobbered, "operator \"join\" at step 3");
}

TEST_F(PlantedFaults, SpillOfADeadTensor) {
  SpillPlan wrong = plan;
  wrong.residencies[2].written_out = true;  // y is never used again.
  wrong.traffic.spilled += 4;
  ExpectFault(wrong, SpillFaultKind::kDeadSpill, "tensor \"y\" is spilled");
}

TEST_F(PlantedFaults, SpillWithAValidCopy) {
  SpillPlan wrong = plan;
  wrong.residencies[1].written_out = true;
  ExpectFault(wrong, SpillFaultKind::kDeadSpill, "tensor \"x\" is spilled");
}

TEST_F(PlantedFaults, LostResult) {
  SpillPlan wrong = plan;
  wrong.residencies[4].written_out = false;
  // The result is created last and stays to the end, which is enough.
  EXPECT_TRUE(VerifySpillPlan(graph, {}, 12, wrong).ok());
  // Created earlier and dropped, it is lost.
  graph.tensors[wrong.residencies[3].tensor].output = true;
  wrong.traffic.compulsory_out += 6;
  wrong.residencies[3].end = 4;
  EXPECT_TRUE(VerifySpillPlan(graph, {}, 12, wrong).ok());
  graph.tensors[wrong.residencies[2].tensor].output = true;
  wrong.traffic.compulsory_out += 4;
  ExpectFault(wrong, SpillFaultKind::kLostResult, "tensor \"y\"");
}

TEST_F(PlantedFaults, BeyondTheCapacity) {
  ExpectFault(plan, SpillFaultKind::kBeyondCapacity, "beyond capacity", 11);
}

TEST_F(PlantedFaults, SpilledTooEarly) {
  SpillPlan wrong = plan;
  wrong.residencies[0].end = 1;  // Before y is computed from x.
  ExpectFault(wrong, SpillFaultKind::kAbsent, "operator \"make y\" at step 1 needs tensor \"x\"");
}

TEST_F(PlantedFaults, FalseFigures) {
  SpillPlan wrong = plan;
  wrong.traffic.retrieved -= 4;
  ExpectFault(wrong, SpillFaultKind::kWrongTraffic, "wrong traffic");
  wrong = plan;
  wrong.height -= 1;
  ExpectFault(wrong, SpillFaultKind::kWrongHeight, "wrong height");
}

TEST_F(PlantedFaults, NoOrder) {
  SpillPlan wrong = plan;
  std::swap(wrong.order[0], wrong.order[1]);
  ExpectFault(wrong, SpillFaultKind::kBadOrder, "bad order");
}

TEST_F(PlantedFaults, Anything) {
  SpillPlan wrong = plan;
  wrong.residencies[0].tensor = 99;
  ExpectFault(wrong, SpillFaultKind::kBadResidency, "bad residency");
  wrong = plan;
  wrong.residencies[0].end = 99;
  ExpectFault(wrong, SpillFaultKind::kBadResidency, "bad residency");
}

// Both checkers agree on random plans, valid and damaged ones.
TEST(VerifySpill, AgreesWithValidation) {
  int spoilt = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    GraphKnobs knobs = AllGraphKnobs();
    knobs.min_operators = 4;
    knobs.far_chance = 0.8;
    const Graph graph = RandomGraph(seed, knobs);
    SpillOptions options;
    options.counting = {random.Chance(0.4), random.Chance(0.4)};
    options.capacity = FindLeastMemory(graph, options.counting).bytes + random.Uniform(0, 3);
    options.placer = [](const Problem& problem, Budget& budget) {
      return Place(problem, {}, budget);
    };
    Budget budget;
    const auto answer = PlanWithSpills(graph, options, budget);
    ASSERT_TRUE(answer.has_value());
    if (!answer->best) continue;
    SpillPlan plan = *answer->best;
    const SpillReport report = VerifySpillPlan(graph, options.counting, options.capacity, plan);
    EXPECT_TRUE(report.ok()) << Describe(report.faults[0], graph, plan);
    if (plan.residencies.empty()) continue;
    // One thing changed.
    const auto i = static_cast<std::size_t>(
        random.Uniform(0, static_cast<std::int64_t>(plan.residencies.size()) - 1));
    Residency& r = plan.residencies[i];
    switch (random.Uniform(0, 4)) {
      case 0:
        r.offset += random.Uniform(-2, 2);
        break;
      case 1:
        r.start += random.Uniform(-1, 1);
        break;
      case 2:
        r.end += random.Uniform(-1, 1);
        break;
      case 3:
        r.written_out = !r.written_out;
        break;
      default:
        r.comes_in = !r.comes_in;
    }
    const bool valid =
        ValidateSpillPlan(graph, options.counting, options.capacity, plan).has_value();
    const SpillReport second = VerifySpillPlan(graph, options.counting, options.capacity, plan);
    EXPECT_EQ(valid, second.ok())
        << (second.ok()
                ? ValidateSpillPlan(graph, options.counting, options.capacity, plan).error().message
                : Describe(second.faults[0], graph, plan));
    spoilt += valid ? 0 : 1;
  }
  EXPECT_GT(spoilt, 100);
}

}  // namespace
}  // namespace berth::internal
