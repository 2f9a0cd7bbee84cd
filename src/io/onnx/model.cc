#include "io/onnx/model.h"

#include <limits>
#include <memory>
#include <utility>

#include "base/bit_cast.h"
#include "base/text.h"

namespace berth::internal::onnx {
namespace {

// Bytes of memory for the structure of a model. The largest published models have some 100,000
// operators and need a tenth of it.
constexpr std::size_t kAllowance = std::size_t{1} << 30;

// An entry of two bytes in the file becomes a whole struct in a growing vector; this is what each
// costs at most.
template <typename T>
constexpr std::size_t kCost = sizeof(T) + sizeof(T) / 2;

class MessageParser {
 public:
  explicit MessageParser(OnnxSource& source) : source_(source) {}

  [[nodiscard]] bool failed() const { return failure_.has_value(); }
  [[nodiscard]] Error TakeFailure() { return std::move(*failure_); }
  void FailAt(std::string_view at, std::string_view sentence) {
    if (!failure_) failure_ = source_.FailAt(at, sentence).value();
  }

  // Calls `take(entry)` with each entry of `message` until one fails.
  template <typename Take>
  void ForEach(std::string_view message, std::string_view what, const Take& take) {
    WireReader reader(message);
    while (!failed()) {
      const std::optional<WireEntry> entry = reader.Next();
      if (!entry) break;
      take(*entry);
    }
    if (reader.failed()) FailAt(reader.rest(), "damaged or cut off in " + std::string(what));
  }

  // Adds an element, or fails and returns null if that would take too much memory.
  template <typename T>
  T* Add(std::vector<T>& list, std::string_view at) {
    if (!source_.Charge(kCost<T>)) {
      FailAt(at, "the structure of this model needs more than 1 GiB of memory");
      return nullptr;
    }
    list.emplace_back();
    return &list.back();
  }

  std::string_view Text(const WireEntry& entry) {
    if (!entry.IsBytes()) WrongType(entry);
    return entry.bytes;
  }
  std::int64_t Number(const WireEntry& entry) {
    if (!entry.IsVarint()) WrongType(entry);
    return entry.Signed();
  }
  // An enumeration; a number out of range stands for none.
  std::int32_t Enumeration(const WireEntry& entry) {
    const std::int64_t number = Number(entry);
    return number < 0 || number > 1 << 16 ? -1 : static_cast<std::int32_t>(number);
  }
  // A message of which there may be one only. The wire format would merge several.
  void Single(const WireEntry& entry, std::string_view& message) {
    if (message.data() != nullptr) return FailAt(entry.whole, "a part comes twice");
    message = Text(entry);
  }
  void WrongType(const WireEntry& entry) {
    FailAt(entry.whole, "field " + std::to_string(entry.field) + " is of the wrong type");
  }

  void Strings(const WireEntry& entry, std::vector<std::string_view>& list) {
    if (std::string_view* text = Add(list, entry.whole)) *text = Text(entry);
  }

  void Dimensions(const WireEntry& entry, Dims& dims) {
    const bool valid = ForEachVarint(entry, [&](std::int64_t dim) {
      if (failed()) return;
      if (dim < 0 || dim > kMaxDim || dims.size() == kMaxRank) {
        return FailAt(entry.whole, dims.size() == kMaxRank
                                       ? "a tensor of more than 64 dimensions"
                                       : "a tensor dimension of " + std::to_string(dim));
      }
      dims.push_back(dim);
    });
    if (!valid) WrongType(entry);
  }

  void Tensor(std::string_view message, TensorMessage& tensor) {
    tensor.message = message;
    ForEach(message, "a tensor", [&](const WireEntry& entry) {
      switch (entry.field) {
        case 1:
          return Dimensions(entry, tensor.dims);
        case 2:
          tensor.element = Enumeration(entry);
          return;
        case 8:
          tensor.name = Text(entry);
          return;
        case 14:
          tensor.external = Number(entry) == 1;
          return;
        default:
          return;
      }
    });
  }

