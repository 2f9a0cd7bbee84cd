// A model with its nodes in another order.
//
// In the wire format a repeated field is a sequence of entries among those of other fields, which
// may lie between them. So the nodes of a graph have places, and another order puts other entries
// into them. All places together are as long as before: no length of an enclosing message changes,
// no other byte is touched, and nothing is parsed that is not needed to find the places. Weights
// stay in the file; what is returned are views.

#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "berth/onnx.h"
#include "io/onnx/model.h"

namespace berth {

Result<std::vector<std::string_view>> ReorderOnnx(std::string_view bytes, std::string_view name,
                                                  const Order& order) {
  internal::onnx::OnnxSource source(bytes, name);
  const Result<internal::onnx::ModelMessage> model = internal::onnx::ParseModel(source);
  if (!model) return tl::unexpected(model.error());
  const Result<std::vector<std::string_view>> nodes =
      internal::onnx::NodeEntries(source, model->graph);
  if (!nodes) return tl::unexpected(nodes.error());

  if (order.size() != nodes->size()) {
    return source.Fail("an order of " + std::to_string(order.size()) +
                           " operators for a model of " + std::to_string(nodes->size()),
                       ErrorCode::kInvalidPlan);
  }
  std::vector<bool> taken(nodes->size(), false);
  for (const OperatorIndex node : order) {
    if (node >= nodes->size() || taken[node]) {
      return source.Fail("the order has operator number " + std::to_string(node) +
                             (node < nodes->size() ? " twice" : ", which the model does not have"),
                         ErrorCode::kInvalidPlan);
    }
    taken[node] = true;
  }

  std::vector<std::string_view> pieces;
  const char* done = bytes.data();
  const auto add = [&](std::string_view piece) {
    if (piece.empty()) return;
    // Neighbours in the file stay one piece.
    if (!pieces.empty() && pieces.back().data() + pieces.back().size() == piece.data()) {
      pieces.back() = {pieces.back().data(), pieces.back().size() + piece.size()};
    } else {
      pieces.push_back(piece);
    }
  };
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::string_view place = (*nodes)[i];
    add({done, static_cast<std::size_t>(place.data() - done)});
    add((*nodes)[order[i]]);
    done = place.data() + place.size();
  }
  add({done, static_cast<std::size_t>(bytes.data() + bytes.size() - done)});
  return pieces;
}

}  // namespace berth
