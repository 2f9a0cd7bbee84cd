// berth/tflite.h -- TensorFlow Lite models as graphs, and their memory plans for TensorFlow Lite
// Micro.
//
// The interpreter for microcontrollers places all tensors of a model in one arena when it starts. A
// file may tell it where: as metadata with the name "OfflineMemoryAllocation".
//
//   const auto model = berth::ReadTflite(bytes, "model.tflite");
//   const auto answer = berth::Plan(model->graph, {}, budget);
//   const auto planned = berth::WriteTflite(bytes, "model.tflite", model->graph, *answer->best);
//   berth::WriteFile("planned.tflite", *planned);
//
// Reading takes the structure out of the file and leaves the weights where they are. No library is
// needed: neither TensorFlow's nor FlatBuffers.
#ifndef BERTH_TFLITE_H_
#define BERTH_TFLITE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/graph.h"
#include "berth/onnx.h"
#include "berth/problem.h"
#include "berth/result.h"

namespace [[gnu::visibility("default")]] berth {

struct TfliteModel {
  // The operators of the first subgraph, after one named "INPUT" that makes its inputs: these lie in
  // the arena, too. (It is left out if there are no inputs.) The sizes are those of TensorFlow Lite
  // Micro:
  //   * weights and variables are of TensorKind::kParameter: they are not in this part of the arena;
  //   * RESHAPE makes a view, as its kernel copies nothing if input and output are in one place;
  //     Operator::may_overwrite lists what DYNAMIC_UPDATE_SLICE and WHILE may overwrite;
  //   * the tensors of subgraphs that an operator runs are one more output of it, with no readers
  //     but other operators that run the same subgraphs;
  //   * tensors of 4 bits take a byte for each element;
  //   * with an offline plan, tensors within the scratch memory of an Ethos-U operator are views of
  //     it, as their places are fixed;
  //   * operators with an effect besides their outputs keep their order (Operator::after).
  Graph graph;
  // Facts that a reader of the plan has to know; one sentence each.
  std::vector<std::string> notes;
};

// Whether the bytes begin as those of a TensorFlow Lite model.
[[nodiscard]] bool LooksLikeTflite(std::string_view bytes);

// Reads a model. `name` is what errors call the file. Dimensions that the file leaves open have the
// sizes that it states, as in TensorFlow Lite Micro, unless options.dimensions or
// options.other_dimensions gives any: then all others are unknown, and their tensors have
// Tensor::unplanned. They are called "tensor[0]", by the position from 0. The graph is valid.
// Errors: kParse for a file that is not a model, is damaged, or contradicts itself, naming the byte,
// or the subgraph and its tensor or operator; kInvalidOptions for a dimension that is not open;
// kInvalidGraph. Memory: at most a multiple of the file's size.
[[nodiscard]] Result<TfliteModel> ReadTflite(std::string_view bytes, std::string_view name,
                                             const OnnxOptions& options = {});

// The arena of TensorFlow Lite Micro without its persistent part. The scratch memory of kernels is in
// it as far as metadata of the file has it ("BerthScratch", docs/formats/tflite.md).
struct TflmArena {
  // A buffer for each tensor in the arena, of whatever subgraph. Sizes are multiples of 16; a step is
  // an operator's execution, as the interpreter counts them, from 1, or the entry of a subgraph.
  // Tensors that rightly share an offset in the offline plan, since an operator works in place or an
  // Ethos-U operator contains them, are one buffer. Tensors that are never used have memory, but no
  // time at which it matters: each has a step of its own, at the end.
  Problem problem;
  std::vector<Bytes> offsets;  // Where the interpreter places them. Parallel to the buffers.
  Bytes height = 0;
  bool offline = false;      // The file has an offline plan.
  std::size_t placed = 0;    // The tensors with an offset in it.
  std::size_t unplaced = 0;  // The others, which the interpreter fits in.
  Bytes variables = 0;       // In the persistent part of the arena.
  // By number of the tensor among those of all subgraphs: its offset, if it is in the arena.
  std::vector<std::optional<Bytes>> tensor_offsets;
};
// What the interpreter does with this file, whether or not it is right: ValidatePlacement() tells.
// Errors: those of ReadTflite(); kInvalidPlan for an offline plan that the interpreter would refuse
// or misread, naming the tensor; kUnsupported if the size of a tensor in the arena is unknown, or for
// more than 32,768 tensors. Cost: quadratic in the number of tensors.
[[nodiscard]] Result<TflmArena> ReadTflmArena(std::string_view bytes, std::string_view name);

// The same model with its operators in the order of `plan` and, if that has addresses, an offline
// plan for TensorFlow Lite Micro. `graph` is that of ReadTflite(), with in-place writes or without;
// the plan is for its activations. Nothing else changes; a former offline plan is replaced. The
// result is read again, compared with the original, and its offsets are validated. Errors: those of
// ReadTflite(); kInvalidPlan for a plan that moves tensors or is wrong; kInvalidOptions for a graph
// that was not read from this file with its own sizes; kUnsupported for files that cannot be
// changed, such as those with weights behind the flatbuffer. Memory: twice the file.
[[nodiscard]] Result<std::string> WriteTflite(std::string_view bytes, std::string_view name,
                                              const Graph& graph, const MemoryPlan& plan);

// A header in C and C++ with the figures of an arena: its bytes, alignment and the offsets, and
// assertions for the compiler. `name` is what it calls the model; `prefix`, of letters, digits and
// underscores, begins each identifier.
[[nodiscard]] std::string WriteTflmHeader(const TflmArena& arena, std::string_view name,
                                          std::string_view prefix);

}  // namespace berth

#endif  // BERTH_TFLITE_H_
