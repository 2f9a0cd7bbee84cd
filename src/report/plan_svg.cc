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
// The file stays small at any size: buffers that are large enough to point at are elements of
// their own, with a tooltip and, where there is room, a label; the others share one path for each
// colour, which holds each outline once. The load curve has at most two points for each column of
// pixels.
//
// Colours: Paul Tol's "light" qualitative scheme, made for dark text on coloured areas and for
// colour-blind readers (without its olive, which dominates where many thin buffers blend), and his
// "high contrast" one for lines (Colour Schemes, SRON/EPS/TN/09-002, issue 3.2, 2021). Colours only
// tell neighbours apart; nothing is said by colour alone.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/wide.h"
#include "berth/bytes.h"
#include "berth/report.h"
#include "report/analysis.h"
#include "report/coloring.h"
#include "report/svg_writer.h"
#include "report/text.h"

namespace berth {
namespace internal::report {
namespace {

constexpr std::array<std::string_view, 7> kColors = {"#77aadd", "#ee8866", "#eedd88", "#ffaabb",
                                                     "#99ddff", "#44bb99", "#bbcc33"};
constexpr std::size_t kMaxElements = 8000;  // Buffers that are elements of their own.
constexpr std::size_t kMaxIdInTooltip = 120;
constexpr Pixels kSmallFont = 90;

// A part of the picture with its scales.
struct Panel : Box {
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
};

// --- What is drawn ---------------------------------------------------------------------------

std::vector<DrawnPiece> DrawnPieces(const Problem& problem, const std::vector<Bytes>& offsets) {
  std::vector<DrawnPiece> pieces;
  for (const Piece& piece : PiecesOf(problem)) {
    const Bytes offset = offsets[piece.buffer];
    pieces.push_back({piece.buffer, piece.start, piece.end, offset + piece.window.lower,
                      offset + piece.window.upper});
  }
  return pieces;
}

// One piece, or adjoining pieces of one buffer, as a closed outline.
struct Outline {
  std::size_t buffer;
  std::vector<Point> top;     // From left to right, two points for each piece.
  std::vector<Point> bottom;  // The same along the lower edge.
  DrawnPiece widest;          // The piece with the most room for a label.

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
    svg += Text({panel.left - 80, y + kBaseline}, "tick end", Grouped(bytes / unit.bytes));
  }
  const Point center{160, panel.center().y};
  return svg + AxisName(center, std::string(what) + ", " + std::string(unit.name));
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
  // Room for the longest possible label, on both sides.
  const Pixels label = std::max(TextWidth(Grouped(panel.last)), TextWidth(Grouped(panel.first)));
  const Step tick = StepTick(panel, std::max<Pixels>(label + 240, 600));
  std::string svg;
  Step step = panel.first / tick * tick;
  if (step < panel.first) step += tick;
  for (; step <= panel.last; step += tick) {
    const Pixels x = panel.X(step);
    svg += Line({x, labelled.bottom}, {x, labelled.bottom + 40}, "ticks");
    svg += Text({x, labelled.bottom + 165}, "tick mid", Grouped(step));
  }
  return svg + Text({panel.center().x, labelled.bottom + 330}, "axis mid", "step");
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
    svg += Line({panel.right + 20, from}, {panel.right + 140, y}, "leader");
    const std::string name = std::string(level.name) + (level.above ? " \u2191" : "");
    svg += Text({panel.right + 190, y - 10}, "name " + std::string(level.classes), name);
    svg += Text({panel.right + 190, y + 115}, "value", FormatBytes(level.bytes));
  }
  return svg;
}

// --- Buffers ---------------------------------------------------------------------------------

std::string Hexadecimal(Bytes address) {
  std::string digits;
  for (auto rest = static_cast<std::uint64_t>(address); rest > 0; rest /= 16) {
    digits.insert(digits.begin(), "0123456789abcdef"[rest % 16]);
  }
  return "0x" + (digits.empty() ? "0" : digits);
}

// As XML: lines are separated by line feeds, which escaping would make visible.
std::string Tooltip(const Buffer& buffer, Bytes offset, Bytes base) {
  std::string text = EscapeXml(Truncate(buffer.id, kMaxIdInTooltip)) + "\n" +
                     FormatBytes(buffer.size) +
                     (buffer.size < 1024 ? "" : " (" + Grouped(buffer.size) + " bytes)") + "\n" +
                     "steps [" + Grouped(buffer.start) + ", " + Grouped(buffer.end) + ")\n" +
                     "bytes [" + Grouped(offset) + ", " + Grouped(offset + buffer.size) + ")";
  if (base > 0) text += "\naddress " + Hexadecimal(base + offset);
  if (buffer.alignment > 1) text += "\naligned to " + Grouped(buffer.alignment);
  if (buffer.offset) text += "\npinned";
  if (!buffer.gaps.empty()) {
    text +=
        "\n" + std::to_string(buffer.gaps.size()) + (buffer.gaps.size() == 1 ? " gap" : " gaps");
  }
  return text;
}

// The id, as much of it as fits, where enough of it does; the size below it where both fit.
std::string Label(const Buffer& buffer, const Box& box) {
  const auto fit = [](const std::string& text, Pixels room, Pixels font) {
    std::string fitting = text;
    for (std::size_t most = 32; TextWidth(fitting, font) > room && most > 6; --most) {
      fitting = Truncate(text, most);
    }
    return TextWidth(fitting, font) <= room ? EscapeXml(fitting) : std::string();
  };
  const std::string id = Truncate(buffer.id, 32);
  const bool upright = box.height() > box.width() && box.width() < TextWidth(id, kSmallFont) + 40;
  const Pixels along = (upright ? box.height() : box.width()) - 60;
  const Pixels across = upright ? box.width() : box.height();
  if (across < 105) return {};
  const bool small = across < 140;
  const std::string shown = fit(id, along, small ? kSmallFont : kFont);
  if (shown.empty()) return {};
  const std::string size = FormatBytes(buffer.size);
  const bool two_lines = across >= 300 && TextWidth(size, kSmallFont) <= along;
  const Pixels baseline = two_lines ? -15 : (small ? 32 : 39);
  std::string svg = "<g transform=\"translate(" + At(box.center()) + ")" +
                    (upright ? " rotate(-90)" : "") + "\">";
  svg += "<text class=\"" + std::string(small ? "id s" : "id") + "\"" + Attribute("y", baseline) +
         ">" + shown + "</text>";
  if (two_lines) svg += "<text class=\"size\" y=\"11\">" + EscapeXml(size) + "</text>";
  return svg + "</g>\n";
}

constexpr Pixels kLargeEnough = 10;  // To point at.
constexpr Pixels kOutlined = 35;     // Less than this is all outline.

// Whether each outline is an element of its own: those large enough to point at, and of too many
// the largest.
std::vector<bool> ChooseElements(const std::vector<Outline>& outlines, const Panel& panel) {
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
  }
  std::vector<bool> chosen(outlines.size());
  for (const std::size_t i : large) chosen[i] = true;
  return chosen;
}

