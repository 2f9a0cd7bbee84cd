// Reordered models compute the same results in onnxruntime. Skipped if node or its module
// onnxruntime-node is not installed.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "berth/io.h"
#include "berth/onnx.h"
#include "testing/random_graph.h"

namespace berth::internal {
namespace {

const std::string kScript = BERTH_SOURCE_DIR "/tests/onnx/run_both.js";

int Shell(const std::string& command) {
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(OnnxRuntime, ReorderedModelsComputeTheSame) {
  if (Shell("node -e \"require('onnxruntime-node')\" > /dev/null 2>&1") != 0) {
    GTEST_SKIP() << "node or its module onnxruntime-node is not installed";
  }
  std::vector<std::string> models = {BERTH_SOURCE_DIR "/examples/cells.onnx"};
  if (const char* const data = std::getenv("BERTH_DATA")) {
    for (const char* name : {"squeezenet1_0", "hmcos_darts_cifar", "hmcos_randwire"}) {
      models.push_back(std::string(data) + "/graphs/inference/" + name + ".onnx");
    }
  }
  const std::string reordered =
      testing::TempDir() + "berth_reordered_" + std::to_string(getpid()) + ".onnx";
  for (const std::string& path : models) {
    for (std::uint64_t seed = 1; seed <= 2; ++seed) {
      SCOPED_TRACE(path + ", seed " + std::to_string(seed));
      const auto file = FileView::Open(path);
      ASSERT_TRUE(file.has_value()) << file.error().message;
      const auto model = ReadOnnx(file->bytes(), path);
      ASSERT_TRUE(model.has_value()) << model.error().message;
      const Order order = RandomOrder(model->graph, seed);
      const auto pieces = ReorderOnnx(file->bytes(), path, order);
      ASSERT_TRUE(pieces.has_value()) << pieces.error().message;
      ASSERT_TRUE(WriteFile(reordered, *pieces).has_value());
      EXPECT_EQ(Shell("node '" + kScript + "' '" + path + "' '" + reordered + "' " +
                      std::to_string(seed)),
                0);
    }
  }
  std::filesystem::remove(reordered);
}

}  // namespace
}  // namespace berth::internal
