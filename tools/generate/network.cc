// Layered networks: an input, then layer after layer, each reading earlier layers and writing one
// activation.
//
// Layers come in random blocks: a chain, a residual block (a chain whose end is added to its
// beginning), or branches that are joined; occasionally a join also reads a layer from far back (a
// skip connection). Four times along the network the resolution halves and the number of channels
// doubles, so early activations and late weights are large.
//
// One operator per step. With n layers, layer i runs forward at step i. In training it runs
// backward at step 2n - 1 - i, and the optimizer reads the weights from step 2n on:
//
//   activation       forward of i .. backward of its first reader, or forward of its last reader
//                    where no backward step needs it (as after an addition)
//   gradient         backward of its last reader .. backward of i
//   weight gradient  backward of i .. the optimizer's step for i
//   scratch          one step, forward or backward
//
// In inference an activation lives until its last reader has run.
#include <algorithm>

#include "tools/generate/families.h"

namespace berth::internal {
namespace {

constexpr int kStages = 5;
constexpr std::int64_t kMaxWeight = std::int64_t{1} << 30;
constexpr std::int64_t kMinResolution = 4;
constexpr std::int64_t kMaxChannels = 2048;

struct Layer {
  std::int64_t first_reader = -1;  // Of its activation; -1: none yet.
  std::int64_t last_reader = -1;
  std::int64_t channels = 1;
  std::int64_t activation = 1;  // Number of elements.
  std::int64_t weights = 0;     // Number of elements; 0 for additions, poolings and the like.
  bool saved = true;            // The backward pass needs the activation.
  bool forward_scratch = false;
  bool backward_scratch = false;
};

class Network {
 public:
  Network(const Setting& setting, bool training, Random& random)
      : setting_(setting), training_(training), random_(random) {
    resolution_ = std::int64_t{1} << random_.Uniform(5, 8);
    channels_ = std::int64_t{1} << random_.Uniform(3, 6);
    Layer input;
    input.channels = 3;
    input.activation = resolution_ * resolution_ * input.channels;
    layers_.push_back(input);
    buffers_ = 1;  // The gradient of the input is not needed.
  }

  // Adds blocks until the requested number of buffers is reached; workspace fills the rest if a
  // whole layer does not fit.
  void Build() {
    while (!done_) AddBlock();
    // A layer without readers is an output of the network: the loss reads it after the last layer.
    const auto last = static_cast<std::int64_t>(layers_.size()) - 1;
    for (Layer& layer : layers_) {
      if (layer.first_reader < 0) layer.first_reader = last;
      layer.last_reader = std::max(layer.last_reader, layer.first_reader);
    }
  }

  [[nodiscard]] std::vector<WeightedLifetime> Lifetimes() {
    const auto count = static_cast<std::int64_t>(layers_.size());
    std::vector<WeightedLifetime> shapes;
    const auto add = [&](std::int64_t layer, const char* what, Step start, Step end,
                         std::int64_t weight) {
      shapes.push_back({"layer" + std::to_string(layer) + "." + what, start, end,
                        std::clamp<std::int64_t>(weight, 1, kMaxWeight)});
    };
    Step optimizer = 2 * count;
    for (std::int64_t i = 0; i < count; ++i) {
      const Layer& layer = layers_[static_cast<std::size_t>(i)];
      const auto backward = [&](std::int64_t of) { return 2 * count - 1 - of; };
      const bool saved = training_ && layer.saved;
      add(i, "activation", i, (saved ? backward(layer.first_reader) : layer.last_reader) + 1,
          layer.activation);
      if (layer.forward_scratch) add(i, "forward_scratch", i, i + 1, layer.activation / 2);
      if (!training_ || i == 0) continue;
      add(i, "gradient", backward(layer.last_reader), backward(i) + 1, layer.activation);
      if (layer.weights > 0) {
        add(i, "weight_gradient", backward(i), optimizer + 1, layer.weights);
        ++optimizer;
      }
      if (layer.backward_scratch) {
        add(i, "backward_scratch", backward(i), backward(i) + 1, layer.activation / 2);
      }
    }
    for (std::int64_t i = 1; buffers_ < setting_.buffers; ++i, ++buffers_) {
      const Step step = random_.Uniform(0, optimizer - 1 - (training_ ? 0 : count));
      shapes.push_back({"scratch" + std::to_string(i), step, step + 1, layers_[0].activation});
    }
    return shapes;
  }

