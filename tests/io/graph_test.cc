#include "berth/graph.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "berth/io.h"
#include "testing/random_graph.h"

namespace berth {
namespace {

// A file with the given lists of nodes and tensors.
std::string File(std::string_view nodes, std::string_view tensors) {
  return R"({"format": "berth-graph", "format_version": 1, "nodes": [)" + std::string(nodes) +
         R"(], "tensors": [)" + std::string(tensors) + "]}";
}

void ExpectRefused(const std::string& text, ErrorCode code, const std::string& message) {
  const auto graph = ReadGraphJson(text, "g.json");
  ASSERT_FALSE(graph.has_value()) << text;
  EXPECT_EQ(graph.error().code, code) << text;
  EXPECT_EQ(graph.error().message, "g.json" + message) << text;
}

// One tensor, or one node beside the tensor x, with an error.
void ExpectBadTensor(const std::string& tensor, const std::string& message) {
  ExpectRefused(File("", tensor), ErrorCode::kParse, message);
}
void ExpectBadNode(const std::string& node, const std::string& message) {
  ExpectRefused(File(node, R"({"id": 7, "name": "x", "bytes": 1, "kind": "input"})"),
                ErrorCode::kParse, message);
}

TEST(ReadGraphJsonTest, ReadsEveryField) {
  const auto graph = ReadGraphJson(
      R"({"format": "berth-graph", "format_version": 1, "name": "n", "meta": [1], "nodes": [
        {"name": "a", "op": "Add", "inputs": [5, 5], "outputs": [9], "may_overwrite": [[5, 9]]},
        {"name": "b", "inputs": [], "outputs": [], "mutates": [9], "after": [0], "update": true}],
       "tensors": [
        {"id": 9, "name": "y", "bytes": 8, "kind": "gradient", "output": true, "alignment": 4,
         "dtype": "f16", "shape": [2, 2], "meta": {"x": 1}},
        {"id": 5, "name": "x", "bytes": 8, "kind": "input", "shape": "4"},
        {"id": 6, "name": "v", "bytes": 2, "kind": "input", "alias_of": 5},
        {"id": 7, "name": "u", "kind": "constant", "unplanned": "why"}]})",
      "g");
  ASSERT_TRUE(graph.has_value()) << graph.error().message;
  Graph expected;
  expected.name = "n";
  expected.operators = {{"a", "Add", {1, 1}, {0}, {}, {}, {{1, 0}}, false},
                        {"b", "", {}, {}, {0}, {0}, {}, true}};
  expected.tensors = {
      {"y", 8, 4, TensorKind::kGradient, true, {}, "", "f16", "2x2"},
      {"x", 8, 1, TensorKind::kInput, false, {}, "", "", "4"},
      {"v", 2, 1, TensorKind::kInput, false, 1, "", "", ""},
      {"u", 0, 1, TensorKind::kConstant, false, {}, "why", "", ""},
  };
  EXPECT_EQ(*graph, expected);
}

TEST(ReadGraphJsonTest, ReadsReceptiveFields) {
  const auto graph = ReadGraphJson(
      R"({"format": "berth-graph", "format_version": 1, "nodes": [
        {"name": "a", "inputs": [0], "outputs": [1], "receptive_fields": [
          {"axis": 2, "inputs": [0], "input_rows": 9, "output_rows": 5, "stride": 2, "extent": 3,
           "before": 1},
          {"axis": 3, "inputs": [0], "input_rows": 7, "output_rows": 7, "meta": 1}]}],
       "tensors": [{"name": "x", "bytes": 8, "kind": "input"},
                   {"name": "w", "bytes": 8, "kind": "activation"},
                   {"name": "c", "bytes": 8, "kind": "constant", "quantized": 2}]})",
      "g");
  ASSERT_TRUE(graph.has_value()) << graph.error().message;
  EXPECT_EQ(graph->operators[0].receptive_fields,
            (std::vector<ReceptiveField>{{2, 9, 5, 2, 3, 1, {0}}, {3, 7, 7, 1, 1, 0, {0}}}));
  EXPECT_EQ(graph->tensors[2].quantized, 2);
  const auto again = ReadGraphJson(WriteGraphJson(*graph), "again");
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(*again, *graph);
}

