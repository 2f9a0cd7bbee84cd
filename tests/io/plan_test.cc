#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/random.h"
#include "berth/io.h"
#include "tests/graph/build.h"
#include "tests/io/random_table.h"

namespace berth {
namespace {

using internal::RandomTable;

Problem TwoBuffers() {
  Problem problem;
  problem.buffers = {{"a", 0, 3, 4, 1, {}, {}, {}}, {"b", 1, 2, 5, 1, {}, {}, {}}};
  return problem;
}

PlanAnswer Placed(const Problem& problem, const std::vector<Bytes>& offsets) {
  PlanAnswer answer;
  answer.outcome = Outcome::kOptimal;
  answer.capacity = problem.capacity;
  answer.best = PlanOf(problem, offsets);
  answer.height_bound = answer.best->height();
  answer.placing = {Outcome::kOptimal, StopReason::kAnswered, "greedy", 17, 0.25, {}};
  answer.nodes = 17;
  answer.seconds = 0.25;
  return answer;
}

// A plan of the first version of the format, with the given list of placements.
std::string Plan(std::string_view placements) {
  return R"({"format": "berth-plan", "format_version": 1, "placements": )" +
         std::string(placements) + "}";
}

void ExpectRefused(std::string_view text, ErrorCode code, const std::string& message) {
  const auto offsets = ReadOffsets(text, "p", TwoBuffers());
  ASSERT_FALSE(offsets.has_value()) << text;
  EXPECT_EQ(offsets.error().code, code) << text;
  EXPECT_EQ(offsets.error().message, message) << text;
}

TEST(WritePlanJsonTest, HoldsAnswerAndProvenance) {
  Problem problem = TwoBuffers();
  problem.capacity = 9;
  Provenance provenance{"1.2.3", "dir/t.csv", HashOf("x"), {}};
  provenance.options.place.seed = 18446744073709551615u;
  const std::string text = WritePlanJson(problem, Placed(problem, {5, 0}), provenance);
  const auto json = nlohmann::ordered_json::parse(text);
  std::vector<std::string> keys;
  for (const auto& [key, value] : json.items()) keys.push_back(key);
  EXPECT_EQ(keys,
            (std::vector<std::string>{"format", "format_version", "berth_version", "input",
                                      "options", "node_limit", "outcome", "stopped", "capacity",
                                      "height", "height_bound", "peak", "placing", "residencies"}));
  EXPECT_EQ(json["format"], "berth-plan");
  EXPECT_EQ(json["format_version"], 2);
  EXPECT_EQ(json["berth_version"], "1.2.3");
  EXPECT_EQ(json["input"].dump(), R"({"name":"dir/t.csv","hash":")" + HashOf("x") + R"("})");
  EXPECT_EQ(json["options"].size(), Options().size() - 1);  // All but `threads`.
  EXPECT_FALSE(json["options"].contains("threads"));
  EXPECT_TRUE(json["node_limit"].is_null());
  EXPECT_EQ(json["stopped"], "answered");
  for (const OptionInfo& option : Options()) {
    if (option.name == "threads") continue;
    EXPECT_EQ(json["options"][std::string(option.name)],
              *GetOption(provenance.options.place, option.name));
  }
  EXPECT_EQ(json["outcome"], "optimal");
  EXPECT_EQ(json["placing"]["algorithm"], "greedy");
  EXPECT_EQ(json["capacity"], 9);
  EXPECT_EQ(json["height"], 9);
  EXPECT_EQ(json["height_bound"], 9);
  EXPECT_EQ(json["peak"], 9);
  EXPECT_EQ(json["placing"]["nodes"], 17);
  EXPECT_EQ(json["residencies"].dump(), R"([{"id":"a","start":0,"end":3,"size":4,"offset":5},)"
                                        R"({"id":"b","start":1,"end":2,"size":5,"offset":0}])");
}

TEST(WritePlanJsonTest, TimeLeavesNoTrace) {
  const Problem problem = TwoBuffers();
  PlanAnswer slow = Placed(problem, {5, 0});
  slow.seconds = 1000;
  slow.placing.seconds = 1000;
  EXPECT_EQ(WritePlanJson(problem, slow, {}), WritePlanJson(problem, Placed(problem, {5, 0}), {}));
}

TEST(WritePlanJsonTest, ThreadsLeaveNoTraceAndTheNodeLimitDoes) {
  const Problem problem = TwoBuffers();
  Provenance many;
  many.options.place.threads = 8;
  EXPECT_EQ(WritePlanJson(problem, Placed(problem, {5, 0}), many),
            WritePlanJson(problem, Placed(problem, {5, 0}), {}));
  many.node_limit = 20000;
  const auto json = nlohmann::json::parse(WritePlanJson(problem, Placed(problem, {5, 0}), many));
  EXPECT_EQ(json["node_limit"], 20000);
}

TEST(WritePlanJsonTest, WithoutCapacityOrPlan) {
  const Problem problem = TwoBuffers();
  const PlanAnswer answer;
  const std::string text = WritePlanJson(problem, answer, {});
  const auto json = nlohmann::json::parse(text);
  EXPECT_TRUE(json["capacity"].is_null());
  EXPECT_TRUE(json["height"].is_null());
  EXPECT_TRUE(json["residencies"].is_null());
  ExpectRefused(text, ErrorCode::kInvalidPlan, "p: the search that wrote this found no plan");
}

TEST(WritePlanJsonTest, ReplacesWhatIsNotUtf8) {
  Problem problem = TwoBuffers();
  problem.buffers[0].id = "gr\xf6n";
  const Provenance provenance{"\xff", "\xff", "", {}};
  const std::string text = WritePlanJson(problem, Placed(problem, {5, 0}), provenance);
  EXPECT_NE(text.find("{\"id\":\"gr\xef\xbf\xbdn\","), std::string::npos);
}

// OneSpill() in 14 bytes; x is spilled while z is made.
PlanAnswer Spilled() {
  PlanAnswer answer;
  answer.outcome = Outcome::kOptimal;
  answer.capacity = 14;
  answer.spills = true;
  answer.fixed_order = true;
  answer.traffic_bound = 8;
  answer.traffic_by_sum = 8;
  answer.least = {3, 12};
  answer.spilling = {Outcome::kOptimal, StopReason::kAnswered, "spills", 5, 0, {}};
  MemoryPlan& plan = answer.best.emplace();
  plan.order = {0, 1, 2, 3};
  plan.residencies = {{0, 0, 2, 0, false, true},
                      {0, 3, 4, 0, true, false},
                      {1, 1, 3, 4, false, false},
                      {2, 2, 4, 8, false, false},
                      {3, 3, 4, 4, false, true}};
  plan.memories = {{14, 10}};
  plan.traffic = {4, 4, 0, 2};
  return answer;
}

TEST(GraphPlanJsonTest, IsReadBackForItsGraphAndWithoutIt) {
  const Graph graph = internal::OneSpill().graph;
  const PlanAnswer answer = Spilled();
  Provenance provenance{"1.2.3", "dir/g.json", HashOf("x"), {}, 17};
  provenance.options.schedule.counting.inputs = true;
  provenance.in_place = true;
  const std::string text = WritePlanJson(graph, answer, provenance);
  const auto json = nlohmann::ordered_json::parse(text);
  std::vector<std::string> keys;
  for (const auto& [key, value] : json.items()) keys.push_back(key);
  EXPECT_EQ(keys, (std::vector<std::string>{"format",
                                            "format_version",
                                            "berth_version",
                                            "input",
                                            "graph",
                                            "count",
                                            "in_place",
                                            "fused",
                                            "reading",
                                            "options",
                                            "schedule_options",
                                            "node_limit",
                                            "outcome",
                                            "stopped",
                                            "planned_tensors",
                                            "unsized_tensors",
                                            "capacity",
                                            "height",
                                            "height_bound",
                                            "peak",
                                            "peak_bound",
                                            "program_order_peak",
                                            "placement_bound",
                                            "spills",
                                            "fixed_order",
                                            "traffic_bound",
                                            "traffic_by_sum",
                                            "least_memory",
                                            "traffic",
                                            "scheduling",
                                            "spilling",
                                            "placing",
                                            "order",
                                            "residencies"}));
  EXPECT_EQ(json["format"], "berth-plan");
  EXPECT_EQ(json["count"]["inputs"], true);
  EXPECT_EQ(json["count"]["parameters"], false);
  EXPECT_EQ(json["in_place"], true);
  EXPECT_EQ(json["fixed_order"], true);
  EXPECT_EQ(json["node_limit"], 17);
  EXPECT_EQ(json["least_memory"]["operator"], "join");
  EXPECT_EQ(json["traffic"]["avoidable"], 8);
  EXPECT_FALSE(json["options"].contains("threads"));
  // A residency a line.
  EXPECT_NE(text.find("\n    {\"id\":\"x\",\"start\":3,\"end\":4,\"size\":4,\"offset\":0,"
                      "\"comes_in\":true},\n"),
            std::string::npos)
      << text;

  const PlanSettings settings = ReadPlanSettings(text);
  EXPECT_TRUE(settings.in_place);
  EXPECT_EQ(settings.counting, (Counting{true, false}));
  const auto read = ReadPlanFor(graph, {}, text, "p");
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(read->plan, *answer.best);
  EXPECT_EQ(read->capacity, 14);
  EXPECT_TRUE(read->spills);
  const auto file = ReadPlan(text, "p");
  ASSERT_TRUE(file.has_value()) << file.error().message;
  EXPECT_EQ(file->placement.offsets, (std::vector<Bytes>{0, 0, 4, 8, 4}));
  EXPECT_EQ(file->problem.buffers[1].id, "x#2");
  EXPECT_EQ(file->problem.capacity, 14);
  EXPECT_EQ(file->input_hash, provenance.input_hash);

  PlanAnswer none = answer;
  none.best.reset();
  none.outcome = Outcome::kUnknown;
  const std::string without = WritePlanJson(graph, none, provenance);
  EXPECT_TRUE(nlohmann::ordered_json::parse(without)["residencies"].is_null());
  for (const std::string& nothing : {without}) {
    const auto refused = ReadPlan(nothing, "p");
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, ErrorCode::kInvalidPlan);
    EXPECT_EQ(refused.error().message, "p: the search that wrote this found no plan");
  }
}

TEST(GraphPlanJsonTest, IsInTheOrderThatPlansHave) {
  const Graph graph = internal::OneSpill().graph;
  auto json = nlohmann::ordered_json::parse(WritePlanJson(graph, Spilled(), {}));
  std::swap(json["residencies"][0], json["residencies"][4]);
  std::swap(json["residencies"][1], json["residencies"][2]);
  json["order"] = {0, "make y", 2, "join"};
  const auto read = ReadPlanFor(graph, {}, json.dump(), "p");
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(read->plan, *Spilled().best);
  json["order"][3] = 4;
  const auto refused = ReadPlanFor(graph, {}, json.dump(), "p");
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidPlan);
  EXPECT_EQ(refused.error().message, "p: \"order\" has operator 4, but the graph has 4");
}

