// berth check -- is a plan, from any tool, valid? The independent verifier decides.
#include <algorithm>

#include "berth/memory_io.h"
#include "berth/recorded.h"
#include "berth/tflite.h"
#include "src/base/choice.h"
#include "src/base/try.h"
#include "src/io/plan_head.h"
#include "tools/berth/command.h"
#include "tools/berth/file_kind.h"
#include "tools/berth/flags.h"
#include "tools/berth/graph_memories_check.h"
#include "tools/berth/memories.h"
#include "tools/berth/memory_summary.h"
#include "tools/berth/model.h"
#include "tools/berth/output.h"
#include "tools/berth/problem_choice.h"
#include "tools/berth/problem_table.h"
#include "tools/berth/table.h"
#include "tools/verify/execute.h"
#include "tools/verify/verify.h"

namespace berth::cli {
namespace {

struct CheckArguments {
  TableArguments table;
  MemoryArguments memories;
  ModelArguments model;  // All but the path, which is the table's.
  std::string plan;
  bool execute = false;
  bool json = false;
};

// What is checked, and what was found.
struct Checked {
  // One of the two.
  const Problem* table = nullptr;
  const Graph* graph = nullptr;
  std::optional<Bytes> capacity;
  MemoryPlan plan;
  verify::PlanReport report;
  std::optional<verify::ExecutionReport> execution;

  TensorCount unsized;
  bool unsized_as_zero = false;
  std::vector<std::string> notes = {};  // Of the reader of the file, on its own plan.
  bool shared = false;                  // Some buffers share bytes in it, as the notes say.

