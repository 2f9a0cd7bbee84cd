// Measurements as a picture: series of points over two axes.
//
//   title
//   subtitle
//   |            o--o            o-- first series
//   |      o--o        x--x      x-- second series
//   |  x--x
//   +----------------------
//            label
//   note
//
// Each series has its own colour, dash pattern and marker, so that it can be told from its
// neighbours in grey, by colour-blind readers and where lines overlap. The legend has a column of
// its own to the right, and never covers data. Colours: M. Okabe and K. Ito, "Color Universal
// Design" (2008), its yellow replaced by grey and its orange darkened, since both are too faint for
// thin lines on white.
//
// Values are floating-point numbers, as measurements are. One rounding turns them into tenths of a
// pixel; from there on everything is an integer.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/bytes.h"
#include "berth/report.h"
#include "report/svg_writer.h"
#include "report/text.h"

namespace berth {
namespace internal::report {
namespace {

using Style = ChartSeries::Style;

struct Look {
  std::string_view color;
  std::string_view dashes;  // None: solid.
};
constexpr std::array<Look, 8> kLooks = {{{"#0072b2", ""},
                                         {"#d55e00", "7 3"},
                                         {"#009e73", "2 2.5"},
                                         {"#b3478c", "9 3 2 3"},
                                         {"#222222", ""},
                                         {"#c08a00", "5 2 1.5 2 1.5 2"},
                                         {"#3f9fd8", "12 4"},
                                         {"#7a7f87", "3 2"}}};
constexpr std::size_t kNumMarkers = 7;

// --- Numbers as text -------------------------------------------------------------------------

// At most `digits` significant digits, no zeros at the end; thousands grouped.
std::string Short(double value, int digits) {
  if (std::fabs(value) >= 1e15) {
    char text[32];
    std::snprintf(text, sizeof text, "%.*g", digits, value);
    return text;
  }
  const bool whole = std::fabs(value) >= 1000 && value == std::floor(value);
  if (whole || std::fabs(value) >= std::pow(10.0, digits - 1)) return Grouped(std::llround(value));
  char text[32];
  std::snprintf(text, sizeof text, "%.*g", digits, value);
  const std::string_view shown = text;
  if (shown.find('e') == std::string_view::npos) return text;
  std::snprintf(text, sizeof text, "%.12f", value);  // Small: 0.00002.
  std::string fixed = text;
  while (fixed.back() == '0') fixed.pop_back();
  if (fixed.back() == '.') fixed.pop_back();
  return fixed;
}

std::string Label(double value, ChartUnit unit, int digits = 6) {
  switch (unit) {
    case ChartUnit::kNone:
      return Short(value, digits);
    case ChartUnit::kSeconds:
      if (value == 0) return "0";
      if (std::fabs(value) < 0.99999e-6) return Short(value * 1e9, digits) + " ns";
      if (std::fabs(value) < 0.99999e-3) return Short(value * 1e6, digits) + " \u00b5s";
      if (std::fabs(value) < 0.99999) return Short(value * 1e3, digits) + " ms";
      return Short(value, digits) + " s";
    case ChartUnit::kBytes:
      if (value < 0 || value > static_cast<double>(kMaxBytes)) return Short(value, digits) + " B";
      return FormatBytes(std::llround(value));
    case ChartUnit::kPercent:
      return Short(value * 100, digits) + " %";
    case ChartUnit::kTimes:
      return Short(value, digits) + "\u00d7";
  }
  return {};
}

// --- Axes ------------------------------------------------------------------------------------

struct Tick {
  double value;
  std::string label;  // Empty: a line alone.
};

// One axis: from values to tenths of a pixel.
class Scale {
 public:
  // `from` is where the least value lies, `to` the greatest; the categories of a vertical axis go
  // the other way.
  Scale(const ChartAxis& axis, std::vector<double> values, bool bars, Pixels from, Pixels to)
      : axis_(&axis), from_(from), to_(to) {
    if (is_categories()) {
      low_ = -0.5;
      high_ = static_cast<double>(axis.categories.size()) - 0.5;
      return;
    }
    if (axis.first) values.push_back(*axis.first);
    if (axis.last) values.push_back(*axis.last);
    if (bars && !axis.logarithmic) values.push_back(0);
    std::erase_if(values, [&](double value) {
      return !std::isfinite(value) || (axis.logarithmic && value <= 0);
    });
    if (values.empty()) values = {1, 10};
    const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
    low_ = *least;
    high_ = *greatest;
    if (axis.logarithmic) {
      SpanDecades(bars);
    } else {
      SpanTicks();
    }
  }