  void SparseTensor(std::string_view message, TensorMessage& tensor) {
    std::string_view values;
    Dims dims;
    ForEach(message, "a sparse tensor", [&](const WireEntry& entry) {
      if (entry.field == 1) return Single(entry, values);
      if (entry.field == 3) return Dimensions(entry, dims);
    });
    Tensor(values, tensor);
    tensor.dims = std::move(dims);
    tensor.message = {};
  }

  void OneAttribute(std::string_view message, Attribute& attribute) {
    ForEach(message, "an attribute", [&](const WireEntry& entry) {
      switch (entry.field) {
        case 1:
          attribute.name = Text(entry);
          return;
        case 2:
          if (entry.type != WireType::kFixed32) return WrongType(entry);
          attribute.real = BitCast<float>(static_cast<std::uint32_t>(entry.number));
          return;
        case 3:
          attribute.number = Number(entry);
          return;
        case 4:
        case 5:
        case 6:
        case 14:
        case 22:
          return Single(entry, attribute.bytes);
        case 7:
          return Floats(entry, attribute);
        case 8:
          return Ints(entry, attribute);
        case 9:
        case 10:
        case 11:
          return Strings(entry, attribute.list);
        case 20:
          attribute.type = static_cast<AttributeType>(Enumeration(entry));
          return;
        case 21:
          attribute.reference = Text(entry);
          return;
        default:
          return;
      }
    });
    if (attribute.type == AttributeType::kUndefined) GuessType(message, attribute);
  }

  void Node(const WireEntry& whole, NodeMessage& node) {
    node.whole = whole.whole;
    ForEach(Text(whole), "an operator", [&](const WireEntry& entry) {
      switch (entry.field) {
        case 1:
          return Strings(entry, node.inputs);
        case 2:
          return Strings(entry, node.outputs);
        case 3:
          node.name = Text(entry);
          return;
        case 4:
          node.type = Text(entry);
          return;
        case 5:
          if (Attribute* attribute = Add(node.attributes, entry.whole)) {
            OneAttribute(Text(entry), *attribute);
          }
          return;
        case 7:
          node.domain = Domain(Text(entry));
          return;
        case 8:
          node.overload = Text(entry);
          return;
        default:
          return;
      }
    });
  }

  void OneValue(std::string_view message, ValueMessage& value) {
    std::string_view type;
    ForEach(message, "a value", [&](const WireEntry& entry) {
      if (entry.field == 1) value.name = Text(entry);
      if (entry.field == 2) Single(entry, type);
    });
    ForEach(type, "a type", [&](const WireEntry& entry) {
      switch (entry.field) {
        case 1:
        case 8:
          value.kind = entry.field == 1 ? TypeKind::kTensor : TypeKind::kSparse;
          return TensorType(Text(entry), value);
        case 4:
          value.kind = TypeKind::kSequence;
          return;
        case 5:
          value.kind = TypeKind::kMap;
          return;
        case 9:
          value.kind = TypeKind::kOptional;
          return;
        default:
          return;
      }
    });
  }

  void Graph(std::string_view message, GraphMessage& graph) {
    ForEach(message, "a graph", [&](const WireEntry& entry) {
      switch (entry.field) {
        case 1:
          if (NodeMessage* node = Add(graph.nodes, entry.whole)) Node(entry, *node);
          return;
        case 2:
          graph.name = Text(entry);
          return;
        case 5:
          if (TensorMessage* tensor = Add(graph.weights, entry.whole)) {
            Tensor(Text(entry), *tensor);
          }
          return;
        case 11:
          return Value(entry, graph.inputs);
        case 12:
          return Value(entry, graph.outputs);
        case 13:
          return Value(entry, graph.values);
        case 15:
          if (TensorMessage* tensor = Add(graph.weights, entry.whole)) {
            SparseTensor(Text(entry), *tensor);
          }
          return;
        default:
          return;
      }
    });
  }

  void Opset(const WireEntry& whole, std::vector<OpsetMessage>& opsets) {
    OpsetMessage* opset = Add(opsets, whole.whole);
    if (opset == nullptr) return;
    ForEach(Text(whole), "an operator set", [&](const WireEntry& entry) {
      if (entry.field == 1) opset->domain = Domain(Text(entry));
      if (entry.field == 2) opset->version = Number(entry);
    });
  }

