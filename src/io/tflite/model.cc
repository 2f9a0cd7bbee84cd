#include "io/tflite/model.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace berth::internal::tflite {
namespace {

// Ids of fields, by table.
namespace model_field {
constexpr std::size_t kOperatorCodes = 1, kSubgraphs = 2, kBuffers = 4, kMetadata = 6;
}
namespace subgraph_field {
constexpr std::size_t kTensors = 0, kInputs = 1, kOutputs = 2, kOperators = 3, kName = 4;
}
namespace tensor_field {
constexpr std::size_t kShape = 0, kType = 1, kBuffer = 2, kName = 3, kVariable = 5, kSignature = 7,
                      kExternal = 10;
}
namespace operator_field {
constexpr std::size_t kOpcode = 0, kInputs = 1, kOutputs = 2, kOptions = 4, kIntermediates = 8;
}

// What a file may refer to, counted each time, is limited to this multiple of its size, and more for
// small files. Converters share little; a shared name or shape is counted with each tensor.
constexpr std::size_t kMostExpansion = 16;
constexpr std::size_t kAlwaysAllowed = std::size_t{1} << 16;
constexpr std::size_t kBytesOfTable = 32;

class ModelReader {
 public:
  explicit ModelReader(std::string_view bytes)
      : flat_(bytes), allowance_(kAlwaysAllowed + kMostExpansion * bytes.size()) {}

  // The fault; empty if there is none.
  std::string Run(ModelEntry& model) {
    model.root = flat_.Root();
    Buffers(model);
    Metadata(model);
    const auto codes = flat_.Vector<std::uint32_t>(model.root, model_field::kOperatorCodes);
    for (std::size_t i = 0; Continue(codes, i); ++i) Code(flat_.Element(codes, i));
    const auto list = flat_.Vector<std::uint32_t>(model.root, model_field::kSubgraphs);
    for (std::size_t i = 0; Continue(list, i); ++i) {
      SubgraphEntry& subgraph = model.subgraphs.emplace_back();
      subgraph.first_tensor = model.tensors;
      Subgraph(flat_.Element(list, i), subgraph);
      model.tensors += subgraph.tensors.size();
    }
    if (flat_.failed()) return flat_.fault();
    if (model.subgraphs.empty()) return "it has no subgraph, and so no operators";
    return Check(model);
  }

 private:
  struct CodeEntry {
    std::int32_t code = 0;
    std::string_view custom;
  };

  // Whether element `i` is there and may be read.
  bool Continue(const FlatVector<std::uint32_t>& list, std::size_t i) {
    if (i >= list.size() || flat_.failed()) return false;
    Spend(list.at(), kBytesOfTable);
    return !flat_.failed();
  }
  void Spend(std::size_t at, std::size_t bytes) {
    if (bytes <= allowance_) {
      allowance_ -= bytes;
    } else {
      allowance_ = 0;
      flat_.FailAt(at, "the file refers to the same parts too often");
    }
  }

  void Buffers(ModelEntry& model) {
    const auto list = flat_.Vector<std::uint32_t>(model.root, model_field::kBuffers);
    for (std::size_t i = 0; Continue(list, i); ++i) {
      const FlatTable table = flat_.Element(list, i);
      const auto data = flat_.Vector<std::uint8_t>(table, 0);
      BufferEntry& buffer = model.buffers.emplace_back();
      buffer.data = data.bytes();
      buffer.data_at = data.at();
      buffer.at = table.at;
      // 0 and 1 mean that there is nothing elsewhere.
      const auto offset = flat_.Number<std::uint64_t>(table, 1);
      if (offset > 1 && flat_.Number<std::uint64_t>(table, 2) > 0) buffer.elsewhere = offset;
    }
  }

  void Metadata(ModelEntry& model) {
    const auto list = flat_.Vector<std::uint32_t>(model.root, model_field::kMetadata);
    for (std::size_t i = 0; Continue(list, i); ++i) {
      const FlatTable table = flat_.Element(list, i);
      const std::string_view name = flat_.Text(table, 0);
      const auto buffer = flat_.Number<std::uint32_t>(table, 1);
      if (buffer >= model.buffers.size()) {
        flat_.FailAt(table.at, "metadata " + Quoted(name) + " is in buffer " +
                                   std::to_string(buffer) + " of " +
                                   std::to_string(model.buffers.size()));
      }
      model.metadata.push_back({name, buffer, table.at});
    }
  }

  void Code(const FlatTable& table) {
    // NOLINTNEXTLINE(bugprone-signed-char-misuse): a small number of one byte.
    const std::int32_t old = flat_.Number<std::int8_t>(table, 0);
    codes_.push_back({std::max(old, flat_.Number<std::int32_t>(table, 3)), flat_.Text(table, 1)});
  }

