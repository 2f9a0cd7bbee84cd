// Models with their nodes in another order, byte by byte.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "berth/onnx.h"
#include "tests/onnx/build.h"

namespace berth::internal {
namespace {

using namespace onnx_build;  // NOLINT(google-build-using-namespace): its words are the test's.

std::string Join(const std::vector<std::string_view>& pieces) {
  std::string text;
  for (const std::string_view piece : pieces) text += piece;
  return text;
}

std::string Entry(const Node& node) { return Field(1, NodeProto(node)); }

TEST(OnnxReorder, MovesEntriesAndChangesNothingElse) {
  const std::string a = Entry({"Relu", {"x"}, {"a"}, {}, "first"});
  // With unknown fields.
  const std::string b = Field(1, NodeProto({"Neg", {"x"}, {"b"}}) + Field(777, "unknown") +
                                     Number(778, 5) + Real(779, 1.5F));
  const std::string c = Entry({"Add", {"a", "b"}, {"y"}, {}, "a longer name than the others have"});
  const std::string weight =
      Field(5, TensorProto("w", kFloat, {1000}, Field(9, std::string(4000, '\7'))));
  const std::string rest = Field(11, Value("x", kFloat, {2})) + Field(12, Value("y", kFloat, {2})) +
                           Field(900, "of the graph, unknown");
  const auto model = [&](const std::string& n0, const std::string& n1, const std::string& n2) {
    // Other fields lie between the nodes.
    return Number(1, 7) + Field(7, Field(2, "g") + n0 + weight + n1 + rest + n2) +
           Field(8, Opset("", 13)) + Field(901, "of the model, unknown");
  };
  const std::string bytes = model(a, b, c);
  ASSERT_TRUE(ReadOnnx(bytes, "m").has_value());
  const auto same = ReorderOnnx(bytes, "m", {0, 1, 2});
  ASSERT_TRUE(same.has_value());
  EXPECT_EQ(same->size(), 1);  // Nothing moves: one piece.
  EXPECT_EQ(Join(*same), bytes);
  const auto swapped = ReorderOnnx(bytes, "m", {1, 0, 2});
  ASSERT_TRUE(swapped.has_value());
  EXPECT_EQ(Join(*swapped), model(b, a, c));
  const auto turned = ReorderOnnx(bytes, "m", {2, 0, 1});
  ASSERT_TRUE(turned.has_value());
  EXPECT_EQ(Join(*turned), model(c, a, b));
}

// Lengths may be encoded longer than necessary; such entries are moved unchanged.
TEST(OnnxReorder, KeepsUnusualEncodings) {
  const std::string node = NodeProto({"Relu", {"x"}, {"a"}});
  const std::string padded = std::string("\x8a\x80\x00", 3) +
                             static_cast<char>(node.size() | 0x80) + std::string("\x80\x00", 2) +
                             node;
  const std::string plain = Entry({"Relu", {"x"}, {"b"}});
  const auto model = [&](const std::string& n0, const std::string& n1) {
    return Number(1, 7) + Field(7, n0 + n1 + Field(11, Value("x", 1, {2}))) +
           Field(8, Opset("", 13));
  };
  const std::string bytes = model(padded, plain);
  ASSERT_TRUE(ReadOnnx(bytes, "m").has_value()) << ReadOnnx(bytes, "m").error().message;
  const auto swapped = ReorderOnnx(bytes, "m", {1, 0});
  ASSERT_TRUE(swapped.has_value());
  EXPECT_EQ(Join(*swapped), model(plain, padded));
}

TEST(OnnxReorder, RejectsInvalidOrders) {
  const std::string bytes = Model({{{"Relu", {"x"}, {"a"}}, {"Relu", {"a"}, {"y"}}},
                                   {Value("x", kFloat, {2})},
                                   {Value("y", kFloat, {2})}});
  const auto refusal = [&](const Order& order) {
    const auto pieces = ReorderOnnx(bytes, "m", order);
    return pieces ? "reordered" : pieces.error().message;
  };
  EXPECT_EQ(refusal({0}), "m: an order of 1 operators for a model of 2");
  EXPECT_EQ(refusal({0, 0}), "m: the order has operator number 0 twice");
  EXPECT_EQ(refusal({0, 2}), "m: the order has operator number 2, which the model does not have");
  EXPECT_EQ(ReorderOnnx("\x0a", "m", {}).error().message.substr(0, 10), "m: byte 0:");
}

}  // namespace
}  // namespace berth::internal