std::string ColorClass(std::size_t color) { return "c" + std::to_string(color); }

struct DrawnBuffers {
  std::string shapes;
  std::string labels;
};

// `base`: the address of offset 0; 0 if it is not known.
DrawnBuffers DrawBuffers(const Problem& problem, const std::vector<Bytes>& offsets,
                         const Panel& panel, Bytes base = 0) {
  const std::vector<DrawnPiece> pieces = DrawnPieces(problem, offsets);
  const std::vector<int> colors = ColorBuffers(problem, pieces, static_cast<int>(kColors.size()));
  const std::vector<Outline> outlines = Outlines(pieces, panel);
  const std::vector<bool> is_element = ChooseElements(outlines, panel);
  std::array<std::vector<std::string>, kColors.size()> small_paths;
  std::string thin;
  std::string outlined;
  std::string labels;
  for (std::size_t i = 0; i < outlines.size(); ++i) {
    const Outline& outline = outlines[i];
    const auto color = static_cast<std::size_t>(colors[outline.buffer]);
    if (!is_element[i]) {
      small_paths[color].push_back(outline.Path());
      continue;
    }
    const Buffer& buffer = problem.buffers[outline.buffer];
    const Box box = BoxOf(outline.widest, panel);
    (std::min(box.width(), box.height()) < kOutlined ? thin : outlined) += Close(
        Path(ColorClass(color), outline.Path()), Tooltip(buffer, offsets[outline.buffer], base));
    labels += Label(buffer, box);
  }
  std::string svg = "<g class=\"thin\">\n";
  for (std::size_t color = 0; color < kColors.size(); ++color) {
    std::vector<std::string>& paths = small_paths[color];
    if (paths.empty()) continue;
    std::sort(paths.begin(), paths.end());
    paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
    std::string all;
    for (const std::string& path : paths) all += path;
    svg += Close(Path(ColorClass(color), all));
  }
  svg += thin + "</g>\n<g class=\"outlined\">\n" + outlined + "</g>\n";
  return {svg, "<g class=\"labels\">\n" + labels + "</g>\n"};
}

