// berth compare -- orders of one model side by side: what each needs, and how long it took to find.
#include <algorithm>
#include <utility>

#include "berth/baselines.h"
#include "berth/olla.h"
#include "berth/plan.h"
#include "tools/berth/checked.h"
#include "tools/berth/command.h"
#include "tools/berth/common.h"
#include "tools/berth/model.h"

namespace berth::cli {
namespace {

// Of OLLA's program by itself, unless told otherwise: small graphs need less, and large ones would
// take hours.
constexpr double kOllaSeconds = 5;
// Of the program: with more, no order comes in minutes, and some steps of its solver cannot be
// ended.
constexpr std::int64_t kMostVariables = 50'000;

struct CompareArguments {
  ModelArguments model;
  SearchArguments search;
  std::optional<double> olla_limit;
  bool json = false;
};

struct Row {
  std::string name;
  PlanAnswer plan;
  double order_seconds = 0;
};

std::optional<Bytes> HeightOf(const PlanAnswer& plan) {
  if (!plan.best || !plan.best->addressed) return std::nullopt;
  return plan.best->height();
}

Json RowJson(const Row& row, Bytes lower_bound) {
  Json json;
  json["order"] = row.name;
  json["peak"] = row.plan.best->peak();
  const auto height = HeightOf(row.plan);
  json["height"] = ToJson(height);
  json["above_lower_bound"] = Gap(row.plan.best->peak(), lower_bound);
  json["fragmentation"] = height ? Json(Gap(*height, row.plan.best->peak())) : Json(nullptr);
  json["outcome"] = ToString(row.plan.scheduling.outcome);
  json["schedule_seconds"] = row.order_seconds;
  json["place_seconds"] = row.plan.placing.seconds;
  return json;
}

std::string TableText(const Model& model, const std::vector<Row>& rows, Bytes lower_bound) {
  using Align = TextTable::Align;
  TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight,
                   Align::kRight, Align::kRight});
  table.AddRow({"order", "peak", "above bound", "arena", "above peak", "ordered in", "placed in"});
  std::vector<Bytes> sizes;
  for (const Row& row : rows) {
    sizes.push_back(row.plan.best->peak());
    sizes.push_back(HeightOf(row.plan).value_or(0));
  }
  const std::vector<std::string> shown = FormatBytesApart(sizes);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const PlanAnswer& plan = rows[r].plan;
    const double above = Gap(plan.best->peak(), lower_bound);
    const auto height = HeightOf(plan);
    const double lost = height ? Gap(*height, plan.best->peak()) : 0;
    table.AddRow({rows[r].name, shown[2 * r], above == 0 ? "least" : "+" + FormatPercentUp(above),
                  height ? shown[2 * r + 1] : "-", lost == 0 ? "none" : "+" + FormatPercentUp(lost),
                  FormatSeconds(rows[r].order_seconds), FormatSeconds(plan.placing.seconds)});
  }
  return Paint(Tone::kStrong, OneLine(model.name)) + ": " + DescribeGraph(model.graph) +
         "\n  no order has a peak below " + FormatBytesExactly(lower_bound) + "\n\n" +
         table.ToString();
}

// The order of OLLA's program, or why there is none.
struct OllaOrder {
  std::optional<Order> order;
  bool optimal = false;  // Its solver says so.
  std::string missing;   // "too large: 1,234,567 variables"
  double seconds = 0;
};
Result<OllaOrder> FindOllaOrder(const Graph& graph, const SearchArguments& limits,
                                bool& interrupted) {
  OllaOrder found;
  const auto variables = CountOllaVariables(graph, {});
  if (!variables) return tl::unexpected(variables.error());
  if (*variables > kMostVariables) {
    found.missing = "too large: " + FormatCount(*variables) + " variables";
    return found;
  }
  WatchedSearch search(limits);
  const auto olla =
      search.Within([&](Budget& budget) { return ScheduleByOlla(graph, {}, budget); });
  if (!olla) return tl::unexpected(olla.error());
  interrupted = search.interrupted();
  found.seconds = olla->plan.seconds;
  if (!olla->found) {
    found.missing = "no order in " + FormatSeconds(olla->plan.seconds);
    return found;
  }
  found.optimal = olla->claims_optimal;
  found.order = olla->plan.best->order;
  return found;
}

