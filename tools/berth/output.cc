#include "tools/berth/output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "src/base/try.h"

namespace berth::cli {
namespace {

// Devices and pipes: they have no format, and any number of outputs may go there.
bool IsDevice(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

// Devices such as /dev/full refuse even to write nothing.
Result<void> CheckDevice(const std::string& path) {
  const int descriptor = open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  const int failed = descriptor < 0 || write(descriptor, "", 0) < 0 ? errno : 0;
  if (descriptor >= 0) close(descriptor);
  if (failed == 0) return {};
  return Fail(ErrorCode::kIo, path + ": cannot be written: " + std::strerror(failed));
}

Result<void> CheckFormats(const std::vector<Output>& outputs) {
  for (const Output& output : outputs) {
    if (IsStandardOutput(output.path)) continue;
    if (output.flag == "--report" && !HasExtension(output.path, ".html")) {
      return Fail(ErrorCode::kInvalidOptions,
                  "--report: '" + output.path + "' does not end in .html, the format of reports");
    }
    if (output.flag == "--svg" && !HasExtension(output.path, ".svg") && !IsDevice(output.path)) {
      return Fail(ErrorCode::kInvalidOptions,
                  "--svg: '" + output.path + "' does not end in .svg, the only format of pictures");
    }
  }
  return {};
}

// At most one writes to standard output.
Result<void> CheckOneWriter(const std::vector<Output>& outputs, bool json) {
  std::string first;
  const auto add = [&first](const std::string& writer) -> Result<void> {
    if (!first.empty()) {
      return Fail(ErrorCode::kInvalidOptions,
                  first + " and " + writer +
                      " would both write to standard output; give one of them a file, or leave it "
                      "out");
    }
    first = writer;
    return {};
  };
  for (const Output& output : outputs) {
    if (IsStandardOutput(output.path)) BERTH_TRY(add(output.flag + " -"));
  }
  return json ? add("--json") : Result<void>();
}

// No two are one file, under whatever names.
Result<void> CheckDistinct(const std::vector<Output>& outputs) {
  namespace fs = std::filesystem;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::string& path = outputs[i].path;
    if (IsStandardOutput(path) || IsDevice(path)) continue;
    std::error_code ignored;
    for (std::size_t j = 0; j < i; ++j) {
      const std::string& other = outputs[j].path;
      if (fs::weakly_canonical(path, ignored) != fs::weakly_canonical(other, ignored) &&
          !fs::equivalent(path, other, ignored)) {
        continue;
      }
      return Fail(ErrorCode::kInvalidOptions, outputs[j].flag + " and " + outputs[i].flag +
                                                  " would both write to '" + path +
                                                  "'; give each a file of its own");
    }
  }
  return {};
}

}  // namespace

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
    if (S_ISCHR(status.st_mode)) return CheckDevice(path);
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
         IsStandardOutput(trace) || IsStandardOutput(tflm_header) || IsStandardOutput(proof);
}

Result<void> CheckOutputs(const std::vector<Output>& outputs, bool json) {
  std::vector<Output> written;
  for (const Output& output : outputs) {
    if (!output.path.empty()) written.push_back(output);
  }
  BERTH_TRY(CheckFormats(written));
  BERTH_TRY(CheckOneWriter(written, json));
  for (const Output& output : written) BERTH_TRY(CheckOutput(output.path));
  return CheckDistinct(written);
}

Result<void> CheckPlanOutputs(const PlanOutputs& outputs, bool of_model) {
  if (!outputs.plan.empty() && !IsStandardOutput(outputs.plan) &&
      !HasExtension(outputs.plan, ".csv") && !HasExtension(outputs.plan, ".json") &&
      !(of_model && HasExtension(outputs.plan, ".tflite"))) {
    return Fail(ErrorCode::kInvalidOptions,
                "--output: '" + outputs.plan + "' ends in neither .csv nor .json" +
                    (of_model ? " nor .tflite" : "") + ", the formats of plans");
  }
  return CheckOutputs({{"--output", outputs.plan},
                       {"--svg", outputs.svg},
                       {"--report", outputs.report},
                       {"--trace", outputs.trace},
                       {"--emit", outputs.tflm_header},
                       {"--proof", outputs.proof}},
                      outputs.json);
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
