// A plan as a picture: time to the right, addresses upwards, and the live load below.
//
//   title                                                       legend
//   +----------------------------------------+
//   |  - - - - - - - - - - - - - - - - - - - |  capacity
//   |  =====+======+====                     |  height, lower bound
//   |       |buffer|                         |
//   +----------------------------------------+
//      peak load
//   |     __/\___        live load           |
//   +----------------------------------------+
//      steps
//
// Everything is integer arithmetic in tenths of a pixel, so that every machine writes the same
// bytes.
//
// The file stays small at any size: the buffers that are large enough to point at are elements of
// their own, with a tooltip and, where there is room, a label; the others are one path for each
// colour, without those that would be drawn on the very same spot. The load curve has at most two
// points for each column of pixels.
//
// Colours: Paul Tol's "light" qualitative scheme (without its olive, which takes over where many
// thin buffers blend), which is made for dark text on top of areas and
// for colour-blind eyes, and his "high contrast" one for lines (Colour Schemes, SRON/EPS/TN/09-002,
// issue 3.2, 2021). Colours only tell neighbours apart; nothing is said by colour alone.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/bytes.h"
#include "berth/report.h"
#include "report/coloring.h"
#include "report/text.h"

namespace berth {
namespace {

using internal::DrawnPiece;
using internal::EscapeXml;
using internal::Grouped;
using internal::Tenths;
using internal::Truncate;
using internal::WidthOf;

__extension__ using Wide = __int128;
using Pixels = std::int64_t;  // Tenths of a pixel.

constexpr std::array<std::string_view, 7> kColors = {"#77aadd", "#ee8866", "#eedd88", "#ffaabb",
                                                     "#99ddff", "#44bb99", "#bbcc33"};
constexpr std::size_t kMaxElements = 8000;  // Buffers that are elements of their own.
constexpr std::size_t kMaxIdInTooltip = 120;
constexpr Pixels kFont = 110;  // Of labels in buffers.
constexpr Pixels kSmallFont = 90;

struct Point {
  Pixels x;
  Pixels y;
};

// A part of the picture with its scales.
struct Panel {
  Pixels left;
  Pixels top;
  Pixels right;
  Pixels bottom;
  Step first;  // At `left`.
  Step last;   // At `right`; more than `first`.
  Bytes most;  // At `top`; 0 bytes at `bottom`. At least 1.

  [[nodiscard]] Pixels X(Step step) const {
    const Wide span = Wide{last} - first;
    return left +
           static_cast<Pixels>(((Wide{step} - first) * (right - left) * 2 + span) / (2 * span));
  }
  [[nodiscard]] Pixels Y(Bytes bytes) const {
    const Wide up = (Wide{bytes} * (bottom - top) * 2 + most) / (2 * Wide{most});
    return bottom - static_cast<Pixels>(up);
  }
  [[nodiscard]] Pixels width() const { return right - left; }
  [[nodiscard]] Pixels height() const { return bottom - top; }
};

std::string At(Point point) { return Tenths(point.x) + " " + Tenths(point.y); }

std::string Attribute(std::string_view name, Pixels value) {
  return " " + std::string(name) + "=\"" + Tenths(value) + "\"";
}

std::string Text(Point at, std::string_view classes, std::string_view escaped) {
  return "<text" + Attribute("x", at.x) + Attribute("y", at.y) + " class=\"" +
         std::string(classes) + "\">" + std::string(escaped) + "</text>\n";
}

std::string Line(Point from, Point to, std::string_view classes) {
  return "<path class=\"" + std::string(classes) + "\" d=\"M" + At(from) + "L" + At(to) + "\"/>\n";
}

// --- What is drawn ---------------------------------------------------------------------------

std::vector<DrawnPiece> Pieces(const Problem& problem, const std::vector<Bytes>& offsets) {
  std::vector<DrawnPiece> pieces;
  for (std::size_t b = 0; b < problem.buffers.size(); ++b) {
    const Buffer& buffer = problem.buffers[b];
    const auto add = [&](Step start, Step end, Bytes lower, Bytes upper) {
      if (start < end) pieces.push_back({b, start, end, offsets[b] + lower, offsets[b] + upper});
    };
    Step whole_since = buffer.start;
    for (const Gap& gap : buffer.gaps) {
      add(whole_since, gap.start, 0, buffer.size);
      if (gap.window) add(gap.start, gap.end, gap.window->lower, gap.window->upper);
      whole_since = gap.end;
    }
    add(whole_since, buffer.end, 0, buffer.size);
  }
  return pieces;
}

struct LoadStep {
  Step start;
  Bytes load;
};

// The live load from each step at which it changes, down to 0 after the last.
std::vector<LoadStep> LoadCurve(const std::vector<DrawnPiece>& pieces) {
  std::vector<LoadStep> changes;
  for (const DrawnPiece& piece : pieces) {
    changes.push_back({piece.start, piece.upper - piece.lower});
    changes.push_back({piece.end, piece.lower - piece.upper});
  }
  std::sort(changes.begin(), changes.end(),
            [](const LoadStep& a, const LoadStep& b) { return a.start < b.start; });
  std::vector<LoadStep> curve;
  Bytes load = 0;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    load += changes[i].load;
    const bool more_changes = i + 1 < changes.size() && changes[i + 1].start == changes[i].start;
    if (more_changes || (!curve.empty() && curve.back().load == load)) continue;
    curve.push_back({changes[i].start, load});
  }
  return curve;
}

// One piece, or adjoining pieces of one buffer, as a closed outline.
struct Outline {
  std::size_t buffer;
  std::vector<Point> top;     // From left to right, two points for each piece.
  std::vector<Point> bottom;  // Likewise.
  DrawnPiece widest;          // The piece with most room for a label.