Result<ExitCode> Run(const CompareArguments& arguments) {
  const auto model = LoadModel(arguments.model);
  if (!model) return tl::unexpected(model.error());
  std::vector<Row> rows;
  Bytes lower_bound = 0;
  bool interrupted = false;
  const auto add = [&](std::string name, const PlanOptions& options,
                       std::optional<double> order_seconds) -> Result<void> {
    WatchedSearch search(arguments.search);  // Each has all of the limits.
    auto plan = search.Plan(model->graph, options);
    if (!plan) return tl::unexpected(plan.error());
    VerifyOrDie(model->graph, options.schedule.counting, *plan);
    lower_bound = std::max(lower_bound, plan->peak_bound);
    const double seconds = order_seconds.value_or(plan->scheduling.seconds);
    rows.push_back({std::move(name), std::move(*plan), seconds});
    interrupted = interrupted || search.interrupted();
    return {};
  };
  PlanOptions options;
  options.schedule.counting = arguments.model.counting;
  options.place = arguments.search.options;
  for (const ScheduleAlgorithmInfo& info : ScheduleAlgorithms()) {
    if (interrupted) break;
    options.schedule.algorithm = info.algorithm;
    if (auto added = add(std::string(info.name), options, {}); !added) {
      return tl::unexpected(added.error());
    }
  }
  std::optional<OllaOrder> olla;
  const double olla_limit = arguments.olla_limit.value_or(
      std::min(kOllaSeconds, arguments.search.time_limit.value_or(kOllaSeconds)));
  if (olla_limit > 0 && !interrupted && Info(Baseline::kIlp).available()) {
    SearchArguments limits = arguments.search;
    limits.time_limit = olla_limit;
    auto found = FindOllaOrder(model->graph, limits, interrupted);
    if (!found) return tl::unexpected(found.error());
    olla = *std::move(found);
    if (olla->order) {
      options.order = olla->order;
      if (auto added = add("olla", options, olla->seconds); !added) {
        return tl::unexpected(added.error());
      }
    }
  }
  // The best last: what people look for stands where they look.
  const std::string_view best = Info(ScheduleAlgorithm::kAuto).name;
  std::stable_partition(rows.begin(), rows.end(),
                        [best](const Row& row) { return row.name != best; });
  if (arguments.json) {
    Json json;
    json["lower_bound"] = lower_bound;
    json["orders"] = Json::array();
    for (const Row& row : rows) json["orders"].push_back(RowJson(row, lower_bound));
    if (olla && !olla->order) json["olla"] = olla->missing;
    if (olla && olla->order && !olla->optimal) json["olla"] = "its time was up";
    json["interrupted"] = interrupted;
    json["input"] = model->name;
    json["input_hash"] = model->hash();
    json["version"] = BERTH_VERSION;
    PrintJson(json);
  } else {
    std::string text = TableText(*model, rows, lower_bound);
    if (olla && !olla->order) text += "\nolla: " + olla->missing + "\n";
    if (olla && olla->order && !olla->optimal) text += "\nolla: its time was up\n";
    Print(text);
  }
  return kDone;
}

}  // namespace

Command AddCompareCommand(CLI::App& berth) {
  CLI::App* app = berth.add_subcommand(
      "compare",
      "Compare the memory that a model needs in program order, other tools' orders and Berth's.");
  const auto arguments = std::make_shared<CompareArguments>();
  AddModel(*app, arguments->model);
  AddJson(*app, arguments->json);
  AddLimits(*app, arguments->search);
  if (Info(Baseline::kIlp).available()) {
    AddDuration(*app, "--olla-limit", arguments->olla_limit,
                "Time for OLLA's integer program, if it is not too large for its solver; 0 skips "
                "it. Default: 5s, or the time limit if that is less.")
        ->group("Search");
  }
  app->footer(
      "Exit codes: 0 done, 2 bad input or usage.\n"
      "Each order is placed as by berth place --algorithm auto; limits apply to each order.\n"
      "olla is the order of OLLA's integer program (14), if the build has a solver for it.\n"
      "\nExamples:\n"
      "  berth compare model.onnx\n"
      "  berth compare model.onnx --json | jq '.orders[] | [.order, .peak]'");
  return {app, [arguments] { return Run(*arguments); }};
}

}  // namespace berth::cli
