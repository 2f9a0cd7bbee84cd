// io/onnx/lower.h -- the result of the walk over a model as a graph.
//
// A region is a graph, a body or a function after the walk: its operators in the order of the file,
// with names resolved to values. Lowering makes a tensor of each value. Operators that copy nothing
// make views, those with bodies get workspaces, and operators that compute constants keep their
// order but touch no tensors.
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
#include "berth/onnx.h"
#include "io/onnx/model.h"
#include "io/onnx/types.h"

namespace berth::internal::onnx {

using ValueId = std::size_t;

enum class Origin { kInput, kWeight, kMade };

struct KnownValue {
  std::string_view name;
  Origin origin = Origin::kMade;
  Info info;
  int cause = -1;  // Why its size or contents are unknown, an index into `causes`; -1 for none.
};

// What is known of all values so far, by ValueId, and the causes of unknown sizes.
struct Knowledge {
  std::vector<KnownValue> values;
  std::vector<std::string> causes;
};

// An operator, its inputs and outputs resolved.
struct Step {
  const NodeMessage* node = nullptr;
  std::vector<ValueId> inputs;   // Each once, including those that its bodies use.
  std::vector<ValueId> outputs;  // Without those that are omitted.
  bool constant = false;
  bool zero_copy = false;
  bool may_overwrite = false;
  struct Slide {
    std::vector<ValueId> values;  // ReceptiveField::inputs.
    ReceptiveField field;         // The rest of it.
  };
  std::vector<Slide> slides;
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

// Tensors are aligned to their elements, not yet as OnnxOptions::alignment says.
[[nodiscard]] Lowered Lower(const Region& region, const Knowledge& known,
                            const OnnxOptions& options);

// The memory that the body of an operator needs.
struct Workspace {
  Bytes bytes = 0;
  std::string unplanned;  // Why that is unknown; empty if it is known.
};

// The height of a greedy plan of `region` in program order. Results of the same size as their
// counterparts in `outputs` (null: none) are not counted, as they have bytes elsewhere.
[[nodiscard]] Workspace PlanBody(const Region& region, const Knowledge& known,
                                 const std::vector<Info>* outputs, const OnnxOptions& options);

// Why a value of this type has no size; empty if it may have one.
[[nodiscard]] std::string ReasonOfType(const Info& info);

}  // namespace berth::internal::onnx

#endif  // BERTH_IO_ONNX_LOWER_H_