  [[nodiscard]] std::string Path() const {
    std::vector<Point> corners = top;
    corners.insert(corners.end(), bottom.rbegin(), bottom.rend());
    std::string path = "M" + At(bottom.front());
    Point from = bottom.front();
    for (std::size_t i = 0; i < corners.size(); ++i) {
      const Point to = corners[i];
      const Point next = i + 1 < corners.size() ? corners[i + 1] : bottom.front();
      const bool straight =
          (from.x == to.x && to.x == next.x) || (from.y == to.y && to.y == next.y);
      if (straight) continue;
      path += to.x == from.x ? "v" + Tenths(to.y - from.y) : "h" + Tenths(to.x - from.x);
      from = to;
    }
    return path + "z";
  }
};

struct Box {
  Pixels left;
  Pixels top;
  Pixels right;
  Pixels bottom;
  [[nodiscard]] Pixels width() const { return right - left; }
  [[nodiscard]] Pixels height() const { return bottom - top; }
};

// Never thinner than can be seen.
Box BoxOf(const DrawnPiece& piece, const Panel& panel) {
  constexpr Pixels kThinnest = 3;
  Box box{panel.X(piece.start), panel.Y(piece.upper), panel.X(piece.end), panel.Y(piece.lower)};
  box.right = std::max(box.right, box.left + kThinnest);
  box.top = std::min(box.top, box.bottom - kThinnest);
  return box;
}

Pixels Area(const Box& box) { return box.width() * box.height(); }

std::vector<Outline> Outlines(const std::vector<DrawnPiece>& pieces, const Panel& panel) {
  std::vector<Outline> outlines;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const DrawnPiece& piece = pieces[i];
    const Box box = BoxOf(piece, panel);
    const bool adjoins = i > 0 && pieces[i - 1].buffer == piece.buffer &&
                         pieces[i - 1].end == piece.start && pieces[i - 1].lower < piece.upper &&
                         piece.lower < pieces[i - 1].upper;
    if (!adjoins) outlines.push_back({piece.buffer, {}, {}, piece});
    Outline& outline = outlines.back();
    outline.top.insert(outline.top.end(), {{box.left, box.top}, {box.right, box.top}});
    outline.bottom.insert(outline.bottom.end(), {{box.left, box.bottom}, {box.right, box.bottom}});
    if (Area(box) > Area(BoxOf(outline.widest, panel))) outline.widest = piece;
  }
  return outlines;
}

// --- Axes ------------------------------------------------------------------------------------

// Powers of two for bytes: at least `spacing` pixels apart, and never less than a byte.
Bytes ByteTick(const Panel& panel, Pixels spacing) {
  Bytes tick = 1;
  while (Wide{tick} * panel.height() < Wide{panel.most} * spacing) tick *= 2;
  return tick;
}

