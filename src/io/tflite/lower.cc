#include "io/tflite/lower.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <set>
#include <utility>

#include "base/arithmetic.h"
#include "base/check.h"
#include "base/disjoint_sets.h"
#include "base/text.h"
#include "base/try.h"
#include "base/unique_names.h"
#include "berth/budget.h"
#include "berth/place.h"

namespace berth::internal::tflite {
namespace {

// Of the search for the offsets within a subgraph, where greedy ones are not the best.
constexpr std::int64_t kBodyNodes = 20'000;

// Operators with an effect besides their outputs, which must keep their order.
bool HasEffects(const OperatorEntry& op) {
  switch (op.code) {
    case kCustom:
    case kCall:
    case kIf:
    case kWhile:
    case kCallOnce:
    case kHashtable:
    case kHashtableFind:
    case kHashtableImport:
    case kHashtableSize:
    case kVarHandle:
    case kReadVariable:
    case kAssignVariable:
    case kRandomNormal:
    case kRandomUniform:
    case kMultinomial:
      return true;
    default:
      return false;
  }
}
// This one can end a run early: what comes after it must not come before it, nor the reverse.
bool IsBarrier(const OperatorEntry& op) {
  return op.code == kCustom && op.custom == "CIRCULAR_BUFFER";
}

class Lowering {
 public:
  Lowering(const ModelEntry& model, const Timeline& timeline, const Sizes& sizes,
           const std::vector<Scratch>& scratch, const OnnxOptions& options)
      : model_(model),
        main_(model.subgraphs[0]),
        time_(timeline),
        sizes_(sizes),
        scratch_(scratch),
        options_(options),
        maker_(main_.tensors.size(), kNone),
        last_user_(main_.tensors.size()),
        block_of_(model.subgraphs.size(), kNone) {
    out_.spots.resize(model.tensors);
  }

  // The fault; empty if there is none.
  std::string Run() {
    FindMakers();
    if (!fault_.empty()) return fault_;
    FindContainers();
    AddInputs();
    for (std::size_t i = 0; i < main_.operators.size() && fault_.empty(); ++i) AddOperator(i);
    if (!fault_.empty()) return fault_;
    for (std::size_t i = 0; i < main_.outputs.size(); ++i) {
      const TensorIndex index = TensorOf(static_cast<std::size_t>(main_.outputs[i]));
      out_.graph.tensors[index].output = true;
    }
    return "";
  }
  Lowered& out() { return out_; }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  [[nodiscard]] bool Planned(std::size_t t) const { return sizes_.tensors[t].planned; }

  void FindMakers() {
    std::vector<bool> input(main_.tensors.size());
    for (std::size_t i = 0; i < main_.inputs.size(); ++i) {
      input[static_cast<std::size_t>(main_.inputs[i])] = true;
    }
    for (std::size_t i = 0; i < main_.operators.size(); ++i) {
      const Integers& outputs = main_.operators[i].outputs;
      for (std::size_t k = 0; k < outputs.size(); ++k) {
        if (outputs[k] < 0) continue;
        const auto t = static_cast<std::size_t>(outputs[k]);
        if (main_.tensors[t].constant || main_.tensors[t].variable) continue;
        if (maker_[t] != kNone || input[t]) {
          fault_ = model_.Describe(t) + " is made twice, at last by " + NameOf(i);
          return;
        }
        maker_[t] = i;
      }
    }
    for (std::size_t i = 0; i < main_.operators.size(); ++i) {
      const Integers& inputs = main_.operators[i].inputs;
      for (std::size_t k = 0; k < inputs.size(); ++k) {
        if (inputs[k] < 0) continue;
        const std::size_t maker = maker_[static_cast<std::size_t>(inputs[k])];
        if (maker == kNone || maker < i) continue;
        fault_ = NameOf(i) + " reads " + model_.Describe(static_cast<std::size_t>(inputs[k])) +
                 " before " + NameOf(maker) + " makes it";
        return;
      }
    }
  }

  [[nodiscard]] std::string NameOf(std::size_t i) const {
    return "operator " + std::to_string(i) + " (" + main_.operators[i].Type() + ")";
  }

