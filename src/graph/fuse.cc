// Element-wise operators computed together with the operator before them, as runtimes do.
//
// An element-wise operator w that is the only reader of x can be applied to each element of x as
// soon as its maker v has computed it, so x never lies in memory: v makes the output y of w instead.
// y is not larger than x and w reads no other tensor that an operator makes, so at every step of
// every order at most as much is live as before: between v and w y instead of x, and at w y instead
// of both.
//
// In a quantized model, QuantizeLinear(Op(DequantizeLinear(q))) stands for an operator that reads
// and makes 8-bit elements. There QuantizeLinear is applied by Op as above, and the output of
// DequantizeLinear is q itself, read in another way.

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/graph.h"
#include "graph/edges.h"

namespace berth {
namespace internal {
namespace {

constexpr std::string_view kQuantize = "QuantizeLinear";
constexpr std::string_view kDequantize = "DequantizeLinear";

class Fuser {
 public:
  explicit Fuser(Graph graph)
      : graph_(std::move(graph)),
        makers_(Makers(graph_)),
        is_output_(BasesOfOutputs(graph_)),
        readers_(graph_.tensors.size()),
        fixed_(graph_.tensors.size(), false),
        written_(graph_.tensors.size(), false),
        views_(graph_.tensors.size()),
        waits_(graph_.operators.size(), false),
        makes_quantized_(graph_.operators.size(), false) {
    for (OperatorIndex v = 0; v < graph_.operators.size(); ++v) {
      waits_[v] = !graph_.operators[v].after.empty();
      for (const TensorIndex t : graph_.operators[v].inputs) {
        std::vector<OperatorIndex>& readers = readers_[t];
        if (readers.empty() || readers.back() != v) readers.push_back(v);
      }
      for (const TensorIndex t : graph_.operators[v].mutates) written_[t] = fixed_[t] = true;
    }
    for (const Tensor& tensor : graph_.tensors) {
      if (tensor.alias_of) fixed_[*tensor.alias_of] = true;
    }
  }

  Graph Run() {
    for (OperatorIndex w = 0; w < graph_.operators.size(); ++w) FuseWithMaker(w);
    for (OperatorIndex v = 0; v < graph_.operators.size(); ++v) {
      if (graph_.operators[v].type == kDequantize) ReadAsQuantized(v);
    }
    return std::move(graph_);
  }

 private:
  // Whether the tensor has bytes of its own, made by an operator, that nothing else refers to.
  [[nodiscard]] bool IsPlain(TensorIndex t) const {
    const Tensor& tensor = graph_.tensors[t];
    return IsMade(tensor.kind) && makers_[t] != kNoOperator && !tensor.alias_of && !fixed_[t] &&
           tensor.unplanned.empty();
  }

  // The tensor of which operator `w` computes each element of its output from one element; none if
  // there is not exactly one that an operator makes.
  [[nodiscard]] std::optional<TensorIndex> ElementwiseInput(OperatorIndex w) const {
    const Operator& op = graph_.operators[w];
    if (op.outputs.size() != 1 || !op.mutates.empty() || waits_[w]) return std::nullopt;
    std::optional<TensorIndex> made;
    for (const TensorIndex t : op.inputs) {
      if (written_[BaseOf(graph_, t)]) return std::nullopt;
      if (!IsMade(graph_.tensors[t].kind) || made == t) continue;
      if (made) return std::nullopt;
      made = t;
    }
    if (!made || op.type == kQuantize) return made;
    const Overwrite pair{*made, op.outputs[0]};
    const bool listed =
        std::find(op.may_overwrite.begin(), op.may_overwrite.end(), pair) != op.may_overwrite.end();
    return listed ? made : std::nullopt;
  }

