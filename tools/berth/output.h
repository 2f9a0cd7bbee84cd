// tools/berth/output.h -- where commands write: standard output, files, and checks of both before
// any work is done.
#ifndef BERTH_TOOLS_BERTH_OUTPUT_H_
#define BERTH_TOOLS_BERTH_OUTPUT_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/problem.h"
#include "berth/result.h"

namespace berth::cli {

using Json = nlohmann::ordered_json;

// True where `path` is standard output: "-" or its device.
[[nodiscard]] bool IsStandardOutput(const std::string& path);
// The error that writing to `path` would end in, kIo. An empty path is not written to.
[[nodiscard]] Result<void> CheckOutput(const std::string& path);

// A file that a command is to write.
struct Output {
  std::string flag;  // "--svg".
  std::string path;  // Empty: it is not written.
};
// Whether all of `outputs` can be written, before any work is done; `json`: the summary goes to
// standard output, too. Errors: kInvalidOptions where two are the same file, or both go to standard
// output, and for a --report or --svg whose name does not end in .html or .svg; those of
// CheckOutput().
[[nodiscard]] Result<void> CheckOutputs(const std::vector<Output>& outputs, bool json = false);
// True for "PLAN.CSV" and ".csv".
[[nodiscard]] bool HasExtension(const std::string& path, std::string_view extension);

// What a command that plans writes beside its summary: paths, empty for none.
struct PlanOutputs {
  std::string plan;
  std::string svg;
  std::string report;
  std::string trace;
  bool json = false;             // The summary is JSON.
  std::string tflm_header = {};  // Of a TensorFlow Lite model.
  std::string proof = {};
  [[nodiscard]] bool to_stdout() const;
};
// As CheckOutputs(); kInvalidOptions also for a plan that is neither CSV nor JSON nor, if it is
// of a model, a TensorFlow Lite model.
[[nodiscard]] Result<void> CheckPlanOutputs(const PlanOutputs& outputs, bool of_model = false);

[[nodiscard]] Json ToJson(const std::optional<Bytes>& bytes);  // null where there is none.
// Prints to standard output, indented.
void PrintJson(const Json& json);
void Print(std::string_view text);
void PrintToStandardError(std::string_view text);

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_OUTPUT_H_
