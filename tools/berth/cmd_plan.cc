// berth plan -- a model goes in; the order of its operators and the offset of each tensor come out.
#include <algorithm>
#include <iterator>
#include <utility>

#include "berth/page.h"
#include "berth/plan.h"
#include "berth/report.h"
#include "tools/berth/command.h"
#include "tools/berth/common.h"
#include "tools/berth/model.h"
#include "tools/berth/peak.h"
#include "tools/berth/remedies.h"
#include "tools/berth/spilling.h"

namespace berth::cli {
namespace {

constexpr std::size_t kRowsAtPeak = 10;

struct PlanArguments {
  ModelArguments model;
  std::string order;
  std::optional<Bytes> capacity;
  std::optional<std::string> budget;
  SearchArguments search;
  PlanOutputs outputs;
  bool tensors = false;
};

struct Summary {
  const Model& model;
  const PlanOptions& options;
  const PlanAnswer& plan;
  const PlanArguments& arguments;
  Peak peak;
  bool fits;
  bool interrupted;
  std::optional<Bytes> in_place_peak;  // What --in-place would make of this order's peak.

  [[nodiscard]] Json ToJson() const;
  [[nodiscard]] std::string ToText() const;
  [[nodiscard]] std::vector<Remedy> Remedies(RemedySearch& search) const;
  [[nodiscard]] std::vector<std::string> Advice() const;

