// Damaged and hostile files.

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/random.h"
#include "berth/io.h"
#include "berth/onnx.h"
#include "tests/onnx/build.h"
#include "tests/onnx/random_operator.h"

namespace berth::internal {
namespace {

using namespace onnx_build;  // NOLINT(google-build-using-namespace): its words are the test's.

std::string Refusal(const std::string& bytes) {
  const auto model = ReadOnnx(bytes, "m");
  return model ? "read" : model.error().message;
}

TEST(OnnxHostile, NamesTheFault) {
  const std::string x = Value("x", kFloat, {2});
  const std::string y = Value("y", kFloat, {2});
  EXPECT_EQ(Refusal(""), "m: an empty file is not an ONNX model");
  EXPECT_EQ(Refusal("{\"operators\": []}"), "m: byte 0: damaged or cut off in the model");
  EXPECT_EQ(Refusal(Number(1, 7)), "m: byte 0: this is not an ONNX model: it has no graph");
  EXPECT_EQ(Refusal(Model({{{"Relu", {"z"}, {"y"}}}, {x}, {y}})),
            "m: operator that makes \"y\" (Relu) reads \"z\", which nothing before it makes");
  EXPECT_EQ(Refusal(Model({{{"Relu", {"a"}, {"y"}}, {"Relu", {"x"}, {"a"}}}, {x}, {y}})),
            "m: operator that makes \"y\" (Relu) reads \"a\", which nothing before it makes");
  EXPECT_EQ(Refusal(Model({{{"Relu", {"x"}, {"y"}}, {"Neg", {"x"}, {"y"}}}, {x}, {y}})),
            "m: value \"y\" is made twice");
  EXPECT_EQ(Refusal(Model({{{"Relu", {"x"}, {"a"}}}, {x}, {y}})),
            "m: output \"y\" is made by nothing");
  EXPECT_EQ(Refusal(Model({{{"Relu", {"x"}, {"y"}}}, {x, x}, {y}})), "m: input \"x\" comes twice");
  EXPECT_EQ(Refusal(Number(1, 7) + Field(7, GraphProto({{{"Relu", {"x"}, {"y"}}}, {x}, {y}}))),
            "m: the model does not say which operator set it is written in");
  EXPECT_EQ(Refusal(Model({{{"MatMul", {"x", "w"}, {"y"}, {}, "product"}},
                           {Value("x", kFloat, {2, 3}), Value("w", kFloat, {4, 5})},
                           {y}})),
            "m: operator \"product\" (MatMul): inner dimensions of 3 and of 4");
  EXPECT_EQ(Refusal(Model({{{"GRU", {"x", "w", "r", "", "", "h"}, {"y"}, {}, "unit"}},
                           {Value("x", kFloat, {5, 1, 3}), Value("w", kFloat, {1, 12, 3}),
                            Value("r", kFloat, {1, 12, 4}), Value("h", kFloat, {1, 224, 4})},
                           {y}})),
            "m: operator \"unit\" (GRU): batches of a sequence and a state of 1 and of 224");
  EXPECT_EQ(Refusal(Model({{{"Relu", {"x"}, {"y"}}}, {x}, {y}, {}, {TensorProto("w", 1, {-1})}})),
            "m: byte 23: a tensor dimension of -1");
  EXPECT_EQ(Refusal(Model({{{"Relu", {"x"}, {"y"}}},
                           {x},
                           {y},
                           {},
                           {TensorProto("w", kInt64, {3}, Int64Data({1, 2}))}})),
            "m: byte 23: tensor \"w\" has 3 elements, but not as many values");
  const std::string graph = GraphProto({{{"Relu", {"x"}, {"y"}}}, {x}, {y}});
  EXPECT_EQ(Refusal(Field(7, graph) + Field(7, graph)),
            "m: byte " + std::to_string(graph.size() + 2) + ": a part comes twice");
  EXPECT_EQ(Refusal(Number(7, 3)), "m: byte 0: field 7 is of the wrong type");
}

TEST(OnnxHostile, PointsAtTheOperatorOfTheModelsOwnGraph) {
  const auto subject = [](const std::string& bytes) {
    const auto model = ReadOnnx(bytes, "m");
    EXPECT_FALSE(model.has_value());
    return model ? Subject() : model.error().subject;
  };
  const std::string x = Value("x", kFloat, {2});
  const std::string y = Value("y", kFloat, {2});
  EXPECT_EQ(subject(Model({{{"Relu", {"x"}, {"a"}}, {"Relu", {"z"}, {"y"}}}, {x}, {y}})),
            Subject::OfOperator(1));
  EXPECT_EQ(subject(Model({{{"Neg", {"x"}, {"a"}}, {"MatMul", {"a", "w"}, {"y"}}},
                           {x, Value("w", kFloat, {4, 5})},
                           {y}})),
            Subject::OfOperator(1));
  EXPECT_EQ(subject(""), Subject());
}

// Cut off at any byte, and with any byte changed: read or refused.
TEST(OnnxHostile, DamageAnywhere) {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE(seed);
    const std::string bytes = MakeRandomOperator(seed).model;
    Random random(seed);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      static_cast<void>(ReadOnnx(bytes.substr(0, i), "m"));
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(random.Uniform(0, 255));
      const auto model = ReadOnnx(damaged, "m");
      if (model) {
        EXPECT_TRUE(Validate(model->graph).has_value());
      }
    }
  }
}

