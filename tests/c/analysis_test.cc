// Runs with copies off chip and proofs through the C interface, as from C++ and from the command.

#include <berth/berth.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "berth/device.h"
#include "berth/graph.h"
#include "berth/io.h"
#include "berth/off_chip.h"
#include "berth/place.h"
#include "berth/prove.h"
#include "testing/random_graph.h"
#include "testing/random_problem.h"

namespace berth::internal {
namespace {

struct Free {
  void operator()(berth_options* handle) const { berth_options_free(handle); }
  void operator()(berth_problem* handle) const { berth_problem_free(handle); }
  void operator()(berth_graph* handle) const { berth_graph_free(handle); }
  void operator()(berth_plan* handle) const { berth_plan_free(handle); }
  void operator()(berth_text* handle) const { berth_text_free(handle); }
  void operator()(berth_off_chip_run* handle) const { berth_off_chip_run_free(handle); }
};
template <typename T>
using Owned = std::unique_ptr<T, Free>;

Owned<berth_options> OptionsWith(const std::vector<std::pair<std::string, std::string>>& values) {
  Owned<berth_options> options(berth_options_new());
  for (const auto& [name, value] : values) {
    EXPECT_EQ(berth_options_set(options.get(), name.c_str(), value.c_str(), nullptr), BERTH_OK)
        << name;
  }
  return options;
}

constexpr const char* kDevice = R"({"format": "berth-device", "format_version": 1,
    "operations_per_second": 1, "bandwidth": "1GB/s", "launch_ns": 7,
    "link": {"out": "700MB/s", "in": "1300MB/s", "latency_ns": 3, "energy_pj_per_byte": 162.5}})";

Owned<berth_graph> ParseGraph(const std::string& json, const berth_options* options) {
  berth_graph* graph = nullptr;
  EXPECT_EQ(berth_graph_parse(json.data(), json.size(), "g.json", options, &graph, nullptr),
            BERTH_OK);
  return Owned<berth_graph>(graph);
}

// Of the plan of a graph that has been given its costs.
void ExpectRun(const Graph& graph, const Link& link, const MemoryPlan& plan,
               const berth_off_chip_run* run) {
  const auto expected = RunOffChip(graph, link, plan);
  ASSERT_TRUE(expected.has_value()) << expected.error().message;
  berth_off_chip_summary sums{};
  sums.struct_size = sizeof sums;
  ASSERT_EQ(berth_off_chip_run_summary(run, &sums, nullptr), BERTH_OK);
  EXPECT_EQ(sums.time, expected->time);
  EXPECT_EQ(sums.computing, expected->computing);
  EXPECT_EQ(sums.copying, expected->copying);
  EXPECT_EQ(sums.stalled, expected->stalled);
  EXPECT_EQ(sums.avoidable_pj, 162.5 * static_cast<double>(plan.traffic.avoidable()));
  EXPECT_EQ(sums.compulsory_pj,
            162.5 * static_cast<double>(plan.traffic.compulsory_in + plan.traffic.compulsory_out));
  ASSERT_EQ(berth_off_chip_run_copy_count(run), expected->copies.size());
  for (std::size_t i = 0; i < expected->copies.size(); ++i) {
    const OffChipCopy& copy = expected->copies[i];
    berth_off_chip_copy found{};
    found.struct_size = sizeof found;
    ASSERT_EQ(berth_off_chip_run_copy(run, i, &found, nullptr), BERTH_OK);
    EXPECT_EQ(found.residency, copy.residency);
    EXPECT_EQ(found.out, copy.out ? 1 : 0);
    EXPECT_EQ(found.avoidable, copy.avoidable ? 1 : 0);
    EXPECT_EQ(found.after, copy.after);
    EXPECT_EQ(found.before, copy.before);
    EXPECT_EQ(found.begins, copy.transfer.begin);
    EXPECT_EQ(found.ends, copy.transfer.end);
  }
  std::size_t count = 0;
  const berth_interval* const operators = berth_off_chip_run_operators(run, &count);
  ASSERT_EQ(count, expected->operators.size());
  for (std::size_t s = 0; s < count; ++s) {
    EXPECT_EQ(operators[s].begins, expected->operators[s].begin);
    EXPECT_EQ(operators[s].ends, expected->operators[s].end);
  }
}

