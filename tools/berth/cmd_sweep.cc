// berth sweep -- off-chip traffic, or the cost of recomputation, as a function of memory size.
//
// berth/sweep.h does the work. Here, several models share one table, which is written after each
// point: a run that was stopped continues from there, several runs may share one file, and shards of
// one sweep, run anywhere, are put together by --merge.
#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include "berth/page.h"
#include "berth/report.h"
#include "berth/sweep.h"
#include "berth/sweep_io.h"
#include "src/base/try.h"
#include "tools/berth/checked.h"
#include "tools/berth/command.h"
#include "tools/berth/file_kind.h"
#include "tools/berth/file_lock.h"
#include "tools/berth/flags.h"
#include "tools/berth/graph_memories.h"
#include "tools/berth/memory_sweep.h"
#include "tools/berth/model.h"
#include "tools/berth/output.h"
#include "tools/berth/shard.h"
#include "tools/berth/watched_search.h"

namespace berth::cli {
namespace {

struct SweepArguments {
  ModelArguments model;
  std::vector<std::string> paths;
  std::vector<std::string> budgets;  // As given.
  std::vector<Capacity> capacities;  // The same.
  int points = 20;
  bool fixed_order = false;
  bool recompute = false;
  bool no_spill = false;
  std::optional<double> time_limit;
  std::optional<std::int64_t> node_limit;
  int threads = 1;
  std::optional<Bytes> memory_limit;
  Shard shard;
  GraphMemoryArguments memories;
  std::string output;
  std::string svg;
  std::string report;
  std::vector<std::string> merge;
};

// Where the points come from, for the report.
struct Background {
  std::vector<std::string> files;  // From which points were read.
  std::size_t solved = 0;          // By this run,
  std::size_t left = 0;            // and left to solve, as it was interrupted.
  std::string unsized;             // Why the points say less than they seem to; or empty.

  // What has to be known of the points before they are read; empty for nothing.
  [[nodiscard]] std::string Warning() const {
    if (left == 0) return unsized;
    return "Interrupted, with " + Plural(static_cast<std::int64_t>(left), "point") +
           " left to solve." + (unsized.empty() ? "" : "\n" + unsized);
  }
};

// Without limits a model takes at most a minute.
constexpr double kSecondsForAll = 50;

// What the answers depend on besides the capacity.
std::string InputOf(const Model& model, const ModelArguments& arguments, const PlanOptions& plan,
                    bool fixed_order) {
  Provenance from;
  from.input_hash = model.hash();
  from.options.schedule.counting = arguments.counting;
  from.options.recompute = plan.recompute;
  from.options.link = plan.link;
  from.in_place = arguments.in_place;
  from.fused = arguments.fuse;
  from.reading = model.reading;
  return SweepInput(from, fixed_order, model.graph);
}

std::string OutcomeText(const SweepCurve& curve, const SweepPoint& point) {
  return std::string(ToString(point.outcome)) + (curve.fixed_order ? ", in program order" : "");
}

// In costs of one run of the model.
double ShareOfRun(const SweepCurve& curve, std::int64_t cost) {
  return curve.run->cost > 0 ? static_cast<double>(cost) / static_cast<double>(curve.run->cost) : 0;
}

std::string CostText(const SweepCurve& curve, std::int64_t cost) {
  return FormatCount(cost) + (curve.run->unit.empty() ? "" : " " + OneLine(curve.run->unit));
}

// Calls `add` with each point, once if a capacity was given twice or has two names.
template <typename Add>
void ForEachCapacity(const SweepCurve& curve, Add add) {
  std::set<Bytes> listed;
  for (const SweepPoint& point : curve.points) {
    if (listed.insert(point.capacity).second) add(point);
  }
}

std::string TrafficTable(const std::vector<SweepCurve>& curves) {
  using Align = TextTable::Align;
  TextTable table(
      {Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kLeft, Align::kRight});
  table.Elide(0, 40);
  table.AddRow({"model", "capacity", "off-chip bytes", "lower bound", "", "time"});
  for (const SweepCurve& curve : curves) {
    ForEachCapacity(curve, [&](const SweepPoint& point) {
      table.AddRow({OneLine(curve.model), FormatCount(point.capacity),
                    point.avoidable ? FormatCount(*point.avoidable) : "-",
                    FormatCount(point.traffic_bound), OutcomeText(curve, point),
                    FormatSeconds(point.seconds)});
    });
  }
  return table.ToString();
}

std::string CostTable(const std::vector<SweepCurve>& curves) {
  using Align = TextTable::Align;
  TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight,
                   Align::kRight, Align::kRight, Align::kLeft, Align::kRight});
  table.Elide(0, 40);
  table.AddRow({"model", "capacity", "of a run", "at least", "runs again", "cost", "off-chip bytes",
                "", "time"});
  for (const SweepCurve& curve : curves) {
    ForEachCapacity(curve, [&](const SweepPoint& point) {
      const SweepCost& cost = *point.cost;
      const bool plan = point.has_plan();
      table.AddRow({OneLine(curve.model), FormatCount(point.capacity),
                    plan ? FormatPercentFinely(ShareOfRun(curve, cost.total())) : "-",
                    FormatPercentFinely(ShareOfRun(curve, cost.bound),
                                        /*down=*/point.outcome != Outcome::kOptimal),
                    plan ? FormatCount(cost.operators) : "-",
                    plan ? CostText(curve, cost.total()) : "-",
                    plan ? FormatCount(*point.avoidable) : "-", OutcomeText(curve, point),
                    FormatSeconds(point.seconds)});
    });
  }
  return table.ToString();
}