  [[nodiscard]] bool is_categories() const { return !axis_->categories.empty(); }
  [[nodiscard]] Pixels From() const { return from_; }
  [[nodiscard]] Pixels To() const { return to_; }

  [[nodiscard]] Pixels operator()(double value) const {
    double share = 0;
    if (axis_->logarithmic && !is_categories()) {
      const double clamped = std::max(value, low_);
      share = (std::log10(clamped) - std::log10(low_)) / (std::log10(high_) - std::log10(low_));
    } else {
      share = (value - low_) / (high_ - low_);
    }
    return from_ + std::llround(share * static_cast<double>(to_ - from_));
  }

  // The width of one category.
  [[nodiscard]] Pixels Slot() const {
    return std::abs(to_ - from_) /
           static_cast<Pixels>(std::max<std::size_t>(axis_->categories.size(), 1));
  }

  // Where bars begin.
  [[nodiscard]] Pixels Base() const { return axis_->logarithmic ? from_ : (*this)(0); }

  // Labelled ticks, and between them those that are only lines.
  [[nodiscard]] std::vector<Tick> Ticks() const {
    std::vector<Tick> ticks;
    if (is_categories()) return ticks;
    if (axis_->logarithmic) return LogarithmicTicks();
    for (double index = std::ceil(low_ / step_ - 1e-9); index * step_ <= high_ + step_ * 1e-9;
         ++index) {
      const double value = index * step_ + 0.0;  // Never -0.
      ticks.push_back({value, Label(value, axis_->unit)});
    }
    return ticks;
  }

 private:
  // From a whole decade; for bars from the one below, so that the least value has a bar, too.
  void SpanDecades(bool bars) {
    low_ = std::pow(10.0, std::floor(std::log10(low_) + 1e-9));
    if (bars && !axis_->first) low_ /= 10;
    const double decade = std::floor(std::log10(high_) - 1e-9);
    // Up to 1, 2 or 5 times a power of ten, whichever is the first above.
    for (const double times : {1.0, 2.0, 5.0, 10.0}) {
      const double end = times * std::pow(10.0, decade);
      if (end >= high_ * (1 - 1e-9)) {
        high_ = end;
        break;
      }
    }
    if (high_ <= low_ * 1.0001) high_ = low_ * 10;
  }

  void SpanTicks() {
    if (high_ - low_ < 1e-12 * std::max(std::fabs(high_), 1e-300)) {
      low_ = std::min(low_, 0.0);
      high_ = high_ > low_ ? high_ : low_ + 1;
    }
    // An axis that is nearly at 0 begins there.
    if (low_ > 0 && low_ < high_ / 4 && !axis_->first) low_ = 0;
    const double most = static_cast<double>(std::abs(to_ - from_)) / 450;
    step_ = NiceStep((high_ - low_) / std::max(most, 2.0));
    if (!axis_->first || low_ < *axis_->first) low_ = std::floor(low_ / step_ + 1e-9) * step_;
    if (!axis_->last || high_ > *axis_->last) high_ = std::ceil(high_ / step_ - 1e-9) * step_;
    if (high_ <= low_) high_ = low_ + step_;
  }

  // 1, 2 or 5 times a power of ten, or a power of two for bytes: the least that is not below.
  [[nodiscard]] double NiceStep(double least) const {
    if (axis_->unit == ChartUnit::kBytes) {
      double step = 1;
      while (step < least) step *= 2;
      return step;
    }
    const double power = std::pow(10.0, std::floor(std::log10(least)));
    for (const double times : {1.0, 2.0, 5.0}) {
      if (times * power >= least * (1 - 1e-9)) return times * power;
    }
    return 10 * power;
  }

