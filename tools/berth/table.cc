#include "tools/berth/table.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <utility>

#include "berth/budget.h"
#include "berth/event_io.h"
#include "berth/recorded.h"
#include "berth/xla.h"
#include "src/base/choice.h"
#include "src/base/try.h"
#include "src/base/unique_names.h"
#include "tools/berth/file_kind.h"
#include "tools/berth/flags.h"
#include "tools/berth/output.h"
#include "tools/berth/problem_choice.h"
#include "tools/verify/verify.h"

namespace berth::cli {
namespace {

// What one of the problems of a file is called as an input, and where it comes from.
Input InputOf(const TableArguments& arguments, Problem problem, std::string part,
              const std::string& hash) {
  Input input{NameOf(arguments.path), "", std::move(problem)};
  input.problem.capacity = arguments.capacity;
  input.part = std::move(part);
  input.hash_of_file = hash;
  return input;
}

// The values that XLA keeps in fast memory, with their names if a file has them.
Result<XlaAssignment> ReadAllocInfo(const std::string& path, const std::string& name,
                                    std::string_view text) {
  const auto beside = XlaBufferInfoBeside(path);
  std::error_code error;
  if (!beside || !std::filesystem::exists(*beside, error)) return ReadXlaAllocInfo(text, name);
  const std::string buffers = BERTH_TRY(ReadFile(*beside));
  return ReadXlaAllocInfo(text, name, buffers, *beside);
}

Result<XlaAssignment> ReadXla(const TableArguments& arguments, const std::string& name,
                              std::string_view bytes) {
  if (LooksLikeXlaAllocInfo(bytes)) return ReadAllocInfo(arguments.path, name, bytes);
  if (LooksLikeXlaProto(bytes)) return ReadXlaProto(bytes, name);
  const auto ranges_path = XlaRangesBeside(arguments.path);
  if (!ranges_path) {
    return Fail(ErrorCode::kParse,
                OneLine(name) +
                    ": a buffer assignment of XLA; keep the name that XLA gave it "
                    "(NAME-buffer-assignment.txt), with NAME-live-range.txt beside it");
  }
  const std::string ranges = BERTH_TRY(ReadFile(*ranges_path));
  return ReadXlaAssignment(bytes, name, ranges, *ranges_path);
}

// One of XLA's allocations of temporaries, whose `total` bytes are in `count` allocations.
Result<Input> LoadXlaTemporary(const TableArguments& arguments, const XlaAssignment& xla,
                               const XlaAllocation& allocation, const std::string& name,
                               const std::string& hash) {
  auto read = XlaTableOf(allocation, xla.steps);
  if (!read) {
    Error error = read.error();
    const std::string file = arguments.path == "-" ? NameOf(arguments.path) : arguments.path;
    error.message = OneLine(file) + ": " + error.message;
    return tl::unexpected(std::move(error));
  }
  XlaTable table = std::move(*read);
  const LoadBound bound = MaxLiveLoad(table.problem);
  Input input = InputOf(arguments, std::move(table.problem), name, hash);
  GivenPlan& given =
      input.given.emplace(GivenPlan{static_cast<PlannedProblem&&>(table), "XLA",
                                    name + ", one of " + std::to_string(xla.allocations.size()) +
                                        " with " + FormatBytes(xla.total) + " in all",
                                    allocation.size});
  if (table.unknown > 0) {
    given.notes.push_back(Plural(static_cast<std::int64_t>(table.unknown), "value") +
                          " without a live range: taken as live throughout.");
  }
  if (bound.lower_bound > bound.load) {
    given.notes.push_back("Alignment " + std::to_string(table.alignment) +
                          ", inferred from the offsets, raises the lower bound.");
  }
  return input;
}

Result<std::vector<Input>> LoadXla(const TableArguments& arguments, const std::string& name,
                                   const FileView& file) {
  const XlaAssignment xla = BERTH_TRY(ReadXla(arguments, name, file.bytes()));
  const std::string hash = HashOf(file.bytes());
  internal::UniqueNames names;
  std::vector<Input> inputs;
  for (const XlaAllocation& each : xla.allocations) {
    if (!each.temporary) continue;
    inputs.push_back(BERTH_TRY(LoadXlaTemporary(
        arguments, xla, each, names.Take("allocation " + std::to_string(each.index)), hash)));
  }
  if (!inputs.empty()) return inputs;
  return Fail(
      ErrorCode::kParse,
      OneLine(name) + ": XLA has placed nothing here: no allocation is a preallocated-temp");
}

Result<std::vector<Input>> LoadRecorded(const TableArguments& arguments, const std::string& name,
                                        const FileView& file) {
  const std::string hash = HashOf(file.bytes());
  RecordedFile recorded = BERTH_TRY(ReadRecorded(file.bytes(), name));
  std::vector<Input> inputs;
  inputs.reserve(recorded.problems.size());
  for (RecordedProblem& each : recorded.problems) {
    Input input = InputOf(arguments, std::move(each.problem), each.name, hash);
    std::string what = std::move(each.name);
    const std::optional<Bytes> height = each.height;
    input.given =
        GivenPlan{static_cast<PlannedProblem&&>(each), recorded.maker, std::move(what), height};
    inputs.push_back(std::move(input));
  }
  return inputs;
}

// A file that is one problem and has no plan.
Result<Problem> ReadTable(const TableArguments& arguments, const std::string& text,
                          const std::string& name) {
  if (LooksLikeXlaBufferInfo(text)) return ReadXlaBufferInfo(text, name);
  return std::move(
      BERTH_TRY(LooksLikeEvents(text) ? ReadEvents(text, name) : ReadCsv(text, name, arguments.csv))
          .problem);
}

Result<Input> OnlyOne(const TableArguments& arguments, std::vector<Input> inputs) {
  if (inputs.size() == 1) return std::move(inputs.front());
  return ProblemMissing("--problem is missing", PartsOf(inputs), arguments.path);
}

}  // namespace

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
  AddProblem(app, arguments.problem);
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

std::string Input::hash() const {
  if (snapshot) return snapshot->hash();
  return hash_of_file.empty() ? HashOf(text) : hash_of_file;
}

std::vector<std::string> PartsOf(const std::vector<Input>& inputs) {
  std::vector<std::string> parts;
  parts.reserve(inputs.size());
  for (const Input& input : inputs) parts.push_back(input.part);
  return parts;
}

bool IsCsv(std::string_view bytes) {
  return !LooksLikeSnapshot(bytes) && !LooksLikeXla(bytes) && !LooksLikeXlaBufferInfo(bytes) &&
         !LooksLikeEvents(bytes) && !FormatOfRecorded(bytes);
}

Result<Input> Load(const TableArguments& arguments) {
  return OnlyOne(arguments, BERTH_TRY(LoadAll(arguments)));
}

Result<Input> ParseTable(const TableArguments& arguments, FileView file) {
  return OnlyOne(arguments, BERTH_TRY(ParseTables(arguments, std::move(file))));
}

Result<std::vector<Input>> LoadAll(const TableArguments& arguments) {
  return ParseTables(arguments, BERTH_TRY(FileView::Open(arguments.path)));
}

Result<std::vector<Input>> ParseTables(const TableArguments& arguments, FileView file) {
  // Errors name the file as the person did.
  const std::string name = arguments.path == "-" ? NameOf(arguments.path) : arguments.path;
  BERTH_TRY(CheckKind(file.bytes(), arguments.path, FileKind::kTable));
  if (!arguments.endpoints.empty() && !IsCsv(file.bytes())) {
    return internal::EndpointsAreKnown("--endpoints", OneLine(name));
  }
  std::vector<Input> inputs;
  if (LooksLikeSnapshot(file.bytes())) {
    auto snapshot = std::make_shared<SnapshotInput>(
        BERTH_TRY(LoadSnapshot(arguments.path, file, arguments.problem)));
    inputs.push_back(
        InputOf(arguments, std::move(snapshot->use.pools[snapshot->pool].problem), "", ""));
    inputs.back().snapshot = std::move(snapshot);
    return inputs;
  }
  if (LooksLikeXla(file.bytes())) {
    inputs = BERTH_TRY(LoadXla(arguments, name, file));
  } else if (FormatOfRecorded(file.bytes())) {
    inputs = BERTH_TRY(LoadRecorded(arguments, name, file));
  } else {
    if (!arguments.problem.empty()) {
      return internal::NothingToChoose("--problem", OneLine(name));
    }
    // A copy: the file may change while it is mapped.
    std::string text(file.bytes());
    Problem problem = BERTH_TRY(ReadTable(arguments, text, name));
    inputs.push_back(InputOf(arguments, std::move(problem), "", ""));
    inputs.back().text = std::move(text);
    return inputs;
  }
  if (!arguments.problem.empty()) {
    const std::size_t chosen =
        BERTH_TRY(ChooseProblem(arguments.problem, PartsOf(inputs), arguments.path));
    Input input = std::move(inputs[chosen]);
    if (inputs.size() > 1) input.name += ": " + input.part;
    inputs.clear();
    inputs.push_back(std::move(input));
  }
  return inputs;
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
  return ", as alignment wastes the rest at step " + FormatCount(bound.bound_step);
}

std::string GivenText(const GivenPlan& given, Bytes needed) {
  if (!given.height) return "not known (" + given.what + ")";
  std::string compared;
  if (*given.height >= needed && (given.exact || *given.height > needed)) {
    compared = ", " + FormatExcess(*given.height, needed) + " is needed";
  }
  return FormatBytesExactly(*given.height) + compared + " (" + given.what + ")";
}

Json ToJson(const GivenPlan& given) {
  return {{"maker", given.maker},
          {"what", given.what},
          {"height", given.height ? Json(*given.height) : Json(nullptr)},
          {"exact", given.exact},
          {"notes", given.notes}};
}

Json ToJson(const std::optional<PinCollision>& collision) {
  return collision ? Json({collision->first, collision->second}) : Json(nullptr);
}

}  // namespace berth::cli
