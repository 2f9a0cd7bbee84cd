#include "tools/berth/model.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <unordered_map>

#include "src/base/try.h"
#include "tools/berth/file_kind.h"
#include "tools/berth/flags.h"
#include "tools/berth/help.h"
#include "tools/berth/table.h"

namespace berth::cli {
namespace {

// Of the causes of unknown sizes, and of the tensors of each, those that are shown.
constexpr std::size_t kMostCauses = 8;
constexpr std::size_t kMostNamed = 4;

bool IsFile(const std::string& text) {
  return text == "-" || text.find_first_of("./") != std::string::npos;
}

bool LooksLikeBatch(const std::string& name) {
  std::string lower = name;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower.find("batch") != std::string::npos || lower == "n" || lower.ends_with("[0]") ||
         lower.ends_with(".0");
}

// The dimensions that were given, and sizes of the open ones with which the model can run: 1 for a
// batch, what images and sequences often have for the others. Not every size does: a window may be
// larger than what it slides over. Where none of those tried does, 1 for each.
// Cost: a reading of the model for each trial.
std::vector<OnnxDimension> WorkingSizes(const Model& model) {
  constexpr std::int64_t kUsual[] = {224, 512, 1};
  constexpr std::size_t kMostSingle = 8;
  const std::size_t given = model.reading.dimensions.size();
  OnnxOptions options = model.reading;
  for (const std::string& name : model.open_dimensions) options.dimensions.push_back({name, 1});
  std::vector<std::size_t> others;
  if (model.open_dimensions.size() > 1) {  // A single one is nearly always the batch.
    for (std::size_t i = 0; i < model.open_dimensions.size(); ++i) {
      if (!LooksLikeBatch(model.open_dimensions[i])) others.push_back(given + i);
    }
  }
  const auto works = [&] { return ReadOnnx(model.file.bytes(), model.name, options).has_value(); };
  for (const std::int64_t size : kUsual) {
    for (const std::size_t i : others) options.dimensions[i].size = size;
    if (works()) return options.dimensions;
  }
  for (std::size_t k = 0; k < std::min(others.size(), kMostSingle); ++k) {
    options.dimensions[others[k]].size = kUsual[1];
    if (works()) return options.dimensions;
    options.dimensions[others[k]].size = 1;
  }
  return options.dimensions;
}

Result<ModelOptions> OptionsOf(const ModelArguments& arguments) {
  ModelOptions options;
  options.onnx = arguments.onnx;
  options.alignment = arguments.alignment;
  options.fuse = arguments.fuse;
  options.in_place = arguments.in_place;
  if (HasExtension(arguments.path, ".onnx")) options.format = ModelFormat::kOnnx;
  if (!arguments.device.empty()) {
    const std::string text = BERTH_TRY(ReadFile(arguments.device));
    options.device = BERTH_TRY(ReadDevice(text, NameOf(arguments.device)));
  } else {
    options.device = arguments.other_device;
  }
  if (!arguments.profile.empty()) {
    const std::string text = BERTH_TRY(ReadFile(arguments.profile));
    options.profile = BERTH_TRY(ReadProfile(text, NameOf(arguments.profile)));
  }
  return options;
}

}  // namespace

void AddModel(CLI::App& app, ModelArguments& arguments) {
  app.add_option(
         "MODEL", arguments.path,
         "An ONNX or TensorFlow Lite model, or a graph in JSON (docs/formats/graph.md); - is "
         "standard input.")
      ->required();
  AddCounting(app, arguments.counting);
  AddModelSizes(app, arguments);
  app.add_flag("--in-place", arguments.in_place,
               "Let operators write their output over an input, if the model allows it and it is "
               "safe in every order.");
  app.add_flag("--fuse", arguments.fuse,
               "Compute element-wise operators together with the operator before them, and "
               "operators between DequantizeLinear and QuantizeLinear in 8 bits, as many runtimes "
               "do.");
}

void AddCounting(CLI::App& app, Counting& counting) {
  const auto set = [&counting](const std::string& text) {
    const bool all = text == "all";
    if (!all && text != "none" && text != "inputs" && text != "parameters") {
      UsageError("--count", Quoted(text) + " is not one of none, inputs, parameters, all");
    }
    counting.inputs = all || text == "inputs";
    counting.parameters = all || text == "parameters";
  };
  app.add_option_function<std::string>(
         "--count", set,
         "What to plan besides the tensors that operators make: none, inputs, parameters "
         "(with constants) or all. Default: none.")
      ->type_name("WHAT");
  AddAllowUnknown(app, counting);
}

void AddAllowUnknown(CLI::App& app, Counting& counting) {
  app.add_flag("--allow-unknown", counting.unsized_as_zero,
               "Count tensors without a known size as 0 bytes. Without this flag, nothing is said "
               "to fit or to be optimal as long as a size is unknown.");
}

void AddModelSizes(CLI::App& app, ModelArguments& arguments) {
  const auto set_dimension = [&arguments](const std::vector<std::string>& words) {
    arguments.onnx.dimensions.clear();
    for (const std::string& word : words) {
      const std::size_t equals = word.rfind('=');
      OnnxDimension dimension;
      const char* const last = word.data() + word.size();
      const char* const first = equals == std::string::npos ? last : word.data() + equals + 1;
      const auto [end, error] = std::from_chars(first, last, dimension.size);
      if (first == last || error != std::errc() || end != last || dimension.size < 0 ||
          dimension.size > (std::int64_t{1} << 56) || equals == 0) {
        UsageError("--dim", Quoted(word) + " is not of the form NAME=SIZE, as batch=1");
      }
      dimension.name = word.substr(0, equals);
      arguments.onnx.dimensions.push_back(std::move(dimension));
    }
  };
  app.add_option_function<std::vector<std::string>>(
         "--dim", set_dimension,
         "A size that the model leaves open, such as batch=1; may be given several times.")
      ->type_name("NAME=SIZE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  AddInteger(app, "--dim-default", arguments.onnx.other_dimensions, std::int64_t{0},
             std::int64_t{1} << 56,
             "The size of every dimension that the model leaves open and --dim does not give.");
  AddBytes(app, "--alignment", arguments.alignment,
           "Every offset and size is a multiple of this, and of the size of an element. Default: "
           "16 for ONNX and TensorFlow Lite models; for a graph in JSON, what it says for each "
           "tensor.");
  AddInteger(app, "--element-bytes", arguments.onnx.element_bytes, 1, 16,
             "Bytes of every element of a model, whatever its type: 1 for a model that will run in "
             "8 bits.");
  AddFile(app, "--device", arguments.device,
          "What operators cost: the time they take on this device, from their shapes, described in "
          "JSON (docs/formats/device.md). Default: what a graph in JSON says, else their bytes.");
  AddFile(app, "--profile", arguments.profile,
          "What operators cost: the times that were measured, in a profile of onnxruntime or "
          "PyTorch or a table (docs/formats/profile.md). --device prices what it lacks.");
}

void AddScheduleOptions(CLI::App& app, ScheduleOptions& options) {
  for (const OptionInfo& info : ScheduleOptionTable()) {
    if (info.name.starts_with("counting.")) continue;  // --count says it, for all commands.
    const bool is_rule = info.name.find('.') != std::string_view::npos;
    const auto set = [&options, info](const std::string& value) {
      return SetOption(options, info.name, value).has_value();
    };
    AddOptionFlag(app, info, is_rule ? "Rules of the exact search" : "Search", set,
                  NamesOf(ScheduleAlgorithms()));
  }
}

void AddOrder(CLI::App& app, std::string& order) {
  std::string names;
  for (const std::string& name : NamesOf(ScheduleAlgorithms()))
    names += (names.empty() ? "" : ", ") + name;
  app.add_option("--order", order,
                 "How the operators are ordered: " + names +
                     "; or a JSON file with an order (its \"order\", as of a plan). Default: auto.")
      ->type_name("NAME|FILE");
}

bool IsModel(std::string_view bytes, const std::string& path) {
  return HasExtension(path, ".onnx") || FormatOfModel(bytes).has_value();
}

Result<Model> LoadModel(const ModelArguments& arguments) {
  auto file = BERTH_TRY(FileView::Open(arguments.path));
  return ParseModel(arguments, std::move(file));
}

Result<Model> ParseModel(const ModelArguments& arguments, FileView file) {
  const std::string name = arguments.path == "-" ? NameOf(arguments.path) : arguments.path;
  const std::string_view bytes = file.bytes();
  BERTH_TRY(CheckKind(bytes, arguments.path, FileKind::kModel));
  Model model;
  model.name = NameOf(arguments.path);
  model.path = arguments.path;
  const ModelOptions options = BERTH_TRY(OptionsOf(arguments));
  static_cast<berth::Model&>(model) = BERTH_TRY(ReadModel(bytes, name, options));
  model.file = std::move(file);
  model.device = options.device;
  return model;
}

std::vector<ModelChange> OtherReadings(const ModelArguments& arguments, const Model& model) {
  const Result<ModelOptions> options = OptionsOf(arguments);
  if (!options) return {};  // The file of --device is gone since.
  return berth::OtherReadings(model.file.bytes(), model.name, *options);
}

Result<std::optional<Order>> LoadOrder(const std::string& argument, const Graph& graph,
                                       ScheduleOptions& options) {
  if (argument.empty()) return std::nullopt;
  if (const auto algorithm = ScheduleAlgorithmFromName(argument)) {
    options.algorithm = *algorithm;
    return std::nullopt;
  }
  if (!IsFile(argument)) {
    const std::string nearest = Nearest(argument, NamesOf(ScheduleAlgorithms()));
    return Fail(ErrorCode::kInvalidOptions,
                "--order: '" + argument + "' is neither an algorithm nor a file" +
                    (nearest.empty() ? "" : "; did you mean '" + nearest + "'?"));
  }
  const auto text = BERTH_TRY(ReadFile(argument));
  BERTH_TRY(CheckKind(text, argument, FileKind::kOrder));
  return BERTH_TRY(ReadOrder(text, argument == "-" ? NameOf(argument) : argument, graph));
}

std::string UnsizedClause(std::size_t unsized, std::size_t tensors) {
  return FormatCount(static_cast<std::int64_t>(unsized)) + " of " +
         Plural(static_cast<std::int64_t>(tensors), "tensor") + (unsized == 1 ? " has" : " have") +
         " no known size";
}

std::string OpenDimensionsCommand(const Model& model, const std::string& command) {
  if (model.open_dimensions.empty()) return "";
  std::string text = "berth " + command + " " + ShellWord(model.path);
  for (const auto& [name, size] : WorkingSizes(model)) {
    text += " --dim " + ShellWord(name + "=" + std::to_string(size));
  }
  if (const auto bytes = model.reading.element_bytes) {
    text += " --element-bytes " + std::to_string(*bytes);
  }
  return text;
}

std::string OpenDimensionsLine(const Model& model, const std::string& command) {
  const std::string line = OpenDimensionsCommand(model, command);
  return line.empty() ? "" : "\nGive its open dimensions their sizes, such as: " + line;
}

std::string DescribeGraph(const Graph& graph) {
  std::int64_t views = 0;
  for (const Tensor& tensor : graph.tensors) views += tensor.alias_of ? 1 : 0;
  std::int64_t writers = 0;
  for (const Operator& op : graph.operators) writers += op.mutates.empty() ? 0 : 1;
  std::string text = Plural(static_cast<std::int64_t>(graph.operators.size()), "operator") + ", " +
                     Plural(static_cast<std::int64_t>(graph.tensors.size()), "tensor");
  if (views > 0) text += " (" + Plural(views, "view") + ")";
  if (writers > 0) text += ", " + FormatCount(writers) + " writing in place";
  return text;
}

std::string DescribeUncounted(const Graph& graph, const Counting& counting) {
  Bytes inputs = 0;
  Bytes weights = 0;
  for (const Tensor& tensor : graph.tensors) {
    if (tensor.alias_of) continue;
    if (tensor.kind == TensorKind::kInput) inputs += tensor.bytes;
    if (tensor.kind == TensorKind::kParameter || tensor.kind == TensorKind::kConstant) {
      weights += tensor.bytes;
    }
  }
  std::string text;
  if (weights > 0 && !counting.parameters) text = FormatBytes(weights) + " of weights";
  if (inputs > 0 && !counting.inputs) {
    text += (text.empty() ? "" : " and ") + FormatBytes(inputs) + " of inputs";
  }
  return text;
}

std::vector<std::string> DescribeUnplanned(const Graph& graph, const Counting& counting) {
  struct Cause {
    const std::string* reason;
    std::vector<const Tensor*> tensors;
  };
  std::vector<Cause> causes;  // In the order of their first tensors.
  std::unordered_map<std::string_view, std::size_t> index;
  for (const Tensor& tensor : graph.tensors) {
    if (tensor.unplanned.empty() || !TakesPart(tensor, counting)) continue;
    const auto [found, added] = index.emplace(tensor.unplanned, causes.size());
    if (added) causes.push_back({&tensor.unplanned, {}});
    causes[found->second].tensors.push_back(&tensor);
  }
  std::vector<std::string> lines;
  for (const auto& [reason, tensors] : causes) {
    if (lines.size() == kMostCauses) break;
    std::string names;
    for (std::size_t i = 0; i < std::min(tensors.size(), kMostNamed); ++i) {
      names += (i == 0 ? "" : ", ") + Abridged(tensors[i]->name, 40);
    }
    if (tensors.size() > kMostNamed) {
      names +=
          " and " + FormatCount(static_cast<std::int64_t>(tensors.size() - kMostNamed)) + " more";
    }
    lines.push_back(names + ": " + OneLine(*reason));
  }
  if (causes.size() > kMostCauses) {
    const auto more = static_cast<std::int64_t>(causes.size() - kMostCauses);
    lines.push_back("and others, for " + Plural(more, "more reason"));
  }
  return lines;
}

Json UnplannedJson(const Graph& graph) {
  Json json = Json::array();
  for (const Tensor& tensor : graph.tensors) {
    if (tensor.unplanned.empty()) continue;
    json.push_back({{"tensor", tensor.name}, {"reason", tensor.unplanned}});
  }
  return json;
}

std::string Abridged(std::string_view text, std::size_t width) {
  const std::string line = OneLine(text);
  return IsTerminal(stdout) ? Elided(line, width) : line;
}

std::string CaveatText(const Model& model, const Counting& counting) {
  std::string text;
  const auto unplanned = DescribeUnplanned(model.graph, counting);
  if (!unplanned.empty()) {
    text += "\n" + Paint(Tone::kUnsure, "Not planned") + ", as their sizes are not known:\n";
    for (const std::string& line : unplanned) text += "  " + line + "\n";
  }
  for (const std::string& note : model.notes) text += "  " + OneLine(note) + "\n";
  return text;
}

std::vector<std::string> NotesOf(const Model& model, const Counting& counting) {
  std::vector<std::string> notes = DescribeUnplanned(model.graph, counting);
  for (std::string& note : notes) note = "Not planned: " + note;
  notes.insert(notes.end(), model.notes.begin(), model.notes.end());
  return notes;
}

}  // namespace berth::cli
