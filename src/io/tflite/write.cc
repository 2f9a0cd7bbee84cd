// The same file with its operators in another order and with an offline plan.
//
// References in FlatBuffers lead forward only, so a list that is appended to a file could not refer
// to what lies before it. What is new is therefore put before the old file, which moves as a whole
// by a multiple of 64 bytes: its references are relative and stay right.
//
//   [root] ["TFL3"] [table of the model] [its buffers] [its metadata] [the offline plan] [old file]
//
// The new table refers to what the old one does, except for these two lists. The order of the
// operators is changed where it stands.
#include <algorithm>
#include <limits>
#include <utility>

#include "base/arithmetic.h"
#include "base/flatbuffer.h"
#include "base/text.h"
#include "base/try.h"
#include "berth/tflite.h"
#include "io/tflite/lower.h"
#include "io/tflite/model.h"
#include "io/tflite/tflm.h"

namespace berth {
namespace internal::tflite {
namespace {

constexpr std::size_t kShift = 64;        // No part of a model asks for a larger alignment.
constexpr std::size_t kMostFields = 8;    // Of the model, that this library knows.
constexpr std::size_t kVersionField = 0;  // The only one that is not a reference.
constexpr std::size_t kBuffersField = 4;
constexpr std::size_t kMetadataField = 6;

// Bytes to which numbers, and references to what comes later, are appended.
class FlatWriter {
 public:
  [[nodiscard]] std::size_t at() const { return out_.size(); }
  template <typename T>
  std::size_t Add(T value) {
    const std::size_t at = out_.size();
    out_.resize(at + sizeof(T));
    StoreLittle(value, out_.data() + at);
    return at;
  }
  void AddText(std::string_view text) { out_ += text; }
  void AlignTo(std::size_t alignment, std::size_t remainder = 0) {
    while (out_.size() % alignment != remainder) out_ += '\0';
  }
  // Makes the reference at `from` lead to `to`.
  void Refer(std::size_t from, std::size_t to) {
    StoreLittle(static_cast<std::uint32_t>(to - from), out_.data() + from);
  }
  std::string Take() { return std::move(out_); }

 private:
  std::string out_;
};

class Rewriting {
 public:
  Rewriting(std::string_view bytes, std::string_view name, const ModelEntry& model)
      : bytes_(bytes), name_(name), model_(model), out_(bytes) {}

  Result<void> Reorder(const std::vector<std::size_t>& order) {
    const FlatVector<std::uint32_t>& list = model_.subgraphs[0].operator_list;
    for (std::size_t i = 0; i < order.size(); ++i) {
      const std::size_t from = list.at() + 4 * i;
      const std::size_t to = list.at() + 4 * order[i] + list[order[i]];
      if (to <= from) return Refuse("its operators lie within their list");
      StoreLittle(static_cast<std::uint32_t>(to - from), out_.data() + from);
    }
    return MoveScratch(order);
  }

  // `plan`: the contents of the metadata.
  Result<void> SetPlan(const std::string& plan) {
    if (ReplacePlan(plan)) return {};
    for (const BufferEntry& buffer : model_.buffers) {
      if (buffer.elsewhere != 0) return Refuse("it has weights behind the flatbuffer");
    }
    if (bytes_.size() + plan.size() + 4 * (model_.buffers.size() + model_.metadata.size()) + 1024 >
        static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
      return Refuse("with an offline plan it would have more than 2^31 bytes");
    }
    FlatReader flat(bytes_);
    std::vector<std::size_t> old(std::max(kMostFields, model_.root.fields()));
    for (std::size_t id = 0; id < old.size(); ++id) {
      old[id] = flat.Field(model_.root, id, 4);
      if (id >= kMostFields && old[id] != 0) {
        return Refuse("its model has field " + std::to_string(id) +
                      ", which is newer than this library");
      }
    }
    FlatWriter head;
    const std::size_t root = head.Add(std::uint32_t{0});
    head.AddText("TFL3");
    const std::size_t vtable = head.at();
    head.Add(static_cast<std::uint16_t>(4 + 2 * kMostFields));
    head.Add(static_cast<std::uint16_t>(4 + 4 * kMostFields));
    for (std::size_t id = 0; id < kMostFields; ++id) {
      const bool present = old[id] != 0 || id == kBuffersField || id == kMetadataField;
      head.Add(static_cast<std::uint16_t>(present ? 4 + 4 * id : 0));
    }
    const std::size_t table = head.Add(static_cast<std::int32_t>(head.at() - vtable));
    head.Refer(root, table);
    std::vector<std::size_t> fields(kMostFields);
    for (std::size_t& field : fields) field = head.Add(std::uint32_t{0});
    const Lists lists = AddLists(head, fields);
    AddPlan(head, lists, plan);
    head.AlignTo(kShift);
    const std::size_t shift = head.at();
    for (std::size_t id = 0; id < kMostFields; ++id) {
      if (old[id] == 0 || id == kBuffersField || id == kMetadataField) continue;
      const auto value = LoadLittle<std::uint32_t>(bytes_.data() + old[id]);
      // A reference leads to the same place; the version is a number.
      const std::size_t to = id == kVersionField ? fields[id] + value : shift + old[id] + value;
      head.Refer(fields[id], to);
    }
    for (std::size_t i = 0; i < model_.buffers.size(); ++i) {
      head.Refer(lists.buffers + 4 * i, shift + model_.buffers[i].at);
    }
    for (std::size_t i = 0; i < lists.kept.size(); ++i) {
      head.Refer(lists.metadata + 4 * i, shift + lists.kept[i]);
    }
    out_.insert(0, head.Take());
    return {};
  }

