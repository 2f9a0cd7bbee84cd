// Plans in which operators run again: good ones pass, each planted fault is named.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>

#include "berth/graph.h"
#include "tests/graph/build.h"
#include "tools/verify/repeat.h"
#include "tools/verify/verify.h"

namespace berth::verify {
namespace {

using namespace berth::internal;  // NOLINT(google-build-using-namespace)

// B makes b, which W writes in place: C reads it before, D after. c is dropped, and made again of a
// new b. The bytes of the first c lie where d comes to lie.
class PlantedRepeats : public testing::Test {
 protected:
  void SetUp() override {
    graph = WritesBetweenReads().graph;
    plan.order = {0, 1, 2, 3, 4, 1, 2, 5};
    plan.residencies = {{0, 0, 6, 0}, {1, 1, 5, 4}, {1, 5, 7, 4}, {2, 2, 3, 8},
                        {2, 6, 8, 0}, {3, 4, 8, 8}, {4, 7, 8, 4}};
    plan.memories = {{12, 12}};
    plan.traffic.compulsory_out = 4;
    plan.recomputed = {2, 16};
  }

  // The faults of `of` that the verifier names; the library agrees on whether there are any.
  std::string Faults(const MemoryPlan& of, const Counting& counting = {}) {
    const PlanReport report = VerifyPlan(graph, counting, 12, of);
    const auto valid = ValidatePlan(graph, counting, 12, of);
    EXPECT_EQ(report.ok(), valid.has_value()) << (valid ? "" : valid.error().message);
    std::string lines;
    for (const Fault& fault : report.faults) lines += Describe(fault, graph, of) + "\n";
    return lines;
  }
  std::string After(const std::function<void(MemoryPlan&)>& change) {
    MemoryPlan changed = plan;
    change(changed);
    return Faults(changed);
  }

