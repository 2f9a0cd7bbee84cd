// tests/report/svg_checks.h -- what every SVG file of Berth has to hold up to.
#ifndef BERTH_TESTS_REPORT_SVG_CHECKS_H_
#define BERTH_TESTS_REPORT_SVG_CHECKS_H_

#include <string>

namespace berth::internal {

// `text` is what tests/golden/NAME holds. With BERTH_UPDATE_GOLDEN=1 the file is written instead;
// look at it before it is committed.
void ExpectGolden(const std::string& name, const std::string& text);

// Tags nest, attributes are quoted, and text holds no stray markup or control character.
void ExpectWellFormed(const std::string& svg);

// No absolute coordinate lies outside of the picture.
void ExpectWithinPicture(const std::string& svg, int width, int height);

}  // namespace berth::internal

#endif  // BERTH_TESTS_REPORT_SVG_CHECKS_H_