struct Unit {
  Bytes bytes;
  std::string_view name;
};

// The largest unit in which every tick is whole.
Unit UnitOf(Bytes tick) {
  Unit unit{1, "bytes"};
  for (const std::string_view name : {"KiB", "MiB", "GiB", "TiB", "PiB"}) {
    if (tick < unit.bytes * 1024) break;
    unit = {unit.bytes * 1024, name};
  }
  return unit;
}

std::string ByteAxis(const Panel& panel, std::string_view what, Pixels spacing) {
  const Bytes tick = ByteTick(panel, spacing);
  const Unit unit = UnitOf(tick);
  std::string svg;
  for (Bytes bytes = 0; bytes <= panel.most; bytes += tick) {
    const Pixels y = panel.Y(bytes);
    if (bytes > 0) svg += Line({panel.left, y}, {panel.right, y}, "grid");
    svg += Text({panel.left - 80, y + 38}, "tick end", Grouped(bytes / unit.bytes));
  }
  const Point middle{160, (panel.top + panel.bottom) / 2};
  svg += "<text class=\"axis mid\" transform=\"translate(" + At(middle) + ") rotate(-90)\">" +
         std::string(what) + ", " + std::string(unit.name) + "</text>\n";
  return svg;
}

// 1, 2 or 5 times a power of ten: at least `spacing` pixels apart, and never less than a step.
Step StepTick(const Panel& panel, Pixels spacing) {
  const Wide needed = (Wide{panel.last} - panel.first) * spacing;
  Step power = 1;
  for (;; power *= 10) {
    for (const Step tick : {power, 2 * power, 5 * power}) {
      if (Wide{tick} * panel.width() >= needed) return tick;
    }
  }
}

std::string StepAxis(const Panel& panel, const Panel& labelled) {
  // Room for the longest label there can be, on both sides.
  const std::string longest = Grouped(panel.last);
  const Pixels label = std::max(WidthOf(longest), WidthOf(Grouped(panel.first))) * kFont / 100;
  const Step tick = StepTick(panel, std::max<Pixels>(label + 240, 600));
  std::string svg;
  Step step = panel.first / tick * tick;
  if (step < panel.first) step += tick;
  for (; step <= panel.last; step += tick) {
    const Pixels x = panel.X(step);
    svg += Line({x, labelled.bottom}, {x, labelled.bottom + 40}, "ticks");
    svg += Text({x, labelled.bottom + 165}, "tick mid", Grouped(step));
  }
  svg += Text({(panel.left + panel.right) / 2, labelled.bottom + 330}, "axis mid", "step");
  return svg;
}

// --- Levels: capacity, height, lower bound ---------------------------------------------------

struct Level {
  std::string_view name;
  std::string_view classes;
  Bytes bytes;
  bool dashed;
  bool above = false;  // Beyond the top of the picture.
};

// Dashed lines on top of solid ones, so that lines that coincide can be told apart.
std::string LevelLines(std::vector<Level> levels, const Panel& panel) {
  std::stable_sort(levels.begin(), levels.end(),
                   [](const Level& a, const Level& b) { return a.dashed < b.dashed; });
  std::string svg;
  for (const Level& level : levels) {
    if (level.above) continue;
    const Pixels y = panel.Y(level.bytes);
    svg += Line({panel.left, y}, {panel.right, y}, "level " + std::string(level.classes));
  }
  return svg;
}

