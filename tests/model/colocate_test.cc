// Groups of buffers at one offset, or at fixed distances.

#include "berth/colocate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "berth/place.h"
#include "testing/oracle.h"
#include "testing/random_problem.h"

namespace berth::internal {
namespace {

using Groups = std::vector<std::vector<Member>>;

Buffer Make(std::string id, Step start, Step end, Bytes size, Bytes alignment = 1) {
  Buffer buffer;
  buffer.id = std::move(id);
  buffer.start = start;
  buffer.end = end;
  buffer.size = size;
  buffer.alignment = alignment;
  return buffer;
}

// The bytes of `buffer` that are live at a step, from its own offset.
std::optional<Window> LiveBytes(const Buffer& buffer, Step step) {
  if (step < buffer.start || step >= buffer.end) return std::nullopt;
  for (const Gap& gap : buffer.gaps) {
    if (step >= gap.start && step < gap.end) return gap.window;
  }
  return Window{0, buffer.size};
}

std::pair<Step, Step> Horizon(const Problem& problem) {
  Step first = 0;
  Step last = 0;
  for (const Buffer& buffer : problem.buffers) {
    first = std::min(first, buffer.start);
    last = std::max(last, buffer.end);
  }
  return {first, last};
}

// Whether the buffers share no live byte.
bool AreApart(const Buffer& a, Bytes offset_a, const Buffer& b, Bytes offset_b) {
  for (Step step = std::max(a.start, b.start); step < std::min(a.end, b.end); ++step) {
    const auto x = LiveBytes(a, step);
    const auto y = LiveBytes(b, step);
    if (x && y && offset_a + x->lower < offset_b + y->upper &&
        offset_b + y->lower < offset_a + x->upper) {
      return false;
    }
  }
  return true;
}

struct Case {
  Problem problem;
  Groups groups;
  // Each buffer and its distance, in groups; those without a group are groups of one.
  [[nodiscard]] Groups Units() const {
    Groups units = groups;
    std::set<std::size_t> in_groups;
    for (const auto& group : groups) {
      for (const Member& member : group) in_groups.insert(member.buffer);
    }
    for (std::size_t b = 0; b < problem.buffers.size(); ++b) {
      if (!in_groups.contains(b)) units.push_back({{b, 0}});
    }
    std::erase_if(units, [](const auto& unit) { return unit.empty(); });
    return units;
  }
};

Case RandomCase(std::uint64_t seed, bool distances) {
  ProblemKnobs knobs = AllKnobs();
  knobs.max_buffers = 5;
  knobs.max_size = 4;
  knobs.with_capacity = false;
  Case made{RandomProblem(seed, knobs), Groups(2)};
  Random random(seed);
  for (std::size_t b = 0; b < made.problem.buffers.size(); ++b) {
    const auto group = static_cast<std::size_t>(random.Uniform(0, 2));
    if (group == 2) continue;
    const Bytes distance = distances ? random.Uniform(-3, 3) : 0;
    made.groups[group].push_back({b, distance});
  }
  return made;
}

// By trying all offsets: the least height of the buffers with their groups, at most `limit`.
class BruteForce {
 public:
  BruteForce(const Case& of, Bytes limit) : case_(of), units_(of.Units()), least_(limit + 1) {
    offsets_.resize(of.problem.buffers.size());
    group_of_.resize(of.problem.buffers.size());
    for (std::size_t u = 0; u < units_.size(); ++u) {
      for (const Member& member : units_[u]) group_of_[member.buffer] = u;
    }
    Try(0, 0);
  }
  [[nodiscard]] Bytes least() const { return least_; }

 private:
  void Try(std::size_t unit, Bytes height) {
    if (height >= least_) return;
    if (unit == units_.size()) {
      least_ = height;
      return;
    }
    for (Bytes offset = -4; offset < least_ + 4; ++offset) {
      const auto top = Put(unit, offset);
      if (top) Try(unit + 1, std::max(height, *top));
    }
  }
  // The unit's top, if its members may lie there.
  std::optional<Bytes> Put(std::size_t unit, Bytes offset) {
    Bytes top = 0;
    for (const Member& member : units_[unit]) {
      const Buffer& buffer = case_.problem.buffers[member.buffer];
      const Bytes at = offset + member.distance;
      if (at < 0 || at % buffer.alignment != 0) return std::nullopt;
      if (buffer.offset && *buffer.offset != at) return std::nullopt;
      offsets_[member.buffer] = at;
      top = std::max(top, at + buffer.size);
      for (std::size_t b = 0; b < group_of_.size(); ++b) {
        if (group_of_[b] < unit && !AreApart(buffer, at, case_.problem.buffers[b], offsets_[b])) {
          return std::nullopt;
        }
      }
    }
    return top;
  }

