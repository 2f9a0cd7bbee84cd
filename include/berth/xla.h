// berth/xla.h -- what XLA planned, from the files that it dumps.
//
//   XLA_FLAGS="--xla_dump_to=DIR --xla_dump_hlo_as_text" python train.py
//
// writes, for each module, NAME-buffer-assignment.txt (allocations, and the offsets of values in
// them) and NAME-live-range.txt (from which instruction to which each value lives). Together they
// are a table of buffers with XLA's own offsets. With --xla_dump_hlo_as_proto, NAME.hlo.pb has both.
//
//   const auto xla = berth::ReadXlaAssignment(assignment, "m-buffer-assignment.txt", ranges,
//                                             "m-live-range.txt");
//   const auto xla = berth::ReadXlaProto(bytes, "m.hlo.pb");  // Or this.
//   for (const berth::XlaAllocation& each : xla->allocations) {
//     if (!each.temporary) continue;
//     const auto table = berth::XlaTableOf(each, xla->steps);
//     const auto answer = berth::Place(table->problem, {}, budget);  // The least that it could be.
//   }
#ifndef BERTH_XLA_H_
#define BERTH_XLA_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/planned_problem.h"
#include "berth/problem.h"
#include "berth/result.h"

namespace [[gnu::visibility("default")]] berth {

// A value of XLA: an array, or the table of pointers of a tuple.
struct XlaValue {
  // Of the instruction that defines it, with the index in its tuple: "while{1}". In files where many
  // values may share it, it is cut after 200 bytes.
  std::string name;
  std::string shape;  // As XLA prints it: "f32[64,256]{1,0}". Empty from a protocol buffer.
  Bytes size = 0;     // 0 for an empty array.
  Bytes offset = 0;   // In its allocation.
  // Half-open: positions in the sequence of instructions, or events in a trace of XLA's heap
  // simulator. None where the dump has none.
  std::optional<std::pair<Step, Step>> live = {};
  // One of several values, as a loop or a branch gives them: XLA keeps it where these are. Not known
  // from a protocol buffer, in which they share a lifetime.
  bool phi = false;
  friend bool operator==(const XlaValue&, const XlaValue&) = default;
};

struct XlaAllocation {
  std::int64_t index = 0;
  Bytes size = 0;
  std::int64_t color = 0;  // The memory: 0 is the default one.
  bool temporary = false;  // "preallocated-temp": values that XLA itself has placed.
  std::string use;         // "parameter 1", "constant", "output", "temporary", ...
  std::vector<XlaValue> values = {};
  friend bool operator==(const XlaAllocation&, const XlaAllocation&) = default;
};

struct XlaAssignment {
  std::vector<XlaAllocation> allocations;
  Step steps = 0;   // The length of the sequence of instructions, or of the longest trace.
  Bytes total = 0;  // Of all allocations: XLA's own "Total bytes".
  friend bool operator==(const XlaAssignment&, const XlaAssignment&) = default;
};

// Whether a file begins as NAME-buffer-assignment.txt does.
[[nodiscard]] bool LooksLikeXlaAssignment(std::string_view text);

// Reads both files; `name` and `ranges_name` are what errors call them. Lines that say nothing about
// allocations, values or live ranges are passed over.
// Errors: kParse "NAME:LINE:COLUMN: ..." for a line that is not as XLA writes it, a value outside
// its allocation, or a range that ends before it begins. Cost: linear.
[[nodiscard]] Result<XlaAssignment> ReadXlaAssignment(std::string_view text, std::string_view name,
                                                      std::string_view ranges,
                                                      std::string_view ranges_name);

// Whether a file begins as NAME.hlo.pb does: a protocol buffer with an HLO module.
[[nodiscard]] bool LooksLikeXlaProto(std::string_view bytes);

// Reads NAME.hlo.pb. Lifetimes are those of the traces of XLA's heap simulator; values that it did
// not place, such as the tables of pointers of tuples, have none.
// Errors: kParse "NAME: byte N: ..." for damaged bytes, a value outside its allocation, an unknown
// event kind or value id, or values that need too much memory; "NAME: ..." for a module that has no
// buffer assignment. Cost: linear, and O(log n) for each value and each gap of its tables. Memory,
// with the tables of all allocations (XlaTableOf()): 256 MiB, or four times the bytes of the file if
// that is more.
[[nodiscard]] Result<XlaAssignment> ReadXlaProto(std::string_view bytes, std::string_view name);

// The file of live ranges beside a file of a buffer assignment. None for a name that does not end as
// XLA names it.
[[nodiscard]] std::optional<std::string> XlaRangesBeside(std::string_view path);

// The tables of XLA's memory space assignment, on targets with a fast memory: which values it kept
// there, from when to when and at which offsets (`allocinfo`), and the values that it chose from
// (`bufferinfo`).
[[nodiscard]] bool LooksLikeXlaAllocInfo(std::string_view text);
[[nodiscard]] bool LooksLikeXlaBufferInfo(std::string_view text);

// Reads `allocinfo` as one temporary allocation of color 1. `buffers`: the table `bufferinfo`, for
// names; none: "buffer 12". A value that comes and goes has one name for all its rows.
// Errors: kParse "NAME:LINE:COLUMN: ...". Cost: linear.
[[nodiscard]] Result<XlaAssignment> ReadXlaAllocInfo(std::string_view text, std::string_view name,
                                                     std::optional<std::string_view> buffers = {},
                                                     std::string_view buffers_name = {});
// Reads `bufferinfo` as a table in which each value lives from its definition through its last use:
// what the fast memory would need to hold all of them. The benefit of each is not in it. Errors:
// kParse.
[[nodiscard]] Result<Problem> ReadXlaBufferInfo(std::string_view text, std::string_view name);
// The file of `bufferinfo` beside one of `allocinfo`; none for a name without that word.
[[nodiscard]] std::optional<std::string> XlaBufferInfoBeside(std::string_view path);

// A table for the values of one allocation, whose names are its ids, and XLA's own plan for it.
struct XlaTable : PlannedProblem {
  // Values without a live range: they count as live throughout, so the problem is not exact.
  std::size_t unknown = 0;
  // Of all buffers, as given or inferred. With few offsets, an inferred one may be chance.
  Bytes alignment = 1;
};

// Values of one allocation of which one has all the bytes of the other at the same step (results
// written in place, loops) share them in every plan for the table: they become one buffer
// (GroupsSharingBytes()). So do those that have exactly the bytes of one that is `phi`, at any time:
// which of them XLA must keep there, the text does not say, so the problem is not exact then, and a note
// says so. Values of no bytes are left out. `steps` is that of the assignment.
// `alignment`: of all buffers; none: the greatest power of two up to 256 of which all of XLA's offsets
// are multiples.
// Errors: those of Colocate(); kInvalidProblem for more than 32 gaps for each value on average. Cost:
// O(log n) for each value and each gap.
[[nodiscard]] Result<XlaTable> XlaTableOf(const XlaAllocation& allocation, Step steps,
                                          std::optional<Bytes> alignment = {});

}  // namespace berth

#endif  // BERTH_XLA_H_