  Graph graph;
  MemoryPlan plan;
};

TEST_F(PlantedRepeats, NoFault) {
  EXPECT_EQ(Faults(plan), "");
  const PlanReport report = VerifyPlan(graph, {}, 12, plan);
  EXPECT_EQ(report.recomputed, (Recomputed{2, 16}));
  EXPECT_EQ(report.peak, 12);
  // Also where nothing has an address.
  plan.addressed = false;
  for (Residency& r : plan.residencies) r.offset = 0;
  EXPECT_EQ(Faults(plan), "");
}

TEST_F(PlantedRepeats, MayRunOnce) {
  graph.operators[1].repeat = Repeat::kNever;
  EXPECT_EQ(Faults(plan),
            "may not repeat: operator \"B\" runs again at step 5 but may run only once\n");
}

TEST_F(PlantedRepeats, AnOldValueIsGone) {
  // C runs again, but on the b that W has written.
  EXPECT_EQ(After([](MemoryPlan& p) {
              p.order = {0, 1, 2, 3, 4, 2, 5};
              p.residencies = {{0, 0, 2, 0}, {1, 1, 6, 4}, {2, 2, 3, 8},
                               {2, 5, 7, 0}, {3, 4, 7, 8}, {4, 6, 7, 4}};
              p.recomputed = {1, 8};
            }),
            "wrong version: operator \"C\" at step 5 finds tensor \"b\" as operator \"W\" left it, "
            "unlike in program order\n");
}

TEST_F(PlantedRepeats, ANewValueIsMissing) {
  // D runs after b was made again, without W.
  EXPECT_EQ(After([](MemoryPlan& p) {
              p.order = {0, 1, 2, 3, 1, 2, 4, 5};
              p.residencies = {{0, 0, 5, 0}, {1, 1, 7, 4}, {2, 2, 3, 8},
                               {2, 5, 8, 0}, {3, 6, 8, 8}, {4, 7, 8, 4}};
            }),
            "wrong version: operator \"D\" at step 6 finds tensor \"b\" as operator \"B\" left it, "
            "unlike in program order\n");
}

TEST_F(PlantedRepeats, AStaleCopy) {
  // b leaves before W writes it, and comes back for D instead of the new value.
  EXPECT_EQ(After([](MemoryPlan& p) {
              p.residencies[1] = {1, 1, 3, 4, false, true};
              p.residencies.insert(p.residencies.begin() + 2, {1, 3, 4, 4, true});
              p.residencies.insert(p.residencies.begin() + 3, {1, 4, 5, 4, true});
              p.traffic.spilled = 4;
              p.traffic.retrieved = 8;
            }),
            "wrong version: operator \"D\" at step 4 finds tensor \"b\" as operator \"B\" left it, "
            "unlike in program order\n");
}

TEST_F(PlantedRepeats, AnOldCopyMayBeWhatIsNeeded) {
  // As b was before W wrote it, for C to run again: instead of B.
  plan.order = {0, 1, 2, 3, 4, 2, 5};
  plan.residencies = {{0, 0, 2, 0},       {1, 1, 3, 4, false, true},
                      {1, 3, 5, 4, true}, {1, 5, 6, 4, true},
                      {2, 2, 3, 8},       {2, 5, 7, 0},
                      {3, 4, 7, 8},       {4, 6, 7, 4}};
  plan.recomputed = {1, 8};
  plan.traffic.spilled = 4;
  plan.traffic.retrieved = 8;
  EXPECT_EQ(Faults(plan), "");
}

TEST_F(PlantedRepeats, ClobberedByAResidencyOfBefore) {
  // The second c lies over d.
  const std::string faults = After([](MemoryPlan& p) { p.residencies[4].offset = 8; });
  EXPECT_NE(faults.find("overlap: \"c\" and \"d\" share bytes [8, 12) at steps [6, 8)"),
            std::string::npos)
      << faults;
  EXPECT_NE(faults.find("clobbered: operator \"E\" at step 7 does not find the latest value of "
                        "tensor \"d\""),
            std::string::npos)
      << faults;
}

TEST_F(PlantedRepeats, NotMadeAgain) {
  // c is used again, but nothing makes it.
  const std::string faults = After([](MemoryPlan& p) {
    p.order.erase(p.order.begin() + 6);
    p.residencies = {{0, 0, 6, 0}, {1, 1, 5, 4}, {1, 5, 6, 4}, {2, 2, 3, 8},
                     {2, 6, 7, 0}, {3, 4, 7, 8}, {4, 6, 7, 4}};
    p.recomputed = {1, 8};
  });
  EXPECT_EQ(faults.substr(0, faults.find('\n')),
            "from nowhere: tensor \"c\" is in memory from step 6 but is neither retrieved nor "
            "created there");
  EXPECT_NE(faults.find("clobbered: operator \"E\" at step 6"), std::string::npos) << faults;
}

TEST_F(PlantedRepeats, MadeAgainForNothing) {
  EXPECT_EQ(After([](MemoryPlan& p) {
              p.residencies[4] = {2, 6, 7, 0};
            }),
            "absent: operator \"E\" at step 7 needs tensor \"c\", which is not in memory\n");
  // A new stay of b without a maker. What is in its bytes happens to be right.
  EXPECT_EQ(After([](MemoryPlan& p) {
              p.residencies[1].end = 4;
              p.residencies.insert(p.residencies.begin() + 2, {1, 4, 5, 4});
            }),
            "from nowhere: tensor \"b\" is in memory from step 4 but is neither retrieved nor "
            "created there\n");
}

TEST_F(PlantedRepeats, WrongFigures) {
  EXPECT_EQ(
      After([](MemoryPlan& p) { p.recomputed.cost = 15; }),
      "wrong cost: the plan states that operators that run again cost 15, but they cost 16\n");
  EXPECT_EQ(After([](MemoryPlan& p) { p.recomputed.operators = 3; }),
            "wrong cost: the plan states that 3 operators run again, but there are 2\n");
  graph.operators[2].cost = 5;
  EXPECT_EQ(Faults(plan),
            "wrong cost: the plan states that operators that run again cost 16, but they cost 5\n");
}

TEST_F(PlantedRepeats, FirstExecutionsAreAnOrder) {
  EXPECT_EQ(
      After([](MemoryPlan& p) { std::swap(p.order[3], p.order[2]); }),
      "too early: operator \"W\" at step 2 must come after operator \"C\"\n"
      "other bytes: operator \"C\" at step 3 reads tensor \"b\" as written by operator \"W\", "
      "unlike in program order\n");
  EXPECT_EQ(After([](MemoryPlan& p) { p.order[7] = 4; }),
            "missing: operator \"E\" is not in the order\n");
}

TEST_F(PlantedRepeats, AResultEndsInItsLastVersion) {
  graph.tensors[1].output = true;
  plan.traffic.compulsory_out += 4;
  EXPECT_EQ(Faults(plan),
            "lost result: tensor \"b\" is neither in memory nor off chip at the end\n");
  plan.residencies[1].written_out = true;  // As W left it.
  EXPECT_EQ(Faults(plan), "");
}

// w is given and not in the plan: an update of it is for good.
TEST_F(PlantedRepeats, OutsideThePlan) {
  graph = Build()
              .Source("w", 4, TensorKind::kParameter)
              .Made("x", 4)
              .Made("y", 4)
              .Made("z", 4)
              .Op("X", {"w"}, {"x"})
              .Op("Y", {"x"}, {"y"})
              .Op("U", {"y"}, {}, {"w"}, {"X"})
              .Op("Z", {"x", "y"}, {"z"})
              .Output("z")
              .graph;
  plan.order = {0, 1, 2, 0, 3};
  plan.residencies = {{1, 0, 2, 0}, {1, 3, 5, 0}, {2, 1, 5, 4}, {3, 4, 5, 8}};
  plan.recomputed = {1, 8};
  EXPECT_EQ(Faults(plan),
            "wrong version: operator \"X\" at step 3 finds tensor \"w\" as operator \"U\" left it, "
            "unlike in program order\n");
  plan.order = {0, 1, 0, 2, 3};
  plan.residencies[1].start = 2;
  EXPECT_EQ(Faults(plan), "");
  // U may not run again; declared pure, it would read what it has written itself.
  plan.order = {0, 1, 0, 2, 2, 3};
  plan.residencies = {{1, 0, 2, 0}, {1, 2, 6, 0}, {2, 1, 6, 4}, {3, 5, 6, 8}};
  plan.recomputed = {2, 16};
  EXPECT_EQ(Faults(plan),
            "may not repeat: operator \"U\" runs again at step 4 but may run only once\n");
  graph.operators[2].repeat = Repeat::kPure;
  EXPECT_EQ(Faults(plan),
            "wrong version: operator \"U\" at step 4 finds tensor \"w\" as operator \"U\" left it, "
            "unlike in program order\n");
  graph.operators[2].skips = {0};
  EXPECT_EQ(Faults(plan), "");
}

// The two readings of which types may run again agree.
TEST(MayRunAgainTest, AsTheLibrarySays) {
  Graph graph;
  graph.operators.push_back({"v", "", {}, {}});
  const auto agree = [&](const std::string& type, bool expected) {
    graph.operators[0].type = type;
    EXPECT_EQ(MayRunAgain(graph, 0), expected) << type;
    EXPECT_EQ(MayRepeat(graph, 0), expected) << type;
  };
  for (const std::string_view name : NamesThatRunOnce()) {
    const std::string plain(name);
    agree(plain, false);
    agree("aten::" + plain, false);
    agree("torch.ops.aten." + plain + ".default", false);
    agree("_" + plain + "_", false);
    std::string capital = plain;
    capital[0] = static_cast<char>(capital[0] - ('a' <= capital[0] && capital[0] <= 'z' ? 32 : 0));
    agree(capital, false);
    agree(plain + "x", true);
  }
  for (const char* type :
       {"_c10d_functional::all_gather_into_tensor", "c10d::anything", "_c10d_functional.wait.x",
        "torch.ops._c10d_functional.foo.default", "all-reduce", "AllReduce", "custom-call",
        "RandomNormalLike", "Multinomial", "VarHandle", "aten::native_dropout",
        "aten::_scaled_dot_product_flash_attention"}) {
    agree(type, false);
  }
  for (const char* type : {"", "Conv", "aten::mm", "Relu", "aten::native_batch_norm", "fusion",
                           "FULLY_CONNECTED", "x::y::z", "..", "::", "aten::random_access"}) {
    agree(type, true);
  }
  graph.operators[0].type = "Conv";
  graph.operators[0].update = true;
  EXPECT_FALSE(MayRunAgain(graph, 0) || MayRepeat(graph, 0));
}

}  // namespace
}  // namespace berth::verify
