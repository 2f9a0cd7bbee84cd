// OLLA's Figure 8 with the workspaces of convolutions, which the traces lack: what the operators ask the
// allocator for while they run. Which algorithm a library chooses, and so how much that is, is not known; the
// model here is im2col, the matrix of a convolution that is computed as a matrix product.
//
// That matrix has a column for each position of the result and a row for each weight of one output channel:
// kernel area x input channels (of one group) x positions. Traces have bytes and no shapes, but with Cout output
// channels the weights are Cout x rows and the result Cout x positions, so it is the product of the two by Cout
// squared. Cout is what the bias, or the batch normalization behind the convolution, has elements. A matrix that
// is no larger than the input is none: kernels of 1 x 1 take the input itself, and depth-wise convolutions have
// kernels of their own.
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/try.h"
#include "berth/allocators.h"
#include "berth/graph.h"
#include "tools/lab/suites/olla.h"

namespace berth::lab {
namespace {

constexpr Bytes kElement = 4;  // All traces have 32-bit floats.

enum class Workspace { kNone, kImage, kBatch };
struct Model {
  Workspace workspace;
  std::string_view key;
  std::string_view title;
};
constexpr std::array<Model, 3> kModels = {{{Workspace::kNone, "none", "without workspaces"},
                                           {Workspace::kImage, "image", "im2col of one image"},
                                           {Workspace::kBatch, "batch", "im2col of the batch"}}};

// "convolution", "aten::convolution", "Conv": whether it is one, and its gradient.
bool IsConvolution(const Operator& op) { return op.type == "convolution" || op.type == "Conv"; }
bool IsGradient(const Operator& op) { return op.type == "convolution_backward"; }
bool IsNormalization(const Operator& op) {
  return op.type == "native_batch_norm" || op.type == "BatchNormalization";
}

// The output channels of the convolution with each tensor of weights; 0: not known.
std::vector<std::int64_t> OutputChannels(const Graph& graph) {
  std::vector<std::int64_t> normalized(graph.tensors.size(), 0);  // By what is normalized.
  for (const Operator& op : graph.operators) {
    if (!IsNormalization(op) || op.inputs.size() < 2) continue;
    normalized[op.inputs[0]] = graph.tensors[op.inputs[1]].bytes / kElement;
  }
  std::vector<std::int64_t> channels(graph.tensors.size(), 0);
  for (const Operator& op : graph.operators) {
    if (!IsConvolution(op) || op.inputs.size() < 2 || op.outputs.empty()) continue;
    channels[op.inputs[1]] = op.inputs.size() > 2 ? graph.tensors[op.inputs[2]].bytes / kElement
                                                  : normalized[op.outputs[0]];
  }
  return channels;
}

// The bytes of the matrix of `op`, of the whole batch; 0 if there is none, nothing if it is not known.
std::optional<Bytes> MatrixOf(const Graph& graph, const std::vector<std::int64_t>& channels,
                              const Operator& op) {
  const bool gradient = IsGradient(op);
  const std::size_t weights = gradient ? 2 : 1;
  if (op.inputs.size() <= weights || op.outputs.empty()) return std::nullopt;
  const std::int64_t out = channels[op.inputs[weights]];
  if (out <= 0) return std::nullopt;
  const TensorIndex result = gradient ? op.inputs[0] : op.outputs[0];
  const TensorIndex input = gradient ? op.inputs[1] : op.inputs[0];
  const Bytes rows = graph.tensors[op.inputs[weights]].bytes / kElement / out;
  const Bytes positions = graph.tensors[result].bytes / kElement / out;
  if (rows > 0 && positions > kMaxBytes / kElement / rows) return std::nullopt;
  const Bytes bytes = rows * positions * kElement;
  return bytes > graph.tensors[input].bytes ? bytes : 0;
}

// What was added.
struct Added {
  std::int64_t convolutions = 0;  // With their gradients;
  std::int64_t unknown = 0;       // of these, whose output channels are not known.
  std::int64_t workspaces = 0;
  Bytes largest = 0;
};

// An output that nobody reads for each convolution.
Added AddWorkspaces(std::int64_t batch, Graph& graph) {
  const std::vector<std::int64_t> channels = OutputChannels(graph);
  Added added;
  for (Operator& op : graph.operators) {
    if (!IsConvolution(op) && !IsGradient(op)) continue;
    ++added.convolutions;
    const auto matrix = MatrixOf(graph, channels, op);
    added.unknown += matrix ? 0 : 1;
    if (!matrix || *matrix == 0) continue;
    Tensor workspace;
    workspace.name = "workspace of " + op.name;
    workspace.bytes = *matrix / batch;
    ++added.workspaces;
    added.largest = std::max(added.largest, workspace.bytes);
    op.outputs.push_back(graph.tensors.size());
    graph.tensors.push_back(std::move(workspace));
  }
  return added;
}

double Mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

double Fragmentation(Bytes held, Bytes used) {
  return held == 0 ? 0 : static_cast<double>(held - used) / static_cast<double>(held);
}

// Of one model and group of graphs.
struct Group {
  std::string name;
  std::vector<double> fragmentation;  // Of PyTorch's allocator,
  std::vector<double> at_first;       // when it takes the last of its memory,
  std::vector<double> planned;        // and of our plans.
};

Group& GroupOf(const std::string& name, std::vector<Group>& groups) {
  const auto found = std::find_if(groups.begin(), groups.end(),
                                  [&](const Group& group) { return group.name == name; });
  if (found != groups.end()) return *found;
  groups.push_back({name, {}, {}, {}});
  return groups.back();
}

Sheet EmptySheet() {
  return Sheet({{"graph", "graph", false},
                {"model", "model", false},
                {"convolutions", "convolutions"},
                {"not known", "unknown"},
                {"workspaces", "workspaces"},
                {"largest", "largest_workspace_bytes"},
                {"PyTorch holds", "reserved_bytes"},
                {"in use", "most_resident_bytes"},
                {"fragmentation", "fragmentation"},
                {"at first", "first_fragmentation"},
                {"our arena", "arena_bytes"},
                {"our peak", "peak_bytes"}});
}

Result<void> Measure(const Lab& lab, const Model& model, std::vector<GraphInput> inputs,
                     Sheet& sheet, Sheet& means) {
  std::vector<Added> added(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (model.workspace == Workspace::kNone) continue;
    const bool image = model.workspace == Workspace::kImage;
    added[i] = AddWorkspaces(image ? inputs[i].batch : 1, inputs[i].graph);
  }
  const auto wholes = BERTH_TRY(MeasureWhole(lab, "workspaces, " + std::string(model.key), inputs));
  std::vector<Group> groups;
  for (std::size_t i = 0; i < wholes.size(); ++i) {
    const Whole& whole = wholes[i];
    const AllocatorFootprint& held = whole.dynamic;
    const Bytes peak = whole.ordered.answer.best->peak();
    Group& group = GroupOf(inputs[i].group, groups);
    group.fragmentation.push_back(Fragmentation(held.reserved, held.most));
    group.at_first.push_back(Fragmentation(held.reserved, held.first));
    group.planned.push_back(Fragmentation(whole.arena, peak));
    sheet.AddRow({TextCell(inputs[i].name), TextCell(model.key), CountCell(added[i].convolutions),
                  CountCell(added[i].unknown), CountCell(added[i].workspaces),
                  BytesCell(added[i].largest), BytesCell(held.reserved), BytesCell(held.most),
                  PercentCell(group.fragmentation.back()), PercentCell(group.at_first.back()),
                  BytesCell(whole.arena), BytesCell(peak)});
  }
  std::sort(groups.begin(), groups.end(),
            [](const Group& a, const Group& b) { return a.name < b.name; });
  for (const Group& group : groups) {
    const auto paper = PaperFragmentation(group.name);
    means.AddRow({TextCell(model.title), TextCell(group.name),
                  CountCell(static_cast<std::int64_t>(group.fragmentation.size())),
                  PercentCell(Mean(group.fragmentation)), PercentCell(Mean(group.at_first)),
                  PercentCell(Mean(group.planned)), paper ? PercentCell(*paper) : NoCell()});
  }
  return {};
}

}  // namespace

Result<void> Workspaces(Lab& lab) {
  lab.Heading(
      "Figure 8 with workspaces of convolutions",
      "Each convolution also asks for the matrix of im2col, of one image at a time or of the "
      "whole batch; fragmentation of PyTorch's allocator, simulated in program order, against "
      "the most that is ever in use, and at first, as in Figure 8.");
  const auto inputs = BERTH_TRY(lab.Graphs(lab.Inputs(kAllInputs, 2)));
  Sheet sheet = EmptySheet();
  Sheet means({{"model", "model", false},
               {"graphs", "group", false},
               {"", "graphs"},
               {"fragmentation", "mean_fragmentation"},
               {"at first", "mean_first_fragmentation"},
               {"of our plans", "mean_planned_fragmentation"},
               {"the paper", "paper_mean"}});
  for (const Model& model : kModels) BERTH_TRY(Measure(lab, model, inputs, sheet, means));
  lab.Progress("");
  lab.Show(sheet);
  lab.Show(means);
  lab.Keep("workspaces", sheet);
  lab.Keep("workspaces-means", means);
  return {};
}

}  // namespace berth::lab
