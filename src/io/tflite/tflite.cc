#include "berth/tflite.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "base/arithmetic.h"
#include "base/flatbuffer.h"
#include "base/text.h"
#include "base/try.h"
#include "base/unique_names.h"
#include "io/placed_buffers.h"
#include "io/tflite/lower.h"
#include "io/tflite/model.h"
#include "io/tflite/tflm.h"

namespace berth {
namespace internal::tflite {
namespace {

using OffsetList = std::vector<std::optional<Bytes>>;

// Up to here the interpreter's own plan is computed for a note: it takes quadratic time.
constexpr std::size_t kMostForNote = 4096;
// And up to here at all.
constexpr std::size_t kMostInArena = 32768;

std::string Plural(std::size_t count, const std::string& noun) {
  return Grouped(static_cast<std::int64_t>(count)) + " " + noun + (count == 1 ? "" : "s");
}

Bytes HeightOf(const std::vector<Request>& requests, const std::vector<Bytes>& offsets) {
  Bytes height = 0;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    height = std::max(height, offsets[i] + requests[i].size);
  }
  return height;
}

Bytes VariableBytes(const ModelEntry& model, const Sizes& sizes) {
  Bytes bytes = 0;
  for (std::size_t t = 0; t < model.tensors; ++t) {
    const Bytes size = model.TensorOf(t).variable ? sizes.tensors[t].bytes : 0;
    bytes = CheckedAdd(bytes, RoundUp(size, kArenaAlignment)).value_or(bytes);
  }
  return bytes;
}

class Notes {
 public:
  Notes(const ModelEntry& model, const Timeline& timeline, const Sizes& sizes,
        const std::vector<Scratch>& scratch, const OnnxOptions& options, const Lowered& lowered)
      : model_(model),
        timeline_(timeline),
        sizes_(sizes),
        scratch_(scratch),
        options_(options),
        lowered_(lowered) {}

  std::vector<std::string> Run() {
    Interpreter();
    OfflinePlan();
    notes_.push_back("Not in the file, and so not planned: " +
                     std::string(scratch_.empty() ? "the scratch memory of kernels, and " : "") +
                     "the persistent part of the arena" + Variables() + ".");
    OpenDimensions();
    Unused();
    Intermediates();
    return std::move(notes_);
  }

 private:
  void Interpreter() {
    const Requests requests = RequestsOf(timeline_, sizes_, scratch_, {});
    const bool known = std::all_of(sizes_.tensors.begin(), sizes_.tensors.end(),
                                   [](const TensorSize& t) { return t.unplanned.empty(); });
    if (!known || !lowered_.containers.empty() || options_.element_bytes || requests.list.empty() ||
        requests.list.size() > kMostForNote) {
      return;
    }
    const Bytes height = HeightOf(requests.list, GreedyOffsets(requests.list));
    notes_.push_back("TensorFlow Lite Micro's own planner needs " + Grouped(height) +
                     " bytes for the order of the file.");
  }
  void OfflinePlan() {
    if (model_.OfflinePlan() == nullptr) return;
    std::string note =
        "The file has an offline plan, which is not used here; berth check examines it.";
    if (!lowered_.containers.empty()) {
      note += " Tensors within the scratch memory of an Ethos-U operator keep their places.";
    }
    notes_.push_back(std::move(note));
  }
  [[nodiscard]] std::string Variables() const {
    std::size_t count = 0;
    for (std::size_t t = 0; t < model_.tensors; ++t) count += model_.TensorOf(t).variable ? 1 : 0;
    if (count == 0) return "";
    return ", with " + Plural(count, "variable") + " of " + Grouped(VariableBytes(model_, sizes_)) +
           " bytes";
  }
  void OpenDimensions() {
    if (sizes_.open == 0 || !options_.dimensions.empty() || options_.other_dimensions) return;
    const std::string& first = sizes_.open_names[0];
    const std::string names = first.size() > 60 ? "" : " (such as " + first + ")";
    notes_.push_back("The file leaves " + Plural(sizes_.open, "dimension") + " open" + names +
                     ": they have the sizes that it states, as in TensorFlow Lite Micro.");
  }
  void Unused() {
    std::size_t count = 0;
    Bytes largest = 0;
    for (std::size_t t = 0; t < model_.tensors; ++t) {
      if (!sizes_.tensors[t].planned || timeline_.tensors[t].last >= 0) continue;
      ++count;
      largest = std::max(largest, sizes_.tensors[t].bytes);
    }
    if (count == 0) return;
    notes_.push_back(Plural(count, "tensor") + (count == 1 ? " is" : " are") +
                     " never used, but TensorFlow Lite Micro allocates them: the arena has at "
                     "least " +
                     Grouped(RoundUp(largest, kArenaAlignment)) + " bytes.");
  }
  void Intermediates() {
    for (const SubgraphEntry& subgraph : model_.subgraphs) {
      for (const OperatorEntry& op : subgraph.operators) {
        for (std::size_t i = 0; i < op.intermediates.size(); ++i) {
          if (op.intermediates[i] < 0) continue;
          const std::size_t t =
              subgraph.first_tensor + static_cast<std::size_t>(op.intermediates[i]);
          if (sizes_.tensors[t].bytes == 0) continue;
          notes_.push_back("TensorFlow Lite Micro will refuse the model: " + model_.Describe(t) +
                           ", an intermediate of " + op.Type() + ", is not empty.");
          return;
        }
      }
    }
  }

