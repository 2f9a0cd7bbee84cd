// tools/generate/graph_builder.h -- a graph, one operator after another.
#ifndef BERTH_TOOLS_GENERATE_GRAPH_BUILDER_H_
#define BERTH_TOOLS_GENERATE_GRAPH_BUILDER_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "berth/graph.h"

namespace berth::internal {

class GraphBuilder {
 public:
  explicit GraphBuilder(std::uint64_t seed) : random_(seed) {}

  [[nodiscard]] Random& random() { return random_; }
  Graph Take(std::string name) {
    graph_.name = std::move(name);
    return std::move(graph_);
  }

  TensorIndex NewTensor(std::string name, TensorKind kind) {
    return NewTensor(std::move(name), kind, Size());
  }
  TensorIndex NewTensor(std::string name, TensorKind kind, Bytes bytes) {
    Tensor tensor;
    tensor.name = std::move(name);
    tensor.bytes = bytes;
    tensor.kind = kind;
    graph_.tensors.push_back(std::move(tensor));
    return graph_.tensors.size() - 1;
  }
  OperatorIndex NewOperator(std::string name, std::string type, std::vector<TensorIndex> inputs) {
    Operator op;
    op.name = std::move(name);
    op.type = std::move(type);
    for (const TensorIndex t : inputs) Read(op, t);
    graph_.operators.push_back(std::move(op));
    return graph_.operators.size() - 1;
  }
  void AddInput(OperatorIndex v, TensorIndex tensor) { Read(graph_.operators[v], tensor); }
  TensorIndex AddOutput(OperatorIndex v, std::string name,
                        TensorKind kind = TensorKind::kActivation) {
    const TensorIndex tensor = NewTensor(std::move(name), kind);
    graph_.operators[v].outputs.push_back(tensor);
    return tensor;
  }
  [[nodiscard]] Graph& graph() { return graph_; }

 private:
  static void Read(Operator& op, TensorIndex tensor) {
    if (std::find(op.inputs.begin(), op.inputs.end(), tensor) == op.inputs.end()) {
      op.inputs.push_back(tensor);
    }
  }
  // One of three kinds: any size, a multiple, a power of two.
  Bytes Size() {
    constexpr Bytes kUnit = 64;
    switch (random_.Uniform(0, 2)) {
      case 0:
        return kUnit * random_.Uniform(1, 64);
      case 1:
        return kUnit * 16 * random_.Uniform(1, 16);
      default:
        return kUnit << random_.Uniform(0, 8);
    }
  }

  Random random_;
  Graph graph_;
};

}  // namespace berth::internal

#endif  // BERTH_TOOLS_GENERATE_GRAPH_BUILDER_H_
