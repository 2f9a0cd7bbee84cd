// Graphs of operators in the C interface.

#include <utility>

#include "berth/file.h"
#include "berth/graph_io.h"
#include "c/call.h"
#include "c/handles.h"
#include "c/options.h"

namespace berth::internal::c {
namespace {

static_assert(static_cast<int>(Repeat::kByType) == BERTH_REPEAT_BY_TYPE &&
              static_cast<int>(Repeat::kPure) == BERTH_REPEAT_PURE &&
              static_cast<int>(Repeat::kNever) == BERTH_REPEAT_NEVER);
static_assert(static_cast<int>(TensorKind::kActivation) == BERTH_ACTIVATION &&
              static_cast<int>(TensorKind::kGradient) == BERTH_GRADIENT &&
              static_cast<int>(TensorKind::kInput) == BERTH_INPUT &&
              static_cast<int>(TensorKind::kParameter) == BERTH_PARAMETER &&
              static_cast<int>(TensorKind::kConstant) == BERTH_CONSTANT);

// The graph of a handle, to be changed: it is then no longer what was read.
Graph& Change(berth_graph* graph) {
  Require(graph != nullptr, "graph is NULL");
  GraphInput& input = Own(graph->input);
  input.path.clear();
  input.hash.clear();
  return input.model.graph;
}

Operator& OperatorAt(berth_graph* graph, std::size_t op) {
  Require(graph != nullptr, "graph is NULL");
  RequireIndex(op, graph->input->model.graph.operators.size(), "operator");
  return Change(graph).operators[op];
}

void RequireTensor(const berth_graph* graph, std::size_t tensor) {
  RequireIndex(tensor, InputOf(graph)->model.graph.tensors.size(), "tensor");
}

std::vector<std::size_t> Tensors(const berth_graph* graph, const std::size_t* list,
                                 std::size_t count) {
  RequireList(list, count, "the list of tensors");
  std::vector<std::size_t> tensors(list, list + count);
  for (const std::size_t tensor : tensors) RequireTensor(graph, tensor);
  return tensors;
}

Result<void> ReadGraph(std::string_view bytes, const std::string& shown,
                       const berth_options* options, GraphInput input, berth_graph** graph) {
  Require(graph != nullptr, "the place for the graph is NULL");
  input.options = OptionsOf(options).settings.model;
  input.model = BERTH_TRY(ReadModel(bytes, shown, input.options));
  *graph = new berth_graph{std::make_shared<GraphInput>(std::move(input))};
  return {};
}

}  // namespace

std::string HashOfInput(const GraphInput& input) {
  return input.hash.empty() ? HashOf(WriteGraphJson(input.model.graph)) : input.hash;
}

const std::shared_ptr<GraphInput>& InputOf(const berth_graph* graph) {
  Require(graph != nullptr, "graph is NULL");
  return graph->input;
}

}  // namespace berth::internal::c

namespace c = berth::internal::c;
using berth::Result;

extern "C" {

berth_status berth_graph_read(const char* path, const berth_options* options, berth_graph** graph,
                              berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    c::Require(path != nullptr, "path is NULL");
    c::GraphInput input;
    input.name = c::FileName(path);
    input.path = path;
    const auto file = BERTH_TRY(berth::FileView::Open(path));
    input.hash = berth::HashOf(file.bytes());
    return c::ReadGraph(file.bytes(), path, options, std::move(input), graph);
  });
}

berth_status berth_graph_parse(const char* bytes, size_t length, const char* name,
                               const berth_options* options, berth_graph** graph,
                               berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    const std::string shown = name == nullptr ? "model" : name;
    const std::string_view view = c::ViewOf(bytes, length);
    c::GraphInput input;
    input.name = c::FileName(shown);
    input.hash = berth::HashOf(view);
    return c::ReadGraph(view, shown, options, std::move(input), graph);
  });
}

berth_graph* berth_graph_new(const char* name) {
  return c::ValueOr<berth_graph*>(nullptr, [&] {
    auto input = std::make_shared<c::GraphInput>();
    input->name = c::TextOf(name);
    input->model.graph.name = input->name;
    input->model.format = berth::ModelFormat::kGraphJson;
    input->model.reading.alignment = 1;
    return new berth_graph{std::move(input)};
  });
}

void berth_graph_free(berth_graph* graph) { delete graph; }

berth_status berth_graph_add_tensor(berth_graph* graph, const char* name, berth_tensor_kind kind,
                                    int64_t bytes, int64_t alignment, size_t alias_of,
                                    int is_output, size_t* index, berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    const int number = c::NumberOf(kind);
    c::Require(number >= BERTH_ACTIVATION && number <= BERTH_CONSTANT,
               "the kind of the tensor must be 0 to 4");
    berth::Tensor tensor{c::TextOf(name), bytes, alignment, static_cast<berth::TensorKind>(number)};
    tensor.output = is_output != 0;
    if (alias_of != BERTH_NONE) tensor.alias_of = alias_of;
    std::vector<berth::Tensor>& tensors = c::Change(graph).tensors;
    tensors.push_back(std::move(tensor));
    if (index != nullptr) *index = tensors.size() - 1;
    return {};
  });
}

berth_status berth_graph_describe_tensor(berth_graph* graph, size_t tensor, const char* dtype,
                                         const char* shape, berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    c::RequireTensor(graph, tensor);
    berth::Tensor& described = c::Change(graph).tensors[tensor];
    described.dtype = c::TextOf(dtype);
    described.shape = c::TextOf(shape);
    return {};
  });
}