// As the first version of the format wrote it.
constexpr std::string_view kOldSpillPlan = R"({
  "format": "berth-spill-plan", "format_version": 1, "berth_version": "0.1.0",
  "input": {"name":"g.json","hash":"h"}, "count": {"inputs":false,"parameters":false},
  "in_place": false, "fixed_order": true, "outcome": "optimal", "stopped": "answered",
  "capacity": 14, "height": 14, "lower_bound": 8, "without_addresses": 8, "nodes": 5,
  "traffic": {"avoidable":8,"spilled":4,"retrieved":4,"compulsory_in":0,"compulsory_out":2},
  "order": ["make x","make y","make z","join"],
  "residencies": [
    {"tensor":"x","start":0,"end":2,"offset":0,"bytes":4,"comes_in":false,"written_out":true},
    {"tensor":"x","start":3,"end":4,"offset":0,"bytes":4,"comes_in":true,"written_out":false},
    {"tensor":"w","start":1,"end":3,"offset":4,"bytes":4,"comes_in":false,"written_out":false}
  ]
})";

TEST(OldPlanTest, PlansWithSpillsAreReadStill) {
  const Graph graph = internal::OneSpill().graph;
  // The names and sizes of this graph's own tensors.
  auto json = nlohmann::ordered_json::parse(kOldSpillPlan);
  json["order"] = nlohmann::ordered_json::array();
  for (const Operator& op : graph.operators) json["order"].push_back(op.name);
  json["residencies"] = nlohmann::ordered_json::array();
  const PlanAnswer answer = Spilled();
  for (const Residency& r : answer.best->residencies) {
    const Tensor& tensor = graph.tensors[r.tensor];
    json["residencies"].push_back({{"tensor", tensor.name},
                                   {"start", r.start},
                                   {"end", r.end},
                                   {"offset", r.offset},
                                   {"bytes", tensor.bytes},
                                   {"comes_in", r.comes_in},
                                   {"written_out", r.written_out}});
  }
  const std::string text = json.dump();
  const auto read = ReadPlanFor(graph, {}, text, "p");
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(read->plan.residencies, Spilled().best->residencies);
  EXPECT_EQ(read->plan.traffic, Spilled().best->traffic);
  EXPECT_EQ(read->capacity, 14);
  EXPECT_TRUE(read->spills);
  const auto file = ReadPlan(text, "p");
  ASSERT_TRUE(file.has_value()) << file.error().message;
  EXPECT_EQ(file->problem.buffers[1].id, "x#2");
  EXPECT_EQ(file->height_bound, std::nullopt);  // That of the file is of the traffic.
  json["format_version"] = 2;
  EXPECT_EQ(ReadPlan(json.dump(), "p").error().message,
            "p: \"format_version\" is 2, but this reader knows versions 1 and 2");
}

