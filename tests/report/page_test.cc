// The data of pages against the problem and the plan; and the differences between two plans.
#include "berth/page.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "berth/diff.h"
#include "berth/plan.h"
#include "report/analysis.h"
#include "testing/live.h"
#include "testing/random_graph.h"
#include "testing/random_problem.h"

namespace berth::internal::report {
namespace {

using Json = nlohmann::ordered_json;

// The JSON within a page.
std::string DataOf(const std::string& html) {
  const std::string open = "<script type=\"application/json\" id=\"data\">";
  const std::size_t begin = html.find(open);
  if (begin == std::string::npos) return "";
  const std::size_t end = html.find("</script>", begin);
  return html.substr(begin + open.size(), end - begin - open.size());
}

PlanAnswer PlaceWell(const Problem& problem) {
  Budget budget;
  budget.SetNodeLimit(2000);
  return Place(problem, {}, budget).value();
}

// Bytes live at `step`, counted buffer by buffer, without `without`.
Bytes LoadAt(const Problem& problem, Step step, std::size_t without) {
  Bytes load = 0;
  for (std::size_t b = 0; b < problem.buffers.size(); ++b) {
    if (b == without) continue;
    const std::optional<Window> live = LiveAt(problem.buffers[b], step);
    if (live) load += live->upper - live->lower;
  }
  return load;
}

Bytes PeakWithout(const Problem& problem, std::size_t without) {
  Bytes peak = 0;
  for (const Buffer& buffer : problem.buffers) {
    for (Step step = buffer.start; step < buffer.end; ++step) {
      peak = std::max(peak, LoadAt(problem, step, without));
    }
  }
  return peak;
}

TEST(SweepPage, HoldsEveryPointAsData) {
  SweepCurve hostile;
  hostile.model = "</script><!--\xff";
  hostile.input = "hash";
  hostile.points.push_back({3, kMaxBytes, Outcome::kFeasible, kMaxBytes - 1, 1, kMaxBytes - 2, 7, 5,
                            0.123456789012345678});
  hostile.points.push_back({0, 0, Outcome::kInfeasible});
  SweepCurve known;
  known.model = "known";
  known.least = 5;
  known.least_peak = 9;
  const std::string html = WritePage({hostile, known}, {{"a title", "what <it> says"}});
  EXPECT_EQ(html, WritePage({hostile, known}, {{"a title", "what <it> says"}}));
  const Json data = Json::parse(DataOf(html));
  EXPECT_EQ(data.at("kind"), "sweep");
  EXPECT_EQ(data.at("provenance"), Json::parse(R"([["a title", "what <it> says"]])"));
  const Json& first = data.at("curves").at(0);
  EXPECT_EQ(first.at("model"), "</script><!--\xef\xbf\xbd");
  EXPECT_TRUE(first.at("least").is_null());
  EXPECT_EQ(first.at("number"), Json({3, 0}));
  EXPECT_EQ(first.at("capacity"), Json({kMaxBytes, 0}));
  EXPECT_EQ(first.at("outcome"), Json({"feasible", "infeasible"}));
  EXPECT_EQ(first.at("avoidable"), Json({kMaxBytes - 1, nullptr}));
  EXPECT_EQ(first.at("spilled"), Json({1, 0}));
  EXPECT_EQ(first.at("retrieved"), Json({kMaxBytes - 2, 0}));
  EXPECT_EQ(first.at("traffic_bound"), Json({7, 0}));
  EXPECT_EQ(first.at("traffic_by_sum"), Json({5, 0}));
  EXPECT_EQ(first.at("seconds"), Json({0.123456789012345678, 0.0}));
  EXPECT_EQ(data.at("curves").at(1).at("least_peak"), 9);
  EXPECT_NE(html.find("<title>2 models: traffic against memory"), std::string::npos);
}

TEST(Analysis, AgreesWithCountingStepByStep) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    ProblemKnobs knobs = AllKnobs();
    knobs.max_buffers = 8;
    Problem problem = RandomProblem(seed, knobs);
    problem.capacity.reset();
    const std::size_t none = problem.buffers.size();
    const Curve curve = CurveOf(problem);
    ASSERT_TRUE(curve.live.empty() || curve.live.back() == 0);
    for (std::size_t i = 0; i + 1 < curve.steps.size(); ++i) {
      for (Step step = curve.steps[i]; step < curve.steps[i + 1]; ++step) {
        ASSERT_EQ(curve.live[i], LoadAt(problem, step, none)) << "step " << step;
      }
    }
    const PlanAnswer answer = PlaceWell(problem);
    if (!answer.best) continue;
    const Placement placement = PlacementOf(*answer.best);
    const PeakFacts peak = FactsOfPeak(problem, &placement, curve);
    EXPECT_EQ(peak.load, PeakWithout(problem, none));
    EXPECT_EQ(peak.load, MaxLiveLoad(problem).load);
    EXPECT_EQ(peak.start, MaxLiveLoad(problem).load_step);
    EXPECT_EQ(peak.load + peak.padding + peak.fragmentation, answer.best->height());
    for (const Hole& hole : peak.holes) {
      EXPECT_LT(hole.lower, hole.upper);
      EXPECT_LE(hole.padding, hole.upper - hole.lower);
    }
    std::map<std::size_t, Bytes> relieved;
    for (const Relief& relief : FindRelief(problem, curve, none)) {
      relieved[relief.buffer] = relief.peak;
    }
    for (std::size_t b = 0; b < none; ++b) {
      const Bytes without = PeakWithout(problem, b);
      ASSERT_EQ(relieved.contains(b), without < peak.load) << "buffer " << b;
      if (relieved.contains(b)) {
        EXPECT_EQ(relieved[b], without) << "buffer " << b;
      }
    }
  }
}