berth_status berth_graph_add_operator(berth_graph* graph, const char* name, const char* type,
                                      const size_t* inputs, size_t input_count,
                                      const size_t* outputs, size_t output_count, size_t* index,
                                      berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    berth::Operator op{c::TextOf(name), c::TextOf(type), c::Tensors(graph, inputs, input_count),
                       c::Tensors(graph, outputs, output_count)};
    std::vector<berth::Operator>& operators = c::Change(graph).operators;
    operators.push_back(std::move(op));
    if (index != nullptr) *index = operators.size() - 1;
    return {};
  });
}

berth_status berth_graph_add_mutation(berth_graph* graph, size_t op, size_t tensor,
                                      berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    c::RequireTensor(graph, tensor);
    c::OperatorAt(graph, op).mutates.push_back(tensor);
    return {};
  });
}

berth_status berth_graph_add_dependency(berth_graph* graph, size_t op, size_t earlier,
                                        berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    c::RequireIndex(earlier, c::InputOf(graph)->model.graph.operators.size(), "operator");
    c::OperatorAt(graph, op).after.push_back(earlier);
    return {};
  });
}

berth_status berth_graph_add_overwrite(berth_graph* graph, size_t op, size_t input, size_t output,
                                       berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    c::RequireTensor(graph, input);
    c::RequireTensor(graph, output);
    c::OperatorAt(graph, op).may_overwrite.push_back({input, output});
    return {};
  });
}

berth_status berth_graph_set_cost(berth_graph* graph, size_t op, int64_t cost,
                                  berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    c::OperatorAt(graph, op).cost = cost;
    return {};
  });
}

berth_status berth_graph_set_cost_unit(berth_graph* graph, const char* unit, berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    c::Change(graph).cost_unit = c::TextOf(unit);
    return {};
  });
}

berth_status berth_graph_set_repeat(berth_graph* graph, size_t op, berth_repeat repeat,
                                    berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    const int number = c::NumberOf(repeat);
    c::Require(number >= BERTH_REPEAT_BY_TYPE && number <= BERTH_REPEAT_NEVER,
               "whether the operator may run again must be 0 to 2");
    c::OperatorAt(graph, op).repeat = static_cast<berth::Repeat>(number);
    return {};
  });
}

berth_status berth_graph_apply(const berth_graph* graph, const berth_options* options,
                               berth_graph** changed, berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    c::Require(changed != nullptr, "the place for the graph is NULL");
    const berth::ModelOptions& change = c::OptionsOf(options).settings.model;
    auto input = std::make_shared<c::GraphInput>(*c::InputOf(graph));
    BERTH_TRY(berth::Apply(change, input->model));
    if (change.device) input->options.device = change.device;
    if (change.profile) input->options.profile = change.profile;
    input->options.fuse = input->options.fuse || change.fuse;
    input->options.in_place = input->options.in_place || change.in_place;
    *changed = new berth_graph{std::move(input)};
    return {};
  });
}

berth_status berth_graph_validate(const berth_graph* graph, berth_error** error) {
  return c::Call(error, [&] { return berth::Validate(c::InputOf(graph)->model.graph); });
}

const char* berth_graph_name(const berth_graph* graph) {
  return graph == nullptr ? "" : graph->input->name.c_str();
}
size_t berth_graph_tensor_count(const berth_graph* graph) {
  return graph == nullptr ? 0 : graph->input->model.graph.tensors.size();
}
size_t berth_graph_operator_count(const berth_graph* graph) {
  return graph == nullptr ? 0 : graph->input->model.graph.operators.size();
}

berth_status berth_graph_tensor(const berth_graph* graph, size_t tensor, berth_tensor* out,
                                berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    c::RequireTensor(graph, tensor);
    const berth::Tensor& from = graph->input->model.graph.tensors[tensor];
    c::Fill(out, {0, from.name.c_str(), static_cast<berth_tensor_kind>(from.kind), from.output,
                  from.bytes, from.alignment, from.alias_of.value_or(BERTH_NONE),
                  from.unplanned.c_str(), from.dtype.c_str(), from.shape.c_str()});
    return {};
  });
}

berth_status berth_graph_operator(const berth_graph* graph, size_t op, berth_operator* out,
                                  berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    const auto& operators = c::InputOf(graph)->model.graph.operators;
    c::RequireIndex(op, operators.size(), "operator");
    const berth::Operator& from = operators[op];
    c::Fill(out, {0, from.name.c_str(), from.type.c_str(), from.inputs.data(), from.inputs.size(),
                  from.outputs.data(), from.outputs.size(), from.mutates.data(),
                  from.mutates.size(), from.after.data(), from.after.size()});
    return {};
  });
}

size_t berth_graph_note_count(const berth_graph* graph) {
  return graph == nullptr ? 0 : graph->input->model.notes.size();
}
const char* berth_graph_note(const berth_graph* graph, size_t index) {
  return index < berth_graph_note_count(graph) ? graph->input->model.notes[index].c_str() : nullptr;
}
size_t berth_graph_open_dimension_count(const berth_graph* graph) {
  return graph == nullptr ? 0 : graph->input->model.open_dimensions.size();
}
const char* berth_graph_open_dimension(const berth_graph* graph, size_t index) {
  return index < berth_graph_open_dimension_count(graph)
             ? graph->input->model.open_dimensions[index].c_str()
             : nullptr;
}

berth_status berth_graph_to_json(const berth_graph* graph, berth_text** json, berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    c::Give(json, berth::WriteGraphJson(c::InputOf(graph)->model.graph));
    return {};
  });
}

}  // extern "C"
