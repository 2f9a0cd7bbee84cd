// berth/recorded.h -- memory problems that other systems write down, and what they planned for them.
//
//   what                                              maker                    one problem for each
//   alloc/free traces of Glow's allocator test        Glow                     model
//   what Vela prints with --verbose-allocation        Vela                     table of a memory
//   what TensorFlow Lite Micro's PrintMemoryPlan()    TensorFlow Lite Micro    plan
//     prints
//   a program of ExecuTorch (.pte)                    ExecuTorch               method and memory
//
//   const auto file = berth::FileView::Open("model.pte");
//   if (!file) return Complain(file.error().message);
//   const auto recorded = berth::ReadRecorded(file->bytes(), "model.pte");
//   if (!recorded) return Complain(recorded.error().message);
//   for (const berth::RecordedProblem& each : recorded->problems) {
//     const auto answer = berth::Place(each.problem, {}, budget);  // Compare with each.height.
//   }
//
// Of TensorFlow Lite Micro and Vela a whole log can be read: other lines, and what a logger writes
// before each line, are passed over. docs/formats/
// recorded.md says how lifetimes, sizes and alignments follow from each.
#ifndef BERTH_RECORDED_H_
#define BERTH_RECORDED_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/planned_problem.h"
#include "berth/problem.h"
#include "berth/result.h"

namespace [[gnu::visibility("default")]] berth {

// One of the problems in a file.
struct RecordedProblem : PlannedProblem {
  std::string name = {};  // Unique within the file.
  // The bytes that its maker took, if the file says so.
  std::optional<Bytes> height = {};
  friend bool operator==(const RecordedProblem&, const RecordedProblem&) = default;
};

struct RecordedFile {
  std::string maker;  // "Glow".
  std::vector<RecordedProblem> problems;
  friend bool operator==(const RecordedFile&, const RecordedFile&) = default;
};

enum class RecordedFormat : std::uint8_t { kGlow, kVela, kTflmPlan, kExecutorch };

// What `bytes` are, as far as their first bytes or marks in their text tell; none for other files.
// Cost: at most one pass over text; of other files, their first bytes.
[[nodiscard]] std::optional<RecordedFormat> FormatOfRecorded(std::string_view bytes);
// "a memory plan that TensorFlow Lite Micro printed".
[[nodiscard]] std::string_view ToString(RecordedFormat format);

// Reads any of the formats above. `name` is what errors call the file.
// Errors: kParse "NAME:LINE:COLUMN: ...", of a program "NAME: byte N: ...", also for a file that
// is none of these or has no problem; kInvalidProblem "NAME: ...".
// Cost: O(log n) for each buffer and each gap; memory linear in the bytes of the file.
[[nodiscard]] Result<RecordedFile> ReadRecorded(std::string_view bytes, std::string_view name);

}  // namespace berth

#endif  // BERTH_RECORDED_H_
