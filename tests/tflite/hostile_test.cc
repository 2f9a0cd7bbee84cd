// Damaged and hostile files.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "berth/tflite.h"
#include "tests/tflite/builder.h"

namespace berth {
namespace {

using tflite_build::Build;
using tflite_build::TfliteFile;

std::string Refusal(const std::string& bytes) {
  const auto model = ReadTflite(bytes, "m");
  return model ? "read" : model.error().message;
}

// A subgraph of `count` tensors of one byte, of which its only operator has all as inputs.
tflite_build::TfliteSubgraph Wide(std::int32_t count) {
  tflite_build::TfliteSubgraph graph;
  for (std::int32_t t = 0; t < count; ++t) {
    graph.tensors.push_back({std::to_string(t), {1}});
    graph.inputs.push_back(t);
  }
  graph.tensors.push_back({"sum", {1}});
  graph.outputs = {count};
  graph.operators.push_back({tflite_build::kCustomOp, graph.inputs, graph.outputs, {}, "SUM"});
  return graph;
}

TEST(TfliteHostile, AnOperatorMayHaveManyInputs) {
  TfliteFile file;
  file.subgraphs = {Wide(300'000)};
  const auto model = ReadTflite(Build(file), "m");
  ASSERT_TRUE(model.has_value()) << model.error().message;
  EXPECT_EQ(model->graph.operators.back().inputs.size(), 300'000u);
  EXPECT_EQ(
      ReadTflmArena(Build(file), "m").error().message,
      "m: the interpreter's plan is computed for at most 32,768 tensors and requests of scratch "
      "memory; the model has 300,001");
}

TEST(TfliteHostile, LongListsAreNotReadTooOften) {
  TfliteFile file;
  tflite_build::TfliteSubgraph main;
  for (int i = 0; i < 20'000; ++i) {
    main.operators.push_back({tflite_build::kCallOnceOp, {}, {}, {1}});
  }
  file.subgraphs = {main, Wide(50'000)};
  EXPECT_EQ(Refusal(Build(file)), "m: its subgraphs run each other too often");
}

TEST(TfliteHostile, NamesOfOpenDimensionsAreNotMultiplied) {
  TfliteFile file = tflite_build::TwoBranches();
  file.subgraphs[0].tensors.push_back(
      {std::string(1'000'000, 'x'), std::vector<std::int32_t>(200'000, -1)});
  const auto model = ReadTflite(Build(file), "m");
  ASSERT_TRUE(model.has_value()) << model.error().message;
  EXPECT_TRUE(std::any_of(model->notes.begin(), model->notes.end(), [](const std::string& note) {
    return note.starts_with("The file leaves 200,000 dimensions open");
  }));
}

TEST(TfliteHostile, NamesTheFault) {
  EXPECT_EQ(Refusal(""), "m: not a TensorFlow Lite model: it does not have \"TFL3\" at byte 4");
  EXPECT_EQ(Refusal(std::string("\x80\0\0\0TFL3", 8)),
            "m: byte 0: a reference leads outside the file");
  TfliteFile none;
  EXPECT_EQ(Refusal(Build(none)), "m: it has no subgraph, and so no operators");
  const auto with = [](auto change) {
    TfliteFile file = tflite_build::TwoBranches();
    change(file.subgraphs[0]);
    return Refusal(Build(file));
  };
  EXPECT_EQ(with([](auto& g) { g.inputs = {9}; }), "m: an input is tensor 9 of 7");
  EXPECT_EQ(with([](auto& g) { g.operators[1].inputs = {-2}; }),
            "m: an input of operator 1 (CONV_2D) is tensor -2 of 7");
  EXPECT_EQ(with([](auto& g) { g.tensors[6].buffer = 5; }),
            "m: tensor 6 (\"w\") is in buffer 5 of 2");
  EXPECT_EQ(with([](auto& g) { g.operators[1].outputs = {1}; }),
            "m: tensor 1 (\"a1\") is made twice, at last by operator 1 (CONV_2D)");
  EXPECT_EQ(with([](auto& g) { std::swap(g.operators[0], g.operators[2]); }),
            "m: operator 0 (CONV_2D) reads tensor 1 (\"a1\") before operator 2 (CONV_2D) makes it");
  EXPECT_EQ(with([](auto& g) {
              g.tensors[1].shape = {1 << 30, 1 << 30, 1 << 30};
            }),
            "m: tensor 1 (\"a1\") has more than 2^60 bytes; all tensors together may have 2^60");
  EXPECT_EQ(with([](auto& g) {
              g.operators[1] = {tflite_build::kIfOp, {0}, {2}, {0, 0}};
            }),
            "m: subgraph 0 runs itself");
  EXPECT_EQ(with([](auto& g) {
              g.operators[1] = {tflite_build::kIfOp, {0}, {2}, {3, 0}};
            }),
            "m: operator 1 (IF) runs subgraph 3 of 1");
}

TEST(TfliteHostile, CallsAreLimited) {
  // Each subgraph runs the next one twice: 2^40 runs.
  TfliteFile file = tflite_build::TwoBranches();
  file.subgraphs[0].operators[1] = {tflite_build::kIfOp, {0}, {2}, {1, 1}};
  for (std::int32_t s = 1; s <= 40; ++s) {
    tflite_build::TfliteSubgraph next;
    next.tensors = {{"t", {1}}};
    if (s < 40) next.operators = {{tflite_build::kIfOp, {0}, {}, {s + 1, s + 1}}};
    file.subgraphs.push_back(next);
  }
  EXPECT_EQ(Refusal(Build(file)), "m: its subgraphs run each other too often");
  // A chain of a hundred.
  for (std::size_t s = 1; s <= 40; ++s) file.subgraphs[s].operators.clear();
  for (std::int32_t s = 1; s < 100; ++s) {
    if (s >= 41) file.subgraphs.push_back({});
    file.subgraphs[static_cast<std::size_t>(s)].operators = {
        {tflite_build::kCallOnceOp, {}, {}, {s + 1}}};
  }
  file.subgraphs.push_back({});
  EXPECT_EQ(Refusal(Build(file)), "m: subgraphs run each other more than 64 deep");
}

// Many tensors whose entries all refer to one table.
TEST(TfliteHostile, SharedTablesAreLimited) {
  TfliteFile file = tflite_build::TwoBranches();
  file.subgraphs[0].tensors[0].name = std::string(1 << 16, 'x');
  for (int i = 0; i < 4096; ++i) file.subgraphs[0].tensors.push_back({"", {1}});
  std::string bytes = Build(file);
  // The list of tensors comes right after the first table of the subgraph; its first element is "in".
  const std::size_t count = bytes.find(std::string("\x07\x10\0\0", 4));
  ASSERT_NE(count, std::string::npos);
  std::uint32_t to = 0;
  for (int i = 3; i >= 0; --i) {
    to = to << 8 | static_cast<unsigned char>(bytes[count + 4 + static_cast<std::size_t>(i)]);
  }
  for (std::uint32_t k = 0; k < 4103; ++k) {
    const std::uint32_t distance = to - 4 * k;
    for (std::uint32_t i = 0; i < 4; ++i) {
      bytes[count + 4 + 4 * k + i] = static_cast<char>(distance >> (8 * i));
    }
  }
  EXPECT_NE(Refusal(bytes).find("the file refers to the same parts too often"), std::string::npos)
      << Refusal(bytes);
}

// Whatever bytes change, a file is read or refused with one line, and what is read can be planned.
TEST(TfliteHostile, ChangedBytes) {
  const std::string original =
      Build(tflite_build::WithPlan(tflite_build::TwoBranches(), {0, 16, 176, 0, 16, 32, -1}));
  ASSERT_TRUE(ReadTflmArena(original, "m").has_value());
  internal::Random random(1);
  int read = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    std::string bytes = original;
    for (std::int64_t i = random.Uniform(1, 3); i > 0; --i) {
      const auto at = static_cast<std::size_t>(random.Uniform(8, std::ssize(bytes) - 1));
      bytes[at] =
          static_cast<char>(random.Chance(0.5) ? random.Uniform(0, 8) : random.Uniform(0, 255));
    }
    if (random.Chance(0.1)) {
      bytes.resize(static_cast<std::size_t>(random.Uniform(8, std::ssize(bytes))));
    }
    const auto model = ReadTflite(bytes, "m");
    const auto arena = ReadTflmArena(bytes, "m");
    if (!model) {
      EXPECT_EQ(model.error().message.substr(0, 3), "m: ");
      EXPECT_EQ(model.error().message.find('\n'), std::string::npos);
      continue;
    }
    ++read;
    EXPECT_TRUE(Validate(model->graph).has_value());
    MemoryPlan plan;
    plan.order = ProgramOrder(model->graph);
    static_cast<void>(WriteTflite(bytes, "m", model->graph, plan));
  }
  EXPECT_GT(read, 1000);
}

}  // namespace
}  // namespace berth