TEST(OldPlanTest, PlansOfGraphsAreReadStill) {
  const Graph graph = internal::OneSpill().graph;
  const Liveness live = Live(graph, ProgramOrder(graph));
  nlohmann::ordered_json json = {{"format", "berth-plan"}, {"format_version", 1}};
  for (const Operator& op : graph.operators) json["order"].push_back(op.name);
  json["lower_bound"] = 3;
  Bytes offset = 0;
  for (const Buffer& buffer : live.problem.buffers) {
    json["placements"].push_back({{"id", buffer.id},
                                  {"start", buffer.start},
                                  {"end", buffer.end},
                                  {"size", buffer.size},
                                  {"offset", offset}});
    offset += buffer.size;
  }
  json["height"] = offset;
  const auto read = ReadPlanFor(graph, {}, json.dump(), "p");
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_TRUE(ValidatePlan(graph, {}, std::nullopt, read->plan).has_value());
  EXPECT_EQ(read->plan.height(), offset);
  EXPECT_FALSE(read->spills);
  const auto file = ReadPlan(json.dump(), "p");
  ASSERT_TRUE(file.has_value()) << file.error().message;
  EXPECT_EQ(file->height_bound, 3);
}

TEST(GraphPlanJsonTest, OtherTextsAreRefused) {
  const Graph graph = internal::OneSpill().graph;
  for (const std::string_view text :
       {"", "[0, 1]", "{}", "{", R"({"format": "berth-plan", "format_version": 1})"}) {
    EXPECT_FALSE(ReadPlanFor(graph, {}, text, "p").has_value()) << text;
  }
}