// The curves without recomputation, and those with it.
std::array<std::vector<SweepCurve>, 2> ByKind(const std::vector<SweepCurve>& curves) {
  std::array<std::vector<SweepCurve>, 2> kinds;
  for (const SweepCurve& curve : curves) kinds[curve.run ? 1 : 0].push_back(curve);
  return kinds;
}

std::string TableOf(const std::vector<SweepCurve>& curves) {
  const auto [traffic, cost] = ByKind(curves);
  const std::string first = traffic.empty() && !cost.empty() ? "" : TrafficTable(traffic);
  if (cost.empty()) return first;
  return first + (first.empty() ? "" : "\n") + CostTable(cost);
}

// A line of `of(point)`, for the points with a plan.
template <typename Of, typename Note>
void AddLine(const SweepCurve& curve, const std::string& name, Of of, Note note, Chart& chart) {
  ChartSeries line;
  line.name = name + (curve.fixed_order ? ", in program order" : "");
  line.style = ChartSeries::Style::kSteps;
  for (const SweepPoint& point : curve.points) {
    if (!point.has_plan()) continue;
    line.points.push_back({static_cast<double>(point.capacity), of(point),
                           point.outcome != Outcome::kOptimal,
                           FormatBytesExactly(point.capacity) + ": " + note(point)});
  }
  std::stable_sort(line.points.begin(), line.points.end(),
                   [](const ChartPoint& a, const ChartPoint& b) { return a.x < b.x; });
  if (!line.points.empty()) chart.series.push_back(std::move(line));
}

void AddTraffic(const SweepCurve& curve, Chart& chart) {
  AddLine(
      curve, curve.model,
      [](const SweepPoint& point) { return static_cast<double>(*point.avoidable); },
      [](const SweepPoint& point) { return FormatBytesExactly(*point.avoidable); }, chart);
}

bool HasCopies(const SweepCurve& curve) {
  return std::any_of(curve.points.begin(), curve.points.end(),
                     [](const SweepPoint& point) { return point.cost && point.cost->copies > 0; });
}

// The cost of recomputation and copies together; where something is copied, also of copies alone.
void AddCosts(const SweepCurve& curve, Chart& chart) {
  const auto share = [&](std::int64_t cost) { return ShareOfRun(curve, cost); };
  AddLine(
      curve, curve.model, [&](const SweepPoint& point) { return share(point.figure()); },
      [&](const SweepPoint& point) {
        return FormatPercentFinely(share(point.figure())) + " of a run";
      },
      chart);
  if (!HasCopies(curve)) return;
  AddLine(
      curve, curve.model + ", copies alone",
      [&](const SweepPoint& point) { return share(point.cost->copies); },
      [&](const SweepPoint& point) {
        return FormatBytesExactly(*point.avoidable) + " copied, " +
               FormatPercentFinely(share(point.cost->copies)) + " of a run";
      },
      chart);
}