  void Function(std::string_view message, FunctionMessage& function) {
    ForEach(message, "a function", [&](const WireEntry& entry) {
      switch (entry.field) {
        case 1:
          function.name = Text(entry);
          return;
        case 4:
          return Strings(entry, function.inputs);
        case 5:
          return Strings(entry, function.outputs);
        case 6:
          return Strings(entry, function.attributes);
        case 7:
          if (NodeMessage* node = Add(function.body.nodes, entry.whole)) Node(entry, *node);
          return;
        case 9:
          return Opset(entry, function.opsets);
        case 10:
          function.domain = Domain(Text(entry));
          return;
        case 11:
          if (Attribute* attribute = Add(function.defaults, entry.whole)) {
            OneAttribute(Text(entry), *attribute);
          }
          return;
        case 12:
          return Value(entry, function.body.values);
        case 13:
          function.overload = Text(entry);
          return;
        default:
          return;
      }
    });
  }

  void Model(std::string_view message, ModelMessage& model) {
    ForEach(message, "the model", [&](const WireEntry& entry) {
      switch (entry.field) {
        case 1:
          model.ir_version = Number(entry);
          return;
        case 7:
          return Single(entry, model.graph);
        case 8:
          return Opset(entry, model.opsets);
        case 20:
          ++model.training_graphs;
          return;
        case 25:
          if (FunctionMessage* function = Add(model.functions, entry.whole)) {
            Function(Text(entry), *function);
          }
          return;
        default:
          return;
      }
    });
  }

  static std::string_view Domain(std::string_view domain) {
    return domain == "ai.onnx" ? std::string_view() : domain;
  }

 private:
  void Value(const WireEntry& entry, std::vector<ValueMessage>& values) {
    if (ValueMessage* value = Add(values, entry.whole)) OneValue(Text(entry), *value);
  }

  void TensorType(std::string_view message, ValueMessage& value) {
    std::string_view shape;
    ForEach(message, "a tensor type", [&](const WireEntry& entry) {
      if (entry.field == 1) value.element = Enumeration(entry);
      if (entry.field == 2) Single(entry, shape);
    });
    value.shape.has_rank = shape.data() != nullptr;
    ForEach(shape, "a shape", [&](const WireEntry& entry) {
      if (entry.field != 1) return;
      if (value.shape.rank() == kMaxRank) {
        return FailAt(entry.whole, "a tensor of more than 64 dimensions");
      }
      std::int64_t size = kUnknownDim;
      std::string_view name;
      ForEach(Text(entry), "a dimension", [&](const WireEntry& part) {
        // Exporters write -1 for what they do not know.
        if (part.field == 1) size = Number(part) < 0 ? kUnknownDim : Number(part);
        if (part.field == 2) name = Text(part);
      });
      if (size > kMaxDim) return FailAt(entry.whole, "a dimension of " + std::to_string(size));
      value.shape.dims.push_back(size);
      if (!name.empty() && size < 0) {
        value.names.resize(value.shape.rank());
        value.names.back() = name;
      }
    });
    if (!value.names.empty()) value.names.resize(value.shape.rank());
  }

  void Floats(const WireEntry& entry, Attribute& attribute) {
    if (entry.type == WireType::kFixed32) {
      Keep(entry, attribute, attribute.reals,
           BitCast<float>(static_cast<std::uint32_t>(entry.number)));
      return;
    }
    if (!entry.IsBytes() || entry.bytes.size() % 4 != 0) return WrongType(entry);
    const std::size_t count = entry.bytes.size() / 4;
    if (attribute.count + count > kMaxKeptNumbers) {
      attribute.count += count;
      attribute.reals.clear();
      return;
    }
    for (std::size_t i = 0; i < count && !failed(); ++i) {
      Keep(entry, attribute, attribute.reals,
           BitCast<float>(static_cast<std::uint32_t>(LittleEndian(entry.bytes.substr(4 * i, 4)))));
    }
  }
  void Ints(const WireEntry& entry, Attribute& attribute) {
    const bool valid = ForEachVarint(entry, [&](std::int64_t number) {
      if (!failed()) Keep(entry, attribute, attribute.numbers, number);
    });
    if (!valid) WrongType(entry);
  }
  template <typename T>
  void Keep(const WireEntry& entry, Attribute& attribute, std::vector<T>& list, T number) {
    if (++attribute.count > kMaxKeptNumbers) {
      list.clear();
    } else if (T* place = Add(list, entry.whole)) {
      *place = number;
    }
  }

