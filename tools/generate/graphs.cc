#include "tools/generate/graphs.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <vector>

#include "base/random.h"
#include "tools/generate/graph_builder.h"
#include "tools/generate/language_model.h"

namespace berth::internal {
namespace {

constexpr std::array kFamilies = {
    GraphFamilyInfo{GraphFamily::kIrregular, "irregular",
                    "Each operator reads one to three of the most recent tensors."},
    GraphFamilyInfo{GraphFamily::kCell, "cell",
                    "The training step of a wide, irregular cell, with gradients and updates."},
    GraphFamilyInfo{GraphFamily::kLanguageModel, "language-model",
                    "The training step of a language model: equal blocks of attention heads."},
};

Result<void> CheckRange(std::string_view name, std::int64_t value, std::int64_t least,
                        std::int64_t most) {
  if (value >= least && value <= most) return {};
  return Fail(ErrorCode::kInvalidOptions, std::string(name) + " is " + std::to_string(value) +
                                              " but must be from " + std::to_string(least) +
                                              " to " + std::to_string(most));
}

// Number of tensors that an operator reads.
std::int64_t DrawInputs(Random& random) {
  constexpr std::array<std::int64_t, 5> kInputs = {1, 1, 2, 2, 3};
  return kInputs[static_cast<std::size_t>(random.Uniform(0, 4))];
}

Graph Irregular(const GraphParameters& parameters) {
  GraphBuilder builder(parameters.seed);
  std::vector<TensorIndex> made;
  for (std::int64_t v = 0; v < parameters.operators; ++v) {
    std::vector<TensorIndex> inputs;
    if (v > 0) {
      for (std::int64_t k = DrawInputs(builder.random()); k > 0; --k) {
        const std::int64_t from = std::max<std::int64_t>(0, v - parameters.width);
        inputs.push_back(made[static_cast<std::size_t>(builder.random().Uniform(from, v - 1))]);
      }
    }
    const std::string number = std::to_string(v);
    made.push_back(builder.AddOutput(builder.NewOperator("op" + number, "", inputs), "t" + number));
  }
  return builder.Take("irregular");
}

// A training step of a cell as architecture search finds them.
class CellMaker {
 public:
  explicit CellMaker(const GraphParameters& parameters)
      : parameters_(parameters), builder_(parameters.seed), random_(builder_.random()) {}

  Graph Make() {
    AddForward();
    AddLoss();
    for (std::size_t n = nodes_.size(); n-- > 1;) {
      const TensorIndex gradient = SumGradients(n);
      AddBackward(n, gradient);
      if (random_.Chance(0.5)) AddWeight(n, gradient);
    }
    return builder_.Take("cell");
  }

 private:
  struct Forward {
    TensorIndex tensor;
    std::vector<std::size_t> inputs;  // Indices into `nodes_`.
    std::vector<TensorIndex> gradients;
    bool used = false;
  };

  void AddNode(std::vector<std::size_t> inputs) {
    const std::string number = std::to_string(nodes_.size());
    std::vector<TensorIndex> tensors;
    for (const std::size_t k : inputs) {
      tensors.push_back(nodes_[k].tensor);
      nodes_[k].used = true;
    }
    const OperatorIndex v = builder_.NewOperator("forward" + number, "forward", tensors);
    nodes_.push_back({builder_.AddOutput(v, "x" + number), std::move(inputs), {}, false});
  }

  // Nodes of the two layers before; one without readers is preferred.
  std::vector<std::size_t> ChooseInputs(const std::vector<std::size_t>& pool) {
    std::vector<std::size_t> inputs;
    for (std::int64_t i = DrawInputs(random_); i > 0; --i) {
      std::vector<std::size_t> fresh;
      for (const std::size_t node : pool) {
        if (!nodes_[node].used) fresh.push_back(node);
      }
      const bool take_fresh = !fresh.empty() && random_.Chance(0.7);
      const std::vector<std::size_t>& from = take_fresh ? fresh : pool;
      const std::size_t chosen = from[static_cast<std::size_t>(
          random_.Uniform(0, static_cast<std::int64_t>(from.size()) - 1))];
      if (std::find(inputs.begin(), inputs.end(), chosen) == inputs.end()) {
        inputs.push_back(chosen);
      }
    }
    return inputs;
  }