TEST(Analysis, FindsTheLeastSufficientShrink) {
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    ProblemKnobs knobs;
    knobs.max_buffers = 7;
    knobs.gap_chance = 0.3;
    Problem problem = RandomProblem(seed, knobs);
    const std::size_t none = problem.buffers.size();
    const Bytes load = PeakWithout(problem, none);
    problem.capacity = load - 2;
    if (*problem.capacity < 1) continue;
    std::map<std::size_t, Bytes> enough;
    for (const Relief& relief : FindRelief(problem, CurveOf(problem), none)) {
      if (relief.enough) enough[relief.buffer] = *relief.enough;
    }
    for (std::size_t b = 0; b < none; ++b) {
      // Tries every remaining size. Windows are kept, except those of all bytes.
      std::optional<Bytes> least;
      for (Bytes by = 1; by < problem.buffers[b].size && !least; ++by) {
        Problem smaller = problem;
        smaller.buffers[b].size -= by;
        for (Gap& gap : smaller.buffers[b].gaps) {
          const bool whole = gap.window == Window{0, problem.buffers[b].size};
          if (whole) gap.window->upper -= by;
        }
        Bytes peak = 0;
        for (const Buffer& buffer : problem.buffers) {
          for (Step step = buffer.start; step < buffer.end; ++step) {
            peak = std::max(peak, LoadAt(smaller, step, none));
          }
        }
        if (peak <= *problem.capacity) least = by;
      }
      ASSERT_EQ(enough.contains(b), least.has_value()) << "buffer " << b;
      if (least) {
        EXPECT_EQ(enough[b], *least);
      }
      found += least ? 1 : 0;
    }
  }
  EXPECT_GT(found, 100);
}

TEST(Analysis, PaddingIsWhatAlignmentForces) {
  Problem problem;
  problem.buffers = {{"a", 0, 4, 5}, {"b", 0, 4, 8, 16}, {"c", 0, 4, 3}};
  const Placement placement{{0, 16, 40}, 43};
  const PeakFacts peak = FactsOfPeak(problem, &placement, CurveOf(problem));
  EXPECT_EQ(peak.load, 16);
  EXPECT_EQ(peak.padding, 11);        // From 5 to 16: "b" cannot start lower.
  EXPECT_EQ(peak.fragmentation, 16);  // From 24 to 40: "c" could start lower.
  ASSERT_EQ(peak.holes.size(), 2u);
  EXPECT_EQ(peak.holes[0].above, 1u);
  EXPECT_EQ(peak.holes[1].above, 2u);
}