  const ModelEntry& model_;
  const Timeline& timeline_;
  const Sizes& sizes_;
  const std::vector<Scratch>& scratch_;
  const OnnxOptions& options_;
  const Lowered& lowered_;
  std::vector<std::string> notes_;
};

// Makes the problem that an arena solves, with the tensors that share an offset as one buffer.
class ArenaBuilder {
 public:
  ArenaBuilder(const ModelEntry& model, const Timeline& timeline, const Sizes& sizes,
               const std::vector<Scratch>& scratch, const OffsetList& offline)
      : model_(model), timeline_(timeline), sizes_(sizes), scratch_(scratch), offline_(offline) {}

  TflmArena Run() {
    TflmArena arena;
    arena.variables = VariableBytes(model_, sizes_);
    arena.tensor_offsets.resize(model_.tensors);
    const Requests requests = AllRequests();
    const std::vector<Bytes> offsets = GreedyOffsets(requests.list);
    arena.height = HeightOf(requests.list, offsets);
    for (std::size_t i = 0; i < requests.tensors.size(); ++i) {
      arena.tensor_offsets[requests.tensors[i]] = offsets[i];
      (requests.list[i].offset ? arena.placed : arena.unplaced) += 1;
    }
    Group(requests);
    if (!offline_.empty()) Merge(arena.tensor_offsets);
    Fill(requests, arena);
    FillScratch(requests, offsets, arena);
    return arena;
  }

 private:
  struct Members {
    std::size_t base = 0;  // A tensor.
    Span live;
    Bytes size = 0;
    bool result = false;  // A subgraph returns it.
  };

  // Variables with an offset are in this part of the arena, too, and must stay there throughout.
  Requests AllRequests() {
    Sizes sizes = sizes_;
    Timeline timeline = timeline_;
    for (std::size_t t = 0; t < offline_.size(); ++t) {
      if (!model_.TensorOf(t).variable || !offline_[t] || sizes.tensors[t].bytes == 0) continue;
      sizes.tensors[t].planned = true;
      timeline.tensors[t] = {-1, timeline.steps};
    }
    return RequestsOf(timeline, sizes, scratch_, offline_);
  }