TEST(OnnxHostile, Depth) {
  // Bodies nested in bodies, and groups nested in groups of the wire format.
  for (const int depth : {10, 31, 34, 200, 20000}) {
    std::string body = GraphProto({{{"Relu", {"x"}, {"o"}}}, {}, {Field(1, "o")}});
    for (int i = 1; i < depth && body.size() < 50000; ++i) {
      body =
          GraphProto({{{"If", {"c"}, {"o"}, {Body("then_branch", body), Body("else_branch", "")}}},
                      {},
                      {Field(1, "o")}});
    }
    const std::string refusal = Refusal(
        Model({{{"If", {"c"}, {"y"}, {Body("then_branch", body), Body("else_branch", body)}}},
               {Value("x", kFloat, {2}), Value("c", kBool, {})},
               {Field(1, "y")}}));
    if (depth > 32) {
      EXPECT_EQ(refusal, "m: bodies are nested more than 32 deep") << depth;
    } else {
      EXPECT_NE(refusal.find("its else_branch 0"), std::string::npos) << refusal;
    }
  }
  const std::string groups = std::string(1000000, '\x4b') + std::string(1000000, '\x4c');
  EXPECT_EQ(Refusal(groups), "m: byte 0: this is not an ONNX model: it has no graph");
  EXPECT_EQ(Refusal(groups + groups.substr(0, 500)),
            "m: byte 2000000: damaged or cut off in the model");
}

// Functions that call each other twice: a few hundred bytes that represent 2^40 operators. And one
// that calls itself.
TEST(OnnxHostile, FunctionsOfExponentialSize) {
  const auto function = [](const std::string& name, const std::string& callee) {
    return Field(25, Field(1, name) + Field(4, "x") + Field(5, "y") +
                         Field(7, NodeProto({callee, {"x"}, {"t"}, {}, "", "d"})) +
                         Field(7, NodeProto({callee, {"t"}, {"y"}, {}, "", "d"})) +
                         Field(9, Opset("d", 1)) + Field(10, "d"));
  };
  const onnx_build::Graph graph{
      {{"f0", {"x"}, {"y"}, {}, "", "d"}}, {Value("x", kFloat, {2})}, {Field(1, "y")}};
  std::string functions = Field(8, Opset("d", 1));
  EXPECT_EQ(Refusal(Model(graph, 13, functions + function("f0", "f0"))),
            "m: functions are nested more than 32 deep");
  for (int i = 0; i < 30; ++i) {
    functions += function("f" + std::to_string(i), "f" + std::to_string(i + 1));
  }
  EXPECT_NE(Refusal(Model(graph, 13, functions)).find("more than 2^"), std::string::npos);
}

