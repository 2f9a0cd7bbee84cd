// berth/adapters/ggml/allocate.h -- the tensors of a ggml graph in one buffer, planned by Berth.
//
//   #include "berth/adapters/ggml/allocate.h"
//
//   ggml_cgraph* graph = ...;  // Built in a context with no_alloc.
//   const auto memory = berth::ggml::Allocate(graph, ggml_backend_get_default_buffer_type(backend));
//   if (!memory.error.empty()) return Complain(memory.error);
//   ... ggml_backend_tensor_set(input, ...); ggml_backend_graph_compute(backend, graph); ...
//   ggml_backend_buffer_free(memory.buffer);
//
// takes the place of ggml_gallocr_alloc_graph(), which leaves alone tensors that have memory. ggml
// runs the nodes in the order of the graph, so only offsets are planned. As ggml's own allocator:
//   * inputs and other leaves without memory are live from the start, as they are set before the
//     graph runs; tensors flagged as outputs, and results that no node reads, to the end;
//   * a view is part of the tensor that it views;
//   * an element-wise node takes the place of an operand of the same layout that is not needed
//     afterwards.
// C++17; needs ggml and libberth (berth/berth.h). Exceptions: std::bad_alloc.
#ifndef BERTH_ADAPTERS_GGML_ALLOCATE_H_
#define BERTH_ADAPTERS_GGML_ALLOCATE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "berth/berth.h"
#include "ggml-alloc.h"
#include "ggml-backend.h"
#include "ggml.h"

namespace berth {
namespace ggml {

struct Allocation {
  // To be freed by ggml_backend_buffer_free() when the graph is no longer needed. None after an
  // error, and where no tensor needs memory.
  ggml_backend_buffer_t buffer = nullptr;
  std::size_t bytes = 0;  // Of the plan.
  // Proved: with these nodes in place of their operands, no plan needs less.
  std::size_t bound = 0;
  std::size_t tensors = 0;   // That have a place of their own.
  std::size_t in_place = 0;  // Nodes that take the place of an operand.
  std::string error;         // Empty if all went well. The tensors are then as before.
};

namespace internal {

// Whether the kernels of an operation read each element before they write the one in its place.
inline bool CanRunInPlace(ggml_op op) {
  switch (op) {
    case GGML_OP_ADD:
    case GGML_OP_ADD1:
    case GGML_OP_SUB:
    case GGML_OP_MUL:
    case GGML_OP_DIV:
    case GGML_OP_SQR:
    case GGML_OP_SQRT:
    case GGML_OP_LOG:
    case GGML_OP_UNARY:
    case GGML_OP_SCALE:
    case GGML_OP_RMS_NORM:
    case GGML_OP_SOFT_MAX:
    case GGML_OP_ROPE:
    case GGML_OP_DIAG_MASK_INF:
    case GGML_OP_DIAG_MASK_ZERO:
      return true;
    default:
      return false;
  }
}

inline bool SameLayout(const ggml_tensor& a, const ggml_tensor& b) {
  return a.type == b.type && std::equal(a.ne, a.ne + GGML_MAX_DIMS, b.ne) &&
         std::equal(a.nb, a.nb + GGML_MAX_DIMS, b.nb);
}

inline ggml_tensor* BaseOf(ggml_tensor* tensor) {
  while (tensor->view_src != nullptr) tensor = tensor->view_src;
  return tensor;
}

// Lifetimes and places of the tensors of a graph. Step 0 is before the graph runs; node i runs at
// step i + 1.
class Tensors {
 public:
  Tensors(ggml_cgraph* graph, ggml_backend_buffer_type_t type)
      : type_(type), end_(ggml_graph_n_nodes(graph) + 2) {
    const int count = ggml_graph_n_nodes(graph);
    std::unordered_set<const ggml_tensor*> read;
    for (int i = 0; i < count; ++i) {
      ggml_tensor* const node = ggml_graph_node(graph, i);
      for (ggml_tensor* const source : node->src) {
        if (source == nullptr) continue;
        Use(source, 0, i + 1);
        read.insert(source);
      }
      Use(node, i + 1, i + 1);
    }
    for (int i = 0; i < count; ++i) {
      ggml_tensor* const node = ggml_graph_node(graph, i);
      const std::size_t* const entry = EntryOf(node);
      if (entry != nullptr && read.count(node) == 0) entries_[*entry].last = end_ - 1;
    }
    for (Entry& entry : entries_) {
      if (entry.output) entry.last = end_ - 1;
    }
    for (int i = 0; i < count; ++i) PutInPlace(ggml_graph_node(graph, i), i + 1);
  }