std::string PictureOf(const std::vector<SweepCurve>& curves) {
  Chart chart;
  const bool costs = !curves.empty() && curves.front().run.has_value();
  const bool copies = std::any_of(curves.begin(), curves.end(), HasCopies);
  chart.title = !costs   ? "Off-chip traffic against memory"
                : copies ? "Cost of recomputation and copies against memory"
                         : "Cost of recomputation against memory";
  chart.subtitle = costs ? "as a share of the cost of one run of the model"
                         : "bytes spilled and retrieved, without compulsory traffic";
  chart.x.label = "memory";
  chart.x.unit = ChartUnit::kBytes;
  chart.y.label = costs ? "cost" : "avoidable traffic";
  chart.y.unit = costs ? ChartUnit::kPercent : ChartUnit::kBytes;
  chart.y.first = 0;
  // Of copies alone, nothing is proved.
  chart.open_means = costs ? "plan not proved the cheapest" : "not proved the least";
  for (const SweepCurve& curve : curves) {
    if (costs) {
      AddCosts(curve, chart);
    } else {
      AddTraffic(curve, chart);
    }
  }
  if (curves.size() == 1 && !chart.series.empty()) {
    chart.title += ", " + chart.series.front().name;
  }
  return WriteSvg(chart);
}

// How the points came about, as pairs of a title and a text.
std::vector<std::pair<std::string, std::string>> ProvenanceOf(const SweepArguments& arguments,
                                                              const Background& background) {
  std::vector<std::pair<std::string, std::string>> lines = {{"berth version", BERTH_VERSION}};
  const auto joined = [](const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : ", ") + OneLine(word);
    return text;
  };
  if (arguments.merge.empty()) {
    lines.emplace_back("capacities", arguments.budgets.empty()
                                         ? std::to_string(arguments.points) + " from MP down to MR"
                                         : joined(arguments.budgets));
    lines.emplace_back("order of the operators",
                       arguments.fixed_order ? "as written" : "searched for");
    if (arguments.recompute) {
      lines.emplace_back("what does not fit", arguments.no_spill
                                                  ? "is made again"
                                                  : "is made again, or copied over the link of "
                                                    "the device if it has one");
    }
    lines.emplace_back("time limit", arguments.time_limit
                                         ? FormatSeconds(*arguments.time_limit) + " for each point"
                                     : arguments.node_limit
                                         ? "none"
                                         : FormatSeconds(kSecondsForAll) + " for each model");
    lines.emplace_back("node limit", arguments.node_limit
                                         ? FormatCount(*arguments.node_limit) + " for each point"
                                         : "none");
    lines.emplace_back("seed", GetOption(PlaceOptions{}, "seed").value());
    if (arguments.shard.count > 1) {
      lines.emplace_back("shard", std::to_string(arguments.shard.index) + "/" +
                                      std::to_string(arguments.shard.count));
    }
    lines.emplace_back("solved by this run",
                       Plural(static_cast<std::int64_t>(background.solved), "point"));
  }
  if (!background.files.empty()) lines.emplace_back("read from", joined(background.files));
  std::string verdict;
  if (background.solved > 0) {
    verdict =
        "accepted every plan that this run found, each run in a memory that records the owner of "
        "each byte";
  }
  if (!background.files.empty()) {
    verdict += (verdict.empty() ? "" : "; ") + std::string("has not seen the plans of points read");
  }
  lines.emplace_back("verifier", verdict.empty() ? "nothing to verify" : verdict);
  return lines;
}

// A file of points that is read, and written after each of them. What is not a file, such as a pipe,
// is written once.
bool IsKept(const std::string& path) {
  if (path.empty() || IsStandardOutput(path)) return false;
  std::error_code ignored;
  return !std::filesystem::exists(path, ignored) || std::filesystem::is_regular_file(path, ignored);
}

