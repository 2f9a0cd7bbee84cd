// Charts: every kind of series and axis, compared with golden files; well formed, and nothing
// outside the picture.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <regex>
#include <string>
#include <vector>

#include "berth/report.h"
#include "tests/report/svg_checks.h"

namespace berth::internal {
namespace {

using Style = ChartSeries::Style;

// Lines and steps over a logarithmic axis of time, with every kind of hostile text.
Chart TimesChart() {
  Chart chart;
  chart.title = "Solved <within> a time & \"more\"";
  chart.subtitle = "An example: shares of 20 inputs";
  chart.note =
      "A note that is long enough to be wrapped onto a second line, as notes on what was "
      "measured, where and how tend to be in practice.";
  chart.x = {"time limit", ChartUnit::kSeconds, true, 1e-5, 10.0, {}};
  chart.y = {"solved", ChartUnit::kPercent, false, 0.0, 1.0, {}};
  chart.open_means = "time was up";
  const std::vector<std::string> names = {"first", "second</svg>", "third", "fourth"};
  for (int s = 0; s < 4; ++s) {
    ChartSeries series{
        names[static_cast<std::size_t>(s)], s % 2 == 0 ? Style::kSteps : Style::kLine, {}, {}};
    for (int i = 1; i <= 10; ++i) {
      series.points.push_back(
          {1e-5 * std::pow(3.0, i + s / 2.0), std::max(0.09 * i - 0.05 * s, 0.0), i == 10, {}});
    }
    chart.series.push_back(series);
  }
  return chart;
}

// Rows of bars and of points, named.
Chart RowsChart(Style style) {
  Chart chart;
  chart.title = "Failures";
  chart.x.label = "inputs";
  chart.x.first = 0;
  chart.y.categories = {"candidates", "largest size", "longest lifetime"};
  chart.series = {
      {"step limit", style, {{3, 0, false, {}}, {24, 1, true, {}}, {33, 2, false, "33, all"}}, {}},
      {"gave up", style, {{8, 0, false, {}}, {0, 1, false, {}}, {1, 2, false, {}}}, {}}};
  chart.height = 300;
  return chart;
}

// Vertical bars of bytes.
Chart BytesChart() {
  Chart chart;
  chart.title = "Peak";
  chart.x.categories = {"a", "b", "c"};
  chart.y = {"peak", ChartUnit::kBytes, false, {}, {}, {}};
  chart.series = {{"peak",
                   Style::kBars,
                   {{0, 1 << 20, false, {}}, {1, 3 << 19, false, {}}, {2, 700000, false, {}}},
                   {}}};
  return chart;
}

std::vector<Chart> AllCharts() {
  Chart stacked = RowsChart(Style::kBars);
  stacked.stacked = true;
  return {TimesChart(), stacked, RowsChart(Style::kBars), RowsChart(Style::kPoints), BytesChart()};
}

TEST(Chart, IsGolden) {
  ExpectGolden("chart_times.svg", WriteSvg(TimesChart()));
  ExpectGolden("chart_rows.svg", WriteSvg(RowsChart(Style::kBars)));
}

TEST(Chart, IsWellFormedXml) {
  for (const Chart& chart : AllCharts()) ExpectWellFormed(WriteSvg(chart));
}

TEST(Chart, HasATitleADescriptionAndItsOwnBackground) {
  const std::string svg = WriteSvg(TimesChart());
  EXPECT_NE(svg.find("<title id=\"chart-title\">Solved &lt;within&gt; a time &amp; &quot;more&quot;"
                     "</title>"),
            std::string::npos);
  EXPECT_NE(svg.find("Series: first, second&lt;/svg&gt;, third, fourth."), std::string::npos);
  EXPECT_NE(svg.find("<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>"), std::string::npos);
}

TEST(Chart, SeriesDifferInDashesAndMarkersToo) {
  const std::string svg = WriteSvg(TimesChart());
  for (const std::string rule :
       {".s0 .line{stroke:#0072b2}", ".s1 .line{stroke:#d55e00;stroke-dasharray:7 3}",
        ".s2 .line{stroke:#009e73;stroke-dasharray:2 2.5}"}) {
    EXPECT_NE(svg.find(rule), std::string::npos) << rule;
  }
  EXPECT_NE(svg.find("<g class=\"s0\"><path class=\"line\""), std::string::npos);
}

TEST(Chart, LooksCanBeChosen) {
  Chart chart = TimesChart();
  chart.series[0].look = 1;
  EXPECT_NE(WriteSvg(chart).find(".s0 .line{stroke:#d55e00;stroke-dasharray:7 3}"),
            std::string::npos);
}

TEST(Chart, LabelsTicksWithUnits) {
  const std::string times = WriteSvg(TimesChart());
  for (const std::string label :
       {">10 \u00b5s<", ">1 ms<", ">100 ms<", ">1 s<", ">10 s<", ">60 %<", ">100 %<"}) {
    EXPECT_NE(times.find(label), std::string::npos) << label;
  }
  const std::string bytes = WriteSvg(BytesChart());
  for (const std::string label : {">256 KiB<", ">1 MiB<", ">1.5 MiB<"}) {
    EXPECT_NE(bytes.find(label), std::string::npos) << label;
  }
}

// Values that cannot be drawn are left out or drawn at the end of the axis; nothing is drawn
// outside the picture.
TEST(Chart, SurvivesAnyValues) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const bool logarithmic : {false, true}) {
    for (const std::vector<double>& values :
         std::vector<std::vector<double>>{{},
                                          {0},
                                          {-1},
                                          {5, 5},
                                          {1e-300, 1e300},
                                          {-1e15, 1e15},
                                          {std::nan(""), infinity, 3},
                                          {1e-9, 1e-9},
                                          {1e18, 1e18 + 1000}}) {
      for (const Style style : {Style::kLine, Style::kSteps, Style::kPoints, Style::kBars}) {
        for (const ChartUnit unit : {ChartUnit::kNone, ChartUnit::kSeconds, ChartUnit::kBytes,
                                     ChartUnit::kPercent, ChartUnit::kTimes}) {
          Chart chart;
          chart.y = {"y", unit, logarithmic, {}, {}, {}};
          if (style == Style::kBars) chart.x.categories = {"a", "b", "c"};
          ChartSeries series{"s", style, {}, {}};
          for (std::size_t i = 0; i < values.size(); ++i) {
            series.points.push_back({static_cast<double>(i), values[i], false, {}});
          }
          chart.series = {series};
          const std::string svg = WriteSvg(chart);
          SCOPED_TRACE("values " + testing::PrintToString(values) + " style " +
                       std::to_string(static_cast<int>(style)) + " logarithmic " +
                       std::to_string(static_cast<int>(logarithmic)) + " unit " +
                       std::to_string(static_cast<int>(unit)));
          ExpectWellFormed(svg);
          EXPECT_EQ(svg.find("nan"), std::string::npos);
          ExpectWithinPicture(svg, chart.width, chart.height);
          EXPECT_LT(svg.size(), 100000u);
        }
      }
    }
  }
}