TEST(Page, HoldsTheProblemAndThePlan) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    const Problem problem = RandomProblem(seed, AllKnobs());
    const PlanAnswer answer = PlaceWell(problem);
    Provenance provenance{"1.2.3", "table.csv", "fnv1a64:0", {}, {}};
    const std::string html = WritePage(problem, answer, provenance, {"place", "accepted"});
    const Json data = Json::parse(DataOf(html));
    const Json& plan = data.at("plans").at(0);
    // Exactly the contents of the plan's file.
    Json file = Json::parse(WritePlanJson(problem, answer, provenance));
    file.erase("residencies");
    EXPECT_EQ(plan.at("head"), file);
    const Json& columns = plan.at("buffers");
    const std::size_t count = problem.buffers.size();
    std::map<std::size_t, Bytes> alignments;
    for (const Json& pair : columns.at("alignment")) alignments[pair.at(0)] = pair.at(1);
    std::map<std::size_t, std::vector<Gap>> gaps;
    for (const Json& gap : columns.at("gaps")) {
      const Window window{gap.at(3), gap.at(4)};
      gaps[gap.at(0)].push_back(
          {gap.at(1), gap.at(2),
           window.lower < window.upper ? std::optional(window) : std::nullopt});
    }
    for (std::size_t b = 0; b < count; ++b) {
      const Buffer& buffer = problem.buffers[b];
      EXPECT_EQ(columns.at("id").at(b), buffer.id);
      EXPECT_EQ(columns.at("start").at(b), buffer.start);
      EXPECT_EQ(columns.at("end").at(b), buffer.end);
      EXPECT_EQ(columns.at("size").at(b), buffer.size);
      if (answer.best) {
        EXPECT_EQ(columns.at("offset").at(b), answer.best->residencies[b].offset);
      }
      EXPECT_EQ(alignments.contains(b) ? alignments[b] : 1, buffer.alignment);
      EXPECT_EQ(gaps[b], buffer.gaps);
    }
    EXPECT_EQ(columns.at("offset").is_null(), !answer.best);
    EXPECT_EQ(columns.at("id").size(), count);
  }
}

TEST(Page, NamesCannotLeaveTheData) {
  Problem problem;
  const std::vector<std::string> names = {"</script><script>alert(1)</script>",
                                          "<!--",
                                          "@BERTH_DATA@",
                                          "a\"b\\",
                                          std::string(10'000, 'x'),
                                          "\xff\xfe"};
  for (const std::string& name : names) problem.buffers.push_back({name, 0, 2, 16});
  const PlanAnswer answer = PlaceWell(problem);
  const Provenance provenance{"1", "</title><script>", "h", {}, {}};
  const std::string html = WritePage(problem, answer, provenance, {"place"});
  const std::string text = DataOf(html);
  EXPECT_EQ(text.find('<'), std::string::npos);
  const Json data = Json::parse(text);
  for (std::size_t b = 0; b + 1 < names.size(); ++b) {
    EXPECT_EQ(data.at("plans").at(0).at("buffers").at("id").at(b), names[b]);
  }
  EXPECT_EQ(data.at("plans").at(0).at("buffers").at("id").at(5), "\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(html.find("</title><script>:"), std::string::npos);
  EXPECT_EQ(html, WritePage(problem, answer, provenance, {"place"}));
}

TEST(Page, HoldsTheGraphInTheOrderOfThePlan) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = RandomGraph(seed);
    Budget budget;
    const PlanAnswer plan = Plan(graph, {}, budget).value();
    const Json data = Json::parse(DataOf(WritePage(graph, plan, {}, {"plan"})));
    const Json& columns = data.at("plans").at(0).at("graph").at("operators");
    for (std::size_t s = 0; s < plan.best->order.size(); ++s) {
      const Operator& op = graph.operators[plan.best->order[s]];
      EXPECT_EQ(columns.at("name").at(s), op.name);
      EXPECT_EQ(columns.at("inputs").at(s), Json(op.inputs));
      EXPECT_EQ(columns.at("outputs").at(s), Json(op.outputs));
    }
    std::vector<TensorIndex> tensors;
    for (const Residency& r : plan.best->residencies) tensors.push_back(r.tensor);
    EXPECT_EQ(data.at("plans").at(0).at("buffers").at("tensor"), Json(tensors));
    EXPECT_EQ(data.at("plans").at(0).at("peak").at("load"), plan.best->peak());
  }
}

