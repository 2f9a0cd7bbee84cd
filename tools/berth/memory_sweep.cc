#include "tools/berth/memory_sweep.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "berth/memory_io.h"
#include "berth/page.h"
#include "berth/report.h"
#include "berth/sweep.h"
#include "berth/sweep_io.h"
#include "src/base/try.h"
#include "tools/berth/checked.h"
#include "tools/berth/flags.h"
#include "tools/berth/terminal.h"
#include "tools/berth/watched_search.h"

namespace berth::cli {
namespace {

// The board, without the --memory that is a name alone, and the index of that memory.
Result<std::pair<Board, std::size_t>> SweptBoard(const Graph& graph,
                                                 const GraphMemoryArguments& arguments,
                                                 Counting& counting) {
  GraphMemoryArguments rest = arguments;
  std::optional<Memory> swept;
  for (std::size_t i = rest.board.texts.size(); i-- > 0;) {
    if (rest.board.texts[i].find_first_of("=@") != std::string::npos) continue;
    if (swept) {
      return Fail(ErrorCode::kInvalidOptions, "--memory: " + Quoted(swept->name) + " and " +
                                                  Quoted(rest.board.texts[i]) +
                                                  " are both names alone; one memory is swept");
    }
    swept = rest.board.memories[i];
    const auto at = static_cast<std::ptrdiff_t>(i);
    rest.board.texts.erase(rest.board.texts.begin() + at);
    rest.board.memories.erase(rest.board.memories.begin() + at);
  }
  if (!swept) {
    return Fail(ErrorCode::kInvalidOptions,
                "--memory: which memory is to be swept? Give its name alone, such as --memory " +
                    (rest.board.memories.empty() ? "sram" : rest.board.memories.front().name));
  }
  Board board = BERTH_TRY(LoadBoardFor(graph, rest, counting));
  const auto& memories = board.memories.memories;
  for (std::size_t m = 0; m < memories.size(); ++m) {
    if (memories[m].name == swept->name) return std::pair{std::move(board), m};
  }
  static_cast<void>(BERTH_TRY(FindMemories(memories, {swept->name}, "--memory")));
  return std::pair{std::move(board), memories.size()};
}

std::string PictureOf(const std::vector<MemoryPoint>& points, const std::string& name,
                      const std::string& cost_unit) {
  Chart chart;
  chart.title = "Cost against the capacity of " + name;
  chart.x.label = "capacity of " + name;
  chart.x.unit = ChartUnit::kBytes;
  chart.y.label = "cost, " + cost_unit;
  chart.y.first = 0;
  chart.open_means = "not proved the least";
  ChartSeries line;
  line.name = name;
  line.style = ChartSeries::Style::kSteps;
  for (const MemoryPoint& point : points) {
    if (point.cost.unplaced > 0) continue;
    line.points.push_back({static_cast<double>(point.capacity),
                           static_cast<double>(point.cost.cost), point.outcome != Outcome::kOptimal,
                           FormatBytesExactly(point.capacity) + ": " +
                               FormatCostExactly(point.cost.cost, cost_unit)});
  }
  if (!line.points.empty()) chart.series.push_back(std::move(line));
  return WriteSvg(chart);
}

// What the bytes from one capacity to the next save, for a KiB of them.
std::string PerKiB(const MemoryPoint& from, const MemoryPoint& to, const std::string& cost_unit) {
  if (from.cost.unplaced > 0 || to.cost.unplaced > 0) return "";
  const double saved = static_cast<double>(from.cost.cost - to.cost.cost);
  const double kib = static_cast<double>(to.capacity - from.capacity) / 1024;
  return FormatCost(static_cast<std::int64_t>(saved / kib), cost_unit);
}

std::string PointsTable(const std::vector<MemoryPoint>& points, const std::string& name,
                        const std::string& cost_unit, const GraphMemories& memories) {
  using enum TextTable::Align;
  TextTable table({kRight, kRight, kRight, kLeft, kRight, kRight, kRight});
  table.AddRow({OneLine(name), memories.prefetch ? "run" : "cost", "lower bound", "",
                "each KiB more saves", memories.may_move ? "copies" : "", "time"});
  for (std::size_t i = 0; i < points.size(); ++i) {
    const MemoryPoint& point = points[i];
    const bool fits = point.cost.unplaced == 0;
    const bool bounded = point.cost_bound.unplaced == 0;
    table.AddRow({FormatCount(point.capacity), fits ? FormatCost(point.cost.cost, cost_unit) : "-",
                  bounded ? FormatCost(point.cost_bound.cost, cost_unit) : "-",
                  std::string(ToString(point.outcome)),
                  i + 1 < points.size() ? PerKiB(point, points[i + 1], cost_unit) : "",
                  memories.may_move ? FormatCount(static_cast<std::int64_t>(point.copies)) : "",
                  FormatSeconds(point.seconds)});
  }
  return table.ToString();
}

// A swept memory, and what is said of it.
struct Swept {
  const Model& model;
  const MemorySweepArguments& arguments;
  const MemorySweepOptions& options;
  const std::string& cost_unit;
  std::vector<MemoryPoint> points;

