// A stand-in for the part of ggml's interface that berth/adapters/ggml/allocate.h uses: the same
// names and types, for tests without ggml. (bench/ggml uses the real one.)
#ifndef BERTH_TESTS_ADAPTERS_GGML_GGML_H_
#define BERTH_TESTS_ADAPTERS_GGML_GGML_H_

#include <cstddef>
#include <cstdint>
#include <vector>

constexpr int GGML_MAX_DIMS = 4;
constexpr int GGML_MAX_SRC = 10;

enum ggml_type { GGML_TYPE_F32, GGML_TYPE_F16 };
enum ggml_op {
  GGML_OP_NONE,
  GGML_OP_ADD,
  GGML_OP_ADD1,
  GGML_OP_SUB,
  GGML_OP_MUL,
  GGML_OP_DIV,
  GGML_OP_SQR,
  GGML_OP_SQRT,
  GGML_OP_LOG,
  GGML_OP_UNARY,
  GGML_OP_SCALE,
  GGML_OP_RMS_NORM,
  GGML_OP_SOFT_MAX,
  GGML_OP_ROPE,
  GGML_OP_DIAG_MASK_INF,
  GGML_OP_DIAG_MASK_ZERO,
  GGML_OP_MUL_MAT,
  GGML_OP_RESHAPE
};
enum ggml_tensor_flag { GGML_TENSOR_FLAG_INPUT = 1, GGML_TENSOR_FLAG_OUTPUT = 2 };
enum ggml_status { GGML_STATUS_FAILED = -1, GGML_STATUS_SUCCESS = 0 };

struct ggml_backend_buffer {
  std::vector<char> bytes;
};
using ggml_backend_buffer_t = ggml_backend_buffer*;

struct ggml_tensor {
  ggml_type type = GGML_TYPE_F32;
  ggml_backend_buffer* buffer = nullptr;
  std::int64_t ne[GGML_MAX_DIMS] = {1, 1, 1, 1};
  std::size_t nb[GGML_MAX_DIMS] = {4, 4, 4, 4};
  ggml_op op = GGML_OP_NONE;
  std::int32_t flags = 0;
  ggml_tensor* src[GGML_MAX_SRC] = {};
  ggml_tensor* view_src = nullptr;
  std::size_t view_offs = 0;
  void* data = nullptr;
};

struct ggml_cgraph {
  std::vector<ggml_tensor*> nodes;
};
inline int ggml_graph_n_nodes(ggml_cgraph* graph) { return static_cast<int>(graph->nodes.size()); }
inline ggml_tensor* ggml_graph_node(ggml_cgraph* graph, int i) {
  return graph->nodes.at(static_cast<std::size_t>(i));
}

#endif  // BERTH_TESTS_ADAPTERS_GGML_GGML_H_
