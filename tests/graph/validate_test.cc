#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/random.h"
#include "berth/graph.h"
#include "testing/random_graph.h"
#include "tests/graph/build.h"

namespace berth::internal {
namespace {

// The operator or tensor that `message` names first; of two with one name, the later.
Subject NamedFirst(const Graph& graph, const std::string& message) {
  for (std::size_t v = graph.operators.size(); v-- > 0;) {
    if (message.starts_with("operator \"" + graph.operators[v].name + "\"") ||
        message.starts_with("operator number " + std::to_string(v) + " ")) {
      return Subject::OfOperator(v);
    }
  }
  for (std::size_t t = graph.tensors.size(); t-- > 0;) {
    if (message.starts_with("tensor \"" + graph.tensors[t].name + "\"") ||
        message.starts_with("tensor number " + std::to_string(t) + " ")) {
      return Subject::OfTensor(t);
    }
  }
  ADD_FAILURE() << message;
  return {};
}

void ExpectInvalid(const Build& b, const std::string& message) {
  const auto valid = Validate(b.graph);
  ASSERT_FALSE(valid.has_value()) << message;
  EXPECT_EQ(valid.error().code, ErrorCode::kInvalidGraph);
  EXPECT_EQ(valid.error().message, message);
  EXPECT_EQ(valid.error().subject, NamedFirst(b.graph, message)) << message;
}

TEST(ValidateGraphTest, AcceptsWhatIsInOrder) {
  EXPECT_TRUE(Validate(Graph()));
  EXPECT_TRUE(Validate(TwoBranches().graph));
}

TEST(ValidateGraphTest, Tensors) {
  Build b = Build().Source("x", 4);
  b.graph.tensors[0].name = "";
  ExpectInvalid(b, "tensor number 0 has an empty name");
  ExpectInvalid(Build().Source("x", 4).Source("x", 5), "tensor \"x\": two tensors have this name");
  ExpectInvalid(Build().Source("x", -1), "tensor \"x\": has -1 bytes but must have from 0 to 2^60");
  ExpectInvalid(Build().Source("x", kMaxBytes + 1),
                "tensor \"x\": has 1152921504606846977 bytes but must have from 0 to 2^60");
  EXPECT_TRUE(Validate(Build().Source("x", kMaxBytes).graph));
  ExpectInvalid(Build().Source("x", kMaxBytes).Source("y", 1),
                "tensor \"y\": with its 1 bytes the tensors (and alignments) add up to more than "
                "2^60 bytes");
  for (const Bytes alignment : {Bytes{0}, Bytes{-8}, kMaxBytes + 1}) {
    b = Build().Source("x", 4);
    b.graph.tensors[0].alignment = alignment;
    ExpectInvalid(b, "tensor \"x\": alignment is " + std::to_string(alignment) +
                         " but must be from 1 to 2^60");
  }
  b = Build().Source("x", 4);
  b.graph.tensors[0].unplanned = "its size depends on the data";
  ExpectInvalid(b, "tensor \"x\": is unplanned, so it must have 0 bytes, not 4");
}

TEST(ValidateGraphTest, Views) {
  Build b = Build().Made("a", 4).View("v", 5, "a").Op("A", {}, {"a"}).Op("V", {"a"}, {"v"});
  ExpectInvalid(b, "tensor \"v\": is a view of 5 bytes, more than the 4 of its base, tensor \"a\"");
  b.graph.tensors[1].bytes = 4;
  EXPECT_TRUE(Validate(b.graph));
  b.graph.operators[1].inputs.clear();
  ExpectInvalid(b,
                "operator \"V\": makes tensor \"v\", a view of tensor \"a\", but neither reads, "
                "writes nor makes that or a view of it");
  b.View("vv", 1, "v").Op("VV", {"v"}, {"vv"});
  ExpectInvalid(b,
                "tensor \"vv\": is a view of tensor \"v\", which is itself a view; it must name "
                "the base");
  b = Build().Source("x", 1);
  b.graph.tensors[0].alias_of = 0;
  ExpectInvalid(b, "tensor \"x\": is a view of itself");
  b.graph.tensors[0].alias_of = 7;
  ExpectInvalid(b, "tensor \"x\": is a view of tensor number 7 but the graph has 1 tensors");
  b = Build().Made("a", 4).View("v", 4, "a").Op("A", {}, {"a"});
  b.graph.tensors[1].kind = TensorKind::kInput;
  ExpectInvalid(b,
                "tensor \"v\": is there before the first operator, but its base, tensor \"a\", is "
                "made by operator \"A\"");
}

TEST(ValidateGraphTest, Operators) {
  Build b = Build().Op("A", {}, {});
  b.graph.operators[0].name = "";
  ExpectInvalid(b, "operator number 0 has an empty name");
  ExpectInvalid(Build().Op("A", {}, {}).Op("A", {}, {}),
                "operator \"A\": two operators have this name");
  ExpectInvalid(Build().Op("A", {"nothing"}, {}),
                "operator \"A\": reads tensor number 0 but the graph has 0 tensors");
  ExpectInvalid(Build().Made("a", 1).Op("A", {}, {"a"}).Op("B", {}, {"a"}),
                "operator \"B\": makes tensor \"a\", which operator \"A\" makes already");
  ExpectInvalid(Build().Made("a", 1).Op("A", {}, {"a", "a"}),
                "operator \"A\": makes tensor \"a\" twice");
  ExpectInvalid(Build().Made("a", 1).Op("A", {}, {"a"}).Op("B", {}, {}, {"a", "a"}),
                "operator \"B\": writes in place tensor \"a\" twice");
  EXPECT_TRUE(Validate(Build().Source("x", 1).Op("A", {"x", "x"}, {}).graph));
  ExpectInvalid(Build().Source("x", 1).Op("A", {}, {"x"}),
                "operator \"A\": makes tensor \"x\", which is of the kind input, there before the "
                "first operator");
  ExpectInvalid(Build().Made("a", 1),
                "tensor \"a\": no operator makes it, and it is of the kind activation");
  ExpectInvalid(Build().Op("A", {}, {}).Op("B", {}, {}, {}, {"A", "A"}),
                "operator \"B\": comes after operator \"A\" twice");
  b = Build().Op("A", {}, {});
  b.graph.operators[0].after = {0};
  ExpectInvalid(b, "operator \"A\": comes after itself");
  b.graph.operators[0].after = {5};
  ExpectInvalid(b, "operator \"A\": comes after operator number 5 but the graph has 1 operators");
  b = Build().Made("a", 2).View("v", 1, "a").Op("A", {}, {"a"}).Op("V", {"a"}, {"v"});
  b.Op("W", {}, {}, {"v"});
  ExpectInvalid(b,
                "operator \"W\": writes tensor \"v\" in place, which is a view; it must name the "
                "base, tensor \"a\"");
  b = Build()
          .Made("a", 1)
          .Made("b", 1)
          .Op("A", {}, {"a"})
          .Op("B", {}, {"b"})
          .MayOverwrite("a", "b");
  ExpectInvalid(b,
                "operator \"B\": may write tensor number 1 over tensor number 0, but these are not "
                "one of its outputs and one of its inputs");
}

TEST(ValidateGraphTest, CyclesAndProgramOrder) {
  Build b = Build().Made("a", 1).Made("b", 1).Made("c", 1);
  b.Op("A", {"c"}, {"a"}).Op("B", {"a"}, {"b"}).Op("C", {"b"}, {"c"});
  ExpectInvalid(b,
                "operator \"A\": needs tensor \"c\", made by operator \"C\", which waits for it: a "
                "cycle (operator \"C\", which waits for operator \"B\", which waits for operator "
                "\"A\")");
  b.graph.operators[1].inputs.clear();
  ExpectInvalid(b,
                "operator \"A\": needs tensor \"c\", made by operator \"C\", which comes later; "
                "operators must stand in an order in which they can run");
  ExpectInvalid(Build().Made("a", 1).Op("A", {"a"}, {"a"}),
                "operator \"A\": reads tensor \"a\", which it makes itself");
  b = Build().Op("A", {}, {}).Op("B", {}, {}, {}, {"A"});
  b.graph.operators[0].after = {1};
  ExpectInvalid(b,
                "operator \"A\": has to come after operator \"B\", which waits for it: a cycle "
                "(operator \"B\", which waits for operator \"A\")");
}

TEST(ValidateGraphTest, WritesInPlaceNeedAnOrder) {
  Build b = Build().Made("a", 1).Made("r", 1).Made("s", 1);
  b.Op("A", {}, {"a"}).Op("R", {"a"}, {"r"}).Op("W", {"a"}, {}, {"a"}).Op("S", {"a"}, {"s"});
  ExpectInvalid(b,
                "operator \"W\": writes tensor \"a\" in place, which operator \"R\" uses earlier, "
                "but no edge fixes their order; operator \"W\" must come after operator \"R\"");
  b.graph.operators[2].after = {1};
  ExpectInvalid(b,
                "operator \"W\": writes tensor \"a\" in place, which operator \"S\" uses later, "
                "but no edge fixes their order; operator \"S\" must come after operator \"W\"");
  b.graph.operators[3].after = {2};
  EXPECT_TRUE(Validate(b.graph));
  // A path is enough; it need not be an edge.
  Build path = Build().Made("a", 1).Made("r", 1).Made("s", 1).Made("t", 1);
  path.Op("A", {}, {"a"}).Op("R", {"a"}, {"r"}).Op("S", {"r"}, {"s"}).Op("T", {"s"}, {"t"});
  path.Op("W", {"t"}, {}, {"a"});
  EXPECT_TRUE(Validate(path.graph));
  path.graph.operators[3].inputs.clear();
  EXPECT_FALSE(Validate(path.graph));
}

// Every edge that orders writes is needed: without it the graph is valid only if another path
// exists. Reachability is computed by following all paths.
TEST(ValidateGraphTest, HazardsAreFoundOnRandomGraphs) {
  int invalid = 0;
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    GraphKnobs knobs = AllGraphKnobs();
    knobs.write_chance = 0.5;
    Graph graph = RandomGraph(seed, knobs);
    Random random(seed);
    for (Operator& op : graph.operators) {
      std::erase_if(op.after, [&](OperatorIndex) { return random.Chance(0.4); });
    }
    const std::size_t n = graph.operators.size();
    std::vector<std::vector<bool>> waits(n, std::vector<bool>(n, false));
    std::vector<std::size_t> maker(graph.tensors.size(), n);
    for (std::size_t v = 0; v < n; ++v) {
      for (const TensorIndex t : graph.operators[v].outputs) maker[t] = v;
    }
    bool hazard = false;
    std::vector<std::vector<bool>> touches(n, std::vector<bool>(graph.tensors.size(), false));
    for (std::size_t v = 0; v < n; ++v) {
      const Operator& op = graph.operators[v];
      std::vector<std::size_t> before(op.after.begin(), op.after.end());
      for (const auto* list : {&op.inputs, &op.mutates, &op.outputs}) {
        for (const TensorIndex t : *list) {
          touches[v][BaseOf(graph, t)] = true;
          if (list != &op.outputs && maker[t] != n) before.push_back(maker[t]);
        }
      }
      for (const std::size_t u : before) {
        waits[v][u] = true;
        for (std::size_t w = 0; w < u; ++w) waits[v][w] = waits[v][w] || waits[u][w];
      }
      for (std::size_t u = 0; u < v; ++u) {
        for (TensorIndex t = 0; t < graph.tensors.size(); ++t) {
          if (!touches[u][t] || !touches[v][t] || waits[v][u]) continue;
          const auto writes = [&](std::size_t w) {
            const auto& mutates = graph.operators[w].mutates;
            return std::find(mutates.begin(), mutates.end(), t) != mutates.end();
          };
          hazard = hazard || writes(u) || writes(v);
        }
      }
    }
    EXPECT_EQ(Validate(graph).has_value(), !hazard);
    invalid += hazard ? 1 : 0;
  }
  EXPECT_GT(invalid, 100);
  EXPECT_LT(invalid, 1300);
}

// More than 64 writes, so that their flags need several words.
TEST(ValidateGraphTest, ManyWritesInPlace) {
  Build b;
  for (int i = 0; i < 200; ++i) {
    b.Made("a" + std::to_string(i), 1).Op("A" + std::to_string(i), {}, {"a" + std::to_string(i)});
  }
  for (int i = 0; i < 200; ++i) b.Op("R" + std::to_string(i), {"a" + std::to_string(i)}, {});
  b.Op("middle", {}, {});
  for (int i = 0; i < 200; ++i) {
    b.graph.operators.back().after.push_back(static_cast<OperatorIndex>(200 + i));
  }
  for (int i = 0; i < 200; ++i) {
    b.Op("W" + std::to_string(i), {}, {}, {"a" + std::to_string(i)}, {"middle"});
  }
  EXPECT_TRUE(Validate(b.graph));
  b.graph.operators[400].after.erase(b.graph.operators[400].after.begin() + 170);
  ExpectInvalid(
      b,
      "operator \"W170\": writes tensor \"a170\" in place, which operator \"R170\" uses "
      "earlier, but no edge fixes their order; operator \"W170\" must come after operator "
      "\"R170\"");
}

}  // namespace
}  // namespace berth::internal
