// src/plan/strips.h -- operators computed strip by strip, so that the tensors between them are never
// in memory as a whole.
//
//   whole                       in strips of two rows; Conv has kernel 3
//   in --Conv--> x --Pool--> y    rows 0-5 of in --Conv--> x', 4 rows --Pool--> rows 0-1 of y
//                                 rows 3-9 of in --Conv--> x', 4 rows --Pool--> rows 2-3 of y
//
// The result and the inputs from outside stay whole: a strip reads some rows of the one and writes
// some rows of the other, in place. Rows that two strips need of a tensor between them (the halo)
// are computed by both.
#ifndef BERTH_PLAN_STRIPS_H_
#define BERTH_PLAN_STRIPS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "berth/graph.h"

namespace berth::internal::plan {

// Operators with receptive fields along `axis`. Each makes one tensor, which only others of them
// read, except the last, whose output is the result.
struct Chain {
  std::vector<OperatorIndex> operators;  // In program order.
  std::int64_t axis = 0;
};

// The rows of the output of `op` along `axis`; 0 if it has no receptive field along it.
[[nodiscard]] std::int64_t RowsAlong(const Operator& op, std::int64_t axis);
// The receptive field of `op` along `axis` in `input`; null if it needs all of it.
[[nodiscard]] const ReceptiveField* FieldIn(const Operator& op, std::int64_t axis,
                                            TensorIndex input);

// Half-open; empty if both are equal.
struct Rows {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  [[nodiscard]] std::int64_t count() const { return end - begin; }
  [[nodiscard]] bool empty() const { return begin == end; }
  friend bool operator==(const Rows&, const Rows&) = default;
};

// The rows of each of its inputs that `rows` of the output are computed from.
[[nodiscard]] Rows InputRows(const ReceptiveField& field, Rows rows);

// The rows of its output that each operator computes in each strip.
struct Strips {
  std::vector<std::vector<Rows>> rows;  // By strip, then parallel to Chain::operators.
  std::int64_t height = 0;              // Rows of the result in each strip; fewer in the last.
  std::int64_t halo = 0;                // The most rows of one tensor that neighbours both need.
  Bytes made = 0;                       // By the operators, whole.
  Bytes recomputed = 0;                 // Made more than once.
  std::vector<Bytes> live;  // By strip: the most bytes between the operators at one time.
};

// `chain` in `count` strips, or fewer: all but the last have equally many rows of the result.
[[nodiscard]] Strips StripsOf(const Graph& graph, const Chain& chain, std::int64_t count);

// The bytes of `rows` of the output of an operator that has `of` rows.
[[nodiscard]] Bytes BytesOfRows(const Tensor& tensor, std::int64_t rows, std::int64_t of);

struct SplitGraph {
  Graph graph;
  Order order;
};

// `graph` with `chain` in `strips`, and `order` with all strips where the last operator was. The
// strips run one after the other in all orders of the graph that is returned. Cost: linear.
[[nodiscard]] SplitGraph SplitIntoStrips(const Graph& graph, const Order& order, const Chain& chain,
                                         const Strips& strips);

// A graph that Fuse() returned without the operators that make nothing, and without views that are
// other names for all of their bases; `order` becomes one of it. Other graphs stay as they are.
[[nodiscard]] Graph WithoutFused(const Graph& graph, Order& order);

}  // namespace berth::internal::plan

#endif  // BERTH_PLAN_STRIPS_H_
