// The verifier of plans of graphs: good plans pass, each planted fault is named.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "berth/graph.h"
#include "berth/place.h"
#include "berth/spill.h"
#include "tests/graph/build.h"
#include "tools/verify/verify.h"

namespace berth::verify {
namespace {

using namespace berth::internal;  // NOLINT(google-build-using-namespace)

// x leaves while the large operator runs; z comes in between.
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
    ASSERT_TRUE(VerifyPlan(graph, {}, 12, plan).ok());
    // x twice, y, z, w.
    ASSERT_EQ(plan.residencies.size(), 5u);
    ASSERT_TRUE(plan.residencies[0].written_out);
    ASSERT_TRUE(plan.residencies[1].comes_in);
  }

  // Both checkers say no, and the independent one says what.
  void ExpectFault(const MemoryPlan& wrong, FaultKind kind, const std::string& named,
                   Bytes capacity = 12) {
    const PlanReport report = VerifyPlan(graph, {}, capacity, wrong);
    const bool found =
        std::any_of(report.faults.begin(), report.faults.end(), [&](const Fault& fault) {
          return fault.kind == kind &&
                 Describe(fault, graph, wrong).find(named) != std::string::npos;
        });
    std::string all;
    for (const Fault& fault : report.faults) all += Describe(fault, graph, wrong) + "\n";
    EXPECT_TRUE(found) << "not found: " << named << "\n" << all;
    const auto valid = ValidatePlan(graph, {}, capacity, wrong);
    ASSERT_FALSE(valid.has_value());
    ExpectSubject(valid.error());
  }

  // The subject is the operator or tensor that the message begins with, be it a residency of it.
  void ExpectSubject(const Error& error) const {
    Subject expected;
    for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
      for (const char* before :
           {"tensor \"", "buffer \"", "a residency of tensor \"", "the residencies of tensor \""}) {
        const std::string start = before + graph.tensors[t].name;
        if (error.message.starts_with(start + "\"") || error.message.starts_with(start + "#")) {
          expected = Subject::OfTensor(t);
        }
      }
    }
    for (std::size_t v = 0; v < graph.operators.size(); ++v) {
      if (error.message.starts_with("operator \"" + graph.operators[v].name + "\"")) {
        expected = Subject::OfOperator(v);
      }
    }
    EXPECT_EQ(error.subject, expected) << error.message;
  }

  Graph graph;
  MemoryPlan plan;
};

TEST_F(PlantedFaults, MissingRetrieve) {
  MemoryPlan wrong = plan;
  wrong.residencies.erase(wrong.residencies.begin() + 1);
  wrong.traffic.retrieved = 0;
  ExpectFault(wrong, FaultKind::kAbsent,
              "operator \"join\" at step 3 needs tensor \"x\", which is not in memory");
  EXPECT_NE(ValidatePlan(graph, {}, 12, wrong).error().message.find("\"join\""), std::string::npos);
}

TEST_F(PlantedFaults, MissingWrite) {
  MemoryPlan wrong = plan;
  wrong.residencies[0].written_out = false;
  wrong.traffic.spilled = 0;
  ExpectFault(wrong, FaultKind::kNoCopy, "tensor \"x\" is retrieved at step 3");
}

TEST_F(PlantedFaults, OverlapAfterAMove) {
  MemoryPlan wrong = plan;
  // The second stay of x, moved onto z.
  wrong.residencies[1].offset = wrong.residencies[3].offset;
  wrong.memories[0].height = 0;
  for (const Residency& r : wrong.residencies) {
    wrong.memories[0].height = std::max(wrong.height(), r.offset + graph.tensors[r.tensor].bytes);
  }
  ExpectFault(wrong, FaultKind::kOverlap,
              "overlap: \"x\" and \"z\" share bytes [0, 4) at steps [3, 4)");
  ExpectFault(wrong, FaultKind::kClobbered, "operator \"join\" at step 3");
}

TEST_F(PlantedFaults, SpillOfADeadTensor) {
  MemoryPlan wrong = plan;
  wrong.residencies[2].written_out = true;  // y is never used again.
  wrong.traffic.spilled += 4;
  ExpectFault(wrong, FaultKind::kDeadSpill, "tensor \"y\" is spilled");
}

TEST_F(PlantedFaults, SpillWithAValidCopy) {
  MemoryPlan wrong = plan;
  wrong.residencies[1].written_out = true;
  ExpectFault(wrong, FaultKind::kDeadSpill, "tensor \"x\" is spilled");
}

TEST_F(PlantedFaults, LostResult) {
  MemoryPlan wrong = plan;
  wrong.residencies[4].written_out = false;
  // The result is the last thing made, and stays to the end: that is enough.
  EXPECT_TRUE(VerifyPlan(graph, {}, 12, wrong).ok());
  // Made earlier and gone, it is not.
  graph.tensors[wrong.residencies[3].tensor].output = true;
  wrong.traffic.compulsory_out += 6;
  wrong.residencies[3].end = 4;
  EXPECT_TRUE(VerifyPlan(graph, {}, 12, wrong).ok());
  graph.tensors[wrong.residencies[2].tensor].output = true;
  wrong.traffic.compulsory_out += 4;
  ExpectFault(wrong, FaultKind::kLostResult, "tensor \"y\"");
}

