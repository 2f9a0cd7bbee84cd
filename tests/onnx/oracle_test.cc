// Berth's importer against ONNX's own library: shapes of operators with random operands and
// attributes, whole models without their shapes, and reordered models.

#include <gtest/gtest.h>
#include <onnx/checker.h>
#include <onnx/defs/schema.h>
#include <onnx/onnx_pb.h>
#include <onnx/shape_inference/implementation.h>

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
#include "io/onnx/rules.h"
#include "io/onnx/types.h"
#include "testing/random_graph.h"
#include "tests/onnx/build.h"
#include "tests/onnx/random_operator.h"

namespace berth::internal {
namespace {

using onnx_build::RandomOperator;

std::string ShapeText(const ::onnx::TypeProto& type) {
  if (type.value_case() != ::onnx::TypeProto::kTensorType) return "no tensor";
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

// The shapes that the library infers, by value; nothing if it rejects the model.
std::optional<std::map<std::string, std::string>> LibraryShapes(std::string_view bytes) {
  ::onnx::ModelProto model;
  if (!model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return std::nullopt;
  for (auto& output : *model.mutable_graph()->mutable_output()) output.clear_type();
  try {
    ::onnx::shape_inference::InferShapes(model, ::onnx::OpSchemaRegistry::Instance(),
                                         ::onnx::ShapeInferenceOptions(true, 1, true));
  } catch (const std::exception&) {
    return std::nullopt;
  }
  std::map<std::string, std::string> shapes;
  const auto add = [&](const ::onnx::ValueInfoProto& value) {
    shapes[value.name()] = ShapeText(value.type());
    const auto type = onnx::FindElementType(value.type().tensor_type().elem_type());
    shapes[value.name() + ":type"] = type ? type->name : "";
  };
  for (const auto& value : model.graph().value_info()) add(value);
  for (const auto& value : model.graph().output()) add(value);
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
      // Cannot run, although the library does not check it.
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
      EXPECT_EQ(tensor.dtype, library->at(tensor.name + ":type")) << random.text;
      ++compared[random.type];
    }
  }
  for (const std::string& type : onnx_build::RandomOperatorTypes()) {
    // For these the library of ONNX 1.12 never infers all dimensions.
    if (type == "OneHot" || type == "NonZero") continue;
    EXPECT_GE(compared[type], 20) << type;
  }
}

// Real models; skipped if there are none.
class OnnxModels : public testing::Test {
 protected:
  void SetUp() override {
    const char* const data = std::getenv("BERTH_DATA");
    if (data == nullptr) GTEST_SKIP() << "BERTH_DATA is not set";
    for (const auto& entry :
         std::filesystem::directory_iterator(std::string(data) + "/graphs/inference")) {
      if (entry.path().extension() == ".onnx") paths_.push_back(entry.path().string());
    }
    ASSERT_FALSE(paths_.empty());
  }
  std::vector<std::string> paths_;
};

// Without the shapes in the file, the importer infers the same shapes.
TEST_F(OnnxModels, ShapesFollowFromTheInputs) {
  for (const std::string& path : paths_) {
    SCOPED_TRACE(path);
    const auto file = ReadFile(path);
    ASSERT_TRUE(file.has_value());
    const auto with = ReadOnnx(*file, "m");
    ASSERT_TRUE(with.has_value()) << with.error().message;
    ::onnx::ModelProto model;
    ASSERT_TRUE(model.ParseFromString(*file));
    model.mutable_graph()->clear_value_info();
    for (auto& output : *model.mutable_graph()->mutable_output()) {
      output.mutable_type()->mutable_tensor_type()->clear_shape();
    }
    const auto without = ReadOnnx(model.SerializeAsString(), "m");
    ASSERT_TRUE(without.has_value()) << without.error().message;
    EXPECT_EQ(with->graph, without->graph);
  }
}

// In any order that the graph allows, the library accepts the model; its nodes are the original
// ones in that order, and everything else is unchanged.
TEST_F(OnnxModels, ReorderedModelsPassTheChecker) {
  for (const std::string& path : paths_) {
    SCOPED_TRACE(path);
    const auto file = ReadFile(path);
    ASSERT_TRUE(file.has_value());
    const auto read = ReadOnnx(*file, "m");
    ASSERT_TRUE(read.has_value()) << read.error().message;
    const Order order = RandomOrder(read->graph, 1);
    ASSERT_TRUE(ValidateOrder(read->graph, order).has_value());
    ASSERT_NE(order, ProgramOrder(read->graph));
    const auto pieces = ReorderOnnx(*file, "m", order);
    ASSERT_TRUE(pieces.has_value());
    std::string reordered;
    for (const std::string_view piece : *pieces) reordered += piece;

    ::onnx::ModelProto before;
    ::onnx::ModelProto after;
    ASSERT_TRUE(before.ParseFromString(*file));
    ASSERT_TRUE(after.ParseFromString(reordered));
    EXPECT_NO_THROW(::onnx::checker::check_model(after));
    ASSERT_EQ(before.graph().node_size(), after.graph().node_size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      ASSERT_EQ(after.graph().node(static_cast<int>(i)).SerializeAsString(),
                before.graph().node(static_cast<int>(order[i])).SerializeAsString());
    }
    before.mutable_graph()->clear_node();
    after.mutable_graph()->clear_node();
    EXPECT_EQ(before.SerializeAsString(), after.SerializeAsString());
  }
}

// A row that follows an older version than the library knows, or a version that never was, is out
// of date. Operators that newer versions of ONNX deprecate keep the last version that was in use.
TEST(OnnxRules, FollowTheVersionsThatTheLibraryKnows) {
  const int newest = ::onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map().at("").second;
  int compared = 0;
  for (const onnx::OperatorRule& rule : onnx::OnnxRules()) {
    const std::string name(rule.name);
    const ::onnx::OpSchema* schema = ::onnx::OpSchemaRegistry::Schema(name, newest, "");
    if (schema != nullptr && schema->Deprecated()) {
      schema = ::onnx::OpSchemaRegistry::Schema(name, schema->SinceVersion() - 1, "");
    }
    const int known = schema == nullptr ? 0 : schema->SinceVersion();
    if (rule.version <= newest) {
      EXPECT_EQ(rule.version, known) << name;
      ++compared;
    } else {
      EXPECT_LT(known, rule.version) << name;
    }
  }
  EXPECT_GT(compared, 50);
}

}  // namespace
}  // namespace berth::internal
