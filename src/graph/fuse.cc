// Element-wise operators computed together with the operator before them, as runtimes do.
//
// An element-wise operator w that is the only reader of x can be applied to each element of x as
// soon as its maker v has computed it, so x never lies in memory: v makes the output y of w instead.
// y is not larger than x, so at every step of every order at most as much is live as before: between
// v and w y instead of x, and at w y instead of both. If w reads another tensor r that an operator
// makes, as a residual Add does, v reads r in its place. That operator comes before v in every order,
// so r is live at v and until w anyway. y may be written over r if w could do so, except where v
// reads r itself as a whole.
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
    for (TensorIndex t = 0; t < graph_.tensors.size(); ++t) KeepQuantized(t);
    return std::move(graph_);
  }

 private:
  // Whether the tensor has bytes of its own, made by an operator, that nothing else refers to.
  [[nodiscard]] bool IsPlain(TensorIndex t) const {
    const Tensor& tensor = graph_.tensors[t];
    return IsMade(tensor.kind) && makers_[t] != kNoOperator && !tensor.alias_of && !fixed_[t] &&
           tensor.unplanned.empty();
  }

  // The tensors that operators make and `w` reads, each once.
  [[nodiscard]] std::vector<TensorIndex> MadeInputs(OperatorIndex w) const {
    std::vector<TensorIndex> made;
    for (const TensorIndex t : graph_.operators[w].inputs) {
      if (!IsMade(graph_.tensors[t].kind)) continue;
      if (std::find(made.begin(), made.end(), t) == made.end()) made.push_back(t);
    }
    return made;
  }

  // Whether operator `w` computes each element of its output from one element of `t`.
  [[nodiscard]] bool IsElementwise(OperatorIndex w, TensorIndex t) const {
    const Operator& op = graph_.operators[w];
    if (op.type == kQuantize) return true;
    const Overwrite pair{t, op.outputs[0]};
    return std::find(op.may_overwrite.begin(), op.may_overwrite.end(), pair) !=
           op.may_overwrite.end();
  }

  // Whether operator `w` can be computed with the operator that makes `x`, which then reads `other`,
  // too, if there is one.
  [[nodiscard]] bool CanFuse(OperatorIndex w, TensorIndex x,
                             std::optional<TensorIndex> other) const {
    const TensorIndex y = graph_.operators[w].outputs[0];
    if (!IsElementwise(w, x) || !IsPlain(x) || is_output_[x] || readers_[x].size() != 1) {
      return false;
    }
    if (!IsPlain(y) || graph_.tensors[y].bytes > graph_.tensors[x].bytes) return false;
    return TakesMore(makers_[x], w) && (!other || ComesBefore(makers_[*other], makers_[x]));
  }

  // Whether `u` comes before `v` in every order. Few operators are looked at: the paths beside
  // residual operands are short.
  [[nodiscard]] bool ComesBefore(OperatorIndex u, OperatorIndex v) const {
    constexpr std::size_t kMost = 256;
    std::vector<OperatorIndex> found = {v};
    for (std::size_t i = 0; i < found.size() && found.size() < kMost; ++i) {
      bool reached = false;
      ForEachPredecessor(graph_, makers_, found[i], [&](OperatorIndex p) {
        reached = reached || p == u;
        if (p < u || found.size() >= kMost) return;
        if (std::find(found.begin(), found.end(), p) == found.end()) found.push_back(p);
      });
      if (reached) return true;
    }
    return false;
  }

  // The input of `w` whose maker `w` can be computed with.
  [[nodiscard]] std::optional<TensorIndex> FusedInput(OperatorIndex w) const {
    const Operator& op = graph_.operators[w];
    if (op.outputs.size() != 1 || !op.mutates.empty() || waits_[w]) return std::nullopt;
    for (const TensorIndex t : op.inputs) {
      if (written_[BaseOf(graph_, t)]) return std::nullopt;
    }
    const std::vector<TensorIndex> made = MadeInputs(w);
    if (made.size() == 1 && CanFuse(w, made[0], std::nullopt)) return made[0];
    if (made.size() != 2) return std::nullopt;
    if (CanFuse(w, made[0], made[1])) return made[0];
    if (CanFuse(w, made[1], made[0])) return made[1];
    return std::nullopt;
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
    const std::optional<TensorIndex> input = FusedInput(w);
    if (!input) return;
    const TensorIndex x = *input;
    const TensorIndex y = graph_.operators[w].outputs[0];
    const OperatorIndex v = makers_[x];
    for (const TensorIndex t : MadeInputs(w)) {
      if (t != x) ReadEarlier(t, w, v);
    }
    Operator& maker = graph_.operators[v];
    // Other results of the maker stay what they are.
    const auto at = std::find(maker.outputs.begin(), maker.outputs.end(), x);
    *at = y;
    maker.outputs.push_back(x);
    views_[y] = std::move(views_[x]);
    views_[y].push_back(x);
    for (const TensorIndex view : views_[y]) MakeView(y, view);
    makers_[y] = v;
    // Operands of `w` were added as inputs that may be overwritten by y.
    std::erase_if(maker.may_overwrite, [&](Overwrite& pair) {
      if (pair.output != x) return false;
      pair.output = y;
      return graph_.tensors[pair.input].bytes != graph_.tensors[y].bytes;
    });
    Operator& done = graph_.operators[w];
    if (done.type == kQuantize) makes_quantized_[v] = true;
    // Whoever runs `v` again runs `w` again.
    if (!MayRepeat(graph_, w)) maker.repeat = Repeat::kNever;
    if (done.cost) maker.cost = maker.cost.value_or(0) + std::exchange(done.cost, 0).value();
    done.outputs.clear();
    done.may_overwrite.clear();
    done.receptive_fields.clear();
    // The orders stay those of the model.
    for (const OperatorIndex r : readers_[y]) {
      std::vector<OperatorIndex>& after = graph_.operators[r].after;
      if (std::find(after.begin(), after.end(), w) == after.end()) after.push_back(w);
    }
  }

  // Operand `t` of `w` is read by `v` instead.
  void ReadEarlier(TensorIndex t, OperatorIndex w, OperatorIndex v) {
    Operator& done = graph_.operators[w];
    Operator& maker = graph_.operators[v];
    const TensorIndex y = done.outputs[0];
    std::erase(done.inputs, t);
    std::erase(readers_[t], w);
    // Another input of `v` may be a view of the same bytes, which `v` needs until the end.
    const bool alone =
        std::none_of(maker.inputs.begin(), maker.inputs.end(),
                     [&](TensorIndex other) { return BaseOf(graph_, other) == BaseOf(graph_, t); });
    const Overwrite pair{t, y};
    const bool listed = std::find(done.may_overwrite.begin(), done.may_overwrite.end(), pair) !=
                        done.may_overwrite.end();
    if (alone && listed) maker.may_overwrite.push_back(pair);
    if (std::find(maker.inputs.begin(), maker.inputs.end(), t) != maker.inputs.end()) return;
    maker.inputs.push_back(t);
    readers_[t].insert(std::lower_bound(readers_[t].begin(), readers_[t].end(), v), v);
    for (const ReceptiveField& field : done.receptive_fields) {
      const bool reads =
          std::find(field.inputs.begin(), field.inputs.end(), t) != field.inputs.end();
      if (!reads) continue;
      maker.receptive_fields.push_back(field);
      maker.receptive_fields.back().inputs = {t};
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

  // Whether `r` computes with quantized elements: its result is quantized, or all that it reads was.
  [[nodiscard]] bool ComputesQuantized(OperatorIndex r) const {
    if (makes_quantized_[r]) return true;
    const std::vector<TensorIndex> made = MadeInputs(r);
    return !made.empty() && std::all_of(made.begin(), made.end(), [&](TensorIndex t) {
      return graph_.operators[makers_[t]].type == kDequantize;
    });
  }

  // A weight that DequantizeLinear reads stays as it is where its readers compute with quantized
  // elements.
  void KeepQuantized(TensorIndex t) {
    Tensor& tensor = graph_.tensors[t];
    if (tensor.quantized == 0 || tensor.output || fixed_[t] || readers_[t].empty()) return;
    for (const OperatorIndex r : readers_[t]) {
      if (!ComputesQuantized(r)) return;
    }
    tensor.bytes = std::min(tensor.bytes, tensor.quantized);
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
