// What operators compute and move, and what they cost on a device.
#include "berth/device.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "berth/file.h"
#include "berth/model.h"

namespace berth {
namespace {

// One operator; tensors are given by their shapes. Elements have one byte.
Graph OneOperator(const std::string& type, const std::vector<std::string>& inputs,
                  const std::vector<std::string>& outputs) {
  Graph graph;
  Operator op{"op", type, {}, {}};
  const auto add = [&](const std::string& shape, TensorKind kind) {
    Tensor tensor;
    tensor.name = "t" + std::to_string(graph.tensors.size());
    tensor.kind = kind;
    tensor.shape = shape;
    tensor.bytes = 1000;
    graph.tensors.push_back(tensor);
    return graph.tensors.size() - 1;
  };
  for (const std::string& shape : inputs) op.inputs.push_back(add(shape, TensorKind::kInput));
  for (const std::string& shape : outputs) {
    op.outputs.push_back(add(shape, TensorKind::kActivation));
  }
  graph.operators.push_back(std::move(op));
  return graph;
}

// By hand; a multiplication and an addition are two.
TEST(WorkTest, Operations) {
  struct Case {
    std::string type;
    std::vector<std::string> inputs;
    std::vector<std::string> outputs;
    std::optional<double> operations;
  };
  const double conv = 2.0 * (8 * 16 * 10 * 10) * (3 * 5 * 5);  // Results, each a sum of 3 x 5 x 5.
  const Case cases[] = {
      {"MatMul", {"7x3x4", "4x5"}, {"7x3x5"}, 2.0 * 7 * 3 * 4 * 5},
      {"MatMul", {"4", "7x4x5"}, {"7x5"}, 2.0 * 7 * 4 * 5},     // The left factor has no batches.
      {"Gemm", {"4x3", "4x5", "5"}, {"3x5"}, 2.0 * 3 * 4 * 5},  // The left factor transposed.
      {"aten::addmm", {"5", "3x4", "4x5"}, {"3x5"}, 2.0 * 3 * 4 * 5},
      {"torch.ops.aten.bmm.default", {"7x3x4", "7x4x5"}, {"7x3x5"}, 2.0 * 7 * 3 * 4 * 5},
      {"mv", {"3x4", "4"}, {"3"}, 2.0 * 3 * 4},
      {"dot", {"4", "4"}, {"scalar"}, 2.0 * 4},
      {"linear", {"2x3x4", "5x4"}, {"2x3x5"}, 2.0 * 2 * 3 * 4 * 5},
      {"FULLY_CONNECTED", {"1x2x2x3", "10x12", "10"}, {"1x10"}, 2.0 * 12 * 10},
      {"Conv", {"8x3x14x14", "16x3x5x5", "16"}, {"8x16x10x10"}, conv},
      {"convolution", {"8x3x14x14", "16x3x5x5", "16"}, {"8x16x10x10"}, conv},
      {"CONV_2D", {"8x14x14x3", "16x5x5x3", "16"}, {"8x10x10x16"}, conv},
      {"QLinearConv",
       {"8x3x14x14", "scalar", "scalar", "16x3x5x5", "scalar"},
       {"8x16x10x10"},
       conv},
      // In groups: each result is a sum over the channels of its group alone.
      {"Conv", {"1x32x9x9", "32x1x3x3"}, {"1x32x7x7"}, 2.0 * 32 * 7 * 7 * 3 * 3},
      {"DEPTHWISE_CONV_2D", {"1x9x9x32", "1x3x3x32", "32"}, {"1x7x7x32"}, 2.0 * 32 * 7 * 7 * 9},
      {"ConvTranspose", {"1x3x4x4", "3x6x2x2"}, {"1x6x8x8"}, 2.0 * 3 * 4 * 4 * 6 * 2 * 2},
      {"TRANSPOSE_CONV", {"4", "6x2x2x3", "1x4x4x3"}, {"1x8x8x6"}, 2.0 * 3 * 4 * 4 * 6 * 2 * 2},
      {"convolution_backward",
       {"8x16x10x10", "8x3x14x14", "16x3x5x5"},
       {"8x3x14x14", "16x3x5x5", "16"},
       2 * conv},
      {"convolution_backward", {"8x16x10x10", "8x3x14x14", "16x3x5x5"}, {"16x3x5x5", "16"}, conv},
      {"_scaled_dot_product_flash_attention",
       {"2x4x10x8", "2x4x12x8", "2x4x12x8"},
       {"2x4x10x8"},
       2.0 * 2 * (2 * 4 * 10 * 12 * 8)},
      {"Relu", {"2x3"}, {"2x3"}, 0.0},
      {"LSTM", {"2x3"}, {"2x3"}, std::nullopt},
      {"MatMul", {"2xn", "4x5"}, {"2x5"}, std::nullopt},
      {"Conv", {"?", "16x3x5x5"}, {"?"}, std::nullopt},
      {"mm", {"", ""}, {""}, std::nullopt},
      {"Gemm", {"0x3", "3x5"}, {"0x5"}, 0.0},
  };
  for (const Case& one : cases) {
    const Graph graph = OneOperator(one.type, one.inputs, one.outputs);
    EXPECT_EQ(WorkOf(graph, 0).operations, one.operations)
        << one.type << " of " << one.inputs.front();
  }
}

TEST(WorkTest, BytesAreThoseThatAreTouched) {
  Graph graph = OneOperator("Add", {"2", "2"}, {"2", "2"});
  EXPECT_EQ(WorkOf(graph, 0).bytes, 4000);
  graph.tensors[3].alias_of = 2;
  graph.operators[0].mutates = {0};
  EXPECT_EQ(WorkOf(graph, 0).bytes, 4000);  // The view is free, the input is written as well.
  EXPECT_EQ(CostsOf(graph).of, std::vector<std::int64_t>{4000});
  for (Tensor& tensor : graph.tensors) tensor.bytes = kMaxBytes;
  EXPECT_EQ(WorkOf(graph, 0).bytes, kMaxBytes);
}

// Multiplications that others counted, in millions: MLPerf Tiny (Banbury et al. 2021), torchvision.
TEST(WorkTest, PublishedCounts) {
  const char* const data = std::getenv("BERTH_DATA");
  const std::pair<std::string, double> cases[] = {
      {"tflite/ad01_int8.tflite", 0.264},
      {"tflite/kws_ref_model.tflite", 2.66},
      {"tflite/pretrainedResnet_quant.tflite", 12.5},
      {"tflite/vww_96_int8.tflite", 7.49},
      {"graphs/inference/resnet50.onnx", 4089},
      {"graphs/inference/mobilenet_v2.onnx", 300.8},
      {"graphs/inference/vit_b_16.onnx", 17564},
      {"graphs/inference/squeezenet1_0.onnx", 819},
  };
  int found = 0;
  for (const auto& [file, millions] : cases) {
    const auto bytes = FileView::Open(std::string(data == nullptr ? "" : data) + "/" + file);
    if (!bytes) continue;
    ++found;
    const auto model = ReadModel(bytes->bytes(), file);
    ASSERT_TRUE(model.has_value()) << model.error().message;
    double operations = 0;
    for (OperatorIndex v = 0; v < model->graph.operators.size(); ++v) {
      const Work work = WorkOf(model->graph, v);
      ASSERT_TRUE(work.operations.has_value()) << model->graph.operators[v].name;
      operations += *work.operations;
    }
    EXPECT_NEAR(operations / 2e6, millions, millions * 0.005) << file;
  }
  if (found == 0) GTEST_SKIP() << "BERTH_DATA names no folder with models";
}

Device Slow() { return {"slow", 1000, 500, 7}; }

TEST(DeviceTest, CostsAreOfArithmeticOrOfBytes) {
  // 120 operations at 1,000 in a second take 0.12 s; 3,000 bytes at 500 take 6 s.
  Graph graph = OneOperator("mm", {"3x4", "4x5"}, {"3x5"});
  const auto unpriced = SetCosts(Slow(), graph);
  ASSERT_TRUE(unpriced.has_value());
  EXPECT_EQ(unpriced->arithmetic, 0U);
  EXPECT_EQ(graph.operators[0].cost, 6'000'000'007);
  EXPECT_EQ(graph.cost_unit, "ns");
  Device device = Slow();
  device.operations_per_second = 3;
  device.bytes_per_second = 1'000'000;
  graph.operators[0].cost.reset();
  ASSERT_TRUE(SetCosts(device, graph).has_value());
  EXPECT_EQ(graph.operators[0].cost, 40'000'000'007);
}

TEST(DeviceTest, ViewsAreFree) {
  Graph graph = OneOperator("view", {"2"}, {"2"});
  graph.tensors[1].alias_of = 0;
  ASSERT_TRUE(SetCosts(Slow(), graph).has_value());
  EXPECT_EQ(graph.operators[0].cost, 0);
}

TEST(DeviceTest, WhatIsNotKnownIsSaid) {
  Graph graph = OneOperator("LSTM", {"2x3"}, {"2x3"});
  graph.tensors[1].unplanned = "nobody knows";
  graph.tensors[1].bytes = 0;
  const auto unpriced = SetCosts(Slow(), graph);
  ASSERT_TRUE(unpriced.has_value());
  EXPECT_EQ(unpriced->arithmetic, 1U);
  EXPECT_EQ(unpriced->types, std::vector<std::string>{"LSTM"});
  EXPECT_EQ(unpriced->sizes, 1U);
  EXPECT_EQ(graph.operators[0].cost, 2'000'000'007);
}

TEST(DeviceTest, BadInput) {
  const auto refused = [](const Device& device, Graph graph) {
    const Graph before = graph;
    const auto result = SetCosts(device, graph);
    EXPECT_EQ(graph, before);
    return result ? std::string() : result.error().message;
  };
  const Graph graph = OneOperator("mm", {"3x4", "4x5"}, {"3x5"});
  for (const double rate : {0.0, -1.0, std::numeric_limits<double>::infinity(),
                            std::numeric_limits<double>::quiet_NaN()}) {
    Device device = Slow();
    device.operations_per_second = rate;
    EXPECT_EQ(refused(device, graph), "device: operations_per_second must be positive");
  }
  Device device = Slow();
  device.bytes_per_second = 0;
  EXPECT_EQ(refused(device, graph), "device: bytes_per_second must be from 1 to 2^60, not 0");
  device = Slow();
  device.launch_nanoseconds = -1;
  EXPECT_EQ(refused(device, graph), "device: launch_nanoseconds must be from 0 to 2^40, not -1");
  Graph priced = graph;
  priced.operators[0].cost = 3;
  EXPECT_EQ(refused(Slow(), priced), "device: operator \"op\" has a cost of its own");
  Graph large = graph;
  for (Tensor& tensor : large.tensors) tensor.bytes = kMaxBytes / 4;
  EXPECT_EQ(refused(Slow(), large),
            "device: operators up to \"op\" take longer than 2^60 ns together");
}

// What is computed together is run again together, and costs as much as both.
TEST(DeviceTest, FusedOperatorsCostWhatTheyDidApart) {
  Graph graph = OneOperator("Conv", {"1x3x4x4", "5x3x1x1"}, {"1x5x4x4"});
  Tensor made = graph.tensors[2];
  made.name = "made";
  graph.tensors.push_back(made);
  Operator relu{"relu", "Relu", {2}, {3}};
  relu.may_overwrite = {{2, 3}};
  relu.cost = 5;
  graph.operators[0].cost = 40;
  graph.operators.push_back(relu);
  graph.tensors[3].output = true;
  const Graph fused = Fuse(graph);
  EXPECT_EQ(fused.operators[0].cost, 45);
  EXPECT_EQ(fused.operators[1].cost, 0);
  EXPECT_TRUE(MayRepeat(fused, 0));
  graph.operators[1].random = true;
  EXPECT_FALSE(MayRepeat(Fuse(graph), 0));
}

TEST(ReadDeviceTest, Reads) {
  const auto device = ReadDevice(R"({"format": "berth-device", "format_version": 1, "name": "D",
      "operations_per_second": 19.5e12, "bandwidth": "1555GB/s", "launch_ns": 4000})",
                                 "d.json");
  ASSERT_TRUE(device.has_value()) << device.error().message;
  EXPECT_EQ(*device, (Device{"D", 19.5e12, 1'555'000'000'000, 4000}));
  EXPECT_EQ(ReadDevice(R"({"format": "berth-device", "format_version": 1,
      "operations_per_second": 7, "bandwidth": "3KiB/s"})",
                       "d.json"),
            (Device{"", 7, 3072, 0}));
  EXPECT_EQ(ReadDevice(R"({"format": "berth-device", "format_version": 1,
      "operations_per_second": 7, "bandwidth": "3KiB/s",
      "link": {"out": "2GB/s", "in": "1GB/s", "latency_ns": 5}})",
                       "d.json"),
            (Device{"", 7, 3072, 0, Link{2'000'000'000, 1'000'000'000, 5}}));
}

