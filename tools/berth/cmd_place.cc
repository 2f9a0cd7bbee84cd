// berth place -- a table goes in, an offset for each buffer comes out.
#include <algorithm>
#include <utility>

#include "src/base/try.h"
#include "tools/berth/command.h"
#include "tools/berth/flags.h"
#include "tools/berth/memories.h"
#include "tools/berth/memory_summary.h"
#include "tools/berth/output.h"
#include "tools/berth/problem_choice.h"
#include "tools/berth/problem_table.h"
#include "tools/berth/proof.h"
#include "tools/berth/summary.h"
#include "tools/berth/table.h"
#include "tools/berth/watched_search.h"

namespace berth::cli {
namespace {

struct PlaceArguments {
  TableArguments table;
  MemoryArguments memories;
  SearchArguments search;
  PlanOutputs outputs;
};

// The command that says why the table does not fit; none for what was read from standard input.
std::string ExplainCommand(const PlaceArguments& arguments) {
  const std::string& path = arguments.table.path;
  if (path == "-" || OneLine(path) != path || !arguments.table.capacity) return "";
  const std::string& endpoints = arguments.table.endpoints;
  const std::string& problem = arguments.table.problem;
  if (OneLine(problem) != problem) return "";
  return "berth explain " + ShellWord(path.front() == '-' ? "./" + path : path) + " --capacity " +
         std::to_string(*arguments.table.capacity) +
         (endpoints.empty() ? "" : " --endpoints " + endpoints) +
         (problem.empty() ? "" : " --problem " + ShellWord(problem));
}

// `answer` must outlive the result.
Planned PlannedOf(const PlaceArguments& arguments, const Input& input, const PlanAnswer& answer,
                  const WatchedSearch& search) {
  PlanOptions options;
  options.place = arguments.search.options;
  Planned planned{"place",
                  input.problem,
                  answer,
                  {BERTH_VERSION, input.name, input.hash(), options, arguments.search.node_limit},
                  arguments.outputs};
  planned.snapshot = input.snapshot.get();
  planned.given = input.given ? &*input.given : nullptr;
  planned.interrupted = search.interrupted();
  return planned;
}

// ---- Several problems of one file.

// What became of one of them.
struct Placed {
  const Input* input = nullptr;
  Outcome outcome = Outcome::kUnknown;
  std::optional<Bytes> height;  // Of the best plan, even if it does not fit.
  Bytes bound = 0;
  Json json;
};

struct PlacedGroup {
  const std::vector<Input>& inputs;
  std::optional<Bytes> capacity;
  std::vector<Placed> placed = {};  // Fewer than inputs after Ctrl-C.

