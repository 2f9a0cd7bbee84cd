// Validation, loads, sections and partitions of problems.

#include "berth/problem.h"

#include <gtest/gtest.h>

#include <functional>

#include "testing/differential.h"
#include "testing/oracle.h"

namespace berth::internal {
namespace {

Buffer Make(std::string id, Step start, Step end, Bytes size) {
  Buffer buffer;
  buffer.id = std::move(id);
  buffer.start = start;
  buffer.end = end;
  buffer.size = size;
  return buffer;
}

Problem Two() {
  Problem problem;
  problem.buffers = {Make("a", 0, 4, 8), Make("b", 2, 6, 4)};
  return problem;
}

// The buffer that `message` names first, if any; of two with one id, the later.
Subject NamedFirst(const Problem& problem, const std::string& message) {
  for (std::size_t b = problem.buffers.size(); b-- > 0;) {
    if (message.starts_with("buffer \"" + problem.buffers[b].id + "\":") ||
        message.starts_with("buffer number " + std::to_string(b + 1) + " ")) {
      return Subject::OfBuffer(b);
    }
  }
  return {};
}

std::string Complaint(const std::function<void(Problem&)>& spoil) {
  Problem problem = Two();
  spoil(problem);
  const auto valid = Validate(problem);
  if (valid) return "";
  if (!valid.error().message.starts_with("the highest pinned")) {
    EXPECT_EQ(valid.error().subject, NamedFirst(problem, valid.error().message));
  }
  return valid.error().message;
}

TEST(Validate, NamesTheFaultTheBufferAndTheValue) {
  EXPECT_EQ(Complaint([](Problem&) {}), "");
  EXPECT_EQ(Complaint([](Problem& p) { p.buffers[1].id = "a"; }),
            "buffer \"a\": the id comes twice");
  EXPECT_EQ(Complaint([](Problem& p) { p.buffers[1].id = ""; }), "buffer number 2 has an empty id");
  EXPECT_EQ(Complaint([](Problem& p) { p.buffers[1].end = 2; }),
            "buffer \"b\": start 2 must be less than end 2");
  EXPECT_EQ(Complaint([](Problem& p) { p.buffers[0].size = 0; }),
            "buffer \"a\": size is 0 but must be from 1 to 2^60");
  EXPECT_EQ(Complaint([](Problem& p) { p.buffers[0].size = -3; }),
            "buffer \"a\": size is -3 but must be from 1 to 2^60");
  EXPECT_EQ(Complaint([](Problem& p) { p.buffers[0].alignment = 0; }),
            "buffer \"a\": alignment is 0 but must be from 1 to 2^60");
  EXPECT_EQ(Complaint([](Problem& p) { p.buffers[0].offset = -1; }),
            "buffer \"a\": offset is -1 but must be from 0 to 2^60");
  EXPECT_EQ(Complaint([](Problem& p) {
              p.buffers[0].alignment = 4;
              p.buffers[0].offset = 6;
            }),
            "buffer \"a\": offset 6 is not a multiple of the alignment 4");
  EXPECT_EQ(Complaint([](Problem& p) { p.buffers[0].hint = -2; }),
            "buffer \"a\": hint is -2 but must be from 0 to 2^60");
  EXPECT_EQ(Complaint([](Problem& p) {
              p.buffers[0].gaps = {{1, 1, {}}};
            }),
            "buffer \"a\": gap [1, 1) must start before it ends");
  EXPECT_EQ(Complaint([](Problem& p) {
              p.buffers[0].gaps = {{3, 5, {}}};
            }),
            "buffer \"a\": gap [3, 5) lies outside the lifetime [0, 4)");
  EXPECT_EQ(Complaint([](Problem& p) {
              p.buffers[0].gaps = {{1, 3, {}}, {2, 4, {}}};
            }),
            "buffer \"a\": gap [2, 4) overlaps or precedes the gap before it");
  EXPECT_EQ(Complaint([](Problem& p) {
              p.buffers[0].gaps = {{1, 2, Window{4, 9}}};
            }),
            "buffer \"a\": gap [1, 2) has the window [4, 9), which is empty or outside the "
            "buffer's 8 bytes");
  EXPECT_EQ(Complaint([](Problem& p) { p.capacity = -1; }),
            "capacity is -1 but must be from 0 to 2^60");
  EXPECT_NE(Complaint([](Problem& p) { p.buffers[0].start = -kMaxStep - 1; }), "");
}

TEST(Validate, PointsAtTheHighestPin) {
  Problem problem = Two();
  problem.buffers[0].offset = 1;
  problem.buffers[1].offset = kMaxBytes;
  const auto valid = Validate(problem);
  ASSERT_FALSE(valid.has_value());
  EXPECT_EQ(valid.error().subject, Subject::OfBuffer(1)) << valid.error().message;
}

TEST(Validate, SumsCannotOverflow) {
  EXPECT_NE(Complaint([](Problem& p) {
              p.buffers[0].size = kMaxBytes;
              p.buffers[1].size = kMaxBytes;
            }),
            "");
  EXPECT_NE(Complaint([](Problem& p) { p.buffers[0].alignment = kMaxBytes; }), "");
  EXPECT_NE(Complaint([](Problem& p) { p.buffers[0].offset = kMaxBytes; }), "");
  EXPECT_EQ(Complaint([](Problem& p) { p.buffers[0].size = kMaxBytes - 4; }), "");
}

TEST(ValidatePlacement, NamesEachKindOfFault) {
  Problem problem = Two();
  problem.capacity = 16;
  const auto complaint = [&](const Placement& placement) {
    const auto valid = ValidatePlacement(problem, placement);
    if (valid) return std::string();
    EXPECT_EQ(valid.error().subject, NamedFirst(problem, valid.error().message));
    return valid.error().message;
  };
  EXPECT_EQ(complaint({{0, 8}, 12}), "");
  EXPECT_EQ(complaint({{0}, 8}), "the plan has 1 offsets for 2 buffers");
  EXPECT_EQ(complaint({{0, 7}, 11}),
            "buffer \"b\": bytes [7, 11) meet bytes [0, 8) of buffer \"a\" at step 2");
  EXPECT_EQ(complaint({{-1, 8}, 12}), "buffer \"a\": offset -1 must be from 0 to 2^60");
  EXPECT_EQ(complaint({{0, 13}, 17}), "buffer \"b\": bytes [13, 17) exceed the capacity 16");
  EXPECT_EQ(complaint({{0, 8}, 13}), "the plan's height is 12, not 13 as stated");
  problem.buffers[1].alignment = 8;
  EXPECT_EQ(complaint({{0, 9}, 13}), "buffer \"b\": offset 9 is not a multiple of the alignment 8");
  problem.buffers[1].offset = 0;
  EXPECT_EQ(complaint({{4, 8}, 12}), "buffer \"b\": offset 8 is not the pinned offset 0");
}

TEST(ValidatePlacement, LifetimesThatTouchMayShareBytes) {
  Problem problem;
  problem.buffers = {Make("a", 0, 3, 4), Make("b", 3, 5, 4)};
  EXPECT_TRUE(ValidatePlacement(problem, {{0, 0}, 4}).has_value());
}

TEST(ValidatePlacement, WindowsLeaveTheOtherBytesFree) {
  Problem problem;
  problem.buffers = {Make("a", 0, 9, 4), Make("b", 2, 6, 3)};
  problem.buffers[0].gaps = {{2, 6, Window{1, 3}}};
  EXPECT_TRUE(ValidatePlacement(problem, {{0, 3}, 6}).has_value());
  EXPECT_FALSE(ValidatePlacement(problem, {{0, 2}, 5}).has_value());
  problem.buffers[1].size = 1;
  EXPECT_TRUE(ValidatePlacement(problem, {{0, 0}, 4}).has_value());
  problem.buffers[1].end = 7;
  EXPECT_FALSE(ValidatePlacement(problem, {{0, 0}, 4}).has_value());
}

TEST(Sections, AreTheMaximalSetsLiveTogether) {
  Problem problem;
  problem.buffers = {Make("a", 0, 3, 1), Make("b", 1, 5, 2), Make("c", 2, 4, 4),
                     Make("d", 4, 6, 8)};
  const auto sections = Sections(problem);
  ASSERT_EQ(sections.size(), 2u);
  EXPECT_EQ(sections[0].buffers, (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(sections[0].start, 2);
  EXPECT_EQ(sections[0].end, 3);
  EXPECT_EQ(sections[0].load, 7);
  EXPECT_EQ(sections[1].buffers, (std::vector<std::size_t>{1, 3}));
  EXPECT_EQ(sections[1].start, 4);
  EXPECT_EQ(sections[1].end, 5);
  EXPECT_EQ(sections[1].load, 10);
}

TEST(MaxLiveLoad, CountsAlignmentPadding) {
  Problem problem;
  problem.buffers = {Make("a", 0, 2, 5), Make("b", 0, 2, 5), Make("c", 0, 2, 3)};
  EXPECT_EQ(MaxLiveLoad(problem).lower_bound, 13);
  problem.buffers[0].alignment = problem.buffers[1].alignment = 16;
  // The best offsets are 0 and 16.
  EXPECT_EQ(MaxLiveLoad(problem).load, 13);
  EXPECT_EQ(MaxLiveLoad(problem).lower_bound, 21);
}

TEST(MaxLiveLoad, CountsPins) {
  Problem problem = Two();
  problem.buffers[0].offset = 100;
  EXPECT_EQ(MaxLiveLoad(problem).load, 12);
  EXPECT_EQ(MaxLiveLoad(problem).lower_bound, 108);
}

TEST(MaxLiveLoad, IsABound) {
  EXPECT_TRUE(ForRandomProblems(77'000, 3000, AllKnobs(),
                                [](const Problem& problem) -> std::optional<std::string> {
                                  const auto least = OracleHeight(problem);
                                  const LoadBound bound = MaxLiveLoad(problem);
                                  if (bound.load > bound.lower_bound) return "load above bound";
                                  if (least && bound.lower_bound > *least) return "no bound";
                                  return std::nullopt;
                                }));
}

TEST(Partitions, AreTheGroupsThatNeverMeet) {
  Problem problem;
  problem.buffers = {Make("late", 5, 7, 1), Make("a", 0, 3, 1), Make("b", 2, 5, 1),
                     Make("later", 6, 9, 1)};
  EXPECT_EQ(Partitions(problem), (std::vector<std::vector<std::size_t>>{{1, 2}, {0, 3}}));
  EXPECT_TRUE(Partitions({}).empty());
}

}  // namespace
}  // namespace berth::internal