TEST(GraphPlanJsonTest, SurvivesDamage) {
  const Graph graph = internal::OneSpill().graph;
  const std::string text = WritePlanJson(graph, Spilled(), {"1.2.3", "g.json", HashOf("x"), {}});
  internal::Random random(3);
  int refused = 0;
  for (int i = 0; i < 2000; ++i) {
    std::string damaged = text;
    for (int k = 0; k < 2; ++k) {
      const auto at = static_cast<std::size_t>(
          random.Uniform(0, static_cast<std::int64_t>(damaged.size()) - 1));
      if (random.Uniform(0, 1) == 0) {
        damaged.erase(at, static_cast<std::size_t>(random.Uniform(1, 30)));
      } else {
        damaged[at] = static_cast<char>(random.Uniform(0, 127));
      }
    }
    const auto read = ReadPlanFor(graph, {}, damaged, "p");
    const auto file = ReadPlan(damaged, "p");
    refused += read.has_value() && file.has_value() ? 0 : 1;
    if (!read) {
      EXPECT_EQ(read.error().message.rfind("p:", 0), 0u) << read.error().message;
    }
  }
  EXPECT_GT(refused, 1000);
}

TEST(ReadOffsetsTest, ReadsBackBothFormats) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    const Problem problem = RandomTable(seed);
    internal::Random random(seed);
    std::vector<Bytes> offsets;
    for (std::size_t b = 0; b < problem.buffers.size(); ++b) {
      offsets.push_back(random.Uniform(0, kMaxBytes >> random.Uniform(0, 60)));
    }
    const std::string json = WritePlanJson(problem, Placed(problem, offsets), {});
    EXPECT_EQ(ReadOffsets(json, "p.json", problem), offsets) << json;
    const std::string csv = WriteCsv(problem, &offsets);
    EXPECT_EQ(ReadOffsets(csv, "p.csv", problem), offsets) << csv;
  }
}