  void Group(const Requests& requests) {
    groups_.resize(model_.tensors);
    for (std::size_t i = 0; i < requests.tensors.size(); ++i) {
      const std::size_t t = requests.tensors[i];
      groups_[t] = {t, requests.list[i].live, requests.list[i].size, false};
    }
    for (const SubgraphEntry& subgraph : model_.subgraphs) {
      for (std::size_t i = 0; i < subgraph.outputs.size(); ++i) {
        groups_[subgraph.first_tensor + static_cast<std::size_t>(subgraph.outputs[i])].result =
            true;
      }
    }
  }
  std::size_t BaseOf(std::size_t t) {
    while (groups_[t].base != t) t = groups_[t].base = groups_[groups_[t].base].base;
    return t;
  }
  void Unite(std::size_t into, std::size_t from) {
    if (into == from) return;
    Members& a = groups_[into];
    const Members& b = groups_[from];
    a.live = {std::min(a.live.first, b.live.first), std::max(a.live.last, b.live.last)};
    a.result |= b.result;
    groups_[from].base = into;
  }

  void Merge(const OffsetList& offsets) {
    for (const Container& container : ContainersOf(model_, sizes_, offline_)) {
      for (const std::size_t t : container.contains) Unite(BaseOf(container.tensor), BaseOf(t));
    }
    MergeInPlace(offsets, true);
    std::vector<bool> seen(model_.subgraphs.size());
    HandOverIn(0, offsets, seen);
    MergeInPlace(offsets, false);
  }

  // What has the same contents, or else what is overwritten.
  void MergeInPlace(const OffsetList& offsets, bool same) {
    for (std::size_t s = 0; s < model_.subgraphs.size(); ++s) {
      const SubgraphEntry& subgraph = model_.subgraphs[s];
      for (std::size_t i = 0; i < subgraph.operators.size(); ++i) {
        for (const InPlace& pair :
             InPlaceOf(subgraph.operators[i], subgraph.first_tensor, sizes_)) {
          if (pair.same != same || offsets[pair.input] != offsets[pair.output]) continue;
          const std::size_t in = BaseOf(pair.input);
          const std::size_t out = BaseOf(pair.output);
          // What is overwritten must not be needed afterwards.
          const Span& live = timeline_.operators[s][i];
          if (same || (IsDeadAfter(in, live) && groups_[out].live.first >= live.first)) {
            Unite(in, out);
          }
        }
      }
    }
  }
  [[nodiscard]] bool IsDeadAfter(std::size_t group, const Span& live) const {
    return !groups_[group].result && groups_[group].live.last <= live.last;
  }

  // IF and WHILE copy tensors to and from the subgraphs that they run, but not where both lie in one
  // place: that of the subgraph then stands for the other as long as it is live. Subgraphs that run
  // others come first: what they must keep is kept in those, too.
  void HandOverIn(std::size_t s, const OffsetList& offsets, std::vector<bool>& seen) {
    if (seen[s]) return;
    seen[s] = true;
    const SubgraphEntry& subgraph = model_.subgraphs[s];
    for (std::size_t i = 0; i < subgraph.operators.size(); ++i) {
      const OperatorEntry& op = subgraph.operators[i];
      const Control control{op, subgraph.first_tensor, timeline_.operators[s][i], offsets};
      for (std::size_t k = 0; k < std::size(op.calls); ++k) {
        if (op.calls[k] == -1) continue;
        const auto called = static_cast<std::size_t>(op.calls[k]);
        if (op.code == kIf) HandOverToBranch(control, model_.subgraphs[called]);
        if (op.code == kWhile) HandOverToLoop(control, model_.subgraphs[called], k == 0);
        HandOverIn(called, offsets, seen);
      }
    }
  }

  struct Control {
    const OperatorEntry& op;
    std::size_t first_tensor;
    const Span& live;
    const OffsetList& offsets;
  };
  // The i-th tensor of a list, by its number; none if the list has none there.
  [[nodiscard]] static std::optional<std::size_t> Nth(const Integers& list, std::size_t i,
                                                      std::size_t first_tensor) {
    if (i >= list.size() || list[i] < 0) return std::nullopt;
    return first_tensor + static_cast<std::size_t>(list[i]);
  }