  [[nodiscard]] std::vector<Tick> LogarithmicTicks() const {
    std::vector<Tick> ticks;
    const double decades = std::log10(high_) - std::log10(low_);
    const double room = static_cast<double>(std::abs(to_ - from_)) / std::max(decades, 0.1);
    const bool between = room > 2200;  // Pixels for labels at 2 and 5, too.
    const int every = std::max(static_cast<int>(std::ceil(320 / room)), 1);
    const auto first = static_cast<int>(std::floor(std::log10(low_) + 1e-9));
    for (int exponent = first; std::pow(10.0, exponent) <= high_ * (1 + 1e-9); ++exponent) {
      const double power = std::pow(10.0, exponent);
      for (int times = 1; times < 10; ++times) {
        const double value = times * power;
        if (value < low_ * (1 - 1e-9) || value > high_ * (1 + 1e-9)) continue;
        const bool labelled =
            times == 1 ? (exponent - first) % every == 0 : between && (times == 2 || times == 5);
        if (labelled || (times == 1 && decades <= 30) || decades <= 6) {
          ticks.push_back({value, labelled ? Label(value, axis_->unit) : std::string()});
        }
      }
    }
    return ticks;
  }

  const ChartAxis* axis_;
  Pixels from_;
  Pixels to_;
  double low_ = 0;
  double high_ = 1;
  double step_ = 1;
};

// --- Series ----------------------------------------------------------------------------------

std::size_t LookOf(const ChartSeries& series, std::size_t index) {
  return series.look ? static_cast<std::size_t>(std::max(*series.look, 0)) : index;
}

std::string Marker(std::size_t shape, Point at, bool open) {
  const std::string_view classes = open ? "open" : "full";
  const auto path = [&](std::initializer_list<Point> corners) {
    std::string d;
    for (const Point corner : corners) {
      d += (d.empty() ? "M" : "L") + At({at.x + corner.x, at.y + corner.y});
    }
    return Path(classes, d + "z");
  };
  switch (shape % kNumMarkers) {
    case 0:
      return Circle(classes, at, 36);
    case 1:
      return path({{-32, -32}, {32, -32}, {32, 32}, {-32, 32}});
    case 2:
      return path({{0, -42}, {40, 30}, {-40, 30}});
    case 3:
      return path({{0, -44}, {44, 0}, {0, 44}, {-44, 0}});
    case 4:
      return path({{0, 42}, {40, -30}, {-40, -30}});
    case 5:
      return path({{-40, -14},
                   {-14, -14},
                   {-14, -40},
                   {14, -40},
                   {14, -14},
                   {40, -14},
                   {40, 14},
                   {14, 14},
                   {14, 40},
                   {-14, 40},
                   {-14, 14},
                   {-40, 14}});
    default:
      return path(
          {{-45, 0}, {-14, -22}, {0, -45}, {14, -22}, {45, 0}, {14, 22}, {0, 45}, {-14, 22}});
  }
}

std::string Tooltip(const std::string& note) { return EscapeXml(Truncate(note, 200)); }

bool IsFinite(const ChartPoint& point) { return std::isfinite(point.x) && std::isfinite(point.y); }

std::vector<ChartPoint> FinitePoints(const ChartSeries& series) {
  std::vector<ChartPoint> points;
  std::copy_if(series.points.begin(), series.points.end(), std::back_inserter(points), IsFinite);
  return points;
}

struct Plot {
  const Chart& chart;
  Scale x;
  Scale y;
  std::size_t num_bars = 0;  // Series of bars.

