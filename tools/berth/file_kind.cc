#include "tools/berth/file_kind.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>

#include "berth/event_io.h"
#include "berth/recorded.h"
#include "berth/snapshot.h"
#include "berth/xla.h"
#include "src/base/text.h"
#include "tools/berth/model.h"
#include "tools/berth/output.h"
#include "tools/berth/terminal.h"

namespace berth::cli {
namespace {

constexpr std::string_view kConvert = "; convert the model to ONNX, and give that to berth plan";

bool Has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
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

// Takes a field of a protocol buffer off the front of `bytes`: `tag`, a length in groups of seven bits,
// least first, and bytes, which end after those of the file if the length says so.
std::optional<std::string_view> TakeField(std::string_view& bytes, char tag) {
  if (!bytes.starts_with(tag)) return std::nullopt;
  std::uint64_t length = 0;
  std::size_t at = 1;
  for (unsigned shift = 0; at < bytes.size() && shift < 35; shift += 7, ++at) {
    const auto byte = static_cast<unsigned char>(bytes[at]);
    length |= std::uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) {
      const std::string_view field =
          bytes.substr(at + 1).substr(0, static_cast<std::size_t>(length));
      bytes.remove_prefix(at + 1 + field.size());
      return field;
    }
  }
  return std::nullopt;
}

// A graph of TensorFlow, which begins with a node: its name, and that of its operation ("Relu").
bool IsTensorFlowGraph(std::string_view bytes) {
  constexpr std::size_t kLongestName = 100;
  constexpr char kFirst = 1 << 3 | 2;
  constexpr char kSecond = 2 << 3 | 2;
  auto node = TakeField(bytes, kFirst);
  if (!node || !TakeField(*node, kFirst)) return false;
  const auto operation = TakeField(*node, kSecond);
  return operation && !operation->empty() && operation->size() < kLongestName &&
         std::all_of(operation->begin(), operation->end(), [](char c) {
           return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
                  c == '_';
         });
}

// A file that no command reads, by its first bytes.
struct ForeignKind {
  std::string_view magic;
  std::string_view description;
};
constexpr ForeignKind kForeignKinds[] = {
    {"\x89HDF", "an HDF5 file, such as Keras writes; convert the model to ONNX"},
    {"GGUF", "a GGUF file, which has weights but no operators; convert the model to ONNX"},
    {"ir_version:", "a model as text; save it as binary ONNX"},
    {"\x1f\x8b", "compressed with gzip; unpack it first"},
    {"\x89PNG", "a picture (PNG)"},
    {"<svg", "a picture (SVG), which browsers show"},
    {"<!doctype html", "a web page, such as --report writes, which browsers show"},
    {"<!DOCTYPE html", "a web page, which browsers show"},
    {"<html", "a web page, which browsers show"},
};

// What Berth does not read at all, and what to do about it; empty for anything else.
std::string ForeignFile(std::string_view bytes) {
  constexpr std::size_t kBeginning = 256;
  constexpr std::size_t kLongest = 10;
  if (bytes.size() < kLongest) return "";
  if (bytes.starts_with("PK\x03\x04")) {
    return (Has(bytes.substr(0, kBeginning), "data.pkl")
                ? "a PyTorch file (pickles in a zip archive)"
                : "a zip archive") +
           std::string(kConvert);
  }
  if (LooksLikeSnapshot(bytes)) return "";
  const bool old_pickle = bytes.starts_with("(dp") || bytes.starts_with("(lp");
  if (old_pickle || (bytes[0] == '\x80' && bytes[1] >= 2 && bytes[1] <= 5)) {
    return "a Python pickle, such as PyTorch wrote in the past" + std::string(kConvert);
  }
  if (IsSafetensors(bytes)) {
    return "a safetensors file, which has weights but no operators" + std::string(kConvert);
  }
  if (IsTensorFlowGraph(bytes) && !LooksLikeXlaProto(bytes)) {
    return "a TensorFlow graph; convert it to ONNX";
  }
  for (const ForeignKind& kind : kForeignKinds) {
    if (bytes.starts_with(kind.magic)) return std::string(kind.description);
  }
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

// Whether the first line is the header of a table of buffers (docs/formats/table.md).
bool IsTable(std::string_view bytes) {
  std::string header = ",";
  for (const char c : bytes.substr(0, bytes.find_first_of("\r\n"))) {
    if (c != '"' && c != ' ') header += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  }
  header += ',';
  return Has(header, ",size,") &&
         (Has(header, ",lower,") || Has(header, ",start,") || Has(header, ",begin,"));
}

bool IsOneOf(FileKind kind, std::initializer_list<FileKind> kinds) {
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

// What another program recorded, where `wanted` is something else; none if it is nothing of that kind,
// and empty if it may be that.
std::optional<std::string> RecordedFile(std::string_view bytes, FileKind wanted) {
  using enum FileKind;
  std::string is;
  if (LooksLikeSnapshot(bytes)) {
    is = "a PyTorch memory snapshot; berth info, place, explain, check and diff take snapshots";
  } else if (LooksLikeXla(bytes) || LooksLikeXlaBufferInfo(bytes)) {
    is = std::string(LooksLikeXlaProto(bytes)        ? "an HLO module"
                     : LooksLikeXlaAssignment(bytes) ? "a buffer assignment"
                                                     : "a table of memory space assignment") +
         " of XLA; berth info, place, explain and check take it";
  } else if (const auto recorded = FormatOfRecorded(bytes)) {
    is = std::string(ToString(*recorded)) + "; berth info, place, explain and check take it";
  } else {
    return std::nullopt;
  }
  return IsOneOf(wanted, {kTable, kModelOrTable}) ? "" : is;
}

// A file of Berth's, or a model, where `wanted` is something else; empty if it may be that.
std::string OtherFile(std::string_view bytes, const std::string& path, FileKind wanted) {
  using enum FileKind;
  constexpr std::size_t kBeginning = 256;
  if (const auto recorded = RecordedFile(bytes, wanted)) return *recorded;
  if (IsFormat(bytes, "berth-plan")) {
    return IsOneOf(wanted, {kPlan, kOrder})
               ? ""
               : "a plan of Berth; berth check MODEL PLAN and berth diff take plans";
  }
  if (IsFormat(bytes, "berth-graph")) {
    return IsOneOf(wanted, {kModel, kModelOrTable})
               ? ""
               : "a graph of operators; berth plan and berth schedule take graphs";
  }
  if (LooksLikeMemories(bytes)) {
    return "a file of memories; berth place, explain, check and info take it";
  }
  if (FormatOfModel(bytes) == ModelFormat::kGraphJson) {
    const bool of_inductor = Has(bytes.substr(0, kBeginning), "\"buffer_names\"");
    if (of_inductor && !IsOneOf(wanted, {kModel, kModelOrTable})) {
      return "a graph of PyTorch's Inductor; berth plan and berth schedule take graphs";
    }
    return Has(bytes.substr(0, kBeginning), "\"traceEvents\"")
               ? "a trace, which Perfetto shows (ui.perfetto.dev)"
               : "";
  }
  if (IsModel(bytes, path)) {
    if (IsOneOf(wanted, {kModel, kModelOrTable})) return "";
    return (LooksLikeTflite(bytes) ? "a TensorFlow Lite model" : "an ONNX model") +
           std::string("; berth plan and berth schedule take models");
  }
  if (bytes.starts_with("model,point,capacity")) {
    return wanted == kPoints ? "" : "the points of a sweep; berth sweep --merge takes them";
  }
  if (LooksLikeEvents(bytes)) {
    return IsOneOf(wanted, {kTable, kModelOrTable})
               ? ""
               : "a trace of allocations; berth place, explain and info take traces";
  }
  if (IsTable(bytes)) {
    return IsOneOf(wanted, {kTable, kModelOrTable, kPlan})
               ? ""
               : "a table of buffers; berth place and berth explain take tables";
  }
  return bytes.empty() && IsOneOf(wanted, {kModel, kOrder}) ? "an empty file" : "";
}

std::string_view Describe(FileKind wanted) {
  switch (wanted) {
    case FileKind::kModel:
      return "a model";
    case FileKind::kTable:
      return "a table of buffers (CSV)";
    case FileKind::kModelOrTable:
      return "a model or a table of buffers";
    case FileKind::kPlan:
      return "a plan";
    case FileKind::kOrder:
      return "an order (JSON)";
    case FileKind::kPoints:
      break;
  }
  return "the points of a sweep (CSV)";
}

}  // namespace

bool LooksLikeMemories(std::string_view bytes) {
  return IsFormat(internal::WithoutByteOrderMark(bytes), "berth-memories");
}

bool LooksLikeXla(std::string_view bytes) {
  return LooksLikeXlaAssignment(bytes) || LooksLikeXlaProto(bytes) || LooksLikeXlaAllocInfo(bytes);
}

Result<void> CheckKind(std::string_view bytes, const std::string& path, FileKind wanted) {
  bytes = internal::WithoutByteOrderMark(bytes);
  std::string is = ForeignFile(bytes);
  if (is.empty()) is = OtherFile(bytes, path, wanted);
  if (is.empty()) return {};
  return Fail(ErrorCode::kParse, OneLine(path == "-" ? "standard input" : path) + ": not " +
                                     std::string(Describe(wanted)) + ", but " + is);
}

}  // namespace berth::cli