// Adds the points that the file at `path` has to `curves`.
Result<void> ReadKnown(const std::string& path, std::vector<SweepCurve>& curves) {
  if (!std::filesystem::exists(path)) return {};
  const std::string text = BERTH_TRY(ReadFile(path));
  BERTH_TRY(CheckKind(text, path, FileKind::kPoints));
  const std::vector<SweepCurve> known = BERTH_TRY(ReadSweepCsv(text, path));
  return Merge(curves, known, path);
}

// Writes `curves`, with the points that other runs have added to the file since it was read.
Result<void> Keep(const std::string& path, std::vector<SweepCurve>& curves, bool tightened) {
  const FileLock lock = BERTH_TRY(FileLock::Acquire(path));
  BERTH_TRY(ReadKnown(path, curves));
  if (tightened) {
    for (SweepCurve& curve : curves) Tighten(curve);
  }
  return WriteFile(path, WriteSweepCsv(curves));
}

Result<ExitCode> Finish(const SweepArguments& arguments, std::vector<SweepCurve> curves,
                        const Background& background) {
  for (SweepCurve& curve : curves) Tighten(curve);
  const auto [traffic, cost] = ByKind(curves);
  if (!traffic.empty() && !cost.empty() && !(arguments.svg.empty() && arguments.report.empty())) {
    return Fail(
        ErrorCode::kInvalidOptions,
        std::string(arguments.svg.empty() ? "--report: " : "--svg: ") + traffic.front().model +
            " is planned with spills and " + cost.front().model +
            " with recomputation; they have no axis in common: give each a file of its own");
  }
  if (arguments.merge.empty() && IsKept(arguments.output)) {
    BERTH_TRY(Keep(arguments.output, curves, /*tightened=*/true));
  } else if (!arguments.output.empty()) {
    BERTH_TRY(WriteFile(arguments.output, WriteSweepCsv(curves)));
  }
  if (!arguments.svg.empty()) BERTH_TRY(WriteFile(arguments.svg, PictureOf(curves)));
  if (!arguments.report.empty()) {
    BERTH_TRY(WriteFile(arguments.report, WritePage(curves, ProvenanceOf(arguments, background))));
  }
  const std::string warning = background.Warning();
  if (!IsStandardOutput(arguments.output) && !IsStandardOutput(arguments.svg) &&
      !IsStandardOutput(arguments.report)) {
    if (!warning.empty()) Print(Paint(Tone::kUnsure, warning) + "\n");
    Print(TableOf(curves));
  } else if (!warning.empty()) {
    PrintToStandardError(warning + "\n");
  }
  return warning.empty() ? kDone : kGaveUp;
}

Result<ExitCode> MergeFiles(const SweepArguments& arguments) {
  std::vector<SweepCurve> curves;
  for (const std::string& path : arguments.merge) {
    const std::string text = BERTH_TRY(ReadFile(path));
    BERTH_TRY(CheckKind(text, path, FileKind::kPoints));
    const std::vector<SweepCurve> more = BERTH_TRY(ReadSweepCsv(text, path));
    if (more.empty()) {
      return Fail(ErrorCode::kParse, "--merge: " + OneLine(path) + " has no points");
    }
    BERTH_TRY(Merge(curves, more, "--merge: " + path));
  }
  Background background;
  background.files = arguments.merge;
  return Finish(arguments, std::move(curves), background);
}

// A model, and the points of it that this run is to solve.
struct Task {
  Model model;
  SweepOptions options;
  SweepCurve curve;               // Without points.
  std::vector<Bytes> capacities;  // Of all points.
};

SweepOptions OptionsOf(const SweepArguments& arguments) {
  SweepOptions options;
  options.capacities = arguments.capacities;
  options.points = arguments.points;
  options.plan.schedule.counting = arguments.model.counting;
  if (arguments.fixed_order) options.plan.schedule.algorithm = ScheduleAlgorithm::kProgram;
  options.plan.recompute = arguments.recompute;
  options.plan.schedule.threads = arguments.threads;
  options.plan.place.threads = arguments.threads;
  options.plan.schedule.most_bytes =
      StatesWithin(arguments.memory_limit, options.plan.schedule.most_bytes);
  options.seconds_each = arguments.time_limit;
  options.nodes_each = arguments.node_limit;
  return options;
}

