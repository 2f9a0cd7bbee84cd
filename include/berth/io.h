// berth/io.h -- tables, graphs and plans as files.
#ifndef BERTH_IO_H_
#define BERTH_IO_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/graph.h"
#include "berth/place.h"
#include "berth/plan.h"
#include "berth/problem.h"
#include "berth/result.h"
#include "berth/schedule.h"
#include "berth/spill.h"

namespace [[gnu::visibility("default")]] berth {

// What the two lifetime columns of a table mean. docs/formats/csv.md has examples.
enum class Endpoints {
  kByColumnName,  // As MiniMalloc: `upper` is exclusive, a column called `end` is inclusive.
  kHalfOpen,      // [start, end): Berth's own.
  kInclusive,     // [start, end]: both are live steps.
  kExclusive,     // (start, end): neither is.
};

struct CsvOptions {
  Endpoints endpoints = Endpoints::kByColumnName;
};

// A table as read: the problem (without a capacity: a table has none), and where each buffer
// stands.
struct Table {
  Problem problem;
  std::vector<std::size_t> lines;  // Line of each buffer, the first line of the file being 1.
};

// Reads a buffer table. `name` is what errors call the file. The result is validated.
// Columns, in any order: id|buffer|buffer_id, lower|start|begin, upper|end, size, and optionally
// alignment, hint, gaps, offset; others are an error. An empty or -1 hint or offset means none.
// Errors: kParse "NAME:LINE:COLUMN: ..."; kInvalidProblem likewise with the line.
[[nodiscard]] Result<Table> ReadCsv(std::string_view text, std::string_view name,
                                    const CsvOptions& options = {});

// Writes `problem` as a half-open table (id, lower, upper, size and the optional columns that any
// buffer uses); with `offsets` (parallel to the buffers) an `offset` column holds the plan.
[[nodiscard]] std::string WriteCsv(const Problem& problem,
                                   const std::vector<Bytes>* offsets = nullptr);

// Reads a graph (docs/formats/graph.md). `name` is what errors call the file. The result is
// validated. Errors: kParse "NAME:LINE:COLUMN: ..." for what is not JSON, else "NAME: node number
// 3,
// \"conv\": ..."; kInvalidGraph "NAME: operator \"conv\": ...".
[[nodiscard]] Result<Graph> ReadGraphJson(std::string_view text, std::string_view name);
// Writes `graph` as ReadGraphJson() reads it, an operator or a tensor a line. Names that are not
// UTF-8 are written with U+FFFD in place of what is not.
[[nodiscard]] std::string WriteGraphJson(const Graph& graph);

// The order in a JSON file: its "order", a list of operators by name or by position in program
// order; or such a list alone. The result is a valid order of `graph`; without `validate`, a list
// of whatever operators it names. Errors: kParse; kInvalidPlan, naming the operators.
[[nodiscard]] Result<Order> ReadOrder(std::string_view text, std::string_view name,
                                      const Graph& graph, bool validate = true);

// Where a plan comes from, for whoever finds the file later.
struct Provenance {
  std::string version;     // Of Berth.
  std::string input;       // The name of the input.
  std::string input_hash;  // "fnv1a64:..." of the input's bytes.
  PlaceOptions options;    // Each option as it was; `threads`, which changes nothing, is not kept.
  std::optional<std::int64_t> node_limit = {};
  std::string solver = {};  // Of berth/baselines.h, where one was asked instead of an algorithm.
  // Of the plan of a graph:
  ScheduleOptions schedule = {};
  bool in_place = false;     // The graph went through ReuseInPlace().
  bool fixed_order = false;  // SpillOptions::fixed_order, of a plan with spills.
};
// "fnv1a64:" and 16 hexadecimal digits of the FNV-1a hash of `text`.
[[nodiscard]] std::string HashOf(std::string_view text);

// Writes a plan as JSON (docs/formats/plan.md). Keys in a fixed order, no time of day, and no
// running time: the same plan gives the same bytes.
[[nodiscard]] std::string WritePlanJson(const Problem& problem, const PlaceAnswer& answer,
                                        const Provenance& provenance);

// Writes the plan of a graph likewise: with its order, and its tensors as buffers.
[[nodiscard]] std::string WritePlanJson(const Graph& graph, const PlanAnswer& plan,
                                        const Provenance& provenance);

// Writes a plan with spills for a memory of `capacity` bytes likewise: with its order, and every
// stay in memory.
[[nodiscard]] std::string WritePlanJson(const Graph& graph, const SpillAnswer& answer,
                                        Bytes capacity, const Provenance& provenance);

// All of a plan but its order and its placements, on one line.
[[nodiscard]] std::string WritePlanHead(const Problem& problem, const PlaceAnswer& answer,
                                        const Provenance& provenance);
[[nodiscard]] std::string WritePlanHead(const Graph& graph, const PlanAnswer& plan,
                                        const Provenance& provenance);
[[nodiscard]] std::string WritePlanHead(const Graph& graph, const SpillAnswer& answer,
                                        Bytes capacity, const Provenance& provenance);

// A plan as its file tells it, without the input that it was made for. A plan in JSON knows no
// alignments, pins and gaps: buffers may seem to overlap.
struct PlanFile {
  std::string name;     // What errors and reports call it.
  Problem problem;      // The buffers, and the capacity.
  Placement placement;  // Parallel to them.
  std::optional<Bytes> lower_bound = {};
  std::string outcome = {};
  std::string input = {};  // What it was made for, and its hash; empty for a table.
  std::string input_hash = {};
  std::string version = {};             // Of Berth, that wrote it.
  std::vector<std::string> order = {};  // The operators; none for the plan of a table.
};
// Reads a plan in JSON, one with spills as well (then each stay in memory is a buffer), or a table
// in which every buffer has an offset. Errors: kParse; kInvalidPlan, naming the buffer, also for a
// "height" that the placements do not have.
[[nodiscard]] Result<PlanFile> ReadPlan(std::string_view text, std::string_view name);

// A plan with spills for a graph, as its file states it: ValidateSpillPlan() says whether it holds.
struct SpillPlanFile {
  SpillPlan plan;
  Bytes capacity = 0;
};
// Reads one; nothing where the text is a plan of another kind. Operators and tensors are looked up
// in `graph`, and stays are put in the order that SpillPlan has. Errors: kParse; kInvalidPlan for
// an operator or tensor that the graph does not have or says to be of another size, and for the
// file of a search that found no plan.
[[nodiscard]] Result<std::optional<SpillPlanFile>> ReadSpillPlan(std::string_view text,
                                                                 std::string_view name,
                                                                 const Graph& graph);

// Offsets as read from a plan, by the ids of `problem`. Reads a table with an `offset` column, or a
// JSON plan (the text then starts with '{'). Errors: kParse; kInvalidPlan for a buffer without an
// offset, an unknown id or one that comes twice, naming it.
[[nodiscard]] Result<std::vector<Bytes>> ReadOffsets(std::string_view text, std::string_view name,
                                                     const Problem& problem);

// The bytes of a file; "-" is standard input. Error: kIo, naming the file and the reason.
[[nodiscard]] Result<std::string> ReadFile(const std::string& path);
// A file to look at without reading all of it: a regular file is mapped, and of it only what is
// looked at takes memory; anything else is read. Who truncates the file meanwhile ends the process
// that looks at it. Movable.
class FileView {
 public:
  FileView() = default;  // Of no file: no bytes.
  // As ReadFile().
  [[nodiscard]] static Result<FileView> Open(const std::string& path);
  FileView(FileView&& other) noexcept;
  FileView& operator=(FileView&& other) noexcept;
  ~FileView();

  [[nodiscard]] std::string_view bytes() const { return mapped_.data() ? mapped_ : read_; }

 private:
  std::string_view mapped_;
  std::string read_;
};

// Writes a file as a whole or not at all (through a temporary file beside it); links, pipes and
// devices are written in place. "-" is standard output. Error: kIo, likewise.
[[nodiscard]] Result<void> WriteFile(const std::string& path, std::string_view text);
// The same with the text in pieces, which may be views of the file that is replaced.
[[nodiscard]] Result<void> WriteFile(const std::string& path,
                                     std::span<const std::string_view> pieces);

// "512KiB", "1MiB", "1.5GiB", "64kB", "512K" (as KiB), "1048576", "1048576B": a size in bytes.
// Nothing if it is not
// one, is not whole, is negative or exceeds kMaxBytes.
[[nodiscard]] std::optional<Bytes> ParseBytes(std::string_view text);
// "1.5 MiB": for people; exact where it is a whole number of units, else three significant digits.
[[nodiscard]] std::string FormatBytes(Bytes bytes);

}  // namespace berth

#endif  // BERTH_IO_H_
