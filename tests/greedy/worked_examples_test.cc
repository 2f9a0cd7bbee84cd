// Plans worked out by hand from the rules of each source.

#include <gtest/gtest.h>

#include "place/greedy/greedy.h"
#include "tests/greedy/problems.h"

namespace berth::internal::greedy {
namespace {

using Offsets = std::vector<Bytes>;

Offsets Place(const Problem& problem, Algorithm algorithm) {
  EXPECT_TRUE(Validate(problem).has_value());
  const auto offsets = PlaceGreedy(Compile(problem), algorithm);
  const Placement placement{offsets, Height(problem, offsets)};
  const auto valid = ValidatePlacement(problem, placement);
  EXPECT_TRUE(valid.has_value()) << valid.error().message;
  return offsets;
}

//   load  step 0: a = 4      contention a 6, b 6, c 8, d 8; size x lifetime^2 puts c (12) before
//              1: a+b = 6    d (5) and a (16) before b (8): the order is c, d, a, b.
//              2: b+c = 5    Row 0: c; d meets it and waits; a. Row 3, on c: d. Row 4, on a: b.
//              3: c+d = 8
TEST(Contention, FillsRowsFromTheBottom) {
  const Problem problem = MakeProblem({{0, 2, 4}, {1, 3, 2}, {2, 4, 3}, {3, 4, 5}});
  EXPECT_EQ(Place(problem, Algorithm::kContention), (Offsets{0, 4, 0, 3}));
}

// All live only at step 0, or longer, so the contention is equal for all.
TEST(Contention, BreaksTiesByAlignmentThenLongAreaThenLifetime) {
  Problem alignment = MakeProblem({{0, 1, 8}, {0, 1, 4}});
  alignment.buffers[1].alignment = 4;
  EXPECT_EQ(Place(alignment, Algorithm::kContention), (Offsets{4, 0}));
  // 3 x 1 against 1 x 4.
  EXPECT_EQ(Place(MakeProblem({{0, 1, 3}, {0, 2, 1}}), Algorithm::kContention), (Offsets{1, 0}));
  // 4 x 1 against 1 x 4: the longer lifetime.
  EXPECT_EQ(Place(MakeProblem({{0, 1, 4}, {0, 2, 1}}), Algorithm::kContention), (Offsets{1, 0}));
  // A tie: the index decides.
  EXPECT_EQ(Place(MakeProblem({{0, 1, 4}, {0, 1, 4}}), Algorithm::kContention), (Offsets{0, 4}));
}

// a is pinned to [4, 8). It does not raise the skyline, so b may go below it, but not through it.
TEST(Contention, GoesAroundPins) {
  Problem problem = MakeProblem({{0, 2, 4}, {0, 2, 4}});
  problem.buffers[0].offset = 4;
  EXPECT_EQ(Place(problem, Algorithm::kContention), (Offsets{4, 0}));
  problem.buffers[1].size = 5;
  EXPECT_EQ(Place(problem, Algorithm::kContention), (Offsets{4, 8}));
}

// One problem, every order: sizes 4 5 3 4 1, lifetimes 3 1 3 2 5, areas 12 5 9 8 5.
//
//   step   0 1 2 3 4 5
//   a      . . .              4
//   b        .                5
//   c          . . .          3
//   d              . .        4
//   e      . . . . .          1
const Problem kOrders = MakeProblem({{0, 3, 4}, {1, 2, 5}, {2, 5, 3}, {4, 6, 4}, {0, 5, 1}});

// b 0; a and d are of one size, a starts earlier: a on b at 5, d at 0. c meets a [5,9) and d [0,4):
// 9. e meets all, b [0,5) too, so no byte below 12 is left for it.
TEST(FirstFit, BySize) {
  EXPECT_EQ(Place(kOrders, Algorithm::kFirstFitSize), (Offsets{5, 0, 9, 0, 12}));
}
// a, c, d, then b and e, both 5: b is larger. a 0; c on it, 4; d meets c: below it, 0; b meets a:
// 4; e meets a [0,4), b [4,9), c, d: 9.
TEST(FirstFit, ByArea) {
  EXPECT_EQ(Place(kOrders, Algorithm::kFirstFitArea), (Offsets{0, 4, 4, 0, 9}));
}
// e 0; a (larger) and c: 1 and, on a, 5; d meets e and c: 1; b meets e and a: 5.
TEST(FirstFit, ByLifetime) {
  EXPECT_EQ(Place(kOrders, Algorithm::kFirstFitLifetime), (Offsets{1, 5, 5, 1, 0}));
}
// a (larger) 0, e 4; b meets both: 5; c meets a and e: 5; d meets e [4,5) and c [5,8): 0.
TEST(FirstFit, ByStart) {
  EXPECT_EQ(Place(kOrders, Algorithm::kFirstFitStart), (Offsets{0, 5, 5, 0, 4}));
}
// Row 0: b, the largest; a and e meet it; d; c meets d and waits. Row 4: c, on d alone. Row 5, on
// b: a meets c [4,7), waits; so does e. Row 7, on c: a before e. Row 11, on a: e.
TEST(FirstFit, Lowest) {
  EXPECT_EQ(Place(kOrders, Algorithm::kFirstFitLowest), (Offsets{7, 0, 4, 0, 11}));
}
// Row 0: e, the longest lived, meets all but step 5. Row 1: a, d. Row 5: c on a and d; b on a.
TEST(BestFit, LowestTakesTheLongestLived) {
  EXPECT_EQ(Place(kOrders, Algorithm::kBestFitLowest), (Offsets{1, 5, 5, 1, 0}));
}

// TFLite's order: buffers live throughout go first, by index, whatever their size.
TEST(FirstFit, BySizePlacesWhatIsAlwaysLiveFirst) {
  const Problem problem = MakeProblem({{0, 2, 9}, {0, 4, 1}, {2, 4, 9}, {0, 4, 2}});
  EXPECT_EQ(Place(problem, Algorithm::kFirstFitSize), (Offsets{3, 0, 3, 1}));
}

// Pins leave room for 4 at 0, for 2 at 6 and at 10, and above 14.
//
//   0    4  6  8  10  12  14
//   |    |##|  |##|   |###|
Problem WithRooms(Bytes size) {
  Problem problem = MakeProblem({{0, 9, 2}, {0, 9, 2}, {0, 9, 2}, {1, 8, size}});
  problem.buffers[0].offset = 4;
  problem.buffers[1].offset = 8;
  problem.buffers[2].offset = 12;
  return problem;
}

TEST(Fit, FirstIsLowestAndBestIsSmallest) {
  for (const Algorithm algorithm : {Algorithm::kFirstFitSize, Algorithm::kFirstFitArea,
                                    Algorithm::kFirstFitLifetime, Algorithm::kFirstFitStart}) {
    EXPECT_EQ(Place(WithRooms(2), algorithm)[3], 0) << Info(algorithm).name;
    EXPECT_EQ(Place(WithRooms(5), algorithm)[3], 14) << Info(algorithm).name;
  }
  for (const Algorithm algorithm :
       {Algorithm::kBestFitSize, Algorithm::kBestFitArea, Algorithm::kBestFitLifetime,
        Algorithm::kBestFitStart, Algorithm::kXlaBestFit}) {
    EXPECT_EQ(Place(WithRooms(2), algorithm)[3], 6) << Info(algorithm).name;  // The lower of two.
    EXPECT_EQ(Place(WithRooms(3), algorithm)[3], 0) << Info(algorithm).name;
    EXPECT_EQ(Place(WithRooms(5), algorithm)[3], 14) << Info(algorithm).name;  // On top.
  }
}

// Multiples of 4: neither the gap at 6 nor that at 10 has one with 2 bytes behind it. Multiples of
// 3: the gap at 6 has 2 bytes behind 6, the one at 10 none. Multiples of 10: 10 has only 2 bytes.
TEST(Fit, GapsBeginAtTheAlignment) {
  Problem problem = WithRooms(2);
  problem.buffers[3].alignment = 4;
  EXPECT_EQ(Place(problem, Algorithm::kBestFitSize)[3], 0);
  problem.buffers[3].alignment = 3;
  EXPECT_EQ(Place(problem, Algorithm::kBestFitSize)[3], 6);
  problem.buffers[3].alignment = 10;
  problem.buffers[3].size = 5;
  EXPECT_EQ(Place(problem, Algorithm::kFirstFitSize)[3], 20);
}

// Steps: a lives 10, b lives 3. Events: allocate a, b; free a; allocate c, d; free c, d, b: a lives
// through 2 of them, b through 6. XLA goes by events, TFLite by the earlier start.
TEST(XlaBestFit, CountsLifetimesInAllocationsAndFrees) {
  const Problem problem = MakeProblem({{0, 10, 4}, {9, 12, 4}, {10, 11, 1}, {10, 11, 1}});
  EXPECT_EQ(Place(problem, Algorithm::kXlaBestFit), (Offsets{4, 0, 4, 5}));
  EXPECT_EQ(Place(problem, Algorithm::kBestFitSize), (Offsets{0, 4, 0, 1}));
}

// While a keeps only bytes 4 and 5, b fits below and c above them.
TEST(Windows, LetBuffersSlipBetweenLiveBytes) {
  Problem problem = MakeProblem({{0, 9, 10}, {2, 6, 4}, {2, 6, 4}});
  problem.buffers[0].gaps = {{2, 6, Window{4, 6}}};
  for (const Algorithm algorithm : {Algorithm::kFirstFitSize, Algorithm::kBestFitLifetime,
                                    Algorithm::kFirstFitLowest, Algorithm::kXlaBestFit}) {
    EXPECT_EQ(Place(problem, algorithm), (Offsets{0, 0, 6})) << Info(algorithm).name;
  }
  // Nothing goes below the skyline: b and c are placed on top of the window.
  EXPECT_EQ(Place(problem, Algorithm::kContention), (Offsets{0, 6, 10}));
  problem.buffers[0].gaps[0].window.reset();
  EXPECT_EQ(Place(problem, Algorithm::kContention), (Offsets{0, 0, 4}));
}

TEST(Hints, AreTakenWhereTheyCostNothing) {
  // 12 bytes in total, and no plan is lower: a may have its hint at the top.
  Problem problem = MakeProblem({{0, 1, 4}, {0, 1, 4}, {0, 1, 4}});
  for (const Algorithm algorithm : Planners()) {
    problem.buffers[0].hint = 8;
    EXPECT_EQ(Place(problem, algorithm)[0], 8) << Info(algorithm).name;
    problem.buffers[0].hint = 9;  // Would make the plan higher.
    EXPECT_EQ(Place(problem, algorithm)[0], 0) << Info(algorithm).name;
  }
  problem.buffers[0].hint = 6;  // Not a multiple of the alignment.
  problem.buffers[0].alignment = 4;
  EXPECT_EQ(Place(problem, Algorithm::kFirstFitStart)[0], 0);
  problem.buffers[0].hint.reset();
  problem.buffers[1].hint = 2;  // Taken by a.
  EXPECT_EQ(Place(problem, Algorithm::kFirstFitStart), (Offsets{0, 4, 8}));
}

}  // namespace
}  // namespace berth::internal::greedy