  const Case& case_;
  const Groups units_;
  std::vector<Bytes> offsets_;
  std::vector<std::size_t> group_of_;
  Bytes least_;
};

// Whether the bytes that a group needs meet at every step.
bool HasNoHoles(const Case& of) {
  const auto [first, last] = Horizon(of.problem);
  for (const auto& group : of.groups) {
    for (Step step = first; step < last; ++step) {
      std::vector<Window> live;
      for (const Member& member : group) {
        const auto bytes = LiveBytes(of.problem.buffers[member.buffer], step);
        if (bytes) live.push_back({bytes->lower + member.distance, bytes->upper + member.distance});
      }
      std::sort(live.begin(), live.end(),
                [](const Window& a, const Window& b) { return a.lower < b.lower; });
      for (std::size_t i = 1; i < live.size(); ++i) {
        if (live[i].lower > live[i - 1].upper) return false;
        live[i].upper = std::max(live[i].upper, live[i - 1].upper);
      }
    }
  }
  return true;
}

// What is wrong with `offsets`, those of a plan for the merged table.
std::string Fault(const Case& of, const std::vector<Bytes>& offsets) {
  const auto& buffers = of.problem.buffers;
  std::vector<std::size_t> group_of(buffers.size());
  const Groups units = of.Units();
  for (std::size_t u = 0; u < units.size(); ++u) {
    for (const Member& member : units[u]) {
      group_of[member.buffer] = u;
      const Bytes first = offsets[units[u].front().buffer] - units[u].front().distance;
      if (offsets[member.buffer] - member.distance != first) return "a group is torn";
    }
  }
  for (std::size_t a = 0; a < buffers.size(); ++a) {
    if (offsets[a] < 0 || offsets[a] % buffers[a].alignment != 0) return "an offset is misaligned";
    if (buffers[a].offset && *buffers[a].offset != offsets[a]) return "a pin is not kept";
    for (std::size_t b = 0; b < a; ++b) {
      if (group_of[a] != group_of[b] && !AreApart(buffers[a], offsets[a], buffers[b], offsets[b])) {
        return "two groups overlap";
      }
    }
  }
  return "";
}

TEST(Colocate, HasTheLeastHeightOfTheGroups) {
  constexpr Bytes kLimit = 24;
  int exact = 0;
  int refused = 0;
  for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
    const Case drawn = RandomCase(seed, seed % 2 == 0);
    const auto merged = Colocate(drawn.problem, drawn.groups);
    const Bytes least = BruteForce(drawn, kLimit).least();
    if (!merged) {  // Alignments or pins that contradict each other.
      EXPECT_GT(least, kLimit) << "seed " << seed << ": " << merged.error().message;
      ++refused;
      continue;
    }
    ASSERT_TRUE(Validate(merged->problem)) << "seed " << seed;
    const auto plan = OraclePlace(merged->problem);
    if (!plan) continue;
    const std::vector<Bytes> offsets = merged->OffsetsOf(plan->offsets);
    EXPECT_EQ(Fault(drawn, offsets), "") << "seed " << seed;
    if (HasNoHoles(drawn) && plan->height <= kLimit) {
      ++exact;
      EXPECT_EQ(Height(drawn.problem, offsets), least) << "seed " << seed;
    } else {
      EXPECT_GE(Height(drawn.problem, offsets), std::min(least, kLimit)) << "seed " << seed;
    }
  }
  EXPECT_GT(exact, 700);
  EXPECT_GT(refused, 20);
}

TEST(Colocate, GivesTheRestOfTheBytesToOthersWhereASmallMemberIsAlone) {
  Problem problem;
  problem.buffers = {Make("a", 0, 4, 6), Make("b", 2, 7, 3), Make("c", 4, 7, 3)};
  const auto merged = Colocate(problem, {{{1, 0}, {0, 0}}});
  ASSERT_TRUE(merged);
  ASSERT_EQ(merged->problem.buffers.size(), 2u);
  const Buffer& group = merged->problem.buffers[0];
  EXPECT_EQ(group.id, "a");
  EXPECT_EQ(group.size, 6);
  EXPECT_EQ(group.gaps, (std::vector<Gap>{{4, 7, Window{0, 3}}}));
  EXPECT_EQ(merged->OffsetsOf({0, 3}), (std::vector<Bytes>{0, 0, 3}));
  EXPECT_EQ(OracleHeight(merged->problem), 6);
}

// The second member stands 8 bytes above the first, at a multiple of 16: no plan needs padding.
TEST(Colocate, SolvesAlignmentsAtDistances) {
  Problem problem;
  problem.buffers = {Make("a", 0, 4, 8, 1), Make("b", 0, 4, 8, 16), Make("c", 0, 4, 8)};
  const auto merged = Colocate(problem, {{{0, 0}, {1, 8}}});
  ASSERT_TRUE(merged);
  EXPECT_EQ(OracleHeight(merged->problem), 24);
  // Remainders of moduli near 2^30 and 2^29 that have no common divisor.
  problem.buffers = {Make("a", 0, 4, 8, 1073741789), Make("b", 0, 4, 8, 536870909)};
  const auto large = Colocate(problem, {{{0, 0}, {1, 5}}});
  ASSERT_TRUE(large) << large.error().message;
  const Bytes alignment = large->problem.buffers[0].alignment;
  EXPECT_EQ(alignment, Bytes{1073741789} * 536870909);
  for (const Bytes offset : {Bytes{0}, alignment}) {
    if (offset + large->problem.buffers[0].size > kMaxBytes) continue;
    const std::vector<Bytes> offsets = large->OffsetsOf({offset});
    EXPECT_EQ(offsets[0] % 1073741789, 0);
    EXPECT_EQ(offsets[1] % 536870909, 0);
    EXPECT_EQ(offsets[1] - offsets[0], 5);
  }
}

std::string Complaint(const Problem& problem, const Groups& groups) {
  const auto merged = Colocate(problem, groups);
  return merged ? "" : merged.error().message;
}

TEST(GroupsSharingBytes, JoinsWhatLiesWithinOthersAtOneTime) {
  const Problem problem{{Make("a", 0, 4, 8), Make("b", 2, 6, 4), Make("c", 5, 7, 4),
                         Make("d", 0, 7, 4), Make("e", 4, 5, 8)}};
  // b lies within a, and c where b does, while both are live; e begins where a ends.
  EXPECT_EQ(GroupsSharingBytes(problem, {0, 4, 4, 16, 24}), (Groups{{{0, 0}, {1, 4}, {2, 4}}}));
  EXPECT_EQ(GroupsSharingBytes(problem, {0, 4, 6, 16, 24}), (Groups{{{0, 0}, {1, 4}}}))
      << "b and c share some bytes only";
  EXPECT_EQ(GroupsSharingBytes(problem, {0, 8, 12, 16, 24}), Groups{});
  EXPECT_EQ(GroupsSharingBytes(problem, {0, 8, 8, 12, 0}), (Groups{{{1, 0}, {2, 0}}}))
      << "e takes the bytes of a after its end";
}

TEST(GroupsSharingBytes, LeavesOutGaps) {
  Problem problem{{Make("a", 0, 6, 8), Make("b", 2, 4, 8)}};
  problem.buffers[0].gaps = {{2, 4}};
  EXPECT_EQ(GroupsSharingBytes(problem, {0, 0}), Groups{});
  problem.buffers[1].end = 5;
  EXPECT_EQ(GroupsSharingBytes(problem, {0, 0}), (Groups{{{0, 0}, {1, 0}}}));
  problem.buffers[0].gaps = {{2, 5, Window{0, 4}}};
  EXPECT_EQ(GroupsSharingBytes(problem, {0, 2}), Groups{}) << "of the window only bytes 2 and 3";
  EXPECT_EQ(GroupsSharingBytes(problem, {0, 8}), Groups{});
}

TEST(Colocate, NamesWhatContradicts) {
  Problem problem;
  problem.buffers = {Make("a", 0, 4, 8, 2), Make("b", 2, 6, 4, 2), Make("c", 0, 1, 4)};
  EXPECT_EQ(Complaint(problem, {{{0, 0}, {3, 0}}}), "group 0 names buffer 3 of 3");
  EXPECT_EQ(Complaint(problem, {{{0, 0}}, {{1, 0}, {0, 0}}}), "buffer \"a\": two places in groups");
  EXPECT_EQ(Complaint(problem, {{{0, 0}, {1, 1}}}),
            "buffer \"b\": alignment 2 at the distance 1 contradicts those of other members of its "
            "group, or their common multiple is over 2^60");
  problem.buffers[0].offset = 4;
  problem.buffers[2].offset = 0;
  EXPECT_EQ(Complaint(problem, {{{0, 0}, {2, 0}}}),
            "buffer \"c\": offset 0 contradicts that of another member of its group");
  EXPECT_EQ(Complaint(problem, {{{0, 0}, {1, -6}}}),
            "buffer \"a\": the offset of a member puts others of its group below 0 or out of "
            "alignment");
  problem.buffers[0].offset.reset();
  EXPECT_EQ(Complaint(problem, {{{0, 0}, {1, kMaxBytes}}}),
            "buffer \"a\": its group has more than 2^60 bytes");
  EXPECT_EQ(Complaint(problem, {{{1, kMaxBytes + 1}}}),
            "buffer \"b\": distance 1152921504606846977 is beyond 2^60 bytes");
  problem.buffers[2].size = 0;
  EXPECT_NE(Complaint(problem, {}), "");
}

}  // namespace
}  // namespace berth::internal
