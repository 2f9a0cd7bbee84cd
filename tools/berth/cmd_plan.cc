// berth plan -- a model goes in; the order of its operators and the offset of each tensor come out.
#include <variant>

#include "berth/bytes.h"
#include "berth/plan.h"
#include "berth/spill.h"
#include "src/base/try.h"
#include "tools/berth/command.h"
#include "tools/berth/flags.h"
#include "tools/berth/graph_memories_plan.h"
#include "tools/berth/model.h"
#include "tools/berth/output.h"
#include "tools/berth/proof.h"
#include "tools/berth/summary.h"
#include "tools/berth/tflite.h"
#include "tools/berth/watched_search.h"

namespace berth::cli {
namespace {

struct PlanArguments {
  ModelArguments model;
  std::string order;
  std::optional<Bytes> capacity;
  std::optional<Capacity> budget;
  std::int64_t gap = 0;
  bool recompute = false;
  bool no_spill = false;
  GraphMemoryArguments memories;
  SearchArguments search;
  PlanOutputs outputs;
  bool tensors = false;
  bool moves = false;
};

// What the flags ask for, of a model that was read.
Result<PlanOptions> OptionsOf(const PlanArguments& arguments, const Model& model) {
  const Graph& graph = model.graph;
  PlanOptions options;
  options.schedule.counting = arguments.model.counting;
  options.place = arguments.search.options;
  options.schedule.threads = arguments.search.options.threads;
  options.order = BERTH_TRY(LoadOrder(arguments.order, graph, options.schedule));
  if (arguments.capacity) options.capacity = *arguments.capacity;
  options.gap = arguments.memories.spill ? arguments.gap : 0;
  const bool has_traffic = arguments.budget || arguments.memories.spill;
  if (arguments.gap != 0 && !has_traffic) {
    return Fail(ErrorCode::kInvalidOptions,
                "--gap: only the traffic or the cost of a plan with --budget or --spill has one");
  }
  if (arguments.recompute && !arguments.budget) {
    return Fail(ErrorCode::kInvalidOptions,
                "--recompute: operators run again only within a --budget");
  }
  if (arguments.no_spill && !arguments.recompute) {
    return Fail(ErrorCode::kInvalidOptions,
                "--no-spill: only with --recompute; without --budget nothing is spilled");
  }
  if (arguments.budget && !arguments.outputs.proof.empty()) {
    return Fail(ErrorCode::kInvalidOptions,
                "--proof: a plan with --budget has none, only one whose tensors stay");
  }
  if (!arguments.budget) return options;
  if (arguments.capacity) {
    return Fail(ErrorCode::kInvalidOptions, "--budget and --capacity: give one of them");
  }
  if (!options.order && options.schedule.algorithm != ScheduleAlgorithm::kAuto &&
      options.schedule.algorithm != ScheduleAlgorithm::kProgram) {
    return Fail(ErrorCode::kInvalidOptions,
                "--order: with --budget it is auto, program or a file, "
                "not '" +
                    arguments.order + "'");
  }
  if (options.place.minimize) {
    return Fail(ErrorCode::kInvalidOptions,
                std::string("--minimize: with --budget the least ") +
                    (arguments.recompute ? "cost" : "traffic") +
                    " is looked for, not the least memory; a smaller --budget asks for less");
  }
  if (arguments.recompute && !arguments.no_spill) options.link = model.link();
  options.spill = !arguments.recompute || options.link;
  options.recompute = arguments.recompute;
  options.capacity = *arguments.budget;
  options.gap = arguments.gap;
  return options;
}

// Whether the outputs for TensorFlow Lite Micro, if there are any, can be written.
Result<void> CheckTfliteOutputs(const PlanArguments& arguments, const Model& model) {
  std::vector<std::string> flags;
  if (HasExtension(arguments.outputs.plan, ".tflite")) flags.emplace_back("--output");
  if (!arguments.outputs.tflm_header.empty()) flags.emplace_back("--emit");
  for (const std::string& flag : flags) {
    if (arguments.budget) {
      return Fail(ErrorCode::kInvalidOptions,
                  flag + ": TensorFlow Lite Micro does not " +
                      (arguments.recompute ? "run operators again, as --recompute does"
                                           : "move tensors, as --budget does"));
    }
    BERTH_TRY(CheckCanBeTflite(model, arguments.model, flag));
  }
  return {};
}

// The share of the time limit that is kept for advice, where there may be some: within a budget only
// where no plan can fit, which is known before any search.
double ShareOfAdvice(const PlanArguments& arguments, const PlanOptions& options,
                     const Graph& graph) {
  const bool budget = options.spill || options.recompute;
  if (!options.capacity && arguments.outputs.report.empty()) return 0;
  if (!budget) return kShareOfAdvice;
  const Bytes* const bytes = std::get_if<Bytes>(&*options.capacity);
  const bool too_small =
      bytes != nullptr && *bytes < FindLeastMemory(graph, options.schedule.counting).bytes;
  return too_small ? kShareOfAdvice : 0;
}

// Whether --moves has something to list.
Result<void> CheckMoves(const PlanArguments& arguments, const Model& model) {
  const GraphMemoryArguments& memories = arguments.memories;
  const bool moves =
      memories.may_move || memories.prefetch || memories.spill || arguments.budget.has_value();
  const bool copies_nothing = arguments.recompute && (arguments.no_spill || !model.link());
  if (arguments.moves && (!moves || copies_nothing)) {
    return Fail(
        ErrorCode::kInvalidOptions,
        arguments.recompute
            ? "--moves: with --recompute no tensor is moved; --tensors lists all of them"
            : "--moves: tensors move only with --budget, --spill, --may-move or --prefetch; "
              "--tensors lists all of them");
  }
  return {};
}

Result<ExitCode> Run(const PlanArguments& arguments) {
  BERTH_TRY(CheckPlanOutputs(arguments.outputs, true));
  const Model model = BERTH_TRY(LoadModel(arguments.model));
  BERTH_TRY(CheckMoves(arguments, model));
  BERTH_TRY(CheckTfliteOutputs(arguments, model));
  const PlanOptions options = BERTH_TRY(OptionsOf(arguments, model));
  if (arguments.memories.given()) {
    return PlanInMemories({model, arguments.model, arguments.memories, arguments.search,
                           arguments.outputs, options, arguments.tensors, arguments.moves});
  }
  const bool proof = !arguments.outputs.proof.empty();
  WatchedSearch search(arguments.search,
                       proof ? kShareOfProof : ShareOfAdvice(arguments, options, model.graph));
  const PlanAnswer answer = BERTH_TRY(search.Plan(model.graph, options));
  Planned planned{"plan",
                  model.graph,
                  answer,
                  {BERTH_VERSION, model.name, model.hash(), options, arguments.search.node_limit},
                  arguments.outputs};
  planned.provenance.in_place = arguments.model.in_place;
  planned.provenance.fused = arguments.model.fuse;
  planned.provenance.reading = model.reading;
  planned.provenance.device = model.device;
  planned.provenance.profile = model.profile;
  planned.model = &model;
  planned.interrupted = search.interrupted();
  planned.tensors = arguments.tensors;
  planned.moves = arguments.moves;
  planned.other_readings = [&] { return OtherReadings(arguments.model, model); };
  BERTH_TRY(Examine(planned));
  BERTH_TRY(FindOrderProof(planned, model.graph, arguments.search, search));
  FindAdvice(planned, search);
  BERTH_TRY(WriteOutputs(planned));
  return ConcludeWithProof(planned);
}

void AddPlanOutputs(CLI::App& app, const std::shared_ptr<PlanArguments>& arguments) {
  AddFile(app, "-o,--output", arguments->outputs.plan,
          "Write the plan: .json (order and offsets), .csv (a table with an offset column), "
          ".tflite (a TensorFlow Lite model in the order of the plan, with the plan inside), or - "
          "for JSON on standard output. Nothing is written if no plan fits.");
  AddFile(app, "--svg", arguments->outputs.svg, "Draw the plan; - for standard output.");
  AddReport(app, arguments->outputs.report,
            "Write one HTML file that explains the plan's peak, even if it does not fit");
  AddTrace(app, arguments->outputs.trace);
  AddOrderProof(app, arguments->outputs.proof);
  app.add_option_function<std::vector<std::string>>(
         "--emit",
         [arguments](const std::vector<std::string>& words) {
           if (words[0] != "tflm-header") {
             UsageError("--emit", Quoted(words[0]) + " is not tflm-header");
           }
           arguments->outputs.tflm_header = words[1];
         },
         "tflm-header FILE: write a C header for TensorFlow Lite Micro, with the bytes of the "
         "arena "
         "and the offsets.")
      ->type_name("KIND FILE")
      ->expected(2);
  app.add_flag("--tensors", arguments->tensors, "List every tensor with its offset and lifetime.");
  app.add_flag(
      "--moves", arguments->moves,
      "With --budget or --spill: list every copy out of the memory and back, with its step; with "
      "--may-move or --prefetch, every copy from one memory to another.");
}

}  // namespace

Command AddPlanCommand(CLI::App& berth) {
  CLI::App* app = berth.add_subcommand(
      "plan", "Order the operators of a model and give every tensor its offset.");
  const auto arguments = std::make_shared<PlanArguments>();
  arguments->search.options.minimize_if_infeasible = true;  // What is missing is of interest.
  AddModel(*app, arguments->model);
  AddBytes(
      *app, "--capacity", arguments->capacity,
      "Bytes that the arena may have, such as 512KiB or 1MiB. Without it, as few as possible.");
  AddCapacity(
      *app, "--budget", arguments->budget,
      "As --capacity, but tensors that do not fit are spilled and retrieved, with the least "
      "traffic: bytes, or MR (what the largest operator needs), MP (the least peak), MH (halfway). "
      "--algorithm and --seed then control how addresses are found.");
  app->add_option_function<std::string>(
         "--gap",
         [arguments](const std::string& text) {
           const auto gap = ParsePercentage(text);
           if (!gap) UsageError("--gap", Quoted(text) + " is not a percentage such as 0.1%");
           arguments->gap = *gap;
         },
         "With --budget: end once the traffic, or with --recompute the cost, is proved to be "
         "within this "
         "percentage of the least, such as 0.1%.")
      ->type_name("PERCENT");
  app->add_flag("--no-spill", arguments->no_spill,
                "With --recompute: nothing is copied off chip, even if the --device has a link.");
  app->add_flag(
      "--recompute", arguments->recompute,
      "With --budget: tensors that do not fit are not spilled but dropped, and the "
      "operators that make them run again, at the least cost. With a --device that has a link, "
      "tensors are copied where that takes less time; otherwise MR and MP hold for plans that copy "
      "nothing.");
  AddGraphMemories(*app, arguments->memories, /*spill=*/true);
  AddOrder(*app, arguments->order);
  AddPlanOutputs(*app, arguments);
  AddJson(*app, arguments->outputs.json);
  std::vector<std::string_view> rules;
  for (const OptionInfo& info : Options()) {
    if (info.name.find('.') != std::string_view::npos) rules.push_back(info.name);
  }
  AddSearch(*app, arguments->search, rules);
  app->footer(
      "Exit codes: 0 planned, 1 proved not to fit, 2 bad input or usage, 3 gave up before an "
      "answer.\n"
      "The order takes at most three quarters of --time-limit, the placement the rest. With\n"
      "--report or --capacity, a quarter is reserved to search for improvements; with --budget,\n"
      "only if the budget is too small.\n"
      "Without a limit each search ends after a fixed effort, the same on every machine; the\n"
      "search for spills (--budget) then takes about ten seconds, with --recompute up to twenty.\n"
      "Ctrl-C ends the search with the best plan so far; a second one kills.\n"
      "\nExamples:\n"
      "  berth plan model.onnx                             How small can its arena be, and why?\n"
      "  berth plan model.onnx --capacity 1MiB -o plan.json  Does it fit, and where?\n"
      "  berth plan model.onnx --order program --svg p.svg   What would program order need?\n"
      "  berth plan model.tflite -o planned.tflite         The plan inside the model.\n"
      "  berth plan model.onnx --memory tcm=512KiB@8GB/s --memory dram@1GB/s  Which tensor where?\n"
      "  berth check model.onnx plan.json --execute          Is the plan right?");
  return {app, [arguments] { return Run(*arguments); }};
}

}  // namespace berth::cli
