// The allocator for ggml, with a stand-in for ggml: graphs are computed in the memory that it gives
// and in memory of their own.

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "berth/adapters/ggml/allocate.h"

namespace berth::ggml {
namespace {

// A graph and its tensors, all rows of floats.
class Builder {
 public:
  ggml_tensor* Leaf(std::int64_t n, std::int32_t flags = GGML_TENSOR_FLAG_INPUT) {
    ggml_tensor& tensor = tensors_.emplace_back();
    tensor.ne[0] = n;
    for (int d = 1; d < GGML_MAX_DIMS; ++d) tensor.nb[d] = 4 * static_cast<std::size_t>(n);
    tensor.flags = flags;
    return &tensor;
  }
  ggml_tensor* Node(ggml_op op, std::int64_t n, const std::vector<ggml_tensor*>& sources) {
    ggml_tensor* const node = Leaf(n, 0);
    node->op = op;
    std::copy(sources.begin(), sources.end(), node->src);
    graph_.nodes.push_back(node);
    return node;
  }
  // `n` floats of another tensor.
  ggml_tensor* View(ggml_tensor* of, std::int64_t n, std::size_t first) {
    ggml_tensor* const node = Node(GGML_OP_RESHAPE, n, {of});
    node->view_src = of->view_src != nullptr ? of->view_src : of;
    node->view_offs = 4 * first + of->view_offs;
    return node;
  }
  ggml_cgraph* graph() { return &graph_; }
  std::deque<ggml_tensor>& tensors() { return tensors_; }

