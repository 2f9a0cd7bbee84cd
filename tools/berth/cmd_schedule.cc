// berth schedule -- a model goes in, the order of least memory comes out.
#include <algorithm>

#include "berth/schedule.h"
#include "src/base/try.h"
#include "tools/berth/command.h"
#include "tools/berth/flags.h"
#include "tools/berth/model.h"
#include "tools/berth/output.h"
#include "tools/berth/proof.h"
#include "tools/berth/summary.h"
#include "tools/berth/tflite.h"
#include "tools/berth/watched_search.h"

namespace berth::cli {
namespace {

struct ScheduleArguments {
  ModelArguments model;
  ScheduleOptions options;
  SearchArguments search;
  std::string output;
  std::string report;
  std::string trace;
  std::string proof;
  bool json = false;
};

// The model as it came, with its operators in the new order.
Result<void> WriteOutput(const Model& model, const Order& order, const std::string& output) {
  if (model.is_tflite() && !HasExtension(output, ".json")) {
    MemoryPlan plan;
    plan.order = order;
    plan.addressed = false;
    return WriteFile(output, BERTH_TRY(PlannedTflite(model, plan)));
  }
  if (!model.is_onnx() || HasExtension(output, ".json")) {
    return WriteFile(output, WriteGraphJson(Reordered(model.graph, order)));
  }
  const auto pieces = BERTH_TRY(ReorderOnnx(model.file.bytes(), model.name, order));
  return WriteFile(output, pieces);
}

Result<ExitCode> Run(const ScheduleArguments& arguments) {
  const bool to_stdout = IsStandardOutput(arguments.output);
  if (!arguments.output.empty() && !to_stdout && !HasExtension(arguments.output, ".json") &&
      !HasExtension(arguments.output, ".onnx") && !HasExtension(arguments.output, ".tflite")) {
    return Fail(ErrorCode::kInvalidOptions,
                "--output: '" + arguments.output + "' ends in neither .json nor .onnx nor .tflite");
  }
  BERTH_TRY(CheckOutputs({{"--output", arguments.output},
                          {"--report", arguments.report},
                          {"--trace", arguments.trace},
                          {"--proof", arguments.proof}},
                         arguments.json));
  const Model model = BERTH_TRY(LoadModel(arguments.model));
  if (HasExtension(arguments.output, ".onnx") && !model.is_onnx()) {
    return Fail(ErrorCode::kInvalidOptions,
                "--output: '" + arguments.output + "' would be an ONNX model, but '" + model.name +
                    (model.is_tflite() ? "' is a TensorFlow Lite model" : "' is a graph in JSON"));
  }
  if (HasExtension(arguments.output, ".tflite") || (model.is_tflite() && to_stdout)) {
    BERTH_TRY(CheckCanBeTflite(model, arguments.model, "--output"));
  }
  PlanOptions options;
  options.schedule = arguments.options;
  options.schedule.counting = arguments.model.counting;
  WatchedSearch search(arguments.search, !arguments.proof.empty()    ? kShareOfProof
                                         : !arguments.report.empty() ? kShareOfAdvice
                                                                     : 0);
  const PlanAnswer answer = BERTH_TRY(search.Schedule(model.graph, options.schedule));
  Planned planned{"schedule",
                  model.graph,
                  answer,
                  {BERTH_VERSION, model.name, model.hash(), options, arguments.search.node_limit},
                  {"", "", arguments.report, arguments.trace, arguments.json, "", arguments.proof}};
  planned.provenance.in_place = arguments.model.in_place;
  planned.provenance.fused = arguments.model.fuse;
  planned.provenance.reading = model.reading;
  planned.model = &model;
  planned.interrupted = search.interrupted();
  planned.reordered = arguments.output;
  BERTH_TRY(Examine(planned));
  BERTH_TRY(FindOrderProof(planned, model.graph, arguments.search, search));
  if (!arguments.output.empty()) {
    BERTH_TRY(WriteOutput(model, answer.best->order, arguments.output));
  }
  FindAdvice(planned, search);
  BERTH_TRY(WriteOutputs(planned));
  return ConcludeWithProof(planned);
}

}  // namespace

Command AddScheduleCommand(CLI::App& berth) {
  CLI::App* app =
      berth.add_subcommand("schedule", "Order the operators of a model for the least memory.");
  const auto arguments = std::make_shared<ScheduleArguments>();
  AddModel(*app, arguments->model);
  AddFile(*app, "-o,--output", arguments->output,
          "Write the same model with its operators in the new order: .onnx for an ONNX model and "
          ".tflite for a TensorFlow Lite model (nothing else in it changes), or the graph as "
          ".json; - for standard output, in the format of the model.");
  AddReport(*app, arguments->report,
            "Write one HTML file that shows the order, its live bytes and its peak");
  AddTrace(*app, arguments->trace);
  AddOrderProof(*app, arguments->proof);
  AddJson(*app, arguments->json);
  AddScheduleOptions(*app, arguments->options);
  AddLimits(*app, arguments->search);
  app->footer(AlgorithmsHelp(ScheduleAlgorithms()) +
              "\nExit codes: 0 ordered, 2 bad input or usage, 3 sizes of tensors are unknown.\n"
              "Ctrl-C ends the search with the best order so far; a second one kills.\n"
              "\nExamples:\n"
              "  berth schedule model.onnx                     The order, and its proof.\n"
              "  berth schedule model.onnx -o reordered.onnx   The same model in that order.\n"
              "  berth schedule model.json --proof proof.txt   Why no order has less, for "
              "berth-check-proof.\n"
              "  berth schedule model.json --json | jq .order  In a script.");
  return {app, [arguments] { return Run(*arguments); }};
}

}  // namespace berth::cli