  void Subgraph(const FlatTable& table, SubgraphEntry& subgraph) {
    subgraph.name = flat_.Text(table, subgraph_field::kName);
    subgraph.inputs = flat_.Vector<std::int32_t>(table, subgraph_field::kInputs);
    subgraph.outputs = flat_.Vector<std::int32_t>(table, subgraph_field::kOutputs);
    Spend(table.at, subgraph.inputs.bytes().size() + subgraph.outputs.bytes().size());
    const auto tensors = flat_.Vector<std::uint32_t>(table, subgraph_field::kTensors);
    for (std::size_t i = 0; Continue(tensors, i); ++i) {
      subgraph.tensors.push_back(Tensor(flat_.Element(tensors, i)));
    }
    subgraph.operator_list = flat_.Vector<std::uint32_t>(table, subgraph_field::kOperators);
    for (std::size_t i = 0; Continue(subgraph.operator_list, i); ++i) {
      subgraph.operators.push_back(Operator(flat_.Element(subgraph.operator_list, i)));
    }
  }

  TensorEntry Tensor(const FlatTable& table) {
    TensorEntry tensor;
    tensor.at = table.at;
    tensor.shape = flat_.Vector<std::int32_t>(table, tensor_field::kShape);
    // NOLINTNEXTLINE(bugprone-signed-char-misuse): the same.
    tensor.type = flat_.Number<std::int8_t>(table, tensor_field::kType);
    tensor.buffer = flat_.Number<std::uint32_t>(table, tensor_field::kBuffer);
    tensor.name = flat_.Text(table, tensor_field::kName);
    tensor.variable = flat_.Number<std::uint8_t>(table, tensor_field::kVariable) != 0;
    tensor.signature = flat_.Vector<std::int32_t>(table, tensor_field::kSignature);
    tensor.constant = flat_.Number<std::uint32_t>(table, tensor_field::kExternal) != 0;
    Spend(table.at,
          tensor.name.size() + tensor.shape.bytes().size() + tensor.signature.bytes().size());
    return tensor;
  }

  OperatorEntry Operator(const FlatTable& table) {
    OperatorEntry op;
    op.at = table.at;
    const auto code = flat_.Number<std::uint32_t>(table, operator_field::kOpcode);
    if (code >= codes_.size()) {
      flat_.FailAt(table.at, "an operator has code " + std::to_string(code) + " of " +
                                 std::to_string(codes_.size()));
      return op;
    }
    op.code = codes_[code].code;
    op.custom = codes_[code].custom;
    op.inputs = flat_.Vector<std::int32_t>(table, operator_field::kInputs);
    op.outputs = flat_.Vector<std::int32_t>(table, operator_field::kOutputs);
    op.intermediates = flat_.Vector<std::int32_t>(table, operator_field::kIntermediates);
    Spend(table.at, op.custom.size() + op.inputs.bytes().size() + op.outputs.bytes().size() +
                        op.intermediates.bytes().size());
    const int calls = op.code == kIf || op.code == kWhile ? 2 : op.code == kCallOnce ? 1 : 0;
    if (calls > 0) {
      const FlatTable options = flat_.Table(table, operator_field::kOptions);
      if (!options.exists()) {
        flat_.FailAt(table.at, op.Type() + " does not say which subgraphs it runs");
      }
      for (std::size_t i = 0; i < static_cast<std::size_t>(calls); ++i) {
        op.calls[i] = flat_.Number<std::int32_t>(options, i);
      }
    }
    return op;
  }

