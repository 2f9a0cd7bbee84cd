// baselines/recompute/executions.h -- a graph as all methods here see it, and sequences of executions.
//
// Operators are known by their positions in one order, tensors by stores: bases that operators touch.
// Version k of a store is left by its k-th writer, its maker being number 0 (graph/versions.h). Only stores
// that an operator makes have bytes; those that are given matter because operators that run again must
// find them unchanged.
//
// What is here shares nothing with src/recompute, so that a fault there does not show in both.
#ifndef BERTH_BASELINES_RECOMPUTE_EXECUTIONS_H_
#define BERTH_BASELINES_RECOMPUTE_EXECUTIONS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "berth/graph.h"
#include "berth/recompute_baselines.h"
#include "graph/versions.h"

namespace berth::internal::baselines {

inline constexpr std::size_t kNone = static_cast<std::size_t>(-1);

struct Use {
  std::size_t store = 0;
  std::int32_t finds = 0;   // A version, or kMakes.
  std::int32_t leaves = 0;  // A version.
  bool only_first = false;  // Not when the operator runs again.
  [[nodiscard]] bool writes() const { return finds != leaves; }
};

struct Store {
  TensorIndex tensor = 0;
  Bytes size = 0;
  bool given = false;
  bool result = false;
  std::int32_t last = 0;  // Its last version.
  // By version: the position of what leaves it; kNone for version 0 of what is given.
  std::vector<std::size_t> writers;
  std::vector<std::size_t> users;  // Positions of all that touch it, in order.
};

struct Work {
  Order order;                         // Operators by position.
  std::vector<std::vector<Use>> uses;  // By position.
  std::vector<std::int64_t> cost;      // By position; so are the others.
  std::vector<char> may_repeat;
  std::vector<Store> stores;

  [[nodiscard]] std::size_t size() const { return order.size(); }
  // Whether `use` happens when its operator runs for the first time, or again.
  [[nodiscard]] static bool Happens(const Use& use, bool again) {
    return !again || !use.only_first;
  }
};

// `graph` and `order` must be valid. Cost: O(n log n).
[[nodiscard]] Work ReadWork(const Graph& graph, const Order& order);

// Positions; size() + s: store s is copied back from off chip before the execution that comes next.
using Sequence = std::vector<std::size_t>;

// A store in memory from step `begin` through step `last`.
struct Stay {
  std::size_t store = 0;
  std::size_t begin = 0;
  std::size_t last = 0;
  std::int32_t version = 0;  // At its end.
  bool comes_in = false;
  bool written_out = false;
};

// What a sequence means: a store stays from each time that it is made, or comes back, through its last use
// before the next time.
struct Trace {
  std::size_t failed = kNone;  // Where in the sequence something is not found; kNone: it is valid.
  std::int64_t cost = 0;       // Of all executions after the first of each operator.
  std::size_t repeats = 0;
  std::vector<Stay> stays;  // Of stores with bytes, by store, then by time.
  std::vector<Bytes> load;  // By step.
  Bytes peak = 0;
  [[nodiscard]] bool valid() const { return failed == kNone; }
};
// `linked`: results end off chip instead of staying to the end. Cost: linear, and the bytes of each step.
[[nodiscard]] Trace Run(const Work& work, const Sequence& sequence, bool linked);

// `sequence` without repeats and returns that nothing needs.
[[nodiscard]] Sequence Pruned(const Work& work, const Sequence& sequence, bool linked);

// The plan of a valid trace, with addresses where `placer` finds them. BERTH_CHECKs that it is valid within
// the capacity.
[[nodiscard]] Result<MemoryPlan> MakePlan(const Graph& graph, const Work& work,
                                          const Sequence& sequence, const Trace& trace,
                                          const Link* link, Bytes capacity, const Placer& placer,
                                          Budget& budget);

}  // namespace berth::internal::baselines

#endif  // BERTH_BASELINES_RECOMPUTE_EXECUTIONS_H_