 private:
  [[nodiscard]] std::string Headline() const;
  [[nodiscard]] std::string PeakLine() const;
  [[nodiscard]] std::string BoundLine() const;
  [[nodiscard]] std::string ArenaLine() const;
  [[nodiscard]] std::string OrderLine() const;
  [[nodiscard]] std::string TensorTable() const;
};

Json Summary::ToJson() const {
  const ScheduleAnswer& schedule = plan.schedule;
  Json json;
  json["outcome"] = ToString(plan.outcome);
  json["arena"] = cli::ToJson(plan.arena());
  json["lower_bound"] = plan.lower_bound;
  json["gap"] = plan.arena() ? Json(Gap(*plan.arena(), plan.lower_bound)) : Json(nullptr);
  json["capacity"] = cli::ToJson(arguments.capacity);
  json["program_order_peak"] = plan.program_order_peak;
  json["peak"] = schedule.peak;
  Json order;
  order["outcome"] = ToString(schedule.outcome);
  order["stopped"] = ToString(schedule.stopped);
  order["lower_bound"] = schedule.lower_bound;
  order["algorithm"] = schedule.algorithm;
  order["nodes"] = schedule.nodes;
  order["seconds"] = schedule.seconds;
  json["schedule"] = std::move(order);
  Json place;
  place["outcome"] = ToString(plan.place.outcome);
  place["stopped"] = ToString(plan.place.stopped);
  place["lower_bound"] = plan.place.lower_bound;
  place["algorithm"] = plan.place.algorithm;
  place["nodes"] = plan.place.nodes;
  place["seconds"] = plan.place.seconds;
  json["placement"] = std::move(place);
  json["seconds"] = plan.seconds;
  json["interrupted"] = interrupted;
  json["operators"] = model.graph.operators.size();
  json["tensors"] = model.graph.tensors.size();
  json["buffers"] = plan.liveness.tensors.size();
  json["count"] = {{"inputs", arguments.model.counting.inputs},
                   {"parameters", arguments.model.counting.parameters}};
  json["in_place"] = arguments.model.in_place;
  json["overwritten"] = model.reused;
  json["unplanned"] = UnplannedJson(model.graph);
  json["notes"] = model.notes;
  json["at_peak"] = PeakJson(peak, model.graph, schedule.order);
  json["advice"] = Advice();
  json["input"] = model.name;
  json["input_hash"] = model.hash();
  json["version"] = BERTH_VERSION;
  return json;
}

std::string Summary::Headline() const {
  const std::string interruption = interrupted ? "Interrupted. " : "";
  switch (plan.outcome) {
    case Outcome::kOptimal:
      return Paint(Tone::kGood, (arguments.capacity ? "Fits in " : "Planned in ") +
                                    FormatBytes(*plan.arena()) +
                                    ": proved that no order and no placement needs less.");
    case Outcome::kFeasible: {
      if (arguments.capacity) {
        return Paint(Tone::kGood, interruption + "Fits in " + FormatBytes(*plan.arena()) + ".");
      }
      const bool order_known = plan.schedule.peak == plan.schedule.lower_bound;
      return Paint(Tone::kUnsure, interruption + "Planned in " + FormatBytes(*plan.arena()) +
                                      (order_known ? "; the order is the best, a lower placement "
                                                     "may exist."
                                                   : "; a better plan may exist."));
    }
    case Outcome::kInfeasible:
      return Paint(Tone::kBad, "Does not fit: proved that no order does.");
    case Outcome::kUnknown:
      return Paint(Tone::kUnsure, interruption + (interrupted ? "No" : "Gave up: no") +
                                      " plan that fits was found, nor a proof that none does.");
  }
  return {};
}

// "146 MiB (152,694,784 bytes), 55 % less than the 324 MiB of program order".
std::string Summary::PeakLine() const {
  const Bytes now = plan.schedule.peak;
  const Bytes before = plan.program_order_peak;
  std::string text = FormatBytesExactly(now);
  if (now == before) return text + ", as in program order";
  const Bytes change = now < before ? before - now : now - before;
  return text + ", " + FormatPercent(static_cast<double>(change) / static_cast<double>(before)) +
         (now < before ? " less" : " more") + " than the " + FormatBytes(before) +
         " of program order";
}

std::string Summary::BoundLine() const {
  std::string text = FormatBytesExactly(plan.lower_bound);
  if (plan.lower_bound == plan.schedule.peak) {
    return text + ": the order is proved to have the least peak";
  }
  return text + ": the order is at most " +
         FormatPercentUp(Gap(plan.schedule.peak, plan.lower_bound)) + " above the best";
}

std::string Summary::ArenaLine() const {
  const Bytes arena = *plan.arena();
  std::string text = FormatBytesExactly(arena);
  if (arena == plan.schedule.peak) return text + ": the peak, nothing is lost between tensors";
  text += ": " + FormatBytes(arena - plan.schedule.peak) + " (" +
          FormatPercent(Gap(arena, plan.schedule.peak)) + ") above the peak";
  if (plan.place.lower_bound == arena) return text + ", proved the least for this order";
  return text + "; at most " + FormatPercentUp(Gap(arena, plan.place.lower_bound)) +
         " more than this order needs";
}

std::string Summary::OrderLine() const {
  const ScheduleAnswer& schedule = plan.schedule;
  return std::string(schedule.algorithm) + ", " + Plural(schedule.nodes, "node") + ", " +
         FormatSeconds(schedule.seconds);
}

std::vector<std::string> Summary::Advice() const {
  std::vector<std::string> lines;
  const Graph& graph = model.graph;
  const std::size_t kName = 40;
  const Bytes waiting = peak.bytes - peak.in_use;
  const auto share = [&](Bytes bytes) {
    return FormatPercent(static_cast<double>(bytes) / static_cast<double>(peak.bytes));
  };
  // Nearly all of the peak is what one operator needs anyway: there is nothing left for an order.
  constexpr Bytes kNearly = 20;
  if (!graph.operators.empty() && peak.bytes > 0) {
    const std::string name = Abridged(graph.operators[peak.largest_operator].name, kName);
    const Bytes above = peak.bytes - peak.largest_step;
    if (above <= peak.bytes / kNearly) {
      lines.push_back(
          name + " by itself reads and makes " + FormatBytes(peak.largest_step) + ", " +
          (above == 0 ? "the whole peak" : "all of the peak but " + FormatBytes(above)) +
          ": no order helps here; splitting it, or fusing it with a neighbour, would.");
    } else if (waiting > 0 && peak.op) {
      lines.push_back(FormatBytes(waiting) + " of the peak (" + share(waiting) +
                      ") only wait while " + Abridged(graph.operators[*peak.op].name, kName) +
                      " runs: what is used next far away could be recomputed, or leave and come "
                      "back (--budget). No order can go below " +
                      FormatBytes(peak.largest_step) + ", what " + name +
                      " reads and makes by itself.");
    }
  }
  if (!model.open_dimensions.empty()) {
    std::string names;
    for (const std::string& name : model.open_dimensions) {
      names += (names.empty() ? "" : ", ") + OneLine(name);
    }
    lines.push_back("Sizes that the model leaves open: " + names + "; --dim " +
                    ShellWord(model.open_dimensions.front() + "=1") + " gives one.");
  }
  if (in_place_peak && *in_place_peak < plan.schedule.peak) {
    lines.push_back("--in-place lowers the peak of this order to " + FormatBytes(*in_place_peak) +
                    ".");
  }
  if (plan.schedule.lower_bound < plan.schedule.peak) {
    switch (plan.schedule.stopped) {
      case StopReason::kEffort:
        lines.emplace_back(
            "The search for the order ended with its default effort; --time-limit "
            "10min would go on.");
        break;
      case StopReason::kBudget:
        lines.emplace_back(
            "The search for the order ended with its limit; a larger one may find a "
            "better order, or the proof.");
        break;
      case StopReason::kAnswered:
      case StopReason::kSize:
      case StopReason::kAlgorithm:
        lines.emplace_back("This order was not searched for; --order auto does.");
        break;
    }
  }
  if (plan.arena() && *plan.arena() > plan.place.lower_bound && !fits) {
    lines.emplace_back("The placement is not proved the lowest; --time-limit 1min may lower it.");
  }
  return lines;
}

// Every tensor of the plan, in the order in which they come to life.
std::string Summary::TensorTable() const {
  using Align = TextTable::Align;
  TextTable table(
      {Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kLeft, Align::kLeft});
  table.AddRow({"offset", "bytes", "from", "to", "tensor", "made by"});
  const auto& buffers = plan.liveness.problem.buffers;
  std::vector<std::size_t> rows(buffers.size());
  for (std::size_t b = 0; b < rows.size(); ++b) rows[b] = b;
  std::stable_sort(rows.begin(), rows.end(), [&](std::size_t x, std::size_t y) {
    return buffers[x].start < buffers[y].start;
  });
  for (const std::size_t b : rows) {
    const Buffer& buffer = buffers[b];
    const bool made =
        model.graph.tensors[plan.liveness.tensors[b]].kind == TensorKind::kActivation ||
        model.graph.tensors[plan.liveness.tensors[b]].kind == TensorKind::kGradient;
    const auto& order = plan.schedule.order;
    table.AddRow(
        {plan.place.best ? std::to_string(plan.place.best->offsets[b]) : "-",
         std::to_string(buffer.size), std::to_string(buffer.start), std::to_string(buffer.end - 1),
         Abridged(buffer.id, 40),
         made ? Abridged(model.graph.operators[order[static_cast<std::size_t>(buffer.start)]].name,
                         40)
              : "before the run"});
  }
  return "\n" + Paint(Tone::kStrong, "Tensors") + ", from the first step to the last\n" +
         table.ToString();
}

std::string Summary::ToText() const {
  const Graph& graph = model.graph;
  FactList facts;
  facts.Add("model", DescribeGraph(graph));
  if (model.reused > 0)
    facts.Add("in place", Plural(model.reused, "output") + " written over an input");
  if (arguments.capacity) facts.Add("capacity", FormatBytesExactly(*arguments.capacity));
  facts.Add("peak", PeakLine());
  facts.Add("lower bound", BoundLine());
  if (plan.arena() && (fits || !arguments.capacity)) facts.Add("arena", ArenaLine());
  if (plan.arena() && !fits) {
    facts.Add("enough",
              FormatBytesExactly(*plan.arena()) + ", the smallest capacity known to work");
    facts.Add("missing", FormatBytesExactly(*plan.arena() - *arguments.capacity));
  }
  const std::string uncounted = DescribeUncounted(graph, arguments.model.counting);
  if (!uncounted.empty()) facts.Add("besides", uncounted + ", which the arena does not hold");
  facts.Add("order by", OrderLine());
  if (plan.place.best && !plan.liveness.tensors.empty()) {
    facts.Add("placed by",
              std::string(plan.place.algorithm) + ", " +
                  Plural(static_cast<std::int64_t>(plan.liveness.tensors.size()), "buffer") + ", " +
                  Plural(plan.place.nodes, "node") + ", " + FormatSeconds(plan.place.seconds));
  }
  if (!arguments.outputs.plan.empty()) {
    facts.Add("plan", fits ? OneLine(arguments.outputs.plan) : "not written, as none fits");
  }
  if (!arguments.outputs.svg.empty()) {
    facts.Add("picture",
              plan.place.best ? OneLine(arguments.outputs.svg) : "not drawn, as there is no plan");
  }
  if (!arguments.outputs.report.empty()) {
    facts.Add("report", OneLine(arguments.outputs.report));
  }
  std::string text = Headline() + "\n" + facts.ToString();
  text += CaveatText(model);
  text += PeakText(peak, graph, plan.schedule.order, kRowsAtPeak);
  const auto advice = Advice();
  if (!advice.empty()) text += "\n" + Paint(Tone::kStrong, "Where to look next") + "\n";
  for (const std::string& line : advice) text += "  " + Wrap(line, TextWidth() - 2, 2) + "\n";
  if (arguments.tensors) text += TensorTable();
  return text;
}

std::vector<Remedy> Summary::Remedies(RemedySearch& search) const {
  // Of the placement within this order.
  std::vector<Remedy> remedies;
  if (plan.place.best) remedies = PlacementRemedies(plan.liveness.problem, plan.place, search);
  if (arguments.capacity && !fits) {
    auto of_spills =
        SpillRemedy(model.graph, arguments.model.counting, *arguments.capacity, plan, search);
    if (of_spills) remedies.push_back(*std::move(of_spills));
  }
  auto of_order = OrderRemedies(model.graph, plan, options.schedule, peak, in_place_peak, search);
  std::move(of_order.begin(), of_order.end(), std::back_inserter(remedies));
  return remedies;
}

Result<void> WriteOutputs(const Summary& summary, WatchedSearch& search) {
  const PlanAnswer& plan = summary.plan;
  const PlanArguments& arguments = summary.arguments;
  const PlanOutputs& outputs = arguments.outputs;
  const Problem& problem = plan.liveness.problem;
  VerifyOrderOrDie(summary.model.graph, plan.schedule.order, arguments.model.counting,
                   plan.schedule.peak);
  if (plan.place.best) VerifyOrDie(problem, *plan.place.best, summary.fits);
  Provenance provenance{BERTH_VERSION, summary.model.name, summary.model.hash(),
                        summary.options.place, arguments.search.node_limit};
  provenance.schedule = summary.options.schedule;
  provenance.in_place = arguments.model.in_place;
  if (!outputs.report.empty()) {
    PageOptions page{"plan", Verdict(problem, plan.place.best)};
    AddRemedies(search, page, [&](RemedySearch& remedies) {
      page.conflict = FindConflict(problem, plan.place.outcome, remedies);
      page.remedies = summary.Remedies(remedies);
    });
    page.notes = NotesOf(summary.model);
    if (auto written =
            WriteFile(outputs.report, WritePage(summary.model.graph, plan, provenance, page));
        !written) {
      return written;
    }
  }
  if (!outputs.trace.empty()) {
    const std::string trace =
        WriteTrace(problem, plan.place.best ? &*plan.place.best : nullptr, &summary.model.graph,
                   &plan.schedule.order, summary.model.name);
    if (auto written = WriteFile(outputs.trace, trace); !written) return written;
  }
  if (!plan.place.best) return {};
  if (summary.fits && !outputs.plan.empty()) {
    const std::string text = HasExtension(outputs.plan, ".csv")
                                 ? WriteCsv(problem, &plan.place.best->offsets)
                                 : WritePlanJson(summary.model.graph, plan, provenance);
    if (auto written = WriteFile(outputs.plan, text); !written) return written;
  }
  if (!outputs.svg.empty()) {
    SvgOptions svg;
    svg.title = summary.model.name;
    return WriteFile(outputs.svg, WriteSvg(problem, *plan.place.best, plan.lower_bound, svg));
  }
  return {};
}

// The peak of `order` with outputs written over inputs; nothing where that is done already.
std::optional<Bytes> PeakInPlace(const Model& model, const Order& order,
                                 const ModelArguments& arguments) {
  if (arguments.in_place) return std::nullopt;
  return Live(ReuseInPlace(model.graph), order, arguments.counting).peak;
}

// Tensors leave and come back where they have to.
Result<ExitCode> RunWithinBudget(const PlanArguments& arguments, const Model& model) {
  if (arguments.capacity) {
    return Fail(ErrorCode::kInvalidOptions, "--budget and --capacity: give one of them");
  }
  const bool fixed = arguments.order == "program";
  if (!fixed && !arguments.order.empty() && arguments.order != "auto") {
    return Fail(ErrorCode::kInvalidOptions,
                "--order: with --budget it is auto or program, not '" + arguments.order + "'");
  }
  if (arguments.search.options.minimize) {
    return Fail(ErrorCode::kInvalidOptions,
                "--minimize: with --budget the least traffic is looked for, not the least memory; "
                "a smaller --budget asks for less");
  }
  SpillRequest request;
  request.budget = *arguments.budget;
  request.place = arguments.search.options;
  request.fixed_order = fixed;
  request.outputs = arguments.outputs;
  request.in_place = arguments.model.in_place;
  request.tensors = arguments.tensors;
  request.node_limit = arguments.search.node_limit;
  // A page says what would help where the budget is too small, which is known before any search.
  const auto budget = ParseBytes(request.budget);
  const Counting& counting = arguments.model.counting;
  const bool remedies = !arguments.outputs.report.empty() && budget &&
                        *budget < FindLeastMemory(model.graph, counting).bytes;
  WatchedSearch search(arguments.search, remedies ? kShareOfRemedies : 0);
  const auto run = PlanWithinBudget(model, counting, request, search);
  if (!run) return tl::unexpected(run.error());
  if (run->answer.best) return kDone;
  return run->answer.outcome == Outcome::kInfeasible ? kDoesNotFit : kGaveUp;
}

Result<ExitCode> Run(const PlanArguments& arguments) {
  if (auto checked = CheckPlanOutputs(arguments.outputs); !checked) {
    return tl::unexpected(checked.error());
  }
  const auto model = LoadModel(arguments.model);
  if (!model) return tl::unexpected(model.error());
  if (arguments.budget) return RunWithinBudget(arguments, *model);
  PlanOptions options;
  options.schedule.counting = arguments.model.counting;
  options.place = arguments.search.options;
  options.capacity = arguments.capacity;
  auto order = LoadOrder(arguments.order, model->graph, options.schedule);
  if (!order) return tl::unexpected(order.error());
  options.order = std::move(*order);

  WatchedSearch search(arguments.search, arguments.outputs.report.empty() ? 0 : kShareOfRemedies);
  const auto plan = search.Plan(model->graph, options);
  if (!plan) return tl::unexpected(plan.error());

  const bool fits = plan->outcome == Outcome::kOptimal || plan->outcome == Outcome::kFeasible;
  const Summary summary{
      *model,
      options,
      *plan,
      arguments,
      ExaminePeak(model->graph, plan->schedule.order, plan->liveness, arguments.model.counting),
      fits,
      search.interrupted(),
      PeakInPlace(*model, plan->schedule.order, arguments.model)};
  if (auto written = WriteOutputs(summary, search); !written)
    return tl::unexpected(written.error());
  return Conclude(arguments.outputs, plan->outcome, summary);
}

}  // namespace

Command AddPlanCommand(CLI::App& berth) {
  CLI::App* app = berth.add_subcommand(
      "plan", "Order the operators of a model and give every tensor its offset.");
  const auto arguments = std::make_shared<PlanArguments>();
  AddModel(*app, arguments->model);
  AddBytes(
      *app, "--capacity", arguments->capacity,
      "Bytes that the arena may have, such as 512KiB or 1MiB. Without it, as few as possible.");
  app->add_option("--budget", arguments->budget,
                  "As --capacity, but what does not fit leaves the memory and comes back, with the "
                  "least traffic: bytes, or MR (what one operator needs), MP (the least peak), MH "
                  "(halfway). --algorithm, --seed and --threads are then how addresses are found.")
      ->type_name("BYTES");
  AddOrder(*app, arguments->order);
  app->add_option("-o,--output", arguments->outputs.plan,
                  "Write the plan: .json (order and offsets), .csv (a table with an offset "
                  "column), or - for JSON on standard output. Nothing is written where none fits.")
      ->type_name("FILE");
  app->add_option("--svg", arguments->outputs.svg, "Draw the plan; - for standard output.")
      ->type_name("FILE");
  AddReport(*app, arguments->outputs.report,
            "The plan as one HTML file that explains its peak, also one that does not fit");
  AddTrace(*app, arguments->outputs.trace);
  app->add_flag("--tensors", arguments->tensors, "List every tensor with its offset and lifetime.");
  AddJson(*app, arguments->outputs.json);
  std::vector<std::string_view> rules;
  for (const OptionInfo& info : Options()) {
    if (info.name.find('.') != std::string_view::npos) rules.push_back(info.name);
  }
  AddSearch(*app, arguments->search, rules);
  app->footer(
      "Exit codes: 0 planned, 1 proved not to fit, 2 bad input or usage, 3 gave up before an "
      "answer.\n"
      "Three quarters of --time-limit go to the order at most, the rest to the placement; with\n"
      "--report a quarter is kept for what would help, with --budget only where that is too "
      "small.\n"
      "Without a limit each search ends after a fixed effort, the same on every machine: some ten\n"
      "seconds for what has to leave (--budget).\n"
      "Ctrl-C ends the search with the best plan so far; a second one kills.\n"
      "\nExamples:\n"
      "  berth plan model.onnx                             How small can its arena be, and why?\n"
      "  berth plan model.onnx --capacity 1MiB -o plan.json  Does it fit, and where?\n"
      "  berth plan model.onnx --order program --svg p.svg   As written: what would it need?\n"
      "  berth check model.onnx plan.json --execute          Is the plan right?");
  return {app, [arguments] { return Run(*arguments); }};
}

}  // namespace berth::cli