Result<Task> LoadTask(const SweepArguments& arguments, const std::string& path) {
  ModelArguments one = arguments.model;
  one.path = path;
  Task task{BERTH_TRY(LoadModel(one)), OptionsOf(arguments), {}, {}};
  LimitMemory(arguments.memory_limit);
  PlanOptions& plan = task.options.plan;
  if (arguments.recompute && !arguments.no_spill) plan.link = task.model.link();
  plan.spill = !plan.recompute || plan.link;
  Budget unlimited;
  const NamedBudgets named = BERTH_TRY(NamedBudgetsOf(task.model.graph, plan, unlimited));
  task.capacities = BERTH_TRY(SweepCapacities(task.options, named));
  plan.budgets = named;
  task.curve = CurveWithoutPoints(task.model.graph, plan);
  task.curve.model = OneLine(task.model.name);
  task.curve.input = InputOf(task.model, one, plan, arguments.fixed_order);
  return task;
}

// Points of an earlier run must be points of this sweep, of any shard.
Result<void> CheckKnown(const SweepCurve& known, const std::vector<Bytes>& capacities,
                        const std::string& where) {
  for (const SweepPoint& point : known.points) {
    const auto number = static_cast<std::size_t>(point.number);
    const bool asked = number < capacities.size();
    if (asked && point.capacity == capacities[number]) continue;
    return Fail(ErrorCode::kInvalidOptions,
                where + " has point " + std::to_string(point.number) + " of " + known.model +
                    " with " + std::to_string(point.capacity) + " bytes, " +
                    (asked ? "where it is now asked for with " + std::to_string(capacities[number])
                           : "one that is not asked for now") +
                    ": give each list of capacities a file of its own");
  }
  return {};
}

// The models with points to solve, and in `curves` a place for these. All input is checked before
// anything is solved.
Result<std::vector<Task>> TasksOf(const SweepArguments& arguments,
                                  std::vector<SweepCurve>& curves) {
  std::vector<Task> tasks;
  const std::size_t count = arguments.budgets.empty() ? static_cast<std::size_t>(arguments.points)
                                                      : arguments.budgets.size();
  const std::string where = arguments.output.empty() ? "this sweep" : OneLine(arguments.output);
  std::size_t first = 0;  // Of this model's points, counted through all models.
  for (const std::string& path : arguments.paths) {
    const std::size_t begin = std::exchange(first, first + count);
    std::vector<std::size_t> ours;
    for (std::size_t i = 0; i < count; ++i) {
      if (arguments.shard.Owns(static_cast<std::int64_t>(begin + i))) ours.push_back(i);
    }
    if (ours.empty()) continue;
    Task task = BERTH_TRY(LoadTask(arguments, path));
    BERTH_TRY(Merge(curves, {task.curve}, where));
    const auto known = std::find_if(curves.begin(), curves.end(), [&](const SweepCurve& curve) {
      return curve.model == task.curve.model;
    });
    BERTH_TRY(CheckKnown(*known, task.capacities, where));
    std::erase_if(ours, [&](std::size_t i) {
      return i >= task.capacities.size() ||  // Capacities that coincide are one point.
             std::any_of(known->points.begin(), known->points.end(), [&](const SweepPoint& point) {
               return point.number == static_cast<int>(i);
             });
    });
    task.options.numbers = std::move(ours);
    // A model that is named twice has its points once.
    const bool again = std::any_of(tasks.begin(), tasks.end(), [&](const Task& other) {
      return other.curve.model == task.curve.model;
    });
    if (!again) tasks.push_back(std::move(task));
  }
  return tasks;
}