  // Fills `allocation`.
  void Place(const berth_options* options, Allocation& allocation) {
    std::vector<std::int64_t> start, end, size;
    std::vector<std::size_t> owners;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const Entry& entry = entries_[i];
      if (entry.host != i) {
        ++allocation.in_place;
      } else if (entry.bytes > 0) {
        owners.push_back(i);
        start.push_back(entry.first);
        end.push_back(entry.last + 1);
        size.push_back(entry.bytes);
      }
    }
    allocation.tensors = owners.size();
    if (entries_.empty()) {
      // Views of tensors that have memory.
      if (!InitializeViews()) {
        for (ggml_tensor* const view : views_) Forget(view);
        allocation.error = kFailed;
      }
      return;
    }
    const std::vector<std::int64_t> alignment(
        owners.size(), static_cast<std::int64_t>(ggml_backend_buft_get_alignment(type_)));
    std::vector<std::int64_t> offsets(owners.size());
    berth_summary summary;
    summary.struct_size = sizeof summary;
    berth_error* error = nullptr;
    if (berth_place(owners.size(), start.data(), end.data(), size.data(), alignment.data(), options,
                    offsets.data(), &summary, &error) != BERTH_OK) {
      allocation.error = berth_error_message(error);
      berth_error_free(error);
      return;
    }
    allocation.bytes = static_cast<std::size_t>(std::max<std::int64_t>(summary.height, 0));
    allocation.bound = static_cast<std::size_t>(summary.height_bound);
    if (summary.capacity >= 0 && summary.height > summary.capacity) {
      allocation.error = "no plan was found within the capacity";
      return;
    }
    for (std::size_t k = 0; k < owners.size(); ++k) entries_[owners[k]].offset = offsets[k];
    Give(allocation);
  }

 private:
  struct Entry {
    ggml_tensor* tensor;
    std::int64_t bytes;
    int first;  // Steps, both live.
    int last;
    std::size_t host;  // Its own index, or that of the entry whose place it takes.
    bool output = false;
    std::int64_t offset = 0;
  };

  // `made`: the step of the node that computes the tensor; 0 for one that is read.
  void Use(ggml_tensor* tensor, int made, int step) {
    ggml_tensor* const base = BaseOf(tensor);
    const bool ours = base->data == nullptr && base->buffer == nullptr;
    const bool in_buffer = ours || base->buffer != nullptr;
    if (tensor != base && tensor->buffer == nullptr && in_buffer && viewed_.insert(tensor).second) {
      views_.push_back(tensor);
    }
    if (!ours) return;
    const auto [found, is_new] = index_.emplace(base, entries_.size());
    if (is_new) {
      const bool computed =
          base == tensor && base->op != GGML_OP_NONE && (base->flags & GGML_TENSOR_FLAG_INPUT) == 0;
      const std::size_t bytes = ggml_backend_buft_get_alloc_size(type_, base);
      entries_.push_back(
          {base, static_cast<std::int64_t>(bytes), computed ? made : 0, step, entries_.size()});
    }
    Entry& entry = entries_[found->second];
    entry.last = std::max(entry.last, step);
    entry.output = entry.output || (tensor->flags & GGML_TENSOR_FLAG_OUTPUT) != 0;
  }