// Labels to the right of the lines, pushed apart where they would overlap. They come in order of
// height: each is put as near its line as the one above it allows, then the lowest are pushed back
// up from the bottom.
std::string LevelLabels(const std::vector<Level>& levels, const Panel& panel) {
  constexpr Pixels kSpacing = 300;
  std::vector<Pixels> labels;
  for (const Level& level : levels) {
    const Pixels wanted = level.above ? panel.top + 80 : panel.Y(level.bytes);
    labels.push_back(labels.empty() ? wanted : std::max(wanted, labels.back() + kSpacing));
  }
  Pixels lowest = panel.bottom - 60;
  for (std::size_t i = labels.size(); i-- > 0; lowest -= kSpacing) {
    labels[i] = std::min(labels[i], lowest);
    lowest = labels[i];
  }
  std::string svg;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const Level& level = levels[i];
    const Pixels from = level.above ? panel.top : panel.Y(level.bytes);
    const Pixels y = labels[i];
    svg += "<path class=\"leader\" d=\"M" + At({panel.right + 20, from}) + "L" +
           At({panel.right + 140, y}) + "\"/>\n";
    const std::string name = std::string(level.name) + (level.above ? " \u2191" : "");
    svg += Text({panel.right + 190, y - 10}, "name " + std::string(level.classes), name);
    svg += Text({panel.right + 190, y + 115}, "value", FormatBytes(level.bytes));
  }
  return svg;
}

// --- Buffers ---------------------------------------------------------------------------------

std::string Tooltip(const Buffer& buffer, Bytes offset) {
  std::string text = EscapeXml(Truncate(buffer.id, kMaxIdInTooltip)) + "\n" +
                     FormatBytes(buffer.size) +
                     (buffer.size < 1024 ? "" : " (" + Grouped(buffer.size) + " bytes)") + "\n" +
                     "steps [" + Grouped(buffer.start) + ", " + Grouped(buffer.end) + ")\n" +
                     "bytes [" + Grouped(offset) + ", " + Grouped(offset + buffer.size) + ")";
  if (buffer.alignment > 1) text += "\naligned to " + Grouped(buffer.alignment);
  if (buffer.offset) text += "\npinned";
  if (!buffer.gaps.empty()) {
    text +=
        "\n" + std::to_string(buffer.gaps.size()) + (buffer.gaps.size() == 1 ? " gap" : " gaps");
  }
  return "<title>" + text + "</title>";
}

// The id, as much of it as fits, where enough of it does; the size below it where both fit.
std::string Label(const Buffer& buffer, const Box& box) {
  const auto fit = [](const std::string& text, Pixels room, Pixels font) {
    std::string fitting = text;
    for (std::size_t most = 32; WidthOf(fitting) * font / 100 > room && most > 6; --most) {
      fitting = Truncate(text, most);
    }
    const bool fits = WidthOf(fitting) * font / 100 <= room;
    return fits ? EscapeXml(fitting) : std::string();
  };
  const Point center{(box.left + box.right) / 2, (box.top + box.bottom) / 2};
  const std::string id = Truncate(buffer.id, 32);
  const Pixels id_width = WidthOf(id) * kSmallFont / 100 + 40;
  const bool upright = box.height() > box.width() && box.width() < id_width;
  const Pixels along = (upright ? box.height() : box.width()) - 60;
  const Pixels across = upright ? box.width() : box.height();
  if (across < 105) return {};
  const bool small = across < 140;
  const std::string shown = fit(id, along, small ? kSmallFont : kFont);
  if (shown.empty()) return {};
  const std::string size = FormatBytes(buffer.size);
  const bool two_lines = across >= 300 && WidthOf(size) * kSmallFont / 100 <= along;
  const Pixels baseline = two_lines ? -15 : (small ? 32 : 39);
  std::string svg =
      "<g transform=\"translate(" + At(center) + ")" + (upright ? " rotate(-90)" : "") + "\">";
  svg += "<text class=\"" + std::string(small ? "id s" : "id") + "\"" + Attribute("y", baseline) +
         ">" + shown + "</text>";
  if (two_lines) svg += "<text class=\"size\" y=\"11\">" + EscapeXml(size) + "</text>";
  return svg + "</g>\n";
}

struct DrawnBuffers {
  std::string shapes;
  std::string labels;
};