  [[nodiscard]] bool horizontal_bars() const { return y.is_categories(); }
};

// Lines and steps, with a marker at each point, or at some of them where they are dense.
std::string DrawLine(const Plot& plot, std::size_t index) {
  const ChartSeries& series = plot.chart.series[index];
  const std::size_t look = LookOf(series, index);
  const std::vector<ChartPoint> points = FinitePoints(series);
  if (points.empty()) return {};
  std::string d;
  std::string markers;
  Point last{0, 0};
  std::optional<Point> marked;
  for (const ChartPoint& point : points) {
    const Point at{plot.x(point.x), plot.y(point.y)};
    if (d.empty()) {
      d = "M" + At(at);
    } else if (series.style == Style::kSteps) {
      if (at.x != last.x) d += "H" + Tenths(at.x);
      if (at.y != last.y) d += "V" + Tenths(at.y);
    } else {
      d += "L" + At(at);
    }
    const Pixels least_apart = points.size() > 30 ? 600 : series.style == Style::kSteps ? 160 : 0;
    const bool apart =
        !marked || std::abs(at.x - marked->x) + std::abs(at.y - marked->y) >= least_apart;
    if (apart) {
      markers += Close(Marker(look, at, point.open), Tooltip(point.note));
      marked = at;
    }
    last = at;
  }
  if (series.style == Style::kSteps && last.x < plot.x.To()) d += "H" + Tenths(plot.x.To());
  return Close(Path("line", d)) + markers;
}

// The spread of a point that has one that can be seen.
std::optional<std::pair<double, double>> SpreadOf(const ChartSeries& series,
                                                  const ChartPoint& point) {
  if (series.style != ChartSeries::Style::kPoints || !point.spread) return std::nullopt;
  const auto [least, most] = *point.spread;
  if (!std::isfinite(least) || !std::isfinite(most) || least == most) return std::nullopt;
  return point.spread;
}

std::string DrawPoints(const Plot& plot, std::size_t index) {
  std::string svg;
  const ChartSeries& series = plot.chart.series[index];
  for (const ChartPoint& point : FinitePoints(series)) {
    const auto spread = SpreadOf(series, point);
    if (!spread) continue;
    const Pixels y = plot.y(point.y);
    std::string d = "M" + At({plot.x(spread->first), y}) + "H" + Tenths(plot.x(spread->second));
    for (const double end : {spread->first, spread->second}) {
      d += "M" + At({plot.x(end), y - 25}) + "V" + Tenths(y + 25);
    }
    svg += Path("spread", d) + "/>";
  }
  for (const ChartPoint& point : FinitePoints(series)) {
    const Point at{plot.x(point.x), plot.y(point.y)};
    svg += Close(Marker(LookOf(series, index), at, point.open), Tooltip(point.note));
  }
  return svg;
}

// A bar from `from` to `to`, both along the axis of values. Its label stands beyond its end, or
// inside where there is no room.
struct Bar {
  Pixels from;
  Pixels to;
  Pixels middle;   // Along the axis of categories.
  Pixels breadth;  // Along the same axis.
  bool open;
  std::string note;   // Shown when pointed at.
  std::string label;  // Empty: none.
};

std::string DrawBar(const Plot& plot, const Bar& bar) {
  const bool horizontal = plot.horizontal_bars();
  const Pixels low = std::min(bar.from, bar.to);
  const Pixels length = std::abs(bar.to - bar.from);
  const Pixels side = bar.middle - bar.breadth / 2;
  const Box box = horizontal ? Box{low, side, low + length, side + bar.breadth}
                             : Box{side, low, side + bar.breadth, low + length};
  std::string svg = Close(Rectangle(bar.open ? "open" : "full", box), Tooltip(bar.note));
  if (bar.label.empty()) return svg;
  if (!horizontal) return svg + Text({bar.middle, bar.to - 50}, "value mid", bar.label);
  const Pixels width = TextWidth(bar.label);
  const bool inside = bar.to + 50 + width > plot.x.To() && length > width + 100;
  const Point at{inside ? bar.to - 50 : bar.to + 50, bar.middle + kBaseline};
  return svg + Text(at, inside && !bar.open ? "inside end" : inside ? "end" : "value", bar.label);
}

// All bars: those of a category side by side, or stacked.
std::vector<std::string> DrawBars(const Plot& plot) {
  const Chart& chart = plot.chart;
  const bool horizontal = plot.horizontal_bars();
  const Scale& categories = horizontal ? plot.y : plot.x;
  const Scale& values = horizontal ? plot.x : plot.y;
  const ChartUnit unit = horizontal ? chart.x.unit : chart.y.unit;
  const Pixels room = categories.Slot() * (chart.stacked ? 6 : 8) / 10;
  const Pixels abreast =
      chart.stacked ? 1 : static_cast<Pixels>(std::max<std::size_t>(plot.num_bars, 1));
  const Pixels thickness = std::max<Pixels>(room / abreast, 10);
  const bool labelled = thickness >= (horizontal ? 100 : 300);
  std::vector<std::string> drawn(chart.series.size());
  std::map<double, double> totals;        // Of what is stacked so far, for each category.
  std::map<double, std::size_t> topmost;  // The series that ends a stack.
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    if (chart.series[i].style != Style::kBars) continue;
    for (const ChartPoint& point : FinitePoints(chart.series[i])) {
      const double category = horizontal ? point.y : point.x;
      const bool seen = topmost.count(category) > 0;
      if (!seen || (horizontal ? point.x : point.y) != 0) topmost[category] = i;
    }
  }
  Pixels position = 0;
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    if (chart.series[i].style != Style::kBars) continue;
    for (const ChartPoint& point : FinitePoints(chart.series[i])) {
      const double category = horizontal ? point.y : point.x;
      const double value = horizontal ? point.x : point.y;
      const std::string own = point.note.empty() ? Label(value, unit, 3) : point.note;
      Bar bar{values.Base(),
              values(value),
              categories(category) - room / 2 + position * thickness + thickness / 2,
              thickness - (thickness >= 80 && !chart.stacked ? 10 : 0),
              point.open,
              own,
              own};
      if (chart.stacked) {
        double& total = totals[category];
        if (total != 0) bar.from = values(total);
        total += value;
        bar.to = values(total);
        bar.label = topmost[category] == i ? Label(total, unit, 3) : std::string();
      }
      if (!labelled) bar.label.clear();
      drawn[i] += DrawBar(plot, bar);
    }
    position += chart.stacked ? 0 : 1;
  }
  return drawn;
}

// --- All of it -------------------------------------------------------------------------------

constexpr std::string_view kNamesStyle =
    ".note{fill:#555}\n"
    ".axis{fill:#333;font-weight:600}\n"
    ".value{paint-order:stroke;stroke:#fff;stroke-width:3px}\n"
    ".inside{fill:#fff;font-weight:600}\n";

constexpr std::string_view kShapesStyle =
    ".frame{fill:none;stroke:#9a9fa8;stroke-width:1}\n"
    ".grid{fill:none;stroke:#d4d8de;stroke-width:1}\n"
    ".grid.minor{stroke:#eef0f3}\n"
    ".stripe{fill:#f5f6f8}\n"
    ".line{fill:none;stroke-width:1.8;stroke-linejoin:round}\n"
    ".full{stroke:#fff;stroke-width:.7}\n"
    ".open{fill:#fff;stroke-width:1.4}\n"
    "rect.full{stroke:none}\n";

std::string StyleOf(const std::vector<ChartSeries>& series) {
  std::string css = std::string(kTextStyle) + ";font-size:11px}\n";
  css.append(kTitleStyle).append(kNamesStyle).append(kAnchorStyle).append(kShapesStyle);
  for (std::size_t i = 0; i < series.size(); ++i) {
    const Look& look = kLooks[LookOf(series[i], i) % kLooks.size()];
    const std::string name = ".s" + std::to_string(i);
    css += name + " .line{stroke:" + std::string(look.color) +
           (look.dashes.empty() ? "" : ";stroke-dasharray:" + std::string(look.dashes)) + "}\n" +
           name + " .full{fill:" + std::string(look.color) + "}\n" + name +
           " .open{stroke:" + std::string(look.color) + "}\n";
    const bool spreads = std::any_of(
        series[i].points.begin(), series[i].points.end(),
        [&](const ChartPoint& point) { return SpreadOf(series[i], point).has_value(); });
    if (spreads) css += name + " .spread{fill:none;stroke:" + std::string(look.color) + "}\n";
  }
  return css + ".hollow .open{stroke:#555}\n";
}

// The sample of a series in the legend, 26 pixels wide.
std::string Sample(const ChartSeries& series, std::size_t index, Point at) {
  std::string svg = "<g class=\"s" + std::to_string(index) + "\">";
  if (series.style == Style::kBars) {
    svg += Rectangle("full", {at.x + 60, at.y - 50, at.x + 200, at.y + 50}) + "/>";
  } else {
    if (series.style != Style::kPoints) {
      svg += Path("line", "M" + At(at) + "h26") + "/>";
    }
    svg += Marker(LookOf(series, index), {at.x + 130, at.y}, false) + "/>";
  }
  return svg + "</g>\n";
}

// A column of names; its left edge is given.
std::string Legend(const Chart& chart, Pixels left, Pixels top) {
  constexpr Pixels kSpacing = 190;
  std::string svg;
  Pixels y = top;
  for (std::size_t i = 0; i < chart.series.size(); ++i, y += kSpacing) {
    svg += Sample(chart.series[i], i, {left, y});
    svg += Text({left + 330, y + kBaseline}, "name", Truncate(chart.series[i].name, 40));
  }
  if (chart.open_means.empty()) return svg;
  y += 60;
  svg += "<g class=\"hollow\">" + Marker(0, {left + 130, y}, true) + "/></g>\n";
  return svg + Text({left + 330, y + kBaseline}, "name", Truncate(chart.open_means, 40));
}

Pixels LegendWidth(const Chart& chart) {
  Pixels width = 0;
  const bool plain = chart.series.size() <= 1 && chart.open_means.empty();
  if (plain) return 0;
  for (const ChartSeries& series : chart.series) {
    width = std::max(width, TextWidth(Truncate(series.name, 40)));
  }
  if (!chart.open_means.empty()) width = std::max(width, TextWidth(Truncate(chart.open_means, 40)));
  return width + 330 + 200;
}

std::vector<std::string> WrapText(std::string_view text, Pixels room) {
  std::vector<std::string> lines;
  std::string line;
  while (!text.empty()) {
    const std::size_t space = text.find(' ');
    const std::string_view word = text.substr(0, space);
    text = space == std::string_view::npos ? std::string_view() : text.substr(space + 1);
    std::string longer = line.empty() ? std::string(word) : line + " " + std::string(word);
    if (!line.empty() && TextWidth(longer) > room) {
      lines.push_back(std::move(line));
      line = word;
    } else {
      line = std::move(longer);
    }
  }
  if (!line.empty()) lines.push_back(std::move(line));
  return lines;
}

std::string VerticalAxis(const Plot& plot) {
  const Pixels left = plot.x.From();
  const Pixels right = plot.x.To();
  std::string svg;
  const ChartAxis& axis = plot.chart.y;
  if (plot.y.is_categories()) {
    for (std::size_t i = 0; i < axis.categories.size(); ++i) {
      const Pixels y = plot.y(static_cast<double>(i));
      if (i % 2 == 1) {
        const Pixels stripe = y - plot.y.Slot() / 2;
        svg += Close(Rectangle("stripe", {left, stripe, right, stripe + plot.y.Slot()}));
      }
      svg += Text({left - 80, y + kBaseline}, "end", Truncate(axis.categories[i], 48));
    }
  }
  for (const Tick& tick : plot.y.Ticks()) {
    const Pixels y = plot.y(tick.value);
    svg += Line({left, y}, {right, y}, tick.label.empty() ? "grid minor" : "grid");
    if (!tick.label.empty()) svg += Text({left - 80, y + kBaseline}, "end", tick.label);
  }
  if (axis.label.empty()) return svg;
  return svg + AxisName({kMargin + 60, (plot.y.From() + plot.y.To()) / 2}, axis.label);
}

std::string HorizontalAxis(const Plot& plot) {
  const Pixels top = std::min(plot.y.From(), plot.y.To());
  const Pixels bottom = std::max(plot.y.From(), plot.y.To());
  std::string svg;
  const ChartAxis& axis = plot.chart.x;
  for (std::size_t i = 0; i < axis.categories.size(); ++i) {
    const Pixels room = plot.x.Slot() * 100 / kFont / 58 * 10;
    const std::string name =
        Truncate(axis.categories[i], static_cast<std::size_t>(std::max<Pixels>(room / 10, 3)));
    svg += Text({plot.x(static_cast<double>(i)), bottom + 165}, "mid", name);
  }
  // Labels that would touch the one before them are left out.
  Pixels free_from = -1000000;
  for (const Tick& tick : plot.x.Ticks()) {
    const Pixels x = plot.x(tick.value);
    svg += Line({x, top}, {x, bottom}, tick.label.empty() ? "grid minor" : "grid");
    const Pixels half = TextWidth(tick.label) / 2;
    if (tick.label.empty() || x - half < free_from) continue;
    svg += Text({x, bottom + 165}, "mid", tick.label);
    free_from = x + half + 60;
  }
  if (axis.label.empty()) return svg;
  return svg + Text({(plot.x.From() + plot.x.To()) / 2, bottom + 350}, "axis mid", axis.label);
}

// The widest label of the vertical axis; ticks do not depend on where it begins.
Pixels LabelWidth(const Chart& chart, const Scale& y) {
  Pixels width = 0;
  for (const std::string& name : chart.y.categories) {
    width = std::max(width, TextWidth(Truncate(name, 48)));
  }
  for (const Tick& tick : y.Ticks()) width = std::max(width, TextWidth(tick.label));
  return width;
}

std::string Describe(const Chart& chart) {
  std::string text = chart.subtitle.empty() ? chart.title : chart.subtitle;
  text += (text.empty() ? "" : ". ") + std::string("Series: ");
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    text += (i == 0 ? "" : ", ") + chart.series[i].name;
  }
  return text + ".";
}