TEST(ReadOffsetsTest, AnyOrderAndOtherColumns) {
  const std::vector<Bytes> expected = {5, 0};
  EXPECT_EQ(ReadOffsets("OFFSET,bank,buffer\r\n0,x,b\r\n5,,\"a\"", "p", TwoBuffers()), expected);
  EXPECT_EQ(ReadOffsets("\xef\xbb\xbf\n\t" + Plan(R"([{"offset": 0, "bank": [1], "id": "b"},
                                                      {"id": "a", "offset": 5}])"),
                        "p", TwoBuffers()),
            expected);
}

TEST(ReadOffsetsTest, NoBuffersGiveNoOffsets) {
  EXPECT_EQ(ReadOffsets(Plan("[]"), "p", {}), std::vector<Bytes>());
  EXPECT_EQ(ReadOffsets("id,offset\n", "p", {}), std::vector<Bytes>());
}

TEST(ReadOffsetsTest, NamesTheFaultOfATable) {
  const auto invalid = ErrorCode::kInvalidPlan;
  ExpectRefused("id,lower\na,0\n", ErrorCode::kParse,
                "p:1:1: the column offset is missing; the header holds \"id\", \"lower\"");
  ExpectRefused("id,offset\na,0\n", invalid, "p: buffer \"b\" has no offset");
  ExpectRefused("id,offset\na,0\nb,\n", invalid, "p:3:3: buffer \"b\" has no offset");
  ExpectRefused("id,offset\na,0\nb,-1\n", invalid, "p:3:3: buffer \"b\" has no offset");
  ExpectRefused("id,offset\na,-2\n", invalid,
                "p:2:1: buffer \"a\": offset -2 must be from 0 to 2^60");
  ExpectRefused("id,offset\na,1152921504606846977\n", invalid,
                "p:2:1: buffer \"a\": offset 1152921504606846977 must be from 0 to 2^60");
  ExpectRefused("id,offset\na,0\nc,0\n", invalid, "p:3:1: the problem has no buffer \"c\"");
  ExpectRefused("id,offset\na,0\na,4\n", invalid, "p:3:1: buffer \"a\" has an offset already, 0");
  ExpectRefused("id,offset\na,x\n", ErrorCode::kParse, "p:2:3: offset \"x\" is not a whole number");
  ExpectRefused("id,offset,offset\na,1,2\n", ErrorCode::kParse,
                "p:1:11: the column \"offset\" comes twice");
  ExpectRefused("", ErrorCode::kParse,
                "p:1:1: the file is empty; a table begins with a header such as "
                "id,lower,upper,size");
}

