// berth explain -- why does it not fit, and what would help?
#include <algorithm>
#include <utility>

#include "berth/recorded.h"
#include "src/base/try.h"
#include "tools/berth/checked.h"
#include "tools/berth/command.h"
#include "tools/berth/file_kind.h"
#include "tools/berth/flags.h"
#include "tools/berth/graph_memories_plan.h"
#include "tools/berth/memories.h"
#include "tools/berth/memory_summary.h"
#include "tools/berth/model.h"
#include "tools/berth/output.h"
#include "tools/berth/summary.h"
#include "tools/berth/table.h"
#include "tools/berth/watched_search.h"

namespace berth::cli {
namespace {

struct ExplainArguments {
  TableArguments table;
  GraphMemoryArguments memories;
  ModelArguments model;
  std::string order;
  bool moves = false;
  SearchArguments search;
  std::string report;
  bool json = false;
};

double Share(Bytes part, Bytes whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

Bytes TotalSize(const Conflict& conflict, const Problem& problem) {
  Bytes total = 0;
  for (const std::size_t i : conflict.buffers) total += problem.buffers[i].size;
  return total;
}

Json ConflictJson(const Conflict& conflict, const Problem& problem) {
  Json json;
  json["outcome"] = ToString(conflict.outcome);
  json["capacity"] = ToJson(conflict.capacity);
  json["pins_collide"] = conflict.pins_collide;
  json["step"] = conflict.step;
  json["load"] = conflict.load;
  json["short_by"] = conflict.pins_collide ? Json(nullptr) : Json(conflict.short_by);
  json["minimal"] = conflict.minimal;
  json["works_with"] = ToJson(conflict.works_with);
  json["height_bound"] = conflict.height_bound;
  json["missing"] =
      conflict.capacity && !conflict.pins_collide
          ? MissingJson(*conflict.capacity, conflict.height_bound, conflict.works_with)
          : Json(nullptr);
  json["buffers"] = Json::array();
  const Bytes total = TotalSize(conflict, problem);
  for (const std::size_t i : conflict.buffers) {
    const Buffer& buffer = problem.buffers[i];
    json["buffers"].push_back({{"id", buffer.id},
                               {"size", buffer.size},
                               {"start", buffer.start},
                               {"end", buffer.end},
                               {"alignment", buffer.alignment},
                               {"offset", ToJson(buffer.offset)},
                               {"share", Share(buffer.size, total)}});
  }
  json["nodes"] = conflict.nodes;
  json["berth_version"] = BERTH_VERSION;
  return json;
}

// The buffers in the way, the largest first, with the columns that say something.
std::string BufferTable(const Conflict& conflict, const Problem& problem) {
  constexpr std::size_t kMostRows = 30;
  const bool aligned =
      std::any_of(conflict.buffers.begin(), conflict.buffers.end(),
                  [&](std::size_t i) { return problem.buffers[i].alignment != 1; });
  const bool pinned =
      std::any_of(conflict.buffers.begin(), conflict.buffers.end(),
                  [&](std::size_t i) { return problem.buffers[i].offset.has_value(); });
  std::vector<std::size_t> order = conflict.buffers;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return problem.buffers[a].size > problem.buffers[b].size;
  });

