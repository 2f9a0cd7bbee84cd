#include "tools/berth/table.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <utility>

#include "berth/budget.h"
#include "berth/event_io.h"
#include "berth/xla.h"
#include "src/base/try.h"
#include "tools/berth/file_kind.h"
#include "tools/berth/flags.h"
#include "tools/berth/output.h"
#include "tools/verify/verify.h"

namespace berth::cli {
namespace {

// The temporaries of XLA that `arguments` choose: the largest, or the one of a number.
Result<const XlaAllocation*> ChooseTemporary(const TableArguments& arguments,
                                             const XlaAssignment& xla) {
  const XlaAllocation* chosen = nullptr;
  for (const XlaAllocation& each : xla.allocations) {
    if (!each.temporary) continue;
    if (arguments.pool ? each.index == *arguments.pool
                       : chosen == nullptr || each.size > chosen->size) {
      chosen = &each;
    }
  }
  if (chosen != nullptr) return chosen;
  if (arguments.pool) {
    return Fail(ErrorCode::kInvalidOptions,
                "--pool: " + OneLine(arguments.path) +
                    " has no allocation of temporaries with the number " +
                    std::to_string(*arguments.pool));
  }
  return Fail(ErrorCode::kParse, OneLine(arguments.path) +
                                     ": XLA has placed nothing here: no allocation is a "
                                     "preallocated-temp");
}

// The values that XLA keeps in fast memory, with their names if a file has them.
Result<XlaAssignment> ReadAllocInfo(const std::string& path, const std::string& text) {
  const auto beside = XlaBufferInfoBeside(path);
  std::error_code error;
  if (!beside || !std::filesystem::exists(*beside, error)) return ReadXlaAllocInfo(text, path);
  const std::string buffers = BERTH_TRY(ReadFile(*beside));
  return ReadXlaAllocInfo(text, path, buffers, *beside);
}

Result<XlaAssignment> ReadXla(const TableArguments& arguments, const std::string& text) {
  if (LooksLikeXlaAllocInfo(text)) return ReadAllocInfo(arguments.path, text);
  if (LooksLikeXlaProto(text)) {
    return ReadXlaProto(text, arguments.path == "-" ? NameOf(arguments.path) : arguments.path);
  }
  const auto ranges_path = XlaRangesBeside(arguments.path);
  if (!ranges_path) {
    return Fail(ErrorCode::kParse,
                OneLine(arguments.path) +
                    ": a buffer assignment of XLA; keep the name that XLA gave it "
                    "(NAME-buffer-assignment.txt), with NAME-live-range.txt beside it");
  }
  const std::string ranges = BERTH_TRY(ReadFile(*ranges_path));
  return ReadXlaAssignment(text, arguments.path, ranges, *ranges_path);
}

Result<Input> LoadXla(const TableArguments& arguments, const FileView& file) {
  std::string text(file.bytes());
  const XlaAssignment xla = BERTH_TRY(ReadXla(arguments, text));
  const XlaAllocation& chosen = *BERTH_TRY(ChooseTemporary(arguments, xla));
  XlaTable table = BERTH_TRY(XlaTableOf(chosen, xla.steps));
  GivenPlan given{"XLA", "allocation " + std::to_string(chosen.index) + ", one of " +
                             std::to_string(xla.allocations.size()) + " with " +
                             FormatBytes(xla.total) + " in all"};
  given.height = chosen.size;
  given.offsets = std::move(table.offsets);
  if (!table.exact) {
    given.notes.emplace_back(
        "Values that share bytes have others between them in XLA's plan; here they are kept apart, "
        "so more may be needed than by XLA.");
  }
  if (table.unknown > 0) {
    given.notes.push_back(Plural(static_cast<std::int64_t>(table.unknown), "value") +
                          " without a live range: taken as live throughout.");
  }
  Input input{NameOf(arguments.path), std::move(text), std::move(table.problem)};
  input.given = std::move(given);
  input.problem.capacity = arguments.capacity;
  return input;
}

}  // namespace

void AddPool(CLI::App& app, std::optional<std::int64_t>& pool) {
  AddInteger<std::int64_t>(app, "--pool", pool, 1, std::numeric_limits<std::int32_t>::max(),
                           "Of a PyTorch memory snapshot: the pool to take, as berth info numbers "
                           "them. Default: 1, the one with the most reserved memory. Of XLA's "
                           "buffer assignment: the number of an allocation of temporaries. "
                           "Default: the largest.");
}

void AddTable(CLI::App& app, TableArguments& arguments, const std::string& description) {
  app.add_option("TABLE", arguments.path, description)->required();
  AddBytes(
      app, "--capacity", arguments.capacity,
      "Bytes that the plan may use, such as 1048576, 512KiB or 1MiB; K, M and G alone mean KiB, "
      "MiB and GiB.");
  static const std::map<std::string, Endpoints> kEndpoints = {{"by-name", Endpoints::kByColumnName},
                                                              {"half-open", Endpoints::kHalfOpen},
                                                              {"inclusive", Endpoints::kInclusive},
                                                              {"exclusive", Endpoints::kExclusive}};
  const auto set = [&arguments](const std::string& text) {
    const auto found = kEndpoints.find(text);
    if (found == kEndpoints.end()) {
      UsageError("--endpoints",
                 Quoted(text) + " is not one of by-name, half-open, inclusive, exclusive");
    }
    arguments.csv.endpoints = found->second;
    arguments.endpoints = text;
  };
  app.add_option_function<std::string>(
         "--endpoints", set,
         "What the lifetime columns mean: half-open [start, end), inclusive [start, end], "
         "exclusive (start, end), or by-name: a column called end is inclusive, one called upper "
         "is not. Default: by-name.")
      ->type_name("KIND");
  AddPool(app, arguments.pool);
}

Result<std::vector<std::string>> FindTables(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    if (path == "-") {
      return Fail(ErrorCode::kInvalidOptions,
                  "TABLES: - is no table here, as each program reads the file by itself");
    }
    std::error_code error;
    if (!std::filesystem::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    std::vector<std::string> found;
    for (std::filesystem::directory_iterator it(path, error), end; !error && it != end;
         it.increment(error)) {
      if (HasExtension(it->path().string(), ".csv")) found.push_back(it->path().string());
    }
    if (error) return Fail(ErrorCode::kIo, path + ": " + error.message());
    if (found.empty()) return Fail(ErrorCode::kIo, path + ": the folder holds no .csv table");
    std::sort(found.begin(), found.end());
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

std::string NameOf(const std::string& path) {
  if (path == "-") return "<stdin>";
  return path.substr(path.find_last_of('/') + 1);
}

Result<Input> Load(const TableArguments& arguments) {
  return ParseTable(arguments, BERTH_TRY(FileView::Open(arguments.path)));
}

Result<Input> ParseTable(const TableArguments& arguments, FileView file) {
  // Errors name the file as the person did.
  const std::string name = arguments.path == "-" ? NameOf(arguments.path) : arguments.path;
  BERTH_TRY(CheckKind(file.bytes(), arguments.path, FileKind::kTable));
  if (LooksLikeSnapshot(file.bytes())) {
    auto snapshot = std::make_shared<SnapshotInput>(
        BERTH_TRY(LoadSnapshot(arguments.path, file, arguments.pool)));
    Input input{NameOf(arguments.path), "", std::move(snapshot->use.pools[snapshot->pool].problem)};
    input.snapshot = std::move(snapshot);
    input.problem.capacity = arguments.capacity;
    return input;
  }
  if (LooksLikeXla(file.bytes())) return LoadXla(arguments, file);
  if (arguments.pool) {
    return Fail(ErrorCode::kInvalidOptions,
                "--pool: " + OneLine(name) + " is a table; only memory snapshots have pools");
  }
  // A copy: the file may change while it is mapped.
  std::string text(file.bytes());
  if (LooksLikeXlaBufferInfo(text)) {
    Input input{NameOf(arguments.path), std::move(text), {}};
    input.problem = BERTH_TRY(ReadXlaBufferInfo(input.text, name));
    input.problem.capacity = arguments.capacity;
    return input;
  }
  auto table = BERTH_TRY(LooksLikeEvents(text) ? ReadEvents(text, name)
                                               : ReadCsv(text, name, arguments.csv));
  Input input{NameOf(arguments.path), std::move(text), std::move(table.problem)};
  input.problem.capacity = arguments.capacity;
  return input;
}

PinCollision DescribeCollision(const Conflict& conflict, const Problem& problem) {
  // The independent verifier knows best which bytes the two share, and when.
  Problem pair;
  std::vector<Bytes> pins;
  for (const std::size_t i : conflict.buffers) {
    pair.buffers.push_back(problem.buffers[i]);
    pins.push_back(problem.buffers[i].offset.value_or(0));
  }
  PinCollision collision{pair.buffers.at(0).id, pair.buffers.at(1).id, ""};
  collision.sentence = "The pins of \"" + OneLine(collision.first) + "\" and \"" +
                       OneLine(collision.second) + "\" overlap";
  for (const verify::Fault& fault : verify::VerifyOffsets(pair, pins).faults) {
    if (fault.kind != verify::FaultKind::kOverlap) continue;
    collision.sentence += ": both need bytes [" + FormatCount(fault.lower) + ", " +
                          FormatCount(fault.upper) + ") at steps [" + std::to_string(fault.start) +
                          ", " + std::to_string(fault.end) + ")";
    break;
  }
  collision.sentence += ".";
  return collision;
}

Result<std::optional<PinCollision>> FindCollision(const Problem& problem) {
  Problem unlimited = problem;
  unlimited.capacity.reset();
  Budget budget;
  const Conflict conflict = BERTH_TRY(Explain(unlimited, {}, budget));
  if (!conflict.pins_collide) return std::nullopt;
  return DescribeCollision(conflict, unlimited);
}

std::string ReasonOf(const LoadBound& bound, const Problem& problem) {
  if (bound.lower_bound <= bound.load) return "";
  for (const Buffer& buffer : problem.buffers) {
    if (buffer.offset && *buffer.offset + buffer.size == bound.lower_bound) {
      return ", where the pinned \"" + OneLine(buffer.id) + "\" ends";
    }
  }
  return ", as alignment wastes the rest at step " + std::to_string(bound.bound_step);
}

std::string GivenText(const GivenPlan& given, Bytes needed) {
  return FormatBytesExactly(given.height) + ", " + FormatExcess(given.height, needed) +
         " is needed (" + given.what + ")";
}

Json ToJson(const GivenPlan& given) {
  return {{"maker", given.maker},
          {"what", given.what},
          {"height", given.height},
          {"notes", given.notes}};
}

Json ToJson(const std::optional<PinCollision>& collision) {
  return collision ? Json({collision->first, collision->second}) : Json(nullptr);
}

}  // namespace berth::cli
