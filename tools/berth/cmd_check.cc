// berth check -- does anybody's plan hold? The independent verifier's word on it.
#include "tools/berth/command.h"
#include "tools/berth/common.h"
#include "tools/berth/model.h"
#include "tools/berth/spilling.h"
#include "tools/verify/execute.h"
#include "tools/verify/verify.h"
#include "tools/verify/verify_order.h"
#include "tools/verify/verify_spill.h"

namespace berth::cli {
namespace {

struct CheckArguments {
  TableArguments table;
  ModelArguments model;  // All but the path, which is the table's.
  std::string plan;
  bool execute = false;
  bool json = false;
};

// The offsets to check: those of the plan, or where none is given the table's own.
Result<std::vector<Bytes>> LoadOffsets(const CheckArguments& arguments, const Input& input) {
  if (arguments.plan.empty()) {
    for (const Buffer& buffer : input.problem.buffers) {
      if (!buffer.offset) {
        return Fail(ErrorCode::kParse, arguments.table.path + ": buffer \"" + buffer.id +
                                           "\" has no offset; give the plan as a second file");
      }
    }
    return ReadOffsets(input.text, input.name, input.problem);
  }
  const auto text = ReadFile(arguments.plan);
  if (!text) return tl::unexpected(text.error());
  return ReadOffsets(*text, arguments.plan == "-" ? "<stdin>" : arguments.plan, input.problem);
}

std::string_view NameOf(internal::FaultKind kind) {
  switch (kind) {
    case internal::FaultKind::kWrongCount:
      return "wrong-count";
    case internal::FaultKind::kNegative:
      return "negative";
    case internal::FaultKind::kMisaligned:
      return "misaligned";
    case internal::FaultKind::kPinBroken:
      return "pin-broken";
    case internal::FaultKind::kBeyondCapacity:
      return "beyond-capacity";
    case internal::FaultKind::kOverlap:
      return "overlap";
  }
  return {};
}

Json FaultJson(const internal::Fault& fault, const Problem& problem,
               const std::vector<Bytes>& offsets) {
  Json json;
  json["kind"] = NameOf(fault.kind);
  if (fault.kind != internal::FaultKind::kWrongCount) {
    json["buffer"] = problem.buffers[fault.buffer].id;
    json["offset"] = offsets[fault.buffer];
  }
  if (fault.kind == internal::FaultKind::kOverlap) {
    json["other"] = problem.buffers[fault.other].id;
    json["other_offset"] = offsets[fault.other];
    json["steps"] = {fault.start, fault.end};
    json["bytes"] = {fault.lower, fault.upper};
  }
  json["message"] = Describe(fault, problem, offsets);
  return json;
}

Json ReportJson(const internal::Report& report, const Problem& problem,
                const std::vector<Bytes>& offsets) {
  Json json;
  json["valid"] = report.ok();
  json["height"] = report.height;
  json["capacity"] = ToJson(problem.capacity);
  json["buffers"] = problem.buffers.size();
  json["faults"] = Json::array();
  for (const internal::Fault& fault : report.faults) {
    json["faults"].push_back(FaultJson(fault, problem, offsets));
  }
  json["more_faults"] = report.more;
  json["version"] = BERTH_VERSION;
  return json;
}

void PrintReport(const internal::Report& report, const Problem& problem,
                 const std::vector<Bytes>& offsets) {
  if (report.ok()) {
    Print(Paint(Tone::kGood, "The plan holds:") + " " +
          Plural(static_cast<std::int64_t>(problem.buffers.size()), "buffer") + " in " +
          FormatBytesExactly(report.height) + ", no two in each other's way.\n");
    return;
  }
  const auto count = static_cast<std::int64_t>(report.faults.size()) + report.more;
  Print(Paint(Tone::kBad, "The plan does not hold:") + " " + Plural(count, "fault") + ".\n");
  for (const internal::Fault& fault : report.faults) {
    Print("  " + OneLine(Describe(fault, problem, offsets)) + "\n");
  }
  if (report.more > 0) Print("  and " + FormatCount(report.more) + " more\n");
}

// All that was checked of the plan of a graph.
struct GraphCheck {
  Order order;
  std::vector<Bytes> offsets;
  Liveness liveness;
  internal::OrderReport order_report;
  internal::Report report;
  std::optional<internal::ExecutionReport> execution;