  void AddForward() {
    // A forward operator adds about 2.5 of the backward pass.
    const std::int64_t wanted = std::max<std::int64_t>(2, parameters_.operators * 2 / 7);
    const auto count = [this] { return static_cast<std::int64_t>(nodes_.size()); };
    AddNode({});
    std::vector<std::size_t> previous;
    std::vector<std::size_t> last = {0};
    while (count() < wanted) {
      std::vector<std::size_t> pool = previous;
      pool.insert(pool.end(), last.begin(), last.end());
      std::vector<std::size_t> layer;
      for (std::int64_t k = 0; k < parameters_.width && count() < wanted; ++k) {
        std::vector<std::size_t> inputs = ChooseInputs(pool);
        layer.push_back(nodes_.size());
        AddNode(std::move(inputs));
      }
      previous = std::move(last);
      last = std::move(layer);
    }
  }

  void AddLoss() {
    const OperatorIndex loss = builder_.NewOperator("loss", "loss", {});
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      if (nodes_[n].used) continue;
      builder_.AddInput(loss, nodes_[n].tensor);
      nodes_[n].gradients.push_back(
          builder_.AddOutput(loss, "g" + std::to_string(n), TensorKind::kGradient));
    }
  }

  TensorIndex SumGradients(std::size_t n) {
    TensorIndex gradient = nodes_[n].gradients.front();
    for (std::size_t k = 1; k < nodes_[n].gradients.size(); ++k) {
      const std::string sum = std::to_string(n) + "_" + std::to_string(k);
      const OperatorIndex add =
          builder_.NewOperator("sum" + sum, "add", {gradient, nodes_[n].gradients[k]});
      gradient = builder_.AddOutput(add, "s" + sum, TensorKind::kGradient);
    }
    return gradient;
  }

  void AddBackward(std::size_t n, TensorIndex gradient) {
    const std::string number = std::to_string(n);
    const bool stored = random_.Uniform(0, 99) < parameters_.stored_percent;
    const OperatorIndex backward =
        builder_.NewOperator("backward" + number, "backward", {gradient});
    for (const std::size_t input : nodes_[n].inputs) {
      if (stored) builder_.AddInput(backward, nodes_[input].tensor);
      if (input == 0) continue;  // The gradient of the cell's input is not needed.
      nodes_[input].gradients.push_back(builder_.AddOutput(
          backward, "g" + std::to_string(input) + "_" + number, TensorKind::kGradient));
    }
  }

  void AddWeight(std::size_t n, TensorIndex gradient) {
    const std::string number = std::to_string(n);
    const TensorIndex weight = builder_.NewTensor("w" + number, TensorKind::kParameter);
    const OperatorIndex v = builder_.NewOperator("weight" + number, "backward", {gradient});
    if (random_.Uniform(0, 99) < parameters_.stored_percent) {
      builder_.AddInput(v, nodes_[nodes_[n].inputs.front()].tensor);
    }
    const TensorIndex of_weight = builder_.AddOutput(v, "gw" + number, TensorKind::kGradient);
    const OperatorIndex update = builder_.NewOperator("update" + number, "update", {of_weight});
    builder_.graph().operators[update].mutates = {weight};
    builder_.graph().operators[update].update = true;
  }

  const GraphParameters& parameters_;
  GraphBuilder builder_;
  Random& random_;
  std::vector<Forward> nodes_;
};

}  // namespace

std::span<const GraphFamilyInfo> GraphFamilies() { return kFamilies; }

std::optional<GraphFamily> GraphFamilyFromName(std::string_view name) {
  for (const GraphFamilyInfo& info : kFamilies) {
    if (info.name == name) return info.family;
  }
  return std::nullopt;
}

Result<Graph> GenerateGraph(GraphFamily family, const GraphParameters& parameters) {
  for (const Result<void>& checked : {CheckRange("operators", parameters.operators, 4, 1'000'000),
                                      CheckRange("width", parameters.width, 1, 1000),
                                      CheckRange("stored", parameters.stored_percent, 0, 100)}) {
    if (!checked) return tl::unexpected(checked.error());
  }
  switch (family) {
    case GraphFamily::kIrregular:
      return Irregular(parameters);
    case GraphFamily::kCell:
      return CellMaker(parameters).Make();
    case GraphFamily::kLanguageModel:
      return LanguageModel(parameters);
  }
  return Fail(ErrorCode::kInvalidOptions, "no such family of graphs");
}

}  // namespace berth::internal