TEST(ReadGraphJsonTest, RefusesBadReceptiveFields) {
  const auto refused = [](const std::string& fields, const std::string& message) {
    const auto graph = ReadGraphJson(
        R"({"format": "berth-graph", "format_version": 1, "nodes": [
          {"name": "a", "inputs": [0, 2], "outputs": [1], "receptive_fields": )" +
            fields + R"(}],
         "tensors": [{"name": "x", "bytes": 8, "kind": "input"},
                     {"name": "y", "bytes": 8, "kind": "activation"},
                     {"name": "z", "bytes": 8, "kind": "input"}]})",
        "g");
    ASSERT_FALSE(graph.has_value());
    EXPECT_NE(graph.error().message.find(message), std::string::npos) << graph.error().message;
  };
  const auto field = [](const std::string& more, const std::string& inputs = "[0]") {
    return R"({"axis": 2, "input_rows": 9, "output_rows": 5, "inputs": )" + inputs + more + "}";
  };
  refused("3", "\"receptive_fields\" is 3 where it should be a list");
  refused("[3]", "\"receptive_fields\" has 3 where an object should be");
  refused(R"([{"axis": 2}])", "\"inputs\" is missing in \"receptive_fields\"");
  refused("[" + field(R"(, "kernel": 3)") + "]", "the key \"kernel\" is not known");
  refused("[" + field(R"(, "stride": "2")") + "]",
          "\"stride\" is \"2\" where it should be a 64-bit integer");
  refused("[" + field("", "[7]") + "]", "\"inputs\" has the id 7, which no tensor has");
  refused("[" + field("", "[1]") + "]",
          "operator \"a\": its receptive field along axis 2 names tensor number 1, which the "
          "operator does not read");
  refused("[" + field("", "[]") + "]", "its receptive field along axis 2 names no input");
  refused("[" + field(R"(, "stride": 0)") + "]", "has a stride of 0 but needs from 1 to 2^31 - 1");
  refused("[" + field(R"(, "extent": 4294967296)") + "]", "has an extent of 4294967296 but needs");
  refused("[" + field(R"(, "before": -1)") + "]", "has a padding of -1 but needs from 0 to");
  refused("[" + field("") + ", " + field("") + "]", "names tensor number 0 twice");
  refused("[" + field("") + R"(, {"axis": 2, "input_rows": 9, "output_rows": 6, "inputs": [2]}])",
          "has 6 output rows where another has 5");
}

TEST(ReadGraphJsonTest, RejectsOtherFiles) {
  ExpectRefused("", ErrorCode::kParse, ":1:1: the JSON ends in the middle");
  ExpectRefused("{\"nodes\": [\n}", ErrorCode::kParse, ":2:1: not JSON from here on: \"}\"");
  ExpectRefused("[]", ErrorCode::kParse, ": not a graph: an array where an object should be");
  ExpectRefused("{}", ErrorCode::kParse, ": \"tensors\" is missing where it should be a list");
  ExpectRefused(R"({"tensors": []})", ErrorCode::kParse,
                ": \"nodes\" is missing where it should be a list");
  ExpectRefused(R"({"format": "berth-plan"})", ErrorCode::kParse,
                ": not a graph: \"format\" is \"berth-plan\" where it should be \"berth-graph\"");
  ExpectRefused(R"({"format": "berth-graph", "format_version": 2})", ErrorCode::kParse,
                ": \"format_version\" is 2, but this reader knows version 1 alone");
  ExpectRefused(R"({"format_version": 1})", ErrorCode::kParse,
                ": \"format_version\" without \"format\"");
  ExpectRefused(R"({"nodes": [], "nodes": []})", ErrorCode::kParse,
                ": the key \"nodes\" comes twice in an object");
  ExpectRefused(R"({"format": "berth-graph", "format_version": 1, "node": []})", ErrorCode::kParse,
                ": the key \"node\" is not known");
  ExpectRefused(R"({"tensors": [], "nodes": [], "name": 4})", ErrorCode::kParse,
                ": \"name\" is 4 where it should be text");
}

