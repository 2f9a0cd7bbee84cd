#include "tools/berth/output.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "src/base/try.h"

namespace berth::cli {

bool IsStandardOutput(const std::string& path) { return path == "-" || path == "/dev/stdout"; }

Result<void> CheckOutput(const std::string& path) {
  if (path.empty() || IsStandardOutput(path)) return {};
  const auto failure = [&path](int error) {
    return Fail(ErrorCode::kIo, path + ": cannot be written: " + std::strerror(error));
  };
  struct stat status {};
  if (stat(path.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) return failure(EISDIR);
    if (access(path.c_str(), W_OK) != 0) return failure(errno);
    if (!S_ISREG(status.st_mode)) return {};
  } else if (errno != ENOENT) {
    return failure(errno);
  }
  // The file is written anew beside its place.
  const std::size_t slash = path.find_last_of('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  if (access(folder.c_str(), W_OK | X_OK) != 0) return failure(errno);
  return {};
}

Result<void> CheckOneWriter(const std::vector<std::pair<std::string, bool>>& writers) {
  std::string first;
  for (const auto& [flag, writes] : writers) {
    if (!writes) continue;
    if (!first.empty()) {
      return Fail(ErrorCode::kInvalidOptions,
                  first + " and " + flag +
                      " would both write to standard output; give one of them a file, or leave it "
                      "out");
    }
    first = flag;
  }
  return {};
}

bool HasExtension(const std::string& path, std::string_view extension) {
  if (path.size() < extension.size()) return false;
  return std::equal(extension.begin(), extension.end(), path.end() - std::ssize(extension),
                    [](char a, char b) {
                      return std::tolower(static_cast<unsigned char>(a)) ==
                             std::tolower(static_cast<unsigned char>(b));
                    });
}

bool PlanOutputs::to_stdout() const {
  return IsStandardOutput(plan) || IsStandardOutput(svg) || IsStandardOutput(report) ||
         IsStandardOutput(trace);
}

Result<void> CheckReport(const std::string& path) {
  if (!path.empty() && !IsStandardOutput(path) && !HasExtension(path, ".html")) {
    return Fail(ErrorCode::kInvalidOptions,
                "--report: '" + path + "' does not end in .html, the format of reports");
  }
  return CheckOutput(path);
}

Result<void> CheckPlanOutputs(const PlanOutputs& outputs) {
  const bool plan_to_stdout = IsStandardOutput(outputs.plan);
  if (!outputs.plan.empty() && !plan_to_stdout && !HasExtension(outputs.plan, ".csv") &&
      !HasExtension(outputs.plan, ".json")) {
    return Fail(
        ErrorCode::kInvalidOptions,
        "--output: '" + outputs.plan + "' ends in neither .csv nor .json, the formats of plans");
  }
  BERTH_TRY(CheckOneWriter({{"--output -", plan_to_stdout},
                            {"--svg -", IsStandardOutput(outputs.svg)},
                            {"--report -", IsStandardOutput(outputs.report)},
                            {"--trace -", IsStandardOutput(outputs.trace)},
                            {"--json", outputs.json}}));
  BERTH_TRY(CheckOutput(outputs.plan));
  BERTH_TRY(CheckOutput(outputs.svg));
  BERTH_TRY(CheckReport(outputs.report));
  return CheckOutput(outputs.trace);
}

Json ToJson(const std::optional<Bytes>& bytes) { return bytes ? Json(*bytes) : Json(nullptr); }

void PrintJson(const Json& json) {
  Print(json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

void Print(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void PrintToStandardError(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace berth::cli
