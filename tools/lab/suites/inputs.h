// tools/lab/suites/inputs.h -- the tables that experiments run on.
//
// Published tables where a data folder has them, tables generated from seeds elsewhere: every
// experiment runs on any machine, and says which inputs it used.
#ifndef BERTH_TOOLS_LAB_SUITES_INPUTS_H_
#define BERTH_TOOLS_LAB_SUITES_INPUTS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "berth/graph.h"
#include "berth/problem.h"
#include "berth/result.h"
#include "tools/generate/generate.h"
#include "tools/generate/graphs.h"

namespace berth::lab {

struct SuiteInput {
  std::string family;  // "models", "challenging", "variants", "planted", ...
  std::string name;
  Problem problem;  // Without a capacity.
  Bytes least = 0;  // The height of the lowest plan known.
  Bytes bound = 0;  // Proved: no plan is lower.
  [[nodiscard]] bool proved() const { return least == bound; }
};

struct GraphInput {
  std::string name;   // "resnet18_b32"
  std::string model;  // The same without its batch: "resnet18"
  std::string group;  // "batch 1", "batch 32", "training", "inference", "generated"
  Graph graph;
  std::int64_t batch = 1;  // Of training, as the name says; at least 1.
};

// The graphs and ONNX models in `paths`, files or folders; in a folder, a .json file beside an
// .onnx file of the same name is about it, not a graph. A graph with weight updates is one of
// training, whose batch is the number behind a last "_b" in its name, if that is one from 1 to 2^63 - 1. `element_bytes` is for ONNX models, as in OnnxOptions: graphs say themselves what their
// tensors take. Errors: kIo, kParse, kInvalidGraph, kUnsupported.
[[nodiscard]] Result<std::vector<GraphInput>> ReadGraphs(const std::vector<std::string>& paths,
                                                         std::optional<int> element_bytes = {});

// Published graphs without their weights list these as inputs. Exporters name them by a path in the
// module ("layer1.0.conv.weight", "onnx::Conv_654", "head/w"), and data by a word: makes parameters of
// the inputs with such names.
void MarkWeights(Graph& graph);

// Finds `least` and `bound` of each, `jobs` at a time, within a number of nodes, so that they are
// the same everywhere.
void FindLeast(std::vector<SuiteInput>& inputs, std::int64_t nodes, int jobs);

// The .csv tables in `paths`, files or folders. Errors: kIo, kParse, kInvalidProblem.
[[nodiscard]] Result<std::vector<SuiteInput>> ReadInputs(const std::string& family,
                                                         const std::vector<std::string>& paths);

// One table from a seed; what `parameters` say must be allowed.
[[nodiscard]] SuiteInput GenerateInput(internal::Family family,
                                       const internal::GenerateParameters& parameters);

// A graph, in the same way.
[[nodiscard]] GraphInput GenerateGraphInput(internal::GraphFamily family,
                                            const internal::GraphParameters& parameters);

// At most `count` of the inputs, evenly spread from the smallest to the largest by buffers.
[[nodiscard]] std::vector<SuiteInput> SpreadOut(std::vector<SuiteInput> inputs, std::size_t count);
// The same by operators; if all are wanted, their order stays.
[[nodiscard]] std::vector<GraphInput> SpreadOut(std::vector<GraphInput> inputs, std::size_t count);

// Calls `work` with 0 to count - 1, from `jobs` threads, in no particular order.
void ForEach(std::size_t count, int jobs, const std::function<void(std::size_t)>& work);

}  // namespace berth::lab

#endif  // BERTH_TOOLS_LAB_SUITES_INPUTS_H_