  [[nodiscard]] const GraphMemories& memories() const { return options.plan.memories; }
  [[nodiscard]] const std::string& name() const { return memories().memories[options.memory].name; }
};

std::string PageOf(const Swept& swept) {
  MemorySweepPage page;
  page.model = swept.model.name;
  page.input = swept.model.hash();
  page.memory = swept.name();
  page.memories = swept.memories().memories;
  page.cost_unit = swept.cost_unit;
  page.may_move = swept.memories().may_move;
  page.prefetch = swept.memories().prefetch;
  page.fixed_order = swept.arguments.fixed_order;
  return WritePage(swept.points, page,
                   {{"Berth", BERTH_VERSION},
                    {"Time limit for each point", FormatSeconds(*swept.options.seconds_each)},
                    {"Checked", "every plan, by the independent verifier"}});
}

Result<void> WriteFiles(const Swept& swept) {
  const MemorySweepArguments& arguments = swept.arguments;
  const bool may_move = swept.memories().may_move;
  if (!arguments.output.empty()) {
    BERTH_TRY(
        WriteFile(arguments.output, WriteMemorySweepCsv(swept.points, swept.cost_unit, may_move)));
  }
  if (!arguments.svg.empty()) {
    BERTH_TRY(
        WriteFile(arguments.svg, PictureOf(swept.points, OneLine(swept.name()), swept.cost_unit)));
  }
  if (!arguments.report.empty()) BERTH_TRY(WriteFile(arguments.report, PageOf(swept)));
  return {};
}

}  // namespace

Result<ExitCode> SweepOneMemory(const MemorySweepArguments& arguments) {
  ModelArguments reading = arguments.reading;
  reading.path = arguments.path;
  const Model model = BERTH_TRY(LoadModel(reading));
  MemorySweepOptions options;
  options.plan.schedule.counting = reading.counting;
  auto [board, index] =
      BERTH_TRY(SweptBoard(model.graph, arguments.arguments, options.plan.schedule.counting));
  options.memory = index;
  options.points = arguments.points;
  options.capacities = arguments.capacities;
  BERTH_TRY(SetMoves(arguments.arguments, board));
  options.plan.memories = std::move(board.memories);
  if (arguments.fixed_order) options.plan.schedule.algorithm = ScheduleAlgorithm::kProgram;
  options.seconds_each = arguments.time_limit.value_or(1.0);
  const Counting& counting = options.plan.schedule.counting;
  options.on_point = [&](const MemoryPoint& point, const PlanAnswer& answer) {
    GraphMemories memories = options.plan.memories;
    memories.memories[options.memory].capacity = point.capacity;
    VerifyOrDie(model.graph, counting, memories, *answer.best);
    return true;
  };
  WatchedSearch search({});
  const Swept swept{model, arguments, options, board.cost_unit,
                    BERTH_TRY(search.Run([&](Budget& budget) {
                      return SweepMemory(model.graph, options, budget);
                    }))};
  BERTH_TRY(WriteFiles(swept));
  const TensorCount count = CountTensors(model.graph, counting);
  std::string warning = search.interrupted() ? "Interrupted." : "";
  if (count.unsized > 0 && !counting.unsized_as_zero) {
    warning += (warning.empty() ? "" : " ") +
               std::string("All figures are for tensors of known size only: ") +
               UnsizedClause(count.unsized, count.tensors) + "." +
               OpenDimensionsLine(model, "sweep");
  }
  const bool to_stdout = IsStandardOutput(arguments.output) || IsStandardOutput(arguments.svg) ||
                         IsStandardOutput(arguments.report);
  if (!to_stdout) {
    if (!warning.empty()) Print(Paint(Tone::kUnsure, warning) + "\n");
    Print(PointsTable(swept.points, swept.name(), board.cost_unit, swept.memories()));
  } else if (!warning.empty()) {
    PrintToStandardError(warning + "\n");
  }
  return warning.empty() ? kDone : kGaveUp;
}

}  // namespace berth::cli