// An error bar from the least to the most, which the axis has room for; none where they are equal.
TEST(Chart, PointsHaveErrorBars) {
  Chart chart = RowsChart(Style::kPoints);
  EXPECT_EQ(WriteSvg(chart).find("spread"), std::string::npos);
  chart.series[0].points[0].spread = {3, 3};
  EXPECT_EQ(WriteSvg(chart).find("spread"), std::string::npos);
  chart.series[0].points[0].spread = {2, 100};
  const std::string svg = WriteSvg(chart);
  EXPECT_NE(svg.find(".s0 .spread{fill:none;stroke:#0072b2}"), std::string::npos);
  EXPECT_EQ(svg.find(".s1 .spread"), std::string::npos);
  std::smatch bar;
  const std::regex pattern("<path class=\"spread\" d=\"M([0-9.]+)[ ,]([0-9.]+)H([0-9.]+)M");
  ASSERT_TRUE(std::regex_search(svg, bar, pattern)) << svg;
  // 0 to 100 along the axis; the bar has 98 of these.
  EXPECT_NE(svg.find(">100</text>"), std::string::npos);
  EXPECT_GT(std::stod(bar[3]) - std::stod(bar[1]), 300);
  ExpectWithinPicture(svg, chart.width, chart.height);
  ExpectWellFormed(svg);
  chart.series[0].style = Style::kBars;  // Bars have none.
  EXPECT_EQ(WriteSvg(chart).find("spread"), std::string::npos);
}

// Each bar begins where the one below ends; the label is the sum.
TEST(Chart, StacksBars) {
  Chart chart = RowsChart(Style::kBars);
  chart.stacked = true;
  const std::string svg = WriteSvg(chart);
  EXPECT_NE(svg.find(">34</text>"), std::string::npos);  // 33 and 1.
  EXPECT_NE(svg.find(">11</text>"), std::string::npos);  // 3 and 8.
  EXPECT_EQ(svg.find(">8</text>"), std::string::npos);
}

TEST(Chart, NothingIsDrawnOutsideOfThePicture) {
  for (const Chart& chart : AllCharts()) {
    ExpectWithinPicture(WriteSvg(chart), chart.width, chart.height);
  }
}

}  // namespace
}  // namespace berth::internal