TEST(Trace, HasASliceForEachBufferAndItsEnd) {
  Problem problem;
  problem.buffers = {{"a", 0, 3, 4}, {"b", 3, 5, 4}, {"c", 2, 4, 4}};
  const Placement placement{{0, 0, 4}, 8};
  PlanAnswer answer;
  answer.best = PlanOf(problem, placement.offsets);
  const Json trace = Json::parse(WriteTrace(problem, answer, "t"));
  std::map<std::string, std::vector<Json>> events;
  for (const Json& event : trace.at("traceEvents")) events[event.at("ph")].push_back(event);
  ASSERT_EQ(events["b"].size(), 3u);
  ASSERT_EQ(events["e"].size(), 3u);
  for (std::size_t b = 0; b < 3; ++b) {
    EXPECT_EQ(events["b"][b].at("name"), problem.buffers[b].id);
    EXPECT_EQ(events["b"][b].at("ts"), problem.buffers[b].start);
    EXPECT_EQ(events["e"][b].at("ts"), problem.buffers[b].end);
    EXPECT_EQ(events["b"][b].at("args").at("offset"), placement.offsets[b]);
  }
  std::vector<Bytes> live;
  for (const Json& event : events["C"]) live.push_back(event.at("args").at("live"));
  EXPECT_EQ(live, (std::vector<Bytes>{4, 8, 8, 4, 0}));
}

PlanFile FileOf(const std::vector<Buffer>& buffers, const std::vector<Bytes>& offsets) {
  PlanFile plan;
  plan.problem.buffers = buffers;
  plan.placement.offsets = offsets;
  plan.placement.height = Height(plan.problem, offsets);
  return plan;
}

TEST(Diff, ClassifiesEachBuffer) {
  const PlanFile before = FileOf({{"same", 0, 3, 4},
                                  {"moved", 0, 3, 4},
                                  {"grown", 3, 5, 4},
                                  {"shrunk", 3, 5, 9},
                                  {"retimed", 6, 7, 2},
                                  {"gone", 0, 1, 1}},
                                 {0, 4, 0, 4, 0, 8});
  const PlanFile after = FileOf({{"new", 0, 1, 5},
                                 {"same", 0, 3, 4},
                                 {"moved", 0, 3, 4},
                                 {"shrunk", 3, 5, 8},
                                 {"grown", 3, 5, 6},
                                 {"retimed", 6, 9, 2}},
                                {10, 0, 5, 6, 0, 0});
  const PlanDiff diff = Compare(before, after).value();
  EXPECT_EQ(diff.unchanged, 1u);
  EXPECT_EQ(diff.added, (std::vector<std::size_t>{0}));
  EXPECT_EQ(diff.removed, (std::vector<std::size_t>{5}));
  ASSERT_EQ(diff.changed.size(), 4u);
  EXPECT_EQ(diff.changed[0].after, 4u);  // Has grown most.
  EXPECT_TRUE(diff.changed[0].resized);
  EXPECT_FALSE(diff.changed[0].moved);
  EXPECT_EQ(diff.changed[1].after, 2u);
  EXPECT_TRUE(diff.changed[1].moved);
  EXPECT_EQ(diff.changed[2].after, 5u);
  EXPECT_TRUE(diff.changed[2].retimed);
  EXPECT_EQ(diff.changed[3].after, 3u);  // Has shrunk and moved.
  EXPECT_EQ(std::vector({diff.grown, diff.shrunk, diff.moved, diff.retimed}),
            (std::vector<std::size_t>{1, 1, 2, 1}));
  EXPECT_EQ(diff.before.load, 13);
  EXPECT_EQ(diff.after.load, 14);
  EXPECT_FALSE(diff.same());
  EXPECT_TRUE(Compare(before, before)->same());
}

TEST(Diff, OneMemoryAndSeveralAreNotCompared) {
  const PlanFile one = FileOf({{"a", 0, 3, 4}, {"b", 0, 3, 4}}, {0, 4});
  PlanFile several = FileOf({{"a", 0, 3, 4}, {"b", 0, 3, 4}}, {0, 0});
  several.name = "several.json";
  several.memories = {{"fast"}, {"slow"}};
  several.uses = {{4, 4}, {4, 4}};
  several.memory_of = {0, 1};
  several.cost_unit = "ns";
  const auto refused = Compare(one, several);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidPlan);
  EXPECT_NE(refused.error().message.find("several.json is a plan for several"), std::string::npos);
  EXPECT_FALSE(Compare(several, one).has_value());
  // The time of a run is no cost of accesses.
  PlanFile run = several;
  run.prefetch = true;
  EXPECT_FALSE(Compare(several, run)->same_cost_kind);
  run.prefetch = false;
  EXPECT_TRUE(Compare(several, run)->same_cost_kind);
  run.cost_unit = "cycles";
  EXPECT_FALSE(Compare(several, run)->same_cost_kind);
}

}  // namespace
}  // namespace berth::internal::report