 private:
  // The new layer's index, or -1 if it would make too many buffers, which ends the network.
  std::int64_t AddLayer(const std::vector<std::int64_t>& inputs, bool has_weights) {
    if (done_) return -1;
    Layer layer;
    layer.channels = channels_;
    layer.activation = resolution_ * resolution_ * channels_;
    layer.saved = has_weights || random_.Chance(0.5);
    layer.forward_scratch = random_.Chance(0.4);
    layer.backward_scratch = training_ && random_.Chance(0.4);
    if (has_weights) {
      const std::int64_t input_channels = layers_[static_cast<std::size_t>(inputs[0])].channels;
      const std::int64_t kernel = random_.Chance(0.6) ? 9 : 1;
      layer.weights = kernel * input_channels * layer.channels;
    }
    const std::int64_t buffers = 1 + (layer.forward_scratch ? 1 : 0) +
                                 (layer.backward_scratch ? 1 : 0) +
                                 (training_ ? 1 + (has_weights ? 1 : 0) : 0);
    if (buffers_ + buffers > setting_.buffers) {
      done_ = true;
      return -1;
    }
    buffers_ += buffers;
    const auto index = static_cast<std::int64_t>(layers_.size());
    for (const std::int64_t input : inputs) {
      Layer& read = layers_[static_cast<std::size_t>(input)];
      if (read.first_reader < 0) read.first_reader = index;
      read.last_reader = index;
    }
    layers_.push_back(layer);
    return index;
  }

  // The last layer of a chain after `input`: `input` itself for length 0, or -1.
  std::int64_t AddChain(std::int64_t input, std::int64_t length) {
    std::int64_t last = input;
    for (std::int64_t i = 0; i < length && last >= 0; ++i) {
      last = AddLayer({last}, random_.Chance(0.75));
    }
    return last;
  }

  void AddBlock() {
    if (buffers_ * kStages >= setting_.buffers * stage_ && stage_ < kStages) {
      ++stage_;
      resolution_ = std::max(kMinResolution, resolution_ / 2);
      channels_ = std::min(kMaxChannels, channels_ * 2);
    }
    const auto input = static_cast<std::int64_t>(layers_.size()) - 1;
    const double kind = random_.Real();
    if (kind < 0.4) {
      AddChain(input, random_.Uniform(1, 3));
      return;
    }
    std::vector<std::int64_t> joined;
    if (kind < 0.75) {
      joined = {AddChain(input, random_.Uniform(2, 3)), input};
    } else {
      const std::int64_t branches = random_.Uniform(2, 4);
      for (std::int64_t i = 0; i < branches; ++i) {
        joined.push_back(AddChain(input, random_.Uniform(1, 2)));
      }
    }
    if (random_.Chance(0.1)) joined.push_back(random_.Uniform(0, input));
    if (!done_) AddLayer(joined, /*has_weights=*/false);
  }

  const Setting& setting_;
  const bool training_;
  Random& random_;
  std::vector<Layer> layers_;
  std::int64_t buffers_ = 0;
  std::int64_t resolution_ = 0;
  std::int64_t channels_ = 0;
  std::int64_t stage_ = 1;
  bool done_ = false;
};

}  // namespace

Result<GeneratedProblem> GenerateNetwork(const Setting& setting, bool training, Random& random) {
  Network network(setting, training, random);
  network.Build();
  return SizeShapes(network.Lifetimes(), setting, random);
}

}  // namespace berth::internal