DrawnBuffers DrawBuffers(const Problem& problem, const std::vector<Bytes>& offsets,
                         const std::vector<DrawnPiece>& pieces, const Panel& panel) {
  constexpr Pixels kLargeEnough = 10;  // To point at.
  constexpr Pixels kOutlined = 35;     // Less than this is all outline.
  const std::vector<int> colors =
      internal::ColorBuffers(problem, pieces, static_cast<int>(kColors.size()));
  const std::vector<Outline> outlines = Outlines(pieces, panel);

  std::vector<std::size_t> large;
  for (std::size_t i = 0; i < outlines.size(); ++i) {
    const Box box = BoxOf(outlines[i].widest, panel);
    if (box.width() >= kLargeEnough && box.height() >= kLargeEnough) large.push_back(i);
  }
  if (large.size() > kMaxElements) {
    std::stable_sort(large.begin(), large.end(), [&](std::size_t a, std::size_t b) {
      return Area(BoxOf(outlines[a].widest, panel)) > Area(BoxOf(outlines[b].widest, panel));
    });
    large.resize(kMaxElements);
    std::sort(large.begin(), large.end());
  }

  std::array<std::vector<std::string>, kColors.size()> small_paths;
  std::string thin;
  std::string outlined;
  std::string labels;
  auto next_large = large.begin();
  for (std::size_t i = 0; i < outlines.size(); ++i) {
    const Outline& outline = outlines[i];
    const auto color = static_cast<std::size_t>(colors[outline.buffer]);
    if (next_large == large.end() || *next_large != i) {
      small_paths[color].push_back(outline.Path());
      continue;
    }
    ++next_large;
    const Buffer& buffer = problem.buffers[outline.buffer];
    const Box box = BoxOf(outline.widest, panel);
    (std::min(box.width(), box.height()) < kOutlined ? thin : outlined) +=
        "<path class=\"c" + std::to_string(color) + "\" d=\"" + outline.Path() + "\">" +
        Tooltip(buffer, offsets[outline.buffer]) + "</path>\n";
    labels += Label(buffer, box);
  }
  std::string svg = "<g class=\"thin\">\n";
  for (std::size_t color = 0; color < kColors.size(); ++color) {
    std::vector<std::string>& paths = small_paths[color];
    if (paths.empty()) continue;
    std::sort(paths.begin(), paths.end());
    paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
    svg += "<path class=\"c" + std::to_string(color) + "\" d=\"";
    for (const std::string& path : paths) svg += path;
    svg += "\"/>\n";
  }
  svg += thin + "</g>\n<g class=\"outlined\">\n" + outlined + "</g>\n";
  return {svg, "<g class=\"labels\">\n" + labels + "</g>\n"};
}

// --- The live load ---------------------------------------------------------------------------

struct Peak {
  Step start = 0;
  Step end = 0;
  Bytes load = 0;
};

Peak PeakOf(const std::vector<LoadStep>& curve) {
  Peak peak;
  for (std::size_t i = 0; i + 1 < curve.size(); ++i) {
    if (curve[i].load > peak.load) peak = {curve[i].start, curve[i + 1].start, curve[i].load};
  }
  return peak;
}

// The curve itself where it has fewer changes than there are columns of pixels; else the highest
// load in each column, so that no peak is lost.
std::vector<Point> CurvePoints(const std::vector<LoadStep>& curve, const Panel& panel) {
  std::vector<Point> points;
  for (const LoadStep& step : curve) {
    const Point point{panel.X(step.start), panel.Y(step.load)};
    const bool same_column = !points.empty() && point.x / 10 == points.back().x / 10;
    if (same_column && curve.size() > static_cast<std::size_t>(panel.width() / 10)) {
      points.back().y = std::min(points.back().y, point.y);
    } else {
      points.push_back(point);
    }
  }
  return points;
}

std::string DrawLoad(const std::vector<LoadStep>& curve, const Panel& panel) {
  std::string path = "M" + At({panel.left, panel.bottom});
  Point from{panel.left, panel.bottom};
  for (const Point point : CurvePoints(curve, panel)) {
    if (point.x != from.x) path += "H" + Tenths(point.x);
    if (point.y != from.y) path += "V" + Tenths(point.y);
    from = point;
  }
  path += "H" + Tenths(panel.right) + "V" + Tenths(panel.bottom);
  return "<path class=\"load\" d=\"" + path + "\"/>\n";
}

Pixels PeakX(const Peak& peak, const Panel& panel) {
  return (panel.X(peak.start) + panel.X(peak.end)) / 2;
}

