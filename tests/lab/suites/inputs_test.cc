#include "tools/lab/suites/inputs.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <tuple>
#include <vector>

#include "berth/device.h"
#include "berth/file.h"
#include "berth/graph_io.h"
#include "tools/lab/suites/cosma.h"

namespace berth::lab {
namespace {

TEST(Inputs, AreSpreadFromTheSmallestToTheLargest) {
  std::vector<SuiteInput> inputs(10);
  for (std::size_t i = 0; i < inputs.size(); ++i) inputs[i].problem.buffers.resize(10 - i);
  const auto sizes = [](const std::vector<SuiteInput>& chosen) {
    std::vector<std::size_t> counts;
    for (const SuiteInput& input : chosen) counts.push_back(input.problem.buffers.size());
    return counts;
  };
  EXPECT_EQ(sizes(SpreadOut(inputs, 4)), (std::vector<std::size_t>{1, 4, 7, 10}));
  EXPECT_EQ(sizes(SpreadOut(inputs, 1)), (std::vector<std::size_t>{5}));
  EXPECT_EQ(sizes(SpreadOut(inputs, 99)).size(), 10U);
  EXPECT_TRUE(SpreadOut(std::vector<SuiteInput>(), 3).empty());
}

TEST(Inputs, BatchesAreNumbersBehindTheNamesOfTrainingSteps) {
  Graph graph;
  graph.tensors = {{"w", 4, 1, TensorKind::kParameter}, {"x", 4}};
  graph.operators = {{"make", "Op", {}, {1}}, {"step", "sgd", {1}, {}, {0}}};
  const std::filesystem::path folder = testing::TempDir() + "berth-batches";
  std::filesystem::create_directory(folder);
  const auto read = [&](const std::string& name) {
    const std::string path = (folder / (name + ".json")).string();
    EXPECT_TRUE(WriteFile(path, WriteGraphJson(graph)).has_value());
    auto inputs = ReadGraphs({path});
    EXPECT_TRUE(inputs.has_value()) << inputs.error().message;
    return inputs ? inputs->front() : GraphInput{};
  };
  graph.operators[1].update = true;
  for (const auto& [name, model, group, batch] :
       {std::tuple("net_b32", "net", "batch 32", std::int64_t{32}),
        std::tuple("a_b2_b008", "a_b2", "batch 8", std::int64_t{8}),
        std::tuple("net_b0", "net_b0", "training", std::int64_t{1}),
        std::tuple("net_b99999999999999999999", "net_b99999999999999999999", "training",
                   std::int64_t{1}),
        std::tuple("net_b-4", "net_b-4", "training", std::int64_t{1}),
        std::tuple("net_b", "net_b", "training", std::int64_t{1}),
        std::tuple("net_b2x", "net_b2x", "training", std::int64_t{1})}) {
    const GraphInput input = read(name);
    EXPECT_EQ(input.name, name);
    EXPECT_EQ(input.model, model);
    EXPECT_EQ(input.group, group);
    EXPECT_EQ(input.batch, batch);
  }
  graph.operators[1].update = false;
  EXPECT_EQ(read("vit_b_16").group, "inference");
  EXPECT_EQ(read("net_b4").group, "inference");
  EXPECT_EQ(read("net_b4").batch, 1);
  std::filesystem::remove_all(folder);
}

// The device that readers of the documents run is that of the experiment.
TEST(Inputs, TheAcceleratorOfTheExamplesIsThatOfCosma) {
  const auto text = ReadFile(BERTH_SOURCE_DIR "/examples/devices/edge-accelerator.json");
  ASSERT_TRUE(text.has_value()) << text.error().message;
  const auto device = ReadDevice(*text, "edge-accelerator.json");
  ASSERT_TRUE(device.has_value()) << device.error().message;
  EXPECT_EQ(*device, CosmaAccelerator());
}

}  // namespace
}  // namespace berth::lab