  // What keeps a plan without faults from being known to hold.
  [[nodiscard]] bool sizes_missing() const { return unsized.unsized > 0 && !unsized_as_zero; }
  [[nodiscard]] bool ok() const { return report.ok() && (!execution || execution->ok()); }
  [[nodiscard]] bool spills() const {
    const auto& all = plan.residencies;
    return std::any_of(all.begin(), all.end(),
                       [](const Residency& r) { return r.comes_in || r.written_out; });
  }
  // Operators run again.
  [[nodiscard]] bool repeats() const {
    return graph != nullptr && plan.order.size() > graph->operators.size();
  }
  [[nodiscard]] std::string Describe(const verify::Fault& fault) const {
    return graph ? verify::Describe(fault, *graph, plan) : verify::Describe(fault, *table, plan);
  }
  // Of the buffer or tensor that a residency is of.
  [[nodiscard]] const std::string& NameOf(const Residency& residency) const {
    return graph ? graph->tensors[residency.tensor].name : table->buffers[residency.tensor].id;
  }
};

Json FaultJson(const verify::Fault& fault, const Checked& checked) {
  using verify::FaultKind;
  using verify::kNone;
  Json json;
  json["kind"] = verify::ToString(fault.kind);
  const auto add_residency = [&](std::size_t i, const std::string& prefix, const char* name) {
    if (i == kNone) return;
    const Residency& residency = checked.plan.residencies[i];
    json[name] = checked.NameOf(residency);
    if (checked.graph != nullptr) json[prefix + "residency"] = i;
    if (checked.plan.addressed) json[prefix + "offset"] = residency.offset;
  };
  add_residency(fault.residency, "", "buffer");
  add_residency(fault.other, "other_", "other");
  if (fault.tensor != kNone) json["tensor"] = checked.graph->tensors[fault.tensor].name;
  const auto add_operator = [&](OperatorIndex v, const char* name) {
    if (v == kNone) return;
    const bool known = checked.graph != nullptr && v < checked.graph->operators.size();
    json[name] = known ? Json(checked.graph->operators[v].name) : Json(v);
  };
  add_operator(fault.op, "operator");
  add_operator(fault.other_op, "other_operator");
  switch (fault.kind) {
    case FaultKind::kOverlap:
      json["steps"] = {fault.start, fault.end};
      json["bytes"] = {fault.lower, fault.upper};
      break;
    case FaultKind::kWrongHeight:
    case FaultKind::kWrongPeak:
    case FaultKind::kWrongTraffic:
    case FaultKind::kWrongCost:
      json["stated"] = fault.stated;
      json["actual"] = fault.actual;
      break;
    default:
      if (checked.graph != nullptr) json["step"] = fault.start;
  }
  json["message"] = checked.Describe(fault);
  return json;
}

Json ExecutionJson(const verify::ExecutionReport& execution, const Graph& graph) {
  Json json;
  json["operators_run"] = execution.operators_run;
  json["arena"] = execution.arena;
  json["arena_used"] = execution.arena_used;
  json["bytes_read"] = execution.bytes_read;
  json["bytes_written"] = execution.bytes_written;
  json["clobbers"] = Json::array();
  for (const verify::Clobber& clobber : execution.clobbers) {
    json["clobbers"].push_back(verify::Describe(clobber, graph));
  }
  json["more_clobbers"] = execution.more;
  return json;
}

Json CheckedJson(const Checked& checked) {
  const verify::PlanReport& report = checked.report;
  Json json;
  // With unknown sizes a plan may have faults; whether it has is not known.
  const bool known = !checked.ok() || !checked.sizes_missing();
  json["valid"] = known ? Json(checked.ok()) : Json(nullptr);
  if (checked.graph != nullptr) json["unsized_tensors"] = checked.unsized.unsized;
  json["height"] = report.height;
  json["peak"] = report.peak;
  json["capacity"] = ToJson(checked.capacity);
  json["residencies"] = checked.plan.residencies.size();
  if (checked.graph != nullptr) {
    json["operators"] = checked.plan.order.size();
    json["traffic"] = internal::TrafficJson(report.traffic);
    if (checked.repeats()) {
      json["operators"] = checked.graph->operators.size();
      json["recomputed"] = {{"operators", report.recomputed.operators},
                            {"cost", report.recomputed.cost},
                            {"unit", CostsOf(*checked.graph).unit}};
    }
  }
  if (checked.sizes_missing()) internal::SetApartSized(json, {"height", "peak", "traffic"});
  json["faults"] = Json::array();
  for (const verify::Fault& fault : report.faults) {
    json["faults"].push_back(FaultJson(fault, checked));
  }
  json["more_faults"] = report.more;
  if (checked.graph == nullptr) json["notes"] = checked.notes;
  if (checked.execution) json["execution"] = ExecutionJson(*checked.execution, *checked.graph);
  json["berth_version"] = BERTH_VERSION;
  return json;
}

std::string ExecutionText(const verify::ExecutionReport& run) {
  std::string text = "  Run: " + Plural(run.operators_run, "operator") + " read " +
                     FormatBytes(run.bytes_read) + " and wrote " + FormatBytes(run.bytes_written) +
                     " in an arena of " + FormatBytes(run.arena_used);
  if (run.arena_used < run.arena) {
    text += ", the " + FormatBytes(run.arena) + " shrunk so that the same tensors touch";
  }
  return text + "; " + (run.ok() ? "every byte was as it should be." : "some were overwritten.") +
         "\n";
}

std::string SummaryText(const Checked& checked) {
  const verify::PlanReport& report = checked.report;
  std::string text;
  if (checked.sizes_missing()) {
    text = Paint(Tone::kUnsure, UnsizedClause(checked.unsized.unsized, checked.unsized.tensors) +
                                    ": whether the plan holds is unknown.") +
           "\nThe rest has no fault: ";
  } else {
    text = Paint(Tone::kGood, "The plan holds:") + " ";
  }
  if (checked.graph != nullptr) {
    const auto count = static_cast<std::int64_t>(checked.graph->operators.size());
    text += Plural(count, "operator") + " in an order that can run, ";
    if (checked.repeats()) {
      const Recomputed& again = report.recomputed;
      text += Plural(static_cast<std::int64_t>(again.operators), "execution") +
              " more at a cost of " +
              OneLine(FormatCost(again.cost, CostsOf(*checked.graph).unit)) +
              ", all of which find the values of the first, ";
    }
  }
  text += Plural(static_cast<std::int64_t>(checked.plan.residencies.size()), "buffer") + " in " +
          FormatBytesExactly(report.height) +
          (checked.shared ? ", no two overlap but those that share bytes as noted; peak "
                          : ", no two overlap; peak ") +
          FormatBytesExactly(report.peak);
  if (checked.spills()) {
    text += "; " + FormatBytesExactly(report.traffic.spilled) + " spilled, " +
            FormatBytesExactly(report.traffic.retrieved) + " retrieved";
  }
  if (checked.unsized.unsized > 0 && checked.unsized_as_zero) {
    text += "; " + UnsizedClause(checked.unsized.unsized, checked.unsized.tensors) +
            " and count as 0 bytes";
  }
  text += ".\n";
  for (const std::string& note : checked.notes) text += "  note  " + OneLine(note) + "\n";
  return text;
}

std::string FaultsText(const Checked& checked) {
  std::vector<std::string> lines;
  std::int64_t more = checked.report.more;
  for (const verify::Fault& fault : checked.report.faults) lines.push_back(checked.Describe(fault));
  if (checked.execution) {
    for (const verify::Clobber& clobber : checked.execution->clobbers) {
      lines.push_back(verify::Describe(clobber, *checked.graph));
    }
    more += checked.execution->more;
  }
  std::string text = Paint(Tone::kBad, "The plan does not hold:") + " " +
                     Plural(static_cast<std::int64_t>(lines.size()) + more, "fault") + ".\n";
  for (const std::string& line : lines) text += "  " + OneLine(line) + "\n";
  if (more > 0) text += "  and " + FormatCount(more) + " more\n";
  return text;
}

ExitCode Conclude(const CheckArguments& arguments, const Checked& checked) {
  if (arguments.json) {
    PrintJson(CheckedJson(checked));
  } else {
    Print(checked.ok() ? SummaryText(checked) : FaultsText(checked));
    if (checked.execution) Print(ExecutionText(*checked.execution));
  }
  if (!checked.ok()) return kDoesNotFit;
  return checked.sizes_missing() ? kGaveUp : kDone;
}

// Runs a plan in which each tensor has one address throughout, however wrong its order and its
// offsets; nothing for other plans.
std::optional<verify::ExecutionReport> ExecutePlan(const Graph& graph, const MemoryPlan& plan) {
  Order sorted = plan.order;
  std::sort(sorted.begin(), sorted.end());
  if (sorted != ProgramOrder(graph)) return std::nullopt;
  std::vector<verify::PlacedTensor> placed;
  for (const Residency& r : plan.residencies) {
    if (graph.tensors[r.tensor].alias_of) return std::nullopt;
    if (!placed.empty() && placed.back().tensor == r.tensor) return std::nullopt;
    placed.push_back({r.tensor, r.offset});
  }
  return verify::Execute(graph, plan.order, placed);
}

std::string PlanName(const CheckArguments& arguments) {
  return arguments.plan == "-" ? "<stdin>" : arguments.plan;
}

// The text of PLAN; empty if there is none.
Result<std::string> PlanText(const CheckArguments& arguments) {
  if (arguments.plan.empty()) return std::string();
  std::string text = BERTH_TRY(ReadFile(arguments.plan));
  BERTH_TRY(CheckKind(text, arguments.plan, FileKind::kPlan));
  return text;
}

// The plan that a TensorFlow Lite model has inside, as the interpreter reads it.
Result<ExitCode> CheckTflite(const CheckArguments& arguments, const FileView& file) {
  const std::string name = arguments.table.path == "-" ? "<stdin>" : arguments.table.path;
  if (arguments.execute) {
    return Fail(ErrorCode::kInvalidOptions,
                "--execute: give the plan as a JSON file; that inside the model is not run");
  }
  const TflmArena arena = BERTH_TRY(ReadTflmArena(file.bytes(), name));
  if (!arena.offline) {
    return Fail(ErrorCode::kInvalidOptions,
                "PLAN is missing: " + name +
                    " has no plan inside (metadata OfflineMemoryAllocation); berth plan " + name +
                    " -o planned.tflite writes one");
  }
  Checked checked;
  checked.table = &arena.problem;
  checked.capacity = arguments.table.capacity;
  Problem problem = arena.problem;
  problem.capacity = arguments.table.capacity;
  checked.plan = PlanOf(problem, arena.offsets);
  checked.report = verify::VerifyPlan(problem, checked.plan);
  if (arena.unplaced > 0 && !arguments.json) {
    Print(Plural(static_cast<std::int64_t>(arena.unplaced), "tensor") +
          " without an offset in the plan: checked where TensorFlow Lite Micro would put " +
          (arena.unplaced == 1 ? "it.\n" : "them.\n"));
  }
  return Conclude(arguments, checked);
}

// A plan states what running operators again costs, and how long its run takes: from times that only
// the profile has.
Result<void> CheckProfile(const CheckArguments& arguments, const PlanSettings& settings,
                          const GraphPlanFile& plan) {
  const bool needed = plan.recomputes || plan.memories.prefetch;
  if (!needed || settings.profile.empty() || !arguments.model.profile.empty()) return {};
  return Fail(ErrorCode::kInvalidOptions,
              OneLine(PlanName(arguments)) + ": its costs are the times in the profile '" +
                  OneLine(settings.profile) + "'; give that with --profile");
}

Result<ExitCode> CheckGraph(const CheckArguments& arguments, FileView file) {
  if (arguments.plan.empty() && LooksLikeTflite(file.bytes())) return CheckTflite(arguments, file);
  if (arguments.plan.empty()) {
    return Fail(ErrorCode::kInvalidOptions,
                "PLAN is missing: a graph is checked together with a plan of it");
  }
  const std::string text = BERTH_TRY(PlanText(arguments));
  if (arguments.memories.given() && !IsPlanInMemories(text)) {
    return Fail(ErrorCode::kInvalidOptions,
                "--memory: " + OneLine(PlanName(arguments)) + " is a plan for one memory");
  }
  const PlanSettings settings = ReadPlanSettings(text);
  ModelArguments model_arguments = arguments.model;
  model_arguments.path = arguments.table.path;
  model_arguments.counting = settings.counting;
  model_arguments.counting.unsized_as_zero |= arguments.model.counting.unsized_as_zero;
  model_arguments.in_place = settings.in_place;
  model_arguments.fuse = settings.fused;
  // What the file says, unless flags say something else.
  if (model_arguments.onnx == OnnxOptions()) {
    model_arguments.onnx = settings.reading;
    model_arguments.onnx.alignment = OnnxOptions().alignment;
  }
  if (!model_arguments.alignment) model_arguments.alignment = settings.reading.alignment;
  model_arguments.other_device = settings.device;
  const Model model = BERTH_TRY(ParseModel(model_arguments, std::move(file)));
  GraphPlanFile read =
      BERTH_TRY(ReadPlanFor(model.graph, settings.counting, text, PlanName(arguments)));
  BERTH_TRY(CheckProfile(arguments, settings, read));
  if (!read.memories.memories.empty()) {
    if (arguments.table.capacity) {
      return Fail(ErrorCode::kInvalidOptions,
                  "--capacity: each memory of the plan has a capacity of its own");
    }
    return CheckInMemories(model, settings, std::move(read), {.board = arguments.memories},
                           arguments.execute, arguments.json);
  }
  Checked checked;
  checked.graph = &model.graph;
  // A plan of an order alone may have turned out higher than the capacity that was asked for.
  checked.capacity = arguments.table.capacity;
  if (!checked.capacity && (read.spills || read.recomputes)) checked.capacity = read.capacity;
  checked.unsized = CountTensors(model.graph, model_arguments.counting);
  checked.unsized_as_zero = model_arguments.counting.unsized_as_zero;
  checked.plan = std::move(read.plan);
  const std::optional<Link> link =
      arguments.model.device.empty() && settings.link ? settings.link : model.link();
  checked.report =
      verify::VerifyPlan(model.graph, settings.counting, checked.capacity, checked.plan,
                         verify::kDefaultMaxFaults, read.recomputes && link ? &*link : nullptr);
  // The verifier has run spills and repeats already: only there do the bytes of a tensor move.
  if (arguments.execute && !checked.spills() && !checked.repeats()) {
    checked.execution = ExecutePlan(model.graph, checked.plan);
  }
  return Conclude(arguments, checked);
}

// What is checked, and the offsets: those of the plan, or where none is given the table's own.
struct ToCheck {
  const Problem* problem;
  std::vector<Bytes> offsets;
};
Result<ToCheck> LoadOffsets(const CheckArguments& arguments, const Input& input,
                            const std::string& plan) {
  if (!arguments.plan.empty()) {
    // That of a table in CSV has been read already.
    const std::string text = !input.text.empty() ? plan : BERTH_TRY(PlanText(arguments));
    return ToCheck{&input.problem,
                   BERTH_TRY(ReadOffsets(text, PlanName(arguments), input.problem))};
  }
  if (input.given && !input.given->request_offsets.empty()) {
    return ToCheck{&input.given->requests, input.given->request_offsets};
  }
  if (input.given) {
    return Fail(ErrorCode::kParse, OneLine(arguments.table.path) + ": " + input.given->maker +
                                       "'s file has no offsets" +
                                       (input.part.empty() ? "" : " for \"" + input.part + "\"") +
                                       "; give the plan as a second file");
  }
  for (const Buffer& buffer : input.problem.buffers) {
    if (!buffer.offset) {
      return Fail(ErrorCode::kParse, arguments.table.path + ": buffer \"" + buffer.id +
                                         "\" has no offset; give the plan as a second file");
    }
  }
  return ToCheck{&input.problem, BERTH_TRY(ReadOffsets(input.text, input.name, input.problem))};
}

tl::unexpected<Error> ExecuteNeedsGraph() {
  return Fail(ErrorCode::kInvalidOptions,
              "--execute runs a graph; a table of buffers does not say which operator reads which "
              "buffer");
}

// What was found of several problems of a file.
struct CheckedGroup {
  explicit CheckedGroup(const std::vector<Input>& all)
      : table(all, {{"height", TextTable::Align::kRight},
                    {"peak", TextTable::Align::kRight},
                    {"", TextTable::Align::kLeft}}) {}

