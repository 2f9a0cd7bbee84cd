// A plan that ReadOffsets() accepts has an offset for each buffer; a rejected one gets one line.

#include <cstddef>
#include <cstdint>
#include <string>

#include "berth/io.h"
#include "tests/fuzz/require.h"

using berth::internal::Require;

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const berth::Problem problem = {
      {{"a", 0, 3, 4, 1, {}, {}, {}}, {"b,\"\n", 1, 2, 5, 1, {}, {}, {}}}, std::nullopt};
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto offsets = berth::ReadOffsets(text, "p", problem);
  if (!offsets) {
    Require(offsets.error().message.find('\n') == std::string::npos, "an error of several lines");
    return 0;
  }
  Require(offsets->size() == 2, "an offset for each buffer");
  for (const berth::Bytes offset : *offsets) {
    Require(offset >= 0 && offset <= berth::kMaxBytes, "an offset out of range");
  }
  const std::string table = berth::WriteCsv(problem, &*offsets);
  const auto again = berth::ReadOffsets(table, "p", problem);
  Require(again.has_value() && *again == *offsets, "offsets written as a table read differently");
  berth::PlanAnswer answer;
  answer.best = berth::PlanOf(problem, *offsets);
  const std::string plan = berth::WritePlanJson(problem, answer, {});
  const auto once_more = berth::ReadOffsets(plan, "p", problem);
  Require(once_more.has_value() && *once_more == *offsets, "a plan reads differently");
  return 0;
}
