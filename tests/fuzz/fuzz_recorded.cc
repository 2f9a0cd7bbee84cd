// Problems that other systems wrote down: what is accepted is valid, and the plans in it are plans
// unless a note says otherwise; an error names the file, on one line.

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

#include "berth/recorded.h"
#include "tests/fuzz/require.h"

using berth::internal::Require;

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // A copy: reading past its end is then detected.
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const auto file = berth::ReadRecorded(bytes, "f");
  if (!file) {
    const std::string& message = file.error().message;
    Require(message.starts_with("f:"), "an error names its file");
    Require(message.find_first_of(std::string("\n\r\0\x1b", 4)) == std::string::npos,
            "an error of several lines");
    return 0;
  }
  Require(!file->problems.empty(), "a file without problems");
  std::set<std::string> names;
  for (const berth::RecordedProblem& each : file->problems) {
    Require(names.insert(each.name).second, "a name comes twice");
    const auto valid = berth::Validate(each.problem);
    Require(valid.has_value(), valid ? "" : valid.error().message.c_str());
    if (each.offsets.empty()) continue;
    Require(each.offsets.size() == each.problem.buffers.size(), "an offset for each buffer");
    const berth::Bytes height = berth::Height(each.problem, each.offsets);
    Require(height <= each.height, "a plan higher than its maker says");
    Require(!each.notes.empty() ||
                berth::ValidatePlacement(each.problem, {each.offsets, height}).has_value(),
            "the maker's offsets are a plan");
  }
  return 0;
}
