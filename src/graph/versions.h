// graph/versions.h -- which value of a base each operator finds and leaves.
//
// A base has version 0 once it is made, or is given; each write in place makes the next version of
// it. Writes in place and all other uses of a base are ordered (berth/graph.h), so what an operator
// finds in program order it finds in every order: its version is a property of the graph. An operator
// that runs again must find the same versions.
#ifndef BERTH_GRAPH_VERSIONS_H_
#define BERTH_GRAPH_VERSIONS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "base/lists.h"
#include "berth/graph.h"

namespace berth::internal {

// One base that an operator touches.
struct Touch {
  TensorIndex base = 0;
  // What the operator needs to find; kMakes: nothing, as it makes the base.
  std::int32_t finds = 0;
  std::int32_t leaves =
      0;  // 0 if it makes the base; finds + 1 if it writes in place; else `finds`.
  bool only_first = false;  // Touched only when the operator first runs (Operator::skips).
};
inline constexpr std::int32_t kMakes = -1;

struct Versions {
  // By operator: every base that it makes, reads, writes in place or makes views of, by base.
  std::vector<std::vector<Touch>> touches;
  std::vector<std::int32_t> last;  // By tensor: the last version of a base.
};

// `graph` must be valid. Cost: O(n log n).
[[nodiscard]] Versions FindVersions(const Graph& graph);

}  // namespace berth::internal

#endif  // BERTH_GRAPH_VERSIONS_H_
