#include "report/coloring.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tools/generate/generate.h"

namespace berth::internal::report {
namespace {

constexpr int kColors = 7;

bool Touch(const DrawnPiece& a, const DrawnPiece& b) {
  const bool beside =
      (a.end == b.start || b.end == a.start) && a.lower < b.upper && b.lower < a.upper;
  const bool stacked =
      (a.upper == b.lower || b.upper == a.lower) && a.start < b.end && b.start < a.end;
  return a.buffer != b.buffer && (beside || stacked);
}

TEST(ColoringTest, TellsNeighboursApartInFullPackings) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(seed);
    GenerateParameters parameters;
    parameters.seed = seed;
    parameters.buffers = 400;
    const auto generated = Generate(Family::kPlanted, parameters);
    ASSERT_TRUE(generated.has_value());
    std::vector<DrawnPiece> pieces;
    for (std::size_t i = 0; i < generated->problem.buffers.size(); ++i) {
      const Buffer& buffer = generated->problem.buffers[i];
      const Bytes offset = generated->plan->offsets[i];
      pieces.push_back({i, buffer.start, buffer.end, offset, offset + buffer.size});
    }
    const std::vector<int> colors = ColorBuffers(generated->problem, pieces, kColors);
    int touching = 0;
    int alike = 0;
    std::vector<int> used(kColors, 0);
    for (const int color : colors) ++used.at(static_cast<std::size_t>(color));
    for (const DrawnPiece& a : pieces) {
      for (const DrawnPiece& b : pieces) {
        if (a.buffer >= b.buffer || !Touch(a, b)) continue;
        ++touching;
        alike += colors[a.buffer] == colors[b.buffer];
      }
    }
    EXPECT_GT(touching, 800);
    EXPECT_EQ(alike, 0);
    for (const int count : used) EXPECT_GT(count, 20);  // No colour takes over.
  }
}

TEST(ColoringTest, TakesTheRarestColorWhereAllAreTaken) {
  // Two colours, three buffers that all touch each other.
  Problem problem;
  problem.buffers.resize(3);
  for (std::size_t i = 0; i < 3; ++i) {
    problem.buffers[i].id = std::string(1, static_cast<char>('a' + i));
    problem.buffers[i].start = i == 2 ? 1 : 0;
    problem.buffers[i].end = i == 2 ? 2 : 1;
    problem.buffers[i].size = i == 2 ? 2 : 1;
  }
  const std::vector<DrawnPiece> pieces = {{0, 0, 1, 0, 1}, {1, 0, 1, 1, 2}, {2, 1, 2, 0, 2}};
  const std::vector<int> colors = ColorBuffers(problem, pieces, 2);
  EXPECT_NE(colors[0], colors[1]);
  EXPECT_TRUE(colors[2] == 0 || colors[2] == 1);
}

}  // namespace
}  // namespace berth::internal::report
