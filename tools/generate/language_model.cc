#include "tools/generate/language_model.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "tools/generate/graph_builder.h"

namespace berth::internal {
namespace {

constexpr Bytes kElement = 4;

class Maker {
 public:
  explicit Maker(const GraphParameters& parameters)
      : builder_(parameters.seed), heads_(static_cast<std::size_t>(parameters.width)) {
    Random& random = builder_.random();
    sequence_ = Bytes{64} << random.Uniform(0, 3);
    head_ = Bytes{32} << random.Uniform(0, 2);
    model_ = head_ * static_cast<Bytes>(heads_);
    inner_ = model_ * random.Uniform(2, 4);
    vocabulary_ = 1024 * random.Uniform(8, 64);
  }

  Graph Make(std::int64_t blocks) {
    embedding_ = Weight("embedding", vocabulary_ * model_);
    const TensorIndex embedding = weights_[embedding_];
    TensorIndex x = Add("embed", {embedding}, Activations(model_));
    for (std::int64_t b = 0; b < blocks; ++b) x = Forward("block" + std::to_string(b) + ".", x);
    const TensorIndex logits = Add("logits", {x, embedding}, Activations(vocabulary_));
    const TensorIndex loss = Add("loss", {logits}, Activations(1));
    TensorIndex gradient = Gradient("loss.backward", {loss, logits}, Activations(vocabulary_));
    const TensorIndex of_logits =
        Gradient("logits.weight", {gradient, x}, vocabulary_ * model_ * kElement);
    gradient = Gradient("logits.backward", {gradient, embedding}, Activations(model_));
    while (!blocks_.empty()) {
      gradient = Backward(blocks_.back(), gradient);
      blocks_.pop_back();
    }
    // The embedding is also the weight of the logits.
    WeightGradient(embedding_, "embed.weight", {gradient, of_logits});
    FindReaders();
    for (const auto& [weight, update_of] : updates_) Update(weight, update_of);
    return builder_.Take("language model");
  }

 private:
  struct Head {
    TensorIndex q, k, v, probabilities;
    std::size_t wq, wk, wv;
  };
  // What the backward pass of a block reads.
  struct Block {
    std::string name;
    TensorIndex input, normed, context, middle, normed_middle, up, activated;
    std::vector<Head> heads;
    std::size_t norm, project, norm_middle, wup, wdown;
  };

  [[nodiscard]] Bytes Activations(Bytes columns) const { return sequence_ * columns * kElement; }

  std::size_t Weight(const std::string& name, Bytes elements) {
    weights_.push_back(builder_.NewTensor(name, TensorKind::kParameter, elements * kElement));
    return weights_.size() - 1;
  }

  TensorIndex Add(const std::string& name, std::vector<TensorIndex> inputs, Bytes bytes,
                  TensorKind kind = TensorKind::kActivation) {
    const OperatorIndex v = builder_.NewOperator(
        name, kind == TensorKind::kGradient ? "backward" : "forward", std::move(inputs));
    const TensorIndex tensor = builder_.NewTensor(name + ".out", kind, bytes);
    builder_.graph().operators[v].outputs.push_back(tensor);
    return tensor;
  }
  TensorIndex Gradient(const std::string& name, std::vector<TensorIndex> inputs, Bytes bytes) {
    return Add(name, std::move(inputs), bytes, TensorKind::kGradient);
  }
  // An operator with the weight, which is given.
  TensorIndex Layer(const std::string& name, TensorIndex input, std::size_t weight, Bytes bytes) {
    return Add(name, {input, weights_[weight]}, bytes);
  }

  void WeightGradient(std::size_t weight, const std::string& name,
                      std::vector<TensorIndex> inputs) {
    const Bytes bytes = builder_.graph().tensors[weights_[weight]].bytes;
    updates_.emplace_back(weight, Gradient(name, std::move(inputs), bytes));
  }
  void FindReaders() {
    const auto& operators = builder_.graph().operators;
    readers_.resize(builder_.graph().tensors.size());
    for (OperatorIndex v = 0; v < operators.size(); ++v) {
      for (const TensorIndex t : operators[v].inputs) readers_[t].push_back(v);
    }
  }
  void Update(std::size_t weight, TensorIndex gradient) {
    const std::string& name = builder_.graph().tensors[weights_[weight]].name;
    const OperatorIndex v = builder_.NewOperator("update." + name, "update", {gradient});
    builder_.graph().operators[v].mutates = {weights_[weight]};
    builder_.graph().operators[v].update = true;
    builder_.graph().operators[v].after = readers_[weights_[weight]];
  }

