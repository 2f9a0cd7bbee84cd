// report/svg_writer.h -- the elements that drawings are made of, and the style they share.
//
// Lengths are whole tenths of a pixel, so that every machine writes the same bytes.
#ifndef BERTH_REPORT_SVG_WRITER_H_
#define BERTH_REPORT_SVG_WRITER_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace berth::internal::report {

using Pixels = std::int64_t;  // Tenths of a pixel.

inline constexpr Pixels kFont = 110;
inline constexpr Pixels kMargin = 240;   // Left and right of everything.
inline constexpr Pixels kBaseline = 38;  // From the middle of a line of text down to its baseline.

struct Point {
  Pixels x;
  Pixels y;
};

struct Box {
  Pixels left;
  Pixels top;
  Pixels right;
  Pixels bottom;
  [[nodiscard]] Pixels width() const { return right - left; }
  [[nodiscard]] Pixels height() const { return bottom - top; }
  [[nodiscard]] Point center() const { return {(left + right) / 2, (top + bottom) / 2}; }
};

// How wide `text` is, on the safe side.
[[nodiscard]] Pixels TextWidth(std::string_view text, Pixels font = kFont);

// Coordinates in the data of a path: "1.5 20".
[[nodiscard]] std::string At(Point point);
[[nodiscard]] std::string Attribute(std::string_view name, Pixels value);

// Shapes whose start tag is open: Close() ends them.
[[nodiscard]] std::string Path(std::string_view classes, std::string_view data);
[[nodiscard]] std::string Rectangle(std::string_view classes, const Box& box);
[[nodiscard]] std::string Circle(std::string_view classes, Point center, Pixels radius);
// With a tooltip, unless that is empty; it is XML already.
[[nodiscard]] std::string Close(const std::string& shape, std::string_view tooltip = {});

// Whole elements; `text` is escaped here.
[[nodiscard]] std::string Line(Point from, Point to, std::string_view classes);
[[nodiscard]] std::string Text(Point at, std::string_view classes, std::string_view text);
// The name of a vertical axis, read from bottom to top.
[[nodiscard]] std::string AxisName(Point center, std::string_view text);
// The title of a drawing of this width, shortened to fit.
[[nodiscard]] std::string Title(Pixels baseline, std::string_view text, Pixels width);

// The beginning of a file, up to its white background. `label` is the attribute that says what the
// drawing shows, `description` the elements that `label` names; both are XML already.
[[nodiscard]] std::string OpenSvg(Pixels width, Pixels height, std::string_view label,
                                  std::string_view description, std::string_view style);

// Style rules of all drawings. The first is left open for more of what all text has.
inline constexpr std::string_view kTextStyle =
    "text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,"
    "'Liberation Sans',sans-serif;fill:#333";
inline constexpr std::string_view kTitleStyle =
    ".title{font-size:17px;font-weight:600;fill:#111}\n"
    ".subtitle{font-size:12px;fill:#555}\n";
inline constexpr std::string_view kAnchorStyle =
    ".mid{text-anchor:middle}\n"
    ".end{text-anchor:end}\n";

}  // namespace berth::internal::report

#endif  // BERTH_REPORT_SVG_WRITER_H_