  [[nodiscard]] const GivenPlan& given() const { return *inputs.front().given; }
  [[nodiscard]] bool interrupted() const { return placed.size() < inputs.size(); }
  template <typename Is>
  [[nodiscard]] std::int64_t Count(const Is& is) const {
    return std::count_if(placed.begin(), placed.end(), is);
  }
  // One that does not fit is worse than one of which nothing is known.
  [[nodiscard]] ExitCode exit_code() const {
    ExitCode worst = interrupted() ? kGaveUp : kDone;
    for (const Placed& each : placed) {
      const ExitCode code = ExitCodeOf(each.outcome);
      if (code == kDoesNotFit || worst == kDone) worst = code;
      if (worst == kDoesNotFit) break;
    }
    return worst;
  }
};

// Bytes of several problems together; none as soon as one is not known, or the sum is over 2^60.
struct Sum {
  std::optional<Bytes> bytes = 0;
  void Add(std::optional<Bytes> more) {
    if (!bytes || !more || *more > kMaxBytes - *bytes) {
      bytes.reset();
    } else {
      *bytes += *more;
    }
  }
};

std::string Text(std::optional<Bytes> bytes) { return bytes ? FormatBytes(*bytes) : ""; }

// "3.1 %" more, "-0.5 %" less; empty where both are the same or one is not known.
std::string MoreText(std::optional<Bytes> bytes, std::optional<Bytes> than) {
  if (!bytes || !than || *bytes == *than || *bytes <= 0 || *than <= 0) return "";
  return *bytes > *than ? FormatPercent(Gap(*bytes, *than))
                        : "-" + FormatPercent(Gap(*than, *bytes));
}

std::string AnswerText(const Placed& placed, bool limited) {
  switch (placed.outcome) {
    case Outcome::kOptimal:
      return placed.input->given->exact ? "least" : "least as read";
    case Outcome::kFeasible:
      return limited ? "fits"
                     : "at most " + FormatPercentUp(Gap(*placed.height, placed.bound)) + " more";
    case Outcome::kInfeasible:
      return "does not fit";
    case Outcome::kUnknown:
      break;
  }
  return "not known";
}

// "79 problems: 79 placed, 79 proved optimal; Glow took more for 3."
std::string GroupHeadline(const PlacedGroup& group) {
  const std::int64_t fit = group.Count([](const Placed& each) {
    return each.outcome == Outcome::kOptimal || each.outcome == Outcome::kFeasible;
  });
  const std::int64_t least = group.Count([](const Placed& each) {
    return each.outcome == Outcome::kOptimal && each.input->given->exact;
  });
  const std::int64_t lower = group.Count([](const Placed& each) {
    return each.height && each.input->given->height.value_or(0) > *each.height;
  });
  const auto all = static_cast<std::int64_t>(group.inputs.size());
  std::string text = group.interrupted() ? "Interrupted. " : "";
  text += Plural(all, "problem") + ": " + FormatCount(fit) + (group.capacity ? " fit" : " placed");
  if (!group.capacity) text += ", " + FormatCount(least) + " proved optimal";
  const std::int64_t known =
      group.Count([](const Placed& each) { return each.height && each.input->given->height; });
  if (lower > 0) {
    text += "; " + group.given().maker + " took more for " + FormatCount(lower);
  } else if (known == all) {
    text += "; " + group.given().maker + " never took more";
  }
  text += ".";
  return Paint(fit == all && (group.capacity || least == all) ? Tone::kGood : Tone::kUnsure, text);
}

std::string GroupText(const PlacedGroup& group) {
  using enum TextTable::Align;
  ProblemTable table(
      group.inputs,
      {{"height", kRight}, {"", kLeft}, {OneLine(group.given().maker), kRight}, {"more", kRight}});
  Sum height;
  Sum given;
  for (const Placed& each : group.placed) {
    const Input& input = *each.input;
    height.Add(each.height);
    given.Add(input.given->height);
    table.Add(input, {Text(each.height), AnswerText(each, group.capacity.has_value()),
                      Text(input.given->height), MoreText(input.given->height, each.height)});
  }
  table.AddSum({Text(height.bytes), "", Text(given.bytes), MoreText(given.bytes, height.bytes)});
  return GroupHeadline(group) + "\n" + table.ToString();
}

Json GroupJson(const PlacedGroup& group) {
  Json problems = Json::array();
  for (const Placed& each : group.placed) problems.push_back(each.json);
  Json json = ProblemsJson(group.inputs, std::move(problems));
  json["interrupted"] = group.interrupted();
  return json;
}

// Each problem as if it were alone, with the limits and the capacity for each.
Result<ExitCode> PlaceAll(const PlaceArguments& arguments, const std::vector<Input>& inputs) {
  for (const Output& output : std::initializer_list<Output>{{"--output", arguments.outputs.plan},
                                                            {"--svg", arguments.outputs.svg},
                                                            {"--report", arguments.outputs.report},
                                                            {"--trace", arguments.outputs.trace},
                                                            {"--proof", arguments.outputs.proof}}) {
    if (output.path.empty()) continue;
    return ProblemMissing(output.flag, PartsOf(inputs), arguments.table.path);
  }
  PlacedGroup group{inputs, arguments.table.capacity};
  for (const Input& input : inputs) {
    WatchedSearch search(arguments.search);
    const PlanAnswer answer = BERTH_TRY(search.Place(input.problem));
    Planned planned = PlannedOf(arguments, input, answer, search);
    BERTH_TRY(Examine(planned));
    Placed placed{&input, answer.outcome, std::nullopt, answer.height_bound, {}};
    if (answer.best) placed.height = answer.best->height();
    if (arguments.outputs.json) placed.json = ProblemJson(input, SummaryJson(planned));
    if (search.interrupted()) break;
    group.placed.push_back(std::move(placed));
  }
  if (arguments.outputs.json) {
    PrintJson(GroupJson(group));
  } else {
    Print(GroupText(group));
  }
  return group.exit_code();
}

Result<ExitCode> Run(const PlaceArguments& arguments) {
  BERTH_TRY(CheckPlanOutputs(arguments.outputs));
  FileView file = BERTH_TRY(FileView::Open(arguments.table.path));
  if (IsForMemories(arguments.memories, file.bytes())) {
    return PlaceMemories({arguments.table, arguments.memories, arguments.search, arguments.outputs},
                         std::move(file));
  }
  const std::vector<Input> inputs = BERTH_TRY(ParseTables(arguments.table, std::move(file)));
  if (inputs.size() > 1) return PlaceAll(arguments, inputs);
  const Input& input = inputs.front();
  WatchedSearch search(arguments.search, !arguments.outputs.proof.empty()    ? kShareOfProof
                                         : !arguments.outputs.report.empty() ? kShareOfAdvice
                                                                             : 0);
  const PlanAnswer answer = BERTH_TRY(search.Place(input.problem));
  Planned planned = PlannedOf(arguments, input, answer, search);
  planned.explain = ExplainCommand(arguments);
  BERTH_TRY(Examine(planned));
  BERTH_TRY(FindProof(planned, arguments.search, search));
  FindAdvice(planned, search);
  BERTH_TRY(WriteOutputs(planned));
  return ConcludeWithProof(planned);
}

}  // namespace

Command AddPlaceCommand(CLI::App& berth) {
  CLI::App* app = berth.add_subcommand("place", "Give every buffer of a table its offset.");
  const auto arguments = std::make_shared<PlaceArguments>();
  arguments->search.options.minimize_if_infeasible = true;  // What is missing is of interest.
  AddTable(*app, arguments->table);
  AddMemories(*app, arguments->memories);
  AddFile(*app, "-o,--output", arguments->outputs.plan,
          "Write the plan: .csv (the table with an offset column), .json, or - for CSV on "
          "standard output. Nothing is written if no plan fits.");
  AddFile(*app, "--svg", arguments->outputs.svg,
          "Draw the plan, even if it does not fit; - for standard output.");
  AddReport(*app, arguments->outputs.report,
            "Write one HTML file that explains the plan's peak, even if it does not fit");
  AddTrace(*app, arguments->outputs.trace);
  AddFile(*app, "--proof", arguments->outputs.proof,
          "Write why the verdict is true, if the plan is optimal or none fits, for "
          "berth-check-proof; half of a time limit is for it; - for standard output.");
  AddJson(*app, arguments->outputs.json);
  AddSearch(*app, arguments->search);
  app->footer(
      AlgorithmsHelp(Algorithms()) +
      "\nExit codes: 0 placed, 1 proved not to fit, 2 bad input or usage, 3 gave up before an "
      "answer.\n"
      "Without a limit, auto stops minimising after a fixed effort; --time-limit lets it go on.\n"
      "It leaves tables with very many overlaps to greedy algorithms, whatever the limit. The\n"
      "summary, and \"stopped\" in --json, say why a search stopped: answered, budget (a limit or\n"
      "Ctrl-C), effort, size or algorithm (a greedy one proves nothing).\n"
      "Of a file with several problems all are placed, with the limits for each of them; files "
      "are\n"
      "written for one, which --problem chooses.\n"
      "With --memory, --memories or a file of memories, each buffer gets a memory and an offset in "
      "it,\n"
      "at the least cost; --capacity, --report, --trace, --proof, --minimize and --algorithm do "
      "not apply.\n"
      "Only one of --output -, --svg -, --report -, --trace -, --proof - and --json can use "
      "standard output.\n"
      "Ctrl-C ends the search with the best plan so far; a second one kills.\n"
      "\nExamples:\n"
      "  berth place model.csv --capacity 1MiB -o plan.csv      Does it fit, and where?\n"
      "  berth place model.csv --time-limit 10s --svg plan.svg  How few bytes will do?\n"
      "  berth place model.csv --capacity 1MiB --proof p.txt    And if not, why, for "
      "berth-check-proof.\n"
      "  berth place model.csv --algorithm first-fit-size       What TFLite would do.\n"
      "  berth place snapshot.pickle --report page.html         What PyTorch's requests need.\n"
      "  berth place model.pte                                  What ExecuTorch's arena needs.\n"
      "  berth place model.csv --memory tcm=64KiB@8GB/s --memory dram@1GB/s\n"
      "                                                         Which buffers into which memory?\n"
      "  make-table | berth place - --json | jq .height         In a script.");
  return {app, [arguments] { return Run(*arguments); }};
}

}  // namespace berth::cli
