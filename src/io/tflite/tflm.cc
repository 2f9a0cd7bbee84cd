#include "io/tflite/tflm.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/arithmetic.h"
#include "base/text.h"
#include "base/try.h"

namespace berth::internal::tflite {
namespace {

constexpr std::int64_t kMostSteps = std::int64_t{1} << 22;
constexpr std::size_t kMostUses = std::size_t{1} << 28;
constexpr std::size_t kDeepest = 64;
constexpr Bytes kMostBytes = Bytes{1} << 60;
constexpr std::size_t kMostNamed = 4;  // Of the dimensions that the file leaves open.

class Walk {
 public:
  explicit Walk(const ModelEntry& model) : model_(model) {
    line_.tensors.resize(model.tensors);
    line_.operators.resize(model.subgraphs.size());
    for (std::size_t s = 0; s < model.subgraphs.size(); ++s) {
      line_.operators[s].resize(model.subgraphs[s].operators.size());
    }
    line_.runs.resize(model.subgraphs[0].operators.size());
  }

  // The fault; empty if there is none.
  std::string Run() {
    Subgraph(0);
    line_.steps = now_ + 1;
    for (auto& runs : line_.runs) {
      std::sort(runs.begin(), runs.end());
      runs.erase(std::unique(runs.begin(), runs.end()), runs.end());
    }
    return fault_;
  }
  Timeline& line() { return line_; }

 private:
  void Subgraph(std::size_t s) {
    if (std::find(stack_.begin(), stack_.end(), s) != stack_.end()) {
      fault_ = "subgraph " + std::to_string(s) + " runs itself";
    } else if (stack_.size() == kDeepest) {
      fault_ = "subgraphs run each other more than " + std::to_string(kDeepest) + " deep";
    }
    if (!fault_.empty()) return;
    stack_.push_back(s);
    if (s != 0) line_.runs[main_].push_back(s);
    const SubgraphEntry& subgraph = model_.subgraphs[s];
    Span* const tensors = line_.tensors.data() + subgraph.first_tensor;
    const auto use = [&](const Integers& list) {
      Spend(list);
      for (std::size_t i = 0; i < list.size(); ++i) {
        if (list[i] >= 0) tensors[list[i]].Use(now_);
      }
    };
    use(subgraph.inputs);
    for (std::size_t i = 0; i < subgraph.operators.size() && fault_.empty(); ++i) {
      if (++now_ > kMostSteps) FailTooOften();
      const OperatorEntry& op = subgraph.operators[i];
      if (s == 0) main_ = i;
      line_.operators[s][i].Use(now_);
      use(op.outputs);
      for (const std::int32_t called : op.calls) {
        if (called == -1) continue;
        ++now_;
        Subgraph(static_cast<std::size_t>(called));
      }
      // Inputs that nothing makes do not begin: only their end is known.
      Spend(op.inputs);
      for (std::size_t k = 0; k < op.inputs.size(); ++k) {
        if (op.inputs[k] >= 0) tensors[op.inputs[k]].last = now_;
      }
      use(op.outputs);
      line_.operators[s][i].Use(now_);
    }
    use(subgraph.outputs);
    stack_.pop_back();
  }

  // A subgraph with long lists may run often.
  void Spend(const Integers& list) {
    uses_ += list.size();
    if (uses_ > kMostUses) FailTooOften();
  }
  void FailTooOften() {
    if (fault_.empty()) fault_ = "its subgraphs run each other too often";
  }

  const ModelEntry& model_;
  Timeline line_;
  std::int64_t now_ = 0;
  std::size_t uses_ = 0;  // Of tensors, so far.
  std::size_t main_ = 0;  // The operator of the first subgraph that is running.
  std::vector<std::size_t> stack_;
  std::string fault_;
};

// Sizes that the user gives to dimensions, each with whether the model has it.
class GivenDimensions {
 public:
  explicit GivenDimensions(const OnnxOptions& options) : other_(options.other_dimensions) {
    for (const OnnxDimension& dimension : options.dimensions) {
      sizes_[dimension.name] = {dimension.size, false};
    }
  }
  // Otherwise dimensions have the sizes that the file states.
  [[nodiscard]] bool any() const { return !sizes_.empty() || other_.has_value(); }
  // Whether some of the names begin like this.
  [[nodiscard]] bool Names(const std::string& prefix) const {
    const auto found = sizes_.lower_bound(prefix);
    return found != sizes_.end() && found->first.starts_with(prefix);
  }
  std::optional<std::int64_t> Find(const std::string& name) {
    const auto found = sizes_.find(name);
    if (found == sizes_.end()) return other_;
    found->second.second = true;
    return found->second.first;
  }
  // One that the model does not have.
  [[nodiscard]] const std::string* Unknown() const {
    for (const auto& [name, size] : sizes_) {
      if (!size.second) return &name;
    }
    return nullptr;
  }

