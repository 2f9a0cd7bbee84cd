// report/text.h -- text that is safe in any XML viewer, and numbers that look the same everywhere.
#ifndef BERTH_REPORT_TEXT_H_
#define BERTH_REPORT_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/text.h"
#include "berth/problem.h"

namespace berth::internal::report {

// `text` as XML character data or as a quoted attribute. Markup is escaped; what XML forbids is
// made visible: control characters become their pictures (U+2400 ...), broken UTF-8 becomes U+FFFD.
[[nodiscard]] std::string EscapeXml(std::string_view text);

// `text` with its middle replaced by an ellipsis where it has more than `most` (at least 1)
// characters, the ellipsis among them. Counts code points and never splits one.
[[nodiscard]] std::string Truncate(std::string_view text, std::size_t most);

// About how wide `text` is in a sans-serif font, in hundredths of the font size. On the safe side.
[[nodiscard]] std::int64_t WidthOf(std::string_view text);

// 12.3 for 123, 12 for 120, -0.5 for -5.
[[nodiscard]] std::string Tenths(std::int64_t tenths);

using internal::Grouped;

}  // namespace berth::internal::report

#endif  // BERTH_REPORT_TEXT_H_