 private:
  std::deque<ggml_tensor> tensors_;
  ggml_cgraph graph_;
};

float* Floats(ggml_tensor* tensor) { return static_cast<float*>(tensor->data); }

// Sets the leaves and runs the nodes; returns what `wanted` hold at the end. A matrix product reads
// everything before it writes anything else than zeros, as kernels may; an element-wise operation
// reads each element before it writes it.
std::vector<std::vector<float>> Compute(Builder& builder, const std::vector<ggml_tensor*>& wanted) {
  float value = 1;
  for (ggml_tensor& tensor : builder.tensors()) {
    if (tensor.op != GGML_OP_NONE) continue;
    value += 1;
    if (tensor.data == nullptr) continue;  // No node reads it.
    for (std::int64_t i = 0; i < tensor.ne[0]; ++i) {
      Floats(&tensor)[i] = value + static_cast<float>(i) / 32;
    }
  }
  for (ggml_tensor* const node : builder.graph()->nodes) {
    if (node->op == GGML_OP_RESHAPE) continue;
    if (node->op == GGML_OP_MUL_MAT) {
      for (std::int64_t i = 0; i < node->ne[0]; ++i) Floats(node)[i] = 0;
    }
    for (std::int64_t i = 0; i < node->ne[0]; ++i) {
      float sum = node->op == GGML_OP_SQR ? 2 : 1;
      for (ggml_tensor* const source : node->src) {
        if (source != nullptr) sum += Floats(source)[i % source->ne[0]] / 4;
      }
      Floats(node)[i] = sum;
    }
  }
  std::vector<std::vector<float>> values;
  values.reserve(wanted.size());
  for (ggml_tensor* const tensor : wanted) {
    values.emplace_back(Floats(tensor), Floats(tensor) + tensor->ne[0]);
  }
  return values;
}

// The same with memory of its own for each tensor that is not a view.
std::vector<std::vector<float>> Expected(Builder& builder,
                                         const std::vector<ggml_tensor*>& wanted) {
  std::deque<std::vector<float>> memory;
  for (ggml_tensor& tensor : builder.tensors()) {
    if (tensor.view_src != nullptr) continue;
    tensor.data = memory.emplace_back(tensor.ne[0]).data();
  }
  for (ggml_tensor& tensor : builder.tensors()) {
    if (tensor.view_src != nullptr) {
      tensor.data = static_cast<char*>(tensor.view_src->data) + tensor.view_offs;
    }
  }
  auto values = Compute(builder, wanted);
  for (ggml_tensor& tensor : builder.tensors()) tensor.data = nullptr;
  return values;
}

TEST(GgmlAllocate, RandomGraphsComputeTheSame) {
  std::size_t in_place = 0, views = 0;
  for (unsigned seed = 1; seed <= 2000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const auto below = [&random](std::size_t n) { return random() % n; };
    Builder builder;
    std::vector<ggml_tensor*> values = {builder.Leaf(8), builder.Leaf(16)};
    if (below(2) == 0) values.push_back(builder.Leaf(8, 0));
    for (std::size_t i = 2 + below(12); i > 0; --i) {
      ggml_tensor* const x = values[below(values.size())];
      switch (below(4)) {
        case 0:
          values.push_back(below(2) == 0 ? builder.View(x, x->ne[0], 0)
                                         : builder.View(x, x->ne[0] / 2, below(2) * x->nb[1] / 8));
          ++views;
          break;
        case 1:
          values.push_back(builder.Node(GGML_OP_SQR, x->ne[0], {x}));
          break;
        case 2:
          values.push_back(builder.Node(GGML_OP_ADD, x->ne[0], {x, values[below(values.size())]}));
          break;
        default:
          values.push_back(builder.Node(GGML_OP_MUL_MAT, 4 + 4 * static_cast<int>(below(6)),
                                        {x, values[below(values.size())]}));
      }
      if (values.back()->ne[0] == 0) values.pop_back();
      if (below(8) == 0) values.back()->flags |= GGML_TENSOR_FLAG_OUTPUT;
    }
    // Results: flagged, or not read by any node.
    std::vector<ggml_tensor*> wanted;
    for (ggml_tensor* const node : builder.graph()->nodes) {
      bool read = false;
      for (ggml_tensor* const other : builder.graph()->nodes) {
        for (ggml_tensor* const source : other->src) read = read || source == node;
      }
      if (!read || (node->flags & GGML_TENSOR_FLAG_OUTPUT) != 0) wanted.push_back(node);
    }
    const auto expected = Expected(builder, wanted);
    ggml_backend_buffer_type type;
    const Allocation allocation = Allocate(builder.graph(), &type);
    ASSERT_EQ(allocation.error, "");
    ASSERT_NE(allocation.buffer, nullptr);
    EXPECT_GE(allocation.bytes, allocation.bound);
    EXPECT_EQ(allocation.buffer->bytes.size(), allocation.bytes);
    EXPECT_EQ(Compute(builder, wanted), expected);
    in_place += allocation.in_place;
    ggml_backend_buffer_free(allocation.buffer);
    EXPECT_EQ(type.buffers, 0);
  }
  EXPECT_GT(in_place, 1000U);
  EXPECT_GT(views, 1000U);
}

TEST(GgmlAllocate, AChainOfElementWiseNodesNeedsOneTensor) {
  Builder builder;
  ggml_tensor* x = builder.Leaf(64);
  for (int i = 0; i < 5; ++i) x = builder.Node(GGML_OP_SQR, 64, {x});
  ggml_backend_buffer_type type;
  const Allocation allocation = Allocate(builder.graph(), &type);
  EXPECT_EQ(allocation.error, "");
  EXPECT_EQ(allocation.bytes, 256U);
  EXPECT_EQ(allocation.bound, 256U);
  EXPECT_EQ(allocation.tensors, 1U);
  EXPECT_EQ(allocation.in_place, 5U);
  ggml_backend_buffer_free(allocation.buffer);
}

// It would keep the whole tensor that it views.
TEST(GgmlAllocate, APartOfATensorIsNotOverwritten) {
  for (const std::size_t first : {std::size_t{0}, std::size_t{4}}) {
    Builder builder;
    ggml_tensor* const half = builder.View(builder.Leaf(8), 4, first);
    builder.Node(GGML_OP_SQR, 4, {half});
    ggml_backend_buffer_type type;
    const Allocation allocation = Allocate(builder.graph(), &type);
    EXPECT_EQ(allocation.in_place, 0U);
    ggml_backend_buffer_free(allocation.buffer);
  }
}

TEST(GgmlAllocate, TensorsWithMemoryKeepIt) {
  Builder builder;
  std::vector<float> own(8, 1);
  ggml_backend_buffer weights;
  ggml_tensor* const weight = builder.Leaf(8, 0);
  weight->data = own.data();
  weight->buffer = &weights;
  ggml_tensor* const view = builder.View(weight, 4, 4);
  ggml_tensor* const sum = builder.Node(GGML_OP_ADD, 8, {weight, view});
  ggml_backend_buffer_type type;
  const Allocation allocation = Allocate(builder.graph(), &type);
  EXPECT_EQ(allocation.error, "");
  EXPECT_EQ(weight->data, own.data());
  EXPECT_EQ(view->data, own.data() + 4);
  EXPECT_EQ(sum->buffer, allocation.buffer);
  EXPECT_EQ(allocation.in_place, 0U);
  ggml_backend_buffer_free(allocation.buffer);
}

TEST(GgmlAllocate, ViewsOfTensorsWithMemoryAloneAreInitialized) {
  Builder builder;
  std::vector<float> own(8, 1);
  ggml_backend_buffer cache;
  ggml_tensor* const tensor = builder.Leaf(8, 0);
  tensor->data = own.data();
  tensor->buffer = &cache;
  ggml_tensor* const from = builder.View(tensor, 4, 0);
  ggml_tensor* const to = builder.View(tensor, 4, 4);  // As the result of a copy within a cache.
  to->src[0] = from;
  ggml_backend_buffer_type type;
  ggml_stand_in_type = &type;
  const Allocation allocation = Allocate(builder.graph(), &type);
  EXPECT_EQ(allocation.error, "");
  EXPECT_EQ(allocation.buffer, nullptr);
  EXPECT_EQ(from->data, own.data());
  EXPECT_EQ(to->data, own.data() + 4);
}

TEST(GgmlAllocate, FailuresLeaveTensorsAsTheyWere) {
  const auto untouched = [](Builder& builder) {
    for (const ggml_tensor& tensor : builder.tensors()) {
      EXPECT_EQ(tensor.data, nullptr);
      EXPECT_EQ(tensor.buffer, nullptr);
    }
  };
  Builder builder;
  ggml_tensor* const x = builder.Leaf(64);
  builder.View(builder.Node(GGML_OP_MUL_MAT, 64, {x}), 32, 0);
  ggml_backend_buffer_type small{100, 99, 0};
  EXPECT_EQ(Allocate(builder.graph(), &small).error, "ggml has no buffer of 512 bytes");
  untouched(builder);
  for (int inits = 0; inits < 3; ++inits) {
    ggml_backend_buffer_type type{1000, inits, 0};
    EXPECT_EQ(Allocate(builder.graph(), &type).error,
              "ggml cannot initialize a tensor in its buffer");
    EXPECT_EQ(type.buffers, 0);
    untouched(builder);
  }
  const std::unique_ptr<berth_options, void (*)(berth_options*)> options(berth_options_new(),
                                                                         berth_options_free);
  ggml_backend_buffer_type type;
  ASSERT_EQ(berth_options_set(options.get(), "capacity", "500", nullptr), BERTH_OK);
  EXPECT_EQ(Allocate(builder.graph(), &type, options.get()).error,
            "no plan was found within the capacity");
  untouched(builder);
  Builder empty;
  const Allocation nothing = Allocate(empty.graph(), &type);
  EXPECT_EQ(nothing.error, "");
  EXPECT_EQ(nothing.buffer, nullptr);
}

}  // namespace
}  // namespace berth::ggml