  std::string Take() { return std::move(out_); }

 private:
  // Where the elements of the new lists begin, and the metadata that is kept.
  struct Lists {
    std::size_t buffers = 0;
    std::size_t metadata = 0;
    std::vector<std::size_t> kept;
  };

  tl::unexpected<Error> Refuse(const std::string& why) const {
    return Fail(ErrorCode::kUnsupported, Printable(name_) + ": the file cannot be changed: " + why);
  }

  // The list of scratch memory names operators by their positions.
  Result<void> MoveScratch(const std::vector<std::size_t>& order) {
    const BufferEntry* const list = model_.MetadataOf(kScratch);
    if (list == nullptr) return {};
    if (model_.HasTensor(*list))
      return Refuse("a tensor is in the buffer of " + std::string(kScratch));
    std::vector<std::size_t> position(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) position[order[i]] = i;
    const Integers numbers(list->data, list->data_at);
    for (std::size_t i = 1; i + 2 < numbers.size(); i += 3) {
      if (numbers[i] != 0) continue;
      const auto moved = position[static_cast<std::size_t>(numbers[i + 1])];
      StoreLittle(static_cast<std::int32_t>(moved), out_.data() + list->data_at + 4 * (i + 1));
    }
    return {};
  }

  // A plan of the same size in a buffer of its own is replaced where it is.
  bool ReplacePlan(const std::string& plan) {
    const BufferEntry* const old = model_.OfflinePlan();
    if (old == nullptr || old->data.size() != plan.size()) return false;
    const auto index = static_cast<std::uint32_t>(old - model_.buffers.data());
    const auto named = std::count_if(model_.metadata.begin(), model_.metadata.end(),
                                     [&](const MetadataEntry& m) { return m.buffer == index; });
    if (named != 1) return false;
    if (model_.HasTensor(*old)) return false;
    std::copy(plan.begin(), plan.end(), out_.begin() + static_cast<std::ptrdiff_t>(old->data_at));
    return true;
  }

  Lists AddLists(FlatWriter& head, const std::vector<std::size_t>& fields) const {
    Lists lists;
    for (const MetadataEntry& entry : model_.metadata) {
      if (entry.name != kOfflinePlan) lists.kept.push_back(entry.at);
    }
    const auto add = [&](std::size_t id, std::size_t count) {
      head.Refer(fields[id], head.Add(static_cast<std::uint32_t>(count)));
      const std::size_t first = head.at();
      for (std::size_t i = 0; i < count; ++i) head.Add(std::uint32_t{0});
      return first;
    };
    lists.buffers = add(kBuffersField, model_.buffers.size() + 1);
    lists.metadata = add(kMetadataField, lists.kept.size() + 1);
    return lists;
  }