  // One of the branches runs. Its results are copied last.
  void HandOverToBranch(const Control& control, const SubgraphEntry& branch) {
    for (std::size_t i = 0; i < branch.inputs.size(); ++i) {
      const auto outer = Nth(control.op.inputs, i + 1, control.first_tensor);
      HandOver(control, outer, Nth(branch.inputs, i, branch.first_tensor),
               outer && !IsDeadAfter(BaseOf(*outer), control.live));
    }
    for (std::size_t i = 0; i < branch.outputs.size(); ++i) {
      HandOver(control, Nth(control.op.outputs, i, control.first_tensor),
               Nth(branch.outputs, i, branch.first_tensor), false);
    }
  }

  // The outputs of the operator have the state between the rounds. Its inputs are copied into them
  // before the first round, in some versions after the first condition, and not used later.
  void HandOverToLoop(const Control& control, const SubgraphEntry& run, bool condition) {
    for (std::size_t i = 0; i < run.inputs.size(); ++i) {
      const auto inner = Nth(run.inputs, i, run.first_tensor);
      if (!inner) continue;
      // The body's inputs may be copied to other outputs when these have their new values already.
      if (!condition && groups_[BaseOf(*inner)].result &&
          Nth(run.outputs, i, run.first_tensor) != inner) {
        continue;
      }
      const auto first = Nth(control.op.inputs, i, control.first_tensor);
      if (first && IsDeadAfter(BaseOf(*first), control.live)) {
        HandOver(control, first, inner, condition);
      }
      HandOver(control, Nth(control.op.outputs, i, control.first_tensor), inner, condition);
    }
    if (condition) return;
    for (std::size_t i = 0; i < run.outputs.size(); ++i) {
      HandOver(control, Nth(control.op.outputs, i, control.first_tensor),
               Nth(run.outputs, i, run.first_tensor), false);
    }
  }

  // `kept`: the subgraph must not overwrite the tensor.
  void HandOver(const Control& control, const std::optional<std::size_t>& outer,
                const std::optional<std::size_t>& inner, bool kept) {
    if (!outer || !inner || !control.offsets[*outer] || !control.offsets[*inner]) return;
    const std::size_t from = BaseOf(*outer);
    const std::size_t to = BaseOf(*inner);
    Members& run = groups_[to];
    if (control.offsets[from] != control.offsets[to] || groups_[from].size != run.size ||
        sizes_.tensors[*outer].bytes != sizes_.tensors[*inner].bytes) {
      return;
    }
    // A subgraph that others run, too, has its tensors all that time.
    if (run.live.first < control.live.first || run.live.last > control.live.last) return;
    run.result |= kept;
    handed_over_.emplace_back(from, to);
  }

  // The steps of each group at which others stand for it, in increasing order.
  [[nodiscard]] std::vector<std::vector<Gap>> GapsOfGroups() {
    std::vector<std::vector<Gap>> gaps(groups_.size());
    for (const auto& [from, to] : handed_over_) {
      const Span& live = groups_[BaseOf(to)].live;
      gaps[BaseOf(from)].push_back({live.first + 1, live.last + 2});
    }
    for (std::vector<Gap>& list : gaps) list = Joined(std::move(list));
    return gaps;
  }

  void Fill(const Requests& requests, TflmArena& arena) {
    Step unused = timeline_.steps + 2;
    std::vector<std::vector<Gap>> gaps = GapsOfGroups();
    for (const std::size_t t : requests.tensors) {
      if (BaseOf(t) != t) continue;
      const Members& group = groups_[t];
      Buffer buffer;
      const std::size_t s = model_.SubgraphOf(t);
      std::string id = Printable(model_.TensorOf(t).name);
      if (id.empty()) id = "tensor_" + std::to_string(t - model_.subgraphs[s].first_tensor);
      buffer.id = names_.Take(s == 0 ? id : "subgraph " + std::to_string(s) + "/" + id);
      buffer.start = group.live.last < 0 ? unused : group.live.first + 1;
      buffer.end = group.live.last < 0 ? unused + 1 : group.live.last + 2;
      if (group.live.last < 0) ++unused;
      buffer.size = group.size;
      buffer.alignment = kArenaAlignment;
      buffer.gaps = std::move(gaps[t]);
      arena.problem.buffers.push_back(std::move(buffer));
      arena.offsets.push_back(*arena.tensor_offsets[t]);
    }
  }

