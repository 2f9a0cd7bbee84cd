// berth/graph.h -- operators and the tensors between them, before their order is chosen.
//
// A graph is a partial order: operators wait for the tensors that they read and for the operators
// that they are told to come after. Any order that keeps to this computes the same; what differs is
// which tensors are live together, and so how many bytes the run needs.
//
//   A(8) --> B(1) --.                       order         bytes live at each step
//                    E(1) --> output        A B C D E     8   9   9  10   3
//   C(8) --> D(1) --'                       A C B D E     8  16  17  10   3
//
// (Each operator with the bytes of what it makes; a tensor is live from the operator that makes it
// through the last that uses it.) Live() gives these numbers, and the buffers with their lifetimes
// that berth/place.h puts at addresses.
//
// Tensors share bytes in two ways, and both are said once, of the tensor and of the operator:
//
//   * a view (`alias_of`) has no bytes of its own: it is another name for some or all bytes of its
//     base. The base is live as long as any of its views is used.
//   * an operator that writes in place (`mutates`) changes bytes that others may read. Which of
//     them see the old and which the new bytes must not depend on the order: between a write in
//     place and every other use of the same base there has to be a path of edges, one way or the
//     other. Where the data alone does not give one, Operator::after does. Validate() holds every
//     graph to that, since an order that breaks it computes wrong numbers and nobody notices.
#ifndef BERTH_GRAPH_H_
#define BERTH_GRAPH_H_

#include <cstddef>
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

// Operators in the order in which they run, each exactly once. Step s of the schedule is the
// execution of order[s].
using Order = std::vector<OperatorIndex>;

// Where the bytes of a tensor come from. The first two are made by an operator, the others are
// there before the first one and have no operator that makes them.
enum class TensorKind {
  kActivation,  // Made by an operator.
  kGradient,    // The same, of a training step; told apart in reports only.
  kInput,       // Given for each run. Not counted unless asked for.
  kParameter,   // A weight, there for all runs. Not counted unless asked for.
  kConstant,    // Known before any run, as the result of constant arithmetic. As a parameter.
};
[[nodiscard]] std::string_view ToString(TensorKind kind);  // "activation", "gradient", ...

struct Tensor {
  std::string name;     // Unique among the tensors, any UTF-8 text, not empty.
  Bytes bytes = 0;      // From 0 to 2^60. Of a view: what it covers, at most the bytes of its base.
  Bytes alignment = 1;  // The offset is a multiple of it; from 1 to 2^60. Of a view: not used.
  TensorKind kind = TensorKind::kActivation;
  bool output = false;                       // A result of the graph: its base is live to the end.
  std::optional<TensorIndex> alias_of = {};  // The base of this view, which is itself no view.
  // Why the size is not known; empty where it is. Then `bytes` is 0, nothing is planned for the
  // tensor, and whatever is said of the graph is said of the rest.
  std::string unplanned = {};
  std::string dtype = {};  // For people: "float32".
  std::string shape = {};  // For people: "1x64x56x56".
  friend bool operator==(const Tensor&, const Tensor&) = default;
};

// An operator may write `output` over the bytes of `input`: element by element, each read before
// its place is written.
struct Overwrite {
  TensorIndex input = 0;
  TensorIndex output = 0;
  friend bool operator==(const Overwrite&, const Overwrite&) = default;
};

// What an operator needs while it runs and nobody afterwards, its workspace or the inner peak of a
// subgraph, is an output that nobody reads.
struct Operator {
  std::string name;                  // Unique among the operators, any UTF-8 text, not empty.
  std::string type;                  // "Conv", for people; may be empty.
  std::vector<TensorIndex> inputs;   // Read; a tensor may come several times.
  std::vector<TensorIndex> outputs;  // Made. Each tensor by at most one operator.
  // Bases, not views, that are written in place; they need not be inputs.
  std::vector<TensorIndex> mutates = {};
  // Operators that come first although no tensor says so. Each at most once.
  std::vector<OperatorIndex> after = {};
  std::vector<Overwrite> may_overwrite = {};  // For ReuseInPlace().
  bool update = false;  // Gives a parameter its next value: can run early, nothing waits for it.
  friend bool operator==(const Operator&, const Operator&) = default;
};

struct Graph {
  std::string name;                 // For people; may be empty.
  std::vector<Operator> operators;  // In program order, in which they can run.
  std::vector<Tensor> tensors;
  friend bool operator==(const Graph&, const Graph&) = default;
};