  void FindContainers() {
    const auto offline = OfflineOffsets(model_, "");
    if (!offline || !*offline) return;
    out_.containers = ContainersOf(model_, sizes_, **offline);
    // In later subgraphs nothing is kept: their offsets are searched for anew.
    std::erase_if(out_.containers,
                  [&](const Container& c) { return c.tensor >= main_.tensors.size(); });
    container_of_.assign(main_.tensors.size(), kNone);
    for (const Container& container : out_.containers) {
      container_of_[container.tensor] = container.tensor;
      for (const std::size_t t : container.contains) {
        container_of_[t] = container.tensor;
        out_.spots[t] = Spot{0, *(**offline)[t] - *(**offline)[container.tensor]};
      }
    }
  }
  [[nodiscard]] bool InContainer(std::size_t t) const {
    return !container_of_.empty() && container_of_[t] != kNone;
  }

  // What exists before the first operator: the inputs, and tensors that nothing makes.
  void AddInputs() {
    Operator op;
    op.name = operator_names_.Take("INPUT");
    op.type = "INPUT";
    std::set<std::size_t> early;
    const auto add = [&](const Integers& list) {
      for (std::size_t i = 0; i < list.size(); ++i) {
        if (list[i] < 0) continue;
        const auto t = static_cast<std::size_t>(list[i]);
        if (Planned(t) && maker_[t] == kNone && early.insert(t).second) {
          op.outputs.push_back(TensorOf(t));
        }
      }
    };
    // Containers first: what is in them is a view.
    for (const Container& container : out_.containers) {
      early.insert(container.tensor);
      op.outputs.push_back(TensorOf(container.tensor));
    }
    add(main_.inputs);
    for (const OperatorEntry& entry : main_.operators) add(entry.inputs);
    add(main_.outputs);
    if (op.outputs.empty()) return;
    out_.first_operator = 1;
    out_.graph.operators.push_back(std::move(op));
  }

  void AddOperator(std::size_t i) {
    const OperatorEntry& entry = main_.operators[i];
    const OperatorIndex v = i + out_.first_operator;
    Operator op;
    op.type = entry.Type();
    op.name = operator_names_.Take(op.type + "_" + std::to_string(i));
    bool waits = false;  // For an operator that makes something, and so for the inputs.
    for (std::size_t k = 0; k < entry.inputs.size(); ++k) {
      if (entry.inputs[k] < 0) continue;
      const auto t = static_cast<std::size_t>(entry.inputs[k]);
      waits |= Planned(t);
      const TensorIndex index = TensorOf(t);
      if (index >= last_reader_.size()) last_reader_.resize(index + 1, kNone);
      if (std::exchange(last_reader_[index], v) != v) op.inputs.push_back(index);
      KeepOrder(t, v, op);
    }
    const std::vector<InPlace> in_place = InPlaceOf(entry, 0, sizes_);
    for (std::size_t k = 0; k < entry.outputs.size(); ++k) {
      if (entry.outputs[k] < 0) continue;
      const auto t = static_cast<std::size_t>(entry.outputs[k]);
      KeepOrder(t, v, op);
      if (maker_[t] != i) continue;  // A variable, for example.
      op.outputs.push_back(TensorOf(t));
      if (InContainer(t)) op.inputs.push_back(TensorOf(container_of_[t]));
    }
    for (const InPlace& pair : in_place) AddInPlace(pair, op);
    AddBlock(i, op);
    AddScratch(i, op);
    if (HasEffects(entry)) {
      if (last_effect_) op.after.push_back(*last_effect_);
      last_effect_ = v;
    }
    if (IsBarrier(entry)) {
      for (OperatorIndex u = barrier_.value_or(0); u < v; ++u) op.after.push_back(u);
      barrier_ = v;
    } else if (barrier_) {
      op.after.push_back(*barrier_);
    }
    // What a container contains may overlap in ways that depend on the order.
    if (!out_.containers.empty() && v > 0) op.after.push_back(v - 1);
    if (!waits && out_.first_operator == 1) op.after.push_back(0);
    std::sort(op.after.begin(), op.after.end());
    op.after.erase(std::unique(op.after.begin(), op.after.end()), op.after.end());
    out_.graph.operators.push_back(std::move(op));
  }

