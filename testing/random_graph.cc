#include "testing/random_graph.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/random.h"

namespace berth::internal {
namespace {

class GraphMaker {
 public:
  GraphMaker(std::uint64_t seed, const GraphKnobs& knobs) : random_(seed), knobs_(knobs) {
    for (double* chance :
         {&knobs_.view_chance, &knobs_.write_chance, &knobs_.after_chance, &knobs_.parameter_chance,
          &knobs_.overwrite_chance, &knobs_.alignment_chance, &knobs_.unplanned_chance}) {
      if (random_.Chance(0.5)) *chance = 0;
    }
    if (random_.Chance(0.3)) knobs_.max_outputs = 1;
    graph_.name = "random_" + std::to_string(seed);
  }

  Graph Make() {
    const auto inputs = random_.Uniform(0, 2);
    for (int i = 0; i < inputs; ++i) AddTensor(TensorKind::kInput);
    const auto operators = random_.Uniform(knobs_.min_operators, knobs_.max_operators);
    for (int v = 0; v < operators; ++v) AddOperator();
    for (TensorIndex t = 0; t < graph_.tensors.size(); ++t) {
      const bool unread = !read_.contains(t);
      if (random_.Chance(unread ? 0.5 : knobs_.output_chance)) graph_.tensors[t].output = true;
    }
    OrderWrites();
    BERTH_CHECK(Validate(graph_).has_value());
    return std::move(graph_);
  }

 private:
  TensorIndex AddTensor(TensorKind kind) {
    Tensor tensor;
    tensor.name = "t" + std::to_string(graph_.tensors.size());
    tensor.kind = kind;
    const Bytes units = std::max<Bytes>(1, knobs_.max_bytes / knobs_.bytes_unit);
    if (!random_.Chance(knobs_.zero_chance)) {
      tensor.bytes = random_.Uniform(1, units) * knobs_.bytes_unit;
      // A few large tensors among many small ones make hard orders.
      if (random_.Chance(0.5)) tensor.bytes = std::max<Bytes>(1, tensor.bytes / 4);
    }
    if (random_.Chance(knobs_.alignment_chance)) tensor.alignment = random_.Uniform(1, 4);
    if (random_.Chance(knobs_.unplanned_chance)) {
      tensor.unplanned = "nobody knows";
      tensor.bytes = 0;
    }
    graph_.tensors.push_back(std::move(tensor));
    return graph_.tensors.size() - 1;
  }

  TensorIndex Pick() {
    const auto last = static_cast<std::int64_t>(graph_.tensors.size()) - 1;
    const bool far = random_.Chance(knobs_.far_chance);
    return static_cast<TensorIndex>(
        random_.Uniform(far ? 0 : std::max<std::int64_t>(0, last - 3), last));
  }

  void AddOperator() {
    const OperatorIndex v = graph_.operators.size();
    Operator op;
    op.name = "op" + std::to_string(v);
    op.type = random_.Chance(0.5) ? "Conv" : "Add";
    if (!graph_.tensors.empty()) {
      const auto inputs = random_.Uniform(v == 0 ? 0 : 1, knobs_.max_inputs);
      for (int i = 0; i < inputs; ++i) op.inputs.push_back(Pick());
      if (random_.Chance(knobs_.write_chance)) {
        // May be a tensor that it does not read.
        op.mutates.push_back(BaseOf(graph_, Pick()));
        op.update = random_.Chance(0.3);
      }
    }
    if (random_.Chance(knobs_.parameter_chance)) {
      op.inputs.push_back(
          AddTensor(random_.Chance(0.5) ? TensorKind::kParameter : TensorKind::kConstant));
    }
    read_.insert(op.inputs.begin(), op.inputs.end());
    if (v > 0 && random_.Chance(knobs_.after_chance)) {
      op.after.push_back(
          static_cast<OperatorIndex>(random_.Uniform(0, static_cast<std::int64_t>(v) - 1)));
    }
    const auto outputs = random_.Uniform(op.mutates.empty() ? 1 : 0, knobs_.max_outputs);
    for (int i = 0; i < outputs; ++i) {
      const TensorIndex t =
          AddTensor(random_.Chance(0.2) ? TensorKind::kGradient : TensorKind::kActivation);
      if (random_.Chance(knobs_.view_chance)) MakeView(op, t);
      op.outputs.push_back(t);
    }
    for (const TensorIndex input : std::set<TensorIndex>(op.inputs.begin(), op.inputs.end())) {
      for (const TensorIndex output : op.outputs) {
        if (random_.Chance(knobs_.overwrite_chance)) {
          const bool has_views =
              std::any_of(op.outputs.begin(), op.outputs.end(),
                          [&](TensorIndex t) { return graph_.tensors[t].alias_of == output; });
          if (!graph_.tensors[output].alias_of && !has_views && random_.Chance(0.7)) {
            const Tensor& read = graph_.tensors[input];
            graph_.tensors[output].bytes =
                graph_.tensors[output].unplanned.empty() ? read.bytes : 0;
          }
          op.may_overwrite.push_back({input, output});
        }
      }
    }
    graph_.operators.push_back(std::move(op));
  }

