// Which reader a file needs, and what is done with its problems whatever their format.

#include "berth/recorded.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "base/try.h"
#include "base/unique_names.h"
#include "berth/colocate.h"
#include "io/recorded/readers.h"

namespace berth {
namespace {

using internal::Source;
using internal::recorded::Problems;

// A line with a control character that no text has: models and pickles have one soon.
bool IsText(std::string_view bytes) {
  constexpr std::size_t kBeginning = 4096;
  const std::string_view beginning = bytes.substr(0, kBeginning);
  return std::none_of(beginning.begin(), beginning.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    // Escape sequences colour the logs of some consoles.
    return byte < 0x09 || (byte > 0x0d && byte < 0x20 && byte != 0x1b);
  });
}

std::string_view MakerOf(RecordedFormat format) {
  switch (format) {
    case RecordedFormat::kGlow:
      return "Glow";
    case RecordedFormat::kVela:
      return "Vela";
    case RecordedFormat::kTflmPlan:
      return "TensorFlow Lite Micro";
    case RecordedFormat::kExecutorch:
      break;
  }
  return "ExecuTorch";
}

Result<Problems> ReadProblems(RecordedFormat format, std::string_view bytes, const Source& source) {
  switch (format) {
    case RecordedFormat::kGlow:
      return internal::recorded::ReadGlow(source);
    case RecordedFormat::kVela:
      return internal::recorded::ReadVela(source);
    case RecordedFormat::kTflmPlan:
      return internal::recorded::ReadTflmPlans(source);
    case RecordedFormat::kExecutorch:
      break;
  }
  return internal::recorded::ReadExecutorch(bytes, source);
}

}  // namespace

namespace internal::recorded {

Result<RecordedProblem> ProblemOfPlan(std::string name, PlacedBuffers placed) {
  UniqueNames names;
  for (Buffer& buffer : placed.problem.buffers) buffer.id = names.Take(Printable(buffer.id));
  RecordedProblem result;
  result.name = std::move(name);
  result.height = Height(placed.problem, placed.offsets);
  const Bytes alignment = CommonAlignment(placed.offsets, kMostAlignment);
  static_cast<PlannedProblem&>(result) = BERTH_TRY(Merged(std::move(placed), alignment));
  return result;
}

}  // namespace internal::recorded

std::optional<RecordedFormat> FormatOfRecorded(std::string_view bytes) {
  using internal::recorded::LooksLikeExecutorch;
  if (LooksLikeExecutorch(bytes)) return RecordedFormat::kExecutorch;
  bytes = internal::WithoutByteOrderMark(bytes);
  // A graph in JSON may have names like anything.
  if (bytes.starts_with('{') || !IsText(bytes)) return std::nullopt;
  if (internal::recorded::LooksLikeGlow(bytes)) return RecordedFormat::kGlow;
  if (internal::recorded::LooksLikeVela(bytes)) return RecordedFormat::kVela;
  if (internal::recorded::LooksLikeTflmPlan(bytes)) return RecordedFormat::kTflmPlan;
  return std::nullopt;
}

std::string_view ToString(RecordedFormat format) {
  switch (format) {
    case RecordedFormat::kGlow:
      return "a trace of Glow's allocator";
    case RecordedFormat::kVela:
      return "an allocation that Vela printed";
    case RecordedFormat::kTflmPlan:
      return "a memory plan that TensorFlow Lite Micro printed";
    case RecordedFormat::kExecutorch:
      break;
  }
  return "a program of ExecuTorch";
}

Result<RecordedFile> ReadRecorded(std::string_view bytes, std::string_view name) {
  const Source source(bytes, name);
  const auto format = FormatOfRecorded(bytes);
  if (!format) {
    return source.FailAsWhole(
        "not a file that Glow, Vela, TensorFlow Lite Micro or ExecuTorch wrote");
  }
  RecordedFile file{std::string(MakerOf(*format)), {}};
  file.problems = BERTH_TRY(ReadProblems(*format, bytes, source));
  if (file.problems.empty()) {
    return source.FailAsWhole(std::string(ToString(*format)) + " without any buffer");
  }
  internal::UniqueNames names;
  // Logs of consoles and damaged programs may have any bytes.
  for (RecordedProblem& each : file.problems) {
    each.name = names.Take(internal::Printable(each.name));
  }
  return file;
}

}  // namespace berth
