// io/tflite/tflm.h -- how TensorFlow Lite Micro counts time and places tensors.
//
// Its interpreter counts one step at the entry of a subgraph and one for each operator; an operator
// that runs subgraphs counts their steps before it ends. A tensor's first and last step are
// inclusive:
//
//   * inputs of a subgraph begin at its entry, outputs of an operator when it begins;
//   * inputs and outputs of an operator are live until it ends, after the subgraphs that it runs;
//   * outputs of a subgraph are live until it ends.
//
// A tensor that is only read begins at step -1, and so does one that is never used: the interpreter
// allocates it all the same. Weights and variables are not in this part of the arena. The steps of a
// subgraph that is run several times count from its first run to its last.
//
// Source: tensorflow/lite/micro/micro_allocation_info.cc, memory_planner/greedy_memory_planner.cc.
#ifndef BERTH_IO_TFLITE_TFLM_H_
#define BERTH_IO_TFLITE_TFLM_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/onnx.h"
#include "berth/problem.h"
#include "berth/result.h"
#include "io/tflite/model.h"

namespace berth::internal::tflite {

// Memory that a kernel requests when it is prepared, for the time while it runs: what the metadata
// "BerthScratch" says, if the file has it. That is a list of 32-bit integers, little-endian: 1, the
// version, and for each request its subgraph, its operator and its bytes.
struct Scratch {
  std::size_t subgraph = 0;
  std::size_t op = 0;
  Bytes bytes = 0;  // Rounded up; at least 1.
};
// In the order of the list. Error: kParse.
[[nodiscard]] Result<std::vector<Scratch>> ScratchOf(const ModelEntry& model,
                                                     std::string_view name);

// Of sizes and offsets in the arena.
inline constexpr Bytes kArenaAlignment = 16;

struct Span {
  std::int64_t first = -1;
  std::int64_t last = -1;
  void Use(std::int64_t step) {
    if (first == -1) first = step;
    last = step;
  }
};

// The time that a model takes, and what its tensors need of it. Lists are by number of the tensor
// among those of all subgraphs.
struct Timeline {
  std::vector<Span> tensors;
  // By subgraph: its operators, each with the subgraphs that it runs.
  std::vector<std::vector<Span>> operators;
  // The subgraphs that each operator of the first one runs, directly or not; in increasing order.
  std::vector<std::vector<std::size_t>> runs;
  std::int64_t steps = 0;
};
// Errors: kParse for subgraphs that run themselves, or that run each other too often or too deep.
// Cost: linear in the steps, of which there are at most some millions.
[[nodiscard]] Result<Timeline> TimelineOf(const ModelEntry& model, std::string_view name);

// What a tensor takes of the arena.
struct TensorSize {
  bool planned = false;   // Neither constant nor variable, and not empty.
  Bytes bytes = 0;        // Not rounded; of constants and variables, too.
  std::string unplanned;  // Why the size is not known; empty if it is.
};
struct Sizes {
  std::vector<TensorSize> tensors;
  std::size_t open = 0;                 // Dimensions that the file leaves open.
  std::vector<std::string> open_names;  // The first of these: "input[0]".
};
// Errors: kParse for a size beyond 2^60; kInvalidOptions for a dimension that is not open.
[[nodiscard]] Result<Sizes> SizesOf(const ModelEntry& model, const OnnxOptions& options,
                                    std::string_view name);

// A buffer as the interpreter asks its planner for it.
struct Request {
  Bytes size = 0;  // Rounded up.
  Span live;
  std::optional<Bytes> offset = {};  // From the offline plan.
};
// The offsets that its planner, the greedy one, gives: offline ones as they are, then the others by
// size, the largest first, each as low as it fits. Cost: quadratic.
[[nodiscard]] std::vector<Bytes> GreedyOffsets(const std::vector<Request>& requests);

// The request of each planned tensor whose size is known, in the interpreter's order, and their
// numbers; then those of the scratch memory of operators that run. `offline`: by number of tensor;
// may be empty.
struct Requests {
  std::vector<Request> list;
  std::vector<std::size_t> tensors;
  std::vector<Scratch> scratch;
};
[[nodiscard]] Requests RequestsOf(const Timeline& timeline, const Sizes& sizes,
                                  const std::vector<Scratch>& scratch,
                                  const std::vector<std::optional<Bytes>>& offline);

// An operator whose output may lie exactly where its input does, because the interpreter's kernel
// then copies nothing.
struct InPlace {
  std::size_t input = 0;  // Numbers of tensors.
  std::size_t output = 0;
  // Both have the same contents; else the input is overwritten.
  bool same = false;
};
// Those of `op`, in the subgraph whose first tensor has the given number. Only planned tensors of
// equal, known sizes.
[[nodiscard]] std::vector<InPlace> InPlaceOf(const OperatorEntry& op, std::size_t first_tensor,
                                             const Sizes& sizes);

// The offsets of an offline plan by number of tensor, none where it has -1. None at all without an
// offline plan. Errors: kInvalidPlan for another number of tensors, an offset below -1, and for a
// variable of a later subgraph to which an interpreter would give no memory.
[[nodiscard]] Result<std::optional<std::vector<std::optional<Bytes>>>> OfflineOffsets(
    const ModelEntry& model, std::string_view name);

// An operator for an Ethos-U accelerator has a tensor that contains others: their offsets within it
// are part of the operator's commands.
struct Container {
  std::size_t tensor = 0;
  std::vector<std::size_t> contains;  // Numbers, in increasing order.
};
// Those that an offline plan puts within another tensor of such an operator.
[[nodiscard]] std::vector<Container> ContainersOf(const ModelEntry& model, const Sizes& sizes,
                                                  const std::vector<std::optional<Bytes>>& offline);

}  // namespace berth::internal::tflite

#endif  // BERTH_IO_TFLITE_TFLM_H_
