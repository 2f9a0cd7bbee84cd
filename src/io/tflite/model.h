// io/tflite/model.h -- what a TensorFlow Lite file contains, as far as memory is concerned.
//
// All texts and lists are views into the file. Tables that a file refers to several times are read
// several times, so a small file could describe a large model: what is read is limited to a
// multiple of the file's size.
//
// Source: tensorflow/lite/schema/schema.fbs.
#ifndef BERTH_IO_TFLITE_MODEL_H_
#define BERTH_IO_TFLITE_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/flatbuffer.h"
#include "berth/problem.h"
#include "berth/result.h"

namespace berth::internal::tflite {

using Integers = FlatVector<std::int32_t>;

inline constexpr std::string_view kOfflinePlan = "OfflineMemoryAllocation";
inline constexpr std::string_view kScratch = "BerthScratch";

// Builtin operators that the planner knows more about than their names.
enum Builtin : std::int32_t {
  kReshape = 22,
  kCall = 31,
  kCustom = 32,
  kIf = 118,
  kWhile = 119,
  kCallOnce = 129,
  kHashtable = 136,
  kHashtableFind = 137,
  kHashtableImport = 138,
  kHashtableSize = 139,
  kVarHandle = 142,
  kReadVariable = 143,
  kAssignVariable = 144,
  kRandomNormal = 146,
  kRandomUniform = 148,
  kMultinomial = 149,
  kDynamicUpdateSlice = 151,
};
// "CONV_2D"; empty for an operator that is newer than this library.
[[nodiscard]] std::string_view NameOfBuiltin(std::int32_t code);

struct ElementType {
  std::string_view name;  // "float32".
  int bytes = 0;          // Of an element in the arena; 0 if that is not fixed.
};
// None for a type that is newer than this library.
[[nodiscard]] std::optional<ElementType> FindElementType(int type);

struct TensorEntry {
  std::string_view name;
  int type = 0;
  std::uint32_t buffer = 0;
  bool variable = false;
  bool constant = false;  // Its bytes are in the file, or beside it.
  Integers shape;
  Integers signature;  // -1 for a dimension that is not known before a run.
  std::size_t at = 0;  // In the file, as below.

  // The same, wherever in the file it is.
  [[nodiscard]] bool SameAs(const TensorEntry& other) const;
};

struct OperatorEntry {
  std::int32_t code = 0;
  std::string_view custom;  // The name of a custom operator.
  Integers inputs;          // -1: absent.
  Integers outputs;
  Integers intermediates;
  std::int32_t calls[2] = {-1, -1};  // The subgraphs that it runs.
  std::size_t at = 0;

  [[nodiscard]] std::string Type() const;  // "CONV_2D"; the name of a custom operator.
  [[nodiscard]] bool SameAs(const OperatorEntry& other) const;
};

struct SubgraphEntry {
  std::string_view name;
  std::vector<TensorEntry> tensors;
  Integers inputs;
  Integers outputs;
  std::vector<OperatorEntry> operators;
  FlatVector<std::uint32_t> operator_list;  // References to them, in their order.
  std::size_t first_tensor = 0;             // Number of tensors[0] among those of all subgraphs.
};

struct BufferEntry {
  std::string_view data;
  std::uint64_t elsewhere = 0;  // Where its bytes begin, if they lie behind the flatbuffer.
  std::size_t data_at = 0;      // Of `data`, in the file.
  std::size_t at = 0;
};

struct MetadataEntry {
  std::string_view name;
  std::uint32_t buffer = 0;
  std::size_t at = 0;
};

struct ModelEntry {
  FlatTable root;
  std::vector<SubgraphEntry> subgraphs;  // The first is the model itself.
  std::vector<BufferEntry> buffers;
  std::vector<MetadataEntry> metadata;
  std::size_t tensors = 0;  // Of all subgraphs.

  [[nodiscard]] const TensorEntry& TensorOf(std::size_t number) const;
  [[nodiscard]] std::size_t SubgraphOf(std::size_t number) const;
  // "tensor 3 ("input")" or "subgraph 1, tensor 3 ("input")", for errors.
  [[nodiscard]] std::string Describe(std::size_t number) const;
  // Of the last metadata with this name, the one that an interpreter would use; null if there is
  // none.
  [[nodiscard]] const BufferEntry* MetadataOf(std::string_view metadata_name) const;
  // Of the offline plan.
  [[nodiscard]] const BufferEntry* OfflinePlan() const { return MetadataOf(kOfflinePlan); }
  // Whether a tensor has this buffer.
  [[nodiscard]] bool HasTensor(const BufferEntry& buffer) const;
};

// All indices are valid: of tensors, subgraphs and buffers. Errors: kParse, naming the byte or the
// subgraph and its tensor or operator. Cost: linear in the structure, which is at most a multiple of
// the file's size.
[[nodiscard]] Result<ModelEntry> ReadModelEntry(std::string_view bytes, std::string_view name);

}  // namespace berth::internal::tflite

#endif  // BERTH_IO_TFLITE_MODEL_H_