// --- The live load ---------------------------------------------------------------------------

// The curve itself where it has fewer changes than there are columns of pixels; else the highest
// load in each column, so that no peak is lost.
std::vector<Point> CurvePoints(const Curve& curve, const Panel& panel) {
  const bool dense = curve.steps.size() > static_cast<std::size_t>(panel.width() / 10);
  std::vector<Point> points;
  for (std::size_t i = 0; i < curve.steps.size(); ++i) {
    if (i > 0 && curve.live[i] == curve.live[i - 1]) continue;
    const Point point{panel.X(curve.steps[i]), panel.Y(curve.live[i])};
    if (dense && !points.empty() && point.x / 10 == points.back().x / 10) {
      points.back().y = std::min(points.back().y, point.y);
    } else {
      points.push_back(point);
    }
  }
  return points;
}

std::string DrawLoad(const Curve& curve, const Panel& panel) {
  std::string path = "M" + At({panel.left, panel.bottom});
  Point from{panel.left, panel.bottom};
  for (const Point point : CurvePoints(curve, panel)) {
    if (point.x != from.x) path += "H" + Tenths(point.x);
    if (point.y != from.y) path += "V" + Tenths(point.y);
    from = point;
  }
  return Close(Path("load", path + "H" + Tenths(panel.right) + "V" + Tenths(panel.bottom)));
}

// The peak for as long as the load stays there, whatever buffers it is made of.
PeakFacts WholePeak(const Problem& problem, const Curve& curve) {
  PeakFacts peak = FactsOfPeak(problem, nullptr, curve);
  for (std::size_t i = 0; i + 1 < curve.steps.size(); ++i) {
    if (curve.steps[i] == peak.end && curve.live[i] == peak.load) peak.end = curve.steps[i + 1];
  }
  return peak;
}

Pixels PeakX(const PeakFacts& peak, const Panel& panel) {
  return (panel.X(peak.start) + panel.X(peak.end)) / 2;
}

std::string DrawPeak(const PeakFacts& peak, const Panel& panel) {
  const Pixels x = PeakX(peak, panel);
  const Pixels y = panel.Y(peak.load);
  const std::string text = "peak load " + FormatBytes(peak.load) + " at steps [" +
                           Grouped(peak.start) + ", " + Grouped(peak.end) + ")";
  const Pixels half = TextWidth(text) / 2 + 40;
  const Pixels center = std::max(std::min(x, panel.right - half), panel.left + half);
  return Line({x, panel.top}, {x, panel.bottom}, "peak") + Close(Circle("dot", {x, y}, 32)) +
         Text({center, panel.top - 70}, "note mid", text);
}

// --- All of it -------------------------------------------------------------------------------

constexpr std::string_view kNamesStyle =
    ".legend{font-size:11px;fill:#444}\n"
    ".tick{font-size:11px;fill:#555}\n"
    ".axis{font-size:11px;fill:#555}\n"
    ".note{font-size:11px;fill:#222}\n"
    ".name{font-size:11px;font-weight:600}\n"
    ".value{font-size:11px;fill:#444}\n";

constexpr std::string_view kShapesStyle =
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