// Solves the points of `task` until `whole` ends; each is verified, added to `curves` and written
// when it is done. Gives how many were.
Result<std::size_t> Solve(const SweepArguments& arguments, Task& task,
                          std::vector<SweepCurve>& curves, Budget& whole) {
  Budget budget(whole, 1);
  if (!arguments.time_limit && !arguments.node_limit) {
    budget.SetTimeLimit(kSecondsForAll * static_cast<double>(task.options.numbers->size()) /
                        static_cast<double>(task.capacities.size()));
  }
  std::size_t solved = 0;
  const auto add = [&](const SweepPoint& point, const PlanAnswer& answer) -> Result<void> {
    VerifyOrDie(task.model.graph, task.options.plan.schedule.counting, answer);
    SweepCurve one = task.curve;
    one.points = {point};
    BERTH_TRY(Merge(curves, {one}, "this sweep"));
    if (IsKept(arguments.output)) {
      BERTH_TRY(Keep(arguments.output, curves, /*tightened=*/false));
    }
    ++solved;
    return {};
  };
  Result<void> added;
  task.options.on_point = [&](const SweepPoint& point, const PlanAnswer& answer) {
    const bool proved = point.outcome == Outcome::kOptimal || point.outcome == Outcome::kInfeasible;
    // The next run would skip a point whose search was cut short.
    if (whole.cancelled() && !proved) return false;
    added = add(point, answer);
    return added.has_value() && !whole.cancelled();
  };
  static_cast<void>(BERTH_TRY(Sweep(task.model.graph, task.options, budget)));
  BERTH_TRY(added);
  return solved;
}

// Why the points of `task` say less than they seem to; empty if they do not.
std::string UnsizedWarning(const Task& task, const Counting& counting) {
  const TensorCount count = CountTensors(task.model.graph, counting);
  if (count.unsized == 0 || counting.unsized_as_zero) return "";
  return "All figures are for tensors of known size only: in " + OneLine(task.model.name) + ", " +
         UnsizedClause(count.unsized, count.tensors) + "." +
         OpenDimensionsLine(task.model, "sweep");
}

// The cost of one model against the capacity of one of its memories.
Result<ExitCode> SweepMemories(const SweepArguments& arguments) {
  const auto refuse = [](const std::string& flag) {
    return Fail(ErrorCode::kInvalidOptions, flag + " does not apply to a sweep of one memory");
  };
  if (!arguments.merge.empty()) return refuse("--merge");
  if (arguments.shard.count > 1) return refuse("--shard");
  if (arguments.node_limit) return refuse("--node-limit");
  if (arguments.threads != 1) return refuse("--threads");
  if (arguments.recompute) return refuse("--recompute");
  if (arguments.paths.size() != 1) {
    return Fail(ErrorCode::kInvalidOptions, "a sweep of one memory needs one model, not " +
                                                std::to_string(arguments.paths.size()));
  }
  LimitMemory(arguments.memory_limit);
  std::vector<Bytes> capacities;
  for (const Capacity& capacity : arguments.capacities) {
    const Bytes* const bytes = std::get_if<Bytes>(&capacity);
    if (bytes == nullptr) {
      return Fail(ErrorCode::kInvalidOptions,
                  "--budget: MR, MH and MP are capacities of a single memory; give bytes");
    }
    capacities.push_back(*bytes);
  }
  return SweepOneMemory({arguments.model, arguments.paths.front(), arguments.memories,
                         arguments.points, std::move(capacities), arguments.fixed_order,
                         arguments.time_limit, arguments.output, arguments.svg, arguments.report});
}

Result<ExitCode> Run(const SweepArguments& arguments) {
  BERTH_TRY(CheckOutputs(
      {{"--output", arguments.output}, {"--svg", arguments.svg}, {"--report", arguments.report}}));
  if (arguments.memories.given()) return SweepMemories(arguments);
  if (!arguments.merge.empty()) return MergeFiles(arguments);
  if (arguments.no_spill && !arguments.recompute) {
    return Fail(ErrorCode::kInvalidOptions, "--no-spill: only with --recompute");
  }
  if (arguments.paths.empty()) {
    return Fail(ErrorCode::kInvalidOptions, "berth sweep needs a model, or --merge and files");
  }
  std::vector<SweepCurve> curves;  // First, those of an earlier run.
  Background background;
  if (IsKept(arguments.output)) BERTH_TRY(ReadKnown(arguments.output, curves));
  if (!curves.empty()) background.files.push_back(arguments.output);
  std::vector<Task> tasks = BERTH_TRY(TasksOf(arguments, curves));
  {
    WatchedSearch search({});
    for (Task& task : tasks) {
      if (background.unsized.empty()) {
        background.unsized = UnsizedWarning(task, arguments.model.counting);
      }
      const std::size_t solved = BERTH_TRY(
          search.Run([&](Budget& whole) { return Solve(arguments, task, curves, whole); }));
      background.solved += solved;
      background.left += task.options.numbers->size() - solved;
    }
  }
  return Finish(arguments, std::move(curves), background);
}

}  // namespace

