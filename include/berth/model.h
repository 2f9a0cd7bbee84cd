// berth/model.h -- models of any kind as graphs: ONNX (berth/onnx.h), TensorFlow Lite
// (berth/tflite.h) or JSON (berth/graph_io.h).
//
//   const auto file = berth::FileView::Open("model.onnx");
//   if (!file) return Complain(file.error().message);
//   const auto model = berth::ReadModel(file->bytes(), "model.onnx");
//   if (!model) return Complain(model.error().message);
//   const auto answer = berth::Plan(model->graph, {}, budget);
#ifndef BERTH_MODEL_H_
#define BERTH_MODEL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/advise.h"
#include "berth/device.h"
#include "berth/graph.h"
#include "berth/onnx.h"
#include "berth/profile.h"
#include "berth/result.h"
#include "berth/tflite.h"

namespace [[gnu::visibility("default")]] berth {

enum class ModelFormat { kOnnx, kGraphJson, kTflite };
// What the first bytes look like; none where they look like no model.
[[nodiscard]] std::optional<ModelFormat> FormatOfModel(std::string_view bytes);

struct ModelOptions {
  // Of an ONNX or TensorFlow Lite model; its `alignment` counts unless the next one is given.
  OnnxOptions onnx = {};
  // As Aligned() takes it, from 1 to 2^30. None: that of `onnx`; for a graph in JSON, what it says
  // for each tensor.
  std::optional<Bytes> alignment = {};
  std::optional<Device> device = {};  // Apply SetCosts(): with a profile, to what it lacks,
  std::optional<Profile> profile = {};
  bool fuse = false;                       // Fuse(),
  bool in_place = false;                   // and then ReuseInPlace().
  std::optional<ModelFormat> format = {};  // None: by the first bytes.
};

struct Model {
  Graph graph;  // As it is planned; valid.
  ModelFormat format = ModelFormat::kOnnx;
  OnnxOptions reading;  // How it was read, for Provenance: of a graph in JSON, the alignment alone.
  std::vector<std::string> open_dimensions;  // Of an ONNX model, as in OnnxModel.
  std::vector<std::string> notes;            // As in OnnxModel and TfliteModel.
  std::int64_t overwrites = 0;               // Outputs that ReuseInPlace() put over inputs.
};

// Reads a model. `name` is what errors call the file. Errors: those of ReadOnnx(),
// ReadTflite() and ReadGraphJson(); kParse for bytes that are no model; kInvalidOptions for an alignment out of bounds,
// and for dimensions or the size of elements of a graph in JSON, which has none; those of SetCosts().
[[nodiscard]] Result<Model> ReadModel(std::string_view bytes, std::string_view name,
                                      const ModelOptions& options = {});

// Changes a model that was read or built as `options` says: the alignment, the costs on a device
// or of a profile, fusion and writing in place; the rest of `options` is for reading. ReadModel() has done this. Errors:
// kInvalidOptions for an alignment out of bounds; those of Validate() and SetCosts(), after which the
// model is not to be used.
[[nodiscard]] Result<void> Apply(const ModelOptions& options, Model& model);

// Whether plans of `model` can be plans for TensorFlow Lite Micro (WriteTflite()), which has the sizes
// of the file, aligns to 16 bytes, fuses no operators (`fused`: Fuse() was applied) and has no weights
// in this part of its arena. Error: kInvalidOptions.
[[nodiscard]] Result<void> CheckForTflm(const Model& model, bool fused, const Counting& counting);

// Other readings of the same bytes that may need less memory, for Advise(): with 8-bit elements.
// `options` are those of ReadModel(). None for a graph in JSON. Cost: that of reading.
[[nodiscard]] std::vector<ModelChange> OtherReadings(std::string_view bytes, std::string_view name,
                                                     const ModelOptions& options);

}  // namespace berth

#endif  // BERTH_MODEL_H_