  // Files of IR version 1 do not say what an attribute is; it is what it holds.
  void GuessType(std::string_view message, Attribute& attribute) {
    ForEach(message, "an attribute", [&](const WireEntry& entry) {
      switch (entry.field) {
        case 2:
          attribute.type = AttributeType::kFloat;
          return;
        case 3:
          attribute.type = AttributeType::kInt;
          return;
        case 4:
          attribute.type = AttributeType::kString;
          return;
        case 5:
          attribute.type = AttributeType::kTensor;
          return;
        case 6:
          attribute.type = AttributeType::kGraph;
          return;
        case 7:
          attribute.type = AttributeType::kFloats;
          return;
        case 8:
          attribute.type = AttributeType::kInts;
          return;
        case 9:
          attribute.type = AttributeType::kStrings;
          return;
        case 11:
          attribute.type = AttributeType::kGraphs;
          return;
        default:
          return;
      }
    });
  }

  OnnxSource& source_;
  std::optional<Error> failure_;
};

template <typename Message, typename Parse>
Result<Message> Parsed(OnnxSource& source, const Parse& parse) {
  MessageParser parser(source);
  Message message;
  parse(parser, message);
  if (parser.failed()) return tl::unexpected<Error>(parser.TakeFailure());
  return message;
}

bool IsSignedInteger(std::int32_t type) {
  return type == kInt8 || type == kInt16 || type == kInt32 || type == kInt64;
}

// `bits` of a two's complement or unsigned number.
std::int64_t Widen(std::uint64_t bits, int width, bool is_signed) {
  if (width == 64) return static_cast<std::int64_t>(bits);
  const std::uint64_t mask = (std::uint64_t{1} << width) - 1;
  bits &= mask;
  if (is_signed && (bits >> (width - 1)) != 0) bits |= ~mask;
  return static_cast<std::int64_t>(bits);
}

}  // namespace

OnnxSource::OnnxSource(std::string_view bytes, std::string_view name)
    : bytes_(bytes), name_(Printable(name)), allowance_(kAllowance) {}

tl::unexpected<Error> OnnxSource::Fail(std::string_view sentence, ErrorCode code,
                                       Subject subject) const {
  return berth::Fail(code, name_ + ": " + std::string(sentence), subject);
}

tl::unexpected<Error> OnnxSource::FailAt(std::string_view at, std::string_view sentence) const {
  const std::ptrdiff_t offset = at.data() == nullptr ? 0 : at.data() - bytes_.data();
  return Fail("byte " + std::to_string(offset) + ": " + std::string(sentence));
}

bool OnnxSource::Charge(std::size_t bytes) {
  if (bytes > allowance_) return false;
  allowance_ -= bytes;
  return true;
}

Result<ModelMessage> ParseModel(OnnxSource& source) {
  if (source.bytes().empty()) return source.Fail("an empty file is not an ONNX model");
  return Parsed<ModelMessage>(source, [&](MessageParser& parser, ModelMessage& model) {
    parser.Model(source.bytes(), model);
    if (!parser.failed() && model.graph.data() == nullptr) {
      parser.FailAt(source.bytes(), "this is not an ONNX model: it has no graph");
    }
  });
}

Result<GraphMessage> ParseGraph(OnnxSource& source, std::string_view message) {
  return Parsed<GraphMessage>(
      source, [&](MessageParser& parser, GraphMessage& graph) { parser.Graph(message, graph); });
}

Result<TensorMessage> ParseTensor(OnnxSource& source, std::string_view message) {
  return Parsed<TensorMessage>(source, [&](MessageParser& parser, TensorMessage& tensor) {
    parser.Tensor(message, tensor);
  });
}

Result<TensorMessage> ParseSparseTensor(OnnxSource& source, std::string_view message) {
  return Parsed<TensorMessage>(source, [&](MessageParser& parser, TensorMessage& tensor) {
    parser.SparseTensor(message, tensor);
  });
}

namespace {

// Collects the elements of a tensor, one more than there should be at most.
class ElementCollector {
 public:
  ElementCollector(std::int32_t type, std::size_t size)
      : type_(type), size_(size), width_(FindElementType(type)->bits) {}

