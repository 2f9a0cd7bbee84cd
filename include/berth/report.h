// berth/report.h -- plans and measurements as pictures.
#ifndef BERTH_REPORT_H_
#define BERTH_REPORT_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "berth/graph.h"
#include "berth/graph_memories.h"
#include "berth/memories.h"
#include "berth/place.h"
#include "berth/problem.h"

namespace [[gnu::visibility("default")]] berth {

// What happens at the ends of a buffer's life, where it is a stay of several (berth/spill.h).
struct SvgMark {
  bool retrieved = false;  // It was brought in from off chip at its start.
  bool spilled = false;    // It is written off chip at its end.
};
// Parallel to the residencies of `plan`.
[[nodiscard]] std::vector<SvgMark> MarksOf(const MemoryPlan& plan);

// A copy of a buffer's bytes from one of several memories to another, where it is another buffer.
struct SvgCopy {
  std::size_t from = 0;  // Indices into the residencies of the plan.
  std::size_t to = 0;
  std::string note = {};  // Shown when pointed at.
};

struct SvgOptions {
  int width = 1200;  // Pixels; at least 200.
  int height = 700;  // Pixels; at least 150.
  std::string title = {};
  // One for each buffer or, of a plan for several memories, for each residency; or none at all.
  std::vector<SvgMark> marks = {};
  std::vector<SvgCopy> copies = {};  // Of a plan for several memories.
};

// Draws time to the right and addresses upwards: each buffer's live bytes, the capacity, the lower
// bound, the height and the live load. One self-contained SVG file, ids escaped, the same bytes for
// the same arguments. `placement` must be valid for `problem`.
[[nodiscard]] std::string WriteSvg(const Problem& problem, const Placement& placement,
                                   Bytes lower_bound, const SvgOptions& options = {});

// The same with a lane for each memory, from top to bottom: its capacity, height and reserved ranges.
// Buffers that are left out are not drawn. An arrow leads from each source of a copy to its target, and a
// band on both shows the steps in which the copy can be under way. The picture is higher than the options
// say if lanes would be too flat. `plan` must be valid for `problem`, or be that of a
// graph as a table (berth/graph_memories.h).
[[nodiscard]] std::string WriteSvg(const MemoryProblem& problem, const MemoryPlan& plan,
                                   const SvgOptions& options = {});

// The same of a graph's plan in several memories, with its copies from one to another. `plan` must be
// valid.
[[nodiscard]] std::string WriteSvg(const Graph& graph, const Counting& counting,
                                   const GraphMemories& memories, const MemoryPlan& plan,
                                   const SvgOptions& options = {});

// What the numbers of an axis are: how they are labelled.
enum class ChartUnit {
  kNone,     // As they are: 1,000; 2.5.
  kSeconds,  // 10 us, 1 ms, 1 s.
  kBytes,    // 512 KiB, 1 MiB; ticks at powers of two.
  kPercent,  // Fractions: 0.25 is 25 %.
  kTimes,    // Ratios: 10 is 10x.
};

struct ChartAxis {
  std::string label = {};
  ChartUnit unit = ChartUnit::kNone;
  bool logarithmic = false;
  // The axis reaches at least from here to there; else as far as the data do.
  std::optional<double> first = {};
  std::optional<double> last = {};
  // Names instead of numbers: that of 0, of 1 and so on; from left to right, or from top to bottom.
  std::vector<std::string> categories = {};
};

struct ChartPoint {
  double x = 0;
  double y = 0;
  bool open = false;      // Drawn hollow: a limit that was reached, not a value.
  std::string note = {};  // Shown when pointed at; and beside a bar, in place of its value.
  // Of kPoints: the least and the most that x was, drawn as an error bar; nothing if they are equal.
  std::optional<std::pair<double, double>> spread = {};
};

struct ChartSeries {
  enum class Style {
    kLine,    // Straight from point to point.
    kSteps,   // Level until the next point, and after the last one up to the end of the axis.
    kPoints,  // By themselves.
    kBars,    // From the axis of categories; series stand side by side.
  };
  std::string name;
  Style style = Style::kLine;
  std::vector<ChartPoint> points = {};
  // Which of the eight looks, 0 to 7; none: that of its place among the series. So that one thing
  // looks the same in several charts.
  std::optional<int> look = {};
};

struct Chart {
  std::string title = {};
  std::string subtitle = {};
  std::string note = {};  // Below, wrapped: what the reader has to know.
  ChartAxis x = {};
  ChartAxis y = {};
  std::vector<ChartSeries> series = {};
  bool stacked = false;         // Bars of one category on top of each other, not side by side.
  std::string open_means = {};  // In the legend, what hollow points are; empty: not explained.
  int width = 900;              // Pixels; at least 300.
  int height = 560;             // Pixels; at least 200.
};

// Draws the series over two axes, each with its own colour, dashes and marker, so that they can be
// told apart without colours; the legend stands beside the data. One self-contained SVG file with
// its own background, all text escaped, the same bytes for the same arguments. Points that are not
// finite are left out; what a logarithmic axis cannot show (0 and less) lies at its lower end.
[[nodiscard]] std::string WriteSvg(const Chart& chart);

}  // namespace berth

#endif  // BERTH_REPORT_H_
