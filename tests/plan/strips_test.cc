#include "plan/strips.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "berth/advise.h"
#include "plan/chains.h"
#include "testing/order_oracle.h"
#include "testing/random_graph.h"
#include "tests/graph/build.h"
#include "tools/verify/verify.h"

namespace berth::internal::plan {
namespace {

// The last operator of `build` slides over rows of `input`.
Build& Slides(Build& build, const std::string& input, std::int64_t rows, std::int64_t result,
              std::int64_t stride = 1, std::int64_t extent = 1, std::int64_t before = 0) {
  build.graph.operators.back().receptive_fields.push_back(
      {2, rows, result, stride, extent, before, {build.T(input)}});
  return build;
}

// in --conv, kernel 3, padding 1--> x --relu--> y --pool of 2--> z --global pool--> out
Build ConvReluPool() {
  Build b = Build().Source("in", 64).Made("x", 64).Made("y", 64).Made("z", 32).Made("out", 4);
  Slides(b.Op("conv", {"in"}, {"x"}), "in", 8, 8, 1, 3, 1);
  Slides(b.Op("relu", {"x"}, {"y"}), "x", 8, 8);
  Slides(b.Op("pool", {"y"}, {"z"}), "y", 8, 4, 2, 2);
  b.Op("global pool", {"z"}, {"out"}).Output("out");
  return b;
}

void ExpectValid(const SplitGraph& split) {
  const auto valid = Validate(split.graph);
  ASSERT_TRUE(valid) << valid.error().message;
  const auto order = ValidateOrder(split.graph, split.order);
  ASSERT_TRUE(order) << order.error().message;
  EXPECT_TRUE(ValidateOrder(split.graph, ProgramOrder(split.graph)));
  EXPECT_TRUE(verify::VerifyOrder(split.graph, split.order).ok());
}

// Each row of the output is computed from the rows that a kernel touches: kernel, stride, dilation
// and padding are tried one element at a time.
TEST(StripsTest, InputRowsAreThoseThatAKernelTouches) {
  Random random(1);
  for (int i = 0; i < 3000; ++i) {
    const std::int64_t kernel = random.Uniform(1, 5);
    const std::int64_t stride = random.Uniform(1, 4);
    const std::int64_t dilation = random.Uniform(1, 3);
    const std::int64_t extent = dilation * (kernel - 1) + 1;
    const std::int64_t before = random.Uniform(0, 4);
    const std::int64_t after = random.Uniform(0, 4);
    const std::int64_t rows = random.Uniform(1, 20);
    if (rows + before + after < extent) continue;
    const std::int64_t result = (rows + before + after - extent) / stride + 1;
    const ReceptiveField field{2, rows, result, stride, extent, before, {0}};
    const std::int64_t begin = random.Uniform(0, result - 1);
    const std::int64_t end = random.Uniform(begin + 1, result);
    std::optional<Rows> touched;
    for (std::int64_t row = begin; row < end; ++row) {
      for (std::int64_t k = 0; k < kernel; ++k) {
        const std::int64_t in = row * stride - before + k * dilation;
        if (in < 0 || in >= rows) continue;
        if (!touched) touched = Rows{in, in + 1};
        touched = Rows{std::min(touched->begin, in), std::max(touched->end, in + 1)};
      }
    }
    const Rows needed = InputRows(field, {begin, end});
    if (dilation == 1) {
      EXPECT_EQ(needed, touched.value_or(Rows{}));
    } else if (
        touched) {  // Rows between those that a dilated kernel touches lie in the strip, too.
      EXPECT_LE(needed.begin, touched->begin);
      EXPECT_GE(needed.end, touched->end);
    }
  }
}

TEST(StripsTest, AStripHasTheBytesOfItsRows) {
  EXPECT_EQ(BytesOfRows({"x", 64}, 3, 8), 24);
  EXPECT_EQ(BytesOfRows({"x", 65}, 3, 8), 25);  // Rounded up.
  EXPECT_EQ(BytesOfRows({"x", 64, 16}, 3, 8), 32);
  EXPECT_EQ(BytesOfRows({"x", 64, 48}, 3, 8), 24);  // Not padded as a whole either.
  EXPECT_EQ(BytesOfRows({"x", std::int64_t{1} << 60}, 3, 1 << 30), std::int64_t{3} << 30);
}

// By hand: two strips of two rows of z need rows 0 to 3 and 4 to 7 of y and x, 32 bytes each, and
// rows 0 to 4 and 3 to 7 of the input. With z there are 32 + 32 + 32 bytes.
TEST(StripsTest, PeaksByHand) {
  const Build b = ConvReluPool();
  const Order order = ProgramOrder(b.graph);
  EXPECT_EQ(Live(b.graph, order).peak, 128);
  const Chain chain{{0, 1, 2}, 2};
  for (const auto& [count, peak] : std::map<std::int64_t, Bytes>{{2, 96}, {4, 64}}) {
    const Strips strips = StripsOf(b.graph, chain, count);
    EXPECT_EQ(strips.rows.size(), static_cast<std::size_t>(count));
    EXPECT_EQ(strips.halo, 2);
    EXPECT_EQ(strips.recomputed, 0);
    EXPECT_EQ(strips.made, 160);
    const SplitGraph split = SplitIntoStrips(b.graph, order, chain, strips);
    ExpectValid(split);
    EXPECT_EQ(Live(split.graph, split.order).peak, peak);
  }
  EXPECT_EQ(StripsOf(b.graph, chain, 2).rows[1][0], (Rows{4, 8}));
}

// Two convolutions of kernel 3: of the first, a row on either side of each boundary is computed
// twice. Two strips of four rows need 5 rows of x each.
TEST(StripsTest, WhatIsComputedTwiceIsCounted) {
  Build b = Build().Source("in", 80).Made("x", 80).Made("y", 80).Made("z", 8);
  Slides(b.Op("conv", {"in"}, {"x"}), "in", 8, 8, 1, 3, 1);
  Slides(b.Op("conv 2", {"x"}, {"y"}), "x", 8, 8, 1, 3, 1);
  b.Op("end", {"y"}, {"z"}).Output("z");
  const Chain chain{{0, 1}, 2};
  const Strips strips = StripsOf(b.graph, chain, 2);
  EXPECT_EQ(strips.rows[0][0], (Rows{0, 5}));
  EXPECT_EQ(strips.rows[1][0], (Rows{3, 8}));
  EXPECT_EQ(strips.recomputed, 20);
  EXPECT_EQ(strips.halo, 4);  // Of the input: it accumulates.
  const SplitGraph split = SplitIntoStrips(b.graph, {0, 1, 2}, chain, strips);
  ExpectValid(split);
  EXPECT_EQ(Live(split.graph, split.order).peak, 130);
}

// The strips of the chain are found, and the load that they are said to have is that of the graph.
TEST(StripsTest, TheChainAtThePeakIsFound) {
  const Build b = ConvReluPool();
  Budget budget;
  const auto found = FindChain(b.graph, ProgramOrder(b.graph), {}, {}, budget);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->chain.operators, (std::vector<OperatorIndex>{0, 1, 2}));
  EXPECT_EQ(found->strips.rows.size(), 4u);
  EXPECT_EQ(found->peak, 64);
  // With enough memory for two strips there are two.
  const auto two = FindChain(b.graph, ProgramOrder(b.graph), {}, {100}, budget);
  ASSERT_TRUE(two.has_value());
  EXPECT_EQ(two->strips.rows.size(), 2u);
}

TEST(StripsTest, WhatIsNeededWholeIsNotSplit) {
  const auto found = [](const Build& b) {
    EXPECT_TRUE(Validate(b.graph));
    Budget budget;
    return FindChain(b.graph, ProgramOrder(b.graph), {}, {}, budget).has_value();
  };
  EXPECT_TRUE(found(ConvReluPool()));
  // Reduced along the axis, as by a softmax or a global pool, or not known.
  Build whole = ConvReluPool();
  whole.graph.operators[1].receptive_fields.clear();
  EXPECT_FALSE(found(whole));
  // Results of the graph.
  Build result = ConvReluPool();
  result.Output("x").Output("y");
  EXPECT_FALSE(found(result));
  // Views may show the rows in another way.
  Build view = ConvReluPool();
  view.View("x again", 64, "x").View("y again", 64, "y");
  view.Op("reshape", {"x"}, {"x again"}).Op("reshape 2", {"y"}, {"y again"});
  EXPECT_FALSE(found(view));
  // Rows that are counted in two ways.
  Build other = ConvReluPool();
  other.graph.operators[1].receptive_fields[0].input_rows = 16;
  other.graph.operators[2].receptive_fields[0].input_rows = 16;
  EXPECT_FALSE(found(other));
}

TEST(StripsTest, OutOfBudgetNothingIsFound) {
  const Build b = ConvReluPool();
  Budget budget;
  budget.SetNodeLimit(0);
  EXPECT_FALSE(FindChain(b.graph, ProgramOrder(b.graph), {}, {}, budget).has_value());
}

// ---- Random chains with branches, computed whole and in strips.

struct RandomChain {
  Build build;
  std::vector<std::int64_t> kernel;    // By operator.
  std::vector<std::int64_t> dilation;  // By operator.
  std::vector<std::int64_t> rows;      // Of the output of each.
};

std::string Name(std::size_t i) { return "t" + std::to_string(i); }

// Convolutions and element-wise operators of one or two operands, each with the outputs before it;
// the last reads all that nothing else read.
RandomChain MakeChain(std::uint64_t seed) {
  Random random(seed);
  RandomChain chain;
  Build& b = chain.build;
  const std::int64_t height = random.Uniform(4, 24);
  b.Source("in", 16 * height);
  std::vector<std::string> tensors = {"in"};
  std::vector<std::int64_t> rows = {height};
  const std::int64_t operators = random.Uniform(2, 7);
  for (std::int64_t v = 0; v < operators; ++v) {
    const auto from = static_cast<std::size_t>(std::max<std::int64_t>(
        static_cast<std::int64_t>(tensors.size()) - random.Uniform(1, 2), 0));
    const bool adds = random.Uniform(0, 2) == 0;
    std::int64_t kernel = adds ? 1 : random.Uniform(1, 4);
    const std::int64_t dilation = random.Uniform(1, 2);
    const std::int64_t extent = dilation * (kernel - 1) + 1;
    const std::int64_t before = adds ? 0 : random.Uniform(0, extent - 1);
    const std::int64_t after = adds ? 0 : random.Uniform(0, extent - 1);
    const std::int64_t stride = adds ? 1 : random.Uniform(1, 2);
    if (rows[from] + before + after < extent) continue;
    const std::int64_t result = (rows[from] + before + after - extent) / stride + 1;
    const std::string made = Name(tensors.size());
    std::vector<std::string> inputs = {tensors[from]};
    for (std::size_t i = 0; adds && i < tensors.size(); ++i) {
      if (i != from && rows[i] == rows[from] && inputs.size() == 1) inputs.push_back(tensors[i]);
    }
    b.Made(made, 16 * result).Op("make " + made, inputs, {made});
    ReceptiveField field{2, rows[from], result, stride, extent, before, {}};
    for (const std::string& input : inputs) field.inputs.push_back(b.T(input));
    b.graph.operators.back().receptive_fields.push_back(field);
    chain.kernel.push_back(kernel);
    chain.dilation.push_back(dilation);
    chain.rows.push_back(result);
    tensors.push_back(made);
    rows.push_back(result);
  }
  b.Made("end", 4).Op("end", {tensors.back()}, {"end"}).Output("end");
  return chain;
}

// One number for each row; rows that were not computed are missing.
using Values = std::map<std::int64_t, std::int64_t>;

// `rows` of the output of operator `v`, as a convolution with weights 1, 2, ... of all inputs.
Values Compute(const RandomChain& chain, OperatorIndex v, Rows rows,
               const std::map<TensorIndex, Values>& values) {
  const ReceptiveField& field = chain.build.graph.operators[v].receptive_fields[0];
  Values made;
  for (std::int64_t row = rows.begin; row < rows.end; ++row) {
    std::int64_t sum = 0;
    for (const TensorIndex t : field.inputs) {
      for (std::int64_t k = 0; k < chain.kernel[v]; ++k) {
        const std::int64_t in = row * field.stride - field.before + k * chain.dilation[v];
        if (in < 0 || in >= field.input_rows) continue;
        sum = (sum * 31 + (k + 1) * values.at(t).at(in)) % 1'000'003;  // Throws if missing.
      }
    }
    made[row] = sum;
  }
  return made;
}

TEST(StripsTest, StripsComputeWhatTheWholeComputes) {
  int split_chains = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const RandomChain chain = MakeChain(seed);
    const Graph& graph = chain.build.graph;
    ASSERT_TRUE(Validate(graph)) << Validate(graph).error().message;
    std::map<TensorIndex, Values> whole;
    for (std::int64_t row = 0; row < 24; ++row) whole[0][row] = 7 * row + 3;
    for (OperatorIndex v = 0; v + 1 < graph.operators.size(); ++v) {
      whole[graph.operators[v].outputs[0]] = Compute(chain, v, {0, chain.rows[v]}, whole);
    }
    Budget budget;
    const Order order = ProgramOrder(graph);
    const auto found =
        FindChain(graph, order, {}, {static_cast<Bytes>(seed % 5) * 64, seed % 2 == 0}, budget);
    if (!found) continue;
    ++split_chains;
    const auto& [split, strips, peak] = *found;
    const TensorIndex result = graph.operators[split.operators.back()].outputs[0];
    Values made;
    for (const std::vector<Rows>& rows : strips.rows) {
      std::map<TensorIndex, Values> values = whole;
      for (const OperatorIndex v : split.operators) values.erase(graph.operators[v].outputs[0]);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const OperatorIndex v = split.operators[i];
        values[graph.operators[v].outputs[0]] = Compute(chain, v, rows[i], values);
      }
      made.merge(values.at(result));
    }
    EXPECT_EQ(made, whole.at(result));
    // The load that was promised is that of the graph with strips.
    const SplitGraph after = SplitIntoStrips(graph, order, split, strips);
    ExpectValid(after);
    EXPECT_LE(Live(after.graph, after.order).peak, std::max(peak, Live(graph, order).peak));
    EXPECT_LT(peak, Live(graph, order).peak);
    Bytes at_strips = 0;
    const Liveness live = Live(after.graph, after.order);
    for (std::size_t s = 0; s < after.order.size(); ++s) {
      const bool strip =
          after.graph.operators[after.order[s]].name.find("(strip ") != std::string::npos;
      if (strip) at_strips = std::max(at_strips, live.live[s]);
    }
    EXPECT_LE(at_strips, peak);
    // In place within a strip, and fused, it stays valid.
    EXPECT_TRUE(Validate(ReuseInPlace(after.graph)));
    EXPECT_TRUE(Validate(Fuse(after.graph)));
  }
  EXPECT_GT(split_chains, 300);
}

