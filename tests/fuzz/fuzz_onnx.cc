// A model that ReadOnnx() accepts is a valid graph whose operators can be reordered and restored; a
// rejected one gets one line that names the file. The first byte chooses the options.
//
// Random changes of bytes mostly damage lengths. So most mutations change the tree of messages that
// the bytes represent, with correct lengths: numbers and names change; entries are removed,
// repeated, swapped or get the contents of others.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/wire.h"
#include "berth/onnx.h"
#include "tests/fuzz/require.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace {

using berth::internal::Require;

std::string Join(const std::vector<std::string_view>& pieces) {
  std::string text;
  for (const std::string_view piece : pieces) text += piece;
  return text;
}

// ---- Messages as trees.

enum class Message {
  kNone,
  kModel,
  kGraph,
  kNode,
  kAttribute,
  kTensor,
  kValue,
  kType,
  kTensorType,
  kShape,
  kDimension,
  kOpset,
  kFunction,
};

Message Inside(Message message, std::uint32_t field) {
  switch (message) {
    case Message::kModel:
      return field == 7    ? Message::kGraph
             : field == 8  ? Message::kOpset
             : field == 25 ? Message::kFunction
                           : Message::kNone;
    case Message::kGraph:
      return field == 1                   ? Message::kNode
             : field == 5                 ? Message::kTensor
             : field >= 11 && field <= 13 ? Message::kValue
                                          : Message::kNone;
    case Message::kNode:
      return field == 5 ? Message::kAttribute : Message::kNone;
    case Message::kAttribute:
      return field == 5 ? Message::kTensor : field == 6 ? Message::kGraph : Message::kNone;
    case Message::kValue:
      return field == 2 ? Message::kType : Message::kNone;
    case Message::kType:
      return field == 1 ? Message::kTensorType : Message::kNone;
    case Message::kTensorType:
      return field == 2 ? Message::kShape : Message::kNone;
    case Message::kShape:
      return field == 1 ? Message::kDimension : Message::kNone;
    case Message::kFunction:
      return field == 7 ? Message::kNode : field == 9 ? Message::kOpset : Message::kNone;
    default:
      return Message::kNone;
  }
}

struct Entry {
  std::uint32_t field = 0;
  berth::internal::WireType type = berth::internal::WireType::kVarint;
  std::uint64_t number = 0;
  std::string bytes;  // Of a leaf.
  bool is_message = false;
  std::vector<Entry> entries;
};

