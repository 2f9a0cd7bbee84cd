// tests/graph/build.h -- builds graphs from names.
#ifndef BERTH_TESTS_GRAPH_BUILD_H_
#define BERTH_TESTS_GRAPH_BUILD_H_

#include <string>
#include <utility>
#include <vector>

#include "berth/graph.h"

namespace berth::internal {

// Tensors and operators are looked up by name; an unknown name gives the index past the end.
class Build {
 public:
  Build& Made(const std::string& name, Bytes bytes) { return Add({name, bytes}); }
  Build& Source(const std::string& name, Bytes bytes, TensorKind kind = TensorKind::kInput) {
    return Add({name, bytes, 1, kind});
  }
  Build& View(const std::string& name, Bytes bytes, const std::string& base) {
    return Add({name, bytes, 1, TensorKind::kActivation, false, T(base)});
  }
  Build& Op(const std::string& name, const std::vector<std::string>& inputs,
            const std::vector<std::string>& outputs, const std::vector<std::string>& mutates = {},
            const std::vector<std::string>& after = {}) {
    Operator op{name, "Op", {}, {}};
    for (const auto& t : inputs) op.inputs.push_back(T(t));
    for (const auto& t : outputs) op.outputs.push_back(T(t));
    for (const auto& t : mutates) op.mutates.push_back(T(t));
    for (const auto& v : after) op.after.push_back(V(v));
    graph.operators.push_back(std::move(op));
    return *this;
  }
  Build& Output(const std::string& name) {
    graph.tensors[T(name)].output = true;
    return *this;
  }
  Build& MayOverwrite(const std::string& input, const std::string& output) {
    graph.operators.back().may_overwrite.push_back({T(input), T(output)});
    return *this;
  }
  [[nodiscard]] TensorIndex T(const std::string& name) const {
    TensorIndex t = 0;
    while (t < graph.tensors.size() && graph.tensors[t].name != name) ++t;
    return t;
  }
  [[nodiscard]] OperatorIndex V(const std::string& name) const {
    OperatorIndex v = 0;
    while (v < graph.operators.size() && graph.operators[v].name != name) ++v;
    return v;
  }

  Graph graph;

 private:
  Build& Add(Tensor tensor) {
    graph.tensors.push_back(std::move(tensor));
    return *this;
  }
};

// The graph of berth/graph.h's picture.
inline Build TwoBranches() {
  return Build()
      .Made("a", 8)
      .Made("b", 1)
      .Made("c", 8)
      .Made("d", 1)
      .Made("e", 1)
      .Op("A", {}, {"a"})
      .Op("B", {"a"}, {"b"})
      .Op("C", {}, {"c"})
      .Op("D", {"c"}, {"d"})
      .Op("E", {"b", "d"}, {"e"})
      .Output("e");
}

// x, of 4 bytes, must be spilled while z is created, and retrieved, if there are 12 bytes; with 14
// everything can stay.
inline Build OneSpill() {
  return Build()
      .Made("x", 4)
      .Made("y", 4)
      .Made("z", 6)
      .Made("w", 2)
      .Op("make x", {}, {"x"})
      .Op("make y", {"x"}, {"y"})
      .Op("make z", {"y"}, {"z"})
      .Op("join", {"x", "z"}, {"w"})
      .Output("w");
}

// b is read by C, then written in place by W, then read by D: to run C again, b must be made again.
inline Build WritesBetweenReads() {
  return Build()
      .Made("a", 4)
      .Made("b", 4)
      .Made("c", 4)
      .Made("d", 4)
      .Made("e", 4)
      .Op("A", {}, {"a"})
      .Op("B", {"a"}, {"b"})
      .Op("C", {"b"}, {"c"})
      .Op("W", {}, {}, {"b"}, {"C"})
      .Op("D", {"b"}, {"d"})
      .Op("E", {"c", "d"}, {"e"})
      .Output("e");
}

}  // namespace berth::internal

#endif  // BERTH_TESTS_GRAPH_BUILD_H_