  void Add(const Input& input, const Checked& checked, bool as_json) {
    ++count;
    faulty += checked.ok() ? 0 : 1;
    noted += checked.notes.empty() ? 0 : 1;
    if (as_json) {
      json.push_back(ProblemJson(input, CheckedJson(checked)));
      return;
    }
    const verify::PlanReport& report = checked.report;
    const auto faults = static_cast<std::int64_t>(report.faults.size()) + report.more;
    table.Add(input, {FormatBytes(report.height), FormatBytes(report.peak),
                      checked.ok() ? "holds" : Plural(faults, "fault")});
    if (!checked.ok()) {
      text += "\n" + Paint(Tone::kStrong, OneLine(input.part)) + ": " + FaultsText(checked);
    }
  }
  [[nodiscard]] std::string ToString() const {
    std::string head =
        Plural(count, "plan") + ": " +
        (faulty == 0 ? "all hold."
                     : FormatCount(faulty) + (faulty == 1 ? " does" : " do") + " not hold.");
    head = Paint(faulty == 0 ? Tone::kGood : Tone::kBad, head) + "\n" + table.ToString();
    if (noted > 0) {
      head += "  There are notes on " + Plural(noted, "problem") +
              ", such as on buffers that share bytes: --problem, or --json.\n";
    }
    return head + text;
  }

