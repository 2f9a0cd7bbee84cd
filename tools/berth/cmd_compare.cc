// berth compare -- orders of one model side by side: what each needs, and how long it took to find.
#include <algorithm>
#include <utility>

#include "berth/plan.h"
#include "tools/berth/command.h"
#include "tools/berth/common.h"
#include "tools/berth/model.h"

namespace berth::internal {
namespace {

struct CompareArguments {
  ModelArguments model;
  SearchArguments search;
  bool json = false;
};

struct Row {
  const ScheduleAlgorithmInfo* info;
  PlanAnswer plan;
};

Json RowJson(const Row& row, Bytes lower_bound) {
  Json json;
  json["order"] = row.info->name;
  json["peak"] = row.plan.schedule.peak;
  json["arena"] = ToJson(row.plan.arena());
  json["above_lower_bound"] = Gap(row.plan.schedule.peak, lower_bound);
  json["fragmentation"] =
      row.plan.arena() ? Json(Gap(*row.plan.arena(), row.plan.schedule.peak)) : Json(nullptr);
  json["outcome"] = ToString(row.plan.schedule.outcome);
  json["schedule_seconds"] = row.plan.schedule.seconds;
  json["place_seconds"] = row.plan.place.seconds;
  return json;
}

std::string TableText(const Model& model, const std::vector<Row>& rows, Bytes lower_bound) {
  using Align = TextTable::Align;
  TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight,
                   Align::kRight, Align::kRight});
  table.AddRow({"order", "peak", "above bound", "arena", "above peak", "ordered in", "placed in"});
  std::vector<Bytes> sizes;
  for (const Row& row : rows) {
    sizes.push_back(row.plan.schedule.peak);
    sizes.push_back(row.plan.arena().value_or(0));
  }
  const std::vector<std::string> shown = FormatBytesApart(sizes);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const PlanAnswer& plan = rows[r].plan;
    const double above = Gap(plan.schedule.peak, lower_bound);
    const double lost = plan.arena() ? Gap(*plan.arena(), plan.schedule.peak) : 0;
    table.AddRow({std::string(rows[r].info->name), shown[2 * r],
                  above == 0 ? "least" : "+" + FormatPercentUp(above),
                  plan.arena() ? shown[2 * r + 1] : "-",
                  lost == 0 ? "none" : "+" + FormatPercentUp(lost),
                  FormatSeconds(plan.schedule.seconds), FormatSeconds(plan.place.seconds)});
  }
  return Paint(Tone::kStrong, OneLine(model.name)) + ": " + DescribeGraph(model.graph) +
         "\n  no order has a peak below " + FormatBytesExactly(lower_bound) + "\n\n" +
         table.ToString();
}

Result<ExitCode> Run(const CompareArguments& arguments) {
  const auto model = LoadModel(arguments.model);
  if (!model) return tl::unexpected(model.error());
  std::vector<Row> rows;
  Bytes lower_bound = 0;
  bool interrupted = false;
  for (const ScheduleAlgorithmInfo& info : ScheduleAlgorithms()) {
    PlanOptions options;
    options.schedule.algorithm = info.algorithm;
    options.schedule.counting = arguments.model.counting;
    options.place = arguments.search.options;
    WatchedSearch search(arguments.search);  // Each has all of the limits.
    auto plan = search.Plan(model->graph, options);
    if (!plan) return tl::unexpected(plan.error());
    VerifyOrderOrDie(model->graph, plan->schedule.order, options.schedule.counting,
                     plan->schedule.peak);
    if (plan->place.best) {
      VerifyOrDie(plan->liveness.problem, *plan->place.best, /*within_capacity=*/true);
    }
    lower_bound = std::max(lower_bound, plan->lower_bound);
    rows.push_back({&info, std::move(*plan)});
    interrupted = interrupted || search.interrupted();
    if (interrupted) break;
  }
  // The best last: what people look for stands where they look.
  std::stable_sort(rows.begin(), rows.end(), [](const Row& x, const Row& y) {
    return (x.info->algorithm == ScheduleAlgorithm::kAuto) <
           (y.info->algorithm == ScheduleAlgorithm::kAuto);
  });
  if (arguments.json) {
    Json json;
    json["lower_bound"] = lower_bound;
    json["orders"] = Json::array();
    for (const Row& row : rows) json["orders"].push_back(RowJson(row, lower_bound));
    json["interrupted"] = interrupted;
    json["input"] = model->name;
    json["input_hash"] = model->hash();
    json["version"] = BERTH_VERSION;
    PrintJson(json);
  } else {
    Print(TableText(*model, rows, lower_bound));
  }
  return kDone;
}

}  // namespace

Command AddCompareCommand(CLI::App& berth) {
  CLI::App* app = berth.add_subcommand(
      "compare", "Show what a model needs in program order, in the orders of others, and in ours.");
  const auto arguments = std::make_shared<CompareArguments>();
  AddModel(*app, arguments->model);
  AddJson(*app, arguments->json);
  AddLimits(*app, arguments->search);
  app->footer(
      "Exit codes: 0 done, 2 bad input or usage.\n"
      "Each order is placed by berth place's auto; limits hold for each by itself.\n"
      "\nExamples:\n"
      "  berth compare model.onnx\n"
      "  berth compare model.onnx --json | jq '.orders[] | [.order, .peak]'");
  return {app, [arguments] { return Run(*arguments); }};
}

}  // namespace berth::internal
