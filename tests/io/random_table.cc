#include "tests/io/random_table.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"

namespace berth::internal {
namespace {

using namespace std::string_view_literals;  // NOLINT(google-build-using-namespace)

std::string RandomId(Random& random) {
  static constexpr std::array kPieces = {
      "a"sv,
      "Z"sv,
      "0"sv,
      "-1"sv,
      ","sv,
      "\""sv,
      "\"\""sv,
      "\n"sv,
      "\r"sv,
      " "sv,
      "\t"sv,
      "\r\n"sv,
      "\0"sv,
      "\x1b"sv,
      "\\"sv,
      "'"sv,
      ";"sv,
      "\xc3\xb6"sv,
      "{"sv,
      "\xf0\x9f\x98\x80"sv,
      "\xef\xbb\xbf"sv,
      "</script>"sv,
  };
  std::string id;
  const auto length = random.Uniform(1, 6);
  for (std::int64_t i = 0; i < length; ++i) {
    id += kPieces[static_cast<std::size_t>(random.Uniform(0, kPieces.size() - 1))];
  }
  return id;
}

std::vector<Gap> RandomGaps(Random& random, const Buffer& buffer) {
  std::vector<Gap> gaps;
  Step at = buffer.start;
  while (at < buffer.end && gaps.size() < 4 && random.Chance(0.7)) {
    Gap gap;
    gap.start = random.Uniform(at, buffer.end - 1);
    gap.end = random.Uniform(gap.start + 1, buffer.end);
    if (random.Chance(0.5)) {
      const Bytes lower = random.Uniform(0, buffer.size - 1);
      gap.window = Window{lower, random.Uniform(lower + 1, buffer.size)};
    }
    at = gap.end;
    gaps.push_back(gap);
  }
  return gaps;
}

}  // namespace

Problem RandomTable(std::uint64_t seed) {
  Random random(seed);
  // The optional columns in use.
  const bool alignments = random.Chance(0.5);
  const bool hints = random.Chance(0.5);
  const bool gaps = random.Chance(0.5);
  const bool pins = random.Chance(0.5);
  const bool large = random.Chance(0.2);
  const Bytes most_bytes = large ? kMaxBytes / 32 : 100;
  const Step last_step = large ? kMaxStep : 20;

  Problem problem;
  std::set<std::string> ids;
  const auto count = random.Uniform(0, 8);
  while (static_cast<std::int64_t>(problem.buffers.size()) < count) {
    Buffer buffer;
    buffer.id = RandomId(random);
    if (!ids.insert(buffer.id).second) continue;
    buffer.start = random.Uniform(-last_step, last_step - 1);
    buffer.end = random.Uniform(buffer.start + 1, last_step);
    buffer.size = random.Uniform(1, most_bytes);
    if (alignments && random.Chance(0.7)) buffer.alignment = random.Uniform(1, most_bytes);
    if (hints && random.Chance(0.7)) buffer.hint = random.Uniform(0, most_bytes);
    if (pins && random.Chance(0.7)) {
      buffer.offset = buffer.alignment * random.Uniform(0, most_bytes / buffer.alignment);
    }
    if (gaps) buffer.gaps = RandomGaps(random, buffer);
    problem.buffers.push_back(buffer);
  }
  return problem;
}

}  // namespace berth::internal
