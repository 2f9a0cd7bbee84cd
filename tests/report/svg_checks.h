// tests/report/svg_checks.h -- requirements of every SVG file of Berth.
#ifndef BERTH_TESTS_REPORT_SVG_CHECKS_H_
#define BERTH_TESTS_REPORT_SVG_CHECKS_H_

#include <string>

namespace berth::internal {

// `text` must equal tests/golden/NAME. With BERTH_UPDATE_GOLDEN=1 the file is written instead;
// inspect it before committing.
void ExpectGolden(const std::string& name, const std::string& text);

// Tags nest, attributes are quoted, and text contains no stray markup or control characters.
void ExpectWellFormed(const std::string& svg);

// No absolute coordinate lies outside the picture.
void ExpectWithinPicture(const std::string& svg, int width, int height);

}  // namespace berth::internal

#endif  // BERTH_TESTS_REPORT_SVG_CHECKS_H_