TEST(AnalysisOfC, RunsOffChipAsInCpp) {
  const auto device = ReadDevice(kDevice, "device");
  ASSERT_TRUE(device.has_value()) << device.error().message;
  int copies = 0;
  int repeats = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE(seed);
    Graph graph = RandomGraph(seed, SpillKnobs(4, 10));
    for (Operator& op : graph.operators) op.type.clear();  // They may run again.
    const auto options = OptionsWith({{"device", kDevice},
                                      {"budget", "MR"},
                                      {"count", "all"},
                                      {"node_limit", "2000"},
                                      {"recompute", seed % 2 == 0 ? "on" : "off"}});
    const auto parsed = ParseGraph(WriteGraphJson(graph), options.get());
    berth_plan* made = nullptr;
    ASSERT_EQ(berth_plan_graph(parsed.get(), options.get(), &made, nullptr), BERTH_OK);
    const Owned<berth_plan> plan(made);
    berth_summary summary{};
    summary.struct_size = sizeof summary;
    ASSERT_EQ(berth_plan_summary(plan.get(), &summary, nullptr), BERTH_OK);
    if (summary.addressed == 0) continue;
    berth_off_chip_run* found = nullptr;
    ASSERT_EQ(berth_run_off_chip(plan.get(), &found, nullptr), BERTH_OK);
    const Owned<berth_off_chip_run> run(found);

    // The plan as its file has it.
    berth_text* json = nullptr;
    ASSERT_EQ(berth_plan_to_json(plan.get(), &json, nullptr), BERTH_OK);
    const Owned<berth_text> text(json);
    ASSERT_TRUE(SetCosts(*device, graph).has_value());
    const auto read = ReadPlanFor(graph, Counting{true, true}, berth_text_data(text.get()), "plan");
    ASSERT_TRUE(read.has_value()) << read.error().message;
    ExpectRun(graph, *device->link, read->plan, run.get());
    copies += read->plan.traffic.avoidable() > 0 ? 1 : 0;
    repeats += read->plan.order.size() > graph.operators.size() ? 1 : 0;
  }
  EXPECT_GT(copies, 10);
  EXPECT_GT(repeats, 3);
}

// The text of ProvePlacement() for the same problem, with each search that logs its steps; or the same reason
// why there is none.
TEST(AnalysisOfC, ProvesAsInCpp) {
  int texts = 0;
  int missing = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    Problem problem = RandomProblem(seed, AllKnobs());
    problem.capacity.reset();
    const std::string csv = WriteCsv(problem);
    const std::string algorithm = seed % 3 == 0 ? "niche" : seed % 3 == 1 ? "guided" : "auto";
    const std::string nodes = seed % 4 == 0 ? "0" : "100000";
    const auto options = OptionsWith({{"algorithm", algorithm}, {"node_limit", "100000"}});
    const auto limited = OptionsWith({{"algorithm", algorithm}, {"node_limit", nodes}});
    berth_problem* table = nullptr;
    ASSERT_EQ(berth_problem_parse(csv.data(), csv.size(), "t.csv", nullptr, &table, nullptr),
              BERTH_OK);
    const Owned<berth_problem> owned(table);
    berth_plan* made = nullptr;
    ASSERT_EQ(berth_place_problem(table, options.get(), &made, nullptr), BERTH_OK);
    const Owned<berth_plan> plan(made);

    PlaceOptions place;
    place.algorithm = *AlgorithmFromName(algorithm);
    Budget budget;
    budget.SetNodeLimit(100'000);
    const auto answer = Place(problem, place, budget);
    ASSERT_TRUE(answer.has_value()) << answer.error().message;
    if (answer->outcome != Outcome::kOptimal) continue;
    ProofOptions ask;
    ask.algorithm = place.algorithm;
    Budget of_proof;
    of_proof.SetNodeLimit(std::stoll(nodes));
    const auto expected = ProvePlacement(problem, *answer, ask, of_proof);
    ASSERT_TRUE(expected.has_value()) << expected.error().message;

    berth_proof proof{};
    proof.struct_size = sizeof proof;
    berth_text* text = nullptr;
    ASSERT_EQ(berth_prove_plan(plan.get(), limited.get(), &proof, &text, nullptr), BERTH_OK);
    const Owned<berth_text> freed(text);
    EXPECT_EQ(text != nullptr, expected->text.has_value());
    EXPECT_EQ(berth_text_data(text), expected->text.value_or(""));
    EXPECT_EQ(proof.nodes, expected->nodes);
    EXPECT_EQ(berth_no_proof_name(proof.missing),
              expected->missing ? std::string(ToString(*expected->missing)) : "none");
    texts += expected->text ? 1 : 0;
    missing += expected->text ? 0 : 1;
  }
  EXPECT_GT(texts, 20);
  EXPECT_GT(missing, 0);
}

}  // namespace
}  // namespace berth::internal