  [[nodiscard]] bool ok() const {
    return order_report.ok() && report.ok() && (!execution || execution->ok());
  }
};

// What the plan says of how it was made; what it does not say is as by default. Whether it is a
// plan at all is for others to find out.
void ReadSettings(const std::string& plan, ModelArguments& arguments) {
  const Json json = Json::parse(plan, nullptr, /*allow_exceptions=*/false);
  const auto flag = [](const Json& object, const char* key) {
    return object.is_object() && object.contains(key) && object[key] == true;
  };
  arguments.in_place = flag(json, "in_place");
  if (json.is_object() && json.contains("count")) {
    arguments.counting = {flag(json["count"], "inputs"), flag(json["count"], "parameters")};
  }
}

Json GraphCheckJson(const Graph& graph, const GraphCheck& check) {
  Json json = ReportJson(check.report, check.liveness.problem, check.offsets);
  json["valid"] = check.ok();
  json["peak"] = check.order_report.peak;
  json["order_faults"] = Json::array();
  for (const internal::OrderFault& fault : check.order_report.faults) {
    json["order_faults"].push_back(Describe(fault, graph));
  }
  json["more_order_faults"] = check.order_report.more;
  if (check.execution) {
    Json run;
    run["operators_run"] = check.execution->operators_run;
    run["arena"] = check.execution->arena;
    run["arena_used"] = check.execution->arena_used;
    run["bytes_read"] = check.execution->bytes_read;
    run["bytes_written"] = check.execution->bytes_written;
    run["clobbers"] = Json::array();
    for (const internal::Clobber& clobber : check.execution->clobbers) {
      run["clobbers"].push_back(Describe(clobber, graph));
    }
    run["more_clobbers"] = check.execution->more;
    json["execution"] = std::move(run);
  }
  return json;
}

std::string ExecutionText(const internal::ExecutionReport& run) {
  std::string text = "  Run: " + Plural(run.operators_run, "operator") + " read " +
                     FormatBytes(run.bytes_read) + " and wrote " + FormatBytes(run.bytes_written) +
                     " in an arena of " + FormatBytes(run.arena_used);
  if (run.arena_used < run.arena) {
    text += ", the " + FormatBytes(run.arena) + " shrunk so that the same tensors touch";
  }
  return text + "; " + (run.ok() ? "every byte was as it should be." : "some were overwritten.") +
         "\n";
}

void PrintGraphCheck(const Graph& graph, const GraphCheck& check) {
  if (check.ok()) {
    Print(Paint(Tone::kGood, "The plan holds:") + " " +
          Plural(static_cast<std::int64_t>(check.order.size()), "operator") +
          " in an order that can run, " +
          Plural(static_cast<std::int64_t>(check.offsets.size()), "buffer") + " in " +
          FormatBytesExactly(check.report.height) + ", no two in each other's way; peak " +
          FormatBytesExactly(check.order_report.peak) + ".\n");
  } else {
    std::int64_t count = check.order_report.more + check.report.more;
    std::string lines;
    const auto add = [&](const std::string& line) {
      lines += "  " + OneLine(line) + "\n";
      ++count;
    };
    for (const internal::OrderFault& fault : check.order_report.faults) add(Describe(fault, graph));
    for (const internal::Fault& fault : check.report.faults) {
      add(Describe(fault, check.liveness.problem, check.offsets));
    }
    if (check.execution) {
      for (const internal::Clobber& clobber : check.execution->clobbers)
        add(Describe(clobber, graph));
      count += check.execution->more;
    }
    const std::int64_t more =
        check.order_report.more + check.report.more + (check.execution ? check.execution->more : 0);
    if (more > 0) lines += "  and " + FormatCount(more) + " more\n";
    Print(Paint(Tone::kBad, "The plan does not hold:") + " " + Plural(count, "fault") + ".\n" +
          lines);
  }
  if (check.execution) Print(ExecutionText(*check.execution));
}

// A plan in which tensors leave and come back is always run: what it holds shows in nothing else.
Result<ExitCode> RunSpills(const CheckArguments& arguments, const Model& model,
                           const SpillPlanFile& file, const Counting& counting) {
  const Bytes capacity = arguments.table.capacity.value_or(file.capacity);
  const internal::SpillReport report =
      internal::VerifySpillPlan(model.graph, counting, capacity, file.plan);
  if (arguments.json) {
    Json json;
    json["valid"] = report.ok();
    json["height"] = report.height;
    json["capacity"] = capacity;
    json["spilled"] = report.traffic.spilled;
    json["retrieved"] = report.traffic.retrieved;
    json["faults"] = Json::array();
    for (const internal::SpillFault& fault : report.faults) {
      json["faults"].push_back(Describe(fault, model.graph, file.plan));
    }
    json["version"] = BERTH_VERSION;
    PrintJson(json);
  } else if (report.ok()) {
    Print(Paint(Tone::kGood, "The plan holds:") + " " +
          Plural(static_cast<std::int64_t>(file.plan.order.size()), "operator") + " run in " +
          FormatBytesExactly(report.height) + ", each found what it needs; " +
          FormatBytesExactly(report.traffic.spilled) + " spilled, " +
          FormatBytesExactly(report.traffic.retrieved) + " retrieved.\n");
  } else {
    std::string lines;
    for (const internal::SpillFault& fault : report.faults) {
      lines += "  " + OneLine(Describe(fault, model.graph, file.plan)) + "\n";
    }
    Print(Paint(Tone::kBad, "The plan does not hold:") + " " + (report.more ? "more than " : "") +
          Plural(static_cast<std::int64_t>(report.faults.size()), "fault") + ".\n" + lines);
  }
  return report.ok() ? kDone : kDoesNotFit;
}

// An order that others have made is judged by the verifier, which names every fault; so it is only
// read here.
Result<ExitCode> RunGraph(const CheckArguments& arguments, FileView file) {
  if (arguments.plan.empty()) {
    return Fail(ErrorCode::kInvalidOptions,
                "PLAN is missing: a graph is checked together with a plan of it");
  }
  const auto plan = ReadFile(arguments.plan);
  if (!plan) return tl::unexpected(plan.error());
  const std::string plan_name = arguments.plan == "-" ? "<stdin>" : arguments.plan;
  ModelArguments model_arguments = arguments.model;
  model_arguments.path = arguments.table.path;
  ReadSettings(*plan, model_arguments);
  const auto model = ParseModel(model_arguments, std::move(file));
  if (!model) return tl::unexpected(model.error());
  const Graph& graph = model->graph;
  const auto spills = ReadSpillPlan(*plan, plan_name, graph);
  if (!spills) return tl::unexpected(spills.error());
  if (*spills) return RunSpills(arguments, *model, **spills, model_arguments.counting);
  auto order = ReadOrder(*plan, plan_name, graph, /*validate=*/false);
  if (!order) return tl::unexpected(order.error());
  GraphCheck check;
  check.order = std::move(*order);
  check.order_report = internal::VerifyOrder(graph, check.order, model_arguments.counting);
  // Of an order that does not have each operator once, nothing more can be said.
  if (!check.order_report.live.empty() || graph.operators.empty()) {
    check.liveness = Live(graph, check.order, model_arguments.counting);
    check.liveness.problem.capacity = arguments.table.capacity;
    auto offsets = ReadOffsets(*plan, plan_name, check.liveness.problem);
    if (!offsets) return tl::unexpected(offsets.error());
    check.offsets = std::move(*offsets);
    check.report = internal::Verify(check.liveness.problem, check.offsets);
    if (arguments.execute) {
      std::vector<internal::PlacedTensor> placed;
      for (std::size_t b = 0; b < check.offsets.size(); ++b) {
        placed.push_back({check.liveness.tensors[b], check.offsets[b]});
      }
      check.execution = internal::Execute(graph, check.order, placed);
    }
  }
  if (arguments.json) {
    PrintJson(GraphCheckJson(graph, check));
  } else {
    PrintGraphCheck(graph, check);
  }
  return check.ok() ? kDone : kDoesNotFit;
}

Result<ExitCode> Run(const CheckArguments& arguments) {
  if (arguments.table.path == "-" && arguments.plan == "-") {
    return Fail(ErrorCode::kInvalidOptions,
                "TABLE and PLAN cannot both be standard input; give one of them as a file");
  }
  auto file = FileView::Open(arguments.table.path);
  if (!file) return tl::unexpected(file.error());
  if (IsModel(file->bytes(), arguments.table.path)) return RunGraph(arguments, std::move(*file));
  if (arguments.execute) {
    return Fail(ErrorCode::kInvalidOptions,
                "--execute runs a graph; a table of buffers does not say who reads what");
  }
  const auto input = ParseTable(arguments.table, std::string(file->bytes()));
  if (!input) return tl::unexpected(input.error());
  const auto offsets = LoadOffsets(arguments, *input);
  if (!offsets) return tl::unexpected(offsets.error());
  const internal::Report report = internal::Verify(input->problem, *offsets);
  if (arguments.json) {
    PrintJson(ReportJson(report, input->problem, *offsets));
  } else {
    PrintReport(report, input->problem, *offsets);
  }
  return report.ok() ? kDone : kDoesNotFit;
}

}  // namespace

Command AddCheckCommand(CLI::App& berth) {
  CLI::App* app =
      berth.add_subcommand("check", "Check anybody's plan with the independent verifier.");
  const auto arguments = std::make_shared<CheckArguments>();
  AddTable(*app, arguments->table, "CSV table of buffers, or a model; - is standard input.");
  app->add_option(
      "PLAN", arguments->plan,
      "The offsets: a CSV table with an offset column, or a JSON plan; - is standard input. "
      "May be left out where TABLE itself has offsets. Of a model: a JSON plan, whose order is "
      "checked too.");
  AddModelSizes(*app, arguments->model);
  app->add_flag("--execute", arguments->execute,
                "Run the model in an arena: every operator checks the bytes that it reads and "
                "fills those that it makes.");
  AddJson(*app, arguments->json);
  app->footer(
      "Exit codes: 0 the plan holds, 1 it does not, 2 bad input or usage.\n"
      "\nExamples:\n"
      "  berth check model.csv plan.csv --capacity 1MiB   Another tool's plan for a table.\n"
      "  berth check plan.csv                             A table that carries its offsets.\n"
      "  berth check model.json plan.json --execute       Order and offsets of a model, put to "
      "the test.");
  return {app, [arguments] { return Run(*arguments); }};
}

}  // namespace berth::cli