  using enum TextTable::Align;
  std::vector<TextTable::Align> columns = {kLeft, kRight, kRight, kRight, kLeft};
  std::vector<std::string> header = {"buffer", "size", "bytes", "share", "live at steps"};
  if (aligned) {
    columns.push_back(kRight);
    header.emplace_back("alignment");
  }
  if (pinned) {
    columns.push_back(kRight);
    header.emplace_back("pinned at");
  }
  TextTable table(columns);
  table.AddRow(header);
  const Bytes total = TotalSize(conflict, problem);
  for (std::size_t k = 0; k < std::min(order.size(), kMostRows); ++k) {
    const Buffer& buffer = problem.buffers[order[k]];
    std::vector<std::string> row = {
        OneLine(buffer.id), FormatBytes(buffer.size), FormatCount(buffer.size),
        FormatPercent(Share(buffer.size, total)),
        "[" + std::to_string(buffer.start) + ", " + std::to_string(buffer.end) + ")"};
    if (aligned) row.push_back(FormatCount(buffer.alignment));
    if (pinned) row.push_back(buffer.offset ? FormatCount(*buffer.offset) : "");
    table.AddRow(std::move(row));
  }
  std::string text = table.ToString();
  if (order.size() > kMostRows) {
    text += "  and " + FormatCount(static_cast<std::int64_t>(order.size() - kMostRows)) +
            " smaller ones (--json lists them all)\n";
  }
  return text;
}

// What is wrong with one buffer by itself.
std::string AloneText(const Conflict& conflict, const Buffer& buffer, Bytes capacity) {
  const std::string name = "\"" + OneLine(buffer.id) + "\"";
  if (buffer.offset) {
    return name + " is pinned at " + FormatCount(*buffer.offset) + " and ends at " +
           FormatCount(*buffer.offset + buffer.size) + ", above the capacity of " +
           FormatBytesExactly(capacity) + ".\n";
  }
  const auto bytes = FormatBytesApart({buffer.size, capacity});
  return name + " alone needs " + bytes[0] + ": " + FormatBytesExactly(conflict.short_by) +
         " more than the capacity of " + bytes[1] + ".\n";
}

std::string CauseText(const Conflict& conflict, const Problem& problem) {
  if (conflict.pins_collide) {
    return OneLine(DescribeCollision(conflict, problem).sentence) +
           " No capacity would do; move one of them.\n";
  }
  const Bytes capacity = conflict.capacity.value_or(0);
  if (conflict.buffers.size() == 1) {
    return AloneText(conflict, problem.buffers[conflict.buffers.front()], capacity);
  }
  // Often a part of the table: what this part lacks is then less than what all buffers lack.
  const auto count = static_cast<std::int64_t>(conflict.buffers.size());
  const auto all = static_cast<std::int64_t>(problem.buffers.size());
  const bool part = count < all;
  const std::string these = part ? FormatCount(count) + " of the " + FormatCount(all) + " buffers"
                                 : Plural(count, "buffer");
  const std::string step = FormatCount(conflict.step);
  const auto bytes = FormatBytesApart({conflict.load, capacity});
  const std::string missing = FormatBytesExactly(conflict.short_by);
  if (conflict.load > capacity) {
    return these + (part ? " already do not fit: they need " : " together need ") + bytes[0] +
           " at step " + step + ", " + missing + " more than the capacity of " + bytes[1] + ".\n";
  }
  return these + " cannot be placed together in " + bytes[1] + ", though at most " + bytes[0] +
         " of them are live at once (step " + step + "). Any plan of " +
         (part ? "these alone" : "them") + " needs at least " + missing + " more.\n";
}

std::string ConflictText(const Conflict& conflict, const Problem& problem) {
  std::string text =
      conflict.pins_collide
          ? Paint(Tone::kBad, "Does not fit.") + " "
          : Paint(Tone::kBad,
                  "Does not fit: " +
                      MissingText(*conflict.capacity, conflict.height_bound, conflict.works_with) +
                      " missing.") +
                "\n";
  text += CauseText(conflict, problem);
  text += "\n" + BufferTable(conflict, problem);
  // Of one buffer, and of two pins, the sentence above has said it.
  if (conflict.buffers.size() > 1 && !conflict.pins_collide) {
    text += conflict.minimal
                ? "\n  Without any one of these the others listed fit.\n"
                : "\n  The budget ended before each of these was shown to be needed.\n";
  }
  if (conflict.works_with) {
    text += "\n  Enough: " + FormatBytesExactly(*conflict.works_with) +
            ", the smallest capacity known to work.\n";
  }
  return text;
}

// The page of what does not fit, drawn at the smallest capacity known to work.
Result<void> WriteReport(const Input& input, const ExplainArguments& arguments,
                         const Conflict& conflict, WatchedSearch& search) {
  PlanAnswer answer = conflict.whole ? *conflict.whole : BERTH_TRY(search.Place(input.problem));
  answer.outcome = conflict.outcome;
  answer.placing.outcome = conflict.outcome;
  answer.height_bound = std::max(answer.height_bound, conflict.height_bound);
  answer.placement_bound = answer.height_bound;
  VerifyOrDie(input.problem, {}, answer);
  PlanOptions options;
  options.place = arguments.search.options;
  const Provenance provenance{BERTH_VERSION, input.name, input.hash(), options,
                              arguments.search.node_limit};
  const auto advise = [&](const AdviceOptions& advice, Budget& budget) {
    return Advise(input.problem, answer, advice, budget);
  };
  Advice advice = AdviceInTime({.explain = false}, search, advise);
  advice.conflict = conflict;
  PageOptions page = PageWithAdvice("explain", input.problem, answer, advice);
  if (input.snapshot) AddToPage(*input.snapshot, page);
  return WriteFile(arguments.report, WritePage(input.problem, answer, provenance, page));
}

// A snapshot without a capacity: who holds the peak, and what was reserved beyond it.
Result<ExitCode> ExplainSnapshot(const ExplainArguments& arguments, const Input& input) {
  WatchedSearch search(arguments.search, arguments.report.empty() ? 0 : kShareOfAdvice);
  const PlanAnswer answer = BERTH_TRY(search.Place(input.problem));
  PlanOptions options;
  options.place = arguments.search.options;
  PlanOutputs outputs;
  outputs.report = arguments.report;
  outputs.json = arguments.json;
  Planned planned{"explain",
                  input.problem,
                  answer,
                  {BERTH_VERSION, input.name, input.hash(), options, arguments.search.node_limit},
                  outputs};
  planned.snapshot = input.snapshot.get();
  planned.simulated = SimulatedReserve(input.problem);
  planned.interrupted = search.interrupted();
  BERTH_TRY(Examine(planned));
  FindAdvice(planned, search);
  BERTH_TRY(WriteOutputs(planned));
  if (arguments.json || IsStandardOutput(arguments.report)) return Conclude(planned);
  constexpr std::size_t kMostSegments = 15;
  std::string text = SummaryText(planned);
  text += FreeText(*input.snapshot, input.problem, kMostSegments);
  Print(text);
  return ExitCodeOf(answer.outcome);
}

// A model in several memories: why its tensors are not where they would cost the least.
Result<ExitCode> ExplainModel(const ExplainArguments& arguments, const PlanOutputs& outputs,
                              FileView file) {
  if (arguments.moves && !arguments.memories.may_move && !arguments.memories.prefetch) {
    return Fail(ErrorCode::kInvalidOptions,
                "--moves: tensors move only with --may-move or --prefetch");
  }
  ModelArguments reading = arguments.model;
  reading.path = arguments.table.path;
  const Model model = BERTH_TRY(ParseModel(reading, std::move(file)));
  PlanOptions options;
  options.schedule.counting = reading.counting;
  options.place = arguments.search.options;
  options.order = BERTH_TRY(LoadOrder(arguments.order, model.graph, options.schedule));
  if (arguments.table.capacity) options.capacity = *arguments.table.capacity;
  GraphMemoryPlan request{model,   reading, arguments.memories, arguments.search, outputs,
                          options, false,   arguments.moves};
  request.explain = true;
  return PlanInMemories(request);
}

// The flags that are about models, where there is none.
Result<void> RefuseModelFlags(const ExplainArguments& arguments) {
  const GraphMemoryArguments& memories = arguments.memories;
  for (const auto& [given, flag] : {std::pair{!memories.activations.empty(), "--activations-in"},
                                    {!memories.weights.empty(), "--weights-in"},
                                    {memories.may_move, "--may-move"},
                                    {memories.prefetch, "--prefetch"},
                                    {memories.copy_latency.has_value(), "--copy-latency"},
                                    {!arguments.order.empty(), "--order"},
                                    {arguments.moves, "--moves"},
                                    {!arguments.model.device.empty(), "--device"},
                                    {!arguments.model.profile.empty(), "--profile"}}) {
    if (!given) continue;
    return Fail(ErrorCode::kInvalidOptions,
                std::string(flag) + ": only a model in several memories has that");
  }
  return {};
}

Result<ExitCode> Run(const ExplainArguments& arguments) {
  BERTH_TRY(CheckOutputs({{"--report", arguments.report}}, arguments.json));
  FileView file = BERTH_TRY(FileView::Open(arguments.table.path));
  PlanOutputs outputs;
  outputs.report = arguments.report;
  outputs.json = arguments.json;
  const bool several = IsForMemories(arguments.memories.board, file.bytes());
  if (several && !LooksLikeMemories(file.bytes()) && !FormatOfRecorded(file.bytes()) &&
      IsModel(file.bytes(), arguments.table.path)) {
    return ExplainModel(arguments, outputs, std::move(file));
  }
  BERTH_TRY(RefuseModelFlags(arguments));
  if (several) {
    return PlaceMemories(
        {arguments.table, arguments.memories.board, arguments.search, outputs, true},
        std::move(file));
  }
  const Input input = BERTH_TRY(ParseTable(arguments.table, std::move(file)));
  if (input.snapshot && !arguments.table.capacity) return ExplainSnapshot(arguments, input);
  WatchedSearch search(arguments.search, arguments.report.empty() ? 0 : kShareOfAdvice);
  const auto conflict = BERTH_TRY(search.Explain(input.problem));
  if (!arguments.table.capacity && !conflict.pins_collide) {
    return Fail(ErrorCode::kInvalidOptions,
                "--capacity is missing: every table without colliding pins fits without a "
                "capacity; give a size such as 1MiB");
  }
  const bool fits = conflict.outcome == Outcome::kOptimal || conflict.outcome == Outcome::kFeasible;
  if (!arguments.report.empty()) {
    BERTH_TRY(WriteReport(input, arguments, conflict, search));
  }
  if (arguments.json) {
    PrintJson(ConflictJson(conflict, input.problem));
  } else if (IsStandardOutput(arguments.report)) {
    // The page is what was asked for.
  } else if (conflict.outcome == Outcome::kInfeasible) {
    Print(ConflictText(conflict, input.problem));
  } else {
    const std::string height =
        conflict.works_with ? FormatBytesExactly(*conflict.works_with) : "nothing known";
    Print(fits ? Paint(Tone::kGood, "Fits:") + " there is nothing to explain; " + height +
                     " is enough.\n"
               : Paint(Tone::kUnsure, "Gave up") +
                     " before it was known whether it fits; smallest capacity known to work: " +
                     height + ".\n");
  }
  return ExitCodeOf(conflict.outcome);
}

}  // namespace