  // Whether runtimes apply element-wise operators to the results of `v` as it makes them.
  [[nodiscard]] bool TakesMore(OperatorIndex v, OperatorIndex w) const {
    constexpr std::array<std::string_view, 6> kTypes = {"Conv",   "ConvTranspose", "Gemm",
                                                        "MatMul", "FusedConv",     "ConvInteger"};
    const Operator& op = graph_.operators[v];
    if (op.type == kQuantize || op.type == kDequantize) return false;
    if (op.outputs.empty() || !op.mutates.empty()) return false;
    if (std::find(kTypes.begin(), kTypes.end(), op.type) != kTypes.end()) return true;
    if (!op.may_overwrite.empty()) return true;
    // With 8-bit elements on both sides, any operator.
    return graph_.operators[w].type == kQuantize && !op.inputs.empty() &&
           std::all_of(op.inputs.begin(), op.inputs.end(), [&](TensorIndex t) {
             return !IsMade(graph_.tensors[t].kind) ||
                    (makers_[t] != kNoOperator && graph_.operators[makers_[t]].type == kDequantize);
           });
  }

  void FuseWithMaker(OperatorIndex w) {
    const std::optional<TensorIndex> input = ElementwiseInput(w);
    if (!input) return;
    const TensorIndex x = *input;
    const TensorIndex y = graph_.operators[w].outputs[0];
    if (!IsPlain(x) || is_output_[x] || readers_[x].size() != 1) return;
    const OperatorIndex v = makers_[x];
    if (!IsPlain(y) || graph_.tensors[y].bytes > graph_.tensors[x].bytes || !TakesMore(v, w))
      return;
    Operator& maker = graph_.operators[v];
    // Other results of the maker stay what they are.
    const auto at = std::find(maker.outputs.begin(), maker.outputs.end(), x);
    *at = y;
    maker.outputs.push_back(x);
    views_[y] = std::move(views_[x]);
    views_[y].push_back(x);
    for (const TensorIndex view : views_[y]) MakeView(y, view);
    makers_[y] = v;
    std::erase_if(maker.may_overwrite, [&](Overwrite& pair) {
      if (pair.output != x) return false;
      pair.output = y;
      return graph_.tensors[pair.input].bytes != graph_.tensors[y].bytes;
    });
    Operator& done = graph_.operators[w];
    if (done.type == kQuantize) makes_quantized_[v] = true;
    done.outputs.clear();
    done.may_overwrite.clear();
    done.receptive_fields.clear();
    // The orders stay those of the model.
    for (const OperatorIndex r : readers_[y]) {
      std::vector<OperatorIndex>& after = graph_.operators[r].after;
      if (std::find(after.begin(), after.end(), w) == after.end()) after.push_back(w);
    }
  }

  void MakeView(TensorIndex base, TensorIndex view) {
    Tensor& tensor = graph_.tensors[view];
    tensor.alias_of = base;
    tensor.bytes = graph_.tensors[base].bytes;
    tensor.alignment = 1;
  }

  // The output of DequantizeLinear, if all its readers make 8-bit elements.
  void ReadAsQuantized(OperatorIndex v) {
    const Operator& op = graph_.operators[v];
    if (op.outputs.size() != 1 || op.inputs.empty()) return;
    const TensorIndex q = op.inputs[0];
    const TensorIndex f = op.outputs[0];
    if (!IsPlain(f) || is_output_[f] || graph_.tensors[q].bytes > graph_.tensors[f].bytes) return;
    if (!graph_.tensors[q].unplanned.empty() || written_[BaseOf(graph_, q)]) return;
    for (const OperatorIndex r : readers_[f]) {
      if (!makes_quantized_[r]) return;
    }
    MakeView(BaseOf(graph_, q), f);
    graph_.tensors[f].bytes = graph_.tensors[q].bytes;
  }

  Graph graph_;
  std::vector<OperatorIndex> makers_;
  std::vector<bool> is_output_;
  std::vector<std::vector<OperatorIndex>> readers_;  // Of each tensor, increasing.
  std::vector<bool> fixed_;    // Has views or is written in place in the given graph.
  std::vector<bool> written_;  // Is written in place.
  std::vector<std::vector<TensorIndex>> views_;  // Of each base, by fusing.
  std::vector<bool> waits_;            // By operator: has Operator::after in the given graph.
  std::vector<bool> makes_quantized_;  // By operator: QuantizeLinear is applied to its results.
};

}  // namespace
}  // namespace internal

Graph Fuse(Graph graph) { return internal::Fuser(std::move(graph)).Run(); }

}  // namespace berth
