// Graphs of ggml in memory that Berth plans, beside ggml's own allocator; built by bench/ggml.

#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "berth/adapters/ggml/allocate.h"
#include "ggml-cpu.h"

namespace {

ggml_context* NewContext() {
  return ggml_init(
      {ggml_tensor_overhead() * 8192 + ggml_graph_overhead_custom(8192, false), nullptr, true});
}

// A network: its weights in a context with memory of its own, and a graph.
class Network {
 public:
  explicit Network(ggml_backend_t backend) : backend_(backend) {}
  ~Network() {
    ggml_backend_buffer_free(weight_buffer_);
    ggml_free(weights_);
    ggml_free(values_);
  }
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  ggml_context* values() { return values_; }
  ggml_tensor* Weight(std::int64_t a, std::int64_t b = 1, std::int64_t c = 1, std::int64_t d = 1,
                      ggml_type type = GGML_TYPE_F32) {
    return ggml_new_tensor_4d(weights_, type, a, b, c, d);
  }
  ggml_tensor* Input(std::int64_t a, std::int64_t b, std::int64_t c = 1) {
    ggml_tensor* const tensor = ggml_new_tensor_4d(values_, GGML_TYPE_F32, a, b, c, 1);
    ggml_set_input(tensor);
    inputs_.push_back(tensor);
    return tensor;
  }
  void Finish(ggml_tensor* result) {
    ggml_set_output(result);
    result_ = result;
    graph_ = ggml_new_graph_custom(values_, 8192, false);
    ggml_build_forward_expand(graph_, result);
    weight_buffer_ = ggml_backend_alloc_ctx_tensors(weights_, backend_);
    int seed = 1;
    for (ggml_tensor* each = ggml_get_first_tensor(weights_); each != nullptr;
         each = ggml_get_next_tensor(weights_, each)) {
      Fill(each, seed++);
    }
  }
  ggml_cgraph* graph() { return graph_; }
  std::vector<float> Compute() {
    int seed = 1000;
    for (ggml_tensor* const input : inputs_) Fill(input, seed++);
    ggml_backend_graph_compute(backend_, graph_);
    std::vector<float> result(static_cast<std::size_t>(ggml_nelements(result_)));
    ggml_backend_tensor_get(result_, result.data(), 0, ggml_nbytes(result_));
    return result;
  }

 private:
  static void Fill(ggml_tensor* tensor, int seed) {
    const auto count = static_cast<std::size_t>(ggml_nelements(tensor));
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i) {
      values[i] = 0.1F * std::sin(static_cast<float>(seed) + 0.7F * static_cast<float>(i));
    }
    if (tensor->type == GGML_TYPE_F32) {
      ggml_backend_tensor_set(tensor, values.data(), 0, count * sizeof(float));
      return;
    }
    std::vector<ggml_fp16_t> halves(count);
    ggml_fp32_to_fp16_row(values.data(), halves.data(), static_cast<std::int64_t>(count));
    ggml_backend_tensor_set(tensor, halves.data(), 0, count * sizeof(ggml_fp16_t));
  }

  ggml_backend_t backend_;
  ggml_context* weights_ = NewContext();
  ggml_context* values_ = NewContext();
  ggml_backend_buffer_t weight_buffer_ = nullptr;
  std::vector<ggml_tensor*> inputs_;
  ggml_tensor* result_ = nullptr;
  ggml_cgraph* graph_ = nullptr;
};

void Perceptron(Network& net) {
  ggml_context* const c = net.values();
  ggml_tensor* x = net.Input(784, 32);
  for (const int width : {512, 256, 512, 128, 10}) {
    x = ggml_mul_mat(c, net.Weight(x->ne[0], width), x);
    x = ggml_relu(c, ggml_add(c, x, net.Weight(width)));
  }
  net.Finish(ggml_soft_max(c, x));
}

void Transformer(Network& net) {
  constexpr int kWidth = 256, kTokens = 128, kHeads = 8, kHead = kWidth / kHeads;
  ggml_context* const c = net.values();
  ggml_tensor* x = net.Input(kWidth, kTokens);
  const auto linear = [&](ggml_tensor* of, int width) {
    return ggml_mul_mat(c, net.Weight(of->ne[0], width), of);
  };
  const auto norm = [&](ggml_tensor* of) {
    return ggml_mul(c, ggml_rms_norm(c, of, 1e-5F), net.Weight(kWidth));
  };
  const auto heads = [&](ggml_tensor* of) {
    return ggml_permute(c, ggml_reshape_3d(c, of, kHead, kHeads, kTokens), 0, 2, 1, 3);
  };
  for (int layer = 0; layer < 4; ++layer) {
    ggml_tensor* const in = norm(x);
    ggml_tensor* const q = heads(linear(in, kWidth));
    ggml_tensor* const k = heads(linear(in, kWidth));
    ggml_tensor* const v = ggml_cont(c, ggml_transpose(c, heads(linear(in, kWidth))));
    ggml_tensor* scores = ggml_scale(c, ggml_mul_mat(c, k, q), 0.17F);
    scores = ggml_soft_max(c, ggml_diag_mask_inf(c, scores, 0));
    ggml_tensor* const mixed = ggml_permute(c, ggml_mul_mat(c, v, scores), 0, 2, 1, 3);
    x = ggml_add(c, linear(ggml_cont_2d(c, mixed, kWidth, kTokens), kWidth), x);
    ggml_tensor* const mid = norm(x);
    ggml_tensor* const gate = ggml_silu(c, linear(mid, 3 * kWidth));
    x = ggml_add(c, linear(ggml_mul(c, gate, linear(mid, 3 * kWidth)), kWidth), x);
  }
  net.Finish(x);
}