 private:
  std::map<std::string, std::pair<std::int64_t, bool>> sizes_;
  std::optional<std::int64_t> other_;
};

}  // namespace

Result<Timeline> TimelineOf(const ModelEntry& model, std::string_view name) {
  Walk walk(model);
  const std::string fault = walk.Run();
  if (!fault.empty()) return Fail(ErrorCode::kParse, Printable(name) + ": " + fault);
  return std::move(walk.line());
}

Result<Sizes> SizesOf(const ModelEntry& model, const OnnxOptions& options, std::string_view name) {
  Sizes sizes;
  sizes.tensors.resize(model.tensors);
  GivenDimensions given(options);
  Bytes sum = 0;  // So that no sum of sizes overflows later.
  for (std::size_t number = 0; const SubgraphEntry& subgraph : model.subgraphs) {
    for (const TensorEntry& tensor : subgraph.tensors) {
      TensorSize& size = sizes.tensors[number];
      const std::string prefix = Printable(tensor.name) + "[";
      const auto type = FindElementType(tensor.type);
      if (!type || type->bytes == 0) {
        size.unplanned = type ? "a " + std::string(type->name) + " has no fixed size"
                              : "element type " + std::to_string(tensor.type) + " is not known";
      }
      std::optional<Bytes> bytes = options.element_bytes.value_or(type ? type->bytes : 1);
      for (std::size_t k = 0; k < tensor.shape.size(); ++k) {
        std::optional<std::int64_t> extent = tensor.shape[k];
        const bool open = *extent < 0 || (tensor.signature.size() == tensor.shape.size() &&
                                          tensor.signature[k] < 0 && !tensor.constant);
        if (open) {
          // Not for each of many dimensions of a tensor with a long name.
          const bool named = sizes.open++ < kMostNamed;
          std::string dimension;
          if (named || given.Names(prefix)) dimension = prefix + std::to_string(k) + "]";
          if (given.any() || *extent < 0) extent = given.Find(dimension);
          if (!extent && size.unplanned.empty()) {
            size.unplanned = "dimension " + std::to_string(k) + " is open";
          }
          if (named) sizes.open_names.push_back(std::move(dimension));
        }
        if (bytes) bytes = CheckedMul(*bytes, extent.value_or(1));
        if (bytes && *bytes > kMostBytes) bytes = std::nullopt;
      }
      sum = CheckedAdd(sum, bytes.value_or(kMostBytes) + kArenaAlignment).value_or(kMostBytes + 1);
      if (!bytes || sum > kMostBytes) {
        return Fail(ErrorCode::kParse, Printable(name) + ": " + model.Describe(number) + " has " +
                                           (bytes ? std::to_string(*bytes) : "more than 2^60") +
                                           " bytes; all tensors together may have 2^60");
      }
      const bool known = size.unplanned.empty();
      size.bytes = known ? *bytes : 0;
      size.planned = !tensor.constant && !tensor.variable && (!known || *bytes > 0);
      ++number;
    }
  }
  if (const std::string* unknown = given.Unknown()) {
    std::string open = sizes.open == 0 ? "it has none" : "open are ";
    for (const std::string& each : sizes.open_names) {
      open += (&each == sizes.open_names.data() ? "" : ", ") + each;
    }
    return Fail(ErrorCode::kInvalidOptions, Printable(name) + ": the model has no open dimension " +
                                                Quoted(*unknown) + "; " + open +
                                                (sizes.open > kMostNamed ? ", ..." : ""));
  }
  return sizes;
}

std::vector<Bytes> GreedyOffsets(const std::vector<Request>& requests) {
  // Offline requests in their order. The others are collected from the last to the first before
  // they are sorted, so of equal ones the later comes first.
  std::vector<std::size_t> order, online;
  order.reserve(requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i) {
    (requests[i].offset ? order : online).push_back(i);
  }
  std::reverse(online.begin(), online.end());
  std::stable_sort(online.begin(), online.end(), [&](std::size_t a, std::size_t b) {
    return requests[a].size > requests[b].size;
  });
  order.insert(order.end(), online.begin(), online.end());

  std::vector<Bytes> offsets(requests.size());
  std::vector<std::size_t> placed;  // By offset.
  placed.reserve(requests.size());
  for (const std::size_t i : order) {
    const Request& request = requests[i];
    Bytes offset = request.offset.value_or(0);
    if (!request.offset) {
      for (const std::size_t k : placed) {
        const Request& other = requests[k];
        if (other.live.first > request.live.last || request.live.first > other.live.last) continue;
        if (offsets[k] - offset >= request.size) break;
        offset = std::max(offset, offsets[k] + other.size);
      }
    }
    offsets[i] = offset;
    const auto above =
        std::upper_bound(placed.begin(), placed.end(), offset,
                         [&](Bytes bytes, std::size_t k) { return bytes < offsets[k]; });
    placed.insert(above, i);
  }
  return offsets;
}

Result<std::vector<Scratch>> ScratchOf(const ModelEntry& model, std::string_view name) {
  std::vector<Scratch> scratch;
  const BufferEntry* const metadata = model.MetadataOf(kScratch);
  if (metadata == nullptr) return scratch;
  const auto fail = [&](const std::string& what) {
    return Fail(ErrorCode::kParse, Printable(name) + ": " + std::string(kScratch) + " " + what);
  };
  const Integers numbers(metadata->data, metadata->data_at);
  if (metadata->data.size() % 12 != 4 || numbers[0] != 1) {
    return fail("is not a list of version 1: it has " + std::to_string(metadata->data.size()) +
                " bytes");
  }
  scratch.reserve(numbers.size() / 3);
  for (std::size_t i = 1; i < numbers.size(); i += 3) {
    const std::string where = "has operator " + std::to_string(numbers[i + 1]) + " of subgraph " +
                              std::to_string(numbers[i]);
    if (numbers[i] < 0 || numbers[i] >= std::ssize(model.subgraphs) || numbers[i + 1] < 0 ||
        numbers[i + 1] >=
            std::ssize(model.subgraphs[static_cast<std::size_t>(numbers[i])].operators)) {
      return fail(where + ", which the model does not");
    }
    if (numbers[i + 2] < 1)
      return fail(where + " with " + std::to_string(numbers[i + 2]) + " bytes");
    scratch.push_back({static_cast<std::size_t>(numbers[i]),
                       static_cast<std::size_t>(numbers[i + 1]),
                       RoundUp(Bytes{numbers[i + 2]}, kArenaAlignment)});
  }
  return scratch;
}

Requests RequestsOf(const Timeline& timeline, const Sizes& sizes,
                    const std::vector<Scratch>& scratch,
                    const std::vector<std::optional<Bytes>>& offline) {
  Requests requests;
  for (std::size_t t = 0; t < sizes.tensors.size(); ++t) {
    const TensorSize& size = sizes.tensors[t];
    if (!size.planned || !size.unplanned.empty()) continue;
    requests.list.push_back({RoundUp(size.bytes, kArenaAlignment), timeline.tensors[t],
                             offline.empty() ? std::nullopt : offline[t]});
    requests.tensors.push_back(t);
  }
  for (const Scratch& each : scratch) {
    const Span& live = timeline.operators[each.subgraph][each.op];
    if (live.last < 0) continue;
    requests.list.push_back({each.bytes, live});
    requests.scratch.push_back(each);
  }
  return requests;
}

std::vector<InPlace> InPlaceOf(const OperatorEntry& op, std::size_t first_tensor,
                               const Sizes& sizes) {
  std::vector<InPlace> pairs;
  const auto add = [&](std::size_t i, bool same) {
    if (i >= op.inputs.size() || i >= op.outputs.size() || op.inputs[i] < 0 || op.outputs[i] < 0) {
      return;
    }
    const std::size_t in = first_tensor + static_cast<std::size_t>(op.inputs[i]);
    const std::size_t out = first_tensor + static_cast<std::size_t>(op.outputs[i]);
    const TensorSize& a = sizes.tensors[in];
    const TensorSize& b = sizes.tensors[out];
    if (in == out || !a.planned || !b.planned || !a.unplanned.empty() || !b.unplanned.empty() ||
        a.bytes != b.bytes) {
      return;
    }
    pairs.push_back({in, out, same});
  };
  if (op.code == kReshape) add(0, true);
  // The update must not be what is updated.
  if (op.code == kDynamicUpdateSlice && op.inputs.size() > 1 && op.inputs[0] != op.inputs[1]) {
    add(0, false);
  }
  if (op.code == kWhile) {
    for (std::size_t i = 0; i < op.inputs.size(); ++i) add(i, false);
  }
  return pairs;
}

Result<std::optional<std::vector<std::optional<Bytes>>>> OfflineOffsets(const ModelEntry& model,
                                                                        std::string_view name) {
  const BufferEntry* const plan = model.OfflinePlan();
  if (plan == nullptr) return std::nullopt;
  const auto fail = [&](const std::string& what) {
    return Fail(ErrorCode::kInvalidPlan,
                Printable(name) + ": " + std::string(kOfflinePlan) + " " + what);
  };
  const Integers numbers(plan->data, plan->data_at);
  if (numbers.size() < 3) {
    return fail("has " + std::to_string(plan->data.size()) + " bytes, fewer than its header");
  }
  if (std::cmp_not_equal(numbers[2], model.tensors)) {
    return fail("is of " + std::to_string(numbers[2]) + " tensors, but the model has " +
                std::to_string(model.tensors));
  }
  if (numbers.size() < model.tensors + 3) {
    return fail("ends after " + std::to_string(numbers.size() - 3) + " of " +
                std::to_string(model.tensors) + " offsets");
  }
  std::vector<std::optional<Bytes>> offsets(model.tensors);
  for (std::size_t t = 0; t < model.tensors; ++t) {
    const std::int32_t offset = numbers[t + 3];
    if (offset < -1 && !model.TensorOf(t).constant) {
      return fail("has offset " + std::to_string(offset) + " for " + model.Describe(t));
    }
    if (offset >= 0) offsets[t] = offset;
  }
  // The interpreter looks up variables by their number within their subgraph.
  for (std::size_t s = 1; s < model.subgraphs.size(); ++s) {
    const SubgraphEntry& subgraph = model.subgraphs[s];
    for (std::size_t t = 0; t < subgraph.tensors.size(); ++t) {
      const std::size_t number = subgraph.first_tensor + t;
      if (subgraph.tensors[t].variable && !offsets[number] && offsets[t]) {
        return fail("gives " + model.Describe(t) +
                    " an offset, which an interpreter takes for that of " + model.Describe(number) +
                    ", a variable");
      }
    }
  }
  return offsets;
}

std::vector<Container> ContainersOf(const ModelEntry& model, const Sizes& sizes,
                                    const std::vector<std::optional<Bytes>>& offline) {
  constexpr std::size_t kScratchInput = 2;  // After the commands and the weights.
  std::map<std::size_t, std::vector<std::size_t>> found;
  if (offline.empty()) return {};
  for (const SubgraphEntry& subgraph : model.subgraphs) {
    for (const OperatorEntry& op : subgraph.operators) {
      if (op.code != kCustom || op.custom != "ethos-u" || op.inputs.size() <= kScratchInput ||
          op.inputs[kScratchInput] < 0) {
        continue;
      }
      const std::size_t scratch =
          subgraph.first_tensor + static_cast<std::size_t>(op.inputs[kScratchInput]);
      if (!sizes.tensors[scratch].planned || !offline[scratch]) continue;
      const Bytes end = *offline[scratch] + sizes.tensors[scratch].bytes;
      std::vector<std::size_t>& contains = found[scratch];
      for (const Integers& list : {op.inputs, op.outputs}) {
        for (std::size_t i = 0; i < list.size(); ++i) {
          if (list[i] < 0) continue;
          const std::size_t t = subgraph.first_tensor + static_cast<std::size_t>(list[i]);
          if (t != scratch && sizes.tensors[t].planned && offline[t] &&
              *offline[t] >= *offline[scratch] && *offline[t] + sizes.tensors[t].bytes <= end) {
            contains.push_back(t);
          }
        }
      }
    }
  }
  std::vector<Container> containers;
  std::vector<bool> contained(model.tensors);
  for (auto& [scratch, contains] : found) {
    // Each tensor is in one container, and no container in another.
    std::erase_if(contains, [&](std::size_t t) { return contained[t] || found.contains(t); });
    std::sort(contains.begin(), contains.end());
    contains.erase(std::unique(contains.begin(), contains.end()), contains.end());
    for (const std::size_t t : contains) contained[t] = true;
    containers.push_back({scratch, std::move(contains)});
  }
  return containers;
}

}  // namespace berth::internal::tflite
