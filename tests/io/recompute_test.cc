// Graphs with costs, and plans in which operators run again, as files.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "berth/device.h"
#include "berth/io.h"
#include "berth/plan.h"
#include "tests/graph/build.h"

namespace berth {
namespace {

using Json = nlohmann::ordered_json;

// x runs again: 12 bytes instead of 14.
Graph Costed() {
  Graph graph = internal::OneSpill().graph;
  graph.cost_unit = "flop";
  for (std::size_t v = 0; v < graph.operators.size(); ++v) {
    graph.operators[v].cost = static_cast<std::int64_t>(10 * v + 7);
  }
  return graph;
}

TEST(CostedGraphTest, ComesBackAsItWas) {
  Graph graph = internal::Build()
                    .Source("r", 2)
                    .Made("x", 4)
                    .Op("A", {}, {"x"})
                    .Op("B", {"x"}, {}, {"r"})
                    .graph;
  graph.cost_unit = "ns \"of\" a run";
  graph.operators[0].cost = 0;
  graph.operators[0].random = true;
  graph.operators[0].repeat = Repeat::kPure;
  graph.operators[1].cost = kMaxBytes;
  graph.operators[1].repeat = Repeat::kNever;
  graph.operators[1].skips = {0};
  const auto read = ReadGraphJson(WriteGraphJson(graph), "g");
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(*read, graph);
}

TEST(CostedGraphTest, BadValuesAreRefused) {
  const auto fault = [](const std::string& keys, const std::string& head = "") {
    const std::string text = R"({"format": "berth-graph", "format_version": 1, )" + head +
                             R"("nodes": [{"name": "A", "inputs": [], "outputs": [0], )" + keys +
                             R"(}], "tensors": [{"id": 0, "name": "x", "bytes": 4,)"
                             R"( "kind": "activation"}]})";
    const auto read = ReadGraphJson(text, "g.json");
    return read ? "" : read.error().message;
  };
  EXPECT_EQ(fault(R"("cost": 4)"), "");
  const std::string at = "g.json: node number 0, \"A\": ";
  EXPECT_EQ(fault(R"("cost": "4")"), at + "\"cost\" is \"4\" where it should be a 64-bit integer");
  EXPECT_EQ(fault(R"("cost": 1.5)"), at + "\"cost\" is 1.5 where it should be a 64-bit integer");
  EXPECT_EQ(fault(R"("cost": -1)"),
            "g.json: operator \"A\": cost is -1 but must be from 0 to 2^60");
  EXPECT_EQ(fault(R"("repeat": "always")"),
            at + "\"repeat\" is \"always\" where it should be \"pure\" or \"never\"");
  EXPECT_EQ(fault(R"("repeat": true)"),
            at + "\"repeat\" is true where it should be \"pure\" or \"never\"");
  EXPECT_EQ(fault(R"("random": 1)"), at + "\"random\" is 1 where it should be true or false");
  EXPECT_EQ(fault(R"("skips": [3])"), at + "\"skips\" has the id 3, which no tensor has");
  EXPECT_EQ(fault(R"("skips": 0)"), at + "\"skips\" is 0 where it should be a list");
  EXPECT_EQ(
      fault(R"("skips": [0])"),
      "g.json: operator \"A\": skips tensor \"x\" when it runs again, but does not write it in "
      "place");
  EXPECT_EQ(fault(R"("cost": 1)", R"("cost_unit": 3, )"),
            "g.json: \"cost_unit\" is 3 where it should be text");
}

class RecomputedPlanTest : public testing::Test {
 protected:
  void SetUp() override {
    Budget budget;
    const auto planned =
        Plan(graph, {.capacity = NamedBudget::kOneOperator, .recompute = true}, budget);
    ASSERT_TRUE(planned.has_value()) << planned.error().message;
    answer = *planned;
    text = WritePlanJson(graph, answer, {"1", "g.json", "h", {}});
  }
  [[nodiscard]] std::string Refusal(const Json& json) const {
    const auto read = ReadPlanFor(graph, {}, json.dump(), "p");
    return read ? "" : read.error().message;
  }

  const Graph graph = Costed();
  PlanAnswer answer;
  std::string text;
};

TEST_F(RecomputedPlanTest, ComesBackAsItWas) {
  ASSERT_EQ(answer.outcome, Outcome::kOptimal);
  EXPECT_EQ(answer.best->recomputed, (Recomputed{1, 7}));
  EXPECT_EQ(answer.best->order.size(), 5U);
  EXPECT_EQ(answer.least_peak, 14);
  EXPECT_EQ(answer.least.bytes, 12);
  const Json json = Json::parse(text);
  EXPECT_EQ(json.at("recomputed"),
            Json({{"operators", 1}, {"cost", 7}, {"cost_bound", 7}, {"unit", "flop"}}));
  EXPECT_EQ(json.at("order").size(), 5U);
  EXPECT_EQ(json.at("spills"), false);
  const auto read = ReadPlanFor(graph, {}, text, "p");
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_TRUE(read->recomputes);
  EXPECT_EQ(read->plan, *answer.best);
  EXPECT_TRUE(ValidatePlan(graph, {}, read->capacity, read->plan).has_value());
  const auto file = ReadPlan(text, "p");
  ASSERT_TRUE(file.has_value()) << file.error().message;
  EXPECT_EQ(file->recomputed, (Recomputed{1, 7}));
  EXPECT_EQ(file->cost_unit, "flop");
  EXPECT_EQ(file->problem.buffers.front().id, "x#1");
}

// The device of a plan's file, with and without an energy, to the last digit of it.
TEST_F(RecomputedPlanTest, ItsDeviceComesBackAsItWas) {
  Device device = {"dsp", 2.5e9, 4'000'000'000, 40, Link{1'000'000'000, 500'000'001, 7, {}}};
  for (const std::optional<double> energy :
       {std::optional<double>(), std::optional(0.0), std::optional(162.5), std::optional(1.0 / 3),
        std::optional(0x1p40)}) {
    device.link->picojoules_per_byte = energy;
    Provenance from = {"1", "g.json", "h", {}};
    from.device = device;
    const std::string json = WritePlanJson(graph, answer, from);
    EXPECT_EQ(Json::parse(json).at("device").at("link").contains("energy_pj_per_byte"),
              energy.has_value());
    EXPECT_EQ(ReadPlanSettings(json).device, device);
  }
}

TEST_F(RecomputedPlanTest, BadFiguresAreRefused) {
  Json json = Json::parse(text);
  json["recomputed"]["cost"] = -1;
  EXPECT_EQ(Refusal(json), "p: \"recomputed\": \"cost\" is -1 where it should be at least 0");
  json["recomputed"].erase("operators");
  EXPECT_EQ(Refusal(json),
            "p: \"recomputed\": \"operators\" is missing where it should be a 64-bit integer");
  json["recomputed"] = 3;
  EXPECT_EQ(Refusal(json), "p: \"recomputed\" is 3 where it should be an object");
  // Without them the plan states that nothing runs again, which is for the checkers to refuse.
  json.erase("recomputed");
  const auto read = ReadPlanFor(graph, {}, json.dump(), "p");
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_FALSE(ValidatePlan(graph, {}, read->capacity, read->plan).has_value());
}

TEST_F(RecomputedPlanTest, AsAnOrderItIsRefused) {
  EXPECT_EQ(ReadOrder(text, "p", graph).error().message,
            "p: operator \"make x\" comes twice in the order, at steps 0 and 3");
}

}  // namespace
}  // namespace berth
