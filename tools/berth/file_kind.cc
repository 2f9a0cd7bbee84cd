#include "tools/berth/file_kind.h"

#include <algorithm>
#include <cstdint>

#include "tools/berth/model.h"
#include "tools/berth/output.h"
#include "tools/berth/terminal.h"

namespace berth::cli {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::string_view kConvert = "; convert the model to ONNX, and give that to berth plan";

bool Has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// FlatBuffers begin with the offset of their root, which is small, and the file's identifier.
bool IsTensorFlowLite(std::string_view bytes) {
  return bytes.substr(4, 4) == "TFL3" && bytes.substr(2, 2) == "\0\0"sv;
}

// The length of the header in eight bytes, and the header, in JSON.
bool IsSafetensors(std::string_view bytes) {
  if (bytes.substr(8, 2) != "{\"") return false;
  std::uint64_t length = 0;
  for (int i = 7; i >= 0; --i) {
    length = length << 8u | static_cast<unsigned char>(bytes[static_cast<std::size_t>(i)]);
  }
  return length >= 2 && length <= bytes.size() - 8;
}

// What Berth does not read at all, and what to do about it; empty for anything else.
std::string ForeignFile(std::string_view bytes) {
  constexpr std::size_t kBeginning = 256;
  constexpr std::size_t kLongest = 10;
  if (bytes.size() < kLongest) return "";
  if (IsTensorFlowLite(bytes)) return "a TensorFlow Lite model" + std::string(kConvert);
  if (bytes.starts_with("PK\x03\x04")) {
    return (Has(bytes.substr(0, kBeginning), "data.pkl")
                ? "a PyTorch file (pickles in a zip archive)"
                : "a zip archive") +
           std::string(kConvert);
  }
  if (bytes[0] == '\x80' && bytes[1] >= 2 && bytes[1] <= 5) {
    return "a Python pickle, such as PyTorch wrote in the past" + std::string(kConvert);
  }
  if (bytes.starts_with("\x89HDF")) {
    return "an HDF5 file, such as Keras writes" + std::string(kConvert);
  }
  if (IsSafetensors(bytes)) {
    return "a safetensors file, which has weights but no operators" + std::string(kConvert);
  }
  if (bytes.starts_with("\x1f\x8b")) return "compressed with gzip; unpack it first";
  return "";
}

// What Berth's own JSON files call themselves.
bool IsFormat(std::string_view bytes, std::string_view format) {
  constexpr std::size_t kBeginning = 256;
  const std::string_view beginning = bytes.substr(0, kBeginning);
  const std::size_t key = beginning.find("\"format\"");
  return key != std::string_view::npos &&
         Has(beginning.substr(key), "\"" + std::string(format) + "\"");
}

// A file of Berth's, or an ONNX model, where `wanted` is something else; empty if it may be that.
std::string OtherFile(std::string_view bytes, const std::string& path, FileKind wanted) {
  const std::size_t first = bytes.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  const bool json = first != std::string_view::npos && bytes[first] == '{';
  if (wanted != FileKind::kPlan && IsFormat(bytes, "berth-plan")) {
    return "a plan of Berth; berth check and berth diff take plans";
  }
  if (wanted != FileKind::kModel && IsFormat(bytes, "berth-graph")) {
    return "a graph of operators; berth plan and berth schedule take graphs";
  }
  if (wanted != FileKind::kModel && !json && IsModel(bytes, path)) {
    return "an ONNX model; berth plan and berth schedule take models";
  }
  if (bytes.starts_with("model,point,capacity")) {
    return "the points of a sweep; berth sweep --merge takes them";
  }
  return "";
}

}  // namespace

Result<void> CheckKind(std::string_view bytes, const std::string& path, FileKind wanted) {
  std::string is = ForeignFile(bytes);
  if (is.empty()) is = OtherFile(bytes, path, wanted);
  if (is.empty()) return {};
  const char* const expected = wanted == FileKind::kModel   ? "a model"
                               : wanted == FileKind::kTable ? "a table of buffers (CSV)"
                                                            : "a plan";
  return Fail(ErrorCode::kParse,
              OneLine(path == "-" ? "standard input" : path) + ": not " + expected + ", but " + is);
}

}  // namespace berth::cli
