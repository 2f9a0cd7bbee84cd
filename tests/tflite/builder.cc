#include "tests/tflite/builder.h"

#include <algorithm>
#include <cstddef>
#include <functional>

namespace berth::tflite_build {
namespace {

// Writes each table before what it refers to. Every field has 8 bytes, so that all are aligned.
class Writer {
 public:
  using Child = std::function<std::size_t()>;  // Writes itself and says where it begins.
  struct Field {
    std::size_t id = 0;
    std::int64_t number = 0;
    Child child = {};
  };

  std::size_t Table(const std::vector<Field>& fields) {
    std::size_t count = 0;
    for (const Field& field : fields) count = std::max(count, field.id + 1);
    Align(8);
    const std::size_t vtable = out_.size();
    Add(4 + 2 * count, 2);
    Add(8 + 8 * fields.size(), 2);
    std::vector<std::size_t> places(count);
    for (std::size_t i = 0; i < fields.size(); ++i) places[fields[i].id] = 8 + 8 * i;
    for (const std::size_t place : places) Add(place, 2);
    Align(8);
    const std::size_t table = out_.size();
    Add(table - vtable, 8);
    for (const Field& field : fields) Add(static_cast<std::uint64_t>(field.number), 8);
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (fields[i].child) Refer(table + 8 + 8 * i, fields[i].child());
    }
    return table;
  }
  std::size_t Tables(const std::vector<Child>& children) {
    Align(4);
    const std::size_t at = out_.size();
    Add(children.size(), 4);
    Add(0, 4 * children.size());
    for (std::size_t i = 0; i < children.size(); ++i) Refer(at + 4 + 4 * i, children[i]());
    return at;
  }
  std::size_t Integers(const std::vector<std::int32_t>& numbers) {
    Align(4);
    const std::size_t at = out_.size();
    Add(numbers.size(), 4);
    for (const std::int32_t number : numbers) Add(static_cast<std::uint32_t>(number), 4);
    return at;
  }
  std::size_t Text(const std::string& text) {
    while (out_.size() % 16 != 12) out_ += '\0';
    const std::size_t at = out_.size();
    Add(text.size(), 4);
    out_ += text;
    out_ += '\0';
    return at;
  }
  void Begin() { out_ = std::string(4, '\0') + "TFL3"; }
  std::string End(std::size_t root) {
    Refer(0, root);
    return out_;
  }

 private:
  void Align(std::size_t alignment) {
    while (out_.size() % alignment != 0) out_ += '\0';
  }
  void Add(std::uint64_t number, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) {
      out_ += i < 8 ? static_cast<char>(number >> (8 * i)) : '\0';
    }
  }
  void Refer(std::size_t from, std::size_t to) {
    for (std::size_t i = 0; i < 4; ++i) out_[from + i] = static_cast<char>((to - from) >> (8 * i));
  }

  std::string out_;
};

Writer::Child Each(Writer& w, const TfliteTensor& tensor) {
  return [&w, tensor] {
    std::vector<Writer::Field> fields = {
        {0, 0, [&] { return w.Integers(tensor.shape); }},
        {1, tensor.type},
        {2, tensor.buffer},
        {3, 0, [&] { return w.Text(tensor.name); }},
        {5, tensor.variable ? 1 : 0},
    };
    if (!tensor.signature.empty()) {
      fields.push_back({7, 0, [&] { return w.Integers(tensor.signature); }});
    }
    return w.Table(fields);
  };
}

Writer::Child Each(Writer& w, const TfliteOperator& op, std::size_t code) {
  return [&w, op, code] {
    std::vector<Writer::Field> fields = {
        {0, static_cast<std::int64_t>(code)},
        {1, 0, [&] { return w.Integers(op.inputs); }},
        {2, 0, [&] { return w.Integers(op.outputs); }},
    };
    if (!op.calls.empty()) {
      fields.push_back({4, 0, [&] {
                          std::vector<Writer::Field> options;
                          for (std::size_t i = 0; i < op.calls.size(); ++i) {
                            options.push_back({i, op.calls[i]});
                          }
                          return w.Table(options);
                        }});
    }
    if (!op.intermediates.empty()) {
      fields.push_back({8, 0, [&] { return w.Integers(op.intermediates); }});
    }
    return w.Table(fields);
  };
}