TEST(ReadOffsetsTest, NamesTheFaultOfAPlan) {
  const auto parse = ErrorCode::kParse;
  const auto invalid = ErrorCode::kInvalidPlan;
  ExpectRefused("\n[1]", parse, "p:2:1: this looks like JSON, but a plan in JSON begins with {");
  ExpectRefused("{", parse, "p:1:2: the JSON ends in the middle");
  ExpectRefused("{\"format\":\n  \"ber", parse, "p:2:7: the JSON ends in the middle");
  ExpectRefused("{\"a\": 1,\n x}", parse, "p:2:2: not JSON from here on: \"x}\"");
  ExpectRefused("{} {}", parse, "p:1:4: not JSON from here on: \"{}\"");
  ExpectRefused("{\"a\": 1e999}", parse, "p:1:11: the number that ends here is out of range");
  ExpectRefused("{\"a\": 1, \"b\": {\"a\": 1}, \"a\": 2}", parse,
                "p: the key \"a\" comes twice in an object");
  ExpectRefused("{}", parse,
                "p: not a plan: \"format\" is missing where it should be "
                "\"berth-plan\"");
  ExpectRefused(R"({"format": "x"})", parse,
                "p: not a plan: \"format\" is \"x\" where it should be "
                "\"berth-plan\"");
  ExpectRefused(R"({"format": "berth-plan", "format_version": 3, "residencies": []})", parse,
                "p: \"format_version\" is 3, but this reader knows versions 1 and 2");
  ExpectRefused(R"({"format": "berth-plan", "format_version": 1})", parse,
                "p: \"placements\" is missing where it should be a list");
  ExpectRefused(Plan("{}"), parse, "p: \"placements\" is an object where it should be a list");
  ExpectRefused(Plan("[3]"), parse,
                "p: placement number 1 is 3 where it should be an object with an \"id\" that is "
                "text");
  ExpectRefused(Plan(R"([{"id": 1, "offset": 2}])"), parse,
                "p: placement number 1: \"id\" is 1 where it should be text");
  for (const char* offset : {"1.0", "\"1\"", "9223372036854775808", "null", "[]", "1e3"}) {
    const auto offsets = ReadOffsets(
        Plan(R"([{"id": "a", "offset": )" + std::string(offset) + "}]"), "p", TwoBuffers());
    ASSERT_FALSE(offsets.has_value()) << offset;
    EXPECT_EQ(offsets.error().message.substr(0, 51),
              "p: placement number 1: the offset of buffer \"a\" is ");
  }
  ExpectRefused(Plan(R"([{"id": "a"}])"), parse,
                "p: placement number 1: the offset of buffer \"a\" is missing where it should be "
                "a 64-bit integer");
  ExpectRefused(Plan(R"([{"id": "a", "offset": -1}])"), invalid,
                "p: placement number 1: buffer \"a\": offset -1 must be from 0 to 2^60");
  ExpectRefused(Plan(R"([{"id": "a", "offset": 1}])"), invalid, "p: buffer \"b\" has no offset");
  ExpectRefused(Plan(R"([{"id": "c", "offset": 1}])"), invalid,
                "p: placement number 1: the problem has no buffer \"c\"");
  ExpectRefused(Plan(R"([{"id": "a", "offset": 1}, {"id": "a", "offset": 1}])"), invalid,
                "p: placement number 2: buffer \"a\" has an offset already, 1");
}

TEST(ReadOffsetsTest, DeepNestingIsHarmless) {
  const std::string open(100000, '[');
  EXPECT_FALSE(ReadOffsets("{\"a\": " + open, "p", {}).has_value());
  const std::string nested = open + std::string(100000, ']');
  EXPECT_FALSE(ReadOffsets(Plan("[" + nested + "]"), "p", {}).has_value());
  EXPECT_FALSE(ReadOffsets(Plan("[{\"id\": " + nested + "}]"), "p", {}).has_value());
  EXPECT_FALSE(ReadOffsets("{\"format\": " + nested + "}", "p", {}).has_value());
}

TEST(ReadOffsetsTest, SurvivesDamage) {
  internal::Random random(1);
  const Problem problem = TwoBuffers();
  const std::string plan = WritePlanJson(problem, Placed(problem, {5, 0}), {});
  for (int i = 0; i < 1000; ++i) {
    std::string text = plan;
    const auto at =
        static_cast<std::size_t>(random.Uniform(0, static_cast<std::int64_t>(text.size()) - 1));
    if (i % 2 == 0) {
      text.resize(at);
    } else {
      text[at] = static_cast<char>(random.Uniform(0, 255));
    }
    const auto offsets = ReadOffsets(text, "p.json", problem);
    if (offsets) {
      EXPECT_EQ(offsets->size(), 2u);
    } else {
      EXPECT_EQ(offsets.error().message.find_first_of("\n\r"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace berth