TEST(ReadGraphJsonTest, RefusesBadTensors) {
  ExpectBadTensor("3", ": tensor number 0: is 3 where an object should be");
  ExpectBadTensor(R"({"bytes": 1, "kind": "input"})", ": tensor number 0: \"name\" is missing");
  ExpectBadTensor(R"({"name": "x", "kind": "input"})",
                  ": tensor number 0, \"x\": \"bytes\" is missing, and \"unplanned\" does not say "
                  "why");
  ExpectBadTensor(R"({"name": "x", "bytes": 1e3, "kind": "input"})",
                  ": tensor number 0, \"x\": \"bytes\" is 1000.0 where it should be a 64-bit "
                  "integer");
  ExpectBadTensor(R"({"name": "x", "bytes": 18446744073709551615, "kind": "input"})",
                  ": tensor number 0, \"x\": \"bytes\" is 18446744073709551615 where it should be "
                  "a 64-bit integer");
  ExpectBadTensor(R"({"name": "x", "bytes": 1})", ": tensor number 0, \"x\": \"kind\" is missing");
  ExpectBadTensor(R"({"name": "x", "bytes": 1, "kind": "weight"})",
                  ": tensor number 0, \"x\": \"kind\" is \"weight\" where it should be "
                  "\"activation\", \"gradient\", \"output\", \"input\", \"parameter\" or "
                  "\"constant\"");
  ExpectBadTensor(R"({"name": "x", "bytes": 1, "kind": "input", "alias": 0})",
                  ": tensor number 0, \"x\": the key \"alias\" is not known");
  ExpectBadTensor(R"({"name": "x", "bytes": 1, "kind": "input", "alias_of": 4})",
                  ": tensor number 0, \"x\": \"alias_of\" has the id 4, which no tensor has");
  ExpectBadTensor(R"({"name": "x", "bytes": 1, "kind": "input", "shape": [1, "n"]})",
                  ": tensor number 0, \"x\": \"shape\" holds \"n\" where an integer should be");
  ExpectBadTensor(R"({"name": "x", "bytes": 1, "kind": "input", "output": 1})",
                  ": tensor number 0, \"x\": \"output\" is 1 where it should be true or false");
  ExpectBadTensor(R"({"name": "x", "bytes": 1, "kind": "input"},
                     {"id": 0, "name": "y", "bytes": 1, "kind": "input"})",
                  ": tensor number 1, \"y\": another tensor has the id 0");
}

TEST(ReadGraphJsonTest, ErrorsSayWhatTheyAreAbout) {
  const auto subject = [](const std::string& nodes, const std::string& tensors) {
    const auto graph = ReadGraphJson(File(nodes, tensors), "g.json");
    EXPECT_FALSE(graph.has_value()) << tensors;
    return graph ? Subject() : graph.error().subject;
  };
  const std::string x = R"({"id": 7, "name": "x", "bytes": 1, "kind": "input"})";
  const std::string node = R"({"name": "a", "inputs": [], "outputs": []})";
  EXPECT_EQ(subject("", x + ", {}"), Subject::OfTensor(1));
  EXPECT_EQ(subject(node + ", {}", x), Subject::OfOperator(1));
  EXPECT_EQ(subject(node + ", " + node, x), Subject::OfOperator(1));
  EXPECT_EQ(subject("", x + R"(, {"name": "x", "bytes": 1, "kind": "input"})"),
            Subject::OfTensor(1));
  EXPECT_EQ(subject("", x + "\n]"), Subject::OfLine(2));
  EXPECT_EQ(ReadGraphJson("{\"nodes\": 3}", "g.json").error().subject, Subject());
}

TEST(ReadOrderTest, ErrorsSayWhichOperator) {
  Graph graph;
  graph.operators = {{"a", "", {}, {}}, {"b", "", {}, {}, {}, {0}}};
  EXPECT_EQ(ReadOrder(R"(["b", "a"])", "o.json", graph).error().subject, Subject::OfOperator(1));
  EXPECT_EQ(ReadOrder(R"(["a"])", "o.json", graph).error().subject, Subject::OfOperator(1));
}

