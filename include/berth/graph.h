// berth/graph.h -- operators and the tensors between them, before their order is chosen.
//
// A graph is a partial order: operators wait for the tensors that they read and for the operators
// that they must come after. Every order that respects this computes the same; the orders differ in
// which tensors are live together, and so in how many bytes a run needs.
//
//   A(8) --> B(1) --.                       order         bytes live at each step
//                    E(1) --> output        A B C D E     8   9   9  10   3
//   C(8) --> D(1) --'                       A C B D E     8  16  17  10   3
//
// (Each operator with the bytes of its output; a tensor is live from the operator that makes it
// through the last that uses it.) Live() gives these numbers, and the buffers with their lifetimes
// to which berth/place.h assigns offsets.
//
// Tensors share bytes in two ways:
//
//   * a view (`alias_of`) has no bytes of its own: it is another name for some or all bytes of its
//     base. The base is live as long as any of its views is used.
//   * an operator that writes in place (`mutates`) changes bytes that others may read. Which reads
//     see the old bytes and which the new must not depend on the order: between a write in place
//     and every other use of the same base there must be a path of edges, in one direction or the
//     other. If data dependences do not give one, Operator::after has to. Validate() rejects every
//     other graph, since some of its orders would silently compute wrong results.
#ifndef BERTH_GRAPH_H_
#define BERTH_GRAPH_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/answer.h"
#include "berth/problem.h"
#include "berth/result.h"