// How good the plan is, in a line.
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
std::string DrawMarks(const Problem& problem, const std::vector<Bytes>& offsets,
                      const std::vector<SvgMark>& marks, const Panel& panel) {
  std::string in;
  std::string out;
  for (std::size_t b = 0; b < std::min(marks.size(), problem.buffers.size()); ++b) {
    const Buffer& buffer = problem.buffers[b];
    const Pixels low = panel.Y(offsets[b]);
    const Pixels high = panel.Y(offsets[b] + buffer.size);
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
  return (in.empty() ? "" : Close(Path("in", in))) + (out.empty() ? "" : Close(Path("out", out)));
}

// From right to left; entries that would reach `left` are left out.
std::string Legend(Pixels left, Pixels right, Pixels y, bool marks, bool load, bool reserved,
                   bool copies = false) {
  std::string svg;
  const auto entry = [&](std::string_view text, Pixels symbol, auto draw) {
    const Pixels from = right - TextWidth(text) - symbol - 50;
    if (from < left) return;
    svg += draw(from);
    svg += Text({from + symbol + 50, y + kBaseline}, "legend", text);
    right = from - 160;
  };
  const auto swatch = [&](Pixels x, Pixels width, std::string_view attributes) {
    return "<rect" + Attribute("x", x) + Attribute("y", y - 50) + Attribute("width", width) +
           " height=\"10\" " + std::string(attributes) + "/>\n";
  };
  const auto arrow = [&](std::string_view name) {
    return [&, name](Pixels x) {
      return Close(Path(name, "M" + At({x + 20, y - 50}) + "L" + At({x + 80, y}) + "L" +
                                  At({x + 20, y + 50}) + "Z"));
    };
  };
  if (marks) {
    entry("written out", 100, arrow("out"));
    entry("brought in", 100, arrow("in"));
  }
  if (copies) {
    entry("copy", 200, [&](Pixels x) {
      return swatch(x, 120, "class=\"copying\"") +
             Close(Path("copy", "M" + At({x, y}) + "h20m-7 -4l7 4l-7 4"));
    });
  }
  if (reserved) {
    entry("reserved", 120, [&](Pixels x) { return swatch(x, 120, "class=\"reserved\""); });
  }
  if (load) entry("live load", 120, [&](Pixels x) { return swatch(x, 120, "class=\"load\""); });
  entry("free", 120,
        [&](Pixels x) { return swatch(x, 120, "class=\"panel\" stroke=\"#9a9fa8\""); });
  entry("buffers, coloured only to tell neighbours apart", 480, [&](Pixels x) {
    std::string chips;
    for (Pixels i = 0; i < 4; ++i) {
      chips += swatch(x + i * 120, 110, "class=\"c" + std::to_string(i) + "\"");
    }
    return chips;
  });
  return svg;
}

// --- All of it -------------------------------------------------------------------------------

std::string Style(bool marks) {
  std::string css = std::string(kTextStyle) + "}\n";
  css.append(kTitleStyle).append(kNamesStyle).append(kAnchorStyle).append(kShapesStyle);
  if (marks) css += kMarkStyle;
  for (std::size_t i = 0; i < kColors.size(); ++i) {
    css += "." + ColorClass(i) + "{fill:" + std::string(kColors[i]) + "}\n";
  }
  return css;
}

// Where everything lies.
struct Layout {
  Pixels width;
  Pixels height;
  bool roomy;      // Room for a subtitle, a legend and the names of levels.
  bool has_strip;  // Room for the live load.
  Panel main;
  Panel strip;
};

Layout LayOut(const Problem& problem, const std::vector<Level>& levels, Bytes peak_load,
              const SvgOptions& options) {
  Layout layout{};
  layout.width = Pixels{std::max(options.width, 200)} * 10;
  layout.height = Pixels{std::max(options.height, 150)} * 10;
  layout.roomy = layout.width >= 5000;
  layout.has_strip = layout.height >= 3000;
  Step first = 0;
  Step last = 1;
  for (std::size_t b = 0; b < problem.buffers.size(); ++b) {
    const Buffer& buffer = problem.buffers[b];
    first = b == 0 ? buffer.start : std::min(first, buffer.start);
    last = b == 0 ? buffer.end : std::max(last, buffer.end);
  }
  Bytes most = 1;
  for (const Level& level : levels) most = level.above ? most : std::max(most, level.bytes);
  most += most / 50;  // Air above the highest line.
  const Pixels left = 800;
  const Pixels right = layout.width - (layout.roomy ? 1180 : 150);
  const Pixels top = layout.roomy ? 720 : 300;
  const Pixels bottom = layout.height - 470;
  const Pixels strip_top = bottom - std::clamp<Pixels>(layout.height / 7, 500, 1200);
  const Pixels main_bottom = layout.has_strip ? strip_top - 330 : bottom;
  const Bytes strip_most = std::max<Bytes>(peak_load + peak_load / 8, 1);
  layout.main = {{left, top, right, main_bottom}, first, last, most};
  layout.strip = {{left, strip_top, right, bottom}, first, last, strip_most};
  return layout;
}

// From the highest to the lowest. A capacity far above the plan would press it flat: it is then
// named, but not drawn.
std::vector<Level> LevelsOf(const Problem& problem, Bytes height, Bytes lower_bound) {
  std::vector<Level> levels;
  if (problem.capacity) {
    const bool above = *problem.capacity / 2 > std::max<Bytes>({height, lower_bound, 1});
    levels.push_back({"capacity", "capacity", *problem.capacity, true, above});
  }
  levels.push_back({"height", "height", height, false});
  levels.push_back({"lower bound", "bound", lower_bound, true});
  std::stable_sort(levels.begin(), levels.end(),
                   [](const Level& a, const Level& b) { return a.bytes > b.bytes; });
  return levels;
}

std::string DrawStrip(const Curve& curve, const PeakFacts& peak, const Panel& strip) {
  return Close(Rectangle("panel", strip)) + ByteAxis(strip, "live load", 300) +
         DrawLoad(curve, strip) + Close(Rectangle("frame", strip)) +
         (peak.load > 0 ? DrawPeak(peak, strip) : "");
}

// --- Several memories ------------------------------------------------------------------------

constexpr std::string_view kLaneStyle =
    ".lane{font-size:12px;font-weight:600;fill:#222}\n"
    ".reserved{fill:#9a9fa8;fill-opacity:.6;stroke:#9a9fa8;stroke-width:1}\n";

// The buffers of a memory and their offsets.
struct Lane {
  Problem problem;
  std::vector<Bytes> offsets;
  std::vector<SvgMark> marks;  // One for each buffer, or none at all.
};

// `marks` are of the residencies, if there are any.
std::vector<Lane> LanesOf(const MemoryProblem& problem, const MemoryPlan& plan,
                          const std::vector<SvgMark>& marks) {
  std::vector<Lane> lanes(problem.memories.size());
  for (std::size_t i = 0; i < plan.residencies.size(); ++i) {
    const Residency& residency = plan.residencies[i];
    Lane& lane = lanes[static_cast<std::size_t>(residency.memory)];
    lane.problem.buffers.push_back(problem.table.buffers[residency.tensor]);
    lane.offsets.push_back(residency.offset);
    if (i < marks.size()) lane.marks.push_back(marks[i]);
  }
  return lanes;
}

std::string DrawReserved(const std::vector<Reserved>& ranges, const Panel& panel) {
  std::string svg;
  for (const Reserved& range : ranges) {
    const Step start = std::max(range.start, panel.first);
    const Step end = std::min(range.end, panel.last);
    if (start >= end || range.lower >= panel.most) continue;
    const Box box{panel.X(start), panel.Y(std::min(range.upper, panel.most)), panel.X(end),
                  panel.Y(range.lower)};
    svg += Close(Rectangle("reserved", box),
                 "reserved\nbytes [" + Grouped(range.lower) + ", " + Grouped(range.upper) + ")");
  }
  return svg;
}

// "tcm: 62 KiB of 64 KiB, 120 buffers".
std::string LaneTitle(const Memory& memory, const Lane& lane, Bytes height) {
  const auto count = static_cast<std::int64_t>(lane.offsets.size());
  return Truncate(memory.name, 40) + ": " + FormatBytes(height) +
         (memory.capacity ? " of " + FormatBytes(*memory.capacity) : "") + ", " + Grouped(count) +
         (count == 1 ? " buffer" : " buffers");
}

// Whether a lane does not reach up to the capacity, as the plan would be flat.
bool CapacityIsAbove(const Memory& memory, Bytes height) {
  return memory.capacity && height > 0 && *memory.capacity / 4 > height;
}

// The panel of a memory, with the bytes that it reaches up to.
Panel Scaled(Panel panel, const Memory& memory, Bytes height) {
  Bytes most = std::max<Bytes>(height, 1);
  if (memory.capacity && !CapacityIsAbove(memory, height)) most = std::max(most, *memory.capacity);
  panel.most = most + most / 50;
  return panel;
}

std::string DrawLane(const Memory& memory, const Lane& lane, Bytes height, bool roomy,
                     const Panel& panel) {
  std::vector<Level> levels;
  if (memory.capacity) {
    levels.push_back(
        {"capacity", "capacity", *memory.capacity, true, CapacityIsAbove(memory, height)});
  }
  levels.push_back({"height", "height", height, false});
  std::string svg = Text({panel.left, panel.top - 90}, "lane", LaneTitle(memory, lane, height));
  svg += Close(Rectangle("panel", panel)) + ByteAxis(panel, "offset", 300);
  const DrawnBuffers buffers = DrawBuffers(lane.problem, lane.offsets, panel, memory.base);
  svg += DrawReserved(memory.reserved, panel) + buffers.shapes +
         DrawMarks(lane.problem, lane.offsets, lane.marks, panel) +
         Close(Rectangle("frame", panel)) + LevelLines(levels, panel) + buffers.labels;
  return roomy ? svg + LevelLabels(levels, panel) : svg;
}

constexpr std::string_view kCopyStyle =
    ".copying{fill:#111;fill-opacity:.28}\n"
    ".copy{fill:#111;stroke:#111;stroke-width:1.3;stroke-linejoin:round}\n"
    ".copy:hover{fill:#bb3344;stroke:#bb3344}\n";

// A line from one point to another, with a dot at its beginning and a head at its end.
std::string Arrow(Point from, Point to) {
  constexpr Pixels kHead = 70;
  constexpr Pixels kDot = 22;
  const Pixels dx = to.x - from.x;
  const Pixels dy = to.y - from.y;
  // The square root, in whole numbers: the same on every machine.
  Pixels length = 1;
  for (Pixels bit = Pixels{1} << 24; bit > 0; bit /= 2) {
    const Pixels more = length + bit;
    if (more * more <= dx * dx + dy * dy) length = more;
  }
  const auto at = [&](Pixels back, Pixels aside) {
    return Point{to.x - (back * dx + aside * dy) / length,
                 to.y - (back * dy - aside * dx) / length};
  };
  const Pixels head = std::min(kHead, length);
  return "M" + At({from.x - kDot, from.y - kDot}) + "h" + Tenths(2 * kDot) + "v" +
         Tenths(2 * kDot) + "h" + Tenths(-2 * kDot) + "zM" + At(from) + "L" + At(to) + "M" +
         At(to) + "L" + At(at(head, head * 2 / 5)) + "L" + At(at(head, -head * 2 / 5)) + "z";
}

// The steps in which copies can be under way, at both of their ends, and an arrow from each source to its
// target.
std::string DrawCopies(const MemoryProblem& problem, const MemoryPlan& plan,
                       const std::vector<Panel>& panels, const std::vector<SvgCopy>& copies) {
  constexpr std::size_t kMostElements = 2000;
  std::string bands;
  std::string arrows;
  std::string many;
  for (const SvgCopy& copy : copies) {
    const Residency& source = plan.residencies[copy.from];
    const Residency& target = plan.residencies[copy.to];
    const auto middle = [&](const Residency& r, Step step) {
      const Panel& panel = panels[static_cast<std::size_t>(r.memory)];
      const Bytes size = problem.table.buffers[r.tensor].size;
      return Point{panel.X(step), (panel.Y(r.offset) + panel.Y(r.offset + size)) / 2};
    };
    for (const Residency* const r : {&source, &target}) {
      const Panel& panel = panels[static_cast<std::size_t>(r->memory)];
      const Bytes size = problem.table.buffers[r->tensor].size;
      const Box box{panel.X(target.start), panel.Y(r->offset + size), panel.X(source.end),
                    panel.Y(r->offset)};
      if (target.start < source.end) bands += Close(Rectangle("copying", box));
    }
    const std::string path = Arrow(middle(source, target.start), middle(target, source.end));
    if (copies.size() > kMostElements) {
      many += path;
    } else {
      arrows += Close(Path("copy", path), EscapeXml(copy.note));
    }
  }
  if (!many.empty()) arrows += Close(Path("copy", many));
  return bands + arrows;
}

}  // namespace
}  // namespace internal::report