std::vector<Entry> Parse(std::string_view bytes, Message message, int depth) {
  std::vector<Entry> entries;
  berth::internal::WireReader reader(bytes);
  while (const auto read = reader.Next()) {
    Entry entry{read->field, read->type, read->number, std::string(read->bytes), false, {}};
    const Message inside = Inside(message, read->field);
    if (read->IsBytes() && inside != Message::kNone && depth < 20) {
      entry.is_message = true;
      entry.entries = Parse(read->bytes, inside, depth + 1);
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

void Write(std::uint64_t number, std::string& out) {
  for (; number >= 0x80; number >>= 7) out += static_cast<char>((number & 0x7f) | 0x80);
  out += static_cast<char>(number);
}

std::string Write(const std::vector<Entry>& entries) {
  using berth::internal::WireType;
  std::string out;
  for (const Entry& entry : entries) {
    if (entry.type == WireType::kGroupBegin || entry.type == WireType::kGroupEnd) continue;
    Write((std::uint64_t{entry.field} << 3) | static_cast<std::uint64_t>(entry.type), out);
    if (entry.type == WireType::kBytes) {
      const std::string inside = entry.is_message ? Write(entry.entries) : entry.bytes;
      Write(inside.size(), out);
      out += inside;
    } else if (entry.type == WireType::kVarint) {
      Write(entry.number, out);
    } else {
      for (int i = 0; i < (entry.type == WireType::kFixed64 ? 8 : 4); ++i) {
        out += static_cast<char>(entry.number >> (8 * i));
      }
    }
  }
  return out;
}

void Collect(std::vector<Entry>& entries, std::vector<std::vector<Entry>*>& lists) {
  if (!entries.empty()) lists.push_back(&entries);
  for (Entry& entry : entries) Collect(entry.entries, lists);
}

void MutateTree(std::vector<Entry>& root, berth::internal::Random& random) {
  std::vector<std::vector<Entry>*> lists;
  Collect(root, lists);
  if (lists.empty()) return;
  const auto pick = [&](std::size_t size) {
    return static_cast<std::size_t>(random.Uniform(0, static_cast<std::int64_t>(size) - 1));
  };
  std::vector<Entry>& list = *lists[pick(lists.size())];
  const std::size_t at = pick(list.size());
  const std::vector<Entry>& others = *lists[pick(lists.size())];
  const Entry other = others[pick(others.size())];
  Entry& entry = list[at];
  switch (random.Uniform(0, 7)) {
    case 0:
      list.erase(list.begin() + static_cast<std::ptrdiff_t>(at));
      return;
    case 1: {
      const Entry copy = entry;
      list.insert(list.begin() + static_cast<std::ptrdiff_t>(at), copy);
      return;
    }
    case 2:
      std::swap(list[at], list[pick(list.size())]);
      return;
    case 3:
      entry = other;
      return;
    case 4:
      entry.number = other.number;
      entry.bytes = other.bytes;
      return;
    default:
      break;
  }
  if (entry.type == berth::internal::WireType::kBytes) {
    if (entry.is_message) return;
    std::string buffer = entry.bytes;
    const std::size_t size = buffer.size();
    buffer.resize(size + 8);
    buffer.resize(
        LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(buffer.data()), size, buffer.size()));
    entry.bytes = buffer;
    return;
  }
  static constexpr std::uint64_t kNumbers[] = {0,          1,
                                               2,          3,
                                               4,          7,
                                               8,          13,
                                               64,         65,
                                               1U << 16,   1ULL << 31,
                                               1ULL << 56, (1ULL << 56) + 1,
                                               1ULL << 60, 1ULL << 62,
                                               1ULL << 63, ~0ULL,
                                               ~1ULL,      (1ULL << 63) - 1};
  entry.number = random.Chance(0.3) ? static_cast<std::uint64_t>(random.Uniform(0, 30))
                                    : kNumbers[pick(std::size(kNumbers))];
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned int seed) {
  berth::internal::Random random(seed);
  if (size < 2 || random.Chance(0.1)) return LLVMFuzzerMutate(data, size, max_size);
  std::vector<Entry> root =
      Parse({reinterpret_cast<const char*>(data) + 1, size - 1}, Message::kModel, 0);
  for (std::int64_t i = random.Uniform(1, 4); i > 0; --i) MutateTree(root, random);
  const std::string bytes = Write(root);
  if (bytes.size() + 1 > max_size) return LLVMFuzzerMutate(data, size, max_size);
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(data) + 1);
  return bytes.size() + 1;
}

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  berth::OnnxOptions options;
  if ((data[0] & 1) != 0) options.element_bytes = 1;
  if ((data[0] & 2) != 0) options.dimensions = {{"n", 3}};
  // A copy: reading past its end is then detected.
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto model = berth::ReadOnnx(text, "m", options);
  if (!model) {
    const std::string& message = model.error().message;
    const bool placed = message.substr(0, 3) == "m: ";
    Require(placed && message.find_first_of(std::string_view("\n\r\0\x1b", 4)) == std::string::npos,
            message.c_str());
    return 0;
  }
  Require(berth::Validate(model->graph).has_value(), "a graph that was read is not valid");
  const berth::Order order = berth::ProgramOrder(model->graph);
  static_cast<void>(berth::Live(model->graph, order));
  const auto same = berth::ReorderOnnx(text, "m", order);
  Require(same.has_value() && Join(*same) == text, "the same order gives other bytes");
  const berth::Order backwards(order.rbegin(), order.rend());
  const auto reversed = berth::ReorderOnnx(text, "m", backwards);
  Require(reversed.has_value(), "a model that was read cannot be reordered");
  const std::string turned = Join(*reversed);
  Require(turned.size() == text.size(), "another order has another size");
  const auto again = berth::ReorderOnnx(turned, "m", backwards);
  Require(again.has_value() && Join(*again) == text, "reversed twice gives other bytes");
  return 0;
}