  TensorIndex Forward(const std::string& name, TensorIndex x) {
    Block block;
    block.name = name;
    block.input = x;
    block.norm = Weight(name + "norm1", model_);
    block.normed = Layer(name + "normed1", x, block.norm, Activations(model_));
    std::vector<TensorIndex> contexts;
    for (std::size_t h = 0; h < heads_; ++h) {
      contexts.push_back(
          ForwardHead(name + "head" + std::to_string(h) + ".", block.normed, block.heads));
    }
    block.context = Add(name + "concat", contexts, Activations(model_));
    block.project = Weight(name + "wo", model_ * model_);
    const TensorIndex projected =
        Layer(name + "project", block.context, block.project, Activations(model_));
    block.middle = Add(name + "add1", {x, projected}, Activations(model_));
    block.norm_middle = Weight(name + "norm2", model_);
    block.normed_middle =
        Layer(name + "normed2", block.middle, block.norm_middle, Activations(model_));
    block.wup = Weight(name + "wup", model_ * inner_);
    block.up = Layer(name + "up", block.normed_middle, block.wup, Activations(inner_));
    block.activated = Add(name + "gelu", {block.up}, Activations(inner_));
    block.wdown = Weight(name + "wdown", model_ * inner_);
    const TensorIndex down =
        Layer(name + "down", block.activated, block.wdown, Activations(model_));
    const TensorIndex out = Add(name + "add2", {block.middle, down}, Activations(model_));
    blocks_.push_back(std::move(block));
    return out;
  }

  TensorIndex ForwardHead(const std::string& name, TensorIndex normed, std::vector<Head>& heads) {
    Head head;
    head.wq = Weight(name + "wq", model_ * head_);
    head.wk = Weight(name + "wk", model_ * head_);
    head.wv = Weight(name + "wv", model_ * head_);
    head.q = Layer(name + "q", normed, head.wq, Activations(head_));
    head.k = Layer(name + "k", normed, head.wk, Activations(head_));
    head.v = Layer(name + "v", normed, head.wv, Activations(head_));
    const TensorIndex scores = Add(name + "scores", {head.q, head.k}, Activations(sequence_));
    head.probabilities = Add(name + "softmax", {scores}, Activations(sequence_));
    heads.push_back(head);
    return Add(name + "context", {head.probabilities, head.v}, Activations(head_));
  }

  // The gradient of the block's input from that of its output.
  TensorIndex Backward(const Block& block, TensorIndex gradient) {
    const std::string name = block.name + "backward.";
    const auto weight = [&](std::size_t w) { return weights_[w]; };
    WeightGradient(block.wdown, name + "wdown", {gradient, block.activated});
    TensorIndex inner =
        Gradient(name + "down", {gradient, weight(block.wdown)}, Activations(inner_));
    inner = Gradient(name + "gelu", {inner, block.up}, Activations(inner_));
    WeightGradient(block.wup, name + "wup", {inner, block.normed_middle});
    TensorIndex x = Gradient(name + "up", {inner, weight(block.wup)}, Activations(model_));
    WeightGradient(block.norm_middle, name + "norm2", {x, block.middle});
    x = Gradient(name + "normed2", {x, block.middle}, Activations(model_));
    const TensorIndex middle = Gradient(name + "add2", {gradient, x}, Activations(model_));
    WeightGradient(block.project, name + "wo", {middle, block.context});
    const TensorIndex context =
        Gradient(name + "project", {middle, weight(block.project)}, Activations(model_));
    std::vector<TensorIndex> parts;
    for (std::size_t h = 0; h < heads_; ++h) {
      BackwardHead(name + "head" + std::to_string(h) + ".", block, block.heads[h], context, parts);
    }
    x = Gradient(name + "sum", parts, Activations(model_));
    WeightGradient(block.norm, name + "norm1", {x, block.input});
    x = Gradient(name + "normed1", {x, block.input}, Activations(model_));
    return Gradient(name + "add1", {middle, x}, Activations(model_));
  }

  void BackwardHead(const std::string& name, const Block& block, const Head& head,
                    TensorIndex context, std::vector<TensorIndex>& parts) {
    const TensorIndex own = Gradient(name + "split", {context}, Activations(head_));
    const TensorIndex v = Gradient(name + "v", {own, head.probabilities}, Activations(head_));
    TensorIndex scores = Gradient(name + "softmax_in", {own, head.v}, Activations(sequence_));
    scores = Gradient(name + "softmax", {scores, head.probabilities}, Activations(sequence_));
    const TensorIndex q = Gradient(name + "q", {scores, head.k}, Activations(head_));
    const TensorIndex k = Gradient(name + "k", {scores, head.q}, Activations(head_));
    WeightGradient(head.wq, name + "wq", {q, block.normed});
    WeightGradient(head.wk, name + "wk", {k, block.normed});
    WeightGradient(head.wv, name + "wv", {v, block.normed});
    parts.push_back(Gradient(name + "x",
                             {q, k, v, weights_[head.wq], weights_[head.wk], weights_[head.wv]},
                             Activations(model_)));
  }

  GraphBuilder builder_;
  std::size_t heads_;
  Bytes sequence_ = 0, head_ = 0, model_ = 0, inner_ = 0, vocabulary_ = 0;  // In elements.
  std::size_t embedding_ = 0;
  std::vector<TensorIndex> weights_;
  std::vector<Block> blocks_;
  std::vector<std::pair<std::size_t, TensorIndex>> updates_;  // Weights and their gradients.
  std::vector<std::vector<OperatorIndex>> readers_;           // By tensor.
};

}  // namespace

std::int64_t OperatorsOfBlock(std::int64_t heads) { return 19 * heads + 28; }

Graph LanguageModel(const GraphParameters& parameters) {
  const std::int64_t each = OperatorsOfBlock(parameters.width);
  return Maker(parameters)
      .Make(std::max<std::int64_t>(1, (parameters.operators + each / 2) / each));
}

}  // namespace berth::internal