Command AddExplainCommand(CLI::App& berth) {
  CLI::App* app =
      berth.add_subcommand("explain",
                           "Explain why a table does not fit a capacity, why a buffer is "
                           "not in a faster memory, or what fills PyTorch's memory.");
  const auto arguments = std::make_shared<ExplainArguments>();
  arguments->search.options.minimize_if_infeasible = true;  // What is missing is of interest.
  AddTable(*app, arguments->table);
  AddGraphMemories(*app, arguments->memories, /*spill=*/false);
  AddModelSizes(*app, arguments->model);
  AddCounting(*app, arguments->model.counting);
  AddOrder(*app, arguments->order);
  app->add_flag("--moves", arguments->moves,
                "With --may-move or --prefetch: list every copy from one memory to another.");
  AddReport(*app, arguments->report, "Write one HTML file that says why, and what would help");
  AddJson(*app, arguments->json);
  // These two have no meaning here.
  AddSearch(*app, arguments->search, {"algorithm", "minimize"});
  app->footer(
      "Exit codes: 0 it fits, 1 it does not, 2 bad input or usage, 3 gave up before an answer.\n"
      "With memories: why buffers, or the tensors of a model, are not in the memory where they "
      "would\n"
      "cost the least.\n"
      "\nExamples:\n"
      "  berth explain table.csv --memory sram=64KiB@960MB/s --memory psram@40MB/s\n"
      "  berth explain model.onnx --memories board.json  Why which tensor is where.\n"
      "  berth explain model.csv --capacity 512KiB --time-limit 10s\n"
      "  berth explain snapshot.pickle                   What filled PyTorch's memory.");
  return {app, [arguments] { return Run(*arguments); }};
}

}  // namespace berth::cli
