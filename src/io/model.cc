#include "berth/model.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "base/try.h"
#include "berth/graph_io.h"
#include "io/json_tree.h"

namespace berth {
namespace {

constexpr Bytes kMostAlignment = Bytes{1} << 30;

// A model begins with a field of the message, mostly its version; a table never does so.
bool LooksLikeOnnx(std::string_view bytes) {
  if (bytes.empty()) return false;
  const auto first = static_cast<unsigned char>(bytes.front());
  return first < '\t' || (first > '\r' && first < ' ');
}

// What of the model has no part in its costs, for people.
Result<void> Price(const ModelOptions& options, Model& model) {
  const Device* const device = options.device ? &*options.device : nullptr;
  if (device == nullptr && !options.profile) return {};
  const Unpriced unpriced =
      BERTH_TRY(options.profile ? SetCosts(*options.profile, device, model.graph)
                                : SetCosts(*device, model.graph));
  const auto operators = [](std::size_t count) {
    return internal::Grouped(static_cast<std::int64_t>(count)) +
           (count == 1 ? " operator" : " operators");
  };
  if (unpriced.arithmetic > 0) {
    std::string types;
    for (const std::string& type : unpriced.types) types += (types.empty() ? "" : ", ") + type;
    model.notes.push_back("The arithmetic of " + operators(unpriced.arithmetic) + " (" + types +
                          ") is not known: they cost what their bytes take.");
  }
  if (unpriced.sizes > 0) {
    model.notes.push_back("Of " + operators(unpriced.sizes) +
                          " the size of a tensor is not known: it costs nothing.");
  }
  return {};
}

std::int64_t CountViews(const Graph& graph) {
  return std::count_if(graph.tensors.begin(), graph.tensors.end(),
                       [](const Tensor& tensor) { return tensor.alias_of.has_value(); });
}

Result<void> CheckAlignment(const ModelOptions& options) {
  if (!options.alignment) return {};
  if (*options.alignment >= 1 && *options.alignment <= kMostAlignment) return {};
  return Fail(ErrorCode::kInvalidOptions, "alignment: " + std::to_string(*options.alignment) +
                                              " is not between 1 and 2^30 bytes");
}

// All of Apply() but the alignment, which readers take care of.
Result<void> Change(const ModelOptions& options, Model& model) {
  BERTH_TRY(Price(options, model));
  if (options.fuse) model.graph = Fuse(std::move(model.graph));
  if (options.in_place) {
    const std::int64_t before = CountViews(model.graph);
    model.graph = ReuseInPlace(std::move(model.graph));
    model.overwrites += CountViews(model.graph) - before;
  }
  return {};
}

}  // namespace

std::optional<ModelFormat> FormatOfModel(std::string_view bytes) {
  if (LooksLikeTflite(bytes)) return ModelFormat::kTflite;
  if (LooksLikeOnnx(bytes)) return ModelFormat::kOnnx;
  if (internal::LooksLikeJson(bytes)) return ModelFormat::kGraphJson;
  return std::nullopt;
}

Result<Model> ReadModel(std::string_view bytes, std::string_view name,
                        const ModelOptions& options) {
  const std::string shown = internal::Printable(name);
  const auto format = options.format ? options.format : FormatOfModel(bytes);
  if (!format)
    return Fail(ErrorCode::kParse,
                shown + ": neither an ONNX or TensorFlow Lite model nor a graph in JSON");
  BERTH_TRY(CheckAlignment(options));
  Model model;
  model.format = *format;
  model.reading = options.onnx;
  if (format == ModelFormat::kOnnx) {
    if (options.alignment) model.reading.alignment = *options.alignment;
    OnnxModel onnx = BERTH_TRY(ReadOnnx(bytes, name, model.reading));
    model.graph = std::move(onnx.graph);
    model.notes = std::move(onnx.notes);
    model.open_dimensions = std::move(onnx.open_dimensions);
  } else if (format == ModelFormat::kTflite) {
    if (options.alignment) model.reading.alignment = *options.alignment;
    TfliteModel tflite = BERTH_TRY(ReadTflite(bytes, name, model.reading));
    model.graph = std::move(tflite.graph);
    model.notes = std::move(tflite.notes);
  } else {
    if (!options.onnx.dimensions.empty() || options.onnx.other_dimensions ||
        options.onnx.element_bytes) {
      return Fail(
          ErrorCode::kInvalidOptions,
          shown +
              ": sizes of dimensions and elements are for ONNX and TensorFlow Lite models; a "
              "graph in JSON gives its sizes in bytes");
    }
    model.reading.alignment = options.alignment.value_or(1);
    model.graph = BERTH_TRY(ReadGraphJson(bytes, name));
    if (model.reading.alignment != 1) {
      model.graph = Aligned(std::move(model.graph), model.reading.alignment);
      BERTH_TRY(Validate(model.graph));  // The sum of all bytes has grown.
    }
  }
  if (auto changed = Change(options, model); !changed) {
    changed.error().message = shown + ": " + changed.error().message;
    return tl::make_unexpected(std::move(changed.error()));
  }
  return model;
}

Result<void> Apply(const ModelOptions& options, Model& model) {
  BERTH_TRY(CheckAlignment(options));
  BERTH_TRY(Validate(model.graph));
  if (options.alignment) {
    model.graph = Aligned(std::move(model.graph), *options.alignment);
    model.reading.alignment = *options.alignment;
    BERTH_TRY(Validate(model.graph));  // The sum of all bytes has grown.
  }
  return Change(options, model);
}

Result<void> CheckForTflm(const Model& model, bool fused, const Counting& counting) {
  const auto fail = [](std::string why) {
    return Fail(ErrorCode::kInvalidOptions, std::move(why));
  };
  const OnnxOptions& reading = model.reading;
  if (model.format != ModelFormat::kTflite) {
    return fail("this is for TensorFlow Lite Micro, but the model is no TensorFlow Lite model");
  }
  if (!reading.dimensions.empty() || reading.other_dimensions || reading.element_bytes) {
    return fail(
        "TensorFlow Lite Micro has the sizes of the file; leave out dim, dim-default and "
        "element-bytes");
  }
  if (fused) return fail("TensorFlow Lite Micro does not fuse operators, as fuse does");
  if (counting.parameters) {
    return fail("weights are not in the arena of TensorFlow Lite Micro; leave out count");
  }
  if (reading.alignment % 16 != 0) {
    return fail("TensorFlow Lite Micro needs an alignment that is a multiple of 16, not " +
                std::to_string(reading.alignment));
  }
  return {};
}

std::vector<ModelChange> OtherReadings(std::string_view bytes, std::string_view name,
                                       const ModelOptions& options) {
  const auto format = options.format ? options.format : FormatOfModel(bytes);
  const bool typed = format == ModelFormat::kOnnx || format == ModelFormat::kTflite;
  if (!typed || options.onnx.element_bytes) return {};
  ModelOptions smaller = options;
  smaller.onnx.element_bytes = 1;
  Result<Model> model = ReadModel(bytes, name, smaller);
  if (!model) return {};
  return {{{"element-bytes", "1"}, "8-bit elements", std::move(model->graph)}};
}

}  // namespace berth