namespace [[gnu::visibility("default")]] berth {

using TensorIndex = std::size_t;    // Of Graph::tensors.
using OperatorIndex = std::size_t;  // Of Graph::operators.

// Operators in the order in which they run, each exactly once; in plans with recomputation (see
// berth/recompute.h) at least once. Step s of the schedule is the execution of order[s].
using Order = std::vector<OperatorIndex>;

// Where the bytes of a tensor come from. The first two are made by an operator; the others exist
// before the first operator runs, and no operator makes them.
enum class TensorKind {
  kActivation,  // Made by an operator.
  kGradient,    // The same, in a training step; only reports tell it apart.
  kInput,       // Given for each run. Counted only on request (Counting).
  kParameter,   // A weight, present in all runs. Counted only on request.
  kConstant,    // The result of constant arithmetic, known before any run; like a parameter.
};
[[nodiscard]] std::string_view ToString(TensorKind kind);  // "activation", "gradient", ...

struct Tensor {
  std::string name;     // Unique among the tensors, any UTF-8 text, not empty.
  Bytes bytes = 0;      // From 0 to 2^60; for a view, at most the bytes of its base.
  Bytes alignment = 1;  // The offset is a multiple of it; from 1 to 2^60. Not used for a view.
  TensorKind kind = TensorKind::kActivation;
  bool output = false;                       // A result of the graph: its base is live to the end.
  std::optional<TensorIndex> alias_of = {};  // The base of this view; a base is not a view.
  // Why the size is unknown; empty if it is known. Such a tensor has 0 bytes: it is not part of the
  // plan, and figures of the graph are lower bounds (PlanAnswer::unsized).
  std::string unplanned = {};
  std::string dtype = {};  // For people: "float32".
  std::string shape = {};  // For people: "1x64x56x56".
  // Of a constant that DequantizeLinear computes: the bytes of the weight that it reads; else 0.
  Bytes quantized = 0;
  friend bool operator==(const Tensor&, const Tensor&) = default;
};

// An operator may write `output` over the bytes of `input`, because it reads each element before it
// writes the one in its place.
struct Overwrite {
  TensorIndex input = 0;
  TensorIndex output = 0;
  friend bool operator==(const Overwrite&, const Overwrite&) = default;
};

// How the output of an operator depends on some of its inputs along one axis, which all of these
// have. A row is all elements with one index along the axis: row i of the output is computed from
// rows i * stride - before to i * stride - before + extent - 1 of each of these inputs, as far as
// they exist, and from whole other inputs.
struct ReceptiveField {
  std::int64_t axis = 0;            // Counted from 0.
  std::int64_t input_rows = 0;      // Of each of the inputs. All counts of rows are below 2^31.
  std::int64_t output_rows = 0;     // Of the output.
  std::int64_t stride = 1;          // At least 1.
  std::int64_t extent = 1;          // At least 1: dilation * (kernel - 1) + 1.
  std::int64_t before = 0;          // At least 0: rows of padding.
  std::vector<TensorIndex> inputs;  // Each an input of the operator; not empty.
  friend bool operator==(const ReceptiveField&, const ReceptiveField&) = default;
};

// Whether an operator may run more than once, to make again what was dropped (berth/recompute.h).
enum class Repeat {
  kByType,  // Unless the graph or the type of the operator says otherwise: see MayRepeat().
  kPure,    // It may: the same inputs give the same outputs, and nothing else happens.
  kNever,
};

// Memory that an operator needs only while it runs, such as a workspace or the inner peak of a
// subgraph, is modelled as an output with no readers.
struct Operator {
  std::string name;                  // Unique among the operators, any UTF-8 text, not empty.
  std::string type;                  // "Conv", for people; may be empty.
  std::vector<TensorIndex> inputs;   // Read; a tensor may come several times.
  std::vector<TensorIndex> outputs;  // Made. Each tensor by at most one operator.
  // Bases (not views) that are written in place; they need not be inputs.
  std::vector<TensorIndex> mutates = {};
  // Operators that must run earlier although no tensor requires it. Each at most once.
  std::vector<OperatorIndex> after = {};
  std::vector<Overwrite> may_overwrite = {};  // For ReuseInPlace().
  bool update = false;  // Gives a parameter its next value: can run early, as nothing waits for it.
  // Of an operator with one output that can be computed in strips: an input is in at most one for
  // each axis. For advice (berth/advise.h).
  std::vector<ReceptiveField> receptive_fields = {};
  // Of running it once, in Graph::cost_unit; from 0 to 2^60. None: see CostsOf().
  std::optional<std::int64_t> cost = {};
  Repeat repeat = Repeat::kByType;
  bool random = false;  // Draws random numbers: running it again gives other outputs.
  // Those of `mutates` that it writes only when it first runs, such as running statistics. When it
  // runs again, it does not touch them.
  std::vector<TensorIndex> skips = {};
  friend bool operator==(const Operator&, const Operator&) = default;
};

struct Graph {
  std::string name;                 // For people; may be empty.
  std::vector<Operator> operators;  // In program order, which is a valid order.
  std::vector<Tensor> tensors;
  std::string cost_unit = {};  // Of Operator::cost, for people: "ns", "flop"; may be empty.
  friend bool operator==(const Graph&, const Graph&) = default;
};

// The base of a tensor: itself, unless it is a view.
[[nodiscard]] inline TensorIndex BaseOf(const Graph& graph, TensorIndex tensor) {
  return graph.tensors[tensor].alias_of.value_or(tensor);
}

// Checks every rule above and that
//   * indices lie within the graph; names are unique;
//   * a tensor has an operator that makes it if, and only if, it is an activation or a gradient;
//   * program order can run: no operator waits for a later one, in a cycle or not;
//   * an operator that makes a view reads, writes or makes its base, or reads a view of it;
//   * the sum of all bytes, each base with its alignment, is at most 2^60, and so is that of costs.
// Error: kInvalidGraph, naming the first operator or tensor that breaks a rule, which is the error's
// subject, and the value.
// Cost: O((operators + tensors + edges) x (1 + writes in place / 64)).
[[nodiscard]] Result<void> Validate(const Graph& graph);

// Whether operator `v` of `graph` may run again. By type: not if it is an update, is random, writes
// in place what is given (an input, a parameter) and not in its `skips`, or has the name of an
// operator that draws random numbers, communicates, reads or writes files and devices, or keeps
// state, as PyTorch, ONNX, TensorFlow Lite and XLA call them.
[[nodiscard]] bool MayRepeat(const Graph& graph, OperatorIndex v);

// What each operator costs: Operator::cost if any operator has one, 0 where this one has none. Else
// the bytes that it reads and writes.
struct OperatorCosts {
  std::vector<std::int64_t> of;  // By operator.
  std::string unit;              // Graph::cost_unit, or "bytes" where no operator has a cost.
};
[[nodiscard]] OperatorCosts CostsOf(const Graph& graph);

// The way between the memory and the store behind it, over which a tensor is copied as a whole, one
// at a time.
struct Link {
  Bytes out_bytes_per_second = 0;        // Towards the store; from 1 to 2^60.
  Bytes in_bytes_per_second = 0;         // Back; from 1 to 2^60.
  std::int64_t latency_nanoseconds = 0;  // Of every copy; from 0 to 2^40.
  // Energy of each byte that is copied, out or in, of link and store together; from 0 to 2^40. None if it is
  // not known.
  std::optional<double> picojoules_per_byte = {};
  // Nanoseconds that a copy of `bytes` takes, rounded up; at most 2^60.
  [[nodiscard]] std::int64_t Out(Bytes bytes) const;
  [[nodiscard]] std::int64_t In(Bytes bytes) const;
  friend bool operator==(const Link&, const Link&) = default;
};
// Error: kInvalidOptions, if a field is out of bounds.
[[nodiscard]] Result<void> Validate(const Link& link);

// Checks that `order` runs each operator of `graph`, which must be valid, exactly once and after
// all those that it waits for. Error: kInvalidPlan, naming the first operator at fault, which is the
// error's subject. Cost: linear.
[[nodiscard]] Result<void> ValidateOrder(const Graph& graph, const Order& order);

// 0, 1, 2, ...
[[nodiscard]] Order ProgramOrder(const Graph& graph);

// `order` without the executions after the first of each operator, in a plan with recomputation
// (berth/recompute.h). Cost: linear.
[[nodiscard]] Order FirstExecutions(const Graph& graph, const Order& order);

// `graph` with its operators listed in `order`, which must be valid; otherwise unchanged.
// Cost: linear.
[[nodiscard]] Graph Reordered(const Graph& graph, const Order& order);

// Which tensors take part in the plan besides those that operators make.
struct Counting {
  bool inputs = false;  // Graph inputs: live from step 0 through their last use.
  // Parameters and constants: live throughout, as the next run needs them.
  bool parameters = false;
  // Tensors whose sizes are not known count as 0 bytes in all outcomes, too: these are then about
  // the other tensors alone.
  bool unsized_as_zero = false;
  friend bool operator==(const Counting&, const Counting&) = default;
};

// Whether a tensor has bytes of its own and a place in plans under `counting`, if it is used.
[[nodiscard]] inline bool TakesPart(const Tensor& tensor, const Counting& counting) {
  if (tensor.alias_of) return false;
  switch (tensor.kind) {
    case TensorKind::kActivation:
    case TensorKind::kGradient:
      return true;
    case TensorKind::kInput:
      return counting.inputs;
    case TensorKind::kParameter:
    case TensorKind::kConstant:
      return counting.parameters;
  }
  return false;
}

// Tensors that have bytes of their own and take part in the plan, and how many of them have no
// known size. Cost: linear.
struct TensorCount {
  std::size_t tensors = 0;
  std::size_t unsized = 0;
};
[[nodiscard]] TensorCount CountTensors(const Graph& graph, const Counting& counting = {});

// Which tensors are live at which steps of an order.
struct Liveness {
  // One buffer for each counted base of at least 1 byte, in the order of the tensors; its id is the
  // tensor's name. Steps are those of the order.
  Problem problem;
  std::vector<TensorIndex> tensors;  // Parallel to the buffers: their bases.
  std::vector<Bytes> live;           // The bytes live at each step.
  Bytes peak = 0;                    // The largest of `live`.
  Step peak_step = 0;                // The first step with that many bytes.
};

// The lifetimes of the counted tensors when the operators of `graph` run in `order`; both must be
// valid. A base is live from the operator that makes it (or step 0) through the last that reads it
// or any of its views, makes a view of it, or writes it in place, both included; to the end if it
// or any of its views is an output. Cost: linear.
[[nodiscard]] Liveness Live(const Graph& graph, const Order& order, const Counting& counting = {});

// The buffers of a plan: one for each residency, in the same order. Ids are "tensor", or "tensor#k"
// for the k-th of several residencies, from 1. Placing them gives the offsets. Cost: O(n log n).
[[nodiscard]] Problem ProblemOf(const Graph& graph, const MemoryPlan& plan);

// Checks that the plan computes what the graph computes and that its stated figures are correct:
// each operator runs at least once, first executions are in a valid order, and only operators that
// may (MayRepeat()) run again; all tensors that an operator reads or writes are resident while it
// runs; a tensor is retrieved only if its copy off chip has the value that is needed (given tensors
// may be in memory from step 0 on), and written out only if it is needed again or a result; every
// result is written out or stays to the end; with addresses, nothing overlaps, all offsets are aligned
// and, with a capacity, within it; height, peak, traffic and the cost of running operators again are
// as stated. `graph` must be valid. `counting` says which tensors are in the plan.
// An operator that runs again must find every base in the version that it found first: a base has
// version 0 when it is made, however often, or given; each write in place makes the next. It does not
// touch its `skips`. A retrieved tensor has the version that was written out; results are kept in
// their last.
// Errors: kInvalidPlan, naming the first tensor, operator and step at fault; kInvalidGraph for
// sizes whose traffic could exceed 2^60 bytes. Cost: O(n log n) and the overlaps in time.
// `link`: the one that Traffic::cost is about; without it that figure is not checked.
[[nodiscard]] Result<void> ValidatePlan(const Graph& graph, const Counting& counting,
                                        std::optional<Bytes> capacity, const MemoryPlan& plan,
                                        const Link* link = nullptr);

// `graph` with every offset a multiple of `alignment` (1 to 2^30) and of the alignment that the
// tensor has already, and so with the bytes of every tensor, parameters and constants aside.
// Tensors are padded as runtimes pad them: peaks and heights are those of an arena with this
// alignment, whose own address must be a multiple of it. Outputs that were as large as an input
// before, and no others, may still overwrite it. Cost: linear.
[[nodiscard]] Graph Aligned(Graph graph, Bytes alignment);

// `graph`, which must be valid, with outputs written over inputs wherever Operator::may_overwrite
// allows it and it is safe in every order: the output has as many bytes as the input's base; the
// base is made by an operator, is planned, is not a result, and is used only by operators for which
// this one waits anyway. The output becomes a view of the base, which the operator then writes in
// place. The returned graph is valid and has the same orders as `graph`, none with a higher peak.
// Cost: that of Validate().
[[nodiscard]] Graph ReuseInPlace(Graph graph);

// `graph`, which must be valid, as runtimes run it that apply element-wise operators to each element
// as it is computed: the output of such an operator is made by the operator before it, whose own
// output never lies in memory. This holds for operators with Operator::may_overwrite and
// QuantizeLinear after Conv, ConvTranspose, Gemm, MatMul and element-wise operators, where nothing
// else reads the output between. A second operand, such as that of a residual Add, is then read by
// the operator before; it must have been made before that one in every order. An operator between
// DequantizeLinear and QuantizeLinear reads and makes the quantized elements, and so with its
// weights. The operators and their orders stay the same; those that were fused make nothing. The
// returned graph is valid, and no order has a higher peak. Cost: linear.
[[nodiscard]] Graph Fuse(Graph graph);

}  // namespace berth

#endif  // BERTH_GRAPH_H_