// Sizes that do not fit into 64 bits, in several ways.
TEST(OnnxHostile, HugeSizes) {
  const std::int64_t large = std::int64_t{1} << 40;
  const std::vector<Node> nodes = {
      {"Relu", {"x"}, {"y"}},
      {"Concat", {"x", "x", "x"}, {"y"}, {Int("axis", 0)}},
      {"Flatten", {"x"}, {"y"}},
      {"Flatten", {"x"}, {"y"}, {Int("axis", 2)}},
      {"Tile", {"x", "r"}, {"y"}},
      {"Expand", {"x", "r"}, {"y"}},
      {"Pad", {"x", "p"}, {"y"}},
      {"Reshape", {"x", "one"}, {"y"}},
      {"MatMul", {"x", "x"}, {"y"}},
      {"Conv", {"x", "x"}, {"y"}, {List("pads", {large, large, large, large})}},
      {"ConvTranspose", {"x", "x"}, {"y"}, {List("strides", {large, large})}},
      {"MaxPool", {"x"}, {"y"}, {List("kernel_shape", {large, large})}},
      {"DepthToSpace", {"x"}, {"y"}, {Int("blocksize", large)}},
      {"SpaceToDepth", {"x"}, {"y"}, {Int("blocksize", 1 << 30)}},
      {"Resize", {"x", "", "", "r"}, {"y"}},
      {"ConstantOfShape", {"r"}, {"y"}},
      {"Range", {"low", "high", "step"}, {"y"}},
      {"OneHot", {"x", "high", "x"}, {"y"}},
      {"Unsqueeze", {"x", "p"}, {"y"}},
      {"Slice", {"x", "p", "p", "p", "p"}, {"y"}},
      {"Attention", {"x", "x", "x"}, {"y"}, {Int("q_num_heads", large), Int("kv_num_heads", 1)}},
  };
  for (const Node& node : nodes) {
    for (const Dims& dims : {Dims{large, large, large, large}, Dims{large, 2, 3, 4},
                             Dims{std::int64_t{0}, 1, large, 5}}) {
      const std::string bytes =
          Model({{node},
                 {Value("x", kFloat, dims)},
                 {Field(1, "y")},
                 {},
                 {Int64Tensor("r", {large, large, large, large}),
                  Int64Tensor("p", {large, INT64_MAX, INT64_MIN, large, -large, 0, 1, 2}),
                  Int64Tensor("one", {-1}), TensorProto("low", kInt64, {}, Int64Data({INT64_MIN})),
                  TensorProto("high", kInt64, {}, Int64Data({INT64_MAX})),
                  TensorProto("step", kInt64, {}, Int64Data({1}))}});
      const auto model = ReadOnnx(bytes, "m");
      if (model) {
        EXPECT_TRUE(Validate(model->graph).has_value()) << node.type;
      }
    }
  }
}

// Two bytes make an operator; a file of a few hundred megabytes of these is rejected before it uses
// all memory. (A smaller file here: the limit is counted, not measured.)
TEST(OnnxHostile, ManyEmptyOperators) {
  std::string nodes;
  for (int i = 0; i < 50000; ++i) nodes += std::string("\x0a\x00", 2);
  const auto model = ReadOnnx(Field(7, nodes) + Field(8, Opset("", 13)), "m");
  ASSERT_TRUE(model.has_value()) << model.error().message;
  EXPECT_EQ(model->graph.operators.size(), 50000);
}

// A file of 3 GiB, all but a few hundred bytes of which are a weight (and a hole on the disk): it
// is mapped, and neither read nor copied.
TEST(OnnxHostile, WeightsOfGigabytesAreSkipped) {
  constexpr std::int64_t kRows = std::int64_t{3} << 20;
  const std::string claim = TensorProto("w", kFloat, {kRows, 256});
  const std::uint64_t raw = std::uint64_t{3} << 30;
  const std::string raw_head = Varint((9U << 3) | 2) + Varint(raw);
  const std::string weight_head =
      Varint((5U << 3) | 2) + Varint(claim.size() + raw_head.size() + raw) + claim + raw_head;
  const std::string rest = GraphProto({{{"MatMul", {"x", "w"}, {"a"}}, {"Relu", {"a"}, {"y"}}},
                                       {Value("x", kFloat, {1, kRows})},
                                       {Field(1, "y")}});
  const std::string head = Number(1, 7) + Field(8, Opset("", 13)) + Varint((7U << 3) | 2) +
                           Varint(weight_head.size() + raw + rest.size()) + weight_head;
  const std::string path = testing::TempDir() + "berth_onnx_3GiB_" + std::to_string(getpid());
  {
    std::ofstream file(path, std::ios::binary);
    file << head;
    file.seekp(static_cast<std::streamoff>(raw), std::ios::cur);
    file << rest;
    if (!file.good()) {
      std::filesystem::remove(path);
      GTEST_SKIP() << "no room for a file of 3 GiB, though it is all hole";
    }
  }
  struct rusage before {};
  getrusage(RUSAGE_SELF, &before);
  {
    const auto file = FileView::Open(path);
    ASSERT_TRUE(file.has_value()) << file.error().message;
    const auto model = ReadOnnx(file->bytes(), "m");
    ASSERT_TRUE(model.has_value()) << model.error().message;
    EXPECT_EQ(model->graph.tensors[1].bytes, static_cast<Bytes>(raw));
    EXPECT_EQ(model->graph.tensors[2].bytes, 1024);
    EXPECT_TRUE(ReorderOnnx(file->bytes(), "m", {1, 0}).has_value());
  }
  struct rusage after {};
  getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 20000) << "KiB";
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace berth::internal
