// tools/berth/model.h -- models on the command line: their files, and what people read of them.
#ifndef BERTH_TOOLS_BERTH_MODEL_H_
#define BERTH_TOOLS_BERTH_MODEL_H_

#include <optional>
#include <string>
#include <vector>

#include "berth/advise.h"
#include "berth/graph.h"
#include "berth/io.h"
#include "berth/model.h"
#include "berth/onnx.h"
#include "berth/schedule.h"
#include "tools/berth/output.h"

namespace CLI {
class App;
}

namespace berth::cli {

struct ModelArguments {
  std::string path;
  Counting counting;
  bool in_place = false;
  bool fuse = false;
  OnnxOptions onnx;
  std::optional<Bytes> alignment;           // Of models of any kind.
  std::string device;                       // The file of --device; may be empty.
  std::optional<Device> other_device = {};  // Without such a file.
  std::string profile;                      // The file of --profile; may be empty.
};
void AddModel(CLI::App& app, ModelArguments& arguments);
// Of these, --count and --allow-unknown alone.
void AddCounting(CLI::App& app, Counting& counting);
// Of these, --allow-unknown alone.
void AddAllowUnknown(CLI::App& app, Counting& counting);
// Of these, --dim, --dim-default, --alignment, --element-bytes and --device alone.
void AddModelSizes(CLI::App& app, ModelArguments& arguments);

// A flag for each row of ScheduleOptionTable().
void AddScheduleOptions(CLI::App& app, ScheduleOptions& options);
// "--order NAME or FILE": an algorithm, or a file that ReadOrder() reads.
void AddOrder(CLI::App& app, std::string& order);

struct Model : berth::Model {
  std::string name;
  std::string path;  // As it was given, for commands to copy.
  FileView file;
  std::optional<Device> device = {};  // That operators run on.

  [[nodiscard]] std::optional<Link> link() const { return device ? device->link : std::nullopt; }

  [[nodiscard]] bool is_onnx() const { return format == ModelFormat::kOnnx; }
  [[nodiscard]] bool is_tflite() const { return format == ModelFormat::kTflite; }
  // Cost: reads the whole file, weights too.
  [[nodiscard]] std::string hash() const { return HashOf(file.bytes()); }
};
// Reads the file, whatever kind of model it is. Error: kIo, or that of the reader.
[[nodiscard]] Result<Model> LoadModel(const ModelArguments& arguments);
// The same of a file that has been read already.
[[nodiscard]] Result<Model> ParseModel(const ModelArguments& arguments, FileView file);
// Those of berth::OtherReadings().
[[nodiscard]] std::vector<ModelChange> OtherReadings(const ModelArguments& arguments,
                                                     const Model& model);
// Whether the file looks like a model, not like a table.
[[nodiscard]] bool IsModel(std::string_view bytes, const std::string& path);

// What --order says: an algorithm in `options`, or an order.
[[nodiscard]] Result<std::optional<Order>> LoadOrder(const std::string& argument,
                                                     const Graph& graph, ScheduleOptions& options);

// "216 of 221 tensors have no known size".
[[nodiscard]] std::string UnsizedClause(std::size_t unsized, std::size_t tensors);
// The command that gives the model's open dimensions sizes with which it can run; empty if none is
// open.
[[nodiscard]] std::string OpenDimensionsCommand(const Model& model, const std::string& command);
// The line after such a sentence, which it begins with a new line, with that command; or empty.
[[nodiscard]] std::string OpenDimensionsLine(const Model& model, const std::string& command);

// "106 operators, 139 tensors (60 views), 23 writes in place".
[[nodiscard]] std::string DescribeGraph(const Graph& graph);
// What the plan leaves out: "weights 233 MiB, inputs 18.4 MiB"; empty where that is nothing.
[[nodiscard]] std::string DescribeUncounted(const Graph& graph, const Counting& counting);
// A line for each cause of unknown sizes, with the first of the counted tensors that have none.
[[nodiscard]] std::vector<std::string> DescribeUnplanned(const Graph& graph,
                                                         const Counting& counting);
[[nodiscard]] Json UnplannedJson(const Graph& graph);

// What a summary ends with: what is not planned, and the notes of reading; empty if there are none.
[[nodiscard]] std::string CaveatText(const Model& model, const Counting& counting);
// The same for a page, a sentence each.
[[nodiscard]] std::vector<std::string> NotesOf(const Model& model, const Counting& counting);

// `text` on one line; on a terminal, of at most `width` columns, its middle left out where it is
// longer. Names in a table: TextTable::Elide().
[[nodiscard]] std::string Abridged(std::string_view text, std::size_t width);

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_MODEL_H_
