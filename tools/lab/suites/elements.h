// tools/lab/suites/elements.h -- operators on several processing elements, each with a scratchpad of its own.
//
// Every operator runs on one element, and what it reads and makes lies in the scratchpad of that element. A
// tensor that is read on another element than the one that makes it has a copy there, a tensor by itself:
//
//   element 0   A makes x   B reads x                  x     lies in scratchpad 0
//   element 1               C reads x@1                x@1   lies in scratchpad 1
//
// So a graph on elements is a graph whose tensors may each be in one memory (berth/graph_memories.h).
#ifndef BERTH_TOOLS_LAB_SUITES_ELEMENTS_H_
#define BERTH_TOOLS_LAB_SUITES_ELEMENTS_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "berth/graph.h"
#include "berth/result.h"

namespace berth::lab {

// The element of each operator by HEFT (H. Topcuoglu, S. Hariri and M.-Y. Wu, "Performance-Effective and
// Low-Complexity Task Scheduling for Heterogeneous Computing", IEEE TPDS 13(3), 2002), for equal elements:
// operators by the longest way from them to the end, each where it ends first, in gaps too. What a tensor takes
// from one element to another is a copy out and a copy in over `link`. Operators need times (Operator::cost in
// ns). Cost: O(operators x (operators + edges) x elements) at most.
[[nodiscard]] std::vector<std::size_t> AssignByHeft(const Graph& graph, std::size_t elements,
                                                    const Link& link);

enum class Crossing {
  // The tensor is written off chip once, and read from there on each element that needs it: a result of the one
  // and an input of the others, which wait for its maker. It can be dropped there, as its copy stays.
  kOffChip,
  // From scratchpad to scratchpad, by an operator that reads the one and makes the other, before the first use.
  kDirect,
};

struct ElementGraph {
  Graph graph;  // Without views: operators use the tensors in which these lie.
  std::vector<std::vector<std::size_t>> allowed;  // By tensor: its element.
  // By tensor: the operator behind which a copy can be read from off chip; none: any time, or it is made.
  std::vector<std::optional<OperatorIndex>> maker;
  // Bytes that cross: between scratchpads; and off chip, beside what one element alone would read and write.
  Bytes direct = 0;
  Bytes off_chip = 0;
  // `order`, of the graph that it is made from, with each copy right before its first use.
  [[nodiscard]] Order OrderOf(const Order& order) const;

  std::vector<OperatorIndex> operators;            // By operator of that graph,
  std::vector<std::vector<OperatorIndex>> copies;  // and the copies that it needs.
};

// `graph`, valid, with operator v on element `element[v]`. Errors: kUnsupported for an operator that writes in
// place; those of Validate() where names that are added exist.
[[nodiscard]] Result<ElementGraph> OnElements(const Graph& graph,
                                              const std::vector<std::size_t>& element,
                                              Crossing crossing);

}  // namespace berth::lab

#endif  // BERTH_TOOLS_LAB_SUITES_ELEMENTS_H_