TEST(StripsTest, FusedOperatorsAreLeftOut) {
  Build b = ConvReluPool();
  b.graph.operators[0].type = "Conv";
  b.graph.operators[1].may_overwrite = {{b.T("x"), b.T("y")}};
  Order order = ProgramOrder(b.graph);
  EXPECT_EQ(WithoutFused(b.graph, order), b.graph);
  const Graph without = WithoutFused(Fuse(b.graph), order);
  const auto valid = Validate(without);
  ASSERT_TRUE(valid) << valid.error().message;
  EXPECT_EQ(order, (Order{0, 1, 2}));
  EXPECT_EQ(without.operators.size(), 3u);
  EXPECT_EQ(without.tensors.size(), 4u);
  EXPECT_EQ(Live(without, order).peak, Live(Fuse(b.graph), {0, 1, 2, 3}).peak);
  // By hand: 32 bytes of z and two rows of y.
  Budget budget;
  const auto found = FindChain(without, order, {}, {}, budget);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->peak, 48);
}

TEST(StripsTest, RandomGraphsWithoutFusedOperatorsAreValid) {
  int changed = 0;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Graph graph = RandomGraph(seed, AllGraphKnobs());
    for (Operator& op : graph.operators) op.type = "Conv";
    const Graph fused = Fuse(graph);
    const Order order = RandomOrder(fused, seed);
    Order left = order;
    const Graph without = WithoutFused(fused, left);
    const auto valid = Validate(without);
    ASSERT_TRUE(valid) << valid.error().message;
    EXPECT_TRUE(ValidateOrder(without, left));
    EXPECT_LE(Live(without, left).peak, Live(fused, order).peak);
    changed += without != fused ? 1 : 0;
  }
  EXPECT_GT(changed, 5);
}

