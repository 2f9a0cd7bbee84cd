#include "report/svg_writer.h"

#include "report/text.h"

namespace berth::internal::report {
namespace {

// `<tag class="classes"`
std::string Open(std::string_view tag, std::string_view classes) {
  return "<" + std::string(tag) + " class=\"" + std::string(classes) + "\"";
}

}  // namespace

Pixels TextWidth(std::string_view text, Pixels font) { return WidthOf(text) * font / 100; }

std::string At(Point point) { return Tenths(point.x) + " " + Tenths(point.y); }

std::string Attribute(std::string_view name, Pixels value) {
  return " " + std::string(name) + "=\"" + Tenths(value) + "\"";
}

std::string Path(std::string_view classes, std::string_view data) {
  return Open("path", classes) + " d=\"" + std::string(data) + "\"";
}

std::string Rectangle(std::string_view classes, const Box& box) {
  return Open("rect", classes) + Attribute("x", box.left) + Attribute("y", box.top) +
         Attribute("width", box.width()) + Attribute("height", box.height());
}

std::string Circle(std::string_view classes, Point center, Pixels radius) {
  return Open("circle", classes) + Attribute("cx", center.x) + Attribute("cy", center.y) +
         Attribute("r", radius);
}

std::string Close(const std::string& shape, std::string_view tooltip) {
  if (tooltip.empty()) return shape + "/>\n";
  const std::string tag = shape.substr(1, shape.find(' ') - 1);
  return shape + "><title>" + std::string(tooltip) + "</title></" + tag + ">\n";
}

std::string Line(Point from, Point to, std::string_view classes) {
  return Close(Path(classes, "M" + At(from) + "L" + At(to)));
}

std::string Text(Point at, std::string_view classes, std::string_view text) {
  return "<text" + Attribute("x", at.x) + Attribute("y", at.y) + " class=\"" +
         std::string(classes) + "\">" + EscapeXml(text) + "</text>\n";
}

std::string AxisName(Point center, std::string_view text) {
  return Open("text", "axis mid") + " transform=\"translate(" + At(center) + ") rotate(-90)\">" +
         EscapeXml(text) + "</text>\n";
}

std::string Title(Pixels baseline, std::string_view text, Pixels width) {
  const auto most_characters = static_cast<std::size_t>((width - 2 * kMargin) / 100);
  return Text({kMargin, baseline}, "title", Truncate(text, most_characters));
}

std::string OpenSvg(Pixels width, Pixels height, std::string_view label,
                    std::string_view description, std::string_view style) {
  const std::string w = Tenths(width);
  const std::string h = Tenths(height);
  std::string svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + w + "\" height=\"" + h +
                    "\" viewBox=\"0 0 " + w + " " + h + "\" role=\"img\" ";
  svg.append(label).append(">\n").append(description).append("<style>\n").append(style);
  return svg + "</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n";
}

}  // namespace berth::internal::report
