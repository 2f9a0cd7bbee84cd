// Memories and what is to be placed in them: the first byte chooses the reader. A problem that is
// accepted is valid and is restored from what is written of it; a rejected file gets an error of one
// line, with a place. What ParseMemory() accepts is valid. A plan that is read can be verified, and is
// restored from a table.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "berth/memory_io.h"
#include "berth/plan_io.h"
#include "tests/fuzz/require.h"

namespace {

using berth::internal::Require;

bool IsOneLine(std::string_view message) {
  return message.find_first_of(std::string_view("\n\r\0\x1b", 4)) == std::string_view::npos;
}

bool IsPlaced(std::string_view message) {
  return message.starts_with("t:") && message.size() > 2 && message[2] >= '1' &&
         message[2] <= '9' && IsOneLine(message);
}

void TryMemory(const std::string& text) {
  const auto memory = berth::ParseMemory(text);
  if (!memory) {
    Require(IsOneLine(memory.error().message), "an error of several lines");
    return;
  }
  berth::MemoryProblem problem;
  problem.memories = {*memory};
  Require(berth::Validate(problem).has_value(), "a memory that was read is not valid");
}

void TryJson(const std::string& text) {
  const auto file = berth::ReadMemoriesJson(text, "t");
  if (!file) {
    Require(IsPlaced(file.error().message), file.error().message.c_str());
    return;
  }
  const bool valid = berth::Validate(file->problem).has_value();
  Require(valid, "a problem that was read is not valid");
  const std::string written = berth::WriteMemoriesJson(file->problem, file->cost_unit);
  const auto again = berth::ReadMemoriesJson(written, "t");
  Require(again.has_value(), "what was written cannot be read");
  Require(again->problem == file->problem, "what was written reads differently");
}

std::vector<berth::Memory> Memories() {
  return {berth::ParseMemory("tcm=64@8GB/s").value(), berth::ParseMemory("d r").value(),
          berth::ParseMemory("dram@40MB/s").value()};
}

void TryCsv(const std::string& text) {
  const std::vector<berth::Memory> memories = Memories();
  const auto file = berth::ReadMemoriesCsv(text, "t", memories);
  if (!file) {
    Require(IsPlaced(file.error().message) || IsOneLine(file.error().message),
            file.error().message.c_str());
    return;
  }
  Require(berth::Validate(file->problem).has_value(), "a table that was read is not valid");
  const std::string written = berth::WriteMemoriesCsv(file->problem);
  const auto again = berth::ReadMemoriesCsv(written, "t", memories);
  Require(again.has_value(), "what was written cannot be read");
  Require(again->problem == file->problem, "what was written reads differently");
}

void TryPlan(const std::string& text) {
  berth::MemoryProblem problem;
  problem.table.buffers = {{"a", 0, 2, 4}, {"b", 1, 3, 4}, {"c, d", 2, 4, 4}};
  problem.memories = Memories();
  const auto plan = berth::ReadPlanFor(problem, text, "t");
  if (!plan) {
    Require(IsPlaced(plan.error().message), plan.error().message.c_str());
    return;
  }
  static_cast<void>(berth::ValidatePlan(problem, *plan));
  const std::string written = berth::WriteMemoriesCsv(problem, &*plan);
  const auto again = berth::ReadPlanFor(problem, written, "t");
  Require(again.has_value(), "a plan that was written cannot be read");
  Require(again->residencies == plan->residencies, "a plan reads differently");
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  // A copy: reading past its end is then detected.
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 4) {
    case 0:
      TryMemory(text);
      break;
    case 1:
      TryJson(text);
      break;
    case 2:
      TryCsv(text);
      break;
    default:
      TryPlan(text);
  }
  return 0;
}
