// The compiled form of a problem is equivalent to the problem.

#include "model/instance.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "model/twins.h"
#include "testing/differential.h"

namespace berth::internal {
namespace {

// True if live bytes of the two overlap when o_j - o_i is `difference`, by trying every step and
// byte range.
bool Meet(const Buffer& i, const Buffer& j, Bytes difference) {
  for (const LivePiece& x : LivePieces(i)) {
    for (const LivePiece& y : LivePieces(j)) {
      const bool in_time = x.start < y.end && y.start < x.end;
      const bool in_space = x.lower < y.upper + difference && y.lower + difference < x.upper;
      if (in_time && in_space) return true;
    }
  }
  return false;
}

std::optional<std::string> JudgePair(const Problem& problem, const Instance& instance,
                                     BufferIndex i, BufferIndex j) {
  const auto forbidden = ForbiddenDifferences(instance, i, j);
  for (Bytes d = -20; d <= 20; ++d) {
    bool says = false;
    for (const Interval& interval : forbidden) says |= interval.lower < d && d < interval.upper;
    if (says != Meet(problem.buffers[i.position()], problem.buffers[j.position()], d)) {
      return "wrong about a difference of " + std::to_string(d);
    }
  }
  return std::nullopt;
}

TEST(Instance, ForbiddenDifferencesAreWhereLiveBytesMeet) {
  EXPECT_TRUE(ForRandomProblems(1, 2000, AllKnobs(), [](const Problem& problem) {
    const Instance instance = Compile(problem);
    for (const BufferIndex i : instance.buffers()) {
      for (const BufferIndex j : instance.buffers()) {
        if (i == j) continue;
        if (auto wrong = JudgePair(problem, instance, i, j)) return wrong;
      }
    }
    return std::optional<std::string>();
  }));
}

TEST(Instance, OverlapsAreThePairsThatMeet) {
  EXPECT_TRUE(ForRandomProblems(5000, 2000, AllKnobs(), [](const Problem& problem) {
    const Instance instance = Compile(problem);
    const Overlaps overlaps = FindOverlaps(instance);
    std::optional<std::string> wrong;
    for (const BufferIndex i : instance.buffers()) {
      std::size_t expected = 0;
      for (const BufferIndex j : instance.buffers()) {
        if (i != j && !ForbiddenDifferences(instance, i, j).empty()) ++expected;
      }
      const auto from = overlaps.row_begin[i.position()];
      const auto to = overlaps.row_begin[i.position() + 1];
      if (static_cast<std::size_t>(to - from) != expected) wrong = "a row of the wrong length";
      for (auto k = from; k < to; ++k) {
        const BufferIndex j = overlaps.neighbour[static_cast<std::size_t>(k)];
        const auto forbidden = ForbiddenDifferences(instance, i, j);
        if (forbidden.empty() ||
            forbidden.back().upper != overlaps.clearance[static_cast<std::size_t>(k)]) {
          wrong = "a wrong clearance";
        }
      }
    }
    const auto entries = static_cast<std::int64_t>(overlaps.neighbour.size());
    if (CountOverlaps(instance) < entries) wrong = "counts too few overlaps";
    if (!instance.has_gaps && CountOverlaps(instance) != entries) wrong = "counts wrong";
    return wrong;
  }));
}

// Every buffer has a twin, some have several.
TEST(Instance, TwinsAreNeighboursByShape) {
  EXPECT_TRUE(ForRandomProblems(13'000, 2000, AllKnobs(), [](const Problem& problem) {
    Problem doubled = problem;
    for (const Buffer& buffer : problem.buffers) {
      doubled.buffers.push_back(buffer);
      doubled.buffers.back().id += "'";
    }
    const Instance instance = Compile(doubled);
    const std::vector<BufferIndex> order = ByShape(instance);
    std::size_t live = 0;
    for (const BufferIndex b : instance.buffers()) live += instance.pieces_of(b).empty() ? 0 : 1;
    if (order.size() != live) return std::optional<std::string>("not all that is live");
    for (std::size_t k = 0; k < order.size(); ++k) {
      if (k > 0 && instance.first[order[k]] < instance.first[order[k - 1]]) {
        return std::optional<std::string>("not by first section");
      }
      for (std::size_t later = k + 1; later < order.size(); ++later) {
        if (!AreTwins(instance, order[k], order[later])) continue;
        if (!(order[k] < order[later])) return std::optional<std::string>("not by index");
        if (!AreTwins(instance, order[k], order[k + 1])) {
          return std::optional<std::string>("something lies between twins");
        }
      }
    }
    return std::optional<std::string>();
  }));
}

TEST(Instance, SectionsSeeEveryMeetingAndTheLoad) {
  EXPECT_TRUE(ForRandomProblems(9000, 2000, AllKnobs(), [](const Problem& problem) {
    const Instance instance = Compile(problem);
    IndexedVector<SectionIndex, Bytes> load(instance.num_sections(), 0);
    for (const BufferIndex b : instance.buffers()) {
      for (const Piece& piece : instance.pieces_of(b)) {
        if (!(piece.first < piece.last)) return std::optional<std::string>("an empty piece");
        for (const SectionIndex s : IndexRange(piece.first, piece.last)) {
          load[s] += piece.upper - piece.lower;
        }
      }
    }
    Bytes most = 0;
    for (const SectionIndex s : instance.sections()) {
      if (load[s] != instance.section_load[s]) return std::optional<std::string>("a wrong load");
      most = std::max(most, load[s]);
    }
    return most == MaxLiveLoad(problem).load ? std::nullopt
                                             : std::optional<std::string>("another peak");
  }));
}

TEST(Instance, MergesPiecesThatAreTheSame) {
  Buffer buffer{"a", 0, 9, 4, 1, {}, {}, {{2, 5, Window{0, 4}}, {5, 6, {}}}};
  const auto pieces = LivePieces(buffer);
  ASSERT_EQ(pieces.size(), 2u);
  EXPECT_EQ(pieces[0].start, 0);
  EXPECT_EQ(pieces[0].end, 5);
  EXPECT_EQ(pieces[1].start, 6);
  EXPECT_EQ(pieces[1].end, 9);
}

}  // namespace
}  // namespace berth::internal
