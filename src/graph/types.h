// graph/types.h -- types of operators, whatever system named them.
#ifndef BERTH_GRAPH_TYPES_H_
#define BERTH_GRAPH_TYPES_H_

#include <span>
#include <string_view>

namespace berth::internal {

// Whether `type` has one of `names`, which are plain and sorted: without namespaces, underscores,
// hyphens and capitals. Each part between dots may be the name, as overloads are written behind one:
// "torch.ops.aten.rand_like.default", "aten::rand_like", "RandomNormalLike", "custom-call".
[[nodiscard]] bool IsOfType(std::string_view type, std::span<const std::string_view> names);

}  // namespace berth::internal

#endif  // BERTH_GRAPH_TYPES_H_
