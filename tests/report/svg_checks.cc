#include "tests/report/svg_checks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace berth::internal {
namespace {

// The numbers at the beginning of `text`, up to anything else.
std::vector<double> Numbers(const std::string& text) {
  std::vector<double> numbers;
  const char* at = text.c_str();
  for (char* end = nullptr;; at = end) {
    const double number = std::strtod(at, &end);
    if (end == at) return numbers;
    numbers.push_back(number);
  }
}

}  // namespace

void ExpectGolden(const std::string& name, const std::string& text) {
  const std::string path = BERTH_SOURCE_DIR "/tests/golden/" + name;
  if (const char* update = std::getenv("BERTH_UPDATE_GOLDEN"); update && *update == '1') {
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  std::ifstream file(path, std::ios::binary);
  ASSERT_TRUE(file) << path << " is missing";
  std::stringstream expected;
  expected << file.rdbuf();
  EXPECT_TRUE(expected.str() == text)
      << path << " differs; BERTH_UPDATE_GOLDEN=1 writes it anew, to be looked at";
}

void ExpectWellFormed(const std::string& svg) {
  std::vector<std::string> open;
  for (std::size_t i = 0; i < svg.size(); ++i) {
    if (svg[i] == '<') {
      const std::size_t end = svg.find('>', i);
      ASSERT_NE(end, std::string::npos);
      std::string tag = svg.substr(i + 1, end - i - 1);
      ASSERT_EQ(tag.find('<'), std::string::npos) << tag;
      ASSERT_EQ(std::count(tag.begin(), tag.end(), '"') % 2, 0) << tag;
      const bool closes = tag[0] == '/';
      const bool is_empty = tag.back() == '/';
      const std::string name = tag.substr(closes ? 1 : 0, tag.find_first_of(" /", 1) - closes);
      ASSERT_FALSE(name.empty());
      for (const char c : name) ASSERT_TRUE(c >= 'a' && c <= 'z') << tag;
      if (closes) {
        ASSERT_FALSE(open.empty());
        ASSERT_EQ(open.back(), name);
        open.pop_back();
      } else if (!is_empty) {
        open.push_back(name);
      }
      i = end;
    } else if (svg[i] == '&') {
      const std::string entity = svg.substr(i, svg.find(';', i) - i + 1);
      const std::set<std::string> known = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
      ASSERT_TRUE(known.contains(entity)) << entity.substr(0, 20);
    } else {
      ASSERT_TRUE(static_cast<unsigned char>(svg[i]) >= 0x20 || svg[i] == '\n');
    }
  }
  EXPECT_TRUE(open.empty());
}

void ExpectWithinPicture(const std::string& svg, int width, int height) {
  const auto check = [&](double value, int most, const std::string& what) {
    EXPECT_GE(value, 0) << what;
    EXPECT_LE(value, most) << what;
  };
  for (const std::string attribute : {" x=\"", " y=\"", " cx=\"", " cy=\""}) {
    const bool vertical = attribute.find('y') != std::string::npos;
    for (std::size_t at = svg.find(attribute); at != std::string::npos;
         at = svg.find(attribute, at + 1)) {
      const std::string value = svg.substr(at + attribute.size(), 24);
      check(std::stod(value), vertical ? height : width, attribute + value);
    }
  }
  for (std::size_t at = svg.find(" d=\""); at != std::string::npos;
       at = svg.find(" d=\"", at + 1)) {
    const std::string path = svg.substr(at + 4, svg.find('"', at + 4) - at - 4);
    for (std::size_t i = 0; i < path.size(); ++i) {
      if (std::isupper(static_cast<unsigned char>(path[i])) == 0) continue;
      const std::vector<double> numbers = Numbers(path.substr(i + 1));
      ASSERT_FALSE(numbers.empty()) << path;
      if (path[i] == 'V') {
        check(numbers[0], height, path);
      } else {
        check(numbers[0], width, path);
      }
      if (path[i] == 'M' || path[i] == 'L') {
        ASSERT_EQ(numbers.size(), 2U) << path;
        check(numbers[1], height, path);
      }
    }
  }
}

}  // namespace berth::internal