// The values that each axis has to reach.
struct Extent {
  std::vector<double> xs;
  std::vector<double> ys;
  std::size_t num_bars = 0;  // Series of bars.
};

Extent ExtentOf(const Chart& chart) {
  Extent extent;
  std::map<double, double> stacks;
  for (const ChartSeries& series : chart.series) {
    extent.num_bars += series.style == Style::kBars ? 1 : 0;
    for (const ChartPoint& point : FinitePoints(series)) {
      extent.xs.push_back(point.x);
      if (const auto spread = SpreadOf(series, point)) {
        extent.xs.insert(extent.xs.end(), {spread->first, spread->second});
      }
      extent.ys.push_back(point.y);
      if (!chart.stacked || series.style != Style::kBars) continue;
      // What is stacked reaches as far as its sum.
      const bool across = !chart.y.categories.empty();
      std::vector<double>& values = across ? extent.xs : extent.ys;
      values.back() = stacks[across ? point.y : point.x] += values.back();
    }
  }
  return extent;
}

// The chart between `top` and `bottom`: what text leaves.
Plot PlotOf(const Chart& chart, Pixels width, Pixels top, Pixels bottom) {
  const Extent extent = ExtentOf(chart);
  const bool any_bars = extent.num_bars > 0;
  const bool rows = !chart.y.categories.empty();
  const Scale y(chart.y, extent.ys, any_bars && !rows, rows ? top : bottom, rows ? bottom : top);
  const Pixels left = kMargin + (chart.y.label.empty() ? 0 : 200) + LabelWidth(chart, y) + 80;
  const Pixels right = std::max(width - kMargin - LegendWidth(chart), left + 500);
  const Scale x(chart.x, extent.xs, any_bars && rows, left, right);
  return {chart, x, y, extent.num_bars};
}