Writer::Child Each(Writer& w, const TfliteSubgraph& subgraph, std::size_t first_code) {
  return [&w, subgraph, first_code] {
    std::vector<Writer::Child> tensors, operators;
    for (const TfliteTensor& tensor : subgraph.tensors) tensors.push_back(Each(w, tensor));
    for (std::size_t i = 0; i < subgraph.operators.size(); ++i) {
      operators.push_back(Each(w, subgraph.operators[i], first_code + i));
    }
    return w.Table({{0, 0, [&] { return w.Tables(tensors); }},
                    {1, 0, [&] { return w.Integers(subgraph.inputs); }},
                    {2, 0, [&] { return w.Integers(subgraph.outputs); }},
                    {3, 0, [&] { return w.Tables(operators); }}});
  };
}

}  // namespace

std::string Build(const TfliteFile& file) {
  Writer w;
  w.Begin();
  // A code for each operator.
  std::vector<Writer::Child> codes, subgraphs, buffers, metadata;
  std::size_t first_code = 0;
  for (const TfliteSubgraph& subgraph : file.subgraphs) {
    for (const TfliteOperator& op : subgraph.operators) {
      codes.push_back([&w, op] {
        return w.Table({{0, op.code < 127 ? op.code : 127},
                        {1, 0, [&] { return w.Text(op.custom); }},
                        {3, op.code}});
      });
    }
    subgraphs.push_back(Each(w, subgraph, first_code));
    first_code += subgraph.operators.size();
  }
  for (const std::string& data : file.buffers) {
    buffers.push_back([&w, data] {
      return data.empty() ? w.Table({}) : w.Table({{0, 0, [&] { return w.Text(data); }}});
    });
  }
  for (const auto& [name, buffer] : file.metadata) {
    metadata.push_back([&w, name = name, buffer = buffer] {
      return w.Table({{0, 0, [&] { return w.Text(name); }}, {1, buffer}});
    });
  }
  std::vector<Writer::Field> fields = {
      {0, 3},
      {1, 0, [&] { return w.Tables(codes); }},
      {2, 0, [&] { return w.Tables(subgraphs); }},
      {4, 0, [&] { return w.Tables(buffers); }},
  };
  if (!metadata.empty()) fields.push_back({6, 0, [&] { return w.Tables(metadata); }});
  const std::size_t root = w.Table(fields);
  return w.End(root);
}

TfliteFile WithMetadata(TfliteFile file, const std::string& name,
                        const std::vector<std::int32_t>& numbers) {
  std::string data;
  for (const std::int32_t number : numbers) {
    for (int i = 0; i < 4; ++i) {
      data += static_cast<char>(static_cast<std::uint32_t>(number) >> (8 * i));
    }
  }
  file.metadata.emplace_back(name, static_cast<std::uint32_t>(file.buffers.size()));
  file.buffers.push_back(data);
  return file;
}

TfliteFile WithPlan(TfliteFile file, const std::vector<std::int32_t>& offsets) {
  std::vector<std::int32_t> numbers = {1, static_cast<std::int32_t>(file.subgraphs.size()),
                                       static_cast<std::int32_t>(offsets.size())};
  numbers.insert(numbers.end(), offsets.begin(), offsets.end());
  return WithMetadata(std::move(file), "OfflineMemoryAllocation", numbers);
}

TfliteFile TwoBranches() {
  TfliteSubgraph graph;
  graph.tensors = {{"in", {16}}, {"a1", {160}}, {"b1", {160}},           {"a2", {16}},
                   {"b2", {16}}, {"out", {16}}, {"w", {7}, kInt8Type, 1}};
  graph.inputs = {0};
  graph.outputs = {5};
  graph.operators = {{kConv, {0, 6, -1}, {1}},
                     {kConv, {0, 6, -1}, {2}},
                     {kConv, {1, 6, -1}, {3}},
                     {kConv, {2, 6, -1}, {4}},
                     {kAdd, {3, 4}, {5}}};
  return {{graph}};
}

}  // namespace berth::tflite_build
