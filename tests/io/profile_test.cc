// ReadProfile(): measured times of operators, in three formats, and SetCosts() of them.
#include "berth/profile.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "berth/file.h"
#include "berth/graph_io.h"
#include "berth/model.h"
#include "tests/graph/build.h"

namespace berth {
namespace {

using Times = std::vector<MeasuredTime>;

Profile Read(const std::string& text) {
  auto profile = ReadProfile(text, "p");
  EXPECT_TRUE(profile.has_value()) << profile.error().message;
  return profile ? *std::move(profile) : Profile{};
}

void ExpectRefused(const std::string& text, const std::string& message) {
  const auto profile = ReadProfile(text, "p");
  ASSERT_FALSE(profile.has_value()) << text;
  EXPECT_EQ(profile.error().message, "p" + message) << text;
  EXPECT_EQ(profile.error().code, ErrorCode::kParse) << text;
}

// An event of torch.profiler.
std::string Event(const std::string& name, const std::string& dims, const std::string& dur) {
  return R"({"ph": "X", "cat": "cpu_op", "name": ")" + name + R"(", "dur": )" + dur +
         R"(, "args": {"Input Dims": )" + dims + "}}";
}
std::string Trace(const std::string& events) { return R"({"traceEvents": [)" + events + "]}"; }

// "make x" -> "make y" -> "make z", with "make x" -> "join".
Graph FourOperators() { return internal::OneSpill().graph; }

std::vector<std::optional<std::int64_t>> CostsIn(const Graph& graph) {
  std::vector<std::optional<std::int64_t>> costs;
  for (const Operator& op : graph.operators) costs.push_back(op.cost);
  return costs;
}

// Of an even number of times the lower of the two in the middle; of an odd one the middle.
TEST(ProfileTest, TablesHaveTheMedianOfEach) {
  const Profile profile = Read(
      "run,operator,ns\n1,b,30\n1,a,4\n2,b,10\n2,a,1\n3,b,20\n3,a,3\n4,a,100\n1,\"c,d\",0\n"
      "1,e,1152921504606846976\n");
  EXPECT_EQ(profile.name, "p");
  EXPECT_EQ(profile.operators,
            (Times{{"a", {}, 3}, {"b", {}, 20}, {"c,d", {}, 0}, {"e", {}, std::int64_t{1} << 60}}));
  EXPECT_TRUE(profile.types.empty());
}

TEST(ProfileTest, OnnxruntimeHasNames) {
  const Profile profile = Read(R"([
    {"cat": "Session", "name": "model_run", "dur": 900, "ph": "X", "args": {}},
    {"cat": "Node", "name": "conv1_kernel_time", "dur": 7, "ph": "X", "args": {"op_name": "Conv"}},
    {"cat": "Node", "name": "conv1_fence_before", "dur": 1, "ph": "X"},
    {"cat": "Node", "name": "conv1_kernel_time", "dur": 5, "ph": "X"},
    {"cat": "Node", "name": "conv1_kernel_time", "dur": 2000, "ph": "X"},
    {"cat": "Node", "name": "a/relu_kernel_time", "dur": 12.345, "ph": "X"}])");
  EXPECT_EQ(profile.operators, (Times{{"a/relu", {}, 12345}, {"conv1", {}, 7000}}));
  EXPECT_TRUE(profile.types.empty());
}

// Shapes are told apart, but neither their order nor scalars count; lists of tensors are as tensors.
TEST(ProfileTest, PyTorchHasTypesAndShapes) {
  const Profile profile = Read(Trace(
      Event("aten::mm", "[[4, 5], [3, 4]]", "10") + "," + Event("mm", "[[3, 4], [4, 5]]", "20.5") +
      "," + Event("aten::mm", "[[3, 4], [4, 4]]", "1") + "," +
      Event("aten::add", "[[3], [3], [], []]", "2") + "," +
      Event("aten::cat", "[[[2, 3], [4, 3]], []]", "3") + "," + Event("aten::empty", "[]", "0") +
      R"(, {"ph": "X", "cat": "cpu_op", "name": "without shapes", "dur": 1}
         , {"ph": "i", "cat": "cpu_op", "name": "no execution", "args": {"Input Dims": []}}
         , {"ph": "X", "cat": "python_function", "name": "f", "dur": 1})"));
  EXPECT_TRUE(profile.operators.empty());
  EXPECT_EQ(profile.types, (Times{{"add", {"3"}, 2000},
                                  {"cat", {"2x3", "4x3"}, 3000},
                                  {"empty", {}, 0},
                                  {"mm", {"3x4", "4x4"}, 1000},
                                  {"mm", {"3x4", "4x5"}, 10000}}));
}

TEST(ProfileTest, TablesFaultsHavePlaces) {
  const std::string none =
      ":1:1: this is no profile: neither a table whose first line names the columns operator and "
      "ns, nor a trace in JSON";
  ExpectRefused("", none);
  ExpectRefused("\n\n", none);
  ExpectRefused("operator,us\na,1\n", none);
  ExpectRefused("id,lower,upper,size\nb,0,1,1\n", none);
  ExpectRefused("operator,ns\n", ": no operator has a time");
  ExpectRefused("operator,ns,operator\na,1,b\n", ":1:13: the column \"operator\" comes twice");
  ExpectRefused("operator,ns,ns\na,1,2\n", ":1:13: the column \"ns\" comes twice");
  ExpectRefused("operator,ns\na,1\nb\n", ":3:1: the row has 1 fields, the header 2");
  ExpectRefused("operator,ns\na,b,1\n", ":2:1: the row has 3 fields, the header 2");
  ExpectRefused("operator,ns\na,1\n,1\n", ":3:1: the operator has no name");
  for (const std::string bad : {"", "x", "-1", "1.5", "1e3", "0x10", "1 000", "1152921504606846977",
                                "9223372036854775808", "99999999999999999999999999"}) {
    ExpectRefused("operator,ns\na,1\nb," + bad + "\n",
                  ":3:3: ns is \"" + bad + "\" where it should be a whole number from 0 to 2^60");
  }
}

TEST(ProfileTest, TracesFaultsHavePlaces) {
  const std::string none =
      ": no event is the execution of an operator, as onnxruntime and torch.profiler write them";
  ExpectRefused("[]", none);
  ExpectRefused(R"([1, null, "x", [], {"cat": 7, "name": {}}])", none);
  ExpectRefused("{}", ":1:1: this is no trace: it has no list of \"traceEvents\"");
  ExpectRefused(R"({"traceEvents": {}})",
                ":1:1: this is no trace: it has no list of \"traceEvents\"");
  ExpectRefused("[", ":1:2: the JSON ends in the middle");
  ExpectRefused(Trace(R"({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "dur": 1})"),
                ": the trace has no shapes of inputs, by which operators are told apart: profile "
                "with record_shapes=True");
  ExpectRefused(Trace(Event("aten::mm", "[]", "1") + ",\n" +
                      R"({"ph": "X", "cat": "kernel", "name": "gemm", "dur": 1})"),
                ":2:1: the trace has the kernel \"gemm\" of a GPU: only times of operators on a "
                "CPU can be read. Measure operators one by one and write a table");
  ExpectRefused(
      "[\n"
      R"({"cat": "Node", "name": "a_kernel_time"}])",
      ":2:1: \"dur\" of \"a_kernel_time\" is missing where it should be a number of "
      "microseconds, from 0 to 2^60 ns");
  for (const std::string bad : {"-1", "null", "true", "1e300", "1152921504606848", "-0.5"}) {
    ExpectRefused(
        "[\n"
        R"({"cat": "Node", "name": "a_kernel_time", "dur": )" +
            bad + "}]",
        ":2:49: \"dur\" of \"a_kernel_time\" is " + bad +
            " where it should be a number of microseconds, from 0 to 2^60 ns");
  }
}

// Text of strangers: refused, or read; shown on one line.
TEST(ProfileTest, HostileFiles) {
  for (const char open : {'[', '{'}) {
    std::string deep;
    for (int i = 0; i < 100'000; ++i) deep += open == '[' ? "[" : "{\"a\":";
    const auto profile = ReadProfile(deep, "p");
    ASSERT_FALSE(profile.has_value());
    EXPECT_LT(profile.error().message.size(), 200U);
  }
  EXPECT_FALSE(
      ReadProfile(Trace(Event("aten::mm", std::string(65, '[') + std::string(65, ']'), "1")), "p"));
  const auto line = ReadProfile("operator,ns\na,\"1\n\x1b[31m\"\n", "p\n");
  ASSERT_FALSE(line.has_value());
  EXPECT_EQ(line.error().message.find_first_of("\n\x1b"), std::string::npos);
  std::string large = "operator,ns\n";
  for (int i = 0; i < 100'000; ++i) large += "a," + std::to_string(i) + "\n";
  EXPECT_EQ(Read(large).operators, (Times{{"a", {}, 49'999}}));
  // Shapes are compared as text: no product of extents overflows.
  const std::string huge = "[[9223372036854775807, 9223372036854775807], [-1], [1e9, \"x\", null]]";
  EXPECT_EQ(Read(Trace(Event("f", huge, "1"))).types,
            (Times{{"f", {"-1", "9223372036854775807x9223372036854775807"}, 1000}}));
}

TEST(ProfileCostsTest, NamesComeFirst) {
  Graph graph = FourOperators();
  for (Operator& op : graph.operators) op.type = "aten::mm.out";
  for (Tensor& tensor : graph.tensors) tensor.shape = "3x4";
  graph.tensors[2].shape = "scalar";  // z; does not count.
  Profile profile = {
      "p", {{"join", {}, 9}, {"unknown", {}, 1}}, {{"mm", {}, 2}, {"mm", {"3x4"}, 5}}};
  const auto unpriced = SetCosts(profile, nullptr, graph);
  ASSERT_TRUE(unpriced.has_value()) << unpriced.error().message;
  EXPECT_EQ(CostsIn(graph), (std::vector<std::optional<std::int64_t>>{2, 5, 5, 9}));
  EXPECT_EQ(graph.cost_unit, "ns");
  EXPECT_EQ(unpriced->arithmetic, 0U);
}

// An output that is a view costs nothing, whatever was measured.
TEST(ProfileCostsTest, ViewsCostNothing) {
  Graph graph = internal::Build()
                    .Made("a", 4)
                    .View("v", 4, "a")
                    .Op("make", {}, {"a"})
                    .Op("view", {"a"}, {"v"})
                    .graph;
  ASSERT_TRUE(SetCosts(Profile{"p", {{"make", {}, 3}, {"view", {}, 7}}, {}}, nullptr, graph));
  EXPECT_EQ(CostsIn(graph), (std::vector<std::optional<std::int64_t>>{3, 0}));
}

TEST(ProfileCostsTest, DevicesPriceTheRest) {
  Graph graph = FourOperators();
  graph.operators[3].type = "LSTM";
  Device device;
  device.operations_per_second = 1;
  device.bytes_per_second = 1'000'000'000;
  device.launch_nanoseconds = 100;
  const auto unpriced = SetCosts(Profile{"p", {{"make y", {}, 7}}, {}}, &device, graph);
  ASSERT_TRUE(unpriced.has_value()) << unpriced.error().message;
  // A nanosecond for each byte read and written.
  EXPECT_EQ(CostsIn(graph), (std::vector<std::optional<std::int64_t>>{104, 7, 110, 112}));
  EXPECT_EQ(unpriced->types, std::vector<std::string>{"LSTM"});
}

TEST(ProfileCostsTest, FaultsLeaveTheGraphAlone) {
  const auto refused = [](const Profile& profile, const Device* device, Graph graph) {
    const Graph before = graph;
    const auto result = SetCosts(profile, device, graph);
    EXPECT_EQ(graph, before);
    return result ? std::string() : result.error().message;
  };
  Graph graph = FourOperators();
  graph.tensors[0].shape = "3x4";
  const Profile some = {"p", {{"make x", {}, 1}, {"make z", {}, 1}}, {}};
  EXPECT_EQ(refused(some, nullptr, graph),
            "p has no time for 2 of 4 operators; the first is \"make y\", of type \"Op\" 3x4. A "
            "device prices what a profile lacks");
  const std::int64_t most = std::int64_t{1} << 60;
  EXPECT_EQ(refused({"p", {{"make x", {}, most}, {"make y", {}, 1}}, {}}, nullptr, graph),
            "p: operators up to \"make y\" take longer than 2^60 ns together");
  Device device;
  device.operations_per_second = 1;  // And no bandwidth.
  EXPECT_NE(refused(some, &device, graph).find("bytes_per_second"), std::string::npos);
  graph.operators[1].cost = 3;
  EXPECT_EQ(refused(some, nullptr, graph), "p: operator \"make y\" has a cost of its own");
}

// What torch.profiler wrote of a training step prices the graph that berth.torch traced of it.
TEST(ProfileCostsTest, RealTraceOfPyTorch) {
  const std::string folder = BERTH_SOURCE_DIR "/tests/profiles/";
  const auto trace = ReadFile(folder + "torch_step.trace.json");
  const auto text = ReadFile(folder + "torch_step.json");
  ASSERT_TRUE(trace.has_value() && text.has_value());
  auto graph = ReadGraphJson(*text, "torch_step.json");
  ASSERT_TRUE(graph.has_value()) << graph.error().message;
  const auto set = SetCosts(Read(*trace), nullptr, *graph);
  ASSERT_TRUE(set.has_value()) << set.error().message;
  EXPECT_EQ(graph->cost_unit, "ns");
  std::map<std::string, std::int64_t> costs;
  for (const Operator& op : graph->operators) costs[op.name] = op.cost.value_or(-1);
  EXPECT_EQ(costs.size(), 29u);
  // As the file has them, in microseconds. Matrix products differ in shapes alone.
  EXPECT_EQ(costs.at("convolution"), 149390);
  EXPECT_EQ(costs.at("convolution_backward"), 107759);
  EXPECT_EQ(costs.at("mm"), 17536);
  EXPECT_EQ(costs.at("mm_1"), 14762);
  EXPECT_EQ(costs.at("threshold_backward"), 8773);
  EXPECT_EQ(costs.at("add__2"), 6980);
  EXPECT_EQ(costs.at("t_1"), 0);  // A view.
}

// A profile is part of how a model is read, or changed later.
TEST(ProfileCostsTest, ModelsTakeThem) {
  Model model;
  model.graph = FourOperators();
  ModelOptions options;
  options.profile = Read("operator,ns\nmake x,1\nmake y,2\nmake z,3\njoin,4\n");
  ASSERT_TRUE(Apply(options, model).has_value());
  EXPECT_EQ(CostsIn(model.graph), (std::vector<std::optional<std::int64_t>>{1, 2, 3, 4}));
  EXPECT_FALSE(Apply(options, model).has_value());
}

}  // namespace
}  // namespace berth
