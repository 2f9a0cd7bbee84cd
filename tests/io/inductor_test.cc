// Graphs that PyTorch's Inductor writes.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "berth/graph.h"
#include "berth/graph_io.h"
#include "berth/schedule.h"

namespace berth::internal {
namespace {

std::string BufferText(const std::string& name, Bytes allocated, Bytes freed,
                       const std::string& deps, const std::string& flags = "") {
  const bool input = flags == "input";
  return "{\"name\": \"" + name + "\", \"size_alloc\": " + std::to_string(allocated) +
         ", \"size_free\": " + std::to_string(freed) + ", \"size\": " + std::to_string(freed) +
         ", \"is_input\": " + (input ? "true" : "false") +
         ", \"is_output\": " + (flags == "output" ? "true" : "false") + ", \"deps\": [" + deps +
         "], \"unmet_deps\": []}";
}
std::string NodeText(const std::string& name, const std::string& buffers) {
  return "{\"name\": \"" + name + "\", \"buffer_names\": [" + buffers + "]}";
}
std::string File(const std::string& nodes, const std::string& buffers) {
  return "{\"nodes\": [" + nodes + "], \"buffers\": [" + buffers + "]}";
}

// topk: one node with two results of 16 and 32 bytes.
std::string Small() {
  return File(NodeText("op0", "\"buf0\"") + "," + NodeText("op1", "\"buf1\"") + "," +
                  NodeText("op2", "\"buf2\"") + "," + NodeText("op3", "\"buf3\"") + "," +
                  NodeText("op4_op5", "\"buf4\", \"gone\""),
              BufferText("arg0", 8, 8, "", "input") + "," + BufferText("buf0", 64, 64, "\"arg0\"") +
                  "," + BufferText("buf1", 48, 0, "\"buf0\"") + "," +
                  BufferText("buf2", 0, 16, "\"buf1\"") + "," +
                  BufferText("buf3", 0, 32, "\"buf1\"") + "," +
                  BufferText("buf4", 4, 4, "\"buf2\", \"buf3\"", "output"));
}

TEST(ReadInductorGraph, MakesResultsOfOneNodeParts) {
  const auto graph = ReadGraphJson(Small(), "g");
  ASSERT_TRUE(graph) << graph.error().message;
  ASSERT_EQ(graph->operators.size(), 5u);
  ASSERT_EQ(graph->tensors.size(), 8u);
  EXPECT_EQ(graph->tensors[0].kind, TensorKind::kInput);
  EXPECT_EQ(graph->operators[0].inputs, (std::vector<TensorIndex>{0}));
  EXPECT_EQ(graph->tensors[2].bytes, 0);  // Its parts have all of it.
  EXPECT_EQ(graph->operators[1].outputs, (std::vector<TensorIndex>{2, 3, 5}));
  EXPECT_EQ(graph->tensors[4].name, "buf2 (view)");
  EXPECT_EQ(graph->tensors[4].alias_of, 3u);
  EXPECT_EQ(graph->operators[4].name, "op4_op5");
  EXPECT_EQ(graph->operators[4].inputs, (std::vector<TensorIndex>{4, 6}));
  EXPECT_TRUE(graph->tensors[7].output);
  // Both results live from the node that computes them.
  EXPECT_EQ(Live(*graph, ProgramOrder(*graph)).peak, 64 + 48);
  EXPECT_EQ(Live(*graph, ProgramOrder(*graph), {true, false}).peak, 64 + 48);
}

// A node that Inductor has fused makes the whole and one of the parts.
TEST(ReadInductorGraph, MakesPartsInTheNodeOfTheWhole) {
  const auto graph = ReadGraphJson(
      File(NodeText("op0_op1", "\"buf0\", \"buf1\"") + "," + NodeText("op2", "\"buf2\""),
           BufferText("buf0", 48, 0, "") + "," + BufferText("buf1", 0, 16, "\"buf0\"") + "," +
               BufferText("buf2", 0, 32, "\"buf0\"", "output")),
      "g");
  ASSERT_TRUE(graph) << graph.error().message;
  ASSERT_EQ(graph->tensors.size(), 4u);
  EXPECT_EQ(graph->tensors[1].name, "buf1");
  EXPECT_EQ(graph->operators[0].inputs, std::vector<TensorIndex>{});
  EXPECT_EQ(graph->operators[0].outputs, (std::vector<TensorIndex>{0, 1, 2}));
  EXPECT_EQ(graph->operators[1].inputs, (std::vector<TensorIndex>{2, 0}));
  EXPECT_EQ(graph->tensors[3].alias_of, 2u);
  EXPECT_EQ(Live(*graph, ProgramOrder(*graph)).peak, 48);
}

TEST(ReadInductorGraph, ReadsFilesWithOneSize) {
  const auto graph = ReadGraphJson(
      File(NodeText("op0", "\"b\""),
           R"({"name": "b", "size": 7, "is_input": false, "is_output": true, "deps": []})"),
      "g");
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(graph->tensors[0].bytes, 7);
}

std::string Complaint(const std::string& text) {
  const auto read = ReadGraphJson(text, "g");
  return read ? "" : read.error().message;
}

TEST(ReadInductorGraph, NamesTheFault) {
  const std::string node = NodeText("op0", "\"b\"");
  EXPECT_EQ(Complaint(File("", "3")),
            "g: buffer number 0: \"name\" is missing where it should be text");
  EXPECT_EQ(
      Complaint(File(node, BufferText("b", -1, 0, ""))),
      "g: buffer number 0: \"size_alloc\" is -1 where it should be an integer from 0 to 2^60");
  for (const std::string sizes : {"", "\"size_free\": 1, ", "\"size\": 1, \"size_free\": 1, "}) {
    EXPECT_EQ(Complaint(File(node, "{\"name\": \"b\", " + sizes +
                                       "\"is_input\": false, \"is_output\": false, \"deps\": []}")),
              "g: buffer number 0: \"size_alloc\" is missing where it should be an integer from 0 "
              "to 2^60");
  }
  EXPECT_EQ(Complaint(File(NodeText("op0", "\"b\", \"b\""), BufferText("b", 1, 1, ""))),
            "g: node number 0: \"b\" is in the list twice");
  EXPECT_EQ(Complaint(File(node, BufferText("b", 1, 1, "\"c\""))),
            "g: buffer number 0: \"deps\" has \"c\", which no buffer is called");
  EXPECT_EQ(Complaint(File(node, BufferText("b", 1, 1, "4"))),
            "g: buffer number 0: \"deps\" is an array where it should be a list of names");
  EXPECT_EQ(Complaint(File(node, BufferText("b", 1, 1, "") + "," + BufferText("b", 1, 1, ""))),
            "g: buffer number 1: another buffer is called \"b\"");
  EXPECT_EQ(Complaint(File("", BufferText("b", 1, 1, ""))), "g: no node makes the buffer \"b\"");
  EXPECT_EQ(Complaint(File(node, BufferText("b", 1, 1, "", "input"))),
            "g: node number 0: \"b\" is an input");
  EXPECT_EQ(Complaint(File(node + "," + NodeText("op1", "\"b\""), BufferText("b", 1, 1, ""))),
            "g: node number 1: \"b\" is made by another node, too");
  // The reader of the second comes first.
  EXPECT_NE(Complaint(File(NodeText("op0", "\"b\"") + "," + NodeText("op1", "\"c\""),
                           BufferText("b", 1, 1, "\"c\"") + "," + BufferText("c", 1, 1, ""))),
            "");
}

}  // namespace
}  // namespace berth::internal