// ---- Advice.

Advice AdviceFor(const Graph& graph, std::optional<Bytes> capacity, bool fuse = false) {
  PlanOptions options;
  options.capacity = capacity;
  Budget budget;
  const auto answer = Plan(graph, options, budget);
  EXPECT_TRUE(answer.has_value()) << answer.error().message;
  AdviceOptions advice;
  advice.fuse = fuse;
  return Advise(graph, options, *answer, advice, budget);
}

const Remedy* FindStrips(const Advice& advice) {
  for (const Remedy& remedy : advice.remedies) {
    if (remedy.kind == RemedyKind::kStrips) return &remedy;
  }
  return nullptr;
}

TEST(StripsAdviceTest, ThePlanWithStripsIsAnEstimate) {
  const Advice advice = AdviceFor(ConvReluPool().graph, 64);
  const Remedy* const remedy = FindStrips(advice);
  ASSERT_NE(remedy, nullptr);
  EXPECT_EQ(remedy->title, "Split \"conv\" to \"pool\" into 4 strips");
  EXPECT_EQ(remedy->detail,
            "Estimate: the plan then needs 64 B, and fits. A strip is 1 of the 4 rows of the "
            "result along axis 2, its halo 2 rows; nothing is computed twice. Berth does not "
            "rewrite the model: the runtime's operators must be able to read and write some rows "
            "of a tensor.");
  EXPECT_EQ(remedy->needs, 64);
  EXPECT_TRUE(remedy->estimated);
  EXPECT_TRUE(remedy->fits);
  EXPECT_TRUE(remedy->changes.empty());
  ASSERT_EQ(remedy->strips.size(), 1u);
  EXPECT_EQ(remedy->strips[0].operators, (std::vector<std::string>{"conv", "relu", "pool"}));
  EXPECT_EQ(remedy->strips[0].strips, 4);
  EXPECT_EQ(remedy->strips[0].halo, 2);
  EXPECT_EQ(remedy->strips[0].recomputed, 0);
}