  void Add(std::uint64_t bits) {
    if (value_.size() > size_) return;  // Too many already.
    if (!IsInteger(type_)) {
      value_.reals.push_back(width_ == 32 ? double{BitCast<float>(static_cast<std::uint32_t>(bits))}
                                          : BitCast<double>(bits));
    } else if (type_ == kBool) {
      value_.ints.push_back(bits != 0 ? 1 : 0);
    } else {
      value_.ints.push_back(Widen(bits, width_, IsSignedInteger(type_)));
    }
  }
  // Elements of fixed size, one after the other. False if `bytes` ends within one.
  [[nodiscard]] bool AddFixed(std::string_view bytes) {
    const std::size_t each = static_cast<std::size_t>(width_) / 8;
    for (std::size_t i = 0; i + each <= bytes.size() && i / each <= size_; i += each) {
      Add(LittleEndian(bytes.substr(i, each)));
    }
    return bytes.size() % each == 0;
  }
  [[nodiscard]] bool Complete() const { return value_.size() == size_; }
  [[nodiscard]] Value Take() { return std::move(value_); }

 private:
  std::int32_t type_;
  std::size_t size_;
  int width_;
  Value value_;
};

}  // namespace

Result<std::shared_ptr<const Value>> ReadElements(OnnxSource& source, const TensorMessage& tensor,
                                                  std::size_t most) {
  const std::shared_ptr<const Value> nothing;
  const std::optional<std::int64_t> count = CountOf(tensor.dims);
  const bool integer = IsInteger(tensor.element);
  if (tensor.external || tensor.message.empty() || !count ||
      static_cast<std::uint64_t>(*count) > most || (!integer && !IsFloating(tensor.element))) {
    return nothing;
  }
  const auto size = static_cast<std::size_t>(*count);
  if (!source.Charge(8 * size)) return nothing;
  ElementCollector elements(tensor.element, size);
  WireReader reader(tensor.message);
  bool valid = true;
  bool any = false;
  while (const std::optional<WireEntry> entry = reader.Next()) {
    any = any || (entry->field >= 4 && entry->field <= 11 && entry->field != 8);
    if (entry->field == 9 && entry->IsBytes()) {  // raw_data
      valid = valid && elements.AddFixed(entry->bytes);
    } else if ((entry->field == 4 && tensor.element == kFloat) ||
               (entry->field == 10 && tensor.element == kDouble)) {
      if (entry->IsBytes()) {
        valid = valid && elements.AddFixed(entry->bytes);
      } else {
        elements.Add(entry->number);
      }
    } else if (integer && (entry->field == 5 || entry->field == 7 || entry->field == 11)) {
      valid = valid && ForEachVarint(*entry, [&](std::int64_t number) {
                elements.Add(static_cast<std::uint64_t>(number));
              });
    }
  }
  if (!any && size > 0) return nothing;  // Left out to keep the file small.
  if (!valid || !elements.Complete()) {
    return source.FailAt(tensor.message, "tensor " + Quoted(tensor.name) + " has " +
                                             ToString(Ranked(tensor.dims)) +
                                             " elements, but not as many values");
  }
  return std::make_shared<const Value>(elements.Take());
}

Result<std::vector<std::string_view>> NodeEntries(OnnxSource& source, std::string_view graph) {
  return Parsed<std::vector<std::string_view>>(
      source, [&](MessageParser& parser, std::vector<std::string_view>& entries) {
        parser.ForEach(graph, "a graph", [&](const WireEntry& entry) {
          if (entry.field != 1) return;
          if (std::string_view* whole = parser.Add(entries, entry.whole)) *whole = entry.whole;
        });
      });
}

}  // namespace berth::internal::onnx
