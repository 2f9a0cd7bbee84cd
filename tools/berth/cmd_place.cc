// berth place -- a table goes in, an offset for each buffer comes out.
#include "berth/report.h"
#include "tools/berth/command.h"
#include "tools/berth/common.h"

namespace berth::internal {
namespace {

struct PlaceArguments {
  TableArguments table;
  SearchArguments search;
  std::string output;
  std::string svg;
  bool json = false;
};

bool EndsWith(const std::string& text, std::string_view ending) {
  return text.size() >= ending.size() &&
         text.compare(text.size() - ending.size(), ending.size(), ending) == 0;
}

// What came of it all, for people and for machines.
struct Summary {
  const Input& input;
  const PlaceAnswer& answer;
  const PlaceArguments& arguments;
  LoadBound load;
  bool fits;
  bool interrupted;

  [[nodiscard]] Json ToJson() const;
  [[nodiscard]] std::string ToText() const;

 private:
  [[nodiscard]] std::string Headline() const;
};

Json Summary::ToJson() const {
  const auto& best = answer.best;
  Json json;
  json["outcome"] = ToString(answer.outcome);
  json["height"] = best ? Json(best->height) : Json(nullptr);
  json["lower_bound"] = answer.lower_bound;
  json["gap"] = best ? Json(Gap(best->height, answer.lower_bound)) : Json(nullptr);
  json["capacity"] = internal::ToJson(input.problem.capacity);
  json["algorithm"] = answer.algorithm;
  json["nodes"] = answer.nodes;
  json["seconds"] = answer.seconds;
  json["interrupted"] = interrupted;
  json["buffers"] = input.problem.buffers.size();
  json["load"] = load.load;
  json["seed"] = arguments.search.options.seed;
  json["input"] = input.name;
  json["input_hash"] = input.hash();
  json["version"] = BERTH_VERSION;
  return json;
}

std::string Summary::Headline() const {
  const auto& capacity = input.problem.capacity;
  switch (answer.outcome) {
    case Outcome::kOptimal:
      return Paint(Tone::kGood, capacity ? "Fits, and no plan is lower." : "No plan is lower.");
    case Outcome::kFeasible:
      if (capacity) return Paint(Tone::kGood, "Fits.");
      return Paint(Tone::kUnsure, "Placed; a lower plan may exist.");
    case Outcome::kInfeasible:
      return Paint(Tone::kBad, "Does not fit: proved that no plan does.");
    case Outcome::kUnknown:
      return Paint(Tone::kUnsure, "Gave up before a plan that fits, or a proof that none does.");
  }
  return {};
}

std::string Summary::ToText() const {
  const auto& best = answer.best;
  const auto& capacity = input.problem.capacity;
  FactList facts;
  if (capacity) facts.Add("capacity", FormatBytesExactly(*capacity));
  if (best && fits) {
    facts.Add("height", FormatBytesExactly(best->height));
  } else if (best) {
    facts.Add("enough", FormatBytesExactly(best->height) + ", the smallest capacity known to work");
    if (capacity) {
      facts.Add("missing", FormatBytesExactly(best->height - *capacity));
    }
  }
  facts.Add("lower bound", FormatBytesExactly(answer.lower_bound));
  facts.Add("load", FormatBytesExactly(load.load) + " live at step " + std::to_string(load.step));
  if (best) {
    const double gap = Gap(best->height, answer.lower_bound);
    facts.Add("gap",
              gap == 0 ? "none" : "at most " + FormatPercent(gap) + " above the lowest plan");
    facts.Add("found by", std::string(answer.algorithm));
  }
  facts.Add("search", Plural(static_cast<std::int64_t>(input.problem.buffers.size()), "buffer") +
                          ", " + Plural(answer.nodes, "node") + ", " +
                          FormatSeconds(answer.seconds) + (interrupted ? ", interrupted" : ""));
  if (fits && !arguments.output.empty()) facts.Add("plan", OneLine(arguments.output));
  if (best && !arguments.svg.empty()) facts.Add("picture", OneLine(arguments.svg));
  std::string text = Headline() + "\n" + facts.ToString();
  if (answer.outcome == Outcome::kInfeasible) {
    text += "  Which buffers are in the way: berth explain " + OneLine(arguments.table.path) +
            " --capacity " + std::to_string(*capacity) + "\n";
  }
  return text;
}

Result<void> WriteOutputs(const Summary& summary) {
  const auto& [input, answer, arguments, load, fits, interrupted] = summary;
  if (!answer.best) return {};
  VerifyOrDie(input.problem, *answer.best, fits);
  // A plan that does not fit is never left where a build would pick it up. The picture shows how
  // far it misses, which is what one wants to see then.
  if (fits && !arguments.output.empty()) {
    const Provenance provenance{BERTH_VERSION, input.name, input.hash(), arguments.search.options};
    const std::string plan = EndsWith(arguments.output, ".json")
                                 ? WritePlanJson(input.problem, answer, provenance)
                                 : WriteCsv(input.problem, &answer.best->offsets);
    if (auto written = WriteFile(arguments.output, plan); !written) return written;
  }
  if (!arguments.svg.empty()) {
    SvgOptions svg;
    svg.title = input.name;
    return WriteFile(arguments.svg, WriteSvg(input.problem, *answer.best, answer.lower_bound, svg));
  }
  return {};
}

Result<ExitCode> Run(const PlaceArguments& arguments) {
  const std::string& output = arguments.output;
  if (!output.empty() && output != "-" && !EndsWith(output, ".csv") && !EndsWith(output, ".json")) {
    return Fail(ErrorCode::kInvalidOptions,
                "--output: '" + output + "' ends in neither .csv nor .json, the formats of plans");
  }
  const bool plan_to_stdout = output == "-";
  if (plan_to_stdout && arguments.json) {
    return Fail(ErrorCode::kInvalidOptions,
                "--json and --output - both want standard output; give the plan a file name");
  }
  auto input = Load(arguments.table);
  if (!input) return tl::unexpected(input.error());

  WatchedSearch search(arguments.search);
  auto answer = search.Place(input->problem);
  if (!answer) return tl::unexpected(answer.error());

  const bool fits = answer->outcome == Outcome::kOptimal || answer->outcome == Outcome::kFeasible;
  const Summary summary{
      *input, *answer, arguments, MaxLiveLoad(input->problem), fits, search.interrupted()};
  if (auto written = WriteOutputs(summary); !written) return tl::unexpected(written.error());
  if (arguments.json) {
    PrintJson(summary.ToJson());
  } else if (!plan_to_stdout && arguments.svg != "-") {
    Print(summary.ToText());
  }
  if (fits) return kDone;
  return answer->outcome == Outcome::kInfeasible ? kDoesNotFit : kGaveUp;
}

}  // namespace

Command AddPlaceCommand(CLI::App& berth) {
  CLI::App* app = berth.add_subcommand("place", "Give every buffer of a table its offset.");
  const auto arguments = std::make_shared<PlaceArguments>();
  AddTable(*app, arguments->table);
  app->add_option("-o,--output", arguments->output,
                  "Write the plan: .csv (the table with an offset column), .json, or - for CSV on "
                  "standard output. Nothing is written where no plan fits.")
      ->type_name("FILE");
  app->add_option("--svg", arguments->svg, "Draw the plan, also one that does not fit.")
      ->type_name("FILE");
  AddJson(*app, arguments->json);
  AddSearch(*app, arguments->search);
  app->footer(
      AlgorithmsHelp() +
      "\nExit codes: 0 placed, 1 proved not to fit, 2 bad input or usage, 3 gave up before an "
      "answer.\n"
      "Ctrl-C ends the search with the best plan so far; a second one kills.\n"
      "\nExamples:\n"
      "  berth place model.csv --capacity 1MiB -o plan.csv      Does it fit, and where?\n"
      "  berth place model.csv --time-limit 10s --svg plan.svg  How few bytes will do?\n"
      "  berth place model.csv --algorithm first-fit-size       What TFLite would do.\n"
      "  make-table | berth place - --json | jq .height         In a script.");
  return {app, [arguments] { return Run(*arguments); }};
}

}  // namespace berth::internal