void Convolutions(Network& net) {
  ggml_context* const c = net.values();
  ggml_tensor* x = net.Input(64, 64, 3);
  const auto conv = [&](ggml_tensor* of, int channels, int size, int stride) {
    ggml_tensor* const w = net.Weight(size, size, of->ne[2], channels, GGML_TYPE_F16);
    return ggml_conv_2d(c, w, of, stride, stride, size / 2, size / 2, 1, 1);
  };
  x = ggml_relu(c, conv(x, 16, 3, 1));
  for (const int channels : {16, 32, 64}) {
    // Branches of several widths side by side, with a skip.
    const int stride = channels == 16 ? 1 : 2;
    ggml_tensor* const a = ggml_relu(c, conv(x, channels / 2, 1, stride));
    ggml_tensor* const b = ggml_relu(c, conv(conv(x, channels / 4, 1, 1), channels / 2, 3, stride));
    ggml_tensor* const both = ggml_concat(c, a, b, 2);
    x = ggml_relu(c, ggml_add(c, conv(both, channels, 3, 1), conv(x, channels, 1, stride)));
  }
  net.Finish(ggml_pool_2d(c, x, GGML_OP_POOL_AVG, 16, 16, 16, 16, 0, 0));
}

void Recurrent(Network& net) {
  ggml_context* const c = net.values();
  constexpr int kWidth = 128, kBatch = 8;
  ggml_tensor* const in = net.Input(kWidth, kBatch, 12);
  ggml_tensor* const w = net.Weight(kWidth, 4 * kWidth);
  ggml_tensor* const u = net.Weight(kWidth, 4 * kWidth);
  ggml_tensor* h = net.Input(kWidth, kBatch);
  ggml_tensor* s = net.Input(kWidth, kBatch);
  for (int step = 0; step < 12; ++step) {
    ggml_tensor* const x =
        ggml_view_2d(c, in, kWidth, kBatch, in->nb[1], static_cast<std::size_t>(step) * in->nb[2]);
    ggml_tensor* const all = ggml_add(c, ggml_mul_mat(c, w, x), ggml_mul_mat(c, u, h));
    const auto gate = [&](int k) {
      return ggml_cont(c, ggml_view_2d(c, all, kWidth, kBatch, all->nb[1],
                                       static_cast<std::size_t>(k * kWidth) * sizeof(float)));
    };
    s = ggml_add(c, ggml_mul(c, ggml_sigmoid(c, gate(0)), s),
                 ggml_mul(c, ggml_sigmoid(c, gate(1)), ggml_tanh(c, gate(2))));
    h = ggml_mul(c, ggml_sigmoid(c, gate(3)), ggml_tanh(c, s));
  }
  net.Finish(h);
}

}  // namespace

int main() {
  ggml_backend_t const backend = ggml_backend_cpu_init();
  ggml_backend_cpu_set_n_threads(backend, 1);
  const ggml_backend_buffer_type_t type = ggml_backend_get_default_buffer_type(backend);
  const std::vector<std::pair<std::string, std::function<void(Network&)>>> networks = {
      {"perceptron", Perceptron},
      {"transformer", Transformer},
      {"convolutions", Convolutions},
      {"recurrent", Recurrent}};
  std::printf("%-14s %8s %12s %12s %12s %9s %s\n", "network", "nodes", "ggml", "berth", "bound",
              "in place", "outputs");
  bool good = true;
  for (const auto& [name, build] : networks) {
    Network own(backend), planned(backend);
    build(own);
    build(planned);
    ggml_gallocr_t const allocator = ggml_gallocr_new(type);
    ggml_gallocr_alloc_graph(allocator, own.graph());
    const auto memory = berth::ggml::Allocate(planned.graph(), type);
    if (!memory.error.empty()) {
      std::printf("%s: %s\n", name.c_str(), memory.error.c_str());
      return 1;
    }
    const bool same = own.Compute() == planned.Compute();
    good = good && same;
    std::printf("%-14s %8d %12zu %12zu %12zu %9zu %s\n", name.c_str(),
                ggml_graph_n_nodes(planned.graph()), ggml_gallocr_get_buffer_size(allocator, 0),
                memory.bytes, memory.bound, memory.in_place, same ? "the same" : "DIFFER");
    ggml_gallocr_free(allocator);
    ggml_backend_buffer_free(memory.buffer);
  }
  ggml_backend_free(backend);
  return good ? 0 : 1;
}