  // What needs all parts to be known.
  static std::string Check(ModelEntry& model) {
    for (SubgraphEntry& subgraph : model.subgraphs) {
      const auto s = static_cast<std::size_t>(&subgraph - model.subgraphs.data());
      const std::string where = s == 0 ? "" : "subgraph " + std::to_string(s) + ", ";
      for (TensorEntry& tensor : subgraph.tensors) {
        if (tensor.buffer >= model.buffers.size() && !(tensor.buffer == 0 && !tensor.constant)) {
          const auto t = static_cast<std::size_t>(&tensor - subgraph.tensors.data());
          return model.Describe(subgraph.first_tensor + t) + " is in buffer " +
                 std::to_string(tensor.buffer) + " of " + std::to_string(model.buffers.size());
        }
        if (tensor.buffer >= model.buffers.size()) continue;
        const BufferEntry& buffer = model.buffers[tensor.buffer];
        tensor.constant |= !buffer.data.empty() || buffer.elsewhere != 0;
      }
      const auto check_list = [&](const Integers& list, std::int32_t least,
                                  const std::string& what) -> std::string {
        for (std::size_t i = 0; i < list.size(); ++i) {
          if (list[i] >= least && list[i] < std::ssize(subgraph.tensors)) continue;
          return where + what + " is tensor " + std::to_string(list[i]) + " of " +
                 std::to_string(subgraph.tensors.size());
        }
        return "";
      };
      std::string fault = check_list(subgraph.inputs, 0, "an input");
      if (fault.empty()) fault = check_list(subgraph.outputs, 0, "an output");
      for (std::size_t i = 0; fault.empty() && i < subgraph.operators.size(); ++i) {
        const OperatorEntry& op = subgraph.operators[i];
        const std::string name = "operator " + std::to_string(i) + " (" + op.Type() + ")";
        fault = check_list(op.inputs, -1, "an input of " + name);
        if (fault.empty()) fault = check_list(op.outputs, -1, "an output of " + name);
        if (fault.empty()) fault = check_list(op.intermediates, -1, "an intermediate of " + name);
        for (const std::int32_t called : op.calls) {
          const bool none = called == -1 && (op.code != kIf && op.code != kWhile);
          if (!fault.empty() || none) continue;
          if (called < 0 || called >= std::ssize(model.subgraphs)) {
            fault = where + name + " runs subgraph " + std::to_string(called) + " of " +
                    std::to_string(model.subgraphs.size());
          }
        }
      }
      if (!fault.empty()) return fault;
    }
    return "";
  }

  FlatReader flat_;
  std::size_t allowance_;
  std::vector<CodeEntry> codes_;
};

}  // namespace

bool TensorEntry::SameAs(const TensorEntry& other) const {
  return name == other.name && type == other.type && buffer == other.buffer &&
         variable == other.variable && constant == other.constant && shape == other.shape &&
         signature == other.signature;
}

std::string OperatorEntry::Type() const {
  if (code == kCustom && !custom.empty()) return Printable(custom);
  const std::string_view name = NameOfBuiltin(code);
  return name.empty() ? "BUILTIN_" + std::to_string(code) : std::string(name);
}

bool OperatorEntry::SameAs(const OperatorEntry& other) const {
  return code == other.code && custom == other.custom && inputs == other.inputs &&
         outputs == other.outputs && intermediates == other.intermediates &&
         calls[0] == other.calls[0] && calls[1] == other.calls[1];
}

std::size_t ModelEntry::SubgraphOf(std::size_t number) const {
  const auto after = std::upper_bound(
      subgraphs.begin(), subgraphs.end(), number,
      [](std::size_t n, const SubgraphEntry& subgraph) { return n < subgraph.first_tensor; });
  return static_cast<std::size_t>(after - subgraphs.begin()) - 1;
}

const TensorEntry& ModelEntry::TensorOf(std::size_t number) const {
  const SubgraphEntry& subgraph = subgraphs[SubgraphOf(number)];
  return subgraph.tensors[number - subgraph.first_tensor];
}

std::string ModelEntry::Describe(std::size_t number) const {
  const std::size_t s = SubgraphOf(number);
  const std::size_t t = number - subgraphs[s].first_tensor;
  return (s == 0 ? "" : "subgraph " + std::to_string(s) + ", ") + "tensor " + std::to_string(t) +
         " (" + Quoted(subgraphs[s].tensors[t].name) + ")";
}

const BufferEntry* ModelEntry::MetadataOf(std::string_view metadata_name) const {
  const BufferEntry* found = nullptr;
  for (const MetadataEntry& entry : metadata) {
    if (entry.name == metadata_name) found = &buffers[entry.buffer];
  }
  return found;
}

bool ModelEntry::HasTensor(const BufferEntry& buffer) const {
  return std::any_of(subgraphs.begin(), subgraphs.end(), [&](const SubgraphEntry& subgraph) {
    return std::any_of(
        subgraph.tensors.begin(), subgraph.tensors.end(),
        [&](const TensorEntry& tensor) { return buffers.data() + tensor.buffer == &buffer; });
  });
}

Result<ModelEntry> ReadModelEntry(std::string_view bytes, std::string_view name) {
  ModelEntry model;
  std::string fault = bytes.size() < 8 || bytes.substr(4, 4) != "TFL3"
                          ? "not a TensorFlow Lite model: it does not have \"TFL3\" at byte 4"
                          : ModelReader(bytes).Run(model);
  if (!fault.empty()) {
    return Fail(ErrorCode::kParse, Printable(name) + ": " + fault);
  }
  return model;
}

}  // namespace berth::internal::tflite