  ProblemTable table;
  std::string text = {};  // On those that do not hold.
  Json json = Json::array();
  std::int64_t count = 0;
  std::int64_t faulty = 0;
  std::int64_t noted = 0;
};

Result<ExitCode> CheckTable(const CheckArguments& arguments, FileView file,
                            const std::string& plan) {
  if (arguments.execute) return ExecuteNeedsGraph();
  const std::vector<Input> inputs = BERTH_TRY(ParseTables(arguments.table, std::move(file)));
  if (inputs.size() > 1 && !arguments.plan.empty()) {
    return ProblemMissing("PLAN", PartsOf(inputs), arguments.table.path);
  }
  // Before anything is printed.
  std::vector<ToCheck> offsets;
  for (const Input& input : inputs) {
    offsets.push_back(BERTH_TRY(LoadOffsets(arguments, input, plan)));
  }
  CheckedGroup group{inputs};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Input& input = inputs[i];
    Problem problem = *offsets[i].problem;
    problem.capacity = input.problem.capacity;
    Checked checked;
    checked.table = &problem;
    checked.capacity = problem.capacity;
    checked.plan = PlanOf(problem, offsets[i].offsets);
    checked.report = verify::VerifyPlan(problem, checked.plan);
    if (input.given && arguments.plan.empty()) {
      checked.notes = input.given->notes;
      checked.shared = std::any_of(problem.buffers.begin(), problem.buffers.end(),
                                   [](const Buffer& buffer) { return !buffer.gaps.empty(); });
    }
    if (inputs.size() == 1) return Conclude(arguments, checked);
    group.Add(input, checked, arguments.json);
  }
  if (arguments.json) {
    PrintJson(ProblemsJson(inputs, std::move(group.json)));
  } else {
    Print(group.ToString());
  }
  return group.faulty == 0 ? kDone : kDoesNotFit;
}

Result<ExitCode> Run(const CheckArguments& arguments) {
  if (arguments.table.path == "-" && arguments.plan == "-") {
    return Fail(ErrorCode::kInvalidOptions,
                "TABLE and PLAN cannot both be standard input; give one of them as a file");
  }
  FileView file = BERTH_TRY(FileView::Open(arguments.table.path));
  if (!LooksLikeMemories(file.bytes())) {
    BERTH_TRY(CheckKind(file.bytes(), arguments.table.path, FileKind::kModelOrTable));
  }
  const bool model = !FormatOfRecorded(file.bytes()) && IsModel(file.bytes(), arguments.table.path);
  const bool graph = model && !LooksLikeMemories(file.bytes());
  const bool for_memories = !graph && IsForMemories(arguments.memories, file.bytes());
  std::string plan;
  if (for_memories || (!graph && IsCsv(file.bytes()))) plan = BERTH_TRY(PlanText(arguments));
  if (for_memories || IsPlanInMemories(plan)) {
    if (arguments.execute) return ExecuteNeedsGraph();
    return CheckMemories(
        {arguments.table, arguments.memories, plan, PlanName(arguments), arguments.json},
        std::move(file));
  }
  if (graph) {
    const std::string name = arguments.table.path == "-" ? "<stdin>" : arguments.table.path;
    if (!arguments.table.endpoints.empty()) {
      return internal::EndpointsAreKnown("--endpoints", OneLine(name));
    }
    if (!arguments.table.problem.empty()) {
      return internal::NothingToChoose("--problem", OneLine(name), "a model");
    }
    return CheckGraph(arguments, std::move(file));
  }
  return CheckTable(arguments, std::move(file), plan);
}

}  // namespace

