// What ONNX's own library says of a model against what we say: shapes of operators with random
// operands and attributes, whole models without their shapes, and models in another order.

#include <onnx/checker.h>
#include <onnx/onnx_pb.h>
#include <onnx/shape_inference/implementation.h>

#include <gtest/gtest.h>

#include <cstdlib>
#include <exception>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "berth/io.h"
#include "berth/onnx.h"
#include "testing/random_graph.h"
#include "tests/onnx/build.h"
#include "tests/onnx/random_operator.h"

namespace berth::internal {
namespace {

using onnx_build::RandomOperator;

std::string ShapeText(const onnx::TypeProto& type) {
  if (type.value_case() != onnx::TypeProto::kTensorType) return "no tensor";
  const auto& tensor = type.tensor_type();
  if (!tensor.has_shape()) return "?";
  if (tensor.shape().dim_size() == 0) return "scalar";
  std::string text;
  for (const auto& dim : tensor.shape().dim()) {
    if (!text.empty()) text += 'x';
    text += dim.has_dim_value() ? std::to_string(dim.dim_value()) : "?";
  }
  return text;
}

// The shapes that the library finds, by value; nothing where it refuses the model.
std::optional<std::map<std::string, std::string>> LibraryShapes(std::string_view bytes) {
  onnx::ModelProto model;
  if (!model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return std::nullopt;
  for (auto& output : *model.mutable_graph()->mutable_output()) output.clear_type();
  try {
    onnx::shape_inference::InferShapes(model, onnx::OpSchemaRegistry::Instance(),
                                       onnx::ShapeInferenceOptions(true, 1, true));
  } catch (const std::exception&) {
    return std::nullopt;
  }
  std::map<std::string, std::string> shapes;
  for (const auto& value : model.graph().value_info()) {
    shapes[value.name()] = ShapeText(value.type());
  }
  for (const auto& value : model.graph().output()) shapes[value.name()] = ShapeText(value.type());
  return shapes;
}

TEST(OnnxOracle, RandomOperatorsHaveTheLibrarysShapes) {
  std::map<std::string, int> compared;
  for (std::uint64_t seed = 1; seed <= 20000; ++seed) {
    SCOPED_TRACE(seed);
    const RandomOperator random = onnx_build::MakeRandomOperator(seed);
    const auto library = LibraryShapes(random.model);
    const auto ours = ReadOnnx(random.model, "m");
    if (!library) continue;
    if (!ours) {
      // What cannot run, though the library does not look.
      const std::string& message = ours.error().message;
      const bool known = message.find("comes twice") != std::string::npos ||
                         message.find("elements are reshaped to") != std::string::npos ||
                         message.find("channels of") != std::string::npos ||
                         message.find("a window of") != std::string::npos;
      EXPECT_TRUE(known) << random.text << ": " << message;
      continue;
    }
    for (const Tensor& tensor : ours->graph.tensors) {
      const auto found = library->find(tensor.name);
      if (found == library->end() || tensor.kind == TensorKind::kInput) continue;
      const std::string& theirs = found->second;
      if (theirs.find('?') != std::string::npos || theirs == "no tensor") continue;
      if (random.may_be_open && tensor.shape.find('?') != std::string::npos) continue;
      EXPECT_EQ(tensor.shape, theirs) << random.text << ": " << tensor.name << tensor.unplanned;
      ++compared[random.type];
    }
  }
  for (const std::string& type : onnx_build::RandomOperatorTypes()) {
    // Of these the library of ONNX 1.12 never knows all dimensions.
    if (type != "OneHot" && type != "NonZero") EXPECT_GE(compared[type], 20) << type;
  }
}

}  // namespace
}  // namespace berth::internal