TEST(LinkTest, CopiesAreRoundedUpAndNeverOverflow) {
  const Link link{3'000'000'000, 1, 7};
  EXPECT_EQ(link.Out(0), 7);
  EXPECT_EQ(link.Out(1), 8);
  EXPECT_EQ(link.Out(3), 8);
  EXPECT_EQ(link.Out(4), 9);
  EXPECT_EQ(link.In(2), 2'000'000'007);
  EXPECT_EQ(link.In(kMaxBytes), kMaxBytes);
  EXPECT_TRUE(Validate(link).has_value());
  EXPECT_FALSE(Validate(Link{0, 1, 0}).has_value());
  EXPECT_FALSE(Validate(Link{1, 1, -1}).has_value());
}

TEST(ReadDeviceTest, BadInput) {
  const std::string head = R"({"format": "berth-device", "format_version": 1)";
  const std::string rates = R"(, "operations_per_second": 5, "bandwidth": "5B/s")";
  const std::pair<std::string, std::string> cases[] = {
      {"", "d.json:1:1: "},
      {"[]", "d.json:1:1: "},
      {"{}", "d.json:1:1: \"format\" is missing where it should be \"berth-device\""},
      {R"({"format": "berth-device", "format_version": 2})",
       "d.json:1:46: \"format_version\" is 2 where it should be 1"},
      {head + "}",
       "d.json:1:1: \"operations_per_second\" is missing where it should be a positive number"},
      {head + R"(, "operations_per_second": 0})",
       "d.json:1:74: \"operations_per_second\" is 0 where it should be a positive number"},
      {head + R"(, "operations_per_second": 1e999})", "d.json:1:78: "},
      {head + R"(, "operations_per_second": "1T"})",
       "d.json:1:74: \"operations_per_second\" is \"1T\" where it should be a positive number"},
      {head + R"(, "operations_per_second": 5})",
       "d.json:1:1: \"bandwidth\" is missing where it should be a bandwidth such as \"1555GB/s\""},
      {head + R"(, "operations_per_second": 5, "bandwidth": "5B"})",
       "d.json:1:90: \"bandwidth\" is \"5B\" where it should be a bandwidth such as "
       "\"1555GB/s\""},
      {head + rates + R"(, "launch_ns": -1})",
       "d.json:1:111: \"launch_ns\" is -1 where it should be a whole number from 0 to 2^40"},
      {head + rates + R"(, "lauch_ns": 1})",
       "d.json:1:98: a device has no \"lauch_ns\"; it has name, operations_per_second, bandwidth, "
       "launch_ns, link, meta"},
      {head + rates + R"(, "link": 1})",
       "d.json:1:106: \"link\" is 1 where it should be an object with \"out\", \"in\", "
       "\"latency_ns\" and \"energy_pj_per_byte\""},
      {head + rates + R"(, "link": {"out": "1GB/s"}})",
       "d.json:1:106: \"in\" of \"link\" is missing where it should be a bandwidth"},
      {head + rates + R"(, "link": {"out": "0GB/s", "in": "1GB/s"}})",
       "d.json:1:114: \"out\" of \"link\" is \"0GB/s\" where it should be a bandwidth"},
      {head + rates + R"(, "link": {"out": "1GB/s", "in": "1GB/s", "latency_ns": -1}})",
       "d.json:1:152: \"latency_ns\" of \"link\" is -1 where it should be a whole number"},
      {head + rates + R"(, "link": {"up": "1GB/s"}})",
       "d.json:1:107: a link has no \"up\"; it has out, in, latency_ns, energy_pj_per_byte"},
      {head + rates + R"(, "link": {"out": "1GB/s", "in": "1GB/s", "energy_pj_per_byte": -1}})",
       "d.json:1:160: \"energy_pj_per_byte\" of \"link\" is -1 where it should be a number of "
       "picojoules from 0 to 2^40"},
      {head + rates + R"(, "name": 1})", "d.json:1:106: \"name\" is 1 where it should be text"},
  };
  for (const auto& [text, message] : cases) {
    const auto device = ReadDevice(text, "d.json");
    ASSERT_FALSE(device.has_value()) << text;
    EXPECT_EQ(device.error().message.substr(0, message.size()), message);
    EXPECT_EQ(device.error().code, ErrorCode::kParse);
  }
}

}  // namespace
}  // namespace berth