  // The users of a variable may write it.
  void KeepOrder(std::size_t t, OperatorIndex v, Operator& op) {
    if (!main_.tensors[t].variable) return;
    if (last_user_[t] && *last_user_[t] != v) op.after.push_back(*last_user_[t]);
    last_user_[t] = v;
  }

  void AddInPlace(const InPlace& pair, Operator& op) {
    if (InContainer(pair.input) || InContainer(pair.output) || maker_[pair.output] == kNone) return;
    const TensorIndex in = TensorOf(pair.input);
    const TensorIndex out = TensorOf(pair.output);
    if (out_.graph.tensors[out].alias_of) return;
    if (pair.same) {
      out_.graph.tensors[out].alias_of = BaseOf(out_.graph, in);
    } else {
      op.may_overwrite.push_back({in, out});
    }
  }

  // All requests of main operator `i` together.
  void AddScratch(std::size_t i, Operator& op) {
    if (scratch_bytes_.empty()) {
      scratch_bytes_.resize(main_.operators.size());
      for (const Scratch& each : scratch_) {
        if (each.subgraph == 0) scratch_bytes_[each.op] += each.bytes;
      }
    }
    if (scratch_bytes_[i] == 0) return;
    Tensor tensor;
    tensor.name = names_.Take(op.name + " (scratch)");
    tensor.bytes = scratch_bytes_[i];
    op.outputs.push_back(out_.graph.tensors.size());
    out_.graph.tensors.push_back(std::move(tensor));
  }

  // The tensors of the subgraphs that main operator `i` runs.
  void AddBlock(std::size_t i, Operator& op) {
    const std::vector<std::size_t>& runs = time_.runs[i];
    if (runs.empty()) return;
    if (block_of_[runs[0]] == kNone) MakeBlocks();
    const std::size_t block = block_of_[runs[0]];
    if (!blocks_[block]) return;
    const TensorIndex index = *blocks_[block];
    (made_blocks_[block] ? op.inputs : op.outputs).push_back(index);
    made_blocks_[block] = true;
  }

  // Subgraphs that one operator runs are in one block.
  void MakeBlocks() {
    DisjointSets together(model_.subgraphs.size());
    for (const auto& runs : time_.runs) {
      for (const std::size_t s : runs) together.Join(s, runs[0]);
    }
    std::vector<std::vector<std::size_t>> members(model_.subgraphs.size());
    for (std::size_t s = 1; s < members.size(); ++s) {
      members[together.Find(s)].push_back(s);
    }
    scratch_of_.resize(model_.subgraphs.size());
    for (std::size_t k = 0; k < scratch_.size(); ++k)
      scratch_of_[scratch_[k].subgraph].push_back(k);
    for (std::size_t i = 0; i < time_.runs.size(); ++i) {
      if (time_.runs[i].empty() || block_of_[time_.runs[i][0]] != kNone) continue;
      const auto& block = members[together.Find(time_.runs[i][0])];
      for (const std::size_t s : block) block_of_[s] = blocks_.size();
      blocks_.push_back(MakeBlock(i, block));
    }
    made_blocks_.resize(blocks_.size());
  }