  void FillScratch(const Requests& requests, const std::vector<Bytes>& offsets, TflmArena& arena) {
    for (std::size_t k = 0; k < requests.scratch.size(); ++k) {
      const std::size_t i = requests.tensors.size() + k;
      const Scratch& each = requests.scratch[k];
      const Request& request = requests.list[i];
      Buffer buffer;
      buffer.id =
          names_.Take("scratch of " + model_.subgraphs[each.subgraph].operators[each.op].Type() +
                      "_" + std::to_string(each.op));
      buffer.start = request.live.first + 1;
      buffer.end = request.live.last + 2;
      buffer.size = request.size;
      buffer.alignment = kArenaAlignment;
      arena.problem.buffers.push_back(std::move(buffer));
      arena.offsets.push_back(offsets[i]);
    }
  }

  const ModelEntry& model_;
  const Timeline& timeline_;
  const Sizes& sizes_;
  const std::vector<Scratch>& scratch_;
  const OffsetList& offline_;
  UniqueNames names_;
  std::vector<Members> groups_;                                   // By number of tensor.
  std::vector<std::pair<std::size_t, std::size_t>> handed_over_;  // From one group to another.
};

}  // namespace
}  // namespace internal::tflite

bool LooksLikeTflite(std::string_view bytes) {
  return bytes.size() >= 8 && bytes.substr(4, 4) == "TFL3";
}

Result<TfliteModel> ReadTflite(std::string_view bytes, std::string_view name,
                               const OnnxOptions& options) {
  using namespace internal::tflite;
  const ModelEntry model = BERTH_TRY(ReadModelEntry(bytes, name));
  const Timeline timeline = BERTH_TRY(TimelineOf(model, name));
  const Sizes sizes = BERTH_TRY(SizesOf(model, options, name));
  const std::vector<Scratch> scratch = BERTH_TRY(ScratchOf(model, name));
  Lowered lowered = BERTH_TRY(Lower(model, timeline, sizes, scratch, options, name));
  std::vector<std::string> notes = Notes(model, timeline, sizes, scratch, options, lowered).Run();
  return TfliteModel{std::move(lowered.graph), std::move(notes)};
}

Result<TflmArena> ReadTflmArena(std::string_view bytes, std::string_view name) {
  using namespace internal::tflite;
  const ModelEntry model = BERTH_TRY(ReadModelEntry(bytes, name));
  const Timeline timeline = BERTH_TRY(TimelineOf(model, name));
  const Sizes sizes = BERTH_TRY(SizesOf(model, {}, name));
  for (std::size_t t = 0; t < model.tensors; ++t) {
    if (!sizes.tensors[t].planned || sizes.tensors[t].unplanned.empty()) continue;
    return Fail(ErrorCode::kUnsupported, internal::Printable(name) + ": the size of " +
                                             model.Describe(t) +
                                             " is not known: " + sizes.tensors[t].unplanned);
  }
  const auto offline = BERTH_TRY(OfflineOffsets(model, name));
  const OffsetList none;
  const std::vector<Scratch> scratch = BERTH_TRY(ScratchOf(model, name));
  if (model.tensors + scratch.size() > kMostInArena) {
    return Fail(ErrorCode::kUnsupported,
                internal::Printable(name) + ": the interpreter's plan is computed for at most " +
                    internal::Grouped(kMostInArena) +
                    " tensors and requests of scratch memory; the model has " +
                    internal::Grouped(static_cast<std::int64_t>(model.tensors + scratch.size())));
  }
  TflmArena arena = ArenaBuilder(model, timeline, sizes, scratch, offline ? *offline : none).Run();
  arena.offline = offline.has_value();  // Also a plan without offsets, of a model without tensors.
  return arena;
}

}  // namespace berth