std::string DrawPeak(const Peak& peak, const Panel& panel) {
  const Pixels x = PeakX(peak, panel);
  const Pixels y = panel.Y(peak.load);
  const std::string text = "peak load " + FormatBytes(peak.load) + " at steps [" +
                           Grouped(peak.start) + ", " + Grouped(peak.end) + ")";
  const Pixels half = WidthOf(text) * kFont / 200 + 40;
  Pixels center = x;
  center = std::min(center, panel.right - half);
  center = std::max(center, panel.left + half);
  return Line({x, panel.top}, {x, panel.bottom}, "peak") + "<circle class=\"dot\"" +
         Attribute("cx", x) + Attribute("cy", y) + " r=\"3.2\"/>\n" +
         Text({center, panel.top - 70}, "note mid", text);
}

// --- All of it -------------------------------------------------------------------------------

constexpr std::string_view kStyle =
    "text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,"
    "'Liberation Sans',sans-serif;fill:#333}\n"
    ".title{font-size:17px;font-weight:600;fill:#111}\n"
    ".subtitle{font-size:12px;fill:#555}\n"
    ".legend{font-size:11px;fill:#444}\n"
    ".tick{font-size:11px;fill:#555}\n"
    ".axis{font-size:11px;fill:#555}\n"
    ".note{font-size:11px;fill:#222}\n"
    ".name{font-size:11px;font-weight:600}\n"
    ".value{font-size:11px;fill:#444}\n"
    ".mid{text-anchor:middle}\n"
    ".end{text-anchor:end}\n"
    ".panel{fill:#f0f1f3}\n"
    ".frame{fill:none;stroke:#9a9fa8;stroke-width:1}\n"
    ".grid{fill:none;stroke:#dcdfe4;stroke-width:1}\n"
    ".ticks{fill:none;stroke:#9a9fa8;stroke-width:1}\n"
    ".leader{fill:none;stroke:#9a9fa8;stroke-width:1}\n"
    ".level{fill:none;stroke-width:1.6}\n"
    "path.capacity{stroke:#d0506a;stroke-dasharray:7 4}\n"
    "path.height{stroke:#222;stroke-width:2}\n"
    "path.bound{stroke:#2f7fd0;stroke-dasharray:2 3}\n"
    "text.capacity{fill:#a03f50}\n"
    "text.height{fill:#111}\n"
    "text.bound{fill:#004488}\n"
    ".load{fill:#7f8fa9;fill-opacity:.45;stroke:#4a5a75;stroke-width:1;stroke-linejoin:round}\n"
    ".peak{fill:none;stroke:#222;stroke-width:1;stroke-dasharray:1 3}\n"
    ".dot{fill:#222;stroke:#fff;stroke-width:1}\n"
    ".outlined path{stroke:#fff;stroke-width:.8;stroke-linejoin:round}\n"
    ".outlined path:hover,.thin path:hover{stroke:#111;stroke-width:1.5}\n"
    ".labels{pointer-events:none}\n"
    ".id{font-size:11px;text-anchor:middle;fill:#111}\n"
    ".id.s{font-size:9px}\n"
    ".size{font-size:9px;text-anchor:middle;fill:#333}\n";

constexpr std::string_view kMarkStyle =
    ".in{fill:#004488;stroke:#004488;stroke-width:1.4;pointer-events:none}\n"
    ".out{fill:#bb3344;stroke:#bb3344;stroke-width:1.4;pointer-events:none}\n";

// What the plan is worth, in a line.
std::string Subtitle(const Problem& problem, Bytes height, Bytes lower_bound) {
  const std::size_t count = problem.buffers.size();
  std::string text = Grouped(static_cast<std::int64_t>(count)) +
                     (count == 1 ? " buffer" : " buffers") + " in " + FormatBytes(height);
  const bool exceeds = problem.capacity && height > *problem.capacity;
  if (exceeds) text += ", " + FormatBytes(height - *problem.capacity) + " above the capacity";
  if (lower_bound > 0 && height <= lower_bound) {
    text += exceeds ? "; no plan is lower" : ", which is optimal";
  } else if (lower_bound > 0) {
    // Rounded up: 0.0 % would claim what is not proved.
    const Wide excess = (Wide{height} - lower_bound) * 1000;
    const auto tenths = static_cast<std::int64_t>((excess + lower_bound - 1) / lower_bound);
    text +=
        (exceeds ? "; at most " : ", at most ") + Tenths(tenths) + " % above the least possible";
  }
  return text;
}