  // The metadata and its buffer, last in their lists.
  void AddPlan(FlatWriter& head, const Lists& lists, const std::string& plan) const {
    constexpr std::uint16_t kMetadataVtable[] = {8, 12, 4, 8};
    constexpr std::uint16_t kBufferVtable[] = {6, 8, 4, 0};  // And two bytes of padding.
    const std::size_t metadata_vtable = head.at();
    for (const std::uint16_t number : kMetadataVtable) head.Add(number);
    const std::size_t metadata = head.Add(static_cast<std::int32_t>(head.at() - metadata_vtable));
    const std::size_t name = head.Add(std::uint32_t{0});
    head.Add(static_cast<std::uint32_t>(model_.buffers.size()));
    head.Refer(lists.metadata + 4 * lists.kept.size(), metadata);
    head.Refer(name, head.Add(static_cast<std::uint32_t>(kOfflinePlan.size())));
    head.AddText(kOfflinePlan);
    head.AddText(std::string_view("\0", 1));
    head.AlignTo(4);
    const std::size_t buffer_vtable = head.at();
    for (const std::uint16_t number : kBufferVtable) head.Add(number);
    const std::size_t buffer = head.Add(static_cast<std::int32_t>(head.at() - buffer_vtable));
    const std::size_t data = head.Add(std::uint32_t{0});
    head.Refer(lists.buffers + 4 * model_.buffers.size(), buffer);
    head.AlignTo(16, 12);  // The contents of buffers begin at multiples of 16.
    head.Refer(data, head.Add(static_cast<std::uint32_t>(plan.size())));
    head.AddText(plan);
  }