TEST_F(PlantedFaults, BeyondTheCapacity) {
  ExpectFault(plan, FaultKind::kBeyondCapacity, "beyond capacity", 11);
}

TEST_F(PlantedFaults, LeavesTooEarly) {
  MemoryPlan wrong = plan;
  wrong.residencies[0].end = 1;  // Before y is made of x.
  ExpectFault(wrong, FaultKind::kAbsent, "operator \"make y\" at step 1 needs tensor \"x\"");
}

TEST_F(PlantedFaults, FalseFigures) {
  MemoryPlan wrong = plan;
  wrong.traffic.retrieved -= 4;
  ExpectFault(wrong, FaultKind::kWrongTraffic,
              "wrong traffic: the plan states 0 bytes retrieved, but has 4");
  wrong = plan;
  wrong.memories[0].height -= 1;
  ExpectFault(wrong, FaultKind::kWrongHeight,
              "wrong height: the plan states 11 bytes, but its residencies reach 12");
  wrong = plan;
  wrong.memories[0].peak += 1;
  ExpectFault(wrong, FaultKind::kWrongPeak, "wrong peak: the plan states 13 bytes, but has 12");
}

TEST_F(PlantedFaults, NoOrder) {
  MemoryPlan wrong = plan;
  std::swap(wrong.order[0], wrong.order[1]);
  ExpectFault(wrong, FaultKind::kNotMade,
              "not made: operator \"make y\" at step 0 needs tensor \"x\", made only later by "
              "operator \"make x\"");
  wrong = plan;
  wrong.order.pop_back();
  ExpectFault(wrong, FaultKind::kMissing, "missing: operator \"join\" is not in the order");
}

TEST_F(PlantedFaults, Anything) {
  MemoryPlan wrong = plan;
  wrong.residencies[0].tensor = 99;
  ExpectFault(wrong, FaultKind::kBadResidency, "bad residency");
  wrong = plan;
  wrong.residencies[0].end = 99;
  ExpectFault(wrong, FaultKind::kBadResidency, "bad residency");
  wrong = plan;
  std::swap(wrong.residencies[0], wrong.residencies[1]);
  ExpectFault(wrong, FaultKind::kBadResidency, "begins before another of its tensor has ended");
  wrong = plan;
  std::swap(wrong.residencies[1], wrong.residencies[2]);
  ExpectFault(wrong, FaultKind::kBadResidency, "comes after one of a later tensor");
  wrong = plan;
  wrong.residencies[0].memory = 1;
  ExpectFault(wrong, FaultKind::kBadResidency, "is in another memory");
  wrong = plan;
  wrong.memories.emplace_back();
  ExpectFault(wrong, FaultKind::kWrongCount, "wrong count: 2 memories");
}

// A plan without spills: x is an input, w a weight, u an input that no operator uses.
class Preloaded : public testing::Test {
 protected:
  void SetUp() override {
    graph = Build()
                .Source("x", 4)
                .Source("w", 8, TensorKind::kParameter)
                .Source("u", 2)
                .Made("a", 4)
                .Made("b", 4)
                .Op("A", {"x"}, {"a"})
                .Op("B", {"a", "w"}, {"b"})
                .Op("C", {"b"}, {}, {"w"})
                .Output("b")
                .graph;
    plan.order = {0, 1, 2};
    plan.residencies = {{0, 0, 1, 0}, {1, 0, 3, 8}, {3, 0, 2, 4}, {4, 1, 3, 0}};
    plan.memories = {{16, 16}};
    plan.traffic.compulsory_in = 12;
    plan.traffic.compulsory_out = 12;
  }

  // The faults that the verifier names; the library's own validation agrees that there are any.
  std::string Faults(const MemoryPlan& of) {
    const PlanReport report = VerifyPlan(graph, {true, true}, 20, of);
    EXPECT_EQ(report.ok(), ValidatePlan(graph, {true, true}, 20, of).has_value());
    std::string lines;
    for (const Fault& fault : report.faults) lines += Describe(fault, graph, of) + "\n";
    return lines;
  }

  Graph graph;
  MemoryPlan plan;
};

TEST_F(Preloaded, GivenTensorsMayBeThereFromTheStart) {
  EXPECT_EQ(Faults(plan), "");
  MemoryPlan longer = plan;
  longer.residencies = {{0, 0, 2, 16}, {1, 0, 3, 8}, {3, 0, 2, 4}, {4, 1, 3, 0}};
  longer.memories = {{20, 20}};
  EXPECT_EQ(Faults(longer), "");
  // Also what no operator uses.
  MemoryPlan unused = plan;
  unused.residencies.insert(unused.residencies.begin() + 2, {2, 0, 1, 16});
  unused.memories = {{18, 18}};
  EXPECT_EQ(Faults(unused), "");
  // A new value of a weight that was there from the start need not be kept.
  MemoryPlan inputs = plan;
  inputs.residencies[1].comes_in = true;
  EXPECT_EQ(Faults(inputs), "");
}