Command AddSweepCommand(CLI::App& berth) {
  CLI::App* app = berth.add_subcommand(
      "sweep",
      "Off-chip traffic, or the cost of recomputation, against the size of the memory: table, "
      "CSV, picture and page.");
  const auto arguments = std::make_shared<SweepArguments>();
  app->add_option("MODEL", arguments->paths, "Models: ONNX or graph JSON.");
  AddModelSizes(*app, arguments->model);
  AddCounting(*app, arguments->model.counting);
  const auto set_budgets = [arguments = arguments.get()](const std::vector<std::string>& texts) {
    arguments->budgets = texts;
    arguments->capacities.clear();
    for (const std::string& text : texts) {
      arguments->capacities.push_back(ReadCapacity("--budget", text));
    }
  };
  app->add_option_function<std::vector<std::string>>(
         "--budget", set_budgets,
         "Capacities: MR, MH, MP or bytes, separated by commas or given several times. "
         "Default: --points capacities from MP down to MR.")
      ->delimiter(',')
      ->type_name("BYTES")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
  AddGraphMemories(*app, arguments->memories, /*spill=*/false);
  AddInteger(*app, "--points", arguments->points, 1, 1000,
             "How many capacities, at most: those that coincide are one. Default: 20.");
  app->add_flag("--program-order", arguments->fixed_order, "Plan in program order only.");
  app->add_flag("--recompute", arguments->recompute,
                "Instead of traffic, the cost of running operators again: what does not fit is "
                "dropped and made again. With a --device that has a link, tensors are copied where "
                "that takes less time.");
  app->add_flag("--no-spill", arguments->no_spill,
                "With --recompute: nothing is copied off chip, even if the --device has a link.");
  AddDuration(
      *app, "--time-limit", arguments->time_limit,
      "Time limit for each point, such as 10s. Default: 50 s for all points of a model together, "
      "or none with --node-limit.");
  AddCount(*app, "--node-limit", arguments->node_limit, "Node limit for each point.");
  AddInteger(*app, "--threads", arguments->threads, 1, 256,
             "Threads to use; the figures do not depend on it, unless a time limit ends a search. "
             "Default: 1.");
  AddMemoryLimit(*app, arguments->memory_limit);
  AddShard(*app, arguments->shard, "Solve only every N-th point, from the I-th on, such as 2/8.");
  AddFile(*app, "-o,--output", arguments->output,
          "Write the points as CSV, each as it is done. Points that are already in the file "
          "are skipped.");
  AddFile(*app, "--svg", arguments->svg,
          "Draw traffic, or the cost of recomputation, against capacity.");
  AddReport(*app, arguments->report,
            "Write one HTML file with the curves, and the proof and time of every point");
  app->add_option("--merge", arguments->merge,
                  "Merge the CSV files of shards instead of searching.")
      ->type_name("FILES");
  app->footer(
      "Exit codes: 0 done, 2 bad input or usage, 3 interrupted, or sizes of tensors are unknown.\n"
      "MR is what the largest operator needs by itself, MP the least peak of any order: with "
      "that,\n"
      "nothing has to be spilled. MH is halfway.\n"
      "Ctrl-C ends the sweep with the points that are done; the same command with -o continues "
      "it.\n"
      "Several runs may write to one -o at the same time.\n"
      "\nExamples:\n"
      "  berth sweep model.onnx -o sweep.csv --svg sweep.svg    Twenty points from MP to MR.\n"
      "  berth sweep model.onnx --report sweep.html             The curve, to explore.\n"
      "  berth sweep *.onnx --budget MR,MH,MP --shard 2/8 -o 2.csv   One of eight parts.\n"
      "  berth sweep step.json --recompute --device a100.json   What does running again cost?\n"
      "  berth sweep --merge 1.csv 2.csv -o all.csv --svg all.svg\n"
      "  berth sweep model.onnx --memories board.json --memory sram   What would more SRAM save?");
  return {app, [arguments] { return Run(*arguments); }};
}

}  // namespace berth::cli
