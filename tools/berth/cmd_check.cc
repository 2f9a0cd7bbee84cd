// berth check -- does anybody's plan hold? The independent verifier's word on it.
#include "tools/berth/command.h"
#include "tools/berth/common.h"
#include "tools/verify/verify.h"

namespace berth::internal {
namespace {

struct CheckArguments {
  TableArguments table;
  std::string plan;
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

std::string_view NameOf(FaultKind kind) {
  switch (kind) {
    case FaultKind::kWrongCount:
      return "wrong-count";
    case FaultKind::kNegative:
      return "negative";
    case FaultKind::kMisaligned:
      return "misaligned";
    case FaultKind::kPinBroken:
      return "pin-broken";
    case FaultKind::kBeyondCapacity:
      return "beyond-capacity";
    case FaultKind::kOverlap:
      return "overlap";
  }
  return {};
}

Json FaultJson(const Fault& fault, const Problem& problem, const std::vector<Bytes>& offsets) {
  Json json;
  json["kind"] = NameOf(fault.kind);
  if (fault.kind != FaultKind::kWrongCount) {
    json["buffer"] = problem.buffers[fault.buffer].id;
    json["offset"] = offsets[fault.buffer];
  }
  if (fault.kind == FaultKind::kOverlap) {
    json["other"] = problem.buffers[fault.other].id;
    json["other_offset"] = offsets[fault.other];
    json["steps"] = {fault.start, fault.end};
    json["bytes"] = {fault.lower, fault.upper};
  }
  json["message"] = Describe(fault, problem, offsets);
  return json;
}

Json ReportJson(const Report& report, const Problem& problem, const std::vector<Bytes>& offsets) {
  Json json;
  json["valid"] = report.ok();
  json["height"] = report.height;
  json["capacity"] = ToJson(problem.capacity);
  json["buffers"] = problem.buffers.size();
  json["faults"] = Json::array();
  for (const Fault& fault : report.faults) {
    json["faults"].push_back(FaultJson(fault, problem, offsets));
  }
  json["more_faults"] = report.more;
  json["version"] = BERTH_VERSION;
  return json;
}

void PrintReport(const Report& report, const Problem& problem, const std::vector<Bytes>& offsets) {
  if (report.ok()) {
    Print(Paint(Tone::kGood, "The plan holds:") + " " +
          Plural(static_cast<std::int64_t>(problem.buffers.size()), "buffer") + " in " +
          FormatBytesExactly(report.height) + ", no two in each other's way.\n");
    return;
  }
  const auto count = static_cast<std::int64_t>(report.faults.size()) + report.more;
  Print(Paint(Tone::kBad, "The plan does not hold:") + " " + Plural(count, "fault") + ".\n");
  for (const Fault& fault : report.faults) {
    Print("  " + OneLine(Describe(fault, problem, offsets)) + "\n");
  }
  if (report.more > 0) Print("  and " + FormatCount(report.more) + " more\n");
}

Result<ExitCode> Run(const CheckArguments& arguments) {
  if (arguments.table.path == "-" && arguments.plan == "-") {
    return Fail(ErrorCode::kInvalidOptions,
                "TABLE and PLAN cannot both be standard input; give one of them as a file");
  }
  const auto input = Load(arguments.table);
  if (!input) return tl::unexpected(input.error());
  const auto offsets = LoadOffsets(arguments, *input);
  if (!offsets) return tl::unexpected(offsets.error());
  const Report report = Verify(input->problem, *offsets);
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
  AddTable(*app, arguments->table);
  app->add_option(
      "PLAN", arguments->plan,
      "The offsets: a CSV table with an offset column, or a JSON plan; - is standard input. "
      "May be left out where TABLE itself has offsets.");
  AddJson(*app, arguments->json);
  app->footer(
      "Exit codes: 0 the plan holds, 1 it does not, 2 bad input or usage.\n"
      "\nExamples:\n"
      "  berth check model.csv plan.csv --capacity 1MiB   Another tool's plan for a table.\n"
      "  berth check plan.csv                             A table that carries its offsets.");
  return {app, [arguments] { return Run(*arguments); }};
}

}  // namespace berth::internal