TEST(ReadGraphJsonTest, RefusesBadNodes) {
  ExpectBadNode("null", ": node number 0: is null where an object should be");
  ExpectBadNode(R"({"name": "a", "outputs": []})",
                ": node number 0, \"a\": \"inputs\" is missing where it should be a list");
  ExpectBadNode(R"({"name": "a", "inputs": {}, "outputs": []})",
                ": node number 0, \"a\": \"inputs\" is an object where it should be a list");
  ExpectBadNode(R"({"name": "a", "inputs": [0], "outputs": []})",
                ": node number 0, \"a\": \"inputs\" has the id 0, which no tensor has");
  ExpectBadNode(R"({"name": "a", "inputs": ["x"], "outputs": []})",
                ": node number 0, \"a\": \"inputs\" has \"x\" where the id of a tensor should be");
  ExpectBadNode(R"({"name": "a", "inputs": [], "outputs": [], "after": [1]})",
                ": node number 0, \"a\": \"after\" has 1 where the position of one of the 1 nodes "
                "should be, counted from 0");
  ExpectBadNode(R"({"name": "a", "inputs": [], "outputs": [], "after": [-1]})",
                ": node number 0, \"a\": \"after\" has -1 where the position of one of the 1 nodes "
                "should be, counted from 0");
  ExpectBadNode(R"({"name": "a", "inputs": [], "outputs": [], "may_overwrite": [[7]]})",
                ": node number 0, \"a\": \"may_overwrite\" has an array where a list of two ids, "
                "an input's and an output's, should be");
  ExpectBadNode(R"({"name": "a", "inputs": [], "outputs": [], "update": "yes"})",
                ": node number 0, \"a\": \"update\" is \"yes\" where it should be true or false");
  ExpectRefused(File(R"({"name": "a", "inputs": [], "outputs": [0]})",
                     R"({"name": "x\n", "bytes": 1, "kind": "input"})"),
                ErrorCode::kInvalidGraph,
                ": operator \"a\": makes tensor \"x\\n\", which is of the kind input, there before "
                "the first operator");
}

TEST(ReadGraphJsonTest, DeepNestingAndHugeNumbersAreHarmless) {
  const std::string deep(2'000'000, '[');
  EXPECT_FALSE(ReadGraphJson(deep, "g").has_value());
  const std::string closed = deep + std::string(deep.size(), ']');
  EXPECT_FALSE(ReadGraphJson(closed, "g").has_value());
  ExpectRefused(R"({"meta": 1, "tensors": )" + closed + "}", ErrorCode::kParse,
                ": tensor number 0: is an array where an object should be");
  ExpectBadTensor(R"({"name": "x", "kind": "input", "bytes": )" + closed + "}",
                  ": tensor number 0, \"x\": \"bytes\" is an array where it should be a 64-bit "
                  "integer");
  ExpectRefused("{\"tensors\": 1e999}", ErrorCode::kParse,
                ":1:17: the number that ends here is out of range");
}

TEST(ReadGraphJsonTest, FilesWithoutAVersionMayHaveMore) {
  const std::string body = R"("nodes": [{"name": "e", "inputs": [0], "outputs": [1], "cost": 4}],
      "tensors": [{"id": 0, "name": "x", "bytes": 4, "kind": "input", "alias_of": null},
                  {"id": 1, "name": "y", "bytes": 40, "kind": "output", "alias_of": 0}]})";
  const auto graph = ReadGraphJson("{" + body, "g");
  ASSERT_TRUE(graph.has_value()) << graph.error().message;
  EXPECT_EQ(graph->tensors[1].bytes, 4);
  EXPECT_FALSE(ReadGraphJson(R"({"format": "berth-graph", "format_version": 1, )" + body, "g"));
}

