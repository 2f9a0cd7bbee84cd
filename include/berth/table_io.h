// berth/table_io.h -- buffer tables as CSV (docs/formats/csv.md).
#ifndef BERTH_TABLE_IO_H_
#define BERTH_TABLE_IO_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "berth/problem.h"
#include "berth/result.h"

namespace [[gnu::visibility("default")]] berth {

// What the two lifetime columns of a table mean. docs/formats/csv.md has examples.
enum class Endpoints {
  kByColumnName,  // As in MiniMalloc: `upper` is exclusive, a column called `end` is inclusive.
  kHalfOpen,      // [start, end): Berth's own.
  kInclusive,     // [start, end]: both are live steps.
  kExclusive,     // (start, end): neither is.
};

struct CsvOptions {
  Endpoints endpoints = Endpoints::kByColumnName;
};

struct Table {
  Problem problem;                 // Without a capacity: a table has none.
  std::vector<std::size_t> lines;  // Parallel to the buffers: their lines, the first being 1.
};

// Reads a buffer table. `name` is what errors call the file. The result is valid.
// Columns, in any order: id|buffer|buffer_id, lower|start|begin, upper|end, size, and optionally
// alignment, hint, gaps, offset; others are an error. An empty or -1 hint or offset means none.
// Errors: kParse "NAME:LINE:COLUMN: ..."; kInvalidProblem "NAME:LINE: ...", whose subject is the
// buffer.
[[nodiscard]] Result<Table> ReadCsv(std::string_view text, std::string_view name,
                                    const CsvOptions& options = {});

// Writes `problem` as a half-open table (id, lower, upper, size and the optional columns that any
// buffer uses); with `offsets` (parallel to the buffers) an `offset` column holds the plan.
[[nodiscard]] std::string WriteCsv(const Problem& problem,
                                   const std::vector<Bytes>* offsets = nullptr);

}  // namespace berth

#endif  // BERTH_TABLE_IO_H_
