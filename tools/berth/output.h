// tools/berth/output.h -- where commands write: standard output, files, and checks of both before
// any work is done.
#ifndef BERTH_TOOLS_BERTH_OUTPUT_H_
#define BERTH_TOOLS_BERTH_OUTPUT_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/problem.h"
#include "berth/result.h"

namespace berth::cli {

using Json = nlohmann::ordered_json;

// True where `path` is standard output: "-" or its device.
[[nodiscard]] bool IsStandardOutput(const std::string& path);
// The error that writing to `path` would end in, kIo. An empty path is not written to.
[[nodiscard]] Result<void> CheckOutput(const std::string& path);
// As CheckOutput(); kInvalidOptions for a file whose name does not end in .html.
[[nodiscard]] Result<void> CheckReport(const std::string& path);
// `writers` are flags, and whether each writes to standard output. Error: kInvalidOptions where two
// do, naming them.
[[nodiscard]] Result<void> CheckOneWriter(const std::vector<std::pair<std::string, bool>>& writers);
// True for "PLAN.CSV" and ".csv".
[[nodiscard]] bool HasExtension(const std::string& path, std::string_view extension);

// What a command that plans writes beside its summary: paths, empty for none.
struct PlanOutputs {
  std::string plan;
  std::string svg;
  std::string report;
  std::string trace;
  bool json = false;  // The summary is JSON.
  [[nodiscard]] bool to_stdout() const;
};
// Errors: kInvalidOptions for formats that do not exist or two writers to standard output, kIo.
[[nodiscard]] Result<void> CheckPlanOutputs(const PlanOutputs& outputs);

[[nodiscard]] Json ToJson(const std::optional<Bytes>& bytes);  // null where there is none.
// Prints to standard output, indented.
void PrintJson(const Json& json);
void Print(std::string_view text);
void PrintToStandardError(std::string_view text);

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_OUTPUT_H_