std::vector<SvgMark> MarksOf(const MemoryPlan& plan) {
  std::vector<SvgMark> marks;
  marks.reserve(plan.residencies.size());
  for (const Residency& r : plan.residencies) marks.push_back({r.comes_in, r.written_out});
  return marks;
}

std::string WriteSvg(const Problem& problem, const Placement& placement, Bytes lower_bound,
                     const SvgOptions& options) {
  using namespace internal::report;
  const Curve curve = CurveOf(problem);
  const PeakFacts peak = WholePeak(problem, curve);
  const std::vector<Level> levels = LevelsOf(problem, placement.height, lower_bound);
  const Layout layout = LayOut(problem, levels, peak.load, options);
  const Panel& main = layout.main;
  const std::string title = options.title.empty() ? "Memory plan" : options.title;
  const std::string subtitle = Subtitle(problem, placement.height, lower_bound);
  const bool marks = !options.marks.empty();

  std::string svg =
      OpenSvg(layout.width, layout.height,
              "aria-label=\"" + EscapeXml(title) + ": " + subtitle + "\"", "", Style(marks));
  svg += Title(layout.roomy ? 310 : 210, title, layout.width);
  if (layout.roomy) {
    svg += Text({kMargin, 520}, "subtitle", subtitle);
    const Pixels subtitle_end = kMargin + TextWidth(subtitle, 120);
    svg += Legend(subtitle_end + 200, layout.width - kMargin, 480, marks,
                  /*load=*/true, /*reserved=*/false);
  }
  svg += Close(Rectangle("panel", main)) + ByteAxis(main, "offset", 420);
  const DrawnBuffers buffers = DrawBuffers(problem, placement.offsets, main);
  svg += buffers.shapes + DrawMarks(problem, placement.offsets, options.marks, main);
  svg += Close(Rectangle("frame", main));
  if (layout.has_strip && peak.load > 0) {
    const Pixels x = PeakX(peak, main);
    svg += Line({x, main.top}, {x, main.bottom}, "peak");
  }
  svg += LevelLines(levels, main) + buffers.labels;
  if (layout.roomy) svg += LevelLabels(levels, main);
  if (layout.has_strip) svg += DrawStrip(curve, peak, layout.strip);
  svg += StepAxis(main, layout.has_strip ? layout.strip : main);
  return svg + "</svg>\n";
}