// Edges with arrows: into the buffer where it is brought in, out of it where it is written off
// chip. One path each, whatever their number; beside each other they are told apart by where they
// point from.
std::string DrawMarks(const Problem& problem, const Placement& placement,
                      const std::vector<SvgMark>& marks, const Panel& panel) {
  std::string in;
  std::string out;
  for (std::size_t b = 0; b < std::min(marks.size(), problem.buffers.size()); ++b) {
    const Buffer& buffer = problem.buffers[b];
    const Pixels low = panel.Y(placement.offsets[b]);
    const Pixels high = panel.Y(placement.offsets[b] + buffer.size);
    const Pixels middle = (low + high) / 2;
    const Pixels half = std::min<Pixels>((low - high) / 2, 40);
    const auto edge = [&](Pixels x, Pixels point) {
      return "M" + At({x, low}) + "L" + At({x, high}) + "M" + At({x, middle - half}) + "L" +
             At({point, middle}) + "L" + At({x, middle + half}) + "Z";
    };
    const Pixels start = panel.X(buffer.start) + 8;
    const Pixels end = panel.X(buffer.end) - 8;
    const Pixels tip = std::min<Pixels>(50, (end - start) / 2);
    if (marks[b].retrieved) in += edge(start, start + tip);
    if (marks[b].spilled) out += edge(end - tip, end);
  }
  std::string svg;
  if (!in.empty()) svg += "<path class=\"in\" d=\"" + in + "\"/>\n";
  if (!out.empty()) svg += "<path class=\"out\" d=\"" + out + "\"/>\n";
  return svg;
}

// From right to left; entries that would reach `left` are left out.
std::string Legend(Pixels left, Pixels right, Pixels y, bool marks) {
  std::string svg;
  const auto entry = [&](std::string_view text, Pixels symbol, auto draw) {
    const Pixels width = WidthOf(text) * kFont / 100;
    const Pixels from = right - width - symbol - 50;
    if (from < left) return;
    svg += draw(from);
    svg += Text({from + symbol + 50, y + 38}, "legend", text);
    right = from - 160;
  };
  const auto swatch = [&](std::string_view attributes) {
    return [&, attributes](Pixels x) {
      return "<rect" + Attribute("x", x) + Attribute("y", y - 50) + " width=\"12\" height=\"10\" " +
             std::string(attributes) + "/>\n";
    };
  };
  if (marks) {
    const auto arrow = [&](std::string_view name) {
      return [&, name](Pixels x) {
        return "<path class=\"" + std::string(name) + "\" d=\"M" + At({x + 20, y - 50}) + "L" +
               At({x + 80, y}) + "L" + At({x + 20, y + 50}) + "Z\"/>\n";
      };
    };
    entry("written out", 100, arrow("out"));
    entry("brought in", 100, arrow("in"));
  }
  entry("live load", 120, swatch("class=\"load\""));
  entry("free", 120, swatch("class=\"panel\" stroke=\"#9a9fa8\""));
  entry("buffers, coloured only to tell neighbours apart", 480, [&](Pixels x) {
    std::string chips;
    for (std::size_t i = 0; i < 4; ++i) {
      chips += "<rect" + Attribute("x", x + static_cast<Pixels>(i) * 120) + Attribute("y", y - 50) +
               " width=\"11\" height=\"10\" class=\"c" + std::to_string(i) + "\"/>\n";
    }
    return chips;
  });
  return svg;
}

std::string Colors() {
  std::string css;
  for (std::size_t i = 0; i < kColors.size(); ++i) {
    css += ".c" + std::to_string(i) + "{fill:" + std::string(kColors[i]) + "}\n";
  }
  return css;
}

}  // namespace

