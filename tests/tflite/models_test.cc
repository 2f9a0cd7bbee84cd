// Real models, if the environment variable BERTH_DATA names a folder that contains them.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "berth/io.h"
#include "berth/plan.h"
#include "berth/tflite.h"

namespace berth {
namespace {

// Bytes. `interpreter` is what the interpreter of the Python package tflite-micro reports as the
// head of its arena; it also has scratch memory in keyword_scrambled and trained_lstm (384, 320 and
// 192 bytes more), and does not run mobilenet_v1 and person_detect_vela.
struct Golden {
  const char* file;
  Bytes interpreter;  // With its own plan, or with that of the file.
  Bytes as_written;   // With Berth's plan, in the order of the file.
  Bytes reordered;    // In the best order.
};
constexpr Golden kGolden[] = {
    {"ad01_int8.tflite", 768, 768, 768},
    {"audio_preprocessor_int8.tflite", 3040, 2096, 2096},
    {"call_once_mul.bin", 48, 48, 48},
    {"hello_world_float.tflite", 128, 128, 128},
    {"hello_world_int8.tflite", 32, 32, 32},
    {"keyword_scrambled.tflite", 288, 288, 288},
    {"keyword_scrambled_8bit.tflite", 288, 288, 288},
    {"kws_ref_model.tflite", 16000, 16000, 16000},
    {"micro_speech_quantized.tflite", 5968, 5968, 5968},
    {"mobilenet_v1_0.25_128_quant.tflite", 131072, 98304, 98304},
    {"multi_add.bin", 3840, 3840, 3840},
    {"multi_subgraphs_while.bin", 128, 128, 128},
    {"nested_while.bin", 112, 112, 112},
    {"person_detect.tflite", 55296, 55296, 55296},
    {"person_detect_vela.tflite", 74464, 74464, 74464},
    {"pretrainedResnet_quant.tflite", 49152, 49152, 49152},
    {"trained_lstm.tflite", 5376, 5376, 5376},
    {"trained_lstm_int8.tflite", 1344, 1344, 1344},
    {"two_subgraphs.bin", 0, 0, 0},
    {"vww_96_int8.tflite", 73728, 55296, 55296},
};

TEST(TfliteModels, Golden) {
  const char* const data = std::getenv("BERTH_DATA");
  const std::filesystem::path folder =
      std::filesystem::path(data == nullptr ? "" : data) / "tflite";
  if (data == nullptr || !std::filesystem::is_directory(folder)) {
    GTEST_SKIP() << "BERTH_DATA names no folder with tflite";
  }
  for (const Golden& golden : kGolden) {
    SCOPED_TRACE(golden.file);
    const auto file = FileView::Open((folder / golden.file).string());
    if (!file) continue;
    const std::string_view bytes = file->bytes();
    const auto arena = ReadTflmArena(bytes, golden.file);
    const auto model = ReadTflite(bytes, golden.file);
    ASSERT_TRUE(arena.has_value()) << arena.error().message;
    ASSERT_TRUE(model.has_value()) << model.error().message;
    EXPECT_EQ(arena->height, golden.interpreter);
    for (const bool reorder : {false, true}) {
      PlanOptions options;
      if (!reorder) options.order = ProgramOrder(model->graph);
      Budget budget;
      const auto answer = Plan(model->graph, options, budget);
      ASSERT_TRUE(answer.has_value() && answer->best.has_value());
      EXPECT_TRUE(answer->outcome == Outcome::kOptimal || !reorder);
      EXPECT_EQ(answer->best->height(), reorder ? golden.reordered : golden.as_written);
      const auto written = WriteTflite(bytes, golden.file, model->graph, *answer->best);
      ASSERT_TRUE(written.has_value()) << written.error().message;
      EXPECT_EQ(ReadTflmArena(*written, golden.file)->height, answer->best->height());
    }
  }
}

}  // namespace
}  // namespace berth