TEST_F(Preloaded, ButNotFromLaterOn) {
  MemoryPlan wrong = plan;
  wrong.residencies[1].start = 1;
  EXPECT_EQ(
      Faults(wrong),
      "from nowhere: tensor \"w\" is in memory from step 1 but is neither retrieved nor created "
      "there\nclobbered: operator \"B\" at step 1 does not find the latest value of "
      "tensor \"w\"\n");
  wrong = plan;
  wrong.residencies.insert(wrong.residencies.begin() + 2, {2, 1, 2, 16});
  wrong.memories = {{18, 18}};
  EXPECT_EQ(Faults(wrong).substr(0, 28), "from nowhere: tensor \"u\" is");
  wrong.residencies[2] = {2, 0, 1, 16, false, true};
  EXPECT_EQ(Faults(wrong),
            "dead spill: tensor \"u\" is spilled at step 1 but no operator needs it again\n"
            "wrong traffic: the plan states 0 bytes spilled, but has 2\n");
  wrong.residencies[2] = {2, 0, 1, 16};
  wrong.residencies.insert(wrong.residencies.begin() + 3, {2, 1, 2, 16, true});
  EXPECT_EQ(Faults(wrong),
            "useless residency: tensor \"u\" is in memory until step 2 but no operator creates or "
            "uses it there\nwrong traffic: the plan states 0 bytes retrieved, but has 2\n");
}

TEST_F(Preloaded, ResultsMayStayToTheEnd) {
  MemoryPlan wrong = plan;
  graph.tensors[3].output = true;
  wrong.traffic.compulsory_out += 4;
  EXPECT_EQ(Faults(wrong),
            "lost result: tensor \"a\" is neither in memory nor off chip at the end\n");
  wrong.residencies[2].written_out = true;
  EXPECT_EQ(Faults(wrong), "");
  wrong.residencies[2] = {3, 0, 3, 4};
  EXPECT_EQ(Faults(wrong), "");
}

TEST_F(Preloaded, WithoutAddressesTheRestIsChecked) {
  MemoryPlan order_alone = plan;
  order_alone.addressed = false;
  for (Residency& r : order_alone.residencies) r.offset = 0;
  EXPECT_EQ(Faults(order_alone), "");
  EXPECT_EQ(VerifyPlan(graph, {true, true}, 20, order_alone).height, 0);
  order_alone.memories[0].peak = 20;
  EXPECT_EQ(Faults(order_alone), "wrong peak: the plan states 20 bytes, but has 16\n");
  order_alone.memories[0].peak = 16;
  order_alone.residencies[2].end = 1;
  EXPECT_EQ(Faults(order_alone).substr(0, 50),
            "absent: operator \"B\" at step 1 needs tensor \"a\", wh");
}

// Far more overlaps than could be listed, and tensors that cover the pieces of many others.
TEST(VerifyPlanTest, LargePlansTakeNoLongerThanTheirSize) {
  constexpr std::size_t kCount = 100'000;
  Build b;
  Graph& graph = b.graph;
  MemoryPlan plan;
  plan.memories = {{0, 0}};
  graph.tensors.push_back({"large", Bytes{4} * kCount});
  graph.operators.push_back({"first", "Op", {}, {0}});
  for (std::size_t v = 0; v < kCount; ++v) {
    graph.tensors.push_back({"t" + std::to_string(v), 4});
    graph.operators.push_back({"o" + std::to_string(v), "Op", {0, v}, {v + 1}});
    plan.order.push_back(v);
  }
  plan.order.push_back(kCount);
  const auto steps = static_cast<Step>(plan.order.size());
  plan.residencies.push_back({0, 0, steps, 4 * static_cast<Bytes>(kCount)});
  for (std::size_t v = 1; v <= kCount; ++v) {
    const auto step = static_cast<Step>(v);
    plan.residencies.push_back({v, step, std::min(steps, step + 2), 4 * (step - 1)});
  }
  plan.memories = {{8 * static_cast<Bytes>(kCount), 4 * static_cast<Bytes>(kCount) + 8}};
  const PlanReport good = VerifyPlan(graph, {}, std::nullopt, plan);
  EXPECT_TRUE(good.ok()) << Describe(good, graph, plan);
  for (Residency& r : plan.residencies) {
    r.offset = 0;
    r.end = steps;
  }
  plan.residencies[0].offset = 2;
  const PlanReport bad = VerifyPlan(graph, {}, std::nullopt, plan, 10);
  EXPECT_EQ(bad.faults.size(), 10U);
  EXPECT_GT(bad.more, std::int64_t{kCount} * (kCount - 1) / 2);
}

}  // namespace
}  // namespace berth::verify