  // The entry whose bytes a tensor has; none if they are not planned here.
  const std::size_t* EntryOf(ggml_tensor* tensor) const {
    const auto found = index_.find(BaseOf(tensor));
    return found == index_.end() ? nullptr : &found->second;
  }

  void PutInPlace(ggml_tensor* node, int step) {
    const std::size_t* const own = EntryOf(node);
    if (!CanRunInPlace(node->op) || node->view_src != nullptr || own == nullptr ||
        entries_[*own].first != step) {
      return;
    }
    for (ggml_tensor* const source : node->src) {
      if (source == nullptr || !SameLayout(*node, *source) || source->view_offs != 0) continue;
      const std::size_t* const operand = EntryOf(source);
      if (operand == nullptr) continue;
      int reads = 0;
      for (ggml_tensor* const other : node->src) {
        reads += other != nullptr && BaseOf(other) == BaseOf(source) ? 1 : 0;
      }
      const std::size_t host = entries_[*operand].host;
      Entry& place = entries_[host];
      if (reads != 1 || entries_[*operand].output || entries_[*operand].last != step ||
          place.last != step || place.bytes != entries_[*own].bytes) {
        continue;
      }
      entries_[*own].host = host;
      place.last = entries_[*own].last;
      return;
    }
  }

  void Give(Allocation& allocation) {
    const ggml_backend_buffer_t buffer =
        ggml_backend_buft_alloc_buffer(type_, std::max<std::size_t>(allocation.bytes, 1));
    if (buffer == nullptr) {
      allocation.error = "ggml has no buffer of " + std::to_string(allocation.bytes) + " bytes";
      return;
    }
    char* const base = static_cast<char*>(ggml_backend_buffer_get_base(buffer));
    bool good = true;
    for (const Entry& entry : entries_) {
      good = good &&
             ggml_backend_tensor_alloc(buffer, entry.tensor, base + entries_[entry.host].offset) ==
                 GGML_STATUS_SUCCESS;
    }
    if (good && InitializeViews()) {
      allocation.buffer = buffer;
      return;
    }
    for (const Entry& entry : entries_) Forget(entry.tensor);
    for (ggml_tensor* const view : views_) Forget(view);
    ggml_backend_buffer_free(buffer);
    allocation.error = kFailed;
  }

  bool InitializeViews() {
    for (ggml_tensor* const view : views_) {
      if (ggml_backend_view_init(view) != GGML_STATUS_SUCCESS) return false;
    }
    return true;
  }

  static void Forget(ggml_tensor* tensor) {
    tensor->buffer = nullptr;
    tensor->data = nullptr;
  }

  static constexpr const char* kFailed = "ggml cannot initialize a tensor in its buffer";

  ggml_backend_buffer_type_t const type_;
  const int end_;  // Steps.
  std::vector<Entry> entries_;
  std::unordered_map<const ggml_tensor*, std::size_t> index_;
  std::vector<ggml_tensor*> views_;                // Without memory.
  std::unordered_set<const ggml_tensor*> viewed_;  // The same.
};

}  // namespace internal

// Gives every tensor of `graph` that has no memory yet a place in a new buffer of `type`. `options`
// are those of berth_place(), such as "capacity" in bytes; NULL: at most 100,000 nodes of search, so
// that plans are the same on every machine. Allocates nothing and changes no tensor if it fails.
// Cost: linear in the graph, and the search.
inline Allocation Allocate(ggml_cgraph* graph, ggml_backend_buffer_type_t type,
                           const berth_options* options = nullptr) {
  Allocation allocation;
  berth_options* const standard = options == nullptr ? berth_options_new() : nullptr;
  if (standard != nullptr) berth_options_set(standard, "node_limit", "100000", nullptr);
  internal::Tensors(graph, type).Place(options == nullptr ? standard : options, allocation);
  berth_options_free(standard);
  return allocation;
}

}  // namespace ggml
}  // namespace berth

#endif  // BERTH_ADAPTERS_GGML_ALLOCATE_H_