std::string WriteSvg(const MemoryProblem& problem, const MemoryPlan& plan,
                     const SvgOptions& options) {
  using namespace internal::report;
  constexpr Pixels kLeastLane = 1400;
  constexpr Pixels kBetween = 480;
  const std::vector<Lane> lanes = LanesOf(problem, plan, options.marks);
  const auto count = static_cast<Pixels>(lanes.size());
  const Pixels width = Pixels{std::max(options.width, 200)} * 10;
  const bool roomy = width >= 5000;
  const Pixels top = roomy ? 1000 : 580;
  const Pixels below = 470;
  const Pixels wanted = Pixels{std::max(options.height, 150)} * 10;
  const Pixels lane_height =
      std::max(kLeastLane, (wanted - top - below - (count - 1) * kBetween) / count);
  const Pixels height = top + count * lane_height + (count - 1) * kBetween + below;

  Step first = 0;
  Step last = 1;
  for (std::size_t b = 0; b < problem.table.buffers.size(); ++b) {
    const Buffer& buffer = problem.table.buffers[b];
    first = b == 0 ? buffer.start : std::min(first, buffer.start);
    last = b == 0 ? buffer.end : std::max(last, buffer.end);
  }
  const std::string title = options.title.empty() ? "Memory plan" : options.title;
  const std::size_t all = problem.table.buffers.size();
  const std::size_t placed = plan.residencies.size();
  const std::string subtitle =
      Grouped(static_cast<std::int64_t>(placed)) +
      (placed < all ? " of " + Grouped(static_cast<std::int64_t>(all)) : "") +
      (all == 1 ? " buffer in " : " buffers in ") + Grouped(count) +
      (count == 1 ? " memory" : " memories");
  const bool reserved = std::any_of(problem.memories.begin(), problem.memories.end(),
                                    [](const Memory& memory) { return !memory.reserved.empty(); });
  const bool marks = !options.marks.empty();
  const bool copies = !options.copies.empty();

  std::string svg =
      OpenSvg(width, height, "aria-label=\"" + EscapeXml(title) + ": " + subtitle + "\"", "",
              Style(marks) + std::string(kLaneStyle) + std::string(copies ? kCopyStyle : ""));
  svg += Title(roomy ? 310 : 210, title, width);
  if (roomy) {
    svg += Text({kMargin, 520}, "subtitle", subtitle);
    svg += Legend(kMargin + TextWidth(subtitle, 120) + 200, width - kMargin, 480, marks,
                  /*load=*/false, reserved, copies);
  }
  Panel panel{{800, top, width - (roomy ? 1180 : 150), top + lane_height}, first, last, 1};
  std::vector<Panel> panels;
  for (std::size_t m = 0; m < lanes.size(); ++m) {
    const Bytes use = m < plan.memories.size() ? plan.memories[m].height : 0;
    panels.push_back(Scaled(panel, problem.memories[m], use));
    svg += DrawLane(problem.memories[m], lanes[m], use, roomy, panels.back());
    panel.top += lane_height + kBetween;
    panel.bottom += lane_height + kBetween;
  }
  svg += DrawCopies(problem, plan, panels, options.copies);
  return svg + StepAxis(panels.back(), panels.back()) + "</svg>\n";
}

