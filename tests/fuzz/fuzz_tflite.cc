// A TensorFlow Lite model that ReadTflite() accepts is a valid graph; a rejected one gets one line
// that names the file. What can be planned is written with its plan inside, which is then valid, and
// planning it again changes nothing. The first byte chooses the options.
//
// Random changes of bytes rarely hit what matters. So most mutations change whole numbers of 32 or
// 16 bits: to small ones, or to those of other places.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/random.h"
#include "berth/plan.h"
#include "berth/tflite.h"
#include "tests/fuzz/require.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace {

using berth::internal::Require;

// Heights of larger files are not searched for.
constexpr std::size_t kMostOperators = 64;

void CheckWriting(const std::string& text, const berth::Graph& graph) {
  berth::MemoryPlan order;
  order.order = berth::ProgramOrder(graph);
  order.addressed = false;
  const auto same = berth::WriteTflite(text, "m", graph, order);
  if (same) Require(*same == text, "the same order gives other bytes");
  if (graph.operators.size() > kMostOperators || !berth::ReadTflmArena(text, "m")) return;
  berth::Budget budget;
  budget.SetNodeLimit(1000);
  const auto answer = berth::Plan(graph, {}, budget);
  if (!answer || !answer->best) return;
  const auto written = berth::WriteTflite(text, "m", graph, *answer->best);
  if (!written) {
    // Parts of a damaged file that lie over each other may change with the order.
    Require(written.error().code == berth::ErrorCode::kUnsupported ||
                written.error().code == berth::ErrorCode::kParse ||
                written.error().code == berth::ErrorCode::kInvalidPlan ||
                written.error().code == berth::ErrorCode::kInvalidOptions,
            written.error().message.c_str());
    return;
  }
  const auto arena = berth::ReadTflmArena(*written, "m");
  Require(arena.has_value() && arena->offline, "a plan that was written cannot be read");
  Require(berth::ValidatePlacement(arena->problem, {arena->offsets, arena->height}).has_value(),
          "a plan that was written is wrong");
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned int seed) {
  berth::internal::Random random(seed);
  if (size < 16 || random.Chance(0.2)) return LLVMFuzzerMutate(data, size, max_size);
  for (std::int64_t i = random.Uniform(1, 4); i > 0; --i) {
    const std::int64_t bytes = random.Chance(0.8) ? 4 : 2;
    const auto place = [&] {
      return 1 + bytes * random.Uniform(0, (static_cast<std::int64_t>(size) - 1) / bytes - 1);
    };
    std::uint8_t* const at = data + place();
    if (random.Chance(0.3)) {
      std::copy_n(data + place(), bytes, at);
      continue;
    }
    const std::int64_t number =
        random.Chance(0.8) ? random.Uniform(-2, 40) : std::int64_t{1} << random.Uniform(0, 31);
    for (std::int64_t k = 0; k < bytes; ++k) at[k] = static_cast<std::uint8_t>(number >> (8 * k));
  }
  return size;
}

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  berth::OnnxOptions options;
  if ((data[0] & 1) != 0) options.element_bytes = 1;
  if ((data[0] & 2) != 0) options.other_dimensions = 3;
  // A copy: reading past its end is then detected.
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto model = berth::ReadTflite(text, "m", options);
  if (!model) {
    const std::string& message = model.error().message;
    const bool placed = message.substr(0, 3) == "m: ";
    Require(placed && message.find_first_of(std::string_view("\n\r\0\x1b", 4)) == std::string::npos,
            message.c_str());
    return 0;
  }
  Require(berth::Validate(model->graph).has_value(), "a graph that was read is not valid");
  static_cast<void>(berth::Live(model->graph, berth::ProgramOrder(model->graph)));
  const auto arena = berth::ReadTflmArena(text, "m");
  if (arena) Require(berth::Validate(arena->problem).has_value(), "an arena is not valid");
  if ((data[0] & 3) == 0) CheckWriting(text, model->graph);
  return 0;
}
