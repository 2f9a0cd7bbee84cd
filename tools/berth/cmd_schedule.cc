// berth schedule -- a model goes in, the order of least memory comes out.
#include <cstdio>
#include <utility>

#include "berth/page.h"
#include "berth/schedule.h"
#include "tools/berth/command.h"
#include "tools/berth/common.h"
#include "tools/berth/model.h"
#include "tools/berth/peak.h"
#include "tools/berth/remedies.h"

namespace berth::cli {
namespace {

struct ScheduleArguments {
  ModelArguments model;
  ScheduleOptions options;
  SearchArguments search;
  std::string output;
  std::string report;
  std::string trace;
  bool json = false;
};

Json OrderJson(const Graph& graph, const Order& order) {
  Json json = Json::array();
  for (const OperatorIndex v : order) json.push_back(graph.operators[v].name);
  return json;
}

Json AnswerJson(const Model& model, const ScheduleAnswer& answer, Bytes program_order_peak,
                bool interrupted) {
  Json json;
  json["outcome"] = ToString(answer.outcome);
  json["stopped"] = ToString(answer.stopped);
  json["peak"] = answer.peak;
  json["lower_bound"] = answer.lower_bound;
  json["gap"] = Gap(answer.peak, answer.lower_bound);
  json["program_order_peak"] = program_order_peak;
  json["algorithm"] = answer.algorithm;
  json["nodes"] = answer.nodes;
  json["stats"] = {{"operators", answer.stats.operators},
                   {"segments", answer.stats.segments},
                   {"cuts", answer.stats.cuts},
                   {"constraints", answer.stats.constraints},
                   {"states", answer.stats.states}};
  json["seconds"] = answer.seconds;
  json["interrupted"] = interrupted;
  json["operators"] = model.graph.operators.size();
  json["unplanned"] = UnplannedJson(model.graph);
  json["order"] = OrderJson(model.graph, answer.order);
  json["input"] = model.name;
  json["input_hash"] = model.hash();
  json["version"] = BERTH_VERSION;
  return json;
}

std::string AnswerText(const Model& model, const ScheduleArguments& arguments,
                       const ScheduleAnswer& answer, Bytes program_order_peak, bool interrupted) {
  const bool proved = answer.peak == answer.lower_bound;
  std::string text =
      proved ? Paint(Tone::kGood, "No order has a lower peak.")
             : Paint(Tone::kUnsure, std::string(interrupted ? "Interrupted. " : "") +
                                        "Ordered; an order with a lower peak may exist.");
  FactList facts;
  facts.Add("model", DescribeGraph(model.graph));
  if (model.reused > 0) {
    facts.Add("in place", Plural(model.reused, "output") + " written over an input");
  }
  facts.Add("peak", FormatBytesExactly(answer.peak) + "; " +
                        (answer.peak == program_order_peak
                             ? "the same in program order"
                             : FormatBytes(program_order_peak) + " in program order"));
  facts.Add("lower bound", FormatBytesExactly(answer.lower_bound));
  facts.Add("gap", proved ? "none"
                          : "at most " + FormatPercentUp(Gap(answer.peak, answer.lower_bound)) +
                                " above the best order");
  facts.Add("found by", std::string(answer.algorithm));
  facts.Add("search", Plural(answer.nodes, "node") + ", " + FormatSeconds(answer.seconds));
  if (answer.stats.operators > 0) {
    facts.Add("reduced to", Plural(answer.stats.operators, "operator") + " in " +
                                Plural(answer.stats.segments, "segment"));
  }
  const auto unplanned = DescribeUnplanned(model.graph, 0);
  if (!unplanned.empty()) {
    std::int64_t count = 0;
    for (const Tensor& tensor : model.graph.tensors) count += tensor.unplanned.empty() ? 0 : 1;
    facts.Add("not planned", Plural(count, "tensor") + " of unknown size; berth plan lists them");
  }
  if (!arguments.output.empty()) facts.Add("order", OneLine(arguments.output));
  if (!arguments.report.empty()) facts.Add("report", OneLine(arguments.report));
  text += "\n" + facts.ToString();
  for (const std::string& note : model.notes) text += "  " + OneLine(note) + "\n";
  if (!arguments.output.empty()) return text;
  text += "\n" + Paint(Tone::kStrong, "Order") + "\n";
  std::string names;
  for (const OperatorIndex v : answer.order) {
    if (!names.empty()) names += ", ";
    names += Abridged(model.graph.operators[v].name, 60);
  }
  return text + "  " + Wrap(names, TextWidth() - 2, 2) + "\n";
}

// The model as it came, with its operators in the new order.
Result<void> WriteOutput(const Model& model, const ScheduleAnswer& answer,
                         const std::string& output) {
  if (!model.is_onnx || HasExtension(output, ".json")) {
    return WriteFile(output, WriteGraphJson(Reordered(model.graph, answer.order)));
  }
  const auto pieces = ReorderOnnx(model.file.bytes(), model.name, answer.order);
  if (!pieces) return tl::unexpected(pieces.error());
  return WriteFile(output, *pieces);
}

// The report and the trace: of an order, whose tensors have no addresses.
Result<void> WriteReports(const Model& model, const ScheduleArguments& arguments,
                          const ScheduleOptions& options, const ScheduleAnswer& answer,
                          Bytes program_order_peak, WatchedSearch& search) {
  if (arguments.report.empty() && arguments.trace.empty()) return {};
  PlanAnswer plan;
  plan.outcome = answer.outcome;
  plan.schedule = answer;
  plan.liveness = Live(model.graph, answer.order, options.counting);
  plan.program_order_peak = program_order_peak;
  plan.lower_bound = answer.lower_bound;
  plan.place.lower_bound = answer.peak;
  plan.place.stopped = answer.stopped;
  if (!arguments.trace.empty()) {
    const std::string trace =
        WriteTrace(plan.liveness.problem, nullptr, &model.graph, &answer.order, model.name);
    if (auto written = WriteFile(arguments.trace, trace); !written) return written;
  }
  if (arguments.report.empty()) return {};
  Provenance provenance{BERTH_VERSION, model.name, model.hash(), {}, arguments.search.node_limit};
  provenance.schedule = options;
  provenance.in_place = arguments.model.in_place;
  PageOptions page{"schedule", "accepted: the order runs, and has the peak that is stated"};
  const Peak peak = ExaminePeak(model.graph, answer.order, plan.liveness, options.counting);
  std::optional<Bytes> in_place_peak;
  if (!arguments.model.in_place) {
    in_place_peak = Live(ReuseInPlace(model.graph), answer.order, options.counting).peak;
  }
  AddRemedies(search, page, [&](RemedySearch& remedies) {
    page.remedies = OrderRemedies(model.graph, plan, options, peak, in_place_peak, remedies);
  });
  page.notes = model.notes;
  return WriteFile(arguments.report, WritePage(model.graph, plan, provenance, page));
}

Result<ExitCode> Run(const ScheduleArguments& arguments) {
  const bool to_stdout = IsStandardOutput(arguments.output);
  const bool page_to_stdout =
      IsStandardOutput(arguments.report) || IsStandardOutput(arguments.trace);
  if (!arguments.output.empty() && !to_stdout && !HasExtension(arguments.output, ".json") &&
      !HasExtension(arguments.output, ".onnx")) {
    return Fail(ErrorCode::kInvalidOptions,
                "--output: '" + arguments.output + "' ends in neither .json nor .onnx");
  }
  for (const Result<void>& checked :
       {CheckOneWriter({{"--output -", to_stdout},
                        {"--report -", IsStandardOutput(arguments.report)},
                        {"--trace -", IsStandardOutput(arguments.trace)},
                        {"--json", arguments.json}}),
        CheckOutput(arguments.output), CheckReport(arguments.report),
        CheckOutput(arguments.trace)}) {
    if (!checked) return tl::unexpected(checked.error());
  }
  const auto model = LoadModel(arguments.model);
  if (!model) return tl::unexpected(model.error());
  if (HasExtension(arguments.output, ".onnx") && !model->is_onnx) {
    return Fail(ErrorCode::kInvalidOptions, "--output: '" + arguments.output +
                                                "' would be an ONNX model, but '" + model->name +
                                                "' is a graph in JSON");
  }
  ScheduleOptions options = arguments.options;
  options.counting = arguments.model.counting;
  WatchedSearch search(arguments.search, arguments.report.empty() ? 0 : kShareOfRemedies);
  const auto answer = search.Schedule(model->graph, options);
  if (!answer) return tl::unexpected(answer.error());
  VerifyOrderOrDie(model->graph, answer->order, options.counting, answer->peak);
  if (!arguments.output.empty()) {
    if (auto written = WriteOutput(*model, *answer, arguments.output); !written) {
      return tl::unexpected(written.error());
    }
  }
  const Bytes before = Live(model->graph, ProgramOrder(model->graph), options.counting).peak;
  if (auto written = WriteReports(*model, arguments, options, *answer, before, search); !written) {
    return tl::unexpected(written.error());
  }
  if (arguments.json) {
    PrintJson(AnswerJson(*model, *answer, before, search.interrupted()));
  } else if (!to_stdout && !page_to_stdout) {
    Print(AnswerText(*model, arguments, *answer, before, search.interrupted()));
  }
  return kDone;
}

std::string ScheduleAlgorithmsHelp() {
  std::string help = "Algorithms:\n";
  constexpr std::size_t kIndent = 22;
  for (const ScheduleAlgorithmInfo& info : ScheduleAlgorithms()) {
    std::string name(info.name);
    name.resize(std::max(kIndent - 2, name.size() + 1), ' ');
    std::string text(info.summary);
    if (!info.source.empty()) text += " [" + std::string(info.source) + "]";
    help += "  " + name + Wrap(text, TextWidth(), kIndent) + "\n";
  }
  return help;
}

}  // namespace

Command AddScheduleCommand(CLI::App& berth) {
  CLI::App* app =
      berth.add_subcommand("schedule", "Order the operators of a model for the least memory.");
  const auto arguments = std::make_shared<ScheduleArguments>();
  AddModel(*app, arguments->model);
  app->add_option(
         "-o,--output", arguments->output,
         "Write the same model with its operators in the new order: .onnx for an ONNX model "
         "(nothing else in it changes), or the graph as .json; - for standard output, in "
         "the format of the model.")
      ->type_name("FILE");
  AddReport(*app, arguments->report,
            "The order and its live bytes as one HTML file that explains the peak");
  AddTrace(*app, arguments->trace);
  AddJson(*app, arguments->json);
  AddScheduleOptions(*app, arguments->options);
  AddLimits(*app, arguments->search);
  app->footer(ScheduleAlgorithmsHelp() +
              "\nExit codes: 0 ordered, 2 bad input or usage.\n"
              "Ctrl-C ends the search with the best order so far; a second one kills.\n"
              "\nExamples:\n"
              "  berth schedule model.onnx                     The order, and its proof.\n"
              "  berth schedule model.onnx -o reordered.onnx   The same model in that order.\n"
              "  berth schedule model.json --json | jq .order  In a script.");
  return {app, [arguments] { return Run(*arguments); }};
}

}  // namespace berth::cli
