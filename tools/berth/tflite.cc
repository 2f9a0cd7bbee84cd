#include "tools/berth/tflite.h"

#include <cctype>

#include "src/base/try.h"
#include "tools/berth/checked.h"
#include "tools/berth/output.h"
#include "tools/berth/terminal.h"

namespace berth::cli {

Result<void> CheckCanBeTflite(const Model& model, const ModelArguments& arguments,
                              const std::string& flag) {
  const auto fail = [&](const std::string& why) {
    return Fail(ErrorCode::kInvalidOptions, flag + ": " + why);
  };
  if (!model.is_tflite()) {
    return fail("this is for TensorFlow Lite Micro, but '" + OneLine(model.name) +
                "' is not a TensorFlow Lite model");
  }
  berth::Model read;
  read.format = ModelFormat::kTflite;
  read.reading = model.reading;
  const auto can = CheckForTflm(read, arguments.fuse, arguments.counting);
  return can ? Result<void>() : fail(can.error().message);
}

Result<std::string> PlannedTflite(const Model& model, const MemoryPlan& plan) {
  std::string bytes = BERTH_TRY(WriteTflite(model.file.bytes(), model.name, model.graph, plan));
  if (plan.addressed) {
    const TflmArena arena = BERTH_TRY(ReadTflmArena(bytes, model.name));
    VerifyOrDie(arena.problem, {}, plan.height(), PlanOf(arena.problem, arena.offsets));
  }
  return bytes;
}

Result<std::string> TflmHeader(const Model& model, const MemoryPlan& plan,
                               const std::string& path) {
  const std::string bytes = BERTH_TRY(PlannedTflite(model, plan));
  const std::string& named = path == "-" ? model.name : path;
  std::string name = named.substr(named.find_last_of('/') + 1);
  name = name.substr(0, name.find('.'));
  std::string prefix;
  for (const char c : name) {
    prefix += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  }
  // A name for C that is not reserved; the output "-" has none.
  if (prefix.empty() || std::isalpha(static_cast<unsigned char>(prefix[0])) == 0) {
    prefix = "model_" + prefix;
  }
  return WriteTflmHeader(BERTH_TRY(ReadTflmArena(bytes, model.name)), model.name, prefix);
}

}  // namespace berth::cli