Command AddCheckCommand(CLI::App& berth) {
  CLI::App* app =
      berth.add_subcommand("check", "Check a plan from any tool with the independent verifier.");
  const auto arguments = std::make_shared<CheckArguments>();
  AddTable(
      *app, arguments->table,
      "CSV table of buffers, a model, or what another planner wrote down, as berth place takes "
      "it; - is standard input.");
  app->add_option(
      "PLAN", arguments->plan,
      "The offsets: a CSV table with an offset column, or a JSON plan; - is standard input. "
      "Not needed if TABLE itself has offsets. For a model: a JSON plan, whose order is also "
      "checked; not needed for a TensorFlow Lite model with a plan inside.");
  AddMemories(*app, arguments->memories);
  AddModelSizes(*app, arguments->model);
  AddAllowUnknown(*app, arguments->model.counting);
  app->add_flag("--execute", arguments->execute,
                "Run the model in an arena: every operator checks the bytes that it reads, then "
                "fills its outputs. Plans with spills or with recomputation are always run.");
  AddJson(*app, arguments->json);
  app->footer(
      "Exit codes: 0 the plan is valid, 1 it is not, 2 bad input or usage, 3 sizes are unknown.\n"
      "A plan in JSON says how its model was read (--dim, --alignment and so on).\n"
      "\nExamples:\n"
      "  berth check model.csv plan.csv --capacity 1MiB   Another tool's plan for a table.\n"
      "  berth check model.csv plan.json --memories board.json   A plan for several memories.\n"
      "  berth check plan.csv                             A table with an offset column.\n"
      "  berth check model.json plan.json --execute       Runs a model by its plan.\n"
      "  berth check planned.tflite                       The plan inside a model, whoever made "
      "it.");
  return {app, [arguments] { return Run(*arguments); }};
}

}  // namespace berth::cli
