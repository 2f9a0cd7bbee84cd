// io/onnx/lower.h -- what the walk over a model found, as a graph.
//
// A region is a graph, a body or a function, walked: its operators in the order of the file, with
// names resolved to values. Lowering it makes a tensor of each value: views where operators copy
// nothing, workspaces where they have bodies, the order of what computes constants kept.
#ifndef BERTH_IO_ONNX_LOWER_H_
#define BERTH_IO_ONNX_LOWER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "berth/graph.h"
#include "io/onnx/model.h"
#include "io/onnx/types.h"

namespace berth::internal::onnx {

using ValueId = std::size_t;

enum class Origin { kInput, kWeight, kMade };

struct KnownValue {
  std::string_view name;
  Origin origin = Origin::kMade;
  Info info;
  int cause = -1;  // Why its size or what it holds is not known; -1 where there is nothing to say.
};

// What is known of all values so far, by ValueId, and the causes of what is not.
struct Knowledge {
  std::vector<KnownValue> values;
  std::vector<std::string> causes;
};

// An operator, its inputs and outputs resolved.
struct Step {
  const NodeMessage* node = nullptr;
  std::vector<ValueId> inputs;   // Each once; those that its bodies use among them.
  std::vector<ValueId> outputs;  // Those it has.
  bool constant = false;
  bool zero_copy = false;
  bool may_overwrite = false;
  bool has_workspace = false;
  Bytes workspace = 0;
  std::string unplanned;  // Why its workspace is not known.
};

struct Region {
  std::vector<Step> steps;
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
};

struct Lowered {
  Graph graph;
  std::unordered_map<ValueId, TensorIndex> tensor_of;  // Of each value that is used.
};

// `element_bytes` as in OnnxOptions.
[[nodiscard]] Lowered Lower(const Region& region, const Knowledge& known,
                            std::optional<int> element_bytes);

// What the body of an operator needs.
struct Workspace {
  Bytes bytes = 0;
  std::string unplanned;  // Why that is not known; empty if it is.
};

// How high a greedy plan of `region` in program order is. Of results as large as those of `outputs`
// (null: none), which are to be had elsewhere, nothing is counted.
[[nodiscard]] Workspace PlanBody(const Region& region, const Knowledge& known,
                                 const std::vector<Info>* outputs,
                                 std::optional<int> element_bytes);

// Why a value of this type has no size; empty if it may have one.
[[nodiscard]] std::string ReasonOfType(const Info& info);

}  // namespace berth::internal::onnx

#endif  // BERTH_IO_ONNX_LOWER_H_