  // A view of a tensor that `op` reads, writes in place or has just created.
  void MakeView(const Operator& op, TensorIndex t) {
    std::vector<TensorIndex> touched = op.inputs;
    touched.insert(touched.end(), op.mutates.begin(), op.mutates.end());
    touched.insert(touched.end(), op.outputs.begin(), op.outputs.end());
    if (touched.empty()) return;
    const auto last = static_cast<std::int64_t>(touched.size()) - 1;
    const TensorIndex base =
        BaseOf(graph_, touched[static_cast<std::size_t>(random_.Uniform(0, last))]);
    Tensor& tensor = graph_.tensors[t];
    tensor.alias_of = base;
    tensor.bytes = std::min(tensor.bytes, graph_.tensors[base].bytes);
  }

  // Fixes the order of in-place writes to that of program order.
  void OrderWrites() {
    std::map<TensorIndex, std::vector<OperatorIndex>>
        since;  // Users of a base since its last write.
    std::map<TensorIndex, OperatorIndex> writer;
    for (OperatorIndex v = 0; v < graph_.operators.size(); ++v) {
      Operator& op = graph_.operators[v];
      std::set<TensorIndex> touched(op.mutates.begin(), op.mutates.end());
      for (const TensorIndex t : op.inputs) touched.insert(BaseOf(graph_, t));
      for (const TensorIndex t : op.outputs) touched.insert(BaseOf(graph_, t));
      std::set<OperatorIndex> after(op.after.begin(), op.after.end());
      for (const TensorIndex base : touched) {
        if (writer.contains(base)) after.insert(writer[base]);
        if (std::find(op.mutates.begin(), op.mutates.end(), base) != op.mutates.end()) {
          after.insert(since[base].begin(), since[base].end());
          since[base].clear();
          writer[base] = v;
        } else {
          since[base].push_back(v);
        }
      }
      op.after.assign(after.begin(), after.end());
    }
  }

  Random random_;
  GraphKnobs knobs_;
  Graph graph_;
  std::set<TensorIndex> read_;
};

}  // namespace

GraphKnobs AllGraphKnobs() {
  GraphKnobs knobs;
  knobs.max_outputs = 3;
  knobs.view_chance = 0.25;
  knobs.write_chance = 0.25;
  knobs.after_chance = 0.2;
  knobs.parameter_chance = 0.2;
  knobs.overwrite_chance = 0.4;
  knobs.alignment_chance = 0.2;
  knobs.unplanned_chance = 0.1;
  return knobs;
}

GraphKnobs SpillKnobs(int min_operators, int max_operators) {
  GraphKnobs knobs = AllGraphKnobs();
  knobs.min_operators = min_operators;
  knobs.max_operators = max_operators;
  knobs.max_outputs = 2;
  knobs.far_chance = 0.8;
  knobs.alignment_chance = 0;
  return knobs;
}

Graph RandomGraph(std::uint64_t seed, const GraphKnobs& knobs) {
  return GraphMaker(seed, knobs).Make();
}

Order RandomOrder(const Graph& graph, std::uint64_t seed) {
  Random random(seed);
  const std::size_t n = graph.operators.size();
  std::vector<std::size_t> maker(graph.tensors.size(), n);
  for (std::size_t v = 0; v < n; ++v) {
    for (const TensorIndex t : graph.operators[v].outputs) maker[t] = v;
  }
  std::vector<bool> done(n + 1, false);
  done[n] = true;
  Order order;
  while (order.size() < n) {
    Order ready;
    for (std::size_t v = 0; v < n; ++v) {
      const Operator& op = graph.operators[v];
      bool is_ready = !done[v];
      for (const TensorIndex t : op.inputs) is_ready = is_ready && done[maker[t]];
      for (const TensorIndex t : op.mutates) is_ready = is_ready && done[maker[t]];
      for (const OperatorIndex u : op.after) is_ready = is_ready && done[u];
      if (is_ready) ready.push_back(v);
    }
    BERTH_CHECK(!ready.empty());
    const auto last = static_cast<std::int64_t>(ready.size()) - 1;
    order.push_back(ready[static_cast<std::size_t>(random.Uniform(0, last))]);
    done[order.back()] = true;
  }
  return order;
}

}  // namespace berth::internal