std::string WriteSvg(const Problem& problem, const Placement& placement, Bytes lower_bound,
                     const SvgOptions& options) {
  const Pixels width = Pixels{std::max(options.width, 200)} * 10;
  const Pixels height = Pixels{std::max(options.height, 150)} * 10;
  const std::vector<DrawnPiece> pieces = Pieces(problem, placement.offsets);
  const std::vector<LoadStep> curve = LoadCurve(pieces);
  const Peak peak = PeakOf(curve);

  Step first = 0;
  Step last = 1;
  for (std::size_t b = 0; b < problem.buffers.size(); ++b) {
    const Buffer& buffer = problem.buffers[b];
    first = b == 0 ? buffer.start : std::min(first, buffer.start);
    last = b == 0 ? buffer.end : std::max(last, buffer.end);
  }

  // A capacity far above the plan would press it flat: it is then named, but not drawn.
  const Bytes drawn_height = std::max<Bytes>({placement.height, lower_bound, 1});
  std::vector<Level> levels;
  Bytes most = drawn_height;
  if (problem.capacity) {
    const bool above = *problem.capacity / 2 > drawn_height;
    levels.push_back({"capacity", "capacity", *problem.capacity, true, above});
    if (!above) most = std::max(most, *problem.capacity);
  }
  levels.push_back({"height", "height", placement.height, false});
  levels.push_back({"lower bound", "bound", lower_bound, true});
  std::stable_sort(levels.begin(), levels.end(),
                   [](const Level& a, const Level& b) { return a.bytes > b.bytes; });
  most += most / 50;  // Air above the highest line.

  const bool roomy = width >= 5000;
  const bool has_strip = height >= 3000;
  const Pixels left = 800;
  const Pixels right = width - (roomy ? 1180 : 150);
  const Pixels top = roomy ? 720 : 300;
  const Pixels bottom = height - 470;
  const Pixels strip_height = std::clamp<Pixels>(height / 7, 500, 1200);
  const Panel main{left,  top,  right, has_strip ? bottom - strip_height - 330 : bottom,
                   first, last, most};
  const Panel strip{left,
                    bottom - strip_height,
                    right,
                    bottom,
                    first,
                    last,
                    std::max<Bytes>(peak.load + peak.load / 8, 1)};

  const std::string title = options.title.empty() ? "Memory plan" : options.title;
  const std::string subtitle = Subtitle(problem, placement.height, lower_bound);
  std::string svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + Tenths(width) +
                    "\" height=\"" + Tenths(height) + "\" viewBox=\"0 0 " + Tenths(width) + " " +
                    Tenths(height) + "\" role=\"img\" aria-label=\"" + EscapeXml(title) + ": " +
                    subtitle + "\">\n<style>\n" + std::string(kStyle) +
                    std::string(options.marks.empty() ? std::string_view() : kMarkStyle) +
                    Colors() + "</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n";

  const Pixels text_width = width - 480;
  const auto most_characters = static_cast<std::size_t>(text_width / 100);
  svg += Text({240, roomy ? 310 : 210}, "title", EscapeXml(Truncate(title, most_characters)));
  if (roomy) {
    svg += Text({240, 520}, "subtitle", subtitle);
    const Pixels subtitle_end = 240 + WidthOf(subtitle) * 120 / 100;
    svg += Legend(subtitle_end + 200, width - 240, 480, !options.marks.empty());
  }

  const auto rectangle = [](const Panel& panel, std::string_view classes) {
    return "<rect class=\"" + std::string(classes) + "\"" + Attribute("x", panel.left) +
           Attribute("y", panel.top) + Attribute("width", panel.width()) +
           Attribute("height", panel.height()) + "/>\n";
  };
  svg += rectangle(main, "panel");
  svg += ByteAxis(main, "offset", 420);
  const auto [buffers, labels] = DrawBuffers(problem, placement.offsets, pieces, main);
  svg += buffers;
  svg += DrawMarks(problem, placement, options.marks, main);
  svg += rectangle(main, "frame");
  if (has_strip && peak.load > 0) {
    const Pixels x = PeakX(peak, main);
    svg += Line({x, main.top}, {x, main.bottom}, "peak");
  }
  svg += LevelLines(levels, main);
  svg += labels;
  if (roomy) svg += LevelLabels(levels, main);
  if (has_strip) {
    svg += rectangle(strip, "panel");
    svg += ByteAxis(strip, "live load", 300);
    svg += DrawLoad(curve, strip);
    svg += rectangle(strip, "frame");
    if (peak.load > 0) svg += DrawPeak(peak, strip);
  }
  svg += StepAxis(main, has_strip ? strip : main);
  return svg + "</svg>\n";
}

}  // namespace berth