std::string DrawSeries(const Plot& plot) {
  std::vector<std::string> drawn = DrawBars(plot);
  std::string svg;
  for (std::size_t i = 0; i < plot.chart.series.size(); ++i) {
    const Style style = plot.chart.series[i].style;
    if (style == Style::kLine || style == Style::kSteps) drawn[i] = DrawLine(plot, i);
    if (style == Style::kPoints) drawn[i] = DrawPoints(plot, i);
    svg += "<g class=\"s" + std::to_string(i) + "\">\n" + drawn[i] + "</g>\n";
  }
  return svg;
}

// Lines of text from the first baseline down.
std::string Paragraph(const std::vector<std::string>& lines, std::string_view classes,
                      Pixels baseline, Pixels spacing) {
  std::string svg;
  for (const std::string& line : lines) {
    svg += Text({kMargin, baseline}, classes, line);
    baseline += spacing;
  }
  return svg;
}

}  // namespace
}  // namespace internal::report

std::string WriteSvg(const Chart& chart) {
  using namespace internal::report;
  const Pixels width = Pixels{std::max(chart.width, 300)} * 10;
  const Pixels height = Pixels{std::max(chart.height, 200)} * 10;
  const std::vector<std::string> notes = WrapText(chart.note, width - 2 * kMargin);
  const std::vector<std::string> subtitles =
      WrapText(chart.subtitle, (width - 2 * kMargin) * 11 / 12);
  const auto note_lines = static_cast<Pixels>(notes.size());
  const Pixels top =
      (chart.title.empty() ? 200 : 430) + static_cast<Pixels>(subtitles.size()) * 160 + 120;
  const Pixels bottom = height - 300 - (chart.x.label.empty() ? 0 : 190) - note_lines * 150 -
                        (notes.empty() ? 0 : 120);
  const Plot plot = PlotOf(chart, width, top, bottom);

  std::string svg =
      OpenSvg(width, height, "aria-labelledby=\"chart-title chart-desc\"",
              "<title id=\"chart-title\">" + EscapeXml(chart.title) + "</title>\n" +
                  "<desc id=\"chart-desc\">" + EscapeXml(Describe(chart)) + "</desc>\n",
              StyleOf(chart.series));
  svg += Title(330, chart.title, width) + Paragraph(subtitles, "subtitle", 530, 160);
  svg += VerticalAxis(plot) + HorizontalAxis(plot);
  svg += Close(Rectangle("frame", {plot.x.From(), top, plot.x.To(), bottom}));
  svg += DrawSeries(plot);
  if (LegendWidth(chart) > 0) {
    svg += Legend(chart, width - kMargin - LegendWidth(chart) + 200, top + 60);
  }
  svg += Paragraph(notes, "note", height - 180 - (note_lines - 1) * 150, 150);
  return svg + "</svg>\n";
}

}  // namespace berth
