// Timeline against Measurer: random changes to sequences of tiny graphs, with every feature.
#include "recompute/timeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "testing/seeds.h"
#include "tests/recompute/cases.h"

namespace berth {
namespace {

using internal::Random;
using internal::Seeds;

// Both have to say the same of a sequence. True if it is valid.
bool ExpectSame(const room::Timeline& timeline, const room::Model& model, Bytes capacity) {
  const room::Sequence sequence = timeline.Get();
  const room::Measure measure = room::Measurer(model, capacity).Of(sequence);
  EXPECT_EQ(timeline.valid(), measure.valid);
  if (!measure.valid) return false;
  EXPECT_EQ(timeline.cost(), measure.cost);
  EXPECT_EQ(timeline.fits(), measure.fits());
  EXPECT_EQ(timeline.excess() == 0, measure.excess == 0);
  EXPECT_EQ(timeline.load(timeline.Peak()), measure.peak);
  return true;
}

// Nothing that was changed or taken back has left a trace: all is as in a timeline of this sequence alone.
void ExpectAsNew(room::Timeline& timeline, const room::Model& model, Bytes capacity) {
  room::Timeline fresh(model, capacity);
  fresh.Set(timeline.Get());
  EXPECT_EQ(timeline.valid(), fresh.valid());
  EXPECT_EQ(timeline.cost(), fresh.cost());
  EXPECT_EQ(timeline.excess(), fresh.excess());
  fresh.CountPressure();
  EXPECT_EQ(timeline.pressure(), fresh.pressure());
  EXPECT_EQ(timeline.Peak(), fresh.Peak());
  EXPECT_EQ(timeline.Repeats(), fresh.Repeats());
  for (std::size_t p = 0; p < fresh.size(); ++p) {
    EXPECT_EQ(timeline.load(p), fresh.load(p)) << "position " << p;
    for (room::Storage s = 0; s < model.storages.size(); ++s) {
      const room::Held held = timeline.HeldAt(s, p);
      const room::Held expected = fresh.HeldAt(s, p);
      EXPECT_EQ(held.version, expected.version) << "storage " << s << " at position " << p;
      EXPECT_EQ(held.last, expected.last) << "storage " << s << " at position " << p;
      EXPECT_EQ(held.stays, expected.stays) << "storage " << s << " at position " << p;
      const auto pause = timeline.PauseAt(s, p);
      const auto wanted = fresh.PauseAt(s, p);
      ASSERT_EQ(pause.has_value(), wanted.has_value()) << "storage " << s << " at position " << p;
      if (!pause) continue;
      EXPECT_EQ(pause->from, wanted->from) << "storage " << s << " at position " << p;
      EXPECT_EQ(pause->to, wanted->to) << "storage " << s << " at position " << p;
    }
  }
}

// A first execution moved between what it waits for and what waits for it.
std::optional<room::Edit> RandomMove(const room::Timeline& timeline, const room::Model& model,
                                     Random& random) {
  const auto last = static_cast<std::int64_t>(timeline.size()) - 1;
  const auto from = static_cast<std::size_t>(random.Uniform(0, last));
  if (timeline.IsRepeat(from)) return std::nullopt;
  const room::Op v = timeline.at(from);
  std::size_t lower = 0;
  std::size_t upper = timeline.size() - 1;
  for (const room::Op u : model.predecessors[v]) lower = std::max(lower, timeline.FirstOf(u) + 1);
  for (const room::Op u : model.successors[v]) upper = std::min(upper, timeline.FirstOf(u) - 1);
  if (lower > upper) return std::nullopt;
  const auto to = static_cast<std::size_t>(
      random.Uniform(static_cast<std::int64_t>(lower), static_cast<std::int64_t>(upper)));
  return to == from ? std::nullopt : std::optional(room::Edit{from, to, v});
}

// A repeat or a return put in, taken out or moved, or a first execution moved.
std::optional<room::Edit> RandomEdit(const room::Timeline& timeline, const room::Model& model,
                                     Random& random) {
  if (random.Chance(0.3)) return RandomMove(timeline, model, random);
  const auto some = [&](std::size_t count) {
    return static_cast<std::size_t>(random.Uniform(0, static_cast<std::int64_t>(count) - 1));
  };
  const std::vector<std::size_t> repeats = timeline.Repeats();
  const bool old = !repeats.empty() && random.Chance(0.6);
  const std::size_t from = old ? repeats[some(repeats.size())] : room::Edit::kNowhere;
  const auto v = old ? timeline.at(from) : static_cast<room::Op>(some(model.num_actions()));
  if (old && random.Chance(0.5)) return room::Edit{from, room::Edit::kNowhere, v};
  const bool returns = model.IsReturn(v);
  if (!returns && model.may_repeat[v] == 0) return std::nullopt;
  const std::size_t first = returns ? 0 : timeline.FirstOf(v) + 1;
  const std::size_t places = timeline.size() + (old ? 0 : 1);
  if (first >= places) return std::nullopt;
  return room::Edit{from, first + some(places - first), v};
}

TEST(Timeline, AgreesWithMeasuringAfterEveryChange) {
  std::uint64_t valid = 0;
  for (std::uint64_t seed = 1; seed <= Seeds(1500); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const RecomputeCase the = seed % 2 == 0 ? LinkedCaseOf(seed, 8) : CaseOf(seed, 8);
    const room::Model model = room::Compile(the.graph, the.counting, the.link);
    Random random(seed);
    room::Timeline timeline(model, the.capacity);
    timeline.Set({the.order.begin(), the.order.end()});
    timeline.CountPressure();
    ASSERT_TRUE(ExpectSame(timeline, model, the.capacity));
    for (int change = 0; change < 30; ++change) {
      const room::Sequence before = timeline.Get();
      // One at a time, as positions and first executions are those of then.
      const std::size_t changes = timeline.changes();
      for (auto k = random.Uniform(1, 3); k > 0; --k) {
        if (const auto edit = RandomEdit(timeline, model, random)) timeline.Change({*edit});
      }
      const bool good = ExpectSame(timeline, model, the.capacity);
      valid += good ? 1 : 0;
      if (good && random.Chance(0.7)) {
        timeline.Keep();
        continue;
      }
      timeline.UndoTo(changes);
      EXPECT_EQ(timeline.Get(), before);
      EXPECT_TRUE(ExpectSame(timeline, model, the.capacity));
      if (change % 10 == 0) ExpectAsNew(timeline, model, the.capacity);
    }
    ExpectAsNew(timeline, model, the.capacity);
  }
  EXPECT_GT(valid, Seeds(1500));
}

// Several edits in one change are the same as one after the other.
TEST(Timeline, EditsOfOneChangeFollowEachOther) {
  for (std::uint64_t seed = 1; seed <= Seeds(500); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const RecomputeCase the = LinkedCaseOf(seed, 8);
    const room::Model model = room::Compile(the.graph, the.counting, the.link);
    Random random(seed);
    room::Timeline one_by_one(model, the.capacity);
    room::Timeline at_once(model, the.capacity);
    const room::Sequence order(the.order.begin(), the.order.end());
    one_by_one.Set(order);
    at_once.Set(order);
    one_by_one.CountPressure();
    at_once.CountPressure();
    std::vector<room::Edit> edits;
    for (int k = 0; k < 4; ++k) {
      const auto edit = RandomEdit(one_by_one, model, random);
      if (!edit) continue;
      edits.push_back(*edit);
      one_by_one.Change({*edit});
    }
    at_once.Change(edits);
    EXPECT_EQ(at_once.Get(), one_by_one.Get());
    if (ExpectSame(at_once, model, the.capacity)) ExpectAsNew(at_once, model, the.capacity);
    at_once.UndoTo(0);
    EXPECT_EQ(at_once.Get(), order);
    EXPECT_TRUE(ExpectSame(at_once, model, the.capacity));
    ExpectAsNew(at_once, model, the.capacity);
    one_by_one.UndoTo(0);
    ExpectAsNew(one_by_one, model, the.capacity);
  }
}

// Neighbours are put in and taken out as one.
TEST(Timeline, PutsInAndTakesOutSeveralSideBySide) {
  std::uint64_t valid = 0;
  for (std::uint64_t seed = 1; seed <= Seeds(1000); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const RecomputeCase the = seed % 2 == 0 ? LinkedCaseOf(seed, 8) : CaseOf(seed, 8);
    const room::Model model = room::Compile(the.graph, the.counting, the.link);
    Random random(seed);
    room::Timeline timeline(model, the.capacity);
    const room::Sequence order(the.order.begin(), the.order.end());
    timeline.Set(order);
    // Part of the order once more, somewhere after it.
    const auto n = static_cast<std::int64_t>(order.size());
    const std::int64_t first = random.Uniform(0, n - 1);
    const std::int64_t last = random.Uniform(first, n - 1);
    auto at = static_cast<std::size_t>(random.Uniform(last + 1, n));
    std::vector<room::Edit> edits;
    for (std::int64_t k = first; k <= last; ++k) {
      const room::Op v = order[static_cast<std::size_t>(k)];
      if (model.may_repeat[v] != 0) edits.push_back({room::Edit::kNowhere, at++, v});
    }
    timeline.Change(edits);
    EXPECT_EQ(timeline.size(), order.size() + edits.size());
    valid += ExpectSame(timeline, model, the.capacity) ? 1 : 0;
    std::vector<room::Edit> gone;
    for (std::size_t k = edits.size(); k-- > 0;) {
      if (random.Chance(0.7)) gone.push_back({edits[k].to, room::Edit::kNowhere, edits[k].op});
    }
    timeline.Change(gone);
    EXPECT_EQ(timeline.size(), order.size() + edits.size() - gone.size());
    ExpectSame(timeline, model, the.capacity);
    timeline.UndoTo(0);
    EXPECT_EQ(timeline.Get(), order);
    EXPECT_TRUE(ExpectSame(timeline, model, the.capacity));
    timeline.CountPressure();
    ExpectAsNew(timeline, model, the.capacity);
  }
  EXPECT_GT(valid, Seeds(1000) / 4);
}

}  // namespace
}  // namespace berth