TEST(WriteGraphJsonTest, ComesBackAsItWas) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    Graph graph = internal::RandomGraph(seed, internal::AllGraphKnobs());
    graph.name = "\"\\\n\t\x01/ü";
    graph.tensors.push_back({"an \"odd\"\nname", 1, 1, TensorKind::kInput, true, {}, "", "f", "1"});
    const std::string text = WriteGraphJson(graph);
    const auto again = ReadGraphJson(text, "g");
    ASSERT_TRUE(again.has_value()) << "seed " << seed << ": " << again.error().message;
    EXPECT_EQ(*again, graph) << "seed " << seed;
    EXPECT_EQ(WriteGraphJson(*again), text) << "seed " << seed;
  }
}

TEST(ReadOrderTest, NamesOrPositions) {
  const auto graph = ReadGraphJson(File(R"({"name": "a", "inputs": [], "outputs": []},
                                           {"name": "b", "inputs": [], "outputs": [7]},
                                           {"name": "c", "inputs": [7], "outputs": []})",
                                        R"({"id": 7, "name": "x", "bytes": 1, "kind": "output"})"),
                                   "g");
  ASSERT_TRUE(graph.has_value()) << graph.error().message;
  const auto read = [&](const std::string& text) { return ReadOrder(text, "o", *graph); };
  EXPECT_EQ(read(R"(["b", "a", "c"])").value(), (Order{1, 0, 2}));
  EXPECT_EQ(read(R"({"order": [1, 2, "a"], "more": 1})").value(), (Order{1, 2, 0}));
  const auto refusal = [&](const std::string& text) { return read(text).error().message; };
  EXPECT_EQ(refusal("{}"), "o: \"order\" is missing where it should be a list");
  EXPECT_EQ(refusal("3"), "o: \"order\" is missing where it should be a list");
  EXPECT_EQ(refusal("[-1]"),
            "o: number 0 of \"order\" is -1 where the name or the position of an operator should "
            "be");
  EXPECT_EQ(refusal(R"(["a", "d"])"),
            "o: number 1 of \"order\" is \"d\", which no operator is called");
  EXPECT_EQ(refusal("[0, 1]"), "o: operator \"c\" is missing in the order");
  EXPECT_EQ(refusal("[0, 2, 1]"),
            "o: operator \"c\" runs at step 1, before operator \"b\", which it waits for, at step "
            "2");
  EXPECT_FALSE(read("[0, 1, 3]").has_value());
}

// Rows of a CSV file by their first field.
std::map<std::string, std::vector<std::string>> Rows(const std::string& text) {
  std::map<std::string, std::vector<std::string>> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> fields;
    std::istringstream in(line);
    for (std::string field; std::getline(in, field, ',');) fields.push_back(field);
    rows[fields.at(0)] = fields;
  }
  return rows;
}

TEST(ReadGraphJsonTest, RealGraphsHaveTheirPublishedPeaksAndBuffers) {
  const char* const data = std::getenv("BERTH_DATA");
  if (data == nullptr) GTEST_SKIP() << "BERTH_DATA names no folder with graphs";
  const auto peaks = Rows(ReadFile(std::string(data) + "/reference/peaks.csv").value());
  int graphs = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(data) + "/graphs/training")) {
    const std::string name = "training_" + entry.path().stem().string();
    SCOPED_TRACE(name);
    const auto graph = ReadGraphJson(ReadFile(entry.path().string()).value(), name);
    ASSERT_TRUE(graph.has_value()) << graph.error().message;
    const Liveness liveness = Live(*graph, ProgramOrder(*graph));
    EXPECT_EQ(std::to_string(liveness.peak), peaks.at(name).at(3));
    const auto table =
        ReadCsv(ReadFile(std::string(data) + "/buffers/models/" + name + ".csv").value(), name);
    ASSERT_TRUE(table.has_value());
    using Key = std::vector<std::int64_t>;
    std::multiset<Key> expected;
    std::multiset<Key> found;
    for (const Buffer& b : table->problem.buffers) expected.insert({b.start, b.end, b.size});
    for (const Buffer& b : liveness.problem.buffers) found.insert({b.start, b.end, b.size});
    EXPECT_EQ(found, expected);
    ++graphs;
  }
  EXPECT_GE(graphs, 18);
}

}  // namespace
}  // namespace berth