  std::string_view bytes_;
  std::string_view name_;
  const ModelEntry& model_;
  std::string out_;
};

// The operators of the first subgraph in the order of the plan.
Result<std::vector<std::size_t>> OrderOf(const Lowered& lowered, const MemoryPlan& plan) {
  Order order = plan.order.empty() ? ProgramOrder(lowered.graph) : plan.order;
  if (order.size() > lowered.graph.operators.size()) {
    return Fail(ErrorCode::kInvalidPlan,
                "the plan runs operators again, which a TensorFlow Lite model cannot");
  }
  BERTH_TRY(ValidateOrder(lowered.graph, order));
  std::vector<std::size_t> operators;
  operators.reserve(order.size());
  for (const OperatorIndex v : order) {
    if (v >= lowered.first_operator) operators.push_back(v - lowered.first_operator);
  }
  return operators;
}

// The metadata: a header of version, subgraphs and tensors, and an offset for each tensor.
Result<std::string> PlanText(const ModelEntry& model, const Timeline& timeline, const Sizes& sizes,
                             const Lowered& lowered, const Graph& graph, const MemoryPlan& plan,
                             const std::string& name) {
  const auto fail = [&](ErrorCode code, const std::string& what) {
    return Fail(code, name + ": " + what);
  };
  std::vector<std::optional<Bytes>> offset_of(graph.tensors.size());
  for (const Residency& residency : plan.residencies) {
    if (residency.tensor >= graph.tensors.size()) {
      return fail(ErrorCode::kInvalidPlan, "the plan has a tensor " +
                                               std::to_string(residency.tensor) + " of " +
                                               std::to_string(graph.tensors.size()));
    }
    std::optional<Bytes>& offset = offset_of[residency.tensor];
    if (offset || residency.comes_in || residency.written_out) {
      return fail(ErrorCode::kInvalidPlan, "the plan moves tensor " +
                                               Quoted(graph.tensors[residency.tensor].name) +
                                               ", which an interpreter does not do");
    }
    offset = residency.offset;
  }
  FlatWriter out;
  out.Add(std::int32_t{1});
  out.Add(static_cast<std::int32_t>(model.subgraphs.size()));
  out.Add(static_cast<std::int32_t>(model.tensors));
  for (std::size_t t = 0; t < model.tensors; ++t) {
    std::int32_t offset = -1;
    if (sizes.tensors[t].planned && timeline.tensors[t].last < 0) {
      offset = 0;  // It is never used, but the interpreter would find room for it.
    } else if (sizes.tensors[t].planned && lowered.spots[t]) {
      const Spot& spot = *lowered.spots[t];
      const auto& base = offset_of[BaseOf(graph, spot.tensor)];
      if (!base) {
        return fail(ErrorCode::kInvalidPlan, "the plan has no offset for " + model.Describe(t));
      }
      const Bytes sum = CheckedAdd(*base, spot.offset).value_or(-1);
      if (sum < 0 || sum % kArenaAlignment != 0 || sum > std::numeric_limits<std::int32_t>::max()) {
        return fail(ErrorCode::kInvalidPlan, "the plan puts " + model.Describe(t) + " at offset " +
                                                 std::to_string(sum) +
                                                 ", which is not a multiple of 16 below 2^31");
      }
      offset = static_cast<std::int32_t>(sum);
    }
    out.Add(offset);
  }
  return out.Take();
}

// The metadata with no offset for any tensor: the interpreter finds them itself.
std::string EmptyPlanText(const ModelEntry& model) {
  FlatWriter out;
  out.Add(std::int32_t{1});
  out.Add(static_cast<std::int32_t>(model.subgraphs.size()));
  out.Add(static_cast<std::int32_t>(model.tensors));
  for (std::size_t t = 0; t < model.tensors; ++t) out.Add(std::int32_t{-1});
  return out.Take();
}

// Whether the files are of one model but for the order of the first subgraph's operators.
bool SameModel(const ModelEntry& a, const ModelEntry& b, const std::vector<std::size_t>& order) {
  if (a.subgraphs.size() != b.subgraphs.size() || b.buffers.size() < a.buffers.size()) return false;
  for (std::size_t i = 0; i < a.buffers.size(); ++i) {
    const bool ours = &a.buffers[i] == a.OfflinePlan() || &a.buffers[i] == a.MetadataOf(kScratch);
    if (!ours && a.buffers[i].data != b.buffers[i].data) return false;
  }
  for (std::size_t s = 0; s < a.subgraphs.size(); ++s) {
    const SubgraphEntry& x = a.subgraphs[s];
    const SubgraphEntry& y = b.subgraphs[s];
    if (x.name != y.name || !(x.inputs == y.inputs) || !(x.outputs == y.outputs) ||
        x.tensors.size() != y.tensors.size() || x.operators.size() != y.operators.size()) {
      return false;
    }
    for (std::size_t t = 0; t < x.tensors.size(); ++t) {
      if (!x.tensors[t].SameAs(y.tensors[t])) return false;
    }
    for (std::size_t i = 0; i < x.operators.size(); ++i) {
      if (!x.operators[s == 0 ? order[i] : i].SameAs(y.operators[i])) return false;
    }
  }
  return true;
}

// Whether the graph is one of this file, with the sizes that it states.
bool IsGraphOf(const Lowered& lowered, const Graph& graph) {
  const auto& ours = lowered.graph;
  if (ours.operators.size() != graph.operators.size() ||
      ours.tensors.size() != graph.tensors.size()) {
    return false;
  }
  for (std::size_t t = 0; t < ours.tensors.size(); ++t) {
    if (ours.tensors[t].name != graph.tensors[t].name ||
        graph.tensors[t].bytes < ours.tensors[t].bytes) {
      return false;
    }
  }
  for (std::size_t v = 0; v < ours.operators.size(); ++v) {
    if (ours.operators[v].name != graph.operators[v].name) return false;
  }
  return true;
}

}  // namespace
}  // namespace internal::tflite

Result<std::string> WriteTflite(std::string_view bytes, std::string_view name, const Graph& graph,
                                const MemoryPlan& plan) {
  using namespace internal::tflite;
  const std::string shown = internal::Printable(name);
  const ModelEntry model = BERTH_TRY(ReadModelEntry(bytes, name));
  const Timeline timeline = BERTH_TRY(TimelineOf(model, name));
  const Sizes sizes = BERTH_TRY(SizesOf(model, {}, name));
  const std::vector<Scratch> scratch = BERTH_TRY(ScratchOf(model, name));
  const Lowered lowered = BERTH_TRY(Lower(model, timeline, sizes, scratch, {}, name));
  if (!IsGraphOf(lowered, graph)) {
    return Fail(ErrorCode::kInvalidOptions,
                shown + ": the plan is for other sizes than those of the file");
  }
  const std::vector<std::size_t> order = BERTH_TRY(OrderOf(lowered, plan));
  Rewriting rewriting(bytes, name, model);
  BERTH_TRY(rewriting.Reorder(order));
  if (plan.addressed) {
    const std::string text =
        BERTH_TRY(PlanText(model, timeline, sizes, lowered, graph, plan, shown));
    BERTH_TRY(rewriting.SetPlan(text));
  } else if (model.OfflinePlan() != nullptr && !std::is_sorted(order.begin(), order.end())) {
    // Its offsets are for another order.
    BERTH_TRY(rewriting.SetPlan(EmptyPlanText(model)));
  }
  std::string out = rewriting.Take();
  // What was written is read as any other file.
  const Result<ModelEntry> again = ReadModelEntry(out, name);
  if (!again || !SameModel(model, *again, order)) {
    return Fail(ErrorCode::kUnsupported,
                shown + ": the file cannot be changed: its parts lie over each other");
  }
  if (plan.addressed) {
    const TflmArena arena = BERTH_TRY(ReadTflmArena(out, name));
    BERTH_TRY(ValidatePlacement(arena.problem, Placement{arena.offsets, arena.height}));
  }
  return out;
}

}  // namespace berth