TEST(StripsAdviceTest, FewerStripsWhereTheySuffice) {
  const Advice advice = AdviceFor(ConvReluPool().graph, 100);
  const Remedy* const remedy = FindStrips(advice);
  ASSERT_NE(remedy, nullptr);
  EXPECT_EQ(remedy->strips[0].strips, 2);
  EXPECT_EQ(remedy->needs, 96);
}

TEST(StripsAdviceTest, TogetherWithFusedOperators) {
  Build b = ConvReluPool();
  b.graph.operators[0].type = "Conv";
  b.graph.operators[1].may_overwrite = {{b.T("x"), b.T("y")}};
  const Advice advice = AdviceFor(b.graph, 50, true);
  const Remedy* fits = nullptr;
  for (const Remedy& remedy : advice.remedies) {
    if (remedy.kind == RemedyKind::kStrips && remedy.fits) fits = &remedy;
  }
  ASSERT_NE(fits, nullptr);
  EXPECT_EQ(fits->needs, 48);
  EXPECT_NE(fits->title.find("with --fuse"), std::string::npos) << fits->title;
}

TEST(StripsAdviceTest, NothingIsSaidWhereStripsDoNotHelp) {
  Build b = ConvReluPool();
  for (Operator& op : b.graph.operators) op.receptive_fields.clear();
  EXPECT_EQ(FindStrips(AdviceFor(b.graph, 64)), nullptr);
}

}  // namespace
}  // namespace berth::internal::plan