  // One tensor for all tensors of these subgraphs; none if they need no memory.
  std::optional<TensorIndex> MakeBlock(std::size_t i, const std::vector<std::size_t>& subgraphs) {
    Tensor tensor;
    tensor.alignment = options_.alignment;
    buffer_of_.resize(model_.tensors, kNone);
    std::vector<std::size_t> numbers;  // Of the tensors that have a buffer.
    Problem problem;
    for (const std::size_t s : subgraphs) {
      const std::size_t first = model_.subgraphs[s].first_tensor;
      for (std::size_t t = first; t < first + model_.subgraphs[s].tensors.size(); ++t) {
        const TensorSize& size = sizes_.tensors[t];
        const Span& live = time_.tensors[t];
        if (!size.planned || live.last < 0) continue;
        if (!size.unplanned.empty()) {
          tensor.unplanned = size.unplanned;
          continue;
        }
        buffer_of_[t] = problem.buffers.size();
        numbers.push_back(t);
        Buffer buffer;
        buffer.id = std::to_string(t);
        // A tensor that nothing makes is live as soon as the operator runs.
        buffer.start = live.first < 0 ? time_.operators[0][i].first : live.first;
        buffer.end = live.last + 1;
        buffer.size = RoundUp(size.bytes, options_.alignment);
        buffer.alignment = options_.alignment;
        problem.buffers.push_back(std::move(buffer));
      }
    }
    std::vector<Buffer> scratch = ScratchBuffers(subgraphs);
    if (numbers.empty() && scratch.empty() && tensor.unplanned.empty()) return std::nullopt;
    tensor.name = names_.Take(main_.operators[i].Type() + "_" + std::to_string(i) + " (subgraphs)");
    const TensorIndex index = out_.graph.tensors.size();
    if (tensor.unplanned.empty()) {
      MergeViews(subgraphs, numbers, problem);
      std::move(scratch.begin(), scratch.end(), std::back_inserter(problem.buffers));
      Budget budget;
      budget.SetNodeLimit(kBodyNodes);
      const Result<PlanAnswer> answer = Place(problem, {}, budget);
      if (!answer) {  // Their sum may be too large.
        fault_ = answer.error().message;
        return std::nullopt;
      }
      BERTH_CHECK(answer->best.has_value());
      tensor.bytes = answer->best->height();
      const std::vector<Bytes> offsets = PlacementOf(*answer->best).offsets;
      for (const std::size_t t : numbers) out_.spots[t] = Spot{index, offsets[buffer_of_[t]]};
    }
    out_.graph.tensors.push_back(std::move(tensor));
    return index;
  }

  // What the operators of these subgraphs request.
  [[nodiscard]] std::vector<Buffer> ScratchBuffers(
      const std::vector<std::size_t>& subgraphs) const {
    std::vector<std::size_t> requests;
    for (const std::size_t s : subgraphs) {
      requests.insert(requests.end(), scratch_of_[s].begin(), scratch_of_[s].end());
    }
    std::sort(requests.begin(), requests.end());
    std::vector<Buffer> buffers;
    for (const std::size_t request : requests) {
      const Scratch& each = scratch_[request];
      const Span& live = time_.operators[each.subgraph][each.op];
      if (live.last < 0) continue;
      Buffer buffer;
      buffer.id = "scratch " + std::to_string(buffers.size());
      buffer.start = live.first;
      buffer.end = live.last + 1;
      buffer.size = RoundUp(each.bytes, options_.alignment);
      buffer.alignment = options_.alignment;
      buffers.push_back(std::move(buffer));
    }
    return buffers;
  }

  // Results of operators that copy nothing lie where their inputs do.
  void MergeViews(const std::vector<std::size_t>& subgraphs,
                  const std::vector<std::size_t>& numbers, Problem& problem) {
    std::vector<std::size_t> base(problem.buffers.size());
    std::iota(base.begin(), base.end(), std::size_t{0});
    const auto base_of = [&](std::size_t b) {
      while (base[b] != b) b = base[b] = base[base[b]];
      return b;
    };
    for (const std::size_t s : subgraphs) {
      const SubgraphEntry& subgraph = model_.subgraphs[s];
      for (const OperatorEntry& op : subgraph.operators) {
        for (const InPlace& pair : InPlaceOf(op, subgraph.first_tensor, sizes_)) {
          const std::size_t a = buffer_of_[pair.input];
          const std::size_t b = buffer_of_[pair.output];
          if (!pair.same || a == kNone || b == kNone || base_of(a) == base_of(b)) continue;
          Buffer& into = problem.buffers[base_of(a)];
          const Buffer& from = problem.buffers[base_of(b)];
          into.start = std::min(into.start, from.start);
          into.end = std::max(into.end, from.end);
          base[base_of(b)] = base_of(a);
        }
      }
    }
    std::vector<std::size_t> kept(base.size());
    std::vector<Buffer> buffers;
    buffers.reserve(base.size());
    for (std::size_t b = 0; b < base.size(); ++b) {
      kept[b] = buffers.size();
      if (base[b] == b) buffers.push_back(std::move(problem.buffers[b]));
    }
    problem.buffers = std::move(buffers);
    for (const std::size_t t : numbers) buffer_of_[t] = kept[base_of(buffer_of_[t])];
  }

