#include "tests/tflite/builder.h"

#include <cstddef>

#include "tests/tflite/flat_writer.h"

namespace berth::tflite_build {
namespace {

using Writer = FlatWriter;

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
  w.Begin("TFL3");
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
