// berth compare -- orders of one model side by side: what each needs, and how long it took to find.
#include <algorithm>
#include <utility>

#include "berth/baselines.h"
#include "berth/olla.h"
#include "berth/plan.h"
#include "src/base/try.h"
#include "src/io/plan_head.h"
#include "tools/berth/checked.h"
#include "tools/berth/command.h"
#include "tools/berth/flags.h"
#include "tools/berth/model.h"
#include "tools/berth/output.h"
#include "tools/berth/watched_search.h"

namespace berth::cli {
namespace {

// The default limit of OLLA's program: small graphs need less, and large ones would take hours.
constexpr double kOllaSeconds = 5;
// A program with more variables has no order within minutes, and some steps of its solver cannot be
// interrupted.
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

Json RowJson(const Row& row, Bytes lower_bound, bool sizes_missing) {
  Json json;
  json["order"] = row.name;
  json["peak"] = row.plan.best->peak();
  const auto height = HeightOf(row.plan);
  json["height"] = ToJson(height);
  json["peak_gap"] = Gap(row.plan.best->peak(), lower_bound);
  json["fragmentation"] = height ? Json(Gap(*height, row.plan.best->peak())) : Json(nullptr);
  json["outcome"] = ToString(row.plan.scheduling.outcome);
  json["schedule_seconds"] = row.order_seconds;
  json["place_seconds"] = row.plan.placing.seconds;
  if (sizes_missing) {
    internal::SetApartSized(json, {"peak", "height", "peak_gap", "fragmentation"});
  }
  return json;
}

// All that is compared is what the tensors of known size need.
std::string UnsizedLine(const Model& model, const TensorCount& count) {
  return Paint(Tone::kUnsure, "All figures are for tensors of known size only: " +
                                  UnsizedClause(count.unsized, count.tensors) + ".") +
         OpenDimensionsLine(model, "compare") + "\n";
}

std::string TableText(const Model& model, const std::vector<Row>& rows, Bytes lower_bound,
                      const std::string& unsized) {
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
    // Of bounds no shares are known.
    table.AddRow({rows[r].name, shown[2 * r],
                  !unsized.empty() ? "-"
                  : above == 0     ? "least"
                                   : "+" + FormatPercentUp(above),
                  height ? shown[2 * r + 1] : "-",
                  !unsized.empty() ? "-"
                  : lost == 0      ? "none"
                                   : "+" + FormatPercentUp(lost),
                  FormatSeconds(rows[r].order_seconds), FormatSeconds(plan.placing.seconds)});
  }
  return unsized + Paint(Tone::kStrong, OneLine(model.name)) + ": " + DescribeGraph(model.graph) +
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
  const auto variables = BERTH_TRY(CountOllaVariables(graph, {}));
  if (variables > kMostVariables) {
    found.missing = "too large: " + FormatCount(variables) + " variables";
    return found;
  }
  WatchedSearch search(limits);
  const auto olla =
      BERTH_TRY(search.Run([&](Budget& budget) { return ScheduleByOlla(graph, {}, budget); }));
  interrupted = search.interrupted();
  found.seconds = olla.plan.seconds;
  if (!olla.found) {
    found.missing = "no order in " + FormatSeconds(olla.plan.seconds);
    return found;
  }
  found.optimal = olla.claims_optimal;
  found.order = olla.plan.best->order;
  return found;
}

// All that is compared: the rows, the best last, where people look for it.
struct Comparison {
  std::vector<Row> rows;
  Bytes lower_bound = 0;
  std::string olla_note;  // Why OLLA's program has no row, or none that is proved; or empty.
  bool interrupted = false;

  // Plans `model` as `options` say. `order_seconds`: what a given order took.
  Result<void> Add(std::string_view name, const Model& model, const SearchArguments& limits,
                   const PlanOptions& options, std::optional<double> order_seconds = {}) {
    WatchedSearch search(limits);  // Each has all of the limits.
    PlanAnswer plan = BERTH_TRY(search.Plan(model.graph, options));
    VerifyOrDie(model.graph, options.schedule.counting, plan);
    lower_bound = std::max(lower_bound, plan.peak_bound);
    const double seconds = order_seconds.value_or(plan.scheduling.seconds);
    rows.push_back({std::string(name), std::move(plan), seconds});
    interrupted = interrupted || search.interrupted();
    return {};
  }
};

Result<Comparison> Compare(const CompareArguments& arguments, const Model& model) {
  Comparison all;
  PlanOptions options;
  options.schedule.counting = arguments.model.counting;
  options.place = arguments.search.options;
  for (const ScheduleAlgorithmInfo& info : ScheduleAlgorithms()) {
    if (all.interrupted) break;
    options.schedule.algorithm = info.algorithm;
    BERTH_TRY(all.Add(info.name, model, arguments.search, options));
  }
  const double olla_limit = arguments.olla_limit.value_or(
      std::min(kOllaSeconds, arguments.search.time_limit.value_or(kOllaSeconds)));
  if (olla_limit > 0 && !all.interrupted && Info(Baseline::kIlp).available()) {
    SearchArguments limits = arguments.search;
    limits.time_limit = olla_limit;
    OllaOrder olla = BERTH_TRY(FindOllaOrder(model.graph, limits, all.interrupted));
    all.olla_note = olla.order && !olla.optimal ? "its time was up" : olla.missing;
    options.order = std::move(olla.order);
    if (options.order) {
      BERTH_TRY(all.Add("olla", model, arguments.search, options, olla.seconds));
    }
  }
  const std::string_view best = Info(ScheduleAlgorithm::kAuto).name;
  std::stable_partition(all.rows.begin(), all.rows.end(),
                        [best](const Row& row) { return row.name != best; });
  return all;
}

Result<ExitCode> Run(const CompareArguments& arguments) {
  const Model model = BERTH_TRY(LoadModel(arguments.model));
  const Comparison all = BERTH_TRY(Compare(arguments, model));
  const TensorCount count = CountTensors(model.graph, arguments.model.counting);
  const bool sizes_missing = count.unsized > 0 && !arguments.model.counting.unsized_as_zero;
  const ExitCode code = sizes_missing ? kGaveUp : kDone;
  if (!arguments.json) {
    Print(TableText(model, all.rows, all.lower_bound,
                    sizes_missing ? UnsizedLine(model, count) : "") +
          (all.olla_note.empty() ? "" : "\nolla: " + all.olla_note + "\n"));
    return code;
  }
  Json json;
  json["peak_bound"] = all.lower_bound;
  json["orders"] = Json::array();
  for (const Row& row : all.rows)
    json["orders"].push_back(RowJson(row, all.lower_bound, sizes_missing));
  if (!all.olla_note.empty()) json["olla_note"] = all.olla_note;
  json["planned_tensors"] = count.tensors;
  json["unsized_tensors"] = count.unsized;
  json["interrupted"] = all.interrupted;
  json["input"] = model.name;
  json["input_hash"] = model.hash();
  json["berth_version"] = BERTH_VERSION;
  PrintJson(json);
  return code;
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
      "Exit codes: 0 done, 2 bad input or usage, 3 sizes of tensors are unknown.\n"
      "Each order is placed as by berth place --algorithm auto; limits apply to each order.\n"
      "olla is the order of OLLA's integer program (14), if the build has a solver for it.\n"
      "\nExamples:\n"
      "  berth compare model.onnx\n"
      "  berth compare model.onnx --json | jq '.orders[] | [.order, .peak]'");
  return {app, [arguments] { return Run(*arguments); }};
}

}  // namespace berth::cli
