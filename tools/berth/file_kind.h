// tools/berth/file_kind.h -- what a file is, where it is not what a command takes.
#ifndef BERTH_TOOLS_BERTH_FILE_KIND_H_
#define BERTH_TOOLS_BERTH_FILE_KIND_H_

#include <string>
#include <string_view>

#include "berth/result.h"

namespace berth::cli {

// What a command wants.
enum class FileKind {
  kModel,         // ONNX, TensorFlow Lite, or a graph in JSON.
  kTable,         // Of buffers, in CSV.
  kModelOrTable,  // What a plan is checked against.
  kPlan,          // JSON, or a table with offsets.
  kOrder,         // JSON: a list, or a plan.
  kPoints,        // Of a sweep, in CSV.
};

// Whether it is a plan of XLA: a buffer assignment, as text or as a protocol buffer, or the
// allocations of its memory space assignment.
[[nodiscard]] bool LooksLikeXla(std::string_view bytes);
// A description of memories, or of buffers for them (docs/formats/memories.md).
[[nodiscard]] bool LooksLikeMemories(std::string_view bytes);

// The error for a file that is something else than `wanted`, as far as its first bytes tell: it says
// what the file is, and which command takes it. `path`: as it was given.
[[nodiscard]] Result<void> CheckKind(std::string_view bytes, const std::string& path,
                                     FileKind wanted);

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_FILE_KIND_H_