// The base of a tensor: itself, unless it is a view.
[[nodiscard]] inline TensorIndex BaseOf(const Graph& graph, TensorIndex tensor) {
  return graph.tensors[tensor].alias_of.value_or(tensor);
}

// Checks every rule above and that
//   * indices lie within the graph; names are unique;
//   * what is made by an operator is of a kind that is made, and the other way round;
//   * program order can run: no operator needs one that comes later, be it in a cycle or not;
//   * an operator that makes a view reads, writes or makes its base, or reads a view of it;
//   * the sum of all bytes, each base with its alignment, is at most 2^60.
// Error: kInvalidGraph, naming the first operator and tensor that break a rule, and the value.
// Cost: O((operators + tensors + edges) x (1 + writes in place / 64)).
[[nodiscard]] Result<void> Validate(const Graph& graph);

// Checks that `order` runs each operator of `graph`, which must be valid, exactly once and after
// all that it waits for. Error: kInvalidPlan, naming the first operators at fault. Cost: linear.
[[nodiscard]] Result<void> ValidateOrder(const Graph& graph, const Order& order);

// 0, 1, 2, ...
[[nodiscard]] Order ProgramOrder(const Graph& graph);

// `graph` with its operators written down in `order`, which must be valid; the same in all else.
// Cost: linear.
[[nodiscard]] Graph Reordered(const Graph& graph, const Order& order);

// Which tensors take part in the plan beside those that operators make.
struct Counting {
  bool inputs = false;  // Graph inputs: live from step 0 through their last use.
  // Parameters and constants: live throughout, as the next run needs them.
  bool parameters = false;
  friend bool operator==(const Counting&, const Counting&) = default;
};

// What is live when.
struct Liveness {
  // One buffer for each counted base of at least 1 byte, in the order of the tensors; its id is the
  // tensor's name. Steps are those of the order.
  Problem problem;
  std::vector<TensorIndex> tensors;  // Parallel to the buffers: their bases.
  std::vector<Bytes> live;           // For each step, the bytes of the buffers live then.
  Bytes peak = 0;                    // The most of `live`.
  Step peak_step = 0;                // The first step that has it.
};

// The lifetimes of the counted tensors when the operators of `graph` run in `order`; both must be
// valid. A base is live from the operator that makes it (or step 0) through the last that reads
// it or any view of it, makes a view of it, or writes it in place, both included; to the end if it
// or any view of it is an output. Cost: linear.
[[nodiscard]] Liveness Live(const Graph& graph, const Order& order, const Counting& counting = {});

// The buffers of a plan: one for each residency, in the same order. Ids are "tensor", or "tensor#k"
// for the k-th of several residencies, from 1. Placing them gives the offsets. Cost: O(n log n).
[[nodiscard]] Problem ProblemOf(const Graph& graph, const MemoryPlan& plan);

// Checks that the plan computes what the graph computes and states its figures truly: the order is
// valid; whatever an operator reads or writes is resident while it runs; what comes in has a copy
// off chip with its latest value, and given tensors may be there from step 0 on; what is written
// out is needed again or is a result, and every result gets out or stays to the end; with addresses,
// nothing overlaps, all offsets are aligned and, with a capacity, within it; height, peak and
// traffic are as stated. `graph` must be valid. `counting` says which tensors are in the plan.
// Errors: kInvalidPlan, naming the first tensor, operator and step at fault; kInvalidGraph for
// sizes whose traffic could exceed 2^60 bytes. Cost: O(n log n) and the overlaps in time.
[[nodiscard]] Result<void> ValidatePlan(const Graph& graph, const Counting& counting,
                                        std::optional<Bytes> capacity, const MemoryPlan& plan);

// `graph`, which must be valid, with outputs written over inputs wherever Operator::may_overwrite
// allows it and it is safe in every order: the output has as many bytes as the input's base; the
// base is made by an operator, is planned, is no result and is not used by any operator but those
// that this one has to wait for anyway. The output becomes a view of the base, which the operator
// then writes in place; so the answer is valid, has the same orders as `graph`, and none has a
// higher peak. Cost: as Validate().
[[nodiscard]] Graph ReuseInPlace(Graph graph);

}  // namespace berth

#endif  // BERTH_GRAPH_H_
