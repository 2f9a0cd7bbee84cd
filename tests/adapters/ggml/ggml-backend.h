// Part of the stand-in for ggml: buffers in the heap.
#ifndef BERTH_TESTS_ADAPTERS_GGML_GGML_BACKEND_H_
#define BERTH_TESTS_ADAPTERS_GGML_GGML_BACKEND_H_

#include "ggml.h"

struct ggml_backend_buffer_type {
  std::size_t most_bytes = 1 << 20;
  int inits = 1 << 20;  // This many tensors can be initialized.
  int buffers = 0;      // That exist.
};
using ggml_backend_buffer_type_t = ggml_backend_buffer_type*;

inline ggml_backend_buffer_type* ggml_stand_in_type = nullptr;  // Of the buffers of a test.

inline std::size_t ggml_backend_buft_get_alignment(ggml_backend_buffer_type_t) { return 32; }
inline std::size_t ggml_backend_buft_get_alloc_size(ggml_backend_buffer_type_t,
                                                    const ggml_tensor* tensor) {
  return tensor->nb[3] * static_cast<std::size_t>(tensor->ne[3]);
}
inline ggml_backend_buffer_t ggml_backend_buft_alloc_buffer(ggml_backend_buffer_type_t type,
                                                            std::size_t bytes) {
  if (bytes > type->most_bytes) return nullptr;
  ggml_stand_in_type = type;
  ++type->buffers;
  return new ggml_backend_buffer{std::vector<char>(bytes)};
}
inline void ggml_backend_buffer_free(ggml_backend_buffer_t buffer) {
  if (buffer != nullptr) --ggml_stand_in_type->buffers;
  delete buffer;
}
inline void* ggml_backend_buffer_get_base(ggml_backend_buffer_t buffer) {
  return buffer->bytes.data();
}
inline ggml_status ggml_backend_tensor_alloc(ggml_backend_buffer_t buffer, ggml_tensor* tensor,
                                             void* address) {
  if (--ggml_stand_in_type->inits < 0) return GGML_STATUS_FAILED;
  tensor->buffer = buffer;
  tensor->data = address;
  return GGML_STATUS_SUCCESS;
}
inline ggml_status ggml_backend_view_init(ggml_tensor* tensor) {
  if (--ggml_stand_in_type->inits < 0) return GGML_STATUS_FAILED;
  tensor->buffer = tensor->view_src->buffer;
  tensor->data = static_cast<char*>(tensor->view_src->data) + tensor->view_offs;
  return GGML_STATUS_SUCCESS;
}

#endif  // BERTH_TESTS_ADAPTERS_GGML_GGML_BACKEND_H_