std::string WriteSvg(const Graph& graph, const Counting& counting, const GraphMemories& memories,
                     const MemoryPlan& plan, const SvgOptions& options) {
  const TensorTable table = TableOf(graph, counting, memories, plan);
  SvgOptions with_copies = options;
  with_copies.copies.clear();
  const std::optional<TimedRun> run =
      memories.prefetch ? std::optional(RunOf(graph, memories, plan)) : std::nullopt;
  const std::vector<MemoryCopy> copies = CopiesOf(graph, memories, plan);
  for (std::size_t c = 0; c < copies.size(); ++c) {
    const MemoryCopy& copy = copies[c];
    const auto to = std::lower_bound(
        plan.residencies.begin(), plan.residencies.end(), std::pair(copy.tensor, copy.start),
        [](const Residency& r, const std::pair<TensorIndex, Step>& begins) {
          return std::pair<TensorIndex, Step>(r.tensor, r.start) < begins;
        });
    const auto i = static_cast<std::size_t>(to - plan.residencies.begin());
    std::string note = "copy of " +
                       internal::report::Truncate(graph.tensors[copy.tensor].name, 120) + " from " +
                       memories.memories[copy.from].name + " to " +
                       memories.memories[copy.to].name + ", " + FormatBytes(copy.bytes);
    if (run) {
      note += ", at " + internal::Grouped(run->transfers[c].begin) + " to " +
              internal::Grouped(run->transfers[c].end) + " ns";
    }
    with_copies.copies.push_back({i - 1, i, std::move(note)});
  }
  return WriteSvg(table.problem, PlanOf(table, plan), with_copies);
}

}  // namespace berth