  // Of tensor `t` of the first subgraph.
  TensorIndex TensorOf(std::size_t t) {
    if (indices_.empty()) indices_.resize(main_.tensors.size(), kNone);
    if (indices_[t] != kNone) return indices_[t];
    const TensorEntry& entry = main_.tensors[t];
    const TensorSize& size = sizes_.tensors[t];
    Tensor tensor;
    tensor.name =
        names_.Take(entry.name.empty() ? "tensor_" + std::to_string(t) : Printable(entry.name));
    tensor.bytes = size.bytes;
    if (const auto type = FindElementType(entry.type)) {
      tensor.dtype = std::string(type->name);
      tensor.alignment = std::max(1, options_.element_bytes.value_or(type->bytes));
    }
    for (std::size_t k = 0; k < entry.shape.size(); ++k) {
      tensor.shape += (k == 0 ? "" : "x") + std::to_string(entry.shape[k]);
    }
    if (entry.constant || entry.variable) {
      tensor.kind = TensorKind::kParameter;
    } else {
      tensor.unplanned = size.unplanned;
      if (maker_[t] == kNone && !size.planned) tensor.kind = TensorKind::kConstant;  // Empty.
      if (InContainer(t) && container_of_[t] != t) {
        tensor.alias_of = TensorOf(container_of_[t]);
      }
    }
    indices_[t] = out_.graph.tensors.size();
    const Bytes within = out_.spots[t] ? out_.spots[t]->offset : 0;
    if (size.planned) out_.spots[t] = Spot{indices_[t], within};
    out_.graph.tensors.push_back(std::move(tensor));
    return indices_[t];
  }

  const ModelEntry& model_;
  const SubgraphEntry& main_;
  const Timeline& time_;
  const Sizes& sizes_;
  const std::vector<Scratch>& scratch_;
  const OnnxOptions& options_;
  Lowered out_;
  std::string fault_;
  UniqueNames names_, operator_names_;
  std::vector<std::size_t> indices_;                     // Of the graph's tensors.
  std::vector<OperatorIndex> last_reader_;               // Of the graph's tensors, so far.
  std::vector<std::size_t> maker_;                       // Of each tensor, an operator of the file.
  std::vector<std::size_t> container_of_;                // Empty if there is none.
  std::vector<std::optional<OperatorIndex>> last_user_;  // Of variables.
  std::optional<OperatorIndex> last_effect_, barrier_;
  std::vector<Bytes> scratch_bytes_;                  // By main operator.
  std::vector<std::vector<std::size_t>> scratch_of_;  // By subgraph, indices of `scratch_`.
  std::vector<std::size_t> buffer_of_;                // Of the problem of a block.
  std::vector<std::size_t> block_of_;                 // By subgraph, an index into:
  std::vector<std::optional<TensorIndex>> blocks_;
  std::vector<bool> made_blocks_;
};

}  // namespace

Result<Lowered> Lower(const ModelEntry& model, const Timeline& timeline, const Sizes& sizes,
                      const std::vector<Scratch>& scratch, const OnnxOptions& options,
                      std::string_view name) {
  Lowering lowering(model, timeline, sizes, scratch, options);
  const std::string fault = lowering.Run();
  if (!fault.empty()) return Fail(ErrorCode::kParse, Printable(name) + ": " + fault);
  Lowered lowered = std::move(lowering.out());
  lowered.graph.name = Printable(model.subgraphs[0].name);
  lowered.graph = Aligned(std::move(lowered.graph), options.alignment);
  if (auto valid = Validate(lowered.graph); !valid) {
    Error error = valid.error();
    error.message = Printable(name) + ": " + error.message;
    return tl::unexpected(std::move(error));
  }
  return lowered;
}

}  // namespace berth::internal::tflite
